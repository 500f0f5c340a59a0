//! DualPI2: two queues behind one another's back, so that flows which need no queue do not wait in that of the others.
//!
//! K. De Schepper, B. Briscoe, G. White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low Loss,
//! and Scalable Throughput (L4S)", RFC 9332, 2023; the controller after R. Pan et al., RFC 8033, and K. De Schepper et
//! al., "PI2: A Linearized AQM for both Classic and Scalable TCP", CoNEXT 2016.
//!
//! # The problem
//!
//! A classic flow, Reno or CUBIC, needs a queue of about a round trip, because it gives up a large part of its window
//! at a mark and must be marked rarely. A scalable flow, DCTCP or Prague, needs next to none, but must be marked often,
//! and starves classic flows wherever both are marked alike. Two separate queues keep the delays apart, and raise the
//! question of how to divide the link without knowing how many flows are in each.
//!
//! # The algorithm
//!
//! Scalable flows say so with ECT(1). They have a queue L; everything else waits in a queue C. A controller looks at
//! how long the first packet of the queues has waited, q, every `interval`:
//!
//! ```text
//!     p' ← p' + alpha (q - target) + beta (q - q before),  0 … 1
//!     C: marks or drops with  p_C = p'²
//!     L: marks with           p_L = max(k p', ramp),  ramp from 0 at `ramp_from` of waiting to 1 at `ramp_to`
//! ```
//!
//! The rate of a classic flow falls with the root of the share of its packets that is marked, that of a scalable flow
//! with the share itself. With the square for C and the root for L both get the same rate, whatever it is (k fits
//! their constants), and the ramp only matters while C is empty. So the rates of flows do not depend on the scheduler:
//! L may go first. C is kept from starving by a share of the bytes, `classic_share`.
//!
//! Marks come regularly, not at random: a sum of the probabilities is kept for each queue, and each time it exceeds one
//! a packet is hit. Where `p_C` has reached 1/k² and so L would be marked always, L is in overload: its packets are
//! dropped with `p_C` like those of C, whose packets are now dropped even where they could be marked.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `target` | target | 15 ms | RFC 9332, appendix A.1 |
//! | `interval` | Tupdate | 16 ms | as deployed; appendix A.1: min(target, RTT/3) = 15 ms, where RTT is the largest, 100 ms |
//! | `alpha` | α | 0.16 /s | appendix A.1: 0.1 Tupdate/RTT² |
//! | `beta` | β | 3.2 /s | as deployed; appendix A.1: 0.3/RTT = 3 /s |
//! | `coupling` | k | 2 | appendix A.1 |
//! | `ramp_from`, `ramp_to` | minTh, maxTh | 0.8 ms, 1.2 ms | appendix A.1; equal ones make a step |
//! | `classic_share` | | 1/16 | section 4.2.2: a small weight for C |
//!
//! # Domain
//!
//! Round trips up to 100 ms or so with these gains. The ramp marks no packet of L that leaves none behind; but a flow that
//! grows has two there now and then, so links on which one packet takes longer than the ramp still mark much: 40 % of the
//! packets of a lone Prague flow at 1 Mbit/s, 22 % at 9 Mbit/s.
//!
//! Shares take the time that Prague needs to reach them, a segment per round trip: at 500 Mbit/s and 100 ms two minutes for
//! the 1040 segments of a quarter. There two CUBIC flows have 4.0 times as much as two of Prague between 15 and 45 s, since
//! slow start left these far below, as much around 100 s, and from 150 s on Prague has 2.0 times as much.
//!
//! # Deviations
//!
//! * q is the longer of the two waits, as appendix A.2 has it.
//! * In overload every packet of L that is not dropped is marked. The pseudo-code adds `p_CL`, which is 1 or more then,
//!   to the sum that also decides about drops; that sum would grow for as long as the overload lasts, and the drops
//!   with it.
//! * "Only one packet" of L, which the ramp does not mark, is one that leaves none behind.
//! * The buffer has no room set aside for one more packet of full size.
//! * The scheduler serves in turns weighted by bytes, one of those that the RFC allows. For each byte that L sends while C
//!   waits, C earns s/(1 - s) with s = `classic_share`, and its first packet goes before those of L once its size is
//!   earned, which is then spent. What is earned ends with the last packet of C; nothing is owed for what C sends while L
//!   is empty, nor for what is dropped.
//! * Acknowledgments are not ECN-capable and wait in C, as in the RFC; flows whose acknowledgments cross such a link
//!   see the delay of C.
//! * Retransmissions cannot be marked (RFC 3168, section 6.1.5), so those of flows in L wait in C.
//! * Packets marked elsewhere (CE) are taken for L: the mark has replaced what they were.
//!
//! # What the paper promises
//!
//! * The marks of the pseudo-code, overload included, worked out by hand (`tests/dualpi2.rs`).
//! * Under CUBIC and Prague side by side, L waits less than a millisecond at the 99th percentile, C for 15 ms, and both
//!   get the same rate within a factor of two (`prague_and_cubic_share_a_dual_queue`, in the tests of the simulator).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, Ecn, Span, Time};

use crate::{
    Backlog, Built, Capacity, Clock, Discipline, Host, Item, Line, PacketQueue, Probe, Refusal,
    Site,
};

/// DualPI2's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("dualpi2", |settings, site| {
        Built::Own(Box::new(DualPi2::new(settings, site)))
    })
    .title("two coupled queues: one for flows that ask for low latency (L4S), one for the others")
    .source("RFC 9332, De Schepper, Briscoe & White 2023")
    .parameters([
        Parameter::span("target", "15 ms", "waiting time to hold in the classic queue"),
        Parameter::span("interval", "16 ms", "time from one update of the probability to the next"),
        Parameter::frequency(
            "alpha",
            0.16,
            1e-6,
            1e6,
            "probability per second of waiting above the target, at each update",
        ),
        Parameter::frequency(
            "beta",
            3.2,
            0.0,
            1e6,
            "probability per second by which the waiting time has grown, at each update",
        ),
        Parameter::number(
            "coupling",
            2.0,
            1.0,
            100.0,
            "ratio of the marking in the low-latency queue to the root of that in the classic one (k)",
        ),
        Parameter::span("ramp_from", "800 us", "the low-latency queue marks above this waiting time"),
        Parameter::span("ramp_to", "1.2 ms", "and everything from here on"),
        Parameter::number(
            "classic_share",
            0.0625,
            0.0,
            0.5,
            "least share of the link that a busy classic queue gets",
        ),
    ])
    .check(check)
}

/// Queues that change little between two looks need no more of them.
const SHORTEST_INTERVAL: Span = Span(100_000_000);

fn check(settings: &Settings, _: &Site) -> Result<(), Refusal> {
    let (from, to) = (settings.span("ramp_from"), settings.span("ramp_to"));
    if from > to {
        return Err((
            "ramp_from".into(),
            format!("`ramp_from` ({from}) must not exceed `ramp_to` ({to})"),
        ));
    }
    if settings.span("target") == Span::ZERO {
        let reason =
            "`target` must be above 0 s: the probability falls only while packets wait for less";
        return Err(("target".into(), reason.into()));
    }
    let interval = settings.span("interval");
    if interval < SHORTEST_INTERVAL {
        let reason =
            format!("`interval` must be at least {SHORTEST_INTERVAL}, but it is {interval}");
        return Err(("interval".into(), reason));
    }
    Ok(())
}

/// Both queues.
#[derive(Debug)]
struct DualPi2 {
    low_latency: Line,
    classic: Line,
    clock: Clock,
    /// p'
    base: f64,
    /// q at the last update, in seconds.
    last: f64,
    /// Sums of probabilities: a packet is hit when one exceeds 1.
    hits_low_latency: f64,
    hits_classic: f64,
    /// Bytes that the classic queue may send before the other, by what the other has sent.
    credit: f64,

    target: f64,
    alpha: f64,
    beta: f64,
    coupling: f64,
    ramp: (Span, Span),
    /// Bytes that the classic queue earns for each one of the other.
    weight: f64,
    capacity: Capacity,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Leaves,
    Marked,
    Dropped,
}

impl DualPi2 {
    fn new(settings: &Settings, site: &Site) -> Self {
        let share = settings.number("classic_share");
        Self {
            low_latency: Line::default(),
            classic: Line::default(),
            clock: Clock::new(Some(settings.span("interval"))),
            base: 0.0,
            last: 0.0,
            hits_low_latency: 0.0,
            hits_classic: 0.0,
            credit: 0.0,
            target: settings.span("target").seconds(),
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            coupling: settings.number("coupling"),
            ramp: (settings.span("ramp_from"), settings.span("ramp_to")),
            weight: share / (1.0 - share),
            capacity: site.capacity,
        }
    }

    /// What waits in both queues.
    fn backlog(&self) -> Backlog {
        let (low_latency, classic) = (self.low_latency.backlog(), self.classic.backlog());
        Backlog {
            packets: low_latency.packets + classic.packets,
            bytes: low_latency.bytes + classic.bytes,
        }
    }

    /// How long the first packet has waited in the slower of the two queues.
    fn wait(&self, now: Time) -> f64 {
        let wait = |line: &Line| line.first().map_or(Span::ZERO, |item| item.sojourn(now));
        wait(&self.low_latency).max(wait(&self.classic)).seconds()
    }

    fn update(&mut self, now: Time) {
        let wait = self.wait(now);
        let moved = self.alpha * (wait - self.target) + self.beta * (wait - self.last);
        self.base = (self.base + moved).clamp(0.0, 1.0);
        self.last = wait;
    }

    /// `p_C`
    fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// Is it the turn of the low-latency queue?
    fn low_latency_goes_first(&self) -> bool {
        match (self.low_latency.first(), self.classic.first()) {
            (Some(_), None) => true,
            (None, _) => false,
            (Some(_), Some(classic)) => self.credit < classic.bytes.0 as f64,
        }
    }

    /// The native marking of a packet of the low-latency queue that has waited so long.
    fn ramp(&self, wait: Span) -> f64 {
        let (from, to) = self.ramp;
        if self.low_latency.backlog().packets == 0 || wait < from {
            0.0
        } else if wait >= to {
            1.0
        } else {
            (wait - from).seconds() / (to - from).seconds()
        }
    }

    fn fate_of_low_latency(&mut self, item: &Item, now: Time) -> Fate {
        let coupled = self.coupling * self.base;
        if coupled < 1.0 {
            let p = coupled.max(self.ramp(item.sojourn(now)));
            return if recurs(&mut self.hits_low_latency, p) { Fate::Marked } else { Fate::Leaves };
        }
        // Overload: marks have no more to say.
        let p = self.classic_probability();
        if recurs(&mut self.hits_low_latency, p) { Fate::Dropped } else { Fate::Marked }
    }

    fn fate_of_classic(&mut self, item: &Item) -> Fate {
        let p = self.classic_probability();
        if !recurs(&mut self.hits_classic, p) {
            Fate::Leaves
        } else if item.ecn.is_capable() && self.coupling * self.base < 1.0 {
            Fate::Marked
        } else {
            Fate::Dropped
        }
    }
}

/// Adds a probability to a sum. True if this makes it exceed one, which is then taken off.
fn recurs(sum: &mut f64, p: f64) -> bool {
    *sum += p;
    let hit = *sum > 1.0;
    *sum -= if hit { 1.0 } else { 0.0 };
    hit
}

impl PacketQueue for DualPi2 {
    fn enqueue(&mut self, _: Time, item: Item, host: &mut dyn Host) {
        if !self.capacity.admits(self.backlog(), item.bytes) {
            host.drop(item);
        } else if matches!(item.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.low_latency.push(item);
        } else {
            self.classic.push(item);
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item> {
        loop {
            let first = self.low_latency_goes_first();
            let line = if first { &mut self.low_latency } else { &mut self.classic };
            let Some(mut item) = line.pop() else {
                self.credit = 0.0;
                return None;
            };
            let fate = if first {
                self.fate_of_low_latency(&item, now)
            } else {
                self.fate_of_classic(&item)
            };
            if fate == Fate::Dropped {
                host.drop(item);
                continue;
            }
            self.account(first, item.bytes);
            if fate == Fate::Marked {
                host.mark(&mut item);
            }
            return Some(item);
        }
    }

    fn advance(&mut self, now: Time) {
        let due = self.clock.next();
        if due > now {
            return;
        }
        // Nothing has arrived or left since the last call: the first packet has waited longer at each look, or there is
        // none. Once p' stays where it is, it does so to the end.
        let (looks, period) = (self.clock.take_due(now), self.clock.period());
        for look in 0..looks {
            let before = (self.base, self.last);
            self.update(due + period * look);
            let is_at_most = self.base == 1.0 && before.0 == 1.0 && self.last > self.target;
            let is_idle = self.backlog().packets == 0;
            if is_at_most || is_idle && (self.base, self.last) == before {
                self.last = self.wait(due + period * (looks - 1));
                break;
            }
        }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("base_probability", self.base);
        probe.value("classic_probability", self.classic_probability());
        probe.value("low_latency_packets", self.low_latency.backlog().packets as f64);
    }
}

impl DualPi2 {
    /// A packet leaves: the classic queue earns its share of what the other sends while it waits, and spends it.
    fn account(&mut self, low_latency: bool, bytes: Bytes) {
        let bytes = bytes.0 as f64;
        if self.classic.first().is_none() {
            self.credit = 0.0;
        } else if low_latency {
            self.credit += self.weight * bytes;
        } else {
            self.credit = (self.credit - bytes).max(0.0);
        }
    }
}
