//! `kernel`: laws as tables in the kernel, which need no program outside of it.
//!
//! Installed ones stay until they are removed. `run` has one for as long as it runs, for a measurement.

mod pins;
mod program;

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::{Link, MapHandle, Program};
use longfat_tcp_host::{Choice, ChoiceError, catalogue};
use longfat_tcp_tables::{Piece, TableError, tabulated};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::kernel::{self, KernelError};
use crate::run::tell;
use pins::Pins;
use program::{LawProgram, congestion};

/// Which congestion controls there are, and which one connections get that ask for none.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// How long the kernel may take to forget one.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

/// Why a law was not installed, or not removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LawError {
    /// There is no table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No such controller.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The kernel refuses.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// It is there with other parameters.
    #[error(
        "{name} is installed as {there}, and connections that ask for it get that: remove it first (`longfat kernel \
         remove {name}`)"
    )]
    Other {
        /// The controller.
        name: String,
        /// How.
        there: String,
    },
    /// It is half there.
    #[error(
        "what is left of {0} in /sys/fs/bpf/longfat is not whole: remove it first (`longfat kernel remove {0}`)"
    )]
    Half(String),
    /// It is not there.
    #[error("{0} is not installed: `longfat kernel list` shows what is")]
    Absent(String),
    /// New connections would go on getting it.
    #[error(
        "{name} is what connections of this network namespace get that ask for nothing: choose another one first (sysctl -w \
         net.ipv4.tcp_congestion_control=cubic)"
    )]
    Default {
        /// The congestion control.
        name: String,
    },
    /// The kernel still has it.
    #[error("the kernel still lists {0}: another program holds it")]
    Stays(String),
    /// It is not there, and cannot be.
    #[error(
        "/sys/fs/bpf is hidden here, as it is under `ip netns exec`: do this outside of it, since what is installed is there \
         for all network namespaces"
    )]
    Hidden,
    /// The file system of BPF.
    #[error("/sys/fs/bpf, where the kernel keeps what is installed: {0}")]
    Place(#[from] io::Error),
    /// Signals cannot be waited for.
    #[error("signals cannot be waited for: {0}")]
    Signals(io::Error),
}

impl LawError {
    /// Was it wrong input, and not the kernel or the machine?
    pub(crate) fn is_input(&self) -> bool {
        !matches!(self, Self::Place(_) | Self::Stays(_) | Self::Signals(_))
            && !matches!(self, Self::Kernel(KernelError::Refused(_) | KernelError::Unfit))
    }
}

/// What is known of an installed law, and kept with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct About {
    /// The name of the controller.
    control: String,
    /// It with all parameters, as a scenario has it.
    parameters: String,
    /// What Linux calls it.
    congestion: String,
    /// The largest error of the table, as a share of what the law says.
    table_error: f64,
    /// How large the table is.
    #[serde(rename = "table_B")]
    table_bytes: usize,
}

/// The same, and what is seen of it now.
#[derive(Serialize)]
struct Installed {
    #[serde(flatten)]
    about: About,
    connections: u64,
    /// Where the kernel measures: acknowledgments so far, and nanoseconds for each.
    acknowledgments: Option<u64>,
    acknowledgment_ns: Option<f64>,
}

/// A controller and its table.
fn loaded(text: &str) -> Result<(About, LawProgram), LawError> {
    let (about, image) = made(text)?;
    let told = serde_json::to_string(&about).map_err(|_| KernelError::Unfit)?;
    let program = LawProgram::load(&image, &about.congestion, &told)?;
    Ok((about, program))
}

fn made(text: &str) -> Result<(About, longfat_tcp_tables::Image), LawError> {
    let choice = Choice::read(text)?;
    let table = tabulated(&choice)?;
    let image = table.image();
    let about = About {
        control: choice.name().into(),
        parameters: choice.text().into(),
        congestion: congestion(choice.name()),
        table_error: table.errors.most(),
        table_bytes: image.pieces.len() * Piece::SIZE,
    };
    Ok((about, image))
}

/// Is everything there that installing takes?
fn check() -> Result<(), LawError> {
    kernel::check()?;
    if pins::hidden() { Err(LawError::Hidden) } else { Ok(()) }
}

/// What is installed under this name, if anything is.
fn found(name: &str) -> Result<Option<About>, LawError> {
    let pins = Pins::of(name);
    if !pins.exist() {
        return Ok(None);
    }
    let half = || LawError::Half(name.into());
    if !pins.link().exists() {
        return Err(half());
    }
    let map = MapHandle::from_pinned_path(pins.about()).map_err(|_| half())?;
    let text = program::about(&map)?;
    serde_json::from_str(&text).map(Some).map_err(|_| half())
}

/// Installs a law. What is there already with the same parameters stays as it is.
///
/// # Errors
/// If it has no table, is there with other parameters, or the kernel refuses.
pub(crate) fn install(text: &str) -> Result<String, LawError> {
    let (about, _) = made(text)?;
    check()?;
    if let Some(there) = found(&about.control)? {
        return if there.parameters == about.parameters {
            Ok(format!("{} is installed already, as {}\n", about.control, about.congestion))
        } else {
            Err(LawError::Other { name: there.control, there: there.parameters })
        };
    }
    let (about, mut program) = loaded(text)?;
    let pins = Pins::of(&about.control);
    let link = program.register(&about.congestion)?;
    pins.make()?;
    if let Err(error) = pinned(&mut program, link, &pins) {
        // Nothing stays of what did not come about.
        let _ = pins.remove();
        return Err(error);
    }
    let About { control, parameters, congestion, table_error, table_bytes } = about;
    Ok(format!(
        "{control} is installed as {congestion}: {parameters}\n\
         its table has {table_bytes} B and is at most {:.2} % off\n\
         for one socket: setsockopt(TCP_CONGESTION, \"{congestion}\")\n\
         for all new connections of a network namespace: sysctl -w net.ipv4.tcp_congestion_control={congestion}\n\
         to remove it: longfat kernel remove {control}\n",
        100.0 * table_error,
    ))
}

fn pinned(program: &mut LawProgram, mut link: Link, pins: &Pins) -> Result<(), LawError> {
    let control = program.object.progs_mut().find(|each| each.name() == program::CONTROL);
    control.ok_or(KernelError::Unfit)?.pin(pins.control()).map_err(KernelError::from)?;
    for (name, path) in [(program::ABOUT, pins.about()), (program::CONNECTIONS, pins.connections())]
    {
        program.map_mut(name)?.pin(path).map_err(KernelError::from)?;
    }
    // Last: where it is, all is.
    link.pin(pins.link()).map_err(KernelError::from)?;
    Ok(())
}

/// Removes the law of this controller, or all of them. Connections that have it keep it until they are closed.
///
/// # Errors
/// If it is not there, or what connections get by default, or the kernel refuses.
pub(crate) fn remove(name: Option<&str>) -> Result<String, LawError> {
    check()?;
    let mut all = Pins::all()?;
    if let Some(name) = name {
        all.retain(|(other, _)| other == name);
        if all.is_empty() {
            return Err(LawError::Absent(name.into()));
        }
    }
    let default = fs::read_to_string(DEFAULT).unwrap_or_default();
    if let Some((name, _)) = all.iter().find(|(name, _)| congestion(name) == default.trim()) {
        return Err(LawError::Default { name: congestion(name) });
    }
    let mut told = Vec::new();
    for (name, pins) in &all {
        let own = MapHandle::from_pinned_path(pins.connections());
        let left = own.ok().and_then(|map| program::connections(&map).ok()).unwrap_or(0);
        pins.remove()?;
        gone(&congestion(name))?;
        told.push(match left {
            0 => format!("{name} is removed\n"),
            1 => format!("{name} is removed; one connection has it until it is closed\n"),
            _ => format!("{name} is removed; {left} connections have it until they are closed\n"),
        });
    }
    Ok(if told.is_empty() { "nothing is installed\n".into() } else { told.concat() })
}

/// Waits until the kernel no longer offers it.
fn gone(congestion: &str) -> Result<(), LawError> {
    let mut waited = Duration::ZERO;
    while fs::read_to_string(AVAILABLE)?.split_whitespace().any(|name| name == congestion) {
        if waited > PATIENCE {
            return Err(LawError::Stays(congestion.into()));
        }
        sleep(LOOK);
        waited += LOOK;
    }
    Ok(())
}

/// What is installed, for people or as JSON.
///
/// # Errors
/// If the kernel does not tell.
pub(crate) fn list(as_json: bool) -> Result<String, LawError> {
    check()?;
    let mut all = Vec::new();
    for (name, pins) in Pins::all()? {
        let Some(about) = found(&name)? else { continue };
        let half = |_| LawError::Half(name.clone());
        let counter = MapHandle::from_pinned_path(pins.connections()).map_err(half)?;
        let control = Program::fd_from_pinned_path(pins.control()).map_err(half)?;
        let ran = ran(std::os::fd::AsFd::as_fd(&control));
        all.push(Installed {
            about,
            connections: program::connections(&counter)?,
            acknowledgments: ran.map(|(times, _)| times),
            acknowledgment_ns: ran.map(|(_, each)| each),
        });
    }
    if as_json {
        let text = serde_json::to_string_pretty(&all).map_err(|_| KernelError::Unfit)?;
        return Ok(text + "\n");
    }
    if all.is_empty() {
        return Ok("nothing is installed\n".into());
    }
    Ok(all.iter().map(Installed::line).collect())
}

impl Installed {
    fn line(&self) -> String {
        let About { control, parameters, congestion, table_error, table_bytes } = &self.about;
        let speed = match (self.acknowledgments, self.acknowledgment_ns) {
            (Some(times), Some(each)) => {
                format!(", {each:.0} ns for each of {times} acknowledgments")
            }
            _ => String::new(),
        };
        let connections = match self.connections {
            1 => "1 connection".to_owned(),
            more => format!("{more} connections"),
        };
        format!(
            "{control}: {congestion}, {connections}{speed}\n    {parameters}\n    table: {table_bytes} B, at most {:.2} % off\n",
            100.0 * table_error,
        )
    }
}

/// How often a program ran, and for how many nanoseconds each time, where the kernel measures that.
fn ran(program: BorrowedFd<'_>) -> Option<(u64, f64)> {
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", program.as_raw_fd())).ok()?;
    let number = |name: &str| -> Option<u64> {
        let line = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().parse().ok()
    };
    let (times, spent) = (number("run_cnt")?, number("run_time_ns")?);
    (times > 0).then(|| (times, spent as f64 / times as f64))
}

/// Which controllers have a table, how near it is, and why the others have none.
pub(crate) fn laws() -> String {
    let lines = catalogue().into_iter().map(|(name, _)| match made(&name) {
        Ok((about, _)) => format!(
            "{name}: yes: {} B, at most {:.2} % off\n",
            about.table_bytes,
            100.0 * about.table_error
        ),
        Err(error) => format!("{name}: no: {error}\n"),
    });
    lines.collect()
}

/// What is told at the end of [`run`].
#[derive(Serialize)]
struct Done {
    acknowledgments: Option<u64>,
    acknowledgment_ns: Option<f64>,
}

/// Has a law in the kernel until SIGINT or SIGTERM; one that is installed with the same parameters is as good. Tells one
/// line of JSON when flows can ask, and one at the end.
///
/// # Errors
/// As [`install`].
pub(crate) fn run(text: &str) -> Result<(), LawError> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(LawError::Signals)?;
    }
    let (about, _) = made(text)?;
    kernel::check()?;
    let own = match found(&about.control)? {
        Some(there) if there.parameters != about.parameters => {
            return Err(LawError::Other { name: there.control, there: there.parameters });
        }
        Some(_) => None,
        None => {
            let (about, mut program) = loaded(text)?;
            let link = program.register(&about.congestion)?;
            Some((program, link))
        }
    };
    tell(&about);
    while !ended.load(Ordering::Relaxed) {
        sleep(LOOK);
    }
    let ran = own.as_ref().and_then(|(program, _)| {
        let control = program.object.progs().find(|each| each.name() == program::CONTROL)?;
        ran(std::os::fd::AsFd::as_fd(&control))
    });
    tell(&Done {
        acknowledgments: ran.map(|(times, _)| times),
        acknowledgment_ns: ran.map(|(_, each)| each),
    });
    if own.is_some() {
        drop(own);
        gone(&about.congestion)?;
    }
    Ok(())
}
