//! The end of the clock: 64 bits of picoseconds last 213 days, and nothing wraps around to zero.

use crate::support::{read, record};
use longfat_sim::{Recording, Simulation};

/// A window of 2 000 000 packets that take 12 s each, 278 days in total, in front of a link or of the sender's own
/// link: those whose turn comes arrive, the others stay in flight.
#[test]
fn a_queue_longer_than_the_clock_keeps_its_packets() {
    for (rate, access) in [("1 kbit/s", "none"), ("1 Gbit/s", "1 kbit/s")] {
        let text = format!(
            r#"
                duration = "1000 s"
                [link.slow]
                rate   = "{rate}"
                delay  = "10 ms"
                buffer = "unlimited"
                [[flow]]
                name    = "flow"
                control = "reno"
                path    = ["slow"]
                rtt     = "40 ms"
                access  = "{access}"
                initial_window = 2000000
            "#
        );
        let mut simulation = Simulation::new(&read(&text), false);
        while simulation.advance(100_000) {}
        let fates = simulation.fates();
        // A packet of 1500 bytes takes 12 s to send, plus 20 ms.
        assert_eq!((fates.delivered, fates.dropped), (83, 0), "{text}");
        assert_eq!(fates.sent, fates.delivered + fates.in_flight, "{text}");
        let flow = &simulation.finish().summary.flows[0];
        assert_eq!(flow.goodput_bit_s, 83.0 * 12_000.0 / 1000.0, "{text}");
    }
}

fn told(mut recording: Recording) -> String {
    recording.summary.engine.events = 0;
    format!("{:?}", recording.summary)
}

/// The second row of the time series would be due after 400 days.
#[test]
fn a_sample_as_long_as_the_run_changes_nothing() {
    let text = r#"
        duration = "4800 h"
        sample   = "4800 h"
        [link.slow]
        rate   = "1 kbit/s"
        delay  = "10 ms"
        buffer = "20 packets"
        [[flow]]
        name    = "flow"
        control = "reno"
        path    = ["slow"]
        rtt     = "40 ms"
    "#;
    let with_series = record(text, true);
    assert_eq!(told(with_series), told(record(text, false)));
}

/// One flow per 32 years, for 200 days: one run in sixty has one, and never at a round number of days.
#[test]
fn rare_arrivals_come_when_they_come() {
    let text = r#"
        duration = "17280000 s"
        [link.wire]
        rate   = "1 Mbit/s"
        delay  = "10 ms"
        [[traffic]]
        name     = "rare"
        control  = "reno"
        path     = ["wire"]
        arrivals = { poisson = "1e-9 /s" }
        size     = "15 kB"
        rtt      = "40 ms"
    "#;
    let mut arrived = 0;
    for seed in 0..300 {
        let scenario = longfat_sim::Scenario::read(text, "test.toml", &[], Some(seed));
        let mut simulation = Simulation::new(&scenario.expect("it is right"), false);
        while simulation.advance(100_000) {}
        arrived +=
            simulation.finish().summary.traffic["rare"]["arrived"].as_u64().expect("a count");
    }
    // 300 · 200 d · 1e-9 /s = 5.2 are expected, give or take 2.3.
    assert!((1..=12).contains(&arrived), "{arrived} arrivals");
}

/// The way of the acknowledgments hears of them a round trip early, which here takes ten rows, and the way of the data hears
/// of nothing before its time. Both have a row for every 10 ms that have passed, whichever of them comes first.
#[test]
fn series_so_far_end_with_the_last_row_of_all_links() {
    for reverse in [false, true] {
        let text = format!(
            "duration = \"1 s\"\nsample = \"10 ms\"\n[link.wire]\nrate = \"10 Mbit/s\"\ndelay = \"40 ms\"\n[[flow]]\n\
             name = \"flow\"\ncontrol = \"reno\"\npath = [\"wire\"]\nrtt = \"100 ms\"\nreverse = {reverse}\n"
        );
        let scenario = longfat_sim::Scenario::read(&text, "test.toml", &[], None);
        let mut simulation = Simulation::new(&scenario.expect("it is right"), true);
        let mut looks = 0;
        while simulation.advance(40) {
            let passed = simulation.now().0 / 10_000_000_000;
            let [_, links] = simulation.series();
            assert_eq!(links.rows() as u64, 2 * passed, "reverse: {reverse}");
            looks += 1;
        }
        assert!(looks > 10, "{looks} looks");
    }
}
