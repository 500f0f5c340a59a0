//! CAKE, by hand.

use std::collections::BTreeMap;

use longfat_queue::discipline::cake::discipline;
use longfat_queue::{Capacity, Item, Site};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Bytes, Time};

use crate::support::{Change, FreeLink, PACKET, changed, observed_in, site};

fn port_with(seed: u64, changes: &[Change]) -> FreeLink {
    let settings = changed(&discipline(), "packets", changes);
    let site = Site { capacity: Capacity::Unbounded, ..site("packets") };
    FreeLink::new(
        (discipline().build)(&settings, &site).into_queue(Capacity::Unbounded),
        Capacity::Unbounded,
        seed,
    )
}

/// A turn is worth one packet of the largest size.
const ONE_PACKET: Change = ("quantum", Value::Number(1000.0));

fn port(isolation: &'static str, seed: u64) -> FreeLink {
    port_with(seed, &[("isolation", Value::Word(isolation.into())), ONE_PACKET])
}

/// The same where a set is all that there is, and each source has its share.
fn one_set(seed: u64) -> FreeLink {
    let by_source = ("isolation", Value::Word("sources".into()));
    port_with(seed, &[by_source, ONE_PACKET, ("queues", Value::Number(8.0))])
}

/// The packets that flows between these hosts send of 1200, while all of them have some waiting.
fn shares(isolation: &'static str, ends: &[(u32, u32)]) -> Vec<usize> {
    let mut port = port(isolation, 1);
    for _ in 0..1201 {
        for (flow, &(source, destination)) in ends.iter().enumerate() {
            let flow = flow as u32;
            let item = Item { flow, source, destination, bytes: PACKET, ..Item::default() };
            port.arrive_as(Time::ZERO, item);
        }
    }
    (0..1200).for_each(|_| port.depart(Time::ZERO));
    let mut sent = BTreeMap::new();
    for item in &port.books().sent {
        *sent.entry(item.flow).or_insert(0) += 1;
    }
    sent.into_values().collect()
}

#[track_caller]
fn close(found: &[usize], expected: &[usize]) {
    let near = found.iter().zip(expected).all(|(one, other)| one.abs_diff(*other) <= 3);
    assert!(near && found.len() == expected.len(), "{found:?}, not {expected:?}");
}

/// Host 1 has one flow and host 2 three, all to one server each: half for each host.
#[test]
fn hosts_share_and_so_do_their_flows() {
    let up = [(1, 11), (2, 12), (2, 13), (2, 14)];
    for isolation in ["triple", "sources"] {
        close(&shares(isolation, &up), &[600, 200, 200, 200]);
    }
    for isolation in ["flows", "destinations"] {
        close(&shares(isolation, &up), &[300, 300, 300, 300]);
    }
}

/// The same the other way: it is the destinations that are few.
#[test]
fn either_side_may_be_the_one_with_few_hosts() {
    let down = [(11, 1), (12, 2), (13, 2), (14, 2)];
    for isolation in ["triple", "destinations"] {
        close(&shares(isolation, &down), &[600, 200, 200, 200]);
    }
    for isolation in ["flows", "sources"] {
        close(&shares(isolation, &down), &[300, 300, 300, 300]);
    }
}

/// Hosts 1 and 2 send to one server, host 2 to another as well: quanta of Q/max(1, 2), Q/max(2, 2), Q/max(2, 1). So all
/// three are equal, where sources alone would make it 600, 300, 300.
#[test]
fn the_busier_host_counts() {
    let ends = [(1, 11), (2, 11), (2, 12)];
    close(&shares("triple", &ends), &[400, 400, 400]);
    close(&shares("sources", &ends), &[600, 300, 300]);
}

/// Host 2 has a bulk flow, and seven others with a packet of 40 bytes now and then: its share is that of host 1.
#[test]
fn sparse_flows_cost_their_host_nothing() {
    let mut port = port("triple", 1);
    let item = |flow, source, bytes| {
        let (destination, bytes) = (10 + flow, Bytes(bytes));
        Item { flow, source, destination, bytes, ..Item::default() }
    };
    for _ in 0..2000 {
        port.arrive_as(Time::ZERO, item(1, 1, 1000));
        port.arrive_as(Time::ZERO, item(2, 2, 1000));
    }
    let begun = port.books().sent.len();
    for round in 0..200 {
        for flow in 3..10 {
            port.arrive_as(Time::ZERO, item(flow, 2, 40));
        }
        // Those seven, and some of the two bulk flows.
        (0..7 + 5 + round % 2).for_each(|_| port.depart(Time::ZERO));
    }
    let sent = &port.books().sent[begun..];
    let of = |flow| sent.iter().filter(|item| item.flow == flow).count();
    assert_eq!(of(3), 200);
    assert!(of(1).abs_diff(of(2)) <= 20, "{} and {}", of(1), of(2));
}

/// A queue that is found empty is new again at its next packet, which waits for no turn of the two that have always more.
#[test]
fn a_flow_of_single_packets_is_always_new() {
    let mut port = port("flows", 1);
    let item = |flow, bytes| Item { flow, source: flow, bytes: Bytes(bytes), ..Item::default() };
    for _ in 0..100 {
        port.arrive_as(Time::ZERO, item(1, 1000));
        port.arrive_as(Time::ZERO, item(2, 1000));
    }
    (0..4).for_each(|_| port.depart(Time::ZERO));
    for round in 0..20 {
        port.arrive_as(Time::ZERO, item(3, 400));
        for is_sparse in [true, false] {
            port.depart(Time::ZERO);
            let flow = port.books().sent.last().expect("something is sent").flow;
            assert_eq!(flow == 3, is_sparse, "round {round}: flow {flow}");
        }
    }
}

/// A flow that ends no longer counts for its host.
#[test]
fn a_flow_that_has_ended_frees_its_share() {
    let mut port = port("triple", 1);
    let item = |flow, source| Item {
        flow,
        source,
        destination: 10 + flow,
        bytes: PACKET,
        ..Item::default()
    };
    for _ in 0..2000 {
        port.arrive_as(Time::ZERO, item(1, 1));
        port.arrive_as(Time::ZERO, item(2, 2));
    }
    for _ in 0..100 {
        port.arrive_as(Time::ZERO, item(3, 2));
    }
    // 400 packets take flow 3 to its end, at a quarter of them; then flows 1 and 2 are equal.
    (0..500).for_each(|_| port.depart(Time::ZERO));
    let begun = port.books().sent.len();
    (0..1000).for_each(|_| port.depart(Time::ZERO));
    let sent = &port.books().sent[begun..];
    assert!(sent.iter().all(|item| item.flow != 3));
    let of_two = sent.iter().filter(|item| item.flow == 2).count();
    assert!(of_two.abs_diff(500) <= 2, "{of_two} of 1000");
}

/// RFC 8290, section 5.3: with 8-way sets the probability that 100 flows in 1024 queues are all alone is near 100 %,
/// where 1024 separate queues would put ten of them together.
#[test]
fn a_hundred_flows_do_not_meet() {
    for seed in 0..100 {
        let mut port = port("flows", seed);
        for flow in 0..100 {
            let item = Item { flow, bytes: PACKET, ..Item::default() };
            (0..2).for_each(|_| port.arrive_as(Time::ZERO, item));
        }
        assert_eq!(observed_in(port.queue())["active_queues"], 100.0, "seed {seed}");
    }
}

/// More flows than queues: they share, and nothing is lost or forgotten.
#[test]
fn there_may_be_more_flows_than_queues() {
    let mut port = port("triple", 1);
    for _ in 0..3 {
        for flow in 0..3000 {
            let item = Item {
                flow,
                source: flow,
                destination: flow + 1,
                bytes: PACKET,
                ..Item::default()
            };
            port.arrive_as(Time::ZERO, item);
        }
    }
    assert_eq!(observed_in(port.queue())["active_queues"], 1024.0);
    while port.is_busy() {
        port.depart(Time::ZERO);
    }
    assert_eq!(port.books().sent.len(), 9000);
    assert_eq!(observed_in(port.queue())["active_queues"], 0.0);
}

/// What has been busy once is as if it had never been: the shares of a second busy period are those of the first.
#[test]
fn shares_are_the_same_again() {
    let mut port = port("triple", 1);
    for period in 0..3 {
        for _ in 0..301 {
            for (flow, source) in [(0, 1), (1, 2), (2, 2), (3, 2)] {
                let item =
                    Item { flow, source, destination: 10 + flow, bytes: PACKET, ..Item::default() };
                port.arrive_as(Time::ZERO, item);
            }
        }
        let before = port.books().sent.len();
        (0..300).for_each(|_| port.depart(Time::ZERO));
        let mut sent = [0; 4];
        port.books().sent[before..].iter().for_each(|item| sent[item.flow as usize] += 1);
        close(&sent, &[150, 50, 50, 50]);
        while port.is_busy() {
            port.depart(Time::ZERO);
        }
        assert_eq!(observed_in(port.queue())["active_queues"], 0.0, "period {period}");
    }
}

/// A full buffer loses one packet at a time; and twelve queues are two sets of eight.
#[test]
fn a_full_buffer_loses_one_packet_of_one_of_whole_sets() {
    let capacity = Capacity::Packets(100);
    let settings = changed(&discipline(), "packets", &[("queues", Value::Number(12.0))]);
    let site = Site { capacity, ..site("packets") };
    let mut port =
        FreeLink::new((discipline().build)(&settings, &site).into_queue(capacity), capacity, 1);
    for count in 1..=200 {
        port.arrive_as(Time::ZERO, Item { flow: count % 40, bytes: PACKET, ..Item::default() });
        // One is in service.
        assert_eq!(port.books().dropped.len(), (count as usize).saturating_sub(101));
    }
}

/// Places are for hosts that have something waiting: eight have come and gone, and eight others find a place each in a
/// set of eight. All have one flow, so all get the same.
#[test]
fn hosts_that_have_gone_leave_their_places() {
    let mut port = one_set(1);
    let item = |host| Item {
        flow: host,
        source: host,
        destination: 100,
        bytes: PACKET,
        ..Item::default()
    };
    (0..8).for_each(|host| port.arrive_as(Time::ZERO, item(host)));
    while port.is_busy() {
        port.depart(Time::ZERO);
    }
    for _ in 0..101 {
        (8..16).for_each(|host| port.arrive_as(Time::ZERO, item(host)));
    }
    let begun = port.books().sent.len();
    (0..400).for_each(|_| port.depart(Time::ZERO));
    let mut sent = [0; 8];
    port.books().sent[begun..].iter().for_each(|item| sent[item.flow as usize - 8] += 1);
    close(&sent, &[50; 8]);
}

/// The flows that have sent since `from`, by their order.
fn flows(port: &FreeLink, from: usize) -> Vec<u32> {
    port.books().sent[from..].iter().map(|item| item.flow).collect()
}

/// A host's flow 9, which has always more packets of 600 bytes, and flow 3 with a single one of a quantum: that uses up
/// its credit with all that it has, and waits for its next turn. Flow 9 is bulk, and has 200 bytes of credit left.
fn one_waits() -> FreeLink {
    let mut port = port("sources", 1);
    (0..20).for_each(|_| port.arrive_as(Time::ZERO, of_host(9, 600)));
    port.arrive_as(Time::ZERO, of_host(3, 1000));
    (0..3).for_each(|_| port.depart(Time::ZERO));
    assert_eq!(flows(&port, 0), [9, 9, 3, 9]);
    port
}

fn of_host(flow: u32, bytes: u64) -> Item {
    Item { flow, source: 1, bytes: Bytes(bytes), ..Item::default() }
}

/// A packet comes while its queue waits: that is bulk now, the second of its host. So the first turn of flow 4 is worth
/// 500 bytes, which is two packets of 400, where it would be three with 1000.
#[test]
fn a_queue_that_waits_is_bulk_with_its_next_packet() {
    let mut port = one_waits();
    port.arrive_as(Time::ZERO, of_host(3, 100));
    (0..3).for_each(|_| port.arrive_as(Time::ZERO, of_host(4, 400)));
    (0..3).for_each(|_| port.depart(Time::ZERO));
    assert_eq!(flows(&port, 4), [4, 4, 9]);
}

/// The queue is found empty, and what it was is forgotten: its next two packets, of a fifth of a quantum, do not make it
/// bulk. So flow 9 is the only one that is, and the first turn of flow 4 is worth 1000 bytes.
#[test]
fn a_queue_that_has_left_no_longer_waits() {
    let mut port = one_waits();
    (0..3).for_each(|_| port.depart(Time::ZERO));
    assert_eq!(observed_in(port.queue())["active_queues"], 1.0);
    (0..2).for_each(|_| port.arrive_as(Time::ZERO, of_host(3, 100)));
    (0..3).for_each(|_| port.arrive_as(Time::ZERO, of_host(4, 400)));
    (0..6).for_each(|_| port.depart(Time::ZERO));
    assert_eq!(flows(&port, 7), [3, 3, 4, 4, 4, 9]);
}

/// A ninth flow finds the eight queues of the only set in use, and its packet waits with those of another flow. Once the
/// queue of flow 0 is empty its second packet has that to itself, and passes the first one; unless it was that queue that
/// it shared.
#[test]
fn a_flow_that_shared_a_queue_passes_itself() {
    let mut passed = 0;
    for seed in 0..20 {
        let mut port = one_set(seed);
        let item = |flow| Item { flow, source: flow, bytes: PACKET, ..Item::default() };
        port.arrive_as(Time::ZERO, item(0));
        for _ in 0..3 {
            (1..8).for_each(|flow| port.arrive_as(Time::ZERO, item(flow)));
        }
        port.arrive_as(Time::ZERO, item(8));
        while observed_in(port.queue())["active_queues"] == 8.0 {
            port.depart(Time::ZERO);
        }
        port.arrive_as(Time::ZERO, item(8));
        while port.is_busy() {
            port.depart(Time::ZERO);
        }
        assert!(port.queue().reorders());
        let of_eight = port.books().sent.iter().filter(|item| item.flow == 8);
        passed += u32::from(!of_eight.is_sorted_by_key(|item| item.id));
    }
    assert!((10..=20).contains(&passed), "{passed} of 20");
}
