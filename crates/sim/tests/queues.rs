//! What the sources of the queue disciplines promise for a link with flows on it.

mod support;

use longfat_sim::summary::Summary;
use support::run;

/// A number of the bottleneck, forward.
fn of(summary: &Summary, key: &str) -> f64 {
    support::of(summary, "bottleneck", "forward", key)
}

/// Kunniyur and Srikant: the utilisation is the requested one, and the queue stays short. Here within 0.2 % at 100
/// Mbit/s and 40 ms, with marks and with drops.
#[test]
fn avq_holds_the_utilisation_that_is_asked_for() {
    for (utilisation, ecn) in [(0.90, true), (0.96, true), (0.96, false)] {
        let summary = run(&format!(
            r#"
            duration = "60 s"
            warmup   = "20 s"
            [link.bottleneck]
            rate   = "100 Mbit/s"
            delay  = "10 ms"
            buffer = "1 bdp"
            queue  = {{ kind = "avq", utilisation = {utilisation}, ecn = {ecn} }}
            [[flow]]
            name    = "reno"
            control = "reno"
            count   = 20
            path    = ["bottleneck"]
            rtt     = "40 ms"
            start   = {{ uniform = ["0 s", "1 s"] }}
            "#
        ));
        let found = of(&summary, "utilisation");
        assert!((found / utilisation - 1.0).abs() < 0.002, "{found}, not {utilisation}");
        assert!(of(&summary, "queue_mean") < 0.3, "mean queue {}", of(&summary, "queue_mean"));
        let (told, silent) =
            if ecn { ("mark_rate", "drop_rate") } else { ("drop_rate", "mark_rate") };
        assert!(of(&summary, told) > 0.0 && of(&summary, silent) == 0.0, "ecn = {ecn}");
    }
}

/// A clock that ticks once in a run: twice the longest interval lies beyond the end of time.
#[test]
fn a_clock_may_be_as_slow_as_the_longest_run() {
    let summary = run(r#"
        duration = "4800 h"
        [link.bottleneck]
        rate   = "1 Mbit/s"
        delay  = "10 ms"
        buffer = "100 packets"
        queue  = { kind = "pi", interval = "3600 h" }
        [[flow]]
        name    = "two"
        control = "reno"
        count   = 2
        path    = ["bottleneck"]
        rtt     = "40 ms"
        size    = "10 packets"
        start   = ["0 s", "4560 h"]
        "#);
    assert!(summary.flows.iter().all(|flow| flow.completion_s.is_some()));
}

/// Athuraliya et al., Hollot et al.: the queue settles at the target and the link is full, whatever the number of
/// flows. The network is the example of Hollot et al.: 15 Mbit/s, 3750 packets per second, round trips of up to 240 ms,
/// a target of 200 packets in a buffer of 800.
#[test]
fn rem_and_pi_hold_the_queue_at_the_target() {
    for (kind, count) in [("pi", 60), ("pi", 180), ("rem", 60), ("rem", 180)] {
        let summary = run(&format!(
            r#"
            duration = "150 s"
            warmup   = "50 s"
            [link.bottleneck]
            rate   = "15 Mbit/s"
            delay  = "10 ms"
            buffer = "800 packets"
            queue  = {{ kind = "{kind}", target = "200 packets" }}
            [[flow]]
            name    = "reno"
            control = "reno"
            count   = {count}
            path    = ["bottleneck"]
            rtt     = {{ spread = ["160 ms", "240 ms"] }}
            start   = {{ uniform = ["0 s", "1 s"] }}
            packet  = "500 B"
            "#
        ));
        let queue = 800.0 * of(&summary, "queue_mean");
        assert!((queue / 200.0 - 1.0).abs() < 0.05, "{kind}, {count} flows: {queue} packets");
        assert!(of(&summary, "utilisation") > 0.99, "{kind}: {}", of(&summary, "utilisation"));
    }
}

/// Nichols and Jacobson: the delay is held near the target of 5 ms and the link stays busy, whatever the rate, with
/// marks and with drops, in a buffer of ten bandwidth-delay products, 400 ms, most of which drop tail fills. Where the
/// flows share 33 packets in flight there is less to control. A lone Reno flow that meets no standing queue halves a
/// window that just fills the path: three quarters of the rate at least.
#[test]
fn codel_holds_the_delay_near_its_target() {
    for (control, count, rate, queue, least, most, busy) in [
        ("reno", 10, 100, "{ kind = \"codel\" }", 4.0, 7.0, 0.99),
        ("reno", 10, 100, "{ kind = \"codel\", ecn = false }", 4.0, 7.0, 0.99),
        ("cubic", 10, 100, "{ kind = \"codel\", ecn = false }", 4.0, 7.0, 0.99),
        ("cubic", 10, 1000, "{ kind = \"codel\", ecn = false }", 4.0, 7.0, 0.99),
        ("reno", 10, 10, "{ kind = \"codel\", ecn = false }", 5.0, 20.0, 0.99),
        ("reno", 1, 100, "{ kind = \"codel\", ecn = false }", 0.0, 5.0, 0.75),
        ("reno", 10, 100, "\"drop-tail\"", 300.0, 400.0, 0.99),
    ] {
        let summary = run(&format!(
            r#"
            duration = "60 s"
            warmup   = "20 s"
            [link.bottleneck]
            rate   = "{rate} Mbit/s"
            delay  = "10 ms"
            buffer = "10 bdp"
            queue  = {queue}
            [[flow]]
            name    = "{control}"
            control = "{control}"
            count   = {count}
            path    = ["bottleneck"]
            rtt     = "40 ms"
            start   = {{ uniform = ["0 s", "1 s"] }}
            "#
        ));
        let waits = summary.flows.iter().map(|flow| 1e3 * flow.queueing_delay_mean_s);
        let delay = waits.sum::<f64>() / f64::from(count);
        let case = format!("{count} {control} flows, {rate} Mbit/s, {queue}");
        assert!((least..most).contains(&delay), "{case}: {delay} ms");
        let utilisation = of(&summary, "utilisation");
        assert!(utilisation > busy, "{case}: utilisation {utilisation}");
    }
}

/// RFC 8033: the waiting time is held at the target of 15 ms, whatever the rate and the number of flows, with marks and
/// with drops, in a buffer of ten bandwidth-delay products, 800 ms, most of which drop tail fills; and at a target of
/// 5 ms with gains three times as large (section 4.2).
#[test]
fn pie_holds_its_target() {
    let fast = "{ kind = \"pie\", ecn = false, target = \"5 ms\", alpha = \"0.375 /s\", beta = \"3.75 /s\" }";
    for (control, count, rate, queue, target, error) in [
        ("reno", 10, 10, "{ kind = \"pie\", ecn = false }", 15.0, 0.2),
        ("reno", 50, 100, "{ kind = \"pie\", ecn = false }", 15.0, 0.2),
        ("reno", 20, 100, "{ kind = \"pie\" }", 15.0, 0.2),
        ("cubic", 20, 100, "{ kind = \"pie\", ecn = false }", 15.0, 0.2),
        ("reno", 100, 500, "{ kind = \"pie\", ecn = false }", 15.0, 0.2),
        ("reno", 50, 100, fast, 5.0, 0.2),
    ] {
        let summary = run(&format!(
            r#"
            duration = "60 s"
            warmup   = "20 s"
            [link.bottleneck]
            rate   = "{rate} Mbit/s"
            delay  = "10 ms"
            buffer = "10 bdp"
            queue  = {queue}
            [[flow]]
            name    = "{control}"
            control = "{control}"
            count   = {count}
            path    = ["bottleneck"]
            rtt     = "80 ms"
            start   = {{ uniform = ["0 s", "1 s"] }}
            "#
        ));
        let waits = summary.flows.iter().map(|flow| 1e3 * flow.queueing_delay_mean_s);
        let delay = waits.sum::<f64>() / f64::from(count);
        let case = format!("{count} {control} flows, {rate} Mbit/s, {queue}");
        assert!((delay / target - 1.0).abs() < error, "{case}: {delay} ms");
        let utilisation = of(&summary, "utilisation");
        assert!(utilisation > 0.95, "{case}: utilisation {utilisation}");
    }
}

/// Alizadeh et al.: the queue stays near the step, and above C·RTT/7 the link is busy. Two flows at 1 Gbit/s and 1 ms,
/// where the bandwidth-delay product is 83 packets; Reno on the same step leaves the link idle.
#[test]
fn dctcp_holds_the_queue_near_the_step() {
    let run = |control: &str| {
        run(&format!(
            r#"
            duration = "4 s"
            warmup   = "1 s"
            [link.bottleneck]
            rate   = "1 Gbit/s"
            delay  = "100 us"
            bdp    = "1 ms"
            buffer = "500 packets"
            queue  = {{ kind = "step", threshold = "20 packets" }}
            [[flow]]
            name    = "two"
            control = "{control}"
            count   = 2
            path    = ["bottleneck"]
            rtt     = "1 ms"
            start   = {{ uniform = ["0 ms", "10 ms"] }}
            "#
        ))
    };
    let dctcp = run("dctcp");
    let (used, longest) = (of(&dctcp, "utilisation"), 500.0 * of(&dctcp, "queue_p99"));
    assert!(used > 0.999, "utilisation {used}");
    assert!((20.0..40.0).contains(&longest), "99 % of the time below {longest} packets");
    assert_eq!(of(&dctcp, "drop_rate"), 0.0);
    let reno = of(&run("reno"), "utilisation");
    assert!(reno < 0.99, "Reno uses {reno}");
}

/// RFC 9332: flows that ask for low latency hardly wait, those that do not wait near the target, and each gets its share:
/// within a factor of two (RFC 9331, section 4.3), at 20 and at 200 Mbit/s.
#[test]
fn prague_and_cubic_share_a_dual_queue() {
    for rate in [20, 200] {
        let summary = run(&format!(
            r#"
            duration = "90 s"
            warmup   = "30 s"
            [link.bottleneck]
            rate   = "{rate} Mbit/s"
            delay  = "5 ms"
            buffer = "5 bdp"
            queue  = "dualpi2"
            [[flow]]
            name    = "prague"
            control = "prague"
            path    = ["bottleneck"]
            rtt     = "30 ms"
            [[flow]]
            name    = "cubic"
            control = "cubic"
            path    = ["bottleneck"]
            rtt     = "30 ms"
            "#
        ));
        let [prague, cubic] = &summary.flows[..] else { panic!("two flows") };
        let ratio = prague.goodput_bit_s / cubic.goodput_bit_s;
        assert!((0.5..2.0).contains(&ratio), "{rate} Mbit/s: Prague gets {ratio} times as much");
        assert!(prague.queueing_delay_mean_s < 1e-3 && cubic.queueing_delay_mean_s > 5e-3);
        assert!(of(&summary, "utilisation") > 0.98, "{rate} Mbit/s");
        assert_eq!(prague.retransmit_rate, 0.0, "it is never dropped");
    }
}
