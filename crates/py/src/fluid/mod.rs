//! The fluid model from Python: it solves without the interpreter's lock, and can be interrupted.

mod tables;

use std::sync::Arc;

use longfat_fluid::{
    FluidSetup, Integration, Pricing, Reading, Solve, Synchronised, Trajectory, can_be_judged,
    equilibrium_while, stability_while,
};
use longfat_units::fault;
use pyo3::exceptions::PyValueError;
use pyo3::{create_exception, prelude::*};
use serde_json::Value;

use crate::arrow_table::ArrowTable;
use crate::scenario::Scenario;
use crate::watched::{Waiting, watched};

create_exception!(
    longfat._longfat,
    FluidError,
    PyValueError,
    "A scenario that the fluid model cannot solve as asked. The message says why, and what would help."
);

/// How many steps are taken between two looks at whether anybody still waits. With many flows one takes milliseconds.
const PORTION: u64 = 10;

/// A solution in time.
#[pyclass(frozen, module = "longfat._longfat")]
#[derive(Debug)]
pub(crate) struct FluidPath {
    json: String,
    tables: Vec<(&'static str, ArrowTable)>,
}

#[pymethods]
impl FluidPath {
    /// The instants, flows and links as JSON text.
    fn to_json(&self) -> &str {
        &self.json
    }

    /// The table called `name`: `flows`, `flow_series` or `link_series`.
    #[pyo3(signature = (name, /))]
    fn table(&self, name: &str) -> PyResult<ArrowTable> {
        let found = self.tables.iter().find(|(other, _)| *other == name);
        found
            .map(|(_, table)| table.share())
            .ok_or_else(|| PyValueError::new_err(format!("there is no table `{name}`")))
    }
}

/// Solves the equations of a scenario in time.
#[pyfunction]
#[pyo3(signature = (scenario, *, model, price, delay, progress = None))]
pub(crate) fn fluid_solve(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    model: &str,
    price: &str,
    delay: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<FluidPath> {
    let scenario = Arc::clone(&scenario.get().inner);
    let (model, price) = (model.to_owned(), price.to_owned());
    let look =
        |share: f64| progress.map_or(Ok(()), |progress| progress.call1((share,)).map(|_| ()));
    watched(py, look, move |waiting| {
        let setup = setup(&scenario, &price)?;
        let path = path(&setup, &model, delay, waiting)?;
        let json = tables::json(&setup, &path).to_string();
        let tables = tables::tables(&setup, &path).into_iter();
        let tables = tables.map(|table| Ok((table.name, ArrowTable::new(table)?)));
        Ok(FluidPath { json, tables: tables.collect::<PyResult<_>>()? })
    })?
}

fn path(setup: &FluidSetup, model: &str, delay: bool, waiting: &Waiting) -> PyResult<Trajectory> {
    let reading = match model {
        "mean-field" => Reading::MeanField,
        "hybrid" => Reading::Hybrid,
        "synchronised" => {
            let mut run = Synchronised::new(&setup.network, setup.sample).map_err(refused)?;
            while waiting.goes_on()
                && !fault::is_reported()
                && run.advance(PORTION).map_err(refused)?
            {
                waiting.report(run.progress());
            }
            return Ok(run.finish());
        }
        other => return Err(PyValueError::new_err(format!("there is no model `{other}`"))),
    };
    let how = Solve { reading, delay: if delay { 1.0 } else { 0.0 }, sample: setup.sample };
    let mut integration = Integration::new(&setup.network, &how).map_err(refused)?;
    while waiting.goes_on()
        && !fault::is_reported()
        && integration.advance(PORTION).map_err(refused)?
    {
        waiting.report(integration.progress());
    }
    Ok(integration.finish())
}

/// Finds where a scenario settles and, if asked to, judges its stability: JSON text.
#[pyfunction]
#[pyo3(signature = (scenario, *, price, delay, judge, progress = None))]
pub(crate) fn fluid_rest(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    price: &str,
    delay: bool,
    judge: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let scenario = Arc::clone(&scenario.get().inner);
    let price = price.to_owned();
    let look = |done: f64| progress.map_or(Ok(()), |progress| progress.call1((done,)).map(|_| ()));
    watched(py, look, move |waiting| {
        let mut done = 0.0;
        let mut go_on = || {
            done += 1.0;
            waiting.report(done);
            waiting.goes_on() && !fault::is_reported()
        };
        let setup = setup(&scenario, &price)?;
        let rest = equilibrium_while(&setup.network, &mut go_on).map_err(refused)?;
        let Some(rest) = rest else { return Ok(String::new()) };
        let mut value = tables::rest(&setup, &rest);
        if judge {
            can_be_judged(&setup.network, &rest).map_err(refused)?;
            let delay = if delay { 1.0 } else { 0.0 };
            let judged = stability_while(&setup.network, &rest, delay, &mut go_on);
            let Some(judged) = judged else { return Ok(String::new()) };
            value["stable"] = Value::from(judged.stable);
            value["margin"] = judged.margin.map_or(Value::Null, Value::from);
        }
        Ok(value.to_string())
    })?
}

/// Roughly the memory that the fluid model of a scenario takes, in bytes: to be solved in time, and for its
/// equilibrium.
#[pyfunction]
pub(crate) fn fluid_memory(scenario: &Bound<'_, Scenario>) -> (f64, f64) {
    let memory = longfat_fluid::memory(&scenario.get().inner);
    (memory.in_time, memory.at_rest)
}

/// The scenario in the terms of the fluid model, with the prices that `price` names.
fn setup(scenario: &longfat_scenario::Scenario, price: &str) -> PyResult<FluidSetup> {
    let pricing = Pricing::named(price).ok_or_else(|| {
        let names = Pricing::ALL.map(Pricing::name).join(", ");
        PyValueError::new_err(format!("there is no price `{price}`: the prices are {names}"))
    })?;
    FluidSetup::of(scenario, pricing).map_err(refused)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn refused(error: longfat_fluid::FluidError) -> PyErr {
    FluidError::new_err(error.to_string())
}
