//! Quantities that cannot be mixed up.
//!
//! Each quantity is a type; a bare number is a count. Inside, everything is an integer wide enough for
//! the fattest path (picoseconds, bits per second, bytes in `u64`); only the window formulas work in
//! [`Segments`], an `f64`. Text carries its unit, both ways: `"100 ms"`, `"10 Gbit/s"`, `"1500 B"`.
//!
//! ```
//! use longfat_units::{Bytes, Rate, Span};
//!
//! let rate: Rate = "100 Gbit/s".parse()?;
//! let rtt: Span = "100 ms".parse()?;
//! assert_eq!(rate.bytes_in(rtt), Bytes(1_250_000_000)); // the bandwidth-delay product
//! assert_eq!(rate.time_for(Bytes(1500)), "120 ns".parse()?);
//! # Ok::<(), longfat_units::UnitError>(())
//! ```

pub mod fault;
mod header;
pub mod math;
mod origin;
pub mod parameter;
mod probe;
mod quantity;
mod text;

pub use header::{Ecn, RouterHeader};
pub use origin::{Form, Origin, Reference};
pub use probe::Probe;
pub use quantity::{Bytes, PICOSECONDS_PER_SECOND, Rate, Segments, Span, Time};
pub use text::{UnitError, known_units, split, ungrouped};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
