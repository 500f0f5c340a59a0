//! Paths that are made by hand: how much is lost, and how round trips grow, at which rate.

use std::collections::VecDeque;

use longfat_units::Bytes;
use longfat_units::parameter::Setting;

use super::*;

const RTT: Span = Span::from_millis(100);
const PATH: Path = Path { rtt: RTT, base_rtt: RTT };
/// Mbit/s of a segment of 150 bytes per second: small ones, so that shares of losses are fine.
const SEGMENT: f64 = 0.0012;

/// What a path does to segments at a rate in Mbit/s: the share that is lost, and the growth of round trips.
type World = fn(f64) -> (f64, f64);

/// A flow that begins with 500 segments in a round trip of 100 ms, 6 Mbit/s, and a host that does as it is told.
struct Told {
    flow: Vivace,
    world: World,
    now: Time,
    /// When the next segment leaves, and since when at this pace.
    next: Time,
    paced: (f64, Time),
    /// What is lost of a segment, carried from one to the next.
    owed: f64,
    /// What is under way: when it left, how long it takes, and whether it is lost.
    under_way: VecDeque<(Time, Span, bool)>,
    limited: Limited,
    /// Every how many-th acknowledgment brings a mark, if any does.
    marked: Option<u64>,
    heard: u64,
    /// Does nothing come back?
    deaf: bool,
}

impl Told {
    fn new(world: World) -> Self {
        Self::with(&[], world)
    }

    /// With other parameters.
    fn with(changes: &[(&'static str, Setting)], world: World) -> Self {
        let mut settings = controller().defaults();
        for (name, value) in changes {
            settings.set(*name, value.clone());
        }
        let (window, packet) = (Segments(500.0), Bytes(150));
        let start = Start { window, packet, round_trip: Some(RTT), ..Start::default() };
        Self {
            flow: Vivace::new(&settings, &start),
            world,
            now: Time::ZERO,
            next: Time::ZERO,
            paced: (0.0, Time::ZERO),
            owed: 0.0,
            under_way: VecDeque::new(),
            limited: Limited::Pacing,
            marked: None,
            heard: 0,
            deaf: false,
        }
    }

    /// Past the start, at so many Mbit/s.
    fn learning(rate: f64, world: World) -> Self {
        Self::new(world).at(rate)
    }

    /// The same by the text of the paper.
    fn by_the_text(rate: f64, world: World) -> Self {
        Self::with(&[("tolerant", Setting::Flag(false))], world).at(rate)
    }

    fn at(mut self, rate: f64) -> Self {
        self.flow.phase = Phase::Learning(None);
        self.flow.set_rate(rate / SEGMENT);
        self.flow.begin_trial(self.now, rate / SEGMENT);
        self
    }

    /// r, in Mbit/s.
    fn rate(&self) -> f64 {
        self.flow.rate.unwrap_or(0.0) * SEGMENT
    }

    /// At what it sends, in Mbit/s.
    fn pace(&self) -> f64 {
        match self.flow.pacing() {
            Pacing::Rate(rate) => rate * SEGMENT,
            other => panic!("it has a rate: {other:?}"),
        }
    }

    fn send(&mut self) {
        self.now = self.next;
        let pace = self.pace();
        if pace != self.paced.0 {
            self.paced = (pace, self.now);
        }
        let (lost, growth) = (self.world)(pace);
        self.owed += lost;
        let is_lost = self.owed >= 1.0;
        self.owed -= f64::from(u8::from(is_lost));
        let queueing = growth * self.now.since(self.paced.1).seconds();
        let rtt = Span::from_seconds_f64((RTT.seconds() + queueing).max(0.001));
        self.under_way.push_back((self.now, rtt, is_lost));
        self.next = self.now.saturating_add(Span::from_seconds_f64(SEGMENT / pace));
    }

    fn hear(&mut self) {
        let Some((sent, rtt, is_lost)) = self.under_way.pop_front() else { return };
        self.now = self.now.max(sent.saturating_add(rtt));
        let now = self.now;
        if is_lost {
            self.flow.on_lost(
                &Lost {
                    now,
                    segment: 0,
                    sent,
                    in_flight: 1,
                    lost: 1,
                    delivered_total: 0,
                    application_limited: false,
                },
                &PATH,
            );
        } else {
            let limited = self.limited;
            let in_flight = self.under_way.len() as u64 + 1;
            self.heard += 1;
            let marked = self.marked.map_or(0, |every| u64::from(self.heard.is_multiple_of(every)));
            let news =
                Feedback { rtt: Some(rtt), limited, in_flight, marked, ..Feedback::at(now, 1) };
            self.flow.on_feedback(&news, &PATH);
        }
    }

    /// When the next acknowledgment comes.
    fn arrival(&self) -> Time {
        let next = self.under_way.front().filter(|_| !self.deaf);
        next.map_or(Time(u64::MAX), |&(sent, rtt, _)| sent.saturating_add(rtt))
    }

    /// The next thing happens.
    fn go(&mut self) {
        let (alarm, arrival) = (self.flow.timer().unwrap_or(Time(u64::MAX)), self.arrival());
        if alarm <= self.next.min(arrival) {
            self.now = self.now.max(alarm);
            self.flow.on_timer(self.now, &PATH);
        } else if arrival <= self.next {
            self.hear();
        } else {
            self.send();
        }
    }

    /// Until r is another one, and how many round trips that took.
    fn until_it_moves(&mut self) -> f64 {
        let (from, rate) = (self.now, self.rate());
        while self.rate() == rate {
            self.go();
            assert!(self.now.since(from) < Span::from_seconds(100), "it stays at {rate} Mbit/s");
        }
        self.now.since(from).seconds() / RTT.seconds()
    }

    fn go_on_for(&mut self, seconds: u64) {
        let end = self.now.saturating_add(Span::from_seconds(seconds));
        while self.now < end {
            self.go();
        }
    }
}

/// 100 Mbit/s with room for whatever is too much.
fn fast(rate: f64) -> (f64, f64) {
    (0.0, (rate / 100.0 - 1.0).max(0.0))
}

/// Whatever the rate, nothing happens.
fn boundless(_: f64) -> (f64, f64) {
    (0.0, 0.0)
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

/// 6 Mbit/s are tried, then 12, 24, 48 and 96; at 192 the queue grows by 0.92, and 96 it is.
#[test]
fn the_rate_doubles_until_utility_falls() {
    let mut told = Told::new(fast);
    for rate in [12.0, 24.0, 48.0, 96.0] {
        told.until_it_moves();
        assert_near(told.rate(), rate, 1e-9);
        assert!(matches!(told.flow.phase, Phase::Starting(Some(_))));
    }
    while matches!(told.flow.phase, Phase::Starting(_)) {
        told.go();
        assert_near(told.rate(), 96.0, 1e-9);
    }
    assert_eq!(told.flow.phase, Phase::Learning(None));
}

/// A path that takes 4 Mbit/s loses a third of the first 6. That is worse than nothing, so it learns from 3 on.
#[test]
fn a_first_rate_that_is_worse_than_nothing_ends_the_start() {
    let mut told = Told::new(|rate| ((1.0 - 4.0 / rate).max(0.0), 0.0));
    told.until_it_moves();
    assert_near(told.rate(), 3.0, 1e-9);
    assert_eq!(told.flow.phase, Phase::Learning(None));
}

/// An interval of a round trip, the round trip until its end is known, and an eighth.
#[test]
fn a_doubling_takes_two_round_trips() {
    let mut told = Told::new(boundless);
    told.until_it_moves();
    for _ in 0..3 {
        assert_near(told.until_it_moves(), 2.125, 0.03);
    }
}

/// Two intervals at 95 and 105 Mbit/s, whichever comes first, and 100 until both are known.
#[test]
fn both_rates_are_tried_and_then_it_waits() {
    let mut first = [0, 0];
    for chance in 0..200 {
        let mut told = Told::new(boundless);
        told.flow.chance = Chance::new(chance);
        let mut told = told.at(100.0);
        let mut paces = Vec::new();
        while told.rate() < 100.1 {
            told.go();
            if paces.last() != Some(&told.pace()) {
                paces.push(told.pace());
            }
        }
        paces.truncate(3);
        let up = paces[0] > 100.0;
        first[usize::from(up)] += 1;
        let expected = if up { [105.0, 95.0, 100.0] } else { [95.0, 105.0, 100.0] };
        (0..3).for_each(|place| assert_near(paces[place], expected[place], 1e-9));
    }
    // Standard deviation 7.
    assert!(first.iter().all(|&times| times > 70), "{first:?}");
}

/// (105^0.9 - 95^0.9)/10 = 0.56788 per Mbit/s, and so much is added; then at 100.57 Mbit/s twice 0.56756, at 101.70 three
/// times 0.56692, and at 103.40 five times 0.56599. Each takes two intervals, a round trip and an eighth.
#[test]
fn where_nothing_is_lost_it_grows_faster_and_faster() {
    let mut told = Told::learning(100.0, boundless);
    let (mut before, mut gained) = (100.0, Vec::new());
    for _ in 0..4 {
        let took = told.until_it_moves();
        assert_near(took, 3.125, 0.03);
        gained.push(told.rate() - before);
        before = told.rate();
    }
    let expected = [0.567_88, 2.0 * 0.567_56, 3.0 * 0.566_92, 5.0 * 0.565_99];
    (0..4).for_each(|place| assert_near(gained[place], expected[place], 1e-4));
}

/// With 4 % lost 100 Mbit/s still grow: they would up to 937.
#[test]
fn it_grows_while_losses_cost_less_than_the_rate_brings() {
    let mut told = Told::by_the_text(100.0, |_| (0.04, 0.0));
    told.go_on_for(15);
    assert!(told.rate() > 120.0, "{}", told.rate());
}

/// One that is told to bear no losses gives way to them, by 5 %, 15 % and 25 % of what it has.
#[test]
fn a_large_coefficient_of_losses_bears_none() {
    let changes = [("loss_coefficient", Setting::Number(1e5)), ("tolerant", Setting::Flag(false))];
    let mut told = Told::with(&changes, |_| (0.02, 0.0)).at(100.0);
    for rate in [95.0, 95.0 * 0.85, 95.0 * 0.85 * 0.75] {
        told.until_it_moves();
        assert_near(told.rate(), rate, 1e-9);
    }
}

/// Section 4.3. At 95 Mbit/s a fiftieth is lost and at 105 nothing: odd, and tried again. It comes out the same, and counts.
#[test]
fn what_is_odd_is_looked_at_again() {
    let odd = |rate| (if rate < 100.0 { 0.02 } else { 0.0 }, 0.0);
    let mut told = Told::by_the_text(100.0, odd);
    assert_near(told.until_it_moves(), 2.0 * 3.125, 0.06);
    assert!(told.rate() > 100.0);
    assert_eq!(told.flow.phase, Phase::Learning(None));
    // Of what is odd once only the second look counts.
    let mut told = Told::by_the_text(100.0, odd);
    while told.flow.phase == Phase::Learning(None) {
        told.go();
    }
    assert_near(told.rate(), 100.0, 1e-9);
    told.world = boundless;
    told.until_it_moves();
    assert_near(told.rate(), 100.567_88, 2e-3);
}

/// The mean of two gradients that are both odd: 1 and 3 per Mbit/s are 2.
#[test]
fn two_odd_gradients_count_half_each() {
    let mut told = Told::by_the_text(100.0, boundless);
    let trial = |lost: u64| {
        let mut trial = Trial::of([105.0 / SEGMENT, 95.0 / SEGMENT], 2);
        trial.intervals = [(105.0, 0), (95.0, lost)]
            .map(|(rate, lost)| Interval::known_to_have_lost(lost, rate / SEGMENT));
        trial
    };
    let rate = 100.0 / SEGMENT;
    told.flow.judge(rate, &trial(10));
    assert_near(told.rate(), 100.0, 1e-9);
    told.flow.judge(rate, &trial(30));
    // 0.56788, and of a hundredth and three hundredths of 95 Mbit/s 11.35 times as much over 10: 1.07825 and 3.23475.
    assert_near(told.rate(), 100.0 + 0.567_88 + 2.1565, 1e-3);
}

/// A queue that grows by a twentieth at 105 Mbit/s, and one that shrinks at 95: 900 times as much and more per step. That is
/// bounded by 5 %, 15 % and 25 %.
#[test]
fn it_leaves_a_queue_to_empty() {
    let mut told = Told::learning(150.0, |rate| (0.0, rate / 100.0 - 1.0));
    told.until_it_moves();
    assert_near(told.rate(), 142.5, 1e-9);
    told.until_it_moves();
    assert_near(told.rate(), 142.5 * 0.85, 1e-9);
}

/// Nothing comes back of what was tried: two round trips after its end half the rate is left, and nothing is tried until an
/// acknowledgment comes. A flow with nothing under way keeps its rate.
#[test]
fn silence_halves_the_rate() {
    let mut told = Told::learning(100.0, boundless);
    told.deaf = true;
    assert_near(told.until_it_moves(), 4.0, 0.01);
    assert_near(told.rate(), 50.0, 1e-9);
    assert_eq!((told.pace(), told.flow.timer()), (told.rate(), None));
    let mut idle = Told::learning(100.0, boundless);
    idle.flow.busy = false;
    while let Some(alarm) = idle.flow.timer() {
        idle.flow.on_timer(alarm, &PATH);
    }
    assert_near(idle.rate(), 100.0, 1e-9);
    assert!(idle.flow.trial.is_none());
}

/// At 95 Mbit/s just half is lost and at 105 more: half the rate is left, whatever round trips say.
#[test]
fn where_more_than_half_is_lost_the_rate_halves() {
    let mut told =
        Told::learning(100.0, |rate| (if rate > 100.0 { 0.51 } else { 0.49 }, 100.0 - rate));
    told.until_it_moves();
    assert_near(told.rate(), 50.0, 1e-9);
    let mut told = Told::learning(100.0, |_| (0.49, 0.0));
    told.until_it_moves();
    assert_near(told.rate(), 95.0, 0.05);
}

const TIMEOUT: Congestion =
    Congestion { now: Time::ZERO, cause: Cause::Timeout, in_flight: 10, again: false };

/// A retransmission time-out halves the rate and ends the start; before there is a round trip it leaves a window of one.
#[test]
fn a_time_out_halves_the_rate() {
    let mut told = Told::new(boundless);
    told.until_it_moves();
    told.flow.on_congestion(&TIMEOUT, &PATH);
    assert_near(told.rate(), 6.0, 1e-9);
    assert_eq!(told.flow.phase, Phase::Learning(None));
    // Neither a loss nor a mark is an event.
    for cause in [Cause::Loss, Cause::Mark] {
        told.flow.on_congestion(&Congestion { cause, ..TIMEOUT }, &PATH);
    }
    assert_near(told.rate(), 6.0, 1e-9);
    let mut fresh = Vivace::new(&controller().defaults(), &Start::default());
    assert_eq!((fresh.window(), fresh.pacing()), (Segments(10.0), Pacing::Unpaced));
    fresh.on_congestion(&TIMEOUT, &PATH);
    assert_eq!(fresh.window(), Segments(1.0));
}

/// Ten segments in 100 ms are 100 per second, at which they go on; the window has room for twice as many.
#[test]
fn the_first_round_trip_gives_the_first_rate() {
    let mut flow = Vivace::new(&controller().defaults(), &Start::default());
    flow.on_feedback(&Feedback { rtt: Some(RTT), ..Feedback::at(Time::ZERO, 1) }, &PATH);
    assert_eq!((flow.pacing(), flow.window()), (Pacing::Rate(100.0), Segments(20.0)));
}

/// Ten segments in no time are a rate that nothing carries. It counts for nothing even if a time-out has halved it before the
/// first round trip is measured: five segments in 100 ms are left. Later ones may be as much longer as they like.
#[test]
fn a_round_trip_of_no_time_gives_no_rate() {
    let start = Start { round_trip: Some(Span::ZERO), ..Start::default() };
    for (timeouts, rate) in [(0, 100.0), (1, 50.0)] {
        let mut flow = Vivace::new(&controller().defaults(), &start);
        for _ in 0..timeouts {
            flow.on_congestion(&TIMEOUT, &PATH);
        }
        flow.on_feedback(&Feedback { rtt: Some(RTT), ..Feedback::at(Time::ZERO, 1) }, &PATH);
        assert_near(flow.rate.expect("there is a round trip"), rate, 1e-9);
        flow.on_congestion(&TIMEOUT, &PATH);
        let longer = Path { rtt: RTT * 1000, ..PATH };
        flow.on_feedback(
            &Feedback { rtt: Some(RTT * 1000), ..Feedback::at(Time::ZERO, 1) },
            &longer,
        );
        assert_near(flow.rate.expect("there is a round trip"), rate / 2.0, 1e-9);
    }
}

/// What goes well while the application has too little says nothing: the start neither goes on nor ends.
#[test]
fn it_does_not_judge_what_it_could_not_send() {
    for limited in [Limited::Application, Limited::Receiver] {
        let mut told = Told::new(boundless);
        told.limited = limited;
        told.go_on_for(3);
        assert_near(told.rate(), 6.0, 1e-9);
        assert_eq!(told.flow.phase, Phase::Starting(None));
        told.limited = Limited::Window;
        told.until_it_moves();
        assert_near(told.rate(), 12.0, 1e-9);
    }
}

/// But what goes badly does: a third of what little there was is lost.
#[test]
fn losses_end_the_start_of_a_flow_that_has_too_little_to_send() {
    let mut told = Told::new(|_| (0.33, 0.0));
    told.limited = Limited::Application;
    told.until_it_moves();
    assert_near(told.rate(), 3.0, 1e-9);
    assert_eq!(told.flow.phase, Phase::Learning(None));
}

/// Marks of a router count as losses: every fourth segment marked is a quarter lost, and a Mbit/s more is worth 11.35/4 less.
#[test]
fn marks_count_as_losses() {
    let mut told = Told::learning(100.0, boundless);
    told.marked = Some(4);
    told.until_it_moves();
    assert_near(told.rate(), 100.0 + 0.567_88 - 2.837_5, 0.01);
    let judged = told.flow.judged.expect("an interval was judged");
    assert_near(judged.share_congested, 0.25, 1e-4);
}

/// All of them marked costs 11.35 for each Mbit/s more, bounded by 5 %, and is no emergency: they have arrived.
#[test]
fn marks_are_no_emergency() {
    let mut told = Told::learning(100.0, boundless);
    told.marked = Some(1);
    told.until_it_moves();
    assert_near(told.rate(), 95.0, 1e-9);
}

/// Nothing is shown of an interval before one was judged, and then the one that was judged last.
#[test]
fn what_is_shown_is_of_the_last_interval() {
    struct Shown(Vec<(String, f64)>);
    impl Probe for Shown {
        fn value(&mut self, name: &str, value: f64) {
            self.0.push((name.to_owned(), value));
        }
    }
    let shown = |flow: &Vivace| {
        let mut shown = Shown(Vec::new());
        flow.observe(&mut shown);
        shown.0
    };
    assert_eq!(shown(&Vivace::new(&controller().defaults(), &Start::default())), []);
    let mut told = Told::new(boundless);
    assert_eq!(shown(&told.flow), [("rate".to_owned(), told.rate())]);
    told.until_it_moves();
    let utility = told.flow.judged.expect("one was judged").utility;
    // 12^0.9
    assert_near(utility, 9.359_7, 1e-4);
    let expected = [("rate", told.rate()), ("utility", utility), ("gradient", 0.0), ("lost", 0.0)];
    assert_eq!(shown(&told.flow), expected.map(|(name, value)| (name.to_owned(), value)));
    // Of two the second, which loses a twentieth more, whichever comes first.
    let mut told = Told::learning(100.0, |rate| (if rate > 100.0 { 0.1 } else { 0.05 }, 0.0));
    let second = if told.pace() > 100.0 { 0.05 } else { 0.1 };
    told.until_it_moves();
    assert_near(told.flow.judged.expect("two were judged").share_congested, second, 1e-3);
}

/// Two segments per round trip are the least: 0.024 Mbit/s, of which an interval of ten takes half a second.
#[test]
fn the_least_rate_is_two_segments_per_round_trip() {
    let mut told = Told::learning(1.0, |_| (0.5, 0.0));
    told.go_on_for(200);
    assert_near(told.rate(), 0.024, 0.005);
    assert!(told.flow.window() >= Segments(4.0));
}

/// After a pause the flow begins with what it knows: what was tried before says nothing.
#[test]
fn a_pause_drops_what_was_tried() {
    let mut told = Told::learning(100.0, boundless);
    told.go_on_for(1);
    told.flow.on_restart(told.now, &PATH);
    assert!(told.flow.trial.is_none());
}

/// The first window over the first round trip: over what the host knows of it, unless that is nothing beside what is measured.
#[test]
fn the_first_rate_is_that_of_a_round_trip() {
    for (known, segments) in [(0, 10.0), (1_000, 10.0), (1_000_000_000, 1000.0), (RTT.0, 10.0)] {
        let start =
            Start { window: Segments(10.0), round_trip: Some(Span(known)), ..Start::default() };
        let mut flow = Vivace::new(&controller().defaults(), &start);
        let now = Time::ZERO + RTT;
        flow.on_feedback(&Feedback { rtt: Some(RTT), ..Feedback::at(now, 1) }, &PATH);
        let per_round_trip = flow.rate.expect("it has one") * RTT.seconds();
        assert!((per_round_trip - segments).abs() < 1e-6, "{known} ps: {per_round_trip}");
        assert_eq!(flow.window().0, HEADROOM * per_round_trip);
    }
}
