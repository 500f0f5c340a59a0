//! Which packet leaves next, and when.

use longfat_control::{Limited, Sent};
use longfat_scenario::{Recovery, RtoRestart};
use longfat_units::Time;
use longfat_units::fault::{self, Fault};

use super::{MOST_IN_FLIGHT, Sender, SenderConfig, Sends, State};
use crate::packet::{Flags, Packet};

/// Which kind of segment leaves next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    New,
    Again(u64),
}

impl Sender {
    /// The next packet that may leave now, if any.
    #[expect(clippy::inline_always, reason = "so that the packet is made in registers")]
    #[inline(always)]
    pub(super) fn next_packet(&mut self, now: Time) -> Option<Packet> {
        let (number, flags) = match self.choose(now)? {
            Next::New => self.new_segment(),
            Next::Again(segment) => (segment, self.again(now, segment)),
        };
        Some(self.leave(number, flags, now))
    }

    /// Which segment may leave now, if any.
    #[expect(clippy::inline_always, reason = "as for its caller")]
    #[inline(always)]
    fn choose(&mut self, now: Time) -> Option<Next> {
        if self.fast_retransmit {
            let first = self.choose_first(now);
            if first.is_some() || self.fast_retransmit {
                return first;
            }
        }
        if self.flight() >= self.allowed + self.duplicates.inflation() {
            let bounded = self.config.max_window <= self.allowed;
            self.limit_by(now, if bounded { Limited::Receiver } else { Limited::Window });
            return None;
        }
        if self.pacer.holds(now) {
            return self.choose_held(now).map(Next::Again);
        }
        if let Some(segment) = self.next_repair() {
            return Some(Next::Again(segment));
        }
        if self.next < self.sendable {
            return Some(Next::New);
        }
        if let Some(segment) = self.next_speculative() {
            return Some(Next::Again(segment));
        }
        self.run_dry(now);
        None
    }

    /// The first retransmission of a recovery, unless pacing holds it back: then it stays due.
    #[inline(never)]
    fn choose_first(&mut self, now: Time) -> Option<Next> {
        // The window does not hold it back, but pacing does: two packets in the time of one meet a full queue.
        if self.pacer.holds(now) && !self.pacer.spares_repairs() {
            self.limit_by(now, Limited::Pacing);
            return None;
        }
        self.fast_retransmit = false;
        if let Some(probe) = self.next_probe() {
            return Some(probe);
        }
        let segment = match self.config.recovery {
            Recovery::Sack => self.scoreboard.take_lost(self.unacknowledged),
            Recovery::NewReno | Recovery::Reno => Some(self.unacknowledged),
            Recovery::Rack => self.first_by_time(),
            Recovery::Quic => self.take_waiting(),
        };
        segment.map(Next::Again)
    }

    /// There is nothing to send, or the receiver allows no more.
    fn run_dry(&mut self, now: Time) {
        if self.extras.is_some() && self.next < self.limit {
            return self.heed_limit(now);
        }
        self.limit_by(now, Limited::Application);
        if self.extras.is_some() {
            self.note_limit();
        }
    }

    /// What keeps the sender from having more in flight: it is asked after each acknowledgment, and rarely changes.
    #[expect(clippy::inline_always, reason = "on the way of every acknowledgment")]
    #[inline(always)]
    fn limit_by(&mut self, now: Time, cause: Limited) {
        if self.limited != cause {
            self.change_limit(now, cause);
        }
    }

    #[cold]
    #[inline(never)]
    fn change_limit(&mut self, now: Time, cause: Limited) {
        self.limited = cause;
        if self.is_open() {
            self.limits.switch(now, cause);
        }
        if self.config.max_window == MOST_IN_FLIGHT && self.flight() >= MOST_IN_FLIGHT {
            self.complain_of_window(now);
        }
    }

    #[cold]
    fn complain_of_window(&self, now: Time) {
        fault::report(|| {
            let window = self.control.window().0;
            let what = format!(
                "{MOST_IN_FLIGHT} segments are in flight, and its window of {window:.4e} allows more; it counts \
                 segments, and `max_window` in the scenario bounds it, or says that so many are meant"
            );
            Fault::new("a sender", what).of_flow(self.config.member).at(now)
        });
    }

    /// The receiver allows no more.
    #[inline(never)]
    fn heed_limit(&mut self, now: Time) {
        self.limit_by(now, Limited::Receiver);
        if let Some(allowance) = self.allowance_mut() {
            allowance.hold(now);
        }
    }

    /// From here on the delivery rate says what the application sends, not what the path could deliver.
    #[inline(never)]
    fn note_limit(&mut self) {
        let in_flight = self.in_flight();
        let rate = self.extras.as_mut().and_then(|extras| extras.delivery_rate.as_mut());
        if let Some(rate) = rate {
            rate.on_application_limited(in_flight);
        }
    }

    /// The retransmission that may leave while pacing holds back new data.
    #[cold]
    fn choose_held(&mut self, now: Time) -> Option<u64> {
        if self.pacer.spares_repairs()
            && let Some(segment) = self
                .next_repair()
                .or_else(|| if self.next < self.sendable { None } else { self.next_speculative() })
        {
            return Some(segment);
        }
        self.limit_by(now, Limited::Pacing);
        None
    }

    /// `NextSeg`, rule 1.
    fn next_repair(&mut self) -> Option<u64> {
        if self.is_open() || self.scoreboard.is_clear() {
            return None;
        }
        match self.config.recovery {
            Recovery::Rack => self.first_by_time(),
            Recovery::Quic => self.take_waiting(),
            Recovery::Sack | Recovery::NewReno | Recovery::Reno => {
                self.scoreboard.take_lost(self.unacknowledged)
            }
        }
    }

    /// `NextSeg`, rules 3 and 4: in recovery, with no lost segment left to repair and nothing new to send.
    fn next_speculative(&mut self) -> Option<u64> {
        if self.config.recovery != Recovery::Sack || !matches!(self.state, State::Recovery { .. }) {
            return None;
        }
        self.scoreboard
            .take_unsacked(self.unacknowledged)
            .or_else(|| self.scoreboard.rescue(self.unacknowledged, self.next))
    }

    fn new_segment(&mut self) -> (u64, Flags) {
        let segment = self.next;
        self.next += 1;
        if std::mem::take(&mut self.announce_reduction) {
            return (segment, self.new_flags.with(Flags::REDUCED));
        }
        (segment, self.new_flags)
    }

    #[inline(never)]
    fn again(&mut self, now: Time, segment: u64) -> Flags {
        self.measured.retransmitted();
        let restarts = match self.config.rto_restart {
            RtoRestart::Never => false,
            RtoRestart::First => segment == self.unacknowledged,
            RtoRestart::Each => matches!(self.state, State::Recovery { .. }),
        };
        if restarts {
            self.timer.restart(now);
        }
        if matches!(self.state, State::GoBack { .. }) {
            self.duplicates.copied(now);
        }
        self.again_flags
    }

    #[inline]
    fn leave(&mut self, number: u64, flags: Flags, now: Time) -> Packet {
        self.measured.sent();
        self.timer.on_sent(now);
        if !self.leaves_plainly {
            self.leave_watched(now, number, flags);
        }
        let SenderConfig { flow, bytes, .. } = self.config;
        Packet { number, sent: now, flow, detail: 0, bytes, hop: 0, flags }
    }

    /// Handles the departure of a packet that is paced, or that the controller wants to know about.
    #[inline(never)]
    fn leave_watched(&mut self, now: Time, number: u64, flags: Flags) {
        let again = flags.has(Flags::RETRANSMISSION);
        if self.pacer.is_on() {
            let (window, rtt) = (self.control.window().0, self.timer.path().rtt);
            self.pacer.leave(now, !again, window, self.allowed, rtt);
        }
        if self.follows_departures {
            self.tell_departure(now, number, again);
        }
    }

    /// Handles the departure of a packet that the controller wants to know about.
    #[inline]
    fn tell_departure(&mut self, now: Time, number: u64, again: bool) {
        if self.extras.as_ref().is_some_and(|extras| extras.follows_departures()) {
            self.note_departure(now, number, again);
            self.number_departure(now, number, again);
            self.resize_after_departure(now, again);
        }
        let in_flight = self.in_flight();
        let Some(extras) = &mut self.extras else { return };
        if let Some(rate) = &mut extras.delivery_rate {
            rate.on_sent(now, number, in_flight, self.unacknowledged);
        }
        if extras.wants.departures {
            self.control.on_sent(&Sent { now, again, in_flight }, self.timer.path());
            if self.asks_pacing_always {
                self.heed_pacing();
            }
            self.set_alarm(now);
        }
    }
}
