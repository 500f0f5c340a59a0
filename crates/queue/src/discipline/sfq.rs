//! SFQ: stochastic fairness queueing, a packet from each conversation in turn, told apart by a hash that changes.
//!
//! P. E. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990; at length in Internetworking: Research and Experience
//! 2, 1991.
//!
//! # The problem
//!
//! Fair queueing protects conversations from those that send too much, but has to find the queue of each one, which
//! takes a table of all that there are. A hash finds a queue at once, and puts some conversations together, which then
//! share what one should get.
//!
//! # The algorithm
//!
//! ```text
//!     arrival      into queue number hash(conversation, salt)
//!     buffer full  the longest queue loses the packet that came last (buffer stealing)
//!     departure    a packet of each busy queue in turn
//!     now and then the salt changes, so that nobody shares for long
//! ```
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `queues` | | 1024 | `tc-sfq(8)`, `divisor`; the paper: a few times as many as there are conversations |
//! | `perturb` | | 10 s | ours, as in the examples of `tc-drr(8)`; `tc-sfq(8)` never changes the salt unless told to, and advises 60 s; 0 s never changes it |
//! | `by` | | flow | `tc-sfq(8)`; the paper: pairs of addresses, `"hosts"` |
//!
//! The packet that a full buffer loses was checked against that manual page too; the text of the paper was not at hand.
//!
//! # Domain
//!
//! Any link. Shares are equal in packets, not in bytes: DRR was made to mend that. Where conversations meet, they share
//! until the salt changes. There is no signal but loss: each queue fills its share of the buffer.
//!
//! # Deviations
//!
//! * The paper's conversation is a pair of addresses. Here it is a flow unless `by` says otherwise, since all flows of
//!   a group travel between the same two hosts.
//! * A turn is a packet, as in the paper. That of Linux is a quantum of bytes, that of a full packet by default, so flows
//!   with small packets get as many bytes as others there. With packets of 1500 and 300 bytes two flows share 20 Mbit/s as
//!   16.6 and 3.3 here, and `drr`, which has a quantum, gives 10 to each.
//! * When the salt changes, packets that wait stay where they are, as the paper allows: those behind them in the same
//!   flow may pass them. Linux moves them to their new queues since 3.3, and drops those that find no place.
//! * The last packet of the longest queue is lost. Lengths are counted as the buffer is.
//! * Of several queues that are the longest each loses in turn, by number. Linux (`sch_sfq`) takes the one that was the last
//!   to come to that length, or if all are a packet long the one whose turn is next. Tried here, the former has flows that
//!   are in step lose in step, as in one queue: with 150 Reno flows on 60 packets of buffer Jain's index was 0.70, and is
//!   0.97 to 0.98 (five seeds at 20 Mbit/s and 20 ms).
//! * A queue that a full buffer empties keeps its place in the order of turns for what comes before it is reached.
//! * The deployed limit of 127 packets to a queue is not in: the buffer is the limit.
//!
//! # What the paper promises
//!
//! * The order of packets, and which a full buffer loses, worked out by hand (`tests/sfq.rs`), and those of any packets
//!   (`sfq_is_its_model`, in `tests/plain`).
//! * Conversations that share a queue do not do so after a change of the salt (`a_change_of_the_salt_parts_them`,
//!   there; `no_flow_suffers_for_long`, in the tests of the simulator).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Span, Time};

use crate::flow_queue::{Hash, Lines, List, Lists, flow_key, hosts_key};
use crate::{Built, Clock, Discipline, Host, Item, PacketQueue, Probe, Site};

/// SFQ's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("sfq", |settings, site| Built::Own(Box::new(Sfq::new(settings, site))))
        .title("stochastic fairness queueing: a packet from each queue in turn, flows told apart by hash")
        .source("McKenney 1990")
        .parameters([
            Parameter::count("queues", 1024, 1, 65_536, "queues that flows are put into by hash"),
            Parameter::span("perturb", "10 s", "how often the hash changes; 0 s: never"),
            Parameter::word(
                "by",
                "flow",
                ["flow", "hosts"],
                "what has a queue of its own: each flow, or each pair of hosts",
            ),
        ])
}

/// The queue.
#[derive(Debug)]
struct Sfq {
    hash: Hash,
    clock: Clock,
    lines: Lines,
    lists: Lists,
    active: List,
    is_active: Vec<bool>,
    key: fn(&Item) -> u64,
}

impl Sfq {
    fn new(settings: &Settings, site: &Site) -> Self {
        let count = settings.number("queues") as usize;
        let perturb = Some(settings.span("perturb")).filter(|span| *span > Span::ZERO);
        Self {
            hash: Hash::new(count as u64),
            clock: Clock::new(perturb),
            lines: Lines::new(count, site.capacity),
            lists: Lists::new(count),
            active: List::default(),
            is_active: vec![false; count],
            key: if settings.word("by") == "hosts" { hosts_key } else { flow_key },
        }
    }
}

impl PacketQueue for Sfq {
    fn enqueue(&mut self, _: Time, item: Item, host: &mut dyn Host) {
        let queue = self.hash.queue((self.key)(&item), host);
        self.lines.push(queue, item, host, |_| {});
        if !std::mem::replace(&mut self.is_active[queue], true) {
            self.lists.append(&mut self.active, queue);
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut dyn Host) -> Option<Item> {
        loop {
            let queue = self.lists.take(&mut self.active)?;
            let sent = self.lines.pop(queue);
            if self.lines.first(queue).is_some() {
                self.lists.append(&mut self.active, queue);
            } else {
                self.is_active[queue] = false;
            }
            if sent.is_some() {
                return sent;
            }
        }
    }

    fn advance(&mut self, now: Time) {
        if self.clock.take_due(now) > 0 {
            self.hash.change();
        }
    }

    fn reorders(&self) -> bool {
        self.clock.period() > Span::ZERO
    }

    fn observe(&self, probe: &mut dyn Probe) {
        let busy = self.is_active.iter().filter(|active| **active).count();
        probe.value("active_queues", busy as f64);
    }
}
