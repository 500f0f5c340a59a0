//! Quantities as text, for what the command line takes outside a scenario file.

use std::str::FromStr;

use longfat_units::{Bytes, Rate, Span, UnitError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Reads a quantity with its unit: a "time" in picoseconds, a "rate" in bit/s, a "size" in bytes.
#[pyfunction]
#[pyo3(signature = (kind, text, /))]
pub(crate) fn quantity(kind: &str, text: &str) -> PyResult<u64> {
    match kind {
        "time" => read::<Span>(text).map(|span| span.0),
        "rate" => read::<Rate>(text).map(|rate| rate.0),
        "size" => read::<Bytes>(text).map(|bytes| bytes.0),
        other => Err(PyValueError::new_err(format!("`{other}` is not a kind of quantity"))),
    }
}

fn read<Q: FromStr<Err = UnitError>>(text: &str) -> PyResult<Q> {
    text.parse().map_err(|error: UnitError| {
        let hint = error.suggestion.map(|text| format!("; did you mean \"{text}\"?"));
        PyValueError::new_err(format!("{}{}", error.reason, hint.unwrap_or_default()))
    })
}
