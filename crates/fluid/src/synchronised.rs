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

use longfat_control::{Cause, Phase, bounds};
use longfat_units::Span;

use crate::dormand_prince::{Equations, Side, Step, quartic, stretch};
use crate::network::{FluidError, Network};
use crate::plan::{LEAST_WINDOW, Plan, Point};
use crate::trajectory::{Means, Sampling, Trajectory};

/// How the flows of one link grow and lose together. The link's price plays no part, its buffer does. The rows of the
/// trajectory are evenly spaced, with two more at each loss, just before and just after.
///
/// # Errors
/// If there is not exactly one link, the equations take too many steps, or a window grows without bound.
pub fn synchronised(network: &Network, sample: Span) -> Result<Trajectory, FluidError> {
    let mut integration = Synchronised::new(network, sample)?;
    while integration.advance(u64::MAX)? {}
    Ok(integration.finish())
}

/// [`synchronised`] in portions, for callers with something to do in between.
#[derive(Debug)]
pub struct Synchronised<'a>(Run<'a>);

impl<'a> Synchronised<'a> {
    /// Ready for the first step.
    ///
    /// # Errors
    /// If there is not exactly one link, or it is too small for what crosses it.
    pub fn new(network: &'a Network, sample: Span) -> Result<Self, FluidError> {
        if network.links.len() != 1 {
            return Err(FluidError::NotOneLink(format!("{} links", network.links.len())));
        }
        network.check()?;
        Ok(Self(Run::new(network, sample)))
    }

    /// Takes up to `steps` steps. False once the end is reached.
    ///
    /// # Errors
    /// If the equations take too many steps, or their solution is no longer finite.
    pub fn advance(&mut self, steps: u64) -> Result<bool, FluidError> {
        for _ in 0..steps {
            if self.0.t >= self.0.end {
                return Ok(false);
            }
            self.0.advance()?;
        }
        Ok(self.0.t < self.0.end)
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

const MOST_STEPS: u64 = 20_000_000;

#[derive(Debug)]
struct Common<'a> {
    network: &'a Network,
    plan: Plan<'a>,
    active: Vec<bool>,
    phases: Vec<Phase>,
    last_loss: Option<f64>,
}

impl Common<'_> {
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
        Plan::add_loads(self.network, t, &mut loads);
        let sent = (0..self.plan.flows.len())
            .filter(|&flow| self.active[flow])
            .map(|flow| self.rate(flow, y) * self.plan.flows[flow].bits);
        (loads[0] + sent.sum::<f64>()) / self.plan.links[0].capacity
    }

    fn point(&self, flow: usize, t: f64, y: &[f64]) -> Point {
        let plan = &self.plan.flows[flow];
        let mut point = Point {
            window: y[flow],
            epoch_window: y[self.epoch(flow)],
            rtt: self.round_trip(flow, y),
            since_event: self.last_loss.map(|then| t - then),
            phase: self.phases[flow],
            room: 0.0,
        };
        let link = &self.plan.links[0];
        if plan.hears_of_spare && link.spare(true, self.load(t, y) * link.capacity) {
            point.room = plan.room(&plan.operating(&point));
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
        let room = y[self.queue_at()] - buffer * (1.0 - 1e-12);
        if excess > 0.0 { room } else { room.min(-f64::MIN_POSITIVE) }
    }
}

impl Equations for Common<'_> {
    fn slope(&mut self, _: Side, t: f64, y: &[f64], slope: &mut [f64]) {
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
struct Run<'a> {
    common: Common<'a>,
    t: f64,
    end: f64,
    y: Vec<f64>,
    step: Step,
    h: f64,
    longest: f64,
    quartics: Vec<[f64; 5]>,
    scratch: Vec<f64>,
    sampling: Sampling,
    trajectory: Trajectory,
    means: Means,
    steps: u64,
}

impl<'a> Run<'a> {
    fn new(network: &'a Network, sample: Span) -> Self {
        let plan = Plan::new(network);
        let flows = plan.flows.len();
        let shortest = plan.flows.iter().map(|flow| flow.rtt).fold(f64::INFINITY, f64::min);
        let end = network.duration.seconds();
        let common = Common {
            network,
            active: vec![false; flows],
            phases: vec![Phase::SlowStart; flows],
            last_loss: None,
            plan,
        };
        let size = 2 * flows + 1;
        let mut run = Self {
            common,
            t: 0.0,
            end,
            y: vec![0.0; size],
            step: Step::new(size),
            h: shortest / 100.0,
            longest: (4.0 * shortest).min(end / 50.0),
            quartics: Vec::new(),
            scratch: vec![0.0; size],
            sampling: Sampling::new(sample.seconds(), end),
            trajectory: Trajectory::new(flows, 1),
            means: Means::new(flows),
            steps: 0,
        };
        run.begin_and_end();
        while let Some(t) = run.sampling.take(0.0) {
            run.write(t, &run.y.clone());
        }
        run
    }

    fn advance(&mut self) -> Result<(), FluidError> {
        if self.loses_now() {
            self.lose();
        }
        let limit = self.next_break();
        loop {
            self.steps += 1;
            self.trajectory.steps = self.steps;
            if self.steps > MOST_STEPS {
                return Err(FluidError::TooManySteps { steps: self.steps, at: self.t });
            }
            let room = limit - self.t;
            let whole = room <= self.h.min(self.longest) * (1.0 + 1e-9);
            let length = if whole { room } else { self.h.min(self.longest) };
            let error = self.step.attempt(&mut self.common, self.t, &self.y, length);
            let shortest = 1e-7 * self.longest;
            let next = (length * stretch(error)).max(shortest);
            if length <= shortest && !error.is_finite() {
                return Err(self.common.network.exploded(self.step.broken(), self.t));
            }
            if error <= 1.0 || length <= shortest {
                self.h = if whole { next.max(self.h) } else { next };
                self.take(length, if whole { limit } else { self.t + length });
                return self.common.network.refuse_outgrown(&self.y, self.t);
            }
            self.h = next;
        }
    }

    /// The next instant at which the equations change: a flow starts or stops, or the link may lose again.
    fn next_break(&self) -> f64 {
        let flows = self.common.plan.flows.iter().flat_map(|flow| [flow.start, flow.stop]);
        let loads = self.common.network.loads.iter().flat_map(|load| {
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
        let Some(last) = self.common.last_loss else { return 0.0 };
        let trips = (0..self.common.plan.flows.len())
            .filter(|&flow| self.common.active[flow])
            .map(|flow| self.common.plan.flows[flow].rtt);
        last + trips.fold(0.0, f64::max) + self.common.plan.links[0].buffer.min(1e6)
    }

    fn loses_now(&self) -> bool {
        self.t >= self.patient_until() && self.common.overflow(self.t, &self.y) >= 0.0
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
        let queue = self.common.queue_at();
        let buffer = self.common.plan.links[0].buffer;
        let kept = self.y[queue].clamp(0.0, buffer);
        let mut bent = kept != self.y[queue];
        self.y[queue] = kept;
        for flow in 0..self.common.plan.flows.len() {
            let most = self.common.plan.flows[flow].max_window.max(LEAST_WINDOW);
            bent |= self.y[flow] > most;
            self.y[flow] = self.y[flow].min(most);
        }
        match event {
            Some((_, Some(flow))) => self.leave_slow_start(flow),
            Some((_, None)) => self.lose(),
            None => {}
        }
        let begun = self.begin_and_end();
        if event.is_some() || bent || begun {
            self.step.restart();
        } else {
            self.step.taken();
        }
    }

    /// Adds the measured part of the step up to `theta` to the means, by Simpson's rule.
    fn average(&mut self, length: f64, theta: f64) {
        let from = ((self.common.network.warmup.seconds() - self.t) / length).max(0.0);
        if from >= theta {
            return;
        }
        let time = (theta - from) * length;
        for (at, weight) in [(from, 1.0), (f64::midpoint(from, theta), 4.0), (theta, 1.0)] {
            let y = self.within(at);
            for flow in 0..self.common.plan.flows.len() {
                if self.common.active[flow] {
                    let part = weight / 6.0 * time;
                    let bits = self.common.plan.flows[flow].bits;
                    self.means.windows[flow].add(part * y[flow], part);
                    self.means.rates[flow].add(part * bits * self.common.rate(flow, &y), part);
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
        let mut first: Option<(f64, Option<usize>)> = None;
        for flow in 0..self.common.plan.flows.len() {
            let threshold = self.common.plan.flows[flow].threshold;
            let rises = self.common.active[flow] && self.common.phases[flow] == Phase::SlowStart;
            if rises && self.step.end[flow] >= threshold {
                let reached =
                    |run: &mut Self, theta| quartic(&run.quartics[flow], theta) >= threshold;
                let theta = self.bisect(reached);
                if first.is_none_or(|(other, _)| theta < other) {
                    first = Some((theta, Some(flow)));
                }
            }
        }
        let loses = |run: &mut Self, theta: f64| {
            let t = run.t + theta * length;
            let y = run.within(theta);
            run.common.overflow(t, &y) >= 0.0
        };
        if self.t + length > self.patient_until() && loses(self, 1.0) {
            let theta = self.bisect(loses);
            if first.is_none_or(|(other, _)| theta < other) {
                first = Some((theta, None));
            }
        }
        first
    }

    /// Where in the step a condition that is true at its end becomes true.
    fn bisect(&mut self, holds: impl Fn(&mut Self, f64) -> bool) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..48 {
            let middle = f64::midpoint(low, high);
            if holds(self, middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    /// The state at a point in the step, the queue kept within its buffer.
    fn within(&mut self, theta: f64) -> Vec<f64> {
        self.scratch.clear();
        self.scratch.extend(self.quartics.iter().map(|coefficients| quartic(coefficients, theta)));
        let queue = self.common.queue_at();
        self.scratch[queue] = self.scratch[queue].clamp(0.0, self.common.plan.links[0].buffer);
        self.scratch.clone()
    }

    fn leave_slow_start(&mut self, flow: usize) {
        self.common.phases[flow] = Phase::CongestionAvoidance;
        let epoch = self.common.epoch(flow);
        self.y[epoch] = self.y[flow];
    }

    /// Every flow gives up its share.
    fn lose(&mut self) {
        self.write(self.t, &self.y.clone());
        let before = self.y.clone();
        for flow in 0..self.common.plan.flows.len() {
            if !self.common.active[flow] {
                continue;
            }
            let plan = &self.common.plan.flows[flow];
            let at = plan.operating(&self.common.point(flow, self.t, &before));
            let share = plan.law().give_up(&at, Cause::Loss);
            let left = (before[flow] * (1.0 - share)).max(bounds::FLOOR).min(before[flow]);
            let epoch = self.common.epoch(flow);
            self.y[flow] = left;
            self.y[epoch] = left;
            self.common.phases[flow] = Phase::CongestionAvoidance;
            self.trajectory.flows[flow].events += 1;
        }
        self.common.last_loss = Some(self.t);
        self.write(self.t, &self.y.clone());
        self.step.restart();
    }

    fn begin_and_end(&mut self) -> bool {
        let mut any = false;
        for flow in 0..self.common.plan.flows.len() {
            let plan = &self.common.plan.flows[flow];
            let active = plan.start <= self.t && self.t < plan.stop;
            if active == self.common.active[flow] {
                continue;
            }
            any = true;
            let window = if active { plan.flow.initial_window.0.max(LEAST_WINDOW) } else { 0.0 };
            self.common.active[flow] = active;
            self.common.phases[flow] =
                if window < plan.threshold { Phase::SlowStart } else { Phase::CongestionAvoidance };
            let epoch = self.common.epoch(flow);
            self.y[flow] = window;
            self.y[epoch] = window;
        }
        any
    }

    fn write(&mut self, t: f64, y: &[f64]) {
        let common = &self.common;
        self.trajectory.t.push(t);
        for (flow, path) in self.trajectory.flows.iter_mut().enumerate() {
            let active = common.active[flow];
            path.window.push(y[flow]);
            let bits = common.plan.flows[flow].bits;
            path.rate.push(if active { common.rate(flow, y) * bits } else { 0.0 });
        }
        let load = common.load(t, y);
        let link = &mut self.trajectory.links[0];
        let full = y[common.queue_at()] >= common.plan.links[0].buffer * (1.0 - 1e-12);
        link.price.push(if full && load > 1.0 { 1.0 - 1.0 / load } else { 0.0 });
        link.load.push(load);
        link.queue.push(y[common.queue_at()]);
    }
}
