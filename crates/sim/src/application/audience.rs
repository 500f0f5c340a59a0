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

#[cfg(test)]
mod tests {
    use longfat_scenario::Scenario;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Of two applications of this kind, measured from 10 to 30 s.
    fn audience(application: &str) -> Audience {
        let text = format!(
            "duration = \"30 s\"\nwarmup = \"10 s\"\n[link.l]\nrate = \"8 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\n\
             name = \"f\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\ncount = 2\napplication = {application}\n"
        );
        let scenario = Scenario::read(&text, "audience.toml", &[], None).expect("it is right");
        let what = scenario.flows[0].application.clone().expect("it has one");
        Audience::new(what, 2, (at(10_000), at(30_000)))
    }

    /// What is written at an edge is written in what follows it; what arrives at the end of the run still counts, whenever
    /// it was written.
    #[test]
    fn what_is_written_or_arrives_at_an_edge_counts_once() {
        let mut audience = audience("{ kind = \"constant\", rate = \"80 kbit/s\" }");
        for millis in [9_999, 10_000, 20_000, 29_999, 30_000] {
            audience.written(at(millis), Bytes(1000));
        }
        for (written, arrived) in
            [(9_000, 9_999), (9_000, 10_000), (27_000, 30_000), (29_000, 30_001)]
        {
            audience.took(at(written), at(arrived));
        }
        let told = audience.told(Bytes(5000));
        assert_eq!(told["written_bit_s"], 1200.0, "3000 bytes in 20 s");
        assert_eq!(told["goodput_bit_s"], 2000.0);
        assert_eq!(told["delay_s"]["mean"], 2.0, "of one and three seconds");
    }

    #[test]
    fn what_clients_see_counts_when_it_is_over() {
        let mut audience =
            audience("{ kind = \"video\", ladder = [\"80 kbit/s\", \"160 kbit/s\"] }");
        for (start, end, rate) in [
            (9_000, 9_999, 80_000),
            (9_000, 10_000, 80_000),
            (27_000, 30_000, 160_000),
            (29_000, 30_001, 80_000),
        ] {
            let exchange = Exchange::new(0, at(start), at(end), Bytes(1000));
            audience.exchanged(Exchange { bit_rate: Some(Rate(rate)), ..exchange });
        }
        for (millis, changes) in [(9_999, true), (10_000, true), (20_000, false), (30_000, true)] {
            audience.chose(at(millis), changes);
        }
        for (millis, after) in [(9_999, 1000), (10_000, 2000)] {
            audience.began_to_play(at(millis), Span::from_millis(after));
        }
        audience.stall_begins(at(8_000));
        audience.stalled((at(8_000), at(12_000)));
        audience.stall_begins(at(29_000));
        audience.stalled((at(29_000), at(31_000)));
        let told = audience.told(Bytes(0));
        assert_eq!((&told["chunks"], &told["chunk_s"]["mean"]), (&2.into(), &2.0.into()));
        assert_eq!(told["bit_rate_bit_s"], 120_000.0);
        assert_eq!(told["bit_rate_changes"], 2);
        assert_eq!(told["startup_s"]["mean"], 2.0);
        assert_eq!(told["stalls"], 1, "the first began before");
        // Two seconds of the first and one of the second, of twice twenty.
        assert_eq!(told["stalled"], 0.075);
        assert_eq!(audience.exchanges.len(), 4, "of the whole run");
    }
}
