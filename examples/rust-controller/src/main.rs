//! A controller of its own, and a program that runs scenarios with it:
//!
//! ```console
//! $ cargo run --release -- scenario.toml
//! ```
//!
//! prints the averages as JSON, as `longfat run --json` does. `Gentle` is a window law, which the fluid model can solve as
//! well; for a controller with a memory of its own see `crates/control/src/controller/cubic.rs`.

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use longfat_control::{Cause, Controller, Operating, WindowLaw};
use longfat_scenario::{Catalogue, Scenario};
use longfat_sim::Simulation;
use longfat_units::parameter::Parameter;

/// Gives up less than Reno while its window is small.
#[derive(Clone, Debug)]
struct Gentle {
    a: f64,
    b: f64,
}

impl WindowLaw for Gentle {
    /// Segments that one acknowledged segment adds.
    fn gain(&self, at: &Operating) -> f64 {
        self.a / at.window.0
    }

    /// The share of the window that one congestion event takes.
    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        self.b * (at.window.0 / 1000.0).min(1.0)
    }
}

/// Its entry in the catalogue: the name and the parameters in scenario files.
fn gentle() -> Controller {
    Controller::of_law("gentle", |settings| Gentle {
        a: settings.number("a"),
        b: settings.number("b"),
    })
    .title("Reno that gives up less while its window is small")
    .source("this example")
    .parameters([
        Parameter::number("a", 1.0, 0.0, 100.0, "segments added per round trip"),
        Parameter::number("b", 0.3, 0.0, 1.0, "share given up at 1000 segments and above"),
    ])
}

/// Runs the scenario in `path`, with changes such as `seed=2`, and prints its averages.
fn run(path: &str, changes: &[String]) -> Result<(), Box<dyn Error>> {
    let mut catalogue = Catalogue::built_in();
    catalogue.add_controller(gentle())?;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = Scenario::read_with(&catalogue, &text, path, changes, None)?;
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(1_000_000) {}
    let summary = serde_json::to_string_pretty(&simulation.finish().summary)?;
    writeln!(std::io::stdout(), "{summary}")?;
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: longfat-rust-controller SCENARIO [KEY=VALUE ...]");
        return ExitCode::from(2);
    };
    match run(&path, &arguments.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use longfat_control::conformance::{Operation, check};
    use longfat_control::{Phase, Start};
    use longfat_units::{Segments, Span};

    use super::*;

    #[test]
    fn the_law_is_what_it_says() {
        let law = Gentle { a: 1.0, b: 0.3 };
        let at = |window| Operating {
            window: Segments(window),
            epoch_window: None,
            rtt: Span::from_millis(100),
            base_rtt: Span::from_millis(100),
            since_event: None,
            phase: Phase::CongestionAvoidance,
            spare: 0.0,
        };
        assert_eq!(law.gain(&at(50.0)), 0.02);
        assert_eq!(law.give_up(&at(500.0), Cause::Loss), 0.15);
        assert_eq!(law.give_up(&at(5000.0), Cause::Loss), 0.3);
    }

    #[test]
    fn it_keeps_the_promises_of_every_controller() {
        let gentle = gentle();
        // Any bytes make operations: these are 500 of them, without a pattern.
        let byte = |index: u64| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
        let operations: Vec<_> = (0..500)
            .map(|index| Operation::from_bytes(std::array::from_fn(|k| byte(8 * index + k as u64))))
            .collect();
        check(&gentle, &gentle.defaults(), &Start::default(), &operations).expect("it conforms");
    }
}
