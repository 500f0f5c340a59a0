//! What VCP's router promises, with numbers worked out by hand.

use longfat_queue::discipline::vcp::discipline;
use longfat_queue::{Arrival, Backlog, Policy};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Rate, RouterHeader, Span, Time};

use crate::support::{Change, behind, chance, changed, close, observed, policy, site};

fn vcp(changes: &[Change]) -> Box<dyn Policy> {
    policy(&discipline(), &changed(&discipline(), "packets", changes), &site("packets"))
}

/// The code of a packet that arrives with `code`.
fn told(policy: &mut dyn Policy, code: u8) -> u8 {
    let mut header = RouterHeader { code, ..RouterHeader::default() };
    policy.on_header(Bytes(1000), &mut header);
    header.code
}

/// The code after an interval in which so many bytes have arrived at the rest of one, with a queue that is `waiting` at
/// ten of twenty samples.
fn code_after(policy: &mut dyn Policy, bytes: u64, waiting: u64) -> u8 {
    let arrival = Arrival { bytes: Bytes(bytes), ..behind(0) };
    policy.on_arrival(&arrival, &mut chance(1));
    policy.on_ticks(10, Backlog { packets: 1, bytes: Bytes(waiting) });
    policy.on_ticks(10, Backlog::default());
    told(policy, 0)
}

/// At 8 Gbit/s a millisecond holds 10⁶ bytes, of which γ = 0.98 may be used: 980 000 B are a load of 1, 784 000 of
/// 0.8. A queue of 40 000 B over half of the interval is one of 20 000 on average, and counts half: 10 000 B.
#[test]
fn the_code_is_that_of_the_load_over_an_interval() {
    let mut policy = vcp(&[("interval", Value::Span(Span::from_millis(1)))]);
    assert_eq!(policy.period(), Some(Span(50_000_000)), "twenty samples");
    assert_eq!(told(&mut *policy, 0), 1, "before the first interval is over");
    for (bytes, waiting, code) in [
        (0, 0, 1),
        (783_999, 0, 1),
        (784_000, 0, 2),
        (773_999, 40_000, 1),
        (774_000, 40_000, 2),
        (979_999, 0, 2),
        (980_000, 0, 3),
        (970_000, 40_000, 3),
        (100_000, 40_000, 1),
    ] {
        assert_eq!(code_after(&mut *policy, bytes, waiting), code, "{bytes} B, {waiting} B wait");
    }
    close(observed(&*policy)["load"], 110_000.0 / 980_000.0);
}

#[test]
fn the_most_loaded_link_is_heard() {
    let mut policy = vcp(&[("interval", Value::Span(Span::from_millis(1)))]);
    code_after(&mut *policy, 800_000, 0);
    assert_eq!([0, 1, 2, 3].map(|code| told(&mut *policy, code)), [2, 2, 2, 3]);
}

/// Samples in one call or in many give the same, however long nothing arrives.
#[test]
fn a_long_silence_is_passed_over() {
    let adapting = [("gamma", Value::Word("auto".into()))];
    for (changes, counts) in [
        (&[][..], &[0, 1, 59, 60, 61, 119, 1234][..]),
        (&adapting, &[1, 200, 5000, 180_400, 180_800, 181_001, 200_123, 1_234_567]),
    ] {
        for &count in counts {
            let mut states = Vec::new();
            for calls in [1, count.max(1)] {
                let mut policy = vcp(changes);
                policy.on_arrival(&behind(0), &mut chance(1));
                policy.on_ticks(7, Backlog::default());
                let backlog = Backlog { packets: 1, bytes: Bytes(1000) };
                (0..calls).for_each(|_| policy.on_ticks(count / calls, backlog));
                states.push(format!("{policy:?}"));
            }
            assert_eq!(states[0], states[1], "{count} samples");
        }
    }
}

/// At 8 Gbit/s, 0.8 of ten, the goal is 0.99 and a step 0.001. γ begins at 0.95; ten intervals of 980 000 of 10⁶ bytes
/// raise it, ten of 991 000 lower it, and a queue counts half. At 800 Mbit/s the goal is 0.985 and a step 0.002, below
/// 0.66 Gbit/s 0.975 and 0.003. An empty link leads to 0.999 and an overload to 0.1, both of which stay.
#[test]
fn an_aim_that_adapts_goes_for_the_mean_that_the_rate_asks_for() {
    let millisecond = ("interval", Value::Span(Span::from_millis(1)));
    let mut policy = vcp(&[millisecond, ("gamma", Value::Word("auto".into()))]);
    let mut gamma = |rate: u64, bytes: u64, waiting: u64, intervals: u64| {
        policy.on_rate(Time::ZERO, Rate(rate));
        (0..intervals).for_each(|_| _ = code_after(&mut *policy, bytes, waiting));
        observed(&*policy)["gamma"]
    };
    close(gamma(8_000_000_000, 980_000, 0, 9), 0.95);
    close(gamma(8_000_000_000, 980_000, 0, 1), 0.951);
    close(gamma(8_000_000_000, 991_000, 0, 10), 0.95);
    close(gamma(8_000_000_000, 989_000, 8_000, 10), 0.949);
    close(gamma(800_000_000, 98_400, 0, 10), 0.951);
    close(gamma(660_000_000, 81_300, 0, 10), 0.949);
    close(gamma(659_999_999, 80_300, 0, 10), 0.952);
    close(gamma(8_000_000_000, 0, 0, 1000), 0.999);
    close(gamma(8_000_000_000, 2_000_000, 0, 10_000), 0.1);
}

/// γ rises below the goal and falls above it. Of ten intervals one with 9.9 times 10⁶ bytes, and
/// nine without any, are a mean of 0.99: that is the goal itself, and γ stays where it is.
#[test]
fn at_its_goal_an_aim_rests() {
    let millisecond = ("interval", Value::Span(Span::from_millis(1)));
    for (bytes, gamma) in [(9_899_999, 0.951), (9_900_000, 0.95), (9_900_001, 0.949)] {
        let mut policy = vcp(&[millisecond.clone(), ("gamma", Value::Word("auto".into()))]);
        code_after(&mut *policy, bytes, 0);
        (0..9).for_each(|_| _ = code_after(&mut *policy, 0, 0));
        close(observed(&*policy)["gamma"], gamma);
    }
}

/// Between the bounds of γ, 0.999 and 0.1, are 899 steps of 0.001. A queue of 4 MB counts half, which is a load of 2, and
/// leads to the lower one; without it the link is empty. A million samples in one call are 5000 times ten intervals.
#[test]
fn a_long_silence_leads_from_one_bound_to_the_other() {
    let adapting =
        [("interval", Value::Span(Span::from_millis(1))), ("gamma", Value::Word("auto".into()))];
    let mut policy = vcp(&adapting);
    for (waiting, gamma) in [(0, 0.999), (4_000_000, 0.1), (0, 0.999)] {
        policy.on_ticks(1_000_000, Backlog { packets: 1, bytes: Bytes(waiting) });
        close(observed(&*policy)["gamma"], gamma);
    }
}

#[test]
fn an_interval_has_room_for_its_samples() {
    let check = |interval| {
        let settings = changed(&discipline(), "packets", &[("interval", Value::Span(interval))]);
        (discipline().check)(&settings, &site("packets"))
    };
    assert_eq!(check(Span(20_000_000)), Ok(()));
    let (key, reason) = check(Span(19_999_999)).expect_err("too short");
    assert_eq!(key, "interval");
    assert!(reason.contains("at least 20 us"), "{reason}");
}

/// At 4 Gbit/s a load of 0.8 is half of what it is at 8 Gbit/s, 392 000 B, and one of 1 is 490 000 B; the interval in
/// which the rate changes is measured by the new one.
#[test]
fn the_load_is_that_of_the_rate_at_the_end_of_an_interval() {
    let mut policy = vcp(&[("interval", Value::Span(Span::from_millis(1)))]);
    assert_eq!(code_after(&mut *policy, 783_999, 0), 1);
    policy.on_arrival(&Arrival { bytes: Bytes(392_000), ..behind(0) }, &mut chance(1));
    policy.on_rate(Time::ZERO, Rate(4_000_000_000));
    for (bytes, code) in [(0, 2), (391_999, 1), (489_999, 2), (490_000, 3)] {
        assert_eq!(code_after(&mut *policy, bytes, 0), code, "{bytes} B");
    }
    policy.on_rate(Time::ZERO, Rate(8_000_000_000));
    assert_eq!(code_after(&mut *policy, 490_000, 0), 1);
}

/// What finds the buffer full is load like any other.
#[test]
fn what_overflows_counts() {
    let mut policy = vcp(&[("interval", Value::Span(Span::from_millis(1)))]);
    policy.on_overflow(&Arrival { bytes: Bytes(784_000), ..behind(0) });
    policy.on_ticks(20, Backlog::default());
    assert_eq!(told(&mut *policy, 0), 2);
}
