//! Pacing: it may hold back what the window allows, and never adds to it.
//!
//! `Spread` and `Rate` keep an even distance between packets. `Blocks(k)` is that of CW-HSTCP (Pan et al. 2006,
//! figure 4), for windows that grow by more than a segment per round trip: the window is cut into k blocks, and one
//! follows the other a k-th of a round trip later.
//!
//! ```text
//!     a block          ⌈w/k⌉ new segments, or fewer segments than k: one each
//!     the next begins  RTT/k after the first segment of this one has left, or at once if that is past
//! ```
//!
//! A block takes no credit from the one before: where the window, and not the pacing, holds the sender back, the
//! block goes on when the window allows. Retransmissions are not held back and belong to no block. A congestion event
//! or a time-out ends the block and the waiting. The figure's own count lets two segments more into a block; that is
//! left out. There are no blocks in slow start, where the figure's k is not known yet.

use longfat_control::Pacing;
use longfat_units::{Span, Time};

/// The pacing of one sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    mode: Pacing,
    /// No packet leaves before.
    until: Time,
    /// New segments that the block under way may still take; none where none is under way.
    left: u64,
    /// When the next block may begin.
    next: Time,
}

impl Pacer {
    pub(crate) const fn new() -> Self {
        Self { mode: Pacing::Unpaced, until: Time::ZERO, left: 0, next: Time::ZERO }
    }

    /// Is there anything to do when a packet leaves?
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.mode, Pacing::Unpaced)
    }

    /// Does it hold back new data now?
    #[inline]
    pub(crate) fn holds(&self, now: Time) -> bool {
        now < self.until
    }

    /// Until when it holds back.
    pub(crate) fn until(&self) -> Time {
        self.until
    }

    /// Does it let retransmissions go while it holds back new data?
    pub(crate) fn spares_repairs(&self) -> bool {
        matches!(self.mode, Pacing::Blocks(_))
    }

    /// From now on it works like this.
    pub(crate) fn set(&mut self, mode: Pacing) {
        if self.spares_repairs() && !matches!(mode, Pacing::Blocks(_)) {
            self.cancel();
        }
        self.mode = mode;
    }

    /// Congestion: a block ends, and what waits for the next one need not.
    pub(crate) fn congestion(&mut self) {
        if self.spares_repairs() {
            self.cancel();
        }
    }

    /// Nothing waits any more.
    pub(crate) fn cancel(&mut self) {
        self.until = Time::ZERO;
        self.left = 0;
    }

    /// A packet leaves now, from a window of `window` segments of which whole ones `allowed` may be in flight.
    pub(crate) fn leave(&mut self, now: Time, new: bool, window: f64, allowed: u64, rtt: Span) {
        match self.mode {
            Pacing::Unpaced => {}
            Pacing::Spread { gain } => {
                let spacing = Span::from_seconds_f64(rtt.seconds() / (gain * window));
                self.until = self.until.max(now).saturating_add(spacing);
            }
            Pacing::Rate(rate) => {
                let spacing = Span::from_seconds_f64(1.0 / rate);
                self.until = self.until.max(now).saturating_add(spacing);
            }
            Pacing::Blocks(blocks) => {
                if new {
                    self.take(now, u64::from(blocks).min(allowed).max(1), allowed, rtt);
                }
            }
        }
    }

    /// A new segment leaves as part of a block.
    fn take(&mut self, now: Time, blocks: u64, allowed: u64, rtt: Span) {
        if self.left == 0 {
            self.left = allowed.div_ceil(blocks);
            self.next = now.saturating_add(rtt / blocks);
        }
        self.left -= 1;
        if self.left == 0 {
            self.until = self.next;
        }
    }
}
