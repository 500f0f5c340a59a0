//! The quantities of a resolved scenario as plain numbers, so that nothing is parsed twice.
//!
//! Times are in picoseconds and sizes in bytes, as the simulator has them.

use std::collections::BTreeMap;

use longfat_queue::Capacity;
use longfat_scenario::{Direction, Hop, Link, OPPORTUNITY, Scenario};
use longfat_units::Time;
use longfat_units::parameter::Setting;
use pyo3::prelude::*;

/// A scenario in numbers.
#[derive(Debug, IntoPyObject)]
pub(crate) struct Quantities {
    duration_ps: u64,
    warmup_ps: u64,
    sample_ps: u64,
    /// By name, in the order of the file.
    links: Vec<(String, LinkQuantities)>,
    /// By name: long flows, then short ones, in the order of the file.
    groups: Vec<(String, GroupQuantities)>,
}

/// A link.
#[derive(Debug, IntoPyObject)]
struct LinkQuantities {
    forward: DirectionQuantities,
    reverse: DirectionQuantities,
}

/// One direction of a link. The queue's lengths are in the unit it counts in.
#[derive(Debug, IntoPyObject)]
struct DirectionQuantities {
    rate_bit_s: u64,
    varies: bool,
    capacity_bit_s: f64,
    delay_ps: u64,
    buffer: Option<u64>,
    unit: &'static str,
    queue: BTreeMap<String, f64>,
}

/// A group of long flows, or of short ones, which arrive at random.
#[derive(Debug, IntoPyObject)]
struct GroupQuantities {
    short: bool,
    path: Vec<String>,
    backwards: Vec<bool>,
    packet_bytes: u64,
    count: Option<u64>,
    size_bytes: Option<f64>,
    stop_ps: Option<u64>,
    rto_min_ps: u64,
}

impl Quantities {
    /// The quantities of `scenario`.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let path =
            |path: &[Hop]| path.iter().map(|hop| scenario.links[hop.link].name.clone()).collect();
        let backwards = |path: &[Hop]| path.iter().map(|hop| hop.reverse).collect();
        let flows = scenario.flows.iter().map(|flow| {
            let group = GroupQuantities {
                short: false,
                path: path(&flow.path),
                backwards: backwards(&flow.path),
                packet_bytes: flow.transport.packet.0,
                count: Some(flow.flows()),
                size_bytes: flow.size.map(|size| size.0 as f64),
                stop_ps: flow.stop.map(|stop| stop.0),
                rto_min_ps: flow.transport.rto_min.0,
            };
            (flow.name.clone(), group)
        });
        let traffic = scenario.traffic.iter().map(|traffic| {
            let group = GroupQuantities {
                short: true,
                path: path(&traffic.path),
                backwards: backwards(&traffic.path),
                packet_bytes: traffic.transport.packet.0,
                count: traffic.replay.as_ref().map(|list| list.flows() as u64).or(traffic.count),
                size_bytes: Some(traffic.size.mean()),
                stop_ps: traffic.stop.map(|stop| stop.0),
                rto_min_ps: traffic.transport.rto_min.0,
            };
            (traffic.name.clone(), group)
        });
        let bytes = Setting::Word("bytes".to_owned());
        let links = scenario.links.iter().map(|link| {
            let [forward, reverse] = [false, true].map(|side| {
                let direction = link.direction(side);
                let settings = &direction.queue.settings;
                let in_bytes = match direction.buffer {
                    Capacity::Bytes(_) => true,
                    Capacity::Packets(_) => false,
                    Capacity::Unbounded => settings.get("mode") == Some(&bytes),
                };
                DirectionQuantities {
                    rate_bit_s: direction.rate.0,
                    varies: link.is_varying(side),
                    capacity_bit_s: capacity(scenario, link, side),
                    delay_ps: direction.delay.0,
                    buffer: match direction.buffer {
                        Capacity::Packets(packets) => Some(packets),
                        Capacity::Bytes(bytes) => Some(bytes.0),
                        Capacity::Unbounded => None,
                    },
                    unit: if in_bytes { "bytes" } else { "packets" },
                    queue: settings.iter().filter_map(number).collect(),
                }
            });
            (link.name.clone(), LinkQuantities { forward, reverse })
        });
        Self {
            duration_ps: scenario.duration.0,
            warmup_ps: scenario.warmup.0,
            sample_ps: scenario.sample.0,
            links: links.collect(),
            groups: flows.chain(traffic).collect(),
        }
    }
}

/// What one direction of a link can carry on average over the measured interval, in bit/s.
fn capacity(scenario: &Scenario, link: &Link, reverse: bool) -> f64 {
    let Direction { rate, trace, .. } = link.direction(reverse);
    if !link.is_varying(reverse) {
        return rate.0 as f64;
    }
    let (from, until) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let measured = until - from;
    if let Some(trace) = trace {
        let opportunities = trace.passed(until) - trace.passed(from);
        return opportunities as f64 * (8 * OPPORTUNITY.0) as f64 / measured.seconds();
    }
    let course = link.course(reverse, scenario.duration).rate;
    course.integral(from, until) as f64 / measured.0 as f64
}

/// A setting that is a number.
fn number((name, setting): (&str, &Setting)) -> Option<(String, f64)> {
    let name = name.to_owned();
    match setting {
        Setting::Number(value) | Setting::Length(value) => Some((name, *value)),
        Setting::Count(value) => Some((name, *value as f64)),
        Setting::Span(_) | Setting::Flag(_) | Setting::Word(_) | Setting::Entry(_) => None,
    }
}
