//! What kernel and daemon tell each other: `shared.h` of the program in the kernel, in Rust.

/// How many flows can be controlled at a time.
pub const SLOTS: u32 = 64;

/// Linux's threshold of a flow that has none.
pub const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// What has happened since the last report, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News(pub u32);

impl News {
    /// The flow begins.
    pub const BEGINS: Self = Self(0x1);
    /// The flow ends.
    pub const ENDS: Self = Self(0x2);
    /// A loss calls for a response.
    pub const LOSS: Self = Self(0x4);
    /// A mark calls for a response.
    pub const MARK: Self = Self(0x8);
    /// The retransmission timer ran out.
    pub const TIMEOUT: Self = Self(0x10);
    /// What timed out had timed out before.
    pub const AGAIN: Self = Self(0x20);
    /// Losses are repaired.
    pub const RECOVERED: Self = Self(0x40);
    /// Data leaves again after a pause.
    pub const RESTART: Self = Self(0x80);
    /// Losses are being repaired.
    pub const RECOVERY: Self = Self(0x100);
    /// The kernel goes by Reno, since nobody answered.
    pub const SILENT: Self = Self(0x200);

    /// Is this part of it?
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::ops::BitOr for News {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What happened to a flow since its last report. Counts are in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// When, in nanoseconds of `CLOCK_MONOTONIC`.
    pub now: u64,
    /// The place of its decisions.
    pub slot: u32,
    /// Another one for each flow of the slot.
    pub generation: u32,
    /// 1, 2, ...
    pub report: u32,
    /// How often a response to congestion was called for.
    pub event: u32,
    /// How often nobody answered for four round trips.
    pub epoch: u32,
    /// What has happened.
    pub news: News,
    /// Acknowledged in order while the window was put to the test: no mark, no recovery.
    pub acked: u32,
    /// Acknowledged in order otherwise.
    pub held: u32,
    /// Reported by selective acknowledgments.
    pub sacked: u32,
    /// Found lost.
    pub lost: u32,
    /// Acknowledgments that report marks.
    pub marked: u32,
    /// Before the latest acknowledgment.
    pub in_flight: u32,
    /// The latest sample of the round trip, in microseconds; 0: there was none.
    pub rtt_us: u32,
    /// The smallest sample.
    pub least_rtt_us: u32,
    /// The smoothed round trip.
    pub smoothed_us: u32,
    /// The window in the kernel.
    pub window: u32,
    /// The threshold in the kernel.
    pub threshold: u32,
    /// The first sequence number that is not acknowledged.
    pub unacknowledged: u32,
    /// The next one that is new.
    pub next: u32,
    /// Bytes of data in a segment.
    pub payload: u32,
    /// How many of `acked` came with the bit of AntiECN.
    pub spare: u32,
    /// Acknowledgments, where the bit is read.
    pub acks: u32,
    /// Those of them with the bit.
    pub acks_spare: u32,
    /// Those that say nothing about it.
    pub acks_mute: u32,
}

impl Report {
    /// How many bytes a report has.
    pub const SIZE: usize = 104;

    /// Reads a report; `None` if it has another size.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (now, rest) = bytes.split_first_chunk::<8>()?;
        let (words, []) = rest.as_chunks::<4>() else { return None };
        let words: &[[u8; 4]; 24] = words.try_into().ok()?;
        let [
            slot,
            generation,
            report,
            event,
            epoch,
            news,
            acked,
            held,
            sacked,
            lost,
            marked,
            in_flight,
            rtt_us,
            least_rtt_us,
            smoothed_us,
            window,
            threshold,
            unacknowledged,
            next,
            payload,
            spare,
            acks,
            acks_spare,
            acks_mute,
        ] = words.map(u32::from_ne_bytes);
        Some(Self {
            now: u64::from_ne_bytes(*now),
            slot,
            generation,
            report,
            event,
            epoch,
            news: News(news),
            acked,
            held,
            sacked,
            lost,
            marked,
            in_flight,
            rtt_us,
            least_rtt_us,
            smoothed_us,
            window,
            threshold,
            unacknowledged,
            next,
            payload,
            spare,
            acks,
            acks_spare,
            acks_mute,
        })
    }
}

/// What the kernel shall do with a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Which flow, as in the report that it answers.
    pub generation: u32,
    /// As in the report.
    pub epoch: u32,
    /// As in the report: what was called for up to then is answered.
    pub event: u32,
    /// The report.
    pub report: u32,
    /// In segments, 1 or more.
    pub window: u32,
    /// In segments, or [`NO_THRESHOLD`].
    pub threshold: u32,
    /// Bytes of data per second; `None`: unpaced.
    pub pacing: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_in_the_order_of_the_kernel() {
        let mut bytes = 7_u64.to_ne_bytes().to_vec();
        bytes.extend((1..=24_u32).flat_map(u32::to_ne_bytes));
        assert_eq!(bytes.len(), Report::SIZE);
        let report = Report::read(&bytes).expect("it is whole");
        assert_eq!((report.now, report.slot, report.generation, report.report), (7, 1, 2, 3));
        assert_eq!((report.news, report.acked, report.in_flight), (News(6), 7, 12));
        assert_eq!((report.window, report.next, report.payload), (16, 19, 20));
    }

    /// What the kernel says of itself.
    const KERNEL: &str = include_str!("../../tcp/bpf/shared.h");

    /// The number behind `#define NAME`.
    fn defined(name: &str) -> u32 {
        let line =
            KERNEL.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name));
        let number = line.expect("it is defined").trim();
        let (digits, radix) = number.strip_prefix("0x").map_or((number, 10), |hex| (hex, 16));
        u32::from_str_radix(digits, radix).expect("it is a number")
    }

    #[test]
    fn kernel_and_daemon_mean_the_same_bits() {
        assert_eq!(defined("SLOTS "), SLOTS);
        for (name, bit) in [
            ("BEGINS", News::BEGINS),
            ("ENDS", News::ENDS),
            ("LOSS", News::LOSS),
            ("MARK", News::MARK),
            ("TIMEOUT", News::TIMEOUT),
            ("AGAIN", News::AGAIN),
            ("RECOVERED", News::RECOVERED),
            ("RESTART", News::RESTART),
            ("RECOVERY", News::RECOVERY),
            ("SILENT", News::SILENT),
        ] {
            assert_eq!(defined(&format!("NEWS_{name} ")), bit.0, "{name}");
        }
    }

    #[test]
    fn kernel_and_daemon_have_the_same_fields() {
        let (_, body) = KERNEL.split_once("struct report {").expect("it is there");
        let (body, _) = body.split_once('}').expect("it ends");
        let fields: Vec<&str> = body
            .lines()
            .filter_map(|line| line.split_once(';')?.0.split_whitespace().nth(1))
            .collect();
        // The same names in the same order: what `Debug` writes.
        let own = format!("{:?}", Report::default());
        let own = own.trim_start_matches("Report {").split(", ");
        let own: Vec<&str> =
            own.filter_map(|field| Some(field.split_once(':')?.0.trim())).collect();
        assert_eq!(fields, own);
        let sizes = body.lines().filter_map(|line| match line.split_whitespace().next()? {
            "__u64" => Some(8),
            "__u32" => Some(4),
            _ => None,
        });
        assert_eq!(sizes.sum::<usize>(), Report::SIZE);
    }

    #[test]
    fn what_is_no_report_is_not_read() {
        for size in (0..200).filter(|size| *size != Report::SIZE) {
            assert_eq!(Report::read(&vec![0; size]), None, "{size} bytes");
        }
    }
}
