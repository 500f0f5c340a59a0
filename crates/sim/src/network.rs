//! The network of a scenario: links, flows, and the pipes between them.

use longfat_control::{CongestionControl, Start};
use longfat_queue::Setting;
use longfat_units::{Bytes, Rate, Segments, Span, Time};

use crate::chance::{self, Rare};
use crate::link::{self, Gauge, Link};
use crate::packet::Packet;
use crate::receiver::{Intervals, Receiver};
use crate::scenario::{Direction, FlowGroup, Recovery, Scenario};
use crate::sender::{self, Sender};
use crate::simulation::{Options, Pipe, Slot};

/// Everything that packets move through. Direction `2·i` is link `i` forward, `2·i + 1` its reverse.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    /// What each slot of the wheel stands for; pipes are indexed by slot.
    pub(crate) slots: Vec<Slot>,
    pub(crate) pipes: Vec<Pipe>,
    departures: Vec<usize>,
    wires: Vec<usize>,
    /// Mean time between events when every link is busy with its largest packets.
    pub(crate) gap: Span,
}

/// One flow: both ends, and the ways between them.
#[derive(Debug)]
pub(crate) struct Flow {
    /// `None` before the flow starts.
    pub(crate) sender: Option<Sender>,
    pub(crate) receiver: Receiver,
    pub(crate) out: Way,
    pub(crate) back: Way,
    /// The pipe from the last link of the way back to the sender.
    pub(crate) home_slot: usize,
    pub(crate) pace_slot: usize,
    /// Is the event of `pace_slot` scheduled?
    pub(crate) pace_set: bool,
    /// The retransmission timer that is set; stale ones are known by their time.
    pub(crate) timer_at: Time,
    access: Option<Access>,
    pub(crate) group: usize,
    pub(crate) index_in_group: u64,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    pub(crate) rtt: Span,
    pub(crate) packet: Bytes,
    waiting: Option<(sender::Settings, Box<dyn CongestionControl>)>,
}

/// The way of a packet from one end to the other.
#[derive(Debug)]
pub(crate) struct Way {
    /// Links in the order of travel.
    pub(crate) links: Vec<usize>,
    /// The pipe to the first link, and its delay.
    pub(crate) slot: usize,
    pub(crate) before: Span,
    /// Delay from the last link to the end.
    pub(crate) after: Span,
}

/// The sender's own link: an unbounded queue.
#[derive(Debug)]
struct Access {
    rate: Rate,
    free_at: Time,
}

impl Flow {
    /// The way that this packet takes.
    #[inline]
    pub(crate) fn way(&self, packet: &Packet) -> &Way {
        if packet.is_ack() { &self.back } else { &self.out }
    }

    /// The flow starts now.
    pub(crate) fn begin(&mut self, now: Time) {
        if let Some((settings, control)) = self.waiting.take() {
            self.sender = Some(Sender::new(settings, control, now));
        }
    }

    /// When a packet sent now has left the sender's own link.
    #[inline]
    pub(crate) fn leaves_access(&mut self, now: Time, packet: &Packet) -> Time {
        match &mut self.access {
            None => now,
            Some(access) => {
                access.free_at = access.free_at.max(now) + access.rate.time_for(packet.size());
                access.free_at
            }
        }
    }
}

impl Network {
    /// The slot in which departures from a link are scheduled.
    pub(crate) fn departure_slot(&self, link: usize) -> usize {
        self.departures[link]
    }

    /// The pipe from a link to the link after it.
    pub(crate) fn wire_slot(&self, link: usize) -> usize {
        self.wires[link]
    }

    fn add_slot(&mut self, slot: Slot) -> usize {
        self.slots.push(slot);
        self.pipes.push(Pipe::default());
        self.slots.len() - 1
    }
}

/// Builds the network of `scenario`.
pub(crate) fn build(scenario: &Scenario, options: Options) -> Network {
    let mut network = Network {
        links: Vec::new(),
        flows: Vec::new(),
        slots: Vec::new(),
        pipes: Vec::new(),
        departures: Vec::new(),
        wires: Vec::new(),
        gap: gap(scenario),
    };
    for (index, link) in scenario.links.iter().enumerate() {
        let packet = scenario.largest_packet(index);
        for (direction, name) in [(&link.forward, "forward"), (&link.reverse, "reverse")] {
            network.links.push(build_link(scenario, direction, &link.name, name, packet, options));
        }
    }
    // Departures first, then wires, then the flows: at the same instant a transmitter is free before a packet asks.
    for link in 0..network.links.len() {
        let slot = if network.links[link].has_departures() {
            network.add_slot(Slot::Departure(link as u32))
        } else {
            usize::MAX
        };
        network.departures.push(slot);
    }
    for _ in 0..network.links.len() {
        let slot = network.add_slot(Slot::Wire);
        network.wires.push(slot);
    }
    for (group_index, group) in scenario.flows.iter().enumerate() {
        for index in 0..group.count {
            add_flow(&mut network, scenario, group, group_index, index, options);
        }
    }
    network
}

/// Each packet that a link passes makes about one event and a half, counting its acknowledgment.
fn gap(scenario: &Scenario) -> Span {
    let directions = scenario.links.iter().enumerate().flat_map(|(index, link)| {
        let packet = scenario.largest_packet(index);
        [&link.forward, &link.reverse].map(|direction| 1.0 / direction.rate.time_for(packet).seconds())
    });
    Span::from_seconds_f64(1.0 / (1.5 * directions.sum::<f64>()))
}

fn build_link(
    scenario: &Scenario,
    direction: &Direction,
    name: &str,
    direction_name: &str,
    packet: Bytes,
    options: Options,
) -> Link {
    let discipline =
        longfat_queue::find(direction.queue.kind).expect("a resolved scenario names known queues");
    let capacity = direction.buffer;
    let setting = Setting { rate: direction.rate, packet, capacity };
    let component = |part: &str| chance::stream(scenario.seed, &format!("link/{name}/{direction_name}/{part}"));
    let measured = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let series = options.record.then_some(scenario.sample);
    Link::new(link::Settings {
        rate: direction.rate,
        delay: direction.delay,
        capacity,
        queue: (discipline.build)(&direction.queue.settings, &setting),
        corruption: Rare::new(direction.loss, component("corruption")),
        chance: component("queue"),
        stepwise: options.stepwise,
        gauge: Gauge::new(direction.rate, capacity, measured, series),
    })
}

fn add_flow(
    network: &mut Network,
    scenario: &Scenario,
    group: &FlowGroup,
    group_index: usize,
    index: u64,
    options: Options,
) {
    let draw = |what: &str| {
        let mut stream = chance::stream(scenario.seed, &format!("flow/{}/{index}/{what}", group.name));
        move || chance::uniform(&mut stream)
    };
    let rtt = group.rtt.get(index, group.count, draw("rtt"));
    let start = Time::ZERO + group.start.get(index, group.count, draw("start"));
    let stop = group.stop.map(|stop| Time::ZERO + stop);
    let transport = &group.transport;

    // A path in the order of travel; acknowledgments cross the other direction of each link, from the end.
    let side = usize::from(group.reverse);
    let out: Vec<usize> = group.path.iter().map(|link| 2 * link + side).collect();
    let back: Vec<usize> = out.iter().rev().map(|link| link ^ 1).collect();
    let delay = |links: &[usize]| {
        links.iter().fold(Span::ZERO, |sum, &link| sum + network.links[link].delay())
    };
    // What the links leave of the round trip lies in four equal parts before and after them, out and back.
    let rest = rtt - (delay(&out) + delay(&back));
    let part = rest / 4;
    let last_part = rest - part * 3;

    let segments = group.size.map(|size| size.0.div_ceil(transport.packet.0));
    let active_until = stop.unwrap_or(Time::NEVER).min(Time::ZERO + scenario.duration);
    let intervals = Intervals {
        measured_from: start.max(Time::ZERO + scenario.warmup),
        measured_until: active_until,
        series: options.record.then(|| (Time::ZERO + scenario.sample, scenario.sample)),
    };
    let settings = sender::Settings {
        flow: network.flows.len() as u32,
        bytes: transport.packet.0 as u32,
        segments,
        max_window: transport.max_window,
        recovery: transport.recovery,
        rto_min: transport.rto_min,
        ecn: transport.ecn,
        propagation: rtt,
    };
    let controller = longfat_control::find(group.control.kind).expect("a resolved scenario names known controllers");
    let begin = Start {
        window: Segments(transport.initial_window),
        threshold: transport.initial_threshold.map(Segments),
        slow_start: transport.slow_start,
    };
    let control = (controller.build)(&group.control.settings, &begin);
    let selective = transport.recovery == Recovery::Sack;
    let out_slot = network.add_slot(Slot::Outbound(out[0] as u32));
    let back_slot = network.add_slot(Slot::Outbound(back[0] as u32));
    let home_slot = network.add_slot(Slot::Home);
    let pace_slot = network.add_slot(Slot::Pace(settings.flow));
    network.flows.push(Flow {
        sender: None,
        receiver: Receiver::new(segments, selective, transport.delayed_ack, &intervals),
        out: Way { links: out, slot: out_slot, before: part, after: part },
        back: Way { links: back, slot: back_slot, before: part, after: last_part },
        home_slot,
        pace_slot,
        pace_set: false,
        timer_at: Time::NEVER,
        access: transport.access.map(|rate| Access { rate, free_at: Time::ZERO }),
        group: group_index,
        index_in_group: index,
        start,
        stop,
        rtt,
        packet: transport.packet,
        waiting: Some((settings, control)),
    });
}
