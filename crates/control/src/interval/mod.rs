//! Control by monitor intervals: what learned controllers and the agents of an environment have in common.
//!
//! M. Dong et al., "PCC: Re-architecting Congestion Control for Consistent High Performance", NSDI 2015, gave up the
//! reaction to each acknowledgment: a sender keeps its rate for a monitor interval of about a round trip, looks at what
//! came of it, and decides again. N. Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion
//! Control" (Aurora), ICML 2019, let a network decide, from ratios that mean the same at every rate and round trip.
//!
//! ```text
//!     acknowledgments ─▶ Monitor ─▶ Measurement ─▶ FEATURES ─▶ decision ─▶ Controls: window or rate
//!                        at the end of each interval             an agent's, or a Network's
//! ```
//!
//! An interval lasts so many smoothed round trips. [`Learned`] decides by itself, with a small [`Network`]; an agent of
//! an environment is told the same measurements at the same instants and decides outside, so that what has been
//! trained there does the same here, to the byte.

mod controls;
mod feature;
mod learned;
mod monitor;
mod network;

pub use controls::{Controls, Lever, Scale, Steering, SteeringError};
pub use feature::{FEATURES, Feature, feature};
pub use learned::{Learned, Policy, PolicyError};
pub use monitor::{Measurement, Monitor};
pub use network::{Activation, Layer, Network, NetworkError};
