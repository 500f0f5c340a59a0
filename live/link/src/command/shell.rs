//! `shell`: runs a program behind the link.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use longfat_live::End;
use signal_hook::consts::SIGINT;

use super::{CommandError, current};
use crate::forward::PERIOD;
use crate::state::State;

/// What shells add to the number of a signal that ended a program.
const SIGNALLED: i32 = 128;

/// Runs a program in the namespace at one end of the link, and returns its exit code. What crossed the link meanwhile is
/// told if `tell` says so, by whatever process.
///
/// # Errors
/// If there is no link, the program cannot be run, or what was measured counts for nothing.
pub fn shell(
    state: &State,
    end: End,
    program: &OsString,
    arguments: &[OsString],
    tell: bool,
) -> Result<ExitCode, CommandError> {
    let (settings, before) = current(state)?;
    end.enter()?;
    // Ctrl-C is for the program. What it inherits is what this process began with.
    let interrupted = Arc::new(AtomicBool::new(false));
    let path = std::path::Path::new(program);
    signal_hook::flag::register(SIGINT, interrupted).map_err(CommandError::file(path))?;
    let status =
        Command::new(program).args(arguments).status().map_err(CommandError::file(path))?;
    // What was measured last is told within two periods.
    sleep(2 * Duration::from_secs_f64(PERIOD.seconds()));
    let (_, after) = current(state)?;
    let measured = after.since(&before);
    if tell {
        eprintln!("{}", measured.told());
    }
    let code = status.code().or(status.signal().map(|signal| SIGNALLED + signal)).unwrap_or(1);
    let verdict = measured.verdict(settings.bound());
    match (code, verdict) {
        (0, Err(refusal)) => Err(refusal.into()),
        (code, verdict) => {
            if let Err(refusal) = verdict {
                eprintln!("error: {refusal}");
            }
            Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
        }
    }
}
