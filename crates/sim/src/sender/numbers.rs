//! Losses of numbered packets: the loss detection of QUIC (RFC 9002).
//!
//! Every packet has a number of its own, also one that repeats data, so an acknowledgment says which copy has arrived.
//! Of the packets before the largest one acknowledged, those are lost that
//!
//! ```text
//!     packet threshold  have a number smaller by 3 or more,
//!     time threshold    or left 9/8 of a round trip ago, the latest one or the smoothed one if that is longer
//! ```
//!
//! Both rules take packets in the order of their numbers, so one frontier passes each of them once.
//!
//! A packet that nothing is heard of for a probe time-out (PTO) is not lost by that. Two probes leave whatever the window
//! allows: data found lost, else new data, else what has been in flight for longest; and the next time-out is twice as
//! long, until something is acknowledged.
//!
//! ```text
//!     PTO = smoothed_rtt + max(4 · rttvar, 1 ms) + max_ack_delay, from the last departure
//! ```
//!
//! Only when all that left over three such time-outs is lost has the flow lost its path (persistent congestion).
//!
//! Data is sent again when the packet that carried it last is lost.
//!
//! Differences from the RFC:
//! - There is no handshake; until a round trip is measured the time-outs are those of a TCP whose handshake was.
//! - When all data has arrived, copies of it that are still in flight no longer count.
//! - Lost packets are remembered for a probe time-out from their departure. The data of one that arrives later is sent
//!   again, and its mark is not heard.
//! - Persistent congestion leaves the smallest round trip as it is, which section 5.2 would take anew: controllers count on
//!   none that they have heard of being below it.
//! - A time-out is never longer than 60 s.

use std::collections::VecDeque;

use longfat_units::{Span, Time};

/// `kPacketThreshold`
const PACKET_THRESHOLD: u64 = 3;
/// `kGranularity`
pub(super) const GRANULARITY: Span = Span::from_millis(1);
/// `kPersistentCongestionThreshold`
const PERSISTENT: u64 = 3;
/// How many probes leave at a time-out (section 6.2.4).
const PROBES: u32 = 2;
/// The longest time-out.
const LONGEST: Span = Span::from_seconds(60);

/// A packet that has left.
#[derive(Clone, Copy, Debug)]
struct Departure {
    segment: u64,
    at: Time,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    InFlight,
    Acknowledged,
    Lost,
}

/// What has become of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    /// It left last in the packet of this number.
    Sent(u64),
    /// That packet is lost, and it has not left since.
    Waiting,
    Delivered,
}

/// What is known of the packets of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// Indexed by packet number, in a ring whose size is a power of two.
    packets: Vec<Departure>,
    /// The first packet that is remembered, and the next number.
    first: u64,
    next: u64,
    in_flight: u64,
    /// One more than the largest number acknowledged; 0 if none is.
    acknowledged_below: u64,
    /// Everything below is acknowledged or lost.
    settled_below: u64,
    /// When the next loss shows by time (`loss_time`), if one does.
    look_at: Option<Time>,
    last_sent: Time,
    /// `pto_count`
    timeouts: u32,
    /// Probes that are still to leave, the number after the last packet that one has repeated, and after those that they
    /// may repeat.
    probes: u32,
    probed_below: u64,
    probed_until: u64,
    /// `latest_rtt`
    latest: Span,
    first_sample: Option<Time>,
    /// When the first one of the packets left that are all lost up to `settled_below`.
    losing_since: Option<Time>,
    /// What left before belongs to the last reaction (`congestion_recovery_start_time`).
    answered_below: u64,
    /// Has nothing that left since been acknowledged?
    recovering: bool,
    /// A round ends when this packet is acknowledged.
    round_end: u64,
    /// Indexed by segment, in a ring whose size is a power of two.
    data: Vec<Data>,
    /// Segments found lost, in that order; some may have arrived meanwhile.
    waiting: VecDeque<u64>,
    /// Losses found without an acknowledgment, that the next one is to report.
    owed: u64,
}

/// A packet that is acknowledged for the first time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    pub(super) segment: u64,
    pub(super) sent: Time,
    /// Did it leave after the last reaction to congestion?
    pub(super) since_reaction: bool,
}

/// What detection has found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// How many packets.
    pub(super) lost: u64,
    /// The last one of them.
    pub(super) last: u64,
    /// Is it persistent congestion?
    pub(super) persistent: bool,
}

impl Numbers {
    /// A segment leaves, for the first time or `again`, with `unacknowledged` the first one that has not arrived.
    pub(super) fn on_sent(&mut self, now: Time, segment: u64, again: bool, unacknowledged: u64) {
        self.reserve(unacknowledged, segment);
        let place = self.place(self.next);
        self.packets[place] = Departure { segment, at: now, fate: Fate::InFlight };
        if !again || !self.is_delivered(segment) {
            self.set(segment, Data::Sent(self.next));
        }
        self.next += 1;
        self.in_flight += 1;
        self.last_sent = now;
    }

    /// The number of the packet that left last.
    pub(super) fn last(&self) -> u64 {
        self.next - 1
    }

    /// The latest round trip, once there is one.
    pub(super) fn latest_round_trip(&self) -> Option<Span> {
        self.first_sample.map(|_| self.latest)
    }

    /// One more than the largest number acknowledged so far.
    pub(super) fn acknowledged_below(&self) -> u64 {
        self.acknowledged_below
    }

    /// Packets neither acknowledged nor lost.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// A packet is acknowledged. `None` if that was known, or is too long ago.
    pub(super) fn on_acknowledged(&mut self, number: u64) -> Option<Acknowledged> {
        if number < self.first {
            return None;
        }
        let place = self.place(number);
        let Departure { segment, at, fate } = self.packets[place];
        if fate == Fate::Acknowledged {
            return None;
        }
        self.in_flight -= u64::from(fate == Fate::InFlight);
        self.packets[place].fate = Fate::Acknowledged;
        if fate == Fate::Lost && self.losing_since.is_some_and(|since| since <= at) {
            // Section 7.6.2: nothing that left in between may be acknowledged. What left after it and is known to be lost
            // left within a time-out, as all that is remembered, and cannot make an outage with what follows.
            self.losing_since = None;
        }
        let since_reaction = fate == Fate::InFlight && number >= self.answered_below;
        self.recovering &= number < self.answered_below;
        self.timeouts = 0;
        self.probes = 0;
        Some(Acknowledged { segment, sent: at, since_reaction })
    }

    /// A segment that is not below the first unacknowledged one has arrived. False if that was known.
    pub(super) fn deliver(&mut self, segment: u64) -> bool {
        let is_new = self.data(segment) != Data::Delivered;
        self.set(segment, Data::Delivered);
        is_new
    }

    /// Has this segment arrived?
    pub(super) fn is_delivered(&self, segment: u64) -> bool {
        self.data(segment) == Data::Delivered
    }

    /// The largest of the packets just acknowledged, which took `rtt`. Returns whether it is the largest of all, whose
    /// round trip is a sample, and whether a round starts with it.
    pub(super) fn on_largest(&mut self, now: Time, number: u64, rtt: Span) -> (bool, bool) {
        let is_sample = number >= self.acknowledged_below;
        if is_sample {
            self.acknowledged_below = number + 1;
            self.latest = rtt;
            self.first_sample.get_or_insert(now);
        }
        let round_starts = number >= self.round_end;
        if round_starts {
            self.round_end = self.next;
        }
        (is_sample, round_starts)
    }

    /// Finds losses (section 6.1), with this smoothed round trip and probe time-out, and with everything below
    /// `unacknowledged` delivered.
    pub(super) fn detect(
        &mut self,
        now: Time,
        smoothed: Span,
        timeout: Span,
        unacknowledged: u64,
        mut lost: impl FnMut(u64),
    ) -> Found {
        let round_trip = self.latest.max(smoothed);
        let wait = (round_trip + round_trip / 8).max(GRANULARITY);
        let mut found = Found::default();
        self.look_at = None;
        while self.settled_below < self.acknowledged_below {
            let number = self.settled_below;
            let place = self.place(number);
            let Departure { segment, at, fate } = self.packets[place];
            match fate {
                Fate::Acknowledged => self.losing_since = None,
                Fate::Lost => {}
                Fate::InFlight => {
                    let due = at.saturating_add(wait);
                    if due > now && number + PACKET_THRESHOLD >= self.acknowledged_below {
                        self.look_at = Some(due);
                        break;
                    }
                    self.packets[place].fate = Fate::Lost;
                    self.in_flight -= 1;
                    (found.lost, found.last) = (found.lost + 1, number);
                    found.persistent |= self.persists(at, timeout);
                    if segment >= unacknowledged && self.data(segment) == Data::Sent(number) {
                        lost(segment);
                        self.set(segment, Data::Waiting);
                        self.waiting.push_back(segment);
                    }
                }
            }
            self.settled_below += 1;
        }
        self.forget(now, timeout);
        found
    }

    /// A packet that left at this time is lost. Does that make the time in which nothing has arrived too long (section
    /// 7.6)?
    fn persists(&mut self, at: Time, timeout: Span) -> bool {
        if self.first_sample.is_none_or(|sample| at <= sample) {
            return false;
        }
        let since = *self.losing_since.get_or_insert(at);
        let persistent = at.since(since) > timeout * PERSISTENT;
        if persistent {
            self.losing_since = None;
        }
        persistent
    }

    /// Forgets packets that nothing more can be learned from.
    fn forget(&mut self, now: Time, timeout: Span) {
        while self.first < self.settled_below {
            let Departure { at, fate, .. } = self.packets[self.place(self.first)];
            if fate == Fate::Lost && at.saturating_add(timeout) > now {
                return;
            }
            self.first += 1;
        }
    }

    /// All data has arrived: nothing that is in flight matters any more.
    pub(super) fn forget_all(&mut self) {
        self.first = self.next;
        self.settled_below = self.next;
        self.in_flight = 0;
        self.look_at = None;
        self.losing_since = None;
        self.probes = 0;
        self.recovering = false;
        self.waiting.clear();
    }

    /// When there is something to do without an acknowledgment (section 6.2): never with nothing in flight.
    pub(super) fn deadline(&self, timeout: Span) -> Time {
        if let Some(look_at) = self.look_at {
            return look_at;
        }
        if self.in_flight == 0 {
            return Time::NEVER;
        }
        let doubled = u128::from(timeout.0) << self.timeouts.min(32);
        let wait = Span(doubled.min(u128::from(LONGEST.max(timeout).0)) as u64);
        self.last_sent.saturating_add(wait)
    }

    /// That time has come: is it one to look for losses? Otherwise probes are to leave.
    pub(super) fn looks(&mut self, now: Time) -> bool {
        if self.look_at.is_some_and(|at| at <= now) {
            return true;
        }
        self.timeouts += 1;
        self.probes = PROBES;
        (self.probed_below, self.probed_until) = (self.settled_below, self.next);
        false
    }

    /// Takes one of the probes that are to leave; returns whether there was one, and whether there is another.
    pub(super) fn take_probe(&mut self) -> (bool, bool) {
        let probes = self.probes;
        self.probes = probes.saturating_sub(1);
        (probes > 0, probes > 1)
    }

    /// What has been in flight for longest and has not been repeated by a probe of this time-out.
    pub(super) fn oldest(&mut self, unacknowledged: u64) -> Option<u64> {
        while self.probed_below < self.probed_until {
            let number = self.probed_below;
            let segment = self.packets[self.place(number)].segment;
            self.probed_below += 1;
            if segment >= unacknowledged && self.data(segment) == Data::Sent(number) {
                return Some(segment);
            }
        }
        None
    }

    /// Is there a segment to be sent again?
    pub(super) fn has_waiting(&mut self, unacknowledged: u64) -> bool {
        while let Some(&segment) = self.waiting.front() {
            if segment >= unacknowledged && self.data(segment) == Data::Waiting {
                return true;
            }
            self.waiting.pop_front();
        }
        false
    }

    /// Takes the first one of them, which leaves now.
    pub(super) fn take_waiting(&mut self, unacknowledged: u64) -> Option<u64> {
        if !self.has_waiting(unacknowledged) {
            return None;
        }
        self.waiting.pop_front()
    }

    /// The sender reacts to congestion: what has left so far belongs to that. Returns the next number.
    pub(super) fn react(&mut self) -> u64 {
        self.answered_below = self.next;
        self.recovering = true;
        self.next
    }

    /// Has nothing been acknowledged that left since the last reaction?
    pub(super) fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// After persistent congestion no reaction is under way.
    pub(super) fn forget_reaction(&mut self) {
        self.answered_below = 0;
        self.recovering = false;
    }

    /// These losses were found without an acknowledgment.
    pub(super) fn owe(&mut self, lost: u64) {
        self.owed += lost;
    }

    /// Takes what is owed.
    pub(super) fn take_owed(&mut self) -> u64 {
        std::mem::take(&mut self.owed)
    }

    fn place(&self, number: u64) -> usize {
        number as usize & (self.packets.len() - 1)
    }

    fn data(&self, segment: u64) -> Data {
        self.data[segment as usize & (self.data.len() - 1)]
    }

    fn set(&mut self, segment: u64, data: Data) {
        let mask = self.data.len() - 1;
        self.data[segment as usize & mask] = data;
    }

    /// Makes room for one more packet, and for all segments from the first unacknowledged one to this one.
    fn reserve(&mut self, unacknowledged: u64, segment: u64) {
        if (self.next - self.first) as usize >= self.packets.len() {
            let blank = Departure { segment: 0, at: Time::ZERO, fate: Fate::Acknowledged };
            grow(&mut self.packets, blank, self.first, self.next);
        }
        if (segment - unacknowledged) as usize >= self.data.len() {
            grow(&mut self.data, Data::Waiting, unacknowledged, segment);
        }
    }
}

/// Makes a ring larger that holds what belongs to `first` up to, but not including, `end`, and has to hold `end` too.
fn grow<T: Copy>(ring: &mut Vec<T>, blank: T, first: u64, end: u64) {
    let size = ((end - first) as usize + 1).next_power_of_two().max(16);
    let old = std::mem::replace(ring, vec![blank; size]);
    let kept = if old.is_empty() { end } else { first.max(end.saturating_sub(old.len() as u64)) };
    for number in kept..end {
        ring[number as usize & (size - 1)] = old[number as usize & (old.len() - 1)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);
    /// A probe time-out.
    const TIMEOUT: Span = Span::from_millis(150);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Packets that leave at these times, each with the segment of its number.
    fn sent(times: &[u64]) -> Numbers {
        let mut numbers = Numbers::default();
        send(&mut numbers, times);
        numbers
    }

    fn send(numbers: &mut Numbers, times: &[u64]) {
        for &time in times {
            numbers.on_sent(at(time), numbers.next, false, 0);
        }
    }

    /// The acknowledgment of this packet and its segment, which have the same number.
    fn hear(numbers: &mut Numbers, number: u64, now: u64) -> Option<Acknowledged> {
        let packet = numbers.on_acknowledged(number)?;
        numbers.deliver(number);
        numbers.on_largest(at(now), number, at(now).since(packet.sent));
        Some(packet)
    }

    /// What is found lost.
    fn detect(numbers: &mut Numbers, now: u64) -> Vec<u64> {
        let mut lost = Vec::new();
        numbers.detect(at(now), RTT, TIMEOUT, 0, |segment| lost.push(segment));
        lost
    }

    #[test]
    fn a_packet_has_nine_eighths_of_the_longer_round_trip() {
        // Section 6.1.2. 0 leaves at 0 and 1 at 10 ms; 1 takes 100 ms. The smoothed round trip is 80 or 160 ms.
        for (smoothed, wait) in [(80, Span(112_500_000_000)), (160, Span::from_millis(180))] {
            let mut numbers = sent(&[0, 10]);
            hear(&mut numbers, 1, 110);
            let found = numbers.detect(at(110), Span::from_millis(smoothed), TIMEOUT, 0, |_| {});
            assert_eq!(found.lost, 0);
            assert_eq!(numbers.deadline(TIMEOUT), Time::ZERO + wait);
        }
        // But no less than a millisecond: both leave at 0, and 1 takes 100 µs.
        let mut numbers = sent(&[0, 0]);
        let rtt = Span::from_millis(1) / 10;
        numbers.on_acknowledged(1);
        numbers.on_largest(Time::ZERO + rtt, 1, rtt);
        numbers.detect(Time::ZERO + rtt, rtt, TIMEOUT, 0, |_| {});
        assert_eq!(numbers.deadline(TIMEOUT), at(1));
    }

    #[test]
    fn what_comes_after_it_was_taken_for_lost_counts_for_nothing() {
        // 4 is three and more above 0 and 1. The original of 1 comes all the same, before 1 leaves again: only 0 does.
        let mut numbers = sent(&[0, 0, 0, 0, 0]);
        assert!(hear(&mut numbers, 4, 100).expect("it is news").since_reaction);
        assert_eq!(detect(&mut numbers, 100), [0, 1]);
        assert_eq!(numbers.in_flight(), 2);
        assert!(!hear(&mut numbers, 1, 101).expect("it is news").since_reaction);
        assert_eq!(numbers.in_flight(), 2);
        assert!(hear(&mut numbers, 1, 101).is_none(), "it is known");
        assert_eq!((numbers.take_waiting(0), numbers.take_waiting(0)), (Some(0), None));
    }

    #[test]
    fn a_recovery_ends_with_what_left_during_it() {
        // Section 7.3.2. 0 to 2 leave before the reaction, 3 after it.
        let mut numbers = sent(&[0, 0, 0]);
        assert_eq!(numbers.react(), 3);
        send(&mut numbers, &[100]);
        assert!(!hear(&mut numbers, 2, 101).expect("it is news").since_reaction);
        assert!(numbers.is_recovering());
        assert!(hear(&mut numbers, 3, 200).expect("it is news").since_reaction);
        assert!(!numbers.is_recovering());
        // Section 7.6.2: persistent congestion leaves no recovery under way.
        let mut numbers = sent(&[0, 0, 0]);
        numbers.react();
        numbers.forget_reaction();
        assert!(!numbers.is_recovering());
        assert!(hear(&mut numbers, 2, 101).expect("it is news").since_reaction);
    }

    #[test]
    fn a_round_starts_when_something_is_acknowledged_that_left_in_the_last_one() {
        let mut numbers = sent(&[0; 10]);
        let starts = |numbers: &mut Numbers, number| numbers.on_largest(at(100), number, RTT).1;
        assert!(starts(&mut numbers, 0), "the next one ends with 10");
        send(&mut numbers, &[100]);
        assert!(!starts(&mut numbers, 9));
        assert!(starts(&mut numbers, 10));
    }

    #[test]
    fn two_probes_leave_unless_something_is_acknowledged_before() {
        // Section 6.2.4.
        let mut numbers = sent(&[0, 0]);
        assert!(!numbers.looks(at(150)));
        assert_eq!([numbers.take_probe(), numbers.take_probe()], [(true, true), (true, false)]);
        assert_eq!(numbers.take_probe(), (false, false));
        assert!(!numbers.looks(at(450)));
        hear(&mut numbers, 0, 451);
        assert_eq!(numbers.take_probe(), (false, false));
    }

    #[test]
    fn a_probe_time_out_doubles_up_to_a_minute() {
        // From the last departure, at 10 ms.
        let after = |timeouts: u32, timeout: Span| {
            let mut numbers = sent(&[0, 10]);
            (0..timeouts).for_each(|_| assert!(!numbers.looks(at(10))));
            numbers.deadline(timeout).since(at(10))
        };
        assert_eq!([0, 1, 2].map(|it| after(it, TIMEOUT)), [1, 2, 4].map(|it| TIMEOUT * it));
        assert_eq!(after(9, TIMEOUT), Span::from_seconds(60), "76.8 s");
        assert_eq!(after(80, TIMEOUT), Span::from_seconds(60));
        assert_eq!(after(1, Span::from_seconds(70)), Span::from_seconds(70), "the path is long");
    }

    /// 0 leaves at 0 and is acknowledged at 100 ms. Of the packets that leave at these times, those that are so many after
    /// it are acknowledged, and the others lost, as one that leaves at 2 s and takes 100 ms shows. Is the congestion
    /// persistent?
    fn persists(times: &[u64], acknowledged: &[u64]) -> bool {
        let mut numbers = sent(&[0]);
        hear(&mut numbers, 0, 100);
        send(&mut numbers, times);
        for &number in acknowledged {
            hear(&mut numbers, number, 700);
        }
        send(&mut numbers, &[2000]);
        hear(&mut numbers, times.len() as u64 + 1, 2100);
        numbers.detect(at(2100), RTT, TIMEOUT, 0, |_| {}).persistent
    }

    #[test]
    fn congestion_is_persistent_when_more_than_three_time_outs_of_packets_are_lost() {
        // Sections 7.6.1 and 7.6.2: 450 ms.
        assert!(!persists(&[101, 551], &[]));
        assert!(persists(&[101, 552], &[]));
        // The first one has to leave after the first sample was taken, at 100 ms.
        assert!(!persists(&[100, 551], &[]));
        // And nothing that left in between may have arrived.
        assert!(!persists(&[101, 300, 552], &[2]));
        assert!(persists(&[101, 300, 552], &[]));
    }

    #[test]
    fn what_arrives_late_ends_an_outage() {
        // Section 7.6.2. 4, which leaves at 561 ms, is acknowledged at 661 ms. Then 1 and 2 are lost, and at 560 + 112.5 ms
        // so is 3, 459 ms after 1, which is more than 450 ms. But 2 may have arrived meanwhile.
        for (late, persistent) in [(None, true), (Some(2), false)] {
            let mut numbers = sent(&[0]);
            hear(&mut numbers, 0, 100);
            send(&mut numbers, &[101, 545, 560, 561]);
            hear(&mut numbers, 4, 661);
            assert_eq!(detect(&mut numbers, 661), [1, 2]);
            late.map(|number| hear(&mut numbers, number, 665).expect("it is remembered"));
            let found = numbers.detect(at(673), RTT, TIMEOUT, 0, |_| {});
            assert_eq!((found.lost, found.persistent), (1, persistent), "{late:?}");
        }
    }

    #[test]
    fn an_outage_does_not_begin_with_what_arrives_late() {
        // Probe time-outs of 150 ms, in which 1 is still remembered. 4 leaves at 203 ms and is acknowledged at 204. Then 1,
        // which left at 101 ms, is lost by number, and comes late. With a time-out of 33 ms from then on, 2 and 3 follow 112.5
        // ms after they left: 101 ms after 1, which is more than 99 ms, but the outage begins with 2, and lasts 1 ms.
        for (late, persistent) in [(false, true), (true, false)] {
            let mut numbers = sent(&[0]);
            hear(&mut numbers, 0, 100);
            send(&mut numbers, &[101, 201, 202, 203]);
            hear(&mut numbers, 4, 204);
            assert_eq!(detect(&mut numbers, 204), [1]);
            if late {
                hear(&mut numbers, 1, 205).expect("it is remembered");
            }
            let timeout = Span::from_millis(33);
            let found = numbers.detect(at(315), RTT, timeout, 0, |_| {});
            assert_eq!((found.lost, found.persistent), (2, persistent), "{late}");
        }
    }

    #[test]
    fn a_lost_packet_is_remembered_for_a_probe_time_out() {
        // 4 shows that 0 and 1 are lost, which left at 0 and 10 ms: 0 until 150 ms, and 1 until 160.
        let mut numbers = sent(&[0, 10, 10, 10, 10]);
        hear(&mut numbers, 4, 110);
        assert_eq!(detect(&mut numbers, 110), [0, 1]);
        let known = |numbers: &mut Numbers, number, now| {
            numbers.detect(now, RTT, TIMEOUT, 0, |_| {});
            numbers.on_acknowledged(number).is_some()
        };
        let mut earlier = numbers.clone();
        assert!(known(&mut earlier, 0, Time(at(150).0 - 1)));
        assert!(!known(&mut numbers, 0, at(150)));
        assert!(known(&mut numbers, 1, at(150)));
        // Nor are packets kept that nothing more is to be learned from: of a thousand in flight one at a time none but the last
        // few, in a ring of sixteen.
        let mut numbers = Numbers::default();
        for number in 0..1000 {
            numbers.on_sent(at(number), number, false, number);
            numbers.on_acknowledged(number);
            numbers.on_largest(at(number), number, RTT);
            numbers.detect(at(number), RTT, TIMEOUT, number + 1, |_| {});
        }
        assert_eq!(numbers.packets.len(), 16);
    }

    #[test]
    fn what_waits_and_has_come_is_not_taken_for_another_segment() {
        // Segment 1 leaves in packets 1 and 6, and both are lost, the second after that of 5. Then the first comes late.
        let mut numbers = sent(&[0; 6]);
        for number in [0, 2, 3, 4] {
            hear(&mut numbers, number, 100);
        }
        assert_eq!(detect(&mut numbers, 100), [1]);
        assert_eq!(numbers.take_waiting(1), Some(1));
        numbers.on_sent(at(100), 1, true, 1);
        let send = |numbers: &mut Numbers, segment| {
            numbers.on_sent(at(100), segment, false, 1);
            numbers.last()
        };
        let arrive = |numbers: &mut Numbers, segment, number| {
            numbers.on_acknowledged(number).expect("it is remembered");
            numbers.deliver(segment);
            numbers.on_largest(at(110), number, RTT);
        };
        let last = [6, 7, 8].map(|segment| send(&mut numbers, segment))[2];
        arrive(&mut numbers, 8, last);
        assert_eq!(detect(&mut numbers, 110), [5, 1]);
        arrive(&mut numbers, 1, 1);
        // All has come up to 5. In a ring of sixteen 17 has the place of 1, and waits as well when 20 has come.
        let mut last = 0;
        for segment in 9..21 {
            numbers.on_sent(at(110), segment, false, 5);
            last = numbers.last();
        }
        arrive(&mut numbers, 20, last);
        numbers.detect(at(120), RTT, TIMEOUT, 5, |_| {});
        assert_eq!(numbers.data.len(), 16);
        let taken: Vec<u64> = std::iter::from_fn(|| numbers.take_waiting(5)).collect();
        assert_eq!(taken, [5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
    }

    #[test]
    fn losses_found_without_an_acknowledgment_are_owed_together() {
        let mut numbers = Numbers::default();
        numbers.owe(2);
        numbers.owe(3);
        assert_eq!((numbers.take_owed(), numbers.take_owed()), (5, 0));
    }

    #[test]
    fn what_is_acknowledged_at_last_ends_no_outage_before_it() {
        // When 4 is acknowledged 1 is lost, and 2 and 3 are not known to be. When they are, the outage is seen, from 101 to
        // 560 ms.
        let mut numbers = sent(&[0]);
        hear(&mut numbers, 0, 100);
        send(&mut numbers, &[101, 555, 560, 561, 562]);
        hear(&mut numbers, 4, 661);
        assert_eq!(detect(&mut numbers, 661), [1]);
        hear(&mut numbers, 5, 662);
        let found = numbers.detect(at(673), RTT, TIMEOUT, 0, |_| {});
        assert_eq!((found.lost, found.persistent), (2, true));
    }

    #[test]
    fn the_same_outage_is_told_once() {
        // 1 and 2 are lost, with 500 ms between them. So is 3, which has until 1990 + 112.5 ms.
        let mut numbers = sent(&[0]);
        hear(&mut numbers, 0, 100);
        send(&mut numbers, &[200, 700, 1990, 2000]);
        hear(&mut numbers, 4, 2100);
        let mut found = |now| numbers.detect(at(now), RTT, TIMEOUT, 0, |_| {});
        let first = found(2100);
        assert_eq!((first.lost, first.last, first.persistent), (2, 2, true));
        let second = found(2103);
        assert_eq!((second.lost, second.last, second.persistent), (1, 3, false));
    }

    #[test]
    fn when_all_data_has_arrived_nothing_in_flight_matters() {
        // 1 is lost, and 2 has until 300 + 112.5 ms, when the data of both has arrived in copies.
        let mut numbers = sent(&[0]);
        hear(&mut numbers, 0, 100);
        send(&mut numbers, &[101, 300, 301]);
        hear(&mut numbers, 3, 401);
        assert_eq!(detect(&mut numbers, 401), [1]);
        numbers.react();
        assert!(!numbers.looks(at(402)), "probes are to leave");
        numbers.forget_all();
        assert_eq!((numbers.in_flight(), numbers.deadline(TIMEOUT)), (0, Time::NEVER));
        assert!(!numbers.is_recovering() && !numbers.has_waiting(0));
        assert_eq!(numbers.take_probe(), (false, false));
        // The next loss, 900 ms after that of 1, is a single one.
        send(&mut numbers, &[1001, 1002]);
        hear(&mut numbers, 5, 1102);
        let found = numbers.detect(at(1114), RTT, TIMEOUT, 0, |_| {});
        assert_eq!((found.lost, found.persistent), (1, false));
    }
}
