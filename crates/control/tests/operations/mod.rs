//! Arbitrary sequences of events, and what holds after each of them, whatever the controller: shared by the
//! property test and the fuzz target.

use longfat_control::{
    Ack, Cause, Congestion, CongestionControl, Controller, Limited, Pacing, Path, SlowStart, Start,
};
use longfat_units::parameter::{Kind, Parameter, Setting, Settings};
use longfat_units::{Segments, Span, Time};

/// Something that happens to a flow, some time after what happened before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    after: Span,
    event: Event,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Ack { acked: u64, rtt: Option<Span>, round_starts: bool, limited: Limited, room: Option<bool> },
    Congestion { cause: Cause, in_flight: u64, again: bool },
}

impl Operation {
    /// Any four bytes are an operation.
    pub(crate) fn from_bytes([kind, amount, time, flags]: [u8; 4]) -> Self {
        let event = if kind % 8 < 6 {
            let rtt = Span(1_000_000 << (time % 24));
            let limited = match kind / 8 % 8 {
                0 => Limited::Application,
                1 => Limited::Receiver,
                2 => Limited::Recovery,
                3 => Limited::Pacing,
                _ => Limited::Window,
            };
            Event::Ack {
                acked: 1 << (amount % 9),
                rtt: (flags & 1 == 0).then_some(rtt),
                round_starts: flags & 2 == 0,
                limited,
                room: (flags & 4 == 0).then_some(flags & 8 == 0),
            }
        } else {
            let cause = [Cause::Loss, Cause::Mark, Cause::Timeout][usize::from(kind / 8 % 3)];
            Event::Congestion { cause, in_flight: 1 << (amount % 30), again: flags & 1 == 0 }
        };
        Self { after: Span(1000 << (flags / 16 * 3)), event }
    }
}

/// Any four bytes are a way to begin.
pub(crate) fn start_from_bytes([window, threshold, kind, other]: [u8; 4]) -> Start {
    Start {
        window: Segments(f64::from(1_u32 << (window % 25))),
        threshold: (threshold % 4 != 0).then(|| Segments(f64::from(1_u32 << (threshold / 4 % 25)))),
        slow_start: [SlowStart::Standard, SlowStart::Limited, SlowStart::HyStart]
            [usize::from(kind % 3)],
        transfer: (other % 4 != 0).then(|| 1 << (other / 4 % 32)),
        round_trip: (other % 5 != 0).then(|| Span::from_millis(u64::from(other))),
        access: (kind / 3 % 2 == 0).then(|| f64::from(1_u32 << (kind / 6 % 31))),
    }
}

/// Settings of a controller: the defaults, and for every parameter that a digit of `choice` picks its smallest or
/// largest value, or another word.
pub(crate) fn settings(controller: &Controller, mut choice: u32) -> Settings {
    let mut settings = controller.defaults();
    for parameter in &controller.parameters {
        if let Some(value) = other_value(parameter, choice % 4) {
            settings.set(parameter.name.clone(), value);
        }
        choice /= 4;
    }
    settings
}

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
        ) => Setting::Number(if smallest { *min } else { *max }),
        (Kind::Count { min, max }, _) => Setting::Count(if smallest { *min } else { *max }),
        (Kind::Span, _) => Setting::Span(Span::from_seconds(if smallest { 0 } else { 3600 })),
    })
}

/// Drives a controller through `operations`.
///
/// # Panics
/// When something that holds for every controller does not.
pub(crate) fn check(
    controller: &Controller,
    settings: &Settings,
    start: &Start,
    operations: &[Operation],
) {
    let mut control = (controller.build)(settings, start);
    let mut now = Time::ZERO;
    let mut path = Path { rtt: Span::from_millis(100), base_rtt: Span::from_millis(100) };
    check_window(&*control, 1.0);
    for operation in operations {
        now = Time(now.0.saturating_add(operation.after.0));
        let before = control.window().0;
        match operation.event {
            Event::Ack { acked, rtt, round_starts, limited, room } => {
                if let Some(rtt) = rtt {
                    path = Path { rtt, base_rtt: path.base_rtt.min(rtt) };
                }
                let ack = Ack { now, acked, rtt, round_starts, limited, room };
                control.on_ack(&ack, &path);
                check_growth(before, control.window().0, acked, limited);
            }
            Event::Congestion { cause, in_flight, again } => {
                let event = Congestion { now, cause, in_flight, again };
                control.on_congestion(&event, &path);
                let after = control.window().0;
                assert!(after <= before, "{cause:?} raised the window from {before} to {after}");
                if cause == Cause::Loss {
                    assert!(after >= before.min(2.0), "a loss left {after} of {before}");
                }
            }
        }
        check_window(&*control, 1.0);
        check_pacing(control.pacing(now, &path));
    }
}

fn check_window(control: &dyn CongestionControl, floor: f64) {
    let window = control.window().0;
    assert!(window.is_finite() && window >= floor, "a window of {window}");
    if let Some(Segments(threshold)) = control.threshold() {
        assert!(threshold.is_finite() && threshold >= 1.0, "a threshold of {threshold}");
    }
}

fn check_growth(before: f64, after: f64, acked: u64, limited: Limited) {
    assert!(after >= before, "an acknowledgment took the window from {before} to {after}");
    if limited.may_grow() {
        // Nothing grows faster than slow start: one segment per acknowledged segment (RFC 5681).
        let most = acked as f64 * (1.0 + 1e-9) + 1e-6;
        assert!(after - before <= most, "{acked} acknowledged added {}", after - before);
    } else {
        assert!(after == before, "the window grew though {limited:?} kept it untested");
    }
}

fn check_pacing(pacing: Pacing) {
    let positive = match pacing {
        Pacing::Unpaced => true,
        Pacing::Spread { gain } => gain.is_finite() && gain > 0.0,
        Pacing::Blocks(blocks) => blocks > 0,
        Pacing::Rate(rate) => rate.is_finite() && rate > 0.0,
    };
    assert!(positive, "{pacing:?}");
}
