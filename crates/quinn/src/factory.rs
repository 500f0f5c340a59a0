//! From a name to what quinn is given.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Instant;

use longfat_control::{Controller, SlowStart, Start};
use longfat_scenario::{Catalogue, Choice, ScenarioError};
use longfat_units::parameter::{Settings, shortest};
use longfat_units::{Bytes, Segments};
use quinn_proto::congestion;
use thiserror::Error;

use crate::refusal::refusal;
use crate::{Adapter, Refusal};

/// Why there is no factory.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FactoryError {
    /// No such controller, or no such settings of it: each problem with its place, and a suggestion.
    #[error(transparent)]
    Unknown(#[from] ScenarioError),
    /// The controller asks for what quinn does not give.
    #[error("`{name}` cannot run on quinn: {reason}")]
    Refused {
        /// The name of the controller.
        name: String,
        /// What it asks for.
        reason: Refusal,
    },
    /// No flow begins with such a window.
    #[error("a flow begins with a window of 1 segment or more, not with {given}")]
    InitialWindow {
        /// The window, as it would be written.
        given: String,
    },
}

/// Begins a factory for the controller called `name` in [`Catalogue::built_in`]; `{ kind = "aimd", b = 0.3 }` names its
/// parameters too.
///
/// ```
/// let factory = longfat_quinn::factory("exp").set("gamma", 0.1).build()?;
/// let mut transport = quinn_proto::TransportConfig::default();
/// transport.congestion_controller_factory(factory);
/// # Ok::<(), longfat_quinn::FactoryError>(())
/// ```
pub fn factory(name: impl Into<String>) -> FactoryBuilder {
    FactoryBuilder {
        catalogue: Catalogue::built_in(),
        name: name.into(),
        settings: Vec::new(),
        initial_window: None,
        slow_start: SlowStart::Standard,
    }
}

/// A controller and its settings, unchecked until [`FactoryBuilder::build`].
#[derive(Clone, Debug)]
#[must_use = "nothing is checked or made before `build`"]
pub struct FactoryBuilder {
    catalogue: Catalogue,
    name: String,
    settings: Vec<(String, String)>,
    initial_window: Option<f64>,
    slow_start: SlowStart,
}

impl FactoryBuilder {
    /// Gives a parameter of the controller a value, such as `0.3`, `true`, `"10 /s"` or `"50 ms"`, as a scenario would.
    /// The last value of a parameter counts.
    pub fn set(mut self, parameter: impl Into<String>, value: impl Into<Value>) -> Self {
        let (parameter, Value(value)) = (parameter.into(), value.into());
        self.settings.retain(|(other, _)| *other != parameter);
        self.settings.push((parameter, value));
        self
    }

    /// Takes the controller from this catalogue: with those of your own.
    pub fn catalogue(self, catalogue: Catalogue) -> Self {
        Self { catalogue, ..self }
    }

    /// How many segments the first window has, 1 or more. By default it has what RFC 9002, section 7.2, allows: 10
    /// segments, but no more than 14 720 bytes or 2 segments.
    pub fn initial_window(self, segments: f64) -> Self {
        Self { initial_window: Some(segments), ..self }
    }

    /// How the window grows below the threshold. By default it doubles each round trip.
    pub fn slow_start(self, slow_start: SlowStart) -> Self {
        Self { slow_start, ..self }
    }

    /// Checks it all, and makes the factory.
    ///
    /// # Errors
    /// If there is no such controller, one of its settings is unknown or out of its range, or the controller asks for
    /// what quinn does not give.
    pub fn build(self) -> Result<Arc<Factory>, FactoryError> {
        let Choice { entry, settings, .. } = Choice::read(&self.catalogue, &self.written())?;
        if let Some(given) = self.initial_window
            && !(given.is_finite() && given >= 1.0)
        {
            return Err(FactoryError::InitialWindow { given: shortest(given) });
        }
        let factory = Factory {
            initial_window: self.initial_window,
            slow_start: self.slow_start,
            settings,
            control: entry,
        };
        match refusal(&(factory.control.build)(&factory.settings, &factory.start(1200))) {
            Some(reason) => {
                Err(FactoryError::Refused { name: factory.control.name.to_string(), reason })
            }
            None => Ok(Arc::new(factory)),
        }
    }

    /// The choice as a scenario would have it.
    fn written(&self) -> String {
        if self.settings.is_empty() {
            return self.name.clone();
        }
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let settings = self.settings.iter().map(|(name, value)| match name {
            plain if !plain.is_empty() && plain.chars().all(is_plain) => {
                format!(", {name} = {value}")
            }
            other => format!(", {} = {value}", quoted(other)),
        });
        format!("{{ kind = {}{} }}", quoted(&self.name), settings.collect::<String>())
    }
}

/// The value of a parameter, as a scenario would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(String);

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self(shortest(number).to_lowercase())
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self(count.to_string())
    }
}

impl From<i32> for Value {
    fn from(count: i32) -> Self {
        Self(count.to_string())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self(flag.to_string())
    }
}

/// As from a command line: a number or a flag if it reads as one, else a word or a quantity.
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        match (text.parse::<f64>(), text.parse::<bool>()) {
            (Ok(number), _) => number.into(),
            (_, Ok(flag)) => flag.into(),
            _ => Self(quoted(text)),
        }
    }
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        '"' | '\\' => format!("\\{character}"),
        control if control.is_control() => format!("\\u{:04X}", u32::from(control)),
        other => other.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Makes a controller for each path of a connection: what `TransportConfig::congestion_controller_factory` takes.
#[derive(Clone, Debug)]
pub struct Factory {
    control: Arc<Controller>,
    settings: Settings,
    initial_window: Option<f64>,
    slow_start: SlowStart,
}

impl Factory {
    /// The name of its controller.
    pub fn name(&self) -> &str {
        &self.control.name
    }

    /// How a flow begins whose datagrams have up to so many bytes.
    fn start(&self, mtu: u16) -> Start {
        let allowed = (14_720.0 / f64::from(mtu.max(1))).clamp(2.0, 10.0);
        Start {
            window: Segments(self.initial_window.unwrap_or(allowed)),
            slow_start: self.slow_start,
            packet: Bytes(mtu.max(1).into()),
            // Another number for each flow.
            chance: RandomState::new().hash_one(0),
            ..Start::default()
        }
    }
}

impl congestion::ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        let sending = (self.control.build)(&self.settings, &self.start(current_mtu));
        let control = sending.windowed().expect("what has no window was refused");
        Box::new(Adapter::new(control, now, current_mtu))
    }
}
