//! The trait of quinn, on the host of a controller.

use std::any::Any;
use std::time::{Duration, Instant};

use longfat_control::CongestionControl;
use longfat_units::{Span, Time};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};

use crate::host::{Acknowledged, Host, Trouble};

/// The controller's clock when it begins: packets that are acknowledged may have left before.
const BEGINNING: Time = Time(3600 * PICOSECONDS_PER_SECOND);
/// Where it stands still: it holds 213 days, and this leaves room for what a controller adds.
const END: Time = Time(200 * 24 * 3600 * PICOSECONDS_PER_SECOND);
const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

/// A controller of longfat on one path of a connection of quinn.
///
/// `Connection::congestion_state` of quinn gives a copy of it, to look at:
///
/// ```text
/// let state = connection.congestion_state().into_any().downcast::<longfat_quinn::Adapter>();
/// ```
#[derive(Clone, Debug)]
pub struct Adapter {
    host: Host,
    /// When it was made.
    origin: Instant,
    initial_window: u64,
    acknowledged: u64,
}

impl Adapter {
    /// A path of datagrams of up to `mtu` bytes that begins at `now`.
    pub(crate) fn new(control: Box<dyn CongestionControl>, now: Instant, mtu: u16) -> Self {
        let host = Host::new(control, mtu.into());
        Self { initial_window: host.window(), host, origin: now, acknowledged: 0 }
    }

    /// The controller: its window and threshold in segments, and its variables.
    pub fn control(&self) -> &dyn CongestionControl {
        self.host.control()
    }

    /// How often it has answered congestion: once for the losses and marks of a round trip, and for each time that the
    /// path counted as lost.
    pub fn responses(&self) -> u64 {
        self.host.responses()
    }

    /// What is in flight, in bytes of packets without the headers of UDP and IP.
    pub fn in_flight(&self) -> u64 {
        self.host.in_flight()
    }

    /// What has been acknowledged so far, in the same bytes. A packet that was lost is not among it, whatever became of
    /// its data.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// The controller's clock.
    fn time(&self, at: Instant) -> Time {
        let time = match at.checked_duration_since(self.origin) {
            Some(since) => BEGINNING.saturating_add(span(since)),
            None => Time(BEGINNING.since(Time(span(self.origin - at).0)).0),
        };
        time.min(END)
    }
}

fn span(duration: Duration) -> Span {
    let picoseconds = duration.as_nanos().saturating_mul(1000);
    Span(u64::try_from(picoseconds).unwrap_or(u64::MAX))
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.host.sent(self.time(now), bytes);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acknowledged = self.acknowledged.saturating_add(bytes);
        self.host.acknowledged(Acknowledged {
            now: self.time(now),
            sent: self.time(sent),
            bytes,
            application_limited: app_limited,
            smoothed: span(rtt.get()),
        });
    }

    fn on_end_acks(&mut self, _: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.host.end_acknowledgment(in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.host.congested(Trouble {
            now: self.time(now),
            sent: self.time(sent),
            persistent: is_persistent_congestion,
            lost: lost_bytes,
        });
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.host.set_mtu(new_mtu.into());
    }

    /// A byte more than the window: quinn sends while what is in flight stays below it, not at it.
    fn window(&self) -> u64 {
        self.host.window().saturating_add(1)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.host.window();
        metrics.ssthresh = self.host.threshold();
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
