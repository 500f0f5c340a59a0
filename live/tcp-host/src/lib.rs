//! Any controller of longfat for Linux TCP: what the kernel reports becomes what a controller is told, and what it
//! answers becomes what the kernel does.
//!
//! ```text
//!     kernel ── Report ──▶ Flows ▸ Host ▸ controller ── Decision ──▶ kernel
//! ```
//!
//! It knows no socket, file or clock, and builds everywhere. The program `longfat-tcp` puts it between a ring buffer and
//! an array that the kernel reads.

#![forbid(unsafe_code)]

mod choice;
mod flows;
mod host;
mod refusal;
mod wire;

pub use choice::{Choice, ChoiceError, catalogue};
pub use flows::Flows;
pub use host::Host;
pub use refusal::{Refusal, refusal};
pub use wire::{Decision, NO_THRESHOLD, News, Report, SLOTS};
