//! What a class is told: the reports of a host, as Python sees them.
//!
//! One object of each kind serves a flow for all its calls, and is filled in anew each time: an acknowledgment costs no
//! allocation. Times are in seconds.

use longfat_control::{
    Adjustment, Cause, Congestion, Feedback, Limited, Lost, Path, RateSample, Sent, SlowStart,
    Start,
};
use longfat_units::{Bytes, Segments, Span, Time};
use pyo3::prelude::*;

fn seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::seconds)
}

fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "loss",
        Cause::Mark => "mark",
        Cause::Timeout => "timeout",
    }
}

fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "None".to_owned(), |value| value.to_string())
}

/// The attributes of a view, each with what `help` says of it, its type and where it comes from, and then any other
/// methods. Views that are filled in anew are copied; in others nothing can change, so a copy need not be another one.
macro_rules! attributes {
    ($view:ident, filled in anew { $($attributes:tt)* } $($methods:tt)*) => {
        attributes! { $view { $($attributes)* }
            fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
                self.clone()
            }

            $($methods)*
        }
    };
    ($view:ident, fixed { $($attributes:tt)* } $($methods:tt)*) => {
        attributes! { $view { $($attributes)* }
            fn __deepcopy__<'py>(of: Bound<'py, Self>, _memo: Bound<'py, PyAny>) -> Bound<'py, Self> {
                of
            }

            $($methods)*
        }
    };
    ($view:ident { $($(#[$about:meta])* $name:ident: $kind:ty = |$it:ident| $value:expr;)* } $($methods:tt)*) => {
        #[pymethods]
        impl $view {
            $(
                $(#[$about])*
                #[getter]
                fn $name(&self) -> $kind {
                    let $it = &self.0;
                    $value
                }
            )*

            $($methods)*
        }
    };
}

/// What one acknowledgment reports. It is filled in anew for the next one: `copy()` keeps it.
#[pyclass(name = "Feedback", module = "longfat._longfat")]
#[derive(Clone, Debug)]
pub(crate) struct FeedbackView(pub(super) Feedback);

impl Default for FeedbackView {
    fn default() -> Self {
        Self(Feedback::at(Time::ZERO, 0))
    }
}

attributes! {
    FeedbackView, filled in anew {
        /// When it arrived, in seconds.
        now: f64 = |it| it.now.seconds();
        /// Segments acknowledged in order that no earlier acknowledgment had reported.
        acked: u64 = |it| it.acked;
        /// Segments above these, reported for the first time by a selective acknowledgment.
        sacked: u64 = |it| it.sacked;
        /// Both together.
        delivered: u64 = |it| it.delivered();
        /// Segments that newly count as lost.
        lost: u64 = |it| it.lost;
        /// Segments newly reported as marked.
        marked: u64 = |it| it.marked;
        /// Round trip of the segment that triggered it, in seconds; `None` where that is not known.
        rtt: Option<f64> = |it| seconds(it.rtt);
        /// Segments sent but neither acknowledged nor known to be lost, before it arrived.
        in_flight: u64 = |it| it.in_flight;
        /// What kept more from being in flight: "window", "pacing", "application", "receiver" or "recovery".
        limited: &'static str = |it| match it.limited {
            Limited::Window => "window",
            Limited::Pacing => "pacing",
            Limited::Receiver => "receiver",
            Limited::Recovery => "recovery",
            // `Application`, and whatever else may keep the window from being tested one day.
            _ => "application",
        };
        /// Whether the window was tested and nothing was congested: only then may it grow.
        may_grow: bool = |it| it.limited.may_grow() && !it.is_congested();
        /// True once per round trip.
        round_starts: bool = |it| it.round_starts;
        /// Whether loss recovery begins with it; `on_congestion` follows.
        recovery_begins: bool = |it| it.recovery_begins;
        /// AntiECN: whether every router had room; `None` where not every router can say.
        spare: Option<bool> = |it| it.spare;
        /// Segments per second that the network delivers, or `None`; with `wants = "delivery_rate"`.
        delivery_rate: Option<f64> = |it| it.rate.map(|sample| sample.per_second());
        /// The whole sample behind `delivery_rate`, or `None` as there.
        rate: Option<RateView> = |it| it.rate.map(RateView);
        /// Seconds that the data took, up to a constant, or `None`; with `wants = "one_way_delay"`.
        one_way_delay: Option<f64> = |it| seconds(it.one_way_delay);
        /// A "loss", "mark" or "timeout" that it shows to be spurious, or `None`; with `wants = "spurious"`.
        spurious: Option<&'static str> = |it| it.spurious.map(cause);
    }

    /// The same, as it is now.
    fn copy(&self) -> Self {
        self.clone()
    }

    fn __repr__(&self) -> String {
        let Feedback { now, acked, sacked, lost, marked, in_flight, .. } = self.0;
        let (now, rtt) = (now.seconds(), or_none(self.rtt()));
        format!(
            "Feedback(now={now}, acked={acked}, sacked={sacked}, lost={lost}, marked={marked}, rtt={rtt}, \
             in_flight={in_flight}, limited='{}')",
            self.limited()
        )
    }
}

/// How fast the network delivered segments, while the newest of them was on its way.
#[pyclass(name = "RateSample", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct RateView(RateSample);

attributes! {
    RateView, fixed {
        /// Segments delivered in `interval`.
        delivered: u64 = |it| it.delivered;
        /// The length of the sample in seconds.
        interval: f64 = |it| it.interval.seconds();
        /// Segments delivered before the newest one left.
        delivered_before: u64 = |it| it.delivered_before;
        /// Segments delivered in total so far.
        delivered_total: u64 = |it| it.delivered_total;
        /// Segments lost since the newest one left.
        lost: u64 = |it| it.lost;
        /// Segments in flight just after the newest one left.
        in_flight: u64 = |it| it.in_flight;
        /// Whether the application ran out of data in it: the path may be faster.
        application_limited: bool = |it| it.application_limited;
    }
}

/// What is known about the path.
#[pyclass(name = "Path", module = "longfat._longfat")]
#[derive(Clone, Debug)]
pub(crate) struct PathView(pub(super) Path);

impl Default for PathView {
    fn default() -> Self {
        Self(Path { rtt: Span::ZERO, base_rtt: Span::ZERO })
    }
}

attributes! {
    PathView, filled in anew {
        /// Smoothed round trip in seconds.
        rtt: f64 = |it| it.rtt.seconds();
        /// Smallest round trip seen, in seconds; `None` before the first one.
        // Before the first sample it is as long as the clock can count.
        base_rtt: Option<f64> = |it| (it.base_rtt.0 < u64::MAX).then(|| it.base_rtt.seconds());
    }

    fn __repr__(&self) -> String {
        format!("Path(rtt={}, base_rtt={})", self.rtt(), or_none(self.base_rtt()))
    }
}

/// A congestion event.
#[pyclass(name = "Congestion", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct CongestionView(pub(super) Congestion);

attributes! {
    CongestionView, fixed {
        /// When it was noticed, in seconds.
        now: f64 = |it| it.now.seconds();
        /// What signalled it: "loss", "mark" or "timeout".
        cause: &'static str = |it| cause(it.cause);
        /// Segments in flight before it.
        in_flight: u64 = |it| it.in_flight;
        /// Whether it is a time-out of data that had timed out before.
        again: bool = |it| it.again;
    }

    fn __repr__(&self) -> String {
        let Congestion { now, in_flight, again, .. } = self.0;
        let again = if again { "True" } else { "False" };
        let (now, cause) = (now.seconds(), self.cause());
        format!("Congestion(now={now}, cause='{cause}', in_flight={in_flight}, again={again})")
    }
}

/// The host asks for another window: part of it was not used, or the path is known from an earlier flow.
#[pyclass(name = "Adjustment", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct AdjustmentView(pub(super) Adjustment);

attributes! {
    AdjustmentView, fixed {
        /// When, in seconds.
        now: f64 = |it| it.now.seconds();
        /// The window from now on, in segments.
        window: f64 = |it| it.window.0;
        /// The threshold from now on, in segments; `None`: as it is.
        threshold: Option<f64> = |it| it.threshold.map(|Segments(threshold)| threshold);
    }
}

/// A segment that has left.
#[pyclass(name = "Sent", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct SentView(pub(super) Sent);

attributes! {
    SentView, fixed {
        /// When, in seconds.
        now: f64 = |it| it.now.seconds();
        /// Whether it had been sent before.
        again: bool = |it| it.again;
        /// Segments in flight, this one included.
        in_flight: u64 = |it| it.in_flight;
    }
}

/// A segment that has been found lost.
#[pyclass(name = "Lost", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct LostView(pub(super) Lost);

attributes! {
    LostView, fixed {
        /// When, in seconds.
        now: f64 = |it| it.now.seconds();
        /// Its place among the segments of the flow, from 0.
        segment: u64 = |it| it.segment;
        /// When it left, in seconds; if more than once, the last time.
        sent: f64 = |it| it.sent.seconds();
        /// Segments in flight just after it left.
        in_flight: u64 = |it| it.in_flight;
        /// Segments lost since it left, itself included.
        lost: u64 = |it| it.lost;
        /// Segments delivered in total so far.
        delivered_total: u64 = |it| it.delivered_total;
        /// Whether the application had run out of data before it left.
        application_limited: bool = |it| it.application_limited;
    }
}

/// How a flow begins.
#[pyclass(name = "Start", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct StartView(pub(super) Start);

attributes! {
    StartView, fixed {
        /// Initial window, in segments.
        window: f64 = |it| it.window.0;
        /// Initial slow-start threshold; `None`: as high as needed.
        threshold: Option<f64> = |it| it.threshold.map(|Segments(threshold)| threshold);
        /// How the window grows below it: "standard", "limited", "hystart" or "hystart++".
        slow_start: &'static str = |it| SlowStart::name(it.slow_start);
        /// Bytes of a segment on the wire, headers included.
        packet: u64 = |it| it.packet.0;
        /// Rate of the sender's own link in segments per second; `None` where it is not known.
        access: Option<f64> = |it| it.access;
        /// Segments to send in all; `None`: without end.
        transfer: Option<u64> = |it| it.transfer;
        /// Round trip measured before the first data leaves, in seconds; `None`: there was none.
        round_trip: Option<f64> = |it| seconds(it.round_trip);
        /// A number for everything that the flow decides by chance: another one for each flow and seed.
        chance: u64 = |it| it.chance;
    }

    /// As a flow begins whose scenario says nothing else; for trying a class out by hand.
    #[new]
    #[pyo3(signature = (window = 10.0, threshold = None, *, packet = 1500, access = None, transfer = None,
        chance = 0))]
    #[pyo3(
        text_signature = "(window=10.0, threshold=None, *, packet=1500, access=None, transfer=None, chance=0)"
    )]
    fn new(
        window: f64,
        threshold: Option<f64>,
        packet: u64,
        access: Option<f64>,
        transfer: Option<u64>,
        chance: u64,
    ) -> Self {
        Self(Start {
            window: Segments(window),
            threshold: threshold.map(Segments),
            packet: Bytes(packet),
            access,
            transfer,
            chance,
            ..Start::default()
        })
    }

    fn __repr__(&self) -> String {
        let (window, threshold, packet) = (self.window(), or_none(self.threshold()), self.packet());
        format!("Start(window={window}, threshold={threshold}, packet={packet})")
    }
}
