//! What a scenario can choose from.

use std::sync::Arc;

use longfat_control::{CONTROLLERS, Controller};
use longfat_queue::{DISCIPLINES, Discipline};
use longfat_units::parameter::{Entry, Given, Parameter};
use thiserror::Error;

use crate::choice::refuse_default;
use crate::error::{Place, Problem};
use crate::value;

/// The controllers and queue disciplines that a scenario can choose from: those of longfat, and any that were added.
///
/// A [`Scenario`](crate::Scenario) holds the catalogue it was read with, and each of its choices holds its entry. Names
/// are looked up nowhere else, so two scenarios in one process can know different controllers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    controllers: Vec<Arc<Controller>>,
    disciplines: Vec<Arc<Discipline>>,
}

/// Why an entry cannot be added to a catalogue.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The name is taken by another entry.
    #[error("there is already a {what} called `{name}`: give the new one another name")]
    Taken {
        /// `controller` or `queue`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// No scenario could choose the entry.
    #[error("the {what} `{name}` cannot be chosen in a scenario: {reason}")]
    Unfit {
        /// `controller` or `queue`.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Catalogue {
    /// The controllers and disciplines of longfat.
    pub fn built_in() -> Self {
        Self { controllers: CONTROLLERS.clone(), disciplines: DISCIPLINES.clone() }
    }

    /// A catalogue without entries.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds a controller.
    ///
    /// # Errors
    /// If its name is taken, or if no scenario could choose it: its name or one of its parameters cannot be written in
    /// a scenario file, or a default is not a valid value of its parameter.
    pub fn add_controller(&mut self, controller: Controller) -> Result<(), CatalogueError> {
        self.check("controller", &controller.name, &controller.parameters)?;
        add(&mut self.controllers, "controller", controller)
    }

    /// Adds a queue discipline.
    ///
    /// # Errors
    /// As for [`Catalogue::add_controller`].
    pub fn add_discipline(&mut self, discipline: Discipline) -> Result<(), CatalogueError> {
        self.check("queue", &discipline.name, &discipline.parameters)?;
        add(&mut self.disciplines, "queue", discipline)
    }

    /// Its controllers: those of longfat in order of name, then those that were added.
    pub fn controllers(&self) -> &[Arc<Controller>] {
        &self.controllers
    }

    /// Its queue disciplines, in the same order.
    pub fn disciplines(&self) -> &[Arc<Discipline>] {
        &self.disciplines
    }

    /// The controller called `name`.
    pub fn controller(&self, name: &str) -> Option<&Arc<Controller>> {
        self.controllers.iter().find(|entry| entry.name == name)
    }

    /// The queue discipline called `name`.
    pub fn discipline(&self, name: &str) -> Option<&Arc<Discipline>> {
        self.disciplines.iter().find(|entry| entry.name == name)
    }

    /// Can a scenario choose an entry with this name and these parameters?
    fn check(
        &self,
        what: &'static str,
        name: &str,
        parameters: &[Parameter],
    ) -> Result<(), CatalogueError> {
        let unfit = |reason| CatalogueError::Unfit { what, name: name.into(), reason };
        let refused = |problem: Problem| unfit(problem.reason().into());
        // There is LEDBAT++.
        let letters = name.trim_end_matches('+');
        value::name(letters, Place::whole(0), &format!("a {what}")).map_err(refused)?;
        for (index, parameter) in parameters.iter().enumerate() {
            let Parameter { name: key, default, .. } = parameter;
            value::name(key, Place::whole(0), "a parameter").map_err(refused)?;
            if key == "kind" {
                return Err(unfit(format!(
                    "`kind` names the {what}, so no parameter can be called that"
                )));
            }
            if parameters[..index].iter().any(|other| other.name == *key) {
                return Err(unfit(format!("it has two parameters called `{key}`")));
            }
            if *default != Given::Nothing {
                refuse_default(self, name, parameter).map_err(refused)?;
            }
        }
        Ok(())
    }
}

fn add<T: Entry>(
    entries: &mut Vec<Arc<T>>,
    what: &'static str,
    entry: T,
) -> Result<(), CatalogueError> {
    if entries.iter().any(|other| other.name() == entry.name()) {
        return Err(CatalogueError::Taken { what, name: entry.name().into() });
    }
    entries.push(Arc::new(entry));
    Ok(())
}
