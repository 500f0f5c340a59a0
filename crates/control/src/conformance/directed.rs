//! Promises that no random sequence of events would test: unreasonable starts, congestion without end, days without any.

use longfat_units::{Segments, Span, Time, fault};

use super::words::name;
use super::{Broken, Promise};
use crate::{Cause, Congestion, CongestionControl, Feedback, Path, Start};

const RTT: Span = Span::from_millis(100);
const PATH: Path = Path { rtt: RTT, base_rtt: RTT };
const TEN_DAYS: Span = Span::from_seconds(10 * 24 * 3600);
/// No window is larger.
const LARGEST: f64 = 1e12;

/// Makes a controller that begins as a start says.
type Make<'m> = &'m dyn Fn(&Start) -> Box<dyn CongestionControl>;

fn ack(now: Time, acked: u64) -> Feedback {
    Feedback { rtt: Some(RTT), ..Feedback::at(now, acked) }
}

fn congestion(now: Time, cause: Cause) -> Congestion {
    Congestion { now, cause, in_flight: 1000, again: false }
}

/// In congestion avoidance from the start.
fn avoiding(make: Make<'_>, window: f64) -> Box<dyn CongestionControl> {
    let window = Segments(window);
    make(&Start { window, threshold: Some(window), ..Start::default() })
}

/// The window of a controller, unless it has failed.
fn window(control: &dyn CongestionControl) -> Result<f64, Broken> {
    let window = control.window().0;
    match fault::take() {
        Some(fault) => Err((Promise::Runs, fault.what)),
        None => Ok(window),
    }
}

/// [`Promise::AnyStart`].
///
/// # Errors
/// If a start confuses it.
pub fn bears_any_start(make: Make<'_>) -> Result<(), Broken> {
    for first in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 1e300, f64::INFINITY] {
        for threshold in [None, Some(f64::NAN), Some(0.0), Some(f64::INFINITY)] {
            let start = Start {
                window: Segments(first),
                threshold: threshold.map(Segments),
                ..Start::default()
            };
            let mut control = make(&start);
            control.on_feedback(&ack(Time::ZERO, 3), &PATH);
            let window = window(&*control)?;
            if !(1.0..=LARGEST).contains(&window) {
                let what = format!(
                    "started with a window of {first} and the threshold {threshold:?}, it has a window of {window} \
                     after an acknowledgment of three"
                );
                return Err((Promise::AnyStart, what));
            }
        }
    }
    Ok(())
}

/// [`Promise::Floor`].
///
/// # Errors
/// If the window falls below it.
pub fn keeps_a_floor(make: Make<'_>) -> Result<(), Broken> {
    for (cause, floor) in [(Cause::Loss, 2.0), (Cause::Mark, 1.0), (Cause::Timeout, 1.0)] {
        let mut control = avoiding(make, 1e5);
        for second in 0..200 {
            let now = Time::ZERO + Span::from_seconds(second);
            control.on_congestion(&congestion(now, cause), &PATH);
        }
        let window = window(&*control)?;
        if window.is_nan() || window < floor {
            let what = format!(
                "from 100000 segments, 200 times {} left {window}, less than {floor}",
                name(cause)
            );
            return Err((Promise::Floor, what));
        }
    }
    Ok(())
}

/// [`Promise::Endures`], with so many segments acknowledged at once: 100 000 are few enough to keep an exponential law
/// exponential.
///
/// # Errors
/// If the window is not finite in the end, or beyond reason.
pub fn endures(make: Make<'_>, at_once: u64) -> Result<(), Broken> {
    let mut control = avoiding(make, 1e5);
    let mut now = Time::ZERO;
    for step in 1..=100 {
        now += Span(TEN_DAYS.0 / 100);
        control.on_feedback(&ack(now, at_once), &PATH);
        let window = window(&*control)?;
        if !(1.0..=LARGEST).contains(&window) {
            let what = format!(
                "after {step} acknowledgments of {at_once} segments, without a loss, the window is {window}"
            );
            return Err((Promise::Endures, what));
        }
    }
    Ok(())
}

/// [`Promise::Forgetful`], after so many round trips without a loss.
///
/// # Errors
/// If what went before shows.
pub fn forgets(make: Make<'_>, round_trips: u64) -> Result<(), Broken> {
    let differs = |what: String| Err((Promise::Forgetful, what));
    for first in [10.0, 1e5] {
        let mut old = avoiding(make, first);
        let mut now = Time::ZERO;
        for _ in 0..round_trips {
            now += RTT;
            old.on_feedback(&ack(now, 1), &PATH);
        }
        let grown = window(&*old)?;
        if !grown.is_finite() || grown < first {
            return differs(format!(
                "{round_trips} acknowledgments without a loss made {grown} of {first}"
            ));
        }
        if old.threshold() != Some(Segments(first)) {
            let threshold = old.threshold();
            return differs(format!(
                "without a loss its threshold went from {first} to {threshold:?}"
            ));
        }
        // From here it behaves like a flow that has just come to this window.
        let mut new = avoiding(make, grown);
        for time in ["a loss", "a second loss"] {
            now += RTT;
            let event = congestion(now, Cause::Loss);
            old.on_congestion(&event, &PATH);
            new.on_congestion(&event, &PATH);
            for after in [0, 1000] {
                for _ in 0..after {
                    now += RTT;
                    old.on_feedback(&ack(now, 10), &PATH);
                    new.on_feedback(&ack(now, 10), &PATH);
                }
                let (one, other) = (window(&*old)?, window(&*new)?);
                // That one is no number is said elsewhere.
                if one != other && !(one.is_nan() && other.is_nan()) {
                    return differs(format!(
                        "{after} acknowledgments after {time} at {grown} segments, a flow that came there in \
                         {round_trips} round trips has {one}, one that began there {other}"
                    ));
                }
            }
        }
    }
    Ok(())
}
