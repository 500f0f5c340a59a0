//! The shell that turns a window law into a controller.
//!
//! It owns what every law shares: slow start and its threshold, the bounds of the window, time-outs, and the memory of
//! the epoch. A law knows only acknowledged segments and congestion, so feedback is reduced to these: segments count
//! when they are acknowledged cumulatively, and an acknowledgment that reports congestion adds nothing.

use longfat_units::{Segments, Span, Time};

use crate::bounds::{CEILING, FLOOR, first_window};
use crate::slow_start::Ramp;
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Feedback, Needs, Operating, Pacing, Path,
    Phase, Probe, Promises, Reaction, Sending, Start, WindowLaw,
};

/// A window law with slow start, limits and memory around it.
#[derive(Clone, Debug)]
pub struct Windowed<Law> {
    law: Law,
    window: f64,
    ramp: Ramp,
    epoch_window: Option<f64>,
    last_event: Option<Time>,
    /// What the law last said, at the start of a round trip or at congestion.
    pacing: Pacing,
}

impl<Law: WindowLaw + Clone + 'static> Windowed<Law> {
    /// A flow under `law` that begins as `start` says.
    pub fn new(law: Law, start: &Start) -> Self {
        let window = first_window(start.window);
        let ramp = Ramp::new(start);
        let epoch_window = (!ramp.holds(window)).then_some(window);
        Self { law, window, ramp, epoch_window, last_event: None, pacing: Pacing::Unpaced }
    }

    /// The same, in the form that a host takes.
    pub fn boxed(law: Law, start: &Start) -> Sending {
        Sending::Windowed(Box::new(Self::new(law, start)))
    }

    /// The law, to be told something that no formula depends on.
    #[inline]
    pub fn law_mut(&mut self) -> &mut Law {
        &mut self.law
    }

    fn phase(&self) -> Phase {
        if self.ramp.holds(self.window) { Phase::SlowStart } else { Phase::CongestionAvoidance }
    }

    #[inline]
    fn operating(&self, now: Time, path: &Path, spare: f64) -> Operating {
        Operating {
            window: Segments(self.window),
            epoch_window: self.epoch_window.map(Segments),
            rtt: path.rtt,
            base_rtt: path.base_rtt,
            since_event: self.last_event.map(|then| now.since(then)),
            phase: self.phase(),
            spare,
        }
    }

    /// Asks the law how the window should be sent. Blocks are for windows that grow by more than a segment per round
    /// trip in congestion avoidance; slow start never uses them.
    #[inline(never)]
    fn ask_pacing(&mut self, now: Time, path: &Path) {
        self.pacing = match self.law.pacing(&self.operating(now, path, 0.0)) {
            Pacing::Blocks(_) | Pacing::LooseBlocks(_) if self.phase() == Phase::SlowStart => {
                Pacing::Unpaced
            }
            pacing => pacing,
        };
    }

    /// Slow start, for this many acknowledged segments. Returns how many of them are left at its end.
    #[inline]
    fn rise(&mut self, now: Time, path: &Path, mut acked: u64) -> u64 {
        while acked > 0 && self.ramp.holds(self.window) {
            let step = self.law.slow_start(&self.operating(now, path, 0.0));
            self.window = self.ramp.rise(self.window, step);
            acked -= 1;
        }
        if !self.ramp.holds(self.window) {
            self.epoch_window = Some(self.window);
        }
        acked
    }
}

impl<Law: WindowLaw + Clone + 'static> Windowed<Law> {
    /// An acknowledgment without congestion, in slow start or when that is being watched. Apart from [`Self::grow`], so
    /// that nothing has to survive a call there.
    #[inline(never)]
    fn climb(&mut self, feedback: &Feedback, path: &Path) {
        if self.ramp.watches() && self.ramp.watch(feedback, self.window) {
            self.epoch_window = Some(self.window);
        }
        let mut left = feedback.acked;
        if feedback.limited.may_grow() && self.ramp.holds(self.window) {
            left = self.rise(feedback.now, path, left);
        }
        self.grow(feedback, path, left);
    }

    /// An acknowledgment without congestion, in congestion avoidance: `acked` segments for the law. Segment by segment,
    /// so that one acknowledgment of n moves the window exactly as n acknowledgments of one would.
    #[expect(clippy::inline_always, reason = "on the way of every acknowledgment")]
    #[inline(always)]
    fn grow(&mut self, feedback: &Feedback, path: &Path, mut acked: u64) {
        if feedback.limited.may_grow() {
            let spare = if feedback.spare == Some(true) { 1.0 } else { 0.0 };
            while acked > 0 {
                let gain = self.law.gain(&self.operating(feedback.now, path, spare));
                if gain < 0.0 {
                    self.shrink(gain);
                } else {
                    self.window = (self.window + gain).min(CEILING);
                }
                acked -= 1;
            }
        }
        if feedback.round_starts {
            self.ask_pacing(feedback.now, path);
        }
    }
}

impl<Law: WindowLaw> Windowed<Law> {
    /// A law that answers delay takes something back. The threshold falls with the window: otherwise slow start would
    /// undo it.
    #[cold]
    fn shrink(&mut self, gain: f64) {
        self.window = (self.window + gain).max(FLOOR.min(self.window));
        if self.ramp.holds(self.window) {
            self.ramp.leave(self.window);
        }
    }
}

impl<Law: WindowLaw + Clone + 'static> CongestionControl for Windowed<Law> {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        if feedback.acked == 0 || feedback.is_congested() {
            return;
        }
        if self.ramp.watches() || self.ramp.holds(self.window) {
            self.climb(feedback, path);
        } else {
            self.grow(feedback, path, feedback.acked);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        match event.cause {
            Cause::Timeout => {
                self.window = self.ramp.time_out(event);
                self.epoch_window = None;
            }
            Cause::Loss | Cause::Mark => {
                let share = self.law.give_up(&self.operating(event.now, path, 0.0), event.cause);
                // The floor applies to the threshold; it never raises a window that is already smaller.
                let reduced = (self.window * (1.0 - share)).max(FLOOR);
                self.ramp.leave(reduced);
                self.window = reduced.min(self.window);
                self.epoch_window = Some(reduced);
            }
        }
        self.last_event = Some(event.now);
        self.ask_pacing(event.now, path);
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.trim(event, path);
        self.epoch_window = (!self.ramp.holds(self.window)).then_some(self.window);
        self.ask_pacing(event.now, path);
    }

    fn growth_limit(&self, used: Segments, feedback: &Feedback, path: &Path) -> Option<Segments> {
        let spare = if feedback.spare == Some(true) { 1.0 } else { 0.0 };
        let at = Operating { window: used, ..self.operating(feedback.now, path, spare) };
        Some(Segments(match self.phase() {
            Phase::SlowStart => self.ramp.after_round(used.0, self.law.slow_start(&at)),
            Phase::CongestionAvoidance => used.0 + used.0 * self.law.gain(&at).max(0.0),
        }))
    }

    fn on_pause(&mut self, length: Span) {
        if let Some(last) = &mut self.last_event {
            *last += length;
        }
    }

    fn trim(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        self.pacing
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

    fn promises(&self) -> Promises {
        self.law.promises()
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
    use crate::SlowStart;

    /// Only paces.
    #[derive(Clone, Debug)]
    struct Paced(fn(&Operating) -> Pacing);

    /// At as many segments per second as seconds have passed since the last event.
    const BY_AGE: Paced =
        Paced(|at| at.since_event.map_or(Pacing::Unpaced, |since| Pacing::Rate(since.seconds())));

    impl WindowLaw for Paced {
        fn gain(&self, _: &Operating) -> f64 {
            0.0
        }

        fn give_up(&self, _: &Operating, _: Cause) -> f64 {
            0.0
        }

        fn pacing(&self, at: &Operating) -> Pacing {
            self.0(at)
        }
    }

    #[test]
    fn the_time_since_the_last_event_leaves_pauses_out() {
        let mut control = Windowed::new(BY_AGE, &Start::default());
        let path = Path { rtt: Span::from_millis(100), base_rtt: Span::from_millis(100) };
        let at = |seconds| Time::ZERO + Span::from_seconds(seconds);
        let loss = Congestion { now: at(1), cause: Cause::Loss, in_flight: 10, again: false };
        control.on_congestion(&loss, &path);
        control.on_pause(Span::from_seconds(7));
        control.on_feedback(&Feedback { round_starts: true, ..Feedback::at(at(10), 1) }, &path);
        assert_eq!(control.pacing(), Pacing::Rate(2.0));
    }

    /// Takes a quarter of a segment back for each one that is acknowledged.
    #[derive(Clone, Debug)]
    struct Falling;

    impl WindowLaw for Falling {
        fn gain(&self, _: &Operating) -> f64 {
            -0.25
        }

        fn give_up(&self, _: &Operating, _: Cause) -> f64 {
            0.5
        }

        fn heeds_delay(&self) -> bool {
            true
        }
    }

    #[test]
    fn what_a_law_takes_back_slow_start_does_not_undo() {
        let mut control = Windowed::new(Falling, &starting(10.0, 10.0));
        for (acked, window) in [(1, 9.75), (3, 9.0), (28, 2.0), (100, 2.0)] {
            control.on_feedback(&Feedback::at(at(1), acked), &PATH);
            assert_eq!(control.window(), Segments(window));
            assert_eq!(control.threshold(), Some(Segments(window)));
        }
        // Two segments are the least, but a smaller window is not lifted.
        let mut control = Windowed::new(Falling, &starting(1.0, 1.0));
        control.on_feedback(&Feedback::at(at(1), 1), &PATH);
        assert_eq!(control.window(), Segments(1.0));
    }

    const RTT: Span = Span::from_millis(100);
    const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_seconds(seconds)
    }

    fn adjusted(seconds: u64, window: f64) -> Adjustment {
        Adjustment { now: at(seconds), window: Segments(window), threshold: None }
    }

    fn starting(window: f64, threshold: f64) -> Start {
        let threshold = Some(Segments(threshold));
        Start { window: Segments(window), threshold, ..Start::default() }
    }

    #[test]
    fn a_law_is_asked_for_its_pacing_once_per_round_trip_and_at_congestion() {
        let mut control = Windowed::new(BY_AGE, &Start::default());
        let mut pacing_at = |seconds, round_starts| {
            control.on_feedback(&Feedback { round_starts, ..Feedback::at(at(seconds), 1) }, &PATH);
            control.pacing()
        };
        assert_eq!(pacing_at(3, true), Pacing::Unpaced);
        let event = Congestion { now: at(5), cause: Cause::Loss, in_flight: 10, again: false };
        control.on_congestion(&event, &PATH);
        assert_eq!(control.pacing(), Pacing::Rate(0.0));
        let mut pacing_at = |seconds, round_starts| {
            control.on_feedback(&Feedback { round_starts, ..Feedback::at(at(seconds), 1) }, &PATH);
            control.pacing()
        };
        assert_eq!(pacing_at(6, false), Pacing::Rate(0.0), "not within a round trip");
        assert_eq!(pacing_at(7, true), Pacing::Rate(2.0));
        // An acknowledgment of nothing in order ends no round trip. Another window of the host asks, too.
        let sacked = Feedback { round_starts: true, sacked: 3, ..Feedback::at(at(8), 0) };
        control.on_feedback(&sacked, &PATH);
        assert_eq!(control.pacing(), Pacing::Rate(2.0));
        control.on_adjustment(&adjusted(9, 10.0), &PATH);
        assert_eq!(control.pacing(), Pacing::Rate(4.0));
    }

    #[test]
    fn only_cumulative_acknowledgments_without_congestion_are_acknowledged_segments_of_a_law() {
        use crate::controller::reno::Reno;
        let start = Start { window: Segments(10.0), ..Start::default() };
        let mut control = Windowed::new(Reno, &start);
        let one = Feedback::at(at(1), 1);
        for none in [
            Feedback { sacked: 3, ..Feedback::at(at(1), 0) },
            Feedback { marked: 1, ..one },
            Feedback { recovery_begins: true, lost: 1, ..one },
        ] {
            control.on_feedback(&none, &PATH);
            assert_eq!(control.window(), Segments(10.0), "{none:?}");
        }
        control.on_feedback(&Feedback { sacked: 3, ..one }, &PATH);
        assert_eq!(control.window(), Segments(11.0), "slow start: one for the one in order");
    }

    #[test]
    fn slow_start_sends_no_blocks() {
        for (threshold, pacing) in [(20.0, Pacing::Unpaced), (10.0, Pacing::LooseBlocks(4))] {
            let mut control =
                Windowed::new(Paced(|_| Pacing::LooseBlocks(4)), &starting(10.0, threshold));
            control.on_feedback(&Feedback { round_starts: true, ..Feedback::at(at(1), 1) }, &PATH);
            assert_eq!(control.pacing(), pacing);
        }
    }

    /// An epoch begins where slow start reaches its threshold, and with a window of the host beyond it. A time-out forgets
    /// it.
    #[test]
    fn an_epoch_is_remembered_in_congestion_avoidance() {
        let mut control = Windowed::new(Falling, &starting(10.0, 12.0));
        assert_eq!(control.epoch_window, None);
        // Two of three segments reach the threshold, the third takes a quarter back.
        control.on_feedback(&Feedback::at(at(1), 3), &PATH);
        assert_eq!((control.window, control.epoch_window), (11.75, Some(12.0)));
        let event = |cause| Congestion { now: at(2), cause, in_flight: 10, again: false };
        control.on_congestion(&event(Cause::Timeout), &PATH);
        assert_eq!((control.window, control.epoch_window), (1.0, None));
        // The threshold is half of ten now.
        for (window, epoch) in [(8.0, Some(8.0)), (4.0, None)] {
            control.on_adjustment(&adjusted(3, window), &PATH);
            assert_eq!((control.window, control.epoch_window), (window, epoch));
        }
    }

    /// It begins as well where round trips that have grown end slow start (RFC 9406): with the window that the acknowledgment
    /// finds, before the law takes a quarter of a segment.
    #[test]
    fn an_epoch_begins_where_round_trips_end_slow_start() {
        let slow_start = SlowStart::HyStart;
        let mut control = Windowed::new(Falling, &Start { slow_start, ..Start::default() });
        let mut before = 0.0;
        let mut acked = 0;
        while control.threshold().is_none() {
            before = control.window;
            // Eight to a round trip, of 100 ms in the first one and 200 ms in the others.
            let rtt = Some(if acked < 8 { RTT } else { RTT * 2 });
            let ack = Feedback { rtt, round_starts: acked % 8 == 0, ..Feedback::at(at(1), 1) };
            control.on_feedback(&ack, &PATH);
            acked += 1;
        }
        // It has grown, and five conservative round trips are over.
        assert_eq!(acked, 8 + 5 * 8 + 1);
        assert_eq!((control.window, control.epoch_window), (before - 0.25, Some(before)));
    }
}
