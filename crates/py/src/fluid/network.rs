//! A scenario in the terms of the fluid model.
//!
//! The fluid reads the file that the simulator reads: the same text becomes the same checked `Scenario`, and from there
//! each model takes what it knows of. The translation stands here, in the one crate that knows both. The reader of
//! scenarios stays with the simulator, whose queues and transport most of it is about; a crate of its own would give the
//! fluid a catalogue of queues that it has no use for.

use longfat_fluid::{Flow, Link, Load, Network, Price, Red, averaging};
use longfat_queue::Capacity;
use longfat_scenario::{Direction, FlowGroup, Scenario, TrafficGroup};
use longfat_units::parameter::Setting;
use longfat_units::{Bytes, Segments, Span};

/// A network, and what its flows and links are called.
#[derive(Debug)]
pub(crate) struct Fluid {
    pub(crate) network: Network,
    /// Spacing of the time series.
    pub(crate) sample: Span,
    /// The groups: name and controller.
    pub(crate) groups: Vec<(String, String)>,
    /// The group of each flow.
    pub(crate) group: Vec<u32>,
    /// Names of the links of the file.
    pub(crate) link_names: Vec<String>,
    /// For each link of the network, that of the file and whether it is its reverse.
    pub(crate) directions: Vec<(usize, bool)>,
}

/// The scenario as the fluid sees it, with the prices that `price` names.
pub(crate) fn fluid(scenario: &Scenario, price: &str) -> Result<Fluid, String> {
    let mut fluid = Fluid {
        network: Network {
            links: Vec::new(),
            flows: Vec::new(),
            loads: Vec::new(),
            warmup: scenario.warmup,
            duration: scenario.duration,
            seed: scenario.seed,
        },
        sample: scenario.sample,
        groups: Vec::new(),
        group: Vec::new(),
        link_names: scenario.links.iter().map(|link| link.name.clone()).collect(),
        directions: Vec::new(),
    };
    if scenario.flows.is_empty() {
        return Err(
            "the fluid model is one of long flows, and this scenario has none: add a [[flow]]"
                .into(),
        );
    }
    for group in &scenario.flows {
        add_group(&mut fluid, scenario, group)?;
    }
    for group in &scenario.traffic {
        add_traffic(&mut fluid, group);
    }
    let mean_rtts = mean_round_trips(&fluid);
    for (at, &(index, reverse)) in fluid.directions.iter().enumerate() {
        let link = &scenario.links[index];
        let direction = if reverse { &link.reverse } else { &link.forward };
        let packet = scenario.largest_packet(index);
        let price = self::price(&link.name, direction, packet, price, mean_rtts[at])?;
        fluid.network.links.push(Link {
            name: if reverse { format!("{}, reverse", link.name) } else { link.name.clone() },
            rate: direction.rate,
            delay: direction.delay,
            loss: direction.loss,
            buffer: buffer(direction, packet),
            price,
            spare: None,
        });
    }
    Ok(fluid)
}

fn add_group(fluid: &mut Fluid, scenario: &Scenario, group: &FlowGroup) -> Result<(), String> {
    let name = &group.name;
    let kind = group.control.kind();
    let Some(law) = &group.control.entry.law else {
        let laws = scenario.catalogue.controllers().iter().filter(|entry| entry.law.is_some());
        let names: Vec<&str> = laws.map(|entry| &*entry.name).collect();
        return Err(format!(
            "flow `{name}`: `{kind}` has no window law, and the fluid model knows nothing else. Laws are {}",
            names.join(", ")
        ));
    };
    if group.size.is_some() {
        return Err(format!(
            "flow `{name}` has a size, and the fluid model does not count what is left to send. Give it a \
             stop instead"
        ));
    }
    let route = route(fluid, &group.path, group.reverse);
    let index = fluid.groups.len() as u32;
    fluid.groups.push((name.clone(), kind.to_owned()));
    for member in 0..group.count {
        let (start, rtt) = scenario.start_and_rtt(group, member);
        let transport = &group.transport;
        fluid.group.push(index);
        fluid.network.flows.push(Flow {
            name: format!("{name}[{member}]"),
            law: law(&group.control.settings),
            route: route.clone(),
            rtt,
            packet: transport.packet,
            start,
            stop: group.stop,
            initial_window: Segments(transport.initial_window),
            initial_threshold: transport.initial_threshold.map(Segments),
            slow_start: transport.slow_start,
            max_window: transport.max_window,
            pacing: transport.pacing,
        });
    }
    Ok(())
}

/// Short flows become a load of their mean rate.
fn add_traffic(fluid: &mut Fluid, group: &TrafficGroup) {
    let ends = group.count.map(|count| {
        group.start + Span::from_seconds_f64((count as f64 / group.arrivals).min(1e6))
    });
    let stop = match (group.stop, ends) {
        (Some(stop), Some(ends)) => Some(stop.min(ends)),
        (stop, ends) => stop.or(ends),
    };
    let route = route(fluid, &group.path, group.reverse);
    let rate = group.arrivals * group.size.mean() * 8.0;
    fluid.network.loads.push(Load { route, rate, start: group.start, stop });
}

/// The path in links of the network; directions that nobody crossed before are new.
fn route(fluid: &mut Fluid, path: &[usize], reverse: bool) -> Vec<usize> {
    path.iter()
        .map(|&link| {
            let wanted = (link, reverse);
            let known = fluid.directions.iter().position(|&direction| direction == wanted);
            known.unwrap_or_else(|| {
                fluid.directions.push(wanted);
                fluid.directions.len() - 1
            })
        })
        .collect()
}

/// The mean round trip of the flows on each link, in seconds.
fn mean_round_trips(fluid: &Fluid) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); fluid.directions.len()];
    for flow in &fluid.network.flows {
        for &link in &flow.route {
            sums[link].0 += flow.rtt.seconds();
            sums[link].1 += 1.0;
        }
    }
    sums.into_iter().map(|(sum, count)| if count > 0.0 { sum / count } else { 1.0 }).collect()
}

fn buffer(direction: &Direction, packet: Bytes) -> Option<Span> {
    let bytes = match direction.buffer {
        Capacity::Packets(packets) => packets as f64 * packet.0 as f64,
        Capacity::Bytes(bytes) => bytes.0 as f64,
        Capacity::Unbounded => return None,
    };
    Some(Span::from_seconds_f64((bytes * 8.0 / direction.rate.0 as f64).min(1e6)))
}

/// Half of the gap between load and capacity is adapted in a round trip, unless the link has a virtual queue of its own.
const ADAPTATION: f64 = 0.5;

fn price(
    link: &str,
    direction: &Direction,
    packet: Bytes,
    wanted: &str,
    rtt: f64,
) -> Result<Price, String> {
    let queue = &direction.queue;
    Ok(match wanted {
        "avq" => {
            let own = |key: &str| match queue.settings.get(key) {
                Some(Setting::Number(number)) if queue.kind() == "avq" => Some(*number),
                _ => None,
            };
            Price::Avq {
                utilisation: own("utilisation").unwrap_or(1.0),
                adaptation: own("alpha").unwrap_or(ADAPTATION / rtt),
            }
        }
        "overflow" => Price::Overflow,
        "loss" => Price::Loss,
        "red" if queue.kind() == "red" => Price::Red(red(direction, packet)),
        "red" => {
            return Err(format!(
                "link `{link}` has no RED queue to take the price from. Add `queue = \"red\"` to it, or take \
                 another price: avq, overflow or loss"
            ));
        }
        other => {
            return Err(format!("`{other}` is no price: there are avq, overflow, red and loss"));
        }
    })
}

fn red(direction: &Direction, packet: Bytes) -> Red {
    let settings = &direction.queue.settings;
    let rate = direction.rate.0 as f64;
    let packet_bits = packet.0 as f64 * 8.0;
    let unit = if settings.word("mode") == "bytes" { 8.0 } else { packet_bits };
    let packets_per_second = rate / packet_bits;
    // "auto" remembers ten round trips.
    let round_trip = direction.bdp.map_or(0.1, Span::seconds);
    let averaging = settings
        .number_or_word("weight")
        .map_or(0.1 / round_trip, |weight| averaging(weight, packets_per_second));
    Red {
        min: settings.number("min") * unit / rate,
        max: settings.number("max") * unit / rate,
        max_p: settings.number("max_p"),
        gentle: settings.flag("gentle"),
        averaging,
        marks: settings.flag("ecn"),
    }
}
