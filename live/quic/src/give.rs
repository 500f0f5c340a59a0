//! The end that sends, and looks at each flow again and again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use longfat_control::CongestionControl;
use longfat_live::End;
use longfat_quinn::{Adapter, Factory};
use quinn::rustls::pki_types::CertificateDer;
use quinn::{Connection, Endpoint, SendStream};
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::error::QuicError;
use crate::{endpoint, place};

/// Between two samples.
const PAUSE: Duration = Duration::from_millis(10);

/// How long a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is sent, again and again.
static DATA: [u8; 1 << 20] = [0; 1 << 20];

/// What is to be sent, and to whom.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) factory: Arc<Factory>,
    pub(crate) flows: usize,
    pub(crate) duration: Duration,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    /// The certificate of the other end.
    pub(crate) certificate: CertificateDer<'static>,
    /// How many bytes a datagram has.
    pub(crate) datagram: u16,
}

/// A flow at an instant: seconds, number, window and threshold in segments, in flight in segments, smoothed round trip in
/// µs, bytes of packets that were acknowledged, packets that were lost, bytes of a packet. None of the bytes are headers
/// of UDP and IP.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Sample(f64, usize, f64, Option<f64>, f64, f64, u64, u64, u16);

/// What this end has to tell.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) samples: Vec<Sample>,
    /// How this end is scheduled, in words.
    pub(crate) place: String,
    /// Processor time, in seconds.
    pub(crate) processor_s: f64,
}

/// Sends with all flows for as long as asked, and samples them.
///
/// # Errors
/// If this end cannot begin, a connection does not come about, or one ends too early.
pub(crate) fn give(errand: &Errand) -> Result<Given, QuicError> {
    let place = place::take(End::A)?;
    let samples = place::runtime()?.block_on(transfer(errand))?;
    Ok(Given { samples, place, processor_s: place::processor_s() })
}

async fn transfer(errand: &Errand) -> Result<Vec<Sample>, QuicError> {
    let mut transport = endpoint::transport(errand.datagram);
    transport.congestion_controller_factory(Arc::clone(&errand.factory) as _);
    let config = endpoint::trust(errand.certificate.clone(), transport)?;
    let mut ends: Vec<(Endpoint, Connection)> = Vec::new();
    for _ in 0..errand.flows {
        let mut end = endpoint::client(errand.from, errand.datagram)?;
        end.set_default_client_config(config.clone());
        let connecting = end.connect(errand.to, endpoint::NAME);
        let connecting = connecting.map_err(|error| QuicError::Connection(error.to_string()))?;
        let connection = timeout(PATIENCE, connecting)
            .await
            .map_err(|_| QuicError::Silence(PATIENCE))?
            .map_err(|error| QuicError::Connection(error.to_string()))?;
        ends.push((end, connection));
    }
    let start = Instant::now();
    for (_, connection) in &ends {
        let stream = connection.open_uni().await;
        tokio::spawn(fill(stream.map_err(|error| QuicError::Connection(error.to_string()))?));
    }
    let mut samples = Vec::new();
    let mut clock = interval(PAUSE);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        let now = start.elapsed();
        if now >= errand.duration {
            break;
        }
        for (flow, (_, connection)) in ends.iter().enumerate() {
            samples.push(sample(now, flow, connection)?);
        }
    }
    Ok(samples)
}

/// There is always something to send, until the connection ends.
async fn fill(mut stream: SendStream) {
    while stream.write_chunk(Bytes::from_static(&DATA)).await.is_ok() {}
}

fn sample(now: Duration, flow: usize, connection: &Connection) -> Result<Sample, QuicError> {
    if let Some(reason) = connection.close_reason() {
        return Err(QuicError::Connection(reason.to_string()));
    }
    let path = connection.stats().path;
    let state = connection.congestion_state().into_any();
    let adapter = state.downcast_ref::<Adapter>().expect("it was made by the factory");
    let control: &dyn CongestionControl = adapter.control();
    let segment = path.current_mtu;
    Ok(Sample(
        now.as_secs_f64(),
        flow,
        control.window().0,
        control.threshold().map(|threshold| threshold.0),
        adapter.in_flight() as f64 / f64::from(segment),
        path.rtt.as_secs_f64() * 1e6,
        adapter.acknowledged(),
        path.lost_packets,
        segment,
    ))
}
