//! LTCP: as many virtual flows as the window has layers.
//!
//! S. Bhandarkar, S. Jain, A. L. N. Reddy, "LTCP: A Layering Technique for Improving the Performance of TCP in
//! Highspeed Networks", draft-bhandarkar-ltcp-01, 2004.
//!
//! A large window behaves as a bundle of flows, larger the larger it is. How many is decided by layers: layer K begins
//! at the window `W_K`, and in it the window grows by K segments per round trip:
//!
//! ```text
//!     W_K = W_T K (K² - 1)/6:   W₂ = W_T = 50, 200, 500, 1000, … 28 000 at K = 15
//!     each acknowledged segment    w ← w + K/w         W_K ≤ w < W_(K+1)
//!     each congestion event        w ← (1 - β) w       β = 0.15
//!     w < W_T                      Reno
//! ```
//!
//! β and the spacing belong together: a loss takes at most one layer as long as β < 3/(K + 1), up to layer 19 and 66 500
//! segments, and a flow in a higher layer than another takes longer to get back what a loss costs it, so synchronised
//! flows converge.
//!
//! A loss at 28 000 segments, 2.4 Gbit/s at 140 ms, leaves 23 800 in layer 14: 300 round trips to come back, 47 times
//! fewer than Reno's 14 000. As K grows with the cube root of the window, `K ≈ ∛(6 w/W_T)`, evenly spaced losses give
//!
//! ```text
//!     w² = K (2 - β)/(2 β)/p,   so w = 1.95/p^0.6
//! ```
//!
//! | parameter | default | source                                                 |
//! |-----------|---------|--------------------------------------------------------|
//! | `w_t`     | 50      | the draft: `W_T`, where the second layer begins         |
//! | `beta`    | 0.15    | the draft                                              |
//!
//! Decided here: the layer is always that of the window, also where a loss takes two, as at 66 501 segments from 20 to 18; the
//! draft steps down by one. A loss in slow start, or in the first layer, takes half as in RFC 5681. The factor for the round trip
//! of the authors' paper of 2006 is not in the draft, and left out.
//!
//! Domain: any window. Needs nothing beyond acknowledgments.
//!
//! Promised by the draft, held in `tests/theory/ltcp.rs`: its layers; the time to recover at 28 000 segments;
//! convergence of synchronised flows; the response function.

use longfat_units::math::cbrt;
use longfat_units::parameter::{Parameter, Settings};

use crate::{Breakpoint, Cause, Controller, Operating, Phase, WindowLaw};

/// LTCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("ltcp", Layered::new)
        .title("LTCP: as many virtual flows as the window has layers")
        .source("draft-bhandarkar-ltcp-01")
        .parameters([
            Parameter::number("w_t", 50.0, 2.0, 1e6, "where the second layer begins, in segments"),
            Parameter::number("beta", 0.15, 0.01, 0.9, "share given up from the second layer on"),
        ])
}

/// Between layers beyond this one the increase hardly jumps.
const LAYERS_NAMED: u16 = 1000;

/// The law of the draft.
#[derive(Clone, Copy, Debug)]
pub struct Layered {
    w_t: f64,
    /// 6/`W_T`.
    scale: f64,
    beta: f64,
}

impl Layered {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        let w_t = settings.number("w_t");
        Self { w_t, scale: 6.0 / w_t, beta: settings.number("beta") }
    }

    /// K: the largest whole number with K (K² - 1) ≤ 6 w/`W_T`.
    #[inline]
    fn layer(&self, window: f64) -> f64 {
        if window < self.w_t {
            return 1.0;
        }
        let scaled = window * self.scale;
        // K³ > K (K² - 1) ≥ K³ - K²: the cube root is K or the number below it.
        let below = cbrt(scaled).floor();
        let next = below + 1.0;
        if next * (next * next - 1.0) <= scaled { next } else { below }
    }
}

impl WindowLaw for Layered {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let window = at.window.0;
        (self.layer(window) / window).min(1.0)
    }

    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        let first = at.window.0 < self.w_t || at.phase == Phase::SlowStart;
        if first { 0.5 } else { self.beta }
    }

    /// Where layers begin, up to the one from which a further one adds less than a thousandth.
    fn breakpoints(&self) -> Vec<Breakpoint> {
        let layers = (2..=LAYERS_NAMED).map(f64::from);
        layers.map(|layer| Breakpoint::Window(layer * (layer * layer - 1.0) / self.scale)).collect()
    }
}
