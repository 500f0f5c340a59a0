//! Alizadeh et al. 2010, and RFC 8257.

use longfat_control::{Cause, Feedback};
use longfat_units::math;

use crate::drive::{ClockedFlow, assert_near};

/// Round trips in which every `every`-th segment is marked, counted on in `count`, with at most one reaction each.
/// Returns the mean window, over time.
pub(crate) fn marked_rounds(
    flow: &mut ClockedFlow,
    every: u64,
    rounds: u64,
    count: &mut u64,
) -> f64 {
    let mut sum = 0.0;
    for _ in 0..rounds {
        let (segments, mut answered) = (flow.window() as u64, false);
        sum += flow.window();
        for segment in 0..segments {
            *count += 1;
            let marked = u64::from(count.is_multiple_of(every));
            let round_starts = segment == 0;
            flow.ack_with(|ack| Feedback { marked, round_starts, ..ack });
            if marked > 0 && !answered {
                flow.congestion(Cause::Mark);
                answered = true;
            }
        }
        flow.pass_round_trip();
    }
    sum / rounds as f64
}

/// Section 3.3 of the RFC: α begins at 1, and without marks loses a sixteenth of itself in each round trip.
#[test]
fn the_share_forgets_a_sixteenth_per_round_trip() {
    let mut flow = ClockedFlow::new("dctcp", &[], 1000.0);
    flow.congestion(Cause::Mark);
    assert_eq!(flow.window(), 500.0, "the first mark halves");
    let mut flow = ClockedFlow::new("dctcp", &[], 1000.0);
    marked_rounds(&mut flow, u64::MAX, 16, &mut 0);
    let before = flow.window();
    flow.congestion(Cause::Mark);
    assert_near(1.0 - flow.window() / before, 0.5 * math::pow(15.0 / 16.0, 16.0), 1e-9, "the cut");
}

/// Section 1 of the paper: with every packet marked DCTCP is TCP.
#[test]
fn if_everything_is_marked_it_halves() {
    let mut flow = ClockedFlow::new("dctcp", &[], 1024.0);
    for halved in [512.0, 256.0, 128.0] {
        marked_rounds(&mut flow, 1, 1, &mut 0);
        assert_eq!(flow.window(), halved);
    }
}

/// The segment that a round trip adds is what α/2 takes: two marks per round trip, w = 2/p, less those marked.
#[test]
fn dctcp_gets_two_marks_per_round_trip_at_any_rate() {
    for every in [25, 100, 400] {
        // The marked segment adds nothing.
        let expected = 2.0 * (every - 1) as f64;
        let mut flow = ClockedFlow::new("dctcp", &[], expected);
        let mut count = 0;
        marked_rounds(&mut flow, every, 5000, &mut count);
        let mean = marked_rounds(&mut flow, every, 2000, &mut count);
        assert_near(mean, expected, 0.05, &format!("one mark in {every}"));
    }
}

/// RFC 8257, section 3.3: each round trip counts its own segments. α falls from 1 to 15/16 with one of ten segments without a
/// mark, and comes back by a sixteenth of what it lacks with one of which all are marked. Section 3.5: a loss takes
/// half, whatever α is.
#[test]
fn each_round_trip_counts_its_own_marks_and_a_loss_takes_half() {
    let mut flow = ClockedFlow::new("dctcp", &[], 100.0);
    let mut rounds = |marked| {
        let counted = |ack| Feedback { acked: 10, marked, round_starts: true, ..ack };
        flow.ack_with(counted);
        flow.variable("alpha").expect("it is shown")
    };
    assert_near(rounds(0), 15.0 / 16.0, 1e-12, "none of ten");
    assert_near(rounds(10), 15.0 / 16.0 + 1.0 / 256.0, 1e-12, "all of ten");
    assert_near(rounds(0), (15.0 / 16.0 + 1.0 / 256.0) * 15.0 / 16.0, 1e-12, "none again");
    let before = flow.window();
    flow.lose();
    assert_near(flow.window(), before / 2.0, 1e-12, "a loss");
}

/// α is the share of what was delivered: it stays where nothing was, and more marks than segments are all of them.
#[test]
fn nothing_delivered_is_no_share_and_no_share_is_above_one() {
    let mut flow = ClockedFlow::new("dctcp", &[], 100.0);
    let mut round = |acked, marked| {
        flow.ack_with(|ack| Feedback { acked, marked, round_starts: true, ..ack });
        flow.variable("alpha").expect("it is shown")
    };
    assert_eq!([round(10, 0), round(0, 0)], [15.0 / 16.0; 2]);
    assert_near(round(1, 3), 15.0 / 16.0 + 1.0 / 256.0, 1e-12, "a sixteenth of what it lacks");
}
