//! One flow: reports of the kernel drive a controller.
//!
//! It drives a controller as the simulator's sender does. One difference is the batch: a report tells of an eighth of a
//! round trip, and laws add up its segments one by one, so nothing is lost but when.

use longfat_control::{
    Cause, Congestion, CongestionControl, Feedback, Limited, Pacing, Path, Start,
};
use longfat_units::{Bytes, Segments, Span, Time};

use crate::{Choice, Decision, NO_THRESHOLD, News, Report};

/// Headers of IP and TCP with time stamps.
const HEADERS: u64 = 52;
/// The round trip before there is one (RFC 6298, section 2.1).
const FIRST_ROUND_TRIP: Span = Span::from_seconds(1);
/// No count of segments is larger, as sequence numbers are counted in bytes.
const MOST_SEGMENTS: f64 = (1_u32 << 30) as f64;
const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

/// The host of one controller on one connection.
#[derive(Debug)]
pub struct Host {
    choice: Choice,
    control: Box<dyn CongestionControl>,
    /// Does the controller hear of spare capacity?
    reads_spare: bool,
    generation: u32,
    epoch: u32,
    path: Path,
    /// The time at which it began, in nanoseconds of the kernel.
    began: u64,
    now: Time,
    /// Sequence numbers from here on belong to the next round trip.
    round_end: u32,
}

impl Host {
    /// The host of a flow that is at this report: at its beginning, or later if the kernel went on without an answer.
    pub fn new(choice: Choice, report: &Report) -> Self {
        let base_rtt = Span(u64::MAX);
        let path = Path { rtt: FIRST_ROUND_TRIP, base_rtt };
        let mut host = Self {
            control: choice.build(&start(report)),
            reads_spare: choice.reads_spare(),
            choice,
            generation: report.generation,
            epoch: report.epoch,
            path,
            began: report.now,
            now: Time::ZERO,
            round_end: report.next,
        };
        host.measure(report);
        host
    }

    /// Which flow of its slot this is.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The controller.
    pub fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// A report has come; `now` is the time at which it is read. No answer, if the report is about a time for which it
    /// is too late: after a silence only what is younger than a round trip can be trusted.
    pub fn hear(&mut self, report: &Report, now: u64) -> Option<Decision> {
        self.pass(report.now);
        if report.epoch == self.epoch {
            self.measure(report);
            self.tell(report);
        } else {
            let age = span_of(now.saturating_sub(report.now));
            if report.smoothed_us == 0 || age > micros(report.smoothed_us) {
                return None;
            }
            self.begin_anew(report);
        }
        Some(self.decision(report))
    }

    /// What the controller wants, as an answer to this report.
    pub fn decision(&self, report: &Report) -> Decision {
        Decision {
            generation: self.generation,
            epoch: self.epoch,
            event: report.event,
            report: report.report,
            window: whole(self.control.window()).max(1),
            threshold: self.control.threshold().map_or(NO_THRESHOLD, whole),
            pacing: self.pacing(report.payload),
        }
    }

    /// The kernel has gone on by itself: a new controller begins where it is. What was acknowledged meanwhile has
    /// already moved the kernel's window.
    fn begin_anew(&mut self, report: &Report) {
        self.control = self.choice.build(&start(report));
        self.epoch = report.epoch;
        self.round_end = report.next;
        self.measure(report);
    }

    /// Time does not run backwards for a controller.
    fn pass(&mut self, now: u64) {
        let passed = span_of(now.saturating_sub(self.began));
        self.now = self.now.max(Time::ZERO + passed);
    }

    fn measure(&mut self, report: &Report) {
        if report.smoothed_us > 0 {
            self.path.rtt = micros(report.smoothed_us);
        }
        if report.least_rtt_us > 0 {
            self.path.base_rtt = self.path.base_rtt.min(micros(report.least_rtt_us));
        }
    }

    fn tell(&mut self, report: &Report) {
        let &Report { news, marked, lost, sacked, .. } = report;
        let cause = cause(news);
        let mut held = report.held;
        let mut round_starts = self.round_starts(report);
        let mut rtt = (report.rtt_us > 0).then(|| micros(report.rtt_us));
        let plain = Feedback { in_flight: report.in_flight.into(), ..Feedback::at(self.now, 0) };

        if news.has(News::RESTART) {
            self.control.on_restart(self.now, &self.path);
        }
        if news.has(News::RECOVERED) {
            // What was held back until then was acknowledged before.
            if held > 0 && marked == 0 {
                let feedback = Feedback { acked: held.into(), limited: Limited::Recovery, ..plain };
                self.control.on_feedback(&feedback, &self.path);
                held = 0;
            }
            self.control.on_recovered(self.now, &self.path);
        }
        let others = held > 0 || sacked > 0 || lost > 0 || marked > 0 || cause == Some(Cause::Loss);
        let spare = if self.reads_spare { report.spare.min(report.acked) } else { 0 };
        if spare > 0 {
            let feedback = Feedback {
                acked: spare.into(),
                spare: Some(true),
                limited: Limited::Window,
                ..plain
            };
            self.control.on_feedback(&feedback, &self.path);
        }
        let acked = report.acked - spare;
        if acked > 0 || !others {
            let feedback = Feedback {
                acked: acked.into(),
                spare: self.reads_spare.then_some(false),
                rtt: rtt.take(),
                round_starts: std::mem::take(&mut round_starts),
                limited: if report.acked > 0 { Limited::Window } else { Limited::Application },
                ..plain
            };
            self.control.on_feedback(&feedback, &self.path);
        }
        if others {
            let begins = cause == Some(Cause::Loss);
            let recovers = begins || news.has(News::RECOVERY);
            let feedback = Feedback {
                acked: held.into(),
                sacked: sacked.into(),
                lost: lost.into(),
                marked: marked.into(),
                rtt,
                round_starts,
                recovery_begins: begins,
                limited: if recovers { Limited::Recovery } else { Limited::Application },
                ..plain
            };
            self.control.on_feedback(&feedback, &self.path);
        }
        if let Some(cause) = cause {
            let event = Congestion {
                now: self.now,
                cause,
                in_flight: report.in_flight.into(),
                again: news.has(News::AGAIN),
            };
            self.control.on_congestion(&event, &self.path);
        }
    }

    /// Is data acknowledged that left after the last time this was so? Sequence numbers wrap around.
    fn round_starts(&mut self, report: &Report) -> bool {
        let starts = report.unacknowledged.wrapping_sub(self.round_end).cast_signed() > 0;
        if starts {
            self.round_end = report.next;
        }
        starts
    }

    /// In bytes of data per second. Blocks are sent unpaced: Linux has no such pattern.
    fn pacing(&self, payload: u32) -> Option<u64> {
        let segments = match self.control.pacing() {
            Pacing::Unpaced | Pacing::Blocks(_) | Pacing::LooseBlocks(_) => return None,
            Pacing::Spread { gain } => gain * self.control.window().0 / self.path.rtt.seconds(),
            Pacing::Rate(rate) => rate,
        };
        let bytes = segments * f64::from(payload);
        // A float becomes the nearest integer that there is; a rate of zero would stop the flow for ever.
        Some((bytes as u64).max(1))
    }
}

/// The most urgent cause for a response.
fn cause(news: News) -> Option<Cause> {
    let causes =
        [(News::TIMEOUT, Cause::Timeout), (News::LOSS, Cause::Loss), (News::MARK, Cause::Mark)];
    causes.into_iter().find_map(|(bit, cause)| news.has(bit).then_some(cause))
}

/// How a controller begins at this report.
fn start(report: &Report) -> Start {
    let threshold = (report.threshold < NO_THRESHOLD).then(|| f64::from(report.threshold));
    Start {
        window: Segments(f64::from(report.window.max(1))),
        threshold: threshold.map(Segments),
        packet: Bytes(u64::from(report.payload.max(1)) + HEADERS),
        // Another number for each flow.
        chance: report.now ^ u64::from(report.slot).rotate_left(32),
        ..Start::default()
    }
}

/// Linux counts whole segments.
fn whole(segments: Segments) -> u32 {
    segments.0.clamp(0.0, MOST_SEGMENTS) as u32
}

fn micros(microseconds: u32) -> Span {
    span_of(u64::from(microseconds) * 1000)
}

fn span_of(nanoseconds: u64) -> Span {
    Span(nanoseconds.saturating_mul(PICOSECONDS_PER_NANOSECOND))
}

#[cfg(test)]
mod tests;
