//! What the sources of the queue disciplines promise for a link with flows on it.

use crate::support;
use crate::support::witness::{open, watched};
use crate::support::{numbers, record, run};
use longfat_sim::Simulation;
use longfat_sim::summary::{FlowSummary, Summary};
use longfat_units::{Ecn, Span, Time};

/// A number of the bottleneck, forward.
fn of(summary: &Summary, key: &str) -> f64 {
    support::of(summary, "bottleneck", "forward", key)
}

/// Reno flows that start within a second on a link with this rate, buffer and queue; `times`, `change` and `flow` are more
/// keys of the file, of the link and of the flows.
fn reno(
    times: &str,
    (rate, buffer, queue): (f64, &str, &str),
    change: &str,
    (count, rtt, flow): (u32, &str, &str),
) -> String {
    format!(
        r#"
        {times}
        [link.bottleneck]
        rate   = "{rate} Mbit/s"
        delay  = "10 ms"
        buffer = "{buffer}"
        queue  = {queue}
        {change}
        [[flow]]
        name    = "reno"
        control = "reno"
        count   = {count}
        path    = ["bottleneck"]
        rtt     = {rtt}
        start   = {{ uniform = ["0 s", "1 s"] }}
        {flow}
        "#
    )
}

/// The rate is another one after 20 s.
fn changes_to(rate: f64) -> String {
    format!("[[link.bottleneck.change]]\nat = \"20 s\"\nrate = \"{rate} Mbit/s\"")
}

/// What AVQ has in its tests.
const AVQ_FLOWS: (u32, &str, &str) = (20, "\"40 ms\"", "");

/// The network of Hollot et al. for this queue.
fn hollot(times: &str, kind: &str, change: &str, count: u32) -> Summary {
    let queue = format!("{{ kind = \"{kind}\", target = \"200 packets\" }}");
    let flows = (count, "{ spread = [\"160 ms\", \"240 ms\"] }", "packet = \"500 B\"");
    run(&reno(times, (15.0, "800 packets", &queue), change, flows))
}

/// Its queue is at the target, and its link full.
#[track_caller]
fn assert_at_target(summary: &Summary, case: &str) {
    let queue = 800.0 * of(summary, "queue_mean");
    assert!((queue / 200.0 - 1.0).abs() < 0.05, "{case}: {queue} packets");
    assert!(of(summary, "utilisation") > 0.99, "{case}: {}", of(summary, "utilisation"));
}

/// Kunniyur and Srikant: the utilisation is the requested one, and the queue stays short. Here within 0.2 % at 100
/// Mbit/s and 40 ms, with marks and with drops.
#[test]
fn avq_holds_the_utilisation_that_is_asked_for() {
    for (utilisation, ecn) in [(0.90, true), (0.96, true), (0.96, false)] {
        let queue = format!("{{ kind = \"avq\", utilisation = {utilisation}, ecn = {ecn} }}");
        let times = "duration = \"60 s\"\nwarmup = \"20 s\"";
        let summary = run(&reno(times, (100.0, "1 bdp", &queue), "", AVQ_FLOWS));
        let found = of(&summary, "utilisation");
        assert!((found / utilisation - 1.0).abs() < 0.002, "{found}, not {utilisation}");
        assert!(of(&summary, "queue_mean") < 0.3, "mean queue {}", of(&summary, "queue_mean"));
        let (told, silent) =
            if ecn { ("mark_rate", "drop_rate") } else { ("drop_rate", "mark_rate") };
        assert!(of(&summary, told) > 0.0 && of(&summary, silent) == 0.0, "ecn = {ecn}");
    }
}

/// The same on a link that was twice as fast or half as fast for the first 20 s: the virtual capacity is adapted to the
/// rate that the link has. 40 s are six times 1/α.
#[test]
fn avq_holds_its_utilisation_after_the_rate_has_changed() {
    for (before, after) in [(100.0, 50.0), (50.0, 100.0)] {
        let queue = "{ kind = \"avq\", utilisation = 0.96 }";
        let times = "duration = \"100 s\"\nwarmup = \"60 s\"";
        let link = (before, "300 packets", queue);
        let summary = run(&reno(times, link, &changes_to(after), AVQ_FLOWS));
        let found = of(&summary, "utilisation");
        assert!((found / 0.96 - 1.0).abs() < 0.002, "{before} to {after}: {found}");
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
        let times = "duration = \"150 s\"\nwarmup = \"50 s\"";
        assert_at_target(&hollot(times, kind, "", count), &format!("{kind}, {count} flows"));
    }
}

/// The queue of REM settles at its target whatever the rate becomes: the network of the test before, whose rate is
/// doubled or halved after 20 s.
#[test]
fn rem_holds_its_target_after_the_rate_has_changed() {
    for (rate, count) in [(7.5, 60), (30.0, 180)] {
        let times = "duration = \"200 s\"\nwarmup = \"100 s\"";
        let summary = hollot(times, "rem", &changes_to(rate), count);
        assert_at_target(&summary, &format!("{rate} Mbit/s"));
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
        ("reno", 10, 10, "{ kind = \"codel\", ecn = false }", 16.0, 17.5, 0.99),
        ("reno", 1, 100, "{ kind = \"codel\", ecn = false }", 0.9, 1.1, 0.75),
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

/// The same paper's sawtooth: N flows in step that have w = (C·RTT + K)/N segments when the step is reached add one more each,
/// and are marked for the round trip that it takes to hear of it. With α²/2 ≈ 1/w they then give up √(w/2) each, which is also
/// how many round trips pass between such rounds. So α w = √(2w) marks come per round trip, two only where they come one by
/// one; the queue rises to K + N and falls by N √(w/2) below that. Within an eighth, since α moves within the sawtooth.
#[test]
fn dctcp_behind_a_step_has_the_sawtooth_of_its_paper() {
    // Mbit/s, microseconds, flows, K.
    for (rate, rtt, count, step) in
        [(1000, 2000, 1, 40), (1000, 2000, 2, 40), (1000, 4000, 4, 60), (10_000, 500, 4, 65)]
    {
        let window = (f64::from(rate * rtt) / 12_000.0 + f64::from(step)) / f64::from(count);
        let recording = record(
            &format!(
                r#"
                duration = "4 s"
                warmup   = "1 s"
                sample   = "{} us"
                [link.bottleneck]
                rate   = "{rate} Mbit/s"
                delay  = "50 us"
                buffer = "2000 packets"
                queue  = {{ kind = "step", threshold = "{step} packets" }}
                [[flow]]
                name    = "dctcp"
                control = "dctcp"
                count   = {count}
                path    = ["bottleneck"]
                rtt     = "{rtt} us"
                initial_threshold = {window}
                "#,
                rtt / 10
            ),
            true,
        );
        let summary = &recording.summary;
        let case = format!("{count} flows, {rate} Mbit/s, {rtt} us, a step at {step}");
        let waits = summary.flows.iter().map(|flow| flow.queueing_delay_mean_s).sum::<f64>();
        let trips = 3.0 / (1e-6 * f64::from(rtt) + waits / f64::from(count));
        let marks = of(summary, "marked") / trips / f64::from(count);
        let expected = (2.0 * window).sqrt();
        assert!((marks / expected - 1.0).abs() < 0.125, "{case}: {marks} marks, {expected}");
        // Forward and reverse alternate.
        let queue = numbers(&recording, "link_series", "queue_packets");
        let late = || queue.iter().step_by(2).skip(queue.len() / 8).copied();
        let most = late().fold(0.0, f64::max);
        assert!((most - f64::from(step + count)).abs() <= 1.0, "{case}: up to {most} packets");
        let swing = most - late().fold(f64::INFINITY, f64::min);
        let expected = f64::from(count) * (window / 2.0).sqrt();
        assert!((swing / expected - 1.0).abs() < 0.15, "{case}: {swing} packets, {expected}");
    }
}

/// Prague's window grows by `(R/R_v)²` so that its rate does not depend on round trips below 25 ms. Behind a dual queue the
/// longer of 5 and 20 ms has 0.9 to 1.3 times as much; without `least_rtt` the shorter has nearly seven times as much.
#[test]
fn prague_hardly_depends_on_round_trips_below_25_ms() {
    let longer_over_shorter = |control: &str, rate: u32| {
        let summary = run(&format!(
            r#"
            duration = "90 s"
            warmup   = "30 s"
            [link.bottleneck]
            rate   = "{rate} Mbit/s"
            delay  = "1 ms"
            buffer = "250 ms"
            queue  = "dualpi2"
            [[flow]]
            name    = "prague"
            control = {control}
            count   = 2
            path    = ["bottleneck"]
            rtt     = ["5 ms", "20 ms"]
            "#
        ));
        summary.flows[1].goodput_bit_s / summary.flows[0].goodput_bit_s
    };
    for rate in [40, 100, 400] {
        let ratio = longer_over_shorter("\"prague\"", rate);
        assert!((0.8..1.4).contains(&ratio), "{rate} Mbit/s: {ratio}");
    }
    let ratio = longer_over_shorter(r#"{ kind = "prague", least_rtt = "1 ms" }"#, 100);
    assert!(ratio < 0.2, "{ratio} without");
}

/// RFC 9332: flows that ask for low latency wait less than a millisecond 99 times in a hundred, those that do not wait
/// near the target, and each kind gets its share within a factor of two (RFC 9331, section 4.3), and each flow its own, at
/// 40, 120 and 200 Mbit/s, with the ramp of the RFC and with a step at 1 ms, as deployed. The packet that is being sent when one arrives counts,
/// which at 20 Mbit/s is 0.6 ms of the millisecond by itself.
#[test]
fn prague_and_cubic_share_a_dual_queue() {
    let step = r#"{ kind = "dualpi2", ramp_from = "1 ms", ramp_to = "1 ms" }"#;
    let ramp = "\"dualpi2\"";
    for (rate, rtt, queue) in [(40, 30, ramp), (120, 10, ramp), (120, 30, step), (200, 30, ramp)] {
        let text = format!(
            r#"
            duration = "45 s"
            warmup   = "15 s"
            [link.bottleneck]
            rate   = "{rate} Mbit/s"
            delay  = "5 ms"
            buffer = "250 ms"
            queue  = {queue}
            [[flow]]
            name    = "prague"
            control = "prague"
            count   = 2
            path    = ["bottleneck"]
            rtt     = "{rtt} ms"
            [[flow]]
            name    = "cubic"
            control = "cubic"
            count   = 2
            path    = ["bottleneck"]
            rtt     = "{rtt} ms"
            "#
        );
        let (scenario, library) = watched(&text);
        let mut simulation = Simulation::new(&scenario, false);
        while simulation.advance(100_000) {}
        let summary = simulation.finish().summary;
        let case = format!("{rate} Mbit/s, {rtt} ms, {queue}");
        let (prague, cubic) = summary.flows.split_at(2);
        let sum = |flows: &[FlowSummary]| flows.iter().map(|flow| flow.goodput_bit_s).sum::<f64>();
        let ratio = sum(prague) / sum(cubic);
        assert!((0.5..2.0).contains(&ratio), "{case}: Prague gets {ratio} times as much");
        for flow in &summary.flows {
            let share = flow.goodput_bit_s / (f64::from(rate) * 1e6 / 4.0);
            assert!((0.5..2.0).contains(&share), "{case}: {} has {share} of a quarter", flow.name);
        }
        let library = library.lock().expect("nobody panicked");
        let waits = open(&library[0]).waits(Ecn::Ect1, Time::ZERO + Span::from_seconds(15));
        let most = waits[waits.len() * 99 / 100];
        assert!(most < Span::from_millis(1), "{case}: {most} at the 99th percentile");
        let classic = 1e3 * cubic[0].queueing_delay_mean_s;
        assert!((12.0..18.0).contains(&classic), "{case}: {classic} ms");
        assert!(of(&summary, "utilisation") > 0.98, "{case}");
        assert!(prague.iter().all(|flow| flow.retransmit_rate == 0.0), "{case}: never dropped");
    }
}
