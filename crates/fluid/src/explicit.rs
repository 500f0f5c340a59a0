//! Explicit feedback as a fluid: the flows of XCP and of VCP on one link.
//!
//! A window law is driven by a price; here the routers themselves say how rates change, so the equations are others.
//!
//! # XCP
//!
//! Katabi, Handley and Rohrs, SIGCOMM 2002, appendix B, equations 15 to 17. With the rates x of N flows, their sum y,
//! the capacity C, the queue q and the mean round trip d:
//!
//! ```text
//!     q' = y - C                                                      where q > 0 or y > C
//!     F = α (C - y) - β q/d,   h = max(0, γ y - |F|)
//!     x_i'(t) = [(h + max(F, 0))/N - (h + max(-F, 0)) x_i/y]/d        at t - R_i
//! ```
//!
//! Summed up, y' = F/d: the load does not depend on who sends it. At rest F = 0 and q = 0, so y = C, and the shuffling
//! h goes on until every rate is C/N. Near that point, in units of d, the load obeys z² + (α z + β) e^(-z) = 0, without the
//! capacity, the delay or the number of flows. The paper chooses β = α² √2, at which the phase at the crossover
//! frequency α √2 is π/4 - α √2 above -π: stable for 0 < α < π/(4√2) = 0.555 (theorem 1).
//!
//! # VCP
//!
//! Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005, the analysis of their fluid model, in which multiplicative
//! increase and decrease follow the load factor itself instead of its two bits, and additive increase never stops. With
//! windows w, a common round trip T, and G = γ C T:
//!
//! ```text
//!     w_i'(t) = [κ (1 - ρ)/ρ w_i(t) + α]/T,     ρ = Σ w_j(t - T)/G
//! ```
//!
//! At rest every window is the same, and Σ w = G + N α/κ: the load factor exceeds one by what additive increase keeps
//! adding. The paper proves that flows get there from anywhere for κ ≤ 1/2. Near that point
//! Δ' = -(κ (1 - 1/ρ) Δ + κ/ρ Δ(t - T))/T, which is stable for a wider range, up to κ = π/2 where ρ is near one.
//!
//! # Left out
//!
//! Several links, packets, the control intervals of routers, and queues that lengthen the round trip: as in the papers.
//! Rates cannot fall below zero, nor the queue.

use longfat_units::math;

use crate::Stability;
use crate::dormand_prince::{Equations, Side, TrialStep};
use crate::history::History;

/// How a router tells flows what to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// XCP, with the symbols of its paper.
    Xcp {
        /// α: share of the spare capacity given per round trip, above 0.
        alpha: f64,
        /// β: share of the queue taken per round trip, above 0.
        beta: f64,
        /// γ: share of the load that changes hands per round trip, 0 to 1.
        gamma: f64,
    },
    /// VCP, with the symbols of its paper.
    Vcp {
        /// κ: how fast windows follow the load factor, above 0.
        kappa: f64,
        /// α: segments added per round trip, above 0.
        alpha: f64,
        /// γ: share of the capacity to use, above 0 and at most 1.
        gamma: f64,
    },
}

impl Scheme {
    /// XCP with the parameters of its paper.
    pub const XCP: Self = Self::Xcp { alpha: 0.4, beta: 0.226, gamma: 0.1 };
    /// VCP with the parameters of its paper.
    pub const VCP: Self = Self::Vcp { kappa: 0.25, alpha: 1.0, gamma: 0.98 };
}

/// Flows with explicit feedback on one link.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplicitLink {
    /// Who says what.
    pub scheme: Scheme,
    /// C, in segments per second, above 0.
    pub capacity: f64,
    /// The flows, at least one.
    pub flows: Vec<ExplicitFlow>,
}

/// A flow with explicit feedback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExplicitFlow {
    /// Its round trip in seconds, above 0. VCP takes the mean over the flows for all of them.
    pub round_trip: f64,
    /// Its rate until time 0, in segments per second, above 0.
    pub rate: f64,
}

/// The course of flows with explicit feedback.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplicitPath {
    /// The instants, in seconds.
    pub t: Vec<f64>,
    /// The rates of each flow, in segments per second.
    pub rates: Vec<Vec<f64>>,
    /// The queue of XCP, in segments; VCP's model has none.
    pub queue: Vec<f64>,
}

/// Steps in the shortest round trip: the past is smooth between them.
const STEPS: f64 = 64.0;

impl ExplicitLink {
    /// The rate of each flow at rest, in segments per second: the same for all.
    pub fn rest(&self) -> f64 {
        let count = self.flows.len() as f64;
        match self.scheme {
            Scheme::Xcp { .. } => self.capacity / count,
            Scheme::Vcp { kappa, alpha, gamma } => {
                gamma * self.capacity / count + alpha / (kappa * self.round_trip())
            }
        }
    }

    /// Does the load return to rest after a small disturbance, with delays times `delay` (0: none)? For flows with the
    /// same round trip, as in the papers; others are taken to have the mean one.
    pub fn stability(&self, delay: f64) -> Stability {
        let margin = match self.scheme {
            // |α z + β| = |z|² at z = iω, and the phase of the left is what delay may take away.
            Scheme::Xcp { alpha, beta, .. } => {
                let (a, b) = (alpha * alpha, beta * beta);
                let crossover = math::sqrt(f64::midpoint(a, math::sqrt(a * a + 4.0 * b)));
                Some(math::atan2(alpha * crossover, beta) / crossover)
            }
            // Hayes 1950: s + a + b e^(-sτ) = 0.
            Scheme::Vcp { kappa, gamma, .. } => {
                let full = gamma * self.capacity * self.round_trip();
                let load = self.rest() * self.round_trip() * self.flows.len() as f64 / full;
                let (now, late) = (kappa * (1.0 - 1.0 / load), kappa / load);
                let squared = late * late - now * now;
                (squared > 0.0).then(|| {
                    let crossover = math::sqrt(squared);
                    math::atan2(crossover, -now) / crossover
                })
            }
        };
        Stability { stable: margin.is_none_or(|margin| delay < margin), margin }
    }

    /// Solves the equations for so many seconds; samples come every `sample` seconds.
    pub fn solve(&self, duration: f64, sample: f64) -> ExplicitPath {
        let shortest = self.flows.iter().map(|flow| flow.round_trip).fold(f64::INFINITY, f64::min);
        let h = shortest / STEPS;
        let mut equations = Running { link: self, past: History::default() };
        let mut state: Vec<f64> = self.flows.iter().map(|flow| flow.rate).collect();
        state.push(0.0);
        let (mut step, mut quartics) = (TrialStep::new(state.len()), Vec::new());
        let mut path =
            ExplicitPath { rates: vec![Vec::new(); self.flows.len()], ..Default::default() };
        let longest = self.flows.iter().map(|flow| flow.round_trip).fold(0.0, f64::max);
        let mut t = 0.0;
        while t <= duration {
            if t >= path.t.len() as f64 * sample {
                path.t.push(t);
                path.rates.iter_mut().zip(&state).for_each(|(rates, &rate)| rates.push(rate));
                path.queue.extend(state.last());
            }
            step.attempt(&mut equations, t, &state, h);
            step.quartics(&state, h, &mut quartics);
            equations.past.push(t, h, t + h, &quartics);
            state.copy_from_slice(&step.end);
            for value in &mut state {
                *value = value.max(0.0);
            }
            // What was cut off makes the slope at the end of the step another one.
            step.restart();
            t += h;
            equations.past.forget(t - longest - h);
        }
        path
    }

    /// The mean over the flows: d and T.
    fn round_trip(&self) -> f64 {
        let sum: f64 = self.flows.iter().map(|flow| flow.round_trip).sum();
        sum / self.flows.len() as f64
    }
}

/// The equations and their past.
struct Running<'a> {
    link: &'a ExplicitLink,
    past: History,
}

impl Running<'_> {
    /// A component of the state at an earlier time; what there was until time 0 before that.
    fn before(&self, index: usize, t: f64) -> f64 {
        let first = || self.link.flows.get(index).map_or(0.0, |flow| flow.rate);
        self.past.at(t, Side::Before).map_or_else(first, |past| past.state(index, t))
    }
}

impl Equations for Running<'_> {
    fn slope(&mut self, _: Side, t: f64, y: &[f64], slope: &mut [f64]) {
        let flows = &self.link.flows;
        let (count, capacity) = (flows.len(), self.link.capacity);
        let mean = self.link.round_trip();
        match self.link.scheme {
            Scheme::Xcp { alpha, beta, gamma } => {
                for (index, flow) in flows.iter().enumerate() {
                    let then = t - flow.round_trip;
                    let load: f64 = (0..count).map(|other| self.before(other, then)).sum();
                    let queue = self.before(count, then);
                    let change = alpha * (capacity - load) - beta * queue / mean;
                    let shuffled = (gamma * load - change.abs()).max(0.0);
                    let given = (shuffled + change.max(0.0)) / count as f64;
                    let share = self.before(index, then) / load.max(f64::MIN_POSITIVE);
                    slope[index] = (given - (shuffled + (-change).max(0.0)) * share) / mean;
                }
                let surplus = y[..count].iter().sum::<f64>() - capacity;
                slope[count] = if y[count] > 0.0 { surplus } else { surplus.max(0.0) };
            }
            Scheme::Vcp { kappa, alpha, gamma } => {
                let load: f64 = (0..count).map(|other| self.before(other, t - mean)).sum();
                let factor = (load / (gamma * capacity)).max(f64::MIN_POSITIVE);
                for index in 0..count {
                    let grown = kappa * (1.0 / factor - 1.0) * y[index];
                    slope[index] = (grown + alpha / mean) / mean;
                }
                slope[count] = 0.0;
            }
        }
    }

    fn negligible(&self, _: usize) -> f64 {
        1e-9 * self.link.capacity
    }
}
