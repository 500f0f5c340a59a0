//! Named, ranged, documented settings: what a controller or a queue lets its user choose.
//!
//! A registry entry lists its [`Parameter`]s; scenario files, the command line, Python and the
//! reference pages are all made from that one list.

use crate::Span;

/// One setting of a controller or a queue.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The key in a scenario file: the paper's symbol.
    pub name: &'static str,
    /// What values are possible.
    pub kind: Kind,
    /// The value when the scenario says nothing, as it would be written there.
    pub default: Given,
    /// The meaning, in one line.
    pub about: &'static str,
}

/// What values a parameter can take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A ratio, probability or plain number within closed bounds.
    Number {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// A number of something within closed bounds.
    Count {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A number per second, written `"10 /s"`, within closed bounds.
    Frequency {
        /// Smallest value, per second.
        min: f64,
        /// Largest value, per second.
        max: f64,
    },
    /// A time.
    Span,
    /// A queue length: `"500 packets"`, `"0.1 bdp"`, `"5 MB"`, `"50 ms"`.
    Length,
    /// Yes or no.
    Flag,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A number within closed bounds, or one of some words that stand for a computed one.
    NumberOr {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// The words.
        words: &'static [&'static str],
    },
    /// The name of a controller that has a window law.
    Law,
}

/// A default, in a form that can be a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// A number, count or number per second.
    Number(f64),
    /// A flag.
    Flag(bool),
    /// A word, or a quantity as it would be written.
    Text(&'static str),
    /// No default: the scenario must say.
    Nothing,
}

/// The value of one parameter, checked against its [`Kind`].
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number, or a number per second.
    Number(f64),
    /// A count.
    Count(u64),
    /// A time.
    Span(Span),
    /// A queue length, in the unit in which the queue counts (packets or bytes).
    Length(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Word(String),
}

/// The settings of one controller or queue: a value for each of its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Vec<(&'static str, Setting)>);

impl Settings {
    /// Adds or replaces the value of `name`.
    pub fn set(&mut self, name: &'static str, value: Setting) {
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Every value, in the order of the parameters.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The value of `name`, if the controller or queue has such a parameter.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    /// The number, count, frequency or length called `name`, as a real number.
    ///
    /// # Panics
    /// If no such number was declared: a mistake in the registry entry, not in a scenario.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Setting::Number(value) | Setting::Length(value)) => *value,
            Some(Setting::Count(value)) => *value as f64,
            other => panic!("parameter `{name}` is read as a number but is {other:?}"),
        }
    }

    /// The number called `name`, or `None` where a word stands for a computed one.
    pub fn number_or_word(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Setting::Word(_)) => None,
            _ => Some(self.number(name)),
        }
    }

    /// The flag called `name`.
    ///
    /// # Panics
    /// If no such flag was declared.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Setting::Flag(value)) => *value,
            other => panic!("parameter `{name}` is read as a flag but is {other:?}"),
        }
    }

    /// The word called `name`.
    ///
    /// # Panics
    /// If no such word was declared.
    pub fn word(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Setting::Word(value)) => value,
            other => panic!("parameter `{name}` is read as a word but is {other:?}"),
        }
    }

    /// The time called `name`.
    ///
    /// # Panics
    /// If no such time was declared.
    pub fn span(&self, name: &str) -> Span {
        match self.get(name) {
            Some(Setting::Span(value)) => *value,
            other => panic!("parameter `{name}` is read as a time but is {other:?}"),
        }
    }
}

impl Parameter {
    /// A number within closed bounds.
    pub const fn number(
        name: &'static str,
        default: f64,
        min: f64,
        max: f64,
        about: &'static str,
    ) -> Self {
        Self { name, kind: Kind::Number { min, max }, default: Given::Number(default), about }
    }

    /// A count within closed bounds.
    pub const fn count(
        name: &'static str,
        default: u64,
        min: u64,
        max: u64,
        about: &'static str,
    ) -> Self {
        Self { name, kind: Kind::Count { min, max }, default: Given::Number(default as f64), about }
    }

    /// Yes or no.
    pub const fn flag(name: &'static str, default: bool, about: &'static str) -> Self {
        Self { name, kind: Kind::Flag, default: Given::Flag(default), about }
    }

    /// One of some words.
    pub const fn word(
        name: &'static str,
        default: &'static str,
        words: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        Self { name, kind: Kind::Word(words), default: Given::Text(default), about }
    }

    /// A queue length, with its default as it would be written.
    pub const fn length(name: &'static str, default: &'static str, about: &'static str) -> Self {
        Self { name, kind: Kind::Length, default: Given::Text(default), about }
    }
}

/// A number as a scenario file would show it: the shortest decimal that reads back to the same bits.
pub fn shortest(value: f64) -> String {
    let magnitude = value.abs();
    if value != 0.0 && !(1e-4..1e15).contains(&magnitude) {
        format!("{value:e}")
    } else if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}
