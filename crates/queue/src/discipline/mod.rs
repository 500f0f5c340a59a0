//! One file per discipline; each opens with an essay. A discipline has two lines here: its module and its entry.

pub mod avq;
pub mod cake;
pub mod codel;
pub mod decbit;
pub mod drop_tail;
pub mod drr;
pub mod dualpi2;
pub mod fq_codel;
pub mod pi;
pub mod pie;
pub mod pushout;
pub mod red;
pub mod rem;
pub mod sfq;
pub mod step;
pub mod vcp;
pub mod xcp;

use std::sync::{Arc, LazyLock};

use crate::Discipline;

/// The disciplines of this crate, in the order of their names: what a catalogue begins with.
pub static DISCIPLINES: LazyLock<Vec<Arc<Discipline>>> = LazyLock::new(|| {
    let entries = [
        avq::discipline(),
        cake::discipline(),
        codel::discipline(),
        decbit::discipline(),
        drop_tail::discipline(),
        drr::discipline(),
        dualpi2::discipline(),
        fq_codel::discipline(),
        pi::discipline(),
        pie::discipline(),
        pushout::discipline(),
        red::discipline(),
        rem::discipline(),
        sfq::discipline(),
        step::discipline(),
        vcp::discipline(),
        xcp::discipline(),
    ];
    entries.into_iter().map(Arc::new).collect()
});
