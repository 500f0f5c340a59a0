//! Which controllers QUIC can run, from their text as a scenario has it.

use std::sync::Arc;

use longfat_control::CONTROLLERS;
use longfat_quinn::{Factory, FactoryError};

/// What makes controllers of this kind: `exp`, or `{ kind = "aimd", b = 0.3 }`.
///
/// # Errors
/// If there is none, one of its settings is wrong, or it asks for what quinn does not give.
pub(crate) fn choose(control: &str) -> Result<Arc<Factory>, FactoryError> {
    longfat_quinn::factory(control).build()
}

/// All controllers, with the reason why one cannot run with its defaults.
pub(crate) fn list() -> String {
    let lines = CONTROLLERS.iter().map(|control| match choose(&control.name) {
        Ok(_) => format!("{}: yes", control.name),
        Err(FactoryError::Refused { reason, .. }) => format!("{}: no: {reason}", control.name),
        Err(error) => format!("{}: no: {error}", control.name),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_named_as_in_a_scenario() {
        for (text, name) in [("exp", "exp"), ("{ kind = \"aimd\", b = 0.3 }", "aimd")] {
            assert_eq!(choose(text).map(|factory| factory.name().to_owned()), Ok(name.into()));
        }
    }

    #[test]
    fn what_quic_cannot_give_is_refused_with_the_reason() {
        let error = choose("bbr1").expect_err("quinn does not pace by rate").to_string();
        assert!(error.contains("`bbr1` cannot run on quinn"), "{error}");
        let error = choose("stpc").expect_err("there is none").to_string();
        assert!(error.contains("stcp"), "{error}");
    }

    #[test]
    fn the_list_has_every_controller() {
        let list = list();
        assert_eq!(list.lines().count(), CONTROLLERS.len());
        assert!(list.lines().any(|line| line == "exp: yes"), "{list}");
        assert!(list.lines().any(|line| line.starts_with("xcp: no: it reads headers")), "{list}");
    }
}
