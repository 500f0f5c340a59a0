//! The controller for fibre error rates: a decrease that keeps the marking probability above a bound.
//!
//! E. Kavak, S. S. Kunniyur, "Congestion Controllers for High Bandwidth Connections with Fiber Error Rates", IEEE
//! ICC 2004, pages 1273-1277 (`papers/fiber-tcp`).
//!
//! Reno's window is proportional to 1/√p, so a fast path needs a loss probability p below that of the fibre itself, and
//! then the corrupted packets, not the queues, hold the window. The remedy is a loss probability that cannot fall below
//! a chosen α, however large the window: with α well above that of the fibre, corruption is noise. Reno's increase
//! stays, and the share given up shrinks with the square of the window:
//!
//! ```text
//!     x' = κ (1 - β(x) x² p),   β(x) = 1/(α x² + c)                                             (8), (9)
//!     each acknowledged segment    w ← w + 1/w
//!     each congestion event        w ← w - β(w) w
//!     equilibrium                  w = √(c/(p - α)),   p = α + c/w²                             (10), (11)
//! ```
//!
//! β(0) = 1/c = 1/2: a small window is Reno's. A large one gives up about 1/(α w) segments, fewer the larger it is.
//!
//! | parameter  | default | source                                                                      |
//! |------------|---------|-----------------------------------------------------------------------------|
//! | `alpha`    | 1e-4    | section IV, the packet simulations                                          |
//! | `c`        | 2       | c = 1/β with Reno's β = 1/2 (section III)                                   |
//! | `per_mark` | false   | one reaction per window is TCP's rule; one per mark is equation (8)'s       |
//!
//! **Choosing α.** Three bounds, of which the paper has the first two:
//!
//! - α ≥ 10 to 100 times the loss probability of the fibre. Above Reno's reach and below the capacity the window then
//!   grows by 1 - `p_f`/α segments per round trip.
//! - α ≤ a tenth of the p that Reno meets at the rate below which the flow is to be friendly: it takes √(p/(p - α))
//!   times Reno's share.
//! - α w < 1. A sender that reacts once per round trip grows by one segment in it, and a reduction takes 1/(α w): from
//!   α w = 1 on losing in every round trip no longer stops the growth (`it_loses_control_where_alpha_w_is_1`). The
//!   paper's α = 2e-6 is safe up to 5·10⁵ segments, 60 Gbit/s at 100 ms and 1500 bytes; its example of 100 Gbit/s
//!   needs 8.3·10⁵. `per_mark` loosens the bound, because every mark counts.
//!
//! `longfat.fiber_alpha` finds α, or says which two bounds exclude each other.
//!
//! What the paper leaves open, and what is done here:
//!
//! - *Units.* x is the window, in packets per round trip: only so are α a probability and c a number. The text needs to
//!   know the round trip because it writes the same law in packets per second.
//! - *β.* Section I has 2/3, which belongs to √(1.5/p), and section II 0.5. The fluid and its figure need 0.5: the
//!   Reno flow of Fig. 1 settles at 1/√(0.5·10⁻³) = 44.7.
//! - *The bound, packet by packet.* A sender that reacts to a mark or repairs a loss gains nothing for a round trip,
//!   which the fluid does not model: with one reaction per window the bound is α/(1 + α w), not α.
//! - *The window at the loss* is the congestion window just before the reduction.
//! - *Slow start, time-outs* are left out of the paper's analysis: a loss in slow start takes half, a time-out what it
//!   takes from Reno.
//! - *Marks and losses.* With `per_mark` every marked segment counts, as in (8); losses still count once per window,
//!   because recovery repairs a window at once.
//!
//! Domain: 2 ≤ w < 1/α. Needs nothing beyond acknowledgments; `per_mark` has an effect only where routers mark.
//!
//! Promised by the paper, held in `tests/theory/fiber.rs`: p > α at any window; Reno at small windows; growth of 0.9
//! per round trip under fibre losses of α/10. Its fluid model, Fig. 1 and 2: `crates/fluid/tests`. The lower bound on
//! the marking probability: `crates/sim/tests/fiber.rs`.

use longfat_units::parameter::{Parameter, Settings};

use crate::{Cause, Controller, Operating, Phase, Reaction, WindowLaw};

/// The entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("fiber", Fiber::new)
        .title("Reno with a decrease that bounds the marking probability from below")
        .source("Kavak and Kunniyur, ICC 2004")
        .parameters([
            Parameter::number("alpha", 1e-4, 0.0, 1.0, "lower bound of the marking probability"),
            Parameter::number("c", 2.0, 1.0, 1e3, "a small window gives up 1/c"),
            Parameter::flag("per_mark", false, "reacts to every mark, not once per window"),
        ])
}

/// The law of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Fiber {
    alpha: f64,
    c: f64,
    per_mark: bool,
}

impl Fiber {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        Self {
            alpha: settings.number("alpha"),
            c: settings.number("c"),
            per_mark: settings.flag("per_mark"),
        }
    }
}

impl WindowLaw for Fiber {
    /// The 1 of equation (8), per acknowledged segment.
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        1.0 / at.window.0
    }

    /// Equation (9); half in slow start (RFC 5681).
    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        match at.phase {
            Phase::SlowStart => 0.5,
            Phase::CongestionAvoidance => {
                let window = at.window.0;
                1.0 / (self.alpha * window * window + self.c)
            }
        }
    }

    fn reaction(&self) -> Reaction {
        if self.per_mark { Reaction::PerMark } else { Reaction::PerWindow }
    }
}
