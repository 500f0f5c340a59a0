//! Kim and Farber 1995: first in, first out, and a full buffer discards the lowest priority.

use longfat_queue::discipline::pushout::discipline;
use longfat_queue::{Capacity, Item};
use longfat_units::RouterHeader;

use super::places::admits;
use super::{Decisions, Plain, cases, compare};

struct Pushout {
    line: Vec<Item>,
    capacity: Capacity,
}

impl Plain for Pushout {
    fn arrive(&mut self, _: u64, item: Item, _: Option<RouterHeader>, decided: &mut Decisions) {
        while !admits(self.capacity, &self.line, &item) {
            // The lowest priority has the largest rank; of several the one that came last.
            let lowest = (0..self.line.len()).max_by_key(|&at| self.line[at].rank);
            match lowest.filter(|&at| self.line[at].rank > item.rank) {
                Some(at) => decided.dropped.push(self.line.remove(at).id),
                None => return decided.dropped.push(item.id),
            }
        }
        self.line.push(item);
    }

    fn leave(&mut self, _: u64, _: &mut Decisions) -> Option<Item> {
        (!self.line.is_empty()).then(|| self.line.remove(0))
    }
}

#[test]
fn pushout_is_its_model() {
    cases(|draw, seed| {
        let (capacity, visits) = (draw.capacity(), draw.visits());
        let plain = Pushout { line: Vec::new(), capacity };
        compare(&discipline(), &[], capacity, seed, plain, visits);
    });
}
