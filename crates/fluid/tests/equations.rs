//! The equations checked against closed forms: delays, queues, prices, starts and stops.

use crate::support::{
    AVQ, PACKET, assert_near, flow, formulas, hybrid, law, link, mean_field, single,
};
use longfat_control::Operating;
use longfat_fluid::{
    FluidError, FluidFlow, Load, Price, Reading, RedPrice, Solve, averaging, solve, synchronised,
};
use longfat_units::{Rate, Segments, Span};

const SECOND: Span = Span::from_seconds(1);

/// Scalable TCP with a = 1 gains a segment per acknowledgment, w' = w(t - 1) from t = 1 on, nothing before: 1 up to
/// t = 1, then 1 + (t - 1), 1 + (t - 1) + (t - 2)²/2!, and so on.
#[test]
fn a_delay_equation_is_solved_by_steps() {
    let growing = law("stcp", &[("a", 1.0), ("legacy_window", 0.0)]);
    let path = mean_field(&single(link(1e9, Price::Loss), vec![flow(growing, SECOND)], 5.0), 1.0);
    let expected = [1.0, 1.0, 2.0, 3.5, 1.0 + 3.0 + 2.0 + 1.0 / 6.0, 10.875];
    for (second, expected) in expected.into_iter().enumerate() {
        let window = path.flows[0].window[second];
        assert_near(window, expected, 1e-6, &format!("the window at {second} s"));
    }
}

/// Without delay the same law is w' = w.
#[test]
fn without_delay_it_is_an_ordinary_equation() {
    let growing = law("stcp", &[("a", 1.0), ("legacy_window", 0.0)]);
    let path = mean_field(&single(link(1e9, Price::Loss), vec![flow(growing, SECOND)], 5.0), 0.0);
    assert_near(path.flows[0].window[5], 148.413_159, 1e-5, "e to the 5th");
}

/// A packet reaches the second link 0.25 s after the first, and the second link's price is known 0.75 s later.
#[test]
fn loads_and_prices_take_their_time() {
    let mut network = single(link(1e9, Price::Loss), vec![flow(law("reno", &[]), SECOND)], 20.0);
    network.links[0].delay = Span::from_millis(250);
    network.links.push(link(10.0, AVQ));
    network.flows[0].route = vec![0, 1];
    let how = Solve { reading: Reading::MeanField, delay: 1.0, sample: Span::from_millis(50) };
    let path = solve(&network, &how).expect("it can be solved");
    let shares = [1e9, 10.0];
    for row in 6..=400 {
        let first = path.links[0].load[row - 5] * shares[0];
        let second = path.links[1].load[row] * shares[1];
        assert!((first - second).abs() < 1e-3, "row {row}: {first} then {second}");
    }
    // The window is 10 when the price begins; it shrinks 0.75 s after that, not before.
    let price = &path.links[1].price;
    let begins = price.iter().position(|&p| p > 0.0).expect("the link becomes full");
    let window = &path.flows[0].window;
    let falls = window.windows(2).position(|pair| pair[1] < pair[0]).expect("the window falls");
    assert!((begins + 15..begins + 40).contains(&falls), "price at {begins}, answer at {falls}");
}

/// 200 segments on a round trip of 1 s and a link of 100 per second: the queue stretches the round trip to 2 s. With
/// room for half of it 200/1.5 = 133.3 arrive and a quarter is lost.
#[test]
fn a_queue_stretches_the_round_trip_until_it_is_full() {
    for (buffer, queue, load, lost) in [(4.0, 1.0, 1.0, 0.0), (0.5, 0.5, 4.0 / 3.0, 0.25)] {
        let mut link = link(100.0, Price::Overflow);
        link.buffer = Some(Span::from_seconds_f64(buffer));
        // Losses that cost next to nothing: the window stays.
        let stubborn = law("fiber", &[("alpha", 1.0), ("c", 1000.0)]);
        let mut flow = flow(stubborn, SECOND);
        flow.initial_window = Segments(200.0);
        flow.max_window = Some(200);
        let path = mean_field(&single(link, vec![flow], 60.0), 1.0);
        let (window, at) = (path.flows[0].window[60], &path.links[0]);
        assert_near(window, 200.0, 1e-2, "the window");
        assert_near(at.queue[60], queue, 1e-2, "the queue");
        assert_near(at.load[60], load, 1e-2, "the load");
        assert!((at.price[60] - lost).abs() < 5e-3, "lost {} of {lost}", at.price[60]);
        assert_near(path.flows[0].rate[60], load * 1.2e6, 1e-2, "the rate in bit/s");
    }
}

/// A window of 10 is 100 segments per second in round trips of 0.1 s, each of which adds a hundredth where packets wait for
/// 0.05 s or longer. 10 000 segments begin to fill the queue of 1000 per second after 10 s: R R' = 10 - R, and with
/// -R - 10 ln(1 - R/10) = t the round trip is 3.83 s a second later and 5.07 s after two. That is faster than time passes:
/// what is heard of goes back from 10 s to before 7, and was 100 per second all the while. The window grows by a segment per
/// second.
#[test]
fn a_queue_that_grows_faster_than_time_leads_back_into_the_past() {
    let trip = Span::from_millis(100);
    let rising = |at: &Operating| if at.rtt > Span::from_millis(150) { 0.01 } else { 0.0 };
    let mut old = flow(formulas(rising, |_| 0.5), trip);
    old.initial_window = Segments(10.0);
    let mut flood = flow(formulas(|_| 0.0, |_| 0.5), trip);
    flood.initial_window = Segments(10_000.0);
    flood.start = Span::from_seconds(10);
    let mut link = link(1000.0, Price::Overflow);
    link.buffer = None;
    for path in [mean_field, hybrid]
        .map(|solved| solved(&single(link.clone(), vec![old.clone(), flood.clone()], 14.0), 1.0))
    {
        assert_near(path.links[0].queue[11], 3.73, 2e-3, "the queue a second later");
        assert_near(path.links[0].queue[12], 4.97, 2e-3, "after two");
        for (second, &window) in path.flows[0].window.iter().enumerate().skip(10) {
            let expected = 10.0 + (second - 10) as f64;
            assert_near(window, expected, 1e-3, &format!("the window at {second} s"));
        }
    }
}

/// Twenty times short flows of nine tenths of a link come to a tenth that is there. A virtual queue that aims at half
/// adapts by a tenth of what that leaves: C̃ falls by 0.05 per second while they are there, 0.5 s each, and rises by 0.04
/// in the 0.277 s in between. At 16.7 s, a tenth of a second before the last are gone, 20 · 0.025 - 0.005 are gone of it and
/// 19 · 0.01108 have come, which leaves 0.71552, and the rest is marked. All of that is straight lines: a step ends with
/// each, and not with the next one.
#[test]
fn short_flows_that_come_and_go_cost_few_steps() {
    let price = Price::Avq { utilisation: 0.5, adaptation: 0.1, marks: true };
    let trip = Span::from_millis(500);
    let flows = vec![FluidFlow {
        initial_window: Segments(50.0),
        ..flow(formulas(|_| 0.0, |_| 0.0), trip)
    }];
    let mut network = single(link(1000.0, price), flows, 20.0);
    for round in 0..20 {
        let start = Span::from_millis(1537 + 777 * round);
        let (rate, stop) = (900.0 * 12_000.0, Some(start + trip));
        network.loads.push(Load { route: vec![0], rate, start, stop });
    }
    for delay in [0.0, 1.0] {
        let sample = Span::from_millis(100);
        let path = solve(&network, &Solve { reading: Reading::MeanField, delay, sample });
        let path = path.expect("it can be solved");
        assert_near(path.links[0].price[167], 1.0 - 0.715_52, 1e-6, "what is marked");
        assert!(path.steps < 150, "{} steps", path.steps);
    }
    // 600 segments always wait, and longer beside short flows; where buffers have room nothing is lost.
    network.links[0].buffer = Some(Span::from_seconds(10));
    network.flows[0].initial_window = Segments(600.0);
    let path = synchronised(&network, SECOND).expect("it can be solved");
    assert!(path.steps < 150, "{} steps", path.steps);
}

/// Misra, Gong and Towsley: 60 Reno flows hold the average queue at which p = 2/w² and 60 w = C R:
/// 0.1 (q - 0.04)/0.15 = 2/(62.5 (0.2 + q))², so q = 0.05212 s and w = 15.757.
#[test]
fn red_holds_the_queue_that_its_price_asks_for() {
    let red =
        RedPrice { min: 0.04, max: 0.19, max_p: 0.1, gentle: true, averaging: 0.1, marks: true };
    let mut link = link(3750.0, Price::Red(red));
    link.buffer = Some(SECOND);
    let flows = (0..60).map(|_| flow(law("reno", &[]), Span::from_millis(200))).collect();
    let path = mean_field(&single(link, flows, 300.0), 1.0);
    assert_near(path.links[0].queue[300], 0.05212, 1e-3, "the queue");
    assert_near(path.flows[0].window[300], 15.757, 1e-3, "the windows");
}

/// A weight of 0.002 at 1000 packets per second: 1000 ln(1/0.998) = 2.002 per second.
#[test]
fn a_weight_per_packet_becomes_a_rate() {
    assert_near(averaging(0.002, 1000.0), 2.002, 1e-4, "the rate");
}

/// A microsecond from the last link back to the sender, of 50 ms: steps need not be as short, and what comes out is
/// within a hundredth of what a way back of a hundredth gives.
#[test]
fn a_short_way_back_costs_no_more_steps() {
    let solved = |nanoseconds: u64| {
        let rtt = Span::from_millis(50) + Span::from_seconds_f64(nanoseconds as f64 * 1e-9);
        let flows = (0..2).map(|_| flow(law("reno", &[]), rtt)).collect();
        let mut network = single(link(1e3, Price::Overflow), flows, 10.0);
        network.links.push(link(2e2, Price::Overflow));
        network.links[0].delay = Span::from_millis(50);
        network.links.iter_mut().for_each(|link| link.buffer = Some(Span::from_millis(50)));
        network.flows.iter_mut().for_each(|flow| flow.route = vec![0, 1]);
        mean_field(&network, 1.0)
    };
    let known = solved(500_000);
    for nanoseconds in [0, 1_000] {
        let path = solved(nanoseconds);
        assert!(path.steps < 2 * known.steps, "{} steps, not {}", path.steps, known.steps);
        let (found, expected) = (path.flows[0].window_mean, known.flows[0].window_mean);
        assert_near(found, expected, 0.01, &format!("{nanoseconds} ns"));
    }
}

#[test]
fn what_starts_and_stops_leaves_no_trace() {
    let mut network = single(link(1e6, Price::Loss), vec![flow(law("reno", &[]), SECOND)], 30.0);
    network.flows[0].start = Span::from_seconds(10);
    network.flows[0].stop = Some(Span::from_seconds(20));
    network.loads.push(Load {
        route: vec![0],
        rate: 6e9,
        start: Span::from_seconds(5),
        stop: Some(Span::from_seconds(25)),
    });
    let path = mean_field(&network, 1.0);
    let at = |second: usize| (path.flows[0].window[second], path.links[0].load[second]);
    assert_eq!(at(3), (0.0, 0.0));
    assert_eq!(at(8), (0.0, 0.5));
    assert!(at(15).0 > 1.0 && at(15).1 > 0.5);
    assert_eq!(at(22), (0.0, 0.5));
    assert_eq!(at(28), (0.0, 0.0));
}

/// Slow start doubles each round trip, w' = x(t - R), until one mark is expected; then it gives up half.
#[test]
fn slow_start_ends_at_the_threshold_or_with_the_first_mark() {
    let mut rising = flow(law("reno", &[]), SECOND);
    rising.initial_threshold = Some(Segments(64.0));
    let path = mean_field(&single(link(1e9, Price::Loss), vec![rising], 30.0), 0.0);
    // w' = w: 64 = e^4.159, and one segment per second from there.
    assert_near(path.flows[0].window[20], 64.0 + 20.0 - 4.159, 1e-4, "above the threshold");

    let mut rising = flow(law("reno", &[]), SECOND);
    rising.initial_threshold = None;
    let path = mean_field(&single(link(1000.0, AVQ), vec![rising], 30.0), 1.0);
    assert_eq!(path.flows[0].events, 1);
    let window = &path.flows[0].window;
    let peak = window.iter().copied().fold(0.0, f64::max);
    // Another round trip of doubling passes before the mark is known.
    assert!((1000.0..3200.0).contains(&peak), "peak {peak}");
}

/// Laws other than Reno, for which the mean field is a line of algebra: at rest Scalable TCP has 0.08/p, and EXP-TCP's
/// epoch window is what a loss leaves.
#[test]
fn laws_rest_where_gain_and_loss_balance() {
    for (name, changes, expected) in [
        ("stcp", vec![], 0.08 / 1e-3),
        // γ (β + √(0.875 w)/w) = p β w: w = 400 (0.125 + √(0.875/w)), so w = 89.54.
        ("exp", vec![], 89.54),
        ("fiber", vec![("alpha", 5e-4)], 63.25),
    ] {
        let mut link = link(1e9, Price::Loss);
        link.loss = 1e-3;
        let network = single(link, vec![flow(law(name, &changes), SECOND)], 3000.0);
        let path = mean_field(&network, 1.0);
        assert_near(path.flows[0].window[3000], expected, 2e-3, name);
    }
}

/// The mean field draws no random numbers; the jumps of the hybrid depend only on the seed.
#[test]
fn chance_comes_from_the_seed() {
    let mut link = link(1e9, Price::Loss);
    link.loss = 1e-2;
    let mut network = single(link, vec![flow(law("reno", &[]), SECOND)], 200.0);
    let (rates, jumps) = (mean_field(&network, 1.0), hybrid(&network, 1.0));
    assert_eq!(jumps, hybrid(&network, 1.0));
    network.seed = 2;
    assert_eq!(rates, mean_field(&network, 1.0));
    assert_ne!(jumps, hybrid(&network, 1.0));
}

#[test]
fn short_flows_that_fill_a_link_are_refused() {
    let mut network = single(link(10.0, AVQ), vec![flow(law("reno", &[]), SECOND)], 10.0);
    let capacity = Rate(10 * PACKET * 8);
    network.loads.push(Load {
        route: vec![0],
        rate: 1.5 * capacity.0 as f64,
        start: Span::ZERO,
        stop: None,
    });
    let how = Solve { reading: Reading::MeanField, delay: 1.0, sample: SECOND };
    let refused = solve(&network, &how).expect_err("there is no room");
    assert!(matches!(refused, FluidError::Overload { .. }), "{refused}");
    assert!(refused.to_string().contains("1.5 times"), "{refused}");
}
