//! Links served in turns.
//!
//! A packet that reaches a link has no effect anywhere else before it has crossed it: not at an end before the delay of
//! the link and of the way after it have passed, and at no other link before that. The shortest such time in a network
//! is its lookahead, the quantity on which conservative parallel simulation rests (Chandy and Misra 1979; Fujimoto
//! 1990). Here nothing runs in parallel: what lies within a lookahead can be handled in whatever order suits the
//! processor. All that reaches a link in a turn is known when the turn begins, and so is all that senders and receivers
//! do in it. A turn from one instant up to another therefore handles
//!
//! 1. what happens at the ends: timers, pacing, acknowledgments that were not handed over early, in the order of time.
//!    It may put packets into pipes that reach a link in this turn;
//! 2. what reaches each link, link after link, in the order of time and then of slot, which makes the results those of
//!    the order of events;
//! 3. the packets that have crossed a link, flow after flow: the data at its receiver, the acknowledgments at its
//!    sender. What they set off lies beyond the turn.
//!
//! Where few flows have something on its way to a link at any time, that lies in a calendar ([`crate::calendar`]) instead
//! of a pipe for each: a turn takes a page of it, in which blocks of flows, not flows, come one after the other. Packets
//! that reach a link at the same instant are then put in the order of slots afterwards.
//!
//! So no event has to be found among those of all other flows, and the branches that the processor predicts are those
//! of one link, then of one flow, many times in a row. Which packet of which flow comes next, and at which link, is
//! what it cannot predict: at 500 Mbit/s with 16 flows each way that costs a fifth of the time, with 512 as much.
//!
//! Three things happen from outside: the measured interval begins, a row of the time series is due, a flow is told to
//! stop. They are edges. A turn ends with the packets of the next edge's instant, and the edge comes first in the one
//! after it, as packets come before timers that run out at the same instant.
//!
//! It takes links that know on arrival when a packet will be at the far end, and flows whose packets take some time to
//! the first of them, so that none arrives at the instant at which a timer lets it go: among packets of the same instant
//! it would come last, not in the order of slots. Applications act on one another, so networks that have some go event by
//! event. So do those in which a turn would have little to handle, and those in which links hear early of
//! acknowledgments, which takes fewer events.
//!
//! Short flows act on one another by their places alone: a flow that arrives takes that of one that is over. When a flow
//! was over may be known late in its turn. So its place rests for a lookahead ([`Network::vacate`]), however the links are
//! served.

use longfat_pages::prefetch;
use longfat_units::{Span, Time};

use super::Simulation;
use crate::network::Network;
use crate::packet::{Flags, Packet};
use crate::pipe::Slot;
use crate::port::{Arrived, Port};
use crate::radix;
use crate::traffic::Traffic;

/// A key is the time since the turn began, in picoseconds, and in its lower bits a place among the arrivals of the
/// turn. A billion of them take 50 gigabytes.
const PLACE_BITS: u32 = 30;
/// No turn is longer than this, 17 ms, so that its times fit into the rest of a key.
pub(super) const LONGEST: Span = Span(1 << (u64::BITS - PLACE_BITS));
/// About so many packets of a turn, in 50 bytes each, stay near the processor between its steps.
const MANY: u64 = 1 << 13;

/// A turn with fewer packets than this, and one for each link, costs more than their events.
const FEW: u64 = 1 << 6;
/// With fewer packets of a turn in each pipe than this, where all links are busy, a calendar costs less than the pipes.
const SPARSE: u64 = 3;
/// In a large network the packet that reaches a link so many packets later is asked for.
const PLACE_AHEAD: usize = 12;

/// A packet that reaches a link in this turn, and when; after that, when it will have crossed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    time: Time,
    pub(super) packet: Packet,
}

/// What is kept for turns.
#[derive(Debug)]
pub(super) struct Turns {
    /// Links have been given everything that reaches them before this instant.
    served: Time,
    /// A turn ends where a slice of time does, if not before: one of two to the power of this in picoseconds.
    slice: u32,
    /// Is no packet on its way to a link?
    idle: bool,
    /// The links from which packets go on to another one, in order; their slots come before those of flows.
    wires: Vec<usize>,
    /// The pipes that end at a link, in the order of their slots, and that link; none if there is a calendar.
    pipes: Vec<(u32, u32)>,
    /// What reaches a link in this turn, pipe after pipe or page after page.
    arrivals: Vec<Arrival>,
    /// The order in which they reach each link: their keys.
    orders: Vec<Vec<u64>>,
    scratch: Vec<u64>,
}

/// How a network is served in turns.
#[derive(Debug)]
pub(super) struct Plan {
    /// A turn takes two to the power of this in picoseconds.
    slice: u32,
    /// Have few flows something on its way to a link?
    is_sparse: bool,
}

impl Plan {
    /// The plan for a network with this lookahead, if it may be served in turns and that pays. `sample` is how often a row
    /// of the time series is due.
    pub(super) fn of(network: &Network, lookahead: Span, sample: Option<Span>) -> Option<Self> {
        let is_busy_for = |events: u64| Span(network.gap.0.saturating_mul(events / 2));
        let pipes = 2 * network.flows.len() as u64;
        let length = lookahead
            .min(sample.unwrap_or(LONGEST))
            .min(LONGEST)
            .min(is_busy_for(MANY.max(2 * pipes)));
        let pays = length >= is_busy_for(FEW + network.ports.len() as u64) && length > Span::ZERO;
        if !pays || !is_plain(network) {
            return None;
        }
        // Short flows come and go, and have a few packets each.
        let is_sparse = !network.traffic.is_empty() || length < is_busy_for(SPARSE * pipes);
        Some(Self { slice: length.0.ilog2(), is_sparse })
    }

    /// The slices of the calendar, if there is to be one ([`Network::lay_pipes`]).
    pub(super) fn calendar(&self) -> Option<u32> {
        self.is_sparse.then_some(self.slice)
    }
}

impl Turns {
    /// Prepares a network with pipes for a plan.
    pub(super) fn new(network: &mut Network, plan: &Plan) -> Self {
        let (mut wires, mut pipes) = (Vec::new(), Vec::new());
        let long = network.flows.iter().flat_map(|flow| [&*flow.out.ports, &*flow.back.ports]);
        let short = network.traffic.iter().flat_map(Traffic::shortest_ways).map(|(ports, _)| ports);
        wires.extend(long.chain(short).flat_map(|ports| &ports[..ports.len() - 1]));
        wires.sort_unstable();
        wires.dedup();
        for (slot, pipe) in network.pipes.iter_mut().enumerate() {
            match pipe.end {
                Slot::Out(port) | Slot::Back(port) => pipes.push((slot as u32, port)),
                Slot::Wire(_) | Slot::Page(_) => {}
                _ => continue,
            }
            pipe.has_event = false;
        }
        Self {
            served: Time::ZERO,
            slice: plan.slice,
            idle: true,
            wires,
            pipes,
            arrivals: Vec::new(),
            orders: vec![Vec::new(); network.ports.len()],
            scratch: Vec::new(),
        }
    }

    /// When the turn is over, unless something ends it before.
    fn end(&self) -> Time {
        Time(((self.served.0 >> self.slice) + 1) << self.slice)
    }

    /// Collects what reaches a link before `until`, and sorts it.
    #[inline(never)]
    fn gather(&mut self, network: &mut Network, until: Time) {
        let Self { served, wires, pipes, arrivals, orders, scratch, .. } = self;
        arrivals.clear();
        orders.iter_mut().for_each(Vec::clear);
        let mut left = false;
        let mut add = |port: u32, time: Time, packet: Packet| {
            orders[port as usize].push(key(*served, time, arrivals.len()));
            arrivals.push(Arrival { time, packet });
        };
        if pipes.is_empty() {
            let calendar = &mut network.pipes.places.calendar;
            calendar.take(until, |due| add(due.port, due.time, due.packet));
            left = !calendar.is_empty();
        }
        for &wire in &*wires {
            let packets = &mut network.wires[wire].packets;
            while let Some(&(time, packet)) = packets.first().filter(|(time, _)| *time < until) {
                packets.take();
                let way = network.flows[packet.flow as usize].way(packet.is_ack());
                add(way.ports[usize::from(packet.hop)] as u32, time, packet);
            }
            if packets.is_empty() {
                packets.rewind();
            } else {
                left = true;
            }
        }
        for &(slot, port) in &*pipes {
            while let Some((time, packet)) = network.pipes.take_before(slot as usize, until) {
                add(port, time, packet);
            }
            left |= !network.pipes[slot as usize].is_empty();
        }
        self.idle = arrivals.is_empty() && !left;
        let bits = u64::BITS - ((until - *served).0 - 1).leading_zeros() + PLACE_BITS;
        for order in orders {
            radix::sort(order, scratch, bits);
            if pipes.is_empty() {
                rank_ties(order, arrivals, network);
            }
        }
    }
}

/// The key of a packet that reaches a link at `time`.
fn key(served: Time, time: Time, place: usize) -> u64 {
    debug_assert!(time >= served, "a packet reaches a link that has been served");
    (time - served).0 << PLACE_BITS | place as u64
}

/// Packets that reach a link at the same instant do so in the order of their slots, in which pipes are looked into, but
/// not the pages of a calendar.
fn rank_ties(order: &mut [u64], arrivals: &[Arrival], network: &Network) {
    for ties in order.chunk_by_mut(|one, next| one >> PLACE_BITS == next >> PLACE_BITS) {
        if ties.len() > 1 {
            ties.sort_by_key(|key| network.rank(&arrivals[place(*key)].packet));
        }
    }
}

impl Network {
    /// A number that grows with the slot from which a packet reaches a link.
    fn rank(&self, packet: &Packet) -> usize {
        let flow = packet.flow as usize;
        if packet.hop > 0 {
            let ports = &self.flows[flow].way(packet.is_ack()).ports;
            return ports[packet.hop as usize - 1];
        }
        // Data that has been destroyed turns back as acknowledgments do.
        let back = packet.flags.has(Flags::ACK.with(Flags::DESTROYED));
        self.ports.len() + 2 * flow + usize::from(back)
    }
}

/// Where among the arrivals the packet of a key is.
fn place(key: u64) -> usize {
    (key & ((1 << PLACE_BITS) - 1)) as usize
}

/// May a network be served in turns?
fn is_plain(network: &Network) -> bool {
    let Network { ports, flows, traffic, applications, .. } = network;
    applications.is_empty()
        && !ports.iter().any(Port::has_departures)
        && flows.iter().all(|flow| flow.out.before > Span::ZERO && !flow.returns_early)
        && traffic.iter().flat_map(Traffic::shortest_ways).all(|(_, beside)| beside > Span::ZERO)
}

impl Simulation {
    /// Handles one turn of what happens up to `limit`, that instant included. Returns false once all of it has been
    /// handled.
    pub(super) fn take_turn(&mut self, turns: &mut Turns, limit: Time) -> bool {
        // Each step is a function of its own, with all registers for itself: that saves a packet 40 instructions in A.
        let until = self.serve_ends(turns, limit);
        if until <= turns.served {
            return false;
        }
        turns.gather(&mut self.network, until);
        if self.network.is_large() {
            self.serve_links::<true>(turns);
            self.cross_links::<true>(turns);
        } else {
            self.serve_links::<false>(turns);
            self.cross_links::<false>(turns);
        }
        self.events += turns.arrivals.len() as u64;
        turns.served = until;
        self.network.pipes.places.calendar.advance(until);
        self.now = Time(until.0 - 1);
        true
    }

    /// Handles what happens at the ends in a turn. Returns when it is over: packets that reach a link before that instant
    /// are served now.
    #[inline(never)]
    fn serve_ends(&mut self, turns: &mut Turns, limit: Time) -> Time {
        let is_large = self.network.is_large();
        loop {
            let Turns { served, idle, .. } = *turns;
            let edge = self.timers.next_edge();
            // The packets of an instant come before its edge.
            let edge_waits = !idle && edge >= served;
            let last = if idle { limit } else { Time(turns.end().0 - 1).min(limit) };
            let (last, timers) = if edge_waits {
                (last.min(edge), last.min(Time(edge.0 - 1)))
            } else {
                (last, last)
            };
            if is_large {
                self.read_ahead();
            }
            if !self.handle_one(last, timers) {
                return Time(last.0 + 1);
            }
            if idle {
                // With no packet on its way, nothing can reach a link up to now.
                (turns.served, turns.idle) = (Time(self.now.0 + 1), false);
                self.network.pipes.places.calendar.advance(turns.served);
            }
        }
    }

    /// Gives each link what reaches it.
    #[inline(never)]
    fn serve_links<const AHEAD: bool>(&mut self, turns: &mut Turns) {
        let Turns { wires, arrivals, orders, .. } = turns;
        for (port, order) in orders.iter().enumerate() {
            for (index, key) in order.iter().enumerate() {
                if AHEAD && let Some(next) = order.get(index + PLACE_AHEAD) {
                    prefetch(&arrivals[place(*next)]);
                }
                let Arrival { time, packet } = &mut arrivals[place(*key)];
                if packet.flags.has(Flags::DESTROYED) {
                    self.lose(*time, *packet);
                    *time = Time::NEVER;
                    continue;
                }
                let Network { ports, identities, .. } = &mut self.network;
                match ports[port].arrive(*time, packet, identities, &mut self.hold) {
                    Arrived::Through(at) => *time = at,
                    Arrived::Corrupted(at) => {
                        self.destroy(packet);
                        *time = at;
                    }
                    // Its flow is told when it comes to those that have crossed, since it is at hand then.
                    Arrived::Dropped => {
                        (packet.sent, packet.flags) = (*time, packet.flags.with(Flags::DROPPED));
                        *time = Time::NEVER;
                    }
                    other @ (Arrived::Waits(_) | Arrived::Held(_)) => {
                        unreachable!("its departures are events: {other:?}")
                    }
                }
            }
            if wires.binary_search(&port).is_ok() {
                for key in order {
                    self.go_further(port, &mut arrivals[place(*key)]);
                }
            }
        }
    }

    /// Puts a packet that has crossed a link on its wire, if there is another link on its way.
    fn go_further(&mut self, port: usize, due: &mut Arrival) {
        let Arrival { time, mut packet } = *due;
        packet.hop += 1;
        let way = self.network.flows[packet.flow as usize].way(packet.is_ack());
        if time != Time::NEVER && usize::from(packet.hop) < way.ports.len() {
            self.put_on_wire(port, time, packet);
            due.time = Time::NEVER;
        }
    }

    /// Lets the packets that have crossed their last link reach the ends of their flows, and tells flows of those that
    /// queues have dropped.
    #[inline(never)]
    fn cross_links<const AHEAD: bool>(&mut self, turns: &mut Turns) {
        let arrivals = &turns.arrivals;
        for (index, &Arrival { time, packet }) in arrivals.iter().enumerate() {
            if AHEAD {
                self.read_behind(arrivals, index);
            }
            if time == Time::NEVER {
                if packet.flags.has(Flags::DROPPED) {
                    self.discard(packet.sent, packet);
                }
                continue;
            }
            // Which link it was only matters where there is another one.
            if packet.is_ack() {
                self.cross::<true>(0, time, packet);
            } else {
                self.cross::<false>(0, time, packet);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use longfat_scenario::Scenario;

    use crate::flow::Flow;
    use crate::options::Options;
    use crate::packet::{Flags, Packet};
    use crate::simulation::Simulation;

    const TWO_WAYS: &str = r#"
        duration = "2 s"
        [link.l]
        rate = "100 Mbit/s"
        delay = "5 ms"
        buffer = "100 packets"
        queue = "red"
        [[flow]]
        name = "there"
        control = "reno"
        count = 3
        path = ["l"]
        rtt = { spread = ["20 ms", "30 ms"] }
        [[flow]]
        name = "back"
        control = "reno"
        path = ["l"]
        reverse = true
        rtt = "30 ms"
    "#;

    fn scenario(text: &str) -> Scenario {
        Scenario::read(text, "turns.toml", &[], None).expect("a good scenario")
    }

    #[test]
    fn turns_are_taken_where_the_order_of_results_allows_it() {
        let takes_turns = |from: &str, to: &str| {
            assert!(TWO_WAYS.contains(from), "{from}");
            Simulation::new(&scenario(&TWO_WAYS.replacen(from, to, 1)), true).takes_turns()
        };
        assert!(takes_turns("red", "red"));
        assert!(takes_turns("red", "drop-tail"));
        assert!(takes_turns("\"reno\"", "\"cw-hstcp\""), "paced");
        assert!(!takes_turns("red", "codel"), "departures are events");
        assert!(!takes_turns("\"5 ms\"", "\"5 ms\"\njitter = \"1 ms\""), "it changes");
        assert!(!takes_turns("rtt = \"30 ms\"", "rtt = \"10 ms\""), "nothing before the link");
        let short = |rtt| {
            let traffic = "[[traffic]]\nname = \"short\"\ncontrol = \"reno\"\npath = [\"l\"]\n\
                 arrivals = { poisson = \"9 /s\" }\nsize = \"9 packets\"\nrtt = ";
            takes_turns("[[flow]]", &format!("{traffic}{rtt}\n[[flow]]"))
        };
        assert!(short("\"11 ms\""));
        assert!(!short("{ uniform = [\"10 ms\", \"11 ms\"] }"), "nothing before the link");
        let listed = |rtts: [u64; 2]| {
            let traffic = "[[traffic]]\nname = \"listed\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"30 ms\"\n\
                 replay = { tick = \"1 ms\", list = ";
            let [one, other] = rtts.map(|millis| format!("1 1500 0 {millis}000000000"));
            takes_turns("[[flow]]", &format!("{traffic}\"{one},{other}\" }}\n[[flow]]"))
        };
        assert!(listed([11, 12]));
        assert!(!listed([10, 12]) && !listed([12, 10]), "nothing before the link");
        assert!(!takes_turns("100 Mbit", "1 Mbit"), "a turn has hardly any packets");
        assert!(!takes_turns("duration", "sample = \"100 us\"\nduration"), "nor up to a row");
        let second = "[link.m]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[flow]]";
        let further = TWO_WAYS.replacen("[[flow]]", second, 1);
        let further = scenario(&further.replacen("[\"l\"]", "[\"l\", \"m\"]", 1));
        assert!(Simulation::new(&further, true).takes_turns());
        let options = [Options::default().stepwise(true), Options::default().in_order(true)];
        for options in options {
            assert!(!Simulation::with_options(&scenario(TWO_WAYS), options).takes_turns());
        }
        let requests = "kind = \"request-response\", response = \"9 kB\"";
        let clients = TWO_WAYS.to_owned() + "application = { " + requests + " }\n";
        assert!(!Simulation::new(&scenario(&clients), true).takes_turns(), "applications");
    }

    /// The rank of a packet grows with the slot that it would come from without a calendar.
    #[test]
    fn packets_of_an_instant_reach_a_link_in_the_order_of_their_slots() {
        let second = "[link.m]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[flow]]";
        let text = TWO_WAYS.replacen("[[flow]]", second, 1).replace("[\"l\"]", "[\"l\", \"m\"]");
        let network =
            Simulation::with_options(&scenario(&text), Options::default().in_order(true)).network;
        let mut packets = Vec::new();
        for flow in 0..4 {
            let Flow { slots, out, back, .. } = &network.flows[flow as usize];
            let kinds = [(Flags::default(), out, slots.out), (Flags::ACK, back, slots.back)];
            for (flags, way, slot) in kinds {
                let first = Packet { flow, flags, ..Packet::default() };
                let wire = network.wires[way.ports[0]].slot;
                packets.extend([(first, slot), (Packet { hop: 1, ..first }, wire)]);
            }
            packets
                .push((Packet { flow, flags: Flags::DESTROYED, ..Packet::default() }, slots.back));
        }
        for (one, slot) in &packets {
            for (other, its_slot) in &packets {
                let order = network.rank(one).cmp(&network.rank(other));
                assert_eq!(order, slot.cmp(its_slot), "{one:?}, {other:?}");
            }
        }
    }

    /// Where few flows have something on its way to a link, pipes to it are shared.
    #[test]
    fn a_network_with_many_flows_that_are_seldom_heard_of_has_a_calendar() {
        let shares_pipes = |count: u32| {
            let text = TWO_WAYS.replacen("count = 3", &format!("count = {count}"), 1);
            let simulation = Simulation::new(&scenario(&text), true);
            assert!(simulation.takes_turns());
            let mut flows = simulation.network.flows.iter();
            let first = flows.next().expect("there are flows").slots.out;
            flows.any(|flow| flow.slots.out == first)
        };
        assert!(!shares_pipes(3));
        assert!(shares_pipes(300));
    }

    /// Flows with a few packets each, and some more a day later; the same with so many that there is a calendar.
    #[test]
    fn while_nothing_is_on_its_way_no_turns_are_taken() {
        let later = r#"
        [[flow]]
        name = "later"
        control = "reno"
        start = { uniform = ["86400 s", "86460 s"] }
        count = 5
        path = ["l"]
        rtt = "20 ms"
        "#;
        for flows in [3, 300] {
            let text = TWO_WAYS.replacen("count = 3", &format!("count = {flows}"), 1);
            let text = text.replacen("\"2 s\"", "\"100000 s\"", 1) + later;
            let text = text.replace("path", "size = \"20 packets\"\n        path");
            let mut simulation = Simulation::new(&scenario(&text), false);
            let mut turns = simulation.turns.take().expect("it takes turns");
            let mut count = 0;
            while simulation.take_turn(&mut turns, simulation.end) {
                count += 1;
            }
            simulation.turns = Some(turns);
            assert!((20..2000).contains(&count), "{count} turns");
            let mut in_order =
                Simulation::with_options(&scenario(&text), Options::default().in_order(true));
            while in_order.advance(10_000) {}
            let told = |simulation: Simulation| {
                let summary = simulation.finish().summary;
                assert_eq!(summary.engine.data_packets, (flows + 6) * 20);
                format!("{:?}", summary.flows)
            };
            assert_eq!(told(simulation), told(in_order));
        }
    }
}
