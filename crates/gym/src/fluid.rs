//! Agents in the fluid model: the same observations and actions without a packet.

use std::sync::Arc;

use longfat_control::interval::{Controls, Measurement, Steering};
use longfat_control::{Cause, Controller, Operating, WindowLaw};
use longfat_fluid::{FluidFlow, FluidSetup, Integration, Pricing, Reading, Solve};
use longfat_scenario::Scenario;
use longfat_units::{Segments, Span, Time};

use crate::GymError;
use crate::progress::{Standing, Told};

/// The law of a window that only its agent changes.
#[derive(Clone, Debug)]
struct Held;

impl WindowLaw for Held {
    fn gain(&self, _: &Operating) -> f64 {
        0.0
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.0
    }
}

/// One agent.
#[derive(Debug)]
struct Steered {
    flow: usize,
    controls: Controls,
    start: Time,
    stop: Option<Time>,
    rtt: Span,
    /// The lowest rate of a link on its path, in bit/s.
    rate: f64,
    /// Mean round trip and rate of the interval before.
    before: Option<(f64, f64)>,
    most_rate: f64,
    least_rtt: f64,
    /// In flight at the end of the interval before.
    in_flight: f64,
}

/// The fluid model of a scenario, with agents.
///
/// Other flows have windows that jump at losses drawn from the seed. Agents have no retransmission timer, and a rate
/// holds as the window that it has in flight at the round trip of its decision.
#[derive(Debug)]
pub(crate) struct Fluid {
    integration: Integration<'static>,
    agents: Vec<Steered>,
    now: Time,
    end: Time,
}

impl Fluid {
    /// The scenario, with agents on all flows of these groups.
    pub(crate) fn new(
        scenario: &Scenario,
        groups: &[usize],
        steering: Steering,
        pricing: Pricing,
    ) -> Result<Self, GymError> {
        let mut scenario = scenario.clone();
        let held = Arc::new(Controller::of_law("agent", |_| Held));
        for &group in groups {
            scenario.flows[group].control.entry = Arc::clone(&held);
        }
        let mut setup = FluidSetup::of(&scenario, pricing)?;
        let network = &mut setup.network;
        let mut agents = Vec::new();
        for (flow, group) in setup.labels.group.iter().enumerate() {
            if groups.contains(&(*group as usize)) {
                let each = &mut network.flows[flow];
                // There is no slow start.
                each.initial_threshold = Some(Segments(0.0));
                let rates = each.route.iter().map(|&link| network.links[link].rate.0 as f64);
                agents.push(Steered::new(
                    flow,
                    each,
                    steering,
                    rates.fold(f64::INFINITY, f64::min),
                ));
            }
        }
        // Nobody reads its time series.
        let how = Solve { reading: Reading::Hybrid, delay: 1.0, sample: scenario.duration };
        let mut integration = Integration::owned(setup.network, &how)?;
        for agent in &agents {
            integration.steer(agent.flow);
        }
        let end = Time::ZERO + scenario.duration;
        Ok(Self { integration, agents, now: Time::ZERO, end })
    }

    /// When the first acknowledgment reaches an agent, and the round trip that it shows.
    pub(crate) fn begin(&mut self) -> Result<Option<(Time, Span)>, GymError> {
        let first = self.agents.iter().map(|agent| (agent.heard(), agent.rtt)).min();
        let first = first.filter(|(heard, _)| *heard < self.end);
        if let Some((heard, _)) = first {
            self.advance_to(heard)?;
        }
        Ok(first)
    }

    /// Carries out what an agent wants.
    pub(crate) fn turn(&mut self, agent: usize, action: f64) {
        let it = &mut self.agents[agent];
        let (rtt, _) = it.before.unwrap_or((it.rtt.seconds(), 0.0));
        it.controls.turn(action, Span::from_seconds_f64(rtt));
        let window = it.controls.rate().map_or(it.controls.window().0, |rate| rate * rtt);
        self.integration.set_window(it.flow, window.max(1.0));
    }

    /// Goes on until then.
    pub(crate) fn advance_to(&mut self, until: Time) -> Result<(), GymError> {
        self.integration.advance_to(until.min(self.end).seconds())?;
        self.now = until;
        Ok(())
    }

    /// Ends the interval of an agent: what it has measured, if anything was heard of its flow.
    pub(crate) fn measure(&mut self, agent: usize) -> Option<Told> {
        let now = self.now;
        let it = &mut self.agents[agent];
        let report = self.integration.take_report(it.flow);
        if now <= it.heard() || report.time <= 0.0 {
            return None;
        }
        let rate = report.delivered / report.time;
        let rtt = if report.delivered > 0.0 {
            it.rtt.seconds() + report.waited
        } else {
            it.before.map_or(it.rtt.seconds(), |(rtt, _)| rtt)
        };
        let (rtt_before, rate_before) = it.before.unwrap_or((rtt, rate));
        it.most_rate = it.most_rate.max(rate);
        it.least_rtt = it.least_rtt.min(rtt);
        let window = it.controls.rate().map_or(it.controls.window().0, |rate| rate * rtt);
        let sent = report.delivered + report.lost + window - it.in_flight;
        it.in_flight = window;
        it.before = Some((rtt, rate));
        let measured = Measurement {
            now: now.seconds(),
            length: report.time,
            delivered: report.delivered,
            sent: sent.max(0.0),
            lost: report.lost,
            marked: report.marked,
            timeouts: 0.0,
            rtt,
            rtt_before,
            least_rtt: it.least_rtt,
            smoothed_rtt: rtt,
            rate,
            rate_before,
            most_rate: it.most_rate,
            in_flight: window,
            window: it.controls.window().0,
            pacing: it.controls.rate(),
            segment_bits: it.controls.segment_bits(),
        };
        Some(Told { measured, smoothed: Span::from_seconds_f64(rtt) })
    }

    /// How far an agent has got.
    pub(crate) fn standing(&self, agent: usize) -> Standing {
        let it = &self.agents[agent];
        if it.stop.is_some_and(|stop| stop <= self.now) {
            Standing::Stopped
        } else if self.now <= it.heard() {
            Standing::Waiting
        } else {
            Standing::Running
        }
    }

    /// The lowest rate on the path of an agent in bit/s, and its round trip without queues.
    pub(crate) fn path(&self, agent: usize) -> (f64, Span) {
        (self.agents[agent].rate, self.agents[agent].rtt)
    }

    pub(crate) fn end(&self) -> Time {
        self.end
    }
}

impl Steered {
    fn new(flow: usize, of: &FluidFlow, steering: Steering, rate: f64) -> Self {
        let bits = of.packet.0 as f64 * 8.0;
        Self {
            flow,
            controls: Controls::new(steering, of.initial_window, bits),
            start: Time::ZERO + of.start,
            stop: of.stop.map(|stop| Time::ZERO + stop),
            rtt: of.rtt,
            rate,
            before: None,
            most_rate: 0.0,
            least_rtt: f64::INFINITY,
            in_flight: 0.0,
        }
    }

    /// When its first acknowledgment arrives.
    fn heard(&self) -> Time {
        self.start.saturating_add(self.rtt)
    }
}
