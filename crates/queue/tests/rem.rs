//! What REM promises, with numbers worked out by hand.

use longfat_queue::discipline::rem::discipline;
use longfat_queue::{Arrival, Backlog, Capacity, Policy, Site, Verdict};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Ecn, Rate, Span, Time};

use crate::support::{Change, Fixed, behind, chance, changed, close, observed, policy, site};

/// γ = 0.1, α = 0.5, φ = 2, b* = 4 packets, and an interval of ten packet times: c = 10.
fn rem_at(site: &Site, target: f64, changes: &[Change]) -> Box<dyn Policy> {
    let ours = [
        ("gamma", Value::Number(0.1)),
        ("alpha", Value::Number(0.5)),
        ("phi", Value::Number(2.0)),
        ("target", Value::Length(target)),
        ("interval", Value::Span(Span(10_000_000))),
    ];
    let settings = changed(&discipline(), "packets", &[&ours[..], changes].concat());
    policy(&discipline(), &settings, site)
}

fn rem() -> Box<dyn Policy> {
    rem_at(&site("packets"), 4.0, &[])
}

/// An interval in which `arrivals` packets come, and which ends with `waiting`.
fn interval(policy: &mut dyn Policy, arrivals: u64, waiting: u64) {
    for _ in 0..arrivals {
        policy.on_arrival(&behind(0), &mut chance(1));
    }
    policy.on_ticks(1, behind(waiting).backlog);
}

fn state(policy: &dyn Policy) -> (f64, f64) {
    let values = observed(policy);
    (values["price"], values["probability"])
}

#[test]
fn a_trace_worked_out_by_hand() {
    let mut policy = rem();
    assert_eq!(policy.period(), Some(Span(10_000_000)));
    for (arrivals, waiting, price, probability) in [
        // 0.1 (0.5 (8 - 4) + 14 - 10), and 1 - 2^-0.6
        (14, 8, 0.6, 0.340_246_044_614_422),
        // Load and queue are what they should be.
        (10, 4, 0.6, 0.340_246_044_614_422),
        // 0.6 + 0.1 (0.5 · 4 + 2); 1 - 1/2
        (12, 8, 1.0, 0.5),
        // 1 + 0.1 (0.5 (-4) - 6): 0.2
        (4, 0, 0.2, 0.129_449_436_703_876),
        // Never below zero.
        (0, 0, 0.0, 0.0),
        (0, 0, 0.0, 0.0),
    ] {
        interval(&mut *policy, arrivals, waiting);
        let found = state(&*policy);
        close(found.0, price);
        close(found.1, probability);
    }
}

#[test]
fn silence_counts_as_often_as_the_clock_ticks() {
    // 40 packets in the first of four intervals, then none: 0.1 (30 - 2) = 2.8, and 1.2 less for each of three.
    let mut policy = rem();
    for _ in 0..40 {
        policy.on_arrival(&behind(0), &mut chance(1));
    }
    let nothing = Backlog::default();
    policy.on_ticks(3, nothing);
    close(state(&*policy).0, 0.4);
    // A year of it takes no longer than a minute.
    policy.on_ticks(u64::MAX, nothing);
    assert_eq!(state(&*policy), (0.0, 0.0));
}

#[test]
fn an_arrival_is_marked_with_the_probability_of_the_last_update() {
    let mut policy = rem();
    let mut draw = Fixed::new(0.0);
    // No number is drawn before there is a price.
    assert_eq!(policy.on_arrival(&behind(900), &mut draw), Verdict::Keep);
    assert_eq!(draw.asked, 0);
    interval(&mut *policy, 13, 8);
    let (_, probability) = state(&*policy);
    for (drawn, verdict) in
        [(probability - 1e-9, Verdict::Mark), (probability + 1e-9, Verdict::Keep)]
    {
        assert_eq!(policy.on_arrival(&behind(0), &mut Fixed::new(drawn)), verdict);
    }
    let incapable = Arrival { ecn: Ecn::NotEct, ..behind(0) };
    assert_eq!(policy.on_arrival(&incapable, &mut Fixed::new(0.0)), Verdict::Drop);
}

#[test]
fn prices_add_up_along_a_path() {
    // 0.6 and 1.4: a packet goes unmarked with probability 2^-0.6 · 2^-1.4 = 1/4.
    let (mut first, mut second) = (rem(), rem());
    interval(&mut *first, 14, 8);
    interval(&mut *second, 20, 12);
    close(state(&*second).0, 1.4);
    let unmarked = (1.0 - state(&*first).1) * (1.0 - state(&*second).1);
    close(unmarked, 0.25);
}

#[test]
fn load_goes_by_bytes_and_the_queue_by_the_unit_of_the_buffer() {
    // 350 acknowledgments of 40 B are 14 packets; 8000 B wait.
    let bytes = Site { capacity: Capacity::Bytes(Bytes(1_000_000)), ..site("packets") };
    let mut policy = rem_at(&bytes, 4000.0, &[]);
    for _ in 0..350 {
        policy.on_arrival(&Arrival { bytes: Bytes(40), ..behind(0) }, &mut chance(1));
    }
    policy.on_ticks(1, Backlog { packets: 200, bytes: Bytes(8000) });
    close(state(&*policy).0, 0.6);
    // Packets that found the buffer full count as load too.
    let mut policy = rem();
    for _ in 0..14 {
        policy.on_overflow(&behind(1000));
    }
    policy.on_ticks(1, behind(8).backlog);
    close(state(&*policy).0, 0.6);
}

#[test]
fn a_target_beyond_the_buffer_and_a_hasty_clock_are_refused() {
    let refused = |name, value| {
        let settings = changed(&discipline(), "packets", &[(name, value)]);
        (discipline().check)(&settings, &site("packets")).expect_err("it makes no sense")
    };
    let (key, reason) = refused("target", Value::Length(1001.0));
    assert_eq!(key, "target");
    assert!(reason.contains("(1001 packets)") && reason.contains("(1000 packets)"), "{reason}");
    let (key, reason) = refused("interval", Value::Span(Span(999_999)));
    assert_eq!(key, "interval");
    assert!(reason.contains("1 us") && reason.contains("999.999 ns"), "{reason}");
}

/// At half the rate c is 5: 9 packets are 4 too many, as 14 were.
#[test]
fn the_load_is_compared_with_the_rate_as_it_is() {
    let mut policy = rem();
    interval(&mut *policy, 14, 4);
    close(state(&*policy).0, 0.4);
    policy.on_rate(Time::ZERO, Rate(4_000_000_000));
    interval(&mut *policy, 9, 4);
    close(state(&*policy).0, 0.8);
    interval(&mut *policy, 5, 4);
    close(state(&*policy).0, 0.8);
}

/// A price of 2.8 from 40 packets, as above. Ten packets and b* waiting leave it where it is, and two intervals without any
/// take 1 each.
#[test]
fn an_interval_that_changes_nothing_may_be_followed_by_silence() {
    let mut policy = rem();
    interval(&mut *policy, 40, 0);
    close(state(&*policy).0, 2.8);
    for _ in 0..10 {
        policy.on_arrival(&behind(0), &mut chance(1));
    }
    policy.on_ticks(3, behind(4).backlog);
    close(state(&*policy).0, 0.8);
}

#[test]
fn without_ecn_it_drops() {
    let mut policy = rem_at(&site("packets"), 4.0, &[("ecn", Value::Flag(false))]);
    interval(&mut *policy, 14, 8);
    assert_eq!(policy.on_arrival(&behind(0), &mut Fixed::new(0.0)), Verdict::Drop);
}
