//! The numbers of the draft, on a controller that is told by hand what happens.

use longfat_units::{Segments, Span, Time};

use super::*;
use crate::{Limited, RateSample};

const RTT: Span = Span::from_millis(100);
const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

/// A flow that is told of one acknowledgment per round trip, each for a round trip's worth of segments.
struct Told {
    control: Bbr3,
    now: Time,
    delivered: u64,
}

impl Told {
    /// With a path of 100 ms measured before the first data, and a window of so many segments.
    fn new(window: f64, selective: bool) -> Self {
        let start = Start {
            window: Segments(window),
            round_trip: Some(RTT),
            selective,
            ..Start::default()
        };
        let control = Bbr3::new(&controller().defaults(), &start);
        Self { control, now: Time::ZERO, delivered: 0 }
    }

    /// A round trip in which so many segments were delivered, with as many in flight before and after.
    fn round(&mut self, segments: u64, change: impl FnOnce(&mut Feedback, &mut RateSample)) {
        self.now += RTT;
        let before = self.delivered;
        self.delivered += segments;
        let mut sample = RateSample {
            delivered_before: before,
            delivered_total: self.delivered,
            in_flight: segments,
            ..RateSample::of(segments, RTT)
        };
        let mut feedback = Feedback {
            rtt: Some(RTT),
            in_flight: 2 * segments,
            round_starts: true,
            ..Feedback::at(self.now, segments)
        };
        change(&mut feedback, &mut sample);
        self.control.on_feedback(&Feedback { rate: Some(sample), ..feedback }, &PATH);
    }

    fn plain(&mut self, segments: u64) {
        self.round(segments, |_, _| {});
    }

    /// In `ProbeBW`, with 1000 segments in flight that fill the path.
    fn cruising() -> Self {
        let mut told = Self::new(1000.0, true);
        (0..5).for_each(|_| told.plain(1000));
        assert_eq!(told.control.cycle.state, State::Cruise);
        told
    }

    /// The same, in `ProbeBW_UP`.
    fn probing() -> Self {
        let mut told = Self::cruising();
        while told.control.cycle.state != State::Up {
            told.plain(1000);
            assert!(told.now < Time::ZERO + Span::from_seconds(5));
        }
        told
    }

    fn rate(&self) -> f64 {
        self.control.pacing_rate
    }

    /// A segment is lost that left with so many in flight, as the `lost`-th since it left.
    fn lose(&mut self, in_flight: u64, lost: u64, application_limited: bool) {
        let event = Lost {
            now: self.now,
            segment: self.delivered,
            in_flight,
            lost,
            delivered_total: self.delivered,
            application_limited,
        };
        self.control.on_lost(&event, &PATH);
    }
}

#[test]
fn startup_paces_at_2_77_and_drain_at_a_half() {
    let mut told = Told::new(10.0, true);
    // 10 segments in 100 ms, times 4 ln 2.
    assert!((told.rate() - 277.26).abs() < 0.01, "{}", told.rate());
    told.plain(10);
    // 100 per second measured: 2.77 · 0.99 of it would be less, and Startup never slows down.
    assert!((told.rate() - 277.26).abs() < 0.01);
    told.plain(20);
    assert!((told.rate() - 4.0 * std::f64::consts::LN_2 * 200.0 * 0.99).abs() < 0.01);
    // Three rounds with less than a quarter more: 1.2, 1.24, 1.249 times. In flight stays what was: Drain goes on.
    for segments in [1000, 1200, 1240, 1249] {
        assert_eq!(told.control.cycle.state, State::Startup);
        told.round(segments, |feedback, _| feedback.in_flight = 10_000);
    }
    assert_eq!(told.control.cycle.state, State::Drain);
    assert!((told.rate() - 0.5 * 12_490.0 * 0.99).abs() < 0.01, "{}", told.rate());
}

#[test]
fn a_quarter_more_is_growth() {
    let mut told = Told::new(1000.0, true);
    for segments in [1000, 1250, 1563, 1954, 2443] {
        told.plain(segments);
        assert_eq!(
            (told.control.model.full_bw_count, told.control.cycle.state),
            (0, State::Startup)
        );
    }
}

#[test]
fn drain_ends_after_three_round_trips_at_the_latest() {
    let mut told = Told::new(1000.0, true);
    (0..4).for_each(|_| told.round(1000, |feedback, _| feedback.in_flight = 9000));
    for _ in 0..4 {
        assert_eq!(told.control.cycle.state, State::Drain);
        told.round(1000, |feedback, _| feedback.in_flight = 9000);
    }
    assert_eq!(told.control.cycle.state, State::Down);
}

#[test]
fn the_cycle_has_the_gains_of_the_draft() {
    let mut told = Told::cruising();
    let bw = 10_000.0;
    assert!((told.rate() - 0.99 * bw).abs() < 1e-6, "CRUISE: {}", told.rate());
    let began = told.now;
    while told.control.cycle.state == State::Cruise {
        told.plain(1000);
    }
    // 1000 segments of BDP: the 63 round trips last longer than the 2 to 3 s.
    let waited = told.now.since(began);
    let bounds = Span::from_millis(1900)..Span::from_millis(3200);
    assert!(bounds.contains(&waited), "{waited:?}");
    assert_eq!(told.control.cycle.state, State::Refill);
    assert!((told.rate() - 0.99 * bw).abs() < 1e-6);
    told.plain(1000);
    assert_eq!(told.control.cycle.state, State::Up, "after one round trip");
    assert!((told.rate() - 1.25 * 0.99 * bw).abs() < 1e-6);
    // 2.25 BDP and two segments, and what acknowledgments of 1000 at once look like: aggregation.
    told.plain(1000);
    let extra = told.control.model.extra_acked.value();
    assert!((told.control.window - (2250.0 + 2.0 + extra)).abs() < 1e-6, "{}", told.control.window);
    // Three round trips without growth; then nine tenths.
    told.plain(1000);
    assert_eq!(told.control.cycle.state, State::Up);
    told.round(1000, |feedback, _| feedback.in_flight = 9000);
    assert_eq!(told.control.cycle.state, State::Down);
    assert!((told.rate() - 0.9 * 0.99 * bw).abs() < 1e-6);
}

#[test]
fn small_windows_probe_as_often_as_reno_loses() {
    // A BDP of 20 segments: 20 round trips, not 2 s, less one that chance may count and two that DOWN took.
    let mut told = Told::new(20.0, true);
    (0..5).for_each(|_| told.plain(20));
    assert_eq!(told.control.cycle.state, State::Cruise);
    let began = told.now;
    while told.control.cycle.state == State::Cruise {
        told.plain(20);
    }
    let rounds = told.now.since(began).0 / RTT.0;
    assert!((17..=20).contains(&rounds), "{rounds}");
}

#[test]
fn two_percent_are_tolerated_and_no_more() {
    // 1000 in flight: twenty losses are two percent.
    let mut told = Told::probing();
    told.lose(1000, 20, false);
    assert_eq!(told.control.cycle.state, State::Up);
    assert!(told.control.model.inflight_longterm.is_infinite());
    told.lose(1000, 21, false);
    assert_eq!(told.control.cycle.state, State::Down);
    // What was in flight when the threshold was crossed: 999 + (0.02 · 999 - 20)/0.98.
    let bound = told.control.model.inflight_longterm;
    assert!((bound - 998.979_59).abs() < 1e-4, "{bound}");
    // 15 % of it are left to others in CRUISE.
    assert!((told.control.headroom() - 0.85 * bound).abs() < 1e-9);
    // Only once per probe.
    told.lose(500, 400, false);
    assert_eq!(told.control.model.inflight_longterm, bound);
}

#[test]
fn a_probe_gives_up_no_more_than_three_tenths() {
    // Lost with 100 in flight, where 1000 fill the path.
    let mut told = Told::probing();
    told.lose(100, 90, false);
    let bound = told.control.model.inflight_longterm;
    assert!((bound - 700.0).abs() < 1e-9, "{bound}");
}

#[test]
fn losses_of_an_application_set_no_bound() {
    let mut told = Told::probing();
    told.lose(1000, 100, true);
    assert_eq!(told.control.cycle.state, State::Down);
    assert!(told.control.model.inflight_longterm.is_infinite());
}

#[test]
fn without_selective_acknowledgments_one_loss_is_too_much() {
    let mut told = Told::probing();
    told.control.selective = false;
    told.lose(1000, 1, false);
    assert_eq!(told.control.cycle.state, State::Down);
}

#[test]
fn losses_between_probes_lower_both_bounds_by_what_was_delivered_or_by_three_tenths() {
    let mut told = Told::cruising();
    let window = told.control.window;
    let mut lossy = |segments| {
        told.lose(1000, 1, false);
        told.plain(segments);
        (told.control.model.bw_shortterm, told.control.model.inflight_shortterm)
    };
    // What counts is the largest rate since the round trip before: 1000, then 900 segments in 100 ms. The window falls by
    // three tenths each time.
    let (rate, inflight) = lossy(900);
    assert!((rate - 10_000.0).abs() < 1e-6 && (inflight - 0.7 * window).abs() < 1e-6);
    let (rate, inflight) = lossy(900);
    assert!((rate - 9000.0).abs() < 1e-6 && (inflight - 0.49 * window).abs() < 1e-6, "{rate}");
    // One that delivers 100 lowers the rate by no more than that either.
    lossy(100);
    let (rate, _) = lossy(100);
    assert!((rate - 6300.0).abs() < 1e-6, "{rate}");
    assert!((told.rate() - 0.99 * 6300.0).abs() < 1e-6);
    // REFILL forgets it.
    while told.control.cycle.state != State::Refill {
        told.plain(600);
    }
    assert!(told.control.model.bw_shortterm.is_infinite());
}

#[test]
fn probe_rtt_comes_every_5_s_for_200_ms_with_half_a_bdp() {
    let mut told = Told::cruising();
    while told.control.cycle.state != State::ProbeRtt {
        told.plain(1000);
    }
    // Counted from the first round trip measured, at 100 ms.
    assert_eq!(told.now, Time::ZERO + Span::from_millis(5200));
    assert!((told.control.window - 500.0).abs() < 1e-6, "{}", told.control.window);
    let began = told.now;
    while told.control.cycle.state == State::ProbeRtt {
        told.round(500, |feedback, _| feedback.in_flight = 900);
    }
    // It began at once, with 400 in flight: 200 ms, and a round trip of 100 ms to see that they are over.
    assert_eq!(told.now.since(began), Span::from_millis(400));
    assert_eq!(told.control.cycle.state, State::Cruise);
    // Its low rates do not count.
    assert!((told.control.model.max_bw - 10_000.0).abs() < 1e-6);
    assert!(told.control.window > 1000.0);
}

#[test]
fn the_smallest_round_trip_counts_for_ten_seconds() {
    let mut told = Told::cruising();
    told.round(1000, |feedback, _| feedback.rtt = Some(RTT / 2));
    let low = told.now;
    let min_rtt = |told: &Told| told.control.model.min_rtt;
    assert_eq!(min_rtt(&told), Some(RTT / 2));
    // A path that has become longer: 100 ms are believed 10 s later.
    while min_rtt(&told) == Some(RTT / 2) {
        told.round(1000, |feedback, _| feedback.in_flight = 1400);
        assert!(told.now < low + Span::from_seconds(11));
    }
    assert!(told.now > low + Span::from_seconds(10));
    assert_eq!(min_rtt(&told), Some(RTT));
}

#[test]
fn a_rate_counts_for_this_cycle_and_the_next() {
    let mut told = Told::cruising();
    told.plain(2000);
    assert!((told.control.model.max_bw - 20_000.0).abs() < 1e-6);
    let mut probes = 0;
    let mut last = told.control.cycle.state;
    while told.control.model.max_bw > 10_001.0 {
        told.plain(1000);
        let state = told.control.cycle.state;
        probes += u32::from(state == State::Up && last != State::Up);
        last = state;
        assert!(told.now < Time::ZERO + Span::from_seconds(30));
    }
    assert_eq!(probes, 2, "it ends with the second probe");
}

#[test]
fn startup_ends_by_losses_in_six_gaps_of_a_recovery() {
    for (gaps, ends) in [(5, false), (6, true)] {
        let mut told = Told::new(1000.0, true);
        told.plain(1000);
        told.round(1500, |feedback, _| feedback.recovery_begins = true);
        // 100 lost of 2000 are 5 %, in so many gaps.
        for lost in 0..gaps {
            told.delivered += 2;
            told.lose(2000, lost + 1, false);
        }
        let recovering = |feedback: &mut Feedback, sample: &mut RateSample| {
            feedback.limited = Limited::Recovery;
            feedback.in_flight = 90_000;
            sample.lost = 100;
        };
        told.round(2000, recovering);
        assert_eq!(told.control.cycle.state == State::Drain, ends, "{gaps} gaps");
        assert_eq!(told.control.model.full_bw_reached, ends);
        let bound = told.control.model.inflight_longterm;
        // The larger of BDP (at 15 000 per second so far) and the 2000 delivered.
        assert_eq!(bound, if ends { 2000.0 } else { f64::INFINITY });
    }
}

#[test]
fn a_time_out_leaves_one_segment_and_recovery_gives_the_window_back() {
    let mut told = Told::cruising();
    let window = told.control.window;
    let event = Congestion { now: told.now, cause: Cause::Timeout, in_flight: 3, again: false };
    (0..3).for_each(|lost| told.lose(1000, lost + 1, false));
    told.control.on_congestion(&event, &PATH);
    assert_eq!(told.control.window, 1.0);
    told.round(1, |feedback, _| feedback.in_flight = 1);
    assert_eq!(told.control.window, 4.0, "the least");
    told.control.on_recovered(told.now, &PATH);
    assert_eq!(told.control.window, window);
}

/// The acknowledgment that ends a recovery belongs to none, though the host lets no window grow on it: what the next
/// recovery saves is what there is then, not what the last one began with.
#[test]
fn each_recovery_saves_what_it_begins_with() {
    let mut told = Told::cruising();
    let lossy = |told: &mut Told| {
        told.lose(1000, 1, false);
        told.round(1000, |feedback, _| feedback.recovery_begins = true);
    };
    lossy(&mut told);
    told.round(1000, |feedback, _| feedback.limited = Limited::Recovery);
    let reduced = told.control.model.inflight_shortterm;
    assert!(reduced < f64::INFINITY, "the loss is answered");
    told.control.on_recovered(told.now, &PATH);
    told.round(1000, |feedback, _| feedback.limited = Limited::Recovery);
    let at_the_end = told.control.model.inflight_shortterm;
    lossy(&mut told);
    assert_eq!(told.control.undo.inflight_shortterm, at_the_end);
}

/// What had been found lost before it is not in flight when it comes.
#[test]
fn a_time_out_takes_out_of_flight_what_it_finds_lost() {
    let mut told = Told::cruising();
    (0..4).for_each(|lost| told.lose(1000, lost + 1, false));
    told.now += Span::from_millis(300);
    (0..2).for_each(|lost| told.lose(1000, lost + 5, false));
    let event = Congestion { now: told.now, cause: Cause::Timeout, in_flight: 10, again: false };
    told.control.on_congestion(&event, &PATH);
    assert_eq!(told.control.window, 9.0);
}

#[test]
fn marks_count_as_losses() {
    let mut told = Told::probing();
    told.round(1000, |feedback, _| feedback.marked = 20);
    assert_eq!(told.control.cycle.state, State::Up);
    let mut told = Told::probing();
    told.round(1000, |feedback, _| feedback.marked = 21);
    assert_eq!(told.control.cycle.state, State::Down);
    assert!(told.control.model.inflight_longterm.is_finite());
}

#[test]
fn what_the_host_sends_at_a_time_has_room() {
    // 20 segments in 100 ms, in groups of ten: three groups, more than 2 BDP would be at 10 of them.
    let groups = |packets| {
        let send_quantum = Some(crate::SendQuantum::Packets(packets));
        let start = Start { send_quantum, round_trip: Some(RTT), ..Start::default() };
        Bbr3::new(&controller().defaults(), &start).quantized(20.0)
    };
    assert_eq!((groups(10), groups(2)), (30.0, 20.0));
    // Nothing more than the least window if it sends packet by packet.
    assert_eq!(Told::new(10.0, true).control.quantized(0.1), 4.0);
}
