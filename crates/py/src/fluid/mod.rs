//! The fluid model from Python: solving without the interpreter's lock, stoppable.

mod network;
mod tables;

use longfat_fluid::{
    FluidError as Refusal, Integration, Reading, Solve, Synchronised, Trajectory,
    equilibrium_while, stability_while,
};
use pyo3::exceptions::PyValueError;
use pyo3::{create_exception, prelude::*};
use serde_json::Value;

use crate::guard::guarded;
use crate::scenario::Scenario;
use crate::table::Table;
use network::{Fluid, fluid};

create_exception!(
    longfat._longfat,
    FluidError,
    PyValueError,
    "A scenario that the fluid model cannot solve as asked. The message says why, and what would help."
);

/// How many steps pass between two looks at the world outside.
const CHUNK: u64 = 10_000;

/// A solution in time.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug)]
pub(crate) struct FluidPath {
    json: String,
    tables: Vec<(&'static str, Table)>,
}

#[pymethods]
impl FluidPath {
    /// The instants, flows and links as JSON text.
    fn to_json(&self) -> &str {
        &self.json
    }

    /// The table called `name`: `flows`, `flow_series` or `link_series`.
    #[pyo3(signature = (name, /))]
    fn table(&self, name: &str) -> PyResult<Table> {
        let found = self.tables.iter().find(|(other, _)| *other == name);
        found
            .map(|(_, table)| table.share())
            .ok_or_else(|| PyValueError::new_err(format!("no table `{name}`")))
    }
}

/// Solves the equations of a scenario in time.
#[pyfunction]
#[pyo3(signature = (scenario, *, model, price, delay))]
pub(crate) fn fluid_solve(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    model: &str,
    price: &str,
    delay: bool,
) -> PyResult<FluidPath> {
    let scenario = &scenario.get().inner;
    let solved = py.detach(|| {
        let fluid = guarded(|| fluid(scenario, price))?.map_err(refused)?;
        let path = path(&fluid, model, delay)?;
        guarded(|| (tables::json(&fluid, &path).to_string(), tables::tables(&fluid, &path)))
    });
    let (json, tables) = solved?;
    let tables = tables.into_iter();
    let tables =
        tables.map(|table| Ok((table.name, Table::new(table)?))).collect::<PyResult<_>>()?;
    Ok(FluidPath { json, tables })
}

fn path(fluid: &Fluid, model: &str, delay: bool) -> PyResult<Trajectory> {
    let reading = match model {
        "mean-field" => Reading::MeanField,
        "hybrid" => Reading::Hybrid,
        "synchronised" => {
            let mut run = guarded(|| Synchronised::new(&fluid.network, fluid.sample))?
                .map_err(|error| refused(error.to_string()))?;
            to_the_end(|| run.advance(CHUNK))?;
            return guarded(|| run.finish());
        }
        other => return Err(PyValueError::new_err(format!("`{other}` is no model"))),
    };
    let how = Solve { reading, delay: if delay { 1.0 } else { 0.0 }, sample: fluid.sample };
    let mut integration = guarded(|| Integration::new(&fluid.network, &how))?
        .map_err(|error| refused(error.to_string()))?;
    to_the_end(|| integration.advance(CHUNK))?;
    guarded(|| integration.finish())
}

/// Has somebody pressed Ctrl-C?
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is of one lifetime, and any is asked for"
)]
fn signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Takes a solution to its end, chunk by chunk, and looks for Ctrl-C in between.
fn to_the_end(mut advance: impl FnMut() -> Result<bool, Refusal>) -> PyResult<()> {
    while guarded(&mut advance)?.map_err(|error| refused(error.to_string()))? {
        signals()?;
    }
    Ok(())
}

/// Looks for Ctrl-C whenever it has been asked often enough whether to go on.
#[derive(Debug, Default)]
struct Watch {
    asked: u32,
    signal: Option<PyErr>,
}

impl Watch {
    /// Questions between two looks at the world outside: some milliseconds for a small network.
    const PATIENCE: u32 = 64;

    fn goes_on(&mut self) -> bool {
        self.asked += 1;
        if self.asked.is_multiple_of(Self::PATIENCE) && self.signal.is_none() {
            self.signal = signals().err();
        }
        self.signal.is_none()
    }

    /// What was found before it was stopped.
    fn found<T>(self, found: Option<T>) -> PyResult<T> {
        match (found, self.signal) {
            (_, Some(signal)) => Err(signal),
            (Some(found), None) => Ok(found),
            (None, None) => unreachable!("only a signal stops it"),
        }
    }
}

/// Finds where a scenario settles and, if asked to, judges its stability: JSON text.
#[pyfunction]
#[pyo3(signature = (scenario, *, price, delay, judge))]
pub(crate) fn fluid_rest(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    price: &str,
    delay: bool,
    judge: bool,
) -> PyResult<String> {
    let scenario = &scenario.get().inner;
    py.detach(|| {
        let fluid = guarded(|| fluid(scenario, price))?.map_err(refused)?;
        let mut watch = Watch::default();
        let rest = guarded(|| equilibrium_while(&fluid.network, &mut || watch.goes_on()))?
            .map_err(|error| refused(error.to_string()))?;
        let rest = watch.found(rest)?;
        let mut value = guarded(|| tables::rest(&fluid, &rest))?;
        if judge {
            let delay = if delay { 1.0 } else { 0.0 };
            let mut watch = Watch::default();
            let judged =
                guarded(|| stability_while(&fluid.network, &rest, delay, &mut || watch.goes_on()))?;
            let judged = watch.found(judged)?;
            value["stable"] = Value::from(judged.stable);
            value["margin"] = judged.margin.map_or(Value::Null, Value::from);
        }
        Ok(value.to_string())
    })
}

fn refused(reason: String) -> PyErr {
    FluidError::new_err(reason)
}
