//! What every controller tells about itself.

use longfat_units::parameter::{Given, Kind, Parameter, Setting, Settings};
use longfat_units::{Bytes, Segments, Span};

use crate::{CONTROLLERS, Needs, Sending, SlowStart, WindowLaw};

/// One controller: its name, its source, its parameters, and how to make one.
#[derive(Debug)]
pub struct Controller {
    /// The name in scenario files.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What can be chosen.
    pub parameters: &'static [Parameter],
    /// Says how one flow sends.
    pub build: fn(&Settings, &Start) -> Sending,
    /// Its window law, if it is one.
    pub law: Option<BuildLaw>,
}

/// Makes a law with the parameters of a scenario.
pub type BuildLaw = fn(&Settings) -> Box<dyn WindowLaw>;

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
    /// Round trip seen before the first data leaves, as in setting up a connection.
    pub round_trip: Option<Span>,
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
        }
    }
}

impl Controller {
    /// A value for each parameter that has a default: what a scenario gets that says only the name.
    pub fn defaults(&self) -> Settings {
        let mut settings = Settings::default();
        for parameter in self.parameters {
            if let Some(value) = default(parameter) {
                settings.set(parameter.name, value);
            }
        }
        settings
    }

    /// What it cannot do without under these settings.
    pub fn needs(&self, settings: &Settings) -> Needs {
        (self.build)(settings, &Start::default()).needs()
    }
}

fn default(parameter: &Parameter) -> Option<Setting> {
    Some(match (parameter.default, parameter.kind) {
        (Given::Nothing, _) => return None,
        (Given::Number(count), Kind::Count { .. }) => Setting::Count(count as u64),
        (Given::Number(number), _) => Setting::Number(number),
        (Given::Flag(flag), _) => Setting::Flag(flag),
        (Given::Text(text), Kind::Span) => {
            Setting::Span(text.parse().expect("a default is written as in a scenario"))
        }
        (Given::Text(text), _) => Setting::Word(text.into()),
    })
}

/// The controller called `name`.
pub fn find(name: &str) -> Option<&'static Controller> {
    CONTROLLERS.iter().copied().find(|controller| controller.name == name)
}
