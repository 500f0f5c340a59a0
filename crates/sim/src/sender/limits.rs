//! For how long each cause has limited a sender: what kept it from having more in flight.
//!
//! The cause is set after each acknowledgment and rarely another one, so only its changes cost anything.

use longfat_control::Limited;
use longfat_units::{Span, Time};

/// For how long each cause has held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitedFor {
    pub(crate) window: Span,
    pub(crate) pacing: Span,
    pub(crate) receiver: Span,
    pub(crate) application: Span,
    /// Losses were being repaired, whatever else held the sender back.
    pub(crate) recovery: Span,
}

impl LimitedFor {
    fn of(&mut self, cause: Limited) -> &mut Span {
        match cause {
            Limited::Pacing => &mut self.pacing,
            Limited::Receiver => &mut self.receiver,
            Limited::Application => &mut self.application,
            Limited::Recovery => &mut self.recovery,
            _ => &mut self.window,
        }
    }
}

/// The cause of the moment, and for how long each has held before.
///
/// A paced sender knows ahead of time when nothing will hold it back any more, so the last change may lie in the future.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    cause: Limited,
    /// The cause before it.
    previous: Limited,
    since: Time,
    before: LimitedFor,
}

impl Limits {
    pub(super) fn new(now: Time, cause: Limited) -> Self {
        Self { cause, previous: cause, since: now, before: LimitedFor::default() }
    }

    /// From now on it is this cause.
    pub(super) fn switch(&mut self, now: Time, cause: Limited) {
        self.before = self.until(now);
        self.previous = std::mem::replace(&mut self.cause, cause);
        self.since = now;
    }

    /// For how long each cause has held until `now`.
    pub(super) fn until(&self, now: Time) -> LimitedFor {
        let mut held = self.before;
        if now >= self.since {
            *held.of(self.cause) += now - self.since;
        } else {
            let charged = held.of(self.previous);
            *charged = Span(charged.0.saturating_sub((self.since - now).0));
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_charged_until_the_next_one() {
        let at = |seconds: u64| Time(seconds * 1_000_000_000_000);
        let mut limits = Limits::new(at(1), Limited::Window);
        limits.switch(at(3), Limited::Recovery);
        limits.switch(at(4), Limited::Pacing);
        limits.switch(at(4), Limited::Window);
        let held = limits.until(at(10));
        let seconds = |span: Span| span.seconds();
        assert_eq!(
            [held.window, held.recovery, held.pacing, held.receiver].map(seconds),
            [8.0, 1.0, 0.0, 0.0]
        );
        assert_eq!(held.application, Span::ZERO);
    }

    #[test]
    fn a_cause_is_not_charged_ahead_of_its_time() {
        // At 3 s it is known that pacing ends at 7 s.
        let at = |seconds: u64| Time(seconds * 1_000_000_000_000);
        let mut limits = Limits::new(at(1), Limited::Pacing);
        limits.switch(at(7), Limited::Application);
        let held = [3, 7, 9].map(|seconds| {
            let held = limits.until(at(seconds));
            [held.pacing, held.application].map(Span::seconds)
        });
        assert_eq!(held, [[2.0, 0.0], [6.0, 0.0], [6.0, 2.0]]);
    }
}
