//! LEDBAT++: LEDBAT that gives way to others of its kind too.
//!
//! P. Balasubramanian, O. Ertugay, D. Havey, "LEDBAT++: Congestion Control for Background Traffic",
//! draft-irtf-iccrg-ledbat-plus-plus-01, 2020, which is the version that was read: the draft has gone on since, to -06 in
//! January 2026, and sections and constants here are those of -01.
//!
//! LEDBAT has four weaknesses: one-way delays are hard to come by; a flow that comes late starves the one that was there;
//! two of them drift as they like, since steps up and down are alike; and where the buffer is shorter than the target it
//! is as strong as Reno. Here delays are round trips, growth is slower on short paths, the window falls in proportion to
//! itself, and every now and then a flow falls silent, so that all see how long the path is without a queue:
//!
//! ```text
//!     GAIN = 1/min(16, ⌈2 T/base⌉),    T = 60 ms
//!     each round trip      delay < T:   w ← w + GAIN
//!                          otherwise:   w ← w + max(GAIN - w (delay/T - 1), -w/2)
//!     slow start           w ← w + GAIN per acknowledged segment; the first one ends where delay > 3/4 T
//!     slowdown             w = 2 for two round trips, then slow start up to the window of before;
//!                          the first two round trips after the first slow start, then one after 9 times as long as
//!                          the last one took, so that it costs less than a tenth
//!     a loss               w ← w/2, 2 at the least
//! ```
//!
//! `delay` is the smallest of the last 4 round trips less `base`, the smallest of the last 10 minutes.
//!
//! | parameter | default | source |
//! |-----------|---------|--------|
//! | `target`  | 60 ms   | section 4.2 |
//!
//! Deviations:
//!
//! - The first window is the flow's `initial_window`; the draft begins with 2 segments.
//! - The change of a round trip is spread over its acknowledgments.
//! - A loss ends slow start, and a slowdown with it; the next one comes as if it had reached its end.
//! - After a time-out slow start leads to half of what was in flight, as with any controller, but from two segments: the
//!   window never falls below that (section 4.3).
//! - What a flow's `slow_start` says makes no difference: the first one ends as above.
//!
//! Domain: buffers above `target`; in shorter ones it takes GAIN of Reno's growth. A route that becomes longer is taken for
//! a queue until the base of ten minutes forgets the shorter one: on 100 Mbit/s, from 40 to 100 ms, 43 Mbit/s are left.
//!
//! Promised, held in `tests/theory/ledbat_plus_plus.rs`: GAIN, the steps, the slowdowns and their times. In
//! `crates/sim/tests/delay.rs`: the target delay; that it yields to Reno; that a latecomer has no advantage.

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span, Time};

use super::ledbat::Waiting;
use crate::bounds::{CEILING, FLOOR, first_window};
use crate::registry::above_zero;
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Limited, Path,
    Probe, Promises, Ramp, Sending, Start,
};

/// LEDBAT++'s entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("ledbat++", build)
        .title("LEDBAT++: LEDBAT that gives way to others of its kind too")
        .source("draft-irtf-iccrg-ledbat-plus-plus-01")
        .family(Family::Delay)
        .parameters([Parameter::span("target", "60 ms", "queueing delay that it wants to add (T)")])
        .check(above_zero("target"))
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(LedbatPlusPlus::new(settings, start)))
}

/// 1/GAIN at the most.
const SLOWEST: f64 = 16.0;
/// The first slow start ends at this share of the target.
const NEAR: f64 = 0.75;
/// The window of a slowdown, for so many round trips; and so many after the first slow start.
const SLOW_WINDOW: f64 = 2.0;
const SLOW_ROUNDS: u64 = 2;
/// From the end of a slowdown to the next one, in lengths of the last.
const BETWEEN: u64 = 9;

/// The slowdowns of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slowdown {
    /// Not before the first slow start is over.
    Unknown,
    /// The next one begins then.
    Due(Time),
    /// It began then; the window stands still until then.
    Silent { since: Time, until: Time },
    /// It began then; slow start.
    Rising { since: Time },
}

/// One flow under LEDBAT++.
#[derive(Clone, Debug)]
pub struct LedbatPlusPlus {
    window: f64,
    ramp: Ramp,
    waiting: Waiting,
    slowdown: Slowdown,
    /// T, in picoseconds.
    target: f64,
}

impl LedbatPlusPlus {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        Self {
            window: first_window(start.window),
            ramp: Ramp::new(start),
            waiting: Waiting::UNKNOWN,
            slowdown: Slowdown::Unknown,
            target: settings.span("target").0.max(1) as f64,
        }
    }

    /// GAIN
    #[inline]
    fn gain(&self) -> f64 {
        let base = self.waiting.base().map_or(0.0, |base| base.0 as f64);
        1.0 / (2.0 * self.target / base).ceil().min(SLOWEST)
    }

    /// Takes note of the end of slow start.
    fn risen(&mut self, now: Time, rtt: Span) {
        self.slowdown = match self.slowdown {
            Slowdown::Unknown => Slowdown::Due(after(now, rtt, SLOW_ROUNDS)),
            Slowdown::Silent { since, .. } | Slowdown::Rising { since } => {
                Slowdown::Due(after(now, now.since(since), BETWEEN))
            }
            due @ Slowdown::Due(_) => due,
        };
    }

    /// Begins and ends slowdowns. True while the window stands still.
    fn slows(&mut self, now: Time, rtt: Span) -> bool {
        match self.slowdown {
            Slowdown::Due(at) if now >= at => {
                let until = after(now, rtt, SLOW_ROUNDS);
                self.slowdown = Slowdown::Silent { since: now, until };
                // A slow start under way goes on to where it was bound.
                if !self.ramp.holds(self.window) {
                    self.ramp.leave(self.window.max(FLOOR));
                }
                self.window = self.window.min(SLOW_WINDOW);
                true
            }
            Slowdown::Silent { since, until } if now >= until => {
                self.slowdown = Slowdown::Rising { since };
                false
            }
            Slowdown::Silent { .. } => true,
            _ => false,
        }
    }
}

/// So many times as long after `now`.
fn after(now: Time, span: Span, times: u64) -> Time {
    Time(now.0.saturating_add(span.0.saturating_mul(times)))
}

impl CongestionControl for LedbatPlusPlus {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let Some(rtt) = feedback.rtt else { return };
        let now = feedback.now;
        let delay = self.waiting.see(now, rtt, Waiting::ANY_AGE).0 as f64 / self.target;
        if feedback.limited == Limited::Recovery || self.slows(now, path.rtt) {
            return;
        }
        let gain = self.gain();
        let grows = feedback.limited.may_grow() && !feedback.is_congested();
        let mut acked = feedback.acked;
        if self.slowdown == Slowdown::Unknown && delay > NEAR {
            self.ramp.leave(self.window);
        }
        while grows && acked > 0 && self.ramp.holds(self.window) {
            self.window = self.ramp.rise(self.window, gain);
            acked -= 1;
        }
        if self.ramp.holds(self.window) {
            return;
        }
        self.risen(now, path.rtt);
        let window = self.window;
        let change = if delay < 1.0 {
            if grows { gain } else { 0.0 }
        } else {
            (gain - window * (delay - 1.0)).max(-window / 2.0)
        };
        let share = (acked as f64 / window).min(1.0);
        let least = FLOOR.min(window);
        self.window = (window + change * share).clamp(least, CEILING);
        if self.window < window {
            self.ramp.leave(self.window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        match event.cause {
            Cause::Loss | Cause::Mark => {
                let reduced = (self.window / 2.0).max(FLOOR);
                self.ramp.leave(reduced);
                self.window = reduced.min(self.window);
                self.risen(event.now, path.rtt);
            }
            Cause::Timeout => {
                self.window = self.ramp.time_out(event).max(FLOOR.min(self.window));
                self.risen(event.now, path.rtt);
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
    }

    fn growth_limit(&self, used: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        let used = used.0;
        Some(Segments(if self.ramp.holds(self.window) {
            self.ramp.after_round(used, self.gain())
        } else {
            used + self.gain()
        }))
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn promises(&self) -> Promises {
        Promises::NONE
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if self.waiting.base().is_some() {
            probe.value("queueing_delay", self.waiting.delay().seconds());
            probe.value("gain", self.gain());
        }
    }
}
