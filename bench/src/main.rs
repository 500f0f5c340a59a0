//! Runs scenario files one after another and reports how fast each ran: engine time, one core.
//!
//! ```text
//! cargo run --release -p longfat-bench -- bench/scenarios/*.toml [--repeat N] [--set KEY=VALUE].. [--results]
//! ```
//!
//! `--controllers` and `--queues` list the names of those there are.
//!
//! `--set` changes fields of every scenario, as `longfat run` does. Under `valgrind --tool=callgrind` two runs of
//! different length give the instructions per packet; `bench/instructions` does that. `--results` prints the results
//! instead, one line of JSON per scenario: an optimisation must not change a byte of it.

use std::process::ExitCode;

use longfat_control::CONTROLLERS;
use longfat_queue::DISCIPLINES;
use longfat_sim::summary::Work;
use longfat_sim::{Scenario, Simulation};

/// What one run took.
struct Timing {
    work: Work,
    /// Seconds to build the network, and to simulate.
    built: f64,
    wall: f64,
    simulated: f64,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
fn run() -> Result<(), String> {
    let mut files = Vec::new();
    let mut repeat = 3;
    let mut overrides = Vec::new();
    let mut results = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--repeat" => {
                repeat = value()?.parse().map_err(|_| "--repeat needs a count".to_owned())?;
            }
            "--set" => overrides.push(value()?),
            "--results" => results = true,
            "--controllers" => {
                CONTROLLERS.iter().for_each(|it| println!("{}", it.name));
                return Ok(());
            }
            "--queues" => {
                DISCIPLINES.iter().for_each(|it| println!("{}", it.name));
                return Ok(());
            }
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        return Err("name one or more scenario files".to_owned());
    }
    let read = |file: &String| {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        Scenario::read(&text, file, &overrides, None).map_err(|error| error.to_string())
    };
    if results {
        for file in &files {
            println!("{}", outcome(&read(file)?)?);
        }
        return Ok(());
    }
    println!(
        "{:28} {:>12} {:>10} {:>12} {:>10} {:>8}",
        "scenario", "packets", "events", "M packets/s", "× real", "built s"
    );
    for file in &files {
        let scenario = read(file)?;
        let mut timings: Vec<Timing> = (0..repeat).map(|_| time(&scenario)).collect();
        timings.sort_by(|a, b| a.wall.total_cmp(&b.wall));
        let Some(Timing { work, built, wall, simulated }) = timings.get(timings.len() / 2) else {
            return Err("--repeat must be at least 1".to_owned());
        };
        let name = file.rsplit('/').next().unwrap_or(file);
        let packets = work.data_packets as f64;
        let per_packet = work.events as f64 / packets;
        println!(
            "{name:28} {:>12} {per_packet:>10.2} {:>12.2} {:>10.1} {built:>8.2}",
            work.data_packets,
            packets / wall / 1e6,
            simulated / wall
        );
    }
    Ok(())
}

/// Like a host that writes finished transfers to a file: only live flows take memory.
fn simulate(simulation: &mut Simulation) {
    while simulation.advance(1_000_000) {
        if simulation.transfers_waiting() >= Simulation::TRANSFERS_AT_ONCE {
            drop(simulation.take_transfers());
        }
    }
}

/// The results as JSON, without the number of events, which may change.
fn outcome(scenario: &Scenario) -> Result<String, String> {
    let mut simulation = Simulation::new(scenario, false);
    simulate(&mut simulation);
    let mut summary = simulation.finish().summary;
    summary.engine.events = 0;
    serde_json::to_string(&summary).map_err(|error| error.to_string())
}

fn time(scenario: &Scenario) -> Timing {
    let now = || {
        #[expect(clippy::disallowed_methods, reason = "a benchmark reads the wall clock")]
        std::time::Instant::now()
    };
    let before = now();
    let mut simulation = Simulation::new(scenario, false);
    let begin = now();
    simulate(&mut simulation);
    let wall = begin.elapsed().as_secs_f64();
    Timing {
        work: simulation.finish().summary.engine,
        built: (begin - before).as_secs_f64(),
        wall,
        simulated: scenario.duration.seconds(),
    }
}
