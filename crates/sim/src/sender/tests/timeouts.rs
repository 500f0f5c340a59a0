//! What a time-out ends, and what it leaves as it was, checked by hand.

use longfat_control::{Cause, Congestion, CongestionControl, Feedback, Pacing, Path, Start, Wants};
use longfat_scenario::Recovery;
use longfat_units::{Segments, Span, Time};

use super::super::{Sender, SenderConfig, Sends, State};
use super::rack::{Wire, rack};
use super::wishes::Recorder;
use super::{Dialogue, config, reno_avoiding};
use crate::packet::{Flags, Packet};

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Everything that may leave now.
fn leaving(sender: &mut Sender, now: Time) -> Vec<Packet> {
    std::iter::from_fn(|| sender.poll(now)).collect()
}

/// A window that is halved by a loss and is one after a time-out; called every 35 ms.
#[derive(Clone, Debug)]
struct Called {
    window: f64,
    alarm: Time,
}

impl Called {
    fn new(window: f64) -> Self {
        Self { window, alarm: at(30) }
    }
}

impl CongestionControl for Called {
    fn on_feedback(&mut self, _: &Feedback, _: &Path) {}

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.window = if event.cause == Cause::Timeout { 1.0 } else { self.window / 2.0 };
        self.alarm = event.now + Span::from_millis(10);
    }

    fn timer(&self) -> Option<Time> {
        Some(self.alarm)
    }

    fn on_timer(&mut self, now: Time, _: &Path) {
        self.alarm = now + Span::from_millis(35);
    }

    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn wants(&self) -> Wants {
        Wants { timer: true, ..Wants::NOTHING }
    }
}

#[test]
fn the_first_new_segment_after_a_time_out_says_that_the_window_has_fallen() {
    // RFC 3168, section 6.1.2: CWR is set after a reduction for any reason, a time-out among them. Four leave at 0, and 0
    // again at 1 s; everything is acknowledged at 1.1 s.
    for recovery in [Recovery::Sack, Recovery::Rack, Recovery::NewReno] {
        let mut sender = Sender::new(config(recovery, None, 40), reno_avoiding(4.0), Time::ZERO);
        assert!(leaving(&mut sender, Time::ZERO).iter().all(|it| !it.flags.has(Flags::REDUCED)));
        sender.on_timeout(at(1000));
        let again = leaving(&mut sender, at(1000));
        assert_eq!((again.len(), again[0].flags.has(Flags::REDUCED)), (1, false), "{recovery:?}");
        sender.on_ack(at(1100), &Packet { number: 4, sent: at(1000), ..Packet::default() }, None);
        let new = leaving(&mut sender, at(1100));
        let says: Vec<u64> =
            new.iter().filter(|it| it.flags.has(Flags::REDUCED)).map(|it| it.number).collect();
        assert_eq!((new.len() > 1, says), (true, vec![4]), "{recovery:?}");
    }
}

#[test]
fn a_time_out_answers_the_marks_of_what_had_left_before() {
    // RFC 3168, section 6.1.2: the window falls once for one window of data, whatever shows that the path is congested. Ten
    // leave at 0, the timer runs out at 1 s, and at 1.1 s it is told that two of these had been marked. 10 leaves when
    // everything is acknowledged, and its mark is another window's.
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let (control, told) = Recorder::wanting(Wants::NOTHING);
        let config = SenderConfig { counts_marks: true, ..config(recovery, None, 1000) };
        let mut sender = Sender::new(config, Box::new(control), Time::ZERO);
        assert_eq!(leaving(&mut sender, Time::ZERO).len(), 10);
        sender.on_timeout(at(1000));
        leaving(&mut sender, at(1000));
        for (millis, number, detail) in [(1100, 3, 2), (1200, 10, 2), (1300, 11, 3)] {
            let sent = at(millis - 100);
            sender.on_ack(at(millis), &Packet { number, sent, detail, ..Packet::default() }, None);
            leaving(&mut sender, at(millis));
        }
        let told = told.lock().expect("one thread");
        let marked: Vec<u64> = told.feedback.iter().map(|it| it.marked).collect();
        assert_eq!(marked, [2, 0, 1], "{recovery:?}");
        let answers: Vec<Cause> = told.congestion.iter().map(|it| it.cause).collect();
        assert_eq!(answers, [Cause::Timeout, Cause::Mark], "{recovery:?}");
    }
}

#[test]
fn a_time_out_forgets_its_probe() {
    // RFC 8985, section 7.1. The last of ten is lost, and so is the probe at 300 ms, which sends it again. At 600 ms the timer
    // runs out; the third 9 is acknowledged at 700 ms. What leaves at 750 ms does not show that the probe was needed: the
    // time-out has told of that loss.
    let (recorder, told) = Recorder::of_everything();
    let mut wire = Wire::of(Box::new(recorder), rack(10), &[9, 9], &[]);
    wire.run(720);
    assert_eq!(wire.retransmissions(), [(300, 9), (600, 9)]);
    assert!(wire.sender.is_done());
    wire.now = at(750);
    wire.sender.write(wire.now, 10);
    wire.send();
    wire.run(60_000);
    assert!(wire.sender.is_done());
    let told = told.lock().expect("one thread");
    assert_eq!(told.losses(), []);
    let lost: Vec<u64> = told.lost.iter().map(|it| it.segment).collect();
    assert_eq!(lost, [9]);
}

#[test]
fn a_call_in_a_recovery_releases_nothing() {
    // RFC 9937. Of twenty the first 15 are lost. The blocks at 100 ms begin a recovery and release one segment each. Four of
    // what is in flight have arrived then, and half of the window is the target; that the controller is called at 110 ms and
    // every 35 ms from then on is no acknowledgment.
    let lost: Vec<u64> = (0..15).collect();
    let mut wire = Wire::of(Box::new(Called::new(20.0)), rack(200), &lost, &[]);
    wire.run(100);
    let left = wire.log.len();
    assert!(matches!(wire.sender.state, State::Recovery { .. }));
    assert!(wire.sender.in_flight() < 10, "{} in flight", wire.sender.in_flight());
    wire.run(199);
    assert_eq!(wire.log[left..], []);
}

#[test]
fn a_time_out_ends_the_recovery_under_way() {
    // RFC 5681, section 3.1: the loss window is one segment. The same recovery, of which nothing is heard any more: the timer
    // of 1 s starts again when 0 leaves again at 100 ms. When it runs out 0 leaves once more. What the recovery still allowed
    // does not hold when the controller is called at 1110 ms, which it asked for then.
    let lost: Vec<u64> = (0..15).collect();
    let mut wire = Wire::of(Box::new(Called::new(20.0)), rack(200), &lost, &[]);
    wire.run(100);
    wire.events.clear();
    wire.run(1099);
    assert_eq!(wire.sender.measured().timeouts, 0);
    let left = wire.log.len();
    wire.run(1100);
    assert_eq!(wire.sender.measured().timeouts, 1);
    assert_eq!(wire.sender.alarm(), at(1110));
    wire.events.clear();
    wire.run(1300);
    assert_eq!(wire.log[left..], [(1100, 0, true)]);
}

#[test]
fn the_first_progress_after_a_time_out_alone_can_undo_it() {
    // RFC 3522, section 3.2. 10 is lost, the rest of its window comes late, and so does the probe; the timer runs out at 600
    // ms. The copy of 10 is acknowledged at 700 ms, so it was needed. That the first 11 is acknowledged at 750 ms, before
    // its copy of 700 ms, says nothing.
    let mut late = vec![(11, 550), (20, 5000)];
    late.extend((12..20).map(|segment| (segment, 5000)));
    let mut wire = Wire::new(10.0, rack(1000), &[10], &late);
    wire.run(749);
    assert_eq!((wire.sender.measured().timeouts, wire.sender.unacknowledged), (1, 11));
    let before = wire.window();
    wire.run(750);
    assert_eq!(wire.sender.unacknowledged, 12);
    assert!(matches!(wire.sender.state, State::GoBack { .. }), "{:?}", wire.sender.state);
    assert!(wire.window() <= before + 1.0, "window {} after {before}", wire.window());
}

#[test]
fn a_time_out_that_was_none_restores_the_order_of_departure() {
    // RFC 8985, section 6.2, step 5, when nothing of the second window is thought lost any more: 10, 11 and 13 to 15 are
    // acknowledged at 650 ms, thanks to what left at 100 ms. 12 and all that left after 15 take much longer: three blocks are
    // enough for 12.
    let late = (10..=20).map(|segment| match segment {
        10 | 11 | 13..=15 => (segment, 450),
        _ => (segment, 5000),
    });
    let mut wire = Wire::new(10.0, rack(1000), &[], &late.collect::<Vec<_>>());
    wire.run(660);
    assert_eq!(wire.sender.measured().timeouts, 1);
    assert_eq!(wire.retransmissions(), [(600, 10), (650, 12)]);
}

#[test]
fn a_first_retransmission_that_waits_for_pacing_leaves_once_though_the_timer_runs_out() {
    // RFC 6298, section 5.4: the earliest segment that is not acknowledged is sent again. A packet leaves every 49 ms, and the
    // time-out is 200 ms once the variation of the first round trip is forgotten. The third duplicate comes 4·49 = 196 ms after
    // the last progress, when the next packet has just left: the retransmission waits for its turn.
    let start =
        Start { window: Segments(10.0), threshold: Some(Segments(2.0)), ..Start::default() };
    let pacing = Pacing::Rate(1000.0 / 49.0);
    let config = config(Recovery::NewReno, Some(pacing), 1000);
    let mut dialogue = Dialogue::of("reno", &start, config, &[100]);
    dialogue.run(Span::from_millis(7_000));
    let left = dialogue.log.iter().find(|sent| sent.1 == 100).expect("it was sent").0;
    assert_eq!(dialogue.sender.measured().timeouts, 1);
    // 99 is acknowledged 51 ms after 100 has left.
    let again = dialogue.retransmissions();
    assert_eq!(again[0], (left + 51 + 200, 100));
    let copies = again.iter().filter(|sent| sent.1 == 100).count();
    assert_eq!(copies, 1);
}

#[test]
fn what_duplicates_had_told_of_is_not_told_of_again_after_a_time_out() {
    // Three leave, and 0 is lost: two duplicates tell of 1 and 2, too few for a recovery. When the copy of 0 acknowledges all
    // three, it is the only one that is news.
    let (mut recorder, told) = Recorder::of_everything();
    recorder.window = 3.0;
    let sender = Sender::new(config(Recovery::NewReno, None, 3), Box::new(recorder), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, Some(3), false, &[0]);
    dialogue.run(Span::from_seconds(2));
    assert!(dialogue.sender.is_done());
    assert_eq!(dialogue.retransmissions(), [(1000, 0), (1000, 1), (1000, 2)]);
    let told = told.lock().expect("one thread");
    let delivered = told.feedback.last().and_then(|it| it.rate).map(|rate| rate.delivered_total);
    assert_eq!(delivered, Some(3));
}

#[test]
fn nothing_is_rescued_after_a_time_out() {
    // RFC 6675, section 5.1: after a time-out no loss recovery by `NextSeg`, whose rules 3 and 4 would send what is not lost
    // again. Of ten in flight at the time-out at 1 s seven turn out to have arrived; the window of five has room for the copies
    // of the other three, for 10, which is new, and for one more.
    let config = SenderConfig { application: true, ..config(Recovery::Sack, None, 1000) };
    let mut sender = Sender::new(config, reno_avoiding(10.0), Time::ZERO);
    sender.write(Time::ZERO, 10);
    let numbers = |sender: &mut Sender, now| -> Vec<u64> {
        leaving(sender, now).iter().map(|packet| packet.number).collect()
    };
    assert_eq!(numbers(&mut sender, Time::ZERO).len(), 10);
    assert_eq!(sender.deadline(), at(1000));
    sender.on_timeout(at(1000));
    assert_eq!(numbers(&mut sender, at(1000)), [0]);
    sender.write(at(1050), 1);
    let ack = Packet { number: 7, flags: Flags::ACK, sent: at(1000), ..Packet::default() };
    sender.on_ack(at(1100), &ack, None);
    assert!(matches!(sender.state, State::GoBack { .. }));
    assert!(sender.control().window().0 >= 5.0, "{:?}", sender.control().window());
    assert_eq!(numbers(&mut sender, at(1100)), [7, 8, 9, 10]);
}
