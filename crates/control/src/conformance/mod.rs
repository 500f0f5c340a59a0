//! What every controller owes its host under any circumstances, checked over arbitrary sequences of events.
//!
//! For every controller: the window is finite and at least one segment, the threshold finite, the pacing positive; the
//! same events give the same answers, from a copy made along the way too; a time-out of fresh data leaves the window no
//! larger than before. Whatever else it [promises](crate::Promises) is checked as well: for laws, that one
//! acknowledgment of n segments equals n acknowledgments of one, that the window grows only by acknowledged segments
//! that test it (by at most one for each, unless they say otherwise), and that it falls only at congestion, on a loss
//! to no less than two segments, or where the host asks for another one, which it then has.
//!
//! The property tests, the fuzz target and the checks of controllers from elsewhere (`longfat check`) all use this
//! module. [`examine`] goes through a suite and says which promises a controller breaks, each with the shortest sequence
//! of events that shows it.

mod directed;
mod examine;
mod promise;
mod shrink;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use longfat_units::fault;
use longfat_units::parameter::{Kind, Parameter, Setting, Settings};
use longfat_units::{Bytes, RouterHeader, Segments, Span, Time};

use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Feedback, Limited, Lost, Pacing,
    Path, Promises, RateSample, SendQuantum, Sending, Sent, SlowStart, Start,
};

pub use directed::{bears_any_start, endures, forgets, keeps_a_floor};
pub use examine::{Checked, Effort, Failure, Step, examine};
pub use promise::{Promise, PromiseSet};
use words::name;

/// Something that happens to a flow, some time after the previous event.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Operation {
    /// Time since the previous event.
    pub after: Span,
    /// What happens.
    pub event: Event,
}

/// What happens to a flow.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event {
    /// An acknowledgment; `now` is filled in when it happens.
    Feedback(Feedback),
    /// Congestion; `now` is filled in when it happens.
    Congestion(Congestion),
    /// A segment leaves: whether it was sent before, and how many are then in flight.
    Sent(bool, u64),
    /// A segment is found lost; when, and that it left a round trip earlier, is filled in when it happens.
    Lost(Lost),
    /// Losses are repaired.
    Recovered,
    /// Data leaves again after idle times.
    Restart,
    /// The host asks for another window, and perhaps threshold; `now` is filled in when it happens.
    Adjustment(Adjustment),
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which promise.
    pub promise: Promise,
    /// The number of events up to and including the one that broke it; 0: broken from the start.
    pub after: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.after {
            0 => write!(formatter, "at the start: {}", self.what),
            1 => write!(formatter, "after one event: {}", self.what),
            count => write!(formatter, "after {count} events: {}", self.what),
        }
    }
}

impl std::error::Error for Violation {}

impl Operation {
    /// Any eight bytes make an operation.
    pub fn from_bytes([kind, amount, time, flags, more, lost, marked, rate]: [u8; 8]) -> Self {
        let event = match kind % 16 {
            0..12 => Event::Feedback(Feedback {
                sacked: if more % 4 == 0 { u64::from(more / 4) } else { 0 },
                lost: if lost % 8 == 0 { u64::from(lost / 8) } else { 0 },
                marked: if marked % 8 == 0 { u64::from(marked / 8) } else { 0 },
                rtt: (flags & 1 == 0).then_some(Span(1_000_000 << (time % 24))),
                in_flight: 1 << (time % 30),
                limited: match kind / 16 % 8 {
                    0 => Limited::Application,
                    1 => Limited::Receiver,
                    2 => Limited::Recovery,
                    3 => Limited::Pacing,
                    _ => Limited::Window,
                },
                round_starts: flags & 2 == 0,
                recovery_begins: lost % 16 == 0,
                spare: (flags & 4 == 0).then_some(flags & 8 == 0),
                rate: (rate % 4 != 0).then(|| RateSample {
                    application_limited: rate % 4 == 1,
                    in_flight: u64::from(amount),
                    lost: u64::from(lost / 8),
                    ..RateSample::of(u64::from(rate) << (time % 16), Span(1_000_000 << (time % 24)))
                }),
                router: (rate % 4 == 3).then(|| RouterHeader {
                    feedback: f64::from(amount) - f64::from(time),
                    code: marked % 4,
                    ..RouterHeader::default()
                }),
                one_way_delay: (flags & 1 == 0).then(|| Span(500_000 << (time % 24))),
                spurious: (more % 16 == 1).then_some(Cause::Timeout),
                ..Feedback::at(Time::ZERO, if more % 8 == 7 { 0 } else { 1 << (amount % 9) })
            }),
            12..15 => Event::Congestion(Congestion {
                now: Time::ZERO,
                cause: [Cause::Loss, Cause::Mark, Cause::Timeout][usize::from(kind % 16 - 12)],
                in_flight: 1 << (amount % 30),
                again: flags & 1 == 0,
            }),
            _ if more % 2 == 1 => Event::Adjustment(Adjustment {
                now: Time::ZERO,
                window: Segments(f64::from(1_u32 << (amount % 25)) * 1.5),
                threshold: (flags & 1 == 0).then(|| Segments(f64::from(2_u32 << (lost % 25)))),
            }),
            _ => match more % 8 {
                0 => Event::Sent(flags & 1 == 0, 1 << (amount % 30)),
                2 => Event::Recovered,
                4 => Event::Restart,
                _ => Event::Lost(Lost {
                    now: Time::ZERO,
                    segment: u64::from(lost),
                    sent: Time::ZERO,
                    in_flight: 1 << (amount % 30),
                    lost: 1 << (rate % 20),
                    delivered_total: u64::from(rate) << (time % 16),
                    application_limited: flags & 1 == 0,
                }),
            },
        };
        Self { after: Span(1000 << (flags / 16 * 3)), event }
    }
}

/// Any four bytes make a start.
pub fn start_from_bytes([window, threshold, kind, other]: [u8; 4]) -> Start {
    Start {
        window: Segments(f64::from(1_u32 << (window % 25))),
        threshold: (threshold % 4 != 0).then(|| Segments(f64::from(1_u32 << (threshold / 4 % 25)))),
        slow_start: SlowStart::ALL[usize::from(kind % 4)],
        packet: Bytes(40 << (other % 10)),
        transfer: (other % 4 != 0).then(|| 1 << (other / 4 % 32)),
        round_trip: (other % 5 != 0).then(|| Span::from_millis(u64::from(other))),
        access: (kind / 3 % 2 == 0).then(|| f64::from(1_u32 << (kind / 6 % 31))),
        send_quantum: match other % 7 {
            0 => Some(SendQuantum::Time(Span::from_millis(1))),
            1 => Some(SendQuantum::Packets(1 << (other / 7))),
            _ => None,
        },
        selective: kind % 5 != 0,
        chance: u64::from(other),
        member: None,
    }
}

/// Settings of a controller: the plain ones, except that each parameter picked by a digit of `choice` gets its smallest
/// or largest value, if it has one, or another word.
pub fn settings_from_number(controller: &Controller, mut choice: u32) -> Settings {
    let mut settings = plain_settings(controller);
    for parameter in &controller.parameters {
        if let Some(value) = other_value(parameter, choice % 4) {
            settings.set(parameter.name.clone(), value);
        }
        choice /= 4;
    }
    settings
}

/// The defaults. A parameter without one, which a scenario must give, has the value nearest to zero that it may have, or
/// its first word.
pub fn plain_settings(controller: &Controller) -> Settings {
    let mut settings = controller.defaults();
    for parameter in &controller.parameters {
        if settings.get(&parameter.name).is_none()
            && let Some(value) = nearest_to_zero(&parameter.kind)
        {
            settings.set(parameter.name.clone(), value);
        }
    }
    settings
}

fn nearest_to_zero(kind: &Kind) -> Option<Setting> {
    Some(match kind {
        Kind::Number { min, max }
        | Kind::Frequency { min, max }
        | Kind::NumberOr { min, max, .. } => Setting::Number(0_f64.max(*min).min(*max)),
        Kind::Count { min, .. } => Setting::Count(*min),
        Kind::Flag => Setting::Flag(false),
        Kind::Span => Setting::Span(Span::from_seconds(0)),
        Kind::Word(words) => Setting::Word(words.first()?.to_string()),
        Kind::Length | Kind::Law => return None,
    })
}

/// Numbers from here on are no bounds that somebody has thought of: code from outside need not have any.
const UNBOUNDED: f64 = 1e100;
const UNCOUNTED: u64 = 1_000_000_000_000_000;

fn other_value(parameter: &Parameter, digit: u32) -> Option<Setting> {
    let smallest = digit == 1;
    Some(match (&parameter.kind, digit) {
        (_, 0) => return None,
        (Kind::Word(words) | Kind::NumberOr { words, .. }, 3) | (Kind::Word(words), _) => {
            Setting::Word(words[digit as usize % words.len()].to_string())
        }
        (Kind::Flag, _) => Setting::Flag(smallest),
        (_, 3) | (Kind::Length | Kind::Law, _) => return None,
        (
            Kind::Number { min, max }
            | Kind::Frequency { min, max }
            | Kind::NumberOr { min, max, .. },
            _,
        ) => {
            let extreme = if smallest { *min } else { *max };
            return (extreme.abs() < UNBOUNDED).then_some(Setting::Number(extreme));
        }
        (Kind::Count { min, max }, _) => {
            let extreme = if smallest { *min } else { *max };
            return (extreme < UNCOUNTED).then_some(Setting::Count(extreme));
        }
        (Kind::Span, _) => Setting::Span(Span::from_seconds(if smallest { 0 } else { 3600 })),
    })
}

/// Drives a controller with these settings, from this start, through `operations`. One that sends without a window has
/// nothing to check.
///
/// # Errors
/// The first promise that it breaks.
pub fn check(
    controller: &Controller,
    settings: &Settings,
    start: &Start,
    operations: &[Operation],
) -> Result<(), Violation> {
    let built = || (controller.build)(settings, start);
    let (Sending::Windowed(control), Sending::Windowed(second)) = (built(), built()) else {
        return Ok(());
    };
    check_control(control, second, operations)
}

/// The same for two controllers built alike.
///
/// # Errors
/// The first promise that they break.
pub fn check_control(
    control: Box<dyn CongestionControl>,
    second: Box<dyn CongestionControl>,
    operations: &[Operation],
) -> Result<(), Violation> {
    run(control, second, operations, PromiseSet::ALL, |_| {})
}

/// What is wrong, and which promise it breaks.
type Broken = (Promise, String);

/// The same, for the promises of `asked`; `see` is shown the window after each event.
fn run(
    mut control: Box<dyn CongestionControl>,
    second: Box<dyn CongestionControl>,
    operations: &[Operation],
    asked: PromiseSet,
    mut see: impl FnMut(f64),
) -> Result<(), Violation> {
    let rtt = Span::from_millis(100);
    let mut host = Driver { now: Time::ZERO, path: Path { rtt, base_rtt: rtt } };
    let wrong = |after| move |(promise, what)| Violation { promise, after, what };
    // What the thread did before is over.
    drop(fault::take());
    // A second one built alike, and a copy made midway, must behave the same.
    let mut twin = second;
    check_answers(&*control, &*twin, asked).map_err(wrong(0))?;
    for (index, operation) in operations.iter().enumerate() {
        if index == operations.len() / 2 {
            twin = control.clone();
        }
        let event = host.pass(operation);
        host.wake(&mut *control);
        host.wake(&mut *twin);
        let before = control.clone();
        check_answers(&*control, &*before, asked).map_err(wrong(index))?;
        host.tell(&mut *control, event);
        see(control.window().0);
        host.tell(&mut *twin, event);
        check_answers(&*control, &*twin, asked).map_err(wrong(index + 1))?;
        check_event(&host, event, before, &*control, asked).map_err(wrong(index + 1))?;
    }
    check_answers(&*control, &*control.clone(), asked).map_err(wrong(operations.len()))
}

/// The clock and the path of a flow.
struct Driver {
    now: Time,
    path: Path,
}

impl Driver {
    /// Moves the clock on, and completes the event with what is known by then.
    fn pass(&mut self, operation: &Operation) -> Event {
        self.now = Time(self.now.0.saturating_add(operation.after.0));
        let now = self.now;
        match operation.event {
            Event::Feedback(feedback) => {
                if let Some(rtt) = feedback.rtt {
                    self.path = Path { rtt, base_rtt: self.path.base_rtt.min(rtt) };
                }
                Event::Feedback(Feedback { now, ..feedback })
            }
            Event::Congestion(event) => Event::Congestion(Congestion { now, ..event }),
            Event::Adjustment(event) => Event::Adjustment(Adjustment { now, ..event }),
            Event::Lost(event) => {
                let sent = Time(now.0.saturating_sub(self.path.rtt.0));
                Event::Lost(Lost { now, sent, ..event })
            }
            other @ (Event::Sent(..) | Event::Recovered | Event::Restart) => other,
        }
    }

    /// Makes the timer call that is due before the event, if the controller asked for one: what it changes is not the
    /// event's doing.
    fn wake(&self, control: &mut dyn CongestionControl) {
        if control.wants().timer && control.timer().is_some_and(|time| time <= self.now) {
            control.on_timer(self.now, &self.path);
        }
    }

    /// Passes the event to a controller.
    fn tell(&self, control: &mut dyn CongestionControl, event: Event) {
        let wants = control.wants();
        match event {
            Event::Feedback(mut feedback) => {
                feedback.rate = feedback.rate.filter(|_| wants.delivery_rate);
                feedback.one_way_delay = feedback.one_way_delay.filter(|_| wants.one_way_delay);
                feedback.spurious = feedback.spurious.filter(|_| wants.spurious);
                feedback.router = feedback.router.filter(|_| wants.router_header);
                control.on_feedback(&feedback, &self.path);
            }
            Event::Congestion(event) => control.on_congestion(&event, &self.path),
            Event::Adjustment(event) => control.on_adjustment(&event, &self.path),
            Event::Sent(again, in_flight) => {
                if wants.departures {
                    control.on_sent(&Sent { now: self.now, again, in_flight }, &self.path);
                }
            }
            Event::Lost(lost) => {
                if wants.losses {
                    control.on_lost(&lost, &self.path);
                }
            }
            Event::Recovered => control.on_recovered(self.now, &self.path),
            Event::Restart => control.on_restart(self.now, &self.path),
        }
    }
}

/// Are its answers sound, and the same as its twin's?
fn check_answers(
    control: &dyn CongestionControl,
    twin: &dyn CongestionControl,
    asked: PromiseSet,
) -> Result<(), Broken> {
    let answers = |control: &dyn CongestionControl| {
        (control.window(), control.threshold(), control.pacing(), control.timer())
    };
    let (one, other) = (answers(control), answers(twin));
    // Code from outside that fails keeps its last answers, and nothing more can be said of it.
    if let Some(fault) = fault::take() {
        return Err((Promise::Runs, fault.what));
    }
    let (Segments(window), threshold, pacing, _) = one;
    asked.ensure(Promise::Window, window.is_finite() && window >= 1.0, || {
        format!("the window is {window}")
    })?;
    let threshold = threshold.map(|threshold| threshold.0);
    let sound = threshold.is_none_or(|value| value.is_finite() && value >= 1.0);
    asked.ensure(Promise::Threshold, sound, || format!("the threshold is {threshold:?}"))?;
    let positive = match pacing {
        Pacing::Unpaced => true,
        Pacing::Spread { gain } => gain.is_finite() && gain > 0.0,
        Pacing::Blocks(blocks) | Pacing::LooseBlocks(blocks) => blocks > 0,
        Pacing::Rate(rate) => rate.is_finite() && rate > 0.0,
    };
    asked.ensure(Promise::Pacing, positive, || format!("the pacing is {pacing:?}"))?;
    // What is no number is not equal to itself, but looks alike.
    let repeats = || one == other || format!("{one:?}") == format!("{other:?}");
    asked.ensure(Promise::Repeats, repeats(), || {
        let words = |(window, threshold, pacing, timer): (Segments, _, _, Option<Time>)| {
            let threshold: Option<f64> = Option::<Segments>::map(threshold, |it| it.0);
            let timer = timer.map(Time::seconds);
            let pacing: Pacing = pacing;
            format!(
                "window {}, threshold {threshold:?}, pacing {pacing:?}, timer {timer:?}",
                window.0
            )
        };
        let (one, other) = (words(one), words(other));
        format!(
            "the same events gave {one}; and {other}: it is not deterministic, or not copied whole"
        )
    })
}

/// Did this event keep the promises?
fn check_event(
    host: &Driver,
    event: Event,
    before: Box<dyn CongestionControl>,
    after: &dyn CongestionControl,
    asked: PromiseSet,
) -> Result<(), Broken> {
    let promises = after.promises();
    let (old, new) = (before.window().0, after.window().0);
    // Of a window that is no number nothing else can be said, and that much has been.
    if !old.is_finite() || !new.is_finite() {
        return Ok(());
    }
    let additive = |holds: bool, what: &dyn Fn() -> String| {
        asked.ensure(Promise::Additive, holds || !promises.additive, what)
    };
    match event {
        Event::Feedback(feedback) => {
            if promises.any_batching && asked.has(Promise::AnyBatching) {
                check_batching(host, &feedback, before, after, asked)?;
            }
            if promises.additive {
                check_growth(&feedback, promises, old, new, asked)?;
            }
        }
        Event::Congestion(Congestion { cause, .. }) => {
            let raised = || format!("{} raised the window from {old} to {new}", name(cause));
            if cause == Cause::Timeout {
                asked.ensure(Promise::TimeOut, new <= old, raised)?;
            }
            additive(new <= old, &raised)?;
            // RFC 5681, equation 4, for windows that begin above it.
            let floor = cause != Cause::Loss || old < 2.0 || new >= 2.0;
            additive(floor, &|| format!("a loss left {new} of {old}"))?;
        }
        Event::Adjustment(Adjustment { window, threshold, .. }) => {
            let window = window.0;
            additive(new == window, &|| format!("asked for the window {window} it has {new}"))?;
            let moved = threshold.is_none() || after.threshold() == threshold;
            additive(moved, &|| {
                let asked = threshold.map(|threshold| threshold.0);
                format!("asked for the threshold {asked:?} it keeps its own")
            })?;
        }
        Event::Sent(..) | Event::Lost(_) | Event::Recovered | Event::Restart => {
            additive(new == old, &|| format!("`{event}` took the window from {old} to {new}"))?;
        }
    }
    Ok(())
}

/// One acknowledgment of n segments has the effect of n acknowledgments of one.
fn check_batching(
    host: &Driver,
    feedback: &Feedback,
    mut single: Box<dyn CongestionControl>,
    batched: &dyn CongestionControl,
    asked: PromiseSet,
) -> Result<(), Broken> {
    let count = feedback.acked;
    for index in 0..count {
        let first = index == 0;
        let one = Feedback {
            acked: 1,
            // What is reported only once comes with the first.
            round_starts: feedback.round_starts && first,
            rtt: feedback.rtt.filter(|_| first),
            ..*feedback
        };
        host.tell(&mut *single, Event::Feedback(one));
    }
    let (single, batched) = (single.window().0, batched.window().0);
    asked.ensure(Promise::AnyBatching, count == 0 || single == batched, || {
        format!("{count} acknowledged at once give the window {batched}, one by one {single}")
    })
}

fn check_growth(
    feedback: &Feedback,
    promises: Promises,
    old: f64,
    new: f64,
    asked: PromiseSet,
) -> Result<(), Broken> {
    asked.ensure(Promise::Additive, new >= old, || {
        format!("an acknowledgment took the window from {old} to {new}")
    })?;
    if feedback.limited.may_grow() && !feedback.is_congested() {
        // Nothing grows faster than slow start: one segment per acknowledged segment (RFC 5681).
        let most = feedback.acked as f64 * (1.0 + 1e-9) + 1e-6;
        let slow = !promises.doubles_at_most || new - old <= most;
        asked.ensure(Promise::DoublesAtMost, slow, || {
            format!("{} acknowledged added {}", feedback.acked, new - old)
        })
    } else {
        asked.ensure(Promise::Additive, new == old, || {
            format!("the window grew from {old} to {new} though nothing said that it may")
        })
    }
}
