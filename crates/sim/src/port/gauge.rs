//! What is measured at a link: queue, utilisation, drops, marks.
//!
//! Nothing here is sampled: the mean and percentile of the queue are time-weighted, exactly, whatever the spacing of
//! the time series. Counts belong to the measured interval, which begins at the end of the warm-up.

use longfat_queue::{Backlog, Capacity};
use longfat_units::{Rate, Span, Time};

use super::Variation;

/// The histogram of the queue has at most this many bins, and at least half as many unless the buffer is smaller.
const BINS: u64 = 16_384;

/// The instruments of one direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    rate: Rate,
    capacity: Capacity,
    measured_from: Time,
    measured_until: Time,
    /// The next instant at which counts are read or reset.
    edge: Time,
    /// The queue in the unit of the capacity, and since when it has been so; and the queue in packets.
    level: u64,
    since: Time,
    packets: u64,
    /// Integral of the level over the measured time, in unit-picoseconds.
    area: u128,
    /// Picoseconds spent at each level, 2^shift levels to a bin; no further than the queue has ever reached, since most
    /// queues of a large network stay empty.
    histogram: Vec<u64>,
    bins: usize,
    shift: u32,
    /// Counts of the whole run, and what they were when the measured interval began.
    counts: PortCounts,
    before: PortCounts,
    corrupted: u64,
    series: Option<Series>,
    variation: Option<Box<Variation>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PortCounts {
    arrived: u64,
    dropped: u64,
    marked: u64,
    bytes_left: u64,
}

impl PortCounts {
    fn since(&self, before: &Self) -> Self {
        Self {
            arrived: self.arrived - before.arrived,
            dropped: self.dropped - before.dropped,
            marked: self.marked - before.marked,
            bytes_left: self.bytes_left - before.bytes_left,
        }
    }
}

/// The time series of one direction of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    next: Time,
    step: Span,
    last: PortCounts,
    pub(crate) queue: Vec<f64>,
    pub(crate) queue_packets: Vec<u64>,
    pub(crate) utilisation: Vec<f64>,
    pub(crate) dropped: Vec<u64>,
    pub(crate) marked: Vec<u64>,
    /// Of a link that changes: what it could carry in each interval, in bits, and its delay at the end.
    capacity: Vec<f64>,
    delay: Vec<Span>,
}

/// The averages of the measured interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GaugeReport {
    pub(crate) utilisation: f64,
    pub(crate) queue_mean: f64,
    pub(crate) queue_p99: f64,
    pub(crate) arrived: u64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    pub(crate) corrupted: u64,
}

impl Gauge {
    /// Instruments that measure in the interval `measured` and keep a row every `step`, if given.
    pub(crate) fn new(
        rate: Rate,
        capacity: Capacity,
        measured: (Time, Time),
        step: Option<Span>,
    ) -> Self {
        let (measured_from, measured_until) = measured;
        let levels = match capacity {
            Capacity::Packets(limit) => limit,
            Capacity::Bytes(limit) => limit.0,
            Capacity::Unbounded => 0,
        };
        let mut shift = 0;
        while (levels >> shift) >= BINS {
            shift += 1;
        }
        let series = step.map(|step| Series { next: Time::ZERO + step, step, ..Series::default() });
        let mut gauge = Self {
            rate,
            capacity,
            measured_from,
            measured_until,
            edge: Time::ZERO,
            level: 0,
            since: Time::ZERO,
            packets: 0,
            area: 0,
            histogram: vec![0],
            bins: (levels >> shift) as usize + 1,
            shift,
            counts: PortCounts::default(),
            before: PortCounts::default(),
            corrupted: 0,
            series,
            variation: None,
        };
        gauge.edge = gauge.next_edge(Time::ZERO);
        gauge
    }

    /// The same for a link that changes.
    pub(crate) fn of_varying(mut self, variation: Option<Variation>) -> Self {
        self.variation = variation.map(Box::new);
        self
    }

    /// Does the link change in time?
    pub(crate) fn is_varying(&self) -> bool {
        self.variation.is_some()
    }

    /// What the link could carry on average in the interval of a row, in bit/s.
    pub(crate) fn capacity(&self, row: usize) -> f64 {
        let varying = self
            .series
            .as_ref()
            .and_then(|series| series.capacity.get(row).map(|bits| bits / series.step.seconds()));
        varying.unwrap_or(self.rate.0 as f64)
    }

    /// The delay of a link that changes, at the end of the interval of a row.
    pub(crate) fn delay(&self, row: usize) -> Option<Span> {
        self.series.as_ref().and_then(|series| series.delay.get(row).copied())
    }

    /// The first edge after `now`.
    fn next_edge(&self, now: Time) -> Time {
        let measure = if self.measured_from > now { self.measured_from } else { Time::NEVER };
        self.series.as_ref().map_or(measure, |series| series.next.min(measure))
    }

    /// Reads or resets the counts at every edge up to and including `now`: what happens at an edge counts after it.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        if now >= self.edge {
            self.pass_edges(now);
        }
    }

    #[cold]
    fn pass_edges(&mut self, now: Time) {
        while now >= self.edge {
            let edge = self.edge;
            self.hold(edge);
            if let Some(series) = self.series.as_mut().filter(|series| series.next == edge) {
                series.read(
                    &self.counts,
                    fraction(self.level, self.capacity),
                    self.packets,
                    self.rate,
                    self.variation.as_deref(),
                );
            }
            if edge == self.measured_from {
                self.area = 0;
                self.histogram.fill(0);
                self.before = self.counts;
            }
            self.edge = self.next_edge(edge);
        }
    }

    /// Accounts for the time up to `now` at the level held.
    #[inline]
    fn hold(&mut self, now: Time) {
        let span = (now - self.since).0;
        self.since = now;
        self.area += u128::from(self.level) * u128::from(span);
        let bin = (self.level >> self.shift) as usize;
        if let Some(time) = self.histogram.get_mut(bin) {
            *time += span;
        } else {
            self.hold_higher(bin, span);
        }
    }

    /// The same at a level that the queue had not reached before.
    #[cold]
    fn hold_higher(&mut self, bin: usize, span: u64) {
        // An unbounded queue has a single bin.
        if bin < self.bins {
            self.histogram.resize((2 * bin).min(self.bins), 0);
            self.histogram[bin] += span;
        }
    }

    /// From now on the queue is `backlog`.
    #[inline]
    pub(crate) fn queue(&mut self, now: Time, backlog: Backlog) {
        self.advance(now);
        self.hold(now);
        self.level = match self.capacity {
            Capacity::Bytes(_) => backlog.bytes.0,
            Capacity::Packets(_) | Capacity::Unbounded => backlog.packets,
        };
        self.packets = backlog.packets;
    }

    /// The last bit of a packet left at `at`.
    #[inline]
    pub(crate) fn departed(&mut self, at: Time, bytes: u32) {
        self.advance(at);
        self.counts.bytes_left += u64::from(bytes);
    }

    /// A packet that left at `at` was destroyed on the wire. `at` may be in the future.
    pub(crate) fn corrupted_at(&mut self, at: Time) {
        self.corrupted += u64::from(at >= self.measured_from && at <= self.measured_until);
    }

    /// A packet arrives; edges up to now come first.
    #[inline]
    pub(crate) fn arrived(&mut self, now: Time) {
        self.advance(now);
        self.counts.arrived += 1;
    }

    pub(crate) fn dropped(&mut self) {
        self.counts.dropped += 1;
    }

    pub(crate) fn marked(&mut self) {
        self.counts.marked += 1;
    }

    /// The averages of the measured interval, which has ended.
    pub(crate) fn report(&mut self) -> GaugeReport {
        let end = self.measured_until;
        self.advance(end);
        self.hold(end);
        let span = end.since(self.measured_from);
        let PortCounts { arrived, dropped, marked, bytes_left } = self.counts.since(&self.before);
        let mean = self.area as f64 / span.0 as f64;
        GaugeReport {
            utilisation: self.utilisation(bytes_left, span).min(1.0),
            queue_mean: mean / units(self.capacity),
            queue_p99: self.percentile(0.99),
            arrived,
            dropped,
            marked,
            corrupted: self.corrupted,
        }
    }

    /// `bytes` as a share of what the link could carry in the measured interval, which lasts for `span`.
    fn utilisation(&self, bytes: u64, span: Span) -> f64 {
        let Some(variation) = &self.variation else {
            return share_of_capacity(bytes, self.rate, span);
        };
        share(8.0 * bytes as f64, variation.supply.bits(self.measured_from, self.measured_until))
    }

    /// The level, as a fraction of the capacity, that the queue did not exceed for this share of the time.
    fn percentile(&self, share: f64) -> f64 {
        let total: u64 = self.histogram.iter().sum();
        let wanted = share * total as f64;
        let mut passed = 0;
        for (bin, time) in self.histogram.iter().enumerate() {
            passed += time;
            if passed as f64 >= wanted {
                let level = ((bin as u64) << self.shift) as f64;
                let units = units(self.capacity);
                return level / units;
            }
        }
        f64::NAN
    }

    /// The time series kept so far.
    pub(crate) fn series(&self) -> Option<&Series> {
        self.series.as_ref()
    }
}

impl Series {
    fn read(
        &mut self,
        counts: &PortCounts,
        queue: f64,
        packets: u64,
        rate: Rate,
        variation: Option<&Variation>,
    ) {
        let interval = counts.since(&self.last);
        self.queue.push(queue);
        self.queue_packets.push(packets);
        match variation {
            None => self.carried(share_of_capacity(interval.bytes_left, rate, self.step)),
            Some(variation) => {
                let from = Time::ZERO + self.step * self.capacity.len() as u64;
                self.capacity.push(variation.supply.bits(from, self.next));
                self.delay.push(Span(variation.delay.value(self.next)));
                self.carried_by_varying(8.0 * interval.bytes_left as f64);
            }
        }
        self.dropped.push(interval.dropped);
        self.marked.push(interval.marked);
        self.last = *counts;
        self.next = self.next.saturating_add(self.step);
    }

    /// Adds a row of utilisation. What is more than a full interval left in those before, the latest first.
    fn carried(&mut self, share: f64) {
        // Rounding, far below a bit.
        const NOTHING: f64 = 1e-12;
        let mut excess = share - 1.0;
        for earlier in self.utilisation.iter_mut().rev() {
            if excess < NOTHING {
                break;
            }
            let part = excess.min(1.0 - *earlier);
            *earlier += part;
            excess -= part;
        }
        self.utilisation.push(share.min(1.0));
    }

    /// The same in bits, where each interval has a capacity of its own.
    fn carried_by_varying(&mut self, bits: f64) {
        let row = self.utilisation.len();
        let mut excess = bits - self.capacity[row];
        for (earlier, capacity) in self.utilisation.iter_mut().zip(&self.capacity).rev() {
            // Less than a bit is rounding.
            if excess < 1.0 {
                break;
            }
            let part = excess.min((1.0 - *earlier) * capacity);
            *earlier = (*earlier + share(part, *capacity)).min(1.0);
            excess -= part;
        }
        self.utilisation.push(share(bits, self.capacity[row]).min(1.0));
    }
}

/// `bits` as a share of `capacity`; nothing of nothing is no share.
fn share(bits: f64, capacity: f64) -> f64 {
    if capacity > 0.0 { bits / capacity } else { 0.0 }
}

/// `bytes` as a share of what `rate` carries in `span`. A packet counts in the interval in which its last bit leaves,
/// so the share may be above one: whatever exceeds the capacity left before the interval began.
fn share_of_capacity(bytes: u64, rate: Rate, span: Span) -> f64 {
    bytes as f64 * 8.0 / (rate.0 as f64 * span.seconds())
}

/// The capacity in its own unit; NaN for an unbounded queue, of which no fraction makes sense.
fn units(capacity: Capacity) -> f64 {
    match capacity {
        Capacity::Packets(limit) => limit as f64,
        Capacity::Bytes(limit) => limit.0 as f64,
        Capacity::Unbounded => f64::NAN,
    }
}

fn fraction(level: u64, capacity: Capacity) -> f64 {
    level as f64 / units(capacity)
}

#[cfg(test)]
mod tests {
    use longfat_units::Bytes;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// A link of 10 Mbit/s that is busy from the start: packets of 1500 bytes leave every 1.2 ms.
    fn saturated(measured_from: u64, end: u64, step: Option<u64>) -> Gauge {
        let micros = |count| Span(count * 1_000_000);
        let measured = (Time::ZERO + micros(measured_from), Time::ZERO + micros(end));
        let rate = Rate(10_000_000);
        let mut gauge = Gauge::new(rate, Capacity::Packets(100), measured, step.map(micros));
        for packet in 1..=end / 1200 {
            gauge.departed(Time::ZERO + micros(1200 * packet), 1500);
        }
        gauge
    }

    #[test]
    fn a_packet_that_began_before_the_interval_carries_no_more_than_the_link() {
        // From 1 ms to 4 ms packets leave at 1.2, 2.4 and 3.6 ms: 3.6 ms of sending in 3 ms.
        assert_eq!(saturated(1000, 4000, None).report().utilisation, 1.0);
        // From 1.2 ms to 4.8 ms it is busy with three whole packets: the one that leaves at 1.2 ms counts too.
        assert_eq!(saturated(1200, 4800, None).report().utilisation, 1.0);
        // From 0 to 4 ms three packets have left, and most of a fourth.
        assert_eq!(saturated(0, 4000, None).report().utilisation, 0.9);
    }

    #[test]
    fn a_packet_longer_than_an_interval_of_the_series_was_sent_in_those_before() {
        // A packet fills 2.4 intervals of 0.5 ms. Up to 5.9 ms four have left, the last at 4.8 ms, in the tenth.
        let mut gauge = saturated(0, 5900, Some(500));
        gauge.advance(Time(5_900_000_000));
        let rows = &gauge.series().expect("it was asked for").utilisation;
        assert_eq!(rows.len(), 11);
        assert!(rows[1..10].iter().all(|row| (row - 1.0).abs() < 0.21 && *row <= 1.0), "{rows:?}");
        let sum: f64 = rows.iter().sum();
        assert!((sum - 4.0 * 2.4).abs() < 1e-9, "every bit counts once: {rows:?}");
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn backlog(packets: u64) -> Backlog {
        Backlog { packets, bytes: Bytes(1500 * packets) }
    }

    /// A buffer of ten packets, measured from 10 to 30 ms.
    fn measured(capacity: Capacity) -> Gauge {
        Gauge::new(Rate(12_000_000), capacity, (at(10), at(30)), None)
    }

    #[test]
    fn what_happens_as_the_interval_begins_counts_in_it() {
        let mut gauge = measured(Capacity::Packets(10));
        for millis in [9, 10, 20] {
            gauge.arrived(at(millis));
            gauge.dropped();
            gauge.marked();
            gauge.departed(at(millis), 1500);
        }
        for picoseconds in [9_999_999_999, 10_000_000_000, 30_000_000_000, 30_000_000_001] {
            gauge.corrupted_at(Time(picoseconds));
        }
        let report = gauge.report();
        assert_eq!((report.arrived, report.dropped, report.marked, report.corrupted), (2, 2, 2, 2));
        assert!((report.utilisation - 0.1).abs() < 1e-12, "two milliseconds of sending");
    }

    /// Two packets wait from 5 ms on, six from 20 ms on, and none from 25 ms on: of 20 ms two for 10 and six for 5.
    #[test]
    fn the_mean_queue_is_that_of_the_measured_interval() {
        for capacity in [Capacity::Packets(10), Capacity::Bytes(Bytes(15_000))] {
            let mut gauge = measured(capacity);
            for (millis, packets) in [(5, 2), (20, 6), (25, 0)] {
                gauge.queue(at(millis), backlog(packets));
            }
            let report = gauge.report();
            assert!((report.queue_mean - 0.25).abs() < 1e-12, "{report:?}");
            assert_eq!(report.queue_p99, 0.6, "{report:?}");
        }
    }

    /// All ten places are taken before the interval and for a hundredth of it, or a picosecond more.
    #[test]
    fn a_queue_may_exceed_its_percentile_for_a_hundredth_of_the_time() {
        for (more, expected) in [(0, 0.3), (1, 1.0)] {
            let mut gauge = measured(Capacity::Packets(10));
            gauge.queue(at(0), backlog(10));
            gauge.queue(at(10), backlog(3));
            gauge.queue(at(20), backlog(10));
            gauge.queue(Time(at(20).0 + 200_000_000 + more), backlog(3));
            assert_eq!(gauge.report().queue_p99, expected);
        }
    }

    /// Four bytes make a level where there are more than 65 535 of them: no more than 16 384 are told apart.
    #[test]
    fn levels_of_a_large_buffer_are_told_apart_as_far_as_there_are_bins() {
        let level = |limit: u64, bytes: u64| {
            let mut gauge = measured(Capacity::Bytes(Bytes(limit)));
            gauge.queue(at(0), Backlog { packets: 1, bytes: Bytes(bytes) });
            gauge.report().queue_p99 * limit as f64
        };
        assert_eq!(level(16_383, 12_347), 12_347.0);
        assert_eq!(level(16_384, 12_347), 12_346.0);
        assert_eq!(level(65_535, 12_347), 12_344.0);
        assert_eq!(level(65_536, 12_351), 12_344.0);
    }

    /// A row every 10 ms, of what has come since the last one; what comes at its instant belongs to the next.
    #[test]
    fn rows_count_what_has_come_since_the_last_one() {
        let measured = (at(0), at(30));
        let step = Some(Span::from_millis(10));
        let mut gauge = Gauge::new(Rate(12_000_000), Capacity::Packets(10), measured, step);
        for (millis, packets) in [(4, 1), (10, 2), (12, 3), (29, 4)] {
            gauge.arrived(at(millis));
            gauge.dropped();
            gauge.marked();
            gauge.queue(at(millis), backlog(packets));
            gauge.departed(at(millis), 3000);
        }
        gauge.advance(at(30));
        let rows = gauge.series().expect("it was asked for");
        assert_eq!((&*rows.dropped, &*rows.marked), (&[1, 2, 1][..], &[1, 2, 1][..]));
        assert_eq!(rows.queue_packets, [1, 3, 4]);
        assert_eq!(rows.queue, [0.1, 0.3, 0.4]);
        let used = &rows.utilisation;
        assert!(
            used.iter().zip([0.2, 0.4, 0.2]).all(|(one, other)| (one - other).abs() < 1e-12),
            "{used:?}"
        );
    }

    /// 15 ms of sending are found at the end of the third interval of 10 ms, in which 10 had room: of the other 5 the second
    /// takes 4, since it was busy for 6, and the first the last one.
    #[test]
    fn what_left_in_an_interval_goes_as_far_back_as_there_is_room() {
        let mut series = Series { step: Span::from_millis(10), ..Series::default() };
        for share in [0.5, 0.6, 1.5] {
            series.carried(share);
        }
        let used = &series.utilisation;
        assert!(
            used.iter().zip([0.6, 1.0, 1.0]).all(|(one, other)| (one - other).abs() < 1e-12),
            "{used:?}"
        );
        let mut series = Series::default();
        for (capacity, bits) in [(100.0, 50.0), (0.0, 0.0), (200.0, 120.0), (10.0, 100.0)] {
            series.capacity.push(capacity);
            series.carried_by_varying(bits);
        }
        // Of 90 bits too many the third interval takes 80, the second none, and the first 10.
        assert_eq!(series.utilisation, [0.6, 0.0, 1.0, 1.0]);
    }

    /// What exceeds an interval goes into the one before it as far as there is room, and so on: in whole units.
    fn moved_back(capacities: &[u64], carried: &[u64]) -> Vec<u64> {
        let mut rows: Vec<u64> = Vec::new();
        for (row, &units) in carried.iter().enumerate() {
            rows.push(units);
            for earlier in (1..=row).rev() {
                let excess = rows[earlier].saturating_sub(capacities[earlier]);
                rows[earlier] -= excess;
                rows[earlier - 1] += excess;
            }
            rows[0] = rows[0].min(capacities[0]);
        }
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// No bit is lost however little of it is beyond an interval, and none is counted twice.
        #[test]
        fn rows_hold_all_that_was_carried(
            intervals in prop::collection::vec(
                (select(&[0, 1, 7, 500_000, 1_000_000][..]), prop_oneof![0_u64..1_500_000, 999_990_u64..1_000_010]),
                1..20,
            ),
        ) {
            let close = |used: &[f64], rows: &[u64], capacities: &[u64]| {
                used.len() == rows.len() && used.iter().zip(rows).zip(capacities).all(|((used, &row), &capacity)| {
                    let share = if capacity > 0 { row as f64 / capacity as f64 } else { 0.0 };
                    (used - share).abs() < 1e-9
                })
            };
            let (capacities, carried): (Vec<u64>, Vec<u64>) = intervals.into_iter().unzip();
            let equal = vec![1_000_000; carried.len()];
            let mut series = Series::default();
            for &units in &carried {
                series.carried(units as f64 * 1e-6);
            }
            let rows = moved_back(&equal, &carried);
            prop_assert!(close(&series.utilisation, &rows, &equal), "{:?} {rows:?}", series.utilisation);
            // The same of a link that changes, in tens of bits: what is less than one is rounding.
            let mut series = Series::default();
            for (&capacity, &units) in capacities.iter().zip(&carried) {
                series.capacity.push(10.0 * capacity as f64);
                series.carried_by_varying(10.0 * units as f64);
            }
            let rows = moved_back(&capacities, &carried);
            prop_assert!(close(&series.utilisation, &rows, &capacities), "{:?} {rows:?}", series.utilisation);
        }
    }
}
