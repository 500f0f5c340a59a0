//! Which flow of the scenario a flow of the network is.

use longfat_units::fault;

/// Which group of the scenario a flow belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    /// A long flow: group, and index in it.
    Long(usize, u64),
    /// Carries the requests to a long flow of this group.
    Requests(usize),
    /// A short flow: traffic group, and how many flows of it came before.
    Short(usize, u64),
}

impl Member {
    /// The flow of the scenario that it is.
    pub(crate) fn of_scenario(self) -> Option<fault::Member> {
        match self {
            Self::Long(group, index) => Some(fault::Member::Long(group, index)),
            Self::Requests(_) => None,
            Self::Short(group, index) => Some(fault::Member::Short(group, index)),
        }
    }

    /// A number unique to the group, among long and short ones alike.
    pub(crate) fn group(self) -> u32 {
        match self {
            Self::Long(group, _) | Self::Requests(group) => 2 * group as u32,
            Self::Short(group, _) => 2 * group as u32 + 1,
        }
    }
}
