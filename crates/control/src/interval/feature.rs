//! What a decision may depend on.

use longfat_units::math::log2;

use super::Measurement;

/// A number that a decision may depend on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// Its bounds; whatever lies outside is moved to them.
    pub bounds: (f64, f64),
    /// Does it mean the same at every rate, round trip and size of packets?
    pub scale_free: bool,
    read: fn(&Measurement) -> f64,
}

impl Feature {
    /// Its value, within its bounds.
    pub fn of(&self, measured: &Measurement) -> f64 {
        (self.read)(measured).clamp(self.bounds.0, self.bounds.1)
    }
}

/// The feature called `name`, and its place in the list.
pub fn feature(name: &str) -> Option<(usize, &'static Feature)> {
    FEATURES.iter().enumerate().find(|(_, feature)| feature.name == name)
}

/// All of them: those without a scale first.
pub const FEATURES: &[Feature] = &[
    ratio("delivery", "delivery rate over the highest one of the flow so far", (0.0, 1.0), |m| {
        share(m.rate, m.most_rate)
    }),
    ratio("delivery_change", "log2 of the delivery rate over that before", (-4.0, 4.0), |m| {
        log2((m.rate * m.length + 1.0) / (m.rate_before * m.length + 1.0))
    }),
    ratio(
        "rtt",
        "log2 of the mean round trip over the shortest one of the flow",
        (0.0, 8.0),
        |m| {
            if m.least_rtt > 0.0 { log2((m.rtt / m.least_rtt).max(1.0)) } else { 0.0 }
        },
    ),
    ratio(
        "rtt_gradient",
        "change of the mean round trip, in seconds per second",
        (-1.0, 1.0),
        |m| share(m.rtt - m.rtt_before, m.length),
    ),
    ratio("loss", "lost segments as a share of lost and delivered ones", (0.0, 1.0), |m| {
        share(m.lost, m.lost + m.delivered)
    }),
    ratio("marks", "marked segments as a share of delivered ones", (0.0, 1.0), |m| {
        share(m.marked, m.delivered)
    }),
    ratio("sent", "log2 of the segments sent over those delivered", (-4.0, 4.0), |m| {
        log2((m.sent + 1.0) / (m.delivered + 1.0))
    }),
    ratio("in_flight", "segments in flight over the window", (0.0, 2.0), |m| {
        share(m.in_flight, m.window)
    }),
    ratio(
        "window",
        "log2 of the window over the highest delivery rate times the shortest round trip",
        (-8.0, 8.0),
        |m| {
            let product = m.most_rate * m.least_rtt;
            if product > 0.0 { log2(m.window / product) } else { 0.0 }
        },
    ),
    ratio("timeout", "1 if the retransmission timer has run out, else 0", (0.0, 1.0), |m| {
        m.timeouts
    }),
    raw("time_s", "the end of the interval, in seconds of simulated time", |m| m.now),
    raw("interval_s", "its length in seconds", |m| m.length),
    raw("delivered_bit_s", "delivery rate in bit/s", |m| m.rate * m.segment_bits),
    raw("delivered_segments", "segments delivered", |m| m.delivered),
    raw("sent_segments", "segments sent", |m| m.sent),
    raw("lost_segments", "segments found lost", |m| m.lost),
    raw("marked_segments", "segments reported as marked", |m| m.marked),
    raw("rtt_s", "mean round trip in seconds", |m| m.rtt),
    raw("least_rtt_s", "shortest round trip of the flow, in seconds", |m| m.least_rtt),
    raw("smoothed_rtt_s", "smoothed round trip at its end, in seconds", |m| m.smoothed_rtt),
    raw("in_flight_segments", "segments in flight at its end", |m| m.in_flight),
    raw("window_segments", "the window, in segments", |m| m.window),
    raw(
        "pacing_bit_s",
        "the rate at which it sent, in bit/s; 0 if the window alone decided",
        |m| m.pacing.unwrap_or(0.0) * m.segment_bits,
    ),
    raw("timeouts", "how often the retransmission timer has run out", |m| m.timeouts),
];

const fn ratio(
    name: &'static str,
    title: &'static str,
    bounds: (f64, f64),
    read: fn(&Measurement) -> f64,
) -> Feature {
    Feature { name, title, bounds, scale_free: true, read }
}

const fn raw(name: &'static str, title: &'static str, read: fn(&Measurement) -> f64) -> Feature {
    Feature { name, title, bounds: (0.0, f64::INFINITY), scale_free: false, read }
}

/// A part of a whole; 0 of nothing.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, one) in FEATURES.iter().enumerate() {
            assert_eq!(feature(one.name).map(|(place, _)| place), Some(index), "{}", one.name);
        }
        assert!(feature("colour").is_none());
    }

    #[test]
    fn nothing_measured_is_within_all_bounds() {
        for feature in FEATURES {
            let value = feature.of(&Measurement::default());
            assert!(
                value.is_finite() && feature.bounds.0 <= value && value <= feature.bounds.1,
                "{}: {value}",
                feature.name
            );
        }
    }

    /// The same interval on a path of a thousand times the rate, and on one of ten times the round trip.
    #[test]
    fn ratios_have_no_scale() {
        let at = |rate: f64, time: f64| Measurement {
            now: 3.0 * time,
            length: 0.05 * time,
            delivered: 9e6 * 0.05 * rate * time,
            sent: 1e7 * 0.05 * rate * time,
            lost: 2e4 * rate * time,
            marked: 3e4 * rate * time,
            rtt: 0.06 * time,
            rtt_before: 0.05 * time,
            least_rtt: 0.04 * time,
            smoothed_rtt: 0.05 * time,
            rate: 9e6 * rate,
            rate_before: 7e6 * rate,
            most_rate: 1e7 * rate,
            in_flight: 4e5 * rate * time,
            window: 5e5 * rate * time,
            segment_bits: 12_000.0,
            ..Measurement::default()
        };
        for feature in FEATURES {
            let one = feature.of(&at(1.0, 1.0));
            let others = [feature.of(&at(1000.0, 1.0)), feature.of(&at(1.0, 10.0))];
            // The segment that is added to the counts is the only scale.
            let same = others.iter().all(|other| (other - one).abs() < 1e-5);
            let named = ["pacing_bit_s", "timeouts"].contains(&feature.name);
            assert_eq!(same, feature.scale_free || named, "{}: {one}, {others:?}", feature.name);
        }
    }
}
