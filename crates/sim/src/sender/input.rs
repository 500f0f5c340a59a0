//! What an acknowledgment tells, and what the sender and its controller make of it.

use longfat_control::{Cause, Feedback, Limited, Reaction};
use longfat_scenario::Recovery;
use longfat_units::{Span, Time};

use super::losses::Losses;
use super::rack::Rack;
use super::{Extras, Sender, Sends, State};
use crate::cargo::{Blocks, Cargo, Hold, Report};
use crate::packet::{Flags, Packet};

impl Extras {
    /// Is an acknowledgment that is plain without them plain with them too? Not if they find losses or change what may
    /// be sent, nor if it reports marks.
    #[inline]
    pub(super) fn let_pass(&self, report: Report, counts_marks: bool) -> bool {
        self.follow_only_deliveries
            && (!counts_marks || report.marks == self.marks)
            && self.rack.as_ref().is_none_or(Rack::is_quiet)
            && self.reduction.is_none()
    }
}

impl Sender {
    /// Is new data acknowledged in order, with nothing under repair and no sign of congestion, by an acknowledgment that
    /// does not tell more?
    #[expect(clippy::inline_always, reason = "on the way of every acknowledgment")]
    #[inline(always)]
    pub(super) fn is_plain(&self, ack: &Packet, tells_more: bool) -> bool {
        ack.number > self.unacknowledged
            && self.is_open()
            && self.scoreboard.is_clear()
            && !tells_more
            && !ack.flags.has(Flags::ECHO)
    }

    /// Is a plain acknowledgment plain with what is kept beside it? Not where it may tell of earlier arrivals.
    #[inline]
    pub(super) fn let_pass(&self, extras: &Extras, report: Report) -> bool {
        let obscured = self.counts_duplicates && self.duplicates.obscures(self.unacknowledged);
        !obscured && extras.let_pass(report, self.config.counts_marks)
    }

    /// New data acknowledged in order, with nothing under repair and no sign of congestion. Nearly all acknowledgments
    /// are of this kind, so this path skips every check whose outcome is already known. With `EXTRAS` there are some,
    /// and they let it pass ([`Extras::let_pass`]).
    #[expect(
        clippy::inline_always,
        reason = "without extras, on the way of nearly every acknowledgment"
    )]
    #[inline(always)]
    pub(super) fn on_plain_ack<const EXTRAS: bool>(
        &mut self,
        now: Time,
        ack: &Packet,
        one_way_delay: Option<Span>,
    ) {
        let from = self.unacknowledged;
        let in_flight = self.next - from;
        let rtt = now - ack.sent;
        let extras = if EXTRAS { self.extras.as_deref_mut() } else { None };
        if let Some(extras) = extras
            && let Some(rate) = &mut extras.delivery_rate
        {
            if extras.wants.delivery_rate {
                (from..ack.number).for_each(|segment| rate.on_delivered(now, segment));
            } else {
                rate.count(now, ack.number - from);
            }
        }
        self.unacknowledged = ack.number;
        let (round_starts, restarted) =
            self.timer.on_progress(now, rtt, self.unacknowledged, self.next);
        self.timer.set(restarted);
        self.duplicates.clear();
        if EXTRAS {
            self.note_in_order(now, from, ack.sent);
            self.note_round_trip(rtt);
        } else {
            self.measured.round_trip(rtt, self.config.propagation);
        }
        let spare = self.listener.hear(ack.flags);
        let mut feedback = Feedback {
            rtt: Some(rtt),
            in_flight,
            limited: self.limited,
            round_starts,
            spare,
            one_way_delay,
            ..Feedback::at(now, ack.number - from)
        };
        if EXTRAS {
            self.add_extras(&mut feedback);
        }
        self.control.on_feedback(&feedback, self.timer.path());
        if round_starts || self.minds_pacing {
            self.pace_on(now, round_starts);
        }
        self.heed_control(now);
        if EXTRAS {
            self.set_alarm(now);
        }
    }

    /// The same with extras.
    #[inline(never)]
    pub(super) fn on_plain_ack_with_extras(
        &mut self,
        now: Time,
        ack: &Packet,
        one_way_delay: Option<Span>,
    ) {
        self.on_plain_ack::<true>(now, ack, one_way_delay);
    }

    /// An acknowledgment whose cargo has this handle.
    #[inline(never)]
    pub(crate) fn on_loaded_ack(&mut self, now: Time, ack: &Packet, handle: u32, hold: &mut Hold) {
        let Some(timing) = hold.take_timing(handle) else {
            return self.on_any_ack(now, ack, Some(&hold.take(handle)));
        };
        let passes =
            self.extras.as_ref().is_some_and(|extras| self.let_pass(extras, timing.report));
        if self.is_plain(ack, false) && passes {
            self.on_plain_ack_with_extras(now, ack, Some(timing.transit));
        } else {
            self.on_any_ack(now, ack, Some(&timing.cargo()));
        }
    }

    /// Any acknowledgment.
    #[inline(never)]
    pub(super) fn on_any_ack(&mut self, now: Time, ack: &Packet, cargo: Option<&Cargo>) {
        let (flight, in_flight) = (self.flight(), self.in_flight());
        let recovering = matches!(self.state, State::Recovery { .. });
        let from = self.unacknowledged;
        let (mut acked, mut sacked) = (0, 0);
        let mut round_starts = false;
        let mut third_duplicate = false;
        let rtt = now - ack.sent;
        let mut lost = 0;
        let repairing = !self.is_open();
        let mut probed = None;
        if let Some(rack) = self.rack() {
            rack.on_ack(now, ack.sent);
        }
        if ack.number > from {
            if self.extras.as_ref().is_some_and(|it| it.watches_deliveries()) {
                self.note_delivered(now, ack);
            }
            acked = self.scoreboard.advance(from, ack.number, self.next);
            self.unacknowledged = ack.number;
            round_starts = self.on_progress(now, rtt, ack.number - from);
            if self.counts_duplicates {
                self.count_delivered(now, self.duplicates.certain(from, acked), from);
                // Much of it had arrived before the repair, unreported (RFC 3465, section 2.3).
                acked = if repairing { acked.min(1) } else { acked };
                // A partial acknowledgment reveals one more loss.
                lost = u64::from(self.fast_retransmit);
            }
        } else if self.counts_duplicates && from < self.next {
            if self.minds(ack) {
                sacked = 1;
                self.scoreboard.on_duplicate(self.next - from);
                self.count_delivered(now, sacked, from);
                third_duplicate = self.duplicates.see();
                lost = u64::from(third_duplicate && self.is_open());
            } else {
                self.duplicates.obscure(self.next);
            }
        }
        if self.counts_duplicates && lost > 0 {
            self.tell_loss(now, self.unacknowledged);
        }
        if let Some(blocks) = cargo.and_then(|cargo| cargo.blocks.as_ref()) {
            (sacked, lost) = self.hear(now, ack.sent, blocks);
        }
        // A mark that is counted is told once; with the echo it is told until it is answered.
        let counted = self.config.counts_marks.then(|| self.marked(ack, cargo));
        if self.config.recovery == Recovery::Rack {
            if counted > Some(0) && self.config.reaction != Reaction::PerMark {
                self.keep_reaction();
            }
            (lost, probed) = self.find_losses(now, from, ack.sent, cargo, repairing);
        }
        self.note_round_trip(rtt);

        let recovery_begins = self.loss_begins(third_duplicate);
        let mut feedback = Feedback {
            sacked,
            lost,
            marked: counted.unwrap_or_else(|| self.marked(ack, cargo)),
            rtt: Some(rtt),
            in_flight,
            limited: if recovering || recovery_begins { Limited::Recovery } else { self.limited },
            round_starts,
            recovery_begins,
            // Congestion overrides spare capacity, which is counted all the same.
            spare: self.listener.hear(ack.flags),
            router: cargo.and_then(|cargo| cargo.header),
            one_way_delay: cargo.and_then(|cargo| cargo.transit),
            ..Feedback::at(now, acked)
        };
        if self.extras.is_some() {
            self.add_extras(&mut feedback);
        }
        self.tell(&feedback, flight, ack.number);
        if self.extras.as_ref().is_some_and(|extras| extras.resizes()) {
            self.resize_after_ack(&feedback);
        }
        if probed.is_some_and(|segment| self.once.loss_counts(segment)) {
            self.reduce(now, Cause::Loss, flight);
            self.end_recovery();
        }
        if self.config.recovery == Recovery::Rack {
            self.regulate(now, acked + sacked, acked > 0 && lost == 0);
        }
        if self.config.receive_window.is_some() {
            self.hear_window(now, ack, cargo);
        }
    }

    /// An acknowledgment comes back after `rtt`: what of it was queueing counts.
    #[inline]
    pub(super) fn note_round_trip(&mut self, rtt: Span) {
        let propagation = self.config.propagation;
        self.measured.round_trip(rtt, propagation);
        if self.config.delay_percentiles {
            self.note_wait(rtt - propagation);
        }
    }

    #[cold]
    fn note_wait(&mut self, wait: Span) {
        if let Some(waits) = self.waits_mut() {
            waits.add(wait);
        }
    }

    /// Takes in the receive window that an acknowledgment tells.
    #[inline(never)]
    fn hear_window(&mut self, now: Time, ack: &Packet, cargo: Option<&Cargo>) {
        let told = Self::report(ack, cargo, true).window;
        if let Some(allowance) = self.allowance_mut() {
            allowance.hear(now, ack.number, u64::from(told));
        }
        self.heed_receiver();
    }

    /// What an acknowledgment reports beside what has arrived.
    fn report(ack: &Packet, cargo: Option<&Cargo>, tells_window: bool) -> Report {
        cargo.map_or_else(|| Report::of(ack.detail, tells_window), |cargo| cargo.report)
    }

    /// How many segments the acknowledgment newly reports as marked; 1 for an echo.
    #[inline]
    fn marked(&mut self, ack: &Packet, cargo: Option<&Cargo>) -> u64 {
        match &mut self.extras {
            Some(extras) if self.config.counts_marks => {
                let tells_window = self.config.receive_window.is_some();
                extras.newly_marked(Self::report(ack, cargo, tells_window).marks)
            }
            _ => u64::from(ack.flags.has(Flags::ECHO) && !self.echo_is_stale()),
        }
    }

    /// Is an echo of a mark from before a time-out, which the time-out has answered? Until all of that data is repaired,
    /// what leaves cannot be marked (RFC 3168, section 6.1.5), nor can it tell the receiver to stop echoing (6.1.2), so
    /// an echo that kept the window from growing would keep it at one segment for all of the repair.
    fn echo_is_stale(&self) -> bool {
        matches!(self.state, State::GoBack { .. })
    }

    /// Passes the feedback from an acknowledgment of everything below `number` to the controller, and reacts to
    /// congestion, with so many segments in [`Self::flight`] before it.
    #[expect(
        clippy::inline_always,
        reason = "so that the feedback need not be written before it is asked about"
    )]
    #[inline(always)]
    pub(super) fn tell(&mut self, feedback: &Feedback, flight: u64, number: u64) {
        let &Feedback { now, recovery_begins, marked, .. } = feedback;
        if feedback.delivered() + feedback.lost + marked > 0 {
            self.control.on_feedback(feedback, self.timer.path());
            if feedback.acked > 0 && !feedback.is_congested() {
                if feedback.round_starts {
                    self.heed_pacing();
                }
                self.heed_control(now);
            }
        }
        if recovery_begins {
            self.enter_recovery(now, flight);
        } else if feedback.lost > 0 && self.loss_counts() {
            self.reduce(now, Cause::Loss, flight);
        }
        if marked > 0 {
            let answers = match self.config.reaction {
                Reaction::PerMark => marked,
                _ => u64::from(self.once.mark_counts(number)),
            };
            for _ in 0..answers {
                self.reduce(now, Cause::Mark, flight);
            }
            if answers == 0 {
                self.keep_reaction();
            }
        }
        if self.minds_pacing {
            self.pace_on(now, false);
        }
        // The time average is a sum: add a term only when the window has changed.
        if self.control.window().0 != self.measured.window {
            self.heed_control(now);
        }
        if self.extras.is_some() {
            self.set_alarm(now);
        }
    }

    /// Takes in selective acknowledgments. Returns how many segments they report for the first time, and how many they
    /// show to be lost.
    #[inline(never)]
    fn hear(&mut self, now: Time, sent: Time, blocks: &Blocks) -> (u64, u64) {
        let (from, next, stale) = (self.unacknowledged, self.next, self.config.acks_pass);
        let sacked = match &mut self.extras {
            None => self.scoreboard.acknowledge(blocks, from, next, stale, |_| {}),
            Some(extras) => self.scoreboard.acknowledge(blocks, from, next, stale, |segment| {
                extras.note_delivered(now, sent, segment);
            }),
        };
        if self.config.recovery == Recovery::Rack {
            return (sacked, 0);
        }
        let Some(extras) = self.extras.as_deref_mut() else {
            return (sacked, self.scoreboard.detect_losses(self.unacknowledged, |_| {}));
        };
        let whom = (extras.delivery_rate.as_mut(), extras.wants.losses, extras.noted.as_mut());
        let mut losses = Losses::new(now, whom, &mut *self.control, &self.timer);
        let found =
            self.scoreboard.detect_losses(self.unacknowledged, |segment| losses.tell(segment));
        (sacked, found)
    }

    /// Segments are acknowledged in order: those not reported before are now delivered.
    #[inline(never)]
    fn note_delivered(&mut self, now: Time, ack: &Packet) {
        let Some(extras) = self.extras.as_mut().filter(|_| !self.counts_duplicates) else { return };
        for segment in self.unacknowledged..ack.number {
            if !self.scoreboard.has_arrived(self.unacknowledged, segment) {
                extras.note_delivered(now, ack.sent, segment);
            }
        }
    }

    /// The same where duplicates say that segments have arrived, but not which: `delivered` more have, and what is
    /// acknowledged in order goes on from `from`.
    #[inline(never)]
    fn count_delivered(&mut self, now: Time, delivered: u64, from: u64) {
        let rate = self.extras.as_mut().and_then(|extras| extras.delivery_rate.as_mut());
        if let Some(rate) = rate {
            rate.count(now, delivered);
            (from..self.unacknowledged).for_each(|segment| rate.cover(segment));
        }
    }

    /// Adds the feedback that only some controllers ask for.
    #[expect(
        clippy::inline_always,
        reason = "on the way of every acknowledgment that some of them hear"
    )]
    #[inline(always)]
    pub(super) fn add_extras(&mut self, feedback: &mut Feedback) {
        if self.resizes() {
            feedback.limited = self.limit_growth(feedback);
        }
        let least = self.timer.path().base_rtt;
        let Some(extras) = &mut self.extras else { return };
        if extras.wants.spurious {
            feedback.spurious = extras.spurious.take();
        }
        match &mut extras.delivery_rate {
            Some(rate) if extras.wants.delivery_rate => feedback.rate = rate.sample(least),
            Some(rate) => rate.see_the_application(),
            None => {}
        }
    }

    /// New data was acknowledged. True on the first acknowledgment of a round.
    #[inline]
    fn on_progress(&mut self, now: Time, rtt: Span, advance: u64) -> bool {
        let (round_starts, restarted) =
            self.timer.on_progress(now, rtt, self.unacknowledged, self.next);
        match self.state {
            State::Open => {
                self.timer.set(restarted);
                self.duplicates.clear();
            }
            State::Recovery { point } | State::GoBack { point } => {
                self.repair_goes_on(now, rtt, advance, restarted, point);
            }
        }
        round_starts
    }

    /// `advance` segments of new data were acknowledged, thanks to a segment sent a round trip ago, while losses below
    /// `point` are being repaired. `restarted` is when the retransmission timer expires if it is restarted.
    #[inline(never)]
    fn repair_goes_on(&mut self, now: Time, rtt: Span, advance: u64, restarted: Time, point: u64) {
        let goes_back = matches!(self.state, State::GoBack { .. });
        if let Some(extras) = &mut self.extras {
            extras.progress(Time(now.0 - rtt.0));
        }
        if self.unacknowledged >= point || goes_back {
            self.timer.set(restarted);
            self.duplicates.clear();
            if self.unacknowledged >= point {
                self.is_repaired(now);
            }
            return;
        }
        match self.config.recovery {
            Recovery::Sack | Recovery::Rack | Recovery::Quic => self.timer.set(restarted),
            Recovery::NewReno => {
                if self.duplicates.partial(advance) {
                    self.timer.set(restarted);
                }
                self.fast_retransmit = true;
            }
            // Another loss in the same window is a congestion event of its own.
            Recovery::Reno => {
                self.timer.set(restarted);
                self.once.reopen(self.unacknowledged);
                self.is_repaired(now);
                self.duplicates.clear();
            }
        }
    }

    /// The recovery is over, even if pacing has not let its first retransmission go yet.
    fn is_repaired(&mut self, now: Time) {
        self.enter(now, State::Open);
        self.fast_retransmit = false;
        self.control.on_recovered(now, self.timer.path());
    }

    /// Can this duplicate indicate a loss? One that later acknowledgments have passed cannot.
    fn minds(&self, duplicate: &Packet) -> bool {
        !matches!(self.state, State::GoBack { .. })
            && duplicate.number == self.unacknowledged
            && self.duplicates.mind(duplicate.sent)
    }

    #[inline]
    fn loss_begins(&self, third_duplicate: bool) -> bool {
        self.is_open()
            && (third_duplicate
                || self.scoreboard.first_is_lost(self.unacknowledged)
                || self.lost_by_time().is_some())
    }
}
