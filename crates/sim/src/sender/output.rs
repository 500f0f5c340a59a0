//! What leaves next, and when.

use longfat_control::Limited;
use longfat_scenario::Recovery;
use longfat_units::Time;

use super::{Sender, Settings, State};
use crate::packet::{Flags, Packet};

/// What leaves next.
#[derive(Clone, Copy, Debug)]
enum Next {
    New,
    Again(u64),
}

impl Sender {
    /// The next packet that may leave now.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Packet> {
        let (number, flags) = match self.choose(now)? {
            Next::New => self.new_segment(),
            Next::Again(segment) => (segment, self.again(segment, now)),
        };
        Some(self.leave(number, flags, now))
    }

    /// What may leave now.
    #[inline]
    fn choose(&mut self, now: Time) -> Option<Next> {
        if std::mem::take(&mut self.fast_retransmit) {
            let segment = match self.settings.recovery {
                Recovery::Sack => self.scoreboard.take_lost(self.unacknowledged),
                Recovery::NewReno | Recovery::Reno => Some(self.unacknowledged),
            };
            if let Some(segment) = segment {
                return Some(Next::Again(segment));
            }
        }
        if self.in_flight() >= self.allowed + self.duplicates.inflation() {
            let bounded = self.settings.max_window <= self.allowed;
            self.limited = if bounded { Limited::Receiver } else { Limited::Window };
            return None;
        }
        if self.pacer.holds(now) {
            return self.choose_held().map(Next::Again);
        }
        if let Some(segment) = self.next_repair() {
            return Some(Next::Again(segment));
        }
        if self.next < self.limit {
            return Some(Next::New);
        }
        if let Some(segment) = self.next_speculative() {
            return Some(Next::Again(segment));
        }
        self.limited = Limited::Application;
        None
    }

    /// What may leave while pacing holds back new data.
    #[cold]
    fn choose_held(&mut self) -> Option<u64> {
        if self.pacer.spares_repairs()
            && let Some(segment) = self
                .next_repair()
                .or_else(|| if self.next < self.limit { None } else { self.next_speculative() })
        {
            return Some(segment);
        }
        self.limited = Limited::Pacing;
        None
    }

    /// `NextSeg`, rule 1.
    fn next_repair(&mut self) -> Option<u64> {
        if self.state == State::Open || self.scoreboard.is_clear() {
            None
        } else {
            self.scoreboard.take_lost(self.unacknowledged)
        }
    }

    /// `NextSeg`, rules 3 and 4: in recovery, with nothing lost to repair and nothing new to send.
    fn next_speculative(&mut self) -> Option<u64> {
        if !matches!(self.state, State::Recovery { .. }) {
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
    fn again(&mut self, segment: u64, now: Time) -> Flags {
        self.measured.retransmitted();
        self.bursts.sent_again(now, segment == self.unacknowledged);
        if matches!(self.state, State::GoBack { .. }) {
            self.duplicates.copied(now);
        }
        self.again_flags
    }

    #[inline]
    fn leave(&mut self, number: u64, flags: Flags, now: Time) -> Packet {
        self.measured.sent();
        if self.deadline == Time::NEVER {
            self.deadline = now + self.timeout;
        }
        if self.pacer.is_on() {
            self.pace(now, flags);
        }
        let Settings { flow, bytes, .. } = self.settings;
        Packet { number, sent: now, flow, detail: self.bursts.rank(number), bytes, hop: 0, flags }
    }

    #[cold]
    fn pace(&mut self, now: Time, flags: Flags) {
        let new = !flags.has(Flags::RETRANSMISSION);
        let (window, rtt) = (self.control.window().0, self.path().rtt);
        self.pacer.leave(now, new, window, self.allowed, rtt);
    }
}
