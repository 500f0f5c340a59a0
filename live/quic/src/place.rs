//! Where a thread runs: in which namespace, on which processor, before whom; with what, and for how long.

use longfat_live::{End, EndError, priority};
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Runtime};

use crate::error::QuicError;

/// Moves this thread to one end of the link, on a processor of its own if there is one. Returns how it is scheduled, in
/// words.
///
/// A transfer fills its window only if its two ends are not kept waiting for a processor, by other programs or by one
/// another.
///
/// # Errors
/// If there is no such end.
pub(crate) fn take(end: End) -> Result<String, EndError> {
    end.enter()?;
    let number = match end {
        End::A => 0,
        End::B => 1,
    };
    // Without it, timers are up to 50 µs late.
    let _ = priority::no_slack();
    let place = match priority::stay_on(number) {
        Ok(processor) => format!("on processor {processor}"),
        Err(error) => format!("on any processor, since one was refused: {error}"),
    };
    Ok(match priority::run_first(priority::END) {
        Ok(()) => format!("SCHED_FIFO {place}"),
        Err(error) => format!("normal priority, since SCHED_FIFO was refused: {error}; {place}"),
    })
}

/// Timers and sockets on this thread alone, which has its priority.
///
/// # Errors
/// If the system has none.
pub(crate) fn runtime() -> Result<Runtime, QuicError> {
    Builder::new_current_thread().enable_all().build().map_err(QuicError::Runtime)
}

/// For how long this thread has had a processor, in seconds.
pub(crate) fn processor_s() -> f64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}
