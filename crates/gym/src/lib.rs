//! Scenarios as environments in which agents learn, and what they have learned as a controller.
//!
//! ```text
//!     Scenario ─▶ Environment ─▶ observations, rewards        packets, or the fluid model
//!                   ▲  actions, one for each agent and monitor interval
//!
//!     a policy's file ─▶ Policy ─▶ Controller                 the same decisions without an environment
//! ```
//!
//! An environment takes any scenario: agents steer the flows of the groups that it is told, whatever controllers these
//! name. All agents of an environment decide at the same instants. There is no clock and no global generator in here:
//! the same scenario and the same actions give the same bytes.

mod environment;
mod error;
mod fluid;
mod packets;
mod policy_file;
mod progress;
mod settings;
#[cfg(test)]
mod tests;

pub use environment::{Environment, INFORMATION, Outcome};
pub use error::GymError;
pub use policy_file::{PolicyFile, controller};
pub use progress::Standing;
pub use settings::{Model, RewardWeights, Settings};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
