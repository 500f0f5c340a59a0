//! Files of what senders do and hear, written while the simulation runs.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use longfat_sim::Simulation;
use longfat_sim::trace::{Stream, TraceEvent, What};
use longfat_trace::{Capture, Chosen, Qlog};
use longfat_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::{create_exception, prelude::*};

use crate::scenario::Scenario;

create_exception!(
    longfat._longfat,
    TraceError,
    PyValueError,
    "Flows cannot be traced as asked. The message says what was asked, what there is, and what to do."
);

/// How many flows have qlog files of their own.
const MOST_FILES: usize = 1_000;
/// Events of the simulation between two looks at what was traced: these and what is known early are kept in memory.
pub(crate) const PORTION: u64 = 50_000;

/// The files of one run.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug)]
pub(crate) struct Trace {
    chosen: Arc<Chosen>,
    detail: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    capture: Option<(Capture, File)>,
    logs: BTreeMap<Stream, Log>,
    /// Packets that may still be written, and those that were.
    left: u64,
    written: u64,
    /// When the last one was.
    until: Option<Time>,
    cut: bool,
    /// What is to be written to the capture.
    bytes: Vec<u8>,
}

/// The qlog file of a flow, and what is to be written to it.
#[derive(Debug)]
struct Log {
    writer: Qlog,
    path: PathBuf,
    bytes: Vec<u8>,
}

#[pymethods]
impl Trace {
    /// Prepares the files: `pcap` is the name of one, `qlog` that of a folder, which exists. `at` names flows and groups;
    /// with none, all are traced. After so many `packets` the files end.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what comes from Python is taken over")]
    #[pyo3(signature = (scenario, *, pcap = None, qlog = None, at = Vec::new(), packets))]
    fn new(
        scenario: &Bound<'_, Scenario>,
        pcap: Option<PathBuf>,
        qlog: Option<PathBuf>,
        at: Vec<String>,
        packets: u64,
    ) -> PyResult<Self> {
        let scenario = &scenario.get().inner;
        let refused = |error: longfat_trace::TraceError| TraceError::new_err(error.to_string());
        let chosen = Chosen::of(scenario, &at).map_err(refused)?;
        let mut bytes = Vec::new();
        let capture = match &pcap {
            None => None,
            Some(_) => Some(Capture::new(scenario, &chosen, &mut bytes).map_err(refused)?),
        };
        let mut logs = BTreeMap::new();
        if let Some(folder) = &qlog {
            let flows: Vec<_> = chosen.long(scenario).take(MOST_FILES + 1).collect();
            if flows.is_empty() || flows.len() > MOST_FILES {
                return Err(TraceError::new_err(if flows.is_empty() {
                    "qlog has a file for each long flow, and there is none to trace: pcapng has short flows too".into()
                } else {
                    format!(
                        "qlog has a file for each long flow, for {MOST_FILES} at most, and there are more: name those \
                         that you want"
                    )
                }));
            }
            for (group, index) in flows {
                let mut bytes = Vec::new();
                let writer = Qlog::new(scenario, (group, index), &mut bytes);
                let path = folder.join(format!("{}[{index}].sqlog", scenario.flows[group].name));
                logs.insert(Stream::Long(group, index), Log { writer, path, bytes });
            }
        }
        let capture = match capture.zip(pcap) {
            None => None,
            Some((capture, path)) => Some((capture, File::create(path)?)),
        };
        let state =
            State { capture, logs, left: packets, written: 0, until: None, cut: false, bytes };
        Ok(Self { chosen: chosen.into(), detail: qlog.is_some(), state: Mutex::new(state) })
    }

    /// How many packets were written: data that left, and acknowledgments that arrived.
    #[getter]
    fn packets(&self) -> u64 {
        self.state().written
    }

    /// When the files end, in seconds, if they do before the run.
    #[getter]
    fn cut_s(&self) -> Option<f64> {
        let state = self.state();
        state.until.filter(|_| state.cut).map(|until| (until - Time::ZERO).seconds())
    }

    /// Connections that had more in flight than the sequence numbers of TCP can tell.
    #[getter]
    fn ambiguous(&self) -> Vec<String> {
        let state = self.state();
        state.capture.as_ref().map(|(capture, _)| capture.ambiguous().to_vec()).unwrap_or_default()
    }
}

impl Trace {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a simulation trace what is wanted. Nothing has happened in it yet.
    pub(crate) fn begin(&self, simulation: &mut Simulation) {
        simulation.trace(self.detail, |stream| self.chosen.has(stream));
    }

    /// Writes what the simulation has traced so far.
    pub(crate) fn write(&self, simulation: &mut Simulation, over: bool) -> io::Result<()> {
        let mut state = self.state();
        if !state.cut {
            for event in simulation.take_trace(over) {
                if state.left == 0 && matches!(event.what, What::Sent(_) | What::Heard(_)) {
                    state.cut = true;
                    simulation.stop_tracing();
                    break;
                }
                state.add(&event);
            }
        }
        state.flush()
    }
}

impl State {
    fn add(&mut self, event: &TraceEvent) {
        if matches!(event.what, What::Sent(_) | What::Heard(_)) {
            self.left -= 1;
            self.written += 1;
            self.until = Some(event.time);
        }
        if let Some((capture, _)) = &mut self.capture {
            capture.add(event, &mut self.bytes);
        }
        if let Some(Log { writer, bytes, .. }) = self.logs.get_mut(&event.stream) {
            writer.add(event, bytes);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some((_, file)) = &mut self.capture {
            file.write_all(&self.bytes)?;
        }
        self.bytes.clear();
        for Log { path, bytes, .. } in self.logs.values_mut().filter(|log| !log.bytes.is_empty()) {
            append(path, bytes)?;
            bytes.clear();
        }
        Ok(())
    }
}

/// A file is not kept open: there may be more of them than a process may have.
fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(bytes)
}
