//! What a packet looks like: where its headers end, how many segments it holds, and what a queue wants to know of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use etherparse::{IpSlice, TcpHeaderSlice, ip_number};
use longfat_units::{Bytes, Ecn};

use super::offload::{Kind, OFFLOAD, Offload};
use super::spare;
use super::version::Version;

/// The length of a UDP header.
const UDP_HEADER: usize = 8;
/// Where the checksum is in a TCP header, and in a UDP header.
const TCP_CHECKSUM: u16 = 16;
const UDP_CHECKSUM: u16 = 6;

/// What a frame, an offload header and a packet, looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub(super) version: Version,
    pub(super) offload: Offload,
    /// How it is cut; `None`: it is a single packet.
    pub(super) cut: Option<Cut>,
    /// The length of the IP packet, in bytes.
    pub(super) length: usize,
    /// Number of segments, at least 1.
    segments: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The bit of AntiECN with which it comes; `None`: it takes no part.
    pub spare: Option<bool>,
    /// Is it more than an acknowledgment: a packet of TCP with payload, or one of another protocol?
    pub data: bool,
    /// Tells flows apart: a hash of addresses, protocol and ports.
    pub flow: u32,
    /// A hash of the address that it comes from.
    pub source: u32,
    /// A hash of the address that it goes to.
    pub destination: u32,
}

/// How a super-segment is cut into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) tcp: bool,
    /// Where the header of TCP or UDP begins in the packet.
    pub(super) transport: usize,
    /// The length of all headers.
    pub(super) headers: usize,
    /// The payload of each segment but the last.
    pub(super) segment: usize,
}

/// A frame that is no packet to forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It ends before its offload header does.
    #[error("the frame is shorter than its offload header")]
    Short,
    /// It is no IP packet, or one whose lengths contradict one another.
    #[error("it is no whole IP packet")]
    Ip,
    /// It is a super-segment of a kind that was never asked for.
    #[error("its offload header announces a kind of super-segment that is not known")]
    Kind,
    /// Its offload header contradicts the packet.
    #[error("its offload header contradicts the packet")]
    Offload,
}

impl Shape {
    /// Looks at a frame.
    ///
    /// # Errors
    /// If it is no packet that can be forwarded.
    pub fn parse(frame: &[u8]) -> Result<Self, Malformed> {
        let (offload, packet) = frame.split_first_chunk::<OFFLOAD>().ok_or(Malformed::Short)?;
        let offload = Offload::read(*offload);
        let ip = IpSlice::from_slice(packet).map_err(|_| Malformed::Ip)?;
        let (version, stated, ecn, dscp) = match &ip {
            IpSlice::Ipv4(ip) => {
                let header = ip.header();
                let version = Version::V4 { header: header.slice().len() };
                let stated = usize::from(header.total_len());
                (version, stated, header.ecn().value(), header.dcp().value())
            }
            IpSlice::Ipv6(ip) => {
                let header = ip.header();
                let stated = header.slice().len() + usize::from(header.payload_length());
                (Version::V6, stated, header.ecn().value(), header.dscp().value())
            }
        };
        // Super-segments above 64 KB, whose stated length is zero, are never asked for either.
        if stated != packet.len() {
            return Err(Malformed::Ip);
        }
        let payload = ip.payload();
        let transport = packet.len() - payload.payload.len();
        let tcp = payload.ip_number == ip_number::TCP && !payload.fragmented;
        let udp = payload.ip_number == ip_number::UDP && !payload.fragmented;
        let header = if tcp {
            TcpHeaderSlice::from_slice(payload.payload).ok().map(|header| header.slice().len())
        } else {
            (udp && payload.payload.len() >= UDP_HEADER).then_some(UDP_HEADER)
        };
        if offload.needs_checksum() {
            let end =
                usize::from(offload.checksum_start) + usize::from(offload.checksum_offset) + 2;
            if end > packet.len() {
                return Err(Malformed::Offload);
            }
        }
        let cut = match offload.kind().ok_or(Malformed::Kind)? {
            Kind::Plain => None,
            kind => {
                let known = match kind {
                    Kind::TcpV4 => tcp && matches!(version, Version::V4 { .. }),
                    Kind::TcpV6 => tcp && version == Version::V6,
                    Kind::Udp => udp,
                    Kind::Plain => false,
                };
                let header = header.filter(|_| known).ok_or(Malformed::Offload)?;
                let checksum = if tcp { TCP_CHECKSUM } else { UDP_CHECKSUM };
                let fits = offload.needs_checksum()
                    && usize::from(offload.checksum_start) == transport
                    && offload.checksum_offset == checksum
                    && offload.segment > 0
                    && transport + header < packet.len();
                let headers = transport + header;
                let segment = usize::from(offload.segment);
                fits.then_some(Some(Cut { tcp, transport, headers, segment }))
                    .ok_or(Malformed::Offload)?
            }
        };
        let segments =
            cut.map_or(1, |cut| (packet.len() - cut.headers).div_ceil(cut.segment) as u32);
        let ports = header.and_then(|_| payload.payload.first_chunk::<4>()).copied();
        let (source, destination) = (ip.source_addr(), ip.destination_addr());
        Ok(Self {
            version,
            offload,
            cut,
            length: packet.len(),
            segments,
            ecn: Ecn::from_bits(u16::from(ecn)),
            spare: spare::bit(dscp),
            data: !tcp || header.is_none_or(|header| transport + header < packet.len()),
            flow: digest((source, destination, payload.ip_number.0, ports)),
            source: digest(source),
            destination: digest::<IpAddr>(destination),
        })
    }

    /// Number of segments, at least 1.
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// The size of a segment with its headers, from the first byte of IP to the last of its payload.
    pub fn size(&self, index: u32) -> Bytes {
        let size = self.cut.map_or(self.length, |cut| {
            let before = index as usize * cut.segment;
            cut.headers + cut.segment.min((self.length - cut.headers).saturating_sub(before))
        });
        Bytes(size as u64)
    }
}

/// A hash in 32 bits.
fn digest<T: Hash>(value: T) -> u32 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() as u32
}
