//! A function of a window or of a round trip: straight lines between nodes that are spaced evenly within each octave.
//!
//! ```text
//!     x = 1.b₁b₂…bₖ f… · 2ᵉ    cell e 2ᵏ + b₁…bₖ, and the place in it is f: no logarithm, and no search
//! ```
//!
//! A cell in which the function breaks has a line for each side of the break, and says where the next one begins.

use crate::fixed::{FRACTION, Fixed, ONE, POINT, log2, part, to_fixed};

/// One line, and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// From here on the piece with the number `next` holds.
    pub until: Fixed,
    /// The line at the beginning of the cell, in units of 2⁻³⁶.
    pub value: i64,
    /// How much it rises within the cell.
    pub delta: i64,
    /// Number of the piece that follows in the same cell; 0: there is none.
    pub next: u32,
}

/// A function as lines. It begins at 1, and beyond its last octave stays as it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// k: there are 2ᵏ cells in an octave.
    pub bits: u32,
    /// How many octaves there are.
    pub octaves: u32,
    /// One piece for each cell, and behind them those that begin within one.
    pub pieces: Vec<Piece>,
}

/// How many cells of an octave are tried, as powers of two.
const MOST_BITS: u32 = 7;
/// How many lines of one cell are followed, at most.
pub(crate) const MOST_IN_A_CELL: usize = 8;
/// As near as this, as a share, two places are one; and functions are asked beside a break, not at it.
const BESIDE: f64 = 1e-9;
/// Lines that are shorter than this, as a share of their place, are level: their slope would be noise.
const SHORT: f64 = 1e-6;
/// Nothing in a table is larger: 2²⁵ segments.
const BOUND: f64 = (1_u64 << 61) as f64;
/// No finer table is looked for below this error.
const FINE: f64 = 5e-4;

/// A function that is to become a curve.
pub(crate) struct Wanted<'a> {
    /// From 1 to so many octaves above.
    pub(crate) octaves: u32,
    /// Where it is not smooth, in any order.
    pub(crate) breaks: &'a [f64],
    /// The function.
    pub(crate) at: &'a dyn Fn(f64) -> f64,
    /// What an error at a place is a share of.
    pub(crate) against: &'a dyn Fn(f64) -> f64,
}

impl Curve {
    /// The coarsest curve that is within 0.05 % of what is wanted, or else the nearest there is.
    pub(crate) fn of(wanted: &Wanted) -> Self {
        let mut best: Option<(f64, Self)> = None;
        for bits in 0..=MOST_BITS {
            let Some(curve) = Self::with(wanted, bits) else { continue };
            let error = curve.error(wanted);
            // What cannot be compared is no better.
            if best.as_ref().is_none_or(|(least, _)| error < *least) {
                best = Some((error, curve));
            }
            if error <= FINE {
                break;
            }
        }
        // No cell has too many breaks if none counts.
        best.map_or_else(
            || Self::with(&Wanted { breaks: &[], ..*wanted }, MOST_BITS).expect("nothing breaks"),
            |(_, curve)| curve,
        )
    }

    /// `None` if more breaks fall into a cell than can be followed.
    fn with(wanted: &Wanted, bits: u32) -> Option<Self> {
        let breaks = sorted(wanted);
        let mut cells = Vec::new();
        let mut behind = Vec::new();
        let count = (wanted.octaves << bits) as usize;
        for cell in 0..count {
            let (from, to) = (edge(cell, bits), edge(cell + 1, bits));
            let inside = breaks
                .iter()
                .filter(|&&at| at > from * (1.0 + 2.0 * BESIDE) && at < to * (1.0 - 2.0 * BESIDE));
            let ends: Vec<f64> =
                std::iter::once(from).chain(inside.copied()).chain(std::iter::once(to)).collect();
            if ends.len() - 1 > MOST_IN_A_CELL {
                return None;
            }
            let first = count + behind.len();
            for (number, pair) in ends.windows(2).enumerate() {
                let last = number + 2 == ends.len();
                let (value, delta) = line(wanted.at, (from, to), (pair[0], pair[1]));
                let piece = Piece {
                    until: if last { u64::MAX } else { to_fixed(pair[1]) },
                    value,
                    delta,
                    next: if last { 0 } else { (first + number) as u32 },
                };
                if number == 0 { cells.push(piece) } else { behind.push(piece) }
            }
        }
        cells.append(&mut behind);
        Some(Self { bits, octaves: wanted.octaves, pieces: cells })
    }

    /// The function at `x`, as the kernel computes it.
    pub fn at(&self, x: Fixed) -> i64 {
        let end = ONE << self.octaves;
        let x = x.clamp(ONE, end - 1);
        let exponent = log2(x);
        // The first bit is that of the exponent.
        let digits = x << (63 - exponent) << 1;
        let cell = (u64::from(exponent - POINT) << self.bits) | (digits >> 1 >> (63 - self.bits));
        let fraction = digits << self.bits >> (64 - FRACTION);
        let mut piece = &self.pieces[cell as usize];
        for _ in 1..MOST_IN_A_CELL {
            if x < piece.until {
                break;
            }
            piece = &self.pieces[piece.next as usize];
        }
        piece.value + part(piece.delta, fraction)
    }

    /// The same, where it cannot be less than 0.
    pub(crate) fn positive(&self, x: Fixed) -> Fixed {
        self.at(x).max(0).cast_unsigned()
    }

    /// The largest error at the ends of its lines and in between, as a share.
    fn error(&self, wanted: &Wanted) -> f64 {
        const PLACES: [f64; 5] = [1e-7, 0.25, 0.5, 0.75, 1.0 - 1e-7];
        let breaks = sorted(wanted);
        let count = (wanted.octaves << self.bits) as usize;
        let edges = (0..=count).map(|cell| edge(cell, self.bits));
        let mut ends: Vec<f64> = edges.chain(breaks).collect();
        ends.sort_by(f64::total_cmp);
        let lines = ends.windows(2).filter(|pair| pair[1] > pair[0] * (1.0 + SHORT));
        let mut most: f64 = 0.0;
        for (from, to) in lines.map(|pair| (pair[0], pair[1])) {
            for place in PLACES {
                let x = from + (to - from) * place;
                let off = (self.at(to_fixed(x)) as f64 / ONE as f64 - (wanted.at)(x)).abs();
                let against = (wanted.against)(x).abs();
                if off > 0.0 && against < f64::INFINITY {
                    most = most.max(off / against);
                }
            }
        }
        most
    }
}

/// Where it breaks: in order, each once, and none outside.
fn sorted(wanted: &Wanted) -> Vec<f64> {
    let end = (1_u64 << wanted.octaves) as f64;
    let mut breaks: Vec<f64> =
        wanted.breaks.iter().copied().filter(|at| *at > 1.0 && *at < end).collect();
    breaks.sort_by(f64::total_cmp);
    breaks.dedup_by(|b, a| *b <= *a * (1.0 + 4.0 * BESIDE));
    breaks
}

/// Where a cell begins.
fn edge(cell: usize, bits: u32) -> f64 {
    let (octave, within) = (cell >> bits, cell & ((1 << bits) - 1));
    (1_u64 << octave) as f64 * (1.0 + within as f64 / f64::from(1_u32 << bits))
}

/// The line through a function at both ends of a piece, over the whole cell: its value at the beginning, and its rise.
fn line(function: &dyn Fn(f64) -> f64, cell: (f64, f64), piece: (f64, f64)) -> (i64, i64) {
    let (from, to) = (piece.0 * (1.0 + BESIDE), piece.1 * (1.0 - BESIDE));
    let (begins, ends) = (function(from), function(to));
    let slope = if to - from > from * SHORT { (ends - begins) / (to - from) } else { 0.0 };
    let value = begins - slope * (from - cell.0);
    // What is no number becomes 0, and is found when errors are measured.
    let fixed = |real: f64| (real * ONE as f64).clamp(-BOUND, BOUND).round() as i64;
    (fixed(value), fixed(slope * (cell.1 - cell.0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixed::to_real;

    fn wanted<'a>(octaves: u32, breaks: &'a [f64], at: &'a dyn Fn(f64) -> f64) -> Wanted<'a> {
        Wanted { octaves, breaks, at, against: at }
    }

    #[test]
    fn a_straight_line_needs_one_cell_per_octave() {
        let curve = Curve::of(&wanted(24, &[], &|x| 3.0 + 0.01 * x));
        assert_eq!((curve.bits, curve.pieces.len()), (0, 24));
        for (x, expected) in [(1.0, 3.01), (38.0, 3.38), (1e6, 10_003.0)] {
            assert!((curve.at(to_fixed(x)) as f64 / ONE as f64 - expected).abs() < 1e-6 * expected);
        }
    }

    #[test]
    fn both_sides_of_a_jump_are_as_they_are() {
        let jump = |x: f64| if x > 19.3 { 5.0 } else { x };
        let curve = Curve::of(&wanted(8, &[19.3], &jump));
        assert_eq!(curve.pieces.len(), 9, "a node more, and no finer spacing for it");
        for x in [1.0, 16.1, 19.299, 19.301, 31.0, 250.0] {
            let found = curve.at(to_fixed(x)) as f64 / ONE as f64;
            assert!((found - jump(x)).abs() < 1e-6, "{found} at {x}");
        }
    }

    #[test]
    fn beyond_its_ends_it_stays_as_it_is() {
        let curve = Curve::of(&wanted(10, &[], &|x| x));
        assert_eq!(curve.at(0), curve.at(ONE));
        assert!((to_real(curve.positive(u64::MAX)) - 1024.0).abs() < 1e-3);
    }

    proptest! {
        #[test]
        fn between_nodes_a_rising_function_rises(
            (bits, exponent) in (0_u32..=7, 0.1_f64..2.0),
            breaks in proptest::collection::vec(1.0_f64..1e7, 0..6),
            windows in proptest::collection::vec(0_u64..1 << 60, 2..40),
        ) {
            // It jumps upwards at each break.
            let function = |x: f64| {
                longfat_units::math::pow(x, exponent).min(1e6) + breaks.iter().filter(|at| x > **at).count() as f64
            };
            let Some(curve) = Curve::with(&wanted(24, &breaks, &function), bits) else { return Ok(()) };
            let mut windows = windows;
            windows.sort_unstable();
            let values: Vec<i64> = windows.iter().map(|x| curve.at(*x)).collect();
            // Rounding may cost two units of 2^-36 where two lines meet.
            prop_assert!(values.windows(2).all(|pair| pair[1] >= pair[0] - 2), "{:?}", values);
        }

        #[test]
        fn a_curve_is_made_of_anything(
            breaks in proptest::collection::vec(prop_oneof![any::<f64>(), 0.0_f64..100.0], 0..30),
            value in any::<f64>(),
            x in any::<u64>(),
        ) {
            let curve = Curve::of(&wanted(24, &breaks, &|x| if x > 10.0 { value } else { x }));
            curve.at(x);
        }
    }
}
