//! Queue disciplines and marking schemes: one paper, one file.
//!
//! A queue is storage times policy. The storage holds packets, and its capacity decides what does not fit: the arriving
//! packet, or the lowest priority. The policy answers keep, mark or drop for each packet and never stores. Tail drop and
//! pushout have no policy at all. **Adding a discipline is one file in `discipline/` and its two lines in
//! `discipline/mod.rs`.** A [`Discipline`] from elsewhere is added to a catalogue at run time.
//!
//! [`AntiEcn`] is no discipline: it stands beside the queue of a link, whatever that is, and tells who finds room.

mod anti_ecn;
pub mod discipline;
mod policy;
mod registry;
mod shared;

pub use anti_ecn::AntiEcn;
pub use discipline::DISCIPLINES;
pub use discipline::pushout::Pushout;
pub use policy::{Arrival, Backlog, Capacity, Policy, Probe, Verdict};
pub use registry::{Build, Built, Check, Discipline, Refusal, Setting, Storage};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
