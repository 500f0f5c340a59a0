//! Queue disciplines and marking schemes: one paper, one file.
//!
//! A discipline is one of two kinds. A [`Policy`] answers keep, mark or drop for each packet that arrives at a
//! first-in-first-out queue, and never stores any; tail drop is such a queue with no policy at all. A [`PacketQueue`]
//! owns its packets: it decides which leaves when, and may drop or mark waiting packets. **Adding a discipline is one
//! file in `discipline/` and its two lines in `discipline/mod.rs`.** A [`Discipline`] from elsewhere is added to a
//! catalogue at run time.
//!
//! [`AntiEcnQueue`] is not a discipline: it sits beside the queue of a link, whatever that is, and says which
//! packets find capacity to spare.

mod anti_ecn;
pub mod discipline;
mod fifo;
mod flow_queue;
mod packet_queue;
mod policy;
mod registry;
mod shared;

pub use anti_ecn::AntiEcnQueue;
pub use discipline::DISCIPLINES;
pub use discipline::pushout::Pushout;
pub use fifo::Line;
pub use longfat_units::Probe;
pub use longfat_units::parameter::Refusal;
pub use packet_queue::{Host, Item, PacketQueue};
pub use policy::{Arrival, Backlog, Capacity, Clock, Policy, Verdict};
pub use registry::{BuildQueue, Built, Check, Discipline, Site};
pub use shared::LengthUnit;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
