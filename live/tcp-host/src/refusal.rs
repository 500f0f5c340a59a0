//! What controllers ask for that TCP in Linux does not give.

use longfat_control::{Demand, Sending};
use thiserror::Error;

/// Why a controller cannot run on TCP in Linux. A controller that ran without what it asks for would be another one.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is no controller of a window.
    #[error("it sends bursts without a window, and needs a sender of its own")]
    Bursts,
    /// Routers have to take part.
    #[error("it reads headers that routers fill in, and packets of TCP carry none")]
    RouterHeader,
    /// It sends ECT(1).
    #[error("its data has to carry ECT(1), and that of TCP in Linux carries ECT(0)")]
    Ect1,
    /// It answers how much is marked.
    #[error(
        "it goes by how many packets are marked, and an echo of RFC 3168 says only that some were"
    )]
    CountedMarks,
    /// It knows the first link of its path.
    #[error("it needs to know the rate of the sender's own link, and TCP does not")]
    Access,
    /// It steers a rate by every sample.
    #[error(
        "it goes by each sample of the delivery rate, and the kernel reports eight times per round trip, \
         not with every acknowledgment"
    )]
    DeliveryRate,
    /// It hears of each loss.
    #[error(
        "it asks which segments are lost and when each left, and the kernel says only how many are lost"
    )]
    EachLoss,
    /// It hears of each departure.
    #[error(
        "it follows each departure, and the kernel calls congestion control when packets arrive"
    )]
    Departures,
    /// It acts without an acknowledgment.
    #[error(
        "it acts at times of its own, and the kernel calls congestion control when packets arrive"
    )]
    Timer,
}

/// Why this cannot run on TCP in Linux, if it cannot.
pub fn refusal(sending: &Sending) -> Option<Refusal> {
    sending.demands().into_iter().find_map(refused)
}

/// Why this cannot be had, if it cannot. The bit of AntiECN can: programs at both ends carry it back.
fn refused(demand: Demand) -> Option<Refusal> {
    Some(match demand {
        Demand::Bursts => Refusal::Bursts,
        Demand::RouterHeader => Refusal::RouterHeader,
        Demand::Spare => return None,
        Demand::Ect1 => Refusal::Ect1,
        Demand::CountedMarks => Refusal::CountedMarks,
        Demand::Access => Refusal::Access,
        Demand::DeliveryRate => Refusal::DeliveryRate,
        Demand::EachLoss => Refusal::EachLoss,
        Demand::Departures => Refusal::Departures,
        Demand::Timer => Refusal::Timer,
    })
}
