//! `down`: removes the link, or what is left of one.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use super::{CommandError, current};
use crate::machine;
use crate::state::State;

/// How long to wait until the process is looked at again.
const LOOK: Duration = Duration::from_millis(10);

/// How many looks later it no longer has to end by itself: five seconds.
const PATIENCE: u64 = 500;

/// Removes the link and all that was made for it, in whatever state it is; says what was removed and what was measured.
///
/// # Errors
/// If something cannot be removed. If what was measured counts for nothing, which is said once all is removed.
pub fn down(state: &State) -> Result<String, CommandError> {
    machine::check_privileges()?;
    let lock = state.lock().map_err(CommandError::file(&state.path("lock")))?;
    let before = current(state).ok();
    let Removed { lived, namespaces, inside, files } = remove(state)?;
    state.leave(lock).map_err(CommandError::file(&state.path("")))?;
    if !lived && namespaces.is_empty() && !files {
        return Ok("there is no link".into());
    }
    let mut lines = Vec::new();
    if !lived {
        lines.push(
            "the process of the link had ended without being asked; what it left is removed".into(),
        );
    }
    for name in namespaces {
        lines.push(format!("removed {name}"));
    }
    if !inside.is_empty() {
        lines.push(format!(
            "processes that were behind the link are cut off and still run: {}",
            inside.join(" ")
        ));
    }
    let Some((settings, measured)) = before else { return Ok(lines.join("\n")) };
    lines.push(measured.told());
    if let Err(refusal) = measured.verdict(settings.bound()) {
        lines.push(String::new());
        eprint!("{}", lines.join("\n"));
        return Err(refusal.into());
    }
    Ok(lines.join("\n"))
}

/// What was there, and is removed.
#[derive(Debug)]
pub(super) struct Removed {
    /// Did the process of the link live?
    lived: bool,
    namespaces: Vec<&'static str>,
    /// Processes that are still in them.
    inside: Vec<String>,
    /// Were there files?
    files: bool,
}

/// Ends the process and removes namespaces and files.
pub(super) fn remove(state: &State) -> Result<Removed, CommandError> {
    let lived = end_process(state);
    let (namespaces, inside) = machine::remove_namespaces()?;
    let files = state.clear().map_err(CommandError::file(&state.path("")))?;
    Ok(Removed { lived, namespaces, inside, files })
}

/// Asks the process to end, and makes it if it does not. Did it live?
fn end_process(state: &State) -> bool {
    let Some(process) = state.process() else { return false };
    for look in 0_u64.. {
        // It may end between the look and the signal: the lock decides, not the result of the call.
        match look {
            0 => drop(kill_process(process, Signal::TERM)),
            PATIENCE => drop(kill_process(process, Signal::KILL)),
            _ => {}
        }
        sleep(LOOK);
        if state.process() != Some(process) {
            break;
        }
    }
    true
}
