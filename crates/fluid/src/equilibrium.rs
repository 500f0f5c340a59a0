//! Where a network settles, without integrating.
//!
//! At rest each flow has the window at which its law gains as much as it loses, a falling function of the price p of
//! its route, and each link has a price at which its load fits, or none:
//!
//! ```text
//!     w_r = W_r(p_r),   p_r = Σ p_l over the route,   S_l(p_l) - X_l ≥ 0,   p_l ≥ 0,   one of the two zero
//! ```
//!
//! S is the load the link accepts at its price: γ C with a virtual queue, C/(1 - p) where the overflow is lost. Where
//! round trips are fixed the loads are the gradient of a convex function of the prices, the dual of the problem that
//! the papers state (Kelly, Maulloo and Tan 1998; Theorem 3.1 of Kavak and Kunniyur), so there is one answer. A law that
//! jumps upwards, as LTCP at each of its layers, may have two windows for one price: such an answer is refused.
//!
//! This is an interior-point method: Newton's, on S = X + μ C/z with a price z > 0 on every link, while μ goes to 0. It
//! works on logarithms, ln(X + μ C/z) - ln S as functions of ln z: windows are powers of prices, so that these are nearly
//! straight where S - X is not. It starts at prices that nobody would pay and comes down, because below some price a law
//! may ask for everything: the fiber controller at p ≤ α. Prices have kinks, as where a queue becomes full or RED begins to
//! mark. Where one stops the method, each link in turn is brought to its own balance by bisection, over and over: a descent
//! along the coordinates of the convex function, which kinks slow but do not stop. Then the method goes on from there.
//! Neither random numbers nor the order of anything but the links play any part.

use longfat_units::{Span, math};
use nalgebra::{DMatrix, DVector};

use crate::GoOn;
use crate::demand::{Chances, Demand};
use crate::network::{FluidError, FluidNetwork, Price};
use crate::plan::{FlowPlan, LEAST_WINDOW, LinkPlan, NetworkPlan};

/// Where a network settles.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The flows, in the order of the network.
    pub flows: Vec<FlowRest>,
    /// The links, in the order of the network.
    pub links: Vec<LinkRest>,
    /// Newton steps taken.
    pub steps: usize,
}

/// A flow at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowRest {
    /// Window in segments; 0 for a flow that has stopped by the end.
    pub window: f64,
    /// Rate in bit/s.
    pub rate: f64,
    /// Probability that a packet is marked or lost on its way, corruption included.
    pub price: f64,
    /// Round trip in seconds, queues included.
    pub round_trip: f64,
}

/// A link at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkRest {
    /// Probability that a packet is marked or overflows.
    pub price: f64,
    /// Load as a share of the capacity.
    pub load: f64,
    /// Queue in seconds.
    pub queue: f64,
}

/// Finds where the flows that never stop settle.
///
/// # Errors
/// If nothing holds a window, a link is too small for the least that its flows send, a flow would settle at several
/// windows, or the search fails.
pub fn equilibrium(network: &FluidNetwork) -> Result<Equilibrium, FluidError> {
    let rest = equilibrium_while(network, &mut || true)?;
    Ok(rest.expect("nobody stops it"))
}

/// [`equilibrium`] for callers that may want to stop it: `go_on` is called before each round of computing what the
/// flows ask for, which takes about a microsecond per flow. `None` once it returns false.
///
/// # Errors
/// As [`equilibrium`].
pub fn equilibrium_while(
    network: &FluidNetwork,
    go_on: GoOn<'_>,
) -> Result<Option<Equilibrium>, FluidError> {
    network.check()?;
    let plan = NetworkPlan::new(network);
    let mut search = Search::new(network, &plan)?;
    if !search.run(go_on)? {
        return Ok(None);
    }
    search.refuse_several()?;
    let rest = search.result();
    refuse_spare(&plan, &rest)?;
    Ok(Some(rest))
}

/// What a flow asks for is computed as if it heard of no capacity to spare, so that must be true.
fn refuse_spare(plan: &NetworkPlan, rest: &Equilibrium) -> Result<(), FluidError> {
    let hears = |flow: &FlowPlan| {
        let spare = |before, &(link, _): &(usize, f64)| {
            let at = &plan.links[link];
            // Loads are right only within `EXACT`: a link whose threshold is its target load has nothing to spare.
            at.spare(before, rest.links[link].load * (1.0 + EXACT) * at.capacity)
        };
        flow.hears_of_spare && flow.hops.iter().fold(true, spare)
    };
    let running = plan.flows.iter().zip(&rest.flows).filter(|(_, at)| at.window > 0.0);
    match running.map(|(flow, _)| flow).find(|flow| hears(flow)) {
        Some(plan) => Err(FluidError::SpareAtRest { flow: plan.flow.name.clone() }),
        None => Ok(()),
    }
}

/// What a link charges and accepts at level z, with derivatives: a queue first, if there is one, then a price.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    price: f64,
    price_slope: f64,
    queue: f64,
    queue_slope: f64,
    supply: f64,
    supply_slope: f64,
}

/// The share of the supply that complementarity may leave open at the end, relative to the price.
const LAST_BARRIER: f64 = 1e-25;
const MOST_STEPS: usize = 2000;
/// A step that helps only if it is shortened more often than this has met a kink.
const MOST_HALVINGS: usize = 12;
/// How often all links of a search may be brought to their own balances.
const MOST_ROUNDS: usize = 100;
/// No level changes by more than this in a step, in units of ln z.
const LONGEST: f64 = 3.0;
/// Loads are right within this share of the capacity. They cannot be much better where a price of 1e-4 decides on a
/// window of a million segments, as with the fiber controller.
const EXACT: f64 = 1e-6;
/// Loads closer than this are close enough where rounding, or a kink, stops Newton's method.
const CLOSE: f64 = 0.1 * EXACT;

/// The outcome of a step of Newton's method.
enum Newton {
    /// The levels are better.
    Step,
    /// Nothing is left to do for this barrier.
    Done,
    Stopped,
}

/// A flow, by its place in the network, asks for everything.
struct Unbounded(usize);

struct Search<'a> {
    network: &'a FluidNetwork,
    plan: &'a NetworkPlan,
    /// The flows that never stop.
    running: Vec<usize>,
    /// What unresponsive sources take, in bit/s.
    loads: Vec<f64>,
    /// The level of each link.
    levels: Vec<f64>,
    demands: Vec<Demand>,
    steps: usize,
    /// How often all links have been brought to their own balances.
    rounds: usize,
}

impl<'a> Search<'a> {
    fn new(network: &'a FluidNetwork, plan: &'a NetworkPlan) -> Result<Self, FluidError> {
        let end = network.duration.seconds();
        let running: Vec<usize> =
            (0..plan.flows.len()).filter(|&flow| plan.flows[flow].stop >= end).collect();
        if running.is_empty() {
            return Err(FluidError::NoFlows);
        }
        let mut loads = vec![0.0; plan.links.len()];
        for load in &network.loads {
            if load.stop.map_or(f64::INFINITY, Span::seconds) >= end {
                for &link in &load.route {
                    loads[link] += load.rate;
                }
            }
        }
        let levels = plan.links.iter().map(highest_level).map(|top| top - 0.5).collect();
        let demands = vec![Demand::UNKNOWN; plan.flows.len()];
        let search = Self { network, plan, running, loads, levels, demands, steps: 0, rounds: 0 };
        search.refuse_unbounded()?;
        search.refuse_overload()?;
        Ok(search)
    }

    /// A flow whose links charge nothing must be held by its losses.
    fn refuse_unbounded(&self) -> Result<(), FluidError> {
        for &flow in &self.running {
            let plan = &self.plan.flows[flow];
            let charged = plan.hops.iter().any(|&(link, _)| {
                let link = &self.plan.links[link];
                match link.price {
                    Price::Loss => false,
                    Price::Overflow => link.buffer.is_finite() || plan.flow.heeds_delay(),
                    Price::Avq { .. } | Price::Red(_) => true,
                }
            });
            let losses = Chances { marks: 0.0, losses: plan.loss };
            if !charged && plan.demand(losses, plan.rtt, Demand::UNKNOWN).is_none() {
                let why = if plan.loss > 0.0 {
                    format!(
                        "its links charge nothing, and their loss rate of {} is too low",
                        plan.loss
                    )
                } else {
                    "its links charge nothing and lose nothing".into()
                };
                return Err(FluidError::Unbounded { flow: plan.flow.name.clone(), why });
            }
        }
        Ok(())
    }

    /// Refuses links that would have too much load even if no packet came through without a mark.
    fn refuse_overload(&self) -> Result<(), FluidError> {
        let mut loads = self.loads.clone();
        for &flow in &self.running {
            let plan = &self.plan.flows[flow];
            let rtt = self.longest_round_trip(plan).min(1e9);
            let everything = Chances { marks: 1.0, losses: plan.loss };
            let demand = plan.demand(everything, rtt, Demand::UNKNOWN);
            let least = demand.map_or(LEAST_WINDOW, |demand| demand.window.max(LEAST_WINDOW));
            for &(link, _) in &plan.hops {
                loads[link] += least / rtt * plan.bits;
            }
        }
        for (index, link) in self.plan.links.iter().enumerate() {
            let supply = level(link, 0.0).supply;
            // Anything fits where the link charges nothing.
            let fits = match link.price {
                Price::Loss => true,
                Price::Avq { .. } => loads[index] <= supply,
                Price::Overflow | Price::Red(_) => self.loads[index] < supply,
            };
            if !fits {
                return Err(self.too_small(index, loads[index], supply));
            }
        }
        Ok(())
    }

    /// The error where so much arrives at the highest price of a link that accepts no more than `supply`.
    fn too_small(&self, index: usize, load: f64, supply: f64) -> FluidError {
        let alone = self.loads[index];
        let why = if alone >= supply {
            format!("short flows alone fill {:.2} times what it can carry", alone / supply)
        } else {
            let marked =
                |&flow: &usize| self.plan.flows[flow].is_marked_by(&self.plan.links[index]);
            let crossing = self.crossing(index);
            let every = match crossing.iter().filter(|&flow| marked(flow)).count() {
                0 => "dropped",
                count if count == crossing.len() => "marked",
                _ => "marked or dropped",
            };
            format!(
                "even if it {every} every packet, its {} flows would send {:.2} times what {}",
                crossing.len(),
                (load - alone) / (supply - alone),
                if alone > 0.0 { "short flows leave" } else { "it can carry" }
            )
        };
        FluidError::Overload { link: self.network.links[index].name.clone(), why }
    }

    /// The flows that never stop and cross this link.
    fn crossing(&self, index: usize) -> Vec<usize> {
        let crosses = |flow: &usize| self.plan.flows[*flow].hops.iter().any(|hop| hop.0 == index);
        self.running.iter().copied().filter(crosses).collect()
    }

    /// The round trip of a flow that finds the longest queue on every link that has one.
    fn longest_round_trip(&self, flow: &FlowPlan) -> f64 {
        let longest = |link: &LinkPlan| match link.price {
            Price::Loss | Price::Avq { .. } => 0.0,
            Price::Overflow => link.buffer,
            Price::Red(red) => steep(link, red),
        };
        flow.hops.iter().fold(flow.rtt, |sum, &(link, _)| sum + longest(&self.plan.links[link]))
    }

    /// Searches. False if stopped.
    fn run(&mut self, go_on: GoOn<'_>) -> Result<bool, FluidError> {
        self.demands = self.ask(&self.levels).map_err(|Unbounded(flow)| {
            let why = "even a marking probability of one half on every link is too low".into();
            FluidError::Unbounded { flow: self.plan.flows[flow].flow.name.clone(), why }
        })?;
        let mut barrier = 0.1;
        loop {
            let last = barrier <= LAST_BARRIER;
            loop {
                match self.newton(barrier, if last { 1e-12 } else { 1e-3 }, go_on)? {
                    Newton::Step => {}
                    Newton::Done => break,
                    Newton::Stopped => return Ok(false),
                }
            }
            if last {
                return self.judge().map(|()| true);
            }
            barrier = (barrier * 0.02).max(LAST_BARRIER);
        }
    }

    /// What the flows ask for at these levels.
    fn ask(&self, levels: &[f64]) -> Result<Vec<Demand>, Unbounded> {
        let links: Vec<Level> = self.levels_of(levels);
        let mut demands = self.demands.clone();
        for &flow in &self.running {
            let (chances, rtt) = self.route(flow, &links);
            demands[flow] =
                self.plan.flows[flow].demand(chances, rtt, demands[flow]).ok_or(Unbounded(flow))?;
        }
        Ok(demands)
    }

    fn levels_of(&self, levels: &[f64]) -> Vec<Level> {
        self.plan.links.iter().zip(levels).map(|(link, &z)| level(link, z)).collect()
    }

    /// What a packet of this flow meets, and its round trip.
    fn route(&self, flow: usize, links: &[Level]) -> (Chances, f64) {
        let plan = &self.plan.flows[flow];
        let mut chances = Chances { marks: 0.0, losses: plan.loss };
        let mut rtt = plan.rtt;
        for &(link, _) in &plan.hops {
            if plan.is_marked_by(&self.plan.links[link]) {
                chances.marks += links[link].price;
            } else {
                chances.losses += links[link].price;
            }
            rtt += links[link].queue;
        }
        (chances, rtt)
    }

    /// The load of each link in bit/s.
    fn carried(&self, links: &[Level], demands: &[Demand]) -> Vec<f64> {
        let mut carried = self.loads.clone();
        for &flow in &self.running {
            let plan = &self.plan.flows[flow];
            let (_, rtt) = self.route(flow, links);
            for &(link, _) in &plan.hops {
                carried[link] += demands[flow].window / rtt * plan.bits;
            }
        }
        carried
    }

    /// ln(X + μ C/z) - ln S of each link at these levels.
    fn excess(&self, levels: &[f64], demands: &[Demand], barrier: f64) -> Vec<f64> {
        let links = self.levels_of(levels);
        let carried = self.carried(&links, demands);
        (0..links.len())
            .map(|index| {
                let plan = &self.plan.links[index];
                if plan.price == Price::Loss {
                    return 0.0;
                }
                let load = carried[index] + barrier / levels[index] * plan.capacity;
                math::ln(load / links[index].supply)
            })
            .collect()
    }

    /// One step of Newton's method.
    fn newton(&mut self, barrier: f64, goal: f64, go_on: GoOn<'_>) -> Result<Newton, FluidError> {
        let excess = self.excess(&self.levels, &self.demands, barrier);
        let before = largest(&excess);
        if before <= goal {
            return Ok(Newton::Done);
        }
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return self.judge().map(|()| Newton::Done);
        }
        let step = self.direction(&excess, barrier);
        let mut length = (LONGEST / largest(&step)).min(1.0);
        for (index, link) in self.plan.links.iter().enumerate() {
            let z = self.levels[index];
            let room = math::ln(0.05 + 0.95 * highest_level(link) / z);
            if step[index] > room {
                length = length.min(room / step[index]);
            }
        }
        for _ in 0..MOST_HALVINGS {
            if !go_on() {
                return Ok(Newton::Stopped);
            }
            for along in [by_logarithms, by_levels] {
                let change = |(z, change): (&f64, &f64)| along(*z, length * change);
                let levels: Vec<f64> = self.levels.iter().zip(&step).map(change).collect();
                if let Ok(demands) = self.ask(&levels) {
                    let after = largest(&self.excess(&levels, &demands, barrier));
                    if after < (1.0 - 0.05 * length) * before {
                        (self.levels, self.demands) = (levels, demands);
                        return Ok(Newton::Step);
                    }
                }
            }
            length *= 0.5;
        }
        // Because of rounding, or a kink as where a queue becomes full, nothing nearby is better.
        if before <= CLOSE {
            return Ok(Newton::Done);
        }
        Ok(self.balance_in_turn(barrier, before, go_on))
    }

    /// Brings the links to their own balances, one after the other, until no excess is as large as it was before.
    fn balance_in_turn(&mut self, barrier: f64, before: f64, go_on: GoOn<'_>) -> Newton {
        while self.rounds < MOST_ROUNDS {
            self.rounds += 1;
            let last = self.levels.clone();
            for index in 0..self.plan.links.len() {
                if !self.balance(index, barrier, go_on) {
                    return Newton::Stopped;
                }
            }
            let after = largest(&self.excess(&self.levels, &self.demands, barrier));
            if after < 0.99 * before {
                return Newton::Step;
            }
            if self.levels.iter().zip(&last).all(|(z, last)| (z - last).abs() <= 1e-9 * last) {
                break;
            }
        }
        Newton::Done
    }

    /// Brings one link to its own balance while the others stay as they are: bisection, which no kink stops, since the
    /// supply rises and the load falls with the level. False if stopped.
    fn balance(&mut self, index: usize, barrier: f64, go_on: GoOn<'_>) -> bool {
        let link = &self.plan.links[index];
        if link.price == Price::Loss {
            return true;
        }
        let crossing = self.crossing(index);
        let mut links = self.levels_of(&self.levels);
        let (mut low, mut high) = (0.0_f64, highest_level(link));
        let mut held = false;
        let mut middle = self.levels[index];
        // Ratios, because levels may be of any size; 80 of them end at the last bit.
        for _ in 0..80 {
            if !go_on() {
                return false;
            }
            links[index] = level(link, middle);
            let mut load = self.loads[index];
            let mut demands = Vec::with_capacity(crossing.len());
            for &flow in &crossing {
                let (chances, rtt) = self.route(flow, &links);
                let plan = &self.plan.flows[flow];
                let Some(demand) = plan.demand(chances, rtt, self.demands[flow]) else { break };
                load += demand.window / rtt * plan.bits;
                demands.push(demand);
            }
            // A flow that asks for everything asks for too much.
            let bounded = demands.len() == crossing.len();
            let open = (links[index].supply - load) / link.capacity - barrier / middle;
            // Where even the highest level is too low, the last one is the nearest to it.
            if bounded && (open >= 0.0 || !held) {
                self.levels[index] = middle;
                for (&flow, demand) in crossing.iter().zip(demands) {
                    self.demands[flow] = demand;
                }
            }
            if bounded && open >= 0.0 {
                (high, held) = (middle, true);
                if open <= 1e-3 * CLOSE {
                    break;
                }
            } else {
                low = middle;
            }
            middle = if low > 0.0 { math::sqrt(low * high) } else { 1e-3 * high };
        }
        true
    }

    /// Newton's direction for the logarithms of the levels.
    fn direction(&self, excess: &[f64], barrier: f64) -> Vec<f64> {
        let links = self.levels_of(&self.levels);
        let carried = self.carried(&links, &self.demands);
        let count = links.len();
        let mut jacobian = DMatrix::<f64>::zeros(count, count);
        for &flow in &self.running {
            let plan = &self.plan.flows[flow];
            let (chances, rtt) = self.route(flow, &links);
            let rate = self.demands[flow].window / rtt * plan.bits;
            let response = plan.response(self.demands[flow], chances, rtt);
            for &(column, _) in &plan.hops {
                let link = &links[column];
                let marks = plan.is_marked_by(&self.plan.links[column]);
                let per_price = if marks { response.marks } else { response.losses };
                let per_level =
                    per_price * link.price_slope + (response.wait - 1.0 / rtt) * link.queue_slope;
                let change = rate * per_level * self.levels[column];
                for &(row, _) in &plan.hops {
                    jacobian[(row, column)] += change;
                }
            }
        }
        for (index, link) in links.iter().enumerate() {
            let (z, plan) = (self.levels[index], &self.plan.links[index]);
            if plan.price == Price::Loss {
                jacobian.row_mut(index).fill(0.0);
                jacobian.column_mut(index).fill(0.0);
                jacobian[(index, index)] = 1.0;
                continue;
            }
            let held_open = barrier / z * plan.capacity;
            jacobian[(index, index)] -= held_open;
            jacobian.row_mut(index).unscale_mut(carried[index] + held_open);
            jacobian[(index, index)] -= z * link.supply_slope / link.supply;
        }
        let wanted = DVector::from_iterator(count, excess.iter().map(|excess| -excess));
        match jacobian.lu().solve(&wanted) {
            Some(step) => step.iter().copied().collect(),
            // Links that cannot be told apart: any of them may move.
            None => excess.iter().map(|excess| excess.signum() * 1e-3).collect(),
        }
    }

    /// Is every full link full, and every price that of a full link?
    fn judge(&self) -> Result<(), FluidError> {
        let links = self.levels_of(&self.levels);
        let carried = self.carried(&links, &self.demands);
        let mut worst = (0, EXACT);
        for (index, link) in self.plan.links.iter().enumerate() {
            if link.price == Price::Loss && !carried[index].is_nan() {
                continue;
            }
            let open = (links[index].supply - carried[index]) / link.capacity;
            let error = if is_free(open, self.levels[index]) { 0.0 } else { open.abs() };
            let highest = highest_level(link) - self.levels[index] < EXACT;
            if error > EXACT && open < 0.0 && highest {
                return Err(self.too_small(index, carried[index], links[index].supply));
            }
            if error > worst.1 || error.is_nan() {
                worst = (index, error);
            }
        }
        let (index, error) = worst;
        if error == EXACT {
            return Ok(());
        }
        let (steps, link) = (self.steps, self.network.links[index].name.clone());
        Err(FluidError::NotFound { steps, link, error, why: self.why_not_found(&carried) })
    }

    /// What may have kept the search from its end: a queue without a limit, on the busiest of such links. That is none that no
    /// flow crosses, since short flows have room.
    fn why_not_found(&self, carried: &[f64]) -> String {
        let endless = |&index: &usize| {
            let link = &self.plan.links[index];
            let unlimited = link.price == Price::Overflow && link.buffer.is_infinite();
            unlimited && !self.crossing(index).is_empty()
        };
        let used = |&index: &usize| carried[index] / self.plan.links[index].capacity;
        let endless = (0..self.plan.links.len()).filter(endless);
        match endless.max_by(|one, other| used(one).total_cmp(&used(other))) {
            Some(link) => format!(
                "The queue of link `{}`, whose buffer has no limit, may grow for ever",
                self.network.links[link].name
            ),
            None => "The laws of its flows may have more than one answer to the same price".into(),
        }
    }

    /// Refuses an equilibrium that is one of several: laws that jump may have two windows for the same price.
    fn refuse_several(&self) -> Result<(), FluidError> {
        let links = self.levels_of(&self.levels);
        for &flow in &self.running {
            let (chances, rtt) = self.route(flow, &links);
            let plan = &self.plan.flows[flow];
            if let Some(between) = plan.turning_point(chances, rtt) {
                let (flow, found) = (plan.flow.name.clone(), self.demands[flow].window);
                return Err(FluidError::SeveralRests { flow, found, between });
            }
        }
        Ok(())
    }

    fn result(self) -> Equilibrium {
        let links = self.levels_of(&self.levels);
        let carried = self.carried(&links, &self.demands);
        let rest_of = |index: usize| {
            let link = &links[index];
            let capacity = self.plan.links[index].capacity;
            let free = is_free((link.supply - carried[index]) / capacity, self.levels[index]);
            LinkRest {
                price: if free { 0.0 } else { link.price },
                load: carried[index] / capacity,
                queue: if free { 0.0 } else { link.queue },
            }
        };
        let mut flows = vec![FlowRest::default(); self.plan.flows.len()];
        for &flow in &self.running {
            let (chances, round_trip) = self.route(flow, &links);
            let window = self.demands[flow].window;
            let rate = window / round_trip * self.plan.flows[flow].bits;
            flows[flow] =
                FlowRest { window, rate, price: chances.marks + chances.losses, round_trip };
        }
        let links = (0..links.len()).map(rest_of).collect();
        Equilibrium { flows, links, steps: self.steps }
    }
}

/// What the barrier may leave of the product of a level and the share of capacity to spare: far more than
/// [`LAST_BARRIER`], far less than what a window answers. With [`CLOSE`] to spare it is a level of 1e-13, a ten-millionth of
/// a full queue.
const LEFT: f64 = 1e-20;

/// Does the link have capacity to spare, and no price? The product of the two is what the barrier has left; where it is
/// more, the search has stopped halfway, as at a jump of what flows ask for. A link that is full within rounding has none to
/// spare.
fn is_free(open: f64, z: f64) -> bool {
    open > CLOSE && z * open < LEFT
}

/// A step along ln z, on which windows are nearly straight.
fn by_logarithms(z: f64, step: f64) -> f64 {
    z * math::exp(step)
}

/// The same along z, on which the price of a route is straight: two links may trade its parts where their sum must not
/// change, as just above the α of the fiber controller.
fn by_levels(z: f64, step: f64) -> f64 {
    z * (1.0 + step).max(0.05)
}

/// The largest of these; none, if one of them is no number.
fn largest(values: &[f64]) -> f64 {
    let larger = |most: f64, value: f64| if value > most || value.is_nan() { value } else { most };
    values.iter().map(|value| value.abs()).fold(0.0, larger)
}

/// A level that no link reaches: a price of 1.
fn highest_level(link: &LinkPlan) -> f64 {
    match link.price {
        Price::Loss | Price::Avq { .. } => 1.0,
        Price::Overflow => room(finite(link.buffer)) + 1.0,
        Price::Red(red) => room(steep(link, red)) + 1.0,
    }
}

/// An unlimited buffer counts as longer than anything else, in seconds.
const UNLIMITED: f64 = 1e6;
/// Where the levels of a queue end and those of prices begin.
const ROOM: f64 = 1e-6;

/// The levels that belong to a queue of up to `full` seconds. Prices begin beyond them, so they must be small where prices
/// are: next to a tenth of a second, rounding leaves little of the 1e-12 at which Reno has a million segments. A queue that
/// nobody fills needs no room for prices, and its levels are its seconds.
fn room(full: f64) -> f64 {
    if full < UNLIMITED { full.min(ROOM) } else { full }
}

/// Seconds of queue per level.
fn per_level(full: f64) -> f64 {
    if full > 0.0 { full / room(full) } else { 1.0 }
}

fn finite(buffer: f64) -> f64 {
    buffer.min(UNLIMITED)
}

/// The queue at which RED's price becomes steep: a full buffer, or the jump at its last threshold.
fn steep(link: &LinkPlan, red: crate::RedPrice) -> f64 {
    let last = if red.gentle { 2.0 * red.max } else { red.max };
    finite(link.buffer).min(last)
}

fn level(link: &LinkPlan, z: f64) -> Level {
    let capacity = link.capacity;
    match link.price {
        Price::Loss => Level { supply: capacity, ..Level::default() },
        Price::Avq { utilisation, .. } => {
            Level { price: z, price_slope: 1.0, supply: utilisation * capacity, ..Level::default() }
        }
        Price::Overflow => overflowing(link, z, finite(link.buffer), 0.0),
        Price::Red(red) => {
            let top = steep(link, red);
            let queue = z * per_level(top);
            let (price, price_slope) = red.probability(queue.min(top * (1.0 - 1e-12)));
            if z <= room(top) {
                Level {
                    price,
                    price_slope: price_slope * per_level(top),
                    queue,
                    queue_slope: per_level(top),
                    supply: capacity,
                    ..Level::default()
                }
            } else if top < finite(link.buffer) {
                // The jump of a RED that is not gentle: marks, no overflow.
                let share = z - room(top);
                Level {
                    price: price + share * (1.0 - price),
                    price_slope: 1.0 - price,
                    queue: top,
                    supply: capacity,
                    ..Level::default()
                }
            } else {
                overflowing(link, z, top, price)
            }
        }
    }
}

/// Beyond a full buffer of `full` seconds, where the price is already `before`: p = before + (1 - before) (X - C)/X.
fn overflowing(link: &LinkPlan, z: f64, full: f64, before: f64) -> Level {
    let capacity = link.capacity;
    if z <= room(full) {
        let slope = per_level(full);
        return Level {
            queue: z * slope,
            queue_slope: slope,
            supply: capacity,
            ..Level::default()
        };
    }
    let lost = z - room(full);
    Level {
        price: before + (1.0 - before) * lost,
        price_slope: 1.0 - before,
        queue: full,
        queue_slope: 0.0,
        supply: capacity / (1.0 - lost),
        supply_slope: capacity / ((1.0 - lost) * (1.0 - lost)),
    }
}
