//! The packet-level simulator: a scenario in, tables out.
//!
//! ```text
//!     scenario file → Scenario → Network of links, senders, receivers → event loop → Recording
//! ```
//!
//! Nothing downstream reaches back. There is no wall clock, no global generator and no hash order in here: the same
//! scenario and seed give the same bytes on every machine.

mod chance;
mod estimate;
mod events;
mod feed;
mod flow;
mod link;
mod network;
mod options;
mod packet;
mod pipe;
mod receiver;
pub mod recording;
mod report;
mod ring;
mod runs;
mod sack;
pub mod scenario;
mod sender;
mod series;
mod simulation;
pub mod summary;
mod traffic;

pub use estimate::{Estimate, Keep, Share};
pub use options::Options;
pub use recording::{Column, Recording, Table};
pub use scenario::Scenario;
pub use simulation::{Fates, Simulation};
