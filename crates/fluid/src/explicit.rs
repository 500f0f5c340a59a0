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
//!     w_i'(t) = [κ (1 - ρ)/ρ w_i(t) + α]/T,     ρ = max(ρ̂, Σ w_j(t - T)/G)
//! ```
//!
//! As in the protocol a load factor below ρ̂ counts as ρ̂, so that a link that is nearly empty does not multiply windows
//! by more than 1 + ξ per round trip; the paper's equation has no ρ̂. Flows of other round trips scale their steps so
//! that their *rates* grow as those of a flow with the interval `t_ρ` for its round trip. So T is `t_ρ`, for all of them,
//! and x = w/T.
//!
//! At rest every rate is the same, and Σ w = G + N α/κ: the load factor exceeds one by what additive increase keeps
//! adding. The paper proves that flows get there from anywhere for κ ≤ 1/2. Near that point
//! Δ' = -(κ (1 - 1/ρ) Δ + κ/ρ Δ(t - T))/T, which is stable for a wider range, up to κ = π/2 where ρ is near one.
//!
//! # The price
//!
//! Nothing is marked or lost. What stands for the price is how much of its capacity the link asks its flows, all
//! together, to give back per round trip; below zero it offers capacity. For XCP that is -F/C, for VCP κ (ρ - 1), or
//! -ξ ρ below ρ̂. At rest it is 0 with XCP, and N α/G with VCP.
//!
//! # Left out
//!
//! Several links, packets, the control intervals of routers, full buffers, and queues that lengthen the round trip: as in
//! the papers. Before a flow starts it has sent nothing, and what it hears begins a round trip later. It sends at least
//! one segment per round trip, and the queue cannot fall below zero.

use longfat_units::math;

use crate::stability::Stability;

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
        /// ρ̂: what lower load factors count as, 0 to 1.
        low_load: f64,
        /// T, that is `t_ρ`: in seconds, above 0.
        interval: f64,
    },
}

impl Scheme {
    /// XCP with the parameters of its paper.
    pub const XCP: Self = Self::Xcp { alpha: 0.4, beta: 0.226, gamma: 0.1 };
    /// VCP with the parameters of its paper.
    pub const VCP: Self =
        Self::Vcp { kappa: 0.25, alpha: 1.0, gamma: 0.98, low_load: 0.8, interval: 0.2 };
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
    /// Its round trip in seconds, above 0. For VCP it only makes a window of a rate.
    pub round_trip: f64,
    /// Its first rate, in segments per second, above 0.
    pub rate: f64,
    /// When it starts, in seconds.
    pub start: f64,
    /// When it stops, in seconds; infinite if never.
    pub stop: f64,
}

/// The course of flows with explicit feedback.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplicitPath {
    /// The instants, in seconds.
    pub t: Vec<f64>,
    /// The rates of each flow, in segments per second; 0 while it is not there.
    pub rates: Vec<Vec<f64>>,
    /// The mean rate of each flow over the part of the measured interval in which it is there.
    pub rate_means: Vec<f64>,
    /// How much of its capacity the link asks its flows to give back per round trip.
    pub price: Vec<f64>,
    /// The queue of XCP, in segments; VCP's model has none.
    pub queue: Vec<f64>,
    /// Steps of integration.
    pub steps: u64,
}

impl ExplicitLink {
    /// The rate of each flow at rest, in segments per second: the same for all.
    pub fn rest(&self) -> f64 {
        let count = self.flows.len() as f64;
        match self.scheme {
            Scheme::Xcp { .. } => self.capacity / count,
            Scheme::Vcp { kappa, alpha, gamma, interval, .. } => {
                gamma * self.capacity / count + alpha / (kappa * interval)
            }
        }
    }

    /// Does the load return to rest after a small disturbance, with delays times `delay` (0: none)? For flows of XCP
    /// with the same round trip, as in the paper; others are taken to have the mean one.
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
                let load = self.rest() * self.flows.len() as f64 / (gamma * self.capacity);
                let (now, late) = (kappa * (1.0 - 1.0 / load), kappa / load);
                let squared = late * late - now * now;
                (squared > 0.0).then(|| {
                    let crossover = math::sqrt(squared);
                    math::atan2(crossover, -now) / crossover
                })
            }
        };
        let stable = margin.is_none_or(|margin| delay < margin);
        Stability { stable, margin: margin.filter(|_| delay > 0.0) }
    }

    /// The price where `load` segments per second arrive, `queue` of them wait, and the mean round trip is `mean`.
    pub(crate) fn price(&self, load: f64, queue: f64, mean: f64) -> f64 {
        match self.scheme {
            Scheme::Xcp { .. } => {
                -self.scheme.change(self.capacity, load, queue, mean) / self.capacity
            }
            Scheme::Vcp { kappa, gamma, low_load, .. } => {
                let factor = load / (gamma * self.capacity);
                -kappa * (1.0 / factor.max(low_load).max(f64::MIN_POSITIVE) - 1.0) * factor
            }
        }
    }
}

impl Scheme {
    /// F of XCP: by how much the load should change per round trip.
    pub(crate) fn change(&self, capacity: f64, load: f64, queue: f64, mean: f64) -> f64 {
        match *self {
            Self::Xcp { alpha, beta, .. } => alpha * (capacity - load) - beta * queue / mean,
            Self::Vcp { .. } => 0.0,
        }
    }
}
