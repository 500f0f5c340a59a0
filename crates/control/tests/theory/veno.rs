//! The TCP Veno paper.

use longfat_control::{Cause, Feedback};
use longfat_units::Span;

use crate::drive::{ClockedFlow, assert_near, law, operating};

/// A round trip with this many samples, which spend so many seconds in queues, and the first acknowledgment of the next.
fn measure(flow: &mut ClockedFlow, samples: u32, queueing: f64) {
    flow.queueing = Span::from_seconds_f64(queueing);
    (0..samples).for_each(|_| flow.ack_with(|ack| Feedback { acked: 0, ..ack }));
    flow.ack_with(|ack| Feedback { acked: 0, rtt: None, round_starts: true, ..ack });
}

/// A flow of 100 segments on 100 ms, so many of which wait in queues.
fn with_waiting(segments: f64) -> ClockedFlow {
    let mut flow = ClockedFlow::new("veno", &[], 100.0);
    measure(&mut flow, 3, 0.1 * segments / (100.0 - segments));
    flow
}

fn after(mut flow: ClockedFlow, cause: Cause) -> f64 {
    flow.congestion(cause);
    flow.window()
}

/// N = w (1 - `RTT_base`/RTT), β = 3: below it an acknowledged segment adds 1/100 and a loss takes 20, above it 1/200 and 50.
#[test]
fn three_waiting_segments_tell_congestion_from_losses_at_random() {
    for (waiting, added, left) in [(0.0, 0.01, 80.0), (2.9, 0.01, 80.0), (3.1, 0.005, 50.0)] {
        let mut flow = with_waiting(waiting);
        assert_near(after(flow.clone(), Cause::Loss), left, 1e-9, &format!("{waiting} wait"));
        flow.ack();
        assert_near(flow.window(), 100.0 + added, 1e-9, &format!("{waiting} wait"));
    }
}

/// N is of the window that is: a share of 2 % in queues is 2 of 100 segments, and 4 of 200.
#[test]
fn the_same_wait_is_more_segments_of_a_larger_window() {
    let mut flow = with_waiting(2.0);
    flow.adjust(200.0);
    measure(&mut flow, 3, 0.1 * 2.0 / 98.0);
    assert_eq!(after(flow, Cause::Loss), 100.0);
}

/// A mark is made by a queue, whatever the round trip says.
#[test]
fn a_mark_halves() {
    assert_eq!(after(with_waiting(0.0), Cause::Mark), 50.0);
}

/// With two samples, or none, all of them may have waited for another segment.
#[test]
fn without_three_samples_in_a_round_trip_it_is_reno() {
    for samples in [0, 2] {
        let mut flow = with_waiting(0.0);
        measure(&mut flow, samples, 0.0);
        assert_eq!(after(flow, Cause::Loss), 50.0, "{samples} samples");
    }
}

#[test]
fn after_a_time_out_it_is_reno_for_a_round_trip() {
    let mut flow = with_waiting(50.0);
    flow.congestion(Cause::Timeout);
    assert_eq!((flow.window(), flow.variable("queueing_share")), (1.0, None));
}

/// One segment in 10⁴ is lost. AIMD(1, 1/5) has √(1 · 1.8/(2 · 0.2 p)) = 212.13 in the mean, Reno 122.47, and
/// AIMD(1/2, 1/2), where a tenth of the round trip is spent in queues, √(0.75/p) = 86.60.
#[test]
fn losses_at_random_leave_the_square_root_of_three_times_renos_window() {
    for (waiting, mean) in [(0.0, 212.13), (10.0, 86.60)] {
        assert_near(with_waiting(waiting).mean_window(1e-4, 100), mean, 0.01, "the mean window");
    }
    let reno = ClockedFlow::new("reno", &[], 100.0).mean_window(1e-4, 100);
    assert_near(reno * f64::sqrt(3.0), 212.13, 0.01, "√3 times Reno's");
}

/// The law of the fluid has what packets have, half a segment and more to either side of β; at β it is halfway.
#[test]
fn the_law_changes_within_a_segment_around_beta() {
    let law = law("veno", &[]);
    for (waiting, gain, given_up) in [(2.5, 0.01, 0.2), (3.0, 0.0075, 0.35), (3.5, 0.005, 0.5)] {
        let mut at = operating(100.0);
        at.rtt = Span::from_seconds_f64(0.1 + 0.1 * waiting / (100.0 - waiting));
        assert_near(law.gain(&at), gain, 1e-6, "what is added");
        assert_near(law.give_up(&at, Cause::Loss), given_up, 1e-6, "what a loss takes");
        assert_eq!(law.give_up(&at, Cause::Mark), 0.5);
    }
}
