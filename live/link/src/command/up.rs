//! `up`: makes a link.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use longfat_live::End;

use super::run::READY;
use super::{CommandError, Options, last_words};
use crate::lateness::short;
use crate::machine;
use crate::settings::Settings;
use crate::state::State;

/// The name of a file that stands for the standard input.
const INPUT: &str = "-";

/// Makes the link that the scenario in `file` describes, `-` for the standard input, and says what it made.
///
/// # Errors
/// If the scenario is wrong, something is missing on this machine, or a link is up already. Nothing is left of one that
/// failed.
pub fn up(state: &State, file: &Path, options: &Options) -> Result<String, CommandError> {
    let text = read(file).map_err(CommandError::file(file))?;
    let origin =
        if file == Path::new(INPUT) { "the scenario".into() } else { file.display().to_string() };
    let settings = Settings::read(&text, &origin)?;
    machine::check()?;
    let lock = state.lock().map_err(CommandError::file(&state.path("lock")))?;
    refuse_second(state)?;
    state.clear().map_err(CommandError::file(&state.path("")))?;
    let path = state.path("scenario.toml");
    fs::write(&path, &text).map_err(CommandError::file(&path))?;
    let made = make(state, &settings, options);
    if made.is_err() {
        // What failed matters more than what failed because of it.
        let _ = super::down::remove(state);
        let _ = state.leave(lock);
    }
    let process = made?;
    Ok(told(state, &settings, process))
}

fn read(file: &Path) -> io::Result<String> {
    if file == Path::new(INPUT) {
        io::read_to_string(io::stdin())
    } else {
        fs::read_to_string(file)
    }
}

/// One link at a time.
fn refuse_second(state: &State) -> Result<(), CommandError> {
    if let Some(process) = state.process() {
        return Err(CommandError::Already(format!(
            "a link is up already (process {process}): `longfat link status` says which, `longfat link down` removes it"
        )));
    }
    match End::BOTH.into_iter().find(|end| end.exists()) {
        Some(end) => Err(CommandError::Already(format!(
            "there is a network namespace {} already, left by a link that was killed: `longfat link down` removes it",
            end.namespace()
        ))),
        None => Ok(()),
    }
}

/// Namespaces, the process with its devices, addresses. Returns the number of the process.
fn make(state: &State, settings: &Settings, options: &Options) -> Result<u32, CommandError> {
    machine::make_namespaces(settings)?;
    let path = state.path("messages");
    let messages = fs::File::create(&path).map_err(CommandError::file(&path))?;
    let program =
        std::env::current_exe().map_err(CommandError::file(Path::new("/proc/self/exe")))?;
    let mut command = Command::new(&program);
    command.arg("run").args((!options.first).then_some("--normal-priority"));
    if let Some((path, most)) = &options.capture {
        // It will be in another folder.
        let path = std::path::absolute(path).map_err(CommandError::file(path))?;
        command.arg("--capture").arg(path).args(["--capture-bytes", &most.to_string()]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(messages).current_dir("/");
    let mut child = command.spawn().map_err(CommandError::file(&program))?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line).map_err(CommandError::file(&program))?;
    }
    if line.trim() != READY {
        // It has said why, and ends.
        let _ = child.wait();
        return Err(CommandError::Unborn(last_words(state)));
    }
    machine::set_addresses(settings)?;
    Ok(child.id())
}

/// What was made.
fn told(state: &State, settings: &Settings, process: u32) -> String {
    let priority = state.status().map_or_else(|_| String::new(), |status| status.priority);
    let ends = End::BOTH.map(|end| {
        let v6 = if machine::has_v6(settings) { format!(", {}", end.v6()) } else { String::new() };
        format!("  {}: {}{v6}", end.namespace(), end.v4())
    });
    let [a, b] = ends;
    format!(
        "link up: {}, round trip {}, {}\n{a}\n{b}\n  process {process}: {priority}, no capabilities\nmeasurements count \
         while 99 % of the packets are handed on at most {} late",
        settings.rate(),
        settings.rtt(),
        settings.told(),
        short(settings.bound()),
    )
}
