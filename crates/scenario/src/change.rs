//! Links that change: `[[link.NAME.change]]`, and what follows from it at any time.

use longfat_units::{Rate, Span, Time};
use serde_json::Value as Json;

use crate::course::{Between, Course, Step};
use crate::error::{Place, Problem, Problems};
use crate::fields::{Field, Fields};
use crate::keys;
use crate::tree::{Node, TomlTable};
use crate::value::{NONE, flag, number, quantity, rate, unless_none, wait};
use crate::{Direction, Link};

const KEYS: &[&str] = &keys::names(&keys::CHANGE);

/// How often a link may change in a run, every repetition counted.
const MOST: u64 = 100_000;

/// One change of a link, which may repeat.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// When it begins.
    pub at: Span,
    /// How long it takes: the values go there in a straight line; zero for a jump.
    pub over: Span,
    /// How often it begins again; `None`: never.
    pub every: Option<Span>,
    /// The new rate, zero for an outage; `None`: as it is.
    pub rate: Option<Rate>,
    /// The new propagation delay; `None`: as it is.
    pub delay: Option<Span>,
    /// The new probability of corruption, at most 1; `None`: as it is.
    pub loss: Option<f64>,
    /// The only direction that changes: is it the reverse one? `None`: both do.
    pub reverse: Option<bool>,
}

/// What one direction of a link is at any time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkCourse {
    /// Its rate in bit/s.
    pub rate: Course<u64>,
    /// Its propagation delay in picoseconds.
    pub delay: Course<u64>,
    /// Its probability of corruption.
    pub loss: Course<f64>,
}

impl Change {
    /// A jump in one direction or both, once.
    pub(crate) fn jump(at: Span, reverse: Option<bool>) -> Self {
        Self { at, over: Span::ZERO, every: None, rate: None, delay: None, loss: None, reverse }
    }

    /// How often it begins until `end`.
    fn occurrences(&self, end: Span) -> u64 {
        let Some(left) = end.0.checked_sub(self.at.0) else { return 0 };
        self.every.map_or(0, |every| left / every.0).saturating_add(1)
    }
}

impl Link {
    /// The direction of travel.
    pub fn direction(&self, reverse: bool) -> &Direction {
        if reverse { &self.reverse } else { &self.forward }
    }

    /// Is this direction no constant: does it change, follow a trace, or have impairments?
    pub fn is_varying(&self, reverse: bool) -> bool {
        let Direction { trace, impairments, .. } = self.direction(reverse);
        trace.is_some() || !impairments.are_none() || self.changes_of(reverse).next().is_some()
    }

    fn changes_of(&self, reverse: bool) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.reverse.is_none_or(|only| only == reverse))
    }

    /// What one direction is at any time until `end`.
    pub fn course(&self, reverse: bool, end: Span) -> LinkCourse {
        let Direction { rate, delay, loss, .. } = *self.direction(reverse);
        LinkCourse {
            rate: self.course_of(reverse, end, rate.0, |change| change.rate.map(|rate| rate.0)),
            delay: self
                .course_of(reverse, end, delay.0, |change| change.delay.map(|delay| delay.0)),
            loss: self.course_of(reverse, end, loss, |change| change.loss),
        }
    }

    fn course_of<T: Between>(
        &self,
        reverse: bool,
        end: Span,
        initial: T,
        value: impl Fn(&Change) -> Option<T>,
    ) -> Course<T> {
        let mut steps = Vec::new();
        for change in self.changes_of(reverse) {
            let Some(to) = value(change) else { continue };
            let every = change.every.unwrap_or(Span::ZERO);
            steps.extend((0..change.occurrences(end)).map(|count| Step {
                at: Time::ZERO + change.at + every * count,
                over: change.over,
                to,
            }));
        }
        Course::new(initial, steps)
    }
}

/// Reads the changes of the link `owner`.
pub(crate) fn changes(field: Field<'_>, owner: &str, problems: &mut Problems) -> Vec<Change> {
    let Some(nodes) = field.node.list() else {
        let problem = field.wrong("a list of tables, one for each change");
        problems.add(problem.help(format!("begin each one with [[{}.change]]", heading(owner))));
        return Vec::new();
    };
    let mut changes = Vec::with_capacity(nodes.len());
    for node in nodes {
        if problems.is_full() {
            break;
        }
        match node.table() {
            Some(table) => changes.extend(change(table, node.place, owner, problems)),
            None => problems.add(
                Field { name: "change", node }
                    .wrong("a table such as { at = \"2.5 s\", rate = \"1 Mbit/s\" }"),
            ),
        }
    }
    changes
}

/// "link.bottleneck" from "link `bottleneck`".
fn heading(owner: &str) -> String {
    owner.replace(" `", ".").replace('`', "")
}

/// Refuses more changes than a run should hold in memory.
pub(crate) fn refuse_too_many(
    changes: &[Change],
    duration: Option<Span>,
    node: &Node,
) -> Result<(), Problem> {
    let Some(duration) = duration else { return Ok(()) };
    let each = changes.iter().map(|change| change.occurrences(duration));
    let count = each.fold(0_u64, u64::saturating_add);
    if count <= MOST {
        return Ok(());
    }
    let reason = format!("this link changes {count} times in {duration}, and {MOST} are the most");
    Err(Problem::new(node.place, reason).help("make `every` longer, or the run shorter"))
}

fn change(table: &TomlTable, home: Place, owner: &str, problems: &mut Problems) -> Option<Change> {
    let owner = format!("a change of {owner}");
    let fields =
        Fields { owner: owner.clone(), class: "a change of a link", home, keys: KEYS, table };
    fields.refuse_strangers(problems);
    let at = fields.required("at", "at = \"2.5 s\"", problems, quantity);
    let over = fields.or("over", Span::ZERO, problems, quantity);
    let every = fields.or("every", None, problems, |field| unless_none(field, every));
    let rate = fields.or("rate", None, problems, |field| rate_or_outage(field).map(Some));
    let delay = fields.or("delay", None, problems, |field| wait(field).map(Some));
    let loss = fields.or("loss", None, problems, |field| number(field, 0.0, 1.0).map(Some));
    let reverse = fields.or("reverse", None, problems, |field| flag(field).map(Some));
    let says = ["rate", "delay", "loss"];
    if !says.iter().any(|name| fields.find(name).is_some() || fields.misspelt(name)) {
        let problem = Problem::new(home, format!("{owner} changes nothing"));
        problems.add(problem.help("give it a new `rate`, `delay` or `loss`"));
        return None;
    }
    let change = Change {
        at: at?,
        over: over?,
        every: every?,
        rate: rate?,
        delay: delay?,
        loss: loss?,
        reverse: reverse?,
    };
    if let (Some(every), Some(field)) = (change.every, fields.find("over"))
        && change.over > every
    {
        problems.add(field.problem(format!(
            "this change takes {}, but begins again every {every}: it would never be finished",
            change.over
        )));
        return None;
    }
    Some(change)
}

fn every(field: Field<'_>) -> Result<Span, Problem> {
    let span: Span = quantity(field)?;
    if span == Span::ZERO {
        return Err(field
            .problem("`every` must be longer than zero")
            .help("leave it out if the change does not repeat"));
    }
    Ok(span)
}

/// A rate at which packets can be sent, or zero.
pub(crate) fn rate_or_outage(field: Field<'_>) -> Result<Rate, Problem> {
    let given: Rate = quantity(field)?;
    if given.0 == 0 { Ok(given) } else { rate(field) }
}

/// A change as written in a scenario file.
pub(crate) fn write_change(change: &Change) -> Json {
    let Change { at, over, every, rate, delay, loss, reverse } = change;
    let every = every.map_or_else(|| NONE.to_string(), |every| every.to_string());
    let mut pairs = serde_json::Map::new();
    pairs.insert("at".into(), at.to_string().into());
    pairs.insert("over".into(), over.to_string().into());
    pairs.insert("every".into(), every.into());
    if let Some(rate) = rate {
        pairs.insert("rate".into(), rate.to_string().into());
    }
    if let Some(delay) = delay {
        pairs.insert("delay".into(), delay.to_string().into());
    }
    if let Some(loss) = loss {
        pairs.insert("loss".into(), crate::written::number(*loss));
    }
    if let Some(reverse) = reverse {
        pairs.insert("reverse".into(), (*reverse).into());
    }
    Json::Object(pairs)
}
