//! A sender without a window (Kim & Farber 1995): it sends all it has in bursts, each restarting from a lost segment.
//!
//! It shares the retransmission timer, duplicate counting and pacing with TCP. It has no window, no controller to
//! notify of congestion, and no selective acknowledgments to track: all it knows of the unacknowledged segments is
//! where the burst began and how far it has got.
//!
//! ```text
//!     unacknowledged ≤ repeated ≤ repeat_until ≤ next      repeated: sent again in this burst, below repeat_until
//! ```

use longfat_control::{Bursts, Cause, Pacing};
use longfat_units::{Span, Time};

use super::duplicates::Duplicates;
use super::measure::SenderCounts;
use super::pacing::Pacer;
use super::timer::RetransmissionTimer;
use super::{SenderConfig, Sends};
use crate::cargo::Cargo;
use crate::packet::{Flags, Packet};

/// Larger than any path can hold: the bound on segments in flight where there is none.
const UNBOUNDED: u64 = 1_000_000_000_000;

/// The sending half of one flow that has no window.
#[derive(Debug)]
pub(crate) struct BurstSender {
    /// First segment not cumulatively acknowledged.
    unacknowledged: u64,
    /// Everything below has been sent again in this burst, or is acknowledged.
    repeated: u64,
    /// Everything below is to be sent again in this burst.
    repeat_until: u64,
    /// Next new segment.
    next: u64,
    /// One past the last segment there is to send.
    limit: u64,
    /// Upper bound on segments in flight: the receiver's window.
    allowed: u64,
    /// The segment with rank 0; out of reach where packets have no priorities, so that every rank is 0.
    ranked_from: u64,
    priorities: bool,
    duplicates: Duplicates,
    /// When a segment was last retransmitted.
    copied_at: Time,
    /// By this time the first unacknowledged segment had left in this burst.
    first_left_by: Time,
    pacer: Pacer,
    is_held: bool,
    timer: RetransmissionTimer,
    config: SenderConfig,
    measured: SenderCounts,
}

impl BurstSender {
    pub(crate) fn new(config: SenderConfig, bursts: Bursts, now: Time) -> Self {
        let Bursts { duplicates, priorities, rate } = bursts;
        let mut pacer = Pacer::new(None, config.bytes);
        pacer.set(rate.map_or(Pacing::Unpaced, Pacing::Rate));
        Self {
            unacknowledged: 0,
            repeated: 0,
            repeat_until: 0,
            next: 0,
            limit: config.segments.unwrap_or(u64::MAX),
            allowed: config.max_window.min(UNBOUNDED),
            ranked_from: if priorities { 0 } else { u64::MAX },
            priorities,
            duplicates: Duplicates::new(duplicates),
            copied_at: Time::ZERO,
            first_left_by: Time::NEVER,
            pacer,
            is_held: false,
            timer: RetransmissionTimer::new(&config, now),
            config,
            measured: SenderCounts::new(now, f64::NAN),
        }
    }

    /// Starts a new burst at the first unacknowledged segment.
    fn restart(&mut self) {
        self.repeated = self.unacknowledged;
        self.repeat_until = self.next;
        self.duplicates.clear();
        self.first_left_by = Time::NEVER;
        if self.priorities {
            self.ranked_from = self.unacknowledged;
        }
    }

    /// Can a duplicate acknowledgment indicate a loss? Not if later ones have passed it, nor if the segment that caused
    /// it left before the restart, or is a copy of one that had arrived. Segments of a burst leave in order: whatever
    /// left after the first missing one lies above it, and so does whatever left after the last copy.
    fn minds(&self, duplicate: &Packet) -> bool {
        duplicate.number == self.unacknowledged
            && duplicate.sent > self.copied_at.min(self.first_left_by)
    }

    /// Is anything to be sent again in this burst still unacknowledged?
    fn is_repeating(&self) -> bool {
        self.unacknowledged < self.repeat_until
    }

    /// A segment's priority as a rank, 0 the highest.
    fn rank(&self, segment: u64) -> u32 {
        u32::try_from(segment.saturating_sub(self.ranked_from)).unwrap_or(u32::MAX)
    }
}

impl Sends for BurstSender {
    fn on_ack(&mut self, now: Time, ack: &Packet, _: Option<&Cargo>) {
        let rtt = now - ack.sent;
        let from = self.unacknowledged;
        let mut loss = false;
        if ack.number > from {
            let was_repeating = self.is_repeating();
            self.unacknowledged = ack.number;
            let (_, restarted) = self.timer.on_progress(now, rtt, ack.number, self.next);
            self.timer.set(restarted);
            self.duplicates.clear();
            if was_repeating {
                // A different segment is now the first. Has it already left in this burst?
                let has_left = self.repeated > self.unacknowledged;
                self.first_left_by = if has_left { now } else { Time::NEVER };
            }
        } else if from < self.next && self.minds(ack) {
            loss = self.duplicates.see();
        }
        self.measured.round_trip(rtt, self.config.propagation);
        if loss {
            self.restart();
            self.timer.restart(now);
            self.measured.reduced(Cause::Loss);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.is_held = false;
        if self.in_flight() >= self.allowed + self.duplicates.inflation() {
            return None;
        }
        if self.pacer.holds(now) {
            self.is_held = true;
            return None;
        }
        let again = self.repeated.max(self.unacknowledged);
        let (number, flags) = if again < self.repeat_until {
            self.repeated = again + 1;
            self.measured.retransmitted();
            self.copied_at = now;
            if again == self.unacknowledged {
                self.first_left_by = now;
            }
            (again, Flags::RETRANSMISSION)
        } else if self.next < self.limit {
            self.next += 1;
            (self.next - 1, Flags::default())
        } else {
            return None;
        };
        self.measured.sent();
        self.timer.on_sent(now);
        if self.pacer.is_on() {
            self.pacer.leave(now, true, 0.0, self.allowed, Span::ZERO);
        }
        let SenderConfig { flow, bytes, .. } = self.config;
        Some(Packet { number, sent: now, flow, detail: self.rank(number), bytes, hop: 0, flags })
    }

    fn on_timeout(&mut self, now: Time) {
        self.timer.run_out(now, self.unacknowledged);
        self.restart();
        self.pacer.cancel();
        self.measured.timed_out();
    }

    fn config(&self) -> &SenderConfig {
        &self.config
    }

    fn timer(&self) -> &RetransmissionTimer {
        &self.timer
    }

    fn pace_deadline(&self) -> Option<Time> {
        self.is_held.then(|| self.pacer.until())
    }

    /// Never: pacing may always act first.
    fn hears_early(&self, _: Time, _: u64) -> bool {
        false
    }

    fn stop(&mut self) {
        self.limit = self.limit.min(self.next);
    }

    fn in_flight(&self) -> u64 {
        let new = self.next - self.repeat_until.max(self.unacknowledged);
        new + self.repeated.saturating_sub(self.unacknowledged)
    }

    fn is_done(&self) -> bool {
        self.unacknowledged == self.limit
    }

    fn measured(&self) -> &SenderCounts {
        &self.measured
    }

    fn begin_measuring(&mut self, now: Time) {
        self.measured.begin(now);
    }
}
