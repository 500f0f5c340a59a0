//! What leaves the link, as a file for Wireshark and tshark.
//!
//! The thread that carries packets writes no file, and waits for none: it puts what it hands on, segment by segment and
//! cut to its first bytes, into a queue. A thread without a priority empties that. What finds the queue full is counted
//! and left out.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use longfat_live::End;
use longfat_pcapng as pcapng;
use longfat_units::Time;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::packet::{OFFLOAD, Run, Shape};

/// How many segments can wait to be written: what 10 Gbit/s of full packets are in 0.08 s.
const WAITING: usize = 1 << 16;

/// How often the queue is emptied. Whoever slept until there is something would have to be woken for each packet.
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

/// A segment that is to be written.
#[derive(Debug)]
struct Seen {
    /// 0: it left at end b; 1: at end a.
    direction: u32,
    nanoseconds: u64,
    /// Its first bytes.
    bytes: Vec<u8>,
    /// Its length.
    length: u32,
}

/// Where the thread that carries packets puts them.
#[derive(Debug)]
pub struct Tap {
    queue: SyncSender<Seen>,
    /// When the clock of the link began, in nanoseconds since 1970.
    begun: u64,
    /// How many bytes of each segment are kept.
    most: usize,
    captured: Captured,
    /// Memory for headers.
    head: Vec<u8>,
}

/// The thread that writes; it ends after the tap.
pub type Writer = JoinHandle<io::Result<()>>;

/// Begins a capture of at most `most` bytes of each segment in a new file, replacing what is there.
///
/// # Errors
/// If the file cannot be made, or written.
pub fn begin(path: &Path, most: u16) -> io::Result<(Tap, Writer)> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut bytes = Vec::new();
    pcapng::section(concat!("longfat-link ", env!("CARGO_PKG_VERSION")), ABOUT, &mut bytes);
    for (name, from, to) in [("forward", End::A, End::B), ("reverse", End::B, End::A)] {
        let about = format!("from {} to {}", from.namespace(), to.namespace());
        pcapng::interface(name, &about, most.into(), &mut bytes);
    }
    file.write_all(&bytes)?;
    file.flush()?;
    let (queue, waiting) = sync_channel(WAITING);
    let writer = std::thread::Builder::new().spawn(move || write(&waiting, file))?;
    Ok((Tap::new(queue, most), writer))
}

impl Tap {
    fn new(queue: SyncSender<Seen>, most: u16) -> Self {
        let now = clock_gettime(ClockId::Realtime);
        let [seconds, nanoseconds] = [now.tv_sec, now.tv_nsec].map(i64::cast_unsigned);
        let begun = seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
        Self { queue, begun, most: most.into(), captured: Captured::default(), head: Vec::new() }
    }

    /// A run has left at the far end, at a time of the link's clock, which began when the tap did.
    pub fn see(&mut self, direction: usize, now: Time, (frame, shape): (&[u8], &Shape), run: Run) {
        let nanoseconds = self.begun.saturating_add(now.0 / PICOSECONDS_PER_NANOSECOND);
        for index in run.first..run.first + run.count {
            let rest = shape.write(frame, Run { first: index, count: 1, ..run }, &mut self.head);
            let length = (self.head.len() - OFFLOAD + rest.len()) as u32;
            let head = self.head[OFFLOAD..].iter().chain(&frame[rest]);
            let bytes = head.take(self.most).copied().collect();
            let seen = Seen { direction: direction as u32, nanoseconds, bytes, length };
            match self.queue.try_send(seen) {
                Ok(()) => self.captured.segments += 1,
                Err(_) => self.captured.missed += 1,
            }
        }
    }

    /// How much was captured so far.
    pub fn captured(&self) -> Captured {
        self.captured
    }
}

/// Empties the queue into the file until the tap is gone.
fn write(waiting: &Receiver<Seen>, mut file: BufWriter<File>) -> io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        match waiting.try_recv() {
            Ok(Seen { direction, nanoseconds, bytes: kept, length }) => {
                bytes.clear();
                pcapng::packet((direction, nanoseconds), &kept, length, None, &mut bytes);
                file.write_all(&bytes)?;
            }
            Err(TryRecvError::Empty) => {
                // What was captured can be read while the link is up.
                file.flush()?;
                std::thread::sleep(PAUSE);
            }
            Err(TryRecvError::Disconnected) => return file.flush(),
        }
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
        let run = Run { first: 0, count: shape.segments(), marked: true };
        tap.see(0, Time(5_000_000), (frame, &shape), run);
    }

    #[test]
    fn segments_are_cut_and_carry_their_marks() {
        let (queue, waiting) = sync_channel(10);
        let mut tap = Tap::new(queue, 60);
        see(&mut tap, &sample::several(2500, 1000, Ecn::Ect0));
        let begun = tap.begun;
        let seen: Vec<Seen> = waiting.try_iter().collect();
        let lengths: Vec<(usize, u32)> =
            seen.iter().map(|each| (each.bytes.len(), each.length)).collect();
        // Headers of IPv4 and TCP are 40 bytes; the last segment has what is left of the payload.
        assert_eq!(lengths, [(60, 1040), (60, 1040), (60, 540)]);
        for (index, each) in seen.iter().enumerate() {
            assert_eq!((each.bytes[1] & 3, each.nanoseconds - begun), (3, 5000), "CE, 5 µs");
            // The sequence number of TCP goes on with the payload.
            assert_eq!(each.bytes[24..28], (1000 * index as u32).to_be_bytes());
        }
    }

    #[test]
    fn what_does_not_fit_is_counted_and_nobody_waits() {
        let (queue, waiting) = sync_channel(2);
        let mut tap = Tap::new(queue, 128);
        see(&mut tap, &sample::several(5000, 1000, Ecn::NotEct));
        assert_eq!(tap.captured(), Captured { segments: 2, missed: 3 });
        drop(waiting);
        see(&mut tap, &sample::single(100, Ecn::NotEct));
        assert_eq!(tap.captured(), Captured { segments: 2, missed: 4 });
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
