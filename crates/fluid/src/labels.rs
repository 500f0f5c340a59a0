//! What the flows and links of a solution are called in the scenario.

use std::collections::BTreeMap;

use longfat_scenario::{FlowGroup, Hop, Scenario};
use longfat_units::Span;

/// The names behind the indices of a solution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Labels {
    /// The flows, in the order of the scenario.
    pub flows: Vec<FlowLabel>,
    /// The groups of long flows, in the order of the scenario.
    pub groups: Vec<GroupLabel>,
    /// For each flow, the index of its group.
    pub group: Vec<u32>,
    /// The names of the links of the scenario.
    pub links: Vec<String>,
    /// For each link of the solution, the index of the link in the scenario, and whether this is its reverse direction.
    pub directions: Vec<(usize, bool)>,
    /// The place of each in `directions`.
    places: BTreeMap<(usize, bool), usize>,
}

/// A long flow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowLabel {
    /// Its name.
    pub name: String,
    /// Its round trip without queues.
    pub rtt: Span,
    /// When it starts.
    pub start: Span,
}

/// A group of long flows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupLabel {
    /// Its name.
    pub name: String,
    /// The name of its controller.
    pub control: String,
}

impl Labels {
    /// The links of `scenario`, and no flow yet.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let links = scenario.links.iter().map(|link| link.name.clone()).collect();
        Self { links, ..Self::default() }
    }

    /// Adds a group and its flows; returns what the flows are called.
    pub(crate) fn add(&mut self, scenario: &Scenario, group: &FlowGroup) -> &[FlowLabel] {
        let index = self.groups.len() as u32;
        let control = group.control.kind().into();
        self.groups.push(GroupLabel { name: group.name.clone(), control });
        let first = self.flows.len();
        for member in 0..group.count {
            let (start, rtt) = scenario.start_and_rtt(group, member);
            self.group.push(index);
            self.flows.push(FlowLabel { name: format!("{}[{member}]", group.name), rtt, start });
        }
        &self.flows[first..]
    }

    /// The path in links of the solution; directions that no flow has crossed before are added.
    pub(crate) fn route(&mut self, path: &[Hop]) -> Vec<usize> {
        path.iter()
            .map(|hop| {
                let wanted = (hop.link, hop.reverse);
                let next = self.directions.len();
                *self.places.entry(wanted).or_insert_with(|| {
                    self.directions.push(wanted);
                    next
                })
            })
            .collect()
    }
}
