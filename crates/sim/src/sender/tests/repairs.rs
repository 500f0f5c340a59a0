//! Repairs without a clock (RFC 6675, RFC 6582), checked by hand: what leaves again, and what duplicates may say.

use longfat_control::{Pacing, Start};
use longfat_scenario::{Recovery, RtoRestart};
use longfat_units::{Segments, Span, Time};

use super::super::{Sender, SenderConfig, Sends, Tracing};
use super::{Dialogue, config, windowed};
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
