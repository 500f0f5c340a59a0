//! The Python module `longfat._longfat`: a thin layer between the simulator and the package `longfat`.
//!
//! Nothing is decided here. Scenarios go in as text, averages come out as JSON text, tables come out
//! through the Arrow C interface without a copy. The rules at this boundary:
//!
//! - a simulation runs without the interpreter's lock, so that threads run simulations in parallel;
//! - between chunks of events it checks for Ctrl-C and for cancellation, and reports progress;
//! - what has no chunks is done on a thread of its own, so that Ctrl-C is answered meanwhile;
//! - no panic crosses: it becomes `EngineError`, which says that the mistake is ours.

mod arrow_table;
mod check;
mod class;
mod failure;
mod fluid;
mod guard;
mod gym;
mod own;
mod pace;
mod policy;
mod quantities;
mod quantity;
mod registry;
mod scenario;
mod session;
mod simulate;
mod trace;
mod traces;
mod watched;

use pyo3::prelude::*;

/// The compiled part of longfat: scenarios, simulations, tables, and the lists of what there is.
#[pymodule]
mod _longfat {
    use super::{Bound, PyAnyMethods, PyModule, PyModuleMethods, PyResult, guard};

    #[pymodule_export]
    use super::{
        arrow_table::ArrowTable,
        check::examine,
        class::{
            AdjustmentView, Base, CongestionView, FeedbackView, LostView, PathView, RateView,
            SentView, StartView, class_controller,
        },
        failure::CodeError,
        fluid::{FluidError, FluidPath, fluid_memory, fluid_price, fluid_rest, fluid_solve},
        guard::EngineError,
        gym::{Environments, features},
        own::{Own, compiled, load_library},
        policy::{GymError, Policy, policy_controller},
        quantity::quantity,
        registry::{controllers, known_units, profiles, queues, scenario_keys},
        scenario::{Scenario, ScenarioError},
        session::Session,
        simulate::{Cancellation, Cancelled, Recording, simulate},
        trace::{Trace, TraceError},
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        guard::keep_panics_quiet();
        // An error raised from Python has no diagnostics beyond its message.
        module.py().get_type::<ScenarioError>().setattr("diagnostics", ())?;
        module.add("LONGEST_TEXT", longfat_scenario::Scenario::LONGEST_TEXT)?;
        module.add("LONGEST_FILE", longfat_scenario::Scenario::LONGEST_FILE)?;
        module.add("PROFILED", env!("LONGFAT_PROFILED") == "true")?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
