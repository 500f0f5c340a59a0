//! Controllers that are classes in plain Python.
//!
//! The simulator calls them like any other controller. Each call attaches to the interpreter, hands over objects that
//! are filled in anew each time, and afterwards reads what the class has set: window, threshold, pacing and timer lie in
//! the base class, in Rust, so between calls nobody asks Python for them. What a class raises becomes a fault, which ends
//! the run; until then the flow keeps its last window.

mod base;
mod events;
mod spec;

use std::path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use longfat_control::bounds::{CEILING, first_window};
use longfat_control::{
    Adjustment, Congestion, CongestionControl, Feedback, Lost, Needs, Pacing, Path, Probe,
    Promises, Reaction, Sending, Sent, Start, Wants,
};
use longfat_units::fault::{self, Fault};
use longfat_units::{Segments, Time};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

pub(crate) use base::Base;
pub(crate) use events::{
    AdjustmentView, CongestionView, FeedbackView, LostView, PathView, RateView, SentView, StartView,
};
pub(crate) use spec::{Spec, class_controller};

/// One flow under a controller in Python. Its instance is made when it is first needed: whoever only asks what the
/// controller needs makes none.
#[derive(Debug)]
pub(crate) struct Control {
    spec: Arc<Spec>,
    settings: Arc<Py<PyAny>>,
    start: Start,
    live: OnceLock<Live>,
    /// Has it failed? Then it is called no more, and keeps its last answers until the run ends.
    failed: AtomicBool,
}

/// What the class has set after its last call.
#[derive(Clone, Copy, Debug)]
struct Answers {
    window: f64,
    threshold: Option<f64>,
    pacing: Pacing,
    timer: Option<Time>,
}

/// An instance of the class, and what it is called with.
#[derive(Debug)]
struct Live {
    instance: Option<Instance>,
    answers: Answers,
    /// The last time that is known, for messages.
    now: Option<Time>,
}

#[derive(Debug)]
struct Instance {
    object: Py<PyAny>,
    /// The base of the same object.
    base: Py<Base>,
    feedback: Py<FeedbackView>,
    path: Py<PathView>,
    /// The arguments of `on_feedback`: the two objects above.
    heard: Py<PyTuple>,
}

impl Control {
    /// A flow that begins as `start` says.
    pub(crate) fn sending(spec: &Arc<Spec>, settings: Py<PyAny>, start: &Start) -> Sending {
        Sending::Windowed(Box::new(Self {
            spec: Arc::clone(spec),
            settings: Arc::new(settings),
            start: *start,
            live: OnceLock::new(),
            failed: AtomicBool::new(false),
        }))
    }

    fn live(&self) -> &Live {
        self.live.get_or_init(|| Python::attach(|py| self.make(py)))
    }

    fn make(&self, py: Python<'_>) -> Live {
        let window = first_window(self.start.window);
        let plain = Answers { window, threshold: None, pacing: Pacing::Unpaced, timer: None };
        let made = Instance::new(py, &self.spec, &self.settings, &self.start)
            .and_then(|instance| Ok((instance.answers(py, &self.spec)?, instance)));
        match made {
            Ok((answers, instance)) => {
                let live = Live { instance: Some(instance), answers, now: None };
                match wrong(&answers, &self.spec, None) {
                    None => live,
                    Some(reason) => {
                        let reason = Wrong::Answer(format!("after `__init__` {reason}"));
                        self.fail(py, None, "__init__", reason);
                        Live { answers: plain, ..live }
                    }
                }
            }
            Err(error) => {
                self.fail(py, None, "__init__", error.into());
                Live { instance: None, answers: plain, now: None }
            }
        }
    }

    /// The run ends: the class has raised something, or set something that makes no sense.
    fn fail(&self, py: Python<'_>, now: Option<Time>, method: &'static str, error: Wrong) {
        self.failed.store(true, Ordering::Relaxed);
        fault::report(|| {
            let (what, payload) = match error {
                Wrong::Answer(what) => (what, None),
                Wrong::Raised(error) => {
                    (format!("`{method}` raised {}", in_words(py, &error)), Some(error))
                }
            };
            let mut fault = Fault::new(format!("the controller `{}`", self.spec.name), what)
                .of_flow(self.start.member);
            if let Some(now) = now {
                fault = fault.at(now);
            }
            match payload {
                Some(error) => fault.with(Box::new(error)),
                None => fault,
            }
        });
    }

    /// Calls the class, and takes over what it has set.
    fn call(
        &mut self,
        now: Option<Time>,
        method: &'static str,
        call: impl FnOnce(Python<'_>, &Instance) -> PyResult<Py<PyAny>>,
    ) {
        self.live();
        // After a fault, of whatever flow, the run ends; its code may be caught in a loop that only Ctrl-C has ended.
        if self.has_failed() || fault::is_reported() {
            return;
        }
        let now = now.or_else(|| self.live.get().and_then(|live| live.now));
        let done = Python::attach(|py| {
            let live = self.live.get()?;
            let instance = live.instance.as_ref()?;
            let fired = (method == "on_timer").then_some(now).flatten();
            let answers = call(py, instance)
                .map_err(Wrong::Raised)
                .and_then(|returned| nothing(py, method, &returned))
                .and_then(|()| Ok(instance.answers(py, &self.spec)?))
                .and_then(|answers| match wrong(&answers, &self.spec, fired) {
                    None => Ok(answers),
                    Some(reason) => Err(Wrong::Answer(format!("after `{method}` {reason}"))),
                });
            match answers {
                Ok(answers) => Some(answers),
                Err(error) => {
                    self.fail(py, now, method, error);
                    None
                }
            }
        });
        if let Some(live) = self.live.get_mut() {
            live.now = now;
            live.answers = done.unwrap_or(live.answers);
        }
    }

    /// A call of a method by its name, for what does not happen on every packet.
    fn call_by_name(
        &mut self,
        now: Option<Time>,
        method: &'static str,
        path: &Path,
        argument: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>,
    ) {
        let path = *path;
        self.call(now, method, |py, instance| {
            instance.path.borrow_mut(py).0 = path;
            let given = (argument(py)?, instance.path.bind(py));
            instance.object.call_method1(py, method, given)
        });
    }
}

fn seconds(py: Python<'_>, now: Time) -> PyResult<Py<PyAny>> {
    Ok(now.seconds().into_pyobject(py)?.into_any().unbind())
}

/// What is wrong with what the class has set, if anything is; a timer that has just fired must not fire again at once.
fn wrong(answers: &Answers, spec: &Spec, fired: Option<Time>) -> Option<String> {
    let Answers { window, threshold, timer, .. } = *answers;
    if !(1.0..=CEILING).contains(&window) {
        return Some(format!("the window is {window} segments: at least one is needed"));
    }
    if let Some(threshold) = threshold.filter(|it| it.is_nan() || *it < 1.0) {
        return Some(format!("the threshold is {threshold} segments: at least one is needed"));
    }
    if timer.is_some() && !spec.wants.timer {
        return Some(
            "the timer is set, and the class has no `on_timer` that it would call".to_owned(),
        );
    }
    match (timer, fired) {
        (Some(timer), Some(now)) if timer <= now => Some(format!(
            "the timer is set to {} s, when it has just gone off: a later time is needed",
            timer.seconds()
        )),
        _ => None,
    }
}

/// A method that returns something expects it to be used.
fn nothing(py: Python<'_>, method: &str, returned: &Py<PyAny>) -> Result<(), Wrong> {
    if returned.is_none(py) {
        return Ok(());
    }
    let returned = returned.bind(py).repr()?;
    Err(Wrong::Answer(format!(
        "`{method}` returned {returned}, which nobody reads: set `self.window` instead"
    )))
}

/// Why a class is called no more.
enum Wrong {
    /// It raised this.
    Raised(PyErr),
    /// It set or returned something that makes no sense.
    Answer(String),
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// An exception, and where it was raised: `IndexError: list index out of range (rules.py, line 12)`.
fn in_words(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py);
    let kind = kind.name().map_or_else(|_| "an exception".to_owned(), |it| it.to_string());
    let said = error.value(py).str().map_or_else(|_| String::new(), |it| it.to_string());
    let place = place(py, error).map_or_else(|_| String::new(), |place| format!(" ({place})"));
    if said.is_empty() { format!("{kind}{place}") } else { format!("{kind}: {said}{place}") }
}

/// The last place in the traceback.
fn place(py: Python<'_>, error: &PyErr) -> PyResult<String> {
    let none = || PyValueError::new_err("there is no traceback");
    let mut last = error.traceback(py).ok_or_else(none)?.into_any();
    while let Ok(next) = last.getattr("tb_next") {
        if next.is_none() {
            break;
        }
        last = next;
    }
    let file: String =
        last.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()?;
    let line: u64 = last.getattr("tb_lineno")?.extract()?;
    let file = path::Path::new(&file)
        .file_name()
        .map_or(file.clone().into(), |name| name.to_string_lossy());
    Ok(format!("{file}, line {line}"))
}

impl Instance {
    fn new(py: Python<'_>, spec: &Spec, settings: &Py<PyAny>, start: &Start) -> PyResult<Self> {
        let given = (Bound::new(py, StartView(*start))?, settings.bind(py));
        let object = spec.class.bind(py).call1(given)?;
        Self::around(&object)
    }

    fn around(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let feedback = Bound::new(py, FeedbackView::default())?;
        let path = Bound::new(py, PathView::default())?;
        Ok(Self {
            base: object.cast::<Base>()?.clone().unbind(),
            heard: PyTuple::new(py, [feedback.as_any(), path.as_any()])?.unbind(),
            feedback: feedback.unbind(),
            path: path.unbind(),
            object: object.clone().unbind(),
        })
    }

    /// What the class says now.
    fn answers(&self, py: Python<'_>, spec: &Spec) -> PyResult<Answers> {
        let mut answers = {
            let base = self.base.borrow(py);
            Answers {
                window: base.window,
                threshold: base.threshold(),
                pacing: base.pacing,
                timer: base.timer.map(base::instant),
            }
        };
        if spec.computes.any() {
            self.compute(py, spec, &mut answers)?;
        }
        if answers.window.is_finite() {
            answers.window = answers.window.min(CEILING);
        }
        Ok(answers)
    }

    /// Where the class has a property or a method in the place of an attribute, that is asked.
    fn compute(&self, py: Python<'_>, spec: &Spec, answers: &mut Answers) -> PyResult<()> {
        let ask = |name: &str| {
            let found = self.object.bind(py).getattr(name)?;
            if found.is_callable() { found.call0() } else { Ok(found) }
        };
        if spec.computes.window {
            answers.window = ask("window")?.extract()?;
        }
        if spec.computes.threshold {
            answers.threshold = ask("threshold")?.extract()?;
        }
        if spec.computes.pacing {
            answers.pacing = base::read_pacing(&ask("pacing")?)?;
        }
        if spec.computes.timer {
            answers.timer = ask("timer")?.extract::<Option<f64>>()?.map(base::instant);
        }
        Ok(())
    }
}

impl CongestionControl for Control {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        self.call(Some(feedback.now), "on_feedback", |py, instance| {
            instance.feedback.borrow_mut(py).0 = *feedback;
            instance.path.borrow_mut(py).0 = *path;
            // Looked up each time, as all others are: a class may have set another one on itself.
            let told = instance.object.bind(py).getattr(intern!(py, "on_feedback"))?;
            told.call(instance.heard.bind(py), None).map(Bound::unbind)
        });
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        self.call_by_name(Some(event.now), "on_congestion", path, |py| {
            Ok(Py::new(py, CongestionView(*event))?.into_any())
        });
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.call_by_name(Some(event.now), "on_adjustment", path, |py| {
            Ok(Py::new(py, AdjustmentView(*event))?.into_any())
        });
    }

    fn on_recovered(&mut self, now: Time, path: &Path) {
        if self.spec.has.on_recovered {
            self.call_by_name(Some(now), "on_recovered", path, |py| seconds(py, now));
        }
    }

    fn on_restart(&mut self, now: Time, path: &Path) {
        if self.spec.has.on_restart {
            self.call_by_name(Some(now), "on_restart", path, |py| seconds(py, now));
        }
    }

    fn on_lost(&mut self, lost: &Lost, path: &Path) {
        self.call_by_name(Some(lost.now), "on_lost", path, |py| {
            Ok(Py::new(py, LostView(*lost))?.into_any())
        });
    }

    fn on_sent(&mut self, sent: &Sent, path: &Path) {
        self.call_by_name(Some(sent.now), "on_sent", path, |py| {
            Ok(Py::new(py, SentView(*sent))?.into_any())
        });
    }

    fn timer(&self) -> Option<Time> {
        if self.has_failed() || fault::is_reported() { None } else { self.live().answers.timer }
    }

    fn on_timer(&mut self, now: Time, path: &Path) {
        let path = *path;
        self.call(Some(now), "on_timer", |py, instance| {
            // It goes off once; the class sets it again.
            instance.base.borrow_mut(py).timer = None;
            instance.path.borrow_mut(py).0 = path;
            let given = (now.seconds(), instance.path.bind(py));
            instance.object.call_method1(py, intern!(py, "on_timer"), given)
        });
    }

    fn window(&self) -> Segments {
        Segments(self.live().answers.window)
    }

    fn pacing(&self) -> Pacing {
        self.live().answers.pacing
    }

    fn threshold(&self) -> Option<Segments> {
        self.live().answers.threshold.map(Segments)
    }

    fn reaction(&self) -> Reaction {
        self.spec.reaction
    }

    fn wants(&self) -> Wants {
        self.spec.wants
    }

    fn needs(&self) -> Needs {
        self.spec.needs
    }

    fn promises(&self) -> Promises {
        self.spec.promises
    }

    fn observe(&self, probe: &mut dyn Probe) {
        let live = self.live();
        let Some(instance) = &live.instance else { return };
        if !self.spec.has.observe || self.has_failed() || fault::is_reported() {
            return;
        }
        Python::attach(|py| {
            let shown = instance.object.call_method0(py, intern!(py, "observe"));
            let read = shown.map_err(Wrong::Raised).and_then(|shown| observed(shown.bind(py)));
            match read {
                Ok(values) => values.iter().for_each(|(name, value)| probe.value(name, *value)),
                Err(error) => self.fail(py, live.now, "observe", error),
            }
        });
    }
}

/// The variables that `observe` returned.
fn observed(shown: &Bound<'_, PyAny>) -> Result<Vec<(String, f64)>, Wrong> {
    if shown.is_none() {
        return Ok(Vec::new());
    }
    let wrong = || {
        let shown = shown.repr().map_or_else(|_| "something else".to_owned(), |it| it.to_string());
        Wrong::Answer(format!(
            "`observe` returned {shown}: a dictionary of names and numbers is needed"
        ))
    };
    let shown = shown.cast::<PyDict>().map_err(|_| wrong())?;
    shown
        .iter()
        .map(|(name, value)| {
            let name: String = name.extract().map_err(|_| wrong())?;
            Ok((name, value.extract().map_err(|_: PyErr| wrong())?))
        })
        .collect()
}

impl Clone for Control {
    /// A deep copy of the instance; a class that cannot be copied ends the run.
    fn clone(&self) -> Self {
        let live = self.live.get().map(|live| {
            let Some(instance) = live.instance.as_ref().filter(|_| !self.has_failed()) else {
                return Live { instance: None, ..*live };
            };
            Python::attach(|py| {
                let copied = PyModule::import(py, intern!(py, "copy"))
                    .and_then(|copy| copy.call_method1("deepcopy", (&instance.object,)))
                    .and_then(|object| Instance::around(&object));
                match copied {
                    Ok(copied) => Live { instance: Some(copied), ..*live },
                    Err(error) => {
                        self.fail(py, live.now, "__deepcopy__", error.into());
                        Live { instance: None, ..*live }
                    }
                }
            })
        });
        Self {
            spec: Arc::clone(&self.spec),
            settings: Arc::clone(&self.settings),
            start: self.start,
            live: live.map_or_else(OnceLock::new, OnceLock::from),
            failed: AtomicBool::new(self.has_failed()),
        }
    }
}

impl Control {
    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}
