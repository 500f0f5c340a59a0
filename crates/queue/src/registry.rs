//! What every queue discipline tells about itself.

use longfat_units::parameter::{self, Given, Kind, Parameter, Settings};
use longfat_units::{Bytes, Rate, Span};

use crate::{Capacity, DISCIPLINES, Policy};

/// One discipline: its name, its source, its parameters, and how to make one.
#[derive(Debug)]
pub struct Discipline {
    /// The name in scenario files.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What can be chosen. A parameter called `mode` with the words `packets` and `bytes` decides the unit
    /// in which the queue counts its limit and its lengths.
    pub parameters: &'static [Parameter],
    /// Checks what no single parameter can: thresholds in the wrong order, say.
    pub check: fn(&Settings, &Setting) -> Result<(), Refusal>,
    /// Makes the queue of one direction of a link.
    pub build: fn(&Settings, &Setting) -> Built,
}

/// Which key is wrong, and why.
pub type Refusal = (&'static str, String);

impl Discipline {
    /// The settings of a queue of which nothing is said; `None` where a parameter has no default. `length`
    /// turns a length as it is written (`"0.1 bdp"`) into the unit in which the queue counts.
    pub fn defaults(&self, length: &dyn Fn(&str) -> f64) -> Option<Settings> {
        let mut settings = Settings::default();
        for parameter in self.parameters {
            settings.set(parameter.name, default(parameter, length)?);
        }
        Some(settings)
    }
}

fn default(parameter: &Parameter, length: &dyn Fn(&str) -> f64) -> Option<parameter::Setting> {
    use parameter::Setting;
    Some(match (parameter.default, parameter.kind) {
        (Given::Number(number), Kind::Count { .. }) => Setting::Count(number as u64),
        (Given::Number(number), _) => Setting::Number(number),
        (Given::Flag(flag), _) => Setting::Flag(flag),
        (Given::Text(text), Kind::Length) => Setting::Length(length(text)),
        (Given::Text(text), Kind::Span) => Setting::Span(text.parse().ok()?),
        (Given::Text(text), _) => Setting::Word(text.into()),
        (Given::Nothing, _) => return None,
    })
}

/// Where a queue stands: the facts of its link.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The rate of the link.
    pub rate: Rate,
    /// The largest packet that crosses it.
    pub packet: Bytes,
    /// How much the queue can hold.
    pub capacity: Capacity,
    /// Mean round trip of the flows that cross it, where it is known.
    pub round_trip: Option<Span>,
}

/// A queue, ready to be put before a link.
#[derive(Debug)]
pub struct Built {
    /// How packets are kept.
    pub storage: Storage,
    /// Who decides; `None` is tail drop, which the capacity alone decides.
    pub policy: Option<Box<dyn Policy>>,
}

/// How packets are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// First in, first out; what does not fit is refused.
    Fifo,
    /// First in, first out; where something does not fit the lowest priority is discarded ([`crate::Pushout`]).
    Pushout,
}

impl Storage {
    /// Do the priorities of packets matter here?
    pub fn heeds_priorities(self) -> bool {
        self == Self::Pushout
    }
}

/// The discipline called `name`.
pub fn find(name: &str) -> Option<&'static Discipline> {
    DISCIPLINES.iter().copied().find(|discipline| discipline.name == name)
}
