//! Laws that answer queueing delay: Vegas, FAST.
//!
//! For most laws a queue only stretches the round trip. These are told of it: the price of a link is what it makes a
//! packet wait, and it reaches the flow like any other price, with the acknowledgment of the packet that paid it.
//!
//! ```text
//!     R_measured(t) = base + Σ over the links of the route of q_l(t - R + lag)
//!     w'(t)         = x(t - R) [gain(w, R_measured) - p give_up(w) w]
//! ```
//!
//! At rest the gain is zero, less what losses take. For a law that keeps α of its segments waiting that is x q = α, the
//! optimum of Σ α log x: proportional fairness (Low, Peterson and Wang 2002). There is no loss to end slow start, so it
//! ends when the law itself would shrink, with the window that made the queue: the one of a round trip ago.
//!
//! FAST's law is that of the article of 2006 with γ = 1/2. Its packets go by the draft, in which the window of a round trip
//! ago takes part: they rest at the same place, and grow by α/3 per round trip instead of α/2 where nothing waits.

use longfat_control::Phase;
use longfat_units::math;

use crate::demand::{Chances, Demand, Rest, rest};
use crate::dormand_prince::Side;
use crate::model::NetworkEquations;
use crate::network::{FluidError, FluidFlow, FluidNetwork, Price};
use crate::plan::{FlowPlan, LEAST_WINDOW, OperatingPoint, has_queue};

impl Price {
    /// Does a queue form?
    pub(crate) fn queues(self) -> bool {
        matches!(self, Self::Overflow | Self::Red(_))
    }
}

impl FluidFlow {
    /// Does its law answer queueing delay?
    pub(crate) fn heeds_delay(&self) -> bool {
        self.law.heeds_delay()
    }
}

impl FluidNetwork {
    /// Refuses flows that answer queueing delay where no link of their route has a queue.
    pub(crate) fn refuse_without_queues(&self) -> Result<(), FluidError> {
        let queues =
            |flow: &FluidFlow| flow.route.iter().any(|&link| self.links[link].price.queues());
        match self.flows.iter().find(|flow| flow.heeds_delay() && !queues(flow)) {
            None => Ok(()),
            Some(flow) => Err(FluidError::NoQueue { flow: flow.name.clone() }),
        }
    }
}

impl NetworkEquations<'_> {
    /// How long what is acknowledged at `t` has waited in queues, in seconds; `None` before the first acknowledgment.
    pub(crate) fn waited(&self, flow: usize, side: Side, t: f64, y: &[f64]) -> Option<f64> {
        let plan = &self.plan.flows[flow];
        if self.delay == 0.0 {
            return Some(plan.hops.iter().map(|&(link, _)| self.queue(link, y)).sum());
        }
        let sent = t - self.delay * self.round_trip(flow, y);
        let mut sum = 0.0;
        for &(link, lag) in &plan.hops {
            if has_queue(&self.plan.links[link]) {
                let met = sent + self.delay * lag;
                let past = self.history.at(met, side)?;
                sum += past.state(self.link_states[link], met).max(0.0);
            }
        }
        Some(sum)
    }

    /// The flows in slow start that a delay would end.
    pub(crate) fn rising_until_delay(&self) -> impl Iterator<Item = usize> {
        let flows = self.stands.iter().zip(&self.plan.flows).enumerate();
        flows.filter_map(|(index, (stand, plan))| {
            let rises = stand.active && stand.phase == Phase::SlowStart && plan.heeds_delay;
            rises.then_some(index)
        })
    }

    /// A flow in slow start at `t` whose law answers delay: would its window shrink by now?
    pub(crate) fn turns(&self, flow: usize, side: Side, t: f64, y: &[f64]) -> bool {
        let Some(waited) = self.waited(flow, side, t, y) else { return false };
        let plan = &self.plan.flows[flow];
        let point = OperatingPoint {
            window: y[flow],
            epoch_window: y[self.epoch(flow)],
            rtt: plan.rtt + waited,
            since_event: None,
            phase: Phase::CongestionAvoidance,
            spare: 0.0,
        };
        plan.law().gain(&plan.operating(&point)) <= 0.0
    }

    /// The window of a round trip ago, which has made the queues of now.
    pub(crate) fn window_before(&self, flow: usize, t: f64, y: &[f64]) -> f64 {
        let sent = t - self.delay * self.round_trip(flow, y);
        let past = self.history.at(sent, Side::Before).filter(|_| self.delay > 0.0);
        past.map_or(y[flow], |past| past.state(flow, sent).clamp(LEAST_WINDOW, y[flow]))
    }
}

impl FlowPlan {
    /// A small part of a round trip. A law that answers delay has a kink where nothing waits, which must stay out of
    /// reach.
    pub(crate) fn small_wait(&self, rtt: f64) -> f64 {
        let small = 1e-6 * rtt;
        if self.heeds_delay { small.min(0.01 * (rtt - self.rtt)).max(1e-12) } else { small }
    }

    /// [`Self::demand`] of a law that answers delay.
    pub(crate) fn demand_by_delay(
        &self,
        chances: Chances,
        rtt: f64,
        guess: Demand,
        most: f64,
    ) -> Option<Demand> {
        let growth = |u: f64| self.growth_by_delay(u, rtt, chances);
        let start = guess.start(most);
        let u = match rest(growth, start, (0.0, math::ln(most))) {
            Rest::Below => return Some(Demand::bound(LEAST_WINDOW)),
            Rest::Above => return (self.max_window <= most).then(|| Demand::bound(most)),
            Rest::At(u) => u,
        };
        let by = 1e-6;
        let slope = (growth(u + by) - growth(u - by)) / (2.0 * by);
        let window = math::exp(u);
        Some(if slope < 0.0 { Demand { window, slope } } else { Demand::bound(window) })
    }

    /// What a round trip brings at the window exp(u), in segments: it falls as the window grows.
    pub(crate) fn growth_by_delay(&self, u: f64, rtt: f64, chances: Chances) -> f64 {
        let window = math::exp(u);
        window * self.net_gain(&self.balanced(window, rtt, chances), chances)
    }
}
