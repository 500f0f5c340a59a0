//! What holds in every simulation, over random scenarios.

use std::fmt::Write;

use longfat_sim::{Options, Recording, Scenario, Simulation};
use proptest::prelude::*;

/// A random scenario as its text: what a failing test prints can be run again with `longfat run`.
fn scenarios() -> impl Strategy<Value = String> {
    let link = (
        1_u32..20,
        0_u32..8,
        prop::sample::select(vec![
            "1 packets",
            "2 packets",
            "7 packets",
            "60 packets",
            "1 bdp",
            "20 kB",
            "300 ms",
            "unlimited",
        ]),
        prop::sample::select(vec![0.0, 0.0, 0.02, 0.2]),
        prop::option::of(1_u32..20),
    );
    let flow = (
        (any::<bool>(), 1_u32..4, 0_u32..40, any::<(prop::sample::Index, prop::sample::Index)>()),
        prop::sample::select(vec![100_u32, 576, 1500, 9000]),
        prop::option::of(1_u32..300),
        prop::sample::select(vec!["sack", "newreno", "reno"]),
        any::<bool>(),
        prop::option::of(1_u32..30),
        prop::option::of(5_u32..50),
        (0_u32..500, prop::option::of(600_u32..2000)),
    );
    let controls = prop::sample::select(vec!["reno", "hstcp", "stcp", "exp", "cubic"]);
    let traffic = (
        prop::sample::select(vec!["reno", "exp", "cubic"]),
        1_u32..300,
        prop::sample::select(vec![
            r#""3 packets""#,
            r#"{ pareto = { mean = "10 packets", shape = 1.35 } }"#,
            r#"{ exponential = { mean = "5 kB" } }"#,
            r#"{ uniform = ["1 packets", "30 packets"] }"#,
        ]),
        any::<bool>(),
        prop::option::of(1_u32..50),
    );
    let many =
        (prop::collection::vec((flow, controls), 1..4), prop::collection::vec(traffic, 0..3));
    let queues = prop::sample::select(vec![
        "\"drop-tail\"",
        "\"drop-tail\"",
        "{ kind = \"red\", min = \"0.1 buffer\", max = \"0.5 buffer\" }",
    ]);
    let links = prop::collection::vec((link, queues), 1..4);
    (links, many, 0_u64..1000, 0_u32..1000).prop_map(
        |(links, (flows, traffic), seed, warmup)| {
            let mut text = format!(
                "duration = \"1.5 s\"\nwarmup = \"{warmup} ms\"\nseed = {seed}\nsample = \"20 ms\"\n"
            );
            for (index, ((rate, delay, buffer, loss, reverse), queue)) in links.iter().enumerate() {
                let queue = if *buffer == "unlimited" { "\"drop-tail\"" } else { queue };
                write!(
                    text,
                    "\n[link.l{index}]\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nbuffer = \"{buffer}\"\nloss = {loss}\nbdp = \"50 ms\"\nqueue = {queue}\n"
                )
                .expect("text grows");
                if let Some(rate) = reverse {
                    write!(text, "[link.l{index}.reverse]\nrate = \"{rate} Mbit/s\"\nbuffer = \"9 packets\"\n")
                        .expect("text grows");
                }
            }
            for (index, flow) in flows.iter().enumerate() {
                let ((reverse, count, extra, (from, to)), packet, size, recovery, delayed, max, access, (start, stop)) = &flow.0;
                let control = flow.1;
                let (a, b) = (from.index(links.len()), to.index(links.len()));
                let path = a.min(b)..=a.max(b);
                let least: u32 = links[path.clone()].iter().map(|link| 2 * link.0.1).sum();
                let names: Vec<String> = path.map(|link| format!("\"l{link}\"")).collect();
                write!(
                    text,
                    "\n[[flow]]\nname = \"f{index}\"\ncontrol = \"{control}\"\ncount = {count}\npath = [{}]\nreverse = {reverse}\n\
                     rtt = {{ spread = [\"{least} ms\", \"{} ms\"] }}\nstart = {{ uniform = [\"0 ms\", \"{start} ms\"] }}\n\
                     packet = \"{packet} B\"\nrecovery = \"{recovery}\"\ndelayed_ack = {delayed}\n",
                    names.join(", "),
                    least + extra,
                )
                .expect("text grows");
                for (key, value) in [
                    ("size", size.map(|size| format!("\"{size} packets\""))),
                    ("max_window", max.map(|max| max.to_string())),
                    ("access", access.map(|access| format!("\"{access} Mbit/s\""))),
                    ("stop", stop.map(|stop| format!("\"{stop} ms\""))),
                ] {
                    if let Some(value) = value {
                        writeln!(text, "{key} = {value}").expect("text grows");
                    }
                }
            }
            for (index, (control, rate, size, reverse, count)) in traffic.iter().enumerate() {
                let least: u32 = links.iter().map(|link| 2 * link.0.1).sum();
                let names: Vec<String> = (0..links.len()).map(|link| format!("\"l{link}\"")).collect();
                write!(
                    text,
                    "\n[[traffic]]\nname = \"t{index}\"\ncontrol = \"{control}\"\npath = [{}]\nreverse = {reverse}\n\
                     arrivals = {{ poisson = \"{rate} /s\" }}\nsize = {size}\n\
                     rtt = {{ uniform = [\"{least} ms\", \"{} ms\"] }}\n",
                    names.join(", "),
                    least + 40,
                )
                .expect("text grows");
                if let Some(count) = count {
                    writeln!(text, "count = {count}").expect("text grows");
                }
            }
            text
        },
    )
}

fn read(text: &str) -> Scenario {
    Scenario::read(text, "random.toml", &[], None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(scenario: &Scenario, options: Options) -> Recording {
    let mut simulation = Simulation::with_options(scenario, options);
    while simulation.advance(10_000) {}
    simulation.finish()
}

const PLAIN: Options = Options { record: true, stepwise: false };

/// Everything but what the simulator did.
fn told(mut recording: Recording) -> Recording {
    recording.summary.engine.events = 0;
    recording
}

/// The bytes of a recording: NaN compares equal to itself here.
fn bytes(recording: &Recording) -> String {
    format!("{recording:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every data packet sent is delivered, dropped, corrupted or in flight, at any moment.
    #[test]
    fn no_packet_appears_or_vanishes(text in scenarios()) {
        let mut simulation = Simulation::new(&read(&text), false);
        loop {
            let more = simulation.advance(997);
            let fates = simulation.fates();
            prop_assert_eq!(
                fates.sent,
                fates.delivered + fates.dropped + fates.corrupted + fates.in_flight,
                "{:?}\n{}", fates, text
            );
            let (kept, travelling) = simulation.blocks_kept();
            prop_assert_eq!(kept, travelling, "selective blocks leak\n{}", text);
            if !more {
                break;
            }
        }
    }

    /// The two kinds of server, and runs with and without time series, tell the same to the byte.
    #[test]
    fn how_a_run_is_carried_out_changes_nothing(text in scenarios()) {
        let scenario = read(&text);
        let plain = told(run(&scenario, PLAIN));
        let stepwise = told(run(&scenario, Options { stepwise: true, ..PLAIN }));
        prop_assert_eq!(bytes(&plain), bytes(&stepwise), "{}", &text);
        let silent = told(run(&scenario, Options { record: false, ..PLAIN }));
        prop_assert_eq!(
            serde_json::to_string(&plain.summary).expect("summaries are JSON"),
            serde_json::to_string(&silent.summary).expect("summaries are JSON"),
            "{}", &text
        );
        for name in ["flows", "links", "transfers"] {
            prop_assert_eq!(format!("{:?}", plain.table(name)), format!("{:?}", silent.table(name)), "{}", &text);
        }
    }

    /// What is told is possible.
    #[test]
    fn every_number_is_possible(text in scenarios()) {
        let scenario = read(&text);
        let recording = run(&scenario, PLAIN);
        for (link, directions) in &recording.summary.links {
            for (name, summary) in directions.as_object().expect("two directions") {
                let number = |key: &str| summary[key].as_f64();
                // Packets that began before the measured interval may end in it: one more than the capacity holds.
                prop_assert!(number("utilisation").is_some_and(|u| (0.0..=1.15).contains(&u)), "{link} {name} {text}");
                for key in ["queue_mean", "queue_p99", "drop_rate", "mark_rate"] {
                    prop_assert!(number(key).is_none_or(|share| (0.0..=1.0).contains(&share)), "{link} {name} {key} {text}");
                }
            }
        }
        for flow in &recording.summary.flows {
            prop_assert!(flow.goodput_bit_s >= 0.0 && (flow.window_mean.is_nan() || flow.window_mean >= 1.0), "{text}");
            prop_assert!((0.0..=1.0).contains(&flow.retransmit_rate), "{text}");
            prop_assert!(flow.completion_s.is_none_or(|done| done >= flow.rtt_s / 2.0), "{text}");
        }
        for index in recording.summary.jain.values().filter_map(serde_json::Value::as_f64) {
            prop_assert!((0.0..=1.0 + 1e-12).contains(&index), "{text}");
        }
    }
}
