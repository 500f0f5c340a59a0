//! Prague: DCTCP made fit for the Internet.
//!
//! K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, "Prague Congestion Control", draft-briscoe-iccrg-prague-congestion-
//! control; what it must do is in K. De Schepper, B. Briscoe, RFC 9331, section 4.3, 2023.
//!
//! DCTCP keeps queues near zero, but it cannot share a link with anything else, and its rate falls with the square of
//! the round trip where queues no longer hide it: a flow of 1 ms would take all from one of 100 ms. Prague is DCTCP with
//! ECT(1) on its data, so that routers can tell it apart (`queue = "dualpi2"`), with pacing, and as unfair between round
//! trips as flows are that all wait in the queues of today:
//!
//! ```text
//!     R_v = max(R, 25 ms)          once a flow is no longer short, `rounds` round trips after slow start; R before
//!     each R_v                     α ← (1 - g) α + g M/N,   M of the N segments acknowledged in it were marked
//!     each acknowledged segment    w ← w + (R/R_v)²/w
//!     a marked segment             w ← w (1 - α/2),         at most once per R_v
//!     a loss                       w ← w/2,                 at most once per window; from two segments to no less than two;
//!                                                           w of before what marks of the last R_v took
//! ```
//!
//! Rates w/R then grow by `1/R_v²` per second and fall by α/2 per `R_v`, which no longer depends on R below 25 ms. In
//! equilibrium two segments of each `R_v` carry a mark, at any rate (RFC 9331, section 4.3: the signals per round trip must
//! not become rare as rates grow). So it is where marks come one by one; behind a step a flow alone has √(2w) of them, all
//! in one of several round trips, as with [DCTCP](super::dctcp): 16 of 129 at 50 Mbit/s and 30 ms.
//!
//! | parameter      | default | source |
//! |----------------|---------|--------|
//! | `g`            | 1/16    | as DCTCP |
//! | `least_rtt`    | 25 ms   | the draft, section 2.4.4 |
//! | `rounds`       | 500     | the draft: round trips before flows of short ones slow down |
//!
//! How the rest of RFC 9331, section 4.3, is met:
//!
//! - *Accurate ECN feedback*: the host counts marks.
//! - *Coexistence under loss*: a loss is answered as by Reno, also where a mark of its window has been answered, by which
//!   it may have lost hardly anything. What the mark took counts towards the half, as in Google's quiche: a window that
//!   meets both falls to half, not to less.
//! - *Losses found by time, not by a number of packets*: is the host's, `recovery = "rack"`; with the others three later
//!   segments show a loss, so reordering within a path costs what it costs Reno.
//! - *Short bursts*: what it sends is paced, at twice the rate in slow start, unless the flow's `pacing` says otherwise.
//! - *Windows below two segments*: the window goes down to 1/16, paced, since the host sends whole segments. There a loss
//!   halves too, and a time-out takes it to one segment only from above.
//!
//! Deviations: an acknowledgment that reports a mark adds nothing, rather than for the segments that had none. A router
//! that marks ECT(1) as it would ECT(0) is not detected, so on a link with classic marks Prague takes from the others
//! (RFC 9331 leaves it to operators). Slow start ends at the first mark, with α = 1: as in the programs of Linux and quiche,
//! α is kept until there is one, since a path without marks says nothing about them. After a loss growth is Reno's, not
//! CUBIC's. Below one segment an acknowledged segment adds `(R/R_v)²`, not 1/w times as much: by the law one acknowledgment
//! would take 1/16 to sixteen segments.
//!
//! Domain: links with `dualpi2` or `step`. Its data paced, a flow needs a queue of hardly more than a segment. Where a
//! segment lasts much longer than the queue that is marked, 1 ms, whatever finds another in front of it has a mark, and a
//! small window finds one nearly always. Of two flows on 256 kbit/s at 40 ms the second may have 0.005 Mbit/s and the first
//! the rest, whichever way a window below one grows; from 512 kbit/s on both have their share.
//!
//! *Round trips below 25 ms* make no difference to the law, where marks come at the same distance, and little behind
//! `dualpi2`: the flows with 5 and 20 ms answer marks every 39 and 43 ms, and share 100 Mbit/s as 44 and 56, and as 87 and 13
//! without `least_rtt`; with a step at 1 ms in place of the ramp, as deployed, as 60 and 40. `R_v` ends with a round trip of
//! the flow, and what one is late the next is shorter.
//!
//! Promised, held in `tests/theory/prague.rs`: two marks per round trip at every rate; rates that do not depend on round trips
//! below 25 ms, at a given distance of marks; windows below one, which neither losses nor time-outs raise. What is left of
//! the second behind `dualpi2`: `crates/sim/tests/queues.rs`.

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span, Time};

use super::dctcp::{MarkedShare, gain};
use crate::bounds::{CEILING, FLOOR, first_window};
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Needs, Pacing,
    Path, Probe, Promises, Ramp, Reaction, Sending, Start, Wants,
};

/// Prague's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("prague", build)
        .title("Prague: DCTCP for the Internet, paced and less dependent on round trips")
        .source("draft-briscoe-iccrg-prague-congestion-control; RFC 9331")
        .family(Family::Marks)
        .parameters([
            gain(),
            Parameter::span(
                "least_rtt",
                "25 ms",
                "round trips below this behave as if they were as long",
            ),
            Parameter::count(
                "rounds",
                500,
                0,
                1_000_000,
                "round trips after slow start before they do",
            ),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Prague::new(settings, start)))
}

/// The least window; below one it is a matter of pacing alone.
const LEAST: f64 = 1.0 / 16.0;

/// One flow under Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    window: f64,
    ramp: Ramp,
    share: MarkedShare,
    /// When the current `R_v` began.
    since: Time,
    /// When marks were last answered, up to what round trips are late.
    answered: Option<Time>,
    /// What a mark took of the window as it is, if one did, and when.
    taken: Option<(f64, Time)>,
    /// Has there been a mark?
    marked: bool,
    /// Round trips in congestion avoidance.
    rounds: u64,
    rtt: Span,

    least_rtt: Span,
    rounds_before: u64,
}

impl Prague {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        Self {
            window: first_window(start.window),
            ramp: Ramp::new(start),
            share: MarkedShare::new(settings.number("g")),
            since: Time::ZERO,
            answered: None,
            taken: None,
            marked: false,
            rounds: 0,
            rtt: start.round_trip.unwrap_or(Span::ZERO),
            least_rtt: settings.span("least_rtt"),
            rounds_before: settings.number("rounds") as u64,
        }
    }

    /// `R_v`
    #[inline]
    fn virtual_rtt(&self, rtt: Span) -> Span {
        if self.rounds < self.rounds_before { rtt } else { rtt.max(self.least_rtt) }
    }

    /// Slow start, which a window that marks took below one segment does not begin again.
    #[inline]
    fn rises(&self) -> bool {
        self.window >= 1.0 && self.ramp.holds(self.window)
    }

    /// Segments that a round trip adds.
    #[inline]
    fn per_round(&self, rtt: Span) -> f64 {
        let rest = self.virtual_rtt(rtt);
        if rest == rtt {
            return 1.0;
        }
        let ratio = rtt.0 as f64 / rest.0 as f64;
        ratio * ratio
    }

    fn fall_to(&mut self, window: f64) {
        self.ramp.leave(window.max(1.0));
        self.window = window.min(self.window);
    }
}

/// The beginning of the next `R_v`, of this `length`: that which `now`, the end of a round trip of `rtt`, is late for, or
/// `now`. Round trips end where they end: what one is late the next is shorter, so that the mean length is right. But what
/// a round trip and more has passed since is not late; there was nothing to end it.
fn next(since: Time, length: Span, rtt: Span, now: Time) -> Time {
    let due = Time(since.0.saturating_add(length.0));
    if due <= now && now.since(due) < rtt { due } else { now }
}

impl CongestionControl for Prague {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        self.rtt = path.rtt;
        self.share.count(feedback);
        self.marked |= feedback.marked > 0;
        if feedback.round_starts {
            self.rounds += u64::from(!self.rises());
            let length = self.virtual_rtt(path.rtt);
            if feedback.now.since(self.since) >= length {
                if self.marked {
                    self.share.end_round();
                } else {
                    self.share.forget_round();
                }
                self.since = next(self.since, length, path.rtt, feedback.now);
            }
        }
        if feedback.is_congested() {
            return;
        }
        if self.ramp.watches() {
            self.ramp.watch(feedback, self.window);
        }
        if !feedback.limited.may_grow() {
            return;
        }
        let mut acked = feedback.acked;
        while acked > 0 && self.rises() {
            self.window = self.ramp.rise(self.window, 1.0);
            acked -= 1;
        }
        if acked > 0 {
            let step = self.per_round(path.rtt);
            for _ in 0..acked {
                self.window = (self.window + step / self.window.max(1.0)).min(CEILING);
            }
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        match event.cause {
            Cause::Mark => {
                let (now, rtt, length) = (event.now, path.rtt, self.virtual_rtt(path.rtt));
                // More than once per round trip no host tells of marks, whatever the smoothed one is.
                let due = |then| length == rtt || now.since(then) >= length;
                if self.answered.is_none_or(due) {
                    let from = self.answered.map_or(now, |then| next(then, length, rtt, now));
                    self.answered = Some(from);
                    let before = self.window;
                    self.fall_to((before * (1.0 - self.share.alpha / 2.0)).max(LEAST));
                    self.taken = Some((before - self.window, now));
                }
            }
            Cause::Loss => {
                let length = self.virtual_rtt(path.rtt);
                let recent = self.taken.take().filter(|&(_, then)| event.now.since(then) < length);
                let before = self.window + recent.map_or(0.0, |(taken, _)| taken);
                let least = if self.window < FLOOR { LEAST } else { FLOOR };
                self.fall_to((before / 2.0).max(least));
            }
            Cause::Timeout => {
                self.window = self.ramp.time_out(event).min(self.window);
                self.taken = None;
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.trim(event, path);
        self.taken = None;
    }

    fn trim(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
    }

    fn growth_limit(&self, used: Segments, _: &Feedback, path: &Path) -> Option<Segments> {
        let used = used.0;
        Some(Segments(if self.rises() {
            self.ramp.after_round(used, 1.0)
        } else {
            used + self.per_round(path.rtt)
        }))
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window.max(1.0))
    }

    fn pacing(&self) -> Pacing {
        if self.rises() {
            Pacing::Spread { gain: 2.0 }
        } else if self.window < 1.0 && self.rtt > Span::ZERO {
            Pacing::Rate(self.window / self.rtt.seconds())
        } else {
            Pacing::Spread { gain: 1.0 }
        }
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn wants(&self) -> Wants {
        Wants { pacing: true, ..Wants::NOTHING }
    }

    fn needs(&self) -> Needs {
        Needs { ecn: true, accurate_ecn: true, ect1: true, ..Needs::NONE }
    }

    fn reaction(&self) -> Reaction {
        Reaction::LossesApart
    }

    fn promises(&self) -> Promises {
        Promises { any_batching: false, ..Promises::LAW }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("alpha", self.share.alpha);
        probe.value("fraction", self.window);
    }
}
