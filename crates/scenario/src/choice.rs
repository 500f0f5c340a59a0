//! A controller or a queue discipline: a name, or a table with its `kind` and its parameters.

use std::borrow::Cow;
use std::sync::Arc;

use longfat_control::Controller;
use longfat_queue::Discipline;
use longfat_units::Form;
use longfat_units::parameter::{Entry, Given, Kind, Parameter, Refusal, Setting, Settings};

use crate::Catalogue;
use crate::catalogue::{CODE, RESERVED, Unfetched};
use crate::error::{Place, Problem, Problems, did_you_mean, quoted};
use crate::fields::Field;
use crate::lengths::{Length, length};
use crate::tree::{Node, TomlTable, Value};
use crate::value::{
    bounds, count, flag, frequency, number, one_of, quantity, span_like, word, write_frequency,
};

/// A choice as written: its name, and its parameters if it has a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen<'a> {
    /// Its name; of code, where it is.
    pub(crate) name: &'a str,
    /// What code it is, if it is not known by its name.
    pub(crate) form: Option<Form>,
    /// Where the name stands.
    pub(crate) place: Place,
    pub(crate) table: Option<&'a TomlTable>,
}

/// Splits a choice into its name and its parameters.
pub(crate) fn chosen(field: Field<'_>) -> Result<Chosen<'_>, Problem> {
    let place = field.node.place;
    match &field.node.value {
        Value::Text(name) => Ok(Chosen { name, form: None, place, table: None }),
        Value::Table(table) => {
            if let Some(chosen) = code(table)? {
                return Ok(chosen);
            }
            let kind = table.node("kind").ok_or_else(|| {
                let problem = format!("`{}` does not say which one: it has no `kind`", field.name);
                let other = table.names().find(|name| matches!(*name, "name" | "type"));
                field.problem(problem).help(match other {
                    Some(name) => format!("`{name}` is called `kind` here"),
                    None => "begin it with `kind = \"...\"`".into(),
                })
            })?;
            let name = kind.text().ok_or_else(|| {
                Field { name: "kind", node: kind }.wrong("a name in quotation marks")
            })?;
            Ok(Chosen { name, form: None, place: kind.place, table: Some(table) })
        }
        _ => Err(field.wrong("a name, or a table with its `kind` and its parameters")),
    }
}

/// A choice of code, if it is one: `{ python = "rules.py:gentle" }`.
fn code(table: &TomlTable) -> Result<Option<Chosen<'_>>, Problem> {
    let mut found = None;
    for form in Form::ALL {
        let Some(node) = table.node(form.key()) else { continue };
        let field = Field { name: form.key(), node };
        if found.is_some() || table.node("kind").is_some() {
            let reason = format!("`{form}` says which one it is, and so does another key");
            return Err(field.problem(reason).help("leave one of them out"));
        }
        let name = node.text().ok_or_else(|| {
            field.wrong(match form {
                Form::Python => "a module and a name in it, such as \"rules.py:gentle\"",
                Form::Library => "the path of a shared library, such as \"librules.so\"",
                Form::Policy => "the path of a trained policy, such as \"trained.json\"",
            })
        })?;
        found = Some(Chosen { name, form: Some(form), place: node.place, table: Some(table) });
    }
    Ok(found)
}

/// The controller of that name.
pub(crate) fn controller(
    catalogue: &Catalogue,
    chosen: Chosen<'_>,
) -> Result<Arc<Controller>, Problem> {
    let fetch = |form| catalogue.fetch_controller(form, chosen.name);
    entry(chosen, "controller", catalogue.controllers(), fetch)
}

/// The queue discipline of that name.
pub(crate) fn discipline(
    catalogue: &Catalogue,
    chosen: Chosen<'_>,
) -> Result<Arc<Discipline>, Problem> {
    let fetch = |form| catalogue.fetch_discipline(form, chosen.name);
    entry(chosen, "queue", catalogue.disciplines(), fetch)
}

/// The entry that is chosen by its name, or fetched.
fn entry<T: Entry>(
    chosen: Chosen<'_>,
    what: &str,
    entries: &[Arc<T>],
    fetch: impl FnOnce(Form) -> Result<Arc<T>, Unfetched>,
) -> Result<Arc<T>, Problem> {
    match chosen.form {
        Some(form) => fetch(form).map_err(|why| not_fetched(why, form, chosen, what)),
        None => find(entries, chosen, what).map(Arc::clone),
    }
}

fn not_fetched(why: Unfetched, form: Form, chosen: Chosen<'_>, what: &str) -> Problem {
    let place = quoted(chosen.name);
    match why {
        Unfetched::Forbidden => {
            let reason = format!("this scenario would run code: the {what} in {form} `{place}`");
            let help = "if you trust it, allow code: `--allow-code`, in Python `allow_code=True`";
            Problem::new(chosen.place, reason).help(help)
        }
        Unfetched::Wrong(why) => {
            Problem::new(chosen.place, format!("no {what} comes from {form} `{place}`: {why}"))
        }
    }
}

fn find<'c, T: Entry>(
    entries: &'c [Arc<T>],
    chosen: Chosen<'_>,
    what: &str,
) -> Result<&'c Arc<T>, Problem> {
    let asked = chosen.name;
    entries.iter().find(|entry| entry.name() == asked).ok_or_else(|| {
        let help = did_you_mean(asked, entries.iter().map(|entry| entry.name()));
        let reason = format!("there is no {what} called `{}`", quoted(asked));
        Problem::new(chosen.place, reason).help(help.unwrap_or_else(|| listed(what)))
    })
}

fn listed(what: &str) -> String {
    format!("`longfat list {what}s` shows them all")
}

/// Converts a length as written into the unit that counts; problems are reported at the field.
pub(crate) type Measure<'m> = &'m dyn Fn(Field<'_>, Length) -> Result<f64, Problem>;

/// Reads a value for each of `parameters` of `entry`, from `chosen` or from the defaults.
pub(crate) fn settings(
    chosen: Chosen<'_>,
    (entry, parameters): (&dyn Entry, &[Parameter]),
    catalogue: &Catalogue,
    measure: Measure<'_>,
    problems: &mut Problems,
) -> Option<Settings> {
    refuse_unknown(chosen, parameters, problems);
    let mut settings = Settings::default();
    let mut complete = true;
    for parameter in parameters {
        let read = Reader { parameter, catalogue, measure };
        let value = match chosen.table.and_then(|table| table.node(&parameter.name)) {
            Some(node) => read.setting(Field { name: &parameter.name, node }),
            None => read.default(chosen),
        };
        match problems.keep(value) {
            Some(value) => settings.set(parameter.name.clone(), value),
            None => complete = false,
        }
    }
    let settings = complete.then_some(settings)?;
    problems.keep(refuse_other_code(chosen, entry, &settings))?;
    Some(settings)
}

/// What a check of settings found, placed at the parameter that it names if that is written.
pub(crate) fn refused(chosen: Chosen<'_>, (key, reason): Refusal) -> Problem {
    let node = chosen.table.and_then(|table| table.node(&key));
    Problem::new(node.map_or(chosen.place, |node| node.place), reason)
}

/// A digest of the code that a choice runs, if any of it is no part of longfat.
pub(crate) fn digest(entry: &dyn Entry, settings: &Settings) -> Option<String> {
    let nested = settings.iter().filter_map(|(_, setting)| match setting {
        Setting::Entry(entry) => entry.origin(),
        _ => None,
    });
    let digests: Vec<&str> =
        entry.origin().into_iter().chain(nested).map(|origin| origin.digest.as_str()).collect();
    (!digests.is_empty()).then(|| digests.join("+"))
}

/// A resolved scenario has the digest of the code that it was resolved with; other code would be another scenario.
fn refuse_other_code(
    chosen: Chosen<'_>,
    entry: &dyn Entry,
    settings: &Settings,
) -> Result<(), Problem> {
    let Some(node) = chosen.table.and_then(|table| table.node(CODE)) else { return Ok(()) };
    let field = Field { name: CODE, node };
    let given = node.text().ok_or_else(|| field.wrong("the digest of code, as a text"))?;
    let there = digest(entry, settings);
    if there.as_deref() == Some(given) {
        return Ok(());
    }
    let name = entry.name();
    Err(match there {
        Some(there) => field
            .problem(format!("the code of `{name}` is now another one: its digest is {there}"))
            .help("to use it as it is now, leave `code` out"),
        None => field.problem(format!("`{name}` is part of longfat, so there is no `{CODE}`")),
    })
}

fn refuse_unknown(chosen: Chosen<'_>, parameters: &[Parameter], problems: &mut Problems) {
    let names: Vec<&str> = parameters.iter().map(|parameter| &*parameter.name).collect();
    let entries = chosen.table.map(|table| table.0.as_slice()).unwrap_or_default();
    for entry in entries.iter().filter(|entry| !RESERVED.contains(&entry.name.as_str())) {
        if names.contains(&entry.name.as_str()) {
            continue;
        }
        let reason = format!("`{}` has no parameter `{}`", chosen.name, quoted(&entry.name));
        let help = did_you_mean(&entry.name, names.iter().copied()).unwrap_or_else(|| match names
            .as_slice()
        {
            [] => "it has no parameters".into(),
            [only] => format!("its only parameter is: {only}"),
            names => format!("its parameters are: {}", names.join(", ")),
        });
        problems.add(Problem::new(entry.key, reason).help(help));
    }
}

/// Reads one parameter.
struct Reader<'a> {
    parameter: &'a Parameter,
    catalogue: &'a Catalogue,
    measure: Measure<'a>,
}

impl Reader<'_> {
    /// The default, read as if it had been written in place of the choice.
    fn default(&self, chosen: Chosen<'_>) -> Result<Setting, Problem> {
        let Parameter { name, kind, default, .. } = self.parameter;
        let given = match (default, kind) {
            (Given::Number(number), Kind::Frequency { .. }) => {
                Some(Value::Text(write_frequency(*number)))
            }
            _ => Value::given(default),
        };
        let value = given.ok_or_else(|| {
            let reason = format!("`{}` needs a value for `{name}`", chosen.name);
            let help = format!("`{name}`: {}", self.parameter.about);
            Problem::new(chosen.place, reason).help(help)
        })?;
        let node = Node { place: chosen.place, value };
        self.setting(Field { name, node: &node })
    }

    fn setting(&self, field: Field<'_>) -> Result<Setting, Problem> {
        match &self.parameter.kind {
            Kind::Number { min, max } => number(field, *min, *max).map(Setting::Number),
            Kind::Count { min, max } => count(field, *min, *max).map(Setting::Count),
            Kind::Frequency { min, max } => frequency(field, *min, *max).map(Setting::Number),
            Kind::Span => match &self.parameter.default {
                Given::Text(usual) => span_like(field, usual),
                _ => quantity(field),
            }
            .map(Setting::Span),
            Kind::Length => {
                length(field).and_then(|length| (self.measure)(field, length)).map(Setting::Length)
            }
            Kind::Flag => flag(field).map(Setting::Flag),
            Kind::Word(words) => word(field, words).map(|word| Setting::Word(word.into())),
            Kind::NumberOr { min, max, words } => number_or(field, *min, *max, words),
            Kind::Law => self.law(field),
        }
    }

    /// The name of a controller that is a window law and works with its defaults.
    fn law(&self, field: Field<'_>) -> Result<Setting, Problem> {
        let Some(name) = field.node.text() else {
            return Err(field.wrong("the name of a controller"));
        };
        let chosen = Chosen { name, form: None, place: field.node.place, table: None };
        let controller = controller(self.catalogue, chosen)?;
        let Some(why) = no_base(&controller) else {
            return Ok(Setting::Entry(controller as Arc<dyn Entry>));
        };
        let reason = format!("`{}` cannot build on `{}`, {why}", field.name, controller.name);
        let laws = self.catalogue.controllers().iter().filter(|entry| no_base(entry).is_none());
        let names: Vec<&str> = laws.map(|entry| entry.name()).collect();
        Err(field.problem(reason).help(format!("the window laws are: {}", names.join(", "))))
    }
}

/// Why nothing can build on this controller, if nothing can.
fn no_base(controller: &Controller) -> Option<&'static str> {
    let any = |is: fn(&Parameter) -> bool| controller.parameters.iter().any(is);
    if controller.law.is_none() {
        Some("which is not a window law")
    } else if any(|parameter| parameter.kind == Kind::Law) {
        Some("which itself builds on another law")
    } else if any(|parameter| parameter.default == Given::Nothing) {
        Some("which has a parameter without a default")
    } else if controller.heeds_delay() {
        Some("which answers delays, not only losses and marks")
    } else {
        None
    }
}

/// Refuses a parameter whose default is not a valid value. Of lengths, only the form is checked.
pub(crate) fn refuse_default(
    catalogue: &Catalogue,
    name: &str,
    parameter: &Parameter,
) -> Result<(), Problem> {
    // Which laws there are is known only once all have been added.
    if parameter.kind == Kind::Law {
        return Ok(());
    }
    let reader = Reader { parameter, catalogue, measure: &|_, _| Ok(0.0) };
    reader.default(Chosen { name, form: None, place: Place::whole(0), table: None }).map(|_| ())
}

/// A number within bounds, or one of a list of words.
fn number_or(
    field: Field<'_>,
    min: f64,
    max: f64,
    words: &[Cow<'_, str>],
) -> Result<Setting, Problem> {
    let Some(text) = field.node.text() else {
        let read = number(field, min, max).map(Setting::Number);
        let wanted = format!("{}, or {}", bounds("a number", min, max), one_of(words));
        return read.map_err(|_| field.wrong(&wanted));
    };
    if words.iter().any(|word| word == text) {
        return Ok(Setting::Word(text.into()));
    }
    let wanted = format!("{}, or {}", bounds("a number", min, max), one_of(words));
    Err(field.wrong(&wanted).maybe_help(did_you_mean(text, words.iter().map(|word| &**word))))
}
