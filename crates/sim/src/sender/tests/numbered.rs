//! QUIC's loss detection (RFC 9002), checked by hand: a wire of constant delay that loses or delays what is listed.

use std::collections::BTreeMap;

use longfat_control::{CongestionControl, Feedback, Limited, Pacing, Start};
use longfat_scenario::{Recovery, RtoEstimator, SavedPath};
use longfat_units::{Ecn, Segments, Span, Time};

use super::super::{Numbered, SenderConfig, Sends};
use super::wishes::Recorder;
use super::{RTT, config, reno_avoiding, windowed};
use crate::cargo::Hold;
use crate::packet::{Flags, Packet};
use crate::receiver::{Delay, Echo, Intervals, Receiver};

fn quic(segments: u64) -> SenderConfig {
    SenderConfig { ack_delay: Span::from_millis(25), ..config(Recovery::Quic, None, segments) }
}

/// A conversation over a wire.
struct Wire {
    sender: Numbered,
    receiver: Receiver,
    hold: Hold,
    now: Time,
    /// By time, and at the same instant in the order in which they left.
    events: BTreeMap<(Time, u64), Packet>,
    left: u64,
    /// Packets to be lost, and to be delayed by so many milliseconds, by number.
    lost: Vec<u64>,
    late: Vec<(u64, u64)>,
    /// Does a router mark every packet?
    marking: bool,
    /// What was sent: milliseconds, packet number, segment.
    log: Vec<(u64, u64, u64)>,
}

impl Wire {
    /// A Reno flow in congestion avoidance with this window.
    fn new(window: f64, config: SenderConfig, lost: &[u64], late: &[(u64, u64)]) -> Self {
        Self::of(reno_avoiding(window), config, lost, late)
    }

    fn of(
        control: Box<dyn CongestionControl>,
        config: SenderConfig,
        lost: &[u64],
        late: &[(u64, u64)],
    ) -> Self {
        let segments = config.segments;
        let receiver = Receiver::new(segments, true, None, Echo::UntilAnswered, &Intervals::WHOLE);
        let mut wire = Self {
            sender: Numbered::new(config, control, Time::ZERO),
            receiver: receiver.numbering(true),
            hold: Hold::default(),
            now: Time::ZERO,
            events: BTreeMap::new(),
            left: 0,
            lost: lost.to_vec(),
            late: late.to_vec(),
            marking: false,
            log: Vec::new(),
        };
        wire.send();
        wire
    }

    fn send(&mut self) {
        while let Some(mut packet) = self.sender.poll(self.now) {
            self.log.push((millis(self.now), packet.number, packet.sent.0));
            if self.lost.contains(&packet.number) {
                continue;
            }
            if self.marking && packet.flags.ecn().is_capable() {
                packet.flags = packet.flags.with_ecn(Ecn::Ce);
            }
            let late = self.late.iter().find(|(number, _)| *number == packet.number);
            let more = Span::from_millis(late.map_or(0, |late| late.1));
            self.put(self.now + RTT / 2 + more, packet);
        }
    }

    fn put(&mut self, time: Time, packet: Packet) {
        self.left += 1;
        self.events.insert((time, self.left), packet);
    }

    fn run(&mut self, until: u64) {
        let until = Time::ZERO + Span::from_millis(until);
        loop {
            let event = self.events.keys().next().map_or(Time::NEVER, |(time, _)| *time);
            let paced = self.sender.pace_deadline().unwrap_or(Time::NEVER);
            let next = event.min(self.sender.deadline()).min(paced);
            if next == Time::NEVER || next > until {
                return;
            }
            self.now = next;
            if next != event {
                if next == self.sender.deadline() {
                    self.sender.on_timeout(next);
                }
                self.send();
                continue;
            }
            let (_, packet) = self.events.pop_first().expect("an event is due");
            if packet.is_ack() {
                let log = self.receiver.log().expect("packets are numbered");
                self.sender.hear(log.read(packet.number));
                self.sender.on_ack(next, &packet, None);
                self.send();
            } else {
                let ack = self.receiver.on_data(&packet, next, &mut self.hold);
                self.put(next + RTT / 2, ack.expect("every packet is acknowledged at once"));
            }
        }
    }

    fn window(&self) -> f64 {
        self.sender.control().window().0
    }

    /// What was sent more than once: milliseconds, packet number, segment.
    fn copies(&self) -> Vec<(u64, u64, u64)> {
        let mut seen = Vec::new();
        let mut copies = Vec::new();
        for &entry in &self.log {
            if seen.contains(&entry.2) {
                copies.push(entry);
            }
            seen.push(entry.2);
        }
        copies
    }
}

fn millis(time: Time) -> u64 {
    time.0 / 1_000_000_000
}

#[test]
fn three_packets_later_a_packet_is_lost() {
    // Section 6.1.1. Ten leave at 0, and packet 2 is lost. At 100 ms 0, 1, 3 and 4 are acknowledged and release 10 to 13;
    // 5 shows the loss. Segment 2 leaves at once, in packet 14: no number is used twice.
    let mut wire = Wire::new(10.0, quic(40), &[2], &[]);
    wire.run(150);
    assert_eq!(wire.copies(), [(100, 14, 2)]);
    // 10 + 4 · 1/10 was the window, and half of that is left.
    assert!((wire.window() - 5.2).abs() < 0.01, "window {}", wire.window());
    wire.run(60_000);
    assert!(wire.sender.is_done());
    let counts = wire.sender.measured();
    assert_eq!((counts.congestion_events, counts.timeouts), (1, 0));
    assert_eq!(wire.receiver.received().again, 0, "nothing was sent twice in vain");
    let numbers: Vec<u64> = wire.log.iter().map(|sent| sent.1).collect();
    assert_eq!(numbers, (0..41).collect::<Vec<u64>>());
}

#[test]
fn nine_eighths_of_a_round_trip_later_a_packet_is_lost() {
    // Section 6.1.2. Four leave at 0, packet 1 is lost: only two follow it, but at 112.5 ms its time is over.
    let mut wire = Wire::new(4.0, quic(4), &[1], &[]);
    wire.run(60_000);
    assert_eq!(wire.copies(), [(112, 4, 1)]);
    let counts = wire.sender.measured();
    assert_eq!((counts.congestion_events, counts.timeouts), (1, 0));
    assert!(wire.sender.is_done());
}

#[test]
fn a_packet_that_is_late_but_in_time_is_not_lost() {
    // Packet 1 comes 12 ms late: before 112.5 ms. At 13 ms its data has left again; the original is data all the same.
    for (late, copies, events) in [(12, 0, 0), (13, 1, 1)] {
        let mut wire = Wire::new(4.0, quic(4), &[], &[(1, late)]);
        wire.run(60_000);
        assert_eq!(wire.copies().len(), copies, "{late} ms");
        assert_eq!(wire.receiver.received().again, copies as u64);
        assert_eq!(wire.sender.measured().congestion_events, events);
        assert!(wire.sender.is_done());
    }
}

#[test]
fn a_lost_copy_is_found_like_any_other_packet() {
    // Segment 2 leaves again in packet 14, at 100 ms, which is lost too. With 5 of 9 packets in flight acknowledged by
    // then, the smaller window is full: the next one, 15, leaves at 200 ms. When it is acknowledged the time of 14 is long
    // over.
    let mut wire = Wire::new(10.0, quic(60), &[2, 14], &[]);
    wire.run(60_000);
    let segments: Vec<u64> = wire.copies().iter().map(|copy| copy.2).collect();
    assert_eq!(segments, [2, 2]);
    assert_eq!(wire.copies()[1].0, 300);
    assert_eq!(wire.sender.measured().timeouts, 0);
    assert!(wire.sender.is_done());
}

#[test]
fn the_probe_time_out_doubles() {
    // Section 6.2. Until a round trip is known it is a second.
    let mut wire = Wire::new(1.0, quic(1), &[0, 1, 2, 3], &[]);
    wire.run(60_000);
    assert_eq!(wire.copies(), [(1000, 1, 0), (3000, 2, 0), (7000, 3, 0), (15_000, 4, 0)]);
    assert!(wire.sender.is_done());
    // Only the acknowledgment of packet 4 shows that the others are lost: one reaction.
    assert_eq!(wire.sender.measured().congestion_events, 1);
    assert_eq!(wire.sender.measured().timeouts, 0);
}

#[test]
fn a_lost_tail_is_probed() {
    // Ten leave at 0, 8 and 9 are lost. Eight samples of 100 ms: a variation of 50 · (3/4)⁷ = 6.674 ms, and a probe
    // time-out of 100 + 4 · 6.674 + 25 = 151.7 ms from the last departure. Two probes repeat what is in flight. Their
    // acknowledgments at 251.7 ms complete the flow.
    let mut wire = Wire::new(10.0, quic(10), &[8, 9], &[]);
    wire.run(60_000);
    assert_eq!(wire.copies(), [(151, 10, 8), (151, 11, 9)]);
    assert!(wire.sender.is_done());
    // New data is better, and leaves although the window is full: twenty in all, and the second ten are lost. They leave
    // at 100 ms, when 20 samples of 100 ms are not yet taken: the last one at 100 ms is the tenth.
    let lost: Vec<u64> = (10..20).collect();
    let mut wire = Wire::new(10.0, quic(22), &lost, &[]);
    wire.run(300);
    // 50 · (3/4)⁹ = 3.754: 100 + 15.02 + 25 after the last departure at 100 ms.
    assert_eq!(wire.log[20..], [(240, 20, 20), (240, 21, 21)]);
    wire.run(60_000);
    assert_eq!(wire.sender.measured().timeouts, 0);
    assert!(wire.sender.is_done());
    // If no more than ten may be in flight, whatever leaves: what has been in flight for longest.
    let config = SenderConfig { max_window: 10, ..quic(22) };
    let mut wire = Wire::new(10.0, config, &lost, &[]);
    wire.run(300);
    assert_eq!(wire.log[20..], [(240, 20, 10), (240, 21, 11)]);
}

#[test]
fn losses_of_one_flight_are_one_event_however_they_are_found() {
    // Of ten 2 is lost, as 5 shows, and 8, which only 9 follows, so that shows at 112.5 ms. Of twenty 2 and 10 are lost, as
    // 5 and 13 show.
    for (segments, lost) in [(10, [2, 8]), (20, [2, 10])] {
        let mut wire = Wire::new(segments as f64, quic(segments), &lost, &[]);
        wire.run(60_000);
        assert_eq!(wire.copies().iter().map(|copy| copy.2).collect::<Vec<_>>(), lost);
        assert_eq!(wire.sender.measured().congestion_events, 1);
        assert!(wire.sender.is_done());
    }
}

#[test]
fn what_the_controller_is_told_of_a_recovery() {
    // Ten in flight, 8 is lost, as shows at 112.5 ms without an acknowledgment. It leaves in packet 19; 10 to 18 left at
    // 100 ms, with the acknowledgments of the others. Those say nothing of the time since the reaction, so nothing may
    // grow; the first one to report the loss is that of 10. That of 19, at 212.5 ms, ends the recovery.
    let (recorder, told) = Recorder::of_everything();
    let mut wire = Wire::of(Box::new(recorder), quic(1000), &[8], &[]);
    wire.run(250);
    let told = told.lock().expect("one thread");
    assert_eq!(told.losses(), [(200, 1, false)]);
    let held: Vec<u64> = told
        .feedback
        .iter()
        .filter(|it| it.limited == Limited::Recovery)
        .map(|it| millis(it.now))
        .collect();
    assert_eq!(held, [200; 9]);
    let recovered: Vec<u64> = told.recovered.iter().map(|time| millis(*time)).collect();
    assert_eq!(recovered, [212]);
    // If 2 is lost, the acknowledgment of 5 shows it, and nothing may grow with that one.
    let (recorder, told) = Recorder::of_everything();
    let mut wire = Wire::of(Box::new(recorder), quic(1000), &[2], &[]);
    wire.run(150);
    let told = told.lock().expect("one thread");
    let limited: Vec<bool> =
        told.feedback.iter().map(|it| it.limited == Limited::Recovery).collect();
    assert_eq!(limited, [[false; 4].as_slice(), &[true; 5]].concat());
    assert!(told.feedback[4].recovery_begins);
    assert_eq!(told.losses(), [(100, 1, true)]);
}

#[test]
fn each_mark_is_answered_if_its_packet_left_after_the_last_answer() {
    // RFC 9002, section 7.1. One packet in flight at a time, all marked: each one leaves after the answer to the last.
    let config = SenderConfig { max_window: 1, ..quic(1000) };
    let mut wire = Wire::new(10.0, config, &[], &[]);
    wire.marking = true;
    wire.run(550);
    // The first one left unmarked.
    assert_eq!(wire.sender.measured().congestion_events, 4);
}

#[test]
fn the_mark_of_a_late_packet_counts_when_the_last_recovery_is_over() {
    // RFC 9002, section 7.3.1 and appendix B.7: what counts is when the largest packet left that the acknowledgment
    // reports, and it reports them all. 0 to 2 leave at 0, 3 at 50 ms. The mark of 1 is answered at 51 ms, 4 leaves at 52
    // and ends the recovery at 92 ms. Then comes 3, which is marked too.
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let config = SenderConfig { propagation: Span::from_millis(40), ..quic(100) };
    let mut sender = Numbered::new(config, reno_avoiding(3.0), Time::ZERO);
    let mut left = Vec::new();
    let mut heard = 0;
    for (millis, number, marked) in
        [(0, None, false), (50, Some(0), false), (51, Some(1), true), (52, Some(2), false)]
            .into_iter()
            .chain([(92, Some(4), false), (93, Some(3), true)])
    {
        if let Some(number) = number {
            heard += 1;
            sender.hear(std::iter::once((number, marked)));
            sender.on_ack(at(millis), &Packet { number: heard, ..Packet::default() }, None);
        }
        if millis < 92 {
            while sender.poll(at(millis)).is_some() {
                left.push(millis);
            }
        }
    }
    assert_eq!(left, [0, 0, 0, 50, 52]);
    assert_eq!(sender.measured().congestion_events, 2);
}

#[test]
fn the_largest_packet_of_an_acknowledgment_is_the_sample() {
    // RFC 9002, section 5.1. 0 leaves at 0 and 1 at 10 ms; one acknowledgment at 110 ms reports both, in whichever order
    // they arrived.
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    for arrivals in [[0, 1], [1, 0]] {
        let control = windowed("reno", &Start { window: Segments(2.0), ..Start::default() });
        let mut sender = Numbered::new(quic(2), control, Time::ZERO);
        assert!(sender.poll(at(0)).is_some() && sender.poll(at(10)).is_some());
        sender.hear(arrivals.into_iter().map(|number| (number, false)));
        sender.on_ack(at(110), &Packet { number: 2, ..Packet::default() }, None);
        assert_eq!(sender.smoothed_rtt(), Some(RTT), "{arrivals:?}");
    }
}

#[test]
fn a_probe_does_not_wait_for_pacing() {
    // RFC 9002, section 7.5, lets probes leave in any case. Two packets leave at 0, and 0 takes 100 ms. From then on one
    // leaves every two seconds, and the probe time-out is 100 + 4·50 + 25 ms.
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let start = Start { window: Segments(2.0), threshold: Some(Segments(2.0)), ..Start::default() };
    let config = SenderConfig { pacing: Some(Pacing::Rate(0.5)), ..quic(10) };
    let mut sender = Numbered::new(config, windowed("reno", &start), Time::ZERO);
    assert_eq!(std::iter::from_fn(|| sender.poll(at(0))).count(), 2);
    sender.hear(std::iter::once((0, false)));
    sender.on_ack(at(100), &Packet { number: 1, ..Packet::default() }, None);
    assert_eq!(std::iter::from_fn(|| sender.poll(at(100))).count(), 1);
    assert_eq!(sender.deadline(), at(425));
    sender.on_timeout(at(425));
    assert!(sender.poll(at(425)).is_some());
}

#[test]
fn of_the_time_an_acknowledgment_has_waited_no_more_counts_than_was_promised() {
    // RFC 9002, section 5.3. The receiver promises 25 ms. Packet 0 takes 100 ms; 1 takes 125, of which it says that it
    // waited for 25; 2 takes 140, of which it says 40: 115 ms are left, and ⅞·100 + ⅛·115 = 101.875 ms.
    let start = Start { window: Segments(3.0), threshold: Some(Segments(2.0)), ..Start::default() };
    let mut sender = Numbered::new(quic(3), windowed("reno", &start), Time::ZERO);
    assert_eq!(std::iter::from_fn(|| sender.poll(Time::ZERO)).count(), 3);
    for (number, rtt, waited) in [(0, 100, 0), (1, 125, 25), (2, 140, 40)] {
        let (now, waited) = (Span::from_millis(rtt), Span::from_millis(waited));
        sender.hear(std::iter::once((number, false)));
        let ack = Packet { number: number + 1, sent: Time(waited.0), ..Packet::default() };
        sender.on_ack(Time::ZERO + now, &ack, None);
    }
    assert_eq!(sender.smoothed_rtt(), Some(Span(101_875_000_000)));
    assert_eq!(sender.acknowledged(), Some(Time::ZERO + Span::from_millis(140)));
}

#[test]
fn what_is_set_for_the_timer_of_tcp_means_nothing() {
    // A minimum of 3 s, a tick of 500 ms and the estimator of Linux: a second at first all the same, and the 151.7 ms of
    // eight samples of 100 ms.
    let of_tcp = |segments| SenderConfig {
        rto_min: Span::from_seconds(3),
        rto_tick: Some(Span::from_millis(500)),
        rto_estimator: RtoEstimator::Linux,
        ..quic(segments)
    };
    let mut wire = Wire::new(1.0, of_tcp(1), &[0], &[]);
    wire.run(60_000);
    assert_eq!(wire.copies(), [(1000, 1, 0)]);
    let mut wire = Wire::new(10.0, of_tcp(10), &[8, 9], &[]);
    wire.run(60_000);
    assert_eq!(wire.copies(), [(151, 10, 8), (151, 11, 9)]);
}

#[test]
fn an_acknowledgment_ends_the_doubling() {
    // The probes at 151.7 ms are lost too; those 2 · 151.7 ms later, packets 12 and 13, arrive. Their acknowledgments
    // release data again, of which the last two are lost: the time-out is not doubled any more.
    let mut wire = Wire::new(10.0, quic(10), &[8, 9, 10, 11], &[]);
    wire.run(560);
    assert_eq!(wire.copies().iter().map(|copy| copy.0).collect::<Vec<_>>(), [151, 151, 455, 455]);
    assert!(wire.sender.is_done());
    let now = wire.now;
    wire.sender.write(now, 1);
    wire.lost = vec![14];
    wire.send();
    wire.run(60_000);
    let [.., (first, 14, 10), (again, 15, 10)] = wire.log[..] else { panic!("{:?}", wire.log) };
    assert_eq!(first, millis(now));
    assert!(again - first < 160, "{} ms", again - first);
}

#[test]
fn a_time_out_that_would_lie_in_the_past_is_due_at_once() {
    // Twelve segments. Packet 8 takes 700 ms longer, and everything after packet 9 is lost: 10 and 11, which leave at 100
    // ms, segment 8 again at 112 ms, and two times two probes, of which the second ones leave at 547 ms or so. The next
    // would leave four time-outs of 145 ms later, but at 800 ms packet 8 is acknowledged, which ends the doubling: one
    // such time-out is over by then.
    let lost: Vec<u64> = (10..17).collect();
    let mut wire = Wire::new(10.0, quic(12), &lost, &[(8, 700)]);
    wire.run(60_000);
    assert!(wire.sender.is_done());
    let times: Vec<u64> = wire.log[10..].iter().map(|sent| sent.0).collect();
    let [100, 100, 112, first, _, second, _, 800, 800] = times[..] else { panic!("{times:?}") };
    assert!(first < 300 && second < 600, "{times:?}");
}

#[test]
fn only_persistent_congestion_collapses_the_window() {
    // Section 7.6: three probe time-outs are 455 ms. Ten leave at 0; from 8 on all is lost, up to the probes of the third
    // or of the fourth time-out. Only what left after the first round trip was known counts: from 151.7 to 455.1 ms, or to
    // 1061.9 ms. If the second of those probes arrives, only time shows that the first is lost.
    for (lost, collapses) in [(8..14, false), (8..15, true), (8..16, true)] {
        let lost: Vec<u64> = lost.collect();
        let mut wire = Wire::new(10.0, quic(10), &lost, &[]);
        wire.run(60_000);
        let counts = wire.sender.measured();
        assert_eq!(counts.timeouts, u64::from(collapses));
        assert!(wire.sender.is_done());
        assert_eq!(wire.window() == 2.0, collapses, "window {}", wire.window());
    }
}

#[test]
fn the_window_is_never_less_than_two_packets() {
    let mut wire = Wire::new(2.0, quic(200), &[10, 11, 20, 21, 30, 31], &[]);
    wire.run(60_000);
    assert!(wire.sender.is_done());
    assert!(wire.window() >= 2.0);
}

#[test]
fn marks_are_counted_and_answered_once_per_round_trip() {
    let mut wire = Wire::new(10.0, quic(1000), &[], &[]);
    wire.marking = true;
    wire.run(350);
    // Nothing is marked in the first window; what comes back at 200 and 300 ms is.
    assert_eq!(wire.sender.measured().congestion_events, 2);
}

#[test]
fn the_mark_of_a_packet_that_arrives_twice_counts_once() {
    // RFC 9000, section 13.4.1: a packet that is known already is not processed, and counts no mark. 0 comes marked, and
    // again as a copy; 1 comes unmarked. One acknowledgment reports all three arrivals, and another a further copy of each.
    let (recorder, told) = Recorder::of_everything();
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let mut sender = Numbered::new(quic(100), Box::new(recorder), Time::ZERO);
    assert!(sender.poll(at(0)).is_some() && sender.poll(at(0)).is_some());
    sender.hear([(0, true), (0, true), (1, false)].into_iter());
    sender.on_ack(at(100), &Packet { number: 3, ..Packet::default() }, None);
    assert!(sender.poll(at(100)).is_some());
    sender.hear([(0, true), (1, false), (2, true)].into_iter());
    sender.on_ack(at(200), &Packet { number: 6, ..Packet::default() }, None);
    let told = told.lock().expect("one thread");
    let marks: Vec<(u64, u64)> = told.feedback.iter().map(|it| (it.acked, it.marked)).collect();
    assert_eq!(marks, [(2, 1), (1, 1)]);
}

#[test]
fn a_segment_that_arrives_in_two_packets_counts_once() {
    // Two segments leave at 0, and again in packets 2 and 3 as probes. Both packets of segment 1 come before any of 0.
    let (recorder, told) = Recorder::of_everything();
    let mut sender = Numbered::new(quic(2), Box::new(recorder), Time::ZERO);
    let mut now = Time::ZERO;
    let mut left = Vec::new();
    for _ in 0..2 {
        left.extend(std::iter::from_fn(|| sender.poll(now)).map(|it| (it.number, it.sent.0)));
        now = sender.deadline();
        sender.on_timeout(now);
    }
    assert_eq!(left, [(0, 0), (1, 1), (2, 0), (3, 1)]);
    for (count, arrivals) in [(2, vec![1, 3]), (3, vec![0]), (4, vec![2])] {
        sender.hear(arrivals.into_iter().map(|number| (number, false)));
        sender.on_ack(now, &Packet { number: count, ..Packet::default() }, None);
    }
    assert!(sender.is_done());
    let told = told.lock().expect("one thread");
    // 3 shows that 0 is lost, so that this one left before the reaction.
    let arrived = |it: &Feedback| (it.acked, it.sacked);
    assert_eq!(told.feedback.iter().map(arrived).collect::<Vec<_>>(), [(1, 0), (0, 1)]);
}

#[test]
fn a_packet_that_comes_after_its_copy_stands_for_no_other_segment() {
    // Ten in flight, kept in a ring of sixteen. 0 is 150 ms late, and its acknowledgment comes at 250, after that of its copy
    // and before the probe time-out of more than 300 ms in which it is remembered. Segment 16, in the place of 0, is in flight
    // then, and is lost.
    let ack_delay = Span::from_millis(200);
    let config = SenderConfig { max_window: 10, ack_delay, ..quic(40) };
    let mut wire = Wire::new(10.0, config, &[17], &[(0, 150)]);
    wire.run(60_000);
    assert!(wire.sender.is_done());
    let copies: Vec<u64> = wire.copies().iter().map(|(_, _, segment)| *segment).collect();
    assert_eq!(copies, [0, 16], "{:?}", wire.log);
}

/// A Reno flow with an initial window of ten that knows of a window of 100.
fn resuming(lost: &[u64]) -> Wire {
    let start = Start { window: Segments(10.0), ..Start::default() };
    let saved = SavedPath { window: 100.0, rtt: Span::from_millis(80) };
    let config = SenderConfig { careful_resume: Some(saved), ..quic(100_000) };
    Wire::of(windowed("reno", &start), config, lost, &[])
}

#[test]
fn packets_with_numbers_jump_to_a_known_window_and_retreat_from_it() {
    // RFC 9959, as for TCP: 10 to 27 leave at 100 ms, and then 28 to 59, two in 4 ms.
    let mut wire = resuming(&[]);
    wire.run(199);
    let left: Vec<(u64, u64)> = wire.log[28..].iter().map(|sent| (sent.0, sent.1)).collect();
    let expected: Vec<(u64, u64)> = (0..32).map(|k| (100 + 2 * k, 28 + k)).collect();
    assert_eq!(left, expected);
    assert_eq!(wire.window(), 50.0);
    // Packet 30 is lost. 33 shows it at 210 ms, when 10 to 29 and 31 to 33 have been acknowledged: of the 18 in flight
    // at the jump and these 22 half is left; 33 is counted when it has been told.
    let mut wire = resuming(&[30]);
    wire.run(210);
    assert_eq!(wire.window(), 20.0);
    // It does not grow until the last of them is acknowledged.
    wire.run(261);
    assert_eq!(wire.window(), 20.0);
}

#[test]
fn persistent_congestion_ends_what_was_made_of_a_known_window() {
    // All that leaves after the jump is lost: 28 to 59, what the acknowledgments of 10 to 27 let go at 200 ms, 60 to 95, and
    // three times two probes. What the next one shows leaves two packets (RFC 9002, section 7.6.2) and slow start, which
    // does not wait for the last unvalidated segment, 59.
    let lost: Vec<u64> = (28..102).collect();
    let mut wire = resuming(&lost);
    let collapsed = (0..100).map(|k| 100 * k).find(|&at| {
        wire.run(at);
        wire.sender.measured().timeouts > 0
    });
    let collapsed = collapsed.expect("its path was lost");
    assert!(wire.sender.unacknowledged() < 40, "{}", wire.sender.unacknowledged());
    let before = wire.window();
    wire.run(collapsed + 100);
    assert!(wire.sender.unacknowledged() < 59, "{}", wire.sender.unacknowledged());
    assert!(wire.window() > before, "window {} after {before}", wire.window());
}

#[test]
fn after_persistent_congestion_what_left_before_it_counts_again() {
    // RFC 9002, appendix B.8: `congestion_recovery_start_time` is 0 then. 28 to 101 are lost, as above, and the probe 102
    // shows it. The other one, 103, arrives with it, and adds a packet to the two of the window.
    let collapsed = |lost: &[u64]| {
        let mut wire = resuming(lost);
        let at = (0..10_000).find(|&at| {
            wire.run(at);
            wire.sender.measured().timeouts > 0
        });
        (wire, at.expect("its path was lost"))
    };
    let mut lost: Vec<u64> = (28..102).collect();
    let (wire, _) = collapsed(&lost);
    assert_eq!(wire.window(), 3.0);
    assert_eq!(wire.sender.measured().congestion_events, 1);
    // Or it is lost, which shows a round trip later, and is answered.
    lost.push(103);
    let (mut wire, at) = collapsed(&lost);
    assert_eq!((wire.window(), wire.sender.measured().congestion_events), (2.0, 1));
    wire.run(at + 110);
    assert_eq!(wire.sender.measured().congestion_events, 2);
}

/// The acknowledgments of packets with these numbers, one each millisecond, marked or not: when each leaves, how many
/// packets it reports, and for how long the largest has waited, in milliseconds.
fn acknowledgments(every: u64, numbers: &[(u64, bool)]) -> Vec<(u64, u64, u64)> {
    let delay = Delay { every, most: Span::from_millis(25) };
    let mut receiver =
        Receiver::new(None, true, Some(delay), Echo::UntilAnswered, &Intervals::WHOLE)
            .numbering(true);
    let mut hold = Hold::default();
    let mut acks = Vec::new();
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    for (now, &(number, marked)) in (0..).zip(numbers) {
        let ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
        let flags = Flags::default().with_ecn(ecn);
        let data = Packet { number, sent: Time(number), flags, ..Packet::default() };
        let ack = receiver.on_data(&data, at(now), &mut hold);
        acks.extend(ack.map(|ack| (now, ack.number, millis(ack.sent))));
    }
    let until = receiver.delayed_until();
    let last = receiver.on_delayed_ack(Time::NEVER);
    acks.extend(last.zip(until).map(|(ack, at)| (millis(at), ack.number, millis(ack.sent))));
    acks
}

#[test]
fn acknowledgments_come_at_the_threshold_and_at_once_where_something_is_wrong() {
    let plain = |numbers: &[u64]| numbers.iter().map(|&number| (number, false)).collect::<Vec<_>>();
    // Every second one; the last one after 25 ms.
    assert_eq!(acknowledgments(2, &plain(&[0, 1, 2, 3, 4])), [(1, 2, 0), (3, 4, 0), (29, 5, 25)]);
    assert_eq!(acknowledgments(4, &plain(&[0, 1, 2, 3, 4])), [(3, 4, 0), (29, 5, 25)]);
    // Three held back: the wait counts from the first of them, the delay from the largest.
    assert_eq!(acknowledgments(9, &plain(&[0, 1, 2])), [(25, 3, 23)]);
    // Number 1 is missing (at once), and comes late (at once): the largest had come 1 ms before.
    assert_eq!(acknowledgments(9, &plain(&[0, 2, 1, 3])), [(1, 2, 0), (2, 3, 1), (28, 4, 25)]);
    // Once the gap is known it is no reason any more: numbers are never used again.
    assert_eq!(acknowledgments(2, &plain(&[0, 2, 3, 4])), [(1, 2, 0), (3, 4, 0)]);
    // Number 1 comes twice: the second time at once, with all that has come, and the largest had come 1 ms before.
    assert_eq!(acknowledgments(9, &plain(&[0, 1, 1])), [(2, 3, 1)]);
    // A mark.
    assert_eq!(acknowledgments(9, &[(0, false), (1, true)]), [(1, 2, 0)]);
}
