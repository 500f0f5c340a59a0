//! What controllers ask for that quinn does not give.

use longfat_control::{Demand, Sending};
use thiserror::Error;

/// Why a controller cannot run on quinn. A controller that ran without what it asks for would be another one.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is no controller of a window.
    #[error("it sends bursts without a window, and needs a sender of its own")]
    Bursts,
    /// Routers have to take part.
    #[error("it reads headers that routers fill in, and packets of QUIC carry none")]
    RouterHeader,
    /// Routers have to take part by AntiECN.
    #[error("it reads the AntiECN bit, which neither QUIC nor quinn carries")]
    Spare,
    /// It sends ECT(1).
    #[error("its data has to carry ECT(1), and that of quinn carries ECT(0)")]
    Ect1,
    /// It answers how much is marked.
    #[error(
        "it goes by how many packets are marked, and quinn says only that an acknowledgment reports marks"
    )]
    CountedMarks,
    /// It knows the first link of its path.
    #[error("it needs to know the rate of the sender's own link, and QUIC does not")]
    Access,
    /// It steers a rate.
    #[error(
        "it sends at a rate that it derives from samples of the delivery rate, and quinn paces by the window alone"
    )]
    DeliveryRate,
    /// It hears of each loss.
    #[error(
        "it asks which segments are lost and when each left, and quinn says only how much is lost"
    )]
    EachLoss,
    /// It acts without an acknowledgment.
    #[error(
        "it acts at times of its own, and quinn calls a controller only when packets leave or arrive"
    )]
    Timer,
}

/// Why this cannot run on quinn, if it cannot.
pub(crate) fn refusal(sending: &Sending) -> Option<Refusal> {
    sending.demands().into_iter().find_map(refused)
}

fn refused(demand: Demand) -> Option<Refusal> {
    Some(match demand {
        Demand::Bursts => Refusal::Bursts,
        Demand::RouterHeader => Refusal::RouterHeader,
        Demand::Spare => Refusal::Spare,
        Demand::Ect1 => Refusal::Ect1,
        Demand::CountedMarks => Refusal::CountedMarks,
        Demand::Access => Refusal::Access,
        Demand::DeliveryRate => Refusal::DeliveryRate,
        Demand::EachLoss => Refusal::EachLoss,
        // quinn tells of each packet that it sends.
        Demand::Departures => return None,
        Demand::Timer => Refusal::Timer,
    })
}
