//! What once led to infinite numbers: identical flows, and windows that nothing holds.

use crate::support::{AVQ, assert_near, flow, hybrid, law, link, mean_field, single};
use longfat_control::{Cause, Operating, WindowLaw};
use longfat_fluid::{
    FluidError, FluidFlow, FluidNetwork, Price, Reading, Solve, Trajectory, solve, synchronised,
};
use longfat_units::{Rate, Segments, Span, math};

/// Two flows of one law, as in a scenario with one rate and one round trip: slow start has no threshold.
fn twins(law_name: &str, rate: Rate, rtt: Span, price: Price) -> FluidNetwork {
    let mut network = single(link(1.0, price), Vec::new(), 30.0);
    network.links[0].rate = rate;
    network.links[0].buffer = Some(rtt);
    network.flows = (0..2)
        .map(|_| FluidFlow {
            initial_window: Segments(10.0),
            initial_threshold: None,
            ..flow(law(law_name, &[]), rtt)
        })
        .collect();
    network.warmup = Span::from_seconds(10);
    network
}

/// The sum of the mean rates as a share of the link.
fn used(network: &FluidNetwork, path: &Trajectory) -> f64 {
    path.flows.iter().map(|flow| flow.rate_mean).sum::<f64>() / network.links[0].rate.0 as f64
}

/// The slow starts of identical flows end at the same instant. All of them do end, and the flows stay alike.
#[test]
fn flows_that_are_alike_end_their_slow_start_together() {
    let (wide, narrow) = (Rate(1_000_000_000), Rate(100_000_000));
    for (rate, rtt) in [(narrow, Span::from_millis(40)), (wide, Span::from_millis(2))] {
        let adaptation = 0.5 / rtt.seconds();
        for price in [Price::Avq { utilisation: 1.0, adaptation, marks: true }, Price::Overflow] {
            for delay in [0.0, 1.0] {
                let network = twins("reno", rate, rtt, price);
                let path = mean_field(&network, delay);
                let what = format!("{rate:?}, {price:?}, delay {delay}");
                assert_eq!(path.flows[0], path.flows[1], "{what}");
                assert_eq!(path.flows[0].events, 1, "slow start ends once: {what}");
                // With delay, the virtual queue oscillates for minutes: a lone flow uses 0.78.
                let used = used(&network, &path);
                assert!((0.75..1.05).contains(&used), "{used}: {what}");
            }
        }
    }
}

/// The same where slow start ends at a threshold: 64 segments are two round trips from 16, and then one segment is
/// added in each of the 498 that remain of 20 s.
#[test]
fn flows_that_are_alike_reach_their_threshold_together() {
    let mut network = twins("reno", Rate(10_000_000_000), Span::from_millis(40), Price::Loss);
    network.duration = Span::from_seconds(20);
    for flow in &mut network.flows {
        flow.initial_window = Segments(16.0);
        flow.initial_threshold = Some(Segments(64.0));
    }
    // Growth is continuous: from 16 to 64 it takes ln 4 round trips.
    let expected = 64.0 + 20.0 / 0.04 - math::ln(4.0);
    for path in [mean_field(&network, 0.0), hybrid(&network, 0.0)] {
        for flow in &path.flows {
            assert_near(*flow.window.last().expect("samples"), expected, 1e-6, "last window");
        }
    }
}

/// A flow that differs from the other by a hair: the second event lies closer to the first than the clock can tell.
#[test]
fn events_may_be_closer_than_the_clock_can_tell() {
    let mut network = twins("reno", Rate(100_000_000), Span::from_millis(40), AVQ);
    network.duration = Span::from_seconds(3000);
    network.flows[0].start = Span::from_seconds(2990);
    network.flows[1].start = Span::from_seconds(2990);
    for flow in &mut network.flows {
        flow.initial_threshold = Some(Segments(50.0));
    }
    network.flows[1].initial_threshold = Some(Segments(50.000_000_000_1));
    network.warmup = Span::from_seconds(2991);
    let path = mean_field(&network, 1.0);
    let [one, other] = [0, 1].map(|flow| path.flows[flow].rate_mean);
    assert_near(one, other, 1e-6, "rates");
}

/// Nothing is marked and nothing is lost: the window of a lone flow grows until the error says so, with the time.
#[test]
fn a_window_that_nothing_holds_is_an_error() {
    for name in ["hstcp", "reno", "stcp"] {
        let mut network = twins(name, Rate(100_000_000), Span::from_millis(40), Price::Loss);
        network.flows.truncate(1);
        for reading in [Reading::MeanField, Reading::Hybrid] {
            for delay in [0.0, 1.0] {
                let how = Solve { reading, delay, sample: Span::from_seconds(1) };
                let error = solve(&network, &how).expect_err("it grows without end");
                let FluidError::Unbounded { flow, why } = &error else { panic!("{error}") };
                assert_eq!(flow, "flow");
                assert!(why.starts_with("at t = "), "{why}");
            }
        }
    }
}

/// A faulty law: beyond ten segments what it adds is not a number.
#[derive(Clone, Debug)]
struct Wrong(f64);

impl WindowLaw for Wrong {
    fn gain(&self, at: &Operating) -> f64 {
        if at.window.0 > 10.0 { self.0 } else { 1.0 / at.window.0 }
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.5
    }
}

#[test]
fn a_law_that_gives_no_number_is_an_error_with_its_flow_and_time() {
    for gain in [f64::NAN, f64::INFINITY] {
        let good = flow(law("reno", &[]), Span::from_millis(100));
        let bad =
            FluidFlow { name: "bad".into(), ..flow(Box::new(Wrong(gain)), Span::from_millis(100)) };
        let network = single(link(1e4, AVQ), vec![good, bad], 10.0);
        let how = Solve { reading: Reading::MeanField, delay: 0.0, sample: Span::from_seconds(1) };
        for error in [
            solve(&network, &how).expect_err("there is no solution"),
            synchronised(&network, Span::from_seconds(1)).expect_err("there is no solution"),
        ] {
            let FluidError::NotFinite { flow, at } = &error else { panic!("{error}") };
            assert_eq!(flow.as_deref(), Some("bad"));
            // From one segment it takes nine round trips to ten.
            assert_near(*at, 0.9, 1e-3, "time");
        }
    }
}

/// A flow of a segment per second on a link of half of one: the virtual capacity falls to zero, and the step that takes
/// it there overshoots by a hair.
#[test]
fn no_price_is_above_one() {
    let price = Price::Avq { utilisation: 1.0, adaptation: 5.0, marks: true };
    let flows = vec![flow(law("reno", &[]), Span::from_seconds(1))];
    let network = single(link(0.5, price), flows, 5.0);
    let sample = Span::from_millis(2);
    let path = solve(&network, &Solve { reading: Reading::MeanField, delay: 1.0, sample });
    let prices = &path.expect("it can be solved").links[0].price;
    assert_eq!(prices.iter().copied().fold(0.0, f64::max), 1.0);
}

/// Windows of 10⁹ segments on a buffer that overflows fall to the least one within nanoseconds, faster than the
/// shortest step. What is in between, and with it the mean, stays within bounds.
#[test]
fn a_window_that_falls_faster_than_the_shortest_step_stays_within_bounds() {
    let mut network =
        twins("reno", Rate(124_000_000_000_000), Span::from_millis(40), Price::Overflow);
    network.duration = Span::from_millis(1200);
    network.warmup = Span::ZERO;
    network.flows[1].start = Span::from_millis(200);
    let path = mean_field(&network, 0.0);
    // A buffer of one round trip holds as much again as the path.
    let most = 1.01 * 2.0 * 124e12 * 0.04 / 12_000.0;
    for flow in &path.flows {
        assert!((1.0..most).contains(&flow.window_mean), "mean {}", flow.window_mean);
    }
    let used = used(&network, &path);
    assert!((0.0..1.0).contains(&used), "{used}");
}

/// A slow start on 1 Tbit/s and 40 ms overshoots to twenty million segments, a third of which are lost: 46 in a microsecond. The
/// mean window that losses leave follows as fast, faster than the shortest steps of 0.08 µs, and must not swing ever farther.
#[test]
fn losses_that_come_faster_than_steps_do_not_shake_the_epoch() {
    let mut lone = flow(law("reno", &[]), Span::from_millis(40));
    lone.initial_window = Segments(10.0);
    lone.initial_threshold = None;
    let mut link = link(1e12 / 12_000.0, Price::Overflow);
    link.buffer = Some(Span::from_millis(40));
    let network = single(link, vec![lone], 1.187);
    let path = solve(
        &network,
        &Solve { reading: Reading::MeanField, delay: 1.0, sample: Span::from_millis(1) },
    );
    let windows = &path.expect("it can be solved").flows[0].window;
    let most = windows.iter().copied().fold(0.0, f64::max);
    assert!((2e7..2.2e7).contains(&most), "{most}");
    assert!((1.0..10.0).contains(windows.last().expect("samples")), "{:?}", windows.last());
}
