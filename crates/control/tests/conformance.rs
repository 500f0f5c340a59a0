//! What every controller promises, looped over the list of controllers.

use longfat_control::conformance::{self, Checked, Effort, Operation, Promise};
use longfat_control::{
    Adjustment, CONTROLLERS, Cause, Congestion, CongestionControl, Controller, Feedback, Limited,
    Path, Promises, RateSample, Sending, SlowStart, Start,
};
use longfat_units::{RouterHeader, Segments, Span, Time};
use proptest::prelude::*;

const RTT: Span = Span::from_millis(100);
const PATH: Path = Path { rtt: RTT, base_rtt: RTT };
const TEN_DAYS: Span = Span::from_seconds(10 * 24 * 3600);

/// What one controller promises at one window W, on a path of 100 ms: worked out independently of the code, from the
/// numbers of the source, for a round of as many acknowledged segments as the window holds.
struct Numbers {
    /// W.
    window: f64,
    /// Segments that a round adds in congestion avoidance that began at W.
    grown: f64,
    /// What a loss at W leaves.
    kept: f64,
    /// Segments that the next round adds.
    regrown: f64,
}

const fn at(window: f64, grown: f64, kept: f64, regrown: f64) -> Numbers {
    Numbers { window, grown, kept, regrown }
}

/// Two segments, each adding 1/w to a growing w: 1/2 + 1/2.5.
const TWO_OF_RENO: f64 = 0.9;

/// The promises of a controller: at 2, 10³, 10⁵ and 10⁷ segments. A controller that is not here fails.
#[expect(clippy::too_many_lines, reason = "a table with a row for each controller")]
fn promises(name: &str) -> [Numbers; 4] {
    match name {
        // RFC 5681: one segment per round trip, half at a loss, never below two. Floyd's constant rate is the same at
        // 100 ms: 100 /s · (100 ms)² = 1. AntiECN that never hears of room is its base law. DCTCP and Prague differ at
        // marks, and Prague on round trips below 25 ms. H-TCP is Reno for a second, and at its first loss; Illinois, Veno
        // and Westwood before they have measured a round trip; CDG while round trips do not grow.
        "reno" | "constant-rate" | "sized-start" | "anti-ecn" | "dctcp" | "prague" | "h-tcp"
        | "illinois" | "veno" | "westwood" | "cdg" => [
            at(2.0, TWO_OF_RENO, 2.0, TWO_OF_RENO),
            at(1e3, 1.0, 500.0, 1.0),
            at(1e5, 1.0, 5e4, 1.0),
            at(1e7, 1.0, 5e6, 1.0),
        ],
        // RFC 3649: a(w) = w² p(w) 2b/(2-b) with p(w) = 10⁻³ (w/38)^-1.19786 and b(w) = 0.5 - 0.052022 ln(w/38),
        // b constant at 0.067106 from 156 202 segments on: a(10³) = 7.85, a(10⁵) = 75.6, a(10⁷) = 2233.
        "hstcp" => [
            at(2.0, TWO_OF_RENO, 2.0, TWO_OF_RENO),
            at(1e3, 7.848, 670.12, 6.127),
            at(1e5, 75.63, 90_969.0, 74.12),
            at(1e7, 2233.2, 9_328_942.0, 2112.2),
        ],
        // Pan et al.: HSTCP's increase times 10 /s · 100 ms = 1.
        "cw-hstcp" => promises("hstcp"),
        // Kelly: 1 % per round trip, an eighth at a loss; Reno up to 16 segments. Baiocchi et al.: the same while the
        // queue is short, Reno where that adds more.
        "stcp" | "yeah" => [
            at(2.0, TWO_OF_RENO, 2.0, TWO_OF_RENO),
            at(1e3, 10.0, 875.0, 8.75),
            at(1e5, 1000.0, 87_500.0, 875.0),
            at(1e7, 1e5, 8.75e6, 87_500.0),
        ],
        // Jin and Liu: s (e^0.05 - 1) = 0.051271 s in the first round of an epoch, s = max(4, √cwnd₀). At two
        // segments 0.05 (1 + 2/2) + 0.05 (1 + 2/2.1).
        "exp" => [
            at(2.0, 0.197_62, 2.0, 0.197_62),
            at(1e3, 0.051_271 * 31.623, 875.0, 0.051_271 * 29.580),
            at(1e5, 0.051_271 * 316.23, 87_500.0, 0.051_271 * 295.80),
            at(1e7, 0.051_271 * 3162.3, 8.75e6, 0.051_271 * 2958.0),
        ],
        // Kavak and Kunniyur, alpha = 1e-4: one segment per round trip; a loss takes w/(1e-4 w² + 2) segments, 9.8039
        // of 10³, 0.1 of 10⁵ and 0.001 of 10⁷.
        "fiber" => [
            at(2.0, TWO_OF_RENO, 2.0, TWO_OF_RENO),
            at(1e3, 1.0, 990.196, 1.0),
            at(1e5, 1.0, 99_999.9, 1.0),
            at(1e7, 1.0, 9_999_999.999, 1.0),
        ],
        "aimd" => [
            at(2.0, 0.408, 2.0, 0.408), // 3/7 per round: 0.4286/2 + 0.4286/2.214
            at(1e3, 0.4286, 750.0, 0.4286),
            at(1e5, 0.4286, 75_000.0, 0.4286),
            at(1e7, 0.4286, 7.5e6, 0.4286),
        ],
        // Xu et al.: one segment at first where no maximum is known; an eighth at a loss, then 32 per round trip, as a
        // round of 875 acknowledgments adds 32/w to a growing w. At 10⁷ the first step of one segment ends 0.6 % early,
        // by the rounding of 10⁷ + 10⁻⁷, and the second, of two, begins.
        "bic" => [
            at(2.0, TWO_OF_RENO, 2.0, TWO_OF_RENO),
            at(1e3, 1.0, 875.0, 31.43),
            at(1e5, 1.0, 87_500.0, 32.0),
            at(1e7, 1.01, 8.75e6, 32.0),
        ],
        // The draft: a response of 0.255/p^0.8 from 1 + (α w^0.75 - 1) per round trip, α = 1/8, from 41 segments on;
        // half at a loss.
        "compound" => [
            at(2.0, TWO_OF_RENO, 2.0, TWO_OF_RENO),
            at(1e3, 22.2, 500.0, 13.2),
            at(1e5, 702.9, 5e4, 418.0),
            at(1e7, 22_228.0, 5e6, 13_217.0),
        ],
        // Caini and Firrincieli: ρ = 4 at 100 ms, so 16 segments per round trip and half at a loss; from two segments
        // by 4, and by 16/6.
        "hybla" => [
            at(2.0, 6.6667, 2.0, 6.6667),
            at(1e3, 15.9, 500.0, 15.8),
            at(1e5, 16.0, 5e4, 16.0),
            at(1e7, 16.0, 5e6, 16.0),
        ],
        // The draft: layer 5 from 1000 segments on, 22 from 88 550, 106 from 9 924 250; what 15 % less leaves is in
        // layer 4, 21 and 100.
        "ltcp" => [
            at(2.0, TWO_OF_RENO, 2.0, TWO_OF_RENO),
            at(1e3, 5.0, 850.0, 4.0),
            at(1e5, 22.0, 85_000.0, 21.0),
            at(1e7, 106.0, 8.5e6, 100.0),
        ],
        // Crowcroft and Oechslin, n = 2: two segments per round trip, a quarter at a loss. At two segments each adds
        // one, and then 2/3.
        "multcp" => [
            at(2.0, 1.6667, 2.0, 1.6667),
            at(1e3, 2.0, 750.0, 2.0),
            at(1e5, 2.0, 75_000.0, 2.0),
            at(1e7, 2.0, 7.5e6, 2.0),
        ],
        // RFC 9438. Without a maximum W_est grows as Reno. After a loss W - 0.7 W = 0.4 K³ gives K = 9.0856,
        // 42.172 and 195.74 s, and the window chases 0.4 (t + 0.1 - K)³ + W for 0.1 s.
        "cubic" => [
            at(2.0, TWO_OF_RENO, 2.0, TWO_OF_RENO),
            at(1e3, 1.0, 700.0, 9.680),
            at(1e5, 1.0, 7e4, 212.35),
            at(1e7, 1.0, 7e6, 4592.9),
        ],
        // BBR does not know avoidance from slow start. In Startup the window grows by what is delivered while it is
        // below 2 (BBRv1: 2.89) products of rate and round trip and what comes on top of it, so it doubles. From two
        // segments the first acknowledgment takes it to the four that are its floor, and the second to five. A loss as
        // such takes nothing.
        "bbr1" | "bbr3" => [
            at(2.0, 3.0, 2.0, 3.0),
            at(1e3, 1e3, 1e3, 1e3),
            at(1e5, 1e5, 1e5, 1e5),
            at(1e7, 1e7, 1e7, 1e7),
        ],
        // Xia et al.: 6.25 % in 200 ms, and so 1.0625^(100/200) - 1 = 3.0776 % in 100 ms; half at a loss.
        "vcp" => [
            at(2.0, 0.0616, 2.0, 0.0616),
            at(1e3, 30.776, 500.0, 15.388),
            at(1e5, 3077.6, 5e4, 1538.8),
            at(1e7, 307_764.0, 5e6, 153_882.0),
        ],
        // Ramakrishnan and Jain: one segment, unless the acknowledgments are those of a larger window before.
        "decbit" => [
            at(2.0, 1.0, 2.0, 0.0),
            at(1e3, 1.0, 500.0, 0.0),
            at(1e5, 1.0, 5e4, 0.0),
            at(1e7, 1.0, 5e6, 0.0),
        ],
        // Katabi et al.: what the routers say, here 0.01 segments for each acknowledged one; half at a loss.
        "xcp" => [
            at(2.0, 0.02, 2.0, 0.02),
            at(1e3, 10.0, 500.0, 5.0),
            at(1e5, 1000.0, 5e4, 500.0),
            at(1e7, 1e5, 5e6, 5e4),
        ],
        // Brakmo and Peterson: one segment per round trip where nothing waits; a loss as in Reno.
        "vegas" => [
            at(2.0, 1.0, 2.0, 1.0),
            at(1e3, 1.0, 500.0, 1.0),
            at(1e5, 1.0, 5e4, 1.0),
            at(1e7, 1.0, 5e6, 1.0),
        ],
        // Jin, Wei and Low, with alpha = 200: half of it per round trip where nothing waits, but no more than doubled.
        "fast" => [
            at(2.0, 2.0, 2.0, 2.0),
            at(1e3, 100.0, 500.0, 100.0),
            at(1e5, 100.0, 5e4, 100.0),
            at(1e7, 100.0, 5e6, 100.0),
        ],
        // Arun and Balakrishnan: 1/delta = 2 segments per round trip where nothing waits, 1 + 2/3 from two; a loss takes
        // nothing.
        "copa" => [
            at(2.0, 1.667, 2.0, 1.667),
            at(1e3, 2.0, 1e3, 2.0),
            at(1e5, 2.0, 1e5, 2.0),
            at(1e7, 2.0, 1e7, 2.0),
        ],
        // Dong et al.: the rate that the window had, and room for twice that, from the first round trip on. What it tries is
        // judged later. A loss takes nothing.
        "vivace" => [
            at(2.0, 2.0, 2.0, 2.0),
            at(1e3, 1e3, 1e3, 1e3),
            at(1e5, 1e5, 1e5, 1e5),
            at(1e7, 1e7, 1e7, 1e7),
        ],
        // Gu and Grossman: its window is what arrives in a round trip, of which nothing is told here, nor which segments are
        // lost.
        "udt" => [2.0, 1e3, 1e5, 1e7].map(|window| at(window, 0.0, window, 0.0)),
        // Johansson et al.: one segment and 2 % as long as there has been no congestion, 1.04/2 + 1.0504/2.52 where each adds
        // that over w; then 2 % times the share of 10 s that has passed since, 1.5 % in the mean of the second round of
        // 100 ms; 0.7 at a loss, and then far from where it was. But two segments are the least, and there they grow by a
        // quarter each: 1/8 + 0.25/2.125.
        "scream" => [
            at(2.0, 0.9368, 2.0, 0.2426),
            at(1e3, 21.0, 700.0, 1.21),
            at(1e5, 2001.0, 7e4, 22.0),
            at(1e7, 200_001.0, 7e6, 2101.0),
        ],
        // RFC 6817: as Reno where nothing waits, and at a loss.
        "ledbat" => promises("reno"),
        // The draft: 2 · 60 ms/100 ms is more than one, so half of Reno's growth. 0.5/2 + 0.5/2.25.
        "ledbat++" => [
            at(2.0, 0.472, 2.0, 0.472),
            at(1e3, 0.5, 500.0, 0.5),
            at(1e5, 0.5, 5e4, 0.5),
            at(1e7, 0.5, 5e6, 0.5),
        ],
        _ => panic!("`{name}` has no promises here: work them out from its source and add them"),
    }
}

/// Segments that a round from `window` adds in slow start: W, but for BBR, whose floor is four; EXP-TCP, which adds
/// 100/w per segment above 100; Hybla, 2⁴ - 1 per segment at 100 ms up to 4·44 segments; and MulTCP, two per segment up to 3^(ln 2/ln 1.5) = 6.5. What
/// has no slow start adds what it always does.
fn promised_in_slow_start(name: &str, window: f64) -> f64 {
    match (name, window) {
        ("bbr1" | "bbr3", 2.0) => 3.0, // the floor, and one more
        ("hybla", 2.0) => 30.0,
        ("multcp", 2.0) => 4.0,
        ("exp", 1000.0) => 95.445, // √(1000² + 2·100·1000) - 1000
        ("decbit" | "scream" | "vcp" | "xcp", window) => {
            promises(name)[usize::from(window > 2.0)].grown
        }
        // LEDBAT has none, LEDBAT++ half.
        ("ledbat", 2.0) => TWO_OF_RENO,
        ("ledbat", _) => 1.0,
        ("ledbat++", _) => window / 2.0,
        _ => window,
    }
}

fn build(controller: &Controller, start: &Start) -> Box<dyn CongestionControl> {
    let sending = (controller.build)(&controller.defaults(), start);
    sending.windowed().expect("only controllers with a window are used")
}

/// In congestion avoidance from the start.
fn avoiding(controller: &Controller, window: f64) -> Box<dyn CongestionControl> {
    let window = Segments(window);
    build(controller, &Start { window, threshold: Some(window), ..Start::default() })
}

fn starting(controller: &Controller, window: f64) -> Box<dyn CongestionControl> {
    build(controller, &Start { window: Segments(window), ..Start::default() })
}

fn ack(now: Time, acked: u64) -> Feedback {
    Feedback { rtt: Some(RTT), ..Feedback::at(now, acked) }
}

fn loss(now: Time) -> Congestion {
    Congestion { now, cause: Cause::Loss, in_flight: 1000, again: false }
}

/// A windowful of acknowledgments, spread over a round trip. Returns what it adds.
fn round(control: &mut dyn CongestionControl, from: Time) -> f64 {
    let before = control.window().0;
    let segments = before.round() as u64;
    let acked = (segments / 100_000).max(1);
    let samples = control.wants().delivery_rate;
    for arrived in (0..segments).step_by(acked as usize) {
        let after = Span((RTT.0 as f64 * arrived as f64 / segments as f64) as u64);
        // The rate at which a window per round trip is delivered.
        let rate = samples.then(|| RateSample {
            delivered_total: arrived + acked,
            in_flight: segments,
            ..RateSample::of(segments, RTT)
        });
        let header = RouterHeader { feedback: 0.01 * acked as f64, ..RouterHeader::default() };
        let router = control.wants().router_header.then_some(header);
        let round_starts = arrived == 0;
        let in_flight = control.window().0 as u64;
        let ack = ack(from + after, acked);
        let heard = Feedback { rate, router, round_starts, in_flight, ..ack };
        control.on_feedback(&heard, &PATH);
    }
    control.window().0 - before
}

/// The controllers that have a window.
fn windowed() -> impl Iterator<Item = &'static Controller> {
    let sending = |entry: &Controller| (entry.build)(&entry.defaults(), &Start::default());
    CONTROLLERS
        .iter()
        .map(|entry| &**entry)
        .filter(move |entry| sending(entry).windowed().is_some())
}

/// Those whose window grows with acknowledged segments and falls at congestion, whatever else the law does.
fn additive() -> impl Iterator<Item = &'static Controller> {
    windowed().filter(|entry| build(entry, &Start::default()).promises().additive)
}

#[test]
fn laws_promise_what_laws_promise() {
    for controller in windowed().filter(|entry| entry.law.is_some() && !entry.heeds_delay()) {
        let promises = build(controller, &Start::default()).promises();
        let fastest = Promises { doubles_at_most: promises.doubles_at_most, ..Promises::LAW };
        assert_eq!(promises, fastest, "{}", controller.name);
    }
}

#[track_caller]
fn assert_within_1_percent(measured: f64, promised: f64, what: &str) {
    let close = (measured - promised).abs() <= 0.01 * promised;
    assert!(close, "{what}: {measured}, promised {promised}");
}

#[test]
fn growth_and_reduction_are_those_of_the_source() {
    for controller in windowed() {
        let name = &*controller.name;
        for Numbers { window, grown, kept, regrown } in promises(name) {
            let mut control = avoiding(controller, window);
            let measured = round(&mut *control, Time::ZERO);
            assert_within_1_percent(measured, grown, &format!("{name}, a round at {window}"));

            let mut control = avoiding(controller, window);
            control.on_congestion(&loss(Time::ZERO), &PATH);
            let left = control.window().0;
            assert_within_1_percent(left, kept, &format!("{name}, a loss at {window}"));
            let measured = round(&mut *control, Time::ZERO + RTT);
            assert_within_1_percent(measured, regrown, &format!("{name}, after it at {window}"));
        }
    }
}

#[test]
fn slow_start_is_that_of_the_source() {
    for controller in windowed() {
        for window in [2.0, 1000.0] {
            let mut control = starting(controller, window);
            let measured = round(&mut *control, Time::ZERO);
            let promised = promised_in_slow_start(&controller.name, window);
            let what = format!("{}, slow start at {window}", controller.name);
            assert_within_1_percent(measured, promised, &what);
        }
    }
}

/// draft-ietf-ccwg-ratelimited-increase-10, section 3: limit(W) is "the maximum cwnd value the congestion control algorithm
/// would yield by increasing for all ACKs that would be produced by successfully transmitting one window of size" W. As with
/// the SMSS + maxFS of Reno there, each of them adds what the first does.
#[test]
fn growth_limits_are_what_a_round_yields() {
    let mut without = Vec::new();
    for controller in windowed() {
        let name = &*controller.name;
        let limit_of = |control: &dyn CongestionControl, used: f64| {
            let heard = Feedback {
                router: control.wants().router_header.then(RouterHeader::default),
                ..ack(Time::ZERO + RTT, 1)
            };
            control.growth_limit(Segments(used), &heard, &PATH)
        };
        if limit_of(&*avoiding(controller, 10.0), 10.0).is_none() {
            without.push(name);
            continue;
        }
        let hold = |mut control: Box<dyn CongestionControl>, promised: f64, what: &str| {
            // What it measures and remembers moves on in a round, so one of the two is that of the round.
            let window = control.window().0;
            let before = limit_of(&*control, window).expect("it has one").0 - window;
            let yielded = round(&mut *control, Time::ZERO);
            let after = limit_of(&*control, window).expect("it has one").0 - window;
            let what =
                format!("{name}, {what} at {window}: {yielded}, limits {before} and {after}");
            assert!(before.max(after) >= 0.97 * yielded, "{what}");
            // Of few segments the first adds clearly more than the last.
            let slack = if window < 10.0 { 1.25 } else { 1.05 };
            assert!(before.min(after) <= slack * promised, "{what}");
        };
        for Numbers { window, grown, .. } in promises(name) {
            hold(avoiding(controller, window), grown, "a round");
        }
        for window in [2.0, 1000.0] {
            let promised = promised_in_slow_start(name, window);
            hold(starting(controller, window), promised, "slow start");
        }
    }
    // Their windows follow from what the path delivers, from routers, or have a bound of this kind of their own.
    assert_eq!(without, ["bbr1", "bbr3", "scream", "udt", "vivace", "xcp"]);
}

/// Where growth has gone beyond its limit, a controller has the window that the host says, and knows all that it knew: bounded
/// to the window that it has, it is what it was.
#[test]
fn a_bound_on_growth_forgets_nothing() {
    let mut forgetful = Vec::new();
    // The window of DECbit is sent in whole segments: `a_bound_on_growth_keeps_the_bits_seen` is of that.
    for controller in windowed().filter(|controller| controller.name != "decbit") {
        let mut control = avoiding(controller, 200.0);
        if control.growth_limit(Segments(200.0), &ack(Time::ZERO, 1), &PATH).is_none() {
            continue;
        }
        let mut now = Time::ZERO;
        for _ in 0..3 {
            round(&mut *control, now);
            control.on_congestion(&loss(now + RTT), &PATH);
            round(&mut *control, now + RTT);
            now += RTT + RTT;
        }
        let before = format!("{control:?}");
        let event = Adjustment { now, window: control.window(), threshold: None };
        control.trim(&event, &PATH);
        if format!("{control:?}") != before {
            forgetful.push(&*controller.name);
        }
    }
    assert_eq!(forgetful, [""; 0]);
}

#[test]
fn one_acknowledgment_of_n_equals_n_of_one() {
    for controller in windowed() {
        if !build(controller, &Start::default()).promises().any_batching {
            continue;
        }
        for slow_start in SlowStart::ALL {
            for (window, threshold) in
                [(2.0, 2.0), (10.0, 1e9), (90.0, 120.0), (1e3, 1e3), (1e5, 1e5), (1e7, 1e7)]
            {
                let threshold = Some(Segments(threshold));
                let start =
                    Start { window: Segments(window), threshold, slow_start, ..Start::default() };
                let [mut one, mut many] = [build(controller, &start), build(controller, &start)];
                let mut now = Time::ZERO;
                for acked in [1, 7, 64, 1000] {
                    now += RTT;
                    one.on_feedback(&ack(now, acked), &PATH);
                    (0..acked).for_each(|_| many.on_feedback(&ack(now, 1), &PATH));
                    assert_eq!(one.window(), many.window(), "{} at {window}", controller.name);
                    now += RTT;
                    one.on_congestion(&loss(now), &PATH);
                    many.on_congestion(&loss(now), &PATH);
                    assert_eq!(one.window(), many.window(), "{} at {window}", controller.name);
                }
            }
        }
    }
}

/// The default settings, from any start.
fn make(controller: &Controller) -> impl Fn(&Start) -> Box<dyn CongestionControl> + '_ {
    |start| build(controller, start)
}

#[test]
fn ten_lossless_days_change_nothing_but_the_window() {
    let forgetful = |entry: &&Controller| build(entry, &Start::default()).promises().forgetful;
    for controller in additive().filter(forgetful) {
        let kept = conformance::forgets(&make(controller), TEN_DAYS.0 / RTT.0);
        assert_eq!(kept, Ok(()), "{}", controller.name);
    }
}

#[test]
fn ten_days_of_windowfuls_stay_finite() {
    for controller in windowed() {
        assert_eq!(conformance::endures(&make(controller), 100_000), Ok(()), "{}", controller.name);
    }
}

#[test]
fn the_order_of_acknowledgment_and_congestion_hardly_matters() {
    for controller in additive() {
        for cause in [Cause::Loss, Cause::Mark] {
            for window in [3.0, 50.0, 1e3, 1e5, 1e7] {
                for make in [avoiding, starting] {
                    let now = Time::ZERO + RTT;
                    let event = Congestion { cause, ..loss(now) };
                    let [mut first, mut second] =
                        [make(controller, window), make(controller, window)];
                    first.on_feedback(&ack(now, 1), &PATH);
                    let gain = first.window().0 - window;
                    first.on_congestion(&event, &PATH);
                    second.on_congestion(&event, &PATH);
                    let reduced = second.window().0;
                    second.on_feedback(&ack(now, 1), &PATH);
                    let gain = gain.max(second.window().0 - reduced);
                    let apart = (first.window().0 - second.window().0).abs();
                    assert!(
                        apart <= gain + 1e-14 * window,
                        "{} at {window}: {apart} apart, the acknowledgment adds {gain}",
                        controller.name
                    );
                }
            }
        }
    }
}

#[test]
fn an_untested_window_never_grows() {
    for controller in additive() {
        for limited in [Limited::Application, Limited::Receiver, Limited::Recovery] {
            for make in [avoiding, starting] {
                let mut control = make(controller, 100.0);
                let mut now = Time::ZERO;
                for _ in 0..1000 {
                    now += Span::from_seconds(1);
                    control.on_feedback(&Feedback { limited, ..ack(now, 3) }, &PATH);
                }
                assert_eq!(control.window(), Segments(100.0), "{} {limited:?}", controller.name);
            }
        }
    }
}

#[test]
fn nothing_takes_the_window_below_the_floor() {
    for controller in windowed() {
        assert_eq!(conformance::keeps_a_floor(&make(controller)), Ok(()), "{}", controller.name);
    }
}

#[test]
fn a_mad_start_is_brought_to_reason() {
    for controller in windowed() {
        assert_eq!(conformance::bears_any_start(&make(controller)), Ok(()), "{}", controller.name);
    }
}

/// What `longfat check` goes through.
#[test]
fn the_suite_finds_no_fault_in_what_is_built_in() {
    for controller in windowed() {
        let effort = Effort { cases: 40, round_trips: 1000, ..Effort::default() };
        let promises = build(controller, &Start::default()).promises();
        let checked = conformance::examine(controller, effort, || true).expect("it has a window");
        let given = Promise::ALL.iter().filter(|promise| promise.is_given(promises)).count();
        assert_eq!(checked.len(), given, "{}", controller.name);
        for Checked { promise, failure, .. } in checked {
            assert!(failure.is_none(), "{}: {promise:?} {failure:?}", controller.name);
        }
    }
    let bursts = CONTROLLERS.iter().find(|entry| entry.name == "blitz").expect("it is listed");
    assert!(conformance::examine(bursts, Effort::default(), || true).is_none(), "no window");
    let reno = CONTROLLERS.iter().find(|entry| entry.name == "reno").expect("it is listed");
    assert!(conformance::examine(reno, Effort::default(), || false).is_none(), "given up");
}

#[test]
fn what_has_no_window_needs_the_rate_of_its_own_link() {
    for controller in CONTROLLERS.iter() {
        let start = Start { access: Some(1e6), ..Start::default() };
        let sending = (controller.build)(&controller.defaults(), &start);
        let needs = sending.needs();
        let Sending::Bursts(bursts) = sending else { continue };
        let name = &*controller.name;
        assert!(bursts.duplicates >= 1, "{name}");
        assert_eq!(bursts.rate, Some(1e6), "{name}");
        // Nothing else would end the burst of an unlimited flow.
        assert!(needs.access && needs.pacing, "{name}: {needs:?}");
        assert_eq!(needs.priorities, bursts.priorities, "{name}");
    }
}

#[test]
fn every_parameter_has_a_default_within_its_bounds() {
    use longfat_units::parameter::{Kind, Setting};
    for controller in CONTROLLERS.iter() {
        let defaults = controller.defaults();
        for parameter in &controller.parameters {
            let default = defaults.get(&parameter.name);
            let fits = match (&parameter.kind, default) {
                (Kind::Number { min, max }, Some(Setting::Number(number))) => {
                    (min..=max).contains(&number)
                }
                (Kind::Word(words), Some(Setting::Word(word))) => words.iter().any(|it| it == word),
                (_, default) => default.is_some(),
            };
            assert!(fits, "{}: {} is {default:?}", controller.name, parameter.name);
        }
    }
}

#[test]
fn the_list_is_in_order() {
    assert!(CONTROLLERS.is_sorted_by(|one, other| one.name < other.name));
    for name in SlowStart::NAMES {
        assert_eq!(SlowStart::named(name).map(SlowStart::name), Some(*name));
    }
}

#[test]
fn every_file_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/controller");
    let files = std::fs::read_dir(folder).expect("the controllers have a folder");
    for path in files.map(|entry| entry.expect("the folder can be read").path()) {
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a plain name");
        let name = module.replace("_plus", "+").replace('_', "-");
        assert!(
            module == "mod" || CONTROLLERS.iter().any(|entry| entry.name == name),
            "controller/{module}.rs has no entry called `{name}`: add `pub mod {module};` and \
             `{module}::controller()` to controller/mod.rs"
        );
    }
}

proptest! {
    // They are short, so there are many.
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn arbitrary_events_keep_the_promises(
        choice: u32,
        start: [u8; 4],
        operations in prop::collection::vec(any::<[u8; 8]>().prop_map(Operation::from_bytes), 0..200),
    ) {
        for controller in CONTROLLERS.iter() {
            let start = conformance::start_from_bytes(start);
            let settings = conformance::settings_from_number(controller, choice);
            let kept = conformance::check(controller, &settings, &start, &operations);
            prop_assert!(kept.is_ok(), "{}: {}", controller.name, kept.expect_err("it is none"));
        }
    }
}

/// A suite that finds no faults is worthless: controllers with one fault each, and a word that names it.
mod faults {
    use longfat_control::{Adjustment, CongestionControl, Pacing};

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Fault {
        None,
        NotFinite,
        BelowTheFloor,
        Batching,
        GrowsInRecovery,
        GrowsTooFast,
        LossRaises,
        Forgets,
        PacesAtNothing,
        Stubborn,
    }

    #[derive(Debug)]
    struct Faulty {
        fault: Fault,
        window: f64,
        threshold: Option<Segments>,
    }

    impl Clone for Faulty {
        fn clone(&self) -> Self {
            let forgets = self.fault == Fault::Forgets;
            Self { window: if forgets { 10.0 } else { self.window }, ..*self }
        }
    }

    impl CongestionControl for Faulty {
        fn on_feedback(&mut self, feedback: &Feedback, _: &Path) {
            let may = feedback.limited.may_grow() && !feedback.is_congested();
            let acked = feedback.acked as f64;
            match self.fault {
                Fault::BelowTheFloor => self.window -= 0.5,
                Fault::Batching if may => self.window += 1.0_f64.min(acked),
                Fault::GrowsInRecovery => self.window += acked / 2.0,
                Fault::GrowsTooFast if may => self.window += 2.0 * acked,
                _ if may => (0..feedback.acked).for_each(|_| self.window += 1.0),
                _ => {}
            }
        }

        fn on_congestion(&mut self, _: &Congestion, _: &Path) {
            self.window = match self.fault {
                Fault::LossRaises => self.window + 1.0,
                Fault::NotFinite => f64::NAN,
                _ => (self.window / 2.0).max(2.0).min(self.window),
            };
        }

        fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
            if self.fault != Fault::Stubborn {
                self.window = event.window.0;
            }
            self.threshold = event.threshold.or(self.threshold);
        }

        fn threshold(&self) -> Option<Segments> {
            self.threshold
        }

        fn window(&self) -> Segments {
            Segments(self.window)
        }

        fn pacing(&self) -> Pacing {
            let stops = self.fault == Fault::PacesAtNothing && self.window > 50.0;
            if stops { Pacing::Rate(0.0) } else { Pacing::Unpaced }
        }

        fn promises(&self) -> Promises {
            Promises::LAW
        }
    }

    #[test]
    fn each_fault_is_found_and_named() {
        use rand_core::{Rng, SeedableRng};
        let mut chance = rand_pcg::Pcg64::seed_from_u64(1);
        let operations: Vec<Operation> =
            (0..2000).map(|_| Operation::from_bytes(chance.next_u64().to_le_bytes())).collect();
        for (fault, word) in [
            (Fault::None, ""),
            (Fault::NotFinite, "the window is NaN"),
            (Fault::BelowTheFloor, "took the window"),
            (Fault::Batching, "at once"),
            (Fault::GrowsInRecovery, "nothing said that it may"),
            (Fault::GrowsTooFast, "acknowledged added"),
            (Fault::LossRaises, "raised the window"),
            (Fault::Forgets, "not copied whole"),
            (Fault::PacesAtNothing, "the pacing is"),
            (Fault::Stubborn, "asked for the window"),
        ] {
            let faulty = || Box::new(Faulty { fault, window: 10.0, threshold: None });
            let kept = conformance::check_control(faulty(), faulty(), &operations);
            match kept {
                Ok(()) => assert_eq!(fault, Fault::None, "the fault was not found"),
                Err(violation) => {
                    let found = violation.to_string();
                    assert!(!word.is_empty() && found.contains(word), "{fault:?}: {found}");
                }
            }
        }
    }

    /// What `longfat check` shows: the promise, and no event too many.
    #[test]
    fn each_fault_is_shown_by_as_few_events_as_possible() {
        for (fault, promise, events, first) in [
            (Fault::NotFinite, Promise::Window, 1, "congestion: a loss, 10 in flight"),
            (Fault::BelowTheFloor, Promise::Additive, 1, "acknowledgment of 0 segments"),
            (Fault::Batching, Promise::AnyBatching, 1, "acknowledgment of 2 segments"),
            (Fault::GrowsInRecovery, Promise::Additive, 1, "acknowledgment of 1 segment, 1 marked"),
            (Fault::GrowsTooFast, Promise::DoublesAtMost, 1, "acknowledgment of 1 segment"),
            (Fault::LossRaises, Promise::Additive, 1, "congestion: a loss"),
            // From 10 segments: what is copied has 10 again, which shows once there are more.
            (Fault::Forgets, Promise::Repeats, 1, "acknowledgment of 1 segment"),
            (Fault::Stubborn, Promise::Additive, 1, "the host asks for a window of 20"),
        ] {
            let controller = Controller::new("faulty", move |_, start| {
                let window = start.window.0.clamp(1.0, 1e12);
                Sending::Windowed(Box::new(Faulty { fault, window, threshold: None }))
            });
            let effort = Effort { cases: 100, round_trips: 10, ..Effort::default() };
            let once = conformance::examine(&controller, effort, || true).expect("a window");
            let again = conformance::examine(&controller, effort, || true).expect("a window");
            assert_eq!(format!("{once:?}"), format!("{again:?}"), "another seed only");
            let broken = once.into_iter().find(|checked| checked.promise == promise);
            let failure = broken.and_then(|checked| checked.failure);
            let failure = failure.unwrap_or_else(|| panic!("{fault:?} was not found"));
            assert_eq!(failure.steps.len(), events, "{fault:?}: {failure:?}");
            let words = failure.steps[0].operation.event.to_string();
            assert!(words.starts_with(first), "{fault:?}: {words}");
            let window = failure.start.expect("a sequence of events has a start").window;
            assert_eq!(window, Segments(10.0), "the plainest start");
        }
    }

    /// A window above 50 segments, which takes more than one event from ten.
    #[test]
    fn a_sequence_is_as_long_as_it_has_to_be() {
        let controller = Controller::new("faulty", |_, _| {
            let fault = Fault::PacesAtNothing;
            Sending::Windowed(Box::new(Faulty { fault, window: 10.0, threshold: None }))
        });
        let checked = conformance::examine(&controller, Effort::default(), || true);
        let pacing =
            checked.expect("a window").into_iter().find(|it| it.promise == Promise::Pacing);
        let failure = pacing.and_then(|it| it.failure).expect("it is found");
        assert_eq!(failure.what, "the pacing is Rate(0.0)");
        assert_eq!(failure.steps.len(), 1, "an adjustment, or one large acknowledgment");
        assert!(failure.steps[0].window > 50.0);
    }
}
