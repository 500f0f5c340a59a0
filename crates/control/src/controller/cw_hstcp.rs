//! CW-HSTCP: HSTCP with the same window for every round trip.
//!
//! X. Pan, F. Su, Y. Lü, L. Ping, "CW-HSTCP: Fair TCP in high-speed networks", Journal of Zhejiang University SCIENCE
//! A, 2006, doi:10.1631/jzus.2006.A0172 (`papers/cw-hstcp`).
//!
//! HSTCP adds a(w) segments per round trip of its own, and a(w) grows with w. Of two flows that lose together the one
//! with the shorter round trip grows more often, gets the larger window, and then grows more each time and gives up
//! less: the other starves. CW-HSTCP ("constant window") multiplies the increase by a *fair factor*:
//!
//! ```text
//!     each acknowledged segment    w ← w + min(1, η a(w)/w),    η = c RTT
//!     each congestion event        w ← (1 - b(w)) w
//!     pacing                       k = ⌊c RTT⌋ + 1 blocks per round trip
//! ```
//!
//! with a(w) and b(w) of RFC 3649, so that dw/dt = c a(w) whatever the round trip. Windows that lose together meet, and
//! rates are then inversely proportional to the round trips. (Floyd's constant rate, from which c comes, squares the
//! round trip and makes the rates equal: `constant-rate`.) A long round trip makes a large η, so a window that grows by
//! many segments at once; blocks spread that over the round trip.
//!
//! | parameter | default    | source                                                            |
//! |-----------|------------|-------------------------------------------------------------------|
//! | `c`       | 10 /s      | table 3, "c = 10 is optimal": HSTCP at a round trip of 100 ms      |
//! | `rtt`     | "smoothed" | ours: the paper does not say which round trip                      |
//! | `eta_min` | 0          | ours: the paper's rule has no bound                                |
//! | `blocks`  | "held"     | section IV: the next block is sent after a time interval           |
//!
//! and those of `hstcp`, with its defaults.
//!
//! What the paper leaves open or gets wrong, and what is done here:
//!
//! - *Which round trip.* A sender has the smoothed one, queueing included. As queueing adds the same time to all, it
//!   raises the η of short round trips in larger proportion, and their windows stay somewhat larger. `rtt = "base"`
//!   takes the smallest round trip instead, for η and for k.
//! - *η below 1.* With a round trip below 1/c a flow grows less than with HSTCP, and at windows up to 38 less than with
//!   Reno. That is the rule of figure 4, and is kept. `eta_min = 1` keeps such flows as they were.
//! - *k.* Figure 4 writes `(int)c*RTT+1`, which casts c; assigned to an integer it comes to ⌊c RTT⌋ + 1 for whole c,
//!   and for others the text's intention is taken. A billionth is added, so that rounding does not take c RTT = 1 for
//!   less.
//! - *One block* is no pacing, as in the figure: below 1/c a flow sends as HSTCP does.
//! - *Who waits between blocks.* The text has all packets of the next block wait. Figure 4 delays one call of `output`
//!   and starts to count anew, so that later acknowledgments send at once: `blocks = "loose"`.
//! - *How blocks leave*, and the gaps of the figure there, is in `crates/sim/src/sender/pacing.rs`: block pacing is the
//!   sender's, off in slow start, and the flow's key `pacing` turns it off or sets k. The paper never tested it.
//! - *Time-outs, the first decrease, windows beyond 83 000*: as in `hstcp`.
//!
//! Domain: every window and round trip. The bound of 1 binds only where η exceeds the window.
//!
//! Promised by the paper, held in `tests/theory/cw_hstcp.rs`: a(w) and b(w) of its table 1; its example of 100 and 200
//! ms; windows that lose together meet within a tenth, where HSTCP's drift apart.

use longfat_units::Span;
use longfat_units::parameter::{Parameter, Settings};

use super::hstcp::{self, HighSpeed};
use crate::{Breakpoint, Cause, Controller, Operating, Pacing, WindowLaw};

/// CW-HSTCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("cw-hstcp", ConstantWindow::new)
        .title("CW-HSTCP: HSTCP that grows per second, not per round trip, in blocks")
        .source("Pan, Su, Lü and Ping, CW-HSTCP")
        .parameters([
            Parameter::frequency("c", 10.0, 1e-3, 1e4, "the increase is that of HSTCP times c RTT"),
            Parameter::word(
                "rtt",
                "smoothed",
                ["smoothed", "base"],
                "which round trip is used for RTT",
            ),
            Parameter::number("eta_min", 0.0, 0.0, 1.0, "lower bound of c RTT"),
            Parameter::word(
                "blocks",
                "held",
                ["held", "loose"],
                "whether a block waits for its time, or no longer than for an acknowledgment",
            ),
        ])
        .parameters(hstcp::parameters())
}

/// Makes ⌊1 - 10⁻¹⁶⌋ one.
const ROUNDING: f64 = 1e-9;

/// The law of the paper.
#[derive(Clone, Debug)]
pub struct ConstantWindow {
    hstcp: HighSpeed,
    c: f64,
    base: bool,
    eta_min: f64,
    loose: bool,
}

impl ConstantWindow {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        Self {
            hstcp: HighSpeed::new(settings),
            c: settings.number("c"),
            base: settings.word("rtt") == "base",
            eta_min: settings.number("eta_min"),
            loose: settings.word("blocks") == "loose",
        }
    }

    /// The fair factor η = c RTT, before its bound.
    #[inline]
    fn fair_factor(&self, at: &Operating) -> f64 {
        // Before the first sample the smallest round trip is as large as can be.
        let rtt: Span = if self.base { at.base_rtt.min(at.rtt) } else { at.rtt };
        self.c * rtt.seconds()
    }
}

impl WindowLaw for ConstantWindow {
    /// min(1, η a(w)/w), figure 4.
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        (self.fair_factor(at).max(self.eta_min) * self.hstcp.gain(at)).min(1.0)
    }

    /// b(w); half in slow start.
    fn give_up(&self, at: &Operating, cause: Cause) -> f64 {
        self.hstcp.give_up(at, cause)
    }

    fn slow_start(&self, at: &Operating) -> f64 {
        self.hstcp.slow_start(at)
    }

    /// Those of HSTCP, and the round trip up to which the fair factor is at its bound.
    fn breakpoints(&self) -> Vec<Breakpoint> {
        let mut all = self.hstcp.breakpoints();
        all.push(Breakpoint::RoundTrip(Span::from_seconds_f64(self.eta_min / self.c)));
        all
    }

    /// ⌊c RTT⌋ + 1 blocks, figure 4.
    fn pacing(&self, at: &Operating) -> Pacing {
        match (self.fair_factor(at) + ROUNDING) as u32 {
            0 => Pacing::Unpaced,
            blocks if self.loose => Pacing::LooseBlocks(blocks.saturating_add(1)),
            blocks => Pacing::Blocks(blocks.saturating_add(1)),
        }
    }
}
