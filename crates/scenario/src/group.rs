//! What `[[flow]]` and `[[traffic]]` have in common: a name, a controller, a path along links, a transport.

use std::collections::{BTreeMap, BTreeSet};

use longfat_control::{Controller, Needs, Sending, Start};
use longfat_units::{Ecn, Span};

use crate::choice::{self, Chosen, chosen, refused, settings};
use crate::error::{Problem, Problems, did_you_mean, listed, quoted};
use crate::fields::{Field, Fields};
use crate::keys;
use crate::link::{LinkDraft, Links};
use crate::profile;
use crate::spans::extent_problem;
use crate::transport::transport;
use crate::tree::{Node, TomlTable};
use crate::value::{flag, name};
use crate::{Catalogue, Choice, EcnFeedback, Hop, Recovery, Spans, Transport};

/// A packet counts the links that it has crossed, in 16 bits.
const MOST_LINKS: usize = u16::MAX as usize;
const HOP_KEYS: &[&str] = &keys::names(&keys::HOP);

/// The context in which a group is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupContext<'a> {
    pub(crate) links: &'a Links<'a>,
    pub(crate) duration: Option<Span>,
    pub(crate) catalogue: &'a Catalogue,
    /// The lists of flows that the scenario names.
    pub(crate) lists: &'a Lists<'a>,
}

/// Lists of flows by the names of their files: the number of each text among those of the scenario, and the text; or why
/// there is none.
pub(crate) type Lists<'a> = BTreeMap<String, Result<(usize, &'a str), String>>;

/// One of the two kinds of group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sort {
    /// The key at the top of the file.
    pub(crate) key: &'static str,
    /// What one is called in messages.
    pub(crate) class: &'static str,
    /// What messages call one that repeats a name.
    pub(crate) another: &'static str,
    /// A typical name.
    pub(crate) example: &'static str,
    pub(crate) keys: &'static [&'static str],
}

/// The table of a group, with its profile underneath, and where it stands.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    sort: Sort,
    node: &'a Node,
    table: TomlTable,
}

impl<'a> Draft<'a> {
    /// Starts on one group.
    pub(crate) fn new(sort: Sort, node: &'a Node, problems: &mut Problems) -> Option<Self> {
        let Some(table) = node.table() else {
            let wanted = format!("a table with the keys of {}", sort.class);
            let problem = Field { name: sort.key, node }.wrong(&wanted);
            problems.add(problem.help(format!("begin it with [[{}]]", sort.key)));
            return None;
        };
        Some(Self { sort, node, table: profile::lay(table, problems) })
    }

    /// Its keys.
    pub(crate) fn fields(&self, problems: &mut Problems) -> Fields<'_> {
        let owner = match self.table.node("name").and_then(Node::text) {
            Some(name) => format!("{} `{}`", self.sort.key, quoted(name)),
            None => format!("this {}", self.sort.key),
        };
        let Sort { class, keys, .. } = self.sort;
        let fields = Fields { owner, class, home: self.node.place, keys, table: &self.table };
        fields.refuse_strangers(problems);
        fields
    }
}

/// The common part of a group, as far as it could be read.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) name: Option<String>,
    pub(crate) control: Option<Choice<Controller>>,
    /// The links in the order written, with what is written about each.
    path: Option<Vec<Hop>>,
    pub(crate) reverse: Option<bool>,
    pub(crate) transport: Option<Transport>,
}

impl Common {
    /// Reads the common keys of a group.
    pub(crate) fn read(
        fields: &Fields<'_>,
        sort: Sort,
        context: GroupContext<'_>,
        problems: &mut Problems,
    ) -> Self {
        let example = format!("name = \"{}\"", sort.example);
        let name = fields.required("name", &example, problems, |field| {
            let text = field.node.text().ok_or_else(|| field.wrong("a name in quotation marks"))?;
            name(text, field.node.place, sort.class).map(String::from)
        });
        let control = fields.required("control", "control = \"reno\"", problems, chosen);
        let control = control.and_then(|chosen| controller(chosen, context.catalogue, problems));
        let reverse = fields.or("reverse", false, problems, flag);
        // With no links at all there is one problem, not one more for each group.
        let path = fields
            .need("path", &example_path(context), problems)
            .filter(|_| !context.links.is_empty())
            .and_then(|field| path(field, context.links, problems));
        let needs =
            control.as_ref().map_or(Needs::NONE, |control| control.entry.needs(&control.settings));
        let transport = transport(fields, needs, problems);
        if let (Some(control), Some(transport)) = (&control, &transport) {
            problems.keep(provides(fields, transport, control));
        }
        let common = Self { name, control, path, reverse, transport };
        if let (Some(path), Some(transport)) = (common.travel(), &common.transport) {
            problems.keep(jitter_is_small(fields, transport, &path, context));
        }
        common
    }

    /// The path in the order of travel.
    pub(crate) fn travel(&self) -> Option<Vec<Hop>> {
        Some(travel(self.path.clone()?, self.reverse?))
    }

    /// The round trips, read by `read`, which must be at least as long as the links of the path.
    pub(crate) fn round_trips(
        &self,
        fields: &Fields<'_>,
        context: GroupContext<'_>,
        problems: &mut Problems,
        read: impl FnOnce(Field<'_>) -> Result<Spans, Problem>,
    ) -> Option<Spans> {
        let field = fields.need("rtt", "rtt = \"80 ms\"", problems)?;
        let rtt = problems.keep(read(field))?;
        if let Some(path) = &self.path {
            problems.keep(reaches(field, &rtt, path, context));
        }
        Some(rtt)
    }
}

/// A path as written, in the order of travel.
pub(crate) fn travel(mut path: Vec<Hop>, backwards: bool) -> Vec<Hop> {
    if backwards {
        path.reverse();
    }
    for hop in &mut path {
        hop.reverse ^= backwards;
    }
    path
}

/// Whatever starts at `start` must do so before the simulation ends.
pub(crate) fn refuse_late_start(
    fields: &Fields<'_>,
    start: &Spans,
    context: GroupContext<'_>,
    problems: &mut Problems,
) {
    let (Some(field), Some(duration)) = (fields.find("start"), context.duration) else { return };
    if start.greatest() < duration {
        return;
    }
    let class = fields.class;
    problems.add(extent_problem(
        field,
        start,
        |start| start >= duration,
        |at| format!("{class} cannot start at {at}: the simulation lasts {duration}"),
    ));
}

pub(crate) fn controller(
    chosen: Chosen<'_>,
    catalogue: &Catalogue,
    problems: &mut Problems,
) -> Option<Choice<Controller>> {
    let entry = problems.keep(choice::controller(catalogue, chosen))?;
    let no_length = |field: Field<'_>, _| {
        Err(field.problem("a controller has no queue, so it cannot have a queue length"))
    };
    let settings = settings(chosen, (&*entry, &entry.parameters), catalogue, &no_length, problems)?;
    problems.keep((entry.check)(&settings).map_err(|refusal| refused(chosen, refusal)))?;
    Some(Choice { entry, settings })
}

/// Does the flow have what its controller cannot do without?
pub(crate) fn provides(
    fields: &Fields<'_>,
    transport: &Transport,
    control: &Choice<Controller>,
) -> Result<(), Problem> {
    let kind = control.kind();
    let needs = control.entry.needs(&control.settings);
    let place = |key: &str| {
        let field = fields.find(key).or_else(|| fields.find("control"));
        field.map_or(fields.home, |field| field.node.place)
    };
    if (needs.ecn || needs.ect1) && transport.ecn == Ecn::NotEct {
        let reason = format!(
            "`{kind}` needs marks from routers, but this flow cannot carry any: `ecn` is false"
        );
        return Err(Problem::new(place("ecn"), reason).help("write `ecn = true`"));
    }
    if needs.accurate_ecn && transport.ecn_feedback != EcnFeedback::Accurate {
        let reason = format!("`{kind}` needs to hear how many segments were marked");
        let help = "leave `ecn_feedback` out, or write `ecn_feedback = \"accurate\"`";
        return Err(Problem::new(place("ecn_feedback"), reason).help(help));
    }
    if transport.recovery == Recovery::Quic && transport.ecn_feedback == EcnFeedback::Echo {
        let reason = "packets that have numbers are acknowledged with a count of the marks";
        let help = "leave `ecn_feedback` out, or write `ecn_feedback = \"accurate\"`";
        return Err(Problem::new(place("ecn_feedback"), reason).help(help));
    }
    if transport.recovery == Recovery::Quic && transport.receive_window.is_some() {
        let reason = "the flow control of QUIC is not modelled: with `recovery = \"quic\"` no receiver holds the sender back";
        let help = "leave `receive_window` out; `max_window` bounds what is in flight";
        return Err(Problem::new(place("receive_window"), reason).help(help));
    }
    let burst = || {
        let sending = (control.entry.build)(&control.settings, &Start::default());
        matches!(sending, Sending::Bursts(_))
    };
    if transport.receive_window.is_some() && burst() {
        let reason = format!("`{kind}` sends without a window, so no receiver can hold it back");
        let help = "leave `receive_window` out; `max_window` bounds what is in flight";
        return Err(Problem::new(place("receive_window"), reason).help(help));
    }
    if needs.pacing && transport.pacing.is_some() {
        let reason =
            format!("`{kind}` itself decides when each packet leaves, so it cannot be paced");
        return Err(Problem::new(place("pacing"), reason).help("leave `pacing` out"));
    }
    if needs.access && transport.access.is_none() {
        let reason = format!("`{kind}` needs to know the rate of the sender's own link, `access`");
        return Err(Problem::new(place("access"), reason).help("add `access = \"10 Gbit/s\"`"));
    }
    Ok(())
}

/// Is the jitter of the host no longer than a packet takes on the slowest link of the path? More would not only blur
/// where packets fall between those of others, but also how fast they are sent.
pub(crate) fn jitter_is_small(
    fields: &Fields<'_>,
    transport: &Transport,
    path: &[Hop],
    context: GroupContext<'_>,
) -> Result<(), Problem> {
    let (Some(jitter), Some(field)) = (transport.host_jitter, fields.find("host_jitter")) else {
        return Ok(());
    };
    // A link with a problem of its own has already reported it.
    let links = path.iter().filter_map(|hop| context.links.draft(hop.link)?.rate(hop.reverse));
    let Some(slowest) = links.chain(transport.access).min() else { return Ok(()) };
    let most = slowest.time_for(transport.packet);
    if jitter <= most {
        return Ok(());
    }
    let reason = format!(
        "a jitter of {jitter} is longer than the {most} that a packet of {} takes at {slowest}",
        transport.packet
    );
    Err(field.problem(reason).help(format!("write at most \"{most}\"")))
}

fn example_path(context: GroupContext<'_>) -> String {
    format!("path = [\"{}\"]", context.links.names().next().unwrap_or("bottleneck"))
}

/// The links of a path, in the order written.
pub(crate) fn path(
    field: Field<'_>,
    links: &Links<'_>,
    problems: &mut Problems,
) -> Option<Vec<Hop>> {
    let items = problems.keep(path_items(field))?;
    let mut path = Vec::with_capacity(items.len());
    let mut crossed = BTreeSet::new();
    for item in items {
        let hop = hop(Field { name: field.name, node: item }, links, problems)?;
        if !crossed.insert(hop.link) {
            let name = links.names().nth(hop.link).unwrap_or_default();
            let field = Field { name: field.name, node: item };
            problems.add(field.problem(format!("this path crosses link `{name}` twice")));
            return None;
        }
        path.push(hop);
    }
    Some(path)
}

fn path_items(field: Field<'_>) -> Result<&[Node], Problem> {
    let Some(items) = field.node.list() else {
        let help = field.node.text().map(|text| format!("write [\"{}\"]", quoted(text)));
        return Err(field.wrong("a list of link names").maybe_help(help));
    };
    if items.is_empty() {
        return Err(field.problem("a path crosses at least one link, but this one is empty"));
    }
    if items.len() > MOST_LINKS {
        return Err(field.problem(format!(
            "this path crosses {} links, and {MOST_LINKS} are the most",
            items.len()
        )));
    }
    Ok(items)
}

/// A link of a path: its name, or a table that may say that it is crossed backwards.
fn hop(field: Field<'_>, links: &Links<'_>, problems: &mut Problems) -> Option<Hop> {
    let Some(table) = field.node.table() else {
        let link = problems.keep(link(field, links))?;
        return Some(Hop { link, reverse: false });
    };
    let (owner, home) = ("this link of the path".into(), field.node.place);
    let fields = Fields { owner, class: "a link of a path", home, keys: HOP_KEYS, table };
    fields.refuse_strangers(problems);
    let example = format!("link = \"{}\"", links.names().next().unwrap_or("bottleneck"));
    let link = fields.required("link", &example, problems, |field| link(field, links));
    let reverse = fields.or("reverse", false, problems, flag);
    Some(Hop { link: link?, reverse: reverse? })
}

/// The index of the link with this name.
fn link(field: Field<'_>, links: &Links<'_>) -> Result<usize, Problem> {
    let Some(text) = field.node.text() else {
        let found = field.node.describe();
        return Err(
            field.problem(format!("a path is a list of link names, and {found} is not one"))
        );
    };
    links.index(text).ok_or_else(|| {
        let help = did_you_mean(text, links.names())
            .unwrap_or_else(|| format!("the links are: {}", listed(links.names())));
        field.problem(format!("there is no link called `{}`", quoted(text))).help(help)
    })
}

/// Is every round trip at least as long as the links of the path?
fn reaches(
    field: Field<'_>,
    rtt: &Spans,
    path: &[Hop],
    context: GroupContext<'_>,
) -> Result<(), Problem> {
    let mut least = Span::ZERO;
    for hop in path {
        // A link with a problem of its own has already reported it.
        let link = context.links.draft(hop.link);
        let Some(delay) = link.and_then(LinkDraft::there_and_back) else { return Ok(()) };
        least = Span(least.0.saturating_add(delay.0));
    }
    if rtt.least() >= least {
        return Ok(());
    }
    let problem = extent_problem(
        field,
        rtt,
        |rtt| rtt < least,
        |at| {
            let links =
                if path.len() == 1 { "the link takes" } else { "the links of the path take" };
            format!("a round trip of {at} is too short: {links} {least} there and back")
        },
    );
    Err(problem.help(format!("write at least \"{least}\", or shorten the delay of the links")))
}
