//! Whatever a program hands to the device of a link, the link carries it or leaves it: frames of any bytes, and frames that
//! are nearly right, with any offload header.

#[path = "support/carried.rs"]
mod carried;

use carried::{Carried, carry};
use longfat_link::packet::OFFLOAD;
use proptest::collection::vec;
use proptest::prelude::*;

/// Headers of TCP and UDP, over IPv4 and IPv6, without any payload.
fn headers() -> impl Strategy<Value = Vec<u8>> {
    let v4 = |protocol| [[0x45, 2, 0, 0, 0, 0, 0x40, 0, 64, protocol], [7; 10]].concat();
    let v6 = |protocol| [&[0x60, 0x20, 0, 0, 0, 0, protocol, 64][..], &[7; 32]].concat();
    let tcp = [&[0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x99][..], &[0; 6]].concat();
    let udp = vec![0, 1, 0, 2, 0, 0, 0, 0];
    prop_oneof![
        Just([v4(6), tcp.clone()].concat()),
        Just([v4(17), udp.clone()].concat()),
        Just([v6(6), tcp].concat()),
        Just([v6(17), udp].concat()),
    ]
}

/// An offload header that fits these headers.
fn offload(headers: &[u8], segment: u16) -> [u8; OFFLOAD] {
    let (v6, tcp) = (headers[0] >> 4 == 6, [headers[6], headers[9]].contains(&6));
    let kind = match (tcp, v6) {
        (false, _) => 5,
        (true, false) => 1,
        (true, true) => 4,
    };
    let (start, offset) = (if v6 { 40 } else { 20 }, if tcp { 16 } else { 6 });
    let [low, high] = segment.to_le_bytes();
    [1, kind, 0, 0, low, high, start, 0, offset, 0]
}

/// A frame that the kernel could hand over, before `damage` is done to its first bytes.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let damage = vec((0..70_usize, any::<u8>()), 0..5);
    (headers(), 1..200_u16, 1..2000_usize, damage).prop_map(
        |(headers, segment, payload, damage)| {
            let mut frame = [&offload(&headers, segment)[..], &headers, &vec![9; payload]].concat();
            for (at, value) in damage {
                if let Some(byte) = frame.get_mut(at) {
                    *byte = value;
                }
            }
            frame
        },
    )
}

/// What comes to a link: which one, and frames with the time in between and how they are treated.
fn traffic(frame: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (any::<u8>(), vec((any::<u8>(), any::<u8>(), frame), 0..12)).prop_map(|(link, frames)| {
        let mut bytes = vec![link];
        for (gap, how, frame) in frames {
            bytes.extend([gap, how]);
            bytes.extend((frame.len() as u16).to_le_bytes());
            bytes.extend(frame);
        }
        bytes
    })
}

proptest! {
    #[test]
    fn any_bytes_are_carried_whole_or_left(data in traffic(vec(any::<u8>(), 0..200))) {
        carry(&data);
    }

    #[test]
    fn damaged_frames_are_carried_whole_or_left(data in traffic(frame())) {
        carry(&data);
    }
}

/// A super-segment of TCP over IPv4 with ECT(0), and lengths that its own bytes have.
fn sound() -> Vec<u8> {
    let headers = [
        &[0x45, 2, 0, 0, 0, 0, 0x40, 0, 64, 6][..],
        &[7; 10],
        &[0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10],
        &[0; 6],
    ]
    .concat();
    [&offload(&headers, 100)[..], &headers, &[9; 1000]].concat()
}

#[test]
fn what_is_sound_is_carried() {
    let [low, high] = (sound().len() as u16).to_le_bytes();
    // Nothing is dropped on the second link. One segment is being sent, and three find at most two that wait.
    let data = [&[1, 0, 1, low, high][..], &sound()].concat();
    assert_eq!(carry(&data), Carried { refused: 0, arrived: 10, left: 10, marked: 6 });
}

#[test]
fn what_is_no_packet_is_left() {
    let data = [0, 0, 0, 3, 0, 1, 2, 3, 0, 1, 2, 0, 9, 9];
    assert_eq!(carry(&data), Carried { refused: 2, ..Carried::default() });
}
