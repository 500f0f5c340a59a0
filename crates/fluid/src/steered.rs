//! Windows that are set from outside, and what the acknowledgments of such a flow report.

use crate::dormand_prince::Side;
use crate::history::SAMPLES;
use crate::model::NetworkEquations;
use crate::network::FluidError;
use crate::plan::has_queue;
use crate::solve::{BOOLE, Solver};
use crate::stepping::Stepping;

/// What the acknowledgments of a flow have reported over some time. Amounts are in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Segments that were delivered.
    pub delivered: f64,
    /// Segments that were lost.
    pub lost: f64,
    /// Segments that were marked.
    pub marked: f64,
    /// How long they waited in queues, in seconds: the mean over all of them; 0 without any.
    pub waited: f64,
    /// The time, in seconds.
    pub time: f64,
}

impl Solver<'_> {
    pub(crate) fn steer(&mut self, flow: usize) {
        self.reports.push((flow, Report::default()));
        self.model.stands[flow].due = f64::INFINITY;
    }

    pub(crate) fn advance_to(&mut self, until: f64) -> Result<(), FluidError> {
        // The next one is the last.
        let place = self.breaks.partition_point(|&at| at > until);
        if self.breaks.get(place) != Some(&until) {
            self.breaks.insert(place, until);
        }
        while !self.at_end() && self.t < until {
            self.step()?;
        }
        Ok(())
    }

    pub(crate) fn set_window(&mut self, flow: usize, window: f64) {
        if !self.model.stands[flow].active || self.y[flow] == window {
            return;
        }
        let epoch = self.model.epoch(flow);
        (self.y[flow], self.y[epoch]) = (window, window);
        self.step.restart();
    }

    pub(crate) fn take_report(&mut self, flow: usize) -> Report {
        let found = self.reports.iter_mut().find(|(other, _)| *other == flow);
        let mut report = found.map(|(_, report)| std::mem::take(report)).unwrap_or_default();
        if report.delivered > 0.0 {
            report.waited /= report.delivered;
        }
        report
    }

    /// Adds the step of this length, as far as `end`. Until it is taken, `waited` is a sum.
    pub(crate) fn count_reports(&mut self, length: f64, end: f64) {
        if self.reports.is_empty() || end <= self.t {
            return;
        }
        let (start, span) = (self.t, end - self.t);
        let mut reports = std::mem::take(&mut self.reports);
        for (place, (share, weight)) in SAMPLES.into_iter().zip(BOOLE).enumerate() {
            let side = if place == 0 { Side::After } else { Side::Before };
            let t = start + share * span;
            self.look_at(t, start, length, side);
            for (flow, report) in &mut reports {
                if !self.model.stands[*flow].active {
                    continue;
                }
                let signal = self.model.signal(*flow, side, t, &self.scratch);
                let waited = self.model.waited(*flow, side, t, &self.scratch).unwrap_or(0.0);
                let heard = signal.acks * weight * span;
                let delivered = heard * self.model.served(*flow, side, t, &self.scratch);
                report.delivered += delivered;
                report.lost += heard * signal.losses.min(1.0);
                report.marked += delivered * signal.marks.min(1.0);
                report.waited += delivered * waited;
                report.time += weight * span;
            }
        }
        self.reports = reports;
    }
}

impl NetworkEquations<'_> {
    /// Which share of what a flow sent is delivered to it at `t`. The equations have acknowledgments arrive as fast as
    /// data was sent, since what waits delays them all the same in the end; but whoever measures a rate must not find
    /// more than links carry. While a queue is not empty, its link delivers at its capacity C, to each flow its share of
    /// the load X: x C/X, which also is what an overflow leaves.
    fn served(&self, flow: usize, side: Side, t: f64, y: &[f64]) -> f64 {
        let plan = &self.plan.flows[flow];
        let links = self.plan.links.len();
        let sent = t - self.delay * self.round_trip(flow, y);
        plan.hops.iter().fold(1.0 - plan.loss.min(1.0), |share, &(link, lag)| {
            let it = &self.plan.links[link];
            let met = sent + self.delay * lag;
            let Some(past) = self.history.at(met, side).filter(|_| has_queue(it)) else {
                return share;
            };
            let (waiting, load) =
                (past.state(self.link_states[link], met), past.link(links + link, met));
            if waiting > 0.0 && load > 0.0 { share * it.capacity / load } else { share }
        })
    }
}
