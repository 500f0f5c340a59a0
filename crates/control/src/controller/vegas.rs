//! TCP Vegas: keeps a few segments of its own in the queue, and neither more nor less.
//!
//! L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE Journal on Selected
//! Areas in Communications 13(8), 1995; what it does to a network is in S. Low, L. Peterson, L. Wang, "Understanding
//! Vegas: A Duality Model", Journal of the ACM 49(2), 2002.
//!
//! Reno finds the capacity of a path by overflowing it. Vegas compares the rate that the window would have without queues
//! with the rate that it has; the difference, times the round trip without queues, is how many of its segments wait:
//!
//! ```text
//!     Expected = w/BaseRTT,   Actual = segments sent within RTT/RTT
//!     Diff = (Expected - Actual) BaseRTT                   the flow's own segments in queues
//!     once per round trip     Diff < α:  w ← w + 1,    Diff > β:  w ← w - 1,    otherwise it stays
//!     slow start              w doubles every other round trip; it ends when Diff > γ
//! ```
//!
//! `BaseRTT` is the smallest round trip seen, RTT the smallest in each round. Since every flow keeps
//! the same number of segments waiting, those who share a queue have the same rate whatever their round trips, and over
//! several queues their rates are proportionally fair: x q = α for a flow of rate x that waits q in all.
//!
//! | parameter | default | source |
//! |-----------|---------|--------|
//! | `alpha`   | 1       | the paper's Vegas-1,3; ns-2; Linux and ns-3 have 2 |
//! | `beta`    | 3       | the same; Linux and ns-3 have 4; a scenario may not make it smaller than `alpha` |
//! | `gamma`   | 1       | Linux and ns-3, the equivalent of one buffer |
//!
//! Expected, Actual, Diff and the three thresholds were checked against the manual of ns-3 (section Vegas, its equations
//! `vegasactual` to `vegasdiff`) and the manual page `cc_vegas(4)` of FreeBSD, which was written from the paper alone;
//! the text of the paper was not at hand.
//!
//! Deviations:
//!
//! - *RTT*: the paper takes the mean of a round. An acknowledgment that waits for a second segment lifts a mean, and every
//!   sample by itself; in small windows that looks like several segments in queues, from which two flows held back at a
//!   third of 10 Mbit/s. The smallest is that of an acknowledgment that did not wait, as in Linux. It is blind to queues
//!   that come and go within a round, so that slightly more than Diff may wait in the mean.
//! - *With fewer than three samples in a round*, or none, all of them may have waited: the window grows by one segment
//!   whatever they say, as in Linux. It therefore does not rest below three segments.
//! - *Losses* are found and repaired by the host, not by Vegas's own finer timers, and answered as by Reno; the paper
//!   does not say by how much.
//! - *After slow start* the window becomes what the path holds, w `BaseRTT`/RTT, and α. The paper only ends the doubling;
//!   by then up to a whole bandwidth-delay product may wait, which steps of one segment take thousands of round trips to
//!   remove where the product is thousands of segments.
//! - *The end of slow start* is judged by all acknowledgments of a round in which the window would double: it waits for
//!   the first that shows less than γ, and ends if there is none. The window is not larger for it, and an acknowledgment
//!   that waits ends nothing.
//! - Instead of the window, what is in flight is compared, so that a flow with little to send does not mistake its
//!   silence for a queue. The paper takes the two to be the same.
//! - The step of a round trip is spread over its acknowledgments, downwards too.
//! - In the fluid model the step changes from 1 to -1 gradually between α and β. Packets rest anywhere between the two;
//!   the fluid in the middle, as the duality model does, which has α = β.
//!
//! Domain: paths on which it is alone; loss-based flows fill the queue and leave it nothing. A flow that begins when others
//! already wait takes their queue for a part of the path, and keeps its own α beyond it. A route that becomes longer is
//! taken for a queue for good: the window falls to β/(1 - before/after), five segments after 100 Mbit/s went from 40 to
//! 100 ms, or 0.6 Mbit/s. An acknowledgment of two segments is no queue, but one of four or eight is: its first segment waits
//! for the last in every round, which is taken for a few segments in queues, and one flow that begins with ten segments rests
//! at 77 % of 10 Mbit/s at 40 ms with four, at 36 % at 100 ms with eight, one that begins with three at 57 and 27 %.
//!
//! Promised, held in `tests/theory/vegas.rs`: the direction of each step; slow start at every other round trip. In
//! `crates/sim/tests/delay.rs`: each flow keeps between α and β waiting, whatever their round trips, and with delayed
//! acknowledgments. In `crates/fluid/tests/delay.rs`: proportional fairness over a parking lot of links.

use longfat_units::parameter::{Parameter, Refusal, Settings, shortest};
use longfat_units::{Segments, Span};

use crate::bounds::{CEILING, FLOOR, first_window};
use crate::gradual::Gradual;
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Operating,
    Path, Probe, Promises, Ramp, Sending, Start, WindowLaw,
};

/// Vegas's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("vegas", build)
        .law(|settings| {
            let (alpha, beta) = thresholds(settings);
            Box::new(VegasLaw { alpha, beta })
        })
        .title("TCP Vegas: keeps a few segments of its own in the queue")
        .source("Brakmo and Peterson 1995")
        .family(Family::Delay)
        .parameters([
            Parameter::number("alpha", 1.0, 0.01, 1e6, "fewer segments of its own waiting: +1"),
            Parameter::number("beta", 3.0, 0.01, 1e6, "more of them: -1; no less than alpha"),
            Parameter::number("gamma", 1.0, 0.01, 1e6, "more of them end slow start"),
        ])
        .check(check)
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Vegas::new(settings, start)))
}

/// The thresholds must be in order.
fn check(settings: &Settings) -> Result<(), Refusal> {
    let (alpha, beta) = (settings.number("alpha"), settings.number("beta"));
    if alpha > beta {
        let reason = format!(
            "`alpha` ({}) must not exceed `beta` ({}): the window grows below the one and falls above the other",
            shortest(alpha),
            shortest(beta)
        );
        return Err(("alpha".into(), reason));
    }
    Ok(())
}

/// α and β; in order whatever a host that does not check says.
fn thresholds(settings: &Settings) -> (f64, f64) {
    let alpha = settings.number("alpha");
    (alpha, settings.number("beta").max(alpha))
}

/// The share of a round trip that is spent in queues.
#[inline]
pub(super) fn queueing_share(rtt: Span, base: Span) -> f64 {
    if rtt.0 == 0 { 0.0 } else { 1.0 - base.0.min(rtt.0) as f64 / rtt.0 as f64 }
}

/// The round trips that acknowledgments report, from one beginning of a round to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Samples {
    smallest: Option<Span>,
    count: u32,
}

impl Samples {
    /// An acknowledgment. Those of the round that it ends, if it does.
    #[inline]
    pub(super) fn hear(&mut self, feedback: &Feedback) -> Self {
        let over = if feedback.round_starts { std::mem::take(self) } else { Self::default() };
        if let Some(rtt) = feedback.rtt {
            self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
            self.count += 1;
        }
        over
    }

    /// Are they so many that one of them is believed not to have waited for a delayed acknowledgment?
    #[inline]
    pub(super) fn are_enough(&self) -> bool {
        self.count >= ENOUGH
    }

    /// The share of the smallest that is spent in queues.
    #[inline]
    pub(super) fn queueing_share(&self, base: Span) -> Option<f64> {
        self.smallest.map(|smallest| queueing_share(smallest, base))
    }
}

/// Slow start at every other round trip. What leaves in a round trip in which the window stands still waits only where
/// the path is full, not behind the bursts of a window that doubles, and so tells how full it is. Its acknowledgments are
/// those of the next round trip: the first of them that did not wait lets the window double, and where all of them did the
/// path is full.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EveryOther {
    /// May the window double in this round trip?
    doubles: bool,
    /// Has one of its acknowledgments shown room?
    room: bool,
    /// What was in flight when it began.
    in_flight: u64,
}

impl EveryOther {
    /// The next round trip begins. Returns the share of the one before that was spent in queues, if it has shown that the
    /// path is full.
    pub(super) fn next(&mut self, over: Samples, feedback: &Feedback, base: Span) -> Option<f64> {
        let full = self.doubles && !self.room;
        let doubles = !self.doubles;
        *self = Self { doubles, room: false, in_flight: feedback.in_flight };
        if full { over.queueing_share(base) } else { None }
    }

    /// Does the window grow on this acknowledgment, if so many segments in queues mean that the path is full?
    #[inline]
    pub(super) fn grows(&mut self, feedback: &Feedback, base: Span, most: f64) -> bool {
        if self.doubles && !self.room {
            let waiting = |rtt| self.in_flight as f64 * queueing_share(rtt, base);
            self.room = feedback.rtt.is_some_and(|rtt| waiting(rtt) <= most);
        }
        self.room
    }
}

/// One flow under Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: f64,
    ramp: Ramp,
    rise: EveryOther,
    step: Gradual,
    samples: Samples,
    /// The last comparison.
    diff: Option<f64>,
    alpha: f64,
    beta: f64,
    gamma: f64,
}

impl Vegas {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let (alpha, beta) = thresholds(settings);
        Self {
            window: first_window(start.window),
            ramp: Ramp::new(start),
            rise: EveryOther::default(),
            step: Gradual::default(),
            samples: Samples::default(),
            diff: None,
            alpha,
            beta,
            gamma: settings.number("gamma"),
        }
    }

    /// A round trip is over, in which there were these samples.
    fn compare(&mut self, over: Samples, feedback: &Feedback, path: &Path) {
        if self.ramp.holds(self.window) {
            if let Some(share) = self.rise.next(over, feedback, path.base_rtt) {
                self.window = (self.window * (1.0 - share) + self.alpha).clamp(FLOOR, CEILING);
                self.ramp.leave(self.window);
                self.step = Gradual::default();
            }
            return;
        }
        let share = over.queueing_share(path.base_rtt);
        self.diff = share.map(|share| feedback.in_flight as f64 * share);
        let step = match self.diff.filter(|_| over.are_enough()) {
            Some(diff) if diff > self.beta => -1.0,
            Some(diff) if diff >= self.alpha => 0.0,
            Some(_) | None => 1.0,
        };
        self.step = Gradual::over(step, self.window);
    }

    fn fall_to(&mut self, window: f64) {
        let reduced = window.max(FLOOR);
        self.ramp.leave(reduced);
        self.window = reduced.min(self.window);
        self.step = Gradual::default();
    }
}

impl CongestionControl for Vegas {
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
        if feedback.round_starts {
            self.compare(over, feedback, path);
        }
        let mut acked = feedback.acked;
        if self.ramp.holds(self.window) {
            let grows = self.rise.grows(feedback, path.base_rtt, self.gamma);
            while acked > 0 && self.ramp.holds(self.window) {
                if grows {
                    self.window = self.ramp.rise(self.window, 1.0);
                }
                acked -= 1;
            }
        }
        self.window = self.step.apply(self.window, acked, &mut self.ramp);
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        match event.cause {
            Cause::Loss | Cause::Mark => self.fall_to(self.window / 2.0),
            Cause::Timeout => {
                self.window = self.ramp.time_out(event);
                self.rise = EveryOther::default();
                self.step = Gradual::default();
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.trim(event, path);
        self.step = Gradual::default();
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
        if let Some(diff) = self.diff {
            probe.value("diff", diff);
        }
    }
}

/// Vegas as the fluid model drives it.
#[derive(Clone, Debug)]
struct VegasLaw {
    alpha: f64,
    beta: f64,
}

impl WindowLaw for VegasLaw {
    fn gain(&self, at: &Operating) -> f64 {
        let window = at.window.0;
        let diff = window * queueing_share(at.rtt, at.base_rtt);
        // Where α = β the step would jump, and no step of an integration is short enough for that.
        let half = ((self.beta - self.alpha) / 2.0).max(NARROW * self.alpha);
        let middle = f64::midpoint(self.alpha, self.beta);
        ((middle - diff) / half).clamp(-1.0, 1.0) / window
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.5
    }

    fn heeds_delay(&self) -> bool {
        true
    }
}

/// So many samples of a round are enough.
const ENOUGH: u32 = 3;

/// In the fluid the thresholds are at least this share of α on either side of their middle.
const NARROW: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;

    /// A round trip that is shorter than the smallest one known, or none, has no part in queues.
    #[test]
    fn no_round_trip_has_less_than_no_queue() {
        let base = Span::from_millis(100);
        let share = |millis| queueing_share(Span::from_millis(millis), base);
        assert_eq!([400, 200, 100, 50, 0].map(share), [0.75, 0.5, 0.0, 0.0, 0.0]);
        assert_eq!(queueing_share(Span::ZERO, Span::ZERO), 0.0);
    }
}
