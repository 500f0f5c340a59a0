//! Code that users bring along: handles of it, and how a scenario finds it.

use std::path::PathBuf;
use std::sync::Arc;

use longfat_control::Controller;
use longfat_foreign::{Entry, abi};
use longfat_queue::Discipline;
use longfat_scenario::{Catalogue, Code};
use longfat_units::{Form, Origin};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::registry::{ControllerInfo, DisciplineInfo};
use crate::watched::watched;

/// An entry of a catalogue that is no part of longfat, ready to be chosen by a scenario.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) entry: Entry,
}

impl Own {
    /// The controller that it is, if it is one.
    pub(crate) fn controller(&self) -> Option<Controller> {
        self.entry.clone().into_controller()
    }

    /// Adds it to a catalogue, unless the same is there already.
    pub(crate) fn add_to(&self, catalogue: &mut Catalogue) -> PyResult<()> {
        let wrong =
            |error: longfat_scenario::CatalogueError| PyValueError::new_err(error.to_string());
        match self.entry.clone() {
            Entry::Controller(entry) => {
                if catalogue.controller(&entry.name).is_some_and(|other| **other == entry) {
                    return Ok(());
                }
                catalogue.add_controller(entry).map_err(wrong)
            }
            Entry::Discipline(entry) => {
                if catalogue.discipline(&entry.name).is_some_and(|other| **other == entry) {
                    return Ok(());
                }
                catalogue.add_discipline(entry).map_err(wrong)
            }
        }
    }
}

#[pymethods]
impl Own {
    /// Its name in scenario files.
    #[getter]
    fn name(&self) -> &str {
        self.entry.name()
    }

    /// `controller` or `queue`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.entry {
            Entry::Controller(_) => "controller",
            Entry::Discipline(_) => "queue",
        }
    }

    /// A digest of its code.
    #[getter]
    fn digest(&self) -> &str {
        self.entry.origin().map_or("", |origin| &origin.digest)
    }

    /// Whether it has a window law, which the fluid model can solve.
    #[getter]
    fn is_law(&self) -> bool {
        matches!(&self.entry, Entry::Controller(entry) if entry.law.is_some())
    }

    /// What lists say of it.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.entry {
            Entry::Controller(entry) => Ok(ControllerInfo::of(entry).into_pyobject(py)?.into_any()),
            Entry::Discipline(entry) => Ok(DisciplineInfo::of(entry).into_pyobject(py)?.into_any()),
        }
    }

    fn __repr__(&self) -> String {
        format!("<Own {} {}>", self.kind(), self.name())
    }
}

/// What is in a shared library, in its order: laws, controllers, queues.
#[pyfunction]
#[pyo3(signature = (path, /))]
pub(crate) fn load_library(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Own>> {
    let loaded = watched(py, |_| Ok(()), move |_| longfat_foreign::load(&path))?;
    let entries = loaded.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(entries.iter().map(|entry| Own { entry: entry.clone() }).collect())
}

/// Makes a handle of functions that have been compiled: the address of a table of longfat.h, which, with all that it
/// points to, stays as it is as long as `keep` lives.
#[pyfunction]
#[pyo3(signature = (kind, address, keep, digest, /))]
pub(crate) fn compiled(
    kind: &str,
    address: usize,
    keep: Py<PyAny>,
    digest: String,
) -> PyResult<Own> {
    let keep = Arc::new(keep);
    let origin = Origin::new(digest);
    #[expect(unsafe_code, reason = "the functions were compiled a moment ago, by longfat.own")]
    // SAFETY: `longfat.own`, the only caller, fills in the structures of the header with functions that it has had
    // compiled for these types, and `keep` holds the memory of both.
    let entry = unsafe {
        match kind {
            "law" => longfat_foreign::compiled_law(address as *const abi::Law, keep, origin),
            "controller" => {
                let at = address as *const abi::Controller;
                longfat_foreign::compiled_controller(at, keep, origin)
            }
            "queue" => longfat_foreign::compiled_queue(address as *const abi::Queue, keep, origin),
            other => {
                return Err(PyValueError::new_err(format!("there is no kind of table {other:?}")));
            }
        }
    };
    entry.map(|entry| Own { entry }).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Fetches code for scenarios by a function of Python, which takes `python` or `library`, what the scenario says, and
/// `controller` or `queue`; it returns a handle and what stands for it in resolved scenarios, or raises an error.
pub(crate) struct Fetch(pub(crate) Py<PyAny>);

impl Fetch {
    /// The entry in `place`, with its origin as the scenario refers to it, where `take` finds it to be one of this kind.
    fn fetch<T>(
        &self,
        form: Form,
        place: &str,
        kind: &'static str,
        take: fn(Entry) -> Option<T>,
    ) -> Result<T, String> {
        Python::attach(|py| {
            let fetch = || -> PyResult<_> {
                let found = self.0.bind(py).call1((form.key(), place, kind))?;
                let (own, place) = found.cast::<PyTuple>()?.extract::<(Py<Own>, String)>()?;
                let own = own.get();
                let origin = own.entry.origin().cloned().unwrap_or_else(|| Origin::new(""));
                take(own.entry.clone().with_origin(origin.named(form, place))).ok_or_else(|| {
                    let what = format!("`{}` is a {}, not a {kind}", own.name(), own.kind());
                    PyTypeError::new_err(what)
                })
            };
            fetch().map_err(|error| error.value(py).to_string())
        })
    }
}

impl Code for Fetch {
    fn controller(&self, form: Form, place: &str) -> Result<Controller, String> {
        self.fetch(form, place, "controller", Entry::into_controller)
    }

    fn discipline(&self, form: Form, place: &str) -> Result<Discipline, String> {
        self.fetch(form, place, "queue", Entry::into_discipline)
    }
}
