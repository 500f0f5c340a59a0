//! A run in which every packet is accounted for. The fuzz target of networks uses it too.

use longfat_sim::{Options, Recording, Scenario, Simulation};

/// Runs a network to its end, looking after each `portion` of events, or after as many as there are packets to look at
/// if that is more: every data packet is somewhere, and no link is used above its capacity. Leaves out what depends on how
/// the run is carried out.
pub(crate) fn run(scenario: &Scenario, stepwise: bool, portion: u64, text: &str) -> Recording {
    let mut simulation =
        Simulation::with_options(scenario, Options::default().record(true).stepwise(stepwise));
    let mut events = portion;
    loop {
        let more = simulation.advance(events);
        let fates = simulation.fates();
        let known = fates.delivered + fates.dropped + fates.corrupted + fates.in_flight;
        assert_eq!(fates.sent + fates.duplicated, known, "{fates:?}\n{text}");
        if !more {
            break;
        }
        events = portion.max(fates.in_flight);
    }
    let mut recording = simulation.finish();
    recording.summary.engine.events = 0;
    for (name, link) in &recording.summary.links {
        for direction in ["forward", "reverse"] {
            let used = link[direction]["utilisation"].as_f64();
            assert!(
                used.is_some_and(|used| (0.0..=1.0).contains(&used)),
                "{name}: {used:?}\n{text}"
            );
        }
    }
    recording
}
