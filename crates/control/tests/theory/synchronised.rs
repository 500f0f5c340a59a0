//! The model of synchronised losses (Chiu and Jain 1989): flows on one bottleneck without a queue, all of which lose
//! when together they send more than it carries. Acknowledgments come in steps of 5 ms, in which all flows move
//! together.

use longfat_control::Start;
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::ClockedFlow;

/// The step of time, in milliseconds: round trips are whole numbers of it.
const STEP: u64 = 5;

/// Flows on one bottleneck.
pub(crate) struct Bottleneck {
    flows: Vec<ClockedFlow>,
    millis: Vec<u64>,
    /// Segments per second.
    capacity: f64,
}

impl Bottleneck {
    pub(crate) fn new(capacity: f64) -> Self {
        Self { flows: Vec::new(), millis: Vec::new(), capacity }
    }

    /// With one more flow, in congestion avoidance at this window, on a round trip of so many milliseconds.
    pub(crate) fn with(
        mut self,
        control: &str,
        changes: &[(&'static str, Setting)],
        millis: u64,
        window: f64,
    ) -> Self {
        let start =
            Start { window: Segments(window), threshold: Some(Segments(1.0)), ..Start::default() };
        let flow =
            ClockedFlow::starting(control, changes, &start).with_rtt(Span::from_millis(millis));
        self.flows.push(flow);
        self.millis.push(millis);
        self
    }

    pub(crate) fn windows(&self) -> Vec<f64> {
        self.flows.iter().map(ClockedFlow::window).collect()
    }

    /// Segments per second.
    pub(crate) fn rates(&self) -> Vec<f64> {
        let windows = self.windows().into_iter().zip(&self.millis);
        windows.map(|(window, &millis)| window * 1000.0 / millis as f64).collect()
    }

    /// A loss and the growth until the next, `count` times. Returns how long the last took, in seconds.
    pub(crate) fn epochs(&mut self, count: u32) -> f64 {
        let mut steps = 0_u32;
        for _ in 0..count {
            self.flows.iter_mut().for_each(ClockedFlow::lose);
            steps = 0;
            while self.rates().iter().sum::<f64>() < self.capacity {
                for (flow, millis) in self.flows.iter_mut().zip(&self.millis) {
                    flow.slice(millis / STEP);
                }
                steps += 1;
            }
        }
        f64::from(steps) * STEP as f64 / 1000.0
    }
}
