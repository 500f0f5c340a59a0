//! Trained policies: read from their files, as controllers and by themselves.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use longfat_control::Controller;
use longfat_foreign::Entry;
use longfat_gym::PolicyFile;
use longfat_queue::Discipline;
use longfat_scenario::Code;
use longfat_units::{Form, Origin};
use pyo3::exceptions::PyValueError;
use pyo3::types::PyBytes;
use pyo3::{create_exception, prelude::*};

use crate::own::Own;

create_exception!(
    longfat._longfat,
    GymError,
    PyValueError,
    "An environment, a step or a policy is not as asked for. The message says what was found, and what to do."
);

/// The exception for what an environment or a policy refuses.
pub(crate) fn refused(error: &longfat_gym::GymError) -> PyErr {
    GymError::new_err(error.to_string())
}

/// Reads the trained policies that scenarios name: files beside theirs or in the working directory.
pub(crate) struct Policies(pub(crate) Option<PathBuf>);

/// No policy's file is longer, in bytes.
const LONGEST: u64 = 20_000_000;

impl Code for Policies {
    fn controller(&self, _: Form, place: &str) -> Result<Controller, String> {
        let folders = self.0.iter().cloned().chain([PathBuf::new()]);
        let found = folders.map(|folder| folder.join(place)).find(|path| path.is_file());
        let path = found.and_then(|path| path.canonicalize().ok());
        let path = path.ok_or(
            "there is no such file beside the scenario file, nor in the working directory",
        )?;
        let mut text = String::new();
        let read = File::open(&path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
        read.map_err(|_| "it cannot be read as text")?;
        // Whose scenario it is nobody knows, so nothing of a file that is something else is shown.
        let controller = longfat_gym::controller(&text).map_err(|error| match error {
            longfat_gym::GymError::File(_) => {
                "it is not the file of a policy; `longfat.gym.Policy.read` says what is wrong"
                    .into()
            }
            other => other.to_string(),
        })?;
        let origin = controller.origin.clone().unwrap_or_else(|| Origin::new(""));
        let path = path.to_str().ok_or("its path is no Unicode text")?;
        Ok(controller.origin(origin.named(Form::Policy, path)))
    }

    fn discipline(&self, _: Form, _: &str) -> Result<Discipline, String> {
        Err("a policy is a controller, and no queue".into())
    }
}

/// The handle of a trained policy, from the text of its file.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn policy_controller(text: &str) -> PyResult<Own> {
    let controller = longfat_gym::controller(text).map_err(|error| refused(&error))?;
    Ok(Own { entry: Entry::Controller(controller) })
}

/// A trained policy, read from the text of its file.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug)]
pub(crate) struct Policy {
    inner: longfat_control::interval::Policy,
    name: String,
}

#[pymethods]
impl Policy {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let file = PolicyFile::read(text).map_err(|error| refused(&error))?;
        let inner = file.policy().map_err(|error| refused(&error))?;
        Ok(Self { inner, name: file.name })
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What it decides for each of these observations: as many 32-bit numbers as it observes, any number of times.
    /// The decisions are 64-bit numbers.
    fn decide<'py>(&self, py: Python<'py>, observed: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let row = self.inner.inputs() * size_of::<f32>();
        if !observed.len().is_multiple_of(row) {
            return Err(GymError::new_err(format!(
                "`{}` observes {} numbers at a time, and {} are no multiple of that",
                self.name,
                self.inner.inputs(),
                observed.len() / size_of::<f32>()
            )));
        }
        let number = |bytes: &[u8]| f32::from_ne_bytes(bytes.try_into().expect("chunks of a word"));
        let mut decisions = Vec::with_capacity(observed.len() / row * size_of::<f64>());
        for row in observed.chunks_exact(row) {
            let numbers: Vec<f32> = row.chunks_exact(size_of::<f32>()).map(number).collect();
            decisions.extend_from_slice(&self.inner.decide(&numbers).to_ne_bytes());
        }
        Ok(PyBytes::new(py, &decisions))
    }
}
