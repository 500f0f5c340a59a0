//! What the draft promises, on a controller that is told by hand what happens.

use longfat_units::parameter::Setting;

use super::*;
use crate::Limited;

/// Segments per second, and the round trip: a product of 100 segments.
const RATE: u64 = 1000;
const RTT: Span = Span::from_millis(100);
const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

/// A path that delivers so many segments per second, as a flow on it sees it.
struct Wire {
    flow: Bbr1,
    now: Time,
    delivered: u64,
}

impl Wire {
    fn new() -> Self {
        Self::with(&controller().defaults())
    }

    fn with(settings: &Settings) -> Self {
        let start = Start { window: Segments(10.0), ..Start::default() };
        Self { flow: Bbr1::new(settings, &start), now: Time::ZERO, delivered: 0 }
    }

    /// An acknowledgment after so many milliseconds of what was delivered in them, at so many segments per second,
    /// with so much in flight before it. `round`: does it end a round trip?
    fn acknowledged(&mut self, millis: u64, rate: u64, in_flight: u64, rtt: Span, round: bool) {
        self.told(millis, rate, in_flight, |feedback, sample| {
            (feedback.rtt, feedback.round_starts) = (Some(rtt), round);
            sample.delivered_before = if round { sample.delivered_total } else { 0 };
        });
    }

    /// The same within a round trip of 100 ms, with something changed.
    fn told(
        &mut self,
        millis: u64,
        rate: u64,
        in_flight: u64,
        change: impl FnOnce(&mut Feedback, &mut RateSample),
    ) {
        let interval = Span::from_millis(millis);
        self.now = self.now.saturating_add(interval);
        let acked = (rate * millis / 1000).max(1);
        self.delivered += acked;
        let mut sample = RateSample {
            delivered_total: self.delivered,
            ..RateSample::of(rate * millis, Span(interval.0 * 1000))
        };
        let mut feedback = Feedback { rtt: Some(RTT), in_flight, ..Feedback::at(self.now, acked) };
        change(&mut feedback, &mut sample);
        self.flow.on_feedback(&Feedback { rate: Some(sample), ..feedback }, &PATH);
    }

    /// Up to `ProbeBW`, on a path of `RATE`.
    fn settled() -> Self {
        let mut wire = Self::new();
        while wire.flow.state != State::ProbeBw {
            wire.acknowledged(100, RATE, 100, RTT, true);
        }
        wire
    }

    /// The gain of the pacing rate now.
    fn gain(&self) -> f64 {
        self.flow.pacing_rate / RATE as f64
    }
}

/// Section 4.3.4.3: in `ProbeBW` the window is twice the product and three quanta, of one segment each here, whatever the gain
/// of the pacing.
#[test]
fn the_window_is_two_products_and_three_quanta() {
    let mut wire = Wire::settled();
    for _ in 0..40 {
        wire.acknowledged(100, RATE, 100, RTT, true);
        assert_eq!(wire.flow.window, 203.0, "at a gain of {}", wire.gain());
    }
}

/// Section 4.3.2.1: 2/ln 2 = 2.89 is the least gain that doubles the rate in each round trip. 4.3.3: that of Drain is
/// one over it, and the window keeps its gain.
#[test]
fn startup_doubles_and_drain_undoes_it() {
    assert!((HIGH_GAIN * std::f64::consts::LN_2 - 2.0).abs() < 1e-15);
    let mut wire = Wire::new();
    // While each round trip delivers twice as much, the pacing rate is 2.89 times that.
    for doubled in [100, 200, 400, 800] {
        wire.acknowledged(100, doubled, 50, RTT, true);
        assert_eq!(wire.flow.state, State::Startup);
        assert!((wire.flow.pacing_rate / doubled as f64 - 2.885_39).abs() < 1e-5);
    }
    // The first round trip at 1000 grows by a quarter; the pipe is full after three more that do not (4.3.2.2).
    for stalled in 0..4 {
        assert_eq!(wire.flow.state, State::Startup, "after {stalled} round trips");
        wire.acknowledged(100, RATE, 288, RTT, true);
    }
    assert_eq!(wire.flow.state, State::Drain);
    assert!((wire.gain() - 0.346_57).abs() < 1e-5, "{}", wire.gain());
    assert!((wire.flow.cwnd_gain - 2.885_39).abs() < 1e-5);
    // Until no more is in flight than the product, 100 segments and three quanta, after the acknowledgment of 10.
    wire.acknowledged(10, RATE, 114, RTT, false);
    assert_eq!(wire.flow.state, State::Drain);
    wire.acknowledged(10, RATE, 113, RTT, false);
    assert_eq!(wire.flow.state, State::ProbeBw);
}

/// Not of the draft: a hundredth less than the gain asks for, as in Linux. The first rate, of 10 segments in 100 ms, is whole,
/// as in BBRv3's, and the second no larger.
#[test]
fn a_margin_is_left_out_of_the_rate() {
    let mut settings = controller().defaults();
    settings.set("pacing_margin", Setting::Number(0.01));
    let mut wire = Wire::with(&settings);
    wire.acknowledged(100, 100, 10, RTT, true);
    for doubled in [200, 400, 800] {
        wire.acknowledged(100, doubled, 50, RTT, true);
        assert!((wire.flow.pacing_rate / doubled as f64 - 0.99 * HIGH_GAIN).abs() < 1e-5);
    }
}

/// Less than a quarter more in three round trips ends Startup; a quarter in any of them begins the count again.
#[test]
fn a_quarter_more_is_growth() {
    let mut wire = Wire::new();
    for rate in [1000, 1240, 1240, 1250, 1250, 1250] {
        wire.acknowledged(100, rate, 100, RTT, true);
        assert_eq!(wire.flow.state, State::Startup, "{rate}");
    }
    wire.acknowledged(100, 1250, 400, RTT, true);
    assert_eq!(wire.flow.state, State::Drain);
}

/// Section 4.3.4.1: 5/4, 3/4 and six times 1, in this order. 4.3.4.3: each is longer than `RTprop`; 5/4 also lasts
/// until that much is in flight or something is lost, and 3/4 no longer than until what is in flight is the product.
#[test]
fn the_cycle_has_the_gains_and_the_lengths_of_the_draft() {
    let mut wire = Wire::settled();
    // Acknowledgments every 10 ms with as much in flight as the gain asks for.
    let mut phases: Vec<(f64, u64)> = Vec::new();
    for _ in 0..300 {
        let gain = wire.flow.pacing_gain;
        let in_flight = if gain > 1.0 { 128 } else { 110 };
        wire.acknowledged(10, RATE, in_flight, RTT, false);
        assert!((wire.gain() - wire.flow.pacing_gain).abs() < 1e-9, "{}", wire.gain());
        match phases.last_mut() {
            Some((last, length)) if *last == wire.flow.pacing_gain && gain == *last => {
                *length += 10;
            }
            _ => phases.push((wire.flow.pacing_gain, 10)),
        }
    }
    // Phases of gain 1 are told apart by the index; joined here, they last six times as long.
    let from = phases.iter().position(|&(gain, _)| gain == 1.25).expect("it probes");
    let cycle: Vec<(f64, u64)> = phases[from..from + 3].to_vec();
    // The first acknowledgment after more than 100 ms comes at 110.
    assert_eq!(cycle, [(1.25, 110), (0.75, 110), (1.0, 660)]);
    assert_eq!(phases[from + 3].0, 1.25, "and again");
}

#[test]
fn probing_waits_for_its_queue_or_a_loss_and_draining_ends_early() {
    let mut wire = Wire::settled();
    while wire.flow.pacing_gain != 1.25 {
        wire.acknowledged(10, RATE, 110, RTT, false);
    }
    // 5/4 of the product and three quanta are 128 segments: with 127 it goes on, for as long as it takes.
    for _ in 0..50 {
        wire.acknowledged(10, RATE, 127, RTT, false);
        assert_eq!(wire.flow.pacing_gain, 1.25);
    }
    wire.acknowledged(10, RATE, 128, RTT, false);
    assert_eq!(wire.flow.pacing_gain, 0.75);
    wire.acknowledged(10, RATE, 104, RTT, false);
    assert_eq!(wire.flow.pacing_gain, 0.75);
    wire.acknowledged(10, RATE, 103, RTT, false);
    assert_eq!(wire.flow.pacing_gain, 1.0, "the queue is gone after 20 ms");
}

/// Section 4.3.4.2: a flow enters the cycle in any phase but that of 3/4.
#[test]
fn the_cycle_begins_anywhere_but_with_three_quarters() {
    let mut seen = [0; CYCLE.len()];
    for draw in 0..700_u32 {
        let start = Start { chance: u64::from(draw), ..Start::default() };
        let mut flow = Bbr1::new(&controller().defaults(), &start);
        flow.enter_probe_bw(Time::ZERO);
        seen[flow.cycle_index] += 1;
    }
    assert_eq!(seen[1], 0, "{seen:?}");
    // Seven phases, 100 of 700 each: five standard deviations of a binomial are 46.
    assert!(seen.iter().enumerate().all(|(at, &n)| at == 1 || (54..147).contains(&n)), "{seen:?}");
}

/// Sections 4.1.1.2 and 4.1.1.5: the largest rate of the last ten round trips, `BtlBwFilterLen`.
#[test]
fn the_largest_rate_is_remembered_for_ten_round_trips() {
    let mut wire = Wire::settled();
    wire.acknowledged(100, 2 * RATE, 110, RTT, true);
    assert_eq!(wire.flow.bandwidth.value(), 2000.0);
    for round in 2..=10 {
        wire.acknowledged(100, RATE, 110, RTT, true);
        assert_eq!(wire.flow.bandwidth.value(), 2000.0, "round trip {round}");
    }
    wire.acknowledged(100, RATE, 110, RTT, true);
    assert_eq!(wire.flow.bandwidth.value(), 1000.0, "the eleventh");
}

/// Section 4.3.5: ten seconds after the last round trip as short as `RTprop` (`ProbeRTTInterval`), at most four
/// segments (`BBRMinPipeCwnd`) for 200 ms (`ProbeRTTDuration`) and a round trip, counted from when no more are in
/// flight; then the window of before is back.
#[test]
fn probe_rtt_holds_four_segments_for_200_ms_every_ten_seconds() {
    let mut wire = Wire::settled();
    let longer = Span::from_millis(101);
    wire.acknowledged(10, RATE, 110, RTT, false);
    let last = wire.now;
    while wire.flow.state == State::ProbeBw {
        wire.acknowledged(10, RATE, 110, longer, wire.now.0.is_multiple_of(RTT.0));
    }
    assert_eq!(wire.flow.state, State::ProbeRtt);
    // The first acknowledgment after more than ten seconds.
    assert_eq!(wire.now.since(last), Span::from_millis(10_010));
    let before = wire.flow.prior_window;
    assert_eq!((wire.flow.window, wire.flow.pacing_gain), (4.0, 1.0));
    assert_eq!(wire.flow.cwnd_gain, 1.0);
    // What is in flight takes a while to leave; the time does not count yet.
    for left in [90, 50, 6] {
        wire.acknowledged(10, RATE, left + 10, longer, false);
        assert_eq!(wire.flow.probe_rtt_done, None);
    }
    wire.acknowledged(10, RATE, 14, longer, false);
    let since = wire.now;
    // Acknowledgments of four segments per round trip from here on.
    while wire.flow.state == State::ProbeRtt {
        assert_eq!(wire.flow.window, 4.0);
        wire.acknowledged(20, 50, 4, longer, true);
    }
    assert_eq!(wire.now.since(since), Span::from_millis(220), "more than 200 ms");
    assert_eq!(wire.flow.state, State::ProbeBw);
    assert!(wire.flow.window >= before, "{} of {before}", wire.flow.window);
    // Neither the rates seen with four segments in flight nor those eleven round trips have spoilt the estimate
    // (4.1.1.5: a sample that is limited and lower leaves the filter alone).
    assert_eq!(wire.flow.bandwidth.value(), 1000.0);
    // Without an end of a round trip in it 200 ms are not enough, whatever was before.
    let mut wire = Wire::settled();
    wire.flow.probe_rtt_round_done = true;
    wire.acknowledged(10_010, RATE, 110, longer, false);
    wire.acknowledged(10, RATE, 110, longer, false);
    assert_eq!(wire.flow.state, State::ProbeRtt);
    wire.acknowledged(10, RATE, 14, longer, false);
    for _ in 0..30 {
        wire.acknowledged(20, 50, 4, longer, false);
        assert_eq!(wire.flow.state, State::ProbeRtt);
    }
}

/// Section 4.2.3.4: the first round trip of a recovery sends no more than is delivered, and the window of before is back
/// when it ends. The acknowledgment that ends it belongs to no recovery, though the host lets no window grow on it; the
/// next one is answered like the first.
#[test]
fn each_recovery_begins_with_a_window_of_what_is_in_flight_and_ends_with_that_of_before() {
    let mut wire = Wire::settled();
    let before = wire.flow.window;
    for recovery in 0..2 {
        for millis in (0..200).step_by(10) {
            let first = millis == 0;
            wire.now += Span::from_millis(10);
            wire.delivered += 10;
            let feedback = Feedback {
                rtt: Some(RTT),
                in_flight: 100,
                lost: 4 * u64::from(first),
                limited: Limited::Recovery,
                recovery_begins: first,
                ..Feedback::at(wire.now, 10)
            };
            if millis == 190 {
                wire.flow.on_recovered(wire.now, &PATH);
            }
            wire.flow.on_feedback(&feedback, &PATH);
            if first {
                // 100 less 10 delivered and 4 lost are in flight, and 10 may leave.
                assert_eq!(wire.flow.window, 96.0, "recovery {recovery}");
            }
        }
        assert_eq!(wire.flow.repair, Repair::None, "recovery {recovery}");
        assert_eq!(wire.flow.window, before, "recovery {recovery}");
        wire.acknowledged(10, RATE, 110, RTT, true);
        assert_eq!(wire.flow.repair, Repair::None, "after recovery {recovery}");
    }
}

/// When no round trip was as short for ten seconds, the one measured then is `RTprop`. An acknowledgment after a pause
/// shows as much without `ProbeRTT`, once.
#[test]
fn a_pause_takes_the_place_of_probe_rtt_once() {
    let longer = Span::from_millis(101);
    for paused in [false, true] {
        let mut wire = Wire::settled();
        if paused {
            wire.flow.on_restart(wire.now, &PATH);
        }
        wire.acknowledged(10_010, RATE, 110, longer, true);
        assert_eq!(wire.flow.rtprop, Some(longer));
        assert_eq!(wire.flow.state == State::ProbeRtt, !paused);
        if paused {
            wire.acknowledged(10_010, RATE, 110, longer * 2, true);
            assert_eq!(wire.flow.state, State::ProbeRtt);
        }
    }
}

/// Section 4.3.4.4: after a pause a flow in `ProbeBW` sends at the rate of the path.
#[test]
fn a_pause_ends_with_the_rate_of_the_path() {
    let mut wire = Wire::settled();
    while wire.flow.pacing_gain != 1.25 {
        wire.acknowledged(10, RATE, 110, RTT, false);
    }
    assert!((wire.gain() - 1.25).abs() < 1e-9);
    wire.flow.on_restart(wire.now, &PATH);
    assert!((wire.gain() - 1.0).abs() < 1e-9);
}

/// Section 4.2.3.4: a time-out leaves one segment, and when all is repaired the window of before is back. What is lost
/// after the first round trip of a recovery is taken from the window.
#[test]
fn a_time_out_gives_the_window_back() {
    let mut wire = Wire::settled();
    let before = wire.flow.window;
    let (now, cause) = (wire.now, Cause::Timeout);
    wire.flow.on_congestion(&Congestion { now, cause, in_flight: 100, again: false }, &PATH);
    assert_eq!(wire.flow.window, 1.0);
    wire.flow.on_recovered(now, &PATH);
    assert_eq!(wire.flow.window, before);
    wire.flow.repair = Repair::Recovering;
    wire.flow.window = 50.0;
    wire.flow.on_feedback(&Feedback { lost: 4, in_flight: 50, ..Feedback::at(now, 0) }, &PATH);
    assert_eq!(wire.flow.window, 46.0);
}

/// Section 4.3.5: where the pipe was never full, Startup goes on after `ProbeRTT`, with its gains.
#[test]
fn probe_rtt_goes_back_to_startup() {
    let mut wire = Wire::new();
    wire.acknowledged(100, 100, 20, RTT, true);
    wire.acknowledged(10_010, 100, 1010, Span::from_millis(101), false);
    assert_eq!((wire.flow.state, wire.flow.pacing_gain), (State::ProbeRtt, 1.0));
    while wire.flow.state == State::ProbeRtt {
        wire.acknowledged(20, 50, 4, RTT, true);
    }
    assert_eq!(wire.flow.state, State::Startup);
    assert_eq!((wire.flow.pacing_gain, wire.flow.cwnd_gain), (HIGH_GAIN, HIGH_GAIN));
}

/// Section 4.3.5: the round trip of `ProbeRTT` begins when no more than four segments are in flight, also in the middle
/// of another one. It ends with data that left after that, from where the next one is ten seconds away.
#[test]
fn probe_rtt_lasts_a_round_trip_of_its_own() {
    let mut wire = Wire::settled();
    wire.acknowledged(10_010, 1, 110, RTT * 2, true);
    assert_eq!(wire.flow.state, State::ProbeRtt);
    wire.told(10, RATE, 14, |_, _| {});
    let little = wire.delivered;
    for (before, state) in [(little - 1, State::ProbeRtt), (little, State::ProbeBw)] {
        wire.told(210, 10, 4, |feedback, sample| {
            (feedback.rtt, sample.delivered_before) = (Some(RTT * 3), before);
        });
        assert_eq!(wire.flow.state, state);
    }
    assert_eq!(wire.flow.rtprop_stamp, Some(wire.now));
}

/// Section 4.3.4.3: a loss ends the phase of 5/4 once it has lasted for `RTprop`, though its queue has not come.
#[test]
fn a_loss_ends_probing_after_a_round_trip() {
    let mut wire = Wire::settled();
    while wire.flow.pacing_gain != 1.25 {
        wire.told(10, RATE, 110, |_, _| {});
    }
    for gain in [1.25, 0.75] {
        wire.told(60, RATE, 110, |feedback, _| feedback.lost = 1);
        assert_eq!(wire.flow.pacing_gain, gain);
    }
}

/// Section 4.1.1.5: a rate that an application limits counts only where it is the largest. Rates are forgotten when
/// another one counts, then all those of ten round trips at once.
#[test]
fn rates_of_an_application_count_where_they_are_the_largest() {
    let mut wire = Wire::settled();
    let limited = |_: &mut Feedback, sample: &mut RateSample| {
        sample.application_limited = true;
        sample.delivered_before = sample.delivered_total;
    };
    wire.told(100, 2 * RATE, 110, limited);
    assert_eq!(wire.flow.bandwidth.value(), 2000.0);
    for _ in 0..20 {
        wire.told(100, RATE, 110, limited);
        assert_eq!(wire.flow.bandwidth.value(), 2000.0);
    }
    wire.acknowledged(100, RATE / 2, 110, RTT, true);
    assert_eq!(wire.flow.bandwidth.value(), 500.0);
}

/// Section 4.2.1: Startup never paces more slowly than 10 segments in 100 ms, its first window. 4.2.3.6: a window beyond
/// what fills the path, 2.89 times one segment and three quanta, grows until the first ten have been delivered.
#[test]
fn startup_takes_nothing_back() {
    let mut wire = Wire::new();
    for window in [15.0, 15.0] {
        wire.told(500, 10, 10, |_, _| {});
        assert_eq!(wire.flow.window, window);
        assert!((wire.flow.pacing_rate - 288.539).abs() < 1e-3, "{}", wire.flow.pacing_rate);
    }
}

/// Section 4.2.3.4, "packet conservation": what is in flight when a recovery begins and what has been delivered, at least
/// a segment, may be in flight until all of that has been delivered. Losses leave a segment.
#[test]
fn a_recovery_sends_what_is_delivered_for_a_round_trip() {
    let begins = |acked, lost, in_flight| {
        let mut wire = Wire::settled();
        let begins = Feedback { recovery_begins: true, lost, ..Feedback::at(wire.now, acked) };
        wire.flow.on_feedback(&Feedback { in_flight, ..begins }, &PATH);
        wire
    };
    assert_eq!(begins(1, 11, 12).flow.window, 1.0);
    assert_eq!(begins(0, 0, 50).flow.window, 51.0);
    // 90 in flight after 10: a window of 100 until these 90 have been delivered, and then more.
    let mut wire = begins(10, 0, 100);
    for delivered in (10..=100).step_by(10) {
        wire.told(10, RATE, 100, |feedback, _| feedback.limited = Limited::Recovery);
        assert_eq!(wire.flow.window, if delivered > 90 { 110.0 } else { 100.0 });
    }
}

/// More than 10¹² segments fill no path.
#[test]
fn what_fills_the_path_is_bounded() {
    let mut flow = Wire::settled().flow;
    flow.bandwidth.see(1e15);
    assert_eq!(flow.inflight(1.0), CEILING);
}
