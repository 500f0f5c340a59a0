//! Floyd's paper of 1991.

use longfat_units::Span;
use longfat_units::parameter::Setting;

use crate::drive::{ClockedFlow, assert_near};
use crate::synchronised::Bottleneck;

/// In ten seconds without a loss the rate gains 1000 segments per second, whatever the round trip.
#[test]
fn the_rate_grows_alike_at_every_round_trip() {
    for millis in [20, 100, 500] {
        let rtt = millis as f64 / 1000.0;
        let flow = ClockedFlow::new("constant-rate", &[], 10_000.0 * rtt);
        let mut flow = flow.with_rtt(Span::from_millis(millis));
        (0..10_000 / millis).for_each(|_| flow.round());
        assert_near(flow.window() / rtt - 10_000.0, 1000.0, 0.06, &format!("at {millis} ms"));
    }
}

/// With c = 4 a round trip of half a second gains one segment, like Reno's.
#[test]
fn four_per_second_is_reno_at_half_a_second() {
    let change = [("c", Setting::Number(4.0))];
    let flow = ClockedFlow::new("constant-rate", &change, 100.0);
    let mut flow = flow.with_rtt(Span::from_millis(500));
    flow.ack();
    assert_eq!(flow.window(), 100.01);
}

/// Reno's rates settle at 16:1, the square of the ratio of round trips.
#[test]
fn rates_that_lose_together_meet() {
    let ratio = |control| {
        let mut pair =
            Bottleneck::new(20_000.0).with(control, &[], 60, 100.0).with(control, &[], 240, 4000.0);
        pair.epochs(30);
        let rates = pair.rates();
        rates[0] / rates[1]
    };
    assert_near(ratio("constant-rate"), 1.0, 0.01, "constant rate");
    assert_near(ratio("reno"), 16.0, 0.03, "Reno");
}

/// c R² is 100 at one second: more than a window of 20 may gain.
#[test]
fn no_segment_adds_more_than_one() {
    let mut flow = ClockedFlow::new("constant-rate", &[], 20.0).with_rtt(Span::from_seconds(1));
    flow.ack();
    assert_eq!(flow.window(), 21.0);
}
