//! The time series of the flows.

use longfat_control::CongestionControl;
use longfat_units::{Rate, Span, Time};

use crate::explicit::Listener;
use crate::flow::Flow;
use crate::sender::Sends;

/// The time series of the flows, row by row.
#[derive(Debug, Default)]
pub(crate) struct FlowSeries {
    pub(crate) time: Vec<f64>,
    pub(crate) flow: Vec<u32>,
    pub(crate) window: Vec<f64>,
    pub(crate) threshold: Vec<f64>,
    pub(crate) in_flight: Vec<u64>,
    pub(crate) rtt: Vec<f64>,
    pub(crate) throughput: Vec<f64>,
    pub(crate) retransmitted: Vec<u64>,
    pub(crate) room_rate: Vec<f64>,
    pub(crate) receive_window: Vec<f64>,
    /// For each flow, its counts at the last row.
    last: Vec<FlowCounts>,
}

/// Whole-run counts of a flow: segments received, segments retransmitted, acknowledgments, and those among them that
/// reported spare capacity.
#[derive(Clone, Copy, Debug, Default)]
struct FlowCounts {
    received: u64,
    retransmitted: u64,
    acknowledgments: u64,
    heard: u64,
}

impl FlowSeries {
    /// The empty series of this many flows.
    pub(crate) fn new(flows: usize) -> Self {
        Self { last: vec![FlowCounts::default(); flows], ..Self::default() }
    }

    /// Adds the row of one flow.
    pub(crate) fn read(
        &mut self,
        now: Time,
        index: usize,
        flow: &Flow,
        sender: &dyn Sends,
        received: u64,
        step: Span,
    ) {
        let measured = sender.measured();
        let counts = FlowCounts {
            received,
            retransmitted: measured.total_retransmitted,
            acknowledgments: measured.acknowledgments,
            heard: flow.source.listener().map_or(0, Listener::heard),
        };
        let last = std::mem::replace(&mut self.last[index], counts);
        self.time.push(now.seconds());
        self.flow.push(index as u32);
        let control = flow.source.control();
        let threshold = control.and_then(CongestionControl::threshold);
        self.window.push(control.map_or(f64::NAN, |control| control.window().0));
        self.threshold.push(threshold.map_or(f64::NAN, |threshold| threshold.0));
        self.in_flight.push(sender.in_flight());
        self.rtt.push(sender.smoothed_rtt().map_or(f64::NAN, Span::seconds));
        self.throughput.push(Rate::of(flow.packet * (received - last.received), step));
        self.retransmitted.push(counts.retransmitted - last.retransmitted);
        let acknowledgments = counts.acknowledgments - last.acknowledgments;
        let window = flow.source.receive_window();
        self.receive_window.push(window.map_or(f64::NAN, |window| window as f64));
        self.room_rate.push(flow.negotiation.share(counts.heard - last.heard, acknowledgments));
    }
}
