//! No controller that goes by rates is led to flood its path, however losses are found. What is ever in flight is what the
//! path and its buffer hold, and what a start-up sends in a round trip: its gain is below 3, and it begins with a window of
//! ten.

use crate::random::prober;
use longfat_control::{CONTROLLERS, Sending, Start};
use longfat_sim::{Scenario, Simulation};
use proptest::prelude::*;
use proptest::sample::select;

const INITIAL_WINDOW: u64 = 10;
/// RED for buffers of any size.
const RED: &str = "{ kind = \"red\", min = \"0.1 buffer\", max = \"0.5 buffer\" }";

/// The controllers that ask for samples of the delivery rate or for pacing of their own, and one that keeps two round trips
/// of the last sample in flight, whatever it says.
fn by_rate() -> Vec<&'static str> {
    let goes_by_rate = |control: Sending| match control {
        Sending::Windowed(control) => control.wants().delivery_rate || control.wants().pacing,
        Sending::Bursts(_) => false,
    };
    CONTROLLERS
        .iter()
        .filter(|entry| goes_by_rate((entry.build)(&entry.defaults(), &Start::default())))
        .map(|entry| &*entry.name)
        .chain(["prober"])
        .collect()
}

/// Does it decide when each packet leaves, whatever a scenario would like?
fn paces_itself(control: &str) -> bool {
    let entry = CONTROLLERS.iter().find(|entry| entry.name == control);
    entry.is_some_and(|entry| entry.needs(&entry.defaults()).pacing)
}

/// A flow on a path that loses, reorders or repeats, and what the path and its buffer hold, in segments.
fn paths() -> impl Strategy<Value = (String, u64)> {
    let path = (
        select(&[2_u64, 10, 50][..]),
        select(&[10_u64, 40, 120][..]),
        select(&[0.2, 1.0, 4.0][..]),
        select(&["\"drop-tail\"", RED, "\"codel\"", "\"pie\""][..]),
        select(&[0.0, 0.003, 0.03, 0.2][..]),
    );
    let trouble = select(
        &[
            "",
            "",
            "acknowledgments = { keep = \"1/4\" }\n",
            "acknowledgments = { hold = \"7 ms\" }\n",
            "duplicate = 0.05\n",
            "reorder = { probability = 0.02, distance = \"5 packets\" }\n",
            "jitter = { most = \"9 ms\", ordered = false }\n",
            "burst_loss = { p = 0.003, r = 0.2 }\n",
        ][..],
    );
    let host = (
        select(by_rate()),
        select(&["sack", "newreno", "reno", "rack", "quic"][..]),
        select(&["controller", "none", "spread", "blocks"][..]),
        any::<bool>(),
        0_u64..1000,
    );
    (path, trouble, host).prop_map(|(path, trouble, host)| {
        let (rate, rtt, products, queue, loss) = path;
        let (control, recovery, pacing, delayed, seed) = host;
        let product = rate * rtt * 1000 / 8 / 1500 + 1;
        let buffer = ((product as f64 * products) as u64).max(20);
        let pacing = match pacing {
            _ if paces_itself(control) => "\"controller\"".into(),
            "blocks" => "{ blocks = 4 }".into(),
            word => format!("\"{word}\""),
        };
        let text = format!(
            r#"
            duration = "4 s"
            seed     = {seed}
            [link.wire]
            rate   = "{rate} Mbit/s"
            delay  = "1 ms"
            buffer = "{buffer} packets"
            queue  = {queue}
            loss   = {loss}
            {trouble}
            [[flow]]
            name     = "lone"
            control  = "{control}"
            path     = ["wire"]
            rtt      = "{rtt} ms"
            recovery = "{recovery}"
            pacing   = {pacing}
            delayed_ack = {delayed}
            "#
        );
        (text, product + buffer)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_in_flight_is_bounded_by_the_path((text, holds) in paths()) {
        let scenario = Scenario::read_with(&prober::catalogue(), &text, "path.toml", &[], None)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut simulation = Simulation::new(&scenario, false);
        let mut more = true;
        while more {
            more = simulation.advance(holds.min(97));
            let (sent, most) = (simulation.fates().in_flight, 3 * holds + INITIAL_WINDOW);
            prop_assert!(sent <= most, "{} in flight where {} fit\n{}", sent, holds, text);
        }
    }
}
