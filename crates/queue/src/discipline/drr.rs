//! DRR: deficit round robin, equal bytes for every flow whatever the sizes of its packets.
//!
//! M. Shreedhar, G. Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995.
//!
//! # The problem
//!
//! Queues served in turn, a packet each, give a flow of large packets more than one of small packets. Fair queueing as
//! it was known before puts that right by sorting packets by the time at which a bit-by-bit round robin would finish
//! them, at a cost that grows with the number of flows.
//!
//! # The algorithm
//!
//! ```text
//!     arrival      into the queue of its flow; one that was empty goes to the end of the list of active queues
//!     buffer full  the longest queue loses the packet that came last
//!     a turn       D ← D + Q;  while the first packet is no larger than D:  it leaves,  D ← D - its size
//!                  queue empty:  D ← 0, off the list;  otherwise to the end of the list
//! ```
//!
//! What a queue could not use of its quantum Q, because the next packet is larger, it keeps as its deficit D for the
//! next turn. So after k turns a queue that always had packets has sent kQ bytes, less at most its largest packet.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `queues` | | 1024 | as for FQ-CoDel, RFC 8290, section 5.2.5 |
//! | `quantum` | Q | 1514 bytes | at least the largest packet, for constant work; Ethernet's, RFC 8290, section 5.2.4 |
//!
//! The rules of a turn were checked against RFC 8290, section 4, whose scheduler is built from them, and `tc-drr(8)`; the
//! text of the paper was not at hand.
//!
//! # Domain
//!
//! Any link and any packets. With a quantum below the largest packet the shares are the same, but a packet may take
//! several turns of doing nothing. There is no signal but loss: each flow fills its share of the buffer.
//!
//! # Deviations
//!
//! * One quantum for all; the paper can give each flow its own.
//! * Which packet a full buffer loses the paper takes from McKenney (buffer stealing): a packet of the longest queue,
//!   and here the last of it, since the first is the next to arrive where it is waited for. Lengths are counted as the
//!   buffer is.
//! * Of several queues that are the longest each loses in turn, by number, so that none suffers for its own. The source
//!   names no rule; ns-2 takes the first in the order of turns.
//! * A queue that a full buffer empties keeps its place in the list and loses its deficit. What comes for it before its turn
//!   waits for no more than that; if the turn has begun, for the next one.
//! * A flow is what the simulator calls one; two whose hashes meet share a queue.
//!
//! # What the paper promises
//!
//! * The turns of its example: with a quantum of 500 bytes, a queue of 200, 750 and 20 bytes sends the first, keeps 300
//!   and sends the others in the next turn (`the_example_of_the_paper`).
//! * Its turns, packet for packet (`drr_is_its_model`, in `tests/plain`).
//! * The bound above (`after_k_turns_each_has_sent_k_quanta`, both in `tests/drr.rs`).
//! * Equal shares against a flow that does not answer (`flows_share_equally`, in the tests of the simulator).

use longfat_units::Time;
use longfat_units::parameter::{Parameter, Settings};

use crate::flow_queue::{Hash, Lines, List, Lists, flow_key};
use crate::{Built, Discipline, Host, Item, PacketQueue, Probe, Site};

/// DRR's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("drr", |settings, site| Built::Own(Box::new(Drr::new(settings, site))))
        .title("deficit round robin: a queue for each flow, and equal bytes for each")
        .source("Shreedhar & Varghese 1995")
        .parameters([
            Parameter::count("queues", 1024, 1, 65_536, "queues that flows are put into by hash"),
            Parameter::count(
                "quantum",
                1514,
                64,
                1_000_000,
                "bytes that a queue may send in its turn (Q)",
            ),
        ])
}

/// The queue.
#[derive(Debug)]
struct Drr {
    hash: Hash,
    lines: Lines,
    lists: Lists,
    active: List,
    is_active: Vec<bool>,
    /// D
    deficits: Vec<u64>,
    /// Has the first queue of the list got its quantum for this turn?
    in_turn: bool,
    quantum: u64,
}

impl Drr {
    fn new(settings: &Settings, site: &Site) -> Self {
        let count = settings.number("queues") as usize;
        Self {
            hash: Hash::new(count as u64),
            lines: Lines::new(count, site.capacity),
            lists: Lists::new(count),
            active: List::default(),
            is_active: vec![false; count],
            deficits: vec![0; count],
            in_turn: false,
            quantum: settings.number("quantum") as u64,
        }
    }
}

impl PacketQueue for Drr {
    fn enqueue(&mut self, _: Time, item: Item, host: &mut dyn Host) {
        let queue = self.hash.queue(flow_key(&item), host);
        let deficits = &mut self.deficits;
        self.lines.push(queue, item, host, |emptied| deficits[emptied] = 0);
        if !std::mem::replace(&mut self.is_active[queue], true) {
            self.lists.append(&mut self.active, queue);
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut dyn Host) -> Option<Item> {
        loop {
            let queue = Lists::first(self.active)?;
            let deficit = &mut self.deficits[queue];
            if !std::mem::replace(&mut self.in_turn, true) {
                *deficit += self.quantum;
            }
            let size = self.lines.first(queue).map(|first| first.bytes.0);
            let mut sent = None;
            if let Some(size) = size.filter(|size| *size <= *deficit) {
                *deficit -= size;
                sent = self.lines.pop(queue);
            }
            let is_empty = self.lines.first(queue).is_none();
            if sent.is_none() || is_empty {
                self.lists.take(&mut self.active);
                self.in_turn = false;
            }
            if is_empty {
                *deficit = 0;
                self.is_active[queue] = false;
            } else if sent.is_none() {
                self.lists.append(&mut self.active, queue);
            }
            if sent.is_some() {
                return sent;
            }
        }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        let busy = self.is_active.iter().filter(|active| **active).count();
        probe.value("active_queues", busy as f64);
    }
}
