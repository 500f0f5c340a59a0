//! The retransmission timer, and the round trips it is based on (RFC 6298).
//!
//! The estimator takes one sample per round trip, the minimum that RFC 6298 (section 3) requires; and one more once the
//! timer has run out, since what was backed off gives way to a measurement (section 5). The clock is exact,
//! so its granularity G is zero unless a tick is given; a time-out then lasts whole ticks. Timestamps make samples from
//! retransmissions unambiguous (RFC 7323).
//!
//! The estimator of Linux (Sarolahti & Kuznetsov 2002, section 4) samples at every acknowledgment instead. With so many
//! samples the mean deviation would follow the last few packets, so the margin is four times the largest mean
//! deviation of a round trip: it grows at once, and shrinks by a quarter of the difference at the end of a round trip.
//! And since a round trip that falls would otherwise widen the margin, a deviation downwards beyond the mean one counts
//! an eighth. The minimum is one of the margin, not of the whole time-out.

use longfat_control::Path;
use longfat_scenario::{Recovery, RtoEstimator};
use longfat_units::{Span, Time};

use super::SenderConfig;
use super::numbers::GRANULARITY;

/// The time-out before the first sample (RFC 6298, section 2.1).
const INITIAL: Span = Span::from_seconds(1);
/// The upper bound of section 2.5, unless the round trip itself requires more.
const LARGEST: Span = Span::from_seconds(60);
/// The upper bound for any round trip: a time-out set in the last second of a run must still fit the clock.
const LONGEST: Span = Span::from_seconds(7 * 24 * 3600);

/// When a flow's retransmission timer expires, and the rounds used to estimate it. What every acknowledgment needs comes
/// first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct RetransmissionTimer {
    deadline: Time,
    /// The current time-out.
    timeout: Span,
    /// A round ends when this segment is acknowledged.
    round_end: u64,
    /// Does each acknowledgment need a look, not only the first of a round?
    attentive: bool,
    /// When the flow last became idle, with everything sent acknowledged.
    idle_since: Time,
    round_trip: RoundTrip,
    /// The first segment in flight when the timer last expired.
    ran_out_at: Option<u64>,
}

impl RetransmissionTimer {
    /// The timer does not start until the first segment leaves. The round trip at the start stands for the smoothed one
    /// until there is a sample.
    pub(super) fn new(config: &SenderConfig, now: Time) -> Self {
        let SenderConfig { first_rtt, rto_min, rto_tick, rto_estimator, .. } = *config;
        let round_trip = if config.recovery == Recovery::Quic {
            RoundTrip::new(first_rtt, GRANULARITY, None, RtoEstimator::Rfc6298)
        } else {
            RoundTrip::new(first_rtt, rto_min, rto_tick, rto_estimator)
        };
        Self {
            attentive: round_trip.samples_always(),
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
        if round_starts || self.attentive {
            if round_starts {
                self.round_end = next;
            }
            self.attend(rtt, round_starts);
        }
        let restarted = if unacknowledged == next {
            self.idle_since = now;
            Time::NEVER
        } else {
            now + self.timeout
        };
        (round_starts, restarted)
    }

    /// Takes a sample if one is wanted, and makes the time-out anew.
    fn attend(&mut self, rtt: Span, round_starts: bool) {
        let always = self.round_trip.samples_always();
        // No round ends while losses are repaired, and what was backed off gives way to a measurement only (section 5).
        if round_starts || always || self.round_trip.is_backed_off() {
            self.round_trip.sample(rtt, round_starts);
        }
        self.attentive = always;
        self.ran_out_at = None;
        self.round_trip.acknowledged();
        self.timeout = self.round_trip.timeout();
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
        self.attentive = true;
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

    /// A numbered packet that is the largest one acknowledged took this long, of which its receiver claims to have held
    /// the acknowledgment back for `delay`; at most it does so for `most_delay`. The time-out becomes the probe time-out
    /// (RFC 9002, sections 5 and 6.2.1; with the order of appendix A.7).
    pub(super) fn sample_numbered(&mut self, rtt: Span, delay: Span, most_delay: Span) {
        self.round_trip.see(rtt);
        let first = self.smoothed().is_none();
        let credible = rtt >= self.round_trip.path.base_rtt + delay;
        let adjusted = if credible && !first { rtt - delay } else { rtt };
        self.round_trip.sample(adjusted, true);
        let margin = (self.round_trip.variation * 4).max(GRANULARITY);
        self.timeout = self.round_trip.path.rtt + margin + most_delay;
    }

    /// Everything has been acknowledged.
    pub(super) fn rest(&mut self, now: Time) {
        self.idle_since = now;
    }

    /// How long the timer runs now.
    pub(super) fn timeout(&self) -> Span {
        self.timeout
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
    /// RTTVAR: the mean deviation, or for Linux what the margin is made from.
    variation: Span,
    linux: Option<Deviations>,
    timeout_min: Span,
    /// G; zero for an exact clock.
    tick: Span,
    backoff: u32,
}

/// What the estimator of Linux keeps besides.
#[derive(Clone, Copy, Debug, Default)]
struct Deviations {
    mean: Span,
    /// The largest mean deviation of this round trip.
    largest: Span,
}

impl RoundTrip {
    fn new(first: Span, timeout_min: Span, tick: Option<Span>, estimator: RtoEstimator) -> Self {
        let linux = match estimator {
            RtoEstimator::Rfc6298 => None,
            RtoEstimator::Linux => Some(Deviations::default()),
        };
        Self {
            linux,
            path: Path { rtt: first, base_rtt: Span(u64::MAX) },
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

    /// Does it take a sample at every acknowledgment?
    fn samples_always(&self) -> bool {
        self.linux.is_some()
    }

    /// Sections 2.2 and 2.3.
    fn sample(&mut self, sample: Span, round_starts: bool) {
        match self.smoothed() {
            None => {
                self.path.rtt = sample;
                self.sampled = true;
                self.variation = sample / 2;
                if self.linux.is_some() {
                    self.variation = self.variation.max(self.least_variation());
                    self.linux = Some(Deviations { mean: sample / 2, largest: self.variation });
                }
            }
            Some(smoothed) => {
                let deviation = Span(smoothed.0.abs_diff(sample.0));
                if self.linux.is_some() {
                    self.deviate(deviation, sample < smoothed, round_starts);
                } else {
                    self.variation = mean(self.variation, 3, deviation);
                }
                self.path.rtt = mean(smoothed, 7, sample);
            }
        }
    }

    /// Linux: a sample deviates by this much from the smoothed round trip.
    fn deviate(&mut self, deviation: Span, is_below: bool, round_ends: bool) {
        let least = self.least_variation();
        let Some(deviations) = &mut self.linux else { return };
        let weight = if is_below && deviation > deviations.mean { 31 } else { 3 };
        deviations.mean = mean(deviations.mean, weight, deviation);
        deviations.largest = deviations.largest.max(deviations.mean);
        self.variation = self.variation.max(deviations.largest);
        if round_ends {
            self.variation = mean(self.variation, 3, deviations.largest);
            deviations.largest = least;
        }
    }

    /// Linux: the variation at which the margin has its minimum.
    fn least_variation(&self) -> Span {
        self.timeout_min / 4
    }

    /// New data was acknowledged: section 5.3 with the back-off undone.
    fn acknowledged(&mut self) {
        self.backoff = 0;
    }

    /// Has the timer expired since the last measurement?
    fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// The timer expired: section 5.5 doubles it.
    fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// How long to wait for an acknowledgment.
    fn timeout(&self) -> Span {
        let base = match self.smoothed() {
            // There is no handshake; what it would have measured is used (section 2.2: SRTT + 4 RTTVAR = R + 4 R/2).
            None => INITIAL.max(self.timeout_min).max(self.path.rtt.min(LONGEST) * 3),
            Some(smoothed) => {
                // Behind a queue months long these would be months too.
                let smoothed = smoothed.min(LONGEST);
                let variation = self.variation.min(LONGEST);
                let margin = (variation * 4).max(self.tick);
                let least = if self.linux.is_some() { smoothed } else { Span::ZERO };
                (smoothed + margin).max(least + self.timeout_min)
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

    fn of_the_rfc(timeout_min: Span, tick: Option<Span>) -> RoundTrip {
        RoundTrip::new(Span::ZERO, timeout_min, tick, RtoEstimator::Rfc6298)
    }

    #[test]
    fn the_estimator_follows_the_rfc_by_hand() {
        let ms = Span::from_millis;
        let mut round_trip = of_the_rfc(ms(1), None);
        assert_eq!(round_trip.timeout(), Span::from_seconds(1));
        // First sample 100 ms: SRTT 100, RTTVAR 50, RTO 100 + 4·50.
        round_trip.sample(ms(100), true);
        assert_eq!(round_trip.timeout(), ms(300));
        // Then 140 ms: RTTVAR = ¾·50 + ¼·40 = 47.5, SRTT = ⅞·100 + ⅛·140 = 105, RTO 105 + 190.
        round_trip.sample(ms(140), true);
        assert_eq!(round_trip.smoothed(), Some(ms(105)));
        assert_eq!(round_trip.timeout(), ms(295));
    }

    #[test]
    fn a_coarse_clock_counts_whole_ticks() {
        // Hosts of 1995: at least two ticks of 500 ms.
        let ms = Span::from_millis;
        let mut round_trip = of_the_rfc(ms(1000), Some(ms(500)));
        // RTT 30 ms: 30 + max(500, 4·15) = 530 ms, so two ticks.
        round_trip.sample(ms(30), true);
        assert_eq!(round_trip.timeout(), ms(1000));
        // RTT 700 ms: SRTT ⅞·30 + ⅛·700 = 113.75, RTTVAR ¾·15 + ¼·670 = 178.75, RTO 828.75: two ticks. Once more: SRTT
        // 187.03, RTTVAR 280.625, RTO 1309.5: three ticks, and six after a time-out.
        round_trip.sample(ms(700), true);
        assert_eq!(round_trip.timeout(), ms(1000));
        round_trip.sample(ms(700), true);
        assert_eq!(round_trip.timeout(), ms(1500));
        round_trip.back_off();
        assert_eq!(round_trip.timeout(), ms(3000));
    }

    #[test]
    fn before_the_first_sample_a_long_path_is_known_to_be_long() {
        // A second is less than the first round trip takes here: every flow would begin with a time-out for nothing.
        let first = |rtt| {
            let min = Span::from_millis(200);
            RoundTrip::new(rtt, min, None, RtoEstimator::Rfc6298).timeout()
        };
        assert_eq!(first(Span::from_millis(300)), Span::from_seconds(1));
        assert_eq!(first(Span::from_seconds(1)), Span::from_seconds(3));
        // The minimum holds for it too (section 2.4).
        assert_eq!(of_the_rfc(Span::from_seconds(2), None).timeout(), Span::from_seconds(2));
    }

    #[test]
    fn the_margin_is_a_tick_where_round_trips_hardly_vary() {
        // Section 2.3: SRTT + max(G, 4 RTTVAR). Round trips of 470 ms throughout: 470 + 500 ms, which is two ticks.
        let ms = Span::from_millis;
        let mut round_trip = of_the_rfc(ms(200), Some(ms(500)));
        (0..100).for_each(|_| round_trip.sample(ms(470), true));
        assert_eq!(round_trip.timeout(), ms(1000));
    }

    #[test]
    fn a_round_trip_that_needs_more_than_a_minute_gets_it() {
        // The first sample of 40 s: 40 + 4·20 s, which is not doubled, since that would be more than a minute.
        let mut round_trip = of_the_rfc(Span::from_millis(200), None);
        round_trip.sample(Span::from_seconds(40), true);
        assert_eq!(round_trip.timeout(), Span::from_seconds(120));
        round_trip.back_off();
        assert_eq!(round_trip.timeout(), Span::from_seconds(120));
    }

    #[test]
    fn what_was_backed_off_gives_way_to_a_measurement() {
        // Segments 0 to 9 are in flight when the timer runs out. In the repair no round ends, since none of what is
        // acknowledged was sent after it began, and the round trip has become 900 ms: the first acknowledgment tells.
        let ms = Span::from_millis;
        let mut round_trip = of_the_rfc(ms(200), None);
        round_trip.sample(ms(100), true);
        let mut timer = RetransmissionTimer {
            deadline: Time::NEVER,
            timeout: round_trip.timeout(),
            round_end: 100,
            attentive: false,
            idle_since: Time::ZERO,
            round_trip,
            ran_out_at: None,
        };
        assert_eq!(timer.timeout, ms(300));
        assert!(!timer.run_out(Time::ZERO, 0));
        assert_eq!(timer.timeout, ms(600));
        // SRTT 100·7/8 + 900/8 = 200, RTTVAR 50·3/4 + 800/4 = 237.5: 1150 ms, and not 300 again.
        let now = Time::ZERO + ms(900);
        let (round_starts, _) = timer.on_progress(now, ms(900), 1, 10);
        assert!(!round_starts);
        assert_eq!(timer.timeout, ms(1150));
        // Nothing is backed off any longer, and the rest of the repair is no new round.
        timer.on_progress(now, ms(900), 2, 10);
        assert_eq!(timer.timeout, ms(1150));
    }

    #[test]
    fn back_off_doubles_up_to_a_minute() {
        let mut round_trip = of_the_rfc(Span::from_millis(200), None);
        round_trip.sample(Span::from_millis(50), true);
        let mut timeouts = Vec::new();
        for _ in 0..10 {
            timeouts.push(round_trip.timeout().seconds());
            round_trip.back_off();
        }
        assert_eq!(timeouts, [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0]);
        round_trip.acknowledged();
        assert_eq!(round_trip.timeout(), Span::from_millis(200));
    }

    /// A timer that knows a round trip of 100 ms; everything below 10 has left.
    fn timer_of(mut round_trip: RoundTrip) -> RetransmissionTimer {
        round_trip.sample(Span::from_millis(100), true);
        RetransmissionTimer {
            deadline: Time::NEVER,
            timeout: round_trip.timeout(),
            round_end: 10,
            attentive: round_trip.samples_always(),
            idle_since: Time::ZERO,
            round_trip,
            ran_out_at: None,
        }
    }

    #[test]
    fn the_timer_stops_when_everything_is_acknowledged() {
        // Sections 5.2 and 5.3. The time-out is 300 ms until a round ends.
        let mut timer = timer_of(of_the_rfc(Span::from_millis(200), None));
        let now = Time::ZERO + Span::from_millis(500);
        let rtt = Span::from_millis(100);
        assert_eq!(timer.on_progress(now, rtt, 9, 10), (false, now + Span::from_millis(300)));
        assert_eq!(timer.idle_since(), Time::ZERO);
        assert_eq!(timer.on_progress(now, rtt, 10, 10), (false, Time::NEVER));
        assert_eq!(timer.idle_since(), now);
    }

    #[test]
    fn the_estimator_of_linux_samples_at_every_acknowledgment() {
        // 260 ms in the middle of a round: the mean deviation of 50 becomes 77.5 ms, and SRTT 120 ms. To that of the RFC
        // only the next round tells.
        let (ms, now) = (Span::from_millis, Time::ZERO + Span::from_millis(500));
        let after = |estimator| {
            let mut timer = timer_of(RoundTrip::new(Span::ZERO, ms(200), None, estimator));
            timer.on_progress(now, ms(260), 5, 10);
            timer.timeout()
        };
        assert_eq!(after(RtoEstimator::Linux), ms(120 + 310));
        assert_eq!(after(RtoEstimator::Rfc6298), ms(300));
    }

    /// The round trips of numbered packets, with what the receiver says of its delay, in milliseconds; it promises no more
    /// than 25. Returns the smoothed round trip and the probe time-out.
    fn of_numbered(samples: &[(u64, u64)]) -> (Span, Span) {
        let ms = Span::from_millis;
        let mut timer = timer_of(of_the_rfc(GRANULARITY, None));
        timer.round_trip = of_the_rfc(GRANULARITY, None);
        for &(rtt, delay) in samples {
            timer.sample_numbered(ms(rtt), ms(delay), ms(25));
        }
        (timer.smoothed().expect("there are samples"), timer.timeout())
    }

    #[test]
    fn the_delay_of_an_acknowledgment_is_no_round_trip_if_it_can_be_true() {
        // RFC 9002, section 5.3. The first sample counts in full: 100, and 100 + 4·50 + 25 ms.
        let ms = Span::from_millis;
        assert_eq!(of_numbered(&[(100, 25)]), (ms(100), ms(325)));
        // 125 ms, of which 25 were waiting, are a round trip of 100: the variation falls to 37.5 ms.
        assert_eq!(of_numbered(&[(100, 0), (125, 25)]), (ms(100), ms(100 + 150 + 25)));
        // 116 ms less 25 would be less than the smallest: 102 is ⅞·100 + ⅛·116, the variation ¾·50 + ¼·16 = 41.5 ms.
        assert_eq!(of_numbered(&[(100, 0), (116, 25)]), (ms(102), ms(102 + 166 + 25)));
        // The smallest is 80 from the second one on: the third is 92 - 12, as SRTT would be 97.5 after the second.
        assert_eq!(of_numbered(&[(100, 0), (80, 0), (92, 12)]).0, Span(95_312_500_000));
    }

    #[test]
    fn the_margin_of_a_probe_is_at_least_a_millisecond() {
        // RFC 9002, section 6.2.1: 100 + max(4 rttvar, 1) + 25 ms, when the variation is next to nothing.
        let (smoothed, timeout) = of_numbered(&[(100, 0); 100]);
        assert_eq!((smoothed, timeout), (Span::from_millis(100), Span::from_millis(126)));
    }

    /// Linux's estimator with this minimum and a sample in each of some round trips, in milliseconds.
    fn of_linux(least: u64, samples: &[u64]) -> RoundTrip {
        let least = Span::from_millis(least);
        let mut round_trip = RoundTrip::new(Span::ZERO, least, None, RtoEstimator::Linux);
        for &rtt in samples {
            round_trip.sample(Span::from_millis(rtt), true);
        }
        round_trip
    }

    #[test]
    fn in_the_estimator_of_linux_a_small_fall_counts_in_full() {
        // A margin of four times 1 ms at least. SRTT 100, mean deviation 50, and so is the largest of the first round. A
        // fall of 20 ms is less than 50: ¾·50 + ¼·20 = 42.5, SRTT 97.5; the round ends with a variation of 50.
        let ms = Span::from_millis;
        let mut round_trip = of_linux(4, &[100, 80]);
        assert_eq!(round_trip.timeout(), Span(97_500_000_000) + ms(200));
        // Then none: ¾·42.5 = 31.875 is the largest of the second round, and the variation ¾·50 + ¼·31.875 = 45.46875.
        round_trip.sample(Span(97_500_000_000), true);
        assert_eq!(round_trip.timeout(), Span(97_500_000_000) + Span(45_468_750_000) * 4);
    }

    #[test]
    fn in_the_estimator_of_linux_the_first_deviation_is_the_largest_of_its_round() {
        // Two samples of 1 s: the mean deviation falls from 500 to 375 ms, but the largest of the round was 500.
        assert_eq!(of_linux(200, &[1000, 1000]).timeout(), Span::from_millis(3000));
    }

    #[test]
    fn in_the_estimator_of_linux_no_round_has_less_than_a_quarter_of_the_minimum() {
        // A rise from 100 to 340 ms: ¾·50 + ¼·240 = 97.5, SRTT 130. Then three rounds without a deviation: the means are
        // 73.125, 54.84375 and 41.1328125, of which the last counts as 50. The variation is 91.40625, then 82.265625, and
        // then ¾·82.265625 + ¼·50.
        let round_trip = of_linux(200, &[100, 340, 130, 130, 130]);
        assert_eq!(round_trip.timeout(), Span::from_millis(130) + Span(74_199_218_750) * 4);
    }

    #[test]
    fn the_estimator_of_linux_by_hand() {
        let ms = Span::from_millis;
        let mut round_trip = RoundTrip::new(Span::ZERO, ms(200), None, RtoEstimator::Linux);
        // First sample 100 ms: the mean deviation is 50, so the margin has just its minimum.
        round_trip.sample(ms(100), true);
        assert_eq!(round_trip.timeout(), ms(300));
        // 260 ms, within the round: mean deviation ¾·50 + ¼·160 = 77.5, SRTT 120: the margin grows at once.
        round_trip.sample(ms(260), false);
        assert_eq!(round_trip.timeout(), ms(120 + 310));
        // 40 ms, the round ends: a fall of 80 > 77.5 has weight 1/32: 77.578125; SRTT 110. The largest is that; it
        // becomes the variation, and a round without more than the minimum of 50 begins.
        round_trip.sample(ms(40), true);
        assert_eq!(round_trip.timeout(), ms(110) + Span(310_312_500_000));
        // 110 ms, twice, with the round ending at the second: no deviation, 58.18359375 and 43.6376953125 are means,
        // the largest of this round is the first, and the variation falls by a quarter of the difference.
        round_trip.sample(ms(110), false);
        assert_eq!(round_trip.timeout(), ms(110) + Span(310_312_500_000));
        round_trip.sample(ms(110), true);
        let variation = Span((77_578_125_000 * 3 + 58_183_593_750) / 4);
        assert_eq!(round_trip.timeout(), ms(110) + variation * 4);
        // After many quiet rounds the margin is back at its minimum, whereas the RFC's time-out would be 200 ms.
        for _ in 0..100 {
            round_trip.sample(ms(110), true);
        }
        assert!(round_trip.timeout() - ms(310) < Span(1_000_000), "{:?}", round_trip.timeout());
    }
}
