//! `HyStart`, hybrid slow start: leaves slow start when acknowledgments keep coming for half a round trip, or when round
//! trips have grown.
//!
//! S. Ha, I. Rhee, "Taming the Elephants: New TCP Slow Start", Computer Networks 55 (2011), first at PFLDnet 2008. It is the
//! slow start of CUBIC in Linux; RFC 9406 keeps its second half ([`crate::hystart`]).
//!
//! In slow start a window leaves in a train, and the bottleneck spreads it: its acknowledgments arrive for as long as the
//! bottleneck takes for the window. Half of the least round trip D stands for the delay one way. A window that takes as
//! long fills the path there, and twice as much fills it there and back, which the segments released meanwhile are about
//! to be:
//!
//! ```text
//!     train    acknowledgments that follow one another within 2 ms, from the first of a round on, for more than (D + 1 ms)/2
//!     delay    8 samples in a round, and its least round trip > D + clamp(D/8, 4 ms, 16 ms)
//!     either   →  threshold = window: congestion avoidance
//! ```
//!
//! Neither counts below 16 segments. The constants have changed since the paper; these are those of Linux 6 (changes 42eef7a0
//! of 2014, and cff04e2d, ede656e8 and their neighbours of 2019). The millisecond is for receivers that acknowledge many
//! segments at once; Linux takes what 256 kB need at twice the rate of the window, if that is less, above 1 Gbit/s.
//!
//! Left out: that Linux waits for D instead of D/2 where a timer paces the sender, which stretches trains by itself.
//!
//! Held beside a measurement in Linux: `cubic_begins_as_in_linux` of the simulator.

use longfat_units::{Span, Time};

use crate::Feedback;
use crate::hystart::{RoundTrips, grown, smaller};

/// `hystart_low_window`, in segments.
const LEAST_WINDOW: f64 = 16.0;
/// `hystart_ack_delta`: what follows later belongs to no train.
const LARGEST_GAP: Span = Span::from_millis(2);
/// The most of `hystart_ack_delay`, beyond D.
const AGGREGATION: Span = Span::from_millis(1);
/// Of both, for how long a train may last.
const PART_FOR_TRAIN: u64 = 2;

/// The trains and round trips of a slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct HybridStart {
    /// D.
    least: Option<Span>,
    round: Option<Round>,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    began: Time,
    /// Until when its train has lasted.
    last: Time,
    trips: RoundTrips,
}

impl HybridStart {
    /// Takes in one acknowledgment, which finds this window. True when slow start ends.
    pub(crate) fn ends(&mut self, feedback: &Feedback, window: f64) -> bool {
        if let Some(rtt) = feedback.rtt {
            self.least = Some(smaller(self.least, rtt));
        }
        if feedback.round_starts {
            let now = feedback.now;
            self.round = Some(Round { began: now, last: now, trips: RoundTrips::default() });
        }
        let (Some(round), Some(least)) = (&mut self.round, self.least) else { return false };
        let ends = round.fills_the_path(feedback.now, least)
            || feedback.rtt.is_some_and(|rtt| round.has_grown(rtt, least));
        ends && window >= LEAST_WINDOW
    }
}

impl Round {
    /// Acknowledgments of one instant are one: what they add up to must not depend on how many there are.
    fn fills_the_path(&mut self, now: Time, least: Span) -> bool {
        let gap = now.since(self.last);
        if gap == Span::ZERO || gap > LARGEST_GAP {
            return false;
        }
        self.last = now;
        now.since(self.began) > (least + AGGREGATION) / PART_FOR_TRAIN
    }

    fn has_grown(&mut self, rtt: Span, least: Span) -> bool {
        self.trips.take(rtt).is_some_and(|smallest| smallest > grown(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(millis: u64, rtt: Option<u64>, round_starts: bool) -> Feedback {
        let rtt = rtt.map(Span::from_millis);
        Feedback { rtt, round_starts, ..Feedback::at(Time::ZERO + Span::from_millis(millis), 1) }
    }

    /// A slow start whose least round trip is `rtt`, with the first acknowledgment of a round at 1000 ms.
    fn begun(rtt: u64) -> HybridStart {
        let mut watch = HybridStart::default();
        assert!(!watch.ends(&ack(900, Some(rtt), true), 100.0));
        assert!(!watch.ends(&ack(1000, None, true), 100.0));
        watch
    }

    /// The first that is later than half of 101 ms, if none is later than 2 ms after the one before.
    #[test]
    fn a_train_of_half_a_round_trip_ends_it() {
        let mut watch = begun(100);
        for millis in (1002..=1050).step_by(2) {
            assert!(!watch.ends(&ack(millis, None, false), 100.0), "at {millis} ms");
        }
        assert!(watch.ends(&ack(1051, None, false), 100.0));
    }

    /// What comes 3 ms later ends the train for the whole round; the next round has one of its own.
    #[test]
    fn a_gap_ends_the_train_of_its_round() {
        let mut watch = begun(100);
        for millis in [1001, 1002, 1005, 1006, 1007].into_iter().chain(1008..1100) {
            assert!(!watch.ends(&ack(millis, None, false), 100.0), "at {millis} ms");
        }
        for millis in 1100..=1150 {
            assert!(!watch.ends(&ack(millis, None, millis == 1100), 100.0), "at {millis} ms");
        }
        assert!(watch.ends(&ack(1151, None, false), 100.0));
    }

    /// Both signs are there, and count from 16 segments on.
    #[test]
    fn small_windows_are_left_alone() {
        let mut watch = begun(4);
        for millis in 1001..1010 {
            assert!(!watch.ends(&ack(millis, Some(100), false), 15.9), "at {millis} ms");
        }
        assert!(watch.ends(&ack(1010, Some(100), false), 16.0));
    }

    /// A train of half a round trip finds 15 segments, too few. That they are 16 by the second acknowledgment of the same
    /// instant makes no difference: with one for both they would not be. The next one ends it.
    #[test]
    fn acknowledgments_of_one_instant_are_one() {
        let mut watch = begun(4);
        for millis in [1001, 1002, 1003] {
            assert!(!watch.ends(&ack(millis, None, false), 15.0), "at {millis} ms");
        }
        assert!(!watch.ends(&ack(1003, None, false), 16.0));
        assert!(watch.ends(&ack(1004, None, false), 16.0));
    }

    /// An eighth of 80 ms; of 8 ms at least 4, of 400 ms at most 16. By more than that, and by all of eight samples.
    #[test]
    fn round_trips_that_grow_end_it_after_eight() {
        for (least, bound) in [(80, 90), (8, 12), (400, 416)] {
            for (rtt, ends) in [(bound, false), (bound + 1, true)] {
                let mut watch = begun(least);
                // Too far apart for a train.
                let found = (1..=8)
                    .map(|number| watch.ends(&ack(1000 + 10 * number, Some(rtt), false), 100.0));
                let found: Vec<_> = found.collect();
                assert_eq!(found[..7], [false; 7], "{least} ms");
                assert_eq!(found[7], ends, "{rtt} ms after {least}");
            }
        }
    }

    /// One that is short is enough: the queue has been empty. The next round is measured by itself.
    #[test]
    fn the_least_round_trip_of_a_round_decides() {
        let mut watch = begun(80);
        for number in 1..=20 {
            let rtt = if number == 5 { 85 } else { 120 };
            assert!(!watch.ends(&ack(1000 + 10 * number, Some(rtt), false), 100.0), "{number}");
        }
        for number in 0..8 {
            let ends = watch.ends(&ack(1300 + 10 * number, Some(120), number == 0), 100.0);
            assert_eq!(ends, number == 7, "sample {number}");
        }
    }
}
