//! Lists of flows: when each began, how much it sent, and where it is listed also its path, controller and round trip.
//!
//! As with traces, the files are opened by whoever reads the scenario, and what they say becomes part of it. No message
//! repeats anything from a file.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use longfat_control::Controller;
use longfat_units::{Bytes, Span};
use serde_json::{Map, Value as Json};

use crate::error::{Place, Problem};
use crate::fields::Field;
use crate::trace::lines;
use crate::tree::{Node, Value};
use crate::value::LONGEST_WAIT;
use crate::{Choice, Hop};

/// The columns of a list; those with a unit in their name hold plain numbers.
const COLUMNS: [&str; 8] =
    ["time", "time_s", "size", "size_bytes", "rtt", "rtt_s", "path", "control"];
/// No flow is larger: 1 TB.
const LARGEST: u64 = 1_000_000_000_000;
/// The rows, and the combinations of path and controller.
const MOST_ROWS: usize = 20_000_000;
const MOST_KINDS: usize = 1000;
/// No row is later: 200 days.
const LATEST: u64 = 200 * 24 * 3600 * 1_000_000_000_000;
/// Ticks in which times can be written, in picoseconds.
const TICKS: [u64; 5] = [1_000_000_000_000, 1_000_000_000, 1_000_000, 1_000, 1];

/// A list of flows, in order of time.
#[derive(Clone, PartialEq)]
pub struct Replay {
    rows: Vec<Row>,
    kinds: Vec<ListedKind>,
}

/// A flow of a list, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    /// In picoseconds.
    at: u64,
    bytes: u64,
    /// In picoseconds; the largest number stands for none.
    rtt: u64,
    kind: u32,
}

/// A flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedFlow {
    /// When it begins, from the start of the list on.
    pub at: Span,
    /// How much it sends.
    pub size: Bytes,
    /// Its round trip; `None`: that of the group.
    pub rtt: Option<Span>,
    /// The index of its kind.
    pub kind: usize,
}

/// What flows of a list have in common.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListedKind {
    /// The links that data crosses, in the order of travel.
    pub path: Vec<Hop>,
    /// The controller.
    pub control: Choice<Controller>,
}

/// Its size is what matters.
impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replay of {} flows of {} kinds", self.rows.len(), self.kinds.len())
    }
}

impl Replay {
    /// The most bytes that all lists of a scenario may have together as text.
    pub const LONGEST: usize = 64_000_000;

    /// How many flows it has.
    pub fn flows(&self) -> usize {
        self.rows.len()
    }

    /// A flow by its place in the list.
    pub fn flow(&self, index: usize) -> Option<ListedFlow> {
        self.rows.get(index).map(|row| ListedFlow {
            at: Span(row.at),
            size: Bytes(row.bytes),
            rtt: (row.rtt != u64::MAX).then_some(Span(row.rtt)),
            kind: row.kind as usize,
        })
    }

    /// What its flows have in common; the first is the path and the controller of the group.
    pub fn kinds(&self) -> &[ListedKind] {
        &self.kinds
    }

    /// How many of its flows begin within a time.
    pub fn within(&self, span: Span) -> usize {
        self.rows.partition_point(|row| row.at < span.0)
    }

    /// The mean size.
    pub(crate) fn mean_size(&self) -> Bytes {
        let sum: u128 = self.rows.iter().map(|row| u128::from(row.bytes)).sum();
        Bytes((sum / self.rows.len() as u128).max(1) as u64)
    }

    /// For each kind, the shortest round trip of its flows, with that of the group where they have none of their own;
    /// `None` where there are no flows.
    pub(crate) fn least_round_trips(&self, group: Span) -> Vec<Option<Span>> {
        let mut least = vec![u64::MAX; self.kinds.len()];
        for row in &self.rows {
            let rtt = if row.rtt == u64::MAX { group.0 } else { row.rtt };
            let least = &mut least[row.kind as usize];
            *least = rtt.min(*least);
        }
        least.into_iter().map(|rtt| (rtt != u64::MAX).then_some(Span(rtt))).collect()
    }

    /// The list as text: gaps between flows in ticks and sizes in bytes; then the kind if it is not the first, and the
    /// round trip in picoseconds if it is not that of the group.
    fn line(&self, tick: u64) -> String {
        let mut text = String::with_capacity(16 * self.rows.len());
        let mut last = 0;
        for (index, row) in self.rows.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let gap = (row.at - last) / tick;
            last = row.at;
            let written = match (row.kind, row.rtt) {
                (0, u64::MAX) => write!(text, "{comma}{gap} {}", row.bytes),
                (kind, u64::MAX) => write!(text, "{comma}{gap} {} {kind}", row.bytes),
                (kind, rtt) => write!(text, "{comma}{gap} {} {kind} {rtt}", row.bytes),
            };
            written.expect("texts can be written to");
        }
        text
    }

    /// The coarsest tick that divides all times.
    fn tick(&self) -> u64 {
        let divides = |tick: &u64| self.rows.iter().all(|row| row.at % tick == 0);
        TICKS.into_iter().find(divides).expect("one picosecond divides them all")
    }
}

/// A list that is being read.
#[derive(Debug)]
struct Draft {
    rows: Vec<Row>,
    kinds: Vec<ListedKind>,
    /// The indices of the kinds by the words of their path and of their controller.
    known: BTreeMap<(String, String), u32>,
}

/// Looks up what a row says of its path and its controller; empty texts stand for those of the group.
pub(crate) type FindKind<'k> =
    &'k mut dyn FnMut(Option<Field<'_>>, Option<Field<'_>>) -> Result<ListedKind, Problem>;

/// Reads a list from the text of a file.
pub(crate) fn read_list(
    text: &str,
    source: usize,
    own: ListedKind,
    find: FindKind<'_>,
) -> Result<Replay, Problem> {
    let mut lines = lines(text, source);
    let Some((place, first)) = lines.next() else {
        return Err(Problem::new(Place::whole(source), "this list is empty")
            .help("begin it with the names of its columns, such as: time_s,size_bytes"));
    };
    let columns = columns(place, first)?;
    let mut draft = Draft { rows: Vec::new(), kinds: vec![own], known: BTreeMap::new() };
    for (place, line) in lines {
        if draft.rows.len() == MOST_ROWS {
            return Err(Problem::new(place, format!("a list can have {MOST_ROWS} flows")));
        }
        let row = row(place, line, &columns, &mut draft, find)?;
        if draft.rows.last().is_some_and(|last| row.at < last.at) {
            return Err(Problem::new(place, "this flow begins before the one above it")
                .help("sort the list by time"));
        }
        draft.rows.push(row);
    }
    if draft.rows.is_empty() {
        return Err(Problem::new(place, "this list has no flow"));
    }
    Ok(Replay { rows: draft.rows, kinds: draft.kinds })
}

/// What each column is, as an index into [`COLUMNS`].
fn columns(place: Place, line: &str) -> Result<Vec<usize>, Problem> {
    let names = line.split(',').map(bare);
    let known = names.map(|name| COLUMNS.iter().position(|column| *column == name));
    let columns: Option<Vec<usize>> = known.collect();
    let expected = || {
        Problem::new(place, "these are not the names of the columns of a list of flows").help(
            "begin it with `time` or `time_s`, `size` or `size_bytes`, and any of `path`, `control`, `rtt` or `rtt_s`",
        )
    };
    let columns = columns.ok_or_else(expected)?;
    let one_of = |some: &[usize]| columns.iter().filter(|column| some.contains(column)).count();
    let counts = [one_of(&[0, 1]), one_of(&[2, 3]), one_of(&[4, 5]), one_of(&[6]), one_of(&[7])];
    match counts {
        [1, 1, 0..=1, 0..=1, 0..=1] => Ok(columns),
        _ => Err(expected()),
    }
}

/// A field without spaces and quotation marks around it.
fn bare(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field)
}

fn row(
    place: Place,
    line: &str,
    columns: &[usize],
    draft: &mut Draft,
    find: FindKind<'_>,
) -> Result<Row, Problem> {
    let count = line.split(',').count();
    if count != columns.len() {
        let reason = format!("this row has {count} fields, and the list {} columns", columns.len());
        return Err(Problem::new(place, reason));
    }
    let mut row = Row { at: 0, bytes: 0, rtt: u64::MAX, kind: 0 };
    let (mut path, mut control) = (("", place), ("", place));
    let mut start = 0;
    for (&column, whole) in columns.iter().zip(line.split(',')) {
        let field = bare(whole);
        let here = place.within(start..start + whole.len());
        start += whole.len() + 1;
        let wrong = |wanted: &str| Problem::new(here, format!("this is not {wanted}"));
        match COLUMNS[column] {
            "time" | "time_s" => {
                let at = time(field, column == 1).filter(|at| *at <= LATEST);
                row.at = at.ok_or_else(|| {
                    wrong(if column == 1 {
                        "a number of seconds, at most 200 days of them"
                    } else {
                        "a time such as 2.5 s, at most 200 days"
                    })
                })?;
            }
            "size" | "size_bytes" => {
                let bytes = if column == 3 {
                    whole_number(field)
                } else {
                    field.parse::<Bytes>().ok().map(|bytes| bytes.0)
                };
                row.bytes =
                    bytes.filter(|bytes| (1..=LARGEST).contains(bytes)).ok_or_else(|| {
                        wrong(if column == 3 {
                            "a whole number of bytes, from 1 to a million million"
                        } else {
                            "a size such as 10 kB, at most 1 TB"
                        })
                    })?;
            }
            "path" => path = (field, here),
            "control" => control = (field, here),
            _ if field.is_empty() => {}
            _ => {
                let rtt = time(field, column == 5).filter(|rtt| *rtt <= LONGEST_WAIT.0);
                row.rtt = rtt.ok_or_else(|| {
                    wrong(if column == 5 {
                        "a number of seconds, at most one day of them"
                    } else {
                        "a time such as 80 ms, at most one day"
                    })
                })?;
            }
        }
    }
    row.kind = draft.kind(path, control, find)?;
    Ok(row)
}

/// A time in picoseconds, from a quantity or a plain number of seconds.
fn time(field: &str, plain: bool) -> Option<u64> {
    if !plain {
        return field.parse::<Span>().ok().map(|span| span.0);
    }
    let digits = field.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let seconds: f64 = field.parse().ok().filter(|_| digits)?;
    (seconds.is_finite() && seconds < 1e9).then(|| Span::from_seconds_f64(seconds).0)
}

/// A whole number, which may have been written as `1500.0` or `1.5e3`.
fn whole_number(field: &str) -> Option<u64> {
    if field.contains(['e', 'E']) {
        let number: f64 = field.parse().ok()?;
        let whole = number.fract() == 0.0 && (0.0..=LARGEST as f64).contains(&number);
        return whole.then_some(number as u64);
    }
    let plain = field.split_once('.').map_or(field, |(whole, part)| {
        if part.bytes().all(|byte| byte == b'0') { whole } else { field }
    });
    plain.parse().ok()
}

impl Draft {
    /// The index of a kind, which is looked up once.
    fn kind(
        &mut self,
        (path, path_place): (&str, Place),
        (control, control_place): (&str, Place),
        find: FindKind<'_>,
    ) -> Result<u32, Problem> {
        if path.is_empty() && control.is_empty() {
            return Ok(0);
        }
        // Nothing is allocated for kinds that are known.
        let known = self.known.iter().find(|((one, other), _)| one == path && other == control);
        if let Some((_, kind)) = known {
            return Ok(*kind);
        }
        if self.kinds.len() == MOST_KINDS {
            let reason =
                format!("a list can have {MOST_KINDS} combinations of path and controller");
            return Err(Problem::new(path_place, reason));
        }
        let text = |text: &str, place| Node { place, value: Value::Text(text.to_owned()) };
        let links = path.split([' ', '/']).filter(|name| !name.is_empty());
        let links = links.map(|name| text(name, path_place)).collect();
        let links = Node { place: path_place, value: Value::List(links) };
        let controller = text(control, control_place);
        let kind = find(
            (!path.is_empty()).then_some(Field { name: "path", node: &links }),
            (!control.is_empty()).then_some(Field { name: "control", node: &controller }),
        )?;
        let at = self.kinds.iter().position(|other| *other == kind).unwrap_or(self.kinds.len());
        if at == self.kinds.len() {
            self.kinds.push(kind);
        }
        self.known.insert((path.to_owned(), control.to_owned()), at as u32);
        Ok(at as u32)
    }
}

/// Reads a list as a scenario holds it: `kinds` are complete, `tick` is in picoseconds.
pub(crate) fn read_line(
    field: Field<'_>,
    tick: u64,
    kinds: Vec<ListedKind>,
) -> Result<Replay, Problem> {
    let Some(text) = field.node.text() else {
        return Err(field.wrong("a text such as \"0 1500,20 3000\""));
    };
    let mut rows = Vec::with_capacity(text.len() / 16);
    let mut at = 0_u64;
    for (index, written) in text.split(',').enumerate() {
        let wrong = || {
            let reason =
                format!("flow {index} of this list is not a gap and a size, in whole numbers");
            field.problem(reason)
        };
        let mut words = written.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || words.next().transpose().map_err(|_| wrong());
        let (gap, bytes) = (next()?.ok_or_else(wrong)?, next()?.ok_or_else(wrong)?);
        let (kind, rtt) = (next()?.unwrap_or(0), next()?.unwrap_or(u64::MAX));
        let later = gap.checked_mul(tick).and_then(|gap| at.checked_add(gap));
        at = later.filter(|at| *at <= LATEST).ok_or_else(wrong)?;
        let fits = (1..=LARGEST).contains(&bytes)
            && (kind as usize) < kinds.len()
            && (rtt == u64::MAX || rtt <= LONGEST_WAIT.0);
        if !fits || next()?.is_some() || rows.len() == MOST_ROWS {
            return Err(wrong());
        }
        rows.push(Row { at, bytes, rtt, kind: kind as u32 });
    }
    Ok(Replay { rows, kinds })
}

/// A list as written in a scenario file; `path` and `control` write those of a kind.
pub(crate) fn write_replay(
    replay: &Replay,
    path: impl Fn(&[Hop]) -> Json,
    control: impl Fn(&Choice<Controller>) -> Json,
) -> Json {
    let tick = replay.tick();
    let mut pairs = Map::new();
    pairs.insert("tick".into(), Span(tick).to_string().into());
    let others = replay.kinds.iter().skip(1).map(
        |kind| serde_json::json!({ "path": path(&kind.path), "control": control(&kind.control) }),
    );
    if replay.kinds.len() > 1 {
        pairs.insert("kinds".into(), others.collect());
    }
    pairs.insert("list".into(), replay.line(tick).into());
    Json::Object(pairs)
}
