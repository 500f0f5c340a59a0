//! `longfat.Controller`: what classes of controllers in Python derive from.

use longfat_control::bounds::first_window;
use longfat_control::{Pacing, Ramp, Start};
use longfat_units::Time;
use longfat_units::parameter::shortest;
use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::events::{AdjustmentView, CongestionView, FeedbackView, PathView, StartView};

/// The clock of a simulation holds 213 days.
const LATEST: f64 = 1.8e7;

/// What a controller in Python derives from; `longfat.Controller` documents it.
#[pyclass(name = "ControllerBase", module = "longfat._longfat", subclass)]
#[derive(Debug)]
pub(crate) struct Base {
    pub(super) window: f64,
    pub(super) ramp: Ramp,
    pub(super) pacing: Pacing,
    pub(super) timer: Option<f64>,
    start: Py<StartView>,
    p: Py<PyAny>,
}

impl Base {
    /// The window, for the threshold and the pacing that it goes with.
    pub(super) fn threshold(&self) -> Option<f64> {
        self.ramp.threshold().map(|threshold| threshold.0)
    }
}

#[pymethods]
impl Base {
    #[new]
    #[pyo3(signature = (start, p))]
    fn new(start: &Bound<'_, StartView>, p: &Bound<'_, PyAny>) -> Self {
        let begin: &Start = &start.get().0;
        Self {
            window: first_window(begin.window),
            ramp: Ramp::new(begin),
            pacing: Pacing::Unpaced,
            timer: None,
            start: start.clone().unbind(),
            p: p.clone().unbind(),
        }
    }

    /// How much may be in flight, in segments.
    #[getter]
    fn get_window(&self) -> f64 {
        self.window
    }

    #[setter]
    fn set_window(&mut self, window: f64) -> PyResult<()> {
        self.window = finite("window", window)?;
        Ok(())
    }

    /// The window below which slow start goes on, in segments; `None`: as high as needed.
    #[getter]
    fn get_threshold(&self) -> Option<f64> {
        self.threshold()
    }

    #[setter]
    fn set_threshold(&mut self, threshold: Option<f64>) -> PyResult<()> {
        self.ramp.leave(match threshold {
            Some(f64::INFINITY) | None => f64::INFINITY,
            Some(threshold) => finite("threshold", threshold)?,
        });
        Ok(())
    }

    /// How fast the window may leave.
    #[getter]
    fn get_pacing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.pacing {
            Pacing::Unpaced => Ok(py.None().into_bound(py)),
            Pacing::Rate(rate) => Ok(rate.into_pyobject(py)?.into_any()),
            Pacing::Spread { gain } => Ok(("spread", gain).into_pyobject(py)?.into_any()),
            Pacing::Blocks(blocks) => Ok(("blocks", blocks).into_pyobject(py)?.into_any()),
            Pacing::LooseBlocks(blocks) => {
                Ok(("loose_blocks", blocks).into_pyobject(py)?.into_any())
            }
        }
    }

    #[setter]
    fn set_pacing(&mut self, pacing: &Bound<'_, PyAny>) -> PyResult<()> {
        self.pacing = read_pacing(pacing)?;
        Ok(())
    }

    /// When `on_timer` is called next, in seconds; `None`: never.
    #[getter]
    fn get_timer(&self) -> Option<f64> {
        self.timer
    }

    #[setter]
    fn set_timer(&mut self, timer: Option<f64>) -> PyResult<()> {
        self.timer = timer.map(|timer| finite("timer", timer)).transpose()?;
        Ok(())
    }

    /// Is the window below the threshold?
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.ramp.holds(self.window)
    }

    /// How the flow began.
    #[getter]
    fn start(&self, py: Python<'_>) -> Py<StartView> {
        self.start.clone_ref(py)
    }

    /// The parameters of the scenario.
    #[getter]
    fn p(&self, py: Python<'_>) -> Py<PyAny> {
        self.p.clone_ref(py)
    }

    /// Slow start, as the scenario asks for it. Returns how many acknowledged segments are left for congestion avoidance.
    #[pyo3(signature = (feedback, /))]
    fn slow_start(&mut self, feedback: &FeedbackView) -> u64 {
        let feedback = &feedback.0;
        if feedback.acked == 0 || feedback.is_congested() {
            return 0;
        }
        if self.ramp.watches() {
            self.ramp.watch(feedback, self.window);
        }
        if !feedback.limited.may_grow() {
            return 0;
        }
        let mut left = feedback.acked;
        while left > 0 && self.ramp.holds(self.window) {
            self.window = self.ramp.rise(self.window, 1.0);
            left -= 1;
        }
        left
    }

    /// What a time-out does to any window-based controller (RFC 5681, section 3.1).
    #[pyo3(signature = (event, /))]
    fn time_out(&mut self, event: &CongestionView) {
        self.window = self.ramp.time_out(&event.0);
    }

    #[pyo3(signature = (*_told), text_signature = "($self, feedback, path)")]
    fn on_feedback(of: &Bound<'_, Self>, _told: &Bound<'_, PyTuple>) -> PyResult<()> {
        Err(lacking(of, "on_feedback")?)
    }

    #[pyo3(signature = (*_told), text_signature = "($self, event, path)")]
    fn on_congestion(of: &Bound<'_, Self>, _told: &Bound<'_, PyTuple>) -> PyResult<()> {
        Err(lacking(of, "on_congestion")?)
    }

    /// Takes the window that is asked for.
    #[expect(clippy::needless_pass_by_value, reason = "as Python hands it over")]
    #[pyo3(text_signature = "($self, adjustment, path)")]
    fn on_adjustment(&mut self, event: PyRef<'_, AdjustmentView>, _path: PyRef<'_, PathView>) {
        self.window = self.ramp.adjust(&event.0);
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<StartView>, Py<PyAny>) {
        (self.start.clone_ref(py), self.p.clone_ref(py))
    }

    /// For `copy.deepcopy`: what the class keeps itself, and what is kept here.
    fn __getstate__<'py>(of: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = of.py();
        let own = of
            .as_any()
            .getattr("__dict__")
            .or_else(|_| PyResult::Ok(PyDict::new(py).into_any()))?;
        let base = of.borrow();
        let kept = Kept {
            window: base.window,
            ramp: base.ramp.clone(),
            pacing: base.pacing,
            timer: base.timer,
        };
        (own, Bound::new(py, kept)?).into_pyobject(py)
    }

    fn __setstate__(
        of: &Bound<'_, Self>,
        state: (Bound<'_, PyDict>, PyRef<'_, Kept>),
    ) -> PyResult<()> {
        let (own, kept) = state;
        {
            let mut base = of.borrow_mut();
            base.window = kept.window;
            base.ramp = kept.ramp.clone();
            base.pacing = kept.pacing;
            base.timer = kept.timer;
        }
        if !own.is_empty() {
            of.as_any().getattr("__dict__")?.call_method1("update", (own,))?;
        }
        Ok(())
    }
}

/// A class does not have a method that each has to have.
fn lacking(of: &Bound<'_, Base>, method: &str) -> PyResult<PyErr> {
    let class = of.get_type().name()?;
    let reason = format!("the controller `{class}` has to say what `{method}` does");
    Ok(PyNotImplementedError::new_err(reason))
}

/// What the base keeps of a controller, on the way into a copy.
#[pyclass(module = "longfat._longfat", frozen)]
#[derive(Debug)]
pub(crate) struct Kept {
    window: f64,
    ramp: Ramp,
    pacing: Pacing,
    timer: Option<f64>,
}

#[pymethods]
impl Kept {
    /// Nothing in it can change, so a copy need not be another one.
    fn __deepcopy__<'py>(of: Bound<'py, Self>, _memo: Bound<'py, PyAny>) -> Bound<'py, Self> {
        of
    }
}

/// The instant that a number of seconds stands for.
pub(super) fn instant(timer: f64) -> Time {
    Time((timer.clamp(0.0, LATEST) * 1e12).round() as u64)
}

fn finite(what: &str, value: f64) -> PyResult<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(PyValueError::new_err(format!("`{what}` is set to {value}: a finite number is needed")))
}

pub(super) fn read_pacing(given: &Bound<'_, PyAny>) -> PyResult<Pacing> {
    if given.is_none() {
        return Ok(Pacing::Unpaced);
    }
    if let Ok((kind, value)) = given.extract::<(String, f64)>() {
        let blocks = || {
            if value.fract() == 0.0 && (1.0..=1e9).contains(&value) {
                return Ok(value as u32);
            }
            let reason = format!(
                "`pacing` is set to {} blocks: a whole number from 1 to 1e9 is needed",
                shortest(value)
            );
            Err(PyValueError::new_err(reason))
        };
        return match &*kind {
            "spread" => {
                let gain = within("pacing", value, 1e-3, 1e6)?;
                Ok(Pacing::Spread { gain })
            }
            "blocks" => Ok(Pacing::Blocks(blocks()?)),
            "loose_blocks" => Ok(Pacing::LooseBlocks(blocks()?)),
            _ => Err(PyValueError::new_err(format!(
                "`pacing` is set to '{kind}': there are 'spread', 'blocks' and 'loose_blocks'"
            ))),
        };
    }
    let Ok(rate) = given.extract::<f64>() else {
        return Err(PyTypeError::new_err(format!(
            "`pacing` is set to {}: None, a rate in segments per second, or a pair such as ('spread', 1.25) is needed",
            given.repr()?
        )));
    };
    Ok(Pacing::Rate(within("pacing", rate, 1e-3, 1e12)?))
}

fn within(what: &str, value: f64, least: f64, most: f64) -> PyResult<f64> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let value = shortest(value);
    let reason = format!("`{what}` is set to {value}: a number from {least} to {most} is needed");
    Err(PyValueError::new_err(reason))
}
