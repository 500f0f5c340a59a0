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
pub(crate) fn count_step(steps: &mut u64, at: f64) -> Result<(), FluidError> {
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

/// A step as it is tried: how long it is, and whether that is all the way to the next break.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stride {
    pub(crate) length: f64,
    pub(crate) whole: bool,
}

impl StepLength {
    /// The step to try if there are `left` seconds to the next break.
    pub(crate) fn stride(&self, left: f64) -> Stride {
        let most = self.next.min(self.longest);
        let whole = left <= most * (1.0 + 1e-9);
        Stride { length: if whole { left } else { most }, whole }
    }

    /// Can a step with this error be taken?
    pub(crate) fn accepts(&self, stride: Stride, error: f64) -> bool {
        error <= 1.0 || stride.length <= self.shortest
    }

    /// Is the solution no longer finite, however short the step?
    pub(crate) fn explodes(&self, stride: Stride, error: f64) -> bool {
        stride.length <= self.shortest && !error.is_finite()
    }

    /// The length that suits this error.
    fn suited(&self, stride: Stride, error: f64) -> f64 {
        (stride.length * stretch(error)).max(self.shortest)
    }

    /// The step was taken.
    pub(crate) fn taken(&mut self, stride: Stride, error: f64) {
        let suited = self.suited(stride, error);
        // A step that was cut short by a break says little about the next.
        self.next = if stride.whole { suited.max(self.next) } else { suited };
    }

    /// The error was too large.
    pub(crate) fn refused(&mut self, stride: Stride, error: f64) {
        self.next = self.suited(stride, error);
    }
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
