//! What is asked: a scenario as text.

use std::collections::BTreeMap;

use longfat_scenario::{Diagnostic, ScenarioError};
use serde::{Deserialize, Serialize};

/// A scenario to be read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The scenario file.
    pub(crate) text: String,
    /// What stands for its name in messages.
    #[serde(default = "scenario")]
    pub(crate) origin: String,
    /// Changes, each as `key.path=value`.
    #[serde(default)]
    pub(crate) overrides: Vec<String>,
    /// Replaces its seed.
    #[serde(default)]
    pub(crate) seed: Option<u64>,
    /// Files that it may name, and what they hold.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
}

fn scenario() -> String {
    "scenario".to_owned()
}

/// Why a scenario was refused.
#[derive(Debug, Serialize)]
pub(crate) struct Refusal<'a> {
    /// All of it, with the lines at fault, as a terminal shows it.
    message: String,
    /// Every problem by itself.
    diagnostics: Vec<Problem<'a>>,
}

/// One thing that is wrong; lines and columns count from 1.
#[derive(Debug, Serialize)]
struct Problem<'a> {
    message: &'a str,
    help: Option<&'a str>,
    file: &'a str,
    #[serde(rename = "override")]
    override_index: Option<usize>,
    line: Option<usize>,
    column: Option<usize>,
    length: Option<usize>,
}

impl<'a> Refusal<'a> {
    /// What is wrong with a scenario.
    pub(crate) fn of(error: &'a ScenarioError) -> Self {
        let diagnostics = error.diagnostics().iter().map(Problem::of).collect();
        Self { message: error.to_string(), diagnostics }
    }

    /// What is wrong with a request.
    pub(crate) fn of_request(message: String) -> Self {
        Self { message, diagnostics: Vec::new() }
    }
}

impl<'a> Problem<'a> {
    fn of(diagnostic: &'a Diagnostic) -> Self {
        let Diagnostic { message, help, file, override_index, location, .. } = diagnostic;
        Self {
            message,
            help: help.as_deref(),
            file,
            override_index: *override_index,
            line: location.map(|at| at.line),
            column: location.map(|at| at.column),
            length: location.map(|at| at.length),
        }
    }
}
