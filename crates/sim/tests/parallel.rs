//! Several flows in parallel (`PSockets`), and one flow that behaves as several would (MulTCP).

use crate::support::{numbers, record, run};
use longfat_sim::summary::FlowSummary;

/// So many flows on a wire that loses this share of their packets and no acknowledgment; `file` and `flow` are more keys.
fn on_a_lossy_wire(loss: f64, control: &str, count: u32, file: &str, flow: &str) -> String {
    format!(
        r#"
        {file}
        [link.wire]
        rate   = "100 Gbit/s"
        delay  = "0 ms"
        buffer = "unlimited"
        loss   = {loss}
        [link.wire.reverse]
        loss   = 0
        [[flow]]
        name    = "bundle"
        control = {control}
        count   = {count}
        path    = ["wire"]
        rtt     = "50 ms"
        packet  = "1000 B"
        {flow}
        "#
    )
}

/// The goodput of 64 flows at once on a wire that loses one packet in a thousand, per bundle.
fn bundles(control: &str, flows: u32, bundles: u32) -> f64 {
    let times = "duration = \"120 s\"\nwarmup = \"10 s\"";
    let count = flows * bundles;
    let summary = run(&on_a_lossy_wire(1e-3, control, count, times, "initial_threshold = 20"));
    summary.flows.iter().map(|flow| flow.goodput_bit_s).sum::<f64>() / f64::from(bundles)
}

/// What the first loss takes of one of so many flows, as a share of all their windows, which begin with a hundred segments each.
fn first_loss(flows: u32) -> f64 {
    let times = "duration = \"20 s\"\nsample = \"1 ms\"";
    let begins = "initial_window = 100\ninitial_threshold = 100";
    let recording = record(&on_a_lossy_wire(1e-4, "\"reno\"", flows, times, begins), true);
    let windows = numbers(&recording, "flow_series", "window");
    let rows: Vec<&[f64]> = windows.chunks(flows as usize).collect();
    let lost = |pair: &[&[f64]]| {
        let fall = pair[0].iter().zip(pair[1]).map(|(before, after)| before - after);
        fall.fold(0.0, f64::max) / pair[0].iter().sum::<f64>()
    };
    rows.windows(2).map(lost).find(|lost| *lost > 0.0).expect("there is a loss")
}

/// A loss meets one of n flows, which gives up half of its window, and so 1/(2n) of the bundle: of a hundred segments and
/// more it may have added one in the millisecond of a row.
#[test]
fn a_loss_costs_a_bundle_one_part_in_two_n() {
    for flows in [1, 4, 16] {
        let share = 2.0 * f64::from(flows) * first_loss(flows);
        assert!((share - 1.0).abs() < 0.02, "{flows} flows: {share} of 1/(2n)");
    }
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

/// Behind drop tail all lose together. From one loss to the next, T round trips, `MulTCP` adds n T segments, which are 1/(2n)
/// of 2n² T, and Reno T, which are half of 2T; in the mean they have 1 - 1/(4n) and 3/4 of that: n² (4 - 1/n)/3 times as much.
/// With a queue that chooses whom it drops, `MulTCP` is near n flows.
#[test]
fn multcp_takes_n_squared_shares_where_all_lose_together() {
    let times_reno = |n: u32, queue: &str| {
        let summary = run(&format!(
            r#"
            duration = "120 s"
            warmup   = "20 s"
            [link.bottleneck]
            rate   = "100 Mbit/s"
            delay  = "1 ms"
            buffer = "1 bdp"
            bdp    = "40 ms"
            queue  = {queue}
            [[flow]]
            name    = "multcp"
            control = {{ kind = "multcp", n = {n} }}
            count   = 2
            path    = ["bottleneck"]
            rtt     = "40 ms"
            start   = {{ uniform = ["0 s", "1 s"] }}
            [[flow]]
            name    = "reno"
            control = "reno"
            count   = 8
            path    = ["bottleneck"]
            rtt     = "40 ms"
            start   = {{ uniform = ["0 s", "1 s"] }}
            "#
        ));
        let mean = |flows: &[FlowSummary]| {
            flows.iter().map(|flow| flow.goodput_bit_s).sum::<f64>() / flows.len() as f64
        };
        mean(&summary.flows[..2]) / mean(&summary.flows[2..])
    };
    for n in [2, 3, 5] {
        let expected = f64::from(n * n) * (4.0 - 1.0 / f64::from(n)) / 3.0;
        let times = times_reno(n, "\"drop-tail\"");
        assert!((times / expected - 1.0).abs() < 0.1, "{n}: {times}, not {expected}");
        let times = times_reno(n, "{ kind = \"pie\", ecn = false }") / f64::from(n);
        assert!((0.9..1.25).contains(&times), "{n}, pie: {times} of {n}");
    }
}
