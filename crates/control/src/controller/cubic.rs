//! CUBIC: a window that is a cubic function of the time since the last loss.
//!
//! L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert, "CUBIC for Fast and Long-Distance Networks", RFC 9438, 2023; after
//! S. Ha, I. Rhee, L. Xu, ACM SIGOPS Operating Systems Review 42(5), 2008.
//!
//! What most hosts run today, and so the peer that anything new must live with. Growth follows the clock, not the round
//! trip, so flows of different round trips grow equally fast; it is steep far from the window `W_max` of the last loss,
//! flat around it, and steep again beyond:
//!
//! ```text
//!     W_cubic(t) = C (t - K)³ + W_max,      K = ∛((W_max - cwnd_epoch)/C)                       (1), (2)
//!     each acknowledged segment    w ← w + (target - w)/w,  target = clamp(W_cubic(t + RTT), w, 1.5 w)
//!     at the same time             W_est ← W_est + α/w,     α = 3 (1 - β)/(1 + β); 1 once W_est ≥ cwnd_prior   (4)
//!     where W_cubic(t) < W_est     w ← W_est                (Reno-friendly region)
//!     each congestion event        W_max ← w;  w ← β w;     if w < W_max already: W_max ← w (1 + β)/2
//! ```
//!
//! t counts from the first acknowledgment that may grow the window after slow start or recovery (`t_epoch`), K is
//! the time back to `W_max`. In seconds; windows in segments. The last rule is fast convergence: a flow that
//! loses below its last maximum makes room.
//!
//! | parameter          | default | source            |
//! |--------------------|---------|-------------------|
//! | `c`                | 0.4     | RFC 9438, section 5.1, segments/s³ |
//! | `beta`             | 0.7     | section 4.6: what is *kept* of the window |
//! | `fast_convergence` | true    | section 4.7; the RFC advises against it where a flow is alone |
//! | `blind_growth`     | 0       | not in the RFC: in Linux each acknowledged segment adds 0.05 or more while no loss has told a maximum |
//!
//! How the rest of the RFC is met:
//!
//! - *Without a maximum*, after a slow start that no loss ended and after a time-out (sections 4.8 and 4.10), K = 0 and
//!   `W_max` = `cwnd_epoch`. The same applies where fast convergence or the floor leaves `W_max` below the window.
//!   After such a slow start `cwnd_prior` is the window too, so α is 1 from the start; after a time-out it is the
//!   window before it.
//! - *Application-limited and idle times* do not count (sections 4.2 and 5.8): the clock of the epoch stands still from
//!   the first acknowledgment that finds the window not fully used until the first that finds it fully used again. Where the
//!   host lets a window in use only in part grow (draft-ietf-ccwg-ratelimited-increase), it runs while it may,
//!   but not while nothing is in flight. limit(m) is then the larger of m + α and `clamp(W_cubic(t + RTT), m, 1.5 m)`.
//! - *Time-outs* (section 4.8): the threshold becomes β times the data in flight, the window one segment.
//! - *Marks* (section 4.6) may take the window to one segment, losses to two; the threshold stays two or more.
//! - *Events that prove spurious* (section 4.9): the host goes back to a copy from before the event, which holds all
//!   that the RFC saves; the simulator does with `recovery = "rack"`, and only before the recovery ends, so never from
//!   a window that has outgrown `cwnd_prior`.
//!
//! Deviations:
//!
//! - Each acknowledged segment adds (target - w)/w, where the RFC says each new acknowledgment (sections 4.4 and 4.5):
//!   with delayed acknowledgments its window would lag behind the cubic, and depend on how they are batched.
//! - A reduction is based on the window, not on the data in flight, as section 4.6 allows where the window does not
//!   grow while it is not fully used; the shell of this crate never lets it.
//! - "cwnd SHOULD be set to `W_est`": it is raised to it, never lowered by an acknowledgment.
//! - A window at the threshold is past slow start; section 4.10 has it still within, RFC 5681 allows either.
//! - A window of one segment that goes on being marked is sent once per round trip: the wait for the retransmission
//!   timer that section 4.6 takes over from RFC 3168 would be the host's, and the simulator has none.
//! - Where the host reduces an unused window, a new stage begins, with the `W_max` of the last one.
//! - Slow start is a key of the flow, standard unless it says `hystart++`, which the RFC recommends, or `hystart`, which
//!   Linux has, so that controllers are compared with the same start.
//!
//! Domain: any window. The cube is taken of seconds as `f64`: at 10⁷ segments, K = 196 s, it is exact to 10⁻⁸
//! segments.
//!
//! Promised by the RFC, held in `tests/theory/cubic.rs`: `W_max` at t = K and the mirror image at 2K; the mean
//! windows of its tables 1 and 2; Reno's share in the Reno-friendly region.
//!
//! This file is the worked example of a controller that is not a window law: it implements [`CongestionControl`]
//! itself, using nothing that other crates cannot use (`tests/outside.rs` compiles it as if it were in one).

use longfat_units::math::cbrt;
use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{PICOSECONDS_PER_SECOND, Segments, Span, Time};

use crate::bounds::{AFTER_TIMEOUT, CEILING, FLOOR, first_window};
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Feedback, Path, Probe, Promises,
    Ramp, Sending, Start,
};

/// CUBIC's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("cubic", build)
        .title("CUBIC: a cubic function of the time since the last loss")
        .source("RFC 9438")
        .parameters([
            Parameter::number("c", 0.4, 1e-4, 100.0, "steepness of the cubic, in segments/s^3"),
            Parameter::number(
                "beta",
                0.7,
                0.5,
                0.99,
                "share of the window kept at a congestion event",
            ),
            Parameter::flag(
                "fast_convergence",
                true,
                "give up more after losing below the last maximum",
            ),
            Parameter::number(
                "blind_growth",
                0.0,
                0.0,
                1.0,
                "least that an acknowledged segment adds until a loss has told a maximum, in segments; 0.05 in Linux",
            ),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Cubic::new(settings, start)))
}

/// The window after a mark is at least this (section 4.6).
const FLOOR_AT_MARK: f64 = 1.0;

/// One flow under CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: f64,
    ramp: Ramp,
    epoch: Option<Epoch>,
    /// `W_max`, unless slow start has to find it first.
    w_max: Option<f64>,
    /// The window at the last setting of the threshold; none before.
    cwnd_prior: f64,
    c: f64,
    beta: f64,
    /// α of equation 4.
    alpha: f64,
    fast_convergence: bool,
    blind_growth: f64,
    /// The least growth for each acknowledged segment: the parameter, until a maximum is known.
    least_growth: f64,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `t_epoch`, moved on by the times that do not count.
    start: Time,
    /// Since when the window is not tested.
    untested_since: Option<Time>,
    k: f64,
    /// `W_max` of this stage.
    plateau: f64,
    w_est: f64,
}

impl Cubic {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let beta = settings.number("beta");
        Self {
            window: first_window(start.window),
            ramp: Ramp::new(start),
            epoch: None,
            w_max: None,
            cwnd_prior: 0.0,
            c: settings.number("c"),
            beta,
            alpha: 3.0 * (1.0 - beta) / (1.0 + beta),
            fast_convergence: settings.flag("fast_convergence"),
            blind_growth: settings.number("blind_growth"),
            least_growth: settings.number("blind_growth"),
        }
    }

    /// Equation 2, with the exceptions of sections 4.8 and 4.10.
    #[cold]
    fn begin(&mut self, now: Time) -> Epoch {
        let plateau = self.w_max.map_or(self.window, |w_max| w_max.max(self.window));
        self.w_max = Some(plateau);
        let k = cbrt((plateau - self.window) / self.c);
        Epoch { start: now, untested_since: None, k, plateau, w_est: self.window }
    }

    /// Congestion avoidance, for this many acknowledged segments.
    #[inline]
    fn avoid(&mut self, acked: u64, now: Time, rtt: Span) {
        if self.epoch.is_none() {
            self.epoch = Some(self.begin(now));
        }
        let Some(epoch) = &mut self.epoch else { return };
        if let Some(since) = epoch.untested_since.take() {
            epoch.start += now.since(since);
        }
        let t = seconds(now.since(epoch.start));
        let present = epoch.w_cubic(t, self.c);
        let next = epoch.w_cubic(t + seconds(rtt), self.c);
        for _ in 0..acked {
            let window = self.window;
            let alpha = if epoch.w_est < self.cwnd_prior { self.alpha } else { 1.0 };
            epoch.w_est += alpha / window;
            let grown = if present < epoch.w_est {
                window.max(epoch.w_est)
            } else {
                let target = if next < window {
                    window
                } else if next > 1.5 * window {
                    1.5 * window
                } else {
                    next
                };
                window + (target - window) / window
            };
            self.window = grown.max(window + self.least_growth).min(CEILING);
        }
    }

    /// Section 4.6, down to `floor`.
    fn reduce(&mut self, floor: f64) {
        let window = self.window;
        let below_maximum = self.w_max.is_some_and(|w_max| window < w_max);
        let further = self.fast_convergence && below_maximum;
        self.w_max = Some(if further { window * f64::midpoint(1.0, self.beta) } else { window });
        self.cwnd_prior = window;
        self.least_growth = 0.0;
        let reduced = self.beta * window;
        self.ramp.leave(reduced.max(FLOOR));
        // A window that is smaller than the floor already is not lifted.
        self.window = reduced.max(floor).min(window);
    }
}

impl Epoch {
    /// Equation 1, `t` seconds after the start of the stage.
    #[inline]
    fn w_cubic(&self, t: f64, c: f64) -> f64 {
        let from_plateau = t - self.k;
        c * from_plateau * from_plateau * from_plateau + self.plateau
    }
}

#[inline]
fn seconds(span: Span) -> f64 {
    const PER_PICOSECOND: f64 = 1.0 / PICOSECONDS_PER_SECOND as f64;
    span.0 as f64 * PER_PICOSECOND
}

impl CongestionControl for Cubic {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        if feedback.acked == 0 || feedback.is_congested() {
            return;
        }
        if self.ramp.watches() {
            self.ramp.watch(feedback, self.window);
        }
        if !feedback.limited.may_grow() {
            if let Some(epoch) = &mut self.epoch {
                epoch.untested_since.get_or_insert(feedback.now);
            }
            return;
        }
        let mut acked = feedback.acked;
        while acked > 0 && self.ramp.holds(self.window) {
            self.window = self.ramp.rise(self.window, 1.0);
            acked -= 1;
        }
        if acked > 0 {
            self.avoid(acked, feedback.now, path.rtt);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.epoch = None;
        match event.cause {
            Cause::Loss => self.reduce(FLOOR),
            Cause::Mark => self.reduce(FLOOR_AT_MARK),
            Cause::Timeout => {
                if !event.again {
                    self.cwnd_prior = self.window;
                    self.ramp.leave((self.beta * event.in_flight as f64).max(FLOOR));
                }
                self.window = AFTER_TIMEOUT;
                self.w_max = None;
                self.least_growth = self.blind_growth;
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.trim(event, path);
        self.epoch = None;
    }

    fn growth_limit(&self, used: Segments, feedback: &Feedback, path: &Path) -> Option<Segments> {
        let used = used.0;
        if self.ramp.holds(self.window) {
            return Some(Segments(self.ramp.after_round(used, 1.0)));
        }
        let w_est = self.epoch.as_ref().map_or(self.window, |epoch| epoch.w_est);
        let alpha = if w_est < self.cwnd_prior { self.alpha } else { 1.0 };
        let least = used + used * self.least_growth;
        let Some(epoch) = &self.epoch else { return Some(Segments(least.max(used + alpha))) };
        let t = seconds(epoch.untested_since.unwrap_or(feedback.now).since(epoch.start));
        let cubic = epoch.w_cubic(t + seconds(path.rtt), self.c).clamp(used, 1.5 * used);
        Some(Segments(cubic.max(used + alpha).max(least)))
    }

    fn on_pause(&mut self, length: Span) {
        if let Some(epoch) = &mut self.epoch
            && epoch.untested_since.is_none()
        {
            epoch.start += length;
        }
    }

    fn trim(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
        if let Some(epoch) = &mut self.epoch {
            epoch.w_est = epoch.w_est.min(self.window);
        }
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn promises(&self) -> Promises {
        Promises::LAW
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(w_max) = self.w_max {
            probe.value("w_max", w_max);
        }
        if let Some(epoch) = &self.epoch {
            probe.value("k", epoch.k);
            probe.value("w_est", epoch.w_est);
        }
    }
}
