//! A simulation as a conversation: requests and answers as JSON text, results as columns of numbers.
//!
//! ```text
//!     read {"text": …}   →  {"scenario": …}, or {"error": …} with its places
//!     start
//!     advance …          →  more?      in between: progress, series
//!     finish             →  the summary and the tables
//! ```
//!
//! For whoever can hand over bytes but no types: a page in which the engine runs as WebAssembly, and the server that runs
//! it for such a page. Both speak through this crate, so a page cannot tell them apart, except by their speed. Nothing is
//! decided here: what a text means is for `longfat-scenario`, and what happens for `longfat-sim`.

mod catalogue;
mod frame;
mod outline;
mod request;
mod session;

pub use catalogue::catalogue;
pub use session::Session;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
