//! Frames of any bytes, carried by a link: what leaves is accounted for and whole. The fuzz target of packets uses it too.

use longfat_link::direction::{Direction, Flight};
use longfat_link::packet::{OFFLOAD, Shape};
use longfat_link::settings::Settings;
use longfat_units::{Ecn, Span, Time};

/// Links that drop, mark and lose, serve flows in turn, and tell of spare capacity.
const LINKS: [&str; 5] = [
    "buffer = \"4 packets\"",
    "buffer = \"50 packets\"\nqueue = { kind = \"step\", threshold = \"2 packets\" }",
    "buffer = \"50 packets\"\nqueue = \"fq-codel\"",
    "buffer = \"50 packets\"\nloss = 0.3",
    "buffer = \"50 packets\"\nanti_ecn = { mode = \"overwrite\" }",
];

const MICROSECOND: u64 = 1_000_000;

/// When everything has left.
const END: Time = Time(50_000_000_000_000);

/// What became of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Frames that were no packets.
    pub(crate) refused: u64,
    /// Segments that arrived.
    pub(crate) arrived: u64,
    /// Segments that left at the far end.
    pub(crate) left: u64,
    /// Segments of them that were marked.
    pub(crate) marked: u64,
}

/// Carries what the bytes say: the first chooses a link, and then each frame has four bytes in front, which are the time
/// since the frame before, how it is treated, and its length. Panics where something that leaves is not whole.
pub(crate) fn carry(data: &[u8]) -> Carried {
    let mut carried = Carried::default();
    let Some((&choice, mut rest)) = data.split_first() else { return carried };
    let mut direction = direction(LINKS[usize::from(choice) % LINKS.len()]);
    let mut now = Time::ZERO;
    while let Some(([gap, how, low, high], after)) = rest.split_first_chunk::<4>() {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(after.len());
        let (frame, after) = after.split_at(length);
        let mut frame = frame.to_vec();
        if how & 1 != 0 {
            mend(&mut frame);
        }
        now += Span(u64::from(*gap) * MICROSECOND);
        direction.arrive(now, &frame);
        leave(&mut direction, now, how & 2 == 0, &mut carried);
        rest = after;
    }
    leave(&mut direction, END, true, &mut carried);
    let counts = *direction.counts();
    assert_eq!(
        counts.arrived,
        counts.dropped + counts.lost + counts.delivered + counts.refused,
        "each segment has one fate: {counts:?}"
    );
    assert_eq!((direction.packets(), direction.next()), (0, None), "nothing is left inside");
    Carried { refused: counts.malformed, arrived: counts.arrived, ..carried }
}

fn direction(link: &str) -> Direction {
    let text = format!(
        "duration = \"9 s\"\n[link.some]\nrate = \"600 Mbit/s\"\ndelay = \"1 ms\"\n{link}\n[[flow]]\nname = \"flow\"\n\
         control = \"reno\"\npath = [\"some\"]\nrtt = \"1 s\"\n"
    );
    let [forward, _] = Settings::read(&text, "test").expect("the scenario is right").directions();
    forward
}

/// Gives a frame the version and the length that its own bytes have, without which few would be packets.
fn mend(frame: &mut [u8]) {
    let Some(packet) = frame.get_mut(OFFLOAD..) else { return };
    let length = packet.len();
    match packet {
        [first, _, high, low, ..] if *first & 0x40 != 0 => {
            *first = 0x40 | (*first & 15).max(5);
            [*high, *low] = (length as u16).to_be_bytes();
        }
        [first, _, _, _, high, low, ..] => {
            *first = 0x60 | *first & 15;
            [*high, *low] = (length.saturating_sub(40) as u16).to_be_bytes();
        }
        _ => {}
    }
}

/// Writes what has arrived at the far end by `now`, and looks at it.
fn leave(direction: &mut Direction, now: Time, taken: bool, carried: &mut Carried) {
    direction.advance(now);
    let mut head = Vec::new();
    while let Some(flight) = direction.arrived(now) {
        let (frame, shape) = direction.packet(&flight);
        let rest = shape.write(frame, flight.run, &mut head);
        whole(&[&head[..], &frame[rest]].concat(), shape, &flight);
        carried.left += u64::from(flight.run.count);
        carried.marked += if flight.run.marked { u64::from(flight.run.count) } else { 0 };
        direction.handed_on(taken);
    }
}

/// What leaves is a packet of the same flow with as many segments as it should have, not longer than these, and marked
/// only where it was marked.
fn whole(written: &[u8], shape: &Shape, flight: &Flight) {
    let run = flight.run;
    let most: u64 = (run.first..run.first + run.count).map(|index| shape.size(index).0).sum();
    assert!((written.len() - OFFLOAD) as u64 <= most, "{} B of {most} B", written.len());
    let again = Shape::parse(written).expect("what leaves is a packet");
    assert_eq!((again.segments(), again.flow), (run.count, shape.flow));
    let marked = run.marked && shape.ecn.is_capable();
    assert_eq!(again.ecn, if marked { Ecn::Ce } else { shape.ecn });
}
