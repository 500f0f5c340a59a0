//! Frames for tests of what carries them.

use longfat_units::Ecn;

use super::offload::{Kind, Offload};

/// A packet of IPv4 with this length, of no protocol.
pub(crate) fn single(length: u16, ecn: Ecn) -> Vec<u8> {
    let mut packet = header(length, 253, ecn);
    packet.resize(usize::from(length), 0);
    [&Offload::default().bytes()[..], &packet].concat()
}

/// A super-segment of TCP over IPv4 with so much payload, in segments of so much.
pub(crate) fn several(payload: usize, segment: u16, ecn: Ecn) -> Vec<u8> {
    let mut packet = header((40 + payload) as u16, 6, ecn);
    packet.extend([0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    packet.resize(40 + payload, 0);
    let offload = Offload::of(Kind::TcpV4, segment, Some((20, 16)));
    [&offload.bytes()[..], &packet].concat()
}

fn header(length: u16, protocol: u8, ecn: Ecn) -> Vec<u8> {
    let [high, low] = length.to_be_bytes();
    let ecn = ecn.bits() as u8;
    let start = [0x45, ecn, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    [&start[..], &[198, 18, 0, 1, 198, 18, 0, 2]].concat()
}
