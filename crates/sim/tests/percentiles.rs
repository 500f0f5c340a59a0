//! `delay_percentiles = true`: what half, nine tenths and 99 % of a flow's queueing delays do not exceed.

use crate::support::{numbers, record};
use longfat_sim::summary::DelayPercentiles;

/// One flow of at most ten segments in flight: of 1000 bytes, each a millisecond of the link, and 40 µs for its
/// acknowledgment.
fn text(times: &str, recovery: &str) -> String {
    format!(
        "{times}\ndelay_percentiles = true\n[link.path]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n\
         buffer = \"100 packets\"\n[[flow]]\nname = \"one\"\ncontrol = \"reno\"\npath = [\"path\"]\n\
         rtt = \"100 ms\"\npacket = \"1000 B\"\nmax_window = 10\nrecovery = \"{recovery}\"\n"
    )
}

const RECOVERIES: [&str; 5] = ["sack", "newreno", "reno", "rack", "quic"];

fn percentiles(text: &str) -> [f64; 3] {
    let recording = record(text, false);
    let flow = &recording.summary.flows[0];
    let delays = flow.queueing_delay.expect("they are asked for");
    let DelayPercentiles {
        queueing_delay_p50_s, queueing_delay_p90_s, queueing_delay_p99_s, ..
    } = delays;
    let found = [queueing_delay_p50_s, queueing_delay_p90_s, queueing_delay_p99_s];
    for (share, value) in ["p50", "p90", "p99"].iter().zip(found) {
        let column = numbers(&recording, "flows", &format!("queueing_delay_{share}_s"));
        assert!(column[0] == value || (column[0].is_nan() && value.is_nan()));
    }
    found
}

/// To two digits: within 1 %.
fn close(found: [f64; 3], expected: [f64; 3]) {
    let near = |(found, expected): (&f64, &f64)| (found / expected - 1.0).abs() < 0.01;
    assert!(found.iter().zip(&expected).all(near), "{found:?}, {expected:?}");
}

#[test]
fn a_burst_of_ten_waits_for_one_to_ten_packets() {
    // All ten leave at once, and come back after 101.04, 102.04, … 110.04 ms: the fifth is the median.
    for recovery in RECOVERIES {
        let found = percentiles(&text("duration = \"150 ms\"", recovery));
        close(found, [5.04e-3, 9.04e-3, 10.04e-3]);
    }
}

#[test]
fn what_is_before_the_measured_interval_does_not_count() {
    // From the second round trip on acknowledgments space the segments: none waits for another.
    for recovery in RECOVERIES {
        let found = percentiles(&text("duration = \"2 s\"\nwarmup = \"115 ms\"", recovery));
        close(found, [1.04e-3; 3]);
    }
}

#[test]
fn without_acknowledgments_there_are_none() {
    let late = text("duration = \"2 s\"", "sack") + "start = \"1.95 s\"\n";
    assert!(percentiles(&late).iter().all(|delay| delay.is_nan()));
}

#[test]
fn nothing_is_told_where_nothing_is_asked() {
    let text = text("duration = \"150 ms\"", "sack").replace("delay_percentiles = true", "");
    let recording = record(&text, false);
    assert_eq!(recording.summary.flows[0].queueing_delay, None);
    let flows = recording.table("flows").expect("there always is one");
    assert!(flows.columns.iter().all(|(name, _)| !name.contains("_p50_")));
    assert_eq!(recording.summary.scenario.get("delay_percentiles"), None);
}
