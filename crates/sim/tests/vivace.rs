//! What the paper of PCC Vivace claims, in whole runs.

use crate::support::{numbers, record, run};
use longfat_sim::summary::Summary;

/// So many flows on 100 Mbit/s and 30 ms that come one after the other, the path of the paper's figures.
fn on_a_path(flows: u32, control: &str, loss: f64, buffer: &str, seed: u32) -> Summary {
    run(&format!(
        r#"
        duration = "120 s"
        warmup   = "40 s"
        seed     = {seed}
        [link.path]
        rate   = "100 Mbit/s"
        delay  = "1 ms"
        buffer = "{buffer}"
        bdp    = "30 ms"
        loss   = {loss}
        [link.path.reverse]
        loss   = 0
        [[flow]]
        name     = "flow"
        count    = {flows}
        control  = {control}
        path     = ["path"]
        rtt      = "30 ms"
        start    = {{ uniform = ["0 s", "10 s"] }}
        recovery = "rack"
        "#
    ))
}

fn of_link(summary: &Summary, what: &str) -> f64 {
    summary.links["path"]["forward"][what].as_f64().expect("a number")
}

/// Mean rate in Mbit/s of a flow alone, over four seeds.
fn alone(control: &str, loss: f64) -> f64 {
    let rate = |seed| on_a_path(1, control, loss, "1 bdp", seed).flows[0].goodput_bit_s / 1e6;
    (1..=4).map(rate).sum::<f64>() / 4.0
}

const PLAIN: &str = r#""vivace""#;
const BY_THE_TEXT: &str = r#"{ kind = "vivace", tolerant = false }"#;

/// Theorems 1 and 2: rates are equal, and the queue is nearly empty.
#[test]
fn flows_have_the_same_rate_and_no_queue() {
    for seed in 1..=3 {
        let summary = on_a_path(2, PLAIN, 0.0, "1 bdp", seed);
        let rates: Vec<f64> = summary.flows.iter().map(|flow| flow.goodput_bit_s / 1e6).collect();
        assert!((0.9..1.1).contains(&(rates[0] / rates[1])), "{rates:?}");
        assert!(rates[0] + rates[1] > 90.0, "{rates:?}");
        let queue = of_link(&summary, "queue_mean");
        assert!(queue < 0.1, "{queue} of the buffer is full");
    }
}

/// One flow has all but what its steps leave, and the buffer need not hold more than eight packets.
#[test]
fn a_shallow_buffer_is_as_good_as_a_deep_one() {
    for buffer in ["8 packets", "1 bdp", "10 bdp"] {
        let summary = on_a_path(1, PLAIN, 0.0, buffer, 1);
        assert!(summary.flows[0].goodput_bit_s > 93e6, "{buffer}");
        assert_eq!(of_link(&summary, "dropped"), 0.0, "{buffer}");
    }
}

/// Four flows fill a fifth of the buffer, between a tenth and three tenths of it.
#[test]
fn four_flows_keep_a_fifth_of_the_buffer() {
    let queues = [1, 2, 3].map(|seed| {
        let summary = on_a_path(4, PLAIN, 0.0, "1 bdp", seed);
        let goodput: f64 = summary.flows.iter().map(|flow| flow.goodput_bit_s / 1e6).sum();
        assert!(goodput > 90.0, "{goodput} Mbit/s");
        of_link(&summary, "queue_mean")
    });
    let mean = queues.iter().sum::<f64>() / 3.0;
    assert!((0.1..0.3).contains(&mean), "{queues:?}");
}

/// Random losses as the authors' program bears them: a hundredth and a fiftieth take next to nothing. By the text alone the
/// rate falls to a half and to a fifth: what speaks for the faster rate by chance is looked at again.
#[test]
fn random_losses_are_borne_by_the_rules_of_the_program_alone() {
    for (loss, program, text) in [(0.01, 94.0, 53.0), (0.02, 90.0, 18.0)] {
        let [ours, reading, reno] =
            [PLAIN, BY_THE_TEXT, r#""reno""#].map(|control| alone(control, loss));
        assert!((ours - program).abs() < 3.0, "{ours} Mbit/s at {loss}");
        assert!((reading - text).abs() < 8.0, "{reading} Mbit/s at {loss}, by the text");
        assert!(ours > 10.0 * reno, "{ours} Mbit/s at {loss}, and Reno {reno}");
    }
}

/// What it takes for congestion is the share of packets that a router marks or drops. Told that there were marks and not how
/// many, it would be a round trip of them for each.
#[test]
fn marks_count_as_often_as_a_router_marks() {
    let recording = record(
        r#"
        duration = "40 s"
        warmup   = "10 s"
        sample   = "50 ms"
        observe  = true
        [link.path]
        rate   = "100 Mbit/s"
        delay  = "5 ms"
        buffer = "1 bdp"
        bdp    = "80 ms"
        queue  = { kind = "red", min = "0.1 bdp", max = "0.3 bdp", weight = 0.002, gentle = true, ecn = true }
        [[flow]]
        name    = "flow"
        count   = 4
        control = "vivace"
        path    = ["path"]
        rtt     = "40 ms"
        start   = { uniform = ["0 s", "5 s"] }
        "#,
        true,
    );
    let times = numbers(&recording, "flow_series", "time_s");
    let seen = numbers(&recording, "flow_series", "lost");
    let seen: Vec<f64> =
        times.iter().zip(seen).filter(|row| *row.0 > 10.0).map(|row| row.1).collect();
    let seen = seen.iter().sum::<f64>() / seen.len() as f64;
    let [dropped, marked] =
        ["drop_rate", "mark_rate"].map(|what| of_link(&recording.summary, what));
    assert!(marked > 0.001, "{marked} marked");
    let share = seen / (dropped + marked);
    assert!((0.6..1.4).contains(&share), "{seen} seen, {dropped} dropped and {marked} marked");
}

/// Where light takes no time, and a packet 14 ms: what is in flight is bounded by what a round trip carries and the buffer
/// holds, 20 packets, and no window is for millions of them.
#[test]
fn a_path_of_no_length_is_no_reason_to_send_at_any_rate() {
    let recording = record(
        r#"
        duration = "5 s"
        sample   = "10 ms"
        [link.path]
        rate   = "5 Mbit/s"
        delay  = "0 ms"
        buffer = "300 ms"
        loss   = 0.2
        [[flow]]
        name    = "flow"
        control = "vivace"
        path    = ["path"]
        rtt     = "0 ms"
        packet  = "9000 B"
        "#,
        true,
    );
    let most = numbers(&recording, "flow_series", "window").into_iter().fold(0.0, f64::max);
    assert!(most < 1000.0, "{most}");
}
