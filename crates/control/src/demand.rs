//! What a controller asks of its host beyond acknowledgments, losses and round trips.

use crate::{CongestionControl, Reaction, Sending};

/// Something that not every host can give, in the order in which a refusal names them.
///
/// A controller that ran without what it demands would be another one, so a host refuses it. Hosts match every demand: a new
/// one is a question to each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// A sender without a window, or packets with priorities.
    Bursts,
    /// Headers on its data that routers fill in.
    RouterHeader,
    /// The AntiECN bit, carried to the receiver and back.
    Spare,
    /// ECT(1) on its data.
    Ect1,
    /// How many segments were marked, and not only that some were.
    CountedMarks,
    /// The rate of the sender's own link.
    Access,
    /// Samples of the delivery rate with each acknowledgment.
    DeliveryRate,
    /// When each lost segment left, and what was in flight then.
    EachLoss,
    /// A call for each segment that leaves.
    Departures,
    /// Calls at times of its own.
    Timer,
}

impl Sending {
    /// All that it asks for.
    pub fn demands(&self) -> Vec<Demand> {
        match self {
            Self::Windowed(control) => of_window(&**control),
            Self::Bursts(_) => vec![Demand::Bursts],
        }
    }
}

fn of_window(control: &dyn CongestionControl) -> Vec<Demand> {
    let (needs, wants) = (control.needs(), control.wants());
    let counts_marks = needs.accurate_ecn || control.reaction() == Reaction::PerMark;
    [
        (needs.queue.is_some() || wants.router_header, Demand::RouterHeader),
        (needs.spare, Demand::Spare),
        (needs.ect1, Demand::Ect1),
        (counts_marks, Demand::CountedMarks),
        (needs.access, Demand::Access),
        (needs.priorities, Demand::Bursts),
        (wants.delivery_rate, Demand::DeliveryRate),
        (wants.losses, Demand::EachLoss),
        (wants.departures, Demand::Departures),
        (wants.timer, Demand::Timer),
    ]
    .into_iter()
    .filter_map(|(asks, demand)| asks.then_some(demand))
    .collect()
}
