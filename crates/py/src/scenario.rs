//! Scenarios: text in, text out.

use std::path::PathBuf;
use std::sync::Arc;

use longfat_sim::Keep;
use pyo3::exceptions::PyValueError;
use pyo3::types::PyTuple;
use pyo3::{create_exception, prelude::*};

use longfat_scenario::{Catalogue, Diagnostic};

use crate::guard::guarded;
use crate::own::{Fetch, Own};
use crate::policy::Policies;
use crate::quantities::Quantities;
use crate::traces;
use crate::watched::watched;

create_exception!(
    longfat._longfat,
    ScenarioError,
    PyValueError,
    "A scenario is wrong. The message names the place, the reason and, if there is one, a remedy; `diagnostics` has \
     every problem as a dictionary."
);

/// One thing that is wrong, as a dictionary.
#[derive(Debug, IntoPyObject)]
struct DiagnosticInfo<'a> {
    message: &'a str,
    help: Option<&'a str>,
    file: &'a str,
    #[pyo3(item("override"))]
    override_index: Option<usize>,
    line: Option<usize>,
    column: Option<usize>,
    length: Option<usize>,
}

impl<'a> DiagnosticInfo<'a> {
    fn new(diagnostic: &'a Diagnostic) -> Self {
        let Diagnostic { message, help, file, override_index, location, .. } = diagnostic;
        Self {
            message,
            help: help.as_deref(),
            file,
            override_index: *override_index,
            line: location.map(|at| at.line),
            column: location.map(|at| at.column),
            length: location.map(|at| at.length),
        }
    }
}

/// The exception, with the same details in machine-readable form.
fn refused(py: Python<'_>, error: &longfat_scenario::ScenarioError) -> PyErr {
    let exception = ScenarioError::new_err(error.to_string());
    let wrong = PyTuple::new(py, error.diagnostics().iter().map(DiagnosticInfo::new));
    match wrong.and_then(|wrong| exception.value(py).setattr("diagnostics", wrong)) {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// What a run will need.
#[derive(Debug, IntoPyObject)]
pub(crate) struct WorkEstimate {
    packets: f64,
    seconds: f64,
    memory: f64,
    largest: &'static str,
}

impl From<longfat_sim::WorkEstimate> for WorkEstimate {
    fn from(of: longfat_sim::WorkEstimate) -> Self {
        let longfat_sim::WorkEstimate { packets, seconds, memory, largest, .. } = of;
        Self { packets, seconds, memory, largest: largest.name() }
    }
}

/// A complete, checked scenario: every default filled in, every reference resolved.
#[pyclass(frozen, eq, module = "longfat._longfat")]
#[derive(Debug, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) inner: Arc<longfat_scenario::Scenario>,
}

impl Scenario {
    /// Does something with the scenario that may take longer than anybody wants to wait.
    fn watched<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: fn(&longfat_scenario::Scenario) -> T,
    ) -> PyResult<T> {
        let inner = Arc::clone(&self.inner);
        watched(py, |_| Ok(()), move |_| work(&inner))
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario from TOML text; `origin` stands for its file in messages. Traces and lists of flows that it names
    /// are read from `folder`; without one it can name none. `tables` makes text of a Parquet file, given its path. `own` is
    /// added to what the scenario can choose from, and `code` fetches the code that it names.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "in Python they have names")]
    #[pyo3(signature = (text, origin = "scenario".to_owned(), *, overrides = Vec::new(), seed = None, folder = None,
        tables = None, own = Vec::new(), code = None))]
    #[pyo3(
        text_signature = "(text, origin='scenario', *, overrides=(), seed=None, folder=None, tables=None, \
                          own=(), code=None)"
    )]
    fn parse(
        py: Python<'_>,
        text: String,
        origin: String,
        overrides: Vec<String>,
        seed: Option<u64>,
        folder: Option<PathBuf>,
        tables: Option<Py<PyAny>>,
        own: Vec<Py<Own>>,
        code: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut catalogue = Catalogue::built_in();
        for entry in own {
            entry.get().add_to(&mut catalogue)?;
        }
        if let Some(code) = code {
            catalogue.allow_code(Arc::new(Fetch(code)));
        }
        catalogue.allow_data(Arc::new(Policies(folder.clone())));
        let read = watched(
            py,
            |_| Ok(()),
            move |waiting| {
                let mut go_on = || waiting.goes_on();
                let mut files = |name: &str| match &folder {
                    Some(folder) => traces::open(folder, name, tables.as_ref()),
                    None => Err("only a scenario file can name other files".to_owned()),
                };
                let read = longfat_scenario::Scenario::read_while(
                    &catalogue, &text, &origin, &overrides, seed, &mut files, &mut go_on,
                );
                // Dropped here: what is left of a large file takes its time as well.
                drop((text, overrides));
                read
            },
        )?;
        let read = read.expect("nobody has given up");
        read.map(|inner| Self { inner: Arc::new(inner) }).map_err(|error| refused(py, &error))
    }

    /// The same scenario with another seed.
    #[pyo3(signature = (seed, /))]
    fn with_seed(&self, seed: u64) -> Self {
        let mut inner = (*self.inner).clone();
        inner.seed = seed;
        Self { inner: Arc::new(inner) }
    }

    /// What every stream of random numbers is derived from.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed
    }

    /// Simulated time in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.duration.seconds()
    }

    /// How much of the beginning every average leaves out, in seconds.
    #[getter]
    fn warmup_s(&self) -> f64 {
        self.inner.warmup.seconds()
    }

    /// The scenario as a TOML file that reads back to the same scenario.
    fn to_toml(&self, py: Python<'_>) -> PyResult<String> {
        self.watched(py, longfat_scenario::Scenario::to_toml)
    }

    /// Its quantities as plain numbers: times in picoseconds, rates in bit/s, sizes in bytes.
    fn quantities(&self, py: Python<'_>) -> PyResult<Quantities> {
        self.watched(py, Quantities::of)
    }

    /// Roughly what a run will need: data packets, seconds on one core, bytes of memory, and what takes most of these.
    #[pyo3(signature = (*, record = true, transfers = true))]
    fn estimate(&self, record: bool, transfers: bool) -> PyResult<WorkEstimate> {
        let keep = Keep { rows: record, transfers };
        guarded(|| longfat_sim::WorkEstimate::of(&self.inner, keep)).map(WorkEstimate::from)
    }

    /// The scenario as JSON text.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.watched(py, |scenario| scenario.to_json().to_string())
    }
}
