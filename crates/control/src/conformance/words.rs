//! Events as people read them.

use std::fmt;

use longfat_units::Span;

use super::{Event, Operation};
use crate::{Adjustment, Cause, Congestion, Feedback, Limited, Lost};

/// 3 segments, 1 segment.
fn segments(count: u64) -> String {
    format!("{count} segment{}", if count == 1 { "" } else { "s" })
}

pub(super) fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "a loss",
        Cause::Mark => "a mark",
        Cause::Timeout => "a time-out",
    }
}

/// What happens, without when.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feedback(feedback) => write_feedback(f, feedback),
            Self::Congestion(Congestion { cause, in_flight, again, .. }) => {
                let again = if *again { ", not the first in a row" } else { "" };
                write!(f, "congestion: {}, {in_flight} in flight{again}", name(*cause))
            }
            Self::Sent(again, in_flight) => {
                let again = if *again { " again" } else { "" };
                write!(f, "a segment leaves{again}, {in_flight} in flight")
            }
            Self::Lost(Lost { segment, lost, .. }) => {
                write!(f, "segment {segment} is found lost, {lost} since it left")
            }
            Self::Recovered => f.write_str("losses are repaired"),
            Self::Restart => f.write_str("data leaves again after idle times"),
            Self::Adjustment(Adjustment { window, threshold, .. }) => {
                write!(f, "the host asks for a window of {}", window.0)?;
                match threshold {
                    Some(threshold) => write!(f, " and a threshold of {}", threshold.0),
                    None => Ok(()),
                }
            }
        }
    }
}

fn write_feedback(f: &mut fmt::Formatter<'_>, feedback: &Feedback) -> fmt::Result {
    write!(f, "acknowledgment of {}", segments(feedback.acked))?;
    if feedback.sacked > 0 {
        write!(f, " and {} out of order", feedback.sacked)?;
    }
    if feedback.lost > 0 {
        write!(f, ", {} lost", feedback.lost)?;
    }
    if feedback.marked > 0 {
        write!(f, ", {} marked", feedback.marked)?;
    }
    if feedback.recovery_begins {
        f.write_str(", recovery begins")?;
    }
    if let Some(rtt) = feedback.rtt {
        write!(f, ", round trip {rtt}")?;
    }
    write!(f, ", {} in flight", feedback.in_flight)?;
    f.write_str(match feedback.limited {
        Limited::Window => "",
        Limited::Pacing => ", held back by pacing",
        Limited::Application => ", the application has nothing more to send",
        Limited::Receiver => ", held back by the receiver",
        Limited::Recovery => ", in recovery",
    })?;
    if feedback.round_starts {
        f.write_str(", a round trip begins")?;
    }
    if let Some(spare) = feedback.spare {
        f.write_str(if spare { ", room to spare" } else { ", no room to spare" })?;
    }
    if let Some(sample) = feedback.rate {
        write!(f, ", {} delivered in {}", sample.delivered, sample.interval)?;
    }
    if let Some(delay) = feedback.one_way_delay {
        write!(f, ", one way {delay}")?;
    }
    if feedback.router.is_some() {
        f.write_str(", a header of routers")?;
    }
    match feedback.spurious {
        Some(cause) => write!(f, ", {} was spurious", name(cause)),
        None => Ok(()),
    }
}

/// What happens, and how long after the event before.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after: Span = self.after;
        write!(f, "{after} later {}", self.event)
    }
}
