//! Links that thin acknowledgments or hold them back, followed by hand.

use crate::support::{of, run};

/// Ten packets of 1000 bytes at once, and one more for each that is acknowledged. Data takes 1 ms on its link, and
/// 10 ms on the wire either way.
fn flight(packets: u32, reverse: &str) -> String {
    format!(
        r#"
        duration = "1 s"
        [link.path]
        rate   = "8 Mbit/s"
        delay  = "10 ms"
        buffer = "100 packets"
        [link.path.reverse]
        {reverse}
        [[flow]]
        name           = "ten"
        control        = "reno"
        path           = ["path"]
        rtt            = "20 ms"
        packet         = "1000 B"
        initial_window = 10
        max_window     = 10
        size           = "{packets} packets"
        "#
    )
}

/// When the last packet has arrived, in milliseconds, and how many acknowledgments of the first flight came through.
fn followed(packets: u32, reverse: &str) -> f64 {
    let summary = run(&flight(packets, reverse));
    let flow = &summary.flows[0];
    assert_eq!(flow.retransmit_rate, 0.0, "nothing is lost: {reverse}");
    flow.completion_s.expect("it is complete") * 1e3
}

fn dropped(packets: u32, reverse: &str) -> f64 {
    of(&run(&flight(packets, reverse)), "path", "reverse", "dropped")
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

/// Acknowledgments of 40 bytes take 10 ms each. They come at 11, 12, …, 20 ms. The first goes on at once and is back at
/// 31 ms; the others wait.
const SLOW: &str = "rate = \"32 kbit/s\"\n";

/// One acknowledgment every 10 ms: the tenth is back at 121 ms, and the packet that it lets go arrives 11 ms later.
#[test]
fn without_thinning_every_acknowledgment_waits_its_turn() {
    close(followed(20, SLOW), 132.0);
    assert!(dropped(20, SLOW).abs() < 1e-12);
}

/// Of those that wait from 12 to 21 ms the tenth remains, in the place of the second. It is back at 41 ms, and lets
/// nine packets go, of which the last leaves at 50 ms.
#[test]
fn of_those_that_wait_in_the_queue_the_newest_remains() {
    let keys = format!("{SLOW}acknowledgments = {{ keep = \"newest\" }}");
    close(followed(20, &keys), 60.0);
    assert_eq!(dropped(10, &keys), 8.0);
    // All ten have arrived, and eight of them were dropped.
    let summary = run(&flight(10, &keys));
    let [arrived, rate] = ["arrived", "drop_rate"].map(|key| of(&summary, "path", "reverse", key));
    assert_eq!(arrived, 10.0);
    close(rate, 0.8);
}

/// The fifth stands for the second to the fifth, the ninth for the sixth to the ninth; the tenth is alone. They are
/// back at 41, 51 and 61 ms.
#[test]
fn of_four_that_wait_in_the_queue_one_remains() {
    let keys = format!("{SLOW}acknowledgments = {{ keep = \"1/4\" }}");
    close(followed(15, &keys), 55.0);
    close(followed(19, &keys), 65.0);
    close(followed(20, &keys), 72.0);
    assert_eq!(dropped(10, &keys), 6.0);
}

/// Where they need not wait nothing is thinned: each takes 40 microseconds, and they are a millisecond apart.
#[test]
fn what_does_not_wait_is_kept() {
    close(followed(20, "acknowledgments = { keep = \"newest\" }"), 41.04);
    assert!(dropped(20, "acknowledgments = { keep = \"newest\" }").abs() < 1e-12);
}

/// The first comes at 11 ms and is let go at 16 ms with the four that have come by then. The sixth comes at that very
/// moment, is the first of the next five, and is let go at 21 ms.
#[test]
fn what_is_held_is_let_go_together() {
    let keys = "acknowledgments = { hold = \"5 ms\" }";
    close(followed(11, keys), 37.04);
    // Behind the four packets before it.
    close(followed(15, keys), 41.04);
    // The link has just sent these when the acknowledgment of the sixth is back, at 31.04 ms.
    close(followed(16, keys), 42.04);
    close(followed(20, keys), 46.04);
    assert!(dropped(20, keys).abs() < 1e-12);
}

/// Of the first five the fifth remains, of the next five the tenth; or, of three, the third and the fifth.
#[test]
fn what_is_held_can_be_thinned() {
    let newest = "acknowledgments = { hold = \"5 ms\", keep = \"newest\" }";
    close(followed(11, newest), 37.04);
    close(followed(15, newest), 41.04);
    assert_eq!(dropped(10, newest), 8.0);
    let third = "acknowledgments = { hold = \"5 ms\", keep = \"1/3\" }";
    assert_eq!(dropped(10, third), 6.0);
    // The third is back at 26.04 ms with one for three packets, the fifth 40 microseconds after it.
    close(followed(13, third), 39.04);
    close(followed(14, third), 40.04);
}

/// The other direction is as it was, and data is never touched: a flow in either direction loses nothing but what the
/// queues of data drop, which is nothing here.
#[test]
fn data_is_not_touched() {
    let text = flight(500, "acknowledgments = { hold = \"3 ms\", keep = \"newest\" }")
        + "[[flow]]\nname = \"back\"\ncontrol = \"reno\"\npath = [\"path\"]\nreverse = true\nrtt = \"20 ms\"\n\
           packet = \"1000 B\"\nmax_window = 10\nsize = \"500 packets\"\n";
    let summary = run(&text.replace("\"1 s\"", "\"10 s\""));
    for flow in &summary.flows {
        assert_eq!((flow.data_dropped, flow.retransmit_rate), (0, 0.0), "{}", flow.name);
        assert!(flow.completion_s.is_some());
    }
    let [there, back] = ["forward", "reverse"].map(|way| of(&summary, "path", way, "dropped"));
    assert!(there.abs() < 1e-12 && back > 100.0, "{there} {back}");
}

/// A flow that loses a packet now and then repairs it from what selective acknowledgments say, however few of the
/// others come through: no time-out, which is how a sender would notice that the news of a loss was gone.
/// (Acknowledgments that report losses all wait their turn, 4 ms each, hence the longer timer.)
#[test]
fn news_of_losses_come_through() {
    let text = |recovery: &str| {
        format!(
            r#"
            duration = "60 s"
            [link.path]
            rate   = "8 Mbit/s"
            delay  = "20 ms"
            buffer = "100 packets"
            loss   = 0.002
            [link.path.reverse]
            rate   = "80 kbit/s"
            loss   = 0
            acknowledgments = {{ keep = "newest" }}
            [[flow]]
            name     = "long"
            control  = "reno"
            recovery = "{recovery}"
            path     = ["path"]
            rtt      = "40 ms"
            packet   = "1000 B"
            max_window = 60
            rto_min  = "1 s"
            "#
        )
    };
    for recovery in ["sack", "newreno", "rack"] {
        let summary = run(&text(recovery));
        let flow = &summary.flows[0];
        let lost = of(&summary, "path", "forward", "corrupted");
        assert!(lost > 20.0, "{recovery}: {lost}");
        assert_eq!(flow.timeouts, 0, "{recovery}");
        assert!(of(&summary, "path", "reverse", "dropped") > 1000.0, "{recovery}");
    }
}
