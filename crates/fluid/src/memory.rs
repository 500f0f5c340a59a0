//! How much memory the fluid model of a scenario needs, estimated beforehand.

use std::collections::BTreeSet;

use longfat_scenario::{Hop, Scenario};

/// A flow: its law, its state, its row in the tables.
const FLOW: f64 = 1_500.0;
/// A link on the route of a flow.
const HOP: f64 = 64.0;
/// A window and a rate at one instant: as numbers, in two tables, and as text.
const CELL: f64 = 250.0;
/// A pair of links in the matrices of an equilibrium and of stability, complex numbers in several copies.
const PAIR: f64 = 100.0;

/// Roughly how much memory the fluid model needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// To solve the equations in time.
    pub in_time: f64,
    /// To find the equilibrium and judge its stability.
    pub at_rest: f64,
}

/// The memory that the fluid model of `scenario` needs. Synchronised flows add a row at each loss; how many is not
/// known beforehand, so these are not counted.
pub fn memory(scenario: &Scenario) -> Memory {
    let flows: f64 = scenario.flows.iter().map(|flow| flow.count as f64).sum();
    let hops: f64 =
        scenario.flows.iter().map(|flow| flow.count as f64 * flow.path.len() as f64).sum();
    let crossed = scenario.flows.iter().flat_map(|flow| &flow.path);
    let crossed = crossed.chain(scenario.traffic.iter().flat_map(|group| &group.path));
    let directions: BTreeSet<&Hop> = crossed.collect();
    let directions = directions.len() as f64;
    let network = flows * FLOW + hops * HOP;
    let rows = scenario.duration.0 as f64 / scenario.sample.0 as f64;
    Memory {
        in_time: network + rows * (flows + directions) * CELL,
        at_rest: network + directions * directions * PAIR,
    }
}
