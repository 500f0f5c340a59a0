//! DRR, by the example of its paper and its bound.

use longfat_queue::discipline::drr::discipline;
use longfat_queue::{Capacity, Item, Site};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Time};
use proptest::prelude::*;

use crate::support::{FreeLink, changed, site};

fn port(capacity: Capacity, quantum: u32) -> FreeLink {
    let settings =
        changed(&discipline(), "packets", &[("quantum", Value::Number(f64::from(quantum)))]);
    let site = Site { capacity, ..site("packets") };
    FreeLink::new((discipline().build)(&settings, &site).into_queue(capacity), capacity, 1)
}

fn arrive(port: &mut FreeLink, flow: u32, sizes: &[u64]) {
    for &bytes in sizes {
        port.arrive_as(Time::ZERO, Item { flow, bytes: Bytes(bytes), ..Item::default() });
    }
}

/// The flow and size of each packet sent.
fn sent(port: &FreeLink) -> Vec<(u32, u64)> {
    port.books().sent.iter().map(|item| (item.flow, item.bytes.0)).collect()
}

/// Figures 2 and 3 of the paper: the quantum is 500 bytes. The first queue sends 200 and keeps 300, which is not enough
/// for 750. With 800 in the next turn it sends 750 and 20. The packet of flow 9 keeps the link busy until all are
/// there.
#[test]
fn the_example_of_the_paper() {
    let mut port = port(Capacity::Unbounded, 500);
    arrive(&mut port, 9, &[1]);
    arrive(&mut port, 1, &[200, 750, 20]);
    arrive(&mut port, 2, &[500, 500]);
    (0..6).for_each(|_| port.depart(Time::ZERO));
    assert_eq!(sent(&port)[1..], [(1, 200), (2, 500), (1, 750), (1, 20), (2, 500)]);
}

/// An empty queue keeps no deficit: after its 100 bytes flow 1 begins anew with 500, which is not enough for 600.
#[test]
fn an_empty_queue_keeps_nothing() {
    let mut port = port(Capacity::Unbounded, 500);
    arrive(&mut port, 9, &[1]);
    arrive(&mut port, 1, &[100]);
    arrive(&mut port, 2, &[400, 400]);
    port.depart(Time::ZERO);
    arrive(&mut port, 1, &[600]);
    (0..5).for_each(|_| port.depart(Time::ZERO));
    assert_eq!(sent(&port)[1..], [(1, 100), (2, 400), (2, 400), (1, 600)]);
}

/// Of ten places flow 1 has eight and flow 2 two. What then comes for flow 2 takes the places of the last of flow 1,
/// and what comes for flow 1 finds none.
#[test]
fn a_full_buffer_takes_the_last_of_the_longest_queue() {
    let mut port = port(Capacity::Packets(10), 1500);
    arrive(&mut port, 1, &[1000; 9]);
    arrive(&mut port, 2, &[1000; 2]);
    assert!(port.books().dropped.is_empty());
    arrive(&mut port, 2, &[1000]);
    arrive(&mut port, 1, &[1000]);
    arrive(&mut port, 2, &[1000]);
    let dropped: Vec<_> = port.books().dropped.iter().map(|item| item.id).collect();
    assert_eq!(dropped, [8, 12, 7]);
}

proptest! {
    /// Lemma 2 and theorem 1 of the paper: queues that are never empty have sent k quanta after k turns, less at most
    /// a largest packet. So any two differ by less than two largest packets and a quantum at any time.
    #[test]
    fn after_k_turns_each_has_sent_k_quanta(
        sizes in prop::collection::vec(prop::collection::vec(1_u64..=1500, 1..5), 2..6),
        quantum in prop_oneof![64_u32..1500, 1500_u32..4000],
        departures in 1_usize..120,
    ) {
        let mut port = port(Capacity::Unbounded, quantum);
        for (flow, sizes) in sizes.iter().enumerate() {
            arrive(&mut port, flow as u32, &sizes.repeat(departures + 1));
        }
        // The first packet left before there was anything else.
        let begun = port.books().sent.len();
        (0..departures).for_each(|_| port.depart(Time::ZERO));
        let mut bytes = vec![0; sizes.len()];
        for item in &port.books().sent[begun..] {
            bytes[item.flow as usize] += item.bytes.0;
        }
        let (least, most) = (bytes.iter().min().expect("some"), bytes.iter().max().expect("some"));
        prop_assert!(most - least <= 2 * 1500 + u64::from(quantum), "{bytes:?}");
    }
}

/// Nor does one that the buffer empties. 1100 bytes are full: flow 1 keeps 500 of its quantum for a packet of 600, which is
/// dropped for one of flow 3. What then comes for it, 550, does not leave in its next turn, but in the one after that.
#[test]
fn a_queue_that_is_emptied_by_the_buffer_keeps_nothing() {
    let mut port = port(Capacity::Bytes(Bytes(1100)), 500);
    arrive(&mut port, 9, &[1]);
    arrive(&mut port, 1, &[600]);
    arrive(&mut port, 2, &[300, 200]);
    port.depart(Time::ZERO);
    arrive(&mut port, 3, &[350]);
    let dropped: Vec<_> = port.books().dropped.iter().map(|item| item.bytes.0).collect();
    assert_eq!(dropped, [600]);
    arrive(&mut port, 1, &[550]);
    (0..3).for_each(|_| port.depart(Time::ZERO));
    assert_eq!(sent(&port)[1..], [(2, 300), (2, 200), (3, 350), (1, 550)]);
}

/// A queue that has sent is no longer the longest: flow 1 had seven of eleven places and has two when flow 4 finds none.
#[test]
fn what_has_left_is_not_counted() {
    let mut port = port(Capacity::Packets(11), 1000);
    arrive(&mut port, 9, &[1]);
    arrive(&mut port, 1, &[100; 7]);
    arrive(&mut port, 2, &[1000; 4]);
    arrive(&mut port, 2, &[1000]);
    (0..4).for_each(|_| port.depart(Time::ZERO));
    arrive(&mut port, 3, &[1000; 3]);
    arrive(&mut port, 4, &[1000]);
    arrive(&mut port, 4, &[1000]);
    let dropped: Vec<_> = port.books().dropped.iter().map(|item| item.flow).collect();
    assert_eq!(dropped, [1, 2]);
}
