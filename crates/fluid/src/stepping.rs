//! What both solvers share: portions of a solution, the length of its steps, and where in a step something happens.

use crate::dormand_prince::stretch;
use crate::network::FluidError;

/// Far more than a network needs unless its equations are stiff.
const MOST_STEPS: u64 = 20_000_000;

/// A solution under way.
pub(crate) trait Stepping {
    /// Is there nothing left to do?
    fn at_end(&self) -> bool;

    /// Takes one step.
    fn step(&mut self) -> Result<(), FluidError>;

    /// Takes up to `steps` steps. False once the end is reached.
    fn portion(&mut self, steps: u64) -> Result<bool, FluidError> {
        for _ in 0..steps {
            if self.at_end() {
                return Ok(false);
            }
            self.step()?;
        }
        Ok(!self.at_end())
    }
}

/// Counts a step, taken or not.
fn count_step(steps: &mut u64, at: f64) -> Result<(), FluidError> {
    *steps += 1;
    if *steps > MOST_STEPS {
        return Err(FluidError::TooManySteps { steps: MOST_STEPS, at });
    }
    Ok(())
}

/// How long steps are, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepLength {
    /// The one to try next.
    pub(crate) next: f64,
    pub(crate) longest: f64,
    /// Steps need not be shorter than this, whatever their error.
    pub(crate) shortest: f64,
}

/// A step that can be taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) length: f64,
    /// The instant at which it ends.
    pub(crate) end: f64,
    /// Is its error small enough, and not merely its length?
    pub(crate) accurate: bool,
    /// The length that would suit its error.
    suited: f64,
    /// Does it go all the way to the next break?
    whole: bool,
}

impl StepLength {
    /// Tries steps from `t` towards `limit`, the next break, until one can be taken; `None`: the solution is no longer
    /// finite, however short the step. `attempt` tries a step of this length and returns its error.
    pub(crate) fn find(
        &mut self,
        t: f64,
        limit: f64,
        steps: &mut u64,
        mut attempt: impl FnMut(f64) -> f64,
    ) -> Result<Option<Found>, FluidError> {
        loop {
            count_step(steps, t)?;
            let (left, most) = (limit - t, self.next.min(self.longest));
            let whole = left <= most * (1.0 + 1e-9);
            let length = if whole { left } else { most };
            let error = attempt(length);
            let shortest = length <= self.shortest;
            if shortest && !error.is_finite() {
                return Ok(None);
            }
            let suited = (length * stretch(error)).max(self.shortest);
            let accurate = error <= 1.0;
            if accurate || shortest {
                let end = if whole { limit } else { t + length };
                return Ok(Some(Found { length, end, accurate, suited, whole }));
            }
            self.next = suited;
        }
    }

    /// The step was taken.
    pub(crate) fn taken(&mut self, Found { suited, whole, .. }: Found) {
        // A step that was cut short by a break says little about the next.
        self.next = if whole { suited.max(self.next) } else { suited };
    }
}

/// The first break after `t`, or the end. Of the breaks, the next one is the last, and those that are over are taken off.
pub(crate) fn next_break(breaks: &mut Vec<f64>, t: f64, end: f64) -> f64 {
    while breaks.last().is_some_and(|&next| next <= t) {
        breaks.pop();
    }
    breaks.last().map_or(end, |&next| next.min(end))
}

/// Where in a step, 0 to 1, a condition that is true at its end becomes true: bisection, to the last bit that matters.
pub(crate) fn bisect(mut holds: impl FnMut(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..48 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_finds_the_place_to_the_last_bits() {
        let third = bisect(|share| share >= 1.0 / 3.0);
        assert!((0.0..1e-13).contains(&(third - 1.0 / 3.0)), "{third}");
    }

    #[test]
    fn the_next_break_lies_ahead_and_not_beyond_the_end() {
        let mut breaks = vec![9.0, 3.0, 2.0, 1.0];
        assert_eq!(next_break(&mut breaks, 2.0, 5.0), 3.0);
        assert_eq!(breaks, [9.0, 3.0]);
        assert_eq!(next_break(&mut breaks, 3.0, 5.0), 5.0);
        assert_eq!(next_break(&mut Vec::new(), 3.0, 5.0), 5.0);
    }

    /// The error of a method of order 5 goes with the fifth power of the step: 32 times too large is half the step, less
    /// a tenth for safety.
    #[test]
    fn a_step_with_too_large_an_error_is_tried_again_shorter() {
        let mut lengths = StepLength { next: 1.0, longest: 8.0, shortest: 1e-3 };
        let (mut steps, mut tried) = (0, Vec::new());
        let found = lengths.find(0.0, 100.0, &mut steps, |length| {
            tried.push(length);
            32.0 * length * length * length * length * length
        });
        let found = found.expect("few steps").expect("finite");
        assert_eq!((steps, tried.len()), (2, 2));
        assert!((found.length - 0.45).abs() < 1e-12 && found.accurate, "{found:?}");
        assert_eq!(found.end, found.length);
    }

    #[test]
    fn a_step_goes_to_a_break_exactly_and_is_not_remembered_as_short() {
        let mut lengths = StepLength { next: 0.5, longest: 8.0, shortest: 1e-3 };
        let found = lengths.find(0.3, 0.4, &mut 0, |_| 1.0).expect("few steps").expect("finite");
        assert_eq!(found.end, 0.4);
        lengths.taken(found);
        assert_eq!(lengths.next, 0.5);
        let found = lengths.find(0.4, 9.0, &mut 0, |_| 1.0).expect("few steps").expect("finite");
        lengths.taken(found);
        assert!((lengths.next - 0.45).abs() < 1e-12, "nine tenths where the error is just right");
    }

    /// Steps need not be shorter than the shortest one, unless what they lead to is no number.
    #[test]
    fn the_shortest_step_is_taken_whatever_its_error() {
        let mut lengths = StepLength { next: 1.0, longest: 8.0, shortest: 0.5 };
        let found = lengths.find(0.0, 9.0, &mut 0, |_| 1e9).expect("few steps").expect("finite");
        assert_eq!((found.length, found.accurate), (0.5, false));
        let found = lengths.find(0.0, 9.0, &mut 0, |_| f64::NAN).expect("few steps");
        assert!(found.is_none());
    }
}
