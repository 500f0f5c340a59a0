//! The packet-level simulator: a scenario in, tables out.
//!
//! ```text
//!     scenario file → Scenario → Network of links, senders, receivers → event loop → Recording
//! ```
//!
//! Nothing downstream reaches back. There is no wall clock, no global random generator and no dependence on hash order:
//! the same scenario and seed give the same bytes on every machine.

mod application;
mod calendar;
mod cargo;
mod draw;
mod durations;
mod estimate;
mod events;
mod explicit;
mod feed;
mod flow;
mod limited;
mod member;
mod network;
mod numbered;
mod options;
mod packet;
mod pipe;
mod port;
mod radix;
mod receiver;
pub mod recording;
mod report;
mod reported;
mod right_sizing;
mod ring;
mod runs;
mod sender;
mod series;
mod simulation;
pub mod summary;
pub mod trace;
mod traffic;

pub use estimate::{Keep, Share, WorkEstimate};
pub use longfat_scenario::Scenario;
pub use options::Options;
pub use recording::{Column, Recording, Table};
pub use simulation::{Fates, FlowState, Simulation};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
