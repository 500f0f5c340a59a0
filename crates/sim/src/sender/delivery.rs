//! The delivery rate: how fast the network delivered what was sent.
//!
//! "Delivery Rate Estimation" (draft-cheng-iccrg-delivery-rate-estimation-02). Each departing segment records how much
//! had been delivered by then, and when. Its acknowledgment then yields how much has been delivered since, and over
//! what interval: the longer of the time taken to send it and the time taken to acknowledge it.
//!
//! ```text
//!     send_elapsed = P.sent - P.first_sent          ack_elapsed = C.delivered_at - P.delivered_at
//!     delivered    = C.delivered - P.delivered      interval    = max(send_elapsed, ack_elapsed)
//! ```
//!
//! P is the last-sent of the segments that an acknowledgment reports. Without selective acknowledgments each duplicate
//! counts as one delivered segment (draft-ietf-ccwg-bbr, "TCP Connections without SACK"), but only an acknowledgment in
//! order says which segments have arrived and yields a sample. What it covers beyond the duplicates was delivered at some
//! time since the loss, nobody knows when: it is left out. Kept only for controllers that ask for it: the
//! records take 56 bytes per segment of the largest window so far.

use longfat_control::{Lost, RateSample};
use longfat_units::{Span, Time};

/// What is recorded about a segment when it last left.
#[derive(Clone, Copy, Debug, Default)]
struct DepartureRecord {
    /// `P.sent_time`
    sent: Time,
    /// `P.first_sent_time`
    first_sent: Time,
    /// `P.delivered`
    delivered: u64,
    /// `P.delivered_time`
    delivered_at: Time,
    /// `P.lost`, of BBR's draft: segments lost so far.
    lost: u64,
    /// `P.tx_in_flight`, of BBR's draft, this segment included.
    in_flight: u64,
    /// `P.is_app_limited`
    application_limited: bool,
    /// It had left before, so that its acknowledgment may be that of the earlier copy.
    resent: bool,
}

/// Per-connection state.
#[derive(Debug, Default)]
pub(super) struct DeliveryRate {
    /// `C.delivered`
    delivered: u64,
    /// `C.delivered_time`
    delivered_at: Time,
    /// `C.first_sent_time`
    first_sent: Time,
    /// `C.app_limited`: samples of segments sent before this many are delivered are application-limited; 0 if none are.
    application_limited_until: u64,
    /// Segments lost so far.
    lost: u64,
    /// Indexed by segment number, in a ring whose size is a power of two.
    departures: Vec<DepartureRecord>,
    /// Of the segments reported by the current acknowledgment, the one that left last.
    newest: Option<DepartureRecord>,
    /// The segment after the last one that has left.
    next: u64,
    /// The smallest round trip of a segment that a sample was taken of.
    least: Option<Span>,
}

impl DeliveryRate {
    fn place(&self, segment: u64) -> usize {
        segment as usize & (self.departures.len() - 1)
    }

    /// A segment leaves: the `in_flight` segments in flight include it, and `unacknowledged` is the first
    /// unacknowledged one.
    pub(super) fn on_sent(&mut self, now: Time, segment: u64, in_flight: u64, unacknowledged: u64) {
        if in_flight <= 1 {
            // Nothing was in flight: the sending interval of this flight begins here.
            self.first_sent = now;
            self.delivered_at = now;
        }
        self.reserve(unacknowledged, segment);
        let place = self.place(segment);
        self.departures[place] = DepartureRecord {
            sent: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            in_flight,
            application_limited: self.application_limited_until != 0,
            resent: segment < self.next,
        };
        self.next = self.next.max(segment + 1);
    }

    /// Makes room for everything from `first` to `last`.
    fn reserve(&mut self, first: u64, last: u64) {
        let needed = (last - first + 1) as usize;
        if needed <= self.departures.len() {
            return;
        }
        let larger = vec![DepartureRecord::default(); needed.next_power_of_two().max(16)];
        let old = std::mem::replace(&mut self.departures, larger);
        if old.is_empty() {
            return;
        }
        for segment in first..last {
            let place = self.place(segment);
            self.departures[place] = old[segment as usize & (old.len() - 1)];
        }
    }

    /// An acknowledgment at `now` reports this segment for the first time.
    #[inline]
    pub(super) fn on_delivered(&mut self, now: Time, segment: u64) {
        self.count(now, 1);
        self.cover(segment);
    }

    /// So many more segments are delivered; which ones may not be known.
    #[inline]
    pub(super) fn count(&mut self, now: Time, segments: u64) {
        self.delivered += segments;
        self.delivered_at = now;
    }

    /// The current acknowledgment covers this segment.
    #[inline]
    pub(super) fn cover(&mut self, segment: u64) {
        let departure = self.departures[self.place(segment)];
        // Ties go to the first: it left with less delivered, so its sample covers more.
        if self.newest.is_none_or(|newest| departure.sent > newest.sent) {
            self.newest = Some(departure);
            self.first_sent = departure.sent;
        }
    }

    /// This segment has been found lost.
    pub(super) fn on_lost(&mut self, now: Time, segment: u64) -> Lost {
        self.lost += 1;
        let departure = self.departures[self.place(segment)];
        Lost {
            now,
            segment,
            sent: departure.sent,
            in_flight: departure.in_flight,
            lost: self.lost - departure.lost,
            delivered_total: self.delivered,
            application_limited: departure.application_limited,
        }
    }

    /// The application has nothing to send, with `in_flight` segments in flight.
    pub(super) fn on_application_limited(&mut self, in_flight: u64) {
        self.application_limited_until = (self.delivered + in_flight).max(1);
    }

    /// What leaves from now on is no longer application-limited if everything is delivered that was in flight then.
    #[inline]
    pub(super) fn see_the_application(&mut self) {
        if self.application_limited_until != 0 && self.delivered > self.application_limited_until {
            self.application_limited_until = 0;
        }
    }

    /// The sample of an acknowledgment, once every segment it reports has been passed in. `timed` is the smallest round
    /// trip of the timer; before it has one there are no samples, so that controllers can multiply the two.
    ///
    /// An interval below the smallest round trip is not credible. That of a delayed acknowledgment is the timer's from
    /// the first segment that it reports, so those of the last ones count too: else no sample would be credible on a
    /// path where every acknowledgment waits for the next segment.
    pub(super) fn sample(&mut self, timed: Span) -> Option<RateSample> {
        self.see_the_application();
        let newest = self.newest.take()?;
        let sending = newest.sent.since(newest.first_sent);
        let acknowledging = self.delivered_at.since(newest.delivered_at);
        let interval = sending.max(acknowledging);
        if !newest.resent {
            let rtt = self.delivered_at.since(newest.sent);
            self.least = Some(self.least.map_or(rtt, |known| known.min(rtt)));
        }
        let least = self.least.map_or(timed, |known| known.min(timed));
        if timed == Span(u64::MAX) || interval < least || interval == Span::ZERO {
            return None;
        }
        Some(RateSample {
            delivered_before: newest.delivered,
            delivered_total: self.delivered,
            lost: self.lost - newest.lost,
            in_flight: newest.in_flight,
            application_limited: newest.application_limited,
            ..RateSample::of(self.delivered - newest.delivered, interval)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    const RTT: Span = Span::from_millis(100);

    #[test]
    fn acknowledgments_of_two_segments_are_samples_too() {
        // A segment leaves every 10 ms; each second one is acknowledged at once, 100 ms after it left, and the one before
        // it with it, after 110 ms. That is what the round-trip timer sees.
        let mut rate = DeliveryRate::default();
        let mut samples = 0;
        for k in 0..40_u64 {
            let now = at(10 * k);
            if k >= 11 && k % 2 == 1 {
                rate.on_delivered(now, k - 11);
                rate.on_delivered(now, k - 10);
                let sample = rate.sample(Span::from_millis(110));
                if k > 30 {
                    let sample =
                        sample.expect("intervals of a round trip of the last segment are credible");
                    assert_eq!(sample.per_second(), 100.0);
                    samples += 1;
                }
            }
            rate.on_sent(now, k, k.min(11) + 1, k.saturating_sub(10));
        }
        assert_eq!(samples, 5);
    }

    #[test]
    fn the_acknowledgment_of_an_earlier_copy_is_no_sample() {
        // Segment 1 left at 0 and again at 95 ms; its first copy is acknowledged at 100 ms: 5 ms are no round trip.
        let mut rate = DeliveryRate::default();
        rate.on_sent(at(0), 0, 1, 0);
        rate.on_sent(at(0), 1, 2, 0);
        rate.on_delivered(at(94), 0);
        assert!(rate.sample(Span::from_millis(94)).is_some());
        rate.on_sent(at(95), 1, 1, 1);
        rate.on_delivered(at(100), 1);
        assert!(rate.sample(Span::from_millis(94)).is_none());
    }

    #[test]
    fn a_window_sent_at_once_is_measured_by_its_acknowledgments() {
        // Ten segments leave at 0. The bottleneck passes one every 10 ms: acknowledgments at 100, 110, … 190 ms. At the
        // k-th, k have been delivered since the start, in 100 + 10 (k - 1) ms.
        let mut rate = DeliveryRate::default();
        for segment in 0..10 {
            rate.on_sent(at(0), segment, segment + 1, 0);
        }
        for k in 1..=10 {
            let now = at(100 + 10 * (k - 1));
            rate.on_delivered(now, k - 1);
            let sample = rate.sample(RTT).expect("every acknowledgment has a sample");
            assert_eq!((sample.delivered, sample.interval), (k, now.since(at(0))));
            // It releases another one, clocked by the bottleneck.
            rate.on_sent(now, 9 + k, 10, k);
        }
        // The next round trip delivers 10 in 100 ms, but the k-th of these left 100 + 10 (k - 1) ms after the one whose
        // acknowledgment came before it: the initial burst still hides the rate.
        for k in 1..=10 {
            let now = at(200 + 10 * (k - 1));
            rate.on_delivered(now, 9 + k);
            let sample = rate.sample(RTT).expect("every acknowledgment has a sample");
            let interval = Span::from_millis(100 + 10 * (k - 1));
            assert_eq!((sample.delivered, sample.interval), (10, interval));
            rate.on_sent(now, 19 + k, 10, 10 + k);
        }
        // From then on departures are spaced like acknowledgments: 10 segments in 100 ms, for every k.
        for k in 1..=10 {
            rate.on_delivered(at(300 + 10 * (k - 1)), 19 + k);
            let sample = rate.sample(RTT).expect("every acknowledgment has a sample");
            assert_eq!((sample.delivered, sample.interval), (10, RTT));
            assert_eq!(sample.per_second(), 100.0);
            assert_eq!((sample.delivered_before, sample.in_flight), (10 + k, 10));
        }
    }

    #[test]
    fn acknowledgments_that_come_in_a_bunch_do_not_make_the_path_faster() {
        // Ten segments leave 10 ms apart, and all acknowledgments arrive at 250 ms: 10 segments took 250 ms, not 0.
        let mut rate = DeliveryRate::default();
        for segment in 0..10 {
            rate.on_sent(at(10 * segment), segment, segment + 1, 0);
        }
        for segment in 0..10 {
            rate.on_delivered(at(250), segment);
        }
        let sample = rate.sample(RTT).expect("a sample");
        assert_eq!((sample.delivered, sample.interval), (10, Span::from_millis(250)));
    }

    #[test]
    fn segments_that_leave_slowly_do_not_make_the_path_faster() {
        // The first leaves at 0, the second at 80 ms; the path delays the first by 80 ms more, so the acknowledgments
        // arrive at 180 and 181 ms. The second was acknowledged 1 ms after the first, but took 80 ms to send.
        let mut rate = DeliveryRate::default();
        rate.on_sent(at(0), 0, 1, 0);
        rate.on_sent(at(80), 1, 2, 0);
        rate.on_delivered(at(180), 0);
        assert_eq!(rate.sample(RTT).map(|sample| sample.interval), Some(Span::from_millis(180)));
        rate.on_sent(at(180), 2, 2, 1);
        rate.on_delivered(at(181), 1);
        // It left at 80, when nothing had been delivered; first_sent is that of segment 0.
        let sample = rate.sample(RTT).expect("a sample");
        assert_eq!((sample.delivered, sample.interval), (2, Span::from_millis(181)));
        // 2 left at 180 ms, when one had been delivered, and is acknowledged at 280: sent in 180 - 0 ms, acknowledged
        // in 100 ms.
        rate.on_delivered(at(280), 2);
        let sample = rate.sample(RTT).expect("a sample");
        assert_eq!((sample.delivered, sample.interval), (2, Span::from_millis(180)));
    }

    #[test]
    fn what_the_application_leaves_empty_is_told() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(at(0), 0, 1, 0);
        rate.on_application_limited(1);
        rate.on_sent(at(10), 1, 2, 0);
        rate.on_delivered(at(100), 0);
        assert!(!rate.sample(RTT).expect("a sample").application_limited, "it left before");
        rate.on_delivered(at(110), 1);
        assert!(rate.sample(RTT).expect("a sample").application_limited);
        // Two are delivered, one more than were in flight then: the limit has passed.
        rate.on_sent(at(110), 2, 1, 2);
        rate.on_delivered(at(210), 2);
        assert!(!rate.sample(RTT).expect("a sample").application_limited);
    }

    #[test]
    fn what_the_application_leaves_empty_passes_with_what_was_in_flight() {
        // Nothing is there at first, and nothing more when 0, 1 and 2 are in flight. 3 leaves when these have been
        // delivered, which is not yet more than that; 4 when 3 has been, too.
        let mut rate = DeliveryRate::default();
        rate.on_application_limited(0);
        (0..3).for_each(|segment| rate.on_sent(at(0), segment, segment + 1, 0));
        rate.on_application_limited(3);
        let mut limited = |segment, now| {
            rate.on_delivered(at(now), segment);
            let limited = rate.sample(RTT).expect("a sample").application_limited;
            if segment >= 2 {
                rate.on_sent(at(now), segment + 1, 1, segment + 1);
            }
            limited
        };
        assert!(limited(0, 100) && limited(1, 100) && limited(2, 100));
        assert!(limited(3, 200));
        assert!(!limited(4, 300));
    }

    #[test]
    fn an_idle_time_slows_nothing() {
        // 0 is acknowledged at 100 ms; 1 leaves at 1 s, and is acknowledged 100 ms later.
        let mut rate = DeliveryRate::default();
        rate.on_sent(at(0), 0, 1, 0);
        rate.on_delivered(at(100), 0);
        assert!(rate.sample(Span(u64::MAX)).is_none(), "the timer knows no round trip");
        rate.on_sent(at(1000), 1, 1, 1);
        rate.on_delivered(at(1100), 1);
        let sample = rate.sample(RTT).expect("a sample");
        assert_eq!((sample.delivered, sample.interval), (1, RTT));
    }

    #[test]
    fn of_segments_that_left_together_the_first_is_measured() {
        // 2 leaves with the acknowledgment of 0, and 3 with that of 1, both at 100 ms. One acknowledgment reports both:
        // since 2 left 1, 2 and 3 have been delivered.
        let mut rate = DeliveryRate::default();
        (0..2).for_each(|segment| rate.on_sent(at(0), segment, segment + 1, 0));
        for segment in 0..2 {
            rate.on_delivered(at(100), segment);
            rate.sample(RTT);
            rate.on_sent(at(100), segment + 2, 2, segment + 1);
        }
        (2..4).for_each(|segment| rate.on_delivered(at(200), segment));
        assert_eq!(rate.sample(RTT).map(|sample| sample.delivered), Some(3));
    }

    #[test]
    fn the_ring_keeps_what_is_in_flight_when_it_grows() {
        let mut rate = DeliveryRate::default();
        for segment in 0..100 {
            rate.on_sent(at(segment), segment, segment + 1, 0);
        }
        for segment in 0..100 {
            rate.on_delivered(at(100 + segment), segment);
            let sample = rate.sample(RTT).expect("a sample");
            assert_eq!(sample.in_flight, segment + 1);
        }
    }

    #[test]
    fn lost_segments_are_counted_since_the_newest_one_left() {
        let mut rate = DeliveryRate::default();
        (0..10).for_each(|segment| rate.on_sent(at(0), segment, segment + 1, 0));
        assert_eq!(rate.on_lost(at(40), 3).lost, 1);
        assert_eq!(rate.on_lost(at(40), 4).lost, 2);
        rate.on_sent(at(50), 10, 9, 0);
        // It left as the third of the ten, and two were lost before it.
        let lost = rate.on_lost(at(60), 2);
        assert_eq!((lost.segment, lost.in_flight, lost.lost), (2, 3, 3));
        rate.on_delivered(at(150), 10);
        assert_eq!(rate.sample(RTT).map(|sample| sample.lost), Some(1));
        // 11 leaves when three are lost.
        rate.on_sent(at(150), 11, 7, 0);
        assert_eq!(rate.on_lost(at(260), 11).lost, 1);
    }

    #[test]
    fn a_lost_segment_tells_when_it_left_last() {
        let mut rate = DeliveryRate::default();
        (0..4).for_each(|segment| rate.on_sent(at(segment), segment, segment + 1, 0));
        assert_eq!(rate.on_lost(at(100), 1).sent, at(1));
        rate.on_sent(at(101), 1, 4, 0);
        assert_eq!(rate.on_lost(at(205), 1).sent, at(101), "the copy is lost too");
        assert_eq!(rate.on_lost(at(205), 3).sent, at(3));
    }
}
