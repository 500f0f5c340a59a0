//! What a class says about itself.

use std::sync::Arc;

use longfat_control::{Controller, Needs, Promises, Reaction, Wants};
use longfat_foreign::Entry;
use longfat_units::Origin;
use longfat_units::parameter::{Parameter, Setting, Settings};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use super::{Base, Control};
use crate::own::Own;

/// What a class says about itself: read once, when it is handed over.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(super) name: String,
    pub(super) class: Py<PyType>,
    pub(super) has: Has,
    pub(super) computes: Computes,
    pub(super) wants: Wants,
    pub(super) needs: Needs,
    pub(super) promises: Promises,
    pub(super) reaction: Reaction,
}

/// Methods that are called only where the class has them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Has {
    pub(super) on_recovered: bool,
    pub(super) on_restart: bool,
    pub(super) observe: bool,
}

/// Answers for which the class has a property or a method of its own.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each answer stands for itself")]
pub(super) struct Computes {
    pub(super) window: bool,
    pub(super) threshold: bool,
    pub(super) pacing: bool,
    pub(super) timer: bool,
}

impl Computes {
    pub(super) fn any(self) -> bool {
        self.window || self.threshold || self.pacing || self.timer
    }
}

/// A parameter as `longfat.own` reads it: name, kind, default, bounds, words, what it is.
#[derive(Debug, FromPyObject)]
pub(crate) struct ParameterGiven {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    kind: String,
    #[pyo3(item)]
    default: Py<PyAny>,
    #[pyo3(item)]
    bounds: (f64, f64),
    #[pyo3(item)]
    words: Vec<String>,
    #[pyo3(item)]
    about: String,
}

impl ParameterGiven {
    fn parameter(self, py: Python<'_>) -> PyResult<Parameter> {
        let Self { name, kind, default, bounds: (min, max), words, about } = self;
        Ok(match &*kind {
            "number" => Parameter::number(name, default.extract(py)?, min, max, about),
            "count" => Parameter::count(name, default.extract(py)?, min as u64, max as u64, about),
            "flag" => Parameter::flag(name, default.extract(py)?, about),
            "time" => Parameter::span(name, default.extract::<String>(py)?, about),
            "word" => Parameter::word(name, default.extract::<String>(py)?, words, about),
            other => {
                return Err(PyValueError::new_err(format!(
                    "there is no kind of parameter {other}"
                )));
            }
        })
    }
}

/// A handle of a class that derives from `ControllerBase`.
#[pyfunction]
#[pyo3(signature = (class, name, parameters, digest, /))]
pub(crate) fn class_controller(
    class: &Bound<'_, PyType>,
    name: &str,
    parameters: Vec<ParameterGiven>,
    digest: String,
) -> PyResult<Own> {
    let py = class.py();
    let parameters = parameters.into_iter().map(|given| given.parameter(py));
    let made = controller(class, name, parameters.collect::<PyResult<_>>()?)?;
    Ok(Own { entry: Entry::Controller(made.origin(Origin::new(digest))) })
}

/// The entry of a catalogue for a class.
///
/// # Errors
/// If the class says something about itself that makes no sense: the message names it.
fn controller(
    class: &Bound<'_, PyType>,
    name: &str,
    parameters: Vec<Parameter>,
) -> PyResult<Controller> {
    let py = class.py();
    if !class.is_subclass_of::<Base>()? {
        let reason = format!("{class} is no controller: it has to derive from longfat.Controller");
        return Err(PyTypeError::new_err(reason));
    }
    let base = py.get_type::<Base>();
    let overrides = |method: &str| -> PyResult<bool> {
        let Ok(own) = class.getattr(method) else { return Ok(false) };
        Ok(base.getattr(method).map_or(true, |inherited| !own.is(&inherited)))
    };
    for method in ["on_feedback", "on_congestion"] {
        if !overrides(method)? {
            let reason = format!("the controller `{name}` has no method `{method}`");
            return Err(PyTypeError::new_err(reason));
        }
    }
    let listed = |list: &str, known: &[&str]| words(class, name, list, known);
    let wants = listed("wants", &["delivery_rate", "one_way_delay", "spurious", "own_recovery"])?;
    let asked = |word: &str| wants.iter().any(|it| it == word);
    let needs = listed("needs", &["ecn", "accurate_ecn", "ect1", "spare", "pacing", "access"])?;
    let needed = |word: &str| needs.iter().any(|it| it == word);
    let promises =
        listed("promises", &["any_batching", "additive", "doubles_at_most", "forgetful"])?;
    let promised = |word: &str| promises.iter().any(|it| it == word);
    let reactions = listed("reaction", &["per_window", "per_mark", "losses_apart"])?;
    let reacts = |word: &str| reactions.iter().any(|it| it == word);
    let spec = Arc::new(Spec {
        name: name.to_owned(),
        class: class.clone().unbind(),
        has: Has {
            on_recovered: overrides("on_recovered")?,
            on_restart: overrides("on_restart")?,
            observe: overrides("observe")?,
        },
        computes: Computes {
            window: overrides("window")?,
            threshold: overrides("threshold")?,
            pacing: overrides("pacing")?,
            timer: overrides("timer")?,
        },
        wants: Wants {
            pacing: true,
            delivery_rate: asked("delivery_rate"),
            losses: overrides("on_lost")?,
            departures: overrides("on_sent")?,
            timer: overrides("on_timer")?,
            own_recovery: asked("own_recovery"),
            spurious: asked("spurious"),
            one_way_delay: asked("one_way_delay"),
            ..Wants::NOTHING
        },
        needs: Needs {
            ecn: needed("ecn"),
            accurate_ecn: needed("accurate_ecn"),
            ect1: needed("ect1"),
            spare: needed("spare"),
            pacing: needed("pacing"),
            access: needed("access"),
            ..Needs::NONE
        },
        promises: Promises {
            any_batching: promised("any_batching"),
            additive: promised("additive"),
            doubles_at_most: promised("doubles_at_most"),
            forgetful: promised("forgetful"),
        },
        reaction: if reacts("per_mark") {
            Reaction::PerMark
        } else if reacts("losses_apart") {
            Reaction::LossesApart
        } else {
            Reaction::PerWindow
        },
    });
    let title = class.getattr("__doc__")?.extract::<Option<String>>()?.unwrap_or_default();
    let title = title.trim().lines().next().unwrap_or_default().to_owned();
    let made = Controller::new(name.to_owned(), move |settings, start| {
        let settings = Python::attach(|py| namespace(py, settings));
        Control::sending(&spec, settings, start)
    });
    let source = class.getattr("source").and_then(|source| source.extract::<String>());
    Ok(made.title(title).source(source.unwrap_or_default()).parameters(parameters))
}

/// A list of words that the class has as an attribute; a single text is a list of one.
fn words(
    class: &Bound<'_, PyType>,
    name: &str,
    list: &str,
    known: &[&str],
) -> PyResult<Vec<String>> {
    let Ok(given) = class.getattr(list) else { return Ok(Vec::new()) };
    let words = given.extract::<String>().map(|word| vec![word]);
    let words = words.or_else(|_| given.extract::<Vec<String>>()).map_err(|_| {
        PyTypeError::new_err(format!("`{list}` of the controller `{name}` is no list of words"))
    })?;
    match words.iter().find(|word| !known.contains(&word.as_str())) {
        None => Ok(words),
        Some(word) => Err(PyValueError::new_err(format!(
            "`{list}` of the controller `{name}` has `{word}`: there are {}",
            known.join(", ")
        ))),
    }
}

/// The parameters of a flow, as attributes of an object.
fn namespace(py: Python<'_>, settings: &Settings) -> Py<PyAny> {
    let values = PyDict::new(py);
    let filled = settings.iter().try_for_each(|(name, setting)| match setting {
        Setting::Number(number) | Setting::Length(number) => values.set_item(name, number),
        Setting::Count(count) => values.set_item(name, count),
        Setting::Flag(flag) => values.set_item(name, flag),
        Setting::Span(span) => values.set_item(name, span.seconds()),
        Setting::Word(word) => values.set_item(name, word),
        Setting::Entry(entry) => values.set_item(name, entry.name()),
    });
    let made = filled
        .and_then(|()| PyModule::import(py, "types"))
        .and_then(|types| types.getattr("SimpleNamespace"))
        .and_then(|make| make.call((), Some(&values)));
    made.map_or_else(|_| py.None(), Bound::unbind)
}
