//! One file per controller; each opens with an essay. A controller has two lines here: its module and its entry.

pub mod aimd;
pub mod anti_ecn;
pub mod bbr1;
pub mod bbr3;
pub mod bic;
pub mod blitz;
pub mod cdg;
pub mod compound;
pub mod constant_rate;
pub mod copa;
pub mod cubic;
pub mod cw_hstcp;
pub mod dctcp;
pub mod decbit;
pub mod exp;
pub mod fast;
pub mod fiber;
pub mod h_tcp;
pub mod hstcp;
pub mod hybla;
pub mod illinois;
pub mod ledbat;
pub mod ledbat_plus_plus;
pub mod ltcp;
pub mod multcp;
pub mod prague;
pub mod reno;
pub mod scream;
pub mod sized_start;
pub mod stcp;
pub mod udt;
pub mod vcp;
pub mod vegas;
pub mod veno;
pub mod vivace;
pub mod westwood;
pub mod xcp;
pub mod yeah;

use std::sync::{Arc, LazyLock};

use crate::Controller;

/// The controllers of this crate, in the order of their names: what a catalogue begins with.
pub static CONTROLLERS: LazyLock<Vec<Arc<Controller>>> = LazyLock::new(|| {
    let entries = [
        aimd::controller(),
        anti_ecn::controller(),
        bbr1::controller(),
        bbr3::controller(),
        bic::controller(),
        blitz::controller(),
        cdg::controller(),
        compound::controller(),
        constant_rate::controller(),
        copa::controller(),
        cubic::controller(),
        cw_hstcp::controller(),
        dctcp::controller(),
        decbit::controller(),
        exp::controller(),
        fast::controller(),
        fiber::controller(),
        h_tcp::controller(),
        hstcp::controller(),
        hybla::controller(),
        illinois::controller(),
        ledbat::controller(),
        ledbat_plus_plus::controller(),
        ltcp::controller(),
        multcp::controller(),
        prague::controller(),
        reno::controller(),
        scream::controller(),
        sized_start::controller(),
        stcp::controller(),
        udt::controller(),
        vcp::controller(),
        vegas::controller(),
        veno::controller(),
        vivace::controller(),
        westwood::controller(),
        xcp::controller(),
        yeah::controller(),
    ];
    entries.into_iter().map(Arc::new).collect()
});
