//! What AVQ promises, with numbers worked out by hand.

use longfat_queue::discipline::avq::discipline;
use longfat_queue::{Arrival, Capacity, Policy, Site, Verdict};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Ecn, Rate, Time};

use crate::support::{
    Change, PACKET, PACKET_TIME, behind, chance, changed, close, observed, policy, site,
};

fn avq_at(site: &Site, changes: &[Change]) -> Box<dyn Policy> {
    let settings = changed(&discipline(), "packets", changes);
    policy(&discipline(), &settings, site)
}

fn avq(changes: &[Change]) -> Box<dyn Policy> {
    avq_at(&site("packets"), changes)
}

const fn number(name: &'static str, value: f64) -> Change {
    (name, Value::Number(value))
}

/// A packet of the largest size, so many packet times into the run.
fn at(packet_times: f64) -> Arrival {
    Arrival { now: Time((packet_times * PACKET_TIME as f64).round() as u64), ..behind(0) }
}

/// The virtual capacity as a share of the rate, 8 Gbit/s, and the virtual queue in bytes.
fn state(policy: &dyn Policy) -> (f64, f64) {
    let values = observed(policy);
    (values["virtual_capacity"] / 8e9, values["virtual_queue"])
}

#[test]
fn a_trace_worked_out_by_hand() {
    use Verdict::{Drop, Keep, Mark};
    // α = 10⁵ /s, so that a packet takes α · 1000 B = 0.1 C from C̃; γ = 0.9, so that a packet time of a microsecond
    // gives 0.09 C. B is two packets. C is 1000 B per packet time.
    let limit = ("limit", Value::Length(2.0));
    let mut policy = avq(&[number("alpha", 1e5), number("utilisation", 0.9), limit]);
    let trace = [
        // packet times, ECN field, verdict, C̃/C and VQ in bytes afterwards
        (0.0, Ecn::Ect0, Keep, 0.7, 1000.0),
        // VQ drains at 0.7 C: 300, and the packet.
        (1.0, Ecn::Ect0, Keep, 0.69, 1300.0),
        // 1300 - 0.69 · 500 = 955; C̃ 0.69 + 0.045 - 0.1.
        (1.5, Ecn::Ect0, Keep, 0.635, 1955.0),
        // No room for a second one at the same instant: it is marked, counts as load, and is not added.
        (1.5, Ecn::Ect0, Mark, 0.535, 1955.0),
        // 1955 - 0.535 · 500 = 1687.5 leaves no room either. A dropped packet is not load: C̃ 0.535 + 0.045.
        (2.0, Ecn::NotEct, Drop, 0.58, 1687.5),
        // 1687.5 - 0.58 · 2000 = 527.5; C̃ 0.58 + 0.18 - 0.1.
        (4.0, Ecn::Ect0, Keep, 0.66, 1527.5),
        // After twenty idle packet times C̃ is full, at C, and VQ empty.
        (24.0, Ecn::NotEct, Keep, 0.9, 1000.0),
    ];
    for (time, ecn, verdict, capacity, queue) in trace {
        let arrival = Arrival { ecn, ..at(time) };
        assert_eq!(policy.on_arrival(&arrival, &mut chance(1)), verdict, "at {time}");
        let found = state(&*policy);
        close(found.0, capacity);
        close(found.1, queue);
    }
}

#[test]
fn the_virtual_capacity_follows_the_excess_load() {
    // dC̃/dt = α (γ C - λ) with α = 0.15 /s and γ = 0.98, under a load that lasts two seconds from C̃ = 0.8 C.
    let after_two_seconds = |load: f64| {
        let mut policy = avq(&[]);
        let packets = (load * 2e6) as u64;
        for packet in 0..packets {
            policy.on_arrival(&at(packet as f64 / load), &mut chance(1));
        }
        state(&*policy).0
    };
    for (load, capacity) in [
        (1.0, 0.794), // 0.8 - 0.15 · 0.02 · 2
        (0.98, 0.8),  // λ = γ C
        (0.68, 0.89), // 0.8 + 0.15 · 0.3 · 2
        (0.18, 1.0),  // no more than C
    ] {
        let found = after_two_seconds(load);
        assert!((found - capacity).abs() < 1e-6, "{found} under {load}, not {capacity}");
    }
}

#[test]
fn without_ecn_what_has_no_room_is_dropped() {
    let limit = ("limit", Value::Length(3.0));
    let mut policy = avq(&[limit, ("ecn", Value::Flag(false))]);
    let verdicts: Vec<Verdict> =
        (0..4).map(|_| policy.on_arrival(&at(0.0), &mut chance(1))).collect();
    assert_eq!(verdicts, [Verdict::Keep, Verdict::Keep, Verdict::Keep, Verdict::Drop]);
}

#[test]
fn a_full_buffer_is_no_load() {
    let mut policy = avq(&[]);
    policy.on_arrival(&at(0.0), &mut chance(1));
    let before = state(&*policy);
    policy.on_overflow(&at(0.0));
    assert_eq!(state(&*policy), before);
    // But its time counts: 1000 B drain in a bit more than a packet time at 0.8 C.
    policy.on_overflow(&at(1.25));
    close(state(&*policy).1, 1000.0 - 1.25 * 1000.0 * before.0);
}

#[test]
fn the_limit_is_in_the_unit_of_the_buffer_and_the_queue_in_bytes() {
    // Two packets of 1000 B hold fifty acknowledgments of 40 B.
    let bytes = Site { capacity: Capacity::Bytes(Bytes(5000)), ..site("packets") };
    let two_packets = [(site("packets"), 2.0), (bytes, 2000.0)];
    for (site, limit) in two_packets {
        let mut policy = avq_at(&site, &[("limit", Value::Length(limit))]);
        for _ in 0..50 {
            let small = Arrival { bytes: Bytes(40), ..at(0.0) };
            assert_eq!(policy.on_arrival(&small, &mut chance(1)), Verdict::Keep);
        }
        assert_eq!(
            policy.on_arrival(&Arrival { bytes: Bytes(1), ..at(0.0) }, &mut chance(1)),
            Verdict::Mark
        );
    }
}

#[test]
fn a_limit_below_a_packet_is_refused() {
    let limit = changed(&discipline(), "packets", &[("limit", Value::Length(0.5))]);
    let (key, reason) = (discipline().check)(&limit, &site("packets")).expect_err("it marks all");
    assert_eq!(key, "limit");
    assert!(reason.contains("0.5 packets") && reason.contains(&PACKET.to_string()), "{reason}");
}

/// The same parameters as in the trace above. A packet leaves C̃ at 0.7 C and VQ at 1000 B. At 1 packet time, when C̃
/// has got to 0.79 C and VQ to 300 B, C is halved, and C̃ with it is at most 0.5 C. A packet at 2: VQ 1000 B, C̃ 0.5 C,
/// where it would have grown by 0.045 C, less 0.1 C. At 4 it is 0.4 C + 2 · 0.045 C and VQ 200 B, and C is what it was.
/// A packet at 5 finds an empty VQ, and C̃ is 0.49 C + 0.09 C - 0.1 C.
#[test]
fn the_virtual_capacity_stays_within_a_rate_that_changes() {
    let limit = ("limit", Value::Length(2.0));
    let mut policy = avq(&[number("alpha", 1e5), number("utilisation", 0.9), limit]);
    let arrive = |policy: &mut dyn Policy, time, capacity, queue| {
        assert_eq!(policy.on_arrival(&at(time), &mut chance(1)), Verdict::Keep, "at {time}");
        let found = state(policy);
        close(found.0, capacity);
        close(found.1, queue);
    };
    arrive(&mut *policy, 0.0, 0.7, 1000.0);
    policy.on_rate(at(1.0).now, Rate(4_000_000_000));
    close(state(&*policy).0, 0.5);
    arrive(&mut *policy, 2.0, 0.4, 1000.0);
    policy.on_rate(at(4.0).now, Rate(8_000_000_000));
    close(state(&*policy).0, 0.49);
    arrive(&mut *policy, 5.0, 0.48, 1000.0);
}

#[test]
fn a_limit_of_one_packet_is_enough() {
    let limit = changed(&discipline(), "packets", &[("limit", Value::Length(1.0))]);
    assert_eq!((discipline().check)(&limit, &site("packets")), Ok(()));
}

/// With α = 10⁶ /s a packet takes α · 1000 B = C from C̃, which is 0.8 C.
#[test]
fn the_virtual_capacity_is_never_below_nothing() {
    let mut policy = avq(&[number("alpha", 1e6)]);
    policy.on_arrival(&at(0.0), &mut chance(1));
    assert_eq!(state(&*policy), (0.0, 1000.0));
}
