//! No panic crosses the boundary: it becomes an `EngineError`.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyErr, PyResult, create_exception};

create_exception!(
    longfat._longfat,
    EngineError,
    PyRuntimeError,
    "The simulator broke one of its own rules: a bug of longfat, not of the scenario."
);

thread_local! {
    /// What the last panic of this thread said, and where.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the message of a panic instead of printing it: [`guarded`] puts it into the error.
pub(crate) fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let place = panic.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        let text = format!("{said}{}", place.unwrap_or_default());
        LAST_PANIC.set(text);
    }));
}

/// Runs `work`; a panic in it becomes an error. Whatever was half-done is dropped, never used again.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| bug())
}

fn bug() -> PyErr {
    let said = LAST_PANIC.take();
    EngineError::new_err(format!(
        "{said}\nThis is a bug of longfat, not of your scenario. Please report it, together with the scenario."
    ))
}
