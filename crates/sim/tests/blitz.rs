//! What theory promises of prioritised bursts and pushout (Kim & Farber 1995).
//!
//! The network of the paper: sources with links of their own, a bottleneck, and a link to the sinks, all at `BW_N`
//! except the bottleneck; D is the round trip, and switches hold what `BW_N` sends in it.

use crate::support;
use longfat_sim::Recording;

/// The network without its flows.
fn network(duration: &str, rate: u64, bottleneck: u64, buffer: u64) -> String {
    format!(
        r#"
        duration = "{duration}"
        [link.bottleneck]
        rate   = "{bottleneck} Mbit/s"
        delay  = "1 us"
        buffer = "{buffer} packets"
        queue  = "pushout"
        [link.exit]
        rate   = "{rate} Mbit/s"
        delay  = "1 us"
        buffer = "{buffer} packets"
        queue  = "pushout"
        "#
    )
}

/// The keys that all flows of that network have.
fn keys(control: &str, rate: u64, rtt: &str) -> String {
    format!(
        r#"
        control = {control}
        path    = ["bottleneck", "exit"]
        rtt     = "{rtt}"
        access  = "{rate} Mbit/s"
        profile = "1995"
        "#
    )
}

/// One transfer of this many packets, alone.
fn lone(control: &str, (rate, bottleneck, buffer): (u64, u64, u64), packets: u64) -> String {
    let network = network("20 s", rate, bottleneck, buffer);
    let keys = keys(control, rate, "30 ms");
    format!("{network}\n[[flow]]\nname = \"lone\"\nsize = \"{packets} packets\"\n{keys}")
}

fn run(text: &str) -> Recording {
    support::record(text, false)
}

fn dropped(recording: &Recording) -> u64 {
    recording.summary.links["bottleneck"]["forward"]["dropped"].as_u64().expect("a count")
}

fn completion(recording: &Recording) -> f64 {
    recording.summary.flows[0].completion_s.expect("the transfer is complete")
}

#[test]
fn an_unloaded_transfer_takes_half_a_round_trip_the_file_and_two_packets() {
    // D/2, then F at the rate of the bottleneck, and a packet on each of the two other links. 100 kB at 30 ms.
    for (rate, bottleneck) in [(150, 150), (150, 90), (150, 30), (1000, 1000), (1000, 200)] {
        let buffer = rate * 30_000 / 8 / 500;
        let recording = run(&lone("\"blitz\"", (rate, bottleneck, buffer), 200));
        let bits = 4000.0;
        let promised =
            15e-3 + 200.0 * bits / (bottleneck as f64 * 1e6) + 2.0 * bits / (rate as f64 * 1e6);
        let found = completion(&recording);
        assert!((found - promised).abs() < 1e-9, "{found}, promised {promised}");
        assert_eq!(dropped(&recording), 0);
        assert!(recording.summary.flows[0].window_mean.is_nan(), "there is no window");
    }
}

#[test]
fn a_sized_start_that_fits_into_the_path_takes_as_long_as_a_burst() {
    // And Reno, starting from one packet, takes some eight round trips more.
    let network = (150, 150, 1125);
    let time = |control| completion(&run(&lone(control, network, 200)));
    assert!((time("\"sized-start\"") - time("\"blitz\"")).abs() < 1e-9);
    assert!(time("\"reno\"") > time("\"sized-start\"") + 8.0 * 30e-3);
}

#[test]
fn from_15_into_3_megabits_a_lone_burst_of_200_overflows_112() {
    // Four of five packets that arrive wait: after 140 a buffer of 112 is full with one in service. Of the 60 that
    // follow a fifth finds a place, 12.
    assert_eq!(dropped(&run(&lone("\"blitz\"", (15, 3, 112), 140))), 0);
    let recording = run(&lone("\"blitz\"", (15, 3, 112), 200));
    let lost = dropped(&recording);
    assert!((47..=49).contains(&lost), "{lost} lost");
    let flow = &recording.summary.flows[0];
    assert_eq!((flow.congestion_events, flow.timeouts), (1, 0));
    // Reno's largest burst, 128 packets within a round trip, fits into 112 and the 22 of the path: nothing is lost.
    assert_eq!(dropped(&run(&lone("\"reno\"", (15, 3, 112), 200))), 0);
}

#[test]
fn a_lone_burst_loses_its_own_tail_as_with_drop_tail() {
    let pushout = lone("\"blitz\"", (15, 3, 112), 1000);
    let drop_tail = lone("{ kind = \"blitz\", priorities = false }", (15, 3, 112), 1000)
        .replace("\"pushout\"", "\"drop-tail\"");
    // In its first burst, that is: after a restart the packets of the old one are pushed out.
    let first_burst = |text: &str| run(&text.replace("20 s", "230 ms"));
    let (pushout, drop_tail) = (first_burst(&pushout), first_burst(&drop_tail));
    assert!(dropped(&pushout) > 500);
    assert_eq!(dropped(&pushout), dropped(&drop_tail));
    assert_eq!(pushout.summary.flows[0].goodput_bit_s, drop_tail.summary.flows[0].goodput_bit_s);
}

#[test]
fn at_low_load_power_is_the_rate_of_arrivals_times_the_file_over_the_response() {
    // So rare that none meets another: each takes as long as a lone transfer, 20.387 ms.
    let network = network("10000 s", 150, 150, 1125);
    let keys = keys("\"blitz\"", 150, "30 ms");
    let recording = run(&format!(
        "{network}\n[[traffic]]\nname = \"files\"\narrivals = {{ poisson = \"0.02 /s\" }}\n\
         size = \"100 kB\"\n{keys}"
    ));
    let files = &recording.summary.traffic["files"];
    let number = |key: &str| files[key].as_f64().expect("a number");
    let arrivals = number("arrived") / 10_000.0;
    assert!((0.015..0.025).contains(&arrivals), "{arrivals} /s");
    let response = 15e-3 + 202.0 * 4000.0 / 150e6;
    let power = arrivals * 800_000.0 / response;
    // The access link rounds each packet to a picosecond: 67 in all.
    assert!((number("power_bit_s2") / power - 1.0).abs() < 1e-8, "{files}, promised {power}");
}

/// A burst without an end, and late transfers of 20 packets, ten each second. Returns the late ones' summary.
fn late_transfers(priorities: bool) -> serde_json::Value {
    let control = format!("{{ kind = \"blitz\", priorities = {priorities} }}");
    let keys = keys(&control, 150, "30 ms");
    let network = network("20 s", 150, 30, 1125);
    let text = format!(
        "{network}\n[[flow]]\nname = \"long\"\n{keys}\n[[traffic]]\nname = \"late\"\nstart = \"1 s\"\n\
         arrivals = {{ poisson = \"10 /s\" }}\nsize = \"20 packets\"\n{keys}"
    );
    run(&text).summary.traffic["late"].clone()
}

#[test]
fn late_small_transfers_lose_almost_nothing_while_a_long_burst_persists() {
    // At five times the capacity of the bottleneck, four packets of five are lost. With priorities they belong to the
    // long burst; without, to anyone.
    let rate = |summary: &serde_json::Value| summary["drop_rate"].as_f64().expect("a rate");
    let (protected, exposed) = (late_transfers(true), late_transfers(false));
    assert!(rate(&protected) < 0.01, "{protected}");
    assert!(rate(&exposed) > 0.5, "{exposed}");
}
