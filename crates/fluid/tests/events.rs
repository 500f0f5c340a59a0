//! Losses and marks one by one: when they come, what they take, and what a law is told of them.

use crate::support::{
    AVQ, Formulas, assert_near, flow, formulas, hybrid, law, link, mean_field, single,
};
use longfat_control::{Cause, Operating, Reaction, WindowLaw};
use longfat_fluid::{
    FluidFlow, FluidLink, FluidNetwork, Load, Price, Reading, Solve, Spare, Trajectory, solve,
    synchronised,
};
use longfat_units::{Bytes, Segments, Span, math};

const SECOND: Span = Span::from_seconds(1);

/// Every hundredth of a second, with delays times `delay`.
fn closely(network: &FluidNetwork, reading: Reading, delay: f64) -> Trajectory {
    solve(network, &Solve { reading, delay, sample: Span::from_millis(10) })
        .expect("it can be solved")
}

fn last(windows: &[f64]) -> f64 {
    *windows.last().expect("samples")
}

fn half(_: Cause) -> f64 {
    0.5
}

fn nothing(_: &Operating) -> f64 {
    0.0
}

/// Reno's growth that gives up half at a loss and a quarter at a mark.
fn gentle_at_marks() -> Box<dyn WindowLaw> {
    formulas(|at| 1.0 / at.window.0, |cause| if cause == Cause::Mark { 0.25 } else { 0.5 })
}

/// The window grows by the age of the last loss, in round trips of a second: min(1, age/w).
fn ageing() -> Box<dyn WindowLaw> {
    let gain = |at: &Operating| (at.since_event.map_or(0.0, Span::seconds) / at.window.0).min(1.0);
    formulas(gain, half)
}

/// 100 segments in a round trip of 1 s: marks that take a quarter come at p = 4/w², losses that take half at 2/w².
#[test]
fn a_mark_and_a_loss_take_their_own_shares() {
    for (price, times) in [(AVQ, 4.0), (Price::Overflow, 2.0)] {
        let network = single(link(100.0, price), vec![flow(gentle_at_marks(), SECOND)], 400.0);
        let path = mean_field(&network, 0.0);
        let window = last(&path.flows[0].window);
        assert_near(last(&path.links[0].price), times / (window * window), 1e-3, "the price");
        let rest = longfat_fluid::equilibrium(&network).expect("it settles");
        let window = rest.flows[0].window;
        assert_near(rest.links[0].price, times / (window * window), 1e-6, "at rest");
    }
}

/// Slow start ends with what is more likely: a mark takes a quarter, and nothing is gained for a round trip after it. Of
/// corruption there is next to none.
#[test]
fn slow_start_ends_with_the_likelier_of_marks_and_losses() {
    for (price, left) in [(AVQ, 0.75), (Price::Overflow, 0.5)] {
        let mut link = link(100.0, price);
        link.loss = 1e-9;
        let mut rising = flow(gentle_at_marks(), SECOND);
        rising.initial_threshold = None;
        let path = closely(&single(link, vec![rising], 20.0), Reading::MeanField, 1.0);
        let windows = &path.flows[0].window;
        let cut = windows.windows(2).position(|pair| pair[1] < 0.9 * pair[0]).expect("an event");
        assert_near(windows[cut + 1] / windows[cut], left, 0.02, &format!("{price:?}"));
    }
}

/// At a loss rate of 1e-2 one loss is expected after a hundred segments: with w' = w, at 101. Half is left.
#[test]
fn slow_start_ends_where_one_loss_is_expected() {
    let mut link = link(1e9, Price::Loss);
    link.loss = 1e-2;
    let mut rising = flow(law("reno", &[]), SECOND);
    rising.initial_threshold = None;
    let path = closely(&single(link, vec![rising], 8.0), Reading::MeanField, 0.0);
    let windows = &path.flows[0].window;
    let most = windows.iter().copied().fold(0.0, f64::max);
    assert!((99.9..101.001).contains(&most), "{most}");
    let cut = windows.windows(2).position(|pair| pair[1] < pair[0]).expect("an event");
    assert!((50.0..50.501).contains(&windows[cut + 1]), "{}", windows[cut + 1]);
    assert_eq!(path.flows[0].events, 1);
}

/// A hundred rows are a round trip: one of them is in the middle of the first and one of the last interval.
#[test]
fn nothing_is_gained_for_a_round_trip_after_a_loss() {
    let mut link = link(1e9, Price::Loss);
    link.loss = 1e-2;
    let mut rising = flow(law("reno", &[]), SECOND);
    rising.initial_threshold = None;
    let path = closely(&single(link, vec![rising], 20.0), Reading::MeanField, 1.0);
    let windows = &path.flows[0].window;
    let cut = windows.windows(2).position(|pair| pair[1] < 0.9 * pair[0]).expect("an event") + 1;
    assert_eq!(windows[cut + 98], windows[cut], "still the same");
    // 1 - p w²/2 per round trip, as the acknowledgments of the round trip before say.
    assert!(windows[cut + 102] < windows[cut] - 0.1, "from then on losses count");
}

/// What begins while another flow recovers begins at its time: half a second after the first loss of that, of two before it
/// goes on.
#[test]
fn a_flow_starts_while_another_recovers() {
    let mut link = link(1e9, Price::Loss);
    link.loss = 1e-2;
    let mut rising = flow(law("reno", &[]), SECOND * 2);
    rising.initial_threshold = None;
    let alone = closely(&single(link.clone(), vec![rising.clone()], 20.0), Reading::MeanField, 1.0);
    let windows = &alone.flows[0].window;
    let cut = windows.windows(2).position(|pair| pair[1] < 0.9 * pair[0]).expect("an event") + 1;
    let mut late = flow(law("reno", &[]), SECOND);
    late.start = Span::from_millis(10 * (cut as u64 + 50));
    late.initial_window = Segments(10.0);
    let path = closely(&single(link, vec![rising, late], 20.0), Reading::MeanField, 1.0);
    let late = &path.flows[1].window;
    assert_eq!(late[cut + 49..cut + 53], [0.0, 0.0, 10.0, 10.0], "at {} s", path.t[cut + 50]);
    assert_eq!(path.flows[0].window[cut + 60], path.flows[0].window[cut], "the other still waits");
}

/// Of 20 000 segments per second that fit 10 000 are those of a flow that stays as it is, and those of the other grow by
/// one per second, less a ten-thousandth: from some instant on τ/20 000 of them do not fit τ seconds later. A round trip
/// after that the first hears of it, and gives up half at each loss: ln w falls by 1/4 τ²/2. Steps are a round trip long,
/// and the kink is somewhere in one of them.
#[test]
fn where_in_a_step_a_price_begins_is_remembered() {
    let mut worst = 0.0_f64;
    for begins in [11.05, 11.2, 11.35, 11.5, 11.65, 11.8, 11.95] {
        let growing = formulas(|at| 1.0 / at.window.0, |_| 0.0);
        let mut flows = [formulas(nothing, half), growing].map(|law| flow(law, SECOND));
        flows[0].initial_window = Segments(10_000.0);
        flows[1].initial_window = Segments(10_000.0);
        let room = (begins - 1.0) * (1.0 - 1e-4);
        let network = single(link(20_000.0 + room, Price::Overflow), flows.into(), 60.0);
        let path = closely(&network, Reading::MeanField, 1.0);
        for after in [0.5, 0.75, 1.0] {
            let row = (100.0_f64 * (begins + 1.0 + after)).round() as usize;
            let fallen = -math::ln(path.flows[0].window[row] / 10_000.0);
            let expected = 10_000.0 / (20_000.0 + room) / 2.0 * after * after / 2.0;
            worst = worst.max((fallen - expected).abs());
        }
    }
    assert!(worst < 1e-3, "{worst}");
}

/// After slow start that holds for a law that answers every mark, too.
#[test]
fn slow_start_ends_once_for_a_law_that_answers_every_mark() {
    let gain = |at: &Operating| 1.0 / at.window.0;
    let law = Formulas { gain, give_up: half, reaction: Reaction::PerMark };
    let mut rising = flow(Box::new(law), SECOND);
    rising.initial_threshold = None;
    let path = closely(&single(link(100.0, AVQ), vec![rising], 20.0), Reading::MeanField, 1.0);
    let windows = &path.flows[0].window;
    let cut = windows.windows(2).position(|pair| pair[1] < 0.9 * pair[0]).expect("an event") + 1;
    assert_eq!(windows[cut + 98], windows[cut], "still the same");
}

/// Ten times what a link carries, so that every packet is marked: 100 segments of a round trip of 1 s.
fn all_marked(law: Box<dyn WindowLaw>, loss: f64, seconds: f64) -> FluidNetwork {
    let price = Price::Avq { utilisation: 1.0, adaptation: 5.0, marks: true };
    let mut link = link(10.0, price);
    link.loss = loss;
    let mut flow = flow(law, SECOND);
    flow.initial_window = Segments(100.0);
    single(link, vec![flow], seconds)
}

/// A law that gives up nothing meets a hundred marks per second, or one per round trip and what it takes to the next.
#[test]
fn a_law_answers_every_mark_or_one_in_a_round_trip() {
    let of = |reaction| {
        let law = Formulas { gain: nothing, give_up: |_| 0.0, reaction };
        let path = hybrid(&all_marked(Box::new(law), 0.0, 40.0), 1.0);
        assert_eq!(last(&path.flows[0].window), 100.0);
        path.flows[0].events
    };
    let (each, once) = (of(Reaction::PerMark), of(Reaction::PerWindow));
    // From 1 s on, with a share that grows to all within less than a second.
    assert!((3600..4100).contains(&each), "{each} marks");
    assert!((35..40).contains(&once), "{once} round trips");
    // Losses are answered once in any case.
    let mut link = link(1e9, Price::Loss);
    link.loss = 0.5;
    let law = Formulas { gain: nothing, give_up: |_| 0.0, reaction: Reaction::PerMark };
    let mut flow = flow(Box::new(law), SECOND);
    flow.initial_window = Segments(100.0);
    let events = hybrid(&single(link, vec![flow], 40.0), 1.0).flows[0].events;
    assert!((35..40).contains(&events), "{events} losses");
}

/// All packets are marked and half of them corrupted: of three events one is a loss, and halves the window.
#[test]
fn each_event_is_a_loss_as_often_as_losses_come() {
    let halves = formulas(nothing, |cause| if cause == Cause::Loss { 0.5 } else { 0.0 });
    let mut network = all_marked(halves, 0.5, 45.0);
    network.flows[0].initial_window = Segments(1e9);
    let path = hybrid(&network, 1.0);
    let (events, window) = (path.flows[0].events as f64, last(&path.flows[0].window));
    let losses = math::ln(1e9 / window) / std::f64::consts::LN_2;
    assert!(events > 40.0 && (losses - losses.round()).abs() < 1e-9, "{losses} of {events}");
    assert!((events / 6.0..events / 2.0).contains(&losses), "{losses} of {events}");
}

/// w' = t since the last loss, so windows a tenth of a second apart have the second difference 0.01; before the first loss
/// there is no age.
#[test]
fn in_the_hybrid_a_law_hears_when_its_last_loss_was() {
    let mut link = link(1e9, Price::Loss);
    link.loss = 1e-2;
    let mut flow = flow(ageing(), SECOND);
    flow.initial_window = Segments(10.0);
    let network = single(link, vec![flow], 100.0);
    let how = Solve { reading: Reading::Hybrid, delay: 0.0, sample: Span::from_millis(100) };
    let path = solve(&network, &how).expect("it can be solved");
    let windows = &path.flows[0].window;
    assert!(path.flows[0].events > 5, "{} losses", path.flows[0].events);
    let first = windows.windows(2).position(|pair| pair[1] < pair[0]).expect("a loss");
    assert!(windows[..=first].iter().all(|&window| window == 10.0), "nothing has aged");
    let mut curved = 0;
    for triple in windows[first + 1..].windows(3) {
        if triple[0] < triple[1] && triple[1] < triple[2] {
            assert!((triple[2] - 2.0 * triple[1] + triple[0] - 0.01).abs() < 1e-4, "{triple:?}");
            curved += 1;
        }
    }
    assert!(curved > 500, "{curved}");
}

/// Losses at the rate x p are 1/(x p) old in the mean: 1/(w² p) = p w/2 for a round trip of 1 s, so w³ = 2/p². Marks count
/// as much: 100 segments are held by p = 1.414e-3.
#[test]
fn in_the_mean_field_losses_and_marks_are_as_old_as_their_rate_says() {
    let mut corrupting = link(1e9, Price::Loss);
    corrupting.loss = 1e-3;
    let mut marking = link(100.0, AVQ);
    marking.loss = 1e-5;
    for (link, window, price) in [(corrupting, 125.992, 0.0), (marking, 100.0, 1.404_21e-3)] {
        let mut flow = flow(ageing(), SECOND);
        flow.initial_window = Segments(50.0);
        let network = single(link, vec![flow], 400.0);
        let path = mean_field(&network, 0.0);
        assert_near(last(&path.flows[0].window), window, 1e-3, "the window");
        assert!((last(&path.links[0].price) - price).abs() < 1e-6, "{:?}", path.links[0].price);
        let rest = longfat_fluid::equilibrium(&network).expect("it settles");
        assert_near(rest.flows[0].window, window, 1e-4, "the window at rest");
    }
}

/// EXP-TCP in congestion avoidance: w' = γ (w - e + √e), so w = e - √e + √e exp(γ t). With e = 64: 56 + 8 exp(t/20). Where it
/// begins at 32, slow start takes ln 2 of a second to 64.
#[test]
fn an_epoch_begins_where_congestion_avoidance_does() {
    for (initial, since) in [(64.0, 20.0), (32.0, 20.0 - std::f64::consts::LN_2)] {
        let mut flow = flow(law("exp", &[]), SECOND);
        flow.initial_window = Segments(initial);
        flow.initial_threshold = Some(Segments(64.0));
        let network = single(link(1e9, Price::Loss), vec![flow], 20.0);
        let expected = 56.0 + 8.0 * math::exp(since / 20.0);
        for path in [mean_field(&network, 0.0), hybrid(&network, 0.0)] {
            assert_near(last(&path.flows[0].window), expected, 1e-5, "mean field or hybrid");
        }
        let path = synchronised(&network, SECOND).expect("it can be solved");
        assert_near(last(&path.flows[0].window), expected, 1e-5, "synchronised");
    }
}

/// With the window that a loss leaves: just after it the slope is γ √e, whatever the window was before.
#[test]
fn an_epoch_begins_with_what_a_loss_leaves() {
    let mut link = link(1e9, Price::Loss);
    link.loss = 1e-3;
    let mut flow = flow(law("exp", &[]), SECOND);
    flow.initial_window = Segments(400.0);
    let path = closely(&single(link, vec![flow], 60.0), Reading::Hybrid, 0.0);
    let windows = &path.flows[0].window;
    let cuts = windows.windows(3).filter(|triple| triple[1] < triple[0] && triple[1] < triple[2]);
    let mut seen = 0;
    for cut in cuts {
        assert_near((cut[2] - cut[1]) / 0.01, 0.05 * cut[1].sqrt(), 0.01, "the slope");
        seen += 1;
    }
    assert!(seen > 5, "{seen} losses");
}

/// At p = 0.01 the law adds what half of it takes, and a hundredth of e - 50: w' = (e - 50)/100 and e' = w (w/2 - e)/100, in
/// steps of 1e-5 from 100 and 100: 100.3162 and 100.4331 after one and two seconds.
#[test]
fn the_mean_epoch_window_follows_at_the_rate_of_losses() {
    let mut link = link(1e9, Price::Loss);
    link.loss = 1e-2;
    let gain = |at: &Operating| {
        let epoch = at.epoch_window.expect("it is known").0;
        0.005 * at.window.0 + 0.01 * (epoch - 50.0) / at.window.0
    };
    let mut flow = flow(formulas(gain, half), SECOND);
    flow.initial_window = Segments(100.0);
    let windows = &mean_field(&single(link, vec![flow], 2.0), 0.0).flows[0].window;
    assert!((windows[1] - 100.3162).abs() < 1e-3, "{windows:?}");
    assert!((windows[2] - 100.4331).abs() < 1e-3, "{windows:?}");
}

/// Each flow draws from a stream of its name.
#[test]
fn flows_of_other_names_lose_at_other_times() {
    let of = |names: [&str; 2]| {
        let mut link = link(1e9, Price::Loss);
        link.loss = 1e-2;
        let named = |name: &str| FluidFlow { name: name.into(), ..flow(law("reno", &[]), SECOND) };
        hybrid(&single(link, names.map(named).into(), 60.0), 0.0).flows
    };
    let other = of(["one", "other"]);
    assert_ne!(other[0].window, other[1].window);
    let same = of(["one", "one"]);
    assert_eq!(same[0].window, same[1].window);
}

/// Two thresholds within one step, in either order: from each a segment per round trip is added.
#[test]
fn the_first_of_two_events_in_a_step_comes_first() {
    for thresholds in [[64.0, 64.5], [64.5, 64.0]] {
        let flows = thresholds.map(|threshold| FluidFlow {
            initial_threshold: Some(Segments(threshold)),
            ..flow(law("reno", &[]), SECOND)
        });
        let network = single(link(1e9, Price::Loss), flows.into(), 20.0);
        let paths = [mean_field(&network, 0.0), synchronised(&network, SECOND).expect("one link")];
        for path in paths {
            for (flow, threshold) in path.flows.iter().zip(thresholds) {
                let expected = threshold + 20.0 - math::ln(threshold);
                assert_near(last(&flow.window), expected, 1e-5, "after the threshold");
            }
        }
    }
}

/// w = 1 + t without losses: from 9.7 to 20 s its mean is 15.85, whatever lies beyond the end.
#[test]
fn means_leave_out_the_warm_up_and_what_lies_beyond_the_end() {
    let mut flow = flow(law("reno", &[]), SECOND);
    flow.stop = Some(Span::from_seconds(25));
    let mut network = single(link(1e9, Price::Loss), vec![flow], 20.0);
    network.warmup = Span::from_millis(9_700);
    let paths = [
        mean_field(&network, 0.0),
        hybrid(&network, 0.0),
        synchronised(&network, SECOND).expect("one link"),
    ];
    for path in paths {
        assert_near(path.flows[0].window_mean, 15.85, 1e-9, "the mean window");
        assert_near(path.flows[0].rate_mean, 15.85 * 12_000.0, 1e-9, "the mean rate");
    }
}

/// Ten packets of 1500 bytes and ten of 500 in a second, on 1.2 Mbit/s.
#[test]
fn each_flow_loads_a_link_with_packets_of_its_own_size() {
    let sized = |bytes: u64| FluidFlow {
        packet: Bytes(bytes),
        initial_window: Segments(10.0),
        ..flow(formulas(nothing, half), SECOND)
    };
    let network = single(link(100.0, Price::Overflow), vec![sized(1500), sized(500)], 2.0);
    let paths = [mean_field(&network, 0.0), synchronised(&network, SECOND).expect("one link")];
    for path in paths {
        assert_near(path.links[0].load[1], 0.16 / 1.2, 1e-9, "the load");
    }
}

/// Two links a quarter of a second apart, and a flow of five segments in a second over both. At 10 s short flows come to
/// the second one.
fn late(price: Price, buffer: Option<Span>, rate: f64, flow: FluidFlow) -> FluidNetwork {
    let mut network = single(link(1e6, Price::Loss), vec![flow], 12.0);
    network.links[0].delay = Span::from_millis(250);
    network.links.push(link(rate, price));
    network.links[1].buffer = buffer;
    network.flows[0].route = vec![0, 1];
    network
}

/// It then has 13 packets where 10 fit, and the sender hears of that three quarters of a round trip later: what is left of
/// the round trip behind the link. The first packet is there after a quarter.
#[test]
fn a_sender_hears_of_a_price_after_the_rest_of_the_round_trip() {
    for delay in [1.0, 0.5] {
        let mut steady = flow(formulas(nothing, half), SECOND);
        steady.initial_window = Segments(5.0);
        let mut network = late(AVQ, Some(Span::ZERO), 10.0, steady);
        let (route, start) = (vec![1], SECOND * 10);
        network.loads.push(Load { route, rate: 8.0 * 12_000.0, start, stop: None });
        let path = closely(&network, Reading::MeanField, delay);
        let row = |seconds: f64| (100.0 * seconds).round() as usize;
        let heard = 10.0 + 0.75 * delay;
        let window = |seconds: f64| path.flows[0].window[row(seconds)];
        assert!((window(heard - 0.01) - 5.0).abs() < 1e-3, "{}", window(heard - 0.01));
        // 5 · 5/2 · 3/13 = 2.9 segments per second.
        assert!(window(heard + 0.05) < 4.95, "{}", window(heard + 0.05));
        let load = |seconds: f64| path.links[1].load[row(seconds)];
        let first = 0.25 * delay;
        assert_eq!(load(first - 0.01), 0.0, "nothing has come that far");
        assert_near(load(first + 0.01), 0.5, 1e-3, "the first packets are there");
    }
}

/// The same of a queue, for a law that answers delay. 110 packets come where 100 fit: q = (t - 10)/10, the round trip grows
/// as much, and what waited at 10 s is heard of at 10 + 0.75/0.9 = 10.83 s.
#[test]
fn a_sender_hears_of_a_queue_after_the_rest_of_the_round_trip() {
    let mut fast = flow(law("fast", &[("alpha", 0.1)]), SECOND);
    fast.initial_window = Segments(20.0);
    let mut network = late(Price::Overflow, None, 100.0, fast);
    let (route, start) = (vec![1], SECOND * 10);
    network.loads.push(Load { route, rate: 90.0 * 12_000.0, start, stop: None });
    let path = closely(&network, Reading::MeanField, 1.0);
    let windows = &path.flows[0].window;
    // Half of α per round trip until then.
    assert!(windows[1080] > windows[1050] + 0.01, "{} {}", windows[1050], windows[1080]);
    assert!(windows[1105] < windows[1085] - 0.01, "{} {}", windows[1085], windows[1105]);
}

/// Two segments per round trip below half of the capacity, one above. Short flows that fill more than that from 10 s on are
/// heard of at 11 s.
#[test]
fn a_sender_hears_of_capacity_to_spare_a_round_trip_late() {
    let mut aware = link(1000.0, Price::Loss);
    aware.spare = Some(Spare { below: 0.5, overwrites: false });
    let mut flow = flow(law("anti-ecn", &[]), SECOND);
    flow.initial_window = Segments(50.0);
    let mut network = single(aware, vec![flow], 12.0);
    let (rate, start) = (600.0 * 12_000.0, SECOND * 10);
    network.loads.push(Load { route: vec![0], rate, start, stop: None });
    let path = closely(&network, Reading::MeanField, 1.0);
    let grown = |from: usize, to: usize| path.flows[0].window[to] - path.flows[0].window[from];
    // As many were sent a round trip before as the window had less two or one.
    assert_near(grown(1010, 1090), 1.6, 0.05, "not heard yet");
    assert_near(grown(1110, 1190), 0.8, 0.05, "heard");
}

/// The same where a link in front has room all the time, and the one behind it is a quarter of a second away: what it has
/// to say at 10 s is heard of 0.75 s later.
#[test]
fn each_link_has_its_own_say_on_capacity_to_spare() {
    let aware = FluidLink {
        spare: Some(Spare { below: 0.5, overwrites: false }),
        ..link(1000.0, Price::Loss)
    };
    for busy in [0, 1] {
        let mut flow = flow(law("anti-ecn", &[]), SECOND);
        flow.initial_window = Segments(50.0);
        flow.route = vec![0, 1];
        let mut network = single(aware.clone(), vec![flow], 12.0);
        network.links[0].delay = Span::from_millis(250);
        network.links.push(aware.clone());
        let (rate, start) = (600.0 * 12_000.0, SECOND * 10);
        network.loads.push(Load { route: vec![busy], rate, start, stop: None });
        let path = closely(&network, Reading::MeanField, 1.0);
        let grown = |from: usize, to: usize| path.flows[0].window[to] - path.flows[0].window[from];
        let heard = if busy == 0 { 1100 } else { 1075 };
        assert_near(grown(heard - 42, heard - 2), 0.8, 0.05, "not heard yet");
        assert_near(grown(heard + 2, heard + 42), 0.4, 0.05, "heard");
    }
}

/// Bounds hold within steps as well: at ten segments, and at one, the mean is neither more nor less. Slow start gets to ten in
/// less than five round trips, a segment per round trip in ten, and a loss of half the window in every other packet takes ten to
/// one within a few.
#[test]
fn a_window_at_its_bound_stays_there_exactly() {
    let mean = |bent: &dyn Fn(&mut FluidNetwork), reading| {
        let mut network =
            single(link(1e6, Price::Loss), vec![flow(law("reno", &[]), SECOND)], 60.0);
        network.warmup = Span::from_seconds(20);
        bent(&mut network);
        closely(&network, reading, 1.0).flows[0].window_mean
    };
    let growing = |network: &mut FluidNetwork| network.flows[0].max_window = Some(10);
    let doubling = |network: &mut FluidNetwork| {
        growing(network);
        network.flows[0].initial_threshold = None;
    };
    let shrinking = |network: &mut FluidNetwork| {
        network.links[0].loss = 0.5;
        network.flows[0].law = formulas(nothing, half);
        network.flows[0].initial_window = Segments(10.0);
    };
    for reading in [Reading::MeanField, Reading::Hybrid] {
        assert_near(mean(&growing, reading), 10.0, 1e-12, "grown");
        assert_near(mean(&doubling, reading), 10.0, 1e-12, "doubled");
    }
    assert_near(mean(&shrinking, Reading::MeanField), 1.0, 1e-12, "shrunk");
}
