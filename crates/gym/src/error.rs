//! What an environment refuses.

use longfat_control::interval::{NetworkError, PolicyError, SteeringError};
use longfat_fluid::FluidError;
use thiserror::Error;

/// Why there is no such environment, step or policy.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GymError {
    /// A flow that is not in the scenario.
    #[error(
        "there is no flow `{name}` for an agent to steer: the flows of this scenario are {}",
        if known.is_empty() { "none, so add a [[flow]]".into() } else { known.join(", ") }
    )]
    NoSuchFlow {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The number of agents changes between episodes.
    #[error(
        "agents steer {found} flows in this scenario, and {expected} in the one before: the number of agents is that \
         of the first episode, so do not vary the `count` of a flow that agents steer"
    )]
    Agents {
        /// How many there are.
        found: usize,
        /// How many there were.
        expected: usize,
    },
    /// A number of actions other than that of agents.
    #[error("{found} actions for {expected} agents: one for each is needed")]
    Actions {
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// An action that is no number.
    #[error("the action of agent {agent} is {action}: a finite number is needed")]
    Action {
        /// Which agent, from 0.
        agent: usize,
        /// What it wants.
        action: f64,
    },
    /// A step without an episode.
    #[error("the episode is over, or has not begun: call reset() first")]
    Over,
    /// Something to observe that does not exist.
    #[error("`{name}` is nothing that can be observed{hint}: there are {}", known.join(", "))]
    NoSuchFeature {
        /// What was asked for.
        name: String,
        /// A similar one, in words.
        hint: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A weight of the reward that makes no sense.
    #[error(
        "the weight of {what} in the reward is {weight}: a finite number, 0 or more, is needed"
    )]
    Weight {
        /// Of what.
        what: &'static str,
        /// The weight.
        weight: f64,
    },
    /// A policy's file that says something else.
    #[error("this is not a policy: {0}")]
    File(String),
    /// How often it decides, or what it observes.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// What actions mean.
    #[error(transparent)]
    Steering(#[from] SteeringError),
    /// The network of a policy.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The fluid model cannot say.
    #[error(transparent)]
    Fluid(#[from] FluidError),
}
