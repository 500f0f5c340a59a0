//! EXP-TCP: an increment that grows exponentially, from a start that depends on the last loss.
//!
//! S. Jin, D. Liu, "Decoupling End-to-End Efficiency and Fairness Control in High Bandwidth-Delay Product
//! Networks" (`papers/exp-tcp`).
//!
//! A control that knows only its window ties efficiency to fairness: what makes it faster when the window is
//! large (HSTCP, STCP) also makes the large window grow faster than the small one. EXP-TCP remembers cwnd₀, the
//! window just after the last decrease, and lets the *increment* grow from √cwnd₀:
//!
//! ```text
//!     each acknowledged segment    w ← w + γ (1 - cwnd₀/w + s/w),    s = max(4, √cwnd₀)
//!     each congestion event        w ← (1 - β) w,                    cwnd₀ ← w
//!     slow start, per segment      w ← w + γ(w),                     γ(w) = clamp(w_ref/w, γ, 1)
//! ```
//!
//! In a round trip the window gains γ (w - cwnd₀ + s): the excess over cwnd₀ - s grows by a constant factor, so
//! an epoch lasts O(log W) round trips and the spare capacity of a path, however large, is found in that time.
//! Two windows that lose together still converge: over a common epoch each gains in proportion to √cwnd₀, and
//! their logarithmic ratio shrinks by 1 - β/2.
//!
//! | parameter        | default | source                                                             |
//! |------------------|---------|--------------------------------------------------------------------|
//! | `gamma`          | 0.05    | section III.A                                                      |
//! | `beta`           | 0.125   | section III.A                                                      |
//! | `w_ref`          | 100     | ours; the `max_ssthresh` of RFC 3742, which the paper cites        |
//! | `start_decrease` | "beta"  | section II.B                                                       |
//! | `pacing`         | true    | section II.C                                                       |
//! | `rtt_fair`       | false   | ours, see "Fair to round trips" below                               |
//! | `reference_rtt`  | 100 ms  | ours; used by `rtt_fair` only                                      |
//!
//! What the paper leaves open, and what is done here:
//!
//! - *Slow start.* γ(w) "decreases from 1.0 when cwnd is small to the default small value"; no formula. Here
//!   `w_ref`/w between the two: doubling up to 100 segments, then 100 more per round trip, 5 % from 2000 on.
//! - *Small windows.* The appendix puts 4 for √cwnd₀ below cwnd₀ = 16, where √cwnd₀ = 4: hence the maximum. It is
//!   worked out for γ = 0.05; another γ scales it.
//! - *Time-outs.* The memory "does not exist or is lost": slow start to half the data in flight, as RFC 5681;
//!   cwnd₀ is the window on entering congestion avoidance, there and after a slow start without a loss.
//! - *Leaving slow start by a loss.* Literally 1 - β. But where γ(w) is near 1 slow start has overshot by two, and
//!   an eighth less loses again and again: `start_decrease = "overshoot"` takes max(β, γ(w)/(1 + γ(w))), half of a
//!   small window and β from about 700 segments on.
//! - *Bounds.* An acknowledged segment adds at least nothing (were w far below cwnd₀, the rule would subtract) and
//!   at most one segment, as in slow start (with γ near 1 and a window below 4 it would add two).
//! - *Compounding.* The paper's `cwnd_i` = cwnd₀ - √cwnd₀ + (1 + γ)^i √cwnd₀ takes one increment per round trip.
//!   Taken per acknowledgment, as the rule says, the excess compounds to e^γ, and an epoch lasts ln(1 + βW/s)/γ
//!   round trips, 2.4 % less than the paper's recursion (`the_papers_recursion_is_2_4_percent_longer`).
//! - *Pacing*: one window per smoothed round trip, in both phases. It is requested, not required.
//! - *Round trips*: the paper leaves them to the future; `rtt_fair` is our answer, below.
//!
//! **Fair to round trips.** Per acknowledgment the excess grows as e^(γ t/R). Flows that lose together every T
//! seconds settle where the gain of an epoch makes good its loss, and w/s = √w₀ puts them at
//!
//! ```text
//!     w₀ = ((1 - β)/β)² (e^(γT/R) - 1)²,    so    x₁/x₂ = (R₂/R₁) ((e^(γT/R₁) - 1)/(e^(γT/R₂) - 1))²
//! ```
//!
//! which is exponential in the difference of 1/R₁ and 1/R₂: the flow of the longer round trip starves. With
//! `rtt_fair` every flow grows as one whose round trip is `reference_rtt`, R₀, at the same rate x = w/R:
//!
//! ```text
//!     γ_R = γ R/R₀,    s_R = max(4 R/R₀, √(cwnd₀ R/R₀))
//!     then    dx/dt = (γ/R₀) (x - x₀ + s_R/R),    s_R/R = max(4/R₀, √(x₀/R₀)):  no R is left
//! ```
//!
//! so flows that lose together meet at equal rates, w₁/w₂ = R₁/R₂, and keep the paper's convergence, 1 - β/2 per epoch.
//! R is the smoothed round trip, queueing included, because w/R is the rate. Taken once per round trip, as the paper's
//! recursion has it, `γ_R` would be (1 + γ)^(R/R₀) - 1; per acknowledgment that compounds to more than e^γ per R₀, by 8
//! % at R = 4 R₀, and two flows of R₀ and 4 R₀ with 10⁵ segments/s between them would settle at 1 : 1.5. Nothing
//! changes at R = R₀. Slow start and β are left alone. It holds up to R = R₀/γ (2 s), where `γ_R` stays at 1. It does
//! nothing about losses that do *not* come together: flows that see more of them still get less.
//!
//! Domain: any window of two segments and more; asymptotically w ≫ cwnd₀ it is multiplicative increase by γ.
//!
//! Promised by the paper, held in `tests/theory/exp.rs`: the length of the epoch; convergence under synchronised
//! losses; growth γβW per round trip at the end of an epoch; the increments of the appendix. Derived above, held in
//! `tests/theory/exp_rtt.rs`: the ratio of rates of two flows that lose together, as it is and with `rtt_fair`.

use longfat_units::Span;
use longfat_units::math::sqrt;
use longfat_units::parameter::{Parameter, Settings};

use crate::registry::at_least;
use crate::{Breakpoint, Cause, Controller, Operating, Pacing, Phase, WindowLaw};

/// EXP-TCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("exp", Exponential::new)
        .title("EXP-TCP: the increment grows exponentially from the square root of the last window")
        .source("Jin and Liu, EXP-TCP")
        .parameters([
            Parameter::number("gamma", 0.05, 1e-4, 1.0, "growth of the increment per round trip"),
            Parameter::number("beta", 0.125, 1e-3, 0.9, "share given up per congestion event"),
            Parameter::number(
                "w_ref",
                100.0,
                1.0,
                1e6,
                "slow start adds min(1, w_ref/w) per segment",
            ),
            Parameter::word(
                "start_decrease",
                "beta",
                ["beta", "overshoot"],
                "what a loss in slow start takes: beta, or as much as slow start overshoots",
            ),
            Parameter::flag("pacing", true, "spread the window over the round trip"),
            Parameter::flag("rtt_fair", false, "grow per reference_rtt, not per round trip"),
            Parameter::span(
                "reference_rtt",
                "100 ms",
                "the round trip at which rtt_fair changes nothing, 1 ms or more",
            ),
        ])
        .check(at_least("reference_rtt", SHORTEST_REFERENCE))
}

/// The small-window rule of the appendix: s is at least this.
const SMALLEST_START: f64 = 4.0;

/// The shortest R₀.
const SHORTEST_REFERENCE: Span = Span::from_millis(1);

/// The law of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Exponential {
    gamma: f64,
    beta: f64,
    w_ref: f64,
    overshoot: bool,
    pacing: bool,
    /// R₀ in seconds, if growth is to be fair to round trips.
    reference_rtt: Option<f64>,
}

impl Exponential {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        let reference_rtt = settings.span("reference_rtt").max(SHORTEST_REFERENCE).seconds();
        Self {
            gamma: settings.number("gamma"),
            beta: settings.number("beta"),
            w_ref: settings.number("w_ref"),
            overshoot: settings.word("start_decrease") == "overshoot",
            pacing: settings.flag("pacing"),
            reference_rtt: settings.flag("rtt_fair").then_some(reference_rtt),
        }
    }

    /// γ and s at this epoch window; with `rtt_fair` `γ_R` and `s_R`.
    #[inline]
    fn growth(&self, epoch_window: f64, rtt: Span) -> (f64, f64) {
        match self.reference_rtt {
            None => (self.gamma, sqrt(epoch_window).max(SMALLEST_START)),
            Some(reference) => {
                let ratio = rtt.seconds() / reference;
                let gamma = (self.gamma * ratio).min(1.0);
                (gamma, sqrt(epoch_window * ratio).max(SMALLEST_START * ratio))
            }
        }
    }
}

impl WindowLaw for Exponential {
    /// γ (1 - cwnd₀/w + s/w), section II.B and appendix.
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let window = at.window.0;
        let epoch_window = at.epoch_window.unwrap_or(at.window).0;
        let (gamma, s) = self.growth(epoch_window, at.rtt);
        (gamma * (1.0 + (s - epoch_window) / window)).clamp(0.0, 1.0)
    }

    /// β; on leaving slow start as `start_decrease` says.
    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        if self.overshoot && at.phase == Phase::SlowStart {
            let rate = self.slow_start(at);
            self.beta.max(rate / (1.0 + rate))
        } else {
            self.beta
        }
    }

    /// γ(w), section II.C.
    fn slow_start(&self, at: &Operating) -> f64 {
        (self.w_ref / at.window.0).clamp(self.gamma, 1.0)
    }

    /// Where s leaves 4; where γ(w) leaves 1 and reaches γ; where it takes as much as β.
    fn breakpoints(&self) -> Vec<Breakpoint> {
        let overshoot_ends = self.w_ref * (1.0 - self.beta) / self.beta;
        vec![
            Breakpoint::EpochWindow(SMALLEST_START * SMALLEST_START),
            Breakpoint::Window(self.w_ref),
            Breakpoint::Window(self.w_ref / self.gamma),
            Breakpoint::Window(overshoot_ends),
        ]
    }

    fn pacing(&self, _: &Operating) -> Pacing {
        if self.pacing { Pacing::Spread { gain: 1.0 } } else { Pacing::Unpaced }
    }
}
