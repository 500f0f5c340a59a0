//! Pacing: it may delay what the window allows, but never adds to it.
//!
//! `Spread` and `Rate` space packets evenly. `Blocks(k)` is the pacing of CW-HSTCP (Pan et al. 2006, figure 4), for
//! windows that grow by more than a segment per round trip: the window is cut into k blocks, sent RTT/k apart.
//!
//! ```text
//!     a block          ⌈w/k⌉ new segments, or fewer segments than k: one each
//!     the next begins  RTT/k after the first segment of this one has left, or at once if that is past
//! ```
//!
//! A block inherits no credit from the one before: where the window, not pacing, holds the sender back, the block
//! continues when the window allows. Retransmissions are not held back and belong to no block. A congestion event or a
//! time-out ends the block and releases the sender. The figure's own count admits two more segments to a block; that is
//! left out. There are no blocks in slow start, where the figure's k is not yet known.
//!
//! `LooseBlocks(k)` is the figure read another way. It delays one call, `output(delay)`, and counts from zero after it:
//! when the next acknowledgment arrives, the count allows it to send at once. So whatever wakes the sender ends the
//! wait; only what the acknowledgment that completed a block would still have allowed is held back. (Acknowledgments of
//! the same instant count as one.) A block that began early ends when it would have ended: `time_0` of the figure. That
//! the delayed packet is then overtaken by later ones, as the figure has it to the letter, is left out: a receiver would
//! report it missing.

use longfat_control::Pacing;
use longfat_units::{Span, Time};

/// The pacing of one sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    mode: Pacing,
    /// No packet leaves before this.
    until: Time,
    /// New segments that the current block may still send; 0 if there is no current block.
    left: u64,
    /// When the next block may begin.
    next: Time,
    /// When the current wait began.
    since: Time,
}

impl Pacer {
    pub(crate) const fn new() -> Self {
        Self {
            mode: Pacing::Unpaced,
            until: Time::ZERO,
            left: 0,
            next: Time::ZERO,
            since: Time::ZERO,
        }
    }

    /// Is there anything to do when a packet leaves?
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.mode, Pacing::Unpaced)
    }

    /// Does it hold back new data now?
    #[inline]
    pub(crate) fn holds(&self, now: Time) -> bool {
        now < self.until && !self.is_let_go(now)
    }

    /// Has something woken the sender while loose blocks held it back?
    #[cold]
    fn is_let_go(&self, now: Time) -> bool {
        matches!(self.mode, Pacing::LooseBlocks(_)) && now > self.since
    }

    /// Until when new data is held back.
    pub(crate) fn until(&self) -> Time {
        self.until
    }

    /// Does it let retransmissions leave while it holds back new data?
    pub(crate) fn spares_repairs(&self) -> bool {
        is_blocks(self.mode)
    }

    /// Switches to this pacing.
    pub(crate) fn set(&mut self, mode: Pacing) {
        if self.spares_repairs() && !is_blocks(mode) {
            self.cancel();
        }
        self.mode = mode;
    }

    /// Congestion: ends the block, and lets the next one begin at once.
    pub(crate) fn congestion(&mut self) {
        if self.spares_repairs() {
            self.cancel();
        }
    }

    /// Ends the block and holds nothing back.
    pub(crate) fn cancel(&mut self) {
        self.until = Time::ZERO;
        self.next = Time::ZERO;
        self.left = 0;
    }

    /// A packet leaves now, from a window of `window` segments, of which `allowed` whole ones may be in flight.
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
            Pacing::Blocks(blocks) | Pacing::LooseBlocks(blocks) => {
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
            let loose = matches!(self.mode, Pacing::LooseBlocks(_));
            let begins = if loose { now.max(self.next) } else { now };
            self.next = begins.saturating_add(rtt / blocks);
        }
        self.left -= 1;
        if self.left == 0 {
            self.until = self.next;
            self.since = now;
        }
    }
}

fn is_blocks(mode: Pacing) -> bool {
    matches!(mode, Pacing::Blocks(_) | Pacing::LooseBlocks(_))
}
