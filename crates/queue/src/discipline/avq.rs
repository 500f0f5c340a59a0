//! AVQ: the adaptive virtual queue, which holds the utilisation of a link at a target.
//!
//! S. Kunniyur, R. Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm for Active Queue
//! Management", SIGCOMM 2001; also IEEE/ACM Transactions on Networking 12(2), 2004.
//!
//! # The problem
//!
//! A queue that marks by its own length must have a length before it can signal, and the length at which it settles
//! depends on how many flows there are. AVQ signals before there is a queue. It lets every arrival also enter a queue
//! that exists on paper only, behind a slower link, and marks what this virtual queue has no room for. How much slower
//! the virtual link is, its virtual capacity, is adapted until the load is the desired share of the real capacity.
//!
//! # The algorithm
//!
//! When b bytes arrive at t, and the previous arrival was at s:
//!
//! ```text
//!     VQ ← max(VQ - C̃ (t - s), 0)
//!     if VQ + b > B     mark or drop the packet
//!     else              VQ ← VQ + b
//!     C̃ ← max(min(C̃ + α γ C (t - s), C) - α b, 0)
//! ```
//!
//! The last line is a token bucket; between its bounds it is the same as dC̃/dt = α (γ C - λ) with the arrival rate λ:
//! C̃ rests only where λ = γ C.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `utilisation` | γ | 0.98 | the experiments of 2001 |
//! | `alpha` | α | 0.15 /s | the experiments of 2001 |
//! | `limit` | B | 1 buffer | 2001: the virtual buffer is as large as the real one |
//! | `start` | C̃/C at the start | 0.8 | simulations of the papers' time |
//! | `ecn` | | true | RFC 3168; `false` drops |
//!
//! The AntiECN paper uses γ = 0.96 and does not mention B; simulations of that time had 50 packets by default.
//!
//! # Domain
//!
//! 1/α is the memory of C̃: 6.7 s for the default, whatever the capacity. A load that changes faster finds C̃ where it
//! was: a lone Reno flow on a long fat path runs over γ C before C̃ has come down. A large α follows faster and, beyond
//! a bound that the paper derives from the capacity, the number of flows and the longest round trip, oscillates.
//!
//! B must hold the bursts that come at a load of γ, as C̃ cannot rise above C to make up for it: 20 Reno flows at 100
//! Mbit/s and 40 ms with γ = 0.96 keep it to 0.0003 with B = 1 bdp, and reach no more than 0.93 with 0.3 bdp and 0.88
//! with 50 packets.
//!
//! # Deviations
//!
//! * The virtual queue counts bytes, as the paper does, whatever the real queue counts. A `limit` in packets stands for
//!   that many packets of the largest size that crosses.
//! * The paper has one C. Here it is the rate of the link as it changes, during an outage that before it, and that of a
//!   `shaper` behind the queue where it is slower than the link. B stays what it was.
//! * A packet that is dropped, by this rule or because the real buffer is full, takes nothing from C̃ and no room in the
//!   virtual queue: it does not use the link, and γ is the utilisation of the link. The paper marks, so the case does not
//!   arise there.
//!
//! # What the paper promises
//!
//! * C̃ falls by α (λ - γ C) per second under a load λ > γ C, and stands still under γ C
//!   (`the_virtual_capacity_follows_the_excess_load`).
//! * The utilisation is γ, however many flows there are (`avq_holds_the_utilisation_that_is_asked_for`, in the tests of
//!   the simulator: 20 Reno flows at 100 Mbit/s), also after the rate has changed
//!   (`avq_holds_its_utilisation_after_the_rate_has_changed`).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, Rate, Time};
use rand_core::Rng;

use crate::shared::LengthUnit;
use crate::{Arrival, Built, Discipline, Policy, Probe, Refusal, Site, Verdict};

/// AVQ's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("avq", |settings, site| Built::Fifo(Some(Box::new(Avq::new(settings, site)))))
        .title(
            "adaptive virtual queue: marks what would not fit into the queue of a slower link, to hold a utilisation",
        )
        .source("Kunniyur & Srikant 2001")
        .parameters([
            Parameter::number(
                "utilisation",
                0.98,
                1e-3,
                1.0,
                "load to hold, as a share of the rate (gamma)",
            ),
            Parameter::frequency(
                "alpha",
                0.15,
                1e-6,
                1e6,
                "how fast the virtual capacity follows the load",
            ),
            Parameter::length("limit", "1 buffer", "what the virtual queue holds (B)"),
            Parameter::number(
                "start",
                0.8,
                0.0,
                1.0,
                "virtual capacity at the start, as a share of the rate",
            ),
            Parameter::flag(
                "ecn",
                true,
                "marks packets that can be marked instead of dropping them",
            ),
        ])
        .check(check)
}

/// The virtual queue must have space for one packet.
fn check(settings: &Settings, site: &Site) -> Result<(), Refusal> {
    if limit(settings, site) < site.packet.0 as f64 {
        let reason = format!(
            "`limit` ({}) must be at least one packet of {}, the largest that crosses this link: a virtual queue that \
             holds none would mark them all",
            LengthUnit::of(site.capacity).show(settings.number("limit")),
            site.packet
        );
        return Err(("limit".into(), reason));
    }
    Ok(())
}

/// B in bytes.
fn limit(settings: &Settings, site: &Site) -> f64 {
    let packets = settings.number("limit") / LengthUnit::of(site.capacity).per_packet(site);
    packets * site.packet.0 as f64
}

/// The policy. Lengths are in bytes, rates in bytes per second.
#[derive(Debug)]
struct Avq {
    /// VQ
    queue: f64,
    /// C̃
    virtual_capacity: f64,
    /// s
    last: Time,

    /// C
    capacity: f64,
    /// α
    alpha: f64,
    /// α γ C and α γ
    growth: f64,
    pace: f64,
    /// B
    limit: f64,
    ecn: bool,
}

impl Avq {
    fn new(settings: &Settings, site: &Site) -> Self {
        let capacity = site.rate.0 as f64 / 8.0;
        let alpha = settings.number("alpha");
        let pace = alpha * settings.number("utilisation");
        Self {
            queue: 0.0,
            virtual_capacity: settings.number("start") * capacity,
            last: Time::ZERO,
            capacity,
            alpha,
            growth: pace * capacity,
            pace,
            limit: limit(settings, site),
            ecn: settings.flag("ecn"),
        }
    }

    /// The effect of time alone on VQ and C̃. The queue drains at the capacity before the update.
    #[inline]
    fn pass(&mut self, now: Time) {
        let elapsed = now.since(self.last).seconds();
        self.last = now;
        self.queue = (self.queue - self.virtual_capacity * elapsed).max(0.0);
        self.virtual_capacity = (self.virtual_capacity + self.growth * elapsed).min(self.capacity);
    }

    /// The effect on C̃ of a packet that gets in.
    #[inline]
    fn count(&mut self, bytes: f64) {
        self.virtual_capacity = (self.virtual_capacity - self.alpha * bytes).max(0.0);
    }
}

impl Policy for Avq {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn Rng) -> Verdict {
        self.pass(arrival.now);
        let Bytes(bytes) = arrival.bytes;
        let bytes = bytes as f64;
        let verdict = if self.queue + bytes <= self.limit {
            self.queue += bytes;
            Verdict::Keep
        } else if self.ecn && arrival.ecn.is_capable() {
            Verdict::Mark
        } else {
            return Verdict::Drop;
        };
        self.count(bytes);
        verdict
    }

    fn on_overflow(&mut self, arrival: &Arrival) {
        self.pass(arrival.now);
    }

    /// C̃ goes on from where it is, but is never more than C.
    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.pass(now);
        self.capacity = rate.0 as f64 / 8.0;
        self.growth = self.pace * self.capacity;
        self.virtual_capacity = self.virtual_capacity.min(self.capacity);
    }

    /// As they were after the last arrival: the virtual capacity in bit/s, the virtual queue in bytes.
    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("virtual_capacity", self.virtual_capacity * 8.0);
        probe.value("virtual_queue", self.queue);
    }
}
