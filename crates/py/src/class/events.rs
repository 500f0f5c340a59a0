//! What a class is told: the reports of a host, as Python sees them.
//!
//! One object of each kind serves a flow for all its calls, and is filled in anew each time: an acknowledgment costs no
//! allocation. Times are in seconds.

use longfat_control::{
    Adjustment, Cause, Congestion, Feedback, Limited, Lost, Path, Sent, SlowStart, Start,
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

/// What one acknowledgment reports. It is filled in anew for the next one: `copy()` keeps it.
#[pyclass(name = "Feedback", module = "longfat._longfat")]
#[derive(Clone, Debug)]
pub(crate) struct FeedbackView(pub(super) Feedback);

impl Default for FeedbackView {
    fn default() -> Self {
        Self(Feedback::at(Time::ZERO, 0))
    }
}

#[pymethods]
impl FeedbackView {
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.seconds()
    }

    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked
    }

    #[getter]
    fn sacked(&self) -> u64 {
        self.0.sacked
    }

    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered()
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }

    #[getter]
    fn marked(&self) -> u64 {
        self.0.marked
    }

    #[getter]
    fn rtt(&self) -> Option<f64> {
        seconds(self.0.rtt)
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    fn limited(&self) -> &'static str {
        match self.0.limited {
            Limited::Window => "window",
            Limited::Pacing => "pacing",
            Limited::Receiver => "receiver",
            Limited::Recovery => "recovery",
            // `Application`, and whatever else may keep the window from being tested one day.
            _ => "application",
        }
    }

    #[getter]
    fn may_grow(&self) -> bool {
        self.0.limited.may_grow() && !self.0.is_congested()
    }

    #[getter]
    fn round_starts(&self) -> bool {
        self.0.round_starts
    }

    #[getter]
    fn recovery_begins(&self) -> bool {
        self.0.recovery_begins
    }

    #[getter]
    fn spare(&self) -> Option<bool> {
        self.0.spare
    }

    #[getter]
    fn delivery_rate(&self) -> Option<f64> {
        self.0.rate.map(|sample| sample.per_second())
    }

    #[getter]
    fn rate(&self) -> Option<RateView> {
        self.0.rate.map(|sample| RateView {
            delivered: sample.delivered,
            interval: sample.interval.seconds(),
            delivered_before: sample.delivered_before,
            delivered_total: sample.delivered_total,
            lost: sample.lost,
            in_flight: sample.in_flight,
            application_limited: sample.application_limited,
        })
    }

    #[getter]
    fn one_way_delay(&self) -> Option<f64> {
        seconds(self.0.one_way_delay)
    }

    #[getter]
    fn spurious(&self) -> Option<&'static str> {
        self.0.spurious.map(cause)
    }

    /// The same, as it is now.
    fn copy(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    fn __repr__(&self) -> String {
        let Feedback { now, acked, sacked, lost, marked, in_flight, .. } = self.0;
        let rtt = self.0.rtt.map_or_else(|| "None".to_owned(), |rtt| rtt.seconds().to_string());
        format!(
            "Feedback(now={}, acked={acked}, sacked={sacked}, lost={lost}, marked={marked}, rtt={rtt}, \
             in_flight={in_flight}, limited='{}')",
            now.seconds(),
            self.limited()
        )
    }
}

/// How fast the network delivered segments.
#[pyclass(name = "RateSample", module = "longfat._longfat", frozen, get_all)]
#[derive(Clone, Debug)]
pub(crate) struct RateView {
    delivered: u64,
    interval: f64,
    delivered_before: u64,
    delivered_total: u64,
    lost: u64,
    in_flight: u64,
    application_limited: bool,
}

#[pymethods]
impl RateView {
    /// Nothing in it can change, so a copy need not be another one.
    fn __deepcopy__<'py>(of: Bound<'py, Self>, _memo: Bound<'py, PyAny>) -> Bound<'py, Self> {
        of
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

#[pymethods]
impl PathView {
    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    #[getter]
    fn rtt(&self) -> f64 {
        self.0.rtt.seconds()
    }

    #[getter]
    fn base_rtt(&self) -> Option<f64> {
        // Before the first sample it is as long as the clock can count.
        (self.0.base_rtt.0 < u64::MAX).then(|| self.0.base_rtt.seconds())
    }

    fn __repr__(&self) -> String {
        let base = self.base_rtt().map_or_else(|| "None".to_owned(), |base| base.to_string());
        format!("Path(rtt={}, base_rtt={base})", self.rtt())
    }
}

/// A congestion event.
#[pyclass(name = "Congestion", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct CongestionView(pub(super) Congestion);

#[pymethods]
impl CongestionView {
    /// Nothing in it can change, so a copy need not be another one.
    fn __deepcopy__<'py>(of: Bound<'py, Self>, _memo: Bound<'py, PyAny>) -> Bound<'py, Self> {
        of
    }

    #[getter]
    fn now(&self) -> f64 {
        self.0.now.seconds()
    }

    #[getter]
    fn cause(&self) -> &'static str {
        cause(self.0.cause)
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    fn again(&self) -> bool {
        self.0.again
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

#[pymethods]
impl AdjustmentView {
    /// Nothing in it can change, so a copy need not be another one.
    fn __deepcopy__<'py>(of: Bound<'py, Self>, _memo: Bound<'py, PyAny>) -> Bound<'py, Self> {
        of
    }

    #[getter]
    fn now(&self) -> f64 {
        self.0.now.seconds()
    }

    #[getter]
    fn window(&self) -> f64 {
        self.0.window.0
    }

    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.0.threshold.map(|Segments(threshold)| threshold)
    }
}

/// A segment that has left.
#[pyclass(name = "Sent", module = "longfat._longfat", frozen, get_all)]
#[derive(Clone, Debug)]
pub(crate) struct SentView {
    now: f64,
    again: bool,
    in_flight: u64,
}

#[pymethods]
impl SentView {
    /// Nothing in it can change, so a copy need not be another one.
    fn __deepcopy__<'py>(of: Bound<'py, Self>, _memo: Bound<'py, PyAny>) -> Bound<'py, Self> {
        of
    }
}

impl From<&Sent> for SentView {
    fn from(sent: &Sent) -> Self {
        Self { now: sent.now.seconds(), again: sent.again, in_flight: sent.in_flight }
    }
}

/// A segment that has been found lost.
#[pyclass(name = "Lost", module = "longfat._longfat", frozen, get_all)]
#[derive(Clone, Debug)]
pub(crate) struct LostView {
    now: f64,
    segment: u64,
    in_flight: u64,
    lost: u64,
    delivered_total: u64,
    application_limited: bool,
}

#[pymethods]
impl LostView {
    /// Nothing in it can change, so a copy need not be another one.
    fn __deepcopy__<'py>(of: Bound<'py, Self>, _memo: Bound<'py, PyAny>) -> Bound<'py, Self> {
        of
    }
}

impl From<&Lost> for LostView {
    fn from(lost: &Lost) -> Self {
        let Lost { now, segment, in_flight, lost, delivered_total, application_limited } = *lost;
        let now = now.seconds();
        Self { now, segment, in_flight, lost, delivered_total, application_limited }
    }
}

/// How a flow begins.
#[pyclass(name = "Start", module = "longfat._longfat", frozen)]
#[derive(Clone, Debug)]
pub(crate) struct StartView(pub(super) Start);

#[pymethods]
impl StartView {
    /// Nothing in it can change, so a copy need not be another one.
    fn __deepcopy__<'py>(of: Bound<'py, Self>, _memo: Bound<'py, PyAny>) -> Bound<'py, Self> {
        of
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

    #[getter]
    fn window(&self) -> f64 {
        self.0.window.0
    }

    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.0.threshold.map(|Segments(threshold)| threshold)
    }

    #[getter]
    fn slow_start(&self) -> &'static str {
        SlowStart::name(self.0.slow_start)
    }

    #[getter]
    fn packet(&self) -> u64 {
        self.0.packet.0
    }

    #[getter]
    fn access(&self) -> Option<f64> {
        self.0.access
    }

    #[getter]
    fn transfer(&self) -> Option<u64> {
        self.0.transfer
    }

    #[getter]
    fn round_trip(&self) -> Option<f64> {
        seconds(self.0.round_trip)
    }

    #[getter]
    fn chance(&self) -> u64 {
        self.0.chance
    }

    fn __repr__(&self) -> String {
        let threshold = self.threshold().map_or_else(|| "None".to_owned(), |it| it.to_string());
        format!("Start(window={}, threshold={threshold}, packet={})", self.window(), self.packet())
    }
}
