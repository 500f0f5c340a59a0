//! What only a few packets carry: selective acknowledgments (RFC 2018), headers for routers, and how long data took.
//!
//! A packet holds only a handle. Its cargo stays in the hold until the packet arrives or is lost; arriving data passes
//! its cargo on to its acknowledgment. Places are reused, those first that were left last and are still near: nothing is
//! allocated in the steady state. Acknowledgments that say no more than what has arrived, or than how long data took,
//! have small places of their own.

use longfat_pages::prefetch;
use longfat_units::{RouterHeader, Span, Time};

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

/// What an acknowledgment carries that says what has arrived out of order, and nothing else but a report: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Arrivals {
    blocks: Blocks,
    report: Report,
}

impl Arrivals {
    /// The same as cargo of any kind.
    fn cargo(self) -> Cargo {
        let Self { blocks, report } = self;
        Cargo { blocks: Some(blocks), report, ..Cargo::default() }
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

/// Values of one kind. A place is found by its number alone, so that it can be asked for without reading anything.
#[derive(Debug)]
struct Store<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Store<T> {
    /// Stores a value; returns its place.
    #[inline]
    fn insert(&mut self, value: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = value;
            return place;
        }
        if self.places.len() == self.places.capacity() {
            self.grow();
        }
        self.places.push(value);
        self.places.len() as u32 - 1
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = longfat_pages::with_capacity((2 * self.places.len()).max(16));
        larger.append(&mut self.places);
        self.places = larger;
    }

    /// Takes the value of a place, which is free from then on.
    #[inline]
    fn remove(&mut self, place: u32) -> T {
        self.free(place);
        self.places[place as usize]
    }

    /// Nobody needs the value of a place any more.
    fn free(&mut self, place: u32) {
        debug_assert!(self.len() > 0, "{place} is free already");
        self.free.push(place);
    }

    fn at(&self, place: u32) -> &T {
        &self.places[place as usize]
    }

    fn at_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }

    /// How many values there are.
    fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

/// The cargo of all packets in transit.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    cargo: Store<Cargo>,
    arrivals: Store<Arrivals>,
    timings: Store<Timing>,
}

/// Where cargo is, by its handle.
enum Kind {
    Any(u32),
    Arrivals(u32),
    Timing(u32),
}

/// A bit of the handles of timings, and of arrivals.
const TIMING: u32 = 1 << 31;
const ARRIVALS: u32 = 1 << 30;

impl Kind {
    #[inline]
    fn of(handle: u32) -> Self {
        if handle & ARRIVALS != 0 {
            Self::Arrivals(handle ^ ARRIVALS)
        } else if handle & TIMING != 0 {
            Self::Timing(handle ^ TIMING)
        } else {
            Self::Any(handle)
        }
    }
}

impl Hold {
    /// Stores `cargo` until it is taken, and returns its handle.
    fn keep(&mut self, cargo: Cargo) -> u32 {
        self.cargo.insert(cargo)
    }

    /// The same for what has arrived out of order.
    #[inline]
    fn keep_arrivals(&mut self, arrivals: Arrivals) -> u32 {
        self.arrivals.insert(arrivals) | ARRIVALS
    }

    /// The same for a timing.
    #[inline]
    fn keep_timing(&mut self, timing: Timing) -> u32 {
        self.timings.insert(timing) | TIMING
    }

    /// Stores what leaves with data.
    #[cold]
    pub(crate) fn load(&mut self, cargo: &Cargo) -> u32 {
        self.keep(*cargo)
    }

    /// Data with this cargo has arrived.
    pub(crate) fn arrive(&mut self, handle: Option<u32>, at: Time) {
        let transit = handle.and_then(|handle| self.cargo.at_mut(handle).transit.as_mut());
        if let Some(transit) = transit {
            *transit = Span(at.0.saturating_sub(transit.0));
        }
    }

    /// Stores a copy of the cargo of a packet, if it has any, for a duplicate of it.
    pub(crate) fn copy(&mut self, handle: Option<u32>) -> Option<u32> {
        Some(match Kind::of(handle?) {
            Kind::Any(place) => self.keep(*self.cargo.at(place)),
            Kind::Arrivals(place) => self.keep_arrivals(*self.arrivals.at(place)),
            Kind::Timing(place) => self.keep_timing(*self.timings.at(place)),
        })
    }

    /// Asks for cargo, so that it is at hand soon.
    #[inline]
    pub(crate) fn prefetch(&self, handle: u32) {
        match Kind::of(handle) {
            Kind::Any(place) => prefetch(self.cargo.at(place)),
            Kind::Arrivals(place) => prefetch(self.arrivals.at(place)),
            Kind::Timing(place) => prefetch(self.timings.at(place)),
        }
    }

    /// Takes the cargo of a packet that has arrived.
    #[inline(never)]
    pub(crate) fn take(&mut self, handle: u32) -> Cargo {
        match Kind::of(handle) {
            Kind::Any(place) => self.cargo.remove(place),
            Kind::Arrivals(place) => self.arrivals.remove(place).cargo(),
            Kind::Timing(place) => self.timings.remove(place).cargo(),
        }
    }

    /// The same if it is a timing; otherwise leaves it where it is.
    #[inline]
    pub(crate) fn take_timing(&mut self, handle: u32) -> Option<Timing> {
        (handle & TIMING != 0).then(|| self.timings.remove(handle ^ TIMING))
    }

    /// Drops the cargo of a packet that is gone, if it had any.
    pub(crate) fn release(&mut self, handle: Option<u32>) {
        match handle.map(Kind::of) {
            Some(Kind::Any(place)) => self.cargo.free(place),
            Some(Kind::Arrivals(place)) => self.arrivals.free(place),
            Some(Kind::Timing(place)) => self.timings.free(place),
            None => {}
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
            let cargo = self.cargo.at_mut(handle);
            (cargo.blocks, cargo.report) = (blocks.copied(), report);
            return data;
        }
        match (blocks, transit) {
            (None, None) if report.fits() => None,
            (None, Some(transit)) => Some(self.keep_timing(Timing { transit, report })),
            (Some(blocks), None) => Some(self.keep_arrivals(Arrivals { blocks: *blocks, report })),
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
        match Kind::of(handle) {
            Kind::Any(place) => self.cargo.at_mut(place).header.as_mut(),
            Kind::Arrivals(_) | Kind::Timing(_) => None,
        }
    }

    /// How many packets with cargo are in transit.
    pub(crate) fn in_use(&self) -> usize {
        self.cargo.len() + self.arrivals.len() + self.timings.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_travels_with_or_without_cargo() {
        let reports =
            [(0, 0), (7, 0), (0, 9), (7, 9)].map(|(marks, window)| Report { marks, window });
        assert_eq!(reports.map(Report::fits), [true, true, true, false]);
        for report in reports {
            let mut hold = Hold::default();
            let tells_window = report.window > 0;
            let handle = hold.hand_over(None, None, None, report);
            assert_eq!(handle.is_none(), report.fits(), "what fits needs no place");
            let heard = match handle {
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
    fn cargo_of_each_kind_says_what_it_was_made_from() {
        let (mut hold, report) = (Hold::default(), Report { marks: 7, window: 9 });
        let blocks = [(3, 5), (7, 8), (0, 0)].map(|(first, end)| SegmentRun { first, end });
        let transits = [None, Some(Span::from_millis(3))];
        for (transit, told) in transits.into_iter().flat_map(|it| [(it, None), (it, Some(&blocks))])
        {
            let handle = hold.hand_over(None, transit, told, report);
            let copy = hold.copy(handle);
            assert_eq!(hold.in_use(), 2);
            for handle in [handle, copy].into_iter().flatten() {
                hold.prefetch(handle);
                assert!(hold.header(handle).is_none());
                let cargo = hold.take(handle);
                assert_eq!((cargo.transit, cargo.report), (transit, report));
                assert_eq!(cargo.blocks.as_ref(), told);
            }
            assert_eq!(hold.in_use(), 0);
            let again = hold.hand_over(None, transit, told, report);
            assert_eq!(again, copy, "the place left last is the next one");
            hold.release(again);
            assert_eq!(hold.in_use(), 0);
        }
    }

    #[test]
    fn timings_and_arrivals_have_places_of_their_own() {
        let (mut hold, report) = (Hold::default(), Report { marks: 7, window: 9 });
        let (transit, blocks) = (Span::from_millis(3), Blocks::default());
        let timing = hold.hand_over(None, Some(transit), None, report).expect("it has cargo");
        let arrivals = hold.hand_over(None, None, Some(&blocks), report).expect("it has cargo");
        let both =
            hold.hand_over(None, Some(transit), Some(&blocks), report).expect("it has cargo");
        let lengths = [hold.timings.len(), hold.arrivals.len(), hold.cargo.len()];
        assert_eq!(lengths, [1; 3]);
        for other in [arrivals, both] {
            assert!(hold.take_timing(other).is_none());
        }
        assert_eq!(hold.in_use(), 3);
        let taken = hold.take_timing(timing).expect("it is one");
        assert_eq!((taken.transit, taken.report, hold.in_use()), (transit, report, 2));
    }

    #[test]
    fn data_says_how_long_it_took_once_it_has_arrived() {
        let mut hold = Hold::default();
        for (sent, at, took) in [(5, 12, 7), (5, 5, 0)] {
            let handle = hold.load(&Cargo { transit: Some(Span(sent)), ..Cargo::default() });
            hold.arrive(Some(handle), Time(at));
            assert_eq!(hold.take(handle).transit, Some(Span(took)));
        }
        let untimed = hold.load(&Cargo::default());
        hold.arrive(Some(untimed), Time(12));
        assert_eq!(hold.take(untimed).transit, None);
        hold.arrive(None, Time(12));
    }

    /// Feedback adds up, the code is the larger one, and of two places one is left.
    #[test]
    fn an_acknowledgment_of_two_has_both_headers() {
        let load = |hold: &mut Hold, feedback, code| {
            let header = RouterHeader { feedback, code, ..RouterHeader::default() };
            hold.load(&Cargo { header: Some(header), ..Cargo::default() })
        };
        let mut hold = Hold::default();
        let (earlier, data) = (load(&mut hold, 0.75, 3), load(&mut hold, -0.25, 1));
        hold.header(data).expect("it has one").window = longfat_units::Segments(11.0);
        hold.combine(Some(earlier), Some(data));
        assert_eq!(hold.in_use(), 1);
        let header = hold.header(data).expect("it has one");
        assert_eq!((header.feedback, header.code, header.window.0), (0.5, 3, 11.0));
        // A header that nothing takes over is gone; and none leaves the other as it is.
        let kept_back = load(&mut hold, 4.0, 7);
        hold.combine(Some(kept_back), None);
        hold.combine(None, Some(data));
        assert_eq!((hold.in_use(), hold.header(data).map(|it| it.feedback)), (1, Some(0.5)));
    }

    #[test]
    fn what_has_arrived_fills_a_line_of_the_cache() {
        assert_eq!((size_of::<Arrivals>(), align_of::<Arrivals>()), (64, 64));
    }
}
