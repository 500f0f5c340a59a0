//! What disciplines with a queue for each flow share: which queue, whose turn, and which is the longest.
//!
//! Queues are numbers below a count that never changes. Each of the parts takes constant time for a packet, whatever
//! that count is; the longest queue takes its logarithm, and only once the buffer has been full.

use longfat_units::parameter::Settings;
use longfat_units::{Bytes, Time};

use crate::discipline::codel::Codel;
use crate::{Backlog, Capacity, Host, Item, LengthUnit, Line, PacketQueue, Site};

/// Puts flows into queues at random, always the same one for the same flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash {
    count: u64,
    /// Drawn for the first packet.
    salt: Option<u64>,
}

impl Hash {
    /// Into so many queues, at least one.
    pub(crate) fn new(count: u64) -> Self {
        Self { count, salt: None }
    }

    /// Where flows go from now on has nothing to do with where they went before.
    pub(crate) fn change(&mut self) {
        self.salt = None;
    }

    /// The queue of the flow with this key.
    pub(crate) fn queue(&mut self, key: u64, host: &mut dyn Host) -> usize {
        let salt = *self.salt.get_or_insert_with(|| host.chance().next_u64());
        // The high bits of the product are as evenly spread as those of the mixture, over any count.
        ((u128::from(mixed(key ^ salt)) * u128::from(self.count)) >> 64) as usize
    }
}

/// Each bit of the result depends on each of the key (the finaliser of `SplitMix64`, Steele, Lea & Flood 2014).
fn mixed(key: u64) -> u64 {
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

/// What a packet's flow is recognised by: its number, and the direction in which it goes.
pub(crate) fn flow_key(item: &Item) -> u64 {
    u64::from(item.source) << 32 | u64::from(item.flow)
}

/// What the pair of hosts that a packet travels between is recognised by.
pub(crate) fn hosts_key(item: &Item) -> u64 {
    u64::from(item.source) << 32 | u64::from(item.destination)
}

/// No queue.
const NONE: u32 = u32::MAX;

/// Queues in an order; each stands in one list at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    first: u32,
    last: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

/// The lists of some queues: for each, the one after it.
#[derive(Debug)]
pub(crate) struct Lists {
    after: Vec<u32>,
}

impl Lists {
    pub(crate) fn new(count: usize) -> Self {
        Self { after: vec![NONE; count] }
    }

    /// Puts a queue that stands in no list at the end of this one.
    pub(crate) fn append(&mut self, list: &mut List, queue: usize) {
        self.after[queue] = NONE;
        match list.last {
            NONE => list.first = queue as u32,
            last => self.after[last as usize] = queue as u32,
        }
        list.last = queue as u32;
    }

    /// The queue at the head of a list.
    pub(crate) fn first(list: List) -> Option<usize> {
        (list.first != NONE).then_some(list.first as usize)
    }

    /// Takes the queue at the head of a list.
    pub(crate) fn take(&mut self, list: &mut List) -> Option<usize> {
        let first = Self::first(*list)?;
        list.first = self.after[first];
        if list.first == NONE {
            list.last = NONE;
        }
        Some(first)
    }
}

/// Deficit round robin with a short way for queues that have just become busy (RFC 8290, section 4): those go first,
/// until they have sent what a turn allows.
///
/// What a queue may send is counted in the unit of whoever gives and charges it.
#[derive(Debug)]
pub(crate) struct SparseFirst {
    lists: Lists,
    new: List,
    old: List,
    credits: Vec<i64>,
    is_active: Vec<bool>,
    active: usize,
}

/// A queue whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) queue: usize,
    is_new: bool,
}

impl SparseFirst {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            lists: Lists::new(count),
            new: List::default(),
            old: List::default(),
            credits: vec![0; count],
            is_active: vec![false; count],
            active: 0,
        }
    }

    /// How many queues have a turn coming, some of which may have become empty.
    pub(crate) fn active(&self) -> usize {
        self.active
    }

    /// Does this queue have a turn coming?
    pub(crate) fn is_active(&self, queue: usize) -> bool {
        self.is_active[queue]
    }

    /// A packet is in this queue. If that has no turn coming, it gets one among the new, with so much credit.
    pub(crate) fn wake(&mut self, queue: usize, credit: i64) {
        if !std::mem::replace(&mut self.is_active[queue], true) {
            self.credits[queue] = credit;
            self.lists.append(&mut self.new, queue);
            self.active += 1;
        }
    }

    /// Whose turn it is. Those without credit are passed over, become old if they were new, and get what `quantum`
    /// gives them for their next turn: something above 0.
    pub(crate) fn turn(&mut self, mut quantum: impl FnMut(usize) -> i64) -> Option<Turn> {
        loop {
            let (list, is_new) = match Lists::first(self.new) {
                Some(_) => (&mut self.new, true),
                None => (&mut self.old, false),
            };
            let queue = Lists::first(*list)?;
            if self.credits[queue] > 0 {
                return Some(Turn { queue, is_new });
            }
            self.credits[queue] += quantum(queue);
            self.lists.take(list);
            self.lists.append(&mut self.old, queue);
        }
    }

    /// The queue whose turn it is has sent something.
    pub(crate) fn charge(&mut self, turn: Turn, cost: i64) {
        self.credits[turn.queue] -= cost;
    }

    /// The queue whose turn it is had nothing to send. A new one still has to wait for a turn behind the old ones, or it
    /// could come back as new again and again.
    pub(crate) fn pass(&mut self, turn: Turn) {
        if turn.is_new {
            self.lists.take(&mut self.new);
            self.lists.append(&mut self.old, turn.queue);
        } else {
            self.leave(turn);
        }
    }

    /// The queue whose turn it is had nothing to send, and has no turn coming any more.
    pub(crate) fn leave(&mut self, turn: Turn) {
        self.lists.take(if turn.is_new { &mut self.new } else { &mut self.old });
        self.is_active[turn.queue] = false;
        self.active -= 1;
    }
}

/// The longest of many queues, by a tournament over their lengths. It is not kept until somebody asks for it, and a
/// change moves up only as far as it changes a winner. Where several are the longest they are found in turn, so that none
/// of them suffers for its number.
#[derive(Debug, Default)]
pub(crate) struct Longest {
    /// For each queue its length, up to a power of two; empty as long as nobody has asked.
    lengths: Vec<u64>,
    /// Node n is won by the longer of nodes 2n and 2n + 1, or by the first if they are equal; the queues lie below the
    /// last nodes.
    winners: Vec<u32>,
    /// The queue that was found last.
    found: usize,
}

impl Longest {
    /// This queue now has this length.
    #[inline]
    pub(crate) fn change(&mut self, queue: usize, length: u64) {
        if !self.lengths.is_empty() {
            self.lengths[queue] = length;
            self.play(queue);
        }
    }

    /// The longest of `count` queues, of several of that length the next one after that which was found last, and after
    /// the last of them the first. Not all are empty. `length` tells how long each is; from the first call on, `change`
    /// has to.
    pub(crate) fn find(&mut self, count: usize, length: impl Fn(usize) -> u64) -> usize {
        if self.lengths.is_empty() {
            self.lengths = (0..count).map(length).collect();
            self.lengths.resize(count.next_power_of_two().max(2), 0);
            self.winners = vec![0; self.lengths.len()];
            for node in (1..self.lengths.len()).rev() {
                self.winners[node] = self.winner(node);
            }
            self.found = count - 1;
        }
        self.found = self.next();
        self.found
    }

    /// The first of the longest behind that which was found last, or of all.
    fn next(&self) -> usize {
        let first = self.winners[1] as usize;
        let most = self.lengths[first];
        let mut node = self.lengths.len() + self.found;
        while node > 1 {
            // What is behind the last one, and not looked at yet, is won by the first of its longest.
            if node.is_multiple_of(2) {
                let behind = self.below(node + 1) as usize;
                if self.lengths[behind] == most {
                    return behind;
                }
            }
            node /= 2;
        }
        first
    }

    fn play(&mut self, queue: usize) {
        let mut node = (self.lengths.len() + queue) >> 1;
        while node > 0 {
            let winner = self.winner(node);
            if winner == self.winners[node] && winner as usize != queue {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    fn winner(&self, node: usize) -> u32 {
        let (one, other) = (self.below(2 * node), self.below(2 * node + 1));
        if self.lengths[other as usize] > self.lengths[one as usize] { other } else { one }
    }

    /// The winner of a node, which may be a queue by itself.
    fn below(&self, node: usize) -> u32 {
        let queues = self.lengths.len();
        if node < queues { self.winners[node] } else { (node - queues) as u32 }
    }
}

/// Queues that share a buffer. If it is full, the longest loses the packet that came last (McKenney's buffer stealing);
/// that may be the one arriving. Of several that are the longest each loses in turn. Lengths are counted as the buffer is.
#[derive(Debug)]
pub(crate) struct Lines {
    queues: Vec<Line>,
    backlog: Backlog,
    longest: Longest,
    unit: LengthUnit,
    capacity: Capacity,
}

impl Lines {
    pub(crate) fn new(count: usize, capacity: Capacity) -> Self {
        Self {
            queues: vec![Line::default(); count],
            backlog: Backlog::default(),
            longest: Longest::default(),
            unit: LengthUnit::of(capacity),
            capacity,
        }
    }

    /// The packet of this queue that has waited longest.
    pub(crate) fn first(&self, queue: usize) -> Option<&Item> {
        self.queues[queue].first()
    }

    /// Appends a packet. Calls `emptied` with any queue that thereby loses its only packet.
    pub(crate) fn push(
        &mut self,
        queue: usize,
        item: Item,
        host: &mut dyn Host,
        mut emptied: impl FnMut(usize),
    ) {
        self.queues[queue].push(item);
        self.backlog.enter(item.bytes);
        self.changed(queue);
        while is_beyond(self.capacity, self.backlog) {
            let (queues, unit) = (&self.queues, self.unit);
            let length = |queue: usize| length(unit, queues[queue].backlog());
            let longest = self.longest.find(queues.len(), length);
            let last = self.queues[longest].pop_last().expect("the longest queue has packets");
            self.backlog.leave(last.bytes);
            self.changed(longest);
            if self.queues[longest].first().is_none() {
                emptied(longest);
            }
            host.drop(last);
        }
    }

    /// Takes the packet of this queue that has waited longest.
    pub(crate) fn pop(&mut self, queue: usize) -> Option<Item> {
        let item = self.queues[queue].pop()?;
        self.backlog.leave(item.bytes);
        self.changed(queue);
        Some(item)
    }

    fn changed(&mut self, queue: usize) {
        self.longest.change(queue, length(self.unit, self.queues[queue].backlog()));
    }
}

/// Queues with a CoDel each, in one buffer.
#[derive(Debug)]
pub(crate) struct Codels {
    queues: Vec<Codel>,
    longest: Longest,
    backlog: Backlog,
    capacity: Capacity,
}

impl Codels {
    pub(crate) fn new(settings: &Settings, site: &Site, count: usize) -> Self {
        let endless = Site { capacity: Capacity::Unbounded, ..*site };
        Self {
            queues: (0..count).map(|_| Codel::new(settings, &endless)).collect(),
            longest: Longest::default(),
            backlog: Backlog::default(),
            capacity: site.capacity,
        }
    }

    /// Appends a packet, whether or not the buffer has room for it.
    pub(crate) fn push(&mut self, now: Time, queue: usize, item: Item, host: &mut dyn Host) {
        let before = self.queues[queue].backlog();
        self.queues[queue].enqueue(now, item, host);
        self.count(queue, before);
    }

    /// Has this queue nothing to send?
    pub(crate) fn is_empty(&self, queue: usize) -> bool {
        self.queues[queue].backlog().packets == 0
    }

    /// The packet of this queue that leaves now, if there is one left.
    pub(crate) fn pop(&mut self, now: Time, queue: usize, host: &mut dyn Host) -> Option<Item> {
        let before = self.queues[queue].backlog();
        let item = self.queues[queue].dequeue(now, host);
        self.count(queue, before);
        item
    }

    /// Drops from the longest queue until all fits into the buffer: half of its packets at a time, but no more than
    /// `most`.
    pub(crate) fn fit(&mut self, most: u64, host: &mut dyn Host) {
        while is_beyond(self.capacity, self.backlog) {
            let queues = &self.queues;
            let longest = self.longest.find(queues.len(), |queue| queues[queue].backlog().bytes.0);
            let before = self.queues[longest].backlog();
            for _ in 0..(before.packets / 2).clamp(1, most) {
                host.drop(self.queues[longest].shed().expect("the longest queue has packets"));
            }
            self.count(longest, before);
        }
    }

    /// What waited in `queue` was `before`, and may have changed.
    fn count(&mut self, queue: usize, before: Backlog) {
        let after = self.queues[queue].backlog();
        self.backlog = changed(self.backlog, before, after);
        self.longest.change(queue, after.bytes.0);
    }
}

fn length(unit: LengthUnit, backlog: Backlog) -> u64 {
    match unit {
        LengthUnit::Packets => backlog.packets,
        LengthUnit::Bytes => backlog.bytes.0,
    }
}

/// Does so much not fit into a buffer?
pub(crate) fn is_beyond(capacity: Capacity, backlog: Backlog) -> bool {
    match capacity {
        Capacity::Packets(limit) => backlog.packets > limit,
        Capacity::Bytes(limit) => backlog.bytes > limit,
        Capacity::Unbounded => false,
    }
}

/// What waits in all queues, when what waits in one of them has changed from one to the other.
pub(crate) fn changed(all: Backlog, before: Backlog, after: Backlog) -> Backlog {
    Backlog {
        packets: all.packets - before.packets + after.packets,
        bytes: Bytes(all.bytes.0 - before.bytes.0 + after.bytes.0),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The queue at the end of each list is found by its neighbour alone: 2 0 1, then 0 1 2.
    #[test]
    fn lists_keep_their_order() {
        let mut lists = Lists::new(3);
        let mut list = List::default();
        for queue in [2, 0, 1] {
            lists.append(&mut list, queue);
        }
        let first = lists.take(&mut list).expect("three are in it");
        lists.append(&mut list, first);
        let order: Vec<_> = std::iter::from_fn(|| lists.take(&mut list)).collect();
        assert_eq!((first, order), (2, vec![0, 1, 2]));
        assert!(lists.take(&mut list).is_none());
    }

    /// Packets of 40 to 1500 bytes in all queues, and a quantum of 1514. Of the queues that are looked at for a packet
    /// all but the last get a quantum, and no queue gets more than it sends and a quantum: in the long run those looked
    /// at in vain are the bytes of a packet over a quantum, on average 770/1514 = 0.51, for 16 queues as for 65 536.
    #[test]
    fn work_per_packet_does_not_depend_on_the_number_of_queues() {
        for count in [16_usize, 1024, 65_536] {
            let mut turns = SparseFirst::new(count);
            (0..count).for_each(|queue| turns.wake(queue, 1514));
            let packets = 20 * count.max(1000);
            let (looks, mut state) = (Cell::new(0_usize), 1);
            let mut bytes = 0;
            for _ in 0..packets {
                let turn = turns.turn(|_| {
                    looks.set(looks.get() + 1);
                    1514
                });
                state = mixed(state);
                let size = 40 + (state % 1461).cast_signed();
                bytes += size;
                turns.charge(turn.expect("all are busy"), size);
            }
            let (looks, expected) = (looks.get() as f64, bytes as f64 / 1514.0);
            let each = looks / packets as f64;
            assert!(
                (looks - expected).abs() <= count as f64,
                "{count} queues: {each} for a packet"
            );
            assert!(each < 0.56, "{count} queues: {each} for a packet");
        }
    }

    /// Three of four queues are the longest: they are found in turn by number, the first of them first.
    #[test]
    fn of_equal_queues_the_first_is_found_first() {
        let mut longest = Longest::default();
        let found = [(); 5].map(|()| longest.find(4, |queue| [3, 1, 3, 3][queue]));
        assert_eq!(found, [0, 2, 3, 0, 2]);
    }

    /// Against the longest found by looking at all of them, of several the next in turn, for counts that are no powers
    /// of two as well.
    #[test]
    fn the_tournament_finds_the_longest() {
        for count in [1_usize, 2, 3, 100] {
            let mut longest = Longest::default();
            let mut lengths = vec![0_u64; count];
            let mut found = count - 1;
            let mut state = 1_u64;
            for _ in 0..2000 {
                state = mixed(state);
                let queue = (state % count as u64) as usize;
                lengths[queue] = 1 + (state >> 32) % 8;
                longest.change(queue, lengths[queue]);
                let most = *lengths.iter().max().expect("there are some");
                let next = (1..=count).map(|step| (found + step) % count);
                let expected = next.into_iter().find(|&queue| lengths[queue] == most);
                found = longest.find(count, |queue| lengths[queue]);
                assert_eq!(Some(found), expected);
            }
        }
    }
}
