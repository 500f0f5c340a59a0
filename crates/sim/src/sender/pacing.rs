//! Pacing: it may delay what the window allows, but never adds to it.
//!
//! `Spread` and `Rate` space packets evenly, or with a send quantum in groups of several packets at the same mean rate,
//! as hosts do that hand more than a packet at a time to their interface (RFC 9002, section 7.7; `BBR.send_quantum`):
//!
//! ```text
//!     a group          Q packets, as many of them as the window allows at once and the others when it allows them
//!     the next begins  when its packets would have left one by one; with nothing saved up from before it began
//!     Q                as given, or what leaves in a given time, 2 packets or more but no more than 64 kB
//! ```
//!
//! `Blocks(k)` is the pacing of CW-HSTCP (Pan et al. 2006, figure 4), for windows that grow by more than a segment per
//! round trip: the window is cut into k blocks, sent RTT/k apart.
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
//! when the next acknowledgment arrives, the count allows it to send at once. So the next acknowledgment ends the wait;
//! only what the acknowledgment that completed a block would still have allowed is held back. (Acknowledgments of
//! the same instant count as one.) A block that began early ends when it would have ended: `time_0` of the figure. That
//! the delayed packet is then overtaken by later ones, as the figure has it to the letter, is left out: a receiver would
//! report it missing.

use longfat_control::Pacing;
use longfat_scenario::SendQuantum;
use longfat_units::{Span, Time};

/// The pacing of one sender. What packets that are not paced need comes last.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Pacer {
    quantum: Quantum,
    /// What the current block or group may still send; 0 if there is none.
    left: u64,
    /// When the next one may begin.
    next: Time,
    /// When the current wait began.
    since: Time,
    /// No packet leaves before this.
    until: Time,
    mode: Pacing,
}

/// How many packets leave together.
#[derive(Clone, Copy, Debug)]
enum Quantum {
    /// This many.
    Count(u64),
    /// What leaves in this time, but no more than so many.
    Time(Span, u64),
}

impl Quantum {
    /// Does each packet leave on its own?
    const fn is_one(self) -> bool {
        matches!(self, Self::Count(1))
    }

    /// The packets in a group if each takes `spacing`.
    fn packets(self, spacing: Span) -> u64 {
        match self {
            Self::Count(packets) => packets,
            Self::Time(time, most) => {
                (time.0 / spacing.0.max(1)).min(most).max(SendQuantum::SMALLEST)
            }
        }
    }
}

impl Pacer {
    /// For packets of so many bytes.
    pub(crate) fn new(quantum: Option<SendQuantum>, bytes: u32) -> Self {
        let quantum = match quantum {
            None => Quantum::Count(1),
            Some(SendQuantum::Packets(packets)) => Quantum::Count(packets),
            Some(SendQuantum::Time(time)) => {
                Quantum::Time(time, SendQuantum::LARGEST.0 / u64::from(bytes.max(1)))
            }
        };
        Self {
            mode: Pacing::Unpaced,
            quantum,
            until: Time::ZERO,
            left: 0,
            next: Time::ZERO,
            since: Time::ZERO,
        }
    }

    /// What it does now.
    #[inline]
    pub(crate) fn mode(&self) -> Pacing {
        self.mode
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

    /// An acknowledgment has arrived: it ends the wait for a loose block, unless the one that completed the last block
    /// arrived at the same instant.
    pub(crate) fn hear(&mut self, now: Time) {
        if self.is_loose() && now > self.since {
            self.until = Time::ZERO;
        }
    }

    /// Until when new data is held back.
    pub(crate) fn until(&self) -> Time {
        self.until
    }

    /// Does an acknowledgment end a wait?
    pub(crate) fn is_loose(&self) -> bool {
        matches!(self.mode, Pacing::LooseBlocks(_))
    }

    /// Does it let retransmissions leave while it holds back new data?
    pub(crate) fn spares_repairs(&self) -> bool {
        is_blocks(self.mode)
    }

    /// Switches to this pacing.
    pub(crate) fn set(&mut self, mode: Pacing) {
        let blocks = is_blocks(mode);
        if self.spares_repairs() && !blocks {
            self.cancel();
        } else if blocks && !self.spares_repairs() {
            self.left = 0;
            self.next = Time::ZERO;
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
    #[expect(clippy::inline_always, reason = "on the way of every packet that is paced")]
    #[inline(always)]
    pub(crate) fn leave(&mut self, now: Time, new: bool, window: f64, allowed: u64, rtt: Span) {
        match self.mode {
            Pacing::Unpaced => {}
            Pacing::Spread { gain } => {
                self.space(now, Span::from_seconds_f64(rtt.seconds() / (gain * window)));
            }
            Pacing::Rate(rate) => self.space(now, Span::from_seconds_f64(1.0 / rate)),
            Pacing::Blocks(blocks) | Pacing::LooseBlocks(blocks) => {
                if new {
                    self.take(now, u64::from(blocks).min(allowed).max(1), allowed, rtt);
                }
            }
        }
    }

    /// A packet leaves, and takes its share of the time until the next one.
    #[inline]
    fn space(&mut self, now: Time, spacing: Span) {
        if !self.quantum.is_one() {
            return self.space_group(now, spacing);
        }
        self.until = now.saturating_add(spacing);
    }

    /// The same if it leaves as part of a group.
    #[inline(never)]
    fn space_group(&mut self, now: Time, spacing: Span) {
        if self.left == 0 || self.next <= now {
            self.left = self.quantum.packets(spacing);
        }
        self.next = self.next.max(now).saturating_add(spacing);
        self.left -= 1;
        if self.left == 0 {
            self.until = self.next;
        }
    }

    /// A new segment leaves as part of a block.
    #[inline(never)]
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
