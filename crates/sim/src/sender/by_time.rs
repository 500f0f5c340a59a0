//! What the sender does about losses found by time, and to find them (RFC 8985).

use longfat_control::{Cause, Reaction, Wants};
use longfat_scenario::Recovery;
use longfat_units::{Span, Time};

use super::losses::Losses;
use super::output::Next;
use super::rack::{Moment, Rack};
use super::reduction::{Delivery, Reduction};
use super::{Extras, Sender, Sends, State, Undo};
use crate::cargo::Cargo;

impl Extras {
    /// Does anything here follow each delivery?
    pub(super) fn watches_deliveries(&self) -> bool {
        self.rack.is_some() || self.delivery_rate.is_some() || self.noted.is_some()
    }

    /// The acknowledgment of a segment sent at `sent` reports this one for the first time.
    pub(super) fn note_delivered(&mut self, now: Time, sent: Time, segment: u64) {
        if let Some(rate) = &mut self.delivery_rate {
            rate.on_delivered(now, segment);
        }
        if let Some(rack) = &mut self.rack {
            rack.on_delivered(now, sent, segment);
        }
        if let Some(noted) = &mut self.noted {
            noted.arrived.push(segment);
        }
    }
}

impl Sender {
    /// The controller is about to react. With [`Rack`] it may be found out that it need not have: a copy of the
    /// controller is kept. One that wants to know more than what every acknowledgment reports may want to know this too;
    /// if it does not, its reaction stands, since the copy would lack what it has been told since.
    pub(super) fn remember(&mut self, at: Time, cause: Cause) {
        let Some(extras) = &mut self.extras else { return };
        if extras.rack.is_none() {
            return;
        }
        let is_simple = Wants { pacing: false, ..extras.wants } == Wants::NOTHING;
        let before = is_simple.then(|| self.control.clone());
        extras.undo = (is_simple || extras.wants.spurious).then_some(Undo { cause, at, before });
    }

    /// An acknowledgment has come, thanks to a segment sent at `sent`: does it show that the last reaction was
    /// needless? After a time-out the first one in order tells: whether what arrived had left before (RFC 3522). A loss
    /// was none if every segment found lost since has arrived before it was sent again.
    fn was_needless(&mut self, sent: Time, advances: bool) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        match &extras.undo {
            Some(Undo { cause: Cause::Timeout, at, .. }) => {
                let needless = sent < *at;
                if advances && !needless {
                    extras.undo = None;
                }
                advances && needless
            }
            Some(Undo { cause: Cause::Loss, .. }) => {
                extras.rack.as_ref().is_some_and(Rack::is_refuted)
            }
            Some(Undo { cause: Cause::Mark, .. }) | None => false,
        }
    }

    /// The last reaction was needless: takes it back, and goes on as before (RFC 4015). A loss of the same window will
    /// call for a reaction again.
    fn undo(&mut self, now: Time) {
        let Some(extras) = &mut self.extras else { return };
        let (Some(rack), Some(undo)) = (&mut extras.rack, extras.undo.take()) else { return };
        rack.restore();
        extras.reduction = None;
        if let Some(validation) = &mut extras.validation {
            validation.undo();
        }
        if let Some(resume) = &mut extras.resume {
            resume.undo();
        }
        match undo.before {
            Some(before) => self.control = before,
            None => extras.spurious = Some(undo.cause),
        }
        self.scoreboard.set_lost(0);
        self.enter(now, State::Open);
        self.fast_retransmit = false;
        self.once.reopen(self.unacknowledged);
        self.heed_pacing();
        self.heed_control(now);
    }

    /// A mark has come that the last reaction answers. It stands, even where nothing proves lost: the path is congested
    /// (RFC 4015, section 3.4).
    #[cold]
    pub(super) fn keep_reaction(&mut self) {
        if let Some(extras) = &mut self.extras {
            extras.undo = None;
        }
    }

    /// A recovery is over, or a reaction is beyond doubt.
    pub(super) fn end_recovery(&mut self) {
        let Some(extras) = &mut self.extras else { return };
        extras.undo = None;
        if let Some(rack) = &mut extras.rack {
            rack.end_episode();
        }
    }

    /// What finds losses by time, if anything does.
    pub(super) fn rack(&mut self) -> Option<&mut Rack> {
        self.extras.as_mut()?.rack.as_mut()
    }

    /// The first segment that was found lost by time and has not been sent again since.
    pub(super) fn lost_by_time(&self) -> Option<u64> {
        self.extras.as_ref()?.rack.as_ref()?.first_lost()
    }

    /// The one of these that leaves next. While what receivers wait for is missing, nothing else restarts the timer.
    pub(super) fn first_by_time(&mut self) -> Option<u64> {
        let unacknowledged = self.unacknowledged;
        let rack = self.rack()?;
        let first = rack.first_lost()?;
        Some(if rack.is_lost(unacknowledged) { unacknowledged } else { first })
    }

    /// The highest segment found lost so far. Where duplicates alone tell, the first unacknowledged one is, whenever there
    /// is news of a loss.
    fn last_lost(&self) -> u64 {
        if self.counts_duplicates {
            return self.unacknowledged;
        }
        let rack = self.extras.as_ref().and_then(|extras| extras.rack.as_ref());
        rack.map_or_else(|| self.scoreboard.last_lost(), Rack::last_lost)
    }

    /// Has something been lost that left after the last response to losses? In a recovery that began with one, what
    /// leaves during it waits for its end; one that began with older losses has none yet. Packets with numbers of their
    /// own tell for themselves ([`Recovery::Quic`]).
    pub(super) fn loss_counts(&self) -> bool {
        let State::Recovery { point } = self.state else { return false };
        self.config.recovery != Recovery::Quic
            && self.once.loss_counts(point - 1)
            && self.once.loss_counts(self.last_lost())
    }

    /// A segment leaves.
    pub(super) fn note_departure(&mut self, now: Time, segment: u64, again: bool) {
        let unacknowledged = self.unacknowledged;
        let Some(Extras { rack: Some(rack), reduction, .. }) = self.extras.as_deref_mut() else {
            return;
        };
        rack.on_sent(now, segment, again, unacknowledged);
        if let Some(reduction) = reduction {
            reduction.on_sent();
        }
        if again {
            let lost = rack.lost();
            self.scoreboard.set_lost(lost);
        } else {
            self.schedule_probe(now);
        }
    }

    /// An acknowledgment has been taken in, thanks to a segment sent at `sent`; everything below `from` had been
    /// acknowledged before, and losses were being repaired or not (`repairing`). Returns how many segments are newly
    /// found lost, and the one that a probe has repaired.
    pub(super) fn find_losses(
        &mut self,
        now: Time,
        from: u64,
        sent: Time,
        cargo: Option<&Cargo>,
        repairing: bool,
    ) -> (u64, Option<u64>) {
        let blocks = cargo.and_then(|cargo| cargo.blocks.as_ref());
        let duplicate = blocks.and_then(|blocks| blocks[0].as_duplicate());
        let (unacknowledged, next) = (self.unacknowledged, self.next);
        let advances = unacknowledged > from;
        if repairing && self.was_needless(sent, advances) {
            self.undo(now);
        }
        let recovered = repairing && self.is_open();
        if recovered {
            self.end_recovery();
        }
        let Some(rack) = self.rack() else { return (0, None) };
        rack.adapt(unacknowledged, next, duplicate.is_some(), recovered);
        let repaired = rack.heed_probe(unacknowledged, duplicate, !advances && blocks.is_none());
        let owed = rack.take_owed() + u64::from(repaired.is_some());
        if let Some(segment) = repaired {
            self.tell_loss(now, segment);
        }
        let found = self.detect(now);
        if !self.may_probe() {
            self.cancel_probe(now);
        } else if advances {
            self.schedule_probe(now);
        }
        (owed + found, repaired)
    }

    /// The same for an acknowledgment of everything from `from` on that may show no loss ([`Rack::is_quiet`]).
    #[inline]
    pub(super) fn note_in_order(&mut self, now: Time, from: u64, sent: Time) {
        let (unacknowledged, next) = (self.unacknowledged, self.next);
        let smoothed = self.timer.path().rtt;
        let Some(rack) = self.rack() else { return };
        rack.on_delivered_in_order(now, sent, (from, unacknowledged), smoothed);
        let deadline = rack.deadline();
        self.yield_to(deadline);
        if unacknowledged < next {
            self.expect_probe(now);
        } else if let Some(rack) = self.rack() {
            rack.schedule_probe(Time::NEVER);
        }
    }

    /// Is there anything that a probe could find (section 7.2)?
    fn is_probeable(&self) -> bool {
        self.is_open() && self.scoreboard.is_clear() && self.unacknowledged < self.next
    }

    /// May a probe be scheduled?
    fn may_probe(&mut self) -> bool {
        self.is_probeable() && self.rack().is_some_and(|rack| rack.may_probe())
    }

    /// Schedules a probe if one may be.
    fn schedule_probe(&mut self, now: Time) {
        if self.may_probe() {
            self.expect_probe(now);
            self.set_alarm(now);
        }
    }

    /// A probe is due after two round trips, and an acknowledgment held back if only one segment is in flight, but no
    /// later than the retransmission timer expires.
    #[inline]
    fn expect_probe(&mut self, now: Time) {
        let wait = match self.timer.smoothed() {
            Some(rtt) if self.next - self.unacknowledged == 1 => rtt * 2 + self.config.ack_delay,
            Some(rtt) => rtt * 2,
            // As for the first time-out, what a handshake would have measured counts.
            None => Span::from_seconds(1).max(self.timer.path().rtt * 2),
        };
        let at = now.saturating_add(wait).min(self.timer.deadline());
        if let Some(rack) = self.rack() {
            rack.schedule_probe(at);
        }
        self.yield_to(at);
    }

    fn cancel_probe(&mut self, now: Time) {
        if let Some(rack) = self.rack() {
            rack.schedule_probe(Time::NEVER);
        }
        self.set_alarm(now);
    }

    /// The probe that is to leave now, if one is (section 7.3): new data, or the last segment again.
    pub(super) fn next_probe(&mut self) -> Option<Next> {
        if self.config.recovery == Recovery::Quic {
            return self.next_numbered_probe();
        }
        if !self.rack().is_some_and(Rack::take_probe) || !self.is_probeable() {
            return None;
        }
        let new = self.next < self.sendable && self.in_flight() < self.config.max_window;
        let (end, probe) =
            if new { (self.next + 1, Next::New) } else { (self.next, Next::Again(self.next - 1)) };
        self.rack()?.on_probe(end, !new);
        Some(probe)
    }

    /// A recovery begins.
    pub(super) fn prepare_recovery(&mut self) {
        let Some(extras) = &mut self.extras else { return };
        extras.reduction = None;
        if let Some(rack) = &mut extras.rack {
            rack.forget_probe();
        }
    }

    /// Finds losses, and says when to look again.
    fn detect(&mut self, now: Time) -> u64 {
        let moment = Moment {
            now,
            repairing: !self.is_open(),
            sacked: self.scoreboard.sacked(),
            rtt: self.timer.path().rtt,
        };
        let Some(Extras { rack: Some(rack), delivery_rate, wants, noted, .. }) =
            self.extras.as_deref_mut()
        else {
            return 0;
        };
        let whom = (delivery_rate.as_mut(), wants.losses, noted.as_mut());
        let mut losses = Losses::new(now, whom, &mut *self.control, &self.timer);
        let found = rack.detect(&moment, |segment| losses.tell(segment));
        let (lost, deadline) = (rack.lost(), rack.deadline());
        self.scoreboard.set_lost(lost);
        self.set_alarm(now);
        self.yield_to(deadline);
        found
    }

    /// The timers of section 8 exclude each other: while another runs, the retransmission timer waits for it.
    fn yield_to(&mut self, deadline: Time) {
        if deadline != Time::NEVER && self.timer.deadline() <= deadline {
            self.timer.set(deadline.saturating_add(Span(1)));
        }
    }

    /// The alarm went off: looks for losses, or sends a probe, if that is what it was set for. Returns whether the
    /// controller wants to be called as well.
    pub(super) fn look_for_losses(&mut self, now: Time) -> bool {
        if self.rack().is_some_and(|rack| rack.deadline() <= now) {
            self.timer.restart(now);
            if self.rack().is_some_and(|rack| rack.begin_probe(now)) {
                self.fast_retransmit = true;
            } else {
                self.look(now);
            }
        }
        let wanted = self.extras.as_ref().is_some_and(|extras| extras.wants.timer);
        let due = wanted && self.control.timer().is_some_and(|time| time <= now);
        if !due {
            self.set_alarm(now);
        }
        due
    }

    /// The reordering timer expired.
    fn look(&mut self, now: Time) {
        let in_flight = self.in_flight();
        let found = self.detect(now);
        if let Some(rack) = self.rack() {
            rack.owe(found);
        }
        if found > 0 && self.is_open() {
            self.enter_recovery(now, in_flight);
        } else if found > 0 && self.loss_counts() {
            self.reduce(now, Cause::Loss, in_flight);
        }
        if let Some(reduction) = self.reduction() {
            reduction.expire();
        }
        self.regulate(now, 0, false);
    }

    /// The controller is about to react: in a recovery that is under way its reaction has a reduction of its own, which
    /// counts from now on. One to each mark is none: it would begin anew with each acknowledgment.
    pub(super) fn begin_reduction(&mut self, cause: Cause) {
        if cause == Cause::Mark && self.config.reaction == Reaction::PerMark {
            return;
        }
        if let Some(extras) = &mut self.extras {
            extras.reduction = None;
        }
    }

    /// The reduction of the current recovery.
    fn reduction(&mut self) -> Option<&mut Reduction> {
        self.extras.as_mut()?.reduction.as_mut()
    }

    /// An acknowledgment that reports `delivered` segments, or the reordering timer, has been dealt with: in a
    /// recovery, adopts what may be in flight until the next one (RFC 9937).
    pub(super) fn regulate(&mut self, now: Time, delivered: u64, safe: bool) {
        let recovering = matches!(self.state, State::Recovery { .. });
        if !recovering && self.reduction().is_none() {
            return;
        }
        // What the controller allows: the target, and what remains when recovery is over.
        self.heed_control(now);
        let (in_flight, target) = (self.in_flight(), self.allowed);
        let outstanding = self.next - self.unacknowledged;
        let flight = outstanding - self.scoreboard.sacked() + delivered;
        let Some(extras) = &mut self.extras else { return };
        if recovering && !extras.wants.own_recovery {
            let reduction = extras.reduction.get_or_insert(Reduction::new(flight));
            let delivery = Delivery { delivered, safe, in_flight, target };
            self.allowed = reduction.on_ack(&delivery).min(self.config.max_window);
        } else {
            extras.reduction = None;
        }
    }

    /// Something else has adopted the window: in a recovery it is not to be filled at once.
    pub(super) fn heed_reduction(&mut self) {
        if let Some(allowed) = self.reduction().map(|reduction| reduction.allowed()) {
            self.allowed = allowed.min(self.config.max_window);
        }
    }

    /// The retransmission timer expired. The first unacknowledged segment leaves whatever is still in flight.
    pub(super) fn lose_by_timeout(&mut self, now: Time) {
        let unacknowledged = self.unacknowledged;
        let Some(Extras { rack: Some(rack), delivery_rate, wants, noted, .. }) =
            self.extras.as_deref_mut()
        else {
            return;
        };
        rack.end_episode();
        let whom = (delivery_rate.as_mut(), wants.losses, noted.as_mut());
        let mut losses = Losses::new(now, whom, &mut *self.control, &self.timer);
        rack.on_timeout(now, unacknowledged, |segment| losses.tell(segment));
        let lost = rack.lost();
        self.scoreboard.set_lost(lost);
        self.fast_retransmit = true;
        self.prepare_recovery();
    }
}
