//! Constant rate: Reno whose rate, not its window, grows equally fast at every round trip.
//!
//! S. Floyd, "Connections with Multiple Congested Gateways in Packet-Switched Networks, Part 1: One-way Traffic", ACM
//! SIGCOMM Computer Communication Review 21(5), 1991.
//!
//! Reno adds a segment per round trip: in a second 1/R segments to the window, and 1/R² to the rate w/R. The rates of
//! flows that lose together are then proportional to 1/R². Here the rate grows by c segments per second in each second,
//! whatever the round trip:
//!
//! ```text
//!     each acknowledged segment    w ← w + min(1, c R²/w)      so c R² segments per round trip
//!     each congestion event        w ← w/2
//! ```
//!
//! Two flows that lose together halve the difference of their rates each time and keep it in between, so their rates
//! meet and their windows are proportional to the round trips. CW-HSTCP, which descends from it, takes c R in place of
//! c R² and makes the windows equal instead.
//!
//! | parameter | default | source                                                              |
//! |-----------|---------|---------------------------------------------------------------------|
//! | `c`       | 100 /s  | ours: Reno at 100 ms, where `cw-hstcp` is HSTCP; 4 /s is Reno at 500 ms |
//!
//! Deviation: no acknowledged segment adds more than one, the growth of slow start. R is the smoothed round trip,
//! queueing included, as w/R is the rate.
//!
//! Domain: any window. Like Reno it adds too little to large windows: c compensates only for the round trip.
//!
//! Promised, held in `tests/theory/constant_rate.rs`: the growth of the rate; equal rates after losses that come
//! together.

use longfat_units::parameter::{Parameter, Settings};

use crate::{Cause, Controller, Operating, WindowLaw};

/// The entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("constant-rate", ConstantRate::new)
        .title("Constant rate: Reno whose rate grows equally fast at every round trip")
        .source("S. Floyd, CCR 21(5), 1991")
        .parameters([Parameter::frequency(
            "c",
            100.0,
            1e-3,
            1e6,
            "growth of the rate per second, in segments per second",
        )])
}

/// The law of the paper.
#[derive(Clone, Copy, Debug)]
pub struct ConstantRate {
    c: f64,
}

impl ConstantRate {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        Self { c: settings.number("c") }
    }
}

impl WindowLaw for ConstantRate {
    /// min(1, c R²/w).
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let rtt = at.rtt.seconds();
        (self.c * rtt * rtt / at.window.0).min(1.0)
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.5
    }
}
