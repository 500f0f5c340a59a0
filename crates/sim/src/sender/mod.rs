//! The sending half of TCP: what to send, and when.
//!
//! A machine without a network: it is told of acknowledgments and time-outs and asked, again and again, for the
//! next packet. Window and pacing come from its controller; this is where losses are found and repaired
//! (RFC 6675; RFC 6582 and RFC 5681 on request), marks are answered (RFC 3168), round trips measured and time-outs kept (RFC 6298).
//! Controllers without a window have their data sent in bursts ([`bursts`]).

mod bursts;
mod duplicates;
mod measure;
mod output;
mod pacing;
mod round_trip;
mod scoreboard;

use longfat_control::{Ack, Cause, Congestion, CongestionControl, Limited, Pacing, Path, Sending};
use longfat_units::{Ecn, Segments, Span, Time};

use bursts::Bursts;
use duplicates::{Duplicates, THRESHOLD};
pub(crate) use measure::Measured;
use pacing::Pacer;
use round_trip::RoundTrip;
use scoreboard::Scoreboard;

use crate::cargo::{Blocks, Cargo};
use crate::explicit::Listener;
use crate::packet::{Flags, Packet};
use crate::scenario::Recovery;

/// What a sender is made from.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) flow: u32,
    pub(crate) bytes: u32,
    /// Segments to send in all.
    pub(crate) segments: Option<u64>,
    /// As many may be in flight, whatever the window says.
    pub(crate) max_window: u64,
    pub(crate) recovery: Recovery,
    pub(crate) rto_min: Span,
    pub(crate) rto_tick: Option<Span>,
    pub(crate) ecn: bool,
    /// Pacing whatever the controller asks for.
    pub(crate) pacing: Option<Pacing>,
    /// Every mark is answered, not one per window.
    pub(crate) per_mark: bool,
    /// What it makes of explicit signals.
    pub(crate) listener: Listener,
    /// Round trip without queues, to tell queueing from propagation.
    pub(crate) propagation: Span,
}

/// The sending half of one flow.
#[derive(Debug)]
pub(crate) struct Sender {
    /// First segment not cumulatively acknowledged.
    unacknowledged: u64,
    /// Next new segment.
    next: u64,
    /// One past the last segment there is to send.
    limit: u64,
    /// How many segments the window lets be in flight.
    allowed: u64,
    state: State,
    limited: Limited,
    scoreboard: Scoreboard,
    duplicates: Duplicates,
    /// Do losses show by duplicates, without selective acknowledgments?
    counts_duplicates: bool,
    bursts: Bursts,
    control: Box<dyn CongestionControl>,
    round_trip: RoundTrip,
    /// A round ends when this segment is acknowledged.
    round_end: u64,
    /// Data below was sent before the last reduction: its losses and marks are answered already.
    reacted_until: u64,
    /// The first retransmission of a recovery leaves whatever the window says (RFC 6675, step 4.3).
    fast_retransmit: bool,
    /// The next new segment tells the receiver of a reduction (RFC 3168: CWR).
    announce_reduction: bool,
    pacer: Pacer,
    /// Length of the retransmission time-out now.
    timeout: Span,
    /// When the retransmission timer runs out.
    deadline: Time,
    /// When all that had been sent was last acknowledged.
    idle_since: Time,
    /// The first segment in flight when the timer last ran out.
    timed_out_at: Option<u64>,
    /// What is written on new data and on data sent again.
    new_flags: Flags,
    again_flags: Flags,
    listener: Listener,
    settings: Settings,
    measured: Measured,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No loss under repair.
    Open,
    /// Loss recovery until everything below `point` is acknowledged.
    Recovery { point: u64 },
    /// The same after a time-out, in slow start, or in a new burst: everything goes again.
    GoBack { point: u64 },
}

impl Sender {
    pub(crate) fn new(settings: Settings, control: Box<dyn CongestionControl>, now: Time) -> Self {
        let round_trip = RoundTrip::new(settings.rto_min, settings.rto_tick);
        let (bursts, threshold) = match control.sending() {
            Sending::Windowed => (Bursts::NONE, THRESHOLD),
            Sending::Bursts { duplicates, priorities } => (Bursts::new(priorities), duplicates),
        };
        let plain = settings.listener.offer();
        let mut sender = Self {
            unacknowledged: 0,
            next: 0,
            limit: settings.segments.unwrap_or(u64::MAX),
            allowed: 0,
            state: State::Open,
            limited: Limited::Window,
            scoreboard: Scoreboard::default(),
            duplicates: Duplicates::new(threshold),
            counts_duplicates: bursts.are_sent() || settings.recovery != Recovery::Sack,
            bursts,
            measured: Measured::new(now, control.window().0),
            control,
            round_trip,
            round_end: 0,
            reacted_until: 0,
            fast_retransmit: false,
            announce_reduction: false,
            pacer: Pacer::new(),
            timeout: round_trip.timeout(),
            deadline: Time::NEVER,
            idle_since: now,
            timed_out_at: None,
            // RFC 3168, section 6.1.5: only new data can be marked.
            new_flags: plain.with_ecn(if settings.ecn { Ecn::Ect0 } else { Ecn::NotEct }),
            again_flags: plain.with(Flags::RETRANSMISSION),
            listener: settings.listener,
            settings,
        };
        if sender.bursts.are_sent() {
            let path = sender.path();
            sender.ask_pacing(now, &path);
        }
        sender.heed_control(now);
        sender
    }

    /// An acknowledgment has arrived, with its cargo if it carries any.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Packet, cargo: Option<&Cargo>) {
        let in_flight = self.in_flight();
        let recovering = matches!(self.state, State::Recovery { .. });
        let from = self.unacknowledged;
        let mut acked = 0;
        let mut round_starts = false;
        let mut third_duplicate = false;
        let rtt = now - ack.sent;
        if ack.number > from {
            acked = self.scoreboard.advance(from, ack.number);
            if self.counts_duplicates && matches!(self.state, State::GoBack { .. }) {
                // Much of it arrived before the time-out, and nobody said so then (RFC 3465, section 2.3).
                acked = acked.min(1);
            }
            self.unacknowledged = ack.number;
            round_starts = self.on_progress(now, rtt, ack.number - from);
        } else if self.counts_duplicates && from < self.next && self.minds(ack) {
            third_duplicate = self.duplicates.see();
        }
        if let Some(blocks) = cargo.and_then(|cargo| cargo.blocks.as_ref()) {
            self.hear(blocks);
        }
        self.measured.round_trip(rtt, self.settings.propagation);

        if self.loss_begins(third_duplicate) {
            self.enter_recovery(now, in_flight);
        } else if ack.flags.has(Flags::ECHO) {
            if self.settings.per_mark || ack.number > self.reacted_until {
                self.reduce(now, Cause::Mark, in_flight);
            }
        } else if acked > 0 {
            let limited = if recovering { Limited::Recovery } else { self.limited };
            let path = self.path();
            let room = self.listener.hear(ack.flags);
            let ack = Ack { now, acked, rtt: Some(rtt), round_starts, limited, room };
            self.control.on_ack(&ack, &path);
            if round_starts {
                self.ask_pacing(now, &path);
            }
            return self.heed_control(now);
        }
        // Congestion beats spare capacity: it is counted, and not heeded.
        self.listener.hear(ack.flags);
    }

    /// An acknowledgment tells what has arrived out of order.
    #[inline(never)]
    fn hear(&mut self, blocks: &Blocks) {
        for block in blocks {
            self.scoreboard.acknowledge(*block, self.unacknowledged, self.next);
        }
        self.scoreboard.detect_losses(self.unacknowledged);
    }

    /// New data was acknowledged. True on the first acknowledgment of a round.
    #[inline]
    fn on_progress(&mut self, now: Time, rtt: Span, advance: u64) -> bool {
        self.round_trip.see(rtt);
        let round_starts = self.unacknowledged > self.round_end;
        if round_starts {
            self.round_end = self.next;
            self.round_trip.sample(rtt);
        }
        if round_starts || self.timed_out_at.is_some() {
            self.timed_out_at = None;
            self.round_trip.acknowledged();
            self.timeout = self.round_trip.timeout();
        }
        // RFC 6298, sections 5.2 and 5.3.
        let restarted = if self.unacknowledged == self.next {
            self.idle_since = now;
            Time::NEVER
        } else {
            now + self.timeout
        };
        match self.state {
            State::Open => {
                self.deadline = restarted;
                self.duplicates.clear();
            }
            State::Recovery { point } | State::GoBack { point } => {
                self.repair_goes_on(now, point, advance, restarted);
            }
        }
        round_starts
    }

    /// New data was acknowledged, `advance` segments of it, while losses below `point` are under repair. `restarted` is
    /// when the retransmission timer runs out if it starts again.
    #[inline(never)]
    fn repair_goes_on(&mut self, now: Time, point: u64, advance: u64, restarted: Time) {
        if self.unacknowledged >= point || matches!(self.state, State::GoBack { .. }) {
            self.deadline = restarted;
            self.duplicates.clear();
            if self.unacknowledged >= point {
                self.state = State::Open;
            }
            let has_left = self.scoreboard.first_was_retransmitted(self.unacknowledged);
            self.bursts.advanced(now, has_left);
            return;
        }
        match self.settings.recovery {
            Recovery::Sack => self.deadline = restarted,
            Recovery::NewReno => {
                if self.duplicates.partial(advance) {
                    self.deadline = restarted;
                }
                self.fast_retransmit = true;
            }
            // A further loss of the same window is a congestion event of its own.
            Recovery::Reno => {
                self.deadline = restarted;
                self.reacted_until = self.unacknowledged;
                self.state = State::Open;
                self.duplicates.clear();
            }
        }
    }

    /// Can this duplicate tell of a loss?
    fn minds(&self, duplicate: &Packet) -> bool {
        if self.bursts.are_sent() {
            self.bursts.minds(duplicate)
        } else {
            !matches!(self.state, State::GoBack { .. }) && self.duplicates.mind(duplicate.sent)
        }
    }

    fn loss_begins(&self, third_duplicate: bool) -> bool {
        if self.state == State::Open {
            third_duplicate || self.scoreboard.first_is_lost(self.unacknowledged)
        } else {
            third_duplicate && self.bursts.are_sent()
        }
    }

    /// RFC 6675, section 5, step 4.
    #[inline(never)]
    fn enter_recovery(&mut self, now: Time, in_flight: u64) {
        if self.bursts.are_sent() {
            self.go_back();
            self.deadline = now + self.timeout;
            return self.reduce(now, Cause::Loss, in_flight);
        }
        self.state = State::Recovery { point: self.next };
        self.fast_retransmit = !self.scoreboard.first_was_retransmitted(self.unacknowledged);
        // A loss from before the last reduction is answered already (RFC 3168, section 6.1.2).
        if self.unacknowledged >= self.reacted_until {
            self.reduce(now, Cause::Loss, in_flight);
        }
    }

    #[inline(never)]
    fn reduce(&mut self, now: Time, cause: Cause, in_flight: u64) {
        self.reacted_until = self.next;
        self.announce_reduction = self.settings.ecn;
        self.measured.reduced();
        self.tell_congestion(&Congestion { now, cause, in_flight, again: false });
    }

    fn tell_congestion(&mut self, event: &Congestion) {
        let path = self.path();
        self.control.on_congestion(event, &path);
        self.pacer.congestion();
        self.ask_pacing(event.now, &path);
        self.heed_control(event.now);
    }

    /// Takes over the pacing that the scenario or else the controller wants.
    #[inline(never)]
    fn ask_pacing(&mut self, now: Time, path: &Path) {
        let wanted = self.settings.pacing.unwrap_or_else(|| self.control.pacing(now, path));
        self.pacer.set(match wanted {
            Pacing::Blocks(blocks) if blocks < 2 || self.in_slow_start() => Pacing::Unpaced,
            other => other,
        });
    }

    fn in_slow_start(&self) -> bool {
        self.control.threshold().is_none_or(|threshold| self.control.window() < threshold)
    }

    /// All that is not acknowledged counts as lost and goes again: in slow start, or as a new burst.
    fn go_back(&mut self) {
        self.state = State::GoBack { point: self.next };
        self.fast_retransmit = false;
        self.duplicates.clear();
        self.scoreboard.all_lost(self.unacknowledged, self.next);
        self.bursts.begin(self.unacknowledged);
    }

    /// The retransmission timer ran out: RFC 6298, section 5.4 to 5.7, and RFC 6675, section 5.1.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        let in_flight = self.in_flight();
        let again = self.timed_out_at == Some(self.unacknowledged);
        self.timed_out_at = Some(self.unacknowledged);
        self.round_trip.back_off();
        self.timeout = self.round_trip.timeout();
        self.deadline = now + self.timeout;
        self.go_back();
        self.reacted_until = self.next;
        self.announce_reduction = self.settings.ecn;
        self.pacer.cancel();
        self.measured.timed_out();
        self.tell_congestion(&Congestion { now, cause: Cause::Timeout, in_flight, again });
    }

    /// Takes over the controller's window.
    #[inline]
    fn heed_control(&mut self, now: Time) {
        let window = self.control.window().0;
        self.measured.window(now, window);
        // Signed, as processors have an instruction for that.
        let allowed = (window as i64).max(1).cast_unsigned();
        self.allowed = allowed.min(self.settings.max_window);
    }

    fn path(&self) -> Path {
        Path {
            rtt: self.round_trip.smoothed().unwrap_or(self.settings.propagation),
            base_rtt: self.round_trip.smallest(),
        }
    }

    /// Stops sending new data.
    pub(crate) fn stop(&mut self) {
        self.limit = self.limit.min(self.next);
    }

    /// When the retransmission timer runs out.
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Is what this acknowledgment will do at `time` known before?
    #[inline]
    pub(crate) fn hears_early(&self, time: Time, number: u64) -> bool {
        time <= self.deadline && !self.pacer.is_on() && number.max(self.unacknowledged) < self.limit
    }

    /// When pacing lets the next packet leave, if that is what it waits for.
    pub(crate) fn pace_deadline(&self) -> Option<Time> {
        (self.limited == Limited::Pacing).then(|| self.pacer.until())
    }

    /// RFC 6675's `Pipe`.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.scoreboard.pipe(self.next - self.unacknowledged)
    }

    /// Is everything sent and acknowledged?
    pub(crate) fn is_done(&self) -> bool {
        self.unacknowledged == self.limit
    }

    /// Segments to send in all, if there is an end.
    pub(crate) fn size(&self) -> Option<u64> {
        self.settings.segments
    }

    /// When the last acknowledgment of a finite flow arrived.
    pub(crate) fn acknowledged(&self) -> Option<Time> {
        self.is_done().then_some(self.idle_since)
    }

    pub(crate) fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// The window; none where data leaves in bursts.
    pub(crate) fn window(&self) -> Option<Segments> {
        (!self.bursts.are_sent()).then(|| self.control.window())
    }

    pub(crate) fn smoothed_rtt(&self) -> Option<Span> {
        self.round_trip.smoothed()
    }

    pub(crate) fn measured(&self) -> &Measured {
        &self.measured
    }

    /// What it makes of explicit signals.
    pub(crate) fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Begins the measured interval.
    pub(crate) fn begin_measuring(&mut self, now: Time) {
        self.measured.begin(now);
        self.listener.begin_measuring();
    }
}

#[cfg(test)]
mod tests;
