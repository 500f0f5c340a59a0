//! LEDBAT: what is left over, and no more delay than it must.
//!
//! S. Shalunov, G. Hazel, J. Iyengar, M. Kuehlewind, "Low Extra Delay Background Transport (LEDBAT)", RFC 6817, 2012.
//!
//! Transfers that can wait should not be felt by those that cannot. LEDBAT uses a link that is free, notices by the delay
//! when somebody else comes, and gives way long before a packet is lost. It wants to add `TARGET` of queueing delay, and
//! moves its window in proportion to how far it is from that, never faster than Reno grows:
//!
//! ```text
//!     queuing_delay = FILTER(current_delays) - MIN(base_delays),    off_target = (TARGET - queuing_delay)/TARGET
//!     each acknowledged segment     w ← w + GAIN off_target/w,      at most what is in flight + ALLOWED_INCREASE
//!     a loss                        w ← w/2,  2 at the least, once per round trip
//! ```
//!
//! Delays are one-way: what the other direction adds is not the sender's doing. The clocks of both ends need not agree,
//! since only differences count. `current_delays` are the last 4 samples, but for those from more than a round trip ago, and
//! the smallest of them counts; `base_delays` are the smallest of each of the last 10 minutes.
//!
//! | parameter | default | source |
//! |-----------|---------|--------|
//! | `target`  | 100 ms  | section 2.5: 100 ms at the most |
//! | `gain`    | 1       | section 2.5: 1 at the most |
//!
//! Deviations:
//!
//! - The first window is the flow's `initial_window`; the RFC begins with 2 segments.
//! - There is no slow start: `slow_start` and `initial_threshold` make no difference.
//! - While losses are repaired the window stands still: what is in flight says nothing about it then.
//! - The time-out is the host's, for the RFC's congestion time-out; it leaves one segment, until the next acknowledgment.
//! - A host that cannot tell one-way delays lets it go by round trips.
//!
//! Domain: links on which a bandwidth-delay product can be reached by a segment per round trip, with buffers above
//! `target`: behind shorter ones it is Reno. A flow that begins when another has filled the queue to its target takes that
//! for the base delay, adds its own and starves it (the latecomer's advantage; RFC 6817, section 4.4). `ledbat++` mends
//! both.
//!
//! Promised, held in `tests/theory/ledbat.rs`: its steps and its memory. In `crates/sim/tests/delay.rs`: the target delay,
//! with others on the way back too; and that it yields to Reno.

use longfat_units::parameter::{Parameter, Refusal, Settings};
use longfat_units::{Segments, Span, Time};

use crate::bounds::{AFTER_TIMEOUT, CEILING, FLOOR, first_window, halved};
use crate::recent::Recent;
use crate::registry::above_zero;
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Limited, Path,
    Probe, Promises, Sending, Start, Wants,
};

/// LEDBAT's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("ledbat", build)
        .title("LEDBAT: uses what is left over, and keeps queueing delay at a target")
        .source("RFC 6817")
        .family(Family::Delay)
        .parameters([
            Parameter::span(
                "target",
                "100 ms",
                "queueing delay that it wants to add: above 0, at most 100 ms",
            ),
            Parameter::number(
                "gain",
                1.0,
                1e-3,
                1.0,
                "segments per round trip that it grows by where nothing waits",
            ),
        ])
        .check(check)
}

/// RFC 6817, section 2.5: `TARGET` MUST be 100 milliseconds or less.
const LONGEST_TARGET: Span = Span::from_millis(100);

fn check(settings: &Settings) -> Result<(), Refusal> {
    above_zero("target")(settings)?;
    let target = settings.span("target");
    if target > LONGEST_TARGET {
        let reason =
            format!("`target` must be at most {LONGEST_TARGET} (RFC 6817), but it is {target}");
        return Err(("target".into(), reason));
    }
    Ok(())
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Ledbat::new(settings, start)))
}

/// `CURRENT_FILTER`
const CURRENT: usize = 4;
/// `BASE_HISTORY`, in minutes.
const HISTORY: usize = 10;
const MINUTE: Span = Span::from_seconds(60);
/// `ALLOWED_INCREASE`
const ALLOWED_INCREASE: f64 = 1.0;

/// How long packets wait: the smallest of the last samples over the smallest of the last minutes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    base: Recent<Span, HISTORY>,
    /// The last samples, and when they came.
    current: [(Time, Span); CURRENT],
    at: usize,
    /// The smallest of those that counted at the last one.
    least: Span,
}

impl Waiting {
    pub(super) const UNKNOWN: Self = Self {
        base: Recent::NOTHING,
        current: [(Time::ZERO, Span(u64::MAX)); CURRENT],
        at: 0,
        least: Span(u64::MAX),
    };

    /// However old samples are, they count.
    pub(super) const ANY_AGE: Span = Span(u64::MAX);

    /// A sample. Returns the queueing delay, from samples that are no older than `age`.
    #[inline]
    pub(super) fn see(&mut self, now: Time, delay: Span, age: Span) -> Span {
        self.base.see(now, MINUTE, delay);
        self.current[self.at] = (now, delay);
        self.at = (self.at + 1) % CURRENT;
        let recent = |&&(at, _): &&(Time, Span)| now.since(at) <= age;
        let delays = self.current.iter().filter(recent).map(|&(_, delay)| delay);
        self.least = delays.fold(delay, Span::min);
        self.delay()
    }

    /// The queueing delay.
    pub(super) fn delay(&self) -> Span {
        let base = self.base().unwrap_or(self.least);
        self.least - base.min(self.least)
    }

    /// The smallest delay.
    pub(super) fn base(&self) -> Option<Span> {
        self.base.least()
    }
}

/// One flow under LEDBAT.
#[derive(Clone, Debug)]
pub struct Ledbat {
    window: f64,
    waiting: Waiting,
    /// TARGET, in picoseconds.
    target: f64,
    gain: f64,
}

impl Ledbat {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        Self {
            window: first_window(start.window),
            waiting: Waiting::UNKNOWN,
            target: settings.span("target").0.max(1) as f64,
            gain: settings.number("gain"),
        }
    }
}

impl CongestionControl for Ledbat {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let Some(delay) = feedback.one_way_delay.or(feedback.rtt) else { return };
        let queueing = self.waiting.see(feedback.now, delay, path.rtt).0 as f64;
        if feedback.limited == Limited::Recovery {
            return;
        }
        let off_target = (self.target - queueing) / self.target;
        let mut window = self.window;
        if off_target < 0.0 || (feedback.limited.may_grow() && !feedback.is_congested()) {
            window += self.gain * off_target * feedback.acked as f64 / self.window;
        }
        let allowed = feedback.in_flight as f64 + ALLOWED_INCREASE;
        self.window = window.min(allowed).clamp(FLOOR, CEILING);
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.window = match event.cause {
            Cause::Loss | Cause::Mark => halved(self.window),
            Cause::Timeout => AFTER_TIMEOUT,
        };
    }

    fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
        self.window = first_window(event.window);
    }

    fn growth_limit(&self, used: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        Some(Segments(used.0 + self.gain.min(ALLOWED_INCREASE)))
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn wants(&self) -> Wants {
        Wants { one_way_delay: true, ..Wants::NOTHING }
    }

    fn promises(&self) -> Promises {
        Promises::NONE
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if self.waiting.base().is_some() {
            probe.value("queueing_delay", self.waiting.delay().seconds());
        }
    }
}
