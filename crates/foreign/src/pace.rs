//! The pacing that foreign code asks for.

use longfat_control::Pacing;

use crate::abi::{self, pace};

/// The pacing, or the value that is wrong and what is needed instead.
pub(crate) fn checked(given: abi::Pacing) -> Result<Pacing, (f64, &'static str)> {
    let abi::Pacing { kind, value } = given;
    let blocks = |make: fn(u32) -> Pacing| {
        if (1.0..=1e9).contains(&value) && value.fract() == 0.0 {
            Ok(make(value as u32))
        } else {
            Err((value, "a whole number of blocks from 1 to 1e9"))
        }
    };
    match kind {
        pace::UNPACED => Ok(Pacing::Unpaced),
        pace::SPREAD if (1e-3..=1e6).contains(&value) => Ok(Pacing::Spread { gain: value }),
        pace::SPREAD => Err((value, "a factor from 0.001 to 1e6")),
        pace::RATE if (1e-3..=1e12).contains(&value) => Ok(Pacing::Rate(value)),
        pace::RATE => Err((value, "a rate from 0.001 to 1e12 segments per second")),
        pace::BLOCKS => blocks(Pacing::Blocks),
        pace::LOOSE_BLOCKS => blocks(Pacing::LooseBlocks),
        pace::RAISED => Err((f64::from_bits(abi::RAISED), "")),
        other => Err((other as f64, "one of the kinds of pacing")),
    }
}
