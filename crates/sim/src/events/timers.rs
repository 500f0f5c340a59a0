//! The timers: few, and mostly set again long before they run out.
//!
//! A heap holds them. With a million flows it would be larger than the caches, and each timer that runs out would wait
//! for memory at every level. So once it is large, timers of later slices of time join a list for each slice, without
//! any order, which is sorted when the next timer is of that slice. Then it is known which ones come after the next one,
//! too, so that what they need can be asked for before.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use longfat_units::Time;

/// A heap of so many timers stays in the near caches.
const MANY: usize = 1 << 14;
/// A slice of time is 2^30 picoseconds, about a millisecond.
const SLICE: u32 = 30;

/// What a timer is for, in the order in which timers of the same instant run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// A receiver has delayed an acknowledgment long enough.
    DelayedAck(u32),
    /// A packet reaches the end of the wire of this link, where packets may pass one another.
    Wire(u32),
    /// The measured interval begins.
    Warmup,
    /// A row of the time series is due.
    Sample,
    /// A flow stops sending new data.
    Stop(u32),
    /// A flow begins.
    Start(u32),
    /// A short flow of a traffic group arrives.
    Arrival(u32),
    /// An application does what is next in its agenda.
    Application(u32),
    /// The retransmission timer of a flow.
    Retransmission(u32),
    /// A flow's controller has asked to be called.
    Alarm(u32),
}

impl Timer {
    /// Does it read or change senders from outside?
    fn is_edge(self) -> bool {
        matches!(self, Self::Warmup | Self::Sample | Self::Stop(_))
    }
}

/// The timers.
#[derive(Debug)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, Timer)>>,
    /// Those of slices that have come, the next one last.
    sorted: Vec<Reverse<(Time, Timer)>>,
    /// Timers of later slices, and the first of these; `u64::MAX` if there is none.
    later: BTreeMap<u64, Vec<Reverse<(Time, Timer)>>>,
    first_later: u64,
    /// Lists without timers.
    spare: Vec<Vec<Reverse<(Time, Timer)>>>,
    packets_first: Time,
    /// When timers read or change senders from outside.
    edges: BinaryHeap<Reverse<Time>>,
    /// The first of them, kept at hand because every acknowledgment asks for it.
    next_edge: Time,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            sorted: Vec::new(),
            later: BTreeMap::new(),
            first_later: u64::MAX,
            spare: Vec::new(),
            packets_first: Time::NEVER,
            edges: BinaryHeap::new(),
            next_edge: Time::NEVER,
        }
    }
}

impl Timers {
    /// Packets up to and including this instant come before the next timer.
    #[inline]
    pub(crate) fn packets_first(&self) -> Time {
        self.packets_first
    }

    /// When the next timer runs out.
    pub(crate) fn next(&self) -> Time {
        self.first().map_or(Time::NEVER, |(time, _)| time)
    }

    fn first(&self) -> Option<(Time, Timer)> {
        // Where few are set none is sorted.
        let first = if self.sorted.is_empty() {
            self.heap.peek()
        } else {
            self.heap.peek().max(self.sorted.last())
        };
        first.map(|Reverse(first)| *first)
    }

    /// The timer that runs out when `others` have, as far as that is known.
    #[inline]
    pub(crate) fn after(&self, others: usize) -> Option<(Time, Timer)> {
        let index = self.sorted.len().checked_sub(others + 1)?;
        Some(self.sorted[index].0)
    }

    /// When the next timer that reads or changes senders from outside runs out.
    #[inline]
    pub(crate) fn next_edge(&self) -> Time {
        self.next_edge
    }

    /// Adds a timer.
    pub(crate) fn add(&mut self, time: Time, timer: Timer) {
        if timer.is_edge() {
            self.edges.push(Reverse(time));
        }
        if self.heap.len() >= MANY && slice(time) > self.slice() {
            self.put_off(time, timer);
        } else {
            self.heap.push(Reverse((time, timer)));
        }
        self.look_ahead();
    }

    /// The slice of the first timer at hand; the last one if there is none.
    fn slice(&self) -> u64 {
        slice(self.next())
    }

    #[inline(never)]
    fn put_off(&mut self, time: Time, timer: Timer) {
        let list = self.later.entry(slice(time));
        list.or_insert_with(|| self.spare.pop().unwrap_or_default()).push(Reverse((time, timer)));
        self.first_later = self.first_later.min(slice(time));
    }

    /// Brings the timers of every slice that has come.
    #[inline(never)]
    fn fetch(&mut self) {
        while self.first_later <= self.slice() {
            let Some((_, mut timers)) = self.later.pop_first() else { break };
            if self.sorted.is_empty() {
                self.sorted.append(&mut timers);
                self.sorted.sort_unstable();
            } else {
                // A later slice has come first, when nothing was set for this one yet. It is not sorted again.
                self.heap.extend(timers.drain(..));
            }
            self.spare.push(timers);
            self.first_later = self.later.first_key_value().map_or(u64::MAX, |(first, _)| *first);
        }
    }

    /// Takes the next timer.
    pub(crate) fn pop(&mut self) -> Option<(Time, Timer)> {
        let next =
            if self.sorted.last() > self.heap.peek() { self.sorted.pop() } else { self.heap.pop() };
        let next = next.map(|Reverse(entry)| entry);
        if next.is_some_and(|(_, timer)| timer.is_edge()) {
            self.edges.pop();
        }
        self.look_ahead();
        next
    }

    fn look_ahead(&mut self) {
        let mut first = self.first();
        if first.is_none_or(|(time, _)| self.first_later <= slice(time)) {
            self.fetch();
            first = self.first();
        }
        self.next_edge = self.edges.peek().map_or(Time::NEVER, |Reverse(time)| *time);
        self.packets_first = match first {
            None => Time::NEVER,
            // A link that serves ahead sends this acknowledgment before the instant comes; to agree with it, the timer
            // must send it before any packet of the instant moves.
            Some((time, Timer::DelayedAck(_))) => Time(time.0 - 1),
            Some((time, _)) => time,
        };
    }
}

fn slice(time: Time) -> u64 {
    time.0 >> SLICE
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against an ordered set, with more timers than the heap takes: near and far, many of the same instant, and
        /// some that are added as others run out.
        #[test]
        fn timers_run_out_in_order(
            spread in prop_oneof![Just(1_u64), Just(1 << 20), Just(1 << 31), Just(1 << 36)],
            count in prop_oneof![1_usize..100, 1_usize..3 * MANY],
            again in 1_usize..7,
        ) {
            let mut timers = Timers::default();
            let mut set = BTreeSet::new();
            let mut chance = 1_u64;
            let mut add = |timers: &mut Timers, set: &mut BTreeSet<_>, now: Time, flow: usize| {
                chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let time = Time(now.0 + (chance >> 33) % 1000 * spread);
                let timer = Timer::Retransmission(flow as u32);
                timers.add(time, timer);
                set.insert((time, timer));
            };
            for flow in 0..count {
                add(&mut timers, &mut set, Time::ZERO, flow);
            }
            let mut last = count;
            while let Some(expected) = set.pop_first() {
                prop_assert_eq!(timers.next(), expected.0);
                prop_assert_eq!(timers.packets_first(), expected.0);
                prop_assert_eq!(timers.pop(), Some(expected));
                if last < 2 * count && last.is_multiple_of(again) {
                    add(&mut timers, &mut set, expected.0, last);
                }
                last += 1;
            }
            prop_assert_eq!(timers.pop(), None);
            prop_assert_eq!(timers.next(), Time::NEVER);
        }
    }

    #[test]
    fn timers_of_an_instant_run_out_in_the_order_of_their_kinds() {
        let order = [
            Timer::DelayedAck(1),
            Timer::Wire(0),
            Timer::Warmup,
            Timer::Sample,
            Timer::Stop(0),
            Timer::Start(0),
            Timer::Arrival(0),
            Timer::Application(0),
            Timer::Retransmission(0),
            Timer::Retransmission(3),
            Timer::Alarm(0),
        ];
        let mut timers = Timers::default();
        for timer in order.into_iter().rev() {
            timers.add(Time(5), timer);
        }
        let come = std::iter::from_fn(|| timers.pop()).map(|(_, timer)| timer);
        assert_eq!(come.collect::<Vec<_>>(), order);
    }

    #[test]
    fn what_reads_or_changes_senders_from_outside_is_an_edge() {
        let mut timers = Timers::default();
        for (time, timer) in [
            (1, Timer::Start(0)),
            (2, Timer::Warmup),
            (3, Timer::Arrival(0)),
            (4, Timer::Sample),
            (5, Timer::Retransmission(0)),
            (6, Timer::Stop(0)),
            (7, Timer::Alarm(0)),
        ] {
            timers.add(Time(time), timer);
        }
        let mut edges = Vec::new();
        for _ in 0..8 {
            edges.push(timers.next_edge());
            timers.pop();
        }
        let [warmup, sample, stop] = [2, 4, 6].map(Time);
        let expected = [warmup, warmup, sample, sample, stop, stop, Time::NEVER, Time::NEVER];
        assert_eq!(edges, expected);
    }

    #[test]
    fn a_delayed_acknowledgment_comes_before_the_packets_of_its_instant() {
        let mut timers = Timers::default();
        timers.add(Time(5), Timer::Wire(0));
        assert_eq!(timers.packets_first(), Time(5));
        timers.add(Time(5), Timer::DelayedAck(0));
        assert_eq!((timers.packets_first(), timers.next()), (Time(4), Time(5)));
        timers.pop();
        assert_eq!(timers.packets_first(), Time(5));
    }
}
