//! CoDel, by traces worked out from the pseudo-code of RFC 8289, section 5.

use longfat_queue::discipline::codel::discipline;
use longfat_queue::{Capacity, Site};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Ecn, Span, Time};

use crate::support::{FreeLink, PACKET, defaults, site};

fn port(capacity: Capacity, ecn: bool) -> FreeLink {
    let mut settings = defaults(&discipline(), "packets").expect("it has defaults");
    settings.set("ecn", Value::Flag(ecn));
    let site = Site { capacity, ..site("packets") };
    FreeLink::new((discipline().build)(&settings, &site).into_queue(capacity), capacity, 1)
}

/// An endless queue that drops.
fn dropping() -> FreeLink {
    port(Capacity::Unbounded, false)
}

fn ms(time: u64) -> Time {
    Time::ZERO + Span::from_millis(time)
}

fn arrive(port: &mut FreeLink, at: u64, packets: usize) {
    for _ in 0..packets {
        port.arrive(ms(at), PACKET, Ecn::Ect0);
    }
}

/// A packet leaves every millisecond of `times`. Returns those in which something is dropped or marked, once for each
/// packet.
fn hits(port: &mut FreeLink, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut hits = Vec::new();
    for at in times {
        let count = |port: &FreeLink| port.books().dropped.len() + port.books().marked.len();
        let before = count(port);
        port.depart(ms(at));
        hits.extend(std::iter::repeat_n(at, count(port) - before));
    }
    hits
}

/// Everything leaves at once.
fn drain(port: &mut FreeLink, at: u64) {
    while port.is_busy() {
        port.depart(ms(at));
    }
}

fn dropped(port: &FreeLink) -> Vec<u32> {
    port.books().dropped.iter().map(|item| item.id).collect()
}

/// A thousand packets come at 0 and leave one each millisecond, so the one that leaves at t has waited for t.
///
/// At 5 ms it has waited for the target, so packets are late from 105 ms on. The next drops are due at
///
/// ```text
///     105 + 100 = 205,  205 + 100/√2 = 275.71,  + 100/√3 = 333.45,  + 100/√4 = 383.45,  + 100/√5 = 428.17
/// ```
///
/// and each happens when the next packet leaves. Packet t leaves at t, less one millisecond for each drop before it.
#[test]
fn a_standing_queue_is_dropped_from_by_the_control_law() {
    let mut port = dropping();
    arrive(&mut port, 0, 1000);
    assert_eq!(hits(&mut port, 1..=450), [105, 205, 276, 334, 384, 429]);
    assert_eq!(dropped(&port), [105, 205 + 1, 276 + 2, 334 + 3, 384 + 4, 429 + 5]);
    let last = port.books().sent.last().expect("some are sent");
    assert_eq!((last.id, last.ecn), (450 + 6, Ecn::Ect0));
}

/// The same instants; the packets that were dropped leave with a mark. What cannot be marked is dropped.
#[test]
fn marks_take_the_place_of_drops() {
    let mut port = port(Capacity::Unbounded, true);
    arrive(&mut port, 0, 1000);
    let expected = [105, 205, 276, 334, 384, 429];
    assert_eq!(hits(&mut port, 1..=450), expected);
    assert_eq!(port.books().marked, expected.map(|at| at as u32));
    assert!(port.books().dropped.is_empty());

    let mut port = self::port(Capacity::Unbounded, true);
    for _ in 0..1000 {
        port.arrive(ms(0), PACKET, Ecn::NotEct);
    }
    assert_eq!(hits(&mut port, 1..=450), expected);
    assert_eq!((port.books().dropped.len(), port.books().marked.len()), (6, 0));
}

/// After the drop at 105 ms no packet leaves until 400 ms. Then the drops due at 205, 275.71, 333.45 and 383.45 are
/// made up for, and the next is due at 428.17. A mark lets its packet leave, so the next mark is for the next packet.
#[test]
fn drops_that_are_overdue_come_at_once() {
    let mut port = dropping();
    arrive(&mut port, 0, 1000);
    let times = (1..=105).chain([400, 428, 429]);
    assert_eq!(hits(&mut port, times), [105, 400, 400, 400, 400, 429]);

    let mut port = self::port(Capacity::Unbounded, true);
    arrive(&mut port, 0, 1000);
    let times = (1..=105).chain(400..=404).chain([428, 429]);
    assert_eq!(hits(&mut port, times), [105, 400, 401, 402, 403, 429]);
}

/// With one packet in time at 100 ms, packets are late no earlier than 105 ms after the queue is back.
#[test]
fn a_packet_in_time_begins_the_interval_anew() {
    let mut port = dropping();
    arrive(&mut port, 0, 1000);
    assert_eq!(hits(&mut port, 1..=100), []);
    drain(&mut port, 100);
    arrive(&mut port, 101, 1000);
    assert_eq!(hits(&mut port, 102..=210), [206]);
}

/// Six drops until 429 ms: n = 6 and n₀ = 1, the next due at 428.17 + 100/√6 = 468.99 ms. The queue drains and comes
/// back. The first drop is 105 ms after that; if this is within 1600 ms of 468.99, n resumes at 5, so the second drop
/// is due 100/√5 = 44.72 ms later, otherwise after the full 100.
#[test]
fn a_queue_that_comes_back_soon_is_held_as_it_was() {
    for (back, second) in [(500, 150), (1963, 150), (1964, 205), (5000, 205)] {
        let mut port = dropping();
        arrive(&mut port, 0, 1000);
        assert_eq!(hits(&mut port, 1..=450).len(), 6);
        drain(&mut port, 450);
        arrive(&mut port, back, 1000);
        let again = hits(&mut port, back + 1..=back + 210);
        assert_eq!(again[..2], [back + 105, back + second], "back at {back} ms");
    }
}

/// RFC 8289, section 5: soon is less than 16 intervals after the next drop would have been due, and 16 themselves are
/// not. Three drops until 276 ms make n = 3 and n₀ = 1, the next due at 205 + 100/√2 + 100/√3 ms. Packets that come back
/// are late for the first time exactly 1600 ms after that, or a picosecond before; the next drop is due 100 ms later, or
/// 70.71.
#[test]
fn sixteen_intervals_themselves_are_too_long() {
    const DUE: u64 = 205_000_000_000 + 70_710_678_118 + 57_735_026_918;
    for (early, second) in [(0, 100), (1, 71)] {
        let mut port = dropping();
        arrive(&mut port, 0, 1000);
        assert_eq!(hits(&mut port, 1..=300), [105, 205, 276]);
        drain(&mut port, 300);
        let first = DUE + 1_600_000_000_000 - early;
        let before = |millis: u64| Time(first - millis * 1_000_000_000);
        (0..300).for_each(|_| port.arrive(before(105), PACKET, Ecn::Ect0));
        port.depart(before(100));
        port.depart(Time(first));
        assert_eq!(port.books().dropped.len(), 4, "the first");
        let after = |millis: u64| Time(first + millis * 1_000_000_000);
        (1..second).for_each(|at| port.depart(after(at)));
        assert_eq!(port.books().dropped.len(), 4, "{early} ps early");
        port.depart(after(second));
        assert_eq!(port.books().dropped.len(), 5, "{early} ps early");
    }
}

/// The third drop, due at 275.71 ms, takes the last of the old packets; the one behind it came at 274 and is in time.
/// That ends the dropping, and the drop counts all the same: n = 3 and n₀ = 1. The newer packets are late from 105 ms
/// after they came; n resumes at 2 there, so the second drop is due 100/√2 = 70.71 ms after the first, at 449.71.
#[test]
fn the_drop_that_ends_the_dropping_counts() {
    let mut port = dropping();
    arrive(&mut port, 0, 279);
    assert_eq!(hits(&mut port, 1..=274), [105, 205]);
    arrive(&mut port, 274, 1000);
    assert_eq!(hits(&mut port, 275..=460), [276, 379, 450]);
    assert_eq!(dropped(&port)[2], 278, "the last of the old ones");
}

/// After a first and only drop there is no rate to resume: n - n₀ = 0.
#[test]
fn a_single_drop_is_no_experience() {
    let mut port = dropping();
    arrive(&mut port, 0, 1000);
    assert_eq!(hits(&mut port, 1..=110), [105]);
    drain(&mut port, 110);
    arrive(&mut port, 200, 1000);
    assert_eq!(hits(&mut port, 201..=410), [305, 405]);
}

/// A packet every 10 ms, each of which takes 10 ms to send. With one packet of the largest size behind each that
/// leaves, all of them wait for 20 ms, four times the target, and no drop could help. With two behind, it could.
#[test]
fn no_packet_is_late_with_at_most_one_behind_it() {
    for (ahead, drops) in [(2, false), (3, true)] {
        let mut port = dropping();
        arrive(&mut port, 0, ahead);
        let mut hit = false;
        for at in (10..1000).step_by(10) {
            arrive(&mut port, at, 1);
            hit |= !hits(&mut port, [at]).is_empty();
        }
        assert_eq!(hit, drops, "{ahead} packets at the start");
    }
}

#[test]
fn a_full_buffer_drops_what_arrives() {
    let mut port = port(Capacity::Packets(10), true);
    arrive(&mut port, 0, 20);
    // One is in service, ten wait.
    assert_eq!(dropped(&port), (11..20).collect::<Vec<_>>());
    assert_eq!(port.backlog().bytes, Bytes(10 * PACKET.0));
}

#[test]
fn a_target_must_be_below_the_interval() {
    let mut settings = defaults(&discipline(), "packets").expect("it has defaults");
    for (interval, right) in [(0, false), (5, false), (6, true)] {
        settings.set("interval", Value::Span(Span::from_millis(interval)));
        let checked = (discipline().check)(&settings, &site("packets"));
        assert_eq!(checked.is_ok(), right, "{checked:?}");
    }
}
