//! What the applications of a group have seen.

use longfat_scenario::Application;
use longfat_units::{Bytes, Rate, Span, Time};
use serde_json::{Map, Value, json};

use super::overlap;
use crate::durations::Durations;

/// What is kept of what the applications of a group have seen in the measured interval.
#[derive(Debug)]
pub(crate) struct Audience {
    what: Application,
    measured: (Time, Time),
    /// How many applications there are.
    count: u64,
    /// Bytes written by sources.
    written: u64,
    /// From each write to its arrival, or from each request to the end of the response.
    times: Durations,
    /// From the start of each player to its first picture.
    startup: Durations,
    /// Sum of the bit rates of chunks.
    bit_rates: u128,
    changes: u64,
    stalls: u64,
    stalled: u128,
    /// What was asked for and has come, of the whole run, in the order of time.
    pub(crate) exchanges: Vec<Exchange>,
}

/// Something that was asked for, and has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// The place of the client in its group.
    pub(crate) index: u64,
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) bytes: Bytes,
    /// Of a chunk: its bit rate, and what the client then holds.
    pub(crate) bit_rate: Option<Rate>,
    pub(crate) level: Option<Span>,
}

impl Exchange {
    pub(crate) fn new(index: u64, start: Time, end: Time, bytes: Bytes) -> Self {
        Self { index, start, end, bytes, bit_rate: None, level: None }
    }
}

impl Audience {
    pub(crate) fn new(what: Application, count: u64, measured: (Time, Time)) -> Self {
        Self {
            what,
            measured,
            count,
            written: 0,
            times: Durations::new(),
            startup: Durations::new(),
            bit_rates: 0,
            changes: 0,
            stalls: 0,
            stalled: 0,
            exchanges: Vec::new(),
        }
    }

    /// What ends at the very end of the run still counts, as for transfers.
    fn measures(&self, at: Time) -> bool {
        let (from, until) = self.measured;
        (from..=until).contains(&at)
    }

    /// A source has written.
    pub(super) fn written(&mut self, at: Time, bytes: Bytes) {
        let (from, until) = self.measured;
        self.written += if (from..until).contains(&at) { bytes.0 } else { 0 };
    }

    /// What was written then has arrived by `at`.
    pub(super) fn took(&mut self, written: Time, at: Time) {
        if self.measures(at) {
            self.times.add(at - written);
        }
    }

    /// What was asked for has come.
    pub(super) fn exchanged(&mut self, exchange: Exchange) {
        if self.measures(exchange.end) {
            self.times.add(exchange.end - exchange.start);
            self.bit_rates += u128::from(exchange.bit_rate.map_or(0, |rate| rate.0));
        }
        self.exchanges.push(exchange);
    }

    /// A player chooses a bit rate, which `changes` or does not.
    pub(super) fn chose(&mut self, at: Time, changes: bool) {
        self.changes += u64::from(changes && self.measures(at));
    }

    /// A player shows its first picture.
    pub(super) fn began_to_play(&mut self, at: Time, after: Span) {
        if self.measures(at) {
            self.startup.add(after);
        }
    }

    /// A player has nothing left to play.
    pub(super) fn stall_begins(&mut self, at: Time) {
        self.stalls += u64::from(self.measures(at));
    }

    /// A player had nothing to play in this time.
    pub(super) fn stalled(&mut self, time: (Time, Time)) {
        self.stalled += u128::from(overlap(time, self.measured).0);
    }

    /// The part of the summary; `delivered` is what reached receivers for the first time in the measured interval.
    pub(crate) fn told(&self, delivered: Bytes) -> Value {
        let (from, until) = self.measured;
        let goodput = Rate::of(delivered, until - from);
        let mut told = Map::new();
        let mut put = |key: &str, value: Value| told.insert(key.into(), value);
        put("kind", self.what.kind().into());
        put("goodput_bit_s", goodput.into());
        match self.what {
            Application::Constant { .. } | Application::OnOff { .. } => {
                put("written_bit_s", Rate::of(Bytes(self.written), until - from).into());
                put("delay_s", self.times.told());
            }
            Application::RequestResponse { .. } => {
                put("completed", self.times.count().into());
                put("response_s", self.times.told());
            }
            Application::Web { .. } => {
                put("completed", self.times.count().into());
                put("page_load_s", self.times.told());
            }
            Application::Video(_) => {
                let chunks = self.times.count();
                let mean = (chunks > 0).then(|| self.bit_rates as f64 / chunks as f64);
                let whole = (until - from).seconds() * self.count as f64;
                put("chunks", chunks.into());
                put("chunk_s", self.times.told());
                put("bit_rate_bit_s", json!(mean));
                put("bit_rate_changes", self.changes.into());
                put("startup_s", self.startup.told());
                put("stalls", self.stalls.into());
                put("stalled", (self.stalled as f64 * 1e-12 / whole).into());
            }
        }
        Value::Object(told)
    }
}
