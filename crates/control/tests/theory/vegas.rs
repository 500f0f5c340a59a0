//! Brakmo and Peterson 1995.

use longfat_control::{Cause, Feedback, Operating, Start};
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near, listed, operating, windows_around_a_time_out};

/// By how much Vegas-1,3 changes 101 segments in `rounds` round trips in which so many of them wait. In the one before,
/// which begins at 100, it knows nothing and adds one.
fn change(waiting: f64, rounds: u32) -> f64 {
    let mut flow = ClockedFlow::new("vegas", &[], 100.0);
    for _ in 0..=rounds {
        let window = flow.window();
        flow.round_with_delay(Span::from_seconds_f64(0.1 * waiting / (window - waiting)));
    }
    flow.window() - 101.0
}

/// One segment per round trip, up below one segment that waits, down above three, and neither between.
#[test]
fn the_window_moves_by_one_segment_per_round_trip() {
    for (waiting, expected) in [(0.5, 10.0), (1.5, 0.0), (2.5, 0.0), (3.5, -10.0)] {
        let change = change(waiting, 10);
        assert!((change - expected).abs() < 0.1, "{waiting} waiting: {change}");
    }
}

/// Section III.C: the window doubles every other round trip, and stops where more than one segment waits.
#[test]
fn slow_start_takes_two_round_trips_to_double() {
    let start = Start { window: Segments(4.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("vegas", &[], &start);
    let mut seen = Vec::new();
    for _ in 0..6 {
        flow.round_with_delay(Span::ZERO);
        seen.push(flow.window());
    }
    assert_eq!(seen, [8.0, 8.0, 16.0, 16.0, 32.0, 32.0]);
    assert_eq!(flow.threshold(), None);
    // A path that holds 24 segments: of 32 in flight, 8 wait, and the round trip is 32/24 of the base. The window does not
    // double in the round trip that shows it, and is known to have waited whole when that is over.
    let full = Span::from_seconds_f64(0.1 * 8.0 / 24.0);
    flow.round_with_delay(full);
    assert_eq!((flow.window(), flow.threshold()), (32.0, None));
    flow.round_with_delay(full);
    let left = flow.threshold().expect("slow start is over");
    assert_near(left, 25.0, 1e-6, "what the path holds, and alpha");
}

/// A round trip of a window of 20, acknowledged two by two, in which these acknowledgments waited as long as the round
/// trip for a second segment.
fn round_of_pairs(flow: &mut ClockedFlow, waited: impl Fn(u64) -> bool) {
    for pair in 0..10 {
        flow.ack_with(|ack| Feedback {
            acked: 2,
            rtt: ack.rtt.map(|rtt| if waited(pair) { rtt * 2 } else { rtt }),
            round_starts: pair == 0,
            in_flight: 20,
            ..ack
        });
    }
    flow.pass_round_trip();
}

/// By an acknowledgment that waited ten of twenty segments are in queues. One that did not shows that none are: the window
/// grows as on an empty path, and doubles from there on in slow start.
#[test]
fn delayed_acknowledgments_are_no_queue() {
    let mut flow = ClockedFlow::new("vegas", &[], 20.0);
    for _ in 0..2 {
        round_of_pairs(&mut flow, |pair| pair != 7);
    }
    assert_near(flow.window(), 21.0 + 20.0 / 21.0, 1e-9, "a segment per round trip");
    let start = Start { window: Segments(20.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("vegas", &[], &start);
    round_of_pairs(&mut flow, |pair| pair == 0);
    assert_eq!((flow.window(), flow.threshold()), (38.0, None), "nine pairs of ten");
}

/// Where there are two acknowledgments in a round trip, both may have waited: the window grows whatever they say. With
/// three it does not.
#[test]
fn few_acknowledgments_say_nothing_of_queues() {
    for (count, expected) in [(2, 7.0), (3, 6.0)] {
        let mut flow = ClockedFlow::new("vegas", &[], 5.0);
        for _ in 0..2 {
            for number in 0..count {
                flow.ack_with(|ack| Feedback {
                    acked: if number == 0 { 7 - count } else { 1 },
                    rtt: ack.rtt.map(|rtt| rtt * 3 / 2),
                    round_starts: number == 0,
                    in_flight: 6,
                    ..ack
                });
            }
        }
        // Five became six when nothing was known. For a third of the round trip two of them wait.
        assert_near(flow.window(), expected, 1e-9, &format!("{count} acknowledgments"));
    }
}

/// The thresholds of a scenario in the wrong order are those of α alone.
#[test]
fn beta_is_never_below_alpha() {
    let changes = [("alpha", Setting::Number(5.0)), ("beta", Setting::Number(2.0))];
    let mut flow = ClockedFlow::new("vegas", &changes, 100.0);
    // 4 of 100 segments wait: fewer than α.
    for _ in 0..2 {
        flow.round_with_delay(Span::from_seconds_f64(0.1 * 4.0 / 96.0));
    }
    assert_near(flow.window(), 102.0, 1e-3, "it grows");
}

/// Four acknowledgments with so much in flight, and a round trip twice as long as without queues: half of it waits.
fn round_half_waiting(flow: &mut ClockedFlow, in_flight: u64) {
    for number in 0..4 {
        flow.ack_with(|ack| Feedback {
            rtt: ack.rtt.map(|rtt| rtt * 2),
            round_starts: number == 0,
            in_flight,
            ..ack
        });
    }
}

/// The thresholds belong to where the window stays: with one segment waiting as with three. What is compared is what is in
/// flight, not a window of five, half of which would be between the two.
#[test]
fn the_window_stays_from_alpha_to_beta() {
    for (in_flight, expected) in [(1, 5.8), (2, 5.0), (6, 5.0), (7, 4.2)] {
        let mut flow = ClockedFlow::new("vegas", &[], 4.0);
        // Four become five when nothing is known, and then change by a fifth with each of four acknowledgments.
        (0..2).for_each(|_| round_half_waiting(&mut flow, in_flight));
        assert_near(flow.window(), expected, 1e-9, &format!("{in_flight} in flight"));
    }
}

/// Slow start goes on while no more than gamma waits, one of two segments in flight.
#[test]
fn slow_start_goes_on_at_gamma() {
    for (in_flight, expected) in [(2, 8.0), (3, 4.0)] {
        let start = Start { window: Segments(4.0), ..Start::default() };
        let mut flow = ClockedFlow::starting("vegas", &[], &start);
        round_half_waiting(&mut flow, in_flight);
        assert_eq!(flow.window(), expected, "{in_flight} in flight");
    }
}

/// What a round trip has decided is void after a loss, a time-out or another window from the host.
#[test]
fn congestion_ends_the_step_under_way() {
    let under_way = || {
        let mut flow = ClockedFlow::new("vegas", &[], 4.0);
        flow.ack_with(|ack| Feedback { round_starts: true, in_flight: 4, ..ack });
        assert_eq!(flow.window(), 4.25);
        flow
    };
    let mut lossy = under_way();
    lossy.lose();
    lossy.ack();
    assert_eq!(lossy.window(), 2.125);
    let mut adjusted = under_way();
    adjusted.adjust(8.0);
    adjusted.ack();
    assert_eq!(adjusted.window(), 8.0);
    // Slow start is over with the first of the two, at half of four.
    let mut late = under_way();
    late.congestion(Cause::Timeout);
    late.ack_with(|ack| Feedback { round_starts: true, in_flight: 1, ..ack });
    late.ack();
    assert_eq!((late.window(), late.threshold()), (2.0, Some(2.0)));
}

/// After a time-out the first round trip may double the window, whichever it was before.
#[test]
fn a_time_out_begins_slow_start_anew() {
    assert_eq!(windows_around_a_time_out("vegas"), [8.0, 1.0, 2.0]);
}

/// Two segments are the least, but a smaller window is not lifted by a loss.
#[test]
fn a_loss_lifts_no_window() {
    let mut flow = ClockedFlow::new("vegas", &[], 1.0);
    flow.lose();
    assert_eq!((flow.window(), flow.threshold()), (1.0, Some(2.0)));
}

/// In the fluid a window of 100 gains a segment per round trip on an empty path, and gives up half at a loss. Where alpha and
/// beta are both 2, the step goes from 1 to -1 within 0.1 segments on either side.
#[test]
fn the_fluid_takes_the_steps_of_the_packets() {
    let vegas = listed("vegas");
    let law = vegas.law.as_ref().expect("a law")(&vegas.defaults());
    assert_near(law.gain(&operating(100.0)), 0.01, 1e-12, "an empty path");
    assert_eq!(law.give_up(&operating(100.0), Cause::Loss), 0.5);
    let mut settings = vegas.defaults();
    settings.set("alpha", Setting::Number(2.0));
    settings.set("beta", Setting::Number(2.0));
    let law = vegas.law.as_ref().expect("a law")(&settings);
    for (waiting, gain) in [(1.5, 0.01), (1.95, 0.005), (2.05, -0.005), (2.5, -0.01)] {
        let rtt = Span::from_seconds_f64(0.1 * 100.0 / (100.0 - waiting));
        let at = Operating { rtt, ..operating(100.0) };
        assert_near(law.gain(&at), gain, 1e-6, &format!("{waiting} waiting"));
    }
}
