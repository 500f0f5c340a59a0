//! What every controller says about itself.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use longfat_units::fault::Member;
use longfat_units::parameter::{Entry, Parameter, Refusal, Settings, Text};
use longfat_units::{Bytes, Origin, Segments, Span};

use crate::{Needs, Sending, SlowStart, WindowLaw, Windowed};

/// One controller: its name, its source, its parameters, and how to make one.
#[derive(Clone)]
#[non_exhaustive]
pub struct Controller {
    /// The name in scenario files.
    pub name: Text,
    /// What it is, in one line.
    pub title: Text,
    /// Where it was published.
    pub source: Text,
    /// What it goes by.
    pub family: Family,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Checks what no single parameter can: thresholds in the wrong order, for example.
    pub check: Check,
    /// Says how one flow sends.
    pub build: BuildSending,
    /// Its window law, if it is one.
    pub law: Option<BuildLaw>,
    /// Is it this law in the shell [`Windowed`], and nothing more? Otherwise the law is what models without packets see
    /// of it.
    pub only_law: bool,
    /// How many bytes each flow keeps beyond what those of longfat keep.
    pub memory: usize,
    /// Where it comes from, if it is no part of longfat.
    pub origin: Option<Origin>,
}

/// What a controller goes by: what makes it send more or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Losses, and marks in their place.
    Loss,
    /// Losses say when to give way, round trips how much or how quickly to grow.
    LossAndDelay,
    /// Round trips: it gives way before anything is lost.
    Delay,
    /// A model of the path, from the rate of what arrives and the shortest round trip.
    Model,
    /// What came of the rates that it tried: a utility of what arrived, was lost and had to wait.
    Utility,
    /// The share of segments that are marked.
    Marks,
    /// What routers write into its packets.
    Routers,
    /// Nothing: it has no window.
    Unwindowed,
}

impl Family {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Loss,
        Self::LossAndDelay,
        Self::Delay,
        Self::Model,
        Self::Utility,
        Self::Marks,
        Self::Routers,
        Self::Unwindowed,
    ];

    /// What lists call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "losses",
            Self::LossAndDelay => "losses and delay",
            Self::Delay => "delay",
            Self::Model => "a model of the path",
            Self::Utility => "utility",
            Self::Marks => "the share of marks",
            Self::Routers => "what routers write",
            Self::Unwindowed => "no window",
        }
    }
}

/// Checks the settings of a controller.
pub type Check = Arc<dyn Fn(&Settings) -> Result<(), Refusal> + Send + Sync>;

/// Says how one flow sends, with the parameters of a scenario.
pub type BuildSending = Arc<dyn Fn(&Settings, &Start) -> Sending + Send + Sync>;

/// Builds a law from the parameters of a scenario.
pub type BuildLaw = Arc<dyn Fn(&Settings) -> Box<dyn WindowLaw> + Send + Sync>;

impl Controller {
    /// A controller that is not a window law, or is more than one; no parameters yet.
    pub fn new(
        name: impl Into<Text>,
        build: impl Fn(&Settings, &Start) -> Sending + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            title: Cow::Borrowed(""),
            source: Cow::Borrowed(""),
            family: Family::Loss,
            parameters: Vec::new(),
            check: Arc::new(|_| Ok(())),
            build: Arc::new(build),
            law: None,
            only_law: false,
            memory: 0,
            origin: None,
        }
    }

    /// A window law, wrapped in the shell [`Windowed`] where a controller is asked for.
    pub fn of_law<Law: WindowLaw + Clone + 'static>(
        name: impl Into<Text>,
        law: impl Fn(&Settings) -> Law + Clone + Send + Sync + 'static,
    ) -> Self {
        let make = law.clone();
        let built = Self::new(name, move |settings, start| Windowed::boxed(make(settings), start))
            .law(move |settings| Box::new(law(settings)));
        Self { only_law: true, ..built }
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

    /// Says what it goes by; losses if nothing is said.
    #[must_use]
    pub fn family(self, family: Family) -> Self {
        Self { family, ..self }
    }

    /// Says how many bytes each flow keeps beyond what those of longfat keep.
    #[must_use]
    pub fn memory(self, memory: usize) -> Self {
        Self { memory, ..self }
    }

    /// Says that it is code from outside.
    #[must_use]
    pub fn origin(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// Adds parameters, after those it already has.
    #[must_use]
    pub fn parameters(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Adds a check that no single parameter can make.
    #[must_use]
    pub fn check(
        self,
        check: impl Fn(&Settings) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        Self { check: Arc::new(check), ..self }
    }

    /// Says what its window law is.
    #[must_use]
    pub fn law(
        self,
        law: impl Fn(&Settings) -> Box<dyn WindowLaw> + Send + Sync + 'static,
    ) -> Self {
        Self { law: Some(Arc::new(law)), ..self }
    }

    /// A value for each parameter that has a default: what a scenario that gives only the name gets.
    pub fn defaults(&self) -> Settings {
        // A controller has no queue, and so no length to measure.
        let value = |it: &Parameter| Some((it.name.clone(), it.default_setting(&|_| f64::NAN)?));
        self.parameters.iter().filter_map(value).collect()
    }

    /// Has it a law, with its defaults, that answers queueing delay? Then it is no base for others.
    pub fn heeds_delay(&self) -> bool {
        self.law.as_ref().is_some_and(|law| law(&self.defaults()).heeds_delay())
    }

    /// What it cannot do without under these settings.
    pub fn needs(&self, settings: &Settings) -> Needs {
        (self.build)(settings, &Start::default()).needs()
    }
}

impl Entry for Controller {
    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A name is unique within a catalogue, and code from outside has a digest.
impl PartialEq for Controller {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.origin == other.origin
    }
}

/// The check that the time called `key` is not zero.
pub(crate) fn above_zero(key: &'static str) -> impl Fn(&Settings) -> Result<(), Refusal> {
    move |settings| match settings.span(key) {
        Span::ZERO => Err((key.into(), format!("`{key}` must be longer than zero"))),
        _ => Ok(()),
    }
}

/// The check that the time called `key` is no shorter than `least`.
pub(crate) fn at_least(
    key: &'static str,
    least: Span,
) -> impl Fn(&Settings) -> Result<(), Refusal> {
    move |settings| match settings.span(key) {
        short if short < least => {
            Err((key.into(), format!("`{key}` must be at least {least}, but it is {short}")))
        }
        _ => Ok(()),
    }
}

/// How a flow begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Initial window (RFC 6928 allows 10 segments).
    pub window: Segments,
    /// Initial slow-start threshold; `None`: as high as needed.
    pub threshold: Option<Segments>,
    /// How the window grows below the threshold.
    pub slow_start: SlowStart,
    /// Size of a segment on the wire, headers included.
    pub packet: Bytes,
    /// Rate of the sender's own link in segments per second, where it is known.
    pub access: Option<f64>,
    /// Segments to send in all; `None`: without end.
    pub transfer: Option<u64>,
    /// Round trip measured before the first data leaves, such as during connection setup.
    pub round_trip: Option<Span>,
    /// How much the host sends at a time when paced; `None`: packet by packet.
    pub send_quantum: Option<SendQuantum>,
    /// Is the host told of each segment that has arrived, so that it can find several losses in a round trip?
    pub selective: bool,
    /// What the flow decides by chance follows from this number ([`Chance`](crate::Chance)): another one for each flow
    /// and each seed of a run.
    pub chance: u64,
    /// Which flow of a scenario it is, for messages; `None` where it is of none.
    pub member: Option<Member>,
}

/// How much a paced sender sends at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendQuantum {
    /// So many packets.
    Packets(u64),
    /// What leaves in this time: two packets or more, but no more than 64 kB.
    Time(Span),
}

impl SendQuantum {
    /// What packets sent at a time must not exceed if they are given as a time.
    pub const LARGEST: Bytes = Bytes(65_536);
    /// How many there are at least.
    pub const SMALLEST: u64 = 2;
}

impl Default for Start {
    fn default() -> Self {
        Self {
            window: Segments(10.0),
            threshold: None,
            slow_start: SlowStart::Standard,
            packet: Bytes(1500),
            access: None,
            transfer: None,
            round_trip: None,
            send_quantum: None,
            selective: true,
            chance: 0,
            member: None,
        }
    }
}
