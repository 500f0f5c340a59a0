//! RFC 5681, RFC 3742, Ha and Rhee 2011, and RFC 9406, for every controller alike.

use longfat_control::{Feedback, SlowStart, Start};
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near};

const CONTROLLERS: [&str; 6] = ["constant-rate", "cubic", "cw-hstcp", "hstcp", "reno", "stcp"];

fn flow(name: &str, slow_start: SlowStart) -> ClockedFlow {
    ClockedFlow::starting(name, &[], &Start { slow_start, ..Start::default() })
}

/// A round of acknowledgments, all with this round trip.
fn round(flow: &mut ClockedFlow, millis: u64) {
    let segments = flow.window() as u64;
    for segment in 0..segments {
        flow.ack_with(|ack| Feedback {
            rtt: Some(Span::from_millis(millis)),
            round_starts: segment == 0,
            ..ack
        });
    }
}

#[test]
fn standard_slow_start_doubles() {
    for name in CONTROLLERS {
        let mut flow = flow(name, SlowStart::Standard);
        (0..10).for_each(|_| flow.round());
        assert_eq!(flow.window(), 10_240.0, "{name}");
    }
}

/// RFC 3742, section 2: +1 up to 100, then 1/K with K = ⌊w/50⌋: 50 segments per round trip.
#[test]
fn limited_slow_start_adds_about_50_per_round_trip() {
    for name in CONTROLLERS {
        let mut flow = flow(name, SlowStart::Limited);
        flow.rounds_until(101.0);
        // From here to 150: K = 2, half a segment each.
        let before = flow.window();
        flow.ack();
        flow.ack();
        assert_eq!(flow.window() - before, 0.5 + 0.5, "{name}");
        flow.rounds_until(5000.0);
        let before = flow.window();
        flow.round();
        assert_near(flow.window() - before, 50.0, 0.02, name);
    }
}

/// Ten round trips of 100 ms, and of fewer than so many more, double the window each.
fn doubles_in_spite_of_jitter(slow_start: SlowStart, below: u64) {
    for name in CONTROLLERS {
        let mut flow = flow(name, slow_start);
        (0..10).for_each(|round_number| round(&mut flow, 100 + round_number % below));
        assert_eq!((flow.window(), flow.threshold()), (10_240.0, None), "{name}");
    }
}

/// 12.5 ms are what counts, and acknowledgments all at once are no train, whatever the window.
#[test]
fn hybrid_slow_start_doubles_while_nothing_tells_it_to_end() {
    doubles_in_spite_of_jitter(SlowStart::Hybrid, 12);
}

/// 100 ms, then 113, which is more than an eighth longer: the eighth sample of that round ends it, with the window that it
/// finds for a threshold.
#[test]
fn hybrid_slow_start_ends_when_round_trips_grow() {
    for name in CONTROLLERS {
        let mut flow = flow(name, SlowStart::Hybrid);
        (0..5).for_each(|_| round(&mut flow, 100));
        assert_eq!((flow.window(), flow.threshold()), (320.0, None), "{name}");
        round(&mut flow, 113);
        assert_eq!(flow.threshold(), Some(327.0), "{name}");
        assert!(flow.window() < 1.03 * 327.0, "{name} goes on to {}", flow.window());
    }
}

#[test]
fn hystart_doubles_while_round_trips_do_not_grow() {
    // Below 4 ms.
    doubles_in_spite_of_jitter(SlowStart::HyStart, 3);
}

/// 100 ms, then 113: more than 100/8 = 12.5 longer. The 8th sample of that round ends the doubling; the rest of
/// it and four more rounds grow by a quarter; then congestion avoidance.
#[test]
fn hystart_leaves_when_round_trips_grow() {
    for name in CONTROLLERS {
        let mut flow = flow(name, SlowStart::HyStart);
        (0..5).for_each(|_| round(&mut flow, 100));
        assert_eq!(flow.window(), 320.0, "{name}");
        round(&mut flow, 113);
        assert_eq!(flow.window(), 320.0 + 7.0 + 313.0 / 4.0, "{name}: the round of the change");
        for _ in 0..4 {
            let before = flow.window();
            round(&mut flow, 113);
            assert_near(flow.window() / before, 1.25, 0.003, name);
            assert_eq!(flow.threshold(), None, "{name}");
        }
        let left = flow.window();
        round(&mut flow, 113);
        assert_eq!(flow.threshold(), Some(left), "{name}");
        assert!(flow.window() < 1.03 * left, "{name} goes on to {}", flow.window());
    }
}

/// The threshold is an eighth of the round trip, but at least 4 ms and at most 16 ms.
#[test]
fn hystart_takes_an_eighth_within_4_and_16_ms_for_an_increase() {
    for (base, below, enough) in [(8, 11, 12), (80, 89, 90), (400, 415, 416)] {
        for (next, grows) in [(below, 2.0), (enough, 1.3)] {
            let mut flow = flow("reno", SlowStart::HyStart);
            (0..5).for_each(|_| round(&mut flow, base));
            let before = flow.window();
            round(&mut flow, next);
            let factor = flow.window() / before;
            assert!((factor - grows).abs() < 0.05, "{base} to {next} ms: grew by {factor}");
        }
    }
}

/// A later round below the baseline shows that the increase was noise.
#[test]
fn hystart_resumes_when_round_trips_shrink_again() {
    let mut flow = flow("cubic", SlowStart::HyStart);
    (0..5).for_each(|_| round(&mut flow, 100));
    round(&mut flow, 120);
    let before = flow.window();
    round(&mut flow, 105);
    assert!(flow.window() > 1.9 * before, "it grew by {}", flow.window() / before);
    // And the count of rounds restarts.
    round(&mut flow, 120);
    (0..4).for_each(|_| round(&mut flow, 120));
    assert_eq!(flow.threshold(), None);
    round(&mut flow, 120);
    assert!(flow.threshold().is_some());
}

#[test]
fn hystart_watches_only_the_first_slow_start() {
    let mut flow = flow("reno", SlowStart::HyStart);
    (0..8).for_each(|_| round(&mut flow, 100));
    flow.congestion(longfat_control::Cause::Timeout);
    let threshold = flow.threshold();
    assert_eq!(threshold, Some(1280.0));
    for millis in (100..900).step_by(100) {
        round(&mut flow, millis);
    }
    assert_eq!((flow.window(), flow.threshold()), (256.0, threshold));
}

/// Too few samples say nothing: a window of seven.
#[test]
fn hystart_needs_eight_samples() {
    let start = Start { window: Segments(7.0), slow_start: SlowStart::HyStart, ..Start::default() };
    let mut flow = ClockedFlow::starting("reno", &[], &start);
    for millis in [100, 200] {
        for segment in 0..7 {
            flow.ack_with(|ack| Feedback {
                rtt: Some(Span::from_millis(millis)),
                round_starts: segment == 0,
                ..ack
            });
        }
    }
    assert_eq!(flow.window(), 21.0);
}

/// Slow start overshoots by a factor of two: of these each says that a loss there takes half, whatever one takes later. An
/// eighth of BIC's, Illinois' and Compound's window, a quarter of `MulTCP`'s and 15 % of LTCP's.
#[test]
fn a_loss_in_slow_start_takes_half() {
    let eighth = [("beta", Setting::Number(0.125))];
    let none: [(&str, Setting); 0] = [];
    for (name, changes, later) in [
        ("bic", &none[..], 0.875),
        ("compound", &eighth[..], 0.875),
        ("illinois", &none[..], 0.875),
        ("ltcp", &none[..], 0.85),
        ("multcp", &none[..], 0.75),
    ] {
        for (threshold, kept) in [(None, 0.5), (Some(Segments(1000.0)), later)] {
            let start = Start { window: Segments(1000.0), threshold, ..Start::default() };
            let mut flow = ClockedFlow::starting(name, changes, &start);
            // Round trips without a queue, by which Illinois knows that there is none.
            (0..2).for_each(|_| flow.round_with_delay(Span::ZERO));
            let before = flow.window();
            flow.lose();
            assert_near(flow.window() / before, kept, 1e-9, name);
        }
    }
}
