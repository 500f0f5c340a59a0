//! What every controller tells about itself.

use longfat_units::Segments;
use longfat_units::parameter::{Parameter, Settings};

use crate::{CONTROLLERS, CongestionControl, WindowLaw};

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
    /// Makes the controller of one flow.
    pub build: fn(&Settings, &Start) -> Box<dyn CongestionControl>,
    /// Its window law, if it is one.
    pub law: Option<fn(&Settings) -> Box<dyn WindowLaw>>,
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
}

/// How the window grows below the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// One segment per acknowledged segment (RFC 5681).
    Standard,
    /// At most 50 segments per round trip above 100 segments (RFC 3742).
    Limited,
}

impl Default for Start {
    fn default() -> Self {
        Self { window: Segments(10.0), threshold: None, slow_start: SlowStart::Standard }
    }
}

/// The controller called `name`.
pub fn find(name: &str) -> Option<&'static Controller> {
    CONTROLLERS.iter().copied().find(|controller| controller.name == name)
}
