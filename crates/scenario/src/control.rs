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

#[cfg(test)]
mod tests {
    use longfat_units::parameter::Setting;

    use super::*;

    fn read(text: &str) -> Result<Choice<Controller>, ScenarioError> {
        Choice::read(&Catalogue::built_in(), text)
    }

    #[test]
    fn a_controller_is_read_as_in_a_scenario() {
        for text in ["reno", " reno ", "\"reno\"", "{ kind = \"reno\" }"] {
            assert_eq!(read(text).map(|choice| choice.kind().to_owned()), Ok("reno".into()));
        }
        let aimd = read("{ kind = \"aimd\", b = 0.3 }").expect("it has such a parameter");
        assert_eq!(aimd.settings.get("b"), Some(&Setting::Number(0.3)));
        assert_eq!(aimd.settings.get("a"), Some(&Setting::Word("auto".into())), "the default");
    }

    #[test]
    fn what_is_wrong_is_said_with_a_suggestion() {
        for (text, message, help) in [
            ("cubik", "there is no controller called `cubik`", "did you mean `cubic`?"),
            (
                "{ kind = \"aimd\", c = 1 }",
                "`aimd` has no parameter `c`",
                "its parameters are: a, b",
            ),
            (
                "{ kind = \"aimd\", b = 2 }",
                "`b` must be a number from 0 to 1, but it is the number 2",
                "",
            ),
            (
                "",
                "no controller is named",
                "write a name, or a table with its `kind` and its parameters",
            ),
        ] {
            let error = read(text).expect_err(text);
            let found = &error.diagnostics()[0];
            assert_eq!(found.message, message);
            if !help.is_empty() {
                assert_eq!(found.help.as_deref(), Some(help));
            }
        }
    }

    #[test]
    fn code_is_not_fetched() {
        let error = read("{ python = \"rules.py:gentle\" }").expect_err("nobody has allowed it");
        assert!(error.to_string().contains("would run code"), "{error}");
    }

    #[test]
    fn what_is_written_reads_back_as_itself() {
        for control in longfat_control::CONTROLLERS.iter() {
            let choice = read(&control.name).expect("it has defaults for all");
            let text = choice.to_string();
            assert_eq!(read(&text), Ok(choice), "{text}");
        }
        let stcp = read("{ a = 2e-2, kind = \"stcp\" }").expect("it is one");
        let text = "{ kind = \"stcp\", a = 0.02, b = 0.125, legacy_window = 16 }";
        assert_eq!(stcp.to_string(), text);
    }
}
