//! A ring-buffer queue, in which pipes and links keep their packets.
//!
//! `VecDeque` does the same; this one's capacity is a power of two, so that a mask finds a place, and its values are
//! plain, so that taking one is a copy. On the packet path that saves a tenth of the instructions.

use std::hint::black_box;

/// A ring larger than this frees its memory when told that it is idle.
const KEPT: usize = 32;
/// Many rings of this size do not fit into the near caches together.
const LARGE: usize = 512;
/// A cache line, in bytes.
const LINE: usize = 64;

/// How many places a ring begins with, and how many it has next.
const FEW: usize = 4;
const SOME: usize = 16;

/// Places that empty rings have given back, for others.
///
/// Of very many rings most are empty at any time. If each keeps its places, all of them lie far away, while those that
/// came back last are still near.
#[derive(Debug, Default)]
pub(crate) struct Spare<T> {
    /// Do rings give back places at all? If not, they keep them, which takes fewer instructions.
    lends: bool,
    few: Vec<Vec<T>>,
    some: Vec<Vec<T>>,
}

impl<T: Copy + Default> Spare<T> {
    /// None yet. Empty rings give back places if it `lends`.
    pub(crate) fn new(lends: bool) -> Self {
        Self { lends, few: Vec::new(), some: Vec::new() }
    }

    /// So many places.
    fn take(&mut self, count: usize) -> Vec<T> {
        let kept = match count {
            FEW => self.few.pop(),
            SOME => self.some.pop(),
            _ => None,
        };
        kept.unwrap_or_else(|| vec![T::default(); count])
    }

    /// Places that nobody needs.
    fn keep(&mut self, places: Vec<T>) {
        match places.len() {
            FEW if self.lends => self.few.push(places),
            SOME if self.lends => self.some.push(places),
            _ => {}
        }
    }
}

/// First in, first out. Grows as needed and does not shrink while in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring<T> {
    places: Vec<T>,
    /// How many values have ever been taken, and put in; their difference is the length.
    taken: usize,
    put: usize,
}

impl<T: Copy + Default> Ring<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.put
    }

    #[inline]
    fn place(&self, count: usize) -> usize {
        count & self.places.len().wrapping_sub(1)
    }

    /// The next value to come out.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.taken)) }
    }

    /// The value after that.
    #[inline]
    pub(crate) fn second(&self) -> Option<&T> {
        if self.put.wrapping_sub(self.taken) < 2 {
            return None;
        }
        self.places.get(self.place(self.taken.wrapping_add(1)))
    }

    /// The value most recently put in.
    pub(crate) fn last(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.put.wrapping_sub(1))) }
    }

    /// Where the next value goes, if there is room.
    #[inline]
    pub(crate) fn next_place(&self) -> Option<&T> {
        self.places.get(self.place(self.put))
    }

    /// Takes the next value out.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<T> {
        let first = *self.first()?;
        self.taken = self.taken.wrapping_add(1);
        Some(first)
    }

    /// How many values are read ahead at a time: 16 cache lines.
    const BLOCK: usize = 16 * Self::IN_LINE;
    const IN_LINE: usize = if size_of::<T>() < LINE { LINE / size_of::<T>() } else { 1 };

    /// Reads ahead once a block of values has been taken from a large ring. Values put in a window ago have left the
    /// near caches; touching all lines of the next block in one go lets the misses overlap, instead of each stalling a
    /// later `take`.
    #[inline]
    pub(crate) fn read_ahead(&self) {
        if self.places.len() >= LARGE && self.taken.is_multiple_of(Self::BLOCK) {
            self.read_next_block();
        }
    }

    #[cold]
    fn read_next_block(&self) {
        let waiting = self.put.wrapping_sub(self.taken);
        for ahead in (Self::BLOCK..waiting.min(2 * Self::BLOCK)).step_by(Self::IN_LINE) {
            black_box(self.places[self.place(self.taken.wrapping_add(ahead))]);
        }
    }

    /// The ring is empty and will be idle for now.
    pub(crate) fn rest(&mut self) {
        debug_assert!(self.is_empty());
        if self.places.len() > KEPT {
            *self = Self::default();
        }
    }

    /// Puts a value in.
    #[inline]
    pub(crate) fn put(&mut self, value: T) {
        if self.is_full() {
            self.grow(&mut Spare::default());
        }
        self.place_last(value);
    }

    /// The same; places that it needs come from `spare` if that has some.
    #[inline]
    pub(crate) fn put_with(&mut self, value: T, spare: &mut Spare<T>) {
        if self.is_full() {
            self.grow(spare);
        }
        self.place_last(value);
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.put.wrapping_sub(self.taken) == self.places.len()
    }

    #[inline]
    pub(crate) fn place_last(&mut self, value: T) {
        let place = self.place(self.put);
        self.places[place] = value;
        self.put = self.put.wrapping_add(1);
    }

    /// Puts a value in behind all but those that `is_later` holds for, which are the last ones.
    pub(crate) fn put_among(&mut self, value: T, is_later: impl Fn(&T) -> bool) {
        self.put(value);
        let mut at = self.put.wrapping_sub(1);
        while at != self.taken {
            let (here, before) = (self.place(at), self.place(at.wrapping_sub(1)));
            if !is_later(&self.places[before]) {
                return;
            }
            self.places.swap(here, before);
            at = at.wrapping_sub(1);
        }
    }

    /// Most pipes of very many flows never hold more than a few packets.
    #[cold]
    fn grow(&mut self, spare: &mut Spare<T>) {
        let count = if self.places.is_empty() { FEW } else { (2 * self.places.len()).max(SOME) };
        let mut larger = Self { places: spare.take(count), taken: 0, put: 0 };
        while let Some(value) = self.take() {
            larger.put(value);
        }
        spare.keep(std::mem::replace(self, larger).places);
    }

    /// The ring is empty, and begins with its first place again: a ring that seldom holds many values then uses the same
    /// few lines all the time, and not one after the other of all that it ever needed.
    #[inline]
    pub(crate) fn rewind(&mut self) {
        debug_assert!(self.is_empty());
        (self.taken, self.put) = (0, 0);
    }

    /// The same, and others may have its places until it needs some.
    #[inline]
    pub(crate) fn share(&mut self, spare: &mut Spare<T>) {
        self.rewind();
        if spare.lends {
            self.give_back(spare);
        }
    }

    #[inline(never)]
    fn give_back(&mut self, spare: &mut Spare<T>) {
        if self.places.len() <= SOME {
            spare.keep(std::mem::take(&mut self.places));
        }
    }

    /// The values in the ring, first to last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let count = self.put.wrapping_sub(self.taken);
        (0..count).map(|index| &self.places[self.place(self.taken.wrapping_add(index))])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reading_ahead_ends_where_the_values_end() {
        for length in [1_usize, 500, 2000, 2001, 2100] {
            let mut ring = Ring::default();
            (0..length as u64).for_each(|value| ring.put(value));
            for value in 0..length as u64 {
                assert_eq!(ring.take(), Some(value));
                ring.read_ahead();
            }
            assert!(ring.is_empty());
        }
    }

    #[test]
    fn values_can_be_put_in_among_others() {
        let mut ring = Ring::default();
        for value in [30_u64, 10, 20, 31, 11, 10] {
            ring.put_among(value, |other| other / 10 > value / 10);
        }
        let mut values = Vec::new();
        while let Some(value) = ring.take() {
            values.push(value);
        }
        assert_eq!(values, [10, 11, 10, 20, 30, 31]);
    }

    #[test]
    fn a_ring_that_has_been_emptied_uses_its_first_places() {
        let mut ring = Ring::default();
        (0..100_u64).for_each(|value| ring.put(value));
        while ring.take().is_some() {}
        ring.rewind();
        let first = Some(ring.places.as_ptr());
        for value in 0..100 {
            ring.put(value);
            assert_eq!(ring.first().map(std::ptr::from_ref), first);
            assert_eq!((ring.take(), ring.is_empty()), (Some(value), true));
            ring.rewind();
        }
    }

    /// Puts so many values in.
    fn fill(ring: &mut Ring<u64>, count: u64, spare: &mut Spare<u64>) {
        (0..count).for_each(|value| ring.put_with(value, spare));
    }

    fn empty(ring: &mut Ring<u64>) {
        while ring.take().is_some() {}
    }

    #[test]
    fn a_ring_has_as_many_places_as_it_needs() {
        for (values, places) in
            [(0, 0), (1, 4), (4, 4), (5, 16), (16, 16), (17, 32), (32, 32), (33, 64)]
        {
            let mut ring = Ring::default();
            (0..values).for_each(|value: u64| ring.put(value));
            assert_eq!(ring.places.len(), places, "for {values}");
        }
    }

    #[test]
    fn the_next_place_is_where_the_next_value_goes() {
        let mut ring = Ring::default();
        assert!(ring.next_place().is_none());
        ring.put(0_u64);
        for value in 1..10 {
            let place = ring.next_place().map(std::ptr::from_ref);
            ring.put(value);
            assert_eq!(ring.take(), Some(value - 1));
            assert_eq!(ring.last().map(std::ptr::from_ref), place);
        }
    }

    #[test]
    fn a_ring_at_rest_keeps_few_places() {
        for (values, kept) in [(4, 4), (32, 32), (33, 0)] {
            let mut ring = Ring::default();
            fill(&mut ring, values, &mut Spare::default());
            empty(&mut ring);
            ring.rest();
            assert_eq!(ring.places.len(), kept, "of {values}");
        }
    }

    #[test]
    fn places_are_lent_where_they_are_few() {
        let mut spare = Spare::new(true);
        let mut ring = Ring::default();
        // Four are given back for sixteen, and these by a ring that is empty; more are kept.
        fill(&mut ring, 5, &mut spare);
        assert_eq!((spare.few.len(), spare.some.len()), (1, 0));
        empty(&mut ring);
        ring.share(&mut spare);
        assert_eq!((spare.few.len(), spare.some.len(), ring.places.len()), (1, 1, 0));
        let mut other = Ring::default();
        fill(&mut other, 17, &mut spare);
        assert_eq!((spare.few.len(), spare.some.len()), (1, 1), "what it took it gave back");
        empty(&mut other);
        other.share(&mut spare);
        assert_eq!((spare.some.len(), other.places.len()), (1, 32));
    }

    /// On the way of packets nothing is allocated: what is not lent stays where it is, and is used from its first place on.
    #[test]
    fn without_lending_a_ring_keeps_its_places() {
        let mut spare = Spare::new(false);
        let mut ring = Ring::default();
        for values in [3, 5, 2, 17] {
            fill(&mut ring, values, &mut spare);
            let places = ring.places.as_ptr();
            assert_eq!(ring.first().map(std::ptr::from_ref), Some(places));
            empty(&mut ring);
            ring.share(&mut spare);
            assert_eq!(ring.places.as_ptr(), places);
            assert!(!ring.places.is_empty() && spare.few.is_empty() && spare.some.is_empty());
        }
    }

    proptest! {
        #[test]
        fn rings_that_lend_one_another_places_are_queues(
            steps in prop::collection::vec((0_usize..3, prop::option::of(any::<u32>())), 0..600),
        ) {
            let mut spare = Spare::new(true);
            let mut rings: [Ring<u32>; 3] = Default::default();
            let mut queues: [VecDeque<u32>; 3] = Default::default();
            for (at, step) in steps {
                let (ring, queue) = (&mut rings[at], &mut queues[at]);
                if let Some(value) = step {
                    ring.put_with(value, &mut spare);
                    queue.push_back(value);
                } else {
                    prop_assert_eq!(ring.take(), queue.pop_front());
                    if ring.is_empty() {
                        ring.share(&mut spare);
                        prop_assert!(ring.places.len() != FEW && ring.places.len() != SOME);
                    }
                }
                prop_assert!(ring.iter().eq(queue.iter()));
            }
            let places = |kept: &[Vec<u32>], each| kept.iter().all(|places| places.len() == each);
            prop_assert!(places(&spare.few, FEW) && places(&spare.some, SOME));
            prop_assert!(spare.few.len() <= 3 && spare.some.len() <= 3);
        }

        #[test]
        fn a_ring_is_a_queue(
            rewinds: bool,
            steps in prop::collection::vec(prop::option::of(any::<u32>()), 0..300),
        ) {
            let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
            for step in steps {
                if let Some(value) = step {
                    ring.put(value);
                    queue.push_back(value);
                } else {
                    prop_assert_eq!(ring.take(), queue.pop_front());
                    if rewinds && ring.is_empty() {
                        ring.rewind();
                    }
                }
                prop_assert_eq!(ring.first(), queue.front());
                prop_assert_eq!(ring.second(), queue.get(1));
                prop_assert_eq!(ring.last(), queue.back());
                prop_assert_eq!(ring.is_empty(), queue.is_empty());
                prop_assert!(ring.iter().eq(queue.iter()));
            }
        }
    }
}
