//! VCP: a router that tells in two bits how loaded it is.
//!
//! Y. Xia, L. Subramanian, I. Stoica, S. Kalyanaraman, "One More Bit Is Enough", SIGCOMM 2005, section 4; also IEEE/ACM
//! Transactions on Networking 16(6), 2008.
//!
//! # The problem
//!
//! One bit can say "too much" or "not too much". Senders that hear only this must always be ready to retreat, so they
//! grow slowly even on an empty link. With a second bit a router can also say "by far not enough".
//!
//! # The algorithm
//!
//! Every `t_ρ` the router works out its load factor, from the bytes λ that have arrived in it, the mean queue q̄ of
//! its samples in it, and the capacity C in bytes per second:
//!
//! ```text
//!     ρ = (λ + κ_q q̄)/(γ C t_ρ)
//!     code = 1 (low load)    if ρ < 80 %
//!            2 (high load)   if 80 % ≤ ρ < 100 %
//!            3 (overload)    if ρ ≥ 100 %
//! ```
//!
//! Each packet of a VCP flow leaves with the larger of this code and the one that it came with, and so arrives with
//! that of the most loaded link. Until the first load factor is there, the load is low. What senders make of it is in
//! the controller `vcp`.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `interval` | `t_ρ` | 200 ms | 2005: above three quarters of all round trips; the same in all routers and hosts |
//! | `gamma` | γ | 0.98 | 2005: the utilisation to aim at |
//! | `kappa` | `κ_q` | 0.5 | 2005: how fast the queue is drained |
//! | `low_load` | ρ̂ | 0.8 | 2005 |
//!
//! The load factor, its codes, `t_ρ`, `κ_q`, ρ̂ and the sampling every 10 ms were checked against the authors' program for
//! ns-2 (`vcp-queue`, `vcp-cmn`); the text of the paper was not at hand. That program has given up one γ: it aims at 0.96
//! at 10 Mbit/s, 0.985 at 1 Gbit/s and 0.99 at 10 Gbit/s. Its filter of queue samples gives a new mean a quarter.
//!
//! # Domain
//!
//! Round trips of up to a few `t_ρ`. The load of a window that comes in one burst per round trip is seen in some
//! intervals and not in others where the round trip is longer.
//!
//! C is what the router believes that it can send. Behind a policer, which drops before the queue, it sees a load that is
//! always low; of a link that follows a trace of opportunities it knows the mean alone.
//!
//! # Deviations
//!
//! * The queue is sampled twenty times per `t_ρ`, which is the paper's every 10 ms for its 200 ms. The paper smooths
//!   the samples with a filter; here q̄ is their mean.
//! * Bytes that the full buffer has no room for count as load, since they are asked for.
//! * C is the rate of the link as it is when an interval ends, and during an outage that before it. Where a `shaper`
//!   behind the queue is slower than the link, C is its rate.
//! * The packet in service is not part of the queue.
//!
//! # What the paper promises
//!
//! * The codes at the thresholds (`tests/vcp.rs`).
//! * What flows make of them: in the tests of the simulator (`crates/sim/tests/explicit.rs`).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, Rate, RouterHeader, Span, Time};
use rand_core::Rng;

use crate::{Arrival, Backlog, Built, Discipline, Policy, Probe, Refusal, Site, Verdict};

/// VCP's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("vcp", |settings, site| Built::Fifo(Some(Box::new(Vcp::new(settings, site)))))
        .title("VCP: tells the flows of the controller of the same name in two bits how loaded the link is")
        .source("Xia, Subramanian, Stoica & Kalyanaraman, SIGCOMM 2005")
        .parameters([
            Parameter::span(
                "interval",
                "200 ms",
                "time over which the load is measured (t_rho)",
            ),
            Parameter::number("gamma", 0.98, 0.01, 1.0, "utilisation to aim at"),
            Parameter::number(
                "kappa",
                0.5,
                0.0,
                100.0,
                "share of the queue that counts as load of an interval (kappa_q)",
            ),
            Parameter::number(
                "low_load",
                0.8,
                0.0,
                1.0,
                "the load is low below this share of that utilisation",
            ),
        ])
        .check(check)
}

/// Samples of the queue in an interval.
const SAMPLES: u64 = 20;

/// Looking at the queue more often than every microsecond would not be a simulation of a router.
fn check(settings: &Settings, _: &Site) -> Result<(), Refusal> {
    let (interval, least) = (settings.span("interval"), Span(SAMPLES * 1_000_000));
    if interval < least {
        let reason = format!("`interval` must be at least {least}, but it is {interval}");
        return Err(("interval".into(), reason));
    }
    Ok(())
}

/// The policy.
#[derive(Debug)]
struct Vcp {
    /// λ so far, in bytes.
    input: u64,
    /// The sum of the samples of the queue, in bytes, and their number.
    queues: u64,
    samples: u64,
    /// ρ
    load: f64,
    code: u8,

    sampling: Span,
    kappa: f64,
    gamma: f64,
    /// `t_ρ`, in seconds.
    interval: f64,
    /// γ C `t_ρ`, in bytes.
    full: f64,
    low_load: f64,
}

impl Vcp {
    fn new(settings: &Settings, site: &Site) -> Self {
        let sampling = Span((settings.span("interval") / SAMPLES).0.max(1));
        let mut router = Self {
            input: 0,
            queues: 0,
            samples: 0,
            load: 0.0,
            code: 1,
            sampling,
            kappa: settings.number("kappa"),
            gamma: settings.number("gamma"),
            interval: (sampling * SAMPLES).seconds(),
            full: 0.0,
            low_load: settings.number("low_load"),
        };
        router.set_rate(site.rate);
        router
    }

    fn set_rate(&mut self, rate: Rate) {
        self.full = self.gamma * rate.0 as f64 / 8.0 * self.interval;
    }

    /// An interval is over.
    fn measure(&mut self) {
        let queue = self.queues as f64 / SAMPLES as f64;
        self.load = (self.input as f64 + self.kappa * queue) / self.full;
        self.code = 1 + u8::from(self.load >= self.low_load) + u8::from(self.load >= 1.0);
        (self.input, self.queues, self.samples) = (0, 0, 0);
    }
}

impl Policy for Vcp {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn Rng) -> Verdict {
        self.input += arrival.bytes.0;
        Verdict::Keep
    }

    fn on_overflow(&mut self, arrival: &Arrival) {
        self.input += arrival.bytes.0;
    }

    fn reads_headers(&self) -> bool {
        true
    }

    fn on_header(&mut self, _: Bytes, header: &mut RouterHeader) {
        header.code = header.code.max(self.code);
    }

    fn period(&self) -> Option<Span> {
        Some(self.sampling)
    }

    fn on_ticks(&mut self, mut count: u64, backlog: Backlog) {
        // Nothing arrives in between: the second interval of such samples alone, and all that follow, are alike.
        if count > 3 * SAMPLES {
            count = 2 * SAMPLES + count % SAMPLES;
        }
        for _ in 0..count {
            self.queues += backlog.bytes.0;
            self.samples += 1;
            if self.samples == SAMPLES {
                self.measure();
            }
        }
    }

    /// The interval that it falls into is measured by it as a whole.
    fn on_rate(&mut self, _: Time, rate: Rate) {
        self.set_rate(rate);
    }

    /// The load factor of the last interval.
    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("load", self.load);
    }
}
