//! A table in the form that the program in the kernel has it: `law.h` in Rust.

use crate::{LawTable, Piece, RoundTrip};

/// How many curves a law has room for.
const CURVES: usize = 8;
const GROWTH: usize = 0;
const OFFSET: usize = 1;
const ROUND_TRIP: usize = 2;
const SLOW_START: usize = 3;
const DECREASE: usize = 4;

/// Where the pieces of a curve are: `struct curve`. Without octaves there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurveImage {
    /// Number of the first piece.
    pub first: u32,
    /// As [`Curve::bits`](crate::Curve::bits).
    pub bits: u32,
    /// As [`Curve::octaves`](crate::Curve::octaves).
    pub octaves: u32,
}

/// All of a law but its pieces: `struct law`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LawImage {
    /// Growth, offset, factor of the round trip, slow start, and the four of what congestion takes.
    pub curves: [CurveImage; CURVES],
    /// Does it go by the smallest round trip?
    pub base: u32,
    /// Windows per round trip, in units of 2⁻⁸; 0: unpaced.
    pub pacing: u32,
}

/// A table for the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// What the program is told.
    pub law: LawImage,
    /// What it looks up.
    pub pieces: Vec<Piece>,
}

impl LawImage {
    /// How many bytes it has.
    pub const SIZE: usize = CURVES * 12 + 8;

    /// As it is in memory.
    pub fn bytes(&self) -> Vec<u8> {
        let curves = self.curves.iter().flat_map(|curve| [curve.first, curve.bits, curve.octaves]);
        curves.chain([self.base, self.pacing]).flat_map(u32::to_ne_bytes).collect()
    }
}

impl Piece {
    /// How many bytes it has in the kernel.
    pub const SIZE: usize = 32;

    /// As it is in memory, in the order of `struct piece`.
    pub fn bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.until.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.value.to_ne_bytes());
        bytes[16..24].copy_from_slice(&self.delta.to_ne_bytes());
        bytes[24..28].copy_from_slice(&self.next.to_ne_bytes());
        bytes
    }
}

impl LawTable {
    /// For the kernel; curves that are equal are there once.
    pub fn image(&self) -> Image {
        let round_trip = self.round_trip.as_ref().map(|(_, curve)| curve);
        let mut curves = [None; CURVES];
        curves[GROWTH] = Some(&self.growth);
        curves[OFFSET] = self.offset.as_ref();
        curves[ROUND_TRIP] = round_trip;
        curves[SLOW_START] = Some(&self.slow_start);
        for (place, curve) in curves[DECREASE..].iter_mut().zip(&self.decrease) {
            *place = Some(curve);
        }
        let mut pieces: Vec<Piece> = Vec::new();
        let mut law = LawImage::default();
        for number in 0..CURVES {
            let Some(curve) = curves[number] else { continue };
            if let Some(same) = (0..number).find(|other| curves[*other] == Some(curve)) {
                law.curves[number] = law.curves[same];
                continue;
            }
            let first = pieces.len() as u32;
            law.curves[number] = CurveImage { first, bits: curve.bits, octaves: curve.octaves };
            // In the kernel pieces are numbered through.
            let placed = |piece: &Piece| Piece {
                next: if piece.next == 0 { 0 } else { piece.next + first },
                ..*piece
            };
            pieces.extend(curve.pieces.iter().map(placed));
        }
        law.base = u32::from(matches!(self.round_trip, Some((RoundTrip::Base, _))));
        law.pacing = self.pacing.map_or(0, |gain| ((gain * 256.0).round() as u32).max(1));
        Image { law, pieces }
    }
}
