//! What a sender keeps count of.

use longfat_control::Cause;
use longfat_units::{Span, Time};

/// Counts and averages of one sender: over the whole run, and since the measured interval began. Those that each
/// acknowledgment changes come last, and fill a line of the caches.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct SenderCounts {
    /// Time-outs in the whole run.
    pub(crate) total_timeouts: u64,
    /// Answers to losses and to marks in the whole run.
    pub(crate) total_losses: u64,
    pub(crate) total_marks: u64,
    before: Before,
    pub(crate) timeouts: u64,
    pub(crate) congestion_events: u64,
    since: Time,
    /// Sum of round trip less propagation, in picoseconds.
    delay: u128,
    /// Packets sent in the whole run, retransmissions included.
    pub(crate) total_sent: u64,
    /// Retransmissions in the whole run.
    pub(crate) total_retransmitted: u64,
    /// Acknowledgments in the whole run.
    pub(crate) acknowledgments: u64,
    /// The window, since when it has held, and its integral over time in segment-seconds.
    pub(super) window: f64,
    window_since: Time,
    window_area: f64,
}

/// Whole-run counts at the start of the measured interval.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    sent: u64,
    retransmitted: u64,
    acknowledgments: u64,
}

impl SenderCounts {
    pub(crate) fn new(now: Time, window: f64) -> Self {
        Self {
            total_sent: 0,
            total_retransmitted: 0,
            total_timeouts: 0,
            total_losses: 0,
            total_marks: 0,
            before: Before::default(),
            timeouts: 0,
            congestion_events: 0,
            delay: 0,
            acknowledgments: 0,
            window,
            window_since: now,
            window_area: 0.0,
            since: now,
        }
    }

    /// Forgets all but the whole-run counts.
    pub(crate) fn begin(&mut self, now: Time) {
        let before = Before {
            sent: self.total_sent,
            retransmitted: self.total_retransmitted,
            acknowledgments: self.acknowledgments,
        };
        *self = Self {
            total_sent: self.total_sent,
            total_retransmitted: self.total_retransmitted,
            total_timeouts: self.total_timeouts,
            total_losses: self.total_losses,
            total_marks: self.total_marks,
            acknowledgments: self.acknowledgments,
            before,
            ..Self::new(now, self.window)
        };
    }

    #[inline]
    pub(crate) fn sent(&mut self) {
        self.total_sent += 1;
    }

    pub(crate) fn retransmitted(&mut self) {
        self.total_retransmitted += 1;
    }

    /// Losses or marks have been answered, once.
    pub(crate) fn reduced(&mut self, cause: Cause) {
        self.congestion_events += 1;
        match cause {
            Cause::Mark => self.total_marks += 1,
            _ => self.total_losses += 1,
        }
    }

    pub(crate) fn timed_out(&mut self) {
        self.timeouts += 1;
        self.total_timeouts += 1;
    }

    #[inline]
    pub(crate) fn round_trip(&mut self, rtt: Span, propagation: Span) {
        self.delay += u128::from((rtt - propagation).0);
        self.acknowledgments += 1;
    }

    /// The window is `window` from now on.
    #[inline]
    pub(crate) fn window(&mut self, now: Time, window: f64) {
        // Signed: processors convert that in one instruction.
        let span = now.since(self.window_since).0.cast_signed();
        self.window_area += self.window * span as f64;
        self.window_since = now;
        self.window = window;
    }

    /// Packets sent in the measured interval.
    pub(crate) fn sent_measured(&self) -> u64 {
        self.total_sent - self.before.sent
    }

    /// Retransmissions in the measured interval.
    pub(crate) fn retransmitted_measured(&self) -> u64 {
        self.total_retransmitted - self.before.retransmitted
    }

    /// Mean queueing delay in seconds over acknowledgments; NaN where there were none.
    pub(crate) fn queueing_delay(&self) -> f64 {
        self.delay as f64 / self.acknowledgments_measured() as f64 * 1e-12
    }

    /// Acknowledgments in the measured interval.
    pub(crate) fn acknowledgments_measured(&self) -> u64 {
        self.acknowledgments - self.before.acknowledgments
    }

    /// Time average of the window in segments until `now`, or until its last change if later; NaN over an empty
    /// interval.
    pub(crate) fn window_mean(&self, now: Time) -> f64 {
        let now = now.max(self.window_since);
        let rest = self.window * now.since(self.window_since).0 as f64;
        (self.window_area + rest) / now.since(self.since).0 as f64
    }
}
