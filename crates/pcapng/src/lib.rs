//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng): who wrote it, where packets were seen, packets.
//!
//! Each function adds a block to memory; where it is written is for others. Everything is in the byte order of
//! little-endian machines, which the first block tells.

/// Packets begin with the header of IP (`LINKTYPE_RAW`).
const RAW_IP: u16 = 101;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;

/// Options: a comment; the program; name, description and resolution of an interface.
const COMMENT: u16 = 1;
const PROGRAM: u16 = 4;
const NAME: u16 = 2;
const DESCRIPTION: u16 = 3;
const RESOLUTION: u16 = 9;
const END: u16 = 0;

/// Nanoseconds.
const NANO: u8 = 9;

/// A block under way.
struct Block<'a> {
    out: &'a mut Vec<u8>,
    from: usize,
    options: bool,
}

impl<'a> Block<'a> {
    fn begin(kind: u32, out: &'a mut Vec<u8>) -> Self {
        let from = out.len();
        out.extend(kind.to_le_bytes());
        out.extend([0; 4]);
        Self { out, from, options: false }
    }

    fn pad(&mut self) {
        while !(self.out.len() - self.from).is_multiple_of(4) {
            self.out.push(0);
        }
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // A value has no more bytes than its length can say.
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.options = true;
        self.out.extend(code.to_le_bytes());
        self.out.extend((value.len() as u16).to_le_bytes());
        self.out.extend(value);
        self.pad();
    }

    /// The length stands at both ends.
    fn end(mut self) {
        if self.options {
            self.option(END, &[]);
        }
        let length = ((self.out.len() - self.from + 4) as u32).to_le_bytes();
        self.out[self.from + 4..self.from + 8].copy_from_slice(&length);
        self.out.extend(length);
    }
}

/// The beginning of a file: the program that writes it, and what it is about.
pub fn section(program: &str, comment: &str, out: &mut Vec<u8>) {
    let mut block = Block::begin(SECTION, out);
    block.out.extend(0x1A2B_3C4D_u32.to_le_bytes());
    // Version 1.0, and a length that nobody knows yet.
    block.out.extend([1, 0, 0, 0]);
    block.out.extend((-1_i64).to_le_bytes());
    block.option(PROGRAM, program.as_bytes());
    block.option(COMMENT, comment.as_bytes());
    block.end();
}

/// A place where packets are seen, of which at most `most` bytes each are kept. Places are numbered in the order of their
/// blocks.
pub fn interface(name: &str, description: &str, most: u32, out: &mut Vec<u8>) {
    let mut block = Block::begin(INTERFACE, out);
    block.out.extend(RAW_IP.to_le_bytes());
    block.out.extend([0; 2]);
    block.out.extend(most.to_le_bytes());
    block.option(NAME, name.as_bytes());
    block.option(DESCRIPTION, description.as_bytes());
    block.option(RESOLUTION, &[NANO]);
    block.end();
}

/// A packet that was seen at a place, so many nanoseconds after the beginning of time, which is 1970 where time is real
/// and the beginning of the run where it is not: its first bytes, and how many it has on the wire.
pub fn packet(
    (interface, nanoseconds): (u32, u64),
    bytes: &[u8],
    length: u32,
    comment: Option<&str>,
    out: &mut Vec<u8>,
) {
    let mut block = Block::begin(PACKET, out);
    block.out.extend(interface.to_le_bytes());
    block.out.extend(((nanoseconds >> 32) as u32).to_le_bytes());
    block.out.extend((nanoseconds as u32).to_le_bytes());
    block.out.extend((bytes.len() as u32).to_le_bytes());
    block.out.extend(length.to_le_bytes());
    block.out.extend(bytes);
    block.pad();
    if let Some(comment) = comment {
        block.option(COMMENT, comment.as_bytes());
    }
    block.end();
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a block, by hand.
    fn words(bytes: &[u8]) -> Vec<u32> {
        let (words, rest) = bytes.as_chunks::<4>();
        assert_eq!(rest, [], "blocks are whole words");
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    #[test]
    fn a_packet_is_cut_and_padded() {
        let mut out = Vec::new();
        packet((1, 0x0000_0002_0000_0003), &[0xAA, 0xBB, 0xCC], 1500, None, &mut out);
        // Kind, length, place, high and low half of the time, kept, on the wire, data, length.
        assert_eq!(words(&out), [6, 36, 1, 2, 3, 3, 1500, 0x00CC_BBAA, 36]);
    }

    #[test]
    fn a_place_says_how_much_is_kept_and_how_fine_its_clock_is() {
        let mut out = Vec::new();
        interface("a", "bc", 128, &mut out);
        let name = [u32::from(NAME) | 1 << 16, u32::from(b'a')];
        let about = [u32::from(DESCRIPTION) | 2 << 16, u32::from_le_bytes(*b"bc\0\0")];
        let clock = [u32::from(RESOLUTION) | 1 << 16, 9];
        let words = words(&out);
        assert_eq!(words[..4], [1, 48, 101, 128]);
        assert_eq!(words[4..10], [name, about, clock].concat());
        assert_eq!(words[10..], [0, 48]);
    }

    #[test]
    fn a_file_begins_with_its_order_of_bytes() {
        let mut out = Vec::new();
        section("p", "", &mut out);
        let words = words(&out);
        assert_eq!(words[..5], [SECTION, 44, 0x1A2B_3C4D, 1, u32::MAX]);
        assert_eq!(words.last(), Some(&44));
    }
}
