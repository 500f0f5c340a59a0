//! Runs a scenario file and prints its summary and how fast it went.
use longfat_sim::{Options, Scenario, Simulation};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a scenario file");
    let text = std::fs::read_to_string(&path).expect("readable");
    let mode = arguments.next().unwrap_or_default();
    let scenario = Scenario::read(&text, &path, &[], None).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { record: mode.contains("record"), stepwise: mode.contains("stepwise") };
    let mut simulation = Simulation::with_options(&scenario, options);
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads the wall clock")]
    let begin = std::time::Instant::now();
    while simulation.advance(1_000_000) {}
    let wall = begin.elapsed().as_secs_f64();
    let summary = simulation.finish().summary;
    println!("{}", serde_json::to_string_pretty(&summary).expect("JSON"));
    println!("{:.2} M packets/s, {:.1} × real time, {wall:.3} s", summary.engine.data_packets as f64 / wall / 1e6, scenario.duration.seconds() / wall);
}
