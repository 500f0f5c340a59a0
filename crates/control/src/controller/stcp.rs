//! STCP: Scalable TCP, which recovers in the same time at every window.
//!
//! T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM SIGCOMM Computer
//! Communication Review 33(2), 2003.
//!
//! The time that Reno takes to come back from a loss grows with the window. STCP increases in proportion to the
//! window, so that the time does not:
//!
//! ```text
//!     each acknowledged segment    w ← w + a              a = 0.01
//!     each congestion event        w ← w - b w            b = 0.125
//!     w ≤ legacy_window:           Reno
//! ```
//!
//! Recovery takes ln(1 - b)/ln(1 + a) = 13.4 round trips at any window, and the response function is
//! w = (a/b)/p = 0.08/p, the window being the mean over packets; the mean over time is 0.0756/p under random
//! loss (held in the tests of the simulator). With a share gained and a share given up, two windows that lose
//! together keep their ratio for ever: STCP does not converge to fairness under synchronised losses. That is the
//! argument that EXP-TCP begins with.
//!
//! | parameter       | default | source                                                 |
//! |-----------------|---------|--------------------------------------------------------|
//! | `a`             | 0.01    | Kelly, section 2                                       |
//! | `b`             | 0.125   | Kelly, section 2                                       |
//! | `legacy_window` | 16      | Kelly: Reno up to this window, so that small windows stay fair to it |
//!
//! Domain: any window; the law has no scale of its own above the legacy window. A loss in slow start takes b as
//! any other loss does: the paper makes no difference.
//!
//! Promised by the paper, held in `tests/theory/stcp.rs`: recovery in 13.4 round trips at every window; equal
//! ratios for ever.

use longfat_units::parameter::{Parameter, Settings};

use crate::{Breakpoint, Cause, Controller, Operating, WindowLaw};

/// STCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("stcp", Scalable::new)
        .title("Scalable TCP: one percent per round trip, an eighth per loss")
        .source("T. Kelly, CCR 33(2), 2003")
        .parameters([
            Parameter::number("a", 0.01, 1e-6, 1.0, "segments added per acknowledged segment"),
            Parameter::number("b", 0.125, 1e-3, 0.9, "share given up per congestion event"),
            Parameter::number(
                "legacy_window",
                16.0,
                0.0,
                1e6,
                "Reno up to this window, in segments",
            ),
        ])
}

/// The law of Kelly's paper.
#[derive(Clone, Copy, Debug)]
pub struct Scalable {
    a: f64,
    b: f64,
    legacy_window: f64,
}

impl Scalable {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        Self {
            a: settings.number("a"),
            b: settings.number("b"),
            legacy_window: settings.number("legacy_window"),
        }
    }
}

impl WindowLaw for Scalable {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let window = at.window.0;
        if window > self.legacy_window { self.a } else { 1.0 / window }
    }

    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        if at.window.0 > self.legacy_window { self.b } else { 0.5 }
    }

    fn breakpoints(&self) -> Vec<Breakpoint> {
        vec![Breakpoint::Window(self.legacy_window)]
    }
}
