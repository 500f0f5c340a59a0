//! DCTCP: gives up half of the share of its segments that were marked.
//!
//! M. Alizadeh, A. Greenberg, D. A. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta, M. Sridharan, "Data Center TCP
//! (DCTCP)", SIGCOMM 2010; S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert, G. Judd, RFC 8257, 2017.
//!
//! A mark of RFC 3168 says that there is congestion, not how much, so a sender must expect the worst and halve. If
//! switches mark every packet behind a short queue (`queue = "step"`) and receivers report every mark, the share of
//! marked segments measures how far the flows exceed the link, round trip by round trip:
//!
//! ```text
//!     each round trip              α ← (1 - g) α + g M/N,   M of the N segments acknowledged in it were marked
//!     each acknowledged segment    w ← w + 1/w
//!     a marked segment             w ← w (1 - α/2),         at most once per window
//!     a loss                       w ← w/2,                 at most once per window, after a mark of it too
//! ```
//!
//! With few marks the window hardly moves and the queue stays short; if everything is marked the flow is Reno. Where marks
//! come one by one, the segment that a round trip adds is what α/2 takes, so w = 2/α: two marks per round trip whatever the
//! rate, where Reno needs w = 1.2/√p.
//!
//! Behind a step they come all at once. The windows of N flows that reach it together, w = (C·RTT + K)/N each, grow by one
//! more segment, and all of that round trip is marked; after that none are until the windows are back. A share of about one
//! in α w/2 round trips is α, so α = √(2/w), which is √(2w) marks per round trip, and the queue goes from K + N down by
//! N √(w/2) = ½ √(2N (C·RTT + K)). That is the analysis of the paper of 2010, and holds as long as the queue does not empty.
//!
//! | parameter | default | source |
//! |-----------|---------|--------|
//! | `g`       | 1/16    | RFC 8257, section 4.2 |
//!
//! How the rest of the RFC is met:
//!
//! - The host counts marks with Accurate ECN (`ecn_feedback = "accurate"`, the default for it), which makes the state
//!   machine of section 3.2 unnecessary.
//! - α begins at 1 (section 3.3), so that a mark of the first round trip halves; it falls from then on, marks or not.
//! - Losses and time-outs are answered as RFC 5681 does (section 3.5), and leave α alone. A mark takes hardly anything
//!   where there are few, so it does not stand for the losses of its window.
//!
//! Deviations: shares are of segments, not of bytes, which are the same here. An acknowledgment that reports a mark adds
//! nothing.
//!
//! Domain: links of one operator whose switches mark early, round trips of microseconds to milliseconds. On a link that
//! marks for Reno (RED, PI) the share is small, and it takes from flows that halve: RFC 8257, section 5.
//!
//! Promised, held in `tests/theory/dctcp.rs`: w = 2/p; the gain of α; Reno if everything is marked. The marks and the queue
//! behind a step: `crates/sim/tests/queues.rs`.

use longfat_units::Segments;
use longfat_units::parameter::{Parameter, Settings};

use crate::bounds::{CEILING, FLOOR, first_window};
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Needs, Path,
    Probe, Promises, Ramp, Reaction, Sending, Start,
};

/// DCTCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("dctcp", build)
        .title("DCTCP: gives up half of the share of its segments that were marked")
        .source("Alizadeh et al., SIGCOMM 2010; RFC 8257")
        .family(Family::Marks)
        .parameters([gain()])
}

/// The parameter that DCTCP and its descendants share.
pub(super) fn gain() -> Parameter {
    Parameter::number("g", 0.0625, 1e-6, 1.0, "weight of the last round trip in the share of marks")
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Dctcp::new(settings, start)))
}

/// The share of segments that are marked: α.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkedShare {
    pub(super) alpha: f64,
    gain: f64,
    delivered: u64,
    marked: u64,
}

impl MarkedShare {
    pub(super) fn new(gain: f64) -> Self {
        Self { alpha: 1.0, gain, delivered: 0, marked: 0 }
    }

    /// Counts what an acknowledgment reports.
    #[inline]
    pub(super) fn count(&mut self, feedback: &Feedback) {
        self.delivered += feedback.delivered();
        self.marked += feedback.marked;
    }

    /// A round trip is over.
    pub(super) fn end_round(&mut self) {
        if self.delivered > 0 {
            let share = (self.marked as f64 / self.delivered as f64).min(1.0);
            self.alpha += self.gain * (share - self.alpha);
        }
        self.forget_round();
    }

    /// A round trip is over that is to leave α alone.
    pub(super) fn forget_round(&mut self) {
        (self.delivered, self.marked) = (0, 0);
    }
}

/// One flow under DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: f64,
    ramp: Ramp,
    share: MarkedShare,
}

impl Dctcp {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        Self {
            window: first_window(start.window),
            ramp: Ramp::new(start),
            share: MarkedShare::new(settings.number("g")),
        }
    }

    fn fall_to(&mut self, window: f64) {
        let reduced = window.max(FLOOR);
        self.ramp.leave(reduced);
        self.window = reduced.min(self.window);
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, _: &Path) {
        self.share.count(feedback);
        if feedback.round_starts {
            self.share.end_round();
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
            self.window = (self.window + 1.0 / self.window).min(CEILING);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        match event.cause {
            Cause::Mark => self.fall_to(self.window * (1.0 - self.share.alpha / 2.0)),
            Cause::Loss => self.fall_to(self.window / 2.0),
            Cause::Timeout => {
                self.window = self.ramp.time_out(event);
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn needs(&self) -> Needs {
        Needs { ecn: true, accurate_ecn: true, ..Needs::NONE }
    }

    fn reaction(&self) -> Reaction {
        Reaction::LossesApart
    }

    fn promises(&self) -> Promises {
        Promises::LAW
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("alpha", self.share.alpha);
    }
}
