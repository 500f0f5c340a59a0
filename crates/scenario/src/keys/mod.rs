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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_table_that_a_key_names_is_there_and_every_table_is_named() {
        fn named(accepts: &[Accepts], found: &mut BTreeSet<&'static str>) {
            for each in accepts {
                match each {
                    Accepts::Table(name) | Accepts::Tables(name) => {
                        found.insert(name);
                    }
                    Accepts::List(of) | Accepts::Pair(of) => named(of, found),
                    _ => {}
                }
            }
        }
        let mut found = BTreeSet::from(["scenario"]);
        for key in TABLES.iter().flat_map(|table| table.keys) {
            assert!(!key.about.is_empty() && !key.accepts.is_empty(), "{}", key.name);
            named(key.accepts, &mut found);
        }
        assert_eq!(found, TABLES.iter().map(|table| table.name).collect());
    }

    #[test]
    fn words_are_those_that_are_read() {
        fn of<T>(names: &[(&'static str, T)]) -> Vec<&'static str> {
            names.iter().map(|(name, _)| *name).collect()
        }
        let words = |table: &str, key: &str| -> Vec<&str> {
            let table = TABLES.iter().find(|each| each.name == table).expect("a table");
            let key = table.keys.iter().find(|each| each.name == key).expect("a key");
            let words = key.accepts.iter();
            words
                .filter_map(|each| if let Accepts::Word(word) = each { Some(*word) } else { None })
                .collect()
        };
        assert_eq!(words("flow", "recovery"), of(crate::Recovery::NAMES));
        assert_eq!(words("flow", "rto_estimator"), of(crate::RtoEstimator::NAMES));
        assert_eq!(words("flow", "rto_restart"), of(crate::RtoRestart::NAMES));
        assert_eq!(words("flow", "ecn_feedback"), of(crate::EcnFeedback::NAMES));
        assert_eq!(words("flow", "window_validation"), of(crate::WindowValidation::NAMES));
    }
}
