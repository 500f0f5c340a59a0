//! What happened in a monitor interval.

use longfat_units::{Span, Time};

use crate::{Feedback, Path};

/// Counts what acknowledgments report until the interval ends, and keeps the extremes of the flow.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    begun: Time,
    delivered: u64,
    lost: u64,
    marked: u64,
    timeouts: u32,
    round_trips: u64,
    /// Their sum in picoseconds.
    round_trip_sum: u64,
    in_flight: u64,
    in_flight_before: u64,
    /// Mean round trip and delivery rate of the interval before.
    before: Option<(f64, f64)>,
    most_rate: f64,
}

/// What one interval has shown. Times are in seconds, amounts in segments, rates in segments per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measurement {
    /// When it ended.
    pub now: f64,
    /// How long it was.
    pub length: f64,
    /// Segments that were delivered.
    pub delivered: f64,
    /// Segments that were sent: delivered, lost, or in flight now and not at its beginning.
    pub sent: f64,
    /// Segments that were found lost. A time-out finds none: it is counted by itself.
    pub lost: f64,
    /// Segments reported as marked.
    pub marked: f64,
    /// Time-outs.
    pub timeouts: f64,
    /// Mean of its round trips; without any, that of the interval before.
    pub rtt: f64,
    /// The same of the interval before; in the first one, its own.
    pub rtt_before: f64,
    /// The shortest round trip of the flow so far.
    pub least_rtt: f64,
    /// The smoothed round trip at its end.
    pub smoothed_rtt: f64,
    /// Delivered segments over its length.
    pub rate: f64,
    /// The same of the interval before; in the first one, its own.
    pub rate_before: f64,
    /// The highest rate of any interval of the flow so far, this one included.
    pub most_rate: f64,
    /// In flight at its end.
    pub in_flight: f64,
    /// The window during the interval.
    pub window: f64,
    /// The rate at which it sent, if it was set.
    pub pacing: Option<f64>,
    /// Size of a segment on the wire, in bit.
    pub segment_bits: f64,
}

impl Monitor {
    /// An acknowledgment has arrived.
    #[inline]
    pub fn hear(&mut self, feedback: &Feedback) {
        let delivered = feedback.acked + feedback.sacked;
        self.delivered += delivered;
        self.lost += feedback.lost;
        self.marked += feedback.marked;
        if let Some(rtt) = feedback.rtt {
            self.round_trips += 1;
            self.round_trip_sum = self.round_trip_sum.saturating_add(rtt.0);
        }
        self.in_flight = feedback.in_flight.saturating_sub(delivered + feedback.lost);
    }

    /// The retransmission timer has run out.
    pub fn time_out(&mut self) {
        self.timeouts += 1;
    }

    /// The interval ends at `now`, and the next one begins. `window` and `pacing` are what the flow sent with.
    pub fn close(
        &mut self,
        now: Time,
        path: &Path,
        (window, pacing): (f64, Option<f64>),
        segment_bits: f64,
    ) -> Measurement {
        let length = now.since(self.begun).seconds().max(Span(1).seconds());
        let rate = self.delivered as f64 / length;
        let mean = self.round_trip_sum.checked_div(self.round_trips);
        let before = || self.before.map_or(path.rtt.seconds(), |(rtt, _)| rtt);
        let rtt = mean.map_or_else(before, |mean| Span(mean).seconds());
        let (rtt_before, rate_before) = self.before.unwrap_or((rtt, rate));
        self.most_rate = self.most_rate.max(rate);
        let out = (self.delivered + self.lost + self.in_flight) as f64;
        let measurement = Measurement {
            now: now.seconds(),
            length,
            delivered: self.delivered as f64,
            sent: (out - self.in_flight_before as f64).max(0.0),
            lost: self.lost as f64,
            marked: self.marked as f64,
            timeouts: f64::from(self.timeouts),
            rtt,
            rtt_before,
            least_rtt: path.base_rtt.seconds(),
            smoothed_rtt: path.rtt.seconds(),
            rate,
            rate_before,
            most_rate: self.most_rate,
            in_flight: self.in_flight as f64,
            window,
            pacing,
            segment_bits,
        };
        *self = Self {
            begun: now,
            in_flight: self.in_flight,
            in_flight_before: self.in_flight,
            before: Some((rtt, rate)),
            most_rate: self.most_rate,
            ..Self::default()
        };
        measurement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_measured_by_hand() {
        let mut monitor = Monitor::default();
        let path = Path { rtt: Span::from_millis(45), base_rtt: Span::from_millis(40) };
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let heard = |millis, rtt, in_flight| Feedback {
            rtt: Some(Span::from_millis(rtt)),
            in_flight,
            ..Feedback::at(at(millis), 2)
        };
        monitor.hear(&heard(10, 40, 10));
        monitor.hear(&Feedback { lost: 1, marked: 1, ..heard(20, 50, 12) });
        let first = monitor.close(at(100), &path, (12.0, None), 12_000.0);
        assert_eq!((first.delivered, first.lost, first.marked), (4.0, 1.0, 1.0));
        assert_eq!((first.rtt, first.rtt_before), (0.045, 0.045));
        assert_eq!((first.rate, first.most_rate, first.least_rtt), (40.0, 40.0, 0.04));
        // 12 in flight before the last acknowledgment: 9 after it; nothing was at the beginning.
        assert_eq!((first.in_flight, first.sent), (9.0, 14.0));
        monitor.hear(&heard(150, 60, 9));
        monitor.time_out();
        let second = monitor.close(at(200), &path, (6.0, Some(50.0)), 12_000.0);
        assert_eq!((second.rtt, second.rtt_before, second.timeouts), (0.06, 0.045, 1.0));
        assert_eq!((second.rate, second.rate_before, second.most_rate), (20.0, 40.0, 40.0));
        assert_eq!((second.sent, second.in_flight), (0.0, 7.0));
        // Nothing is heard: the round trip is the last one known.
        let third = monitor.close(at(300), &path, (6.0, None), 12_000.0);
        assert_eq!((third.rtt, third.rate, third.sent), (0.06, 0.0, 0.0));
    }
}
