//! The results: columns of numbers over time.

/// The course of all flows and links.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Trajectory {
    /// The instants, in seconds.
    pub t: Vec<f64>,
    /// The flows, in the order of the network.
    pub flows: Vec<FlowPath>,
    /// The links, in the order of the network.
    pub links: Vec<LinkPath>,
    /// Steps of integration.
    pub steps: u64,
}

/// The course of one flow.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FlowPath {
    /// Windows in segments; 0 while the flow is not active.
    pub window: Vec<f64>,
    /// Rates in bit/s.
    pub rate: Vec<f64>,
    /// Mean window over the active part of the measured interval.
    pub window_mean: f64,
    /// Mean rate over the active part of the measured interval, in bit/s.
    pub rate_mean: f64,
    /// How often the window jumped.
    pub events: u64,
}

/// The course of one link.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LinkPath {
    /// The congestion price: probability of a mark or of an overflow. Corruption is not in it.
    pub price: Vec<f64>,
    /// The load, as a share of the capacity.
    pub load: Vec<f64>,
    /// The queue, in seconds.
    pub queue: Vec<f64>,
}

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

impl Trajectory {
    /// An empty trajectory for this many flows and links.
    pub(crate) fn new(flows: usize, links: usize) -> Self {
        Self {
            t: Vec::new(),
            flows: vec![FlowPath::default(); flows],
            links: vec![LinkPath::default(); links],
            steps: 0,
        }
    }
}

/// Evenly spaced instants from 0 to the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    spacing: f64,
    next: u64,
    end: f64,
}

impl Sampling {
    pub(crate) fn new(spacing: f64, end: f64) -> Self {
        Self { spacing, next: 0, end }
    }

    /// The next instant up to `until`; each is returned once.
    pub(crate) fn take(&mut self, until: f64) -> Option<f64> {
        let t = self.next as f64 * self.spacing;
        let last = self.end * (1.0 + 1e-12);
        if t > until * (1.0 + 1e-12) || t > last {
            return None;
        }
        self.next += 1;
        Some(t.min(until))
    }
}

/// The averages of each flow as they build up.
#[derive(Clone, Debug)]
pub(crate) struct Means {
    pub(crate) windows: Vec<Mean>,
    pub(crate) rates: Vec<Mean>,
}

impl Means {
    pub(crate) fn new(flows: usize) -> Self {
        Self { windows: vec![Mean::default(); flows], rates: vec![Mean::default(); flows] }
    }

    /// Writes them into the trajectory.
    pub(crate) fn finish(&self, trajectory: &mut Trajectory) {
        for (flow, path) in trajectory.flows.iter_mut().enumerate() {
            path.window_mean = self.windows[flow].value();
            path.rate_mean = self.rates[flow].value();
        }
    }
}

/// A quantity of a flow integrated over time, and the time it covers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mean {
    integral: f64,
    time: f64,
}

impl Mean {
    pub(crate) fn add(&mut self, integral: f64, time: f64) {
        self.integral += integral;
        self.time += time;
    }

    pub(crate) fn value(&self) -> f64 {
        if self.time > 0.0 { self.integral / self.time } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three times 0.1 is more than 0.3, by rounding.
    #[test]
    fn the_last_sample_is_at_the_end_and_there_is_none_beyond() {
        let mut sampling = Sampling::new(0.1, 0.3);
        let mut taken = Vec::new();
        for until in [0.05, 0.3, 9.0] {
            taken.extend(std::iter::from_fn(|| sampling.take(until)));
        }
        assert_eq!(taken, [0.0, 0.1, 0.2, 0.3]);
    }

    #[test]
    fn a_mean_is_the_integral_over_the_time() {
        let mut mean = Mean::default();
        assert_eq!(mean.value(), 0.0);
        mean.add(6.0, 2.0);
        mean.add(2.0, 2.0);
        assert_eq!(mean.value(), 2.0);
    }
}
