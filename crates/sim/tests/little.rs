//! Little's law in every summary: the mean queue is the rate of arrivals times the mean time that each one waits.
//!
//! A witness stands before every queue and writes down when each packet comes and goes. What it saw must give the
//! queue of the summary, which is an integral over time kept by other code; and with the witness, every number must be
//! what it is without, where most links know departures ahead and never ask a queue.

use crate::random::scenarios;
use crate::support::witness::{open, watched};
use longfat_sim::summary::Summary;
use longfat_sim::{Options, Recording, Scenario, Simulation};
use longfat_units::{Span, Time};
use proptest::prelude::*;

fn run(scenario: &Scenario) -> Recording {
    let mut simulation = Simulation::with_options(scenario, Options::default().record(true));
    while simulation.advance(10_000) {}
    simulation.finish()
}

fn bytes(recording: &Recording) -> String {
    let mut recording = recording.clone();
    recording.summary.engine.events = 0;
    format!("{recording:?}")
}

/// The summary of each direction, in the order in which queues are built.
fn directions(summary: &Summary) -> impl Iterator<Item = (String, &serde_json::Value)> {
    summary.links.iter().flat_map(|(name, link)| {
        ["forward", "reverse"].map(|way| (format!("{name}, {way}"), &link[way]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// J. D. C. Little, "A proof for the queuing formula L = λW", Operations Research 9(3), 1961: here for a finite
    /// time, with what its edges add. No tolerance: both sides are sums of whole picoseconds, divided alike.
    #[test]
    fn every_mean_queue_is_arrivals_times_waiting(text in scenarios()) {
        let (scenario, library) = watched(&text);
        let recording = run(&scenario);
        let plain = Scenario::read(&text, "random.toml", &[], None);
        let plain = run(&plain.unwrap_or_else(|error| panic!("{error}\n{text}")));
        prop_assert_eq!(bytes(&recording), bytes(&plain), "a witness changes nothing\n{}", &text);

        let (from, end) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
        let books = library.lock().expect("nobody panicked");
        prop_assert_eq!(books.len(), directions(&plain.summary).count());
        let ways = scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse]);
        for (((name, told), book), way) in directions(&plain.summary).zip(books.iter()).zip(ways) {
            let book = open(book);
            prop_assert_eq!(told["queue_mean"].as_f64(), book.queue_mean(from, end), "{}\n{}", name, &text);
            let arrived = book.arrived.iter().map(|item| item.arrived).collect();
            let counts = [("marked", &book.marked), ("arrived", &arrived), ("dropped", &book.dropped)];
            // What a policer refuses has arrived at the link and never reaches the queue, and so has an acknowledgment
            // that takes the place of another.
            let beside = way.impairments.policer.is_some() || way.impairments.acknowledgments.is_some();
            let known = if beside { 1 } else { counts.len() };
            for (key, times) in counts.into_iter().take(known) {
                let seen = times.iter().filter(|&&time| time >= from).count() as u64;
                prop_assert_eq!(told[key].as_u64(), Some(seen), "{} {}\n{}", name, key, &text);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The same law around the whole loop, from the numbers of a flow alone: what is in flight is the rate of arrivals
    /// times the round trip. Windows never change and nothing is lost, so W packets are in flight all the time; of
    /// each, the part of its round trip beyond either edge of the measured interval is counted where it does not
    /// belong or not where it does, and goodput counts at the receiver what the round trip counts at the sender. That
    /// is at most W round trips at either edge, of T seconds.
    #[test]
    fn a_window_is_goodput_times_round_trip(
        windows in prop::collection::vec(1_u32..40, 1..6), rate in 1_u32..50, rtt in 2_u32..100
    ) {
        let flow = |(place, window): (usize, &u32)| {
            let (rtt, start) = (rtt + 7 * place as u32, 317 * place);
            format!(
                "[[flow]]\nname = \"f{place}\"\ncontrol = \"reno\"\npath = [\"wire\"]\nrtt = \"{rtt} ms\"\n\
                 initial_window = {window}\nmax_window = {window}\nrto_min = \"60 s\"\nstart = \"{start} us\"\n"
            )
        };
        let flows: Vec<String> = windows.iter().enumerate().map(flow).collect();
        let flows = flows.concat();
        let text = format!(
            "duration = \"12 s\"\nwarmup = \"2 s\"\n[link.wire]\nrate = \"{rate} Mbit/s\"\ndelay = \"1 ms\"\n\
             buffer = \"unlimited\"\n{flows}"
        );
        let scenario = Scenario::read(&text, "loop.toml", &[], None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let summary = run(&scenario).summary;
        for (flow, &window) in summary.flows.iter().zip(&windows) {
            prop_assert_eq!(flow.timeouts, 0, "{}", &text);
            let round_trip = flow.rtt_s + flow.queueing_delay_mean_s;
            let in_flight = flow.goodput_bit_s / (1500.0 * 8.0) * round_trip;
            let edges = 2.0 * f64::from(window) * round_trip / 10.0;
            prop_assert!((in_flight - f64::from(window)).abs() <= edges, "{} {}\n{}", &flow.name, in_flight, &text);
        }
    }
}

/// By hand: two packets of 1000 bytes at 8 Mbit/s take 1 ms each. The second waits for the first, 1 ms in a run of 10
/// ms, in a buffer of 5: a mean queue of 0.02 of the buffer. Measured from 0.25 ms on, nobody arrives and the wait is
/// all edge: 0.75 ms of 9.75 ms.
#[test]
fn the_edge_of_the_measured_interval_counts() {
    for (warmup, mean) in [("0 ms", 0.1 / 5.0), ("0.25 ms", 0.75 / 9.75 / 5.0)] {
        let text = format!(
            r#"
            duration = "10 ms"
            warmup   = "{warmup}"
            [link.wire]
            rate   = "8 Mbit/s"
            delay  = "1 ms"
            buffer = "5 packets"
            [[flow]]
            name    = "pair"
            control = "reno"
            path    = ["wire"]
            rtt     = "2 ms"
            size    = "2 packets"
            packet  = "1000 B"
            "#
        );
        let (scenario, library) = watched(&text);
        let summary = run(&scenario).summary;
        let told = summary.links["wire"]["forward"]["queue_mean"].as_f64().expect("a number");
        assert!((told - mean).abs() < 1e-15, "{told}, {mean} by hand");
        let books = library.lock().expect("nobody panicked");
        let from = Time::ZERO + scenario.warmup;
        let (waits, edge) = open(&books[0]).area(from, Time::ZERO + scenario.duration);
        let expected = if from == Time::ZERO {
            (Span::from_millis(1), Span::ZERO)
        } else {
            (Span::ZERO, Span(750_000_000))
        };
        assert_eq!((waits, edge), (expected.0.0.into(), expected.1.0.into()));
    }
}
