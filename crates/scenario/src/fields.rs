//! The keys of one table: which must be there, which may be there, and which should not.

use crate::error::{Place, Problem, Problems, nearest, quoted};
use crate::tree::{KeyValue, Node, TomlTable};

/// Top-level keys of a file. Below a `[table]` they belong to that table, which is a common mistake.
const TOP: &[&str] = &["duration", "warmup", "seed", "sample", "observe", "delay_percentiles"];

/// Names that other tools use for what goes by another name here.
const ALIASES: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("latency", "delay"),
    ("prop_delay", "delay"),
    ("qdisc", "queue"),
    ("limit", "buffer"),
    ("queue_size", "buffer"),
    ("links", "link"),
    ("flows", "flow"),
    ("time", "duration"),
    ("cc", "control"),
    ("congestion_control", "control"),
    ("controller", "control"),
    ("number", "count"),
    ("n", "count"),
    ("route", "path"),
    ("mss", "packet"),
    ("packet_size", "packet"),
    ("cwnd", "initial_window"),
    ("ssthresh", "initial_threshold"),
    ("rwnd", "receive_window"),
    ("load", "arrivals"),
    ("poisson", "arrivals"),
    ("rate", "poisson"),
    ("average", "mean"),
    ("alpha", "shape"),
];

/// One key with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) node: &'a Node,
}

impl<'a> Field<'a> {
    /// The single key of a table, which must be one of `names`; such tables are called `class`.
    pub(crate) fn only(
        &self,
        class: &'static str,
        names: &'static [&'static str],
    ) -> Result<Field<'a>, Problem> {
        let Some(table) = self.node.table() else { return Err(self.wrong(class)) };
        let [entry] = table.0.as_slice() else {
            return Err(self.problem(format!(
                "`{}` must be {}, but it has {}",
                self.name,
                one_name(names),
                plural(table.0.len() as u64, "key")
            )));
        };
        if !names.contains(&entry.name.as_str()) {
            let owner = format!("`{}`", self.name);
            let home = self.node.place;
            return Err(Fields { owner, class, home, keys: names, table }.stranger(entry));
        }
        Ok(Field { name: &entry.name, node: &entry.node })
    }

    /// A problem with the value.
    pub(crate) fn problem(&self, reason: impl Into<String>) -> Problem {
        Problem::new(self.node.place, reason)
    }

    /// The value is not `wanted`, which is a noun phrase with its article and perhaps an example.
    pub(crate) fn wrong(&self, wanted: &str) -> Problem {
        self.problem(format!(
            "`{}` must be {wanted}, but it is {}",
            self.name,
            self.node.describe()
        ))
    }
}

/// "one of `a`, `b` and `c`".
fn one_name(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("one of {} and {last}", rest.join(", "))
        }
        _ => format!("{} alone", quoted.join("")),
    }
}

/// "1 key", "2 keys".
pub(crate) fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A table that is read key by key.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    /// What the table describes, as in "link `bottleneck` has no `rate`".
    pub(crate) owner: String,
    /// What such tables are called, as in "`dealy` is not a key of a link".
    pub(crate) class: &'static str,
    /// Where to report that something is missing.
    pub(crate) home: Place,
    /// The keys that it can have.
    pub(crate) keys: &'static [&'static str],
    /// What was given.
    pub(crate) table: &'a TomlTable,
}

impl<'a> Fields<'a> {
    /// The field called `name`, if it is there.
    pub(crate) fn find(&self, name: &str) -> Option<Field<'a>> {
        self.table.get(name).map(|entry| Field { name: &entry.name, node: &entry.node })
    }

    /// The field called `name`, or a problem; `example` is a line that could be added.
    pub(crate) fn need(
        &self,
        name: &str,
        example: &str,
        problems: &mut Problems,
    ) -> Option<Field<'a>> {
        let found = self.find(name);
        if found.is_none() && !problems.is_full() && !self.misspelt(name) {
            let reason = format!("{} has no `{name}`", self.owner);
            problems.add(Problem::new(self.home, reason).help(format!("add `{example}`")));
        }
        found
    }

    /// Is there a key that was probably meant to be `name`? That key is refused as a misspelling; to say that `name` is
    /// missing would be saying it twice.
    pub(crate) fn misspelt(&self, name: &str) -> bool {
        self.table.names().any(|given| self.meant(given) == Some(name))
    }

    /// The value of a field that must be there.
    pub(crate) fn required<T>(
        &self,
        name: &str,
        example: &str,
        problems: &mut Problems,
        read: impl FnOnce(Field<'a>) -> Result<T, Problem>,
    ) -> Option<T> {
        let field = self.need(name, example, problems)?;
        problems.keep(read(field))
    }

    /// The value of an optional field.
    pub(crate) fn or<T>(
        &self,
        name: &str,
        default: T,
        problems: &mut Problems,
        read: impl FnOnce(Field<'a>) -> Result<T, Problem>,
    ) -> Option<T> {
        match self.find(name) {
            Some(field) => problems.keep(read(field)),
            None => Some(default),
        }
    }

    /// Refuses every unknown key.
    pub(crate) fn refuse_strangers(&self, problems: &mut Problems) {
        let known = |name: &str| self.keys.contains(&name);
        for entry in self.table.0.iter().filter(|entry| !known(&entry.name)) {
            if problems.is_full() {
                return;
            }
            problems.add(self.stranger(entry));
        }
    }

    /// What to say about an unknown key.
    pub(crate) fn stranger(&self, entry: &KeyValue) -> Problem {
        let name = entry.name.as_str();
        let class = self.class;
        let reason = format!("`{}` is not a key of {class}", quoted(name));
        let help = if let Some(meant) = self.meant(name) {
            format!("did you mean `{meant}`?")
        } else if TOP.contains(&name) {
            format!("move `{name}` to the top of the file, before the first table")
        } else {
            format!("the keys of {class} are: {}", self.keys.join(", "))
        };
        Problem::new(entry.key, reason).help(help)
    }

    /// The key that an unknown one was probably meant to be.
    fn meant(&self, given: &str) -> Option<&'static str> {
        if self.keys.contains(&given) || TOP.contains(&given) {
            return None;
        }
        let ours = alias(given).filter(|ours| self.keys.contains(ours));
        ours.or_else(|| nearest(given, self.keys.iter().copied()))
    }
}

/// Our name for a key of another tool.
fn alias(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(other, _)| *other == name).map(|(_, ours)| *ours)
}
