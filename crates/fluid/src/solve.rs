//! From the beginning to the end: steps, events, samples.

use std::borrow::Cow;

use longfat_control::{Cause, Phase};
use longfat_units::Span;

use crate::chance::Losses;
use crate::dormand_prince::{Side, TrialStep, quartic, quartic_integral};
use crate::history::{BOOLE, SAMPLES};
use crate::model::{NetworkEquations, Reading};
use crate::network::{FluidError, FluidNetwork};
use crate::plan::{LEAST_WINDOW, has_queue};
use crate::stepping::{StepLength, Stepping, bisect, next_break};
use crate::trajectory::{Means, Report, Sampling, Trajectory};

/// How to solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solve {
    /// Rates, or windows that jump.
    pub reading: Reading,
    /// Factor on every feedback delay: 1 keeps them, 0 removes them. Other values show how stable a network is.
    pub delay: f64,
    /// Spacing of the samples.
    pub sample: Span,
}

/// This many losses more or fewer in a step make no difference.
const UNEXPECTED: f64 = 1e-4;

/// Solves the equations of a network in time.
///
/// # Errors
/// If a link is too small for what crosses it, the equations take too many steps, or a window grows without bound.
pub fn solve(network: &FluidNetwork, how: &Solve) -> Result<Trajectory, FluidError> {
    let mut integration = Integration::new(network, how)?;
    while integration.advance(u64::MAX)? {}
    Ok(integration.finish())
}

/// A solution in portions, for callers with something to do in between.
#[derive(Debug)]
pub struct Integration<'a>(pub(crate) Solver<'a>);

impl<'a> Integration<'a> {
    /// Ready for the first step.
    ///
    /// # Errors
    /// If a link is too small for what crosses it.
    pub fn new(network: &'a FluidNetwork, how: &Solve) -> Result<Self, FluidError> {
        network.check()?;
        Ok(Self(Solver::new(Cow::Borrowed(network), how)))
    }

    /// The same, with a network of its own.
    ///
    /// # Errors
    /// If a link is too small for what crosses it.
    pub fn owned(network: FluidNetwork, how: &Solve) -> Result<Integration<'static>, FluidError> {
        network.check()?;
        Ok(Integration(Solver::new(Cow::Owned(network), how)))
    }

    /// Takes up to `steps` steps. False once the end is reached.
    ///
    /// # Errors
    /// If the equations take too many steps, or their solution is no longer finite.
    pub fn advance(&mut self, steps: u64) -> Result<bool, FluidError> {
        self.0.portion(steps)
    }

    /// The share of the time that has been solved for, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.0.t / self.0.end
    }

    /// The results so far.
    pub fn finish(self) -> Trajectory {
        self.0.finish()
    }
}

#[derive(Debug)]
pub(crate) struct Solver<'a> {
    pub(crate) model: NetworkEquations<'a>,
    pub(crate) t: f64,
    end: f64,
    pub(crate) y: Vec<f64>,
    pub(crate) step: TrialStep,
    /// Steps are no longer than the shortest delay, so that the past they depend on is known. Nothing moves by more
    /// than some millionths in the shortest: steps need not be shorter, even where a law jumps (Scalable TCP at 16
    /// segments).
    lengths: StepLength,
    /// Steps need not be shorter than this to be remembered well: where a price jumps, no step is short enough.
    finest: f64,
    quartics: Vec<[f64; 5]>,
    /// Instants at which something begins or ends, the next one last.
    pub(crate) breaks: Vec<f64>,
    streams: Vec<Losses>,
    sampling: Sampling,
    measured_from: f64,
    means: Means,
    trajectory: Trajectory,
    links: Vec<[f64; 5]>,
    /// The flows that are steered, with what is counted of each.
    pub(crate) reports: Vec<(usize, Report)>,
    pub(crate) scratch: Vec<f64>,
}

impl Stepping for Solver<'_> {
    fn at_end(&self) -> bool {
        self.t >= self.end
    }

    fn step(&mut self) -> Result<(), FluidError> {
        self.advance()
    }
}

/// Something that happens to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FlowEvent {
    flow: usize,
    what: FlowEventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowEventKind {
    /// A loss or a mark.
    Congestion,
    /// Slow start ends at the threshold.
    Threshold,
    /// Slow start ends because packets wait, for a law that answers delay.
    Delay,
}

/// A flow just after congestion.
#[derive(Clone, Copy, Debug)]
struct Cut {
    flow: usize,
    window: f64,
    marked: bool,
}

/// Between which values a component of the state stays.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    component: usize,
    least: f64,
    most: f64,
}

/// The bounds of windows and queues, and of the share of a link's capacity that an adaptive virtual queue has.
fn bounds(model: &NetworkEquations<'_>) -> impl Iterator<Item = Bounds> {
    let active = model.stands.iter().enumerate().filter(|(_, stand)| stand.active);
    let windows = active.map(|(flow, _)| {
        let most = model.plan.flows[flow].max_window.max(LEAST_WINDOW);
        Bounds { component: flow, least: LEAST_WINDOW, most }
    });
    let links = model.plan.links.iter().zip(&model.link_states);
    let rest = links.filter_map(|(link, &component)| {
        let most = if has_queue(link) {
            link.buffer
        } else if component < model.size && matches!(link.price, crate::Price::Avq { .. }) {
            1.0
        } else {
            return None;
        };
        Some(Bounds { component, least: 0.0, most })
    });
    windows.chain(rest)
}

impl<'a> Solver<'a> {
    fn new(network: Cow<'a, FluidNetwork>, how: &Solve) -> Self {
        let (links, seed, warmup) = (network.links.len(), network.seed, network.warmup);
        let end = network.duration.seconds();
        let streams = network.flows.iter().map(|flow| Losses::new(seed, &flow.name)).collect();
        let model = NetworkEquations::new(network, how.reading, how.delay);
        let shortest_trip =
            model.plan.flows.iter().map(|flow| flow.rtt).fold(f64::INFINITY, f64::min);
        let longest = model.shortest_lag().min(end / 50.0);
        let flows = model.plan.flows.len();
        let mut solver = Self {
            t: 0.0,
            end,
            y: model.initial_state(),
            step: TrialStep::new(model.size),
            lengths: StepLength {
                next: longest.min(shortest_trip / 100.0),
                longest,
                shortest: 2e-6 * shortest_trip.min(end),
            },
            finest: 1e-3 * how.delay * shortest_trip,
            quartics: Vec::new(),
            breaks: model.breaks(),
            streams,
            sampling: Sampling::new(how.sample.seconds(), end),
            measured_from: warmup.seconds(),
            means: Means::new(flows),
            trajectory: Trajectory::new(flows, links),
            links: Vec::new(),
            reports: Vec::new(),
            scratch: vec![0.0; model.size],
            model,
        };
        solver.begin_and_end();
        solver.sample_start();
        solver
    }

    /// One step that is short enough, or the part of it up to the first event.
    fn advance(&mut self) -> Result<(), FluidError> {
        let mut limit = next_break(&mut self.breaks, self.t, self.end);
        for stand in &self.model.stands {
            if stand.blind_until > self.t {
                limit = limit.min(stand.blind_until);
            }
        }
        loop {
            let found = self.lengths.find(self.t, limit, &mut self.trajectory.steps, |length| {
                self.step.attempt(&mut self.model, self.t, &self.y, length)
            })?;
            let Some(found) = found else {
                return Err(self.model.network.exploded(self.step.broken(), self.t));
            };
            if self.take(found.length, found.end, found.accurate) {
                self.lengths.taken(found);
                return self.model.network.refuse_outgrown(&self.y, self.t);
            }
            self.lengths.next = 0.4 * found.length;
        }
    }

    /// Takes the step of this length, which ends at `end` unless an event comes first. `accurate`: its error is small
    /// enough, not merely its length. False if it is too long to remember what the links charged.
    fn take(&mut self, length: f64, end: f64, accurate: bool) -> bool {
        self.step.quartics(&self.y, length, &mut self.quartics);
        let straightened = !accurate && self.straighten();
        let first = self.first_turn(self.first_event(), length);
        let end = first.map_or(end, |(_, theta)| self.t + theta * length);
        // If two events are closer than the clock can resolve, there is no step between them to remember.
        if self.model.delay > 0.0 && end > self.t && !self.remember(length, end) {
            return false;
        }
        self.measure(length, end);
        self.count_reports(length, end);
        self.sample(length, end);
        if let Some((_, theta)) = first {
            for (value, coefficients) in self.y.iter_mut().zip(&self.quartics) {
                *value = quartic(coefficients, theta);
            }
        } else {
            self.y.copy_from_slice(&self.step.end);
        }
        self.t = end;
        let bent = self.keep_within_bounds() || straightened;
        if let Some((first, _)) = first {
            self.happen(first);
        }
        let begun = self.begin_and_end();
        let broken = self.breaks.last() == Some(&end);
        if first.is_some() || bent || begun || broken || self.recovery_ends() {
            self.step.restart();
        } else {
            self.step.taken();
        }
        true
    }

    fn recovery_ends(&self) -> bool {
        self.model.stands.iter().any(|stand| stand.blind_until == self.t)
    }

    /// The events ahead of each active flow: the component of the state to watch, and the value at which each happens.
    fn awaited(&self) -> impl Iterator<Item = (FlowEvent, usize, f64)> {
        let active = self.model.stands.iter().enumerate().filter(|(_, stand)| stand.active);
        active.flat_map(|(flow, stand)| {
            let congestion = FlowEvent { flow, what: FlowEventKind::Congestion };
            let threshold = FlowEvent { flow, what: FlowEventKind::Threshold };
            let slow = stand.phase == Phase::SlowStart;
            let rises = slow.then_some((threshold, flow, stand.threshold));
            [(congestion, self.model.hazard(flow), stand.due)].into_iter().chain(rises)
        })
    }

    /// The first event of the step, if there is one, and where in the step it comes, 0 to 1.
    fn first_event(&self) -> Option<(FlowEvent, f64)> {
        let mut first: Option<(FlowEvent, f64)> = None;
        for (event, component, goal) in self.awaited() {
            let quartics = &self.quartics[component];
            if self.step.end[component] >= goal && quartics[0] < goal {
                let theta = bisect(|theta| quartic(quartics, theta) >= goal);
                if first.is_none_or(|(_, earliest)| theta < earliest) {
                    first = Some((event, theta));
                }
            }
        }
        first
    }

    /// The first event, if a flow whose law answers delay leaves slow start before this one.
    fn first_turn(
        &self,
        mut first: Option<(FlowEvent, f64)>,
        length: f64,
    ) -> Option<(FlowEvent, f64)> {
        for flow in self.model.rising_until_delay() {
            let turned = |theta: f64| {
                let y: Vec<f64> =
                    self.quartics.iter().map(|coefficients| quartic(coefficients, theta)).collect();
                self.model.turns(flow, Side::Before, self.t + theta * length, &y)
            };
            if turned(1.0) {
                let theta = bisect(turned);
                if first.is_none_or(|(_, earliest)| theta < earliest) {
                    first = Some((FlowEvent { flow, what: FlowEventKind::Delay }, theta));
                }
            }
        }
        first
    }

    /// Handles `first`, and whatever comes at the same instant: identical flows lose, and leave slow start, together.
    /// None of them sees the others' reaction.
    fn happen(&mut self, first: FlowEvent) {
        let due = |&(event, component, goal): &(FlowEvent, usize, f64)| {
            event == first || self.y[component] >= goal
        };
        let events: Vec<FlowEvent> = self.awaited().filter(due).map(|(event, ..)| event).collect();
        let flows =
            |what| events.iter().filter(move |event| event.what == what).map(|event| event.flow);
        self.model.look(Side::Before, self.t, &self.y);
        if first.what == FlowEventKind::Delay {
            let turn = |&flow: &usize| self.model.turns(flow, Side::Before, self.t, &self.y);
            let turned: Vec<usize> = self.model.rising_until_delay().filter(turn).collect();
            for flow in turned {
                let window = self.model.window_before(flow, self.t, &self.y);
                self.model.stands[flow].threshold = window;
                self.y[flow] = window;
                self.leave_slow_start(flow);
            }
        }
        let cuts: Vec<Cut> = flows(FlowEventKind::Congestion).map(|flow| self.cut(flow)).collect();
        // Congestion ends slow start too.
        let risen = flows(FlowEventKind::Threshold);
        for flow in risen.filter(|flow| cuts.iter().all(|cut| cut.flow != *flow)) {
            self.leave_slow_start(flow);
        }
        for cut in cuts {
            self.reduce(cut);
        }
    }

    /// Slow start ends at the threshold.
    fn leave_slow_start(&mut self, flow: usize) {
        let epoch = self.model.epoch(flow);
        self.y[flow] = self.y[flow].max(self.model.stands[flow].threshold);
        self.model.stands[flow].phase = Phase::CongestionAvoidance;
        self.y[epoch] = self.y[flow];
    }

    /// How a loss or a mark cuts this flow. `look` must have been called for this instant.
    fn cut(&mut self, flow: usize) -> Cut {
        let signal = self.model.signal(flow, Side::Before, self.t, &self.y);
        let point = self.model.point(flow, self.t, &self.y, &signal);
        let chances = signal.marks + signal.losses;
        let marked = signal.losses == 0.0
            || signal.marks > 0.0
                && match self.model.reading {
                    Reading::Hybrid => self.streams[flow].uniform() * chances < signal.marks,
                    Reading::MeanField => signal.marks >= signal.losses,
                };
        let cause = if marked { Cause::Mark } else { Cause::Loss };
        let window = self.model.plan.flows[flow].left(self.y[flow], &point, cause);
        Cut { flow, window, marked }
    }

    fn reduce(&mut self, Cut { flow, window, marked }: Cut) {
        let epoch = self.model.epoch(flow);
        self.y[flow] = window;
        self.y[epoch] = window;
        let round_trip = self.model.delay * self.model.round_trip(flow, &self.y);
        let from_slow_start = self.model.stands[flow].phase == Phase::SlowStart;
        let each = self.model.plan.flows[flow].per_mark && marked && !from_slow_start;
        let stand = &mut self.model.stands[flow];
        stand.phase = Phase::CongestionAvoidance;
        stand.last_event = Some(self.t);
        stand.blind_until = if each { self.t } else { self.t + round_trip };
        self.trajectory.flows[flow].events += 1;
        self.expect_loss(flow);
    }

    /// Sets when the next loss is due, in expected losses from now on.
    fn expect_loss(&mut self, flow: usize) {
        let hazard = self.model.hazard(flow);
        self.y[hazard] = 0.0;
        self.model.stands[flow].due = match self.model.reading {
            Reading::Hybrid => self.streams[flow].exponential(),
            // Slow start ends once one loss is expected.
            Reading::MeanField => 1.0,
        };
    }

    /// Starts and stops the flows that are due now. True if any were.
    fn begin_and_end(&mut self) -> bool {
        let mut any = false;
        for flow in 0..self.model.stands.len() {
            let plan = &self.model.plan.flows[flow];
            let active = plan.is_active(self.t);
            if active == self.model.stands[flow].active {
                continue;
            }
            any = true;
            let (window, phase) = plan.beginning(active);
            let epoch = self.model.epoch(flow);
            self.y[flow] = window;
            self.y[epoch] = window;
            let stand = &mut self.model.stands[flow];
            stand.active = active;
            stand.phase = phase;
            self.expect_loss(flow);
        }
        any
    }

    /// Brings back what rounding and the last step have carried out of bounds. True if anything was moved.
    fn keep_within_bounds(&mut self) -> bool {
        let mut moved = false;
        for Bounds { component, least, most } in bounds(&self.model) {
            let value = &mut self.y[component];
            let within = value.max(least).min(most);
            moved |= within != *value;
            *value = within;
        }
        moved
    }

    /// The step is as short as steps get, and still not accurate: something has fallen faster than that, a window of
    /// 10⁹ segments on a buffer that overflows, say. Whatever it carries out of bounds has reached the bound within the
    /// step; the quartic, which follows slopes that are gone before its end, does not say how. A straight line does. True
    /// if anything was moved.
    ///
    /// So is the mean window that losses leave held to what the windows were. Where losses come more often than steps, it
    /// would swing ever farther from the windows that it follows.
    fn straighten(&mut self) -> bool {
        let mut moved = false;
        let mut hold = |y: &[f64], end: &mut [f64], component: usize, within: f64| {
            if within != end[component] {
                end[component] = within;
                let start = y[component];
                self.quartics[component] = [start, within - start, 0.0, 0.0, 0.0];
                moved = true;
            }
        };
        let (y, end) = (&self.y, &mut self.step.end);
        for Bounds { component, least, most } in bounds(&self.model) {
            let within = end[component].max(least).min(most);
            hold(y, end, component, within);
        }
        for flow in 0..self.model.stands.len() {
            let epoch = self.model.epoch(flow);
            let most = y[epoch].max(y[flow]).max(end[flow]);
            let within = end[epoch].max(0.0).min(most);
            hold(y, end, epoch, within);
        }
        moved
    }

    /// Keeps the step for later look-ups. False if it is too long for that: prices have kinks, where they begin and
    /// where they end, that five samples of a long step do not show.
    fn remember(&mut self, length: f64, end: f64) -> bool {
        let start = self.t;
        self.model.history.push(start, length, end, &self.quartics);
        let count = self.model.plan.links.len();
        self.links.clear();
        self.links.resize(2 * count, [0.0; 5]);
        for (place, share) in SAMPLES.into_iter().enumerate() {
            let t = start + share * (end - start);
            let side = if place == 0 { Side::After } else { Side::Before };
            self.look_at(t, start, length, side);
            for link in 0..count {
                self.links[link][place] = self.model.prices[link];
                self.links[count + link][place] = self.model.loads[link];
            }
        }
        self.model.history.set_links(&self.links);
        if end - start > self.finest && !self.remembers(start, length, end) {
            self.model.history.pop();
            return false;
        }
        let longest = (0..self.model.plan.flows.len())
            .map(|flow| self.model.round_trip(flow, &self.y))
            .fold(0.0, f64::max);
        self.model.history.forget(end - 2.0 * self.model.delay * longest);
        true
    }

    /// Is the record of the last step good enough between its samples too? It must be within one in a thousand, or good
    /// enough that no flow's expected losses change by more than `UNEXPECTED`.
    fn remembers(&mut self, start: f64, length: f64, end: f64) -> bool {
        for share in [0.125, 0.875] {
            let t = start + share * (end - start);
            self.look_at(t, start, length, Side::Before);
            let Some(past) = self.model.history.last() else { return true };
            for (index, link) in self.model.plan.links.iter().enumerate() {
                let price = self.model.prices[index];
                let off = (past.link(index, t) - price).abs();
                if off <= 1e-3 * price {
                    continue;
                }
                let rates = link.crossing.iter().map(|&(flow, _)| self.model.sent(flow));
                if off * rates.fold(0.0, f64::max) * (end - start) > UNEXPECTED {
                    return false;
                }
            }
        }
        true
    }

    /// Loads and prices within the step that began at `start`.
    pub(crate) fn look_at(&mut self, t: f64, start: f64, length: f64, side: Side) {
        for (value, coefficients) in self.scratch.iter_mut().zip(&self.quartics) {
            *value = quartic(coefficients, (t - start) / length);
        }
        self.model.look(side, t, &self.scratch);
    }

    /// Adds the step to the averages.
    fn measure(&mut self, length: f64, end: f64) {
        let from = self.t.max(self.measured_from);
        if from >= end {
            return;
        }
        let theta = |t: f64| (t - self.t) / length;
        for (flow, stand) in self.model.stands.iter().enumerate() {
            if stand.active {
                let window = &self.quartics[flow];
                let integral =
                    quartic_integral(window, theta(end)) - quartic_integral(window, theta(from));
                self.means.windows[flow].add(integral * length, end - from);
            }
        }
        for (share, weight) in SAMPLES.into_iter().zip(BOOLE) {
            let t = theta(from + share * (end - from));
            for (value, coefficients) in self.scratch.iter_mut().zip(&self.quartics) {
                *value = quartic(coefficients, t);
            }
            for flow in 0..self.means.rates.len() {
                if self.model.stands[flow].active {
                    let bits = self.model.plan.flows[flow].bits;
                    let rate = self.model.rate(flow, &self.scratch) * bits;
                    let time = weight * (end - from);
                    self.means.rates[flow].add(rate * time, time);
                }
            }
        }
    }

    /// The first sample: what has just begun.
    fn sample_start(&mut self) {
        while let Some(t) = self.sampling.take(0.0) {
            self.scratch.copy_from_slice(&self.y);
            self.model.look(Side::After, t, &self.y);
            self.write(t);
        }
    }

    /// The samples of the step that ends at `end`.
    fn sample(&mut self, length: f64, end: f64) {
        let start = self.t;
        while let Some(t) = self.sampling.take(end) {
            self.look_at(t, start, length, Side::Before);
            self.write(t);
        }
    }

    fn write(&mut self, t: f64) {
        let y = &self.scratch;
        self.trajectory.t.push(t);
        for (flow, path) in self.trajectory.flows.iter_mut().enumerate() {
            // At its least a window may be below it by the error of a step.
            let least = if self.model.stands[flow].active { LEAST_WINDOW } else { 0.0 };
            path.window.push(y[flow].max(least));
            path.rate.push(self.model.rate(flow, y) * self.model.plan.flows[flow].bits);
        }
        for (link, path) in self.trajectory.links.iter_mut().enumerate() {
            // A virtual capacity may be below 0 by the error of a step.
            path.price.push(self.model.prices[link].min(1.0));
            path.load.push(self.model.loads[link] / self.model.plan.links[link].capacity);
            path.queue.push(self.model.queue(link, y));
        }
    }

    fn finish(mut self) -> Trajectory {
        self.means.finish(&mut self.trajectory);
        self.trajectory
    }
}
