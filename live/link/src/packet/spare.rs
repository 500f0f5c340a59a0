//! AntiECN's bit in packets of IP: which packets carry it, and where.
//!
//! The paper has a bit of its own, which IP does not. Here it is one of the DSCP (RFC 2474), in two code points of the pool
//! that is left to experiments and local use (section 6, `xxxx11`):
//!
//! | DSCP | meaning |
//! |---|---|
//! | `000111` | takes part, and every link so far had capacity to spare |
//! | `000011` | takes part, and some link had none |
//! | any other | takes no part, and is never changed |
//!
//! The two bits of ECN beside it are left alone.

use super::version::Version;

/// The bit in the traffic class.
const BIT: u8 = 0b0001_0000;
/// The DSCP in the traffic class, without that bit.
const CODE: u8 = 0b1110_1100;
/// What is there in packets that take part.
const TAKES_PART: u8 = 0b0000_1100;

/// The bit of a packet with this DSCP; `None`: it takes no part.
pub(super) fn bit(dscp: u8) -> Option<bool> {
    let class = dscp << 2;
    (class & CODE == TAKES_PART).then_some(class & BIT != 0)
}

/// Writes the bit into a header; the checksum of IPv4 is left to the caller.
pub(super) fn write(version: Version, packet: &mut [u8], spare: bool) {
    let (byte, bit) = match version {
        Version::V4 { .. } => (&mut packet[1], BIT),
        Version::V6 => (&mut packet[0], BIT >> 4),
    };
    if spare {
        *byte |= bit;
    } else {
        *byte &= !bit;
    }
}
