//! The end that takes the data, and throws it away.

use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;

use longfat_live::End;
use quinn::rustls::pki_types::CertificateDer;
use quinn::{Connection, Endpoint, Incoming};

use crate::error::QuicError;
use crate::{endpoint, place};

/// What the other end has to know.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) certificate: CertificateDer<'static>,
    /// How this end is scheduled, in words.
    pub(crate) place: String,
    /// This end: it is closed when everything is over, since what tells it so over the link may be lost.
    pub(crate) end: Endpoint,
}

/// What this end has to tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// Packets that its socket had no room for.
    pub(crate) overflown: u64,
    /// Processor time, in seconds.
    pub(crate) processor_s: f64,
}

/// Takes so many transfers at `address`, and says so through `ready` once it waits for them.
///
/// # Errors
/// If this end cannot begin.
pub(crate) fn take(
    flows: usize,
    address: SocketAddr,
    datagram: u16,
    ready: &SyncSender<Ready>,
) -> Result<Taken, QuicError> {
    let place = place::take(End::B)?;
    let before = overflown();
    place::runtime()?.block_on(async {
        let (endpoint, certificate) = endpoint::server(address, datagram)?;
        // If nobody waits for it any more, nobody comes either.
        if ready.send(Ready { certificate, place, end: endpoint.clone() }).is_ok() {
            accept(&endpoint, flows).await;
        }
        Ok::<(), QuicError>(())
    })?;
    Ok(Taken { overflown: overflown().saturating_sub(before), processor_s: place::processor_s() })
}

/// Takes transfers until all of them have ended.
async fn accept(endpoint: &Endpoint, flows: usize) {
    let mut under_way = Vec::new();
    while under_way.len() < flows {
        let Some(incoming) = endpoint.accept().await else { break };
        under_way.push(tokio::spawn(swallow(incoming)));
    }
    for each in under_way {
        // However it ended: the other end says what became of the transfer.
        let _ = each.await;
    }
}

async fn swallow(incoming: Incoming) -> Result<(), quinn::ConnectionError> {
    let connection: Connection = incoming.await?;
    let mut data = connection.accept_uni().await?;
    // In whatever order it comes: what waits for what is missing would arrive in bursts.
    while let Ok(Some(_)) = data.read_chunk(usize::MAX, false).await {}
    connection.closed().await;
    Ok(())
}

/// How many packets the sockets in the namespace of this thread had no room for.
fn overflown() -> u64 {
    let table = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap_or_default();
    receive_errors(&table).unwrap_or(0)
}

/// `RcvbufErrors` of UDP, from a table with a line of names and a line of numbers for each protocol.
fn receive_errors(table: &str) -> Option<u64> {
    let mut lines = table.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let place = lines.next()?.split_whitespace().position(|name| name == "RcvbufErrors")?;
    lines.next()?.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_packets_are_found_by_name() {
        let table = "\
Tcp: RtoAlgorithm RcvbufErrors
Tcp: 1 5
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors
Udp: 10 0 0 12 42 7
UdpLite: InDatagrams RcvbufErrors
UdpLite: 0 1
";
        assert_eq!(receive_errors(table), Some(42));
        assert_eq!(receive_errors("Udp: InDatagrams\nUdp: 3\n"), None);
        assert_eq!(receive_errors(""), None);
    }
}
