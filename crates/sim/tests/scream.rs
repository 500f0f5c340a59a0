//! SCReAM on a network: what its draft says of marks and of queues.

use crate::support::{of, run};

/// One flow for 60 s, measured in the second half, on 20 Mbit/s: in packets of 1500 bytes 1667 per second.
fn lone(control: &str, queue: &str, rtt: &str, buffer: &str) -> longfat_sim::summary::Summary {
    run(&format!(
        r#"
        duration = "60 s"
        warmup   = "30 s"
        [link.wire]
        rate   = "20 Mbit/s"
        delay  = "1 ms"
        buffer = "{buffer}"
        queue  = {queue}
        [[flow]]
        name    = "lone"
        control = {control}
        path    = ["wire"]
        rtt     = "{rtt}"
        "#
    ))
}

/// Where nothing marks, the draft takes a queue of more than half its target of 60 ms for congestion ("Detecting Increased
/// Queue Delay"). So that is where it stays, and a buffer of 200 ms loses nothing.
#[test]
fn scream_holds_the_queue_at_half_its_target() {
    for (control, seconds) in
        [("\"scream\"", 0.03), ("{ kind = \"scream\", target = \"20 ms\" }", 0.01)]
    {
        let summary = lone(control, "\"drop-tail\"", "50 ms", "200 ms");
        let waited = summary.flows[0].queueing_delay_mean_s;
        // A step of growth more, and a packet's own time of 0.6 ms.
        assert!((seconds..seconds + 0.002).contains(&waited), "{control}: {waited}");
        assert!(of(&summary, "wire", "forward", "utilisation") > 0.99);
        assert_eq!(of(&summary, "wire", "forward", "drop_rate"), 0.0);
    }
}

/// Where packets are marked that wait for a millisecond, hardly any does. Two marks per virtual round trip of 25 ms would
/// be the equilibrium of a window that gives up α/2 and grows by a segment; α rises faster than it falls, so fewer do.
#[test]
fn scream_and_l4s_marks_keep_the_queue_at_a_millisecond() {
    let summary = lone("\"scream\"", "\"dualpi2\"", "50 ms", "200 ms");
    let get = |what: &str| of(&summary, "wire", "forward", what);
    assert!(get("utilisation") > 0.95, "{}", get("utilisation"));
    let waited = summary.flows[0].queueing_delay_mean_s;
    assert!(waited < 0.0012, "{waited}");
    let per_round = get("mark_rate") * get("utilisation") * 20e6 / 12_000.0 * 0.025;
    assert!((1.0..2.0).contains(&per_round), "{per_round} marks in 25 ms");
}

/// A classic mark takes a fifth whatever the share: rarer marks, the same queue.
#[test]
fn classic_marks_are_answered_each() {
    let queue = "{ kind = \"red\", min = \"5 ms\", max = \"15 ms\", weight = \"auto\" }";
    let marks = |control| {
        let summary = lone(control, queue, "25 ms", "200 ms");
        assert!(of(&summary, "wire", "forward", "utilisation") > 0.8, "{control}");
        of(&summary, "wire", "forward", "mark_rate")
    };
    let (l4s, classic) = (marks("\"scream\""), marks("{ kind = \"scream\", l4s = false }"));
    assert!(l4s > 5.0 * classic, "{l4s} and {classic}");
}
