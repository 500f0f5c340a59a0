//! What the paper of UDT claims, in whole runs.

use crate::support::{numbers, of, record, run};

/// Flows on a link of so many Mbit/s and 100 ms, with these round trips in milliseconds.
fn on_a_path(link: u64, duration: u64, round_trips: &[u64], seed: u64, more: &str) -> String {
    let flow = |(number, rtt): (usize, &u64)| {
        format!(
            r#"
            [[flow]]
            name     = "flow{number}"
            control  = "udt"
            path     = ["path"]
            rtt      = "{rtt} ms"
            start    = "{number} s"
            recovery = "rack"
            {more}
            "#
        )
    };
    let flows: String = round_trips.iter().enumerate().map(flow).collect();
    format!(
        r#"
        duration = "{duration} s"
        warmup   = "{warmup} s"
        sample   = "50 ms"
        seed     = {seed}
        observe  = true
        [link.path]
        rate   = "{link} Mbit/s"
        delay  = "1 ms"
        buffer = "1 bdp"
        bdp    = "100 ms"
        {flows}
        "#,
        warmup = duration / 3
    )
}

/// The paper: nine tenths of any link in 7.5 s, whatever the round trip, so that each tenth takes 0.83 s; and by the law nine
/// tenths of the rest in as many. It begins with two packets in a round trip, and knows the link with the first pairs; from
/// 20 Mbit/s on acknowledgments come every 10 ms at any of these round trips.
#[test]
fn what_is_left_is_divided_by_ten_in_seven_and_a_half_seconds() {
    const SLOW: &str = "initial_window = 1\ninitial_threshold = 2";
    for rtt in [10, 100, 200] {
        let recording = record(&on_a_path(100, 18, &[rtt], 1, SLOW), true);
        let [times, rates, capacities] =
            ["time_s", "rate", "capacity"].map(|column| numbers(&recording, "flow_series", column));
        assert!(capacities.iter().all(|it| it.is_nan() || (it - 100.0).abs() < 0.01));
        assert!(!capacities[capacities.len() / 2].is_nan());
        let reaches =
            |rate: f64| times[rates.iter().position(|&it| it >= rate).expect("it comes that far")];
        for (from, to, seconds) in [(20.0, 90.0, 5.833), (90.0, 99.0, 7.5)] {
            let took = reaches(to) - reaches(from);
            assert!((took - seconds).abs() < 0.11, "{took} s from {from} Mbit/s at {rtt} ms");
        }
    }
}

/// Rates do not depend on round trips: Jain's index above 0.98 where one is ten times as long, as between equal ones.
#[test]
fn flows_of_ten_times_the_round_trip_have_as_much() {
    for round_trips in [[10, 100], [100, 100]] {
        let rates: Vec<f64> = (1..=3)
            .flat_map(|seed| run(&on_a_path(100, 120, &round_trips, seed, "")).flows)
            .map(|flow| flow.goodput_bit_s)
            .collect();
        for pair in rates.chunks(2) {
            let (sum, squares) = (pair[0] + pair[1], pair[0] * pair[0] + pair[1] * pair[1]);
            let jain = sum * sum / (2.0 * squares);
            assert!(jain > 0.98, "{round_trips:?}: {pair:?}");
            assert!(sum > 95e6, "{pair:?}");
        }
    }
}

/// A flow alone: the rate falls by a ninth with each gap, five at most, and is back within seconds.
#[test]
fn a_long_fat_link_is_in_use() {
    let summary = run(&on_a_path(1000, 45, &[100], 1, ""));
    let used = of(&summary, "path", "forward", "utilisation");
    assert!(used > 0.95, "{used}");
}

/// The second of a pair leaves without a wait, and no time is added for it: of 16 packets 15 are 1/C apart. What arrives is
/// heard of a round trip and 50 ms of samples later, in which the rate grows by a few percent.
#[test]
fn pairs_come_on_top_of_the_rate() {
    const SLOW: &str = "initial_window = 1\ninitial_threshold = 2";
    let recording = record(&on_a_path(1000, 6, &[10], 1, SLOW), true);
    let [times, rates, sent] = ["time_s", "rate", "throughput_bit_s"]
        .map(|column| numbers(&recording, "flow_series", column));
    for at in [3.0, 4.0, 5.0] {
        let row = times.iter().position(|&time| time >= at).expect("it lasts longer");
        let times = sent[row] / (rates[row] * 1e6);
        assert!((times - 16.0 / 15.0).abs() < 0.03, "at {at} s {times} times the rate");
    }
}

/// In clusters, as jitter makes them, neither pairs nor arrivals tell what the link takes.
#[test]
fn jitter_of_a_millisecond_costs_half_of_the_link() {
    let steady = on_a_path(100, 45, &[100], 1, "");
    let jittery = steady.replace("bdp    =", "jitter = \"1 ms\"\nbdp    =");
    for (scenario, most, least) in [(steady, 1.0, 0.95), (jittery, 0.65, 0.4)] {
        let used = of(&run(&scenario), "path", "forward", "utilisation");
        assert!((least..=most).contains(&used), "{used}");
    }
}
