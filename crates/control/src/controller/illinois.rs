//! TCP-Illinois: loss says when to give way, delay says how much.
//!
//! S. Liu, T. Basar, R. Srikant, "TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for High-Speed
//! Networks", Performance Evaluation 65, 2008 (VALUETOOLS 2006).
//!
//! With constant steps a window spends as long near a loss as far from it. Illinois takes large steps while the
//! queueing delay is small and small ones as it grows, so the window curves towards its maximum and stays close to it:
//! concave, where HSTCP and STCP bend upwards and lose soonest where they gain most. And a loss without a queue costs
//! little:
//!
//! ```text
//!     each acknowledged segment    w ← w + α/w
//!     each loss                    w ← (1 - β) w
//!     α = α_max, d_a ≤ d₁;         κ₁/(κ₂ + d_a), falling to α_min at d_m
//!     β = β_min, d_a ≤ d₂;         rising in a straight line to β_max at d₃ and beyond
//! ```
//!
//! `d_a` is the mean queueing delay of the last round trip, `d_m` the largest seen, both above the smallest round trip;
//! d₁, d₂ and d₃ are 1, 10 and 80 % of `d_m`. κ₁ and κ₂ make α continuous.
//!
//! | parameter     | default | source                                                             |
//! |---------------|---------|--------------------------------------------------------------------|
//! | `alpha_min`   | 0.3     | Linux and ns-3; the paper has 0.1                                  |
//! | `alpha_max`   | 10      | paper, Linux and ns-3                                              |
//! | `beta_min`    | 1/8     | the same                                                           |
//! | `beta_max`    | 1/2     | the same                                                           |
//! | `w_thresh`    | 10      | the paper; Linux and ns-3 have 15. Below it α = 1 and β = 1/2      |
//! | `theta`       | 5       | paper, Linux and ns-3: round trips with `d_a` ≤ d₁ before `α_max`  |
//!
//! Both functions, κ₁ and κ₂, the shares d₁ to d₃ and these numbers were checked against the manual of ns-3 (section
//! Illinois, equations `illinoisalpha` to `illinoisdi`), which also says where the paper differs from Linux; the text of
//! the paper was not at hand. `alpha_min = 0.1` is the paper's. (What the manual prints for the slope of β has α in
//! place of β; the straight line through both ends is meant.)
//!
//! Decided here:
//!
//! - *Until a round trip has been measured*, and after a time-out, it is Reno: α = 1, β = 1/2. α then waits θ round trips
//!   for `α_max`, as after any queue, and these have to follow one another. With Linux and ns-3 a flow that has not seen
//!   `d_a` above d₁ since has `α_max` at once, and Linux counts on where a queue came in between.
//! - *`d_m`* is the largest single round trip seen, less the smallest: after the first full queue it stays.
//! - *A loss in slow start* takes half.
//!
//! Domain: any window. Needs nothing beyond acknowledgments with round trips. Not a window law: `d_m` is a memory of
//! the path, so the fluid model refuses it.
//!
//! Promised by the paper, held in `tests/theory/illinois.rs`: α and β at the delays named; the wait for θ round trips;
//! Reno below 10 segments. That it keeps a link with a short buffer busier than Reno:
//! `crates/sim/tests/controllers.rs`.

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Span, Time};

use crate::{
    Congestion, Controller, Family, Feedback, Path, Phase, Probe, Promises, Remembered, Sending,
    Start, WindowRule,
};

/// Illinois' entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("illinois", build)
        .title("TCP-Illinois: loss says when to give way, delay says how much")
        .source("Liu, Basar & Srikant 2008")
        .family(Family::LossAndDelay)
        .parameters([
            Parameter::number("alpha_min", 0.3, 0.01, 1.0, "segments per round trip at most delay"),
            Parameter::number("alpha_max", 10.0, 1.0, 1000.0, "the same without a queue"),
            Parameter::number("beta_min", 0.125, 0.01, 0.5, "share given up without a queue"),
            Parameter::number("beta_max", 0.5, 0.5, 0.9, "share given up with a long one"),
            Parameter::number("w_thresh", 10.0, 0.0, 1e6, "Reno below this window, in segments"),
            Parameter::count("theta", 5, 1, 1000, "round trips without a queue before alpha_max"),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Remembered::boxed(Illinois::new(settings), start)
}

/// d₁, d₂ and d₃ as shares of the largest delay.
const D1: f64 = 0.01;
const D2: f64 = 0.1;
const D3: f64 = 0.8;
/// Reno.
const ALPHA: f64 = 1.0;
const BETA: f64 = 0.5;

/// The rule of the paper.
#[derive(Clone, Debug)]
pub struct Illinois {
    alpha_min: f64,
    alpha_max: f64,
    beta_min: f64,
    beta_max: f64,
    w_thresh: f64,
    theta: u64,
    alpha: f64,
    beta: f64,
    /// The round trips of this round, in seconds, and how many.
    sum: f64,
    samples: u32,
    largest: Span,
    /// Round trips in a row without a queue.
    short: u64,
}

impl Illinois {
    fn new(settings: &Settings) -> Self {
        Self {
            alpha_min: settings.number("alpha_min"),
            alpha_max: settings.number("alpha_max"),
            beta_min: settings.number("beta_min"),
            beta_max: settings.number("beta_max"),
            w_thresh: settings.number("w_thresh"),
            theta: settings.number("theta") as u64,
            alpha: ALPHA,
            beta: BETA,
            sum: 0.0,
            samples: 0,
            largest: Span::ZERO,
            short: 0,
        }
    }

    /// A round trip is over.
    fn end_round(&mut self, base: Span) {
        if self.samples > 0 {
            let mean = self.sum / f64::from(self.samples) - base.seconds();
            let most = (self.largest.seconds() - base.seconds()).max(0.0);
            // The share of the largest delay; without any there is no queue.
            let share = if most > 0.0 { (mean / most).clamp(0.0, 1.0) } else { 0.0 };
            self.alpha = self.next_alpha(share);
            self.beta = self.beta_at(share);
        }
        (self.sum, self.samples) = (0.0, 0);
    }

    /// α(`d_a`), and θ.
    fn next_alpha(&mut self, share: f64) -> f64 {
        if share > D1 {
            self.short = 0;
            return self.alpha_at(share);
        }
        self.short += 1;
        if self.short < self.theta { self.alpha } else { self.alpha_max }
    }

    /// κ₁/(κ₂ + `d_a`), with delays as shares of `d_m`.
    fn alpha_at(&self, share: f64) -> f64 {
        let between = self.alpha_max - self.alpha_min;
        if between <= 0.0 {
            return self.alpha_max;
        }
        let kappa_1 = (1.0 - D1) * self.alpha_min * self.alpha_max / between;
        let kappa_2 = (1.0 - D1) * self.alpha_min / between - D1;
        kappa_1 / (kappa_2 + share)
    }

    fn beta_at(&self, share: f64) -> f64 {
        let up = ((share - D2) / (D3 - D2)).clamp(0.0, 1.0);
        self.beta_min + up * (self.beta_max - self.beta_min)
    }
}

impl WindowRule for Illinois {
    #[inline]
    fn hear(&mut self, window: f64, feedback: &Feedback, path: &Path) -> f64 {
        if feedback.round_starts {
            self.end_round(path.base_rtt);
        }
        if let Some(rtt) = feedback.rtt {
            self.sum += rtt.seconds();
            self.samples += 1;
            self.largest = self.largest.max(rtt);
        }
        window
    }

    #[inline]
    fn gain(&mut self, window: f64, _: Time, _: &Path) -> f64 {
        let alpha = if window < self.w_thresh { ALPHA } else { self.alpha };
        (alpha / window).min(1.0)
    }

    fn reduce(&mut self, window: f64, phase: Phase, _: &Congestion, _: &Path) -> f64 {
        let reno = window < self.w_thresh || phase == Phase::SlowStart;
        let share = if reno { BETA } else { self.beta };
        (1.0 - share) * window
    }

    fn restart(&mut self, _: Time) {
        (self.alpha, self.beta, self.short) = (ALPHA, BETA, 0);
    }

    fn promises(&self) -> Promises {
        Promises { forgetful: false, ..Promises::LAW }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("alpha", self.alpha);
        probe.value("beta", self.beta);
    }
}
