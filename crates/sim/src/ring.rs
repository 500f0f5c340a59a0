//! A queue in a ring of memory: what pipes and links keep their packets in.
//!
//! `VecDeque` does the same; this one has a power of two of places, so that a place is found with a mask, and plain
//! values, so that taking one is a copy. On the packet path that is a tenth of the instructions.

use std::hint::black_box;

/// A ring with more places gives its memory back when it is told that it will not be used for now.
const KEPT: usize = 32;
/// Many rings with as many places do not fit into the near caches together.
const LARGE: usize = 512;
/// A line of the cache, in bytes.
const LINE: usize = 64;

/// First in, first out. Grows when it must and does not shrink while in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring<T> {
    places: Vec<T>,
    /// Count of all values ever taken, and ever put in: their difference is the length.
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

    /// The value that comes out next.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.taken)) }
    }

    /// The value put in last.
    pub(crate) fn last(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.put.wrapping_sub(1))) }
    }

    /// Takes the value that comes out next.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<T> {
        let first = *self.first()?;
        self.taken = self.taken.wrapping_add(1);
        Some(first)
    }

    /// Values read ahead at a time: 16 lines of the cache.
    const BLOCK: usize = 16 * Self::IN_LINE;
    const IN_LINE: usize = if size_of::<T>() < LINE { LINE / size_of::<T>() } else { 1 };

    /// Reads ahead where a block of values has been taken from a large ring. What was put in a window ago has left the near
    /// caches; read line by line in one go, all that the next block needs comes at the same time, and not each line when
    /// somebody waits for it.
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

    /// An empty ring is not used for now.
    pub(crate) fn rest(&mut self) {
        debug_assert!(self.is_empty());
        if self.places.len() > KEPT {
            *self = Self::default();
        }
    }

    /// Puts a value in.
    #[inline]
    pub(crate) fn put(&mut self, value: T) {
        if self.put.wrapping_sub(self.taken) == self.places.len() {
            self.grow();
        }
        let place = self.place(self.put);
        self.places[place] = value;
        self.put = self.put.wrapping_add(1);
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger =
            Self { places: vec![T::default(); (2 * self.places.len()).max(16)], taken: 0, put: 0 };
        while let Some(value) = self.take() {
            larger.put(value);
        }
        *self = larger;
    }

    /// The values inside, first to last.
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

    proptest! {
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec(prop::option::of(any::<u32>()), 0..300)) {
            let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
            for step in steps {
                if let Some(value) = step {
                    ring.put(value);
                    queue.push_back(value);
                } else {
                    prop_assert_eq!(ring.take(), queue.pop_front());
                }
                prop_assert_eq!(ring.first(), queue.front());
                prop_assert_eq!(ring.last(), queue.back());
                prop_assert_eq!(ring.is_empty(), queue.is_empty());
                prop_assert!(ring.iter().eq(queue.iter()));
            }
        }
    }
}
