//! RFC 8289, section 5, with marks in the place of drops.

use longfat_queue::discipline::codel::discipline;
use longfat_queue::{Capacity, Item};
use longfat_units::parameter::Setting as Value;
use longfat_units::{RouterHeader, Span};

use super::places::{admits, bytes};
use super::{Decisions, Plain, cases, compare};
use crate::support::{Change, PACKET};

/// The state of one CoDel. Instants are in picoseconds, 0 for none.
#[derive(Clone, Debug, Default)]
pub(super) struct Codel {
    first_above: u64,
    next: u64,
    count: u64,
    last_count: u64,
    dropping: bool,
}

/// Its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub(super) target: u64,
    pub(super) interval: u64,
    pub(super) ecn: bool,
}

impl Parameters {
    /// Some microseconds, of which a packet lasts one.
    pub(super) fn new(ecn: bool) -> Self {
        Self { target: 2_000_000, interval: 8_000_000, ecn }
    }

    pub(super) fn settings(self) -> [Change; 3] {
        [
            ("target", Value::Span(Span(self.target))),
            ("interval", Value::Span(Span(self.interval))),
            ("ecn", Value::Flag(self.ecn)),
        ]
    }
}

impl Codel {
    /// The next packet, and whether it may be dropped.
    fn take(&mut self, with: Parameters, now: u64, line: &mut Vec<Item>) -> Option<(Item, bool)> {
        if line.is_empty() {
            self.first_above = 0;
            return None;
        }
        let item = line.remove(0);
        let mut may_drop = false;
        if now - item.arrived.0 < with.target || bytes(line) <= PACKET.0 {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + with.interval;
        } else if now >= self.first_above {
            may_drop = true;
        }
        Some((item, may_drop))
    }

    fn law(&self, with: Parameters, from: u64) -> u64 {
        from + (with.interval as f64 / (self.count as f64).sqrt()) as u64
    }

    pub(super) fn leave(
        &mut self,
        with: Parameters,
        now: u64,
        line: &mut Vec<Item>,
        decided: &mut Decisions,
    ) -> Option<Item> {
        let may_drop = |head: Option<(Item, bool)>| head.is_some_and(|(_, may_drop)| may_drop);
        // A packet that can be marked is, and leaves; any other is dropped.
        let mut hit = |head: Option<(Item, bool)>| {
            let (mut item, _) = head?;
            if with.ecn && decided.mark(&mut item) {
                return Some(item);
            }
            decided.dropped.push(item.id);
            None
        };
        let mut head = self.take(with, now, line);
        if self.dropping {
            if !may_drop(head) {
                self.dropping = false;
            }
            while self.dropping && now >= self.next {
                self.count += 1;
                if let Some(marked) = hit(head) {
                    self.next = self.law(with, self.next);
                    return Some(marked);
                }
                head = self.take(with, now, line);
                if may_drop(head) {
                    self.next = self.law(with, self.next);
                } else {
                    self.dropping = false;
                }
            }
        } else if may_drop(head) {
            let marked = hit(head);
            head = if marked.is_some() { None } else { self.take(with, now, line) };
            self.dropping = true;
            let since = self.count - self.last_count;
            let again = since > 1 && now < self.next + 16 * with.interval;
            self.count = if again { since } else { 1 };
            self.next = self.law(with, now);
            self.last_count = self.count;
            return marked.or(head.map(|(item, _)| item));
        }
        head.map(|(item, _)| item)
    }
}

/// One CoDel alone; what finds the buffer full is dropped.
struct Alone {
    codel: Codel,
    line: Vec<Item>,
    with: Parameters,
    capacity: Capacity,
}

impl Plain for Alone {
    fn arrive(&mut self, _: u64, item: Item, _: Option<RouterHeader>, decided: &mut Decisions) {
        if admits(self.capacity, &self.line, &item) {
            self.line.push(item);
        } else {
            decided.dropped.push(item.id);
        }
    }

    fn leave(&mut self, now: u64, decided: &mut Decisions) -> Option<Item> {
        self.codel.leave(self.with, now, &mut self.line, decided)
    }
}

/// Packet for packet what the pseudo-code does, over queues that come and go.
#[test]
fn codel_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let with = Parameters::new(draw.flag());
        let plain = Alone { codel: Codel::default(), line: Vec::new(), with, capacity };
        compare(&discipline(), &with.settings(), capacity, seed, plain, visits);
    });
}
