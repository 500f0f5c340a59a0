//! The lists of controllers, queues, profiles and keys, as plain dictionaries.

use std::borrow::Cow;

use longfat_control::{CONTROLLERS, Controller, Needs};
use longfat_queue::{DISCIPLINES, Discipline};
use longfat_scenario::PROFILES;
use longfat_scenario::keys::{Accepts, Key, TABLES, Usual};
use longfat_units::parameter::{Given, Kind, Parameter};
use pyo3::prelude::*;

/// A controller.
#[derive(Debug, IntoPyObject)]
pub(crate) struct ControllerInfo {
    name: String,
    title: String,
    source: String,
    family: &'static str,
    needs: Vec<&'static str>,
    queue: Option<String>,
    parameters: Vec<ParameterInfo>,
}

/// A queue discipline.
#[derive(Debug, IntoPyObject)]
pub(crate) struct DisciplineInfo {
    name: String,
    title: String,
    source: String,
    parameters: Vec<ParameterInfo>,
}

/// One of its parameters.
#[derive(Debug, IntoPyObject)]
pub(crate) struct ParameterInfo {
    name: String,
    kind: &'static str,
    default: Option<DefaultValue>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    words: Option<Vec<String>>,
    about: String,
}

/// A default.
#[derive(Debug, IntoPyObject)]
pub(crate) enum DefaultValue {
    Number(f64),
    Count(u64),
    Flag(bool),
    Text(String),
}

impl ControllerInfo {
    /// What lists say of a controller.
    pub(crate) fn of(entry: &Controller) -> Self {
        // Of code from outside only a flow can ask.
        let needs = match entry.origin {
            None => entry.needs(&entry.defaults()),
            Some(_) => Needs::NONE,
        };
        Self {
            name: entry.name.clone().into_owned(),
            title: entry.title.clone().into_owned(),
            source: entry.source.clone().into_owned(),
            family: entry.family.name(),
            needs: words(&needs),
            queue: queue(&needs),
            parameters: entry.parameters.iter().map(setting).collect(),
        }
    }
}

fn words(needs: &Needs) -> Vec<&'static str> {
    let Needs { ecn, accurate_ecn, ect1, spare, pacing, priorities, access, queue: _ } = *needs;
    let words = [
        (ecn, "ecn"),
        (accurate_ecn, "accurate_ecn"),
        (ect1, "ect1"),
        (spare, "anti_ecn"),
        (pacing, "pacing"),
        (priorities, "priorities"),
        (access, "access"),
    ];
    words.into_iter().filter_map(|(is_needed, word)| is_needed.then_some(word)).collect()
}

/// The queue that its routers must have.
fn queue(needs: &Needs) -> Option<String> {
    if needs.queue.is_none() && needs.priorities {
        let ranked = DISCIPLINES.iter().find(|entry| entry.heeds_priorities())?;
        return Some(ranked.name.to_string());
    }
    needs.queue.map(str::to_owned)
}

impl DisciplineInfo {
    /// What lists say of a queue discipline.
    pub(crate) fn of(entry: &Discipline) -> Self {
        Self {
            name: entry.name.clone().into_owned(),
            title: entry.title.clone().into_owned(),
            source: entry.source.clone().into_owned(),
            parameters: entry.parameters.iter().map(setting).collect(),
        }
    }
}

/// Every controller: name, title, source, family, needs, queue and parameters; family by family.
#[pyfunction]
pub(crate) fn controllers() -> Vec<ControllerInfo> {
    let mut entries: Vec<_> = CONTROLLERS.iter().collect();
    entries.sort_by_key(|entry| entry.family);
    entries.into_iter().map(|entry| ControllerInfo::of(entry)).collect()
}

/// Every queue discipline: name, title, source and parameters.
#[pyfunction]
pub(crate) fn queues() -> Vec<DisciplineInfo> {
    let entries = DISCIPLINES.iter();
    entries.map(|entry| DisciplineInfo::of(entry)).collect()
}

/// A named set of flow defaults.
#[derive(Debug, IntoPyObject)]
pub(crate) struct ProfileInfo {
    name: &'static str,
    title: &'static str,
    source: &'static str,
    keys: Vec<(&'static str, Option<DefaultValue>)>,
    with: Vec<(&'static str, &'static str, Option<DefaultValue>)>,
}

/// A table of a scenario file, or one of its kinds.
#[derive(Debug, IntoPyObject)]
pub(crate) struct TableInfo {
    name: &'static str,
    kind: Option<&'static str>,
    one_of: bool,
    keys: Vec<KeyInfo>,
}

/// One of its keys.
#[derive(Debug, IntoPyObject)]
pub(crate) struct KeyInfo {
    name: &'static str,
    accepts: Vec<AcceptsInfo>,
    required: bool,
    default: Option<&'static str>,
    otherwise: Option<&'static str>,
    about: &'static str,
}

/// A form of its value.
#[derive(Debug, IntoPyObject)]
pub(crate) struct AcceptsInfo {
    form: &'static str,
    minimum: Option<f64>,
    maximum: Option<f64>,
    text: Option<&'static str>,
    of: Vec<AcceptsInfo>,
}

impl AcceptsInfo {
    fn of(accepts: Accepts) -> Self {
        let plain = |form| Self { form, minimum: None, maximum: None, text: None, of: Vec::new() };
        let between =
            |form, low, high| Self { minimum: Some(low), maximum: Some(high), ..plain(form) };
        let named = |form, text| Self { text: Some(text), ..plain(form) };
        let list = |form, of: &[Accepts]| Self {
            of: of.iter().copied().map(Self::of).collect(),
            ..plain(form)
        };
        match accepts {
            Accepts::Time => plain("time"),
            Accepts::Rate => plain("rate"),
            Accepts::Size => plain("size"),
            Accepts::Packets => plain("packets"),
            Accepts::Length => plain("length"),
            Accepts::Frequency => plain("frequency"),
            Accepts::Percent => plain("percent"),
            Accepts::Number(low, high) => between("number", low, high),
            Accepts::Count(low, high) => between("count", low as f64, high as f64),
            Accepts::Flag => plain("flag"),
            Accepts::Only(flag) => plain(if flag { "true" } else { "false" }),
            Accepts::Word(word) => named("word", word),
            Accepts::Pattern(pattern) => named("pattern", pattern),
            Accepts::Name => plain("name"),
            Accepts::Text => plain("text"),
            Accepts::Controller => plain("controller"),
            Accepts::Queue => plain("queue"),
            Accepts::Profile => plain("profile"),
            Accepts::List(of) => list("list", of),
            Accepts::Pair(of) => list("pair", of),
            Accepts::Table(name) => named("table", name),
            Accepts::Tables(name) => named("tables", name),
            Accepts::Resolved => plain("resolved"),
            _ => plain("other"),
        }
    }
}

impl KeyInfo {
    fn of(key: &Key) -> Self {
        let (default, otherwise) = match key.usual {
            Usual::Required => (None, None),
            Usual::Value(value) => (Some(value), None),
            Usual::Told(words) => (None, Some(words)),
        };
        Self {
            name: key.name,
            accepts: key.accepts.iter().copied().map(AcceptsInfo::of).collect(),
            required: key.usual == Usual::Required,
            default,
            otherwise,
            about: key.about,
        }
    }
}

/// Every table of a scenario file: its name, its kind, whether it has exactly one of its keys, and these.
#[pyfunction]
pub(crate) fn scenario_keys() -> Vec<TableInfo> {
    let tables = TABLES.iter();
    tables
        .map(|table| TableInfo {
            name: table.name,
            kind: table.kind,
            one_of: table.one_of,
            keys: table.keys.iter().map(KeyInfo::of).collect(),
        })
        .collect()
}

/// What can be written with a unit, and every unit that is understood.
#[pyfunction]
pub(crate) fn known_units() -> Vec<(&'static str, Vec<&'static str>)> {
    longfat_units::known_units().into()
}

/// Every profile: name, title, source, the keys that it sets, and those that it sets with certain controllers.
#[pyfunction]
pub(crate) fn profiles() -> Vec<ProfileInfo> {
    let profiles = PROFILES.iter();
    profiles
        .map(|profile| ProfileInfo {
            name: profile.name,
            title: profile.about,
            source: profile.source,
            keys: profile.keys.iter().map(|(key, given)| (*key, value(given))).collect(),
            with: profile
                .with
                .iter()
                .map(|(control, key, given)| (*control, *key, value(given)))
                .collect(),
        })
        .collect()
}

/// A default as a plain value; numbers without a fraction are counts.
fn value(given: &Given) -> Option<DefaultValue> {
    match given {
        Given::Number(number) if number.fract() == 0.0 => Some(DefaultValue::Count(*number as u64)),
        Given::Number(number) => Some(DefaultValue::Number(*number)),
        Given::Flag(flag) => Some(DefaultValue::Flag(*flag)),
        Given::Text(text) => Some(DefaultValue::Text(text.clone().into_owned())),
        Given::Entry(entry) => Some(DefaultValue::Text(entry.name().into())),
        Given::Nothing => None,
    }
}

fn setting(parameter: &Parameter) -> ParameterInfo {
    let (kind, bounds, words): (_, _, &[Cow<'_, str>]) = match &parameter.kind {
        Kind::Number { min, max } => ("number", Some((*min, *max)), &[]),
        Kind::Count { min, max } => ("count", Some((*min as f64, *max as f64)), &[]),
        Kind::Frequency { min, max } => ("frequency", Some((*min, *max)), &[]),
        Kind::Span => ("time", None, &[]),
        Kind::Length => ("length", None, &[]),
        Kind::Flag => ("flag", None, &[]),
        Kind::Word(words) => ("word", None, words),
        Kind::NumberOr { min, max, words } => ("number or word", Some((*min, *max)), words),
        Kind::Law => ("controller", None, &[]),
    };
    let default = match (&parameter.default, &parameter.kind) {
        // A number that happens to be whole stays a number.
        (Given::Number(number), kind) if !matches!(kind, Kind::Count { .. }) => {
            Some(DefaultValue::Number(*number))
        }
        (given, _) => value(given),
    };
    ParameterInfo {
        name: parameter.name.clone().into_owned(),
        kind,
        default,
        minimum: bounds.map(|(minimum, _)| minimum),
        maximum: bounds.map(|(_, maximum)| maximum),
        words: (!words.is_empty()).then(|| words.iter().map(ToString::to_string).collect()),
        about: parameter.about.clone().into_owned(),
    }
}
