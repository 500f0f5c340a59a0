//! What a host tells a controller, and what a controller answers.

use std::fmt;

use longfat_units::{Segments, Span, Time};

use crate::{Needs, Reaction};

/// The congestion control of one flow: told what happened, asked how much and how fast.
pub trait CongestionControl: fmt::Debug + Send {
    /// New data was acknowledged. Once per arriving acknowledgment, however many segments it covers.
    fn on_ack(&mut self, ack: &Ack, path: &Path);

    /// The path is congested. At most once per round trip of data, the host keeps count of that; with
    /// [`Reaction::PerMark`] for every marked segment besides.
    fn on_congestion(&mut self, event: &Congestion, path: &Path);

    /// How much may be in flight. At least one segment, always finite.
    fn window(&self) -> Segments;

    /// How fast it may leave. The window alone must be safe where a host ignores this.
    fn pacing(&self, _now: Time, _path: &Path) -> Pacing {
        Pacing::Unpaced
    }

    /// How often it wants to hear of marks.
    fn reaction(&self) -> Reaction {
        Reaction::PerWindow
    }

    /// The window below which the flow doubles it every round trip, if there is such a bound.
    fn threshold(&self) -> Option<Segments> {
        None
    }

    /// How data leaves, and what a loss does to that. Asked once, when a flow begins.
    fn sending(&self) -> Sending {
        Sending::Windowed
    }

    /// What it cannot do without. A host that lacks it refuses.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// Names the variables worth plotting.
    fn observe(&self, _probe: &mut dyn Probe) {}
}

/// One arriving acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Segments that it reports as delivered for the first time.
    pub acked: u64,
    /// Round trip of the segment that caused it.
    pub rtt: Option<Span>,
    /// True once per round trip: on the first acknowledgment of data sent after the last such one.
    pub round_starts: bool,
    /// What kept the sender from having more in flight when this arrived.
    pub limited: Limited,
    /// The AntiECN bit of this acknowledgment: every router of the path had spare capacity. `None` where
    /// not every router can tell.
    pub room: Option<bool>,
}

/// What keeps a sender from having more in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// The window: the controller decides, so the window may grow.
    Window,
    /// Pacing delays what the window allows; the window may grow.
    Pacing,
    /// The application has nothing more to send: the window is not tested, so it must not grow.
    Application,
    /// A bound outside the controller (`max_window`): the window must not grow.
    Receiver,
    /// Loss recovery is under way: no gain.
    Recovery,
}

impl Limited {
    /// May the window grow on this acknowledgment?
    pub fn may_grow(self) -> bool {
        matches!(self, Self::Window | Self::Pacing)
    }
}

/// A congestion event.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When it was noticed.
    pub now: Time,
    /// What told of it.
    pub cause: Cause,
    /// Segments sent and neither acknowledged nor known as lost, before this event.
    pub in_flight: u64,
    /// A time-out of data that had timed out before (RFC 5681, section 3.1: the threshold stays).
    pub again: bool,
}

/// What told of the congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A lost segment, found by duplicate or selective acknowledgments.
    Loss,
    /// A segment marked by a router (RFC 3168).
    Mark,
    /// The retransmission timer ran out.
    Timeout,
}

/// What the host knows of the path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Smoothed round trip (RFC 6298); the first sample until there are more.
    pub rtt: Span,
    /// Smallest round trip seen.
    pub base_rtt: Span,
}

/// How fast a sender may send what its window allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// As soon as the window allows.
    Unpaced,
    /// A window spread over a round trip: at `gain` × window / smoothed RTT.
    Spread {
        /// 1 for exactly one window per round trip.
        gain: f64,
    },
    /// The window in this many blocks, evenly spaced over a round trip.
    Blocks(u32),
    /// Segments per second.
    Rate(f64),
}

/// How data leaves, and what a loss does to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// What the window allows. What is lost goes again, and what is not goes on.
    Windowed,
    /// All there is to send, as pacing lets it, in bursts. A notice of a loss begins a new one at the first segment that
    /// is not acknowledged: that one goes again, and everything after it. The window means nothing.
    Bursts {
        /// Duplicate acknowledgments that tell of a loss, 1 or more. A time-out tells of one too.
        duplicates: u64,
        /// Packets carry their offset in the burst as the rank of their priority, 0 the highest.
        priorities: bool,
    },
}

/// Collects the variables that a controller names.
pub trait Probe {
    /// The current value of `name`.
    fn value(&mut self, name: &'static str, value: f64);
}
