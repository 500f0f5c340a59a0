//! Congestion controllers: one paper, one file.
//!
//! A controller is told what happened and asked how much and how fast. It has no clock, no chance, no
//! I/O and no host: the packet simulator, the fluid models and the tests drive the same objects.
//!
//! Most papers describe a [`WindowLaw`]: what one acknowledged segment adds, what one congestion event takes. The
//! shell [`Windowed`] turns a law into a [`CongestionControl`]; laws with a memory of their own implement
//! `CongestionControl` themselves. **Adding a controller is one file in `controller/` and one line in the list
//! below**: the command line, Python, the reference pages, the conformance tests, the fuzz target and the
//! benchmarks all loop over [`CONTROLLERS`]. The conformance tests (`tests/conformance.rs`) then ask for the
//! numbers that its source promises.

pub mod bounds;
pub mod conformance;
mod contract;
mod event;
mod hystart;
mod law;
mod registry;
mod slow_start;
mod table;
mod windowed;

pub use contract::{Bursts, CongestionControl, Pacing, Probe, Promises, Sending, Wants};
pub use event::{Cause, Congestion, Feedback, Limited, OncePerWindow, Path, RateSample, Sent};
pub use law::{Needs, Operating, Phase, Reaction, WindowLaw};
pub use registry::{BuildLaw, Controller, Start, find};
pub use slow_start::{Ramp, SlowStart};
pub use windowed::Windowed;

/// Lists the controllers: a module of that name below `controller/`, and its `CONTROLLER`.
macro_rules! controllers {
    ($($name:ident),* $(,)?) => {
        pub mod controller {
            //! One file per controller; each opens with an essay.
            $(pub mod $name;)*
        }
        /// Every controller there is, in alphabetical order.
        pub static CONTROLLERS: &[&Controller] = &[$(&controller::$name::CONTROLLER),*];
    };
}

controllers! {
    anti_ecn, blitz, constant_rate, cubic, cw_hstcp, exp, fiber, hstcp, reno, sized_start, stcp,
}
