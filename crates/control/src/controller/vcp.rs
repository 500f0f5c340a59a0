//! VCP: two bits of load, and one of three laws for each.
//!
//! Y. Xia, L. Subramanian, I. Stoica, S. Kalyanaraman, "One More Bit Is Enough", SIGCOMM 2005; also IEEE/ACM
//! Transactions on Networking 16(6), 2008.
//!
//! # The problem
//!
//! XCP needs headers that IP does not have. VCP, the Variable-structure congestion Control Protocol, comes close to it
//! with the two bits that IP does have, those of ECN: enough to tell a link that is far from full from one that is
//! nearly full, and both from one that is overloaded.
//!
//! # The law
//!
//! The routers (the queue `vcp`) measure their load factor over every `t_ρ`; what comes back is the class of the most
//! loaded one.
//!
//! ```text
//!     low load, below 80 %        multiplicative increase    w ← w (1 + ξ)    per t_ρ
//!     high load, 80 to 100 %      additive increase          w ← w + α        per t_ρ
//!     overload, 100 % and more    multiplicative decrease    w ← β w          once
//!
//!     ξ = κ (1 - ρ̂)/ρ̂ = 0.0625,  ρ̂ = 80 %
//! ```
//!
//! A router needs `t_ρ` until its load factor shows what a decrease has done. So after a decrease the window is frozen
//! for `t_ρ`, then grows additively for a round trip, until feedback from after the freeze is there; only then does the
//! flow heed the routers again.
//!
//! Flows whose round trip is not `t_ρ` scale their parameters: a window that is to grow by 1 + ξ in every `t_ρ` grows
//! by (1 + ξ)^(rtt/`t_ρ`) per round trip, and for *rates*, rather than windows, to grow alike, the additive step is α
//! (rtt/`t_ρ`)². So flows with different round trips get the same rate:
//!
//! ```text
//!     each acknowledged segment    w ← w + (1 + ξ)^(rtt/t_ρ) - 1    at low load
//!                                  w ← w + α (rtt/t_ρ)²/w           at high load
//! ```
//!
//! There is no slow start: multiplicative increase takes its place.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `kappa` | κ | 0.25 | 2005: for stability |
//! | `alpha` | α | 1 | 2005 |
//! | `beta` | β | 0.875 | 2005 |
//! | `interval` | `t_ρ` | 200 ms | 2005: the same in all routers and hosts |
//!
//! All four, the thresholds of 80 and 100 %, ξ and its power of rtt/`t_ρ` were checked against the authors' program for
//! ns-2 (`vcp-src`, `vcp-cmn`); the text of the paper was not at hand.
//!
//! # Domain
//!
//! Paths whose bottlenecks all have the queue `vcp`, with the same `t_ρ`; one such queue is required. Convergence to
//! equal rates takes tens of seconds and more, much longer than XCP's. So does finding capacity: a window grows tenfold in
//! 8 s, also after a time-out has taken it to one segment, which paths with many losses do not leave it.
//!
//! Round trips of up to one and a half `t_ρ`, or longer ones where data is spread (`pacing = "spread"`). A window that comes
//! in one burst per round trip is load in one interval and none in the next: beside flows with 25, 150 and 200 ms one with
//! 400 ms takes 13 of 20 Mbit/s and leaves them 0.4 to 0.8. With 300 ms each has 3.4 to 5.9, and spread 4.4 to 4.8 with
//! either.
//!
//! Traffic both ways. Bursts of acknowledgments that have waited behind data hide the load from routers, as under
//! [XCP](super::xcp), and lead to queues. At 150 Mbit/s and 80 ms with packets of 1000 bytes 50 flows each way that start
//! over 10 s use 90 to 93 %, between the edges of the sawtooth, 85.75 and 98 %, and lose nothing, with a queue of 4 to 17
//! % of the buffer; one way it is 0.02 %. Ten use 85 %, and 2, 10 and 50 that all start at once 73, 74 and 74 % (Reno: 75,
//! 76 and 85 %). With `pacing = "spread"` they use 87, 92 and 93 % with hardly a queue.
//!
//! # Deviations
//!
//! * The two bits travel in a header of their own, beside the ECN field, which stays as RFC 3168 has it.
//! * The exponent is worked out once per round trip. It has a bound, so that a window at most doubles in one; that of
//!   the authors' program is 2.5.
//! * The additive step is α where the round trip is `t_ρ`; in the authors' program it is α at 100 ms, which `alpha = 4`
//!   is here. That program freezes the window only while routers report overload.
//! * A loss halves the window and a time-out takes it to one segment, as the paper leaves it to TCP.
//!
//! # What the paper promises
//!
//! * The steps above (the tests below).
//! * A nearly full link, hardly a queue, no drops: with many flows, or with few and the step and the aim (`gamma =
//!   "auto"` of the queue) of the authors' program; equal rates over different round trips; the sawtooth both ways
//!   (`crates/sim/tests/explicit.rs`).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{RouterHeader, Segments, Span, Time, math};

use crate::bounds::{AFTER_TIMEOUT, CEILING, first_window, halved};
use crate::registry::above_zero;
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Needs, Path,
    Probe, Sending, Start, Wants,
};

/// VCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("vcp", |settings, start| Sending::Windowed(Box::new(Vcp::new(settings, start))))
        .title(
            "VCP: two bits from routers choose between three laws; with the queue of the same name",
        )
        .source("Xia, Subramanian, Stoica & Kalyanaraman, SIGCOMM 2005")
        .family(Family::Routers)
        .parameters([
            Parameter::number("kappa", 0.25, 0.0, 1.0, "how fast the window grows at low load"),
            Parameter::number(
                "alpha",
                1.0,
                0.0,
                1000.0,
                "segments added per interval at high load",
            ),
            Parameter::number(
                "beta",
                0.875,
                0.01,
                1.0,
                "share of the window that an overload leaves",
            ),
            Parameter::span(
                "interval",
                "200 ms",
                "time over which routers measure their load (t_rho)",
            ),
        ])
        .check(above_zero("interval"))
}

/// ρ̂: the load factor below which routers report low load.
const LOW_LOAD: f64 = 0.8;

/// What routers report, as the code of the header.
mod load {
    pub(super) const LOW: u8 = 1;
    pub(super) const OVERLOAD: u8 = 3;
}

/// One flow under VCP.
#[derive(Clone, Copy, Debug)]
pub struct Vcp {
    window: f64,
    /// Per acknowledged segment at low load.
    multiplicative: f64,
    /// Per window of acknowledged segments at high load.
    additive: f64,
    /// Until when the window stays as it is, and until when it then grows additively.
    frozen_until: Time,
    deaf_until: Time,

    /// ξ
    xi: f64,
    alpha: f64,
    beta: f64,
    /// `t_ρ`
    interval: Span,
}

impl Vcp {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let mut flow = Self {
            window: first_window(start.window),
            multiplicative: 0.0,
            additive: 0.0,
            frozen_until: Time::ZERO,
            deaf_until: Time::ZERO,
            xi: settings.number("kappa") * (1.0 - LOW_LOAD) / LOW_LOAD,
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            interval: settings.span("interval").max(Span(1)),
        };
        flow.scale(start.round_trip.unwrap_or(flow.interval));
        flow
    }

    /// Scales the steps to a round trip.
    fn scale(&mut self, rtt: Span) {
        let intervals = rtt.seconds() / self.interval.seconds();
        self.multiplicative = (math::pow(1.0 + self.xi, intervals) - 1.0).min(1.0);
        self.additive = self.alpha * intervals * intervals;
    }

    fn decrease(&mut self, now: Time, path: &Path) {
        self.window = (self.window * self.beta).max(1.0);
        self.frozen_until = now.saturating_add(self.interval);
        self.deaf_until = self.frozen_until.saturating_add(path.rtt);
    }
}

impl CongestionControl for Vcp {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        if feedback.round_starts {
            self.scale(path.rtt);
        }
        let now = feedback.now;
        if now < self.frozen_until {
            return;
        }
        let Some(RouterHeader { code, .. }) = feedback.router else { return };
        let hears = now >= self.deaf_until;
        if hears && code >= load::OVERLOAD {
            return self.decrease(now, path);
        }
        if feedback.is_congested() || !feedback.limited.may_grow() {
            return;
        }
        let acked = feedback.acked as f64;
        let gain = if hears && code <= load::LOW {
            self.multiplicative
        } else {
            (self.additive / self.window).min(1.0)
        };
        self.window = (self.window + gain * acked).min(CEILING);
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

    fn growth_limit(&self, used: Segments, feedback: &Feedback, _: &Path) -> Option<Segments> {
        let used = used.0;
        let additive = used + self.additive.min(used);
        let low = feedback.router.is_some_and(|RouterHeader { code, .. }| code <= load::LOW);
        let multiplies = low && feedback.now >= self.deaf_until;
        Some(Segments(if multiplies { used + used * self.multiplicative } else { additive }))
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    #[inline]
    fn router_header(&self, _: &Path) -> RouterHeader {
        RouterHeader { window: Segments(self.window), ..RouterHeader::default() }
    }

    fn wants(&self) -> Wants {
        Wants { router_header: true, ..Wants::NOTHING }
    }

    fn needs(&self) -> Needs {
        Needs { queue: Some("vcp"), ..Needs::NONE }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("additive_step", self.additive);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vcp(window: f64) -> Vcp {
        let start = Start { window: Segments(window), ..Start::default() };
        Vcp::new(&controller().defaults(), &start)
    }

    /// One acknowledgment of `acked` segments at so many milliseconds; the window afterwards.
    fn told(control: &mut Vcp, millis: u64, rtt: u64, acked: u64, code: u8) -> f64 {
        let rtt = Span::from_millis(rtt);
        let router = Some(RouterHeader { code, ..RouterHeader::default() });
        let now = Time::ZERO + Span::from_millis(millis);
        let feedback = Feedback { router, round_starts: true, ..Feedback::at(now, acked) };
        control.on_feedback(&feedback, &Path { rtt, base_rtt: rtt });
        control.window
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
    }

    /// A window of acknowledgments at low load multiplies it by 1 + ξ = 1.0625 at 200 ms, by its root at 100 ms and by
    /// its square at 400; at high load it adds 1, 1/4 and 4 segments.
    #[test]
    fn steps_are_scaled_to_the_round_trip() {
        for (rtt, low, high) in
            [(200, 106.25, 1.0), (100, 103.077_640_640_4, 0.25), (400, 112.890_625, 4.0)]
        {
            close(told(&mut vcp(100.0), 1, rtt, 100, 1), low);
            close(told(&mut vcp(100.0), 1, rtt, 100, 2), 100.0 + high);
        }
    }

    /// β once, then frozen for `t_ρ` = 200 ms, then additive for a round trip whatever the routers say, and then as
    /// they say.
    #[test]
    fn an_overload_is_answered_once() {
        let mut control = vcp(160.0);
        let steps = [
            (1000, 3, 140.0),
            (1001, 3, 140.0),
            (1100, 1, 140.0),
            (1199, 3, 140.0),
            (1200, 3, 141.0),
            (1399, 3, 142.0),
            (1400, 3, 142.0 * 0.875),
        ];
        for (millis, code, window) in steps {
            let acked = control.window as u64;
            let found = told(&mut control, millis, 200, acked, code);
            assert!((found - window).abs() < 0.01, "{found} at {millis} ms, not {window}");
        }
    }

    /// In the round trip after a freeze low load adds a segment, too: what it says is of the time before. A segment of a
    /// window never adds more than one, and no window falls below one.
    #[test]
    fn low_load_is_not_heard_in_the_round_trip_after_a_freeze() {
        let mut control = vcp(160.0);
        close(told(&mut control, 1000, 200, 160, 3), 140.0);
        close(told(&mut control, 1200, 200, 140, 1), 141.0);
        close(told(&mut control, 1400, 200, 141, 1), 141.0 * 1.0625);
        // At 2 s α is (2/0.2)² = 100 segments, and 1.0625^10 - 1 less than one.
        close(told(&mut vcp(10.0), 1, 2000, 1, 2), 11.0);
        close(told(&mut vcp(10.0), 1, 10_000, 1, 1), 11.0);
        close(told(&mut vcp(1.0), 1, 200, 1, 3), 1.0);
    }

    /// Of 100 segments in flight a round makes what it makes of a window of 100: at low load 106.25, at high load 101; also
    /// at low load where that is not heard.
    #[test]
    fn growth_ends_where_a_round_does() {
        let limit = |control: &Vcp, code| {
            let path = Path { rtt: Span::from_millis(200), base_rtt: Span::from_millis(200) };
            let router = Some(RouterHeader { code, ..RouterHeader::default() });
            let now = Time::ZERO + Span::from_millis(1200);
            let feedback = Feedback { router, ..Feedback::at(now, 1) };
            control.growth_limit(Segments(100.0), &feedback, &path).expect("it has one").0
        };
        let mut control = vcp(160.0);
        close(limit(&control, 1), 106.25);
        close(limit(&control, 2), 101.0);
        told(&mut control, 1000, 200, 160, 3);
        close(limit(&control, 1), 101.0);
    }

    /// An acknowledgment that begins a recovery, or reports a mark, adds nothing, whatever the load.
    #[test]
    fn no_window_grows_on_congestion() {
        let router = Some(RouterHeader { code: load::LOW, ..RouterHeader::default() });
        let ten = Feedback { router, ..Feedback::at(Time::ZERO, 10) };
        let rtt = Span::from_millis(200);
        for (feedback, window) in [
            (ten, 10.625),
            (Feedback { recovery_begins: true, ..ten }, 10.0),
            (Feedback { marked: 1, ..ten }, 10.0),
        ] {
            let mut control = vcp(10.0);
            control.on_feedback(&feedback, &Path { rtt, base_rtt: rtt });
            close(control.window, window);
        }
    }
}
