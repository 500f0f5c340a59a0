//! BBRv1 on a network: what its draft promises.

use crate::support::{numbers, of, record, run};

/// One flow on 1 Gbit/s with a round trip of 100 ms, where data is lost with this probability.
fn lossy(control: &str, p: f64) -> longfat_sim::summary::Summary {
    run(&format!(
        r#"
        duration = "30 s"
        warmup   = "5 s"
        [link.wire]
        rate   = "1 Gbit/s"
        delay  = "10 ms"
        buffer = "1 bdp"
        loss   = {p}
        [link.wire.reverse]
        loss   = 0
        [[flow]]
        name     = "lone"
        control  = "{control}"
        path     = ["wire"]
        rtt      = "100 ms"
        recovery = "rack"
        "#
    ))
}

#[test]
fn one_percent_of_losses_cost_hardly_anything() {
    // BBR's article (ACM Queue 14(5), figure 8) has it near capacity up to 15 % of losses, where CUBIC falls to a tenth at
    // 0.1 %. Of the capacity, ProbeRTT costs 2 %, and 3/4 after 5/4 nothing.
    let summary = lossy("bbr1", 0.01);
    let used = of(&summary, "wire", "forward", "utilisation");
    assert!(used > 0.95, "{used}");
    // Delivered is what is not lost.
    let goodput = summary.flows[0].goodput_bit_s;
    assert!((goodput / 1e9 / used - 0.99).abs() < 0.005, "{goodput}");
    // CUBIC: 1.17 (1/p)^(3/4) (RTT)^(3/4) segments per round trip, or Reno's 13.
    let cubic = of(&lossy("cubic", 0.01), "wire", "forward", "utilisation");
    assert!(cubic < 0.005, "{cubic}");
}

#[test]
fn probe_rtt_takes_two_percent_of_the_time() {
    // 200 ms and a round trip every 10 s (section 4.3.5): here 0.2 s + 40 ms and the time to get there.
    let text = r#"
        duration = "63 s"
        warmup   = "3 s"
        sample   = "5 ms"
        [link.wire]
        rate   = "20 Mbit/s"
        delay  = "1 ms"
        buffer = "4 bdp"
        [[flow]]
        name     = "lone"
        control  = "bbr1"
        path     = ["wire"]
        rtt      = "40 ms"
        "#;
    let recording = record(text, true);
    let window = numbers(&recording, "flow_series", "window");
    let time = numbers(&recording, "flow_series", "time_s");
    let small: Vec<_> =
        time.iter().zip(&window).filter(|it| *it.1 <= 4.0).map(|it| *it.0).collect();
    let begins: Vec<_> = small
        .iter()
        .enumerate()
        .filter(|&(index, &at)| index == 0 || at - small[index - 1] > 1.0)
        .map(|(_, &at)| at)
        .collect();
    assert_eq!(begins.len(), 6, "{begins:?}");
    for pair in begins.windows(2) {
        assert!((10.0..10.6).contains(&(pair[1] - pair[0])), "{begins:?}");
    }
    let share = small.len() as f64 * 0.005 / 63.0;
    assert!((0.019..0.030).contains(&share), "{share}");
    // The rest is used, at a mean gain of 1.
    assert!(of(&recording.summary, "wire", "forward", "utilisation") > 0.96);
}

#[test]
fn two_flows_share_a_link_without_losses() {
    // Their queue is at most what cwnd_gain 2 lets them have, one BDP, and they see each other's ProbeRTT.
    let summary = run(r#"
        duration = "60 s"
        warmup   = "20 s"
        [link.wire]
        rate   = "50 Mbit/s"
        delay  = "1 ms"
        buffer = "4 bdp"
        [[flow]]
        name     = "pair"
        count    = 2
        control  = "bbr1"
        path     = ["wire"]
        rtt      = "40 ms"
        start    = { uniform = ["0 s", "1 s"] }
        "#);
    assert!(of(&summary, "wire", "forward", "utilisation") > 0.96);
    assert_eq!(of(&summary, "wire", "forward", "drop_rate"), 0.0);
    // 4 BDP of buffer: one BDP is a quarter of it.
    assert!(of(&summary, "wire", "forward", "queue_mean") < 0.3);
    let fairness = summary.jain["pair"].as_f64().expect("a number");
    assert!(fairness > 0.9, "{fairness}");
}
