//! Short flows that arrive at random, and what is kept of them.
//!
//! What remains of finished flows is counts, a histogram of completion times, and a row each. The host may take these
//! rows during the run; then only live flows take memory.

use longfat_control::Controller;
use longfat_scenario::chance::{self, Stream};
use longfat_scenario::{Choice, Hop, ListedFlow, Scenario, Spans, TrafficGroup};
use longfat_units::{Bytes, Rate, Span, Time};
use rand_core::Rng as _;
use serde::Serialize;
use serde_json::json;

use crate::draw;
use crate::durations::Durations;
use crate::explicit::Negotiation;
use crate::flow::{Flow, FlowConfig, Route};
use crate::member::Member;
use crate::port::Port;
use crate::receiver::Intervals;
use crate::sender::Tracing;
use crate::summary::share;

/// One group of short flows.
#[derive(Debug)]
pub(crate) struct Traffic {
    group: TrafficGroup,
    index: usize,
    /// What flows have in common: one kind, unless they are listed.
    kinds: Vec<Kind>,
    arrivals: Stream,
    sizes: Stream,
    round_trips: Stream,
    /// What controllers decide by chance: the number of the first flow.
    luck: u64,
    /// What the streams of its flows are derived from.
    seed: u64,
    left: u64,
    arrived: u64,
    measured: (Time, Time),
    traced: Tracing,
    pub(crate) tally: Tally,
}

/// What flows have in common.
#[derive(Debug)]
struct Kind {
    control: Choice<Controller>,
    route: Route,
    negotiation: Negotiation,
    /// The shortest round trip of a flow; `None` if there is none.
    shortest: Option<Span>,
}

/// What is kept of the finished flows of a group.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Data packets sent, retransmissions included, and first arrivals at receivers, over the whole run.
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    /// The same within the measured interval, and data packets that queues dropped in it.
    sent_measured: u64,
    delivered_measured: u64,
    dropped_measured: u64,
    /// Transfers that completed within the measured interval: their segments, and the times from their start until the
    /// last data reached the receiver, and until the last acknowledgment reached the sender if that was within the
    /// interval too.
    completed_segments: u64,
    completion: Durations,
    acknowledged: Durations,
    rows: Vec<Transfer>,
}

/// A transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    /// How many transfers of its group came before.
    pub(crate) index: u64,
    pub(crate) start: Time,
    /// When the last data reached the receiver, if it has.
    pub(crate) completion: Option<Time>,
    /// When the last acknowledgment reached the sender, if it has.
    pub(crate) acknowledged: Option<Time>,
    /// Its size.
    pub(crate) segments: u64,
    pub(crate) packet: Bytes,
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
}

impl Transfer {
    /// What is known about a flow so far; `None` if it is not finite or has not begun.
    pub(crate) fn of(flow: &Flow) -> Option<Self> {
        let sender = flow.source.sender()?;
        let (Member::Long(_, index) | Member::Short(_, index)) = flow.member else { return None };
        Some(Self {
            index,
            start: flow.start,
            completion: flow.receiver.received().complete,
            acknowledged: sender.acknowledged(),
            segments: sender.size()?,
            packet: flow.packet,
            retransmitted: sender.measured().total_retransmitted,
            timeouts: sender.measured().total_timeouts,
        })
    }

    /// From its start until its last data reached the receiver.
    pub(crate) fn response(&self) -> Option<Span> {
        self.completion.map(|completion| completion - self.start)
    }

    /// From its start until its last acknowledgment reached the sender.
    pub(crate) fn acknowledgment(&self) -> Option<Span> {
        self.acknowledged.map(|acknowledged| acknowledged - self.start)
    }
}

/// The object of a group in the summary.
#[derive(Debug, Serialize)]
struct TrafficSummary {
    arrived: u64,
    completed: u64,
    goodput_bit_s: f64,
    throughput_bit_s: f64,
    drop_rate: f64,
    data_sent: u64,
    data_dropped: u64,
    anti_ecn: Option<bool>,
    unaware_link: Option<String>,
    completion_s: serde_json::Value,
    acknowledged_s: serde_json::Value,
    power_bit_s2: Option<f64>,
}

impl Traffic {
    pub(crate) fn new(
        scenario: &Scenario,
        index: usize,
        group: TrafficGroup,
        route: impl Fn(&[Hop]) -> Route,
    ) -> Self {
        let kind = |path: &[Hop], control: &Choice<Controller>, shortest: Option<Span>| {
            let route = route(path);
            let negotiation = Negotiation::new(control, route.unaware);
            Kind { control: control.clone(), route, negotiation, shortest }
        };
        let usual = group.rtt.least();
        let kinds = match &group.replay {
            None => vec![kind(&group.path, &group.control, Some(usual))],
            Some(replay) => {
                let mut shortest = vec![None; replay.kinds().len()];
                for flow in (0..replay.flows()).filter_map(|index| replay.flow(index)) {
                    let (least, rtt) = (&mut shortest[flow.kind], flow.rtt.unwrap_or(usual));
                    *least = Some(least.map_or(rtt, |least: Span| least.min(rtt)));
                }
                let kinds = replay.kinds().iter().zip(shortest);
                kinds.map(|(listed, least)| kind(&listed.path, &listed.control, least)).collect()
            }
        };
        let stream =
            |what: &str| chance::stream(scenario.seed, &format!("traffic/{}/{what}", group.name));
        Self {
            arrivals: stream("arrivals"),
            sizes: stream("sizes"),
            round_trips: stream("rtt"),
            luck: stream("control").next_u64(),
            seed: scenario.seed,
            left: group.count.unwrap_or(u64::MAX),
            arrived: 0,
            measured: (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration),
            tally: Tally {
                sent: 0,
                delivered: 0,
                sent_measured: 0,
                delivered_measured: 0,
                dropped_measured: 0,
                completed_segments: 0,
                completion: Durations::new(),
                acknowledged: Durations::new(),
                rows: Vec::new(),
            },
            kinds,
            group,
            index,
            traced: Tracing::Off,
        }
    }

    /// The flows that arrive from now on are traced like this.
    pub(crate) fn set_tracing(&mut self, tracing: Tracing) {
        self.traced = tracing;
    }

    /// When the first flow arrives.
    pub(crate) fn first_arrival(&mut self) -> Option<Time> {
        if self.group.replay.is_some() {
            return self.listed_arrival(0);
        }
        self.next_arrival(Time::ZERO + self.group.start)
    }

    /// When a flow of the list arrives.
    fn listed_arrival(&self, index: u64) -> Option<Time> {
        let flow = self.group.replay.as_ref()?.flow(index as usize)?;
        let at = (Time::ZERO + self.group.start).saturating_add(flow.at);
        (at < self.group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop)).then_some(at)
    }

    /// When the flow after one that arrives at `now` arrives: a Poisson process, or as listed.
    pub(crate) fn next_arrival(&mut self, now: Time) -> Option<Time> {
        if self.group.replay.is_some() {
            return self.listed_arrival(self.arrived + 1);
        }
        self.left = self.left.checked_sub(1)?;
        let gap = draw::gap(self.group.arrivals, &mut self.arrivals);
        let next = now.saturating_add(gap);
        let stop = self.group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        (next < stop).then_some(next)
    }

    /// The ways of its flows.
    pub(crate) fn routes(&self) -> impl Iterator<Item = &Route> {
        self.kinds.iter().map(|kind| &kind.route)
    }

    /// The ways of its flows with the shortest round trip, out and back: the links, and the delay after them.
    pub(crate) fn shortest_ways(&self) -> impl Iterator<Item = (&[usize], Span)> {
        self.kinds
            .iter()
            .filter_map(|Kind { route, shortest, .. }| Some((route, (*shortest)?)))
            .flat_map(|(route, rtt)| {
                [&route.out, &route.back].map(|ports| (&**ports, route.part_beside(rtt)))
            })
    }

    /// What became of explicit signals for the flows that the group itself describes.
    pub(crate) fn negotiation(&self) -> Negotiation {
        self.kinds[0].negotiation
    }

    /// The flow that arrives now, if it is listed.
    fn listed(&self) -> Option<ListedFlow> {
        self.group.replay.as_ref()?.flow(self.arrived as usize)
    }

    /// Creates the flow that arrives now.
    pub(crate) fn arrive(&mut self, flow: u32, ports: &[Port], now: Time) -> Flow {
        let listed = self.listed();
        let bytes = match listed {
            Some(listed) => listed.size.0,
            None => draw::size(&self.group.size, &mut self.sizes),
        };
        let segments = bytes.div_ceil(self.group.transport.packet.0).max(1);
        let rtt = match listed.and_then(|listed| listed.rtt) {
            Some(rtt) => rtt,
            None => self.draw_round_trip(),
        };
        let kind = &self.kinds[listed.map_or(0, |listed| listed.kind)];
        let (measured_from, measured_until) = self.measured;
        let index = self.arrived;
        self.arrived += 1;
        Flow::new(&FlowConfig {
            flow,
            member: Member::Short(self.index, index),
            route: &kind.route,
            control: &kind.control,
            transport: &self.group.transport,
            negotiation: kind.negotiation,
            rtt,
            first_rtt: kind.route.rtt_at(rtt, ports, now),
            start: now,
            stop: None,
            segments: Some(segments),
            application: None,
            intervals: Intervals {
                measured_from: measured_from.max(now),
                measured_until,
                series: None,
            },
            chance: self.group.transport.host_jitter.map(|_| {
                let name = &self.group.name;
                chance::stream(self.seed, &format!("traffic/{name}/{index}/host"))
            }),
            luck: self.luck.wrapping_add(index),
            traced: self.traced,
            delay_percentiles: false,
        })
    }

    fn draw_round_trip(&mut self) -> Span {
        match self.group.rtt {
            Spans::Same(rtt) => rtt,
            ref other => other.get(0, 1, || chance::uniform(&mut self.round_trips)),
        }
    }

    /// Adds a flow to the totals of the group, finished at `ended` or, at the end of the run, not.
    pub(crate) fn count(&mut self, flow: &Flow, ended: Time) {
        let (from, until) = self.measured;
        let received = flow.receiver.received();
        let tally = &mut self.tally;
        tally.delivered += received.first;
        tally.delivered_measured += received.measured;
        let Some(sender) = flow.source.sender() else { return };
        let sent = sender.measured();
        tally.sent += sent.total_sent;
        tally.sent_measured += if flow.start >= from {
            sent.total_sent
        } else if ended <= from {
            // It was over before its sender could be told that the interval begins.
            0
        } else {
            sent.sent_measured()
        };
        let Some(transfer) = Transfer::of(flow) else { return };
        tally.rows.push(transfer);
        let Some(response) = transfer.response() else { return };
        if (from..=until).contains(&(transfer.start + response)) {
            tally.completed_segments += transfer.segments;
            tally.completion.add(response);
            if let Some(acknowledgment) = transfer.acknowledgment() {
                tally.acknowledged.add(acknowledgment);
            }
        }
    }

    /// A queue has dropped a data packet of this group in the measured interval.
    pub(crate) fn note_drop(&mut self) {
        self.tally.dropped_measured += 1;
    }

    pub(crate) fn name(&self) -> &str {
        &self.group.name
    }

    /// Takes the finished transfers, in the order in which they ended; when the run ends, the unfinished ones follow.
    pub(crate) fn take_rows(&mut self) -> Vec<Transfer> {
        std::mem::take(&mut self.tally.rows)
    }

    /// How many transfers there are to take.
    pub(crate) fn rows_waiting(&self) -> usize {
        self.tally.rows.len()
    }

    /// The group's part of the summary; `unaware_link` is the name of the link that keeps the path from giving explicit
    /// signals.
    pub(crate) fn told(&self, unaware_link: Option<String>) -> serde_json::Value {
        let tally = &self.tally;
        let (from, until) = self.measured;
        let rate = |segments: u64| Rate::of(self.group.transport.packet * segments, until - from);
        let throughput = rate(tally.completed_segments);
        let told = TrafficSummary {
            arrived: self.arrived,
            completed: tally.completion.count(),
            goodput_bit_s: rate(tally.delivered_measured),
            throughput_bit_s: throughput,
            drop_rate: share(tally.dropped_measured, tally.sent_measured),
            data_sent: tally.sent_measured,
            data_dropped: tally.dropped_measured,
            anti_ecn: self.negotiation().agreed(),
            unaware_link,
            completion_s: tally.completion.told(),
            acknowledged_s: tally.acknowledged.told(),
            power_bit_s2: tally.completion.mean().map(|response| throughput / response),
        };
        json!(told)
    }
}
