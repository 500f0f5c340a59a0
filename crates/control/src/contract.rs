//! The contract between a congestion controller and the host that runs it.
//!
//! A host is whatever moves the segments: the packet simulator, a TCP or QUIC stack, a test. It owns loss detection,
//! retransmission, timers and measurement, tells the controller what it learned, and asks how much may be in flight and
//! how fast it may leave:
//!
//! ```text
//!     acknowledgment   on_feedback, then on_congestion if a loss or a mark calls for an answer
//!     time-out         on_congestion
//!     departure        on_sent                          } only for controllers that ask
//!     alarm            on_timer, at the time that timer() named } for it with `wants`
//!     after each       window() and pacing()
//! ```

use std::fmt;

use dyn_clone::DynClone;
use longfat_units::{RouterHeader, Segments, Time};

use crate::{Congestion, Feedback, Needs, Path, Reaction, Sent};

/// The congestion control of one flow: told what happened, asked how much and how fast.
///
/// `Clone + Send + Sync`, so that hosts may move flows between threads and try things out on a copy.
pub trait CongestionControl: DynClone + fmt::Debug + Send + Sync {
    /// An acknowledgment brought news. Called once for each that did, whatever else it carries.
    ///
    /// Where the same acknowledgment calls for an answer to congestion, `on_congestion` follows.
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path);

    /// The path is congested. At most once per window of data, which the host keeps count of
    /// ([`OncePerWindow`](crate::OncePerWindow)); with [`Reaction::PerMark`] for every marked segment.
    fn on_congestion(&mut self, event: &Congestion, path: &Path);

    /// A segment has left. Only with [`Wants::departures`].
    fn on_sent(&mut self, _sent: &Sent, _path: &Path) {}

    /// When to call `on_timer` next, if at all; asked after every other call. Only with [`Wants::timer`].
    fn timer(&self) -> Option<Time> {
        None
    }

    /// The time that `timer` named has come. Only with [`Wants::timer`].
    fn on_timer(&mut self, _now: Time, _path: &Path) {}

    /// How much may be in flight. At least one segment, always finite.
    fn window(&self) -> Segments;

    /// How fast it may leave. The window alone must be safe where a host ignores this.
    fn pacing(&self) -> Pacing {
        Pacing::Unpaced
    }

    /// What a segment that leaves now tells routers. Only with [`Wants::router_header`].
    fn router_header(&self, _path: &Path) -> RouterHeader {
        RouterHeader::default()
    }

    /// How often it wants to hear of marks.
    fn reaction(&self) -> Reaction {
        Reaction::PerWindow
    }

    /// The window below which the flow doubles it every round trip, if there is such a bound.
    fn threshold(&self) -> Option<Segments> {
        None
    }

    /// What the host would not work out or call for everybody. Asked once, when a flow begins.
    fn wants(&self) -> Wants {
        Wants::NOTHING
    }

    /// What it cannot do without. A host that lacks it refuses.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// What can be relied on beyond what holds for every controller ([`conformance`](crate::conformance)).
    fn promises(&self) -> Promises {
        Promises::NONE
    }

    /// Names the variables worth plotting.
    fn observe(&self, _probe: &mut dyn Probe) {}
}

dyn_clone::clone_trait_object!(CongestionControl);

/// What costs a host something on every packet, and is done only for controllers that ask for it. Wishes will come: begin
/// from [`Wants::NOTHING`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each wish stands for itself")]
pub struct Wants {
    /// Ask for the pacing after every call; otherwise once per round trip, and after congestion.
    pub pacing: bool,
    /// Samples of the delivery rate ([`Feedback::rate`]).
    pub delivery_rate: bool,
    /// Calls of `on_sent`.
    pub departures: bool,
    /// Calls of `on_timer`.
    pub timer: bool,
    /// Word of congestion that turned out not to have been ([`Feedback::spurious`]).
    pub spurious: bool,
    /// Headers for routers on its data: `router_header` fills them in, and [`Feedback::router`] is what came back.
    pub router_header: bool,
}

impl Wants {
    /// Nothing beyond what every acknowledgment tells.
    pub const NOTHING: Self = Self {
        pacing: false,
        delivery_rate: false,
        departures: false,
        timer: false,
        spurious: false,
        router_header: false,
    };
}

/// What can be relied on beyond what holds for every controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    /// One acknowledgment of n segments does what n of one segment do at the same time.
    pub any_batching: bool,
    /// The window falls at congestion and at nothing else, and rises with acknowledged segments that test it and with nothing
    /// else: by one segment for each of them at most.
    pub additive: bool,
}

impl Promises {
    /// Nothing.
    pub const NONE: Self = Self { any_batching: false, additive: false };
    /// What holds for every window law.
    pub const LAW: Self = Self { any_batching: true, additive: true };
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

/// How a flow sends: what a host is handed when it begins.
#[derive(Clone, Debug)]
pub enum Sending {
    /// As much as a window allows: what is lost is repaired, and the rest goes on.
    Windowed(Box<dyn CongestionControl>),
    /// Without a window, in bursts.
    Bursts(Bursts),
}

/// All there is to send, as fast as the sender's own link takes it. News of a loss begins a new burst at the first segment
/// that is not acknowledged: that one goes again, and everything after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Duplicate acknowledgments that tell of a loss, 1 or more. A time-out tells of one too.
    pub duplicates: u64,
    /// Do packets carry their offset in the burst as the rank of their priority, 0 the highest?
    pub priorities: bool,
    /// Rate of the sender's own link in segments per second; `None` where the host does not know it.
    pub rate: Option<f64>,
}

impl Sending {
    /// What the flow cannot do without.
    pub fn needs(&self) -> Needs {
        match self {
            Self::Windowed(control) => control.needs(),
            // Nothing else would end a burst of a flow that has no end.
            Self::Bursts(Bursts { priorities, .. }) => {
                Needs { access: true, pacing: true, priorities: *priorities, ..Needs::NONE }
            }
        }
    }

    /// The controller of the window, where there is one.
    pub fn windowed(self) -> Option<Box<dyn CongestionControl>> {
        match self {
            Self::Windowed(control) => Some(control),
            Self::Bursts(_) => None,
        }
    }
}

/// Collects the variables that a controller names.
pub trait Probe {
    /// The current value of `name`.
    fn value(&mut self, name: &'static str, value: f64);
}
