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
