//! The timers: few, and mostly set again long before they run out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use longfat_units::Time;

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
        self.heap.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
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
        self.next_edge = self.edges.peek().map_or(Time::NEVER, |Reverse(time)| *time);
        self.packets_first = match self.heap.peek() {
            None => Time::NEVER,
            // A link that serves ahead sends this acknowledgment before the instant comes; to agree with it, the timer
            // must send it before any packet of the instant moves.
            Some(Reverse((time, Timer::DelayedAck(_)))) => Time(time.0 - 1),
            Some(Reverse((time, _))) => *time,
        };
    }
}
