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
//! | `gamma` | γ | 0.98 | 2005: the utilisation to aim at; `"auto"` as below |
//! | `kappa` | `κ_q` | 0.5 | 2005: how fast the queue is drained |
//! | `low_load` | ρ̂ | 0.8 | 2005 |
//!
//! The load factor, its codes, `t_ρ`, `κ_q`, ρ̂ and the sampling every 10 ms were checked against the authors' program for
//! ns-2 (`vcp-queue`, `vcp-cmn`); the text of the paper was not at hand.
//!
//! # An aim that adapts
//!
//! γ is where overload begins, so with one γ the mean is below it, by as much as the sawtooth is deep. The authors'
//! program can aim at a mean instead, with `gamma = "auto"` here; in the copies at hand that part is commented out or not
//! there yet, and γ stays at 0.95. It has a goal that depends on C, and begins with γ = 0.95:
//!
//! ```text
//!     C of about       1 Mbit/s   10     100    1 Gbit/s   10     100    1 Tbit/s
//!     goal             0.94       0.96   0.975  0.985      0.99   0.992  0.993
//!     step             0.005      0.004  0.003  0.002      0.001  0.001  0.001
//!
//!     every 10 t_ρ     γ ← γ + step  if the mean of (λ + κ_q q̄)/(C t_ρ) was below the goal
//!                      γ ← γ - step  if it was above,      between 0.1 and 0.999
//! ```
//!
//! and so on down to 0.8 below 1 kbit/s; C belongs to the power of ten of which it has two thirds. Few flows on a fast
//! link do not reach the goal: their sawtooth goes from β γ to γ, (1 + 0.875)/2 = 0.94 on average at the most. Where the
//! goal is missed γ stays at 0.999. The more flows there are, the farther they go beyond γ before they hear of it.
//!
//! # Domain
//!
//! Round trips of up to one and a half `t_ρ`. The load of a window that comes in one burst per round trip is seen in some
//! intervals and not in others where the round trip is longer: from 2 `t_ρ` on such a flow takes nearly all from those with
//! shorter ones, unless it is paced (the controller `vcp` has numbers).
//!
//! C is what the router believes that it can send. Behind a policer, which drops before the queue, it sees a load that is
//! always low; of a link that follows a trace of opportunities it knows the mean alone.
//!
//! # Deviations
//!
//! * The queue is sampled twenty times per `t_ρ`, which is the paper's every 10 ms for its 200 ms. The paper smooths
//!   the samples with a filter; here q̄ is their mean.
//! * The authors' program gives a new mean of the queue a quarter of its filter, and rounds the load factor up to whole
//!   percents, so that overload begins at 99 % of γ. A mean within half a ten-thousandth of the goal counts as the goal.
//! * Bytes that the full buffer has no room for count as load, since they are asked for.
//! * C is the rate of the link as it is when an interval ends, and during an outage that before it. Where a `shaper`
//!   behind the queue is slower than the link, C is its rate.
//! * The packet in service is not part of the queue.
//! * The code is written when a packet arrives, not when it leaves: it is older by the wait.
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
            Parameter::number_or(
                "gamma",
                0.98,
                (0.01, 1.0),
                ["auto"],
                "utilisation at which overload begins; \"auto\" moves it until the mean is what the rate asks for",
            ),
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

/// An adapting γ at the beginning, and its bounds.
const FIRST_GAMMA: f64 = 0.95;
const GAMMAS: (f64, f64) = (0.1, 0.999);
/// Intervals after which it changes.
const PATIENCE: u64 = 10;
/// For the powers of ten of a rate, from 1 kbit/s: the mean utilisation that is the goal, and a step of γ.
const GOALS: [(f64, f64); 10] = [
    (0.85, 0.01),
    (0.89, 0.008),
    (0.92, 0.006),
    (0.94, 0.005),
    (0.96, 0.004),
    (0.975, 0.003),
    (0.985, 0.002),
    (0.99, 0.001),
    (0.992, 0.001),
    (0.993, 0.001),
];
/// The same below that.
const LOWEST_GOAL: (f64, f64) = (0.8, 0.02);
/// A rate belongs to a power of ten if it has this share of it.
const NEARLY: f64 = 0.66;

/// The goal for a rate in bit/s, and the step towards it.
fn goal(rate: f64) -> (f64, f64) {
    let mut found = LOWEST_GOAL;
    let mut power = 1000.0;
    for goal in GOALS {
        if rate >= NEARLY * power {
            found = goal;
        }
        power *= 10.0;
    }
    found
}

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
    /// C, in bit/s.
    rate: f64,
    low_load: f64,
    /// How γ adapts, if it does.
    adapting: Option<Adapting>,
}

/// An aim that adapts.
#[derive(Debug, Default)]
struct Adapting {
    /// The sum of the utilisations since γ changed last, and their number.
    used: f64,
    intervals: u64,
}

impl Adapting {
    /// An interval is over in which so much of the capacity was used, which is `rate` in bit/s. Returns γ.
    fn adapt(&mut self, gamma: f64, used: f64, rate: f64) -> f64 {
        self.used += used;
        self.intervals += 1;
        if self.intervals < PATIENCE {
            return gamma;
        }
        let mean = self.used / PATIENCE as f64;
        (self.used, self.intervals) = (0.0, 0);
        let (goal, step) = goal(rate);
        let change = if mean < goal {
            step
        } else if mean > goal {
            -step
        } else {
            0.0
        };
        (gamma + change).clamp(GAMMAS.0, GAMMAS.1)
    }
}

impl Vcp {
    fn new(settings: &Settings, site: &Site) -> Self {
        let sampling = Span((settings.span("interval") / SAMPLES).0.max(1));
        let gamma = settings.number_or_word("gamma");
        Self {
            input: 0,
            queues: 0,
            samples: 0,
            load: 0.0,
            code: 1,
            sampling,
            kappa: settings.number("kappa"),
            gamma: gamma.unwrap_or(FIRST_GAMMA),
            interval: (sampling * SAMPLES).seconds(),
            rate: site.rate.0 as f64,
            low_load: settings.number("low_load"),
            adapting: gamma.is_none().then(Adapting::default),
        }
    }

    /// An interval is over.
    fn measure(&mut self) {
        let queue = self.queues as f64 / SAMPLES as f64;
        let load = self.input as f64 + self.kappa * queue;
        self.load = load / (self.gamma * self.rate / 8.0 * self.interval);
        self.code = 1 + u8::from(self.load >= self.low_load) + u8::from(self.load >= 1.0);
        (self.input, self.queues, self.samples) = (0, 0, 0);
        if let Some(adapting) = &mut self.adapting {
            let used = load / (self.rate / 8.0 * self.interval);
            self.gamma = adapting.adapt(self.gamma, used, self.rate);
        }
    }

    /// After how many samples without an arrival all is as it was so many samples before. An aim that adapts needs all
    /// the steps from one of its bounds to the other.
    fn alike(&self) -> (u64, u64) {
        if self.adapting.is_none() {
            return (2 * SAMPLES, SAMPLES);
        }
        let steps = (GAMMAS.1 - GAMMAS.0) / goal(self.rate).1;
        ((steps as u64 + 4) * PATIENCE * SAMPLES, PATIENCE * SAMPLES)
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
        let (after, cycle) = self.alike();
        if count > after + cycle {
            count = after + (count - after) % cycle;
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
        self.rate = rate.0 as f64;
    }

    /// The load factor of the last interval, and γ.
    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("load", self.load);
        probe.value("gamma", self.gamma);
    }
}
