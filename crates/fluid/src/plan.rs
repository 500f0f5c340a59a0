//! A network in plain numbers: seconds, segments, shares of a capacity.

use longfat_control::bounds::{self, CEILING};
use longfat_control::{Cause, Operating, Pacing, Phase, Reaction, WindowLaw};
use longfat_units::math;
use longfat_units::{Segments, Span};

use crate::network::{FluidError, FluidFlow, FluidNetwork, Price, RedPrice, Spare};

/// The least a flow sends: one segment per round trip, as after a time-out, though the fluid has no time-outs.
pub(crate) const LEAST_WINDOW: f64 = bounds::AFTER_TIMEOUT;

/// The network, with its numbers.
#[derive(Debug)]
pub(crate) struct NetworkPlan {
    pub(crate) links: Vec<LinkPlan>,
    pub(crate) flows: Vec<FlowPlan>,
    /// Does any link have a queue, so that round trips change?
    pub(crate) queues: bool,
}

/// A link in plain numbers.
#[derive(Clone, Debug)]
pub(crate) struct LinkPlan {
    /// bit/s
    pub(crate) capacity: f64,
    pub(crate) loss: f64,
    /// Seconds; infinite when unlimited.
    pub(crate) buffer: f64,
    pub(crate) price: Price,
    /// The flows that cross, each with the lag of the link behind the first link of its route.
    pub(crate) crossing: Vec<(usize, f64)>,
    pub(crate) spare: Option<Spare>,
}

/// A flow in plain numbers.
#[derive(Debug)]
pub(crate) struct FlowPlan {
    pub(crate) flow: FluidFlow,
    pub(crate) rtt: f64,
    pub(crate) bits: f64,
    pub(crate) start: f64,
    pub(crate) stop: f64,
    pub(crate) threshold: f64,
    pub(crate) max_window: f64,
    pub(crate) per_mark: bool,
    /// Does its law answer queueing delay?
    pub(crate) heeds_delay: bool,
    /// Does it hear of capacity to spare?
    pub(crate) hears_of_spare: bool,
    /// The links of the route, each with its lag behind the first.
    pub(crate) hops: Vec<(usize, f64)>,
    /// The probability that a packet is corrupted on its way: a sum, as everywhere in this model.
    pub(crate) loss: f64,
}

impl NetworkPlan {
    pub(crate) fn new(network: &FluidNetwork) -> Self {
        let mut links: Vec<LinkPlan> = network
            .links
            .iter()
            .map(|link| LinkPlan {
                capacity: link.rate.0 as f64,
                loss: link.loss,
                buffer: link.buffer.map_or(f64::INFINITY, Span::seconds),
                price: link.price,
                crossing: Vec::new(),
                spare: link.spare,
            })
            .collect();
        let negligible = negligible_lag(network);
        let mut flows = Vec::new();
        for (index, flow) in network.flows.iter().enumerate() {
            let hops = hops(network, flow, negligible);
            for &(link, lag) in &hops {
                links[link].crossing.push((index, lag));
            }
            flows.push(FlowPlan {
                flow: flow.clone(),
                rtt: flow.rtt.seconds(),
                bits: flow.packet.0 as f64 * 8.0,
                start: flow.start.seconds(),
                stop: flow.stop.map_or(f64::INFINITY, Span::seconds),
                threshold: flow.initial_threshold.map_or(f64::INFINITY, |segments| segments.0),
                max_window: flow.max_window.map_or(f64::INFINITY, |window| window as f64),
                per_mark: flow.law.reaction() == Reaction::PerMark,
                heeds_delay: flow.heeds_delay(),
                hears_of_spare: network.hears_of_spare(flow),
                loss: hops.iter().map(|&(link, _)| links[link].loss).sum(),
                hops,
            });
        }
        Self { queues: links.iter().any(|link| link.price.queues()), links, flows }
    }

    /// The load of unresponsive sources on each link at `t`, in bit/s.
    pub(crate) fn add_loads(network: &FluidNetwork, t: f64, loads: &mut [f64]) {
        for load in &network.loads {
            let stop = load.stop.map_or(f64::INFINITY, Span::seconds);
            if t >= load.start.seconds() && t < stop {
                for &link in &load.route {
                    loads[link] += load.rate;
                }
            }
        }
    }
}

/// Lags between links below a hundredth of the shortest round trip are ignored, and no way back is shorter than that:
/// steps would have to be as short.
fn negligible_lag(network: &FluidNetwork) -> f64 {
    let shortest = network.flows.iter().map(|flow| flow.rtt).min().unwrap_or_default();
    shortest.seconds() / 100.0
}

/// Each link of a route with its lag behind the first: the delays of the links in between.
fn hops(network: &FluidNetwork, flow: &FluidFlow, negligible: f64) -> Vec<(usize, f64)> {
    let mut lag = 0.0;
    let mut hops = Vec::with_capacity(flow.route.len());
    let longest = flow.rtt.seconds() - negligible;
    for &link in &flow.route {
        hops.push((link, if lag < negligible { 0.0 } else { lag.min(longest) }));
        lag += network.links[link].delay.seconds();
    }
    hops
}

impl LinkPlan {
    /// The AntiECN bit after this link at a load in bit/s, if it was `before` when it arrived.
    pub(crate) fn spare(&self, before: bool, load: f64) -> bool {
        self.spare
            .is_some_and(|spare| (before || spare.overwrites) && load < spare.below * self.capacity)
    }

    /// Does a congested packet survive, with a mark?
    pub(crate) fn marks(&self) -> bool {
        match self.price {
            Price::Avq { .. } => true,
            Price::Red(RedPrice { marks, .. }) => marks,
            Price::Overflow | Price::Loss => false,
        }
    }
}

/// Where a flow of the fluid stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperatingPoint {
    pub(crate) window: f64,
    pub(crate) epoch_window: f64,
    /// The round trip now, with queues.
    pub(crate) rtt: f64,
    pub(crate) since_event: Option<f64>,
    pub(crate) phase: Phase,
    pub(crate) spare: f64,
}

/// A time as a quantity, which the laws expect.
fn span(seconds: f64) -> Span {
    // Longer than any run; NaN becomes 0.
    Span::from_seconds_f64(seconds.clamp(0.0, 1e7))
}

impl FlowPlan {
    pub(crate) fn law(&self) -> &dyn WindowLaw {
        &*self.flow.law
    }

    /// The argument of the law's formulas.
    pub(crate) fn operating(&self, point: &OperatingPoint) -> Operating {
        Operating {
            window: Segments(point.window.max(LEAST_WINDOW)),
            epoch_window: Some(Segments(point.epoch_window.max(LEAST_WINDOW))),
            rtt: span(point.rtt),
            base_rtt: self.flow.rtt,
            since_event: point.since_event.map(span),
            phase: point.phase,
            spare: point.spare,
        }
    }

    /// Segments added per acknowledged segment.
    pub(crate) fn gain(&self, at: &Operating) -> f64 {
        match at.phase {
            Phase::CongestionAvoidance => self.law().gain(at),
            Phase::SlowStart => self.flow.slow_start.step(at.window.0, self.law().slow_start(at)),
        }
    }

    /// Is it there at `t`?
    pub(crate) fn is_active(&self, t: f64) -> bool {
        self.start <= t && t < self.stop
    }

    /// The window with which it begins, 0 while it is not there, and the phase that this puts it in.
    pub(crate) fn beginning(&self, active: bool) -> (f64, Phase) {
        let window = if active { self.flow.initial_window.0.max(LEAST_WINDOW) } else { 0.0 };
        let slow = window < self.threshold;
        (window, if slow { Phase::SlowStart } else { Phase::CongestionAvoidance })
    }

    /// What congestion leaves of `window`.
    pub(crate) fn left(&self, window: f64, point: &OperatingPoint, cause: Cause) -> f64 {
        let share = self.law().give_up(&self.operating(point), cause);
        (window * (1.0 - share)).max(bounds::FLOOR).min(window)
    }

    /// The share of acknowledgments that carry the AntiECN bit while every link has capacity to spare. Every packet of
    /// a paced flow finds the virtual queue empty; a flow that is not paced sends its window as a train, of which only
    /// the first packet does.
    pub(crate) fn spare_share(&self, at: &Operating) -> f64 {
        match self.flow.pacing.unwrap_or_else(|| self.law().pacing(at)) {
            Pacing::Spread { .. } | Pacing::Rate(_) => 1.0,
            Pacing::Unpaced | Pacing::Blocks(_) | Pacing::LooseBlocks(_) => 1.0 / at.window.0,
        }
    }
}

/// The congestion price of a link, from its load X in bit/s and its state.
pub(crate) fn price(link: &LinkPlan, load: f64, state: &[f64]) -> f64 {
    let overflow = |queue: f64| {
        if queue >= link.buffer && load > link.capacity {
            (load - link.capacity) / load
        } else {
            0.0
        }
    };
    match link.price {
        Price::Loss => 0.0,
        Price::Avq { .. } => {
            let virtual_capacity = state[0] * link.capacity;
            if load > virtual_capacity { (load - virtual_capacity) / load } else { 0.0 }
        }
        Price::Overflow => overflow(state[0]),
        Price::Red(red) => {
            let marked = red.probability(state[1]).0;
            marked + (1.0 - marked) * overflow(state[0])
        }
    }
}

/// How the state of a link changes.
pub(crate) fn link_slope(link: &LinkPlan, load: f64, state: &[f64], slope: &mut [f64]) {
    let excess = load / link.capacity - 1.0;
    let queue_slope = |queue: f64| {
        let stays = (queue <= 0.0 && excess < 0.0) || (queue >= link.buffer && excess > 0.0);
        if stays { 0.0 } else { excess }
    };
    match link.price {
        Price::Loss => {}
        Price::Avq { utilisation, adaptation } => {
            let change = adaptation * (utilisation - load / link.capacity);
            let stays = (state[0] >= 1.0 && change > 0.0) || (state[0] <= 0.0 && change < 0.0);
            slope[0] = if stays { 0.0 } else { change };
        }
        Price::Overflow => slope[0] = queue_slope(state[0]),
        Price::Red(red) => {
            slope[0] = queue_slope(state[0]);
            slope[1] = red.averaging * (state[0].clamp(0.0, link.buffer) - state[1]);
        }
    }
}

/// The state of a link at the beginning.
pub(crate) fn initial_state(link: &LinkPlan) -> &'static [f64] {
    match link.price {
        Price::Loss => &[],
        Price::Avq { .. } => &[1.0],
        Price::Overflow => &[0.0],
        Price::Red(_) => &[0.0, 0.0],
    }
}

/// Does its state begin with a queue?
pub(crate) fn has_queue(link: &LinkPlan) -> bool {
    link.price.queues()
}

/// Per second, from a weight per packet: each packet scales the weight of older samples by (1 - weight).
pub fn averaging(weight: f64, packets_per_second: f64) -> f64 {
    -math::ln_1p(-weight.min(0.999)) * packets_per_second
}

impl FluidNetwork {
    /// Checks what only the fluid requires.
    pub(crate) fn check(&self) -> Result<(), FluidError> {
        self.refuse_without_queues()?;
        let mut loads = vec![0.0; self.links.len()];
        for load in &self.loads {
            for &link in &load.route {
                loads[link] += load.rate;
            }
        }
        for (link, load) in self.links.iter().zip(loads) {
            if load >= link.rate.0 as f64 && link.price != Price::Loss {
                return Err(FluidError::Overload {
                    link: link.name.clone(),
                    why: format!(
                        "short flows alone fill {:.1} times its capacity",
                        load / link.rate.0 as f64
                    ),
                });
            }
        }
        Ok(())
    }

    /// Refuses windows beyond the ceiling, since nothing holds them. The state begins with the windows.
    pub(crate) fn refuse_outgrown(&self, state: &[f64], at: f64) -> Result<(), FluidError> {
        match self.flows.iter().zip(state).find(|&(_, &window)| window > CEILING) {
            None => Ok(()),
            Some((flow, _)) => Err(FluidError::Unbounded {
                flow: flow.name.clone(),
                why: format!("at t = {at:.3} s it passes {CEILING:.0e} segments"),
            }),
        }
    }

    /// The error when this component keeps the state from being taken any further. The state begins with the windows.
    pub(crate) fn exploded(&self, component: Option<usize>, at: f64) -> FluidError {
        let flow = component.and_then(|index| self.flows.get(index));
        FluidError::NotFinite { flow: flow.map(|flow| flow.name.clone()), at }
    }
}
