//! From the text of a command line to a controller for each flow.

use std::sync::Arc;

use longfat_control::{CongestionControl, Controller, Start, WindowLaw};
use longfat_scenario::{Catalogue, ScenarioError};
use longfat_units::parameter::Settings;
use thiserror::Error;

use crate::{Refusal, refusal};

/// Why no flow can run under a controller.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No such controller, or no such settings of it: each problem with its place, and a suggestion.
    #[error(transparent)]
    Unknown(#[from] ScenarioError),
    /// The controller asks for what TCP in Linux does not give.
    #[error("`{name}` cannot run on TCP in Linux: {reason}")]
    Refused {
        /// The name of the controller.
        name: String,
        /// What it asks for.
        reason: Refusal,
    },
}

/// A controller of the registry and its settings.
#[derive(Clone, Debug)]
pub struct Choice {
    control: Arc<Controller>,
    settings: Settings,
    text: String,
}

impl Choice {
    /// Reads a controller as a scenario has it: `exp`, or `{ kind = "aimd", b = 0.3 }`.
    ///
    /// # Errors
    /// If there is no such controller, one of its settings is unknown or out of its range, or it asks for what TCP in
    /// Linux does not give.
    pub fn read(text: &str) -> Result<Self, ChoiceError> {
        let read = longfat_scenario::Choice::<Controller>::read(&Catalogue::built_in(), text)?;
        let text = read.to_string();
        let choice = Self { control: read.entry, settings: read.settings, text };
        match choice.refusal() {
            Some(reason) => Err(ChoiceError::Refused { name: choice.name().into(), reason }),
            None => Ok(choice),
        }
    }

    /// The name of the controller.
    pub fn name(&self) -> &str {
        &self.control.name
    }

    /// It and all of its parameters, as a scenario has them. Whatever the text it was read from, what is the same is
    /// written in the same way.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its window law, if it has one.
    pub fn law(&self) -> Option<Box<dyn WindowLaw>> {
        self.control.law.as_ref().map(|law| law(&self.settings))
    }

    /// Is it this law and nothing more? Otherwise it remembers more than a law may.
    pub fn is_only_law(&self) -> bool {
        self.control.only_law
    }

    /// Does it read the bit of AntiECN?
    pub fn reads_spare(&self) -> bool {
        self.control.needs(&self.settings).spare
    }

    fn refusal(&self) -> Option<Refusal> {
        refusal(&(self.control.build)(&self.settings, &Start::default()))
    }

    /// The controller of a flow that begins like this.
    pub(crate) fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        let sending = (self.control.build)(&self.settings, start);
        sending.windowed().expect("what has no window was refused")
    }
}

/// All controllers by name, with the reason why one cannot run on TCP in Linux with its defaults.
pub fn catalogue() -> Vec<(String, Option<Refusal>)> {
    let listed = longfat_control::CONTROLLERS.iter().map(|control| {
        let (control, settings) = (Arc::clone(control), control.defaults());
        let choice = Choice { text: control.name.to_string(), control, settings };
        (choice.name().to_owned(), choice.refusal())
    });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_named_as_in_a_scenario() {
        for (text, name) in [("exp", "exp"), ("{ kind = \"aimd\", b = 0.3 }", "aimd")] {
            assert_eq!(Choice::read(text).map(|choice| choice.name().to_owned()), Ok(name.into()));
        }
    }

    #[test]
    fn what_is_the_same_is_written_in_the_same_way() {
        let text = |text| Choice::read(text).map(|choice| choice.text().to_owned());
        let same = Ok("{ kind = \"aimd\", a = \"auto\", b = 0.25 }".to_owned());
        for other in ["aimd", "{ kind = \"aimd\", b = 0.25 }", "{ b = 2.5e-1, kind = \"aimd\" }"] {
            assert_eq!(text(other), same, "{other}");
        }
        assert_eq!(text("reno"), Ok("reno".into()));
        assert_ne!(text("{ kind = \"aimd\", b = 0.3 }"), same);
    }

    #[test]
    fn what_is_wrong_is_said_with_a_suggestion() {
        let error = Choice::read("stpc").expect_err("there is none").to_string();
        assert!(error.contains("stcp"), "{error}");
    }

    #[test]
    fn what_linux_cannot_give_is_refused_by_name() {
        let reasons = [
            ("bbr1", Refusal::DeliveryRate),
            ("dctcp", Refusal::CountedMarks),
            ("prague", Refusal::Ect1),
            ("xcp", Refusal::RouterHeader),
            ("blitz", Refusal::Bursts),
        ];
        for (name, reason) in reasons {
            let refused = ChoiceError::Refused { name: name.into(), reason };
            assert_eq!(Choice::read(name).map(drop), Err(refused), "{name}");
        }
    }

    #[test]
    fn the_catalogue_says_which_run() {
        let runs: Vec<String> =
            catalogue().into_iter().filter_map(|(name, no)| no.is_none().then_some(name)).collect();
        for name in
            ["reno", "hstcp", "exp", "stcp", "cw-hstcp", "fiber", "cubic", "vegas", "anti-ecn"]
        {
            assert!(runs.iter().any(|other| other == name), "{name} is not among {runs:?}");
        }
        assert!(runs.len() < catalogue().len());
    }
}
