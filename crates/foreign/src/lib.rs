//! Controllers and queue policies from outside, through the C interface of `include/longfat.h`.
//!
//! ```text
//!     shared library      load()               longfat_plugin() lists tables of functions
//!     compiled functions  compiled_law(), …    the same tables, filled in by a compiler at run time
//!              └──▶ checked tables ──▶ Controller, Discipline: entries for a catalogue
//! ```
//!
//! This crate is the border to code that Rust knows nothing about, and the only one but the rim that has `unsafe` in it.
//! What has to hold for that is written in the header, for those who write such code: functions of the right types that
//! may be called from any thread, and states that may be copied byte by byte. What can be checked is: tables when they
//! are read, and every number that comes back. A number that is wrong is never used; the last good one is, or one that
//! does no harm, and a [fault](longfat_units::fault) is reported, with which whoever runs the model ends the run.

#![expect(unsafe_code, reason = "the border to code that Rust knows nothing about")]

pub mod abi;
mod controller;
mod elf;
mod law;
mod library;
mod pace;
mod queue;
mod table;

use std::any::Any;
use std::sync::Arc;

use longfat_control::Controller;
use longfat_queue::Discipline;
use longfat_units::{Origin, Probe};
use thiserror::Error;

pub use library::{LibraryError, load};
use table::Memory;

/// An entry for a catalogue.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A controller.
    Controller(Controller),
    /// A queue discipline.
    Discipline(Discipline),
}

impl Entry {
    /// Its name in scenario files.
    pub fn name(&self) -> &str {
        match self {
            Self::Controller(entry) => &entry.name,
            Self::Discipline(entry) => &entry.name,
        }
    }

    /// The controller, if it is one.
    pub fn into_controller(self) -> Option<Controller> {
        match self {
            Self::Controller(entry) => Some(entry),
            Self::Discipline(_) => None,
        }
    }

    /// The queue discipline, if it is one.
    pub fn into_discipline(self) -> Option<Discipline> {
        match self {
            Self::Controller(_) => None,
            Self::Discipline(entry) => Some(entry),
        }
    }

    /// Where it comes from.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Controller(entry) => entry.origin.as_ref(),
            Self::Discipline(entry) => entry.origin.as_ref(),
        }
    }

    /// The same, from somewhere else.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        match self {
            Self::Controller(entry) => Self::Controller(entry.origin(origin)),
            Self::Discipline(entry) => Self::Discipline(entry.origin(origin)),
        }
    }
}

/// What is wrong with a table of functions.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// It says something that cannot be.
    #[error("{0}")]
    Wrong(String),
}

/// What keeps compiled functions where they are.
pub type Keep = Arc<dyn Any + Send + Sync>;

/// The entry of a window law whose table is at `at`.
///
/// # Errors
/// If the table is wrong.
///
/// # Safety
/// `at` is null or points to a `longfat_law` that keeps the rules of the header for as long as `keep` lives.
pub unsafe fn compiled_law(
    at: *const abi::Law,
    keep: Keep,
    origin: Origin,
) -> Result<Entry, TableError> {
    // SAFETY: the caller's promise.
    unsafe { law::entry(at, keep, origin) }.map(Entry::Controller)
}

/// The entry of a controller whose table is at `at`.
///
/// # Errors
/// If the table is wrong.
///
/// # Safety
/// As for [`compiled_law`], with a `longfat_controller`.
pub unsafe fn compiled_controller(
    at: *const abi::Controller,
    keep: Keep,
    origin: Origin,
) -> Result<Entry, TableError> {
    // SAFETY: the caller's promise.
    unsafe { controller::entry(at, keep, origin) }.map(Entry::Controller)
}

/// The entry of a queue policy whose table is at `at`.
///
/// # Errors
/// If the table is wrong.
///
/// # Safety
/// As for [`compiled_law`], with a `longfat_queue`.
pub unsafe fn compiled_queue(
    at: *const abi::Queue,
    keep: Keep,
    origin: Origin,
) -> Result<Entry, TableError> {
    // SAFETY: the caller's promise.
    unsafe { queue::entry(at, keep, origin) }.map(Entry::Discipline)
}

/// What is wrong with an answer, in words.
fn wrong(what: &str, value: f64, place: &str, wanted: &str) -> String {
    match abi::raising(value.to_bits(), what) {
        Some(which) => {
            format!("`{which}` raised an exception{place}: call it in plain Python to see which")
        }
        None => format!("`{what}` is {value}{place}: {wanted} is needed"),
    }
}

/// Asks foreign code for the values of the variables that it names.
fn observe(
    function: abi::Observe,
    names: &[&'static str],
    state: &Memory,
    p: &[f64],
    probe: &mut dyn Probe,
) {
    let Some(function) = function.filter(|_| !names.is_empty()) else { return };
    let mut values = vec![f64::NAN; names.len()];
    // SAFETY: the table promises a function that fills in as many values as it has names.
    unsafe { function(state.get(), values.as_mut_ptr(), p.as_ptr()) };
    for (name, value) in names.iter().zip(values) {
        if value.is_finite() {
            probe.value(name, value);
        }
    }
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
