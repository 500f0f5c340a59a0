//! What an environment is asked for.

use longfat_control::interval::{FEATURES, Lever, Policy, Scale, Steering, feature};
use longfat_fluid::Pricing;

use crate::GymError;

/// What moves the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Packet by packet.
    Packets,
    /// The fluid model, with what its links charge.
    Fluid(Pricing),
}

/// How much the parts of the reward count: all without a scale, so that paths can be mixed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewardWeights {
    /// Of log2 of the throughput.
    pub throughput: f64,
    /// Of log2 of the round trip over the one without queues, which is taken off.
    pub delay: f64,
    /// Of the share of segments that were lost, which is taken off.
    pub loss: f64,
}

impl Default for RewardWeights {
    /// Half the throughput costs as much as four times the round trip, or a loss of 10 %.
    fn default() -> Self {
        Self { throughput: 1.0, delay: 0.5, loss: 10.0 }
    }
}

/// How agents see and act, whatever the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub(crate) interval: f64,
    pub(crate) observed: Vec<usize>,
    pub(crate) history: usize,
    pub(crate) steering: Steering,
    pub(crate) weights: RewardWeights,
    pub(crate) model: Model,
}

impl Default for Settings {
    /// All features without a scale of one interval of one round trip; actions double or halve the window at most.
    fn default() -> Self {
        let scale = Scale::Multiplicative { octaves: 1.0 };
        let steering = Steering::new(Lever::Window, scale, (1.0, 1e6)).expect("it makes sense");
        let every = FEATURES.iter().enumerate();
        Self {
            interval: 1.0,
            observed: every.filter(|(_, it)| it.scale_free).map(|(index, _)| index).collect(),
            history: 1,
            steering,
            weights: RewardWeights::default(),
            model: Model::Packets,
        }
    }
}

impl Settings {
    /// Decisions every `interval` smoothed round trips, from these features of the last `history` intervals.
    ///
    /// # Errors
    /// If a feature does not exist, or a number is out of range.
    pub fn new(
        interval: f64,
        observed: &[String],
        history: usize,
        steering: Steering,
        weights: RewardWeights,
        model: Model,
    ) -> Result<Self, GymError> {
        Policy::check(interval, history)?;
        let RewardWeights { throughput, delay, loss } = weights;
        for (what, weight) in [("throughput", throughput), ("delay", delay), ("loss", loss)] {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(GymError::Weight { what, weight });
            }
        }
        let observed = observed_features(observed)?;
        Ok(Self { interval, observed, history, steering, weights, model })
    }
}

/// The places of features in the list, by name.
pub(crate) fn observed_features(names: &[String]) -> Result<Vec<usize>, GymError> {
    if names.is_empty() {
        return Err(longfat_control::interval::PolicyError::Blind.into());
    }
    names.iter().map(|name| place_of(name)).collect()
}

fn place_of(name: &str) -> Result<usize, GymError> {
    feature(name).map(|(place, _)| place).ok_or_else(|| {
        let known: Vec<&'static str> = FEATURES.iter().map(|it| it.name).collect();
        let similar = known.iter().find(|it| it.starts_with(name) || name.starts_with(*it));
        GymError::NoSuchFeature {
            name: name.chars().take(40).collect(),
            hint: similar.map_or_else(String::new, |it| format!(", did you mean `{it}`?")),
            known,
        }
    })
}
