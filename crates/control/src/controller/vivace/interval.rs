//! A monitor interval: a rate, the segments that left at it, and what became of them.

use longfat_units::{Span, Time};

/// Segments that an interval has at the least.
const FEWEST: f64 = 10.0;
/// Segments, and a share of all, of which nothing need be known: the ends of an interval cut bursts and round trips.
const SLACK: f64 = 2.0;
const SLACK_SHARE: f64 = 0.25;

/// What is known of the segments that left in an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    /// x, in segments per second.
    pub(super) rate: f64,
    begun: Time,
    until: Time,
    /// How many segments leave in it, if it is known: as many as its rate has.
    expected: Option<f64>,
    arrived: u64,
    /// Of those that have arrived.
    marked: u64,
    lost: u64,
    round_trips: Line,
}

impl Interval {
    /// One that has not begun.
    pub(super) fn at(rate: f64) -> Self {
        let [begun, until] = [Time::ZERO; 2];
        Self {
            rate,
            begun,
            until,
            expected: None,
            arrived: 0,
            marked: 0,
            lost: 0,
            round_trips: Line::default(),
        }
    }

    /// It begins, and lasts for a round trip, and for ten segments.
    pub(super) fn begin(&mut self, now: Time, rtt: Span) {
        let length = rtt.max(Span::from_seconds_f64(FEWEST / self.rate)).max(Span(1));
        (self.begun, self.until) = (now, now.saturating_add(length));
        self.expected = Some(self.rate * length.seconds());
    }

    /// Fewer segments may have left in it than its rate would have had.
    pub(super) fn excuse(&mut self) {
        self.expected = None;
    }

    /// Does it count what left at this time?
    #[inline]
    pub(super) fn holds(&self, left: Time) -> bool {
        (self.begun..self.until).contains(&left)
    }

    /// What leaves from then on does not count.
    pub(super) fn until(&self) -> Time {
        self.until
    }

    /// So many of its segments are lost.
    pub(super) fn lose(&mut self, segments: u64) {
        self.lost += segments;
    }

    /// So many of its segments have arrived with a mark.
    pub(super) fn mark(&mut self, segments: u64) {
        self.marked += segments;
    }

    /// An acknowledgment: so many of its segments have arrived; the first of them left at this time, and took so long.
    #[inline]
    pub(super) fn hear(&mut self, left: Time, rtt: Span, arrived: u64) {
        self.arrived += arrived;
        self.round_trips.add(left.since(self.begun).seconds(), rtt.seconds());
    }

    /// How many of its segments have arrived or are lost.
    pub(super) fn known(&self) -> f64 {
        self.arrived as f64 + self.lost()
    }

    /// How many of them are lost: those that are found, or, where much is missing, all that is.
    pub(super) fn lost(&self) -> f64 {
        let found = self.lost as f64;
        let Some(expected) = self.expected else { return found };
        let missing = expected - self.arrived as f64;
        if missing - found > SLACK + SLACK_SHARE * expected { missing } else { found }
    }

    /// Which share that is.
    pub(super) fn share_lost(&self) -> f64 {
        self.lost() / self.known().max(1.0)
    }

    /// How many of them say that there is congestion: they are lost, or marked.
    pub(super) fn congested(&self) -> f64 {
        self.lost() + self.marked as f64
    }

    /// L: which share that is.
    pub(super) fn share_congested(&self) -> f64 {
        self.congested() / self.known().max(1.0)
    }

    /// dRTT/dT, in seconds per second.
    pub(super) fn gradient(&self) -> f64 {
        self.round_trips.slope()
    }
}

/// A straight line through points, by least squares, without keeping them.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    count: f64,
    /// What heights are measured from, the first of them: the differences are small.
    level: f64,
    places: f64,
    heights: f64,
    squares: f64,
    products: f64,
}

impl Line {
    #[inline]
    fn add(&mut self, place: f64, height: f64) {
        if self.count == 0.0 {
            self.level = height;
        }
        let height = height - self.level;
        self.count += 1.0;
        self.places += place;
        self.heights += height;
        self.squares += place * place;
        self.products += place * height;
    }

    /// 0 where all points are at one place.
    fn slope(&self) -> f64 {
        let spread = self.count * self.squares - self.places * self.places;
        // Of equal places rounding leaves something.
        if spread <= 1e-12 * self.count * self.squares {
            return 0.0;
        }
        (self.count * self.products - self.places * self.heights) / spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Interval {
        /// One at this rate and without a queue, of which a thousand segments are known, so many of them lost.
        pub(in super::super) fn known_to_have_lost(lost: u64, rate: f64) -> Self {
            let (mut interval, rtt) = (Self::at(rate), Span::from_millis(100));
            interval.begin(Time::ZERO, rtt);
            interval.excuse();
            interval.hear(Time::ZERO, rtt, 1000 - lost);
            interval.lose(lost);
            interval
        }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// One of a thousand segments per second, from 100 to 150 ms.
    fn begun() -> Interval {
        let mut interval = Interval::at(1000.0);
        interval.begin(at(100), Span::from_millis(50));
        interval
    }

    /// Round trips of 50, 51, 54 and 53 ms, 10 ms apart. From their means, 15 and 52, the products are 30 + 5 + 10 + 15 = 60
    /// and the squares 225 + 25 + 25 + 225 = 500: 0.12 ms per millisecond.
    #[test]
    fn the_gradient_is_that_of_the_best_line() {
        let mut interval = begun();
        for (left, rtt) in [(100, 50), (110, 51), (120, 54), (130, 53)] {
            interval.hear(at(left), Span::from_millis(rtt), 1);
        }
        assert!((interval.gradient() - 0.12).abs() < 1e-12, "{}", interval.gradient());
    }

    /// Neither one round trip nor several of one time have a slope.
    #[test]
    fn without_two_times_there_is_no_gradient() {
        let mut interval = begun();
        assert_eq!(interval.gradient(), 0.0);
        for rtt in [50, 60, 80, 81, 90] {
            interval.hear(at(117), Span::from_millis(rtt), 1);
            assert_eq!(interval.gradient(), 0.0, "{rtt}");
        }
    }

    /// A million round trips of an hour that grow by a nanosecond each: precision does not end before patience.
    #[test]
    fn long_round_trips_lose_no_precision() {
        let mut interval = Interval::at(1e6);
        interval.begin(Time::ZERO, Span::from_seconds(1));
        for k in 0..1_000_000_u64 {
            let rtt = Span(Span::from_seconds(3600).0 + 1000 * k);
            interval.hear(Time(1_000_000 * k), rtt, 1);
        }
        assert!((interval.gradient() - 1e-3).abs() < 1e-6, "{}", interval.gradient());
    }

    /// Until it begins nothing counts. Then it lasts for the round trip, or for ten segments, at 100 per second 100 ms.
    #[test]
    fn it_lasts_for_a_round_trip_and_ten_segments() {
        let fresh = Interval::at(1000.0);
        assert!(!fresh.holds(Time::ZERO) && !fresh.holds(at(100)));
        assert_eq!(begun().until(), at(150));
        let mut slow = Interval::at(100.0);
        slow.begin(at(100), Span::from_millis(50));
        assert_eq!(slow.until(), at(200));
    }

    /// From its beginning until just before its end. Of its fifty segments 40 have arrived and three are lost.
    #[test]
    fn it_counts_what_left_in_it() {
        let mut interval = begun();
        let held = [99, 100, 149, 150].map(|millis| interval.holds(at(millis)));
        assert_eq!(held, [false, true, true, false]);
        interval.hear(at(110), Span::from_millis(50), 40);
        interval.lose(2);
        interval.lose(1);
        assert_eq!((interval.known(), interval.lost()), (43.0, 3.0));
        assert!((interval.share_lost() - 3.0 / 43.0).abs() < 1e-12);
        // What has a mark has arrived.
        interval.mark(5);
        assert_eq!((interval.known(), interval.lost(), interval.congested()), (43.0, 3.0, 8.0));
        assert!((interval.share_congested() - 8.0 / 43.0).abs() < 1e-12);
    }

    /// Of fifty segments a quarter and two, 14.5, may be unaccounted for. With one more they all count as lost, unless fewer
    /// have left.
    #[test]
    fn what_is_missing_counts_as_lost_where_it_is_much() {
        let of = |arrived, lost| {
            let mut interval = begun();
            interval.hear(at(110), Span::from_millis(50), arrived);
            interval.lose(lost);
            interval
        };
        assert_eq!(
            [of(36, 0), of(35, 0), of(26, 10), of(25, 10)].map(|it| it.lost()),
            [0.0, 15.0, 10.0, 25.0]
        );
        let mut few = of(5, 1);
        few.excuse();
        assert_eq!((few.lost(), few.known()), (1.0, 6.0));
        assert_eq!(Interval::at(1000.0).share_lost(), 0.0, "nothing has left");
        assert_eq!(Interval::at(1000.0).share_congested(), 0.0);
    }
}
