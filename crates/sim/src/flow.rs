//! One flow: its two ends, and the ways between them.
//!
//! With many flows a packet waits for each line of the caches that it needs, so what packets need lies together: here, in
//! the receiver and in the sender fields are in the order in which they are declared (`repr(C)`), what every packet needs
//! first, what few need after it, and the structures inside begin or end with what is needed most.

use std::sync::Arc;

use longfat_control::{CongestionControl, Controller, Reaction, Sending, Start};
use longfat_scenario::chance::Stream;
use longfat_scenario::{Choice, EcnFeedback, ReceiveBuffer, Recovery, Transport};
use longfat_units::{Bytes, Ecn, Rate, Segments, Span, Time};
use rand_core::Rng;

use crate::cargo::Hold;
use crate::durations::Durations;
use crate::events::{Timer, Timers, Wheel};
use crate::explicit::{Listener, Negotiation};
use crate::member::Member;
use crate::packet::{Flags, Packet};
use crate::pipe::{Pipes, Slots};
use crate::port::{LATEST, Port};
use crate::receiver::{Delay, Echo, Intervals, Receiver};
use crate::right_sizing::RightSizing;
use crate::sender::{
    BurstSender, MOST_IN_FLIGHT, Numbered, Sender, SenderConfig, SenderCounts, Sends, Traced,
    Tracing, Within,
};

/// One flow: its two ends, and the ways between them.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    /// Acknowledgments in the last pipe, on their way to the sender. Counted here, in memory that each acknowledgment
    /// touches anyway, so that it need not look at the pipe.
    pub(crate) homeward: u32,
    /// Does the first link of the way back get acknowledgments early ([`crate::feed`])?
    pub(crate) returns_early: bool,
    pub(crate) outlet: Outlet,
    pub(crate) slots: Slots,
    pub(crate) out: Way,
    pub(crate) back: Way,
    /// When the alarm that is set for the controller runs out; stale timers are recognised by their time.
    pub(crate) alarm_at: Time,
    pub(crate) receiver: Receiver,
    pub(crate) stop: Option<Time>,
    pub(crate) negotiation: Negotiation,
    pub(crate) member: Member,
    /// The index of the application that writes its data, if one does.
    pub(crate) application: Option<u32>,
    pub(crate) start: Time,
    pub(crate) rtt: Span,
    pub(crate) packet: Bytes,
    /// Data packets of a long flow that queues have dropped in the measured interval.
    pub(crate) dropped: u64,
    /// The last time so far at which a short flow, all of whose data has been acknowledged, had something on its way.
    pub(crate) ended: Time,
    pub(crate) source: Source,
    /// The mean of its window until it stopped, if it has; what becomes of the window after that is not measured.
    pub(crate) window_at_stop: Option<f64>,
}

/// The sending half of a flow. Which kind it is stands where it begins, so that one cache line tells it.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all flows are of the largest kind, and short ones are made without a box of their own"
)]
#[repr(u8)]
pub(crate) enum Source {
    /// The flow has not begun, or it has finished and its place is free for another.
    Idle(Option<(SenderConfig, Sending)>),
    /// TCP.
    Windowed(Sender),
    /// TCP whose packets have numbers.
    Numbered(Box<Numbered>),
    /// Without a window.
    Bursts(BurstSender),
    /// Any of these, traced.
    Traced(Box<Traced>),
}

impl Source {
    /// The sender, once the flow has begun.
    pub(crate) fn sender(&self) -> Option<&dyn Sends> {
        match self {
            Self::Idle(_) => None,
            Self::Windowed(sender) => Some(sender),
            Self::Numbered(sender) => Some(&**sender),
            Self::Bursts(sender) => Some(sender),
            Self::Traced(sender) => Some(&**sender),
        }
    }

    /// The sender, once the flow has begun.
    pub(crate) fn sender_mut(&mut self) -> Option<&mut dyn Sends> {
        match self {
            Self::Idle(_) => None,
            Self::Windowed(sender) => Some(sender),
            Self::Numbered(sender) => Some(&mut **sender),
            Self::Bursts(sender) => Some(sender),
            Self::Traced(sender) => Some(&mut **sender),
        }
    }

    /// TCP, once the flow has begun.
    #[inline]
    pub(crate) fn windowed(&self) -> Option<&Sender> {
        if let Self::Windowed(sender) = self { Some(sender) } else { None }
    }

    /// From its beginning it is traced like this; if it has begun, only whether it still is matters.
    pub(crate) fn set_tracing(&mut self, tracing: Tracing) {
        match self {
            Self::Idle(Some((config, _))) => config.traced = tracing,
            Self::Traced(sender) if tracing == Tracing::Off => sender.stop_noting(),
            _ => {}
        }
    }

    /// The sender, if it is traced.
    pub(crate) fn traced(&mut self) -> Option<&mut Traced> {
        if let Self::Traced(sender) = self { Some(sender) } else { None }
    }

    /// The controller of the window, if there is one and the flow has begun.
    pub(crate) fn control(&self) -> Option<&dyn CongestionControl> {
        match self {
            Self::Windowed(sender) => Some(sender.control()),
            Self::Numbered(sender) => Some(sender.control()),
            Self::Traced(sender) => sender.control(),
            Self::Idle(_) | Self::Bursts(_) => None,
        }
    }

    /// What a sender with a window has made of explicit signals.
    pub(crate) fn listener(&self) -> Option<&Listener> {
        match self {
            Self::Windowed(sender) => Some(sender.listener()),
            Self::Numbered(sender) => Some(sender.listener()),
            Self::Traced(sender) => sender.listener(),
            Self::Idle(_) | Self::Bursts(_) => None,
        }
    }

    /// The receive window in segments, if the flow has one.
    pub(crate) fn receive_window(&self) -> Option<u64> {
        match self {
            Self::Windowed(sender) => sender.receive_window(),
            Self::Traced(sender) => sender.receive_window(),
            Self::Idle(_) | Self::Numbered(_) | Self::Bursts(_) => None,
        }
    }

    /// For how long the receive window has held the flow back in the measured interval, until `now`.
    pub(crate) fn receiver_limited(&self, now: Time) -> Option<Span> {
        match self {
            Self::Windowed(sender) => sender.receiver_limited(now),
            Self::Traced(sender) => sender.receiver_limited(now),
            Self::Idle(_) | Self::Numbered(_) | Self::Bursts(_) => None,
        }
    }

    /// What the sender has counted, once the flow has begun.
    pub(crate) fn measured(&self) -> Option<&SenderCounts> {
        self.sender().map(Sends::measured)
    }

    pub(crate) fn waits(&self) -> Option<&Durations> {
        self.sender()?.waits()
    }
}

/// The way of a packet from one end to the other.
#[derive(Debug)]
pub(crate) struct Way {
    /// Ports in the order of travel.
    pub(crate) ports: Arc<[usize]>,
    /// Delay from the end to the first link.
    pub(crate) before: Span,
    /// Delay from the last link to the other end.
    pub(crate) after: Span,
}

/// The links of a path, out and back, and their total propagation delay.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) out: Arc<[usize]>,
    pub(crate) back: Arc<[usize]>,
    pub(crate) delay: Span,
    /// How much shorter it may become at most.
    pub(crate) shortening: Span,
    /// Does it change in time?
    pub(crate) shifts: bool,
    /// May acknowledgments pass one another?
    pub(crate) acks_pass: bool,
    /// The first link on the way out that writes no explicit signals.
    pub(crate) unaware: Option<usize>,
}

impl Route {
    /// All ports, including those of the way back.
    pub(crate) fn ports(&self) -> impl Iterator<Item = usize> {
        self.out.iter().chain(self.back.iter()).copied()
    }

    /// The rest of a round trip, beside the links, is split into four parts: before and after them, out and back. What
    /// division leaves is in the last one.
    pub(crate) fn part_beside(&self, rtt: Span) -> Span {
        (rtt - self.delay) / 4
    }

    /// The round trip without queues at `now` of a flow whose round trip before any change is `rtt`.
    pub(crate) fn rtt_at(&self, rtt: Span, ports: &[Port], now: Time) -> Span {
        if !self.shifts {
            return rtt;
        }
        let beside = rtt - self.delay;
        self.ports().fold(beside, |sum, port| sum + ports[port].delay_at(now))
    }
}

/// What a flow is made from.
#[derive(Debug)]
pub(crate) struct FlowConfig<'a> {
    /// Its index in the network, which its packets carry.
    pub(crate) flow: u32,
    pub(crate) member: Member,
    pub(crate) route: &'a Route,
    pub(crate) control: &'a Choice<Controller>,
    pub(crate) transport: &'a Transport,
    pub(crate) negotiation: Negotiation,
    pub(crate) rtt: Span,
    /// Its round trip without queues as it begins ([`Route::rtt_at`]).
    pub(crate) first_rtt: Span,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    /// Segments to send in total.
    pub(crate) segments: Option<u64>,
    /// The index of the application that writes its data, if one does.
    pub(crate) application: Option<u32>,
    pub(crate) intervals: Intervals,
    /// Where the jitter of its host comes from, if it has one.
    pub(crate) chance: Option<Stream>,
    /// What its controller decides by chance follows from this.
    pub(crate) luck: u64,
    pub(crate) traced: Tracing,
    /// Are percentiles of its queueing delay to be told?
    pub(crate) delay_percentiles: bool,
}

/// Where a sender's packets leave, and the timers set for it. With what stands before it in a flow it fills a line.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Outlet {
    /// Packets of this flow in transit, acknowledgments included.
    pub(crate) in_transit: u32,
    /// Is an event of pacing in the wheel? It comes at `pace_at` or earlier, since what lets a sender have its
    /// acknowledgments early moves `pace_at` on without it.
    pub(crate) pace_set: bool,
    /// When the retransmission timer that is set runs out; stale timers are recognised by their time.
    pub(crate) timer_at: Time,
    /// When pacing next lets the flow send; `Time::NEVER` if it holds nothing back.
    pub(crate) pace_at: Time,
    /// The slot of the pipe to the first link.
    out: usize,
    /// Delay to the first link.
    before: Span,
    host: Option<Box<Host>>,
    /// The slot of pacing.
    pace: usize,
}

impl Outlet {
    /// Sends all packets that may leave now.
    #[inline]
    pub(crate) fn let_go<S: Sends>(
        &mut self,
        sender: &mut S,
        now: Time,
        pipes: &mut Pipes,
        heads: &mut Wheel,
        hold: &mut Hold,
    ) {
        // The pipe is found once for all that leave, not for each: it saves half a hundredth of A's instructions.
        let Pipes { by_slot, places, .. } = pipes;
        let pipe = &mut by_slot[self.out];
        while let Some(packet) = sender.poll(now) {
            let cargo = sender.cargo(now).map(|cargo| hold.load(&cargo));
            let packet = packet.with_cargo(cargo);
            let left = if self.host.is_some() { self.pass_host(now, packet.size()) } else { now };
            self.in_transit += 1;
            pipe.put(self.out, left + self.before, packet, heads, places);
        }
    }

    /// When a packet that leaves the sender now will have left its host too.
    #[inline(never)]
    fn pass_host(&mut self, now: Time, size: Bytes) -> Time {
        self.host.as_mut().map_or(now, |host| host.send(now, size))
    }

    /// Schedules the retransmission timer and pacing.
    #[inline]
    pub(crate) fn keep_timers<S: Sends>(
        &mut self,
        sender: &S,
        index: usize,
        heads: &mut Wheel,
        timers: &mut Timers,
    ) {
        if sender.deadline() < self.timer_at {
            self.timer_at = sender.deadline();
            timers.add(self.timer_at, Timer::Retransmission(index as u32));
        }
        if let Some(until) = sender.pace_deadline().filter(|_| self.pace_at == Time::NEVER) {
            self.pace_at = until;
            self.set_pace(heads);
        }
    }

    /// Sees to it that the wheel has an event of pacing in time.
    pub(crate) fn set_pace(&mut self, heads: &mut Wheel) {
        if !self.pace_set {
            self.pace_set = true;
            heads.add(self.pace, self.pace_at);
        }
    }
}

/// What takes time in the sender's host: its processing, and its own link with an unbounded queue.
#[derive(Debug)]
struct Host {
    /// The longest processing, and where its random lengths come from.
    jitter: Option<(Span, Stream)>,
    /// When the last packet was processed: packets stay in order.
    processed_at: Time,
    access: Option<Rate>,
    free_at: Time,
}

impl Host {
    /// The host of a flow, if anything in it takes time.
    fn new(transport: &Transport, chance: Option<Stream>) -> Option<Box<Self>> {
        let jitter = transport.host_jitter.zip(chance);
        let host = Self {
            jitter,
            processed_at: Time::ZERO,
            access: transport.access,
            free_at: Time::ZERO,
        };
        (host.jitter.is_some() || host.access.is_some()).then(|| Box::new(host))
    }

    /// When a packet sent now will have left.
    fn send(&mut self, now: Time, size: Bytes) -> Time {
        let mut at = now;
        if let Some((most, chance)) = &mut self.jitter {
            let share = u128::from(chance.next_u64());
            let takes = Span(((share * u128::from(most.0 + 1)) >> 64) as u64);
            self.processed_at = self.processed_at.max(now + takes);
            at = self.processed_at;
        }
        if let Some(rate) = self.access {
            at = (self.free_at.max(at) + rate.time_for(size)).min(LATEST);
            self.free_at = at;
        }
        at
    }
}

impl Flow {
    /// These slots are its own.
    pub(crate) fn connect(&mut self, slots: Slots) {
        self.slots = slots;
        (self.outlet.out, self.outlet.pace) = (slots.out, slots.pace);
    }

    /// The ports that its packets meet first, out and back.
    pub(crate) fn firsts(&self) -> [usize; 2] {
        [self.out.ports[0], self.back.ports[0]]
    }

    /// A flow without slots.
    pub(crate) fn new(config: &FlowConfig<'_>) -> Self {
        let &FlowConfig { route, transport, rtt, first_rtt, start, negotiation, .. } = config;
        let part = route.part_beside(rtt);
        let last_part = rtt - route.delay - part * 3;
        let begin = Start {
            window: Segments(transport.initial_window),
            threshold: transport.initial_threshold.map(Segments),
            slow_start: transport.slow_start,
            packet: transport.packet,
            transfer: config.segments,
            round_trip: Some(first_rtt),
            access: transport.access.map(|rate| rate.0 as f64 / (8 * transport.packet.0) as f64),
            send_quantum: transport.send_quantum,
            selective: transport.recovery.is_selective(),
            chance: config.luck,
            member: config.member.of_scenario(),
        };
        let sending = (config.control.entry.build)(&config.control.settings, &begin);
        // A sender without a window does not respond to marks, and detects losses by duplicates alone.
        let (windowed, reaction) = match &sending {
            Sending::Windowed(control) => (true, control.reaction()),
            Sending::Bursts(_) => (false, Reaction::PerWindow),
        };
        let Transport { ack_every: every, ack_delay: most, .. } = *transport;
        let delay = (transport.delayed_ack && every > 1).then_some(Delay { every, most });
        let numbers = transport.recovery == Recovery::Quic && windowed;
        // Packets that have numbers report their marks with them.
        let counts_marks = transport.ecn_feedback == EcnFeedback::Accurate && windowed && !numbers;
        let echo = match (counts_marks, reaction) {
            (true, _) => Echo::Count,
            (false, Reaction::PerMark) => Echo::Each,
            (false, Reaction::PerWindow | Reaction::LossesApart) => Echo::UntilAnswered,
        };
        let sender = SenderConfig {
            flow: config.flow,
            bytes: transport.packet.0 as u32,
            segments: config.segments,
            application: config.application.is_some(),
            max_window: transport.max_window.unwrap_or(MOST_IN_FLIGHT),
            receive_window: transport.receive_window.map(Box::new),
            recovery: transport.recovery,
            rto_min: transport.rto_min,
            rto_tick: transport.rto_tick,
            rto_estimator: transport.rto_estimator,
            rto_restart: transport.rto_restart,
            ecn: if windowed { transport.ecn } else { Ecn::NotEct },
            counts_marks,
            pacing: transport.pacing,
            send_quantum: transport.send_quantum,
            window_validation: transport.window_validation,
            careful_resume: transport.careful_resume,
            reaction,
            listener: Listener::new(negotiation),
            member: config.member.of_scenario(),
            // Queueing delay is what exceeds the shortest propagation there ever is.
            propagation: rtt - route.shortening,
            first_rtt,
            acks_pass: route.acks_pass,
            ack_delay: delay.map_or(Span::ZERO, |delay| delay.most),
            traced: config.traced,
            delay_percentiles: config.delay_percentiles,
        };
        let selective = transport.recovery.is_selective() && windowed;
        let sizing = transport.receive_window.and_then(|window| match window.buffer {
            ReceiveBuffer::RightSizing { initial, most } => {
                Some(RightSizing::new(window, (initial, most), transport.packet))
            }
            ReceiveBuffer::Fixed(_) | ReceiveBuffer::SenderTuned { .. } => None,
        });
        let tells_duplicates = transport.recovery == Recovery::Rack && windowed;
        Self {
            source: Source::Idle(Some((sender, sending))),
            receiver: Receiver::new(config.segments, selective, delay, echo, &config.intervals)
                .telling_duplicates(tells_duplicates)
                .sized(sizing)
                .numbering(numbers),
            out: Way { ports: Arc::clone(&route.out), before: part, after: part },
            back: Way { ports: Arc::clone(&route.back), before: part, after: last_part },
            slots: Slots::NONE,
            returns_early: false,
            outlet: Outlet {
                host: Host::new(transport, config.chance.clone()),
                before: part,
                out: Slots::NONE.out,
                pace: Slots::NONE.pace,
                pace_at: Time::NEVER,
                pace_set: false,
                timer_at: Time::NEVER,
                in_transit: 0,
            },
            alarm_at: Time::NEVER,
            dropped: 0,
            ended: Time::ZERO,
            homeward: 0,
            member: config.member,
            application: config.application,
            start,
            stop: config.stop,
            window_at_stop: None,
            rtt,
            packet: transport.packet,
            negotiation,
        }
    }

    /// The way of data or of acknowledgments.
    #[inline]
    pub(crate) fn way(&self, ack: bool) -> &Way {
        if ack { &self.back } else { &self.out }
    }

    /// The flow starts now.
    pub(crate) fn begin(&mut self, now: Time) {
        let Source::Idle(waiting) = &mut self.source else { return };
        let Some((config, sending)) = waiting.take() else { return };
        let traced = config.traced != Tracing::Off;
        self.source = match sending {
            Sending::Windowed(control) if config.recovery == Recovery::Quic => {
                Source::Numbered(Box::new(Numbered::new(config, control, now)))
            }
            Sending::Windowed(control) => Source::Windowed(Sender::new(config, control, now)),
            Sending::Bursts(bursts) => Source::Bursts(BurstSender::new(config, bursts, now)),
        };
        if traced {
            self.begin_tracing(now);
        }
    }

    /// From now on its sender notes what it does.
    #[cold]
    fn begin_tracing(&mut self, now: Time) {
        let within = match std::mem::replace(&mut self.source, Source::Idle(None)) {
            Source::Windowed(sender) => Within::Windowed(sender),
            Source::Numbered(sender) => Within::Numbered(*sender),
            Source::Bursts(sender) => Within::Bursts(sender),
            other => return self.source = other,
        };
        let traced = Traced::new(self.member, within, now);
        self.source = Source::Traced(Box::new(traced));
    }

    /// May the sender have an acknowledgment that arrives at `time` now, once it has sent what pacing lets go before?
    /// Not if something else may come first: another acknowledgment, a time-out. Nor if it may complete the flow, which
    /// must not happen ahead of time.
    #[expect(clippy::inline_always, reason = "on the way of every acknowledgment")]
    #[inline(always)]
    pub(crate) fn hears_early(&self, time: Time, ack: &Packet) -> bool {
        !ack.flags.has(Flags::DESTROYED)
            && match &self.source {
                Source::Windowed(sender) => sender.hears_early(time, ack.number),
                _ => self.hears_otherwise_early(time, ack.number),
            }
    }

    /// The same for what is not TCP: apart, because a jump by kind costs more than asking whether it is the usual one.
    #[inline(never)]
    fn hears_otherwise_early(&self, time: Time, number: u64) -> bool {
        match &self.source {
            Source::Windowed(sender) => sender.hears_early(time, number),
            Source::Numbered(sender) => sender.hears_early(time, number),
            Source::Bursts(sender) => sender.hears_early(time, number),
            Source::Traced(sender) => sender.hears_early(time, number),
            Source::Idle(_) => false,
        }
    }

    /// A packet of it has come to its end at `at`, or pacing has. When did the flow end, if it is finite and nothing of it is
    /// left, on its way or at its receiver? An acknowledgment may be held there that the sender does not wait for: that of
    /// a packet sent again in vain, which has a number of its own. Such ends need not be told of in their order.
    pub(crate) fn over(&mut self, at: Time) -> Option<Time> {
        let is_done = match &self.source {
            Source::Windowed(sender) => sender.is_done(),
            other => other.sender().is_some_and(Sends::is_done),
        };
        if !is_done {
            return None;
        }
        self.ended = self.ended.max(at);
        let is_left = self.outlet.in_transit > 0
            || self.outlet.pace_at != Time::NEVER
            || self.receiver.kept_back().is_some();
        (!is_left).then_some(self.ended)
    }
}

#[cfg(test)]
mod tests {
    use longfat_scenario::{Scenario, chance::stream};

    use super::*;
    use crate::simulation::Simulation;

    /// The host of a flow with these keys, on a link of 1 Gbit/s.
    fn host(keys: &str) -> Option<Box<Host>> {
        let text = format!(
            "duration = \"1 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[flow]]\nname = \"f\"\n\
             control = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\n{keys}"
        );
        let scenario = Scenario::read(&text, "host.toml", &[], None).expect("a good scenario");
        Host::new(&scenario.flows[0].transport, Some(stream(1, "host")))
    }

    /// Who serves links in turns learns of a packet that a queue has dropped after what came to the sender later.
    #[test]
    fn a_flow_is_over_at_the_last_of_its_ends_whichever_is_told_last() {
        let text = "duration = \"1 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[traffic]]\nname = \"t\"\n\
             control = \"reno\"\npath = [\"l\"]\nrtt = \"4 ms\"\nreplay = { tick = \"1 ms\", list = \"0 1500\" }";
        let scenario = Scenario::read(text, "over.toml", &[], None).expect("a good scenario");
        let mut simulation = Simulation::new(&scenario, false);
        while simulation.advance(1) {}
        let flow = &mut simulation.network.flows[0];
        let [before, acknowledged, late] = [3, 4, 9].map(|millis| Time(millis * 1_000_000_000));
        assert!((acknowledged..late).contains(&flow.ended), "{:?}", flow.ended);
        flow.outlet.in_transit = 1;
        assert_eq!(flow.over(late), None, "something is on its way");
        flow.outlet.in_transit = 0;
        assert_eq!(flow.over(before), Some(late));
    }

    #[test]
    fn a_host_takes_no_time_unless_told() {
        assert!(host("").is_none());
    }

    #[test]
    fn jitter_is_uniform_and_keeps_packets_in_order() {
        let mut host = host("host_jitter = \"12 us\"\n").expect("a host");
        let (most, apart) = (Span(12_000_000), Span(4_000_000));
        let (mut last, mut sum) = (Time::ZERO, 0.0);
        for number in 0..10_000 {
            let now = Time::ZERO + apart * number;
            let left = host.send(now, Bytes(1500));
            assert!(now <= left && left <= now + most && last <= left);
            last = left;
        }
        // Alone, each packet is delayed by half the most on average, and by 1/√12 of it more or less.
        for number in 1..10_000 {
            let now = Time::ZERO + Span::from_seconds(number);
            sum += (host.send(now, Bytes(1500)) - now).seconds();
        }
        let mean = sum / 9_999.0;
        assert!((mean - 6e-6).abs() < 4.0 * 12e-6 / (12.0 * 9_999.0_f64).sqrt(), "mean {mean}");
    }

    #[test]
    fn the_access_link_comes_after_the_jitter() {
        let mut host = host("host_jitter = \"12 us\"\naccess = \"1 Gbit/s\"\n").expect("a host");
        let first = host.send(Time::ZERO, Bytes(1500));
        assert!((12_000_000..=24_000_000).contains(&first.0), "{first:?}");
        assert_eq!(host.send(Time::ZERO, Bytes(1500)) - first, Span(12_000_000), "back to back");
    }
}
