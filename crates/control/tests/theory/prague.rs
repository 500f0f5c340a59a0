//! The draft of Prague, and RFC 9331.

use longfat_control::{Cause, Feedback, Pacing, Start};
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span, Time};

use crate::dctcp::marked_rounds;
use crate::drive::{ClockedFlow, assert_near};

/// The mean window with every `every`-th segment marked, `rounds` round trips after the start.
fn settled(millis: u64, every: u64) -> f64 {
    let changes = [("rounds", Setting::Count(0))];
    let mut flow =
        ClockedFlow::new("prague", &changes, every as f64).with_rtt(Span::from_millis(millis));
    let mut count = 0;
    marked_rounds(&mut flow, every, 5000, &mut count);
    marked_rounds(&mut flow, every, 5000, &mut count)
}

/// RFC 9331, section 4.3: marks do not become rare as rates grow.
#[test]
fn two_marks_per_round_trip_at_any_rate() {
    for every in [25, 100, 400] {
        assert_near(settled(50, every), 2.0 * (every - 1) as f64, 0.05, &format!("1 in {every}"));
    }
}

/// Below 25 ms the rate no longer depends on the round trip: w/R is the same, so that w is proportional to R.
#[test]
fn short_round_trips_bring_nothing() {
    let per_ms = |millis| settled(millis, 200) / millis as f64;
    let expected = per_ms(25);
    for millis in [5, 10, 20] {
        assert_near(per_ms(millis), expected, 0.1, &format!("{millis} ms"));
    }
}

/// For the first rounds a flow of 5 ms is as fast as DCTCP.
#[test]
fn a_young_flow_is_not_slowed_down() {
    let mut flow = ClockedFlow::new("prague", &[], 100.0).with_rtt(Span::from_millis(5));
    marked_rounds(&mut flow, u64::MAX, 400, &mut 0);
    assert_near(flow.window(), 500.0, 0.01, "a segment per round trip");
    marked_rounds(&mut flow, u64::MAX, 100, &mut 0);
    let before = flow.window();
    marked_rounds(&mut flow, u64::MAX, 100, &mut 0);
    assert_near(flow.window() - before, 4.0, 0.05, "a twenty-fifth of it from then on");
}

/// Marked all the time it goes below one segment per round trip: one in sixteen at the least.
#[test]
fn windows_below_one_segment_are_paced() {
    let mut flow = ClockedFlow::new("prague", &[], 8.0);
    for _ in 0..20 {
        flow.congestion(Cause::Mark);
        flow.pass_round_trip();
        flow.ack_with(|ack| Feedback { marked: 1, ..ack });
    }
    assert_eq!(flow.window(), 1.0);
    assert_near(flow.rate().expect("it is paced"), 10.0 / 16.0, 1e-9, "segments per second");
}

/// What a path leaves of a window after marks is not made more of by losses and time-outs: below two segments a loss halves
/// as it does above, and a time-out takes a window to one segment only from above.
#[test]
fn no_loss_and_no_timeout_raises_a_window_below_one_segment() {
    let marked = || {
        let mut flow = ClockedFlow::new("prague", &[], 8.0);
        while flow.variable("fraction").expect("it is shown") > 0.5 {
            flow.congestion(Cause::Mark);
            flow.pass_round_trip();
        }
        flow
    };
    // Eight halved four times, as all are marked at first.
    for (cause, expected) in [(Cause::Loss, 0.25), (Cause::Timeout, 0.5)] {
        let mut flow = marked();
        assert_eq!(flow.variable("fraction"), Some(0.5));
        flow.congestion(cause);
        assert_eq!(flow.variable("fraction"), Some(expected), "{cause:?}");
    }
    let mut flow = ClockedFlow::new("prague", &[], 8.0);
    flow.congestion(Cause::Timeout);
    assert_eq!(flow.variable("fraction"), Some(1.0));
    // From 5 to 2.5, and to 2: the floor of a loss for windows above it. Marks go below it.
    let mut flow = ClockedFlow::new("prague", &[], 5.0);
    for expected in [2.5, 2.0, 2.0] {
        flow.congestion(Cause::Loss);
        assert_eq!(flow.variable("fraction"), Some(expected));
    }
}

/// A loss in the round trip of a mark takes half of the window of before, a round trip later half of what is left. Where
/// the mark has taken half already, as at first, it takes nothing more.
#[test]
fn what_a_mark_took_counts_towards_the_half_that_a_loss_takes() {
    for (rounds, share) in [(0, 1.0), (100, 0.0016)] {
        let mut flow = ClockedFlow::new("prague", &[], 1000.0);
        flow.congestion(Cause::Mark);
        flow.pass_round_trip();
        // A mark, with α of 1; a hundred round trips without any leave (15/16)¹⁰⁰ of that.
        for round in 0..=rounds {
            flow.pass_round_trip();
            let marked = u64::from(round == 0);
            flow.ack_with(|ack| Feedback { marked, round_starts: true, ..ack });
        }
        let before = flow.variable("fraction").expect("it is shown");
        flow.congestion(Cause::Mark);
        let marked = flow.variable("fraction").expect("it is shown");
        assert_near(marked, before * (1.0 - share / 2.0), 0.002, "half the share");
        let mut later = flow.clone();
        flow.congestion(Cause::Loss);
        assert_near(flow.variable("fraction").expect("it is shown"), before / 2.0, 1e-9, "both");
        later.pass_round_trip();
        later.congestion(Cause::Loss);
        assert_near(later.variable("fraction").expect("it is shown"), marked / 2.0, 1e-9, "later");
    }
}

/// Linux and quiche: the first mark halves, however long there was none, and its share is of the segments of its own round
/// trip: with all of them marked α stays at 1.
#[test]
fn the_share_is_kept_until_there_is_a_mark() {
    for (marked, expected) in [(10, 1.0), (5, 1.0 - 0.5 / 16.0)] {
        let mut flow = ClockedFlow::new("prague", &[], 10.0);
        for _ in 0..1000 {
            flow.pass_round_trip();
            flow.ack_with(|ack| Feedback { acked: 10, round_starts: true, ..ack });
        }
        assert_eq!(flow.variable("alpha"), Some(1.0));
        flow.pass_round_trip();
        flow.ack_with(|ack| Feedback { acked: 10, marked, round_starts: true, ..ack });
        assert_eq!(flow.variable("alpha"), Some(expected), "{marked} of 10 marked");
    }
}

/// α moves once in 25 ms, not in each round trip of 10: at 30 ms, with the marks of all three round trips, and at 50.
#[test]
fn the_share_is_that_of_virtual_round_trips() {
    let changes = [("rounds", Setting::Count(0))];
    let ten = Span::from_millis(10);
    let mut flow = ClockedFlow::new("prague", &changes, 100.0).with_rtt(ten);
    let mut seen = Vec::new();
    for round in 0..6 {
        // Of the ten segments of a round trip five are marked.
        flow.ack_with(|ack| Feedback { acked: 10, marked: 5, round_starts: round > 0, ..ack });
        seen.push(flow.variable("alpha").expect("it is shown"));
        flow.now += ten;
    }
    let (first, second) = (1.0 - 0.5 / 16.0, 1.0 - 0.5 / 16.0 - (0.5 - 0.5 / 16.0) / 16.0);
    assert_eq!(seen, [1.0, 1.0, 1.0, first, first, second]);
}

/// Twice the rate of a window per round trip while it rises, and once after that.
#[test]
fn slow_start_is_paced_at_twice_the_rate() {
    let start = Start { window: Segments(10.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("prague", &[], &start);
    assert_eq!(flow.pacing(), Pacing::Spread { gain: 2.0 });
    flow.lose();
    assert_eq!(flow.pacing(), Pacing::Spread { gain: 1.0 });
}

/// `rounds` are round trips after slow start, and those in it do not count. With two, at 10 ms: a segment per round
/// trip until two have begun, then (10/25)² of one.
#[test]
fn rounds_count_from_the_end_of_slow_start() {
    let start = Start { window: Segments(10.0), ..Start::default() };
    let two = [("rounds", Setting::Count(2))];
    let flow = ClockedFlow::starting("prague", &two, &start);
    let mut flow = flow.with_rtt(Span::from_millis(10));
    (0..5).for_each(|_| flow.ack_with(|ack| Feedback { round_starts: true, ..ack }));
    assert_eq!(flow.window(), 15.0);
    flow.lose();
    for (round_starts, per_round) in [(false, 1.0), (true, 1.0), (true, 0.16)] {
        let before = flow.window();
        flow.ack_with(|ack| Feedback { round_starts, ..ack });
        assert_near((flow.window() - before) * before, per_round, 1e-9, "per round trip");
    }
}

/// α moves once in 25 ms, and what a round trip of 10 ms is late the next is shorter. But a second without any is not
/// made up for: after it α moves at 1.00, 1.03 and 1.05 s.
#[test]
fn a_pause_is_not_made_up_for() {
    let changes = [("rounds", Setting::Count(0))];
    let ten = Span::from_millis(10);
    let mut flow = ClockedFlow::new("prague", &changes, 100.0).with_rtt(ten);
    flow.now += Span::from_seconds(1);
    let moved = [(); 6].map(|()| {
        let before = flow.variable("alpha");
        flow.ack_with(|ack| Feedback { acked: 10, marked: 5, round_starts: true, ..ack });
        flow.pass_round_trip();
        flow.variable("alpha") != before
    });
    assert_eq!(moved, [true, false, false, true, false, true]);
}

/// Marks are answered once in 25 ms, also the first after a time without: told of them with each round trip, a flow of 5 ms
/// answers them at 0, 25 and 50 ms, and after a second again at 0, 25 and 50. One of 10 ms does so at 0, 30, 50 and 80,
/// where what one is late the next is shorter.
#[test]
fn marks_after_a_pause_are_answered_once_per_virtual_round_trip() {
    let changes = [("rounds", Setting::Count(0))];
    for (millis, expected) in [(5, [0, 25, 50, 75]), (10, [0, 30, 50, 80])] {
        let rtt = Span::from_millis(millis);
        let mut flow = ClockedFlow::new("prague", &changes, 1e6).with_rtt(rtt);
        for pause in 0..3 {
            let mut answered = Vec::new();
            for at in (0..100).step_by(millis as usize) {
                let before = flow.window();
                flow.congestion(Cause::Mark);
                if flow.window() < before {
                    answered.push(at);
                }
                flow.now += rtt;
            }
            assert_eq!(answered[..4], expected, "{millis} ms, pause {pause}");
            flow.now += Span::from_seconds(1);
        }
    }
}

/// Where round trips are 25 ms and longer those of the host are the measure, and not the smoothed one, which is behind where a
/// queue empties. Below, what comes a round trip late is not late any more.
#[test]
fn the_smoothed_round_trip_does_not_keep_marks_from_being_answered() {
    let changes = [("rounds", Setting::Count(0))];
    let answers = |marks: &[(u64, u64)]| {
        let five = Span::from_millis(5);
        let mut flow = ClockedFlow::new("prague", &changes, 1e6).with_rtt(five);
        let mut answered = Vec::new();
        for &(at, smoothed) in marks {
            flow.now = Time::ZERO + Span::from_millis(at);
            flow.queueing = Span::from_millis(smoothed) - five;
            let before = flow.window();
            flow.congestion(Cause::Mark);
            answered.extend((flow.window() < before).then_some(at));
        }
        answered
    };
    assert_eq!(answers(&[(0, 40), (35, 38), (65, 34)]), [0, 35, 65]);
    assert_eq!(answers(&[(0, 40), (30, 40), (54, 10), (55, 10)]), [0, 30, 55], "from 30 ms on");
    assert_eq!(answers(&[(0, 5), (30, 5), (50, 5), (55, 5)]), [0, 30, 55], "from 30 ms on");
}

/// RFC 9331, section 4.3: a loss is answered as Reno answers it. What a mark has taken from the same window counts towards
/// the half, but the window that the host asks for, or that a time-out leaves, is another one.
#[test]
fn a_mark_counts_towards_a_loss_in_the_same_window_only() {
    let marked = || {
        let mut flow = ClockedFlow::new("prague", &[], 1000.0);
        flow.congestion(Cause::Mark);
        assert_eq!(flow.window(), 500.0);
        flow
    };
    let mut flow = marked();
    flow.lose();
    assert_eq!(flow.window(), 500.0);
    let mut flow = marked();
    flow.adjust(10.0);
    flow.lose();
    assert_eq!((flow.window(), flow.threshold()), (5.0, Some(5.0)));
    let mut flow = marked();
    flow.congestion(Cause::Timeout);
    flow.lose();
    assert_eq!((flow.window(), flow.threshold()), (1.0, Some(1.0)));
}
