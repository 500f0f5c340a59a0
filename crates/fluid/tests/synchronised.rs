//! Flows that lose together.

use crate::support::{assert_near, flow, formulas, law, link, single};
use longfat_fluid::{FluidError, FluidNetwork, Load, Price, Trajectory, synchronised};
use longfat_units::{Bytes, Rate, Segments, Span, math};

/// Two flows of a law with 800 and 100 segments on a link of 1000 per round trip of 0.1 s, without a buffer.
fn unequal(name: &str, seconds: f64) -> Trajectory {
    let flows = [800.0, 100.0].map(|window| {
        let mut flow = flow(law(name, &[]), Span::from_millis(100));
        flow.initial_window = Segments(window);
        flow
    });
    let network = single(link(10_000.0, Price::Overflow), flows.into(), seconds);
    synchronised(&network, Span::from_seconds(1)).expect("it can be solved")
}

fn last(path: &Trajectory) -> [f64; 2] {
    [0, 1].map(|flow| *path.flows[flow].window.last().expect("there are rows"))
}

/// Chiu and Jain: additive increase keeps the difference, a common halving halves it. Of 700, ten losses leave 0.68.
#[test]
fn the_difference_of_two_reno_windows_halves_with_each_loss() {
    let path = unequal("reno", 400.0);
    let mut losses = 0;
    let mut expected = 700.0;
    for row in 1..path.t.len() {
        let now = path.flows[0].window[row];
        if path.t[row] == path.t[row - 1] && now < path.flows[0].window[row - 1] {
            losses += 1;
            let apart = now - path.flows[1].window[row];
            expected /= 2.0;
            assert_near(apart, expected, 1e-4, &format!("after loss {losses}"));
            assert_near(now + path.flows[1].window[row], 500.0, 1e-6, "half of the link is left");
        }
    }
    assert!(losses >= 10, "{losses} losses");
    assert_eq!(path.flows[0].events, losses as u64);
    // At two segments per round trip, 500 are won back in 250 of them.
    assert_near(400.0 / f64::from(losses), 25.0, 0.1, "seconds between two losses");
}

/// Kelly 2003: multiplicative increase and decrease never converge.
#[test]
fn scalable_windows_keep_their_ratio() {
    let [large, small] = last(&unequal("stcp", 400.0));
    assert_near(large / small, 8.0, 1e-3, "the ratio");
}

/// Jin and Liu: EXP-TCP converges under synchronised losses.
#[test]
fn exponential_windows_converge() {
    let [large, small] = last(&unequal("exp", 400.0));
    assert_near(large / small, 1.0, 0.02, "the ratio");
}

/// Leith: H-TCP gives up a share and adds by the clock, the same for all flows: they converge.
#[test]
fn windows_of_h_tcp_converge() {
    let [large, small] = last(&unequal("h-tcp", 400.0));
    assert_near(large / small, 1.0, 0.02, "the ratio");
}

/// The fiber controller gives up about 1/(α w) *segments*: the smaller window loses more. Together they drift apart.
#[test]
fn fiber_windows_drift_apart() {
    let [large, small] = last(&unequal("fiber", 400.0));
    assert!(large / small > 20.0, "{large} and {small}");
}

/// Without a buffer one Reno flow uses three quarters of a link; with a buffer of one round trip it fills it. Its
/// window of 100 to 200 then grows more and more slowly, because of the queue: its mean is 100 ∫w²/∫w = 1400/9.
#[test]
fn a_lone_sawtooth_uses_what_its_buffer_allows() {
    for (buffer, used, window) in [(0.0, 0.75, 75.0), (0.1, 1.0, 1400.0 / 9.0)] {
        let mut link = link(1000.0, Price::Overflow);
        link.buffer = Some(Span::from_seconds_f64(buffer));
        let capacity = link.rate.0 as f64;
        let mut network: FluidNetwork =
            single(link, vec![flow(law("reno", &[]), Span::from_millis(100))], 1000.0);
        network.warmup = Span::from_seconds(500);
        let path = synchronised(&network, Span::from_millis(100)).expect("it can be solved");
        let late: Vec<f64> =
            path.links[0].load.iter().skip(path.t.len() / 2).map(|load| load.min(1.0)).collect();
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        assert_near(mean, used, 0.01, &format!("load with a buffer of {buffer} s"));
        let flow = &path.flows[0];
        assert_near(flow.rate_mean / capacity, used, 0.01, "mean rate over the capacity");
        assert_near(flow.window_mean / window, 1.0, 0.01, "mean window over that of theory");
        assert!(path.links[0].queue.iter().all(|&queue| queue <= buffer));
    }
}

#[test]
fn it_knows_one_link_only() {
    let mut network = single(
        link(100.0, Price::Overflow),
        vec![flow(law("reno", &[]), Span::from_seconds(1))],
        10.0,
    );
    network.links.push(link(100.0, Price::Overflow));
    let refused = synchronised(&network, Span::from_seconds(1)).expect_err("two links");
    assert_eq!(refused, FluidError::NotOneLink("2 links".into()));
}

/// Section I of Kavak and Kunniyur: 100 ms, 1500 bytes. A sawtooth up to √(8/(3p)) segments loses one of 1/p packets:
/// at 1e-9 equation (1) gives 4.648 Gbit/s. The link of 100 Gbit/s without corruption gives 75.
#[test]
fn the_sawtooth_has_the_rates_of_section_one() {
    for (top, gigabits) in [(51_640.0, 4.648), (1e11 / 120_000.0, 75.0)] {
        let mut flow = flow(law("reno", &[]), Span::from_millis(100));
        flow.packet = Bytes(1500);
        flow.initial_window = Segments(top / 2.0);
        let mut link = link(1.0, Price::Overflow);
        link.rate = Rate((top * 120_000.0) as u64);
        // Two teeth: each adds half of the top, a segment per round trip.
        let network = single(link, vec![flow], top * 0.1);
        let path = synchronised(&network, Span::from_seconds(100)).expect("it can be solved");
        assert_near(path.flows[0].rate_mean / 1e9, gigabits, 1e-3 * gigabits, "Gbit/s");
    }
}

/// The instants at which all flows lose.
fn losses(path: &Trajectory) -> Vec<f64> {
    let pairs = path.t.windows(2).zip(path.flows[0].window.windows(2));
    pairs.filter(|(t, w)| t[0] == t[1] && w[1] < 0.9999 * w[0]).map(|(t, _)| t[0]).collect()
}

/// Flows that give up next to nothing still send too much. The next loss comes a round trip of the slowest after the last, a
/// full queue of 0.2 s included, and a flow that is not there yet does not count.
#[test]
fn there_is_one_loss_in_the_longest_round_trip() {
    let mut link = link(1000.0, Price::Overflow);
    link.buffer = Some(Span::from_millis(200));
    let mut flows = [100, 500, 5000].map(|millis| {
        let mut flow = flow(formulas(|at| 1.0 / at.window.0, |_| 1e-3), Span::from_millis(millis));
        flow.initial_window = Segments(600.0);
        flow
    });
    flows[2].start = Span::from_seconds(90);
    let path = synchronised(&single(link, flows.into(), 20.0), Span::from_seconds(1));
    let losses = losses(&path.expect("it can be solved"));
    assert!(losses.len() > 25, "{losses:?}");
    for pair in losses.windows(2) {
        assert_near(pair[1] - pair[0], 0.7, 1e-6, "seconds");
    }
}

/// Ten per second are added to a window of 100 to 200 on a link of 1000 per second without a buffer. With short flows that
/// take half from 12 s on, the loss comes where 50 segments fill the rest.
#[test]
fn short_flows_take_their_part_of_the_link() {
    let mut rising = flow(law("reno", &[]), Span::from_millis(100));
    rising.initial_window = Segments(80.0);
    let mut network = single(link(1000.0, Price::Overflow), vec![rising], 20.0);
    // 80 and 10 per second: 100 after 2 s, and from 50 again 100 after 7 s.
    let path = synchronised(&network, Span::from_seconds(1)).expect("it can be solved");
    let apart: Vec<f64> = losses(&path).iter().map(|t| (t * 1e6).round() / 1e6).collect();
    assert_eq!(apart, [2.0, 7.0, 12.0, 17.0]);
    let (rate, start, stop) = (6e6, Span::from_seconds(8), Some(Span::from_seconds(11)));
    network.loads.push(Load { route: vec![0], rate, start, stop });
    let path = synchronised(&network, Span::from_seconds(1)).expect("it can be solved");
    // 60 at 8 s is too much; from 30 it is 50 at 10 s, from 25 it is 35 at 11 s, and 100 at 17.5 s.
    let apart: Vec<f64> = losses(&path).iter().map(|t| (t * 1e6).round() / 1e6).collect();
    assert_eq!(apart, [2.0, 7.0, 8.0, 10.0, 17.5]);
}

/// Slow start, w' = w per round trip, ends with the first loss, at 1000 segments: from half of it one is added per round
/// trip.
#[test]
fn slow_start_ends_with_the_first_loss() {
    let mut rising = flow(law("reno", &[]), Span::from_seconds(1));
    rising.initial_threshold = None;
    let network = single(link(1000.0, Price::Overflow), vec![rising], 30.0);
    let path = synchronised(&network, Span::from_seconds(1)).expect("it can be solved");
    let expected = 500.0 + 30.0 - math::ln(1000.0);
    assert_near(*path.flows[0].window.last().expect("rows"), expected, 1e-6, "the window");
}

/// The window of a flow that adds by the age of the last loss, w' = t since then; before the first there is no age.
#[test]
fn a_law_hears_how_long_ago_the_last_loss_was() {
    let ageing = formulas(|at| at.since_event.map_or(1.0, Span::seconds) / at.window.0, |_| 0.5);
    let mut flow = flow(ageing, Span::from_seconds(1));
    flow.initial_window = Segments(98.0);
    let network = single(link(100.0, Price::Overflow), vec![flow], 22.0);
    let path = synchronised(&network, Span::from_seconds(1)).expect("it can be solved");
    // 98 and 2, and 50 + t²/2 = 100 at t = 10.
    let losses = losses(&path);
    assert_near(losses[0], 2.0, 1e-6, "the first");
    assert_near(losses[1], 12.0, 1e-6, "the second");
    let row = path.t.iter().position(|&t| t == 8.0).expect("a row");
    assert_near(path.flows[0].window[row], 68.0, 1e-6, "six seconds after the first");
}

/// The rate is the window in a round trip with its queue, 12 000 bits to a segment, and none where there is no flow: 200
/// segments on a link of 100 per second, and from 20 s to 40 s 100 beside them, have a queue of 1 s, and then of 1.5 s that
/// is full.
#[test]
fn rates_are_windows_in_round_trips_with_their_queue() {
    let mut link = link(100.0, Price::Overflow);
    link.buffer = Some(Span::from_millis(1500));
    let mut flows = [200.0, 100.0].map(|window| {
        let mut flow = flow(formulas(|_| 0.0, |_| 0.0), Span::from_seconds(1));
        flow.initial_window = Segments(window);
        flow
    });
    (flows[1].start, flows[1].stop) = (Span::from_seconds(20), Some(Span::from_seconds(40)));
    let path = synchronised(&single(link, flows.into(), 60.0), Span::from_millis(500));
    let path = path.expect("it can be solved");
    let mut seen = 0;
    for (row, &t) in path.t.iter().enumerate() {
        let trip = 1.0 + path.links[0].queue[row];
        let there = (20.0..40.0).contains(&t);
        let expected = [200.0 / trip, if there { 100.0 / trip } else { 0.0 }];
        // At 20 s and at 40 s what is written is from before.
        if t != 20.0 && t != 40.0 {
            for (flow, expected) in path.flows.iter().zip(expected) {
                assert!((flow.rate[row] - expected * 12_000.0).abs() < 1e-6, "{t} s");
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} rows");
    let at = |t: f64| path.t.iter().position(|&other| other == t).expect("a row");
    assert_near(path.flows[0].rate[at(19.0)], 100.0 * 12_000.0, 1e-3, "alone");
    assert_near(path.flows[1].rate[at(39.0)], 40.0 * 12_000.0, 1e-3, "100 in 2.5 s");
}

/// Losses have a price while the buffer is full, and none while it fills: 200 segments on a link of 100 per second fill
/// 0.5 s, then 200/1.5 = 133 come where 100 fit.
#[test]
fn a_buffer_that_fills_costs_nothing() {
    let mut link = link(100.0, Price::Overflow);
    link.buffer = Some(Span::from_millis(500));
    let mut steady = flow(formulas(|_| 0.0, |_| 0.0), Span::from_seconds(1));
    steady.initial_window = Segments(200.0);
    let path = synchronised(&single(link, vec![steady], 5.0), Span::from_millis(10));
    let link = &path.expect("it can be solved").links[0];
    for row in 0..link.queue.len() {
        let full = link.queue[row] > 0.4999;
        assert!((link.price[row] - if full { 0.25 } else { 0.0 }).abs() < 1e-6, "row {row}");
        assert!(link.load[row] > 1.0, "row {row}");
    }
    assert!(link.queue[0] == 0.0 && link.queue.contains(&0.5));
}

#[test]
fn a_bounded_window_stays_within_its_bound() {
    let mut bounded = flow(law("stcp", &[]), Span::from_millis(100));
    bounded.max_window = Some(30);
    let free = flow(law("reno", &[]), Span::from_millis(100));
    let network = single(link(1000.0, Price::Overflow), vec![bounded, free], 100.0);
    let path = synchronised(&network, Span::from_millis(10)).expect("it can be solved");
    let most = path.flows[0].window.iter().copied().fold(0.0, f64::max);
    assert_eq!(most, 30.0);
}
