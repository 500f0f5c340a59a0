//! What is drawn for flows: sizes, and how long things last.

use longfat_scenario::chance::{self, Stream};
use longfat_scenario::{Interval, Objects, Size};
use longfat_units::{Span, math};
use rand_distr::{Distribution, Exp1, LogNormal, Pareto};

/// A thousand terabytes are more than any run can carry.
const LARGEST: f64 = 1e15;
/// Thirty years: longer than the clock lasts, but finite.
const LONGEST: f64 = 1e9;
/// More objects than this are no page.
const MOST_OBJECTS: f64 = 1e6;

/// A size in bytes.
pub(crate) fn size(size: &Size, stream: &mut Stream) -> u64 {
    let bytes = match *size {
        Size::Fixed(bytes) => return bytes.0,
        Size::Uniform(low, high) => {
            low.0 as f64 + (high.0 - low.0) as f64 * chance::uniform(stream)
        }
        Size::Exponential { mean } => {
            let exponential: f64 = Exp1.sample(stream);
            mean * exponential
        }
        Size::Pareto { mean, shape } => pareto(mean, shape, stream),
        // The mean of a log-normal distribution is exp(μ + σ²/2).
        Size::LogNormal { mean, sigma } => {
            LogNormal::new(math::ln(mean) - sigma * sigma / 2.0, sigma)
                .expect("a resolved scenario has a finite deviation")
                .sample(stream)
        }
    };
    bytes.min(LARGEST).ceil() as u64
}

/// The time between two of `rate` events per second on average: a Poisson process.
pub(crate) fn gap(rate: f64, stream: &mut Stream) -> Span {
    let exponential: f64 = Exp1.sample(stream);
    Span::from_seconds_f64((exponential / rate).min(LONGEST))
}

/// How long something lasts this time.
pub(crate) fn interval(interval: &Interval, stream: &mut Stream) -> Span {
    let seconds = match *interval {
        Interval::Fixed(span) => return span,
        Interval::Uniform(low, high) => {
            return Span(low.0 + ((high.0 - low.0) as f64 * chance::uniform(stream)) as u64);
        }
        Interval::Exponential { mean } => {
            let exponential: f64 = Exp1.sample(stream);
            mean.seconds() * exponential
        }
        Interval::Pareto { mean, .. } if mean == Span::ZERO => 0.0,
        Interval::Pareto { mean, shape } => pareto(mean.seconds(), shape, stream),
    };
    Span::from_seconds_f64(seconds.min(LONGEST))
}

/// How many objects a page has.
pub(crate) fn objects(objects: Objects, stream: &mut Stream) -> u64 {
    match objects {
        Objects::Fixed(count) => count,
        Objects::Uniform(low, high) => {
            let wide = (high - low + 1) as f64;
            (low + (wide * chance::uniform(stream)) as u64).min(high)
        }
        // P(N > n) = (1 − 1/mean)ⁿ: the integer part of an exponential variable.
        Objects::Geometric(mean) => {
            let exponential: f64 = Exp1.sample(stream);
            let beyond = exponential / -math::ln(1.0 - 1.0 / mean);
            1 + beyond.min(MOST_OBJECTS) as u64
        }
    }
}

/// The mean of a Pareto distribution with scale m is m·shape/(shape − 1).
fn pareto(mean: f64, shape: f64, stream: &mut Stream) -> f64 {
    Pareto::new(mean * (shape - 1.0) / shape, shape)
        .expect("a resolved scenario has a shape above 1")
        .sample(stream)
}

#[cfg(test)]
mod tests {
    use longfat_scenario::chance::stream;
    use longfat_units::Bytes;

    use super::*;

    const TRIALS: u64 = 200_000;

    fn mean(mut draw: impl FnMut(&mut Stream) -> f64) -> f64 {
        let mut stream = stream(7, "draw");
        (0..TRIALS).map(|_| draw(&mut stream)).sum::<f64>() / TRIALS as f64
    }

    /// Rounded up to whole bytes, which adds half a byte on average. Standard errors are below a hundredth.
    #[test]
    fn sizes_have_the_means_that_they_are_given() {
        for (size, expected) in [
            (Size::Fixed(Bytes(1000)), 1000.0),
            (Size::Uniform(Bytes(600), Bytes(1400)), 1000.5),
            (Size::Exponential { mean: 1000.0 }, 1000.5),
            (Size::Pareto { mean: 1000.0, shape: 3.0 }, 1000.5),
            (Size::LogNormal { mean: 1000.0, sigma: 1.0 }, 1000.5),
        ] {
            let found = mean(|stream| self::size(&size, stream) as f64);
            assert!((found / expected - 1.0).abs() < 0.015, "{size:?}: {found}");
        }
        let small = mean(|stream| size(&Size::Uniform(Bytes(1), Bytes(3)), stream) as f64);
        // Two or three, never less than what was drawn: 2.5 ± 0.5/447.
        assert!((small - 2.5).abs() < 0.006, "{small}");
    }

    #[test]
    fn a_uniform_size_or_time_stays_within_its_bounds() {
        let mut stream = stream(7, "draw");
        let (size, span) = (
            Size::Uniform(Bytes(600), Bytes(1400)),
            Interval::Uniform(Span(600_000), Span(1_400_000)),
        );
        for _ in 0..TRIALS {
            assert!((600..=1400).contains(&self::size(&size, &mut stream)));
            assert!((600_000..1_400_000).contains(&interval(&span, &mut stream).0));
        }
    }

    #[test]
    fn no_size_and_no_time_is_beyond_all_bounds() {
        let mut stream = stream(7, "draw");
        let largest = size(&Size::Exponential { mean: 1e300 }, &mut stream);
        assert_eq!(largest, 1_000_000_000_000_000);
        // A billion seconds are more than a clock of picoseconds has.
        assert_eq!(gap(1e-300, &mut stream), Span::from_seconds_f64(1e9));
    }

    #[test]
    fn times_have_the_means_that_they_are_given() {
        let second = Span::from_seconds(1);
        for what in [
            Interval::Fixed(second),
            Interval::Uniform(Span::from_millis(500), Span::from_millis(1500)),
            Interval::Exponential { mean: second },
            Interval::Pareto { mean: second, shape: 3.0 },
        ] {
            let found = mean(|stream| interval(&what, stream).seconds());
            assert!((found - 1.0).abs() < 0.015, "{what:?}: {found}");
        }
        let none = Interval::Pareto { mean: Span::ZERO, shape: 3.0 };
        assert_eq!(interval(&none, &mut stream(7, "draw")), Span::ZERO);
        let apart = mean(|stream| gap(4.0, stream).seconds());
        assert!((apart / 0.25 - 1.0).abs() < 0.015, "{apart}");
    }

    /// A geometric number of objects with the mean 4 is one with probability 1/4. Of 200 000 that is 50 000 ± 194.
    #[test]
    fn pages_have_the_objects_that_they_are_given() {
        assert_eq!(mean(|stream| objects(Objects::Fixed(5), stream) as f64), 5.0);
        let mut stream = stream(7, "draw");
        let mut counts = [0_u32; 4];
        for _ in 0..TRIALS {
            counts[objects(Objects::Uniform(2, 4), &mut stream) as usize - 1] += 1;
        }
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().all(|count| count.abs_diff(66_667) < 1100), "{counts:?}");
        let geometric = || Objects::Geometric(4.0);
        let found = mean(|stream| objects(geometric(), stream) as f64);
        assert!((found / 4.0 - 1.0).abs() < 0.01, "{found}");
        let ones = mean(|stream| f64::from(objects(geometric(), stream) == 1));
        assert!((ones - 0.25).abs() < 0.005, "{ones}");
        assert_eq!(mean(|stream| objects(Objects::Geometric(1.0), stream) as f64), 1.0);
    }
}
