//! A policy that was trained, as a controller.

use std::sync::Arc;

use longfat_units::{Probe, Segments, Span, Time};
use thiserror::Error;

use super::{Controls, FEATURES, Measurement, Monitor, Network, Steering};
use crate::{Cause, Congestion, CongestionControl, Feedback, Pacing, Path, Sending, Start, Wants};

/// What a trained controller does: what it observes, how often it decides, and how.
#[derive(Clone, Debug)]
pub struct Policy {
    interval: f64,
    observed: Vec<usize>,
    steering: Steering,
    network: Network,
}

/// Why a policy cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PolicyError {
    /// The length of its intervals.
    #[error("its interval is {0} round trips: between {SHORTEST} and {LONGEST} are needed")]
    Interval(f64),
    /// The number of intervals that it looks at.
    #[error("its history is {0} intervals: between 1 and {MOST_HISTORY} are needed")]
    History(usize),
    /// The network takes another number of inputs.
    #[error(
        "its network takes {inputs} numbers, and {observed} are observed in each of {history} intervals: {} in all",
        observed * history
    )]
    Inputs {
        /// What it takes.
        inputs: usize,
        /// How many are observed.
        observed: usize,
        /// In how many intervals.
        history: usize,
    },
    /// Nothing to go by.
    #[error("it observes nothing")]
    Blind,
}

const SHORTEST: f64 = 0.05;
const LONGEST: f64 = 100.0;
const MOST_HISTORY: usize = 64;

impl Policy {
    /// A policy that decides every `interval` smoothed round trips, from the features at these places of [`FEATURES`] in
    /// the last `history` intervals, the oldest first.
    ///
    /// # Errors
    /// If a number is out of range, or the network does not fit what is observed.
    pub fn new(
        interval: f64,
        observed: Vec<usize>,
        history: usize,
        steering: Steering,
        network: Network,
    ) -> Result<Self, PolicyError> {
        Self::check(interval, history)?;
        if observed.is_empty() {
            return Err(PolicyError::Blind);
        }
        if network.inputs() != observed.len() * history {
            let (inputs, observed) = (network.inputs(), observed.len());
            return Err(PolicyError::Inputs { inputs, observed, history });
        }
        Ok(Self { interval, observed, steering, network })
    }

    /// Checks how often it decides, and how many intervals it looks at.
    ///
    /// # Errors
    /// If one of them is out of range.
    pub fn check(interval: f64, history: usize) -> Result<(), PolicyError> {
        if !(SHORTEST..=LONGEST).contains(&interval) {
            return Err(PolicyError::Interval(interval));
        }
        if !(1..=MOST_HISTORY).contains(&history) {
            return Err(PolicyError::History(history));
        }
        Ok(())
    }

    /// What it decides when it observes these numbers. They are rounded to single precision, in which environments
    /// hand them over.
    pub fn decide(&self, observed: &[f32]) -> f64 {
        let inputs: Vec<f64> = observed.iter().copied().map(f64::from).collect();
        self.network.output(&inputs)
    }

    /// How many numbers it observes.
    pub fn inputs(&self) -> usize {
        self.network.inputs()
    }

    /// How a flow sends that follows it.
    pub fn sending(self: &Arc<Self>, start: &Start) -> Sending {
        Sending::Windowed(Box::new(Learned::new(Arc::clone(self), start)))
    }
}

/// A flow that follows a policy.
#[derive(Clone, Debug)]
pub struct Learned {
    policy: Arc<Policy>,
    monitor: Monitor,
    controls: Controls,
    /// The last observations, the oldest first: so many intervals of so many numbers.
    seen: Vec<f32>,
    last: Measurement,
    /// When the interval ends, once a round trip is known.
    until: Option<Time>,
}

impl Learned {
    fn new(policy: Arc<Policy>, start: &Start) -> Self {
        let seen = vec![0.0; policy.inputs()];
        let segment_bits = start.packet.0 as f64 * 8.0;
        Self {
            monitor: Monitor::default(),
            controls: Controls::new(policy.steering, start.window, segment_bits),
            seen,
            last: Measurement::default(),
            until: None,
            policy,
        }
    }

    fn next(&self, now: Time, rtt: Span) -> Time {
        Monitor::end_of_interval(now, self.policy.interval, rtt)
    }
}

impl Monitor {
    /// When an interval of so many round trips ends that begins now: a microsecond later at least.
    pub fn end_of_interval(now: Time, round_trips: f64, rtt: Span) -> Time {
        let length = Span::from_seconds_f64((round_trips * rtt.seconds()).clamp(1e-6, 1e6));
        now.saturating_add(length)
    }
}

impl CongestionControl for Learned {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        self.monitor.hear(feedback);
        if self.until.is_none() {
            self.until = Some(self.next(feedback.now, path.rtt));
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        if event.cause == Cause::Timeout {
            self.monitor.time_out();
        }
    }

    fn timer(&self) -> Option<Time> {
        self.until
    }

    fn on_timer(&mut self, now: Time, path: &Path) {
        let setting = (self.controls.window().0, self.controls.rate());
        let bits = self.controls.segment_bits();
        self.last = self.monitor.close(now, path, setting, bits);
        self.seen.drain(..self.policy.observed.len());
        let values = self.policy.observed.iter().map(|&each| FEATURES[each].of(&self.last) as f32);
        self.seen.extend(values);
        let action = self.policy.decide(&self.seen);
        self.controls.turn(action, path.rtt);
        self.until = Some(self.next(now, path.rtt));
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

    fn wants(&self) -> Wants {
        Wants { timer: true, own_recovery: true, spurious: true, ..Wants::NOTHING }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        for &each in &self.policy.observed {
            let feature = &FEATURES[each];
            probe.value(feature.name, feature.of(&self.last));
        }
    }
}
