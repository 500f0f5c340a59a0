//! Running a simulation from Python: without the interpreter's lock, with progress, and with a way to stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use longfat_sim::Simulation;
use longfat_sim::summary::{Summary, Work};
use longfat_units::fault::{self, Fault};
use pyo3::exceptions::{PyException, PyKeyError};
use pyo3::{create_exception, prelude::*};
use serde::Serialize;

use crate::arrow_table::ArrowTable;
use crate::failure::failed;
use crate::guard::guarded;
use crate::pace::{Pace, now};
use crate::scenario::Scenario;
use crate::trace::{self, Trace};
use crate::watched::watched;

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

/// Simulates a scenario to its end. The network is built, and the report made, on a thread that watches no signals.
#[pyfunction]
#[pyo3(signature = (scenario, *, record = true, progress = None, transfers = None, cancellation = None, trace = None))]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    record: bool,
    progress: Option<&Bound<'_, PyAny>>,
    transfers: Option<&Bound<'_, PyAny>>,
    cancellation: Option<&Bound<'_, Cancellation>>,
    trace: Option<&Bound<'_, Trace>>,
) -> PyResult<Recording> {
    let scenario = Arc::clone(&scenario.get().inner);
    let cancelled = cancellation.map(|flag| Arc::clone(&flag.get().flag));
    let refuse_cancelled = || match &cancelled {
        Some(flag) if flag.load(Ordering::Relaxed) => {
            Err(Cancelled::new_err("the simulation was cancelled"))
        }
        _ => Ok(()),
    };
    let start = now();
    let flows = Arc::clone(&scenario);
    let refuse_fault = |fault: Option<Fault>| match fault {
        Some(fault) => {
            let flow = fault.flow.map(|flow| flows.flow_name(flow));
            Err(failed(py, fault, flow))
        }
        None => Ok(()),
    };
    let build = move |_: &_| {
        let simulation = Simulation::new(&scenario, record);
        (simulation, fault::take())
    };
    let (mut simulation, fault) = watched(py, |_| refuse_cancelled(), build)?;
    refuse_fault(fault)?;
    let trace = trace.map(Bound::get);
    if let Some(trace) = trace {
        trace.begin(&mut simulation);
    }
    let most = trace.map_or(u64::MAX, |_| trace::PORTION);
    let mut pace = Pace::new(FIRST);
    loop {
        py.check_signals()?;
        refuse_cancelled()?;
        let (more, fault) = py.detach(|| {
            // Whatever this thread did before is over.
            drop(fault::take());
            guarded(|| (simulation.advance(pace.next().min(most)), fault::take()))
        })?;
        refuse_fault(fault)?;
        if let Some(trace) = trace {
            py.detach(|| guarded(|| trace.write(&mut simulation, !more)))??;
        }
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
    let report = move |_: &_| {
        let recording = simulation.finish();
        let wall = now().duration_since(start).as_secs_f64();
        let tables = recording.tables.into_iter();
        Ok(Recording {
            summary: timed(recording.summary, wall),
            tables: tables
                .map(|table| Ok((table.name, ArrowTable::new(table)?)))
                .collect::<PyResult<_>>()?,
        })
    };
    watched(py, |_| refuse_cancelled(), report)?
}

/// The averages as JSON text, with the measurements of the wall clock.
fn timed(summary: Summary, wall: f64) -> String {
    let work = summary.engine;
    let packets_per_s = work.data_packets as f64 / wall.max(1e-9);
    let timed = summary.with_engine(Engine { work, wall_s: wall, packets_per_s });
    serde_json::to_string(&timed).expect("a summary is plain data")
}

/// What the simulator did, and how long it took.
#[derive(Serialize)]
struct Engine {
    #[serde(flatten)]
    work: Work,
    wall_s: f64,
    packets_per_s: f64,
}
