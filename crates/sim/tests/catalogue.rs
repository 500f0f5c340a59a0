//! Controllers and queues that are not built in: a scenario chooses them, the simulator runs them.

use longfat_control::{Cause, Controller, Operating, WindowLaw};
use longfat_queue::{Arrival, Built, Discipline, Policy, Verdict};
use longfat_scenario::Catalogue;
use longfat_sim::{Scenario, Simulation};
use longfat_units::parameter::Parameter;
use rand_core::Rng;
use serde_json::{Map, Value};

const TEXT: &str = r#"
duration = "5 s"

[link.bottleneck]
rate = "100 Mbit/s"
delay = "10 ms"
loss = 1e-4
buffer = "200 packets"
queue = { kind = "mine", limit = "100 packets" }

[[flow]]
name = "long"
control = { kind = "mine", share = 0.5 }
path = ["bottleneck"]
rtt = "40 ms"

[[flow]]
name = "built-on"
control = { kind = "anti-ecn", on = "mine" }
path = ["bottleneck"]
rtt = "60 ms"

[[traffic]]
name = "short"
control = "mine"
path = ["bottleneck"]
rtt = "40 ms"
arrivals = { poisson = "20 /s" }
size = "20 packets"
"#;

/// Reno, except for the share that it gives up.
#[derive(Clone, Debug)]
struct Mine {
    segments_per_round_trip: f64,
    share: f64,
}

impl WindowLaw for Mine {
    fn gain(&self, at: &Operating) -> f64 {
        self.segments_per_round_trip / at.window.0
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        self.share
    }
}

/// Tail drop before the buffer is full.
#[derive(Debug)]
struct Limit(f64);

impl Policy for Limit {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn Rng) -> Verdict {
        if arrival.backlog.packets as f64 >= self.0 { Verdict::Drop } else { Verdict::Keep }
    }
}

/// The built-in entries, and one controller and one queue called `mine`, whose name and constant are known only at run
/// time.
fn catalogue(segments_per_round_trip: f64) -> Catalogue {
    let name: String = ["mi", "ne"].concat();
    let mut catalogue = Catalogue::built_in();
    let controller = Controller::of_law(name.clone(), move |settings| Mine {
        segments_per_round_trip,
        share: settings.number("share"),
    });
    let share = Parameter::number("share", 0.5, 0.0, 1.0, "what a loss takes");
    catalogue.add_controller(controller.parameters([share])).expect("the name is free");
    let discipline = Discipline::new(name, |settings, _| {
        Built::Fifo(Some(Box::new(Limit(settings.number("limit")))))
    });
    let limit = Parameter::length("limit", "1 buffer", "drops above it");
    catalogue.add_discipline(discipline.parameters([limit])).expect("the name is free");
    catalogue
}

/// What the flows received and lost, and when the short ones ended.
fn simulated(scenario: &Scenario) -> (Vec<(f64, u64)>, Map<String, Value>) {
    let mut simulation = Simulation::new(scenario, false);
    while simulation.advance(100_000) {}
    let recording = simulation.finish();
    let flows = recording.summary.flows.iter();
    let flows = flows.map(|flow| (flow.goodput_bit_s, flow.data_dropped)).collect();
    (flows, recording.summary.traffic)
}

#[test]
fn what_is_added_is_chosen_simulated_and_written_back() {
    let reno = catalogue(1.0);
    let scenario = Scenario::read_with(&reno, TEXT, "mine.toml", &[], None)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.flows[0].control.kind(), &scenario.catalogue), ("mine", &reno));
    let text = scenario.to_toml();
    assert!(text.contains(r#"queue = { kind = "mine", limit = "100 packets" }"#), "{text}");
    assert!(text.contains(r#"on = "mine""#), "{text}");
    let again = Scenario::read_with(&reno, &text, "again.toml", &[], None);
    assert_eq!(again.as_ref(), Ok(&scenario));

    // With Reno's numbers it is Reno, and a limit below the buffer is a smaller buffer.
    let built_in = TEXT
        .replace(r#"{ kind = "mine", share = 0.5 }"#, r#""reno""#)
        .replace(r#"control = "mine""#, r#"control = "reno""#)
        .replace(r#"on = "mine""#, r#"on = "reno""#)
        .replace(r#"queue = { kind = "mine", limit = "100 packets" }"#, "")
        .replace("200 packets", "100 packets");
    let built_in =
        Scenario::read(&built_in, "reno.toml", &[], None).unwrap_or_else(|error| panic!("{error}"));
    let found = simulated(&scenario);
    assert_eq!(found, simulated(&built_in));
    assert!(found.0.iter().any(|(_, dropped)| *dropped > 0), "the limit must matter: {found:?}");

    // The same name means something else in another catalogue.
    let eager = Scenario::read_with(&catalogue(10.0), TEXT, "mine.toml", &[], None);
    assert_ne!(found, simulated(&eager.expect("it is right")));
}

#[test]
fn what_is_not_added_is_not_known() {
    let error = Scenario::read(TEXT, "mine.toml", &[], None).expect_err("nothing is called `mine`");
    let message = error.to_string();
    assert!(message.contains("there is no controller called `mine`"), "{message}");
    assert!(message.contains("there is no queue called `mine`"), "{message}");
}
