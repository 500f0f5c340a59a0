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
    /// Data: what it tells routers, and what they tell it. Acknowledgment: what routers told the data it covers.
    pub(crate) header: Option<RouterHeader>,
    /// Acknowledgment: the receive window in segments; 0 if it tells none.
    pub(crate) window: u32,
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

    /// The cargo of an acknowledgment with these blocks, for data with that cargo.
    pub(crate) fn hand_over(&mut self, data: Option<u32>, blocks: Option<Blocks>) -> Option<u32> {
        let Some(handle) = data else {
            return blocks
                .map(|blocks| self.keep(Cargo { blocks: Some(blocks), ..Cargo::default() }));
        };
        self.0[handle as usize].blocks = blocks;
        data
    }

    /// The acknowledgment with this cargo, if any, tells this receive window.
    pub(crate) fn tell_window(&mut self, handle: Option<u32>, window: u32) {
        if let Some(handle) = handle.filter(|_| window > 0) {
            self.0[handle as usize].window = window;
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
        self.0[handle as usize].header.as_mut()
    }

    /// How many packets with cargo are in transit.
    pub(crate) fn in_use(&self) -> usize {
        self.0.len()
    }
}
