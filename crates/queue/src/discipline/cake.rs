//! CAKE: equal shares for hosts, and for the flows of each host.
//!
//! T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home
//! Gateways", LANMAN 2018 (arXiv 1804.07617).
//!
//! # The problem
//!
//! Where flows get equal shares, a host with twenty of them gets twenty shares, and a neighbour with one gets one.
//! Shares by host alone would put all flows of a host into one queue again. And two flows whose hashes meet share a
//! queue even where most queues are unused.
//!
//! # The algorithm
//!
//! The queues, their turns and their CoDel are those of FQ-CoDel, with three changes.
//!
//! *Where a flow goes.* The hash gives a set of eight queues. The flow goes into the queue of the set that it was in
//! before; otherwise into one that nobody uses; and only if all eight are in use into that which the hash names.
//!
//! *What a turn is worth.* A queue that has used up its credit is *bulk*, until it is found empty, and counts for the
//! host that its packets come from and for the host that they go to. If it has nothing left it only waits, and is bulk if a
//! packet comes before its next turn. With n and m bulk queues of the two hosts, a quantum is
//!
//! ```text
//!     Q / max(n, m, 1)
//! ```
//!
//! so that the n queues of a host together get what a host with a single queue gets. Flows that send little cost their
//! host nothing. Taking the larger of the two
//! (*triple isolation*) shares fairly among the hosts on whichever side of the link there are few: none of them needs
//! to know which side that is.
//!
//! *When a queue is new.* A queue that is found empty has no turn coming any more, and is new at its next packet. With
//! FQ-CoDel a new one first has to pass through old, and what comes for it meanwhile waits for a turn of all the others.
//! Here a flow waits for none of them as long as its packets, or bursts of less than a quantum, come one by one.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `queues` | | 1024 | the authors' program; whole sets, so rounded up to a multiple of eight |
//! | `quantum` | Q | 1514 bytes | the authors' program without a shaper |
//! | `isolation` | | triple | `tc-cake(8)`; `sources` and `destinations` count one of the hosts, `flows` neither |
//! | `target` | target | 5 ms | the authors' program: a twentieth of `rtt`; RFC 8289 |
//! | `interval` | interval | 100 ms | `tc-cake(8)`: `rtt`; RFC 8289 |
//! | `ecn` | | true | RFC 3168; `false` drops |
//!
//! The authors' program is the `sch_cake` of Linux; these numbers and the eight places of a set were checked there. Of
//! the paper its abstract was at hand.
//!
//! # Domain
//!
//! Links of home gateways, which the paper is about: up to a few Gbit/s, tens of hosts and hundreds of flows. A turn of
//! one of n flows of a host is worth an nth of a quantum, so up to n turns pass for each packet of full size: the work
//! per packet grows with the flows per host, as it does not with FQ-CoDel.
//!
//! # Deviations
//!
//! What of CAKE is in: the isolation of flows and hosts, the set-associative hash, an AQM for each flow. What is not:
//!
//! * The shaper, its overhead and its classes of priority (tins). Links have a `rate`, and a `shaper` that sends at a
//!   lower one.
//! * The filter of acknowledgments: `acknowledgments = { keep = "newest" }` at a link does that.
//! * The second half of its AQM, COBALT: there CoDel is joined by BLUE, which drops at random from a queue whose buffer
//!   overflows. Here it is CoDel alone.
//!
//! And what differs:
//!
//! * With a shaper of r bytes/s the authors' quantum is r/4096, between 300 and 1514 bytes, and the target at least one
//!   and a half times what a packet of full size takes. Here both are what they are set to, at any rate.
//! * Hosts are what the simulator calls so: each group of flows travels between two of its own.
//! * Bulk queues alone count, as deployed since 2019; with all of them, a host's acknowledgments would cost it its
//!   share.
//! * A full buffer loses the oldest packet of the longest queue, as with CAKE, one at a time. Of several that are the longest
//!   each loses in turn, by number; with CAKE that follows from the order of a heap.
//! * CoDel, not COBALT's variant of it: it drops nothing as long as no more than one packet waits behind in the same queue,
//!   where `sch_cake` drops all but the last and marks that. COBALT acts on no wait below that of four full packets, or of
//!   two for each bulk queue, and lets its count decay where CoDel begins anew.
//! * Where all eight queues of a set are in use, a flow that shares one is charged to the hosts of the flow that was there
//!   first, until the queue is empty, and that flow finds it again later; `sch_cake` takes over its hosts and its place.
//! * Of the places of a set that nobody uses a new flow gets the first, where `sch_cake` begins at the one that the hash
//!   names.
//! * A quantum is divided to 2⁻¹⁶ of a byte, where CAKE rounds at random.
//!
//! # What the paper promises
//!
//! * The shares of hosts and of their flows, on whichever side there are few hosts, worked out by hand
//!   (`tests/cake.rs`), and with TCP (`hosts_share_equally`, in the tests of the simulator). Flows that send little
//!   cost nothing (`sparse_flows_cost_their_host_nothing`).
//! * The rules above, packet for packet, where flows and hosts are many and sets are few (`cake_is_its_model`, in
//!   `tests/plain`).
//! * Hardly any collisions: 100 flows in 1024 queues are alone in theirs (`a_hundred_flows_do_not_meet`, in
//!   `tests/cake.rs`).

use longfat_units::Time;
use longfat_units::parameter::{Parameter, Settings};

use super::codel::check;
use crate::flow_queue::{Codels, Hash, SparseFirst, flow_key};
use crate::{Built, Discipline, Host, Item, PacketQueue, Probe, Site};

/// CAKE's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("cake", |settings, site| Built::Own(Box::new(Cake::new(settings, site))))
        .title("equal shares for hosts, and for the flows of each; a queue with a CoDel for each flow")
        .source("Høiland-Jørgensen, Täht & Morton 2018")
        .parameters([
            Parameter::count("queues", 1024, 8, 65_536, "queues for flows, in sets of eight"),
            Parameter::count(
                "quantum",
                1514,
                64,
                1_000_000,
                "bytes that all queues of a host together may send in a turn of each (Q)",
            ),
            Parameter::word(
                "isolation",
                "triple",
                ["triple", "sources", "destinations", "flows"],
                "whose flows share a quantum: those of the busier of the hosts at both ends, those of their source \
                 or of their destination, or none",
            ),
            Parameter::span("target", "5 ms", "CoDel's, in each queue (target)"),
            Parameter::span("interval", "100 ms", "CoDel's, in each queue (interval)"),
            Parameter::flag(
                "ecn",
                true,
                "marks packets that can be marked instead of dropping them",
            ),
        ])
        .check(check)
}

/// Queues in a set.
const WAYS: usize = 8;

/// Units of credit in a byte.
const PER_BYTE: i64 = 1 << 16;

/// Places for flows or hosts, found by a set-associative hash.
#[derive(Debug)]
struct Places {
    hash: Hash,
    keys: Vec<u64>,
}

impl Places {
    fn new(count: usize) -> Self {
        Self { hash: Hash::new(count as u64), keys: vec![u64::MAX; count] }
    }

    /// The place of `key`: that which it had last, or one that is not in use, or that of another key.
    fn find(&mut self, key: u64, host: &mut dyn Host, is_used: impl Fn(usize) -> bool) -> usize {
        let named = self.hash.queue(key, host);
        let first = named - named % WAYS;
        let mut set = first..first + WAYS;
        if let Some(known) = set.clone().find(|&place| self.keys[place] == key) {
            return known;
        }
        let Some(unused) = set.find(|&place| !is_used(place)) else { return named };
        self.keys[unused] = key;
        unused
    }
}

/// Hosts, with how many queues that have a turn coming each of them has.
#[derive(Debug)]
struct Hosts {
    places: Places,
    queues: Vec<u32>,
    /// How many of them are bulk.
    bulk: Vec<u32>,
}

impl Hosts {
    fn new(count: usize) -> Self {
        Self { places: Places::new(count), queues: vec![0; count], bulk: vec![0; count] }
    }

    /// One more queue for the host with this number. Returns its place.
    fn enter(&mut self, number: u32, host: &mut dyn Host) -> usize {
        let queues = &self.queues;
        let place = self.places.find(u64::from(number), host, |place| queues[place] > 0);
        self.queues[place] += 1;
        place
    }

    fn leave(&mut self, place: usize, was_bulk: bool) {
        self.queues[place] -= 1;
        self.bulk[place] -= u32::from(was_bulk);
    }
}

/// What the turns of queues are worth, by the hosts at their ends.
#[derive(Debug)]
struct Quanta {
    sources: Hosts,
    destinations: Hosts,
    /// For each queue with a turn coming, the places of its hosts.
    ends: Vec<(usize, usize)>,
    is_bulk: Vec<bool>,
    /// Has it used up its credit with all that it had?
    waits: Vec<bool>,
    by_source: bool,
    by_destination: bool,
    /// Q
    quantum: i64,
}

impl Quanta {
    fn new(settings: &Settings, count: usize) -> Self {
        let isolation = settings.word("isolation");
        Self {
            sources: Hosts::new(count),
            destinations: Hosts::new(count),
            ends: vec![(0, 0); count],
            is_bulk: vec![false; count],
            waits: vec![false; count],
            by_source: matches!(isolation, "triple" | "sources"),
            by_destination: matches!(isolation, "triple" | "destinations"),
            quantum: settings.number("quantum") as i64 * PER_BYTE,
        }
    }

    /// This queue, which has a packet now, has a turn coming.
    fn enter(&mut self, queue: usize, item: &Item, host: &mut dyn Host) {
        let source = self.sources.enter(item.source, host);
        self.ends[queue] = (source, self.destinations.enter(item.destination, host));
    }

    fn leave(&mut self, queue: usize) {
        let (source, destination) = self.ends[queue];
        let was_bulk = std::mem::take(&mut self.is_bulk[queue]);
        self.waits[queue] = false;
        self.sources.leave(source, was_bulk);
        self.destinations.leave(destination, was_bulk);
    }

    /// This queue has used up its credit, and may be empty. What its next turn is worth.
    fn next(&mut self, queue: usize, is_empty: bool) -> i64 {
        if is_empty {
            self.waits[queue] = true;
        } else {
            self.count(queue);
        }
        self.of(queue)
    }

    /// A packet comes into this queue, which has a turn coming.
    fn arrive(&mut self, queue: usize) {
        if std::mem::take(&mut self.waits[queue]) {
            self.count(queue);
        }
    }

    /// This queue is bulk, if it was not.
    fn count(&mut self, queue: usize) {
        if !std::mem::replace(&mut self.is_bulk[queue], true) {
            let (source, destination) = self.ends[queue];
            self.sources.bulk[source] += 1;
            self.destinations.bulk[destination] += 1;
        }
    }

    /// What a turn of this queue is worth: above 0, as there are fewer queues than units in a byte.
    fn of(&self, queue: usize) -> i64 {
        let (source, destination) = self.ends[queue];
        let n = if self.by_source { self.sources.bulk[source] } else { 1 };
        let m = if self.by_destination { self.destinations.bulk[destination] } else { 1 };
        self.quantum / i64::from(n.max(m).max(1))
    }
}

/// The queue.
#[derive(Debug)]
struct Cake {
    places: Places,
    queues: Codels,
    turns: SparseFirst,
    quanta: Quanta,
}

impl Cake {
    fn new(settings: &Settings, site: &Site) -> Self {
        let count = (settings.number("queues") as usize).next_multiple_of(WAYS);
        Self {
            places: Places::new(count),
            queues: Codels::new(settings, site, count),
            turns: SparseFirst::new(count),
            quanta: Quanta::new(settings, count),
        }
    }
}

impl PacketQueue for Cake {
    fn enqueue(&mut self, now: Time, item: Item, host: &mut dyn Host) {
        let turns = &self.turns;
        let queue = self.places.find(flow_key(&item), host, |queue| turns.is_active(queue));
        self.queues.push(now, queue, item, host);
        if self.turns.is_active(queue) {
            self.quanta.arrive(queue);
        } else {
            self.quanta.enter(queue, &item, host);
            self.turns.wake(queue, self.quanta.of(queue));
        }
        self.queues.fit(1, host);
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item> {
        loop {
            let queues = &self.queues;
            let turn = self.turns.turn(|queue| self.quanta.next(queue, queues.is_empty(queue)))?;
            if let Some(item) = self.queues.pop(now, turn.queue, host) {
                self.turns.charge(turn, item.bytes.0.cast_signed() * PER_BYTE);
                return Some(item);
            }
            self.turns.leave(turn);
            self.quanta.leave(turn.queue);
        }
    }

    /// A flow that found its set full may find a queue of its own while packets of it still wait elsewhere.
    fn reorders(&self) -> bool {
        true
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("active_queues", self.turns.active() as f64);
    }
}
