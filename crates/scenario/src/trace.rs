//! Traces: when packets may leave a link, in mahimahi's format, and tables of what a link is from when on.
//!
//! The files are opened by whoever reads the scenario ([`Files`]); here there is only text. What a trace says becomes
//! part of the scenario, so that a resolved one needs no file. No message repeats anything from a trace: a scenario may
//! name a file that its author was not meant to see.

use std::fmt;
use std::sync::Arc;

use longfat_units::{Bytes, PICOSECONDS_PER_SECOND, Rate, Span, Time, UnitError};
use serde_json::Value as Json;

use crate::Replay;
use crate::change::Change;
use crate::error::{Place, Problem};
use crate::fields::Field;
use crate::tree::Value;
use crate::value::{HIGHEST_RATE, LONGEST_WAIT, NONE};

/// What one opportunity can carry, as mahimahi's manual says.
pub const OPPORTUNITY: Bytes = Bytes(1500);

const MILLISECOND: u64 = PICOSECONDS_PER_SECOND / 1000;
/// Stamps end before the clock does.
const LATEST: u64 = 200 * 24 * 3600 * 1000;
/// The rows of a table.
const MOST_ROWS: usize = 100_000;

/// The key of a trace in the scenario itself.
const MAHIMAHI: &str = "mahimahi";
const COLUMNS: [&str; 4] = ["time", "rate", "delay", "loss"];

/// Opens a file that a scenario names, or says in a few words why not.
pub type Files<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// Opens none.
pub(crate) fn no_files(_: &str) -> Result<String, String> {
    Err("only a scenario file can name other files".into())
}

/// When packets may leave: a list of opportunities, which repeats. Each carries [`OPPORTUNITY`], in as many packets as
/// fit or as a part of a larger one, and is lost if nothing waits.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// Milliseconds since the beginning, in order; the last one, which is not zero, is the period.
    stamps: Vec<u64>,
}

/// Its size is what matters.
impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace of {} opportunities in {}", self.stamps.len(), self.period())
    }
}

impl Trace {
    /// The most bytes that all traces of a scenario may have together as text, so that the resolved scenario is short
    /// enough to be read again.
    pub const LONGEST: usize = 12_000_000;

    /// How many opportunities it has before it repeats.
    pub fn opportunities(&self) -> usize {
        self.stamps.len()
    }

    /// After how long it repeats.
    pub fn period(&self) -> Span {
        Span(self.stamps.last().expect("a trace has a stamp") * MILLISECOND)
    }

    /// What it carries on average, rounded to whole bit/s.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.stamps.len() as u128 * u128::from(OPPORTUNITY.0) * 8;
        let period = u128::from(self.period().0);
        Rate((bits * u128::from(PICOSECONDS_PER_SECOND)).div_ceil(period) as u64)
    }

    /// The time of an opportunity, counted from 0 through all repetitions.
    pub fn time(&self, index: u64) -> Time {
        let count = self.stamps.len() as u64;
        let stamp = self.stamps[(index % count) as usize] * MILLISECOND;
        let turns = u128::from(index / count) * u128::from(self.period().0);
        Time(u64::try_from(turns + u128::from(stamp)).unwrap_or(u64::MAX))
    }

    /// How many opportunities there have been up to and including `now`: the number of the first one after it.
    pub fn passed(&self, now: Time) -> u64 {
        let (turns, rest) = (now.0 / self.period().0, now.0 % self.period().0);
        let within = self.stamps.partition_point(|stamp| stamp * MILLISECOND <= rest);
        turns * self.stamps.len() as u64 + within as u64
    }

    /// The trace as one line: what a file of mahimahi has on many.
    fn line(&self) -> String {
        let stamps: Vec<String> = self.stamps.iter().map(u64::to_string).collect();
        stamps.join(" ")
    }
}

/// What a link follows.
#[derive(Clone, Debug)]
pub(crate) enum Followed {
    /// A list of opportunities.
    Trace(Arc<Trace>),
    /// A table, as changes.
    Changes(Vec<Change>),
}

/// The files that a scenario names: opened once each, and kept for messages about them.
pub(crate) struct TraceFiles<'a> {
    open: Files<'a>,
    /// The number of the first one among the texts of the scenario.
    first: usize,
    names: Vec<String>,
    texts: Vec<String>,
    /// What each of them says, or what is wrong with it.
    followed: Vec<Result<Followed, Problem>>,
    size: usize,
    /// The same of the lists of flows.
    listed: usize,
}

impl<'a> TraceFiles<'a> {
    /// Opens files with `open`; `first` texts come before them.
    pub(crate) fn new(open: Files<'a>, first: usize) -> Self {
        let (names, texts, followed) = (Vec::new(), Vec::new(), Vec::new());
        Self { open, first, names, texts, followed, size: 0, listed: 0 }
    }

    /// Names and texts of the files read.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(String::as_str).zip(self.texts.iter().map(String::as_str))
    }

    /// Opens the list of flows called `name`, and returns the number of its text among those of the scenario, or why there
    /// is none.
    pub(crate) fn open_list(&mut self, name: &str) -> Result<usize, String> {
        if let Some(at) = self.names.iter().position(|other| other == name) {
            return Ok(self.first + at);
        }
        let text =
            (self.open)(name).map_err(|reason| format!("this list cannot be read: {reason}"))?;
        self.listed = self.listed.saturating_add(text.len());
        if self.listed > Replay::LONGEST {
            let most = Bytes(Replay::LONGEST as u64);
            return Err(format!(
                "the lists of a scenario can have {most} together, and these have more"
            ));
        }
        let source = self.first + self.names.len();
        // Traces are read before lists, so nobody follows this one.
        self.followed.push(Err(Problem::new(Place::whole(source), "this is a list of flows")));
        self.names.push(name.into());
        self.texts.push(text);
        Ok(source)
    }

    /// A text by its number.
    pub(crate) fn text(&self, source: usize) -> &str {
        &self.texts[source - self.first]
    }

    /// What `trace` says: the name of a file, a list of opportunities, or `"none"`.
    pub(crate) fn follow(&mut self, field: Field<'_>) -> Result<Option<Followed>, Problem> {
        match &field.node.value {
            Value::Text(text) if text == NONE => Ok(None),
            Value::Text(name) => self.file(name, field),
            Value::Table(table) if table.names().eq([MAHIMAHI]) => {
                let node = &table.0[0].node;
                let Some(text) = node.text() else {
                    return Err(Field { name: MAHIMAHI, node }
                        .wrong("a text of milliseconds, such as \"1 2 2 5\""));
                };
                self.count(text, field)?;
                let stamps = text.split_ascii_whitespace().map(|word| (node.place, word));
                Ok(Some(Followed::Trace(Arc::new(trace(stamps, node.place)?))))
            }
            _ => Err(field.wrong("the name of a file, or { mahimahi = \"1 2 2 5\" }")),
        }
    }

    /// Counts what has been read.
    fn count(&mut self, text: &str, field: Field<'_>) -> Result<(), Problem> {
        self.size = self.size.saturating_add(text.len());
        if self.size <= Trace::LONGEST {
            return Ok(());
        }
        let most = Bytes(Trace::LONGEST as u64);
        Err(field.problem(format!(
            "the traces of a scenario can have {most} together, and these have more"
        )))
    }

    fn file(&mut self, name: &str, field: Field<'_>) -> Result<Option<Followed>, Problem> {
        let known = self.names.iter().position(|other| other == name);
        let at = if let Some(at) = known {
            at
        } else {
            let text = (self.open)(name)
                .map_err(|reason| field.problem(format!("this trace cannot be read: {reason}")))?;
            self.count(&text, field)?;
            let source = self.first + self.names.len();
            self.followed.push(read(&text, source));
            self.names.push(name.into());
            self.texts.push(text);
            self.names.len() - 1
        };
        self.followed[at].clone().map(Some)
    }
}

/// Reads a trace in either format: a table begins with the names of its columns.
fn read(text: &str, source: usize) -> Result<Followed, Problem> {
    let mut lines = lines(text, source).peekable();
    let Some((place, first)) = lines.peek().copied() else {
        return Err(empty(Place::whole(source)));
    };
    if first.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Followed::Trace(Arc::new(trace(lines, Place::whole(source))?)));
    }
    lines.next();
    table(place, &columns(place, first)?, lines).map(Followed::Changes)
}

/// The lines that say something, without spaces around them, and their places. A mark of the order of bytes, with which
/// spreadsheets begin a text, says nothing.
pub(crate) fn lines(text: &str, source: usize) -> impl Iterator<Item = (Place, &str)> {
    let marked = text.strip_prefix('\u{feff}');
    let mut start = text.len() - marked.unwrap_or(text).len();
    marked.unwrap_or(text).split_inclusive('\n').filter_map(move |line| {
        let from = start + (line.len() - line.trim_start().len());
        start += line.len();
        let line = line.trim();
        let says = !line.is_empty() && !line.starts_with('#');
        says.then(|| (Place::new(source, from..from + line.len()), line))
    })
}

fn empty(place: Place) -> Problem {
    Problem::new(place, "this trace is empty")
        .help("write one line of whole milliseconds for each packet that may leave")
}

/// Stamps of mahimahi; `whole` is the place of all of them.
fn trace<'t>(
    words: impl Iterator<Item = (Place, &'t str)>,
    whole: Place,
) -> Result<Trace, Problem> {
    let mut stamps: Vec<u64> = Vec::new();
    for (place, word) in words {
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        let stamp = word.parse().ok().filter(|&stamp| digits && stamp <= LATEST);
        let Some(stamp) = stamp else {
            let reason = "this is not a whole number of milliseconds, at most 200 days of them";
            return Err(Problem::new(place, reason));
        };
        if stamps.last().is_some_and(|&last| stamp < last) {
            return Err(Problem::new(place, "this opportunity comes before the one above it")
                .help("the opportunities of a trace are in order of time"));
        }
        stamps.push(stamp);
    }
    match stamps.last() {
        None => Err(empty(whole)),
        Some(0) => Err(Problem::new(whole, "this trace ends when it begins: its last stamp is 0")
            .help("the last stamp says after how many milliseconds it repeats")),
        Some(_) => {
            let trace = Trace { stamps };
            if trace.mean_rate() > HIGHEST_RATE {
                let reason = format!("this trace carries more than {HIGHEST_RATE}");
                return Err(Problem::new(whole, reason));
            }
            Ok(trace)
        }
    }
}

/// What each column of a table is, as an index into [`COLUMNS`].
fn columns(place: Place, line: &str) -> Result<Vec<usize>, Problem> {
    let names: Vec<&str> = line.split(',').map(str::trim).collect();
    let known = names.iter().map(|name| COLUMNS.iter().position(|column| column == name));
    let columns: Option<Vec<usize>> = known.collect();
    let expected = || {
        Problem::new(place, "this is neither a number of milliseconds nor the names of columns")
            .help("begin a table with: time, rate, delay, loss (time, and any of the others)")
    };
    let columns = columns.ok_or_else(expected)?;
    let twice = (0..COLUMNS.len())
        .any(|column| columns.iter().filter(|&&other| other == column).count() > 1);
    if twice || columns.len() < 2 || !columns.contains(&0) {
        return Err(expected());
    }
    Ok(columns)
}

/// The rows of a table as changes. An empty field leaves a value as it is.
fn table<'t>(
    head: Place,
    columns: &[usize],
    rows: impl Iterator<Item = (Place, &'t str)>,
) -> Result<Vec<Change>, Problem> {
    let mut changes: Vec<Change> = Vec::new();
    for (place, row) in rows {
        if changes.len() == MOST_ROWS {
            return Err(Problem::new(place, format!("a table can have {MOST_ROWS} rows")));
        }
        let fields: Vec<&str> = row.split(',').map(str::trim).collect();
        if fields.len() != columns.len() {
            let reason = format!(
                "this row has {} fields, and the table {} columns",
                fields.len(),
                columns.len()
            );
            return Err(Problem::new(place, reason));
        }
        let mut time = None;
        let mut change = Change::jump(Span::ZERO, None);
        for (&column, field) in columns.iter().zip(fields) {
            let wrong = |wanted: &str| {
                Problem::new(place, format!("the {} in this row is not {wanted}", COLUMNS[column]))
            };
            if field.is_empty() {
                continue;
            }
            match column {
                0 => time = Some(parsed(field).ok_or_else(|| wrong("a time such as 2.5 s"))?),
                1 => {
                    let rate = parsed(field).filter(|&rate: &Rate| rate <= HIGHEST_RATE);
                    change.rate = Some(rate.ok_or_else(|| wrong("a rate such as 10 Mbit/s"))?);
                }
                2 => {
                    let delay = parsed(field).filter(|&delay: &Span| delay <= LONGEST_WAIT);
                    change.delay =
                        Some(delay.ok_or_else(|| wrong("a time such as 30 ms, at most one day"))?);
                }
                _ => {
                    let loss = field.parse().ok().filter(|loss| (0.0..=1.0).contains(loss));
                    change.loss = Some(loss.ok_or_else(|| wrong("a number from 0 to 1"))?);
                }
            }
        }
        let Some(at) = time else { return Err(Problem::new(place, "this row has no time")) };
        if changes.last().is_some_and(|last| at <= last.at) {
            return Err(Problem::new(place, "this row does not come after the one above it")
                .help("the rows of a table are in order of time"));
        }
        if (change.rate, change.delay, change.loss) == (None, None, None) {
            return Err(Problem::new(place, "this row changes nothing"));
        }
        changes.push(Change { at, ..change });
    }
    if changes.is_empty() {
        return Err(Problem::new(head, "this table has no row"));
    }
    Ok(changes)
}

fn parsed<Q: std::str::FromStr<Err = UnitError>>(text: &str) -> Option<Q> {
    text.parse().ok()
}

/// A trace as written in a scenario file.
pub(crate) fn write_trace(trace: Option<&Trace>) -> Json {
    trace.map_or_else(|| NONE.into(), |trace| serde_json::json!({ MAHIMAHI: trace.line() }))
}
