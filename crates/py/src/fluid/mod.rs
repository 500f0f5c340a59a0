//! The fluid model from Python: solving without the interpreter's lock, stoppable.

mod network;
mod tables;

use longfat_fluid::{
    Integration, Reading, Solve, Trajectory, equilibrium, stability, synchronised,
};
use pyo3::exceptions::PyValueError;
use pyo3::{create_exception, prelude::*};
use serde_json::Value;

use crate::guard::guarded;
use crate::pace::Pace;
use crate::scenario::Scenario;
use crate::table::Table;
use network::{Fluid, fluid};

create_exception!(
    longfat._longfat,
    FluidError,
    PyValueError,
    "A scenario that the fluid model cannot solve as asked. The message says why, and what would help."
);

/// How many steps the first portion has. One of many flows takes milliseconds.
const FIRST: u64 = 10;

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

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is of one lifetime, and any is asked for"
)]
fn path(fluid: &Fluid, model: &str, delay: bool) -> PyResult<Trajectory> {
    let reading = match model {
        "mean-field" => Reading::MeanField,
        "hybrid" => Reading::Hybrid,
        "synchronised" => {
            return guarded(|| synchronised(&fluid.network, fluid.sample))?
                .map_err(|error| refused(error.to_string()));
        }
        other => return Err(PyValueError::new_err(format!("`{other}` is no model"))),
    };
    let how = Solve { reading, delay: if delay { 1.0 } else { 0.0 }, sample: fluid.sample };
    let mut integration = guarded(|| Integration::new(&fluid.network, &how))?
        .map_err(|error| refused(error.to_string()))?;
    let mut pace = Pace::new(FIRST);
    while guarded(|| integration.advance(pace.next()))?
        .map_err(|error| refused(error.to_string()))?
    {
        Python::attach(|py| py.check_signals())?;
    }
    guarded(|| integration.finish())
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
        let rest =
            guarded(|| equilibrium(&fluid.network))?.map_err(|error| refused(error.to_string()))?;
        let mut value = guarded(|| tables::rest(&fluid, &rest))?;
        if judge {
            let delay = if delay { 1.0 } else { 0.0 };
            let judged = guarded(|| stability(&fluid.network, &rest, delay))?;
            value["stable"] = Value::from(judged.stable);
            value["margin"] = judged.margin.map_or(Value::Null, Value::from);
        }
        Ok(value.to_string())
    })
}

fn refused(reason: String) -> PyErr {
    FluidError::new_err(reason)
}
