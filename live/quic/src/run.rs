//! `run`: both ends of a transfer, and what is told of it.

use std::net::SocketAddr;
use std::sync::mpsc::sync_channel;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use longfat_live::End;
use quinn::VarInt;
use serde::Serialize;

use crate::choice::choose;
use crate::endpoint::datagram;
use crate::error::{FLOWS, QuicError};
use crate::give::{Errand, Sample, give};
use crate::take::{Ready, take};

/// Of the end that takes the data.
const PORT: u16 = 7009;

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
