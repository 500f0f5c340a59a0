//! Flows and links near the equilibrium: what each makes of a small disturbance.

use longfat_control::Cause;
use longfat_units::math;
use nalgebra::{Complex, DMatrix};

use crate::demand::Chances;
use crate::equilibrium::{Equilibrium, FlowRest};
use crate::network::Price;
use crate::plan::{FlowPlan, LEAST_WINDOW, LinkPlan, NetworkPlan, OperatingPoint};

pub(crate) type Number = Complex<f64>;

/// A link that charges, or whose queue moves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinearLink {
    /// Price per load, at once.
    direct: f64,
    /// Price per load and time.
    adapting: f64,
    /// Queue in seconds per load and time.
    queueing: f64,
    /// Price per second of averaged queue, and how fast the average follows.
    pub(crate) averaged: (f64, f64),
    /// A rate c of the network's own, per second: what cancels the pole at 0 is s/(s + c).
    pub(crate) corner: f64,
}

/// A group of identical flows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinearFlow {
    pub(crate) count: f64,
    /// Links of its route that charge or queue: index, lag, and the change of growth per price, in segments/s.
    hops: Vec<(usize, f64, f64)>,
    bits: f64,
    rate: f64,
    pub(crate) round_trip: f64,
    /// Growth per window, per epoch window and per second of round trip; the epoch window's own, per window and memory.
    pub(crate) window: f64,
    epoch: f64,
    stretch: f64,
    /// Growth per second of round trip, as acknowledgments report it.
    heard: f64,
    coupling: f64,
    pub(crate) memory: f64,
}

impl LinearLink {
    pub(crate) fn integrates(&self) -> bool {
        self.adapting != 0.0 || self.queueing != 0.0
    }

    /// s/(s + c) where the link integrates: it cancels the pole at 0.
    pub(crate) fn cancels(&self, s: Number) -> Number {
        if self.integrates() { s / (s + self.corner) } else { Number::new(1.0, 0.0) }
    }

    /// Price and queue per load, times what `cancels`.
    pub(crate) fn response(&self, s: Number) -> (Number, Number) {
        if !self.integrates() {
            return (Number::new(self.direct, 0.0), Number::new(0.0, 0.0));
        }
        let over = Number::new(1.0, 0.0) / (s + self.corner);
        let queue = over * self.queueing;
        let (slope, memory) = self.averaged;
        let averaged =
            if slope == 0.0 { queue * 0.0 } else { queue * (slope * memory) / (s + memory) };
        ((s * self.direct + self.adapting) * over + averaged, queue)
    }
}

impl LinearFlow {
    /// Are these the same apart from their count?
    pub(crate) fn alike(&self, other: &Self) -> bool {
        Self { count: other.count, ..self.clone() } == *other
    }

    /// χ(s) = (s - window)(s + memory) - epoch · coupling.
    fn own(&self, s: Number) -> Number {
        (s - self.window) * (s + self.memory) - self.epoch * self.coupling
    }

    /// The fastest of its own rates, per second.
    pub(crate) fn corner(&self) -> f64 {
        self.window.abs() + self.memory + math::sqrt((self.epoch * self.coupling).abs())
    }

    /// Where the flow swings by itself if little damps it, in radians per second.
    pub(crate) fn natural_frequency(&self) -> f64 {
        math::sqrt((self.window * self.memory + self.epoch * self.coupling).abs())
    }

    /// The parts of what [`add`](Self::add) adds: what these flows return at once, and how much more they return whenever
    /// that comes.
    pub(crate) fn add_parts(
        &self,
        s: Number,
        responses: &[(Number, Number)],
        at_once: &mut DMatrix<Number>,
        later: &mut DMatrix<f64>,
    ) {
        let window = (s + self.memory) / (self.own(s) * self.round_trip);
        let load = self.count * self.bits;
        for &(column, _, answer) in &self.hops {
            let (price, queue) = responses[column];
            let grown = modulus(window) * (modulus(price * answer) + modulus(queue * self.heard));
            let now = (window * self.stretch - self.rate / self.round_trip) * queue;
            for &(row, lag, _) in &self.hops {
                later[(row, column)] += grown * load;
                if lag == 0.0 {
                    at_once[(row, column)] -= now * load;
                } else {
                    later[(row, column)] += modulus(now) * load;
                }
            }
        }
    }

    /// The longest time after which something of a disturbance comes back: the round trip, unless nothing is answered.
    pub(crate) fn latest(&self) -> f64 {
        let answers = self.heard != 0.0 || self.hops.iter().any(|&(_, _, answer)| answer != 0.0);
        let farthest = self.hops.iter().map(|&(_, lag, _)| lag).fold(0.0, f64::max);
        if answers { self.round_trip } else { farthest }
    }

    /// How many zeros of χ lie to the right: s² + (memory - window) s - (window · memory + epoch · coupling).
    pub(crate) fn own_unstable(&self) -> u32 {
        let constant = -(self.window * self.memory + self.epoch * self.coupling);
        if constant < 0.0 {
            1
        } else if self.memory < self.window {
            2
        } else {
            0
        }
    }

    /// Adds what these flows return to each link of their route; `responses` are those of the links.
    pub(crate) fn add(
        &self,
        s: Number,
        delay: f64,
        responses: &[(Number, Number)],
        returned: &mut DMatrix<Number>,
    ) {
        let window = (s + self.memory) / (self.own(s) * self.round_trip);
        let load = self.count * self.bits;
        let late = delayed(s, delay * self.round_trip);
        for &(column, column_lag, answer) in &self.hops {
            let (price, queue) = responses[column];
            // The sender learns of a price that much sooner if it was met a lag after the first link.
            let back = delayed(s, -delay * column_lag);
            let mut grown = price * late * back * answer;
            if self.heard != 0.0 {
                grown += queue * late * back * self.heard;
            }
            // Fewer segments are acknowledged per second while the queues stretch the round trip.
            let stretched = queue * (self.rate / self.round_trip);
            let change = (window * (grown + queue * self.stretch) - stretched) * load;
            for &(row, row_lag, _) in &self.hops {
                returned[(row, column)] -= change * delayed(s, delay * row_lag);
            }
        }
    }
}

/// exp(-s t) on the imaginary axis.
fn delayed(s: Number, t: f64) -> Number {
    if t == 0.0 {
        return Number::new(1.0, 0.0);
    }
    Number::new(math::cos(s.im * t), -math::sin(s.im * t))
}

/// A link near its equilibrium; `None` if it has capacity to spare.
pub(crate) fn linear_link(
    link: &LinkPlan,
    price: f64,
    load: f64,
    queue: f64,
) -> Option<LinearLink> {
    let bits = load * link.capacity;
    let overflow = |before: f64| LinearLink {
        direct: (1.0 - before) * link.capacity / (bits * bits),
        ..LinearLink::default()
    };
    let queueing = 1.0 / link.capacity;
    match link.price {
        Price::Loss => None,
        Price::Avq { adaptation, .. } => (price > 0.0).then(|| LinearLink {
            direct: (1.0 - price) / bits,
            adapting: adaptation / bits,
            ..LinearLink::default()
        }),
        Price::Overflow if price > 0.0 => Some(overflow(0.0)),
        Price::Red(red) if load > 1.0 + 1e-9 => Some(overflow(red.probability(queue).0)),
        Price::Overflow => (queue > 0.0).then(|| LinearLink { queueing, ..LinearLink::default() }),
        Price::Red(red) => (queue > 0.0).then(|| LinearLink {
            queueing,
            averaged: (red.probability(queue).1, red.averaging),
            ..LinearLink::default()
        }),
    }
}

/// Does the queue rest where RED's probability jumps? Its price is then between the two sides of the jump: the average
/// goes to and fro across it.
pub(crate) fn is_at_jump(link: &LinkPlan, price: f64, queue: f64) -> bool {
    match link.price {
        Price::Red(red) => {
            let jumps = !red.gentle && red.max_p < 1.0 && red.max < link.buffer;
            jumps && queue >= red.max && price > red.max_p
        }
        Price::Avq { .. } | Price::Overflow | Price::Loss => false,
    }
}

/// What a packet of a flow meets at rest.
fn chances(plan: &NetworkPlan, flow: &FlowPlan, rest: &Equilibrium) -> Chances {
    let mut chances = Chances { marks: 0.0, losses: flow.loss };
    for &(link, _) in &flow.hops {
        let price = rest.links[link].price;
        if flow.is_marked_by(&plan.links[link]) {
            chances.marks += price;
        } else {
            chances.losses += price;
        }
    }
    chances
}

/// Does what a flow adds at rest depend on how long ago its last event was?
pub(crate) fn heeds_age(
    plan: &NetworkPlan,
    flow: &FlowPlan,
    state: &FlowRest,
    rest: &Equilibrium,
) -> bool {
    let point = flow.balanced(state.window, state.round_trip, chances(plan, flow, rest));
    let gain = |age: f64| {
        let since_event = point.since_event.map(|since| since * age);
        flow.gain(&flow.operating(&OperatingPoint { since_event, ..point }))
    };
    gain(0.99) != gain(1.01)
}

pub(crate) fn linear_flow(
    plan: &NetworkPlan,
    flow: &FlowPlan,
    state: &FlowRest,
    rest: &Equilibrium,
    index: &[Option<usize>],
) -> LinearFlow {
    let chances = chances(plan, flow, rest);
    let rate = state.window / state.round_trip;
    let point = flow.balanced(state.window, state.round_trip, chances);
    // Windows at a bound do not respond.
    let bound = state.window <= LEAST_WINDOW * (1.0 + 1e-9)
        || state.window >= flow.max_window * (1.0 - 1e-9);
    let answers = if bound { 0.0 } else { 1.0 };
    let growth = |point: &OperatingPoint| flow.net_gain(point, chances);
    let slope = |by: f64, moved: &dyn Fn(f64) -> OperatingPoint| {
        (growth(&moved(by)) - growth(&moved(-by))) / (2.0 * by)
    };
    let by = 1e-6;
    let w = by * point.window;
    let at_window = |change: f64| OperatingPoint { window: point.window + change, ..point };
    let at_epoch =
        |change: f64| OperatingPoint { epoch_window: point.epoch_window + change, ..point };
    let at_rtt = |change: f64| OperatingPoint { rtt: point.rtt + change, ..point };
    let left = |point: &OperatingPoint| flow.kept(point, chances);
    let events = rate * (chances.marks + chances.losses);
    let hops = flow.hops.iter().filter_map(|&(link, lag)| {
        let marked = flow.is_marked_by(&plan.links[link]);
        let cause = if marked { Cause::Mark } else { Cause::Loss };
        let share = flow.law().give_up(&flow.operating(&point), cause);
        index[link].map(|at| (at, lag, -answers * rate * share * point.window))
    });
    let stretch = answers * rate * slope(flow.small_wait(point.rtt), &at_rtt);
    let (stretch, heard) = if flow.flow.heeds_delay() { (0.0, stretch) } else { (stretch, 0.0) };
    LinearFlow {
        count: 1.0,
        hops: hops.collect(),
        bits: flow.bits,
        rate,
        round_trip: state.round_trip,
        window: if bound { -1.0 / state.round_trip } else { rate * slope(w, &at_window) },
        epoch: answers * rate * slope(w, &at_epoch),
        stretch,
        heard,
        coupling: events * (left(&at_window(w)) - left(&at_window(-w))) / (2.0 * w),
        memory: events.max(1e-9 / state.round_trip),
    }
}

impl FlowPlan {
    /// What a packet gains less what it costs, in segments.
    pub(crate) fn net_gain(&self, point: &OperatingPoint, chances: Chances) -> f64 {
        let at = self.operating(point);
        let taken = |cause: Cause, probability: f64| {
            if probability > 0.0 { probability * self.law().give_up(&at, cause) } else { 0.0 }
        };
        let share = taken(Cause::Mark, chances.marks) + taken(Cause::Loss, chances.losses);
        self.gain(&at) - share * point.window
    }

    /// The mean window after an event.
    fn kept(&self, point: &OperatingPoint, chances: Chances) -> f64 {
        let at = self.operating(point);
        let total = (chances.marks + chances.losses).max(f64::MIN_POSITIVE);
        let marks = chances.marks / total * self.law().give_up(&at, Cause::Mark);
        let losses = chances.losses / total * self.law().give_up(&at, Cause::Loss);
        point.window * (1.0 - marks - losses)
    }
}

pub(crate) fn modulus(z: Number) -> f64 {
    math::sqrt(z.norm_sqr())
}
