//! The keys of a scenario file: what each of them accepts, what holds if it is not given, and what it means.
//!
//! The readers of tables take the names of their keys from here, and the reference, the guide and the schema for editors
//! are made from it, so that none of them knows a key that another one does not.

mod applications;
mod flows;
mod links;

pub(crate) use applications::*;
pub(crate) use flows::*;
pub(crate) use links::*;

/// Every table of a scenario file.
pub static TABLES: &[TableKeys] = &[
    table("scenario", &SCENARIO),
    table("link", &LINK),
    table("reverse", LINK.split_at(LINK.len() - 2).0),
    table("change", &CHANGE),
    of_kind("jitter", "gaussian", &GAUSSIAN),
    of_kind("jitter", "wifi", &WIFI),
    table("reorder", &REORDER),
    table("burst_loss", &BURST_LOSS),
    table("bucket", &BUCKET),
    table("acknowledgments", &ACKNOWLEDGMENTS),
    table("anti_ecn", &ANTI_ECN),
    table("flow", &FLOW),
    table("traffic", &TRAFFIC),
    table("hop", &HOP),
    of_kind("application", "constant", &CONSTANT),
    of_kind("application", "on-off", &ON_OFF),
    of_kind("application", "request-response", &REQUEST_RESPONSE),
    of_kind("application", "web", &WEB),
    of_kind("application", "video", &VIDEO),
    one_of("pacing", &PACING),
    table("careful_resume", &CAREFUL_RESUME),
    table("receive_window", &RECEIVE_WINDOW),
    one_of("times", &TIMES),
    one_of("drawn_time", &DRAWN_TIME),
    one_of("interval", &INTERVAL),
    one_of("arrivals", &ARRIVALS),
    one_of("sizes", &SIZES),
    one_of("numbers", &NUMBERS),
    table("pareto_time", &PARETO_TIME),
    table("pareto_size", &PARETO_SIZE),
    table("mean_size", &MEAN_SIZE),
    table("lognormal_size", &LOGNORMAL_SIZE),
];

const fn table(name: &'static str, keys: &'static [Key]) -> TableKeys {
    TableKeys { name, kind: None, one_of: false, keys }
}

const fn of_kind(name: &'static str, kind: &'static str, keys: &'static [Key]) -> TableKeys {
    TableKeys { name, kind: Some(kind), one_of: false, keys }
}

const fn one_of(name: &'static str, keys: &'static [Key]) -> TableKeys {
    TableKeys { name, kind: None, one_of: true, keys }
}

/// A table of a scenario file, or one of the kinds of such a table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TableKeys {
    /// What it is called where a key holds one: `"link"`. Those of one name are alternatives.
    pub name: &'static str,
    /// Its `kind`, where the kind decides which keys there are.
    pub kind: Option<&'static str>,
    /// Does it have exactly one of its keys?
    pub one_of: bool,
    /// Its keys, in the order of the guide.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it accepts: any one of these.
    pub accepts: &'static [Accepts],
    /// What holds if it is not given.
    pub usual: Usual,
    /// What it means, as Markdown with links relative to the guide of the scenario file.
    pub about: &'static str,
}

/// What holds where a key is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// It has to be given.
    Required,
    /// This value, as it would be written.
    Value(&'static str),
    /// In words.
    Told(&'static str),
}

/// One form of the value of a key.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Accepts {
    /// A time with its unit.
    Time,
    /// A rate with its unit.
    Rate,
    /// A size with its unit.
    Size,
    /// A number of packets: `"30 packets"`.
    Packets,
    /// A length of a queue: packets, a size, a time, `bdp` or `buffer`.
    Length,
    /// A number per second: `"10 /s"`.
    Frequency,
    /// A share of a hundred: `"10 %"`.
    Percent,
    /// A number from the first to the second.
    Number(f64, f64),
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// `true` or `false`.
    Flag,
    /// Only one of them.
    Only(bool),
    /// A certain word.
    Word(&'static str),
    /// A certain form of a text: `"1/8"`, described by a regular expression.
    Pattern(&'static str),
    /// A name of the user's own: letters, digits, `_` and `-`.
    Name,
    /// Any text, such as the name of a file.
    Text,
    /// The name of a controller, or a table with its `kind` and its parameters, or code.
    Controller,
    /// The same for a queue discipline.
    Queue,
    /// The name of a profile.
    Profile,
    /// A list of such values.
    List(&'static [Accepts]),
    /// A list of two of them.
    Pair(&'static [Accepts]),
    /// A table of this name in [`TABLES`].
    Table(&'static str),
    /// A table of such tables, by names of the user's own.
    Tables(&'static str),
    /// What a resolved scenario has in place of a file: a table that nobody writes.
    Resolved,
}

impl Key {
    const fn new(
        name: &'static str,
        accepts: &'static [Accepts],
        usual: Usual,
        about: &'static str,
    ) -> Self {
        Self { name, accepts, usual, about }
    }
}

/// The names of keys.
pub(crate) const fn names<const N: usize>(keys: &[Key; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = keys[i].name;
        i += 1;
    }
    names
}

/// The keys of one list, followed by those of another; `N` is how many that are.
const fn joined<const A: usize, const B: usize, const N: usize>(
    first: &[Key; A],
    second: &[Key; B],
) -> [Key; N] {
    assert!(A + B == N, "as many as both have");
    let mut keys = [Key::new("", &[], Usual::Required, ""); N];
    let mut i = 0;
    while i < N {
        keys[i] = if i < A { first[i] } else { second[i - A] };
        i += 1;
    }
    keys
}
