//! How late packets were handed on, and whether that is too late.
//!
//! A packet is due when its delay has passed, and handed on when the process gets a processor: the difference is what
//! the machine, not the link, has added. A link whose packets are often late has another round trip than the one asked
//! for, so what was measured on it counts for nothing.

use hdrhistogram::Histogram;
use longfat_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

use crate::capture::Captured;
use crate::direction::Counts;

const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

/// The latest that is told apart, in nanoseconds: a minute.
const LATEST: u64 = 60_000_000_000;

/// Lateness as it is measured, in nanoseconds to two digits.
#[derive(Debug)]
pub struct Meter(Histogram<u64>);

impl Default for Meter {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LATEST, 2).expect("the bounds are in order"))
    }
}

impl Meter {
    /// So many packets were handed on this late.
    pub fn record(&mut self, late: Span, packets: u64) {
        self.0.saturating_record_n(late.0 / PICOSECONDS_PER_NANOSECOND, packets);
    }

    /// Moves what was measured to another meter.
    pub fn move_to(&mut self, other: &mut Self) {
        other.0.add(&self.0).expect("both have the same bounds");
        self.0.reset();
    }

    /// What was measured, to be written and read.
    pub fn table(&self) -> Lateness {
        let row = |row: hdrhistogram::iterators::IterationValue<u64>| {
            (row.value_iterated_to(), row.count_at_value())
        };
        Lateness(self.0.iter_recorded().map(row).collect())
    }
}

/// Lateness as it is written: nanoseconds, rising, each with the number of packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness(pub Vec<(u64, u64)>);

impl Lateness {
    /// What was measured after `earlier`, an earlier state of the same link.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |late: u64| {
            let found = earlier.0.binary_search_by_key(&late, |(late, _)| *late);
            found.map_or(0, |at| earlier.0[at].1)
        };
        let rows = self.0.iter().map(|(late, count)| (*late, count.saturating_sub(before(*late))));
        Self(rows.filter(|(_, count)| *count > 0).collect())
    }

    /// The number of packets.
    pub fn packets(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The lateness that this share of the packets does not exceed; `None` without packets.
    pub fn quantile(&self, share: f64) -> Option<Span> {
        let packets = self.packets();
        let wanted = ((packets as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let mut rows = self.0.iter();
        let (late, _) = rows.find(|(_, count)| {
            seen += count;
            seen >= wanted
        })?;
        Some(Span(late * PICOSECONDS_PER_NANOSECOND))
    }
}

/// Why a measurement over a link counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too many packets came too late.
    #[error(
        "this measurement counts for nothing: 1 % of the packets were handed on more than {} late, and a hundredth of \
         the round trip, {}, is allowed. The machine is too busy or too slow for this link: let less run beside \
         it, or ask for a longer round trip or a lower rate",
        short(*.late),
        short(*.bound)
    )]
    Late {
        /// The 99th percentile.
        late: Span,
        /// What it may be.
        bound: Span,
    },
    /// Packets were lost on the way into the link.
    #[error(
        "this measurement counts for nothing: {packets} packets were lost before the link saw them, because it read too \
         slowly. Let less run beside it, or ask for a lower rate"
    )]
    Unseen {
        /// How many.
        packets: u64,
    },
}

/// What crossed a link in some time.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Counts of the forward and of the reverse direction.
    pub directions: [Counts; 2],
    /// How late packets were.
    pub lateness: Lateness,
    /// Packets that were lost before the link saw them, at both ends.
    pub unseen: u64,
    /// How much was captured, if anything is to be.
    pub captured: Option<Captured>,
}

impl Measurement {
    /// Does it count? `bound` is what the 99th percentile of lateness may be.
    ///
    /// # Errors
    /// If it does not.
    pub fn verdict(&self, bound: Span) -> Result<(), Refusal> {
        if self.unseen > 0 {
            return Err(Refusal::Unseen { packets: self.unseen });
        }
        match self.lateness.quantile(0.99) {
            Some(late) if late > bound => Err(Refusal::Late { late, bound }),
            Some(_) | None => Ok(()),
        }
    }

    /// What happened after `earlier`, an earlier state of the same link.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let [forward, reverse] = self.directions;
        let [forward_before, reverse_before] = earlier.directions;
        Self {
            directions: [forward.since(forward_before), reverse.since(reverse_before)],
            lateness: self.lateness.since(&earlier.lateness),
            unseen: self.unseen.saturating_sub(earlier.unseen),
            captured: self.captured.map(|now| now.since(earlier.captured.unwrap_or_default())),
        }
    }

    /// It in a few lines.
    pub fn told(&self) -> String {
        let mut lines = Vec::new();
        for (name, counts) in ["forward", "reverse"].iter().zip(&self.directions) {
            let Counts { arrived, dropped, marked, lost, delivered, delivered_bytes, .. } = counts;
            let bytes = Bytes(*delivered_bytes);
            let line = format!(
                "{name}: {arrived} packets arrived, {dropped} dropped, {marked} marked, {lost} lost, {delivered} \
                 delivered ({bytes})"
            );
            let rare = [
                (counts.refused, "not taken by the kernel"),
                (counts.malformed, "frames that were no packets"),
            ];
            let rare = rare.into_iter().filter(|(count, _)| *count > 0);
            let line = rare.fold(line, |line, (count, what)| format!("{line}, {count} {what}"));
            lines.push(line);
        }
        let quantile = |share| self.lateness.quantile(share);
        lines.push(match (quantile(0.5), quantile(0.99), quantile(0.999)) {
            (Some(p50), Some(p99), Some(p999)) => {
                format!("lateness: p50 {}, p99 {}, p99.9 {}", short(p50), short(p99), short(p999))
            }
            _ => "lateness: nothing has crossed the link".into(),
        });
        if self.unseen > 0 {
            lines.push(format!("lost before the link: {} packets", self.unseen));
        }
        if let Some(Captured { segments, missed }) = self.captured {
            lines.push(format!("captured: {segments} packets, and {missed} left out"));
        }
        lines.join("\n")
    }
}

/// A short time in microseconds.
pub fn short(span: Span) -> String {
    format!("{:.0} µs", span.seconds() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanoseconds(count: u64) -> Span {
        Span(count * PICOSECONDS_PER_NANOSECOND)
    }

    #[test]
    fn quantiles_are_those_of_the_packets() {
        let lateness = Lateness(vec![(10, 98), (200, 1), (3000, 1)]);
        assert_eq!(lateness.quantile(0.5), Some(nanoseconds(10)));
        assert_eq!(lateness.quantile(0.98), Some(nanoseconds(10)));
        assert_eq!(lateness.quantile(0.99), Some(nanoseconds(200)));
        assert_eq!(lateness.quantile(0.999), Some(nanoseconds(3000)));
        assert_eq!(Lateness::default().quantile(0.5), None);
    }

    #[test]
    fn a_meter_tells_two_digits_and_moves_what_it_has() {
        let (mut meter, mut other) = (Meter::default(), Meter::default());
        meter.record(nanoseconds(123_456), 7);
        meter.move_to(&mut other);
        assert_eq!(meter.table(), Lateness::default());
        let Lateness(rows) = other.table();
        let [(late, 7)] = rows[..] else { panic!("one row of seven packets: {rows:?}") };
        assert!((123_456..124_700).contains(&late), "{late} ns");
    }

    #[test]
    fn what_came_before_does_not_count() {
        let before = Lateness(vec![(10, 5), (900_000, 50)]);
        let after = Lateness(vec![(10, 105), (20, 1), (900_000, 50)]);
        assert_eq!(after.since(&before), Lateness(vec![(10, 100), (20, 1)]));
    }

    #[test]
    fn late_or_unseen_packets_refuse_a_measurement() {
        let bound = nanoseconds(400_000);
        let measured = |late, unseen| Measurement {
            directions: [Counts::default(); 2],
            lateness: Lateness(vec![(1000, 900), (late, 100)]),
            unseen,
            captured: None,
        };
        assert_eq!(measured(400_000, 0).verdict(bound), Ok(()));
        let late = nanoseconds(400_001);
        assert_eq!(measured(400_001, 0).verdict(bound), Err(Refusal::Late { late, bound }));
        assert_eq!(measured(1001, 3).verdict(bound), Err(Refusal::Unseen { packets: 3 }));
    }
}
