//! What both models tell an environment of each agent: what it has seen, and how far its flow has got.

use longfat_control::interval::Measurement;
use longfat_units::Span;

/// What an interval has shown to an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) measured: Measurement,
    /// The smoothed round trip, exactly.
    pub(crate) smoothed: Span,
}

/// How far the flow of an agent has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It has not started, or nothing has come back yet.
    #[default]
    Waiting,
    /// It is under way.
    Running,
    /// All it had to send is acknowledged: a terminal state.
    Finished,
    /// It was told to stop, though there was more to send: the episode was cut short.
    Stopped,
}
