//! The header that the kernel puts in front of each packet: what is left to be done to it.

/// The length of an [`Offload`], in bytes.
pub const OFFLOAD: usize = 10;

/// The checksum is still to be computed: its field holds the sum of the pseudo header.
const NEEDS_CHECKSUM: u8 = 1;

/// Kinds of super-segments (`VIRTIO_NET_HDR_GSO_*`).
const PLAIN: u8 = 0;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const UDP: u8 = 5;
/// A bit beside the kind: the first segment carries CWR (RFC 3168), and the others do not.
const WITH_CWR: u8 = 0x80;

/// The `virtio_net_hdr` of ten bytes, little-endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// Flags; only the lowest is known here.
    flags: u8,
    /// The kind of super-segment.
    kind: u8,
    /// The length of all headers, a hint that is never read.
    headers: u16,
    /// The payload of each segment but the last, in bytes.
    pub(super) segment: u16,
    /// From where on the checksum is computed.
    pub(super) checksum_start: u16,
    /// Where it is written, from there.
    pub(super) checksum_offset: u16,
}

/// What a super-segment is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A single packet.
    Plain,
    /// TCP over IPv4.
    TcpV4,
    /// TCP over IPv6.
    TcpV6,
    /// UDP over either.
    Udp,
}

impl Offload {
    /// Reads it.
    pub fn read(bytes: [u8; OFFLOAD]) -> Self {
        let pair = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            kind: bytes[1],
            headers: pair(2),
            segment: pair(4),
            checksum_start: pair(6),
            checksum_offset: pair(8),
        }
    }

    /// Its bytes.
    pub fn bytes(self) -> [u8; OFFLOAD] {
        let [h0, h1] = self.headers.to_le_bytes();
        let [s0, s1] = self.segment.to_le_bytes();
        let [a0, a1] = self.checksum_start.to_le_bytes();
        let [o0, o1] = self.checksum_offset.to_le_bytes();
        [self.flags, self.kind, h0, h1, s0, s1, a0, a1, o0, o1]
    }

    /// What kind of super-segment it announces; `None`: one that was never asked for.
    pub(super) fn kind(self) -> Option<Kind> {
        match self.kind & !WITH_CWR {
            PLAIN => Some(Kind::Plain),
            TCP_V4 => Some(Kind::TcpV4),
            TCP_V6 => Some(Kind::TcpV6),
            UDP => Some(Kind::Udp),
            _ => None,
        }
    }

    /// Is the checksum still to be computed?
    pub(super) fn needs_checksum(self) -> bool {
        self.flags & NEEDS_CHECKSUM != 0
    }

    /// The same for a single packet with headers of this length.
    pub(super) fn single(self, headers: usize) -> Self {
        Self { kind: PLAIN, segment: 0, ..self.cleaned(headers) }
    }

    /// The same for a super-segment with headers of this length; `cwr`: its first segment carries it.
    pub(super) fn several(self, headers: usize, cwr: bool) -> Self {
        let bit = if cwr { WITH_CWR } else { 0 };
        Self { kind: self.kind & !WITH_CWR | bit, ..self.cleaned(headers) }
    }

    /// Without flags that say something about how the packet was received.
    fn cleaned(self, headers: usize) -> Self {
        Self { flags: self.flags & NEEDS_CHECKSUM, headers: headers as u16, ..self }
    }

    /// One for tests.
    #[cfg(test)]
    pub(super) fn of(kind: Kind, segment: u16, checksum: Option<(u16, u16)>) -> Self {
        let kind = match kind {
            Kind::Plain => PLAIN,
            Kind::TcpV4 => TCP_V4,
            Kind::TcpV6 => TCP_V6,
            Kind::Udp => UDP,
        };
        let flags = if checksum.is_some() { NEEDS_CHECKSUM } else { 0 };
        let (checksum_start, checksum_offset) = checksum.unwrap_or_default();
        Self { flags, kind, headers: 0, segment, checksum_start, checksum_offset }
    }
}
