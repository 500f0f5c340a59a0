//! What the sender does about losses found by time (RFC 8985).

use longfat_units::{Span, Time};

use super::rack::{Moment, Rack};
use super::{Extras, Sender, Sends, State};
use crate::cargo::Cargo;

impl Extras {
    /// Does anything here follow each delivery?
    pub(super) fn watches_deliveries(&self) -> bool {
        self.rack.is_some() || self.delivery_rate.is_some()
    }

    /// The acknowledgment of a segment sent at `sent` reports this one for the first time.
    pub(super) fn note_delivered(&mut self, now: Time, sent: Time, segment: u64) {
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_delivered(now, segment);
        }
        if let Some(rack) = &mut self.rack {
            rack.on_delivered(now, sent, segment);
        }
    }
}

impl Sender {
    /// What finds losses by time, if anything does.
    pub(super) fn rack(&mut self) -> Option<&mut Rack> {
        self.extras.as_mut()?.rack.as_mut()
    }

    /// The first segment that was found lost by time and has not been sent again since.
    pub(super) fn lost_by_time(&self) -> Option<u64> {
        self.extras.as_ref()?.rack.as_ref()?.first_lost()
    }

    /// The first lost segment, when recovery begins.
    pub(super) fn first_lost(&self) -> u64 {
        self.lost_by_time().unwrap_or(self.unacknowledged)
    }

    /// A segment leaves.
    pub(super) fn note_departure(&mut self, now: Time, segment: u64, again: bool) {
        let unacknowledged = self.unacknowledged;
        let Some(rack) = self.rack() else { return };
        rack.on_sent(now, segment, again, unacknowledged);
        let lost = rack.lost();
        self.scoreboard.set_lost(lost);
    }

    /// An acknowledgment of everything below `number` has been taken in; `repairing`: were losses being repaired when
    /// it arrived? Returns how many segments are newly found lost.
    pub(super) fn find_losses(
        &mut self,
        now: Time,
        number: u64,
        cargo: Option<&Cargo>,
        repairing: bool,
    ) -> u64 {
        let duplicate = cargo
            .and_then(|cargo| cargo.blocks.as_ref())
            .is_some_and(|blocks| blocks[0].as_duplicate().is_some());
        let recovered = repairing && self.is_open();
        let next = self.next;
        if let Some(rack) = self.rack() {
            rack.adapt(number, next, duplicate, recovered);
        }
        let owed = self.rack().map_or(0, Rack::take_owed);
        owed + self.detect(now)
    }

    /// Finds losses, and says when to look again.
    fn detect(&mut self, now: Time) -> u64 {
        let moment = Moment {
            now,
            repairing: !self.is_open(),
            sacked: self.scoreboard.sacked(),
            rtt: self.timer.path().rtt,
        };
        let Some(rack) = self.rack() else { return 0 };
        let found = rack.detect(&moment);
        let (lost, deadline) = (rack.lost(), rack.deadline());
        self.scoreboard.set_lost(lost);
        self.set_alarm();
        self.yield_to(deadline);
        found
    }

    /// The timers of section 8 exclude each other: while another runs, the retransmission timer waits for it.
    fn yield_to(&mut self, deadline: Time) {
        if deadline != Time::NEVER && self.timer.deadline() <= deadline {
            self.timer.set(deadline.saturating_add(Span(1)));
        }
    }

    /// The alarm went off: looks for losses if that is what it was set for. Returns whether the controller wants to be
    /// called as well.
    pub(super) fn look_for_losses(&mut self, now: Time) -> bool {
        if self.rack().is_some_and(|rack| rack.deadline() <= now) {
            let in_flight = self.in_flight();
            self.timer.restart(now);
            let found = self.detect(now);
            if let Some(rack) = self.rack() {
                rack.owe(found);
            }
            if found > 0 && matches!(self.state, State::Open) {
                self.enter_recovery(now, in_flight);
            }
        }
        let wanted = self.extras.as_ref().is_some_and(|extras| extras.wants.timer);
        let due = wanted && self.control.timer().is_some_and(|time| time <= now);
        if !due {
            self.set_alarm();
        }
        due
    }

    /// The retransmission timer expired: returns how many segments are newly lost. The first unacknowledged one leaves
    /// whatever is still in flight.
    pub(super) fn lose_by_timeout(&mut self, now: Time) -> u64 {
        let unacknowledged = self.unacknowledged;
        let Some(rack) = self.rack() else { return 0 };
        let found = rack.on_timeout(now, unacknowledged);
        let lost = rack.lost();
        self.scoreboard.set_lost(lost);
        self.fast_retransmit = true;
        found
    }
}
