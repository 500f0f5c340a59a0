//! The window laws as differential equations.
//!
//! ```text
//!     Scenario → FluidSetup: a FluidNetwork, and what its flows and links are called
//!
//!     FluidNetwork → solve         windows, rates and prices over time: mean field, or windows that jump (hybrid)
//!                  → synchronised  the phase plane: all flows of one link lose together
//!                  → equilibrium   where it settles, without integrating
//!                  → stability     whether it does, and how much later the feedback could come
//!
//!     Scenario → ExplicitSetup: an ExplicitLink for each link, and what its flows are called
//!
//!     ExplicitLink → solve, rest, stability     XCP and VCP, whose routers say how rates change
//! ```
//!
//! Any [`WindowLaw`](longfat_control::WindowLaw) of the registry, the same object that the packet shell drives, on any
//! links and routes. There is no wall clock and no global generator in here: the same network gives the same numbers
//! on every machine. `docs/concepts/fluid.md` lists what the fluid leaves out.

mod chance;
mod delay;
mod demand;
mod dormand_prince;
mod equilibrium;
mod explicit;
mod explicit_course;
mod explicit_scenario;
mod history;
mod indescribable;
mod labels;
mod linear;
mod load;
mod memory;
mod model;
mod network;
mod plan;
mod scenario;
mod solve;
mod stability;
mod steered;
mod stepping;
mod synchronised;
mod trajectory;

pub use equilibrium::{Equilibrium, FlowRest, LinkRest, equilibrium, equilibrium_while};
pub use explicit::{ExplicitFlow, ExplicitLink, ExplicitPath, Scheme};
pub use explicit_scenario::{ExplicitIntegration, ExplicitSetup};
pub use labels::{FlowLabel, GroupLabel, Labels};
pub use memory::{Memory, memory};
pub use model::Reading;
pub use network::{FluidError, FluidFlow, FluidLink, FluidNetwork, Load, Price, RedPrice, Spare};
pub use plan::averaging;
pub use scenario::{Charge, FluidSetup, Pricing};
pub use solve::{Integration, Solve, solve};
pub use stability::{Stability, can_be_judged, stability, stability_while};
pub use synchronised::{Synchronised, synchronised};
pub use trajectory::{FlowPath, LinkPath, Report, Trajectory};

/// Called now and then to ask whether to go on.
pub type GoOn<'a> = &'a mut dyn FnMut() -> bool;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
