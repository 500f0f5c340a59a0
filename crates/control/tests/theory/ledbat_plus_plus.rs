//! draft-irtf-iccrg-ledbat-plus-plus-01.

use longfat_control::{Cause, Start};
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near};
use crate::ledbat::assert_what_limits_keeps_from_growing;

const fn millis(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// Section 4.2: GAIN is 1 over 2 · 60 ms over the base, rounded up, and 1/16 at the least.
#[test]
fn gain_depends_on_the_base_delay() {
    for (base, expected) in [(1, 16.0), (10, 12.0), (50, 3.0), (60, 2.0), (100, 2.0), (120, 1.0)] {
        let mut flow = ClockedFlow::new("ledbat++", &[], 1000.0).with_rtt(millis(base));
        flow.round_with_delay(Span::ZERO);
        assert_near(flow.window() - 1000.0, 1.0 / expected, 1e-2, &format!("{base} ms"));
    }
}

/// Section 4.3: below 60 ms it grows by GAIN, 1/2 on 100 ms. Above it changes by max(1/2 - w (delay/T - 1), -w/2): at 66 ms
/// and 1000 segments by 0.5 - 100, at 200 ms by -500. The first three acknowledgments still see the shorter round trip.
#[test]
fn the_window_falls_in_proportion_to_itself() {
    for (wait, change) in [(0, 0.5), (59, 0.5), (66, -99.5), (200, -500.0)] {
        let mut flow = ClockedFlow::new("ledbat++", &[], 1000.0);
        flow.round_with_delay(Span::ZERO);
        let before = flow.window();
        flow.round_with_delay(millis(wait));
        assert_near(flow.window(), before + change, 5e-3, &format!("{wait} ms"));
    }
}

/// Section 4.1: the first slow start ends at 3/4 of the target, 45 ms; later ones do not. Section 4.4: two round trips
/// later the window is 2 for two, then rises by GAIN per segment, half, to where it was. With round trips of 0.1 s it is
/// there after as many as the rise takes, and the next slowdown comes after nine times that.
#[test]
fn slowdowns_take_a_tenth_of_the_time() {
    let start = Start { window: Segments(2.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("ledbat++", &[], &start);
    let mut windows = Vec::new();
    for _ in 0..8 {
        flow.round_with_delay(Span::ZERO);
        windows.push(flow.window());
    }
    assert!(windows.is_sorted() && windows[7] > 25.0, "it rises: {windows:?}");
    assert_eq!(flow.threshold(), None);
    flow.round_with_delay(millis(46));
    let top = flow.window();
    assert_near(top, flow.threshold().expect("slow start is over"), 0.02, "the threshold");
    // Rounds in which it begins small, until it is back; then those before the next slowdown.
    let mut low = Vec::new();
    let mut between = 0;
    let mut slowdowns = 0;
    for round in 0..400 {
        let before = flow.window();
        flow.round_with_delay(Span::ZERO);
        if flow.window() == 2.0 && before > 2.0 {
            slowdowns += 1;
            if slowdowns == 1 {
                assert!((1..=3).contains(&round), "two round trips after slow start: {round}");
            } else {
                break;
            }
        }
        if slowdowns == 1 {
            if flow.window() < top { low.push(flow.window()) } else { between += 1 }
        }
    }
    assert_eq!(slowdowns, 2, "there is a second one");
    let still = low.iter().filter(|&&window| window == 2.0).count();
    assert!((2..=3).contains(&still), "two round trips: {low:?}");
    let ratio = f64::from(between) / low.len() as f64;
    assert!((7.5..10.5).contains(&ratio), "{between} after {}", low.len());
}

/// Section 4.3: the window never falls below 2, at a time-out neither.
#[test]
fn a_time_out_leaves_two_segments() {
    let mut flow = ClockedFlow::new("ledbat++", &[], 100.0);
    flow.congestion(Cause::Timeout);
    assert_eq!(flow.window(), 2.0);
    assert_eq!(flow.threshold(), Some(50.0));
}

/// In which tenths of a second, which are round trips, a flow that begins with 2.25 segments falls to two, to rise to what it
/// had. `event` happens to it after each acknowledgment.
fn slowdowns(tenths: u64, event: impl Fn(&mut ClockedFlow, u64)) -> Vec<u64> {
    let mut flow = ClockedFlow::new("ledbat++", &[], 2.25);
    let mut slow = Vec::new();
    for tenth in 0..tenths {
        let before = flow.window();
        flow.ack();
        if flow.window() == 2.0 && before > 2.0 {
            slow.push(tenth);
            assert_eq!(flow.threshold(), Some(before), "what it rises to");
        }
        event(&mut flow, tenth);
        flow.pass_round_trip();
    }
    slow
}

/// Section 4.4: the first slowdown comes two round trips after slow start, at 0.2 s, and leaves two segments for two of them;
/// then GAIN, half a segment with each, takes the window to the 2.67 that it had, at 0.5 s. That took 0.3 s, so the next one
/// comes nine times as much later, at 3.2 s.
#[test]
fn a_slowdown_comes_after_nine_times_what_the_last_one_took() {
    assert_eq!(slowdowns(40, |_, _| ()), [2, 32]);
}

/// A loss or a time-out in a slowdown ends it: the next one comes after nine times as long as it has taken so far. At
/// 0.3 s, a tenth after it has begun, that is at 1.2 s.
#[test]
fn congestion_ends_a_slowdown() {
    for cause in [Cause::Loss, Cause::Timeout] {
        let found = slowdowns(20, |flow, tenth| {
            if tenth == 3 {
                flow.congestion(cause);
            }
        });
        assert_eq!(found, [2, 12], "{cause:?}");
    }
}

/// Section 4.2, GAIN = 1/2 at 100 ms: a window of 100 gains a two-hundredth with a segment, and loses half of one where
/// twice the target waits. It may do so as that of LEDBAT.
#[test]
fn what_limits_a_flow_keeps_it_from_growing_and_not_from_falling() {
    assert_what_limits_keeps_from_growing("ledbat++", [(0, 0.005), (120, -0.5)]);
}

/// Section 4.3: the window does not fall below two segments. One that begins with less grows by GAIN as any other.
#[test]
fn a_window_of_one_segment_is_not_lifted() {
    let mut flow = ClockedFlow::new("ledbat++", &[], 1.0);
    flow.ack();
    assert_eq!(flow.window(), 1.5);
}

/// RFC 5681, section 3.1: a time-out at 100 segments bounds slow start by 50. GAIN is 1/2 at 100 ms, so two round trips later,
/// when the first slowdown is due, the window is at 4.5; from two segments slow start leads to 50 still.
#[test]
fn a_slowdown_in_slow_start_does_not_bound_it() {
    let mut flow = ClockedFlow::starting(
        "ledbat++",
        &[],
        &Start { window: Segments(100.0), ..Start::default() },
    );
    flow.congestion(Cause::Timeout);
    assert_eq!((flow.window(), flow.threshold()), (2.0, Some(50.0)));
    let mut seen = Vec::new();
    for _ in 0..12 {
        flow.round();
        seen.push(flow.window());
    }
    assert_eq!(seen[..11], [3.0, 4.5, 2.0, 2.0, 3.0, 4.5, 7.0, 10.5, 15.5, 23.5, 35.0]);
    assert!(seen[11] > 50.0, "{}", seen[11]);
}
