//! MulTCP: one flow that behaves as n would.
//!
//! J. Crowcroft, P. Oechslin, "Differentiated End-to-End Internet Services using a Weighted Proportional Fair Sharing
//! TCP", ACM SIGCOMM Computer Communication Review 28(3), 1998.
//!
//! Whoever wants more than a flow's share opens several, as PSockets does (H. Sivakumar, S. Bailey, R. L. Grossman, SC
//! 2000): n Reno flows add n segments per round trip between them, and a loss halves only one of them. `MulTCP` has one
//! flow do the same, n being its weight, so a sender can be given any share, and no port is used up:
//!
//! ```text
//!     each acknowledged segment    w ← w + n/w
//!     each congestion event        w ← w (1 - 1/(2n))
//!     slow start                   w ← w + 2, so three segments for each one, up to w = 3^k = n 2^k; then w ← w + 1
//! ```
//!
//! n flows that begin with one segment each have n 2^k of them after k round trips; one that triples catches up with
//! them where k = ln n/ln 1.5. With losses evenly spaced the mean window is n √(2 - 1/(2n))/√p.
//!
//! | parameter | default | source                     |
//! |-----------|---------|----------------------------|
//! | `n`       | 2       | free: how many flows it is |
//!
//! How it differs from n real flows, the group `{ control = "reno", count = n }` of a scenario
//! (`scenarios/parallel.toml`; held in `crates/sim/tests/parallel.rs`):
//!
//! - *The same losses cost it less.* Flows that lose at random are not equally large, and the large ones lose more
//!   often; n even shares lose 1/(2n) of the sum each time. So it gets √(2 - 1/(2n))/√(3/2), 15 % more than n flows for
//!   large n.
//! - *One event per round trip.* Losses of one window are one sign of congestion, so a burst that hits several of n
//!   flows costs the bundle several halves and `MulTCP` one.
//! - *A time-out stops all of it.* n flows go on with n - 1.
//! - *Where all lose together it takes n² shares, not n.* Behind drop tail a full queue is felt by every flow of two or
//!   three. In T round trips from one loss to the next `MulTCP` adds n T segments and gives up 1/(2n) of its window, so that
//!   it comes to 2n² T, 3/4 and 1 - 1/(4n) of which are the means beside Reno's 2T: n² (4 - 1/n)/3 times as much, 4.7, 11
//!   and 32 for n = 2, 3 and 5, where as many flows of Reno would get n times as much. Queues that choose whom they mark
//!   or drop bring it near n: with PIE and CoDel 1.0 to 1.1 n come out on 100 Mbit/s, with RED 1.2 to 1.7 n.
//!
//! Decided here: a loss in slow start takes half, as all of n flows would overshoot. A segment in congestion avoidance
//! never adds more than one, so a window below n is filled at the pace of slow start.
//!
//! Domain: n of 1 and more; the authors found no use in more than about ten. Losses that come to each flow by itself, at
//! random or from a queue that chooses. Needs nothing beyond acknowledgments.
//!
//! Promised by the paper, held in `tests/theory/multcp.rs`: n times the increase; the mean window; the slow start of n
//! flows. What it takes where all lose together: `crates/sim/tests/parallel.rs`.

use longfat_units::math::{ln, pow};
use longfat_units::parameter::{Parameter, Settings};

use crate::{Breakpoint, Cause, Controller, Operating, Phase, Promises, WindowLaw};

/// MulTCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("multcp", Multiple::new)
        .title("MulTCP: one flow that behaves as n would")
        .source("Crowcroft & Oechslin, CCR 28(3), 1998")
        .parameters([Parameter::number("n", 2.0, 1.0, 1000.0, "how many flows it behaves as")])
}

/// The law of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Multiple {
    n: f64,
    /// Up to this window slow start triples.
    tripling_until: f64,
}

impl Multiple {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        let n = settings.number("n");
        Self { n, tripling_until: pow(3.0, ln(n) / ln(1.5)) }
    }
}

impl WindowLaw for Multiple {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        (self.n / at.window.0).min(1.0)
    }

    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        match at.phase {
            Phase::SlowStart => 0.5,
            Phase::CongestionAvoidance => 0.5 / self.n,
        }
    }

    fn slow_start(&self, at: &Operating) -> f64 {
        if at.window.0 < self.tripling_until { 2.0 } else { 1.0 }
    }

    fn breakpoints(&self) -> Vec<Breakpoint> {
        vec![Breakpoint::Window(self.n), Breakpoint::Window(self.tripling_until)]
    }

    fn promises(&self) -> Promises {
        Promises { doubles_at_most: false, ..Promises::LAW }
    }
}
