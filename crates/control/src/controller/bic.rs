//! BIC: a binary search for the window at which the last loss came.
//!
//! L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks", IEEE
//! INFOCOM 2004. The default of Linux from 2.6.8 to 2.6.18, and the forerunner of CUBIC.
//!
//! HSTCP and STCP add more the larger the window, and so flows of short round trips drive out those of long ones. BIC
//! adds a constant while the window is far from `max`, where the last loss came, so that the shares of large windows
//! stay in proportion to one over the round trip, as with Reno; near `max` it adds ever less:
//!
//! ```text
//!     each loss         max ← w;  w ← (1 - β) w;        if w < max before: max ← w (2 - β)/2
//!     each round trip   w ← w + step,                   per acknowledged segment step/w
//!     w < max           step = (max - w)/2, at least S_min, at most S_max
//!     then              step = 1, 2, 4, … S_max, then S_max for good
//!     w < low_window    Reno
//! ```
//!
//! Halving the distance is the search: a round trip without a loss says that the middle is not too much. Beyond `max`
//! it probes for another one as slow start would, up to `S_max`. The rule after the first semicolon is fast
//! convergence: a flow that loses below its last maximum makes room.
//!
//! | parameter          | default | source                                                     |
//! |--------------------|---------|------------------------------------------------------------|
//! | `s_max`            | 32      | said of the paper's simulations; Linux 16                  |
//! | `s_min`            | 0.01    | said of the paper                                          |
//! | `beta`             | 0.125   | the same: the share *given up*; Linux 1 - 819/1024 = 0.2   |
//! | `low_window`       | 14      | the paper, and Linux                                       |
//! | `fast_convergence` | true    | the paper, and Linux                                       |
//!
//! `{ kind = "bic", s_max = 16, beta = 0.2 }` comes near what Linux shipped, which searches in smaller steps near `max`.
//! Those of Linux were checked there, as was the structure of the rules, on which descriptions of the paper agree; 32,
//! 0.01 and 0.125 rest on no text that was at hand.
//!
//! With a loss every 1/p segments and the same maximum each time, a large window gives up βW, takes `βW/S_max - 2`
//! round trips of `S_max` and `log₂(S_max/S_min) + 2` of the search to return, and so
//!
//! ```text
//!     W ≫ S_max/β:   mean window → √(S_max (2 - β)/(2 β))/√p = 15.5/√p      AIMD(S_max, β)
//! ```
//!
//! Decided here:
//!
//! - *A step lasts until the window has grown by it*, about a round trip: the rule needs no clock of rounds, and one
//!   acknowledgment of n segments does what n of one do.
//! - *No maximum* is known before the first loss and after a time-out: there it probes, from a step of one.
//! - *A loss in slow start* takes half, as in RFC 5681, and sets `max`: slow start overshoots by a factor of two.
//! - A segment never adds more than one: in a window smaller than `S_max` the step takes longer.
//!
//! Domain: any window; below `low_window` it is Reno. Needs nothing beyond acknowledgments. Not a window law: it
//! remembers `max` and how far the search is, so the fluid model refuses it.
//!
//! Promised by the paper, held in `tests/theory/bic.rs`: the response function; the rounds of the search; what it adds
//! far from, near and beyond the maximum; fast convergence.

use longfat_units::Time;
use longfat_units::parameter::{Parameter, Settings};

use crate::{Congestion, Controller, Path, Phase, Probe, Remembered, Sending, Start, WindowRule};

/// BIC's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("bic", build)
        .title("BIC: a binary search for the window of the last loss")
        .source("Xu, Harfoush & Rhee, INFOCOM 2004")
        .parameters([
            Parameter::number("s_max", 32.0, 1.0, 1e4, "most segments added per round trip"),
            Parameter::number("s_min", 0.01, 1e-4, 1.0, "least segments added per round trip"),
            Parameter::number("beta", 0.125, 0.01, 0.9, "share given up per congestion event"),
            Parameter::number("low_window", 14.0, 2.0, 1e6, "Reno below this window, in segments"),
            Parameter::flag(
                "fast_convergence",
                true,
                "give up more after losing below the last maximum",
            ),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Remembered::boxed(Bic::new(settings), start)
}

/// The rule of the paper.
#[derive(Clone, Debug)]
pub struct Bic {
    s_max: f64,
    s_min: f64,
    beta: f64,
    low_window: f64,
    fast_convergence: bool,
    /// Where the last loss came; none before there was one.
    max: Option<f64>,
    /// What the present round trip adds, and the window at its end.
    step: f64,
    until: f64,
    /// Beyond the maximum: what the next round trip adds.
    probing: f64,
}

impl Bic {
    fn new(settings: &Settings) -> Self {
        Self {
            s_max: settings.number("s_max"),
            s_min: settings.number("s_min"),
            beta: settings.number("beta"),
            low_window: settings.number("low_window"),
            fast_convergence: settings.flag("fast_convergence"),
            max: None,
            step: 0.0,
            until: 0.0,
            probing: 1.0,
        }
    }

    /// The next step of the search, or of the probing beyond it.
    #[cold]
    fn advance(&mut self, window: f64) {
        let distance = self.max.map_or(0.0, |max| max - window);
        if distance > 0.0 {
            self.step = (distance / 2.0).max(self.s_min).min(self.s_max);
        } else {
            self.step = self.probing;
            self.probing = (2.0 * self.probing).min(self.s_max);
        }
        self.until = window + self.step;
    }

    /// The search begins anew.
    fn begin(&mut self, max: Option<f64>) {
        self.max = max;
        self.until = 0.0;
        self.probing = 1.0;
    }
}

impl WindowRule for Bic {
    #[inline]
    fn gain(&mut self, window: f64, _: Time, _: &Path) -> f64 {
        if window < self.low_window {
            return 1.0 / window;
        }
        if window >= self.until {
            self.advance(window);
        }
        (self.step / window).min(1.0)
    }

    fn reduce(&mut self, window: f64, phase: Phase, _: &Congestion, _: &Path) -> f64 {
        let below_maximum = self.max.is_some_and(|max| window < max);
        let further = self.fast_convergence && below_maximum;
        self.begin(Some(if further { window * (2.0 - self.beta) / 2.0 } else { window }));
        if phase == Phase::SlowStart || window < self.low_window {
            0.5 * window
        } else {
            (1.0 - self.beta) * window
        }
    }

    fn restart(&mut self, _: Time) {
        self.begin(None);
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(max) = self.max {
            probe.value("max", max);
        }
        probe.value("step", self.step);
    }
}
