//! A host that steps a simulation from outside sees what it would have been anyway.

use longfat_scenario::Scenario;
use longfat_sim::{FlowState, Recording, Simulation};
use longfat_units::{Span, Time};

const PATH: &str = r#"
    duration = "4 s"
    warmup = "1 s"
    [link.l]
    rate = "20 Mbit/s"
    delay = "10 ms"
    buffer = "0.5 bdp"
    loss = 1e-4
    [[flow]]
    name = "there"
    control = "cubic"
    count = 2
    path = ["l"]
    rtt = { spread = ["30 ms", "50 ms"] }
    start = { uniform = ["0 s", "1 s"] }
    [[flow]]
    name = "back"
    control = "reno"
    path = ["l"]
    reverse = true
    rtt = "40 ms"
    [[traffic]]
    name = "web"
    control = "reno"
    path = ["l"]
    arrivals = { poisson = "40 /s" }
    size = "15 kB"
    rtt = "40 ms"
"#;

fn scenario(set: &[&str]) -> Scenario {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    Scenario::read(PATH, "outside.toml", &set, None).expect("a good scenario")
}

/// All that a run shows, but for how many events it took.
fn shown(mut recording: Recording) -> String {
    recording.summary.engine.events = 0;
    format!("{recording:?}")
}

/// Where two texts part.
fn parting(one: &str, other: &str) -> Option<String> {
    let at = one.bytes().zip(other.bytes()).position(|(one, other)| one != other)?;
    let around = |text: &str| text[at.saturating_sub(80)..text.len().min(at + 80)].to_owned();
    Some(format!("{}\n{}", around(one), around(other)))
}

#[test]
fn stops_change_nothing() {
    for set in [
        &[][..],
        &["flow.*.recovery=rack", "flow.there.control=bbr1"],
        &["flow.*.recovery=quic", "link.l.queue=codel"],
        &["flow.there.control=bbr3", "flow.*.delayed_ack=true"],
        &["link.l.jitter=5 ms", "flow.there.pacing.spread=1.2"],
    ] {
        let scenario = scenario(set);
        let mut whole = Simulation::new(&scenario, true);
        while whole.advance(1000) {}
        let whole = shown(whole.finish());
        for steps in [7_u64, 150, 4001] {
            let mut stepped = Simulation::new(&scenario, true);
            let length = Span(scenario.duration.0 / steps + 1);
            let mut until = Time::ZERO + length;
            while stepped.advance_to(until) {
                assert_eq!(stepped.now(), until);
                until += length;
            }
            assert_eq!(stepped.now(), stepped.end());
            assert_eq!(parting(&shown(stepped.finish()), &whole), None, "{set:?} in {steps} steps");
        }
    }
}

#[test]
fn a_flow_waits_runs_and_finishes() {
    let scenario = scenario(&["flow.back.start=1 s", "flow.back.size=30 kB"]);
    let mut simulation = Simulation::new(&scenario, false);
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let (start, stop, rtt) = simulation.flow_times(2);
    assert_eq!((start, stop, rtt), (at(1000), None, Span::from_millis(40)));
    assert_eq!(simulation.slowest_rate(2), 2e7);
    for (millis, state) in
        [(999, FlowState::Waiting), (1000, FlowState::Running), (3000, FlowState::Finished)]
    {
        simulation.advance_to(at(millis));
        assert_eq!(simulation.flow_state(2), state, "at {millis} ms");
        // Whoever asks for nothing is called for nothing.
        simulation.call(2);
        assert_eq!(simulation.flow_state(2), state);
    }
}
