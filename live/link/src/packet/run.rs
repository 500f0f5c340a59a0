//! Segments that leave together: one shorter super-segment, with headers mended.
//!
//! What each segment of a super-segment has in its headers is what the kernel's own segmentation gives it: for TCP the
//! sequence number advances with the payload (RFC 9293), FIN and PSH are on the last segment only and CWR on the first
//! only (RFC 3168, section 6.1.2); the identification of IPv4 counts up (RFC 6864 leaves it free where DF is set).
//! Checksums of TCP and UDP stay with whoever cuts further: their field holds the sum of the pseudo header.

use std::ops::Range;

use etherparse::checksum::Sum16BitWords;
use longfat_units::Ecn;

use super::offload::OFFLOAD;
use super::shape::{Cut, Shape};
use super::spare;
use super::version::Version;

/// The flags of TCP, at byte 13 of its header.
const TCP_FLAGS: usize = 13;
const FIN_PSH: u8 = 0x01 | 0x08;
const CWR: u8 = 0x80;

/// Segments of one super-segment that follow one another and share a mark and a bit of AntiECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first of them.
    pub first: u32,
    /// How many, at least 1.
    pub count: u32,
    /// Has the link marked them (RFC 3168)?
    pub marked: bool,
    /// The bit of AntiECN with which they go on; it is written only where the packet takes part.
    pub spare: bool,
}

impl Shape {
    /// Writes the offload header and the headers of a run into `head`, whose memory is used again, and returns which
    /// bytes of `frame` follow them. `frame` is what this shape was parsed from; the run lies within it.
    pub fn write(&self, frame: &[u8], run: Run, head: &mut Vec<u8>) -> Range<usize> {
        head.clear();
        let packet = &frame[OFFLOAD..];
        let range = match self.cut {
            None => self.write_single(packet, head),
            Some(cut) => self.write_part(packet, cut, run, head),
        };
        let marked = run.marked && self.ecn.is_capable();
        if marked {
            mark(self.version, &mut head[OFFLOAD..]);
        }
        let told = self.spare.is_some_and(|had| had != run.spare);
        if told {
            spare::write(self.version, &mut head[OFFLOAD..], run.spare);
        }
        match self.version {
            Version::V4 { header } if marked || told || self.cut.is_some() => {
                complete_checksum(&mut head[OFFLOAD..OFFLOAD + header]);
            }
            Version::V4 { .. } | Version::V6 => {}
        }
        range.start + OFFLOAD..range.end + OFFLOAD
    }

    fn write_single(&self, packet: &[u8], head: &mut Vec<u8>) -> Range<usize> {
        let headers = match self.version {
            Version::V4 { header } => header,
            Version::V6 => 40,
        };
        head.extend(self.offload.single(headers).bytes());
        head.extend(&packet[..headers]);
        headers..self.length
    }

    fn write_part(&self, packet: &[u8], cut: Cut, run: Run, head: &mut Vec<u8>) -> Range<usize> {
        let Cut { tcp, transport, headers, segment } = cut;
        let (first, count) = (run.first as usize, run.count as usize);
        let begin = headers + first * segment;
        let end = (begin + count * segment).min(self.length);
        let at_front = first == 0;
        let at_end = run.first + run.count == self.segments();
        let cwr = tcp && at_front && packet[transport + TCP_FLAGS] & CWR != 0;
        let offload = if run.count == 1 {
            self.offload.single(headers)
        } else {
            self.offload.several(headers, cwr)
        };
        head.extend(offload.bytes());
        head.extend(&packet[..headers]);
        let parts = &mut head[OFFLOAD..];
        let length = headers + (end - begin);
        match self.version {
            Version::V4 { .. } => {
                put(parts, 2, length as u16);
                let id = get(parts, 4).wrapping_add(run.first as u16);
                put(parts, 4, id);
            }
            Version::V6 => put(parts, 4, (length - 40) as u16),
        }
        if tcp {
            let sequence = [0, 1, 2, 3].map(|byte| parts[transport + 4 + byte]);
            let sequence = u32::from_be_bytes(sequence).wrapping_add((first * segment) as u32);
            parts[transport + 4..transport + 8].copy_from_slice(&sequence.to_be_bytes());
            let flags = &mut parts[transport + TCP_FLAGS];
            if !at_end {
                *flags &= !FIN_PSH;
            }
            if !at_front {
                *flags &= !CWR;
            }
        } else {
            put(parts, transport + 4, (length - transport) as u16);
        }
        // The pseudo header holds the length of what follows IP, which is all that changes in it.
        let field = transport + usize::from(self.offload.checksum_offset);
        let (before, after) = ((self.length - transport) as u16, (length - transport) as u16);
        let sum = Sum16BitWords::new()
            .add_2bytes(get(parts, field).to_be_bytes())
            .add_2bytes((!before).to_be_bytes())
            .add_2bytes(after.to_be_bytes());
        put(parts, field, !sum.ones_complement().to_be());
        begin..end
    }
}

/// Writes the mark of RFC 3168, section 5, into a header that can carry it.
fn mark(version: Version, packet: &mut [u8]) {
    let bits = Ecn::Ce.bits() as u8;
    match version {
        Version::V4 { .. } => packet[1] |= bits,
        Version::V6 => packet[1] |= bits << 4,
    }
}

/// Computes the checksum of an IPv4 header anew (RFC 791).
fn complete_checksum(header: &mut [u8]) {
    put(header, 10, 0);
    let sum = Sum16BitWords::new().add_slice(header).ones_complement();
    put(header, 10, sum.to_be());
}

fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}
