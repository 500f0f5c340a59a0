//! Where an entry of a catalogue comes from that is no part of longfat.

use std::fmt;

/// The code behind an entry that somebody brought along.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// How a scenario file refers to it; `None` if only by its name, because it was handed over with the scenario.
    pub reference: Option<Reference>,
    /// A digest of the code: another one for code that may do something else.
    pub digest: String,
}

/// Code as a scenario file names it: `{ python = "rules.py:gentle" }`, `{ library = "librules.so" }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What it is.
    pub form: Form,
    /// Where it is.
    pub place: String,
}

/// What a scenario file can name that is no part of longfat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A Python module and a name in it.
    Python,
    /// A shared library with the C interface and, where it has several entries, a name.
    Library,
    /// The file of a trained policy: numbers, which run no code.
    Policy,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Python, Self::Library, Self::Policy];

    /// Does whoever fetches it run code?
    pub const fn is_code(self) -> bool {
        match self {
            Self::Python | Self::Library => true,
            Self::Policy => false,
        }
    }

    /// The key in a scenario file.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Library => "library",
            Self::Policy => "policy",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl Origin {
    /// Code that is known by its name only.
    pub fn new(digest: impl Into<String>) -> Self {
        Self { reference: None, digest: digest.into() }
    }

    /// The same, as a scenario file refers to it.
    #[must_use]
    pub fn named(self, form: Form, place: impl Into<String>) -> Self {
        Self { reference: Some(Reference { form, place: place.into() }), ..self }
    }
}
