//! Headers of IPv4 and TCP, as a connection of the model would have them.
//!
//! The model counts segments of equal size; here they are bytes. Sequence numbers begin at 0 with the SYN, so that data
//! begins at 1, and wrap at 2³². Payload is all zeros, and not captured: checksums are those of the whole packet.

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, TcpOptions};
use longfat_sim::trace::{Begun, HeardAck, SentPacket};
use longfat_units::Ecn;

/// The headers without options.
const HEADERS: u64 = 40;
/// The longest header of IPv4 without options, and of TCP.
pub(crate) const MOST: u32 = 20 + 60;
/// The port of the sender, and of the receiver (that of iperf).
const PORTS: (u16, u16) = (49_152, 5_001);
/// How many connections there are before another port is needed: half of 10.0.0.0/8.
const HOSTS: u64 = 1 << 23;
/// What Linux begins with.
const TIME_TO_LIVE: u8 = 64;
/// The window field of a header, and the shift of RFC 7323 with which it says the most.
const FIELD: u64 = 65_535;
const LARGEST_SCALE: u8 = 14;
/// What the counters of marks begin with (RFC 9768, section 3.2.1).
const MARKS: u32 = 5;

/// A packet on the wire: its headers, and its whole length.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) headers: Vec<u8>,
    pub(crate) length: u32,
}

/// A flow as a connection of TCP.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: [u8; 4],
    receiver: [u8; 4],
    ports: (u16, u16),
    /// Data in a packet.
    payload: u64,
    scale: u8,
    begun: Begun,
}

/// What differs from one header to the other.
#[derive(Debug, Default)]
struct Fields {
    sequence: u32,
    acknowledged: u32,
    window: u16,
    syn: bool,
    ack: bool,
    /// The three bits that ECN uses: AE, CWR, ECE.
    ecn_bits: u8,
    ecn: Ecn,
    options: Vec<TcpOptionElement>,
    payload: u64,
}

impl Connection {
    /// The connection of this number.
    pub(crate) fn new(number: u64, begun: Begun) -> Self {
        let host = (number % HOSTS + 1) as u32;
        let address = |side: u32| (0x0A00_0000 | side << 23 | host & 0x007F_FFFF).to_be_bytes();
        let port = PORTS.0 + (number / HOSTS % 16_384) as u16;
        Self {
            sender: address(0),
            receiver: address(1),
            ports: (port, PORTS.1),
            payload: begun.packet.0.saturating_sub(HEADERS).max(1),
            scale: begun.window_scale.map_or(LARGEST_SCALE, |scale| scale as u8),
            begun,
        }
    }

    /// The address and port of the sender, and of the receiver.
    pub(crate) fn ends(&self) -> String {
        let dots = |address: [u8; 4]| address.map(|byte| byte.to_string()).join(".");
        let ((from, to), (port, other)) = ((dots(self.sender), dots(self.receiver)), self.ports);
        format!("{from}:{port} to {to}:{other}")
    }

    /// Data in a packet, in bytes.
    pub(crate) fn payload(&self) -> u64 {
        self.payload
    }

    /// The sequence number of the first byte of a segment.
    fn sequence(&self, segment: u64) -> u32 {
        segment.wrapping_mul(self.payload).wrapping_add(1) as u32
    }

    /// The window field for so many segments; without a window, the most that it can say.
    fn window(&self, segments: Option<u64>) -> u16 {
        let bytes = segments.map_or(u64::MAX, |segments| segments.saturating_mul(self.payload));
        (bytes >> self.scale).min(FIELD) as u16
    }

    /// The packets that open a connection, with what is agreed in them.
    pub(crate) fn handshake(&self) -> [Wire; 3] {
        let Begun { ecn, counts_marks, selective, .. } = self.begun;
        // RFC 3168, section 6.1.1; RFC 9768, tables 2 and 3, with SYNs that cannot be marked.
        let bits = match (ecn, counts_marks) {
            (_, true) => [0b111, 0b010, 0b010],
            (Ecn::NotEct, _) => [0, 0, 0],
            _ => [0b011, 0b001, 0],
        };
        let size = self.payload as u16;
        let mut options = vec![TcpOptionElement::MaximumSegmentSize(size)];
        options.extend([TcpOptionElement::Noop, TcpOptionElement::WindowScale(self.scale)]);
        if selective {
            options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
            options.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
        }
        let opening = |ack: bool, ecn_bits: u8| Fields {
            syn: true,
            ack,
            acknowledged: u32::from(ack),
            window: u16::MAX,
            ecn_bits,
            options: options.clone(),
            ..Fields::default()
        };
        let last = Fields {
            ack: true,
            sequence: 1,
            acknowledged: 1,
            window: u16::MAX,
            ecn_bits: bits[2],
            ..Fields::default()
        };
        [
            self.wire(true, &opening(false, bits[0])),
            self.wire(false, &opening(true, bits[1])),
            self.wire(true, &last),
        ]
    }

    /// A packet that leaves the sender.
    pub(crate) fn data(&self, sent: &SentPacket) -> Wire {
        let fields = Fields {
            sequence: self.sequence(sent.number.segment),
            acknowledged: 1,
            window: u16::MAX,
            ack: true,
            ecn_bits: if self.begun.counts_marks {
                // What the sender receives cannot be marked.
                MARKS as u8 & 0b111
            } else {
                u8::from(sent.reduced) << 1
            },
            ecn: sent.ecn,
            payload: self.payload,
            ..Fields::default()
        };
        self.wire(true, &fields)
    }

    /// An acknowledgment that reaches the sender.
    pub(crate) fn acknowledgment(&self, heard: &HeardAck) -> Wire {
        let filled = heard.blocks.iter().filter(|(first, end)| first < end);
        let mut blocks = filled.map(|&(first, end)| (self.sequence(first), self.sequence(end)));
        let mut options = Vec::new();
        if let Some(first) = blocks.next() {
            options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
            let others = [blocks.next(), blocks.next(), None];
            options.push(TcpOptionElement::SelectiveAcknowledgement(first, others));
        }
        let fields = Fields {
            sequence: 1,
            acknowledged: self.sequence(heard.below),
            window: self.window(heard.window),
            ack: true,
            ecn_bits: match heard.marks {
                Some(marks) => (marks.wrapping_add(MARKS) & 0b111) as u8,
                None => u8::from(heard.echo),
            },
            options,
            ..Fields::default()
        };
        self.wire(false, &fields)
    }

    /// The headers on the wire, of a packet from the sender or from the receiver.
    fn wire(&self, forward: bool, fields: &Fields) -> Wire {
        let (from, to) = if forward {
            ((self.sender, self.ports.0), (self.receiver, self.ports.1))
        } else {
            ((self.receiver, self.ports.1), (self.sender, self.ports.0))
        };
        let mut tcp = TcpHeader::new(from.1, to.1, fields.sequence, fields.window);
        (tcp.acknowledgment_number, tcp.syn, tcp.ack) =
            (fields.acknowledged, fields.syn, fields.ack);
        tcp.ns = fields.ecn_bits & 0b100 != 0;
        tcp.cwr = fields.ecn_bits & 0b010 != 0;
        tcp.ece = fields.ecn_bits & 0b001 != 0;
        tcp.options =
            TcpOptions::try_from_elements(&fields.options).expect("at most three blocks fit");
        let length = tcp.header_len() as u64 + fields.payload;
        let payload = vec![0; fields.payload as usize];
        tcp.checksum = tcp
            .calc_checksum_ipv4_raw(from.0, to.0, &payload)
            .expect("a packet is no longer than IP carries");
        // Acknowledgments with blocks are longer than the model's; nothing is longer than IP carries.
        let length = length.min(u64::from(u16::MAX) - Ipv4Header::MIN_LEN as u64) as u16;
        let mut ip = Ipv4Header::new(length, TIME_TO_LIVE, IpNumber::TCP, from.0, to.0)
            .expect("a packet is no longer than IP carries");
        ip.ecn = IpEcn::try_new(fields.ecn.bits() as u8).expect("two bits");
        ip.header_checksum = ip.calc_header_checksum();
        let mut headers = ip.to_bytes().to_vec();
        headers.extend(tcp.to_bytes());
        Wire { headers, length: u32::from(ip.total_len) }
    }
}
