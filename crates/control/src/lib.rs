//! Congestion controllers: one paper, one file.
//!
//! A controller is told what happened and is asked how much may be sent, and how fast. It has no clock, no randomness
//! but what it is given at the start, no I/O and no host: the packet simulator, the fluid models and the tests drive the same objects.
//!
//! Most papers describe a [`WindowLaw`]: what one acknowledged segment adds, what one congestion event takes. The shell
//! [`Windowed`] turns a law into a [`CongestionControl`]. Rules that remember more than a law does are a [`WindowRule`]
//! in the shell [`Remembered`], or implement `CongestionControl` themselves. **Adding a controller is one file in
//! `controller/` and its two lines in `controller/mod.rs`**: the command line, Python, the reference pages, the
//! conformance tests, the fuzz target and the benchmarks all loop over [`CONTROLLERS`]. The conformance tests
//! (`tests/conformance.rs`) then ask for the numbers that its source promises. A [`Controller`] from elsewhere is added
//! to a catalogue at run time.

pub mod bounds;
mod chance;
pub mod conformance;
mod contract;
pub mod controller;
mod demand;
mod event;
mod gradual;
mod hybrid_start;
mod hystart;
mod interpolated;
pub mod interval;
mod law;
mod path_model;
mod recent;
mod registry;
mod remembered;
mod slow_start;
mod windowed;

pub use chance::Chance;
pub use contract::{Bursts, CongestionControl, Pacing, Promises, Sending, Wants};
pub use controller::CONTROLLERS;
pub use demand::Demand;
pub use event::{
    Adjustment, Cause, Congestion, Feedback, Limited, Lost, OncePerWindow, Path, RateSample, Sent,
};
pub use law::{Breakpoint, Needs, Operating, Phase, Reaction, WindowLaw};
pub use longfat_units::Probe;
pub use registry::{BuildLaw, BuildSending, Check, Controller, Family, SendQuantum, Start};
pub use remembered::{Remembered, WindowRule};
pub use slow_start::{Ramp, SlowStart};
pub use windowed::Windowed;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
