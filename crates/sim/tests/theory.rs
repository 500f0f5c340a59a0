//! Theory with numbers from the source.
//!
//! The slow ones are ignored here and run by `make test-long`.

use crate::support::run;

/// A lone flow whose only losses are Bernoulli with probability `p`: mean window in segments and losses met.
///
/// The link is never the bottleneck and the round trip is short, so losses come soon.
fn under_random_loss(control: &str, p: f64, seconds: u32) -> (f64, u64) {
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
        rtt     = "10 ms"
        packet  = "1000 B"
        "#,
        seconds / 20
    ));
    let flow = &summary.flows[0];
    // A lost retransmission needs the timer; at one in a thousand that stays rare.
    assert!(
        flow.timeouts * 100 <= flow.congestion_events,
        "{} time-outs need another theory",
        flow.timeouts
    );
    (flow.window_mean, flow.congestion_events)
}

/// Mean window 1.31/√p for independent losses: notes to RFC 5681's law, from the stationary density of the sawtooth
/// under Poisson losses (Ott, Kemperman, Mathis 1996: E[W] = 1.3098/√p).
fn holds_the_square_root_law(p: f64, seconds: u32) {
    let (window, losses) = under_random_loss("reno", p, seconds);
    assert!(losses >= 1100, "{losses} losses are too few to judge");
    let constant = window * p.sqrt();
    assert!(
        (constant / 1.31 - 1.0).abs() < 0.05,
        "mean window {window:.1} = {constant:.3}/√p at p = {p}"
    );
}

#[test]
fn reno_holds_the_square_root_law_at_1e_3() {
    holds_the_square_root_law(1e-3, 600);
}

#[test]
fn reno_holds_the_square_root_law_at_1e_4() {
    holds_the_square_root_law(1e-4, 2000);
}

#[test]
#[ignore = "half a minute: make test-long"]
fn reno_holds_the_square_root_law_at_1e_5() {
    holds_the_square_root_law(1e-5, 6000);
}

#[test]
#[ignore = "minutes: make test-long"]
fn reno_holds_the_square_root_law_at_1e_6() {
    holds_the_square_root_law(1e-6, 9500);
}

/// Scalable TCP's mean window is inversely proportional to the loss probability. An acknowledged segment adds 0.01, a
/// loss takes an eighth: 0.08/p where losses come evenly, 0.0756/p where they come independently.
fn holds_the_scalable_law(p: f64, seconds: u32) {
    let (window, losses) = under_random_loss("stcp", p, seconds);
    assert!(losses >= 1100, "{losses} losses are too few to judge");
    let constant = window * p;
    assert!(
        (constant / 0.0756 - 1.0).abs() < 0.05,
        "mean window {window:.1} = {constant:.4}/p at p = {p}"
    );
}

#[test]
fn scalable_holds_its_law_at_1e_3() {
    holds_the_scalable_law(1e-3, 1000);
}

#[test]
fn scalable_holds_its_law_at_1e_4() {
    holds_the_scalable_law(1e-4, 600);
}

/// RED holds the queue of many paced or unpaced flows between its thresholds, and EXP-TCP, which gives up an eighth,
/// keeps the link above (1 + 0.1)(1 − 1/8) = 0.9625 of its capacity where windows are large: the load that remains even
/// if all flows give up in step, from a mean queue of at least 0.1 of the buffer.
#[test]
fn red_and_exp_keep_a_fast_link_busy() {
    let summary = run(r#"
        duration = "60 s"
        warmup   = "20 s"
        [link.bottleneck]
        rate   = "500 Mbit/s"
        delay  = "10 ms"
        buffer = "1 bdp"
        queue  = { kind = "red", min = "0.1 bdp", max = "0.3 bdp" }
        [[flow]]
        name    = "exp"
        control = "exp"
        count   = 16
        path    = ["bottleneck"]
        rtt     = { spread = ["60 ms", "100 ms"] }
        start   = { uniform = ["0 s", "5 s"] }
        packet  = "1000 B"
        "#);
    let link = &summary.links["bottleneck"]["forward"];
    let number = |key: &str| link[key].as_f64().expect("a number");
    assert!(number("utilisation") > 0.9625, "utilisation {}", number("utilisation"));
    assert!((0.05..0.3).contains(&number("queue_mean")), "mean queue {}", number("queue_mean"));
    assert!(number("mark_rate") > 0.0 && number("drop_rate") == 0.0, "marks, not drops: {link}");
}

/// With a buffer of one bandwidth-delay product the window falls from two of them to one, which still fills the pipe.
#[test]
fn a_lone_reno_flow_fills_the_link() {
    let summary = run(r#"
        duration = "300 s"
        warmup   = "20 s"
        [link.bottleneck]
        rate   = "10 Mbit/s"
        delay  = "10 ms"
        buffer = "1 bdp"
        [[flow]]
        name    = "reno"
        control = "reno"
        path    = ["bottleneck"]
        rtt     = "100 ms"
        "#);
    let utilisation =
        summary.links["bottleneck"]["forward"]["utilisation"].as_f64().expect("a number");
    assert!(utilisation > 0.9995, "utilisation {utilisation}");
    assert!(summary.flows[0].congestion_events > 10, "losses must have come");
}

/// One packet at a time: 1500 bytes at 10 Mbit/s take 1.2 ms; the acknowledgment of 40 bytes takes 0.032 ms.
#[test]
fn a_round_trip_is_what_its_parts_are() {
    let summary = run(r#"
        duration = "100 s"
        [link.a]
        rate   = "10 Mbit/s"
        delay  = "5 ms"
        buffer = "10 packets"
        [link.b]
        rate   = "5 Mbit/s"
        delay  = "7 ms"
        buffer = "10 packets"
        [[flow]]
        name       = "ping"
        control    = "reno"
        path       = ["a", "b"]
        rtt        = "50 ms"
        max_window = 1
        "#);
    // Out 1.2 + 2.4 ms, back 0.032 + 0.064 ms: 3.696 ms of transmission beyond the 50 ms of propagation.
    let flow = &summary.flows[0];
    assert!(
        (flow.queueing_delay_mean_s - 3.696e-3).abs() < 1e-12,
        "{}",
        flow.queueing_delay_mean_s
    );
    // One packet per 53.696 ms.
    let goodput = 1500.0 * 8.0 / 53.696e-3;
    assert!((flow.goodput_bit_s / goodput - 1.0).abs() < 1e-3, "{}", flow.goodput_bit_s);
}
