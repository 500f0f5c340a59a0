//! Reno: additive increase, multiplicative decrease.
//!
//! M. Allman, V. Paxson, E. Blanton, "TCP Congestion Control", RFC 5681, 2009; after V. Jacobson,
//! "Congestion Avoidance and Control", SIGCOMM 1988.
//!
//! The law of standard TCP, and the yardstick of the five papers:
//!
//! ```text
//!     each acknowledged segment    w ← w + 1/w      so one segment per round trip
//!     each congestion event        w ← w/2
//! ```
//!
//! Under random loss of probability p the sawtooth has mean window √(3/2)/√p = 1.22/√p when losses come
//! evenly spaced (held by `the_mean_window_with_losses_evenly_spaced`), and about 1.31/√p when they come independently
//! (`reno_holds_the_square_root_law_at_1e_3` in the tests of the simulator). After a loss at window W it takes W/2 round
//! trips to come back: on a path of 10 Gbit/s and 100 ms with packets of 1500 bytes, 41 667 round trips or 69 minutes.
//! That is the problem the other controllers set out to solve.
//!
//! Domain: windows of two segments and more. Needs nothing beyond acknowledgments. The increase per
//! acknowledged segment is kept as a real number, so that it does not vanish at large windows; RFC 5681
//! (equation 3) allows for the byte-counting forms that do.

use crate::{Cause, Controller, Operating, WindowLaw};

/// Reno's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("reno", |_| Reno)
        .title("standard TCP: one segment per round trip, half the window per loss")
        .source("RFC 5681")
}

/// The law of RFC 5681.
#[derive(Clone, Copy, Debug)]
pub struct Reno;

impl WindowLaw for Reno {
    /// RFC 5681, equation 3, in segments.
    fn gain(&self, at: &Operating) -> f64 {
        1.0 / at.window.0
    }

    /// RFC 5681, equation 4.
    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.5
    }
}
