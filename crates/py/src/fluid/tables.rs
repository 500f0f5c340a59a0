//! The results of the fluid model, as tables and as JSON.

use longfat_fluid::{Equilibrium, FluidSetup, Trajectory};
use longfat_sim::{Column, Table};
use serde_json::{Map, Value, json};

/// The object that `longfat fluid --json` prints for a solution in time.
pub(crate) fn json(setup: &FluidSetup, path: &Trajectory) -> Value {
    let flows = path.flows.iter().enumerate().map(|(index, flow)| {
        json!({
            "name": setup.network.flows[index].name,
            "control": setup.groups[setup.group[index] as usize].control,
            "rtt_s": setup.network.flows[index].rtt.seconds(),
            "window": flow.window,
            "rate_bit_s": flow.rate,
            "window_mean": flow.window_mean,
            "rate_mean_bit_s": flow.rate_mean,
            "events": flow.events,
        })
    });
    let links = path
        .links
        .iter()
        .map(|link| json!({ "price": link.price, "load": link.load, "queue_s": link.queue }));
    json!({
        "t": path.t,
        "flows": flows.collect::<Vec<_>>(),
        "links": by_name(setup, links),
        "engine": { "steps": path.steps },
    })
}

/// An equilibrium.
pub(crate) fn rest(setup: &FluidSetup, rest: &Equilibrium) -> Value {
    let flows = rest.flows.iter().zip(&setup.network.flows).map(|(at, flow)| {
        json!({
            "name": flow.name,
            "window": at.window,
            "rate_bit_s": at.rate,
            "price": at.price,
            "round_trip_s": at.round_trip,
        })
    });
    let links = rest
        .links
        .iter()
        .map(|at| json!({ "price": at.price, "load": at.load, "queue_s": at.queue }));
    let flows: Vec<Value> = flows.collect();
    json!({ "flows": flows, "links": by_name(setup, links), "steps": rest.steps })
}

/// Links by name; those crossed backwards are under `reverse`.
fn by_name(setup: &FluidSetup, values: impl Iterator<Item = Value>) -> Value {
    let mut links = Map::new();
    for (&(index, reverse), value) in setup.directions.iter().zip(values) {
        let entry = links.entry(setup.links[index].clone()).or_insert_with(|| json!({}));
        if reverse {
            entry["reverse"] = value;
        } else if let (Some(entry), Value::Object(value)) = (entry.as_object_mut(), value) {
            entry.extend(value);
        }
    }
    Value::Object(links)
}

/// The tables `flows`, `flow_series` and `link_series`.
pub(crate) fn tables(setup: &FluidSetup, path: &Trajectory) -> Vec<Table> {
    vec![flow_table(setup, path), flow_series(setup, path), link_series(setup, path)]
}

fn flow_names(setup: &FluidSetup) -> Vec<String> {
    setup.network.flows.iter().map(|flow| flow.name.clone()).collect()
}

fn group_names(setup: &FluidSetup) -> Vec<String> {
    setup.groups.iter().map(|group| group.name.clone()).collect()
}

fn flow_table(setup: &FluidSetup, path: &Trajectory) -> Table {
    let controls = setup.groups.iter().map(|group| group.control.clone()).collect();
    let flows = &setup.network.flows;
    let indices = (0..flows.len() as u32).collect();
    let means = |value: fn(&longfat_fluid::FlowPath) -> f64| {
        Column::Real(path.flows.iter().map(value).collect())
    };
    Table::new(
        "flows",
        vec![
            ("name", Column::Word(indices, flow_names(setup))),
            ("group", Column::Word(setup.group.clone(), group_names(setup))),
            ("control", Column::Word(setup.group.clone(), controls)),
            ("rtt_s", Column::Real(flows.iter().map(|flow| flow.rtt.seconds()).collect())),
            ("start_s", Column::Real(flows.iter().map(|flow| flow.start.seconds()).collect())),
            ("window_mean", means(|flow| flow.window_mean)),
            ("rate_mean_bit_s", means(|flow| flow.rate_mean)),
            ("events", Column::Count(path.flows.iter().map(|flow| flow.events).collect())),
        ],
    )
}

/// One row for each instant and each flow active then, instant by instant.
fn flow_series(setup: &FluidSetup, path: &Trajectory) -> Table {
    let cells: Vec<(usize, usize)> = (0..path.t.len())
        .flat_map(|row| (0..path.flows.len()).map(move |flow| (row, flow)))
        .filter(|&(row, flow)| path.flows[flow].window[row] > 0.0)
        .collect();
    let every = |value: &dyn Fn(usize, usize) -> f64| {
        Column::Real(cells.iter().map(|&(row, flow)| value(row, flow)).collect())
    };
    let flows = cells.iter().map(|&(_, flow)| flow as u32).collect();
    let groups = cells.iter().map(|&(_, flow)| setup.group[flow]).collect();
    Table::new(
        "flow_series",
        vec![
            ("time_s", every(&|row, _| path.t[row])),
            ("flow", Column::Word(flows, flow_names(setup))),
            ("group", Column::Word(groups, group_names(setup))),
            ("window", every(&|row, flow| path.flows[flow].window[row])),
            ("rate_bit_s", every(&|row, flow| path.flows[flow].rate[row])),
        ],
    )
}

/// One row for each instant and each direction of a link.
fn link_series(setup: &FluidSetup, path: &Trajectory) -> Table {
    let (rows, count) = (path.t.len(), path.links.len());
    let every = |value: &dyn Fn(usize, usize) -> f64| {
        let cells = (0..rows).flat_map(|row| (0..count).map(move |link| (row, link)));
        Column::Real(cells.map(|(row, link)| value(row, link)).collect())
    };
    let words = |word: fn(&(usize, bool)) -> u32| {
        (0..rows).flat_map(|_| setup.directions.iter().map(word)).collect()
    };
    let directions = vec!["forward".to_owned(), "reverse".to_owned()];
    Table::new(
        "link_series",
        vec![
            ("time_s", every(&|row, _| path.t[row])),
            ("link", Column::Word(words(|(link, _)| *link as u32), setup.links.clone())),
            ("direction", Column::Word(words(|(_, reverse)| u32::from(*reverse)), directions)),
            ("price", every(&|row, link| path.links[link].price[row])),
            ("load", every(&|row, link| path.links[link].load[row])),
            ("queue_s", every(&|row, link| path.links[link].queue[row])),
        ],
    )
}
