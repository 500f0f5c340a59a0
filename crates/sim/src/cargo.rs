//! What only a few packets carry: selective acknowledgments (RFC 2018), headers for routers, and how long data took.
//!
//! A packet holds only a handle. Its cargo stays in the hold until the packet arrives or is lost; arriving data passes
//! its cargo on to its acknowledgment. Slots are reused: nothing is allocated in the steady state. Acknowledgments that
//! say no more than how long data took have small slots of their own.

use longfat_units::{RouterHeader, Span, Time};
use slab::Slab;

use crate::runs::SegmentRun;

/// Up to three blocks, the one with the newest segment first (RFC 2018, section 4). Empty ones have `first == end`. The
/// first may instead be a segment that has arrived twice (RFC 2883).
pub(crate) type Blocks = [SegmentRun; 3];

/// What one packet carries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cargo {
    /// Acknowledgment: what has arrived out of order.
    pub(crate) blocks: Option<Blocks>,
    /// Acknowledgment: what else its receiver reports.
    pub(crate) report: Report,
    /// Data: what it tells routers, and what they tell it. Acknowledgment: what routers told the data it covers.
    pub(crate) header: Option<RouterHeader>,
    /// If its sender wants to know how long it takes to arrive. Data: when it left, from the beginning of time, unless
    /// [`TIMED`](crate::packet::Flags::TIMED) says that the packet knows. Acknowledgment: how long that was.
    pub(crate) transit: Option<Span>,
}

/// What an acknowledgment carries that says how long its data took, and nothing else but a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) transit: Span,
    pub(crate) report: Report,
}

impl Timing {
    /// The same as cargo of any kind.
    pub(crate) fn cargo(self) -> Cargo {
        let Self { transit, report } = self;
        Cargo { transit: Some(transit), report, ..Cargo::default() }
    }
}

/// What a receiver reports beside what has arrived. One of the two numbers fits into the acknowledgment itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// How many segments have arrived marked, modulo 2³²; 0 where the receiver does not count them.
    pub(crate) marks: u32,
    /// The receive window in segments; 0 if it tells none.
    pub(crate) window: u32,
}

impl Report {
    /// Does it fit into an acknowledgment without cargo?
    #[inline]
    pub(crate) fn fits(self) -> bool {
        self.marks == 0 || self.window == 0
    }

    /// What such an acknowledgment carries.
    #[inline]
    pub(crate) fn word(self) -> u32 {
        self.marks | self.window
    }

    /// The report of an acknowledgment with this `word` and no cargo, from a receiver that tells a window or does not.
    #[inline]
    pub(crate) fn of(word: u32, tells_window: bool) -> Self {
        if tells_window { Self { marks: 0, window: word } } else { Self { marks: word, window: 0 } }
    }
}

/// The cargo of all packets in transit.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    cargo: Slab<Cargo>,
    timings: Slab<Timing>,
}

/// A bit of the handles of timings.
const TIMING: u32 = 1 << 31;

impl Hold {
    /// Stores `cargo` until it is taken, and returns its handle.
    fn keep(&mut self, cargo: Cargo) -> u32 {
        self.cargo.insert(cargo) as u32
    }

    /// The same for a timing.
    #[inline]
    fn keep_timing(&mut self, timing: Timing) -> u32 {
        self.timings.insert(timing) as u32 | TIMING
    }

    /// Stores what leaves with data.
    #[cold]
    pub(crate) fn load(&mut self, cargo: &Cargo) -> u32 {
        self.keep(*cargo)
    }

    /// Data with this cargo has arrived.
    pub(crate) fn arrive(&mut self, handle: Option<u32>, at: Time) {
        let transit = handle.and_then(|handle| self.cargo[handle as usize].transit.as_mut());
        if let Some(transit) = transit {
            *transit = Span(at.0.saturating_sub(transit.0));
        }
    }

    /// Stores a copy of the cargo of a packet, if it has any, for a duplicate of it.
    pub(crate) fn copy(&mut self, handle: Option<u32>) -> Option<u32> {
        let handle = handle?;
        Some(if handle & TIMING == 0 {
            self.keep(self.cargo[handle as usize])
        } else {
            self.keep_timing(self.timings[(handle ^ TIMING) as usize])
        })
    }

    /// Takes the cargo of a packet that has arrived.
    pub(crate) fn take(&mut self, handle: u32) -> Cargo {
        match self.take_timing(handle) {
            Some(timing) => timing.cargo(),
            None => self.cargo.remove(handle as usize),
        }
    }

    /// The same if it is a timing; otherwise leaves it where it is.
    #[inline]
    pub(crate) fn take_timing(&mut self, handle: u32) -> Option<Timing> {
        (handle & TIMING != 0).then(|| self.timings.remove((handle ^ TIMING) as usize))
    }

    /// Cargo that is no timing.
    #[inline]
    pub(crate) fn at(&self, handle: u32) -> &Cargo {
        &self.cargo[handle as usize]
    }

    /// Drops the cargo of a packet that is gone, if it had any.
    pub(crate) fn release(&mut self, handle: Option<u32>) {
        if let Some(handle) = handle {
            self.take(handle);
        }
    }

    /// The cargo of an acknowledgment with these blocks and this report, for data with that cargo, if it has any, which
    /// took so long if it is timed. None where the report fits into the acknowledgment and there is nothing else.
    #[inline]
    pub(crate) fn hand_over(
        &mut self,
        data: Option<u32>,
        transit: Option<Span>,
        blocks: Option<&Blocks>,
        report: Report,
    ) -> Option<u32> {
        if let Some(handle) = data {
            let cargo = &mut self.cargo[handle as usize];
            (cargo.blocks, cargo.report) = (blocks.copied(), report);
            return data;
        }
        match (blocks, transit) {
            (None, None) if report.fits() => None,
            (None, Some(transit)) => Some(self.keep_timing(Timing { transit, report })),
            _ => Some(self.keep(Cargo { blocks: blocks.copied(), report, header: None, transit })),
        }
    }

    /// One acknowledgment now covers `data` and what a delayed acknowledgment covered: combines their headers into one.
    /// Both arguments are cargo handles.
    pub(crate) fn combine(&mut self, kept_back: Option<u32>, data: Option<u32>) {
        let earlier = kept_back.and_then(|handle| self.take(handle).header);
        if let (Some(earlier), Some(header)) = (earlier, data.and_then(|data| self.header(data))) {
            *header = header.after(&earlier);
        }
    }

    /// The header for routers, if there is one.
    pub(crate) fn header(&mut self, handle: u32) -> Option<&mut RouterHeader> {
        self.cargo.get_mut(handle as usize)?.header.as_mut()
    }

    /// How many packets with cargo are in transit.
    pub(crate) fn in_use(&self) -> usize {
        self.cargo.len() + self.timings.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_travels_with_or_without_cargo() {
        let reports =
            [(0, 0), (7, 0), (0, 9), (7, 9)].map(|(marks, window)| Report { marks, window });
        for report in reports {
            let mut hold = Hold::default();
            let tells_window = report.window > 0;
            let heard = match hold.hand_over(None, None, None, report) {
                Some(handle) => hold.take(handle).report,
                None => Report::of(report.word(), tells_window),
            };
            assert_eq!(heard, report);
            assert_eq!(hold.in_use(), 0);
            let header =
                hold.load(&Cargo { header: Some(RouterHeader::default()), ..Cargo::default() });
            assert_eq!(hold.hand_over(Some(header), None, None, report), Some(header));
            assert_eq!(hold.take(header).report, report);
        }
    }

    #[test]
    fn a_timing_says_the_same_as_any_other_cargo() {
        let (mut hold, report) = (Hold::default(), Report { marks: 7, window: 9 });
        let transit = Some(Span::from_millis(3));
        let blocks = Blocks::default();
        for told in [None, Some(&blocks)] {
            let handle = hold.hand_over(None, transit, told, report);
            let copy = hold.copy(handle);
            assert_eq!(hold.in_use(), 2);
            for handle in [handle, copy].into_iter().flatten() {
                assert!(hold.header(handle).is_none());
                let cargo = hold.take(handle);
                assert_eq!((cargo.transit, cargo.report), (transit, report));
                assert_eq!(cargo.blocks.as_ref(), told);
            }
            assert_eq!(hold.in_use(), 0);
        }
    }
}
