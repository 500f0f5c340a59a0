//! What writes the data of flows, and what it sees of their progress.
//!
//! An application stands outside of both senders and receivers. It acts at times that it has noted in its agenda, each
//! with a timer: it writes data into a sender, which then has more to send. It hears of arrivals: how far the data of a
//! flow is complete, and when that was. Receivers are told of arrivals ahead of time, so what follows from one is noted
//! for its own time; nothing that is heard has any other effect.
//!
//! A client and its server exchange requests and responses over connections. The response is the data of a flow of the
//! scenario, from sender to receiver. The request is data as well, in a flow of its own that runs the other way, and so
//! it queues, is lost and is repaired like any other.

mod audience;
mod browser;
mod player;
mod source;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use longfat_scenario::chance::{self, Stream};
use longfat_scenario::{self as scenario, FlowGroup, Scenario};
use longfat_units::{Bytes, Span, Time};

pub(crate) use audience::{Audience, Exchange};
use browser::Browser;
use player::Player;
use source::Source;

/// What an application wants done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// So many segments more are to be sent on this flow.
    Write { flow: u32, segments: u64 },
    /// It is to be woken at this time.
    Wake(Time),
}

/// What an application does next, in the order of what happens at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The server has the request on this connection.
    Requested(u32),
    /// The client has the response on this connection.
    Answered(u32),
    /// A source has been on for long enough.
    End,
    /// The next period, page or chunk.
    Begin,
    /// The next write.
    Write,
}

/// One application: a source, or a client with its server.
#[derive(Debug)]
pub(crate) struct Application {
    /// Its group, and its place in it.
    pub(crate) group: usize,
    index: u64,
    /// Its first flow; one for each connection.
    flows: u32,
    /// The first of the flows that carry its requests, if there are any.
    requests: u32,
    stop: Time,
    agenda: BinaryHeap<Reverse<(Time, Event)>>,
    dialogue: Dialogue,
    chance: Stream,
    program: Program,
}

/// What kind of application it is.
#[derive(Debug)]
enum Program {
    Source(Source),
    Browser(Browser),
    Player(Player),
}

/// The connections between a client and its server.
#[derive(Debug)]
struct Dialogue {
    /// Segments of a request.
    request: u64,
    connections: Vec<Connection>,
    /// What was asked since the application last acted.
    asked: Vec<u32>,
}

/// A connection, with at most one request at a time.
#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    state: State,
    /// Segments of all requests so far.
    requested: u64,
    /// Segments of the response asked for, and of all responses so far.
    response: u64,
    answered: u64,
    asked_at: Time,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    /// The request is under way.
    Asked,
    /// The server has it, or will have it.
    Requested,
    /// The response is under way.
    Answering,
    /// The client has it, or will have it.
    Answered,
}

impl Dialogue {
    /// Asks for a response of so many segments.
    fn ask(&mut self, connection: u32, segments: u64, now: Time) {
        let it = &mut self.connections[connection as usize];
        debug_assert_eq!(it.state, State::Idle, "one request at a time");
        it.state = State::Asked;
        it.requested += self.request;
        it.response = segments;
        it.asked_at = now;
        self.asked.push(connection);
    }

    fn connection(&self, connection: u32) -> &Connection {
        &self.connections[connection as usize]
    }

    fn count(&self) -> u32 {
        self.connections.len() as u32
    }
}

/// The size of the packets that carry a request of this size, and how many there are: as few as possible, all alike.
pub(crate) fn request_packets(request: Bytes, packet: Bytes) -> (Bytes, u64) {
    let count = request.0.div_ceil(packet.0);
    (Bytes(request.0.div_ceil(count)), count)
}

/// What an application is made from.
#[derive(Debug)]
pub(crate) struct ApplicationConfig<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) group: &'a FlowGroup,
    pub(crate) group_index: usize,
    /// Its place in the group.
    pub(crate) index: u64,
    pub(crate) what: &'a scenario::Application,
    pub(crate) flows: u32,
    pub(crate) requests: u32,
    pub(crate) start: Time,
}

impl Application {
    pub(crate) fn new(config: &ApplicationConfig<'_>) -> Self {
        let &ApplicationConfig { scenario, group, group_index, index, what, .. } = config;
        let packet = group.transport.packet;
        let name = format!("flow/{}/{index}/application", group.name);
        let program = match what {
            scenario::Application::Constant { .. } | scenario::Application::OnOff { .. } => {
                Program::Source(Source::new(what, packet, config.start))
            }
            scenario::Application::Video(video) => {
                Program::Player(Player::new(video, packet, config.start))
            }
            _ => Program::Browser(Browser::new(what, packet)),
        };
        let request = what.request().map_or(0, |request| request_packets(request, packet).1);
        let connections = vec![Connection::default(); what.connections() as usize];
        Self {
            group: group_index,
            index,
            flows: config.flows,
            requests: config.requests,
            stop: group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
            agenda: BinaryHeap::from([Reverse((config.start, Event::Begin))]),
            dialogue: Dialogue { request, connections, asked: Vec::new() },
            chance: chance::stream(scenario.seed, &name),
            program,
        }
    }

    /// When it first acts.
    pub(crate) fn first(&self) -> Time {
        self.agenda.peek().map_or(Time::NEVER, |Reverse((time, _))| *time)
    }

    /// Notes what it does at `time`.
    fn note(&mut self, time: Time, event: Event, orders: &mut Vec<Order>) {
        if time != Time::NEVER {
            self.agenda.push(Reverse((time, event)));
            orders.push(Order::Wake(time));
        }
    }

    /// Does what is next in its agenda.
    pub(crate) fn act(&mut self, now: Time, audience: &mut Audience, orders: &mut Vec<Order>) {
        let Some(Reverse((time, event))) = self.agenda.pop() else { return };
        debug_assert_eq!(time, now, "each entry has a timer");
        if now >= self.stop {
            return;
        }
        let (dialogue, chance) = (&mut self.dialogue, &mut self.chance);
        let next = match (&mut self.program, event) {
            (Program::Source(source), event) => {
                if event == Event::Write {
                    let segments = source.write(now, audience);
                    orders.push(Order::Write { flow: self.flows, segments });
                }
                Some(source.next(event, now, chance))
            }
            (_, Event::Requested(connection)) => {
                let it = &mut dialogue.connections[connection as usize];
                it.state = State::Answering;
                it.answered += it.response;
                let flow = self.flows + connection;
                orders.push(Order::Write { flow, segments: it.response });
                None
            }
            (program, Event::Answered(connection)) => {
                dialogue.connections[connection as usize].state = State::Idle;
                let index = self.index;
                match program {
                    Program::Browser(browser) => {
                        browser.answered(connection, now, (dialogue, chance), (audience, index))
                    }
                    Program::Player(player) => {
                        Some(player.answered(now, dialogue, (audience, index)))
                    }
                    Program::Source(_) => unreachable!("nobody answers a source"),
                }
            }
            (Program::Browser(browser), _) => {
                browser.begin(now, dialogue, chance);
                None
            }
            (Program::Player(player), _) => {
                player.begin(now, dialogue, audience);
                None
            }
        };
        let segments = self.dialogue.request;
        for connection in self.dialogue.asked.drain(..) {
            orders.push(Order::Write { flow: self.requests + connection, segments });
        }
        if let Some((time, event)) = next {
            self.note(time, event, orders);
        }
    }

    /// Everything below `expected` of one of its flows has arrived by `at`.
    pub(crate) fn hear(
        &mut self,
        flow: u32,
        expected: u64,
        at: Time,
        audience: &mut Audience,
        orders: &mut Vec<Order>,
    ) {
        if let Program::Source(source) = &mut self.program {
            return source.hear(expected, at, audience);
        }
        let asks = flow >= self.requests;
        let connection = flow - if asks { self.requests } else { self.flows };
        let it = &mut self.dialogue.connections[connection as usize];
        match it.state {
            State::Asked if asks && expected == it.requested => {
                it.state = State::Requested;
                self.note(at, Event::Requested(connection), orders);
            }
            State::Answering if !asks && expected == it.answered => {
                it.state = State::Answered;
                self.note(at, Event::Answered(connection), orders);
            }
            _ => {}
        }
    }

    /// The run ends.
    pub(crate) fn finish(&mut self, end: Time, audience: &mut Audience) {
        if let Program::Player(player) = &mut self.program {
            player.play_until(end.min(self.stop), audience);
        }
    }
}

/// So many bytes in whole packets.
fn segments(bytes: u64, packet: Bytes) -> u64 {
    bytes.div_ceil(packet.0).max(1)
}

/// The part of the time from `from` to `to` that lies in an interval.
fn overlap((from, to): (Time, Time), (first, last): (Time, Time)) -> Span {
    to.min(last).since(from.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_takes_whole_packets() {
        let packet = Bytes(1000);
        assert_eq!([0, 1, 1000, 1001].map(|bytes| segments(bytes, packet)), [1, 1, 1, 2]);
    }

    #[test]
    fn a_request_takes_as_few_packets_as_possible_all_alike() {
        let packets = |request| request_packets(Bytes(request), Bytes(1000));
        assert_eq!(packets(100), (Bytes(100), 1));
        assert_eq!(packets(1000), (Bytes(1000), 1));
        assert_eq!(packets(1001), (Bytes(501), 2));
        assert_eq!(packets(2000), (Bytes(1000), 2));
        assert_eq!(packets(2500), (Bytes(834), 3));
    }
}
