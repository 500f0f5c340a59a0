//! Disciplines beside models of them that are written from their sources as plainly as possible: lists that are searched,
//! and nothing kept that can be counted. Both see the same packets, and have to decide alike at every step.

mod avq;
mod codel;
mod dualpi2;
mod flow_queues;
mod pie;
mod places;
mod policies;
mod pushout;
mod red;

use longfat_queue::{Capacity, Discipline, Item, Site};
use longfat_units::{Bytes, Ecn, Rate, RouterHeader, Segments, Span, Time};
use rand_core::Rng;
use rand_pcg::Pcg64;

use crate::support::{CODEPOINTS, Change, FreeLink, PACKET, chance, changed, site};

/// What a queue has decided: numbers of packets, how those that were sent looked, and what headers say.
#[derive(Debug, Default)]
struct Decisions {
    sent: Vec<(u32, Ecn)>,
    dropped: Vec<u32>,
    marked: Vec<u32>,
    told: Vec<(u32, RouterHeader)>,
}

impl Decisions {
    fn counts(&self) -> [usize; 3] {
        [self.sent.len(), self.dropped.len(), self.marked.len()]
    }

    /// Marks a packet, if it can be marked.
    fn mark(&mut self, item: &mut Item) -> bool {
        let can = item.ecn != Ecn::NotEct;
        if can {
            item.ecn = Ecn::Ce;
            self.marked.push(item.id);
        }
        can
    }
}

/// A model of a queue.
trait Plain {
    /// Everything that is due by now.
    fn clock(&mut self, _now: u64) {}

    fn rate(&mut self, _rate: u64) {}

    fn arrive(
        &mut self,
        now: u64,
        item: Item,
        header: Option<RouterHeader>,
        decided: &mut Decisions,
    );

    /// The packet that leaves now, if there is one.
    fn leave(&mut self, now: u64, decided: &mut Decisions) -> Option<Item>;
}

/// What happens at a queue: after a gap so many packets like this one arrive, and then so many leave.
#[derive(Clone, Copy, Debug)]
struct Visit {
    gap: u64,
    item: Item,
    header: Option<RouterHeader>,
    burst: u64,
    leave: u64,
    /// In the middle of the gap the rate becomes this.
    rate: Option<u64>,
}

/// Random choices.
struct Draw(Pcg64);

impl Draw {
    /// A whole number from `from` to `to`, without that.
    fn number(&mut self, from: u64, to: u64) -> u64 {
        from + self.0.next_u64() % (to - from)
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.number(0, times) == 0
    }

    fn flag(&mut self) -> bool {
        self.one_in(2)
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.number(0, choices.len() as u64) as usize]
    }

    /// Few flows, small packets among full ones, queues that stand for a while, and pauses.
    fn visit(&mut self) -> Visit {
        let gap = match self.number(0, 20) {
            0 => self.number(0, 100_000_000),
            1 => self.number(0, 2_000_000_000),
            2 | 3 => 1_000_000,
            4 => self.number(0, 2000),
            _ => self.number(0, 2_000_000),
        };
        let any = self.number(1, PACKET.0);
        let most = self.of(&[3, 3, 24]);
        let item = Item {
            flow: self.number(0, most) as u32,
            bytes: Bytes(self.of(&[PACKET.0, 500, 40, any])),
            ecn: self.of(&CODEPOINTS),
            rank: self.number(0, 4) as u32,
            ..Item::default()
        };
        let header = RouterHeader {
            window: Segments(self.number(1, 1000) as f64),
            rtt: Some(Span(self.number(50_000_000, 2_000_000_000))).filter(|_| !self.one_in(10)),
            feedback: if self.flag() { 1e9 } else { self.number(0, 4000) as f64 / 100.0 - 20.0 },
            code: self.number(0, 4) as u8,
        };
        let most = self.of(&[2, 2, 3, 12]);
        let burst = self.number(0, most).max(1);
        let most = self.of(&[2, 2, 2, 2, 4, 30]);
        let least = self.of(&[0, 1, 1]);
        let leave = self.number(least, most);
        let rate = self.number(1_000_000_000, 20_000_000_000);
        Visit {
            gap,
            item,
            header: Some(header).filter(|_| !self.one_in(4)),
            burst,
            leave,
            rate: Some(rate).filter(|_| self.one_in(30)),
        }
    }

    /// In half of the cases at whole microseconds, so that much is due at the same instant.
    fn visits(&mut self) -> Vec<Visit> {
        let (count, unit) = (self.number(1, 120), self.of(&[1, 1_000_000]));
        let visits = (0..count).map(|_| self.visit());
        visits.map(|visit| Visit { gap: visit.gap.next_multiple_of(unit), ..visit }).collect()
    }

    /// The period of a clock.
    fn period(&mut self) -> u64 {
        self.number(2, 40) * 500_000
    }

    fn capacity(&mut self) -> Capacity {
        match self.number(0, 8) {
            0 | 1 => Capacity::Packets(self.number(1, 20)),
            2 => Capacity::Bytes(Bytes(self.number(PACKET.0, 12_000))),
            3 | 4 => Capacity::Bytes(Bytes(self.number(PACKET.0, 3000))),
            _ => Capacity::Unbounded,
        }
    }
}

/// Each case with its own random choices, and the seed of the queue.
fn cases(check: impl Fn(&mut Draw, u64)) {
    for seed in 0..CASES {
        check(&mut Draw(chance(seed ^ u64::MAX)), seed);
    }
}

const CASES: u64 = 1024;

/// Where flows come from and where they go.
#[derive(Clone, Copy, Debug)]
struct Hosts {
    sources: u32,
    destinations: u32,
}

impl Hosts {
    fn new(draw: &mut Draw) -> Self {
        Self { sources: draw.number(1, 25) as u32, destinations: draw.number(1, 9) as u32 }
    }

    fn of(self, item: Item) -> Item {
        let (source, destination) =
            (item.flow % self.sources, 100 + item.flow / 3 % self.destinations);
        Item { source, destination, ..item }
    }
}

/// One case: a queue of `discipline`, the model of it, and what happens to both.
fn compare(
    discipline: &Discipline,
    changes: &[Change],
    capacity: Capacity,
    seed: u64,
    mut plain: impl Plain,
    visits: impl IntoIterator<Item = Visit>,
) {
    let settings = changed(discipline, "packets", changes);
    let site = Site { capacity, ..site("packets") };
    let queue = (discipline.build)(&settings, &site).into_queue(capacity);
    let mut port = FreeLink::new(queue, capacity, seed);
    let (mut decided, mut busy, mut now, mut id) = (Decisions::default(), false, 0, 0);
    let serve = |plain: &mut dyn Plain, now, decided: &mut Decisions| {
        let item = plain.leave(now, decided);
        decided.sent.extend(item.map(|item| (item.id, item.ecn)));
        item.is_some()
    };
    for visit in visits {
        if let Some(rate) = visit.rate {
            let at = now + visit.gap / 2;
            port.learn(Time(at), Rate(rate));
            plain.clock(at);
            plain.rate(rate);
        }
        now += visit.gap;
        plain.clock(now);
        for _ in 0..visit.burst {
            let item = Item { id, arrived: Time(now), ..visit.item };
            id += 1;
            port.arrive_with(Time(now), item, visit.header);
            plain.arrive(now, item, visit.header, &mut decided);
            if !busy {
                busy = serve(&mut plain, now, &mut decided);
            }
        }
        for _ in 0..visit.leave {
            port.depart(Time(now));
            if busy {
                busy = serve(&mut plain, now, &mut decided);
            }
        }
        let books = port.books();
        let found = [books.sent.len(), books.dropped.len(), books.marked.len()];
        assert_eq!(found, decided.counts(), "case {seed}: after {visit:?} at {now}");
    }
    let books = port.books();
    let sent: Vec<_> = books.sent.iter().map(|item| (item.id, item.ecn)).collect();
    assert_eq!(sent, decided.sent, "case {seed}");
    let dropped: Vec<_> = books.dropped.iter().map(|item| item.id).collect();
    assert_eq!(dropped, decided.dropped, "case {seed}");
    assert_eq!(books.marked, decided.marked, "case {seed}");
    for (id, told) in decided.told {
        let found = books.headers[&id];
        assert_eq!(found.code, told.code, "case {seed}: packet {id}");
        let (feedback, expected) = (found.feedback, told.feedback);
        let close = (feedback - expected).abs() <= 1e-6 * expected.abs().max(1e-3);
        assert!(close, "case {seed}: packet {id} is told {feedback}, not {expected}");
    }
}
