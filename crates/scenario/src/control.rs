//! A controller by itself, for hosts that are given no scenario.

use std::fmt;

use longfat_control::Controller;
use serde_json::Value;

use crate::choice::chosen;
use crate::error::{Place, Problem, Problems, ScenarioError, Sources};
use crate::fields::Field;
use crate::{Catalogue, Choice, group, overrides, write};

/// What messages call the text.
const ORIGIN: &str = "control";

impl Choice<Controller> {
    /// Reads a controller of `catalogue` as the key `control` of a scenario has it: `exp`, `"exp"` or
    /// `{ kind = "aimd", b = 0.3 }`.
    ///
    /// # Errors
    /// If there is no such controller, or a parameter is unknown, missing or out of its range: each problem with its
    /// place and a suggestion.
    pub fn read(catalogue: &Catalogue, text: &str) -> Result<Self, ScenarioError> {
        let mut problems = Problems::default();
        let node = if text.trim().is_empty() {
            let nothing = Problem::new(Place::whole(0), "no controller is named");
            Err(nothing.help("write a name, or a table with its `kind` and its parameters"))
        } else {
            overrides::value(text, 0, 0)
        };
        let node = problems.keep(node);
        let choice = node.and_then(|node| {
            let chosen = problems.keep(chosen(Field { name: ORIGIN, node: &node }))?;
            group::controller(chosen, catalogue, &mut problems)
        });
        match choice {
            Some(choice) if problems.is_empty() => Ok(choice),
            _ => Err(problems.into_error(&Sources { texts: vec![(ORIGIN, text)], own: 1 })),
        }
    }
}

/// As the key `control` of a scenario has it, with all parameters: `reno`, or `{ kind = "stcp", a = 0.01, … }`.
impl fmt::Display for Choice<Controller> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match write::control(self) {
            Value::Object(pairs) => {
                // What JSON writes for texts, numbers and flags is what TOML reads.
                let pairs: Vec<String> =
                    pairs.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "{{ {} }}", pairs.join(", "))
            }
            _ => f.write_str(self.kind()),
        }
    }
}
