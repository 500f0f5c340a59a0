//! What controllers promise of a network, not of a window: queues, shares and losses that they do not cause.

use std::fmt::Write;

use crate::support::{numbers, of, record, run};
use longfat_sim::summary::Summary;

/// One flow on a link of 100 Mbit/s and a round trip of 40 ms (333 segments), or several.
fn on_a_link(flows: &[(&str, u32)], buffer: &str, loss: f64, seconds: u32) -> Summary {
    let mut text = format!(
        r#"
        duration = "{seconds} s"
        warmup   = "{} s"
        [link.bottleneck]
        rate   = "100 Mbit/s"
        delay  = "10 ms"
        buffer = "{buffer}"
        loss   = {loss}
        [link.bottleneck.reverse]
        loss   = 0
        "#,
        seconds / 4
    );
    for (index, (control, count)) in flows.iter().enumerate() {
        write!(
            text,
            r#"
            [[flow]]
            name    = "group{index}"
            control = {control}
            count   = {count}
            path    = ["bottleneck"]
            rtt     = "40 ms"
            start   = {{ uniform = ["0 s", "1 s"] }}
            initial_threshold = 200
            "#
        )
        .expect("a string takes it");
    }
    run(&text)
}

fn utilisation(summary: &Summary) -> f64 {
    of(summary, "bottleneck", "forward", "utilisation")
}

/// Mean window under random losses on a path that is never full, at a loss rate and a round trip.
fn under_random_loss(control: &str, p: f64, rtt: &str, seconds: u32) -> f64 {
    let summary = run(&format!(
        r#"
        duration = "{seconds} s"
        warmup   = "{} s"
        [link.wire]
        rate   = "100 Gbit/s"
        delay  = "0 ms"
        buffer = "unlimited"
        loss   = {p}
        [link.wire.reverse]
        loss   = 0
        [[flow]]
        name    = "lone"
        control = "{control}"
        path    = ["wire"]
        rtt     = "{rtt}"
        packet  = "1000 B"
        initial_threshold = 50
        "#,
        seconds / 10
    ));
    summary.flows[0].window_mean
}

/// Caini and Firrincieli: 200 ms is no slower than 50 ms, where Reno is four times as slow.
#[test]
fn hybla_is_as_fast_on_a_long_round_trip() {
    let rate = |control: &str, millis: u32| {
        let rtt = format!("{millis} ms");
        under_random_loss(control, 1e-3, &rtt, 8 * millis) / f64::from(millis)
    };
    let hybla = rate("hybla", 50) / rate("hybla", 200);
    assert!((hybla - 1.0).abs() < 0.15, "50 ms is {hybla} times as fast as 200 ms");
    let reno = rate("reno", 50) / rate("reno", 200);
    assert!((reno / 4.0 - 1.0).abs() < 0.15, "for Reno {reno} times");
}

/// Grieco and Mascolo: a link that corrupts one packet in five thousand is filled, where Reno gets a fraction.
#[test]
fn westwood_fills_a_link_that_corrupts() {
    let of = |control: &str| utilisation(&on_a_link(&[(control, 1)], "1 bdp", 2e-4, 60));
    let (westwood, reno) = (of(r#""westwood""#), of(r#""reno""#));
    assert!(westwood > 0.9, "Westwood uses {westwood}");
    assert!(reno < 0.4, "Reno uses {reno}");
}

/// Liu, Basar and Srikant: with a buffer of a fifth of the path Reno's halving leaves the link idle; Illinois, whose
/// window curves towards its maximum, does not.
#[test]
fn illinois_keeps_a_link_with_a_short_buffer_busier_than_reno() {
    let of = |control: &str| utilisation(&on_a_link(&[(control, 1)], "0.2 bdp", 0.0, 120));
    let (illinois, reno) = (of(r#""illinois""#), of(r#""reno""#));
    assert!(illinois > reno + 0.02, "Illinois {illinois}, Reno {reno}");
}

/// Baiocchi et al.: alone it takes back what it has queued, and a buffer of five times the path never overflows; here from a
/// threshold of 200 segments, where 333 fill the path.
#[test]
fn yeah_keeps_a_deep_buffer_from_filling() {
    let summary = on_a_link(&[(r#""yeah""#, 1)], "5 bdp", 0.0, 60);
    assert!(utilisation(&summary) > 0.99, "it uses {}", utilisation(&summary));
    let queue = of(&summary, "bottleneck", "forward", "queue_mean");
    assert_eq!(of(&summary, "bottleneck", "forward", "dropped"), 0.0);
    let queued = summary.flows[0].queueing_delay_mean_s * 100e6 / 12_000.0;
    assert!((10.0..80.0).contains(&queued), "{queued} segments wait, {queue} of the buffer");
}

/// What its essay says of a slow start that goes too far: half of what the first slow round leaves is taken for Reno's window,
/// and no round takes back more than down to that, which is more than the path and 80. It is the same queue half a minute
/// later, longer by a segment for each round trip of about 0.15 s.
#[test]
fn yeah_keeps_for_good_what_slow_start_has_left_in_a_deep_buffer() {
    let recording = record(
        r#"
        duration = "60 s"
        sample   = "500 ms"
        [link.bottleneck]
        rate   = "100 Mbit/s"
        delay  = "10 ms"
        buffer = "10000 packets"
        [[flow]]
        name    = "lone"
        control = "yeah"
        path    = ["bottleneck"]
        rtt     = "40 ms"
        "#,
        true,
    );
    let windows = numbers(&recording, "flow_series", "window");
    let most = windows.iter().copied().fold(0.0, f64::max);
    let [soon, later] = [10, 40].map(|second: usize| windows[2 * second]);
    assert!(most > 4.0 * (333.0 + 80.0), "slow start goes up to {most}");
    assert!(soon > 333.0 + 80.0, "{soon} segments at 10 s");
    // One for each round trip, of (600 + 900)/2 and more segments at 8333 in a second.
    let trips = 30.0 * 8333.3 / f64::midpoint(soon, later);
    assert!(((later - soon) / trips - 1.0).abs() < 0.05, "{soon} at 10 s, {later} at 40 s");
    assert_eq!(of(&recording.summary, "bottleneck", "forward", "dropped"), 0.0);
}

/// The draft of Compound: its delay window goes away at 30 segments in the queue, so beside Reno it takes what Reno
/// would; alone on a long path it needs fewer round trips to fill it.
#[test]
fn compound_shares_with_reno() {
    let summary = on_a_link(&[(r#""compound""#, 2), (r#""reno""#, 2)], "1 bdp", 0.0, 200);
    let rate =
        |from: usize| summary.flows[from].goodput_bit_s + summary.flows[from + 1].goodput_bit_s;
    let ratio = rate(0) / rate(2);
    assert!((0.75..1.5).contains(&ratio), "Compound gets {ratio} times what Reno gets");
}

/// A law that asks for loose blocks gets what a scenario gets that asks for them: acknowledgments end the wait in both.
#[test]
fn a_law_may_ask_for_loose_blocks() {
    let of = |control: &str, pacing: &str| {
        let text = format!(
            r#"
            duration = "20 s"
            [link.bottleneck]
            rate   = "20 Mbit/s"
            delay  = "60 ms"
            buffer = "0.2 bdp"
            [[flow]]
            name    = "one"
            control = {control}
            path    = ["bottleneck"]
            rtt     = "120 ms"
            initial_threshold = 100
            {pacing}
            "#
        );
        run(&text).flows[0].goodput_bit_s
    };
    let held = of(r#"{ kind = "cw-hstcp", c = "10 /s" }"#, "");
    let loose = of(r#"{ kind = "cw-hstcp", c = "10 /s", blocks = "loose" }"#, "");
    let asked = of(r#"{ kind = "cw-hstcp", c = "10 /s" }"#, "pacing = { loose_blocks = 3 }");
    assert!((loose / asked - 1.0).abs() < 1e-9, "{loose}, not {asked}");
    assert!((loose / held - 1.0).abs() > 1e-6, "as {held} with held blocks");
}
