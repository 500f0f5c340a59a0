//! RED after Floyd and Jacobson 1993, with the choices and exceptions of the essay.

use longfat_queue::discipline::red::discipline;
use longfat_queue::{Item, Verdict};
use longfat_units::math;
use longfat_units::parameter::Setting as Value;
use rand_core::Rng;
use rand_pcg::Pcg64;

use super::cases;
use super::places::bytes;
use super::policies::{PlainPolicy, check};
use crate::support::{PACKET, RATE};

struct Red {
    average: f64,
    /// The sizes of those that came since the last mark, in this spell above `min_th`.
    gap: Option<Vec<u64>>,
    /// Since when the link has been idle, if it is.
    idle: Option<u64>,
    rate: u64,
    weight: f64,
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
    by_bytes: bool,
    wait: bool,
    /// Are packets that can be marked marked, up to `max_th` and above?
    marks: [bool; 2],
}

impl Red {
    fn queue(&self, line: &[Item]) -> f64 {
        if self.by_bytes { bytes(line) as f64 } else { line.len() as f64 }
    }

    fn sample(&mut self, now: u64, line: &[Item]) {
        if let Some(since) = self.idle {
            let bits = u128::from(now - since) * u128::from(self.rate) / 1_000_000_000_000;
            let packets = bits as u64 / (8 * PACKET.0);
            self.average *= math::pow(1.0 - self.weight, packets as f64);
        }
        self.average = (1.0 - self.weight) * self.average + self.weight * self.queue(line);
    }

    /// `p_b`
    fn probability(&self) -> f64 {
        let average = self.average;
        if average < self.min {
            0.0
        } else if average < self.max {
            self.max_p * (average - self.min) / (self.max - self.min)
        } else if self.gentle && average < 2.0 * self.max {
            self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max
        } else {
            1.0
        }
    }

    /// What counts of packets of these sizes, in packets.
    fn count(&self, sizes: &[u64]) -> f64 {
        if self.by_bytes {
            sizes.iter().sum::<u64>() as f64 / PACKET.0 as f64
        } else {
            sizes.len() as f64
        }
    }

    /// `p_a`
    fn chance(&self, size: u64, gap: &[u64]) -> f64 {
        let p = self.probability();
        let n = self.count(gap) + 1.0;
        let over = p * self.count(&[size]);
        let under = match self.wait {
            true if n * p < 1.0 => return 0.0,
            true => 2.0 - n * p,
            false => 1.0 - (n - 1.0) * p,
        };
        if under <= over { 1.0 } else { over / under }
    }

    fn answer(&self, item: &Item) -> Verdict {
        let above = self.average > self.max || self.probability() == 1.0;
        let marks = self.marks[usize::from(above)] && item.ecn.is_capable();
        if marks { Verdict::Mark } else { Verdict::Drop }
    }
}

impl PlainPolicy for Red {
    fn rate(&mut self, rate: u64) {
        self.rate = rate;
    }

    fn arrive(&mut self, now: u64, item: &Item, line: &[Item], chance: &mut Pcg64) -> Verdict {
        self.sample(now, line);
        self.idle = None;
        if self.average < self.min || line.len() <= 1 {
            self.gap = None;
            return Verdict::Keep;
        }
        let hit = match &self.gap {
            _ if self.probability() == 1.0 => true,
            None => false,
            Some(gap) => {
                let p = self.chance(item.bytes.0, gap);
                // No number is drawn for what is certain, or for what has to wait.
                let drawn = p < 1.0 && (p > 0.0 || !self.wait);
                if drawn { math::uniform(chance.next_u64()) < p } else { p >= 1.0 }
            }
        };
        let gap = self.gap.get_or_insert_default();
        if hit {
            gap.clear();
            self.answer(item)
        } else {
            gap.push(item.bytes.0);
            Verdict::Keep
        }
    }

    fn overflow(&mut self, now: u64, _: &Item, line: &[Item]) {
        self.sample(now, line);
        self.gap = Some(Vec::new()).filter(|_| self.average >= self.min);
    }

    fn left(&mut self, now: u64, packets: usize) {
        self.idle = Some(now).filter(|_| packets == 0);
    }
}

#[test]
fn red_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let [gentle, ecn, by_bytes, mark_above_max, wait] = [(); 5].map(|()| draw.flag());
        // Ten round trips of 100 ms are a million packets: the average stays small.
        let weight = draw.of(&[Some(0.02), Some(0.2), Some(0.7), Some(1.0), None]);
        let unit = if weight.is_some() { 1.0 } else { 1e-5 };
        let unit = if by_bytes { unit * PACKET.0 as f64 } else { unit };
        // Where the average is the queue and all numbers are exact, probabilities and thresholds are met exactly.
        let exact = weight == Some(1.0) && !by_bytes;
        let (min, max) = if exact {
            draw.of(&[(1.0, 2.0), (2.0, 4.0), (4.0, 8.0)])
        } else {
            let min = 0.123_456_7 + draw.number(0, 16) as f64 / 8.0;
            (min, min + 0.212_345_6 + draw.number(0, 16) as f64 / 8.0)
        };
        let (min, max) = (unit * min, unit * max);
        let max_p = if exact { 0.5 } else { draw.of(&[0.01, 0.1, 0.5, 1.0]) };
        let mode = if by_bytes { "bytes" } else { "packets" };
        let auto = || Value::Word("auto".into());
        let changes = [
            ("min", Value::Length(min)),
            ("max", Value::Length(max)),
            ("weight", weight.map_or_else(auto, Value::Number)),
            ("max_p", Value::Number(max_p)),
            ("gentle", Value::Flag(gentle)),
            ("ecn", Value::Flag(ecn)),
            ("mode", Value::Word(mode.into())),
            ("mark_above_max", Value::Flag(mark_above_max)),
            ("wait", Value::Flag(wait)),
        ];
        let per_second = RATE.0 as f64 / 8.0 / PACKET.0 as f64;
        let plain = Red {
            average: 0.0,
            gap: None,
            idle: Some(0),
            rate: RATE.0,
            weight: weight.unwrap_or(-math::expm1(-1.0 / (10.0 * 0.1 * per_second))),
            min,
            max,
            max_p,
            gentle,
            by_bytes,
            wait,
            marks: [ecn, ecn && mark_above_max],
        };
        check(&discipline(), &changes, capacity, seed, plain, visits);
    });
}
