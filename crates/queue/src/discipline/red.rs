//! RED: random early detection.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993. The gentle variant: S. Floyd, "Recommendation on using the gentle variant of RED", 2000.
//! The automatic weight: S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED", 2001.
//!
//! # The problem
//!
//! Drop tail signals only when the buffer is full. By then every flow has waited behind a full buffer, and the burst of
//! losses hits many flows in the same round trip, so their windows fall together. RED signals early, to few flows and
//! at random: it watches a slow average of the queue, which bursts hardly move, and marks or drops each arrival with a
//! probability that grows with the average.
//!
//! # The algorithm
//!
//! At each arrival, with q waiting before it (the packet in service not counted):
//!
//! ```text
//!     if the link is idle   m = ⌊idle time · packets per second⌋,   avg ← (1 - w_q)^m avg
//!     always                avg ← (1 - w_q) avg + w_q q
//!
//!           ⎧ 0                                            avg < min_th
//!     p_b = ⎨ max_p (avg - min_th)/(max_th - min_th)       min_th ≤ avg < max_th
//!           ⎪ max_p + (1 - max_p)(avg - max_th)/max_th     max_th ≤ avg < 2 max_th     (gentle)
//!           ⎩ 1                                            above
//! ```
//!
//! Marking each packet independently with probability `p_b` would bunch the marks (the paper's method 1). The paper
//! spaces them (method 2): the n-th arrival since the last mark, if none before it is marked, is marked with
//!
//! ```text
//!     wait = false     p_a = p_b / (1 - (n - 1) p_b)          gaps uniform on 1 .. 1/p_b
//!     wait = true      p_a = 0                 n p_b < 1
//!                            p_b / (2 - n p_b)                gaps uniform on 1/p_b .. 2/p_b - 1
//! ```
//!
//! and 1 where the denominator is not larger than the numerator, or `p_b` is 1. A mark replaces the drop where the packet
//! can carry one, `ecn` is on, `avg ≤ max_th` and `p_b` is below 1. Every packet that is marked or dropped, including one
//! dropped by a full buffer, restarts the count n.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `min` | `min_th` | 0.1 bdp | the EXP-TCP paper; 1993: 5 packets, on links of its day |
//! | `max` | `max_th` | 0.3 bdp | the EXP-TCP paper; 1993: at least `2 min_th`; later advice: `3 min_th` |
//! | `weight` | `w_q` | 0.002 | 1993 |
//! | `max_p` | `max_p` | 0.1 | the EXP-TCP paper, after later advice; 1993: 0.02 |
//! | `gentle` | | true | Floyd 2000 |
//! | `ecn` | | true | RFC 3168 |
//! | `mode` | | packets | the papers' thresholds are packets; 1993 has both |
//! | `mark_above_max` | | false | simulations of the papers' time; `true` is 1993 |
//! | `wait` | | true | simulations of the papers' time; `false` is 1993 |
//!
//! `weight = "auto"` is 1 - exp(-1/(10 R C)), where C is the number of largest packets that the link sends per second:
//! the average then remembers ten round trips R, the mean of the flows that cross, or 100 ms where none is known.
//!
//! With `mode = "bytes"` everything counted above in packets is counted in bytes, q and the thresholds, and a packet's
//! `p_b` is scaled by its share of the largest packet that crosses the link, so that an acknowledgment of 40 bytes is
//! marked 37.5 times less often than a packet of 1500. Where `p_b` is 1 all are marked, whatever their size.
//!
//! # Domain
//!
//! The average remembers `1/w_q` arrivals. For the default that is 500 packets: 89 ms, about a round trip, for the
//! 1000-byte packets of a 45 Mbit/s link of 1993, but 0.6 ms at 10 Gbit/s with packets of 1500 bytes. On long fat
//! networks the default average follows the queue itself; `"auto"` restores a memory longer than a round trip. A flow
//! that ignores marks and drops is held back not by RED but by the buffer.
//!
//! # Deviations
//!
//! * The idle time is counted in packets of the largest size, where the paper proposes small ones: the same packets are
//!   then behind `"auto"`, bdp and m. The arrival that ends the idle time is also an ordinary sample with q = 0, so
//!   that m packet times take m + 1 steps, where the paper takes m: the simulations that the papers ran do the same,
//!   and one rule is enough. Packets per second are those of the link as it is when the idle time ends; the thresholds
//!   and an automatic weight stay what they were.
//! * The listing of 1993 counts the arriving packet in n - 1 after a mark, but not after a spell below `min_th`. Its
//!   text, and the uniform gaps that it promises, require that it is never counted: that is `wait = false` here.
//! * `wait = true` is not in the paper. Its marks are fewer: one in `3/(2 p_b) - 1/2` packets, against one in
//!   `1/(2 p_b) + 1/2`.
//! * The first arrival above `min_th` is not marked unless `p_b` is 1, but counts as the first of its gap; and nothing
//!   is marked or dropped while at most one packet waits, after which a spell above `min_th` starts afresh. Both follow
//!   the simulations that the papers ran; the second keeps a fast average from emptying a short queue. In byte mode
//!   those simulations use one byte instead, where this is one packet in either mode: their queue is 200 bytes shorter
//!   at 10 Mbit/s (docs/validation.md).
//! * Above `max_th` the paper marks every packet. Unless `mark_above_max`, packets are dropped there even if they could
//!   be marked: marks that have not helped so far are no longer trusted.
//! * In bytes the paper scales `p_b` by the size but still counts packets. Here n - 1 is counted in bytes too, in units
//!   of the largest packet, and only the numerator of `p_a` is scaled: the gaps are then uniform in bytes whatever the
//!   sizes, and for packets of the largest size the same as in packets.
//! * An average below 10^-300 is zero, which keeps the arithmetic fast and changes no decision.
//!
//! # What the paper promises
//!
//! * A queue that grows from 0 to 100 packets in 100 arrivals moves an average with `w_q = 0.001` to 4.88 packets
//!   (equation 2; `a_burst_moves_the_average_as_little_as_the_paper_says`).
//! * Method 2 gives gaps that are uniform on `1 .. 1/p_b`, with the mean `(1/p_b + 1)/2`
//!   (`without_wait_the_gaps_are_uniform_from_one_to_one_over_p`; and in the tests of the same file
//!   `with_wait_the_gaps_are_uniform_from_one_over_p_to_twice_that`).
//! * The average lags by `-1/ln(1 - w_q)` arrivals (`a_new_queue_length_is_learnt_in_one_over_w_arrivals`).
//! * Bytes: the probability is proportional to the size (`in_bytes_a_mark_hits_a_packet_by_its_size`).

use longfat_units::parameter::{Parameter, Settings, shortest};
use longfat_units::{Bytes, Rate, Span, Time, math};
use rand_core::Rng;

use crate::shared::uniform;
use crate::{Arrival, Built, Capacity, Discipline, Policy, Probe, Refusal, Site, Verdict};

/// RED's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("red", |settings, site| Built::Fifo(Some(Box::new(Red::new(settings, site)))))
        .title("random early detection: marks or drops at random as the average queue grows")
        .source("Floyd & Jacobson 1993; gentle: Floyd 2000")
        .parameters([
            Parameter::length("min", "0.1 bdp", "average queue at which marking begins (min_th)"),
            Parameter::length("max", "0.3 bdp", "average queue at which max_p is reached (max_th)"),
            Parameter::number_or(
                "weight",
                0.002,
                (f64::MIN_POSITIVE, 1.0),
                ["auto"],
                "weight of a new sample in the average (w_q); \"auto\" remembers \
             ten round trips of full-size packets",
            ),
            Parameter::number("max_p", 0.1, f64::MIN_POSITIVE, 1.0, "marking probability at `max`"),
            Parameter::flag("gentle", true, "from `max` to twice `max` the probability grows to 1"),
            Parameter::flag(
                "ecn",
                true,
                "marks packets that can be marked instead of dropping them",
            ),
            Parameter::word(
                "mode",
                "packets",
                ["packets", "bytes"],
                "unit in which the queue is counted",
            ),
            Parameter::flag("mark_above_max", false, "marks even where the average is above `max`"),
            Parameter::flag(
                "wait",
                true,
                "waits 1/p packets after a mark before the next is possible",
            ),
        ])
        .check(check)
}

/// The thresholds must be in order, and within the buffer.
fn check(settings: &Settings, site: &Site) -> Result<(), Refusal> {
    let (min, max) = (settings.number("min"), settings.number("max"));
    let (space, unit) = match (settings.word("mode"), site.capacity) {
        ("bytes", capacity) => (capacity_in_bytes(capacity, site.packet), "B"),
        (_, Capacity::Packets(packets)) => (packets as f64, "packets"),
        (_, capacity) => {
            let packet = site.packet.0 as f64;
            (capacity_in_bytes(capacity, site.packet) / packet, "packets")
        }
    };
    let length = |length: f64| format!("{} {unit}", shortest(length));
    if min <= 0.0 {
        return Err((
            "min".into(),
            "`min` must be above 0: an empty queue is not congestion".into(),
        ));
    }
    if min >= max {
        let reason = format!(
            "`min` ({}) must be below `max` ({}): between them the marking probability grows from 0 to `max_p`",
            length(min),
            length(max)
        );
        return Err(("min".into(), reason));
    }
    if max > space {
        let reason = format!(
            "`max` ({}) must be within the buffer ({}): the average queue could never reach it",
            length(max),
            length(space)
        );
        return Err(("max".into(), reason));
    }
    Ok(())
}

fn capacity_in_bytes(capacity: Capacity, packet: Bytes) -> f64 {
    match capacity {
        Capacity::Packets(packets) => packets as f64 * packet.0 as f64,
        Capacity::Bytes(bytes) => bytes.0 as f64,
        Capacity::Unbounded => f64::INFINITY,
    }
}

/// The round trip behind an automatic weight where none is known.
pub const ROUND_TRIP: Span = Span::from_millis(100);

/// The round trips that an automatic weight remembers.
pub const REMEMBERED: u32 = 10;

/// Adaptive RED: a memory of ten round trips of the largest packets at the rate of the link.
fn automatic_weight(site: &Site) -> f64 {
    let memory = site.round_trip.unwrap_or(ROUND_TRIP) * u64::from(REMEMBERED);
    let packet_bits = site.packet.0 as f64 * 8.0;
    let packets = site.rate.0 as f64 * memory.seconds() / packet_bits;
    -math::expm1(-1.0 / packets)
}

/// Below this an average is zero: numbers near the smallest possible are slow, and never decay to nothing.
const NOTHING: f64 = 1e-300;

/// The policy. Lengths are in packets or in bytes, as `by_bytes` says.
#[derive(Debug)]
struct Red {
    /// avg
    average: f64,
    /// Packets or bytes since the last mark: n - 1 at the next arrival.
    count: f64,
    /// Was the average above `min` at the last arrival?
    above: bool,

    /// `w_q`
    weight: f64,
    /// `min_th`
    min: f64,
    /// `max_th`
    max: f64,
    max_p: f64,
    /// Where the probability becomes 1: `2 max_th`, or `max_th` if it is not gentle or 1 there already.
    full: f64,
    /// Growth of `p_b` from `min` to `max`.
    slope: f64,
    /// Growth of `p_b` from `max` to `full`.
    gentle_slope: f64,
    /// Packets per unit: 1, or one over the bytes of the largest packet.
    share: f64,
    by_bytes: bool,
    wait: bool,
    /// The answer where the average is at most `max`.
    early: Verdict,
    /// The answer where it is above.
    late: Verdict,
    /// The largest packet, and its transmission time, the unit of m.
    packet: Bytes,
    packet_time: Span,
    /// `(1 - w_q)^m` for small m.
    powers: [f64; 32],
}

impl Red {
    fn new(settings: &Settings, site: &Site) -> Self {
        let (min, max) = (settings.number("min"), settings.number("max"));
        let max_p = settings.number("max_p");
        let by_bytes = settings.word("mode") == "bytes";
        let ecn = settings.flag("ecn");
        let mark_if = |possible: bool| if possible { Verdict::Mark } else { Verdict::Drop };
        let weight = settings.number_or_word("weight").unwrap_or_else(|| automatic_weight(site));
        Self {
            average: 0.0,
            count: 0.0,
            above: false,
            weight,
            min,
            max,
            max_p,
            full: if settings.flag("gentle") && max_p < 1.0 { 2.0 * max } else { max },
            slope: max_p / (max - min),
            gentle_slope: (1.0 - max_p) / max,
            share: if by_bytes { 1.0 / site.packet.0 as f64 } else { 1.0 },
            by_bytes,
            wait: settings.flag("wait"),
            early: mark_if(ecn),
            late: mark_if(ecn && settings.flag("mark_above_max")),
            packet: site.packet,
            packet_time: site.rate.time_for(site.packet).max(Span(1)),
            powers: std::array::from_fn(|m| math::pow(1.0 - weight, m as f64)),
        }
    }

    #[inline]
    fn length(&self, packets: u64, bytes: Bytes) -> f64 {
        // A signed number takes one instruction to convert; neither has 63 bits.
        let length = if self.by_bytes { bytes.0 } else { packets };
        length.cast_signed() as f64
    }

    /// avg, updated with the sample that an arrival brings.
    #[inline]
    fn sample(&mut self, arrival: &Arrival) {
        if let Some(since) = arrival.idle_since
            && self.average > 0.0
        {
            self.decay(arrival.now.since(since));
        }
        let q = self.length(arrival.backlog.packets, arrival.backlog.bytes);
        let average = self.average + self.weight * (q - self.average);
        self.average = if average < NOTHING { 0.0 } else { average };
    }

    /// The average as if m packets had met an empty queue.
    #[cold]
    fn decay(&mut self, idle: Span) {
        let m = idle.0 / self.packet_time.0;
        self.average *= match self.powers.get(m as usize) {
            Some(power) => *power,
            None => math::pow(1.0 - self.weight, m as f64),
        };
    }

    /// `p_b`, of a packet of the largest size.
    #[inline]
    fn probability(&self) -> f64 {
        if self.average < self.min {
            0.0
        } else if self.average < self.max {
            self.slope * (self.average - self.min)
        } else if self.average < self.full {
            self.max_p + self.gentle_slope * (self.average - self.max)
        } else {
            1.0
        }
    }

    /// Does chance choose this packet, the n-th since the last mark?
    #[inline]
    fn chooses(&self, size: f64, chance: &mut dyn Rng) -> bool {
        let p_b = self.probability();
        // n - 1: what arrived since the last mark, in packets (of the largest size, in byte mode).
        let before = self.count * self.share;
        // p_a = p / room
        let p = size * self.share * p_b;
        let room = if self.wait {
            let waited = (before + 1.0) * p_b;
            if waited < 1.0 {
                return false;
            }
            2.0 - waited
        } else {
            1.0 - before * p_b
        };
        p >= room || uniform(chance) * room < p
    }

    /// The answer to a packet that finds the average at `min` or above.
    #[inline(never)] // so that the way past it saves no registers
    fn congested(&mut self, bytes: Bytes, chance: &mut dyn Rng) -> Verdict {
        if self.average < self.full {
            let size = self.length(1, bytes);
            if !self.above {
                self.above = true;
                self.count = size;
                return Verdict::Keep;
            }
            if !self.chooses(size, chance) {
                self.count += size;
                return Verdict::Keep;
            }
        }
        self.above = true;
        self.count = 0.0;
        // At max_th itself p_b may be max_p or 1.
        if self.average <= self.max && self.average < self.full { self.early } else { self.late }
    }
}

impl Policy for Red {
    fn on_arrival(&mut self, arrival: &Arrival, chance: &mut dyn Rng) -> Verdict {
        self.sample(arrival);
        if self.average < self.min || arrival.backlog.packets <= 1 {
            self.above = false;
            return Verdict::Keep;
        }
        self.congested(arrival.bytes, chance)
    }

    fn on_overflow(&mut self, arrival: &Arrival) {
        self.sample(arrival);
        self.above = self.average >= self.min;
        self.count = 0.0;
    }

    fn on_rate(&mut self, _: Time, rate: Rate) {
        self.packet_time = rate.time_for(self.packet).max(Span(1));
    }

    /// As they were at the last arrival.
    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("average", self.average);
        probe.value("probability", self.probability());
    }
}
