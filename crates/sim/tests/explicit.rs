//! What the systems whose routers say more than "too much" promise for a network: XCP, VCP and DECbit.

use crate::support::{of, read, run};
use longfat_sim::summary::Summary;
use longfat_sim::{Options, Simulation};

/// A link of 100 Mbit/s with a buffer of a bandwidth-delay product, and ten flows of this kind.
fn bottleneck(kind: &str, rtt: &str, duration: u32, warmup: u32) -> String {
    format!(
        r#"
        duration = "{duration} s"
        warmup   = "{warmup} s"
        [link.bottleneck]
        rate   = "100 Mbit/s"
        delay  = "10 ms"
        buffer = "1 bdp"
        queue  = "{kind}"
        [[flow]]
        name    = "flows"
        control = "{kind}"
        count   = 10
        path    = ["bottleneck"]
        rtt     = {rtt}
        start   = {{ uniform = ["0 s", "1 s"] }}
        "#
    )
}

fn goodputs(summary: &Summary) -> Vec<f64> {
    summary.flows.iter().map(|flow| flow.goodput_bit_s).collect()
}

/// The largest of these numbers over the smallest.
fn spread(numbers: &[f64]) -> f64 {
    let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest / numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Katabi, Handley and Rohrs, sections 5.2 and 5.6 and appendix C: full utilisation, hardly a queue, no drop, and the
/// same rate whatever the round trip; here for 40 to 300 ms.
#[test]
fn xcp_shares_a_link_equally_over_all_round_trips() {
    let summary = run(&bottleneck("xcp", "{ spread = [\"40 ms\", \"300 ms\"] }", 40, 20));
    let bottleneck = |key| of(&summary, "bottleneck", "forward", key);
    assert!(bottleneck("utilisation") > 0.98, "{}", bottleneck("utilisation"));
    assert!(bottleneck("drop_rate") == 0.0);
    assert!(bottleneck("queue_mean") < 0.01, "{}", bottleneck("queue_mean"));
    let goodputs = goodputs(&summary);
    assert!(spread(&goodputs) < 1.01, "{goodputs:?}");
}

/// The same with so many flows that the one with the shortest round trip has eight, or four, segments in flight.
#[test]
fn xcp_shares_a_link_equally_among_windows_of_a_few_segments() {
    for count in [50, 100] {
        let text = bottleneck("xcp", "{ spread = [\"40 ms\", \"300 ms\"] }", 40, 20);
        let summary = run(&text.replace("count   = 10", &format!("count   = {count}")));
        let goodputs = goodputs(&summary);
        assert!(spread(&goodputs) < 1.05, "{count}: {}", spread(&goodputs));
        assert!(of(&summary, "bottleneck", "forward", "drop_rate") == 0.0);
    }
}

/// The same where acknowledgments are delayed: the timer of the receiver lengthens the smoothed round trips of some flows
/// more than those of others, and they matter most where windows are of a few segments.
#[test]
fn xcp_with_delayed_acknowledgments_shares_less_equally_the_smaller_windows_are() {
    for (count, least, most) in [(10, 1.005, 1.02), (50, 1.1, 1.16), (100, 1.32, 1.44)] {
        let text = bottleneck("xcp", "{ spread = [\"40 ms\", \"300 ms\"] }", 40, 20);
        let text = text.replace("count   = 10", &format!("count   = {count}"));
        let summary = run(&format!("{text}delayed_ack = true"));
        let spread = spread(&goodputs(&summary));
        assert!((least..most).contains(&spread), "{count}: {spread}");
        assert!(of(&summary, "bottleneck", "forward", "utilisation") > 0.98, "{count}");
        assert!(of(&summary, "bottleneck", "forward", "drop_rate") == 0.0, "{count}");
    }
}

/// The same section: whatever the capacity, and from the first seconds on, while the flows arrive.
#[test]
fn xcp_fills_links_of_any_rate_without_a_drop() {
    for (rate, duration) in [("1.5 Mbit/s", 60), ("20 Mbit/s", 20), ("1 Gbit/s", 4)] {
        let text = bottleneck("xcp", "\"80 ms\"", duration, duration / 4);
        let summary = run(&text.replace("100 Mbit/s", rate));
        let bottleneck = |key| of(&summary, "bottleneck", "forward", key);
        assert!(bottleneck("utilisation") > 0.98, "{rate}: {}", bottleneck("utilisation"));
        assert!(bottleneck("drop_rate") == 0.0, "{rate}");
    }
}

/// S. Low, L. Andrew, B. Wydrowski, "Understanding XCP: Equilibrium and Fairness", INFOCOM 2005: what a flow that is
/// limited by a later link does not take of the shuffled traffic stays unused. One flow crosses 100 Mbit/s and then 50,
/// each shared with one other. On the second link each gets 25. On the first, where only the other flow follows what it
/// is told, its rate y - 25 rests where (h + F)/2 = h (y - 25)/y with F = 0.4 (100 - y) and h = 0.1 y - F, that is
/// 0.9 y² - 105 y + 2000 = 0: y = 92.7 Mbit/s, where max-min fairness would have 100.
#[test]
fn xcp_leaves_unused_what_flows_limited_elsewhere_do_not_take() {
    let summary = run(r#"
        duration = "40 s"
        warmup   = "20 s"
        [link.first]
        rate   = "100 Mbit/s"
        delay  = "10 ms"
        buffer = "1 bdp"
        queue  = "xcp"
        [link.second]
        rate   = "50 Mbit/s"
        delay  = "10 ms"
        buffer = "1 bdp"
        queue  = "xcp"
        [[flow]]
        name    = "both"
        control = "xcp"
        path    = ["first", "second"]
        rtt     = "80 ms"
        [[flow]]
        name    = "first"
        control = "xcp"
        path    = ["first"]
        rtt     = "80 ms"
        [[flow]]
        name    = "second"
        control = "xcp"
        path    = ["second"]
        rtt     = "80 ms"
        "#);
    for (goodput, expected) in goodputs(&summary).into_iter().zip([25e6, 67.7e6, 25e6]) {
        assert!((goodput / expected - 1.0).abs() < 0.02, "{goodput} bit/s, not {expected}");
    }
}

/// Xia et al., section 5: nearly full, hardly a queue, no drop, equal rates; here with 200 flows. The load grows past
/// 98 % before the routers notice, so that the sawtooth is above the one of the next test.
#[test]
fn vcp_fills_a_link_that_many_flows_share_and_keeps_its_queue_short() {
    let text = bottleneck("vcp", "\"80 ms\"", 60, 30).replace("100 Mbit/s", "150 Mbit/s");
    let summary = run(&text.replace("count   = 10", "count   = 200\n        packet = \"1000 B\""));
    let bottleneck = |key| of(&summary, "bottleneck", "forward", key);
    assert!(bottleneck("utilisation") > 0.95, "{}", bottleneck("utilisation"));
    assert!(bottleneck("queue_mean") < 0.05, "{}", bottleneck("queue_mean"));
    assert!(bottleneck("drop_rate") == 0.0);
    let goodputs = goodputs(&summary);
    assert!(spread(&goodputs) < 1.02, "{}", spread(&goodputs));
}

/// With few flows a step of additive increase is small, and the load goes back and forth between β γ = 0.8575 and
/// γ = 0.98 of the capacity: 0.919 on average.
#[test]
fn vcp_with_few_flows_uses_what_its_sawtooth_says() {
    let summary = run(&bottleneck("vcp", "\"80 ms\"", 90, 30));
    let bottleneck = |key| of(&summary, "bottleneck", "forward", key);
    let used = bottleneck("utilisation");
    assert!((used / 0.919 - 1.0).abs() < 0.01, "{used}");
    assert!(bottleneck("queue_mean") < 0.01 && bottleneck("drop_rate") == 0.0);
}

/// With the aim that adapts and the step of the authors' program for ns-2, four times the paper's at 80 ms, it takes few
/// flows: two at 10 Mbit/s, which has ten in the program's own example, ten at 100 Mbit/s.
#[test]
fn vcp_fills_a_link_of_few_flows_with_the_aim_and_the_step_of_its_authors_program() {
    for (rate, flows) in
        [(10, 2), (10, 5), (10, 10), (100, 10), (100, 20), (100, 50), (100, 100), (150, 50)]
    {
        let text = bottleneck("vcp", "\"80 ms\"", 90, 30)
            .replace("100 Mbit/s", &format!("{rate} Mbit/s"))
            .replace("queue  = \"vcp\"", "queue  = { kind = \"vcp\", gamma = \"auto\" }")
            .replace("control = \"vcp\"", "control = { kind = \"vcp\", alpha = 4 }")
            .replace("count   = 10", &format!("count   = {flows}"));
        let summary = run(&text);
        let bottleneck = |key| of(&summary, "bottleneck", "forward", key);
        let case = format!("{flows} flows, {rate} Mbit/s");
        assert!(bottleneck("utilisation") > 0.95, "{case}: {}", bottleneck("utilisation"));
        assert!(bottleneck("queue_mean") < 0.05, "{case}: {}", bottleneck("queue_mean"));
        assert!(bottleneck("drop_rate") == 0.0, "{case}");
    }
}

/// Section 4.3 of the same paper: with steps scaled by the round trip, flows of 40 to 300 ms get nearly the same rate,
/// as Jain's index has it. It takes them minutes to get there.
#[test]
fn vcp_shares_a_link_equally_over_all_round_trips() {
    let summary = run(&bottleneck("vcp", "{ spread = [\"40 ms\", \"300 ms\"] }", 300, 150));
    assert!(of(&summary, "bottleneck", "forward", "drop_rate") == 0.0);
    let jain = summary.jain["flows"].as_f64().expect("a number");
    assert!(jain > 0.99, "{jain}: {:?}", goodputs(&summary));
}

/// A round trip of two `t_ρ` whose window comes in one burst is heard of in one interval and not in the next: beside 25, 150
/// and 200 ms it takes 13 of 20 Mbit/s, where 300 ms takes 3.4. Spread over their round trips all have a quarter.
#[test]
fn vcp_shares_a_link_with_round_trips_of_two_intervals_where_windows_are_spread() {
    let rates = |longest: &str, pacing: &str| {
        goodputs(&run(&format!(
            r#"
            duration = "160 s"
            warmup   = "80 s"
            [link.bottleneck]
            rate   = "20 Mbit/s"
            delay  = "10 ms"
            buffer = "1000 packets"
            queue  = "vcp"
            [[flow]]
            name    = "f"
            control = "vcp"
            count   = 4
            path    = ["bottleneck"]
            rtt     = ["{longest}", "25 ms", "150 ms", "200 ms"]
            start   = ["0 s", "0.13 s", "3 s", "20 s"]
            pacing  = "{pacing}"
            "#
        )))
    };
    for longest in ["300 ms", "400 ms"] {
        let even = rates(longest, "spread");
        assert!(even.iter().all(|rate| (4.2e6..5.0e6).contains(rate)), "{longest}: {even:?}");
    }
    let bursts = rates("300 ms", "controller");
    assert!(bursts.iter().all(|rate| (3.0e6..6.5e6).contains(rate)), "{bursts:?}");
    let bursts = rates("400 ms", "controller");
    assert!(bursts[0] > 12e6 && bursts[1..].iter().all(|&rate| rate < 1e6), "{bursts:?}");
}

/// 150 Mbit/s and 80 ms with fifty flows of this kind each way and packets of 1000 bytes, which acknowledgments of 40
/// bytes wait behind. They start over 10 s.
fn fifty_each_way(kind: &str, duration: u32, pacing: &str) -> String {
    let text = bottleneck(kind, "\"80 ms\"", duration, 20)
        .replace("100 Mbit/s", "150 Mbit/s")
        .replace("[\"0 s\", \"1 s\"]", "[\"0 s\", \"10 s\"]")
        .replace(
            "count   = 10",
            &format!("count = 50\npacket = \"1000 B\"\npacing = \"{pacing}\""),
        );
    let back = text[text.find("[[flow]]").expect("there are flows")..]
        .replace("\"flows\"", "\"back\"\nreverse = true");
    format!("{text}{back}")
}

/// The share used, what is dropped, and the mean queue there, for either direction.
fn each_way(kind: &str, duration: u32, pacing: &str) -> [(f64, f64, f64); 2] {
    let summary = run(&fifty_each_way(kind, duration, pacing));
    ["forward", "reverse"].map(|way| {
        let bottleneck = |key| of(&summary, "bottleneck", way, key);
        (bottleneck("utilisation"), bottleneck("drop_rate"), bottleneck("queue_mean"))
    })
}

/// Katabi, Handley and Rohrs, section 5.2: full and without a drop also with fifty flows on the way back, whose data
/// acknowledgments wait behind.
#[test]
fn xcp_fills_a_link_both_ways_without_a_drop() {
    for (pacing, queue) in [("none", 1.0), ("spread", 0.1)] {
        for (used, dropped, waits) in each_way("xcp", 40, pacing) {
            assert!(used > 0.98 && dropped == 0.0, "{pacing}: {used}, {dropped} dropped");
            assert!(waits < queue, "{pacing}: {waits}");
        }
    }
}

/// As one way: the load goes back and forth between β γ = 0.8575 and γ = 0.98, and nothing is dropped. With packets that
/// are spaced there is hardly a queue.
#[test]
fn vcp_keeps_to_its_sawtooth_both_ways() {
    for (pacing, queue) in [("none", 1.0), ("spread", 0.01)] {
        for (used, dropped, waits) in each_way("vcp", 60, pacing) {
            assert!((0.8575..0.98).contains(&used), "{pacing}: {used}");
            assert!(dropped == 0.0 && waits < queue, "{pacing}: {dropped} dropped, {waits}");
        }
    }
}

/// Where few start at the same instant, acknowledgments come in bursts, which XCP and VCP answer with bursts of segments:
/// much of the link stays unused, and XCP loses segments, unless they are paced. Fifty of XCP fill the link all the same.
#[test]
fn bursts_of_acknowledgments_cost_xcp_and_vcp_much_of_a_link() {
    for (kind, count, used, dropped) in [
        ("xcp", 50, 0.99..1.01, 0.0..1e-9),
        ("xcp", 20, 0.82..0.84, 0.016..0.018),
        ("xcp", 10, 0.86..0.88, 0.009..0.011),
        ("xcp", 2, 0.74..0.76, 0.010..0.012),
        ("vcp", 50, 0.73..0.75, 0.0..0.001),
        ("vcp", 2, 0.72..0.74, 0.0..0.001),
    ] {
        let run_with = |pacing| {
            let text = fifty_each_way(kind, if kind == "xcp" { 40 } else { 60 }, pacing)
                .replace("{ uniform = [\"0 s\", \"10 s\"] }", "\"0 s\"")
                .replace("count = 50", &format!("count = {count}"));
            run(&text)
        };
        let (bursts, paced) = (run_with("none"), run_with("spread"));
        for way in ["forward", "reverse"] {
            let case = format!("{kind}, {count} flows {way}");
            let (rate, lost) = (
                of(&bursts, "bottleneck", way, "utilisation"),
                of(&bursts, "bottleneck", way, "drop_rate"),
            );
            assert!(used.contains(&rate) && dropped.contains(&lost), "{case}: {rate}, {lost}");
            let rate = of(&paced, "bottleneck", way, "utilisation");
            assert!(rate > if kind == "xcp" { 0.99 } else { 0.87 }, "{case}, paced: {rate}");
            assert!(of(&paced, "bottleneck", way, "drop_rate") == 0.0, "{case}, paced");
        }
    }
}

/// Both go by the rate of their link as it is. Some seconds after it has fallen to a tenth or grown tenfold it is used
/// as ever, without a drop: by XCP fully, whose load comes 0.4 of the way in each round trip; by VCP as its sawtooth
/// says, whose windows shrink by an eighth in each 280 ms and grow by a sixteenth in each 200 ms, 5 and 8 s for the way
/// from one to the other.
#[test]
fn xcp_and_vcp_follow_a_link_that_changes() {
    for (kind, used) in [("xcp", 0.98), ("vcp", 0.9)] {
        for (before, after) in [("100 Mbit/s", "10 Mbit/s"), ("10 Mbit/s", "100 Mbit/s")] {
            let change =
                format!("\"{before}\"\n        change = [{{ at = \"8 s\", rate = \"{after}\" }}]");
            let text = bottleneck(kind, "\"80 ms\"", 32, 20).replace("\"100 Mbit/s\"", &change);
            let text = text.replace("\"1 bdp\"", "\"300 packets\"");
            let summary = run(&text);
            let bottleneck = |key| of(&summary, "bottleneck", "forward", key);
            let case = format!("{kind}, {before} to {after}");
            assert!(bottleneck("utilisation") > used, "{case}: {}", bottleneck("utilisation"));
            assert!(bottleneck("drop_rate") == 0.0, "{case}");
        }
    }
}

/// A shaper of 10 Mbit/s behind the queue of a link of 100 is what its router goes by.
#[test]
fn xcp_and_vcp_know_of_a_shaper() {
    for (kind, used) in [("xcp", 0.98), ("vcp", 0.9)] {
        let shaper =
            "delay  = \"10 ms\"\n        shaper = { rate = \"10 Mbit/s\", burst = \"20 kB\" }";
        let text = bottleneck(kind, "\"80 ms\"", 20, 10).replace("delay  = \"10 ms\"", shaper);
        let summary = run(&text);
        let bottleneck = |key| of(&summary, "bottleneck", "forward", key);
        let share = 10.0 * bottleneck("utilisation");
        assert!(share > used && bottleneck("drop_rate") == 0.0, "{kind}: {share}");
    }
}

/// The network of Ramakrishnan and Jain, a unit of time being a millisecond: four hops with service times of 2, 5, 3
/// and 4 units, and in between a satellite of so many units.
fn four_hops(satellite: &str, flows: &str) -> String {
    let links: String = [("a", 12_000), ("b", 4800), ("c", 8000), ("d", 6000)]
        .map(|(name, rate)| {
            format!(
                "[link.{name}]\nrate = \"{rate} kbit/s\"\ndelay = \"0 ms\"\nbuffer = \"100 packets\"\n\
                 queue = \"decbit\"\n"
            )
        })
        .concat();
    format!(
        "duration = \"100 s\"\nwarmup = \"20 s\"\n{links}[[flow]]\nname = \"users\"\ncontrol = \"decbit\"\n\
         path = [\"a\", \"b\", \"c\", \"d\"]\nrtt = \"{satellite}\"\npacket = \"3000 B\"\ninitial_window = 1\n{flows}"
    )
}

/// The second of two users comes so much later. Their windows, and the use of the slowest hop.
fn second_user(start: &str) -> (Vec<f64>, f64) {
    let flows = format!("count = 2\nstart = [\"0 s\", \"{start}\"]\n");
    let summary = run(&four_hops("62.5 ms", &flows));
    let windows = summary.flows.iter().map(|flow| flow.window_mean).collect();
    (windows, of(&summary, "b", "forward", "utilisation"))
}

/// Ramakrishnan and Jain, figure 8: with the satellite, 62.5 units, power is greatest at 15.5 segments in all, where the
/// slowest hop is just always busy. Whenever the second user comes, the two stay below that, and get more out of the
/// network than one alone, who is told too early: at ten segments.
#[test]
fn decbit_keeps_two_users_between_one_alone_and_the_knee() {
    let alone = run(&four_hops("62.5 ms", "count = 1\n"));
    let used_alone = of(&alone, "b", "forward", "utilisation");
    let alone = alone.flows[0].window_mean;
    for quarter in 0..=40 {
        let start = format!("{} ms", 250 * quarter);
        let (windows, used) = second_user(&start);
        let sum: f64 = windows.iter().sum();
        assert!(alone < sum && sum < 15.5, "{start}: {windows:?}, alone {alone}");
        assert!(used > used_alone, "{start}: {used}, alone {used_alone}");
    }
}

/// The same figure: the two users are at the knee in equal shares, and send 5000 packets each in about 50 000 units, five
/// for each packet. That is so where the trains of the two fall into step. Where they do not, the bits of a small one that
/// follows a large one are those of the large one's end, and the shares stay unequal.
#[test]
fn decbit_shares_the_knee_where_trains_fall_into_step() {
    let (windows, used) = second_user("5 s");
    let sum: f64 = windows.iter().sum();
    assert!((sum / 15.5 - 1.0).abs() < 0.05 && spread(&windows) < 1.01, "{windows:?}");
    let units = 5.0 * 10_000.0 / used;
    assert!((units / 50_000.0 - 1.0).abs() < 0.06, "{units} units of time");
    let (windows, _) = second_user("4 s");
    assert!(spread(&windows) > 2.0, "what its essay says of shares is no longer so: {windows:?}");
}

/// Figure 13 of the same paper: without the satellite 3 segments in all would be best, and nine users are all brought
/// down to one.
#[test]
fn decbit_brings_all_flows_of_an_overloaded_network_to_one_segment() {
    let flows = "count = 9\nstart = { spread = [\"0 s\", \"8 s\"] }\n";
    let summary = run(&four_hops("1 us", flows));
    let windows: Vec<f64> = summary.flows.iter().map(|flow| flow.window_mean).collect();
    assert!(windows.iter().all(|window| (1.0..1.05).contains(window)), "{windows:?}");
    assert!(of(&summary, "b", "forward", "utilisation") > 0.999);
}

/// Both kinds of server show the routers the same headers at the same instants, with delayed acknowledgments, losses
/// and data both ways.
#[test]
fn both_kinds_of_server_write_the_same_headers() {
    for kind in ["decbit", "vcp", "xcp"] {
        let text = bottleneck(kind, "{ spread = [\"40 ms\", \"90 ms\"] }", 3, 1)
            .replace("delay  = \"10 ms\"", "delay  = \"10 ms\"\nloss = 1e-3")
            .replace("count   = 10", "count   = 3\n        delayed_ack = true");
        let back = text[text.find("[[flow]]").expect("there are flows")..]
            .replace("\"flows\"", "\"back\"\n        reverse = true");
        let scenario = read(&format!("{text}{back}"));
        let results = [false, true].map(|stepwise| {
            let options = Options::default().record(true).stepwise(stepwise);
            let mut simulation = Simulation::with_options(&scenario, options);
            while simulation.advance(100_000) {}
            let mut recording = simulation.finish();
            recording.summary.engine.events = 0;
            format!("{recording:?}")
        });
        assert!(results[0] == results[1], "{kind}");
    }
}
