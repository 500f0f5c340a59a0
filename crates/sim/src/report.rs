//! From what was counted to what is told: the summary and the tables.

use longfat_units::{Rate, Span, Time};
use serde_json::{Map, Value, json};

use crate::flow::{Flow, Member, Negotiation};
use crate::recording::{Column, Recording, Table};
use crate::sender::Measured;
use crate::simulation::Simulation;
use crate::summary::{FlowSummary, LinkSummary, Summary, Work, share};
use crate::traffic::Transfer;

const DIRECTIONS: [&str; 2] = ["forward", "reverse"];

/// The recording of a simulation that has ended.
pub(crate) fn recording(simulation: &mut Simulation) -> Recording {
    count_live(simulation);
    let links = link_summaries(simulation);
    let flows: Vec<FlowSummary> =
        simulation.network.long_flows().iter().map(|flow| flow_summary(simulation, flow)).collect();
    let long: u64 =
        simulation.network.long_flows().iter().map(|flow| flow.receiver.received().first).sum();
    let short: u64 = simulation.network.traffic.iter().map(|traffic| traffic.tally.delivered).sum();
    let data_packets = long + short;
    let tables = vec![
        flow_table(simulation, &flows),
        link_table(simulation, &links),
        transfer_table(simulation),
        flow_series(simulation, &flows),
        link_series(simulation),
    ];
    let summary = Summary {
        seed: simulation.scenario.seed,
        scenario: simulation.scenario.to_json(),
        links: nested_links(simulation, &links),
        jain: jain(simulation, &flows),
        flows,
        traffic: simulation
            .network
            .traffic
            .iter()
            .map(|group| {
                let unaware = unaware_link(simulation, group.anti_ecn);
                (group.name().to_owned(), group.told(agreed(group.anti_ecn), unaware))
            })
            .collect(),
        engine: Work { data_packets, events: simulation.events },
    };
    Recording { summary, tables }
}

/// Short flows that live at the end count with what they have done.
fn count_live(simulation: &mut Simulation) {
    let network = &mut simulation.network;
    for flow in &network.flows[network.long..] {
        if let (Member::Short(group, _), Some(_)) = (flow.member, &flow.sender) {
            network.traffic[group].count(flow);
        }
    }
}

/// One entry per direction, in the order of `Network::links`.
fn link_summaries(simulation: &mut Simulation) -> Vec<LinkSummary> {
    let links = simulation.network.links.iter_mut();
    links
        .map(|link| {
            let report = link.gauge_mut().report();
            LinkSummary {
                utilisation: report.utilisation,
                queue_mean: report.queue_mean,
                queue_p99: report.queue_p99,
                drop_rate: share(report.dropped, report.arrived),
                mark_rate: share(report.marked, report.arrived),
                arrived: report.arrived,
                dropped: report.dropped,
                marked: report.marked,
                corrupted: report.corrupted,
            }
        })
        .collect()
}

fn nested_links(simulation: &Simulation, summaries: &[LinkSummary]) -> Map<String, Value> {
    let links = simulation.scenario.links.iter().zip(summaries.chunks(2));
    links
        .map(|(link, pair)| (link.name.clone(), json!({ "forward": pair[0], "reverse": pair[1] })))
        .collect()
}

/// Group of a long flow, and its index in it.
fn long(flow: &Flow) -> (usize, u64) {
    match flow.member {
        Member::Long(group, index) => (group, index),
        Member::Short(..) => unreachable!("short flows come after the long ones"),
    }
}

fn flow_name(simulation: &Simulation, flow: &Flow) -> String {
    let (group, index) = long(flow);
    format!("{}[{index}]", simulation.scenario.flows[group].name)
}

fn flow_summary(simulation: &Simulation, flow: &Flow) -> FlowSummary {
    let untouched = Measured::new(Time::ZERO, f64::NAN);
    let measured = flow.sender.as_ref().map_or(&untouched, |sender| sender.measured());
    let received = flow.receiver.received();
    let from = active_from(simulation, flow);
    let until = active_until(simulation, flow);
    let goodput = Rate::of(flow.packet * received.measured, until.since(from));
    let sent = measured.sent_measured();
    let has_window = flow.sender.as_ref().is_some_and(|sender| sender.window().is_some());
    FlowSummary {
        name: flow_name(simulation, flow),
        control: simulation.scenario.flows[long(flow).0].control.kind,
        rtt_s: flow.rtt.seconds(),
        goodput_bit_s: goodput,
        retransmit_rate: share(measured.retransmitted_measured(), sent),
        drop_rate: share(flow.dropped, sent),
        data_sent: sent,
        data_dropped: flow.dropped,
        timeouts: measured.timeouts,
        queueing_delay_mean_s: measured.queueing_delay(),
        window_mean: if has_window { measured.window_mean(until) } else { f64::NAN },
        congestion_events: measured.congestion_events,
        room_rate: if flow.anti_ecn == Negotiation::Agreed {
            measured.room_rate()
        } else {
            f64::NAN
        },
        anti_ecn: agreed(flow.anti_ecn),
        unaware_link: unaware_link(simulation, flow.anti_ecn),
        start_s: flow.start.seconds(),
        completion_s: received.complete.map(|complete| (complete - flow.start).seconds()),
    }
}

/// Is AntiECN in use, if it is asked for?
fn agreed(anti_ecn: Negotiation) -> Option<bool> {
    match anti_ecn {
        Negotiation::NotAsked => None,
        Negotiation::Agreed => Some(true),
        Negotiation::Unaware(_) => Some(false),
    }
}

/// The name of the link that does not take part.
fn unaware_link(simulation: &Simulation, anti_ecn: Negotiation) -> Option<String> {
    match anti_ecn {
        Negotiation::Unaware(link) => Some(simulation.scenario.links[link / 2].name.clone()),
        Negotiation::NotAsked | Negotiation::Agreed => None,
    }
}

/// When the active part of the measured interval begins.
fn active_from(simulation: &Simulation, flow: &Flow) -> Time {
    flow.start.max(Time::ZERO + simulation.scenario.warmup)
}

/// When the flow stops being active: at its completion, its stop, or the end.
fn active_until(simulation: &Simulation, flow: &Flow) -> Time {
    let complete = flow.receiver.received().complete.unwrap_or(Time::NEVER);
    complete.min(flow.stop.unwrap_or(Time::NEVER)).min(simulation.end)
}

/// Jain's index of the goodputs of each group: (Σx)² / (n Σx²), over the flows that are active in the measured
/// interval.
fn jain(simulation: &Simulation, flows: &[FlowSummary]) -> Map<String, Value> {
    let groups = simulation.scenario.flows.iter().enumerate();
    groups
        .map(|(group, description)| {
            let members = simulation
                .network
                .long_flows()
                .iter()
                .zip(flows)
                .filter(|(flow, _)| long(flow).0 == group)
                .filter(|(flow, _)| active_until(simulation, flow) > active_from(simulation, flow));
            let goodputs: Vec<f64> = members.map(|(_, summary)| summary.goodput_bit_s).collect();
            let sum: f64 = goodputs.iter().sum();
            let squares: f64 = goodputs.iter().map(|x| x * x).sum();
            let index = if squares == 0.0 {
                Value::Null
            } else {
                // At most one, by Cauchy and Schwarz; equal goodputs may round to a bit more.
                json!((sum * sum / (goodputs.len() as f64 * squares)).min(1.0))
            };
            (description.name.clone(), index)
        })
        .collect()
}

fn reals<T>(rows: &[T], value: impl Fn(&T) -> f64) -> Column {
    Column::Real(rows.iter().map(value).collect())
}

fn seconds(span: Option<Span>) -> f64 {
    span.map_or(f64::NAN, Span::seconds)
}

fn counts<T>(rows: &[T], value: impl Fn(&T) -> u64) -> Column {
    Column::Count(rows.iter().map(value).collect())
}

fn group_column(simulation: &Simulation) -> Column {
    Column::Word(group_words(simulation), group_names(simulation))
}

fn group_words(simulation: &Simulation) -> Vec<u32> {
    simulation.network.long_flows().iter().map(|flow| long(flow).0 as u32).collect()
}

fn group_names(simulation: &Simulation) -> Vec<String> {
    simulation.scenario.flows.iter().map(|group| group.name.clone()).collect()
}

fn flow_names(flows: &[FlowSummary]) -> Vec<String> {
    flows.iter().map(|flow| flow.name.clone()).collect()
}

fn flow_table(simulation: &Simulation, flows: &[FlowSummary]) -> Table {
    let network = simulation.network.long_flows();
    let of_sender = |value: fn(&Measured) -> u64| {
        counts(network, |flow| flow.sender.as_ref().map_or(0, |sender| value(sender.measured())))
    };
    let controls: Vec<String> =
        simulation.scenario.flows.iter().map(|group| group.control.kind.to_owned()).collect();
    Table {
        name: "flows",
        columns: vec![
            ("name", Column::Word((0..flows.len() as u32).collect(), flow_names(flows))),
            ("group", group_column(simulation)),
            ("control", Column::Word(group_words(simulation), controls)),
            ("rtt_s", reals(flows, |flow| flow.rtt_s)),
            ("start_s", reals(flows, |flow| flow.start_s)),
            ("goodput_bit_s", reals(flows, |flow| flow.goodput_bit_s)),
            ("retransmit_rate", reals(flows, |flow| flow.retransmit_rate)),
            ("drop_rate", reals(flows, |flow| flow.drop_rate)),
            ("data_sent", counts(flows, |flow| flow.data_sent)),
            ("data_dropped", counts(flows, |flow| flow.data_dropped)),
            ("timeouts", counts(flows, |flow| flow.timeouts)),
            ("queueing_delay_mean_s", reals(flows, |flow| flow.queueing_delay_mean_s)),
            ("window_mean", reals(flows, |flow| flow.window_mean)),
            ("congestion_events", counts(flows, |flow| flow.congestion_events)),
            ("room_rate", reals(flows, |flow| flow.room_rate)),
            ("sent", of_sender(|measured| measured.total_sent)),
            ("retransmitted", of_sender(|measured| measured.total_retransmitted)),
            ("delivered", counts(network, |flow| flow.receiver.received().first)),
            ("completion_s", reals(flows, |flow| flow.completion_s.unwrap_or(f64::NAN))),
        ],
    }
}

/// The name of each link twice, once per direction, and the directions.
fn link_words(simulation: &Simulation) -> [(&'static str, Column); 2] {
    let names = simulation.scenario.links.iter().map(|link| link.name.clone()).collect();
    let count = simulation.network.links.len() as u32;
    [
        ("link", Column::Word((0..count).map(|link| link / 2).collect(), names)),
        (
            "direction",
            Column::Word(
                (0..count).map(|link| link % 2).collect(),
                DIRECTIONS.map(String::from).to_vec(),
            ),
        ),
    ]
}

fn link_table(simulation: &Simulation, links: &[LinkSummary]) -> Table {
    let mut columns = Vec::from(link_words(simulation));
    columns.extend([
        ("utilisation", reals(links, |link| link.utilisation)),
        ("queue_mean", reals(links, |link| link.queue_mean)),
        ("queue_p99", reals(links, |link| link.queue_p99)),
        ("drop_rate", reals(links, |link| link.drop_rate)),
        ("mark_rate", reals(links, |link| link.mark_rate)),
        ("arrived", counts(links, |link| link.arrived)),
        ("dropped", counts(links, |link| link.dropped)),
        ("marked", counts(links, |link| link.marked)),
        ("corrupted", counts(links, |link| link.corrupted)),
    ]);
    Table { name: "links", columns }
}

/// The transfers that were not taken before, complete or not: finite long flows first, then short ones.
fn transfer_table(simulation: &mut Simulation) -> Table {
    let mut rows: Vec<(u32, Transfer)> = Vec::new();
    for flow in simulation.network.long_flows() {
        rows.extend(Transfer::of(flow).map(|transfer| (long(flow).0 as u32, transfer)));
    }
    rows.extend(take_short_transfers(simulation));
    table_of_transfers(simulation, &rows)
}

/// The short transfers that are over, or at the end all, and were not taken before.
pub(crate) fn short_transfers(simulation: &mut Simulation) -> Table {
    let rows = take_short_transfers(simulation);
    table_of_transfers(simulation, &rows)
}

fn take_short_transfers(simulation: &mut Simulation) -> Vec<(u32, Transfer)> {
    let first = simulation.scenario.flows.len();
    let groups = simulation.network.traffic.iter_mut().enumerate();
    groups
        .flat_map(|(index, traffic)| {
            let group = (first + index) as u32;
            traffic.take_rows().into_iter().map(move |transfer| (group, transfer))
        })
        .collect()
}

fn table_of_transfers(simulation: &Simulation, rows: &[(u32, Transfer)]) -> Table {
    let long = simulation.scenario.flows.iter().map(|group| group.name.clone());
    let short = simulation.network.traffic.iter().map(|traffic| traffic.name().to_owned());
    Table {
        name: "transfers",
        columns: vec![
            (
                "group",
                Column::Word(
                    rows.iter().map(|(group, _)| *group).collect(),
                    long.chain(short).collect(),
                ),
            ),
            ("index", counts(rows, |(_, transfer)| transfer.index)),
            ("start_s", reals(rows, |(_, transfer)| transfer.start.seconds())),
            ("completion_s", reals(rows, |(_, transfer)| seconds(transfer.response()))),
            ("acknowledged_s", reals(rows, |(_, transfer)| seconds(transfer.acknowledgment()))),
            ("packets", counts(rows, |(_, transfer)| transfer.segments)),
            ("bytes", counts(rows, |(_, transfer)| (transfer.packet * transfer.segments).0)),
            ("retransmitted", counts(rows, |(_, transfer)| transfer.retransmitted)),
            ("timeouts", counts(rows, |(_, transfer)| transfer.timeouts)),
        ],
    }
}

fn flow_series(simulation: &mut Simulation, flows: &[FlowSummary]) -> Table {
    let series = simulation.series.take().unwrap_or_default();
    let groups = series
        .flow
        .iter()
        .map(|&flow| long(&simulation.network.flows[flow as usize]).0 as u32)
        .collect();
    Table {
        name: "flow_series",
        columns: vec![
            ("time_s", Column::Real(series.time)),
            ("flow", Column::Word(series.flow, flow_names(flows))),
            ("group", Column::Word(groups, group_names(simulation))),
            ("window", Column::Real(series.window)),
            ("threshold", Column::Real(series.threshold)),
            ("in_flight", Column::Count(series.in_flight)),
            ("rtt_s", Column::Real(series.rtt)),
            ("throughput_bit_s", Column::Real(series.throughput)),
            ("retransmitted", Column::Count(series.retransmitted)),
            ("room_rate", Column::Real(series.room_rate)),
        ],
    }
}

fn link_series(simulation: &Simulation) -> Table {
    let step: Span = simulation.scenario.sample;
    let links: Vec<_> =
        simulation.network.links.iter().filter_map(|link| link.gauge().series()).collect();
    let rows = links.first().map_or(0, |series| series.queue.len());
    let directions = links.len() as u32;
    let each = |value: &dyn Fn(usize, usize) -> f64| {
        Column::Real(
            (0..rows).flat_map(|row| (0..links.len()).map(move |link| value(row, link))).collect(),
        )
    };
    let each_count = |value: &dyn Fn(usize, usize) -> u64| {
        Column::Count(
            (0..rows).flat_map(|row| (0..links.len()).map(move |link| value(row, link))).collect(),
        )
    };
    let words = |of: fn(u32) -> u32| (0..rows).flat_map(|_| (0..directions).map(of)).collect();
    let names = simulation.scenario.links.iter().map(|link| link.name.clone()).collect();
    Table {
        name: "link_series",
        columns: vec![
            ("time_s", each(&|row, _| (step * (row as u64 + 1)).seconds())),
            ("link", Column::Word(words(|link| link / 2), names)),
            (
                "direction",
                Column::Word(words(|link| link % 2), DIRECTIONS.map(String::from).to_vec()),
            ),
            ("queue", each(&|row, link| links[link].queue[row])),
            ("queue_packets", each_count(&|row, link| links[link].queue_packets[row])),
            ("utilisation", each(&|row, link| links[link].utilisation[row])),
            ("dropped", each_count(&|row, link| links[link].dropped[row])),
            ("marked", each_count(&|row, link| links[link].marked[row])),
        ],
    }
}
