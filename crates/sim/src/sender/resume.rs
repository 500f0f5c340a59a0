//! Careful resume: a flow that begins with what an earlier one has learned of the path (RFC 9959).
//!
//! ```text
//!     reconnaissance  as usual, until the initial window is acknowledged. If there was no congestion, if the round trip
//!                     is between 1/2 and 10 times the saved one, and if there is more to send than the window allows:
//!     unvalidated     w ← saved window/2, sent evenly over a round trip, until its first segment is acknowledged,
//!                     a round trip is over or the window is full; then w ← flight, or if that is no more than what
//!                     the path has been seen to carry (PipeSize), w ← PipeSize and all is as usual
//!     validating      w grows as usual, until the last unvalidated segment is acknowledged
//!     safe retreat    after congestion in either of these: w ← PipeSize/2, without growth until then, and slow start
//!                     up to PipeSize afterwards
//! ```
//!
//! `PipeSize` is what was in flight when the window jumped, and what has been acknowledged since.
//!
//! Differences from the RFC:
//! - Acknowledged means acknowledged in order, also for a transport that numbers its packets.
//! - The saved window and round trip come from the scenario. Whether they are still recent (sections 3 and 4) is for
//!   whoever writes it to say.

use longfat_control::Pacing;
use longfat_scenario::SavedPath;
use longfat_units::{Segments, Span, Time};

use super::validation::Resized;

/// Beta: the share of what the path carried that is left after congestion.
const BETA: f64 = 0.5;
/// The share of the saved window that a flow jumps to.
const JUMP: f64 = 0.5;
/// The smallest window after congestion.
const FLOOR: f64 = 2.0;

/// How far one flow has got with it.
#[derive(Debug)]
pub(super) struct Resume {
    saved: SavedPath,
    /// The initial window, in segments.
    initial: u64,
    phase: Phase,
    /// `PipeSize`
    carried: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reconnaissance,
    /// The first unvalidated segment, and when a round trip is over.
    Unvalidated {
        first: u64,
        over: Time,
    },
    /// The last one of them.
    Validating {
        last: u64,
    },
    SafeRetreat {
        last: u64,
    },
    Normal,
}

/// What the sender knows when an acknowledgment has been taken in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) now: Time,
    /// Segments that it reports for the first time.
    pub(super) delivered: u64,
    pub(super) unacknowledged: u64,
    pub(super) next: u64,
    pub(super) in_flight: u64,
    pub(super) window: f64,
    /// Is the window what keeps more from being in flight?
    pub(super) wants_more: bool,
    /// Smoothed round trip.
    pub(super) rtt: Span,
}

impl Resume {
    /// For a flow with this initial window.
    pub(super) fn new(saved: SavedPath, initial: f64) -> Self {
        Self { saved, initial: initial as u64, phase: Phase::Reconnaissance, carried: 0 }
    }

    /// An acknowledgment without congestion has arrived. Returns the window that this calls for, if it is another one.
    pub(super) fn on_ack(&mut self, arrival: &Arrival) -> Option<Resized> {
        let &Arrival { now, unacknowledged, next, in_flight, window, rtt, .. } = arrival;
        self.carried += arrival.delivered;
        match self.phase {
            Phase::Reconnaissance if unacknowledged >= self.initial && arrival.wants_more => {
                let jump = self.saved.window * JUMP;
                let familiar = rtt > self.saved.rtt / 2 && rtt < self.saved.rtt * 10;
                if !familiar || jump <= window {
                    self.phase = Phase::Normal;
                    return None;
                }
                self.carried = in_flight;
                self.phase = Phase::Unvalidated { first: next, over: now.saturating_add(rtt) };
                Some(Resized { window: jump, threshold: None })
            }
            Phase::Unvalidated { first, over } if unacknowledged > first || now > over => {
                Some(self.validate(next, in_flight))
            }
            Phase::Validating { last } if unacknowledged > last => {
                self.phase = Phase::Normal;
                None
            }
            Phase::SafeRetreat { last } if unacknowledged > last => {
                self.phase = Phase::Normal;
                let threshold = Some(Segments((self.carried as f64).max(FLOOR)));
                Some(Resized { window, threshold })
            }
            _ => None,
        }
    }

    /// A segment has left: afterwards everything below `next` has, and `in_flight` segments are in flight. Returns the
    /// window that this calls for, if it is another one.
    pub(super) fn on_sent(&mut self, next: u64, in_flight: u64, allowed: u64) -> Option<Resized> {
        let unvalidated = matches!(self.phase, Phase::Unvalidated { .. });
        (unvalidated && in_flight >= allowed).then(|| self.validate(next, in_flight))
    }

    /// The unvalidated phase is over.
    fn validate(&mut self, next: u64, in_flight: u64) -> Resized {
        let window = if in_flight > self.carried {
            self.phase = Phase::Validating { last: next - 1 };
            in_flight
        } else {
            self.phase = Phase::Normal;
            self.carried
        };
        Resized { window: window as f64, threshold: None }
    }

    /// The controller has reacted to congestion. Returns the window that this calls for instead.
    pub(super) fn on_congestion(&mut self, next: u64, window: f64) -> Option<Resized> {
        let last = match self.phase {
            Phase::Reconnaissance => {
                self.phase = Phase::Normal;
                return None;
            }
            Phase::Unvalidated { .. } => next - 1,
            Phase::Validating { last } => last,
            Phase::SafeRetreat { .. } | Phase::Normal => return None,
        };
        self.phase = Phase::SafeRetreat { last };
        let window = (self.carried as f64 * BETA).max(FLOOR).min(window);
        Some(Resized { window, threshold: Some(Segments(window)) })
    }

    /// The reaction was needless: the unvalidated segments are as good as before.
    pub(super) fn undo(&mut self) {
        if let Phase::SafeRetreat { last } = self.phase {
            self.phase = Phase::Validating { last };
        }
    }

    /// After a time-out all is as usual.
    pub(super) fn on_timeout(&mut self) {
        self.phase = Phase::Normal;
    }

    /// May the window grow, as far as this is concerned?
    pub(super) fn may_grow(&self) -> bool {
        !matches!(self.phase, Phase::Unvalidated { .. } | Phase::SafeRetreat { .. })
    }

    /// The pacing of an unvalidated window whose flow is otherwise paced like this.
    pub(super) fn pacing(&self, wanted: Pacing) -> Pacing {
        match (self.phase, wanted) {
            (
                Phase::Unvalidated { .. },
                Pacing::Unpaced | Pacing::Blocks(_) | Pacing::Spread { .. },
            ) => Pacing::Spread { gain: 1.0 },
            _ => wanted,
        }
    }
}
