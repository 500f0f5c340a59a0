//! What happens next.
//!
//! Two structures share the work. Almost every event is a packet reaching the end of a pipe, and a pipe needs
//! only its head in the queue: those heads hang in a wheel of short buckets, where coming and going cost O(1)
//! whatever the number of pipes, and nothing is allocated. Timers are few, mostly re-armed long before they run
//! out, and live in an ordinary heap.
//!
//! Events at the same instant come in the order of their slots, then timers in the order of their kind and
//! flow; only acknowledgments kept back leave before the packets of that instant arrive. The order
//! depends on the structure of the network alone, never on who was scheduled first: that is
//! what makes the two kinds of server agree to the byte.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use longfat_units::{Span, Time};

/// No slot.
const NONE: u32 = u32::MAX;
const WORD: u64 = u64::BITS as u64;

/// The next event of every slot, in order of time and then of slot.
///
/// Time is cut into ticks, and the ticks ahead are buckets of a wheel. Each bucket is a list through the slots, kept
/// in order; with ticks of half the mean gap between events or less most are empty and few hold two, which is what branch
/// prediction likes. A bitmap over the buckets, and one over its words, find the next that is not empty. What lies beyond
/// the wheel waits in a heap until its turn comes near: a few events in a hundred, as a larger wheel would drive out of
/// the cache what events need.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// A tick is 2^shift picoseconds.
    shift: u32,
    /// First slot of each bucket.
    first: Vec<u32>,
    /// One bit per bucket that is not empty, and one per word of these that is not zero.
    occupied: Vec<u64>,
    summary: Vec<u64>,
    /// For each slot, the time of its event and the slot after it in its bucket.
    links: Vec<Link>,
    /// Tick of the event taken last: nothing earlier can come any more, and the wheel begins here.
    current: u64,
    /// Tick of the earliest event in the wheel; `u64::MAX` while the wheel is empty.
    earliest: u64,
    far: BinaryHeap<Reverse<(Time, u32)>>,
    /// From this tick on the first of `far` is near enough to be taken into the wheel.
    far_comes_near: u64,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    time: Time,
    next: u32,
}

impl Wheel {
    /// `slots` slots with nothing scheduled; events come about one per `gap`.
    pub(crate) fn new(slots: usize, gap: Span) -> Self {
        let buckets = (4 * slots).next_power_of_two().clamp(1024, 1 << 18);
        let words = buckets / WORD as usize;
        Self {
            shift: gap.0.max(1).ilog2().saturating_sub(1),
            first: vec![NONE; buckets],
            occupied: vec![0; words],
            summary: vec![0; words.div_ceil(WORD as usize)],
            links: vec![Link { time: Time::NEVER, next: NONE }; slots],
            current: 0,
            earliest: u64::MAX,
            far: BinaryHeap::new(),
            far_comes_near: u64::MAX,
        }
    }

    /// Makes room for more slots.
    pub(crate) fn grow(&mut self, slots: usize) {
        if slots > self.links.len() {
            self.links.resize(slots, Link { time: Time::NEVER, next: NONE });
        }
    }

    /// Takes the earliest event if it comes at `limit` or before.
    #[inline]
    pub(crate) fn take_until(&mut self, limit: Time) -> Option<(Time, usize)> {
        if self.earliest == u64::MAX {
            return self.take_far(limit);
        }
        let bucket = self.bucket(self.earliest);
        let slot = self.first[bucket];
        let Link { time, next } = self.links[slot as usize];
        if time > limit {
            return None;
        }
        self.current = self.earliest;
        self.first[bucket] = next;
        self.leave(bucket, next == NONE);
        if self.current >= self.far_comes_near {
            self.fetch_far();
        }
        Some((time, slot as usize))
    }

    /// The wheel is empty: takes the first event beyond it, and turns the wheel there.
    #[cold]
    fn take_far(&mut self, limit: Time) -> Option<(Time, usize)> {
        let &Reverse((time, slot)) = self.far.peek()?;
        if time > limit {
            return None;
        }
        self.far.pop();
        self.current = time.0 >> self.shift;
        self.fetch_far();
        Some((time, slot as usize))
    }

    /// Schedules the event of `slot`, which must have none, at `time`, which must not be past.
    #[inline]
    pub(crate) fn add(&mut self, slot: usize, time: Time) {
        let tick = time.0 >> self.shift;
        debug_assert!(tick >= self.current, "an event is scheduled in the past");
        if tick - self.current >= self.first.len() as u64 {
            self.put_off(slot as u32, time);
            return;
        }
        self.hang(slot as u32, time, tick);
    }

    #[cold]
    fn put_off(&mut self, slot: u32, time: Time) {
        self.far.push(Reverse((time, slot)));
        self.look_far();
    }

    fn look_far(&mut self) {
        self.far_comes_near = self.far.peek().map_or(u64::MAX, |Reverse((time, _))| {
            (time.0 >> self.shift).saturating_sub(self.first.len() as u64 - 1)
        });
    }

    #[inline]
    fn bucket(&self, tick: u64) -> usize {
        tick as usize & (self.first.len() - 1)
    }

    /// Puts an event into its bucket, in order.
    #[inline]
    fn hang(&mut self, slot: u32, time: Time, tick: u64) {
        let bucket = self.bucket(tick);
        self.earliest = self.earliest.min(tick);
        // Whether the bucket was empty cannot be foreseen: setting bits that are set already costs less than asking.
        self.occupied[bucket / WORD as usize] |= 1 << (bucket as u64 % WORD);
        self.summary[bucket / (WORD * WORD) as usize] |= 1 << (bucket as u64 / WORD % WORD);
        let first = &mut self.first[bucket];
        if *first == NONE {
            *first = slot;
            self.links[slot as usize] = Link { time, next: NONE };
        } else {
            self.hang_among(bucket, slot, time);
        }
    }

    /// Puts an event into a bucket that is not empty.
    fn hang_among(&mut self, bucket: usize, slot: u32, time: Time) {
        let comes_first =
            |other: u32, links: &[Link]| (links[other as usize].time, other) < (time, slot);
        let first = self.first[bucket];
        if !comes_first(first, &self.links) {
            self.first[bucket] = slot;
            self.links[slot as usize] = Link { time, next: first };
            return;
        }
        let mut before = first as usize;
        loop {
            let next = self.links[before].next;
            if next == NONE || !comes_first(next, &self.links) {
                self.links[before].next = slot;
                self.links[slot as usize] = Link { time, next };
                return;
            }
            before = next as usize;
        }
    }

    /// An event of the current tick was taken: finds the next one, in the same bucket unless that is `empty` now.
    #[inline]
    fn leave(&mut self, bucket: usize, empty: bool) {
        let word = bucket / WORD as usize;
        // Whether the bucket is empty cannot be foreseen, but most often the next event is in the same word.
        self.occupied[word] &= !(u64::from(empty) << (bucket as u64 % WORD));
        let rest = self.occupied[word] >> (bucket as u64 % WORD);
        if rest != 0 {
            self.earliest = self.current + u64::from(rest.trailing_zeros());
            return;
        }
        self.seek(bucket, word);
    }

    fn seek(&mut self, bucket: usize, word: usize) {
        if self.occupied[word] == 0 {
            self.summary[word / WORD as usize] &= !(1 << (word as u64 % WORD));
        }
        self.earliest = match self.occupied_word_after(word) {
            None => u64::MAX,
            Some(found) => {
                let at = found as u64 * WORD + u64::from(self.occupied[found].trailing_zeros());
                let distance = at.wrapping_sub(bucket as u64) & (self.first.len() as u64 - 1);
                self.current + distance
            }
        };
    }

    /// The next word of the bitmap, in the order of the wheel, that is not zero; `word` itself comes last.
    fn occupied_word_after(&self, word: usize) -> Option<usize> {
        let chunk = word / WORD as usize;
        let later = match word as u64 % WORD {
            63 => 0,
            bit => self.summary[chunk] & (u64::MAX << (bit + 1)),
        };
        if later != 0 {
            return Some(chunk * WORD as usize + later.trailing_zeros() as usize);
        }
        let chunks = self.summary.len();
        (chunk + 1..=chunk + chunks)
            .map(|other| other % chunks)
            .find(|&other| self.summary[other] != 0)
            .map(|other| other * WORD as usize + self.summary[other].trailing_zeros() as usize)
    }

    /// Takes into the wheel what has come near.
    #[cold]
    fn fetch_far(&mut self) {
        while let Some(&Reverse((time, slot))) = self.far.peek() {
            let tick = time.0 >> self.shift;
            if tick - self.current >= self.first.len() as u64 {
                break;
            }
            self.far.pop();
            self.hang(slot, time, tick);
        }
        self.look_far();
    }
}

/// What a timer is for. The order is the order of timers that run out at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// A receiver has kept an acknowledgment back long enough.
    DelayedAck(u32),
    /// The measured interval begins.
    Warmup,
    /// A row of the time series is due.
    Sample,
    /// A flow has no more new data to send.
    Stop(u32),
    /// A flow begins.
    Start(u32),
    /// A short flow of a traffic group arrives.
    Arrival(u32),
    /// The retransmission timer of a flow.
    Retransmission(u32),
}

impl Timer {
    /// Does it look at senders, or tell them something?
    fn is_edge(self) -> bool {
        matches!(self, Self::Warmup | Self::Sample | Self::Stop(_))
    }
}

/// The timers.
#[derive(Debug)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, Timer)>>,
    packets_first: Time,
    /// When one looks at senders, or tells them something.
    edges: BinaryHeap<Reverse<Time>>,
}

impl Default for Timers {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), packets_first: Time::NEVER, edges: BinaryHeap::new() }
    }
}

impl Timers {
    /// Packets up to this instant, included, come before the next timer.
    #[inline]
    pub(crate) fn packets_first(&self) -> Time {
        self.packets_first
    }

    /// When the next timer runs out.
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
    }

    /// When the next timer runs out that looks at senders or tells them something.
    pub(crate) fn next_edge(&self) -> Time {
        self.edges.peek().map_or(Time::NEVER, |Reverse(time)| *time)
    }

    /// Adds a timer.
    pub(crate) fn add(&mut self, time: Time, timer: Timer) {
        if timer.is_edge() {
            self.edges.push(Reverse(time));
        }
        self.heap.push(Reverse((time, timer)));
        self.look_ahead();
    }

    /// Takes the next timer.
    pub(crate) fn pop(&mut self) -> Option<(Time, Timer)> {
        let next = self.heap.pop().map(|Reverse(entry)| entry);
        if next.is_some_and(|(_, timer)| timer.is_edge()) {
            self.edges.pop();
        }
        self.look_ahead();
        next
    }

    fn look_ahead(&mut self) {
        self.packets_first = match self.heap.peek() {
            None => Time::NEVER,
            // A link that serves ahead has put this acknowledgment on its way before the instant comes; to agree
            // with it, the timer must do so before any packet of the instant moves.
            Some(Reverse((time, Timer::DelayedAck(_)))) => Time(time.0 - 1),
            Some(Reverse((time, _))) => *time,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against an ordered set: slots come and go, near and far, one or many to a tick.
        #[test]
        fn events_come_in_order_of_time_and_slot(
            slots in 1_usize..200,
            gap in prop::sample::select(vec![1_u64, 7, 1000, 1_000_000]),
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..3000, 0_u32..8, any::<bool>()), 1..600),
        ) {
            let mut wheel = Wheel::new(slots, Span(gap));
            let mut set: BTreeSet<(Time, usize)> = BTreeSet::new();
            let mut now = Time::ZERO;
            for (index, distance, scale, take) in steps {
                let slot = index.index(slots);
                if take {
                    let expected = set.pop_first();
                    prop_assert_eq!(wheel.take_until(Time::NEVER), expected);
                    now = expected.map_or(now, |(time, _)| time);
                } else if !set.iter().any(|&(_, other)| other == slot) {
                    let time = now + Span((distance * gap) << scale);
                    // Looking ahead must not bind the wheel to what it saw.
                    if set.first().is_some_and(|&(first, _)| first > now) {
                        prop_assert_eq!(wheel.take_until(now), None);
                    }
                    wheel.add(slot, time);
                    set.insert((time, slot));
                }
            }
            while let Some(expected) = set.pop_first() {
                prop_assert_eq!(wheel.take_until(Time::NEVER), Some(expected));
            }
            prop_assert_eq!(wheel.take_until(Time::NEVER), None);
        }
    }
}
