//! REM: random exponential marking, which sets the price of a link from its excess load and its excess queue.
//!
//! S. Athuraliya, V. H. Li, S. H. Low, Q. Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001.
//!
//! # The problem
//!
//! Where the marking probability is a function of the queue, as in RED, more flows need more marks and so a longer
//! queue: the measure of congestion is tied to the performance. REM separates the two. Congestion is a number of its
//! own, the price, that rises as long as there is more load than capacity or more queue than wanted, and falls
//! otherwise. In equilibrium the load is the capacity and the queue is the target, whatever the number of flows.
//!
//! # The algorithm
//!
//! Every `interval`, with x the packets that arrived in it, c those that the link can send in it, and b waiting:
//!
//! ```text
//!     p ← max(p + γ (α (b - b*) + x - c), 0)
//!     each arrival is marked with probability  m = 1 - φ^-p
//! ```
//!
//! The probability that a packet is marked somewhere on a path with prices p₁ … pₙ is 1 - φ^-Σp: sources see the sum of
//! the prices.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `gamma` | γ | 0.001 | simulations of the papers' time |
//! | `alpha` | α | 0.1 | simulations of the papers' time |
//! | `phi` | φ | 1.001 | 2001 |
//! | `target` | b* | 20 packets | simulations of the papers' time |
//! | `interval` | | 2 ms | simulations of the papers' time |
//! | `ecn` | | true | RFC 3168; `false` drops |
//!
//! # Domain
//!
//! γ is per packet, not per share of the capacity: the same excess of 1 % of the load moves the price a hundred times
//! faster at 1 Gbit/s than at 10 Mbit/s. The defaults date from the days of 10 Mbit/s. Where the price oscillates, γ is
//! too large for the round trips; with a `target` of 0 the queue runs empty, and some capacity is lost.
//!
//! # Deviations
//!
//! * x and c count bytes, in packets of the largest size that crosses, so an acknowledgment of 40 bytes counts only as
//!   the load that it is. b and b* are counted like the buffer; if that is in bytes, in packets of the largest size
//!   too.
//! * x is the count of the interval itself. Implementations smooth it.
//! * The packet in service is not part of b.
//! * c goes by the rate of the link as it is when an interval ends, by that before it during an outage, and by that of a
//!   `shaper` behind the queue where it is slower than the link.
//!
//! # What the paper promises
//!
//! * Prices add up along a path (`prices_add_up_along_a_path`).
//! * The queue settles at the target and the link is full, however many flows there are
//!   (`rem_and_pi_hold_the_queue_at_the_target`, in the tests of the simulator), and whatever the rate becomes
//!   (`rem_holds_its_target_after_the_rate_has_changed`).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, Rate, Span, Time, math};
use rand_core::Rng;

use crate::shared::{LengthUnit, check_interval, check_target, mark_at_random};
use crate::{Arrival, Backlog, Built, Discipline, Policy, Probe, Site, Verdict};

/// REM's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("rem", |settings, site| Built::Fifo(Some(Box::new(Rem::new(settings, site)))))
        .title(
            "random exponential marking: a price of excess load and excess queue, \
         to match rates and clear buffers",
        )
        .source("Athuraliya, Li, Low & Yin 2001")
        .parameters([
            Parameter::number(
                "gamma",
                0.001,
                f64::MIN_POSITIVE,
                1e3,
                "step of the price per packet of excess",
            ),
            Parameter::number(
                "alpha",
                0.1,
                0.0,
                1e3,
                "weight of a packet of excess queue against one of excess load",
            ),
            Parameter::number(
                "phi",
                1.001,
                1.0001,
                1e3,
                "base of the marking probability 1 - phi^-price",
            ),
            Parameter::length("target", "20 packets", "queue to hold (b*)"),
            Parameter::span("interval", "2 ms", "time from one update of the price to the next"),
            Parameter::flag(
                "ecn",
                true,
                "marks packets that can be marked instead of dropping them",
            ),
        ])
        .check(|settings, site| {
            check_target(settings, site)?;
            check_interval(settings)
        })
}

/// The policy. Lengths and loads are in packets of the largest size.
#[derive(Debug)]
struct Rem {
    /// p
    price: f64,
    /// m
    probability: f64,
    /// Bytes that arrived since the last update.
    arrived: u64,

    gamma: f64,
    alpha: f64,
    /// ln φ
    ln_phi: f64,
    /// b*
    target: f64,
    /// c
    capacity: f64,
    /// Bytes of a packet.
    packet: f64,
    unit: LengthUnit,
    /// One over the size of a packet in the unit of the queue.
    per_unit: f64,
    interval: Span,
    ecn: bool,
}

impl Rem {
    fn new(settings: &Settings, site: &Site) -> Self {
        let unit = LengthUnit::of(site.capacity);
        let per_unit = 1.0 / unit.per_packet(site);
        let interval = settings.span("interval");
        let packet = site.packet.0 as f64;
        let mut link = Self {
            price: 0.0,
            probability: 0.0,
            arrived: 0,
            gamma: settings.number("gamma"),
            alpha: settings.number("alpha"),
            ln_phi: math::ln(settings.number("phi")),
            target: settings.number("target") * per_unit,
            capacity: 0.0,
            packet,
            unit,
            per_unit,
            interval,
            ecn: settings.flag("ecn"),
        };
        link.set_rate(site.rate);
        link
    }

    fn set_rate(&mut self, rate: Rate) {
        self.capacity = rate.0 as f64 * self.interval.seconds() / (8.0 * self.packet);
    }
}

impl Policy for Rem {
    fn on_arrival(&mut self, arrival: &Arrival, chance: &mut dyn Rng) -> Verdict {
        let Bytes(bytes) = arrival.bytes;
        self.arrived += bytes;
        mark_at_random(self.probability, self.ecn, arrival, chance)
    }

    /// A packet that finds no space is load as well.
    fn on_overflow(&mut self, arrival: &Arrival) {
        let Bytes(bytes) = arrival.bytes;
        self.arrived += bytes;
    }

    fn period(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_ticks(&mut self, count: u64, backlog: Backlog) {
        let b = self.unit.length(backlog) * self.per_unit;
        for _ in 0..count {
            let x = std::mem::take(&mut self.arrived) as f64 / self.packet;
            let excess = self.alpha * (b - self.target) + x - self.capacity;
            let before = self.price;
            self.price = (before + self.gamma * excess).max(0.0);
            // Nothing more will change on a link that has gone quiet.
            if x == 0.0 && self.price == before {
                break;
            }
        }
        self.probability = -math::expm1(-self.price * self.ln_phi);
    }

    /// The interval that it falls into is measured by it as a whole.
    fn on_rate(&mut self, _: Time, rate: Rate) {
        self.set_rate(rate);
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("price", self.price);
        probe.value("probability", self.probability);
    }
}
