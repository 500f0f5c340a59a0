//! A thread that runs as soon as it has something to do.
#![expect(
    unsafe_code,
    reason = "the scheduling class of a thread is set by a call that rustix lacks"
)]

use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroU64;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The priority of a link: above all threads without one, and below the kernel's own.
pub const LINK: i32 = 10;

/// That of programs at the ends of a link, which must not keep it from carrying packets.
pub const END: i32 = 5;

/// First in, first out; threads that it starts get no such priority.
const CLASS: libc::c_int = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;

/// Lets this thread run before all others but those of a higher priority (`SCHED_FIFO`, sched(7)), as long as it does not
/// use more than the 95 % of a processor that the kernel grants such threads.
///
/// # Errors
/// If the kernel refuses: the capability `CAP_SYS_NICE` is missing.
pub fn run_first(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: zero means the calling thread, and the structure is only read, during the call.
    let result = unsafe { libc::sched_setscheduler(0, CLASS, &raw const parameters) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Keeps this thread on one of the processors on which it may run, the one of this number; where there are fewer, the
/// count begins anew. Returns the number that the machine has for it.
///
/// # Errors
/// If the kernel refuses.
pub fn stay_on(number: usize) -> io::Result<usize> {
    let allowed = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|each| allowed.is_set(*each)).collect();
    let processor = *all.get(number % all.len().max(1)).ok_or(io::ErrorKind::NotFound)?;
    let mut one = CpuSet::new();
    one.set(processor);
    sched_setaffinity(None, &one)?;
    Ok(processor)
}

/// Lets timers of this thread fire when they are due, instead of up to 50 µs later (`PR_SET_TIMERSLACK`).
///
/// # Errors
/// If the kernel refuses.
pub fn no_slack() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?)
}

/// Where a process says how long a processor may take to wake up, in microseconds (the kernel's
/// `Documentation/power/pm_qos_interface.rst`). It holds for as long as the file is open.
const AWAKE: &str = "/dev/cpu_dma_latency";

/// Keeps processors from falling asleep while the file is open: one that is woken by a timer may be milliseconds late,
/// above all in a virtual machine.
///
/// # Errors
/// If the kernel has no such file, or refuses.
pub fn keep_awake() -> io::Result<File> {
    let mut file = File::options().write(true).open(AWAKE)?;
    file.write_all(&0_i32.to_ne_bytes())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_the_priority_or_hears_why_not() {
        std::thread::spawn(|| match run_first(END) {
            // SAFETY: the call reads nothing but its argument; zero means the calling thread.
            Ok(()) => assert_eq!(unsafe { libc::sched_getscheduler(0) }, CLASS),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        })
        .join()
        .expect("the thread ends");
    }

    #[test]
    fn a_thread_stays_on_one_processor() {
        std::thread::spawn(|| {
            let processor = stay_on(1_000_000).expect("every process may");
            let allowed = sched_getaffinity(None).expect("it can be read");
            assert_eq!((allowed.count(), allowed.is_set(processor)), (1, true));
        })
        .join()
        .expect("the thread ends");
    }

    #[test]
    fn processors_are_kept_awake_or_it_says_why_not() {
        if let Err(error) = keep_awake() {
            let known = [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound];
            assert!(known.contains(&error.kind()), "{error}");
        }
    }

    #[test]
    fn timers_have_no_slack() {
        std::thread::spawn(|| {
            no_slack().expect("every process may");
            assert_eq!(rustix::thread::current_timer_slack().expect("it can be read"), 1);
        })
        .join()
        .expect("the thread ends");
    }
}
