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
