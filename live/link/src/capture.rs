//! What leaves the link, as a file for Wireshark and tshark.
//!
//! The thread that carries packets writes no file, and waits for none: it puts what it hands on, segment by segment and
//! cut to its first bytes, into a ring of bytes. A thread without a priority empties that. They share no lock, not even
//! that of an allocator: where the one held it while it has no processor, the other would wait. What finds the ring full
//! is counted and left out.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use longfat_live::End;
use longfat_pcapng as pcapng;
use longfat_units::Time;
use rtrb::{Consumer, Producer, RingBuffer};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::packet::{OFFLOAD, Run, Shape};

/// How many bytes can wait to be written: what headers of 1 Gbit/s of full packets are in two seconds.
const WAITING: usize = 32 << 20;

/// How often the ring is emptied. Whoever slept until there is something would have to be woken for each packet.
const PAUSE: Duration = Duration::from_millis(10);

const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

const ABOUT: &str = "What left the link at the far end, marks included: super-segments as single ones, whose checksums are \
                     still to be computed. What was dropped or lost is not here.";

/// How much was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Segments for the file.
    pub segments: u64,
    /// Segments that are not in it, because it could not be written fast enough, or not at all.
    pub missed: u64,
}

impl Captured {
    /// What was captured after `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            segments: self.segments.saturating_sub(earlier.segments),
            missed: self.missed.saturating_sub(earlier.missed),
        }
    }
}

/// Where the thread that carries packets puts them.
#[derive(Debug)]
pub struct Tap {
    /// Whole blocks of the file.
    ring: Producer<u8>,
    /// When the clock of the link began, in nanoseconds since 1970.
    begun: u64,
    /// How many bytes of each segment are kept.
    most: usize,
    captured: Captured,
    /// Memory for headers, for a segment, and for its block.
    head: Vec<u8>,
    kept: Vec<u8>,
    block: Vec<u8>,
}

/// The thread that writes; it ends after the tap.
pub type Writer = JoinHandle<io::Result<()>>;

/// Begins a capture of at most `most` bytes of each segment in a new file, replacing what is there.
///
/// # Errors
/// If the file cannot be made, or written.
pub fn begin(path: &Path, most: u16) -> io::Result<(Tap, Writer)> {
    let mut file = File::create(path)?;
    let mut bytes = Vec::new();
    pcapng::section(concat!("longfat-link ", env!("CARGO_PKG_VERSION")), ABOUT, &mut bytes);
    for (name, from, to) in [("forward", End::A, End::B), ("reverse", End::B, End::A)] {
        let about = format!("from {} to {}", from.namespace(), to.namespace());
        pcapng::interface(name, &about, most.into(), &mut bytes);
    }
    file.write_all(&bytes)?;
    let (ring, waiting) = RingBuffer::new(WAITING);
    let writer = std::thread::Builder::new().spawn(move || write(waiting, file))?;
    Ok((Tap::new(ring, most), writer))
}

impl Tap {
    fn new(ring: Producer<u8>, most: u16) -> Self {
        let now = clock_gettime(ClockId::Realtime);
        let [seconds, nanoseconds] = [now.tv_sec, now.tv_nsec].map(i64::cast_unsigned);
        let begun = seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
        let [head, kept, block] = [const { Vec::new() }; 3];
        Self { ring, begun, most: most.into(), captured: Captured::default(), head, kept, block }
    }

    /// A run has left at the far end, at a time of the link's clock, which began when the tap did.
    pub fn see(&mut self, direction: usize, now: Time, (frame, shape): (&[u8], &Shape), run: Run) {
        let nanoseconds = self.begun.saturating_add(now.0 / PICOSECONDS_PER_NANOSECOND);
        for index in run.first..run.first + run.count {
            let rest = shape.write(frame, Run { first: index, count: 1, ..run }, &mut self.head);
            let length = (self.head.len() - OFFLOAD + rest.len()) as u32;
            self.kept.clear();
            self.kept.extend_from_slice(&self.head[OFFLOAD..]);
            self.kept.truncate(self.most);
            let more = rest.len().min(self.most - self.kept.len());
            self.kept.extend_from_slice(&frame[rest][..more]);
            self.block.clear();
            let place = (direction as u32, nanoseconds);
            pcapng::packet(place, &self.kept, length, None, &mut self.block);
            if self.put() {
                self.captured.segments += 1;
            } else {
                self.captured.missed += 1;
            }
        }
    }

    /// Puts the block into the ring as a whole, if there is room and somebody to read it.
    fn put(&mut self) -> bool {
        if self.ring.is_abandoned() {
            return false;
        }
        let Ok(mut room) = self.ring.write_chunk(self.block.len()) else { return false };
        let (first, second) = room.as_mut_slices();
        let (front, back) = self.block.split_at(first.len());
        first.copy_from_slice(front);
        second.copy_from_slice(back);
        room.commit_all();
        true
    }

    /// How much was captured so far.
    pub fn captured(&self) -> Captured {
        self.captured
    }
}

/// Empties the ring into the file until the tap is gone.
fn write(mut waiting: Consumer<u8>, mut file: File) -> io::Result<()> {
    loop {
        // What the tap put there before it went is still to be written.
        let ended = waiting.is_abandoned();
        if let Ok(blocks) = waiting.read_chunk(waiting.slots()) {
            let (first, second) = blocks.as_slices();
            file.write_all(first)?;
            file.write_all(second)?;
            blocks.commit_all();
        }
        if ended {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::Ecn;

    use super::*;
    use crate::packet::sample;

    /// Lets a tap see all segments of a frame in the forward direction, marked.
    fn see(tap: &mut Tap, frame: &[u8]) {
        let shape = Shape::parse(frame).expect("it is whole");
        let run = Run { first: 0, count: shape.segments(), marked: true, spare: false };
        tap.see(0, Time(5_000_000), (frame, &shape), run);
    }

    /// The blocks in a ring, each as long as it says.
    fn blocks(waiting: &mut Consumer<u8>) -> Vec<Vec<u8>> {
        let chunk = waiting.read_chunk(waiting.slots()).expect("as much as there is");
        let mut bytes: Vec<u8> = chunk.into_iter().collect();
        let mut blocks = Vec::new();
        while !bytes.is_empty() {
            let length = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
            let rest = bytes.split_off(length as usize);
            blocks.push(std::mem::replace(&mut bytes, rest));
        }
        blocks
    }

    #[test]
    fn segments_are_cut_and_carry_their_marks() {
        let (ring, mut waiting) = RingBuffer::new(1000);
        let mut tap = Tap::new(ring, 60);
        see(&mut tap, &sample::several(2500, 1000, Ecn::Ect0));
        let begun = tap.begun;
        let blocks = blocks(&mut waiting);
        // Headers of IPv4 and TCP are 40 bytes; the last segment has what is left of the payload.
        for (index, (block, length)) in blocks.iter().zip([1040, 1040, 540]).enumerate() {
            let word = |at: usize| {
                let bytes = block[4 * at..][..4].try_into().expect("four bytes");
                u32::from_le_bytes(bytes)
            };
            let time = u64::from(word(3)) << 32 | u64::from(word(4));
            assert_eq!((word(2), time - begun), (0, 5000), "forward, after 5 µs");
            assert_eq!((word(5), word(6)), (60, length));
            let packet = &block[28..];
            assert_eq!(packet[1] & 3, 3, "CE");
            // The sequence number of TCP goes on with the payload.
            assert_eq!(packet[24..28], (1000 * index as u32).to_be_bytes());
        }
        assert_eq!(blocks.len(), 3);
    }

    #[test]
    fn what_does_not_fit_is_counted_and_nobody_waits() {
        // A block with 128 bytes of a packet has 160.
        let (ring, mut waiting) = RingBuffer::new(400);
        let mut tap = Tap::new(ring, 128);
        see(&mut tap, &sample::several(5000, 1000, Ecn::NotEct));
        assert_eq!(tap.captured(), Captured { segments: 2, missed: 3 });
        // What comes after it is whole, wherever the ring begins anew.
        assert_eq!(blocks(&mut waiting).len(), 2);
        see(&mut tap, &sample::several(2000, 1000, Ecn::NotEct));
        let lengths: Vec<usize> = blocks(&mut waiting).iter().map(Vec::len).collect();
        assert_eq!(lengths, [160, 160]);
        drop(waiting);
        see(&mut tap, &sample::single(100, Ecn::NotEct));
        assert_eq!(tap.captured(), Captured { segments: 4, missed: 4 });
    }

    #[test]
    fn a_file_holds_what_was_seen() {
        let path = std::env::temp_dir().join(format!("longfat-{}.pcapng", std::process::id()));
        let (mut tap, writer) = begin(&path, 128).expect("a file for a test can be made");
        let before = std::fs::metadata(&path).expect("it is there").len();
        see(&mut tap, &sample::single(100, Ecn::NotEct));
        drop(tap);
        writer.join().expect("it ends").expect("it can write");
        let after = std::fs::metadata(&path).expect("it is there").len();
        // A block of 32 bytes around the packet.
        assert_eq!(after - before, 132);
        std::fs::remove_file(&path).expect("it can be removed");
        assert!(begin(Path::new("/none/file"), 128).is_err());
    }
}
