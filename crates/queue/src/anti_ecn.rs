//! AntiECN: a link that says when it has capacity to spare.
//!
//! S. S. Kunniyur, "AntiECN Marking: A Marking Scheme for High Bandwidth Delay Connections", ICC 2003.
//!
//! # The problem
//!
//! A Reno flow on a long fat path needs thousands of round trips to fill it, one segment in each, because it can hear
//! only of congestion and never of its absence. A drop or an ECN mark says "too much". AntiECN is the opposite, one bit
//! in each packet: "there is capacity to spare".
//!
//! # The algorithm
//!
//! A link with AntiECN lets every arrival also enter a virtual queue, drained at a share η of the capacity C. A packet
//! that finds it empty finds spare capacity. When b bytes arrive at t, and the previous arrival was at s:
//!
//! ```text
//!     VQ ← max(VQ - η C (t - s), 0)
//!     spare = (VQ = 0)
//!     if VQ + b ≤ B    VQ ← VQ + b
//! ```
//!
//! The bit on its way: the sender sets it, each link with AntiECN clears it unless it has capacity to spare, and the
//! receiver returns it with the acknowledgment. The sender heeds it only if every link of the path is known to take
//! part, as a field in the first packet shows (AECN-SYN: a second hop count that only such links lower). What the
//! sender does with it is in the controller `anti-ecn`.
//!
//! The marker sits beside the queue of the link, whatever its discipline, makes no decision about packets and draws no
//! random numbers. All arrivals count, acknowledgments too, even those that the queue drops. Where the rate of the link
//! changes, C is the new one from then on, and what is in the virtual queue stays; behind a shaper C is what that lets
//! through, if it is less.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `threshold` | η | 0.5 | 2003: 0.4 to 0.75, and 0.5 where it is not varied |
//! | `buffer` | B | 1 bdp | 2003: the bandwidth-delay product; less in Experiment 2 |
//! | `mode` | | and | see below |
//!
//! # Domain
//!
//! What "empty" means depends on how packets arrive. Evenly spaced, all of them find the queue empty below η C and none
//! above. A window sent as one train at the rate of the link fills the virtual queue with its second packet, and only
//! the first packet of each round trip finds spare capacity. So a window that grows by a segment for each such packet
//! doubles its slope with trains, and doubles itself with spaced packets.
//!
//! For a lone flow in trains on a link of bandwidth-delay product P, the last spare capacity is found at the window
//!
//! ```text
//!     W* = max(η P, P - B/η)
//! ```
//!
//! below the first term the queue drains what a train brings; below the second it drains a full B in the gap between
//! trains.
//!
//! # Deviations
//!
//! * The paper introduces B, varies it in Experiment 2 and does not use it in its listing, by which the virtual queue
//!   would grow without bound while the load is above η C. Here B caps it as in AVQ, from which the listing derives:
//!   what does not fit is not added. `buffer = "unlimited"` is the listing to the letter.
//! * The paper has the bit start at zero, has each router set it or clear it, and calls the result an AND. Taken
//!   literally, the last router decides, or no bit ever arrives. `mode = "and"` is what the paper means: the bit starts
//!   at one and is only ever cleared. `mode = "overwrite"` is what the paper says; the two are the same on one link.
//! * Empty is 10⁻⁹ of the packet or less: the rest is rounding.
//!
//! # What the paper promises
//!
//! * A packet that finds the virtual queue empty is told so, and no other packet is (`a_trace_worked_out_by_hand`).
//! * Below the threshold the link speaks; above, it is silent and TCP is unchanged. Tested in the simulator:
//!   `the_slope_is_two_below_the_threshold_and_one_above` for trains, `spaced_packets_double_the_window` for others.

use longfat_units::{Bytes, Rate, Time};

/// A virtual queue is empty up to this share of the packet that asks.
const ROUNDING: f64 = 1e-9;

/// The virtual queue of one direction of a link. Lengths are in bytes, rates in bytes per second.
#[derive(Clone, Debug)]
pub struct AntiEcnQueue {
    /// VQ
    queue: f64,
    /// s
    last: Time,
    /// η
    threshold: f64,
    /// η C
    capacity: f64,
    /// B
    limit: f64,
}

impl AntiEcnQueue {
    /// A virtual queue that is drained at the share `threshold` of `rate` and holds `limit` bytes, which may be
    /// infinite.
    pub fn new(rate: Rate, threshold: f64, limit: f64) -> Self {
        let capacity = Self::share(threshold, rate);
        Self { queue: 0.0, last: Time::ZERO, threshold, capacity, limit }
    }

    /// This share of a rate.
    fn share(threshold: f64, rate: Rate) -> f64 {
        threshold * rate.0 as f64 / 8.0
    }

    /// The link has this rate from `now` on.
    pub fn on_rate(&mut self, now: Time, rate: Rate) {
        self.pass(now);
        self.capacity = Self::share(self.threshold, rate);
    }

    /// Drains it up to `now`.
    #[inline]
    fn pass(&mut self, now: Time) {
        let drained = self.capacity * now.since(self.last).seconds();
        self.last = now;
        self.queue = (self.queue - drained).max(0.0);
    }

    /// A packet of `bytes` arrives. Is there capacity to spare?
    #[inline]
    pub fn has_spare_capacity(&mut self, now: Time, bytes: Bytes) -> bool {
        self.pass(now);
        let bytes = bytes.0 as f64;
        let spare = self.queue <= ROUNDING * bytes;
        if self.queue + bytes <= self.limit {
            self.queue += bytes;
        }
        spare
    }

    /// What is in the virtual queue after the last arrival, in bytes.
    pub fn backlog(&self) -> f64 {
        self.queue
    }
}
