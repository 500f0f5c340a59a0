//! `DualPI2` after RFC 9332, appendix A.2, with the choices and exceptions of the essay.

use longfat_queue::discipline::dualpi2::discipline;
use longfat_queue::{Capacity, Item};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Ecn, RouterHeader, Span};

use super::places::exceed;
use super::policies::span;
use super::{Decisions, Plain, cases, compare};

const L: usize = 0;
const C: usize = 1;

struct DualPi2 {
    lines: [Vec<Item>; 2],
    capacity: Capacity,
    next: u64,
    /// p'
    base: f64,
    last: u64,
    /// q.count
    counts: [f64; 2],
    /// What C has earned, in bytes.
    credit: f64,
    target: u64,
    interval: u64,
    alpha: f64,
    beta: f64,
    k: f64,
    ramp: [u64; 2],
    share: f64,
}

impl DualPi2 {
    fn update(&mut self, now: u64) {
        let wait = |line: &Vec<Item>| line.first().map_or(0, |first| now - first.arrived.0);
        let queue = wait(&self.lines[L]).max(wait(&self.lines[C]));
        let seconds = |time: u64| Span(time).seconds();
        self.base = (self.base
            + self.alpha * (seconds(queue) - seconds(self.target))
            + self.beta * (seconds(queue) - seconds(self.last)))
        .clamp(0.0, 1.0);
        self.last = queue;
    }

    fn recur(&mut self, queue: usize, likelihood: f64) -> bool {
        self.counts[queue] += likelihood;
        let hit = self.counts[queue] > 1.0;
        if hit {
            self.counts[queue] -= 1.0;
        }
        hit
    }

    /// Whose turn it is.
    fn scheduler(&self) -> usize {
        match self.lines.each_ref().map(|line| line.first()) {
            [None, _] => C,
            [_, None] => L,
            [_, Some(item)] => {
                if self.credit >= item.bytes.0 as f64 {
                    C
                } else {
                    L
                }
            }
        }
    }

    /// The native probability of a packet of L that has waited so long.
    fn laqm(&self, wait: u64) -> f64 {
        let [from, to] = self.ramp;
        if self.lines[L].is_empty() {
            0.0
        } else if wait >= to {
            1.0
        } else if wait > from {
            (wait - from) as f64 / (to - from) as f64
        } else {
            0.0
        }
    }

    /// A packet leaves.
    fn pay(&mut self, queue: usize, item: &Item) {
        let size = item.bytes.0 as f64;
        if self.lines[C].is_empty() {
            self.credit = 0.0;
        } else if queue == L {
            self.credit += size * self.share / (1.0 - self.share);
        } else {
            self.credit = (self.credit - size).max(0.0);
        }
    }
}

impl Plain for DualPi2 {
    fn clock(&mut self, now: u64) {
        while self.next <= now {
            self.update(self.next);
            self.next += self.interval;
        }
    }

    fn arrive(&mut self, _: u64, item: Item, _: Option<RouterHeader>, decided: &mut Decisions) {
        let queue = if matches!(item.ecn, Ecn::Ect1 | Ecn::Ce) { L } else { C };
        self.lines[queue].push(item);
        if exceed(self.capacity, &self.lines) {
            self.lines[queue].pop();
            decided.dropped.push(item.id);
        }
    }

    fn leave(&mut self, now: u64, decided: &mut Decisions) -> Option<Item> {
        while !self.lines.iter().all(Vec::is_empty) {
            let queue = self.scheduler();
            let mut item = self.lines[queue].remove(0);
            let (p_cl, p_c) = (self.k * self.base, self.base * self.base);
            let overload = p_cl >= 1.0;
            let dropped = if queue == C {
                self.recur(C, p_c) && (overload || !decided.mark(&mut item))
            } else if overload {
                self.recur(L, p_c) || !decided.mark(&mut item)
            } else {
                let p_l = self.laqm(now - item.arrived.0).max(p_cl);
                self.recur(L, p_l) && !decided.mark(&mut item)
            };
            if dropped {
                decided.dropped.push(item.id);
                continue;
            }
            self.pay(queue, &item);
            return Some(item);
        }
        self.credit = 0.0;
        None
    }
}

#[test]
fn dualpi2_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        // No sum of probabilities is a whole number but for rounding.
        let (target, interval) = (draw.number(1, 20) * 600_000 + 12_345, draw.period());
        let (alpha, beta) = (draw.of(&[1e3, 1e4, 1e5]), draw.of(&[0.0, 1e4, 1e5]));
        let k = draw.of(&[1.0, 2.0, 5.0]);
        let from = draw.number(0, 10) * 300_000;
        let ramp = [from, from + draw.of(&[0, 1_700_001, 7_700_001])];
        let share = draw.of(&[0.0, 0.0613, 0.307, 0.5]);
        let changes = [
            ("target", span(target)),
            ("interval", span(interval)),
            ("alpha", Value::Number(alpha)),
            ("beta", Value::Number(beta)),
            ("coupling", Value::Number(k)),
            ("ramp_from", span(ramp[0])),
            ("ramp_to", span(ramp[1])),
            ("classic_share", Value::Number(share)),
        ];
        let plain = DualPi2 {
            lines: [Vec::new(), Vec::new()],
            capacity,
            next: interval,
            base: 0.0,
            last: 0,
            counts: [0.0; 2],
            credit: 0.0,
            target,
            interval,
            alpha,
            beta,
            k,
            ramp,
            share,
        };
        compare(&discipline(), &changes, capacity, seed, plain, visits);
    });
}
