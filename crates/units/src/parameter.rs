//! Named, ranged, documented settings: what a controller or a queue lets its user choose.
//!
//! A registry entry lists its [`Parameter`]s; scenario files, the command line, Python and the
//! reference pages are all made from that one list.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::{Origin, Span};

/// One setting of a controller or a queue.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// The key in a scenario file: the paper's symbol.
    pub name: Text,
    /// The values it can take.
    pub kind: Kind,
    /// The value if the scenario gives none, as it would be written there.
    pub default: Given,
    /// The meaning, in one line.
    pub about: Text,
}

/// What values a parameter can take.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A ratio, probability or plain number within closed bounds.
    Number {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// A whole number within closed bounds.
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
    /// One of a set of words.
    Word(Words),
    /// A number within closed bounds, or one of a set of words that stand for a computed value.
    NumberOr {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// The words.
        words: Words,
    },
    /// The name of a controller that has a window law.
    Law,
}

/// A text of an entry: a constant, or made at run time.
pub type Text = Cow<'static, str>;

/// The words that a parameter accepts.
pub type Words = Vec<Text>;

/// A default.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A number, count or number per second.
    Number(f64),
    /// A flag.
    Flag(bool),
    /// A word, or a quantity as it would be written.
    Text(Text),
    /// An entry of the catalogue, which a scenario gives by name.
    Entry(Arc<dyn Entry>),
    /// No default: the scenario must give a value.
    Nothing,
}

impl Given {
    /// A word or a quantity, as a constant.
    pub const fn text(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<f64> for Given {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&'static str> for Given {
    fn from(text: &'static str) -> Self {
        Self::text(text)
    }
}

/// An entry of a catalogue, where a parameter names one.
///
/// Parameters know nothing of controllers. Whoever declares one of kind [`Kind::Law`] knows the type of what it names,
/// and gets it back from [`Settings::entry`].
pub trait Entry: Any + fmt::Debug + Send + Sync {
    /// The name in scenario files.
    fn name(&self) -> &str;

    /// Where it comes from, if it is no part of longfat.
    fn origin(&self) -> Option<&Origin> {
        None
    }
}

/// Names are unique within a catalogue, and code from outside has a digest.
impl PartialEq for dyn Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.origin() == other.origin()
    }
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
    /// A queue length, in the unit the queue counts in (packets or bytes).
    Length(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Word(String),
    /// An entry of the catalogue.
    Entry(Arc<dyn Entry>),
}

/// Which parameter is wrong, and why: what a check finds that looks at the settings together.
pub type Refusal = (Text, String);

/// The settings of one controller or queue: a value for each of its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Vec<(Text, Setting)>);

impl Settings {
    /// Adds or replaces the value of `name`.
    pub fn set(&mut self, name: impl Into<Text>, value: Setting) {
        let name = name.into();
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Every value, in the order of the parameters.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(name, value)| (&**name, value))
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

    /// The number called `name`, or `None` if a word stands for a computed value.
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

    /// The entry called `name`, of the type of its catalogue.
    ///
    /// # Panics
    /// If no such entry was declared.
    pub fn entry<T: Entry>(&self, name: &str) -> &T {
        let found = match self.get(name) {
            Some(Setting::Entry(entry)) => (&**entry as &dyn Any).downcast_ref(),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let what = std::any::type_name::<T>();
            panic!("parameter `{name}` is read as a {what} but is {:?}", self.get(name))
        })
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

impl FromIterator<(Text, Setting)> for Settings {
    fn from_iter<I: IntoIterator<Item = (Text, Setting)>>(values: I) -> Self {
        let mut settings = Self::default();
        for (name, value) in values {
            settings.set(name, value);
        }
        settings
    }
}

impl Parameter {
    fn new(name: impl Into<Text>, kind: Kind, default: Given, about: impl Into<Text>) -> Self {
        Self { name: name.into(), kind, default, about: about.into() }
    }

    /// A number within closed bounds.
    pub fn number(
        name: impl Into<Text>,
        default: f64,
        min: f64,
        max: f64,
        about: impl Into<Text>,
    ) -> Self {
        Self::new(name, Kind::Number { min, max }, Given::Number(default), about)
    }

    /// A count within closed bounds.
    pub fn count(
        name: impl Into<Text>,
        default: u64,
        min: u64,
        max: u64,
        about: impl Into<Text>,
    ) -> Self {
        Self::new(name, Kind::Count { min, max }, Given::Number(default as f64), about)
    }

    /// A number per second within closed bounds.
    pub fn frequency(
        name: impl Into<Text>,
        default: f64,
        min: f64,
        max: f64,
        about: impl Into<Text>,
    ) -> Self {
        Self::new(name, Kind::Frequency { min, max }, Given::Number(default), about)
    }

    /// A number within closed bounds, or one of a set of words that stand for a computed value.
    pub fn number_or<Word: Into<Text>>(
        name: impl Into<Text>,
        default: impl Into<Given>,
        (min, max): (f64, f64),
        words: impl IntoIterator<Item = Word>,
        about: impl Into<Text>,
    ) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self::new(name, Kind::NumberOr { min, max, words }, default.into(), about)
    }

    /// A time, with its default as it would be written.
    pub fn span(name: impl Into<Text>, default: impl Into<Text>, about: impl Into<Text>) -> Self {
        Self::new(name, Kind::Span, Given::Text(default.into()), about)
    }

    /// A queue length, with its default as it would be written.
    pub fn length(name: impl Into<Text>, default: impl Into<Text>, about: impl Into<Text>) -> Self {
        Self::new(name, Kind::Length, Given::Text(default.into()), about)
    }

    /// Yes or no.
    pub fn flag(name: impl Into<Text>, default: bool, about: impl Into<Text>) -> Self {
        Self::new(name, Kind::Flag, Given::Flag(default), about)
    }

    /// One of a set of words.
    pub fn word<Word: Into<Text>>(
        name: impl Into<Text>,
        default: impl Into<Text>,
        words: impl IntoIterator<Item = Word>,
        about: impl Into<Text>,
    ) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self::new(name, Kind::Word(words), Given::Text(default.into()), about)
    }

    /// A controller that has a window law.
    pub fn law(name: impl Into<Text>, default: impl Entry, about: impl Into<Text>) -> Self {
        Self::new(name, Kind::Law, Given::Entry(Arc::new(default)), about)
    }

    /// The same parameter without a default: the scenario must give a value.
    #[must_use]
    pub fn required(self) -> Self {
        Self { default: Given::Nothing, ..self }
    }

    /// The value if the scenario gives none; `None` if it must give one. `length` converts a queue length as written
    /// (`"0.1 bdp"`) to the unit the queue counts in.
    ///
    /// # Panics
    /// If the default does not read as its kind, which a catalogue checks when an entry is added.
    pub fn default_setting(&self, length: &dyn Fn(&str) -> f64) -> Option<Setting> {
        Some(match (&self.default, &self.kind) {
            (Given::Nothing, _) => return None,
            (Given::Number(count), Kind::Count { .. }) => Setting::Count(*count as u64),
            (Given::Number(number), _) => Setting::Number(*number),
            (Given::Flag(flag), _) => Setting::Flag(*flag),
            (Given::Entry(entry), _) => Setting::Entry(Arc::clone(entry)),
            (Given::Text(text), Kind::Span) => {
                Setting::Span(text.parse().expect("a default is written as in a scenario"))
            }
            (Given::Text(text), Kind::Length) => Setting::Length(length(text)),
            (Given::Text(text), _) => Setting::Word(text.clone().into_owned()),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        for (value, text) in [
            (0.0, "0"),
            (5.0, "5"),
            (-5.0, "-5"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (9e-5, "9e-5"),
            (-9e-5, "-9e-5"),
            (999_999_999_999_999.0, "999999999999999"),
            (1e15, "1e15"),
            (1e100, "1e100"),
        ] {
            assert_eq!(shortest(value), text);
            assert_eq!(text.parse(), Ok(value));
        }
    }

    #[test]
    fn a_setting_can_be_given_anew() {
        let mut settings = Settings::default();
        for (name, value) in [("a", 1.0), ("b", 2.0), ("a", 3.0)] {
            settings.set(name, Setting::Number(value));
        }
        let all: Vec<(&str, f64)> =
            settings.iter().map(|(it, _)| (it, settings.number(it))).collect();
        assert_eq!(all, [("a", 3.0), ("b", 2.0)]);
        settings.set("b", Setting::Word("auto".into()));
        assert_eq!([settings.number_or_word("a"), settings.number_or_word("b")], [Some(3.0), None]);
    }

    #[test]
    fn a_default_is_of_its_kind() {
        let setting = |parameter: Parameter| {
            parameter.default_setting(&|text| if text == "0.1 bdp" { 50.0 } else { 0.0 })
        };
        assert_eq!(setting(Parameter::number("a", 3.0, 0.0, 9.0, "")), Some(Setting::Number(3.0)));
        let count = || Parameter::count("a", 3, 0, 9, "");
        assert_eq!(setting(count()), Some(Setting::Count(3)));
        assert_eq!(setting(count().required()), None);
        assert_eq!(setting(Parameter::length("a", "0.1 bdp", "")), Some(Setting::Length(50.0)));
        assert_eq!(
            setting(Parameter::span("a", "2 ms", "")),
            Some(Setting::Span(Span::from_millis(2)))
        );
        assert_eq!(setting(Parameter::flag("a", true, "")), Some(Setting::Flag(true)));
        let word = Parameter::number_or("a", "auto", (0.0, 1.0), ["auto"], "");
        assert_eq!(setting(word), Some(Setting::Word("auto".into())));
    }

    /// An entry called so, from code with this digest.
    #[derive(Debug)]
    struct Named(&'static str, Option<Origin>);

    impl Entry for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn origin(&self) -> Option<&Origin> {
            self.1.as_ref()
        }
    }

    #[test]
    fn entries_are_the_same_if_their_name_and_their_code_are() {
        let entry = |name, digest: Option<&str>| {
            Setting::Entry(Arc::new(Named(name, digest.map(Origin::new))))
        };
        assert_eq!(entry("a", None), entry("a", None));
        assert_eq!(entry("a", Some("1")), entry("a", Some("1")));
        assert_ne!(entry("a", None), entry("b", None));
        assert_ne!(entry("a", Some("1")), entry("a", Some("2")));
        let mut settings = Settings::default();
        settings.set("law", entry("a", None));
        assert_eq!(settings.entry::<Named>("law").0, "a");
    }
}
