//! Slow start: the way up to the threshold.
//!
//! A flow begins, and begins again after a time-out, without knowing what the path holds. Below the slow-start
//! threshold each acknowledged segment adds one segment, so the window doubles every round trip (RFC 5681,
//! section 3.1). On a long fat path the last doubling overshoots by as much as the path holds, and tens of
//! thousands of segments are lost in one round trip. Three remedies are offered, for all controllers that leave
//! the end of slow start to them:
//!
//! ```text
//!     standard     RFC 5681    + 1 per acknowledged segment
//!     limited      RFC 3742    w ≤ 100:  + 1        w > 100:  + 1/K,  K = ⌊w / (100/2)⌋
//!                              so at most 50 segments per round trip (max_ssthresh = 100)
//!     hystart      Ha & Rhee   + 1, until acknowledgments come for half a round trip on end, or round trips grow
//!     hystart++    RFC 9406    + 1, until the round trips grow; then + 1/4 for five rounds
//! ```
//!
//! A law may put a rate of its own in place of the 1 (EXP-TCP does); the remedies apply to that rate.
//!
//! All count acknowledged segments, not acknowledgments: a delayed acknowledgment of two adds what two
//! acknowledgments add. RFC 5681 allows it (appropriate byte counting, RFC 3465). RFC 9406 would count at most
//! 8 segments of one acknowledgment where nothing paces the sender; the bound would make the window depend on how
//! acknowledgments are batched, so it is left out.

use longfat_units::Segments;

use crate::bounds::{AFTER_TIMEOUT, CEILING, FLOOR, first_window};
use crate::hybrid_start::HybridStart;
use crate::hystart::HyStart;
use crate::{Adjustment, Congestion, Feedback, Start};

/// Limited slow start begins here (RFC 3742: `max_ssthresh`).
const LIMITED_ABOVE: f64 = 100.0;

/// How the window grows below the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// One segment per acknowledged segment (RFC 5681).
    Standard,
    /// At most 50 segments per round trip above 100 segments (RFC 3742).
    Limited,
    /// One segment per acknowledged segment until a train of acknowledgments, or the round trips, have grown (Ha and Rhee
    /// 2011).
    Hybrid,
    /// One segment per acknowledged segment until the round trips grow, and fewer then (RFC 9406).
    HyStart,
}

impl SlowStart {
    /// Every kind, the default first.
    pub const ALL: [Self; 4] = [Self::Standard, Self::Limited, Self::Hybrid, Self::HyStart];

    /// The names in scenario files, in the same order.
    pub const NAMES: &'static [&'static str] = &["standard", "limited", "hystart", "hystart++"];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Limited => "limited",
            Self::Hybrid => "hystart",
            Self::HyStart => "hystart++",
        }
    }

    /// What one more acknowledged segment adds to this window, if it would add `step` by itself. The reduction of
    /// `hystart++` depends on round trips and is applied separately.
    #[inline]
    pub fn step(self, window: f64, step: f64) -> f64 {
        match self {
            // RFC 3742, section 2.
            Self::Limited if window > LIMITED_ABOVE => {
                step.min(1.0 / (window / (0.5 * LIMITED_ABOVE)).floor())
            }
            Self::Standard | Self::Limited | Self::Hybrid | Self::HyStart => step,
        }
    }

    /// The slow start called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The slow start of one flow: its threshold, and how it gets there. For controllers that are not window laws.
#[derive(Clone, Debug)]
pub struct Ramp {
    threshold: f64,
    kind: SlowStart,
    /// Watches the acknowledgments of the first slow start, if asked to.
    watch: Option<Watch>,
}

#[derive(Clone, Debug)]
enum Watch {
    Trains(HybridStart),
    RoundTrips(HyStart),
}

impl Watch {
    fn new(kind: SlowStart) -> Option<Self> {
        match kind {
            SlowStart::Standard | SlowStart::Limited => None,
            SlowStart::Hybrid => Some(Self::Trains(HybridStart::default())),
            SlowStart::HyStart => Some(Self::RoundTrips(HyStart::default())),
        }
    }

    /// The fraction of slow start's growth that applies right now.
    #[inline]
    fn share(&self) -> f64 {
        match self {
            Self::Trains(_) => 1.0,
            Self::RoundTrips(hystart) => hystart.share(),
        }
    }

    /// Takes in one acknowledgment, which finds this window. True when slow start ends.
    fn ends(&mut self, feedback: &Feedback, window: f64) -> bool {
        match self {
            Self::Trains(hybrid) => hybrid.ends(feedback, window),
            Self::RoundTrips(hystart) => hystart.ends(feedback),
        }
    }
}

impl Ramp {
    /// The slow start of a flow that begins as `start` says.
    pub fn new(start: &Start) -> Self {
        Self {
            threshold: start.threshold.map_or(f64::INFINITY, |threshold| threshold.0.max(1.0)),
            kind: start.slow_start,
            watch: Watch::new(start.slow_start),
        }
    }

    /// Is this window still below the threshold?
    #[inline]
    pub fn holds(&self, window: f64) -> bool {
        window < self.threshold
    }

    /// The threshold, if there is one yet.
    pub fn threshold(&self) -> Option<Segments> {
        self.threshold.is_finite().then_some(Segments(self.threshold))
    }

    /// The window after one more acknowledged segment, which by itself would add `step`.
    #[inline]
    pub fn rise(&self, window: f64, step: f64) -> f64 {
        (window + self.step(window, step)).min(self.threshold).min(CEILING)
    }

    /// What one more acknowledged segment, which by itself would add `step`, adds to this window wherever the threshold is.
    #[inline]
    pub fn step(&self, window: f64, step: f64) -> f64 {
        match &self.watch {
            Some(watch) => step * watch.share(),
            None => self.kind.step(window, step),
        }
    }

    /// The window that slow start makes of this one when all of it is acknowledged, a segment of which would by itself
    /// add `step`.
    pub fn after_round(&self, window: f64, step: f64) -> f64 {
        window + window * self.step(window, step)
    }

    /// Does it need to see acknowledgments?
    #[inline]
    pub fn watches(&self) -> bool {
        self.watch.is_some()
    }

    /// Sees an acknowledgment. True when it has just ended slow start at this window.
    #[cold]
    pub fn watch(&mut self, feedback: &Feedback, window: f64) -> bool {
        let ends = self.holds(window)
            && self.watch.as_mut().is_some_and(|watch| watch.ends(feedback, window));
        if ends || !self.holds(window) {
            self.watch = None;
        }
        if ends {
            self.threshold = window;
        }
        ends
    }

    /// The host asks for another window, and may have moved the threshold. Returns that window, within its bounds.
    pub fn adjust(&mut self, event: &Adjustment) -> f64 {
        if let Some(threshold) = event.threshold {
            self.threshold = first_window(threshold);
        }
        first_window(event.window)
    }

    /// A time-out: the first of a row lowers the threshold to half of what was in flight (RFC 5681, section 3.1). Returns
    /// the window that is left.
    pub fn time_out(&mut self, event: &Congestion) -> f64 {
        if !event.again {
            self.leave((event.in_flight as f64 / 2.0).max(FLOOR));
        }
        AFTER_TIMEOUT
    }

    /// Congestion, or patience run out: slow start stops at `threshold`, now and next time.
    pub fn leave(&mut self, threshold: f64) {
        self.threshold = threshold;
        // RFC 9406, section 4.3: only the first slow start, which knows no threshold, needs watching.
        self.watch = None;
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::{Span, Time};

    use super::*;
    use crate::Cause;

    fn ramp(kind: SlowStart, threshold: f64) -> Ramp {
        let threshold = Some(Segments(threshold));
        Ramp::new(&Start { slow_start: kind, threshold, ..Start::default() })
    }

    /// RFC 3742, section 2: a whole segment while the window is no more than 100, then half of one up to 150, a third up to
    /// 200.
    #[test]
    fn limited_slow_start_begins_above_100_segments() {
        let step = |window| SlowStart::Limited.step(window, 1.0);
        assert_eq!([99.0, 100.0, 100.5, 149.0, 150.0].map(step), [1.0, 1.0, 0.5, 0.5, 1.0 / 3.0]);
    }

    /// The last segment of slow start brings no more than is left to the threshold, which is at least a segment.
    #[test]
    fn slow_start_ends_at_its_threshold() {
        let ten = ramp(SlowStart::Standard, 10.0);
        assert_eq!([8.5, 9.5].map(|window| ten.rise(window, 1.0)), [9.5, 10.0]);
        for (asked, threshold) in [(1.5, 1.5), (0.5, 1.0)] {
            let ramp = ramp(SlowStart::Standard, asked);
            assert_eq!(ramp.threshold(), Some(Segments(threshold)));
        }
    }

    /// RFC 5681, equation 4: half of what was in flight, but two segments at the least. Section 3.1: a segment that is lost
    /// again leaves the threshold where it was.
    #[test]
    fn only_the_first_of_several_time_outs_lowers_the_threshold() {
        for (in_flight, threshold) in [(10, 5.0), (2, 2.0)] {
            let mut ramp = ramp(SlowStart::Standard, 100.0);
            let (now, cause) = (Time::ZERO, Cause::Timeout);
            for (in_flight, again) in [(in_flight, false), (40, true)] {
                let window = ramp.time_out(&Congestion { now, cause, in_flight, again });
                assert_eq!((window, ramp.threshold()), (1.0, Some(Segments(threshold))));
            }
        }
    }

    /// RFC 9406, section 4.3: it is for the first slow start. One that has reached its threshold is over, though its round
    /// trips have not grown; below the threshold again nothing is watched any more.
    #[test]
    fn round_trips_are_watched_until_the_threshold_is_reached() {
        let mut ramp = ramp(SlowStart::HyStart, 20.0);
        let ack = Feedback { rtt: Some(Span::from_millis(100)), ..Feedback::at(Time::ZERO, 1) };
        assert!(!ramp.watch(&ack, 19.0) && ramp.watches());
        assert!(!ramp.watch(&ack, 20.0) && !ramp.watches());
    }
}
