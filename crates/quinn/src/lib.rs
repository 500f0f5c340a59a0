//! The congestion controllers of longfat for [quinn](https://docs.rs/quinn), unchanged.
//!
//! ```text
//!     quinn  ─▶  Adapter  ─▶  host  ─▶  longfat_control::CongestionControl
//!     bytes,     its clock    segments, round trips,
//!     instants                one response per round trip
//! ```
//!
//! The crate depends on `quinn-proto`, whose traits quinn re-exports, and on none of its features, so that it brings in
//! neither cryptography nor sockets.

mod adapter;
mod factory;
mod host;
mod refusal;

pub use adapter::Adapter;
pub use factory::{Factory, FactoryBuilder, FactoryError, Value, factory};
pub use refusal::Refusal;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
