//! The packet-level simulator: a scenario in, tables out.

pub mod recording;
pub mod scenario;
mod simulation;
pub mod summary;

pub use recording::{Column, Recording, Table};
pub use scenario::Scenario;
pub use simulation::Simulation;
