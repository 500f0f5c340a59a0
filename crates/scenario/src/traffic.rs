//! Short flows: how often they arrive, when they begin and end, and how much they send.

use std::sync::Arc;

use longfat_units::parameter::shortest;
use longfat_units::{Rate, Span, split};

use crate::choice::{Chosen, chosen};
use crate::error::{Problem, Problems};
use crate::fields::{Field, Fields};
use crate::group::{
    self, Common, Draft, GroupContext, Sort, jitter_is_small, provides, refuse_late_start, travel,
};
use crate::keys;
use crate::link::LinkDraft;
use crate::replay::{read_line, read_list};
use crate::size::size;
use crate::spans::spans;
use crate::tree::{Node, TomlTable, Value};
use crate::value::{NONE, count, frequency, plain_number, quantity, unless_none, wait};
use crate::{Hop, ListedKind, Replay, Size, Spans, TrafficGroup, Transport};

pub(crate) const TRAFFIC: Sort = Sort {
    key: "traffic",
    class: "traffic",
    another: "other traffic",
    example: "web",
    keys: &keys::names(&keys::TRAFFIC),
};

/// Arrivals per second: from one in 30 years, which is more than none, to one in each nanosecond.
const FEWEST: f64 = 1e-9;
const MOST: f64 = 1e9;
/// Ten times what the link can carry has the same effect as any larger load.
const HEAVIEST: f64 = 10.0;

/// Arrivals as written.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    /// This many per second.
    Poisson(f64),
    /// As many as it takes to fill this share of the first link.
    Load(f64),
}

/// Reads one `[[traffic]]`.
pub(crate) fn traffic(
    node: &Node,
    context: GroupContext<'_>,
    problems: &mut Problems,
) -> Option<TrafficGroup> {
    let draft = Draft::new(TRAFFIC, node, problems)?;
    let fields = draft.fields(problems);
    let common = Common::read(&fields, TRAFFIC, context, problems);
    let rtt = common.round_trips(&fields, context, problems, drawn);
    let count = fields
        .or("count", None, problems, |field| unless_none(field, |field| count(field, 1, u64::MAX)));
    let start = fields.or("start", Span::ZERO, problems, start);
    if let Some(start) = start {
        refuse_late_start(&fields, &Spans::Same(start), context, problems);
    }
    let stop = fields.or("stop", None, problems, |field| stop(field, start));
    if fields.find("replay").is_some_and(|field| field.node.text() != Some(NONE)) {
        let (rtt, start, stop) = (rtt?, start?, stop?);
        return replayed(&fields, common, (rtt, start, stop), context, problems);
    }
    let packet = common.transport.as_ref().map(|transport| transport.packet);
    let size = fields
        .need("size", "size = \"100 kB\"", problems)
        .and_then(|field| size(field, packet, problems));
    let path = common.travel();
    let field = fields.need("arrivals", "arrivals = { poisson = \"10 /s\" }", problems);
    let arrivals = field.and_then(|field| {
        let (field, arrivals) = problems.keep(arrivals(field))?;
        let first = path.as_ref().and_then(|path| path.first());
        let rate = first.and_then(|hop| context.links.draft(hop.link)?.rate(hop.reverse));
        problems.keep(per_second(field, arrivals, rate, size.as_ref()))?
    });
    Some(TrafficGroup {
        name: common.name?,
        control: common.control?,
        path: path?,
        reverse: common.reverse?,
        arrivals: arrivals?,
        count: count?,
        size: size?,
        replay: None,
        rtt: rtt?,
        start: start?,
        stop: stop?,
        transport: common.transport?,
    })
}

/// Reads the rest of a group whose flows are listed.
fn replayed(
    fields: &Fields<'_>,
    common: Common,
    (rtt, start, stop): (Spans, Span, Option<Span>),
    context: GroupContext<'_>,
    problems: &mut Problems,
) -> Option<TrafficGroup> {
    for name in ["arrivals", "count", "size"] {
        if let Some(field) = fields.find(name) {
            let reason = format!("the list of `replay` says what begins when: leave `{name}` out");
            problems.add(field.problem(reason));
        }
    }
    let path = common.travel();
    let Common { name, control, reverse, transport, .. } = common;
    let (path, control, transport) = (path?, control?, transport?);
    let (name, reverse) = (name?, reverse?);
    let place = Placing { fields, rtt: &rtt, transport: &transport, reverse, context };
    let field = fields.find("replay")?;
    let own = ListedKind { path: path.clone(), control: control.clone() };
    let replay = problems.keep(place.replay(field, &own))?;
    let seconds = context.duration.map_or(1.0, |duration| {
        Span(duration.0.saturating_sub(start.0)).seconds().max(f64::MIN_POSITIVE)
    });
    let within = context
        .duration
        .map_or(0, |duration| replay.within(Span(duration.0.saturating_sub(start.0))));
    Some(TrafficGroup {
        name,
        control,
        path,
        reverse,
        arrivals: (within as f64 / seconds).clamp(FEWEST, MOST),
        count: None,
        size: Size::Fixed(replay.mean_size()),
        replay: Some(Arc::new(replay)),
        rtt,
        start,
        stop,
        transport,
    })
}

/// What the flows of a list have to fit into.
struct Placing<'a> {
    fields: &'a Fields<'a>,
    rtt: &'a Spans,
    transport: &'a Transport,
    reverse: bool,
    context: GroupContext<'a>,
}

impl Placing<'_> {
    /// A list in a file, or in the scenario itself.
    fn replay(&self, field: Field<'_>, own: &ListedKind) -> Result<Replay, Problem> {
        let replay = match &field.node.value {
            Value::Text(name) => match &self.context.lists[name.as_str()] {
                &Ok((source, text)) => {
                    let mut find = |path: Option<Field<'_>>, control: Option<Field<'_>>| {
                        self.kind(own, path, control)
                    };
                    read_list(text, source, own.clone(), &mut find)?
                }
                Err(reason) => return Err(field.problem(reason.clone())),
            },
            Value::Table(table) => self.written(table, field, own)?,
            _ => return Err(field.wrong("the name of a file")),
        };
        let shortest = replay.least_round_trips(self.rtt.least());
        for (kind, rtt) in replay.kinds().iter().zip(shortest) {
            let least = self.least_rtt(&kind.path);
            if let Some(rtt) = rtt.filter(|rtt| *rtt < least) {
                let reason = format!(
                    "a flow of this list has a round trip of {rtt}, but the links of its path take {least} there and back"
                );
                let help = "make `rtt` longer, that of the group or that of the flow";
                return Err(field.problem(reason).help(help));
            }
        }
        Ok(replay)
    }

    /// How long the links of a path take there and back, as far as it is known.
    fn least_rtt(&self, path: &[Hop]) -> Span {
        let links = path.iter().filter_map(|hop| self.context.links.draft(hop.link));
        let delays = links.filter_map(LinkDraft::there_and_back);
        delays.fold(Span::ZERO, |sum, delay| Span(sum.0.saturating_add(delay.0)))
    }

    /// A kind of flow. What a list says is not repeated.
    fn kind(
        &self,
        own: &ListedKind,
        path: Option<Field<'_>>,
        control: Option<Field<'_>>,
    ) -> Result<ListedKind, Problem> {
        let mut kind = own.clone();
        if let Some(field) = path {
            let links = self.context.links;
            let path = group::path(field, links, &mut Problems::default()).ok_or_else(|| {
                field
                    .problem("this is not a path of this scenario")
                    .help("write the names of links, separated by spaces")
            })?;
            kind.path = travel(path, self.reverse);
            jitter_is_small(self.fields, self.transport, &kind.path, self.context)?;
        }
        if let Some(field) = control {
            let name = field.node.text().unwrap_or_default();
            let chosen = Chosen { name, form: None, place: field.node.place, table: None };
            kind.control =
                group::controller(chosen, self.context.catalogue, &mut Problems::default())
                    .ok_or_else(|| {
                        field
                            .problem("this is not a controller that works without parameters")
                            .help("`longfat list controllers` shows them all")
                    })?;
            provides(self.fields, self.transport, &kind.control)?;
        }
        Ok(kind)
    }

    /// A list as a resolved scenario has it.
    fn written(
        &self,
        table: &TomlTable,
        field: Field<'_>,
        own: &ListedKind,
    ) -> Result<Replay, Problem> {
        let wanted = || field.wrong("the name of a file, or a table with `tick` and `list`");
        let inner = |name: &'static str| table.node(name).map(|node| Field { name, node });
        let known = |name: &str| matches!(name, "tick" | "kinds" | "list");
        let (Some(tick), Some(list)) = (inner("tick"), inner("list")) else { return Err(wanted()) };
        if !table.names().all(known) {
            return Err(wanted());
        }
        let tick: Span = wait(tick)?;
        let mut kinds = vec![own.clone()];
        let nodes = inner("kinds").map_or(Some(&[][..]), |field| field.node.list());
        for node in nodes.ok_or_else(wanted)? {
            let Some(table) = node.table() else { return Err(wanted()) };
            let field = |name: &'static str| table.node(name).map(|node| Field { name, node });
            let mut kind = self.kind(own, field("path"), None)?;
            if let Some(field) = field("control") {
                let mut found = Problems::default();
                let control = group::controller(chosen(field)?, self.context.catalogue, &mut found);
                kind.control = control
                    .ok_or_else(|| field.problem("this controller does not exist as written"))?;
                provides(self.fields, self.transport, &kind.control)?;
            }
            kinds.push(kind);
        }
        read_line(list, tick.0, kinds)
    }
}

/// One round trip, or a range to draw from.
fn drawn(field: Field<'_>) -> Result<Spans, Problem> {
    let help = "write one time, or { uniform = [\"60 ms\", \"100 ms\"] }";
    let names: Vec<&str> =
        field.node.table().map(|table| table.names().collect()).unwrap_or_default();
    match &field.node.value {
        Value::List(_) => Err(field
            .problem("short flows arrive at random, so nothing says which time of a list belongs to which flow")
            .help(help)),
        Value::Table(_) if names == ["spread"] => Err(field
            .problem(
                "short flows arrive at random, so there is no first and no last flow to spread times between",
            )
            .help(help)),
        Value::Table(_) => {
            field.only("a range of times", &["uniform"])?;
            spans(field, None, wait)
        }
        _ => spans(field, None, wait),
    }
}

/// When arrivals begin: at one time for the whole group.
fn start(field: Field<'_>) -> Result<Span, Problem> {
    match field.node.value {
        Value::List(_) | Value::Table(_) => {
            Err(field.wrong("one time, at which arrivals begin").help("write start = \"10 s\""))
        }
        _ => quantity(field),
    }
}

/// When arrivals end: after they begin.
fn stop(field: Field<'_>, start: Option<Span>) -> Result<Option<Span>, Problem> {
    let stop: Option<Span> = unless_none(field, quantity)?;
    match (stop, start) {
        (Some(stop), Some(start)) if stop <= start => {
            Err(field.problem(format!("arrivals cannot end at {stop} when they begin at {start}")))
        }
        _ => Ok(stop),
    }
}

/// How many arrive, and where that is stated.
fn arrivals(field: Field<'_>) -> Result<(Field<'_>, Arrivals), Problem> {
    if field.node.table().is_none() {
        let wanted = "{ poisson = \"10 /s\" } or { load = \"10 %\" }";
        let text = field.node.text().unwrap_or_default().trim();
        let help = match split(text) {
            (digits, "/s") if plain_number(digits).is_some() => {
                Some(format!("write {{ poisson = \"{text}\" }}"))
            }
            (digits, "%") if plain_number(digits).is_some() => {
                Some(format!("write {{ load = \"{text}\" }}"))
            }
            _ => None,
        };
        return Err(field.wrong(wanted).maybe_help(help));
    }
    let inner = field.only("an arrival process", &["poisson", "load"])?;
    let arrivals = match inner.name {
        "poisson" => frequency(inner, FEWEST, MOST).map(Arrivals::Poisson),
        _ => load(inner).map(Arrivals::Load),
    };
    Ok((inner, arrivals?))
}

/// A share of a link: `"10 %"`, or 0.1. A bare number above 1 may be either, and is refused.
fn load(field: Field<'_>) -> Result<f64, Problem> {
    let wanted = || field.wrong("a share of the first link such as \"10 %\" or 0.1");
    let load = match (field.node.number(), field.node.text().map(split)) {
        (Some(number), _) if number > 1.0 && number.is_finite() => {
            let (share, times) = (shortest(number), shortest(number * 100.0));
            return Err(wanted().help(format!("write \"{share} %\", or else \"{times} %\"")));
        }
        (Some(number), _) => Some(number),
        (None, Some((digits, "%"))) => plain_number(digits).map(|percent| percent / 100.0),
        (None, _) => None,
    };
    let load = load.filter(|load| *load >= 0.0).ok_or_else(wanted)?;
    if load <= 0.0 {
        return Err(field.problem("at a load of zero no flow ever arrives"));
    }
    if load > HEAVIEST {
        return Err(field
            .problem("this load is more than ten times what the link can carry")
            .help("write at most \"1000 %\""));
    }
    Ok(load)
}

/// Arrivals per second; `None` if what the load refers to is unknown.
fn per_second(
    field: Field<'_>,
    arrivals: Arrivals,
    rate: Option<Rate>,
    size: Option<&Size>,
) -> Result<Option<f64>, Problem> {
    let load = match arrivals {
        Arrivals::Poisson(number) => return Ok(Some(number)),
        Arrivals::Load(load) => load,
    };
    let (Some(rate), Some(size)) = (rate, size) else { return Ok(None) };
    let number = load * rate.0 as f64 / (8.0 * size.mean());
    if (FEWEST..=MOST).contains(&number) {
        return Ok(Some(number));
    }
    Err(field.problem(format!(
        "this load makes {} arrivals per second, but only a number from {} to {} can be simulated",
        shortest(number),
        shortest(FEWEST),
        shortest(MOST)
    )))
}
