//! Several flows in parallel (`PSockets`), and one flow that behaves as several would (MulTCP).

use crate::support::run;

/// The goodput of 64 flows at once on a wire that loses one packet in a thousand, per bundle.
fn bundles(control: &str, flows: u32, bundles: u32) -> f64 {
    let summary = run(&format!(
        r#"
        duration = "120 s"
        warmup   = "10 s"
        [link.wire]
        rate   = "100 Gbit/s"
        delay  = "0 ms"
        buffer = "unlimited"
        loss   = 1e-3
        [link.wire.reverse]
        loss   = 0
        [[flow]]
        name    = "bundle"
        control = {control}
        count   = {}
        path    = ["wire"]
        rtt     = "50 ms"
        packet  = "1000 B"
        initial_threshold = 20
        "#,
        flows * bundles
    ));
    summary.flows.iter().map(|flow| flow.goodput_bit_s).sum::<f64>() / f64::from(bundles)
}

/// n flows get n times what one gets: that is why they are opened.
#[test]
fn eight_flows_get_eight_times_as_much() {
    let ratio = bundles(r#""reno""#, 8, 4) / bundles(r#""reno""#, 1, 32);
    assert!((ratio / 8.0 - 1.0).abs() < 0.05, "{ratio} times as much");
}

/// One MulTCP flow of n = 8 gets more: evenly spaced losses give n √(2 - 1/(2n)) instead of n √(3/2), 14 % more, and
/// random ones 9 %, as a window that swings less gains less from their chance.
#[test]
fn multcp_gets_a_little_more_than_the_flows_it_stands_for() {
    let one = bundles(r#"{ kind = "multcp", n = 8 }"#, 1, 8);
    let ratio = one / bundles(r#""reno""#, 8, 8);
    assert!((1.02..1.16).contains(&ratio), "{ratio} times as much");
}
