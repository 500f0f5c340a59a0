//! Sockets, certificates and limits of both ends.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig};
use rustix::net::sockopt;

use crate::error::QuicError;

/// The name in the certificate.
pub(crate) const NAME: &str = "longfat";

/// What may be on its way. It is the window, and nothing else, that is to hold a sender back.
const IN_FLIGHT: u32 = 1 << 30;

/// What a socket may hold: a burst that does not fit in there is lost before quinn sees it.
const SOCKET: usize = 32 << 20;

/// The headers of IPv4 and UDP.
const HEADERS: u16 = 28;

/// The least that a datagram of QUIC must be able to hold (RFC 9000, section 14).
const LEAST: u16 = 1200;

/// How many bytes a datagram holds where packets have so many.
///
/// # Errors
/// If QUIC cannot run with packets of this size.
pub(crate) fn datagram(packet: u16) -> Result<u16, QuicError> {
    let datagram = packet.saturating_sub(HEADERS);
    if datagram < LEAST {
        Err(QuicError::Packet { packet, least: LEAST + HEADERS })
    } else {
        Ok(datagram)
    }
}

/// Datagrams of one size from the first to the last: the window counts them, and the simulated packets are as large.
pub(crate) fn transport(datagram: u16) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .min_mtu(datagram)
        .initial_mtu(datagram)
        .mtu_discovery_config(None)
        .send_window(IN_FLIGHT.into())
        .receive_window(IN_FLIGHT.into())
        .stream_receive_window(IN_FLIGHT.into());
    transport
}

/// An end that waits at `address`, with a certificate made now, which is returned as well.
///
/// # Errors
/// If the certificate or the socket cannot be made.
pub(crate) fn server(
    address: SocketAddr,
    datagram: u16,
) -> Result<(Endpoint, CertificateDer<'static>), QuicError> {
    let made = rcgen::generate_simple_self_signed(vec![NAME.into()])
        .map_err(|error| QuicError::Security(error.to_string()))?;
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())
        .map_err(|error| QuicError::Security(error.to_string()))?;
    config.transport_config(Arc::new(transport(datagram)));
    Ok((endpoint(address, datagram, Some(config))?, certificate))
}

/// An end that connects, with a port of its own.
///
/// # Errors
/// If the socket cannot be made.
pub(crate) fn client(address: SocketAddr, datagram: u16) -> Result<Endpoint, QuicError> {
    endpoint(address, datagram, None)
}

/// How it connects: to whoever has this certificate.
///
/// # Errors
/// If it is no certificate.
pub(crate) fn trust(
    certificate: CertificateDer<'static>,
    transport: TransportConfig,
) -> Result<ClientConfig, QuicError> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(|error| QuicError::Security(error.to_string()))?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))
        .map_err(|error| QuicError::Security(error.to_string()))?;
    config.transport_config(Arc::new(transport));
    Ok(config)
}

fn endpoint(
    address: SocketAddr,
    datagram: u16,
    server: Option<ServerConfig>,
) -> Result<Endpoint, QuicError> {
    let told = |error: io::Error| QuicError::Socket { address, error };
    let socket = UdpSocket::bind(address).map_err(told)?;
    // More than `net.core.rmem_max` and `wmem_max` allow needs the capability that made the link.
    sockopt::set_socket_recv_buffer_size_force(&socket, SOCKET)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, SOCKET))
        .map_err(|error| told(error.into()))?;
    sockopt::set_socket_send_buffer_size_force(&socket, SOCKET)
        .or_else(|_| sockopt::set_socket_send_buffer_size(&socket, SOCKET))
        .map_err(|error| told(error.into()))?;
    let mut config = EndpointConfig::default();
    config
        .max_udp_payload_size(datagram)
        .map_err(|error| QuicError::Security(error.to_string()))?;
    Endpoint::new(config, server, socket, Arc::new(TokioRuntime)).map_err(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_must_hold_what_quic_begins_with() {
        assert_eq!(datagram(1500).ok(), Some(1472));
        assert_eq!(datagram(1228).ok(), Some(1200));
        let error = datagram(1227).expect_err("a byte is missing").to_string();
        assert!(error.contains("1228 B"), "{error}");
        assert!(datagram(0).is_err());
    }
}
