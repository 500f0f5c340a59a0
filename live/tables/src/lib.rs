//! A window law of longfat as tables of whole numbers: what a program in the kernel can apply by itself.
//!
//! ```text
//!     WindowLaw ── asked at many points ──▶ Shape, or why there is no table
//!               ── asked at the nodes   ──▶ Curves ──▶ LawTable ──▶ pieces and numbers for the kernel
//! ```
//!
//! A program in the kernel has no real numbers and no logarithms. But a [`WindowLaw`](longfat_control::WindowLaw)
//! answers with functions of its window, and where nothing else matters these can be written down beforehand: what a round
//! trip adds, what congestion takes. [`LawTable::of`] does that with the law object that the simulator drives, and then holds
//! what the table gives, computed in whole numbers as the kernel does, against the law. A table that is further off than
//! [`TOLERANCE`] anywhere is refused, so each table there is keeps to it.
//!
//! It knows no kernel, file or clock, and builds everywhere.

#![forbid(unsafe_code)]

mod curve;
mod fixed;
mod image;
mod refusal;
mod shape;
mod table;

pub use curve::{Curve, Piece};
pub use fixed::{Fixed, LARGEST, ONE, POINT, to_fixed, to_real};
pub use image::{CurveImage, Image, LawImage};
pub use refusal::TableError;
pub use shape::RoundTrip;
pub use table::{Errors, LawTable, TOLERANCE, tabulated};
