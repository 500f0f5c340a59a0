//! Which flow of the scenario a flow of the network is, and what queues know it by.

use std::collections::BTreeSet;

use longfat_scenario::{Scenario, chance};
use longfat_units::fault;
use rand_core::Rng as _;

/// Which group of the scenario a flow belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// A long flow: group, and index in it.
    Long(usize, u64),
    /// Carries the requests to a long flow: group, and index in it.
    Requests(usize, u64),
    /// A short flow: traffic group, and how many flows of it came before.
    Short(usize, u64),
}

impl Member {
    /// The flow of the scenario that it is.
    pub(crate) fn of_scenario(self) -> Option<fault::Member> {
        match self {
            Self::Long(group, index) => Some(fault::Member::Long(group, index)),
            Self::Requests(..) => None,
            Self::Short(group, index) => Some(fault::Member::Short(group, index)),
        }
    }
}

/// What queues tell the flows of a network apart by. Names count, and not places, so that a flow that is added to a scenario
/// changes nothing for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The host that sends the flow's data. The one at the other end has the same number but for the lowest bit.
    pub(crate) host: u32,
    /// A number that no other flow between the two has.
    pub(crate) flow: u32,
}

/// The hosts of a scenario: two for each group of flows, which all travel from one to the other.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// Of each group of long flows the one that sends data: an even number.
    long: Vec<u32>,
    /// The same of short flows.
    short: Vec<u32>,
}

impl Hosts {
    /// The hosts of this scenario.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let mut taken = BTreeSet::new();
        let mut number = |kind: &str, name: &str| {
            let drawn = chance::stream(scenario.seed, &format!("{kind}/{name}/hosts")).next_u64();
            let mut host = drawn as u32 & !1;
            while !taken.insert(host) {
                host = host.wrapping_add(2);
            }
            host
        };
        let long = scenario.flows.iter().map(|group| number("flow", &group.name)).collect();
        let short = scenario.traffic.iter().map(|group| number("traffic", &group.name)).collect();
        Self { long, short }
    }

    /// What queues know this flow by.
    pub(crate) fn identity(&self, member: Member) -> Identity {
        match member {
            Member::Long(group, index) => {
                Identity { host: self.long[group], flow: 2 * index as u32 }
            }
            // From the host that the responses go to.
            Member::Requests(group, index) => {
                Identity { host: self.long[group] ^ 1, flow: 2 * index as u32 + 1 }
            }
            Member::Short(group, index) => Identity { host: self.short[group], flow: index as u32 },
        }
    }
}
