//! What a scenario can choose from.

use std::fmt;
use std::sync::Arc;

use longfat_control::{CONTROLLERS, Controller};
use longfat_queue::{DISCIPLINES, Discipline};
use longfat_units::Form;
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
    code: Option<AnyCode>,
    data: Option<AnyCode>,
}

/// Fetches the code that a scenario file names, such as `{ python = "rules.py:gentle" }`.
///
/// Fetching code runs it, so a catalogue has one of these only where whoever reads the scenario allows that.
pub trait Code: Send + Sync {
    /// The controller in `place`, with its origin, whose reference is found again from anywhere.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn controller(&self, form: Form, place: &str) -> Result<Controller, String>;

    /// The queue discipline in `place`, likewise.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn discipline(&self, form: Form, place: &str) -> Result<Discipline, String>;
}

#[derive(Clone)]
struct AnyCode(Arc<dyn Code>);

impl fmt::Debug for AnyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyCode")
    }
}

/// Whatever fetches code, catalogues are equal that have the same entries.
impl PartialEq for AnyCode {
    fn eq(&self, _: &Self) -> bool {
        true
    }
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
    #[error("the {what} `{}` cannot be chosen in a scenario: {reason}", .name.escape_debug())]
    Unfit {
        /// `controller` or `queue`.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What a scenario names by its code, or why it cannot.
type Fetched<T> = Result<Arc<T>, Unfetched>;

/// Why code is not fetched.
#[derive(Debug)]
pub(crate) enum Unfetched {
    /// Nobody has allowed it.
    Forbidden,
    /// There is nothing of use there, for this reason.
    Wrong(String),
}

/// The keys of a choice that are no parameters.
pub(crate) const RESERVED: [&str; 5] = ["kind", "python", "library", "policy", CODE];

/// The key that holds the digest of code.
pub(crate) const CODE: &str = "code";

impl Catalogue {
    /// The controllers and disciplines of longfat.
    pub fn built_in() -> Self {
        Self {
            controllers: CONTROLLERS.clone(),
            disciplines: DISCIPLINES.clone(),
            ..Self::default()
        }
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

    /// Lets scenarios name code, which `code` fetches.
    pub fn allow_code(&mut self, code: Arc<dyn Code>) {
        self.code = Some(AnyCode(code));
    }

    /// Lets scenarios name files that become controllers without running code, such as trained policies, which `data`
    /// fetches.
    pub fn allow_data(&mut self, data: Arc<dyn Code>) {
        self.data = Some(AnyCode(data));
    }

    /// The same entries, without the means to fetch others.
    pub(crate) fn without_code(&self) -> Self {
        Self { code: None, data: None, ..self.clone() }
    }

    /// Fetches a controller that a scenario names by its code.
    pub(crate) fn fetch_controller(&self, form: Form, place: &str) -> Fetched<Controller> {
        let fetched = self.means(form)?.controller(form, place).map_err(Unfetched::Wrong)?;
        self.accept("controller", &self.controllers, fetched, |entry| &entry.parameters)
    }

    /// Fetches a queue discipline that a scenario names by its code.
    pub(crate) fn fetch_discipline(&self, form: Form, place: &str) -> Fetched<Discipline> {
        let fetched = self.means(form)?.discipline(form, place).map_err(Unfetched::Wrong)?;
        self.accept("queue", &self.disciplines, fetched, |entry| &entry.parameters)
    }

    /// What fetches it.
    fn means(&self, form: Form) -> Result<&dyn Code, Unfetched> {
        let (means, missing) = if form.is_code() {
            (&self.code, Unfetched::Forbidden)
        } else {
            (&self.data, Unfetched::Wrong("nothing here can read files".into()))
        };
        means.as_ref().map(|means| &*means.0).ok_or(missing)
    }

    /// What is fetched must be fit to be added; but one that is there already, with the same code, is not another.
    fn accept<T: Entry + PartialEq>(
        &self,
        what: &'static str,
        entries: &[Arc<T>],
        fetched: T,
        parameters: fn(&T) -> &[Parameter],
    ) -> Fetched<T> {
        let wrong = |error: CatalogueError| Unfetched::Wrong(error.to_string());
        self.check(what, fetched.name(), parameters(&fetched)).map_err(wrong)?;
        let taken = entries.iter().find(|entry| entry.name() == fetched.name());
        let digest = |entry: &T| entry.origin().map(|origin| origin.digest.clone());
        if taken.is_some_and(|entry| digest(entry) != digest(&fetched)) {
            let name = fetched.name().into();
            return Err(wrong(CatalogueError::Taken { what, name }));
        }
        Ok(Arc::new(fetched))
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
            if RESERVED.contains(&&**key) {
                return Err(unfit(format!(
                    "`{key}` says which {what} it is, so no parameter can be called that"
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
