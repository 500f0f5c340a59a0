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
//! it would come last, not in the order of slots. Short flows and applications act on one another, so networks that have
//! some go event by event. So do those in which a turn would have less to handle than there are places to look for it,
//! and those in which links hear early of acknowledgments, which takes fewer events.

use longfat_units::{Span, Time};

use super::Simulation;
use crate::network::Network;
use crate::packet::{Flags, Packet};
use crate::pipe::Slot;
use crate::port::{Arrived, Port};
use crate::radix;

/// A key is the time since the turn began, in picoseconds, and in its lower bits a place among the arrivals of the
/// turn. A billion of them take 50 gigabytes.
const PLACE_BITS: u32 = 30;
/// A turn is shorter than this, 17 ms, so that its times fit into the rest of a key.
const LONGEST: Span = Span(1 << (u64::BITS - PLACE_BITS));
/// About so many packets of a turn, in 50 bytes each, stay near the processor between its steps.
const MANY: u64 = 1 << 13;

/// A packet that reaches a link in this turn, and when; after that, when it will have crossed it.
#[derive(Clone, Copy, Debug)]
struct Due {
    time: Time,
    packet: Packet,
}

/// What is kept for turns.
#[derive(Debug)]
pub(super) struct Turns {
    /// Links have been given everything that reaches them before this instant.
    served: Time,
    /// How long a turn is at most.
    length: Span,
    /// Is no packet on its way to a link?
    idle: bool,
    /// The links from which packets go on to another one, in order; their slots come before those of flows.
    wires: Vec<usize>,
    /// The pipes that end at a link, in the order of their slots, and that link.
    pipes: Vec<(u32, u32)>,
    /// What reaches a link in this turn, pipe after pipe.
    arrivals: Vec<Due>,
    /// The order in which they reach each link: their keys.
    orders: Vec<Vec<u64>>,
    scratch: Vec<u64>,
}

impl Turns {
    /// Prepares a network to be served in turns, if it may be and that pays. `sample` is how often a row of the time
    /// series is due.
    pub(super) fn of(network: &mut Network, sample: Option<Span>) -> Option<Self> {
        let lookahead = lookahead(network)?;
        let is_busy_for = |events: u64| Span(network.gap.0.saturating_mul(events / 2));
        let pipes = 2 * network.flows.len() as u64;
        let length = lookahead
            .min(sample.unwrap_or(LONGEST))
            .min(Span(LONGEST.0 - 1))
            .min(is_busy_for(MANY.max(2 * pipes)));
        if length < is_busy_for(pipes + network.ports.len() as u64) || length == Span::ZERO {
            return None;
        }
        let (mut wires, mut pipes) = (Vec::new(), Vec::with_capacity(pipes as usize));
        let ways = network.flows.iter().flat_map(|flow| [&flow.out, &flow.back]);
        wires.extend(ways.flat_map(|way| &way.ports[..way.ports.len() - 1]));
        wires.sort_unstable();
        wires.dedup();
        for (slot, pipe) in network.pipes.iter_mut().enumerate() {
            match pipe.end {
                Slot::Out(port) | Slot::Back(port) => pipes.push((slot as u32, port)),
                Slot::Wire(_) => {}
                _ => continue,
            }
            pipe.has_event = false;
        }
        Some(Self {
            served: Time::ZERO,
            length,
            idle: true,
            wires,
            pipes,
            arrivals: Vec::new(),
            orders: vec![Vec::new(); network.ports.len()],
            scratch: Vec::new(),
        })
    }

    /// Collects what reaches a link before `until`, and sorts it.
    #[inline(never)]
    fn gather(&mut self, network: &mut Network, until: Time) {
        let Self { served, wires, pipes, arrivals, orders, scratch, .. } = self;
        arrivals.clear();
        orders.iter_mut().for_each(Vec::clear);
        let mut add = |port: usize, time: Time, packet: Packet| {
            debug_assert!(time >= *served, "a packet reaches a link that has been served");
            orders[port].push((time - *served).0 << PLACE_BITS | arrivals.len() as u64);
            arrivals.push(Due { time, packet });
        };
        let mut left = false;
        for &wire in &*wires {
            let packets = &mut network.wires[wire].packets;
            while let Some(&(time, packet)) = packets.first().filter(|(time, _)| *time < until) {
                packets.take();
                let way = network.flows[packet.flow as usize].way(packet.is_ack());
                add(way.ports[usize::from(packet.hop)], time, packet);
            }
            if packets.is_empty() {
                packets.rewind();
            } else {
                left = true;
            }
        }
        for &(slot, port) in &*pipes {
            while let Some((time, packet)) = network.pipes.take_before(slot as usize, until) {
                add(port as usize, time, packet);
            }
            left |= !network.pipes[slot as usize].is_empty();
        }
        self.idle = arrivals.is_empty() && !left;
        let bits = u64::BITS - (until - *served).0.leading_zeros() + PLACE_BITS;
        for order in orders {
            radix::sort(order, scratch, bits);
        }
    }
}

/// Where among the arrivals the packet of a key is.
fn place(key: u64) -> usize {
    (key & ((1 << PLACE_BITS) - 1)) as usize
}

/// The lookahead of a network that may be served in turns.
fn lookahead(network: &Network) -> Option<Span> {
    let Network { ports, flows, traffic, applications, .. } = network;
    let is_plain = traffic.is_empty()
        && applications.is_empty()
        && !ports.iter().any(Port::has_departures)
        && flows.iter().all(|flow| flow.out.before > Span::ZERO && !flow.returns_early);
    if !is_plain {
        return None;
    }
    let ways = flows.iter().flat_map(|flow| [&flow.out, &flow.back]);
    let effects = ways.flat_map(|way| {
        let (last, others) = way.ports.split_last().expect("a path has a link");
        let others = others.iter().map(|&port| ports[port].delay());
        others.chain([ports[*last].delay() + way.after])
    });
    effects.min()
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
        self.serve_links(turns);
        self.cross_links(turns);
        self.events += turns.arrivals.len() as u64;
        turns.served = until;
        self.now = Time(until.0 - 1);
        true
    }

    /// Handles what happens at the ends in a turn. Returns when it is over: packets that reach a link before that instant
    /// are served now.
    #[inline(never)]
    fn serve_ends(&mut self, turns: &mut Turns, limit: Time) -> Time {
        loop {
            let Turns { served, length, idle, .. } = *turns;
            let edge = self.timers.next_edge();
            // The packets of an instant come before its edge.
            let edge_waits = !idle && edge >= served;
            let last = if idle { limit } else { Time((served + length).0 - 1).min(limit) };
            let (last, timers) = if edge_waits {
                (last.min(edge), last.min(Time(edge.0 - 1)))
            } else {
                (last, last)
            };
            if !self.handle_one(last, timers) {
                return Time(last.0 + 1);
            }
            if idle {
                // With no packet on its way, nothing can reach a link up to now.
                (turns.served, turns.idle) = (Time(self.now.0 + 1), false);
            }
        }
    }

    /// Gives each link what reaches it.
    #[inline(never)]
    fn serve_links(&mut self, turns: &mut Turns) {
        let Turns { wires, arrivals, orders, .. } = turns;
        for (port, order) in orders.iter().enumerate() {
            for key in order {
                let Due { time, packet } = &mut arrivals[place(*key)];
                if packet.flags.has(Flags::DESTROYED) {
                    self.lose(*packet);
                    *time = Time::NEVER;
                    continue;
                }
                let Network { ports, groups, .. } = &mut self.network;
                match ports[port].arrive(*time, packet, groups, &mut self.hold) {
                    Arrived::Through(at) => *time = at,
                    Arrived::Corrupted(at) => {
                        self.destroy(packet);
                        *time = at;
                    }
                    other => {
                        self.stay(*time, port, *packet, other);
                        *time = Time::NEVER;
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
    fn go_further(&mut self, port: usize, due: &mut Due) {
        let Due { time, mut packet } = *due;
        packet.hop += 1;
        let way = self.network.flows[packet.flow as usize].way(packet.is_ack());
        if time != Time::NEVER && usize::from(packet.hop) < way.ports.len() {
            self.put_on_wire(port, time, packet);
            due.time = Time::NEVER;
        }
    }

    /// Lets the packets that have crossed their last link reach the ends of their flows.
    #[inline(never)]
    fn cross_links(&mut self, turns: &mut Turns) {
        for &Due { time, packet } in &turns.arrivals {
            if time == Time::NEVER {
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

    use crate::options::Options;
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
        assert!(!takes_turns("100 Mbit", "1 Mbit"), "a turn has less than a packet for each flow");
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

    /// Four flows with a few packets each, and another one a day later.
    #[test]
    fn while_nothing_is_on_its_way_no_turns_are_taken() {
        let later = r#"
        [[flow]]
        name = "later"
        control = "reno"
        start = "86400 s"
        path = ["l"]
        rtt = "20 ms"
        "#;
        let text = TWO_WAYS.replacen("\"2 s\"", "\"100000 s\"", 1) + later;
        let text = text.replace("path", "size = \"20 packets\"\n        path");
        let mut simulation = Simulation::new(&scenario(&text), false);
        assert!(simulation.takes_turns());
        let mut turns = simulation.turns.take().expect("it takes turns");
        let mut count = 0;
        while simulation.take_turn(&mut turns, simulation.end) {
            count += 1;
        }
        simulation.turns = Some(turns);
        assert!((20..2000).contains(&count), "{count} turns");
        let recording = simulation.finish();
        assert_eq!(recording.summary.engine.data_packets, 5 * 20);
    }
}
