//! The conformance suite: which promises a controller keeps.

use longfat_control::conformance::{self, Checked, Effort, Failure, Step};
use longfat_control::{CONTROLLERS, Controller};
use longfat_scenario::Catalogue;
use longfat_units::fault;
use longfat_units::parameter::{Setting, Settings};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::own::Own;
use crate::watched::watched;

/// An event of the sequence that shows a fault.
#[derive(Debug, IntoPyObject)]
pub(crate) struct StepInfo {
    now_s: f64,
    event: String,
    window: Option<f64>,
}

/// How a promise was broken.
#[derive(Debug, IntoPyObject)]
pub(crate) struct FailureInfo {
    what: String,
    settings: Vec<(String, String)>,
    window: Option<f64>,
    threshold: Option<f64>,
    events: Vec<StepInfo>,
}

/// A promise, and whether it was kept.
#[derive(Debug, IntoPyObject)]
pub(crate) struct PromiseInfo {
    promise: &'static str,
    expected: &'static str,
    failure: Option<FailureInfo>,
}

/// Goes through the conformance suite: every promise of a controller, which is a name of the catalogue or a handle, and
/// how it was broken if it was. `None` for a controller without a window, which promises nothing. `progress` is called
/// with the number of sequences done.
#[pyfunction]
#[pyo3(signature = (controller, *, seed, cases, progress = None))]
pub(crate) fn examine(
    py: Python<'_>,
    controller: &Bound<'_, PyAny>,
    seed: u64,
    cases: u32,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Vec<PromiseInfo>>> {
    let controller = chosen(controller)?;
    let look = |done: f64| progress.map_or(Ok(()), |progress| progress.call1((done,)).map(|_| ()));
    let effort = Effort { seed, cases, ..Effort::default() };
    let examined = watched(py, look, move |waiting| {
        let examine = || {
            let mut done = 0.0;
            let checked = conformance::examine(&controller, effort, || {
                waiting.report(done);
                done += 1.0;
                waiting.goes_on()
            });
            // The suite has told what it found.
            drop(fault::take());
            checked
        };
        if controller.origin.is_none() {
            return examine();
        }
        // The code of a class is called very often: what the interpreter keeps for this thread is made only once.
        Python::attach(|py| py.detach(examine))
    })?;
    Ok(examined.map(|checked| checked.into_iter().map(told).collect()))
}

fn chosen(given: &Bound<'_, PyAny>) -> PyResult<Controller> {
    if let Ok(own) = given.cast::<Own>() {
        // What no scenario can choose has nothing to be held to.
        own.get().add_to(&mut Catalogue::built_in())?;
        return own.get().controller().ok_or_else(|| {
            PyTypeError::new_err("only controllers have promises that can be checked, not queues")
        });
    }
    let name: String = given.extract()?;
    let found = CONTROLLERS.iter().find(|entry| entry.name == name);
    found
        .map(|entry| (**entry).clone())
        .ok_or_else(|| PyValueError::new_err(format!("there is no controller called `{name}`")))
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

fn told(checked: Checked) -> PromiseInfo {
    let Checked { promise, failure, .. } = checked;
    PromiseInfo {
        promise: promise.name(),
        expected: promise.words(),
        failure: failure.map(|Failure { what, settings, start, steps, .. }| FailureInfo {
            what,
            settings: texts(&settings),
            window: start.and_then(|start| finite(start.window.0)),
            threshold: start.and_then(|start| finite(start.threshold?.0)),
            events: steps.iter().map(step).collect(),
        }),
    }
}

fn step(step: &Step) -> StepInfo {
    StepInfo {
        now_s: step.now.seconds(),
        event: step.operation.event.to_string(),
        window: finite(step.window),
    }
}

fn texts(settings: &Settings) -> Vec<(String, String)> {
    let text = |setting: &Setting| match setting {
        Setting::Number(number) | Setting::Length(number) => number.to_string(),
        Setting::Count(count) => count.to_string(),
        Setting::Flag(flag) => flag.to_string(),
        Setting::Span(span) => span.to_string(),
        Setting::Word(word) => word.clone(),
        Setting::Entry(entry) => entry.name().to_owned(),
    };
    settings.iter().map(|(name, setting)| (name.to_owned(), text(setting))).collect()
}
