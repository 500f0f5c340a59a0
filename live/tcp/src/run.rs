//! `run`: controls every flow that asks for it, until it is told to end.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hdrhistogram::Histogram;
use longfat_tcp_host::{Choice, Flows, Report};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::kernel::{Kernel, KernelError, NAME};

/// What is told once flows can ask.
#[derive(Serialize)]
struct Ready<'a> {
    control: &'a str,
    /// Does it read the bit of AntiECN?
    reads_spare: bool,
    congestion: &'a str,
}

/// What is told at the end.
#[derive(Serialize)]
struct Done {
    flows: u64,
    reports: u64,
    /// How old reports were when they were answered, in microseconds.
    answered_us: Option<Ages>,
    /// What acknowledgments said of spare capacity, where the controller reads it.
    spare: Option<Heard>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Heard {
    acknowledgments: u64,
    /// With the bit.
    spare: u64,
    /// Without anything about it.
    mute: u64,
}

#[derive(Serialize)]
struct Ages {
    p50: u64,
    p99: u64,
    most: u64,
}

/// Controls flows until SIGINT or SIGTERM. Tells one line of JSON when flows can ask, and one at the end.
///
/// # Errors
/// If the kernel does not take the program.
pub(crate) fn run(choice: Choice) -> Result<(), KernelError> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(KernelError::Reports)?;
    }
    let reads_spare = choice.reads_spare();
    let kernel = Kernel::load(reads_spare)?;
    tell(&Ready { control: choice.name(), reads_spare, congestion: NAME });

    let mut flows = Flows::new(choice);
    let mut ages = Histogram::<u64>::new(3).expect("three digits are allowed");
    let mut reports = 0_u64;
    let mut heard = Heard::default();
    kernel.listen(&ended, |bytes| {
        let Some(report) = Report::read(bytes) else { return };
        reports += 1;
        heard.acknowledgments += u64::from(report.acks);
        heard.spare += u64::from(report.acks_spare);
        heard.mute += u64::from(report.acks_mute);
        if let Some(decision) = flows.hear(&report, now()) {
            let now = now();
            kernel.decisions.write(report.slot, &decision, now);
            ages.saturating_record(now.saturating_sub(report.now) / 1000);
        }
    })?;
    let answered_us = (!ages.is_empty()).then(|| Ages {
        p50: ages.value_at_quantile(0.5),
        p99: ages.value_at_quantile(0.99),
        most: ages.max(),
    });
    let spare = reads_spare.then_some(heard);
    tell(&Done { flows: flows.begun(), reports, answered_us, spare });
    Ok(())
}

/// One line, at once. Whoever has stopped reading does not want to know.
pub(crate) fn tell(told: &impl Serialize) {
    if let Ok(line) = serde_json::to_string(told) {
        let mut out = io::stdout();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// Nanoseconds of the clock by which the kernel dates its reports.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let whole = now.tv_sec.cast_unsigned().saturating_mul(1_000_000_000);
    whole.saturating_add(now.tv_nsec.cast_unsigned())
}
