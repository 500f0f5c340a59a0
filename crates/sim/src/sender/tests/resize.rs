//! Unused windows, and windows known from before, checked by hand: round trips of 100 ms, and a wire with no transmission
//! time.

use longfat_control::Start;
use longfat_scenario::{Recovery, SavedPath, WindowValidation};
use longfat_units::{Segments, Span, Time};

use super::super::{SenderConfig, Sends};
use super::{Dialogue, config};

/// A Reno flow that begins like this and has so many segments to send for now.
fn flow(start: &Start, how: WindowValidation, segments: u64, lost: &[u64]) -> Dialogue {
    let config = SenderConfig { window_validation: how, ..config(Recovery::Sack, None, segments) };
    Dialogue::of("reno", start, config, lost)
}

impl Dialogue {
    /// At this time, in milliseconds, so many more segments are there to be sent. Returns how many leave at once.
    pub(super) fn offer(&mut self, millis: u64, segments: u64) -> usize {
        self.run(Span::from_millis(millis));
        self.now = Time::ZERO + Span::from_millis(millis);
        self.sender.write(self.now, segments);
        let before = self.log.len();
        self.send();
        self.log.len() - before
    }
}

/// In slow start from two segments: 2, 4, 8 and 16 leave, at 0, 100, 200 and 300 ms. The first acknowledgment at 400 ms
/// finds the window full, the others do not: it is 17. The time-out is 200 ms by then.
fn seventeen(how: WindowValidation) -> Dialogue {
    let start = Start { window: Segments(2.0), ..Start::default() };
    let mut dialogue = flow(&start, how, 30, &[]);
    dialogue.run(Span::from_millis(450));
    assert_eq!(dialogue.window(), 17.0);
    dialogue
}

#[test]
fn without_validation_a_window_lasts_for_ever() {
    assert_eq!(seventeen(WindowValidation::None).offer(800_000, 100), 17);
}

#[test]
fn a_time_out_without_sending_restarts_with_the_initial_window() {
    // RFC 5681, section 4.1. The last segment left at 300 ms.
    assert_eq!(seventeen(WindowValidation::Rfc5681).offer(499, 100), 17);
    let mut dialogue = seventeen(WindowValidation::Rfc5681);
    assert_eq!(dialogue.offer(501, 100), 2);
    // Slow start again: no threshold was known.
    dialogue.run(Span::from_millis(750));
    assert_eq!(dialogue.window(), 8.0);
}

#[test]
fn each_time_out_without_sending_halves_the_window() {
    // RFC 2861. 500 ms are two time-outs: 17/4 is 4.25. After 1.7 s, eight of them, the restart window is left.
    assert_eq!(seventeen(WindowValidation::Rfc2861).offer(800, 100), 4);
    assert_eq!(seventeen(WindowValidation::Rfc2861).offer(2_000, 100), 2);
}

#[test]
fn a_window_that_is_used_in_part_is_reduced_to_the_middle() {
    // RFC 2861. 20 in congestion avoidance, with a threshold of 2; all 20 leave at 0. Then three at a time, every 100 ms
    // from 200 ms on. The window is known to have been full at 0. Until the first round trip is known the time-out is 1
    // s; by the departures at 200 ms it is 300 ms, at 300 ms 250 ms: 200 ms are less, and the first one at 300 ms finds
    // that 300 ms have passed in which at most three were in flight: (20.05 + 3)/2. The threshold remembers 3/4.
    let start =
        Start { window: Segments(20.0), threshold: Some(Segments(2.0)), ..Start::default() };
    let mut dialogue = flow(&start, WindowValidation::Rfc2861, 20, &[]);
    assert_eq!(dialogue.offer(200, 3), 3);
    assert_eq!(dialogue.window(), 20.05);
    assert_eq!(dialogue.offer(300, 3), 3);
    assert!((dialogue.window() - 11.525).abs() < 1e-9, "window {}", dialogue.window());
    let threshold = dialogue.sender.control().threshold().expect("there is one").0;
    assert!((threshold - 0.75 * 20.05).abs() < 1e-9, "threshold {threshold}");
}

/// RFC 7661. 20 in congestion avoidance leave at 0, and are acknowledged at 100 ms: pipeACK is 20, the window 20.05. Then
/// two at a time, every 200 ms from 300 ms on: from 1.1 s on pipeACK is 2, and the window not validated.
fn trickle(how: WindowValidation, lost: &[u64]) -> Dialogue {
    let start =
        Start { window: Segments(20.0), threshold: Some(Segments(2.0)), ..Start::default() };
    let mut dialogue = flow(&start, how, 20, lost);
    for at in (300..1500).step_by(200) {
        assert_eq!(dialogue.offer(at, 2), 2);
    }
    dialogue.run(Span::from_millis(1_490));
    assert_eq!(dialogue.window(), 20.05);
    dialogue
}

#[test]
fn a_window_that_is_not_validated_is_kept() {
    // All of it may leave at once at 1.5 s, and once it is full it grows.
    let mut dialogue = trickle(WindowValidation::Rfc7661, &[]);
    assert_eq!(dialogue.offer(1_500, 100), 20);
    dialogue.run(Span::from_millis(1_650));
    let mut usual = trickle(WindowValidation::None, &[]);
    assert_eq!(usual.offer(1_500, 100), 20);
    usual.run(Span::from_millis(1_650));
    assert!(usual.window() > 21.0, "window {}", usual.window());
    assert_eq!(dialogue.window(), usual.window());
}

#[test]
fn congestion_leaves_of_an_unvalidated_window_what_the_path_carried() {
    // At 1.5 s five leave, 32 to 36, of which the second is lost. At 1.6 s four are unacknowledged when block 36 shows
    // it: max(2, 4) is what was carried, Reno halves that. 33 is sent again: (4 - 1)/2 is left when it arrives.
    let mut dialogue = trickle(WindowValidation::Rfc7661, &[33]);
    assert_eq!(dialogue.offer(1_500, 5), 5);
    dialogue.run(Span::from_millis(1_650));
    assert_eq!(dialogue.retransmissions(), [(1_600, 33)]);
    assert_eq!(dialogue.window(), 2.0);
    dialogue.run(Span::from_millis(1_750));
    assert_eq!(dialogue.window(), 1.5);
    // Without validation: half of the window.
    let mut dialogue = trickle(WindowValidation::None, &[33]);
    dialogue.offer(1_500, 5);
    dialogue.run(Span::from_millis(1_750));
    assert!(dialogue.window() > 10.0, "window {}", dialogue.window());
}

#[test]
fn a_partial_acknowledgment_does_not_end_what_congestion_has_left() {
    // RFC 7661, section 4.4.1: what was sent again is taken off when recovery is over. Of the six that leave at 1.5 s, 32 to
    // 37, the second and the third are lost: max(2, 5) was carried, of which half is left. The copy of 33 is acknowledged
    // first, and that of 34 ends the recovery: (5 - 2)/2.
    let mut dialogue = trickle(WindowValidation::Rfc7661, &[33, 34]);
    assert_eq!(dialogue.offer(1_500, 6), 6);
    dialogue.run(Span::from_millis(1_650));
    assert_eq!(dialogue.retransmissions(), [(1_600, 33), (1_600, 34)]);
    assert_eq!(dialogue.window(), 2.5);
    while dialogue.sender.unacknowledged < 34 {
        assert!(dialogue.step(Span::from_millis(1_700)));
    }
    assert_eq!(dialogue.window(), 2.5);
    dialogue.run(Span::from_millis(1_750));
    assert_eq!(dialogue.window(), 1.5);
}

#[test]
fn five_minutes_halve_an_unvalidated_window() {
    // Slow start from 5 to 20, with 35 segments until 300 ms; then two at 500 ms, acknowledged at 600 ms, when a pipeACK
    // of 20 still says that the window is valid; and then two every minute.
    let start =
        Start { window: Segments(5.0), threshold: Some(Segments(20.0)), ..Start::default() };
    let mut dialogue = flow(&start, WindowValidation::Rfc7661, 35, &[]);
    assert_eq!(dialogue.offer(500, 2), 2);
    let mut windows = Vec::new();
    for minute in 1..=15 {
        dialogue.offer(60_000 * minute + 700, 2);
        windows.push(dialogue.window());
    }
    // After five and ten minutes half of it is left; the third half would be less than the initial window.
    let expected = [vec![20.05; 4], vec![10.025; 5], vec![5.0125; 5], vec![5.0]];
    assert_eq!(windows, expected.concat());
}

/// A flow in slow start from ten segments that knows of a window of 100.
fn resuming(saved: SavedPath, lost: &[u64]) -> Dialogue {
    let start = Start { window: Segments(10.0), ..Start::default() };
    let config =
        SenderConfig { careful_resume: Some(saved), ..config(Recovery::Sack, None, 100_000) };
    Dialogue::of("reno", &start, config, lost)
}

const SAVED: SavedPath = SavedPath { window: 100.0, rtt: Span::from_millis(80) };

#[test]
fn a_flow_that_knows_its_path_jumps_to_half_of_the_window() {
    // Ten leave at 0. The first nine acknowledgments at 100 ms release two each, 10 to 27. With the tenth the initial
    // window is acknowledged: the window becomes 50, and 32 more leave, 2 ms apart, beginning with 28. When 50 are in
    // flight, at 162 ms, the window is validated.
    let mut dialogue = resuming(SAVED, &[]);
    dialogue.run(Span::from_millis(199));
    let left: Vec<(u64, u64)> = dialogue.log[28..].iter().map(|sent| (sent.0, sent.1)).collect();
    let expected: Vec<(u64, u64)> = (0..32).map(|k| (100 + 2 * k, 28 + k)).collect();
    assert_eq!(left, expected);
    assert_eq!(dialogue.window(), 50.0);
    // From 200 ms on slow start goes on: 50 acknowledgments until 262 ms, two segments each.
    dialogue.run(Span::from_millis(299));
    assert_eq!(dialogue.window(), 100.0);
}

#[test]
fn a_path_that_looks_different_is_begun_as_usual() {
    // The round trip is 100 ms: within half and ten times the saved one, or not.
    for (millis, jumps) in [(10, false), (11, true), (199, true), (200, false)] {
        let mut dialogue = resuming(SavedPath { rtt: Span::from_millis(millis), ..SAVED }, &[]);
        dialogue.run(Span::from_millis(150));
        assert_eq!(dialogue.window() > 20.0, jumps, "saved round trip {millis} ms");
    }
    // So is one that was lossy in the initial window, and one that has nothing to jump to.
    let mut dialogue = resuming(SAVED, &[3]);
    dialogue.run(Span::from_millis(350));
    assert!(dialogue.window() < 10.0, "window {}", dialogue.window());
    let mut dialogue = resuming(SavedPath { window: 40.0, ..SAVED }, &[]);
    dialogue.run(Span::from_millis(150));
    assert_eq!(dialogue.window(), 20.0);
}

#[test]
fn congestion_after_the_jump_is_answered_by_a_safe_retreat() {
    // 30 leaves at 104 ms and is lost. 18 were in flight when the window jumped. At 210 ms block 33 shows the loss; until
    // then 10 to 29 and the blocks 31 and 32 have been acknowledged: 18 + 22, of which half is left.
    let mut dialogue = resuming(SAVED, &[30]);
    dialogue.run(Span::from_millis(209));
    assert!(dialogue.window() > 50.0, "window {}", dialogue.window());
    dialogue.run(Span::from_millis(210));
    assert_eq!(dialogue.window(), 20.0);
    // Nothing grows until 59, the last unvalidated segment, is acknowledged; then slow start goes on up to what has been
    // carried by then.
    dialogue.run(Span::from_millis(305));
    assert_eq!(dialogue.window(), 20.0);
    let repaired = dialogue.retransmissions()[0];
    assert_eq!(repaired.1, 30);
    dialogue.run(Span::from_millis(repaired.0 + 100));
    let threshold = dialogue.sender.control().threshold().expect("there is one").0;
    assert!(threshold > 60.0, "threshold {threshold}");
    assert_eq!(dialogue.sender.measured().congestion_events, 1);
}

#[test]
fn a_time_out_ends_a_safe_retreat() {
    // RFC 9959: after a time-out all is as usual. 30 to 59 are lost, the last unvalidated segments, and so are their copies
    // after the retreat. Slow start from one segment does not wait for 59: two after a round trip, and then four.
    let lost: Vec<u64> = (30..60).flat_map(|segment| [segment; 2]).collect();
    let mut dialogue = resuming(SAVED, &lost);
    while dialogue.sender.measured().timeouts == 0 {
        assert!(dialogue.step(Span::from_seconds(10)));
    }
    assert_eq!((dialogue.window(), dialogue.sender.unacknowledged), (1.0, 30));
    assert_eq!(dialogue.sender.measured().congestion_events, 1);
    dialogue.lost.clear();
    let begun = dialogue.now.0 / 1_000_000_000;
    dialogue.run(Span::from_millis(begun + 150));
    assert!(dialogue.sender.unacknowledged < 59);
    assert_eq!(dialogue.window(), 2.0);
    dialogue.run(Span::from_millis(begun + 250));
    assert_eq!(dialogue.window(), 4.0);
}
