//! A capture of packets, as tcpdump would take it at each sender.

use std::collections::BTreeMap;

use longfat_pcapng as pcapng;
use longfat_scenario::Scenario;
use longfat_sim::trace::{Begun, Stream, TraceEvent, What};

use crate::chosen::{Chosen, TraceError};
use crate::headers::{Connection, MOST, Wire};

/// Sequence numbers that lie further apart than this cannot be told from older ones (RFC 7323, section 2.3).
const TELLABLE: u64 = 1 << 30;

const ABOUT: &str = "Simulated by longfat: the packets that leave each sender, and the acknowledgments that reach it. \
                     Headers only; the time is that since the beginning of the run.";
const SYNTHETIC: &str = "synthetic: the model has no handshake; this says what both ends know";

/// Makes the bytes of a pcapng file, packet by packet.
#[derive(Debug)]
pub struct Capture {
    /// The place of each long flow and group.
    interfaces: BTreeMap<Place, u32>,
    connections: BTreeMap<Stream, Open>,
    /// Connections that have begun and are not long flows, whose numbers are their places.
    others: u64,
    ambiguous: Vec<String>,
}

/// Where packets are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Long(usize, u64),
    Requests(usize),
    Short(usize),
}

/// A connection under way.
#[derive(Debug)]
struct Open {
    interface: u32,
    connection: Connection,
    /// What it is called.
    name: String,
    /// Everything below has arrived; one past the last segment that has left.
    below: u64,
    next: u64,
}

impl Place {
    fn of(stream: Stream) -> Self {
        match stream {
            Stream::Long(group, index) => Self::Long(group, index),
            Stream::Requests(group, _) => Self::Requests(group),
            Stream::Short(group, _) => Self::Short(group),
        }
    }

    fn name(self, scenario: &Scenario) -> String {
        match self {
            Self::Long(group, index) => format!("{}[{index}]", scenario.flows[group].name),
            Self::Requests(group) => format!("{} requests", scenario.flows[group].name),
            Self::Short(group) => scenario.traffic[group].name.clone(),
        }
    }
}

impl Capture {
    /// The capture of the `chosen` flows of a scenario, whose beginning is added to `out`: each long flow is seen on an
    /// interface of its own, and so is each group of short ones.
    ///
    /// # Errors
    /// [`TraceError::Encrypted`]: one of them sends as QUIC does.
    pub fn new(
        scenario: &Scenario,
        chosen: &Chosen,
        out: &mut Vec<u8>,
    ) -> Result<Self, TraceError> {
        chosen.refuse_encrypted(scenario)?;
        pcapng::section(concat!("longfat ", env!("CARGO_PKG_VERSION")), ABOUT, out);
        let long = chosen.long(scenario).map(|(group, index)| Place::Long(group, index));
        let requests = scenario.flows.iter().enumerate().filter(|(group, flow)| {
            let application = flow.application.as_ref();
            application.is_some_and(|application| application.request().is_some())
                && chosen.has(Stream::Requests(*group, 0))
        });
        let requests = requests.map(|(group, _)| Place::Requests(group));
        let short = (0..scenario.traffic.len())
            .filter(|group| chosen.has(Stream::Short(*group, 0)))
            .map(Place::Short);
        let mut interfaces = BTreeMap::new();
        for (number, place) in long.chain(requests).chain(short).enumerate() {
            let control = match place {
                Place::Long(group, _) | Place::Requests(group) => &scenario.flows[group].control,
                Place::Short(group) => &scenario.traffic[group].control,
            };
            let description =
                format!("at the sender, which is controlled by {}", control.entry.name);
            pcapng::interface(&place.name(scenario), &description, MOST, out);
            interfaces.insert(place, number as u32);
        }
        Ok(Self { interfaces, connections: BTreeMap::new(), others: 0, ambiguous: Vec::new() })
    }

    /// Adds what an event makes to `out`.
    pub fn add(&mut self, event: &TraceEvent, out: &mut Vec<u8>) {
        let nanoseconds = event.time.0 / 1_000;
        if let What::Begins(begun) = &event.what {
            return self.open(event.stream, nanoseconds, *begun, out);
        }
        let Some(open) = self.connections.get_mut(&event.stream) else { return };
        let wire = match &event.what {
            What::Sent(sent) => {
                open.next = open.next.max(sent.number.segment + 1);
                let spread = (open.next - open.below).saturating_mul(open.connection.payload());
                if spread > TELLABLE && !self.ambiguous.contains(&open.name) {
                    self.ambiguous.push(open.name.clone());
                }
                open.connection.data(sent)
            }
            What::Heard(heard) => {
                open.below = open.below.max(heard.below);
                open.connection.acknowledgment(heard)
            }
            What::Ends => {
                self.connections.remove(&event.stream);
                return;
            }
            _ => return,
        };
        let Wire { headers, length } = wire;
        pcapng::packet((open.interface, nanoseconds), &headers, length, None, out);
    }

    fn open(&mut self, stream: Stream, nanoseconds: u64, begun: Begun, out: &mut Vec<u8>) {
        let place = Place::of(stream);
        let Some(&interface) = self.interfaces.get(&place) else { return };
        let number = if matches!(place, Place::Long(..)) {
            u64::from(interface)
        } else {
            self.others += 1;
            self.interfaces.len() as u64 + self.others
        };
        let connection = Connection::new(number, begun);
        for Wire { headers, length } in connection.handshake() {
            pcapng::packet((interface, nanoseconds), &headers, length, Some(SYNTHETIC), out);
        }
        let name = connection.ends();
        let open = Open { interface, connection, name, below: 0, next: 0 };
        self.connections.insert(stream, open);
    }

    /// The connections that had more data in flight than sequence numbers can tell, 1 GiB: other tools misread them.
    pub fn ambiguous(&self) -> &[String] {
        &self.ambiguous
    }
}
