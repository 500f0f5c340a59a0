//! What RED promises, with numbers worked out by hand or taken from the paper.

use longfat_queue::discipline::red::discipline;
use longfat_queue::{Arrival, Backlog, Capacity, Policy, Site, Verdict};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Rate, Time};
use proptest::prelude::*;

use crate::support::{
    CODEPOINTS, Change, Fixed, PACKET, PACKET_TIME, RATE, behind, chance, changed, close, observed,
    policy, site,
};

fn red(mode: &str, changes: &[Change]) -> Box<dyn Policy> {
    let (settings, site) = (changed(&discipline(), mode, changes), site(mode));
    policy(&discipline(), &settings, &site)
}

const fn number(name: &'static str, value: f64) -> Change {
    (name, Value::Number(value))
}

const fn length(name: &'static str, value: f64) -> Change {
    (name, Value::Length(value))
}

const fn flag(name: &'static str, value: bool) -> Change {
    (name, Value::Flag(value))
}

fn average(policy: &dyn Policy) -> f64 {
    observed(policy)["average"]
}

fn probability(policy: &dyn Policy) -> f64 {
    observed(policy)["probability"]
}

#[test]
fn a_trace_worked_out_by_hand() {
    use Verdict::{Drop, Keep, Mark};
    // w_q = 1/2, so that avg ← (avg + q)/2; min_th = 2, max_th = 6, max_p = 0.2, gentle, no wait. The uniform
    // number is always 0.1. A packet is hit if p_a > 0.1.
    let mut policy = red(
        "packets",
        &[
            number("weight", 0.5),
            length("min", 2.0),
            length("max", 6.0),
            number("max_p", 0.2),
            flag("wait", false),
        ],
    );
    let mut chance = Fixed::new(0.1);
    let trace = [
        // q, avg, p_b, verdict, random numbers drawn so far
        (0, 0.0, 0.0, Keep, 0),
        (2, 1.0, 0.0, Keep, 0),
        // p_b = 0.2 (2.5 - 2)/4. The first above min_th is never hit.
        (4, 2.5, 0.025, Keep, 0),
        // p_b = 0.2 · 1.25/4, n = 2: p_a = 0.0625/0.9375 = 0.067.
        (4, 3.25, 0.0625, Keep, 1),
        // p_b = 0.2 · 3.625/4, n = 3: p_a = 0.18125/(1 - 0.3625) = 0.284.
        (8, 5.625, 0.18125, Mark, 2),
        // Above max_th: p_b = 0.2 + 0.8 · 0.8125/6, n = 1: p_a = p_b. Dropped although it could be marked.
        (8, 6.8125, 0.308_333_333_333_333_3, Drop, 3),
        // Above 2 max_th = 12 nothing is left to chance.
        (20, 13.40625, 1.0, Drop, 3),
        // p_b = 0.2 + 0.8 · 1.703125/6.
        (2, 7.703_125, 0.427_083_333_333_333_3, Drop, 4),
        // p_b = 0.2 · 2.3515625/4, but only one packet waits.
        (1, 4.351_562_5, 0.117_578_125, Keep, 4),
        // So this is the first of a new spell: p_b = 0.2 · 1.67578125/4.
        (3, 3.675_781_25, 0.083_789_062_5, Keep, 4),
        (0, 1.837_890_625, 0.0, Keep, 4),
    ];
    for (step, (q, avg, p_b, verdict, asked)) in trace.into_iter().enumerate() {
        assert_eq!(policy.on_arrival(&behind(q), &mut chance), verdict, "step {step}");
        close(average(&*policy), avg);
        close(probability(&*policy), p_b);
        assert_eq!(chance.asked, asked, "step {step}");
    }
}

#[test]
fn a_burst_moves_the_average_as_little_as_the_paper_says() {
    // Floyd & Jacobson, equation 2: w_q = 0.001, the queue grows from 0 to 100 packets, avg = 4.88 (4.887).
    let mut policy = red("packets", &[number("weight", 0.001)]);
    for q in 1..=100 {
        policy.on_arrival(&behind(q), &mut chance(1));
    }
    assert!((average(&*policy) - 4.887).abs() < 0.001, "{}", average(&*policy));
}

#[test]
fn a_new_queue_length_is_learnt_in_one_over_w_arrivals() {
    // -1/ln(1 - 0.002) = 499.5 arrivals to come 1 - 1/e = 63.212 % of the way.
    let mut policy = red("packets", &[]);
    let mut after = |arrivals| {
        for _ in 0..arrivals {
            policy.on_arrival(&behind(90), &mut chance(1));
        }
        average(&*policy) / 90.0
    };
    assert!(after(499) < 0.632_12);
    assert!(after(1) > 0.632_12);
}

/// The gaps between `count` hits where `p_b` is always 1/16.
fn gaps(wait: bool, count: usize) -> Vec<usize> {
    // avg = q = 15 is half way from 10 to 20, and max_p = 1/8.
    let mut policy = red(
        "packets",
        &[
            number("weight", 1.0),
            length("min", 10.0),
            length("max", 20.0),
            number("max_p", 0.125),
            flag("wait", wait),
        ],
    );
    let mut chance = chance(16);
    let mut gap = || {
        let hit = |_: &usize| policy.on_arrival(&behind(15), &mut chance) == Verdict::Mark;
        (1..1000).find(hit).expect("a hit comes")
    };
    // The first gap begins with the packet that is never hit.
    gap();
    (0..count).map(|_| gap()).collect()
}

/// Are `gaps` uniform on the sixteen values from `least`?
fn uniform(gaps: &[usize], least: usize) {
    let expected = gaps.len() as f64 / 16.0;
    for value in least..least + 16 {
        let found = gaps.iter().filter(|&&gap| gap == value).count() as f64;
        // Five standard deviations of a binomial count.
        let allowed = 5.0 * (expected * (1.0 - 1.0 / 16.0)).sqrt();
        assert!((found - expected).abs() < allowed, "{found} gaps of {value}, not {expected}");
    }
}

#[test]
fn without_wait_the_gaps_are_uniform_from_one_to_one_over_p() {
    let gaps = gaps(false, 160_000);
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&16)));
    uniform(&gaps, 1);
    // (1/p_b + 1)/2; the standard deviation of a mean of 160 000 gaps is 4.61/400 = 0.0115.
    let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
    assert!((mean - 8.5).abs() < 0.06, "{mean}");
}

#[test]
fn with_wait_the_gaps_are_uniform_from_one_over_p_to_twice_that() {
    let gaps = gaps(true, 160_000);
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&16), Some(&31)));
    uniform(&gaps, 16);
    // 3/(2 p_b) - 1/2
    let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
    assert!((mean - 23.5).abs() < 0.06, "{mean}");
}

#[test]
fn while_it_waits_red_draws_no_random_number() {
    let changes = [number("weight", 1.0), length("min", 10.0), length("max", 20.0)];
    let mut policy = red("packets", &changes);
    let mut chance = Fixed::new(0.5);
    // Half way from 10 to 20 p_b = 0.05. The first packet counts as one, so the 20th is the first that can be hit:
    // p_a = 0.05/(2 - 1), and with 0.5 it is not.
    for arrival in 1..20 {
        policy.on_arrival(&behind(15), &mut chance);
        assert_eq!(chance.asked, 0, "arrival {arrival}");
    }
    assert_eq!(policy.on_arrival(&behind(15), &mut chance), Verdict::Keep);
    assert_eq!(chance.asked, 1);
}

/// With `max_p` = 1 half way from 10 to 20 `p_b` is 1/2. The first packet counts as one: `p_a` is 0.5/(1 - 0.5) for the
/// second.
#[test]
fn a_hit_that_is_certain_draws_no_random_number() {
    let changes = [
        number("weight", 1.0),
        length("min", 10.0),
        length("max", 20.0),
        number("max_p", 1.0),
        flag("wait", false),
    ];
    let mut policy = red("packets", &changes);
    let mut chance = Fixed::new(0.999);
    assert_eq!(policy.on_arrival(&behind(15), &mut chance), Verdict::Keep);
    assert_eq!(policy.on_arrival(&behind(15), &mut chance), Verdict::Mark);
    assert_eq!(chance.asked, 0);
}

/// The verdict on the second packet above `min_th` with the given average, if it is chosen at random.
fn verdict_at(average: u64, changes: &[Change]) -> Verdict {
    let thresholds = [number("weight", 1.0), length("min", 10.0), length("max", 20.0)];
    let mut policy = red("packets", &[&thresholds[..], &[flag("wait", false)], changes].concat());
    policy.on_arrival(&behind(10), &mut Fixed::new(0.0));
    policy.on_arrival(&behind(average), &mut Fixed::new(0.0))
}

#[test]
fn marks_take_the_place_of_drops_up_to_max() {
    use Verdict::{Drop, Keep, Mark};
    // p_b = max_p at max_th itself, which is still marked if gentle.
    let gentle = [(9, Keep), (11, Mark), (20, Mark), (21, Drop), (39, Drop), (40, Drop)];
    for (average, verdict) in gentle {
        assert_eq!(verdict_at(average, &[]), verdict, "at {average}");
    }
    for average in [11, 20, 21, 39, 40, 1000] {
        assert_eq!(verdict_at(average, &[flag("mark_above_max", true)]), Mark, "at {average}");
        assert_eq!(verdict_at(average, &[flag("ecn", false)]), Drop, "at {average}");
        let both = [flag("ecn", false), flag("mark_above_max", true)];
        assert_eq!(verdict_at(average, &both), Drop, "at {average}");
    }
    // Not gentle: the probability is 1 from max_th on.
    let changes = [flag("gentle", false)];
    for (average, verdict) in [(9, Keep), (11, Mark), (19, Mark), (20, Drop), (21, Drop)] {
        assert_eq!(verdict_at(average, &changes), verdict, "at {average}");
    }
}

#[test]
fn the_gentle_probability_has_no_jump() {
    let p_at = |average: u64, gentle: bool| {
        let changes = [
            number("weight", 1.0),
            length("min", 100.0),
            length("max", 300.0),
            flag("gentle", gentle),
        ];
        let mut policy = red("packets", &changes);
        policy.on_arrival(&behind(average), &mut chance(1));
        probability(&*policy)
    };
    // 0.1 at 300, half way from 0.1 to 1 at 450, and 1 at 600.
    for (average, p) in [(100, 0.0), (200, 0.05), (300, 0.1), (450, 0.55), (600, 1.0), (900, 1.0)] {
        close(p_at(average, true), p);
    }
    for (average, p) in [(200, 0.05), (299, 0.0995), (300, 1.0)] {
        close(p_at(average, false), p);
    }
}

/// With `max_p` = 1 the probability is 1 from `max` on, gentle or not: the first arrival of a spell is hit, and a small packet
/// as surely as any.
#[test]
fn a_probability_of_one_spares_none() {
    let changes = [
        number("weight", 1.0),
        length("min", 10.0 * PACKET.0 as f64),
        length("max", 20.0 * PACKET.0 as f64),
        number("max_p", 1.0),
        flag("mark_above_max", true),
    ];
    for (packets, verdict) in [(19, Verdict::Keep), (20, Verdict::Mark), (30, Verdict::Mark)] {
        let mut policy = red("bytes", &changes);
        let small = Arrival { bytes: Bytes(40), ..behind(packets) };
        assert_eq!(policy.on_arrival(&small, &mut Fixed::new(0.999)), verdict, "{packets}");
    }
}

/// A packet that ends `idle` packet times of idleness, a thousand packet times into the run.
fn after_idle(idle: f64) -> Arrival {
    let now = 1000 * PACKET_TIME;
    let since = now - (idle * PACKET_TIME as f64) as u64;
    Arrival { now: Time(now), idle_since: Some(Time(since)), ..behind(0) }
}

#[test]
fn an_idle_link_forgets_as_if_packets_had_passed() {
    // w_q = 1/2, avg = 8; m = ⌊3.9⌋ = 3 halvings, and one for the arrival itself: 8/16.
    let mut policy = red("packets", &[number("weight", 0.5)]);
    policy.on_arrival(&behind(16), &mut chance(1));
    policy.on_arrival(&after_idle(3.9), &mut chance(1));
    close(average(&*policy), 0.5);
    // Less than a packet time is none.
    policy.on_arrival(&after_idle(0.999), &mut chance(1));
    close(average(&*policy), 0.25);

    // The same with the default weight: 100 · 0.998^501, from 100 = 0.002 · 50 000.
    let mut policy = red("packets", &[]);
    policy.on_arrival(&behind(50_000), &mut chance(1));
    policy.on_arrival(&after_idle(500.0), &mut chance(1));
    close(average(&*policy), 36.677_623_234_744_46);
}

/// A link that has become four times slower could have sent only ⌊15.9/4⌋ = 3 packets, and twice as fast ⌊2 · 1.9⌋ = 3.
#[test]
fn idle_time_counts_in_packets_at_the_rate_of_the_link() {
    let mut policy = red("packets", &[number("weight", 0.5)]);
    policy.on_arrival(&behind(16), &mut chance(1));
    policy.on_rate(Time(1), Rate(RATE.0 / 4));
    policy.on_arrival(&after_idle(15.9), &mut chance(1));
    close(average(&*policy), 0.5);
    policy.on_rate(Time(1), Rate(RATE.0 * 2));
    policy.on_arrival(&after_idle(1.9), &mut chance(1));
    close(average(&*policy), 0.5 / 16.0);
}

#[test]
fn an_average_that_decays_ends_at_zero() {
    // 0.5^1074 is the smallest number there is, and half of it is zero only by luck.
    let mut policy = red("packets", &[number("weight", 0.1)]);
    policy.on_arrival(&behind(50), &mut chance(1));
    for _ in 0..10_000 {
        policy.on_arrival(&behind(0), &mut chance(1));
    }
    assert_eq!(average(&*policy), 0.0);
}

#[test]
fn a_full_buffer_counts_as_a_sample_and_as_a_drop() {
    let thresholds = [number("weight", 1.0), length("min", 10.0), length("max", 20.0)];
    let mut policy = red("packets", &thresholds);
    let mut chance = Fixed::new(0.0);
    // p_b = 1/20: nineteen arrivals pass, the twentieth would be the first to be hit.
    for _ in 0..19 {
        assert_eq!(policy.on_arrival(&behind(15), &mut chance), Verdict::Keep);
    }
    policy.on_overflow(&behind(18));
    close(average(&*policy), 18.0);
    // The count restarted, at one with the next packet.
    for arrival in 1..20 {
        assert_eq!(policy.on_arrival(&behind(15), &mut chance), Verdict::Keep, "{arrival}");
    }
    assert_eq!(policy.on_arrival(&behind(15), &mut chance), Verdict::Mark);
}

/// A packet that a full buffer drops may be the first above `min_th`. It restarts the count like any drop, and the next
/// one is the first since a drop: `p_a` = `p_b` = 0.05.
#[test]
fn a_spell_may_begin_with_a_full_buffer() {
    let changes =
        [number("weight", 1.0), length("min", 10.0), length("max", 20.0), flag("wait", false)];
    for (drawn, verdict) in [(0.049, Verdict::Mark), (0.051, Verdict::Keep)] {
        let mut policy = red("packets", &changes);
        policy.on_overflow(&behind(15));
        assert_eq!(policy.on_arrival(&behind(15), &mut Fixed::new(drawn)), verdict, "{drawn}");
    }
}

#[test]
fn in_bytes_the_queue_and_the_thresholds_are_bytes() {
    // 0.1 and 0.3 bdp are 100 kB and 300 kB; two packets of 100 kB are 200 kB.
    let mut policy = red("bytes", &[number("weight", 1.0)]);
    let backlog = Backlog { packets: 2, bytes: Bytes(200_000) };
    policy.on_arrival(&Arrival { backlog, ..behind(0) }, &mut chance(1));
    close(average(&*policy), 200_000.0);
    close(probability(&*policy), 0.05);
}

#[test]
fn in_bytes_a_mark_hits_a_packet_by_its_size() {
    // Packets of 1000 and 250 bytes in turn at p_b = 1/16: the gaps are uniform in bytes, on 0 .. 16 000 without
    // wait and on 15 000 .. 31 000 with it, and end at the end of the packet hit, which is of 1000 bytes four times
    // of five. So the mean gap is 8000 + (0.8 · 1000 + 0.2 · 250)/2 = 8425 bytes, or 23 425.
    for wait in [false, true] {
        let changes = [
            number("weight", 1.0),
            length("min", 10_000.0),
            length("max", 20_000.0),
            number("max_p", 0.125),
            flag("wait", wait),
        ];
        let mut policy = red("bytes", &changes);
        let mut chance = chance(9);
        let mut hits = [0_u64; 2];
        let arrivals = 2_000_000_u64;
        for arrival in 0..arrivals {
            let small = usize::from(arrival % 2 == 1);
            let bytes = [PACKET, Bytes(250)][small];
            let verdict = policy.on_arrival(&Arrival { bytes, ..behind(15) }, &mut chance);
            hits[small] += u64::from(verdict == Verdict::Mark);
        }
        let share = hits[0] as f64 / (hits[0] + hits[1]) as f64;
        assert!((share - 0.8).abs() < 0.01, "wait = {wait}: {share}");
        let bytes = arrivals as f64 * 625.0 / (hits[0] + hits[1]) as f64;
        let expected = if wait { 23_425.0 } else { 8425.0 };
        assert!((bytes - expected).abs() < 0.01 * expected, "wait = {wait}: {bytes} B");
    }
}

#[test]
fn in_bytes_packets_of_one_size_behave_as_in_packets() {
    let run = |mode: &str| {
        let mut policy = red(mode, &[number("weight", 0.01)]);
        let mut chance = chance(3);
        let verdict = |step: u64| policy.on_arrival(&behind(step % 700), &mut chance);
        (0..100_000).map(verdict).collect::<Vec<_>>()
    };
    assert_eq!(run("packets"), run("bytes"));
}

#[test]
fn the_automatic_weight_remembers_ten_round_trips() {
    // 8 Gbit/s are a million packets of 1000 B in the second that ten round trips of 100 ms last:
    // 1 - exp(-1e-6) = 9.999995e-7. One arrival behind a million packets makes the average a million times that.
    let mut policy = red("packets", &[("weight", Value::Word("auto".into()))]);
    policy.on_arrival(&behind(1_000_000), &mut chance(1));
    close(average(&*policy), 0.999_999_500_000_166_7);
}

#[test]
fn thresholds_that_make_no_sense_are_refused() {
    let refused = |mode: &str, site: Site, changes: &[Change]| {
        let found = (discipline().check)(&changed(&discipline(), mode, changes), &site);
        found.expect_err("it makes no sense")
    };
    let here = site("packets");
    let (key, reason) = refused("packets", here, &[length("min", 300.0)]);
    assert_eq!(key, "min");
    assert!(reason.contains("300 packets"), "{reason}");
    assert_eq!(refused("packets", here, &[length("min", 0.0)]).0, "min");
    let (key, reason) = refused("packets", here, &[length("max", 1000.5)]);
    assert_eq!(key, "max");
    assert!(reason.contains("buffer (1000 packets)"), "{reason}");
    let (key, reason) = refused("bytes", site("bytes"), &[length("max", 1_000_001.0)]);
    assert_eq!(key, "max");
    assert!(reason.contains("buffer (1000000 B)"), "{reason}");

    for (mode, max) in [("packets", 1000.0), ("bytes", 1_000_000.0)] {
        let full = changed(&discipline(), mode, &[length("max", max)]);
        assert_eq!((discipline().check)(&full, &site(mode)), Ok(()), "the buffer itself");
    }
    let endless = Site { capacity: Capacity::Unbounded, ..here };
    let far = changed(&discipline(), "packets", &[length("max", 1e9)]);
    assert_eq!((discipline().check)(&far, &endless), Ok(()));
}

#[test]
fn a_slow_link_has_an_automatic_weight_too() {
    // 8 kbit/s: one packet in ten round trips, so 1 - 1/e.
    let site = Site { rate: Rate(8000), ..site("packets") };
    let settings = changed(&discipline(), "packets", &[("weight", Value::Word("auto".into()))]);
    let built = (discipline().build)(&settings, &site);
    let mut policy = built.into_policy().expect("RED is a policy");
    policy.on_arrival(&behind(100), &mut chance(1));
    close(average(&*policy), 63.212_055_882_855_77);
}

prop_compose! {
    fn arrival()(
        now in 0_u64..1 << 40,
        idle in prop::option::weighted(0.2, 0_u64..1 << 36),
        packets in 0_u64..1000,
        bytes in 40_u64..=1000,
        ecn in prop::sample::select(&CODEPOINTS[..]),
    ) -> (Arrival, bool) {
        let packets = if idle.is_some() { 0 } else { packets };
        let arrival = Arrival {
            now: Time(now),
            bytes: Bytes(bytes),
            ecn,
            backlog: Backlog { packets, bytes: Bytes(packets * bytes) },
            idle_since: idle.map(|idle| Time(now.saturating_sub(idle))),
        };
        (arrival, packets > 900)
    }
}

proptest! {
    #[test]
    fn whatever_comes(
        arrivals in prop::collection::vec(arrival(), 1..300),
        weight in prop_oneof![1e-6..1.0, Just(1.0)],
        (min, width) in (1.0..500.0, 1.0..500.0),
        max_p in 1e-6..=1.0,
        flags: [bool; 4],
        in_bytes: bool,
        seed: u64,
    ) {
        let (mode, unit) = if in_bytes { ("bytes", 1000.0) } else { ("packets", 1.0) };
        let names = ["gentle", "ecn", "mark_above_max", "wait"];
        let mut changes: Vec<_> = names.into_iter().zip(flags).map(|(n, on)| flag(n, on)).collect();
        changes.extend([
            number("weight", weight),
            number("max_p", max_p),
            length("min", min * unit),
            length("max", (min + width) * unit),
        ]);
        let mut policy = red(mode, &changes);
        let mut chance = chance(seed);
        let mut largest = 0.0_f64;
        for (arrival, overflows) in &arrivals {
            let backlog = arrival.backlog;
            largest = largest.max(if in_bytes { backlog.bytes.0 } else { backlog.packets } as f64);
            let verdict = if *overflows {
                policy.on_overflow(arrival);
                Verdict::Drop
            } else {
                policy.on_arrival(arrival, &mut chance)
            };
            let average = average(&*policy);
            prop_assert!(average >= 0.0 && average <= largest * (1.0 + 1e-12), "{average}");
            prop_assert!((0.0..=1.0).contains(&probability(&*policy)));
            prop_assert!(flags[1] || verdict != Verdict::Mark, "marked without ecn");
            if !overflows && (average < min * unit || backlog.packets <= 1) {
                prop_assert_eq!(verdict, Verdict::Keep);
            }
        }
    }
}

/// With a weight of 1 the average is the queue. Behind 20 packets, above `max` and not gentle, the first packet is dropped
/// already; behind 10 the next one may be marked, if it waits for nothing.
#[test]
fn above_the_maximum_there_is_no_first_packet() {
    let mut red = red(
        "packets",
        &[
            ("min", Value::Length(5.0)),
            ("max", Value::Length(15.0)),
            number("weight", 1.0),
            ("gentle", Value::Flag(false)),
            ("wait", Value::Flag(false)),
        ],
    );
    let mut hits = Fixed::new(0.0);
    assert_eq!(red.on_arrival(&behind(20), &mut hits), Verdict::Drop);
    assert_eq!(red.on_arrival(&behind(10), &mut hits), Verdict::Mark);
}
