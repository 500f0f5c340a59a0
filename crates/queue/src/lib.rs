//! Queue disciplines and marking schemes: one paper, one file.
//!
//! A queue is storage times policy. The storage (first in first out, or by priority) holds packets and
//! never decides; the policy answers keep, mark or drop for each packet and never stores. Tail drop is no
//! policy at all: it is the capacity of the storage. **Adding a discipline is one file in `discipline/` and
//! one line in the list below.**

mod policy;
mod registry;

pub use policy::{Arrival, Backlog, Capacity, Policy, Probe, Verdict};
pub use registry::{Built, Discipline, Refusal, Setting, Storage, find};

/// Lists the disciplines: a module of that name below `discipline/`, and its `DISCIPLINE`.
macro_rules! disciplines {
    ($($name:ident),* $(,)?) => {
        pub mod discipline {
            //! One file per discipline; each opens with an essay.
            $(pub mod $name;)*
        }
        /// Every queue discipline there is, in alphabetical order.
        pub static DISCIPLINES: &[&Discipline] = &[$(&discipline::$name::DISCIPLINE),*];
    };
}

disciplines! { drop_tail, red }
