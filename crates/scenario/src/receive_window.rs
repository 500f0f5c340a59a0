//! Receive windows: how much a receiver lets its sender send.

use longfat_units::Bytes;
use serde_json::{Map, Value as Json};

use crate::ACK;
use crate::error::Problem;
use crate::fields::{Field, Fields};
use crate::keys;
use crate::size::amount;
use crate::tree::Value;
use crate::value::{NONE, count, word};

const KEYS: &[&str] = &keys::names(&keys::RECEIVE_WINDOW);
const FIXED: &str = "fixed";
const RIGHT_SIZING: &str = "right-sizing";
const SENDER_TUNED: &str = "sender-tuned";
const AUTO: &str = "auto";
const ASKED: &str = "\"none\", \"auto\", a size such as \"1 MB\" or \"64 packets\", or a table such as \
                     { kind = \"right-sizing\", most = \"6 MB\" }";

/// The window field of a header without scaling (RFC 9293).
const FIELD: u64 = 65_535;
/// The largest shift of RFC 7323, section 2.3.
const LARGEST_SCALE: u64 = 14;
/// What Linux lets a receive buffer grow to.
const USUAL_MOST: Bytes = Bytes(6_000_000);

/// The data that a receiver has room for beyond what it has acknowledged, and how finely it can say so. Its application
/// reads at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiveWindow {
    /// The buffers.
    pub buffer: ReceiveBuffer,
    /// The window scale: windows are told in units of 2^scale bytes, and at most 65 535 of them (RFC 7323).
    pub scale: u64,
}

/// The buffers behind a window, in bytes of data, headers not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// One of the receiver, of this size.
    Fixed(Bytes),
    /// The receiver's own: it begins with `initial` and grows to twice what arrives in a round trip, but not beyond
    /// `most` (Fisk & Feng 2001).
    RightSizing {
        /// At the start.
        initial: Bytes,
        /// Its limit.
        most: Bytes,
    },
    /// The receiver has room for `most`; the sender's buffer, which keeps what is not acknowledged, begins with
    /// `initial` and is kept between two and four times the congestion window (Semke, Mahdavi & Mathis 1998).
    SenderTuned {
        /// At the start.
        initial: Bytes,
        /// Its limit.
        most: Bytes,
    },
}

impl ReceiveWindow {
    /// Data in a packet of this size.
    pub fn payload(packet: Bytes) -> u64 {
        packet.0 - ACK.0
    }

    /// The window that is told when there is room for `bytes`: in units of 2^scale, rounded down.
    pub fn told(&self, bytes: u64) -> u64 {
        (bytes >> self.scale).min(FIELD) << self.scale
    }

    /// The most that it ever is, in packets of this size.
    pub fn most_packets(&self, packet: Bytes) -> u64 {
        self.told(self.buffer.most().0) / Self::payload(packet)
    }
}

impl ReceiveBuffer {
    /// The most that it ever holds.
    pub fn most(&self) -> Bytes {
        match *self {
            Self::Fixed(most) | Self::RightSizing { most, .. } | Self::SenderTuned { most, .. } => {
                most
            }
        }
    }

    /// What it holds at the start.
    pub fn initial(&self) -> Bytes {
        match *self {
            Self::Fixed(initial)
            | Self::RightSizing { initial, .. }
            | Self::SenderTuned { initial, .. } => initial,
        }
    }
}

/// Reads a receive window of a flow with packets of this size.
pub(crate) fn receive_window(
    field: Field<'_>,
    packet: Option<Bytes>,
) -> Result<Option<ReceiveWindow>, Problem> {
    let packet = packet.unwrap_or(Bytes(1500));
    let (buffer, scale) = match &field.node.value {
        Value::Text(text) if text == NONE => return Ok(None),
        Value::Text(text) if text == AUTO => (auto(packet), None),
        Value::Text(_) => (ReceiveBuffer::Fixed(data(field, packet)?), None),
        Value::Table(table) => {
            let owner = "this receive window".into();
            let (class, home) = ("a receive window", field.node.place);
            let fields = Fields { owner, class, home, keys: KEYS, table };
            if let Some(entry) = table.0.iter().find(|entry| !KEYS.contains(&entry.name.as_str())) {
                return Err(fields.stranger(entry));
            }
            let scale = fields.find("scale").map(|field| count(field, 0, LARGEST_SCALE));
            (of_table(&fields, packet)?, scale.transpose()?)
        }
        _ => return Err(field.wrong(ASKED)),
    };
    let fits = |scale: &u64| buffer.most().0 >> scale <= FIELD;
    let scale = scale.unwrap_or_else(|| (0..LARGEST_SCALE).find(fits).unwrap_or(LARGEST_SCALE));
    let window = ReceiveWindow { buffer, scale };
    let told = window.told(buffer.initial().0);
    if told < ReceiveWindow::payload(packet) {
        return Err(field.problem(format!(
            "a window of {}, which is told as {}, has no room for the {} of data in a packet of {packet}",
            buffer.initial(),
            Bytes(told),
            Bytes(ReceiveWindow::payload(packet)),
        )));
    }
    Ok(Some(window))
}

/// What a buffer begins with where nothing is said: what a header without a scale can tell.
fn usual_initial(packet: Bytes, most: Bytes) -> Bytes {
    Bytes(FIELD.max(ReceiveWindow::payload(packet))).min(most)
}

fn auto(packet: Bytes) -> ReceiveBuffer {
    let initial = usual_initial(packet, USUAL_MOST);
    ReceiveBuffer::RightSizing { initial, most: USUAL_MOST }
}

fn of_table(fields: &Fields<'_>, packet: Bytes) -> Result<ReceiveBuffer, Problem> {
    let kind = match fields.find("kind") {
        Some(field) => word(field, &[RIGHT_SIZING, SENDER_TUNED, FIXED])?,
        None => RIGHT_SIZING,
    };
    let strange: &[&str] = if kind == FIXED { &["initial", "most"] } else { &["size"] };
    if let Some(field) = strange.iter().find_map(|name| fields.find(name)) {
        let reason = format!("a receive window of the kind \"{kind}\" has no `{}`", field.name);
        return Err(field.problem(reason));
    }
    if kind == FIXED {
        return match fields.find("size") {
            Some(field) => data(field, packet).map(ReceiveBuffer::Fixed),
            None => Err(Problem::new(fields.home, "a fixed receive window needs a `size`")
                .help("add size = \"1 MB\"")),
        };
    }
    let given = |name| fields.find(name).map(|field| data(field, packet)).transpose();
    let most = given("most")?.unwrap_or(USUAL_MOST);
    let initial = given("initial")?.unwrap_or_else(|| usual_initial(packet, most));
    if let Some(field) = fields.find("initial").filter(|_| initial > most) {
        return Err(field.problem(format!("`initial` is {initial}, and `most` only {most}")));
    }
    Ok(match kind {
        SENDER_TUNED => ReceiveBuffer::SenderTuned { initial, most },
        _ => ReceiveBuffer::RightSizing { initial, most },
    })
}

/// Bytes of data, or as much as so many packets carry.
fn data(field: Field<'_>, packet: Bytes) -> Result<Bytes, Problem> {
    let bytes = amount(field, Some(Bytes(ReceiveWindow::payload(packet))))?;
    if bytes == Bytes(0) {
        return Err(field.problem(format!("`{}` must be larger than zero", field.name)));
    }
    Ok(bytes)
}

/// The window as a scenario file has it.
pub(crate) fn written(window: &ReceiveWindow) -> Json {
    let text = |bytes: Bytes| Json::from(bytes.to_string());
    let pairs = match window.buffer {
        ReceiveBuffer::Fixed(size) => vec![("kind", FIXED.into()), ("size", text(size))],
        ReceiveBuffer::RightSizing { initial, most } => {
            vec![("kind", RIGHT_SIZING.into()), ("initial", text(initial)), ("most", text(most))]
        }
        ReceiveBuffer::SenderTuned { initial, most } => {
            vec![("kind", SENDER_TUNED.into()), ("initial", text(initial)), ("most", text(most))]
        }
    };
    let mut pairs: Map<String, Json> =
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    pairs.insert("scale".into(), window.scale.into());
    Json::Object(pairs)
}
