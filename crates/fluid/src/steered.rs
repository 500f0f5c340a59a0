//! Windows that are set from outside, and what the acknowledgments of such a flow report.

use crate::dormand_prince::Side;
use crate::history::{BOOLE, SAMPLES};
use crate::model::NetworkEquations;
use crate::network::{FluidError, Price};
use crate::plan::has_queue;
use crate::solve::{Integration, Solver};
use crate::stepping::Stepping;
use crate::trajectory::Report;

impl Integration<'_> {
    /// Solves up to this instant, in seconds, where the time has come to do something. False once the end is reached.
    ///
    /// # Errors
    /// As for [`Integration::advance`].
    pub fn advance_to(&mut self, until: f64) -> Result<bool, FluidError> {
        let solver = &mut self.0;
        // The next one is the last.
        let place = solver.breaks.partition_point(|&at| at > until);
        if solver.breaks.get(place) != Some(&until) {
            solver.breaks.insert(place, until);
        }
        while !solver.at_end() && solver.t < until {
            solver.step()?;
        }
        Ok(!solver.at_end())
    }

    /// From now on a window changes only where it is set, and what its acknowledgments report is counted.
    pub fn steer(&mut self, flow: usize) {
        self.0.reports.push((flow, Report::default()));
        self.0.model.stands[flow].due = f64::INFINITY;
    }

    /// Sets the window of a flow that is under way, in segments.
    pub fn set_window(&mut self, flow: usize, window: f64) {
        let solver = &mut self.0;
        if !solver.model.stands[flow].active || solver.y[flow] == window {
            return;
        }
        let epoch = solver.model.epoch(flow);
        (solver.y[flow], solver.y[epoch]) = (window, window);
        solver.step.restart();
    }

    /// What the acknowledgments of a steered flow have reported since this was last asked.
    pub fn take_report(&mut self, flow: usize) -> Report {
        let found = self.0.reports.iter_mut().find(|(other, _)| *other == flow);
        let mut report = found.map(|(_, report)| std::mem::take(report)).unwrap_or_default();
        if report.delivered > 0.0 {
            report.waited /= report.delivered;
        }
        report
    }
}

impl Solver<'_> {
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
    /// the load X: x C/X, which also is what an overflow leaves. What RED or a virtual queue drops, or would mark if the
    /// flow had ECN, is not delivered either.
    fn served(&self, flow: usize, side: Side, t: f64, y: &[f64]) -> f64 {
        let plan = &self.plan.flows[flow];
        let links = self.plan.links.len();
        let sent = t - self.delay * self.round_trip(flow, y);
        plan.hops.iter().fold(1.0 - plan.loss.min(1.0), |share, &(link, lag)| {
            let it = &self.plan.links[link];
            let met = sent + self.delay * lag;
            let Some(past) = self.history.at(met, side) else { return share };
            let at = self.link_states[link];
            let dropped = match it.price {
                _ if plan.is_marked_by(it) => 0.0,
                Price::Avq { .. } => past.link(link, met).min(1.0),
                Price::Red(red) => red.probability(past.state(at + 1, met)).0,
                Price::Overflow | Price::Loss => 0.0,
            };
            let load = past.link(links + link, met);
            let waits = has_queue(it) && past.state(at, met) > 0.0 && load > 0.0;
            share * (1.0 - dropped) * if waits { it.capacity / load } else { 1.0 }
        })
    }
}
