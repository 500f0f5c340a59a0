//! All tests from outside, in one program: they link once, and run side by side.

mod delay;
mod equations;
mod equilibrium;
mod events;
mod explicit;
mod explicit_scenario;
mod fiber_tcp;
mod finite;
mod hybrid;
mod properties;
mod scenario;
mod stability;
mod steered;
mod support;
mod synchronised;
