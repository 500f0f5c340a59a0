//! Short flows that arrive at random: how many, how large, how long, and what is reported about them.

use crate::support;
use longfat_sim::{Column, Options, Recording, Simulation, Table};

fn record(text: &str) -> Recording {
    support::record(text, false)
}

fn reals<'a>(table: &'a Table, column: &str) -> &'a [f64] {
    match table.columns.iter().find(|(name, _)| *name == column) {
        Some((_, Column::Real(values))) => values,
        other => panic!("{column} is {other:?}"),
    }
}

fn counts<'a>(table: &'a Table, column: &str) -> &'a [u64] {
    match table.columns.iter().find(|(name, _)| *name == column) {
        Some((_, Column::Count(values))) => values,
        other => panic!("{column} is {other:?}"),
    }
}

/// Web traffic of the EXP-TCP paper on a link that nothing else crosses, 30 packets on average.
const WEB: &str = r#"
    duration = "400 s"
    [link.wire]
    rate   = "500 Mbit/s"
    delay  = "10 ms"
    buffer = "1 bdp"
    bdp    = "80 ms"
    [[traffic]]
    name     = "web"
    control  = "reno"
    path     = ["wire"]
    arrivals = { load = "3.2 %" }
    size     = { pareto = { mean = "30 packets", shape = 1.35 } }
    rtt      = { uniform = ["60 ms", "100 ms"] }
    packet   = "1000 B"
"#;

#[test]
fn arrivals_and_sizes_are_those_asked_for() {
    let recording = record(WEB);
    let web = &recording.summary.traffic["web"];
    // 3.2 % of 500 Mbit/s in transfers of 30 kB: 66.7 per second (4.17 for each 0.2 %). In 400 s 26 667 arrive, give or
    // take 163.
    let arrived = web["arrived"].as_u64().expect("a count");
    assert!(arrived.abs_diff(26_667) < 700, "{arrived} arrivals");
    let packets = counts(recording.table("transfers").expect("the table"), "packets");
    // Pareto with shape 1.35 and mean 30 begins at 30·0.35/1.35 = 7.78 packets: nothing is smaller than 8, and half are
    // larger than 7.78·2^(1/1.35) = 13.0.
    assert_eq!(packets.iter().min(), Some(&8));
    let larger =
        packets.iter().filter(|&&packets| packets > 13).count() as f64 / packets.len() as f64;
    assert!((larger - 0.5).abs() < 0.02, "{larger} are larger than the median");
    // One transfer in a thousand has more than 7.78·1000^(1/1.35) = 1298 packets.
    let largest = packets.iter().filter(|&&packets| packets > 1298).count();
    assert!((10..=50).contains(&largest), "{largest} of {} are very large", packets.len());
}

#[test]
fn what_is_told_of_completion_times_is_right_within_a_percent() {
    let recording = record(WEB);
    let told = &recording.summary.traffic["web"]["completion_s"];
    let number = |key: &str| told[key].as_f64().expect("a number");
    let mut times =
        reals(recording.table("transfers").expect("the table"), "completion_s").to_vec();
    times.retain(|time| !time.is_nan());
    times.sort_by(f64::total_cmp);
    let quantile = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    for (told, exact) in
        [(number("mean"), mean), (number("p50"), quantile(0.5)), (number("p99"), quantile(0.99))]
    {
        assert!((told / exact - 1.0).abs() < 0.01, "told {told}, exact {exact}");
    }
    // Thirteen packets in windows of 10 and 20 take one and a half round trips of 60 to 100 ms to arrive.
    assert!((0.09..0.16).contains(&number("p50")), "median {}", number("p50"));
}

#[test]
fn transfers_taken_during_the_run_are_those_of_the_table() {
    let whole = record(WEB);
    let mut simulation = Simulation::new(&support::read(WEB), false);
    let mut starts = Vec::new();
    let mut more = true;
    while more {
        more = simulation.advance(50_000);
        if simulation.transfers_waiting() >= 1000 {
            starts.extend_from_slice(reals(&simulation.take_transfers(), "start_s"));
            assert_eq!(simulation.transfers_waiting(), 0);
        }
    }
    let rest = simulation.finish();
    assert!(!starts.is_empty());
    starts.extend_from_slice(reals(rest.table("transfers").expect("the table"), "start_s"));
    assert_eq!(starts, reals(whole.table("transfers").expect("the table"), "start_s"));
    assert_eq!(rest.summary, whole.summary);
}

/// Transfers of 10, 20 and 40 packets: the first is over before the measured interval, the second has then sent its first
/// window of ten, and the third begins in it.
#[test]
fn what_transfers_sent_before_the_measured_interval_is_not_counted_in_it() {
    let recording = record(
        r#"
        duration = "5 s"
        warmup   = "1.05 s"
        [link.wire]
        rate   = "100 Mbit/s"
        delay  = "10 ms"
        buffer = "1 bdp"
        [[traffic]]
        name    = "listed"
        control = "reno"
        path    = ["wire"]
        rtt     = "100 ms"
        packet  = "1000 B"
        replay  = { tick = "1 ms", list = "0 10000, 1000 20000, 500 40000" }
        "#,
    );
    let told = &recording.summary.traffic["listed"];
    assert_eq!((told["data_sent"].as_u64(), told["completed"].as_u64()), (Some(50), Some(2)));
}

/// More transfers at once than a block of the calendar has flows, that come and go while their link drops packets.
#[test]
fn thousands_of_transfers_at_once_come_out_the_same_in_turns() {
    let scenario = support::read(
        r#"
        duration = "400 ms"
        warmup   = "100 ms"
        [link.wire]
        rate   = "10 Gbit/s"
        delay  = "10 ms"
        buffer = "1000 packets"
        [[traffic]]
        name     = "web"
        control  = "reno"
        path     = ["wire"]
        arrivals = { poisson = "80000 /s" }
        size     = { pareto = { mean = "12 packets", shape = 1.35 } }
        rtt      = { uniform = ["60 ms", "100 ms"] }
        "#,
    );
    let run = |options| {
        let mut simulation = Simulation::with_options(&scenario, options);
        let takes_turns = simulation.takes_turns();
        while simulation.advance(100_000) {}
        let mut recording = simulation.finish();
        recording.summary.engine.events = 0;
        (takes_turns, recording)
    };
    let (takes_turns, in_turns) = run(Options::default());
    assert!(takes_turns);
    let (takes_turns, in_order) = run(Options::default().in_order(true));
    assert!(!takes_turns);
    let told = &in_turns.summary.traffic["web"];
    let [arrived, completed, dropped] =
        ["arrived", "completed", "data_dropped"].map(|key| told[key].as_u64().expect("a count"));
    let table = in_turns.table("transfers").expect("the table");
    let rows = reals(table, "start_s").iter().zip(reals(table, "acknowledged_s"));
    let live = rows.filter(|(_, acknowledged)| acknowledged.is_nan()).map(|(start, _)| start);
    assert!(live.is_sorted(), "those that have not ended come as they began");
    assert!(completed > 15_000 && arrived > completed + 5_000 && dropped > 1_000, "{told}");
    assert!(
        format!("{in_turns:?}") == format!("{in_order:?}"),
        "{}",
        in_order.summary.traffic["web"]
    );
}

#[test]
fn a_lone_transfer_takes_the_time_that_its_windows_take() {
    // Thirty packets of 1000 bytes at 8 Mbit/s, 1 ms each, 100 ms round trip, initial window 10: ten at 0, ten more
    // pairs from 100 ms on as acknowledgments come every millisecond. The 30th leaves with the tenth of these, at
    // 100 ms + 10 · 1 ms + 0.04 ms of acknowledgment, behind 19 others sent since 101.04 ms: its last bit is on the
    // wire at 101.04 + 20 ms, and there 50 ms later.
    let recording = record(
        r#"
        duration = "10 s"
        [link.wire]
        rate   = "8 Mbit/s"
        delay  = "50 ms"
        buffer = "100 packets"
        [[traffic]]
        name     = "one"
        control  = "reno"
        path     = ["wire"]
        arrivals = { poisson = "1000 /s" }
        count    = 1
        size     = "30 packets"
        rtt      = "100 ms"
        packet   = "1000 B"
        "#,
    );
    let table = recording.table("transfers").expect("the table");
    let times = reals(table, "completion_s");
    assert_eq!(times.len(), 1);
    assert!((times[0] - 0.17104).abs() < 1e-9, "{}", times[0]);
    // Its acknowledgment takes 0.04 ms and 50 ms back.
    let acknowledged = reals(table, "acknowledged_s")[0];
    assert!((acknowledged - 0.22108).abs() < 1e-9, "{acknowledged}");
    // 30 packets of 8000 bits in 10 s, over 171.04 ms.
    let one = &recording.summary.traffic["one"];
    let number = |key: &str| one[key].as_f64().expect("a number");
    assert!((number("throughput_bit_s") - 24_000.0).abs() < 1e-6);
    assert!((number("power_bit_s2") / (24_000.0 / 0.17104) - 1.0).abs() < 1e-9);
}

#[test]
fn transfers_know_their_place_in_the_order_of_arrival() {
    let recording = record(WEB);
    let table = recording.table("transfers").expect("the table");
    let mut rows: Vec<(u64, f64)> = counts(table, "index")
        .iter()
        .copied()
        .zip(reals(table, "start_s").iter().copied())
        .collect();
    rows.sort_by_key(|(index, _)| *index);
    assert!(rows.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1));
    let arrived = recording.summary.traffic["web"]["arrived"].as_u64().expect("a count");
    let last = rows.last().expect("there are transfers").0;
    assert!(
        last < arrived && arrived - last < 100,
        "{arrived} arrived, the last that is complete is {last}"
    );
}

/// A packet of 1000 bytes takes a millisecond and 50 ms to its receiver; its acknowledgment 0.04 ms and 50 ms back.
fn listed(top: &str, traffic: &str) -> Recording {
    record(&format!(
        "{top}\n[link.wire]\nrate = \"8 Mbit/s\"\ndelay = \"50 ms\"\nbuffer = \"100 packets\"\n[[traffic]]\nname = \"listed\"\n\
         control = \"reno\"\npath = [\"wire\"]\nrtt = \"100 ms\"\npacket = \"1000 B\"\n{traffic}\n"
    ))
}

/// One packet, sent at once: it arrives at 51 ms. What happens as the measured interval begins, and as it ends, is in it.
#[test]
fn a_transfer_counts_where_it_is_complete() {
    let one = "replay = { tick = \"1 ms\", list = \"0 1000\" }";
    for (warmup, duration, completed, sent) in [
        ("0 s", "51 ms", 1, 1),
        ("0 s", "50.999 ms", 0, 1),
        ("51 ms", "200 ms", 1, 0),
        ("51.001 ms", "200 ms", 0, 0),
    ] {
        let top = format!("duration = \"{duration}\"\nwarmup = \"{warmup}\"");
        let recording = listed(&top, one);
        let told = &recording.summary.traffic["listed"];
        assert_eq!((&told["arrived"], &told["completed"]), (&1.into(), &completed.into()), "{top}");
        assert_eq!(told["data_sent"], sent, "{top}");
        let times = reals(recording.table("transfers").expect("the table"), "completion_s");
        assert_eq!(times[0].is_nan(), duration == "50.999 ms", "{top}");
    }
    // One that begins with the interval is sent in it, and its size is told in bytes of packets.
    let recording = listed(
        "duration = \"1 s\"\nwarmup = \"200 ms\"",
        "replay = { tick = \"1 ms\", list = \"200 1500\" }",
    );
    assert_eq!(recording.summary.traffic["listed"]["data_sent"], 2);
    assert_eq!(recording.summary.traffic["listed"]["goodput_bit_s"], 16_000.0 / 0.8);
    let table = recording.table("transfers").expect("the table");
    assert_eq!((counts(table, "packets"), counts(table, "bytes")), (&[2][..], &[2000][..]));
}

#[test]
fn no_transfer_of_a_list_or_at_random_arrives_when_the_group_has_stopped() {
    let recording = listed(
        "duration = \"1 s\"",
        "stop = \"10 ms\"\nreplay = { tick = \"1 ms\", list = \"0 1000,5 1000,5 1000\" }",
    );
    assert_eq!(recording.summary.traffic["listed"]["arrived"], 2);
    let recording = listed(
        "duration = \"4 s\"",
        "arrivals = { poisson = \"100 /s\" }\nsize = \"1 packet\"\nstart = \"1 s\"\nstop = \"3 s\"",
    );
    let starts = reals(recording.table("transfers").expect("the table"), "start_s");
    // 200, give or take 14.
    assert!(starts.len().abs_diff(200) < 60, "{}", starts.len());
    assert!(starts.iter().all(|start| (1.0..3.0).contains(start)));
}

/// The third packet of the first transfer leaves at 100 ms and is acknowledged 200 ms after it has come, which is heard at
/// 799 ms: 400 ms later than it used to be, and 199 ms after it was sent again, in vain. That one comes at 650 ms, and its
/// acknowledgment is held until 850 ms and arrives at 1299 ms, when the second transfer waits for that of its own first two:
/// it hears them at 1399 ms, and its third is there 50 ms later.
#[test]
fn an_acknowledgment_that_is_held_belongs_to_the_transfer_that_it_is_of() {
    let recording = record(
        r#"
        duration = "3 s"
        [link.wire]
        rate  = "1 Gbit/s"
        delay = "1 ms"
        [[link.wire.change]]
        at      = "120 ms"
        delay   = "400 ms"
        reverse = true
        [[traffic]]
        name           = "listed"
        control        = "reno"
        path           = ["wire"]
        rtt            = "100 ms"
        recovery       = "quic"
        initial_window = 2
        delayed_ack    = true
        ack_delay      = "200 ms"
        replay         = { tick = "1 ms", list = "0 4500,900 4500" }
        "#,
    );
    let table = recording.table("transfers").expect("the table");
    for (column, expected) in [("completion_s", [0.150, 0.549]), ("acknowledged_s", [0.799, 1.198])]
    {
        for (found, expected) in reals(table, column).iter().zip(expected) {
            assert!((found - expected).abs() < 2e-4, "{column}: {found}, not {expected}");
        }
    }
}

/// A long flow of two packets, from 10 ms on: they arrive 51 and 52 ms later, and the acknowledgment of the second 50.04 ms
/// after that, as the run ends. One without an end is none.
#[test]
fn a_long_flow_of_a_size_is_a_transfer_too() {
    let recording = record(
        r#"
        duration = "112.04 ms"
        [link.wire]
        rate   = "8 Mbit/s"
        delay  = "50 ms"
        [[flow]]
        name    = "endless"
        control = "reno"
        path    = ["wire"]
        reverse = true
        rtt     = "100 ms"
        start   = "112 ms"
        [[flow]]
        name    = "long"
        control = "reno"
        path    = ["wire"]
        rtt     = "100 ms"
        packet  = "1000 B"
        size    = "1001 B"
        start   = "10 ms"
        [[traffic]]
        name    = "short"
        control = "reno"
        path    = ["wire"]
        rtt     = "100 ms"
        packet  = "500 B"
        replay  = { tick = "1 ms", list = "100 500" }
        "#,
    );
    let table = recording.table("transfers").expect("the table");
    assert_eq!((counts(table, "index"), counts(table, "bytes")), (&[0, 0][..], &[2000, 500][..]));
    assert_eq!(table.rows(), 2);
    let Column::Word(groups, names) = &table.columns[0].1 else { panic!("{table:?}") };
    assert_eq!(
        groups.iter().map(|group| &*names[*group as usize]).collect::<Vec<_>>(),
        ["long", "short"]
    );
    for (column, expected) in
        [("start_s", 0.01), ("completion_s", 0.052), ("acknowledged_s", 0.10204)]
    {
        let found = reals(table, column)[0];
        assert!((found - expected).abs() < 1e-12, "{column}: {found}");
    }
}
