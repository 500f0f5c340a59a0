//! A controller that asks for everything that a host offers: rate samples, departures, calls by the clock, headers.

use longfat_control::{
    Cause, Congestion, CongestionControl, Controller, Feedback, Pacing, Path, Sending, Sent, Wants,
};
use longfat_scenario::Catalogue;
use longfat_units::{RouterHeader, Segments, Span, Time};

/// Paces at a multiple of the delivery rate that changes with the clock, and keeps two round trips of it in flight.
#[derive(Clone, Debug)]
struct Prober {
    /// Segments per second, once there was a sample.
    rate: Option<f64>,
    window: f64,
    gain: f64,
    alarm: Option<Time>,
    sent: u64,
}

impl CongestionControl for Prober {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        if let Some(sample) = feedback.rate {
            let seen = sample.per_second();
            let known = self.rate.unwrap_or(0.0);
            self.rate = Some(if sample.application_limited { known.max(seen) } else { seen });
        }
        if feedback.spurious == Some(Cause::Timeout) {
            self.window += 1.0;
        }
        if let Some(rate) = self.rate {
            let flight = 2.0 * rate * path.base_rtt.seconds();
            self.window = (flight + (self.sent % 3) as f64).clamp(2.0, 2000.0);
        }
        self.alarm.get_or_insert(feedback.now + Span::from_millis(7));
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.rate = self.rate.map(|rate| 0.8 * rate);
        self.window = if event.cause == Cause::Timeout { 1.0 } else { self.window.min(20.0) };
    }

    fn on_sent(&mut self, sent: &Sent, _: &Path) {
        self.sent += 1 + u64::from(sent.again);
    }

    fn timer(&self) -> Option<Time> {
        self.alarm
    }

    fn on_timer(&mut self, now: Time, _: &Path) {
        self.gain = 2.0 - self.gain;
        self.alarm = Some(now + Span::from_millis(31));
    }

    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn pacing(&self) -> Pacing {
        self.rate.map_or(Pacing::Unpaced, |rate| Pacing::Rate((self.gain * rate).max(1.0)))
    }

    fn wants(&self) -> Wants {
        Wants {
            pacing: true,
            delivery_rate: true,
            losses: true,
            departures: true,
            timer: true,
            own_recovery: false,
            spurious: true,
            router_header: true,
            one_way_delay: true,
        }
    }

    fn router_header(&self, _: &Path) -> RouterHeader {
        RouterHeader { window: Segments(self.window), ..RouterHeader::default() }
    }
}

/// The built-in entries, and the controller `prober`.
pub(crate) fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::built_in();
    let controller = Controller::new("prober", |_, start| {
        let window = start.window.0.clamp(1.0, 1000.0);
        Sending::Windowed(Box::new(Prober { rate: None, window, gain: 1.25, alarm: None, sent: 0 }))
    });
    catalogue.add_controller(controller).expect("the name is free");
    catalogue
}
