//! The host by hand, beside a controller that is driven directly, and under anything.

use std::sync::Arc;

use longfat_control::{CONTROLLERS, Controller, Sending, Start, Wants};
use longfat_units::Probe;
use proptest::prelude::*;

use super::*;
use crate::refusal::refusal;

const MTU: u64 = 1200;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn built(controller: &Controller, window: f64) -> Box<dyn CongestionControl> {
    let start = Start { window: Segments(window), ..Start::default() };
    let sending = (controller.build)(&controller.defaults(), &start);
    sending.windowed().expect("it has a window")
}

/// All that can run here.
fn accepted() -> Vec<Arc<Controller>> {
    let runs = |controller: &&Arc<Controller>| {
        let sending = (controller.build)(&controller.defaults(), &Start::default());
        refusal(&sending).is_none()
    };
    CONTROLLERS.iter().filter(runs).map(Arc::clone).collect()
}

fn named(name: &str) -> Arc<Controller> {
    let found = CONTROLLERS.iter().find(|controller| controller.name == name);
    Arc::clone(found.expect("there is such a controller"))
}

/// Reno with this window, and as many segments in flight, sent at 0 ms.
fn reno(window: u64) -> Host {
    let mut host = Host::new(built(&named("reno"), window as f64), MTU);
    host.sent(at(0), window * MTU);
    host
}

fn acknowledge(host: &mut Host, now: u64, sent: u64, packets: u64, left: u64) {
    for _ in 0..packets {
        host.acknowledged(Acknowledged {
            now: at(now),
            sent: at(sent),
            bytes: MTU,
            application_limited: false,
            smoothed: Span::from_millis(100),
        });
    }
    host.end_acknowledgment(left * MTU, false);
}

fn lose(host: &mut Host, now: u64, sent: u64, packets: u64) {
    let (now, sent) = (at(now), at(sent));
    host.congested(Trouble { now, sent, persistent: false, lost: packets * MTU });
}

#[test]
fn reno_by_hand() {
    // Slow start: ten acknowledged segments add ten.
    let mut host = reno(10);
    for packet in 1..=10 {
        acknowledge(&mut host, 100 + packet, 0, 1, 10 - packet);
    }
    assert_eq!(host.window(), 20 * MTU);

    // Of twenty more the first is lost: half is left, and the others of that flight add nothing.
    host.sent(at(120), 20 * MTU);
    acknowledge(&mut host, 220, 120, 3, 17);
    lose(&mut host, 220, 120, 1);
    assert_eq!(host.window(), 10 * MTU);
    acknowledge(&mut host, 221, 120, 16, 0);
    assert_eq!(host.window(), 10 * MTU);

    // Ten of the next flight: w² grows by 2 + 1/w² with each, so √(100 + 20 + 0.09) = 10.959.
    host.sent(at(230), 10 * MTU);
    for packet in 1..=10 {
        acknowledge(&mut host, 330 + packet, 230, 1, 10 - packet);
    }
    let segments = host.control().window().0;
    assert!((segments - 10.9586).abs() < 1e-3, "{segments}");
    assert_eq!(host.window(), (segments * MTU as f64) as u64);
}

#[test]
fn the_losses_of_a_round_trip_are_answered_once() {
    let mut host = reno(16);
    acknowledge(&mut host, 100, 0, 4, 12);
    lose(&mut host, 100, 0, 1);
    assert_eq!((host.window(), host.responses()), (8 * MTU, 1));
    host.sent(at(101), MTU);
    lose(&mut host, 102, 0, 3);
    assert_eq!((host.window(), host.responses()), (8 * MTU, 1), "it left before the response");
    lose(&mut host, 200, 101, 1);
    assert_eq!((host.window(), host.responses()), (4 * MTU, 2), "it left after it");
}

#[test]
fn an_acknowledgment_that_shows_a_loss_adds_nothing() {
    let mut host = reno(16);
    // Four would make it 20, half of which is 10.
    acknowledge(&mut host, 100, 0, 4, 12);
    assert_eq!(host.window(), 20 * MTU);
    lose(&mut host, 100, 0, 1);
    assert_eq!(host.window(), 8 * MTU);
}

#[test]
fn a_mark_is_a_loss_of_nothing() {
    let mut host = reno(16);
    acknowledge(&mut host, 100, 0, 1, 15);
    lose(&mut host, 100, 0, 0);
    assert_eq!((host.window(), host.responses()), (8 * MTU, 1));
    acknowledge(&mut host, 101, 0, 1, 14);
    lose(&mut host, 101, 0, 0);
    assert_eq!((host.window(), host.responses()), (8 * MTU, 1));
}

#[test]
fn persistent_congestion_leaves_two_segments() {
    let mut host = reno(64);
    acknowledge(&mut host, 100, 0, 1, 63);
    host.congested(Trouble { now: at(100), sent: at(0), persistent: true, lost: 10 * MTU });
    assert_eq!(host.window(), 2 * MTU);
    // What was in flight, 64, halved (RFC 5681, equation 4).
    assert_eq!(host.threshold(), Some(32 * MTU));
    host.sent(at(110), 2 * MTU);
    acknowledge(&mut host, 210, 110, 2, 0);
    assert_eq!(host.window(), 4 * MTU, "slow start");
}

#[test]
fn the_window_does_not_grow_where_the_application_is_the_limit() {
    let mut host = reno(10);
    host.acknowledged(Acknowledged {
        now: at(100),
        sent: at(0),
        bytes: MTU,
        application_limited: true,
        smoothed: Span::from_millis(333),
    });
    host.end_acknowledgment(9 * MTU, true);
    assert_eq!(host.window(), 10 * MTU);
}

/// A socket that takes no more, or a busy computer: quinn says nothing of it.
#[test]
fn a_window_that_nothing_fills_does_not_grow() {
    let mut host = reno(10);
    let mut left = 9;
    // Three are in flight at most from then on: slow start ends where they fill half of the window.
    for packet in 0..200 {
        acknowledge(&mut host, 100 + 50 * packet, 50 * packet, 1, left);
        host.sent(at(100 + 50 * packet), MTU);
        left = 2;
    }
    assert!(host.window() <= 20 * MTU, "{}", host.window());
}

#[test]
fn small_packets_add_up_to_segments() {
    let mut host = reno(10);
    for (packet, window) in [(1, 10), (2, 10), (3, 11), (4, 11), (5, 11), (6, 12)] {
        host.acknowledged(Acknowledged {
            now: at(100 + packet),
            sent: at(0),
            bytes: MTU / 3,
            application_limited: false,
            smoothed: Span::from_millis(100),
        });
        host.end_acknowledgment(9 * MTU, false);
        assert_eq!(host.window(), window * MTU);
    }
}

#[test]
fn larger_datagrams_leave_the_window_in_segments() {
    let mut host = reno(10);
    host.set_mtu(1452);
    assert_eq!(host.window(), 10 * 1452);
}

/// Notes what it is told.
#[derive(Clone, Debug, Default)]
struct Witness(Vec<String>);

impl CongestionControl for Witness {
    fn on_feedback(&mut self, it: &Feedback, path: &Path) {
        self.0.push(format!(
            "{} acked, {} sacked, {} lost, {} marked, {} in flight, {:?}, rtt {} of {}, round {}, recovery {}",
            it.acked,
            it.sacked,
            it.lost,
            it.marked,
            it.in_flight,
            it.limited,
            it.rtt.map_or(0, |rtt| rtt.0 / 1_000_000_000),
            path.rtt.0 / 1_000_000_000,
            it.round_starts,
            it.recovery_begins,
        ));
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.0.push(format!("{:?} with {} in flight", event.cause, event.in_flight));
    }

    fn on_recovered(&mut self, _: Time, _: &Path) {
        self.0.push("recovered".into());
    }

    fn on_restart(&mut self, _: Time, _: &Path) {
        self.0.push("restart".into());
    }

    fn on_sent(&mut self, sent: &Sent, _: &Path) {
        self.0.push(format!("sent, {} in flight", sent.in_flight));
    }

    fn window(&self) -> Segments {
        Segments(4.0)
    }

    fn wants(&self) -> Wants {
        Wants { departures: true, ..Wants::NOTHING }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        self.0.iter().for_each(|line| probe.value(line, 0.0));
    }
}

#[derive(Default)]
struct Lines(Vec<String>);

impl Probe for Lines {
    fn value(&mut self, name: &str, _: f64) {
        self.0.push(name.into());
    }
}

#[test]
fn what_a_controller_is_told() {
    let mut host = Host::new(Box::new(Witness::default()), MTU);
    host.sent(at(0), 2 * MTU);
    host.sent(at(10), 2 * MTU);
    // The round trip of the last packet; the estimate of the stack, 100 ms, is not known before the second one.
    acknowledge(&mut host, 60, 0, 1, 3);
    acknowledge(&mut host, 70, 10, 1, 2);
    // The loss is shown by the same acknowledgment: the controller is told both at once.
    lose(&mut host, 70, 0, 1);
    host.sent(at(71), MTU);
    // Found by time alone: the next acknowledgment reports it.
    lose(&mut host, 90, 10, 1);
    acknowledge(&mut host, 131, 71, 1, 0);
    host.end_acknowledgment(0, true);
    host.sent(at(500), MTU);
    let mut lines = Lines::default();
    host.control().observe(&mut lines);
    assert_eq!(
        lines.0,
        [
            "sent, 1 in flight",
            "sent, 2 in flight",
            "sent, 3 in flight",
            "sent, 4 in flight",
            "1 acked, 0 sacked, 0 lost, 0 marked, 4 in flight, Window, rtt 60 of 60, round true, recovery false",
            "1 acked, 0 sacked, 1 lost, 0 marked, 3 in flight, Recovery, rtt 60 of 100, round false, recovery true",
            "Loss with 3 in flight",
            "sent, 2 in flight",
            "recovered",
            "1 acked, 0 sacked, 1 lost, 0 marked, 1 in flight, Window, rtt 60 of 100, round true, recovery false",
            "restart",
            "sent, 1 in flight",
        ]
    );
}

/// Drives a controller by the numbers of packets, telling it all of an acknowledgment at once: what the host has to
/// arrive at by times and one thing after another.
struct Direct {
    control: Box<dyn CongestionControl>,
    /// When each packet left.
    sent: Vec<Time>,
    /// The packets in flight.
    in_flight: Vec<usize>,
    /// What left before these numbers belongs to the last response, and to the last round trip.
    answered: usize,
    round_end: usize,
    recovering: bool,
    owed: u64,
    path: Path,
    /// The most in flight in each round trip.
    most: Vec<usize>,
}

/// What happens, to all that was sent up to it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send(usize),
    /// As many as the window allows.
    Fill,
    /// Of those in flight the first so many are lost, and so many after them acknowledged.
    Acknowledge {
        lost: usize,
        acked: usize,
        marked: bool,
        limited: bool,
    },
    Lose(usize),
}

impl Direct {
    fn acknowledge(&mut self, now: Time, lost: &[usize], acked: &[usize], step: (bool, bool)) {
        let (marked, application_limited) = step;
        let newest = *acked.last().expect("something is acknowledged");
        let in_flight = (self.in_flight.len() + lost.len() + acked.len()) as u64;
        let rtt = now.since(self.sent[newest]);
        self.path.rtt =
            if self.path.base_rtt == Span(u64::MAX) { rtt } else { Span::from_millis(100) };
        self.path.base_rtt = self.path.base_rtt.min(rtt);
        if self.recovering && newest >= self.answered {
            self.recovering = false;
            self.control.on_recovered(now, &self.path);
        }
        let fresh = acked.iter().filter(|number| **number >= self.answered).count() as u64;
        let begins = lost.last().is_some_and(|last| *last >= self.answered);
        let round_starts = newest >= self.round_end;
        if round_starts {
            self.round_end = self.sent.len();
            self.most.push(0);
        }
        if let Some(most) = self.most.last_mut() {
            *most = (*most).max(in_flight as usize);
        }
        let limited = match (fresh, begins, application_limited) {
            (0, ..) | (_, true, _) => Limited::Recovery,
            (.., true) => Limited::Application,
            _ if self.is_full() => Limited::Window,
            _ => Limited::Receiver,
        };
        let feedback = Feedback {
            sacked: acked.len() as u64 - fresh,
            lost: std::mem::take(&mut self.owed) + lost.len() as u64,
            marked: marked.into(),
            rtt: Some(rtt),
            in_flight,
            limited,
            round_starts,
            recovery_begins: begins,
            ..Feedback::at(now, fresh)
        };
        self.control.on_feedback(&feedback, &self.path);
        if begins {
            self.respond(now, Cause::Loss, in_flight);
        } else if marked && newest >= self.answered {
            self.respond(now, Cause::Mark, in_flight);
        }
    }

    /// Was the window filled in the last two round trips: to 7/8, and to half in slow start?
    fn is_full(&self) -> bool {
        let most = self.most.iter().rev().take(2).max().copied().unwrap_or(0);
        let window = self.control.window();
        let doubles = self.control.threshold().is_none_or(|threshold| window < threshold);
        let bytes = ((window.0 * MTU as f64) as u64).max(2 * MTU);
        let most = most as u64 * MTU;
        if doubles { 2 * most >= bytes } else { 8 * most >= 7 * bytes }
    }

    fn respond(&mut self, now: Time, cause: Cause, in_flight: u64) {
        self.answered = self.sent.len();
        self.recovering = true;
        self.control.on_congestion(&Congestion { now, cause, in_flight, again: false }, &self.path);
    }
}

/// Takes both through the same steps, 10 ms apart, and compares the windows after each.
fn compare(controller: &Controller, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut host = Host::new(built(controller, 10.0), MTU);
    let mut direct = Direct {
        control: built(controller, 10.0),
        sent: Vec::new(),
        in_flight: Vec::new(),
        answered: 0,
        round_end: 0,
        recovering: false,
        owed: 0,
        path: Path { rtt: INITIAL_RTT, base_rtt: Span(u64::MAX) },
        most: Vec::new(),
    };
    for (index, step) in steps.iter().enumerate() {
        let now = at(10 * (index as u64 + 1));
        let free = (direct.control.window().0 as usize).saturating_sub(direct.in_flight.len());
        let step = if let Step::Fill = *step { Step::Send(free.min(2000)) } else { *step };
        match step {
            Step::Fill | Step::Send(0) => {}
            Step::Send(packets) => {
                direct.in_flight.extend(direct.sent.len()..direct.sent.len() + packets);
                direct.sent.extend(std::iter::repeat_n(now, packets));
                host.sent(now, packets as u64 * MTU);
            }
            Step::Acknowledge { lost, acked, marked, limited } => {
                let lost = lost.min(direct.in_flight.len().saturating_sub(1));
                let lost: Vec<usize> = direct.in_flight.drain(..lost).collect();
                let acked = acked.min(direct.in_flight.len());
                let acked: Vec<usize> = direct.in_flight.drain(..acked).collect();
                let Some(newest) = acked.last().copied() else { continue };
                for number in &acked {
                    host.acknowledged(Acknowledged {
                        now,
                        sent: direct.sent[*number],
                        bytes: MTU,
                        application_limited: limited,
                        smoothed: Span::from_millis(100),
                    });
                }
                let left = (direct.in_flight.len() + lost.len()) as u64;
                host.end_acknowledgment(left * MTU, limited);
                let trouble = |number: usize, lost: usize| Trouble {
                    now,
                    sent: direct.sent[number],
                    persistent: false,
                    lost: lost as u64 * MTU,
                };
                if let Some(last) = lost.last() {
                    host.congested(trouble(*last, lost.len()));
                }
                if marked {
                    host.congested(trouble(newest, 0));
                }
                // One call after another: a mark of an acknowledgment whose losses were answered is told by itself.
                let apart = marked && lost.last().is_some_and(|last| *last >= direct.answered);
                direct.acknowledge(now, &lost, &acked, (marked && !apart, limited));
                if apart {
                    let in_flight = direct.in_flight.len() as u64;
                    let feedback = Feedback { marked: 1, in_flight, ..Feedback::at(now, 0) };
                    direct.control.on_feedback(&feedback, &direct.path);
                }
            }
            Step::Lose(packets) => {
                let packets = packets.min(direct.in_flight.len());
                let lost: Vec<usize> = direct.in_flight.drain(..packets).collect();
                let Some(last) = lost.last().copied() else { continue };
                let (sent, lost) = (direct.sent[last], lost.len() as u64);
                host.congested(Trouble { now, sent, persistent: false, lost: lost * MTU });
                direct.owed += lost;
                if last >= direct.answered {
                    let in_flight = direct.in_flight.len() as u64 + lost;
                    direct.respond(now, Cause::Loss, in_flight);
                }
            }
        }
        let (ours, theirs) = (host.control().window(), direct.control.window());
        prop_assert_eq!(ours, theirs, "{} after step {} of {:?}", controller.name, index, steps);
    }
    Ok(())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1_usize..40).prop_map(Step::Send),
        4 => Just(Step::Fill),
        6 => (prop_oneof![6 => Just(0), 1 => 1_usize..5], 1_usize..30, 0_u8..8, 0_u8..8).prop_map(
            |(lost, acked, marked, limited)| Step::Acknowledge {
                lost,
                acked,
                marked: marked == 0,
                limited: limited == 0,
            }
        ),
        1 => (1_usize..5).prop_map(Step::Lose),
    ]
}

/// Anything that a stack might call, in any order and with any numbers.
#[derive(Clone, Copy, Debug)]
enum Call {
    Sent(u64, u64),
    Acknowledged(u64, u64, u64, bool),
    End(u64, bool),
    Trouble(u64, u64, bool, u64),
    Mtu(u64),
}

/// Times of up to a second, in picoseconds, in any order; or of up to the end of the clock.
fn time() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 0..1_000_000_000_000_u64, 1 => 0..17_280_000_000_000_000_000_u64]
}

fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..3000_u64, 1 => any::<u64>()]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        (time(), bytes()).prop_map(|(now, bytes)| Call::Sent(now, bytes)),
        (time(), time(), bytes(), any::<bool>())
            .prop_map(|(now, sent, bytes, limited)| Call::Acknowledged(now, sent, bytes, limited)),
        (bytes(), any::<bool>()).prop_map(|(left, limited)| Call::End(left, limited)),
        (time(), time(), 0_u8..10, bytes()).prop_map(|(now, sent, kind, lost)| Call::Trouble(
            now,
            sent,
            kind == 0,
            lost
        )),
        (0..u64::from(u16::MAX)).prop_map(Call::Mtu),
    ]
}

/// Makes the calls; the window stays within its bounds, and congestion is answered once per round trip.
fn endure(controller: &Controller, calls: &[Call]) -> Result<(), TestCaseError> {
    let mut host = Host::new(built(controller, 10.0), MTU);
    let mut mtu = MTU;
    let mut answered = None;
    for call in calls {
        let before = host.responses();
        match *call {
            Call::Sent(now, bytes) => host.sent(Time(now), bytes),
            Call::Acknowledged(now, sent, bytes, application_limited) => {
                let (now, sent, smoothed) = (Time(now), Time(sent), Span(bytes));
                host.acknowledged(Acknowledged { now, sent, bytes, application_limited, smoothed });
            }
            Call::End(left, limited) => host.end_acknowledgment(left, limited),
            Call::Trouble(now, sent, persistent, lost) => {
                let (now, sent) = (Time(now), Time(sent));
                let calls = answered.is_none_or(|answered| sent > answered);
                host.congested(Trouble { now, sent, persistent, lost });
                prop_assert_eq!(
                    host.responses() - before,
                    u64::from(calls) + u64::from(persistent)
                );
                if persistent {
                    answered = None;
                } else if calls {
                    answered = Some(host.now);
                }
            }
            Call::Mtu(to) => {
                host.set_mtu(to);
                mtu = to.max(1);
            }
        }
        let (window, bytes) = (host.control().window().0, host.window());
        prop_assert!(window.is_finite() && window >= 1.0, "{}: {}", controller.name, window);
        prop_assert!(bytes >= 2 * mtu && bytes < u64::MAX / 2, "{}: {}", controller.name, bytes);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_controller_does_what_it_does_when_driven_directly(
        steps in proptest::collection::vec(step(), 1..200),
    ) {
        for controller in accepted() {
            compare(&controller, &steps)?;
        }
    }

    #[test]
    fn nothing_that_a_stack_calls_harms(calls in proptest::collection::vec(call(), 1..200)) {
        for controller in accepted() {
            endure(&controller, &calls)?;
        }
    }
}

#[test]
fn most_controllers_can_run() {
    let all = CONTROLLERS.len();
    assert!(accepted().len() * 2 > all, "{} of {all}", accepted().len());
    assert!(matches!(
        (named("blitz").build)(&named("blitz").defaults(), &Start::default()),
        Sending::Bursts(_)
    ));
}
