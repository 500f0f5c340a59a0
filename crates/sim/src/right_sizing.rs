//! How a receiver chooses the size of its buffer.
//!
//! M. Fisk and W. Feng, "Dynamic Right-Sizing in TCP", LACSI Symposium 2001: a receiver cannot see the congestion
//! window, but what arrives in a round trip is no more than that. Twice as much leaves room for the sender to double
//! its window in the next one. The round trip is how long a window takes to arrive after the acknowledgment that let it
//! leave: the shortest such time, since a sender held back by its own window takes longer.

use longfat_scenario::ReceiveWindow;
use longfat_units::{Bytes, Span, Time};

/// A receive buffer that grows with what arrives. It never shrinks: a window once told is not taken back (RFC 9293,
/// section 3.8.6).
#[derive(Clone, Debug)]
pub(crate) struct RightSizing {
    window: ReceiveWindow,
    payload: u64,
    /// The size of the buffer, in bytes.
    buffer: u64,
    most: u64,
    rtt: Option<Span>,
    /// The last acknowledgment that began a round trip: when it left, and one past the last segment that it let go.
    trip: Option<(Time, u64)>,
    /// The round trip in which arrivals are counted: when it began, and the next segment in order then.
    round: (Time, u64),
}

impl RightSizing {
    /// A buffer of `initial` bytes that grows to `most`, for packets of this size.
    pub(crate) fn new(
        window: ReceiveWindow,
        (initial, most): (Bytes, Bytes),
        packet: Bytes,
    ) -> Self {
        let payload = ReceiveWindow::payload(packet);
        let (buffer, most, round) = (initial.0, most.0, (Time::ZERO, 0));
        Self { window, payload, buffer, most, rtt: None, trip: None, round }
    }

    /// The window that is told, in whole segments.
    pub(crate) fn segments(&self) -> u64 {
        self.window.told(self.buffer) / self.payload
    }

    /// Everything below `expected` has arrived at `at`, and is acknowledged.
    pub(crate) fn arrive(&mut self, at: Time, expected: u64) {
        let Some((since, end)) = self.trip else {
            self.trip = Some((at, expected + self.segments()));
            self.round = (at, expected);
            return;
        };
        if expected >= end {
            let took = at.since(since);
            self.rtt = Some(self.rtt.map_or(took, |rtt| rtt.min(took)));
            self.trip = Some((at, expected + self.segments()));
        }
        let (since, from) = self.round;
        if self.rtt.is_some_and(|rtt| at.since(since) >= rtt) {
            let arrived = (expected - from) * self.payload;
            self.buffer = self.buffer.max(2 * arrived).min(self.most);
            self.round = (at, expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use longfat_scenario::{ReceiveBuffer, Scenario};

    use super::*;

    /// A window of `initial` to `most` packets of 1000 bytes of data.
    fn sizing(initial: u64, most: u64) -> RightSizing {
        let text = format!(
            "duration = \"1 s\"\n[link.l]\nrate = \"12 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\nname = \"f\"\n\
             control = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\npacket = \"1040 B\"\n\
             receive_window = {{ initial = \"{initial} packets\", most = \"{most} packets\" }}\n"
        );
        let scenario = Scenario::read(&text, "window.toml", &[], None).expect("it is right");
        let window = scenario.flows[0].transport.receive_window.expect("it has one");
        let ReceiveBuffer::RightSizing { initial, most } = window.buffer else {
            panic!("{window:?}")
        };
        RightSizing::new(window, (initial, most), Bytes(1040))
    }

    const MILLISECOND: u64 = 1_000_000_000;

    /// Four packets in the window, a round trip of 10 ms, and a sender that always fills the window. The acknowledgment
    /// of the first lets the fifth go, which takes a round trip; four have come in it, so the next window is eight.
    /// These come in the next two, so it is sixteen, and then the limit.
    #[test]
    fn a_window_that_is_filled_doubles_every_round_trip() {
        let mut sizing = sizing(4, 20);
        let (mut sent, mut seen) = (0, Vec::new());
        for trip in 0..8_u64 {
            let window = sizing.segments();
            seen.push(window);
            for place in 0..window {
                sent += 1;
                // All of a window within the first millisecond of its round trip.
                let at = Time(10 * MILLISECOND * trip + place * MILLISECOND / 32);
                sizing.arrive(at, sent);
            }
        }
        assert_eq!(seen[..2], [4, 4], "the first round trip is not known before its end");
        assert!(
            seen.windows(2).all(|pair| pair[0] <= pair[1] && pair[1] <= 2 * pair[0]),
            "{seen:?}"
        );
        assert_eq!(seen[7], 20, "{seen:?}");
    }

    /// A sender held back by itself: two packets in every round trip of 10 ms. Four take two of them, so two round
    /// trips pass for one, and twice the four that come in that time is the window for good.
    #[test]
    fn a_window_stays_within_four_times_what_arrives_in_a_round_trip() {
        let mut sizing = sizing(4, 1000);
        for packet in 0..1000_u64 {
            sizing.arrive(Time(5 * MILLISECOND * packet), packet + 1);
        }
        assert!((8..=18).contains(&sizing.segments()), "{}", sizing.segments());
    }

    /// The first window takes 30 ms, the next one 10: that is the round trip. A window that has grown stays as it is when
    /// less arrives.
    #[test]
    fn the_shortest_round_trip_counts_and_nothing_is_taken_back() {
        let mut sizing = sizing(4, 1000);
        let mut arrive = |millis, expected| {
            sizing.arrive(Time(MILLISECOND * millis), expected);
            (sizing.rtt, sizing.segments())
        };
        arrive(0, 1);
        let slow = Some(Span::from_millis(30));
        assert_eq!(arrive(30, 5), (slow, 8), "twice the four that came in it");
        let fast = Some(Span::from_millis(10));
        assert_eq!(arrive(40, 13), (fast, 16));
        assert_eq!(arrive(60, 14), (fast, 16));
        assert_eq!(arrive(90, 15), (fast, 16));
    }

    #[test]
    fn a_lone_packet_says_nothing() {
        let mut sizing = sizing(4, 1000);
        sizing.arrive(Time(5 * MILLISECOND), 1);
        sizing.arrive(Time(900 * MILLISECOND), 2);
        assert_eq!(sizing.segments(), 4);
    }
}
