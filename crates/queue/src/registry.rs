//! What every queue discipline tells about itself.

use longfat_units::parameter::{self, Given, Kind, Parameter, Settings};
use longfat_units::{Bytes, Rate, Span};

use crate::fifo::Fifo;
use crate::{Capacity, DISCIPLINES, PacketQueue, Policy};

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
    pub check: fn(&Settings, &Site) -> Result<(), Refusal>,
    /// Makes the queue of one direction of a link.
    pub build: fn(&Settings, &Site) -> Built,
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
pub struct Site {
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
pub enum Built {
    /// First in, first out, with somebody who decides on arrival; `None` is tail drop, which the capacity alone decides.
    Fifo(Option<Box<dyn Policy>>),
    /// A queue that owns its packets.
    Own(Box<dyn PacketQueue>),
}

impl Built {
    /// Do the priorities of packets matter here?
    pub fn heeds_priorities(&self) -> bool {
        match self {
            Self::Fifo(_) => false,
            Self::Own(queue) => queue.heeds_priorities(),
        }
    }

    /// Who decides on arrival, if somebody does.
    pub fn into_policy(self) -> Option<Box<dyn Policy>> {
        match self {
            Self::Fifo(policy) => policy,
            Self::Own(_) => None,
        }
    }

    /// The same as a queue that owns its packets, for a host that asks for each packet. `capacity` is that of its site.
    pub fn into_queue(self, capacity: Capacity) -> Box<dyn PacketQueue> {
        match self {
            Self::Fifo(policy) => Box::new(Fifo::new(policy, capacity)),
            Self::Own(queue) => queue,
        }
    }
}

/// The discipline called `name`.
pub fn find(name: &str) -> Option<&'static Discipline> {
    DISCIPLINES.iter().copied().find(|discipline| discipline.name == name)
}
