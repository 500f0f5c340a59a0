//! The method of Dormand and Prince: order 5, with an error estimate of order 4 and a quartic through each step.
//!
//! J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", Journal of Computational and Applied
//! Mathematics 6(1), 1980; the quartic is that of L. F. Shampine, "Some practical Runge-Kutta formulas", Mathematics
//! of Computation 46(173), 1986.
//!
//! This is our own, and this small, because no crate solves delay equations whose number of delays depends on the
//! network: `differential-equations` fixes it at compile time and reads the whole state for each delay, `diffsol` and
//! `ode_solvers` do not support delays; and all take powers from the platform.

use longfat_units::math;

/// Coefficients of the stages.
const A: [[f64; 6]; 6] = [
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Where in the step each stage lies.
const C: [f64; 6] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// Order 5 less order 4.
const E: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
/// The quartic: coefficients of θ, θ², θ³ and θ⁴ for each stage.
const P: [[f64; 4]; 7] = [
    [
        1.0,
        -8_048_581_381.0 / 2_820_520_608.0,
        8_663_915_743.0 / 2_820_520_608.0,
        -12_715_105_075.0 / 11_282_082_432.0,
    ],
    [0.0, 0.0, 0.0, 0.0],
    [
        0.0,
        131_558_114_200.0 / 32_700_410_799.0,
        -68_118_460_800.0 / 10_900_136_933.0,
        87_487_479_700.0 / 32_700_410_799.0,
    ],
    [
        0.0,
        -1_754_552_775.0 / 470_086_768.0,
        14_199_869_525.0 / 1_410_260_304.0,
        -10_690_763_975.0 / 1_880_347_072.0,
    ],
    [
        0.0,
        127_303_824_393.0 / 49_829_197_408.0,
        -318_862_633_887.0 / 49_829_197_408.0,
        701_980_252_875.0 / 199_316_789_632.0,
    ],
    [
        0.0,
        -282_668_133.0 / 205_662_961.0,
        2_019_193_451.0 / 616_988_883.0,
        -1_453_857_185.0 / 822_651_844.0,
    ],
    [0.0, 40_617_522.0 / 29_380_423.0, -110_615_467.0 / 29_380_423.0, 69_997_945.0 / 29_380_423.0],
];

/// The error allowed in the state, relative to its size.
const RELATIVE: f64 = 1e-6;

/// On which side of an instant a discontinuous past is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The value before it: the end of a step.
    Before,
    /// The value from then on: the beginning of a step.
    After,
}

impl Side {
    /// An instant on this side of `t`, rounding apart, at which to ask what has started and stopped.
    pub(crate) fn of(self, t: f64) -> f64 {
        match self {
            Self::Before => t * (1.0 - 4.0 * f64::EPSILON),
            Self::After => t,
        }
    }
}

/// The right-hand side of y' = f(t, y).
pub(crate) trait Equations {
    /// Writes f(t, y) to `slope`.
    fn slope(&mut self, side: Side, t: f64, y: &[f64], slope: &mut [f64]);

    /// The error of component `index` that is too small to matter.
    fn negligible(&self, index: usize) -> f64;
}

/// One step, tried and not yet taken.
#[derive(Clone, Debug)]
pub(crate) struct TrialStep {
    stages: [Vec<f64>; 7],
    /// The state at the end.
    pub(crate) end: Vec<f64>,
    scratch: Vec<f64>,
    /// Is the first stage already that of the next step?
    ready: bool,
}

impl TrialStep {
    pub(crate) fn new(size: usize) -> Self {
        let zeros = || vec![0.0; size];
        Self {
            stages: [zeros(), zeros(), zeros(), zeros(), zeros(), zeros(), zeros()],
            end: zeros(),
            scratch: zeros(),
            ready: false,
        }
    }

    /// The past has changed: the last stage of the previous step is not the first of the next.
    pub(crate) fn restart(&mut self) {
        self.ready = false;
    }

    /// The step was taken: its last stage is the first of the next.
    pub(crate) fn taken(&mut self) {
        self.stages.swap(0, 6);
        self.ready = true;
    }

    /// Tries a step from (t, y) of length `h`. Returns its error, where 1 is the most allowed.
    pub(crate) fn attempt(
        &mut self,
        equations: &mut impl Equations,
        t: f64,
        y: &[f64],
        h: f64,
    ) -> f64 {
        if !self.ready {
            equations.slope(Side::After, t, y, &mut self.stages[0]);
            self.ready = true;
        }
        for (stage, (row, c)) in A.iter().zip(C).enumerate() {
            for (index, value) in self.scratch.iter_mut().enumerate() {
                let mut sum = 0.0;
                for (coefficient, slopes) in row.iter().zip(&self.stages).take(stage + 1) {
                    sum += coefficient * slopes[index];
                }
                *value = y[index] + h * sum;
            }
            let slope = &mut self.stages[stage + 1];
            equations.slope(Side::Before, t + c * h, &self.scratch, slope);
        }
        self.end.copy_from_slice(&self.scratch);
        let mut largest = 0.0_f64;
        for (index, (&before, &after)) in y.iter().zip(&self.end).enumerate() {
            let mut error = 0.0;
            for (coefficient, slopes) in E.iter().zip(&self.stages) {
                error += coefficient * slopes[index];
            }
            let allowed = equations.negligible(index) + RELATIVE * before.abs().max(after.abs());
            let error = (h * error).abs() / allowed;
            // A NaN counts as larger than anything, and stays.
            largest = if error <= largest || largest.is_nan() { largest } else { error };
        }
        largest
    }

    /// The first component whose slope was not finite in the last attempt; `None` if all were finite.
    pub(crate) fn broken(&self) -> Option<usize> {
        let mut stages = self.stages.iter();
        stages.find_map(|slopes| slopes.iter().position(|slope| !slope.is_finite()))
    }

    /// The quartic through the step of length `h` from `y`: five coefficients for each component.
    pub(crate) fn quartics(&self, y: &[f64], h: f64, into: &mut Vec<[f64; 5]>) {
        into.clear();
        for (index, &start) in y.iter().enumerate() {
            let mut quartic = [start, 0.0, 0.0, 0.0, 0.0];
            for (coefficients, slopes) in P.iter().zip(&self.stages) {
                for (power, coefficient) in coefficients.iter().enumerate() {
                    quartic[power + 1] += h * coefficient * slopes[index];
                }
            }
            into.push(quartic);
        }
    }
}

/// The value of a quartic.
#[inline]
pub(crate) fn quartic(coefficients: &[f64; 5], theta: f64) -> f64 {
    let [a, b, c, d, e] = coefficients;
    a + theta * (b + theta * (c + theta * (d + theta * e)))
}

/// Its integral from 0.
pub(crate) fn quartic_integral([a, b, c, d, e]: &[f64; 5], theta: f64) -> f64 {
    theta * (a + theta * (b / 2.0 + theta * (c / 3.0 + theta * (d / 4.0 + theta * e / 5.0))))
}

/// The factor for the next step length after a step with this error.
pub(crate) fn stretch(error: f64) -> f64 {
    if error.is_finite() { (0.9 * math::pow(error.max(1e-10), -0.2)).clamp(0.2, 5.0) } else { 0.2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Circle;

    impl Equations for Circle {
        fn slope(&mut self, _: Side, _: f64, y: &[f64], slope: &mut [f64]) {
            slope[0] = -y[1];
            slope[1] = y[0];
        }

        fn negligible(&self, _: usize) -> f64 {
            1e-9
        }
    }

    /// One step of 0.1 round a circle of radius 1. Order 5: the error is about 0.1⁶/6! · a few, far below 10⁻⁸; half
    /// the step divides it by 2⁶ = 64. The quartic in between is of order 4.
    #[test]
    fn a_step_has_the_order_of_the_method() {
        let mut errors = Vec::new();
        for h in [0.1_f64, 0.05] {
            let mut step = TrialStep::new(2);
            let error = step.attempt(&mut Circle, 0.0, &[1.0, 0.0], h);
            assert!(error < 1.0, "estimate {error}");
            errors.push((step.end[0] - h.cos()).hypot(step.end[1] - h.sin()));
            let mut quartics = Vec::new();
            step.quartics(&[1.0, 0.0], h, &mut quartics);
            for theta in [0.0, 0.3, 0.7, 1.0] {
                let off = quartic(&quartics[0], theta) - (theta * h).cos();
                assert!(off.abs() < math::pow(h, 5.0) / 50.0, "{off} at {theta} of {h}");
            }
            let area = h * quartic_integral(&quartics[0], 1.0);
            assert!((area - h.sin()).abs() < 1e-8, "integral {area}");
        }
        assert!(errors[0] < 1e-8, "{errors:?}");
        assert!((50.0..80.0).contains(&(errors[0] / errors[1])), "{errors:?}");
    }

    /// 1 + 2θ + 3θ² + 4θ³ + 5θ⁴ has the integral θ + θ² + θ³ + θ⁴ + θ⁵.
    #[test]
    fn a_quartic_has_the_integral_of_its_powers() {
        let coefficients = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(quartic_integral(&coefficients, 1.0), 5.0);
        assert_eq!(quartic_integral(&coefficients, 0.5), 0.96875);
        assert_eq!(quartic(&coefficients, 0.5), 1.0 + 1.0 + 0.75 + 0.5 + 0.3125);
    }

    /// 0.9/error^(1/5), at least a fifth and at most five.
    #[test]
    fn the_next_step_is_as_long_as_the_error_allows() {
        for (error, factor) in [
            (1.0, 0.9),
            (32.0, 0.45),
            (1.0 / 243.0, 2.7),
            (0.0, 5.0),
            (1e9, 0.2),
            (f64::INFINITY, 0.2),
            (f64::NAN, 0.2),
        ] {
            assert!((stretch(error) - factor).abs() < 1e-12, "{} at {error}", stretch(error));
        }
    }

    /// One component is not a number, its neighbours are exact.
    struct Broken;

    impl Equations for Broken {
        fn slope(&mut self, _: Side, _: f64, _: &[f64], slope: &mut [f64]) {
            slope.copy_from_slice(&[1.0, f64::NAN, 1.0]);
        }

        fn negligible(&self, _: usize) -> f64 {
            1e-9
        }
    }

    #[test]
    fn a_component_that_is_no_number_is_not_hidden_by_the_next() {
        let mut step = TrialStep::new(3);
        let error = step.attempt(&mut Broken, 0.0, &[1.0; 3], 0.1);
        assert!(error.is_nan(), "estimate {error}");
        assert_eq!(step.broken(), Some(1));
    }
}
