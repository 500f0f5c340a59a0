//! What is solved: links, flows, and what a link charges.

use longfat_control::{Pacing, SlowStart, WindowLaw};
use longfat_units::{Bytes, Rate, Segments, Span};
use thiserror::Error;

/// A complete network: nothing is left to a default.
#[derive(Clone, Debug)]
pub struct FluidNetwork {
    /// The links; each is one direction.
    pub links: Vec<FluidLink>,
    /// The long flows.
    pub flows: Vec<FluidFlow>,
    /// Other traffic on the links, which reacts to nothing.
    pub loads: Vec<Load>,
    /// How much of the beginning every average leaves out.
    pub warmup: Span,
    /// How long to solve for.
    pub duration: Span,
    /// What the streams of random numbers are derived from; the mean field draws none.
    pub seed: u64,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct FluidLink {
    /// Its name, for messages.
    pub name: String,
    /// Its capacity.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Probability that a packet is corrupted, whatever the load.
    pub loss: f64,
    /// How long a full buffer takes to drain; `None`: unlimited.
    pub buffer: Option<Span>,
    /// What it charges for its capacity.
    pub price: Price,
    /// How it signals capacity to spare to AntiECN flows; `None`: it does not support AntiECN.
    pub spare: Option<Spare>,
}

/// How an AntiECN link signals capacity to spare. A flow sees the signal only if every link of its route supports
/// AntiECN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spare {
    /// There is capacity to spare while the load is below this share of it, above 0 and at most 1.
    pub below: f64,
    /// The link sets the bit to its own answer, whatever the links before it said; otherwise it only ever clears it.
    pub overwrites: bool,
}

/// What a link charges: the probability p that a packet is marked or lost, from the load X and the capacity C.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Price {
    /// The adaptive virtual queue as a fluid (Kunniyur and Srikant 2001): a virtual capacity C̃ that shrinks as long
    /// as the load exceeds the share γ of the capacity, C̃' = a (γ C - X), C̃ ≤ C, and p = (X - C̃)/X where positive.
    /// No queue forms. It solves the problem of the papers exactly: X = γ C at every bottleneck.
    Avq {
        /// γ, the share of the capacity to be used.
        utilisation: f64,
        /// a, per second.
        adaptation: f64,
        /// Packets are marked, not dropped.
        marks: bool,
    },
    /// Drop tail: the queue grows by X - C, and what does not fit into a full buffer is lost, p = (X - C)/X.
    Overflow,
    /// Random early detection (Misra, Gong and Towsley 2000): a queue, its average, and a probability that grows with
    /// the average.
    Red(RedPrice),
    /// Nothing but corruption: the capacity has no effect.
    Loss,
}

/// Random early detection. Queue lengths are given as the time they take to drain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedPrice {
    /// Average queue at which marking begins.
    pub min: f64,
    /// Average queue at which `max_p` is reached, in seconds.
    pub max: f64,
    /// Probability at `max`.
    pub max_p: f64,
    /// If set, the probability grows to 1 between `max` and twice `max`; otherwise it jumps to 1 at `max`.
    pub gentle: bool,
    /// How fast the average follows the queue, per second: -ln(1 - weight) per packet.
    pub averaging: f64,
    /// Packets are marked, not dropped.
    pub marks: bool,
}

/// A long flow.
#[derive(Clone, Debug)]
pub struct FluidFlow {
    /// Its name, for messages.
    pub name: String,
    /// Its window law.
    pub law: Box<dyn WindowLaw>,
    /// Indices into [`FluidNetwork::links`], in the order of travel.
    pub route: Vec<usize>,
    /// Round trip without queues.
    pub rtt: Span,
    /// Size of its packets.
    pub packet: Bytes,
    /// Can its packets carry marks? If not, those that a link would mark are lost.
    pub ecn: bool,
    /// When it starts.
    pub start: Span,
    /// When it stops; `None`: never.
    pub stop: Option<Span>,
    /// Its first window.
    pub initial_window: Segments,
    /// Slow start ends here, or with the first mark or loss.
    pub initial_threshold: Option<Segments>,
    /// How the window grows below the threshold; `hystart` and `hystart++`, which watch queues packet by packet, are
    /// standard slow start here.
    pub slow_start: SlowStart,
    /// The most that may be in flight.
    pub max_window: Option<u64>,
    /// How it is paced, whatever the law asks for; `None`: as the law asks.
    pub pacing: Option<Pacing>,
}

/// A load that reacts to nothing: the mean load of short flows.
#[derive(Clone, Debug)]
pub struct Load {
    /// Indices into [`FluidNetwork::links`].
    pub route: Vec<usize>,
    /// In bit/s.
    pub rate: f64,
    /// When it starts.
    pub start: Span,
    /// When it stops; `None`: never.
    pub stop: Option<Span>,
}

impl FluidNetwork {
    /// Is the AntiECN bit in use on the route of `flow`, and does its law react to it?
    pub(crate) fn hears_of_spare(&self, flow: &FluidFlow) -> bool {
        flow.law.needs().spare && flow.route.iter().all(|&link| self.links[link].spare.is_some())
    }
}

/// Why a scenario or a network cannot be solved as asked.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FluidError {
    /// Short flows alone, or nothing.
    #[error("the fluid model covers long flows only, and this scenario has none: add a [[flow]]")]
    NoLongFlows,
    /// A controller without equations: neither a window law nor one of XCP and VCP.
    #[error(
        "flow `{flow}`: `{control}` has no window law, nor equations of its own. The fluid model covers: {}",
        covered.join(", ")
    )]
    NoLaw {
        /// The group of flows.
        flow: String,
        /// Its controller.
        control: String,
        /// The controllers of the scenario's catalogue that have a law, or equations of their own.
        covered: Vec<String>,
    },
    /// Flows whose routers say how rates change, beside others.
    #[error(
        "flow `{flow}` has the controller `{control}`, whose routers say how rates change, and flow `{other}` has \
         `{other_control}`: no equations cover both. Give all long flows the same controller, or simulate packets"
    )]
    MixedWithExplicit {
        /// A group of flows whose routers say how rates change.
        flow: String,
        /// Its controller.
        control: String,
        /// Another group of flows.
        other: String,
        /// The controller of that.
        other_control: String,
    },
    /// Something that the equations of XCP and VCP do not have.
    #[error("the equations of `{control}` do not cover {what}: {help}, or simulate packets")]
    BeyondExplicit {
        /// The controller.
        control: String,
        /// What they do not cover, and where it is.
        what: String,
        /// What to change.
        help: &'static str,
    },
    /// The hybrid or the synchronised model of flows whose routers say how rates change.
    #[error(
        "routers say how the rates of `{control}` change, and this model is about windows that fall at losses: choose \
         the model mean-field"
    )]
    NoLosses {
        /// The controller.
        control: String,
    },
    /// XCP or VCP with a parameter at zero.
    #[error(
        "flows of `{control}` settle nowhere in particular where `{parameter}` is 0. Set it above 0, or solve the \
         equations in time instead"
    )]
    NoRest {
        /// The controller.
        control: String,
        /// The parameter.
        parameter: &'static str,
    },
    /// A flow with a size, which would finish at some point.
    #[error(
        "flow `{flow}` has a size, and the fluid model does not count what is left to send. Give it a `stop` instead"
    )]
    Sized {
        /// The group of flows.
        flow: String,
    },
    /// Flows whose data an application writes.
    #[error(
        "flow `{flow}` has an application (\"{kind}\"), and the fluid model covers flows that always have something to \
         send: leave out `application`, or simulate packets"
    )]
    Application {
        /// The group of flows.
        flow: String,
        /// The kind of application.
        kind: &'static str,
    },
    /// Short flows that are listed one by one.
    #[error(
        "traffic `{flow}` replays a list of flows, and the fluid model knows short flows by their mean rate: give it \
         `arrivals` and a `size`, or simulate packets"
    )]
    Replay {
        /// The group of short flows.
        flow: String,
    },
    /// A receive window that grows with what arrives.
    #[error(
        "flow `{flow}` has a receive window that grows with what arrives, which no equation describes: make it a fixed \
         one, or leave it out"
    )]
    RightSizing {
        /// The group of flows.
        flow: String,
    },
    /// Senders behind a link of their own that is no faster than their path.
    #[error(
        "flow `{flow}` has an `access` of {access}, no faster than link `{link}` of its path, and the fluid model has \
         no queue of a sender: raise it, leave it out, or put a link of that rate into the `path`"
    )]
    Access {
        /// The group of flows.
        flow: String,
        /// The rate of their own links.
        access: Rate,
        /// The slowest link of their path.
        link: String,
    },
    /// Flows that know their path from before.
    #[error(
        "flow `{flow}` begins with what is known of its path, which no equation describes: leave out \
         `careful_resume`, or simulate packets"
    )]
    CarefulResume {
        /// The group of flows.
        flow: String,
    },
    /// Flows without a round trip.
    #[error(
        "flow `{flow}` has a round trip of 0, and the fluid model sends a window per round trip: give it an `rtt`, of a \
         microsecond say, or simulate packets"
    )]
    NoRoundTrip {
        /// The flow.
        flow: String,
    },
    /// A link that is no constant.
    #[error(
        "link `{link}` is no constant, and the fluid model covers constant links only: leave out its `change`, \
         `trace`, `jitter`, `reorder`, `duplicate`, `burst_loss`, `policer`, `shaper`, `acknowledgments` and `ecn`"
    )]
    Varying {
        /// The link.
        link: String,
    },
    /// RED prices of a link without RED.
    #[error(
        "link `{link}` has no RED queue to take the price from. Add `queue = \"red\"` to it, or choose another price: \
         avq, overflow or loss"
    )]
    NoRed {
        /// The link.
        link: String,
    },
    /// A law that answers queueing delay, and no queue.
    #[error(
        "flow `{flow}` answers queueing delay, and no link of its path has a queue at this price. Choose another one: \
         overflow or red"
    )]
    NoQueue {
        /// The flow.
        flow: String,
    },
    /// A law that does not wait for losses, in a model of nothing else.
    #[error(
        "flow `{flow}` answers queueing delay, and the synchronised model is about flows that only losses hold: \
         choose another model, mean-field or hybrid"
    )]
    NotByLoss {
        /// The flow.
        flow: String,
    },
    /// AntiECN whose virtual queue empties between two trains of packets.
    #[error(
        "the virtual queue of AntiECN on link `{link}` is so small that it empties between two trains of packets, \
         which the fluid model does not see. Give `anti_ecn` a `buffer` of at least \"{least}\" for flow `{flow}`"
    )]
    SmallVirtualBuffer {
        /// The link.
        link: String,
        /// A flow that reacts to its signal.
        flow: String,
        /// The smallest virtual buffer for which the fluid model holds.
        least: Bytes,
    },
    /// An equilibrium at which AntiECN would still signal capacity to spare.
    #[error(
        "where flow `{flow}` would settle, every link of its path has capacity to spare; since AntiECN tells it so, \
         it does not settle there. Solve the equations in time instead, or lower the `threshold` of a link's `anti_ecn`"
    )]
    SpareAtRest {
        /// The flow.
        flow: String,
    },
    /// Stability of a law that the linear equations do not cover.
    #[error(
        "what flow `{flow}` adds depends on how long ago its last loss was, which the linear equations leave out: they \
         cannot say whether it is stable. Solve the equations in time instead, or ask for the equilibrium alone"
    )]
    AgeOfLosses {
        /// The flow.
        flow: String,
    },
    /// Stability of a queue whose price jumps where it settles.
    #[error(
        "link `{link}` settles where its RED goes from `max_p` to 1 at once, and at a jump no linear equation holds: they \
         cannot say whether it is stable. Make it `gentle`, solve the equations in time, or ask for the equilibrium alone"
    )]
    AtJump {
        /// The link.
        link: String,
    },
    /// Windows that nothing holds.
    #[error(
        "nothing holds the window of flow `{flow}`: {why}. Give a link of its path a loss probability or another \
         price, or the flow a max_window"
    )]
    Unbounded {
        /// The flow.
        flow: String,
        /// What its links charge.
        why: String,
    },
    /// A link that is too small for what crosses it.
    #[error("link `{link}` is too small: {why}. Raise its rate, or send fewer flows over it")]
    Overload {
        /// The link.
        link: String,
        /// How far it falls short.
        why: String,
    },
    /// An equilibrium that is one of several.
    #[error(
        "flow `{flow}` has several windows at which it would settle: {found:.1} segments is one, and another lies beyond \
         {between:.1}, where its law jumps. Solve the equations in time instead: they go where its first window leads"
    )]
    SeveralRests {
        /// The flow.
        flow: String,
        /// One of the windows, in segments.
        found: f64,
        /// A window at which its law jumps from shrinking to growing.
        between: f64,
    },
    /// The equilibrium was not found.
    #[error(
        "no equilibrium was found: after {steps} steps the load of link `{link}` is still {error:.1e} off. {why}; \
         solve the equations in time instead"
    )]
    NotFound {
        /// Newton steps taken.
        steps: usize,
        /// The worst link.
        link: String,
        /// Its relative error.
        error: f64,
        /// What it may come from.
        why: String,
    },
    /// Equations that take too many steps.
    #[error(
        "the solver gave up at t = {at:.3} s after {steps} steps: the equations are stiff at these windows. Try \
         another price, the hybrid model, or a shorter duration"
    )]
    TooManySteps {
        /// Steps taken.
        steps: u64,
        /// How far they got, in seconds.
        at: f64,
    },
    /// Equations whose solution is no longer finite.
    #[error(
        "the equations have no finite solution beyond t = {at:.3} s{}. Shorten the duration, or give {} a max_window",
        .flow.as_ref().map_or_else(String::new, |flow| format!(", where the window of flow `{flow}` explodes")),
        .flow.as_ref().map_or_else(|| "every flow".into(), |flow| format!("flow `{flow}`"))
    )]
    NotFinite {
        /// The flow whose window is no longer a number; `None` if no single flow is the cause.
        flow: Option<String>,
        /// How far they got, in seconds.
        at: f64,
    },
    /// The same for flows whose routers say how rates change.
    #[error(
        "the equations have no finite solution beyond t = {at:.3} s: shorten the duration, or start fewer flows at once"
    )]
    ExplicitNotFinite {
        /// How far they got, in seconds.
        at: f64,
    },
    /// The synchronised model has one link.
    #[error("the synchronised model needs one link that all flows cross; this network has {0}")]
    NotOneLink(String),
    /// No flow left at the end.
    #[error("no flow is left at the end: an equilibrium needs flows that never stop")]
    NoFlows,
}

impl RedPrice {
    /// The marking probability at this average, and its slope per second of queue.
    pub(crate) fn probability(&self, average: f64) -> (f64, f64) {
        if average <= self.min {
            (0.0, 0.0)
        } else if average < self.max {
            let slope = self.max_p / (self.max - self.min);
            (slope * (average - self.min), slope)
        } else if self.gentle && average < 2.0 * self.max {
            let slope = (1.0 - self.max_p) / self.max;
            (self.max_p + slope * (average - self.max), slope)
        } else {
            (1.0, 0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 1 s to 3 s the probability rises to 0.2, and to 1 at twice 3 s where RED is gentle.
    #[test]
    fn red_rises_to_its_maximum_and_then_to_one() {
        let gentle =
            RedPrice { min: 1.0, max: 3.0, max_p: 0.2, gentle: true, averaging: 1.0, marks: true };
        let near = |red: &RedPrice, average: f64, probability: f64, slope: f64| {
            let found = red.probability(average);
            let off = (found.0 - probability).abs().max((found.1 - slope).abs());
            assert!(off < 1e-12, "{found:?} at {average}");
        };
        for (average, probability, slope) in [
            (0.5, 0.0, 0.0),
            (1.0, 0.0, 0.0),
            (2.0, 0.1, 0.1),
            (3.0, 0.2, 0.8 / 3.0),
            (4.5, 0.6, 0.8 / 3.0),
            (6.0, 1.0, 0.0),
            (8.0, 1.0, 0.0),
        ] {
            near(&gentle, average, probability, slope);
        }
        let abrupt = RedPrice { gentle: false, ..gentle };
        near(&abrupt, 2.0, 0.1, 0.1);
        near(&abrupt, 3.0, 1.0, 0.0);
        near(&abrupt, 4.5, 1.0, 0.0);
    }
}
