//! PI: the queue held at a target by a proportional-integral controller.
//!
//! C. V. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP
//! Flows", INFOCOM 2001.
//!
//! # The problem
//!
//! Linearised around its equilibrium, a queue with TCP flows through it is a plant like any other, and RED is a
//! proportional controller behind a slow filter: it cannot be both quick and stable, and it leaves an error, a queue
//! that grows with the load. An integral term removes the error: as long as the queue is off its target, the marking
//! probability keeps moving.
//!
//! # The algorithm
//!
//! Every `interval` T, with q waiting then:
//!
//! ```text
//!     p(kT) = p((k-1)T) + a (q(kT) - q_ref) - b (q((k-1)T) - q_ref),     within 0 … 1
//!     each arrival is marked with probability p
//! ```
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `a` | a | 1.822e-5 | 2001, its example |
//! | `b` | b | 1.816e-5 | 2001, its example |
//! | `target` | `q_ref` | 50 packets | simulations of the papers' time; 2001: 200 |
//! | `interval` | T | 6.25 ms | 2001: 160 Hz; simulations of the papers' time: 170 Hz |
//! | `ecn` | | true | RFC 3168; `false` drops |
//!
//! # Domain
//!
//! a and b belong to the paper's example: C = 3750 packets per second, N = 60 flows or more, round trips up to
//! R = 246 ms. They come from the controller K (s/z + 1)/s by the bilinear rule:
//!
//! ```text
//!     a = K (1/z + T/2),   b = K (1/z - T/2)
//!     z = 2N/(R²C),        K = z √(1 + (zR)²) (2N)²/(RC)³
//! ```
//!
//! with K = 9.64e-6 and z = 0.53 there. Elsewhere they should be recalculated: K falls with the fourth power of the
//! capacity and with the fifth of the round trip, so on a fatter path the defaults are too fast and the queue
//! oscillates, while with more flows or shorter round trips they are merely slow.
//!
//! # Deviations
//!
//! * q and the target are counted like the buffer; if that is in bytes, in packets of the largest size that crosses.
//! * The packet in service is not part of q.
//! * p does not depend on the size of the packet.
//!
//! # What the paper promises
//!
//! * a and b are those of K and z above (`the_defaults_are_the_controller_of_the_paper`).
//! * The queue settles at the target, however many flows there are (`rem_and_pi_hold_the_queue_at_the_target`, in the
//!   tests of the simulator).

use longfat_units::Span;
use longfat_units::parameter::{Parameter, Settings};
use rand_core::Rng;

use crate::shared::{LengthUnit, check_interval, check_target, mark_at_random};
use crate::{Arrival, Backlog, Built, Discipline, Policy, Probe, Refusal, Site, Verdict};

/// PI's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("pi", |settings, site| Built::Fifo(Some(Box::new(Pi::new(settings, site)))))
        .title(
            "proportional-integral control of the marking probability, to hold the queue \
         at a target",
        )
        .source("Hollot, Misra, Towsley & Gong 2001")
        .parameters([
            Parameter::number(
                "a",
                1.822e-5,
                f64::MIN_POSITIVE,
                1.0,
                "probability per packet above the target now",
            ),
            Parameter::number(
                "b",
                1.816e-5,
                0.0,
                1.0,
                "probability per packet above the target an interval ago",
            ),
            Parameter::length("target", "50 packets", "queue to hold (q_ref)"),
            Parameter::span(
                "interval",
                "6.25 ms",
                "time from one update of the probability to the next (T)",
            ),
            Parameter::flag(
                "ecn",
                true,
                "marks packets that can be marked instead of dropping them",
            ),
        ])
        .check(check)
}

fn check(settings: &Settings, site: &Site) -> Result<(), Refusal> {
    let (a, b) = (settings.number("a"), settings.number("b"));
    if b >= a {
        let reason = "`b` must be below `a`: their difference moves the probability while the queue is off its target";
        return Err(("b".into(), reason.into()));
    }
    check_target(settings, site)?;
    check_interval(settings)
}

/// The policy. Lengths are in packets of the largest size.
#[derive(Debug)]
struct Pi {
    /// p
    probability: f64,
    /// q - `q_ref` at the last update.
    last: f64,

    a: f64,
    b: f64,
    /// `q_ref`
    target: f64,
    unit: LengthUnit,
    /// One over the size of a packet in the unit of the queue.
    per_unit: f64,
    interval: Span,
    ecn: bool,
}

impl Pi {
    fn new(settings: &Settings, site: &Site) -> Self {
        let unit = LengthUnit::of(site.capacity);
        let per_unit = 1.0 / unit.per_packet(site);
        let target = settings.number("target") * per_unit;
        Self {
            probability: 0.0,
            // An empty queue before the first one.
            last: -target,
            a: settings.number("a"),
            b: settings.number("b"),
            target,
            unit,
            per_unit,
            interval: settings.span("interval"),
            ecn: settings.flag("ecn"),
        }
    }
}

impl Policy for Pi {
    fn on_arrival(&mut self, arrival: &Arrival, chance: &mut dyn Rng) -> Verdict {
        mark_at_random(self.probability, self.ecn, arrival, chance)
    }

    fn period(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_ticks(&mut self, count: u64, backlog: Backlog) {
        let error = self.unit.length(backlog) * self.per_unit - self.target;
        for _ in 0..count {
            let last = std::mem::replace(&mut self.last, error);
            let next = (self.probability + self.a * error - self.b * last).clamp(0.0, 1.0);
            let before = std::mem::replace(&mut self.probability, next);
            // Once two equal looks in a row change nothing, neither do the rest.
            if next == before && last == error {
                break;
            }
        }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("probability", self.probability);
    }
}
