//! Work that may take longer than anybody wants to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use pyo3::prelude::*;

use crate::guard::guarded;
use crate::pace::LOOK;

/// What the work knows of whoever waits for it: whether they still do, and how to tell how far it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    given_up: Arc<AtomicBool>,
    told: Arc<AtomicU64>,
}

impl Waiting {
    /// Does anybody still wait? Work that cannot ask often goes on unheard, and ends with the process at the latest.
    pub(crate) fn goes_on(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
    }

    /// Tells a number; those who wait see the last one.
    pub(crate) fn tell(&self, number: f64) {
        self.told.store(number.to_bits(), Ordering::Relaxed);
    }
}

/// Does `work` on a thread of its own while this one waits, without the interpreter's lock.
///
/// About twenty times a second `look` is called with what the work has told last, zero at first. A signal, or an error
/// from `look`, ends the waiting at once, wherever the work is.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    mut look: impl FnMut(f64) -> PyResult<()>,
    work: impl FnOnce(&Waiting) -> T + Send + 'static,
) -> PyResult<T> {
    let waiting = Waiting::default();
    let (sender, mut receiver) = channel();
    let of_work = waiting.clone();
    thread::Builder::new().name("longfat-work".into()).spawn(move || {
        // Nobody listens after a signal.
        let _ = sender.send(guarded(|| work(&of_work)));
    })?;
    loop {
        // Borrowed mutably, because a receiver belongs to one thread at a time.
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(LOOK)) {
            Ok(done) => {
                py.check_signals()?;
                return done;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the work is guarded, and answers"),
        }
        let told = f64::from_bits(waiting.told.load(Ordering::Relaxed));
        if let Err(stop) = py.check_signals().and_then(|()| look(told)) {
            waiting.given_up.store(true, Ordering::Relaxed);
            return Err(stop);
        }
    }
}
