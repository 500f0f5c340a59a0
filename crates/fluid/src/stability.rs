//! Does a network stay where it settles, and how much later could the feedback come?
//!
//! Close to the equilibrium the equations are linear. A flow answers the prices of its route, a link the sum of its
//! flows; with s the variable of the Laplace transform, y the disturbance of the loads, and each path of information
//! with its own delay,
//!
//! ```text
//!     (I + G(s)) y = 0,    G_lk = Σ over flows on both of  exp(-s lag_l) F_r(s) exp(-s (R_r - lag_k)) P_k(s)
//! ```
//!
//! F is what a flow makes of a price, P what a link makes of a load. The network is stable when no solution s lies to
//! the right of the imaginary axis. Their number is the number of half turns that
//!
//! ```text
//!     f(s) = det(I + G(s)) · Π s/(s + c) over links that integrate
//! ```
//!
//! makes around 0 as s goes up the imaginary axis from 0 (Nyquist; the principle of the argument), plus the
//! number of poles of F on the right, the zeros of each flow's own polynomial χ: without feedback they would be all
//! there is. This also counts two flows that drift apart while their sum stands still, though no link sees them. Any
//! rate c will do: that of the longest round trip is as slow or fast as the network, so that a network in slow motion is
//! judged by as much work.
//!
//! The **margin** is the factor on all feedback delays at which stability is lost or, for an unstable network,
//! regained: 3 means that the feedback could come three times as late. The operating point stays where it is; longer
//! *round trips* would move it too. It is the phase margin, expressed in delays.

use longfat_units::math;
use nalgebra::DMatrix;

use crate::GoOn;
use crate::equilibrium::Equilibrium;
use crate::linear::{
    LinearFlow, LinearLink, Number, heeds_age, is_at_jump, linear_flow, linear_link, modulus,
};
use crate::network::{FluidError, FluidNetwork};
use crate::plan::NetworkPlan;

/// What the linear equations say.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stability {
    /// Do small disturbances die out?
    pub stable: bool,
    /// The factor on all feedback delays at which that changes; 0 if the network is unstable without any delay. `None` if
    /// no factor changes it, or if it was judged without delay, which nothing multiplies.
    pub margin: Option<f64>,
}

/// Can the linear equations judge a network where it settles? They leave out how the mean time since the last event
/// moves with the rate and the prices, and a price that jumps has no slope.
///
/// # Errors
/// [`FluidError::AgeOfLosses`] if what a flow adds depends on that time, [`FluidError::AtJump`] if a link settles where a
/// RED that is not gentle goes to 1.
pub fn can_be_judged(network: &FluidNetwork, rest: &Equilibrium) -> Result<(), FluidError> {
    let plan = NetworkPlan::new(network);
    for ((link, at), state) in network.links.iter().zip(&plan.links).zip(&rest.links) {
        if is_at_jump(at, state.price, state.queue) {
            return Err(FluidError::AtJump { link: link.name.clone() });
        }
    }
    for (flow, state) in plan.flows.iter().zip(&rest.flows) {
        if state.window > 0.0 && heeds_age(&plan, flow, state, rest) {
            return Err(FluidError::AgeOfLosses { flow: flow.flow.name.clone() });
        }
    }
    Ok(())
}

/// Is a network stable where it settles, with delays times `delay` (0: none)? Only where it
/// [can be judged](can_be_judged).
pub fn stability(network: &FluidNetwork, rest: &Equilibrium, delay: f64) -> Stability {
    stability_while(network, rest, delay, &mut || true).expect("nobody stops it")
}

/// [`stability`] for callers that may want to stop it: `go_on` is called once for every frequency examined, every few
/// microseconds for a small network. `None` once it returns false.
pub fn stability_while(
    network: &FluidNetwork,
    rest: &Equilibrium,
    delay: f64,
    go_on: GoOn<'_>,
) -> Option<Stability> {
    let plan = NetworkPlan::new(network);
    Linear::new(&plan, rest).judge(delay, go_on).ok()
}

/// `go_on` returned false.
struct Stopped;

/// The largest factor tried; the smallest is the inverse of its square.
const FARTHEST: f64 = 16384.0;
/// The relative precision of the margin.
const PRECISE: f64 = 1e-3;
/// A disturbance that comes back as less than this fraction of itself is dying out.
const FAINT: f64 = 0.3;
/// A disturbance that comes back as less than this fraction of itself, wherever the grid of frequencies meets it, comes
/// back as less than the whole in between too.
const WEAK: f64 = 0.998;
/// How far angles may differ from what their rates predict: far less than a turn.
const SMALL_ANGLE: f64 = 0.5;

/// Turns the wrong way, in radians, after which a network counts as unstable.
const MANY_TURNS: f64 = 40.0;

/// f at one frequency.
#[derive(Clone, Copy, Debug)]
struct ResponsePoint {
    frequency: f64,
    direction: Number,
    /// The largest row sum of |G|.
    gain: f64,
    /// Radians per unit of frequency.
    rate: f64,
}

/// The network near its equilibrium.
#[derive(Debug)]
struct Linear {
    links: Vec<LinearLink>,
    flows: Vec<LinearFlow>,
    longest_round_trip: f64,
    /// The longest time after which something comes back.
    latest: f64,
}

impl Linear {
    fn new(plan: &NetworkPlan, rest: &Equilibrium) -> Self {
        let mut index = vec![None; plan.links.len()];
        let mut links = Vec::new();
        for (at, (link, state)) in plan.links.iter().zip(&rest.links).enumerate() {
            let linear = linear_link(link, state.price, state.load, state.queue);
            if let Some(linear) = linear {
                index[at] = Some(links.len());
                links.push(linear);
            }
        }
        let mut flows: Vec<LinearFlow> = Vec::new();
        for (flow, state) in plan.flows.iter().zip(&rest.flows) {
            if state.window <= 0.0 {
                continue;
            }
            let linear = linear_flow(plan, flow, state, rest, &index);
            // Flows of a group are identical and adjacent.
            match flows.last_mut() {
                Some(last) if last.alike(&linear) => {
                    last.count += 1.0;
                }
                _ => flows.push(linear),
            }
        }
        let longest_round_trip = flows.iter().map(|flow| flow.round_trip).fold(0.0, f64::max);
        for link in &mut links {
            link.corner = 1.0 / longest_round_trip.max(1e-12);
        }
        let latest = flows.iter().map(LinearFlow::latest).fold(0.0, f64::max);
        Self { links, flows, longest_round_trip, latest }
    }

    fn judge(&self, delay: f64, go_on: GoOn<'_>) -> Result<Stability, Stopped> {
        let stable = self.unstable_modes(delay, go_on)? == 0;
        if delay == 0.0 {
            return Ok(Stability { stable, margin: None });
        }
        let margin = self.margin(delay, stable, go_on)?.map(|factor| factor / delay);
        Ok(Stability { stable, margin })
    }

    /// The delay at which stability changes, as a factor, if it does: halved or doubled until it does, then bisected.
    fn margin(&self, delay: f64, stable: bool, go_on: GoOn<'_>) -> Result<Option<f64>, Stopped> {
        if !stable && self.unstable_modes(0.0, go_on)? > 0 {
            return Ok(Some(0.0));
        }
        if stable && self.all_loops_are_weak() {
            return Ok(None);
        }
        let mut here = delay;
        let mut beyond = delay;
        while (self.unstable_modes(beyond, go_on)? == 0) == stable {
            here = beyond;
            beyond *= if stable { 2.0 } else { 0.5 };
            if beyond > FARTHEST * delay {
                return Ok(None);
            }
            if beyond < delay / FARTHEST / FARTHEST {
                return Ok(Some(0.0));
            }
        }
        while (beyond / here - 1.0).abs() > PRECISE {
            let middle = math::sqrt(here * beyond);
            if (self.unstable_modes(middle, go_on)? == 0) == stable {
                here = middle;
            } else {
                beyond = middle;
            }
        }
        Ok(Some(math::sqrt(here * beyond)))
    }

    /// Does all that comes back late come back as less than itself, at any frequency, given what comes back at once? Then
    /// delays do not matter (the small-gain theorem), and there is no need to try them all.
    fn all_loops_are_weak(&self) -> bool {
        const PER_DECADE: f64 = 256.0;
        let (slowest, fastest) = (self.slowest(), self.fastest());
        let steps = (math::ln(fastest / slowest) / math::ln(10.0) * PER_DECADE).ceil() as u32;
        let even = (0..=steps)
            .map(|step| slowest * math::exp(f64::from(step) / PER_DECADE * math::ln(10.0)));
        // A flow that swings by itself may do so in a narrow band.
        let own = self.flows.iter().map(LinearFlow::natural_frequency);
        [0.0].into_iter().chain(even).chain(own).all(|frequency| self.strongest(frequency) < WEAK)
    }

    /// With G = G₀ + D, of which D comes back late, the largest row sum of |(I + G₀)⁻¹| |D| if all flows answered at the
    /// same time.
    fn strongest(&self, frequency: f64) -> f64 {
        let s = Number::new(0.0, frequency);
        let count = self.links.len();
        let mut at_once = DMatrix::zeros(count, count);
        let mut later = DMatrix::zeros(count, count);
        let responses: Vec<_> = self.links.iter().map(|link| link.response(s)).collect();
        for flow in &self.flows {
            flow.add_parts(s, &responses, &mut at_once, &mut later);
        }
        if self.links.iter().any(LinearLink::integrates) {
            for (index, link) in self.links.iter().enumerate() {
                at_once[(index, index)] += link.cancels(s);
            }
            let Some(inverse) = at_once.try_inverse() else { return f64::INFINITY };
            later = inverse.map(modulus) * later;
        }
        later.row_iter().map(|row| row.sum()).fold(0.0, f64::max)
    }

    /// How many solutions of the linear equations grow, with delays times `delay`.
    fn unstable_modes(&self, delay: f64, go_on: GoOn<'_>) -> Result<u64, Stopped> {
        let slowest = self.slowest();
        // Long enough for the slow rates, short enough for the delays.
        let stride = |frequency: f64| {
            let delays = 0.5 / (delay * self.latest).max(f64::MIN_POSITIVE);
            (0.5 * frequency.max(slowest)).min(delays)
        };
        let mut turned = 0.0;
        let mut here = self.response(0.0, delay);
        let hopeless = -(MANY_TURNS + std::f64::consts::TAU * self.links.len() as f64);
        loop {
            let next = self.response(here.frequency + stride(here.frequency), delay);
            turned += self.turn(&here, &next, delay, go_on, 0)?;
            here = next;
            // Beyond the corners of all flows and links, loops are faint and stay faint.
            if here.gain < FAINT && here.frequency > self.fastest() {
                turned -= self.rest_of_the_way(here.frequency, delay);
                break;
            }
            // Stable loops turn by less than half a turn each, and back. After this many turns f will not turn back;
            // how many modes grow no longer matters.
            if turned < hopeless {
                break;
            }
        }
        let own: f64 =
            self.flows.iter().map(|flow| flow.count * f64::from(flow.own_unstable())).sum();
        Ok((own - turned / std::f64::consts::PI).round().max(0.0) as u64)
    }

    /// f at a frequency, and how fast it turns there.
    fn response(&self, frequency: f64, delay: f64) -> ResponsePoint {
        let (direction, gain) = self.characteristic(frequency, delay);
        let by = 1e-5 * frequency.max(1e-3 * self.slowest());
        let (beyond, _) = self.characteristic(frequency + by, delay);
        ResponsePoint { frequency, direction, gain, rate: angle(beyond / direction) / by }
    }

    /// The angle by which f turns from one point to another. With many loops it may go round many times: the rates at
    /// the ends and in the middle say how often, and where they do not agree the interval is halved.
    fn turn(
        &self,
        from: &ResponsePoint,
        to: &ResponsePoint,
        delay: f64,
        go_on: GoOn<'_>,
        depth: u32,
    ) -> Result<f64, Stopped> {
        if !go_on() {
            return Err(Stopped);
        }
        let middle = self.response(f64::midpoint(from.frequency, to.frequency), delay);
        let coarse = expected(from, to);
        let fine = expected(from, &middle) + expected(&middle, to);
        let seen = angle(to.direction / from.direction);
        let whole = seen + std::f64::consts::TAU * ((fine - seen) / std::f64::consts::TAU).round();
        let cut =
            depth < 40 && middle.frequency > from.frequency && middle.frequency < to.frequency;
        if !cut || ((fine - coarse).abs() < SMALL_ANGLE && (whole - fine).abs() < SMALL_ANGLE) {
            return Ok(whole);
        }
        let first = self.turn(from, &middle, delay, go_on, depth + 1)?;
        Ok(first + self.turn(&middle, to, delay, go_on, depth + 1)?)
    }

    /// The angle of f where all loops are faint, on the branch that ends in 0: that of ln det(I + G) = tr ln(I + G).
    fn rest_of_the_way(&self, frequency: f64, delay: f64) -> f64 {
        let s = Number::new(0.0, frequency);
        let count = self.links.len();
        let mut returned = self.returned(s, delay);
        let mut cancelled = 0.0;
        for (column, link) in self.links.iter().enumerate() {
            let cancels = link.cancels(s);
            cancelled += angle(cancels);
            for row in 0..count {
                returned[(row, column)] /= cancels;
            }
        }
        let mut power = returned.clone();
        let mut logarithm = 0.0;
        for order in 1..=20 {
            let sign = if order % 2 == 1 { 1.0 } else { -1.0 };
            logarithm += sign * power.trace().im / f64::from(order);
            power = &power * &returned;
        }
        logarithm + cancelled
    }

    /// The slowest rate of change that matters, per second.
    fn slowest(&self) -> f64 {
        let own = self.flows.iter().flat_map(|flow| [flow.window.abs(), flow.memory]);
        let links = self.links.iter().map(|link| link.averaged.1);
        let all = own.chain(links).chain([1.0 / self.longest_round_trip.max(1e-12)]);
        let slowest = all.filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min);
        // Anything slower than a thousand million round trips is rounding.
        1e-3 * slowest.max(1e-9 / self.longest_round_trip.max(1e-12))
    }

    /// The fastest corner of any flow or link, per second, with room to spare.
    fn fastest(&self) -> f64 {
        let flows = self.flows.iter().map(LinearFlow::corner);
        let links = self.links.iter().map(|link| link.averaged.1);
        10.0 * flows.chain(links).fold(1.0 / self.longest_round_trip.max(1e-12), f64::max)
    }

    /// G(s), its columns times what cancels the poles at 0.
    fn returned(&self, s: Number, delay: f64) -> DMatrix<Number> {
        let count = self.links.len();
        let mut returned = DMatrix::zeros(count, count);
        let responses: Vec<_> = self.links.iter().map(|link| link.response(s)).collect();
        for flow in &self.flows {
            flow.add(s, delay, &responses, &mut returned);
        }
        returned
    }

    /// f at s = jω, divided by its modulus, and the largest row sum of |G|.
    fn characteristic(&self, frequency: f64, delay: f64) -> (Number, f64) {
        let s = Number::new(0.0, frequency);
        let count = self.links.len();
        let mut returned = self.returned(s, delay);
        let mut gain = 0.0_f64;
        if frequency > 0.0 {
            for row in 0..count {
                let mut sum = 0.0;
                for column in 0..count {
                    sum += modulus(returned[(row, column)] / self.links[column].cancels(s));
                }
                gain = gain.max(sum);
            }
        } else {
            gain = f64::INFINITY;
        }
        for (index, link) in self.links.iter().enumerate() {
            returned[(index, index)] += link.cancels(s);
        }
        (direction(returned), gain)
    }
}

/// The angle between two points, from the rates at both.
fn expected(from: &ResponsePoint, to: &ResponsePoint) -> f64 {
    f64::midpoint(from.rate, to.rate) * (to.frequency - from.frequency)
}

/// The determinant divided by its modulus: that of a hundred strong loops would overflow, and only its angle counts.
fn direction(matrix: DMatrix<Number>) -> Number {
    if matrix.is_empty() {
        return Number::new(1.0, 0.0);
    }
    let factors = matrix.lu();
    let sign: f64 = factors.p().determinant();
    let diagonal = factors.u().diagonal();
    let one = Number::new(sign, 0.0);
    diagonal.iter().filter(|z| modulus(**z) > 0.0).fold(one, |product, z| product * z / modulus(*z))
}

fn angle(z: Number) -> f64 {
    math::atan2(z.im, z.re)
}
