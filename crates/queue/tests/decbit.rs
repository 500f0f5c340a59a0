//! What DECbit's router promises, with numbers worked out by hand.

use longfat_queue::discipline::decbit::discipline;
use longfat_queue::{Arrival, Policy};
use longfat_units::{Bytes, RouterHeader, Span, Time};

use crate::support::{behind, chance, changed, close, observed, policy, site};

fn decbit() -> Box<dyn Policy> {
    policy(&discipline(), &changed(&discipline(), "packets", &[]), &site("packets"))
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span(micros * 1_000_000)
}

/// A packet arrives: the mean queue that it finds, and its bit.
fn arrive(policy: &mut dyn Policy, micros: u64) -> (f64, bool) {
    policy.on_arrival(&Arrival { now: at(micros), ..behind(0) }, &mut chance(1));
    let mut header = RouterHeader::default();
    policy.on_header(Bytes(1000), &mut header);
    (observed(policy)["mean_queue"], header.code == 1)
}

/// Two packets at 0 that take 10 µs each, one of them waiting for the other, and nothing until 40: an area of
/// 2 · 10 + 1 · 10 = 30 over 40 µs. From then on three packets at once.
#[test]
fn the_mean_is_over_the_last_cycle_and_the_present_one() {
    let mut policy = decbit();
    assert_eq!(arrive(&mut *policy, 0), (0.0, false), "nothing is known");
    assert_eq!(arrive(&mut *policy, 0), (0.0, false));
    policy.on_departure(at(10), 1);
    policy.on_departure(at(20), 0);
    for _ in 0..3 {
        let (mean, bit) = arrive(&mut *policy, 40);
        close(mean, 30.0 / 40.0);
        assert!(!bit);
    }
    // 3 · 5 more over 45 µs: exactly one.
    let (mean, bit) = arrive(&mut *policy, 45);
    close(mean, 1.0);
    assert!(bit, "one is enough");
    // 4 · 5 more; then one leaves.
    let (mean, _) = arrive(&mut *policy, 50);
    close(mean, (45.0 + 20.0) / 50.0);
    policy.on_departure(at(50), 4);
    policy.on_departure(at(60), 0);
    // The cycle from 40 to 100 has 15 + 20 + 40 over 60 µs, and the first one is forgotten.
    let (mean, bit) = arrive(&mut *policy, 100);
    close(mean, 75.0 / 60.0);
    assert!(bit);
    policy.on_departure(at(110), 0);
    // One packet in ten of a hundred microseconds.
    let (mean, bit) = arrive(&mut *policy, 200);
    close(mean, 0.1);
    assert!(!bit);
}

/// Nothing is known of a link before its first packet. Two come at one second, and the next one 10 µs later finds a mean of
/// 2 · 10 over 10 µs, whatever was before.
#[test]
fn the_time_before_the_first_packet_belongs_to_no_cycle() {
    let mut policy = decbit();
    let second = 1_000_000;
    assert_eq!(arrive(&mut *policy, second), (0.0, false));
    arrive(&mut *policy, second);
    let (mean, bit) = arrive(&mut *policy, second + 10);
    close(mean, 2.0);
    assert!(bit);
    policy.on_departure(at(second + 10), 2);
    policy.on_departure(at(second + 30), 0);
    // An area of 2 · 10 + 2 · 20 in the first cycle, of 40 µs.
    let (mean, bit) = arrive(&mut *policy, second + 40);
    close(mean, 60.0 / 40.0);
    assert!(bit);
}

/// A router never clears the bit.
#[test]
fn a_bit_that_is_set_stays() {
    let mut policy = decbit();
    arrive(&mut *policy, 0);
    let mut header = RouterHeader { code: 1, ..RouterHeader::default() };
    policy.on_header(Bytes(1000), &mut header);
    assert_eq!(header.code, 1);
}

/// Nor does it lower a code from elsewhere that says more than the bit: two packets for 10 µs are a mean of two.
#[test]
fn a_larger_code_stays() {
    let mut policy = decbit();
    arrive(&mut *policy, 0);
    arrive(&mut *policy, 0);
    assert!(arrive(&mut *policy, 10).1);
    let mut header = RouterHeader { code: 3, ..RouterHeader::default() };
    policy.on_header(Bytes(1000), &mut header);
    assert_eq!(header.code, 3);
}
