//! Receive windows, followed by hand and held against what a window allows.

use crate::support::{numbers, of, record, run};

/// Ten packets may leave at once as far as the controller is concerned. Each takes a millisecond, its acknowledgment 40
/// microseconds, and the wire 10 ms either way.
fn flight(packets: u32, keys: &str) -> String {
    format!(
        r#"
        duration = "1 s"
        sample   = "10 ms"
        [link.path]
        rate   = "8 Mbit/s"
        delay  = "10 ms"
        buffer = "100 packets"
        [[flow]]
        name    = "one"
        control = "reno"
        path    = ["path"]
        rtt     = "20 ms"
        packet  = "1000 B"
        size    = "{packets} packets"
        {keys}
        "#
    )
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

/// When the last packet has arrived, and for how long the receiver held the sender back, in milliseconds.
fn followed(packets: u32, keys: &str) -> (f64, f64) {
    let flow = &run(&flight(packets, keys)).flows[0];
    let limited = flow.receiver_limited_s.expect("it has a receive window");
    (flow.completion_s.expect("it is complete") * 1e3, limited * 1e3)
}

/// Four leave at once. The first is acknowledged at 21.04 ms, and lets the fifth go, which arrives 11 ms later; so on
/// to the eighth, which leaves at 24.04 ms. The ninth waits for the fifth to be acknowledged, at 42.08 ms.
#[test]
fn a_window_lets_go_one_packet_for_each_that_arrives() {
    for keys in [
        "receive_window = \"4 packets\"",
        "receive_window = \"3840 B\"",
        "receive_window = { kind = \"fixed\", size = \"5000 B\", scale = 12 }",
        "receive_window = { kind = \"sender-tuned\", most = \"4 packets\" }",
        "receive_window = { kind = \"right-sizing\", most = \"4 packets\" }",
    ] {
        let (done, limited) = followed(4, keys);
        close(done, 14.0);
        close(limited, 0.0);
        let (done, limited) = followed(8, keys);
        close(done, 35.04);
        close(limited, 24.04);
        let (done, limited) = followed(9, keys);
        close(done, 53.08);
        close(limited, 42.08);
    }
}

/// The controller hears that not its window is the limit, so that stays what it was.
#[test]
fn a_window_that_is_not_tested_does_not_grow() {
    let text = flight(200, "receive_window = \"4 packets\"");
    let recording = record(&text, true);
    assert!(numbers(&recording, "flow_series", "window").iter().all(|window| *window == 10.0));
    assert!(numbers(&recording, "flow_series", "receive_window").iter().all(|told| *told == 4.0));
    assert!(numbers(&recording, "flow_series", "in_flight").iter().all(|packets| *packets <= 4.0));
}

/// What has no receive window has no column for it.
#[test]
fn nothing_is_told_of_windows_that_are_not_there() {
    let recording = record(&flight(20, ""), true);
    let tables = ["flows", "flow_series"].map(|name| recording.table(name).expect("it is there"));
    for table in tables {
        assert!(table.columns.iter().all(|(name, _)| !name.contains("receive")), "{}", table.name);
    }
    assert_eq!(recording.summary.flows[0].receiver_limited_s, None);
}

/// RFC 7323, section 1.1: without a window scale at most 65 535 bytes are in flight, whatever the path could hold; with
/// one, as many units as 16 bits count. Either way a window each round trip.
#[test]
fn the_throughput_is_a_window_each_round_trip() {
    let rate = |scale: u32| {
        let text = format!(
            r#"
            duration = "20 s"
            warmup   = "5 s"
            [link.path]
            rate   = "10 Gbit/s"
            delay  = "20 ms"
            [[flow]]
            name    = "long"
            control = "reno"
            path    = ["path"]
            rtt     = "100 ms"
            receive_window = {{ kind = "fixed", size = "1 MB", scale = {scale} }}
            "#
        );
        run(&text).flows[0].goodput_bit_s
    };
    // 44 packets with 1460 bytes of data in 65 535; 179 in 4 times as much; 684 in 999 936, 31 248 units of 32 bytes.
    for (scale, packets) in [(0, 44.0), (2, 179.0), (5, 684.0)] {
        let (found, expected) = (rate(scale), packets * 12_000.0 / 0.1);
        assert!((found / expected - 1.0).abs() < 2e-3, "scale {scale}: {found}, not {expected}");
    }
}

/// What is in flight is never more than the window: one packet in service and seven in the queue, for whichever window
/// the controller would like.
#[test]
fn a_window_is_never_exceeded() {
    let dropped = |window: u32| {
        let text =
            flight(2000, &format!("initial_window = 100\nreceive_window = \"{window} packets\""))
                .replace("\"1 s\"", "\"20 s\"")
                .replace("100 packets", "7 packets");
        of(&run(&text), "path", "forward", "dropped")
    };
    assert_eq!(dropped(8), 0.0);
    assert!(dropped(9) > 0.0);
}

/// A buffer that begins with four packets, on a path that holds a hundred: it grows with the window until the link is
/// full, and is not what limits the flow from then on. Without growth it would carry 4 %.
#[test]
fn a_buffer_that_grows_fills_the_path() {
    let summary = |window: &str| {
        run(&format!(
            r#"
            duration = "40 s"
            warmup   = "20 s"
            [link.path]
            rate   = "8 Mbit/s"
            delay  = "20 ms"
            [[flow]]
            name    = "long"
            control = "cubic"
            path    = ["path"]
            rtt     = "100 ms"
            packet  = "1000 B"
            receive_window = {window}
            "#
        ))
    };
    let used = |window: &str| {
        let summary = summary(window);
        let limited = summary.flows[0].receiver_limited_s.expect("it has a receive window");
        (of(&summary, "path", "forward", "utilisation"), limited)
    };
    let (fixed, limited) = used("\"4 packets\"");
    assert!((fixed - 0.04).abs() < 0.002 && limited > 19.9, "{fixed} {limited}");
    for kind in ["right-sizing", "sender-tuned"] {
        let keys = format!("{{ kind = \"{kind}\", initial = \"4 packets\", most = \"1 MB\" }}");
        let (grown, limited) = used(&keys);
        assert!(grown > 0.95 && limited < 1.0, "{kind}: {grown} {limited}");
        let few = keys.replace("1 MB", "40 packets");
        let (bounded, limited) = used(&few);
        assert!((bounded - 0.4).abs() < 0.01 && limited > 19.0, "{kind}: {bounded} {limited}");
    }
}
