//! Steps from outside: a host that stops at instants of its own choice, and has a say in what controllers do there.

use longfat_units::{Span, Time};

use super::Simulation;
use crate::flow::Source;

/// How far a long flow has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowState {
    /// It has not started yet.
    Waiting,
    /// It has started.
    Running,
    /// Everything that it had to send has been acknowledged.
    Finished,
}

impl Simulation {
    /// The time that has been reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When the run ends.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Handles everything that happens up to `until`, that instant included; nothing later has any effect yet. Returns
    /// true while the run goes on afterwards.
    pub fn advance_to(&mut self, until: Time) -> bool {
        let until = until.min(self.end);
        // No acknowledgment is handed over that arrives later.
        self.early_until = until;
        if let Some(mut turns) = self.turns.take() {
            while self.take_turn(&mut turns, until) {}
            self.turns = Some(turns);
        } else {
            while self.handle_one(until, until) {}
        }
        self.now = until;
        until < self.end
    }

    /// Calls `on_timer` of the controller of a long flow now, then lets the flow send what it may. Flows are numbered in
    /// the order of the scenario. Nothing happens before the flow has started, or if it sends without a window.
    pub fn call(&mut self, flow: usize) {
        debug_assert!(flow < self.network.long, "there is no long flow {flow}");
        match &mut self.network.flows[flow].source {
            Source::Windowed(sender) => sender.call(self.now),
            Source::Numbered(sender) => sender.call(self.now),
            Source::Traced(sender) => sender.call(self.now),
            Source::Idle(_) | Source::Bursts(_) => return,
        }
        self.send(flow, self.now);
    }

    /// How far a long flow has got.
    pub fn flow_state(&self, flow: usize) -> FlowState {
        let flow = &self.network.long_flows()[flow];
        match flow.source.sender() {
            None => FlowState::Waiting,
            Some(sender) if sender.size().is_some() && sender.is_done() => FlowState::Finished,
            Some(_) => FlowState::Running,
        }
    }

    /// When a long flow starts, when it stops sending new data, if it does, and its round trip without queues.
    pub fn flow_times(&self, flow: usize) -> (Time, Option<Time>, Span) {
        let flow = &self.network.long_flows()[flow];
        (flow.start, flow.stop, flow.rtt)
    }

    /// The lowest rate of a link on the path of a long flow, in bit/s, before any change.
    pub fn slowest_rate(&self, flow: usize) -> f64 {
        let ports = &self.network.long_flows()[flow].out.ports;
        let rates = ports.iter().map(|&port| {
            let link = &self.scenario.links[port / 2];
            link.direction(port % 2 == 1).rate.0 as f64
        });
        rates.fold(f64::INFINITY, f64::min)
    }
}
