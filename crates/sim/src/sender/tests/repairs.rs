//! Repairs without a clock (RFC 6675, RFC 6582), checked by hand: what leaves again, and what duplicates may say.

use longfat_control::{Pacing, Start, Wants};
use longfat_scenario::{Recovery, RtoRestart};
use longfat_units::{Segments, Span, Time};

use super::super::{Sender, SenderConfig, Sends, State, Tracing};
use super::wishes::Recorder;
use super::{Dialogue, RTT, config, windowed};
use crate::packet::{Flags, Packet};

/// Reno in congestion avoidance with this window.
fn avoiding(window: f64) -> Start {
    Start { window: Segments(window), threshold: Some(Segments(2.0)), ..Start::default() }
}

#[test]
fn with_nothing_new_to_send_a_hole_is_repaired_before_it_is_known_to_be_lost() {
    // RFC 6675, section 4, `NextSeg`, rule 3. Of eight 2 and 5 are lost; block 6 is the third above 2, but 5 has only 6
    // and 7 above it. The window of 4 has room: only 5 and the copy of 2 are in flight. At 200 ms the copy of 2 is
    // acknowledged before that of 5, and rule 4 sends the last segment that is missing once more.
    let mut dialogue = Dialogue::new(8.0, 8, &[2, 5]);
    dialogue.run(Span::from_seconds(10));
    assert_eq!(dialogue.retransmissions(), [(100, 2), (100, 5), (200, 5)]);
    assert!(dialogue.sender.is_done());
}

#[test]
fn only_the_first_partial_acknowledgment_restarts_the_timer() {
    // RFC 6582, section 4, the "impatient" variant. 2 to 9 of 20 are lost, one of which is repaired per round trip. The
    // time-out is 300 ms; the last progress before recovery is at 100 ms, the first partial acknowledgment at 200 ms.
    let config =
        SenderConfig { rto_restart: RtoRestart::Never, ..config(Recovery::NewReno, None, 1000) };
    let lost: Vec<u64> = (2..10).collect();
    let mut dialogue = Dialogue::of("reno", &avoiding(20.0), config, &lost);
    dialogue.run(Span::from_millis(499));
    assert_eq!(dialogue.retransmissions(), [(100, 2), (200, 3), (300, 4), (400, 5)]);
    assert_eq!(dialogue.sender.measured().timeouts, 0);
    dialogue.run(Span::from_millis(550));
    assert_eq!(dialogue.sender.measured().timeouts, 1);
}

/// A NewReno flow of five segments, four of them in flight. Returns it with what acknowledges everything below a number,
/// thanks to a segment sent at 0.
fn four_in_flight() -> (Sender, impl Fn(&mut Sender, u64) -> Vec<u64>) {
    let config = config(Recovery::NewReno, None, 5);
    let mut sender = Sender::new(config, windowed("reno", &avoiding(4.0)), Time::ZERO);
    assert_eq!(std::iter::from_fn(|| sender.poll(Time::ZERO)).count(), 4);
    let hear = |sender: &mut Sender, number: u64| {
        let now = Time::ZERO + Span::from_millis(100);
        let ack = Packet { number, flags: Flags::ACK, ..Packet::default() };
        sender.on_ack(now, &ack, None);
        std::iter::from_fn(|| sender.poll(now)).map(|packet| packet.number).collect()
    };
    (sender, hear)
}

#[test]
fn an_acknowledgment_that_another_one_has_passed_is_no_duplicate() {
    // RFC 5681, section 2: a duplicate repeats the greatest acknowledgment so far. 4 leaves with the first one.
    let (mut sender, hear) = four_in_flight();
    assert_eq!(hear(&mut sender, 3), [4]);
    for _ in 0..4 {
        assert!(hear(&mut sender, 2).is_empty());
    }
    assert_eq!((sender.in_flight(), sender.measured().congestion_events), (2, 0));
}

#[test]
fn with_nothing_in_flight_there_is_no_duplicate() {
    // The same section: a duplicate comes while there is outstanding data. The window is still 4 when eight more segments
    // are there.
    let (mut sender, hear) = four_in_flight();
    assert_eq!(hear(&mut sender, 4), [4]);
    assert!(hear(&mut sender, 5).is_empty());
    for _ in 0..4 {
        assert!(hear(&mut sender, 5).is_empty());
    }
    assert_eq!((sender.in_flight(), sender.measured().congestion_events), (0, 0));
    let now = Time::ZERO + Span::from_millis(100);
    sender.write(now, 8);
    assert_eq!(std::iter::from_fn(|| sender.poll(now)).count(), 4);
}

#[test]
fn a_flow_that_is_stopped_is_done_when_all_that_has_left_is_acknowledged() {
    let mut dialogue = Dialogue::new(4.0, 1000, &[5]);
    dialogue.run(Span::from_millis(150));
    let left = dialogue.log.len();
    dialogue.sender.stop();
    assert!(!dialogue.sender.is_done());
    dialogue.run(Span::from_seconds(10));
    assert!(dialogue.sender.is_done());
    let new = dialogue.log.iter().filter(|sent| !sent.2).count();
    assert_eq!(new, left, "5 leaves again, and nothing new");
}

#[test]
fn duplicates_do_not_raise_the_window_until_a_time_out_is_repaired() {
    // RFC 6582, section 3.2, step 3: only in fast recovery. All ten are lost, and 9 twice: after the time-out at 1 s the last
    // copies, 7 to 9, leave at 1.3 s with 10 and 11, and at 1.4 s the acknowledgments of 7 and 8 let new segments go. What
    // these cause at 1.5 s are duplicates of segments that left after all copies, and nothing leaves for them.
    let lost: Vec<u64> = (0..10).chain([9]).collect();
    let mut dialogue = Dialogue::with(Recovery::NewReno, 10.0, 200, &lost);
    dialogue.run(Span::from_millis(1450));
    let new: Vec<_> = dialogue.log[10..].iter().filter(|sent| !sent.2).map(|it| it.0).collect();
    assert!(new.starts_with(&[1300, 1300, 1400]), "{new:?}");
    let left = dialogue.log.len();
    dialogue.run(Span::from_millis(1590));
    assert_eq!(dialogue.log[left..], []);
    dialogue.run(Span::from_seconds(10));
    assert_eq!(dialogue.sender.measured().timeouts, 2);
    assert!(dialogue.sender.is_done());
}

#[test]
fn who_traces_a_flow_hears_of_what_a_time_out_takes_for_lost() {
    // Ten leave, and nothing comes back. Reno wants to hear of no loss itself.
    let config = SenderConfig { traced: Tracing::InDetail, ..config(Recovery::Sack, None, 10) };
    let mut sender = Sender::new(config, windowed("reno", &avoiding(10.0)), Time::ZERO);
    assert_eq!(std::iter::from_fn(|| sender.poll(Time::ZERO)).count(), 10);
    sender.on_timeout(Time::ZERO + Span::from_seconds(1));
    assert_eq!(sender.take_lost(), (0..10).collect::<Vec<_>>());
}

#[test]
fn after_a_time_out_no_retransmission_restarts_the_timer() {
    // RFC 6675, section 6, speaks of recoveries. Ten packets per second, and the first four are lost, 1 twice. 0 leaves again
    // at 1 s; its acknowledgment sets the timer of 100 + 4·50 ms at 1.1 s, and 1 and 2 leave, 100 ms apart. The block of 2 at
    // 1.3 s lets 3 go, and acknowledges nothing.
    let config = SenderConfig {
        rto_restart: RtoRestart::Each,
        ..config(Recovery::Sack, Some(Pacing::Rate(10.0)), 4)
    };
    let mut dialogue = Dialogue::of("reno", &avoiding(4.0), config, &[0, 1, 2, 3, 1]);
    dialogue.run(Span::from_millis(1450));
    let expected = [(1000, 0), (1100, 1), (1200, 2), (1300, 3), (1400, 1)];
    assert_eq!(dialogue.retransmissions(), expected);
}

#[test]
fn a_partial_acknowledgment_just_below_the_recovery_point_repairs_the_last_segment() {
    // RFC 6582, section 3.2, step 3. Of six the first and the last are lost; four duplicates begin the recovery. The copy of 0
    // acknowledges all but 5.
    let mut dialogue = Dialogue::with(Recovery::NewReno, 6.0, 6, &[0, 5]);
    dialogue.run(Span::from_seconds(10));
    assert_eq!(dialogue.retransmissions(), [(100, 0), (200, 5)]);
    assert_eq!(dialogue.sender.measured().timeouts, 0);
}

#[test]
fn each_partial_acknowledgment_restarts_the_timer_where_acknowledgments_are_selective() {
    // RFC 6298, section 5.3. 2 and 5 are lost; the copy of 2 comes at 200 ms and acknowledges 3 and 4, too. The time-out is
    // still 100 + 4·50 ms, as no round has ended.
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let config =
            SenderConfig { rto_restart: RtoRestart::Never, ..config(recovery, None, 1000) };
        let mut dialogue = Dialogue::of("reno", &avoiding(10.0), config, &[2, 5]);
        while dialogue.sender.unacknowledged < 5 {
            assert!(dialogue.step(Span::from_millis(200)));
        }
        assert!(matches!(dialogue.sender.state, State::Recovery { .. }), "{recovery:?}");
        let expected = Time::ZERO + Span::from_millis(200 + 300);
        assert_eq!(dialogue.sender.deadline(), expected, "{recovery:?}");
    }
}

#[test]
fn what_lost_duplicates_would_have_told_is_not_told_at_the_end() {
    // Ten in flight, and 2 is lost. Of the eight duplicates at 100 ms only the first three come back. When 2 is repaired the
    // acknowledgment of everything after it is one more arrival: when the others were nobody knows, so that they are left
    // out of the delivery rate.
    let (recorder, told) = Recorder::of_everything();
    let sender = Sender::new(config(Recovery::NewReno, None, 1000), Box::new(recorder), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, Some(1000), false, &[2]);
    dialogue.acks.truncate(5);
    dialogue.run(Span::from_millis(250));
    assert!(dialogue.sender.is_open() && dialogue.sender.unacknowledged > 10);
    let told = told.lock().expect("one thread");
    let heard = told.feedback.len() as u64;
    let rates = told.feedback.iter().filter_map(|it| it.rate);
    assert_eq!(rates.map(|rate| rate.delivered_total).max(), Some(heard));
}

#[test]
fn a_mark_of_what_leaves_in_a_recovery_is_told_at_once() {
    // RFC 3168, section 6.1.2: the reaction to the loss is the one to this mark, too. 2 is lost, as shows at 100 ms, and what
    // leaves then is marked; until 2 is repaired at 200 ms each of its blocks brings an echo.
    let (control, told) = Recorder::wanting(Wants::NOTHING);
    let sender = Sender::new(config(Recovery::Sack, None, 1000), Box::new(control), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, Some(1000), true, &[2]);
    dialogue.marking = true;
    while dialogue.sender.unacknowledged < 3 {
        assert!(dialogue.step(Span::from_millis(200)));
    }
    let told = told.lock().expect("one thread");
    let until = Time::ZERO + Span::from_millis(200);
    let blocks: Vec<u64> = told
        .feedback
        .iter()
        .filter(|it| it.now == until && it.acked == 0)
        .map(|it| it.marked)
        .collect();
    assert!(blocks.len() >= 4, "{blocks:?}");
    assert_eq!(blocks, vec![1; blocks.len()]);
    assert_eq!(told.congestion.len(), 1);
}

/// Of so many segments eight are in flight, in two blocks, and 2 and 5 are lost. A mark has been answered just before their
/// acknowledgments come at 100 ms, and the next block waits until 149 ms: what is sent again until then.
fn while_a_block_waits(segments: u64) -> Vec<(u64, u64)> {
    let blocks = Pacing::Blocks(2);
    let mut dialogue = Dialogue::paced(&avoiding(8.0), blocks, segments, &[2, 5]);
    dialogue.run(Span::from_millis(99));
    let (next, now) = (dialogue.sender.next, Time::ZERO + Span::from_millis(99));
    dialogue.sender.once.answered(next);
    dialogue.sender.heed_pacing();
    (0..4).for_each(|_| dialogue.sender.pacer.leave(now, true, 8.0, 8, RTT));
    let left = dialogue.log.len();
    dialogue.run(Span::from_millis(148));
    assert_eq!(dialogue.sender.measured().congestion_events, 0);
    assert!(dialogue.log[left..].iter().all(|sent| sent.2), "{:?}", dialogue.log);
    dialogue.retransmissions()
}

#[test]
fn a_block_that_waits_holds_no_repair_back() {
    // Block 6 is the third above 2, which leaves at once though nothing calls for a reaction. 5 has 6 and 7 above it only: rule
    // 3 of RFC 6675, section 4, sends it if there is nothing new, and rule 2 comes first if there is.
    assert_eq!(while_a_block_waits(8), [(100, 2), (100, 5)]);
    assert_eq!(while_a_block_waits(1000), [(100, 2)]);
}

#[test]
fn while_a_block_waits_repairs_need_room_in_the_window() {
    // RFC 6675, section 5, step (C). 2 and 4 of twenty are lost. The window falls to ten when 2 leaves, and another block waits
    // from then on. That 4 is lost shows two blocks later, when 14 and more are in flight.
    let mut dialogue = Dialogue::paced(&avoiding(20.0), Pacing::Blocks(2), 1000, &[2, 4]);
    while dialogue.retransmissions().is_empty() {
        assert!(dialogue.step(Span::from_millis(100)));
    }
    while !dialogue.sender.pacer.holds(dialogue.now) {
        dialogue.sender.pacer.leave(dialogue.now, true, 10.0, 10, RTT);
    }
    while dialogue.retransmissions().len() < 2 {
        assert!(dialogue.step(Span::from_millis(100)));
    }
    assert_eq!(dialogue.retransmissions(), [(100, 2), (100, 4)]);
    assert!(dialogue.sender.flight() <= 10, "{} in flight", dialogue.sender.flight());
}
