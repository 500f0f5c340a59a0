//! Runs whose every number is known: they must come out the same on every machine, after every optimisation.
//!
//! If a change is meant to move results, `UPDATE=1 cargo test -p longfat-sim --test all golden::` writes the new ones; the
//! difference belongs in the change, and its reason in the changelog.

use std::path::Path;

use longfat_sim::{Scenario, Simulation};

#[test]
fn a_little_of_everything_comes_out_as_it_always_did() {
    comes_out_as_before("everything");
}

#[test]
fn bursts_with_priorities_come_out_as_they_always_did() {
    comes_out_as_before("bursts");
}

#[test]
fn anti_ecn_and_the_queues_beside_it_come_out_as_they_always_did() {
    comes_out_as_before("anti-ecn");
}

fn comes_out_as_before(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let file = format!("{name}.toml");
    let text = std::fs::read_to_string(folder.join(&file)).expect("the scenario is there");
    let scenario =
        Scenario::read(&text, &file, &[], None).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(1_000_000) {}
    let mut summary = simulation.finish().summary;
    // How the work is done may change.
    summary.engine.events = 0;
    let found = serde_json::to_string_pretty(&summary).expect("summaries are JSON") + "\n";
    let path = folder.join(format!("{name}.json"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &found).expect("the folder can be written");
    }
    let expected = std::fs::read_to_string(&path).expect("the known results are there");
    let different = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    if let Some((found, expected)) = different {
        panic!(
            "results have moved, first here:\n  now    {found}\n  before {expected}\n(seed {})",
            summary.seed
        );
    }
    assert_eq!(found.len(), expected.len());
}
