//! What a QUIC stack tells of a path becomes what a controller is told.
//!
//! It drives a controller as the simulator's sender for QUIC does (RFC 9002): one report for each acknowledgment, one
//! response to congestion for each round trip. It knows bytes and times, and nothing of a stack.

use longfat_control::{
    Adjustment, Cause, Congestion, CongestionControl, Feedback, Limited, Path, Sent,
};
use longfat_units::{Segments, Span, Time};

/// `kInitialRtt` (RFC 9002, section 6.2.2).
const INITIAL_RTT: Span = Span::from_millis(333);
/// Round trips are at least a microsecond, so that rates stay finite, and at most an hour.
const SHORTEST: Span = Span(1_000_000);
const LONGEST: Span = Span::from_seconds(3600);
/// `kMinimumWindow` (RFC 9002, section 7.2), in segments.
pub(crate) const LEAST_WINDOW: u64 = 2;
/// No stack hands over more at a time: ten datagrams of the largest size are less.
const LARGEST_DEPARTURE: u64 = 1 << 20;
/// No datagram is larger.
const LARGEST_PACKET: u64 = u16::MAX as u64;

/// The most in flight in this round trip and the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Used([u64; 2]);

impl Used {
    fn see(&mut self, in_flight: u64, round_starts: bool) {
        if round_starts {
            self.0 = [0, self.0[0]];
        }
        self.0[0] = self.0[0].max(in_flight);
    }

    /// Does it put this window to the test? A stack does not say that its socket held it back, so a window that nothing
    /// fills would grow for ever (RFC 9002, section 7.8). Where only pacing holds it back it may grow: at 1.25 windows
    /// per round trip a window that doubles is filled to 92 %, and at first to half.
    fn fills(self, window: u64, doubles: bool) -> bool {
        let most = self.0[0].max(self.0[1]);
        let (share, of) = if doubles { (1, 2) } else { (7, 8) };
        u128::from(most) * of >= u128::from(window) * share
    }
}

/// Bytes become segments; what is left of a segment is carried to the next call.
#[derive(Clone, Copy, Debug, Default)]
struct Carry(u64);

impl Carry {
    fn segments(&mut self, bytes: u64, mtu: u64) -> u64 {
        let total = self.0.saturating_add(bytes);
        self.0 = total % mtu;
        total / mtu
    }
}

/// A packet that is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    pub(crate) now: Time,
    /// When it left.
    pub(crate) sent: Time,
    pub(crate) bytes: u64,
    /// Had the application nothing more to send?
    pub(crate) application_limited: bool,
    /// The stack's smoothed round trip, before this acknowledgment.
    pub(crate) smoothed: Span,
}

/// Packets that are found lost, or a report that packets were marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trouble {
    pub(crate) now: Time,
    /// When the last of them left.
    pub(crate) sent: Time,
    /// Has nothing arrived for so long that the path counts as lost (RFC 9002, section 7.6)?
    pub(crate) persistent: bool,
    /// How much is lost; 0: marked.
    pub(crate) lost: u64,
}

/// The packets that one acknowledgment reports.
#[derive(Clone, Copy, Debug)]
struct Batch {
    now: Time,
    /// When the last of them left.
    newest: Time,
    /// Bytes that left after the last response to congestion, and the others.
    acked: u64,
    others: u64,
    application_limited: bool,
    smoothed: Span,
}

/// What the controller was last told, and what it was before.
#[derive(Clone, Debug)]
struct Told {
    feedback: Feedback,
    before: Box<dyn CongestionControl>,
}

/// The host of one controller on one path.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    control: Box<dyn CongestionControl>,
    /// Does it want to hear of each departure?
    follows_departures: bool,
    mtu: u64,
    /// In bytes.
    in_flight: u64,
    path: Path,
    now: Time,
    /// What left from then on belongs to the next round trip.
    round_end: Time,
    /// What left up to then belongs to the last response to congestion (`congestion_recovery_start_time`).
    answered: Option<Time>,
    /// The same while nothing that left later has arrived.
    recovering: Option<Time>,
    batch: Option<Batch>,
    /// Losses are reported after the acknowledgment that shows them. The controller then goes back to what it was, and is
    /// told both at once.
    told: Option<Told>,
    /// Losses found without an acknowledgment, which the next one reports.
    owed: u64,
    used: Used,
    /// Is nothing in flight because there was nothing to send?
    idle: bool,
    acked: Carry,
    others: Carry,
    lost: Carry,
    sent: Carry,
    responses: u64,
}

impl Host {
    pub(crate) fn new(control: Box<dyn CongestionControl>, mtu: u64) -> Self {
        Self {
            follows_departures: control.wants().departures,
            control,
            mtu: mtu.max(1),
            in_flight: 0,
            path: Path { rtt: INITIAL_RTT, base_rtt: Span(u64::MAX) },
            now: Time::ZERO,
            round_end: Time::ZERO,
            answered: None,
            recovering: None,
            batch: None,
            told: None,
            owed: 0,
            used: Used::default(),
            idle: false,
            acked: Carry::default(),
            others: Carry::default(),
            lost: Carry::default(),
            sent: Carry::default(),
            responses: 0,
        }
    }

    pub(crate) fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// How often congestion has been answered.
    pub(crate) fn responses(&self) -> u64 {
        self.responses
    }

    /// What is in flight, in bytes.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// What may be in flight, in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.bytes(self.control.window()).max(LEAST_WINDOW * self.mtu)
    }

    /// The window below which slow start goes on, in bytes.
    pub(crate) fn threshold(&self) -> Option<u64> {
        self.control.threshold().map(|threshold| self.bytes(threshold))
    }

    /// Is it slow start?
    fn doubles(&self) -> bool {
        self.control.threshold().is_none_or(|threshold| self.control.window() < threshold)
    }

    fn bytes(&self, segments: Segments) -> u64 {
        (segments.0 * self.mtu as f64) as u64
    }

    /// Segments are so large from now on. The window stays what it is, in segments.
    pub(crate) fn set_mtu(&mut self, mtu: u64) {
        self.mtu = mtu.max(1);
    }

    /// Time does not run backwards for a controller.
    fn pass(&mut self, now: Time) -> Time {
        self.now = self.now.max(now);
        self.now
    }

    /// So much has left.
    pub(crate) fn sent(&mut self, now: Time, bytes: u64) {
        let now = self.pass(now);
        self.told = None;
        if std::mem::take(&mut self.idle) {
            self.control.on_restart(now, &self.path);
        }
        let bytes = bytes.min(LARGEST_DEPARTURE);
        let before = self.in_flight;
        self.in_flight = before.saturating_add(bytes);
        if self.follows_departures {
            let first = self.segments(before);
            for more in 1..=self.sent.segments(bytes, self.mtu) {
                // In QUIC no packet leaves twice.
                let sent = Sent { now, again: false, in_flight: first.saturating_add(more) };
                self.control.on_sent(&sent, &self.path);
            }
        }
    }

    /// A packet is acknowledged; others may follow.
    pub(crate) fn acknowledged(&mut self, packet: Acknowledged) {
        let Acknowledged { now, sent, bytes, application_limited, smoothed } = packet;
        if self.batch.is_some_and(|batch| batch.now != now) {
            self.tell(None);
        }
        let nothing =
            Batch { now, newest: sent, acked: 0, others: 0, application_limited, smoothed };
        let answered = self.answered;
        let batch = self.batch.get_or_insert(nothing);
        batch.newest = batch.newest.max(sent);
        batch.application_limited = application_limited;
        let bytes = bytes.min(LARGEST_PACKET);
        // RFC 9002, section 7.3.2: what left before the response does not let the window grow.
        if answered.is_some_and(|answered| sent <= answered) {
            batch.others = batch.others.saturating_add(bytes);
        } else {
            batch.acked = batch.acked.saturating_add(bytes);
        }
    }

    /// All packets of an acknowledgment have been passed in, and so many bytes are left in flight.
    pub(crate) fn end_acknowledgment(&mut self, in_flight: u64, application_limited: bool) {
        self.tell(Some(in_flight));
        self.idle = in_flight == 0 && application_limited;
    }

    /// Tells the controller of an acknowledgment.
    fn tell(&mut self, left: Option<u64>) {
        let Some(batch) = self.batch.take() else {
            self.in_flight = left.unwrap_or(self.in_flight);
            return;
        };
        let now = self.pass(batch.now);
        let bytes = batch.acked.saturating_add(batch.others);
        let left = left.unwrap_or(self.in_flight.saturating_sub(bytes));
        self.in_flight = left;

        // The stack's own estimate does not know this round trip yet, and before the first one it is a guess.
        let rtt = batch.now.since(batch.newest).clamp(SHORTEST, LONGEST);
        let is_first = self.path.base_rtt == Span(u64::MAX);
        self.path.rtt = if is_first { rtt } else { batch.smoothed.clamp(SHORTEST, LONGEST) };
        self.path.base_rtt = self.path.base_rtt.min(rtt);

        if self.recovering.is_some_and(|since| batch.newest > since) {
            self.recovering = None;
            self.control.on_recovered(now, &self.path);
        }
        let round_starts = batch.newest >= self.round_end;
        if round_starts {
            self.round_end = now;
        }
        let before = left.saturating_add(bytes);
        self.used.see(before, round_starts);
        let limited = if batch.acked == 0 {
            Limited::Recovery
        } else if batch.application_limited {
            Limited::Application
        } else if self.used.fills(self.window(), self.doubles()) {
            Limited::Window
        } else {
            Limited::Receiver
        };
        let feedback = Feedback {
            sacked: self.others.segments(batch.others, self.mtu),
            lost: std::mem::take(&mut self.owed),
            rtt: Some(rtt),
            in_flight: self.segments(before),
            limited,
            round_starts,
            ..Feedback::at(now, self.acked.segments(batch.acked, self.mtu))
        };
        let before = self.control.clone();
        self.control.on_feedback(&feedback, &self.path);
        self.told = Some(Told { feedback, before });
    }

    /// Packets are lost or marked.
    pub(crate) fn congested(&mut self, trouble: Trouble) {
        if self.batch.is_some() {
            self.tell(None);
        }
        let now = self.pass(trouble.now);
        let is_mark = trouble.lost == 0;
        let marked = u64::from(is_mark);
        let lost = self.lost.segments(trouble.lost, self.mtu);
        // Once per round trip: not for what left before the last response (RFC 9002, section 7.3.2).
        let calls = self.answered.is_none_or(|answered| trouble.sent > answered);
        let mut in_flight = self.segments(self.in_flight);

        match self.told.take().filter(|told| told.feedback.now == now) {
            Some(Told { feedback, before }) => {
                let begins = calls && !is_mark;
                let feedback = Feedback {
                    lost: feedback.lost.saturating_add(lost),
                    marked: feedback.marked.saturating_add(marked),
                    recovery_begins: begins,
                    limited: if begins { Limited::Recovery } else { feedback.limited },
                    ..feedback
                };
                in_flight = feedback.in_flight;
                self.control = before.clone();
                self.control.on_feedback(&feedback, &self.path);
                if !calls {
                    self.told = Some(Told { feedback, before });
                }
            }
            None if is_mark => {
                let feedback = Feedback { marked, in_flight, ..Feedback::at(now, 0) };
                self.control.on_feedback(&feedback, &self.path);
            }
            None => self.owed = self.owed.saturating_add(lost),
        }
        self.in_flight = self.in_flight.saturating_sub(trouble.lost);

        if calls {
            self.respond(now, if is_mark { Cause::Mark } else { Cause::Loss }, in_flight);
        }
        if trouble.persistent {
            self.collapse(now, in_flight);
        }
    }

    fn respond(&mut self, now: Time, cause: Cause, in_flight: u64) {
        self.answered = Some(now);
        self.recovering = Some(now);
        self.responses += 1;
        let event = Congestion { now, cause, in_flight, again: false };
        self.control.on_congestion(&event, &self.path);
    }

    /// Persistent congestion: the window falls to its minimum (RFC 9002, section 7.6.2).
    fn collapse(&mut self, now: Time, in_flight: u64) {
        self.told = None;
        self.respond(now, Cause::Timeout, in_flight);
        self.answered = None;
        let window = Segments(LEAST_WINDOW as f64);
        self.control.on_adjustment(&Adjustment { now, window, threshold: None }, &self.path);
    }

    /// Part of a segment in flight is a segment in flight.
    fn segments(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mtu)
    }
}

#[cfg(test)]
mod tests;
