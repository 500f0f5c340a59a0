//! EXP-TCP and round trips: two flows whose losses come together.

use longfat_control::Operating;
use longfat_units::math::{expm1, pow};
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near, law, operating};
use crate::synchronised::Bottleneck;

/// Two flows at these windows on a bottleneck of so many segments per second.
fn pair(rtt_fair: bool, millis: [u64; 2], windows: [f64; 2], capacity: f64) -> Bottleneck {
    let change = [("rtt_fair", Setting::Flag(rtt_fair))];
    Bottleneck::new(capacity)
        .with("exp", &change, millis[0], windows[0])
        .with("exp", &change, millis[1], windows[1])
}

/// From rates of 9:1, either way round: equal rates, and windows in the ratio of the round trips.
#[test]
fn rtt_fair_flows_that_lose_together_meet_at_equal_rates() {
    for millis in [[50, 100], [50, 200], [40, 320]] {
        for shares in [[0.9, 0.1], [0.1, 0.9]] {
            let windows = [0, 1].map(|index| 10.0 * shares[index] * millis[index] as f64);
            let mut pair = pair(true, millis, windows, 10_000.0);
            pair.epochs(80);
            let rates = pair.rates();
            assert_near(rates[0] / rates[1], 1.0, 0.03, &format!("{millis:?} ms from {shares:?}"));
        }
    }
}

/// The reference is 100 ms, and so is the path.
#[test]
fn at_the_reference_rtt_fair_changes_nothing() {
    for window in [4.0, 100.0, 1e4] {
        let [without, with] = [false, true].map(|rtt_fair| {
            let mut flow =
                ClockedFlow::new("exp", &[("rtt_fair", Setting::Flag(rtt_fair))], window);
            flow.lose();
            (0..20).for_each(|_| flow.round());
            flow.window()
        });
        assert_near(with, without, 1e-12, &format!("at {window}"));
    }
}

/// In four seconds after a loss flows of 50 and 100 ms and equal rates gain the same share.
#[test]
fn rtt_fair_growth_is_the_same_in_time() {
    let gain = |rtt_fair, millis: u64| {
        let change = [("rtt_fair", Setting::Flag(rtt_fair))];
        let flow = ClockedFlow::new("exp", &change, 114_285.7 * millis as f64 / 1000.0);
        let mut flow = flow.with_rtt(Span::from_millis(millis));
        flow.lose();
        let before = flow.window();
        (0..4000 / millis).for_each(|_| flow.round());
        flow.window() / before - 1.0
    };
    assert_near(gain(true, 50), gain(true, 100), 0.01, "with rtt_fair");
    // √2 (e⁴ - 1)/(e² - 1), from 5000 and 10 000 segments and over 80 and 40 round trips.
    assert_near(gain(false, 50) / gain(false, 100), 11.86, 0.05, "without it");
}

/// Two flows of 95 and 105 ms settle at the ratio that the length T of their epochs gives:
/// (105/95) ((e^(0.05T/0.095) - 1)/(e^(0.05T/0.105) - 1))².
#[test]
fn without_it_a_tenth_of_difference_in_round_trips_is_worth_a_factor() {
    let mut pair = pair(false, [95, 105], [950.0, 1050.0], 20_000.0);
    let length = pair.epochs(150);
    let grown = |rtt: f64| expm1(0.05 * length / rtt);
    let ratio = pow(grown(0.095) / grown(0.105), 2.0) * 105.0 / 95.0;
    assert!(ratio > 1.5, "the epochs are too short to tell: {length} s");
    let rates = pair.rates();
    assert_near(rates[0] / rates[1], ratio, 0.03, "the ratio of rates");
}

/// At twice the reference γ is 0.1, and the least start 8: 0.1 (1 - 4/4 + 8/4). At 4 s, 40 times as long, γ would be 2,
/// but stays at 1: 1 - 1000/1600 + √(1000 · 40)/1600.
#[test]
fn growth_and_its_start_are_scaled_to_the_round_trip() {
    let law = law("exp", &[("rtt_fair", Setting::Flag(true))]);
    for (millis, epoch, window, gain) in [(200, 4.0, 4.0, 0.2), (4000, 1000.0, 1600.0, 0.5)] {
        let (rtt, epoch_window) = (Span::from_millis(millis), Some(Segments(epoch)));
        let at = Operating { rtt, epoch_window, ..operating(window) };
        assert_near(law.gain(&at), gain, 1e-12, &format!("{millis} ms"));
    }
}
