//! Conversations with a page, whose engine this process is: bytes in, bytes out.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::guard::guarded;
use crate::traces;

/// One conversation: a scenario at a time, and a run of it. What is asked and answered is told by the crate
/// `longfat-session`, which is also what a page has in itself as WebAssembly.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug, Default)]
pub(crate) struct Session {
    inner: Mutex<longfat_session::Session>,
}

impl Session {
    /// Does something with the conversation, without the interpreter's lock. After a panic there is no run any more.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut longfat_session::Session) -> T + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let done = guarded(|| work(&mut inner));
            if done.is_err() {
                *inner = longfat_session::Session::default();
            }
            done
        })
    }
}

#[pymethods]
impl Session {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Reads a scenario. Files that it names are read from `folder`; without one it can name none.
    #[pyo3(signature = (request, /, *, folder = None, tables = None))]
    fn read(
        &self,
        py: Python<'_>,
        request: &[u8],
        folder: Option<PathBuf>,
        tables: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let mut files = move |name: &str| match &folder {
            Some(folder) => traces::open(folder, name, tables.as_ref()),
            None => Err("there is no folder that it could be in".to_owned()),
        };
        self.with(py, |session| session.read(request, &mut files))
    }

    /// The scenario as it was understood, as a file.
    fn resolved(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |session| session.resolved())
    }

    /// Begins a run.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, longfat_session::Session::start)
    }

    /// Handles up to so many events, and tells whether more remain.
    fn advance(&self, py: Python<'_>, events: u64) -> PyResult<bool> {
        self.with(py, |session| session.advance(events))
    }

    /// The share of the simulated time that has elapsed.
    fn progress(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |session| session.progress())
    }

    /// The time series so far.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let told = self.with(py, longfat_session::Session::series)?;
        Ok(PyBytes::new(py, &told))
    }

    /// The summary and all tables.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let told = self.with(py, longfat_session::Session::finish)?;
        Ok(PyBytes::new(py, &told))
    }

    /// What a scenario can choose from.
    #[staticmethod]
    fn catalogue() -> String {
        longfat_session::catalogue()
    }
}
