//! The time series of the flows.

use longfat_control::CongestionControl;
use longfat_units::{Probe, Rate, Span, Time};

use crate::explicit::Listener;
use crate::flow::Flow;
use crate::limited::LimitSeries;
use crate::recording::{Column, Table};
use crate::sender::Sends;

/// The time series of the flows, row by row.
#[derive(Clone, Debug, Default)]
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
    /// What controllers show of themselves, where that was asked for.
    pub(crate) variables: Option<Variables>,
    /// What limited the flows.
    pub(crate) limits: LimitSeries,
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
    /// The empty series of this many flows, with the variables of their controllers if they are to be observed.
    pub(crate) fn new(flows: usize, observe: bool) -> Self {
        Self {
            last: vec![FlowCounts::default(); flows],
            variables: observe.then(Variables::default),
            limits: LimitSeries::new(flows),
            ..Self::default()
        }
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
        self.limits.read(now, index, sender);
        let control = flow.source.control();
        if let Some(variables) = &mut self.variables {
            variables.read(control);
        }
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

/// The variables that controllers show of themselves: a column for each name, in the order in which they first appear.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    columns: Vec<(String, Vec<f64>)>,
    /// Complete rows.
    rows: usize,
    /// Where the next name is probably found: a controller names its variables in the same order each time.
    next: usize,
}

impl Variables {
    /// Adds a row: what this controller shows now.
    fn read(&mut self, control: Option<&dyn CongestionControl>) {
        self.next = 0;
        if let Some(control) = control {
            control.observe(self);
        }
        self.rows += 1;
    }

    /// Appends its columns; what a controller does not show is absent. A name that is taken gets `observed_` before it.
    pub(crate) fn add_to(self, table: &mut Table) {
        for (mut name, mut values) in self.columns {
            while table.columns.iter().any(|(taken, _)| *taken == name) {
                name.insert_str(0, "observed_");
            }
            values.resize(self.rows, f64::NAN);
            table.columns.push((name.into(), Column::Real(values)));
        }
    }
}

impl Probe for Variables {
    fn value(&mut self, name: &str, value: f64) {
        let known = self.columns.len();
        let mut guesses = (self.next..known).chain(0..self.next.min(known));
        let found = guesses.find(|&index| self.columns[index].0 == name);
        let index = found.unwrap_or_else(|| {
            self.columns.push((name.to_owned(), Vec::new()));
            known
        });
        let values = &mut self.columns[index].1;
        // Of a variable that is named twice at once, the first value counts.
        if values.len() <= self.rows {
            values.resize(self.rows, f64::NAN);
            values.push(value);
        }
        self.next = index + 1;
    }
}
