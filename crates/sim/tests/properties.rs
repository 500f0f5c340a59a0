//! What holds in every simulation, tested on random scenarios.

use crate::random::prober;
use crate::random::{scenarios, shared_links};
use crate::support::numbers;
use longfat_sim::trace::{Stream, What};
use longfat_sim::{Column, Options, Recording, Scenario, Simulation};
use longfat_units::{Span, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn read(text: &str) -> Scenario {
    Scenario::read(text, "random.toml", &[], None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(scenario: &Scenario, options: Options) -> Recording {
    let mut simulation = Simulation::with_options(scenario, options);
    while simulation.advance(10_000) {}
    simulation.finish()
}

fn recorded() -> Options {
    Options::default().record(true)
}

/// Everything but what the simulator did.
fn told(mut recording: Recording) -> Recording {
    recording.summary.engine.events = 0;
    recording
}

/// The bytes of a recording: NaN compares equal to itself here.
fn bytes(recording: &Recording) -> String {
    format!("{recording:?}")
}

/// No link has more than 19 Mbit/s, and in half a second what wires and changes held back before it counts for little.
const MOST_BIT_S: f64 = 25e6;

proptest! {
    // Two in three random networks of shared links cannot be served in turns, however many cases are asked for.
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    /// Every data packet sent is delivered, dropped, corrupted or in flight, at any moment.
    #[test]
    fn no_packet_appears_or_vanishes(text in scenarios()) {
        let mut simulation = Simulation::new(&read(&text), false);
        loop {
            let more = simulation.advance(997);
            let fates = simulation.fates();
            prop_assert_eq!(
                fates.sent + fates.duplicated,
                fates.delivered + fates.dropped + fates.corrupted + fates.in_flight,
                "{:?}\n{}", fates, text
            );
            let (kept, travelling) = simulation.cargo_kept();
            prop_assert_eq!(kept, travelling, "cargo leaks\n{}", text);
            if !more {
                break;
            }
        }
    }

    /// The two kinds of server, and runs with and without time series, give the same results to the byte.
    #[test]
    fn how_a_run_is_carried_out_changes_nothing(text in scenarios()) {
        let scenario = read(&text);
        let plain = told(run(&scenario, recorded()));
        let stepwise = told(run(&scenario, recorded().stepwise(true)));
        prop_assert_eq!(bytes(&plain), bytes(&stepwise), "{}", &text);
        let silent = told(run(&scenario, Options::default()));
        prop_assert_eq!(
            serde_json::to_string(&plain.summary).expect("summaries are JSON"),
            serde_json::to_string(&silent.summary).expect("summaries are JSON"),
            "{}", &text
        );
        for name in ["flows", "links", "transfers"] {
            prop_assert_eq!(format!("{:?}", plain.table(name)), format!("{:?}", silent.table(name)), "{}", &text);
        }
    }

    /// Links that are served in turns give the results that they give event by event and packet by packet, to the byte,
    /// wherever a host stops.
    #[test]
    fn turns_change_nothing(text in shared_links(), portion in 1_u64..3000, step in 1_u64..80) {
        let scenario = read(&text);
        prop_assume!(Simulation::new(&scenario, true).takes_turns());
        let in_order = bytes(&told(run(&scenario, recorded().in_order(true))));
        prop_assert_eq!(&bytes(&told(run(&scenario, recorded()))), &in_order, "{}", &text);
        let stepwise = bytes(&told(run(&scenario, recorded().stepwise(true))));
        prop_assert_eq!(&stepwise, &in_order, "{}", &text);
        let mut simulation = Simulation::with_options(&scenario, recorded());
        let mut until = Time::ZERO;
        while simulation.advance_to(until) {
            simulation.advance(portion);
            let fates = simulation.fates();
            let known = fates.delivered + fates.dropped + fates.corrupted + fates.in_flight;
            prop_assert_eq!(fates.sent, known, "{:?}\n{}", fates, text);
            let (kept, travelling) = simulation.cargo_kept();
            prop_assert_eq!(kept, travelling, "cargo leaks\n{}", text);
            until = simulation.now() + Span::from_millis(step);
        }
        prop_assert_eq!(&bytes(&told(simulation.finish())), &in_order, "{}", &text);
        let in_order = told(run(&scenario, Options::default().in_order(true)));
        prop_assert_eq!(bytes(&told(run(&scenario, Options::default()))), bytes(&in_order), "{}", &text);
    }

    /// Who traces a run changes nothing of it, and sees every packet that leaves, once, and every retransmission.
    #[test]
    fn tracing_changes_nothing(text in prop_oneof![3 => scenarios(), 1 => shared_links()]) {
        let scenario = read(&text);
        let plain = bytes(&told(run(&scenario, recorded())));
        for detail in [false, true] {
            let mut simulation = Simulation::with_options(&scenario, recorded());
            simulation.trace(detail, |_| true);
            let (mut last, mut sent, mut again) = (Time::ZERO, BTreeSet::new(), BTreeMap::<_, u64>::new());
            let (mut heard, mut more) = (BTreeSet::new(), true);
            while more {
                more = simulation.advance(997);
                for event in simulation.take_trace(!more) {
                    prop_assert!(event.time >= last, "{:?} is late\n{}", event, &text);
                    last = event.time;
                    match &event.what {
                        What::Sent(packet) => {
                            let is_new = sent.insert((event.stream, packet.number.packet));
                            prop_assert!(is_new, "{:?} leaves twice\n{}", event, &text);
                            *again.entry(event.stream).or_default() += u64::from(packet.again);
                        }
                        What::Heard(ack) => {
                            for number in ack.packets.iter().flat_map(|&(first, last)| first..=last) {
                                let number = (event.stream, number);
                                prop_assert!(sent.contains(&number) && heard.insert(number), "{:?}\n{}", event, &text);
                            }
                        }
                        What::Lost(lost) => {
                            prop_assert!(sent.contains(&(event.stream, lost.packet)), "{:?}\n{}", event, &text);
                        }
                        _ => {}
                    }
                }
            }
            prop_assert_eq!(simulation.fates().sent, sent.len() as u64, "{}", &text);
            let recording = told(simulation.finish());
            let resent = |table: &str, column: &str| numbers(&recording, table, column).iter().sum::<f64>();
            let short = |(stream, again): (&Stream, &u64)| if matches!(stream, Stream::Short(..)) { *again } else { 0 };
            if scenario.flows.iter().all(|flow| flow.size.is_none()) {
                prop_assert_eq!(again.iter().map(short).sum::<u64>() as f64, resent("transfers", "retransmitted"));
            }
            prop_assert_eq!(bytes(&recording), plain.as_str(), "{}", &text);
        }
    }

    /// A controller that asks for everything is told the same however a run is carried out, loses no packet and leaves
    /// no header behind.
    #[test]
    fn who_asks_for_everything_is_told_the_same(text in scenarios()) {
        let text = ["reno", "hstcp", "exp", "cubic"]
            .iter()
            .fold(text, |text, name| {
                text.replace(&format!("control = \"{name}\""), "control = \"prober\"")
            });
        let scenario = Scenario::read_with(&prober::catalogue(), &text, "random.toml", &[], None)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let plain = told(run(&scenario, recorded()));
        let stepwise = told(run(&scenario, recorded().stepwise(true)));
        prop_assert_eq!(bytes(&plain), bytes(&stepwise), "{}", &text);
        let mut simulation = Simulation::new(&scenario, false);
        while simulation.advance(997) {
            let fates = simulation.fates();
            let known = fates.delivered + fates.dropped + fates.corrupted + fates.in_flight;
            prop_assert_eq!(fates.sent + fates.duplicated, known, "{:?}\n{}", fates, text);
            let (kept, travelling) = simulation.cargo_kept();
            prop_assert_eq!(kept, travelling, "cargo leaks\n{}", text);
        }
    }

    /// Where no packet has a priority, pushout is drop tail, to the byte.
    #[test]
    fn pushout_among_equals_is_drop_tail(text in scenarios()) {
        let plain = told(run(&read(&text), recorded()));
        let mut pushout = told(run(&read(&text.replace("\"drop-tail\"", "\"pushout\"")), recorded()));
        pushout.summary.scenario.clone_from(&plain.summary.scenario);
        prop_assert_eq!(bytes(&plain), bytes(&pushout), "{}", &text);
    }

    /// Every reported number is possible.
    #[test]
    fn every_number_is_possible(text in scenarios()) {
        let scenario = read(&text);
        let recording = run(&scenario, recorded());
        for (link, directions) in &recording.summary.links {
            for (name, summary) in directions.as_object().expect("two directions") {
                let number = |key: &str| summary[key].as_f64();
                prop_assert!(number("utilisation").is_some_and(|u| (0.0..=1.0).contains(&u)), "{link} {name} {text}");
                for key in ["queue_mean", "queue_p99", "drop_rate", "mark_rate"] {
                    prop_assert!(
                        number(key).is_none_or(|share| (0.0..=1.0).contains(&share)),
                        "{link} {name} {key} {text}"
                    );
                }
            }
        }
        let series = recording.table("link_series").expect("it was recorded");
        let used = series.columns.iter().find(|(name, _)| *name == "utilisation").map(|(_, column)| column);
        let Some(Column::Real(used)) = used else { panic!("the series has a utilisation") };
        prop_assert!(used.iter().all(|share| (0.0..=1.0).contains(share)), "{used:?} {text}");
        // A link whose delay changes may be shorter than at first, when `rtt_s` is measured.
        let steady = !text.contains(".change]]");
        for group in recording.summary.traffic.values() {
            let goodput = group["goodput_bit_s"].as_f64();
            prop_assert!(goodput.is_some_and(|goodput| (0.0..MOST_BIT_S).contains(&goodput)), "{text}");
        }
        for flow in &recording.summary.flows {
            prop_assert!((0.0..MOST_BIT_S).contains(&flow.goodput_bit_s), "{text}");
            let window = flow.window_mean;
            prop_assert!(window.is_nan() || (1.0..f64::INFINITY).contains(&window), "{text}");
            prop_assert!((0.0..=1.0).contains(&flow.retransmit_rate), "{text}");
            prop_assert!((0.0..=1.0).contains(&flow.drop_rate), "{text}");
            prop_assert!(
                !steady || flow.completion_s.is_none_or(|done| done >= flow.rtt_s / 2.0),
                "{text}"
            );
        }
        // Links count acknowledgments too.
        let by_flow: u64 = recording.summary.flows.iter().map(|flow| flow.data_dropped).sum();
        let count = |value: &serde_json::Value| value.as_u64().expect("a count");
        let by_group: u64 =
            recording.summary.traffic.values().map(|group| count(&group["data_dropped"])).sum();
        let by_link: u64 = recording
            .summary
            .links
            .values()
            .flat_map(|link| [&link["forward"], &link["reverse"]])
            .map(|direction| count(&direction["dropped"]))
            .sum();
        prop_assert!(by_flow + by_group <= by_link, "{by_flow} + {by_group}, {by_link}: {text}");
        for index in recording.summary.jain.values().filter_map(serde_json::Value::as_f64) {
            prop_assert!((0.0..=1.0).contains(&index), "{text}");
        }
    }
}
