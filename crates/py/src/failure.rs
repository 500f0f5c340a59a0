//! What becomes of faults of code that users bring along.

use longfat_units::fault::Fault;
use pyo3::exceptions::{PyException, PyRuntimeError, PySystemExit};
use pyo3::{create_exception, prelude::*};

create_exception!(
    longfat._longfat,
    CodeError,
    PyRuntimeError,
    "Code that was brought along failed, or answered nonsense, while it ran. The message names it, the flow and the \
     simulated time."
);

/// What a fault is in Python. `flow` is what the flow is called; an exception that caused it is its cause.
pub(crate) fn failed(py: Python<'_>, fault: Fault, flow: Option<String>) -> PyErr {
    let Fault { who, now, what, payload, .. } = fault;
    let flow = flow.map(|flow| format!(", flow {flow}")).unwrap_or_default();
    let now = now.map(|now| format!(", after {} s", now.seconds())).unwrap_or_default();
    let error = CodeError::new_err(format!("{who}{flow}{now}: {what}"));
    match payload.and_then(|payload| payload.downcast::<PyErr>().ok()) {
        // Ctrl-C and the like, which came while the code of a class was running, are no fault of it; that it wants to end the
        // process is.
        Some(cause)
            if !cause.is_instance_of::<PyException>(py)
                && !cause.is_instance_of::<PySystemExit>(py) =>
        {
            *cause
        }
        Some(cause) => {
            error.set_cause(py, Some(*cause));
            error
        }
        None => error,
    }
}
