//! H-TCP: adds more the longer the last loss is ago.
//!
//! D. Leith, "H-TCP: TCP Congestion Control for High Bandwidth-Delay Product Paths", draft-leith-tcp-htcp-06, 2008;
//! after D. Leith, R. Shorten, "H-TCP: TCP for High-Speed and Long-Distance Networks", PFLDnet 2004.
//!
//! HSTCP and STCP judge by the window how much to add, and so favour flows that already have a large one: new flows
//! take long to get their share. H-TCP judges by the time Δ since the last congestion event, which all flows of a
//! bottleneck share when they lose together, whatever their windows:
//!
//! ```text
//!     f(Δ) = 1                                          Δ ≤ Δ_L
//!     f(Δ) = 1 + 10 (Δ - Δ_L) + ((Δ - Δ_L)/2)²          Δ > Δ_L,  in seconds
//!     each acknowledged segment    w ← w + 2 (1 - β) f(Δ)/w
//!     each congestion event        w ← β w,  β = RTT_min/RTT_max in [0.5, 0.8]
//!                                  β = 0.5 if |B(k) - B(k-1)| > Δ_B B(k-1)
//! ```
//!
//! Where losses come within a second it is Reno. β is what is *kept*: as much as leaves the queue just empty, the ratio
//! of the smallest round trip to the largest since the last event (adaptive back-off), unless the throughput B at the
//! event differs by a fifth from that at the one before. The factor 2 (1 - β) keeps the mean window what it would be
//! with β = 1/2.
//!
//! | parameter          | default | source                                               |
//! |--------------------|---------|------------------------------------------------------|
//! | `delta_l`          | 1 s     | draft, section 2: `Δ_L`                                |
//! | `delta_b`          | 0.2     | `Δ_B`                                                  |
//! | `beta_max`         | 0.8     | upper bound of β                                     |
//! | `adaptive_backoff` | true    | β follows the round trips; false: 1/2                |
//!
//! The draft's table of recovery times does not follow from its formula: with β = 1/2 a window of 1000 segments at
//! 100 ms is back after 3.96 s, where the table has 3.1 (`a_window_of_1000_is_back_after_4_seconds`).
//!
//! Decided here:
//!
//! - *Before the first event* Δ counts from the end of slow start, or a flow that leaves it without a loss would stay
//!   Reno; and β is 1/2, as there is no throughput to compare with.
//! - *B* is the window over the smoothed round trip when the loss is noticed: it needs no measurement of its own.
//! - *Round-trip scaling* of the paper of 2004 is left out: two flows of different round trips share as Reno's do.
//! - A segment never adds more than one.
//!
//! Domain: any window. Needs nothing beyond acknowledgments with round trips. In the fluid model and under `anti-ecn`
//! it is a law: `RTT_max` is the present round trip and B never changes; before the first event it is Reno.
//!
//! Promised by the draft, held in `tests/theory/h_tcp.rs`: f(Δ); adaptive back-off; convergence of synchronised flows
//! in a few losses; the mean window that follows from f.

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Span, Time};

use crate::{
    Cause, Congestion, Controller, Feedback, Operating, Path, Phase, Probe, Remembered, Sending,
    Start, WindowLaw, WindowRule,
};

/// H-TCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("h-tcp", build)
        .law(|settings| Box::new(HTcp::new(settings)))
        .title("H-TCP: adds more the longer the last loss is ago")
        .source("draft-leith-tcp-htcp-06")
        .parameters([
            Parameter::span("delta_l", "1 s", "Reno up to this time after a congestion event"),
            Parameter::number(
                "delta_b",
                0.2,
                0.0,
                1.0,
                "change of throughput that asks for a half",
            ),
            Parameter::number("beta_max", 0.8, 0.5, 0.99, "largest share of the window kept"),
            Parameter::flag(
                "adaptive_backoff",
                true,
                "keep RTT_min/RTT_max of the window, not half",
            ),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Remembered::boxed(HTcpRule::new(settings), start)
}

/// The share kept without adaptive back-off, and the least with it.
const HALF: f64 = 0.5;

/// The formulas of the draft.
#[derive(Clone, Copy, Debug)]
pub struct HTcp {
    delta_l: Span,
    delta_b: f64,
    beta_max: f64,
    adaptive: bool,
}

impl HTcp {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        Self {
            delta_l: settings.span("delta_l"),
            delta_b: settings.number("delta_b"),
            beta_max: settings.number("beta_max"),
            adaptive: settings.flag("adaptive_backoff"),
        }
    }

    /// f(Δ).
    fn increase(&self, since: Span) -> f64 {
        if since <= self.delta_l {
            return 1.0;
        }
        let beyond = (since - self.delta_l).seconds();
        1.0 + 10.0 * beyond + 0.25 * beyond * beyond
    }

    /// β.
    fn kept(&self, smallest: Span, largest: Span) -> f64 {
        if !self.adaptive {
            return HALF;
        }
        // Before the first sample the smallest round trip is as large as can be.
        (smallest.seconds() / largest.seconds()).max(HALF).min(self.beta_max)
    }

    fn step(&self, window: f64, since: Span, kept: f64) -> f64 {
        (2.0 * (1.0 - kept) * self.increase(since) / window).min(1.0)
    }
}

impl WindowLaw for HTcp {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let since = at.since_event.unwrap_or(Span::ZERO);
        self.step(at.window.0, since, self.kept(at.base_rtt, at.rtt))
    }

    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        match at.phase {
            Phase::SlowStart => HALF,
            Phase::CongestionAvoidance => 1.0 - self.kept(at.base_rtt, at.rtt),
        }
    }
}

/// The same with what the draft remembers.
#[derive(Clone, Debug)]
struct HTcpRule {
    law: HTcp,
    /// The last congestion event, or the end of the first slow start.
    since: Option<Time>,
    /// β of the last event.
    kept: f64,
    /// `RTT_max`, since the last event.
    largest_rtt: Option<Span>,
    /// B(k), in segments per second.
    throughput: Option<f64>,
}

impl HTcpRule {
    fn new(settings: &Settings) -> Self {
        let law = HTcp::new(settings);
        Self { law, since: None, kept: HALF, largest_rtt: None, throughput: None }
    }
}

impl WindowRule for HTcpRule {
    #[inline]
    fn hear(&mut self, window: f64, feedback: &Feedback, _: &Path) -> f64 {
        self.largest_rtt = self.largest_rtt.max(feedback.rtt);
        window
    }

    #[inline]
    fn gain(&mut self, window: f64, now: Time, _: &Path) -> f64 {
        let since = *self.since.get_or_insert(now);
        self.law.step(window, now.since(since), self.kept)
    }

    fn reduce(&mut self, window: f64, _: Phase, event: &Congestion, path: &Path) -> f64 {
        let throughput = window / path.rtt.seconds();
        let steady = self
            .throughput
            .is_some_and(|before| (throughput - before).abs() <= self.law.delta_b * before);
        let largest = self.largest_rtt.unwrap_or(path.rtt);
        self.kept = if steady { self.law.kept(path.base_rtt, largest) } else { HALF };
        self.throughput = Some(throughput);
        self.largest_rtt = None;
        self.since = Some(event.now);
        self.kept * window
    }

    fn restart(&mut self, now: Time) {
        self.since = Some(now);
        self.kept = HALF;
        self.largest_rtt = None;
        self.throughput = None;
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("beta", self.kept);
    }
}
