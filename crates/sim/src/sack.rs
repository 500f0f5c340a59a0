//! Selective acknowledgments on their way (RFC 2018).
//!
//! Most acknowledgments carry none, so a packet holds only a handle; the blocks wait in a slab until the
//! acknowledgment arrives or is lost. Slots are used again: nothing is allocated in the steady state.

use crate::runs::Run;

/// The handle of an acknowledgment without blocks.
pub(crate) const NONE: u32 = 0;

/// Up to three blocks, the one with the newest segment first (RFC 2018, section 4). Empty ones have `first == end`.
pub(crate) type Blocks = [Run; 3];

/// The blocks of all acknowledgments on their way.
#[derive(Debug)]
pub(crate) struct Slab {
    blocks: Vec<Blocks>,
    free: Vec<u32>,
}

impl Slab {
    pub(crate) fn new() -> Self {
        // Handle 0 is NONE.
        Self { blocks: vec![Blocks::default()], free: Vec::new() }
    }

    /// Keeps `blocks` until they are taken.
    pub(crate) fn keep(&mut self, blocks: Blocks) -> u32 {
        if let Some(handle) = self.free.pop() {
            self.blocks[handle as usize] = blocks;
            return handle;
        }
        self.blocks.push(blocks);
        (self.blocks.len() - 1) as u32
    }

    /// Takes the blocks of an acknowledgment that has arrived.
    pub(crate) fn take(&mut self, handle: u32) -> Blocks {
        self.release(handle);
        self.blocks[handle as usize]
    }

    /// Gives up the blocks of an acknowledgment that was lost.
    pub(crate) fn release(&mut self, handle: u32) {
        if handle != NONE {
            self.free.push(handle);
        }
    }

    /// How many acknowledgments with blocks are on their way.
    pub(crate) fn in_use(&self) -> usize {
        self.blocks.len() - 1 - self.free.len()
    }
}
