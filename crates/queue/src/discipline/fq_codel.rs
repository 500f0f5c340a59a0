//! FQ-CoDel: a queue for each flow, each with a CoDel of its own, and a short way for flows that send little.
//!
//! T. Høiland-Jørgensen, P. McKenney, D. Täht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet Scheduler and Active
//! Queue Management Algorithm", RFC 8290, 2018; its scheduler after M. Shreedhar, G. Varghese, "Efficient Fair Queueing
//! using Deficit Round Robin", SIGCOMM 1995, and CoDel after RFC 8289.
//!
//! # The problem
//!
//! In one queue every flow waits behind all the others, and one that answers neither drops nor marks takes whatever it
//! sends. A queue for each flow, served in turn, gives each its share whatever the others do; but a flow in a queue of
//! its own still fills that, and a name look-up still waits for a turn of everybody else.
//!
//! # The algorithm
//!
//! A hash puts each flow into one of many queues, whose first packets CoDel drops or marks. There are two lists of
//! queues with a turn coming, *new* and *old*:
//!
//! ```text
//!     arrival      into its queue; a queue in neither list goes to the end of new, with a credit of one quantum
//!     buffer full  the longest queue in bytes loses half its packets, at most 64, the oldest first
//!     departure    the first queue of new, or of old if new is empty:
//!                      no credit left:  a quantum more, and to the end of old
//!                      CoDel yields a packet: its size is taken off the credit, and it leaves
//!                      nothing there:  from new to the end of old; from old into neither
//! ```
//!
//! A flow whose packets, or bursts of less than a quantum, come further apart than a turn of all the others is always new,
//! and never waits for more than the other new ones. That an empty queue has to pass through old keeps it from being new so
//! often that the old ones starve; what comes for it meanwhile waits for their turns, however little it is: beside ten
//! CUBIC flows at 10 Mbit/s and 20 to 100 ms, whose turns take 12 ms, packets of 200 bytes wait 0.8 to 0.9 ms on average if
//! they come every 20 ms, and 3.2 to 3.3 ms if they come every 5 ms.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `queues` | flows | 1024 | RFC 8290, section 5.2.5 |
//! | `quantum` | quantum | 1514 bytes | section 5.2.4 |
//! | `target` | target | 5 ms | section 5.2.2, RFC 8289 |
//! | `interval` | interval | 100 ms | section 5.2.1, RFC 8289 |
//! | `ecn` | | true | section 5.2.6; `false` drops |
//!
//! The limit of 10240 packets (section 5.2.3) is the `buffer` of the link: `buffer = "10240 packets"`.
//!
//! # Domain
//!
//! Links of any rate, as for CoDel: below a few Mbit/s the target should be at least the time of a packet (section
//! 5.2.2). The limit of the RFC suits links of up to 10 Gbit/s: at 100 Gbit/s it is 1.2 ms of packets of 1500 bytes,
//! less than the target, so that CoDel never acts. Two flows whose hashes meet share one queue: with 100 flows in 1024
//! queues that happens to 9 in 100 (section 5.3).
//!
//! Work per packet does not depend on the number of queues, the rate or the window
//! (`work_per_packet_does_not_depend_on_the_number_of_queues`, in `flow_queue.rs`): with eight Reno flows, callgrind
//! counts 3311 instructions for a data packet and its acknowledgment at 100 Gbit/s over 16 queues and 3309 over 1024,
//! 3398 and 3421 at 10 Mbit/s, where CoDel alone takes 2608. Once the buffer has been full, a
//! packet costs up to the logarithm of the number of queues, to know which is the longest.
//!
//! # Deviations
//!
//! * A flow is what the simulator calls one, not a hash of addresses and ports: only its place in the queues is by
//!   hash. The salt of the hash is drawn from the random numbers of the queue.
//! * Of several queues that are the longest, which the RFC leaves open, each loses in turn, by number. Linux takes the first
//!   by number each time: with 150 Reno flows on 60 packets of buffer at 20 Mbit/s 39 of them then have less than a tenth of
//!   their share, and at most one here, of those that share a queue with another (Jain's index 0.67, and 0.96 to 0.98 with
//!   five seeds at 20 ms).
//! * CoDel drops nothing as long as no more than one packet waits behind (RFC 8289), here in its own queue. Linux looks at the
//!   backlog of all queues, so that CoDel acts where very many flows have a packet or two each; here these wait.
//! * An overflow takes half of the packets of the longest queue and leaves CoDel's count alone; Linux takes half of its bytes and
//!   raises the count.
//! * A packet that finds the link free is sent at once, as everywhere here, and is charged to its queue like any other.
//! * The threshold for data centres, `ce_threshold`, off by default, is not in.
//!
//! # What the RFC promises
//!
//! * The order of packets, and which a full buffer loses, worked out by hand (`tests/fq_codel.rs`), and those of any packets,
//!   with CoDel's drops and marks (`fq_codel_is_its_model`, in `tests/plain`).
//! * Flows get equal shares whatever their round trips and controllers, and one that does not answer gets no more than
//!   its own (`flows_share_equally`); each waits for CoDel's target, and a flow that sends little for next to nothing
//!   (`a_sparse_flow_does_not_wait`, both in the tests of the simulator).
//! * Of 100 flows in 1024 queues 90.78 % are alone in theirs, with a hash as good as chance: 95.3 queues are busy then
//!   (`flows_are_spread_evenly`, in `tests/fq_codel.rs`).

use longfat_units::Time;
use longfat_units::parameter::{Parameter, Settings};

use super::codel::check;
use crate::flow_queue::{Codels, Hash, SparseFirst, flow_key};
use crate::{Built, Discipline, Host, Item, PacketQueue, Probe, Site};

/// FQ-CoDel's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("fq-codel", |settings, site| Built::Own(Box::new(FqCodel::new(settings, site))))
        .title("a queue with a CoDel for each flow; flows that send little go first")
        .source("RFC 8290, Høiland-Jørgensen, McKenney, Täht, Gettys & Dumazet 2018")
        .parameters([
            Parameter::count("queues", 1024, 1, 65_536, "queues that flows are put into by hash"),
            Parameter::count(
                "quantum",
                1514,
                64,
                1_000_000,
                "bytes that a queue may send in its turn",
            ),
            Parameter::span("target", "5 ms", "CoDel's, in each queue (target)"),
            Parameter::span("interval", "100 ms", "CoDel's, in each queue (interval)"),
            Parameter::flag(
                "ecn",
                true,
                "marks packets that can be marked instead of dropping them",
            ),
        ])
        .check(check)
}

/// A full buffer loses so many packets at once, if half of the longest queue has them.
const MOST_AT_ONCE: u64 = 64;

/// The queue.
#[derive(Debug)]
struct FqCodel {
    hash: Hash,
    queues: Codels,
    turns: SparseFirst,
    quantum: i64,
}

impl FqCodel {
    fn new(settings: &Settings, site: &Site) -> Self {
        let count = settings.number("queues") as usize;
        Self {
            hash: Hash::new(count as u64),
            queues: Codels::new(settings, site, count),
            turns: SparseFirst::new(count),
            quantum: settings.number("quantum") as i64,
        }
    }
}

impl PacketQueue for FqCodel {
    fn enqueue(&mut self, now: Time, item: Item, host: &mut dyn Host) {
        let queue = self.hash.queue(flow_key(&item), host);
        self.queues.push(now, queue, item, host);
        self.turns.wake(queue, self.quantum);
        self.queues.fit(MOST_AT_ONCE, host);
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item> {
        loop {
            let turn = self.turns.turn(|_| self.quantum)?;
            if let Some(item) = self.queues.pop(now, turn.queue, host) {
                self.turns.charge(turn, item.bytes.0.cast_signed());
                return Some(item);
            }
            self.turns.pass(turn);
        }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("active_queues", self.turns.active() as f64);
    }
}
