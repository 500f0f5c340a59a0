//! Agents in a simulation of packets.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use longfat_control::interval::{Controls, Monitor, Steering};
use longfat_control::{
    Cause, Congestion, CongestionControl, Controller, Feedback, Pacing, Path, Sending, Start, Wants,
};
use longfat_scenario::{Recovery, Scenario};
use longfat_sim::{FlowState, Options, Simulation};
use longfat_units::{Segments, Span, Time};

use crate::progress::{Standing, Told};

/// Where an agent and its flow meet.
#[derive(Debug, Default)]
struct Seat(Mutex<Exchange>);

#[derive(Debug, Default)]
struct Exchange {
    /// The first acknowledgment, and the round trip that it showed.
    heard: Option<(Time, Span)>,
    /// What the flow has measured.
    told: Option<Told>,
    /// What the agent wants.
    action: Option<f64>,
}

impl Seat {
    fn with<T>(&self, act: impl FnOnce(&mut Exchange) -> T) -> T {
        // One thread at a time uses a simulation, and nothing panics while it holds this.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The controller of a flow that an agent steers. `on_timer` exchanges what there is to exchange: an action of the agent
/// is carried out; without one the interval ends, and the agent is told.
#[derive(Clone, Debug)]
struct Steered {
    seat: Arc<Seat>,
    monitor: Monitor,
    controls: Controls,
    heard: bool,
    /// Might the host undo a reaction by going back to a copy?
    undoes: bool,
}

impl CongestionControl for Steered {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        self.monitor.hear(feedback);
        if !self.heard {
            self.heard = true;
            self.seat.with(|seat| seat.heard = Some((feedback.now, path.rtt)));
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        if event.cause == Cause::Timeout {
            self.monitor.time_out();
        }
    }

    fn on_timer(&mut self, now: Time, path: &Path) {
        let Self { seat, monitor, controls, .. } = self;
        seat.with(|seat| {
            if let Some(action) = seat.action.take() {
                controls.turn(action, path.rtt);
            } else {
                let setting = (controls.window().0, controls.rate());
                let measured = monitor.close(now, path, setting, controls.segment_bits());
                seat.told = Some(Told { measured, smoothed: path.rtt });
            }
        });
    }

    fn growth_limit(&self, _: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        None
    }

    fn window(&self) -> Segments {
        self.controls.window()
    }

    fn pacing(&self) -> Pacing {
        self.controls.pacing()
    }

    /// Nothing that costs anything on each packet.
    fn wants(&self) -> Wants {
        Wants { own_recovery: self.undoes, spurious: self.undoes, ..Wants::NOTHING }
    }
}

/// A simulation with agents.
#[derive(Debug)]
pub(crate) struct Packets {
    simulation: Simulation,
    seats: Vec<Arc<Seat>>,
    /// The number of the flow of each agent.
    flows: Vec<usize>,
}

impl Packets {
    /// The scenario, with agents on all flows of these groups.
    pub(crate) fn new(scenario: &Scenario, groups: &[usize], steering: Steering) -> Self {
        let mut scenario = scenario.clone();
        let mut seats = Vec::new();
        let mut flows = Vec::new();
        let mut first = 0;
        for (index, group) in scenario.flows.iter_mut().enumerate() {
            let count = group.flows() as usize;
            if groups.contains(&index) {
                let own: Vec<Arc<Seat>> = (0..count).map(|_| Arc::default()).collect();
                let undoes = group.transport.recovery == Recovery::Rack;
                group.control.entry = Arc::new(steered(own.clone(), steering, undoes));
                seats.extend(own);
                flows.extend(first..first + count);
            }
            first += count;
        }
        let simulation = Simulation::with_options(&scenario, Options::default().in_order(true));
        Self { simulation, seats, flows }
    }

    /// Goes on until an agent has heard of its flow for the first time: when, and the round trip that it showed. `None`
    /// if that never happens.
    pub(crate) fn begin(&mut self) -> Option<(Time, Span)> {
        let times = self.flows.iter().map(|&flow| self.simulation.flow_times(flow));
        let first = times.map(|(start, _, rtt)| start.saturating_add(rtt)).min()?;
        self.simulation.advance_to(first);
        loop {
            let heard = self.seats.iter().find_map(|seat| seat.with(|seat| seat.heard));
            if heard.is_some() || !self.simulation.advance(1) {
                return heard;
            }
        }
    }

    /// Carries out what an agent wants.
    pub(crate) fn turn(&mut self, agent: usize, action: f64) {
        self.seats[agent].with(|seat| seat.action = Some(action));
        self.simulation.call(self.flows[agent]);
        // A flow that has not started, or is over, does not take it.
        self.seats[agent].with(|seat| seat.action = None);
    }

    /// Goes on until then.
    pub(crate) fn advance_to(&mut self, until: Time) {
        self.simulation.advance_to(until);
    }

    /// Ends the interval of an agent: what it has measured, if anything was heard of its flow.
    pub(crate) fn measure(&mut self, agent: usize) -> Option<Told> {
        let seat = Arc::clone(&self.seats[agent]);
        seat.with(|seat| seat.heard)?;
        self.simulation.call(self.flows[agent]);
        seat.with(|seat| seat.told.take())
    }

    /// How far an agent has got.
    pub(crate) fn standing(&self, agent: usize) -> Standing {
        let flow = self.flows[agent];
        match self.simulation.flow_state(flow) {
            FlowState::Finished => Standing::Finished,
            _ if self
                .simulation
                .flow_times(flow)
                .1
                .is_some_and(|at| at <= self.simulation.now()) =>
            {
                Standing::Stopped
            }
            FlowState::Waiting => Standing::Waiting,
            _ => Standing::Running,
        }
    }

    /// The lowest rate on the path of an agent in bit/s, and its round trip without queues.
    pub(crate) fn path(&self, agent: usize) -> (f64, Span) {
        let flow = self.flows[agent];
        (self.simulation.slowest_rate(flow), self.simulation.flow_times(flow).2)
    }

    /// What has become of every data packet so far.
    #[cfg(test)]
    pub(crate) fn fates(&self) -> longfat_sim::Fates {
        self.simulation.fates()
    }

    pub(crate) fn end(&self) -> Time {
        self.simulation.end()
    }
}

/// The controller of flows that take these seats, in order.
fn steered(seats: Vec<Arc<Seat>>, steering: Steering, undoes: bool) -> Controller {
    let taken = AtomicUsize::new(0);
    Controller::new("agent", move |_, start: &Start| {
        // The round trip of a flow is known; what only asks about the controller has none, and no seat either.
        let seat = start.round_trip.and_then(|_| seats.get(taken.fetch_add(1, Ordering::Relaxed)));
        let seat = seat.map(Arc::clone).unwrap_or_default();
        Sending::Windowed(Box::new(Steered {
            seat,
            monitor: Monitor::default(),
            controls: Controls::new(steering, start.window, start.packet.0 as f64 * 8.0),
            heard: false,
            undoes,
        }))
    })
}
