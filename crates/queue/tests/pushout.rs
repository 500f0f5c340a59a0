//! The storage of pushout checked against its rule, written as plainly as possible.

use longfat_queue::discipline::pushout::discipline;
use longfat_queue::{Capacity, Item, Pushout, Site};
use longfat_units::Time;
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::support::{FreeLink, PACKET, changed, site};

/// Ranks and names in the order of arrival.
#[derive(Debug, Default)]
struct Plain(Vec<(u32, u64)>);

impl Plain {
    fn take(&mut self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.remove(0).1)
    }

    /// The largest rank; the last one if there are several.
    fn lowest(&self) -> Option<usize> {
        (0..self.0.len()).max_by_key(|&at| self.0[at].0)
    }

    fn push_out(&mut self) -> Option<u64> {
        self.lowest().map(|at| self.0.remove(at).1)
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Put(u32),
    Take,
    PushOut,
}

fn step() -> impl Strategy<Value = Act> {
    prop_oneof![
        // Few ranks, so that many are equal; the beginnings of bursts; and the largest possible rank.
        6 => prop_oneof![0_u32..4, 0_u32..200, Just(u32::MAX)].prop_map(Act::Put),
        2 => Just(Act::Take),
        2 => Just(Act::PushOut),
    ]
}

proptest! {
    #[test]
    fn the_storage_is_what_its_rule_says(steps in prop::collection::vec(step(), 1..400)) {
        let (mut storage, mut plain) = (Pushout::default(), Plain::default());
        for (name, step) in steps.into_iter().enumerate() {
            match step {
                Act::Put(rank) => {
                    storage.put(rank, name as u64);
                    plain.0.push((rank, name as u64));
                }
                Act::Take => prop_assert_eq!(storage.take(), plain.take()),
                Act::PushOut => prop_assert_eq!(storage.push_out(), plain.push_out()),
            }
            prop_assert_eq!(storage.lowest(), plain.lowest().map(|at| plain.0[at].0));
            prop_assert_eq!(storage.len(), plain.0.len());
            prop_assert_eq!(storage.is_empty(), plain.0.is_empty());
            prop_assert!(storage.iter().eq(plain.0.iter().map(|(_, name)| name)));
        }
    }
}

#[test]
fn of_equal_ranks_the_most_recent_goes_first() {
    let mut storage = Pushout::default();
    for name in 0..100_u64 {
        storage.put(7, name);
    }
    assert_eq!((0..3).map_while(|_| storage.push_out()).collect::<Vec<_>>(), [99, 98, 97]);
    assert_eq!(storage.take(), Some(0));
}

/// The first of two leaves, and a third takes its place in the storage: it came last, wherever it is.
#[test]
fn the_most_recent_is_not_told_by_its_place() {
    let mut storage = Pushout::default();
    (0..2).for_each(|name| storage.put(7, name));
    assert_eq!(storage.take(), Some(0));
    storage.put(7, 2);
    assert_eq!([storage.push_out(), storage.push_out()], [Some(2), Some(1)]);
}

/// Of the ranks 5, 9 and 3 the first leaves and the second is pushed out; both are neighbours in the storage, where nothing
/// is left then. The third is the lowest priority.
#[test]
fn what_has_gone_is_not_the_lowest() {
    let mut storage = Pushout::default();
    for (name, rank) in [5, 9, 3].into_iter().enumerate() {
        storage.put(rank, name);
    }
    assert_eq!([storage.take(), storage.push_out()], [Some(0), Some(1)]);
    assert_eq!(storage.lowest(), Some(3));
    assert_eq!(storage.push_out(), Some(2));
}

/// One packet is in service and two of rank 3 fill the buffer. One of the same rank is dropped itself, one of a higher
/// priority takes the place of the last of them.
#[test]
fn a_full_buffer_keeps_what_came_first_of_equal_ranks() {
    let capacity = Capacity::Packets(2);
    let site = Site { capacity, ..site("packets") };
    let queue = (discipline().build)(&changed(&discipline(), "packets", &[]), &site);
    let mut port = FreeLink::new(queue.into_queue(capacity), capacity, 1);
    for rank in [3, 3, 3, 3, 2] {
        port.arrive_as(Time::ZERO, Item { rank, bytes: PACKET, ..Item::default() });
    }
    let dropped: Vec<_> = port.books().dropped.iter().map(|item| item.id).collect();
    assert_eq!(dropped, [3, 2]);
}

#[test]
fn a_million_packets_come_out_in_order_of_arrival_or_of_rank() {
    const PACKETS: u64 = 1_000_000;
    let mut chance = Pcg64::seed_from_u64(1);
    let mut storage = Pushout::default();
    for name in 0..PACKETS {
        storage.put(chance.next_u32() % 10_000, name);
    }
    // Further arrivals, each taking the place of the lowest priority, with one packet served for every second arrival.
    let mut served = Vec::new();
    for name in PACKETS..PACKETS + 100_000 {
        let rank = chance.next_u32() % 10_000;
        if storage.lowest() > Some(rank) {
            storage.push_out();
            storage.put(rank, name);
        }
        if name % 2 == 0 {
            served.extend(storage.take());
            storage.put(0, name);
        }
    }
    assert!(served.is_sorted() && served.len() == 50_000);
    assert_eq!(storage.len() as u64, PACKETS);
    let mut last = u32::MAX;
    for _ in 0..100_000 {
        let rank = storage.lowest().expect("more than that are waiting");
        assert!(rank <= last);
        last = rank;
        storage.push_out();
    }
    assert_eq!(storage.len() as u64, PACKETS - 100_000);
}
