//! FAST TCP: Vegas for large windows, with steps in proportion to the distance from the goal.
//!
//! C. Jin, D. Wei, S. Low, "FAST TCP for High-Speed Long-Distance Networks", draft-jin-wei-low-tcp-fast-01, 2003; D. Wei,
//! C. Jin, S. Low, S. Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance", IEEE/ACM Transactions on
//! Networking 14(6), 2006, for what the draft leaves open.
//!
//! At 10 Gbit/s and 100 ms Vegas would take two hours for its steps of one segment. FAST has the same goal, α of the flow's
//! own segments in queues, and moves towards it as fast as it is far from it:
//!
//! ```text
//!     once per round trip   w ← (w_old baseRTT/avgRTT + α + w)/2,    2 w at the most
//!     each acknowledgment   avgRTT ← (1 - η) avgRTT + η RTT,         η = min(3/w, 1/4)
//! ```
//!
//! `w_old` is the window one round trip ago, which has caused the delays that are seen now. At rest w (1 -
//! baseRTT/avgRTT) = α: a flow of rate x that waits q in all has x q = α, so n flows keep n α segments in their queue and
//! share it equally whatever their round trips; over several queues their rates are proportionally fair.
//!
//! | parameter | default | source |
//! |-----------|---------|--------|
//! | `alpha`   | 200     | the draft, section 5.4: 20, 200, 2000 segments where the bottleneck has 0.1, 1, 10 Gbit/s |
//!
//! A flow does not know the capacity of its bottleneck, and flows with different α share it in that proportion: set it for
//! the network. It is also how fast a window grows where nothing waits: by α/2 segments in the first round trip, and as
//! `w_old` lags behind, by α/3 in the long run.
//!
//! Deviations:
//!
//! - *η* is at most 1/4, as the article has it; the draft has 1/8 (section 5.2). The two differ below 24 segments.
//! - *The first rise* is that of Vegas, every other round trip, until α of its own segments wait by every acknowledgment
//!   of a round trip: one that waits for a second segment ends nothing. The window then becomes what the path holds and α.
//!   The paper doubles in each round trip as long as hardly anything waits, and paces: without that the bursts of a
//!   doubling window look like a full path.
//! - A change is spread over the acknowledgments of a round trip, as in the paper, but each is followed by the next one,
//!   as in the draft; the paper rests every other round trip.
//! - *Losses and marks* halve the window; the draft leaves them to TCP.
//! - Bursts are not smoothed: `pacing = "spread"` does that for any controller.
//! - In the fluid model the average follows at once, and the window of now takes the place of `w_old`: the law of the
//!   article, w ← (1 - γ) w + γ (w baseRTT/RTT + α) with γ = 1/2. Both rest at the same window; where nothing waits the
//!   fluid grows by α/2 per round trip, and random losses leave it a window that is a quarter to a third larger.
//!
//! Domain: buffers above n α. Like Vegas it loses to flows that fill the queue, and takes the queue that it finds when it
//! begins for a part of the path, and a route that becomes longer for a queue, for good: the window then rests at
//! α/(1 - before/after). After 100 Mbit/s went from 40 to 100 ms that is 333 segments, 39.9 Mbit/s.
//!
//! Promised, held in `tests/theory/fast.rs`: its steps and its rest. In `crates/sim/tests/delay.rs`: a queue of n α within
//! a segment per flow, equal shares for unequal round trips. In `crates/fluid/tests/delay.rs`: the same in equilibrium,
//! and stability over a single link for any distribution of round trips (A. Tang, K. Jacobsson, L. Andrew, S. Low, "An
//! Accurate Link Model and Its Application to Stability Analysis of FAST TCP", INFOCOM 2007).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span};

use super::vegas::{EveryOther, Samples, queueing_share};
use crate::bounds::{CEILING, FLOOR, first_window};
use crate::gradual::Gradual;
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Operating,
    Path, Probe, Promises, Ramp, Sending, Start, WindowLaw,
};

/// FAST's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("fast", build)
        .law(|settings| Box::new(FastLaw { alpha: settings.number("alpha") }))
        .title("FAST TCP: keeps a number of its segments in the queue, in steps as large as needed")
        .source("draft-jin-wei-low-tcp-fast-01; Wei et al. 2006")
        .family(Family::Delay)
        .parameters([Parameter::number(
            "alpha",
            200.0,
            0.1,
            1e7,
            "segments of its own that it keeps waiting: 20, 200, 2000 at 0.1, 1, 10 Gbit/s",
        )])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Fast::new(settings, start)))
}

/// One flow under FAST.
#[derive(Clone, Debug)]
pub struct Fast {
    window: f64,
    ramp: Ramp,
    /// `w_old`
    before: f64,
    change: Gradual,
    /// `avgRTT` in picoseconds, once there is a sample.
    average: Option<f64>,
    rise: EveryOther,
    /// Round trips in the first rise.
    samples: Samples,
    alpha: f64,
}

impl Fast {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let window = first_window(start.window);
        Self {
            window,
            ramp: Ramp::new(start),
            before: window,
            change: Gradual::default(),
            average: None,
            rise: EveryOther::default(),
            samples: Samples::default(),
            alpha: settings.number("alpha"),
        }
    }

    #[inline]
    fn measure(&mut self, rtt: Span) {
        let sample = rtt.0 as f64;
        let weight = (3.0 / self.window).min(0.25);
        self.average = Some(match self.average {
            Some(average) => average + weight * (sample - average),
            None => sample,
        });
    }

    /// A round trip is over, in which there were these samples.
    fn decide(&mut self, over: Samples, feedback: &Feedback, path: &Path) {
        let base = path.base_rtt;
        if self.ramp.holds(self.window) {
            if let Some(share) = self.rise.next(over, feedback, base) {
                self.window = (self.window * (1.0 - share) + self.alpha).clamp(FLOOR, CEILING);
                self.ramp.leave(self.window);
                self.rest();
            }
            return;
        }
        let Some(average) = self.average else { return };
        let goal = self.goal(self.before, self.window, average, base);
        self.before = self.window;
        let change = goal.min(2.0 * self.window) - self.window;
        self.change = Gradual::over(change, self.window);
    }

    /// What a round trip makes of a window that was `before` in the last one, where round trips take `average`.
    fn goal(&self, before: f64, window: f64, average: f64, base: Span) -> f64 {
        f64::midpoint(before * (base.0 as f64 / average).min(1.0) + self.alpha, window)
    }

    /// A new window, from which nothing has been learned yet.
    fn rest(&mut self) {
        self.before = self.window;
        self.change = Gradual::default();
        self.average = None;
    }

    fn fall_to(&mut self, window: f64) {
        let reduced = window.max(FLOOR);
        self.ramp.leave(reduced);
        self.window = reduced.min(self.window);
        self.rest();
    }
}

impl CongestionControl for Fast {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let over = self.samples.hear(feedback);
        if feedback.acked == 0 || feedback.is_congested() {
            return;
        }
        if self.ramp.watches() {
            self.ramp.watch(feedback, self.window);
        }
        if !feedback.limited.may_grow() {
            return;
        }
        if let Some(rtt) = feedback.rtt {
            self.measure(rtt);
        }
        if feedback.round_starts {
            self.decide(over, feedback, path);
        }
        let mut acked = feedback.acked;
        if self.ramp.holds(self.window) {
            let grows = self.rise.grows(feedback, path.base_rtt, self.alpha);
            while acked > 0 && self.ramp.holds(self.window) {
                if grows {
                    self.window = self.ramp.rise(self.window, 1.0);
                    self.before = self.window;
                }
                acked -= 1;
            }
        }
        self.window = self.change.apply(self.window, acked, &mut self.ramp);
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        match event.cause {
            Cause::Loss | Cause::Mark => self.fall_to(self.window / 2.0),
            Cause::Timeout => {
                self.window = self.ramp.time_out(event);
                self.rise = EveryOther::default();
                self.rest();
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.trim(event, path);
        self.rest();
    }

    fn growth_limit(&self, used: Segments, _: &Feedback, path: &Path) -> Option<Segments> {
        let used = used.0;
        if self.ramp.holds(self.window) {
            return Some(Segments(self.ramp.after_round(used, 1.0)));
        }
        let base = path.base_rtt;
        let goal = self.goal(used, used, self.average.unwrap_or(base.0 as f64), base);
        Some(Segments(goal.clamp(used, 2.0 * used)))
    }

    fn trim(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn promises(&self) -> Promises {
        Promises { any_batching: true, ..Promises::NONE }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(average) = self.average {
            probe.value("average_rtt", Span(average as u64).seconds());
        }
    }
}

/// FAST as the fluid model drives it: half of the way to the goal per round trip, from the window of now.
#[derive(Clone, Debug)]
struct FastLaw {
    alpha: f64,
}

impl WindowLaw for FastLaw {
    fn gain(&self, at: &Operating) -> f64 {
        let window = at.window.0;
        let waiting = window * queueing_share(at.rtt, at.base_rtt);
        (0.5 * (self.alpha - waiting)).min(window) / window
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.5
    }

    fn heeds_delay(&self) -> bool {
        true
    }
}
