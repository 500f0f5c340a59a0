//! What the senders of a simulation do and hear, as files that other tools read.
//!
//! ```text
//!     Simulation::take_trace  ─▶  TraceEvent  ─▶  Capture  ─▶  pcapng, for Wireshark and tshark
//!                                             ─▶  Qlog     ─▶  qlog, for qvis
//! ```
//!
//! Events go in, bytes come out; where these are written is for others. Nothing is kept but what the next packet needs.

mod capture;
mod chosen;
mod headers;
mod qlog;

pub use capture::Capture;
pub use chosen::{Chosen, TraceError};
pub use qlog::Qlog;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
