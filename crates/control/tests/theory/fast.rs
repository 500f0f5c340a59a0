//! draft-jin-wei-low-tcp-fast-01.

use longfat_control::Start;
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near};

/// Half of the distance to the goal per round trip: w/2 · baseRTT/avgRTT + (α + w)/2. With a tenth of the round trip in
/// queues and α = 20, 100 segments become (90 + 20 + 100)/2 = 105, and 1000 become (900 + 20 + 1000)/2 = 960.
#[test]
fn the_window_moves_half_of_the_way() {
    for (window, expected) in [(100.0, 105.0), (200.0, 200.0), (1000.0, 960.0)] {
        let mut flow = ClockedFlow::new("fast", &[("alpha", Setting::Number(20.0))], window);
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
}
