//! Pushout: a full buffer keeps the packets of the highest priority.
//!
//! H. Kim, D. J. Farber, "A new congestion control framework for large bandwidth-delay product networks", 1995,
//! section 2.1; after L. Tassiulas, Y. C. Hung, S. S. Panwar, "Optimal buffer control during congestion in an ATM
//! network node", IEEE/ACM Transactions on Networking 2(4), 1994.
//!
//! Senders that feed a network with whole files need switches that choose where the losses fall. Tassiulas, Hung and
//! Panwar divide such switches into those that may refuse an arrival (blocking), those that may also let an arrival
//! replace a waiting packet (pushout), and those that may drop waiting packets at any time (expelling), and find the
//! best rule for pushout: discard the lowest priority present.
//!
//! ```text
//!     arrival p, room for it        append p
//!     arrival p, buffer full        v ← the lowest priority that waits; of several the most recent
//!                                   priority(p) > priority(v):  discard v, append p
//!                                   otherwise:                  discard p
//!     departure                     the packet that has waited longest
//! ```
//!
//! A rank is the number of a priority, 0 the highest. The ranks come from the senders: with Blitz it is the offset of a
//! packet in its burst, so the tail of a long burst makes room for the head of a short one.
//!
//! What the paper leaves open, and what is done here:
//!
//! - *Does priority decide who is served?* No, only who is discarded; service is first in, first out. The paper
//!   speaks of "priority discarding", and its source of buffer space.
//! - *Equal priorities.* The most recent arrival goes, which may be the arriving packet: older data of the same rank
//!   has waited longer. If all priorities are equal this is drop tail, packet by packet.
//! - *Packets without a priority*, acknowledgments and data from senders that set none, have the highest, rank 0.
//!   Among themselves they see drop tail; beside bursts they are never pushed out, and push out whatever is not the
//!   beginning of a burst. The other choice, the lowest, would let any burst starve them.
//! - *Buffers in bytes.* The lowest priorities go one by one until the rest fits. A large packet may thus push out a
//!   few small ones, and then go itself if everything still waiting has higher priority.
//! - *The packet in service* is not in the buffer and cannot be pushed out.
//!
//! Cost: arrival, departure and discard O(log n) at worst, with n packets waiting. Each packet waits in a place of its
//! own; the places form a list in order of arrival, and a tournament over them keeps the packet to discard at its top.
//! A change moves up only as far as it changes a winner, so most cost a few steps.
//!
//! Promised, and tested: what the rule above says, whatever happens (`tests/pushout.rs`, against the rule written
//! plainly); a lone burst loses its own tail, as with drop tail, and late short transfers lose almost nothing while a
//! long burst persists (`crates/sim/tests/blitz.rs`).
//!
//! Domain: any buffer; tested with 10⁶ packets.

use longfat_units::Time;

use crate::{Backlog, Built, Capacity, Discipline, Host, Item, PacketQueue};

/// Pushout's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("pushout", |_, site| {
        Built::Own(Box::new(Queue {
            lone: None,
            waiting: Pushout::default(),
            backlog: Backlog::default(),
            capacity: site.capacity,
        }))
    })
    .title("first in, first out; a full buffer discards the lowest priority")
    .source("Kim & Farber 1995, after Tassiulas, Hung & Panwar 1994")
}

/// The queue.
#[derive(Debug)]
struct Queue {
    /// The only packet waiting: most packets find the link free and leave at once, with no need for the tournament.
    lone: Option<Item>,
    waiting: Pushout<Item>,
    backlog: Backlog,
    capacity: Capacity,
}

impl PacketQueue for Queue {
    fn enqueue(&mut self, _: Time, item: Item, host: &mut dyn Host) {
        if let Some(lone) = self.lone.take() {
            self.waiting.put(lone.rank, lone);
        }
        while !self.capacity.admits(self.backlog, item.bytes) {
            if self.waiting.lowest() <= Some(item.rank) {
                return host.drop(item);
            }
            let lowest = self.waiting.push_out().expect("something waits");
            self.backlog.leave(lowest.bytes);
            host.drop(lowest);
        }
        self.backlog.enter(item.bytes);
        if self.waiting.is_empty() {
            self.lone = Some(item);
        } else {
            self.waiting.put(item.rank, item);
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut dyn Host) -> Option<Item> {
        let item = self.lone.take().or_else(|| self.waiting.take())?;
        self.backlog.leave(item.bytes);
        Some(item)
    }

    fn heeds_priorities(&self) -> bool {
        true
    }
}

/// No place.
const NONE: u32 = u32::MAX;

/// Packets in order of arrival, with the one of lowest priority at hand. Grows when it must and never shrinks.
#[derive(Clone, Debug)]
pub struct Pushout<T> {
    places: Vec<Waiting<T>>,
    /// For each place, the key by which packets are compared; `DiscardKey::VACANT` where nothing waits.
    keys: Vec<DiscardKey>,
    /// The tournament: node n is won by the better of nodes 2n and 2n + 1; the places lie below the last nodes.
    winners: Vec<u32>,
    /// The places in order of arrival: the ends of a list.
    first: u32,
    last: u32,
    /// Vacant places, a list linked through `after`.
    vacant: u32,
    count: usize,
    arrivals: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Waiting<T> {
    item: T,
    before: u32,
    after: u32,
}

/// The larger of two is discarded first: the lower priority, then the later arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DiscardKey {
    rank: u32,
    arrival: u64,
}

impl DiscardKey {
    /// Below that of every packet: arrivals count from 1.
    const VACANT: Self = Self { rank: 0, arrival: 0 };
}

impl<T> Default for Pushout<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            keys: Vec::new(),
            winners: Vec::new(),
            first: NONE,
            last: NONE,
            vacant: NONE,
            count: 0,
            arrivals: 0,
        }
    }
}

impl<T: Copy + Default> Pushout<T> {
    /// How many packets are waiting.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Is nothing waiting?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a packet of this rank, 0 the highest priority.
    pub fn put(&mut self, rank: u32, item: T) {
        if self.vacant == NONE {
            self.grow();
        }
        let place = self.vacant;
        self.vacant = self.places[place as usize].after;
        self.places[place as usize] = Waiting { item, before: self.last, after: NONE };
        match self.last {
            NONE => self.first = place,
            last => self.places[last as usize].after = place,
        }
        self.last = place;
        self.count += 1;
        self.arrivals += 1;
        self.keys[place as usize] = DiscardKey { rank, arrival: self.arrivals };
        self.play(place);
    }

    /// Takes the packet that has waited longest.
    pub fn take(&mut self) -> Option<T> {
        (self.count > 0).then(|| self.remove(self.first))
    }

    /// The rank of the packet to discard next.
    pub fn lowest(&self) -> Option<u32> {
        (self.count > 0).then(|| self.keys[self.winners[1] as usize].rank)
    }

    /// Takes the packet of lowest priority, the most recent if there are several.
    pub fn push_out(&mut self) -> Option<T> {
        (self.count > 0).then(|| self.remove(self.winners[1]))
    }

    /// The waiting packets, in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let place = |place: u32| self.places.get(place as usize);
        std::iter::successors(place(self.first), move |last| place(last.after))
            .map(|place| &place.item)
    }

    fn remove(&mut self, place: u32) -> T {
        let Waiting { item, before, after } = self.places[place as usize];
        match before {
            NONE => self.first = after,
            before => self.places[before as usize].after = after,
        }
        match after {
            NONE => self.last = before,
            after => self.places[after as usize].before = before,
        }
        self.places[place as usize].after = self.vacant;
        self.vacant = place;
        self.count -= 1;
        self.keys[place as usize] = DiscardKey::VACANT;
        self.play(place);
        item
    }

    /// Replays the tournament from `place` upwards, as far as anything changes.
    fn play(&mut self, place: u32) {
        let mut node = (self.places.len() + place as usize) >> 1;
        while node > 0 {
            let winner = self.winner(node);
            if winner == self.winners[node] && winner != place {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    /// Who wins at `node`, from those who win below it.
    fn winner(&self, node: usize) -> u32 {
        let places = self.places.len();
        let below = |node: usize| {
            if node < places { self.winners[node] } else { (node - places) as u32 }
        };
        let (one, other) = (below(2 * node), below(2 * node + 1));
        if self.keys[one as usize] > self.keys[other as usize] { one } else { other }
    }

    /// Doubles the places: a power of two, so that every round of the tournament is full.
    #[cold]
    fn grow(&mut self) {
        let (old, new) = (self.places.len(), (2 * self.places.len()).max(16));
        self.keys.resize(new, DiscardKey::VACANT);
        for place in old..new {
            let after = if place + 1 < new { (place + 1) as u32 } else { self.vacant };
            self.places.push(Waiting { after, ..Waiting::default() });
        }
        self.vacant = old as u32;
        self.winners = vec![0; new];
        for node in (1..new).rev() {
            self.winners[node] = self.winner(node);
        }
    }
}
