//! Queue disciplines and marking schemes: one paper, one file.
//!
//! A queue is storage times policy. The storage holds packets, and its capacity decides what does not fit: the arriving
//! packet, or the lowest priority. The policy answers keep, mark or drop for each packet and never stores. Tail drop and
//! pushout have no policy at all. **Adding a discipline is one file in `discipline/` and
//! one line in the list below.**
//!
//! [`AntiEcn`] is no discipline: it stands beside the queue of a link, whatever that is, and tells who finds room.

mod anti_ecn;
mod policy;
mod registry;
mod shared;

pub use anti_ecn::AntiEcn;
pub use discipline::pushout::Pushout;
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

disciplines! { avq, drop_tail, pi, pushout, red, rem }
