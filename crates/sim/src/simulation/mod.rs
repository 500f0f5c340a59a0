//! The event loop: packets through pipes and links, timers, and the two ends of each flow.
//!
//! A data packet costs two events: it reaches its link, and its acknowledgment reaches the link on the way back. A link
//! that serves ahead knows on arrival when the packet will be at the far end. A receiver is a function of its arrivals,
//! and so is a sender as long as no timer intervenes, so neither needs events of its own. Where the order in which
//! acknowledgments reach their link is known in advance, that link needs none either, and a single event remains. Where
//! many flows mix, a link is given everything that reaches it within the shortest delay of the network at once
//! ([`turns`]).

mod ahead;
mod clock;
mod outside;
mod turns;
mod way;

use longfat_scenario::Scenario;
use longfat_units::{Span, Time};

use crate::application::Order;
use crate::cargo::Hold;
use crate::events::{Timer, Timers, Wheel};
use crate::feed;
use crate::network::{self, Network, Wire};
use crate::options::Options;
use crate::packet::{Flags, Packet};
use crate::pipe::{Pipes, Slot};
use crate::recording::{Recording, Table};
use crate::report::{self, ReportSource};
use crate::ring::Spare;
use crate::sender::Tracing;
use crate::series::FlowSeries;
use crate::trace::{Stream, TraceEvent};
use crate::traffic::Traffic;
use turns::Turns;

pub use outside::FlowState;

/// One simulation, from its first event to its last.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) scenario: Scenario,
    pub(crate) network: Network,
    heads: Wheel,
    timers: Timers,
    pub(crate) hold: Hold,
    pub(crate) now: Time,
    pub(crate) end: Time,
    /// Acknowledgments that arrive later than this are never handed to a sender ahead of time.
    early_until: Time,
    pub(crate) events: u64,
    pub(crate) series: Option<FlowSeries>,
    pub(crate) fates: Fates,
    /// What an application wants done; empty in between.
    orders: Vec<Order>,
    /// What is asked for ahead, in large networks.
    lookout: ahead::Lookout,
    /// Where links are served in turns.
    turns: Option<Box<Turns>>,
}

/// What became of every data packet sent: for tests and for `longfat`'s own checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fates {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Arrived at a receiver.
    pub delivered: u64,
    /// Dropped by a queue.
    pub dropped: u64,
    /// Destroyed on a wire.
    pub corrupted: u64,
    /// Copies that wires have made: these too are delivered, dropped, corrupted or in flight.
    pub duplicated: u64,
    /// Still in pipes and queues, or due after the end of the run.
    pub in_flight: u64,
}

impl Simulation {
    /// A host that takes transfers during the run waits until this many have finished: few large tables, little memory.
    pub const TRANSFERS_AT_ONCE: usize = 100_000;

    /// Builds the network of `scenario`. With `record` the time series are kept; nothing else changes.
    pub fn new(scenario: &Scenario, record: bool) -> Self {
        Self::with_options(scenario, Options::default().record(record))
    }

    /// Builds the network of `scenario`, to be simulated with `options`.
    pub fn with_options(scenario: &Scenario, options: Options) -> Self {
        let mut timers = Timers::default();
        let mut network = network::build(scenario, options);
        if !options.stepwise {
            feed::tell_links_early(&mut network);
        }
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
        for (index, application) in network.applications.iter().enumerate() {
            timers.add(application.first(), Timer::Application(index as u32));
        }
        if scenario.warmup > Span::ZERO {
            timers.add(Time::ZERO + scenario.warmup, Timer::Warmup);
        }
        let lookahead = network.lookahead().unwrap_or_default();
        network.rest = lookahead.min(turns::LONGEST);
        let plan = if options.stepwise || options.in_order {
            None
        } else {
            turns::Plan::of(&network, lookahead, options.record.then_some(scenario.sample))
        };
        network.lay_pipes(plan.as_ref().and_then(turns::Plan::calendar));
        network.pipes.places.spare = Spare::new(network.is_large());
        let turns = plan.map(|plan| Box::new(Turns::new(&mut network, &plan)));
        let series = options.record.then(|| {
            timers.add(Time::ZERO + scenario.sample, Timer::Sample);
            FlowSeries::new(network.long, scenario.observe)
        });
        let busy = if turns.is_some() { network.flows.len() } else { network.pipes.len() };
        Self {
            heads: Wheel::new(network.pipes.len(), busy, network.gap),
            timers,
            hold: Hold::default(),
            now: Time::ZERO,
            end: Time::ZERO + scenario.duration,
            early_until: Time::ZERO + if options.stepwise { Span::ZERO } else { scenario.duration },
            events: 0,
            series,
            fates: Fates::default(),
            orders: Vec::new(),
            lookout: ahead::Lookout::default(),
            turns,
            scenario: scenario.clone(),
            network,
        }
    }

    /// Handles `events` events, more where a link is given all that reaches it within some milliseconds
    /// ([`Options::in_order`]), and fewer at the end. Returns true while more remain.
    pub fn advance(&mut self, events: u64) -> bool {
        if let Some(mut turns) = self.turns.take() {
            let stop = self.events.saturating_add(events);
            let mut more = true;
            while more && self.events < stop {
                more = self.take_turn(&mut turns, self.end);
            }
            self.turns = Some(turns);
            return more;
        }
        if !self.network.is_large() {
            return self.handle_events(events);
        }
        (0..events).all(|_| {
            self.read_ahead();
            self.handle_events(1)
        })
    }

    /// The same without reading ahead. There is one copy of it, since two keep each from being inlined further.
    #[inline(never)]
    fn handle_events(&mut self, events: u64) -> bool {
        let stop = self.events.saturating_add(events);
        while self.events < stop {
            if !self.handle_next(self.end, self.end) {
                return false;
            }
        }
        true
    }

    /// Handles the next event if that is at `packets` or before, or else the next timer if that runs out at `timers` or
    /// before. False if neither is.
    #[expect(clippy::inline_always, reason = "in the loop of events")]
    #[inline(always)]
    fn handle_next(&mut self, packets: Time, timers: Time) -> bool {
        // At the same instant packets come first: an acknowledgment that arrives just as the retransmission timer
        // runs out still counts.
        if let Some(slot) = self.heads.take_until(self.timers.packets_first().min(packets)) {
            debug_assert!(self.heads.now() >= self.now, "an event lies in the past");
            self.now = self.heads.now();
            self.handle(slot);
        } else {
            let timer = self.timers.next();
            if timer > timers {
                return false;
            }
            debug_assert!(timer >= self.now, "a timer lies in the past");
            self.now = timer;
            self.run_out();
        }
        self.events += 1;
        true
    }

    /// The same outside of that loop, which then keeps copies of its own of what it calls.
    #[inline(never)]
    fn handle_one(&mut self, packets: Time, timers: Time) -> bool {
        self.handle_next(packets, timers)
    }

    /// How many short transfers have finished but not been taken.
    pub fn transfers_waiting(&self) -> usize {
        self.network.traffic.iter().map(Traffic::rows_waiting).sum()
    }

    /// Takes the short transfers that have finished, which frees their memory here: rows of the table `transfers`,
    /// which at the end holds only those that were never taken.
    pub fn take_transfers(&mut self) -> Table {
        self.network.vacate(self.now);
        report::short_transfers(&mut self.told(None))
    }

    /// The time series so far, for a host that draws them while the run goes on: the tables `flow_series` and
    /// `link_series` up to the last row that is complete. It copies them, and changes nothing.
    ///
    /// One number of it is not final: what a link that sends very large packets has carried, which later rows still
    /// move into earlier ones.
    pub fn series(&mut self) -> [Table; 2] {
        let series = self.series.clone();
        report::series(&mut self.told(series))
    }

    /// Traces the flows that `chosen` says, from when they begin; call it before anything has happened. It is asked
    /// about each long flow and each one that carries requests, and of each group of short flows about the first one,
    /// which stands for all. With `detail`, what became of each packet is told too, and the numbers of its sender.
    ///
    /// What is traced takes memory until it is taken.
    pub fn trace(&mut self, detail: bool, chosen: impl Fn(Stream) -> bool) {
        debug_assert!(self.events == 0, "what has happened is not traced");
        let tracing = if detail { Tracing::InDetail } else { Tracing::Packets };
        for flow in &mut self.network.flows {
            if chosen(Stream::of(flow.member)) {
                flow.source.set_tracing(tracing);
            }
        }
        for (index, traffic) in self.network.traffic.iter_mut().enumerate() {
            if chosen(Stream::Short(index, 0)) {
                traffic.set_tracing(tracing);
            }
        }
    }

    /// Takes what traced flows have done up to now, in the order of time; or all that is known of it, once the run is
    /// `over`, since some of it may be known early.
    pub fn take_trace(&mut self, over: bool) -> Vec<TraceEvent> {
        self.network.take_trace(if over { Time::NEVER } else { self.now })
    }

    /// Traces nothing from now on, and forgets what was not taken.
    pub fn stop_tracing(&mut self) {
        for flow in &mut self.network.flows {
            flow.source.set_tracing(Tracing::Off);
        }
        for traffic in &mut self.network.traffic {
            traffic.set_tracing(Tracing::Off);
        }
        self.network.traced = Vec::new();
    }

    /// The share of the simulated time that has elapsed, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.now.seconds() / self.end.seconds()
    }

    /// The tables and averages of the whole run. Call it once [`Simulation::advance`] has returned false.
    pub fn finish(mut self) -> Recording {
        for port in &mut self.network.ports {
            port.settle(self.end);
        }
        for application in &mut self.network.applications {
            let audience = self.network.audiences[application.group].as_mut();
            application.finish(self.end, audience.expect("its group has one"));
        }
        self.network.vacate(Time::NEVER);
        let series = self.series.take();
        // What is on its way is reported nowhere, and its memory is that of the report.
        (self.network.pipes, self.heads) = (Pipes::default(), Wheel::new(0, 0, Span(1)));
        (self.timers, self.turns) = (Timers::default(), None);
        report::recording(&mut self.told(series))
    }

    /// What there is to report, with these series.
    fn told(&mut self, series: Option<FlowSeries>) -> ReportSource<'_> {
        let Self { scenario, network, events, end, .. } = self;
        ReportSource { scenario, network, series, events: *events, end: *end }
    }

    /// What has become of every data packet so far.
    pub fn fates(&self) -> Fates {
        let piped = self.network.piped().filter(Packet::is_live_data).count() as u64;
        let ports = self.network.ports.iter();
        let inside = ports.map(|port| port.inside(Packet::is_live_data)).sum::<usize>() as u64;
        let measured = self.network.flows.iter().filter_map(|flow| flow.source.measured());
        let sent: u64 = measured.map(|measured| measured.total_sent).sum();
        let over: u64 = self.network.traffic.iter().map(|traffic| traffic.tally.sent).sum();
        Fates { sent: sent + over, in_flight: self.fates.in_flight + piped + inside, ..self.fates }
    }

    /// Are links given all that reaches them within some milliseconds at once?
    #[doc(hidden)]
    pub fn takes_turns(&self) -> bool {
        self.turns.is_some()
    }

    /// How many cargoes the hold has, and how many packets refer to one, in transit or delayed at a receiver.
    #[doc(hidden)]
    pub fn cargo_kept(&self) -> (usize, usize) {
        let has_cargo = |packet: &Packet| packet.cargo().is_some();
        let kept_back = self.network.flows.iter().filter_map(|flow| flow.receiver.kept_back());
        let travelling = self.network.piped().chain(kept_back).filter(has_cargo).count();
        let inside: usize = self.network.ports.iter().map(|port| port.inside(has_cargo)).sum();
        (self.hold.in_use(), travelling + inside)
    }

    #[expect(clippy::inline_always, reason = "in the loop of events")]
    #[inline(always)]
    fn handle(&mut self, slot: usize) {
        // The two common kinds are told apart by comparison, which is predicted better than a jump table.
        match self.network.pipes[slot].end {
            Slot::Out(port) => {
                let packet = self.take(slot);
                self.reach_port::<false>(self.now, port as usize, packet);
            }
            Slot::Back(port) => {
                let packet = self.take(slot);
                if packet.flags.has(Flags::DESTROYED) {
                    return self.lose(self.now, packet);
                }
                self.reach_port::<true>(self.now, port as usize, packet);
            }
            _ => self.handle_rare(slot),
        }
    }

    #[inline(never)]
    fn handle_rare(&mut self, slot: usize) {
        match self.network.pipes[slot].end {
            Slot::Home => self.come_home(slot),
            Slot::Wire(port) => self.go_on(slot, port as usize),
            Slot::Departure(port) => self.depart(slot, port as usize),
            Slot::Release(port) => self.release(port as usize),
            Slot::Pace => {
                let flow = self.network.pipes[slot].flow;
                self.pace(flow as usize);
            }
            Slot::Out(_) | Slot::Back(_) => unreachable!("handled already"),
            Slot::Page(_) => unreachable!("it has no event"),
        }
    }

    /// A packet reaches the next link on its way.
    #[inline(never)]
    fn go_on(&mut self, slot: usize, port: usize) {
        let wire = &mut self.network.wires[port].packets;
        let (_, packet) = wire.take().expect("a scheduled wire holds a packet");
        if let Some((next, _)) = wire.first() {
            self.heads.add(slot, *next);
        } else {
            wire.rewind();
        }
        if packet.flags.has(Flags::DESTROYED) {
            return self.lose(self.now, packet);
        }
        let way = self.network.flows[packet.flow as usize].way(packet.is_ack());
        let port = way.ports[packet.hop as usize];
        if packet.is_ack() {
            self.reach_port::<true>(self.now, port, packet);
        } else {
            self.reach_port::<false>(self.now, port, packet);
        }
    }

    /// A packet reaches the end of a wire on which packets may pass one another.
    fn come_late(&mut self, port: usize) {
        let first = self.network.wires[port].packets.take();
        let (time, mut packet) = first.expect("each packet on such a wire has a timer");
        debug_assert_eq!(time, self.now, "the first packet has the first timer");
        if packet.flags.has(Flags::DESTROYED) {
            return self.lose(self.now, packet);
        }
        let way = self.network.flows[packet.flow as usize].way(packet.is_ack());
        let Some(&next) = way.ports.get(packet.hop as usize + 1) else {
            return self.cross_either(port, time, packet);
        };
        packet.hop += 1;
        if packet.is_ack() {
            self.reach_port::<true>(time, next, packet);
        } else {
            self.reach_port::<false>(time, next, packet);
        }
    }

    /// Takes the packet at the end of a pipe.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    fn take(&mut self, slot: usize) -> Packet {
        self.network.pipes.take(slot, &mut self.heads)
    }

    /// Puts a packet into a pipe of its flow, which it will leave at `time`.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    fn put(&mut self, slot: usize, time: Time, packet: Packet) {
        self.network.pipes.put(slot, time, packet, &mut self.heads);
    }

    /// Puts a packet on the wire of a link, which it will leave at `time`.
    fn put_on_wire(&mut self, port: usize, time: Time, packet: Packet) {
        let Network { wires, pipes, .. } = &mut self.network;
        let Wire { slot, packets } = &mut wires[port];
        debug_assert!(
            packets.last().is_none_or(|(last, _)| *last <= time),
            "a wire keeps its order"
        );
        if pipes[*slot].has_event && packets.is_empty() {
            self.heads.add(*slot, time);
        }
        packets.put((time, packet));
    }
}
