//! Senders that pace have their acknowledgments as early as others, and what they send comes out the same.

use longfat_control::CONTROLLERS;
use longfat_sim::{Options, Scenario, Simulation};

use crate::support;

/// Every way of pacing.
const PACINGS: [&str; 5] = [
    "\"spread\"",
    "{ blocks = 3 }",
    "{ loose_blocks = 3 }",
    "{ rate = \"700 /s\" }",
    "\"controller\"",
];

fn run(text: &str, stepwise: bool) -> (f64, String) {
    let scenario =
        Scenario::read(text, "paced.toml", &[], None).unwrap_or_else(|error| panic!("{error}"));
    let options = Options::default().record(true).stepwise(stepwise);
    let mut simulation = Simulation::with_options(&scenario, options);
    while simulation.advance(1000) {}
    let mut recording = simulation.finish();
    let work = &mut recording.summary.engine;
    let events = work.events as f64 / work.data_packets as f64;
    work.events = 0;
    (events, format!("{recording:?}"))
}

#[test]
fn pacing_takes_no_events() {
    for (pacing, quantum) in PACINGS.iter().flat_map(|pacing| [(pacing, 1), (pacing, 4)]) {
        let text = format!(
            "duration = \"20 s\"\nsample = \"1 s\"\n[link.l]\nrate = \"40 Mbit/s\"\ndelay = \"10 ms\"\n\
             [[flow]]\nname = \"f\"\ncontrol = \"exp\"\ncount = 3\npath = [\"l\"]\nrtt = \"80 ms\"\n\
             pacing = {pacing}\nsend_quantum = {quantum}"
        );
        let (events, results) = run(&text, false);
        assert!(events < 1.1, "{events} events to a packet with {pacing} in groups of {quantum}");
        let (events, stepwise) = run(&text, true);
        assert!(events > 2.9, "{events} events to a packet, one at a time");
        assert_eq!(results, stepwise, "{text}");
    }
}

/// Losses end the wait for a block when its event is already set, recovery by time sets alarms and gives them up, and
/// short flows end while others wait.
#[test]
fn what_pacing_lets_go_ahead_of_time_is_what_it_lets_go_in_time() {
    for recovery in ["sack", "newreno", "rack", "quic"] {
        for (seed, pacing) in (1..=3).flat_map(|seed| PACINGS.map(|pacing| (seed, pacing))) {
            let text = format!(
                "duration = \"4 s\"\nseed = {seed}\nsample = \"70 ms\"\n\
                 [link.l]\nrate = \"8 Mbit/s\"\ndelay = \"3 ms\"\nbuffer = \"9 packets\"\nloss = 0.01\n\
                 [[flow]]\nname = \"f\"\ncontrol = \"cubic\"\ncount = 2\npath = [\"l\"]\n\
                 rtt = {{ spread = [\"20 ms\", \"50 ms\"] }}\nrecovery = \"{recovery}\"\npacing = {pacing}\n\
                 [[flow]]\nname = \"b\"\ncontrol = \"bbr3\"\npath = [\"l\"]\nrtt = \"30 ms\"\nreverse = true\n\
                 recovery = \"{recovery}\"\nsize = \"2 MB\"\n\
                 [[traffic]]\nname = \"t\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"25 ms\"\n\
                 recovery = \"{recovery}\"\npacing = {pacing}\narrivals = {{ poisson = \"20 /s\" }}\n\
                 size = {{ exponential = {{ mean = \"20 packets\" }} }}"
            );
            assert_eq!(run(&text, false).1, run(&text, true).1, "{text}");
        }
    }
}

/// Ten packets of 12 us at once take 50.12 ms; spread over a round trip the last would leave 90 ms after the first. Until the
/// first round trip is measured a scenario has nothing to pace by, whoever the controller is, and whatever it asks to be told.
#[test]
fn what_a_scenario_paces_begins_with_the_second_round_trip() {
    let mut tried = 0;
    for entry in CONTROLLERS.iter() {
        let needs = entry.needs(&entry.defaults());
        if needs.pacing || needs.priorities {
            continue;
        }
        let queue = needs.queue.unwrap_or("drop-tail");
        for recovery in ["sack", "quic"] {
            let summary = support::run(&format!(
                "duration = \"1 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\nqueue = \"{queue}\"\n\
                 [[flow]]\nname = \"f\"\ncontrol = \"{}\"\npath = [\"l\"]\nrtt = \"100 ms\"\nsize = \"10 packets\"\n\
                 access = \"100 Gbit/s\"\nrecovery = \"{recovery}\"\npacing = \"spread\"",
                entry.name
            ));
            let done = summary.flows[0].completion_s.expect("it ends");
            assert!((done - 0.050_12).abs() < 1e-4, "{}: {done} s", entry.name);
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
}
