//! Long work on a thread of its own, so that the caller can still be interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use longfat_units::fault;
use pyo3::prelude::*;

use crate::failure::failed;
use crate::guard::guarded;
use crate::pace::LOOK;

/// The link between the work and whoever waits for it: are they still waiting, and how far has it got?
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    given_up: Arc<AtomicBool>,
    progress: Arc<AtomicU64>,
}

impl Waiting {
    /// Is anybody still waiting? Work that never asks continues unheeded, and ends with the process at the latest.
    pub(crate) fn goes_on(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
    }

    /// Reports how far the work has got; whoever waits sees the latest number.
    pub(crate) fn report(&self, number: f64) {
        self.progress.store(number.to_bits(), Ordering::Relaxed);
    }
}

/// Does `work` on a thread of its own while this one waits without the interpreter's lock.
///
/// About twenty times a second `look` is called with the last number that the work reported, zero at first. A signal,
/// or an error from `look`, ends the waiting at once, however far the work has got. A fault of somebody's code that the
/// work has met, and not taken, is an error.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    mut look: impl FnMut(f64) -> PyResult<()>,
    work: impl FnOnce(&Waiting) -> T + Send + 'static,
) -> PyResult<T> {
    let waiting = Waiting::default();
    let (sender, mut receiver) = channel();
    let shared = waiting.clone();
    thread::Builder::new().name("longfat-work".into()).spawn(move || {
        // After a signal nobody listens any more.
        let _ = sender.send((guarded(|| work(&shared)), fault::take()));
    })?;
    loop {
        // Borrowed mutably, because a receiver belongs to one thread at a time.
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(LOOK)) {
            Ok((done, fault)) => {
                py.check_signals()?;
                return match fault {
                    Some(fault) => Err(failed(py, fault, None)),
                    None => done,
                };
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("guarded work always answers"),
        }
        let progress = f64::from_bits(waiting.progress.load(Ordering::Relaxed));
        if let Err(stop) = py.check_signals().and_then(|()| look(progress)) {
            waiting.given_up.store(true, Ordering::Relaxed);
            return Err(stop);
        }
    }
}
