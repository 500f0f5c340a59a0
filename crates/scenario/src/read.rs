//! From the text of a scenario file to a checked scenario.

use std::collections::BTreeMap;

use longfat_units::{Bytes, Span};

use crate::error::{Place, Problem, Problems, ScenarioError, Sources};
use crate::fields::{Field, Fields};
use crate::flow::{FLOW, flow};
use crate::group::{GroupContext, Lists, Sort};
use crate::keys;
use crate::link::{Crossing, Links, draft};
use crate::trace::{Files, TraceFiles, no_files};
use crate::traffic::{TRAFFIC, traffic};
use crate::tree::{Node, TomlTable, parse};
use crate::value::{NONE, count, flag, quantity};
use crate::{
    Catalogue, Direction, FlowGroup, Hop, Link, Replay, Scenario, TrafficGroup, largest_packets,
    overrides,
};

const KEYS: &[&str] = &keys::names(&keys::SCENARIO);

/// What studies have, and no scenario.
const STUDY: &[&str] = &["scenario", "vary", "zip"];

/// How a list of flows begins in a resolved scenario.
const LIST: &str = "list = \"";

/// The name under which messages show overrides.
const SET: &str = "--set";

/// The clock holds 213 days; this leaves room for whatever is under way at the end.
const LONGEST: Span = Span::from_seconds(200 * 24 * 3600);
/// Rows of a time series, for one flow or link.
const MOST_SAMPLES: u64 = 1_000_000;
/// The usual number of rows, for one flow or direction of a link.
const SAMPLES: u64 = 500;
/// The usual number for all of them together, which take some 300 MB: a million flows would have 140 GB otherwise.
const SAMPLES_OF_ALL: u64 = 2_000_000;

impl Scenario {
    /// The most bytes that the text of a scenario may have, apart from lists of flows. Reading takes up to 160 times as
    /// much memory.
    pub const LONGEST_TEXT: usize = 16_000_000;
    /// The most bytes that it may have with them.
    pub const LONGEST_FILE: usize = Self::LONGEST_TEXT + Replay::LONGEST;

    /// Reads a scenario file.
    ///
    /// `origin` is the name of the file in messages. Each of `overrides` is `key.path=value` and changes or adds one
    /// value, as `--set` does. `seed`, if given, overrides that of the file.
    ///
    /// # Errors
    /// If the scenario cannot be simulated as it stands: every problem with its place and a suggestion.
    pub fn read(
        text: &str,
        origin: &str,
        overrides: &[String],
        seed: Option<u64>,
    ) -> Result<Self, ScenarioError> {
        Self::read_with(&Catalogue::built_in(), text, origin, overrides, seed)
    }

    /// The same for a scenario that chooses from `catalogue`, which it then holds.
    ///
    /// # Errors
    /// As for [`Scenario::read`].
    pub fn read_with(
        catalogue: &Catalogue,
        text: &str,
        origin: &str,
        overrides: &[String],
        seed: Option<u64>,
    ) -> Result<Self, ScenarioError> {
        let mut files = no_files;
        let read =
            Self::read_while(catalogue, text, origin, overrides, seed, &mut files, &mut || true);
        read.expect("nobody stops it")
    }

    /// The same, with `files` to open the traces that it names, and asking `go_on` before each link, group and
    /// override. `None` once that has said no.
    ///
    /// # Errors
    /// As for [`Scenario::read`].
    pub fn read_while(
        catalogue: &Catalogue,
        text: &str,
        origin: &str,
        overrides: &[String],
        seed: Option<u64>,
        files: Files<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Result<Self, ScenarioError>> {
        let mut watch = Watch { go_on, stopped: false };
        let read = Self::read_watched(catalogue, text, origin, overrides, files, &mut watch);
        let read = read.map(|scenario| Self { seed: seed.unwrap_or(scenario.seed), ..scenario });
        (!watch.stopped).then_some(read)
    }

    fn read_watched(
        catalogue: &Catalogue,
        text: &str,
        origin: &str,
        overrides: &[String],
        files: Files<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Self, ScenarioError> {
        let mut texts = vec![(origin, text)];
        texts.extend(overrides.iter().map(|text| (SET, text.as_str())));
        let own = texts.len();
        let sources = Sources { texts, own };
        let mut files = TraceFiles::new(files, own);
        let mut problems = Problems::default();

        let length = length(text);
        if length > Self::LONGEST_TEXT || text.len() > Self::LONGEST_FILE {
            let reason = format!(
                "this is too long for a scenario: {}, and at most {} is read",
                Bytes(length as u64),
                Bytes(Self::LONGEST_TEXT as u64)
            );
            let help = "write identical flows as one group with a `count`";
            problems.add(Problem::new(Place::whole(0), reason).help(help));
            return Err(problems.into_error(&sources));
        }
        let Some(mut root) = problems.keep(parse(text, 0)) else {
            return Err(problems.into_error(&sources));
        };
        for (index, text) in overrides.iter().enumerate() {
            if problems.is_full() || !watch.goes_on() {
                break;
            }
            problems.keep(overrides::apply(&mut root, text, index + 1));
        }
        // If an override failed, this is not the scenario that was asked for, and reading on is pointless.
        if !problems.is_empty() {
            return Err(problems.into_error(&sources));
        }
        match scenario(&root, catalogue, &mut files, &mut problems, watch) {
            Some(scenario) if problems.is_empty() => Ok(scenario),
            _ => {
                let texts = sources.texts.into_iter().chain(files.sources()).collect();
                Err(problems.into_error(&Sources { texts, own }))
            }
        }
    }
}

/// The length of a text without the lists of flows in it: lines with a single text, which takes little more memory than
/// it has bytes.
fn length(text: &str) -> usize {
    let is_list = |line: &str| {
        let list = line.strip_prefix(LIST).and_then(|rest| rest.trim_end().strip_suffix('"'));
        list.is_some_and(|list| !list.contains(['"', '\\']))
    };
    text.split_inclusive('\n').filter(|line| !is_list(line)).map(str::len).sum()
}

/// Asks whether to go on, until the answer is no.
struct Watch<'a> {
    go_on: &'a mut dyn FnMut() -> bool,
    stopped: bool,
}

impl Watch<'_> {
    fn goes_on(&mut self) -> bool {
        self.stopped = self.stopped || !(self.go_on)();
        !self.stopped
    }
}

/// Whether this is the file of a study, about which nothing that a scenario lacks need be said.
fn refuse_study(root: &TomlTable, problems: &mut Problems) -> bool {
    let entry = root.0.iter().find(|entry| STUDY.contains(&entry.name.as_str()));
    let Some(entry) = entry else { return false };
    let reason = format!("`{}` is not a key of a scenario, but of a study", entry.name);
    problems.add(Problem::new(entry.key, reason).help("`longfat study` runs it"));
    true
}

fn scenario(
    root: &TomlTable,
    catalogue: &Catalogue,
    files: &mut TraceFiles<'_>,
    problems: &mut Problems,
    watch: &mut Watch<'_>,
) -> Option<Scenario> {
    let fields = Fields {
        owner: "the scenario".into(),
        class: "a scenario",
        home: Place::whole(0),
        keys: KEYS,
        table: root,
    };
    if refuse_study(root, problems) {
        return None;
    }
    fields.refuse_strangers(problems);

    let duration = fields.required("duration", "duration = \"60 s\"", problems, duration);
    let warmup = fields.or("warmup", Span::ZERO, problems, |field| warmup(field, duration));
    let seed = fields.or("seed", 1, problems, |field| count(field, 0, u64::MAX));
    let sample = fields.or("sample", None, problems, |field| sample(field, duration).map(Some));
    let observe = fields.or("observe", false, problems, flag);
    let delay_percentiles = fields.or("delay_percentiles", false, problems, flag);

    let link_entries = links(&fields, problems);
    let entries = link_entries.map(|table| table.0.as_slice()).unwrap_or_default();
    let mut drafts = Vec::with_capacity(entries.len());
    for entry in entries {
        if !watch.goes_on() {
            return None;
        }
        drafts.push((entry.name.as_str(), draft(entry, duration, files, problems)));
    }
    let links = Links::new(drafts);

    let flow_nodes = groups(&fields, FLOW, problems);
    let traffic_nodes = groups(&fields, TRAFFIC, problems);
    if let (Some([]), Some([])) = (flow_nodes, traffic_nodes) {
        refuse_silence(&fields, problems);
    }
    let lists = lists(traffic_nodes.unwrap_or_default(), files);
    let context = GroupContext { links: &links, duration, catalogue, lists: &lists };
    let flows = flow_nodes.and_then(|nodes| every(nodes, flow, context, problems, watch));
    let traffic = traffic_nodes.and_then(|nodes| every(nodes, traffic, context, problems, watch));
    refuse_repeated_names(&[(FLOW, flow_nodes), (TRAFFIC, traffic_nodes)], problems);

    // If any group has a problem, what it says about the links it crosses is unknown.
    let known = flows.as_ref().zip(traffic.as_ref());
    let known = known.filter(|(flows, traffic)| !flows.is_empty() || !traffic.is_empty());
    let crossings = known.map(|(flows, traffic)| crossings(flows, traffic, entries.len()));
    let links: Vec<Option<Link>> = links
        .into_drafts()
        .enumerate()
        .take_while(|_| watch.goes_on())
        .map(|(index, draft)| {
            let crossing = crossings.as_ref().map(|crossings| crossings[index]);
            draft?.resolve(crossing, catalogue, problems)
        })
        .collect();
    let (duration, flows) = (duration?, flows?);
    let links: Vec<Link> = links.into_iter().collect::<Option<_>>()?;
    let scenario = Scenario {
        duration,
        warmup: warmup?,
        seed: seed?,
        sample: sample?.unwrap_or_else(|| usual_sample(duration, &links, &flows)),
        observe: observe?,
        delay_percentiles: delay_percentiles?,
        links,
        flows,
        traffic: traffic?,
        catalogue: catalogue.without_code(),
    };
    if watch.stopped {
        return None;
    }
    let nodes = flow_nodes.into_iter().chain(traffic_nodes).flatten();
    refuse_missing_queues(&scenario, nodes, problems);
    Some(scenario)
}

/// Opens the lists of flows that groups of traffic name, once each.
fn lists<'f>(nodes: &[Node], files: &'f mut TraceFiles<'_>) -> Lists<'f> {
    let mut sources = BTreeMap::new();
    for node in nodes.iter().filter_map(|node| node.table()?.node("replay")) {
        let Some(name) = node.text().filter(|name| *name != NONE) else { continue };
        if !sources.contains_key(name) {
            sources.insert(name.to_owned(), files.open_list(name));
        }
    }
    let files = &*files;
    let text = |source: usize| (source, files.text(source));
    sources.into_iter().map(|(name, source)| (name, source.map(text))).collect()
}

fn duration(field: Field<'_>) -> Result<Span, Problem> {
    let span: Span = quantity(field)?;
    if span == Span::ZERO {
        return Err(field.problem("`duration` must be longer than zero"));
    }
    if span > LONGEST {
        return Err(
            field.problem("`duration` is longer than the clock can count: at most 200 days")
        );
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

/// The spacing that gives about as many rows as a picture has columns, or fewer where there are very many flows and links.
fn usual_sample(duration: Span, links: &[Link], flows: &[FlowGroup]) -> Span {
    let series = 2 * links.len() as u64 + flows.iter().map(FlowGroup::flows).sum::<u64>();
    let rows = SAMPLES_OF_ALL.checked_div(series).map_or(SAMPLES, |rows| rows.clamp(1, SAMPLES));
    pleasant(duration.0.div_ceil(rows))
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
fn links<'a>(fields: &Fields<'a>, problems: &mut Problems) -> Option<&'a TomlTable> {
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

/// Where a controller needs priorities, every queue along its path must take them into account; where it needs a queue
/// of a certain kind, one of them must be that. `nodes` are the groups, long flows first.
fn refuse_missing_queues<'a>(
    scenario: &Scenario,
    nodes: impl Iterator<Item = &'a Node>,
    problems: &mut Problems,
) {
    let packets = scenario.largest_packets();
    let flows = scenario.flows.iter().map(|flow| (&flow.control, &flow.path));
    let traffic = scenario.traffic.iter().map(|group| (&group.control, &group.path));
    let mut every: Vec<_> = flows.chain(traffic).zip(nodes).collect();
    let groups = every.split_off(scenario.flows.len());
    for (group, (own, node)) in scenario.traffic.iter().zip(groups) {
        every.push((own, node));
        let listed = group.replay.iter().flat_map(|replay| replay.kinds());
        every.extend(listed.map(|kind| ((&kind.control, &kind.path), node)));
    }
    for ((control, path), node) in every {
        let needs = control.entry.needs(&control.settings);
        if !needs.priorities && needs.queue.is_none() {
            continue;
        }
        let place = node.table().and_then(|table| table.node("control")).unwrap_or(node).place;
        let is_there = |kind: &str| {
            path.iter()
                .any(|hop| scenario.links[hop.link].direction(hop.reverse).queue.kind() == kind)
        };
        if let Some(kind) = needs.queue.filter(|kind| !is_there(kind)) {
            let reason = format!(
                "`{}` needs routers that take part, but no link of its path has the queue \"{kind}\"",
                control.kind()
            );
            let help = format!("give the slowest link `queue = \"{kind}\"`");
            problems.add(Problem::new(place, reason).help(help));
        }
        if !needs.priorities {
            continue;
        }
        let heeds = |hop: &Hop| {
            let direction = scenario.links[hop.link].direction(hop.reverse);
            heeds_priorities(direction, packets[hop.link])
        };
        let Some(hop) = path.iter().find(|hop| !heeds(hop)) else { continue };
        let reason = format!(
            "`{}` needs queues that respect priorities, but the queue of link `{}` does not",
            control.kind(),
            scenario.links[hop.link].name
        );
        let mut problem = Problem::new(place, reason);
        let mut disciplines = scenario.catalogue.disciplines().iter();
        if let Some(entry) = disciplines.find(|entry| entry.heeds_priorities()) {
            problem = problem.help(format!("give the link `queue = \"{}\"`", entry.name));
        }
        problems.add(problem);
    }
}

fn heeds_priorities(direction: &Direction, packet: Bytes) -> bool {
    let queue = &direction.queue;
    (queue.entry.build)(&queue.settings, &direction.site(packet)).heeds_priorities()
}

/// The tables of one kind; empty if there are none, `None` if that cannot be determined.
fn groups<'a>(fields: &Fields<'a>, sort: Sort, problems: &mut Problems) -> Option<&'a [Node]> {
    let Some(field) = fields.find(sort.key) else { return Some(&[]) };
    let nodes = field.node.list();
    if nodes.is_none() {
        let problem = field.wrong("a list of tables");
        problems.add(problem.help(format!("begin each one with [[{}]]", sort.key)));
    }
    nodes
}

/// Reads one group.
type Read<T> = fn(&Node, GroupContext<'_>, &mut Problems) -> Option<T>;

/// All groups, if every one is right. Each node is read in any case, for its problems, until there are enough of them.
fn every<T>(
    nodes: &[Node],
    read: Read<T>,
    context: GroupContext<'_>,
    problems: &mut Problems,
    watch: &mut Watch<'_>,
) -> Option<Vec<T>> {
    let mut values = Some(Vec::with_capacity(nodes.len()));
    for node in nodes {
        if problems.is_full() || !watch.goes_on() {
            return None;
        }
        match (read(node, context, problems), &mut values) {
            (Some(value), Some(values)) => values.push(value),
            _ => values = None,
        }
    }
    values
}

/// Refuses a scenario in which nobody sends anything.
fn refuse_silence(fields: &Fields<'_>, problems: &mut Problems) {
    let place = fields.find(FLOW.key).or_else(|| fields.find(TRAFFIC.key));
    let place = place.map_or(fields.home, |field| field.node.place);
    if !problems.is_full() && !fields.misspelt(FLOW.key) && !fields.misspelt(TRAFFIC.key) {
        let reason = "the scenario has neither a flow nor traffic";
        problems.add(Problem::new(place, reason).help("add `[[flow]]`, or `[[traffic]]`"));
    }
}

/// Groups are told apart by name in every table of results.
fn refuse_repeated_names(groups: &[(Sort, Option<&[Node]>)], problems: &mut Problems) {
    let mut seen = BTreeMap::new();
    for (sort, nodes) in groups {
        let tables = nodes.unwrap_or_default().iter().filter_map(Node::table);
        for node in tables.filter_map(|table| table.node("name")) {
            let Some(name) = node.text() else { continue };
            let Some(other) = seen.insert(name, sort.another) else { continue };
            let reason = format!("{other} is already called `{}`", crate::error::quoted(name));
            let help = format!("give each [[{}]] a name of its own", sort.key);
            problems.add(Field { name: "name", node }.problem(reason).help(help));
        }
    }
}

/// What the flows that cross each link say about it.
fn crossings(flows: &[FlowGroup], traffic: &[TrafficGroup], links: usize) -> Vec<Crossing> {
    let (mut long, mut short) = (vec![Mean::default(); links], vec![Mean::default(); links]);
    for flow in flows {
        let rtt = flow.rtt.mean();
        flow.path.iter().for_each(|hop| long[hop.link].add(rtt, flow.count as f64));
    }
    for group in traffic {
        let rtt = group.rtt.mean();
        group.path.iter().for_each(|hop| short[hop.link].add(rtt, group.arrivals));
        // Links that only listed flows cross: the weight of each is not known, and does not matter among equals.
        let crossed = |hop: &&Hop| group.path.iter().any(|other| other.link == hop.link);
        let listed = group.paths().flatten().filter(|hop| !crossed(hop));
        listed.for_each(|hop| short[hop.link].add(rtt, group.arrivals));
    }
    let packets = largest_packets(flows, traffic, links);
    let round_trips = long.iter().zip(&short).map(|(long, short)| long.span().or(short.span()));
    packets.into_iter().zip(round_trips).map(|(packet, rtt)| Crossing { packet, rtt }).collect()
}

/// The weighted mean of round trips. The mean of equal ones is exact to the picosecond.
#[derive(Clone, Copy, Default)]
struct Mean {
    /// What the others are compared with; `None` as long as there are none.
    first: Option<Span>,
    /// Weighted differences from it, in picoseconds.
    beyond: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, span: Span, weight: f64) {
        let first = *self.first.get_or_insert(span);
        self.beyond += (span.0.cast_signed() - first.0.cast_signed()) as f64 * weight;
        self.weight += weight;
    }

    fn span(&self) -> Option<Span> {
        let beyond = (self.beyond / self.weight).round() as i64;
        self.first.map(|first| Span(first.0.saturating_add_signed(beyond)))
    }
}
