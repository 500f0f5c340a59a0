//! The numbers of the draft, on a controller that is told by hand what happens.

use longfat_units::{Segments, Span, Time};

use super::*;
use crate::{Limited, RateSample};

mod phases;
mod recovery;

const RTT: Span = Span::from_millis(100);
const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

/// A flow that is told of one acknowledgment per round trip, each for a round trip's worth of segments.
struct Told {
    control: Bbr3,
    now: Time,
    delivered: u64,
    rtt: Span,
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
        Self { control, now: Time::ZERO, delivered: 0, rtt: RTT }
    }

    /// A round trip in which so many segments were delivered, with as many in flight before and after.
    fn round(&mut self, segments: u64, change: impl FnOnce(&mut Feedback, &mut RateSample)) {
        self.now += self.rtt;
        let before = self.delivered;
        self.delivered += segments;
        let mut sample = RateSample {
            delivered_before: before,
            delivered_total: self.delivered,
            in_flight: segments,
            ..RateSample::of(segments, self.rtt)
        };
        let mut feedback = Feedback {
            rtt: Some(self.rtt),
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

    /// The same, in `ProbeBW_UP` with a bound of 1000 segments, of which it had used 800.
    fn probing_to_a_bound() -> Self {
        let mut told = Self::cruising();
        told.control.model.inflight_longterm = 1000.0;
        while told.control.cycle.state != State::Up {
            told.round(800, |feedback, _| feedback.in_flight = 800);
        }
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
            sent: Time(self.now.0.saturating_sub(PATH.rtt.0)),
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

/// `Headroom` is 15 %, a segment at the least, and leaves four of them at the least.
#[test]
fn headroom_is_at_least_a_segment() {
    let mut model = Model::new(Some(RTT));
    for (bound, left) in [(100.0, 85.0), (6.0, 5.0), (4.0, 4.0), (f64::INFINITY, f64::INFINITY)] {
        model.inflight_longterm = bound;
        assert_eq!(model.with_headroom(MIN_PIPE), left, "of {bound}");
    }
}

/// What comes in beyond the rate of 1000 segments per second since the last time that nothing did, but no more than the
/// window.
#[test]
fn aggregation_is_what_comes_ahead_of_the_rate() {
    let mut model = Model::new(Some(RTT));
    model.bw = 1000.0;
    let mut after = |millis, window| {
        let now = Time::ZERO + Span::from_millis(millis);
        model.see_aggregation(&Feedback::at(now, 10), window);
        let extra = model.extra_acked.value();
        model.extra_acked.advance();
        extra
    };
    assert_eq!(after(0, 100.0), 10.0);
    assert!((after(5, 100.0) - 15.0).abs() < 1e-9, "20 less 5");
    // 40 would have come by now, and 20 did: it begins anew.
    assert_eq!(after(40, 100.0), 10.0);
    assert!((after(41, 100.0) - 19.0).abs() < 1e-9, "20 less 1");
    assert_eq!(after(42, 12.0), 12.0);
}

/// The round trip at whose end losses are answered begins with the first of them. A new phase of the cycle knows nothing of
/// what was delivered before it.
#[test]
fn signals_are_those_since_the_first_loss_and_of_this_phase() {
    let mut model = Model::new(Some(RTT));
    let sample = |before, delivered| RateSample {
        delivered_before: before,
        delivered_total: before + delivered,
        ..RateSample::of(delivered, RTT)
    };
    model.hear(&sample(0, 100));
    model.note_loss(150);
    model.note_loss(200);
    model.hear(&sample(149, 100));
    assert!(!model.loss_round_starts);
    model.hear(&sample(150, 100));
    assert!(model.loss_round_starts);
    model.reset_signals();
    assert_eq!((model.lossy_round, model.inflight_latest), (false, 0.0));
    model.lower_bounds(100.0);
    // Of 1000 per second and a window of 100, with nothing delivered since.
    assert!((model.bw_shortterm - 700.0).abs() < 1e-9, "{}", model.bw_shortterm);
    assert!((model.inflight_shortterm - 70.0).abs() < 1e-9, "{}", model.inflight_shortterm);
    model.reset_short_term();
    assert!(model.bw_shortterm.is_infinite() && model.inflight_shortterm.is_infinite());
}

/// The filter holds two cycles: a rate of the one before counts until the next one begins, and then at once no more.
#[test]
fn a_new_cycle_forgets_the_one_before_the_last() {
    let mut model = Model::new(Some(RTT));
    model.hear(&RateSample::of(200, RTT));
    model.advance_cycle();
    model.hear(&RateSample::of(100, RTT));
    assert!((model.max_bw - 2000.0).abs() < 1e-9);
    model.advance_cycle();
    assert!((model.max_bw - 1000.0).abs() < 1e-9, "{}", model.max_bw);
}

/// Six lost segments next to each other are one gap, and end no Startup.
#[test]
fn segments_lost_in_a_row_are_one_gap() {
    let mut told = Told::new(1000.0, true);
    told.plain(1000);
    told.round(1500, |feedback, _| feedback.recovery_begins = true);
    for lost in 0..6 {
        told.delivered += 1;
        told.lose(2000, lost + 1, false);
    }
    told.round(2000, |feedback, sample| {
        feedback.limited = Limited::Recovery;
        feedback.in_flight = 90_000;
        sample.lost = 100;
    });
    assert_eq!(told.control.cycle.state, State::Startup);
}

/// Where the bound is what limits the flow, a probe raises it by 1, 2, 4, … segments in one round trip after another.
#[test]
fn a_probe_raises_the_bound_twice_as_fast_in_each_round_trip() {
    let mut told = Told::probing_to_a_bound();
    let mut raised = Vec::new();
    for _ in 0..5 {
        let before = told.control.model.inflight_longterm;
        let window = told.control.window as u64;
        told.round(window, |_, sample| sample.in_flight = 900);
        raised.push(told.control.model.inflight_longterm - before);
    }
    assert_eq!(raised, [1.0, 2.0, 4.0, 8.0, 16.0]);
}

/// `BoundCwndForModel`: the window stays within the bound of losses between probes, and at four segments at the least.
#[test]
fn losses_between_probes_bound_the_window() {
    for (bound, window) in [(300.0, 300.0), (1.0, 4.0)] {
        let mut told = Told::cruising();
        told.control.model.inflight_shortterm = bound;
        told.plain(1000);
        assert_eq!(told.control.window, window);
    }
}

/// Where no round trip is known at the start, the first one measured gives the rate: 10 segments in 100 ms, times 2.77.
#[test]
fn the_first_round_trip_sets_the_rate() {
    let start = Start { window: Segments(10.0), ..Start::default() };
    let mut control = Bbr3::new(&controller().defaults(), &start);
    assert!((control.pacing_rate - 27_725.9).abs() < 0.1, "{}", control.pacing_rate);
    control.on_feedback(&Feedback { rtt: Some(RTT), ..Feedback::at(Time::ZERO + RTT, 1) }, &PATH);
    assert!((control.pacing_rate - 277.26).abs() < 0.01, "{}", control.pacing_rate);
}

/// What a needless recovery has lowered is as it was.
#[test]
fn a_needless_recovery_gives_both_bounds_back() {
    let mut told = Told::cruising();
    told.lose(1000, 1, false);
    told.round(1000, |feedback, _| feedback.recovery_begins = true);
    let model = &told.control.model;
    assert!(model.bw_shortterm.is_finite() && model.inflight_shortterm.is_finite());
    told.round(1000, |feedback, _| feedback.spurious = Some(Cause::Loss));
    let model = &told.control.model;
    assert!(model.bw_shortterm.is_infinite() && model.inflight_shortterm.is_infinite());
}

/// A mark between probes lowers the bounds as a loss does; those of different round trips do not add up in a probe.
#[test]
fn marks_are_counted_by_round_trips() {
    let mut told = Told::cruising();
    told.round(1000, |feedback, _| feedback.marked = 1);
    told.plain(1000);
    assert!(told.control.model.inflight_shortterm.is_finite());
    let mut told = Told::probing();
    (0..2).for_each(|_| told.round(1000, |feedback, _| feedback.marked = 15));
    assert!(told.control.model.inflight_longterm.is_infinite(), "1.5 % each");
}

/// In Startup and in UP losses of less than 2 % lower nothing. Nor do they elsewhere with `loss_tolerance`, but those of
/// more do.
#[test]
fn few_losses_of_its_own_doing_lower_nothing() {
    let lossy = |mut told: Told, lost: u64| {
        told.lose(1000, 1, false);
        told.round(1000, |_, sample| sample.lost = lost);
        told.control.model.inflight_shortterm.is_finite()
    };
    let mut young = Told::new(1000.0, true);
    young.plain(1000);
    assert_eq!(young.control.cycle.state, State::Startup);
    assert!(!lossy(young, 1));
    assert!(!lossy(Told::probing(), 1));
    assert!(lossy(Told::cruising(), 1));
    for (lost, answered) in [(20, false), (30, true)] {
        let mut told = Told::cruising();
        told.control.loss_tolerance = 0.02;
        assert_eq!(lossy(told, lost), answered, "{lost} of 1000");
    }
}

/// Without selective acknowledgments any recovery ends Startup.
#[test]
fn a_recovery_without_selective_acknowledgments_ends_startup() {
    let mut told = Told::new(1000.0, false);
    told.plain(1000);
    told.round(1500, |feedback, _| {
        feedback.recovery_begins = true;
        feedback.in_flight = 90_000;
    });
    assert_eq!(told.control.cycle.state, State::Drain);
}

/// The probe after one that went too high ends as soon as the bound is in flight, and if that has cost nothing, the next one
/// follows at once. Any other one goes on beyond the bound.
#[test]
fn a_cautious_probe_ends_at_the_bound_and_is_repeated() {
    for too_high in [true, false] {
        let mut told = Told::probing();
        told.control.cycle.too_high = too_high;
        told.control.model.inflight_longterm = 1500.0;
        let full = |feedback: &mut Feedback, _: &mut RateSample| feedback.in_flight = 2600;
        told.round(1000, full);
        let cycle = &told.control.cycle;
        let expected = if too_high { State::Down } else { State::Up };
        assert_eq!((cycle.state, cycle.precautionary), (expected, too_high));
        if too_high {
            told.round(1000, full);
            let cycle = &told.control.cycle;
            assert_eq!((cycle.state, cycle.precautionary), (State::Refill, false));
        }
    }
    let mut told = Told::probing();
    told.lose(1000, 21, false);
    assert!(told.control.cycle.too_high, "and this one was");
}

/// After `ProbeRTT` the next one is 5 s away, and losses before it are forgotten.
#[test]
fn probe_rtt_begins_the_short_term_anew() {
    let mut told = Told::cruising();
    while told.control.cycle.state != State::ProbeRtt {
        told.plain(1000);
    }
    told.control.model.bw_shortterm = 9000.0;
    told.control.model.inflight_shortterm = 600.0;
    while told.control.cycle.state == State::ProbeRtt {
        told.round(500, |feedback, _| feedback.in_flight = 900);
    }
    let model = &told.control.model;
    assert_eq!(model.probe_rtt_stamp, told.now);
    assert!(model.bw_shortterm.is_infinite() && model.inflight_shortterm.is_infinite());
}

/// `HandleRestartFromIdle`: in UP it paces at the rate of the path, aggregation is counted anew, and a `ProbeRTT` whose
/// time is over ends.
#[test]
fn a_restart_paces_at_the_rate_of_the_path() {
    let mut told = Told::probing();
    told.control.on_restart(told.now + RTT, &PATH);
    assert!((told.rate() - 0.99 * 10_000.0).abs() < 1e-6, "{}", told.rate());
    assert_eq!(told.control.model.aggregation_start, told.now + RTT);
    let mut told = Told::cruising();
    while told.control.cycle.state != State::ProbeRtt {
        told.plain(1000);
    }
    told.round(500, |feedback, _| feedback.in_flight = 900);
    told.control.on_restart(told.now + Span::from_seconds(1), &PATH);
    assert_eq!(told.control.cycle.state, State::Cruise);
}

/// A time-out before which nothing was lost gives back the window that it found.
#[test]
fn a_time_out_saves_the_window() {
    let mut told = Told::cruising();
    let window = told.control.window;
    let event = Congestion { now: told.now, cause: Cause::Timeout, in_flight: 3, again: false };
    told.control.on_congestion(&event, &PATH);
    assert_eq!(told.control.window, 4.0);
    told.control.on_recovered(told.now, &PATH);
    assert_eq!(told.control.window, window);
}

/// `SaveCwnd` and `RestoreCwnd`: a window that a recovery, a time-out or `ProbeRTT` has made small takes the place of no
/// larger one, and a larger window is not taken back.
#[test]
fn the_window_that_is_saved_is_no_small_one() {
    let mut control = Told::cruising().control;
    let mut saved = |recovering, timed_out, state| {
        (control.window, control.prior_window) = (50.0, 100.0);
        (control.recovering, control.timed_out, control.cycle.state) =
            (recovering, timed_out, state);
        control.save_window();
        control.prior_window
    };
    assert_eq!(saved(false, false, State::Cruise), 50.0);
    assert_eq!(saved(true, false, State::Cruise), 100.0);
    assert_eq!(saved(false, true, State::Cruise), 100.0);
    assert_eq!(saved(false, false, State::ProbeRtt), 100.0);
    control.window = 200.0;
    control.restore_window();
    assert_eq!(control.window, 200.0);
}

/// A window counts as in use in the round trip in which it was, and in the next one.
#[test]
fn a_window_in_use_is_known_for_two_round_trips() {
    let mut control = Told::cruising().control;
    control.window = 10.0;
    control.window_used = [false; 2];
    let mut used = |starts, in_flight| {
        control.model.rounds.starts = starts;
        control.see_use(in_flight);
        control.is_window_limited()
    };
    let seen = [(true, 9), (false, 10), (false, 3), (true, 3), (false, 3), (true, 3)]
        .map(|(starts, in_flight)| used(starts, in_flight));
    assert_eq!(seen, [false, true, true, true, true, false]);
}

/// An acknowledgment without a sample ends no round trip. A rate of an application that has little to send counts only where
/// it is the largest.
#[test]
fn what_says_little_of_the_path_changes_little() {
    let mut told = Told::cruising();
    told.control.on_feedback(&Feedback::at(told.now, 1), &PATH);
    let model = &told.control.model;
    assert_eq!((model.rounds.starts, model.loss_round_starts, model.rate), (false, false, 0.0));
    let mut model = Model::new(Some(RTT));
    let limited =
        |delivered| RateSample { application_limited: true, ..RateSample::of(delivered, RTT) };
    model.hear(&RateSample::of(200, RTT));
    model.hear(&limited(300));
    assert!((model.max_bw - 3000.0).abs() < 1e-9);
    model.advance_cycle();
    model.hear(&limited(100));
    model.advance_cycle();
    assert_eq!(model.max_bw, 0.0);
}

/// What ends Startup is taken back with its filter of ten round trips, after which it is one again.
#[test]
fn a_pipe_that_was_not_full_has_a_filter_of_one_round_trip() {
    let mut model = Model::new(Some(RTT));
    model.declare_full();
    model.extra_acked.see(7.0);
    model.extra_acked.advance();
    assert_eq!((model.full_bw_reached, model.extra_acked.value()), (true, 7.0));
    model.declare_not_full();
    assert_eq!((model.full_bw_reached, model.extra_acked.value()), (false, 7.0));
    model.extra_acked.advance();
    assert_eq!(model.extra_acked.value(), 0.0);
}

/// `UpdateLatestDeliverySignals`: a round trip that ends without losses begins the next one, and the largest rate and
/// volume of all its acknowledgments bound what losses take: 2000 per second rather than 0.7 of it, 200 segments rather
/// than 70.
#[test]
fn the_largest_sample_of_a_round_trip_bounds_what_losses_take() {
    let mut model = Model::new(Some(RTT));
    let mut hear = |before, total, delivered| {
        let sample = RateSample::of(delivered, RTT);
        model.hear(&RateSample { delivered_before: before, delivered_total: total, ..sample });
        model.loss_round_starts
    };
    assert!(hear(0, 100, 200));
    assert!(!hear(99, 150, 100));
    assert!(hear(100, 200, 100));
    model.lower_bounds(100.0);
    assert!((model.bw_shortterm - 2000.0).abs() < 1e-9, "{}", model.bw_shortterm);
    assert!((model.inflight_shortterm - 200.0).abs() < 1e-9, "{}", model.inflight_shortterm);
}

/// `BBR.ExtraAckedFilterLen`: aggregation counts for ten round trips.
#[test]
fn aggregation_is_forgotten_after_ten_round_trips() {
    let mut model = Model::new(Some(RTT));
    model.declare_full();
    model.extra_acked.see(7.0);
    for round in 1..=10 {
        model.hear(&RateSample { delivered_before: 100 * round, ..RateSample::of(100, RTT) });
        assert_eq!(model.extra_acked.value(), if round < 10 { 7.0 } else { 0.0 });
    }
}

/// `UpdateMinRTT`: `ProbeRTT` is due 5 s after the first acknowledgment, whether it measures a round trip or not. A
/// smallest round trip that takes the place of another one counts for ten seconds from when it was measured, not from then.
#[test]
fn round_trips_are_as_old_as_their_measurement() {
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let mut model = Model::new(None);
    for (millis, expired) in [(6000, false), (11_000, false), (11_001, true)] {
        model.see_round_trip(at(millis), None);
        assert_eq!(model.probe_rtt_expired, expired, "at {millis} ms");
    }
    let mut model = Model::new(None);
    let seen = [(0, 50, 50), (6000, 100, 50), (10_500, 100, 100), (12_000, 120, 100)];
    for (millis, rtt, least) in seen.into_iter().chain([(16_000, 120, 100), (16_500, 120, 120)]) {
        model.see_round_trip(at(millis), Some(Span::from_millis(rtt)));
        assert_eq!(model.min_rtt, Some(Span::from_millis(least)), "at {millis} ms");
    }
}
