//! Sources: what writes at a rate, all the time or in turns.

use std::collections::VecDeque;

use longfat_scenario::chance::Stream;
use longfat_scenario::{Application, Interval, Writes};
use longfat_units::{Bytes, PICOSECONDS_PER_SECOND, Span, Time};

use super::{Audience, Event};
use crate::draw;

/// A source, and what it has written that has not arrived.
#[derive(Debug)]
pub(super) struct Source {
    writes: Writes,
    /// Segments of a write.
    segments: u64,
    pattern: Pattern,
    /// How many writes there have been.
    count: u64,
    /// For each write under way, one past its last segment, and when it was written.
    under_way: VecDeque<(u64, Time)>,
}

/// When it writes.
#[derive(Debug)]
enum Pattern {
    /// Evenly spaced since this time.
    Even(Time),
    /// A Poisson process with so many writes per second.
    Poisson(f64),
    /// Evenly spaced in the time in which it is on.
    Turns {
        on: Interval,
        off: Interval,
        /// Since when it is on, and how long it had been on before.
        since: Time,
        before: Span,
        /// Until when it is on.
        until: Time,
    },
}

impl Source {
    pub(super) fn new(what: &Application, packet: Bytes, start: Time) -> Self {
        let (writes, pattern) = match *what {
            Application::Constant { writes, poisson: false } => (writes, Pattern::Even(start)),
            Application::Constant { writes, poisson: true } => {
                let per_second = writes.rate.0 as f64 / (8 * writes.size.0) as f64;
                (writes, Pattern::Poisson(per_second))
            }
            Application::OnOff { writes, on, off } => {
                let (since, before, until) = (start, Span::ZERO, start);
                (writes, Pattern::Turns { on, off, since, before, until })
            }
            _ => unreachable!("others have clients"),
        };
        let segments = super::segments(writes.size.0, packet);
        Self { writes, segments, pattern, count: 0, under_way: VecDeque::new() }
    }

    /// When the next write is due, in the time in which it is on: exact, without an error that adds up.
    fn due(&self) -> Span {
        let bits = u128::from(self.writes.size.0) * 8 * u128::from(self.count);
        let rate = u128::from(self.writes.rate.0);
        let span = (bits * u128::from(PICOSECONDS_PER_SECOND) + rate / 2) / rate;
        Span(u64::try_from(span).unwrap_or(u64::MAX))
    }

    /// Writes now. Returns how many segments.
    pub(super) fn write(&mut self, now: Time, audience: &mut Audience) -> u64 {
        self.count += 1;
        self.under_way.push_back((self.count * self.segments, now));
        audience.written(now, self.writes.size);
        self.segments
    }

    /// What it does after this event, and when.
    pub(super) fn next(&mut self, event: Event, now: Time, chance: &mut Stream) -> (Time, Event) {
        let due = self.due();
        match &mut self.pattern {
            Pattern::Even(start) => (start.saturating_add(due), Event::Write),
            Pattern::Poisson(rate) => (now.saturating_add(draw::gap(*rate, chance)), Event::Write),
            Pattern::Turns { on, off, since, before, until } => {
                if event == Event::End {
                    *before = Span(before.0.saturating_add(now.since(*since).0));
                    return (now.saturating_add(draw::interval(off, chance)), Event::Begin);
                }
                if event == Event::Begin {
                    *since = now;
                    *until = now.saturating_add(draw::interval(on, chance));
                }
                let next = since.saturating_add(Span(due.0.saturating_sub(before.0)));
                if next < *until { (next, Event::Write) } else { (*until, Event::End) }
            }
        }
    }

    /// Everything below `expected` has arrived by `at`.
    pub(super) fn hear(&mut self, expected: u64, at: Time, audience: &mut Audience) {
        while let Some(&(end, written)) = self.under_way.front() {
            if end > expected {
                return;
            }
            self.under_way.pop_front();
            audience.took(written, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use longfat_scenario::{Scenario, chance};

    use super::*;

    /// A source of packets of 1000 bytes from 1 s on, and its audience.
    fn source(application: &str) -> (Source, Audience) {
        let text = format!(
            "duration = \"10 s\"\n[link.l]\nrate = \"8 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\nname = \"f\"\n\
             control = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\npacket = \"1000 B\"\napplication = {application}\n"
        );
        let scenario = Scenario::read(&text, "source.toml", &[], None).expect("it is right");
        let what = scenario.flows[0].application.clone().expect("it has one");
        let start = Time::ZERO + Span::from_seconds(1);
        (Source::new(&what, Bytes(1000), start), Audience::new(what, 1, (Time::ZERO, Time::NEVER)))
    }

    /// What it does up to `until`, and when: from its first period on.
    fn acts(application: &str, until: Time) -> Vec<(u64, Event)> {
        let (mut source, mut audience) = source(application);
        let mut chance = chance::stream(1, "source");
        let (mut now, mut event) = (Time::ZERO + Span::from_seconds(1), Event::Begin);
        let mut acts = Vec::new();
        while now < until {
            if event == Event::Write {
                source.write(now, &mut audience);
            }
            (now, event) = source.next(event, now, &mut chance);
            acts.push((now.0, event));
        }
        acts
    }

    /// 24 000 bits at 7 Mbit/s take 3428571428.57 ps: the writes are due at the nearest picosecond, from 1 s on.
    #[test]
    fn a_write_is_due_at_the_nearest_picosecond() {
        let constant = "{ kind = \"constant\", rate = \"7 Mbit/s\", write = \"3 packets\" }";
        let acts = acts(constant, Time(1_010_000_000_000));
        let due = [1_000_000_000_000, 1_003_428_571_429, 1_006_857_142_857, 1_010_285_714_286];
        assert_eq!(acts, due.map(|at| (at, Event::Write)));
    }

    /// A write every 10 ms of the time in which it is on: after 20 ms the third one is due, but that is when it ends. After
    /// the pause it comes at once.
    #[test]
    fn a_period_goes_on_where_the_last_one_ended() {
        let turns = "{ kind = \"on-off\", rate = \"800 kbit/s\", on = \"20 ms\", off = \"5 ms\" }";
        let acts = acts(turns, Time(1_045_000_000_000));
        let expected = [
            (1000, Event::Write),
            (1010, Event::Write),
            (1020, Event::End),
            (1025, Event::Begin),
            (1025, Event::Write),
            (1035, Event::Write),
            (1045, Event::End),
        ];
        assert_eq!(acts, expected.map(|(millis, event)| (millis * 1_000_000_000, event)));
    }

    /// Writes of three packets at 1 and 2 s. Two packets say nothing of the first; five are all of it, and the last comes
    /// alone.
    #[test]
    fn a_write_has_arrived_with_its_last_packet() {
        let (mut source, mut audience) =
            source("{ kind = \"constant\", rate = \"24 kbit/s\", write = \"3 packets\" }");
        for second in [1, 2] {
            let segments = source.write(Time::ZERO + Span::from_seconds(second), &mut audience);
            assert_eq!(segments, 3);
        }
        let arrivals = [(2, 3), (5, 4), (6, 6)];
        let arrived = arrivals.map(|(expected, second)| {
            source.hear(expected, Time::ZERO + Span::from_seconds(second), &mut audience);
            audience.told(Bytes(0))["delay_s"]["mean"].as_f64()
        });
        // Three seconds the first, and four the second.
        assert_eq!(arrived, [None, Some(3.0), Some(3.5)]);
    }
}
