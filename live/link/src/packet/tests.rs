//! Cutting is checked against a segmentation of its own, which knows nothing of runs: it gives each segment the headers
//! that the kernel's segmentation would, and computes every checksum from nothing.

use proptest::collection::vec;
use proptest::prelude::*;

use super::offload::{Kind, OFFLOAD, Offload};
use super::*;

/// What a super-segment is made from.
#[derive(Clone, Debug)]
struct Recipe {
    v6: bool,
    tcp: bool,
    /// Words of IPv4 options, or of an IPv6 extension header.
    extra: usize,
    /// Words of TCP options.
    options: usize,
    traffic_class: u8,
    id: u16,
    sequence: u32,
    flags: u8,
    payload: Vec<u8>,
    segment: u16,
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let shape = (any::<bool>(), any::<bool>(), 0..=10_usize, 0..=10_usize);
    // Half of the packets take part in AntiECN.
    let class = prop_oneof![
        any::<u8>(),
        (prop::sample::select(vec![12_u8, 28]), 0..4_u8).prop_map(|(a, b)| a | b)
    ];
    let fields = (class, any::<u16>(), any::<u32>(), any::<u8>());
    (shape, fields, vec(any::<u8>(), 1..3000), 1..600_u16).prop_map(
        |(shape, fields, payload, segment)| {
            let (v6, tcp, extra, options) = shape;
            let (traffic_class, id, sequence, flags) = fields;
            Recipe { v6, tcp, extra, options, traffic_class, id, sequence, flags, payload, segment }
        },
    )
}

impl Recipe {
    /// The frame as the kernel would hand it over.
    fn frame(&self) -> Vec<u8> {
        let transport = self.transport();
        let length = transport.len() + self.payload.len();
        let mut packet = if self.v6 { self.v6(length) } else { self.v4(length) };
        let start = packet.len();
        packet.extend(&transport);
        packet.extend(&self.payload);
        let at = if self.tcp { 16 } else { 6 };
        let sum = fold(pseudo(&packet, length));
        packet[start + at..start + at + 2].copy_from_slice(&sum.to_be_bytes());
        let kind = match (self.tcp, self.v6) {
            (false, _) => Kind::Udp,
            (true, false) => Kind::TcpV4,
            (true, true) => Kind::TcpV6,
        };
        let offload = Offload::of(kind, self.segment, Some((start as u16, at as u16)));
        [&offload.bytes()[..], &packet].concat()
    }

    fn v4(&self, length: usize) -> Vec<u8> {
        let header = 20 + 4 * self.extra;
        let mut bytes = vec![0x40 | (header / 4) as u8, self.traffic_class];
        bytes.extend(((header + length) as u16).to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, 64, if self.tcp { 6 } else { 17 }, 0, 0]);
        bytes.extend([10, 0, 0, 1, 192, 168, 7, 9]);
        bytes.resize(header, 1);
        let sum = !fold(sum(&bytes));
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    fn v6(&self, length: usize) -> Vec<u8> {
        let protocol = if self.tcp { 6 } else { 17 };
        // Destination options: one option of padding.
        let extension = if self.extra == 0 { 0 } else { 8 * self.extra };
        let mut bytes = vec![0x60 | self.traffic_class >> 4, self.traffic_class << 4 | 3, 1, 2];
        bytes.extend(((extension + length) as u16).to_be_bytes());
        bytes.extend([if extension > 0 { 60 } else { protocol }, 64]);
        bytes.extend((1..=32).map(|byte| byte * 7));
        if extension > 0 {
            bytes.extend([protocol, (extension / 8 - 1) as u8, 1, (extension - 4) as u8]);
            bytes.resize(40 + extension, 0);
        }
        bytes
    }

    fn transport(&self) -> Vec<u8> {
        if !self.tcp {
            let length = (8 + self.payload.len()) as u16;
            return [&[1, 2, 3, 4][..], &length.to_be_bytes(), &[0, 0]].concat();
        }
        let mut bytes = vec![0x12, 0x34, 0, 80];
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend([9, 9, 9, 9, ((5 + self.options) << 4) as u8, self.flags]);
        bytes.extend([1, 0, 0, 0, 0, 0]);
        bytes.resize(20 + 4 * self.options, 1);
        bytes
    }
}

/// The sum of 16-bit words (RFC 1071).
fn sum(bytes: &[u8]) -> u64 {
    bytes
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0)))
        .sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Is it IPv6? Where does the transport begin, and which is it?
fn parts(packet: &[u8]) -> (bool, usize, u8) {
    if packet[0] >> 4 == 4 {
        return (false, usize::from(packet[0] & 15) * 4, packet[9]);
    }
    if packet[6] == 60 {
        (true, 48 + 8 * usize::from(packet[41]), packet[40])
    } else {
        (true, 40, packet[6])
    }
}

/// The sum of the pseudo header of a transport of `length` bytes.
fn pseudo(packet: &[u8], length: usize) -> u64 {
    let (v6, _, protocol) = parts(packet);
    let addresses = if v6 { &packet[8..40] } else { &packet[12..20] };
    sum(addresses) + u64::from(protocol) + length as u64
}

/// Cuts a frame into packets that need nothing more.
fn segment(frame: &[u8]) -> Vec<Vec<u8>> {
    let offload = Offload::read(frame[..OFFLOAD].try_into().expect("the length is right"));
    let packet = &frame[OFFLOAD..];
    let (v6, start, protocol) = parts(packet);
    let tcp = protocol == 6;
    let field = start + if tcp { 16 } else { 6 };
    if offload.needs_checksum() {
        // What is there is the pseudo header's, as whoever completes it relies on.
        let there = u64::from(packet[field]) << 8 | u64::from(packet[field + 1]);
        assert_eq!(fold(there) % 0xffff, fold(pseudo(packet, packet.len() - start)) % 0xffff);
    }
    let headers = start + if tcp { usize::from(packet[start + 12] >> 4) * 4 } else { 8 };
    let size = match offload.kind() {
        Some(Kind::Plain) => packet.len(),
        _ => usize::from(offload.segment),
    };
    let chunks = packet[headers..].chunks(size);
    let last = chunks.len() - 1;
    chunks
        .enumerate()
        .map(|(index, payload)| {
            let mut one = [&packet[..headers], payload].concat();
            let length = one.len();
            if v6 {
                one[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
            } else {
                one[2..4].copy_from_slice(&(length as u16).to_be_bytes());
                let id = u16::from_be_bytes([one[4], one[5]]).wrapping_add(index as u16);
                one[4..6].copy_from_slice(&id.to_be_bytes());
                one[10..12].fill(0);
                let header = !fold(sum(&one[..usize::from(packet[0] & 15) * 4]));
                one[10..12].copy_from_slice(&header.to_be_bytes());
            }
            if tcp {
                let at = start + 4..start + 8;
                let sequence = u32::from_be_bytes(one[at.clone()].try_into().expect("four bytes"));
                let sequence = sequence.wrapping_add((index * size) as u32);
                one[at].copy_from_slice(&sequence.to_be_bytes());
                let first = if index > 0 { 0x80 } else { 0 };
                one[start + 13] &= !(first | if index < last { 0x09 } else { 0 });
            } else {
                one[start + 4..start + 6].copy_from_slice(&((length - start) as u16).to_be_bytes());
            }
            one[field..field + 2].fill(0);
            let check = !fold(pseudo(&one, length - start) + sum(&one[start..]));
            one[field..field + 2].copy_from_slice(&check.to_be_bytes());
            one
        })
        .collect()
}

/// What a link marked, on a finished packet.
fn marked(mut packet: Vec<u8>) -> Vec<u8> {
    let (v6, ..) = parts(&packet);
    if v6 && packet[1] & 0x30 != 0 {
        packet[1] |= 0x30;
    } else if !v6 && packet[1] & 3 != 0 {
        packet[1] |= 3;
        packet[10..12].fill(0);
        let header = !fold(sum(&packet[..usize::from(packet[0] & 15) * 4]));
        packet[10..12].copy_from_slice(&header.to_be_bytes());
    }
    packet
}

/// What a link said by AntiECN, on a finished packet: DSCP 7 where there was room and 3 where there was none, and nothing
/// on packets with another one.
fn told(mut packet: Vec<u8>, spare: bool) -> Vec<u8> {
    let (v6, ..) = parts(&packet);
    let class = if v6 { packet[0] << 4 | packet[1] >> 4 } else { packet[1] };
    if ![3, 7].contains(&(class >> 2)) {
        return packet;
    }
    let class = class & 3 | if spare { 7 << 2 } else { 3 << 2 };
    if v6 {
        packet[0] = 0x60 | class >> 4;
        packet[1] = class << 4 | packet[1] & 15;
    } else {
        packet[1] = class;
        packet[10..12].fill(0);
        let header = !fold(sum(&packet[..usize::from(packet[0] & 15) * 4]));
        packet[10..12].copy_from_slice(&header.to_be_bytes());
    }
    packet
}

/// What happens to a segment: is it dropped, marked, told of spare capacity, and does it end a run?
type Fate = (bool, bool, bool, bool);

/// The runs of what survives.
fn runs(segments: u32, fates: &[Fate]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut open = false;
    for index in 0..segments {
        let (dropped, marked, spare, ends) = fates[index as usize % fates.len()];
        match runs.last_mut() {
            _ if dropped => {}
            Some(run) if open && (run.marked, run.spare) == (marked, spare) => run.count += 1,
            _ => runs.push(Run { first: index, count: 1, marked, spare }),
        }
        open = !dropped && !ends;
    }
    runs
}

fn fate() -> impl Strategy<Value = Fate> {
    let weighted = prop::bool::weighted;
    (weighted(0.2), weighted(0.3), weighted(0.4), weighted(0.3))
}

fn written(frame: &[u8], run: Run) -> Vec<u8> {
    let shape = Shape::parse(frame).expect("the frame is whole");
    let mut head = Vec::new();
    let rest = shape.write(frame, run, &mut head);
    [&head[..], &frame[rest]].concat()
}

proptest! {
    /// The runs of a super-segment, cut by somebody else, are the segments of the whole that survive.
    #[test]
    fn runs_hold_the_segments_of_the_whole(
        recipe in recipe(),
        fates in vec(fate(), 1..40),
    ) {
        let frame = recipe.frame();
        let shape = Shape::parse(&frame).expect("the frame is whole");
        let whole = segment(&frame);
        prop_assert_eq!(shape.segments() as usize, whole.len());
        for (index, one) in whole.iter().enumerate() {
            prop_assert_eq!(shape.size(index as u32).0, one.len() as u64);
        }
        for run in runs(shape.segments(), &fates) {
            let part = written(&frame, run);
            // It is itself a frame of that many segments.
            prop_assert_eq!(Shape::parse(&part).map(|shape| shape.segments()), Ok(run.count));
            let kept = whole[run.first as usize..][..run.count as usize].iter().cloned();
            let kept: Vec<_> = kept.map(|one| told(one, run.spare)).map(|one| if run.marked { marked(one) } else { one }).collect();
            prop_assert_eq!(segment(&part), kept);
        }
    }

    /// Runs of runs: what is cut twice is what is cut once.
    #[test]
    fn a_run_is_cut_like_a_whole(recipe in recipe(), first in 0_u32..8, count in 1_u32..8) {
        let frame = recipe.frame();
        let segments = Shape::parse(&frame).expect("the frame is whole").segments();
        let first = first.min(segments - 1);
        let count = count.min(segments - first);
        let part = written(&frame, Run { first, count, marked: false, spare: true });
        for index in 0..count {
            let once = written(&frame, Run { first: first + index, count: 1, marked: false, spare: false });
            let twice = written(&part, Run { first: index, count: 1, marked: false, spare: false });
            prop_assert_eq!(segment(&once), segment(&twice));
        }
    }

    /// A single packet passes as it is, but for its mark and its bit.
    #[test]
    fn single_packets_pass(recipe in recipe(), mark in any::<bool>(), spare in any::<bool>()) {
        let packet = segment(&recipe.frame()).remove(0);
        let frame = [&Offload::default().bytes()[..], &packet].concat();
        let out = written(&frame, Run { first: 0, count: 1, marked: mark, spare });
        let packet = told(packet, spare);
        prop_assert_eq!(&out[OFFLOAD..], if mark { marked(packet) } else { packet });
    }

    /// Whatever comes, it is a packet or refused; and what is a packet can be cut anywhere.
    #[test]
    fn anything_is_cut_or_refused(bytes in vec(any::<u8>(), 0..200), first in any::<u32>(), count in any::<u32>()) {
        cut_anywhere(&bytes, first, count);
    }

    /// The same for frames that are nearly right.
    #[test]
    fn damaged_frames_are_cut_or_refused(
        recipe in recipe(),
        damage in vec((0..120_usize, any::<u8>()), 0..6),
        shorter in 0..80_usize,
        first in any::<u32>(),
        count in any::<u32>(),
    ) {
        let mut frame = recipe.frame();
        for (at, value) in damage {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        frame.truncate(frame.len().saturating_sub(shorter));
        cut_anywhere(&frame, first, count);
    }
}

fn cut_anywhere(frame: &[u8], first: u32, count: u32) {
    let Ok(shape) = Shape::parse(frame) else { return };
    let first = first % shape.segments();
    let count = 1 + count % (shape.segments() - first);
    let mut head = Vec::new();
    let rest = shape.write(frame, Run { first, count, marked: true, spare: true }, &mut head);
    let sizes: u64 = (first..first + count).map(|index| shape.size(index).0).sum();
    assert!((head.len() - OFFLOAD + rest.len()) as u64 <= sizes);
}

#[test]
fn lengths_that_disagree_are_refused() {
    let recipe = Recipe {
        v6: false,
        tcp: true,
        extra: 0,
        options: 3,
        traffic_class: 0,
        id: 1,
        sequence: 1,
        flags: 0x10,
        payload: vec![7; 3000],
        segment: 1448,
    };
    let frame = recipe.frame();
    assert_eq!(Shape::parse(&frame).map(|shape| shape.segments()), Ok(3));
    assert_eq!(Shape::parse(&frame[..9]), Err(Malformed::Short));
    assert_eq!(Shape::parse(&frame[..frame.len() - 1]), Err(Malformed::Ip));
    let mut unknown = frame.clone();
    unknown[1] = 3;
    assert_eq!(Shape::parse(&unknown), Err(Malformed::Kind));
    let mut without_size = frame.clone();
    without_size[4..6].fill(0);
    assert_eq!(Shape::parse(&without_size), Err(Malformed::Offload));
    let mut other_version = frame;
    other_version[1] = 4;
    assert_eq!(Shape::parse(&other_version), Err(Malformed::Offload));
}
