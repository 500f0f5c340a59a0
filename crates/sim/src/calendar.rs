//! Packets on their way to a link, by the slice of time in which they reach it.
//!
//! In a network of very many flows most have nothing on its way to a link, and short flows seldom have much. Where links
//! are served in turns, a turn then costs what looking into all those empty pipes costs, or, if one knows which ones to
//! look into, a pipe and the packets in it, far from the processor. But a turn takes all packets of its slice of time, in
//! no particular order. So they lie one behind the other on the page of that slice: a calendar queue (Brown 1988) whose
//! days are never sorted here. Who puts a packet in looks at nothing but the end of a page.
//!
//! A page is of a block of flows, whose ends lie together in memory. Pages of one slice, one after the other, pass each
//! block once.

use std::collections::BTreeMap;

use longfat_units::Time;

use crate::packet::Packet;

/// Flows in a block, as a power of two: some megabytes.
const BLOCK: u32 = 12;
/// So many slices ahead have pages at most, as a power of two.
const MOST_SLICES: u32 = 12;

/// A packet on its way to its first link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// When it reaches the link.
    pub(crate) time: Time,
    pub(crate) packet: Packet,
    /// The link.
    pub(crate) port: u32,
}

/// A calendar of packets.
#[derive(Debug, Default)]
pub(crate) struct Calendar {
    /// A slice takes two to the power of this in picoseconds.
    slice: u32,
    /// The first slice that is not over.
    first: u64,
    /// So many slices from there on have pages, as a power of two.
    slices: u32,
    /// For each block of flows the pages of these slices, in the order of their lower bits.
    pages: Vec<Vec<Due>>,
    /// What belongs on pages of later slices.
    later: BTreeMap<u64, Vec<Due>>,
    /// Pages from which all has been taken: the one that comes first is still near the processor.
    spare: Vec<Vec<Due>>,
    /// How many packets there are.
    waiting: usize,
}

impl Calendar {
    /// An empty one. A slice takes 2^`slice` ps.
    pub(crate) fn new(slice: u32) -> Self {
        Self { slice, pages: vec![Vec::new()], ..Self::default() }
    }

    /// There is a flow of this number.
    pub(crate) fn make_room(&mut self, flow: u32) {
        let pages = ((flow >> BLOCK) as usize + 1) << self.slices;
        if pages > self.pages.len() {
            self.pages.resize(pages, Vec::new());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    fn slice_of(&self, time: Time) -> u64 {
        time.0 >> self.slice
    }

    fn number_of_page(&self, flow: u32, slice: u64) -> usize {
        let block = (flow >> BLOCK) as usize;
        block << self.slices | slice as usize & ((1 << self.slices) - 1)
    }

    /// Puts a packet in, behind all others of its flow in its slice, which is not over.
    pub(crate) fn put(&mut self, due: Due) {
        let slice = self.slice_of(due.time);
        debug_assert!(slice >= self.first, "its slice is over");
        self.waiting += 1;
        let page = if (slice - self.first) >> self.slices == 0 {
            self.page(due.packet.flow, slice)
        } else {
            self.later_page(due.packet.flow, slice)
        };
        page.push(due);
    }

    /// The page of a block and of a slice that has one.
    fn page(&mut self, flow: u32, slice: u64) -> &mut Vec<Due> {
        let page = self.number_of_page(flow, slice);
        let page = &mut self.pages[page];
        if page.capacity() == 0
            && let Some(empty) = self.spare.pop()
        {
            *page = empty;
        }
        page
    }

    /// The same for a slice that has no page yet.
    #[inline(never)]
    fn later_page(&mut self, flow: u32, slice: u64) -> &mut Vec<Due> {
        let slices = u64::BITS - (slice - self.first).leading_zeros();
        if slices > MOST_SLICES {
            return self.later.entry(slice).or_default();
        }
        let blocks = self.pages.len() >> self.slices;
        let old = std::mem::replace(&mut self.pages, vec![Vec::new(); blocks << slices]);
        self.slices = slices;
        old.into_iter().flatten().for_each(|due| self.write(due));
        // What was later may have a page now, and comes before what is put in next.
        self.turn_pages();
        self.page(flow, slice)
    }

    /// Writes a packet on its page.
    fn write(&mut self, due: Due) {
        self.page(due.packet.flow, self.slice_of(due.time)).push(due);
    }

    /// Writes on their pages what was put in before these had a place.
    fn turn_pages(&mut self) {
        while let Some(entry) = self.later.first_entry()
            && (entry.key() - self.first) >> self.slices == 0
        {
            entry.remove().into_iter().for_each(|due| self.write(due));
        }
    }

    /// Everything before `now` has been taken.
    pub(crate) fn advance(&mut self, now: Time) {
        self.first = self.slice_of(now);
        self.turn_pages();
    }

    /// Takes the packets that reach their link before `until`, block by block, those of a flow in the order in which they
    /// were put in. No slice ends before `until` in which there are others.
    pub(crate) fn take(&mut self, until: Time, mut take: impl FnMut(&Due)) {
        let whole = self.slice_of(until) > self.first;
        let page = self.number_of_page(0, self.first);
        for page in self.pages.iter_mut().skip(page).step_by(1 << self.slices) {
            self.waiting -= page.len();
            if whole {
                page.iter().for_each(&mut take);
                page.clear();
                if page.capacity() > 0 {
                    self.spare.push(std::mem::take(page));
                }
            } else {
                page.iter().filter(|due| due.time < until).for_each(&mut take);
                page.retain(|due| due.time >= until);
            }
            self.waiting += page.len();
        }
    }

    /// All packets.
    pub(crate) fn packets(&self) -> impl Iterator<Item = Packet> {
        self.pages.iter().chain(self.later.values()).flatten().map(|due| due.packet)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn due(flow: u32, number: u64, time: Time) -> Due {
        Due { time, packet: Packet { number, flow, ..Packet::default() }, port: 1 }
    }

    /// Two packets of one slice: the first is put in when that is too far ahead for a page, the second when it no longer is.
    #[test]
    fn what_had_no_page_comes_first() {
        let mut calendar = Calendar::new(3);
        let far = Time(5 << (MOST_SLICES + 3));
        for (now, number) in [(Time::ZERO, 0), (Time(far.0 - (3000 << 3)), 1)] {
            calendar.advance(now);
            calendar.put(due(0, number, far));
            assert_eq!(calendar.later.len(), 1 - number as usize);
        }
        calendar.advance(far);
        let mut taken = Vec::new();
        calendar.take(Time(far.0 + 8), |due| taken.push(due.packet.number));
        assert_eq!(taken, [0, 1]);
    }

    /// The first packet makes pages for a thousand slices before there are flows of another block.
    #[test]
    fn flows_that_come_later_have_pages() {
        let mut calendar = Calendar::new(3);
        let far = Time(1000 << 3);
        calendar.put(due(0, 0, far));
        for flow in [1 << BLOCK, (7 << BLOCK) + 1] {
            calendar.make_room(flow);
            calendar.put(due(flow, 1, far));
            calendar.put(due(flow, 2, Time(far.0 - 1)));
        }
        calendar.advance(far);
        let mut taken = Vec::new();
        calendar.take(Time(far.0 + 8), |due| taken.push(due.packet.flow));
        assert_eq!(taken, [0, 1 << BLOCK, (7 << BLOCK) + 1]);
    }

    proptest! {
        /// Against a plain list, with packets from the next moment to far beyond all pages, put in between one slice and
        /// the next, and slices that are taken in parts; a flow of each block.
        #[test]
        fn it_gives_what_belongs_to_a_slice(
            slice in 3_u32..12,
            steps in prop::collection::vec((0_u64..40, 0_u32..30, any::<u64>(), 0_u32..3), 1..60),
        ) {
            let mut calendar = Calendar::new(slice);
            calendar.make_room(3 << BLOCK);
            let mut list: Vec<Due> = Vec::new();
            let mut now = Time::ZERO;
            let mut chance = 1_u64;
            for (count, spread, seed, parts) in steps {
                chance ^= seed;
                for number in 0..count {
                    chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let time = Time(now.0 + (chance >> 33) % (1 << spread));
                    let flow = ((chance >> 20) as u32 % 3) << BLOCK;
                    let due = due(flow, number, time);
                    calendar.put(due);
                    list.push(due);
                }
                prop_assert_eq!(calendar.packets().count(), list.len());
                let end = Time(((now.0 >> slice) + 1) << slice);
                let until = if parts > 0 { Time(now.0 + 1 + chance % (end.0 - now.0)) } else { end };
                let mut taken = Vec::new();
                calendar.take(until, |due| taken.push((due.packet.flow, due.time, due.packet.number)));
                calendar.advance(until);
                let blocks: Vec<u32> = taken.iter().map(|(flow, ..)| flow >> BLOCK).collect();
                prop_assert!(blocks.is_sorted(), "{:?}", blocks);
                let mut expected: Vec<_> = list
                    .extract_if(.., |due| due.time < until)
                    .map(|due| (due.packet.flow, due.time, due.packet.number))
                    .collect();
                // Those of a flow stay in the order in which they were put in.
                taken.sort_by_key(|(flow, ..)| *flow);
                expected.sort_by_key(|(flow, ..)| *flow);
                prop_assert_eq!(taken, expected);
                prop_assert_eq!(calendar.is_empty(), list.is_empty());
                now = until;
            }
        }
    }
}
