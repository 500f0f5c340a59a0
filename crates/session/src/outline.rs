//! What a page shows of a scenario before it has run: its quantities as plain numbers, and what a run will cost.

use longfat_queue::Capacity;
use longfat_scenario::{Direction, FlowGroup, Hop, Link, Scenario, Spans, TrafficGroup};
use longfat_sim::{Keep, WorkEstimate};
use longfat_units::Bytes;
use serde::Serialize;

/// A scenario in numbers: times in seconds, rates in bit/s, sizes in bytes.
#[derive(Debug, Serialize)]
pub(crate) struct Outline<'a> {
    duration_s: f64,
    warmup_s: f64,
    sample_s: f64,
    seed: u64,
    links: Vec<LinkOutline<'a>>,
    flows: Vec<GroupOutline<'a>>,
    traffic: Vec<TrafficOutline<'a>>,
    estimate: Estimate,
}

#[derive(Debug, Serialize)]
struct LinkOutline<'a> {
    name: &'a str,
    /// The largest data packet that crosses it.
    packet_bytes: u64,
    forward: DirectionOutline<'a>,
    reverse: DirectionOutline<'a>,
}

#[derive(Debug, Serialize)]
struct DirectionOutline<'a> {
    rate_bit_s: u64,
    /// Does anything of it change in time?
    varies: bool,
    delay_s: f64,
    loss: f64,
    /// `null` if unlimited.
    buffer: Option<u64>,
    /// What the buffer counts.
    unit: &'static str,
    /// The round trip behind `bdp`.
    bdp_s: Option<f64>,
    queue: &'a str,
}

#[derive(Debug, Serialize)]
struct GroupOutline<'a> {
    name: &'a str,
    control: &'a str,
    /// How many flows, connections counted.
    count: u64,
    path: Vec<HopOutline<'a>>,
    rtt_s: Range,
    start_s: Range,
    packet_bytes: u64,
}

#[derive(Debug, Serialize)]
struct TrafficOutline<'a> {
    name: &'a str,
    control: &'a str,
    path: Vec<HopOutline<'a>>,
    rtt_s: Range,
    packet_bytes: u64,
}

#[derive(Debug, Serialize)]
struct HopOutline<'a> {
    link: &'a str,
    /// Is it crossed backwards?
    reverse: bool,
}

#[derive(Debug, Serialize)]
struct Range {
    least: f64,
    mean: f64,
    greatest: f64,
}

/// Orders of magnitude, not promises.
#[derive(Debug, Serialize)]
struct Estimate {
    packets: f64,
    /// On one core of a usual machine, natively.
    seconds: f64,
    memory_bytes: f64,
    /// What takes most of the memory.
    largest: &'static str,
}

impl<'a> Outline<'a> {
    pub(crate) fn of(scenario: &'a Scenario) -> Self {
        let packets = scenario.largest_packets();
        let WorkEstimate { packets: sent, seconds, memory, largest, .. } =
            WorkEstimate::of(scenario, Keep { rows: true, transfers: true });
        Self {
            duration_s: scenario.duration.seconds(),
            warmup_s: scenario.warmup.seconds(),
            sample_s: scenario.sample.seconds(),
            seed: scenario.seed,
            links: scenario.links.iter().zip(packets).map(LinkOutline::of).collect(),
            flows: scenario.flows.iter().map(|group| GroupOutline::of(scenario, group)).collect(),
            traffic: scenario
                .traffic
                .iter()
                .map(|group| TrafficOutline::of(scenario, group))
                .collect(),
            estimate: Estimate {
                packets: sent,
                seconds,
                memory_bytes: memory,
                largest: largest.name(),
            },
        }
    }
}

impl<'a> LinkOutline<'a> {
    fn of((link, packet): (&'a Link, Bytes)) -> Self {
        let [forward, reverse] = [false, true]
            .map(|side| DirectionOutline::of(link.direction(side), link.is_varying(side)));
        Self { name: &link.name, packet_bytes: packet.0, forward, reverse }
    }
}

impl<'a> DirectionOutline<'a> {
    fn of(direction: &'a Direction, varies: bool) -> Self {
        let (buffer, unit) = match direction.buffer {
            Capacity::Packets(packets) => (Some(packets), "packets"),
            Capacity::Bytes(bytes) => (Some(bytes.0), "bytes"),
            Capacity::Unbounded => (None, "packets"),
        };
        Self {
            rate_bit_s: direction.rate.0,
            varies,
            delay_s: direction.delay.seconds(),
            loss: direction.loss,
            buffer,
            unit,
            bdp_s: direction.bdp.map(longfat_units::Span::seconds),
            queue: direction.queue.kind(),
        }
    }
}

impl<'a> GroupOutline<'a> {
    fn of(scenario: &'a Scenario, group: &'a FlowGroup) -> Self {
        Self {
            name: &group.name,
            control: group.control.kind(),
            count: group.flows(),
            path: path(scenario, &group.path),
            rtt_s: Range::of(&group.rtt),
            start_s: Range::of(&group.start),
            packet_bytes: group.transport.packet.0,
        }
    }
}

impl<'a> TrafficOutline<'a> {
    fn of(scenario: &'a Scenario, group: &'a TrafficGroup) -> Self {
        Self {
            name: &group.name,
            control: group.control.kind(),
            path: path(scenario, &group.path),
            rtt_s: Range::of(&group.rtt),
            packet_bytes: group.transport.packet.0,
        }
    }
}

fn path<'a>(scenario: &'a Scenario, path: &[Hop]) -> Vec<HopOutline<'a>> {
    let hop = |hop: &Hop| HopOutline { link: &scenario.links[hop.link].name, reverse: hop.reverse };
    path.iter().map(hop).collect()
}

impl Range {
    fn of(spans: &Spans) -> Self {
        Self {
            least: spans.least().seconds(),
            mean: spans.mean().seconds(),
            greatest: spans.greatest().seconds(),
        }
    }
}
