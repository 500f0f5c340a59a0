//! What few packets carry besides what all do: selective acknowledgments (RFC 2018), and headers for routers.
//!
//! A packet has only a handle. Its cargo waits in the hold until the packet arrives or is lost; data that arrives hands it
//! over to its acknowledgment. Places are used again: nothing is allocated in the steady state.

use longfat_units::RouterHeader;
use slab::Slab;

use crate::runs::Run;

/// Up to three blocks, the one with the newest segment first (RFC 2018, section 4). Empty ones have `first == end`.
pub(crate) type Blocks = [Run; 3];

/// What one packet carries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cargo {
    /// Acknowledgment: what has arrived out of order.
    pub(crate) blocks: Option<Blocks>,
    /// Data: what routers are told and tell. Acknowledgment: what they told the data that it covers.
    pub(crate) header: Option<RouterHeader>,
}

/// The cargo of all packets on their way.
#[derive(Debug, Default)]
pub(crate) struct Hold(Slab<Cargo>);

impl Hold {
    /// Keeps `cargo` until it is taken, and tells where.
    fn keep(&mut self, cargo: Cargo) -> u32 {
        self.0.insert(cargo) as u32
    }

    /// Keeps a header that leaves with data.
    #[cold]
    pub(crate) fn keep_header(&mut self, header: &RouterHeader) -> u32 {
        self.keep(Cargo { blocks: None, header: Some(*header) })
    }

    /// Takes the cargo of a packet that has arrived.
    pub(crate) fn take(&mut self, handle: u32) -> Cargo {
        self.0.remove(handle as usize)
    }

    /// Gives up the cargo of a packet that is no more, if it had any.
    pub(crate) fn release(&mut self, handle: Option<u32>) {
        if let Some(handle) = handle {
            self.take(handle);
        }
    }

    /// The cargo of an acknowledgment with these blocks, of data with that cargo.
    pub(crate) fn hand_over(&mut self, data: Option<u32>, blocks: Option<Blocks>) -> Option<u32> {
        let Some(handle) = data else {
            return blocks.map(|blocks| self.keep(Cargo { blocks: Some(blocks), header: None }));
        };
        self.0[handle as usize].blocks = blocks;
        data
    }

    /// Data is acknowledged together with what an acknowledgment kept back covers: one header stands for both. Those are
    /// where the cargo of each is.
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

    /// How many packets with cargo are on their way.
    pub(crate) fn in_use(&self) -> usize {
        self.0.len()
    }
}
