//! The two ends: sockets, certificates and limits.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longfat_quinn::Factory;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use quinn::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use quinn::rustls::{self, ClientConfig, DigitallySignedStruct, SignatureScheme};
use quinn::{
    Connection, Endpoint, EndpointConfig, RecvStream, ServerConfig, TokioRuntime, TransportConfig,
};
use socket2::{Domain, Protocol, Socket, Type};

/// What may be on its way. quinn's own limits suit 100 Mbit/s at 100 ms; beyond them it is these and not the window that
/// hold a sender back, and a window that is not used does not grow.
const IN_FLIGHT: u32 = 256 << 20;

fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .send_window(IN_FLIGHT.into())
        .receive_window(IN_FLIGHT.into())
        .stream_receive_window(IN_FLIGHT.into());
    transport
}

/// An end that waits, with a certificate made now.
pub fn server(address: SocketAddr) -> Result<Endpoint, Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(vec!["longfat".into()])?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![made.cert.der().clone()], key.into())?;
    config.transport_config(Arc::new(transport()));
    endpoint(address, Some(config))
}

/// What the sockets may hold: a burst that does not fit in there is lost before quinn sees it. The system may allow less.
const SOCKET: usize = 4 << 20;

fn endpoint(address: SocketAddr, server: Option<ServerConfig>) -> Result<Endpoint, Box<dyn Error>> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(SOCKET)?;
    socket.set_send_buffer_size(SOCKET)?;
    socket.bind(&address.into())?;
    let runtime = Arc::new(TokioRuntime);
    Ok(Endpoint::new(EndpointConfig::default(), server, socket.into(), runtime)?)
}

/// An end that connects.
pub fn client(to: SocketAddr) -> Result<Endpoint, Box<dyn Error>> {
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    endpoint(any.parse()?, None)
}

/// Connects, to send under the controllers of `factory`.
pub async fn connect(
    client: &Endpoint,
    to: SocketAddr,
    factory: Arc<Factory>,
) -> Result<Connection, Box<dyn Error>> {
    let provider = Arc::new(ring::default_provider());
    let tls = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        .with_no_client_auth();
    let mut config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    let mut transport = transport();
    transport.congestion_controller_factory(factory);
    config.transport_config(Arc::new(transport));
    Ok(client.connect_with(config, to, "longfat")?.await?)
}

/// Takes in whatever is sent, and answers each stream with how much that was and how long it took.
pub async fn serve(server: Endpoint) {
    while let Some(incoming) = server.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await?;
            let (mut send, mut receive) = connection.accept_bi().await?;
            let (mut bytes, mut begin) = (0, None);
            // The other end resets the stream when its time is over.
            while let Ok(Some(chunk)) = receive.read_chunk(usize::MAX, true).await {
                begin.get_or_insert_with(Instant::now);
                bytes += chunk.bytes.len() as u64;
            }
            let time = begin.map_or(0, |begin| begin.elapsed().as_nanos() as u64);
            send.write_all(&bytes.to_be_bytes()).await?;
            send.write_all(&time.to_be_bytes()).await?;
            send.finish()?;
            // Until the other end has it.
            connection.closed().await;
            Ok::<(), Box<dyn Error + Send + Sync>>(())
        });
    }
}

/// How much the other end has received, and in how long.
pub async fn report(receive: &mut RecvStream) -> Result<(u64, Duration), Box<dyn Error>> {
    let mut number = [0; 8];
    receive.read_exact(&mut number).await?;
    let bytes = u64::from_be_bytes(number);
    receive.read_exact(&mut number).await?;
    Ok((bytes, Duration::from_nanos(u64::from_be_bytes(number).max(1))))
}

/// Believes every certificate: what is sent here is no secret, and nobody has to install anything.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
