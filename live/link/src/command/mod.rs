//! What the program does: a file for each command.

mod down;
mod run;
mod shell;
mod status;
mod up;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use down::down;
pub use run::run;
pub use shell::shell;
pub use status::status;
pub use up::up;

use longfat_live::program::Failure;
use longfat_live::{End, EndError};

use crate::lateness::{Measurement, Refusal};
use crate::machine::{self, MachineError};
use crate::settings::{Settings, SettingsError};
use crate::state::State;

/// What the process of a link is to do besides carrying packets.
#[derive(Clone, Debug)]
pub struct Options {
    /// Does it run before everything else on this machine?
    pub first: bool,
    /// The file into which packets are captured, and how many bytes of each.
    pub capture: Option<(PathBuf, u16)>,
}

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The scenario is wrong.
    #[error("{0}")]
    Settings(#[from] SettingsError),
    /// Something about the machine.
    #[error("{0}")]
    Machine(#[from] MachineError),
    /// A file.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// A link is up, or something of one is left.
    #[error("{0}")]
    Already(String),
    /// There is no link.
    #[error("there is no link: make one with `longfat link up`")]
    None,
    /// The process of the link has ended.
    #[error("the process of the link has ended{0}; remove what is left with `longfat link down`")]
    Dead(String),
    /// The process of the link could not begin.
    #[error("the process of the link could not begin{0}")]
    Unborn(String),
    /// What was measured counts for nothing.
    #[error("{0}")]
    Refused(#[from] Refusal),
}

impl From<EndError> for CommandError {
    fn from(error: EndError) -> Self {
        Self::Machine(error.into())
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        Self::new(&error, error.code())
    }
}

impl CommandError {
    /// The exit code: 1 for what failed, 2 for wrong input.
    pub fn code(&self) -> ExitCode {
        match self {
            Self::Refused(_) | Self::Dead(_) | Self::Unborn(_) => ExitCode::from(1),
            Self::Settings(_)
            | Self::Machine(_)
            | Self::File { .. }
            | Self::Already(_)
            | Self::None => ExitCode::from(2),
        }
    }

    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |error| Self::File { path, error }
    }
}

/// The link that is up: what was asked for, and what was measured so far.
fn current(state: &State) -> Result<(Settings, Measurement), CommandError> {
    let settings = asked(state)?;
    if state.process().is_none() {
        return Err(CommandError::Dead(last_words(state)));
    }
    machine::check_privileges()?;
    let path = state.path("status.json");
    let status = state.status().map_err(CommandError::file(&path))?;
    let mut unseen = 0;
    for end in End::BOTH {
        // A process that ends closes its devices before it lets go of what says that it lives, or after that.
        let Some(packets) = machine::unseen(end)? else {
            return Err(CommandError::Dead(last_words(state)));
        };
        unseen += packets;
    }
    Ok((settings, status.measurement(unseen)))
}

/// What was asked for.
fn asked(state: &State) -> Result<Settings, CommandError> {
    let path = state.path("scenario.toml");
    Ok(Settings::read(&scenario(state)?, &path.display().to_string())?)
}

/// The scenario that the link was made from.
fn scenario(state: &State) -> Result<String, CommandError> {
    let path = state.path("scenario.toml");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(CommandError::None),
        Err(error) => Err(CommandError::file(&path)(error)),
    }
}

/// What the process of the link said last.
fn last_words(state: &State) -> String {
    let said = std::fs::read_to_string(state.path("messages")).unwrap_or_default();
    said.lines().last().map_or_else(String::new, |line| format!(": {line}"))
}
