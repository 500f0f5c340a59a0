//! From a gradient of utility to a change of the rate (section 4.2).

use longfat_units::parameter::Settings;

/// Goes up the gradient: further where it has gone the same way, and never too far at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ascent {
    /// Was the last step one up?
    rises: bool,
    /// τ: steps in this direction.
    steps: u32,
    /// k: by how many increments the bound has moved.
    bounded: u32,
    /// θ₀
    conversion: f64,
    /// ω₀
    boundary: f64,
    /// δ
    increment: f64,
}

impl Ascent {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            rises: true,
            steps: 0,
            bounded: 0,
            conversion: settings.number("conversion"),
            boundary: settings.number("boundary"),
            increment: settings.number("boundary_increment"),
        }
    }

    /// The next step is the first in its direction.
    pub(super) fn turn(&mut self) {
        (self.steps, self.bounded) = (0, 0);
    }

    /// By how many Mbit/s to change a rate of so many, where utility rises by `gradient` per Mbit/s.
    pub(super) fn step(&mut self, gradient: f64, rate: f64) -> f64 {
        let rises = gradient > 0.0;
        if gradient == 0.0 || rises != self.rises {
            self.turn();
        }
        if gradient == 0.0 {
            return 0.0;
        }
        self.rises = rises;
        self.steps = self.steps.saturating_add(1);
        let asked = self.amplifier() * self.conversion * gradient.abs();
        let most = rate * (self.boundary + f64::from(self.bounded) * self.increment);
        self.bounded =
            if asked > most { self.bounded.saturating_add(1) } else { self.needed(asked / rate) };
        let change = asked.min(most);
        if rises { change } else { -change }
    }

    /// m(τ)
    fn amplifier(&self) -> f64 {
        let steps = f64::from(self.steps);
        if steps <= 3.0 { steps } else { 2.0 * steps - 3.0 }
    }

    /// The smallest k with which a change by this share is not bounded.
    fn needed(&self, share: f64) -> u32 {
        let beyond = share - self.boundary;
        if beyond > 0.0 && self.increment > 0.0 {
            (beyond / self.increment).ceil() as u32
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascent() -> Ascent {
        Ascent::new(&super::super::controller().defaults())
    }

    /// m(τ) = 1, 2, 3, 5, 7, 9: where utility rises by 0.5 per Mbit/s, at a rate at which nothing is bounded.
    #[test]
    fn steps_in_one_direction_grow() {
        let mut ascent = ascent();
        let steps: Vec<f64> = (0..6).map(|_| ascent.step(0.5, 1e6)).collect();
        assert_eq!(steps, [0.5, 1.0, 1.5, 2.5, 3.5, 4.5]);
        // It turns: the first step the other way is a single one. Where nothing rises it begins anew, too.
        assert_eq!(
            [-0.5, -0.5, 0.0, -0.5].map(|rise| ascent.step(rise, 1e6)),
            [-0.5, -1.0, 0.0, -0.5]
        );
    }

    /// 5 %, 15 % and 25 % of 100 Mbit/s where much more is asked for; after a turn 5 % again.
    #[test]
    fn no_step_is_larger_than_its_bound() {
        let mut ascent = ascent();
        let steps: Vec<f64> = (0..3).map(|_| ascent.step(-1e4, 100.0)).collect();
        assert_eq!(steps[0], -5.0);
        assert!((steps[1] + 15.0).abs() < 1e-12 && (steps[2] + 25.0).abs() < 1e-12, "{steps:?}");
        assert_eq!(ascent.step(1e4, 100.0), 5.0);
    }

    /// Three bounded steps make k three, 35 %. The fourth, five times 4.4 = 22, is within it: the smallest k that allows 22 % is
    /// two. So the next bound is 25 %, where seven times 4.4 = 30.8 were asked for.
    #[test]
    fn the_bound_comes_back_as_far_as_the_step_allows() {
        let mut ascent = ascent();
        (0..3).for_each(|_| assert!(ascent.step(1e4, 100.0) > 0.0));
        assert_eq!(ascent.bounded, 3);
        assert!((ascent.step(4.4, 100.0) - 22.0).abs() < 1e-12);
        assert_eq!(ascent.bounded, 2);
        assert!((ascent.step(4.4, 100.0) - 25.0).abs() < 1e-12);
        assert_eq!(ascent.bounded, 3);
        // The sixth is nine times 0.1, within 5 %.
        ascent.step(0.1, 100.0);
        assert_eq!(ascent.bounded, 0);
    }
}
