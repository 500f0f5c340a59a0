//! First in, first out.

use std::collections::VecDeque;

use longfat_units::{Rate, Time};

use crate::{Arrival, Backlog, Capacity, Clock, Host, Item, PacketQueue, Policy, Probe, Verdict};

/// Packets in order of arrival, with their number and bytes: what queues of packets are built from.
#[derive(Clone, Debug, Default)]
pub struct Line {
    items: VecDeque<Item>,
    backlog: Backlog,
}

impl Line {
    /// What is waiting.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The packet that has waited longest.
    pub fn first(&self) -> Option<&Item> {
        self.items.front()
    }

    /// Appends a packet.
    pub fn push(&mut self, item: Item) {
        self.backlog.enter(item.bytes);
        self.items.push_back(item);
    }

    /// Takes the packet that came last.
    pub fn pop_last(&mut self) -> Option<Item> {
        let item = self.items.pop_back()?;
        self.backlog.leave(item.bytes);
        Some(item)
    }

    /// Takes the packet that has waited longest.
    pub fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.backlog.leave(item.bytes);
        Some(item)
    }
}

/// A first-in-first-out queue with a policy, or none, as a [`PacketQueue`]: for hosts that ask for each packet.
#[derive(Debug)]
pub(crate) struct Fifo {
    policy: Option<Box<dyn Policy>>,
    clock: Clock,
    capacity: Capacity,
    line: Line,
    /// Since when the link has been idle, if it is.
    idle_since: Option<Time>,
}

impl Fifo {
    pub(crate) fn new(policy: Option<Box<dyn Policy>>, capacity: Capacity) -> Self {
        let clock = Clock::new(policy.as_ref().and_then(|policy| policy.period()));
        Self { policy, clock, capacity, line: Line::default(), idle_since: Some(Time::ZERO) }
    }
}

impl PacketQueue for Fifo {
    fn enqueue(&mut self, now: Time, mut item: Item, host: &mut dyn Host) {
        let (backlog, idle_since) = (self.line.backlog(), self.idle_since);
        let arrival = Arrival { now, bytes: item.bytes, ecn: item.ecn, backlog, idle_since };
        let fits = idle_since.is_some() || self.capacity.admits(backlog, item.bytes);
        let keeps = match &mut self.policy {
            Some(policy) if fits => match policy.on_arrival(&arrival, host.chance()) {
                Verdict::Keep => true,
                Verdict::Mark => host.mark(&mut item),
                Verdict::Drop => false,
            },
            Some(policy) => {
                policy.on_overflow(&arrival);
                false
            }
            None => fits,
        };
        if !keeps {
            return host.drop(item);
        }
        if let Some(policy) = self.policy.as_mut().filter(|policy| policy.reads_headers())
            && let Some(header) = host.header(&item)
        {
            policy.on_header(item.bytes, header);
        }
        self.line.push(item);
    }

    fn dequeue(&mut self, now: Time, _: &mut dyn Host) -> Option<Item> {
        // Without a packet in service, none has left: one has just arrived.
        if self.idle_since.is_none()
            && let Some(policy) = self.policy.as_mut().filter(|policy| policy.watches_departures())
        {
            policy.on_departure(now, self.line.backlog().packets);
        }
        let item = self.line.pop();
        self.idle_since = if item.is_some() { None } else { self.idle_since.or(Some(now)) };
        item
    }

    fn advance(&mut self, now: Time) {
        let looks = self.clock.take_due(now);
        if let Some(policy) = self.policy.as_mut().filter(|_| looks > 0) {
            policy.on_ticks(looks, self.line.backlog());
        }
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        if let Some(policy) = &mut self.policy {
            policy.on_rate(now, rate);
        }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(policy) = &self.policy {
            policy.observe(probe);
        }
    }
}
