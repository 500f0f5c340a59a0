//! The draft of Compound TCP.

use longfat_control::Feedback;
use longfat_units::Span;

use crate::drive::{ClockedFlow, assert_near};

/// Section 4: 0.255/p^0.8 where there is no queue; Reno's below 41 segments.
#[test]
fn compound_has_the_response_function_of_its_draft() {
    for (p, window) in [(1e-4, 404.0), (1e-5, 2550.0), (1e-6, 16_090.0)] {
        let epochs = if p < 1e-5 { 8 } else { 40 };
        let mean = ClockedFlow::new("compound", &[], window).mean_window(p, epochs);
        assert_near(mean, window, 0.1, &format!("Compound at p = {p}"));
    }
}

/// Without a queue 0.125·10⁴^0.75 = 125 segments per round trip, of which Reno's one is part.
#[test]
fn without_a_queue_it_adds_an_eighth_of_a_power() {
    let mut flow = ClockedFlow::new("compound", &[], 10_000.0);
    flow.round();
    assert_near(flow.window() - 10_000.0, 125.0, 0.01, "a round trip at 10 000 segments");
    let mut flow = ClockedFlow::new("compound", &[], 40.0);
    flow.ack();
    assert_eq!(flow.window(), 40.025, "below the low window it is Reno");
}

/// 29 segments in the queue: it goes on. 30 and more: the delay window loses them, once per round trip, until only
/// Reno's window is left, which has gained one segment in each round trip.
#[test]
fn thirty_segments_in_the_queue_end_its_growth() {
    let mut flow = ClockedFlow::new("compound", &[], 1000.0);
    let mut reno = 1000.0;
    while flow.window() < 2000.0 {
        flow.round();
        reno += 1.0;
    }
    let ends_round = |ack| Feedback { round_starts: true, acked: 0, ..ack };
    let mut queue = |segments: f64| {
        let before = flow.window();
        flow.queueing = Span::from_seconds_f64(0.1 * segments / (before - segments));
        flow.ack_with(ends_round);
        before - flow.window()
    };
    assert_eq!(queue(29.0), 0.0);
    assert_near(queue(31.0), 31.0, 1e-6, "what is queued");
    while queue(31.0) > 0.0 {}
    assert_near(flow.window(), reno, 0.001, "what is left is Reno's window");
    assert!(reno > 1030.0, "{reno}");
}
