//! The shell that turns a window law into a controller.
//!
//! It owns what every law shares: slow start and its threshold (RFC 5681, limited as in RFC 3742), the
//! floor of the window, time-outs, and the memory of the epoch.

use longfat_units::{Segments, Time};

use crate::{
    Ack, Cause, Congestion, CongestionControl, Operating, Pacing, Path, Phase, Probe, SlowStart,
    Start, WindowLaw,
};

/// The window never falls below this at a loss or a mark (RFC 5681, equation 4).
const FLOOR: f64 = 2.0;
/// The window after a time-out (RFC 5681, section 3.1: the loss window).
const AFTER_TIMEOUT: f64 = 1.0;
/// Limited slow start begins here (RFC 3742: `max_ssthresh`).
const LIMITED_ABOVE: f64 = 100.0;

/// A window law with slow start, limits and memory around it.
#[derive(Debug)]
pub struct Windowed<Law> {
    law: Law,
    window: f64,
    threshold: f64,
    epoch_window: Option<f64>,
    last_event: Option<Time>,
    slow_start: SlowStart,
}

impl<Law: WindowLaw + 'static> Windowed<Law> {
    /// A flow under `law` that begins as `start` says.
    pub fn new(law: Law, start: &Start) -> Self {
        Self {
            law,
            window: start.window.0,
            threshold: start.threshold.map_or(f64::INFINITY, |threshold| threshold.0),
            epoch_window: None,
            last_event: None,
            slow_start: start.slow_start,
        }
    }

    /// The same, boxed for a host.
    pub fn boxed(law: Law, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Self::new(law, start))
    }

    fn phase(&self) -> Phase {
        if self.window < self.threshold { Phase::SlowStart } else { Phase::CongestionAvoidance }
    }

    #[inline]
    fn operating(&self, now: Time, path: &Path, room: f64) -> Operating {
        Operating {
            window: Segments(self.window),
            epoch_window: self.epoch_window.map(Segments),
            rtt: path.rtt,
            base_rtt: path.base_rtt,
            since_event: self.last_event.map(|then| now.since(then)),
            phase: self.phase(),
            room,
        }
    }

    /// One acknowledged segment in slow start.
    fn rise(&mut self) {
        let step = self.law.slow_start(Segments(self.window));
        let step = match self.slow_start {
            SlowStart::Limited if self.window > LIMITED_ABOVE => {
                // RFC 3742, section 2: K = int(cwnd/(0.5 max_ssthresh)), then 1/K per segment.
                step.min(1.0 / (self.window / (0.5 * LIMITED_ABOVE)).floor())
            }
            _ => step,
        };
        self.window = (self.window + step).min(self.threshold);
        if self.window >= self.threshold {
            self.epoch_window = Some(self.window);
        }
    }
}

impl<Law: WindowLaw + 'static> CongestionControl for Windowed<Law> {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        if !ack.limited.may_grow() {
            return;
        }
        let room = f64::from(u8::from(ack.room == Some(true)));
        // Segment by segment, so that one acknowledgment of n moves the window as n of one do.
        for _ in 0..ack.acked {
            if self.phase() == Phase::SlowStart {
                self.rise();
            } else {
                self.window += self.law.gain(&self.operating(ack.now, path, room));
            }
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        match event.cause {
            Cause::Timeout => {
                if !event.again {
                    self.threshold = (event.in_flight as f64 / 2.0).max(FLOOR);
                }
                self.window = AFTER_TIMEOUT;
                self.epoch_window = None;
            }
            Cause::Loss | Cause::Mark => {
                let share = self.law.give_up(&self.operating(event.now, path, 0.0), event.cause);
                // The floor holds for the threshold; it never lifts a window that is smaller already.
                let reduced = (self.window * (1.0 - share)).max(FLOOR);
                self.threshold = reduced;
                self.window = reduced.min(self.window);
                self.epoch_window = Some(reduced);
            }
        }
        self.last_event = Some(event.now);
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn pacing(&self, path: &Path) -> Pacing {
        self.law.pacing(&self.operating(Time::ZERO, path, 0.0))
    }

    fn threshold(&self) -> Option<Segments> {
        self.threshold.is_finite().then_some(Segments(self.threshold))
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(window) = self.epoch_window {
            probe.value("epoch_window", window);
        }
    }
}
