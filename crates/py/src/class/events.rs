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

/// The attributes of a view, each with its type and where it comes from, and then any other methods. Views that are
/// filled in anew are copied; in others nothing can change, so a copy need not be another one.
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
    ($view:ident { $($name:ident: $kind:ty = |$it:ident| $value:expr;)* } $($methods:tt)*) => {
        #[pymethods]
        impl $view {
            $(
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
        now: f64 = |it| it.now.seconds();
        acked: u64 = |it| it.acked;
        sacked: u64 = |it| it.sacked;
        delivered: u64 = |it| it.delivered();
        lost: u64 = |it| it.lost;
        marked: u64 = |it| it.marked;
        rtt: Option<f64> = |it| seconds(it.rtt);
        in_flight: u64 = |it| it.in_flight;
        limited: &'static str = |it| match it.limited {
            Limited::Window => "window",
            Limited::Pacing => "pacing",
            Limited::Receiver => "receiver",
            Limited::Recovery => "recovery",
            // `Application`, and whatever else may keep the window from being tested one day.
            _ => "application",
        };
        may_grow: bool = |it| it.limited.may_grow() && !it.is_congested();
        round_starts: bool = |it| it.round_starts;
        recovery_begins: bool = |it| it.recovery_begins;
        spare: Option<bool> = |it| it.spare;
        delivery_rate: Option<f64> = |it| it.rate.map(|sample| sample.per_second());
        rate: Option<RateView> = |it| it.rate.map(RateView);
        one_way_delay: Option<f64> = |it| seconds(it.one_way_delay);
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

/// How fast the network delivered segments.
#[pyclass(name = "RateSample", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct RateView(RateSample);

attributes! {
    RateView, fixed {
        delivered: u64 = |it| it.delivered;
        interval: f64 = |it| it.interval.seconds();
        delivered_before: u64 = |it| it.delivered_before;
        delivered_total: u64 = |it| it.delivered_total;
        lost: u64 = |it| it.lost;
        in_flight: u64 = |it| it.in_flight;
        application_limited: bool = |it| it.application_limited;
    }
}

/// What the host knows about the path.
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
        rtt: f64 = |it| it.rtt.seconds();
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
        now: f64 = |it| it.now.seconds();
        cause: &'static str = |it| cause(it.cause);
        in_flight: u64 = |it| it.in_flight;
        again: bool = |it| it.again;
    }

    fn __repr__(&self) -> String {
        let Congestion { now, in_flight, again, .. } = self.0;
        let again = if again { "True" } else { "False" };
        let (now, cause) = (now.seconds(), self.cause());
        format!("Congestion(now={now}, cause='{cause}', in_flight={in_flight}, again={again})")
    }
}

/// The host asks for another window.
#[pyclass(name = "Adjustment", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct AdjustmentView(pub(super) Adjustment);

attributes! {
    AdjustmentView, fixed {
        now: f64 = |it| it.now.seconds();
        window: f64 = |it| it.window.0;
        threshold: Option<f64> = |it| it.threshold.map(|Segments(threshold)| threshold);
    }
}

/// A segment that has left.
#[pyclass(name = "Sent", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct SentView(pub(super) Sent);

attributes! {
    SentView, fixed {
        now: f64 = |it| it.now.seconds();
        again: bool = |it| it.again;
        in_flight: u64 = |it| it.in_flight;
    }
}

/// A segment that has been found lost.
#[pyclass(name = "Lost", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct LostView(pub(super) Lost);

attributes! {
    LostView, fixed {
        now: f64 = |it| it.now.seconds();
        segment: u64 = |it| it.segment;
        in_flight: u64 = |it| it.in_flight;
        lost: u64 = |it| it.lost;
        delivered_total: u64 = |it| it.delivered_total;
        application_limited: bool = |it| it.application_limited;
    }
}

/// How a flow begins.
#[pyclass(name = "Start", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct StartView(pub(super) Start);

attributes! {
    StartView, fixed {
        window: f64 = |it| it.window.0;
        threshold: Option<f64> = |it| it.threshold.map(|Segments(threshold)| threshold);
        slow_start: &'static str = |it| SlowStart::name(it.slow_start);
        packet: u64 = |it| it.packet.0;
        access: Option<f64> = |it| it.access;
        transfer: Option<u64> = |it| it.transfer;
        round_trip: Option<f64> = |it| seconds(it.round_trip);
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
