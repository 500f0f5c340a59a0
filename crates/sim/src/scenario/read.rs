//! From the text of a scenario file to a checked scenario.

use std::collections::BTreeSet;

use longfat_units::Span;

use super::choice::{Catalogue, catalogue};
use super::error::{Place, Problem, Problems, ScenarioError, Sources};
use super::fields::{Field, Fields};
use super::flow::{Around, flow};
use super::link::{Crossing, LinkDraft, draft};
use super::tree::{Node, Table, parse};
use super::value::{count, quantity};
use super::{FlowGroup, Link, Scenario, largest_packet, overrides};

const KEYS: &[&str] = &["duration", "warmup", "seed", "sample", "link", "flow"];

/// The name under which overrides are shown.
const SET: &str = "--set";

/// The clock holds 213 days; this leaves room for what is under way at the end.
const LONGEST: Span = Span::from_seconds(200 * 24 * 3600);
/// Rows of a time series, for one flow or link.
const MOST_SAMPLES: u64 = 1_000_000;
/// The usual number of rows.
const SAMPLES: u64 = 500;

impl Scenario {
    /// Reads a scenario file.
    ///
    /// `origin` is the name of the file in messages. Each of `overrides` is `key.path=value` and changes or
    /// adds one value, as `--set` does. `seed`, if given, goes before that of the file.
    ///
    /// # Errors
    /// If the scenario cannot be simulated as it stands: every problem with its place and a suggestion.
    pub fn read(
        text: &str,
        origin: &str,
        overrides: &[String],
        seed: Option<u64>,
    ) -> Result<Self, ScenarioError> {
        read_with(&catalogue(), text, origin, overrides, seed)
    }
}

/// Reads a scenario that chooses from `catalogue`.
pub(super) fn read_with(
    catalogue: &Catalogue,
    text: &str,
    origin: &str,
    overrides: &[String],
    seed: Option<u64>,
) -> Result<Scenario, ScenarioError> {
    let mut sources = vec![(origin, text)];
    sources.extend(overrides.iter().map(|text| (SET, text.as_str())));
    let sources = Sources(sources);
    let mut problems = Problems::default();

    let Some(mut root) = problems.keep(parse(text, 0)) else {
        return Err(problems.into_error(&sources));
    };
    for (index, text) in overrides.iter().enumerate() {
        problems.keep(overrides::apply(&mut root, text, index + 1));
    }
    // A file that is not what was asked for needs no further reading.
    if !problems.is_empty() {
        return Err(problems.into_error(&sources));
    }
    match scenario(&root, catalogue, &mut problems) {
        Some(scenario) if problems.is_empty() => {
            Ok(Scenario { seed: seed.unwrap_or(scenario.seed), ..scenario })
        }
        _ => Err(problems.into_error(&sources)),
    }
}

fn scenario(root: &Table, catalogue: &Catalogue, problems: &mut Problems) -> Option<Scenario> {
    let fields = Fields {
        owner: "the scenario".into(),
        class: "a scenario",
        home: Place::whole(0),
        keys: KEYS,
        table: root,
    };
    let (traffic, rest): (Vec<_>, Vec<_>) =
        root.0.iter().cloned().partition(|entry| entry.name == "traffic");
    for entry in traffic {
        let reason = "short flows that arrive at random are not available in this version";
        let help = "leave out [[traffic]], or describe each transfer as a [[flow]] with a `size`";
        problems.add(Problem::new(entry.node.place, reason).help(help));
    }
    let rest = Table(rest);
    let fields = Fields { table: &rest, ..fields };
    fields.refuse_strangers(&[], problems);

    let duration = fields.required("duration", "duration = \"60 s\"", problems, duration);
    let warmup = fields.or("warmup", Span::ZERO, problems, |field| warmup(field, duration));
    let seed = fields.or("seed", 1, problems, |field| count(field, 0, u64::MAX));
    let usual = pleasant_sample(duration.unwrap_or(LONGEST));
    let sample = fields.or("sample", usual, problems, |field| sample(field, duration));

    let link_entries = links(&fields, problems);
    let link_names: Vec<&str> =
        link_entries.map(|table| table.names().collect()).unwrap_or_default();
    let entries = link_entries.map(|table| table.0.as_slice()).unwrap_or_default();
    let drafts: Vec<LinkDraft> =
        entries.iter().filter_map(|entry| draft(entry, problems)).collect();

    let nodes = flow_list(&fields, problems);
    let around = Around { links: &drafts, link_names: &link_names, duration, catalogue };
    let flows: Vec<Option<FlowGroup>> =
        nodes.iter().map(|node| flow(node, around, problems)).collect();
    refuse_repeated_names(nodes, problems);

    // Where a flow has a problem, what it says of the links it crosses is not known.
    let flows: Option<Vec<FlowGroup>> = flows.into_iter().collect();
    let flows = flows.filter(|flows| !flows.is_empty());
    let links: Vec<Option<Link>> = drafts
        .into_iter()
        .map(|draft| {
            let index = link_names.iter().position(|name| *name == draft.name)?;
            let crossing = flows.as_ref().map(|flows| crossing(flows, index));
            draft.resolve(crossing, catalogue, problems)
        })
        .collect();
    Some(Scenario {
        duration: duration?,
        warmup: warmup?,
        seed: seed?,
        sample: sample?,
        links: links.into_iter().collect::<Option<_>>()?,
        flows: flows?,
        traffic: Vec::new(),
    })
}

fn duration(field: Field<'_>) -> Result<Span, Problem> {
    let span: Span = quantity(field)?;
    if span == Span::ZERO {
        return Err(field.problem("`duration` must be longer than zero"));
    }
    if span > LONGEST {
        return Err(field.problem("`duration` is longer than the clock lasts: 200 days at most"));
    }
    Ok(span)
}

fn warmup(field: Field<'_>, duration: Option<Span>) -> Result<Span, Problem> {
    let span: Span = quantity(field)?;
    match duration {
        Some(duration) if span >= duration => Err(field.problem(format!(
            "`warmup` takes {span} of the {duration} that are simulated: nothing is left to measure"
        ))),
        _ => Ok(span),
    }
}

fn sample(field: Field<'_>, duration: Option<Span>) -> Result<Span, Problem> {
    let span: Span = quantity(field)?;
    if span == Span::ZERO {
        return Err(field.problem("`sample` must be longer than zero"));
    }
    match duration {
        Some(duration) if duration.0 / span.0 > MOST_SAMPLES => Err(field
            .problem(format!(
                "a sample every {span} makes {} rows for each flow and link, more than {MOST_SAMPLES}",
                duration.0 / span.0
            ))
            .help(format!("write at least \"{}\"", pleasant(duration.0.div_ceil(MOST_SAMPLES))))),
        _ => Ok(span),
    }
}

/// The spacing that makes about as many rows as a picture has columns.
fn pleasant_sample(duration: Span) -> Span {
    pleasant(duration.0.div_ceil(SAMPLES))
}

/// The smallest of 1, 2, 5, 10, 20, 50, ... picoseconds that is not below `least`.
fn pleasant(least: u64) -> Span {
    let mut decade = 1;
    loop {
        for step in [1, 2, 5] {
            if decade * step >= least {
                return Span(decade * step);
            }
        }
        decade *= 10;
    }
}

/// The table of links.
fn links<'a>(fields: &Fields<'a>, problems: &mut Problems) -> Option<&'a Table> {
    let field = fields.need("link", "[link.bottleneck]", problems)?;
    match field.node.table() {
        Some(table) if !table.0.is_empty() => Some(table),
        Some(_) => {
            let problem = field.problem("the scenario has no link");
            problems.add(problem.help("add `[link.bottleneck]`"));
            None
        }
        None => {
            let problem = field.wrong("a table of links by name");
            problems.add(problem.help("begin each link with [link.NAME]"));
            None
        }
    }
}

/// The list of flows; empty, with a problem noted, where there is none.
fn flow_list<'a>(fields: &Fields<'a>, problems: &mut Problems) -> &'a [Node] {
    let Some(field) = fields.need("flow", "[[flow]]", problems) else { return &[] };
    match field.node.list() {
        Some([]) => problems.add(field.problem("the scenario has no flow").help("add `[[flow]]`")),
        Some(nodes) => return nodes,
        None => problems.add(field.wrong("a list of tables").help("begin each flow with [[flow]]")),
    }
    &[]
}

/// Names tell flows apart in every table of results.
fn refuse_repeated_names(nodes: &[Node], problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for node in nodes.iter().filter_map(|node| node.table()?.node("name")) {
        let Some(name) = node.text() else { continue };
        if !seen.insert(name) {
            let field = Field { name: "name", node };
            let reason = format!("another flow is called `{}` already", super::error::quoted(name));
            problems.add(field.problem(reason).help("give each [[flow]] a name of its own"));
        }
    }
}

/// What the flows that cross link `index` say about it.
fn crossing(flows: &[FlowGroup], index: usize) -> Crossing {
    let mut sum = 0_u128;
    let mut count = 0_u128;
    for flow in flows.iter().filter(|flow| flow.path.contains(&index)) {
        sum += u128::from(flow.rtt.mean().0) * u128::from(flow.count);
        count += u128::from(flow.count);
    }
    let rtt = sum.checked_div(count).map(|mean| Span(mean as u64));
    Crossing { packet: largest_packet(flows, index), rtt }
}
