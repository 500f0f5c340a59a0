//! Changes of the window that are no reaction to congestion: unused windows ([`Validation`]), the growth of such
//! ([`Increase`]), and windows known from an earlier flow ([`Resume`]).
//!
//! [`Increase`]: super::increase::Increase
//! [`Validation`]: super::validation::Validation
//! [`Resume`]: super::resume::Resume

use longfat_control::{Adjustment, Cause, Feedback, Limited};
use longfat_units::{Segments, Time};

use super::resume::{Arrival, Resume};
use super::validation::{Resized, Usage};
use super::{Extras, Sender};

impl Extras {
    /// Does anything here but the delivery rate want to know what leaves?
    #[inline]
    pub(super) fn follows_departures(&self) -> bool {
        self.rack.is_some() || self.numbers.is_some() || self.resizes()
    }

    /// Does anything here change windows?
    #[inline]
    pub(super) fn resizes(&self) -> bool {
        self.validation.is_some() || self.increase.is_some() || self.resume.is_some()
    }
}

impl Sender {
    /// Does anything change windows?
    #[inline]
    pub(super) fn resizes(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.resizes())
    }

    fn usage(&self, now: Time) -> Usage {
        Usage {
            now,
            window: self.control.window().0,
            threshold: self.control.threshold(),
            unacknowledged: self.unacknowledged,
            next: self.next,
            full: self.flight() >= self.allowed,
            dry: self.next == self.limit,
            timeout: self.timer.timeout(),
            rtt: self.timer.path().rtt,
        }
    }

    /// A segment has left.
    pub(super) fn resize_after_departure(&mut self, now: Time, again: bool) {
        if !self.resizes() {
            return;
        }
        let (usage, in_flight, allowed) = (self.usage(now), self.flight(), self.allowed);
        let Some(extras) = &mut self.extras else { return };
        if let Some(increase) = &mut extras.increase {
            increase.see(usage.window, in_flight);
        }
        let unused = extras.validation.as_mut().and_then(|it| it.on_sent(&usage, again));
        let known =
            extras.resume.as_mut().and_then(|it| it.on_sent(usage.next, in_flight, allowed));
        self.resize(now, unused);
        self.resize(now, known);
    }

    /// What limits a flow whose window is changed here: a window that is not full may grow all the same, and one that is not
    /// confirmed may not.
    #[inline(never)]
    pub(super) fn limit_growth(&mut self, feedback: &Feedback) -> Limited {
        let limited = match feedback.limited {
            Limited::Application | Limited::Receiver if self.may_grow_unused(feedback) => {
                Limited::Window
            }
            other => other,
        };
        let resume = self.extras.as_ref().and_then(|extras| extras.resume.as_ref());
        let confirmed = resume.is_none_or(Resume::may_grow);
        if limited.may_grow() && !confirmed { Limited::Application } else { limited }
    }

    /// May the window grow at an acknowledgment that finds it not full, as far as what was in flight is concerned?
    fn may_grow_unused(&mut self, feedback: &Feedback) -> bool {
        let (window, in_flight) = (self.control.window().0, self.flight());
        let Some(extras) = &mut self.extras else { return false };
        let Some(increase) = &mut extras.increase else { return false };
        // It may have fallen after the last acknowledgment, and nothing has left since.
        increase.see(window, in_flight);
        let used = increase.most_in_flight();
        let limit = self.control.growth_limit(used, feedback, self.timer.path());
        increase.may_grow(window, limit)
    }

    /// The controller has been told of an acknowledgment that found the window not full.
    fn end_growth(&mut self, now: Time) {
        let (window, in_flight) = (self.control.window().0, self.flight());
        let Some(extras) = &mut self.extras else { return };
        let Some(increase) = &mut extras.increase else { return };
        let excess = increase.excess(window);
        increase.see(excess.unwrap_or(window), in_flight);
        let Some(window) = excess else { return };
        let event = Adjustment { now, window: Segments(window), threshold: None };
        self.control.trim(&event, self.timer.path());
        self.set_alarm(now);
        self.heed_control(now);
    }

    /// The controller has been told of an acknowledgment.
    pub(super) fn resize_after_ack(&mut self, feedback: &Feedback) {
        if !self.resizes() {
            return;
        }
        let now = feedback.now;
        self.end_growth(now);
        if feedback.delivered() == 0 {
            return;
        }
        let (usage, open) = (self.usage(now), self.is_open());
        let arrival = Arrival {
            now,
            delivered: feedback.delivered(),
            unacknowledged: usage.unacknowledged,
            next: usage.next,
            in_flight: self.flight(),
            window: usage.window,
            wants_more: self.limited.may_grow(),
            rtt: usage.rtt,
        };
        let Some(extras) = &mut self.extras else { return };
        let in_order = open && feedback.acked > 0;
        let unused = extras.validation.as_mut().and_then(|it| it.on_ack(&usage, in_order));
        let known = extras.resume.as_mut().and_then(|it| it.on_ack(&arrival));
        self.resize(now, unused);
        self.resize(now, known);
    }

    /// The controller is about to react to a loss or a mark.
    pub(super) fn resize_before_reaction(&mut self, now: Time) {
        if !self.resizes() {
            return;
        }
        let usage = self.usage(now);
        let Some(extras) = &mut self.extras else { return };
        let used = extras.validation.as_mut().and_then(|it| it.before_reaction(&usage));
        self.resize(now, used);
    }

    /// The controller has reacted to congestion.
    pub(super) fn resize_after_reaction(&mut self, now: Time, cause: Cause) {
        let (next, window) = (self.next, self.control.window().0);
        let Some(extras) = &mut self.extras else { return };
        if let Some(validation) = &mut extras.validation {
            validation.after_reaction(window);
        }
        let Some(resume) = &mut extras.resume else { return };
        if cause == Cause::Timeout {
            return resume.on_timeout();
        }
        let safe = resume.on_congestion(next, window);
        self.resize(now, safe);
        self.heed_pacing();
    }

    /// The window is another one from now on.
    pub(super) fn resize(&mut self, now: Time, resized: Option<Resized>) {
        let Some(Resized { window, threshold }) = resized else { return };
        let event = Adjustment { now, window: Segments(window), threshold };
        self.control.on_adjustment(&event, self.timer.path());
        self.set_alarm(now);
        self.heed_pacing();
        self.heed_control(now);
        self.heed_reduction();
    }
}
