//! One flow: both ends, and the ways between them.

use std::sync::Arc;

use longfat_control::{Reaction, Sending, Start};
use longfat_units::{Bytes, Rate, Segments, Span, Time};

use crate::link::LATEST;
use crate::packet::{Flags, Packet};
use crate::pipe::Slot;
use crate::receiver::{Echo, Intervals, Receiver};
use crate::scenario::{Choice, Recovery, Transport};
use crate::sender::{self, Sender};

/// One flow: both ends, and the ways between them.
#[derive(Debug)]
pub(crate) struct Flow {
    /// `None` before the flow starts.
    pub(crate) sender: Option<Sender>,
    pub(crate) receiver: Receiver,
    pub(crate) out: Way,
    pub(crate) back: Way,
    pub(crate) slots: Slots,
    /// Is the first link of the way back told of acknowledgments early ([`crate::feed`])?
    pub(crate) returns_early: bool,
    /// Is the event of `slots.pace` scheduled?
    pub(crate) pace_set: bool,
    /// The retransmission timer that is set; stale ones are known by their time.
    pub(crate) timer_at: Time,
    /// Data packets of a long flow that queues have dropped in the measured interval.
    pub(crate) dropped: u64,
    /// Packets of this flow on their way, acknowledgments included.
    pub(crate) in_transit: u32,
    /// Those of them that are in the last pipe, on their way to the sender: counted here, where each acknowledgment
    /// looks, and not in the pipe, where it would have to.
    pub(crate) homeward: u32,
    pub(crate) access: Option<Access>,
    pub(crate) member: Member,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    pub(crate) rtt: Span,
    pub(crate) packet: Bytes,
    pub(crate) anti_ecn: Negotiation,
    waiting: Option<(sender::Settings, Box<dyn longfat_control::CongestionControl>)>,
}

/// To which group of the scenario a flow belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// A long flow: group, and index in it.
    Long(usize, u64),
    /// A short flow: traffic group, and how many of it came before.
    Short(usize, u64),
}

/// The slots of the wheel that belong to a flow: three pipes and its pacing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// From the sender to the first link.
    pub(crate) out: usize,
    /// From the receiver to the first link of the way back.
    pub(crate) back: usize,
    /// From the last link of the way back to the sender.
    pub(crate) home: usize,
    pub(crate) pace: usize,
}

/// The way of a packet from one end to the other.
#[derive(Debug)]
pub(crate) struct Way {
    /// Links in the order of travel.
    pub(crate) links: Arc<[usize]>,
    /// Delay from the end to the first link.
    pub(crate) before: Span,
    /// Delay from the last link to the other end.
    pub(crate) after: Span,
}

/// What came of asking the path for AntiECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negotiation {
    /// The controller has no use for it.
    NotAsked,
    /// Every link takes part.
    Agreed,
    /// This one does not, the first on the way of the data.
    Unaware(usize),
}

/// The links of a path, there and back, and their propagation delay in all.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) out: Arc<[usize]>,
    pub(crate) back: Arc<[usize]>,
    pub(crate) delay: Span,
    /// The first link on the way out that does not know AntiECN.
    pub(crate) unaware: Option<usize>,
}

impl Route {
    /// All links, those of the way back too.
    pub(crate) fn links(&self) -> impl Iterator<Item = usize> {
        self.out.iter().chain(self.back.iter()).copied()
    }

    /// What happens at the end of the first pipe of data, and of acknowledgments.
    pub(crate) fn ends(&self) -> [Slot; 2] {
        [Slot::Out(self.out[0] as u32), Slot::Back(self.back[0] as u32)]
    }

    /// What AECN-SYN tells a flow under `control` on this path.
    pub(crate) fn negotiate(&self, control: &Choice) -> Negotiation {
        let law = longfat_control::find(control.kind).and_then(|controller| controller.law);
        match self.unaware {
            _ if !law.is_some_and(|law| law(&control.settings).needs().room) => {
                Negotiation::NotAsked
            }
            Some(link) => Negotiation::Unaware(link),
            None => Negotiation::Agreed,
        }
    }
}

/// What a flow is made from.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// Its index in the network: what its packets carry.
    pub(crate) flow: u32,
    pub(crate) member: Member,
    pub(crate) slots: Slots,
    pub(crate) route: &'a Route,
    pub(crate) control: &'a Choice,
    pub(crate) transport: &'a Transport,
    pub(crate) anti_ecn: Negotiation,
    pub(crate) rtt: Span,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    /// Segments to send in all.
    pub(crate) segments: Option<u64>,
    pub(crate) intervals: Intervals,
}

/// The sender's own link: an unbounded queue.
#[derive(Debug)]
pub(crate) struct Access {
    rate: Rate,
    free_at: Time,
}

impl Access {
    /// When a packet sent now has left.
    pub(crate) fn send(&mut self, now: Time, size: Bytes) -> Time {
        let free_at = self.free_at.max(now) + self.rate.time_for(size);
        self.free_at = free_at.min(LATEST);
        self.free_at
    }
}

impl Flow {
    pub(crate) fn new(plan: &Plan<'_>) -> Self {
        let &Plan { route, transport, rtt, start, anti_ecn, .. } = plan;
        // What the links leave of the round trip lies in four equal parts before and after them, out and back.
        let rest = rtt - route.delay;
        let part = rest / 4;
        let last_part = rest - part * 3;
        let controller = longfat_control::find(plan.control.kind)
            .expect("a resolved scenario names known controllers");
        let begin = Start {
            window: Segments(transport.initial_window),
            threshold: transport.initial_threshold.map(Segments),
            slow_start: transport.slow_start,
            transfer: plan.segments,
            round_trip: Some(rtt),
            access: transport.access.map(|rate| rate.0 as f64 / (8 * transport.packet.0) as f64),
        };
        let control = (controller.build)(&plan.control.settings, &begin);
        // Without a window there is no answer to a mark, and losses show by duplicates alone.
        let windowed = control.sending() == Sending::Windowed;
        let per_mark = control.reaction() == Reaction::PerMark;
        let settings = sender::Settings {
            flow: plan.flow,
            bytes: transport.packet.0 as u32,
            segments: plan.segments,
            max_window: transport.max_window.unwrap_or(u64::MAX),
            recovery: transport.recovery,
            rto_min: transport.rto_min,
            rto_tick: transport.rto_tick,
            ecn: transport.ecn && windowed,
            pacing: transport.pacing,
            per_mark,
            anti_ecn: anti_ecn == Negotiation::Agreed,
            propagation: rtt,
        };
        let selective = transport.recovery == Recovery::Sack && windowed;
        Self {
            sender: None,
            receiver: Receiver::new(
                plan.segments,
                selective,
                transport.delayed_ack,
                if per_mark { Echo::Each } else { Echo::UntilAnswered },
                &plan.intervals,
            ),
            out: Way { links: Arc::clone(&route.out), before: part, after: part },
            back: Way { links: Arc::clone(&route.back), before: part, after: last_part },
            slots: plan.slots,
            returns_early: false,
            pace_set: false,
            timer_at: Time::NEVER,
            dropped: 0,
            in_transit: 0,
            homeward: 0,
            access: transport.access.map(|rate| Access { rate, free_at: Time::ZERO }),
            member: plan.member,
            start,
            stop: plan.stop,
            rtt,
            packet: transport.packet,
            anti_ecn,
            waiting: Some((settings, control)),
        }
    }

    /// The way of data or of acknowledgments.
    #[inline]
    pub(crate) fn way(&self, ack: bool) -> &Way {
        if ack { &self.back } else { &self.out }
    }

    /// The flow starts now.
    pub(crate) fn begin(&mut self, now: Time) {
        if let Some((settings, control)) = self.waiting.take() {
            self.sender = Some(Sender::new(settings, control, now));
        }
    }

    /// May the sender be told now of an acknowledgment that will arrive at `time`? Not if something may come before:
    /// another acknowledgment, a time-out, pacing. Nor if with it the flow may be over, which is to be known in time.
    #[inline]
    pub(crate) fn hears_early(&self, time: Time, ack: &Packet) -> bool {
        !self.pace_set
            && !ack.flags.has(Flags::DESTROYED)
            && self.sender.as_ref().is_some_and(|sender| sender.hears_early(time, ack.number))
    }

    /// Is a finite flow over, with nothing of it left on the way?
    pub(crate) fn is_over(&self) -> bool {
        self.in_transit == 0 && !self.pace_set && self.sender.as_ref().is_some_and(Sender::is_done)
    }
}
