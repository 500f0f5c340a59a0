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

    /// Does a congested packet survive, with a mark, if it can carry one?
    pub(crate) fn marks(&self) -> bool {
        match self.price {
            Price::Avq { marks, .. } | Price::Red(RedPrice { marks, .. }) => marks,
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

    /// Do its packets survive the congestion of this link, with a mark?
    pub(crate) fn is_marked_by(&self, link: &LinkPlan) -> bool {
        self.flow.ecn && link.marks()
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
        Price::Avq { utilisation, adaptation, .. } => {
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
        if let Some(flow) = self.flows.iter().find(|flow| flow.rtt == Span::ZERO) {
            return Err(FluidError::NoRoundTrip { flow: flow.name.clone() });
        }
        self.refuse_without_queues()?;
        for (link, load) in self.links.iter().zip(self.peaks()) {
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

    /// The most that arrives on each link at a time from sources that react to nothing, in bit/s. It grows only where one of
    /// them starts.
    fn peaks(&self) -> Vec<f64> {
        let mut peaks = vec![0.0; self.links.len()];
        for load in &self.loads {
            let mut together = vec![0.0; self.links.len()];
            NetworkPlan::add_loads(self, load.start.seconds(), &mut together);
            for (peak, rate) in peaks.iter_mut().zip(together) {
                *peak = f64::max(*peak, rate);
            }
        }
        peaks
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

#[cfg(test)]
mod tests {
    use longfat_control::{CONTROLLERS, SlowStart};
    use longfat_units::{Bytes, Rate};

    use super::*;
    use crate::network::{FluidLink, Load};

    /// A capacity of 100 bit/s and a buffer of 2 s.
    fn link(price: Price) -> LinkPlan {
        LinkPlan {
            capacity: 100.0,
            loss: 0.0,
            buffer: 2.0,
            price,
            crossing: Vec::new(),
            spare: None,
        }
    }

    /// A tenth at 1 s of average queue.
    fn red(marks: bool) -> Price {
        let (min, max, max_p) = (0.5, 3.0, 0.5);
        Price::Red(RedPrice { min, max, max_p, gentle: true, averaging: 4.0, marks })
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    fn at(window: f64) -> OperatingPoint {
        OperatingPoint {
            window,
            epoch_window: window,
            rtt: 10.0,
            since_event: None,
            phase: Phase::CongestionAvoidance,
            spare: 0.0,
        }
    }

    /// Four links with delays of 1, 2, 3 and 4 s, and flows over all of them with these round trips.
    fn chain(round_trips: &[u64]) -> FluidNetwork {
        let link = |(index, loss): (u64, f64)| FluidLink {
            name: "link".into(),
            rate: Rate(1000),
            delay: Span::from_seconds(index + 1),
            loss,
            buffer: None,
            price: Price::Loss,
            spare: None,
        };
        let reno = CONTROLLERS.iter().find(|entry| entry.name == "reno").expect("a controller");
        let law = reno.law.as_ref().expect("a window law")(&reno.defaults());
        let flow = |&rtt: &u64| FluidFlow {
            name: "flow".into(),
            law: law.clone(),
            route: vec![0, 1, 2, 3],
            rtt: Span::from_seconds(rtt),
            packet: Bytes(100),
            ecn: true,
            start: Span::from_seconds(10),
            stop: Some(Span::from_seconds(20)),
            initial_window: Segments(4.0),
            initial_threshold: Some(Segments(4.0)),
            slow_start: SlowStart::Standard,
            max_window: None,
            pacing: None,
        };
        FluidNetwork {
            links: (0..).zip([0.125, 0.25, 0.0, 0.0625]).map(link).collect(),
            flows: round_trips.iter().map(flow).collect(),
            loads: Vec::new(),
            warmup: Span::ZERO,
            duration: Span::from_seconds(30),
            seed: 1,
        }
    }

    /// A hundredth of the shortest round trip is kept clear at either end.
    #[test]
    fn a_link_lags_behind_the_first_by_the_delays_in_between() {
        let lags = |round_trips: &[u64], flow: usize| {
            let plan = NetworkPlan::new(&chain(round_trips));
            plan.flows[flow].hops.iter().map(|&(_, lag)| lag).collect::<Vec<_>>()
        };
        assert_eq!(lags(&[10, 50], 0), [0.0, 1.0, 3.0, 6.0]);
        assert_eq!(lags(&[5, 50], 0), [0.0, 1.0, 3.0, 4.95], "no way back is shorter");
        assert_eq!(lags(&[50, 5], 0), [0.0, 1.0, 3.0, 6.0], "of the longer one");
        assert_eq!(lags(&[150, 250], 1), [0.0, 0.0, 3.0, 6.0], "one second is negligible");
        let plan = NetworkPlan::new(&chain(&[10]));
        assert_eq!(plan.links[2].crossing, [(0, 3.0)]);
        assert_eq!(plan.flows[0].loss, 0.4375, "corruption adds up");
    }

    #[test]
    fn what_starts_at_an_instant_is_there_and_what_stops_then_is_not() {
        let mut network = chain(&[10]);
        let plan = NetworkPlan::new(&network);
        let there = [9.9, 10.0, 19.9, 20.0].map(|t| plan.flows[0].is_active(t));
        assert_eq!(there, [false, true, true, false]);
        let (start, stop) = (network.flows[0].start, network.flows[0].stop);
        network.loads.push(Load { route: vec![1, 2], rate: 7.0, start, stop });
        for (t, rate) in [(9.9, 0.0), (10.0, 7.0), (19.9, 7.0), (20.0, 0.0)] {
            let mut loads = [1.0; 4];
            NetworkPlan::add_loads(&network, t, &mut loads);
            assert_eq!(loads, [1.0, 1.0 + rate, 1.0 + rate, 1.0]);
        }
    }

    /// Half of it, but no less than two segments, and never more than there was. At its threshold a window is no longer in
    /// slow start.
    #[test]
    fn a_loss_leaves_two_segments_where_there_are_as_many() {
        let flow = &NetworkPlan::new(&chain(&[10])).flows[0];
        for (window, left) in [(10.0, 5.0), (3.0, 2.0), (1.5, 1.5)] {
            assert_eq!(flow.left(window, &at(window), Cause::Loss), left);
        }
        assert_eq!(flow.beginning(true), (4.0, Phase::CongestionAvoidance));
        assert_eq!(flow.beginning(false).0, 0.0);
    }

    /// RFC 3742: a segment for each acknowledged one up to a hundred, from there one for each floor(w/50).
    #[test]
    fn limited_slow_start_slows_above_a_hundred_segments() {
        let mut network = chain(&[10]);
        network.flows[0].slow_start = SlowStart::Limited;
        let flow = &NetworkPlan::new(&network).flows[0];
        for (window, gain) in [(100.0, 1.0), (120.0, 0.5), (155.0, 1.0 / 3.0)] {
            let point = OperatingPoint { phase: Phase::SlowStart, ..at(window) };
            near(flow.gain(&flow.operating(&point)), gain);
        }
    }

    /// At 125 bit/s a fifth is too much, and half with a virtual capacity of 62.5.
    #[test]
    fn prices_are_the_share_of_what_does_not_fit() {
        let avq = link(Price::Avq { utilisation: 0.9, adaptation: 0.5, marks: true });
        near(price(&avq, 125.0, &[1.0]), 0.2);
        near(price(&avq, 125.0, &[0.625]), 0.5);
        near(price(&avq, 50.0, &[0.625]), 0.0);
        let full = link(Price::Overflow);
        near(price(&full, 125.0, &[2.0]), 0.2);
        near(price(&full, 125.0, &[1.9]), 0.0);
        near(price(&full, 75.0, &[2.0]), 0.0);
        // Of the nine tenths that RED spares, a fifth does not fit. Its average decides, not the queue.
        near(price(&link(red(true)), 125.0, &[2.0, 1.0]), 0.1 + 0.9 * 0.2);
        near(price(&link(red(true)), 125.0, &[1.9, 1.0]), 0.1);
        near(price(&link(Price::Loss), 125.0, &[]), 0.0);
    }

    #[test]
    fn virtual_queues_and_red_mark_and_full_buffers_lose() {
        let avq = |marks| Price::Avq { utilisation: 1.0, adaptation: 0.5, marks };
        for (price, marks) in [
            (avq(true), true),
            (avq(false), false),
            (red(true), true),
            (red(false), false),
            (Price::Overflow, false),
            (Price::Loss, false),
        ] {
            assert_eq!(link(price).marks(), marks, "{price:?}");
        }
    }

    fn slopes<const N: usize>(link: &LinkPlan, load: f64, state: [f64; N]) -> [f64; N] {
        let mut slope = [9.0; N];
        link_slope(link, load, &state, &mut slope);
        slope
    }

    /// 125 bit/s where 100 fit add a quarter of a second per second, and 75 take as much.
    #[test]
    fn a_queue_grows_by_what_does_not_fit_between_its_bounds() {
        let full = link(Price::Overflow);
        for (load, queue, slope) in [
            (125.0, 1.0, 0.25),
            (75.0, 1.0, -0.25),
            (125.0, 0.0, 0.25),
            (75.0, 0.0, 0.0),
            (125.0, 2.0, 0.0),
            (75.0, 2.0, -0.25),
        ] {
            assert_eq!(slopes(&full, load, [queue]), [slope], "{load} at {queue}");
            assert_eq!(slopes(&link(red(true)), load, [queue, queue])[0], slope, "RED's");
        }
        // Four times per second the average comes closer, to no more than a full buffer and no less than none.
        assert_eq!(slopes(&link(red(true)), 100.0, [1.5, 1.0])[1], 2.0);
        assert_eq!(slopes(&link(red(true)), 100.0, [2.5, 1.0])[1], 4.0);
        assert_eq!(slopes(&link(red(true)), 100.0, [-0.5, 1.0])[1], -4.0);
    }

    /// Half of what 0.75 of the capacity leaves, per second, between nothing and all of it.
    #[test]
    fn a_virtual_capacity_adapts_between_its_bounds() {
        let avq = link(Price::Avq { utilisation: 0.75, adaptation: 0.5, marks: true });
        for (load, capacity, slope) in [
            (100.0, 0.5, -0.125),
            (50.0, 0.5, 0.125),
            (50.0, 0.875, 0.125),
            (50.0, 1.0, 0.0),
            (100.0, 1.0, -0.125),
            (100.0, 0.0, 0.0),
            (50.0, 0.0, 0.125),
        ] {
            assert_eq!(slopes(&avq, load, [capacity]), [slope], "{load} at {capacity}");
        }
    }

    /// Below half of 100 bit/s; a link that overwrites the bit does not ask what it was.
    #[test]
    fn a_link_has_capacity_to_spare_below_its_threshold() {
        let aware = |overwrites| LinkPlan {
            spare: Some(Spare { below: 0.5, overwrites }),
            ..link(Price::Loss)
        };
        for (overwrites, before, load, after) in [
            (false, true, 49.0, true),
            (false, true, 50.0, false),
            (false, false, 49.0, false),
            (true, false, 49.0, true),
            (true, true, 51.0, false),
        ] {
            assert_eq!(aware(overwrites).spare(before, load), after, "{overwrites} {load}");
        }
        assert!(!link(Price::Loss).spare(true, 0.0), "it does not know the bit");
    }

    /// A weight of one would forget everything at once: it counts as 0.999, ln 1000 per packet.
    #[test]
    fn no_average_forgets_at_once() {
        near(averaging(1.0, 2.0), 2.0 * 6.907_755_278_982_137);
    }

    #[test]
    fn short_flows_must_leave_room_on_links_that_charge() {
        let mut network = chain(&[10]);
        network.loads.push(Load { route: vec![0], rate: 1000.0, start: Span::ZERO, stop: None });
        assert_eq!(network.check(), Ok(()), "nothing charges");
        network.links[0].price = Price::Overflow;
        assert!(matches!(network.check(), Err(FluidError::Overload { .. })), "exactly full");
        network.loads[0].rate = 999.0;
        assert_eq!(network.check(), Ok(()));
    }

    /// Six tenths each, one after the other: the second starts where the first stops, or a second before.
    #[test]
    fn short_flows_that_come_after_others_have_their_room() {
        let mut network = chain(&[10]);
        network.links[0].price = Price::Overflow;
        let (start, stop) = (Span::from_seconds(10), None);
        network.loads.push(Load { route: vec![0], rate: 600.0, start, stop });
        network.loads.push(Load {
            start: Span::ZERO,
            stop: Some(start),
            ..network.loads[0].clone()
        });
        assert_eq!(network.check(), Ok(()));
        network.loads[0].start = Span::from_seconds(9);
        assert!(matches!(network.check(), Err(FluidError::Overload { .. })), "for a second");
    }

    #[test]
    fn flows_without_a_round_trip_are_refused() {
        let refused = chain(&[10, 0]).check();
        assert!(matches!(refused, Err(FluidError::NoRoundTrip { .. })), "{refused:?}");
    }

    #[test]
    fn windows_beyond_the_ceiling_are_refused() {
        let network = chain(&[10, 20]);
        assert_eq!(network.refuse_outgrown(&[1.0, CEILING, 2.0 * CEILING], 5.0), Ok(()));
        let refused = network.refuse_outgrown(&[1.0, 1.01 * CEILING], 5.0);
        assert!(matches!(refused, Err(FluidError::Unbounded { .. })), "{refused:?}");
    }
}
