//! What a controller decides by chance, from a number that its host gives it.

use longfat_units::math;

/// Random numbers, all of which follow from one: `SplitMix64` (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", OOPSLA 2014). Equal numbers to begin with give equal numbers ever after, on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// What follows from `number`, such as [`Start::chance`](crate::Start::chance).
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// Evenly distributed in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        math::uniform(self.next())
    }

    /// One of 0, 1, … `count` - 1, all equally likely; 0 if `count` is 0.
    pub fn below(&mut self, count: u32) -> u32 {
        (self.uniform() * f64::from(count)) as u32
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_paper() {
        // The first outputs of SplitMix64 from 1234567, as its authors' reference program prints them.
        let mut chance = Chance::new(1_234_567);
        assert_eq!(chance.next(), 6_457_827_717_110_365_317);
        assert_eq!(chance.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn all_numbers_below_a_count_come_equally_often() {
        let mut chance = Chance::new(7);
        let mut seen = [0_u32; 7];
        (0..70_000).for_each(|_| seen[chance.below(7) as usize] += 1);
        // Standard deviation 93.
        assert!(seen.iter().all(|&times| times.abs_diff(10_000) < 400), "{seen:?}");
        assert_eq!(chance.below(0), 0);
    }
}
