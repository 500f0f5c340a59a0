//! What leads from one phase to another, and what a phase begins anew. Sections are those of the draft.

use std::collections::BTreeSet;

use super::*;
use crate::controller::bbr3::cycle::Probing;

/// More in flight than the path holds: no queue is gone yet.
fn full(feedback: &mut Feedback, _: &mut RateSample) {
    feedback.in_flight = 90_000;
}

/// In Startup, after the round trip in which a recovery began.
fn recovering() -> Told {
    let mut told = Told::new(1000.0, true);
    told.plain(1000);
    told.round(1500, |feedback, _| feedback.recovery_begins = true);
    told
}

/// Every other one of so many segments is lost.
fn gaps(told: &mut Told, count: u64) {
    for lost in 1..=count {
        told.delivered += 2;
        told.lose(2000, lost, false);
    }
}

/// A round trip of a recovery, at whose end so many of 2000 segments in flight were lost.
fn repairing(told: &mut Told, lost: u64) {
    told.round(2000, |feedback, sample| {
        full(feedback, sample);
        feedback.limited = Limited::Recovery;
        sample.lost = lost;
    });
}

/// The host has an acknowledgment that shows a recovery to have been needless.
fn spurious(feedback: &mut Feedback, sample: &mut RateSample) {
    full(feedback, sample);
    feedback.spurious = Some(Cause::Loss);
}

/// "Exiting Startup Based on Packet Loss": the share of a round trip that is lost exceeds 2 %, 40 of 2000.
#[test]
fn two_percent_in_six_gaps_do_not_end_startup() {
    for (lost, state) in [(40, State::Startup), (41, State::Drain)] {
        let mut told = recovering();
        gaps(&mut told, 6);
        repairing(&mut told, lost);
        assert_eq!(told.control.cycle.state, state, "{lost} lost");
    }
}

/// The same section: a recovery has been under way for a full round trip. Its first acknowledgment is of data that left
/// before it began, so that losses of any number end nothing; those of its next round trip do. Another recovery has to last
/// as long by itself, whether the one before ended or was needless.
#[test]
fn the_first_round_trip_of_a_recovery_does_not_end_startup() {
    let begins = |told: &mut Told, segments| {
        gaps(told, 6);
        told.round(segments, |feedback, sample| {
            full(feedback, sample);
            feedback.recovery_begins = true;
            sample.lost = 200;
        });
        assert_eq!(told.control.cycle.state, State::Startup);
    };
    let mut told = Told::new(1000.0, true);
    told.plain(1000);
    begins(&mut told, 1500);
    gaps(&mut told, 6);
    repairing(&mut told, 100);
    assert_eq!(told.control.cycle.state, State::Drain);
    let mut told = recovering();
    told.control.on_recovered(told.now, &PATH);
    told.plain(2000);
    begins(&mut told, 2600);
    let mut told = recovering();
    told.round(2000, spurious);
    begins(&mut told, 2600);
}

/// The same section: gaps and losses are those of a single round trip. The first loss comes when 2502 segments have been
/// delivered, so an acknowledgment of one that left after 2501 does not end its round trip, and the next one does. Three gaps
/// in each of two round trips are not six.
#[test]
fn losses_end_startup_at_the_end_of_their_own_round_trip() {
    let mut told = recovering();
    gaps(&mut told, 6);
    told.round(2000, |feedback, sample| {
        full(feedback, sample);
        feedback.limited = Limited::Recovery;
        (sample.lost, sample.delivered_before) = (100, 2501);
    });
    assert_eq!(told.control.cycle.state, State::Startup);
    repairing(&mut told, 100);
    assert_eq!(told.control.cycle.state, State::Drain);
    let mut told = recovering();
    for _ in 0..2 {
        gaps(&mut told, 3);
        repairing(&mut told, 100);
        assert_eq!(told.control.cycle.state, State::Startup);
    }
}

/// Where the third round trip without growth has losses too, the pipe is full by its rate. Losses have ended nothing, and
/// leave no bound.
#[test]
fn losses_of_a_startup_that_is_over_set_no_bound() {
    let mut told = Told::new(1000.0, true);
    told.plain(1000);
    for lossy in [false, false, true] {
        assert_eq!(told.control.cycle.state, State::Startup);
        if lossy {
            gaps(&mut told, 6);
        }
        told.round(1000, |feedback, sample| {
            full(feedback, sample);
            feedback.limited = Limited::Recovery;
            sample.lost = if lossy { 100 } else { 0 };
        });
    }
    assert_eq!(told.control.cycle.state, State::Drain);
    assert!(told.control.model.inflight_longterm.is_infinite());
    assert_eq!(told.control.undo.state, None);
}

/// "Handling a Spurious Loss Recovery": a Startup that such losses have ended goes on, with its gain. Where `ProbeRTT` has
/// begun meanwhile, that goes on first.
#[test]
fn a_startup_ended_by_no_loss_goes_on() {
    let ended = || {
        let mut told = recovering();
        gaps(&mut told, 6);
        repairing(&mut told, 100);
        assert_eq!(told.control.cycle.state, State::Drain);
        told
    };
    let mut told = ended();
    told.round(2000, spurious);
    assert_eq!(told.control.cycle.state, State::Startup);
    assert!(!told.control.model.full_bw_reached);
    assert!(told.control.model.inflight_longterm.is_infinite());
    // 20 000 per second.
    assert!((told.rate() - STARTUP_GAIN * 0.99 * 20_000.0).abs() < 1e-6, "{}", told.rate());
    let mut told = ended();
    told.now = Time::ZERO + Span::from_millis(5100);
    repairing(&mut told, 0);
    assert_eq!(told.control.cycle.state, State::ProbeRtt);
    told.round(2000, spurious);
    assert_eq!(told.control.cycle.state, State::ProbeRtt);
    assert!(!told.control.model.full_bw_reached);
    while told.control.cycle.state == State::ProbeRtt {
        told.round(500, |feedback, _| feedback.in_flight = 900);
    }
    assert_eq!(told.control.cycle.state, State::Startup);
}

/// The same section: a probe that losses have ended begins again with REFILL, but not one that is under way.
#[test]
fn a_probe_ended_by_no_loss_is_refilled() {
    // Shown by data that left before the last acknowledgment.
    let needless = |told: &mut Told| {
        told.round(1000, |feedback, sample| {
            spurious(feedback, sample);
            sample.delivered_before -= 1;
        });
        told.control.cycle.state
    };
    let mut told = Told::probing();
    told.lose(1000, 21, false);
    assert_eq!(told.control.cycle.state, State::Down);
    assert_eq!(needless(&mut told), State::Refill);
    let mut told = Told::probing();
    told.control.undo.state = Some(State::Up);
    assert_eq!(needless(&mut told), State::Up);
}

/// `StartProbeBW_DOWN` resets the signals of congestion: the losses that ended the probe do not lower the short-term bounds
/// as well, those of the next round trip do.
#[test]
fn losses_that_end_a_probe_are_answered_once() {
    let mut told = Told::probing();
    told.lose(1000, 21, false);
    told.plain(1000);
    assert!(told.control.model.inflight_shortterm.is_infinite());
    told.lose(1000, 1, false);
    told.plain(1000);
    assert!(told.control.model.inflight_shortterm.is_finite());
}

/// `StartProbeBW_DOWN` begins a round trip: with what has been delivered when the loss is found, 500 segments after the last
/// acknowledgment. What left before that still belongs to the probe.
#[test]
fn a_probe_ends_a_round_trip_after_its_losses() {
    let mut told = Told::probing();
    let sent = told.delivered;
    told.delivered += 500;
    told.lose(1000, 21, false);
    assert_eq!(told.control.cycle.probing, Probing::Stopping);
    told.round(1000, |_, sample| sample.delivered_before = sent);
    assert_eq!(told.control.cycle.probing, Probing::Stopping);
    told.plain(1000);
    assert_eq!(told.control.cycle.probing, Probing::Init);
}

/// `ACKS_PROBE_STOPPING`: for a round trip after a probe, losses beyond 2 % are its doing and set the bound. Afterwards
/// they are not.
#[test]
fn losses_after_the_last_sample_of_a_probe_set_no_long_term_bound() {
    for (later, bounded) in [(0, true), (1, false)] {
        let mut told = Told::probing();
        // Three round trips without growth.
        (0..3).for_each(|_| told.round(1000, |feedback, _| feedback.in_flight = 9000));
        assert_eq!(told.control.cycle.state, State::Down);
        (0..later).for_each(|_| told.plain(1000));
        told.lose(1000, 21, false);
        assert_eq!(told.control.model.inflight_longterm.is_finite(), bounded, "{later} later");
    }
    // Nor do marks between probes, 5 % of them.
    let mut told = Told::cruising();
    told.round(1000, |feedback, _| feedback.marked = 50);
    assert!(told.control.model.inflight_longterm.is_infinite());
}

/// `StartProbeBW_REFILL` forgets what the probe before had counted towards the next increment: 500 acknowledged segments of
/// 1000. Half a window more is again half of one.
#[test]
fn each_probe_counts_towards_its_own_first_increment() {
    let mut told = Told::probing_to_a_bound();
    let half = |feedback: &mut Feedback, _: &mut RateSample| feedback.in_flight = 1500;
    // A cautious probe ends at the bound, and is repeated.
    told.control.cycle.too_high = true;
    for state in [State::Down, State::Refill, State::Up] {
        told.round(500, half);
        assert_eq!(told.control.cycle.state, state);
    }
    assert_eq!(told.control.window, 1000.0);
    told.round(500, half);
    assert_eq!(told.control.model.inflight_longterm, 1000.0);
    // And half a window more, where an increment is half as many: two of them. Nothing is left over.
    told.round(500, half);
    assert_eq!(told.control.model.inflight_longterm, 1002.0);
}

/// `RaiseInflightLongtermSlope`: no increment takes less than a segment, `C.SMSS`. Of 8 segments 8, 4, 2 and 1 bring one,
/// and then no fewer.
#[test]
fn a_bound_grows_by_no_more_than_what_is_delivered() {
    let mut told = Told::cruising();
    while told.control.cycle.state != State::Refill {
        told.plain(1000);
    }
    let raised = [(); 7].map(|()| {
        (told.control.window, told.control.model.inflight_longterm) = (8.0, 8.0);
        // As where the rate grows.
        told.control.model.full_bw_count = 0;
        told.round(8, |feedback, _| feedback.in_flight = 16);
        assert_eq!(told.control.cycle.state, State::Up);
        told.control.model.inflight_longterm - 8.0
    });
    assert_eq!(raised, [0.0, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]);
}

/// `StartProbeBW_REFILL` begins a round trip where the time for it comes in the middle of one, so that UP begins with a pipe
/// that has been full for a whole one.
#[test]
fn refill_lasts_a_round_trip_of_its_own() {
    let mut told = Told::cruising();
    told.now += Span::from_seconds(3);
    told.round(1000, |_, sample| sample.delivered_before = 0);
    assert_eq!(told.control.cycle.state, State::Refill);
    let sent = told.delivered;
    told.round(1000, |_, sample| sample.delivered_before = sent - 1);
    assert_eq!(told.control.cycle.state, State::Refill);
    told.round(1000, |_, sample| sample.delivered_before = sent);
    assert_eq!(told.control.cycle.state, State::Up);
}

/// `HasElapsedInPhase`: later than `bw_probe_wait` after the beginning of DOWN, which came with the fourth round trip, at
/// 400 ms.
#[test]
fn a_probe_begins_when_its_wait_is_over() {
    let mut told = Told::cruising();
    let due = Time::ZERO + Span::from_millis(400) + told.control.cycle.wait;
    for (now, state) in [(due, State::Cruise), (due + Span(1), State::Refill)] {
        told.now = Time(now.0 - RTT.0);
        told.plain(1000);
        assert_eq!(told.control.cycle.state, state);
    }
}

/// "A Dual-Time-Scale Approach for Coexistence": 62 or 63 round trips at the most, where these are short; 63 of 10 ms are
/// less than 2 s.
#[test]
fn a_probe_comes_after_62_or_63_round_trips_at_the_latest() {
    assert_eq!(as_luck_has_it(|told| rounds_to_the_next_probe(told, 1000, |_| {})), [62, 63]);
}

/// The same after Drain, which ends with the first acknowledgment of a round trip: `UpdateRound` has counted that one before
/// `CheckDrainDone` begins the wait.
#[test]
fn the_first_probe_waits_as_long() {
    let after_drain = |told: &mut Told| {
        while matches!(told.control.cycle.state, State::Startup | State::Drain) {
            told.plain(1000);
        }
        rounds_until_refill(told, 1000)
    };
    assert_eq!(as_luck_has_it(after_drain), [62, 63]);
}

/// What comes out with round trips of 10 ms, each number once.
fn as_luck_has_it(rounds: impl Fn(&mut Told) -> u32) -> Vec<u32> {
    let seen: BTreeSet<u32> = (0..16)
        .map(|chance| {
            let mut told = Told { rtt: Span::from_millis(10), ..Told::new(1000.0, true) };
            told.control.chance = Chance::new(chance);
            rounds(&mut told)
        })
        .collect();
    seen.into_iter().collect()
}

/// The same section: in round trips, of the product and the window the smaller one counts. Losses have left a window of 10
/// segments on a path of 1000: ten round trips of 100 ms, less one that chance may count, where 2 s would be twenty.
#[test]
fn a_window_smaller_than_the_path_probes_sooner() {
    let mut told = Told::cruising();
    let rounds = rounds_to_the_next_probe(&mut told, 10, |model| model.inflight_shortterm = 10.0);
    assert!((9..=10).contains(&rounds), "{rounds}");
}

/// From losses that end a probe to the next one, with so many segments in each round trip.
fn rounds_to_the_next_probe(told: &mut Told, segments: u64, change: impl Fn(&mut Model)) -> u32 {
    while told.control.cycle.state != State::Up {
        told.plain(1000);
    }
    told.lose(1000, 21, false);
    assert_eq!(told.control.cycle.state, State::Down);
    change(&mut told.control.model);
    rounds_until_refill(told, segments)
}

/// So many until a probe begins.
fn rounds_until_refill(told: &mut Told, segments: u64) -> u32 {
    let mut rounds = 0;
    while told.control.cycle.state != State::Refill {
        told.plain(segments);
        rounds += 1;
    }
    rounds
}

/// `IsTimeToCruise` compares with the product at `max_bw`, which losses between probes do not lower: 800 segments in flight
/// are less than 1000, though at half the rate 500 would fill the path.
#[test]
fn down_ends_at_the_product_of_the_largest_rate() {
    let mut told = Told::probing();
    told.lose(1000, 21, false);
    assert_eq!(told.control.cycle.state, State::Down);
    (told.control.model.bw, told.control.model.bw_shortterm) = (5000.0, 5000.0);
    told.round(1000, |feedback, _| feedback.in_flight = 1800);
    assert_eq!(told.control.cycle.state, State::Cruise);
}

/// `IsTimeToGoDown`: while the bound holds the flow back, a rate that does not grow says nothing of the path. It is looked at
/// anew when that is over: three round trips from there.
#[test]
fn a_plateau_counts_from_when_the_bound_no_longer_holds() {
    let mut told = Told::probing_to_a_bound();
    for _ in 0..6 {
        told.round(1000, |feedback, _| feedback.in_flight = 3000);
        // Another acknowledgment of the same round trip, when the window has followed the bound.
        told.round(0, |feedback, sample| {
            feedback.in_flight = 3000;
            (sample.delivered, sample.delivered_before) = (1000, 0);
        });
        assert_eq!(told.control.cycle.state, State::Up);
    }
    told.control.model.inflight_longterm = f64::INFINITY;
    for state in [State::Up, State::Up, State::Down] {
        told.round(1000, |feedback, _| feedback.in_flight = 3000);
        assert_eq!(told.control.cycle.state, state);
    }
}

/// The same, and `ProbeInflightLongtermUpward`: a bound holds back only a flow that uses its window. With 800 of 1000
/// segments in flight it stays as it is, and the probe ends after three round trips without growth.
#[test]
fn a_bound_that_is_not_reached_holds_nothing_back() {
    let mut told = Told::probing_to_a_bound();
    for state in [State::Up, State::Up, State::Down] {
        told.round(800, |feedback, _| feedback.in_flight = 800);
        assert_eq!(told.control.cycle.state, state);
    }
    assert_eq!(told.control.model.inflight_longterm, 1000.0);
}

/// `AdaptLongTermModel`: what was in flight with no more than 2 % lost is safe, and raises a lower bound in any phase.
#[test]
fn what_was_in_flight_safely_raises_the_bound() {
    for (lost, bound) in [(20, 1200.0), (30, 1000.0)] {
        let mut told = Told::cruising();
        told.control.model.inflight_longterm = 1000.0;
        told.round(1000, |_, sample| (sample.in_flight, sample.lost) = (1200, lost));
        assert_eq!(told.control.model.inflight_longterm, bound, "{lost} lost");
    }
}

/// "Precautionary Bandwidth Probing": a cautious probe is repeated only if it has not cost too much, as its last samples
/// show.
#[test]
fn a_cautious_probe_that_went_too_high_is_not_repeated() {
    for (lost, state) in [(0, State::Refill), (31, State::Cruise)] {
        let mut told = Told::probing();
        told.control.cycle.too_high = true;
        told.control.model.inflight_longterm = 1500.0;
        told.round(1000, |feedback, _| feedback.in_flight = 2600);
        assert_eq!(told.control.cycle.state, State::Down);
        if lost > 0 {
            told.lose(1500, lost, false);
        }
        told.round(800, |feedback, _| feedback.in_flight = 1600);
        assert_eq!(told.control.cycle.state, state, "{lost} lost");
    }
}

/// `AdvanceMaxBwFilter` is for cycles of probing. A `ProbeRTT` before the pipe was full leaves `ACKS_PROBE_STOPPING`
/// behind, which ends in Drain; the rate of 2000 segments per round trip, seen in Startup, counts for the first cycle
/// still.
#[test]
fn drain_is_no_cycle_of_probing() {
    let mut told = Told::new(1000.0, true);
    told.plain(1000);
    told.now = Time::ZERO + Span::from_millis(5100);
    told.plain(1000);
    assert_eq!(told.control.cycle.state, State::ProbeRtt);
    while told.control.cycle.state == State::ProbeRtt {
        told.round(500, |feedback, _| feedback.in_flight = 900);
    }
    assert_eq!(told.control.cycle.state, State::Startup);
    told.round(2000, full);
    while told.control.cycle.state == State::Startup {
        told.round(1000, full);
    }
    assert_eq!(told.control.cycle.state, State::Drain);
    assert_eq!(told.control.cycle.probing, Probing::Init);
    told.round(1000, full);
    told.plain(1000);
    assert_eq!(told.control.cycle.state, State::Cruise);
    assert!((told.control.model.max_bw - 20_000.0).abs() < 1e-6, "{}", told.control.model.max_bw);
}

/// `CheckProbeRTT` ends a probe that it interrupts: `ACKS_PROBE_STOPPING`, for a round trip that begins with it even where
/// another one is under way. Losses beyond 2 % that come later are not those of the probe.
#[test]
fn probe_rtt_ends_a_probe() {
    let mut told = Told::probing();
    told.now = Time::ZERO + Span::from_millis(5100);
    told.round(1000, |feedback, sample| (feedback.in_flight, sample.delivered_before) = (9000, 0));
    assert_eq!(told.control.cycle.state, State::ProbeRtt);
    let sent = told.delivered;
    told.round(1000, |feedback, sample| {
        (feedback.in_flight, sample.delivered_before) = (9000, sent - 1);
    });
    assert_eq!(told.control.cycle.probing, Probing::Stopping);
    told.round(1000, |feedback, _| feedback.in_flight = 9000);
    assert_eq!(told.control.cycle.probing, Probing::Init);
    told.lose(1000, 50, false);
    assert!(told.control.model.inflight_longterm.is_infinite());
}

/// `HandleProbeRTT`: the round trip that has to pass, besides 200 ms, begins when no more than half a product is in flight,
/// also in the middle of another one.
#[test]
fn probe_rtt_lasts_a_round_trip_with_little_in_flight() {
    let mut told = Told::cruising();
    told.now = Time::ZERO + Span::from_millis(5100);
    told.round(1000, |feedback, _| feedback.in_flight = 2000);
    assert_eq!(told.control.cycle.state, State::ProbeRtt);
    told.round(100, |feedback, sample| (feedback.in_flight, sample.delivered_before) = (600, 0));
    let sent = told.delivered;
    told.now += Span::from_millis(300);
    told.round(100, |feedback, sample| {
        (feedback.in_flight, sample.delivered_before) = (500, sent - 1);
    });
    assert_eq!(told.control.cycle.state, State::ProbeRtt);
    told.round(100, |feedback, sample| {
        (feedback.in_flight, sample.delivered_before) = (500, sent);
    });
    assert_eq!(told.control.cycle.state, State::Cruise);
}

/// "Restarting From Idle", and `CheckProbeRTT`: after a pause no `ProbeRTT` is needed until data of after it has been
/// delivered; an acknowledgment of nothing is not enough.
#[test]
fn a_pause_takes_the_place_of_probe_rtt_until_data_is_delivered() {
    let mut told = Told::cruising();
    told.now = Time::ZERO + Span::from_millis(5200);
    told.control.on_restart(told.now, &PATH);
    told.control.on_feedback(&Feedback::at(told.now, 0), &PATH);
    assert!(told.control.idle_restart);
    assert!(told.control.model.probe_rtt_expired);
    told.plain(1000);
    assert_ne!(told.control.cycle.state, State::ProbeRtt);
    assert!(!told.control.idle_restart);
}
