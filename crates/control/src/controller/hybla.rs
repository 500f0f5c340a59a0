//! Hybla: the rate that a short round trip would have, at any round trip.
//!
//! C. Caini, R. Firrincieli, "TCP Hybla: a TCP Enhancement for Heterogeneous Networks", International Journal of
//! Satellite Communications and Networking 22, 2004.
//!
//! Reno's rate falls with the round trip twice over: the window grows by a segment per round trip, and is sent once per
//! round trip. A connection by satellite gets next to nothing beside a terrestrial one. Hybla grows as a connection of
//! RTT₀ would in the same time, to a window ρ times as large:
//!
//! ```text
//!     ρ = RTT/RTT₀, at least 1
//!     slow start, each acknowledged segment              w ← w + 2^ρ - 1, up to w = ρ γ
//!     congestion avoidance, each acknowledged segment    w ← w + ρ²/w
//!     each congestion event                              w ← w/2
//! ```
//!
//! With losses evenly spaced the mean window is ρ √(3/2)/√p, and so the rate 1.22/(RTT₀ √p) whatever the round trip.
//! Below RTT₀ it is Reno.
//!
//! | parameter | default | source                                                  |
//! |-----------|---------|---------------------------------------------------------|
//! | `rtt0`    | 25 ms   | the paper: the round trip of the connection to equal    |
//! | `gamma`   | 44      | the threshold of that connection: 65 535 bytes, what hosts began with then |
//!
//! ρ, its least value of 1, `rtt0` and both rules of growth were checked against the Hybla of Linux, which cites the
//! paper for them, and the window over time that they solve (slow start up to ρ γ) against S. Cheung's lectures on the
//! paper (Emory, CS 558); its text was not at hand. It leaves γ to the connection: 44 is ours.
//!
//! Decided here:
//!
//! - *RTT* is the smallest seen, so that a queue of its own does not make a flow greedier.
//! - *Slow start beyond ρ γ* is standard, until the flow's own threshold or a loss. The paper ends it there, which
//!   would leave a window on a long fat path to congestion avoidance; without the bound one acknowledgment would add 16
//!   million segments at 600 ms. The first window is the flow's key; the paper multiplies it by ρ.
//! - *A window below ρ* is less than one segment of the short connection, and grows as if it were ρ: by ρ for each
//!   segment.
//! - *Marks* count as losses.
//!
//! Domain: any round trip; the paper recommends pacing, for an acknowledgment may let a burst of ρ γ segments go. Needs
//! nothing beyond acknowledgments with round trips.
//!
//! Promised by the paper, held in `tests/theory/hybla.rs`: the same rate from 25 ms to 400 ms; slow start that takes as
//! long as at 25 ms.

use longfat_units::Span;
use longfat_units::math::pow;
use longfat_units::parameter::{Parameter, Settings};

use crate::registry::at_least;
use crate::{Cause, Controller, Operating, Promises, WindowLaw};

/// Hybla's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("hybla", Hybla::new)
        .title("Hybla: at any round trip the rate that a short one would have")
        .source("Caini & Firrincieli 2004")
        .parameters([
            Parameter::span("rtt0", "25 ms", "the round trip whose rate it aims at, 1 ms or more"),
            Parameter::number(
                "gamma",
                44.0,
                1.0,
                1000.0,
                "slow start follows the round trip up to RTT/rtt0 times as many segments",
            ),
        ])
        .check(at_least("rtt0", SHORTEST))
}

/// The shortest RTT₀.
const SHORTEST: Span = Span::from_millis(1);

/// The law of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Hybla {
    /// One over RTT₀ in seconds.
    per_reference: f64,
    gamma: f64,
}

impl Hybla {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        Self {
            per_reference: 1.0 / settings.span("rtt0").max(SHORTEST).seconds(),
            gamma: settings.number("gamma"),
        }
    }

    /// ρ.
    #[inline]
    fn ratio(self, at: &Operating) -> f64 {
        // Before the first sample the smallest round trip is as large as can be.
        (at.base_rtt.min(at.rtt).seconds() * self.per_reference).max(1.0)
    }
}

impl WindowLaw for Hybla {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let ratio = self.ratio(at);
        ratio * ratio / at.window.0.max(ratio)
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.5
    }

    fn slow_start(&self, at: &Operating) -> f64 {
        let ratio = self.ratio(at);
        (pow(2.0, ratio) - 1.0).min(ratio * self.gamma - at.window.0).max(1.0)
    }

    fn promises(&self) -> Promises {
        Promises { doubles_at_most: false, ..Promises::LAW }
    }
}
