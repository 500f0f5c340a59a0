//! The wheel: the next event of every pipe.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use longfat_pages::prefetch;
use longfat_units::{Span, Time};

/// No slot.
const NONE: u32 = u32::MAX;
const WORD: u64 = u64::BITS as u64;
/// The most events that another passes on its way into a bucket.
const WALK: usize = 16;
/// How many events of different instants must come out of the crowd, or from afar, before other ticks are considered.
const MANY: usize = 1024;
/// A network that begins with fewer slots has few long flows, or only short ones: many events in a row share a slot.
const FEW: usize = 32;

/// The next event of every slot, in order of time and then of slot.
///
/// Time is cut into ticks, and the ticks ahead are the buckets of a wheel. Each bucket is a linked list of slots, kept
/// in order; with ticks of at most half the mean gap between events, most buckets are empty and few hold two, which
/// suits branch prediction. A bitmap over the buckets, and one over its words, find the next that is not empty. Events
/// beyond the wheel wait in a heap until they come near: a few in a hundred, since a larger wheel would crowd the data
/// that events need out of the cache.
///
/// The mean gap is a guess, made before the first event, and any number of events may share an instant. So an event
/// goes only so far into a bucket: if too many come before it, it joins the crowd, a heap, which bounds the cost of a
/// bad guess. Once many have done so, or many have been beyond the wheel, ticks are made to match the gaps between the
/// events then scheduled.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// A tick is 2^shift picoseconds.
    shift: u32,
    /// First slot of each bucket.
    first: Vec<u32>,
    /// One bit per bucket, set if it is not empty, and one per word of these, set if it is not zero.
    occupied: Vec<u64>,
    summary: Vec<u64>,
    /// For each slot, its place in a bucket.
    chain: Vec<Chained>,
    /// Time of the event taken last: nothing earlier can be scheduled any more, and the wheel begins here.
    now: Time,
    /// Are there few slots? If so, the slot of this event usually has the next one too.
    few: bool,
    /// That slot, and the time of its next event while that is not in the wheel yet; `Time::NEVER` otherwise.
    taken: u32,
    again: Time,
    /// Events within this span have a bucket in the wheel.
    reach: Span,
    far: BinaryHeap<Reverse<(Time, u32)>>,
    /// When the first of `far` comes within reach.
    far_comes_near: Time,
    /// Events within reach whose bucket was too full.
    crowd: BinaryHeap<Reverse<(Time, u32)>>,
    /// Before an event at this time or later leaves its bucket, the heaps must be checked: the first of `far` comes
    /// near, or the first of `crowd` may come before it.
    careful_from: Time,
    /// Instants at which events have come out of the crowd since the tick was last reviewed, and how many of them
    /// justify another review; and how many events have come near, and how many of these do.
    crowded: usize,
    patience: usize,
    came_near: usize,
    patience_afar: usize,
    /// How often the wheel has turned past a word of buckets since then: ticks that are too short leave little in each.
    turns: usize,
}

/// The time of a slot's event, and the slot after it in its bucket.
#[derive(Clone, Copy, Debug)]
struct Chained {
    time: Time,
    next: u32,
}

/// How many buckets a wheel of so many slots has: four for each, so that few events are beyond it, but no more than stay
/// near the processor. Of very many slots about half have an event, and it takes one for each to hold those, since a heap
/// of so many costs more than a bucket that is far away.
fn buckets(slots: usize) -> usize {
    (4 * slots).next_power_of_two().clamp(1024, 1 << 18).max(slots.next_power_of_two())
}

/// The tick is the largest power of two of picoseconds up to half this gap, at least one; returns the exponent.
fn shift(gap: Span) -> u32 {
    gap.0.max(1).ilog2().saturating_sub(1)
}

impl Wheel {
    /// A wheel of `slots` slots with nothing scheduled; `busy` of them may have an event most of the time, about one per
    /// `gap`.
    pub(crate) fn new(slots: usize, busy: usize, gap: Span) -> Self {
        let buckets = buckets(busy);
        let words = buckets / WORD as usize;
        let shift = shift(gap);
        Self {
            shift,
            first: longfat_pages::filled(NONE, buckets),
            occupied: vec![0; words],
            summary: vec![0; words.div_ceil(WORD as usize)],
            chain: longfat_pages::filled(Chained { time: Time::NEVER, next: NONE }, slots),
            now: Time::ZERO,
            few: slots < FEW,
            taken: NONE,
            again: Time::NEVER,
            reach: Span((buckets as u64 - 1) << shift),
            far: BinaryHeap::new(),
            far_comes_near: Time::NEVER,
            crowd: BinaryHeap::new(),
            careful_from: Time::NEVER,
            crowded: 0,
            patience: MANY,
            came_near: 0,
            patience_afar: MANY,
            turns: 0,
        }
    }

    /// The tick of the event taken last, counted from the beginning of time, and how ticks are counted: once that has
    /// changed, their numbers mean something else.
    #[inline]
    pub(crate) fn tick(&self) -> (u64, (u32, usize)) {
        (self.now.0 >> self.shift, (self.shift, self.first.len()))
    }

    /// The first bucket after the one of `tick` that is not empty, among some thousand that follow: its own tick, and the
    /// slot of its first event.
    #[inline]
    pub(crate) fn bucket_after(&self, tick: u64) -> Option<(u64, usize)> {
        let last = self.first.len() - 1;
        let here = tick as usize & last;
        let word = here / WORD as usize;
        let rest = self.occupied[word] & (u64::MAX - 1) << (here as u64 % WORD);
        let (word, bits) = if rest == 0 {
            // A wheel that is nearly empty is not searched to its end.
            let word = self.occupied_word_after(word, 1)?;
            (word, self.occupied[word])
        } else {
            (word, rest)
        };
        // A word that events have left may still count as occupied: then the bucket is another one, and empty or past.
        let bucket = (word * WORD as usize + bits.trailing_zeros() as usize) & last;
        let found = tick + (bucket.wrapping_sub(here) & last) as u64;
        let slot = self.first[bucket];
        let seen =
            found > tick && found - (self.now.0 >> self.shift) <= last as u64 && slot != NONE;
        seen.then_some((found, slot as usize))
    }

    /// Asks for what the wheel keeps of a slot, so that it is at hand soon.
    #[inline]
    pub(crate) fn prefetch(&self, slot: usize) {
        prefetch(&self.chain[slot]);
    }

    /// The same for the bucket of an event at this time.
    #[inline]
    pub(crate) fn prefetch_bucket(&self, time: Time) {
        prefetch(&self.first[self.bucket(time)]);
    }

    /// Makes room for more slots.
    pub(crate) fn grow(&mut self, slots: usize) {
        if slots > self.chain.len() {
            self.chain.resize(slots, Chained { time: Time::NEVER, next: NONE });
            if buckets(slots) > self.first.len() {
                self.widen(buckets(slots));
            }
        }
    }

    /// Makes a larger wheel.
    #[cold]
    fn widen(&mut self, buckets: usize) {
        let events = self.take_all();
        let words = buckets / WORD as usize;
        self.first.resize(buckets, NONE);
        self.occupied.resize(words, 0);
        self.summary.resize(words.div_ceil(WORD as usize), 0);
        self.put_all(events);
    }

    /// Time of the event taken last.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// The slot of the event taken last.
    #[inline]
    pub(crate) fn taken(&self) -> Option<usize> {
        (self.taken != NONE).then_some(self.taken as usize)
    }

    /// Takes the earliest event if it is at `limit` or before; returns its slot. [`Wheel::now`] is then its time.
    #[expect(clippy::inline_always, reason = "in the loop of events")]
    #[inline(always)]
    pub(crate) fn take_until(&mut self, limit: Time) -> Option<usize> {
        if self.again != Time::NEVER && self.runs_on(limit) {
            return Some(self.taken as usize);
        }
        let here = self.bucket(self.now);
        // The next event is usually in the same word.
        let ahead = self.occupied[here / WORD as usize] >> (here as u64 % WORD);
        if ahead == 0 {
            return self.take_beyond(here, limit);
        }
        self.take_bucket(here + ahead.trailing_zeros() as usize, limit)
    }

    /// Takes the next event of the slot taken last, if it comes before all others and at `limit` or before. If not, the
    /// event goes to its place in the wheel.
    #[expect(clippy::inline_always, reason = "in the loop of events")]
    #[inline(always)]
    fn runs_on(&mut self, limit: Time) -> bool {
        let time = std::mem::replace(&mut self.again, Time::NEVER);
        let here = self.bucket(self.now);
        let bit = here as u64 % WORD;
        let ticks = (time.0 >> self.shift) - (self.now.0 >> self.shift);
        // Only the same word is searched: its buckets from this tick to that one must be empty.
        let is_next = time <= limit
            && time < self.careful_from
            && ticks < WORD - bit
            && (self.occupied[here / WORD as usize] >> bit) << (WORD - 1 - ticks) == 0;
        if is_next {
            self.now = time;
        } else {
            self.add(self.taken as usize, time);
        }
        is_next
    }

    /// Takes the earliest event, which is known not to be in the rest of the word of bucket `here`.
    #[inline(never)]
    fn take_beyond(&mut self, here: usize, limit: Time) -> Option<usize> {
        self.turns += 1;
        match self.seek(here) {
            None => self.take_from_heaps(limit),
            Some(bucket) => self.take_bucket(bucket, limit),
        }
    }

    /// Takes the first event of `bucket`, the first that is not empty, if it is at `limit` or before.
    #[inline]
    fn take_bucket(&mut self, bucket: usize, limit: Time) -> Option<usize> {
        let slot = self.first[bucket];
        let Chained { time, next } = self.chain[slot as usize];
        if time >= self.careful_from {
            return self.take_carefully(bucket, limit);
        }
        if time > limit {
            return None;
        }
        self.take_first(bucket, slot, time, next);
        Some(slot as usize)
    }

    #[inline]
    fn take_first(&mut self, bucket: usize, slot: u32, time: Time, next: u32) {
        self.now = time;
        self.taken = slot;
        self.first[bucket] = next;
        // Whether the bucket is now empty cannot be predicted, so there is no branch.
        let empty = u64::from(next == NONE);
        self.occupied[bucket / WORD as usize] &= !(empty << (bucket as u64 % WORD));
    }

    /// The same when an event of the crowd may come first, or a far one comes near.
    #[inline(never)]
    fn take_carefully(&mut self, bucket: usize, limit: Time) -> Option<usize> {
        let slot = self.first[bucket];
        let Chained { time, next } = self.chain[slot as usize];
        if let Some(&Reverse(first)) = self.crowd.peek().filter(|first| first.0 < (time, slot)) {
            return self.take_from_crowd(first, limit);
        }
        if time > limit {
            return None;
        }
        self.take_first(bucket, slot, time, next);
        self.fetch_far();
        Some(slot as usize)
    }

    /// Takes the first event of the crowd, the earliest of all, if it is at `limit` or before.
    fn take_from_crowd(&mut self, (time, slot): (Time, u32), limit: Time) -> Option<usize> {
        if time > limit {
            return None;
        }
        self.crowd.pop();
        self.crowded += usize::from(time > self.now);
        self.now = time;
        self.taken = slot;
        if self.crowded >= self.patience {
            self.patience = self.review_ticks(self.patience, u32::min);
        }
        self.fetch_far();
        Some(slot as usize)
    }

    /// All buckets are empty: takes the first event of the heaps. If that lies beyond the wheel, the wheel turns to it.
    #[cold]
    fn take_from_heaps(&mut self, limit: Time) -> Option<usize> {
        if let Some(&Reverse(first)) = self.crowd.peek()
            && self.far.peek().is_none_or(|Reverse(far)| first < *far)
        {
            return self.take_from_crowd(first, limit);
        }
        let &Reverse((time, slot)) = self.far.peek()?;
        if time > limit {
            return None;
        }
        self.far.pop();
        self.now = time;
        self.taken = slot;
        self.fetch_far();
        Some(slot as usize)
    }

    /// Schedules the next event of `slot`, whose event was taken last, at `time`, which must not be in the past.
    #[inline]
    pub(crate) fn add_again(&mut self, slot: usize, time: Time) {
        debug_assert_eq!(slot, self.taken as usize, "only the slot taken last has an event again");
        if self.few {
            self.again = time;
        } else {
            self.add(slot, time);
        }
    }

    /// Schedules the event of `slot`, which must have none, at `time`, which must not be in the past.
    #[inline]
    pub(crate) fn add(&mut self, slot: usize, time: Time) {
        debug_assert!(time >= self.now, "an event is scheduled in the past");
        if time - self.now > self.reach {
            self.put_off(slot as u32, time);
            return;
        }
        self.hang(slot as u32, time);
    }

    #[cold]
    fn put_off(&mut self, slot: u32, time: Time) {
        self.far.push(Reverse((time, slot)));
        let near = self.comes_near(time);
        if near < self.far_comes_near {
            self.far_comes_near = near;
            self.careful_from = self.careful_from.min(near);
        }
    }

    /// When an event at `time` comes within reach.
    fn comes_near(&self, time: Time) -> Time {
        Time(time.0.saturating_sub(self.reach.0))
    }

    /// Updates the times that depend on the first events of the heaps.
    fn look_far(&mut self) {
        let first = self.far.peek().map(|Reverse((time, _))| self.comes_near(*time));
        self.far_comes_near = first.unwrap_or(Time::NEVER);
        let first = self.crowd.peek().map(|Reverse((time, _))| *time);
        self.careful_from = self.far_comes_near.min(first.unwrap_or(Time::NEVER));
    }

    #[inline]
    fn bucket(&self, time: Time) -> usize {
        (time.0 >> self.shift) as usize & (self.first.len() - 1)
    }

    /// Puts an event into its bucket, in order.
    #[inline]
    fn hang(&mut self, slot: u32, time: Time) {
        let bucket = self.bucket(time);
        // Whether the bucket was empty cannot be predicted: setting bits that are already set costs less than a branch.
        self.occupied[bucket / WORD as usize] |= 1 << (bucket as u64 % WORD);
        self.summary[bucket / (WORD * WORD) as usize] |= 1 << (bucket as u64 / WORD % WORD);
        let first = &mut self.first[bucket];
        if *first == NONE {
            *first = slot;
            self.chain[slot as usize] = Chained { time, next: NONE };
        } else {
            self.hang_among(bucket, slot, time);
        }
    }

    /// Puts an event into a bucket that is not empty.
    fn hang_among(&mut self, bucket: usize, slot: u32, time: Time) {
        let comes_first =
            |other: u32, chain: &[Chained]| (chain[other as usize].time, other) < (time, slot);
        let first = self.first[bucket];
        if !comes_first(first, &self.chain) {
            self.first[bucket] = slot;
            self.chain[slot as usize] = Chained { time, next: first };
            return;
        }
        let mut before = first as usize;
        for _ in 0..WALK {
            let next = self.chain[before].next;
            if next == NONE || !comes_first(next, &self.chain) {
                self.chain[before].next = slot;
                self.chain[slot as usize] = Chained { time, next };
                return;
            }
            before = next as usize;
        }
        self.join_crowd(slot, time);
    }

    #[cold]
    fn join_crowd(&mut self, slot: u32, time: Time) {
        self.crowd.push(Reverse((time, slot)));
        self.careful_from = self.careful_from.min(time);
    }

    /// Makes other ticks: `choose` gets the exponent that makes them half the mean gap between scheduled events, and the
    /// present one. Only the earlier half of the events counts, as a few may be far away. Returns how much patience there
    /// is before the next review, after so much before this one.
    #[cold]
    fn review_ticks(&mut self, patience: usize, choose: impl Fn(u32, u32) -> u32) -> usize {
        let events = self.take_all();
        let middle = events.len() / 2;
        let gap =
            events.get(middle).map_or(0, |(time, _)| (*time - self.now).0 / (middle as u64 + 1));
        let shift = shift(Span(gap));
        let before = self.shift;
        self.shift = choose(shift, before);
        // If that does not help, as with events that share an instant, the next attempt comes later.
        let patience = if self.shift == before { 2 * patience } else { MANY.max(events.len()) };
        (self.crowded, self.came_near, self.turns) = (0, 0, 0);
        self.put_all(events);
        patience
    }

    /// Takes all events, in order.
    fn take_all(&mut self) -> Vec<(Time, u32)> {
        let mut events: Vec<(Time, u32)> = self.far.drain().map(|Reverse(event)| event).collect();
        events.extend(self.crowd.drain().map(|Reverse(event)| event));
        for first in &mut self.first {
            let mut slot = std::mem::replace(first, NONE);
            while slot != NONE {
                let Chained { time, next } = self.chain[slot as usize];
                events.push((time, slot));
                slot = next;
            }
        }
        self.occupied.fill(0);
        self.summary.fill(0);
        events.sort_unstable();
        events
    }

    /// Puts them back, after ticks or buckets have changed.
    fn put_all(&mut self, events: Vec<(Time, u32)>) {
        self.reach = Span((self.first.len() as u64 - 1) << self.shift);
        // Last one first, so that each goes to the front of its bucket.
        for (time, slot) in events.into_iter().rev() {
            self.add(slot as usize, time);
        }
        self.look_far();
    }

    /// The next bucket that is not empty, beyond the rest of the word of bucket `here`.
    fn seek(&mut self, here: usize) -> Option<usize> {
        let word = here / WORD as usize;
        if self.occupied[word] == 0 {
            self.summary[word / WORD as usize] &= !(1 << (word as u64 % WORD));
        }
        let found = self.occupied_word_after(word, self.summary.len())?;
        Some(found * WORD as usize + self.occupied[found].trailing_zeros() as usize)
    }

    /// The next word of the bitmap, in wheel order, that is not zero, in the rest of its chunk of 64 words and in so many
    /// chunks after it: with all of them, `word` itself comes last.
    fn occupied_word_after(&self, word: usize, chunks: usize) -> Option<usize> {
        let chunk = word / WORD as usize;
        let later = match word as u64 % WORD {
            63 => 0,
            bit => self.summary[chunk] & (u64::MAX << (bit + 1)),
        };
        if later != 0 {
            return Some(chunk * WORD as usize + later.trailing_zeros() as usize);
        }
        (chunk + 1..=chunk + chunks)
            .map(|other| other % self.summary.len())
            .find(|&other| self.summary[other] != 0)
            .map(|other| other * WORD as usize + self.summary[other].trailing_zeros() as usize)
    }

    /// Moves far events that have come within reach into the wheel.
    #[cold]
    fn fetch_far(&mut self) {
        while let Some(&Reverse((time, slot))) = self.far.peek() {
            if time - self.now > self.reach {
                break;
            }
            self.far.pop();
            self.hang(slot, time);
            self.came_near += 1;
        }
        if self.came_near >= self.patience_afar {
            // A step at a time: more may happen later.
            let sparse = 2 * self.came_near >= self.turns;
            let longer = |shift: u32, now: u32| if sparse && shift > now { now + 1 } else { now };
            self.patience_afar = self.review_ticks(self.patience_afar, longer);
        }
        self.look_far();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum What {
        Add,
        Take,
        TakeAndAddAgain,
    }

    const WHATS: [What; 4] = [What::Add, What::Add, What::Take, What::TakeAndAddAgain];

    fn near_or_far(span: u64, scale: u32) -> Span {
        Span(if scale < 8 { span << scale } else { span >> (scale - 4) })
    }

    fn taken(wheel: &mut Wheel) -> Option<(Time, usize)> {
        let slot = wheel.take_until(Time::NEVER)?;
        Some((wheel.now(), slot))
    }

    /// 1024 ticks of a picosecond: slot 1 waits beyond the wheel while slot 0 has the earlier events.
    #[test]
    fn what_comes_near_while_a_slot_runs_on_is_not_passed() {
        let mut wheel = Wheel::new(2, 2, Span(2));
        wheel.add(0, Time(0));
        wheel.add(1, Time(1030));
        for (time, again) in [(0, 40), (40, 1050)] {
            assert_eq!(taken(&mut wheel), Some((Time(time), 0)));
            wheel.add_again(0, Time(again));
        }
        assert_eq!(taken(&mut wheel), Some((Time(1030), 1)));
        assert_eq!(taken(&mut wheel), Some((Time(1050), 0)));
        assert_eq!(taken(&mut wheel), None);
    }

    /// 1024 ticks of a picosecond: what lies as many ahead would fall into the present bucket.
    #[test]
    fn what_lies_a_whole_turn_ahead_waits_beyond_the_wheel() {
        let mut wheel = Wheel::new(5, 5, Span(2));
        let expected = [(7, 1), (500, 4), (1024, 0), (1030, 2), (1031, 3)];
        for (time, slot) in expected.into_iter().rev() {
            wheel.add(slot, Time(time));
        }
        assert_eq!(
            expected.map(|_| taken(&mut wheel)),
            expected.map(|(time, slot)| Some((Time(time), slot)))
        );
    }

    /// The same: at 7 the event at 1030 has just come near, and another one of that instant is added.
    #[test]
    fn what_has_just_come_near_is_in_order_with_what_is_added() {
        let mut wheel = Wheel::new(3, 3, Span(2));
        wheel.add(1, Time(1030));
        wheel.add(0, Time(7));
        assert_eq!(taken(&mut wheel), Some((Time(7), 0)));
        wheel.add(2, Time(1030));
        assert_eq!(taken(&mut wheel), Some((Time(1030), 1)));
        assert_eq!(taken(&mut wheel), Some((Time(1030), 2)));
    }

    /// All in one bucket: slot 0 comes after more than an event may pass, so it is in the crowd. Slot 18 is far away.
    #[test]
    fn the_crowd_is_in_order_with_the_others() {
        let crowded = || {
            let mut wheel = Wheel::new(19, 19, Span::from_seconds(1));
            for slot in 1..=17 {
                wheel.add(slot, Time(slot as u64));
            }
            wheel.add(0, Time(100));
            wheel.add(18, Time::ZERO + Span::from_seconds(1000));
            assert_eq!((wheel.crowd.len(), wheel.far.len()), (1, 1));
            for slot in 1..=17 {
                assert_eq!(taken(&mut wheel), Some((Time(slot as u64), slot)));
            }
            wheel
        };
        let mut alone = crowded();
        assert_eq!(taken(&mut alone), Some((Time(100), 0)), "no bucket holds anything");
        let mut added = crowded();
        added.add(5, Time(100));
        assert_eq!([(); 2].map(|()| taken(&mut added)), [0, 5].map(|slot| Some((Time(100), slot))));
        let mut again = crowded();
        again.add_again(17, Time(100));
        assert_eq!(
            [(); 2].map(|()| taken(&mut again)),
            [0, 17].map(|slot| Some((Time(100), slot)))
        );
    }

    /// The same, as far as a limit goes: an event of the crowd at that time is taken.
    #[test]
    fn an_event_of_the_crowd_is_taken_at_the_limit() {
        let mut wheel = Wheel::new(19, 19, Span::from_seconds(1));
        for slot in 1..=17 {
            wheel.add(slot, Time(slot as u64));
        }
        wheel.add(0, Time(100));
        assert_eq!(wheel.crowd.len(), 1);
        assert_eq!([(); 17].map(|()| taken(&mut wheel).map_or(0, |(_, slot)| slot)).len(), 17);
        assert_eq!((wheel.take_until(Time(99)), wheel.take_until(Time(100))), (None, Some(0)));
    }

    /// 1024 ticks of 16 ps. Seventeen events at 16 ps crowd their bucket, so that slot 0 is not in it, at 31. Slot 18 is beyond
    /// the wheel until then; slot 1 has its next event a whole turn later, behind that.
    #[test]
    fn what_comes_near_when_the_crowd_moves_on_is_not_passed() {
        let mut wheel = Wheel::new(33, 33, Span(32));
        assert_eq!(wheel.shift, 4);
        for slot in 1..=17 {
            wheel.add(slot, Time(16));
        }
        wheel.add(0, Time(31));
        let turn = wheel.reach.0;
        wheel.add(18, Time(turn + 20));
        assert_eq!((wheel.crowd.len(), wheel.far.len()), (1, 1));
        for slot in 1..=17 {
            assert_eq!(taken(&mut wheel), Some((Time(16), slot)));
        }
        assert_eq!(taken(&mut wheel), Some((Time(31), 0)));
        wheel.add(1, Time(turn + 31));
        assert_eq!(taken(&mut wheel), Some((Time(turn + 20), 18)));
        assert_eq!(taken(&mut wheel), Some((Time(turn + 31), 1)));
    }

    /// Checks a wheel, built for this mean gap, against an ordered set. `after` gives the time until the slot just taken
    /// has its next event.
    fn against_a_set(
        gap: Span,
        slots: usize,
        events: usize,
        after: impl Fn(usize, usize) -> Span,
    ) -> Wheel {
        let mut wheel = Wheel::new(slots, slots, gap);
        let mut set = BTreeSet::new();
        for slot in 0..slots {
            let time = Time::ZERO + after(0, slot);
            wheel.add(slot, time);
            set.insert((time, slot));
        }
        for event in 1..events {
            let expected = set.pop_first();
            assert_eq!(taken(&mut wheel), expected, "event {event}");
            let (time, slot) = expected.expect("each slot has an event");
            let next = time + after(event, slot);
            wheel.add_again(slot, next);
            set.insert((next, slot));
        }
        wheel
    }

    /// A mean gap of a microsecond, guessed as a second: all events are in one bucket until the ticks are right.
    #[test]
    fn ticks_that_are_too_long_become_shorter() {
        let wheel = against_a_set(Span::from_seconds(1), 3000, 20_000, a_microsecond);
        let tick = 1_u64 << wheel.shift;
        assert!((250_000..=1_000_000).contains(&tick), "a tick of {tick} ps");
        assert!(wheel.crowd.is_empty(), "{} in the crowd", wheel.crowd.len());
    }

    /// The same guessed as a nanosecond: nearly all events are beyond the wheel until the ticks are right.
    #[test]
    fn ticks_that_are_too_short_become_longer() {
        let wheel = against_a_set(Span(1000), 3000, 100_000, a_microsecond);
        let tick = 1_u64 << wheel.shift;
        assert!((250_000..=1_000_000).contains(&tick), "a tick of {tick} ps");
        assert!(wheel.far.is_empty(), "{} beyond the wheel", wheel.far.len());
    }

    /// When a slot of 3000 has its next event, if there is one every microsecond or so.
    fn a_microsecond(event: usize, slot: usize) -> Span {
        Span(((event + slot).wrapping_mul(2_654_435_761) % 6_000_000_007) as u64)
    }

    /// Three thousand events every millisecond: no tick is short enough, yet no bucket grows long.
    #[test]
    fn events_that_share_an_instant_are_in_the_order_of_their_slots() {
        let second = Span::from_seconds(1);
        let wheel = against_a_set(second, 3000, 20_000, |_, _| Span::from_millis(1));
        assert!(wheel.crowd.len() > 2000, "{} in the crowd", wheel.crowd.len());
    }

    /// Short flows come while the wheel turns: it becomes larger, and nothing in it is lost.
    #[test]
    fn a_wheel_that_grows_keeps_its_events() {
        let (mut wheel, mut set) = (Wheel::new(4, 4, Span(1000)), BTreeSet::new());
        for slots in [4_usize, 300, 5000] {
            wheel.grow(slots);
            for slot in set.len()..slots {
                let time = wheel.now() + a_microsecond(slots, slot);
                wheel.add(slot, time);
                set.insert((time, slot));
            }
            let (time, slot) = set.pop_first().expect("there are slots");
            assert_eq!(taken(&mut wheel), Some((time, slot)));
            wheel.add(slot, time);
            set.insert((time, slot));
        }
        assert_eq!(wheel.first.len(), buckets(5000));
        while let Some(expected) = set.pop_first() {
            assert_eq!(taken(&mut wheel), Some(expected));
        }
    }

    proptest! {
        /// Against an ordered set: slots come and go, near and far, one or many to a tick.
        #[test]
        fn events_come_in_order_of_time_and_slot(
            slots in prop_oneof![1_usize..8, 1_usize..200],
            gap in select(vec![1_u64, 7, 1000, 1_000_000]),
            guess in select(vec![(1_u64, 1_u64), (1, 1), (64, 1), (100_000, 1), (1, 100)]),
            steps in prop::collection::vec(
                (any::<prop::sample::Index>(), 0_u64..3000, 0_u32..16, select(&WHATS[..])),
                1..600,
            ),
        ) {
            let mut wheel = Wheel::new(slots, slots, Span(gap * guess.0 / guess.1));
            let mut set: BTreeSet<(Time, usize)> = BTreeSet::new();
            let mut now = Time::ZERO;
            for (index, distance, scale, what) in steps {
                let slot = index.index(slots);
                if what != What::Add {
                    let expected = set.pop_first();
                    prop_assert_eq!(taken(&mut wheel), expected);
                    now = expected.map_or(now, |(time, _)| time);
                    if let Some((_, slot)) = expected.filter(|_| what == What::TakeAndAddAgain) {
                        let time = now + near_or_far(distance * gap, scale);
                        wheel.add_again(slot, time);
                        set.insert((time, slot));
                    }
                } else if !set.iter().any(|&(_, other)| other == slot) {
                    let time = now + near_or_far(distance * gap, scale);
                    // Looking ahead must not commit the wheel to what it saw.
                    if set.first().is_some_and(|&(first, _)| first > now) {
                        prop_assert_eq!(wheel.take_until(now), None);
                    }
                    wheel.add(slot, time);
                    set.insert((time, slot));
                }
            }
            while let Some(expected) = set.pop_first() {
                prop_assert_eq!(taken(&mut wheel), Some(expected));
            }
            prop_assert_eq!(wheel.take_until(Time::NEVER), None);
        }
    }
}
