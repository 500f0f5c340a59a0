//! The fluid model from Python: it solves without the interpreter's lock, and can be interrupted.

mod tables;

use std::sync::Arc;

use longfat_fluid::{
    ExplicitIntegration, ExplicitSetup, FluidSetup, Integration, Pricing, Reading, Solve,
    Synchronised, Trajectory, can_be_judged, equilibrium_while, stability_while,
};
use longfat_units::fault;
use pyo3::exceptions::PyValueError;
use pyo3::{create_exception, prelude::*};

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
        let (labels, path) = match setup(&scenario, &price)? {
            Setup::Priced(setup) => {
                let path = path(&setup, &model, delay, waiting)?;
                (setup.labels, path)
            }
            Setup::Explicit(setup) => {
                let path = explicit_path(&setup, &model, delay, waiting)?;
                (setup.labels, path)
            }
        };
        let json = tables::json(&labels, &path).to_string();
        let tables = tables::tables(&labels, &path).into_iter();
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

fn explicit_path(
    setup: &ExplicitSetup,
    model: &str,
    delay: bool,
    waiting: &Waiting,
) -> PyResult<Trajectory> {
    if model != "mean-field" {
        return Err(refused(longfat_fluid::FluidError::NoLosses {
            control: setup.control.clone(),
        }));
    }
    let mut integration = ExplicitIntegration::new(setup, if delay { 1.0 } else { 0.0 });
    while waiting.goes_on() && integration.advance(PORTION).map_err(refused)? {
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
        let setup = match setup(&scenario, &price)? {
            Setup::Priced(setup) => setup,
            Setup::Explicit(setup) => return explicit_rest(&setup, delay, judge),
        };
        let rest = equilibrium_while(&setup.network, &mut go_on).map_err(refused)?;
        let Some(rest) = rest else { return Ok(String::new()) };
        let mut value = tables::rest(&setup.labels, &rest);
        if judge {
            can_be_judged(&setup.network, &rest).map_err(refused)?;
            let delay = if delay { 1.0 } else { 0.0 };
            let judged = stability_while(&setup.network, &rest, delay, &mut go_on);
            let Some(judged) = judged else { return Ok(String::new()) };
            tables::judge(&mut value, judged);
        }
        Ok(value.to_string())
    })?
}

fn explicit_rest(setup: &ExplicitSetup, delay: bool, judge: bool) -> PyResult<String> {
    let (rest, judged) = setup.rest(if delay { 1.0 } else { 0.0 }).map_err(refused)?;
    let mut value = tables::rest(&setup.labels, &rest);
    if judge {
        tables::judge(&mut value, judged);
    }
    Ok(value.to_string())
}

/// Links, each with the kind of its queue.
type Kinds = Vec<(String, String)>;

/// What links charge in the fluid model of a scenario, or the controller whose routers say how rates change; and the
/// links with queues of which the model has no equations, with what kind they are.
#[pyfunction]
#[pyo3(signature = (scenario, price, /))]
pub(crate) fn fluid_price(
    scenario: &Bound<'_, Scenario>,
    price: &str,
) -> PyResult<(Vec<String>, Kinds)> {
    let setup = match setup(&scenario.get().inner, price)? {
        Setup::Explicit(setup) => return Ok((vec![setup.control], Vec::new())),
        Setup::Priced(setup) => setup,
    };
    let links = setup.network.links.iter().zip(&setup.charges);
    let mut prices: Vec<String> = Vec::new();
    let mut stand_ins = Vec::new();
    for (link, charge) in links {
        let name = charge.pricing.name();
        if prices.iter().all(|known| known != name) {
            prices.push(name.to_owned());
        }
        stand_ins.extend(charge.stands_in.clone().map(|kind| (link.name.clone(), kind)));
    }
    Ok((prices, stand_ins))
}

/// Roughly the memory that the fluid model of a scenario takes, in bytes: to be solved in time, and for its
/// equilibrium.
#[pyfunction]
pub(crate) fn fluid_memory(scenario: &Bound<'_, Scenario>) -> (f64, f64) {
    let memory = longfat_fluid::memory(&scenario.get().inner);
    (memory.in_time, memory.at_rest)
}

/// The equations of a scenario.
enum Setup {
    /// Those of laws that answer prices.
    Priced(FluidSetup),
    /// Those of flows whose routers say how rates change.
    Explicit(ExplicitSetup),
}

/// The scenario in the terms of the fluid model, with the prices that `price` names.
fn setup(scenario: &longfat_scenario::Scenario, price: &str) -> PyResult<Setup> {
    let pricing = Pricing::named(price).ok_or_else(|| {
        let names = Pricing::ALL.map(Pricing::name).join(", ");
        PyValueError::new_err(format!("there is no price `{price}`: the prices are {names}"))
    })?;
    if let Some(setup) = ExplicitSetup::of(scenario).map_err(refused)? {
        return Ok(Setup::Explicit(setup));
    }
    FluidSetup::of(scenario, pricing).map(Setup::Priced).map_err(refused)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn refused(error: longfat_fluid::FluidError) -> PyErr {
    FluidError::new_err(error.to_string())
}
