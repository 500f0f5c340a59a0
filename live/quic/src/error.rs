//! Why there is no transfer, or none that counts.

use std::io;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use longfat_live::EndError;
use longfat_quinn::FactoryError;

/// How many flows there may be.
pub(crate) const FLOWS: RangeInclusive<usize> = 1..=64;

/// Why there is no transfer, or none that counts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QuicError {
    /// The controller is wrong, or QUIC cannot run it.
    #[error(transparent)]
    Control(#[from] FactoryError),
    /// No such number of flows.
    #[error("from {least} to {most} flows can be measured, not {0}", least = FLOWS.start(), most = FLOWS.end())]
    Flows(usize),
    /// Packets are too short.
    #[error(
        "QUIC needs packets of {least} B or more (RFC 9000, section 14), and those of the link have {packet} B: make one \
         with larger packets"
    )]
    Packet {
        /// What the link has.
        packet: u16,
        /// What is needed.
        least: u16,
    },
    /// An end of the link is not there.
    #[error("there is no such end of a link: {0}; make a link with `longfat link up`")]
    End(#[from] EndError),
    /// A socket could not be made.
    #[error("no socket at {address}: {error}")]
    Socket {
        /// Where.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The runtime could not begin.
    #[error("no timers or sockets: {0}")]
    Runtime(io::Error),
    /// A certificate, or what is made of it.
    #[error("no secure connection can be made: {0}")]
    Security(String),
    /// A connection did not come about, or ended.
    #[error("the connection between the ends of the link failed: {0}")]
    Connection(String),
    /// Nobody answered.
    #[error("nobody answered over the link for {} s: is it up, and does it lose everything?", .0.as_secs())]
    Silence(Duration),
    /// The receiving end could not begin.
    #[error("the receiving end of the transfer ended before it began")]
    Unready,
    /// Losses that no queue decided.
    #[error(
        "this measurement counts for nothing: {0} packets were lost in the socket of the receiver, which read too slowly, and \
         the controller has answered that. Let less run beside it, or ask for a lower rate"
    )]
    Overflown(u64),
}

impl QuicError {
    /// Is it what was asked for that is wrong?
    pub(crate) fn is_wrong_input(&self) -> bool {
        matches!(self, Self::Control(_) | Self::Flows(_) | Self::Packet { .. } | Self::End(_))
    }
}
