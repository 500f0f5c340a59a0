//! Memory of the packets that are in the link, used again and again.
//!
//! A packet stays where it was put until the last of its segments has left or was dropped. Its memory then serves the
//! next packet of about its size, so a link whose load has reached its peak allocates nothing more.

use slab::Slab;

use crate::packet::Shape;

/// The sizes of memory: acknowledgments, packets, and super-segments.
const SIZES: [usize; 3] = [256, 9216, 66_000];

/// Packets by number, and memory for those to come.
#[derive(Debug, Default)]
pub struct Frames {
    frames: Slab<Frame>,
    spare: [Vec<Vec<u8>>; SIZES.len()],
}

/// A packet with its offload header.
#[derive(Debug)]
struct Frame {
    bytes: Vec<u8>,
    shape: Shape,
    /// How many of its segments are in the link.
    left: u32,
}

impl Frames {
    /// Keeps a packet, all of whose segments are now in the link, and gives it a number.
    pub fn keep(&mut self, bytes: &[u8], shape: Shape) -> u32 {
        let class = class(bytes.len());
        let mut memory =
            self.spare[class].pop().unwrap_or_else(|| Vec::with_capacity(SIZES[class]));
        memory.clear();
        memory.extend_from_slice(bytes);
        self.frames.insert(Frame { bytes: memory, shape, left: shape.segments() }) as u32
    }

    /// The bytes of a packet and what they look like.
    pub fn get(&self, number: u32) -> (&[u8], &Shape) {
        let frame = &self.frames[number as usize];
        (&frame.bytes, &frame.shape)
    }

    /// So many segments of a packet have left the link.
    pub fn release(&mut self, number: u32, segments: u32) {
        let frame = &mut self.frames[number as usize];
        frame.left -= segments;
        if frame.left == 0 {
            let frame = self.frames.remove(number as usize);
            self.spare[class(frame.bytes.len())].push(frame.bytes);
        }
    }

    /// The number of packets that are here.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

/// The memory that a packet of this length is put into.
fn class(length: usize) -> usize {
    SIZES.iter().position(|size| length <= *size).unwrap_or(SIZES.len() - 1)
}
