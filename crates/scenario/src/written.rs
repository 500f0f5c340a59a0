//! How values are written in a scenario file: what [`value`](crate::value) reads.

use longfat_units::Span;
use serde_json::{Map, Value};

use crate::value::{NONE, write_frequency};

/// Below this every whole number has a floating-point number of its own.
const WHOLE: f64 = 9_007_199_254_740_992.0;

pub(crate) fn per_second(number: f64) -> Value {
    write_frequency(number).into()
}

pub(crate) fn span(span: Span) -> Value {
    span.to_string().into()
}

/// A whole number without a decimal point, as it would be written by hand.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < WHOLE { (value as i64).into() } else { value.into() }
}

pub(crate) fn or_none<T>(value: Option<T>, write: impl FnOnce(T) -> Value) -> Value {
    value.map_or_else(|| NONE.into(), write)
}

pub(crate) fn object<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// A table with this one key.
pub(crate) fn one(key: &str, value: Value) -> Value {
    Value::Object(object([(key, value)]))
}
