//! Links: what the file says about them and, once the flows are known, how long their queues are.

use std::collections::BTreeMap;
use std::sync::Arc;

use longfat_queue::{Capacity, Discipline, LengthUnit, Site};
use longfat_units::parameter::{Given, Kind, shortest};
use longfat_units::{Bytes, Rate, Span};

use crate::anti_ecn::{self, anti_ecn};
use crate::change::{Change, changes, refuse_too_many};
use crate::choice::{self, Chosen, chosen, refused, settings};
use crate::error::{Place, Problem, Problems};
use crate::fields::{Field, Fields};
use crate::impairment::impairments;
use crate::keys;
use crate::lengths::{Length, Ruler, buffer};
use crate::trace::{Followed, Trace, TraceFiles};
use crate::tree::{KeyValue, Node, TomlTable, Value};
use crate::value::{name, number, plain_number, rate, wait};
use crate::{Catalogue, Choice, Direction, Link};

const KEYS: &[&str] = &keys::names(&keys::LINK);
/// All of them but `reverse` and `change`.
const REVERSE_KEYS: &[&str] = KEYS.split_at(KEYS.len() - 2).0;

const DEFAULT_BUFFER: &str = "1 bdp";
const DEFAULT_QUEUE: &str = "drop-tail";

/// The largest loss below 1: at 1 nothing would ever arrive.
const MOST_LOSS: f64 = 1.0 - f64::EPSILON;

/// A link as written in the file: lengths are resolved once the flows are known.
#[derive(Debug)]
pub(crate) struct LinkDraft {
    pub(crate) name: String,
    forward: DirectionDraft,
    reverse: DirectionDraft,
    changes: Vec<Change>,
}

#[derive(Debug)]
struct DirectionDraft {
    /// Where to report that something is missing.
    home: Place,
    rate: Option<Rate>,
    delay: Option<Span>,
    loss: Option<f64>,
    trace: Option<Arc<Trace>>,
    /// The round trip behind "bdp", if given.
    bdp: Option<Span>,
    /// Was it given, but unreadable?
    bdp_wrong: bool,
    /// The keys of this direction; those of the reverse direction override those of the forward one.
    table: TomlTable,
}

/// How one direction of a link changes, as far as its other keys are concerned.
#[derive(Debug)]
struct Variation {
    trace: Option<Arc<Trace>>,
    /// Is there a trace that could not be read?
    unreadable: bool,
    /// Do changes concern its rate?
    rate: bool,
}

/// The links of a file by name, in its order. Those that could not be read have no draft.
#[derive(Debug)]
pub(crate) struct Links<'a> {
    drafts: Vec<(&'a str, Option<LinkDraft>)>,
    indices: BTreeMap<&'a str, usize>,
}

impl<'a> Links<'a> {
    /// The links of `entries`, with what could be read of each.
    pub(crate) fn new(drafts: Vec<(&'a str, Option<LinkDraft>)>) -> Self {
        let indices = drafts.iter().enumerate().map(|(index, (name, _))| (*name, index)).collect();
        Self { drafts, indices }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.drafts.iter().map(|(name, _)| *name)
    }

    /// The place in the file of the link called `name`.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    /// What could be read of a link.
    pub(crate) fn draft(&self, index: usize) -> Option<&LinkDraft> {
        self.drafts[index].1.as_ref()
    }

    /// What could be read of each link, in the order of the file.
    pub(crate) fn into_drafts(self) -> impl Iterator<Item = Option<LinkDraft>> {
        self.drafts.into_iter().map(|(_, draft)| draft)
    }
}

/// What the flows that cross a link, in either direction, say about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    /// The largest packet that crosses.
    pub(crate) packet: Bytes,
    /// The mean round trip; `None`: no flow crosses.
    pub(crate) rtt: Option<Span>,
}

/// Reads one `[link.NAME]` of a run of `duration`, with the traces in `files`.
pub(crate) fn draft(
    entry: &KeyValue,
    duration: Option<Span>,
    files: &mut TraceFiles<'_>,
    problems: &mut Problems,
) -> Option<LinkDraft> {
    problems.keep(name(&entry.name, entry.key, "a link"));
    let Some(table) = entry.node.table() else {
        let field = Field { name: &entry.name, node: &entry.node };
        problems
            .add(field.wrong("a table with the keys of a link").help("begin it with [link.NAME]"));
        return None;
    };
    let owner = format!("link `{}`", entry.name);
    let fields =
        Fields { owner: owner.clone(), class: "a link", home: entry.key, keys: KEYS, table };
    fields.refuse_strangers(problems);
    let mut forward = table.clone();
    forward.0.retain(|entry| !matches!(entry.name.as_str(), "reverse" | "change"));
    let mut reverse = forward.clone();
    if let Some(field) = fields.find("reverse") {
        match field.node.table() {
            Some(table) => {
                let class = "the reverse direction of a link";
                let home = field.node.place;
                Fields { owner: owner.clone(), class, home, keys: REVERSE_KEYS, table }
                    .refuse_strangers(problems);
                for entry in &table.0 {
                    reverse.set(entry.clone());
                }
            }
            None => problems.add(
                field
                    .wrong("a table with what differs in the reverse direction")
                    .help(format!("begin it with [link.{}.reverse]", entry.name)),
            ),
        }
    }
    let mut link_changes = match fields.find("change") {
        Some(field) => changes(field, &owner, problems),
        None => Vec::new(),
    };
    let follows = [&forward, &reverse].map(|table| {
        let node = table.node("trace")?;
        let followed = files.follow(Field { name: "trace", node });
        Some((node.place, problems.keep(followed)))
    });
    // A table that both directions follow changes both at once.
    let together = match &follows {
        [Some((forward, _)), Some((reverse, _))] => forward == reverse,
        _ => false,
    };
    let mut traces = [(None, false), (None, false)];
    for (side, follow) in follows.into_iter().enumerate() {
        match follow {
            Some((_, Some(Some(Followed::Trace(trace))))) => traces[side].0 = Some(trace),
            Some((_, Some(Some(Followed::Changes(rows))))) if !together || side == 0 => {
                let reverse = if together { None } else { Some(side == 1) };
                link_changes.extend(rows.into_iter().map(|row| Change { reverse, ..row }));
            }
            Some((_, None)) => traces[side].1 = true,
            Some((_, Some(_))) | None => {}
        }
    }
    let said =
        fields.find("change").or(fields.find("trace")).map_or(&entry.node, |field| field.node);
    problems.keep(refuse_too_many(&link_changes, duration, said));
    let [forward_trace, reverse_trace] = traces;
    let changes = link_changes;
    let mut read = |table, (trace, unreadable), reverse| {
        let rate = changes
            .iter()
            .filter(|change| change.reverse.is_none_or(|only| only == reverse))
            .any(|change| change.rate.is_some());
        let variation = Variation { trace, unreadable, rate };
        DirectionDraft::read(&owner, entry.key, table, variation, problems)
    };
    let forward = read(forward, forward_trace, false);
    let reverse = read(reverse, reverse_trace, true);
    Some(LinkDraft { name: entry.name.clone(), forward, reverse, changes })
}

impl LinkDraft {
    /// The delays of both directions together, if both are known.
    pub(crate) fn there_and_back(&self) -> Option<Span> {
        Some(self.forward.delay? + self.reverse.delay?)
    }

    /// The rate in the direction in which paths cross it, if known.
    pub(crate) fn rate(&self, reverse: bool) -> Option<Rate> {
        if reverse { self.reverse.rate } else { self.forward.rate }
    }

    /// Completes the link. Without `crossing` (some flow has a problem) lengths are only read.
    pub(crate) fn resolve(
        self,
        crossing: Option<Crossing>,
        catalogue: &Catalogue,
        problems: &mut Problems,
    ) -> Option<Link> {
        let forward = self.forward.resolve(crossing, catalogue, problems);
        let reverse = self.reverse.resolve(crossing, catalogue, problems);
        Some(Link { name: self.name, forward: forward?, reverse: reverse?, changes: self.changes })
    }
}

impl DirectionDraft {
    fn read(
        owner: &str,
        home: Place,
        table: TomlTable,
        variation: Variation,
        problems: &mut Problems,
    ) -> Self {
        let Variation { trace, unreadable, rate: rate_varies } = variation;
        let fields =
            Fields { owner: owner.into(), class: "a link", home, keys: KEYS, table: &table };
        // A link that follows a trace has the rate of the trace, if its file gives no other one for lengths.
        let rate = match (&trace, fields.find("rate")) {
            (Some(trace), None) => Some(trace.mean_rate()),
            (None, None) if unreadable => None,
            _ => fields.required("rate", "rate = \"10 Gbit/s\"", problems, rate),
        };
        if let (Some(node), true) = (table.node("trace"), trace.is_some() && rate_varies) {
            let reason = "this link follows a trace, which says when packets leave, and its rate changes as well";
            problems.add(Problem::new(node.place, reason).help("leave out one of the two"));
        }
        if let (Some(field), true) = (fields.find("anti_ecn"), trace.is_some())
            && !matches!(field.node.value, Value::Flag(false))
        {
            let reason = "the virtual queue of AntiECN drains at a share of a rate, and this link follows a trace, which \
                          says when packets leave";
            problems.add(field.problem(reason).help("leave out one of the two"));
        }
        let delay = fields.required("delay", "delay = \"10 ms\"", problems, wait);
        let loss = fields.or("loss", 0.0, problems, loss);
        let bdp = fields.or("bdp", None, problems, |field| wait(field).map(Some));
        Self { home, rate, delay, loss, trace, bdp: bdp.flatten(), bdp_wrong: bdp.is_none(), table }
    }

    fn resolve(
        self,
        crossing: Option<Crossing>,
        catalogue: &Catalogue,
        problems: &mut Problems,
    ) -> Option<Direction> {
        let bdp = self.bdp.or(crossing.and_then(|crossing| crossing.rtt));
        let ruler = match (self.rate, crossing) {
            (Some(rate), Some(crossing)) if !self.bdp_wrong => {
                Some(Ruler { rate, bdp, packet: crossing.packet })
            }
            _ => None,
        };
        let default = |text: &str| Node { place: self.home, value: Value::Text(text.into()) };
        let (buffer_default, queue_default) = (default(DEFAULT_BUFFER), default(DEFAULT_QUEUE));
        let buffer_node = self.table.node("buffer").unwrap_or(&buffer_default);
        let queue_node = self.table.node("queue").unwrap_or(&queue_default);
        let buffer_field = Field { name: "buffer", node: buffer_node };
        let queue_field = Field { name: "queue", node: queue_node };

        if let (Some(ruler), None) = (ruler, self.table.node("buffer"))
            && ruler.bdp.is_none()
        {
            let reason = "no flow crosses this link, so there is no round trip from which to compute its default \
                          buffer of one bandwidth-delay product";
            let help = "add `buffer = \"1000 packets\"`, or leave the link out";
            problems.add(Problem::new(self.home, reason).help(help));
            return None;
        }
        let length = problems.keep(buffer(buffer_field));
        let chosen = problems.keep(chosen(queue_field));
        let discipline =
            chosen.and_then(|chosen| problems.keep(choice::discipline(catalogue, chosen)));
        let capacity = match (length, ruler, &discipline, chosen) {
            (Some(length), Some(ruler), Some(discipline), Some(chosen)) => {
                problems.keep(ruler.capacity(buffer_field, length, mode(chosen, discipline)))
            }
            _ => None,
        };
        let marker = self.table.node("anti_ecn").and_then(|node| {
            let site = anti_ecn::MarkerSite { ruler, capacity };
            anti_ecn(Field { name: "anti_ecn", node }, site, problems)
        });
        let impairments = impairments(&self.table, ruler, problems);
        let placed = ruler.zip(capacity).map(|(ruler, capacity)| {
            let rate = impairments.slowed(ruler.rate);
            (ruler, Site { rate, packet: ruler.packet, capacity, round_trip: ruler.bdp })
        });
        let queue = queue(chosen?, discipline?, catalogue, placed, problems);
        Some(Direction {
            rate: self.rate?,
            delay: self.delay?,
            loss: self.loss?,
            trace: self.trace,
            impairments,
            buffer: capacity?,
            bdp,
            queue: queue?,
            anti_ecn: marker,
        })
    }
}

/// The probability that a packet is corrupted.
fn loss(field: Field<'_>) -> Result<f64, Problem> {
    number(field, 0.0, MOST_LOSS).map_err(|_| {
        field.wrong("a probability: a number of at least 0 and below 1").maybe_help(as_share(field))
    })
}

/// A probability that is a text, such as `"0.01 %"`, as the number that it probably stands for.
fn as_share(field: Field<'_>) -> Option<String> {
    let text = field.node.text()?.trim();
    let (number, percent) = text.strip_suffix('%').map_or((text, false), |number| (number, true));
    let share = plain_number(number.trim())? / if percent { 100.0 } else { 1.0 };
    let share: f64 = format!("{share:.14e}").parse().ok()?; // a hundredth has digits that nobody wrote
    (share <= MOST_LOSS).then(|| format!("write {} = {}", field.name, shortest(share)))
}

/// The unit that the `mode` of a discipline asks for, if it has one.
fn mode(chosen: Chosen<'_>, discipline: &Discipline) -> Option<LengthUnit> {
    let parameter = discipline.parameters.iter().find(|parameter| {
        parameter.name == "mode"
            && matches!(&parameter.kind, Kind::Word(words)
                if ["packets", "bytes"].iter().all(|unit| words.iter().any(|word| word == unit)))
    })?;
    let default = match &parameter.default {
        Given::Text(text) => Some(&**text),
        _ => None,
    };
    match chosen.table.and_then(|table| table.node("mode")).map_or(default, Node::text) {
        Some("packets") => Some(LengthUnit::Packets),
        Some("bytes") => Some(LengthUnit::Bytes),
        _ => None,
    }
}

/// Reads the parameters of a queue. Where it is not known where it stands, only the form of lengths is checked.
fn queue(
    chosen: Chosen<'_>,
    discipline: Arc<Discipline>,
    catalogue: &Catalogue,
    placed: Option<(Ruler, Site)>,
    problems: &mut Problems,
) -> Option<Choice<Discipline>> {
    let capacity = placed.map(|(_, site)| site.capacity);
    let unit = mode(chosen, &discipline)
        .unwrap_or(LengthUnit::of(capacity.unwrap_or(Capacity::Unbounded)));
    let measure = |field: Field<'_>, length: Length| match placed {
        Some((ruler, _)) => ruler.measure(field, length, unit, capacity),
        None => Ok(0.0),
    };
    let settings =
        settings(chosen, (&*discipline, &discipline.parameters), catalogue, &measure, problems)?;
    if let Some((_, site)) = placed
        && let Err(refusal) = (discipline.check)(&settings, &site)
    {
        problems.add(refused(chosen, refusal));
        return None;
    }
    Some(Choice { entry: discipline, settings })
}
