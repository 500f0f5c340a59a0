//! The equations.
//!
//! A flow r of window w and round trip R sends x = w/R segments per second. The acknowledgments that arrive at t report
//! on packets sent at t - R and on what the links charged them:
//!
//! ```text
//!     w' = x(t - R) [gain(w) - p give_up(w) w],       p = Σ over the links of the route of p_l
//!     X_l(t) = Σ over the flows that cross of x(t - lag),   p_l = price of the link, of X_l and the state of the link
//! ```
//!
//! A flow's clock is that of its first link: a packet that passes there at t meets link l at t + lag, and its
//! acknowledgment is back by the time the packet one window later passes, at t + R. So the price that a flow learns
//! at t is `p_l(t - R + lag)`. For one link this only shifts the clocks of the flows relative to each other; no delay
//! is lost.
//!
//! The memory of the epoch. A law may depend on the window at the start of the epoch, e, which a loss sets to the
//! window that remains. In the mean field losses come at the rate λ = x p, and the mean of e follows
//!
//! ```text
//!     e' = λ ((1 - give_up(w)) w - e)
//! ```

use std::borrow::Cow;

use longfat_control::{Cause, Phase};
use longfat_units::Span;

use crate::dormand_prince::{Equations, Side};
use crate::history::{History, Past};
use crate::network::FluidNetwork;
use crate::plan::{
    LEAST_WINDOW, NetworkPlan, OperatingPoint, has_queue, initial_state, link_slope, price,
};

/// How a law is read as a differential equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// Rates: losses are a continuous flow, and every one of them counts.
    MeanField,
    /// The window grows continuously and jumps at each loss; losses are random, drawn from the seed.
    Hybrid,
}

/// What is known of one flow besides its state.
#[derive(Clone, Debug)]
pub(crate) struct Stand {
    pub(crate) active: bool,
    pub(crate) phase: Phase,
    /// Until then it repairs a loss or answers a mark: no gain, no further loss.
    pub(crate) blind_until: f64,
    pub(crate) last_event: Option<f64>,
    /// The next event comes once this many losses are expected.
    pub(crate) due: f64,
    pub(crate) threshold: f64,
}

/// What acknowledgments tell a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signal {
    /// Acknowledged segments per second.
    pub(crate) acks: f64,
    /// Probability of a mark.
    pub(crate) marks: f64,
    /// Probability of a loss.
    pub(crate) losses: f64,
    /// Does every link have capacity to spare?
    pub(crate) spare: bool,
    /// How long the acknowledged packets have waited, for a law that answers delay.
    pub(crate) waited: Option<f64>,
}

/// The equations of a network, with all that they remember.
#[derive(Debug)]
pub(crate) struct NetworkEquations<'a> {
    pub(crate) network: Cow<'a, FluidNetwork>,
    pub(crate) plan: NetworkPlan,
    pub(crate) reading: Reading,
    /// Factor on every delay; 0: none.
    pub(crate) delay: f64,
    pub(crate) stands: Vec<Stand>,
    pub(crate) history: History,
    /// Where the state of each link begins.
    pub(crate) link_states: Vec<usize>,
    pub(crate) size: usize,
    rates: Vec<f64>,
    pub(crate) loads: Vec<f64>,
    pub(crate) prices: Vec<f64>,
}

impl<'a> NetworkEquations<'a> {
    pub(crate) fn new(network: Cow<'a, FluidNetwork>, reading: Reading, delay: f64) -> Self {
        let plan = NetworkPlan::new(&network);
        let mut size = 3 * plan.flows.len();
        let link_states = plan
            .links
            .iter()
            .map(|link| {
                let start = size;
                size += initial_state(link).len();
                start
            })
            .collect();
        let stands = plan
            .flows
            .iter()
            .map(|flow| Stand {
                active: false,
                phase: Phase::SlowStart,
                blind_until: 0.0,
                last_event: None,
                due: f64::INFINITY,
                threshold: flow.threshold,
            })
            .collect();
        Self {
            network,
            reading,
            delay,
            stands,
            history: History::default(),
            link_states,
            size,
            rates: vec![0.0; plan.flows.len()],
            loads: vec![0.0; plan.links.len()],
            prices: vec![0.0; plan.links.len()],
            plan,
        }
    }

    /// The state at the beginning, before any flow starts.
    pub(crate) fn initial_state(&self) -> Vec<f64> {
        let mut state = vec![0.0; self.size];
        for (link, &at) in self.plan.links.iter().zip(&self.link_states) {
            let initial = initial_state(link);
            state[at..at + initial.len()].copy_from_slice(initial);
        }
        state
    }

    pub(crate) fn epoch(&self, flow: usize) -> usize {
        self.plan.flows.len() + flow
    }

    pub(crate) fn hazard(&self, flow: usize) -> usize {
        2 * self.plan.flows.len() + flow
    }

    /// The queue of a link, in seconds, where it has one.
    pub(crate) fn queue(&self, link: usize, y: &[f64]) -> f64 {
        if has_queue(&self.plan.links[link]) { y[self.link_states[link]].max(0.0) } else { 0.0 }
    }

    /// The round trip of a flow, with the queues of this state.
    pub(crate) fn round_trip(&self, flow: usize, y: &[f64]) -> f64 {
        let plan = &self.plan.flows[flow];
        if !self.plan.queues {
            return plan.rtt;
        }
        plan.hops.iter().fold(plan.rtt, |sum, &(link, _)| sum + self.queue(link, y))
    }

    /// Segments per second that a flow sends in this state.
    pub(crate) fn rate(&self, flow: usize, y: &[f64]) -> f64 {
        if y[flow] > 0.0 {
            y[flow].min(self.plan.flows[flow].max_window) / self.round_trip(flow, y)
        } else {
            0.0
        }
    }

    /// Segments per second that a flow sent when `look` was last called.
    pub(crate) fn sent(&self, flow: usize) -> f64 {
        self.rates[flow]
    }

    fn past_rate(&self, flow: usize, past: &Past, t: f64) -> f64 {
        let plan = &self.plan.flows[flow];
        let window = past.state(flow, t);
        if window <= 0.0 {
            return 0.0;
        }
        let mut round_trip = plan.rtt;
        if self.plan.queues {
            for &(link, _) in &plan.hops {
                if has_queue(&self.plan.links[link]) {
                    round_trip += past.state(self.link_states[link], t).max(0.0);
                }
            }
        }
        window.min(plan.max_window) / round_trip
    }

    /// The loads and prices of all links at `t`.
    pub(crate) fn look(&mut self, side: Side, t: f64, y: &[f64]) {
        for flow in 0..self.plan.flows.len() {
            self.rates[flow] = self.rate(flow, y);
        }
        let mut loads = std::mem::take(&mut self.loads);
        loads.fill(0.0);
        NetworkPlan::add_loads(&self.network, side.of(t), &mut loads);
        for (link, load) in self.plan.links.iter().zip(&mut loads) {
            for &(flow, lag) in &link.crossing {
                let lag = lag * self.delay;
                let rate = if lag == 0.0 {
                    self.rates[flow]
                } else {
                    let then = t - lag;
                    let past = self.history.at(then, side);
                    past.map_or(0.0, |past| self.past_rate(flow, past, then))
                };
                *load += rate * self.plan.flows[flow].bits;
            }
        }
        self.loads = loads;
        for (index, link) in self.plan.links.iter().enumerate() {
            self.prices[index] = price(link, self.loads[index], &y[self.link_states[index]..]);
        }
    }

    /// What the acknowledgments of this instant tell a flow. `look` must have been called for this instant.
    pub(crate) fn signal(&self, flow: usize, side: Side, t: f64, y: &[f64]) -> Signal {
        let plan = &self.plan.flows[flow];
        let links = self.plan.links.len();
        let mut signal =
            Signal { losses: plan.loss, spare: plan.hears_of_spare, ..Signal::default() };
        let mut add = |link: usize, price: f64, load: f64| {
            let link = &self.plan.links[link];
            if plan.is_marked_by(link) {
                signal.marks += price;
            } else {
                signal.losses += price;
            }
            signal.spare = plan.hears_of_spare && link.spare(signal.spare, load);
        };
        if self.delay == 0.0 {
            for &(link, _) in &plan.hops {
                add(link, self.prices[link], self.loads[link]);
            }
            signal.acks = self.rate(flow, y);
            signal.waited = self.heard_delay(flow, side, t, y);
            return signal;
        }
        let sent = t - self.delay * self.round_trip(flow, y);
        let Some(past) = self.history.at(sent, side) else {
            return Signal::default();
        };
        for &(link, lag) in &plan.hops {
            let met = sent + self.delay * lag;
            let then = if lag == 0.0 { Some(past) } else { self.history.at(met, side) };
            if let Some(then) = then {
                add(link, then.link(link, met), then.link(links + link, met));
            }
        }
        signal.acks = self.past_rate(flow, past, sent);
        signal.waited = self.heard_delay(flow, side, t, y);
        signal
    }

    fn heard_delay(&self, flow: usize, side: Side, t: f64, y: &[f64]) -> Option<f64> {
        if self.plan.flows[flow].heeds_delay { self.waited(flow, side, t, y) } else { None }
    }

    /// Where a flow stands.
    pub(crate) fn point(&self, flow: usize, t: f64, y: &[f64], signal: &Signal) -> OperatingPoint {
        let stand = &self.stands[flow];
        let plan = &self.plan.flows[flow];
        let events = signal.acks * (signal.marks + signal.losses);
        let since_event = match self.reading {
            Reading::Hybrid => stand.last_event.map(|then| t - then),
            // The mean time since the last event when events come at this rate.
            Reading::MeanField => (events > 0.0).then(|| 1.0 / events),
        };
        let mut point = OperatingPoint {
            window: y[flow].min(plan.max_window),
            epoch_window: y[self.epoch(flow)],
            rtt: signal.waited.map_or_else(|| self.round_trip(flow, y), |waited| plan.rtt + waited),
            since_event,
            phase: stand.phase,
            spare: 0.0,
        };
        if signal.spare {
            point.spare = plan.spare_share(&plan.operating(&point));
        }
        point
    }

    fn flow_slopes(&self, flow: usize, side: Side, t: f64, y: &[f64]) -> [f64; 3] {
        let stand = &self.stands[flow];
        // A step never crosses the end of a recovery: what holds at its middle holds throughout.
        let blind = match side {
            Side::Before => t <= stand.blind_until,
            Side::After => t < stand.blind_until,
        };
        if !stand.active || blind {
            return [0.0; 3];
        }
        let signal = self.signal(flow, side, t, y);
        let plan = &self.plan.flows[flow];
        let at = plan.operating(&self.point(flow, t, y, &signal));
        let mut growth = signal.acks * plan.gain(&at);
        let hazard = signal.acks * (signal.marks + signal.losses);
        let averages = self.reading == Reading::MeanField && stand.phase != Phase::SlowStart;
        if !averages {
            if y[flow] >= plan.max_window {
                growth = growth.min(0.0);
            }
            return [growth, 0.0, hazard];
        }
        let mut epoch = 0.0;
        for (probability, cause) in [(signal.marks, Cause::Mark), (signal.losses, Cause::Loss)] {
            if probability > 0.0 {
                let share = plan.law().give_up(&at, cause);
                let window = at.window.0;
                growth -= signal.acks * probability * share * window;
                let left = (1.0 - share) * window;
                epoch += signal.acks * probability * (left - y[self.epoch(flow)]);
            }
        }
        if y[flow] >= plan.max_window {
            growth = growth.min(0.0);
        }
        if y[flow] <= LEAST_WINDOW {
            growth = growth.max(0.0);
        }
        [growth, epoch, 0.0]
    }

    /// The shortest delay that anything is read with.
    pub(crate) fn shortest_lag(&self) -> f64 {
        if self.delay == 0.0 {
            return f64::INFINITY;
        }
        let flows = self.plan.flows.iter();
        let lags =
            flows.flat_map(|flow| flow.hops.iter().flat_map(|&(_, lag)| [lag, flow.rtt - lag]));
        lags.filter(|&lag| lag > 0.0)
            .fold(f64::INFINITY, |shortest, lag| shortest.min(self.delay * lag))
    }

    /// Every instant at which something begins or ends, the earliest last: starts and stops, and when acknowledgments
    /// first show them.
    pub(crate) fn breaks(&self) -> Vec<f64> {
        let mut breaks = vec![self.network.warmup.seconds()];
        for flow in &self.plan.flows {
            for at in [flow.start, flow.stop] {
                breaks.extend([at, at + self.delay * flow.rtt]);
            }
        }
        for load in &self.network.loads {
            breaks.push(load.start.seconds());
            breaks.extend(load.stop.map(Span::seconds));
        }
        breaks.retain(|at| at.is_finite() && *at > 0.0);
        breaks.sort_by(|one, other| other.total_cmp(one));
        breaks.dedup();
        breaks
    }
}

impl Equations for NetworkEquations<'_> {
    fn slope(&mut self, side: Side, t: f64, y: &[f64], slope: &mut [f64]) {
        self.look(side, t, y);
        for (index, link) in self.plan.links.iter().enumerate() {
            let at = self.link_states[index];
            link_slope(link, self.loads[index], &y[at..], &mut slope[at..]);
        }
        for flow in 0..self.plan.flows.len() {
            let [window, epoch, hazard] = self.flow_slopes(flow, side, t, y);
            slope[flow] = window;
            slope[self.epoch(flow)] = epoch;
            slope[self.hazard(flow)] = hazard;
        }
    }

    fn negligible(&self, index: usize) -> f64 {
        // Windows and expected losses; shares of a capacity and seconds of a queue.
        if index < 3 * self.plan.flows.len() { 1e-6 } else { 1e-9 }
    }
}
