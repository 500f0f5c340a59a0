//! The process of the link itself, which `up` starts.

use std::fs;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longfat_live::{End, priority};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{CommandError, Options};
use crate::capture;
use crate::clock::Clock;
use crate::forward::{Forwarder, Measured, PERIOD};
use crate::lateness::Meter;
use crate::machine::{DEVICE, MachineError};
use crate::settings::Settings;
use crate::state::{State, Status};
use crate::tun::{self, TUN};

/// What it prints once its devices are there.
pub(super) const READY: &str = "ready";

/// Carries packets until it is asked to end.
///
/// # Errors
/// If the devices or the file of a capture cannot be made, or the devices can no longer be read.
pub fn run(state: &State, options: &Options) -> Result<(), CommandError> {
    let first = options.first;
    let path = state.path("scenario.toml");
    let text = fs::read_to_string(&path).map_err(CommandError::file(&path))?;
    let settings = Settings::read(&text, &path.display().to_string())?;
    let _alive = state.claim().map_err(CommandError::file(&state.path("alive")))?;
    // A session of its own: a terminal that closes does not end it.
    let told = |error: io::Error| MachineError::File { path: "setsid".into(), error };
    rustix::process::setsid().map_err(|error| told(error.into()))?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(told)?;
    }
    let device = |end: End| end.inside(|| tun::open(DEVICE).map_err(MachineError::Tun));
    let ends = [device(End::A)?, device(End::B)?];
    let priority = take_priority(first);
    // Until it ends.
    let awake = if first { priority::keep_awake().ok() } else { None };
    let priority =
        if awake.is_some() { format!("{priority}, processors kept awake") } else { priority };
    give_up_privileges().map_err(|error| MachineError::File { path: TUN.into(), error })?;
    let capture = options.capture.as_ref();
    let capture =
        capture.map(|(path, most)| capture::begin(path, *most).map_err(CommandError::file(path)));
    let (tap, writer) = capture.transpose()?.unzip();

    let measured = Mutex::new(Measured::default());
    let mut forwarder = Forwarder::new(ends, settings.directions(), &measured, tap);
    let clock = Clock::start();
    let tell = |total: &mut Meter| {
        let mut measured = measured.lock().unwrap_or_else(PoisonError::into_inner);
        measured.lateness.move_to(total);
        let (directions, captured) = (measured.counts, measured.captured);
        drop(measured);
        let lateness = total.table();
        let seconds = clock.now().seconds();
        let priority = priority.clone();
        state.write_status(&Status { seconds, priority, directions, lateness, captured })
    };
    let mut total = Meter::default();
    tell(&mut total).map_err(CommandError::file(&state.path("status.json")))?;
    say(READY);
    let result = std::thread::scope(|scope| {
        let (stop, total) = (&stop, &mut total);
        // Writing takes its time, so it has a thread of its own, without a priority.
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_secs_f64(PERIOD.seconds()));
                // A full disk is no reason to stop carrying packets; whoever reads sees an old status.
                let _ = tell(total);
            }
        });
        let result = forwarder.run(stop);
        stop.store(true, Ordering::Relaxed);
        result
    });
    // With it goes the tap, and then the thread that writes.
    drop(forwarder);
    if let (Some(writer), Some((path, _))) = (writer, &options.capture) {
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if let Err(error) = written {
            eprintln!("{} is not whole: {error}", path.display());
        }
    }
    tell(&mut total).map_err(CommandError::file(&state.path("status.json")))?;
    result.map_err(|error| MachineError::Tun(error.into()).into())
}

/// The priority that it gets, in words.
fn take_priority(first: bool) -> String {
    if let Err(error) = priority::no_slack() {
        eprintln!("timers may be 50 µs late: {error}");
    }
    if !first {
        return "normal priority".into();
    }
    match priority::run_first(priority::LINK) {
        Ok(()) => "SCHED_FIFO".into(),
        Err(error) => format!("normal priority, since SCHED_FIFO was refused: {error}"),
    }
}

/// Devices and priority are there: nothing more is needed.
fn give_up_privileges() -> io::Result<()> {
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(set_no_new_privs(true)?)
}

/// Tells whoever has started it.
fn say(message: &str) {
    let mut out = io::stdout();
    // If nobody listens, nobody waits for it either.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}
