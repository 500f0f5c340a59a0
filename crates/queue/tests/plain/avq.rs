//! AVQ after Kunniyur and Srikant 2001, with the exceptions of the essay.

use longfat_queue::discipline::avq::discipline;
use longfat_queue::{Item, Verdict};
use longfat_units::parameter::Setting as Value;
use rand_pcg::Pcg64;

use super::cases;
use super::policies::{PlainPolicy, check, packets};
use crate::support::{PACKET, RATE};

/// VQ ← max(VQ - C̃ (t - s), 0), then C̃ ← max(min(C̃ + α γ C (t - s), C) - α b, 0).
struct Avq {
    queue: f64,
    virtual_capacity: f64,
    last: u64,
    now: u64,
    /// C, in bytes per second.
    link: f64,
    alpha: f64,
    gamma: f64,
    /// B, in bytes.
    limit: f64,
    ecn: bool,
}

impl Avq {
    fn pass(&mut self, now: u64) {
        let seconds = (now - self.last) as f64 / 1e12;
        self.last = now;
        self.queue = (self.queue - self.virtual_capacity * seconds).max(0.0);
        let grown = self.virtual_capacity + self.alpha * self.gamma * self.link * seconds;
        self.virtual_capacity = grown.min(self.link);
    }
}

impl PlainPolicy for Avq {
    fn clock(&mut self, now: u64, _: &[Item]) {
        self.now = now;
    }

    fn rate(&mut self, rate: u64) {
        self.pass(self.now);
        self.link = rate as f64 / 8.0;
        self.virtual_capacity = self.virtual_capacity.min(self.link);
    }

    fn arrive(&mut self, now: u64, item: &Item, _: &[Item], _: &mut Pcg64) -> Verdict {
        self.pass(now);
        let b = item.bytes.0 as f64;
        let verdict = if self.queue + b <= self.limit {
            self.queue += b;
            Verdict::Keep
        } else if self.ecn && item.ecn.is_capable() {
            Verdict::Mark
        } else {
            return Verdict::Drop;
        };
        self.virtual_capacity = (self.virtual_capacity - self.alpha * b).max(0.0);
        verdict
    }

    fn overflow(&mut self, now: u64, _: &Item, _: &[Item]) {
        self.pass(now);
    }
}

#[test]
fn avq_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        // C̃ remembers some packets.
        let alpha = draw.of(&[1e3, 3e4, 1e5, 1e6]);
        let gamma = draw.of(&[0.5, 0.9, 0.98, 1.0]);
        let start = draw.of(&[0.0, 0.1, 0.8, 1.0]);
        let (limit, ecn) = (1.0 + draw.number(0, 5000) as f64 / PACKET.0 as f64, draw.flag());
        let changes = [
            ("alpha", Value::Number(alpha)),
            ("utilisation", Value::Number(gamma)),
            ("start", Value::Number(start)),
            ("limit", packets(capacity, limit)),
            ("ecn", Value::Flag(ecn)),
        ];
        let link = RATE.0 as f64 / 8.0;
        let plain = Avq {
            queue: 0.0,
            virtual_capacity: start * link,
            last: 0,
            now: 0,
            link,
            alpha,
            gamma,
            limit: limit * PACKET.0 as f64,
            ecn,
        };
        check(&discipline(), &changes, capacity, seed, plain, visits);
    });
}
