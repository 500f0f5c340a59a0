//! Which flows are traced.

use longfat_scenario::{Recovery, Scenario};
use longfat_sim::trace::Stream;
use thiserror::Error;

/// Why flows cannot be traced as asked: what was asked, what there is, and what to do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceError {
    /// A name that no flow has.
    #[error("there is no flow `{asked}` to trace: a name is that of {known}")]
    Unknown {
        /// The name.
        asked: String,
        /// Those that there are.
        known: String,
    },
    /// A flow whose packets cannot be captured.
    #[error(
        "`{group}` sends as QUIC does (`recovery = \"quic\"`), and nobody can read the headers of its packets: \
         qlog tells what they are; or name the other flows"
    )]
    Encrypted {
        /// Its group.
        group: String,
    },
}

/// The flows of a scenario that are traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Of each group of long flows: none, some, or all of them.
    long: Vec<Part>,
    /// Of each group of short flows: are they?
    short: Vec<bool>,
}

/// Some flows of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    These(Vec<u64>),
    All,
}

impl Chosen {
    /// Those of these names: of a group (`reno`), or of a long flow (`reno[0]`). With no names, every flow.
    ///
    /// # Errors
    /// [`TraceError::Unknown`]: there is no such flow.
    pub fn of(scenario: &Scenario, names: &[String]) -> Result<Self, TraceError> {
        if names.is_empty() {
            return Ok(Self {
                long: vec![Part::All; scenario.flows.len()],
                short: vec![true; scenario.traffic.len()],
            });
        }
        let mut chosen = Self {
            long: vec![Part::These(Vec::new()); scenario.flows.len()],
            short: vec![false; scenario.traffic.len()],
        };
        for name in names {
            chosen.add(scenario, name)?;
        }
        Ok(chosen)
    }

    fn add(&mut self, scenario: &Scenario, name: &str) -> Result<(), TraceError> {
        let (group, index) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            None => (name, None),
            Some((group, index)) => (group, Option::from(index)),
        };
        let unknown = || TraceError::Unknown { asked: name.into(), known: known(scenario) };
        if let Some(place) = scenario.flows.iter().position(|flow| flow.name == group) {
            let Some(index) = index else {
                self.long[place] = Part::All;
                return Ok(());
            };
            let index = index.parse().ok().filter(|index| *index < scenario.flows[place].flows());
            if let Part::These(these) = &mut self.long[place] {
                these.push(index.ok_or_else(unknown)?);
            }
            return index.map(|_| ()).ok_or_else(unknown);
        }
        let place = scenario.traffic.iter().position(|traffic| traffic.name == group);
        self.short[place.filter(|_| index.is_none()).ok_or_else(unknown)?] = true;
        Ok(())
    }

    /// Is this flow traced? Of flows that carry requests, all are whose group is traced as a whole; of short flows, all
    /// or none of a group.
    pub fn has(&self, stream: Stream) -> bool {
        match stream {
            Stream::Long(group, index) => match &self.long[group] {
                Part::All => true,
                Part::These(these) => these.contains(&index),
            },
            Stream::Requests(group, _) => self.long[group] == Part::All,
            Stream::Short(group, _) => self.short[group],
        }
    }

    /// The long flows of a scenario that are traced.
    pub fn long<'a>(&'a self, scenario: &'a Scenario) -> impl Iterator<Item = (usize, u64)> + 'a {
        let groups = scenario.flows.iter().enumerate();
        let flows =
            groups.flat_map(|(group, flow)| (0..flow.flows()).map(move |index| (group, index)));
        flows.filter(|&(group, index)| self.has(Stream::Long(group, index)))
    }

    /// Refuses flows whose packets are encrypted.
    pub(crate) fn refuse_encrypted(&self, scenario: &Scenario) -> Result<(), TraceError> {
        let long = scenario.flows.iter().zip(&self.long);
        let long = long
            .filter(|(_, chosen)| **chosen != Part::These(Vec::new()))
            .map(|(flow, _)| (&flow.name, flow.transport.recovery));
        let short = scenario.traffic.iter().zip(&self.short);
        let short = short
            .filter(|(_, chosen)| **chosen)
            .map(|(traffic, _)| (&traffic.name, traffic.transport.recovery));
        match long.chain(short).find(|(_, recovery)| *recovery == Recovery::Quic) {
            None => Ok(()),
            Some((group, _)) => Err(TraceError::Encrypted { group: group.clone() }),
        }
    }
}

/// What can be named.
fn known(scenario: &Scenario) -> String {
    let long = scenario.flows.iter().map(|flow| match flow.flows() {
        1 => format!("a flow, `{0}` or `{0}[0]`", flow.name),
        count => format!("flows, `{0}` or `{0}[0]` to `{0}[{1}]`", flow.name, count - 1),
    });
    let short = scenario.traffic.iter().map(|traffic| format!("short flows, `{}`", traffic.name));
    long.chain(short).collect::<Vec<_>>().join("; ")
}
