//! The fluid model from Python: it solves without the interpreter's lock, and can be interrupted.

mod tables;

use longfat_fluid::{
    FluidError as Refusal, FluidSetup, Integration, Pricing, Reading, Solve, Synchronised,
    Trajectory, equilibrium_while, stability_while,
};
use pyo3::exceptions::PyValueError;
use pyo3::{create_exception, prelude::*};
use serde_json::Value;

use crate::arrow_table::ArrowTable;
use crate::guard::guarded;
use crate::pace::Pace;
use crate::scenario::Scenario;

create_exception!(
    longfat._longfat,
    FluidError,
    PyValueError,
    "A scenario that the fluid model cannot solve as asked. The message says why, and what would help."
);

/// How many steps the first portion has. With many flows one step takes milliseconds.
const FIRST: u64 = 10;

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
        let setup = setup(scenario, price)?;
        let path = path(&setup, model, delay)?;
        guarded(|| (tables::json(&setup, &path).to_string(), tables::tables(&setup, &path)))
    });
    let (json, tables) = solved?;
    let tables = tables.into_iter();
    let tables =
        tables.map(|table| Ok((table.name, ArrowTable::new(table)?))).collect::<PyResult<_>>()?;
    Ok(FluidPath { json, tables })
}

fn path(setup: &FluidSetup, model: &str, delay: bool) -> PyResult<Trajectory> {
    let reading = match model {
        "mean-field" => Reading::MeanField,
        "hybrid" => Reading::Hybrid,
        "synchronised" => {
            let mut run =
                guarded(|| Synchronised::new(&setup.network, setup.sample))?.map_err(refused)?;
            to_the_end(|steps| run.advance(steps))?;
            return guarded(|| run.finish());
        }
        other => return Err(PyValueError::new_err(format!("there is no model `{other}`"))),
    };
    let how = Solve { reading, delay: if delay { 1.0 } else { 0.0 }, sample: setup.sample };
    let mut integration = guarded(|| Integration::new(&setup.network, &how))?.map_err(refused)?;
    to_the_end(|steps| integration.advance(steps))?;
    guarded(|| integration.finish())
}

/// Has somebody pressed Ctrl-C?
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method has one lifetime, and any is needed"
)]
fn signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Takes a solution to its end, portion by portion, and checks for Ctrl-C in between.
fn to_the_end(mut advance: impl FnMut(u64) -> Result<bool, Refusal>) -> PyResult<()> {
    let mut pace = Pace::new(FIRST);
    while guarded(|| advance(pace.next()))?.map_err(refused)? {
        signals()?;
    }
    Ok(())
}

/// Says whether to go on: checks for Ctrl-C once in `PATIENCE` calls.
#[derive(Debug, Default)]
struct Watch {
    asked: u32,
    signal: Option<PyErr>,
}

impl Watch {
    /// Calls between two checks for Ctrl-C: some milliseconds for a small network.
    const PATIENCE: u32 = 64;

    fn goes_on(&mut self) -> bool {
        self.asked += 1;
        if self.asked.is_multiple_of(Self::PATIENCE) && self.signal.is_none() {
            self.signal = signals().err();
        }
        self.signal.is_none()
    }

    /// What was found, or the signal that stopped the search.
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
        let setup = setup(scenario, price)?;
        let mut watch = Watch::default();
        let rest = guarded(|| equilibrium_while(&setup.network, &mut || watch.goes_on()))?
            .map_err(refused)?;
        let rest = watch.found(rest)?;
        let mut value = guarded(|| tables::rest(&setup, &rest))?;
        if judge {
            let delay = if delay { 1.0 } else { 0.0 };
            let mut watch = Watch::default();
            let judged =
                guarded(|| stability_while(&setup.network, &rest, delay, &mut || watch.goes_on()))?;
            let judged = watch.found(judged)?;
            value["stable"] = Value::from(judged.stable);
            value["margin"] = judged.margin.map_or(Value::Null, Value::from);
        }
        Ok(value.to_string())
    })
}

/// The scenario in the terms of the fluid model, with the prices that `price` names.
fn setup(scenario: &longfat_scenario::Scenario, price: &str) -> PyResult<FluidSetup> {
    let pricing = Pricing::named(price).ok_or_else(|| {
        let names = Pricing::ALL.map(Pricing::name).join(", ");
        PyValueError::new_err(format!("there is no price `{price}`: the prices are {names}"))
    })?;
    guarded(|| FluidSetup::of(scenario, pricing))?.map_err(refused)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn refused(error: longfat_fluid::FluidError) -> PyErr {
    FluidError::new_err(error.to_string())
}
