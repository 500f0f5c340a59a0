//! What every queue discipline tells about itself.

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, Rate};

use crate::{Capacity, DISCIPLINES, Policy};

/// One discipline: its name, its source, its parameters, and how to make one.
#[derive(Debug)]
pub struct Discipline {
    /// The name in scenario files.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What can be chosen. A parameter called `mode` with the words `packets` and `bytes` decides the unit
    /// in which the queue counts its limit and its lengths.
    pub parameters: &'static [Parameter],
    /// Checks what no single parameter can (thresholds in the wrong order, say): which key is wrong, and why.
    pub check: fn(&Settings, &Setting) -> Result<(), (&'static str, String)>,
    /// Makes the queue of one direction of a link.
    pub build: fn(&Settings, &Setting) -> Built,
}

/// Where a queue stands: the facts of its link.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The rate of the link.
    pub rate: Rate,
    /// The largest packet that crosses it.
    pub packet: Bytes,
    /// How much the queue can hold.
    pub capacity: Capacity,
}

/// A queue, ready to be put before a link.
#[derive(Debug)]
pub struct Built {
    /// How packets are kept.
    pub storage: Storage,
    /// Who decides; `None` is tail drop, which the capacity alone decides.
    pub policy: Option<Box<dyn Policy>>,
}

/// How packets are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// First in, first out.
    Fifo,
}

/// The discipline called `name`.
pub fn find(name: &str) -> Option<&'static Discipline> {
    DISCIPLINES.iter().copied().find(|discipline| discipline.name == name)
}
