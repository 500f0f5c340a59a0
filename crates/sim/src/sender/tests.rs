//! Loss repair, checked by hand: a sender and a receiver over a wire of constant delay that loses the segments listed.

mod increase;
mod numbered;
mod pacing;
mod probes;
mod rack;
mod repairs;
mod resize;
mod responses;
mod timeouts;
mod wishes;

use std::collections::{BTreeSet, VecDeque};
use std::mem::offset_of;

use longfat_control::{CONTROLLERS, CongestionControl, Pacing, Reaction, Sending, Start};
use longfat_scenario::{Recovery, RtoEstimator, RtoRestart, WindowValidation};
use longfat_units::{Ecn, Segments, Span, Time, fault};

use super::{BurstSender, MOST_IN_FLIGHT, Sender, SenderConfig, Sends, State, Tracing};
use crate::cargo::Hold;
use crate::explicit::{Listener, Negotiation};
use crate::flow::Flow;
use crate::packet::{Flags, Packet};
use crate::receiver::{Echo, Intervals, Receiver};

const RTT: Span = Span::from_millis(100);

/// Of the structures inside, what acknowledgments need lies where they begin, or end.
#[test]
fn what_an_acknowledgment_needs_lies_on_nine_lines_of_the_cache() {
    // In `Source`, the variant with a sender of this alignment.
    let begin = offset_of!(Flow, source) + align_of::<Sender>();
    let lines: BTreeSet<usize> = [
        offset_of!(Sender, unacknowledged),
        offset_of!(Sender, next),
        offset_of!(Sender, sendable),
        offset_of!(Sender, allowed),
        offset_of!(Sender, extras),
        offset_of!(Sender, alarm),
        offset_of!(Sender, early_below),
        offset_of!(Sender, least),
        offset_of!(Sender, once),
        offset_of!(Sender, new_flags),
        offset_of!(Sender, limited),
        offset_of!(Sender, state),
        offset_of!(Sender, control),
        offset_of!(Sender, scoreboard),
        offset_of!(Sender, scoreboard) + 64,
        offset_of!(Sender, timer),
        offset_of!(Sender, timer) + 64,
        offset_of!(Sender, duplicates) - 1,
        offset_of!(Sender, duplicates),
        offset_of!(Sender, measured.total_sent),
        offset_of!(Sender, measured.acknowledgments),
        offset_of!(Sender, measured.window),
        offset_of!(Sender, config.flow),
        offset_of!(Sender, config.propagation),
        offset_of!(Sender, config.recovery),
    ]
    .into_iter()
    .map(|offset| (begin + offset) / 64)
    .collect();
    assert_eq!(align_of::<Flow>(), 64);
    assert_eq!(lines.len(), 9, "{lines:?}");
}

/// One data packet as it left: when, which segment, and whether it had been sent before.
type LogEntry = (u64, u64, bool);

/// A conversation with one kind of sender: TCP's unless stated.
struct Dialogue<S = Sender> {
    sender: S,
    receiver: Receiver,
    hold: Hold,
    now: Time,
    acks: VecDeque<(Time, Packet)>,
    /// Segments still to be lost, once for each time they are listed.
    lost: Vec<u64>,
    /// Does a router mark every ECN-capable packet?
    marking: bool,
    /// Does no link have capacity to spare?
    crowded: bool,
    /// What was sent: milliseconds, segment, retransmission.
    log: Vec<LogEntry>,
    /// The ranks of the packets sent.
    ranks: Vec<u32>,
}

/// A sender that asks for no explicit signals.
fn config(recovery: Recovery, pacing: Option<Pacing>, segments: u64) -> SenderConfig {
    SenderConfig {
        flow: 0,
        bytes: 1000,
        segments: Some(segments),
        application: false,
        max_window: u64::MAX,
        receive_window: None,
        recovery,
        rto_min: Span::from_millis(200),
        rto_tick: None,
        rto_estimator: RtoEstimator::Rfc6298,
        rto_restart: RtoRestart::First,
        ecn: Ecn::Ect0,
        counts_marks: false,
        pacing,
        send_quantum: None,
        window_validation: WindowValidation::None,
        careful_resume: None,
        reaction: Reaction::PerWindow,
        listener: Listener::new(Negotiation::NotAsked),
        propagation: RTT,
        first_rtt: RTT,
        acks_pass: false,
        ack_delay: Span::ZERO,
        traced: Tracing::Off,
        delay_percentiles: false,
        member: None,
    }
}

impl Dialogue {
    /// A Reno flow in congestion avoidance with this window, over a wire that loses `lost`.
    fn new(window: f64, segments: u64, lost: &[u64]) -> Self {
        Self::with(Recovery::Sack, window, segments, lost)
    }

    fn with(recovery: Recovery, window: f64, segments: u64, lost: &[u64]) -> Self {
        Self::under("reno", recovery, window, segments, lost)
    }

    fn under(control: &str, recovery: Recovery, window: f64, segments: u64, lost: &[u64]) -> Self {
        let start = Start {
            window: Segments(window),
            threshold: Some(Segments(2.0)),
            access: Some(1000.0),
            ..Start::default()
        };
        Self::starting(control, &start, recovery, None, segments, lost)
    }

    /// An AntiECN flow in congestion avoidance, over a path whose routers do or do not all take part.
    fn anti_ecn(negotiation: Negotiation, window: f64, lost: &[u64]) -> Self {
        let start =
            Start { window: Segments(window), threshold: Some(Segments(2.0)), ..Start::default() };
        let listener = Listener::new(negotiation);
        let config = SenderConfig { listener, ..config(Recovery::Sack, None, 1_000_000) };
        Self::of("anti-ecn", &start, config, lost)
    }

    /// A Reno flow with selective acknowledgments, paced as the scenario says.
    fn paced(start: &Start, pacing: Pacing, segments: u64, lost: &[u64]) -> Self {
        Self::starting("reno", start, Recovery::Sack, Some(pacing), segments, lost)
    }

    fn starting(
        control: &str,
        start: &Start,
        recovery: Recovery,
        pacing: Option<Pacing>,
        segments: u64,
        lost: &[u64],
    ) -> Self {
        Self::of(control, start, config(recovery, pacing, segments), lost)
    }

    fn of(control: &str, start: &Start, config: SenderConfig, lost: &[u64]) -> Self {
        let (selective, segments) = (config.recovery.is_selective(), config.segments);
        let control = windowed(control, start);
        Self::between(Sender::new(config, control, Time::ZERO), segments, selective, lost)
    }

    fn window(&self) -> f64 {
        self.sender.control().window().0
    }
}

impl Dialogue<BurstSender> {
    /// A Blitz flow: one segment per millisecond.
    fn blitz(config: SenderConfig, lost: &[u64]) -> Self {
        let start = Start { access: Some(1000.0), ..Start::default() };
        let Sending::Bursts(bursts) = sending("blitz", &start) else {
            unreachable!("it has no window")
        };
        let segments = config.segments;
        Self::between(BurstSender::new(config, bursts, Time::ZERO), segments, false, lost)
    }
}

/// How the controller of this name sends.
fn sending(control: &str, start: &Start) -> Sending {
    let controller =
        CONTROLLERS.iter().find(|entry| entry.name == control).expect("a known controller");
    (controller.build)(&controller.defaults(), start)
}

/// The same of one that has a window.
fn windowed(control: &str, start: &Start) -> Box<dyn CongestionControl> {
    let Sending::Windowed(control) = sending(control, start) else {
        unreachable!("it has a window")
    };
    control
}

/// Reno in congestion avoidance with this window.
fn reno_avoiding(window: f64) -> Box<dyn CongestionControl> {
    let (window, threshold) = (Segments(window), Some(Segments(2.0)));
    windowed("reno", &Start { window, threshold, ..Start::default() })
}

impl<S: Sends> Dialogue<S> {
    fn between(sender: S, segments: Option<u64>, selective: bool, lost: &[u64]) -> Self {
        let counts = sender.config().counts_marks;
        let echo = if counts { Echo::Count } else { Echo::UntilAnswered };
        let mut dialogue = Self {
            receiver: Receiver::new(segments, selective, None, echo, &Intervals::WHOLE),
            sender,
            hold: Hold::default(),
            now: Time::ZERO,
            acks: VecDeque::new(),
            lost: lost.to_vec(),
            marking: false,
            crowded: false,
            log: Vec::new(),
            ranks: Vec::new(),
        };
        dialogue.send();
        dialogue
    }

    fn send(&mut self) {
        while let Some(mut packet) = self.sender.poll(self.now) {
            let again = packet.flags.has(Flags::RETRANSMISSION);
            self.log.push((self.now.0 / 1_000_000_000, packet.number, again));
            self.ranks.push(packet.rank());
            if let Some(at) = self.lost.iter().position(|&segment| segment == packet.number) {
                self.lost.remove(at);
                continue;
            }
            if self.marking && packet.flags.ecn().is_capable() {
                packet.flags = packet.flags.with_ecn(Ecn::Ce);
            }
            if self.crowded {
                packet.flags = packet.flags.without(Flags::SPARE);
            }
            let ack = self.receiver.on_data(&packet, self.now + RTT / 2, &mut self.hold);
            self.acks
                .push_back((self.now + RTT, ack.expect("every segment is acknowledged at once")));
        }
    }

    /// Runs until nothing more happens, or until `until`.
    fn run(&mut self, until: Span) {
        while self.step(until) {}
    }

    /// Handles what happens next, unless that is nothing or after `until`. Was there anything?
    fn step(&mut self, until: Span) -> bool {
        let ack_at = self.acks.front().map_or(Time::NEVER, |(time, _)| *time);
        let paced = self.sender.pace_deadline().unwrap_or(Time::NEVER);
        let alarm = self.sender.alarm();
        let next = ack_at.min(self.sender.deadline()).min(paced).min(alarm);
        if next == Time::NEVER || next > Time::ZERO + until {
            return false;
        }
        self.now = next;
        if next == alarm && next < ack_at {
            self.sender.on_alarm(next);
        } else if next == paced && next < ack_at {
            // Pacing alone released something.
        } else if ack_at <= self.sender.deadline() {
            let (_, ack) = self.acks.pop_front().expect("an acknowledgment is due");
            let cargo = ack.cargo().map(|handle| self.hold.take(handle));
            self.sender.on_ack(self.now, &ack, cargo.as_ref());
        } else {
            self.sender.on_timeout(self.now);
        }
        self.send();
        true
    }

    fn retransmissions(&self) -> Vec<(u64, u64)> {
        self.log
            .iter()
            .filter(|(_, _, again)| *again)
            .map(|&(time, segment, _)| (time, segment))
            .collect()
    }
}

#[test]
fn three_losses_in_one_window_are_repaired_in_one_round_trip() {
    // Ten segments in flight; 2, 4 and 6 are lost. At 100 ms the acknowledgments of 0, 1 and the blocks 3 and 5 release
    // 10 to 13; block 7 is the third above 2, which is thus lost and leaves at once: the window falls from 10.2 to 5.1,
    // the pipe holds 12 outstanding − 3 known to have arrived − 1 lost + 1 sent again = 9. Blocks 8 and 9 show 4 and 6
    // lost and bring the pipe to 5, which is full. At 200 ms the blocks 10 and 11 make room for 4 and for 6.
    let mut dialogue = Dialogue::new(10.0, 40, &[2, 4, 6]);
    dialogue.run(Span::from_millis(250));
    assert_eq!(dialogue.retransmissions(), [(100, 2), (200, 4), (200, 6)]);
    assert_eq!(dialogue.sender.measured().congestion_events, 1, "one window, one reduction");
    assert_eq!(dialogue.sender.measured().timeouts, 0);
    dialogue.run(Span::from_seconds(60));
    assert_eq!(dialogue.receiver.received().first, 40);
    assert_eq!(dialogue.receiver.received().again, 0, "nothing was sent twice in vain");
}

#[test]
fn recovery_halves_the_window_once_and_the_pipe_follows() {
    let mut dialogue = Dialogue::new(20.0, 1000, &[5]);
    dialogue.run(Span::from_millis(199));
    // Five acknowledgments had raised the window to about 20 + 5/20 before the loss was seen.
    assert!((dialogue.window() - 10.12).abs() < 0.01, "window {}", dialogue.window());
    assert!(dialogue.sender.in_flight() <= 10);
    assert_eq!(dialogue.retransmissions(), [(100, 5)]);
}

#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    // RFC 6675 cannot detect the loss of a retransmission: only the timer can.
    let mut dialogue = Dialogue::new(10.0, 12, &[2, 2]);
    dialogue.run(Span::from_seconds(10));
    // First try at 100 ms. Nothing is rescued: section 5, step 4.3 wants more than that acknowledged first. The last
    // acknowledgment to advance the window comes at 100 ms: round trip 100, variation 50, so the timer expires
    // 300 ms later.
    assert_eq!(dialogue.retransmissions(), [(100, 2), (400, 2)]);
    assert_eq!(dialogue.sender.measured().timeouts, 1);
    assert_eq!(dialogue.receiver.received().first, 12);
    assert!(dialogue.sender.is_done());
}

/// A paced Reno flow of 20 segments per round trip, over a wire that loses `lost`; its time-out is 110 ms once the
/// variation of the first round trip is forgotten.
fn on_a_short_timer(restart: RtoRestart, lost: &[u64]) -> Dialogue {
    let start =
        Start { window: Segments(20.0), threshold: Some(Segments(2.0)), ..Start::default() };
    let config = SenderConfig {
        rto_min: Span::from_millis(110),
        rto_restart: restart,
        ..config(Recovery::Sack, Some(Pacing::Spread { gain: 1.0 }), 1000)
    };
    let mut dialogue = Dialogue::of("reno", &start, config, lost);
    dialogue.run(Span::from_seconds(60));
    assert!(dialogue.sender.is_done());
    dialogue
}

#[test]
fn the_timer_waits_for_the_retransmission_of_what_it_waits_for() {
    // Segments are some 4 ms apart, so the third one above is reported 16 ms after the last progress, and the
    // retransmission takes another 100 ms. To the letter of RFC 6298 that is too late.
    let timeouts = |restart| on_a_short_timer(restart, &[400]).sender.measured().timeouts;
    assert_eq!(timeouts(RtoRestart::Never), 1);
    assert_eq!(timeouts(RtoRestart::First), 0);
    assert_eq!(timeouts(RtoRestart::Each), 0);
}

#[test]
fn which_retransmissions_restart_the_timer() {
    // 400 is lost, and again when it is sent again; 410 is lost too. The time-out then sends 400 for the third time.
    let (mut firsts, mut thirds) = (Vec::new(), Vec::new());
    for restart in [RtoRestart::First, RtoRestart::Each] {
        let dialogue = on_a_short_timer(restart, &[400, 400, 410]);
        assert_eq!(dialogue.sender.measured().timeouts, 1);
        let again = dialogue.retransmissions();
        assert_eq!((again[0].1, again[1].1, again[2].1), (400, 410, 400), "{again:?}");
        firsts.push((again[0].0, again[1].0));
        thirds.push(again[2].0);
    }
    let (first, other) = firsts[0];
    assert_eq!(firsts[1], (first, other), "so far they are the same");
    assert!(other > first, "410 is missed later");
    assert_eq!(thirds, [first + 110, other + 110]);
}

#[test]
fn time_outs_back_off() {
    // A single segment lost four times: until a round trip is known the timer is 1 s, and doubles.
    let mut dialogue = Dialogue::new(1.0, 1, &[0, 0, 0, 0]);
    dialogue.run(Span::from_seconds(60));
    assert_eq!(dialogue.retransmissions(), [(1000, 0), (3000, 0), (7000, 0), (15_000, 0)]);
    assert_eq!(dialogue.sender.measured().timeouts, 4);
    assert!(dialogue.sender.is_done());
}

#[test]
fn after_a_time_out_the_whole_window_is_repaired_in_slow_start() {
    // All ten segments are lost. After the time-out: 1, then 2, 4, … segments per round trip.
    let all: Vec<u64> = (0..10).collect();
    let mut dialogue = Dialogue::new(10.0, 10, &all);
    dialogue.run(Span::from_seconds(10));
    assert_eq!(
        dialogue.retransmissions(),
        [
            (1000, 0),
            (1100, 1),
            (1100, 2),
            (1200, 3),
            (1200, 4),
            (1200, 5),
            (1200, 6),
            // The threshold is half of the ten in flight: from five on, one more per round trip.
            (1300, 7),
            (1300, 8),
            (1300, 9),
        ]
    );
    assert!(dialogue.sender.is_done());
}

#[test]
fn nothing_is_sent_twice_for_a_single_loss() {
    // The end of the flow, with nothing new to send: RFC 6582 and RFC 5681 know no rescue, and RFC 6675 none before more
    // than the first retransmission has been acknowledged.
    for recovery in [Recovery::Sack, Recovery::NewReno, Recovery::Reno] {
        let mut dialogue = Dialogue::with(recovery, 8.0, 8, &[4]);
        dialogue.run(Span::from_seconds(10));
        assert_eq!(dialogue.retransmissions(), [(100, 4)], "{recovery:?}");
        assert_eq!(dialogue.sender.measured().timeouts, 0);
        assert!(dialogue.sender.is_done());
    }
}

#[test]
fn a_lost_tail_in_recovery_is_rescued_once() {
    // 2 is lost, and so is the last segment, which nothing follows that could reveal it. In recovery, with nothing else
    // to send, RFC 6675 sends the highest unacknowledged segment once more (rule 4), and avoids a time-out: once the
    // retransmission of 2 has been acknowledged (section 5, step 4.3), and only once.
    let mut dialogue = Dialogue::new(8.0, 8, &[2, 7]);
    dialogue.run(Span::from_seconds(10));
    assert_eq!(dialogue.retransmissions(), [(100, 2), (200, 7)]);
    assert_eq!(dialogue.sender.measured().timeouts, 0);
    assert!(dialogue.sender.is_done());
}

#[test]
fn nothing_grows_while_the_application_has_nothing_to_send() {
    let mut dialogue = Dialogue::new(10.0, 5, &[]);
    dialogue.run(Span::from_seconds(1));
    assert!(dialogue.sender.is_done());
    assert_eq!(dialogue.window(), 10.0);
}

#[test]
fn newreno_repairs_one_loss_per_round_trip() {
    // RFC 6582: each partial acknowledgment retransmits the next hole, one per round trip; the window falls once.
    let mut dialogue = Dialogue::with(Recovery::NewReno, 10.0, 40, &[2, 4, 6]);
    dialogue.run(Span::from_seconds(60));
    assert_eq!(dialogue.retransmissions(), [(100, 2), (200, 4), (300, 6)]);
    assert_eq!(dialogue.sender.measured().congestion_events, 1);
    assert_eq!(dialogue.sender.measured().timeouts, 0);
    assert!(dialogue.sender.is_done());
}

#[test]
fn reno_falls_once_per_loss_and_then_waits_for_the_timer() {
    // The partial acknowledgment ends Reno's recovery. The second loss gets its three duplicates and a second halving, as
    // if it had come later; by the third the window is too small for three duplicates, which leaves only the timer.
    let mut dialogue = Dialogue::with(Recovery::Reno, 40.0, 200, &[2, 20, 30]);
    dialogue.run(Span::from_seconds(60));
    assert_eq!(dialogue.retransmissions(), [(100, 2), (200, 20), (600, 30)]);
    let counts = dialogue.sender.measured();
    assert_eq!((counts.congestion_events, counts.timeouts), (2, 1));
    assert!(dialogue.sender.is_done());
}

#[test]
fn one_loss_is_the_same_to_all_three() {
    let repaired = |recovery| {
        let mut dialogue = Dialogue::with(recovery, 10.0, 40, &[3]);
        dialogue.run(Span::from_seconds(60));
        assert!(dialogue.sender.is_done());
        assert_eq!(dialogue.sender.measured().congestion_events, 1);
        dialogue.retransmissions()
    };
    assert_eq!(repaired(Recovery::Sack), [(100, 3)]);
    assert_eq!(repaired(Recovery::NewReno), [(100, 3)]);
    assert_eq!(repaired(Recovery::Reno), [(100, 3)]);
}

#[test]
fn after_a_time_out_copies_of_what_arrived_tell_nothing() {
    // RFC 6582, section 4: 0 is lost twice, which leaves only the timer, and more of the window is missing. In slow
    // start the sender repeats everything in between, and each copy of a segment the receiver has triggers a duplicate.
    // These neither raise the window nor indicate a loss. 170 is new data and lost: what is sent after it counts.
    for recovery in [Recovery::NewReno, Recovery::Reno] {
        let lost = [0, 0, 8, 9, 10, 11, 24, 25, 26, 32, 170];
        let mut dialogue = Dialogue::with(recovery, 40.0, 200, &lost);
        dialogue.run(Span::from_millis(300));
        assert_eq!(dialogue.sender.measured().timeouts, 0);
        let before = dialogue.log.len();
        for millis in 301..10_000 {
            dialogue.run(Span::from_millis(millis));
            let (flight, window) = (dialogue.sender.in_flight(), dialogue.sender.allowed);
            let recovering = matches!(dialogue.sender.state, State::Recovery { .. });
            // Plus two by limited transmit.
            assert!(
                recovering || millis < 1000 || flight <= window + 2,
                "{flight} in flight, window {window}"
            );
        }
        let mut again: Vec<u64> =
            dialogue.log[before..].iter().filter(|sent| sent.2).map(|sent| sent.1).collect();
        assert!(again.is_sorted(), "{again:?}");
        assert_eq!(again.last(), Some(&170));
        let count = again.len();
        again.dedup();
        assert_eq!(again.len(), count, "{recovery:?} sends a segment twice after the time-out");
        assert!(dialogue.sender.is_done());
        assert_eq!(dialogue.sender.measured().timeouts, 1, "{recovery:?}");
        assert_eq!(dialogue.sender.measured().congestion_events, 2, "{recovery:?}");
    }
}

#[test]
fn continuous_marking_halves_the_window_once_per_round_trip() {
    // RFC 3168, section 6.1.2: at most one reaction per window of data. Every packet of every window is marked.
    let mut dialogue = Dialogue::new(64.0, 10_000, &[]);
    dialogue.marking = true;
    let mut windows = Vec::new();
    for round in 1..=5 {
        dialogue.run(Span::from_millis(100 * round + 50));
        windows.push(dialogue.window());
    }
    // The first window left before marking began and grew by one; from then on it halves each round trip and does not
    // grow in between, since every acknowledgment carries the echo.
    assert!((windows[0] - 65.0).abs() < 0.01, "{windows:?}");
    for pair in windows.windows(2) {
        assert_eq!(pair[1], pair[0] / 2.0);
    }
    assert_eq!(dialogue.sender.measured().congestion_events, 4);
    assert!(dialogue.retransmissions().is_empty());
}

#[test]
fn a_loss_in_a_window_that_a_mark_has_halved_is_not_answered_again() {
    // RFC 3168, section 6.1.2: one reaction per window, whether to marks or losses. The second window, segments 20 to
    // 40, is marked and loses 25.
    let mut dialogue = Dialogue::new(20.0, 1000, &[25]);
    dialogue.marking = true;
    dialogue.run(Span::from_millis(150));
    let before = dialogue.window();
    dialogue.run(Span::from_millis(250));
    assert_eq!(dialogue.sender.measured().congestion_events, 1);
    assert_eq!(dialogue.retransmissions(), [(200, 25)], "the loss is repaired all the same");
    assert_eq!(dialogue.window(), before / 2.0);
}

#[test]
fn a_loss_after_a_reduction_is_answered_though_its_recovery_began_with_an_older_one() {
    // Segments 20 to 39 are marked; their first echo halves the window at 200 ms, and 40 to 49 leave then. 39 was lost
    // before, which the mark has answered; 45 is another window's, so it is answered too, once (RFC 5681, section 3.2).
    for recovery in [Recovery::Sack, Recovery::Rack, Recovery::NewReno] {
        let events = |lost: &[u64]| {
            let mut dialogue = Dialogue::with(recovery, 20.0, 1000, lost);
            dialogue.marking = true;
            dialogue.run(Span::from_millis(150));
            dialogue.marking = false;
            dialogue.run(Span::from_millis(550));
            let again: Vec<u64> = dialogue.retransmissions().iter().map(|sent| sent.1).collect();
            assert_eq!((again, dialogue.sender.measured().timeouts), (lost.to_vec(), 0));
            (dialogue.sender.measured().congestion_events, dialogue.window())
        };
        let (older, both, three) = (events(&[39]), events(&[39, 45]), events(&[39, 42, 45]));
        assert_eq!((older.0, both.0), (1, 2), "{recovery:?}");
        assert!(both.1 < older.1 * 0.6, "{recovery:?}: {older:?}, {both:?}");
        assert_eq!(three.0, 2, "{recovery:?}: one for the window");
    }
}

#[test]
fn only_new_data_can_be_marked() {
    // RFC 3168, section 6.1.5: no retransmission is sent as ECN-capable; 6.1.4: nor is a pure acknowledgment.
    let start = Start { window: Segments(10.0), ..Start::default() };
    let control = windowed("reno", &start);
    let mut sender = Sender::new(config(Recovery::Sack, None, 40), control, Time::ZERO);
    let new = std::iter::from_fn(|| sender.poll(Time::ZERO));
    assert_eq!(new.map(|packet| packet.flags.ecn()).collect::<Vec<_>>(), [Ecn::Ect0; 10]);
    let mut dialogue = Dialogue::new(10.0, 40, &[2]);
    assert!(!dialogue.acks.is_empty());
    assert!(dialogue.acks.iter().all(|(_, ack)| !ack.flags.ecn().is_capable()));
    dialogue.sender.on_timeout(Time::ZERO + Span::from_seconds(1));
    let again = dialogue.sender.poll(Time::ZERO + Span::from_seconds(1)).expect("a retransmission");
    assert!(again.flags.has(Flags::RETRANSMISSION) && !again.flags.ecn().is_capable());
}

#[test]
fn the_echo_lasts_until_the_sender_says_that_it_has_reduced() {
    // RFC 3168, section 6.1.3. One packet of a window of four is marked.
    let mut dialogue = Dialogue::new(4.0, 100, &[]);
    let echoed: Vec<bool> =
        dialogue.acks.iter().map(|(_, ack)| ack.flags.has(Flags::ECHO)).collect();
    assert_eq!(echoed, [false; 4]);
    dialogue.marking = true;
    dialogue.run(Span::from_millis(100));
    dialogue.marking = false;
    let marked = dialogue.acks.len();
    assert!(dialogue.acks.iter().all(|(_, ack)| ack.flags.has(Flags::ECHO)), "{marked} marked");
    dialogue.run(Span::from_millis(250));
    assert_eq!(dialogue.sender.measured().congestion_events, 1);
    // The first new segment after the reduction carried CWR, so acknowledgments since then carry no echo.
    assert!(dialogue.acks.iter().all(|(_, ack)| !ack.flags.has(Flags::ECHO)));
}

#[test]
fn an_echo_from_before_a_time_out_does_not_hold_its_repair_up() {
    // Segment 8 is marked, and 9 to 15 are lost. No new data leaves that could end the echo, and still the repair is a
    // slow start: 1, 2 and 3 segments, half of the 7 that were in flight, then the last.
    let lost: Vec<u64> = (9..16).collect();
    let mut dialogue = Dialogue::new(8.0, 100, &lost);
    dialogue.run(Span::from_millis(50));
    dialogue.marking = true;
    dialogue.run(Span::from_millis(250));
    assert!(dialogue.acks.is_empty(), "no more is sent until the time-out");
    dialogue.run(Span::from_seconds(2));
    let begun = dialogue.retransmissions()[0].0;
    let repairs = dialogue.retransmissions();
    let after: Vec<_> =
        repairs.iter().map(|(at, segment)| ((at - begun) / 100, *segment)).collect();
    assert_eq!(after, [(0, 9), (1, 10), (1, 11), (2, 12), (2, 13), (2, 14), (3, 15)]);
}

#[test]
fn two_duplicates_let_two_new_segments_go() {
    // Limited transmit (RFC 3042; RFC 6675, section 5, step 3): 2 is lost and the window is full. The acknowledgments
    // of 0 and 1 release 10 and 11, and the first two duplicates one more each, before the third starts recovery.
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let mut dialogue = Dialogue::with(recovery, 10.0, 1000, &[2]);
        dialogue.run(Span::from_millis(150));
        let new: Vec<u64> =
            dialogue.log[10..].iter().filter(|(_, _, again)| !again).map(|sent| sent.1).collect();
        assert_eq!(new[..4], [10, 11, 12, 13], "{recovery:?}");
        assert_eq!(dialogue.retransmissions()[0], (100, 2));
    }
}

#[test]
fn a_paced_window_is_spread_over_the_round_trip() {
    // EXP-TCP paces one window per smoothed round trip. Until the first round trip is known the window of 20 leaves at
    // once; its acknowledgments come at 100 ms, and what they release leaves every 100/20 ms from then on.
    let mut dialogue = Dialogue::under("exp", Recovery::Sack, 20.0, 10_000, &[]);
    dialogue.run(Span::from_millis(199));
    let second: Vec<u64> = dialogue.log[20..].iter().map(|&(time, _, _)| time).collect();
    assert_eq!(second.len(), 20, "{second:?}");
    for (index, time) in second.iter().enumerate() {
        // The window grows by less than one segment meanwhile: 5 ms each, and a quarter of a millisecond less at the
        // end.
        assert!(time.abs_diff(100 + 5 * index as u64) <= 5, "{second:?}");
    }
    // Reno sends the same window in one burst.
    let mut dialogue = Dialogue::with(Recovery::Sack, 20.0, 10_000, &[]);
    dialogue.run(Span::from_millis(199));
    assert!(dialogue.log[20..].iter().all(|&(time, _, _)| time == 100));
}

fn blitz(segments: u64, lost: &[u64]) -> Dialogue<BurstSender> {
    Dialogue::blitz(config(Recovery::Sack, None, segments), lost)
}

#[test]
fn a_burst_leaves_at_the_access_rate_with_falling_priority() {
    let mut dialogue = blitz(50, &[]);
    dialogue.run(Span::from_seconds(10));
    let expected: Vec<LogEntry> = (0..50).map(|segment| (segment, segment, false)).collect();
    assert_eq!(dialogue.log, expected);
    assert_eq!(dialogue.ranks, (0..50).collect::<Vec<u32>>());
    assert!(dialogue.sender.is_done());
}

#[test]
fn a_loss_begins_a_new_burst_at_the_lost_segment() {
    // 4 is lost; 5, 6 and 7, sent at 5, 6 and 7 ms, trigger the three duplicates at 105, 106 and 107 ms. Everything
    // from 4 on is sent again, the highest priority first. Whatever had arrived arrives twice.
    let mut dialogue = blitz(10, &[4]);
    dialogue.run(Span::from_seconds(10));
    let again = [(107, 4), (108, 5), (109, 6), (110, 7), (111, 8), (112, 9)];
    assert_eq!(dialogue.retransmissions(), again);
    assert_eq!(dialogue.ranks[10..], [0, 1, 2, 3, 4, 5]);
    assert_eq!(dialogue.receiver.received().again, 5);
    assert_eq!(dialogue.sender.measured().congestion_events, 1);
    assert!(dialogue.sender.is_done());
}

#[test]
fn a_burst_skips_what_is_acknowledged_and_restarts_once_for_a_loss() {
    // By 107 ms, 0 to 106 have left. From then on one segment is sent again per millisecond, from 4 on, until at 207 ms
    // the acknowledgment of the new 4 shows that everything but 107 has arrived. The hundred duplicates caused by
    // second arrivals, until 306 ms, mean nothing.
    let mut dialogue = blitz(1000, &[4]);
    dialogue.run(Span::from_seconds(10));
    let again: Vec<(u64, u64)> = (0..100).map(|n| (107 + n, 4 + n)).collect();
    assert_eq!(dialogue.retransmissions(), again);
    assert_eq!(dialogue.log[207], (207, 107, false));
    assert_eq!(dialogue.ranks[207], 107 - 4);
    assert_eq!(dialogue.sender.measured().congestion_events, 1);
    assert!(dialogue.sender.is_done());
}

#[test]
fn only_duplicates_of_the_first_missing_segment_tell_of_its_loss() {
    // Ten segments leave, one each millisecond. Two duplicates say that 1 is missing; then it comes, and two more that 4 is.
    // What was acknowledged before comes late, and says nothing; the third one of 4 does.
    let mut dialogue = blitz(10, &[]);
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    for millis in 1..10 {
        assert!(dialogue.sender.poll(at(millis)).is_some());
    }
    let mut hear = |number, sent| {
        dialogue.sender.on_ack(
            at(120),
            &Packet { number, sent: at(sent), ..Packet::default() },
            None,
        );
        dialogue.sender.measured().congestion_events
    };
    let told = [(1, 0), (1, 2), (1, 3), (4, 1), (4, 5), (4, 6), (1, 7), (3, 7), (4, 8)];
    assert_eq!(told.map(|(number, sent)| hear(number, sent)), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_stopped_burst_repeats_what_is_lost_and_sends_nothing_new() {
    // 50 have left when it is stopped, and 4 of them is lost.
    let mut dialogue = blitz(1000, &[4]);
    dialogue.run(Span::from_millis(49));
    dialogue.sender.stop();
    assert!(!dialogue.sender.is_done());
    dialogue.run(Span::from_seconds(10));
    assert!(dialogue.sender.is_done());
    assert_eq!(dialogue.log.iter().filter(|sent| !sent.2).count(), 50);
    // Everything has been sent: it ends where it would.
    let mut dialogue = blitz(10, &[]);
    dialogue.run(Span::from_millis(50));
    dialogue.sender.stop();
    dialogue.run(Span::from_seconds(10));
    assert!(dialogue.sender.is_done() && dialogue.log.len() == 10);
}

#[test]
fn several_losses_of_a_burst_are_one_event() {
    let mut dialogue = blitz(40, &[4, 10, 11, 30]);
    dialogue.run(Span::from_seconds(10));
    assert_eq!(dialogue.retransmissions()[0], (107, 4));
    assert_eq!(dialogue.sender.measured().congestion_events, 1);
    assert_eq!(dialogue.sender.measured().timeouts, 0);
    assert!(dialogue.sender.is_done());
}

#[test]
fn a_segment_lost_twice_shows_by_what_follows_it_in_its_burst() {
    // The burst from 4 on begins at 107 ms. Its 5, 6 and 7 leave at 108, 109 and 110 ms, and trigger the duplicates
    // that count. Those from the first burst, until 206 ms, do not. Each burst restarts the timer.
    let mut dialogue = blitz(1000, &[4, 4]);
    dialogue.run(Span::from_seconds(10));
    let restarts: Vec<(u64, u64)> =
        dialogue.retransmissions().into_iter().filter(|(_, segment)| *segment == 4).collect();
    assert_eq!(restarts, [(107, 4), (210, 4)]);
    assert_eq!(dialogue.sender.measured().congestion_events, 2);
    assert_eq!(dialogue.sender.measured().timeouts, 0);
    assert!(dialogue.sender.is_done());
}

#[test]
fn the_lost_end_of_a_burst_waits_for_the_timer() {
    // The last progress is at 108 ms; round trip 100, variation 50: the timer expires 300 ms later.
    let mut dialogue = blitz(10, &[9]);
    dialogue.run(Span::from_seconds(10));
    assert_eq!(dialogue.retransmissions(), [(408, 9)]);
    assert_eq!(dialogue.ranks[10], 0);
    assert_eq!(dialogue.sender.measured().timeouts, 1);
    assert!(dialogue.sender.is_done());
}

#[test]
fn bursts_carry_nothing_that_can_be_marked_and_heed_the_receiver() {
    let bounded = SenderConfig { max_window: 20, ..config(Recovery::Sack, None, 1000) };
    let mut dialogue = Dialogue::blitz(bounded, &[4]);
    dialogue.run(Span::from_seconds(60));
    assert!(dialogue.sender.is_done());
    // Twenty per round trip; the restart stays within the window too.
    assert_eq!(dialogue.log[20], (100, 20, false));
    assert!(dialogue.retransmissions().contains(&(107, 4)), "{:?}", dialogue.retransmissions());
}

#[test]
fn a_window_beyond_all_paths_is_told_once_so_many_are_in_flight() {
    let start = Start { window: Segments(1e12), ..Start::default() };
    let in_flight = |max_window: u64, segments: u64| {
        let config = SenderConfig { max_window, ..config(Recovery::Sack, None, segments) };
        let control = windowed("reno", &start);
        let mut sender = Sender::new(config, control, Time::ZERO);
        let sent = std::iter::from_fn(|| sender.poll(Time::ZERO)).count() as u64;
        (sent, fault::take().map(|fault| fault.what))
    };
    let most = MOST_IN_FLIGHT;
    let (sent, fault) = in_flight(most, most + 1);
    assert_eq!(sent, most);
    assert!(fault.is_some_and(|what| what.starts_with("33554432 segments are in flight")));
    assert_eq!(in_flight(most, most - 1), (most - 1, None), "no more to send");
    assert_eq!(in_flight(20, most), (20, None), "bounded by the scenario");
    assert_eq!(in_flight(most + 1, most + 2), (most + 1, None), "allowed by the scenario");
}

#[test]
fn a_second_loss_of_a_burst_is_seen_though_the_first_is_repaired() {
    // 50 is lost in the first burst and again in the second, which began at 107 ms for 4. At 207 ms the new 4 is
    // acknowledged and 50 becomes the first missing segment: it left at 153 ms, but the sender no longer knows that.
    // Segments sent after 207 ms certainly lie above it: three duplicates at 307 to 310 ms.
    let mut dialogue = blitz(1000, &[4, 50, 50]);
    dialogue.run(Span::from_seconds(10));
    let restarts: Vec<(u64, u64)> =
        dialogue.retransmissions().into_iter().filter(|(_, segment)| *segment == 50).collect();
    assert_eq!(restarts, [(153, 50), (310, 50)]);
    assert_eq!(dialogue.sender.measured().congestion_events, 2);
    assert_eq!(dialogue.sender.measured().timeouts, 0);
    assert!(dialogue.sender.is_done());
}

#[test]
fn each_acknowledgment_with_room_adds_a_segment() {
    // The paper, Δ = W: the window doubles in a round trip whose packets all found spare capacity, and grows by one
    // where none did.
    let mut dialogue = Dialogue::anti_ecn(Negotiation::Agreed, 16.0, &[]);
    dialogue.run(Span::from_millis(150));
    assert_eq!(dialogue.window(), 32.0);
    dialogue.run(Span::from_millis(250));
    assert_eq!(dialogue.window(), 64.0);
    dialogue.crowded = true;
    dialogue.run(Span::from_millis(350));
    // Packets that left before still come back with the bit set.
    assert_eq!(dialogue.window(), 128.0);
    dialogue.run(Span::from_millis(450));
    assert!((dialogue.window() - 129.0).abs() < 0.01, "window {}", dialogue.window());
    let sender = &dialogue.sender;
    let told = (sender.measured().acknowledgments, sender.listener().heard());
    assert_eq!(told, (16 + 32 + 64 + 128, 16 + 32 + 64));
}

#[test]
fn nobody_listens_to_the_bit_before_every_router_takes_part() {
    // The bit is ignored even if a router sets it: Reno.
    let mut dialogue = Dialogue::anti_ecn(Negotiation::Unaware(0), 16.0, &[]);
    assert!(dialogue.acks.iter().all(|(_, ack)| !ack.flags.has(Flags::SPARE)), "none is sent");
    for (_, ack) in &mut dialogue.acks {
        ack.flags = ack.flags.with(Flags::SPARE);
    }
    dialogue.run(Span::from_millis(150));
    assert!((dialogue.window() - 17.0).abs() < 0.05, "window {}", dialogue.window());
    assert_eq!(dialogue.sender.listener().heard(), 0);
}

#[test]
fn congestion_beats_room() {
    // Every packet is marked and has found spare capacity. The window halves each round trip, as without the bit, and
    // does not grow in between.
    let mut dialogue = Dialogue::anti_ecn(Negotiation::Agreed, 64.0, &[]);
    dialogue.marking = true;
    dialogue.run(Span::from_millis(150));
    // The first window had left unmarked.
    assert_eq!(dialogue.window(), 128.0);
    dialogue.run(Span::from_millis(250));
    assert_eq!(dialogue.window(), 64.0);
    dialogue.run(Span::from_millis(350));
    assert_eq!(dialogue.window(), 32.0);
}

#[test]
fn recovery_is_no_time_to_grow_whatever_the_room() {
    // Segment 5 is lost: the window, 20 when it left, was 25 when that became clear, and is 12.5 until the
    // retransmission is acknowledged.
    let mut dialogue = Dialogue::anti_ecn(Negotiation::Agreed, 20.0, &[5]);
    dialogue.run(Span::from_millis(199));
    assert_eq!(dialogue.window(), 12.5);
    // Retransmissions carry the bit as well.
    assert_eq!(dialogue.retransmissions(), [(100, 5)]);
    let again = dialogue.acks.iter().find(|(_, ack)| ack.sent == Time::ZERO + RTT);
    assert!(again.is_some_and(|(_, ack)| ack.flags.has(Flags::SPARE)));
}
