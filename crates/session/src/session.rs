//! The conversation itself.

use longfat_scenario::{Catalogue, Scenario};
use longfat_sim::Simulation;
use serde::Serialize;

use crate::frame::frame;
use crate::outline::Outline;
use crate::request::{Refusal, Request};

/// One conversation: a scenario at a time, and a run of it.
///
/// A call out of its turn, such as `advance` before `start`, does nothing and answers as if a run had just ended with no
/// results. No request panics.
#[derive(Debug, Default)]
pub struct Session {
    scenario: Option<Scenario>,
    simulation: Option<Simulation>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer<'a> {
    Scenario(Outline<'a>),
    Error(Refusal<'a>),
}

impl Session {
    /// Reads a scenario, and forgets the one before it with its run.
    ///
    /// `request` is JSON: `{"text": …}`, and if need be `"origin"` for what stands for its file in messages, `"overrides"`
    /// for a list of changes as `--set` has them, `"seed"`, and `"files"` for what it names: names and texts. Other files
    /// are asked of `files`, which hands over their text or says why not.
    ///
    /// The answer is JSON: `{"scenario": …}` with its quantities and an estimate of its cost, or `{"error": …}` with a
    /// `message` as on a terminal and `diagnostics`, each with its `line`, `column` and `length`.
    pub fn read(
        &mut self,
        request: &[u8],
        files: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> String {
        (self.scenario, self.simulation) = (None, None);
        let request: Request = match serde_json::from_slice(request) {
            Ok(request) => request,
            Err(error) => {
                let message = format!("the request cannot be read: {error}");
                return told(&Answer::Error(Refusal::of_request(message)));
            }
        };
        let Request { text, origin, overrides, seed, files: given } = request;
        let mut either = |name: &str| given.get(name).cloned().map_or_else(|| files(name), Ok);
        let catalogue = Catalogue::built_in();
        let read = Scenario::read_while(
            &catalogue,
            &text,
            &origin,
            &overrides,
            seed,
            &mut either,
            &mut || true,
        );
        match read.expect("nobody stops it") {
            Ok(scenario) => told(&Answer::Scenario(Outline::of(self.scenario.insert(scenario)))),
            Err(error) => told(&Answer::Error(Refusal::of(&error))),
        }
    }

    /// The scenario as it was understood, as a file that reads back to the same; empty if there is none.
    pub fn resolved(&self) -> String {
        self.scenario.as_ref().map_or_else(String::new, Scenario::to_toml)
    }

    /// Begins a run of the scenario that was read, with time series. An earlier one is dropped.
    pub fn start(&mut self) {
        self.simulation = self.scenario.as_ref().map(|scenario| Simulation::new(scenario, true));
    }

    /// Handles `events` events, or some thousand more ([`Simulation::advance`]). Returns true while more remain.
    pub fn advance(&mut self, events: u64) -> bool {
        self.simulation.as_mut().is_some_and(|simulation| simulation.advance(events))
    }

    /// The share of the simulated time that has elapsed, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.simulation.as_ref().map_or(1.0, Simulation::progress)
    }

    /// The time series so far, as bytes: `flow_series` and `link_series`, without a summary.
    pub fn series(&mut self) -> Vec<u8> {
        let tables = self.simulation.as_mut().map(Simulation::series);
        frame::<()>(None, tables.as_ref().map_or(&[], <[_; 2]>::as_slice))
    }

    /// The summary and all tables, as bytes, once [`Session::advance`] has returned false.
    pub fn finish(&mut self) -> Vec<u8> {
        match self.simulation.take().map(Simulation::finish) {
            Some(recording) => frame(Some(&recording.summary), &recording.tables),
            None => frame::<()>(None, &[]),
        }
    }
}

fn told(answer: &Answer<'_>) -> String {
    serde_json::to_string(answer).expect("an answer is plain data")
}
