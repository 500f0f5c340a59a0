//! How far a window may grow while something else than the window bounds what is in flight.
//!
//! M. Welzl, T. Henderson, G. Fairhurst, M. P. Tahiliani, "Increase of the Congestion Window when the Sender Is
//! Rate-Limited", draft-ietf-ccwg-ratelimited-increase-10, section 3:
//!
//! ```text
//!     at the start                   maxFS ← IW
//!     at a departure                 maxFS ← max(FlightSize, maxFS)
//!     when the window has fallen     maxFS ← 0, then the next FlightSize
//!     acknowledged, FlightSize < w   w ← min(w + what the controller adds, limit(maxFS))
//!     limit(m)                       what the controller makes of a window of m when all of it is acknowledged:
//!                                    2 m in slow start, m + 1 in Reno's congestion avoidance
//! ```
//!
//! Without this a window does not grow at all on such an acknowledgment (RFC 9002, section 7.8; RFC 9260, section 7.2.1;
//! RFC 9438, section 5.8), so this only ever lets more through. A window that has been full until the acknowledgment
//! arrived, or that pacing holds back, grows as always: the first has been used, and pacing is part of the controller
//! (section 3.3.2).
//!
//! How the draft is read where it leaves a choice:
//! - The rule bounds growth, and takes nothing: where the limit lies below the window, as where slow start ends at a window
//!   of 2 m, or after a reduction with little in flight, the window is kept. To the letter ("MUST cap cwnd") it would be cut
//!   to m + 1 there, by an acknowledgment and without congestion; to reduce what is not used section 3 leaves to RFC 7661.
//! - `FlightSize` is what counts against the window: with selective acknowledgments or numbered packets what is in flight
//!   (RFC 6675, pipe; RFC 9002, bytes in flight), since that is what leaves a part of it unused.
//! - A reduction that proves needless and is undone has been one, and maxFS starts again.
//! - The limit is that of the state before the acknowledgment, which is the one that added to the window.

use longfat_units::Segments;

/// How one flow bounds the growth of a window that is not full.
#[derive(Debug)]
pub(super) struct Increase {
    /// maxFS, in segments.
    most: f64,
    /// The window when it was last looked at.
    window: f64,
    /// Where growth ends on the acknowledgment that is being handled.
    bound: Option<f64>,
}

impl Increase {
    /// For a flow with this initial window.
    pub(super) fn new(initial: f64) -> Self {
        Self { most: initial, window: initial, bound: None }
    }

    /// The window is this, and so many segments are in flight.
    pub(super) fn see(&mut self, window: f64, in_flight: u64) {
        if window < self.window {
            self.most = 0.0;
        }
        self.window = window;
        self.most = self.most.max(in_flight as f64);
    }

    /// maxFS
    pub(super) fn most_in_flight(&self) -> Segments {
        Segments(self.most)
    }

    /// An acknowledgment finds this window not full, and the controller names its limit(maxFS), if it has one. May the
    /// window grow?
    pub(super) fn may_grow(&mut self, window: f64, limit: Option<Segments>) -> bool {
        self.bound = limit.map(|limit| limit.0).filter(|&limit| window < limit);
        self.bound.is_some()
    }

    /// The controller has been told, and has this window now. Returns the one to go back to, if that is too much.
    pub(super) fn excess(&mut self, window: f64) -> Option<f64> {
        self.bound.take().filter(|&bound| window > bound)
    }
}
