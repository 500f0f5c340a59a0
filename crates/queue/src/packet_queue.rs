//! A queue that owns its packets: what a host tells it, and what it answers.
//!
//! A [`Policy`](crate::Policy) decides on arrival and leaves the order to a first-in-first-out queue, so a host knows
//! every departure in advance and need not ask again. Whatever decides later, looks at how long packets have waited,
//! drops what waits already or serves in an order of its own is a [`PacketQueue`]. A host asks it for each packet when the
//! link is free.

use std::fmt;

use longfat_units::{Bytes, Ecn, RouterHeader, Span, Time};
use rand_core::Rng;

use crate::Probe;

/// A queue that owns its packets. It keeps within the capacity of its [`Site`](crate::Site), in which the packet in
/// service has no part, and never idles: as long as a packet waits, one is given.
pub trait PacketQueue: fmt::Debug + Send {
    /// A packet arrives: it is kept, or given to [`Host::drop`]. Packets that wait may be dropped in its place.
    fn enqueue(&mut self, now: Time, item: Item, host: &mut dyn Host);

    /// The link is free: the packet that leaves, or `None` if none waits. Packets may be dropped on the way to it.
    /// Also asked right after the arrival of a packet that finds the link free.
    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item>;

    /// The clock has come to `now`, and nothing has happened since the last call. Comes before every `enqueue` and
    /// `dequeue`. A queue with timers lets those that were due run out, in order, each at its own instant.
    fn advance(&mut self, _now: Time) {}

    /// Do the priorities of packets matter here?
    fn heeds_priorities(&self) -> bool {
        false
    }

    /// Names the variables worth plotting.
    fn observe(&self, _probe: &mut dyn Probe) {}
}

/// Whoever a queue works for, and what is to be had there.
pub trait Host {
    /// This packet, which has just arrived or waits, is no more.
    fn drop(&mut self, item: Item);

    /// Writes the mark of RFC 3168 into a packet, both its [`Item`] and the packet itself. False if it cannot carry one;
    /// then nothing happens.
    fn mark(&mut self, item: &mut Item) -> bool;

    /// The header for routers of a packet that has just arrived or waits, if its flow is assisted by routers. Nothing for
    /// acknowledgments, whose header is the echo of another way.
    fn header(&mut self, item: &Item) -> Option<&mut RouterHeader>;

    /// The random numbers of this queue.
    fn chance(&mut self) -> &mut dyn Rng;
}

/// A packet as a queue sees it. The packet itself stays with the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// What the host calls it: no two packets that wait share a number.
    pub id: u32,
    /// Its flow. Packets of a connection that go the same way have this number and both hosts in common.
    pub flow: u32,
    /// The host that has sent it.
    pub source: u32,
    /// The host that it is for.
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
