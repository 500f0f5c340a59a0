//! `run`: both ends of a transfer, and what is told of it.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::sync_channel;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use longfat_live::{End, EndError};
use longfat_quinn::FactoryError;
use quinn::VarInt;
use rustix::time::Timespec;
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

use crate::choice::choose;
use crate::endpoint::datagram;
use crate::give::{Errand, Sample, give};
use crate::take::{Ready, take};

/// Of the end that takes the data.
const PORT: u16 = 7009;

/// The most flows.
const FLOWS: std::ops::RangeInclusive<usize> = 1..=64;

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Transfer {
    /// The controller as a scenario has it.
    pub(crate) control: String,
    pub(crate) flows: usize,
    pub(crate) duration: Duration,
    /// The largest packet of the link, in bytes.
    pub(crate) packet: u16,
}

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

/// What is told at the end.
#[derive(Debug, Serialize)]
struct Told<'a> {
    control: &'a str,
    /// How the two ends were scheduled.
    priority: [String; 2],
    /// Processor time of the two ends, in seconds.
    processor_s: [f64; 2],
    samples: Vec<Sample>,
}

/// Sends from end a to end b, and tells what became of it as one object of JSON.
///
/// # Errors
/// If there is no link, the controller cannot run, or what was measured counts for nothing.
pub(crate) fn run(transfer: &Transfer) -> Result<String, QuicError> {
    let Transfer { ref control, flows, duration, packet } = *transfer;
    let factory = choose(control)?;
    if !FLOWS.contains(&flows) {
        return Err(QuicError::Flows(flows));
    }
    let datagram = datagram(packet)?;
    let [from, to] = [(End::A, 0), (End::B, PORT)].map(|(end, port)| address(end, port));
    let (ready, waiting) = sync_channel(1);
    // Not waited for where the other end fails: nothing would ever come.
    let taking = spawn(move || take(flows, to, datagram, &ready));
    let Ok(Ready { certificate, place, end }) = waiting.recv() else {
        return Err(ended(taking).err().unwrap_or(QuicError::Unready));
    };
    let name = factory.name().to_owned();
    let errand = Errand { factory, flows, duration, from, to, certificate, datagram };
    let given = ended(spawn(move || give(&errand)))?;
    end.close(VarInt::from_u32(0), b"");
    let taken = ended(taking)?;
    if taken.overflown > 0 {
        return Err(QuicError::Overflown(taken.overflown));
    }
    let told = Told {
        control: &name,
        priority: [given.place, place],
        processor_s: [given.processor_s, taken.processor_s],
        samples: given.samples,
    };
    Ok(serde_json::to_string(&told).expect("numbers and names are JSON"))
}

fn address(end: End, port: u16) -> SocketAddr {
    let address = end.v4().parse().expect("the ends have addresses");
    SocketAddr::new(address, port)
}

/// What a thread returns.
fn ended<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Timers and sockets on this thread alone, which has its priority.
pub(crate) fn runtime() -> Result<Runtime, QuicError> {
    Builder::new_current_thread().enable_all().build().map_err(QuicError::Runtime)
}

pub(crate) fn seconds(time: Timespec) -> f64 {
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
