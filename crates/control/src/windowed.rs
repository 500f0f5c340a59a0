//! The shell that turns a window law into a controller.
//!
//! It owns what every law shares: slow start and its threshold, the bounds of the window, time-outs, and the
//! memory of the epoch.

use longfat_units::{Segments, Time};

use crate::bounds::{AFTER_TIMEOUT, CEILING, FLOOR, first_window};
use crate::slow_start::Ramp;
use crate::{
    Ack, Cause, Congestion, CongestionControl, Needs, Operating, Pacing, Path, Phase, Probe,
    Reaction, Start, WindowLaw,
};

/// A window law with slow start, limits and memory around it.
#[derive(Debug)]
pub struct Windowed<Law> {
    law: Law,
    window: f64,
    ramp: Ramp,
    epoch_window: Option<f64>,
    last_event: Option<Time>,
}

impl<Law: WindowLaw + 'static> Windowed<Law> {
    /// A flow under `law` that begins as `start` says.
    pub fn new(law: Law, start: &Start) -> Self {
        let window = first_window(start.window);
        let ramp = Ramp::new(start);
        let epoch_window = (!ramp.holds(window)).then_some(window);
        Self { law, window, ramp, epoch_window, last_event: None }
    }

    /// The same, boxed for a host.
    pub fn boxed(law: Law, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Self::new(law, start))
    }

    fn phase(&self) -> Phase {
        if self.ramp.holds(self.window) { Phase::SlowStart } else { Phase::CongestionAvoidance }
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

    /// Slow start, for this many acknowledged segments. Returns how many of them are left at its end.
    #[inline(never)]
    fn rise(&mut self, mut acked: u64) -> u64 {
        while acked > 0 && self.ramp.holds(self.window) {
            let step = self.law.slow_start(Segments(self.window));
            self.window = self.ramp.rise(self.window, step);
            acked -= 1;
        }
        if !self.ramp.holds(self.window) {
            self.epoch_window = Some(self.window);
        }
        acked
    }
}

impl<Law: WindowLaw + 'static> CongestionControl for Windowed<Law> {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, path: &Path) {
        if self.ramp.watches() && self.ramp.watch(ack, self.window) {
            self.epoch_window = Some(self.window);
        }
        if !ack.limited.may_grow() {
            return;
        }
        // Segment by segment, so that one acknowledgment of n moves the window as n of one do.
        let mut acked = ack.acked;
        if self.ramp.holds(self.window) {
            acked = self.rise(acked);
        }
        let room = if ack.room == Some(true) { 1.0 } else { 0.0 };
        while acked > 0 {
            let gain = self.law.gain(&self.operating(ack.now, path, room));
            self.window = (self.window + gain).min(CEILING);
            acked -= 1;
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        match event.cause {
            Cause::Timeout => {
                if !event.again {
                    self.ramp.leave((event.in_flight as f64 / 2.0).max(FLOOR));
                }
                self.window = AFTER_TIMEOUT;
                self.epoch_window = None;
            }
            Cause::Loss | Cause::Mark => {
                let share = self.law.give_up(&self.operating(event.now, path, 0.0), event.cause);
                // The floor holds for the threshold; it never lifts a window that is smaller already.
                let reduced = (self.window * (1.0 - share)).max(FLOOR);
                self.ramp.leave(reduced);
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

    fn pacing(&self, now: Time, path: &Path) -> Pacing {
        self.law.pacing(&self.operating(now, path, 0.0))
    }

    fn reaction(&self) -> Reaction {
        self.law.reaction()
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn needs(&self) -> Needs {
        self.law.needs()
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(window) = self.epoch_window {
            probe.value("epoch_window", window);
        }
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::Span;

    use super::*;

    /// Paces at as many segments per second as seconds have passed since the last event.
    #[derive(Debug)]
    struct Clock;

    impl WindowLaw for Clock {
        fn gain(&self, _: &Operating) -> f64 {
            0.0
        }

        fn give_up(&self, _: &Operating, _: Cause) -> f64 {
            0.0
        }

        fn pacing(&self, at: &Operating) -> Pacing {
            at.since_event.map_or(Pacing::Unpaced, |since| Pacing::Rate(since.seconds()))
        }
    }

    #[test]
    fn pacing_is_told_the_time_since_the_last_event() {
        let rtt = Span::from_millis(100);
        let path = Path { rtt, base_rtt: rtt };
        let mut control = Windowed::new(Clock, &Start::default());
        let at = |seconds| Time::ZERO + Span::from_seconds(seconds);
        assert_eq!(control.pacing(at(3), &path), Pacing::Unpaced);
        let event = Congestion { now: at(5), cause: Cause::Loss, in_flight: 10, again: false };
        control.on_congestion(&event, &path);
        assert_eq!(control.pacing(at(7), &path), Pacing::Rate(2.0));
    }
}
