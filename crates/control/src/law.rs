//! A window law: two formulas.

use std::fmt;

use dyn_clone::DynClone;
use longfat_units::{Segments, Span};

use crate::{Cause, Pacing, Promises};

/// What one acknowledged segment adds, and what one congestion event takes away.
///
/// The packet shell and the fluid model drive the same object. Recovery, slow start, limits and rounding
/// live in the shell.
pub trait WindowLaw: DynClone + fmt::Debug + Send + Sync {
    /// Segments added per acknowledged segment in congestion avoidance (Reno: 1/w).
    fn gain(&self, at: &Operating) -> f64;

    /// Share of the window given up at a congestion event (Reno: 1/2). Not asked at a time-out, which
    /// takes the window to one segment whatever the law (RFC 5681, section 3.1).
    fn give_up(&self, at: &Operating, cause: Cause) -> f64;

    /// Segments added per acknowledged segment in slow start.
    fn slow_start(&self, _at: &Operating) -> f64 {
        1.0
    }

    /// How the window is sent: at once, or paced.
    fn pacing(&self, _at: &Operating) -> Pacing {
        Pacing::Unpaced
    }

    /// One reaction per window of data, or one per mark.
    fn reaction(&self) -> Reaction {
        Reaction::PerWindow
    }

    /// Does it answer queueing delay? Then its gain falls as the round trip grows, and below zero where it is too long;
    /// what it is told of the round trip is what the acknowledged segments have met.
    fn heeds_delay(&self) -> bool {
        false
    }

    /// Where a formula jumps, or its slope does: what stands in for the formulas, such as a table, has to look at both
    /// sides. Where there are none, they are smooth.
    fn breakpoints(&self) -> Vec<Breakpoint> {
        Vec::new()
    }

    /// What the law cannot do without.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// What can be relied on. The shell keeps all of [`Promises::LAW`] but one: whether a segment adds more than one
    /// is the law's own affair.
    fn promises(&self) -> Promises {
        Promises::LAW
    }
}

dyn_clone::clone_trait_object!(WindowLaw);

/// Where a formula of a law is not smooth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Breakpoint {
    /// At this window, in segments.
    Window(f64),
    /// At this window at the start of an epoch, in segments.
    EpochWindow(f64),
    /// At this round trip, the one that the law goes by.
    RoundTrip(Span),
}

/// Where a flow stands.
#[derive(Clone, Copy, Debug)]
pub struct Operating {
    /// The window.
    pub window: Segments,
    /// The window at the start of this epoch: after the last decrease, or on entering congestion avoidance.
    /// `None` when that memory is lost, as after a time-out.
    pub epoch_window: Option<Segments>,
    /// Smoothed round trip.
    pub rtt: Span,
    /// Smallest round trip.
    pub base_rtt: Span,
    /// Time since the last congestion event, without the pauses of which the host tells
    /// ([`on_pause`](crate::CongestionControl::on_pause)).
    pub since_event: Option<Span>,
    /// Slow start or congestion avoidance.
    pub phase: Phase,
    /// The AntiECN bit: 0 or 1 in packets, the fraction of acknowledgments that carry it in the fluid.
    pub spare: f64,
}

/// The two phases of RFC 5681.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Below the threshold.
    SlowStart,
    /// At or above it.
    CongestionAvoidance,
}

/// How often a flow reacts to marks and losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// At most once per window of data, whichever of the two it is (RFC 3168, section 6.1.2).
    PerWindow,
    /// To each marked segment; to losses at most once per window.
    PerMark,
    /// At most once per window of data to marks, and at most once to losses, also where marks of it have been answered:
    /// for controllers that answer marks by their share, often with hardly anything, and losses as Reno does (RFC 8257,
    /// section 3.5; RFC 9331, section 4.3). What answers a loss answers the marks of its window.
    LossesApart,
}

/// What a controller cannot do without. A host that lacks any of it refuses the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each need stands for itself")]
pub struct Needs {
    /// Marks of RFC 3168.
    pub ecn: bool,
    /// How many segments were marked (Accurate ECN), and not only that some were.
    pub accurate_ecn: bool,
    /// ECT(1) on its data: the low-latency service of RFC 9331, for controllers that answer marks as it requires.
    pub ect1: bool,
    /// The AntiECN bit, carried to the receiver and back. Links that do not support it are no reason to refuse: their
    /// paths simply report no spare capacity.
    pub spare: bool,
    /// Pacing by the sender.
    pub pacing: bool,
    /// Queues that take priorities into account.
    pub priorities: bool,
    /// An access link of known rate.
    pub access: bool,
    /// A queue of this kind on its path: one that fills in the headers of its data
    /// ([`router_header`](crate::Wants::router_header)).
    pub queue: Option<&'static str>,
}

impl Needs {
    /// Nothing beyond acknowledgments.
    pub const NONE: Self = Self {
        ecn: false,
        accurate_ecn: false,
        ect1: false,
        spare: false,
        pacing: false,
        priorities: false,
        access: false,
        queue: None,
    };
}
