//! A TOML text as a tree in which every key and every value knows its place in the text.

use std::borrow::Cow;

use longfat_units::parameter::Given;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use crate::error::{Place, Problem, quoted};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// What a scenario file can hold.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    Float(f64),
    Flag(bool),
    Date,
    List(Vec<Node>),
    Table(TomlTable),
}

/// Keys and their values, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TomlTable(pub(crate) Vec<KeyValue>);

/// One key and its value.
#[derive(Clone, Debug)]
pub(crate) struct KeyValue {
    pub(crate) name: String,
    pub(crate) key: Place,
    pub(crate) node: Node,
}

impl Value {
    /// A default as it would be written; `None` if there is none.
    pub(crate) fn given(given: &Given) -> Option<Self> {
        match given {
            Given::Number(number) => Some(Self::Float(*number)),
            Given::Flag(flag) => Some(Self::Flag(*flag)),
            Given::Text(text) => Some(Self::Text(text.clone().into_owned())),
            Given::Entry(entry) => Some(Self::Text(entry.name().into())),
            Given::Nothing => None,
        }
    }
}

impl TomlTable {
    /// The entry called `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&KeyValue> {
        self.0.iter().find(|entry| entry.name == name)
    }

    /// The value called `name`.
    pub(crate) fn node(&self, name: &str) -> Option<&Node> {
        self.get(name).map(|entry| &entry.node)
    }

    /// Adds an entry, or replaces the one of the same name.
    pub(crate) fn set(&mut self, entry: KeyValue) {
        match self.0.iter_mut().find(|old| old.name == entry.name) {
            Some(old) => *old = entry,
            None => self.0.push(entry),
        }
    }

    /// The names of the keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.name.as_str())
    }
}

impl Node {
    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The table, if it is one.
    pub(crate) fn table(&self) -> Option<&TomlTable> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The table, if it is one, to be changed.
    pub(crate) fn table_mut(&mut self) -> Option<&mut TomlTable> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub(crate) fn list(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// The list, if it is one, to be changed.
    pub(crate) fn list_mut(&mut self) -> Option<&mut [Self]> {
        match &mut self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// The number, whole or not.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.value {
            Value::Integer(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            _ => None,
        }
    }

    /// What it is, in words, for when something else was expected.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) if text.is_empty() => "an empty text".into(),
            Value::Text(text) => format!("the text \"{}\"", quoted(text)),
            Value::Integer(number) => format!("the number {number}"),
            Value::Float(number) if number.is_finite() => {
                format!("the number {}", longfat_units::parameter::shortest(*number))
            }
            Value::Float(number) if number.is_nan() => "not a number".into(),
            Value::Float(_) => "infinite".into(),
            Value::Flag(flag) => format!("{flag}"),
            Value::Date => "a date".into(),
            Value::List(items) if items.is_empty() => "an empty list".into(),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Table(_) => "a table".into(),
        }
    }
}

/// Reads a whole file, the text numbered `source`.
pub(crate) fn parse(text: &str, source: usize) -> Result<TomlTable, Problem> {
    let at = At { source, offset: 0 };
    match DeTable::parse(text) {
        Ok(table) => Ok(at.table(table.get_ref())),
        Err(error) => Err(at.refuse(text, &error)),
    }
}

/// Reads the value that the text numbered `source` holds from byte `offset` on.
pub(crate) fn parse_value(text: &str, source: usize, offset: usize) -> Result<Node, Problem> {
    let at = At { source, offset };
    match DeValue::parse(&text[offset..]) {
        Ok(value) => Ok(at.node(&value)),
        Err(error) => Err(at.refuse(text, &error)),
    }
}

/// Where the text to read begins.
#[derive(Clone, Copy)]
struct At {
    source: usize,
    offset: usize,
}

impl At {
    fn place(self, span: std::ops::Range<usize>) -> Place {
        Place::new(self.source, span.start + self.offset..span.end + self.offset)
    }

    fn table(self, table: &DeTable<'_>) -> TomlTable {
        let mut entries: Vec<(usize, KeyValue)> = table
            .iter()
            .map(|(key, value)| {
                let entry = KeyValue {
                    name: key.get_ref().to_string(),
                    key: self.place(key.span()),
                    node: self.node(value),
                };
                (key.span().start, entry)
            })
            .collect();
        entries.sort_by_key(|(start, _)| *start);
        TomlTable(entries.into_iter().map(|(_, entry)| entry).collect())
    }

    fn node(self, value: &Spanned<DeValue<'_>>) -> Node {
        let place = self.place(value.span());
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => {
                match i128::from_str_radix(number.as_str(), number.radix()) {
                    Ok(integer) => Value::Integer(integer),
                    // Beyond 39 digits: no count is that large, and an infinite one is refused.
                    Err(_) => Value::Float(f64::INFINITY),
                }
            }
            DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(list) => Value::List(list.iter().map(|item| self.node(item)).collect()),
            DeValue::Table(table) => Value::Table(self.table(table)),
        };
        Node { place, value }
    }

    /// A mistake in the TOML itself, in our own words where they are plainer.
    fn refuse(self, text: &str, error: &Error) -> Problem {
        let Some(span) = error.span() else {
            return Problem::new(
                Place::whole(self.source),
                format!("this is not TOML: {}", error.message()),
            );
        };
        let place = self.place(span.clone());
        let found = text
            .get(span.start + self.offset..span.end + self.offset)
            .map_or(Cow::Borrowed(""), |found| quoted(found.trim()).into());
        let message = error.message();
        if message.starts_with("string values must be quoted") {
            return if found.is_empty() {
                Problem::new(place, "a value is missing after `=`")
            } else {
                Problem::new(place, format!("the text `{found}` must be in quotation marks"))
                    .help(format!("write \"{found}\""))
            };
        }
        if message.starts_with("invalid basic string") && found.is_empty() {
            return Problem::new(place, "this text has no closing quotation mark");
        }
        if message == "duplicate key" {
            return Problem::new(place, format!("`{found}` is given twice"))
                .help("keep one of the two");
        }
        Problem::new(place, format!("this is not TOML: {message}"))
    }
}
