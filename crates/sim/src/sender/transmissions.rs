//! Which packet carried a segment last, for who follows packets to their end.

use std::collections::VecDeque;

/// The last transmission of each segment that is not acknowledged in order.
#[derive(Debug, Default)]
pub(super) struct Transmissions {
    /// The segment of the first entry.
    first: u64,
    /// Packet numbers, and whether the arrival has been reported.
    last: VecDeque<(u64, bool)>,
}

impl Transmissions {
    pub(super) fn send(&mut self, segment: u64, packet: u64) {
        let place = segment.wrapping_sub(self.first) as usize;
        if place == self.last.len() {
            self.last.push_back((packet, false));
        } else if let Some(entry) = self.last.get_mut(place) {
            entry.0 = packet;
        }
    }

    /// The packet of a segment.
    pub(super) fn packet(&self, segment: u64) -> Option<u64> {
        let place = segment.checked_sub(self.first)?;
        self.last.get(place as usize).map(|(packet, _)| *packet)
    }

    /// A segment is reported. Its packet, if that is news.
    pub(super) fn arrive(&mut self, segment: u64) -> Option<u64> {
        let place = segment.checked_sub(self.first)?;
        let (packet, known) = self.last.get_mut(place as usize)?;
        (!std::mem::replace(known, true)).then_some(*packet)
    }

    /// Everything below this segment is reported. The packets of which that is news.
    pub(super) fn arrive_below(&mut self, below: u64, packets: &mut Vec<u64>) {
        while self.first < below {
            let Some((packet, known)) = self.last.pop_front() else { return };
            self.first += 1;
            if !known {
                packets.push(packet);
            }
        }
    }
}

/// Numbers as ranges, first and last of each.
pub(super) fn ranges(mut numbers: Vec<u64>) -> Vec<(u64, u64)> {
    numbers.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_ranges() {
        assert_eq!(ranges(vec![]), []);
        assert_eq!(ranges(vec![7, 3, 4, 9, 5]), [(3, 5), (7, 7), (9, 9)]);
    }

    #[test]
    fn the_last_transmission_of_a_segment_counts_once() {
        let mut transmissions = Transmissions::default();
        for segment in 0..4 {
            transmissions.send(segment, segment);
        }
        assert_eq!(transmissions.arrive(2), Some(2));
        assert_eq!(transmissions.arrive(2), None, "it is known");
        transmissions.send(0, 4);
        let mut packets = Vec::new();
        transmissions.arrive_below(3, &mut packets);
        assert_eq!(packets, [4, 1]);
        assert_eq!((transmissions.packet(2), transmissions.packet(3)), (None, Some(3)));
    }
}
