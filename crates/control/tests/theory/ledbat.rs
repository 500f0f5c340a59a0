//! RFC 6817.

use longfat_control::{Cause, Feedback, Limited};
use longfat_units::Span;

use crate::drive::{ClockedFlow, assert_near};

/// A round trip in which packets wait so long; the base delay, one way, is 50 ms.
fn round(flow: &mut ClockedFlow, millis: u64) {
    round_one_way(flow, 50 + millis);
}

fn round_one_way(flow: &mut ClockedFlow, millis: u64) {
    for _ in 0..flow.window() as u64 {
        let in_flight = flow.window() as u64;
        flow.ack_with(|ack| {
            let one_way_delay = Some(Span::from_millis(millis));
            Feedback { one_way_delay, in_flight, ..ack }
        });
    }
    flow.pass_round_trip();
}

/// Section 2.4.2: GAIN times the distance, a segment per round trip where nothing waits, none at 100 ms, -1 at 200.
#[test]
fn the_window_moves_in_proportion_to_the_distance_from_the_target() {
    for (wait, change) in [(0, 1.0), (50, 0.5), (100, 0.0), (200, -1.0), (300, -2.0)] {
        let mut flow = ClockedFlow::new("ledbat", &[], 1000.0);
        round(&mut flow, 0);
        // The smallest of the last four samples counts.
        (0..3).for_each(|_| {
            flow.ack_with(|ack| {
                let one_way_delay = Some(Span::from_millis(50 + wait));
                Feedback { acked: 0, one_way_delay, in_flight: 1001, ..ack }
            });
        });
        let before = flow.window();
        round(&mut flow, wait);
        assert!((flow.window() - before - change).abs() < 0.01, "{wait} ms: {}", flow.window());
    }
}

/// `ALLOWED_INCREASE`: no more than a segment above what is in flight.
#[test]
fn an_unused_window_is_taken_away() {
    let mut flow = ClockedFlow::new("ledbat", &[], 100.0);
    flow.ack_with(|ack| Feedback { in_flight: 30, ..ack });
    assert_eq!(flow.window(), 31.0);
}

#[test]
fn a_loss_takes_half() {
    let mut flow = ClockedFlow::new("ledbat", &[], 100.0);
    flow.lose();
    assert_eq!(flow.window(), 50.0);
    flow.congestion(Cause::Timeout);
    assert_eq!(flow.window(), 1.0);
}

/// `MIN_CWND` is 2, however long packets wait: a time-out leaves less until the next acknowledgment only.
#[test]
fn an_acknowledgment_finds_two_segments_at_the_least() {
    let mut flow = ClockedFlow::new("ledbat", &[], 100.0);
    round(&mut flow, 0);
    flow.congestion(Cause::Timeout);
    (0..2).for_each(|_| flow.pass_round_trip());
    round(&mut flow, 500);
    assert_eq!(flow.window(), 2.0);
}

/// Section 2.4.2: the filter has no samples from more than a round trip ago. A flow that hears once in a little more
/// than each sees a queue at once, not after four of them; one that hears in each, with the second.
#[test]
fn samples_of_the_filter_are_no_older_than_a_round_trip() {
    for (late, [first, second]) in [(1, [0.3, 0.3]), (0, [0.0, 0.3])] {
        let mut flow = ClockedFlow::new("ledbat", &[], 8.0);
        let mut hear = |millis| {
            flow.pass_round_trip();
            flow.now += Span::from_millis(late);
            let one_way_delay = Some(Span::from_millis(millis));
            flow.ack_with(|ack| Feedback { one_way_delay, in_flight: 8, ..ack });
            flow.variable("queueing_delay").expect("it is known")
        };
        (0..4).for_each(|_| assert_eq!(hear(50), 0.0));
        assert_eq!([hear(350), hear(350)], [first, second], "{late} ms late");
    }
}

/// `BASE_HISTORY`: where the path becomes 50 ms longer, that is a queue for ten minutes, and then no more. A shorter one is
/// known at once.
#[test]
fn the_base_delay_is_that_of_the_last_ten_minutes() {
    let mut flow = ClockedFlow::new("ledbat", &[], 2.0);
    round(&mut flow, 0);
    let wait = |flow: &ClockedFlow| flow.variable("queueing_delay").expect("it is known");
    for second in 1..=600 {
        flow.now += Span::from_seconds(1) - Span::from_millis(100);
        round_one_way(&mut flow, 100);
        if second == 599 {
            assert_near(wait(&flow), 0.05, 1e-9, "it is remembered");
        }
    }
    assert_eq!(wait(&flow), 0.0, "it is forgotten");
    round_one_way(&mut flow, 20);
    round_one_way(&mut flow, 100);
    round_one_way(&mut flow, 100);
    round_one_way(&mut flow, 100);
    assert_near(wait(&flow), 0.08, 1e-9, "20 ms is the base at once");
}

/// What limits a flow, and how many segments of an acknowledgment are marked; and whether its window may grow then, and
/// fall.
const MAY_GROW_AND_FALL: [(Limited, u64, [bool; 2]); 4] = [
    (Limited::Window, 0, [true, true]),
    (Limited::Application, 0, [false, true]),
    (Limited::Window, 1, [false, true]),
    (Limited::Recovery, 0, [false, false]),
];

/// Where so many milliseconds wait a window of 100 changes by so much. Fails unless it grows only where it is used and the
/// acknowledgment reports no congestion, falls all the same, and stands still while losses are repaired.
pub(crate) fn assert_what_limits_keeps_from_growing(name: &str, changes: [(u64, f64); 2]) {
    for (limited, marked, may) in MAY_GROW_AND_FALL {
        for ((wait, change), may) in changes.into_iter().zip(may) {
            let mut flow = ClockedFlow::new(name, &[], 100.0);
            // The smallest of the last four samples counts; the first is that without a queue.
            for (acked, wait) in [(0, 0), (0, wait), (0, wait), (0, wait), (1, wait)] {
                flow.queueing = Span::from_millis(wait);
                let one_way_delay = Some(Span::from_millis(50 + wait));
                let ack = |ack| Feedback { acked, one_way_delay, in_flight: 200, ..ack };
                flow.ack_with(|plain| Feedback { limited, marked, ..ack(plain) });
            }
            let expected = if may { 100.0 + change } else { 100.0 };
            assert_near(flow.window(), expected, 1e-12, &format!("{limited:?}, {marked}, {wait}"));
        }
    }
}

/// A window of 100 grows by a hundredth, and falls by as much where 200 ms wait.
#[test]
fn what_limits_a_flow_keeps_it_from_growing_and_not_from_falling() {
    assert_what_limits_keeps_from_growing("ledbat", [(0, 0.01), (200, -0.01)]);
}
