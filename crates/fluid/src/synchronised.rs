//! Flows that lose together: the phase plane of Chiu and Jain.
//!
//! D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance in computer
//! networks", Computer Networks and ISDN Systems 17(1), 1989, with any window laws and round trips, and a buffer:
//!
//! ```text
//!     w_i' = gain(w_i) w_i/R_i,   R_i = rtt_i + q,   q' = Σ w_i/R_i / C - 1,   0 ≤ q ≤ buffer
//!     q = buffer and Σ w_i/R_i > C:   every w_i gives up its share at once
//! ```
//!
//! One drop-tail link. Senders learn of a loss at once and repair it in no time; there is at most one per longest round
//! trip, queue included, since no sender reacts more often. Nothing is random between losses, so a trajectory shows
//! what the laws do: additive increase with a common decrease approaches equal shares with each loss, multiplicative
//! increase keeps the ratio, and different round trips pull the shares apart.

use longfat_control::{Cause, Phase};
use longfat_units::Span;

use crate::dormand_prince::{Equations, Side, TrialStep, quartic};
use crate::network::{FluidError, FluidNetwork, Load};
use crate::plan::{LEAST_WINDOW, NetworkPlan, OperatingPoint};
use crate::stepping::{StepLength, Stepping, bisect};
use crate::trajectory::{Means, Sampling, Trajectory};

/// How the flows of one link grow and lose together. The link's price plays no part, its buffer does. The rows of the
/// trajectory are evenly spaced, with two more at each loss, just before and just after.
///
/// # Errors
/// If there is not exactly one link, the equations take too many steps, or a window grows without bound.
pub fn synchronised(network: &FluidNetwork, sample: Span) -> Result<Trajectory, FluidError> {
    let mut integration = Synchronised::new(network, sample)?;
    while integration.advance(u64::MAX)? {}
    Ok(integration.finish())
}

/// [`synchronised`] in portions, for callers with something to do in between.
#[derive(Debug)]
pub struct Synchronised<'a>(SynchronisedSolver<'a>);

impl<'a> Synchronised<'a> {
    /// Ready for the first step.
    ///
    /// # Errors
    /// If there is not exactly one link, or it is too small for what crosses it.
    pub fn new(network: &'a FluidNetwork, sample: Span) -> Result<Self, FluidError> {
        if network.links.len() != 1 {
            return Err(FluidError::NotOneLink(format!("{} links", network.links.len())));
        }
        network.check()?;
        if let Some(flow) = network.flows.iter().find(|flow| flow.heeds_delay()) {
            return Err(FluidError::NotByLoss { flow: flow.name.clone() });
        }
        Ok(Self(SynchronisedSolver::new(network, sample)))
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

/// The equations of the one link and its flows.
#[derive(Debug)]
struct OneLink<'a> {
    network: &'a FluidNetwork,
    plan: NetworkPlan,
    active: Vec<bool>,
    phases: Vec<Phase>,
    last_loss: Option<f64>,
}

impl OneLink<'_> {
    fn queue_at(&self) -> usize {
        self.plan.flows.len()
    }

    fn epoch(&self, flow: usize) -> usize {
        self.plan.flows.len() + 1 + flow
    }

    fn round_trip(&self, flow: usize, y: &[f64]) -> f64 {
        self.plan.flows[flow].rtt + y[self.queue_at()].max(0.0)
    }

    /// In segments per second.
    fn rate(&self, flow: usize, y: &[f64]) -> f64 {
        y[flow].min(self.plan.flows[flow].max_window) / self.round_trip(flow, y)
    }

    /// The load, as a share of the capacity.
    fn load(&self, t: f64, y: &[f64]) -> f64 {
        let mut loads = [0.0];
        NetworkPlan::add_loads(self.network, t, &mut loads);
        let sent = (0..self.plan.flows.len())
            .filter(|&flow| self.active[flow])
            .map(|flow| self.rate(flow, y) * self.plan.flows[flow].bits);
        (loads[0] + sent.sum::<f64>()) / self.plan.links[0].capacity
    }

    fn point(&self, flow: usize, t: f64, y: &[f64]) -> OperatingPoint {
        let plan = &self.plan.flows[flow];
        let mut point = OperatingPoint {
            window: y[flow],
            epoch_window: y[self.epoch(flow)],
            rtt: self.round_trip(flow, y),
            since_event: self.last_loss.map(|then| t - then),
            phase: self.phases[flow],
            spare: 0.0,
        };
        let link = &self.plan.links[0];
        if plan.hears_of_spare && link.spare(true, self.load(t, y) * link.capacity) {
            point.spare = plan.spare_share(&plan.operating(&point));
        }
        point
    }

    /// How close the link is to losing packets: negative while it loses none, 0 or more when it does.
    fn overflow(&self, t: f64, y: &[f64]) -> f64 {
        let excess = self.load(t, y) - 1.0;
        let buffer = self.plan.links[0].buffer;
        if buffer == 0.0 {
            return excess;
        }
        let overfull = y[self.queue_at()] - buffer * (1.0 - 1e-12);
        if excess > 0.0 { overfull } else { overfull.min(-f64::MIN_POSITIVE) }
    }
}

impl Equations for OneLink<'_> {
    fn slope(&mut self, side: Side, t: f64, y: &[f64], slope: &mut [f64]) {
        let t = side.of(t);
        slope.fill(0.0);
        for flow in 0..self.plan.flows.len() {
            if !self.active[flow] {
                continue;
            }
            let plan = &self.plan.flows[flow];
            let gain = plan.gain(&plan.operating(&self.point(flow, t, y)));
            let growth = self.rate(flow, y) * gain;
            slope[flow] = if y[flow] >= plan.max_window { growth.min(0.0) } else { growth };
        }
        let queue = y[self.queue_at()];
        let excess = self.load(t, y) - 1.0;
        let stays =
            (queue <= 0.0 && excess < 0.0) || (queue >= self.plan.links[0].buffer && excess > 0.0);
        slope[self.queue_at()] = if stays { 0.0 } else { excess };
    }

    fn negligible(&self, index: usize) -> f64 {
        if index == self.queue_at() { 1e-9 } else { 1e-6 }
    }
}

#[derive(Debug)]
struct SynchronisedSolver<'a> {
    equations: OneLink<'a>,
    t: f64,
    end: f64,
    y: Vec<f64>,
    step: TrialStep,
    lengths: StepLength,
    quartics: Vec<[f64; 5]>,
    scratch: Vec<f64>,
    sampling: Sampling,
    trajectory: Trajectory,
    means: Means,
}

impl Stepping for SynchronisedSolver<'_> {
    fn at_end(&self) -> bool {
        self.t >= self.end
    }

    fn step(&mut self) -> Result<(), FluidError> {
        self.advance()
    }
}

impl<'a> SynchronisedSolver<'a> {
    fn new(network: &'a FluidNetwork, sample: Span) -> Self {
        let plan = NetworkPlan::new(network);
        let flows = plan.flows.len();
        let shortest = plan.flows.iter().map(|flow| flow.rtt).fold(f64::INFINITY, f64::min);
        let end = network.duration.seconds();
        let equations = OneLink {
            network,
            active: vec![false; flows],
            phases: vec![Phase::SlowStart; flows],
            last_loss: None,
            plan,
        };
        let size = 2 * flows + 1;
        let longest = (4.0 * shortest).min(end / 50.0);
        let mut solver = Self {
            equations,
            t: 0.0,
            end,
            y: vec![0.0; size],
            step: TrialStep::new(size),
            lengths: StepLength { next: shortest / 100.0, longest, shortest: 1e-7 * longest },
            quartics: Vec::new(),
            scratch: vec![0.0; size],
            sampling: Sampling::new(sample.seconds(), end),
            trajectory: Trajectory::new(flows, 1),
            means: Means::new(flows),
        };
        solver.begin_and_end();
        while let Some(t) = solver.sampling.take(0.0) {
            solver.write(t, &solver.y.clone());
        }
        solver
    }

    fn advance(&mut self) -> Result<(), FluidError> {
        if self.loses_now() {
            self.lose();
        }
        let limit = self.next_break();
        let found = self.lengths.find(self.t, limit, &mut self.trajectory.steps, |length| {
            self.step.attempt(&mut self.equations, self.t, &self.y, length)
        })?;
        let Some(found) = found else {
            return Err(self.equations.network.exploded(self.step.broken(), self.t));
        };
        self.lengths.taken(found);
        self.take(found.length, found.end);
        self.equations.network.refuse_outgrown(&self.y, self.t)
    }

    /// The next instant at which the equations change: a flow starts or stops, or the link may lose again.
    fn next_break(&self) -> f64 {
        let flows = self.equations.plan.flows.iter().flat_map(|flow| [flow.start, flow.stop]);
        let loads = self.equations.network.loads.iter().flat_map(|load| {
            [load.start.seconds(), load.stop.map_or(f64::INFINITY, Span::seconds)]
        });
        flows
            .chain(loads)
            .chain([self.patient_until()])
            .filter(|at| *at > self.t)
            .fold(self.end, f64::min)
    }

    /// No loss before this instant: one round trip of the slowest flow after the last loss.
    fn patient_until(&self) -> f64 {
        let Some(last) = self.equations.last_loss else { return 0.0 };
        let trips = (0..self.equations.plan.flows.len())
            .filter(|&flow| self.equations.active[flow])
            .map(|flow| self.equations.plan.flows[flow].rtt);
        last + trips.fold(0.0, f64::max) + self.equations.plan.links[0].buffer.min(1e6)
    }

    fn loses_now(&self) -> bool {
        self.t >= self.patient_until() && self.equations.overflow(self.t, &self.y) >= 0.0
    }

    fn take(&mut self, length: f64, end: f64) {
        self.step.quartics(&self.y, length, &mut self.quartics);
        let event = self.first_event(length);
        let theta = event.map_or(1.0, |(theta, _)| theta);
        let end = if event.is_some() { self.t + theta * length } else { end };
        while let Some(t) = self.sampling.take(end) {
            let y = self.within((t - self.t) / length);
            self.write(t, &y);
        }
        self.average(length, theta);
        self.y = if event.is_some() { self.within(theta) } else { self.step.end.clone() };
        self.t = end;
        let queue = self.equations.queue_at();
        let buffer = self.equations.plan.links[0].buffer;
        let kept = self.y[queue].clamp(0.0, buffer);
        let mut bent = kept != self.y[queue];
        self.y[queue] = kept;
        for flow in 0..self.equations.plan.flows.len() {
            let most = self.equations.plan.flows[flow].max_window.max(LEAST_WINDOW);
            bent |= self.y[flow] > most;
            self.y[flow] = self.y[flow].min(most);
        }
        match event {
            Some((_, Some(flow))) => self.leave_slow_start(flow),
            Some((_, None)) => self.lose(),
            None => {}
        }
        let begun = self.begin_and_end();
        let jumps = |load: &Load| {
            load.start.seconds() == end || load.stop.is_some_and(|stop| stop.seconds() == end)
        };
        if event.is_some() || bent || begun || self.equations.network.loads.iter().any(jumps) {
            self.step.restart();
        } else {
            self.step.taken();
        }
    }

    /// Adds the measured part of the step up to `theta` to the means, by Simpson's rule.
    fn average(&mut self, length: f64, theta: f64) {
        let from = ((self.equations.network.warmup.seconds() - self.t) / length).max(0.0);
        if from >= theta {
            return;
        }
        let time = (theta - from) * length;
        for (at, weight) in [(from, 1.0), (f64::midpoint(from, theta), 4.0), (theta, 1.0)] {
            let y = self.within(at);
            for flow in 0..self.equations.plan.flows.len() {
                if self.equations.active[flow] {
                    let part = weight / 6.0 * time;
                    let bits = self.equations.plan.flows[flow].bits;
                    self.means.windows[flow].add(part * y[flow], part);
                    self.means.rates[flow].add(part * bits * self.equations.rate(flow, &y), part);
                }
            }
        }
    }

    fn finish(mut self) -> Trajectory {
        self.means.finish(&mut self.trajectory);
        self.trajectory
    }

    /// Where in the step the link loses (`None`) or a flow leaves slow start, whichever comes first.
    fn first_event(&mut self, length: f64) -> Option<(f64, Option<usize>)> {
        let (end, patient_until) = (self.t + length, self.patient_until());
        let mut first: Option<(f64, Option<usize>)> = None;
        for flow in 0..self.equations.plan.flows.len() {
            let threshold = self.equations.plan.flows[flow].threshold;
            let rises =
                self.equations.active[flow] && self.equations.phases[flow] == Phase::SlowStart;
            if rises && self.step.end[flow] >= threshold {
                let theta = bisect(|theta| quartic(&self.quartics[flow], theta) >= threshold);
                if first.is_none_or(|(other, _)| theta < other) {
                    first = Some((theta, Some(flow)));
                }
            }
        }
        let mut loses = |theta: f64| {
            let y = self.within(theta);
            self.equations.overflow(self.t + theta * length, &y) >= 0.0
        };
        if patient_until < end && loses(1.0) {
            let theta = bisect(loses);
            if first.is_none_or(|(other, _)| theta < other) {
                first = Some((theta, None));
            }
        }
        first
    }

    /// The state at a point in the step, the queue kept within its buffer.
    fn within(&mut self, theta: f64) -> Vec<f64> {
        self.scratch.clear();
        self.scratch.extend(self.quartics.iter().map(|coefficients| quartic(coefficients, theta)));
        let queue = self.equations.queue_at();
        self.scratch[queue] = self.scratch[queue].clamp(0.0, self.equations.plan.links[0].buffer);
        self.scratch.clone()
    }

    fn leave_slow_start(&mut self, flow: usize) {
        self.equations.phases[flow] = Phase::CongestionAvoidance;
        let epoch = self.equations.epoch(flow);
        self.y[epoch] = self.y[flow];
    }

    /// Every flow gives up its share.
    fn lose(&mut self) {
        self.write(self.t, &self.y.clone());
        let before = self.y.clone();
        for flow in 0..self.equations.plan.flows.len() {
            if !self.equations.active[flow] {
                continue;
            }
            let point = self.equations.point(flow, self.t, &before);
            let left = self.equations.plan.flows[flow].left(before[flow], &point, Cause::Loss);
            let epoch = self.equations.epoch(flow);
            self.y[flow] = left;
            self.y[epoch] = left;
            self.equations.phases[flow] = Phase::CongestionAvoidance;
            self.trajectory.flows[flow].events += 1;
        }
        self.equations.last_loss = Some(self.t);
        self.write(self.t, &self.y.clone());
        self.step.restart();
    }

    fn begin_and_end(&mut self) -> bool {
        let mut any = false;
        for flow in 0..self.equations.plan.flows.len() {
            let plan = &self.equations.plan.flows[flow];
            let active = plan.is_active(self.t);
            if active == self.equations.active[flow] {
                continue;
            }
            any = true;
            let (window, phase) = plan.beginning(active);
            self.equations.active[flow] = active;
            self.equations.phases[flow] = phase;
            let epoch = self.equations.epoch(flow);
            self.y[flow] = window;
            self.y[epoch] = window;
        }
        any
    }

    fn write(&mut self, t: f64, y: &[f64]) {
        let equations = &self.equations;
        self.trajectory.t.push(t);
        for (flow, path) in self.trajectory.flows.iter_mut().enumerate() {
            let active = equations.active[flow];
            path.window.push(y[flow]);
            let bits = equations.plan.flows[flow].bits;
            path.rate.push(if active { equations.rate(flow, y) * bits } else { 0.0 });
        }
        let load = equations.load(t, y);
        let link = &mut self.trajectory.links[0];
        let full = y[equations.queue_at()] >= equations.plan.links[0].buffer * (1.0 - 1e-12);
        link.price.push(if full && load > 1.0 { 1.0 - 1.0 / load } else { 0.0 });
        link.load.push(load);
        link.queue.push(y[equations.queue_at()]);
    }
}
