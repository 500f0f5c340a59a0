//! `observe = true`: what controllers show of themselves, as columns of the flow series.

use crate::support::{numbers, record};
use longfat_control::{
    Congestion, CongestionControl, Controller, Feedback, Path, Probe, Sending, Start,
};
use longfat_scenario::Catalogue;
use longfat_sim::{Recording, Scenario, Simulation};
use longfat_units::Segments;

/// Two flows, the second half a second later: a packet takes 1 ms, so windows of ten leave the link idle.
fn text(controls: [&str; 2], top: &str) -> String {
    let flow = |control: &str, start: &str| {
        format!(
            "[[flow]]\nname = \"{control}\"\ncontrol = \"{control}\"\npath = [\"path\"]\nrtt = \"100 ms\"\n\
             start = \"{start}\"\npacket = \"1000 B\"\n"
        )
    };
    let flows = flow(controls[0], "0 s") + &flow(controls[1], "500 ms");
    format!(
        "duration = \"2 s\"\nsample = \"250 ms\"\n{top}\n[link.path]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n{flows}"
    )
}

fn columns(recording: &Recording) -> Vec<&str> {
    let table = recording.table("flow_series").expect("there always is one");
    table.columns.iter().map(|(name, _)| &**name).collect()
}

/// What the summary says about the flows; as text, in which absent numbers are equal.
fn told(recording: &Recording) -> String {
    format!("{:?}", recording.summary.flows)
}

/// A window of ten. It counts acknowledgments, says so under a name that is taken, and speaks twice of one variable.
#[derive(Clone, Debug, Default)]
struct Counting {
    acknowledgments: u64,
}

impl CongestionControl for Counting {
    fn on_feedback(&mut self, _: &Feedback, _: &Path) {
        self.acknowledgments += 1;
    }

    fn on_congestion(&mut self, _: &Congestion, _: &Path) {}

    fn window(&self) -> Segments {
        Segments(10.0)
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("window", -1.0);
        // In another order each time.
        let count = self.acknowledgments as f64;
        if self.acknowledgments.is_multiple_of(20) {
            probe.value("acknowledgments", count);
            probe.value("round", count / 10.0);
        } else {
            probe.value("round", count / 10.0);
            probe.value("acknowledgments", count);
        }
        probe.value("round", 1e9);
    }
}

fn counting(text: &str) -> Recording {
    let mut catalogue = Catalogue::built_in();
    let build = |_: &_, _: &Start| Sending::Windowed(Box::<Counting>::default());
    catalogue.add_controller(Controller::new("counting", build)).expect("the name is free");
    let scenario = Scenario::read_with(&catalogue, text, "test.toml", &[], None);
    let mut simulation = Simulation::new(&scenario.unwrap_or_else(|error| panic!("{error}")), true);
    while simulation.advance(100_000) {}
    simulation.finish()
}

/// Ten packets leave at 0 ms and every 101.04 ms from then on: a packet takes 1 ms and its acknowledgment 40 µs. The
/// first acknowledgments of a round come at 101.04 ms, the last 9 ms later. Half a second is no multiple of that.
#[test]
fn each_row_has_what_the_controllers_show_then() {
    let recording = counting(&text(["counting", "reno"], "observe = true"));
    let shown = numbers(&recording, "flow_series", "acknowledgments");
    let flows = numbers(&recording, "flow_series", "time_s").len();
    assert_eq!(flows, 8 + 6, "the second flow has rows from its start on");
    // Rows at 250, 500, 750, 1000 ms ...; the other flow has nothing to show.
    let own: Vec<f64> = shown.iter().copied().filter(|value| !value.is_nan()).collect();
    assert_eq!(own[..2], [20.0, 40.0]);
    assert!(own.is_sorted() && own.len() == 8, "{own:?}");
    assert_eq!(shown.iter().filter(|value| value.is_nan()).count(), 6);
    let rounds = numbers(&recording, "flow_series", "round");
    for (round, count) in rounds.iter().zip(&shown) {
        assert!(*round == count / 10.0 || (round.is_nan() && count.is_nan()), "{round}, {count}");
    }
}

#[test]
fn a_name_that_is_taken_is_told_apart() {
    let recording = counting(&text(["counting", "reno"], "observe = true"));
    assert_eq!(numbers(&recording, "flow_series", "window")[0], 10.0);
    assert_eq!(numbers(&recording, "flow_series", "observed_window")[0], -1.0);
}

#[test]
fn controllers_are_observed_only_where_the_scenario_says_so() {
    let plain = record(&text(["cubic", "dctcp"], ""), true);
    let observed = record(&text(["cubic", "dctcp"], "observe = true"), true);
    let (before, after) = (columns(&plain), columns(&observed));
    assert_eq!(after[..before.len()], before);
    // In the order in which they appear: CUBIC has a maximum from its first loss on, and a time-out ends its epoch before
    // a row is due; the second flow comes later.
    assert_eq!(after[before.len()..], ["w_max", "alpha"]);
    assert_eq!(told(&observed), told(&plain));
    let scenario = observed.summary.scenario.get("observe").and_then(serde_json::Value::as_bool);
    assert_eq!((scenario, plain.summary.scenario.get("observe")), (Some(true), None));
}

/// The summary of a run that is not recorded says the same, and its table has no rows.
#[test]
fn without_time_series_nothing_is_observed() {
    let text = text(["cubic", "dctcp"], "observe = true");
    let (with, without) = (record(&text, true), record(&text, false));
    assert_eq!(told(&with), told(&without));
    assert!(!columns(&without).contains(&"alpha"));
}
