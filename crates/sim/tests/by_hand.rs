//! Small networks whose every packet can be followed by hand.

use crate::support::{numbers, of, record, run};

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3)
}

/// Six packets of 1000 bytes at once, 1 ms each at 8 Mbit/s: one in service, two wait, three are dropped.
#[test]
fn a_buffer_of_two_packets_keeps_two() {
    let summary = run(r#"
        duration = "50 ms"
        [link.narrow]
        rate   = "8 Mbit/s"
        delay  = "10 ms"
        buffer = "2 packets"
        [[flow]]
        name           = "burst"
        control        = "reno"
        path           = ["narrow"]
        rtt            = "100 ms"
        packet         = "1000 B"
        initial_window = 6
        "#);
    assert_eq!(of(&summary, "narrow", "forward", "arrived"), 6.0);
    assert_eq!(of(&summary, "narrow", "forward", "dropped"), 3.0);
    // The two wait 1 and 2 ms: 3 packet-milliseconds in 50, of a buffer of two.
    assert!(close(of(&summary, "narrow", "forward", "queue_mean"), 3.0 / 50.0 / 2.0));
    // Three milliseconds of sending in fifty.
    assert!(close(of(&summary, "narrow", "forward", "utilisation"), 3.0 / 50.0));
}

/// Bursts of six arrive at one place in service and two to wait, three times: in the warm-up, after it, and as a
/// transfer. They reach the link 20 ms after they have left.
#[test]
fn drops_are_counted_by_flow_and_by_group_after_the_warm_up() {
    let summary = run(r#"
        duration = "90 ms"
        warmup   = "30 ms"
        [link.narrow]
        rate   = "8 Mbit/s"
        delay  = "10 ms"
        buffer = "2 packets"
        [[flow]]
        name           = "burst"
        control        = "reno"
        count          = 2
        path           = ["narrow"]
        rtt            = "100 ms"
        start          = ["0 ms", "40 ms"]
        packet         = "1000 B"
        initial_window = 6
        [[traffic]]
        name           = "web"
        control        = "reno"
        path           = ["narrow"]
        rtt            = "100 ms"
        start          = "50 ms"
        arrivals       = { poisson = "1000 /s" }
        count          = 1
        size           = "20 packets"
        packet         = "1000 B"
        initial_window = 6
        "#);
    assert_eq!(of(&summary, "narrow", "forward", "dropped"), 6.0, "after the warm-up");
    let counts = |flow: usize| (summary.flows[flow].data_sent, summary.flows[flow].data_dropped);
    assert_eq!((counts(0), summary.flows[0].drop_rate), ((0, 0), 0.0));
    assert_eq!((counts(1), summary.flows[1].drop_rate), ((6, 3), 0.5));
    let web = &summary.traffic["web"];
    assert_eq!([&web["data_sent"], &web["data_dropped"]], [6, 3]);
    assert_eq!(web["drop_rate"], 0.5);
}

/// Behind a fast link, a slow one builds up a queue; behind a slow link, a fast one never has any.
#[test]
fn packets_queue_where_the_rate_falls() {
    let chain = |first: u32, second: u32| {
        run(&format!(
            r#"
            duration = "100 ms"
            [link.first]
            rate   = "{first} Mbit/s"
            delay  = "1 ms"
            buffer = "10 packets"
            [link.second]
            rate   = "{second} Mbit/s"
            delay  = "1 ms"
            buffer = "10 packets"
            [[flow]]
            name           = "burst"
            control        = "reno"
            path           = ["first", "second"]
            rtt            = "4 ms"
            packet         = "1000 B"
            size           = "4 packets"
            initial_window = 4
            "#
        ))
    };
    // 80 then 8 Mbit/s: packets reach the second link at 1.1, 1.2, 1.3, 1.4 ms and leave it at 2.1, 3.1, 4.1 and
    // 5.1 ms; the last arrives at 6.1 ms. They wait 0.1+0.2+0.3 ms at the first, 0.9+1.8+2.7 ms at the second.
    let falling = chain(80, 8);
    assert!(close(falling.flows[0].completion_s.expect("complete"), 6.1e-3));
    assert!(close(of(&falling, "first", "forward", "queue_mean"), 0.6 / 100.0 / 10.0));
    assert!(close(of(&falling, "second", "forward", "queue_mean"), 5.4 / 100.0 / 10.0));
    // 8 then 80: at the second link at 2, 3, 4, 5 ms, each gone 0.1 ms later; the last arrives at 6.1 ms.
    let rising = chain(8, 80);
    assert!(close(rising.flows[0].completion_s.expect("complete"), 6.1e-3));
    assert!(close(of(&rising, "first", "forward", "queue_mean"), 6.0 / 100.0 / 10.0));
    assert_eq!(of(&rising, "second", "forward", "queue_mean"), 0.0);
}

/// An acknowledgment waits behind the data of the other direction.
#[test]
fn an_acknowledgment_queues_behind_data() {
    // Both directions at 8 Mbit/s, 5 ms. `there` sends one packet at 0: at the far end at 6 ms. `back` starts at
    // 5.5 ms with three packets that occupy the reverse direction until 8.5 ms. The acknowledgment of 40 bytes reaches
    // it at 6 ms, waits 2.5 ms, takes 0.04 ms and 5 ms: round trip 13.54 ms, of which 10 are propagation.
    let summary = run(r#"
        duration = "20 ms"
        [link.shared]
        rate   = "8 Mbit/s"
        delay  = "5 ms"
        buffer = "10 packets"
        [[flow]]
        name    = "there"
        control = "reno"
        path    = ["shared"]
        rtt     = "10 ms"
        packet  = "1000 B"
        size    = "1 packets"
        [[flow]]
        name           = "back"
        control        = "reno"
        path           = ["shared"]
        reverse        = true
        rtt            = "10 ms"
        packet         = "1000 B"
        size           = "3 packets"
        initial_window = 3
        start          = "5.5 ms"
        "#);
    assert!(
        close(summary.flows[0].queueing_delay_mean_s, 3.54e-3),
        "{}",
        summary.flows[0].queueing_delay_mean_s
    );
    // The acknowledgment waits 2.5 ms, and the second and third packet 1 and 2 ms, in 20 ms and ten places.
    assert!(close(of(&summary, "shared", "reverse", "queue_mean"), 5.5 / 20.0 / 10.0));
}

/// The sender's own link spaces out what the window releases at once.
#[test]
fn an_access_rate_spaces_the_packets() {
    // Four packets at 8 Mbit/s leave the access link at 1, 2, 3 and 4 ms; a quarter of the 8 ms that the links leave
    // of the round trip lies before the bottleneck, which forwards each in 0.1 ms: no queue. Last bit:
    // 4 + 2 + 0.1 + 1 + 2 ms.
    let summary = run(r#"
        duration = "50 ms"
        [link.wide]
        rate   = "80 Mbit/s"
        delay  = "1 ms"
        buffer = "10 packets"
        [[flow]]
        name           = "spaced"
        control        = "reno"
        path           = ["wide"]
        rtt            = "10 ms"
        packet         = "1000 B"
        size           = "4 packets"
        initial_window = 4
        access         = "8 Mbit/s"
        "#);
    assert!(close(summary.flows[0].completion_s.expect("complete"), 9.1e-3));
    assert_eq!(of(&summary, "wide", "forward", "queue_mean"), 0.0);
}

/// Starts, stops and the measured interval: a flow counts while it is active.
#[test]
fn goodput_belongs_to_the_active_part_of_the_measured_interval() {
    let summary = run(r#"
        duration = "10 s"
        warmup   = "2 s"
        [link.wire]
        rate   = "8 Mbit/s"
        delay  = "0 ms"
        buffer = "100 packets"
        [[flow]]
        name       = "whole"
        control    = "reno"
        path       = ["wire"]
        rtt        = "10 ms"
        packet     = "1000 B"
        max_window = 1
        [[flow]]
        name       = "part"
        control    = "reno"
        path       = ["wire"]
        rtt        = "10 ms"
        start      = "4 s"
        stop       = "6 s"
        packet     = "1000 B"
        max_window = 1
        "#);
    // Alone, a packet per 11.04 ms. Beside the other flow, sometimes a millisecond more: between 1 and 12.04.
    let alone = 8000.0 / 11.04e-3;
    for flow in &summary.flows {
        assert!(
            (0.91..=1.001).contains(&(flow.goodput_bit_s / alone)),
            "{} {}",
            flow.name,
            flow.goodput_bit_s
        );
    }
    assert_eq!(summary.flows[1].start_s, 4.0);
}

/// The first row of the time series is at the end of the first interval, and rows are complete.
#[test]
fn time_series_count_what_came_before_each_edge() {
    let recording = record(
        r#"
        duration = "100 ms"
        sample   = "10 ms"
        [link.wire]
        rate   = "8 Mbit/s"
        delay  = "5 ms"
        buffer = "20 packets"
        [[flow]]
        name           = "burst"
        control        = "reno"
        path           = ["wire"]
        rtt            = "10 ms"
        packet         = "1000 B"
        size           = "20 packets"
        initial_window = 20
        "#,
        true,
    );
    let real = |table: &str, column: &str| numbers(&recording, table, column);
    // Twenty packets of 1 ms from 0 to 20 ms, at the receiver from 6 to 25 ms. Packets that arrive exactly at an edge
    // belong to the interval after it.
    let throughput = real("flow_series", "throughput_bit_s");
    assert_eq!(throughput.len(), 10);
    assert!(close(throughput[0], 4.0 * 8000.0 / 10e-3), "6, 7, 8, 9 ms");
    assert!(close(throughput[1], 10.0 * 8000.0 / 10e-3), "10 to 19 ms");
    assert!(close(throughput[2], 6.0 * 8000.0 / 10e-3), "20 to 25 ms");
    assert!(throughput[3..].iter().all(|&rate| rate == 0.0));
    // Forward and reverse alternate. At 10 ms ten packets have left, one is in service, nine wait.
    let queue = real("link_series", "queue_packets");
    assert_eq!((queue[0], queue[2]), (10.0, 0.0), "before what happens at the edge itself");
    let utilisation = real("link_series", "utilisation");
    assert!(close(utilisation[0], 0.9) && close(utilisation[2], 1.0) && close(utilisation[4], 0.1));
}

/// All acknowledgments on a link come from one other link, after the same delay: each data packet is one event, apart
/// from a few timers. With a second round trip in the network, acknowledgments are events again.
#[test]
fn a_data_packet_is_one_event_where_the_order_of_acknowledgments_is_known() {
    let events = |second: &str| {
        let flow = |name: &str, rtt: &str| {
            format!(
                "[[flow]]\nname = \"{name}\"\ncontrol = \"reno\"\npath = [\"wide\"]\nrtt = \"{rtt}\"\n\
                 size = \"500 packets\"\nmax_window = 10\n"
            )
        };
        let link = "[link.wide]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\nbuffer = \"unlimited\"\n";
        let flows = flow("a", "20 ms") + &flow("b", second);
        let text = format!("duration = \"9 s\"\n{link}{flows}");
        let summary = run(&text);
        assert_eq!(summary.engine.data_packets, 1000);
        summary.engine.events
    };
    assert!((1000..1020).contains(&events("20 ms")));
    assert!((2000..2020).contains(&events("21 ms")));
}

/// A flow that stops at 5 s has the mean window of a run that ends then, though its acknowledgments go on for more than a second,
/// and none where the measured interval begins after that.
#[test]
fn the_mean_window_ends_where_the_flow_stops() {
    let mean = |duration: &str, warmup: &str, stop: &str| {
        let summary = run(&format!(
            r#"
            duration = "{duration}"
            warmup   = "{warmup}"
            [link.l]
            rate   = "10 Mbit/s"
            delay  = "10 ms"
            buffer = "2000 packets"
            [[flow]]
            name    = "f"
            control = "reno"
            path    = ["l"]
            rtt     = "100 ms"
            {stop}
            "#
        ));
        summary.flows[0].window_mean
    };
    let ends = mean("5 s", "1 s", "");
    assert_eq!(mean("20 s", "1 s", r#"stop = "5 s""#), ends);
    assert!(ends > 1000.0, "{ends}");
    assert!(mean("20 s", "6 s", r#"stop = "5 s""#).is_nan());
}

/// Six packets at once, of which a buffer of two keeps three: what is lost comes again after a time-out. Of forty enough
/// arrive to tell of those that are lost.
#[test]
fn rows_add_up_to_what_is_told_of_the_whole_run() {
    for (window, buffer, size) in [(6, 2, 6), (40, 30, 1000)] {
        let recording = record(
            &format!(
                r#"
                duration = "5 s"
                sample   = "100 ms"
                [link.narrow]
                rate   = "8 Mbit/s"
                delay  = "10 ms"
                buffer = "{buffer} packets"
                [[flow]]
                name           = "burst"
                control        = "reno"
                path           = ["narrow"]
                rtt            = "100 ms"
                packet         = "1000 B"
                initial_window = {window}
                size           = "{size} packets"
                "#
            ),
            true,
        );
        let sum =
            |table: &str, column: &str| numbers(&recording, table, column).iter().sum::<f64>();
        let flow = &recording.summary.flows[0];
        let again = sum("flows", "retransmitted");
        assert!(again > 0.0 && (flow.timeouts > 0) == (window == 6), "{again} {flow:?}");
        assert_eq!(sum("flow_series", "retransmitted"), again);
        assert_eq!(sum("limits", "timeouts"), flow.timeouts as f64);
        assert_eq!(sum("limits", "losses"), flow.congestion_events as f64);
        assert_eq!(sum("link_series", "dropped"), sum("links", "dropped"));
        assert_eq!(sum("transfers", "retransmitted"), again);
        // Each millisecond is held by one cause at most.
        let causes = ["window_s", "pacing_s", "receiver_s", "application_s", "recovery_s"]
            .map(|cause| numbers(&recording, "limits", cause));
        for row in 0..50 {
            let held: f64 = causes.iter().map(|cause| cause[row]).sum();
            assert!((0.0..0.1 + 1e-9).contains(&held), "{held} s in row {row}");
        }
        assert_eq!(numbers(&recording, "link_series", "time_s")[..4], [0.1, 0.1, 0.2, 0.2]);
        assert!(recording.table("exchanges").is_none(), "nothing is asked for");
    }
}

/// A packet takes 1 ms and 50 ms. The first flow is complete as the measured interval begins, so that the second is the only
/// one in it.
#[test]
fn a_flow_that_is_complete_before_the_measured_interval_counts_for_nothing() {
    let summary = run(r#"
        duration = "200 ms"
        warmup   = "51 ms"
        [link.wire]
        rate  = "8 Mbit/s"
        delay = "50 ms"
        [[flow]]
        name    = "pair"
        control = "reno"
        count   = 2
        path    = ["wire"]
        rtt     = "100 ms"
        packet  = "1000 B"
        start   = ["0 s", "100 ms"]
        size    = "1 packet"
        "#);
    assert_eq!(summary.flows[0].completion_s, Some(0.051));
    assert_eq!(summary.flows[0].goodput_bit_s, 0.0);
    assert!(close(summary.flows[1].goodput_bit_s, 8000.0 / 0.051));
    assert_eq!(summary.jain["pair"], 1.0);
}

/// Six packets at once, of which three are lost, and come again after a second: in the measured interval or before it.
#[test]
fn a_transfer_tells_of_all_that_it_sent_again() {
    let tells = |warmup: &str| {
        let text = format!(
            "duration = \"9 s\"\nwarmup = \"{warmup}\"\n[link.narrow]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n\
             buffer = \"2 packets\"\n[[flow]]\nname = \"burst\"\ncontrol = \"reno\"\npath = [\"narrow\"]\n\
             rtt = \"100 ms\"\npacket = \"1000 B\"\ninitial_window = 6\nsize = \"6 packets\"\n"
        );
        let recording = record(&text, false);
        let flow = &recording.summary.flows[0];
        assert_eq!(flow.timeouts == 0, warmup == "8 s");
        ["retransmitted", "timeouts"].map(|column| numbers(&recording, "transfers", column)[0])
    };
    assert_eq!(tells("8 s"), tells("0 s"));
    assert!(tells("8 s").iter().all(|count| *count > 0.0));
}
