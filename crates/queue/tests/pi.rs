//! What PI promises, with numbers from the paper or worked out by hand.

use longfat_queue::discipline::pi::discipline;
use longfat_queue::{Arrival, Backlog, Capacity, Policy, Site, Verdict};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Ecn, Span};

use crate::support::{Fixed, behind, changed, close, observed, policy, site};

/// a = 0.01, b = 0.008 and a target of ten packets.
fn pi_at(site: &Site, target: f64) -> Box<dyn Policy> {
    let ours = [
        ("a", Value::Number(0.01)),
        ("b", Value::Number(0.008)),
        ("target", Value::Length(target)),
    ];
    let settings = changed(&discipline(), "packets", &ours);
    policy(&discipline(), &settings, site)
}

fn pi() -> Box<dyn Policy> {
    pi_at(&site("packets"), 10.0)
}

fn probability(policy: &dyn Policy) -> f64 {
    observed(policy)["probability"]
}

#[test]
fn a_trace_worked_out_by_hand() {
    let mut policy = pi();
    for (waiting, p) in [
        (20, 0.18), // 0.01 · 10 - 0.008 · (-10)
        (20, 0.2),  // + 0.1 - 0.08
        (15, 0.17), // + 0.05 - 0.08
        (10, 0.13), // + 0 - 0.04
        (10, 0.13), // at the target
        (0, 0.03),  // - 0.1 - 0
        (0, 0.01),  // - 0.1 + 0.08
        (0, 0.0),   // - 0.02, and never below zero
        (500, 1.0), // 4.9 + 0.08, and never above one
        (500, 1.0),
        (0, 0.0),
    ] {
        policy.on_ticks(1, behind(waiting).backlog);
        close(probability(&*policy), p);
    }
}

#[test]
fn equal_looks_may_be_told_together() {
    let after = |steps: &[(u64, u64)]| {
        let mut policy = pi();
        for &(count, waiting) in steps {
            policy.on_ticks(count, behind(waiting).backlog);
        }
        probability(&*policy)
    };
    // 0.18 and three times 0.02, then 0.09 - 0.08 and so on.
    close(after(&[(4, 20)]), 0.24);
    assert_eq!(after(&[(4, 20), (3, 11)]), after(&[(1, 20), (3, 20), (2, 11), (1, 11)]));
    // The first sample of an empty queue after a full one gives more than the second: both count.
    assert_eq!(after(&[(40, 20), (2, 0)]), after(&[(40, 20), (1, 0), (1, 0)]));
    assert_eq!(after(&[(40, 20), (u64::MAX, 0)]), 0.0, "a year must take no longer than a minute");
}

#[test]
fn the_defaults_are_the_controller_of_the_paper() {
    // INFOCOM 2001, its example: K = 9.64e-6, z = 0.53, 160 Hz. From an empty queue to one packet above the target and
    // back to the target, p takes the values a and then a - b = KT.
    let settings = changed(&discipline(), "packets", &[("target", Value::Length(0.0))]);
    let mut policy =
        (discipline().build)(&settings, &site("packets")).into_policy().expect("PI is a policy");
    assert_eq!(policy.period(), Some(Span(1_000_000_000_000 / 160)));
    policy.on_ticks(1, behind(1).backlog);
    let a = probability(&*policy);
    policy.on_ticks(1, behind(0).backlog);
    let difference = probability(&*policy);
    // 9.64e-6 (1/0.53 + 1/320) = 1.8219e-5, to the paper's four digits; 9.64e-6/160 = 6.025e-8, of which they leave
    // one.
    assert!((a - 1.8219e-5).abs() < 0.0005e-5, "{a}");
    assert!((difference - 6.025e-8).abs() < 0.05e-8, "{difference}");
}

#[test]
fn an_arrival_is_marked_with_the_probability_of_the_last_update() {
    let mut policy = pi();
    let mut draw = Fixed::new(0.0);
    assert_eq!(policy.on_arrival(&behind(900), &mut draw), Verdict::Keep);
    assert_eq!(draw.asked, 0, "no number is drawn before there is a probability");
    policy.on_ticks(1, behind(20).backlog);
    for (drawn, verdict) in [(0.179, Verdict::Mark), (0.181, Verdict::Keep)] {
        assert_eq!(policy.on_arrival(&behind(0), &mut Fixed::new(drawn)), verdict);
    }
    let incapable = Arrival { ecn: Ecn::NotEct, ..behind(0) };
    assert_eq!(policy.on_arrival(&incapable, &mut Fixed::new(0.0)), Verdict::Drop);
}

#[test]
fn in_bytes_a_packet_of_the_largest_size_counts_as_one() {
    let bytes = Site { capacity: Capacity::Bytes(Bytes(1_000_000)), ..site("packets") };
    let mut policy = pi_at(&bytes, 10_000.0);
    policy.on_ticks(1, Backlog { packets: 500, bytes: Bytes(20_000) });
    close(probability(&*policy), 0.18);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |name, value| {
        let settings = changed(&discipline(), "packets", &[(name, value)]);
        (discipline().check)(&settings, &site("packets")).expect_err("it makes no sense")
    };
    assert_eq!(refused("b", Value::Number(1.822e-5)).0, "b");
    assert_eq!(refused("target", Value::Length(1000.0)).0, "target", "nothing waits above it");
    assert_eq!(refused("interval", Value::Span(Span(0))).0, "interval");
}

#[test]
fn what_just_makes_sense_is_accepted() {
    for (name, value) in
        [("target", Value::Length(999.0)), ("interval", Value::Span(Span(1_000_000)))]
    {
        let settings = changed(&discipline(), "packets", &[(name, value)]);
        assert_eq!((discipline().check)(&settings, &site("packets")), Ok(()), "{name}");
    }
}

/// a = 1/4, b = 1/8 and a target of two packets: three after an empty queue make p = 1/4 + 2/8 = 1/2. Half of all numbers
/// from 0 to 1 are below a half, and a half itself is not one of them.
#[test]
fn a_number_that_is_the_probability_is_no_hit() {
    let halves =
        [("a", Value::Number(0.25)), ("b", Value::Number(0.125)), ("target", Value::Length(2.0))];
    let mut policy =
        policy(&discipline(), &changed(&discipline(), "packets", &halves), &site("packets"));
    policy.on_ticks(1, behind(3).backlog);
    assert_eq!(probability(&*policy), 0.5);
    for (drawn, verdict) in [(0.5 - f64::EPSILON / 2.0, Verdict::Mark), (0.5, Verdict::Keep)] {
        assert_eq!(policy.on_arrival(&behind(0), &mut Fixed::new(drawn)), verdict, "{drawn}");
    }
}

/// p = 0 after 15 packets, five above the target. Three looks at 13 give 0.03 - 0.04, which leaves p at 0, and then
/// 0.03 - 0.024 twice.
#[test]
fn a_first_look_that_changes_nothing_is_not_the_last() {
    let mut policy = pi();
    policy.on_ticks(1, behind(500).backlog);
    policy.on_ticks(1, behind(15).backlog);
    close(probability(&*policy), 0.0);
    policy.on_ticks(3, behind(13).backlog);
    close(probability(&*policy), 0.012);
}

#[test]
fn without_ecn_it_drops() {
    let changes = [("ecn", Value::Flag(false)), ("target", Value::Length(0.0))];
    let settings = changed(&discipline(), "packets", &changes);
    let mut policy = policy(&discipline(), &settings, &site("packets"));
    policy.on_ticks(1, behind(20).backlog);
    assert_eq!(policy.on_arrival(&behind(0), &mut Fixed::new(0.0)), Verdict::Drop);
}
