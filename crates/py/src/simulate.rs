//! Running a simulation from Python: without the interpreter's lock, with progress, and with a way to stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use longfat_sim::Simulation;
use pyo3::exceptions::{PyException, PyKeyError};
use pyo3::{create_exception, prelude::*};
use serde_json::{Value, json};

use crate::arrow_table::ArrowTable;
use crate::guard::guarded;
use crate::pace::{Pace, now};
use crate::scenario::Scenario;

/// How many events the first portion has: a fraction of a millisecond, or a second at the very worst.
const FIRST: u64 = 5_000;

create_exception!(
    longfat._longfat,
    Cancelled,
    PyException,
    "A simulation was stopped through its `Cancellation`."
);

/// A flag that stops the simulations which share it. Any thread may raise it.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug, Default)]
pub(crate) struct Cancellation {
    flag: Arc<AtomicBool>,
}

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops every simulation that shares this flag, now and later.
    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Has it been raised?
    #[getter]
    fn cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// The results of a finished run.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug)]
pub(crate) struct Recording {
    summary: String,
    tables: Vec<(&'static str, ArrowTable)>,
}

#[pymethods]
impl Recording {
    /// The averages, as JSON text.
    fn summary_json(&self) -> &str {
        &self.summary
    }

    /// The table called `name`.
    #[pyo3(signature = (name, /))]
    fn table(&self, name: &str) -> PyResult<ArrowTable> {
        let found = self.tables.iter().find(|(other, _)| *other == name);
        found.map(|(_, table)| table.share()).ok_or_else(|| {
            let known: Vec<_> = self.tables.iter().map(|(name, _)| *name).collect();
            PyKeyError::new_err(format!(
                "there is no table `{name}`: the tables are {}",
                known.join(", ")
            ))
        })
    }
}

/// Simulates a scenario to its end.
#[pyfunction]
#[pyo3(signature = (scenario, *, record = true, progress = None, transfers = None, cancellation = None))]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    record: bool,
    progress: Option<&Bound<'_, PyAny>>,
    transfers: Option<&Bound<'_, PyAny>>,
    cancellation: Option<&Bound<'_, Cancellation>>,
) -> PyResult<Recording> {
    let scenario = &scenario.get().inner;
    let cancelled = cancellation.map(|flag| Arc::clone(&flag.get().flag));
    let cancelled = || cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    let start = now();
    let mut simulation = py.detach(|| guarded(|| Simulation::new(scenario, record)))?;
    let mut pace = Pace::new(FIRST);
    loop {
        py.check_signals()?;
        if cancelled() {
            return Err(Cancelled::new_err("the simulation was cancelled"));
        }
        let more = py.detach(|| guarded(|| simulation.advance(pace.next())))?;
        if let Some(progress) = progress {
            progress.call1((guarded(|| simulation.progress())?,))?;
        }
        if let Some(transfers) =
            transfers.filter(|_| simulation.transfers_waiting() >= Simulation::TRANSFERS_AT_ONCE)
        {
            transfers.call1((ArrowTable::new(guarded(|| simulation.take_transfers())?)?,))?;
        }
        if !more {
            break;
        }
    }
    let recording = py.detach(|| guarded(|| simulation.finish()))?;
    py.check_signals()?;
    let wall = now().duration_since(start).as_secs_f64();
    let tables = recording.tables.into_iter();
    Ok(Recording {
        summary: summary(&recording.summary, wall)?,
        tables: tables
            .map(|table| Ok((table.name, ArrowTable::new(table)?)))
            .collect::<PyResult<_>>()?,
    })
}

/// The averages as JSON text, with the measurements of the wall clock.
fn summary(summary: &longfat_sim::summary::Summary, wall: f64) -> PyResult<String> {
    guarded(|| {
        let mut value = serde_json::to_value(summary).expect("a summary is plain data");
        if let Some(engine) = value.get_mut("engine").and_then(Value::as_object_mut) {
            engine.insert("wall_s".to_owned(), json!(wall));
            let packets = summary.engine.data_packets as f64;
            engine.insert("packets_per_s".to_owned(), json!(packets / wall.max(1e-9)));
        }
        value.to_string()
    })
}
