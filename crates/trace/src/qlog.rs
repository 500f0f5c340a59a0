//! qlog: what a sender does and hears, and the numbers by which it decides.
//!
//! Version 0.3 as JSON text sequences (draft-ietf-quic-qlog-main-schema-04, section 6.2; RFC 7464) with the events of
//! draft-ietf-quic-qlog-quic-events-03, because that is the newest that qvis reads. Each flow has a file of its own, as
//! such a sequence holds one trace.
//!
//! The events are those of QUIC. A flow of TCP is told in the same words: its packets are numbered as they leave, its
//! segments are pieces of a stream, and an acknowledgment reports the packets whose arrival is news, where that of QUIC
//! would repeat others.

use longfat_scenario::Scenario;
use longfat_sim::trace::{
    Begun, HeardAck, Metrics, PacketNumber, Phase, SentPacket, TraceEvent, What,
};
use longfat_units::{Segments, Span, Time};
use serde::Serialize;
use serde_json::{Value, json};

/// What stands before each text (RFC 7464).
const SEPARATOR: u8 = 0x1E;
/// Size of an acknowledgment of the model.
const ACK: u64 = longfat_scenario::ACK.0;

/// Makes the bytes of the qlog file of one flow, event by event.
#[derive(Debug, Default)]
pub struct Qlog {
    payload: u64,
    packet: u64,
    heard: u64,
    phase: Option<Phase>,
    metrics: Metrics,
}

/// An event.
#[derive(Serialize)]
struct Event<T> {
    /// Milliseconds since the beginning of the run.
    time: f64,
    name: &'static str,
    data: T,
}

/// Other numbers than before; those that are the same are left out.
#[derive(Serialize)]
struct MetricsUpdated {
    #[serde(skip_serializing_if = "Option::is_none")]
    min_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothed_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in_flight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssthresh: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packets_in_flight: Option<u64>,
}

fn milliseconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

fn name_of(phase: Phase) -> &'static str {
    match phase {
        Phase::SlowStart => "slow_start",
        Phase::CongestionAvoidance => "congestion_avoidance",
        Phase::ApplicationLimited => "application_limited",
        _ => "recovery",
    }
}

fn write(text: &impl Serialize, out: &mut Vec<u8>) {
    out.push(SEPARATOR);
    serde_json::to_writer(&mut *out, text).expect("plain data goes into memory");
    out.push(b'\n');
}

impl Qlog {
    /// The file of a long flow, whose beginning is added to `out`.
    pub fn new(scenario: &Scenario, (group, index): (usize, u64), out: &mut Vec<u8>) -> Self {
        let flow = &scenario.flows[group];
        let name = format!("{}[{index}]", flow.name);
        let transport = if flow.transport.recovery == longfat_scenario::Recovery::Quic {
            "QUIC"
        } else {
            "TCP"
        };
        let head = json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": name,
            "description": format!(
                "simulated by longfat {}: a sender of {transport}, controlled by {}",
                env!("CARGO_PKG_VERSION"),
                flow.control.entry.name,
            ),
            "trace": {
                "title": name,
                "common_fields": {
                    "group_id": name,
                    "protocol_type": [transport],
                    "reference_time": 0.0,
                    "time_format": "relative",
                },
                "vantage_point": { "name": name, "type": "client" },
            },
        });
        write(&head, out);
        Self::default()
    }

    /// Adds what an event of this flow makes to `out`.
    pub fn add(&mut self, event: &TraceEvent, out: &mut Vec<u8>) {
        let time = event.time;
        match &event.what {
            What::Begins(begun) => self.begin(*begun),
            What::Sent(sent) => self.sent(time, sent, out),
            What::Heard(heard) => self.heard(time, heard, out),
            What::Lost(lost) => {
                let data = json!({ "header": header(lost.packet), "frames": [self.frame(*lost)] });
                told(time, "recovery:packet_lost", data, out);
            }
            What::Metrics(metrics) => self.metrics(time, *metrics, out),
            What::Phase(phase) => {
                let mut data = json!({ "new": name_of(*phase) });
                if let Some(old) = self.phase.replace(*phase) {
                    data["old"] = name_of(old).into();
                }
                told(time, "recovery:congestion_state_updated", data, out);
            }
            _ => {}
        }
    }

    fn begin(&mut self, begun: Begun) {
        self.packet = begun.packet.0;
        self.payload = begun.packet.0 - ACK;
    }

    /// The data of a packet.
    fn frame(&self, number: PacketNumber) -> Value {
        json!({
            "frame_type": "stream",
            "stream_id": 0,
            "offset": number.segment * self.payload,
            "length": self.payload,
        })
    }

    fn sent(&self, time: Time, sent: &SentPacket, out: &mut Vec<u8>) {
        let data = json!({
            "header": header(sent.number.packet),
            "frames": [self.frame(sent.number)],
            "raw": { "length": self.packet, "payload_length": self.payload },
        });
        told(time, "transport:packet_sent", data, out);
    }

    fn heard(&mut self, time: Time, heard: &HeardAck, out: &mut Vec<u8>) {
        let mut frame = json!({ "frame_type": "ack" });
        if !heard.packets.is_empty() {
            let range = |&(first, last): &(u64, u64)| {
                if first == last { json!([first]) } else { json!([first, last]) }
            };
            frame["acked_ranges"] = heard.packets.iter().map(range).collect();
        }
        if let Some(marks) = heard.marks {
            frame["ce"] = marks.into();
        }
        let data = json!({
            "header": header(self.heard),
            "frames": [frame],
            "raw": { "length": ACK },
        });
        self.heard += 1;
        told(time, "transport:packet_received", data, out);
    }

    fn metrics(&mut self, time: Time, metrics: Metrics, out: &mut Vec<u8>) {
        let before = std::mem::replace(&mut self.metrics, metrics);
        let bytes = |segments: Segments| (segments.0 * self.payload as f64) as u64;
        let round_trip = |place: usize| {
            let span = metrics.round_trips.map(|spans| spans[place]);
            span.filter(|_| span != before.round_trips.map(|spans| spans[place])).map(milliseconds)
        };
        let in_flight = Some(metrics.in_flight)
            .filter(|_| metrics.in_flight != before.in_flight || before == Metrics::default());
        let updated = MetricsUpdated {
            min_rtt: round_trip(0),
            smoothed_rtt: round_trip(1),
            latest_rtt: round_trip(2),
            congestion_window: metrics
                .window
                .filter(|_| metrics.window != before.window)
                .map(bytes),
            bytes_in_flight: in_flight.map(|segments| segments * self.payload),
            ssthresh: metrics
                .threshold
                .filter(|_| metrics.threshold != before.threshold)
                .map(bytes),
            packets_in_flight: in_flight,
        };
        told(time, "recovery:metrics_updated", updated, out);
    }
}

fn header(number: u64) -> Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

fn told(time: Time, name: &'static str, data: impl Serialize, out: &mut Vec<u8>) {
    write(&Event { time: milliseconds(Span(time.0)), name, data }, out);
}
