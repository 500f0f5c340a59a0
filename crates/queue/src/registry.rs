//! What every queue discipline says about itself.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use longfat_units::parameter::{Entry, Parameter, Refusal, Settings, Text};
use longfat_units::{Bytes, Origin, Rate, Span};

use crate::fifo::Fifo;
use crate::{Capacity, PacketQueue, Policy};

/// One discipline: its name, its source, its parameters, and how to make one.
#[derive(Clone)]
#[non_exhaustive]
pub struct Discipline {
    /// The name in scenario files.
    pub name: Text,
    /// What it is, in one line.
    pub title: Text,
    /// Where it was published.
    pub source: Text,
    /// Its parameters. A parameter called `mode` with the words `packets` and `bytes` decides the unit in which the
    /// queue counts its limit and its lengths.
    pub parameters: Vec<Parameter>,
    /// Checks what no single parameter can: thresholds in the wrong order, for example.
    pub check: Check,
    /// Makes the queue of one direction of a link.
    pub build: BuildQueue,
    /// How many bytes each queue keeps beyond what those of longfat keep.
    pub memory: usize,
    /// Where it comes from, if it is no part of longfat.
    pub origin: Option<Origin>,
}

/// Checks the settings of a queue that stands where the second argument says.
pub type Check = Arc<dyn Fn(&Settings, &Site) -> Result<(), Refusal> + Send + Sync>;

/// Makes the queue that stands where the second argument says.
pub type BuildQueue = Arc<dyn Fn(&Settings, &Site) -> Built + Send + Sync>;

impl Discipline {
    /// A discipline with no parameters yet, and so with nothing to check.
    pub fn new(
        name: impl Into<Text>,
        build: impl Fn(&Settings, &Site) -> Built + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            title: Cow::Borrowed(""),
            source: Cow::Borrowed(""),
            parameters: Vec::new(),
            check: Arc::new(|_, _| Ok(())),
            build: Arc::new(build),
            memory: 0,
            origin: None,
        }
    }

    /// Says what it is, in one line.
    #[must_use]
    pub fn title(self, title: impl Into<Text>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Says where it was published.
    #[must_use]
    pub fn source(self, source: impl Into<Text>) -> Self {
        Self { source: source.into(), ..self }
    }

    /// Adds parameters, after those it already has.
    #[must_use]
    pub fn parameters(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Says how many bytes each queue keeps beyond what those of longfat keep.
    #[must_use]
    pub fn memory(self, memory: usize) -> Self {
        Self { memory, ..self }
    }

    /// Says that it is code from outside.
    #[must_use]
    pub fn origin(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// Adds a check that no single parameter can make.
    #[must_use]
    pub fn check(
        self,
        check: impl Fn(&Settings, &Site) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        Self { check: Arc::new(check), ..self }
    }

    /// The settings of a queue about which nothing is said; `None` where a parameter has no default. `length` converts
    /// a length as written (`"0.1 bdp"`) into the unit in which the queue counts.
    pub fn defaults(&self, length: &dyn Fn(&str) -> f64) -> Option<Settings> {
        let value = |it: &Parameter| Some((it.name.clone(), it.default_setting(length)?));
        self.parameters.iter().map(value).collect()
    }

    /// Do the priorities of packets matter to it, as it is by default? Asks a queue that it makes; `false` where it makes
    /// none without being told more.
    pub fn heeds_priorities(&self) -> bool {
        let capacity = Capacity::Packets(100);
        let rate = Rate(100_000_000);
        let site = Site { rate, packet: Bytes(1500), capacity, round_trip: None };
        let settings = self.defaults(&|_| 10.0);
        settings.is_some_and(|settings| (self.build)(&settings, &site).heeds_priorities())
    }
}

impl Entry for Discipline {
    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }
}

impl fmt::Debug for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discipline").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A name is unique within a catalogue, and code from outside has a digest.
impl PartialEq for Discipline {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.origin == other.origin
    }
}

/// Where a queue stands: the facts of its link.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The rate at which packets leave, that of the link or of a slower shaper behind the queue, at the start: what
    /// becomes of it [`Policy::on_rate`] says.
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
    /// First in, first out, with a policy that decides on arrival; `None` is tail drop, where capacity alone decides.
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

    /// The policy that decides on arrival, if there is one.
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
