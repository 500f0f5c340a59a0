//! The congestion controllers of longfat for [quinn](https://github.com/quinn-rs/quinn), unchanged.
//!
//! ```text
//!     quinn  ─▶  Adapter  ─▶  host                     ─▶  longfat_control::CongestionControl
//!     bytes,     quinn's      segments, round trips,
//!     instants   trait        one response for each of them
//! ```
//!
//! [`factory`] looks up a controller by its name, checks its settings, and refuses by name what asks for something that
//! quinn does not give ([`Refusal`]). What it makes goes into `TransportConfig::congestion_controller_factory`. The
//! README has a table of all controllers, what each call becomes, and what a user of quinn has to raise for the window to
//! be what limits a transfer.
//!
//! The crate depends on `quinn-proto`, whose traits quinn re-exports, and on none of its features, so that it brings in
//! neither cryptography nor sockets. It has no clock of its own: all times are those that quinn tells.

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
