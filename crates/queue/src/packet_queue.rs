//! A queue that owns its packets: what a host asks of it, and what it answers.
//!
//! A [`Policy`](crate::Policy) decides on arrival and leaves the order to a first-in-first-out queue, so a host knows
//! every departure in advance and need not ask again. A queue that decides later, looks at how long packets have
//! waited, drops packets already waiting or serves in an order of its own is a [`PacketQueue`]. The host asks it for
//! each packet when the link is free.

use std::fmt;

use longfat_units::{Bytes, Ecn, Rate, RouterHeader, Span, Time};
use rand_core::Rng;

use crate::Probe;

/// A queue that owns its packets. It keeps within the capacity of its [`Site`](crate::Site), which does not count the
/// packet in service, and never idles: whenever packets are waiting, it yields one.
pub trait PacketQueue: fmt::Debug + Send {
    /// A packet arrives: it is kept, or given to [`Host::drop`]. Waiting packets may be dropped in its place.
    fn enqueue(&mut self, now: Time, item: Item, host: &mut dyn Host);

    /// The link is free: returns the packet that leaves, or `None` if none waits. May drop packets on the way to it.
    /// Also called right after a packet arrives that finds the link free.
    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item>;

    /// The clock has reached `now`, and nothing has happened since the last call. Called before every `enqueue` and
    /// `dequeue`. A queue with timers fires those that were due, in order, each at its own instant.
    fn advance(&mut self, _now: Time) {}

    /// From `now` on packets leave at another rate, which is not zero, as for
    /// [`Policy::on_rate`](crate::Policy::on_rate). Comes after `advance` to the same instant, and before any `enqueue`
    /// or `dequeue` at `now` or later.
    fn on_rate(&mut self, _now: Time, _rate: Rate) {}

    /// Do the priorities of packets matter here?
    fn heeds_priorities(&self) -> bool {
        false
    }

    /// May packets of one flow pass one another here, if their ECN fields are alike?
    fn reorders(&self) -> bool {
        false
    }

    /// Names the variables worth plotting.
    fn observe(&self, _probe: &mut dyn Probe) {}
}

/// The host that a queue works for, and what it provides.
pub trait Host {
    /// This packet, which has just arrived or is waiting, is dropped.
    fn drop(&mut self, item: Item);

    /// Writes the mark of RFC 3168 into a packet, both its [`Item`] and the packet itself. False, and without effect,
    /// if the packet cannot carry one.
    fn mark(&mut self, item: &mut Item) -> bool;

    /// The router header of a packet that has just arrived or is waiting, if routers assist its flow. `None` for
    /// acknowledgments, whose header is the echo of the opposite direction.
    fn header(&mut self, item: &Item) -> Option<&mut RouterHeader>;

    /// The random numbers of this queue.
    fn chance(&mut self) -> &mut dyn Rng;
}

/// A packet as a queue sees it. The packet itself stays with the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// The host's number for it: no two waiting packets share one.
    pub id: u32,
    /// Its flow, by a number that no other one between the same two hosts has. Packets of one connection going the same way
    /// share it and both hosts.
    pub flow: u32,
    /// The host that sent it.
    pub source: u32,
    /// The host it is for.
    pub destination: u32,
    /// The rank of its priority, 0 the highest.
    pub rank: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its size on the wire.
    pub bytes: Bytes,
    /// When it arrived at this queue.
    pub arrived: Time,
}

impl Item {
    /// How long it has been in this queue.
    pub fn sojourn(&self, now: Time) -> Span {
        now - self.arrived
    }
}
