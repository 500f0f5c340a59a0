//! A scenario in the terms of the fluid model.
//!
//! The fluid takes from a scenario what it can model: the window laws of long flows, the mean load of short ones, what
//! links charge and where AntiECN finds capacity to spare. It refuses what it can say nothing about.

use std::sync::Arc;

use longfat_control::Controller;
use longfat_queue::Capacity;
use longfat_queue::discipline::red;
use longfat_scenario::{
    AntiEcnMarker, AntiEcnMode, Choice, Direction, FlowGroup, ReceiveBuffer, Scenario, TrafficGroup,
};
use longfat_units::parameter::Setting;
use longfat_units::{Bytes, Segments, Span};

use crate::explicit_scenario::CONTROLS;
use crate::indescribable::refuse_indescribable;
use crate::labels::{FlowLabel, Labels};
use crate::load::mean_packets;
use crate::network::{
    FluidError, FluidFlow, FluidLink, FluidNetwork, Load, Price, RedPrice, Spare,
};
use crate::plan::averaging;

/// What every link charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pricing {
    /// What its queue does: a full drop-tail buffer overflows, RED and AVQ mark. Where the model has no equations of a
    /// queue, a virtual queue stands in ([`Charge::stands_in`]).
    #[default]
    Queue,
    /// A virtual queue marks what exceeds the capacity: the link's own if it has one, else one that uses all of it.
    Avq,
    /// What does not fit into a full buffer is lost.
    Overflow,
    /// The RED queues of the scenario.
    Red,
    /// Nothing but corruption.
    Loss,
}

impl Pricing {
    /// Every one, the default first.
    pub const ALL: [Self; 5] = [Self::Queue, Self::Avq, Self::Overflow, Self::Red, Self::Loss];

    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Avq => "avq",
            Self::Overflow => "overflow",
            Self::Red => "red",
            Self::Loss => "loss",
        }
    }

    /// The one called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pricing| pricing.name() == name)
    }

    /// What a link with a queue of this kind charges.
    fn charge(self, queue: &str) -> Charge {
        let known = |pricing| Charge { pricing, stands_in: None };
        match (self, queue) {
            (Self::Queue, "drop-tail") => known(Self::Overflow),
            (Self::Queue, "red") => known(Self::Red),
            (Self::Queue, "avq") => known(Self::Avq),
            (Self::Queue, other) => {
                Charge { pricing: Self::Avq, stands_in: Some(other.to_owned()) }
            }
            (pricing, _) => known(pricing),
        }
    }
}

/// What a link charges in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Charge {
    /// Its price: any but [`Pricing::Queue`].
    pub pricing: Pricing,
    /// The kind of queue for which a virtual one stands in, if the model has no equations of it.
    pub stands_in: Option<String>,
}

/// A network made from a scenario, and what its flows and links are called there.
#[derive(Debug)]
#[non_exhaustive]
pub struct FluidSetup {
    /// What is solved.
    pub network: FluidNetwork,
    /// Spacing of the time series.
    pub sample: Span,
    /// What its flows and links are called.
    pub labels: Labels,
    /// What each of its links charges.
    pub charges: Vec<Charge>,
}

impl FluidSetup {
    /// The fluid model of `scenario` in which links charge as `pricing` says.
    ///
    /// Directions of links that no flow crosses are left out.
    ///
    /// # Errors
    /// If the scenario does not fit the fluid model: no long flow, controllers without a window law, flows with a size
    /// or an application, or that know their path, senders behind slow links, receive windows that grow, links that
    /// change in time, RED prices of a link without RED, AntiECN with a small virtual buffer.
    pub fn of(scenario: &Scenario, pricing: Pricing) -> Result<Self, FluidError> {
        let mut setup = Self {
            network: FluidNetwork {
                links: Vec::new(),
                flows: Vec::new(),
                loads: Vec::new(),
                warmup: scenario.warmup,
                duration: scenario.duration,
                seed: scenario.seed,
            },
            sample: scenario.sample,
            labels: Labels::new(scenario),
            charges: Vec::new(),
        };
        if scenario.flows.is_empty() {
            return Err(FluidError::NoLongFlows);
        }
        for group in &scenario.flows {
            setup.add_group(scenario, group)?;
        }
        for group in &scenario.traffic {
            if group.replay.is_some() {
                return Err(FluidError::Replay { flow: group.name.clone() });
            }
            setup.add_traffic(group);
        }
        let mean_rtts = setup.mean_round_trips();
        let packets = scenario.largest_packets();
        for (at, &(index, reverse)) in setup.labels.directions.iter().enumerate() {
            let link = &scenario.links[index];
            if link.is_varying(reverse) {
                return Err(FluidError::Varying { link: link.name.clone() });
            }
            let direction = if reverse { &link.reverse } else { &link.forward };
            let packet = packets[index];
            let charge = pricing.charge(direction.queue.kind());
            setup.network.links.push(FluidLink {
                name: if reverse { format!("{}, reverse", link.name) } else { link.name.clone() },
                rate: direction.rate,
                delay: direction.delay,
                loss: direction.loss,
                buffer: buffer(direction, packet),
                price: price(&link.name, direction, packet, charge.pricing, mean_rtts[at])?,
                spare: direction.anti_ecn.map(spare),
            });
            setup.charges.push(charge);
        }
        setup.refuse_small_virtual_buffers(scenario)?;
        Ok(setup)
    }

    fn add_group(&mut self, scenario: &Scenario, group: &FlowGroup) -> Result<(), FluidError> {
        let FlowGroup { name, control, transport, .. } = group;
        let Some(law) = &control.entry.law else {
            return Err(no_law(scenario, name, control));
        };
        refuse_indescribable(scenario, group)?;
        if let Some(ReceiveBuffer::RightSizing { .. }) =
            transport.receive_window.map(|window| window.buffer)
        {
            return Err(FluidError::RightSizing { flow: name.clone() });
        }
        let allowed = transport.receive_window.map(|window| window.most_packets(transport.packet));
        let bounds = transport.max_window.into_iter().chain(allowed);
        let max_window = bounds.min();
        let route = self.labels.route(&group.path);
        for FlowLabel { name, rtt, start } in self.labels.add(scenario, group) {
            self.network.flows.push(FluidFlow {
                name: name.clone(),
                law: law(&control.settings),
                route: route.clone(),
                rtt: *rtt,
                packet: transport.packet,
                ecn: transport.ecn.is_capable(),
                start: *start,
                stop: group.stop,
                initial_window: Segments(transport.initial_window),
                initial_threshold: transport.initial_threshold.map(Segments),
                slow_start: transport.slow_start,
                max_window,
                pacing: transport.pacing,
            });
        }
        Ok(())
    }

    /// Short flows become a load of their mean rate.
    fn add_traffic(&mut self, group: &TrafficGroup) {
        let ends = group.count.map(|count| {
            group.start + Span::from_seconds_f64((count as f64 / group.arrivals).min(1e6))
        });
        let stop = match (group.stop, ends) {
            (Some(stop), Some(ends)) => Some(stop.min(ends)),
            (stop, ends) => stop.or(ends),
        };
        let route = self.labels.route(&group.path);
        let packet = group.transport.packet;
        let rate = group.arrivals * mean_packets(&group.size, packet) * packet.0 as f64 * 8.0;
        self.network.loads.push(Load { route, rate, start: group.start, stop });
    }

    /// The mean round trip of the flows on each link, in seconds.
    fn mean_round_trips(&self) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.labels.directions.len()];
        for flow in &self.network.flows {
            for &link in &flow.route {
                sums[link].0 += flow.rtt.seconds();
                sums[link].1 += 1.0;
            }
        }
        sums.into_iter().map(|(sum, count)| if count > 0.0 { sum / count } else { 1.0 }).collect()
    }

    /// In the fluid a link has capacity to spare below η C, and none above. A virtual buffer B below η (1 - η) C R
    /// empties in the gap between two trains of packets even at a higher load: the essay on AntiECN's queue gives the
    /// window at which that ends, max(η C R, C R - B/η). The fluid has no trains.
    fn refuse_small_virtual_buffers(&self, scenario: &Scenario) -> Result<(), FluidError> {
        for flow in self.network.flows.iter().filter(|flow| self.network.hears_of_spare(flow)) {
            for &at in &flow.route {
                let (index, reverse) = self.labels.directions[at];
                let link = &scenario.links[index];
                let direction = if reverse { &link.reverse } else { &link.forward };
                let Some(AntiEcnMarker { threshold, buffer, .. }) = direction.anti_ecn else {
                    continue;
                };
                let pipe = direction.rate.bytes_in(flow.rtt).0 as f64;
                let least = threshold * (1.0 - threshold) * pipe;
                if buffer < least {
                    return Err(FluidError::SmallVirtualBuffer {
                        link: self.network.links[at].name.clone(),
                        flow: flow.name.clone(),
                        least: Bytes(least.ceil() as u64),
                    });
                }
            }
        }
        Ok(())
    }
}

fn no_law(scenario: &Scenario, flow: &str, control: &Choice<Controller>) -> FluidError {
    let covered =
        |entry: &&Arc<Controller>| entry.law.is_some() || CONTROLS.contains(&&*entry.name);
    let covered = scenario.catalogue.controllers().iter().filter(covered);
    FluidError::NoLaw {
        flow: flow.into(),
        control: control.kind().into(),
        covered: covered.map(|entry| entry.name.to_string()).collect(),
    }
}

fn buffer(direction: &Direction, packet: Bytes) -> Option<Span> {
    let bytes = match direction.buffer {
        Capacity::Packets(packets) => packets as f64 * packet.0 as f64,
        Capacity::Bytes(bytes) => bytes.0 as f64,
        Capacity::Unbounded => return None,
    };
    Some(Span::from_seconds_f64((bytes * 8.0 / direction.rate.0 as f64).min(1e6)))
}

fn spare(marker: AntiEcnMarker) -> Spare {
    Spare { below: marker.threshold, overwrites: marker.mode == AntiEcnMode::Overwrite }
}

/// Half of the gap between load and capacity is closed per round trip, unless the link has a virtual queue of its own.
const ADAPTATION: f64 = 0.5;

fn price(
    link: &str,
    direction: &Direction,
    packet: Bytes,
    pricing: Pricing,
    rtt: f64,
) -> Result<Price, FluidError> {
    let queue = &direction.queue;
    Ok(match pricing {
        // A queue has been looked at: it is one of the others.
        Pricing::Avq | Pricing::Queue => {
            let own = |key: &str| match queue.settings.get(key) {
                Some(Setting::Number(number)) if queue.kind() == "avq" => Some(*number),
                _ => None,
            };
            Price::Avq {
                utilisation: own("utilisation").unwrap_or(1.0),
                adaptation: own("alpha").unwrap_or(ADAPTATION / rtt),
                // One that stands in marks where the other would, and where that has no say.
                marks: !matches!(queue.settings.get("ecn"), Some(Setting::Flag(false))),
            }
        }
        Pricing::Overflow => Price::Overflow,
        Pricing::Loss => Price::Loss,
        Pricing::Red if queue.kind() == "red" => Price::Red(red(direction, packet)),
        Pricing::Red => return Err(FluidError::NoRed { link: link.into() }),
    })
}

fn red(direction: &Direction, packet: Bytes) -> RedPrice {
    let settings = &direction.queue.settings;
    let rate = direction.rate.0 as f64;
    let packet_bits = packet.0 as f64 * 8.0;
    let unit = if settings.word("mode") == "bytes" { 8.0 } else { packet_bits };
    let packets_per_second = rate / packet_bits;
    let round_trip = direction.bdp.unwrap_or(red::ROUND_TRIP).seconds();
    let averaging = settings
        .number_or_word("weight")
        .map_or(1.0 / f64::from(red::REMEMBERED) / round_trip, |weight| {
            averaging(weight, packets_per_second)
        });
    RedPrice {
        min: settings.number("min") * unit / rate,
        max: settings.number("max") * unit / rate,
        max_p: settings.number("max_p"),
        gentle: settings.flag("gentle"),
        averaging,
        marks: settings.flag("ecn"),
    }
}
