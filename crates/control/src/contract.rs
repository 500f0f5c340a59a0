//! The contract between a congestion controller and the host that runs it.
//!
//! A host is whatever moves the segments: the packet simulator, a TCP or QUIC stack, a test. It owns loss detection,
//! retransmission, timers and measurement, tells the controller what it learned, and asks how much may be in flight and
//! how fast it may leave:
//!
//! ```text
//!     acknowledgment   on_feedback, then on_congestion if a loss or a mark calls for an answer
//!     time-out         on_congestion
//!     losses repaired  on_recovered
//!     idle no more     on_restart, before data leaves again
//!     idle times       on_adjustment, if the host does not keep unused windows
//!     unused growth    growth_limit, trim and on_pause, where the host bounds growth by what was in flight
//!     departure        on_sent                              }
//!     segment lost     on_lost, before on_feedback          } only for controllers that ask for it with `wants`
//!     alarm            on_timer, when timer() said          }
//!     after each       window() and pacing()
//! ```

use std::fmt;

use dyn_clone::DynClone;
use longfat_units::{Probe, RouterHeader, Segments, Span, Time};

use crate::{Adjustment, Congestion, Feedback, Lost, Needs, Path, Reaction, Sent};

/// The congestion control of one flow: told what happened, asked how much and how fast.
///
/// `Clone + Send + Sync`, so that hosts may move flows between threads and try things out on a copy.
pub trait CongestionControl: DynClone + fmt::Debug + Send + Sync {
    /// An acknowledgment brought news. Called once for each such acknowledgment, whatever else it carries.
    ///
    /// If the same acknowledgment also calls for a response to congestion, `on_congestion` follows.
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path);

    /// The path is congested. Called at most once per window of data, which the host sees to
    /// ([`OncePerWindow`](crate::OncePerWindow)); with [`Reaction::PerMark`], for every marked segment; with
    /// [`Reaction::LossesApart`], at most once for marks and at most once for losses.
    fn on_congestion(&mut self, event: &Congestion, path: &Path);

    /// The host asks for another window, only where the scenario tells it to. By default nothing happens: that is for
    /// controllers whose window follows from measurements of the path, which they go on with.
    fn on_adjustment(&mut self, _event: &Adjustment, _path: &Path) {}

    /// How far the window may grow where no more than `used` segments have been in flight, in segments: what this controller,
    /// as it is now, would make of a window of `used` when all of it is acknowledged as this `feedback` says. That is the
    /// function `limit()` of draft-ietf-ccwg-ratelimited-increase-10, section 3, which a host asks for only where the sender
    /// has less in flight than its window allows. By default, as there: twice that in slow start, which goes on where there
    /// is no [`Self::threshold`], and one segment more in congestion avoidance. `None` where the window does not grow by what
    /// is acknowledged, but follows from measurements of the path, or where routers or the controller itself bound it by what
    /// was sent.
    fn growth_limit(&self, used: Segments, _feedback: &Feedback, _path: &Path) -> Option<Segments> {
        let rises = self.threshold().is_none_or(|threshold| self.window() < threshold);
        Some(Segments(if rises { 2.0 * used.0 } else { used.0 + 1.0 }))
    }

    /// Growth has gone beyond what [`Self::growth_limit`] said: the window ends there. What the controller knows from
    /// before still holds.
    fn trim(&mut self, event: &Adjustment, path: &Path) {
        self.on_adjustment(event, path);
    }

    /// Nothing was in flight for so long: a clock that drives growth does not count it (RFC 9438, section 4.2). Called
    /// before [`Self::on_restart`], only by hosts that ask for [`Self::growth_limit`]: with others no window grows on the
    /// acknowledgment that leaves nothing in flight, and a clock can stand still from there.
    fn on_pause(&mut self, _length: Span) {}

    /// Loss recovery is over, after losses or a time-out: everything that was in flight when it began is acknowledged.
    /// Called before the `on_feedback` of the acknowledgment that ends it, which may still be
    /// [`Limited::Recovery`](crate::Limited::Recovery).
    fn on_recovered(&mut self, _now: Time, _path: &Path) {}

    /// Data leaves again, after the application had nothing to send until nothing was in flight. Called before the
    /// first segment leaves, which goes by the window and the pacing that this call leaves behind.
    fn on_restart(&mut self, _now: Time, _path: &Path) {}

    /// A segment has been found lost. Only with [`Wants::losses`]. Called for each one: before `on_feedback`, where an
    /// acknowledgment shows the loss, before `on_congestion` of a time-out, or between calls, where time shows it.
    fn on_lost(&mut self, _lost: &Lost, _path: &Path) {}

    /// A segment has left. Only with [`Wants::departures`].
    fn on_sent(&mut self, _sent: &Sent, _path: &Path) {}

    /// When to call `on_timer` next, if at all; asked after every other call. A time that has passed is now; after
    /// `on_timer` it must be one to come: the clock would stand still. Only with [`Wants::timer`].
    fn timer(&self) -> Option<Time> {
        None
    }

    /// The time named by `timer` has come. Only with [`Wants::timer`].
    fn on_timer(&mut self, _now: Time, _path: &Path) {}

    /// How much may be in flight. At least one segment, always finite.
    fn window(&self) -> Segments;

    /// How fast it may leave. The window alone must be safe where a host ignores this.
    fn pacing(&self) -> Pacing {
        Pacing::Unpaced
    }

    /// The header for routers on a segment that leaves now. Only with [`Wants::router_header`].
    fn router_header(&self, _path: &Path) -> RouterHeader {
        RouterHeader::default()
    }

    /// How often it wants marks and losses reported.
    fn reaction(&self) -> Reaction {
        Reaction::PerWindow
    }

    /// The window below which the flow doubles it every round trip, if there is such a bound.
    fn threshold(&self) -> Option<Segments> {
        None
    }

    /// What the host works out, or calls, only on request. Asked once, when a flow begins.
    fn wants(&self) -> Wants {
        Wants::NOTHING
    }

    /// What it cannot do without. A host that lacks any of it refuses the controller.
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

/// What costs a host something on every packet, and is therefore done only for controllers that ask. More will be
/// added: start from [`Wants::NOTHING`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each wish stands for itself")]
pub struct Wants {
    /// Ask for the pacing after every call; otherwise once per round trip, and after congestion.
    pub pacing: bool,
    /// Samples of the delivery rate ([`Feedback::rate`]).
    pub delivery_rate: bool,
    /// Calls of `on_lost`.
    pub losses: bool,
    /// Calls of `on_sent`.
    pub departures: bool,
    /// Calls of `on_timer`.
    pub timer: bool,
    /// Its window holds as it is while losses are repaired. Otherwise a host may take the data in flight down to it, or
    /// up, in proportion to what is delivered (RFC 9937).
    pub own_recovery: bool,
    /// Notice of congestion that turned out to be spurious ([`Feedback::spurious`]), to undo the response to it. For
    /// controllers that want nothing of all this, or only pacing, a host may go back to a copy from before the response.
    /// Where a controller wants anything else and not this, its response stands: a copy would not know what it has been
    /// told since.
    pub spurious: bool,
    /// Headers for routers on its data: `router_header` fills them in, and [`Feedback::router`] is what came back.
    pub router_header: bool,
    /// How long its data takes to arrive ([`Feedback::one_way_delay`]).
    pub one_way_delay: bool,
}

impl Wants {
    /// Nothing beyond what every acknowledgment reports.
    pub const NOTHING: Self = Self {
        pacing: false,
        delivery_rate: false,
        losses: false,
        departures: false,
        timer: false,
        own_recovery: false,
        spurious: false,
        router_header: false,
        one_way_delay: false,
    };
}

/// What can be relied on beyond what holds for every controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each promise stands for itself")]
pub struct Promises {
    /// One acknowledgment of n segments has the same effect as n acknowledgments of one at the same time.
    pub any_batching: bool,
    /// The window falls only at congestion, and grows only by acknowledged segments that test it.
    pub additive: bool,
    /// No acknowledged segment adds more than one: nothing outgrows slow start.
    pub doubles_at_most: bool,
    /// After congestion it goes on as a flow would that had just come to this window, whatever went before.
    pub forgetful: bool,
}

impl Promises {
    /// Nothing.
    pub const NONE: Self =
        Self { any_batching: false, additive: false, doubles_at_most: false, forgetful: false };
    /// What holds for every window law.
    pub const LAW: Self =
        Self { any_batching: true, additive: true, doubles_at_most: true, forgetful: true };
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
    /// The same, except that an acknowledgment lets the next block begin before its time.
    LooseBlocks(u32),
    /// Segments per second.
    Rate(f64),
}

/// How a flow sends: what a host is given when the flow begins.
#[derive(Clone, Debug)]
pub enum Sending {
    /// As much as a window allows: losses are repaired, and sending continues.
    Windowed(Box<dyn CongestionControl>),
    /// Without a window, in bursts.
    Bursts(Bursts),
}

/// All there is to send, as fast as the sender's own link takes it. A sign of loss starts a new burst at the first
/// unacknowledged segment: that segment is sent again, and everything after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// How many duplicate acknowledgments signal a loss, 1 or more. A time-out signals one too.
    pub duplicates: u64,
    /// Do packets carry their offset in the burst as their priority rank, 0 the highest?
    pub priorities: bool,
    /// Rate of the sender's own link in segments per second; `None` where the host does not know it.
    pub rate: Option<f64>,
}

impl Sending {
    /// What the flow cannot do without.
    pub fn needs(&self) -> Needs {
        match self {
            Self::Windowed(control) => control.needs(),
            // Nothing else would end the burst of an unlimited flow.
            Self::Bursts(Bursts { priorities, .. }) => {
                Needs { access: true, pacing: true, priorities: *priorities, ..Needs::NONE }
            }
        }
    }

    /// The controller of the window, if there is one.
    pub fn windowed(self) -> Option<Box<dyn CongestionControl>> {
        match self {
            Self::Windowed(control) => Some(control),
            Self::Bursts(_) => None,
        }
    }
}
