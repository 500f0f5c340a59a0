//! Paths that are made by hand: a link of so many packets per second, and which of them get lost.

use longfat_units::parameter::Setting;

use super::*;

const RTT: Span = Span::from_millis(100);
const PATH: Path = Path { rtt: RTT, base_rtt: RTT };
/// Mbit/s of a packet of 1500 bytes per second.
const MEGABITS: f64 = 0.012;

/// A flow with the parameters changed like this.
fn flow(changes: &[(&'static str, Setting)], chance: u64) -> Udt {
    let mut settings = controller().defaults();
    for (name, value) in changes {
        settings.set(*name, value.clone());
    }
    Udt::new(&settings, &Start { window: Segments(16.0), chance, ..Start::default() })
}

/// A flow that knows its link of so many Mbit/s, sends at this rate, and has sent 1000 segments.
fn known(changes: &[(&'static str, Setting)], link: f64, rate: f64) -> Udt {
    let mut flow = flow(changes, 1);
    let capacity = link / MEGABITS;
    flow.rate = Some(rate / MEGABITS);
    (flow.capacity, flow.speed) = (Some(capacity), Some(capacity));
    flow.new = 1000;
    flow
}

fn cautious(cautious: bool) -> [(&'static str, Setting); 1] {
    [("cautious", Setting::Flag(cautious))]
}

/// Its rate in Mbit/s.
fn rate(flow: &Udt) -> f64 {
    flow.rate.expect("it has one") * MEGABITS
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// An acknowledgment after so many milliseconds that says nothing of arrivals.
fn ack(millis: u64) -> Feedback {
    Feedback { rtt: Some(RTT), ..Feedback::at(at(millis), 1) }
}

/// Acknowledgments every 10 ms, so many of them, from that time on.
fn intervals(flow: &mut Udt, from: u64, count: u64) {
    (0..count).for_each(|k| flow.on_feedback(&ack(from + 10 * k), &PATH));
}

fn lose(flow: &mut Udt, segments: &[u64]) {
    for &segment in segments {
        let lost = Lost {
            now: Time::ZERO,
            segment,
            sent: Time::ZERO,
            in_flight: 0,
            lost: 0,
            delivered_total: 0,
            application_limited: false,
        };
        flow.on_lost(&lost, &PATH);
    }
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs(), "{found} is not {expected}");
}

/// The paper's table, with packets of 1500 bytes: what 10 ms add, as Mbit/s per second.
#[test]
fn it_adds_by_the_power_of_ten_of_what_is_left() {
    let growth = [
        (9999.0, 1200.0),
        (1001.0, 1200.0),
        (999.0, 120.0),
        (101.0, 120.0),
        (99.0, 12.0),
        (11.0, 12.0),
        (9.9, 1.2),
        (0.5, 1.2),
        (0.01, 1.2),
        (-50.0, 1.2),
    ];
    for (left, per_second) in growth {
        let mut flow = known(&[], 20_000.0, 20_000.0 - left);
        let before = rate(&flow);
        intervals(&mut flow, 10, 1);
        assert!((rate(&flow) - before - per_second / 100.0).abs() < 1e-6, "{left} Mbit/s left");
    }
    // With the draft's least increase: a byte's worth of a packet in 10 ms, 0.08 Mbit/s per second.
    let least = [("least_increase", Setting::Number(1.0 / 1500.0))];
    for (left, per_second) in [(5.0, 1.2), (0.5, 0.12), (0.05, 0.08), (-50.0, 0.08)] {
        let mut flow = known(&least, 20_000.0, 20_000.0 - left);
        let before = rate(&flow);
        intervals(&mut flow, 10, 1);
        assert!((rate(&flow) - before - per_second / 100.0).abs() < 1e-6, "{left} Mbit/s left");
    }
}

/// What is left falls to a tenth in 7.5 s, on every link of 10^k bit/s: 0.9 of 1 Gbit/s at 120 Mbit/s per second.
#[test]
fn nine_tenths_of_what_is_left_take_seven_and_a_half_seconds() {
    for link in [100.0, 1000.0, 10_000.0, 100_000.0] {
        let mut flow = known(&[], link, 1e-6 * link);
        intervals(&mut flow, 10, 749);
        assert!(rate(&flow) < 0.9 * link, "{}", rate(&flow));
        intervals(&mut flow, 7500, 1);
        assert!(rate(&flow) >= 0.9 * link, "{}", rate(&flow));
        // The next tenth: as long again.
        intervals(&mut flow, 7510, 740);
        assert!(rate(&flow) < 0.99 * link, "{}", rate(&flow));
        intervals(&mut flow, 14_910, 12);
        assert!(rate(&flow) >= 0.99 * link, "{}", rate(&flow));
    }
}

#[test]
fn a_gap_takes_a_ninth_and_one_increase() {
    let mut flow = known(&[], 1000.0, 900.0);
    lose(&mut flow, &[1000, 1001, 1002]);
    intervals(&mut flow, 10, 1);
    assert_near(rate(&flow), 800.0);
    // What is left counts as a ninth of the link at most until it is back, 111 Mbit/s: the same power of ten as 200.
    intervals(&mut flow, 20, 1);
    assert_near(rate(&flow), 801.2);
}

/// 300 of 3000 Mbit/s, and 2700 left: 12 Mbit/s in 10 ms; but a ninth of the link, 333, is of the power below.
#[test]
fn it_is_cautious_until_the_rate_before_the_gap_is_back() {
    for (changes, growth) in [(cautious(true), 1.2), (cautious(false), 12.0)] {
        let mut flow = known(&changes, 3000.0, 337.5);
        lose(&mut flow, &[1000]);
        intervals(&mut flow, 10, 2);
        assert_near(rate(&flow), 300.0 + growth);
        // Above 337.5 there is no caution.
        flow.rate = Some(338.0 / MEGABITS);
        intervals(&mut flow, 30, 1);
        assert_near(rate(&flow), 350.0);
    }
}

/// In the first period r is 1, since no gap has been counted before: the first gap and four more count, whatever follows.
#[test]
fn five_gaps_of_a_period_count_at_the_most() {
    for (gaps, count) in [(1, 1), (2, 2), (5, 5), (6, 5), (50, 5)] {
        let mut flow = known(&[], 1000.0, 900.0);
        // All of them below 1000, but for the first: every second segment.
        let lost: Vec<u64> = std::iter::once(1000).chain((1..gaps).map(|k| 2 * k)).collect();
        lose(&mut flow, &lost);
        intervals(&mut flow, 10, 1);
        assert_near(rate(&flow), (0..count).fold(900.0, |rate, _| rate * 8.0 / 9.0));
    }
}

/// A gap among what had left before the last reduction is of the same period, another one begins the next.
#[test]
fn a_period_begins_above_what_had_left() {
    let mut flow = known(&[], 1000.0, 900.0);
    lose(&mut flow, &[1000]);
    intervals(&mut flow, 10, 1);
    let began = flow.period;
    assert_eq!((began.gaps, began.left), (1, 1000));
    flow.new = 1200;
    lose(&mut flow, &[990]);
    intervals(&mut flow, 20, 1);
    assert_eq!((flow.period.gaps, flow.period.left), (2, 1200), "and it reduced the rate");
    lose(&mut flow, &[1199]);
    intervals(&mut flow, 30, 1);
    assert_eq!(flow.period.gaps, 3);
    lose(&mut flow, &[1205]);
    intervals(&mut flow, 40, 1);
    assert_eq!(flow.period.gaps, 1, "another period");
}

/// ⌈7/8 a + 1/8 g⌉ gaps per period in the mean: with five in each 1, 2, 3, 4, 5, 5, … r is evenly spread over 1 to 5, and of
/// the four gaps after the first every r-th counts: 4, 2, 1, 1 and 1 of them, since the first has the number 1.
#[test]
fn the_spread_of_reductions_follows_from_the_gaps_of_a_period() {
    let mut seen = [0_u32; 5];
    for chance in 0..4000 {
        let mut flow = flow(&[], chance);
        flow.rate = Some(1e5);
        for period in 1..=8 {
            flow.new = 1000 * period;
            let first = flow.new;
            let before = flow.rate.expect("it has one");
            lose(&mut flow, &[first, 1, 3, 5, 7, 9, 11]);
            flow.answer(RTT);
            if period == 8 {
                let taken = before / flow.rate.expect("it has one");
                let mut left = (1..=5).map(|count| (0..count).fold(1.0, |kept, _| kept * 1.125));
                seen[left.position(|it| (it - taken).abs() < 1e-9).expect("ninths")] += 1;
            }
        }
        assert_near(flow.period.average, 5.0);
    }
    // With the first: r = 5, 4 and 3 have two, 2 has three, 1 has five.
    assert_eq!((seen[0], seen[3]), (0, 0), "{seen:?}");
    for (count, share) in [(1, 0.6), (2, 0.2), (4, 0.2)] {
        let found = f64::from(seen[count]) / 4000.0;
        assert!((found - share).abs() < 0.03, "{seen:?}");
    }
}

/// So many segments that leave in groups of this size, a millisecond after each other. What leaves together arrives 12 us
/// apart, as behind 1 Gbit/s.
fn arrive(flow: &mut Udt, count: u64, group: u64) {
    for k in 0..count {
        let sent = at(k / group);
        let waited = Span(12_000_000 * (k % group));
        let heard = Feedback {
            rtt: Some(RTT + waited),
            one_way_delay: Some(RTT / 2 + waited),
            ..Feedback::at(sent + RTT + waited, 1)
        };
        flow.on_feedback(&heard, &PATH);
    }
}

/// One by one they arrive 1000 times a second: that is the rate after the first gap, which takes nothing more of it. The next
/// one does.
#[test]
fn the_start_ends_with_the_speed_of_arrivals() {
    let mut flow = flow(&[], 1);
    assert_eq!((flow.pacing(), flow.window()), (Pacing::Unpaced, Segments(16.0)));
    arrive(&mut flow, 40, 1);
    assert_eq!((flow.pacing(), flow.window()), (Pacing::Unpaced, Segments(56.0)), "one for each");
    assert_eq!((flow.capacity, flow.threshold()), (None, None), "nothing left together");
    lose(&mut flow, &[60]);
    flow.on_feedback(&ack(150), &PATH);
    assert_near(flow.rate.expect("it has one"), 1000.0 + 0.01 / 0.01);
    assert_eq!(flow.threshold(), Some(Segments(56.0)));
    lose(&mut flow, &[62]);
    flow.on_feedback(&ack(155), &PATH);
    assert_near(flow.rate.expect("it has one"), 1001.0 * 8.0 / 9.0);
}

/// In pairs, half of the intervals are 12 us and half 988: too few are near either. The window over RTT + T is the rate, and
/// what ended the start counts.
#[test]
fn the_start_ends_with_the_window_where_no_speed_is_known() {
    let mut flow = flow(&[], 1);
    arrive(&mut flow, 40, 2);
    assert_eq!(flow.speed, None);
    lose(&mut flow, &[60]);
    flow.answer(RTT);
    assert_near(flow.rate.expect("it has one"), 56.0 / 0.11 * 8.0 / 9.0);
    assert_near(flow.capacity.expect("there are pairs") * MEGABITS, 1000.0);
}

/// In groups of four most arrive 12 us apart. At most 83 333 in RTT + T, and 16 more, are in flight: 9183.
#[test]
fn the_window_holds_what_arrives_in_a_round_trip_and_an_interval() {
    let mut flow = flow(&[], 1);
    flow.rate = Some(1e5);
    arrive(&mut flow, 80, 4);
    assert!((flow.window - (83_333.3 * 0.11 + 16.0)).abs() < 1.0, "{}", flow.window);
}

/// The start ends with 416 segments, and 126 are the window of 1000 in a second: it would be taken for another start.
#[test]
fn the_threshold_is_not_above_the_window_once_the_start_is_over() {
    let mut flow = flow(&[], 1);
    arrive(&mut flow, 400, 1);
    lose(&mut flow, &[420]);
    flow.on_feedback(&ack(520), &PATH);
    assert!((flow.window - (1000.0 * 0.11 + 16.0)).abs() < 1e-6, "{}", flow.window);
    assert_eq!(flow.threshold(), Some(Segments(flow.window)));
}

#[test]
fn the_start_ends_at_a_threshold() {
    let threshold = Some(Segments(20.0));
    let start = Start { window: Segments(16.0), threshold, ..Start::default() };
    let mut flow = Udt::new(&controller().defaults(), &start);
    intervals(&mut flow, 0, 4);
    assert_eq!((flow.window(), flow.pacing()), (Segments(20.0), Pacing::Unpaced));
    intervals(&mut flow, 40, 1);
    assert_eq!(flow.window(), Segments(20.0));
    assert_near(flow.rate.expect("it has one"), 20.0 / 0.11 + 1.0);
}

#[test]
fn a_time_out_ends_the_start_and_changes_no_rate() {
    let timeout = Congestion { now: at(500), cause: Cause::Timeout, in_flight: 16, again: false };
    let mut starting = flow(&[], 1);
    lose(&mut starting, &[0, 2, 4]);
    starting.on_congestion(&timeout, &PATH);
    assert_near(starting.rate.expect("it has one"), 16.0 / 0.11);
    let mut flow = known(&[], 1000.0, 900.0);
    lose(&mut flow, &[1000, 1002]);
    flow.on_congestion(&timeout, &PATH);
    assert_near(rate(&flow), 900.0);
}

#[test]
fn a_mark_takes_a_ninth() {
    let mut flow = known(&[], 1000.0, 900.0);
    let mark = Congestion { now: at(10), cause: Cause::Mark, in_flight: 1000, again: false };
    flow.on_congestion(&mark, &PATH);
    assert_near(rate(&flow), 800.0);
}

#[test]
fn a_rate_that_nobody_uses_does_not_rise() {
    for limited in [Limited::Application, Limited::Receiver] {
        let mut flow = known(&[], 1000.0, 900.0);
        flow.on_feedback(&Feedback { limited, ..ack(10) }, &PATH);
        assert_near(rate(&flow), 900.0);
    }
}

/// Of departures 16, 32, … the next one follows at once.
#[test]
fn every_sixteenth_packet_has_the_next_at_its_heels() {
    let mut flow = known(&[], 1000.0, 900.0);
    let sent = Sent { now: at(1), again: false, in_flight: 10 };
    let mut unpaced = Vec::new();
    for departure in 0..40 {
        if flow.pacing() == Pacing::Unpaced {
            unpaced.push(departure);
        }
        flow.on_sent(&Sent { again: departure % 2 == 0, ..sent }, &PATH);
    }
    assert_eq!(unpaced, [0, 16, 32]);
    assert_eq!(flow.new, 1020, "retransmissions are no new segments");
}

/// The clock does not run after itself: acknowledgments 7 ms apart bring an increase every 10 ms in the mean, those 25 ms apart
/// one each.
#[test]
fn increases_are_an_interval_apart() {
    for (apart, count, increases) in [(7, 100, 70.0), (25, 40, 40.0)] {
        let mut flow = known(&[], 1000.0, 1000.0);
        (1..=count).for_each(|k| flow.on_feedback(&ack(apart * k), &PATH));
        let found = (rate(&flow) - 1000.0) / 0.012;
        assert!((found - increases).abs() < 1.01, "{found} increases");
    }
}
