//! One file per controller; each opens with an essay. A controller has two lines here: its module and its entry.

pub mod anti_ecn;
pub mod blitz;
pub mod constant_rate;
pub mod copa;
pub mod cubic;
pub mod cw_hstcp;
pub mod dctcp;
pub mod exp;
pub mod fast;
pub mod fiber;
pub mod hstcp;
pub mod ledbat;
pub mod ledbat_plus_plus;
pub mod prague;
pub mod reno;
pub mod sized_start;
pub mod stcp;
pub mod vegas;

use std::sync::{Arc, LazyLock};

use crate::Controller;

/// The controllers of this crate, in the order of their names: what a catalogue begins with.
pub static CONTROLLERS: LazyLock<Vec<Arc<Controller>>> = LazyLock::new(|| {
    let entries = [
        anti_ecn::controller(),
        blitz::controller(),
        constant_rate::controller(),
        copa::controller(),
        cubic::controller(),
        cw_hstcp::controller(),
        dctcp::controller(),
        exp::controller(),
        fast::controller(),
        fiber::controller(),
        hstcp::controller(),
        ledbat::controller(),
        ledbat_plus_plus::controller(),
        prague::controller(),
        reno::controller(),
        sized_start::controller(),
        stcp::controller(),
        vegas::controller(),
    ];
    entries.into_iter().map(Arc::new).collect()
});
