//! The shell around window rules that remember: what `Windowed` is to laws.
//!
//! Many rules are a law but for what they keep in mind: the window of the last loss, the largest round trip, how fast
//! data was delivered. Such a rule is the few lines that differ; slow start, the bounds of the window and time-outs are
//! here. A rule whose state needs more than this implements [`CongestionControl`] itself.
//!
//! What a rule keeps in mind belongs to a window that came about by it. After a time-out, and where the host asks for another
//! window, as after a pause, it begins anew.

use std::fmt;

use longfat_units::{Segments, Span, Time};

use crate::bounds::{AFTER_TIMEOUT, CEILING, FLOOR, first_window};
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Feedback, Path, Phase, Probe, Promises, Ramp,
    Sending, Start,
};

/// A window rule with a memory of its own.
pub trait WindowRule: Clone + fmt::Debug + Send + Sync + 'static {
    /// Hears every acknowledgment before the window moves, and says which window to go on with: the same, but for rules
    /// that give way without congestion. A smaller one ends slow start.
    #[inline]
    fn hear(&mut self, window: f64, _feedback: &Feedback, _path: &Path) -> f64 {
        window
    }

    /// Segments added per acknowledged segment in congestion avoidance.
    fn gain(&mut self, window: f64, now: Time, path: &Path) -> f64;

    /// The window that a loss or a mark leaves. The shell keeps it between two segments and what it was.
    fn reduce(&mut self, window: f64, phase: Phase, event: &Congestion, path: &Path) -> f64;

    /// The threshold after a time-out of fresh data (RFC 5681, equation 4: half of what was in flight).
    fn threshold_after_timeout(&self, event: &Congestion, _path: &Path) -> f64 {
        event.in_flight as f64 / 2.0
    }

    /// The window did not come about by this rule: after a time-out, or where the host asks for another.
    fn restart(&mut self, now: Time);

    /// Nothing was in flight for so long: a clock that drives growth does not count it ([`CongestionControl::on_pause`]).
    fn pause(&mut self, _length: Span) {}

    /// What can be relied on.
    fn promises(&self) -> Promises {
        Promises::LAW
    }

    /// Names the variables worth plotting.
    fn observe(&self, _probe: &mut dyn Probe) {}
}

/// A window rule with slow start and limits around it.
#[derive(Clone, Debug)]
pub struct Remembered<Rule> {
    rule: Rule,
    window: f64,
    ramp: Ramp,
}

impl<Rule: WindowRule> Remembered<Rule> {
    /// A flow under `rule` that begins as `start` says.
    pub fn new(rule: Rule, start: &Start) -> Self {
        Self { rule, window: first_window(start.window), ramp: Ramp::new(start) }
    }

    /// The same, in the form that a host takes.
    pub fn boxed(rule: Rule, start: &Start) -> Sending {
        Sending::Windowed(Box::new(Self::new(rule, start)))
    }

    fn phase(&self) -> Phase {
        if self.ramp.holds(self.window) { Phase::SlowStart } else { Phase::CongestionAvoidance }
    }

    /// The rule gives way without congestion.
    #[cold]
    fn give_way(&mut self, window: f64) {
        self.window = window.max(FLOOR).min(self.window);
        self.ramp.leave(self.window.max(FLOOR));
    }
}

impl<Rule: WindowRule> CongestionControl for Remembered<Rule> {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let heard = self.rule.hear(self.window, feedback, path);
        if heard < self.window {
            self.give_way(heard);
        }
        if feedback.acked == 0 || feedback.is_congested() {
            return;
        }
        if self.ramp.watches() {
            self.ramp.watch(feedback, self.window);
        }
        if !feedback.limited.may_grow() {
            return;
        }
        let mut acked = feedback.acked;
        while acked > 0 && self.ramp.holds(self.window) {
            self.window = self.ramp.rise(self.window, 1.0);
            acked -= 1;
        }
        for _ in 0..acked {
            let gain = self.rule.gain(self.window, feedback.now, path);
            self.window = (self.window + gain).min(CEILING);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        if event.cause == Cause::Timeout {
            if !event.again {
                let threshold = self.rule.threshold_after_timeout(event, path);
                self.ramp.leave(threshold.max(FLOOR));
            }
            self.window = AFTER_TIMEOUT;
            self.rule.restart(event.now);
        } else {
            let left = self.rule.reduce(self.window, self.phase(), event, path).max(FLOOR);
            self.ramp.leave(left);
            // A window that is smaller than the floor already is not lifted.
            self.window = left.min(self.window);
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.trim(event, path);
        self.rule.restart(event.now);
    }

    fn growth_limit(&self, used: Segments, feedback: &Feedback, path: &Path) -> Option<Segments> {
        Some(Segments(match self.phase() {
            Phase::SlowStart => self.ramp.after_round(used.0, 1.0),
            // A rule may remember what it is asked: this is a question only.
            Phase::CongestionAvoidance => {
                used.0 + used.0 * self.rule.clone().gain(used.0, feedback.now, path).max(0.0)
            }
        }))
    }

    fn on_pause(&mut self, length: Span) {
        self.rule.pause(length);
    }

    fn trim(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn promises(&self) -> Promises {
        self.rule.promises()
    }

    fn observe(&self, probe: &mut dyn Probe) {
        self.rule.observe(probe);
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::Span;

    use super::*;

    /// Gives way to half of its window with every acknowledgment.
    #[derive(Clone, Debug)]
    struct Yielding;

    impl WindowRule for Yielding {
        fn hear(&mut self, window: f64, _: &Feedback, _: &Path) -> f64 {
            window / 2.0
        }

        fn gain(&mut self, _: f64, _: Time, _: &Path) -> f64 {
            0.0
        }

        fn reduce(&mut self, window: f64, _: Phase, _: &Congestion, _: &Path) -> f64 {
            window
        }

        fn restart(&mut self, _: Time) {}
    }

    const RTT: Span = Span::from_millis(100);
    const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

    fn starting(window: f64) -> Remembered<Yielding> {
        let (window, threshold) = (Segments(window), Some(Segments(window)));
        Remembered::new(Yielding, &Start { window, threshold, ..Start::default() })
    }

    /// Two segments are the least that a rule may give way to, and the least threshold. A smaller window is not lifted.
    #[test]
    fn a_rule_that_gives_way_keeps_two_segments() {
        for (window, left) in [(10.0, 5.0), (3.0, 2.0), (1.0, 1.0)] {
            let mut control = starting(window);
            control.on_feedback(&Feedback::at(Time::ZERO, 0), &PATH);
            let threshold = Some(Segments(f64::max(left, 2.0)));
            assert_eq!((control.window, control.threshold()), (left, threshold), "from {window}");
        }
    }

    /// RFC 5681, section 3.1: half of the 20 segments in flight, and the same still where one of them is lost again.
    #[test]
    fn only_the_first_of_several_time_outs_lowers_the_threshold() {
        let mut control = starting(20.0);
        let (now, cause) = (Time::ZERO, Cause::Timeout);
        for (in_flight, again) in [(20, false), (2, true)] {
            control.on_congestion(&Congestion { now, cause, in_flight, again }, &PATH);
            assert_eq!((control.window, control.threshold()), (1.0, Some(Segments(10.0))));
        }
    }
}
