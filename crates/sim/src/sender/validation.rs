//! What becomes of a window that the application has not used: congestion window validation.
//!
//! A window says what the path could carry when it was last full. Three answers to the question how long that holds:
//!
//! ```text
//!     RFC 5681, 4.1  nothing sent for longer than the time-out:  w ← min(w, IW)
//!     RFC 2861       nothing sent for k time-outs:               halve w k times, not below min(w, IW)
//!                    not full for a time-out:                    w ← (w + the most in flight)/2
//!     RFC 7661       less than half used for five minutes:       w ← max(w/2, IW)
//!                    congestion while less than half is used:    w ← max(pipeACK, flight), then the reaction; at the
//!                                                                end of recovery what was sent again counts as not
//!                                                                carried
//! ```
//!
//! That a window must not grow while it is not full holds for every flow but those with `"ratelimited-increase"`
//! ([`Increase`]), and needs nothing of this. IW is the initial
//! window. RFC 2861 and RFC 7661 keep the threshold at no less than 3/4 of the window that they reduce.
//!
//! pipeACK is the largest number of segments acknowledged in a round trip, over the last three round trips or second,
//! whichever is longer. A sample counts for three quarters of that time at least and for all of it at most, as in the
//! example of section 4.5.1: the time is kept in four parts, with the largest sample of each. pipeACK is undefined, and the
//! window valid, at the start and after congestion; it is zero after so long a time without acknowledgments.
//!
//! Differences from the RFCs:
//! - RFC 2861 halves down to one segment. As in Linux, halving ends at the restart window of RFC 5681.
//! - RFC 7661 takes half of what was carried at congestion, which is Reno's reaction; here each controller has its own.
//! - RFC 7661 has a timer for the five minutes. Here the first departure or acknowledgment after them counts.
//!
//! [`Increase`]: super::increase::Increase

use longfat_scenario::WindowValidation;
use longfat_units::{Segments, Span, Time};

/// RFC 7661, section 4.4: the non-validated period.
const NON_VALIDATED_PERIOD: Span = Span::from_seconds(300);
/// The shortest sampling period of pipeACK (section 4.2).
const SHORTEST_SAMPLING: Span = Span::from_seconds(1);
/// A sampling period is measured in so many parts, the largest sample of each.
const PARTS: usize = 4;

/// Another window, and threshold if that moves too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Resized {
    pub(super) window: f64,
    pub(super) threshold: Option<Segments>,
}

/// What the sender knows when a segment leaves or an acknowledgment arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) now: Time,
    pub(super) window: f64,
    pub(super) threshold: Option<Segments>,
    /// First segment not acknowledged, and next new one; after a departure behind the one that left.
    pub(super) unacknowledged: u64,
    pub(super) next: u64,
    /// Is the window full?
    pub(super) full: bool,
    /// Is there nothing more to send?
    pub(super) dry: bool,
    /// The time-out, without back-off for time-outs that have happened.
    pub(super) timeout: Span,
    /// Smoothed round trip.
    pub(super) rtt: Span,
}

impl Usage {
    /// The threshold that remembers three quarters of this window.
    fn remembering(&self, window: f64) -> Option<Segments> {
        self.threshold.map(|threshold| Segments(threshold.0.max(0.75 * window)))
    }
}

/// How one flow treats an unused window.
#[derive(Debug)]
pub(super) struct Validation {
    /// The initial window.
    initial: f64,
    last_sent: Option<Time>,
    method: Method,
}

#[derive(Debug)]
enum Method {
    Restart,
    Decay(Decay),
    PipeAck(PipeAck),
}

/// RFC 2861.
#[derive(Debug, Default)]
struct Decay {
    /// `T_prev`: when the window was last known to be right.
    checked: Time,
    /// `W_used`: the most in flight since then, while there was nothing more to send.
    used: u64,
}

/// RFC 7661.
#[derive(Debug, Default)]
struct PipeAck {
    /// Is there a sample since the start or the last recovery?
    defined: bool,
    /// The sample being taken: the first segment that it counts.
    from: u64,
    /// It ends when everything below is acknowledged; none until the first acknowledgment.
    until: Option<u64>,
    /// The begin of each part of the sampling period, with its largest sample; the newest first.
    parts: [(Time, u64); PARTS],
    /// When the window was last valid.
    valid_at: Time,
    /// What congestion found the path to carry, until recovery is over.
    carried: Option<Carried>,
}

/// RFC 7661, section 4.4.1.
#[derive(Clone, Copy, Debug)]
struct Carried {
    /// max(pipeACK, `LossFlightSize`)
    segments: f64,
    /// R
    again: u64,
    /// The share of it that the controller kept.
    kept: f64,
}

impl Validation {
    /// For a flow with this initial window, if anything is to be done at all.
    pub(super) fn new(how: WindowValidation, initial: f64) -> Option<Self> {
        let method = match how {
            WindowValidation::None | WindowValidation::RateLimitedIncrease => return None,
            WindowValidation::Rfc5681 => Method::Restart,
            WindowValidation::Rfc2861 => Method::Decay(Decay::default()),
            WindowValidation::Rfc7661 => Method::PipeAck(PipeAck::default()),
        };
        Some(Self { initial, last_sent: None, method })
    }

    /// A segment has left, new or `again`. Returns the window that this calls for, if it is another one.
    pub(super) fn on_sent(&mut self, usage: &Usage, again: bool) -> Option<Resized> {
        let &Usage { now, window, unacknowledged, next, .. } = usage;
        let outstanding = next - unacknowledged;
        let last_sent = self.last_sent.replace(now);
        let idle = now.since(last_sent.unwrap_or(now));
        let restart = window.min(self.initial);
        match &mut self.method {
            Method::Restart => {
                let idle = !again && outstanding == 1 && idle > usage.timeout;
                let threshold = usage.threshold;
                (idle && restart < window).then_some(Resized { window: restart, threshold })
            }
            Method::Decay(decay) => {
                if last_sent.is_none() {
                    decay.checked = now;
                }
                let idle = if again || outstanding > 1 { Span::ZERO } else { idle };
                decay.on_sent(usage, idle, restart)
            }
            Method::PipeAck(pipe) => {
                pipe.carried.iter_mut().for_each(|carried| carried.again += u64::from(again));
                if !again && outstanding == 1 {
                    (pipe.from, pipe.until) = (unacknowledged, None);
                }
                pipe.expire(usage, self.initial)
            }
        }
    }

    /// An acknowledgment has arrived; `usual`: of data in order, with no loss being repaired. Returns the window that this calls for, if it
    /// is another one.
    pub(super) fn on_ack(&mut self, usage: &Usage, usual: bool) -> Option<Resized> {
        let Method::PipeAck(pipe) = &mut self.method else { return None };
        if !usual {
            return None;
        }
        if let Some(carried) = pipe.carried.take() {
            return Some(pipe.end_recovery(usage, carried));
        }
        pipe.sample(usage);
        pipe.expire(usage, self.initial)
    }

    /// The controller is about to react to congestion. Returns the window that it should react from, if it is another
    /// one.
    pub(super) fn before_reaction(&mut self, usage: &Usage) -> Option<Resized> {
        let Method::PipeAck(pipe) = &mut self.method else { return None };
        if pipe.is_valid(usage) {
            return None;
        }
        let flight = usage.next - usage.unacknowledged;
        let segments = (pipe.value(usage).unwrap_or(0).max(flight) as f64).clamp(1.0, usage.window);
        pipe.carried = Some(Carried { segments, again: 0, kept: 1.0 });
        Some(Resized { window: segments, threshold: usage.threshold })
    }

    /// The controller has reacted, and has this window now.
    pub(super) fn after_reaction(&mut self, window: f64) {
        let Method::PipeAck(pipe) = &mut self.method else { return };
        if let Some(carried) = &mut pipe.carried {
            carried.kept = (window / carried.segments).min(1.0);
        }
        pipe.defined = false;
        pipe.parts = Default::default();
        pipe.until = Some(u64::MAX);
    }

    /// The reaction was needless.
    pub(super) fn undo(&mut self) {
        if let Method::PipeAck(pipe) = &mut self.method {
            pipe.carried = None;
        }
    }
}

impl Decay {
    fn on_sent(&mut self, usage: &Usage, idle: Span, restart: f64) -> Option<Resized> {
        let &Usage { now, window, timeout, .. } = usage;
        let mut resized = None;
        let threshold = usage.remembering(window);
        let timeouts = idle.0 / timeout.0.max(1);
        if timeouts > 0 {
            let halved = (0..timeouts.min(64)).fold(window, |window, _| window / 2.0);
            resized = Some(Resized { window: halved.max(restart), threshold });
            (self.checked, self.used) = (now, 0);
        }
        if usage.full {
            (self.checked, self.used) = (now, 0);
        } else if usage.dry {
            self.used = self.used.max(usage.next - usage.unacknowledged);
            if now.since(self.checked) >= timeout {
                let window = f64::midpoint(window, self.used as f64).min(window);
                resized = Some(Resized { window, threshold });
                (self.checked, self.used) = (now, 0);
            }
        }
        resized
    }
}

impl PipeAck {
    /// The sampling period.
    fn period(usage: &Usage) -> Span {
        (usage.rtt * 3).max(SHORTEST_SAMPLING)
    }

    /// pipeACK, if it is defined.
    fn value(&self, usage: &Usage) -> Option<u64> {
        let period = Self::period(usage);
        let recent = self.parts.iter().filter(|(begin, _)| usage.now.since(*begin) < period);
        self.defined.then(|| recent.map(|(_, sample)| *sample).max().unwrap_or(0))
    }

    /// Section 4.3: has half of the window been used?
    fn is_valid(&self, usage: &Usage) -> bool {
        self.value(usage).is_none_or(|value| value as f64 >= usage.window / 2.0)
    }

    /// Takes a sample when everything has been acknowledged that had left when it began: about a round trip later.
    fn sample(&mut self, usage: &Usage) {
        let &Usage { now, unacknowledged, next, .. } = usage;
        match self.until {
            None => self.until = Some(next),
            // The first acknowledgment after a recovery.
            Some(u64::MAX) => (self.from, self.until) = (unacknowledged, Some(next)),
            Some(_) => {}
        }
        if self.until.is_none_or(|until| unacknowledged < until || until == self.from) {
            return;
        }
        let sample = unacknowledged - self.from;
        self.defined = true;
        (self.from, self.until) = (unacknowledged, Some(next));
        let part = Self::period(usage) / PARTS as u64;
        let (begin, largest) = &mut self.parts[0];
        if now.since(*begin) < part {
            *largest = (*largest).max(sample);
        } else {
            self.parts.rotate_right(1);
            self.parts[0] = (now, sample);
        }
    }

    /// Section 4.4.2: the window has not been valid for too long.
    fn expire(&mut self, usage: &Usage, initial: f64) -> Option<Resized> {
        if self.is_valid(usage) {
            self.valid_at = usage.now;
            return None;
        }
        let periods = usage.now.since(self.valid_at).0 / NON_VALIDATED_PERIOD.0;
        if periods == 0 {
            return None;
        }
        self.valid_at += NON_VALIDATED_PERIOD * periods;
        let mut window = usage.window;
        let threshold = usage.remembering(window);
        (0..periods.min(64)).for_each(|_| window = (window / 2.0).max(initial.min(window)));
        Some(Resized { window, threshold })
    }

    /// Section 4.4.1: what had to be sent again was not carried.
    fn end_recovery(&mut self, usage: &Usage, carried: Carried) -> Resized {
        let segments = (carried.segments - carried.again as f64) * carried.kept;
        self.valid_at = usage.now;
        let window = segments.max(1.0).min(usage.window);
        Resized { window, threshold: Some(Segments(window.max(2.0))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 20 with a threshold of 10; the time-out is 200 ms, the round trip 100 ms. At this time, in milliseconds,
    /// everything below the one number is acknowledged, and everything below the other has left.
    fn usage(now: u64, unacknowledged: u64, next: u64) -> Usage {
        Usage {
            now: Time::ZERO + Span::from_millis(now),
            window: 20.0,
            threshold: Some(Segments(10.0)),
            unacknowledged,
            next,
            full: false,
            dry: true,
            timeout: Span::from_millis(200),
            rtt: Span::from_millis(100),
        }
    }

    /// A flow with an initial window of four whose first segment leaves at 0, and is acknowledged.
    fn begun(how: WindowValidation) -> Validation {
        let mut validation = Validation::new(how, 4.0).expect("one of them");
        assert_eq!(validation.on_sent(&usage(0, 0, 1), false), None);
        validation
    }

    fn to(window: f64, threshold: f64) -> Resized {
        Resized { window, threshold: Some(Segments(threshold)) }
    }

    #[test]
    fn only_new_data_after_more_than_a_time_out_restarts() {
        // RFC 5681, section 4.1.
        let after = |now, outstanding: u64, again| {
            let usage = usage(now, 1, 1 + outstanding);
            begun(WindowValidation::Rfc5681).on_sent(&usage, again)
        };
        assert_eq!(after(201, 1, false), Some(to(4.0, 10.0)));
        assert_eq!(after(200, 1, false), None);
        assert_eq!(after(201, 2, false), None, "something was in flight");
        assert_eq!(after(201, 1, true), None, "the timer expired");
        // Nothing may have left in that time, neither new nor again.
        let mut flow = begun(WindowValidation::Rfc5681);
        assert_eq!(flow.on_sent(&usage(150, 0, 1), true), None);
        assert_eq!(flow.on_sent(&usage(350, 1, 2), false), None);
    }

    #[test]
    fn idle_time_halves_no_further_than_the_restart_window_and_raises_nothing() {
        // RFC 2861. Two time-outs leave 20/4, which is more than 4, and the threshold remembers ¾ · 20 or more.
        let after = |idle: u64, change: fn(&mut Usage)| {
            let mut usage = usage(idle, 1, 2);
            change(&mut usage);
            begun(WindowValidation::Rfc2861).on_sent(&usage, false)
        };
        assert_eq!(after(400, |_| {}), Some(to(5.0, 15.0)));
        assert_eq!(after(400, |it| it.threshold = Some(Segments(18.0))), Some(to(5.0, 18.0)));
        assert_eq!(after(2000, |_| {}), Some(to(4.0, 15.0)));
        assert_eq!(after(2000, |it| it.window = 3.0), Some(to(3.0, 10.0)));
        assert_eq!(after(199, |it| it.dry = false), None);
        // It is not idle with something in flight, nor while something is sent again.
        let mut flow = begun(WindowValidation::Rfc2861);
        let busy = Usage { dry: false, ..usage(400, 0, 2) };
        assert_eq!(flow.on_sent(&busy, false), None);
        let again = Usage { dry: false, ..usage(800, 1, 2) };
        assert_eq!(flow.on_sent(&again, true), None);
    }

    #[test]
    fn a_time_out_without_a_full_window_leaves_the_middle() {
        // RFC 2861. The window is full at 100 ms. Three in flight at 200 ms, one at 300 ms: a time-out has passed, and
        // three were the most.
        let mut flow = begun(WindowValidation::Rfc2861);
        assert_eq!(flow.on_sent(&Usage { full: true, ..usage(100, 1, 21) }, false), None);
        assert_eq!(flow.on_sent(&usage(200, 21, 24), false), None);
        assert_eq!(flow.on_sent(&usage(300, 24, 25), false), Some(to(11.5, 15.0)));
        // From then on it counts anew: one in flight at 400 ms, two at 500.
        assert_eq!(flow.on_sent(&usage(400, 25, 26), false), None);
        assert_eq!(flow.on_sent(&usage(500, 26, 28), false), Some(to(11.0, 15.0)));
        // A window smaller than what is in flight does not grow by that.
        assert_eq!(flow.on_sent(&usage(600, 28, 31), false), None);
        let small = Usage { window: 2.0, ..usage(700, 31, 34) };
        assert_eq!(flow.on_sent(&small, false), Some(to(2.0, 10.0)));
        // Nothing is known before the first segment, which may leave late.
        let mut late = Validation::new(WindowValidation::Rfc2861, 4.0).expect("it is one of them");
        assert_eq!(late.on_sent(&usage(5000, 0, 1), false), None);
    }

    /// From this time on, in milliseconds, so many segments from this one on leave, and are acknowledged 100 ms later.
    fn carry(flow: &mut Validation, now: u64, first: u64, segments: u64) {
        for segment in first..first + segments {
            assert_eq!(flow.on_sent(&usage(now, first, segment + 1), false), None);
        }
        let end = first + segments;
        for unacknowledged in [first + 1, end] {
            assert_eq!(flow.on_ack(&usage(now + 100, unacknowledged, end), true), None);
        }
    }

    /// What congestion finds the path to carry at this time, with one segment in flight behind `unacknowledged`.
    fn carried(flow: &mut Validation, now: u64, unacknowledged: u64) -> Option<f64> {
        let usage = usage(now, unacknowledged, unacknowledged + 1);
        flow.before_reaction(&usage).map(|resized| resized.window)
    }

    /// A flow of RFC 7661 that has carried eight segments in its first round trip.
    fn of_eight() -> Validation {
        let mut flow = Validation::new(WindowValidation::Rfc7661, 4.0).expect("one of them");
        carry(&mut flow, 0, 0, 8);
        flow
    }

    #[test]
    fn congestion_finds_what_was_carried_or_is_in_flight() {
        // RFC 7661, section 4.4.1: the larger of the two, if the window is not validated (section 4.3): 8 are less than
        // half of 20.
        let found = |flight: u64, window| {
            let usage = Usage { window, ..usage(150, 8, 8 + flight) };
            of_eight().before_reaction(&usage).map(|resized| resized.window)
        };
        assert_eq!(found(1, 20.0), Some(8.0));
        assert_eq!(found(12, 20.0), Some(12.0));
        assert_eq!(found(40, 20.0), Some(20.0), "no more than the window");
        assert_eq!(found(1, 16.0), None, "8 are half of it");
        let mut new = Validation::new(WindowValidation::Rfc7661, 4.0).expect("one of them");
        assert_eq!(carried(&mut new, 150, 0), None, "nothing is known yet");
    }

    #[test]
    fn after_recovery_what_was_sent_again_was_not_carried() {
        // Section 4.4.1. Of 8, the controller keeps a half. Two segments are sent again in recovery, and three are new:
        // (8 - 2)/2, the threshold too.
        let mut flow = of_eight();
        assert_eq!(carried(&mut flow, 150, 8), Some(8.0));
        flow.after_reaction(4.0);
        assert_eq!(carried(&mut flow, 151, 8), None, "pipeACK is undefined");
        for again in [true, true, false, false, false] {
            assert_eq!(flow.on_sent(&usage(160, 8, 14), again), None);
        }
        assert_eq!(flow.on_ack(&usage(250, 10, 14), false), None, "recovery goes on");
        assert_eq!(flow.on_ack(&usage(300, 14, 20), true), Some(to(3.0, 3.0)));
        // What was carried before is forgotten: 20 and 21 are all.
        for unacknowledged in [20, 22] {
            assert_eq!(flow.on_ack(&usage(400, unacknowledged, 22), true), None);
        }
        assert_eq!(carried(&mut flow, 450, 22), Some(2.0));
    }

    #[test]
    fn recovery_leaves_a_segment_and_a_threshold_of_two_at_least() {
        // RFC 5681, (4), for the threshold. Of 8, the controller keeps a half, and seven are sent again: (8 - 7)/2.
        let after = |kept, again| {
            let mut flow = of_eight();
            assert_eq!(carried(&mut flow, 150, 8), Some(8.0));
            flow.after_reaction(kept);
            (0..again).for_each(|_| assert_eq!(flow.on_sent(&usage(160, 8, 14), true), None));
            flow.on_ack(&usage(300, 14, 20), true)
        };
        assert_eq!(after(4.0, 7), Some(to(1.0, 2.0)));
        // What was not carried is not kept, whatever window the controller has.
        assert_eq!(after(12.0, 2), Some(to(6.0, 6.0)));
    }

    #[test]
    fn a_reaction_that_was_none_leaves_nothing_to_correct() {
        let mut flow = of_eight();
        carried(&mut flow, 150, 8);
        flow.after_reaction(4.0);
        flow.undo();
        assert_eq!(flow.on_ack(&usage(300, 14, 20), true), None);
    }

    #[test]
    fn the_most_of_three_round_trips_or_a_second_counts() {
        // Section 4.2. The sample of eight was taken at 100 ms, in the part of the period that began at 0.
        let found = |now, rtt| {
            let rtt = Span::from_millis(rtt);
            let usage = Usage { rtt, ..usage(now, 8, 9) };
            of_eight().before_reaction(&usage).map(|resized| resized.window)
        };
        assert_eq!((found(999, 100), found(1_000, 100)), (Some(8.0), Some(1.0)));
        assert_eq!((found(2_999, 1000), found(3_000, 1000)), (Some(8.0), Some(1.0)));
        // Smaller samples of the same quarter of a second do not hide it, nor many of them.
        let mut flow = of_eight();
        for round in 0..5 {
            carry(&mut flow, 101 + 10 * round, 8 + 2 * round, 2);
        }
        assert_eq!(carried(&mut flow, 500, 18), Some(8.0));
        // After an idle time the next round trip counts from its own first segment on.
        let mut flow = of_eight();
        carry(&mut flow, 2000, 8, 9);
        assert_eq!(carried(&mut flow, 2150, 17), Some(9.0));
    }

    #[test]
    fn five_minutes_count_from_the_last_time_the_window_was_valid() {
        // Section 4.4.2. Five minutes have passed at 400 s, but then half of the window is carried: 650 s is no later than
        // five minutes after that, 701 s is.
        let mut flow = of_eight();
        assert_eq!(flow.on_sent(&usage(400_000, 8, 9), false), Some(to(10.0, 15.0)));
        for unacknowledged in [9, 18] {
            flow.on_ack(&usage(400_100, unacknowledged, 18), true);
        }
        assert_eq!(flow.on_sent(&usage(650_000, 18, 19), false), None);
        assert_eq!(flow.on_sent(&usage(701_000, 19, 20), false), Some(to(10.0, 15.0)));
    }

    #[test]
    fn the_second_five_minutes_begin_when_the_first_are_over() {
        // Section 4.4.2. The window was last valid when the sample was taken, at 100 ms. That five minutes are over is seen at
        // 400 s; ten are over at 601 s all the same.
        let mut flow = of_eight();
        assert_eq!(flow.on_sent(&usage(400_000, 8, 9), false), Some(to(10.0, 15.0)));
        assert_eq!(flow.on_sent(&usage(599_000, 9, 10), false), None);
        assert_eq!(flow.on_sent(&usage(602_000, 10, 11), false), Some(to(10.0, 15.0)));
    }
}
