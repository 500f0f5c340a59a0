//! What only a few packets carry: selective acknowledgments (RFC 2018), and headers for routers.
//!
//! A packet holds only a handle. Its cargo stays in the hold until the packet arrives or is lost; arriving data passes
//! its cargo on to its acknowledgment. Slots are reused: nothing is allocated in the steady state.

use longfat_units::RouterHeader;
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
    /// Acknowledgment: how many segments have arrived marked, modulo 2³², where the receiver counts them.
    pub(crate) marks: u32,
    /// Data: what it tells routers, and what they tell it. Acknowledgment: what routers told the data it covers.
    pub(crate) header: Option<RouterHeader>,
}

/// The cargo of all packets in transit.
#[derive(Debug, Default)]
pub(crate) struct Hold(Slab<Cargo>);

impl Hold {
    /// Stores `cargo` until it is taken, and returns its handle.
    fn keep(&mut self, cargo: Cargo) -> u32 {
        self.0.insert(cargo) as u32
    }

    /// Stores a header that leaves with data.
    #[cold]
    pub(crate) fn keep_header(&mut self, header: &RouterHeader) -> u32 {
        self.keep(Cargo { header: Some(*header), ..Cargo::default() })
    }

    /// Stores a copy of the cargo of a packet, if it has any, for a duplicate of it.
    pub(crate) fn copy(&mut self, handle: Option<u32>) -> Option<u32> {
        handle.map(|handle| self.keep(self.0[handle as usize]))
    }

    /// Takes the cargo of a packet that has arrived.
    pub(crate) fn take(&mut self, handle: u32) -> Cargo {
        self.0.remove(handle as usize)
    }

    /// Drops the cargo of a packet that is gone, if it had any.
    pub(crate) fn release(&mut self, handle: Option<u32>) {
        if let Some(handle) = handle {
            self.take(handle);
        }
    }

    /// The cargo of an acknowledgment with these blocks and this count of marks, for data with that cargo. Where nothing
    /// else calls for cargo, the count travels in the acknowledgment itself.
    pub(crate) fn hand_over(
        &mut self,
        data: Option<u32>,
        blocks: Option<Blocks>,
        marks: u32,
    ) -> Option<u32> {
        let Some(handle) = data else {
            let cargo = |blocks| Cargo { blocks: Some(blocks), marks, header: None };
            return blocks.map(|blocks| self.keep(cargo(blocks)));
        };
        let cargo = &mut self.0[handle as usize];
        (cargo.blocks, cargo.marks) = (blocks, marks);
        data
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
        self.0[handle as usize].header.as_mut()
    }

    /// How many packets with cargo are in transit.
    pub(crate) fn in_use(&self) -> usize {
        self.0.len()
    }
}
