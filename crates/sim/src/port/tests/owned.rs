//! Queues that own their packets, each against its rule in the plainest possible form.

use std::sync::{Arc, Mutex};

use longfat_queue::{Backlog, Built, Capacity, Host, Item, Line, PacketQueue, Site};
use longfat_units::{Bytes, Ecn, Rate, Span, Time, parameter};
use proptest::prelude::*;

use super::{LONE, MEGABYTE, config, packet};
use crate::cargo::Hold;
use crate::member::Identity;
use crate::packet::{Flags, Packet};
use crate::port::{Arrived, Port, PortConfig};

/// The packets that the port's queue has dropped, last one first.
fn dropped(port: &mut Port) -> Vec<u64> {
    std::iter::from_fn(|| port.take_dropped()).map(|packet| packet.number).collect()
}

/// The gap since the previous arrival, and the packet's rank and size.
type RankedArrival = (u64, u32, u32);

/// Pushout by its rule: the numbers of the packets sent and of those discarded, each in order. One byte takes a
/// nanosecond.
fn pushout_by_rule(limit: u64, arrivals: &[RankedArrival]) -> (Vec<u64>, Vec<u64>) {
    let (mut sent, mut discarded) = (Vec::new(), Vec::new());
    let mut waiting: Vec<(u32, u64, u32)> = Vec::new();
    let (mut now, mut free_at) = (0, 0);
    for (number, &(gap, rank, bytes)) in arrivals.iter().enumerate() {
        now += gap;
        while free_at <= now && !waiting.is_empty() {
            let (_, first, bytes) = waiting.remove(0);
            sent.push(first);
            free_at += u64::from(bytes);
        }
        if free_at <= now {
            sent.push(number as u64);
            free_at = now + u64::from(bytes);
            continue;
        }
        waiting.push((rank, number as u64, bytes));
        while waiting.iter().map(|(_, _, bytes)| u64::from(*bytes)).sum::<u64>() > limit {
            let lowest = (0..waiting.len()).max_by_key(|&at| waiting[at].0).expect("some wait");
            discarded.push(waiting.remove(lowest).1);
        }
    }
    sent.extend(waiting.iter().map(|(_, number, _)| number));
    (sent, discarded)
}

proptest! {
    #[test]
    fn pushout_discards_what_its_rule_says(
        limit in 1500_u64..10_000,
        arrivals in prop::collection::vec(
            (0_u64..1500, prop_oneof![0_u32..3, 0_u32..100], prop::sample::select(vec![40_u32, 1000, 1500])),
            1..200,
        ),
    ) {
        let end = Time(1_000_000_000_000);
        let capacity = Capacity::Bytes(Bytes(limit));
        let rate = Rate(8_000_000_000);
        let site = Site { rate, packet: Bytes(1500), capacity, round_trip: None };
        let pushout = longfat_queue::discipline::pushout::discipline();
        let queue = (pushout.build)(&parameter::Settings::default(), &site);
        let mut port = Port::new(PortConfig { queue, ..config(rate, capacity, false, end) });
        prop_assert!(port.has_departures(), "what may be pushed out has no departure yet");
        let (mut sent, mut discarded) = (Vec::new(), Vec::new());
        let mut departure: Option<Time> = None;
        let mut now = Time::ZERO;
        for (number, &(gap, rank, bytes)) in arrivals.iter().enumerate() {
            now += Span(gap * 1000);
            while let Some(at) = departure.filter(|&at| at <= now) {
                let departed = port.depart(at, &mut Hold::default());
                sent.push(departed.packet.number);
                departure = departed.next;
            }
            let mut arriving = Packet { detail: rank, ..packet(number as u64, bytes) };
            match port.arrive(now, &mut arriving, &[LONE], &mut Hold::default()) {
                Arrived::Waits(first) => departure = first.or(departure),
                other => prop_assert!(false, "{other:?}"),
            }
            let mut dropped = dropped(&mut port);
            dropped.reverse();
            discarded.append(&mut dropped);
            prop_assert!(port.backlog().bytes.0 <= limit);
        }
        while let Some(at) = departure {
            let departed = port.depart(at, &mut Hold::default());
            sent.push(departed.packet.number);
            departure = departed.next;
        }
        prop_assert_eq!(port.backlog(), Backlog::default());
        port.settle(end);
        let report = port.gauge_mut().report();
        prop_assert_eq!((report.arrived, report.dropped), (arrivals.len() as u64, discarded.len() as u64));
        prop_assert_eq!((sent, discarded), pushout_by_rule(limit, &arrivals));
    }
}

/// Last in, first out; a full queue drops its oldest packet. A packet that has waited longer than `patience` when its
/// turn comes is dropped, and one that has waited longer than half of that is marked.
#[derive(Debug)]
struct Impatient {
    waiting: Vec<Item>,
    limit: usize,
    patience: Span,
    clock: Time,
}

impl PacketQueue for Impatient {
    fn enqueue(&mut self, now: Time, item: Item, host: &mut dyn Host) {
        assert_eq!((self.clock, item.arrived), (now, now), "the clock is brought up to date first");
        self.waiting.push(item);
        if self.waiting.len() > self.limit {
            host.drop(self.waiting.remove(0));
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item> {
        assert_eq!(self.clock, now, "the clock is brought up to date first");
        while let Some(mut item) = self.waiting.pop() {
            if item.sojourn(now) > self.patience {
                host.drop(item);
                continue;
            }
            if item.sojourn(now) > self.patience / 2 {
                assert_eq!(host.mark(&mut item), item.ecn == Ecn::Ce);
            }
            return Some(item);
        }
        None
    }

    fn advance(&mut self, now: Time) {
        self.clock = now;
    }
}

/// What becomes of packets in an impatient queue, as plainly as possible: those sent and whether each was marked, those
/// dropped, and the sum of all waiting times up to `end`. One byte takes a nanosecond.
fn impatient_by_rule(
    limit: usize,
    patience: u64,
    arrivals: &[(u64, u32, Ecn)],
    end: u64,
) -> (Vec<(u64, bool)>, Vec<u64>, u64) {
    let (mut sent, mut dropped, mut waited) = (Vec::new(), Vec::new(), 0);
    let mut waiting: Vec<(u64, u64)> = Vec::new();
    let (mut now, mut free_at) = (0, 0);
    // A last, fictitious arrival empties the queue.
    let last = std::iter::once((None, (end, 0, Ecn::NotEct)));
    for (number, (gap, bytes, _)) in (0..).map(Some).zip(arrivals.iter().copied()).chain(last) {
        now += gap;
        while free_at <= now && !waiting.is_empty() {
            let (turn, at) = waiting.pop().expect("something waits");
            waited += free_at - at;
            if free_at - at > patience {
                dropped.push(turn);
                continue;
            }
            let (_, bytes, ecn) = arrivals[turn as usize];
            sent.push((turn, free_at - at > patience / 2 && ecn.is_capable()));
            free_at += u64::from(bytes);
        }
        let Some(number) = number else { break };
        if free_at <= now {
            sent.push((number, false));
            free_at = now + u64::from(bytes);
            continue;
        }
        waiting.push((number, now));
        if waiting.len() > limit {
            let (oldest, at) = waiting.remove(0);
            waited += now - at;
            dropped.push(oldest);
        }
    }
    (sent, dropped, waited)
}

proptest! {
    /// A queue that owns its packets may decide about any of them, on arrival and on departure, and every decision is
    /// carried out and counted.
    #[test]
    fn a_queue_that_owns_its_packets_has_its_way(
        limit in 1_usize..8,
        patience in (500_u64..6000).prop_map(|half| 2 * half),
        arrivals in prop::collection::vec(
            (
                0_u64..1500,
                prop::sample::select(vec![40_u32, 1000, 1500]),
                prop::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect0]),
            ),
            1..200,
        ),
    ) {
        let end = Time(1_000_000_000);
        let capacity = Capacity::Packets(limit as u64);
        let queue = Impatient { waiting: Vec::new(), limit, patience: Span(1000 * patience), clock: Time::ZERO };
        let mut port = Port::new(PortConfig {
            queue: Built::Own(Box::new(queue)),
            ..config(Rate(8_000_000_000), capacity, false, end)
        });
        let (mut sent, mut gone) = (Vec::new(), Vec::new());
        let mut depart = |port: &mut Port, at: Time, gone: &mut Vec<u64>| {
            let departed = port.depart(at, &mut Hold::default());
            sent.push((departed.packet.number, departed.packet.flags.ecn() == Ecn::Ce));
            let mut dropped = dropped(port);
            dropped.reverse();
            gone.append(&mut dropped);
            departed.next
        };
        let mut departure: Option<Time> = None;
        let mut now = Time::ZERO;
        for (number, &(gap, bytes, ecn)) in (0..).zip(&arrivals) {
            now += Span(gap * 1000);
            while let Some(at) = departure.filter(|&at| at <= now) {
                departure = depart(&mut port, at, &mut gone);
            }
            let flags = Flags::default().with_ecn(ecn);
            match port.arrive(now, &mut Packet { flags, ..packet(number, bytes) }, &[LONE], &mut Hold::default()) {
                Arrived::Waits(first) => departure = first.or(departure),
                other => prop_assert!(false, "{other:?}"),
            }
            gone.append(&mut dropped(&mut port));
        }
        while let Some(at) = departure {
            departure = depart(&mut port, at, &mut gone);
        }
        prop_assert_eq!(port.inside(|_| true), 0);
        port.settle(end);
        let report = port.gauge_mut().report();
        let (expected_sent, expected_gone, waited) = impatient_by_rule(limit, patience, &arrivals, end.0 / 1000);
        prop_assert_eq!(&sent, &expected_sent);
        prop_assert_eq!(&gone, &expected_gone);
        let marked = sent.iter().filter(|(_, marked)| *marked).count() as u64;
        prop_assert_eq!(
            (report.arrived, report.dropped, report.marked),
            (arrivals.len() as u64, gone.len() as u64, marked)
        );
        let mean = waited as f64 / (end.0 / 1000) as f64;
        prop_assert!((report.queue_mean * limit as f64 - mean).abs() <= 1e-9 * (1.0 + mean));
    }
}

/// What a queue sees of data and acknowledgments: two flows of one group, and one of another.
#[test]
fn a_queue_knows_flows_and_hosts() {
    #[derive(Debug, Default)]
    struct Notes(Line, Arc<Mutex<Vec<Item>>>);

    impl PacketQueue for Notes {
        fn enqueue(&mut self, _: Time, item: Item, _: &mut dyn Host) {
            self.1.lock().expect("nothing else holds it").push(item);
            self.0.push(item);
        }

        fn dequeue(&mut self, _: Time, _: &mut dyn Host) -> Option<Item> {
            self.0.pop()
        }
    }

    let notes = Notes::default();
    let seen = Arc::clone(&notes.1);
    let mut port = Port::new(PortConfig {
        queue: Built::Own(Box::new(notes)),
        ..config(MEGABYTE, Capacity::Unbounded, false, Time::NEVER)
    });
    let identities = [(6, 0), (6, 4), (9, 5)].map(|(host, flow)| Identity { host, flow });
    for flow in 0..3 {
        for flags in [Flags::default().with_ecn(Ecn::Ect1), Flags::ACK] {
            let mut packet = Packet { flow, flags, detail: 9, ..packet(0, 40) };
            port.arrive(Time(5), &mut packet, &identities, &mut Hold::default());
        }
    }
    let seen = seen.lock().expect("nothing else holds it");
    let ends: Vec<_> = seen.iter().map(|item| (item.flow, item.source, item.destination)).collect();
    assert_eq!(ends, [(0, 6, 7), (0, 7, 6), (4, 6, 7), (4, 7, 6), (5, 9, 8), (5, 8, 9)]);
    let (data, ack) = (seen[0], seen[1]);
    assert_eq!((data.ecn, data.rank, data.bytes), (Ecn::Ect1, 9, Bytes(40)));
    assert_eq!((ack.ecn, ack.rank, ack.arrived), (Ecn::NotEct, 0, Time(5)));
}
