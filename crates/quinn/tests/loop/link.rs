//! Two ends of quinn, a link between them, and a clock that only this moves.
//!
//! The client sends without end. The link to the server has a rate and a buffer, drop tail or marking above a threshold;
//! acknowledgments only take time.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use longfat_quinn::{Adapter, Factory};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, ServerConfig, StreamId, Transmit, TransportConfig, VarInt,
};

use super::plain::Plain;

/// The size of every full datagram.
pub(crate) const MTU: u16 = 1200;

/// What lies between the two ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// In bit/s.
    pub(crate) rate: u64,
    pub(crate) rtt: Duration,
    /// In full datagrams.
    pub(crate) buffer: u64,
    /// Marks what finds more than so many waiting.
    pub(crate) mark_above: Option<u64>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// Mean window in segments, from `warmup` on.
    pub(crate) window: f64,
    /// Share of the link's rate that the stream's data took, from `warmup` on.
    pub(crate) goodput: f64,
    pub(crate) lost: u64,
    pub(crate) marked: u64,
    /// How often the controller answered congestion.
    pub(crate) responses: u64,
    /// What share of the bytes that left has a fate: acknowledged, in flight, or lost.
    pub(crate) accounted: f64,
}

struct Datagram {
    due: Instant,
    ecn: Option<EcnCodepoint>,
    bytes: BytesMut,
}

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    address: SocketAddr,
    peer: SocketAddr,
    inbound: VecDeque<Datagram>,
    outbound: Vec<(Option<EcnCodepoint>, BytesMut)>,
}

impl End {
    /// Takes in what is due, acts on timers, and sends.
    fn drive(&mut self, now: Instant) {
        let mut buffer = Vec::new();
        while self.inbound.front().is_some_and(|datagram| datagram.due <= now) {
            let Some(Datagram { ecn, bytes, .. }) = self.inbound.pop_front() else { break };
            match self.endpoint.handle(now, self.peer, None, ecn, bytes, &mut buffer) {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    let accepted = self.endpoint.accept(incoming, now, &mut buffer, None);
                    let accepted = accepted.map_err(|error| error.cause);
                    self.connection = Some(accepted.expect("the server takes every connection"));
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut self.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::Response(_)) => {
                    panic!("nothing is answered without a connection")
                }
                None => {}
            }
        }
        let Some((handle, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while connection.poll().is_some() {}
    }

    fn send(&mut self, now: Instant) {
        let Some((_, connection)) = &mut self.connection else { return };
        let mut buffer = Vec::new();
        while let Some(Transmit { ecn, size, segment_size, .. }) =
            connection.poll_transmit(now, 10, &mut buffer)
        {
            for datagram in buffer[..size].chunks(segment_size.unwrap_or(size)) {
                self.outbound.push((ecn, datagram.into()));
            }
            buffer.clear();
        }
    }

    /// When there is something to do next.
    fn wakes(&mut self) -> Option<Instant> {
        let timer = self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout());
        let arrival = self.inbound.front().map(|datagram| datagram.due);
        [timer, arrival].into_iter().flatten().min()
    }
}

/// Settings of both ends: nothing but the window limits the sender.
fn transport(factory: Arc<Factory>) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(factory)
        .initial_mtu(MTU)
        .mtu_discovery_config(None)
        .send_window(1 << 23)
        .receive_window(VarInt::MAX)
        .stream_receive_window(VarInt::MAX)
        .max_idle_timeout(None);
    Arc::new(transport)
}

fn ends(factory: &Arc<Factory>, now: Instant) -> (End, End) {
    let address = |port| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
    let end = |server: Option<ServerConfig>, seed, address, peer| End {
        endpoint: Endpoint::new(
            Arc::new(EndpointConfig::new(Arc::new(Plain))),
            server.map(Arc::new),
            false,
            Some([seed; 32]),
        ),
        connection: None,
        address,
        peer,
        inbound: VecDeque::new(),
        outbound: Vec::new(),
    };
    let mut server_config = ServerConfig::new(Arc::new(Plain), Arc::new(Plain));
    server_config.transport_config(transport(Arc::clone(factory)));
    let server = end(Some(server_config), 1, address(2), address(1));
    let mut client = end(None, 2, address(1), address(2));
    let mut client_config = ClientConfig::new(Arc::new(Plain));
    client_config.transport_config(transport(Arc::clone(factory)));
    let connection = client.endpoint.connect(now, client_config, server.address, "server");
    client.connection = Some(connection.expect("the address is one"));
    (client, server)
}

/// Sends for `warmup` and then for `measured` under the controllers of `factory`.
pub(crate) fn run(
    factory: &Arc<Factory>,
    link: Link,
    warmup: Duration,
    measured: Duration,
) -> Outcome {
    #[expect(clippy::disallowed_methods, reason = "an instant to begin with; there is no other")]
    let begin = Instant::now();
    let (mut client, mut server) = ends(factory, begin);
    let (mut stream, mut incoming) = (None, None);
    let data = vec![0; 1 << 16];
    let (mut now, mut free, mut lost, mut marked) = (begin, begin, 0, 0);
    let (mut area, mut received) = (0.0, 0);
    let one = Duration::from_secs_f64(f64::from(MTU) * 8.0 / link.rate as f64);

    while now < begin + warmup + measured {
        client.drive(now);
        server.drive(now);
        if let Some((_, connection)) = &mut client.connection
            && !connection.is_handshaking()
        {
            stream = stream.or_else(|| connection.streams().open(Dir::Uni));
            // The buffer is full once it takes no more.
            while stream.is_some_and(|id| connection.send_stream(id).write(&data).is_ok()) {}
        }
        if let Some((_, connection)) = &mut server.connection {
            let bytes = read(connection, &mut incoming);
            if now >= begin + warmup {
                received += bytes;
            }
        }
        client.send(now);
        server.send(now);

        for (ecn, bytes) in client.outbound.drain(..) {
            let waiting = free.saturating_duration_since(now);
            let packets = (waiting.as_secs_f64() / one.as_secs_f64()).ceil() as u64;
            if packets > link.buffer {
                lost += 1;
                continue;
            }
            let marks = link.mark_above.is_some_and(|threshold| packets > threshold);
            let ecn = if marks && ecn.is_some() { Some(EcnCodepoint::Ce) } else { ecn };
            marked += u64::from(marks);
            free = free.max(now)
                + Duration::from_secs_f64(bytes.len() as f64 * 8.0 / link.rate as f64);
            server.inbound.push_back(Datagram { due: free + link.rtt / 2, ecn, bytes });
        }
        for (ecn, bytes) in server.outbound.drain(..) {
            client.inbound.push_back(Datagram { due: now + link.rtt / 2, ecn, bytes });
        }

        let next = [client.wakes(), server.wakes()].into_iter().flatten().min();
        let next = next.expect("there is always something in flight").max(now);
        if now >= begin + warmup {
            area += window(&client) * (next - now).as_secs_f64();
        }
        now = next;
    }
    let measured = measured.as_secs_f64();
    let adapter = adapter(&client);
    Outcome {
        window: area / measured,
        goodput: received as f64 * 8.0 / measured / link.rate as f64,
        lost,
        marked,
        responses: adapter.responses(),
        accounted: accounted(&client, &adapter),
    }
}

/// The window of the client in segments.
fn window(client: &End) -> f64 {
    let bytes =
        client.connection.as_ref().map_or(0, |(_, connection)| connection.stats().path.cwnd);
    bytes.saturating_sub(1) as f64 / f64::from(MTU)
}

/// The client's controller.
fn adapter(client: &End) -> Box<Adapter> {
    let (_, connection) = client.connection.as_ref().expect("it has connected");
    let state = connection.congestion_state().clone_box().into_any();
    state.downcast().expect("the factory makes adapters")
}

/// What share of the bytes that left is acknowledged or in flight, as the adapter has it, or lost.
fn accounted(client: &End, adapter: &Adapter) -> f64 {
    let stats = client.connection.as_ref().expect("it has connected").1.stats();
    let known = adapter.acknowledged() + adapter.in_flight() + stats.path.lost_bytes;
    known as f64 / stats.udp_tx.bytes as f64
}

/// Reads all that has arrived in order; returns how many bytes.
fn read(connection: &mut Connection, stream: &mut Option<StreamId>) -> usize {
    *stream = stream.or_else(|| connection.streams().accept(Dir::Uni));
    let Some(id) = *stream else { return 0 };
    let mut receiver = connection.recv_stream(id);
    let Ok(mut chunks) = receiver.read(true) else { return 0 };
    let mut bytes = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        bytes += chunk.bytes.len();
    }
    // What this allows the peer to send is sent with whatever leaves next.
    let _ = chunks.finalize();
    bytes
}
