//! Flow groups: who sends, along which links, from when to when, and how.

use longfat_control::SlowStart;
use longfat_units::parameter::shortest;
use longfat_units::{Bytes, Span, split};

use super::choice::{Catalogue, Chosen, chosen, settings};
use super::error::{Problem, Problems, did_you_mean, quoted};
use super::fields::{Field, Fields};
use super::lengths::UNLIMITED;
use super::link::LinkDraft;
use super::spans::{extent_problem, spans};
use super::tree::Node;
use super::value::{ACK, count, flag, name, number, quantity, quantity_or, rate, wait, word};
use super::{Choice, FlowGroup, Recovery, Spans, Transport};

/// What stands for the absence of a bound.
pub(super) const NONE: &str = "none";

const KEYS: &[&str] = &[
    "name",
    "control",
    "count",
    "path",
    "reverse",
    "rtt",
    "start",
    "stop",
    "size",
    "packet",
    "initial_window",
    "initial_threshold",
    "slow_start",
    "recovery",
    "delayed_ack",
    "rto_min",
    "ecn",
    "max_window",
    "access",
];
const PLANNED: &[&str] = &["profile"];

const MOST_FLOWS: u64 = 1_000_000;
const LARGEST_PACKET: Bytes = Bytes(65_535);
const LARGEST_INITIAL_WINDOW: f64 = 1e7;

/// What a flow is read against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) links: &'a [LinkDraft],
    /// Every link of the file, also those that could not be read.
    pub(super) link_names: &'a [&'a str],
    pub(super) duration: Option<Span>,
    pub(super) catalogue: &'a Catalogue,
}

/// Reads one `[[flow]]`.
pub(super) fn flow(node: &Node, around: Around<'_>, problems: &mut Problems) -> Option<FlowGroup> {
    let Some(table) = node.table() else {
        let field = Field { name: "flow", node };
        problems.add(field.wrong("a table with the keys of a flow").help("begin it with [[flow]]"));
        return None;
    };
    let owner = match table.node("name").and_then(Node::text) {
        Some(name) => format!("flow `{}`", quoted(name)),
        None => "this flow".into(),
    };
    let fields = Fields { owner, class: "a flow", home: node.place, keys: KEYS, table };
    fields.refuse_strangers(PLANNED, problems);

    let name = fields.required("name", "name = \"forward\"", problems, |field| {
        let text = field.node.text().ok_or_else(|| field.wrong("a name in quotation marks"))?;
        name(text, field.node.place, "flow").map(String::from)
    });
    let control = fields.required("control", "control = \"reno\"", problems, chosen);
    let control = control.and_then(|chosen| controller(chosen, around.catalogue, problems));
    let count = fields.or("count", 1, problems, |field| count(field, 1, MOST_FLOWS));
    let reverse = fields.or("reverse", false, problems, flag);
    // Without any link there is one problem, and not one more for each flow.
    let path = fields
        .need("path", &example_path(around), problems)
        .filter(|_| !around.link_names.is_empty())
        .and_then(|field| problems.keep(path(field, around.link_names)));
    let rtt_field = fields.need("rtt", "rtt = \"80 ms\"", problems);
    let rtt = rtt_field.and_then(|field| problems.keep(spans(field, count, wait)));
    if let (Some(field), Some(rtt), Some(path)) = (rtt_field, &rtt, &path) {
        problems.keep(reaches(field, rtt, path, around));
    }
    let start = fields
        .or("start", Spans::Same(Span::ZERO), problems, |field| spans(field, count, quantity));
    if let (Some(field), Some(start), Some(duration)) =
        (fields.find("start"), &start, around.duration)
        && start.greatest() >= duration
    {
        problems.add(extent_problem(
            field,
            start,
            |start| start >= duration,
            |at| format!("a flow that starts at {at} never does: the simulation lasts {duration}"),
        ));
    }
    let stop = fields.or("stop", None, problems, |field| stop(field, start.as_ref()));
    let transport = transport(&fields, problems);
    let packet = transport.as_ref().map(|transport| transport.packet);
    let size = fields.or("size", None, problems, |field| size(field, packet));
    let mut path = path?;
    if reverse? {
        path.reverse();
    }
    Some(FlowGroup {
        name: name?,
        control: control?,
        count: count?,
        path,
        reverse: reverse?,
        rtt: rtt?,
        start: start?,
        stop: stop?,
        size: size?,
        transport: transport?,
    })
}

fn controller(
    chosen: Chosen<'_>,
    catalogue: &Catalogue,
    problems: &mut Problems,
) -> Option<Choice> {
    let controller = problems.keep(catalogue.controller(chosen))?;
    let no_length = |field: Field<'_>, _| {
        Err(field.problem("a controller has no queue, so it cannot have a queue length"))
    };
    let settings = settings(chosen, controller.parameters, catalogue, &no_length, problems)?;
    Some(Choice { kind: controller.name, settings })
}

fn example_path(around: Around<'_>) -> String {
    format!("path = [\"{}\"]", around.link_names.first().unwrap_or(&"bottleneck"))
}

/// Indices of the links of a path, in the order in which they are written.
fn path(field: Field<'_>, link_names: &[&str]) -> Result<Vec<usize>, Problem> {
    let Some(items) = field.node.list() else {
        let help = field.node.text().map(|text| format!("write [\"{}\"]", quoted(text)));
        return Err(field.wrong("a list of names of links").maybe_help(help));
    };
    if items.is_empty() {
        return Err(field.problem("a path crosses at least one link, and this one is empty"));
    }
    let mut path = Vec::with_capacity(items.len());
    for item in items {
        let item_field = Field { name: field.name, node: item };
        let Some(text) = item.text() else {
            return Err(item_field.problem(format!(
                "a path is a list of names of links, and {} is none",
                item.describe()
            )));
        };
        let Some(index) = link_names.iter().position(|name| *name == text) else {
            let reason = format!("there is no link called `{}`", quoted(text));
            let help = did_you_mean(text, link_names.iter().copied())
                .unwrap_or_else(|| format!("the links are: {}", link_names.join(", ")));
            return Err(item_field.problem(reason).help(help));
        };
        if path.contains(&index) {
            return Err(item_field.problem(format!("this path crosses link `{text}` twice")));
        }
        path.push(index);
    }
    Ok(path)
}

/// Is every round trip at least as long as the links of the path?
fn reaches(
    field: Field<'_>,
    rtt: &Spans,
    path: &[usize],
    around: Around<'_>,
) -> Result<(), Problem> {
    let mut least = Span::ZERO;
    for &index in path {
        let name = around.link_names[index];
        let link = around.links.iter().find(|link| link.name == name);
        // A link with a problem of its own has said so.
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

/// When to stop: after every possible start.
fn stop(field: Field<'_>, start: Option<&Spans>) -> Result<Option<Span>, Problem> {
    let stop: Option<Span> = quantity_or(field, NONE)?;
    if let (Some(stop), Some(start)) = (stop, start)
        && stop <= start.greatest()
    {
        let last = start.greatest();
        return Err(field
            .problem(format!("a flow cannot stop at {stop} when it may start as late as {last}")));
    }
    Ok(stop)
}

/// How much to send: bytes, or packets of the flow.
fn size(field: Field<'_>, packet: Option<Bytes>) -> Result<Option<Bytes>, Problem> {
    let text = field.node.text().unwrap_or_default();
    if text == UNLIMITED || text == NONE {
        return Ok(None);
    }
    let bytes = match split(text) {
        (digits, "packets" | "packet") => {
            let count: u64 = digits.replace('_', "").parse().map_err(|_| {
                field.problem(format!("`{}` is not a whole number of packets", quoted(digits)))
            })?;
            // Where the packet has a problem of its own, any size will do here.
            let packet = packet.unwrap_or(Bytes(1));
            let bytes = count.checked_mul(packet.0);
            Bytes(bytes.ok_or_else(|| field.problem("`size` is larger than can be counted"))?)
        }
        (_, "") => {
            let problem = field.wrong("a size such as \"10 MB\" or \"1000 packets\"");
            let number = field.node.number().filter(|number| *number >= 1.0);
            let help = number.map(|number| format!("write \"{} packets\"", shortest(number)));
            return Err(problem.maybe_help(help));
        }
        _ => quantity(field)?,
    };
    if bytes == Bytes(0) {
        return Err(field
            .problem("a flow that has nothing to send does nothing")
            .help(format!("write a size, or \"{UNLIMITED}\"")));
    }
    Ok(Some(bytes))
}

fn transport(fields: &Fields<'_>, problems: &mut Problems) -> Option<Transport> {
    let packet = fields.or("packet", Bytes(1500), problems, packet);
    let initial_window = fields
        .or("initial_window", 10.0, problems, |field| number(field, 1.0, LARGEST_INITIAL_WINDOW));
    let initial_threshold = fields.or("initial_threshold", None, problems, |field| {
        unless_none(field, |field| number(field, 2.0, f64::MAX))
    });
    let slow_start = fields.or("slow_start", SlowStart::Standard, problems, |field| {
        word(field, &["standard", "limited"]).map(|word| match word {
            "limited" => SlowStart::Limited,
            _ => SlowStart::Standard,
        })
    });
    let recovery = fields.or("recovery", Recovery::Sack, problems, |field| {
        word(field, &["sack", "newreno", "reno"]).map(|word| match word {
            "newreno" => Recovery::NewReno,
            "reno" => Recovery::Reno,
            _ => Recovery::Sack,
        })
    });
    let delayed_ack = fields.or("delayed_ack", false, problems, flag);
    let rto_min = fields.or("rto_min", Span::from_millis(200), problems, rto_min);
    let ecn = fields.or("ecn", true, problems, flag);
    let max_window = fields.or("max_window", None, problems, |field| {
        unless_none(field, |field| count(field, 1, u64::MAX))
    });
    let access = fields.or("access", None, problems, |field| unless_none(field, rate));
    Some(Transport {
        packet: packet?,
        initial_window: initial_window?,
        initial_threshold: initial_threshold?,
        slow_start: slow_start?,
        recovery: recovery?,
        delayed_ack: delayed_ack?,
        rto_min: rto_min?,
        ecn: ecn?,
        max_window: max_window?,
        access: access?,
    })
}

/// A value, or nothing where "none" stands.
fn unless_none<T>(
    field: Field<'_>,
    read: impl FnOnce(Field<'_>) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    if field.node.text() == Some(NONE) { Ok(None) } else { read(field).map(Some) }
}

fn packet(field: Field<'_>) -> Result<Bytes, Problem> {
    let bytes: Bytes = quantity(field)?;
    if bytes <= ACK {
        return Err(
            field.problem(format!("a packet of {bytes} carries no data: its headers take {ACK}"))
        );
    }
    if bytes > LARGEST_PACKET {
        return Err(field.problem(format!(
            "a packet of {bytes} is too large: the most that IP carries is {} B",
            LARGEST_PACKET.0
        )));
    }
    Ok(bytes)
}

fn rto_min(field: Field<'_>) -> Result<Span, Problem> {
    let span = wait(field)?;
    if span == Span::ZERO {
        return Err(field.problem("`rto_min` must be longer than zero"));
    }
    Ok(span)
}
