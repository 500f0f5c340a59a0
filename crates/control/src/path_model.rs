//! What both BBRs are made of: how they count round trips, what they remember of rates, and how fast they begin.
//!
//! Sections are those of draft-cardwell-iccrg-bbr-congestion-control-00; draft-ietf-ccwg-bbr has kept these parts.

use longfat_units::{PICOSECONDS_PER_SECOND, Span};

use crate::bounds::CEILING;
use crate::{Feedback, Limited, RateSample, SendQuantum, Start};

/// `BtlBwFilterLen`
pub(crate) const LONGEST_FILTER: usize = 10;
/// `BBRMinPipeCwnd`
pub(crate) const MIN_PIPE: f64 = 4.0;
/// `ProbeRTTDuration`
pub(crate) const PROBE_RTT: Span = Span::from_millis(200);
/// What stands for a round trip that is not known (section 4.2.1).
const NOMINAL_RTT: Span = Span::from_millis(1);
/// The least pacing rate, in segments per second: there must be one even when nothing was ever delivered.
const LEAST_RATE: f64 = 1e-3;

/// Counts packet-timed round trips: one ends when a segment sent after its beginning is delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    /// `next_round_delivered`
    end: u64,
    /// `round_count`
    pub(crate) count: u64,
    /// Does a round begin with the current acknowledgment?
    pub(crate) starts: bool,
}

impl Rounds {
    pub(crate) fn see(&mut self, sample: &RateSample) {
        self.starts = sample.delivered_before >= self.end;
        if self.starts {
            self.begin(sample.delivered_total);
            self.count += 1;
        }
    }

    /// A round begins here, with so many segments delivered.
    pub(crate) fn begin(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// The largest value of the last round trips, the one under way included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Largest {
    values: [f64; LONGEST_FILTER],
    /// How many of them count.
    length: usize,
    at: usize,
    most: f64,
}

impl Largest {
    /// Over so many round trips, 1 to 10.
    pub(crate) fn over(length: usize) -> Self {
        Self { values: [0.0; LONGEST_FILTER], length, at: 0, most: 0.0 }
    }

    #[inline]
    pub(crate) fn value(&self) -> f64 {
        self.most
    }

    #[inline]
    pub(crate) fn see(&mut self, value: f64) {
        if value > self.values[self.at] {
            self.values[self.at] = value;
            self.most = self.most.max(value);
        }
    }

    /// The next round trip begins.
    pub(crate) fn advance(&mut self) {
        self.at = (self.at + 1) % self.length;
        self.values[self.at] = 0.0;
        self.most = self.values.iter().fold(0.0, |most, &value| most.max(value));
    }

    /// Counts over so many round trips from now on; what has been seen counts as seen now.
    pub(crate) fn resize(&mut self, length: usize) {
        let most = self.most;
        *self = Self::over(length);
        self.see(most);
    }
}

/// Samples that say less than the path can deliver, because the controller itself sends little on purpose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quiet {
    /// Segments delivered when it began, and when the last segment sent in it is delivered.
    span: Option<(u64, u64)>,
}

impl Quiet {
    /// With so many segments delivered and in flight.
    pub(crate) fn mark(&mut self, delivered: u64, in_flight: u64) {
        let from = match self.span {
            Some((from, until)) if delivered <= until => from,
            _ => delivered,
        };
        self.span = Some((from, (delivered + in_flight).max(1)));
    }

    /// Is this sample one of them, or of an application that had nothing to send?
    #[inline]
    pub(crate) fn limits(&self, sample: &RateSample) -> bool {
        let covers = |(from, until)| (from..=until).contains(&sample.delivered_before);
        sample.application_limited || self.span.is_some_and(covers)
    }
}

/// What the host sends at a time, in segments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quantum {
    /// This many.
    Count(f64),
    /// What leaves in so many seconds, but no more than so many segments.
    Time(f64, f64),
}

impl Quantum {
    pub(crate) fn of(start: &Start) -> Self {
        match start.send_quantum {
            None => Self::Count(1.0),
            Some(SendQuantum::Packets(packets)) => Self::Count(packets as f64),
            Some(SendQuantum::Time(time)) => {
                let most = SendQuantum::LARGEST.0 / start.packet.0.max(1);
                Self::Time(time.seconds(), most.max(SendQuantum::SMALLEST) as f64)
            }
        }
    }

    /// At this rate, in segments per second.
    #[inline]
    pub(crate) fn segments(self, rate: f64) -> f64 {
        match self {
            Self::Count(segments) => segments,
            Self::Time(seconds, most) => {
                (rate * seconds).min(most).max(SendQuantum::SMALLEST as f64)
            }
        }
    }
}

/// The first pacing rate of a flow (`BBRInitPacingRate`): a window per round trip, times the gain.
pub(crate) fn first_rate(gain: f64, window: f64, round_trip: Option<Span>) -> f64 {
    let round_trip = round_trip.filter(|&it| it > Span::ZERO).unwrap_or(NOMINAL_RTT);
    bounded_rate(gain * window / round_trip.seconds())
}

/// A rate that a host can pace at.
pub(crate) fn bounded_rate(rate: f64) -> f64 {
    rate.clamp(LEAST_RATE, CEILING)
}

/// A count as a number. Signed: processors convert that in one instruction.
#[inline]
pub(crate) fn real(count: u64) -> f64 {
    count.cast_signed() as f64
}

/// A time in seconds.
#[inline]
pub(crate) fn seconds(span: Span) -> f64 {
    const PER_PICOSECOND: f64 = 1.0 / PICOSECONDS_PER_SECOND as f64;
    real(span.0) * PER_PICOSECOND
}

/// The rate of a sample, in segments per second.
#[inline]
pub(crate) fn rate_of(sample: &RateSample) -> f64 {
    real(sample.delivered) / seconds(sample.interval)
}

/// Segments in flight once the acknowledgment has been taken in.
pub(crate) fn in_flight_after(feedback: &Feedback) -> u64 {
    feedback.in_flight.saturating_sub(feedback.delivered() + feedback.lost)
}

/// Whether an acknowledgment belongs to a recovery. The one that ends it does not, though no window grows on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recoveries {
    /// Has one ended with the acknowledgment that comes next?
    ended: bool,
}

impl Recoveries {
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    #[inline]
    pub(crate) fn is_in(&mut self, feedback: &Feedback) -> bool {
        let ended = std::mem::take(&mut self.ended);
        feedback.recovery_begins || (feedback.limited == Limited::Recovery && !ended)
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::{Bytes, Time};

    use super::*;

    /// What has been seen over one round trip counts for ten from when the filter becomes longer.
    #[test]
    fn a_longer_filter_keeps_what_it_has() {
        let mut filter = Largest::over(1);
        filter.see(5.0);
        filter.resize(10);
        for _ in 0..9 {
            filter.advance();
            assert_eq!(filter.value(), 5.0);
        }
        filter.advance();
        assert_eq!(filter.value(), 0.0);
    }

    /// What leaves in a millisecond, but no less than the smallest quantum and no more than 44 segments.
    #[test]
    fn a_quantum_in_time_has_bounds() {
        let quantum = Quantum::Time(0.001, 44.0);
        let smallest = SendQuantum::SMALLEST as f64;
        for (rate, segments) in [(10_000.0, 10.0), (1e9, 44.0), (0.0, smallest)] {
            assert_eq!(quantum.segments(rate), segments, "at {rate}");
        }
        assert_eq!(bounded_rate(0.0), LEAST_RATE);
    }

    /// The acknowledgment that ends a recovery is in none, all others are while losses are repaired.
    #[test]
    fn a_recovery_lasts_while_losses_are_repaired() {
        let mut recoveries = Recoveries::default();
        let repairing = Feedback { limited: Limited::Recovery, ..Feedback::at(Time::ZERO, 1) };
        assert!(recoveries.is_in(&repairing));
        recoveries.end();
        assert!(!recoveries.is_in(&repairing));
        assert!(recoveries.is_in(&repairing));
        recoveries.end();
        assert!(recoveries.is_in(&Feedback { recovery_begins: true, ..repairing }));
    }

    /// Two packets or more, but no more than 64 kB of them: 65 536/1500 = 43.7, 65 536/9000 = 7.3 and 65 536/60 000 = 1.1.
    #[test]
    fn a_quantum_in_time_has_at_most_64_kilobytes() {
        for (bytes, most) in [(1500, 43.0), (9000, 7.0), (60_000, 2.0)] {
            let send_quantum = Some(SendQuantum::Time(Span::from_millis(1)));
            let start = Start { send_quantum, packet: Bytes(bytes), ..Start::default() };
            assert_eq!(Quantum::of(&start).segments(1e9), most, "{bytes} bytes");
        }
    }

    /// The first and the last of the samples that are from a quiet time, which was marked with so many segments
    /// delivered and in flight.
    fn quiet(marks: &[(u64, u64)]) -> [Option<u64>; 2] {
        let mut quiet = Quiet::default();
        for &(delivered, in_flight) in marks {
            quiet.mark(delivered, in_flight);
        }
        let sample = RateSample::of(1, Span::from_millis(1));
        let limits = |delivered_before: &u64| {
            quiet.limits(&RateSample { delivered_before: *delivered_before, ..sample })
        };
        [(0..30).find(limits), (0..30).rfind(limits)]
    }

    /// draft-cheng-iccrg-delivery-rate-estimation, `GenerateRateSample`: it is over when more is delivered than was
    /// delivered and in flight. With 10 and 5 it goes on if it is marked again at 15, and has ended at 16.
    /// `BBRHandleProbeRTT`: where nothing has left yet it lasts for one segment.
    #[test]
    fn a_quiet_time_lasts_until_more_is_delivered() {
        assert_eq!(quiet(&[(10, 5)]), [10, 15].map(Some));
        assert_eq!(quiet(&[(10, 5), (15, 2)]), [10, 17].map(Some));
        assert_eq!(quiet(&[(10, 5), (16, 2)]), [16, 18].map(Some));
        assert_eq!(quiet(&[(0, 0)]), [0, 1].map(Some));
    }
}
