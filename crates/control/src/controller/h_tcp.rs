//! H-TCP: adds more the longer the last loss is ago.
//!
//! D. Leith, R. Shorten, "H-TCP: TCP for High-Speed and Long-Distance Networks", PFLDnet 2004; D. Leith, "H-TCP: TCP
//! Congestion Control for High Bandwidth-Delay Product Paths", draft-leith-tcp-htcp-06, 2008.
//!
//! HSTCP and STCP judge by the window how much to add, and so favour flows that already have a large one: new flows
//! take long to get their share. H-TCP judges by the time Δ since the last congestion event, which all flows of a
//! bottleneck share when they lose together, whatever their windows:
//!
//! ```text
//!     f(Δ) = 1                                          Δ ≤ Δ_L
//!     f(Δ) = 1 + 10 (Δ - Δ_L) + c (Δ - Δ_L)²            Δ > Δ_L,  in seconds
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
//! | parameter          | default | source                                                                     |
//! |--------------------|---------|----------------------------------------------------------------------------|
//! | `delta_l`          | 1 s     | draft, section 3: `Δ_L`, which must be at least that                         |
//! | `square`           | 1/4     | c, as in 2004, Linux and ns-3: half the time, squared; the draft, (1), has 1/2 |
//! | `delta_b`          | 0.2     | 2004, Linux and ns-3: `Δ_B`                                                  |
//! | `beta_max`         | 0.8     | 2004 and Linux: upper bound of β                                           |
//! | `adaptive_backoff` | true    | 2004, Linux and ns-3: β follows the round trips; the draft leaves β at 1/2 |
//!
//! What is called H-TCP is the algorithm of 2004, which Linux and ns-3 have. The draft is about the increase alone: it
//! leaves back-off as it is, with `adaptive_backoff = false` and `square = 0.5` here. Its table of recovery times does not
//! follow from its formula, whichever square is meant: a window of 1000 segments at 100 ms is back after 3.96 s with c = 1/4
//! and 3.90 s with 1/2, where the table has 3.1 (`a_window_of_1000_is_back_after_4_seconds`). The paper of 2004 was not at
//! hand; what it has is taken from Linux and ns-3, which name it.
//!
//! Decided here:
//!
//! - *Before the first event* Δ counts from the end of slow start, or a flow that leaves it without a loss would stay
//!   Reno; and β is 1/2, as there is no throughput to compare with.
//! - *B* is the window over the smoothed round trip when the loss is noticed: it needs no measurement of its own.
//! - *Round-trip scaling*, which the draft allows (section 5) and Linux does, is left out: two flows of different round
//!   trips share as Reno's do.
//! - A segment never adds more than one.
//!
//! Domain: any window. Needs nothing beyond acknowledgments with round trips. In the fluid model and under `anti-ecn`
//! it is a law: `RTT_max` is the present round trip and B never changes; before the first event it is Reno.
//!
//! Promised by paper and draft, held in `tests/theory/h_tcp.rs`: f(Δ); adaptive back-off; convergence of synchronised flows
//! in a few losses; the mean window that follows from f.

use longfat_units::parameter::{Parameter, Refusal, Settings};
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
        .source("Leith & Shorten 2004; draft-leith-tcp-htcp-06")
        .parameters([
            Parameter::span("delta_l", "1 s", "Reno up to this time after a congestion event"),
            Parameter::number(
                "square",
                0.25,
                0.0,
                10.0,
                "weight of the square of the time beyond, in seconds; the draft has 0.5",
            ),
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
        .check(check)
}

/// The draft, section 3: `Δ_L` MUST be at least a second.
const SHORTEST_DELTA_L: Span = Span::from_seconds(1);

fn check(settings: &Settings) -> Result<(), Refusal> {
    let delta_l = settings.span("delta_l");
    if delta_l < SHORTEST_DELTA_L {
        let reason = format!(
            "`delta_l` must be at least {SHORTEST_DELTA_L} (draft-leith-tcp-htcp-06), but it is {delta_l}"
        );
        return Err(("delta_l".into(), reason));
    }
    Ok(())
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Remembered::boxed(HTcpRule::new(settings), start)
}

/// The share kept without adaptive back-off, and the least with it.
const HALF: f64 = 0.5;

/// The formulas.
#[derive(Clone, Copy, Debug)]
pub struct HTcp {
    delta_l: Span,
    square: f64,
    delta_b: f64,
    beta_max: f64,
    adaptive: bool,
}

impl HTcp {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        Self {
            delta_l: settings.span("delta_l"),
            square: settings.number("square"),
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
        1.0 + 10.0 * beyond + self.square * beyond * beyond
    }

    /// β.
    fn kept(&self, smallest: Span, largest: Span) -> f64 {
        if !self.adaptive {
            return HALF;
        }
        // Before the first sample the smallest round trip is as large as can be.
        (smallest.seconds() / largest.seconds()).max(HALF).min(self.beta_max)
    }

    /// β of a law, whose largest round trip is the present one. As long as nothing has been lost there is no throughput to
    /// compare with.
    fn kept_at(&self, at: &Operating) -> f64 {
        if at.since_event.is_none() { HALF } else { self.kept(at.base_rtt, at.rtt) }
    }

    fn step(&self, window: f64, since: Span, kept: f64) -> f64 {
        (2.0 * (1.0 - kept) * self.increase(since) / window).min(1.0)
    }
}

impl WindowLaw for HTcp {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let since = at.since_event.unwrap_or(Span::ZERO);
        self.step(at.window.0, since, self.kept_at(at))
    }

    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        match at.phase {
            Phase::SlowStart => HALF,
            Phase::CongestionAvoidance => 1.0 - self.kept_at(at),
        }
    }
}

/// The same with what it remembers.
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

    fn pause(&mut self, length: Span) {
        if let Some(since) = &mut self.since {
            *since += length;
        }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("beta", self.kept);
    }
}
