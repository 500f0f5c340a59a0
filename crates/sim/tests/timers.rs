//! When a controller is called that asks for a time.

use crate::support::numbers;
use longfat_control::{
    Congestion, CongestionControl, Controller, Feedback, Path, Probe, Sending, Start, Wants,
};
use longfat_scenario::Catalogue;
use longfat_sim::{Options, Recording, Scenario, Simulation};
use longfat_units::parameter::Settings;
use longfat_units::{Segments, Span, Time};

/// A window of ten. With every acknowledgment it asks for a call, a round trip ago.
#[derive(Clone, Debug, Default)]
struct Late {
    now: Time,
    alarm: Option<Time>,
    acknowledgments: u32,
    calls: u32,
    at_other_times: u32,
}

impl CongestionControl for Late {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        self.now = feedback.now;
        self.acknowledgments += 1;
        self.alarm = Some(Time(feedback.now.0.saturating_sub(path.rtt.0)));
    }

    fn on_congestion(&mut self, _: &Congestion, _: &Path) {}

    fn timer(&self) -> Option<Time> {
        self.alarm
    }

    fn on_timer(&mut self, now: Time, _: &Path) {
        self.alarm = None;
        self.calls += 1;
        self.at_other_times += u32::from(now != self.now);
    }

    fn window(&self) -> Segments {
        Segments(10.0)
    }

    fn wants(&self) -> Wants {
        Wants { timer: true, ..Wants::NOTHING }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("acknowledgments", self.acknowledgments.into());
        probe.value("calls", self.calls.into());
        probe.value("at_other_times", self.at_other_times.into());
    }
}

/// Asks for a call after a second, and when that has come for the same again.
#[derive(Clone, Debug)]
struct Stuck;

impl CongestionControl for Stuck {
    fn on_feedback(&mut self, _: &Feedback, _: &Path) {}

    fn on_congestion(&mut self, _: &Congestion, _: &Path) {}

    fn timer(&self) -> Option<Time> {
        Some(Time::ZERO + Span::from_seconds(1))
    }

    fn window(&self) -> Segments {
        Segments(10.0)
    }

    fn wants(&self) -> Wants {
        Wants { timer: true, ..Wants::NOTHING }
    }
}

/// Ten acknowledgments come within 10 ms of each 100; heard one at a time, or before their time where nothing is in between.
fn late(stepwise: bool) -> Recording {
    run(|_, _| Sending::Windowed(Box::<Late>::default()), stepwise)
}

fn run(build: fn(&Settings, &Start) -> Sending, stepwise: bool) -> Recording {
    let mut catalogue = Catalogue::built_in();
    catalogue.add_controller(Controller::new("late", build)).expect("the name is free");
    let text = r#"
        duration = "2 s"
        sample   = "250 ms"
        observe  = true
        [link.path]
        rate  = "8 Mbit/s"
        delay = "10 ms"
        [[flow]]
        name    = "flow"
        control = "late"
        path    = ["path"]
        rtt     = "100 ms"
        packet  = "1000 B"
    "#;
    let scenario = Scenario::read_with(&catalogue, text, "test.toml", &[], None);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let options = Options::default().record(true).stepwise(stepwise);
    let mut simulation = Simulation::with_options(&scenario, options);
    while simulation.advance(100_000) {}
    simulation.finish()
}

/// It is called once for each acknowledgment, at the time of that, however that is heard.
#[test]
fn a_time_that_has_passed_is_now() {
    for stepwise in [true, false] {
        let recording = late(stepwise);
        let last = |name| *numbers(&recording, "flow_series", name).last().expect("there are rows");
        assert!(last("acknowledgments") > 150.0, "{}", last("acknowledgments"));
        assert_eq!(last("calls"), last("acknowledgments"));
        assert_eq!(last("at_other_times"), 0.0);
        // Twenty windows leave within two seconds, one every 101.04 ms, and all of them arrive: calls take nothing away.
        assert_eq!(recording.summary.flows[0].goodput_bit_s, 200.0 * 8000.0 / 2.0);
    }
}

/// Rather than for ever.
#[test]
#[should_panic(expected = "the clock would stand still")]
fn a_timer_that_does_not_move_on_ends_the_run() {
    run(|_, _| Sending::Windowed(Box::new(Stuck)), true);
}
