//! What the sources of disciplines with a queue for each flow promise for a link with flows on it.

use std::collections::BTreeSet;

use crate::support;
use crate::support::run;
use crate::support::witness::{open, watched};
use longfat_sim::Simulation;
use longfat_sim::summary::Summary;

/// A number of the bottleneck, forward.
fn of(summary: &Summary, key: &str) -> f64 {
    support::of(summary, "bottleneck", "forward", key)
}

/// Goodput in Mbit/s, of each flow.
fn rates(summary: &Summary) -> Vec<f64> {
    summary.flows.iter().map(|flow| flow.goodput_bit_s / 1e6).collect()
}

/// Three flows whose round trips are 20, 60 and 180 ms, one that sends as fast as the link whatever happens, and one
/// that has 1 Mbit/s to send.
fn rivals(queue: &str) -> Summary {
    run(&format!(
        r#"
        duration = "60 s"
        warmup   = "20 s"
        [link.bottleneck]
        rate   = "20 Mbit/s"
        delay  = "5 ms"
        buffer = "1000 packets"
        queue  = {queue}
        [[flow]]
        name    = "cubic"
        control = "cubic"
        count   = 3
        path    = ["bottleneck"]
        rtt     = ["20 ms", "60 ms", "180 ms"]
        [[flow]]
        name    = "deaf"
        control = {{ kind = "blitz", priorities = false }}
        access  = "20 Mbit/s"
        path    = ["bottleneck"]
        rtt     = "20 ms"
        [[flow]]
        name    = "sparse"
        control = "cubic"
        application = {{ kind = "constant", rate = "1 Mbit/s", write = "1 packets" }}
        path    = ["bottleneck"]
        rtt     = "20 ms"
        "#
    ))
}

/// Max-min: the flow with little to send gets that, and a quarter of the rest is for each of the others: 4.75 Mbit/s.
/// Those that fill a buffer take all of it, whatever their round trips; SFQ's changes of its hash let packets overtake
/// and cost something. CoDel leaves those of long round trips too little to fill a pause with: they take less of their
/// share than they could. The flow that does not answer gets what is left.
#[test]
fn flows_share_equally() {
    for (queue, error) in [
        ("\"drr\"", 0.01),
        ("\"sfq\"", 0.06),
        ("\"fq-codel\"", 0.2),
        ("{ kind = \"cake\", isolation = \"flows\" }", 0.2),
    ] {
        let summary = rivals(queue);
        let rates = rates(&summary);
        for (flow, rate) in summary.flows.iter().zip(&rates).take(3) {
            let case = format!("{queue}, {} s: {rate} Mbit/s", flow.rtt_s);
            assert!((rate / 4.75 - 1.0).abs() < error, "{case}");
        }
        assert!((rates[4] - 1.0).abs() < 0.001, "{queue}: {} of 1 Mbit/s", rates[4]);
        assert!(of(&summary, "utilisation") > 0.999, "{queue}");
    }
    let answering: f64 = rates(&rivals("\"drop-tail\"")).iter().take(3).sum();
    assert!(answering < 0.1, "in one queue nobody else gets through: {answering} Mbit/s");
}

/// RFC 8290, section 4: a flow that sends less than its share waits for hardly more than the packets in service and the
/// turns of others that are new; flows that fill their queues wait for CoDel's target or so, and the one that does not
/// answer for itself alone. With DRR the buffer is full of all of them.
#[test]
fn a_sparse_flow_does_not_wait() {
    let waits = |queue: &str| -> Vec<f64> {
        let flows = rivals(queue).flows;
        flows.iter().map(|flow| 1e3 * flow.queueing_delay_mean_s).collect()
    };
    for queue in ["\"fq-codel\"", "\"cake\""] {
        let waits = waits(queue);
        assert!(waits[4] < 1.5, "{queue}: {} ms", waits[4]);
        assert!(waits[..3].iter().all(|wait| *wait < 15.0), "{queue}: {waits:?} ms");
        assert!(waits[3] > 300.0, "{queue}: {} ms", waits[3]);
    }
    assert!(waits("\"drr\"")[..3].iter().all(|wait| *wait > 300.0));
}

/// Two hosts, one with a single flow and one with nine. CAKE halves the link between the hosts, and a ninth of its half
/// is for each of the nine flows; FQ-CoDel gives each flow a tenth.
#[test]
fn hosts_share_equally() {
    for (queue, alone) in [
        ("\"cake\"", 10.0),
        ("{ kind = \"cake\", isolation = \"sources\" }", 10.0),
        ("{ kind = \"cake\", isolation = \"flows\" }", 2.0),
        ("\"fq-codel\"", 2.0),
    ] {
        let summary = run(&format!(
            r#"
            duration = "60 s"
            warmup   = "20 s"
            [link.bottleneck]
            rate   = "20 Mbit/s"
            delay  = "5 ms"
            buffer = "1000 packets"
            queue  = {queue}
            [[flow]]
            name    = "one"
            control = "cubic"
            path    = ["bottleneck"]
            rtt     = "30 ms"
            [[flow]]
            name    = "nine"
            control = "cubic"
            count   = 9
            path    = ["bottleneck"]
            rtt     = "30 ms"
            "#
        ));
        let rates = rates(&summary);
        assert!((rates[0] / alone - 1.0).abs() < 0.05, "{queue}: {} of {alone} Mbit/s", rates[0]);
        let each = (20.0 - alone) / 9.0;
        for rate in &rates[1..] {
            assert!((rate / each - 1.0).abs() < 0.05, "{queue}: {rate} of {each} Mbit/s");
        }
    }
}

/// A host with two bulk flows and forty sparse ones, 70 packets in two seconds each, which take 17 of 50 Mbit/s; and another
/// with one flow. A packet is larger than a turn, half of a quantum, so sparse queues are empty when their credit is used up.
/// They count for nothing: what is left is halved, 16.5 for the two and 16.5 for the one. If they were bulk until their next
/// turn, the two would have 12.5 and the one 21.
#[test]
fn sparse_flows_of_packets_larger_than_a_turn_cost_their_host_nothing() {
    let flow = |name: &str, count: usize, rtt: &str, window: &str| {
        format!(
            r#"
            [[flow]]
            name    = "{name}"
            control = "cubic"
            count   = {count}
            path    = ["access"]
            rtt     = {rtt}
            initial_window = 70
            receive_window = "{window}"
            pacing  = "spread"
            "#
        )
    };
    let rtts = format!("[\"20 ms\", \"20 ms\"{}]", ", \"2 s\"".repeat(40));
    let summary = run(&format!(
        r#"
        duration = "30 s"
        warmup   = "10 s"
        [link.access]
        rate   = "50 Mbit/s"
        delay  = "5 ms"
        buffer = "4000 packets"
        queue  = {{ kind = "cake", target = "200 ms", interval = "2 s" }}
        {}{}"#,
        flow("many", 42, &rtts, "100 kB"),
        flow("one", 1, "\"20 ms\"", "300 kB"),
    ));
    let rates = rates(&summary);
    let (two, one) = (rates[0] + rates[1], rates[42]);
    assert!((two / one - 1.0).abs() < 0.1, "{two} and {one} Mbit/s");
}

/// 150 Reno flows on a buffer of 60 packets, where many queues are the longest at once, and lose in turn; there are enough
/// queues for each flow to have its own. If the first by number always lost, 56 of the flows would have less than a tenth
/// of their share, and Jain's index would be 0.63; with SFQ, where new salts give others the low numbers, 3 and 0.86. In
/// one queue for all it is 0.43, since the flows are in step.
#[test]
fn queues_that_tie_lose_in_turn() {
    for queue in ["drr", "sfq", "fq-codel", "cake"] {
        let summary = run(&format!(
            r#"
            duration = "60 s"
            warmup   = "20 s"
            [link.bottleneck]
            rate   = "20 Mbit/s"
            delay  = "5 ms"
            buffer = "60 packets"
            queue  = {{ kind = "{queue}", queues = 65536 }}
            [[flow]]
            name    = "reno"
            control = "reno"
            count   = 150
            path    = ["bottleneck"]
            rtt     = "20 ms"
            ecn     = false
            start   = {{ uniform = ["0 s", "5 s"] }}
            "#
        ));
        let rates = rates(&summary);
        let least = 0.1 * rates.iter().sum::<f64>() / 150.0;
        let starved = rates.iter().filter(|rate| **rate < least).count();
        let jain = summary.jain["reno"].as_f64().expect("a number");
        assert!(jain > 0.98 && starved == 0, "{queue}: {jain}, and {starved} starve");
    }
}

/// Ten flows over sixteen queues, where some share one: over a minute each gets its share within a quarter if the hash
/// changes every second, while without changes those that share get half of one.
#[test]
fn no_flow_suffers_for_long() {
    let least = |perturb: &str| {
        let summary = run(&format!(
            r#"
            duration = "80 s"
            warmup   = "20 s"
            [link.bottleneck]
            rate   = "20 Mbit/s"
            delay  = "5 ms"
            buffer = "200 packets"
            queue  = {{ kind = "sfq", queues = 16, perturb = "{perturb}" }}
            [[flow]]
            name    = "reno"
            control = "reno"
            count   = 10
            path    = ["bottleneck"]
            rtt     = "30 ms"
            "#
        ));
        rates(&summary).into_iter().fold(f64::MAX, f64::min) / 2.0
    };
    let (fixed, changing) = (least("0 s"), least("1 s"));
    assert!(fixed < 0.8 && changing > 0.75, "{fixed} and {changing} of a share");
}

/// Packets of 1500 and of 500 bytes: SFQ gives both the same number of packets, DRR the same number of bytes.
#[test]
fn turns_are_packets_or_bytes() {
    for (queue, large) in [("\"sfq\"", 15.0), ("\"drr\"", 10.0), ("\"fq-codel\"", 10.0)] {
        let summary = run(&format!(
            r#"
            duration = "30 s"
            warmup   = "10 s"
            [link.bottleneck]
            rate   = "20 Mbit/s"
            delay  = "5 ms"
            buffer = "400 packets"
            queue  = {queue}
            [[flow]]
            name    = "large"
            control = "cubic"
            path    = ["bottleneck"]
            rtt     = "20 ms"
            packet  = "1500 B"
            [[flow]]
            name    = "small"
            control = "cubic"
            path    = ["bottleneck"]
            rtt     = "20 ms"
            packet  = "500 B"
            "#
        ));
        let rate = rates(&summary)[0];
        assert!((rate / large - 1.0).abs() < 0.05, "{queue}: {rate} of {large} Mbit/s");
    }
}

/// Requests, and what acknowledges responses, come from one host; responses, and what acknowledges requests, from the other.
#[test]
fn what_an_application_sends_travels_between_two_hosts() {
    let (scenario, library) = watched(
        r#"
        duration = "5 s"
        [link.bottleneck]
        rate   = "20 Mbit/s"
        delay  = "5 ms"
        buffer = "100 packets"
        [[flow]]
        name    = "browsers"
        control = "reno"
        count   = 3
        path    = ["bottleneck"]
        rtt     = "30 ms"
        application = { kind = "web", objects = 6, object = "20 kB", connections = 2, think = "100 ms" }
        "#,
    );
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(100_000) {}
    let library = library.lock().expect("nobody panicked");
    let [there, back] = [0, 1].map(|direction| {
        let arrived = open(&library[direction]).arrived.clone();
        let sources: BTreeSet<u32> = arrived.iter().map(|item| item.source).collect();
        let flows: BTreeSet<(u32, u32)> =
            arrived.iter().map(|item| (item.source, item.flow)).collect();
        assert_eq!(sources.len(), 1);
        (sources.into_iter().next(), flows.len())
    });
    assert_ne!(there.0, back.0);
    // Three browsers with two connections each; data and acknowledgments of each connection.
    assert_eq!((there.1, back.1), (12, 12));
}
