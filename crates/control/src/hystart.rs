//! HyStart++: leaves slow start when the round trips show that a queue is building.
//!
//! P. Balasubramanian, Y. Huang, M. Olson, "HyStart++: Modified Slow Start for TCP", RFC 9406, 2023.
//!
//! A queue at the bottleneck lengthens the round trips before it overflows. In every round the smallest round
//! trip is compared with that of the round before (section 4.2):
//!
//! ```text
//!     threshold = clamp(lastRoundMinRTT / 8,  4 ms,  16 ms)
//!     currentRoundMinRTT ≥ lastRoundMinRTT + threshold      (8 samples at least)
//!         →  conservative slow start: a quarter of the growth, cssBaselineMinRtt = currentRoundMinRTT
//!     there, currentRoundMinRTT < cssBaselineMinRtt          →  slow start again: it was noise
//!     there for 5 rounds, the one of the change included     →  threshold = window: congestion avoidance
//! ```
//!
//! The constants are those that section 4.3 recommends. A loss or a mark ends it at any time. Only the first
//! slow start is watched: later ones know their threshold.
//!
//! Promised by the RFC, held in `tests/theory/slow_start.rs`: on a path whose queue grows slow start ends
//! before the loss; jitter in one round does not end it; without queueing it is slow start of RFC 5681.

use longfat_units::Span;

use crate::Feedback;

/// `MIN_RTT_THRESH`.
const LEAST_INCREASE: Span = Span::from_millis(4);
/// `MAX_RTT_THRESH`.
const LARGEST_INCREASE: Span = Span::from_millis(16);
/// `MIN_RTT_DIVISOR`.
const PART_OF_ROUND_TRIP: u64 = 8;
/// `N_RTT_SAMPLE`.
const ENOUGH_SAMPLES: u32 = 8;
/// One over `CSS_GROWTH_DIVISOR`.
const CONSERVATIVE_SHARE: f64 = 0.25;
/// `CSS_ROUNDS`.
const CONSERVATIVE_ROUNDS: u32 = 5;

/// The smallest of the round trips of a round, which [`crate::hybrid_start`] goes by as well.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrips {
    /// `currentRoundMinRTT`; `None` is the RFC's infinity.
    smallest: Option<Span>,
    /// `rttSampleCount`.
    samples: u32,
}

impl RoundTrips {
    /// Takes in a round trip. Returns the smallest once there are enough of them.
    pub(crate) fn take(&mut self, rtt: Span) -> Option<Span> {
        self.samples += 1;
        self.smallest = Some(smaller(self.smallest, rtt));
        self.smallest.filter(|_| self.samples >= ENOUGH_SAMPLES)
    }
}

/// The smaller of a round trip and one before it, if there was one.
pub(crate) fn smaller(before: Option<Span>, rtt: Span) -> Span {
    before.map_or(rtt, |smallest| smallest.min(rtt))
}

/// What a round trip of `rtt` has become once a queue shows in it.
pub(crate) fn grown(rtt: Span) -> Span {
    rtt + (rtt / PART_OF_ROUND_TRIP).clamp(LEAST_INCREASE, LARGEST_INCREASE)
}

/// The round trips of a slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    this_round: RoundTrips,
    /// `lastRoundMinRTT`.
    last_round: Option<Span>,
    /// Conservative slow start, if that is the phase.
    conservative: Option<Conservative>,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// `cssBaselineMinRtt`.
    baseline: Span,
    /// Rounds completed in this phase.
    rounds: u32,
}

impl HyStart {
    /// The fraction of slow start's growth that applies right now.
    #[inline]
    pub(crate) fn share(&self) -> f64 {
        if self.conservative.is_some() { CONSERVATIVE_SHARE } else { 1.0 }
    }

    /// Takes in one acknowledgment. True when slow start ends.
    pub(crate) fn ends(&mut self, feedback: &Feedback) -> bool {
        if feedback.round_starts && self.next_round() {
            return true;
        }
        if let Some(this) = feedback.rtt.and_then(|rtt| self.this_round.take(rtt)) {
            self.compare(this);
        }
        false
    }

    /// True when conservative slow start has lasted long enough.
    fn next_round(&mut self) -> bool {
        self.last_round = std::mem::take(&mut self.this_round).smallest;
        self.conservative.as_mut().is_some_and(|phase| {
            phase.rounds += 1;
            phase.rounds >= CONSERVATIVE_ROUNDS
        })
    }

    fn compare(&mut self, this: Span) {
        if let Some(Conservative { baseline, .. }) = self.conservative {
            if this < baseline {
                self.conservative = None;
            }
        } else if self.last_round.is_some_and(|last| this >= grown(last)) {
            self.conservative = Some(Conservative { baseline: this, rounds: 0 });
        }
    }
}
