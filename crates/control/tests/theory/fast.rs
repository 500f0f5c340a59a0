//! draft-jin-wei-low-tcp-fast-01.

use longfat_control::{Cause, Feedback, Operating, Start};
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near, law, operating, windows_around_a_time_out};

const ALPHA_20: [(&str, Setting); 1] = [("alpha", Setting::Number(20.0))];

/// Half of the distance to the goal per round trip: w/2 · baseRTT/avgRTT + (α + w)/2. With a tenth of the round trip in
/// queues and α = 20, 100 segments become (90 + 20 + 100)/2 = 105, and 1000 become (900 + 20 + 1000)/2 = 960.
#[test]
fn the_window_moves_half_of_the_way() {
    for (window, expected) in [(100.0, 105.0), (200.0, 200.0), (1000.0, 960.0)] {
        let mut flow = ClockedFlow::new("fast", &ALPHA_20, window);
        flow.round_with_delay(Span::from_seconds_f64(0.1 / 9.0));
        assert_near(flow.window(), expected, 1e-6, &format!("from {window}"));
    }
}

/// α = 20, 200 and 2000 for 0.1, 1 and 10 Gbit/s. Where nothing waits, w ← (w₀ + α + w)/2, with w₀ a round trip ago: half of
/// α in the first round trip, in which w₀ is w, then half of what the last one left of α, (α - d)/2, which leads to d = α/3.
/// At most as much as there is: 50 segments become 100.
#[test]
fn an_empty_path_fills_by_a_third_of_alpha_per_round_trip() {
    for (alpha, window, first) in
        [(20.0, 100.0, 110.0), (200.0, 1e4, 1.01e4), (2000.0, 1e5, 1.01e5), (2000.0, 50.0, 100.0)]
    {
        let mut flow = ClockedFlow::new("fast", &[("alpha", Setting::Number(alpha))], window);
        flow.round_with_delay(Span::ZERO);
        assert_near(flow.window(), first, 1e-9, &format!("alpha {alpha}"));
        let mut before = flow.window();
        for _ in 0..16 {
            before = flow.window();
            flow.round_with_delay(Span::ZERO);
        }
        assert_near(flow.window() - before, alpha / 3.0, 1e-3, &format!("alpha {alpha}, later"));
    }
}

/// On a path that holds 1000 segments it comes to rest with α of its own waiting: at 1200 segments.
#[test]
fn at_rest_alpha_segments_wait() {
    let mut flow = ClockedFlow::new("fast", &[], 400.0);
    for _ in 0..60 {
        let waiting = (flow.window() - 1000.0).max(0.0);
        flow.round_with_delay(Span::from_seconds_f64(0.1 * waiting / 1000.0));
    }
    assert_near(flow.window(), 1200.0, 1e-3, "1000 on their way and 200 waiting");
}

/// Section 3.1 of the draft: a sample counts as 3/w in the average, and as a quarter at the most. A loss begins it anew.
#[test]
fn a_sample_is_three_of_a_window_in_the_average() {
    for (window, average) in [(100.0, 0.103), (6.0, 0.125)] {
        let mut flow = ClockedFlow::new("fast", &[], window);
        flow.ack();
        flow.queueing = Span::from_millis(100);
        // Its window is still the same: nothing is decided within a round trip.
        flow.ack();
        assert_near(flow.variable("average_rtt").expect("there is one"), average, 1e-9, "average");
        flow.lose();
        assert_eq!(flow.variable("average_rtt"), None);
    }
}

/// It ends slow start where more than α segments wait, with what the path holds and α: of 32 segments 8 wait where it
/// holds 24.
#[test]
fn slow_start_ends_with_what_the_path_holds() {
    let start = Start { window: Segments(4.0), ..Start::default() };
    let alpha = [("alpha", Setting::Number(1.0))];
    let mut flow = ClockedFlow::starting("fast", &alpha, &start);
    (0..6).for_each(|_| flow.round_with_delay(Span::ZERO));
    assert_eq!((flow.window(), flow.threshold()), (32.0, None));
    let full = Span::from_seconds_f64(0.1 * 8.0 / 24.0);
    flow.round_with_delay(full);
    assert_eq!((flow.window(), flow.threshold()), (32.0, None));
    flow.round_with_delay(full);
    assert_near(flow.threshold().expect("slow start is over"), 25.0, 1e-6, "24 and alpha");
    // The next step is from there: (25 · 3/4 + 1 + 25)/2, with as long a round trip.
    flow.round_with_delay(full);
    assert_near(flow.window(), 22.375, 1e-6, "half of the way");
}

/// As long as no more than α of its own segments wait it doubles every other round trip: 8 of 32 are fewer than 20.
#[test]
fn slow_start_goes_on_up_to_alpha() {
    let start = Start { window: Segments(4.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("fast", &ALPHA_20, &start);
    (0..6).for_each(|_| flow.round_with_delay(Span::ZERO));
    assert_eq!(flow.window(), 32.0);
    flow.round_with_delay(Span::from_seconds_f64(0.1 * 8.0 / 24.0));
    assert_eq!(flow.window(), 64.0);
}

/// Where slow start ends at a threshold of 32, the window of a round trip ago is that of now: it adds half of α.
#[test]
fn the_first_step_after_slow_start_is_from_its_last_window() {
    let threshold = Some(Segments(32.0));
    let start = Start { window: Segments(16.0), threshold, ..Start::default() };
    let mut flow = ClockedFlow::starting("fast", &ALPHA_20, &start);
    for expected in [32.0, 42.0] {
        flow.round_with_delay(Span::ZERO);
        assert_near(flow.window(), expected, 1e-9, "a round trip without a queue");
    }
}

/// What a round trip has decided, here to add 10 to 100 segments, is void after a loss or another window from the host; and
/// nothing is known of round trips, after a time-out neither.
#[test]
fn congestion_ends_the_change_under_way() {
    let events: [fn(&mut ClockedFlow); 3] =
        [ClockedFlow::lose, |flow| flow.adjust(200.0), |flow| flow.congestion(Cause::Timeout)];
    for event in events {
        let mut flow = ClockedFlow::new("fast", &ALPHA_20, 100.0);
        flow.ack_with(|ack| Feedback { round_starts: true, ..ack });
        assert_near(flow.window(), 100.1, 1e-9, "a hundredth of the change");
        event(&mut flow);
        assert_eq!(flow.variable("average_rtt"), None);
        let left = flow.window();
        flow.ack();
        assert_eq!(flow.window(), left);
    }
}

/// After a time-out the first round trip may double the window, whichever it was before.
#[test]
fn a_time_out_begins_slow_start_anew() {
    assert_eq!(windows_around_a_time_out("fast"), [8.0, 1.0, 2.0]);
}

/// The article, with γ = 1/2 and α = 200: per round trip a window of 1000 gains half of what is missing from 200 that
/// wait, and one of 50 no more than itself. A loss takes half.
#[test]
fn the_fluid_goes_half_of_the_way() {
    let law = law("fast", &[]);
    for (window, waiting, change) in
        [(1000.0, 0.0, 100.0), (1000.0, 200.0, 0.0), (1000.0, 500.0, -150.0), (50.0, 0.0, 50.0)]
    {
        let rtt = Span::from_seconds_f64(0.1 * window / (window - waiting));
        let gain = law.gain(&Operating { rtt, ..operating(window) });
        assert!((gain * window - change).abs() < 1e-6, "{waiting} of {window} wait: {gain}");
    }
    assert_eq!(law.give_up(&operating(1000.0), Cause::Loss), 0.5);
}
