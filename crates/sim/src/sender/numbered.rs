//! A sender that numbers its packets, as in QUIC: what it makes of losses, acknowledgments and time-outs (RFC 9002).
//!
//! It is the sender of TCP with another way to find losses ([`Numbers`]). Its data carries the packet number where TCP's
//! carries the segment, and the segment where TCP's has its time of departure, which a sender that numbers its packets
//! remembers itself. An acknowledgment says how many packets have arrived before it left; which ones these are is handed
//! over by the receiver's log, as acknowledgments with ranges without limit would.

use std::collections::VecDeque;

use longfat_control::{Cause, Congestion, CongestionControl, Feedback, Limited};
use longfat_units::{Span, Time};

use super::losses::Losses;
use super::numbers::{Found, Numbers};
use super::output::Next;
use super::timer::RetransmissionTimer;
use super::validation::Resized;
use super::{Extras, LimitedFor, Sender, SenderConfig, SenderCounts, Sends, State};
use crate::cargo::Cargo;
use crate::durations::Durations;
use crate::explicit::Listener;
use crate::packet::Packet;
use crate::trace::Phase;

/// `kMinimumWindow`
pub(super) const LEAST_WINDOW: i64 = 2;

/// The sending half of a flow whose packets are numbered.
#[derive(Debug)]
pub(crate) struct Numbered {
    sender: Sender,
    /// What the next acknowledgment reports: packets, and whether they came marked.
    news: VecDeque<(u64, bool)>,
}

impl Numbered {
    #[inline(never)]
    pub(crate) fn new(
        config: SenderConfig,
        control: Box<dyn CongestionControl>,
        now: Time,
    ) -> Self {
        Self { sender: Sender::new(config, control, now), news: VecDeque::new() }
    }

    /// The acknowledgment that comes next reports these packets, and whether they came marked.
    pub(crate) fn hear(&mut self, news: impl Iterator<Item = (u64, bool)>) {
        self.news.extend(news);
    }

    pub(crate) fn control(&self) -> &dyn CongestionControl {
        self.sender.control()
    }

    /// The application writes so many segments.
    pub(crate) fn write(&mut self, now: Time, segments: u64) {
        self.sender.write(now, segments);
    }

    /// Calls the controller, for a host that steps the simulation from outside.
    pub(crate) fn call(&mut self, now: Time) {
        self.sender.call(now);
    }

    /// How the sender treats explicit signals.
    pub(crate) fn listener(&self) -> &Listener {
        self.sender.listener()
    }

    /// The first segment that has not arrived.
    pub(super) fn unacknowledged(&self) -> u64 {
        self.sender.unacknowledged
    }

    /// The latest round trip, once there is one.
    pub(super) fn latest_round_trip(&mut self) -> Option<Span> {
        self.sender.numbers().and_then(|numbers| numbers.latest_round_trip())
    }

    pub(super) fn take_lost(&mut self) -> Vec<u64> {
        self.sender.take_lost()
    }

    pub(super) fn phase(&self) -> Phase {
        self.sender.phase()
    }
}

impl Sends for Numbered {
    fn on_ack(&mut self, now: Time, ack: &Packet, cargo: Option<&Cargo>) {
        self.sender.on_numbered_ack(now, ack, &mut self.news, cargo);
    }

    #[inline(never)]
    fn poll(&mut self, now: Time) -> Option<Packet> {
        let packet = self.sender.next_packet(now)?;
        let number = self.sender.numbers().expect("its packets are numbered").last();
        Some(Packet { number, sent: Time(packet.number), ..packet })
    }

    fn on_timeout(&mut self, now: Time) {
        self.sender.on_loss_timer(now);
    }

    fn config(&self) -> &SenderConfig {
        self.sender.config()
    }

    fn timer(&self) -> &RetransmissionTimer {
        self.sender.timer()
    }

    fn alarm(&self) -> Time {
        self.sender.alarm()
    }

    fn on_alarm(&mut self, now: Time) {
        self.sender.on_alarm(now);
    }

    fn pace_deadline(&self) -> Option<Time> {
        self.sender.pace_deadline()
    }

    fn hears_early(&self, time: Time, number: u64) -> bool {
        // All data has arrived only when at least as many packets have.
        self.sender.hears_early(time, number)
    }

    fn stop(&mut self) {
        self.sender.stop();
    }

    fn in_flight(&self) -> u64 {
        self.sender.in_flight()
    }

    fn is_done(&self) -> bool {
        self.sender.is_done()
    }

    fn measured(&self) -> &SenderCounts {
        self.sender.measured()
    }

    fn waits(&self) -> Option<&Durations> {
        self.sender.waits()
    }

    fn limited_for(&self, now: Time) -> Option<LimitedFor> {
        self.sender.limited_for(now)
    }

    fn begin_measuring(&mut self, now: Time) {
        self.sender.begin_measuring(now);
    }

    fn cargo(&self, now: Time) -> Option<Cargo> {
        self.sender.cargo(now)
    }
}

/// What one acknowledgment reports.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// Segments that have arrived and left after the last reaction, and the others.
    acked: u64,
    others: u64,
    marked: u64,
    /// The largest number, and when it left.
    largest: Option<(u64, Time)>,
}

impl Sender {
    /// The numbers of the packets, if they have any.
    pub(super) fn numbers(&mut self) -> Option<&mut Numbers> {
        self.extras.as_mut()?.numbers.as_mut()
    }

    /// A segment leaves in a packet of its own.
    pub(super) fn number_departure(&mut self, now: Time, segment: u64, again: bool) {
        let unacknowledged = self.unacknowledged;
        let Some(numbers) = self.numbers() else { return };
        numbers.on_sent(now, segment, again, unacknowledged);
        self.settle_numbers(now);
    }

    /// An acknowledgment arrives.
    fn on_numbered_ack(
        &mut self,
        now: Time,
        ack: &Packet,
        arrivals: &mut VecDeque<(u64, bool)>,
        cargo: Option<&Cargo>,
    ) {
        let in_flight = self.in_flight();
        let news = self.take_in(now, arrivals);
        let Some((largest, sent)) = news.largest else { return };
        let rtt = now - sent;
        let most_delay = self.config.ack_delay;
        let Some(numbers) = self.numbers() else { return };
        let (is_sample, round_starts) = numbers.on_largest(now, largest, rtt);
        let (owed, acknowledged_below) = (numbers.take_owed(), numbers.acknowledged_below());
        if is_sample {
            self.timer.sample_numbered(rtt, Span(ack.sent.0).min(most_delay), most_delay);
        }
        if self.unacknowledged == self.next {
            self.timer.rest(now);
        }
        self.note_round_trip(rtt);
        let found = self.find_numbered(now);
        let recovery_begins = found.lost > 0 && self.once.loss_counts(found.last);
        let mut feedback = Feedback {
            sacked: news.others,
            lost: found.lost + owed,
            marked: news.marked,
            rtt: Some(rtt),
            in_flight,
            limited: if news.acked == 0 || recovery_begins {
                Limited::Recovery
            } else {
                self.limited
            },
            round_starts,
            recovery_begins,
            spare: self.listener.hear(ack.flags),
            router: cargo.and_then(|cargo| cargo.header),
            one_way_delay: cargo.and_then(|cargo| cargo.transit),
            ..Feedback::at(now, news.acked)
        };
        self.add_extras(&mut feedback);
        self.tell(&feedback, in_flight, acknowledged_below);
        self.resize_after_ack(&feedback);
        if found.persistent {
            self.collapse(now, in_flight);
        }
        self.settle_numbers(now);
    }

    /// Takes in which packets have arrived.
    fn take_in(&mut self, now: Time, arrivals: &mut VecDeque<(u64, bool)>) -> News {
        let mut news = News::default();
        let Some(extras) = &mut self.extras else { return news };
        let Some(numbers) = &mut extras.numbers else { return news };
        for (number, marked) in arrivals.drain(..) {
            let Some(packet) = numbers.on_acknowledged(number) else { continue };
            news.marked += u64::from(marked);
            if news.largest.is_none_or(|(largest, _)| largest < number) {
                news.largest = Some((number, packet.sent));
            }
            if packet.segment < self.unacknowledged || !numbers.deliver(packet.segment) {
                continue;
            }
            if packet.since_reaction {
                news.acked += 1;
            } else {
                news.others += 1;
            }
            if let Some(rate) = &mut extras.delivery_rate {
                rate.on_delivered(now, packet.segment);
            }
        }
        while self.unacknowledged < self.next && numbers.is_delivered(self.unacknowledged) {
            self.unacknowledged += 1;
        }
        news
    }

    /// Finds losses.
    fn find_numbered(&mut self, now: Time) -> Found {
        let smoothed = self.timer.path().rtt;
        let (timeout, unacknowledged) = (self.timer.timeout(), self.unacknowledged);
        let Some(Extras { numbers: Some(numbers), delivery_rate, wants, noted, .. }) =
            self.extras.as_deref_mut()
        else {
            return Found::default();
        };
        let whom = (delivery_rate.as_mut(), wants.losses, noted.as_mut());
        let mut losses = Losses::new(now, whom, &mut *self.control, &self.timer);
        let tell = |segment| losses.tell(segment);
        let found = numbers.detect(now, smoothed, timeout, unacknowledged, tell);
        self.settle_numbers(now);
        found
    }

    /// The loss detection timer expired (section 6.2): looks for losses, or sends probes.
    fn on_loss_timer(&mut self, now: Time) {
        let in_flight = self.in_flight();
        if self.numbers().is_some_and(|numbers| numbers.looks(now)) {
            let found = self.find_numbered(now);
            if let Some(numbers) = self.numbers() {
                numbers.owe(found.lost);
            }
            if found.lost > 0 && self.once.loss_counts(found.last) {
                self.enter_recovery(now, in_flight);
            }
            if found.persistent {
                self.collapse(now, in_flight);
            }
        } else {
            self.fast_retransmit = true;
            self.pacer.cancel();
        }
        self.settle_numbers(now);
        self.set_alarm(now);
    }

    /// Persistent congestion (section 7.6).
    fn collapse(&mut self, now: Time, in_flight: u64) {
        if let Some(numbers) = self.numbers() {
            numbers.forget_reaction();
        }
        self.once.answered(0);
        self.announce_reduction = self.config.announces_reductions();
        self.pacer.cancel();
        self.measured.timed_out();
        let event = Congestion { now, cause: Cause::Timeout, in_flight, again: false };
        self.tell_congestion(&event);
        self.resize_after_reaction(now, Cause::Timeout);
        self.resize(now, Some(Resized { window: LEAST_WINDOW as f64, threshold: None }));
    }

    /// A packet that leaves whatever the window allows, if one is to: a probe.
    pub(super) fn next_numbered_probe(&mut self) -> Option<Next> {
        let new = self.next < self.limit && self.in_flight() < self.config.max_window;
        let unacknowledged = self.unacknowledged;
        let numbers = self.numbers()?;
        let (is_due, another) = numbers.take_probe();
        if !is_due {
            return None;
        }
        let probe = match numbers.take_waiting(unacknowledged) {
            Some(lost) => Some(Next::Again(lost)),
            None if new => Some(Next::New),
            None => numbers.oldest(unacknowledged).map(Next::Again),
        };
        self.fast_retransmit = another && probe.is_some();
        probe
    }

    /// The first segment that is to be sent again; it leaves now.
    pub(super) fn take_waiting(&mut self) -> Option<u64> {
        let unacknowledged = self.unacknowledged;
        self.numbers()?.take_waiting(unacknowledged)
    }

    /// The numbers have changed: keeps what the rest of the sender goes by.
    fn settle_numbers(&mut self, now: Time) {
        let (unacknowledged, next) = (self.unacknowledged, self.next);
        let timeout = self.timer.timeout();
        let Some(numbers) = self.numbers() else { return };
        if unacknowledged == next {
            numbers.forget_all();
        }
        let repairs = numbers.has_waiting(unacknowledged) || numbers.is_recovering();
        let (in_flight, deadline) = (numbers.in_flight(), numbers.deadline(timeout));
        let repaired = !self.is_open() && !repairs;
        if repairs == self.is_open() {
            self.enter(
                now,
                if repairs { State::Recovery { point: u64::MAX } } else { State::Open },
            );
        }
        if repaired {
            self.control.on_recovered(now, self.timer.path());
        }
        self.scoreboard.set_in_flight(next - unacknowledged, in_flight, repairs);
        // An acknowledgment that ends the doubling may find that its time is over.
        self.timer.set(deadline.max(now));
    }
}
