//! Losses found by time (RFC 8985), checked by hand: a wire of constant delay that loses or delays what is listed.

use std::collections::BTreeMap;

use longfat_control::{
    Cause, Congestion, CongestionControl, Feedback, Pacing, Path, Reaction, Start, Wants,
};
use longfat_scenario::{Recovery, RtoRestart, SavedPath, WindowValidation};
use longfat_units::{Ecn, Segments, Span, Time};

use super::super::{Sender, SenderConfig, Sends, State};
use super::wishes::Recorder;
use super::{RTT, config, reno_avoiding, windowed};
use crate::cargo::Hold;
use crate::packet::{Flags, Packet};
use crate::receiver::{Echo, Intervals, Receiver};

/// What happens at the end of the wire.
#[derive(Debug)]
pub(super) enum Event {
    Data(Packet),
    Ack(Packet),
}

/// A conversation in which packets may overtake each other.
pub(super) struct Wire {
    pub(super) sender: Sender,
    receiver: Receiver,
    hold: Hold,
    pub(super) now: Time,
    /// By time, and at the same instant in the order in which they left.
    pub(super) events: BTreeMap<(Time, u64), Event>,
    left: u64,
    /// Segments still to be lost, once for each time they are listed.
    lost: Vec<u64>,
    /// Segments that take so many milliseconds longer, once for each time they are listed.
    late: Vec<(u64, u64)>,
    /// Segments that a router marks.
    pub(super) marked: Vec<u64>,
    /// What was sent: milliseconds, segment, retransmission.
    pub(super) log: Vec<(u64, u64, bool)>,
}

pub(super) fn rack(segments: u64) -> SenderConfig {
    config(Recovery::Rack, None, segments)
}

impl Wire {
    /// A Reno flow in congestion avoidance with this window.
    pub(super) fn new(
        window: f64,
        config: SenderConfig,
        lost: &[u64],
        late: &[(u64, u64)],
    ) -> Self {
        Self::of(reno_avoiding(window), config, lost, late)
    }

    pub(super) fn of(
        control: Box<dyn CongestionControl>,
        config: SenderConfig,
        lost: &[u64],
        late: &[(u64, u64)],
    ) -> Self {
        let segments = config.segments;
        let echo = if config.counts_marks { Echo::Count } else { Echo::UntilAnswered };
        let receiver = Receiver::new(segments, true, None, echo, &Intervals::WHOLE);
        let mut wire = Self {
            sender: Sender::new(config, control, Time::ZERO),
            receiver: receiver.telling_duplicates(true),
            hold: Hold::default(),
            now: Time::ZERO,
            events: BTreeMap::new(),
            left: 0,
            lost: lost.to_vec(),
            late: late.to_vec(),
            marked: Vec::new(),
            log: Vec::new(),
        };
        wire.send();
        wire
    }

    pub(super) fn send(&mut self) {
        while let Some(packet) = self.sender.poll(self.now) {
            let again = packet.flags.has(Flags::RETRANSMISSION);
            self.log.push((millis(self.now), packet.number, again));
            if let Some(at) = self.lost.iter().position(|&segment| segment == packet.number) {
                self.lost.remove(at);
                continue;
            }
            let late = self.late.iter().position(|&(segment, _)| segment == packet.number);
            let more = late.map_or(0, |at| self.late.remove(at).1);
            self.put(self.now + RTT / 2 + Span::from_millis(more), Event::Data(packet));
        }
    }

    fn put(&mut self, time: Time, event: Event) {
        self.left += 1;
        self.events.insert((time, self.left), event);
    }

    pub(super) fn run(&mut self, until: u64) {
        let until = Time::ZERO + Span::from_millis(until);
        loop {
            let event = self.events.keys().next().map_or(Time::NEVER, |(time, _)| *time);
            let (timer, alarm) = (self.sender.deadline(), self.sender.alarm());
            let paced = self.sender.pace_deadline().unwrap_or(Time::NEVER);
            let next = event.min(timer).min(alarm).min(paced);
            if next == Time::NEVER || next > until {
                return;
            }
            self.now = next;
            if next == event {
                match self.events.pop_first().expect("an event is due").1 {
                    Event::Data(mut data) => {
                        if self.marked.contains(&data.number) {
                            data.flags = data.flags.with_ecn(Ecn::Ce);
                        }
                        let ack = self.receiver.on_data(&data, next, &mut self.hold);
                        let ack = ack.expect("every segment is acknowledged at once");
                        self.put(next + RTT / 2, Event::Ack(ack));
                        continue;
                    }
                    Event::Ack(ack) => {
                        let cargo = ack.cargo().map(|handle| self.hold.take(handle));
                        self.sender.on_ack(next, &ack, cargo.as_ref());
                    }
                }
            } else if next == timer {
                self.sender.on_timeout(next);
            } else if next == alarm {
                self.sender.on_alarm(next);
            }
            self.send();
        }
    }

    pub(super) fn window(&self) -> f64 {
        self.sender.control().window().0
    }

    pub(super) fn retransmissions(&self) -> Vec<(u64, u64)> {
        let again = self.log.iter().filter(|(_, _, again)| *again);
        again.map(|&(time, segment, _)| (time, segment)).collect()
    }
}

fn millis(time: Time) -> u64 {
    time.0 / 1_000_000_000
}

#[test]
fn losses_of_one_window_are_found_together() {
    // Ten segments leave at 0; 2, 4 and 6 are lost. The blocks 3 and 5 only set the timer, for 0 + 100 + 100/4 ms. With
    // block 7 three segments have arrived out of order, and no reordering has been seen: the window is zero (section
    // 6.2, step 4), and all that left before 7 is lost at once.
    let mut wire = Wire::new(10.0, rack(40), &[2, 4, 6], &[]);
    wire.run(60_000);
    let again: Vec<u64> = wire.retransmissions().iter().map(|&(_, segment)| segment).collect();
    assert_eq!(again, [2, 4, 6]);
    assert_eq!(wire.retransmissions()[0], (100, 2));
    let counts = wire.sender.measured();
    assert_eq!((counts.congestion_events, counts.timeouts), (1, 0));
    assert!(wire.sender.is_done());
    assert_eq!(wire.receiver.received().again, 0, "nothing was sent twice in vain");
}

#[test]
fn fewer_than_three_blocks_suffice_with_time() {
    // Four in flight, the second lost: two blocks never become three. 1 left at 0, the round trip is 100 ms and the
    // reordering window a quarter of it: lost at 125 ms. To RFC 6675 only the timer shows it, at 400 ms.
    let mut wire = Wire::new(4.0, rack(4), &[1], &[]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(125, 1)]);
    let counts = wire.sender.measured();
    assert_eq!((counts.congestion_events, counts.timeouts), (1, 0));
    assert!(wire.sender.is_done());
}

#[test]
fn a_lost_retransmission_is_found_without_a_time_out() {
    // 2 is lost, and again when it is sent again at 100 ms. 14 leaves right after it and arrives: at 200 ms the copy
    // has had its 100 ms, with no reordering window in recovery. The timer would have expired at 400 ms.
    let mut wire = Wire::new(10.0, rack(60), &[2, 2], &[]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(100, 2), (200, 2)]);
    let counts = wire.sender.measured();
    assert_eq!((counts.congestion_events, counts.timeouts), (1, 0));
    assert!(wire.sender.is_done());
}

#[test]
fn what_the_receiver_waits_for_is_repaired_first() {
    // Of 20 segments the first 15 are lost, and 0 again. Five acknowledgments let few of the others leave; that 0 is
    // missing once more shows at 200 ms, and it leaves before what was found lost at 100 ms. Behind that it would have
    // to wait until the timer had run out.
    let lost: Vec<u64> = (0..15).chain([0]).collect();
    let mut wire = Wire::new(20.0, rack(200), &lost, &[]);
    wire.run(2_000);
    let copies: Vec<u64> = wire
        .retransmissions()
        .into_iter()
        .filter_map(|(at, segment)| (segment == 0).then_some(at))
        .collect();
    assert_eq!(copies, [100, 200]);
    assert_eq!(wire.sender.measured().timeouts, 0);
    assert!(wire.sender.is_done());
}

#[test]
fn a_segment_that_is_late_twice_is_not_sent_again_twice() {
    // 2 takes 20 ms longer. Three blocks at 100 ms, and nothing known of reordering: it is sent again in vain. At 120
    // ms its original is acknowledged, which is reordering; at 200 ms the copy, reported as a duplicate: the multiplier
    // is 2, and the window 50 ms. 100 takes 45 ms longer, which is within that.
    let mut wire = Wire::new(20.0, rack(200), &[], &[(2, 20), (100, 45)]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(100, 2)]);
    assert_eq!(wire.receiver.received().again, 1);
    assert!(wire.sender.is_done());
}

#[test]
fn reordering_beyond_the_window_is_answered_after_it() {
    // The same, but 100 takes 70 ms longer: it is sent again 50 ms after its acknowledgment was due.
    let mut wire = Wire::new(20.0, rack(200), &[], &[(2, 20), (100, 70)]);
    wire.run(60_000);
    let left = wire.log.iter().find(|sent| sent.1 == 100).expect("it was sent").0;
    assert_eq!(wire.retransmissions(), [(100, 2), (left + 150, 100)]);
    assert!(wire.sender.is_done());
}

#[test]
fn a_time_out_repairs_in_slow_start() {
    // Of six, sent at 0, the last five are lost, and so is the probe at 300 ms. The timer starts again then, with 300
    // ms. By 600 ms all have had their time, 100 ms, the probe included: one leaves, then two, and from a threshold of
    // two on still two.
    let mut wire = Wire::new(6.0, rack(6), &[1, 2, 3, 4, 5, 5], &[]);
    wire.run(60_000);
    let expected = [(300, 5), (600, 1), (700, 2), (700, 3), (800, 4), (800, 5)];
    assert_eq!(wire.retransmissions(), expected);
    assert_eq!(wire.sender.measured().timeouts, 1);
    assert!(wire.sender.is_done());
}

#[test]
fn after_a_time_out_the_first_leaves_whatever_is_in_flight() {
    // RFC 6298, section 5.4. Ten leave at 100 ms, and the timer is taken to expire 10 ms later: only the first one counts
    // as lost (RFC 8985, section 6.3). Nine are in flight, and the window is one.
    let mut wire = Wire::new(10.0, rack(1000), &[], &[]);
    wire.run(100);
    wire.now = Time::ZERO + Span::from_millis(110);
    wire.sender.on_timeout(wire.now);
    assert_eq!((wire.sender.in_flight(), wire.window()), (9, 1.0));
    wire.send();
    assert_eq!(wire.retransmissions(), [(110, 10)]);
}

#[test]
fn the_retransmission_timer_waits_for_the_reordering_timer() {
    // Section 8: one timer at a time. Three in flight, of which the first that leaves at 5.1 s is lost. The time-out is
    // 110 ms by now and counts from the last progress, at 5.1 s as well; but at 5.2 s two blocks set the reordering
    // timer for 5.1 + 0.125 s. When that expires the other one starts again, and the repair arrives in time.
    let config = SenderConfig {
        max_window: 3,
        rto_min: Span::from_millis(110),
        rto_restart: RtoRestart::Never,
        ..rack(300)
    };
    let mut wire = Wire::new(3.0, config, &[], &[]);
    wire.run(5_050);
    let next = wire.log.last().expect("something was sent").1 + 1;
    wire.lost = vec![next];
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(5_225, next)]);
    assert_eq!(wire.sender.measured().timeouts, 0);
    assert!(wire.sender.is_done());
}

#[test]
fn the_last_segment_is_sent_again_after_two_round_trips() {
    // Section 7. The last of ten is lost; the others are acknowledged at 100 ms. The time-out is 300 ms by then, the
    // probe leaves after 200 ms.
    let mut wire = Wire::new(10.0, rack(10), &[9], &[]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(300, 9)]);
    assert_eq!(wire.sender.measured().timeouts, 0);
    assert!(wire.sender.is_done());
    // With only one segment in flight, an acknowledgment held back must not look like a loss.
    let config = SenderConfig { ack_delay: Span::from_millis(40), ..rack(10) };
    let mut wire = Wire::new(10.0, config, &[9], &[]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(340, 9)]);
    // Two are acknowledged at once.
    let config = SenderConfig { ack_delay: Span::from_millis(40), ..rack(10) };
    let mut wire = Wire::new(10.0, config, &[8, 9], &[]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions()[0], (300, 9));
    // Before anything is acknowledged: after a second, as the time-out, or two of the round trips that are known.
    let mut wire = Wire::new(10.0, rack(1), &[0], &[]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(1000, 0)]);
    assert_eq!(wire.sender.measured().timeouts, 0);
    let config = SenderConfig { first_rtt: Span::from_millis(800), ..rack(1) };
    let mut wire = Wire::new(10.0, config, &[0], &[]);
    wire.run(1_650);
    assert_eq!(wire.retransmissions(), [(1600, 0)]);
}

#[test]
fn a_probe_leaves_no_later_than_the_timer_would_expire() {
    // Section 7.2. The time-out is 110 ms once the variation of the first round trip is forgotten, less than two round
    // trips. The last of 200 is lost; what left with it is acknowledged 100 ms later.
    let config = SenderConfig { rto_min: Span::from_millis(110), ..rack(200) };
    let mut wire = Wire::new(10.0, config, &[199], &[]);
    wire.run(60_000);
    let left = wire.log.iter().find(|sent| sent.1 == 199).expect("it was sent").0;
    assert_eq!(wire.retransmissions(), [(left + 100 + 110, 199)]);
    assert_eq!(wire.sender.measured().timeouts, 0);
}

#[test]
fn a_lost_tail_is_probed_after_a_recovery_too() {
    // 2 is repaired at 200 ms, which ends the recovery and is acknowledged with all but the last segment, 19: that one
    // leaves at 200 ms.
    let mut wire = Wire::new(10.0, rack(20), &[2, 19], &[]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(100, 2), (500, 19)]);
    assert_eq!(wire.sender.measured().timeouts, 0);
    // Or an echo comes with the only acknowledgment (section 7.2): what it leaves in flight is probed two round trips later.
    let mut sender = Sender::new(rack(10), reno_avoiding(10.0), Time::ZERO);
    while sender.poll(Time::ZERO).is_some() {}
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let flags = Flags::ACK.with(Flags::ECHO);
    sender.on_ack(at(100), &Packet { number: 8, flags, ..Packet::default() }, None);
    assert!(sender.poll(at(100)).is_none());
    assert_eq!(sender.alarm(), at(300));
}

#[test]
fn what_acknowledges_nothing_does_not_put_a_probe_off() {
    // Section 7.2. The last of ten is lost, the others are acknowledged at 100 ms. At 250 ms that is repeated.
    let mut wire = Wire::new(10.0, rack(10), &[9], &[]);
    wire.run(250);
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let again = Packet { number: 9, sent: at(150), ..Packet::default() };
    wire.sender.on_ack(at(250), &again, None);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(300, 9)]);
}

#[test]
fn there_is_no_probe_in_the_repair_after_a_time_out() {
    // Section 7.2. Of six the last three are lost, and so is the probe at 300 ms. After the time-out at 600 ms 3 leaves, and
    // at 700 ms 4 and 5, of which 5 is lost once more. Nothing is known to be missing when 4 is acknowledged at 800 ms. A
    // probe would leave after two round trips; the timer, of 100 + 4·37.5 ms with its second sample, expires at 1050 ms.
    let mut wire = Wire::new(6.0, rack(6), &[3, 4, 5, 5, 5], &[]);
    wire.run(1_100);
    assert_eq!(wire.retransmissions(), [(300, 5), (600, 3), (700, 4), (700, 5), (1050, 5)]);
    assert_eq!(wire.sender.measured().timeouts, 2);
    wire.run(60_000);
    assert!(wire.sender.is_done());
}

#[test]
fn a_probe_reveals_a_lost_tail() {
    // The last three are lost. At 300 ms the last one leaves again; its block comes at 400 ms and shows the other two,
    // sent at 0, to be lost. One arrival releases one segment.
    let mut wire = Wire::new(10.0, rack(10), &[7, 8, 9], &[]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(300, 9), (400, 7), (500, 8)]);
    let counts = wire.sender.measured();
    assert_eq!((counts.congestion_events, counts.timeouts), (1, 0));
    assert!(wire.sender.is_done());
}

#[test]
fn new_data_is_a_better_probe() {
    // The second window, 4 to 7, is lost as a whole. The probe is 8, although the window is full (section 7.3).
    let mut wire = Wire::new(4.0, rack(20), &[4, 5, 6, 7], &[]);
    wire.run(350);
    assert_eq!(wire.log[8..], [(300, 8, false)]);
    wire.run(60_000);
    assert_eq!(wire.retransmissions()[0], (400, 4));
    assert_eq!(wire.sender.measured().timeouts, 0);
    assert_eq!(wire.receiver.received().again, 0);
    assert!(wire.sender.is_done());
    // The receiver's window holds for probes, too.
    let config = SenderConfig { max_window: 4, ..rack(20) };
    let mut wire = Wire::new(4.0, config, &[4, 5, 6, 7], &[]);
    wire.run(350);
    assert_eq!(wire.log[8..], [(300, 7, true)]);
    let mut wire = Wire::new(4.0, rack(20), &[4, 5, 6, 7], &[]);
    wire.run(150);
    wire.sender.sendable = 8;
    wire.run(350);
    assert_eq!(wire.log[8..], [(300, 7, true)]);
}

/// The last of ten segments needs a probe; then there are ten more. Returns how often the sender reduced its window.
fn reductions_after_a_probe(lost: &[u64], late: &[(u64, u64)]) -> u64 {
    let mut wire = Wire::new(10.0, rack(10), lost, late);
    wire.run(450);
    assert_eq!(wire.retransmissions(), [(300, 9)]);
    assert!(wire.sender.is_done());
    (wire.sender.limit, wire.sender.sendable) = (20, 20);
    wire.send();
    wire.run(60_000);
    assert!(wire.sender.is_done());
    wire.sender.measured().congestion_events
}

#[test]
fn a_loss_that_a_probe_repairs_is_a_sign_of_congestion() {
    // Section 7.4. If 9 is lost, nothing but the next acknowledgment can tell. If it only took 250 ms longer, the
    // receiver reports it as a duplicate.
    assert_eq!(reductions_after_a_probe(&[9], &[]), 1);
    assert_eq!(reductions_after_a_probe(&[], &[(9, 250)]), 0);
}

#[test]
fn a_loss_that_a_mark_has_answered_is_not_answered_again_when_a_probe_repairs_it() {
    // RFC 3168, section 6.1.2: one reaction per window of data. An echo comes at 150 ms, when everything has left. 9 is lost;
    // its probe repairs it, as shows at 500 ms with the next segment.
    let mut wire = Wire::new(10.0, rack(10), &[9], &[]);
    wire.run(150);
    let echo = Packet { number: 9, flags: Flags::default().with(Flags::ECHO), ..Packet::default() };
    wire.sender.on_ack(Time::ZERO + Span::from_millis(150), &echo, None);
    assert_eq!(wire.sender.measured().congestion_events, 1);
    wire.run(450);
    assert_eq!(wire.retransmissions(), [(300, 9)]);
    (wire.sender.limit, wire.sender.sendable) = (20, 20);
    wire.send();
    wire.run(60_000);
    assert!(wire.sender.is_done());
    assert_eq!(wire.sender.measured().congestion_events, 1);
}

#[test]
fn the_answer_to_what_a_probe_has_repaired_is_not_undone() {
    // At 500 ms the acknowledgment of 10 shows that the probe for 9 was needed. 12 of the same window takes 20 ms longer, and
    // with block 15 a recovery begins that has no answer of its own. The original of 12 refutes it, and nothing else.
    let mut wire = Wire::new(10.0, rack(10), &[9], &[(12, 20)]);
    wire.run(450);
    (wire.sender.limit, wire.sender.sendable) = (20, 20);
    wire.send();
    wire.run(510);
    assert_eq!(wire.retransmissions(), [(300, 9), (500, 12)]);
    let halved = wire.window();
    assert!(halved < 6.0, "window {halved}");
    wire.run(520);
    assert!(wire.sender.unacknowledged == 20);
    assert!(wire.window() < 1.1 * halved, "window {} after {halved}", wire.window());
}

#[test]
fn the_window_falls_in_proportion_to_what_arrives() {
    // RFC 9937. Twenty in flight, 2 lost. At 100 ms the acknowledgments of 0 and 1, and the blocks 3 and 4, release 20
    // to 23. With block 5 recovery begins: 20 are to become 10. That block and every second one of the next 14 release
    // a segment, first 2 and then 24 to 30. At 200 ms ten are in flight with block 21, and the blocks 22 and 23 release
    // one each, 10 for 19. Then 2 is acknowledged, and with it everything up to the recovery point: nine are in flight,
    // 24 to 32, and one more may leave.
    let mut wire = Wire::new(20.0, rack(200), &[2], &[]);
    wire.run(150);
    let expected = [vec![(100, 2, true)], (24..=30).map(|new| (100, new, false)).collect()];
    assert_eq!(wire.log[24..], expected.concat());
    wire.run(250);
    let second: Vec<u64> = wire.log[32..].iter().map(|sent| sent.1).collect();
    assert_eq!(second[..3], [31, 32, 33]);
    assert!(wire.log[32..].iter().all(|sent| sent.0 == 200 && !sent.2));
    assert_eq!(wire.sender.in_flight(), 10);
    wire.run(60_000);
    assert_eq!(wire.sender.measured().timeouts, 0);
    assert!(wire.sender.is_done());
}

#[test]
fn the_share_counts_what_the_first_acknowledgment_of_a_recovery_delivers() {
    // RFC 9937: `RecoverFS` is 20, with block 5, which begins the recovery. Block 19 comes 10 ms later. The 14 blocks at
    // 100 ms release ⌈14 · 10/20⌉ segments, of which 2 is the first.
    let mut wire = Wire::new(20.0, rack(200), &[2], &[(19, 10)]);
    wire.run(105);
    let expected = [vec![(100, 2, true)], (24..=29).map(|new| (100, new, false)).collect()];
    assert_eq!(wire.log[24..], expected.concat());
}

#[test]
fn losses_found_without_an_acknowledgment_release_no_more_than_the_first() {
    // Of twenty the first 18 are lost. The blocks 18 and 19 at 100 ms release 20 and 21, and set the reordering timer for
    // 0 + 100 + 25 ms. Two are in flight then and ten the target, but nothing has arrived that could be replaced (RFC
    // 9937, conservation bound): one leaves.
    let lost: Vec<u64> = (0..18).collect();
    let mut wire = Wire::new(20.0, rack(200), &lost, &[]);
    wire.run(190);
    assert_eq!(wire.retransmissions(), [(125, 0)]);
    assert_eq!(wire.sender.in_flight(), 3);
    wire.run(60_000);
    assert!(wire.sender.is_done());
}

#[test]
fn losses_found_without_an_acknowledgment_are_told_with_the_next() {
    // 8 of ten is lost, as shows at 125 ms; the acknowledgment of its repair reports that. If 9 is lost and repaired by a
    // probe, the next acknowledgment beyond it does, of what leaves at 450 ms.
    let losses = |lost: &[u64]| {
        let (recorder, told) = Recorder::of_everything();
        let mut wire = Wire::of(Box::new(recorder), rack(10), lost, &[]);
        wire.run(450);
        (wire.sender.limit, wire.sender.sendable) = (20, 20);
        wire.send();
        wire.run(60_000);
        told.lock().expect("one thread").losses()
    };
    assert_eq!(losses(&[8]), [(225, 1, false)]);
    assert_eq!(losses(&[9]), [(550, 1, false)]);
}

#[test]
fn what_leaves_in_a_recovery_is_answered_after_it() {
    // 2 is lost, and its copy of 100 ms, too; so is 24, which left with it. All of that shows at 200 ms: the window has
    // fallen once for it (RFC 5681, section 3.2).
    let mut wire = Wire::new(20.0, rack(200), &[2, 2, 24], &[]);
    wire.run(250);
    let again: Vec<u64> = wire.retransmissions().iter().map(|sent| sent.1).collect();
    assert_eq!(again, [2, 2, 24]);
    assert_eq!(wire.sender.measured().congestion_events, 1);
    wire.run(60_000);
    assert_eq!(wire.sender.measured().congestion_events, 1);
    assert!(wire.sender.is_done());
}

#[test]
fn after_a_burst_of_losses_each_arrival_releases_one_and_later_two() {
    // Of twenty the first 15 are lost. At 100 ms the blocks 15 and 16 release 20 and 21, and block 17 begins recovery:
    // four are in flight, and ten the target. Each block releases one (conservation bound), here and at 200 ms for 20
    // and 21. From then on data is acknowledged in order, and each acknowledgment releases two (slow start bound): for
    // 0, 1 and 2 at 200 ms, which makes eight in flight, and for 3 and 4 at 300 ms, which makes ten.
    let lost: Vec<u64> = (0..15).collect();
    let mut wire = Wire::new(20.0, rack(200), &lost, &[]);
    wire.run(60_000);
    let at = [100, 100, 100, 200, 200, 200, 200, 200, 200, 200, 200, 300, 300, 300, 300];
    let expected: Vec<(u64, u64)> = at.into_iter().zip(0..).collect();
    assert_eq!(wire.retransmissions(), expected);
    let counts = wire.sender.measured();
    assert_eq!((counts.congestion_events, counts.timeouts), (1, 0));
    assert!(wire.sender.is_done());
}

#[test]
fn an_acknowledgment_that_shows_a_further_loss_releases_no_more_than_it_delivers() {
    // RFC 9937, `safeACK`. As above, but 21 is lost, which left at 100 ms just before the first copies. At 200 ms the
    // acknowledgment of 0 advances, and shows that: it releases one, those of 1 and 2 two each, after the one for block 20.
    let lost: Vec<u64> = (0..15).chain([21]).collect();
    let mut wire = Wire::new(20.0, rack(200), &lost, &[]);
    wire.run(250);
    let again = wire.retransmissions();
    let expected = [100, 100, 100, 200, 200, 200, 200, 200, 200];
    assert_eq!(again, expected.into_iter().zip(0..).collect::<Vec<_>>());
}

#[test]
fn a_recovery_that_was_none_is_undone() {
    // 2 takes 20 ms longer. With block 5, at 100 ms, recovery begins and halves the window of 20.1. At 120 ms 2 is
    // acknowledged, thanks to a segment that left at 0: not the one of 100 ms. Nothing else was thought lost, so the
    // window is what it was (RFC 3522, RFC 4015): of 20 to 30 eleven are in flight, and nine more may leave at once.
    let mut wire = Wire::new(20.0, rack(200), &[], &[(2, 20)]);
    wire.run(110);
    assert!((wire.window() - 10.05).abs() < 0.01, "window {}", wire.window());
    assert_eq!(wire.log.last(), Some(&(100, 30, false)));
    wire.run(120);
    assert_eq!(wire.sender.state, State::Open);
    assert!((wire.window() - 20.1).abs() < 0.01, "window {}", wire.window());
    let at_once: Vec<_> = (31..40).map(|new| (120, new, false)).collect();
    assert_eq!(wire.log[32..], at_once);
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(100, 2)]);
    assert!(wire.sender.is_done());
}

#[test]
fn an_answer_to_marks_too_is_not_undone() {
    // RFC 4015, section 3.4. As above, but 9 is marked, which its acknowledgment tells at 100 ms, after that of 5: the
    // reaction to a loss is the one to this mark too, or another one follows. At 120 ms nothing proves lost.
    // Where marks are echoed until that is answered it is the same.
    for (counts_marks, reaction, left) in [
        (true, Reaction::PerWindow, 10.05),
        (true, Reaction::PerMark, 5.025),
        (false, Reaction::PerWindow, 10.05),
    ] {
        let config = SenderConfig { counts_marks, reaction, ..rack(200) };
        let mut wire = Wire::new(20.0, config, &[], &[(2, 20)]);
        wire.marked = vec![9];
        wire.run(119);
        assert!((wire.window() - left).abs() < 0.01, "window {}", wire.window());
        wire.run(130);
        assert!((wire.window() - left).abs() < 0.01, "window {}", wire.window());
        wire.run(60_000);
        assert!(wire.sender.is_done());
    }
}

#[test]
fn a_mark_told_with_the_proof_that_a_reaction_was_needless_is_answered() {
    // As above, but it is 2 that is marked: its acknowledgment at 120 ms tells both. Undone, the reaction would leave the mark
    // without an answer, since it is told once. Where each mark is answered the loss is taken back, and the mark halves.
    for reaction in [Reaction::PerWindow, Reaction::LossesApart, Reaction::PerMark] {
        let config = SenderConfig { counts_marks: true, reaction, ..rack(200) };
        let mut wire = Wire::new(20.0, config, &[], &[(2, 20)]);
        wire.marked = vec![2];
        wire.run(130);
        assert!((wire.window() - 10.05).abs() < 0.01, "{reaction:?}: window {}", wire.window());
        wire.run(60_000);
        assert!(wire.sender.is_done());
    }
}

#[test]
fn an_unvalidated_window_does_not_grow() {
    // RFC 9959. Segment 9 takes 50 ms longer, so the window jumps to 50 at 150 ms, with 18 segments in flight. Two more leave
    // in some 4 ms; when 10 to 27 are acknowledged at 200 ms less than 50 are in flight.
    let start = Start { window: Segments(10.0), ..Start::default() };
    let saved = SavedPath { window: 100.0, rtt: Span::from_millis(80) };
    let config = SenderConfig { careful_resume: Some(saved), ..rack(100_000) };
    let mut wire = Wire::of(windowed("reno", &start), config, &[], &[(9, 50)]);
    wire.run(149);
    assert_eq!((wire.window(), wire.log.len()), (19.0, 28));
    wire.run(199);
    assert!((20..26).contains(&(wire.log.len() - 28)), "{} left", wire.log.len());
    wire.run(240);
    assert_eq!((wire.window(), wire.sender.unacknowledged), (50.0, 28));
}

#[test]
fn an_undone_reaction_keeps_what_was_known_of_the_path() {
    // RFC 9959. Ten leave at 0, and the window jumps to 50 at 100 ms; from then on two leave in 4 ms, 28 first. 30 takes 20
    // ms longer than its 100: block 33 takes it for lost at 210 ms, which is a safe retreat to half of what was carried by
    // then, 18 + 22. Its acknowledgment at 224 ms says that it was none: the window is what it was and one more, and goes on
    // growing as in slow start, without waiting for 59, the last unvalidated segment, and without a threshold after it.
    let start = Start { window: Segments(10.0), ..Start::default() };
    let saved = SavedPath { window: 100.0, rtt: Span::from_millis(80) };
    let config = SenderConfig { careful_resume: Some(saved), ..rack(100_000) };
    let mut wire = Wire::of(windowed("reno", &start), config, &[], &[(30, 20)]);
    wire.run(209);
    let before = wire.window();
    assert!(before > 50.0, "window {before}");
    wire.run(223);
    assert_eq!(wire.window(), 20.0);
    wire.run(224);
    assert_eq!(wire.window(), before + 1.0);
    wire.run(260);
    assert!(wire.window() > before + 15.0, "window {} after {before}", wire.window());
    wire.run(350);
    assert_eq!(wire.sender.control().threshold(), None);
}

#[test]
fn an_undone_reaction_forgets_what_the_path_was_found_to_carry() {
    // RFC 7661. Of a window of 20 two are used every 200 ms, so that it is not validated when five leave at 1.5 s. The
    // second of them is late: max(2, 4) was carried, which Reno halves. What has arrived by 1.62 s says that nothing was
    // lost: the window is what it was before, and no recovery is over with which another one would begin.
    let config = SenderConfig { window_validation: WindowValidation::Rfc7661, ..rack(20) };
    let mut wire = Wire::new(20.0, config, &[], &[(33, 20)]);
    for at in (300..=1500).step_by(200) {
        wire.run(at);
        wire.now = Time::ZERO + Span::from_millis(at);
        wire.sender.write(wire.now, if at == 1500 { 5 } else { 2 });
        wire.send();
    }
    wire.run(1_610);
    assert_eq!(wire.window(), 2.0);
    wire.run(1_620);
    assert_eq!(wire.window(), 20.05);
}

#[test]
fn a_recovery_is_undone_only_if_nothing_was_lost() {
    // 2 and 5 are thought lost with block 6. The original of 2 comes at 120 ms, that of 5 at 130 ms.
    let mut wire = Wire::new(20.0, rack(200), &[], &[(2, 20), (5, 30)]);
    wire.run(125);
    assert!((wire.window() - 10.05).abs() < 0.01, "window {}", wire.window());
    wire.run(135);
    assert!((wire.window() - 20.1).abs() < 0.01, "window {}", wire.window());
    // 5 is lost.
    let mut wire = Wire::new(20.0, rack(200), &[5], &[(2, 20)]);
    wire.run(250);
    assert!(wire.window() < 11.0, "window {}", wire.window());
    assert_eq!(wire.sender.measured().congestion_events, 1);
    // 2 is not lost at all, and 60 is: that one counts in full.
    let mut wire = Wire::new(20.0, rack(200), &[60], &[(2, 20)]);
    wire.run(60_000);
    assert_eq!(wire.sender.measured().congestion_events, 2);
    assert!(wire.sender.is_done());
}

#[test]
fn a_loss_of_the_same_window_counts_when_the_reaction_was_undone() {
    // As above, and 21 is lost, which left at 100 ms before the recovery began. At 200 ms the copy of 2 is reported as a
    // duplicate: the reordering window is 50 ms, so the loss shows at 250 ms. The reaction at 100 ms was none, so this one
    // is needed (RFC 4015).
    let mut wire = Wire::new(20.0, rack(200), &[21], &[(2, 20)]);
    wire.run(240);
    let before = wire.window();
    wire.run(260);
    assert_eq!(wire.retransmissions(), [(100, 2), (250, 21)]);
    assert_eq!(wire.sender.measured().congestion_events, 2);
    assert!((wire.window() - before / 2.0).abs() < 0.01, "window {} of {before}", wire.window());
}

#[test]
fn a_recovery_is_undone_whatever_was_lost_in_earlier_ones() {
    // 5 is lost. Later 60 takes 30 ms longer than the four that leave after it in the same round, and nothing else is
    // missing then.
    let flow = || Wire::new(20.0, rack(400), &[5], &[(60, 30)]);
    let mut wire = flow();
    wire.run(60_000);
    let left = wire.log.iter().find(|sent| sent.1 == 60).expect("it was sent").0;
    assert_eq!(wire.sender.measured().congestion_events, 2);
    let mut wire = flow();
    wire.run(left + 99);
    let before = wire.window();
    wire.run(left + 129);
    assert!(wire.window() < 0.6 * before, "window {} of {before}", wire.window());
    wire.run(left + 130);
    assert!(wire.window() >= before, "window {} of {before}", wire.window());
}

#[test]
fn the_reaction_of_a_controller_that_asks_for_no_more_than_pacing_is_undone_too() {
    // Ten in flight, and 2 takes 20 ms longer: as above.
    let (recorder, _) = Recorder::wanting(Wants { pacing: true, ..Wants::NOTHING });
    let mut wire = Wire::of(Box::new(recorder), rack(200), &[], &[(2, 20)]);
    wire.run(110);
    assert!(matches!(wire.sender.state, State::Recovery { .. }));
    wire.run(120);
    assert_eq!(wire.sender.state, State::Open);
}

/// A window of ten at 1000 segments per second, and half as many with each reaction.
#[derive(Clone, Debug)]
struct Slower(f64);

impl CongestionControl for Slower {
    fn on_feedback(&mut self, _: &Feedback, _: &Path) {}

    fn on_congestion(&mut self, _: &Congestion, _: &Path) {
        self.0 /= 2.0;
    }

    fn window(&self) -> Segments {
        Segments(10.0)
    }

    fn pacing(&self) -> Pacing {
        Pacing::Rate(self.0)
    }
}

#[test]
fn the_pacing_of_before_an_undone_reaction_is_heeded_at_once() {
    // Ten leave at once, since no round trip is known, and 2 takes 20 ms longer: block 5 takes it for lost at 100 ms, and at
    // 120 ms it is acknowledged. The next round trip has not begun.
    let mut wire = Wire::of(Box::new(Slower(1000.0)), rack(200), &[], &[(2, 20)]);
    wire.run(119);
    assert_eq!(wire.sender.pacer.mode(), Pacing::Rate(500.0));
    wire.run(120);
    assert_eq!(wire.sender.pacer.mode(), Pacing::Rate(1000.0));
}

/// Delays of the second window of ten, which leaves at 100 ms, and of the probe at 300 ms: all arrive at 600 ms.
fn stalled() -> Vec<(u64, u64)> {
    (10..20).map(|segment| (segment, 450)).chain([(20, 250)]).collect()
}

#[test]
fn a_time_out_that_was_none_is_undone() {
    // The timer starts again with the probe and expires at 600 ms: 10 leaves again, the window is one segment. At 650
    // ms the first 10 is acknowledged.
    let mut wire = Wire::new(10.0, rack(1000), &[], &stalled());
    wire.run(640);
    let before = wire.log.len();
    assert_eq!(wire.sender.measured().timeouts, 1);
    assert_eq!(wire.window(), 1.0);
    wire.run(650);
    assert_eq!(wire.sender.state, State::Open);
    // 21 segments have been acknowledged in congestion avoidance, each of which adds 2 to the square of the window: it
    // is as if there had been no time-out.
    assert!((wire.window() - 142_f64.sqrt()).abs() < 0.01, "window {}", wire.window());
    assert!(wire.log[before..].iter().all(|sent| !sent.2));
    wire.run(60_000);
    assert_eq!(wire.retransmissions(), [(600, 10)]);
    assert!(wire.sender.is_done());
}

#[test]
fn of_several_time_outs_the_first_is_undone() {
    // RFC 3522, section 3.2: what is compared is the time of the first retransmission. The same, but all arrive at 1250 ms and
    // the copy of 600 ms much later: the timer, twice as long now, expires at 1200 ms again. The window is what it was before
    // the first time-out.
    let late = (10..20).map(|segment| (segment, 1100)).chain([(20, 900), (10, 5000)]);
    let mut wire = Wire::new(10.0, rack(1000), &[], &late.collect::<Vec<_>>());
    wire.run(1_240);
    assert_eq!((wire.sender.measured().timeouts, wire.window()), (2, 1.0));
    wire.run(1_320);
    assert_eq!(wire.sender.state, State::Open);
    assert!((wire.window() - 142_f64.sqrt()).abs() < 0.01, "window {}", wire.window());
}

#[test]
fn a_block_from_before_a_time_out_does_not_undo_it() {
    // RFC 3522: only what is acknowledged in order tells. 10 is lost; at 650 ms the block of 11 comes, which had left
    // before the time-out as well.
    let mut wire = Wire::new(10.0, rack(1000), &[10], &stalled()[1..]);
    wire.run(660);
    assert_eq!(wire.sender.measured().timeouts, 1);
    assert_eq!((wire.window(), wire.sender.scoreboard.sacked()), (1.0, 10));
    assert!(matches!(wire.sender.state, State::GoBack { .. }));
}

#[test]
fn a_block_from_after_a_time_out_does_not_make_it_needed() {
    // RFC 3522: nor does a block tell that. 10 takes 650 ms longer, its copies much longer, and 11 to 20 are lost. The window
    // stays 10: at 700 ms come the blocks of the copies from 600 ms, and at 850 ms the first 10. 19 is missing again.
    let (recorder, _) = Recorder::wanting(Wants { pacing: true, ..Wants::NOTHING });
    let lost: Vec<u64> = (11..=20).chain([19]).collect();
    let late = [(10, 650), (10, 5000), (10, 5000), (10, 5000)];
    let mut wire = Wire::of(Box::new(recorder), rack(1000), &lost, &late);
    wire.run(840);
    assert_eq!(wire.sender.measured().timeouts, 1);
    assert!(wire.sender.scoreboard.sacked() > 0);
    assert!(matches!(wire.sender.state, State::GoBack { .. }));
    wire.run(850);
    assert!(wire.sender.unacknowledged < 20);
    assert!(!matches!(wire.sender.state, State::GoBack { .. }), "{:?}", wire.sender.state);
}

#[test]
fn a_time_out_that_was_one_stays() {
    // The second window is lost, and so is the probe.
    let lost: Vec<u64> = (10..=20).collect();
    let mut wire = Wire::new(10.0, rack(1000), &lost, &[]);
    wire.run(750);
    assert_eq!(wire.sender.measured().timeouts, 1);
    assert!(wire.window() <= 4.0, "window {}", wire.window());
    wire.run(60_000);
    assert_eq!(wire.receiver.received().again, 0);
    assert!(wire.sender.is_done());
}

#[test]
fn a_controller_that_asks_is_told_and_undoes_it_itself() {
    for (late, cause) in [(vec![(2, 20)], Cause::Loss), (stalled(), Cause::Timeout)] {
        let (recorder, told) = Recorder::of_everything();
        let mut wire = Wire::of(Box::new(recorder), rack(200), &[], &late);
        wire.run(60_000);
        assert!(wire.sender.is_done());
        let told = told.lock().expect("one thread");
        let spurious: Vec<Cause> = told.feedback.iter().filter_map(|it| it.spurious).collect();
        assert_eq!(spurious, [cause]);
    }
}

/// LEDBAT wants delays and asks for no notice.
#[test]
fn a_controller_that_wants_more_and_does_not_ask_keeps_its_reaction() {
    let start = Start { window: Segments(10.0), ..Start::default() };
    let control = windowed("ledbat", &start);
    let mut wire = Wire::of(control, rack(1000), &[], &stalled());
    wire.run(650);
    assert_eq!(wire.sender.measured().timeouts, 1);
    assert!(wire.window() < 3.0, "window {}", wire.window());
    wire.run(60_000);
    assert!(wire.sender.is_done());
}
