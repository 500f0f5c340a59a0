//! Blitz: whole files in prioritised bursts, and no window.
//!
//! H. Kim, D. J. Farber, "A new congestion control framework for large bandwidth-delay product networks",
//! University of Pennsylvania, 1995, section 2.1.
//!
//! The larger the bandwidth-delay product, the more files fit into one round trip, and for those no feedback comes in
//! time: a sender that probes for the rate of the path has finished before it finds it. Blitz is the opposite extreme,
//! made to see how much that costs. It sends everything at the rate of its own link, and leaves it to the switches
//! where the losses fall (`queue = "pushout"`):
//!
//! ```text
//!     at the start        burst ← 0, send 0, 1, 2, … at the access rate, without an end
//!     rank of segment n   n - burst                     0 is the highest priority; pushout discards the largest rank
//!     notice of a loss    burst ← the first segment not acknowledged; send burst, burst + 1, … again,
//!                         but not what is acknowledged meanwhile
//! ```
//!
//! So the priority of a stream falls while it lasts, and is the highest again after each loss: bursts that have lost
//! nothing make room for those that have just begun, and for short files.
//!
//! | parameter    | default | source |
//! |--------------|---------|--------|
//! | `duplicates` | 3       | not in the paper: like TCP of its time; 1 is as safe where no path reorders, and faster |
//! | `priorities` | true    | false: every packet has the highest priority, and any queue will do |
//!
//! What the paper leaves open, and what is done here:
//!
//! - *How a source learns of a loss.* By duplicate acknowledgments, with the retransmission timer as fallback; the
//!   timer alone, as before Tahoe, would take half a second and more for each loss, and could not give what the paper
//!   reports. Ranks make the end of a burst the first to be lost, and nothing follows the end of a file: short
//!   transfers that lose anything mostly wait for the timer all the same.
//! - *One restart per loss.* After a restart the packets sent before it, and copies of what had arrived, still cause
//!   duplicates. A duplicate counts only if the packet that caused it left, in the same burst, after the segment that
//!   it asks for: then that one is lost. Acknowledgments say when the packet that caused them left (RFC 7323), and the
//!   sender knows by when the first missing segment had left; where that is not exact it waits for later packets.
//!   Ignoring all duplicates until what was sent before the restart is acknowledged, as NewReno does, would leave a
//!   long burst to the timer: its second loss comes before that.
//! - *Receivers* keep what comes out of order, as TCP does, so the cumulative acknowledgment then jumps and the sender
//!   skips what has arrived. They send no selective blocks: the paper has cumulative acknowledgments only.
//! - *Everything from the lost packet on* goes again, whether it has arrived or not, unless it is acknowledged in
//!   time. These copies are load, and are not counted as goodput.
//! - *Marks.* Blitz could not react to one, so its data is not sent as ECN-capable.
//!
//! Needs: the rate of the sender's own link, `access`, and pacing at that rate; queues that respect priorities on the
//! path of the data. A flow's keys about windows and recovery mean nothing to it, except `max_window`: the window of
//! the receiver, which the paper takes to be large enough.
//!
//! Domain: any rate and size; ranks count up to 4 294 967 295 in one burst. The paper offers Blitz as a yardstick, not
//! for use.
//!
//! Promised, and held in `crates/sim/tests/blitz.rs`: an unloaded transfer takes D/2 + `F/BW_b` and one packet on each
//! of the two other hops; power at low load is λF/R₀; late short transfers lose almost nothing while a long burst
//! persists; a lone burst of 200 packets from 15 into 3 Mbit/s overflows a buffer of 112.

use longfat_units::parameter::{Parameter, Settings};

use crate::{Bursts, Controller, Family, Sending, Start};

/// Blitz's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("blitz", build)
        .title("Blitz: no window, whole files in prioritised bursts at the access rate")
        .source("Kim & Farber 1995")
        .family(Family::Unwindowed)
        .parameters([
            Parameter::count(
                "duplicates",
                3,
                1,
                1000,
                "duplicate acknowledgments that tell of a loss",
            ),
            Parameter::flag(
                "priorities",
                true,
                "packets carry their offset in the burst as priority",
            ),
        ])
}

/// Blitz remembers nothing of what happens: it answers everything with a new burst, so it does not control a window; it
/// is a way of sending.
fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Bursts(Bursts {
        duplicates: settings.number("duplicates") as u64,
        priorities: settings.flag("priorities"),
        rate: start.access,
    })
}
