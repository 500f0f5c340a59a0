//! Losses found by time: RACK-TLP (RFC 8985).
//!
//! Whatever was sent before a segment that has been delivered has had its chance. If it has not arrived a round trip
//! and a reordering window after it left, it is lost; this holds for retransmissions too.
//!
//! ```text
//!     lost at   xmit_ts + RACK.rtt + reo_wnd, for all that left before RACK.segment
//!     reo_wnd   0 without signs of reordering, in recovery or with three segments selectively acknowledged; otherwise
//!               min(reo_wnd_mult · min_RTT/4, SRTT)
//! ```
//!
//! The multiplier grows by 1 in each round trip whose acknowledgments report duplicates (RFC 2883), and is 1 again
//! after 16 recoveries without.
//!
//! What is in flight forms a list in the order of departure, linked through one record per segment, so each departure
//! and each delivery costs O(1) at any window. Detection takes segments from its head, up to the last one that
//! RACK.segment has overtaken.
//!
//! What is lost at the end of all data has nothing after it. If acknowledgments stay away for two round trips, a probe
//! (TLP) makes the receiver say what it has: new data if there is any, otherwise the last segment once more.
//!
//! Differences from the RFC:
//! - Departures of the same instant are told apart by their order, not by sequence number.
//! - A retransmitted segment also counts as reordered when time stamps tell that the original arrived. The RFC ignores
//!   retransmitted segments, and would never learn of a reordering that outlasts three segments.
//! - No probe is scheduled while one is in flight, rather than given up when its time comes. That the round trip must
//!   have been measured since the last probe (section 7.3) needs no check: with time stamps, what ends the wait for one
//!   probe is a measurement.
//! - What was found lost leaves in the order in which it was found, where RFC 6675 takes the smallest number: but the first
//!   unacknowledged segment goes before all others, as there. Until it arrives no acknowledgment restarts the timer.
//! - The loss of a retransmission is no second sign of congestion, as it should be (RFC 5681, section 4.3), and is not in
//!   Linux.

use longfat_units::{Span, Time};

use super::scoreboard::DUPLICATE_THRESHOLD;

/// No segment.
const NONE: u64 = u64::MAX;
/// How many recoveries without duplicates until the reordering window is small again.
const PERSISTENCE: u32 = 16;

/// The last departure of a segment.
#[derive(Clone, Copy, Debug)]
struct Departure {
    /// `Segment.xmit_ts`
    at: Time,
    /// Its number among all departures, from 1.
    order: u64,
    /// Its neighbours in the list that it is in.
    before: u64,
    after: u64,
    place: Place,
    /// `Segment.retransmitted`
    again: bool,
    /// The last episode in which it was found lost; 0 for none.
    doubted: u32,
}

const NEVER_SENT: Departure = Departure {
    at: Time::ZERO,
    order: 0,
    before: NONE,
    after: NONE,
    place: Place::Delivered,
    again: false,
    doubted: 0,
};

/// Where a segment is thought to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    InFlight,
    /// Lost, and not sent again since.
    Lost,
    Delivered,
}

/// The ends of a list of segments.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u64,
    last: u64,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE };
}

/// What RACK knows of one flow.
#[derive(Debug)]
pub(super) struct Rack {
    /// Indexed by segment number, in a ring whose size is a power of two.
    departures: Vec<Departure>,
    /// Departures so far, and the last one that was not the first of its segment.
    count: u64,
    last_again: u64,
    /// In the order of departure.
    in_flight: List,
    /// In the order in which they were found lost.
    lost: List,
    lost_count: u64,
    /// The highest segment found lost so far.
    last_lost: u64,
    /// `RACK.segment`: the number of the last departure that has been delivered.
    newest: u64,
    /// The last segment in flight that left before it.
    overtaken: u64,
    /// `RACK.rtt`
    rtt: Span,
    /// The last departure reported by the current acknowledgment.
    reported: u64,
    /// `RACK.min_RTT`, over the whole connection.
    least_rtt: Span,
    /// `RACK.fack`, before and after the current acknowledgment.
    forward: u64,
    forward_now: u64,
    /// `RACK.reordering_seen`
    reordering: bool,
    /// `RACK.reo_wnd_mult`
    multiplier: u64,
    /// `RACK.reo_wnd_persist`
    persistence: u32,
    /// `RACK.dsack_round`
    duplicate_round: Option<u64>,
    /// `RACK.reo_wnd`
    window: Span,
    /// When the next loss may show without an acknowledgment; never if none can.
    look_at: Time,
    /// When a probe is due; never if none is scheduled.
    probe_at: Time,
    /// The probe is to leave now.
    probe_due: bool,
    probe: Option<Probe>,
    /// The recovery under way, or else the next one; from 1.
    episode: u32,
    /// How often a segment has been found lost in it, and how often that has proved wrong.
    doubts: u64,
    refuted: u64,
    /// Losses found without an acknowledgment, that the next one is to report.
    owed: u64,
}

/// A probe in flight (section 7.4).
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// `TLP.end_seq`
    end: u64,
    /// `TLP.is_retrans`
    again: bool,
}

/// What the sender knows when losses are to be found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Time,
    /// Are losses being repaired?
    pub(super) repairing: bool,
    /// Segments selectively acknowledged.
    pub(super) sacked: u64,
    /// Smoothed round trip.
    pub(super) rtt: Span,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self {
            departures: Vec::new(),
            count: 0,
            last_again: 0,
            in_flight: List::EMPTY,
            lost: List::EMPTY,
            lost_count: 0,
            last_lost: 0,
            newest: 0,
            overtaken: NONE,
            rtt: Span::ZERO,
            reported: 0,
            least_rtt: Span(u64::MAX),
            forward: 0,
            forward_now: 0,
            reordering: false,
            multiplier: 1,
            persistence: PERSISTENCE,
            duplicate_round: None,
            window: Span::ZERO,
            look_at: Time::NEVER,
            probe_at: Time::NEVER,
            probe_due: false,
            probe: None,
            episode: 1,
            doubts: 0,
            refuted: 0,
            owed: 0,
        }
    }

    /// When there is something to do without an acknowledgment: to look for losses, or to send a probe. One excludes
    /// the other (section 8).
    pub(super) fn deadline(&self) -> Time {
        self.look_at.min(self.probe_at)
    }

    /// May a probe be scheduled, as far as this knows (section 7.2)?
    pub(super) fn may_probe(&self) -> bool {
        self.probe.is_none() && self.look_at == Time::NEVER
    }

    /// Schedules a probe; never, for none.
    pub(super) fn schedule_probe(&mut self, at: Time) {
        self.probe_at = at;
    }

    /// Is a probe due at `now`? If so it leaves next.
    pub(super) fn begin_probe(&mut self, now: Time) -> bool {
        if self.probe_at > now {
            return false;
        }
        self.probe_at = Time::NEVER;
        self.probe_due = true;
        true
    }

    /// Is a probe to leave now? It is taken to have left.
    pub(super) fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.probe_due)
    }

    /// The probe leaves; afterwards everything below `end` has left, the probe perhaps `again`.
    pub(super) fn on_probe(&mut self, end: u64, again: bool) {
        self.probe = Some(Probe { end, again });
    }

    /// Section 7.4.2: everything below `number` is acknowledged, perhaps with news of a `duplicate`, or as a `bare`
    /// acknowledgment that repeats the last one. Returns the segment that the probe has repaired, if it did that.
    pub(super) fn heed_probe(
        &mut self,
        number: u64,
        duplicate: Option<u64>,
        bare: bool,
    ) -> Option<u64> {
        let Probe { end, again } = self.probe?;
        if number < end {
            return None;
        }
        let needless = !again || duplicate == Some(end - 1) || bare;
        if needless || number > end {
            self.probe = None;
        }
        (!needless && number > end).then_some(end - 1)
    }

    /// Recovery begins: it needs no probe (section 7.1).
    pub(super) fn forget_probe(&mut self) {
        self.probe_at = Time::NEVER;
        self.probe_due = false;
        self.probe = None;
    }

    /// These losses were found without an acknowledgment.
    pub(super) fn owe(&mut self, found: u64) {
        self.owed += found;
    }

    /// The losses found without an acknowledgment since last asked.
    pub(super) fn take_owed(&mut self) -> u64 {
        std::mem::take(&mut self.owed)
    }

    /// Segments lost and not sent again since.
    pub(super) fn lost(&self) -> u64 {
        self.lost_count
    }

    /// The first of these.
    pub(super) fn first_lost(&self) -> Option<u64> {
        (self.lost.first != NONE).then_some(self.lost.first)
    }

    /// The highest segment found lost so far, repaired or not; 0 if none was.
    pub(super) fn last_lost(&self) -> u64 {
        self.last_lost
    }

    /// A segment leaves, with `unacknowledged` the first unacknowledged one (section 6.1).
    pub(super) fn on_sent(&mut self, now: Time, segment: u64, again: bool, unacknowledged: u64) {
        self.reserve(unacknowledged, segment);
        let mut doubted = 0;
        if again {
            self.unlink(segment);
            doubted = self.of(segment).doubted;
        }
        self.count += 1;
        if again {
            self.last_again = self.count;
        }
        let before = self.join(Place::InFlight, segment);
        *self.of(segment) = Departure {
            at: now,
            order: self.count,
            before,
            after: NONE,
            place: Place::InFlight,
            again,
            doubted,
        };
    }

    /// An acknowledgment has arrived, thanks to a segment sent at `sent`.
    pub(super) fn on_ack(&mut self, now: Time, sent: Time) {
        self.least_rtt = self.least_rtt.min(now - sent);
        self.forward = self.forward_now;
        self.reported = 0;
    }

    /// That acknowledgment reports this segment for the first time (section 6.2, steps 2 and 3).
    pub(super) fn on_delivered(&mut self, now: Time, sent: Time, segment: u64) {
        let Departure { at, order, again, place, doubted, .. } = *self.of(segment);
        self.unlink(segment);
        // It was not sent again yet, or what arrived had left before that (RFC 3522).
        let arrived = place == Place::Lost || again && sent < at;
        self.refuted += u64::from(arrived && doubted == self.episode);
        let rtt = now - at;
        let by_original = again && (sent < at || rtt < self.least_rtt);
        self.reordering |= segment < self.forward && (!again || sent < at);
        self.forward_now = self.forward_now.max(segment + 1);
        if by_original {
            return;
        }
        if order > self.reported {
            self.reported = order;
            self.rtt = rtt;
        }
        self.newest = self.newest.max(order);
    }

    /// Can an acknowledgment of new data in order, where nothing is missing, neither show a loss nor end a wait? Then all
    /// that is in flight has left once, in order, and after all that has been delivered.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.overtaken == NONE
            && self.probe.is_none()
            && !self.probe_due
            && self.duplicate_round.is_none()
            && self.owed == 0
            && self.in_flight.first != NONE
            && self.at(self.in_flight.first).order > self.last_again
    }

    /// While it [is quiet](Self::is_quiet): an acknowledgment reports the segments from `from` to `to`, the latter not
    /// included, all steps at once. `rtt` is the smoothed round trip.
    #[inline]
    pub(super) fn on_delivered_in_order(
        &mut self,
        now: Time,
        sent: Time,
        (from, to): (u64, u64),
        rtt: Span,
    ) {
        debug_assert!(self.is_quiet() && self.in_flight.first == from && self.forward_now <= from);
        for segment in from..to {
            self.of(segment).place = Place::Delivered;
        }
        let Departure { at, order, after, .. } = *self.at(to - 1);
        self.in_flight.first = after;
        if after == NONE {
            self.in_flight.last = NONE;
        } else {
            self.of(after).before = NONE;
        }
        self.least_rtt = self.least_rtt.min(now - sent);
        self.forward = self.forward_now;
        self.forward_now = to;
        (self.reported, self.rtt, self.newest) = (order, now - at, order);
        self.window = self.doubtful_window(rtt);
    }

    /// Every segment that the acknowledgment reports has been passed in: adapts the reordering window (step 4).
    /// `duplicate`: does it report a segment that arrived twice? `recovered`: has a recovery just ended?
    pub(super) fn adapt(
        &mut self,
        unacknowledged: u64,
        next: u64,
        duplicate: bool,
        recovered: bool,
    ) {
        self.duplicate_round.take_if(|round| unacknowledged >= *round);
        if duplicate && self.duplicate_round.is_none() {
            self.duplicate_round = Some(next);
            self.multiplier += 1;
            self.persistence = PERSISTENCE;
        } else if recovered {
            self.persistence = self.persistence.saturating_sub(1);
            if self.persistence == 0 {
                self.multiplier = 1;
            }
        }
    }

    /// Finds losses (step 5), and when to look again. Calls `lost` for each one, and returns how many there are.
    pub(super) fn detect(&mut self, moment: &Moment, mut lost: impl FnMut(u64)) -> u64 {
        self.window = self.reordering_window(moment);
        self.overtake();
        let wait = self.rtt + self.window;
        let before = self.lost_count;
        while self.overtaken != NONE
            && self.of(self.in_flight.first).at.saturating_add(wait) <= moment.now
        {
            lost(self.in_flight.first);
            self.lose(self.in_flight.first);
        }
        let last = self.overtaken;
        self.look_at = match last {
            NONE => Time::NEVER,
            last => self.of(last).at.saturating_add(wait),
        };
        self.lost_count - before
    }

    /// The retransmission timer expired (section 6.3). Calls `lost` for each segment that is newly lost: the first
    /// unacknowledged one, and all whose time is over.
    pub(super) fn on_timeout(&mut self, now: Time, unacknowledged: u64, mut lost: impl FnMut(u64)) {
        self.look_at = Time::NEVER;
        let wait = self.rtt + self.window;
        while self.in_flight.first != NONE
            && self.of(self.in_flight.first).at.saturating_add(wait) <= now
        {
            lost(self.in_flight.first);
            self.lose(self.in_flight.first);
        }
        if self.of(unacknowledged).place == Place::InFlight {
            lost(unacknowledged);
            self.lose(unacknowledged);
        }
    }

    fn reordering_window(&self, moment: &Moment) -> Span {
        let certain = moment.repairing || moment.sacked >= DUPLICATE_THRESHOLD as u64;
        if !self.reordering && certain {
            return Span::ZERO;
        }
        self.doubtful_window(moment.rtt)
    }

    /// The reordering window in doubt; `rtt` is the smoothed round trip.
    fn doubtful_window(&self, rtt: Span) -> Span {
        Span(self.least_rtt.0.saturating_mul(self.multiplier) / 4).min(rtt)
    }

    /// Moves `overtaken` on to the last segment in flight that left before `newest`.
    fn overtake(&mut self) {
        loop {
            let next = match self.overtaken {
                NONE => self.in_flight.first,
                last => self.of(last).after,
            };
            if next == NONE || self.of(next).order > self.newest {
                return;
            }
            self.overtaken = next;
        }
    }

    /// Has everything that was found lost in this recovery arrived all the same?
    pub(super) fn is_refuted(&self) -> bool {
        self.doubts > 0 && self.refuted == self.doubts
    }

    /// A recovery is over, or one of another kind begins. What is still lost remains so: the next one is not without
    /// cause.
    pub(super) fn end_episode(&mut self) {
        self.episode += 1;
        self.doubts = self.lost_count;
        self.refuted = 0;
    }

    /// Is this segment, not yet acknowledged, lost and not sent again since?
    pub(super) fn is_lost(&mut self, segment: u64) -> bool {
        self.of(segment).place == Place::Lost
    }

    /// Nothing is lost: what was thought so is in flight.
    pub(super) fn restore(&mut self) {
        while self.lost.last != NONE {
            let segment = self.lost.last;
            self.unlink(segment);
            let after = std::mem::replace(&mut self.in_flight.first, segment);
            if after == NONE {
                self.in_flight.last = segment;
            } else {
                self.of(after).before = segment;
            }
            let departure = self.of(segment);
            (departure.before, departure.after) = (NONE, after);
            departure.place = Place::InFlight;
        }
    }

    /// A segment in flight is lost.
    fn lose(&mut self, segment: u64) {
        self.unlink(segment);
        let before = self.join(Place::Lost, segment);
        self.lost_count += 1;
        self.last_lost = self.last_lost.max(segment);
        self.doubts += 1;
        let doubted = self.episode;
        let departure = self.of(segment);
        *departure = Departure { before, after: NONE, place: Place::Lost, doubted, ..*departure };
    }

    /// A segment is the last one in the list of this place from now on. Returns the one before it.
    #[inline]
    fn join(&mut self, place: Place, segment: u64) -> u64 {
        let list = if place == Place::Lost { &mut self.lost } else { &mut self.in_flight };
        let before = std::mem::replace(&mut list.last, segment);
        if before == NONE {
            list.first = segment;
        } else {
            self.of(before).after = segment;
        }
        before
    }

    /// Takes a segment out of the list that it is in.
    fn unlink(&mut self, segment: u64) {
        let Departure { before, after, place, .. } = *self.of(segment);
        let list = match place {
            Place::Delivered => return,
            Place::InFlight => &mut self.in_flight,
            Place::Lost => &mut self.lost,
        };
        if before == NONE {
            list.first = after;
        }
        if after == NONE {
            list.last = before;
        }
        if before != NONE {
            self.of(before).after = after;
        }
        if after != NONE {
            self.of(after).before = before;
        }
        if self.overtaken == segment {
            self.overtaken = before;
        }
        self.lost_count -= u64::from(place == Place::Lost);
        self.of(segment).place = Place::Delivered;
    }

    fn at(&self, segment: u64) -> &Departure {
        &self.departures[segment as usize & (self.departures.len() - 1)]
    }

    fn of(&mut self, segment: u64) -> &mut Departure {
        let mask = self.departures.len() - 1;
        &mut self.departures[segment as usize & mask]
    }

    /// Makes room for everything from `first` to `last`.
    fn reserve(&mut self, first: u64, last: u64) {
        let needed = (last - first + 1) as usize;
        if needed <= self.departures.len() {
            return;
        }
        let larger = vec![NEVER_SENT; needed.next_power_of_two().max(16)];
        let old = std::mem::replace(&mut self.departures, larger);
        if old.is_empty() {
            return;
        }
        for segment in first..last {
            *self.of(segment) = old[segment as usize & (old.len() - 1)];
        }
    }
}

#[cfg(test)]
mod tests;
