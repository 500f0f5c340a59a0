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

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow that begins with ten segments and knows of a window of 100 and a round trip of 80 ms.
    fn ten() -> Resume {
        Resume::new(SavedPath { window: 100.0, rtt: Span::from_millis(80) }, 10.0)
    }

    /// An acknowledgment at this time, in milliseconds, of everything below the one number when everything below the other
    /// has left, with this window, which is full; the round trip is 100 ms.
    fn arrival(now: u64, unacknowledged: u64, next: u64, window: f64) -> Arrival {
        Arrival {
            now: Time::ZERO + Span::from_millis(now),
            delivered: 1,
            unacknowledged,
            next,
            in_flight: next - unacknowledged,
            window,
            wants_more: true,
            rtt: Span::from_millis(100),
        }
    }

    fn window(resized: Option<Resized>) -> Option<f64> {
        resized.map(|resized| resized.window)
    }

    /// The same flow after its jump to 50 at 100 ms, with 18 segments in flight, of which 27 is the last.
    fn jumped() -> Resume {
        let mut resume = ten();
        assert_eq!(window(resume.on_ack(&arrival(100, 10, 28, 20.0))), Some(50.0));
        assert!(!resume.may_grow(), "it is not validated");
        resume
    }

    #[test]
    fn a_flow_jumps_when_it_wants_more_and_gains_by_it() {
        let mut resume = ten();
        let idle = Arrival { wants_more: false, ..arrival(100, 10, 28, 20.0) };
        assert_eq!(resume.on_ack(&idle), None);
        assert_eq!(window(resume.on_ack(&arrival(110, 11, 30, 21.0))), Some(50.0));
        // A window of 50 has nothing to gain.
        assert_eq!(ten().on_ack(&arrival(100, 10, 28, 50.0)), None);
        // Nor may one jump before all of the initial window is acknowledged.
        assert_eq!(ten().on_ack(&arrival(100, 9, 28, 20.0)), None);
    }

    #[test]
    fn the_unvalidated_phase_ends_with_its_first_segment_or_a_round_trip() {
        // 28 is the first one after the jump. 40 are in flight, more than the 18 and 1 that have been carried.
        let after = |now, unacknowledged| {
            window(jumped().on_ack(&arrival(now, unacknowledged, unacknowledged + 40, 50.0)))
        };
        assert_eq!(after(200, 28), None, "at the end of the round trip 28 is still missing");
        assert_eq!(after(200, 29), Some(40.0));
        assert_eq!(after(201, 28), Some(40.0));
        // Or when the window is full.
        assert_eq!(jumped().on_sent(60, 49, 50), None);
        assert_eq!(window(jumped().on_sent(60, 50, 50)), Some(50.0));
        // With less in flight than has been carried, that is the window, and all is as usual.
        let mut resume = jumped();
        assert_eq!(window(resume.on_ack(&arrival(201, 28, 30, 50.0))), Some(19.0));
        assert_eq!(resume.on_congestion(30, 9.5), None);
    }

    #[test]
    fn validation_lasts_until_the_last_unvalidated_segment_is_acknowledged() {
        // 77 is the last one that has left when the window is full. Congestion until it is acknowledged leaves half of
        // what has been carried, 18 and 1; afterwards it is answered as usual.
        for (unacknowledged, retreat) in [(77, Some(9.5)), (78, None)] {
            let mut resume = jumped();
            resume.on_sent(78, 50, 50);
            assert!(resume.may_grow());
            assert_eq!(resume.on_ack(&arrival(300, unacknowledged, 120, 60.0)), None);
            assert_eq!(window(resume.on_congestion(120, 30.0)), retreat);
        }
    }

    #[test]
    fn a_retreat_lasts_as_long_and_ends_with_what_was_carried() {
        // 59 is the last one that has left when congestion shows: 18 were carried, and 9 are left.
        let mut resume = jumped();
        assert_eq!(window(resume.on_congestion(60, 25.0)), Some(9.0));
        assert!(!resume.may_grow());
        assert_eq!(resume.on_congestion(60, 4.5), None, "once");
        assert_eq!(resume.on_ack(&arrival(300, 59, 65, 9.0)), None);
        let end = resume.on_ack(&arrival(301, 60, 65, 9.0));
        assert_eq!(end, Some(Resized { window: 9.0, threshold: Some(Segments(20.0)) }));
        assert!(resume.may_grow());
    }

    #[test]
    fn a_retreat_leaves_two_segments_and_no_more_than_the_controller_does() {
        let mut resume = ten();
        resume.on_ack(&arrival(100, 10, 12, 20.0));
        assert_eq!(window(resume.on_congestion(60, 25.0)), Some(2.0), "half of 2 would be 1");
        assert_eq!(window(jumped().on_congestion(60, 5.0)), Some(5.0));
    }

    #[test]
    fn a_retreat_that_was_needless_goes_on_as_validation() {
        let mut resume = jumped();
        resume.on_congestion(60, 25.0);
        resume.undo();
        assert!(resume.may_grow());
        assert_eq!(resume.on_ack(&arrival(300, 59, 65, 50.0)), None);
        assert_eq!(window(resume.on_congestion(65, 25.0)), Some(9.5));
    }

    #[test]
    fn a_retreat_from_validation_lasts_until_the_last_unvalidated_segment() {
        // The window is full with 59, which ends the jump. Congestion comes when 79 has left: what left after 59 is no part of
        // it, and growth goes on when 59 is acknowledged.
        let mut resume = jumped();
        assert_eq!(window(resume.on_sent(60, 50, 50)), Some(50.0));
        assert!(resume.on_congestion(80, 40.0).is_some() && !resume.may_grow());
        assert_eq!(resume.on_ack(&arrival(220, 59, 80, 20.0)), None);
        assert!(!resume.may_grow(), "59 is not acknowledged");
        assert!(resume.on_ack(&arrival(221, 60, 80, 20.0)).is_some() && resume.may_grow());
    }
}
