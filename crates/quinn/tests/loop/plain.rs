//! Cryptography that hides and protects nothing, so that two ends of quinn can talk in a test without TLS.
//!
//! The handshake has the shape that QUIC asks for (RFC 9001, section 4): the client's hello with its transport
//! parameters, the server's hello, the server's parameters, the client's end. Packets carry a tag of 16 bytes as with
//! any cipher of TLS 1.3, so that they are as long as real ones.

use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

const TAG: usize = 16;
const SERVER_HELLO: &[u8] = b"hello";
const CLIENT_END: &[u8] = b"end";

/// The keys of both ends, and of tokens.
pub(crate) struct Plain;

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Plain), remote: Box::new(Plain) },
        packet: packet_keys(),
    }
}

fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(Plain), remote: Box::new(Plain) }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

impl PacketKey for Plain {
    fn encrypt(&self, _: u64, buf: &mut [u8], _: usize) {
        let text = buf.len() - TAG;
        buf[text..].fill(1);
    }

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let text = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(text);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HmacKey for Plain {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        for (index, byte) in signature_out.iter_mut().enumerate() {
            *byte = data.get(index).map_or(0, |byte| !byte);
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Plain {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for Plain {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}

impl ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Handshake::boxed(Side::Client, params))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        Handshake::boxed(Side::Server, params)
    }
}

/// One end of a handshake.
struct Handshake {
    side: Side,
    ours: Vec<u8>,
    theirs: Option<TransportParameters>,
    /// Messages read and written so far.
    read: u32,
    written: u32,
}

impl Handshake {
    fn boxed(side: Side, params: &TransportParameters) -> Box<dyn Session> {
        let mut ours = Vec::new();
        params.write(&mut ours);
        Box::new(Self { side, ours, theirs: None, read: 0, written: 0 })
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.read < 2
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        if buf != SERVER_HELLO && buf != CLIENT_END {
            self.theirs = Some(TransportParameters::read(self.side, &mut Cursor::new(buf))?);
        }
        self.read += 1;
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.theirs)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let (message, has_keys): (&[u8], bool) = match (self.side, self.read, self.written) {
            (Side::Client, 0, 0) => (&self.ours, false),
            (Side::Client, 1.., 1) => (&[], true),
            (Side::Client, 2, 2) => (CLIENT_END, true),
            (Side::Server, 1, 0) => (SERVER_HELLO, true),
            (Side::Server, 1, 1) => (&self.ours, true),
            _ => return None,
        };
        buf.extend_from_slice(message);
        self.written += 1;
        has_keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(packet_keys())
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}
