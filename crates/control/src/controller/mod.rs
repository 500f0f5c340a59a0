//! One file per controller; each opens with an essay. A controller has two lines here: its module and its entry.

pub mod anti_ecn;
pub mod bbr1;
pub mod bbr3;
pub mod blitz;
pub mod constant_rate;
pub mod cubic;
pub mod cw_hstcp;
pub mod dctcp;
pub mod exp;
pub mod fiber;
pub mod hstcp;
pub mod prague;
pub mod reno;
pub mod sized_start;
pub mod stcp;

use std::sync::{Arc, LazyLock};

use crate::Controller;

/// The controllers of this crate, in the order of their names: what a catalogue begins with.
pub static CONTROLLERS: LazyLock<Vec<Arc<Controller>>> = LazyLock::new(|| {
    let entries = [
        anti_ecn::controller(),
        bbr1::controller(),
        bbr3::controller(),
        blitz::controller(),
        constant_rate::controller(),
        cubic::controller(),
        cw_hstcp::controller(),
        dctcp::controller(),
        exp::controller(),
        fiber::controller(),
        hstcp::controller(),
        prague::controller(),
        reno::controller(),
        sized_start::controller(),
        stcp::controller(),
    ];
    entries.into_iter().map(Arc::new).collect()
});
