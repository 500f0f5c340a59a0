//! Quantities as text, for what the command line takes outside a scenario file.

use std::str::FromStr;

use longfat_units::{Bytes, Rate, Span, UnitError, split};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Reads a quantity with its unit: a "time" in picoseconds, a "rate" in bit/s, a "size" in bytes. A number without one
/// probably has the `usual` unit.
#[pyfunction]
#[pyo3(signature = (kind, text, /, usual=None))]
pub(crate) fn quantity(kind: &str, text: &str, usual: Option<&str>) -> PyResult<u64> {
    match kind {
        "time" => read::<Span>(text, usual).map(|span| span.0),
        "rate" => read::<Rate>(text, usual).map(|rate| rate.0),
        "size" => read::<Bytes>(text, usual).map(|bytes| bytes.0),
        other => Err(PyValueError::new_err(format!("`{other}` is not a kind of quantity"))),
    }
}

fn read<Q: FromStr<Err = UnitError>>(text: &str, usual: Option<&str>) -> PyResult<Q> {
    text.parse().map_err(|error: UnitError| {
        let meant = match (split(text), usual) {
            ((number, ""), Some(unit)) if !number.is_empty() => Some(format!("{number} {unit}")),
            _ => error.suggestion,
        };
        let hint = meant.map(|text| format!("; did you mean \"{text}\"?"));
        PyValueError::new_err(format!("{}{}", error.reason, hint.unwrap_or_default()))
    })
}
