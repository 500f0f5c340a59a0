//! PIE after RFC 8033, appendix B, with the choices and exceptions of the essay.

use longfat_queue::discipline::pie::discipline;
use longfat_queue::{Capacity, Item};
use longfat_units::parameter::Setting as Value;
use longfat_units::{RouterHeader, Span, math};
use rand_core::Rng;
use rand_pcg::Pcg64;

use super::places::{admits, bytes};
use super::policies::span;
use super::{Decisions, Plain, cases, compare};
use crate::support::{PACKET, chance};

struct Pie {
    line: Vec<Item>,
    capacity: Capacity,
    chance: Pcg64,
    next: u64,
    probability: f64,
    /// The wait at the last update.
    last: u64,
    allowance: u64,
    sum: f64,
    target: u64,
    interval: u64,
    alpha: f64,
    beta: f64,
    burst: u64,
    ecn: bool,
    mark_below: f64,
    derandomize: bool,
}

impl Pie {
    fn wait(&self, now: u64) -> u64 {
        self.line.first().map_or(0, |first| now - first.arrived.0)
    }

    fn update(&mut self, now: u64) {
        let wait = self.wait(now);
        let seconds = |time: u64| Span(time).seconds();
        let mut p = self.alpha * (seconds(wait) - seconds(self.target))
            + self.beta * (seconds(wait) - seconds(self.last));
        if self.probability < 0.000_001 {
            p /= 2048.0;
        } else if self.probability < 0.000_01 {
            p /= 512.0;
        } else if self.probability < 0.000_1 {
            p /= 128.0;
        } else if self.probability < 0.001 {
            p /= 32.0;
        } else if self.probability < 0.01 {
            p /= 8.0;
        } else if self.probability < 0.1 {
            p /= 2.0;
        } else if p > 0.02 {
            p = 0.02;
        }
        self.probability += p;
        if wait == 0 && self.last == 0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last = wait;
        self.allowance = self.allowance.saturating_sub(self.interval);
    }

    /// `drop_early`
    fn hits(&mut self) -> bool {
        if 2 * self.last < self.target && self.probability < 0.2
            || bytes(&self.line) <= 2 * PACKET.0
        {
            return false;
        }
        if self.derandomize {
            if self.probability == 0.0 {
                self.sum = 0.0;
            }
            self.sum += self.probability;
            if self.sum < 0.85 {
                return false;
            }
            if self.sum >= 8.5 {
                return true;
            }
        }
        math::uniform(self.chance.next_u64()) < self.probability
    }
}

impl Plain for Pie {
    fn clock(&mut self, now: u64) {
        while self.next <= now {
            self.update(self.next);
            self.next += self.interval;
        }
    }

    fn arrive(
        &mut self,
        now: u64,
        mut item: Item,
        _: Option<RouterHeader>,
        decided: &mut Decisions,
    ) {
        if !admits(self.capacity, &self.line, &item) {
            self.sum = 0.0;
            decided.dropped.push(item.id);
            return;
        }
        let calm = |wait: u64| 2 * wait < self.target;
        if self.probability == 0.0 && calm(self.wait(now)) && calm(self.last) {
            self.allowance = self.burst;
        }
        if self.allowance == 0 && self.hits() {
            self.sum = 0.0;
            let mark = self.ecn && self.probability < self.mark_below;
            if !(mark && decided.mark(&mut item)) {
                decided.dropped.push(item.id);
                return;
            }
        }
        self.line.push(item);
    }

    fn leave(&mut self, _: u64, _: &mut Decisions) -> Option<Item> {
        (!self.line.is_empty()).then(|| self.line.remove(0))
    }
}

#[test]
fn pie_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let (target, interval) = (draw.number(1, 10) * 2_000_000, draw.period());
        let burst = draw.of(&[0, 1, 3]) * interval + draw.of(&[0, 100_000]);
        // No probability is a limit but for rounding.
        let (alpha, beta) =
            (draw.of(&[1.012_345e3, 3.012_345e4, 0.987_654e6]), draw.of(&[0.0, 1e4, 3e5]));
        let (ecn, mark_below) = (draw.flag(), draw.of(&[0.0, 0.1, 0.5, 1.0]));
        let derandomize = draw.flag();
        let changes = [
            ("target", span(target)),
            ("interval", span(interval)),
            ("alpha", Value::Number(alpha)),
            ("beta", Value::Number(beta)),
            ("burst", span(burst)),
            ("ecn", Value::Flag(ecn)),
            ("mark_below", Value::Number(mark_below)),
            ("derandomize", Value::Flag(derandomize)),
        ];
        let plain = Pie {
            line: Vec::new(),
            capacity,
            chance: chance(seed),
            next: interval,
            probability: 0.0,
            last: 0,
            allowance: burst,
            sum: 0.0,
            target,
            interval,
            alpha,
            beta,
            burst,
            ecn,
            mark_below,
            derandomize,
        };
        compare(&discipline(), &changes, capacity, seed, plain, visits);
    });
}
