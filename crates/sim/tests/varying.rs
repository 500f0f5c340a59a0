//! Links that change while packets cross them, followed by hand.

use crate::support;
use crate::support::witness::{open, watched};
use crate::support::{numbers, of, record, run};
use longfat_sim::{Options, Simulation};
use longfat_units::{Rate, Span, Time};

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3)
}

/// A link of 8 Mbit/s and 10 ms, which takes a millisecond for each of `count` packets of 1000 bytes that arrive at
/// once.
fn burst(count: u32, changes: &str) -> String {
    format!(
        r#"
        duration = "200 ms"
        sample = "1 ms"
        [link.narrow]
        rate   = "8 Mbit/s"
        delay  = "10 ms"
        buffer = "100 packets"
        {changes}
        [[flow]]
        name           = "burst"
        control        = "reno"
        path           = ["narrow"]
        rtt            = "20 ms"
        packet         = "1000 B"
        initial_window = {count}
        size           = "{count} packets"
        "#
    )
}

fn completion(text: &str) -> f64 {
    let summary = run(text);
    assert_eq!(summary.flows[0].retransmit_rate, 0.0, "nothing is lost: {text}");
    summary.flows[0].completion_s.expect("it is complete")
}

/// At 1.5 ms half of the second packet is left, which takes twice as long as before: it leaves at 2.5 ms, the third at
/// 4.5 and the fourth at 6.5 ms.
#[test]
fn a_packet_that_is_being_sent_goes_on_at_the_new_rate() {
    let text = burst(4, "[[link.narrow.change]]\nat = \"1.5 ms\"\nrate = \"4 Mbit/s\"");
    assert!(close(completion(&text), 16.5e-3), "{}", completion(&text));
    // 32 000 bits of what 1.5 ms at 8 Mbit/s and 198.5 ms at 4 Mbit/s can carry.
    let used = of(&run(&text), "narrow", "forward", "utilisation");
    assert!(close(used, 32.0 / (12.0 + 794.0)), "{used}");
}

/// A direction can change alone, and its acknowledgments or data notice nothing of the other one.
#[test]
fn one_direction_changes_alone() {
    let change = |more: &str| {
        burst(4, &format!("[[link.narrow.change]]\nat = \"1.5 ms\"\nrate = \"4 Mbit/s\"\n{more}"))
    };
    assert!(close(completion(&change("reverse = false")), 16.5e-3));
    assert!(close(completion(&change("reverse = true")), 14e-3));
}

/// Nothing leaves from 1.5 to 5.5 ms. The second packet has half of itself to go after that.
#[test]
fn nothing_leaves_during_an_outage() {
    let out = "[[link.narrow.change]]\nat = \"1.5 ms\"\nrate = \"0 bit/s\"";
    let back = "[[link.narrow.change]]\nat = \"5.5 ms\"\nrate = \"8 Mbit/s\"";
    let text = burst(4, &format!("{out}\n{back}"));
    assert!(close(completion(&text), 18e-3), "{}", completion(&text));
    let recording = record(&text, true);
    let used: Vec<f64> =
        numbers(&recording, "link_series", "utilisation").into_iter().step_by(2).collect();
    // The packet that leaves at 1 ms counts after it, where half of it has no room.
    let expected = [0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0];
    assert!(used.iter().zip(expected).all(|(used, expected)| close(*used, expected)), "{used:?}");
    let capacity: Vec<f64> =
        numbers(&recording, "link_series", "capacity_bit_s").into_iter().step_by(2).collect();
    let expected = [8e6, 4e6, 0.0, 0.0, 0.0, 4e6, 8e6, 8e6];
    assert!(capacity.iter().zip(expected).all(|(found, expected)| close(*found, expected)));
    // Without end, the first packet alone arrives.
    let recording = record(&burst(4, out), false);
    assert_eq!(numbers(&recording, "flows", "delivered"), [1.0]);
}

/// The last bit of the second packet is sent as the outage begins, at 2 ms. The third waits for its end, at 6 ms.
#[test]
fn what_has_been_sent_by_an_outage_does_not_wait_for_its_end() {
    let out = "[[link.narrow.change]]\nat = \"2 ms\"\nrate = \"0 bit/s\"";
    let back = "[[link.narrow.change]]\nat = \"6 ms\"\nrate = \"8 Mbit/s\"";
    for (count, expected) in [(2, 12e-3), (3, 17e-3)] {
        let found = completion(&burst(count, &format!("{out}\n{back}")));
        assert!(close(found, expected), "{count} packets: {found}");
    }
    assert!(close(completion(&burst(2, out)), 12e-3), "the rate need never return");
}

/// From 8 to 16 Mbit/s in 8 ms a link carries 12 Mbit/s on average, which is twelve packets: the last leaves at the end
/// of the ramp.
#[test]
fn a_ramp_carries_what_its_line_carries() {
    let text = burst(
        12,
        "[[link.narrow.change]]\nat = \"0 s\"\nover = \"8 ms\"\nrate = \"16 Mbit/s\"\nreverse = false",
    );
    assert!(close(completion(&text), 18e-3), "{}", completion(&text));
    // After half of the ramp 8 and a half of a fourth of 8 ms have been sent: 40 000 bits, the fifth packet.
    let recording = record(&text, true);
    let capacity: Vec<f64> =
        numbers(&recording, "link_series", "capacity_bit_s").into_iter().step_by(2).collect();
    let bits: f64 = capacity[..4].iter().map(|rate| rate * 1e-3).sum();
    assert!(close(bits, 40_000.0), "{bits}");
}

/// One packet at a time. The first two round trips take 30 ms and 1.04 ms of sending; during the second the delay of
/// either direction grows from 15 to 50 ms, after its acknowledgment has left. The third is sent at 62.08 ms.
#[test]
fn a_longer_delay_holds_for_what_leaves_after_the_change() {
    let text = r#"
        duration = "200 ms"
        [link.path]
        rate  = "8 Mbit/s"
        delay = "15 ms"
        [[link.path.change]]
        at    = "50 ms"
        delay = "50 ms"
        [[flow]]
        name       = "one"
        control    = "reno"
        path       = ["path"]
        rtt        = "30 ms"
        packet     = "1000 B"
        max_window = 1
        size       = "3 packets"
        "#;
    assert!(close(completion(text), 113.08e-3), "{}", completion(text));
    // What exceeds the shortest propagation, 30 ms.
    let waited = run(text).flows[0].queueing_delay_mean_s;
    assert!(close(waited, (1.04e-3 + 1.04e-3 + 71.04e-3) / 3.0), "{waited}");
}

/// The first packet is under way for 50 ms when the delay falls to 10 ms. Those behind it arrive together with it, and
/// none before.
#[test]
fn a_shorter_delay_lets_no_packet_pass_another() {
    let change = "delay = \"50 ms\"\n[[link.narrow.change]]\nat = \"1.5 ms\"\ndelay = \"10 ms\"";
    let text = burst(4, change).replace("delay  = \"10 ms\"\n", "").replace("20 ms", "100 ms");
    assert!(close(completion(&text), 51e-3), "{}", completion(&text));
    let summary = run(&text);
    assert_eq!(summary.flows[0].congestion_events, 0, "nothing was out of order");
    assert!(summary.flows[0].queueing_delay_mean_s > 0.0);
}

/// A link of 8 Mbit/s whose delay is 50 ms at first, 100 ms from 0.5 s on and 10 ms from 1 s on. `senders` send ten
/// packets of 1000 bytes there.
fn rises_and_falls(senders: &str) -> String {
    format!(
        r#"
        duration = "2 s"
        [link.wire]
        rate  = "8 Mbit/s"
        delay = "50 ms"
        [[link.wire.change]]
        at    = "500 ms"
        delay = "100 ms"
        [[link.wire.change]]
        at    = "1 s"
        delay = "10 ms"
        {senders}
        control = "scream"
        path    = ["wire"]
        rtt     = "100 ms"
        packet  = "1000 B"
        initial_window = 10
        "#
    )
}

/// The draft of SCReAM paces at 1.25 windows in a round trip, of which a handshake tells at the start: of 100 ms, 200 or
/// 20, as the flow begins, and neither of what the delay was before nor of what it will be. The last of ten packets leaves
/// after nine gaps of 8, 16 or 1.6 ms, takes a millisecond, and then the delay.
#[test]
fn a_flow_knows_at_first_the_round_trip_as_it_begins() {
    let cases = [("0 s", 123e-3), ("600 ms", 245e-3), ("1100 ms", 25.4e-3)];
    for (start, expected) in cases {
        let flow = format!("[[flow]]\nname = \"one\"\nstart = \"{start}\"\nsize = \"10 packets\"");
        let found = completion(&rises_and_falls(&flow));
        assert!(close(found, expected), "from {start} on: {found}");
    }
    let list = "replay = { tick = \"1 ms\", list = \"0 10000,600 10000,500 10000\" }";
    let text = rises_and_falls(&format!("[[traffic]]\nname = \"short\"\n{list}"));
    let completions = numbers(&record(&text, false), "transfers", "completion_s");
    let expected = cases.map(|(_, expected)| expected);
    assert_eq!(completions.len(), 3);
    assert!(completions.iter().zip(expected).all(|(&one, other)| close(one, other)));
}

/// The first packet is lost. Until a round trip has been measured the time-out is three of what a handshake tells, 1.8 s
/// on a path of 600 ms, however short it will be later; then the packet takes a millisecond and 300.
#[test]
fn the_first_time_out_foresees_nothing() {
    let text = r#"
        duration = "10 s"
        [link.path]
        rate  = "8 Mbit/s"
        delay = "300 ms"
        [[link.path.change]]
        at      = "0 s"
        loss    = 1
        reverse = false
        [[link.path.change]]
        at   = "1 s"
        loss = 0
        [[link.path.change]]
        at    = "5 s"
        delay = "10 ms"
        [[flow]]
        name    = "one"
        control = "reno"
        path    = ["path"]
        rtt     = "600 ms"
        packet  = "1000 B"
        size    = "1 packets"
        "#;
    let found = run(text).flows[0].completion_s.expect("it is complete");
    assert!(close(found, 2.101), "{found}");
}

/// Every 40 ms, for 20 ms.
#[test]
fn changes_repeat() {
    let there = "[[link.narrow.change]]\nat = \"20 ms\"\nevery = \"40 ms\"\ndelay = \"30 ms\"";
    let back = "[[link.narrow.change]]\nat = \"40 ms\"\nevery = \"40 ms\"\ndelay = \"10 ms\"";
    let recording = record(&burst(1, &format!("{there}\n{back}")), true);
    let delays: Vec<f64> =
        numbers(&recording, "link_series", "delay_s").into_iter().step_by(2).collect();
    // Rows end at 1 ms, 2 ms and so on.
    for (row, delay) in delays.into_iter().enumerate() {
        let expected = if (row + 1) / 20 % 2 == 1 { 0.03 } else { 0.01 };
        assert_eq!(delay, expected, "after {} ms", row + 1);
    }
}

/// The probability of a loss changes with the time.
#[test]
fn losses_change() {
    let text = r#"
        duration = "20 s"
        sample = "10 s"
        [link.path]
        rate  = "8 Mbit/s"
        delay = "1 ms"
        buffer = "9 packets"
        [[link.path.change]]
        at      = "10 s"
        loss    = 0.2
        reverse = false
        [[flow]]
        name    = "blind"
        control = "reno"
        path    = ["path"]
        rtt     = "2 ms"
        packet  = "1000 B"
        max_window = 4
        "#;
    let recording = record(text, true);
    let lost = of(&recording.summary, "path", "forward", "corrupted");
    let retransmitted = numbers(&recording, "flow_series", "retransmitted");
    assert_eq!(retransmitted[0], 0.0);
    let sent = recording.summary.flows[0].data_sent as f64 - 10_000.0;
    // A fifth of what is sent after 10 s, within five standard deviations of a binomial distribution.
    let off = (lost - 0.2 * sent).abs() / (sent * 0.2 * 0.8).sqrt();
    assert!(lost > 50.0 && off < 5.0, "{lost} of {sent}");
}

fn followed(trace: &str, packet: u32, count: u32, start: u32) -> String {
    format!(
        r#"
        duration = "200 ms"
        [link.cell]
        delay  = "10 ms"
        buffer = "100 packets"
        trace  = {{ mahimahi = "{trace}" }}
        [link.cell.reverse]
        rate  = "1 Gbit/s"
        trace = "none"
        [[flow]]
        name           = "burst"
        control        = "reno"
        path           = ["cell"]
        rtt            = "20 ms"
        start          = "{start} ms"
        packet         = "{packet} B"
        initial_window = {count}
        size           = "{count} packets"
        "#
    )
}

/// Two opportunities after 5 ms and one after 10 ms, then all over again: 5, 5, 10, 15, 15, 20 ms.
#[test]
fn packets_leave_when_a_trace_lets_them() {
    let done = |packet, count, start| completion(&followed("5 5 10", packet, count, start));
    for (count, last) in [(1, 5), (2, 5), (3, 10), (4, 15), (5, 15), (6, 20)] {
        assert!(close(done(1500, count, 0), f64::from(last + 10) * 1e-3), "{count} packets");
    }
    // Two packets of 750 bytes take one opportunity, and three of 1000 take two.
    assert!(close(done(750, 4, 0), 15e-3));
    assert!(close(done(750, 5, 0), 20e-3));
    assert!(close(done(1000, 3, 0), 15e-3));
    // Six opportunities for 9000 bytes: the sixth comes at 20 ms.
    assert!(close(done(9000, 1, 0), 30e-3));
    // Whoever comes at the very moment of an opportunity is too late for it: from 5 to 10 ms, from 10 to 15.
    assert!(close(done(1500, 1, 5), 15e-3));
    assert!(close(done(1500, 1, 10), 15e-3));
}

/// A trace of 1 to 30 packets in each of ten periods of 10 ms: 15.5 Mbit/s on average.
#[test]
fn a_trace_gives_the_throughput_that_it_has() {
    let mut stamps = Vec::new();
    for (period, packets) in [1, 30, 12, 7, 25, 3, 18, 9, 14, 10].into_iter().enumerate() {
        stamps.extend((0..packets).map(|packet| 10 * period + packet * 10 / 30 + 1));
    }
    stamps.push(100);
    let count = stamps.len() as f64;
    let stamps: Vec<String> = stamps.iter().map(ToString::to_string).collect();
    let text = format!(
        r#"
        duration = "30 s"
        warmup   = "5 s"
        sample   = "70 ms"
        [link.cell]
        delay  = "10 ms"
        buffer = "400 packets"
        trace  = {{ mahimahi = "{}" }}
        [[flow]]
        name    = "bulk"
        control = "cubic"
        path    = ["cell"]
        rtt     = "20 ms"
        "#,
        stamps.join(" ")
    );
    let recording = record(&text, true);
    let mean = count * 12_000.0 / 0.1;
    let goodput = recording.summary.flows[0].goodput_bit_s;
    assert!((goodput / mean - 1.0).abs() < 0.01, "{goodput} of {mean}");
    let used = of(&recording.summary, "cell", "forward", "utilisation");
    assert!((0.99..=1.0).contains(&used), "{used}");
    let series = numbers(&recording, "link_series", "utilisation");
    assert!(series.iter().all(|used| (0.0..=1.0).contains(used)), "{series:?}");
}

/// Links that change are served the same way however the others are.
#[test]
fn how_other_links_are_served_changes_nothing() {
    let text = r#"
        duration = "3 s"
        sample = "10 ms"
        [link.first]
        rate  = "20 Mbit/s"
        delay = "3 ms"
        [link.cell]
        delay  = "10 ms"
        buffer = "60 packets"
        loss   = 1e-3
        trace  = { mahimahi = "1 1 2 4 4 4 4 9" }
        [[link.cell.change]]
        at    = "0.5 s"
        every = "0.5 s"
        over  = "0.1 s"
        delay = "2 ms"
        [[link.cell.change]]
        at    = "0.75 s"
        every = "0.5 s"
        delay = "10 ms"
        [[flow]]
        name    = "bulk"
        control = "cubic"
        count   = 3
        path    = ["first", "cell"]
        rtt     = "40 ms"
        packet  = "300 B"
        "#;
    let with = |stepwise| {
        let options = Options::default().record(true).stepwise(stepwise);
        let mut simulation = Simulation::with_options(&support::read(text), options);
        while simulation.advance(1000) {}
        let mut recording = simulation.finish();
        recording.summary.engine.events = 0;
        format!("{recording:?}")
    };
    assert_eq!(with(false), with(true));
}

/// Of ten packets in a row each is late by a little more than three of them, and the last three by as much: the last
/// arrives at 20.000 000 003 ms and three more.
#[test]
fn late_packets_arrive_behind_those_that_pass_them() {
    let text = burst(
        10,
        "reorder = { probability = 1, distance = \"3 packets\" }\n[link.narrow.reverse]\nreorder = false",
    );
    let done = completion(&text);
    assert!((done - 23.000_000_003e-3).abs() < 1e-15, "{done}");
}

/// A flow whose packets arrive out of order, twice or late: whatever happens, all of it arrives, and nothing is lost.
#[test]
fn a_transfer_survives_what_wires_do() {
    for keys in [
        "jitter = \"8 ms\"",
        "jitter = { most = \"8 ms\", ordered = false }",
        "jitter = { kind = \"wifi\", interval = \"4 ms\" }",
        "reorder = { probability = 0.05, distance = \"5 packets\" }",
        "duplicate = 0.1",
        "duplicate = 1",
        "burst_loss = { p = 0.01, r = 0.3 }",
    ] {
        let text = burst(200, keys)
            .replace("\"200 ms\"", "\"60 s\"")
            .replace("\"1 ms\"", "\"1 s\"")
            .replace("initial_window = 200", "initial_window = 10");
        let recording = record(&text, true);
        let flow = &recording.summary.flows[0];
        assert!(flow.completion_s.is_some(), "{keys}");
        assert_eq!(numbers(&recording, "flows", "delivered"), [200.0], "{keys}");
        assert!(flow.queueing_delay_mean_s >= 0.0);
        if keys.starts_with("jitter = \"8")
            || keys.contains("wifi")
            || keys.starts_with("duplicate")
        {
            assert_eq!(flow.retransmit_rate, 0.0, "order is kept: {keys}");
        }
    }
}

/// Each packet would arrive twice, and every second one is destroyed: of ten in a row five arrive. The last is there at 20 ms,
/// and the first acknowledgment after 21.
#[test]
fn what_is_destroyed_does_not_arrive_twice() {
    let changes = "duplicate = 1\nburst_loss = { p = 1, r = 1 }\n\
         [link.narrow.reverse]\nduplicate = 0\nburst_loss = false";
    let text = burst(10, changes).replace("\"200 ms\"", "\"20.5 ms\"");
    let recording = record(&text, true);
    assert_eq!(numbers(&recording, "flows", "delivered"), [5.0]);
}

/// Data whose wire destroys packets in bursts: as many as the model says, of all that it has sent.
#[test]
fn bursts_are_counted_as_corruption() {
    let text = r#"
        duration = "100 s"
        [link.path]
        rate       = "80 Mbit/s"
        delay      = "1 ms"
        buffer     = "50 packets"
        burst_loss = { p = 0.002, r = 0.5 }
        [link.path.reverse]
        burst_loss = false
        [[flow]]
        name    = "bulk"
        control = "reno"
        path    = ["path"]
        rtt     = "2 ms"
        packet  = "1000 B"
        "#;
    let summary = run(text);
    let rate = of(&summary, "path", "forward", "corrupted") / summary.flows[0].data_sent as f64;
    // 0.002/0.502; the number sent is above 100 000, and a standard deviation below 4e-4.
    assert!(summary.flows[0].data_sent > 100_000);
    assert!((rate - 0.003_984).abs() < 1e-3, "{rate}");
    assert_eq!(of(&summary, "path", "reverse", "corrupted"), 0.0);
}

/// A policer of 5 Mbit/s in front of a link of 50: what gets through in the long run is its rate, nothing waits, and
/// the rest is dropped where it arrives.
#[test]
fn a_policer_holds_its_rate_in_the_long_run() {
    let text = r#"
        duration = "200 s"
        warmup   = "20 s"
        [link.path]
        rate    = "50 Mbit/s"
        delay   = "5 ms"
        policer = { rate = "5 Mbit/s", burst = "30 kB" }
        [link.path.reverse]
        policer = false
        [[flow]]
        name       = "greedy"
        control    = "reno"
        count      = 20
        path       = ["path"]
        rtt        = "10 ms"
        start      = { uniform = ["0 s", "1 s"] }
        "#;
    let summary = run(text);
    let carried = of(&summary, "path", "forward", "utilisation") * 50e6;
    assert!((carried / 5e6 - 1.0).abs() < 1e-3, "{carried}");
    assert!(of(&summary, "path", "forward", "dropped") > 1000.0);
    assert_eq!(of(&summary, "path", "reverse", "dropped"), 0.0);
}

/// Marks of a queue before a link that bleaches reach no receiver; the queue behind it must drop.
#[test]
fn what_is_bleached_is_neither_marked_nor_seen() {
    let events = |ecn: &str| {
        let text = format!(
            r#"
            duration = "20 s"
            [link.narrow]
            rate   = "8 Mbit/s"
            delay  = "5 ms"
            buffer = "100 packets"
            queue  = {{ kind = "red", min = "5 packets", max = "30 packets" }}
            [link.border]
            rate   = "8 Mbit/s"
            delay  = "1 ms"
            ecn    = "{ecn}"
            [[flow]]
            name    = "bulk"
            control = "reno"
            path    = ["border", "narrow"]
            rtt     = "20 ms"
            packet  = "1000 B"
            access  = "20 Mbit/s"
            "#
        )
        .replace(
            "rate   = \"8 Mbit/s\"\n            delay  = \"1 ms\"",
            "rate = \"16 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1000 packets\"",
        );
        let summary = run(&text);
        (of(&summary, "narrow", "forward", "marked"), of(&summary, "narrow", "forward", "dropped"))
    };
    let (marked, _) = events("kept");
    assert!(marked > 10.0, "{marked}");
    let (marked, dropped) = events("bleached");
    assert!(marked == 0.0 && dropped > 10.0, "{marked} {dropped}");
}

/// A packet takes a millisecond, and needs tokens for 1000 bytes, of which 500 come every millisecond. There are 3000
/// at first, so five packets leave one after the other, with 2000, 1500, 1000, 500 and 0 left as they begin; the sixth
/// waits from 5 to 6 ms, the seventh from 7 to 8 ms.
#[test]
fn a_shaper_lets_a_burst_pass_and_then_its_rate() {
    let keys = "shaper = { rate = \"4 Mbit/s\", burst = \"3 kB\" }";
    for (count, last) in [(1, 1), (5, 5), (6, 7), (7, 9), (9, 13)] {
        let done = completion(&burst(count, keys));
        assert!(close(done, f64::from(last + 10) * 1e-3), "{count} packets: {done}");
    }
    // A line that is slower than its shaper is as it was.
    let idle = "shaper = { rate = \"9 Mbit/s\", burst = \"1 kB\" }";
    assert!(close(completion(&burst(9, idle)), 19e-3));
}

/// Tokens for one packet at 5 ms, 10 ms and so on, in a trace with an opportunity for it every 2 ms: those after 0, 5,
/// 10 and 15 ms.
#[test]
fn a_shaper_waits_for_the_next_opportunity() {
    let text = followed("2", 1000, 4, 0)
        .replace("trace  =", "shaper = { rate = \"1.6 Mbit/s\", burst = \"1 kB\" }\ntrace  =");
    assert!(close(completion(&text), 26e-3), "{}", completion(&text));
}

/// A shaper of 5 Mbit/s in a link of 50: what waits, waits in its queue, and in the long run its rate gets through.
#[test]
fn a_shaper_holds_its_rate_in_the_long_run() {
    let text = r#"
        duration = "200 s"
        warmup   = "20 s"
        [link.path]
        rate    = "50 Mbit/s"
        delay   = "5 ms"
        buffer  = "60 packets"
        shaper  = { rate = "5 Mbit/s", burst = "30 kB" }
        [link.path.reverse]
        shaper  = false
        [[flow]]
        name       = "greedy"
        control    = "reno"
        count      = 3
        path       = ["path"]
        rtt        = "10 ms"
        start      = { uniform = ["0 s", "1 s"] }
        "#;
    let summary = run(text);
    let carried = of(&summary, "path", "forward", "utilisation") * 50e6;
    assert!((carried / 5e6 - 1.0).abs() < 1e-3, "{carried}");
    // Fewer packets are lost than a policer would drop, and the queue holds some all the time.
    assert!(of(&summary, "path", "forward", "drop_rate") < 0.02);
    assert!(of(&summary, "path", "forward", "queue_mean") > 0.2);
}

/// Of four packets at once a bucket for one lets one in.
#[test]
fn what_a_policer_refuses_has_arrived_and_is_dropped() {
    let policer = "policer = { rate = \"1 kbit/s\", burst = \"1000 B\" }";
    let text = burst(4, policer).replace("200 ms", "50 ms");
    let summary = run(&text);
    let told = |key: &str| of(&summary, "narrow", "forward", key);
    assert_eq!(["arrived", "dropped", "drop_rate"].map(told), [4.0, 3.0, 0.75]);
    assert_eq!(summary.flows[0].data_dropped, 3);
}

/// Four packets take 4 ms and 10 ms. The acknowledgment of the first is held for 7 ms, and all that come until then with
/// it: three of 0.04 ms each are sent in its wake, and arrive 10 ms later.
#[test]
fn a_link_holds_acknowledgments_and_no_data() {
    let recording = record(&burst(4, "acknowledgments = { hold = \"7 ms\" }"), false);
    let told = |column: &str| numbers(&recording, "transfers", column)[0];
    assert!(close(told("completion_s"), 14e-3), "{}", told("completion_s"));
    assert!(close(told("acknowledged_s"), 28.16e-3), "{}", told("acknowledged_s"));
    assert_eq!(numbers(&recording, "links", "arrived"), [4.0, 4.0]);
}

/// A third of 3000 packets is lost whether or not the wire does anything else to them: 1000, give or take 26.
#[test]
fn a_wire_with_impairments_loses_what_it_would_lose_without() {
    for keys in ["loss = 0.333333", "loss = 0.333333\necn = \"bleached\""] {
        let text =
            burst(3000, keys).replace("100 packets", "3000 packets").replace("200 ms", "4 s");
        let lost = of(&run(&text), "narrow", "forward", "corrupted");
        let sent = of(&run(&text), "narrow", "forward", "arrived");
        assert!((lost / sent - 0.333_333).abs() < 0.045, "{lost} of {sent}");
    }
}

/// A packet at 0, whose acknowledgment is held from 11 to 16 ms; and three at 30 ms. At 14 ms the rate becomes 4 Mbit/s, and at
/// 33 ms 2: the second of the three is half sent then, and leaves at 35 ms.
#[test]
fn a_queue_knows_the_rate_when_a_packet_comes_or_may_go() {
    let flow = |name: &str, start: u32, packets: u32| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"20 ms\"\npacket = \"1000 B\"\n\
             start = \"{start} ms\"\nsize = \"{packets} packets\"\n"
        )
    };
    let text = "duration = \"100 ms\"\n[link.l]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"9 packets\"\n\
         [link.l.reverse]\nacknowledgments = { hold = \"5 ms\" }\n\
         [[link.l.change]]\nat = \"14 ms\"\nrate = \"4 Mbit/s\"\n\
         [[link.l.change]]\nat = \"33 ms\"\nrate = \"2 Mbit/s\"\n"
        .to_owned()
        + &flow("one", 0, 1)
        + &flow("three", 30, 3);
    let (scenario, library) = watched(&text);
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(1000) {}
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let books = library.lock().expect("nobody panicked");
    for (port, expected) in [(0, vec![0, 1, 30, 32, 35]), (1, vec![16])] {
        let known = open(&books[port]).known.clone();
        for (now, rate) in &known {
            let megabits =
                if *now < at(14) { None } else { Some(if *now < at(33) { 4 } else { 2 }) };
            assert_eq!(*rate, megabits.map(|it| Rate(it * 1_000_000)), "{now:?}: {known:?}");
        }
        let seen = |millis: &u64| known.iter().any(|(now, _)| *now == at(*millis));
        assert!(expected.iter().all(seen), "{known:?}");
    }
}

/// Five packets of 300 bytes leave in each opportunity, every 10 ms, and arrive together. They might pass one another on the
/// wire, but none is late: if those of one instant came in another order, the first would be taken for lost.
#[test]
fn packets_of_an_instant_keep_their_order_on_a_wire_on_which_they_need_not() {
    for jitter in ["", "jitter = { most = \"0 s\", ordered = false }\n"] {
        let text = format!(
            "duration = \"1 s\"\n[link.l]\ntrace = {{ mahimahi = \"10\" }}\ndelay = \"5 ms\"\nbuffer = \"90 packets\"\n{jitter}\
             [link.l.reverse]\ntrace = \"none\"\nrate = \"8 Mbit/s\"\n\
             [[flow]]\nname = \"five\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"20 ms\"\npacket = \"300 B\"\n\
             initial_window = 10\nsize = \"20 packets\"\n"
        );
        let recording = record(&text, false);
        assert_eq!(numbers(&recording, "flows", "retransmitted"), [0.0], "{jitter}");
        assert_eq!(numbers(&recording, "flows", "delivered"), [20.0], "{jitter}");
    }
}
