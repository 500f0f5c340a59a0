//! The results of the fluid model, as tables and as JSON.

use longfat_fluid::{Equilibrium, Labels, Stability, Trajectory};
use longfat_sim::{Column, Table};
use serde_json::{Map, Value, json};

/// The object that `longfat fluid --json` prints for a solution in time.
pub(crate) fn json(labels: &Labels, path: &Trajectory) -> Value {
    let flows = path.flows.iter().enumerate().map(|(index, flow)| {
        json!({
            "name": labels.flows[index].name,
            "control": labels.groups[labels.group[index] as usize].control,
            "rtt_s": labels.flows[index].rtt.seconds(),
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
        "links": by_name(labels, links),
        "engine": { "steps": path.steps },
    })
}

/// An equilibrium.
pub(crate) fn rest(labels: &Labels, rest: &Equilibrium) -> Value {
    let flows = rest.flows.iter().zip(&labels.flows).map(|(at, flow)| {
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
    json!({ "flows": flows, "links": by_name(labels, links), "steps": rest.steps })
}

/// Adds whether it stays there.
pub(crate) fn judge(rest: &mut Value, judged: Stability) {
    rest["stable"] = Value::from(judged.stable);
    rest["margin"] = judged.margin.map_or(Value::Null, Value::from);
}

/// Links by name; those crossed backwards are under `reverse`.
fn by_name(labels: &Labels, values: impl Iterator<Item = Value>) -> Value {
    let mut links = Map::new();
    for (&(index, reverse), value) in labels.directions.iter().zip(values) {
        let entry = links.entry(labels.links[index].clone()).or_insert_with(|| json!({}));
        if reverse {
            entry["reverse"] = value;
        } else if let (Some(entry), Value::Object(value)) = (entry.as_object_mut(), value) {
            entry.extend(value);
        }
    }
    Value::Object(links)
}

/// The tables `flows`, `flow_series` and `link_series`.
pub(crate) fn tables(labels: &Labels, path: &Trajectory) -> Vec<Table> {
    vec![flow_table(labels, path), flow_series(labels, path), link_series(labels, path)]
}

fn flow_names(labels: &Labels) -> Vec<String> {
    labels.flows.iter().map(|flow| flow.name.clone()).collect()
}

fn group_names(labels: &Labels) -> Vec<String> {
    labels.groups.iter().map(|group| group.name.clone()).collect()
}

fn flow_table(labels: &Labels, path: &Trajectory) -> Table {
    let controls = labels.groups.iter().map(|group| group.control.clone()).collect();
    let flows = &labels.flows;
    let indices = (0..flows.len() as u32).collect();
    let means = |value: fn(&longfat_fluid::FlowPath) -> f64| {
        Column::Real(path.flows.iter().map(value).collect())
    };
    Table::new(
        "flows",
        vec![
            ("name", Column::Word(indices, flow_names(labels))),
            ("group", Column::Word(labels.group.clone(), group_names(labels))),
            ("control", Column::Word(labels.group.clone(), controls)),
            ("rtt_s", Column::Real(flows.iter().map(|flow| flow.rtt.seconds()).collect())),
            ("start_s", Column::Real(flows.iter().map(|flow| flow.start.seconds()).collect())),
            ("window_mean", means(|flow| flow.window_mean)),
            ("rate_mean_bit_s", means(|flow| flow.rate_mean)),
            ("events", Column::Count(path.flows.iter().map(|flow| flow.events).collect())),
        ],
    )
}

/// One row for each instant and each flow active then, instant by instant.
fn flow_series(labels: &Labels, path: &Trajectory) -> Table {
    let cells: Vec<(usize, usize)> = (0..path.t.len())
        .flat_map(|row| (0..path.flows.len()).map(move |flow| (row, flow)))
        .filter(|&(row, flow)| path.flows[flow].window[row] > 0.0)
        .collect();
    let every = |value: &dyn Fn(usize, usize) -> f64| {
        Column::Real(cells.iter().map(|&(row, flow)| value(row, flow)).collect())
    };
    let flows = cells.iter().map(|&(_, flow)| flow as u32).collect();
    let groups = cells.iter().map(|&(_, flow)| labels.group[flow]).collect();
    Table::new(
        "flow_series",
        vec![
            ("time_s", every(&|row, _| path.t[row])),
            ("flow", Column::Word(flows, flow_names(labels))),
            ("group", Column::Word(groups, group_names(labels))),
            ("window", every(&|row, flow| path.flows[flow].window[row])),
            ("rate_bit_s", every(&|row, flow| path.flows[flow].rate[row])),
        ],
    )
}

/// One row for each instant and each direction of a link.
fn link_series(labels: &Labels, path: &Trajectory) -> Table {
    let (rows, count) = (path.t.len(), path.links.len());
    let every = |value: &dyn Fn(usize, usize) -> f64| {
        let cells = (0..rows).flat_map(|row| (0..count).map(move |link| (row, link)));
        Column::Real(cells.map(|(row, link)| value(row, link)).collect())
    };
    let words = |word: fn(&(usize, bool)) -> u32| {
        (0..rows).flat_map(|_| labels.directions.iter().map(word)).collect()
    };
    let directions = vec!["forward".to_owned(), "reverse".to_owned()];
    Table::new(
        "link_series",
        vec![
            ("time_s", every(&|row, _| path.t[row])),
            ("link", Column::Word(words(|(link, _)| *link as u32), labels.links.clone())),
            ("direction", Column::Word(words(|(_, reverse)| u32::from(*reverse)), directions)),
            ("price", every(&|row, link| path.links[link].price[row])),
            ("load", every(&|row, link| path.links[link].load[row])),
            ("queue_s", every(&|row, link| path.links[link].queue[row])),
        ],
    )
}
