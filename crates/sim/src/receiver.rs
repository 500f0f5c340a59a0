//! The receiving half of TCP.
//!
//! A receiver is a function of its arrivals: each segment yields an acknowledgment, either at once or, if delayed (RFC
//! 5681, section 4.2), with the next segment or after a while. It has no clock. Arrivals come in order of time but may
//! be processed early, as soon as the last link of the path knows when the packet will arrive; every count therefore
//! goes by the arrival's own time.

use std::collections::VecDeque;

use longfat_pages::prefetch;
use longfat_units::{Ecn, Span, Time};

use crate::cargo::{Blocks, Hold, Report};
use crate::explicit;
use crate::numbered::{Log, NumberedArrivals};
use crate::packet::{ACK_BYTES, Flags, Packet};
use crate::reported::Reported;
use crate::right_sizing::RightSizing;
use crate::runs::Runs;

/// How long acknowledgments are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delay {
    /// One covers so many segments,
    pub(crate) every: u64,
    /// but waits no longer than this after the first of them.
    pub(crate) most: Span,
}

/// The receiving half of one flow. What every segment needs comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Next segment in order.
    expected: u64,
    /// One past the last segment of the flow.
    limit: u64,
    /// What has arrived of packets that have numbers.
    numbered: Option<Box<NumberedArrivals>>,
    /// With [`Echo::Count`]: how many segments have arrived marked, modulo 2³².
    marks: u32,
    /// The receive window that acknowledgments tell, in segments; 0 if they tell none.
    window: u32,
    /// A mark was seen that the sender has not yet answered (RFC 3168: ECE). Where marks are counted or echoed each: the
    /// last segment had one.
    marked: bool,
    reports: Reports,
    echo: Echo,
    /// Segments that arrived out of order.
    early: Runs,
    /// The runs that it tells of (RFC 2018, section 4).
    reported: Reported,
    delay: Option<Delay>,
    received: Received,
    /// A delayed acknowledgment, and when it must leave.
    pending: Option<(Packet, Time)>,
    /// How many segments it covers.
    held: u64,
    /// How that window is chosen.
    sizing: Option<Box<RightSizing>>,
}

/// What acknowledgments report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reports {
    /// What has arrived in order.
    InOrder,
    /// Also what has arrived out of order (RFC 2018).
    Early,
    /// Also what arrives twice (RFC 2883).
    Twice,
}

/// How a mark is echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    /// On every acknowledgment, until the sender signals that it has answered (RFC 3168).
    UntilAnswered,
    /// Only on the acknowledgment of the marked segment, for senders that answer every mark.
    Each,
    /// Not at all: each acknowledgment tells how many marked segments have arrived so far. Stands for both fields of
    /// Accurate ECN (RFC 9768): the three bits of the header, and the option that keeps them from being ambiguous when
    /// acknowledgments are lost.
    Count,
}

/// What a receiver counts, by time of arrival. What every segment needs comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Received {
    /// Segments that arrived for the first time, whole run.
    pub(crate) first: u64,
    /// First arrivals within the measured interval.
    pub(crate) measured: u64,
    measured_from: Time,
    measured_until: Time,
    /// The next edge of the time series, and the spacing of edges.
    edge: Time,
    edge_step: Span,
    /// Segments that had already arrived before.
    pub(crate) again: u64,
    /// When the last segment of a finite flow arrived.
    pub(crate) complete: Option<Time>,
    /// The counts at edges that arrivals have already passed.
    passed: VecDeque<u64>,
}

impl Received {
    /// Counts a first arrival.
    #[inline]
    fn count(&mut self, at: Time) {
        if at >= self.edge {
            self.pass_edges(at);
        }
        self.first += 1;
        self.measured += u64::from(at >= self.measured_from && at < self.measured_until);
    }

    #[cold]
    fn pass_edges(&mut self, at: Time) {
        while at >= self.edge {
            self.passed.push_back(self.first);
            self.edge = self.edge.saturating_add(self.edge_step);
        }
    }

    /// First arrivals before the next edge of the time series; called when that edge is reached.
    pub(crate) fn at_edge(&mut self) -> u64 {
        self.passed.pop_front().unwrap_or_else(|| {
            self.edge = self.edge.saturating_add(self.edge_step);
            self.first
        })
    }
}

/// The intervals over which each receiver counts arrivals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intervals {
    pub(crate) measured_from: Time,
    pub(crate) measured_until: Time,
    /// First edge of the time series, and its spacing; `None` if there is no series.
    pub(crate) series: Option<(Time, Span)>,
}

#[cfg(test)]
impl Intervals {
    /// Everything is measured, and there is no series.
    pub(crate) const WHOLE: Self =
        Self { measured_from: Time::ZERO, measured_until: Time::NEVER, series: None };
}

impl Receiver {
    pub(crate) fn new(
        segments: Option<u64>,
        selective: bool,
        delay: Option<Delay>,
        echo: Echo,
        intervals: &Intervals,
    ) -> Self {
        let (edge, edge_step) = intervals.series.unwrap_or((Time::NEVER, Span::ZERO));
        Self {
            expected: 0,
            early: Runs::default(),
            reported: Reported::default(),
            limit: segments.unwrap_or(u64::MAX),
            reports: if selective { Reports::Early } else { Reports::InOrder },
            delay,
            echo,
            pending: None,
            held: 0,
            numbered: None,
            marked: false,
            marks: 0,
            window: 0,
            sizing: None,
            received: Received {
                first: 0,
                again: 0,
                measured: 0,
                measured_from: intervals.measured_from,
                measured_until: intervals.measured_until,
                complete: None,
                edge,
                edge_step,
                passed: VecDeque::new(),
            },
        }
    }

    /// Asks for what each arrival needs, so that it is at hand soon.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.early);
        prefetch(&self.delay);
        prefetch(&self.received.first);
        prefetch(&self.pending);
    }

    /// The same receiver, if it `tells` with segments that arrive twice (RFC 2883) or does not.
    #[must_use]
    pub(crate) fn telling_duplicates(self, tells: bool) -> Self {
        if tells { Self { reports: Reports::Twice, ..self } } else { self }
    }

    /// The same receiver, with a window that it chooses like this.
    #[must_use]
    pub(crate) fn sized(self, sizing: Option<RightSizing>) -> Self {
        let window = sizing.as_ref().map_or(0, |sizing| sizing.segments() as u32);
        Self { window, sizing: sizing.map(Box::new), ..self }
    }

    /// The window grows with what arrives.
    #[cold]
    fn size_window(&mut self, at: Time) {
        if let Some(sizing) = &mut self.sizing {
            sizing.arrive(at, self.expected);
            self.window = sizing.segments() as u32;
        }
    }

    /// The same receiver, if packets are `numbered` or are not. If they are, no segment is ever expected as it is
    /// otherwise.
    #[must_use]
    pub(crate) fn numbering(self, numbered: bool) -> Self {
        if !numbered {
            return self;
        }
        Self { expected: u64::MAX, numbered: Some(Box::default()), ..self }
    }

    /// The log of numbered packets, if they are numbered.
    pub(crate) fn log(&mut self) -> Option<&mut Log> {
        self.numbered.as_mut().map(|numbered| numbered.log())
    }

    /// A numbered packet arrives at `at`.
    #[inline(never)]
    fn on_numbered(&mut self, data: &Packet, at: Time, hold: &mut Hold) -> Option<Packet> {
        let numbered = self.numbered.as_mut()?;
        let arrival = numbered.take(data, at);
        let expected = numbered.expected();
        if arrival.is_new {
            self.received.count(at);
        } else {
            self.received.again += 1;
        }
        if expected == self.limit && self.received.complete.is_none() {
            self.received.complete = Some(at);
        }
        let (_, flags) = match self.delay {
            Some(delay) => self.hold_back(delay, data, at, !arrival.urgent, hold)?,
            None => (data.sent, data.flags),
        };
        hold.arrive(data.cargo(), at);
        Some(self.acknowledge_numbered(data, at, flags)?.with_cargo(data.cargo()))
    }

    /// A segment arrives at `at`. Returns the acknowledgment that leaves then, if any.
    #[expect(clippy::inline_always, reason = "so that the acknowledgment is made in registers")]
    #[inline(always)]
    pub(crate) fn on_data(&mut self, data: &Packet, at: Time, hold: &mut Hold) -> Option<Packet> {
        let urgent = self.heed_mark(data.flags);
        let unbroken = data.number == self.expected && self.early.is_empty();
        if unbroken {
            self.expected += 1;
            self.received.count(at);
        } else if self.numbered.is_some() {
            return self.on_numbered(&data.apart(), at, hold);
        } else if self.reassemble(data.number, at) && self.reports == Reports::Twice {
            let (sent, flags) = if let Some(delay) = self.delay {
                self.hold_back(delay, &data.apart(), at, false, hold)?
            } else {
                (data.sent, data.flags)
            };
            let blocks = self.with_duplicate(data.number);
            let cargo = self.load(&data.apart(), at, Some(&blocks), hold);
            return Some(self.acknowledge(data, sent, flags).with_cargo(cargo));
        }
        if self.expected == self.limit && self.received.complete.is_none() {
            self.received.complete = Some(at);
        }
        if self.window > 0 {
            self.size_window(at);
        }
        let (sent, flags) = if let Some(delay) = self.delay {
            self.hold_back(delay, &data.apart(), at, unbroken && !urgent, hold)?
        } else {
            (data.sent, data.flags)
        };
        let ack = self.acknowledge(data, sent, flags);
        let loaded = data.flags.has(Flags::CARGO.with(Flags::TIMED));
        if self.early.is_empty() && !loaded && self.told().fits() {
            return Some(ack);
        }
        let tells = self.reports != Reports::InOrder && !self.early.is_empty();
        let blocks = tells.then_some(self.reported.blocks());
        Some(ack.with_cargo(self.load(&data.apart(), at, blocks, hold)))
    }

    /// What the acknowledgment of `data` with these blocks carries, if anything.
    #[inline(never)]
    fn load(
        &self,
        data: &Packet,
        at: Time,
        blocks: Option<&Blocks>,
        hold: &mut Hold,
    ) -> Option<u32> {
        hold.arrive(data.cargo(), at);
        let transit = data.flags.has(Flags::TIMED).then(|| at.since(data.sent));
        hold.hand_over(data.cargo(), transit, blocks, self.told())
    }

    /// Takes note of a mark. True if the acknowledgment must not wait: where marks are counted, if the segment before had
    /// none, or is held back too (RFC 9768, section 3.2.2.5.1, with n = 2).
    #[inline]
    fn heed_mark(&mut self, data: Flags) -> bool {
        let marked = data.ecn() == Ecn::Ce;
        match self.echo {
            Echo::UntilAnswered => {
                if data.has(Flags::REDUCED) {
                    self.marked = false;
                }
                self.marked |= marked;
                marked
            }
            Echo::Each => {
                self.marked = marked;
                marked
            }
            Echo::Count => {
                self.marks = self.marks.wrapping_add(u32::from(marked));
                let before = std::mem::replace(&mut self.marked, marked);
                marked && (!before || self.pending.is_some())
            }
        }
    }

    /// Holds the acknowledgment back if it `may`; otherwise returns the time and flags of the one that leaves: the time
    /// of the first segment it covers (RFC 7323, section 4.3), and the flags common to all of them.
    #[inline(never)]
    fn hold_back(
        &mut self,
        delay: Delay,
        data: &Packet,
        at: Time,
        may: bool,
        hold: &mut Hold,
    ) -> Option<(Time, Flags)> {
        let (sent, flags, until) = if let Some((first, until)) = self.pending.take() {
            hold.combine(first.cargo(), data.cargo());
            (first.sent, data.flags.and(first.flags), until)
        } else {
            self.held = 0;
            (data.sent, data.flags, at + delay.most)
        };
        self.held += 1;
        if !may || self.held >= delay.every {
            return Some((sent, flags));
        }
        let ack = self
            .acknowledge_numbered(data, until, flags)
            .unwrap_or_else(|| self.acknowledge(data, sent, flags))
            .with_cargo(self.load(data, at, None, hold));
        self.pending = Some((ack, until));
        None
    }

    /// Handles a segment out of order, or one that may close a gap. True if it had arrived before.
    #[inline(never)]
    fn reassemble(&mut self, number: u64, at: Time) -> bool {
        if number < self.expected || self.early.contains_reserved(self.expected, number) {
            self.received.again += 1;
            // The block of the segment comes first, also if that has arrived before (RFC 2018, section 4).
            if number > self.expected && self.reports == Reports::Early {
                let run = self.early.around(number);
                self.reported.put_first(run, &self.early, self.expected);
            }
            return true;
        }
        self.received.count(at);
        if number > self.expected {
            self.early.reserve(self.expected, number + 1);
            let run = self.early.insert(number);
            self.reported.put_first(run, &self.early, self.expected);
            return false;
        }
        self.expected += 1;
        while self.early.contains(self.expected) {
            self.early.forget(self.expected);
            self.expected += 1;
        }
        self.reported.advance(&self.early, self.expected);
        false
    }

    /// What the acknowledgment of a segment that had arrived before reports: that segment first.
    #[cold]
    fn with_duplicate(&mut self, segment: u64) -> Blocks {
        let around = (segment > self.expected).then(|| self.early.around(segment));
        self.reported.with_duplicate(segment, around)
    }

    /// The acknowledgment delayed until `at`, if it is still pending.
    pub(crate) fn on_delayed_ack(&mut self, at: Time) -> Option<Packet> {
        let (_, until) = self.pending?;
        if until > at {
            return None;
        }
        self.pending.take().map(|(ack, _)| ack)
    }

    /// The delayed acknowledgment and when it leaves, if that is no later than `at`: an arrival processed early must
    /// not overtake it.
    pub(crate) fn overdue(&mut self, at: Time) -> Option<(Packet, Time)> {
        self.pending.take_if(|(_, until)| *until <= at)
    }

    /// The delayed acknowledgment, if there is one.
    pub(crate) fn kept_back(&self) -> Option<Packet> {
        self.pending.map(|(ack, _)| ack)
    }

    /// Does it delay acknowledgments?
    pub(crate) fn may_delay(&self) -> bool {
        self.delay.is_some()
    }

    /// When the delayed acknowledgment must leave, if it has just begun to wait.
    pub(crate) fn begins_to_wait(&self) -> Option<Time> {
        self.delayed_until().filter(|_| self.held == 1)
    }

    /// When the delayed acknowledgment must leave.
    pub(crate) fn delayed_until(&self) -> Option<Time> {
        self.pending.map(|(_, until)| until)
    }

    /// What acknowledgments report beside what has arrived.
    #[inline]
    fn told(&self) -> Report {
        Report { marks: self.marks, window: self.window }
    }

    /// The acknowledgment of `data`; `sent` and `covered` are the time and flags of everything it acknowledges.
    fn acknowledge(&self, data: &Packet, sent: Time, covered: Flags) -> Packet {
        let flags = {
            let echoes = self.marked && self.echo != Echo::Count;
            Flags::ACK.with(covered.and(explicit::RETURNED)).with_if(Flags::ECHO, echoes)
        };
        Packet {
            number: self.expected,
            sent,
            flow: data.flow,
            detail: self.told().word(),
            bytes: ACK_BYTES,
            hop: 0,
            flags,
        }
    }

    /// The same for numbered packets, if they are numbered; it leaves at `at`.
    fn acknowledge_numbered(&self, data: &Packet, at: Time, covered: Flags) -> Option<Packet> {
        let (number, sent) = self.numbered.as_ref()?.report(at);
        let flags = Flags::ACK.with(covered.and(explicit::RETURNED));
        Some(Packet { number, sent, flags, ..self.acknowledge(data, sent, covered) })
    }

    /// Everything below this has arrived.
    pub(crate) fn expected(&self) -> u64 {
        self.numbered.as_ref().map_or(self.expected, |numbered| numbered.expected())
    }

    pub(crate) fn received(&self) -> &Received {
        &self.received
    }

    pub(crate) fn received_mut(&mut self) -> &mut Received {
        &mut self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Delay = Delay { every: 2, most: Span::from_millis(100) };

    fn receiver(delayed_ack: bool) -> Receiver {
        let delay = delayed_ack.then_some(DELAY);
        Receiver::new(None, true, delay, Echo::Count, &Intervals::WHOLE)
    }

    fn data(number: u64, ecn: Ecn) -> Packet {
        Packet { number, flags: Flags::default().with_ecn(ecn), ..Packet::default() }
    }

    /// The count that an acknowledgment carries, wherever it carries it.
    fn count(ack: &Packet, hold: &mut Hold) -> u32 {
        ack.cargo().map_or(ack.detail, |handle| hold.take(handle).report.marks)
    }

    #[test]
    fn each_acknowledgment_tells_how_many_marks_there_were() {
        let (mut receiver, mut hold) = (receiver(false), Hold::default());
        // 3 is missing: from 4 on the acknowledgments also report what is early, and the count moves into their cargo.
        let arrivals = [
            (0, Ecn::Ect1, 0),
            (1, Ecn::Ce, 1),
            (2, Ecn::Ce, 2),
            (4, Ecn::Ect1, 2),
            (5, Ecn::Ce, 3),
            (5, Ecn::Ce, 4),
            (3, Ecn::Ect0, 4),
        ];
        for (number, ecn, marks) in arrivals {
            let ack = receiver.on_data(&data(number, ecn), Time::ZERO, &mut hold);
            let ack = ack.expect("every segment is acknowledged at once");
            assert!(!ack.flags.has(Flags::ECHO), "nothing is echoed");
            assert_eq!(ack.cargo().is_some(), [4, 5].contains(&number));
            assert_eq!(count(&ack, &mut hold), marks, "after {number}");
        }
        assert_eq!(hold.in_use(), 0);
    }

    #[test]
    fn only_the_first_mark_of_a_row_hurries_an_acknowledgment() {
        let (mut receiver, mut hold) = (receiver(true), Hold::default());
        // 0 is held back, and 1 releases it; 2 is marked and does not wait, 3 does, although it is marked too.
        let arrivals = [
            (0, Ecn::Ect1, None),
            (1, Ecn::Ect1, Some((2, 0))),
            (2, Ecn::Ce, Some((3, 1))),
            (3, Ecn::Ce, None),
            (4, Ecn::Ce, Some((5, 3))),
            (5, Ecn::Ect1, None),
            (6, Ecn::Ce, Some((7, 4))),
        ];
        for (number, ecn, expected) in arrivals {
            let ack = receiver.on_data(&data(number, ecn), Time::ZERO, &mut hold);
            let told = ack.map(|ack| (ack.number, count(&ack, &mut hold)));
            assert_eq!(told, expected, "after {number}");
        }
        receiver.on_data(&data(7, Ecn::Ect1), Time::ZERO, &mut hold);
        let held = receiver.on_delayed_ack(Time::ZERO + DELAY.most).expect("8 does not come");
        assert_eq!((held.number, count(&held, &mut hold)), (8, 4));
    }

    #[test]
    fn no_more_than_two_marks_wait_for_an_acknowledgment() {
        let delay = Delay { every: 8, ..DELAY };
        let mut receiver = Receiver::new(None, true, Some(delay), Echo::Count, &Intervals::WHOLE);
        let mut hold = Hold::default();
        // All are marked: the first hurries as the first of a row, and then each second one.
        let told: Vec<Option<u64>> = (0..7)
            .map(|number| receiver.on_data(&data(number, Ecn::Ce), Time::ZERO, &mut hold))
            .map(|ack| ack.map(|ack| ack.number))
            .collect();
        assert_eq!(told, [Some(1), None, Some(3), None, Some(5), None, Some(7)]);
        // A row of others is held back for as long as the receiver may.
        let ends = (7..16).find(|&number| {
            receiver.on_data(&data(number, Ecn::Ect1), Time::ZERO, &mut hold).is_some()
        });
        assert_eq!(ends, Some(14));
    }

    /// A receiver with selective acknowledgments that echoes marks like this, and holds acknowledgments back or does not.
    fn echoing(echo: Echo, delay: Option<Delay>) -> Receiver {
        Receiver::new(None, true, delay, echo, &Intervals::WHOLE)
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn arrivals_count_from_the_beginning_of_an_interval_and_before_its_end() {
        let intervals = Intervals {
            measured_from: at(10),
            measured_until: at(20),
            series: Some((at(10), Span::from_millis(10))),
        };
        let mut receiver = Receiver::new(Some(4), true, None, Echo::Each, &intervals);
        let mut hold = Hold::default();
        for (number, time) in [(0, 9), (1, 10), (2, 20), (3, 21)] {
            receiver.on_data(&data(number, Ecn::NotEct), at(time), &mut hold);
        }
        assert_eq!((receiver.received().first, receiver.received().measured), (4, 1));
        // Before 10, 20 and 30 ms.
        let edges: Vec<u64> = (0..3).map(|_| receiver.received_mut().at_edge()).collect();
        assert_eq!(edges, [1, 2, 4]);
        // What comes again completes nothing.
        receiver.on_data(&data(3, Ecn::NotEct), at(40), &mut hold);
        assert_eq!(receiver.received().complete, Some(at(21)));
    }

    #[test]
    fn only_what_is_in_order_waits() {
        // RFC 5681, section 4.2: what is out of order, or fills a gap or a part of it, or comes again (RFC 2883) is
        // acknowledged at once.
        let mut receiver = echoing(Echo::UntilAnswered, Some(DELAY)).telling_duplicates(true);
        let mut hold = Hold::default();
        let numbers = [0, 3, 4, 1, 2, 2, 5, 6, 7];
        let acknowledged = numbers.map(|number| {
            let ack = receiver.on_data(&data(number, Ecn::Ect0), Time::ZERO, &mut hold);
            ack.map(|ack| ack.number)
        });
        let expected = [None, Some(1), Some(1), Some(2), Some(5), Some(5), None, Some(7), None];
        assert_eq!(acknowledged, expected);
    }

    #[test]
    fn an_acknowledgment_of_two_has_the_time_of_the_first_and_what_both_have_found() {
        // RFC 7323, section 4.3. That every router had room holds only if it held for both.
        let held = |flags: [Flags; 2]| {
            let mut receiver = echoing(Echo::UntilAnswered, Some(DELAY));
            let mut hold = Hold::default();
            let acks = flags.map(|flags| {
                let number = receiver.expected;
                let data = Packet { number, sent: at(number + 1), flags, ..Packet::default() };
                receiver.on_data(&data, at(50 + 10 * number), &mut hold)
            });
            let ack = acks[1].expect("it covers both");
            assert_eq!((acks[0].is_some(), ack.sent), (false, at(1)));
            ack.flags.has(Flags::SPARE)
        };
        let (none, spare) = (Flags::default(), Flags::default().with(Flags::SPARE));
        assert!(held([spare, spare]));
        assert!(!held([none, spare]) && !held([spare, none]));
    }

    #[test]
    fn an_acknowledgment_waits_for_as_long_as_it_may_after_the_first_segment() {
        let delay = Delay { every: 3, ..DELAY };
        let mut receiver = echoing(Echo::UntilAnswered, Some(delay));
        let mut hold = Hold::default();
        receiver.on_data(&data(0, Ecn::Ect0), at(5), &mut hold);
        assert_eq!(receiver.begins_to_wait(), Some(at(105)));
        receiver.on_data(&data(1, Ecn::Ect0), at(60), &mut hold);
        assert_eq!((receiver.begins_to_wait(), receiver.delayed_until()), (None, Some(at(105))));
        assert!(receiver.overdue(at(104)).is_none());
        let (ack, until) = receiver.overdue(at(105)).expect("its time is over");
        assert_eq!((ack.number, until), (2, at(105)));
    }

    #[test]
    fn how_long_a_mark_is_echoed() {
        // RFC 3168, section 6.1.3: until the sender says that it has reduced, with 3; a mark of that segment begins anew.
        let echoed = |echo| {
            let mut receiver = echoing(echo, Some(Delay { every: 9, ..DELAY }));
            let mut hold = Hold::default();
            let arrivals = [Ecn::Ect0, Ecn::Ce, Ecn::Ect0, Ecn::Ect0, Ecn::Ce, Ecn::Ect0];
            let mut echoes = Vec::new();
            for (number, ecn) in (0..).zip(arrivals) {
                let segment = data(number, ecn);
                let flags = segment.flags.with_if(Flags::REDUCED, number == 3);
                let segment = Packet { flags, ..segment };
                let ack = receiver.on_data(&segment, Time::ZERO, &mut hold);
                let held = receiver.kept_back();
                let flags = ack.or(held).expect("one of the two").flags;
                echoes.push((ack.is_some(), flags.has(Flags::ECHO)));
            }
            echoes
        };
        let (held, at_once) = (false, true);
        assert_eq!(
            echoed(Echo::UntilAnswered),
            [
                (held, false),
                (at_once, true),
                (held, true),
                (held, false),
                (at_once, true),
                (held, true)
            ]
        );
        assert_eq!(
            echoed(Echo::Each),
            [
                (held, false),
                (at_once, true),
                (held, false),
                (held, false),
                (at_once, true),
                (held, false)
            ]
        );
    }

    /// What the acknowledgment of the last of these segments tells: the number, and the blocks.
    fn told(mut receiver: Receiver, numbers: &[u64]) -> (u64, Vec<(u64, u64)>) {
        let mut hold = Hold::default();
        let (mut number, mut blocks) = (0, None);
        for &arrived in numbers {
            let ack = receiver.on_data(&data(arrived, Ecn::Ect0), Time::ZERO, &mut hold);
            let ack = ack.expect("each is acknowledged at once");
            number = ack.number;
            blocks = ack.cargo().and_then(|handle| hold.take(handle).blocks);
        }
        let blocks = blocks.unwrap_or_default().into_iter().map(|run| {
            run.as_duplicate().map_or((run.first, run.end), |segment| (segment, segment + 1))
        });
        (number, blocks.filter(|(_, end)| *end > 0).collect())
    }

    /// The same of a receiver that does not tell of segments that arrive twice, without the number.
    fn reported(numbers: &[u64]) -> Vec<(u64, u64)> {
        told(echoing(Echo::UntilAnswered, None), numbers).1
    }

    #[test]
    fn the_block_of_the_newest_segment_comes_first() {
        // RFC 2018, section 4: and then those that were reported last, three in all.
        assert_eq!(reported(&[2, 4, 6]), [(6, 7), (4, 5), (2, 3)]);
        assert_eq!(reported(&[2, 4, 6, 8]), [(8, 9), (6, 7), (4, 5)]);
        assert_eq!(reported(&[2, 4, 8, 3]), [(2, 5), (8, 9)], "it joins two");
        assert_eq!(reported(&[4, 8, 5]), [(4, 6), (8, 9)], "it extends one");
        assert_eq!(reported(&[4, 8, 3]), [(3, 5), (8, 9)]);
        // What is in order now is no block.
        assert_eq!(reported(&[1, 3, 0]), [(3, 4)]);
        assert_eq!(reported(&[3, 1, 0]), [(3, 4)]);
        assert_eq!(reported(&[1, 0]), []);
    }

    #[test]
    fn the_fourth_comes_back() {
        // RFC 2018, section 4: as many as possible, those reported last. 11 and 13 become one; so do 9 and these.
        assert_eq!(reported(&[2, 5, 9, 11, 13]), [(13, 14), (11, 12), (9, 10)]);
        assert_eq!(reported(&[2, 5, 9, 11, 13, 12]), [(11, 14), (9, 10), (5, 6)]);
        assert_eq!(reported(&[2, 5, 9, 11, 13, 12, 10]), [(9, 14), (5, 6), (2, 3)]);
        // The one in order goes, and 2 comes back; nothing is left of what was there before it grew.
        assert_eq!(reported(&[2, 5, 7, 1, 0]), [(7, 8), (5, 6)]);
        assert_eq!(reported(&[4, 6, 8, 1, 0]), [(8, 9), (6, 7), (4, 5)]);
        assert_eq!(reported(&[2, 5, 7, 9, 3, 8]), [(7, 10), (2, 4), (5, 6)]);
        // Windows that need more than a word are no exception.
        assert_eq!(reported(&[90, 5, 9, 11, 13, 12]), [(11, 14), (9, 10), (5, 6)]);
        assert_eq!(reported(&[90, 5, 9, 11, 13, 12, 10]), [(9, 14), (5, 6), (90, 91)]);
    }

    #[test]
    fn the_examples_of_rfc_2018() {
        // Section 7, with segments of 500 bytes, the first of which has number 0: the first is lost, and each that arrives
        // makes the block longer. Or the second, fourth, sixth and eighth are.
        assert_eq!(reported(&[1, 2, 3, 4, 5, 6, 7]), [(1, 8)]);
        assert_eq!(reported(&[0, 2, 4, 6]), [(6, 7), (4, 5), (2, 3)]);
        assert_eq!(reported(&[0, 2, 4, 6, 3]), [(2, 5), (6, 7)]);
        assert_eq!(reported(&[0, 2, 4, 6, 3, 1]), [(6, 7)]);
    }

    #[test]
    fn the_block_of_a_segment_that_comes_again_is_the_first_one_too() {
        // RFC 2018, section 4: that "containing the segment which triggered this ACK".
        assert_eq!(reported(&[2, 4, 6, 4]), [(4, 5), (6, 7), (2, 3)]);
        assert_eq!(reported(&[2, 3, 5, 7, 9, 2]), [(2, 4), (9, 10), (7, 8)]);
        assert_eq!(reported(&[2, 3, 5, 7, 9, 2, 8]), [(7, 10), (2, 4), (5, 6)]);
    }

    #[test]
    fn the_examples_of_rfc_2883() {
        // Section 4.1, with segments of 500 bytes: 3000 has number 0, and its first example the acknowledgment 4000.
        let twice = |numbers: &[u64]| {
            told(echoing(Echo::UntilAnswered, None).telling_duplicates(true), numbers)
        };
        assert_eq!(twice(&[0, 1, 0]), (2, vec![(0, 1)]));
        assert_eq!(twice(&[0, 1, 3, 0]), (2, vec![(0, 1), (3, 4)]));
        assert_eq!(twice(&[0, 1, 3, 4, 4]), (2, vec![(4, 5), (3, 5)]));
        // Section 4: the larger block is the second, also if others were reported later; these follow.
        assert_eq!(twice(&[1, 2, 4, 6, 8, 2]), (0, vec![(2, 3), (1, 3), (8, 9)]));
        // It was no block that RFC 2018 would repeat, so the order of the others stays.
        assert_eq!(twice(&[1, 2, 4, 6, 8, 2, 10]), (0, vec![(10, 11), (8, 9), (6, 7)]));
        // Nor does it matter that there are more than fit into a word, or where in the block it is.
        let long: Vec<u64> = (1..=80).chain([90, 92, 94, 40]).collect();
        assert_eq!(twice(&long), (0, vec![(40, 41), (1, 81), (94, 95)]));
    }
}
