//! The CDG paper, and the program of its authors.

use longfat_control::{Cause, Feedback, Start};
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::{ClockedFlow, assert_near};

/// A flow of 100 segments on a round trip of 100 ms that averages over so many gradients, and decides by this chance.
fn flow(smoothing: f64, chance: u64, threshold: Option<f64>) -> ClockedFlow {
    let (window, threshold) = (Segments(100.0), threshold.map(Segments));
    let changes = [("smoothing", Setting::Number(smoothing))];
    let start = Start { window, threshold, chance, ..Start::default() };
    ClockedFlow::starting("cdg", &changes, &start)
}

/// In congestion avoidance, without averages.
fn avoiding(chance: u64) -> ClockedFlow {
    flow(1.0, chance, Some(100.0))
}

/// A round trip whose samples spend between `least` and `most` milliseconds in queues, and the beginning of the next. Nothing is
/// acknowledged.
fn round(flow: &mut ClockedFlow, least: f64, most: f64) {
    for millis in [least, most] {
        flow.queueing = Span::from_seconds_f64(millis / 1e3);
        flow.ack_with(|ack| Feedback { acked: 0, ..ack });
    }
    flow.ack_with(|ack| Feedback { acked: 0, rtt: None, round_starts: true, ..ack });
}

/// Rounds with these smallest and largest waits.
fn rounds(flow: &mut ClockedFlow, waits: &[(f64, f64)]) {
    for &(least, most) in waits {
        round(flow, least, most);
    }
}

/// Of 4000 flows in the state that `prepare` leads to, the share that the last round makes give way.
fn share_that_gives_way(last: (f64, f64), make: impl Fn(u64) -> ClockedFlow) -> f64 {
    let gives_way = |chance| {
        let mut flow = make(chance);
        let before = flow.window();
        round(&mut flow, last.0, last.1);
        flow.window() < before
    };
    (0..4000).filter(|&chance| gives_way(chance)).count() as f64 / 4000.0
}

/// 1 - exp(-g/G) with G = 3 ms; standard deviation 0.8 %. The smallest round trip goes first: what the largest does makes no
/// difference while the smallest grows.
#[test]
fn it_backs_off_the_more_often_the_faster_round_trips_grow() {
    let steady = |chance| {
        let mut flow = avoiding(chance);
        rounds(&mut flow, &[(10.0, 20.0)]);
        flow
    };
    for (grown, share) in [(0.3, 0.095_16), (3.0, 0.632_12), (9.0, 0.950_21)] {
        for (last, which) in [
            ((10.0 + grown, 20.0 + grown), "both"),
            ((10.0 + grown, 20.0), "the smallest"),
            ((10.0, 20.0 + grown), "the largest"),
        ] {
            let measured = share_that_gives_way(last, steady);
            assert!((measured - share).abs() < 0.03, "{which} by {grown} ms: {measured}");
        }
    }
    for last in [(10.0, 20.0), (5.0, 12.0)] {
        assert_eq!(share_that_gives_way(last, steady), 0.0, "nothing grows");
    }
}

/// Eight round trips in an average, those that are missing being zero: after one that grew by 8 ms the trend is 1 ms, and
/// 1 - exp(-1/3) = 0.2835. In slow start the last one counts as it is: 1 - exp(-8/3) = 0.9305.
#[test]
fn averages_count_in_congestion_avoidance_and_the_last_round_trip_in_slow_start() {
    for (threshold, share) in [(Some(100.0), 0.2835), (None, 0.9305)] {
        let measured = share_that_gives_way((18.0, 28.0), |chance| {
            let mut flow = flow(8.0, chance, threshold);
            rounds(&mut flow, &[(10.0, 20.0)]);
            flow
        });
        assert!((measured - share).abs() < 0.03, "threshold {threshold:?}: {measured}");
    }
}

/// With a growth of a second it always backs off, to 70 %. The next round trip is compared with nothing; the one after that
/// with it.
#[test]
fn the_round_trip_after_a_signal_tells_nothing() {
    let mut flow = avoiding(1);
    let windows = [0.0, 1e3, 2e3, 3e3, 4e3].map(|wait| {
        round(&mut flow, wait, wait);
        flow.window()
    });
    let expected = [100.0, 70.0, 70.0, 49.0, 49.0];
    windows.iter().zip(expected).for_each(|(window, expected)| {
        assert_near(*window, expected, 1e-9, "the window");
    });
}

/// A round trip that begins with a signal adds nothing, one that does not a segment, as for Reno.
#[test]
fn nothing_is_added_in_the_round_trip_of_a_signal() {
    let mut flow = avoiding(1);
    rounds(&mut flow, &[(0.0, 0.0), (1e3, 1e3)]);
    flow.ack();
    assert_near(flow.window(), 70.0, 1e-9, "after the signal");
    round(&mut flow, 1e3, 1e3);
    flow.ack();
    assert_near(flow.window(), 70.0 + 1.0 / 70.0, 1e-9, "a round trip later");
}

/// What a loss leaves of the window, after these rounds.
fn after_a_loss(waits: &[(f64, f64)]) -> f64 {
    let mut flow = avoiding(3);
    rounds(&mut flow, waits);
    let before = flow.window();
    flow.lose();
    flow.window() / before
}

/// Full is a queue while the smallest round trip grows and the largest no longer does: a loss from it is congestion, and so is
/// one before anything is known. Rising, falling and empty it is not. (The shadow window is as large as the window in all of
/// these: growth by a microsecond does not make this flow give way.)
#[test]
fn a_loss_counts_where_the_queue_is_full() {
    assert_eq!(after_a_loss(&[]), 0.5, "nothing is known");
    assert_eq!(after_a_loss(&[(10.0, 20.0), (10.001, 20.0)]), 0.5, "full");
    assert_eq!(after_a_loss(&[(10.0, 20.0), (10.001, 20.001)]), 1.0, "rising");
    assert_eq!(after_a_loss(&[(10.0, 20.0), (9.0, 19.0)]), 1.0, "falling");
    assert_eq!(after_a_loss(&[(10.0, 20.0), (10.0, 19.0)]), 1.0, "empty");
    assert_eq!(after_a_loss(&[(10.0, 20.0), (10.001, 20.0), (10.001, 20.001)]), 0.5, "full still");
}

/// A mark has been made by a queue.
#[test]
fn a_mark_halves_whatever_the_queue() {
    let mut flow = avoiding(3);
    rounds(&mut flow, &[(10.0, 20.0), (9.0, 19.0)]);
    flow.congestion(Cause::Mark);
    assert_eq!(flow.window(), 50.0);
}

/// No loss counts in the round trip in which delay has been answered.
#[test]
fn a_loss_after_a_signal_is_answered_already() {
    let mut flow = avoiding(1);
    rounds(&mut flow, &[(0.0, 1e4), (1e3, 1e4)]);
    assert_near(flow.window(), 70.0, 1e-9, "after the signal");
    flow.lose();
    assert_near(flow.window(), 70.0, 1e-9, "after the loss");
    // The queue is full still: a round trip later the shadow of 100 becomes 50, and 35 is half of the window.
    round(&mut flow, 1e3, 1e4);
    flow.lose();
    assert_near(flow.window(), 50.0, 1e-9, "a round trip later");
}

/// The shadow remembers 100 segments over two signals, 49 at the end. A loss from a full queue halves it, and slow start leads
/// from the window to what is left of it.
#[test]
fn what_backing_off_has_cost_comes_back_at_a_loss() {
    let mut flow = avoiding(1);
    rounds(&mut flow, &[(0.0, 1e4), (1e3, 1e4), (2e3, 1e4), (3e3, 1e4), (3e3, 1e4)]);
    assert_near(flow.window(), 49.0, 1e-9, "after two signals");
    assert_eq!(flow.variable("shadow"), Some(100.0));
    flow.lose();
    assert_near(flow.window(), 49.0, 1e-9, "after the loss");
    assert_eq!((flow.threshold(), flow.variable("shadow")), (Some(50.0), Some(50.0)));
}

/// An empty queue says that nobody else fills it.
#[test]
fn an_empty_queue_ends_the_shadow() {
    let mut flow = avoiding(1);
    rounds(&mut flow, &[(0.0, 1e4), (1e3, 1e4), (1e3, 1e4), (1e3, 9e3)]);
    assert_eq!(flow.variable("shadow"), Some(0.0));
    flow.ack();
    assert_eq!(flow.variable("shadow"), Some(0.0), "and does not grow");
}

/// Five signals are answered, five more are not, and then it begins again; one gradient below zero begins the count anew.
#[test]
fn after_five_signals_in_vain_it_holds_for_five() {
    let mut flow = avoiding(1);
    let mut wait = 0.0;
    let mut signals = |flow: &mut ClockedFlow, count: u32| {
        (0..count).fold(String::new(), |answers, _| {
            // One to compare with, one that has grown.
            round(flow, wait, wait);
            wait += 1e3;
            let before = flow.window();
            round(flow, wait, wait);
            answers + if flow.window() < before { "y" } else { "-" }
        })
    };
    assert_eq!(signals(&mut flow, 16), "yyyyy-----yyyyy-");
    // From the window of 2.8 segments up again, where an answer shows.
    flow.adjust(100.0);
    assert_eq!(signals(&mut flow, 3), "yyy");
}

/// One gradient below zero, and the count of signals in vain begins anew: seven in a row are answered, 100 · 0.7⁷ = 8.24.
#[test]
fn a_falling_queue_is_no_competition() {
    let mut flow = avoiding(1);
    rounds(&mut flow, &[(0.0, 0.0)]);
    for _ in 0..7 {
        rounds(&mut flow, &[(1e3, 1e3), (1e3, 1e3), (0.0, 0.0)]);
    }
    assert_near(flow.window(), 8.235_4, 1e-4, "after seven signals");
}

/// After a time-out nothing of the path is known, so that a loss is congestion, and the shadow is the window.
#[test]
fn a_time_out_ends_what_it_knows() {
    let mut flow = avoiding(3);
    rounds(&mut flow, &[(10.0, 20.0), (9.0, 19.0)]);
    flow.congestion(Cause::Timeout);
    assert_eq!((flow.window(), flow.threshold()), (1.0, Some(50.0)));
    assert_eq!(flow.variable("shadow"), Some(1.0));
    assert_eq!(flow.variable("gradient_of_smallest"), Some(0.0));
    flow.adjust(100.0);
    flow.lose();
    assert_eq!(flow.window(), 50.0);
}
