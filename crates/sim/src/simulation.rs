//! The event loop.

use crate::{Recording, Scenario};

/// One simulation, from its first event to its last.
#[derive(Debug)]
pub struct Simulation {}

impl Simulation {
    /// Builds the network of `scenario`. With `record` the time series are kept; nothing else changes.
    pub fn new(_scenario: &Scenario, _record: bool) -> Self {
        unimplemented!("the engine is written next")
    }

    /// Handles up to `events` events. True while there are more.
    pub fn advance(&mut self, _events: u64) -> bool {
        unimplemented!("the engine is written next")
    }

    /// The share of the simulated time that has passed, 0 to 1.
    pub fn progress(&self) -> f64 {
        unimplemented!("the engine is written next")
    }

    /// The tables and averages of the whole run. Call when [`Simulation::advance`] has returned false.
    pub fn finish(self) -> Recording {
        unimplemented!("the engine is written next")
    }
}
