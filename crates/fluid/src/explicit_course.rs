//! Flows with explicit feedback through time: steps, delayed values, samples.

use crate::dormand_prince::{Equations, Side, TrialStep, quartic, quartic_integral};
use crate::explicit::{ExplicitLink, ExplicitPath, Scheme};
use crate::history::{History, Past};
use crate::network::FluidError;
use crate::plan::LEAST_WINDOW;
use crate::stepping::{StepLength, Stepping, next_break};
use crate::trajectory::{Mean, Sampling};

/// From when to when, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// How much of the beginning every average leaves out.
    pub(crate) measured_from: f64,
    pub(crate) end: f64,
    /// Spacing of the samples.
    pub(crate) sample: f64,
}

impl ExplicitLink {
    /// Solves the equations for so many seconds, the delays included; samples come every `sample` seconds.
    ///
    /// # Errors
    /// If the equations take too many steps, or their solution is no longer finite.
    pub fn solve(&self, duration: f64, sample: f64) -> Result<ExplicitPath, FluidError> {
        let times = Times { measured_from: 0.0, end: duration, sample };
        let mut course = Course::new(self, 1.0, times);
        while course.portion(u64::MAX)? {}
        Ok(course.finish())
    }
}

/// A solution under way.
#[derive(Debug)]
pub(crate) struct Course<'a> {
    equations: Running<'a>,
    t: f64,
    times: Times,
    /// The rates, and the queue behind them.
    state: Vec<f64>,
    step: TrialStep,
    lengths: StepLength,
    quartics: Vec<[f64; 5]>,
    /// Instants at which a flow starts, stops or first hears of the router, the next one last.
    breaks: Vec<f64>,
    sampling: Sampling,
    means: Vec<Mean>,
    path: ExplicitPath,
}

impl<'a> Course<'a> {
    /// Ready for the first step, with delays times `delay` (0: none).
    pub(crate) fn new(link: &'a ExplicitLink, delay: f64, times: Times) -> Self {
        let equations = Running { link, delay, crowds: crowds(link), past: History::default() };
        let shortest = link.flows.iter().map(|flow| flow.round_trip).fold(f64::INFINITY, f64::min);
        let lags = (0..link.flows.len()).map(|flow| equations.lag(flow));
        let lag = lags.filter(|&lag| lag > 0.0).fold(f64::INFINITY, f64::min);
        let mut breaks: Vec<f64> = link
            .flows
            .iter()
            .enumerate()
            .flat_map(|(index, flow)| [flow.start, flow.start + equations.lag(index), flow.stop])
            .filter(|&t| t < times.end)
            .collect();
        breaks.sort_by(|one, other| other.total_cmp(one));
        let count = link.flows.len();
        let path = ExplicitPath { rates: vec![Vec::new(); count], ..ExplicitPath::default() };
        let mut course = Self {
            equations,
            t: 0.0,
            times,
            state: vec![0.0; count + 1],
            step: TrialStep::new(count + 1),
            lengths: StepLength {
                next: shortest / 100.0,
                longest: lag.min(shortest).min(times.end),
                shortest: (1e-5 * shortest).min(times.end),
            },
            quartics: Vec::new(),
            breaks,
            sampling: Sampling::new(times.sample, times.end),
            means: vec![Mean::default(); count],
            path,
        };
        course.begin_and_end();
        while course.sampling.take(0.0).is_some() {
            let state = course.state.clone();
            course.write(0.0, &state);
        }
        course
    }

    /// The share of the time that has been solved for, 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        self.t / self.times.end
    }

    /// The results so far.
    pub(crate) fn finish(mut self) -> ExplicitPath {
        self.path.rate_means = self.means.iter().map(Mean::value).collect();
        self.path
    }

    /// Takes the step of this length, which ends at `end`.
    fn take(&mut self, length: f64, end: f64) {
        let (start, count) = (self.t, self.means.len());
        self.step.quartics(&self.state, length, &mut self.quartics);
        self.measure(length, end);
        let mut values = vec![0.0; count + 1];
        while let Some(t) = self.sampling.take(end) {
            for (value, coefficients) in values.iter_mut().zip(&self.quartics) {
                *value = quartic(coefficients, (t - start) / length);
            }
            self.write(t, &values);
        }
        self.equations.remember(start, length, end, &mut self.quartics);
        self.state.copy_from_slice(&self.step.end);
        self.t = end;
        let moved = self.keep_within_bounds();
        if self.begin_and_end() || moved || self.breaks.last() == Some(&end) {
            self.step.restart();
        } else {
            self.step.taken();
        }
    }

    /// Brings back what the last step has carried out of bounds. True if anything was moved.
    fn keep_within_bounds(&mut self) -> bool {
        let flows = &self.equations.link.flows;
        let least = flows
            .iter()
            .zip(&self.state)
            .map(|(flow, &rate)| if rate == 0.0 { 0.0 } else { LEAST_WINDOW / flow.round_trip });
        let least: Vec<f64> = least.chain([0.0]).collect();
        let mut moved = false;
        for (value, least) in self.state.iter_mut().zip(least) {
            moved |= *value < least;
            *value = value.max(least);
        }
        moved
    }

    /// Starts and stops whatever is due now. True if anything was.
    fn begin_and_end(&mut self) -> bool {
        let mut any = false;
        for (flow, rate) in self.equations.link.flows.iter().zip(&mut self.state) {
            let active = flow.start <= self.t && self.t < flow.stop;
            if active != (*rate > 0.0) {
                *rate = if active { flow.rate } else { 0.0 };
                any = true;
            }
        }
        any
    }

    /// Adds the step to the averages.
    fn measure(&mut self, length: f64, end: f64) {
        let from = self.t.max(self.times.measured_from);
        if from >= end {
            return;
        }
        let theta = |t: f64| (t - self.t) / length;
        for ((mean, quartic), rate) in self.means.iter_mut().zip(&self.quartics).zip(&self.state) {
            if *rate > 0.0 {
                let until = |t| quartic_integral(quartic, theta(t)) * length;
                mean.add(until(end) - until(from), end - from);
            }
        }
    }

    fn write(&mut self, t: f64, values: &[f64]) {
        self.path.t.push(t);
        let Some((queue, rates)) = values.split_last() else { return };
        for (path, rate) in self.path.rates.iter_mut().zip(rates) {
            path.push(rate.max(0.0));
        }
        let crowd = self.equations.crowd(t);
        let price = self.equations.link.price(rates.iter().sum(), *queue, crowd.round_trip);
        self.path.price.push(if crowd.count > 0.0 { price } else { 0.0 });
        self.path.queue.push(queue.max(0.0));
    }
}

impl Stepping for Course<'_> {
    fn at_end(&self) -> bool {
        self.t >= self.times.end
    }

    fn step(&mut self) -> Result<(), FluidError> {
        let limit = next_break(&mut self.breaks, self.t, self.times.end);
        let found = self.lengths.find(self.t, limit, &mut self.path.steps, |length| {
            self.step.attempt(&mut self.equations, self.t, &self.state, length)
        })?;
        let Some(found) = found else {
            return Err(FluidError::ExplicitNotFinite { at: self.t });
        };
        self.take(found.length, found.end);
        self.lengths.taken(found);
        Ok(())
    }
}

/// The instant that is heard of at `t`, `lag` after it. Rounding may put a start and a lag, less the lag, before the start:
/// a billionth of the lag later, who hears of the router finds itself there; and as much earlier it is not there yet, where a
/// step ends with the first news. So it is with a start itself, without a lag, but for a rounding.
fn heard(side: Side, t: f64, lag: f64) -> f64 {
    let slack = 1e-9 * lag + 4.0 * f64::EPSILON * t;
    match side {
        Side::Before => t - lag - slack,
        Side::After => t - lag + slack,
    }
}

/// How many flows there are from some instant on, and their mean round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Crowd {
    from: f64,
    count: f64,
    /// d
    round_trip: f64,
}

/// How many there are, from each instant at which that changes.
fn crowds(link: &ExplicitLink) -> Vec<Crowd> {
    let ends = link.flows.iter().filter(|flow| flow.stop.is_finite());
    let mut changes: Vec<(f64, f64, f64)> = link
        .flows
        .iter()
        .map(|flow| (flow.start, 1.0, flow.round_trip))
        .chain(ends.map(|flow| (flow.stop, -1.0, -flow.round_trip)))
        .collect();
    changes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut crowds: Vec<Crowd> = Vec::new();
    let (mut count, mut sum) = (0.0, 0.0);
    for (from, flows, round_trips) in changes {
        count += flows;
        sum += round_trips;
        crowds.push(Crowd { from, count, round_trip: sum / f64::max(count, 1.0) });
    }
    crowds
}

/// The equations and their past.
#[derive(Debug)]
struct Running<'a> {
    link: &'a ExplicitLink,
    /// Factor on every delay.
    delay: f64,
    crowds: Vec<Crowd>,
    /// The rates, the queue, and the sum of the rates.
    past: History,
}

/// What the router saw at an instant.
#[derive(Clone, Copy, Debug)]
struct Seen<'p> {
    /// How long ago that was.
    lag: f64,
    /// The step that it was in; `None` if it is the present.
    past: Option<&'p Past>,
    load: f64,
    queue: f64,
    crowd: Crowd,
}

impl Running<'_> {
    /// How long after the router a flow acts.
    fn lag(&self, flow: usize) -> f64 {
        self.delay
            * match self.link.scheme {
                Scheme::Xcp { .. } => self.link.flows[flow].round_trip,
                Scheme::Vcp { interval, .. } => interval,
            }
    }

    /// The flows there are at `t`.
    fn crowd(&self, t: f64) -> Crowd {
        let after = self.crowds.partition_point(|crowd| crowd.from <= t);
        after.checked_sub(1).map_or_else(Crowd::default, |last| self.crowds[last])
    }

    fn remember(&mut self, start: f64, length: f64, end: f64, quartics: &mut Vec<[f64; 5]>) {
        let count = self.link.flows.len();
        let mut sum = [0.0; 5];
        for quartic in &quartics[..count] {
            sum.iter_mut().zip(quartic).for_each(|(sum, part)| *sum += part);
        }
        quartics.push(sum);
        self.past.push(start, length, end, quartics);
        let longest = (0..count).map(|flow| self.lag(flow)).fold(0.0, f64::max);
        self.past.forget(end - 2.0 * longest);
    }

    /// What the router saw `lag` before `t`; `None` before the first step.
    fn seen(&self, side: Side, t: f64, lag: f64, y: &[f64]) -> Option<Seen<'_>> {
        let (count, crowd) = (self.link.flows.len(), self.crowd(heard(side, t, lag)));
        if lag == 0.0 {
            let load = y[..count].iter().sum();
            return Some(Seen { lag, past: None, load, queue: y[count], crowd });
        }
        let past = self.past.at(t - lag, side)?;
        let value = |index| past.state(index, t - lag).max(0.0);
        Some(Seen { lag, past: Some(past), load: value(count + 1), queue: value(count), crowd })
    }

    /// Is the flow there, and has what the router tells those who are there had time to reach it?
    fn hears(&self, flow: usize, side: Side, t: f64, lag: f64) -> bool {
        let flow = &self.link.flows[flow];
        let there = if side == Side::Before { t <= flow.stop } else { t < flow.stop };
        there && heard(side, t, lag) >= flow.start
    }
}

impl Equations for Running<'_> {
    fn slope(&mut self, side: Side, t: f64, y: &[f64], slope: &mut [f64]) {
        let (count, capacity) = (self.link.flows.len(), self.link.capacity);
        slope.fill(0.0);
        let mut last: Option<Seen<'_>> = None;
        for index in 0..count {
            let lag = self.lag(index);
            if !self.hears(index, side, t, lag) {
                continue;
            }
            // Flows of a group are adjacent, and often alike.
            if last.is_none_or(|seen| seen.lag != lag) {
                last = self.seen(side, t, lag, y);
            }
            let Some(Seen { load, queue, crowd, past, .. }) = last else { continue };
            slope[index] = match self.link.scheme {
                Scheme::Xcp { gamma, .. } => {
                    let change = self.link.scheme.change(capacity, load, queue, crowd.round_trip);
                    let shuffled = (gamma * load - change.abs()).max(0.0);
                    let given = (shuffled + change.max(0.0)) / crowd.count.max(1.0);
                    let rate = past.map_or(y[index], |past| past.state(index, t - lag));
                    // Interpolation may take the load below the rate of one of its flows, and to zero.
                    let share = (rate.max(0.0) / load.max(f64::MIN_POSITIVE)).min(1.0);
                    (given - (shuffled + (-change).max(0.0)) * share) / crowd.round_trip
                }
                Scheme::Vcp { kappa, alpha, gamma, low_load, interval } => {
                    let factor = (load / (gamma * capacity)).max(low_load);
                    let grown = kappa * (1.0 / factor.max(f64::MIN_POSITIVE) - 1.0) * y[index];
                    (grown + alpha / interval) / interval
                }
            };
            // Within a step too, since later steps read this one.
            if y[index] <= LEAST_WINDOW / self.link.flows[index].round_trip {
                slope[index] = slope[index].max(0.0);
            }
        }
        if let Scheme::Xcp { .. } = self.link.scheme {
            let surplus = y[..count].iter().sum::<f64>() - capacity;
            slope[count] = if y[count] > 0.0 { surplus } else { surplus.max(0.0) };
        }
    }

    fn negligible(&self, index: usize) -> f64 {
        // A queue of a microsecond is none.
        let share = if index == self.link.flows.len() { 1e-6 } else { 1e-9 };
        share * self.link.capacity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExplicitFlow;

    /// A link of 1000 segments per second with a flow that is there, and one that is from 0.5 s to 1 s.
    fn link(scheme: Scheme) -> ExplicitLink {
        let flow = |start, stop| ExplicitFlow { start, stop, round_trip: 0.1, rate: 100.0 };
        let flows = vec![flow(0.0, f64::INFINITY), flow(0.5, 1.0)];
        ExplicitLink { capacity: 1000.0, scheme, flows }
    }

    /// Without delays, too, a step ends before the flow that starts or stops then.
    #[test]
    fn without_delays_a_step_ends_before_a_start_and_a_stop() {
        for scheme in [Scheme::XCP, Scheme::VCP] {
            let link = link(scheme);
            let crowds = crowds(&link);
            let mut running = Running { link: &link, delay: 0.0, crowds, past: History::default() };
            let mut slopes = |side, t, late| {
                let mut slope = [0.0; 3];
                running.slope(side, t, &[400.0, late, 0.0], &mut slope);
                (slope[0], slope[1])
            };
            assert_eq!(slopes(Side::Before, 0.5, 0.0), slopes(Side::After, 0.4, 0.0));
            assert_eq!(slopes(Side::Before, 0.5, 0.0).1, 0.0);
            assert_eq!(slopes(Side::Before, 1.0, 100.0), slopes(Side::After, 0.5, 100.0));
            assert_ne!(slopes(Side::After, 0.5, 100.0).1, 0.0);
            assert_eq!(slopes(Side::After, 1.0, 100.0).1, 0.0);
        }
    }

    /// A flow that grew before its start would not get the rate that it begins with.
    #[test]
    fn without_delays_a_flow_that_starts_late_has_its_first_rate() {
        for scheme in [Scheme::XCP, Scheme::VCP] {
            let link = link(scheme);
            let times = Times { measured_from: 0.0, end: 0.6, sample: 0.001 };
            let mut course = Course::new(&link, 0.0, times);
            while course.portion(u64::MAX).expect("it can be solved") {}
            let late = &course.finish().rates[1];
            assert_eq!(late[500], 0.0);
            assert!((late[501] / 100.0 - 1.0).abs() < 0.05, "{} at once", late[501]);
        }
    }
}
