//! AntiECN: a window law that takes what the links offer.
//!
//! S. S. Kunniyur, "AntiECN Marking: A Marking Scheme for High Bandwidth Delay Connections", ICC 2003.
//!
//! # The problem
//!
//! Congestion avoidance is careful whether or not there is congestion to avoid. On a long fat path Reno needs thousands
//! of round trips to fill its window, while links that are half empty have no way to say so. AntiECN gives them one
//! (the links' marker, and how the bit travels, are in the crate of the queues): each acknowledgment tells whether
//! every link of the path had room for the packet it answers.
//!
//! # The law
//!
//! ```text
//!     an acknowledged segment with the bit        w ← w + Δ/w
//!     an acknowledged segment without it          w ← w + what the base law adds      (Reno: 1/w)
//!     each congestion event                       what the base law gives up          (Reno: w/2)
//! ```
//!
//! Δ = 1 is Reno, Δ = w is slow start for as long as there is room.
//!
//! # Parameters
//!
//! | parameter | default | source |
//! |---|---|---|
//! | `delta` | `"window"` | 2003: Δ = w throughout; a number is a constant Δ, `"sqrt"` is Δ = √w |
//! | `on` | `"reno"` | 2003: "any congestion controller"; a window law, with its defaults |
//!
//! # Deviations
//!
//! * The bit never reduces what the base law would add: Δ/w is used where it is more. No Δ adds more than one segment
//!   per acknowledged segment, which is slow start.
//! * Slow start is that of the base law, with or without the bit: it already grows by a segment per acknowledged
//!   segment, and a missing bit is not a sign of congestion.
//! * An acknowledgment that echoes a congestion mark brings no gain, whatever its other bit says: the host does not
//!   report it as one (RFC 3168: until the sender has reacted). The paper does not say which of the two wins.
//! * In the fluid the bit is the share of acknowledgments that carry it, and the gain the mean of both.
//!
//! # Domain
//!
//! Any window. A sender whose own link is slower than every η C of the path hears of room for ever, and its window,
//! which is never put to the test, grows with each acknowledgment: give it a `max_window`. Where a link of the path
//! does not support AntiECN, the bit is ignored and this is the base law, to the byte
//! (`without_a_marker_it_is_its_base_law`, in the tests of the simulator). The effect of Δ = w depends on how evenly
//! packets are spaced: see the marker's essay.
//!
//! # What the paper promises
//!
//! * With Δ = w, slow start's growth while there is room, and Reno's while there is none (`tests/theory/anti_ecn.rs`).
//! * "When the utilisation is above the threshold, the behaviour is identical" to TCP: tested at packet level, as the
//!   slope above W* (`the_slope_is_two_below_the_threshold_and_one_above`, in the tests of the simulator).

use longfat_units::math::sqrt;
use longfat_units::parameter::{Parameter, Settings};

use super::reno;
use crate::{
    Breakpoint, Cause, Controller, Family, Needs, Operating, Pacing, Promises, Reaction, WindowLaw,
};

/// AntiECN's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("anti-ecn", AntiEcn::new)
        .title(
            "AntiECN: grows by delta/w where every link says that it has room, and like another law elsewhere",
        )
        .source("Kunniyur, ICC 2003")
        .family(Family::Routers)
        .parameters([
            Parameter::number_or(
                "delta",
                "window",
                (1.0, 1e9),
                ["window", "sqrt"],
                "growth per round trip while there is room: the window, its square root, or a number of segments",
            ),
            Parameter::law("on", reno::controller(), "the law it builds on"),
        ])
}

/// Δ
#[derive(Clone, Copy, Debug)]
enum Delta {
    Window,
    SquareRoot,
    Constant(f64),
}

/// The law of the paper, on any other.
#[derive(Clone, Debug)]
pub struct AntiEcn {
    delta: Delta,
    base: Box<dyn WindowLaw>,
}

impl AntiEcn {
    /// The law with the parameters of a scenario.
    ///
    /// # Panics
    /// If `on` is no window law: a scenario is checked before.
    pub fn new(settings: &Settings) -> Self {
        let delta = match settings.number_or_word("delta") {
            Some(constant) => Delta::Constant(constant),
            None if settings.word("delta") == "sqrt" => Delta::SquareRoot,
            None => Delta::Window,
        };
        let base: &Controller = settings.entry("on");
        let law = base.law.as_ref().expect("`on` is a window law");
        Self { delta, base: law(&base.defaults()) }
    }

    /// Δ/w, at most 1.
    fn with_room(&self, window: f64) -> f64 {
        match self.delta {
            Delta::Window => 1.0,
            Delta::SquareRoot => (1.0 / sqrt(window)).min(1.0),
            Delta::Constant(delta) => (delta / window).min(1.0),
        }
    }
}

impl WindowLaw for AntiEcn {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let base = self.base.gain(at);
        if at.spare > 0.0 {
            let more = self.with_room(at.window.0).max(base);
            (1.0 - at.spare) * base + at.spare * more
        } else {
            base
        }
    }

    fn give_up(&self, at: &Operating, cause: Cause) -> f64 {
        self.base.give_up(at, cause)
    }

    fn slow_start(&self, at: &Operating) -> f64 {
        self.base.slow_start(at)
    }

    fn pacing(&self, at: &Operating) -> Pacing {
        self.base.pacing(at)
    }

    fn reaction(&self) -> Reaction {
        self.base.reaction()
    }

    fn breakpoints(&self) -> Vec<Breakpoint> {
        let own = match self.delta {
            Delta::Constant(delta) => Some(Breakpoint::Window(delta)),
            Delta::Window | Delta::SquareRoot => None,
        };
        self.base.breakpoints().into_iter().chain(own).collect()
    }

    fn needs(&self) -> Needs {
        Needs { spare: true, ..self.base.needs() }
    }

    fn promises(&self) -> Promises {
        self.base.promises()
    }
}
