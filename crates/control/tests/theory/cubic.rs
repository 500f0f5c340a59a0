//! RFC 9438.

use longfat_control::{Cause, Limited, Start};
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near, maxima_at_two_segments};

const ALONE: [(&str, Setting); 1] = [("fast_convergence", Setting::Flag(false))];

/// A flow of 100 ms after a loss at `window`.
fn after_a_loss(window: f64) -> ClockedFlow {
    let mut flow = ClockedFlow::new("cubic", &[], window);
    flow.lose();
    flow
}

fn run(flow: &mut ClockedFlow, length: Span) {
    let until = flow.now + length;
    while flow.now < until {
        flow.round();
    }
}

/// Equations 1 and 2: K = ∛(0.3 W/0.4) seconds back to W, and at 2K the mirror image of the start: 1.3 W.
#[test]
fn the_window_is_w_max_at_k_and_mirrors_at_2k() {
    // 10 000 segments: K = 19.574 s.
    let k = Span::from_millis(19_574);
    let mut flow = after_a_loss(10_000.0);
    assert_eq!(flow.window(), 7000.0);
    run(&mut flow, Span(k.0 / 2));
    // W - 0.4 (K/2)³ = W - 3000/8.
    assert_near(flow.window(), 9625.0, 0.002, "at K/2");
    run(&mut flow, Span(k.0 / 2));
    assert_near(flow.window(), 10_000.0, 0.001, "at K");
    run(&mut flow, k);
    assert_near(flow.window(), 13_000.0, 0.005, "at 2K");
}

/// Section 4.2: growth follows the clock, whatever the round trip.
#[test]
fn growth_does_not_depend_on_the_round_trip() {
    for millis in [10, 50, 200] {
        let mut flow = ClockedFlow::new("cubic", &[], 10_000.0).with_rtt(Span::from_millis(millis));
        flow.lose();
        run(&mut flow, Span::from_millis(9787));
        assert_near(flow.window(), 9625.0, 0.004, &format!("at K/2 with {millis} ms"));
    }
}

/// Section 5.1, tables 1 and 2: the cubic region at 100 ms, Reno's region at 10 ms. With fast convergence the sawtooth
/// settles at once; without it, the mean approaches the same value from above, only as one over the number of losses.
#[test]
fn cubic_has_the_response_function_of_its_rfc() {
    let cases = [
        (100, 1e-3, 38.0),
        (100, 1e-4, 187.0),
        (100, 1e-5, 1054.0),
        (100, 1e-6, 5926.0),
        (10, 1e-3, 38.0),
        (10, 1e-4, 120.0),
        (10, 1e-5, 379.0),
        (10, 1e-6, 1200.0),
    ];
    for (millis, p, window) in cases {
        let epochs = if p < 1e-5 { 8 } else { 30 };
        let flow = ClockedFlow::new("cubic", &[], window);
        let mean = flow.with_rtt(Span::from_millis(millis)).mean_window(p, epochs);
        assert_near(mean, window, 0.1, &format!("CUBIC at {millis} ms, p = {p}"));
    }
}

/// Section 4.3: in the Reno-friendly region 0.529 = 3·0.3/1.7 segments per round trip up to the window of the
/// loss, then one.
#[test]
fn where_reno_is_faster_it_grows_as_reno() {
    let mut flow = ClockedFlow::new("cubic", &[], 100.0).with_rtt(Span::from_millis(1));
    flow.lose();
    (0..10).for_each(|_| flow.round());
    assert_near(flow.window() - 70.0, 5.29, 0.02, "ten round trips after the loss");
    flow.rounds_until(100.0);
    let before = flow.window();
    (0..10).for_each(|_| flow.round());
    assert_near(flow.window() - before, 10.0, 0.02, "ten more above the window of the loss");
}

/// Section 4.2: never more than half a window per round trip.
#[test]
fn growth_is_at_most_one_and_a_half() {
    let mut flow = after_a_loss(100.0);
    flow.now += Span::from_seconds(1000);
    flow.ack();
    flow.now += Span::from_seconds(1000);
    let before = flow.window();
    flow.ack();
    assert_eq!(flow.window() - before, 0.5);
}

/// Section 4.7: a flow that loses below its last maximum aims at 0.85 of what it had.
#[test]
fn fast_convergence_makes_room() {
    let mut flow = after_a_loss(10_000.0);
    flow.lose();
    // 4900 left of 7000; the plateau is 5950, K = ∛(1050/0.4) = 13.795 s.
    run(&mut flow, Span::from_millis(13_795));
    assert_near(flow.window(), 5950.0, 0.001, "the plateau");

    let mut flow = ClockedFlow::new("cubic", &ALONE, 10_000.0);
    flow.lose();
    flow.lose();
    // Without it 7000 again: K = ∛(2100/0.4) = 17.380 s.
    run(&mut flow, Span::from_millis(17_380));
    assert_near(flow.window(), 7000.0, 0.001, "the plateau without fast convergence");
}

/// Section 4.8: β of what was in flight, one segment, and from the threshold on K = 0.
#[test]
fn after_a_time_out_the_cubic_begins_at_its_plateau() {
    let mut flow = ClockedFlow::new("cubic", &[], 10_000.0);
    flow.congestion(Cause::Timeout);
    assert_eq!((flow.window(), flow.threshold()), (1.0, Some(7000.0)));
    while flow.window() < 7000.0 {
        flow.round();
    }
    flow.ack();
    run(&mut flow, Span::from_seconds(10));
    // 7000 + 0.4·10³.
    assert_near(flow.window(), 7400.0, 0.005, "ten seconds later");
}

/// Sections 4.2 and 5.8: time during which the window does not limit the flow does not count.
#[test]
fn idle_time_does_not_count() {
    let mut steady = after_a_loss(10_000.0);
    let mut idle = after_a_loss(10_000.0);
    run(&mut steady, Span::from_seconds(5));
    run(&mut idle, Span::from_seconds(5));
    for limited in [Limited::Application, Limited::Receiver, Limited::Application] {
        idle.ack_with(|ack| longfat_control::Feedback { limited, ..ack });
        idle.now += Span::from_seconds(3600);
    }
    run(&mut steady, Span::from_seconds(5));
    run(&mut idle, Span::from_seconds(5));
    assert_near(idle.window(), steady.window(), 1e-4, "after three idle hours");
}

/// Section 4.6: a mark may leave one segment, a loss two.
#[test]
fn the_floors_of_loss_and_mark() {
    for (cause, floor) in [(Cause::Loss, 2.0), (Cause::Mark, 1.0)] {
        let mut flow = ClockedFlow::new("cubic", &[], 20.0);
        (0..20).for_each(|_| flow.congestion(cause));
        assert_eq!(flow.window(), floor, "{cause:?}");
    }
}

/// Section 4.10: a slow start that ends without a loss leaves no maximum: K = 0 from there on.
#[test]
fn a_slow_start_without_a_loss_begins_at_its_plateau() {
    let threshold = Some(Segments(10_000.0));
    let start = Start { window: Segments(5000.0), threshold, ..Start::default() };
    let mut flow = ClockedFlow::starting("cubic", &[], &start);
    while flow.window() < 10_000.0 {
        flow.round();
    }
    run(&mut flow, Span::from_seconds(10));
    assert_near(flow.window(), 10_400.0, 0.005, "ten seconds later");
}

/// Section 4.10: after such a slow start `cwnd_prior` is the window, so the Reno-friendly region grows by one segment per
/// round trip at once.
#[test]
fn a_slow_start_without_a_loss_leaves_renos_increase() {
    let start =
        Start { window: Segments(50.0), threshold: Some(Segments(100.0)), ..Start::default() };
    let flow = ClockedFlow::starting("cubic", &[], &start);
    let mut flow = flow.with_rtt(Span::from_millis(1));
    while flow.window() < 100.0 {
        flow.round();
    }
    let before = flow.window();
    (0..10).for_each(|_| flow.round());
    assert_near(flow.window() - before, 10.0, 0.02, "ten round trips");
}

/// Sections 4.3 and 4.8: after a time-out at 100 segments `W_est` goes on from 70 with α = 9/17, and with 1 from 100 on.
#[test]
fn after_a_time_out_renos_region_knows_the_window_before_it() {
    let mut flow = ClockedFlow::new("cubic", &[], 100.0).with_rtt(Span::from_millis(1));
    flow.congestion(Cause::Timeout);
    while flow.window() < 70.0 {
        flow.round();
    }
    let before = flow.window();
    (0..10).for_each(|_| flow.round());
    assert_near(flow.window() - before, 5.29, 0.02, "ten round trips");
    flow.rounds_until(100.0);
    let before = flow.window();
    (0..10).for_each(|_| flow.round());
    assert_near(flow.window() - before, 10.0, 0.02, "ten more above the window of the time-out");
}

/// Section 4.6: a mark may take the window to one segment, but the threshold not below two.
#[test]
fn the_threshold_stays_two_segments() {
    let mut flow = ClockedFlow::new("cubic", &[], 2.0);
    flow.congestion(Cause::Mark);
    flow.congestion(Cause::Mark);
    assert_eq!((flow.window(), flow.threshold()), (1.0, Some(2.0)));
}

/// RFC 9438, section 4.7: a loss at 700, below the maximum of 1000, takes that to 700 (1 + β)/2 = 595. Section 4.8: after a
/// time-out there is no maximum.
#[test]
fn a_loss_below_the_maximum_makes_room() {
    let mut flow = ClockedFlow::new("cubic", &[], 1000.0);
    flow.lose();
    assert_eq!(flow.variable("w_max"), Some(1000.0));
    flow.lose();
    assert_near(flow.window(), 490.0, 1e-9, "0.7 · 0.7");
    assert_near(flow.variable("w_max").expect("a maximum"), 595.0, 1e-9, "0.85 · 700");
    flow.congestion(Cause::Timeout);
    assert_eq!(flow.variable("w_max"), None);
}

/// Section 4.3, equation (4): the estimate of Reno's window grows by α/cwnd with each segment, α = 3 · 0.3/1.7, where cwnd is
/// the window in use. 5 s after the loss that is more than the estimate.
#[test]
fn the_estimate_of_reno_grows_by_the_window_in_use() {
    let mut flow = ClockedFlow::new("cubic", &[], 1000.0);
    flow.lose();
    flow.ack();
    flow.now += Span::from_seconds(5);
    (0..2000).for_each(|_| flow.ack());
    let (window, estimate) = (flow.window(), flow.variable("w_est").expect("an estimate"));
    assert!(window > estimate + 100.0, "{window} and {estimate}");
    flow.ack();
    let more = flow.variable("w_est").expect("an estimate") - estimate;
    assert_near(more * window, 0.9 / 1.7, 1e-6, "a segment's share");
}

/// Section 4.2: where the window is above the maximum already, as when the host asks for another one, the plateau is there.
#[test]
fn the_plateau_is_never_below_the_window() {
    let mut flow = ClockedFlow::new("cubic", &[], 1000.0);
    flow.lose();
    flow.adjust(2000.0);
    flow.ack();
    assert_eq!((flow.variable("w_max"), flow.variable("k")), (Some(2000.0), Some(0.0)));
}

/// Section 4.3 compares `W_est` with `W_cubic(t)`, not with what that will be a round trip later. At the first
/// acknowledgment after a loss at 100 segments that is 70, and `W_est` has just grown by α/70, α = 9/17; 0.1 s later
/// the cubic is at 72.1.
#[test]
fn the_region_is_that_of_the_present_cubic() {
    let mut flow = after_a_loss(100.0);
    flow.ack();
    assert_near(flow.window() - 70.0, 9.0 / 17.0 / 70.0, 1e-9, "in the Reno-friendly region");
}

/// Sections 4.2 and 4.3: no acknowledgment lowers the window. One second after a loss at 100 segments the target falls from
/// 102 to 88 as the round trip does from 5 to 0.1 s. Three thousand acknowledgments at that time take `W_est` above
/// `W_cubic(t)` = 86.7, but not yet above the window.
#[test]
fn no_acknowledgment_lowers_the_window() {
    let mut flow = after_a_loss(100.0);
    flow.ack();
    flow.now += Span::from_seconds(1);
    flow.queueing = Span::from_millis(4900);
    (0..300).for_each(|_| flow.ack());
    let reached = flow.window();
    assert!(reached > 95.0, "{reached}");
    flow.queueing = Span::ZERO;
    for _ in 0..3000 {
        flow.ack();
        assert_eq!(flow.window(), reached);
    }
    let estimate = flow.variable("w_est").expect("an estimate");
    assert!((86.7..reached).contains(&estimate), "{estimate}");
}

/// Section 4.7 is about losses below the last maximum. Two segments, of which losses take none, are at theirs each time.
#[test]
fn a_loss_at_the_maximum_is_not_below_it() {
    assert_eq!(maxima_at_two_segments("cubic", "w_max"), [Some(2.0); 2]);
}

/// What Linux has instead of a cubic from nowhere: until a loss has told a maximum each acknowledged segment adds a
/// twentieth, 5 % a round trip, and after a time-out again. Afterwards it is the cubic of the RFC.
#[test]
fn growth_without_a_maximum_has_a_floor_if_asked_for() {
    let linux = [("blind_growth", Setting::Number(0.05))];
    let start =
        Start { threshold: Some(Segments(100.0)), window: Segments(100.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("cubic", &linux, &start);
    for _ in 0..10 {
        let before = flow.window();
        flow.round();
        assert_near(flow.window() / before, 1.05, 0.003, "a twentieth for each");
    }
    let [mut other, mut lost] =
        [&[][..], &linux[..]].map(|changes| ClockedFlow::new("cubic", changes, 1000.0));
    for flow in [&mut other, &mut lost] {
        flow.lose();
        (0..50).for_each(|_| flow.round());
    }
    assert_eq!(lost.window(), other.window());
    lost.congestion(Cause::Timeout);
    while lost.window() < lost.threshold().expect("a time-out sets it") {
        lost.round();
    }
    let before = lost.window();
    lost.round();
    assert_near(lost.window() / before, 1.05, 0.003, "no maximum is known again");
}
