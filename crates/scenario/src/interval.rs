//! How long something lasts each time: one time, or a distribution of times.

use longfat_units::Span;
use serde_json::{Value as Json, json};

use crate::error::Problem;
use crate::fields::Field;
use crate::size::shape;
use crate::tree::{Node, Value};
use crate::value::wait;
use crate::written::number as written;

const FAMILIES: &[&str] = &["exponential", "pareto", "uniform"];

/// How long something lasts each time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    /// Always as long.
    Fixed(Span),
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Span,
    },
    /// Pareto: a mean, and a shape above 1; the variance is infinite at 2 and below.
    Pareto {
        /// Mean.
        mean: Span,
        /// Shape.
        shape: f64,
    },
    /// Evenly distributed between two bounds.
    Uniform(Span, Span),
}

impl Interval {
    /// The mean.
    pub fn mean(&self) -> Span {
        match *self {
            Self::Fixed(span) => span,
            Self::Exponential { mean } | Self::Pareto { mean, .. } => mean,
            Self::Uniform(low, high) => Span(low.0 / 2 + high.0 / 2 + (low.0 & high.0 & 1)),
        }
    }
}

/// Reads an interval, of which the mean is at most one day.
pub(crate) fn interval(field: Field<'_>) -> Result<Interval, Problem> {
    if field.node.table().is_none() {
        return wait(field).map(Interval::Fixed);
    }
    let inner = field.only("a distribution of times", FAMILIES)?;
    let time = |node| wait(Field { name: field.name, node });
    match inner.name {
        "exponential" => Ok(Interval::Exponential { mean: time(inner.node)? }),
        "uniform" => {
            let Some([low, high]) = inner.node.list() else {
                let help = "write uniform = [\"1 s\", \"3 s\"]";
                return Err(inner.wrong("a list of two times").help(help));
            };
            let (low, high) = (time(low)?, time(high)?);
            if low > high {
                let reason = format!("nothing is between {low} and {high}");
                let help = format!("write [\"{high}\", \"{low}\"]");
                return Err(inner.problem(reason).help(help));
            }
            Ok(Interval::Uniform(low, high))
        }
        _ => pareto(inner, time),
    }
}

fn pareto<'a>(
    field: Field<'a>,
    time: impl FnOnce(&'a Node) -> Result<Span, Problem>,
) -> Result<Interval, Problem> {
    let wanted = || field.wrong("a table such as { mean = \"1 s\", shape = 1.5 }");
    let Value::Table(table) = &field.node.value else { return Err(wanted()) };
    let (Some(mean), Some(of)) = (table.node("mean"), table.node("shape")) else {
        return Err(wanted());
    };
    if table.names().count() > 2 {
        return Err(field.problem("a Pareto distribution has a `mean` and a `shape`, and no more"));
    }
    let mean = time(mean)?;
    Ok(Interval::Pareto { mean, shape: shape(Field { name: "shape", node: of })? })
}

/// An interval as written in a scenario file.
pub(crate) fn write_interval(interval: &Interval) -> Json {
    match *interval {
        Interval::Fixed(span) => span.to_string().into(),
        Interval::Exponential { mean } => json!({ "exponential": mean.to_string() }),
        Interval::Pareto { mean, shape } => {
            json!({ "pareto": { "mean": mean.to_string(), "shape": written(shape) } })
        }
        Interval::Uniform(low, high) => json!({ "uniform": [low.to_string(), high.to_string()] }),
    }
}
