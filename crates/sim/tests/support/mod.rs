//! What the tests of whole simulations share.

use longfat_sim::{Recording, Scenario, Simulation};

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
