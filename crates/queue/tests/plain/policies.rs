//! Policies of first-in-first-out queues.

use longfat_queue::discipline::{decbit, pi, rem, step, vcp, xcp};
use longfat_queue::{Capacity, Discipline, Item, Verdict};
use longfat_units::parameter::Setting as Value;
use longfat_units::{RouterHeader, Span, math};
use rand_core::Rng;
use rand_pcg::Pcg64;

use super::places::{admits, bytes};
use super::{Decisions, Draw, Plain, Visit, cases, compare};
use crate::support::{Change, PACKET, RATE, chance};

/// A model of a policy. It sees what waits, and of an arrival what waits before it.
pub(super) trait PlainPolicy {
    /// Everything that is due by now.
    fn clock(&mut self, _now: u64, _line: &[Item]) {}

    fn rate(&mut self, _rate: u64) {}

    fn arrive(&mut self, now: u64, item: &Item, line: &[Item], chance: &mut Pcg64) -> Verdict;

    fn overflow(&mut self, _now: u64, _item: &Item, _line: &[Item]) {}

    /// What the packet that arrived last, and is kept, learns.
    fn tell(&mut self, _item: &Item, _header: &mut RouterHeader) {}

    /// A packet has left the link; so many are there.
    fn left(&mut self, _now: u64, _packets: usize) {}
}

/// A first-in-first-out queue.
pub(super) struct Fifo<P> {
    policy: P,
    line: Vec<Item>,
    busy: bool,
    capacity: Capacity,
    chance: Pcg64,
}

impl<P> Fifo<P> {
    fn new(policy: P, capacity: Capacity, seed: u64) -> Self {
        Self { policy, line: Vec::new(), busy: false, capacity, chance: chance(seed) }
    }
}

impl<P: PlainPolicy> Plain for Fifo<P> {
    fn clock(&mut self, now: u64) {
        self.policy.clock(now, &self.line);
    }

    fn rate(&mut self, rate: u64) {
        self.policy.rate(rate);
    }

    fn arrive(
        &mut self,
        now: u64,
        mut item: Item,
        header: Option<RouterHeader>,
        decided: &mut Decisions,
    ) {
        if self.busy && !admits(self.capacity, &self.line, &item) {
            self.policy.overflow(now, &item, &self.line);
            decided.dropped.push(item.id);
            return;
        }
        match self.policy.arrive(now, &item, &self.line, &mut self.chance) {
            Verdict::Keep => {}
            Verdict::Mark if decided.mark(&mut item) => {}
            Verdict::Mark | Verdict::Drop => {
                decided.dropped.push(item.id);
                return;
            }
        }
        if let Some(mut header) = header {
            self.policy.tell(&item, &mut header);
            decided.told.push((item.id, header));
        }
        self.line.push(item);
    }

    fn leave(&mut self, now: u64, _: &mut Decisions) -> Option<Item> {
        if self.busy {
            self.policy.left(now, self.line.len());
        }
        self.busy = !self.line.is_empty();
        self.busy.then(|| self.line.remove(0))
    }
}

/// The length of a line in packets, or in bytes over those of a full packet.
pub(super) fn length(capacity: Capacity, line: &[Item]) -> f64 {
    match capacity {
        Capacity::Bytes(_) => bytes(line) as f64 / PACKET.0 as f64,
        _ => line.len() as f64,
    }
}

/// So many packets, as a setting of the queue.
pub(super) fn packets(capacity: Capacity, count: f64) -> Value {
    match capacity {
        Capacity::Bytes(_) => Value::Length(count * PACKET.0 as f64),
        _ => Value::Length(count),
    }
}

/// Marks with this probability; no number is drawn if it is 0.
pub(super) fn drawn(probability: f64, ecn: bool, item: &Item, chance: &mut Pcg64) -> Verdict {
    if probability == 0.0 || math::uniform(chance.next_u64()) >= probability {
        Verdict::Keep
    } else if ecn && item.ecn.is_capable() {
        Verdict::Mark
    } else {
        Verdict::Drop
    }
}

/// Athuraliya et al. 2001: p(k+1) = [p(k) + γ (α (b(k) - b*) + x(k) - c(k))]⁺, m = 1 - φ^-p.
struct Rem {
    price: f64,
    next: u64,
    interval: u64,
    came: Vec<u64>,
    rate: u64,
    target: f64,
    ecn: bool,
    capacity: Capacity,
}

impl Rem {
    const GAMMA: f64 = 0.05;
    const ALPHA: f64 = 0.3;
    const PHI: f64 = 1.5;
}

impl PlainPolicy for Rem {
    fn clock(&mut self, now: u64, line: &[Item]) {
        while self.next <= now {
            self.next += self.interval;
            let x = self.came.drain(..).sum::<u64>() as f64 / PACKET.0 as f64;
            let c = self.rate as f64 / 8.0 * self.interval as f64 / 1e12 / PACKET.0 as f64;
            let b = length(self.capacity, line);
            let excess = Self::ALPHA * (b - self.target) + x - c;
            self.price = (self.price + Self::GAMMA * excess).max(0.0);
        }
    }

    fn rate(&mut self, rate: u64) {
        self.rate = rate;
    }

    fn arrive(&mut self, _: u64, item: &Item, _: &[Item], chance: &mut Pcg64) -> Verdict {
        self.came.push(item.bytes.0);
        drawn(1.0 - math::pow(Self::PHI, -self.price), self.ecn, item, chance)
    }

    fn overflow(&mut self, _: u64, item: &Item, _: &[Item]) {
        self.came.push(item.bytes.0);
    }
}

/// Hollot et al. 2001: p(kT) = a (q(kT) - `q_ref`) - b (q((k-1)T) - `q_ref`) + p((k-1)T).
struct Pi {
    probability: f64,
    /// The queue at the last instants.
    queues: Vec<f64>,
    next: u64,
    interval: u64,
    target: f64,
    ecn: bool,
    capacity: Capacity,
}

impl Pi {
    const A: f64 = 0.05;
    const B: f64 = 0.04;
}

impl PlainPolicy for Pi {
    fn clock(&mut self, now: u64, line: &[Item]) {
        while self.next <= now {
            self.next += self.interval;
            let before = self.queues.last().copied().unwrap_or(0.0);
            let queue = length(self.capacity, line);
            self.queues.push(queue);
            let p = self.probability + Self::A * (queue - self.target)
                - Self::B * (before - self.target);
            self.probability = p.clamp(0.0, 1.0);
        }
    }

    fn arrive(&mut self, _: u64, item: &Item, _: &[Item], chance: &mut Pcg64) -> Verdict {
        drawn(self.probability, self.ecn, item, chance)
    }
}

/// Alizadeh et al. 2010: an arrival is marked if the queue is greater than K.
struct Step {
    threshold: f64,
    drop: bool,
    capacity: Capacity,
}

impl PlainPolicy for Step {
    fn arrive(&mut self, _: u64, item: &Item, line: &[Item], _: &mut Pcg64) -> Verdict {
        match (length(self.capacity, line) > self.threshold, item.ecn.is_capable(), self.drop) {
            (true, true, _) => Verdict::Mark,
            (true, false, true) => Verdict::Drop,
            _ => Verdict::Keep,
        }
    }
}

/// Ramakrishnan and Jain 1990, section 4: the mean over the last cycle of busy and idle time and what there has been of the
/// present one.
struct DecBit {
    threshold: u64,
    /// From when on so many packets are there.
    history: Vec<(u64, u64)>,
    cycles: Vec<u64>,
    bit: bool,
}

impl DecBit {
    fn packets(&self) -> u64 {
        self.history.last().map_or(0, |(_, packets)| *packets)
    }

    /// Packets times picoseconds.
    fn area(&self, from: u64, to: u64) -> u64 {
        let mut ends: Vec<_> = self.history.iter().skip(1).map(|(begins, _)| *begins).collect();
        ends.push(to);
        let spans = self.history.iter().zip(ends);
        spans
            .map(|((begins, packets), ends)| packets * ends.saturating_sub(from.max(*begins)))
            .sum()
    }
}

impl PlainPolicy for DecBit {
    fn arrive(&mut self, now: u64, _: &Item, _: &[Item], _: &mut Pcg64) -> Verdict {
        // Up to a nanosecond of idle time is rounding.
        let idle =
            self.packets() == 0 && self.history.last().is_none_or(|(since, _)| now - since > 1000);
        if idle {
            self.cycles.push(now);
        }
        let from = self.cycles[self.cycles.len().saturating_sub(2)];
        self.bit = now > from && self.area(from, now) >= self.threshold * (now - from);
        self.history.push((now, self.packets() + 1));
        Verdict::Keep
    }

    fn tell(&mut self, _: &Item, header: &mut RouterHeader) {
        if self.bit && header.code == 0 {
            header.code = 1;
        }
    }

    fn left(&mut self, now: u64, packets: usize) {
        self.history.push((now, packets as u64));
    }
}

/// Xia et al. 2005, section 4: ρ = (λ + κ q)/(γ C t), with q the mean of twenty samples.
struct Vcp {
    next: u64,
    sampling: u64,
    came: Vec<u64>,
    samples: Vec<u64>,
    rate: u64,
    gamma: f64,
    /// For γ that adapts: the shares of the capacity that were used.
    used: Option<Vec<f64>>,
    code: u8,
}

impl Vcp {
    const KAPPA: f64 = 0.5;
    const LOW: f64 = 0.8;
    /// From which rate on: the goal and the step.
    const GOALS: [(f64, f64, f64); 7] = [
        (1e6, 0.94, 0.005),
        (1e7, 0.96, 0.004),
        (1e8, 0.975, 0.003),
        (1e9, 0.985, 0.002),
        (1e10, 0.99, 0.001),
        (1e11, 0.992, 0.001),
        (1e12, 0.993, 0.001),
    ];
}

impl PlainPolicy for Vcp {
    fn clock(&mut self, now: u64, line: &[Item]) {
        while self.next <= now {
            self.next += self.sampling;
            self.samples.push(bytes(line));
            if self.samples.len() < 20 {
                continue;
            }
            let queue = self.samples.drain(..).sum::<u64>() as f64 / 20.0;
            let load = self.came.drain(..).sum::<u64>() as f64 + Self::KAPPA * queue;
            let full = self.rate as f64 / 8.0 * (20 * self.sampling) as f64 / 1e12;
            let rho = load / (self.gamma * full);
            self.code = if rho >= 1.0 {
                3
            } else if rho >= Self::LOW {
                2
            } else {
                1
            };
            let Some(used) = &mut self.used else { continue };
            used.push(load / full);
            if used.len() == 10 {
                let mean = used.drain(..).sum::<f64>() / 10.0;
                let of = Self::GOALS.iter().rev().find(|goal| self.rate as f64 >= 0.66 * goal.0);
                let &(_, goal, step) = of.expect("no rate is lower");
                if mean < goal {
                    self.gamma = (self.gamma + step).min(0.999);
                } else if mean > goal {
                    self.gamma = (self.gamma - step).max(0.1);
                }
            }
        }
    }

    fn rate(&mut self, rate: u64) {
        self.rate = rate;
    }

    fn arrive(&mut self, _: u64, item: &Item, _: &[Item], _: &mut Pcg64) -> Verdict {
        self.came.push(item.bytes.0);
        Verdict::Keep
    }

    fn overflow(&mut self, _: u64, item: &Item, _: &[Item]) {
        self.came.push(item.bytes.0);
    }

    fn tell(&mut self, _: &Item, header: &mut RouterHeader) {
        header.code = header.code.max(self.code);
    }
}

/// Katabi et al. 2002, section 3.5, in rates as the essay has it; what is left to others after draft-falk-xcp-spec-03.
struct Xcp {
    rate: u64,
    /// The interval of control: when it began and when it ends, and what came in it.
    began: u64,
    ends: u64,
    came: Vec<u64>,
    /// `H_rtt` and x of those with a round trip, in seconds.
    told: Vec<(f64, f64)>,
    /// When the queue is read, and what arrivals have found since the last time.
    reads: u64,
    found: Vec<u64>,
    last: u64,
    queue: u64,
    round_trip: Option<f64>,
    giving: f64,
    taking: f64,
    to_give: f64,
    to_take: f64,
}

impl Xcp {
    const ALPHA: f64 = 0.4;
    const BETA: f64 = 0.226;
    const GAMMA: f64 = 0.1;

    fn bytes_per_second(&self) -> f64 {
        self.rate as f64 / 8.0
    }

    /// So many seconds, but no less than a packet lasts, to the picosecond; 10 ms as long as no round trip is known.
    fn lasts(&self, seconds: Option<f64>) -> u64 {
        let packet = (8_000_000_000_000 * PACKET.0 + self.rate / 2) / self.rate;
        seconds.map_or(10_000_000_000, |seconds| {
            ((seconds.max(0.0) * 1e12).round() as u64).max(packet)
        })
    }

    fn read(&mut self) {
        self.queue = self.found.drain(..).min().unwrap_or(0);
        let propagation = self.round_trip.map(|d| d - self.last as f64 / self.bytes_per_second());
        self.reads += self.lasts(propagation);
    }

    fn decide(&mut self) {
        let weights: f64 = self.told.iter().map(|(_, x)| x).sum();
        if weights > 0.0 {
            let products: f64 = self.told.iter().map(|(rtt, x)| rtt * x).sum();
            self.round_trip = Some(products / weights);
        }
        let came: u64 = self.came.iter().sum();
        let y = came as f64 / ((self.ends - self.began) as f64 / 1e12);
        let drain = self.round_trip.map_or(0.0, |d| self.queue as f64 / d);
        let f = Self::ALPHA * (self.bytes_per_second() - y) - Self::BETA * drain;
        let h = (Self::GAMMA * y - f.abs()).max(0.0);
        self.to_give = h + f.max(0.0);
        self.to_take = h + (-f).max(0.0);
        self.giving = if weights > 0.0 { self.to_give / weights } else { 0.0 };
        self.taking = if came > 0 { self.to_take / came as f64 } else { 0.0 };
        self.told.clear();
        self.came.clear();
        self.began = self.ends;
        self.ends += self.lasts(self.round_trip);
    }

    fn count(&mut self, item: &Item, line: &[Item]) {
        self.came.push(item.bytes.0);
        self.last = bytes(line);
        self.found.push(self.last);
    }
}

impl PlainPolicy for Xcp {
    fn clock(&mut self, now: u64, _: &[Item]) {
        while self.reads.min(self.ends) <= now {
            if self.reads <= self.ends { self.read() } else { self.decide() }
        }
    }

    fn rate(&mut self, rate: u64) {
        self.rate = rate;
    }

    fn arrive(&mut self, _: u64, item: &Item, line: &[Item], _: &mut Pcg64) -> Verdict {
        self.count(item, line);
        Verdict::Keep
    }

    fn overflow(&mut self, _: u64, item: &Item, line: &[Item]) {
        self.count(item, line);
    }

    fn tell(&mut self, item: &Item, header: &mut RouterHeader) {
        let Some(rtt) = header.rtt else {
            header.feedback = header.feedback.min(0.0);
            return;
        };
        let (rtt, s) = (rtt.seconds(), item.bytes.0 as f64);
        let x = rtt / header.window.0;
        self.told.push((rtt, x));
        let mut p = (self.giving * x).min(self.to_give);
        let mut n = (self.taking * s).min(self.to_take);
        let wanted = header.feedback * s / rtt;
        if wanted < p - n {
            n = (n + (p - n - wanted)).min(self.to_take);
            p = (wanted + n).max(0.0);
        } else {
            header.feedback = (p - n) * rtt / s;
        }
        self.to_give -= p;
        self.to_take -= n;
    }
}

pub(super) fn span(value: u64) -> Value {
    Value::Span(Span(value))
}

/// Some packets, such that no sum of differences from it is 0 but for rounding: that would cost a random number.
fn target(draw: &mut Draw) -> f64 {
    draw.number(0, 4) as f64 / 4.0 + 0.012_345_678
}

/// A model in a queue beside the discipline.
pub(super) fn check(
    discipline: &Discipline,
    changes: &[Change],
    capacity: Capacity,
    seed: u64,
    policy: impl PlainPolicy,
    visits: Vec<Visit>,
) {
    compare(discipline, changes, capacity, seed, Fifo::new(policy, capacity, seed), visits);
}

#[test]
fn rem_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let (interval, ecn) = (draw.period(), draw.flag());
        let target = target(draw);
        let changes = [
            ("gamma", Value::Number(Rem::GAMMA)),
            ("alpha", Value::Number(Rem::ALPHA)),
            ("phi", Value::Number(Rem::PHI)),
            ("target", packets(capacity, target)),
            ("interval", span(interval)),
            ("ecn", Value::Flag(ecn)),
        ];
        let plain = Rem {
            price: 0.0,
            next: interval,
            interval,
            came: Vec::new(),
            rate: RATE.0,
            target,
            ecn,
            capacity,
        };
        check(&rem::discipline(), &changes, capacity, seed, plain, visits);
    });
}

#[test]
fn pi_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let (interval, ecn) = (draw.period(), draw.flag());
        let target = target(draw);
        let changes = [
            ("a", Value::Number(Pi::A)),
            ("b", Value::Number(Pi::B)),
            ("target", packets(capacity, target)),
            ("interval", span(interval)),
            ("ecn", Value::Flag(ecn)),
        ];
        let plain = Pi {
            probability: 0.0,
            queues: Vec::new(),
            next: interval,
            interval,
            target,
            ecn,
            capacity,
        };
        check(&pi::discipline(), &changes, capacity, seed, plain, visits);
    });
}

#[test]
fn step_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let (threshold, drop) = (draw.number(0, 5) as f64, draw.flag());
        let changes = [("threshold", packets(capacity, threshold)), ("drop", Value::Flag(drop))];
        let plain = Step { threshold, drop, capacity };
        check(&step::discipline(), &changes, capacity, seed, plain, visits);
    });
}

#[test]
fn decbit_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let threshold = draw.number(1, 4);
        let changes = [("threshold", Value::Number(threshold as f64))];
        let plain = DecBit { threshold, history: Vec::new(), cycles: Vec::new(), bit: false };
        check(&decbit::discipline(), &changes, capacity, seed, plain, visits);
    });
}

#[test]
fn vcp_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let (sampling, adapts) = (draw.of(&[1_000_000, 1_234_567]), draw.flag());
        let gamma = if adapts { Value::Word("auto".into()) } else { Value::Number(0.9) };
        let changes = [("interval", span(20 * sampling)), ("gamma", gamma)];
        let plain = Vcp {
            next: sampling,
            sampling,
            came: Vec::new(),
            samples: Vec::new(),
            rate: RATE.0,
            gamma: if adapts { 0.95 } else { 0.9 },
            used: adapts.then(Vec::new),
            code: 1,
        };
        check(&vcp::discipline(), &changes, capacity, seed, plain, visits);
    });
}

#[test]
fn xcp_is_its_model() {
    cases(|draw, seed| {
        let (capacity, mut visits) = (draw.capacity(), draw.visits());
        // Round trips of less than a millisecond are long or short beside the gaps between packets.
        let times = draw.of(&[1, 30]);
        for visit in &mut visits {
            visit.gap *= times;
        }
        let plain = Xcp {
            rate: RATE.0,
            began: 0,
            ends: 10_000_000_000,
            came: Vec::new(),
            told: Vec::new(),
            reads: 10_000_000_000,
            found: Vec::new(),
            last: 0,
            queue: 0,
            round_trip: None,
            giving: 0.0,
            taking: 0.0,
            to_give: 0.0,
            to_take: 0.0,
        };
        check(&xcp::discipline(), &[], capacity, seed, plain, visits);
    });
}
