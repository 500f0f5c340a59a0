//! `status`: what the link is, and what crossed it so far.

use std::process::ExitCode;

use serde_json::json;

use super::{CommandError, current, scenario};
use crate::lateness::short;
use crate::state::State;

/// What the link is and what crossed it, for people or as JSON, and whether measurements count.
///
/// # Errors
/// If there is no link, or its process has ended.
pub fn status(state: &State, as_json: bool) -> Result<(String, ExitCode), CommandError> {
    let (settings, measured) = current(state)?;
    let status = state.status().map_err(CommandError::file(&state.path("status.json")))?;
    let verdict = measured.verdict(settings.bound());
    let code = if verdict.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(1) };
    if as_json {
        let late = |share| measured.lateness.quantile(share).map(longfat_units::Span::seconds);
        let [forward, reverse] = measured.directions;
        let told = json!({
            "process": state.process().map(rustix::process::Pid::as_raw_pid),
            "seconds": status.seconds,
            "priority": status.priority,
            "rate_bit_s": settings.rate().0,
            "rtt_s": settings.rtt().seconds(),
            "packet_bytes": settings.packet.0,
            "anti_ecn": settings.tells_spare(),
            "scenario": scenario(state)?,
            "forward": forward,
            "reverse": reverse,
            "lateness_s": { "p50": late(0.5), "p99": late(0.99), "p99.9": late(0.999) },
            "bound_s": settings.bound().seconds(),
            "unseen": measured.unseen,
            "captured": measured.captured,
            "counts": verdict.is_ok(),
        });
        return Ok((told.to_string(), code));
    }
    let verdict = match verdict {
        Ok(()) => format!("measurements count: the p99 may be {}", short(settings.bound())),
        Err(refusal) => refusal.to_string(),
    };
    let told = format!(
        "link up for {:.0} s: {}, round trip {}, {}; {}\n{}\n{verdict}",
        status.seconds,
        settings.rate(),
        settings.rtt(),
        settings.told(),
        status.priority,
        measured.told(),
    );
    Ok((told, code))
}
