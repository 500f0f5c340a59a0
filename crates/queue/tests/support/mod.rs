//! A queue in front of a link, for testing its policy alone.

use std::collections::BTreeMap;
use std::convert::Infallible;

use longfat_queue::{
    Arrival, Backlog, Capacity, Discipline, Host, Item, PacketQueue, Policy, Probe, Site,
};
use longfat_units::parameter::{self, Settings};
use longfat_units::{Bytes, Ecn, Rate, RouterHeader, Time, split};
use rand_core::{Rng, SeedableRng, TryRng};
use rand_pcg::Pcg64;

/// The largest packet.
pub(crate) const PACKET: Bytes = Bytes(1000);
/// A packet of the largest size lasts a microsecond.
pub(crate) const RATE: Rate = Rate(8_000_000_000);
/// Picoseconds of a packet of the largest size.
pub(crate) const PACKET_TIME: u64 = 1_000_000;
/// The packets behind `bdp`: a round trip of a millisecond.
pub(crate) const BDP: f64 = 1000.0;

/// Every codepoint of the ECN field.
pub(crate) const CODEPOINTS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

/// A queue that holds a thousand packets, in the unit that `mode` says.
pub(crate) fn site(mode: &str) -> Site {
    let capacity = match mode {
        "bytes" => Capacity::Bytes(Bytes(1000 * PACKET.0)),
        _ => Capacity::Packets(1000),
    };
    Site { rate: RATE, packet: PACKET, capacity, round_trip: None }
}

/// The defaults of `discipline`, with their lengths on this link.
pub(crate) fn defaults(discipline: &Discipline, mode: &str) -> Option<Settings> {
    let unit = if mode == "bytes" { PACKET.0 as f64 } else { 1.0 };
    let length = |text: &str| {
        let (number, name) = split(text);
        let number: f64 = number.parse().expect("a length begins with a number");
        match name {
            "packets" => number * unit,
            "bdp" => number * BDP * unit,
            "buffer" => number * 1000.0 * unit,
            "B" => number * unit / PACKET.0 as f64,
            other => panic!("no test knows the unit {other}"),
        }
    };
    let mut settings = discipline.defaults(&length)?;
    if settings.get("mode").is_some() {
        settings.set("mode", parameter::Setting::Word(mode.into()));
    }
    Some(settings)
}

/// A parameter, and the value that it gets.
pub(crate) type Change = (&'static str, parameter::Setting);

/// The defaults of `discipline`, which has them all, with `changes`.
pub(crate) fn changed(discipline: &Discipline, mode: &str, changes: &[Change]) -> Settings {
    let mut settings = defaults(discipline, mode).expect("everything has a default");
    for (name, value) in changes {
        settings.set(*name, value.clone());
    }
    settings
}

/// The policy of `discipline` at `site` with `settings`, which it must accept.
pub(crate) fn policy(discipline: &Discipline, settings: &Settings, site: &Site) -> Box<dyn Policy> {
    assert_eq!((discipline.check)(settings, site), Ok(()));
    (discipline.build)(settings, site).into_policy().expect("it is a policy")
}

/// A packet of the largest size that can be marked, and `packets` like it waiting.
pub(crate) fn behind(packets: u64) -> Arrival {
    Arrival {
        now: Time::ZERO,
        bytes: PACKET,
        ecn: Ecn::Ect0,
        backlog: Backlog { packets, bytes: PACKET * packets },
        idle_since: None,
    }
}

/// A generator with a fixed seed.
pub(crate) fn chance(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

/// A free link and the queue in front of it. Checks what every queue owes its host: each packet leaves once or is
/// dropped once, the backlog is within the capacity, and the link is not idle while something waits.
#[derive(Debug)]
pub(crate) struct FreeLink {
    queue: Box<dyn PacketQueue>,
    capacity: Capacity,
    busy: bool,
    books: Books,
}

/// What a port knows about its packets.
#[derive(Debug)]
pub(crate) struct Books {
    waiting: BTreeMap<u32, Item>,
    pub(crate) sent: Vec<Item>,
    pub(crate) dropped: Vec<Item>,
    pub(crate) marked: Vec<u32>,
    /// Of those that have one.
    pub(crate) headers: BTreeMap<u32, RouterHeader>,
    chance: Pcg64,
    arrivals: u32,
}

impl FreeLink {
    pub(crate) fn new(queue: Box<dyn PacketQueue>, capacity: Capacity, seed: u64) -> Self {
        let books = Books {
            waiting: BTreeMap::new(),
            sent: Vec::new(),
            dropped: Vec::new(),
            marked: Vec::new(),
            headers: BTreeMap::new(),
            chance: chance(seed),
            arrivals: 0,
        };
        Self { queue, capacity, busy: false, books }
    }

    /// The next packet arrives; the first one has the number 0.
    pub(crate) fn arrive(&mut self, now: Time, bytes: Bytes, ecn: Ecn) {
        let id = self.books.arrivals;
        self.arrive_as(now, Item { bytes, ecn, flow: id % 7, rank: id % 5, ..Item::default() });
    }

    /// The next packet arrives, and is this apart from its number and time.
    pub(crate) fn arrive_as(&mut self, now: Time, item: Item) {
        self.arrive_with(now, item, None);
    }

    /// The same for a packet with this header.
    pub(crate) fn arrive_with(&mut self, now: Time, item: Item, header: Option<RouterHeader>) {
        let id = self.books.arrivals;
        self.books.arrivals += 1;
        let item = Item { id, arrived: now, ..item };
        self.queue.advance(now);
        self.books.waiting.insert(id, item);
        self.books.headers.extend(header.map(|header| (id, header)));
        self.queue.enqueue(now, item, &mut self.books);
        if !self.busy {
            self.serve(now);
        }
        let backlog = self.backlog();
        let fits = match self.capacity {
            Capacity::Packets(limit) => backlog.packets <= limit,
            Capacity::Bytes(limit) => backlog.bytes <= limit,
            Capacity::Unbounded => true,
        };
        assert!(fits, "{backlog:?} does not fit into {:?}", self.capacity);
    }

    /// The packet in service has left, if there was one.
    pub(crate) fn depart(&mut self, now: Time) {
        if self.busy {
            self.queue.advance(now);
            self.serve(now);
        }
    }

    /// The rate is another one from `now` on.
    pub(crate) fn learn(&mut self, now: Time, rate: Rate) {
        self.queue.advance(now);
        self.queue.on_rate(now, rate);
    }

    fn serve(&mut self, now: Time) {
        let item = self.queue.dequeue(now, &mut self.books);
        self.busy = item.is_some();
        if let Some(item) = item {
            self.books.forget(item);
            self.books.sent.push(item);
        } else {
            assert!(self.books.waiting.is_empty(), "the link is idle while packets wait");
        }
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy
    }

    pub(crate) fn books(&self) -> &Books {
        &self.books
    }

    pub(crate) fn queue(&self) -> &dyn PacketQueue {
        &*self.queue
    }

    pub(crate) fn backlog(&self) -> Backlog {
        let mut backlog = Backlog::default();
        self.books.waiting.values().for_each(|item| backlog.enter(item.bytes));
        backlog
    }
}

impl Books {
    fn forget(&mut self, item: Item) {
        assert_eq!(self.waiting.remove(&item.id), Some(item), "it is not what is waiting here");
    }
}

impl Host for Books {
    fn drop(&mut self, item: Item) {
        self.forget(item);
        self.dropped.push(item);
    }

    fn mark(&mut self, item: &mut Item) -> bool {
        if !item.ecn.is_capable() {
            return false;
        }
        item.ecn = Ecn::Ce;
        self.waiting.insert(item.id, *item).expect("it is waiting here");
        self.marked.push(item.id);
        true
    }

    fn header(&mut self, item: &Item) -> Option<&mut RouterHeader> {
        self.headers.get_mut(&item.id)
    }

    fn chance(&mut self) -> &mut dyn Rng {
        &mut self.chance
    }
}

/// A generator that always gives the same uniform number, and counts how often it is asked.
#[derive(Debug)]
pub(crate) struct Fixed {
    bits: u64,
    pub(crate) asked: u64,
}

impl Fixed {
    /// `share` of the interval from 0 to 1.
    pub(crate) fn new(share: f64) -> Self {
        Self { bits: (share * (1_u64 << 53) as f64) as u64, asked: 0 }
    }
}

impl TryRng for Fixed {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|bits| (bits >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.asked += 1;
        Ok(self.bits << 11)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// Equal but for rounding.
#[track_caller]
pub(crate) fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found}, not {expected}");
}

/// The variables that a policy reports.
pub(crate) fn observed(policy: &dyn Policy) -> BTreeMap<String, f64> {
    let mut values = Values::default();
    policy.observe(&mut values);
    values.0
}

/// The variables that a queue reports.
pub(crate) fn observed_in(queue: &dyn PacketQueue) -> BTreeMap<String, f64> {
    let mut values = Values::default();
    queue.observe(&mut values);
    values.0
}

#[derive(Default)]
struct Values(BTreeMap<String, f64>);

impl Probe for Values {
    fn value(&mut self, name: &str, value: f64) {
        assert!(self.0.insert(name.to_owned(), value).is_none(), "{name} is named twice");
    }
}
