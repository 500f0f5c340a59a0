//! A flow without a network: an acknowledgment clock, and losses when the test says so.

use longfat_control::{
    Adjustment, CONTROLLERS, Cause, Congestion, CongestionControl, Controller, Feedback, Operating,
    Pacing, Path, Phase, Probe, Start, WindowLaw,
};
use longfat_units::parameter::{Setting, Settings};
use longfat_units::{Segments, Span, Time};

/// The controller of this crate that is called `name`.
pub(crate) fn listed(name: &str) -> &'static Controller {
    CONTROLLERS.iter().find(|entry| entry.name == name).expect("a listed controller")
}

/// The defaults of a controller with something changed.
fn changed(controller: &Controller, changes: &[(&'static str, Setting)]) -> Settings {
    let mut settings = controller.defaults();
    for (name, value) in changes {
        settings.set(*name, value.clone());
    }
    settings
}

/// The window law of the controller that is called `name`.
pub(crate) fn law(name: &str, changes: &[(&'static str, Setting)]) -> Box<dyn WindowLaw> {
    let controller = listed(name);
    controller.law.as_ref().expect("a window law")(&changed(controller, changes))
}

/// In congestion avoidance at `window` on an empty path of 100 ms, before any event.
pub(crate) fn operating(window: f64) -> Operating {
    let rtt = Span::from_millis(100);
    Operating {
        window: Segments(window),
        epoch_window: None,
        rtt,
        base_rtt: rtt,
        since_event: None,
        phase: Phase::CongestionAvoidance,
        spare: 0.0,
    }
}

/// One flow under one controller on a path of constant round trip.
#[derive(Clone, Debug)]
pub(crate) struct ClockedFlow {
    control: Box<dyn CongestionControl>,
    pub(crate) now: Time,
    rtt: Span,
    /// What a queue adds to it.
    pub(crate) queueing: Span,
    /// The fraction of a segment left over from a round or a slice.
    owed: f64,
}

impl ClockedFlow {
    /// In congestion avoidance at `window`.
    pub(crate) fn new(name: &str, changes: &[(&'static str, Setting)], window: f64) -> Self {
        let threshold = Some(Segments(window));
        let start = Start { window: Segments(window), threshold, ..Start::default() };
        Self::starting(name, changes, &start)
    }

    pub(crate) fn starting(name: &str, changes: &[(&'static str, Setting)], start: &Start) -> Self {
        let controller = listed(name);
        let settings = changed(controller, changes);
        let control = (controller.build)(&settings, start).windowed().expect("it has a window");
        Self {
            control,
            now: Time::ZERO,
            rtt: Span::from_millis(100),
            queueing: Span::ZERO,
            owed: 0.0,
        }
    }

    /// The same on another path.
    pub(crate) fn with_rtt(self, rtt: Span) -> Self {
        Self { rtt, ..self }
    }

    pub(crate) fn window(&self) -> f64 {
        self.control.window().0
    }

    /// Segments per second, if the controller asks for a rate.
    pub(crate) fn rate(&self) -> Option<f64> {
        match self.control.pacing() {
            Pacing::Rate(rate) => Some(rate),
            _ => None,
        }
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.control.pacing()
    }

    /// The host asks for another window, as after a pause.
    pub(crate) fn adjust(&mut self, window: f64) {
        let event = Adjustment { now: self.now, window: Segments(window), threshold: None };
        let path = self.path();
        self.control.on_adjustment(&event, &path);
    }

    /// A variable that the controller shows.
    pub(crate) fn variable(&self, name: &str) -> Option<f64> {
        struct One<'a>(&'a str, Option<f64>);
        impl Probe for One<'_> {
            fn value(&mut self, name: &str, value: f64) {
                if name == self.0 {
                    self.1 = Some(value);
                }
            }
        }
        let mut one = One(name, None);
        self.control.observe(&mut one);
        one.1
    }

    /// A round trip passes.
    pub(crate) fn pass_round_trip(&mut self) {
        self.now += self.rtt;
    }

    pub(crate) fn threshold(&self) -> Option<f64> {
        self.control.threshold().map(|threshold| threshold.0)
    }

    fn path(&self) -> Path {
        Path { rtt: self.rtt + self.queueing, base_rtt: self.rtt }
    }

    /// One acknowledged segment, now.
    pub(crate) fn ack(&mut self) {
        self.ack_with(|ack| ack);
    }

    /// One acknowledged segment, now, with something changed.
    pub(crate) fn ack_with(&mut self, change: impl FnOnce(Feedback) -> Feedback) {
        let feedback = change(Feedback { rtt: Some(self.path().rtt), ..Feedback::at(self.now, 1) });
        self.control.on_feedback(&feedback, &self.path());
    }

    pub(crate) fn congestion(&mut self, cause: Cause) {
        let in_flight = self.window() as u64;
        let event = Congestion { now: self.now, cause, in_flight, again: false };
        self.control.on_congestion(&event, &self.path());
    }

    pub(crate) fn lose(&mut self) {
        self.congestion(Cause::Loss);
    }

    /// As many acknowledgments, spread over `rtt`/`slices`, as a round of that length brings.
    pub(crate) fn slice(&mut self, slices: u64) {
        self.owed += self.window() / slices as f64;
        let segments = self.owed as u64;
        self.owed -= segments as f64;
        let length = Span(self.rtt.0 / slices);
        let from = self.now;
        for segment in 0..segments {
            self.now = from + Span(length.0 * segment / segments);
            self.ack();
        }
        self.now = from + length;
    }

    /// The acknowledgments of one windowful.
    pub(crate) fn round(&mut self) {
        self.slice(1);
    }

    /// The same, with so much longer a round trip because of queues. It begins a round of the host, with the window in
    /// flight.
    pub(crate) fn round_with_delay(&mut self, delay: Span) {
        let segments = self.window().round() as u64;
        for segment in 0..segments {
            self.ack_with(|ack| Feedback {
                rtt: ack.rtt.map(|rtt| rtt + delay),
                round_starts: segment == 0,
                in_flight: segments,
                ..ack
            });
        }
        self.now += self.rtt + delay;
    }

    /// Round trips until the window reaches `goal`; the last one counts in part.
    pub(crate) fn rounds_until(&mut self, goal: f64) -> f64 {
        let mut rounds = 0.0;
        loop {
            let segments = self.window();
            for segment in 0..segments.round() as u64 {
                if self.window() >= goal {
                    return rounds + segment as f64 / segments;
                }
                self.ack();
            }
            rounds += 1.0;
        }
    }

    /// The mean window over time when every 1/p-th segment is lost: measured over `epochs` epochs, after as many to
    /// settle.
    pub(crate) fn mean_window(&mut self, p: f64, epochs: u32) -> f64 {
        let segments = (1.0 / p).round() as u64;
        let mut rounds = 0.0;
        for epoch in 0..2 * epochs {
            for _ in 0..segments {
                self.ack();
                let part = 1.0 / self.window();
                self.now += Span((self.rtt.0 as f64 * part) as u64);
                rounds += if epoch < epochs { 0.0 } else { part };
            }
            self.lose();
        }
        segments as f64 * f64::from(epochs) / rounds
    }
}

/// The maximum that a flow of two segments, of which losses take none, shows after each of two losses.
pub(crate) fn maxima_at_two_segments(name: &str, variable: &str) -> [Option<f64>; 2] {
    let mut flow = ClockedFlow::new(name, &[], 2.0);
    [(); 2].map(|()| {
        flow.lose();
        assert_eq!(flow.window(), 2.0);
        flow.variable(variable)
    })
}

/// The windows before and after a time-out, and after a round trip more, of a flow whose slow start doubles four segments.
pub(crate) fn windows_around_a_time_out(name: &str) -> [f64; 3] {
    let start = Start { window: Segments(4.0), ..Start::default() };
    let mut flow = ClockedFlow::starting(name, &[], &start);
    flow.round_with_delay(Span::ZERO);
    let before = flow.window();
    flow.congestion(Cause::Timeout);
    let after = flow.window();
    flow.round_with_delay(Span::ZERO);
    [before, after, flow.window()]
}

/// Fails unless `measured` lies within `part` of `expected`.
#[track_caller]
pub(crate) fn assert_near(measured: f64, expected: f64, part: f64, what: &str) {
    let error = measured / expected - 1.0;
    assert!(error.abs() <= part, "{what}: {measured} is {:.2} % off {expected}", 100.0 * error);
}
