//! What happens next.
//!
//! Two structures share the work. Almost every event is a packet reaching the end of a pipe, and a pipe needs
//! only its head in the queue: those heads sit in a tournament tree with one leaf per pipe, where a change
//! costs one comparison per level, no branch and no allocation. Timers are few, mostly re-armed long before
//! they run out, and live in an ordinary heap.
//!
//! Events at the same instant come in the order of their slots, then timers in the order of their kind and
//! flow; only acknowledgments kept back leave before the packets of that instant arrive. The order depends on the structure of the network alone, never on who was scheduled first: that is
//! what makes the two kinds of server agree to the byte.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use longfat_units::Time;

/// A tournament over slots: the earliest time wins, the lower slot on a tie.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// `nodes[n + slot]` is the leaf of `slot`; each inner node holds its winner; the overall winner is `nodes[1]`.
    nodes: Vec<Entry>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: Time,
    slot: u32,
}

impl Entry {
    /// Time and slot as one number: one comparison without a branch.
    fn key(self) -> u128 {
        u128::from(self.time.0) << 32 | u128::from(self.slot)
    }
}

impl Tournament {
    /// `slots` slots, nothing scheduled.
    pub(crate) fn new(slots: usize) -> Self {
        let leaves = slots.max(2);
        let mut nodes = vec![Entry { time: Time::NEVER, slot: 0 }; 2 * leaves];
        for (slot, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.slot = slot as u32;
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        Self { nodes, leaves }
    }

    /// The earliest event: its time ([`Time::NEVER`] when there is none) and its slot.
    #[inline]
    pub(crate) fn next(&self) -> (Time, usize) {
        let winner = self.nodes[1];
        (winner.time, winner.slot as usize)
    }

    /// Schedules the event of `slot`, in place of the one it had.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, time: Time) {
        let mut winner = Entry { time, slot: slot as u32 };
        let mut node = self.leaves + slot;
        self.nodes[node] = winner;
        while node > 1 {
            let rival = self.nodes[node ^ 1];
            winner = if rival.key() < winner.key() { rival } else { winner };
            node /= 2;
            self.nodes[node] = winner;
        }
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
    /// The retransmission timer of a flow.
    Retransmission(u32),
}

/// The timers.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, Timer)>>,
}

impl Timers {
    /// Packets up to this instant, included, come before the next timer.
    #[inline]
    pub(crate) fn packets_first(&self) -> Time {
        match self.heap.peek() {
            None => Time::NEVER,
            // A link that serves ahead has put this acknowledgment on its way before the instant comes; to agree
            // with it, the timer must do so before any packet of the instant moves.
            Some(Reverse((time, Timer::DelayedAck(_)))) => Time(time.0 - 1),
            Some(Reverse((time, _))) => *time,
        }
    }

    /// When the next timer runs out.
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
    }

    /// Adds a timer.
    pub(crate) fn add(&mut self, time: Time, timer: Timer) {
        self.heap.push(Reverse((time, timer)));
    }

    /// Takes the next timer.
    pub(crate) fn pop(&mut self) -> Option<(Time, Timer)> {
        self.heap.pop().map(|Reverse(entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_winner_is_the_earliest_and_then_the_lowest_slot(
            slots in 1_usize..70,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..20), 1..200),
        ) {
            let mut tournament = Tournament::new(slots);
            let mut times = vec![Time::NEVER; slots];
            for (index, time) in changes {
                let slot = index.index(slots);
                let time = if time == 0 { Time::NEVER } else { Time(time) };
                tournament.set(slot, time);
                times[slot] = time;
                let earliest = *times.iter().min().expect("not empty");
                let (found, winner) = tournament.next();
                prop_assert_eq!(found, earliest);
                if earliest != Time::NEVER {
                    prop_assert_eq!(Some(winner), times.iter().position(|&time| time == earliest));
                }
            }
        }
    }
}
