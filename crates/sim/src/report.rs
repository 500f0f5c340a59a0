//! From counts to results: the summary and the tables.

use longfat_scenario::Scenario;
use longfat_units::{Bytes, Rate, Span, Time};
use serde_json::{Map, Value, json};

use crate::application::Exchange;
use crate::explicit::{Listener, Negotiation};
use crate::flow::Flow;
use crate::member::Member;
use crate::network::Network;
use crate::recording::{Column, Recording, Table};
use crate::sender::SenderCounts;
use crate::series::FlowSeries;
use crate::summary::{DelayPercentiles, FlowSummary, LinkSummary, Summary, Work, share};
use crate::traffic::Transfer;

const DIRECTIONS: [&str; 2] = ["forward", "reverse"];

/// What a report is made from.
#[derive(Debug)]
pub(crate) struct ReportSource<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) network: &'a mut Network,
    /// The time series of the flows, if they were kept; a report takes them.
    pub(crate) series: Option<FlowSeries>,
    /// Events handled so far.
    pub(crate) events: u64,
    pub(crate) end: Time,
}

/// The recording of a run that has ended.
pub(crate) fn recording(run: &mut ReportSource<'_>) -> Recording {
    count_live(run);
    let links = link_summaries(run);
    let flows: Vec<FlowSummary> =
        run.network.long_flows().iter().map(|flow| flow_summary(run, flow)).collect();
    let long: u64 =
        run.network.long_flows().iter().map(|flow| flow.receiver.received().first).sum();
    let requests = run.network.request_flows().map(|flow| flow.receiver.received().first);
    let short: u64 = run.network.traffic.iter().map(|traffic| traffic.tally.delivered).sum();
    let data_packets = long + requests.sum::<u64>() + short;
    let [flow_series, limits] = flow_tables(run, flow_names(&flows));
    let mut tables = vec![
        flow_table(run, &flows),
        link_table(run, &links),
        transfer_table(run),
        flow_series,
        link_series(run),
        limits,
    ];
    if !run.network.applications.is_empty() {
        tables.push(exchange_table(run));
    }
    let summary = Summary {
        seed: run.scenario.seed,
        scenario: run.scenario.to_json(),
        links: nested_links(run, &links),
        jain: jain(run, &flows),
        flows,
        applications: applications(run),
        traffic: run
            .network
            .traffic
            .iter()
            .map(|group| {
                let unaware = unaware_link(run, group.negotiation());
                (group.name().to_owned(), group.told(unaware))
            })
            .collect(),
        engine: Work { data_packets, events: run.events },
    };
    Recording { summary, tables }
}

/// The time series as far as they go: of the flows, and of the links.
pub(crate) fn series(run: &mut ReportSource<'_>) -> [Table; 2] {
    let names = run.network.long_flows().iter().map(|flow| flow_name(run, flow)).collect();
    let [flow_series, _] = flow_tables(run, names);
    [flow_series, link_series(run)]
}

/// Short flows still alive at the end count with what they have done so far, in the order in which they began.
fn count_live(run: &mut ReportSource<'_>) {
    let network = &mut *run.network;
    let short = network.flows[network.long..].iter().filter(|flow| flow.source.sender().is_some());
    let mut live: Vec<(usize, u64, &Flow)> = short
        .filter_map(|flow| match flow.member {
            Member::Short(group, index) => Some((group, index, flow)),
            Member::Long(..) | Member::Requests(..) => None,
        })
        .collect();
    live.sort_unstable_by_key(|&(group, index, _)| (group, index));
    for (group, _, flow) in live {
        network.traffic[group].count(flow, run.end);
    }
}

/// One entry per direction, in the order of `Network::links`.
fn link_summaries(run: &mut ReportSource<'_>) -> Vec<LinkSummary> {
    let links = run.network.ports.iter_mut();
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

fn nested_links(run: &ReportSource<'_>, summaries: &[LinkSummary]) -> Map<String, Value> {
    let links = run.scenario.links.iter().zip(summaries.chunks(2));
    links
        .map(|(link, pair)| (link.name.clone(), json!({ "forward": pair[0], "reverse": pair[1] })))
        .collect()
}

/// Group of a long flow, and its index in it.
fn long(flow: &Flow) -> (usize, u64) {
    match flow.member {
        Member::Long(group, index) => (group, index),
        _ => unreachable!("the others come after the long ones"),
    }
}

fn flow_name(run: &ReportSource<'_>, flow: &Flow) -> String {
    let (group, index) = long(flow);
    format!("{}[{index}]", run.scenario.flows[group].name)
}

fn flow_summary(run: &ReportSource<'_>, flow: &Flow) -> FlowSummary {
    let untouched = SenderCounts::new(Time::ZERO, f64::NAN);
    let measured = flow.source.measured().unwrap_or(&untouched);
    let received = flow.receiver.received();
    let from = active_from(run, flow);
    let until = active_until(run, flow);
    let goodput = Rate::of(flow.packet * received.measured, until.since(from));
    let sent = measured.sent_measured();
    let heard = flow.source.listener().map_or(0, Listener::heard_measured);
    let has_window = flow.source.control().is_some();
    let transport = &run.scenario.flows[long(flow).0].transport;
    FlowSummary {
        name: flow_name(run, flow),
        control: run.scenario.flows[long(flow).0].control.kind().to_owned(),
        rtt_s: flow.rtt.seconds(),
        goodput_bit_s: goodput,
        retransmit_rate: share(measured.retransmitted_measured(), sent),
        drop_rate: share(flow.dropped, sent),
        data_sent: sent,
        data_dropped: flow.dropped,
        timeouts: measured.timeouts,
        queueing_delay_mean_s: measured.queueing_delay(),
        queueing_delay: run.scenario.delay_percentiles.then(|| delay_percentiles(flow)),
        window_mean: if has_window && from < until {
            flow.window_at_stop.unwrap_or_else(|| measured.window_mean(until))
        } else {
            f64::NAN
        },
        congestion_events: measured.congestion_events,
        room_rate: flow.negotiation.share(heard, measured.acknowledgments_measured()),
        anti_ecn: flow.negotiation.agreed(),
        unaware_link: unaware_link(run, flow.negotiation),
        receiver_limited_s: flow
            .source
            .receiver_limited(run.end)
            .or(transport.receive_window.map(|_| Span::ZERO))
            .map(Span::seconds),
        start_s: flow.start.seconds(),
        completion_s: received.complete.map(|complete| (complete - flow.start).seconds()),
    }
}

fn delay_percentiles(flow: &Flow) -> DelayPercentiles {
    let at = |share| flow.source.waits().and_then(|it| it.quantile(share)).unwrap_or(f64::NAN);
    DelayPercentiles {
        queueing_delay_p50_s: at(0.5),
        queueing_delay_p90_s: at(0.9),
        queueing_delay_p99_s: at(0.99),
    }
}

/// The name of the link that keeps a path from giving explicit signals.
fn unaware_link(run: &ReportSource<'_>, negotiation: Negotiation) -> Option<String> {
    negotiation.unaware_link().map(|link| run.scenario.links[link / 2].name.clone())
}

/// When the active part of the measured interval begins.
fn active_from(run: &ReportSource<'_>, flow: &Flow) -> Time {
    flow.start.max(Time::ZERO + run.scenario.warmup)
}

/// When the flow stops being active: at its completion, its stop, or the end.
fn active_until(run: &ReportSource<'_>, flow: &Flow) -> Time {
    let complete = flow.receiver.received().complete.unwrap_or(Time::NEVER);
    complete.min(flow.stop.unwrap_or(Time::NEVER)).min(run.end)
}

/// What the applications of each group have seen.
fn applications(run: &ReportSource<'_>) -> Map<String, Value> {
    let mut delivered = vec![Bytes(0); run.scenario.flows.len()];
    for flow in run.network.long_flows() {
        let bytes = flow.packet * flow.receiver.received().measured;
        delivered[long(flow).0].0 += bytes.0;
    }
    let groups = run.scenario.flows.iter().zip(&run.network.audiences).zip(delivered);
    groups
        .filter_map(|((group, audience), delivered)| {
            Some((group.name.clone(), audience.as_ref()?.told(delivered)))
        })
        .collect()
}

/// Jain's index of the goodputs of each group: (Σx)² / (n Σx²), over the flows that are active in the measured
/// interval.
fn jain(run: &ReportSource<'_>, flows: &[FlowSummary]) -> Map<String, Value> {
    // The flows of a group stand together, in the order of the groups.
    let mut rest = run.network.long_flows().iter().zip(flows).peekable();
    let groups = run.scenario.flows.iter().enumerate();
    groups
        .map(|(group, description)| {
            let members = std::iter::from_fn(|| rest.next_if(|(flow, _)| long(flow).0 == group))
                .filter(|(flow, _)| active_until(run, flow) > active_from(run, flow));
            let goodputs: Vec<f64> = members.map(|(_, summary)| summary.goodput_bit_s).collect();
            let sum: f64 = goodputs.iter().sum();
            let squares: f64 = goodputs.iter().map(|x| x * x).sum();
            let index = if squares == 0.0 {
                Value::Null
            } else {
                // At most one, by Cauchy–Schwarz; equal goodputs may round to slightly more.
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

fn group_column(run: &ReportSource<'_>) -> Column {
    Column::Word(group_words(run), group_names(run))
}

fn group_words(run: &ReportSource<'_>) -> Vec<u32> {
    run.network.long_flows().iter().map(|flow| long(flow).0 as u32).collect()
}

fn group_names(run: &ReportSource<'_>) -> Vec<String> {
    run.scenario.flows.iter().map(|group| group.name.clone()).collect()
}

fn flow_names(flows: &[FlowSummary]) -> Vec<String> {
    flows.iter().map(|flow| flow.name.clone()).collect()
}

fn flow_table(run: &ReportSource<'_>, flows: &[FlowSummary]) -> Table {
    let network = run.network.long_flows();
    let of_sender = |value: fn(&SenderCounts) -> u64| {
        counts(network, |flow| flow.source.measured().map_or(0, value))
    };
    let controls: Vec<String> =
        run.scenario.flows.iter().map(|group| group.control.kind().to_owned()).collect();
    let mut columns = vec![
        ("name", Column::Word((0..flows.len() as u32).collect(), flow_names(flows))),
        ("group", group_column(run)),
        ("control", Column::Word(group_words(run), controls)),
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
    ];
    if run.scenario.delay_percentiles {
        let told = |value: fn(DelayPercentiles) -> f64| {
            reals(flows, |flow| flow.queueing_delay.map_or(f64::NAN, value))
        };
        columns.extend([
            ("queueing_delay_p50_s", told(|delay| delay.queueing_delay_p50_s)),
            ("queueing_delay_p90_s", told(|delay| delay.queueing_delay_p90_s)),
            ("queueing_delay_p99_s", told(|delay| delay.queueing_delay_p99_s)),
        ]);
    }
    // Where there is no receive window there is nothing to tell.
    if has_receive_window(run) {
        let limited = reals(flows, |flow| flow.receiver_limited_s.unwrap_or(f64::NAN));
        columns.push(("receiver_limited_s", limited));
    }
    Table::new("flows", columns)
}

fn has_receive_window(run: &ReportSource<'_>) -> bool {
    run.scenario.flows.iter().any(|group| group.transport.receive_window.is_some())
}

/// The name of each link twice, once per direction, and the directions.
fn link_words(run: &ReportSource<'_>) -> [(&'static str, Column); 2] {
    let names = run.scenario.links.iter().map(|link| link.name.clone()).collect();
    let count = run.network.ports.len() as u32;
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

fn link_table(run: &ReportSource<'_>, links: &[LinkSummary]) -> Table {
    let mut columns = Vec::from(link_words(run));
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
    Table::new("links", columns)
}

/// The transfers not taken before, complete or not: finite long flows first, then short ones.
fn transfer_table(run: &mut ReportSource<'_>) -> Table {
    let mut rows: Vec<(u32, Transfer)> = Vec::new();
    for flow in run.network.long_flows() {
        rows.extend(Transfer::of(flow).map(|transfer| (long(flow).0 as u32, transfer)));
    }
    rows.extend(take_short_transfers(run));
    table_of_transfers(run, &rows)
}

/// The short transfers not taken before: the finished ones, or at the end of the run all of them.
pub(crate) fn short_transfers(run: &mut ReportSource<'_>) -> Table {
    let rows = take_short_transfers(run);
    table_of_transfers(run, &rows)
}

fn take_short_transfers(run: &mut ReportSource<'_>) -> Vec<(u32, Transfer)> {
    let first = run.scenario.flows.len();
    let groups = run.network.traffic.iter_mut().enumerate();
    groups
        .flat_map(|(index, traffic)| {
            let group = (first + index) as u32;
            traffic.take_rows().into_iter().map(move |transfer| (group, transfer))
        })
        .collect()
}

fn table_of_transfers(run: &ReportSource<'_>, rows: &[(u32, Transfer)]) -> Table {
    let long = run.scenario.flows.iter().map(|group| group.name.clone());
    let short = run.network.traffic.iter().map(|traffic| traffic.name().to_owned());
    Table::new(
        "transfers",
        vec![
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
    )
}

/// What was asked for and has come, by group, in the order in which it came.
fn exchange_table(run: &ReportSource<'_>) -> Table {
    let audiences = run.network.audiences.iter().enumerate();
    let rows: Vec<(u32, Exchange)> = audiences
        .flat_map(|(group, audience)| {
            let exchanges = audience.iter().flat_map(|audience| &audience.exchanges);
            exchanges.map(move |exchange| (group as u32, *exchange))
        })
        .collect();
    let bit_rate = |rate: Option<Rate>| rate.map_or(f64::NAN, |rate| rate.0 as f64);
    Table::new(
        "exchanges",
        vec![
            (
                "group",
                Column::Word(rows.iter().map(|(group, _)| *group).collect(), group_names(run)),
            ),
            ("index", counts(&rows, |(_, it)| it.index)),
            ("start_s", reals(&rows, |(_, it)| it.start.seconds())),
            ("response_s", reals(&rows, |(_, it)| (it.end - it.start).seconds())),
            ("bytes", counts(&rows, |(_, it)| it.bytes.0)),
            ("bit_rate_bit_s", reals(&rows, |(_, it)| bit_rate(it.bit_rate))),
            ("buffer_s", reals(&rows, |(_, it)| seconds(it.level))),
        ],
    )
}

/// The time series of the flows, and what limited them in each of its rows.
fn flow_tables(run: &mut ReportSource<'_>, names: Vec<String>) -> [Table; 2] {
    let series = run.series.take().unwrap_or_default();
    let groups: Vec<u32> =
        series.flow.iter().map(|&flow| long(&run.network.flows[flow as usize]).0 as u32).collect();
    let mut limits = vec![
        ("time_s", Column::Real(series.time.clone())),
        ("flow", Column::Word(series.flow.clone(), names.clone())),
        ("group", Column::Word(groups.clone(), group_names(run))),
    ];
    limits.extend(series.limits.columns());
    let mut columns = vec![
        ("time_s", Column::Real(series.time)),
        ("flow", Column::Word(series.flow, names)),
        ("group", Column::Word(groups, group_names(run))),
        ("window", Column::Real(series.window)),
        ("threshold", Column::Real(series.threshold)),
        ("in_flight", Column::Count(series.in_flight)),
        ("rtt_s", Column::Real(series.rtt)),
        ("throughput_bit_s", Column::Real(series.throughput)),
        ("retransmitted", Column::Count(series.retransmitted)),
        ("room_rate", Column::Real(series.room_rate)),
    ];
    if has_receive_window(run) {
        columns.push(("receive_window", Column::Real(series.receive_window)));
    }
    let mut table = Table::new("flow_series", columns);
    if let Some(variables) = series.variables {
        variables.add_to(&mut table);
    }
    [table, Table::new("limits", limits)]
}

fn link_series(run: &ReportSource<'_>) -> Table {
    let step: Span = run.scenario.sample;
    let links: Vec<_> = run.network.ports.iter().filter_map(|link| link.gauge().series()).collect();
    // During a run a link that hears early of acknowledgments is ahead of the others.
    let rows = links.iter().map(|series| series.queue.len()).min().unwrap_or(0);
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
    let names = run.scenario.links.iter().map(|link| link.name.clone()).collect();
    let mut columns = vec![
        ("time_s", each(&|row, _| (step * (row as u64 + 1)).seconds())),
        ("link", Column::Word(words(|link| link / 2), names)),
        ("direction", Column::Word(words(|link| link % 2), DIRECTIONS.map(String::from).to_vec())),
        ("queue", each(&|row, link| links[link].queue[row])),
        ("queue_packets", each_count(&|row, link| links[link].queue_packets[row])),
        ("utilisation", each(&|row, link| links[link].utilisation[row])),
        ("dropped", each_count(&|row, link| links[link].dropped[row])),
        ("marked", each_count(&|row, link| links[link].marked[row])),
    ];
    // Where no link changes there is nothing to tell.
    let ports = &run.network.ports;
    if ports.iter().any(|port| port.gauge().is_varying()) {
        let delay = |row, link: usize| {
            let port = &ports[link];
            port.gauge().delay(row).unwrap_or_else(|| port.delay()).seconds()
        };
        columns.push(("capacity_bit_s", each(&|row, link| ports[link].gauge().capacity(row))));
        columns.push(("delay_s", each(&delay)));
    }
    Table::new("link_series", columns)
}
