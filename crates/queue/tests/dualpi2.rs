//! DualPI2, by traces worked out from the pseudo-code of RFC 9332, appendix A.

use longfat_queue::discipline::dualpi2::discipline;
use longfat_queue::{Capacity, Site};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Ecn, Span, Time};

use crate::support::{Change, FreeLink, PACKET, changed, close, observed_in, site};

fn port(changes: &[Change]) -> FreeLink {
    let settings = changed(&discipline(), "packets", changes);
    let site = Site { capacity: Capacity::Unbounded, ..site("packets") };
    assert_eq!((discipline().check)(&settings, &site), Ok(()));
    FreeLink::new(
        (discipline().build)(&settings, &site).into_queue(Capacity::Unbounded),
        Capacity::Unbounded,
        1,
    )
}

fn us(time: u64) -> Time {
    Time(time * 1_000_000)
}

fn arrive(port: &mut FreeLink, at: u64, ecn: Ecn, packets: usize) {
    for _ in 0..packets {
        port.arrive(us(at), PACKET, ecn);
    }
}

fn sent(port: &FreeLink) -> Vec<u32> {
    port.books().sent.iter().map(|item| item.id).collect()
}

/// 0 is in service. 1 to 3 cannot ask for low latency; 4 to 6 do, by ECT(1) or a mark from elsewhere.
#[test]
fn those_that_ask_for_low_latency_go_first() {
    let mut port = port(&[]);
    let fields = [Ecn::Ect0, Ecn::NotEct, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1, Ecn::Ce, Ecn::Ect1];
    for ecn in fields {
        port.arrive(us(0), PACKET, ecn);
    }
    (1..=6).for_each(|at| port.depart(us(at)));
    assert_eq!(sent(&port), [0, 4, 5, 6, 1, 2, 3]);
}

/// Marks from 0.8 ms of waiting to 1.2 ms: at 0.9, 1.0, 1.1 and 1.2 ms the probabilities are 1/4, 1/2, 3/4 and 1, whose
/// sums are 0.25, 0.75, 1.5 - 1, 1.5 - 1. What waits for longer is always marked, unless it is the last.
#[test]
fn the_ramp_marks_what_has_waited() {
    let mut port = port(&[]);
    arrive(&mut port, 0, Ecn::Ect1, 10);
    (7..=15).for_each(|at| port.depart(us(100 * at)));
    assert_eq!(port.books().marked, [5, 6, 7, 8]);
    assert_eq!(sent(&port).len(), 10);
}

/// The first packet has waited for 16 ms at the first look and for 32 ms at the second:
///
/// ```text
///     p' = 0.16 (0.016 - 0.015) + 3.2 · 0.016 = 0.05136
///     p' + 0.16 (0.032 - 0.015) + 3.2 · 0.016 = 0.10528
/// ```
#[test]
fn the_controller_by_hand() {
    let mut port = port(&[]);
    arrive(&mut port, 0, Ecn::Ect0, 3);
    port.depart(us(31_999));
    close(observed_in(port.queue())["base_probability"], 0.05136);
    port.depart(us(32_000));
    close(observed_in(port.queue())["base_probability"], 0.10528);
    close(observed_in(port.queue())["classic_probability"], 0.10528 * 0.10528);
}

/// A standing queue: p' = 0.05136 from 16 ms on, 0.10528 from 32 ms, 0.16176 from 48 ms. A thousand packets of each
/// kind leave between two looks.
#[test]
fn the_square_for_one_queue_and_twice_the_root_for_the_other() {
    for (ecn, share) in [(Ecn::Ect0, 0.10528 * 0.10528), (Ecn::Ect1, 2.0 * 0.10528)] {
        // Without the ramp, which is not what this is about.
        let never = [
            ("ramp_from", Value::Span(Span::from_seconds(1))),
            ("ramp_to", Value::Span(Span::from_seconds(1))),
        ];
        let mut port = port(&never);
        arrive(&mut port, 0, ecn, 5000);
        (32_000..33_000).for_each(|at| port.depart(us(at)));
        let marked = port.books().marked.len() as f64;
        assert!((marked - 1000.0 * share).abs() <= 1.0, "{ecn:?}: {marked}");
        assert!(port.books().dropped.is_empty());
    }
}

/// What cannot be marked is dropped, at the same instants.
#[test]
fn what_cannot_be_marked_is_dropped() {
    let mut port = port(&[]);
    arrive(&mut port, 0, Ecn::NotEct, 5000);
    (32_000..33_000).for_each(|at| port.depart(us(at)));
    assert_eq!((port.books().dropped.len(), port.books().marked.len()), (11, 0));
}

/// The ramp can be a step: what has waited 1 ms is marked, what has not is not, whatever else is marked by the ramp.
#[test]
fn the_ramp_can_be_a_step() {
    let at = Value::Span(Span::from_millis(1));
    let mut port = port(&[("ramp_from", at.clone()), ("ramp_to", at)]);
    arrive(&mut port, 0, Ecn::Ect1, 10);
    (7..=15).for_each(|at| port.depart(us(100 * at)));
    // The sum of ones exceeds one from the second on; the last one has nothing behind it.
    assert_eq!(sent(&port).len(), 10);
    assert_eq!(port.books().marked, [5, 6, 7, 8]);
}

/// `p_Cmax` = 1/k² = 1/4, which is p' = 1/2. A standing queue has p' = 0.48256 from 128 ms on, and marks: 0.2329 of the
/// one queue, and all of the other, whose packets have waited for longer than the ramp. From 144 ms on p' is 0.5544:
/// both queues drop 0.30736 of their packets, and the others of L are all marked.
#[test]
fn a_quarter_of_classic_marks_is_overload() {
    for (at, ecn, marked, dropped) in [
        (128, Ecn::Ect0, 232.9, 0.0),
        (128, Ecn::Ect1, 999.0, 0.0),
        (144, Ecn::Ect0, 0.0, 443.8),
        (144, Ecn::Ect1, 999.0, 443.8),
    ] {
        let mut port = port(&[]);
        arrive(&mut port, 0, ecn, 5000);
        let before = sent(&port).len();
        (1000 * at..1000 * (at + 1)).for_each(|at| port.depart(us(at)));
        assert_eq!(sent(&port).len() - before, 1000);
        let found = (port.books().marked.len() as f64, port.books().dropped.len() as f64);
        let near = (found.0 - marked).abs() <= 2.0 && (found.1 - dropped).abs() <= 2.0;
        assert!(near, "{ecn:?} at {at} ms: {found:?}, not {marked} and {dropped}");
    }
}

/// After seconds of waiting p' is 1: both queues drop everything, whatever it can carry, until the last packet is gone.
#[test]
fn in_overload_marks_become_drops() {
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let mut port = port(&[]);
        arrive(&mut port, 0, ecn, 100);
        port.depart(us(5_000_000));
        let (dropped, marked) = (port.books().dropped.len(), port.books().marked.len());
        // The sum has to exceed one, which the first does not make it do.
        assert_eq!(dropped + sent(&port).len(), 2 - 1 + dropped + 1, "{ecn:?}");
        assert_eq!(marked, usize::from(ecn == Ecn::Ect1), "{ecn:?}: the one that leaves");
        port.depart(us(5_000_000));
        assert_eq!(port.books().dropped.len(), 98, "{ecn:?}");
    }
}

/// RFC 9332, appendix A.2: overload begins where k p' reaches 1, which is where p' itself does if k is 1. After seconds of
/// waiting it has.
#[test]
fn a_coupled_probability_of_one_is_overload() {
    let mut port = port(&[("coupling", Value::Number(1.0))]);
    arrive(&mut port, 0, Ecn::Ect1, 100);
    port.depart(us(5_000_000));
    close(observed_in(port.queue())["base_probability"], 1.0);
    port.depart(us(5_000_000));
    assert_eq!(port.books().dropped.len(), 98);
}

/// With a share of a half each packet of the one queue earns one of the other, which has the next turn.
#[test]
fn with_half_of_the_bytes_the_queues_take_turns() {
    let mut port = port(&[("classic_share", Value::Number(0.5))]);
    arrive(&mut port, 0, Ecn::Ect0, 1);
    arrive(&mut port, 0, Ecn::Ect1, 4);
    arrive(&mut port, 0, Ecn::Ect0, 4);
    (0..8).for_each(|_| port.depart(us(0)));
    assert_eq!(sent(&port), [0, 1, 5, 2, 6, 3, 7, 4, 8]);
}

/// Both queues are full: one byte in sixteen is for the classic one.
#[test]
fn the_classic_queue_does_not_starve() {
    let mut port = port(&[]);
    for _ in 0..4000 {
        port.arrive(us(0), PACKET, Ecn::Ect0);
        port.arrive(us(0), PACKET, Ecn::Ect1);
    }
    (0..1600).for_each(|_| port.depart(us(0)));
    let classic = port.books().sent.iter().filter(|item| item.ecn == Ecn::Ect0).count();
    assert!((99..=101).contains(&classic), "{classic} of 1600");
}

/// A link that stands still for a day: p' is at its most, and is found without looking five million times.
#[test]
fn a_day_without_a_departure() {
    let mut port = port(&[("interval", Value::Span(Span(100_000_000)))]);
    arrive(&mut port, 0, Ecn::Ect0, 2);
    port.depart(us(86_400_000_000));
    close(observed_in(port.queue())["base_probability"], 1.0);
}

/// The first in line has waited for 5 ms at 16 ms, another one for 5 ms at 32 ms, and this stays: at 48 ms it has waited for
/// 6 ms more than the target, which takes p' to 1.
#[test]
fn one_that_has_waited_as_long_as_another_waits_on() {
    let mut port = port(&[("alpha", Value::Number(1e3)), ("beta", Value::Number(0.0))]);
    arrive(&mut port, 11_000, Ecn::Ect0, 2);
    arrive(&mut port, 27_000, Ecn::Ect0, 1);
    port.depart(us(27_000));
    arrive(&mut port, 64_000, Ecn::Ect0, 1);
    close(observed_in(port.queue())["base_probability"], 1.0);
}

/// The classic queue earns 1/15 of what the other sends, and a packet of it leaves after fifteen of the other. What it has
/// earned ends with its last packet, and it owes nothing for what it sends while the other is empty.
#[test]
fn credit_ends_with_the_classic_queue() {
    let mut port = port(&[]);
    arrive(&mut port, 0, Ecn::Ect1, 11);
    arrive(&mut port, 0, Ecn::Ect0, 1);
    // Ten with ECT(1), two thirds of a packet earned; then the classic one.
    (0..11).for_each(|_| port.depart(us(0)));
    assert_eq!(port.books().sent.last().map(|item| item.id), Some(11));
    arrive(&mut port, 0, Ecn::Ect1, 14);
    arrive(&mut port, 0, Ecn::Ect0, 3);
    (0..14).for_each(|_| port.depart(us(0)));
    assert!(port.books().sent[12..].iter().all(|item| item.ecn == Ecn::Ect1));
    // Two of the three leave while nothing else is there: the third waits for sixteen at the most, as if it were the first.
    (0..2).for_each(|_| port.depart(us(0)));
    let before = port.books().sent.len();
    arrive(&mut port, 0, Ecn::Ect1, 40);
    (0..20).for_each(|_| port.depart(us(0)));
    let first = port.books().sent[before..].iter().position(|item| item.ecn == Ecn::Ect0);
    assert!(matches!(first, Some(14..=16)), "{first:?}");
}

/// A link stands still from 2 s on for a day, with p' = 1. What is first then has waited for 2 s less than what was first at
/// the last look of the day: p' falls by 3.2 · 2 s, and rises by next to nothing for the wait itself.
#[test]
fn the_last_look_of_a_long_silence_counts() {
    const DAY: u64 = 86_400_000_000;
    let mut port = port(&[("alpha", Value::Number(1e-6))]);
    arrive(&mut port, 0, Ecn::Ect0, 2);
    arrive(&mut port, 2_000_000, Ecn::Ect0, 2);
    port.depart(us(DAY));
    close(observed_in(port.queue())["base_probability"], 1.0);
    arrive(&mut port, DAY + 16_000, Ecn::Ect0, 1);
    close(observed_in(port.queue())["base_probability"], 0.0);
}
