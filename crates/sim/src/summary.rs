//! The averages of a run: the object that `longfat run --json` prints.
//!
//! Its names are a contract. Everything but the wall-clock part is made here: the same scenario and seed give the same
//! bytes.

use serde::Serialize;
use serde_json::{Map, Value};

/// The averages of the measured interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary<Engine = Work> {
    /// The seed of the run.
    pub seed: u64,
    /// The scenario as resolved, every default filled in.
    pub scenario: Value,
    /// For each link by name, its two directions.
    pub links: Map<String, Value>,
    /// The long flows, in the order of the file.
    pub flows: Vec<FlowSummary>,
    /// For each group of flows with applications by name, what these have seen; not written where there are none.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub applications: Map<String, Value>,
    /// For each group of short flows by name, its completions.
    pub traffic: Map<String, Value>,
    /// Jain's index of each group of flows by name.
    pub jain: Map<String, Value>,
    /// What the simulator did; without the wall clock, unless a host adds it.
    pub engine: Engine,
}

impl Summary {
    /// The same averages with what a host says about the simulator, such as how long it took.
    pub fn with_engine<Engine>(self, engine: Engine) -> Summary<Engine> {
        let Self { seed, scenario, links, flows, applications, traffic, jain, engine: _ } = self;
        Summary { seed, scenario, links, flows, applications, traffic, jain, engine }
    }
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LinkSummary {
    /// Bits that left the link over its capacity, all packets.
    pub utilisation: f64,
    /// Time-weighted mean of the queue, as a fraction of the buffer.
    pub queue_mean: f64,
    /// Time-weighted 99th percentile of the queue, as a fraction of the buffer.
    pub queue_p99: f64,
    /// Packets dropped per packet that arrived.
    pub drop_rate: f64,
    /// Packets marked per packet that arrived.
    pub mark_rate: f64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets corrupted on the wire.
    pub corrupted: u64,
}

/// One long flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FlowSummary {
    /// Name of the group and index in it, as in `forward[0]`.
    pub name: String,
    /// Its controller.
    pub control: String,
    /// Round-trip propagation delay.
    pub rtt_s: f64,
    /// First arrivals of new data at the receiver, whole packets, over the active part of the measured interval.
    pub goodput_bit_s: f64,
    /// Retransmitted segments per segment sent.
    pub retransmit_rate: f64,
    /// Data packets dropped by queues per data packet sent.
    pub drop_rate: f64,
    /// Data packets sent, retransmissions included.
    pub data_sent: u64,
    /// Data packets dropped by queues.
    pub data_dropped: u64,
    /// Time-outs.
    pub timeouts: u64,
    /// Mean over acknowledgments of the round trip less the propagation delay.
    pub queueing_delay_mean_s: f64,
    /// What half, 90 % and 99 % of these did not exceed, to two digits; `None` where the scenario does not ask for them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub queueing_delay: Option<DelayPercentiles>,
    /// Time average of the window in segments, over the active part of the measured interval.
    pub window_mean: f64,
    /// Congestion events answered: losses and marks, but not time-outs.
    pub congestion_events: u64,
    /// Share of the acknowledgments that reported spare capacity (AntiECN); NaN where the bit is not in use.
    pub room_rate: f64,
    /// Is AntiECN in use? `None` where the controller does not ask for it.
    pub anti_ecn: Option<bool>,
    /// The first link on the data's way that does not support AntiECN, if that is why it is not in use.
    pub unaware_link: Option<String>,
    /// For how long its receive window held it back, in the measured interval; `None` where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_limited_s: Option<f64>,
    /// When it started.
    pub start_s: f64,
    /// From the start until the last byte reached the receiver; `None` while the flow is not complete.
    pub completion_s: Option<f64>,
}

/// Percentiles of the queueing delay of a flow; NaN if there was no acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DelayPercentiles {
    /// The median.
    pub queueing_delay_p50_s: f64,
    /// 90 % stayed at or below it.
    pub queueing_delay_p90_s: f64,
    /// 99 % stayed at or below it.
    pub queueing_delay_p99_s: f64,
}

/// What the simulator did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Work {
    /// New data segments that reached receivers, in both directions, over the whole run.
    pub data_packets: u64,
    /// Events handled.
    pub events: u64,
}

/// The share of `part` in `whole`, zero if both are zero. A packet sent before the measured interval may be dropped in
/// it and so be missing from `whole`; the share is never above one.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    let whole = whole.max(part);
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_what_there_was_and_never_above_one() {
        assert_eq!(share(1, 4), 0.25);
        assert_eq!(share(3, 2), 1.0, "two were sent, but three dropped");
        assert_eq!(share(0, 0), 0.0);
    }
}
