//! What the checks tell controllers, and where they draw the line.

mod suite;

use std::sync::{Arc, Mutex};

use longfat_units::parameter::Parameter;

use super::*;
use crate::Wants;

/// A controller that answers what its test says, and writes down what it hears.
#[derive(Clone, Debug)]
struct Scripted {
    window: f64,
    threshold: Option<f64>,
    pacing: Pacing,
    timer: Option<Time>,
    wants: Wants,
    promises: Promises,
    /// What each acknowledged segment adds, and each acknowledgment as such.
    adds: [f64; 2],
    /// What congestion leaves of the window, as a factor.
    keeps: f64,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    fn new(window: f64) -> Self {
        Self {
            window,
            threshold: None,
            pacing: Pacing::Unpaced,
            timer: None,
            wants: Wants::NOTHING,
            promises: Promises::NONE,
            adds: [0.0; 2],
            keeps: 1.0,
            heard: Arc::default(),
        }
    }

    fn hear(&self, what: String) {
        self.heard.lock().expect("one thread").push(what);
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.lock().expect("one thread"))
    }
}

impl CongestionControl for Scripted {
    fn on_feedback(&mut self, heard: &Feedback, path: &Path) {
        let Feedback { now, rate, one_way_delay, spurious, router, .. } = heard;
        let some = [rate.is_some(), one_way_delay.is_some(), spurious.is_some(), router.is_some()];
        self.hear(format!("{} {some:?} {} {}", now.0, path.rtt, path.base_rtt));
        self.window += self.adds[0] * heard.acked as f64 + self.adds[1];
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.hear(format!("{} {}", event.now.0, name(event.cause)));
        self.window *= self.keeps;
    }

    fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
        self.hear(format!("{} asked", event.now.0));
        self.window = event.window.0;
        self.threshold = event.threshold.map_or(self.threshold, |it| Some(it.0));
    }

    fn on_lost(&mut self, lost: &Lost, _: &Path) {
        self.hear(format!("{} lost, sent {}", lost.now.0, lost.sent.0));
    }

    fn on_sent(&mut self, sent: &Sent, _: &Path) {
        self.hear(format!("{} sent", sent.now.0));
    }

    fn on_timer(&mut self, now: Time, _: &Path) {
        self.hear(format!("{} timer", now.0));
    }

    fn on_recovered(&mut self, now: Time, _: &Path) {
        self.hear(format!("{} recovered", now.0));
    }

    fn on_restart(&mut self, now: Time, _: &Path) {
        self.hear(format!("{} restart", now.0));
    }

    fn timer(&self) -> Option<Time> {
        self.timer
    }

    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn threshold(&self) -> Option<Segments> {
        self.threshold.map(Segments)
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }

    fn wants(&self) -> Wants {
        self.wants
    }

    fn promises(&self) -> Promises {
        self.promises
    }
}

fn host() -> Driver {
    let rtt = Span(100);
    Driver { now: Time(1000), path: Path { rtt, base_rtt: rtt } }
}

fn acked(acked: u64) -> Feedback {
    Feedback::at(Time::ZERO, acked)
}

fn congestion(cause: Cause) -> Event {
    Event::Congestion(Congestion { now: Time::ZERO, cause, in_flight: 10, again: false })
}

const LOST: Lost = Lost {
    now: Time::ZERO,
    segment: 7,
    sent: Time::ZERO,
    in_flight: 1,
    lost: 2,
    delivered_total: 0,
    application_limited: false,
};

fn asked(window: f64, threshold: Option<f64>) -> Event {
    let threshold = threshold.map(Segments);
    Event::Adjustment(Adjustment { now: Time::ZERO, window: Segments(window), threshold })
}

#[test]
fn events_happen_when_the_clock_says() {
    let mut host = host();
    let mut control = Scripted::new(10.0);
    control.wants = Wants { losses: true, departures: true, ..Wants::NOTHING };
    let measured = |rtt| Event::Feedback(Feedback { rtt: Some(Span(rtt)), ..acked(1) });
    for event in [
        Event::Feedback(acked(1)),
        measured(40),
        measured(60),
        congestion(Cause::Mark),
        asked(1.0, None),
        Event::Lost(LOST),
        Event::Sent(false, 3),
        Event::Recovered,
        Event::Restart,
    ] {
        let event = host.pass(&Operation { after: Span(5), event });
        host.tell(&mut control, event);
    }
    let nothing = [false; 4];
    assert_eq!(
        control.heard(),
        [
            format!("1005 {nothing:?} 100 ps 100 ps"),
            format!("1010 {nothing:?} 40 ps 40 ps"),
            format!("1015 {nothing:?} 60 ps 40 ps"),
            "1020 a mark".into(),
            "1025 asked".into(),
            // A round trip of 60 ps earlier.
            "1030 lost, sent 970".into(),
            "1035 sent".into(),
            "1040 recovered".into(),
            "1045 restart".into(),
        ]
    );
}

/// No host tells more than a controller wants, and none tells less.
#[test]
fn controllers_hear_what_they_want() {
    let everything = Event::Feedback(Feedback {
        rate: Some(RateSample::of(1, Span(1))),
        one_way_delay: Some(Span(1)),
        spurious: Some(Cause::Timeout),
        router: Some(RouterHeader::default()),
        ..acked(1)
    });
    let none = Wants::NOTHING;
    let mut control = Scripted::new(10.0);
    for (wants, index) in [
        (none, None),
        (Wants { delivery_rate: true, ..none }, Some(0)),
        (Wants { one_way_delay: true, ..none }, Some(1)),
        (Wants { spurious: true, ..none }, Some(2)),
        (Wants { router_header: true, ..none }, Some(3)),
    ] {
        control.wants = wants;
        host().tell(&mut control, everything);
        let mut some = [false; 4];
        if let Some(index) = index {
            some[index] = true;
        }
        assert_eq!(control.heard(), [format!("0 {some:?} 100 ps 100 ps")]);
    }
    for (event, wants) in [
        (Event::Sent(true, 1), Wants { departures: true, ..none }),
        (Event::Lost(LOST), Wants { losses: true, ..none }),
    ] {
        for (wants, heard) in [(none, 0), (wants, 1)] {
            control.wants = wants;
            host().tell(&mut control, event);
            assert_eq!(control.heard().len(), heard, "{event}");
        }
    }
    for (wants, timer, heard) in [
        (true, Some(1000), 1),
        (true, Some(999), 1),
        (true, Some(1001), 0),
        (true, None, 0),
        (false, Some(999), 0),
    ] {
        control.wants = Wants { timer: wants, ..none };
        control.timer = timer.map(Time);
        host().wake(&mut control);
        assert_eq!(control.heard().len(), heard, "{wants} {timer:?}");
    }
}

/// Which promise these answers break, beside a twin that gives the same.
fn broken(control: &Scripted) -> Option<Promise> {
    check_answers(control, &control.clone(), PromiseSet::ALL).err().map(|(promise, _)| promise)
}

#[test]
fn answers_are_sound_within_their_bounds() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for (value, sound) in [
        (1.0, true),
        (1e300, true),
        (1.0_f64.next_down(), false),
        (-5.0, false),
        (nan, false),
        (inf, false),
    ] {
        assert_eq!(broken(&Scripted::new(value)).is_none(), sound, "a window of {value}");
        let control = Scripted { threshold: Some(value), ..Scripted::new(10.0) };
        assert_eq!(broken(&control), (!sound).then_some(Promise::Threshold), "{value}");
    }
    for (value, sound) in [(1e-300, true), (0.0, false), (-1.0, false), (nan, false), (inf, false)]
    {
        for pacing in [Pacing::Spread { gain: value }, Pacing::Rate(value)] {
            let control = Scripted { pacing, ..Scripted::new(10.0) };
            assert_eq!(broken(&control), (!sound).then_some(Promise::Pacing), "{pacing:?}");
        }
    }
    for make in [Pacing::Blocks, Pacing::LooseBlocks] {
        for (count, sound) in [(1, true), (0, false)] {
            let control = Scripted { pacing: make(count), ..Scripted::new(10.0) };
            assert_eq!(broken(&control), (!sound).then_some(Promise::Pacing));
        }
    }
    // What failed has no answers of its own.
    fault::report(|| fault::Fault::new("a test", "it failed"));
    assert_eq!(broken(&Scripted::new(0.0)), Some(Promise::Runs));
}

#[test]
fn twins_give_the_same_answers() {
    let one = Scripted { threshold: Some(5.0), timer: Some(Time(5)), ..Scripted::new(10.0) };
    for other in [
        Scripted { window: 11.0, ..one.clone() },
        Scripted { threshold: None, ..one.clone() },
        Scripted { pacing: Pacing::Blocks(1), ..one.clone() },
        Scripted { timer: None, ..one.clone() },
    ] {
        let told = check_answers(&one, &other, PromiseSet::ALL);
        assert_eq!(told.map_err(|(promise, _)| promise), Err(Promise::Repeats), "{other:?}");
    }
    // One that is no number is the same as its twin, whatever else is wrong with it.
    let unsound = Scripted { pacing: Pacing::Rate(f64::NAN), ..Scripted::new(f64::NAN) };
    let repeats = PromiseSet::only(Promise::Repeats);
    assert_eq!(check_answers(&unsound, &unsound.clone(), repeats), Ok(()));
}

/// Which promise an event breaks that takes one controller to another.
fn event_breaks(event: Event, before: &Scripted, after: &Scripted) -> Option<Promise> {
    let before = Box::new(before.clone());
    let told = check_event(&host(), event, before, after, PromiseSet::ALL);
    told.err().map(|(promise, _)| promise)
}

/// A law with this window.
fn law(window: f64) -> Scripted {
    Scripted { promises: Promises::LAW, ..Scripted::new(window) }
}

#[test]
fn congestion_leaves_no_more_and_a_loss_two_segments() {
    let additive = Some(Promise::Additive);
    for (cause, old, new, broken) in [
        (Cause::Loss, 10.0, 10.0, None),
        (Cause::Loss, 10.0, 10.1, additive),
        // RFC 5681, equation 4, unless it had fewer.
        (Cause::Loss, 10.0, 2.0, None),
        (Cause::Loss, 10.0, 1.9, additive),
        (Cause::Loss, 2.0, 1.9, additive),
        (Cause::Loss, 1.9, 1.0, None),
        (Cause::Mark, 10.0, 1.0, None),
        (Cause::Mark, 10.0, 11.0, additive),
        (Cause::Timeout, 10.0, 1.0, None),
        (Cause::Timeout, 10.0, 10.0, None),
        (Cause::Timeout, 10.0, 10.5, Some(Promise::TimeOut)),
    ] {
        let found = event_breaks(congestion(cause), &law(old), &law(new));
        assert_eq!(found, broken, "{cause:?} from {old} to {new}");
        // Who promises nothing may do anything but grow on a time-out.
        let found = event_breaks(congestion(cause), &Scripted::new(old), &Scripted::new(new));
        assert_eq!(found, broken.filter(|it| *it == Promise::TimeOut));
    }
}

/// That a window is no number is said where it comes up.
#[test]
fn nothing_is_said_of_a_step_from_or_to_no_number() {
    let (fine, none) = (law(10.0), law(f64::NAN));
    for (before, after) in [(&none, &fine), (&fine, &none), (&none, &none)] {
        for event in [congestion(Cause::Timeout), Event::Recovered, Event::Feedback(acked(1))] {
            assert_eq!(event_breaks(event, before, after), None, "{event}");
        }
    }
}

#[test]
fn a_host_gets_the_window_that_it_asks_for() {
    let threshold = |window, threshold| Scripted { threshold, ..law(window) };
    let additive = Some(Promise::Additive);
    for (event, after, broken) in [
        (asked(20.0, None), threshold(20.0, Some(5.0)), None),
        (asked(20.0, None), threshold(19.0, Some(5.0)), additive),
        (asked(20.0, Some(8.0)), threshold(20.0, Some(8.0)), None),
        (asked(20.0, Some(8.0)), threshold(20.0, Some(5.0)), additive),
    ] {
        assert_eq!(event_breaks(event, &threshold(10.0, Some(5.0)), &after), broken, "{event}");
    }
    for event in [Event::Sent(false, 1), Event::Lost(LOST), Event::Recovered, Event::Restart] {
        assert_eq!(event_breaks(event, &law(10.0), &law(10.0)), None);
        assert_eq!(event_breaks(event, &law(10.0), &law(10.5)), additive);
        assert_eq!(event_breaks(event, &Scripted::new(10.0), &Scripted::new(9.0)), None);
    }
}

#[test]
fn a_window_grows_by_what_tests_it() {
    let additive = Some(Promise::Additive);
    let promises = Promises { any_batching: false, ..Promises::LAW };
    let any_pace = Promises { doubles_at_most: false, ..promises };
    let (open, marked) = (acked(3), Feedback { marked: 1, ..acked(3) });
    let idle = Feedback { limited: Limited::Application, ..acked(3) };
    for (promises, feedback, new, broken) in [
        (promises, open, 13.0, None),
        (promises, open, 13.001, Some(Promise::DoublesAtMost)),
        (any_pace, open, 20.0, None),
        (promises, open, 9.9, additive),
        (promises, marked, 10.0, None),
        (promises, marked, 10.1, additive),
        (promises, idle, 10.0, None),
        (promises, idle, 10.1, additive),
        (Promises::NONE, idle, 5.0, None),
    ] {
        let after = Scripted { promises, ..law(new) };
        let found = event_breaks(Event::Feedback(feedback), &law(10.0), &after);
        assert_eq!(found, broken, "{promises:?} {feedback:?} to {new}");
    }
}

#[test]
fn one_for_many_does_what_many_do() {
    let batching = Promises { any_batching: true, ..Promises::NONE };
    let breaks = |adds, acked, promises| {
        let before = Scripted { promises, adds, ..Scripted::new(10.0) };
        let mut after = before.clone();
        host().tell(&mut after, Event::Feedback(acked));
        event_breaks(Event::Feedback(acked), &before, &after)
    };
    assert_eq!(breaks([0.5, 0.0], acked(3), batching), None);
    assert_eq!(breaks([0.5, 0.25], acked(1), batching), None);
    assert_eq!(breaks([0.5, 0.25], acked(3), batching), Some(Promise::AnyBatching));
    assert_eq!(breaks([0.5, 0.25], acked(3), Promises::NONE), None);
    // None acknowledged at once is not none at all.
    assert_eq!(breaks([0.5, 0.25], acked(0), batching), None);
}

#[test]
fn what_is_reported_once_comes_with_the_first() {
    #[derive(Clone, Debug)]
    struct Once(f64);
    impl CongestionControl for Once {
        fn on_feedback(&mut self, heard: &Feedback, _: &Path) {
            self.0 += f64::from(u8::from(heard.round_starts))
                + 10.0 * f64::from(u8::from(heard.rtt.is_some()));
        }
        fn on_congestion(&mut self, _: &Congestion, _: &Path) {}
        fn window(&self) -> Segments {
            Segments(self.0)
        }
    }
    let feedback = Feedback { rtt: Some(Span(7)), round_starts: true, ..acked(3) };
    let before = Box::new(Once(5.0));
    let told = check_batching(&host(), &feedback, before, &Once(16.0), PromiseSet::ALL);
    assert_eq!(told, Ok(()));
}

/// A count that the copy does not have, and that shows only at the next loss.
#[test]
fn a_copy_made_along_the_way_shows_what_it_lacks() {
    #[derive(Debug)]
    struct Forgets(u64, bool);
    impl Clone for Forgets {
        fn clone(&self) -> Self {
            Self(0, self.1)
        }
    }
    impl CongestionControl for Forgets {
        fn on_feedback(&mut self, _: &Feedback, _: &Path) {
            self.0 += 1;
        }
        fn on_congestion(&mut self, _: &Congestion, _: &Path) {
            self.1 = self.0 > 0;
        }
        fn window(&self) -> Segments {
            Segments(if self.1 { 5.0 } else { 10.0 })
        }
    }
    let operation = |event| Operation { after: Span(1), event };
    let heard = operation(Event::Feedback(acked(1)));
    let control = || Box::new(Forgets(0, false));
    // One acknowledgment before the middle, none after it.
    let told = check_control(control(), control(), &[heard, operation(congestion(Cause::Mark))]);
    let violation = told.expect_err("it is not copied whole");
    assert_eq!((violation.promise, violation.after), (Promise::Repeats, 2));
    assert!(violation.to_string().starts_with("after 2 events: the same events gave window 5"));
}

#[test]
fn a_violation_says_when() {
    let bad = || Box::new(Scripted { adds: [0.0, -20.0], ..Scripted::new(10.0) });
    let one = Operation { after: Span(1), event: Event::Feedback(acked(1)) };
    let later = Operation { after: Span(1), event: Event::Recovered };
    let told = |operations: &[Operation]| {
        check_control(bad(), bad(), operations).expect_err("it falls below one").to_string()
    };
    assert_eq!(told(&[one]), "after one event: the window is -10");
    assert_eq!(told(&[later, one]), "after 2 events: the window is -10");
    let none = || Box::new(Scripted::new(0.0));
    let told = check_control(none(), none(), &[one]).expect_err("it has none");
    assert_eq!(told.to_string(), "at the start: the window is 0");
    // Two that are not alike from the start.
    let fine = |window| Box::new(Scripted::new(window));
    let told = check_control(fine(10.0), fine(11.0), &[]).expect_err("they differ");
    assert_eq!((told.promise, told.after), (Promise::Repeats, 0));
    // What the thread did before is over.
    fault::report(|| fault::Fault::new("a test", "it failed"));
    assert_eq!(check_control(fine(10.0), fine(10.0), &[one]), Ok(()));
}

#[test]
fn bytes_become_acknowledgments() {
    let feedback = |bytes| match Operation::from_bytes(bytes).event {
        Event::Feedback(feedback) => feedback,
        event => panic!("{event}"),
    };
    // Kind, amount, time, flags, more, lost, marked, rate.
    let one = feedback([0, 3, 5, 0, 8, 16, 24, 6]);
    assert_eq!((one.acked, one.sacked, one.lost, one.marked), (8, 2, 2, 3));
    assert_eq!((one.rtt, one.one_way_delay), (Some(Span(32_000_000)), Some(Span(16_000_000))));
    assert_eq!((one.in_flight, one.limited), (32, Limited::Application));
    assert!(one.round_starts && one.recovery_begins && one.spare == Some(true));
    assert!(one.spurious.is_none() && one.router.is_none());
    let rate = one.rate.expect("there is a sample");
    assert_eq!((rate.delivered, rate.interval), (6 << 5, Span(32_000_000)));
    assert_eq!((rate.in_flight, rate.lost, rate.application_limited), (3, 2, false));
    let other = feedback([75, 3, 5, 0b1011, 7, 8, 3, 7]);
    assert_eq!((other.acked, other.sacked, other.lost, other.marked), (0, 0, 1, 0));
    assert_eq!((other.rtt, other.one_way_delay, other.limited), (None, None, Limited::Window));
    assert!(!other.round_starts && !other.recovery_begins && other.spare == Some(false));
    let header = other.router.expect("there is a header");
    assert_eq!((header.feedback, header.code), (-2.0, 3));
    let last = feedback([16, 9, 0, 4, 17, 1, 1, 4]);
    assert_eq!((last.acked, last.spare, last.limited), (1, None, Limited::Receiver));
    assert_eq!((last.spurious, last.rate.is_some()), (Some(Cause::Timeout), false));
    let after = |flags| Operation::from_bytes([0, 0, 0, flags, 0, 0, 0, 0]).after;
    assert_eq!([after(0), after(0x1f), after(0xf0)], [Span(1000), Span(8000), Span(1000 << 45)]);
}

#[test]
fn bytes_become_other_events() {
    let words = |bytes| Operation::from_bytes(bytes).event.to_string();
    assert_eq!(words([12, 3, 0, 1, 0, 0, 0, 0]), "congestion: a loss, 8 in flight");
    let marks = "congestion: a mark, 8 in flight, not the first in a row";
    assert_eq!(words([13, 3, 0, 0, 0, 0, 0, 0]), marks);
    assert_eq!(words([14, 0, 0, 1, 0, 0, 0, 0]), "congestion: a time-out, 1 in flight");
    let both = "the host asks for a window of 12 and a threshold of 8";
    assert_eq!(words([15, 3, 0, 0, 1, 2, 0, 0]), both);
    assert_eq!(words([15, 3, 0, 1, 1, 2, 0, 0]), "the host asks for a window of 12");
    assert_eq!(words([15, 3, 0, 0, 0, 0, 0, 0]), "a segment leaves again, 8 in flight");
    assert_eq!(words([15, 3, 0, 1, 0, 0, 0, 0]), "a segment leaves, 8 in flight");
    assert_eq!(words([15, 3, 0, 1, 2, 0, 0, 0]), "losses are repaired");
    assert_eq!(words([15, 3, 0, 1, 4, 0, 0, 0]), "data leaves again after idle times");
    assert_eq!(words([15, 3, 0, 1, 6, 9, 0, 2]), "segment 9 is found lost, 4 since it left");
}

#[test]
fn an_acknowledgment_says_what_it_carries() {
    let plain = Feedback { in_flight: 9, round_starts: false, ..acked(1) };
    assert_eq!(Event::Feedback(plain).to_string(), "acknowledgment of 1 segment, 9 in flight");
    let none = Feedback { spare: Some(false), ..Feedback { acked: 0, ..plain } };
    let words = "acknowledgment of 0 segments, 9 in flight, no room to spare";
    assert_eq!(Event::Feedback(none).to_string(), words);
    let full = Feedback {
        acked: 2,
        sacked: 3,
        lost: 4,
        marked: 5,
        recovery_begins: true,
        rtt: Some(Span::from_millis(100)),
        limited: Limited::Receiver,
        round_starts: true,
        spare: Some(true),
        rate: Some(RateSample::of(6, Span::from_millis(50))),
        one_way_delay: Some(Span::from_millis(40)),
        router: Some(RouterHeader::default()),
        spurious: Some(Cause::Timeout),
        ..plain
    };
    let operation = Operation { after: Span::from_millis(3), event: Event::Feedback(full) };
    assert_eq!(
        operation.to_string(),
        "3 ms later acknowledgment of 2 segments and 3 out of order, 4 lost, 5 marked, recovery begins, round trip \
         100 ms, 9 in flight, held back by the receiver, a round trip begins, room to spare, 6 delivered in 50 ms, \
         one way 40 ms, a header of routers, a time-out was spurious"
    );
}

/// A digit in base four for each parameter: 0 the plain value, 1 the smallest, 2 the largest, 3 a word.
#[test]
fn settings_are_at_their_bounds_or_plain() {
    let parameters = || {
        [
            Parameter::number("number", 3.0, 1.0, 5.0, ""),
            Parameter::count("count", 3, 1, 5, ""),
            Parameter::flag("flag", true, ""),
            Parameter::span("span", "1 s", ""),
            Parameter::word("word", "b", ["a", "b", "c"], ""),
            Parameter::number_or("or", "auto", (1.0, 5.0), ["auto"], ""),
        ]
    };
    let build = |_: &Settings, _: &Start| Sending::Windowed(Box::new(Scripted::new(1.0)));
    let controller = Controller::new("all", build).parameters(parameters());
    let all = |digit: u32| {
        let choice = (0..6).map(|place| digit << (2 * place)).sum();
        let settings = settings_from_number(&controller, choice);
        ["number", "count", "flag", "span", "word", "or"]
            .map(|it| settings.get(it).cloned().expect(it))
    };
    let word = |word: &str| Setting::Word(word.into());
    let (second, hour) = (Span::from_seconds(1), Span::from_seconds(3600));
    let [number, count] = [Setting::Number, |it| Setting::Count(it as u64)];
    let (flag, span) = (Setting::Flag, Setting::Span);
    assert_eq!(
        all(0),
        [number(3.0), count(3.0), flag(true), span(second), word("b"), word("auto")]
    );
    assert_eq!(
        all(1),
        [number(1.0), count(1.0), flag(true), span(Span::ZERO), word("b"), number(1.0)]
    );
    assert_eq!(all(2), [number(5.0), count(5.0), flag(false), span(hour), word("c"), number(5.0)]);
    assert_eq!(
        all(3),
        [number(3.0), count(3.0), flag(false), span(second), word("a"), word("auto")]
    );
    // Only the first, and only the second.
    let second = settings_from_number(&controller, 2 << 2);
    assert_eq!((second.number("number"), second.number("count")), (3.0, 5.0));

    // Without a default: what is nearest to zero, or the first word.
    let required = parameters().map(Parameter::required);
    let below = Parameter::number("below", 0.0, -5.0, -1.0, "").required();
    let within = Parameter::number("within", 0.0, -5.0, 5.0, "").required();
    let free = Parameter::number("free", 0.0, -1e300, 1e300, "");
    let many = Parameter::count("many", 7, 0, u64::MAX, "");
    let controller = Controller::new("all", build)
        .parameters(required.into_iter().chain([below, within, free, many]));
    let plain = plain_settings(&controller);
    let words: Vec<String> = plain.iter().map(|(_, value)| format!("{value:?}")).collect();
    assert_eq!(
        words,
        [
            "Number(0.0)",
            "Count(7)",
            "Number(1.0)",
            "Count(1)",
            "Flag(false)",
            "Span(Span(0))",
            "Word(\"a\")",
            "Number(1.0)",
            "Number(-1.0)",
            "Number(0.0)",
        ]
    );
    // 10³⁰⁰ and 2⁶⁴ are no bounds that somebody has thought of.
    let largest = settings_from_number(&controller, (2 << 16) | (2 << 18));
    assert_eq!((largest.number("free"), largest.number("many")), (0.0, 7.0));
}

#[test]
fn a_set_of_promises_has_what_it_has() {
    let only = PromiseSet::only(Promise::Floor);
    let others = PromiseSet::ALL.without(Promise::Floor);
    for promise in Promise::ALL {
        let is_floor = promise == Promise::Floor;
        assert_eq!((only.has(promise), others.has(promise)), (is_floor, !is_floor));
        assert!(PromiseSet::ALL.has(promise));
        let of_laws =
            [Promise::AnyBatching, Promise::Additive, Promise::DoublesAtMost, Promise::Forgetful];
        assert_eq!(promise.is_given(Promises::NONE), !of_laws.contains(&promise));
        assert!(promise.is_given(Promises::LAW));
    }
    assert_eq!(others.ensure(Promise::Floor, false, String::new), Ok(()));
    assert_eq!(only.ensure(Promise::Floor, true, String::new), Ok(()));
    let broken = only.ensure(Promise::Floor, false, || "low".into());
    assert_eq!(broken, Err((Promise::Floor, "low".into())));
}
