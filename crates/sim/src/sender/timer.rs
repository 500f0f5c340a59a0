//! The retransmission timer, and the round trips it is based on (RFC 6298).
//!
//! The estimator takes one sample per round trip, the minimum that RFC 6298 (section 3) requires. The clock is exact,
//! so its granularity G is zero unless a tick is given; a time-out then lasts whole ticks. Timestamps make samples from
//! retransmissions unambiguous (RFC 7323).

use longfat_control::Path;
use longfat_units::{Span, Time};

/// The time-out before the first sample (RFC 6298, section 2.1).
const INITIAL: Span = Span::from_seconds(1);
/// The upper bound of section 2.4, unless the round trip itself requires more.
const LARGEST: Span = Span::from_seconds(60);
/// The upper bound for any round trip: a time-out set in the last second of a run must still fit the clock.
const LONGEST: Span = Span::from_seconds(7 * 24 * 3600);

/// When a flow's retransmission timer expires, and the rounds used to estimate it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimer {
    round_trip: RoundTrip,
    /// A round ends when this segment is acknowledged.
    round_end: u64,
    /// The current time-out.
    timeout: Span,
    deadline: Time,
    /// When the flow last became idle, with everything sent acknowledged.
    idle_since: Time,
    /// The first segment in flight when the timer last expired.
    ran_out_at: Option<u64>,
}

impl RetransmissionTimer {
    /// The timer does not start until the first segment leaves. `propagation` stands for the round trip until there is
    /// a sample.
    pub(super) fn new(propagation: Span, timeout_min: Span, tick: Option<Span>, now: Time) -> Self {
        let round_trip = RoundTrip::new(propagation, timeout_min, tick);
        Self {
            round_trip,
            round_end: 0,
            timeout: round_trip.timeout(),
            deadline: Time::NEVER,
            idle_since: now,
            ran_out_at: None,
        }
    }

    /// New data was acknowledged: everything below `unacknowledged`; `next` is the next new segment. Returns whether a
    /// round starts here, and when the timer would expire if restarted now (sections 5.2 and 5.3).
    #[inline]
    pub(super) fn on_progress(
        &mut self,
        now: Time,
        rtt: Span,
        unacknowledged: u64,
        next: u64,
    ) -> (bool, Time) {
        self.round_trip.see(rtt);
        let round_starts = unacknowledged > self.round_end;
        if round_starts {
            self.round_end = next;
            self.round_trip.sample(rtt);
        }
        if round_starts || self.ran_out_at.is_some() {
            self.ran_out_at = None;
            self.round_trip.acknowledged();
            self.timeout = self.round_trip.timeout();
        }
        let restarted = if unacknowledged == next {
            self.idle_since = now;
            Time::NEVER
        } else {
            now + self.timeout
        };
        (round_starts, restarted)
    }

    /// A segment leaves: starts the timer if it is not running (section 5.1).
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time) {
        if self.deadline == Time::NEVER {
            self.deadline = now + self.timeout;
        }
    }

    /// The timer expired with this segment the first in flight (sections 5.5 and 5.6). Returns whether it had already
    /// expired at this segment.
    pub(super) fn run_out(&mut self, now: Time, unacknowledged: u64) -> bool {
        let again = self.ran_out_at == Some(unacknowledged);
        self.ran_out_at = Some(unacknowledged);
        self.round_trip.back_off();
        self.timeout = self.round_trip.timeout();
        self.restart(now);
        again
    }

    /// Restarts the timer.
    pub(super) fn restart(&mut self, now: Time) {
        self.deadline = now + self.timeout;
    }

    /// Sets the time of expiry.
    #[inline]
    pub(super) fn set(&mut self, deadline: Time) {
        self.deadline = deadline;
    }

    /// When the timer expires.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// When the flow last became idle, with everything sent acknowledged.
    pub(super) fn idle_since(&self) -> Time {
        self.idle_since
    }

    /// Smoothed round trip, once there is a sample.
    #[inline]
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.round_trip.smoothed()
    }

    /// What the round trips tell of the path. The smallest is the largest possible value before the first sample.
    #[inline]
    pub(super) fn path(&self) -> &Path {
        &self.round_trip.path
    }
}

/// The estimator of one flow.
#[derive(Clone, Copy, Debug)]
struct RoundTrip {
    /// In the form that controllers are given, so that nothing is built for each acknowledgment.
    path: Path,
    sampled: bool,
    variation: Span,
    timeout_min: Span,
    /// G; zero for an exact clock.
    tick: Span,
    backoff: u32,
}

impl RoundTrip {
    fn new(propagation: Span, timeout_min: Span, tick: Option<Span>) -> Self {
        Self {
            path: Path { rtt: propagation, base_rtt: Span(u64::MAX) },
            sampled: false,
            variation: Span::ZERO,
            timeout_min,
            tick: tick.unwrap_or(Span::ZERO),
            backoff: 0,
        }
    }

    /// Every sample may be the smallest, not only those that feed the estimator.
    #[inline]
    fn see(&mut self, sample: Span) {
        self.path.base_rtt = self.path.base_rtt.min(sample);
    }

    /// The smoothed round trip, once there is a sample.
    #[inline]
    fn smoothed(&self) -> Option<Span> {
        self.sampled.then_some(self.path.rtt)
    }

    /// Sections 2.2 and 2.3.
    fn sample(&mut self, sample: Span) {
        match self.smoothed() {
            None => {
                self.path.rtt = sample;
                self.sampled = true;
                self.variation = sample / 2;
            }
            Some(smoothed) => {
                let deviation = Span(smoothed.0.abs_diff(sample.0));
                self.variation = mean(self.variation, 3, deviation);
                self.path.rtt = mean(smoothed, 7, sample);
            }
        }
    }

    /// New data was acknowledged: section 5.3 with the back-off undone.
    fn acknowledged(&mut self) {
        self.backoff = 0;
    }

    /// The timer expired: section 5.5 doubles it.
    fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// How long to wait for an acknowledgment.
    fn timeout(&self) -> Span {
        let base = match self.smoothed() {
            None => INITIAL.max(self.timeout_min),
            Some(smoothed) => {
                // Behind a queue months long these would be months too.
                let smoothed = smoothed.min(LONGEST);
                let variation = self.variation.min(LONGEST);
                (smoothed + (variation * 4).max(self.tick)).max(self.timeout_min)
            }
        };
        let base = self.whole_ticks(base);
        let doubled = u128::from(base.0) << self.backoff.min(32);
        Span(doubled.min(u128::from(LARGEST.0.max(base.0.min(LONGEST.0)))) as u64)
    }

    fn whole_ticks(&self, span: Span) -> Span {
        if self.tick == Span::ZERO { span } else { self.tick * span.0.div_ceil(self.tick.0) }
    }
}

/// The weighted mean of `old`, with weight `weight`, and `new`, with weight 1.
fn mean(old: Span, weight: u64, new: Span) -> Span {
    let sum = u128::from(old.0) * u128::from(weight) + u128::from(new.0);
    Span((sum / u128::from(weight + 1)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimator_follows_the_rfc_by_hand() {
        let ms = Span::from_millis;
        let mut round_trip = RoundTrip::new(Span::ZERO, ms(1), None);
        assert_eq!(round_trip.timeout(), Span::from_seconds(1));
        // First sample 100 ms: SRTT 100, RTTVAR 50, RTO 100 + 4·50.
        round_trip.sample(ms(100));
        assert_eq!(round_trip.timeout(), ms(300));
        // Then 140 ms: RTTVAR = ¾·50 + ¼·40 = 47.5, SRTT = ⅞·100 + ⅛·140 = 105, RTO 105 + 190.
        round_trip.sample(ms(140));
        assert_eq!(round_trip.smoothed(), Some(ms(105)));
        assert_eq!(round_trip.timeout(), ms(295));
    }

    #[test]
    fn a_coarse_clock_counts_whole_ticks() {
        // Hosts of 1995: at least two ticks of 500 ms.
        let ms = Span::from_millis;
        let mut round_trip = RoundTrip::new(Span::ZERO, ms(1000), Some(ms(500)));
        // RTT 30 ms: 30 + max(500, 4·15) = 530 ms, so two ticks.
        round_trip.sample(ms(30));
        assert_eq!(round_trip.timeout(), ms(1000));
        // RTT 700 ms: SRTT ⅞·30 + ⅛·700 = 113.75, RTTVAR ¾·15 + ¼·670 = 178.75, RTO 828.75: two ticks. Once more: SRTT
        // 187.03, RTTVAR 280.625, RTO 1309.5: three ticks, and six after a time-out.
        round_trip.sample(ms(700));
        assert_eq!(round_trip.timeout(), ms(1000));
        round_trip.sample(ms(700));
        assert_eq!(round_trip.timeout(), ms(1500));
        round_trip.back_off();
        assert_eq!(round_trip.timeout(), ms(3000));
    }

    #[test]
    fn back_off_doubles_up_to_a_minute() {
        let mut round_trip = RoundTrip::new(Span::ZERO, Span::from_millis(200), None);
        round_trip.sample(Span::from_millis(50));
        let mut timeouts = Vec::new();
        for _ in 0..10 {
            timeouts.push(round_trip.timeout().seconds());
            round_trip.back_off();
        }
        assert_eq!(timeouts, [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0]);
        round_trip.acknowledged();
        assert_eq!(round_trip.timeout(), Span::from_millis(200));
    }
}
