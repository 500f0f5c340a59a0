//! What controllers that ask for more receive: checked by hand, on a wire of 100 ms without a bottleneck.

use std::sync::{Arc, Mutex};

use longfat_control::{
    Adjustment, Cause, Congestion, CongestionControl, Feedback, Limited, Lost, Pacing, Path,
    Reaction, Sent, Wants,
};
use longfat_units::{Bytes, Segments, Span, Time};

use super::super::allowance::with_buffer;
use super::super::{Sender, SenderConfig, Sends};
use super::{Dialogue, config};
use crate::packet::Packet;
use longfat_scenario::{ReceiveBuffer, ReceiveWindow, Recovery, WindowValidation};

/// Everything a controller was told.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) feedback: Vec<Feedback>,
    pub(super) congestion: Vec<Congestion>,
    pub(super) lost: Vec<Lost>,
    pub(super) recovered: Vec<Time>,
    sent: Vec<Sent>,
    alarms: Vec<Time>,
}

impl Told {
    /// The acknowledgments that reported losses: milliseconds, how many, and whether a recovery began.
    pub(super) fn losses(&self) -> Vec<(u64, u64, bool)> {
        let losses = self.feedback.iter().filter(|it| it.lost > 0);
        losses.map(|it| (millis(it.now), it.lost, it.recovery_begins)).collect()
    }
}

/// A window that never changes, with a call every 30 ms, that records everything.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    pub(super) window: f64,
    wants: Wants,
    pacing: Pacing,
    alarm: Time,
    told: Arc<Mutex<Told>>,
}

impl Recorder {
    /// A recorder that wants everything, and what it is told.
    pub(super) fn of_everything() -> (Self, Arc<Mutex<Told>>) {
        let told = Arc::new(Mutex::new(Told::default()));
        let recorder = Self {
            window: 10.0,
            wants: EVERYTHING,
            pacing: Pacing::Unpaced,
            alarm: Time::ZERO + Span::from_millis(30),
            told: Arc::clone(&told),
        };
        (recorder, told)
    }

    /// A recorder that wants this and is never called, and what it is told.
    pub(super) fn wanting(wants: Wants) -> (Self, Arc<Mutex<Told>>) {
        let (recorder, told) = Self::of_everything();
        (Self { wants, alarm: Time::NEVER, ..recorder }, told)
    }

    fn note(&self, what: impl FnOnce(&mut Told)) {
        what(&mut self.told.lock().expect("one thread"));
    }
}

impl CongestionControl for Recorder {
    fn on_feedback(&mut self, feedback: &Feedback, _: &Path) {
        self.note(|told| told.feedback.push(*feedback));
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.note(|told| told.congestion.push(*event));
    }

    fn on_recovered(&mut self, now: Time, _: &Path) {
        self.note(|told| told.recovered.push(now));
    }

    fn on_lost(&mut self, lost: &Lost, _: &Path) {
        self.note(|told| told.lost.push(*lost));
    }

    fn on_sent(&mut self, sent: &Sent, _: &Path) {
        self.note(|told| told.sent.push(*sent));
    }

    fn timer(&self) -> Option<Time> {
        Some(self.alarm)
    }

    fn on_timer(&mut self, now: Time, _: &Path) {
        self.alarm = now + Span::from_millis(30);
        self.note(|told| told.alarms.push(now));
    }

    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }

    fn wants(&self) -> Wants {
        self.wants
    }
}

const EVERYTHING: Wants = Wants {
    pacing: true,
    delivery_rate: true,
    losses: true,
    departures: true,
    timer: true,
    own_recovery: false,
    spurious: true,
    router_header: true,
    one_way_delay: true,
};

/// A conversation with that recorder, until `until` milliseconds, and what the recorder was told.
fn listen(
    recorder: impl FnOnce(&mut Recorder),
    recovery: Recovery,
    segments: u64,
    lost: &[u64],
    until: u64,
) -> (Dialogue, Told) {
    let (mut control, told) = Recorder::of_everything();
    recorder(&mut control);
    let config = config(recovery, None, segments);
    let selective = recovery == Recovery::Sack;
    let sender = Sender::new(config, Box::new(control), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, Some(segments), selective, lost);
    dialogue.run(Span::from_millis(until));
    let told = told.lock().expect("one thread").clone();
    (dialogue, told)
}

fn millis(time: Time) -> u64 {
    time.0 / 1_000_000_000
}

#[test]
fn every_acknowledgment_with_news_is_told_whatever_it_carries() {
    // Ten in flight; 2 and 5 are lost. Acknowledgments at 100 ms: 0 and 1 in order, then the blocks 3, 4, 6, 7, 8, 9. 6
    // is the third above 2, and 8 the third above 5.
    let (_, told) = listen(|_| {}, Recovery::Sack, 1000, &[2, 5], 150);
    let told: Vec<_> = told
        .feedback
        .iter()
        .map(|it| (it.acked, it.sacked, it.lost, it.recovery_begins, it.in_flight))
        .collect();
    assert_eq!(
        told,
        [
            (1, 0, 0, false, 10),
            (1, 0, 0, false, 10),
            (0, 1, 0, false, 10),
            (0, 1, 0, false, 10),
            // The retransmission of 2 and new data have replaced what has left the network.
            (0, 1, 1, true, 10),
            (0, 1, 0, false, 10),
            (0, 1, 1, false, 10),
            (0, 1, 0, false, 10),
        ]
    );
}

#[test]
fn losses_without_selective_acknowledgments_are_counted_one_by_one() {
    let (_, told) = listen(|_| {}, Recovery::NewReno, 1000, &[2, 5], 450);
    // The third duplicate at 100 ms, and at 200 ms the partial acknowledgment of everything below 5.
    assert_eq!(told.losses(), [(100, 1, true), (200, 1, false)]);
}

#[test]
fn each_duplicate_is_a_delivery_and_no_acknowledgment_tells_of_it_again() {
    // Ten in flight; 2 and 5 are lost. At 100 ms 0 and 1 are acknowledged, and 3, 4, 6, 7, 8 and 9 each give a duplicate.
    // At 200 ms so do 10 to 13, sent before the repair of 2; that acknowledges 2, 3 and 4, of which only 2 is news. The
    // repair of 5 acknowledges everything at 300 ms.
    for recovery in [Recovery::NewReno, Recovery::Reno] {
        let (dialogue, told) = listen(|_| {}, recovery, 1000, &[2, 5], 350);
        let told = |until| -> Vec<_> {
            let told = told.feedback.iter().filter(|it| millis(it.now) <= until);
            told.map(|it| (it.acked, it.sacked, it.in_flight)).collect()
        };
        let first = [vec![(1, 0, 10); 2], vec![(0, 1, 10); 6]].concat();
        assert_eq!(told(100), first, "{recovery:?}");
        let repair = told(200)[8..].iter().position(|it| it.0 > 0);
        assert_eq!(repair, Some(4), "{recovery:?}: {:?}", told(200));
        let news = told(350).iter().map(|it| it.0 + it.1).max();
        assert_eq!(news, Some(1), "{recovery:?}: no acknowledgment tells of more than one");
        let all: u64 = told(350).iter().map(|it| it.0 + it.1).sum();
        assert_eq!(all, dialogue.log.len() as u64 - dialogue.sender.in_flight() - 2);
    }
}

#[test]
fn a_hole_that_is_filled_does_not_make_the_path_faster() {
    // 100 segments per round trip of 100 ms. Recoveries last many round trips, as each repairs one loss, and end with
    // acknowledgments of hundreds of segments; some holes take a time-out as well.
    let lost: Vec<u64> = (150..3000).step_by(37).chain([261, 261, 668]).collect();
    for recovery in [Recovery::NewReno, Recovery::Reno] {
        let (dialogue, told) = listen(|it| it.window = 100.0, recovery, 100_000, &lost, 60_000);
        let rates: Vec<f64> =
            told.feedback.iter().filter_map(|it| it.rate).map(|it| it.per_second()).collect();
        assert!(rates.len() > 1000 && dialogue.lost.is_empty(), "{} samples", rates.len());
        let most = rates.iter().copied().fold(0.0, f64::max);
        assert!((999.0..=1000.0).contains(&most), "{recovery:?}: {most} segments per second");
        // Nothing is told of twice; what no duplicate has reported is not told of.
        let all: u64 = told.feedback.iter().map(Feedback::delivered).sum();
        assert!(all <= dialogue.sender.unacknowledged + 100, "{recovery:?}: {all}");
    }
}

#[test]
fn marks_are_told_with_every_echo_and_answered_once_per_window() {
    let (control, told) = Recorder::wanting(Wants::NOTHING);
    let sender = Sender::new(config(Recovery::Sack, None, 1000), Box::new(control), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, Some(1000), true, &[]);
    dialogue.marking = true;
    dialogue.run(Span::from_millis(250));
    let told = told.lock().expect("one thread");
    // Nothing is marked in the first window, everything in the second: ten echoes at 200 ms, one reaction.
    let marked: Vec<u64> = told.feedback.iter().map(|it| it.marked).collect();
    assert_eq!(marked, [vec![0; 10], vec![1; 10]].concat());
    assert_eq!(told.congestion.len(), 1);
    assert_eq!((told.congestion[0].cause, millis(told.congestion[0].now)), (Cause::Mark, 200));
}

#[test]
fn a_loss_is_answered_after_a_mark_of_its_window_where_losses_count_apart() {
    use Cause::{Loss, Mark};
    // Ten segments every 100 ms, all marked from the second window on, 10 to 19, as the first acknowledgment at 200 ms says.
    // 15 of these is lost, as 18 shows, when up to 26 have left. At 300 ms the repair has arrived, and 27 is the first
    // marked one that left after the answers. 29, which has left by then, is lost, as 32 shows at 400 ms.
    for (reaction, expected) in [
        (Reaction::PerWindow, vec![(Mark, 200), (Mark, 300)]),
        (Reaction::LossesApart, vec![(Mark, 200), (Loss, 200), (Mark, 300), (Loss, 400)]),
    ] {
        let (control, told) = Recorder::wanting(Wants::NOTHING);
        let config =
            SenderConfig { counts_marks: true, reaction, ..config(Recovery::Sack, None, 1000) };
        let sender = Sender::new(config, Box::new(control), Time::ZERO);
        let mut dialogue = Dialogue::between(sender, Some(1000), true, &[15, 29]);
        dialogue.marking = true;
        dialogue.run(Span::from_millis(450));
        let told = told.lock().expect("one thread");
        let answers: Vec<_> = told.congestion.iter().map(|it| (it.cause, millis(it.now))).collect();
        assert_eq!(answers, expected, "{reaction:?}");
    }
}

#[test]
fn each_mark_is_answered_whatever_comes_with_it() {
    // As above: 10 to 14 are acknowledged, then come the blocks 16 to 19, of which 18 shows that 15 is lost. What answered the
    // marks before it has answered that loss, but not the mark of 18.
    let (control, told) = Recorder::wanting(Wants::NOTHING);
    let config = SenderConfig {
        counts_marks: true,
        reaction: Reaction::PerMark,
        ..config(Recovery::Sack, None, 1000)
    };
    let sender = Sender::new(config, Box::new(control), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, Some(1000), true, &[15]);
    dialogue.marking = true;
    dialogue.run(Span::from_millis(250));
    assert_eq!(dialogue.retransmissions(), [(200, 15)]);
    let told = told.lock().expect("one thread");
    let answers: Vec<Cause> = told.congestion.iter().map(|it| it.cause).collect();
    assert_eq!(answers, [Cause::Mark; 9]);
}

#[test]
fn two_losses_of_a_window_are_answered_once_where_losses_count_apart() {
    // Ten in flight, and 12 and 14 are lost in the second window: 17 is the third segment above 12, and 18 above 14.
    let (control, told) = Recorder::wanting(Wants::NOTHING);
    let config =
        SenderConfig { reaction: Reaction::LossesApart, ..config(Recovery::Sack, None, 1000) };
    let sender = Sender::new(config, Box::new(control), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, Some(1000), true, &[12, 14]);
    dialogue.run(Span::from_millis(450));
    let told = told.lock().expect("one thread");
    let answers: Vec<_> = told.congestion.iter().map(|it| (it.cause, millis(it.now))).collect();
    assert_eq!(answers, [(Cause::Loss, 200)]);
}

#[test]
fn counted_marks_are_told_one_by_one_even_if_acknowledgments_are_lost() {
    let (control, told) = Recorder::wanting(Wants::NOTHING);
    let config = SenderConfig { counts_marks: true, ..config(Recovery::Sack, None, 1000) };
    let sender = Sender::new(config, Box::new(control), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, Some(1000), true, &[12]);
    dialogue.marking = true;
    dialogue.run(Span::from_millis(150));
    // The second window, 10 to 19: 12 is lost, the others are marked. The acknowledgment of 10 passes that of 11, which
    // is then no news; that of 15 is lost, and its mark comes with the next.
    dialogue.acks.make_contiguous().swap(0, 1);
    let (at, _) = dialogue.acks[0];
    dialogue.acks.iter_mut().for_each(|(time, _)| *time = at);
    let lost = dialogue.acks.remove(4).expect("there are nine");
    dialogue.hold.release(lost.1.cargo());
    dialogue.run(Span::from_millis(250));
    let told = told.lock().expect("one thread");
    let marked: Vec<u64> = told.feedback[10..].iter().map(|it| it.marked).collect();
    assert_eq!(marked, [2, 1, 1, 2, 1, 1, 1]);
    assert_eq!(told.congestion.len(), 1, "one reaction per window, to the marks or to the loss");
}

#[test]
fn the_delivery_rate_of_a_constant_window_is_the_window_per_round_trip() {
    let (_, told) = listen(|_| {}, Recovery::Sack, 100_000, &[], 1050);
    // From the second round trip on: ten segments every 100 ms, whichever they are.
    let settled = told.feedback.iter().filter(|it| millis(it.now) > 200);
    let rates: Vec<f64> =
        settled.map(|it| it.rate.expect("it was asked for").per_second()).collect();
    assert_eq!(rates.len(), 80);
    assert!(rates.iter().all(|rate| (10.0..=100.0).contains(rate)), "{rates:?}");
    // By the last acknowledgment of each bunch all ten are delivered.
    assert!(rates.iter().skip(9).step_by(10).all(|rate| *rate == 100.0), "{rates:?}");
}

#[test]
fn the_rate_is_limited_by_the_application_where_it_is() {
    let (_, told) = listen(|control| control.window = 20.0, Recovery::Sack, 30, &[], 1000);
    // 20 segments leave at 0 and 10 at 100 ms, and then there are no more.
    let limited: Vec<bool> = told
        .feedback
        .iter()
        .map(|it| it.rate.is_some_and(|rate| rate.application_limited))
        .collect();
    assert_eq!(limited.len(), 30);
    assert!(limited[..20].iter().all(|limited| !limited));
    // Segments sent before the data ran out are not limited by it; the samples end with all 30 delivered.
    let samples = told.feedback.iter().filter_map(|it| it.rate);
    assert_eq!(samples.map(|rate| rate.delivered_total).max(), Some(30));
}

#[test]
fn what_leaves_after_the_data_ran_out_is_limited_by_the_application() {
    // "Delivery Rate Estimation", section 3.4. Five leave at 0, when nothing has been delivered: what leaves until more than
    // these five has been delivered is limited by that: five at 50 ms, and one at 110 ms.
    let (control, told) = Recorder::of_everything();
    let sender = Sender::new(config(Recovery::Sack, None, 5), Box::new(control), Time::ZERO);
    let mut dialogue = Dialogue::between(sender, None, true, &[]);
    assert_eq!((dialogue.offer(50, 5), dialogue.offer(110, 1)), (5, 1));
    dialogue.run(Span::from_millis(400));
    let told = told.lock().expect("one thread");
    let limited: Vec<bool> = told
        .feedback
        .iter()
        .map(|it| it.rate.is_some_and(|rate| rate.application_limited))
        .collect();
    assert_eq!(limited, [vec![false; 5], vec![true; 6]].concat());
}

/// A receiver with room for four segments, of which the sender has so many.
fn for_a_small_receiver(segments: u64) -> (Dialogue, Arc<Mutex<Told>>) {
    let (control, told) = Recorder::of_everything();
    let buffer = ReceiveBuffer::Fixed(Bytes(4 * ReceiveWindow::payload(Bytes(1000))));
    let receive_window = Some(Box::new(with_buffer(buffer)));
    let config = SenderConfig { receive_window, ..config(Recovery::Sack, None, segments) };
    let sender = Sender::new(config, Box::new(control), Time::ZERO);
    (Dialogue::between(sender, None, true, &[]), told)
}

#[test]
fn what_the_receiver_holds_back_is_not_limited_by_the_application() {
    // "Delivery Rate Estimation", section 3.4: only where there is no more to send. Four of twenty are in flight.
    let (mut dialogue, told) = for_a_small_receiver(20);
    dialogue.run(Span::from_millis(350));
    assert_eq!(dialogue.log.iter().filter(|sent| sent.0 == 300).count(), 4);
    let told = told.lock().expect("one thread");
    let limited = told.feedback.iter().filter(|it| it.rate.is_none_or(|it| it.application_limited));
    assert_eq!((told.feedback.len(), limited.count()), (12, 0));
}

#[test]
fn what_an_application_writes_waits_for_room_in_the_receive_window() {
    let (mut dialogue, _) = for_a_small_receiver(3);
    assert_eq!(dialogue.offer(50, 10), 1);
    dialogue.run(Span::from_millis(120));
    assert_eq!(dialogue.log.len(), 7);
}

#[test]
fn departures_are_told_with_what_is_in_flight() {
    let (dialogue, told) = listen(|_| {}, Recovery::Sack, 1000, &[3], 150);
    let sent: Vec<_> =
        told.sent.iter().map(|it| (millis(it.now), it.again, it.in_flight)).collect();
    assert_eq!(sent.len(), dialogue.log.len());
    assert_eq!(sent[..3], [(0, false, 1), (0, false, 2), (0, false, 3)]);
    assert_eq!(sent.iter().filter(|(_, again, _)| *again).count(), 1);
}

#[test]
fn a_time_out_that_was_none_is_told_to_those_who_ask() {
    // Every acknowledgment of the first window is held up until 1050 ms; the timer of 1 s expires first.
    let (mut dialogue, _) = listen(|_| {}, Recovery::Sack, 1000, &[], 50);
    for (time, _) in &mut dialogue.acks {
        *time = Time::ZERO + Span::from_millis(1050);
    }
    dialogue.run(Span::from_millis(1060));
    assert_eq!(dialogue.sender.measured().timeouts, 1);
    let told = format!("{:?}", dialogue.sender.control());
    assert!(told.contains("spurious: Some(Timeout)"), "{told}");

    // Nothing is told to those who do not.
    let deaf = Wants { spurious: false, ..EVERYTHING };
    let (mut dialogue, _) = listen(|it| it.wants = deaf, Recovery::Sack, 1000, &[], 50);
    for (time, _) in &mut dialogue.acks {
        *time = Time::ZERO + Span::from_millis(1050);
    }
    dialogue.run(Span::from_millis(1060));
    assert_eq!(dialogue.sender.measured().timeouts, 1);
    assert!(!format!("{:?}", dialogue.sender.control()).contains("spurious: Some"));

    // A window that is really lost: nothing is reported as spurious.
    let all: Vec<u64> = (0..10).collect();
    let (_, told) = listen(|_| {}, Recovery::Sack, 1000, &all, 3000);
    assert_eq!(told.congestion[0].cause, Cause::Timeout);
    assert!(told.feedback.iter().all(|it| it.spurious.is_none()));
}

#[test]
fn the_first_progress_alone_tells_whether_a_time_out_was_needed() {
    // RFC 3522, section 3.2: what acknowledges the retransmission decides, and that is the copy of 0. That the first 1, which
    // had left before, arrives after it says nothing.
    let (control, told) = Recorder::of_everything();
    let mut sender = Sender::new(config(Recovery::Sack, None, 1000), Box::new(control), Time::ZERO);
    while sender.poll(Time::ZERO).is_some() {}
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    sender.on_timeout(at(1000));
    assert_eq!(sender.poll(at(1000)).map(|packet| packet.number), Some(0));
    for (millis, number, sent) in [(1100, 1, at(1000)), (1110, 2, Time::ZERO)] {
        sender.on_ack(at(millis), &Packet { number, sent, ..Packet::default() }, None);
    }
    let told = told.lock().expect("one thread");
    let spurious: Vec<_> = told.feedback.iter().map(|it| (it.acked, it.spurious)).collect();
    assert_eq!(spurious, [(1, None), (1, None)]);
}

#[test]
fn a_controller_is_called_when_it_asked_to_be() {
    let (_, told) = listen(|_| {}, Recovery::Sack, 1000, &[], 200);
    let alarms: Vec<u64> = told.alarms.iter().map(|time| millis(*time)).collect();
    assert_eq!(alarms, [30, 60, 90, 120, 150, 180]);
    let (_, told) = listen(|it| it.wants = Wants::NOTHING, Recovery::Sack, 1000, &[], 200);
    assert!(told.alarms.is_empty() && told.sent.is_empty());
    assert!(told.feedback.iter().all(|it| it.rate.is_none()));
}

#[test]
fn a_rate_holds_from_the_first_segment_on() {
    let (dialogue, _) = listen(|it| it.pacing = Pacing::Rate(100.0), Recovery::Sack, 1000, &[], 95);
    let times: Vec<u64> = dialogue.log.iter().map(|&(time, _, _)| time).collect();
    assert_eq!(times, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
}

#[test]
fn each_loss_is_told_to_those_who_ask() {
    // Twelve segments, ten in flight; 2 is lost, and again when it is sent again. The blocks 3, 4 and 5 show that at 100
    // ms. The timer of 100 + 4·50 ms shows the other: everything else has arrived by then.
    let lost = |wants: Wants| {
        let (_, told) = listen(|it| it.wants = wants, Recovery::Sack, 12, &[2, 2], 1000);
        told.lost.iter().map(|it| (millis(it.now), it.segment)).collect::<Vec<_>>()
    };
    assert_eq!(lost(EVERYTHING), [(100, 2), (400, 2)]);
    assert_eq!(lost(Wants { losses: false, ..EVERYTHING }), []);
}

#[test]
fn nothing_grows_from_the_loss_on_until_recovery_is_over() {
    // 2 is lost, as block 5 shows at 100 ms, and is acknowledged at 200 ms with all that had left by then.
    let (_, told) = listen(|_| {}, Recovery::Sack, 1000, &[2], 250);
    let first = told.feedback.iter().position(|it| it.limited == Limited::Recovery);
    let last = told.feedback.iter().rposition(|it| it.limited == Limited::Recovery);
    let (first, last) = (first.expect("a recovery"), last.expect("a recovery"));
    let ends = [first, last].map(|it| told.feedback[it]);
    assert_eq!(ends.map(|it| millis(it.now)), [100, 200]);
    assert!(ends[0].recovery_begins && ends[1].acked > 0);
    assert!(told.feedback[first..=last].iter().all(|it| it.limited == Limited::Recovery));
    assert_eq!(told.recovered.iter().map(|time| millis(*time)).collect::<Vec<_>>(), [200]);
}

#[test]
fn a_probe_does_not_make_the_controller_miss_its_call() {
    // Calls every 30 ms from 40 ms on. The last of ten is lost; the probe leaves at 300 ms, and nothing comes until 400.
    let timer = Wants { timer: true, ..Wants::NOTHING };
    let begin = Time::ZERO + Span::from_millis(40);
    let set = |it: &mut Recorder| (it.wants, it.alarm) = (timer, begin);
    let (dialogue, told) = listen(set, Recovery::Rack, 10, &[9], 390);
    assert_eq!(dialogue.retransmissions(), [(300, 9)]);
    let alarms: Vec<u64> = told.alarms.iter().map(|time| millis(*time)).collect();
    assert_eq!(alarms, (40..=370).step_by(30).collect::<Vec<u64>>());
}

#[test]
fn nothing_is_heard_early_that_a_timer_a_call_or_the_end_may_change() {
    // The timer expires at 1 s; calls are every 30 ms, if any.
    let sender = |wants: Wants| {
        let (mut control, _) = Recorder::wanting(wants);
        control.alarm = Time::ZERO + Span::from_millis(30);
        let mut sender =
            Sender::new(config(Recovery::Sack, None, 10), Box::new(control), Time::ZERO);
        sender.poll(Time::ZERO).expect("a segment leaves");
        sender
    };
    let early = |wants, millis, number| {
        sender(wants).hears_early(Time::ZERO + Span::from_millis(millis), number)
    };
    assert!(early(Wants::NOTHING, 1000, 9));
    assert!(!early(Wants::NOTHING, 1001, 9), "the timer has expired");
    assert!(!early(Wants::NOTHING, 1000, 10), "everything has arrived");
    let called = Wants { timer: true, ..Wants::NOTHING };
    assert!(early(called, 30, 9) && !early(called, 31, 9));
    // One segment has left when the flow is stopped: its acknowledgment is the last one.
    let mut stopped = sender(Wants::NOTHING);
    let hears = |sender: &Sender, number| sender.hears_early(Time::ZERO + Span(1), number);
    assert!(hears(&stopped, 1));
    stopped.stop();
    assert!(!hears(&stopped, 1));
}

/// Its window grows once, from ten to twenty. It asks to be called 10 ms after data leaves again, and 20 ms after the host
/// asks for another window.
#[derive(Clone, Debug, Default)]
struct Waking {
    /// Something has been acknowledged.
    has_grown: bool,
    alarm: Option<Time>,
}

impl CongestionControl for Waking {
    fn on_feedback(&mut self, _: &Feedback, _: &Path) {
        self.has_grown = true;
    }

    fn on_congestion(&mut self, _: &Congestion, _: &Path) {}

    fn on_restart(&mut self, now: Time, _: &Path) {
        self.alarm = Some(now + Span::from_millis(10));
    }

    fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
        self.alarm = Some(event.now + Span::from_millis(20));
    }

    fn timer(&self) -> Option<Time> {
        self.alarm
    }

    fn window(&self) -> Segments {
        Segments(if self.has_grown { 20.0 } else { 10.0 })
    }

    fn wants(&self) -> Wants {
        Wants { timer: true, ..Wants::NOTHING }
    }
}

#[test]
fn a_controller_is_asked_for_its_timer_after_every_call() {
    // Five are acknowledged at 100 ms. The window is adjusted as the next ones leave, where that is what is asked for after
    // a pause.
    for (window_validation, wakes) in
        [(WindowValidation::None, 1010), (WindowValidation::Rfc5681, 1020)]
    {
        let config = SenderConfig { window_validation, ..config(Recovery::Sack, None, 5) };
        let sender = Sender::new(config, Box::<Waking>::default(), Time::ZERO);
        let mut dialogue = Dialogue::between(sender, None, true, &[]);
        dialogue.run(Span::from_millis(150));
        assert_eq!(dialogue.sender.alarm(), Time::NEVER);
        let second = Time::ZERO + Span::from_seconds(1);
        dialogue.sender.write(second, 5);
        assert!(dialogue.sender.poll(second).is_some());
        assert_eq!(millis(dialogue.sender.alarm()), wakes, "{window_validation:?}");
        // What is written while something is in flight does not leave after a pause.
        let alarm = dialogue.sender.alarm();
        dialogue.sender.write(second + Span::from_millis(5), 5);
        assert_eq!(dialogue.sender.alarm(), alarm, "{window_validation:?}");
        while dialogue.sender.poll(second).is_some() {}
        dialogue.sender.write(second + Span::from_millis(5), 5);
        assert_eq!(dialogue.sender.alarm(), alarm, "{window_validation:?}");
    }
}

/// Sends its segments together, and 20 ms apart once data leaves again after a pause.
#[derive(Clone, Debug)]
struct Softer {
    wants: Wants,
    has_paused: bool,
}

impl CongestionControl for Softer {
    fn on_feedback(&mut self, _: &Feedback, _: &Path) {}

    fn on_congestion(&mut self, _: &Congestion, _: &Path) {}

    fn on_restart(&mut self, _: Time, _: &Path) {
        self.has_paused = true;
    }

    fn pacing(&self) -> Pacing {
        if self.has_paused { Pacing::Rate(50.0) } else { Pacing::Unpaced }
    }

    fn window(&self) -> Segments {
        Segments(10.0)
    }

    fn wants(&self) -> Wants {
        self.wants
    }
}

#[test]
fn a_controller_is_asked_for_its_pacing_before_data_leaves_again() {
    for timer in [false, true] {
        let control =
            Softer { wants: Wants { pacing: true, timer, ..Wants::NOTHING }, has_paused: false };
        let sender = Sender::new(config(Recovery::Sack, None, 5), Box::new(control), Time::ZERO);
        let mut dialogue = Dialogue::between(sender, None, true, &[]);
        dialogue.run(Span::from_millis(150));
        let second = Time::ZERO + Span::from_seconds(1);
        dialogue.sender.write(second, 5);
        assert!(dialogue.sender.poll(second).is_some());
        assert!(dialogue.sender.poll(second).is_none(), "with a timer: {timer}");
        let until = dialogue.sender.pace_deadline().map(millis);
        assert_eq!(until, Some(1020), "with a timer: {timer}");
    }
}

/// Sends every third segment with the next one at its heels, and 20 ms apart else.
#[derive(Clone, Debug)]
struct Pairing {
    departures: u64,
}

impl CongestionControl for Pairing {
    fn on_feedback(&mut self, _: &Feedback, _: &Path) {}

    fn on_congestion(&mut self, _: &Congestion, _: &Path) {}

    fn on_sent(&mut self, _: &Sent, _: &Path) {
        self.departures += 1;
    }

    fn pacing(&self) -> Pacing {
        if self.departures % 3 == 2 { Pacing::Unpaced } else { Pacing::Rate(50.0) }
    }

    fn window(&self) -> Segments {
        Segments(10.0)
    }

    fn wants(&self) -> Wants {
        Wants { pacing: true, departures: true, ..Wants::NOTHING }
    }
}

#[test]
fn a_departure_may_change_the_pacing_of_the_next() {
    // Nothing is acknowledged before 100 ms. The third waits for the second, and the fourth for nothing.
    let control = Box::new(Pairing { departures: 0 });
    let sender = Sender::new(config(Recovery::Sack, None, 9), control, Time::ZERO);
    let mut dialogue = Dialogue::between(sender, None, true, &[]);
    dialogue.run(Span::from_millis(95));
    let times: Vec<u64> = dialogue.log.iter().map(|&(time, _, _)| time).collect();
    assert_eq!(times, [0, 20, 40, 40, 60, 80, 80]);
}
