//! FQ-CoDel, by traces worked out from RFC 8290, sections 4 and 5.

use std::collections::BTreeSet;

use longfat_queue::discipline::fq_codel::discipline;
use longfat_queue::{Capacity, Item, Site};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Ecn, Span, Time};

use crate::support::{Change, FreeLink, PACKET, changed, observed_in, site};

fn port(capacity: Capacity, seed: u64, changes: &[Change]) -> FreeLink {
    let settings = changed(&discipline(), "packets", changes);
    let site = Site { capacity, ..site("packets") };
    assert_eq!((discipline().check)(&settings, &site), Ok(()));
    FreeLink::new((discipline().build)(&settings, &site).into_queue(capacity), capacity, seed)
}

/// A turn is worth one packet of the largest size.
const ONE_PACKET: Change = ("quantum", Value::Number(1000.0));

fn ms(time: u64) -> Time {
    Time::ZERO + Span::from_millis(time)
}

fn arrive(port: &mut FreeLink, at: u64, flow: u32, packets: usize) {
    for _ in 0..packets {
        port.arrive_as(ms(at), Item { flow, bytes: PACKET, ecn: Ecn::NotEct, ..Item::default() });
    }
}

fn sent(port: &FreeLink) -> Vec<u32> {
    port.books().sent.iter().map(|item| item.id).collect()
}

fn dropped(port: &FreeLink) -> Vec<u32> {
    port.books().dropped.iter().map(|item| item.id).collect()
}

/// Packets 0 to 3 are flow 1's, 4 to 7 flow 2's, and 8 is flow 3's. Lists, with the credit in packets:
///
/// ```text
///     0 leaves at once        new 1(0) 2(1)
///     1 goes to old           new 2(1)        old 1(1)          4 leaves
///     2 goes to old                           old 1(1) 2(1)     1 leaves, and 8 arrives
///                             new 3(1)        old 1(0) 2(1)     8 leaves, before all that came first
///     3 and 1 go to the end                   old 2(1) 3(1) 1(1)     5 leaves
///     2 goes to the end, 3 is empty           old 1(1) 2(1)     2 leaves;  then 6, 3, 7
/// ```
#[test]
fn new_flows_go_first_and_old_ones_in_turn() {
    let mut port = port(Capacity::Unbounded, 1, &[ONE_PACKET]);
    arrive(&mut port, 0, 1, 4);
    arrive(&mut port, 0, 2, 4);
    (0..2).for_each(|_| port.depart(ms(0)));
    arrive(&mut port, 0, 3, 1);
    (0..6).for_each(|_| port.depart(ms(0)));
    assert_eq!(sent(&port), [0, 4, 1, 8, 5, 2, 6, 3, 7]);
}

/// Section 3: a queue of packets of a third of the quantum sends three in its turn, one of full size a single one.
#[test]
fn a_turn_is_measured_in_bytes() {
    let mut port = port(Capacity::Unbounded, 1, &[("quantum", Value::Number(999.0))]);
    let item = |flow, bytes| Item { flow, bytes: Bytes(bytes), ..Item::default() };
    for _ in 0..30 {
        port.arrive_as(ms(0), item(1, 333));
        port.arrive_as(ms(0), item(2, 999));
    }
    (0..19).for_each(|_| port.depart(ms(0)));
    let flows: Vec<_> = port.books().sent.iter().map(|item| item.flow).collect();
    assert_eq!(flows, [[1, 1, 1, 2]; 5].concat());
}

/// Two flows that always come back just after they were found empty, with packets far smaller than a quantum. Each time
/// they would be new; since an empty queue passes through the old ones, flow 1 gets its turns.
#[test]
fn flows_that_come_back_do_not_starve_the_others() {
    let mut port = port(Capacity::Unbounded, 1, &[ONE_PACKET]);
    arrive(&mut port, 0, 1, 500);
    let small = |flow| Item { flow, bytes: Bytes(10), ..Item::default() };
    port.arrive_as(ms(0), small(2));
    for _ in 0..400 {
        port.depart(ms(0));
        match port.books().sent.last().expect("some are sent").flow {
            2 => port.arrive_as(ms(0), small(3)),
            3 => port.arrive_as(ms(0), small(2)),
            _ => {}
        }
    }
    let bulk = port.books().sent.iter().filter(|item| item.flow == 1).count();
    assert!(bulk > 100, "{bulk} of 400");
}

/// Of ten places flow 1 has nine (packet 0 is in service), flow 2 one. The eleventh packet is one too many: half of the
/// nine go, the oldest first.
#[test]
fn a_full_buffer_takes_half_of_the_longest_queue() {
    let mut port = port(Capacity::Packets(10), 1, &[]);
    arrive(&mut port, 0, 1, 10);
    arrive(&mut port, 0, 2, 1);
    assert_eq!(dropped(&port), []);
    arrive(&mut port, 0, 2, 1);
    assert_eq!(dropped(&port), [1, 2, 3, 4]);
    assert_eq!(port.backlog().packets, 7);
}

/// Section 5.2.3: the defaults' limit, 10240 packets, from which 64 are taken at once.
#[test]
fn no_more_than_64_at_once() {
    let mut port = port(Capacity::Packets(10_240), 1, &[]);
    arrive(&mut port, 0, 1, 10_241);
    assert_eq!(dropped(&port), []);
    arrive(&mut port, 0, 2, 1);
    assert_eq!(dropped(&port), (1..=64).collect::<Vec<_>>());
}

/// Bytes count, not packets: flow 2 has nine small ones.
#[test]
fn the_longest_queue_is_that_with_the_most_bytes() {
    let mut port = port(Capacity::Packets(11), 1, &[]);
    arrive(&mut port, 0, 1, 4);
    for _ in 0..9 {
        port.arrive_as(ms(0), Item { flow: 2, bytes: Bytes(300), ..Item::default() });
    }
    assert_eq!(dropped(&port), [1], "half of three, rounded down");
}

/// CoDel in each queue: that of flow 1 has a standing queue, from which the first packet is dropped after 105 ms, as in
/// the tests of CoDel alone; flow 2 comes and goes and loses nothing.
#[test]
fn each_queue_has_a_codel_of_its_own() {
    let mut port = port(Capacity::Unbounded, 1, &[]);
    arrive(&mut port, 0, 1, 2000);
    for at in 1..=450 {
        if at % 2 == 0 {
            arrive(&mut port, at, 2, 1);
        }
        port.depart(ms(at));
    }
    let lost: BTreeSet<_> = port.books().dropped.iter().map(|item| item.flow).collect();
    assert_eq!(lost, BTreeSet::from([1]));
    // One of two departures is flow 1's, so its packets are late as soon, and drops come at the instants of CoDel.
    assert_eq!(port.books().dropped.len(), 6, "at 105, 205, 276, 334, 384 and 429 ms");
    let waits = port.books().sent.iter().filter(|item| item.flow == 2).count();
    assert!(waits >= 224, "flow 2 never waits for a turn: {waits}");
}

/// A queue with packets for each flow, so that the number of active queues tells how many have one to themselves.
/// The mean is 1024 (1 - (1 - 1/1024)^100) = 95.3.
#[test]
fn flows_are_spread_evenly() {
    let mut sum = 0.0;
    for seed in 0..300 {
        let mut port = port(Capacity::Unbounded, seed, &[]);
        (0..100).for_each(|flow| arrive(&mut port, 0, flow, 2));
        sum += observed_in(port.queue())["active_queues"];
    }
    let mean = sum / 300.0;
    assert!((mean - 95.3).abs() < 0.4, "{mean}");
}

/// Section 4.1: a queue that has no turn coming gets a quantum with its next packet, whatever it had left or owed when it
/// was found empty. After 400 bytes and after 1400 flow 2 sends two of its 600 bytes before the turn of flow 1.
#[test]
fn a_flow_that_comes_back_begins_with_a_quantum() {
    for bytes in [400, 1400] {
        let mut port = port(Capacity::Unbounded, 1, &[ONE_PACKET]);
        let item = |flow, bytes| Item { flow, bytes: Bytes(bytes), ..Item::default() };
        port.arrive_as(ms(0), item(2, bytes));
        port.depart(ms(0));
        assert_eq!(observed_in(port.queue())["active_queues"], 0.0);
        arrive(&mut port, 0, 1, 3);
        (0..3).for_each(|_| port.arrive_as(ms(0), item(2, 600)));
        (0..3).for_each(|_| port.depart(ms(0)));
        let flows: Vec<_> = port.books().sent.iter().map(|item| item.flow).collect();
        assert_eq!(flows, [2, 1, 2, 2, 1], "after {bytes} B");
    }
}

/// RFC 8289, section 5: an empty queue is not above the target. Flow 1 has waited for more than 5 ms at 10 ms, so that
/// its packets would be late from 110 ms on. Then three packets of flow 2 take the places of its last two, and its queue
/// is found empty. What comes behind a packet of flow 3 at 200 ms has waited for 6 ms at 206, and is late from 306 ms on.
#[test]
fn a_queue_that_a_full_buffer_has_emptied_is_not_late() {
    let mut port = port(Capacity::Packets(3), 1, &[]);
    arrive(&mut port, 0, 1, 4);
    port.depart(ms(10));
    let small = Item { flow: 2, bytes: Bytes(300), ..Item::default() };
    (0..3).for_each(|_| port.arrive_as(ms(10), small));
    assert_eq!(dropped(&port), [2, 3]);
    (0..4).for_each(|_| port.depart(ms(11)));
    assert_eq!(observed_in(port.queue())["active_queues"], 0.0);
    arrive(&mut port, 200, 3, 1);
    arrive(&mut port, 200, 1, 3);
    port.depart(ms(206));
    assert_eq!(dropped(&port), [2, 3]);
    assert_eq!(sent(&port).last(), Some(&8));
}
