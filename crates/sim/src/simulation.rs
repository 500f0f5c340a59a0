//! The event loop: packets through pipes and links, timers, and the two ends of each flow.
//!
//! A data packet costs two events: it reaches its link, and its acknowledgment reaches the link on the way back. A link
//! that serves ahead knows on arrival when the packet will be at the far end. A receiver is a function of its arrivals,
//! and so is a sender as long as no timer comes between, so both answer without events of their own.

use longfat_units::{Span, Time};

use crate::events::{Timer, Timers, Wheel};
use crate::flow::{Flow, Member};
use crate::link::Arrived;
use crate::network::{self, Network};
use crate::packet::{Flags, Packet, Record};
use crate::recording::{Recording, Table};
use crate::ring::Ring;
use crate::scenario::Scenario;
use crate::series::FlowSeries;
use crate::traffic::Traffic;
use crate::{report, sack};

/// One simulation, from its first event to its last.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) scenario: Scenario,
    pub(crate) network: Network,
    heads: Wheel,
    timers: Timers,
    slab: sack::Slab,
    pub(crate) now: Time,
    pub(crate) end: Time,
    /// How far ahead senders may be told at most.
    early_until: Time,
    pub(crate) events: u64,
    pub(crate) series: Option<FlowSeries>,
    pub(crate) fates: Fates,
}

/// How a simulation is carried out; none of it changes what comes out.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Keep the time series.
    pub record: bool,
    /// Serve every link packet by packet, even where departures are known on arrival, and tell senders nothing early.
    pub stepwise: bool,
}

/// What became of every data packet sent: for tests and for `longfat`'s own checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fates {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Arrived at a receiver.
    pub delivered: u64,
    /// Dropped by a queue.
    pub dropped: u64,
    /// Destroyed on a wire.
    pub corrupted: u64,
    /// Counted in pipes and queues, or due after the end of the run.
    pub in_flight: u64,
}

/// A slot of the wheel: what happens in it, and the packets of a flow that are on their way there, in order.
#[derive(Debug)]
pub(crate) struct Pipe {
    records: Ring<Record>,
    pub(crate) end: Slot,
    /// Flow and size of the packets.
    flow: u32,
    bytes: u32,
}

impl Pipe {
    pub(crate) fn new(end: Slot, flow: u32, bytes: u32) -> Self {
        Self { records: Ring::default(), end, flow, bytes }
    }

    /// The flow is over.
    pub(crate) fn rest(&mut self) {
        self.records.rest();
    }

    /// An empty pipe is used again.
    pub(crate) fn lead(&mut self, end: Slot, bytes: u32) {
        (self.end, self.bytes) = (end, bytes);
    }

    pub(crate) fn packets(&self) -> impl Iterator<Item = Packet> {
        self.records.iter().map(|record| record.packet(self.flow, self.bytes))
    }
}

/// What happens in a slot of the wheel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// A packet leaves a link that is served packet by packet.
    Departure(u32),
    /// A packet has crossed this link and reaches the next one of its way.
    Wire(u32),
    /// Data reaches the first link of its way, this one.
    Out(u32),
    /// An acknowledgment reaches the first link of its way, this one.
    Back(u32),
    /// An acknowledgment reaches its sender.
    Home,
    /// Pacing lets a flow send.
    Pace,
}

impl Simulation {
    /// Builds the network of `scenario`. With `record` the time series are kept; nothing else changes.
    pub fn new(scenario: &Scenario, record: bool) -> Self {
        Self::with_options(scenario, Options { record, stepwise: false })
    }

    /// Builds the network of `scenario`, to be simulated as `options` say.
    pub fn with_options(scenario: &Scenario, options: Options) -> Self {
        let mut timers = Timers::default();
        let mut network = network::build(scenario, options);
        for (index, flow) in network.flows.iter().enumerate() {
            timers.add(flow.start, Timer::Start(index as u32));
            if let Some(stop) = flow.stop {
                timers.add(stop, Timer::Stop(index as u32));
            }
        }
        for (index, traffic) in network.traffic.iter_mut().enumerate() {
            if let Some(time) = traffic.first_arrival() {
                timers.add(time, Timer::Arrival(index as u32));
            }
        }
        if scenario.warmup > Span::ZERO {
            timers.add(Time::ZERO + scenario.warmup, Timer::Warmup);
        }
        let series = options.record.then(|| {
            timers.add(Time::ZERO + scenario.sample, Timer::Sample);
            FlowSeries::new(network.long)
        });
        Self {
            heads: Wheel::new(network.pipes.len(), network.gap),
            timers,
            slab: sack::Slab::new(),
            now: Time::ZERO,
            end: Time::ZERO + scenario.duration,
            early_until: Time::ZERO + if options.stepwise { Span::ZERO } else { scenario.duration },
            events: 0,
            series,
            fates: Fates::default(),
            scenario: scenario.clone(),
            network,
        }
    }

    /// Handles up to `events` events. True while there are more.
    pub fn advance(&mut self, events: u64) -> bool {
        for _ in 0..events {
            // At the same instant packets come first: an acknowledgment that arrives when the retransmission timer
            // runs out counts.
            let limit = self.timers.packets_first().min(self.end);
            if let Some((time, slot)) = self.heads.take_until(limit) {
                debug_assert!(time >= self.now, "an event lies in the past");
                self.now = time;
                self.handle(slot);
            } else {
                let timer = self.timers.next();
                if timer > self.end {
                    return false;
                }
                debug_assert!(timer >= self.now, "a timer lies in the past");
                self.now = timer;
                self.run_out();
            }
            self.events += 1;
        }
        true
    }

    /// How many short transfers are over and have not been taken.
    pub fn transfers_waiting(&self) -> usize {
        self.network.traffic.iter().map(Traffic::rows_waiting).sum()
    }

    /// Takes the short transfers that are over, so that they need no more memory here: rows of the table
    /// `transfers`, which at the end holds those that were not taken.
    pub fn take_transfers(&mut self) -> Table {
        report::short_transfers(self)
    }

    /// The share of the simulated time that has passed, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.now.seconds() / self.end.seconds()
    }

    /// The tables and averages of the whole run. Call when [`Simulation::advance`] has returned false.
    pub fn finish(mut self) -> Recording {
        for link in &mut self.network.links {
            link.settle(self.end);
        }
        report::recording(&mut self)
    }

    /// What became of every data packet until now.
    pub fn fates(&self) -> Fates {
        let piped = self.network.piped().filter(Packet::is_live_data).count() as u64;
        let links = self.network.links.iter();
        let inside = links.map(|link| link.inside(Packet::is_live_data)).sum::<usize>() as u64;
        let sent = self.network.flows.iter().filter_map(|flow| flow.sender.as_ref());
        let sent: u64 = sent.map(|sender| sender.measured().total_sent).sum();
        let over: u64 = self.network.traffic.iter().map(|traffic| traffic.tally.sent).sum();
        Fates { sent: sent + over, in_flight: self.fates.in_flight + piped + inside, ..self.fates }
    }

    /// Acknowledgments on their way whose selective blocks are kept, and how many there should be.
    #[doc(hidden)]
    pub fn blocks_kept(&self) -> (usize, usize) {
        let has_blocks = |packet: &Packet| packet.blocks() != sack::NONE;
        let piped = self.network.piped().filter(has_blocks).count();
        let inside: usize = self.network.links.iter().map(|link| link.inside(has_blocks)).sum();
        (self.slab.in_use(), piped + inside)
    }

    #[inline]
    fn handle(&mut self, slot: usize) {
        // Two kinds that are told apart by a comparison: a table of jumps is foreseen less often.
        match self.network.pipes[slot].end {
            Slot::Out(link) => {
                let packet = self.take(slot);
                self.reach_link::<false>(link as usize, packet);
            }
            Slot::Back(link) => {
                let packet = self.take(slot);
                if packet.flags.has(Flags::DESTROYED) {
                    return self.lose(packet);
                }
                self.reach_link::<true>(link as usize, packet);
            }
            _ => self.handle_rare(slot),
        }
    }

    #[inline(never)]
    fn handle_rare(&mut self, slot: usize) {
        match self.network.pipes[slot].end {
            Slot::Home => self.come_home(slot),
            Slot::Wire(link) => self.go_on(slot, link as usize),
            Slot::Departure(link) => self.depart(slot, link as usize),
            Slot::Pace => {
                let flow = self.network.pipes[slot].flow;
                self.network.flows[flow as usize].pace_set = false;
                self.send(flow as usize, self.now);
                self.retire(flow as usize);
            }
            Slot::Out(_) | Slot::Back(_) => unreachable!("handled already"),
        }
    }

    /// A packet reaches the next link of its way.
    #[inline(never)]
    fn go_on(&mut self, slot: usize, link: usize) {
        let wire = &mut self.network.wires[link];
        let (_, packet) = wire.take().expect("a scheduled wire holds a packet");
        if let Some((next, _)) = wire.first() {
            self.heads.add(slot, *next);
        }
        if packet.flags.has(Flags::DESTROYED) {
            return self.lose(packet);
        }
        let way = self.network.flows[packet.flow as usize].way(packet.is_ack());
        let link = way.links[packet.hop as usize];
        if packet.is_ack() {
            self.reach_link::<true>(link, packet);
        } else {
            self.reach_link::<false>(link, packet);
        }
    }

    /// Takes the packet at the end of a pipe.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    fn take(&mut self, slot: usize) -> Packet {
        let pipe = &mut self.network.pipes[slot];
        let record = pipe.records.take().expect("a scheduled pipe holds a packet");
        if let Some(next) = pipe.records.first() {
            self.heads.add(slot, next.time);
        }
        record.packet(pipe.flow, pipe.bytes)
    }

    /// Puts a packet into a pipe of its flow, which it will leave at `time`.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    fn put(&mut self, slot: usize, time: Time, packet: Packet) {
        let pipe = &mut self.network.pipes[slot];
        debug_assert_eq!(pipe.flow, packet.flow, "a pipe is of one flow");
        debug_assert!(
            pipe.records.last().is_none_or(|last| last.time <= time),
            "a pipe keeps its order"
        );
        if pipe.records.is_empty() {
            self.heads.add(slot, time);
        }
        pipe.records.put(packet.record(time));
    }

    /// Puts a packet on the wire of a link, which it will leave at `time`.
    fn put_on_wire(&mut self, link: usize, time: Time, packet: Packet) {
        let slot = self.network.wire_slot(link);
        let wire = &mut self.network.wires[link];
        debug_assert!(wire.last().is_none_or(|(last, _)| *last <= time), "a wire keeps its order");
        if wire.is_empty() {
            self.heads.add(slot, time);
        }
        wire.put((time, packet));
    }

    /// Data or an acknowledgment reaches a link.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    fn reach_link<const ACK: bool>(&mut self, link: usize, mut packet: Packet) {
        match self.network.links[link].arrive(self.now, &mut packet) {
            Arrived::Through(time) => self.cross::<ACK>(link, time, packet),
            Arrived::Waits(None) => {}
            Arrived::Waits(Some(departure)) => {
                self.heads.add(self.network.departure_slot(link), departure);
            }
            Arrived::Dropped => self.discard(packet),
            Arrived::PushedOut => {
                while let Some(packet) = self.network.links[link].take_pushed_out() {
                    self.discard(packet);
                }
            }
            Arrived::Corrupted(time) => self.corrupt(link, time, packet),
        }
    }

    /// A packet leaves a link that is served packet by packet.
    fn depart(&mut self, slot: usize, link: usize) {
        let departed = self.network.links[link].depart(self.now);
        if let Some(next) = departed.next {
            self.heads.add(slot, next);
        }
        if departed.corrupted {
            self.corrupt(link, departed.arrives, departed.packet);
        } else {
            self.cross_either(link, departed.arrives, departed.packet);
        }
    }

    #[inline(never)]
    fn cross_either(&mut self, link: usize, time: Time, packet: Packet) {
        if packet.is_ack() {
            self.cross::<true>(link, time, packet);
        } else {
            self.cross::<false>(link, time, packet);
        }
    }

    /// A packet is destroyed on the wire. It goes on as a shadow to the end of its pipe, so that what it leaves behind
    /// is noticed at the same time whichever way the link is served.
    #[cold]
    fn corrupt(&mut self, link: usize, time: Time, mut packet: Packet) {
        self.fates.corrupted += u64::from(!packet.is_ack());
        packet.flags = packet.flags.with(Flags::DESTROYED);
        self.cross_either(link, time, packet);
    }

    /// A queue has dropped a packet.
    #[cold]
    fn discard(&mut self, packet: Packet) {
        self.fates.dropped += u64::from(!packet.is_ack());
        self.network.note_drop(&packet, self.now);
        self.lose(packet);
    }

    /// A packet is no more.
    #[cold]
    fn lose(&mut self, packet: Packet) {
        let flow = &mut self.network.flows[packet.flow as usize];
        flow.in_transit -= 1;
        self.slab.release(packet.blocks());
        self.retire(packet.flow as usize);
    }

    /// Counts a short flow that is over, and frees its place.
    #[inline]
    fn retire(&mut self, index: usize) {
        if index >= self.network.long && self.network.flows[index].is_over() {
            self.retire_short(index);
        }
    }

    fn retire_short(&mut self, index: usize) {
        let flow = &self.network.flows[index];
        if let Member::Short(group, _) = flow.member {
            self.network.traffic[group].count(flow);
            self.network.vacate(index as u32);
        }
    }

    /// A short flow arrives, and the next one is announced.
    fn arrive(&mut self, group: u32) {
        let now = self.now;
        let traffic = &mut self.network.traffic[group as usize];
        if let Some(next) = traffic.next_arrival(now) {
            self.timers.add(next, Timer::Arrival(group));
        }
        let flow = self.network.add_short(group as usize, now);
        self.heads.grow(self.network.pipes.len());
        self.network.flows[flow as usize].begin(now);
        self.send(flow as usize, self.now);
    }

    /// A packet will be at the far end of a link at `time`.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    fn cross<const ACK: bool>(&mut self, link: usize, time: Time, mut packet: Packet) {
        debug_assert_eq!(packet.is_ack(), ACK);
        packet.hop += 1;
        let quiet = self.quiet();
        let mut flow = &mut self.network.flows[packet.flow as usize];
        let way = flow.way(ACK);
        if (packet.hop as usize) < way.links.len() {
            return self.put_on_wire(link, time, packet);
        }
        let time = time + way.after;
        if ACK {
            if flow.homeward == 0 && time <= quiet && flow.hears_early(time, &packet) {
                return self.reach_sender(time, packet);
            }
            flow.homeward += 1;
            let slot = flow.slots.home;
            return self.put(slot, time, packet);
        }
        let (slot, before) = (flow.slots.back, flow.back.before);
        if packet.flags.has(Flags::DESTROYED) {
            self.put_overdue(packet.flow, time);
            return self.put(slot, time + before, packet);
        }
        if time > self.end {
            self.fates.in_flight += 1;
            return;
        }
        self.fates.delivered += 1;
        if flow.receiver.delayed_until().is_some() {
            self.put_overdue(packet.flow, time);
            flow = &mut self.network.flows[packet.flow as usize];
        }
        if let Some(ack) = flow.receiver.on_data(&packet, time, &mut self.slab) {
            self.put(slot, time + before, ack);
        } else {
            flow.in_transit -= 1;
            if let Some(until) = flow.receiver.delayed_until() {
                self.timers.add(until, Timer::DelayedAck(packet.flow));
            }
        }
    }

    /// An acknowledgment that was kept back until `time` or before leaves.
    #[inline(never)]
    fn put_overdue(&mut self, flow: u32, time: Time) {
        let flow = &mut self.network.flows[flow as usize];
        if let Some((ack, until)) = flow.receiver.overdue(time) {
            flow.in_transit += 1;
            let (slot, before) = (flow.slots.back, flow.back.before);
            self.put(slot, until + before, ack);
        }
    }

    /// An acknowledgment that was not told early reaches its sender. Those behind it may be told then.
    #[inline(never)]
    fn come_home(&mut self, slot: usize) {
        let mut time = self.now;
        let quiet = self.quiet();
        loop {
            let pipe = &mut self.network.pipes[slot];
            let (flow, bytes) = (pipe.flow, pipe.bytes);
            let record = pipe.records.take().expect("a scheduled pipe holds a packet");
            let packet = record.packet(flow, bytes);
            self.network.flows[flow as usize].homeward -= 1;
            if packet.flags.has(Flags::DESTROYED) {
                self.lose(packet);
            } else {
                self.reach_sender(time, packet);
            }
            let Some(next) = self.network.pipes[slot].records.first() else { return };
            let ack = next.packet(flow, bytes);
            time = next.time;
            if time > quiet || !self.network.flows[flow as usize].hears_early(time, &ack) {
                return self.heads.add(slot, time);
            }
        }
    }

    /// Until then a sender is a function of its acknowledgments and its own timers.
    fn quiet(&self) -> Time {
        self.timers.next_edge().min(self.early_until)
    }

    /// An acknowledgment reaches its sender at `time`, which may lie ahead.
    #[inline]
    fn reach_sender(&mut self, time: Time, ack: Packet) {
        let index = ack.flow as usize;
        let flow = &mut self.network.flows[index];
        flow.in_transit -= 1;
        let sender = flow.sender.as_mut().expect("only what was sent is acknowledged");
        let blocks = (ack.detail != sack::NONE).then(|| self.slab.take(ack.detail));
        sender.on_ack(time, &ack, blocks.as_ref());
        self.send(index, time);
        self.retire(index);
    }

    /// Lets a flow send what it may, and keeps its timers.
    #[inline]
    fn send(&mut self, index: usize, now: Time) {
        loop {
            let flow = &mut self.network.flows[index];
            let Some(packet) = flow.sender.as_mut().and_then(|sender| sender.poll(now)) else {
                break;
            };
            let time = flow.leaves_access(now, &packet) + flow.out.before;
            let slot = flow.slots.out;
            flow.in_transit += 1;
            self.put(slot, time, packet);
        }
        let Flow { sender: Some(sender), timer_at, slots, pace_set, .. } =
            &mut self.network.flows[index]
        else {
            return;
        };
        if sender.deadline() < *timer_at {
            *timer_at = sender.deadline();
            self.timers.add(*timer_at, Timer::Retransmission(index as u32));
        }
        if let Some(until) = sender.pace_deadline().filter(|_| !*pace_set) {
            *pace_set = true;
            self.heads.add(slots.pace, until);
        }
    }

    /// The next timer has run out.
    fn run_out(&mut self) {
        let (_, timer) = self.timers.pop().expect("a timer was due");
        match timer {
            Timer::Start(flow) => {
                self.network.flows[flow as usize].begin(self.now);
                self.send(flow as usize, self.now);
            }
            Timer::Arrival(group) => self.arrive(group),
            Timer::Stop(flow) => {
                if let Some(sender) = &mut self.network.flows[flow as usize].sender {
                    sender.stop();
                }
            }
            Timer::Retransmission(flow) => self.retransmission_timer(flow),
            Timer::DelayedAck(flow) => {
                let flow = &mut self.network.flows[flow as usize];
                if let Some(ack) = flow.receiver.on_delayed_ack(self.now) {
                    let (slot, time) = (flow.slots.back, self.now + flow.back.before);
                    flow.in_transit += 1;
                    self.put(slot, time, ack);
                }
            }
            Timer::Warmup => {
                for sender in self.network.flows.iter_mut().filter_map(|flow| flow.sender.as_mut())
                {
                    sender.begin_measuring(self.now);
                }
            }
            Timer::Sample => self.sample(),
        }
    }

    /// The retransmission timer is not moved at every acknowledgment: it runs out, looks at the deadline, and is
    /// set again if that lies ahead.
    fn retransmission_timer(&mut self, index: u32) {
        let flow = &mut self.network.flows[index as usize];
        let Some(sender) = &mut flow.sender else { return };
        if flow.timer_at != self.now {
            return;
        }
        flow.timer_at = Time::NEVER;
        let due = sender.deadline() <= self.now;
        if due {
            sender.on_timeout(self.now);
        } else if sender.deadline() != Time::NEVER {
            flow.timer_at = sender.deadline();
            self.timers.add(flow.timer_at, Timer::Retransmission(index));
        }
        if due {
            self.send(index as usize, self.now);
        }
    }

    /// Keeps a row of every time series.
    fn sample(&mut self) {
        let Some(series) = &mut self.series else { return };
        for link in &mut self.network.links {
            link.settle(self.now);
        }
        for (index, flow) in self.network.flows[..self.network.long].iter_mut().enumerate() {
            let received = flow.receiver.received_mut().at_edge();
            if let Some(sender) = &flow.sender {
                series.read(self.now, index, flow, sender, received, self.scenario.sample);
            }
        }
        self.timers.add(self.now + self.scenario.sample, Timer::Sample);
    }
}
