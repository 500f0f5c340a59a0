//! What the tests of whole simulations share.

pub(crate) mod accounted;
pub(crate) mod disciplines;
pub(crate) mod lost_rounds;
pub(crate) mod watched;
pub(crate) mod witness;

use longfat_sim::summary::Summary;
use longfat_sim::{Column, Recording, Scenario, Simulation};

/// The scenario of this text, which must be right.
pub(crate) fn read(text: &str) -> Scenario {
    Scenario::read(text, "test.toml", &[], None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Everything that a run of this text reports, with or without time series.
pub(crate) fn record(text: &str, series: bool) -> Recording {
    let mut simulation = Simulation::new(&read(text), series);
    while simulation.advance(100_000) {}
    simulation.finish()
}

/// The averages of a run of this text.
pub(crate) fn run(text: &str) -> Summary {
    record(text, false).summary
}

/// A number of one direction of a link.
pub(crate) fn of(summary: &Summary, link: &str, direction: &str, key: &str) -> f64 {
    summary.links[link][direction][key].as_f64().expect("a number")
}

/// A column of numbers.
pub(crate) fn numbers(recording: &Recording, table: &str, column: &str) -> Vec<f64> {
    let table = recording.table(table).expect("the table");
    match table.columns.iter().find(|(name, _)| *name == column) {
        Some((_, Column::Real(values))) => values.clone(),
        Some((_, Column::Count(values))) => values.iter().map(|&value| value as f64).collect(),
        other => panic!("{column} is {other:?}"),
    }
}
