//! The network of a scenario: links, flows, and the pipes between them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use longfat_scenario::{FlowGroup, Hop, Link, Scenario, chance};
use longfat_units::{Bytes, Span, Time};
use rand_core::Rng as _;

use crate::application::{Application, ApplicationConfig, Audience, request_packets};
use crate::explicit::{Marker, Negotiation};
use crate::flow::{Flow, FlowConfig, Route, Source};
use crate::member::{Hosts, Identity, Member};
use crate::options::Options;
use crate::packet::{ACK_BYTES, Packet};
use crate::pipe::{Pipe, Pipes, Slot, Slots};
use crate::port::{self, Gauge, Port, Rare, Variation, VaryingLine};
use crate::receiver::Intervals;
use crate::ring::Ring;
use crate::sender::Tracing;
use crate::trace::TraceEvent;
use crate::traffic::Traffic;

/// Everything that packets move through. Port `2·i` is link `i` forward, `2·i + 1` its reverse.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) ports: Vec<Port>,
    /// The long flows, those that carry requests to them, then the live short ones; the places of finished short flows
    /// are reused.
    pub(crate) flows: Vec<Flow>,
    /// What queues know each flow by.
    pub(crate) identities: Vec<Identity>,
    hosts: Hosts,
    /// How many of `flows` are long.
    pub(crate) long: usize,
    /// Short flows that are over, by when and by place, until they are counted and their places are free.
    over: BinaryHeap<Reverse<(Time, u32)>>,
    /// How long that takes, so that who has handled an instant need not know yet what ends shortly before it.
    pub(crate) rest: Span,
    /// The places of finished short flows.
    free: Vec<u32>,
    /// What traced flows have done, of those that are gone, and what was taken from the others but is not due yet.
    pub(crate) traced: Vec<TraceEvent>,
    pub(crate) traffic: Vec<Traffic>,
    pub(crate) applications: Vec<Application>,
    /// For each group of long flows, what its applications see, if it has any.
    pub(crate) audiences: Vec<Option<Audience>>,
    /// For each slot of the wheel, what happens there and the pipe that ends there.
    pub(crate) pipes: Pipes,
    departures: Vec<usize>,
    releases: Vec<usize>,
    /// For each port, its wire to the next one.
    pub(crate) wires: Vec<Wire>,
    /// When the measured interval begins.
    measured_from: Time,
    /// Mean time between events when every link is busy with its largest packets.
    pub(crate) gap: Span,
}

/// From a link to the one after it.
#[derive(Debug)]
pub(crate) struct Wire {
    /// The slot of its head.
    pub(crate) slot: usize,
    /// The packets in transit, of any flow, with the times at which they arrive, in order.
    pub(crate) packets: Ring<(Time, Packet)>,
}

impl Network {
    /// The slot in which departures from a link are scheduled.
    pub(crate) fn departure_slot(&self, port: usize) -> usize {
        self.departures[port]
    }

    /// The slot in which a link lets go the acknowledgments that it holds.
    pub(crate) fn release_slot(&self, port: usize) -> usize {
        self.releases[port]
    }

    /// The long flows.
    pub(crate) fn long_flows(&self) -> &[Flow] {
        &self.flows[..self.long]
    }

    /// The flows that carry requests.
    pub(crate) fn request_flows(&self) -> impl Iterator<Item = &Flow> {
        let others = self.flows[self.long..].iter();
        others.filter(|flow| matches!(flow.member, Member::Requests(..)))
    }

    /// Packets in the pipes of the flows and on wires.
    pub(crate) fn piped(&self) -> impl Iterator<Item = Packet> {
        let wired =
            self.wires.iter().flat_map(|wire| wire.packets.iter().map(|(_, packet)| *packet));
        self.pipes
            .iter()
            .flat_map(Pipe::packets)
            .chain(wired)
            .chain(self.pipes.places.calendar.packets())
    }

    fn add_flow(&mut self, flow: Flow) {
        self.identities.push(self.hosts.identity(flow.member));
        self.flows.push(flow);
    }

    /// Gives the flows their pipes. With a `slice`, what is on its way to a first link goes to a calendar, whose slices take
    /// 2^`slice` ps, instead of a pipe of its own.
    pub(crate) fn lay_pipes(&mut self, slice: Option<u32>) {
        if let Some(slice) = slice {
            self.pipes.keep_calendar(slice, self.ports.len());
        }
        self.pipes.make_room(self.flows.len());
        for (index, flow) in self.flows.iter_mut().enumerate() {
            flow.connect(self.pipes.add_flow(flow.firsts(), index as u32, flow.packet));
        }
    }

    /// A path in the order of travel; acknowledgments cross the links in reverse order and in the other direction.
    pub(crate) fn route(&self, path: &[Hop]) -> Route {
        let out: Vec<usize> =
            path.iter().map(|hop| 2 * hop.link + usize::from(hop.reverse)).collect();
        let back: Vec<usize> = out.iter().rev().map(|port| port ^ 1).collect();
        self.route_of((out.into(), back.into()))
    }

    /// The route along these ports, out and back.
    fn route_of(&self, (out, back): (Arc<[usize]>, Arc<[usize]>)) -> Route {
        let sum = |span: fn(&Port) -> Span| {
            let both = out.iter().chain(&*back);
            both.fold(Span::ZERO, |sum, &port| sum + span(&self.ports[port]))
        };
        let (delay, shortening) = (sum(Port::delay), sum(Port::shortening));
        let shifts = out.iter().chain(&*back).any(|&port| self.ports[port].shifts());
        let unaware = out.iter().copied().find(|&port| !self.ports[port].has_marker());
        let acks_pass = back.iter().any(|&port| self.ports[port].reorders());
        Route { out, back, delay, shortening, shifts, acks_pass, unaware }
    }

    /// Adds a short flow of a traffic group, in the place of a finished one if there is any. Returns its index.
    pub(crate) fn add_short(&mut self, group: usize, now: Time) -> u32 {
        self.vacate(now);
        let free = self.free.pop();
        let index = free.unwrap_or(self.flows.len() as u32);
        let mut flow = self.traffic[group].arrive(index, &self.ports, now);
        if free.is_none() {
            flow.connect(self.pipes.add_flow(flow.firsts(), index, flow.packet));
            self.add_flow(flow);
            return index;
        }
        let slots = self.flows[index as usize].slots;
        flow.connect(self.pipes.lead_flow(slots, flow.firsts(), flow.packet));
        self.identities[index as usize] = self.hosts.identity(flow.member);
        self.flows[index as usize] = flow;
        index
    }

    /// A queue has dropped a packet.
    pub(crate) fn note_drop(&mut self, packet: &Packet, now: Time) {
        if packet.is_ack() || now < self.measured_from {
            return;
        }
        let flow = &mut self.flows[packet.flow as usize];
        match flow.member {
            Member::Long(..) | Member::Requests(..) => flow.dropped += 1,
            Member::Short(group, _) => self.traffic[group].note_drop(),
        }
    }

    /// The shortest time in which a packet that reaches a link has an effect elsewhere: at an end, once it has crossed the
    /// link and the way after it, or at the next link. `None` if there are no flows.
    pub(crate) fn lookahead(&self) -> Option<Span> {
        let long = self.flows.iter().flat_map(|flow| [&flow.out, &flow.back]);
        let long = long.map(|way| (&*way.ports, way.after));
        let ways = long.chain(self.traffic.iter().flat_map(Traffic::shortest_ways));
        let effects = ways.flat_map(|(ports, after)| {
            let (last, others) = ports.split_last().expect("a path has a link");
            let others = others.iter().map(|&port| self.ports[port].delay());
            others.chain([self.ports[*last].delay() + after])
        });
        effects.min()
    }

    /// A short flow is over: at `at` it had something on its way for the last time.
    pub(crate) fn finish(&mut self, flow: u32, at: Time) {
        let Flow { slots: Slots { out, back, home, .. }, source, .. } =
            &mut self.flows[flow as usize];
        for slot in [*out, *back, *home] {
            self.pipes[slot].rest();
        }
        if let Some(traced) = source.traced() {
            traced.end(at);
            self.traced.append(traced.events());
        }
        self.over.push(Reverse((at, flow)));
    }

    /// Counts the short flows that are over and have rested until `now`, in the order in which they ended, and frees their
    /// places for others.
    pub(crate) fn vacate(&mut self, now: Time) {
        while let Some(Reverse((at, flow))) = self.over.peek().copied()
            && at.saturating_add(self.rest) <= now
        {
            self.over.pop();
            let place = &mut self.flows[flow as usize];
            if let Member::Short(group, _) = place.member {
                self.traffic[group].count(place, at);
            }
            place.source = Source::Idle(None);
            self.free.push(flow);
        }
    }

    /// Takes what traced flows have done before `until`, in the order of time; at the same time in the order of the flows.
    pub(crate) fn take_trace(&mut self, until: Time) -> Vec<TraceEvent> {
        let mut events = std::mem::take(&mut self.traced);
        for flow in &mut self.flows {
            if let Some(traced) = flow.source.traced() {
                events.append(traced.events());
            }
        }
        // Each flow's are in order, and so is what was kept: runs that the sort finds.
        events.sort_by_key(|event| event.time);
        let due = events.partition_point(|event| event.time < until);
        self.traced = events.split_off(due);
        events
    }
}

/// Builds the network of `scenario`, whose flows have no pipes yet.
pub(crate) fn build(scenario: &Scenario, options: Options) -> Network {
    let flows = scenario.flows.iter().map(FlowGroup::flows).sum::<u64>() as usize;
    let mut network = Network {
        ports: Vec::new(),
        flows: longfat_pages::with_capacity(flows),
        identities: Vec::new(),
        hosts: Hosts::of(scenario),
        long: 0,
        over: BinaryHeap::new(),
        rest: Span::ZERO,
        free: Vec::new(),
        traced: Vec::new(),
        traffic: Vec::new(),
        applications: Vec::new(),
        audiences: Vec::new(),
        pipes: Pipes::default(),
        departures: Vec::new(),
        releases: Vec::new(),
        wires: Vec::new(),
        measured_from: Time::ZERO + scenario.warmup,
        gap: gap(scenario),
    };
    for (link, packet) in scenario.links.iter().zip(scenario.largest_packets()) {
        for reverse in [false, true] {
            network.ports.push(build_port(scenario, link, reverse, packet, options));
        }
    }
    // Departures first, then wires, then flows: at the same instant a transmitter becomes free before a packet arrives.
    for port in 0..network.ports.len() {
        let slot = if network.ports[port].has_departures() {
            network.pipes.add(Pipe::of_port(Slot::Departure(port as u32)))
        } else {
            usize::MAX
        };
        network.departures.push(slot);
    }
    for port in 0..network.ports.len() {
        let slot = network.pipes.add(Pipe::of_port(Slot::Wire(port as u32)));
        network.wires.push(Wire { slot, packets: Ring::default() });
    }
    for port in 0..network.ports.len() {
        let slot = if network.ports[port].holds() {
            network.pipes.add(Pipe::of_port(Slot::Release(port as u32)))
        } else {
            usize::MAX
        };
        network.releases.push(slot);
    }
    for (group_index, group) in scenario.flows.iter().enumerate() {
        let route = network.route(&group.path);
        for index in 0..group.flows() {
            add_flow(&mut network, scenario, group, &route, (group_index, index), options);
        }
    }
    network.long = network.flows.len();
    add_applications(&mut network, scenario);
    for (index, group) in scenario.traffic.iter().enumerate() {
        let traffic = Traffic::new(scenario, index, group.clone(), |path| network.route(path));
        network.traffic.push(traffic);
    }
    network
}

/// Each packet that crosses a link makes one event.
fn gap(scenario: &Scenario) -> Span {
    let packets = scenario.largest_packets();
    let directions = scenario.links.iter().zip(packets).flat_map(|(link, packet)| {
        [&link.forward, &link.reverse]
            .map(|direction| 1.0 / direction.rate.time_for(packet).seconds())
    });
    Span::from_seconds_f64(1.0 / directions.sum::<f64>())
}

fn build_port(
    scenario: &Scenario,
    link: &Link,
    reverse: bool,
    packet: Bytes,
    options: Options,
) -> Port {
    let direction = link.direction(reverse);
    let (name, direction_name) = (&link.name, if reverse { "reverse" } else { "forward" });
    let variation = link.is_varying(reverse).then(|| {
        let course = link.course(reverse, scenario.duration);
        Variation::new(course, direction.trace.clone(), direction.impairments.clone())
    });
    let capacity = direction.buffer;
    let site = direction.site(packet);
    let component =
        |part: &str| chance::stream(scenario.seed, &format!("link/{name}/{direction_name}/{part}"));
    let measured = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let series = options.record.then_some(scenario.sample);
    Port::new(port::PortConfig {
        rate: direction.rate,
        delay: direction.delay,
        varying: variation.clone().map(|variation| {
            let corruption = Rare::new(direction.loss, component("corruption"));
            VaryingLine::new(variation, site.rate, corruption, component)
        }),
        capacity,
        queue: (direction.queue.entry.build)(&direction.queue.settings, &site),
        marker: direction.anti_ecn.map(|marker| Marker::new(marker, site.rate)),
        corruption: Rare::new(direction.loss, component("corruption")),
        chance: component("queue"),
        stepwise: options.stepwise,
        gauge: Gauge::new(direction.rate, capacity, measured, series).of_varying(variation),
    })
}

fn add_flow(
    network: &mut Network,
    scenario: &Scenario,
    group: &FlowGroup,
    route: &Route,
    (group_index, index): (usize, u64),
    options: Options,
) {
    let (start, rtt) = scenario.start_and_rtt(group, index);
    let start = Time::ZERO + start;
    let stop = group.stop.map(|stop| Time::ZERO + stop);
    let active_until = stop.unwrap_or(Time::NEVER).min(Time::ZERO + scenario.duration);
    let flow = network.flows.len() as u32;
    network.add_flow(Flow::new(&FlowConfig {
        flow,
        member: Member::Long(group_index, index),
        route,
        control: &group.control,
        transport: &group.transport,
        negotiation: Negotiation::new(&group.control, route.unaware),
        rtt,
        first_rtt: route.rtt_at(rtt, &network.ports, start),
        start,
        stop,
        segments: group.size.map(|size| size.0.div_ceil(group.transport.packet.0)),
        // The applications are added in the order of their flows.
        application: group.application.as_ref().map(|what| {
            let before = scenario.flows[..group_index].iter();
            let before = before.filter(|group| group.application.is_some());
            let before: u64 = before.map(|group| group.count).sum();
            (before + index / what.connections()) as u32
        }),
        intervals: Intervals {
            measured_from: start.max(Time::ZERO + scenario.warmup),
            measured_until: active_until,
            series: options.record.then(|| (Time::ZERO + scenario.sample, scenario.sample)),
        },
        chance: group
            .transport
            .host_jitter
            .map(|_| chance::stream(scenario.seed, &format!("flow/{}/{index}/host", group.name))),
        luck: chance::stream(scenario.seed, &format!("flow/{}/{index}/control", group.name))
            .next_u64(),
        traced: Tracing::Off,
        delay_percentiles: scenario.delay_percentiles,
    }));
}

/// Adds what writes the data of long flows, and the flows that carry requests the other way.
fn add_applications(network: &mut Network, scenario: &Scenario) {
    let measured = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let mut flows = 0;
    for (group_index, group) in scenario.flows.iter().enumerate() {
        let what = group.application.as_ref();
        network.audiences.push(what.map(|what| Audience::new(what.clone(), group.count, measured)));
        let Some(what) = what else {
            flows += group.flows() as u32;
            continue;
        };
        for index in 0..group.count {
            let first = flows as usize;
            let requests = network.flows.len() as u32;
            if what.request().is_some() {
                for connection in 0..what.connections() {
                    let number = index * what.connections() + connection;
                    let member = Member::Requests(group_index, number);
                    add_requests(network, (member, group), first + connection as usize);
                }
            }
            let start = network.flows[first].start;
            network.applications.push(Application::new(&ApplicationConfig {
                scenario,
                group,
                group_index,
                index,
                what,
                flows,
                requests,
                start,
            }));
            flows += what.connections() as u32;
        }
    }
}

/// Adds the flow that carries requests to a long flow: back along its path, with the same transport but no link or
/// processing of its own before the first link.
fn add_requests(network: &mut Network, (member, group): (Member, &FlowGroup), to: usize) {
    let Flow { ref out, ref back, start, rtt, application, .. } = network.flows[to];
    let route = network.route_of((Arc::clone(&back.ports), Arc::clone(&out.ports)));
    let request = group.application.as_ref().and_then(longfat_scenario::Application::request);
    let (packet, _) =
        request_packets(request.expect("only clients have requests"), group.transport.packet);
    // Headers alone would be an acknowledgment.
    let packet = packet.max(Bytes(u64::from(ACK_BYTES) + 1));
    let mut transport = group.transport.clone();
    (transport.packet, transport.access, transport.host_jitter) = (packet, None, None);
    let flow = network.flows.len() as u32;
    network.add_flow(Flow::new(&FlowConfig {
        flow,
        member,
        route: &route,
        control: &group.control,
        transport: &transport,
        negotiation: Negotiation::new(&group.control, route.unaware),
        rtt,
        first_rtt: route.rtt_at(rtt, &network.ports, start),
        start,
        stop: None,
        segments: None,
        application,
        intervals: Intervals {
            measured_from: network.measured_from,
            measured_until: Time::NEVER,
            series: None,
        },
        chance: None,
        luck: 0,
        traced: Tracing::Off,
        delay_percentiles: false,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    /// The route of a flow over a link of 50 ms with these keys.
    fn route(keys: &str) -> Route {
        let text = format!(
            "duration = \"2 s\"\n[link.l]\nrate = \"8 Mbit/s\"\ndelay = \"50 ms\"\n{keys}\n[[flow]]\nname = \"f\"\n\
             control = \"reno\"\npath = [\"l\"]\nrtt = \"200 ms\"\n"
        );
        let scenario = Scenario::read(&text, "route.toml", &[], None).expect("it is right");
        build(&scenario, Options::default()).route(&scenario.flows[0].path)
    }

    #[test]
    fn acknowledgments_pass_one_another_on_the_way_back_alone() {
        let late = "reorder = { probability = 0.1, distance = \"3 packets\" }";
        let sfq = |perturb| format!("queue = {{ kind = \"sfq\", perturb = \"{perturb}\" }}");
        for (keys, passes) in [
            (String::new(), false),
            (late.to_owned(), true),
            (format!("[link.l.reverse]\n{late}"), true),
            (format!("{late}\n[link.l.reverse]\nreorder = false"), false),
            (sfq("90 ms"), true),
            (sfq("0 s"), false),
            (sfq("90 ms") + "\nloss = 0.1\n[[link.l.change]]\nat = \"1 s\"\nloss = 0", true),
            (sfq("90 ms") + "\n[link.l.reverse]\nqueue = \"drop-tail\"", false),
        ] {
            assert_eq!(route(&keys).acks_pass, passes, "{keys}");
        }
    }

    /// From 0.5 s on the delay is 10 ms in one direction or in both, or the rate is another one.
    #[test]
    fn a_route_shifts_whichever_of_its_ways_does() {
        let change = |what: &str| format!("[[link.l.change]]\nat = \"500 ms\"\n{what}");
        for (what, shifts, shortening) in [
            ("rate = \"1 Mbit/s\"", false, 0),
            ("delay = \"10 ms\"", true, 80),
            ("delay = \"10 ms\"\nreverse = false", true, 40),
            ("delay = \"10 ms\"\nreverse = true", true, 40),
            ("delay = \"60 ms\"\nreverse = true", true, 0),
        ] {
            let route = route(&change(what));
            let expected = (Span::from_millis(100), Span::from_millis(shortening), shifts);
            assert_eq!((route.delay, route.shortening, route.shifts), expected, "{what}");
        }
    }

    /// How many places the flows of this scenario take.
    fn places(text: &str) -> usize {
        let scenario = Scenario::read(text, "places.toml", &[], None).expect("it is right");
        let mut simulation = Simulation::new(&scenario, false);
        while simulation.advance(1000) {}
        simulation.network.flows.len()
    }

    /// The first flow is over after 1 + 20 + 0.04 ms. What reaches a link has no effect elsewhere for 5 ms and a quarter of the
    /// rest of the round trip, 7.5 ms: so long its place rests, and up to 28.54 ms others have places of their own.
    #[test]
    fn the_place_of_a_flow_rests_before_another_has_it() {
        let text = "duration = \"1 s\"\n[link.near]\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"90 packets\"\n\
             [[traffic]]\nname = \"one\"\ncontrol = \"reno\"\npath = [\"near\"]\nrtt = \"20 ms\"\npacket = \"1000 B\"\n\
             replay = { tick = \"10 us\", list = \"0 1000,2500 1000,353 1000,1 1000\" }";
        assert_eq!(places(text), 3);
    }

    /// The round trip is 600 ms at first, and from 700 ms on 10. Pacing still goes by what it was: when the last of three packets
    /// has been acknowledged, at 912.6 ms, it holds back a fourth, which there is not, for some 100 ms more. A flow that comes
    /// meanwhile has another place, one that comes later has that of the first.
    #[test]
    fn a_flow_is_over_when_pacing_waits_for_nothing() {
        let text = "duration = \"5 s\"\n[link.near]\nrate = \"8 Mbit/s\"\ndelay = \"300 ms\"\nbuffer = \"90 packets\"\n\
             [[link.near.change]]\nat = \"700 ms\"\ndelay = \"5 ms\"\n\
             [[traffic]]\nname = \"paced\"\ncontrol = \"reno\"\npath = [\"near\"]\nrtt = \"600 ms\"\npacket = \"1000 B\"\n\
             initial_window = 1\npacing = \"spread\"\nreplay = { tick = \"1 ms\", list = \"0 3000,950 1000,3050 1000\" }";
        assert_eq!(places(text), 2);
    }

    #[test]
    fn flows_of_two_groups_that_come_one_after_the_other_take_one_place() {
        let link = "duration = \"1 s\"\n[link.near]\nrate = \"8 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"90 packets\"\n";
        let one = "[[traffic]]\nname = \"one\"\ncontrol = \"reno\"\npath = [\"near\"]\nrtt = \"100 ms\"\n\
                   replay = { tick = \"1 ms\", list = \"0 1000,400 1000\" }\n";
        let other = one.replace("one", "other").replace("\"0 1000", "\"200 1000");
        let text = [link, one, &other].concat();
        assert_eq!(places(&text), 1);
    }
}
