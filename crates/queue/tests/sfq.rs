//! SFQ, by hand.

use longfat_queue::discipline::sfq::discipline;
use longfat_queue::{Capacity, Item, Site};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Span, Time};

use crate::support::{Change, FreeLink, changed, observed_in, site};

fn port(capacity: Capacity, seed: u64, changes: &[Change]) -> FreeLink {
    let settings = changed(&discipline(), "packets", changes);
    let site = Site { capacity, ..site("packets") };
    FreeLink::new((discipline().build)(&settings, &site).into_queue(capacity), capacity, seed)
}

fn arrive(port: &mut FreeLink, now: Time, flow: u32, bytes: u64, packets: usize) {
    for _ in 0..packets {
        port.arrive_as(now, Item { flow, bytes: Bytes(bytes), ..Item::default() });
    }
}

fn flows(port: &FreeLink) -> Vec<u32> {
    port.books().sent.iter().map(|item| item.flow).collect()
}

/// A packet of each in turn, whatever its size.
#[test]
fn flows_take_turns_by_the_packet() {
    let mut port = port(Capacity::Unbounded, 1, &[]);
    for (flow, bytes) in [(1, 1000), (2, 100), (3, 500)] {
        arrive(&mut port, Time::ZERO, flow, bytes, 3);
    }
    (0..9).for_each(|_| port.depart(Time::ZERO));
    // The first found the link free; flow 1 was back in line by then.
    assert_eq!(flows(&port), [1, 1, 2, 3, 1, 2, 3, 2, 3]);
}

/// Flow 1 has eight of ten places, and loses its last to flow 2; then it asks for one itself.
#[test]
fn a_full_buffer_takes_the_last_of_the_longest_queue() {
    let mut port = port(Capacity::Packets(10), 1, &[]);
    arrive(&mut port, Time::ZERO, 1, 1000, 9);
    arrive(&mut port, Time::ZERO, 2, 1000, 3);
    arrive(&mut port, Time::ZERO, 1, 1000, 1);
    let dropped: Vec<_> = port.books().dropped.iter().map(|item| item.id).collect();
    assert_eq!(dropped, [8, 12]);
}

/// Two flows over two queues share one with half of the salts. Of forty that do, some part at each change of the salt,
/// and hardly any stay together for eight changes: 40/2⁸ = 0.16.
#[test]
fn a_change_of_the_salt_parts_them() {
    let busy = |seed, changes: u64| {
        let mut port = port(Capacity::Unbounded, seed, &[("queues", Value::Number(2.0))]);
        let mut parted = false;
        for change in 0..=changes {
            let now = Time::ZERO + Span::from_seconds(10 * change);
            while port.is_busy() {
                port.depart(now);
            }
            arrive(&mut port, now, 0, 1000, 2);
            arrive(&mut port, now, 1, 1000, 2);
            parted |= observed_in(port.queue())["active_queues"] == 2.0;
        }
        parted
    };
    let together = |changes| (0..80).filter(|&seed| !busy(seed, changes)).count();
    let (at_first, later) = (together(0), together(8));
    assert!((28..=52).contains(&at_first), "{at_first} of 80");
    assert!(later <= 2, "{later} of 80");
}

#[test]
fn the_salt_can_stay() {
    let never = [("queues", Value::Number(2.0)), ("perturb", Value::Span(Span::ZERO))];
    for seed in 0..20 {
        let mut port = port(Capacity::Unbounded, seed, &never);
        let mut seen = Vec::new();
        for hour in 0..5 {
            let now = Time::ZERO + Span::from_seconds(3600 * hour);
            while port.is_busy() {
                port.depart(now);
            }
            arrive(&mut port, now, 0, 1000, 2);
            arrive(&mut port, now, 1, 1000, 2);
            seen.push(observed_in(port.queue())["active_queues"]);
        }
        assert!(seen.iter().all(|count| *count == seen[0]), "{seen:?}");
    }
}

/// Conversations between hosts: the flows of two hosts share a queue, and each pair of hosts has its own.
#[test]
fn conversations_can_be_pairs_of_hosts() {
    let mut port = port(Capacity::Unbounded, 1, &[("by", Value::Word("hosts".into()))]);
    for flow in 0..6 {
        let hosts = flow / 3;
        let item = Item {
            flow,
            source: 2 * hosts,
            destination: 2 * hosts + 1,
            bytes: Bytes(1000),
            ..Item::default()
        };
        port.arrive_as(Time::ZERO, item);
    }
    (0..5).for_each(|_| port.depart(Time::ZERO));
    assert_eq!(flows(&port), [0, 1, 3, 2, 4, 5]);
}

/// Hosts are pairs: what source 1 sends to 2 and to 3 waits in two queues, which take turns.
#[test]
fn pairs_of_hosts_are_told_apart_by_both_ends() {
    let by_hosts = [("by", Value::Word("hosts".into()))];
    let settings = changed(&discipline(), "packets", &by_hosts);
    let site = site("packets");
    let queue = (discipline().build)(&settings, &site).into_queue(site.capacity);
    let mut port = FreeLink::new(queue, site.capacity, 1);
    for destination in [9, 2, 2, 2, 3, 3, 3] {
        let item = Item { source: 1, destination, bytes: Bytes(1000), ..Item::default() };
        port.arrive_as(Time::ZERO, item);
    }
    (0..6).for_each(|_| port.depart(Time::ZERO));
    let sent: Vec<_> = port.books().sent.iter().map(|item| item.destination).collect();
    assert_eq!(sent, [9, 2, 3, 2, 3, 2, 3]);
}

/// Two packets of a flow wait when the salt changes, and a third one comes. With half of the salts it goes into the other
/// queue, whose turn comes before the second one's.
#[test]
fn packets_pass_one_another_if_the_salt_changes() {
    for (perturb, passes) in [(Span::from_seconds(10), true), (Span::ZERO, false)] {
        let changes = [("queues", Value::Number(2.0)), ("perturb", Value::Span(perturb))];
        let mut passed = false;
        for seed in 0..20 {
            let mut port = port(Capacity::Unbounded, seed, &changes);
            assert_eq!(port.queue().reorders(), passes);
            arrive(&mut port, Time::ZERO, 0, 1000, 3);
            let later = Time::ZERO + Span::from_seconds(10);
            arrive(&mut port, later, 0, 1000, 1);
            (0..3).for_each(|_| port.depart(later));
            passed |= !port.books().sent.is_sorted_by_key(|item| item.id);
        }
        assert_eq!(passed, passes, "{perturb}");
    }
}
