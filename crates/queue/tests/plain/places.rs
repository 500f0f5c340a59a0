//! Where models put flows: the hash that is declared, and the longest of several queues.

use longfat_queue::{Capacity, Item};
use rand_core::Rng;
use rand_pcg::Pcg64;

use crate::support::chance;

/// The random numbers of a queue, from which its salts are drawn when they are needed.
pub(super) struct Salts(Pcg64);

impl Salts {
    pub(super) fn new(seed: u64) -> Self {
        Self(chance(seed))
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Which of `count` queues a key is hashed to: the finaliser of `SplitMix64`, as a fraction of all its values.
pub(super) fn hashed(key: u64, salt: u64, count: usize) -> usize {
    let mut hash = key ^ salt;
    hash ^= hash >> 30;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^= hash >> 27;
    hash = hash.wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    ((u128::from(hash) * count as u128) >> 64) as usize
}

pub(super) fn flow(item: &Item) -> u64 {
    u64::from(item.source) << 32 | u64::from(item.flow)
}

/// Do these lines together exceed the buffer?
pub(super) fn exceed(capacity: Capacity, lines: &[Vec<Item>]) -> bool {
    match capacity {
        Capacity::Packets(limit) => lines.iter().flatten().count() as u64 > limit,
        Capacity::Bytes(limit) => lines.iter().map(|line| bytes(line)).sum::<u64>() > limit.0,
        Capacity::Unbounded => false,
    }
}

/// Does this line have room for one more packet?
pub(super) fn admits(capacity: Capacity, line: &[Item], item: &Item) -> bool {
    match capacity {
        Capacity::Packets(limit) => (line.len() as u64) < limit,
        Capacity::Bytes(limit) => bytes(line) + item.bytes.0 <= limit.0,
        Capacity::Unbounded => true,
    }
}

pub(super) fn bytes(line: &[Item]) -> u64 {
    line.iter().map(|item| item.bytes.0).sum()
}

/// The longest of lines, and of several the next behind the one that was found `last`, in a circle.
pub(super) fn longest(lengths: &[u64], last: &mut Option<usize>) -> usize {
    let count = lengths.len();
    let most = lengths.iter().max().expect("there are some");
    let first = last.map_or(0, |last| last + 1);
    let found = (first..first + count).map(|at| at % count).find(|&at| lengths[at] == *most);
    *last = found;
    found.expect("one is the longest")
}
