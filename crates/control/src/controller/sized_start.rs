//! Sized start: an initial window that is a function of transfer size over bandwidth-delay product.
//!
//! After H. Kim, D. J. Farber, "A new congestion control framework for large bandwidth-delay product networks",
//! University of Pennsylvania, 1995, section 3, which ends where this begins: aggressiveness "should be a variable
//! depending on the ratio between bandwidth-delay product and transported data size", and priority discarding cannot
//! be had "at every multiplexing point". The paper gives no formula; this one is ours.
//!
//! A transfer of F segments over a path that holds B can be sent before any feedback comes if F ≤ B: probing upwards is
//! then pure cost. A transfer of many B has feedback for most of its life, so probing costs it little, and its losses
//! would be costly to others. So, with r = F/(θB), the share of a transfer that leaves at once:
//!
//! ```text
//!     w₀/F = 1            r ≤ 1           so all of it
//!            r^-κ         r > 1           so w₀ = θB r^(1-κ): (θB)²/F for κ = 2
//!     and w₀ is never below the flow's own initial window
//! ```
//!
//! From there on it is Reno, slow start and all.
//!
//! | parameter | default | meaning |
//! |-----------|---------|---------|
//! | `share`   | 1       | θ: the share of the bandwidth-delay product that the path is trusted to have free |
//! | `falloff` | 2       | κ: 1 keeps w₀ at θB for any size; more makes large transfers start like all others |
//!
//! What the sender knows before it sends: the size; the rate of its own link (`access`), which stands for that of the
//! path; and the round trip, from setting up the connection. No switch helps. Where the bottleneck is slower than the
//! access link, B is overestimated by that factor, and the part of the first window that the buffer cannot hold is
//! lost: that is the price, and `share` sets it.
//!
//! Needs: `access`. A flow without an end starts like any other.
//!
//! Domain: any size. Deviations: none to deviate from. Held: the numbers of the paper's networks
//! (`tests/theory/sized_start.rs`); a transfer that fits into the path takes as long as a burst without a window
//! (`crates/sim/tests/blitz.rs`).

use longfat_units::Segments;
use longfat_units::math::pow;
use longfat_units::parameter::{Parameter, Settings};

use super::reno::Reno;
use crate::{Cause, Controller, Needs, Operating, Sending, Start, WindowLaw, Windowed};

/// The entry of sized start in the catalogue.
pub fn controller() -> Controller {
    Controller::new("sized-start", build)
        .title("Reno with an initial window that depends on transfer size over bandwidth-delay product")
        .source("after Kim & Farber 1995, section 3")
        .parameters([
            Parameter::number(
                "share",
                1.0,
                0.001,
                100.0,
                "share of the bandwidth-delay product that may leave at once (theta)",
            ),
            Parameter::number(
                "falloff",
                2.0,
                1.0,
                10.0,
                "how fast the share of a transfer that leaves at once falls with its size (kappa)",
            ),
        ])
        .law(|_| Box::new(SizedStart))
}

fn build(settings: &Settings, start: &Start) -> Sending {
    let window = first_window(settings, start)
        .map_or(start.window, |window| if start.window < window { window } else { start.window });
    Windowed::boxed(SizedStart, &Start { window, ..*start })
}

/// w₀, where the size, the rate and the round trip are known.
fn first_window(settings: &Settings, start: &Start) -> Option<Segments> {
    let size = start.transfer? as f64;
    let trusted = settings.number("share") * start.access? * start.round_trip?.seconds();
    let ratio = size / trusted;
    Some(Segments(if ratio <= 1.0 { size } else { size * pow(ratio, -settings.number("falloff")) }))
}

/// The law once under way: Reno's.
#[derive(Clone, Copy, Debug)]
pub struct SizedStart;

impl WindowLaw for SizedStart {
    fn gain(&self, at: &Operating) -> f64 {
        Reno.gain(at)
    }

    fn give_up(&self, at: &Operating, cause: Cause) -> f64 {
        Reno.give_up(at, cause)
    }

    fn needs(&self) -> Needs {
        Needs { access: true, ..Needs::NONE }
    }
}
