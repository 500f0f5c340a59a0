//! Both servers against a queue written as plainly as possible.

mod owned;

use std::sync::{Arc, Mutex};

use longfat_queue::{Arrival, Backlog, Built, Capacity, Policy, Verdict};
use longfat_scenario::chance::stream;
use longfat_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use rand_core::Rng;

use super::{Arrived, Gauge, Port, PortConfig, Rare};
use crate::cargo::Hold;
use crate::member::Identity;
use crate::packet::{Flags, Packet};

const DELAY: Span = Span::from_millis(3);
const LONE: Identity = Identity { host: 0, flow: 0 };

fn port(rate: Rate, capacity: Capacity, stepwise: bool, end: Time) -> Port {
    Port::new(config(rate, capacity, stepwise, end))
}

fn config(rate: Rate, capacity: Capacity, stepwise: bool, end: Time) -> PortConfig {
    PortConfig {
        rate,
        delay: DELAY,
        varying: None,
        capacity,
        queue: Built::Fifo(None),
        marker: None,
        corruption: Rare::new(0.0, stream(1, "corruption")),
        chance: stream(1, "queue"),
        stepwise,
        gauge: Gauge::new(rate, capacity, (Time::ZERO, end), None),
    }
}

fn packet(number: u64, bytes: u32) -> Packet {
    Packet { number, sent: Time::ZERO, flow: 0, detail: 0, bytes, hop: 0, flags: Flags::default() }
}

/// When each packet arrives at the far end, `None` if it was dropped; and the mean backlog.
type Served = (Vec<Option<Time>>, f64);

/// A first-in-first-out queue by definition: each packet leaves one transmission time after its arrival or the
/// departure of the one before it, whichever is later. Times are exact fractions: picoseconds times the rate.
fn by_definition(rate: Rate, limit: u64, arrivals: &[(u64, u32)], end: Time) -> Served {
    let rate = u128::from(rate.0);
    let mut departures: Vec<u128> = Vec::new();
    let mut waits = 0_u128;
    let mut outcome = Vec::new();
    for &(at, bytes) in arrivals {
        let at = u128::from(at) * rate;
        // All but the one in service are waiting.
        let inside = departures.iter().filter(|&&departure| departure > at).count() as u64;
        if inside > limit {
            outcome.push(None);
            continue;
        }
        let begins = departures.last().map_or(at, |&last| last.max(at));
        waits += begins.min(u128::from(end.0) * rate).saturating_sub(at);
        let departure = begins + u128::from(bytes) * 8 * 1_000_000_000_000;
        departures.push(departure);
        outcome.push(Some(Time((departure / rate) as u64) + DELAY));
    }
    (outcome, waits as f64 / rate as f64 / end.0 as f64)
}

fn served_ahead(rate: Rate, limit: u64, arrivals: &[(u64, u32)], end: Time) -> Served {
    let mut port = port(rate, Capacity::Packets(limit), false, end);
    let outcome = arrivals
        .iter()
        .enumerate()
        .map(|(number, &(at, bytes))| {
            match port.arrive(
                Time(at),
                &mut packet(number as u64, bytes),
                &[LONE],
                &mut Hold::default(),
            ) {
                Arrived::Through(time) => Some(time),
                _ => None,
            }
        })
        .collect();
    port.settle(end);
    (outcome, port.gauge_mut().report().queue_mean * limit as f64)
}

fn served_stepwise(rate: Rate, limit: u64, arrivals: &[(u64, u32)], end: Time) -> Served {
    let mut port = port(rate, Capacity::Packets(limit), true, end);
    let outcome = step_through(&mut port, arrivals, end);
    port.settle(end);
    (outcome, port.gauge_mut().report().queue_mean * limit as f64)
}

/// Drives a link whose departures are events. Returns when each packet reaches the far end.
fn step_through(port: &mut Port, arrivals: &[(u64, u32)], end: Time) -> Vec<Option<Time>> {
    let mut outcome = vec![None; arrivals.len()];
    let mut departure: Option<Time> = None;
    let depart_until = |port: &mut Port,
                        outcome: &mut Vec<Option<Time>>,
                        departure: &mut Option<Time>,
                        now: Time| {
        while let Some(at) = departure.filter(|&at| at <= now) {
            let departed = port.depart(at, &mut Hold::default());
            outcome[departed.packet.number as usize] = Some(departed.arrives);
            *departure = departed.next;
            assert!(
                departed.next.is_some() || port.backlog() == Backlog::default(),
                "a port with a backlog is idle"
            );
        }
    };
    for (number, &(at, bytes)) in arrivals.iter().enumerate() {
        depart_until(port, &mut outcome, &mut departure, Time(at));
        if let Arrived::Waits(Some(first)) =
            port.arrive(Time(at), &mut packet(number as u64, bytes), &[LONE], &mut Hold::default())
        {
            departure = Some(first);
        }
        if let Capacity::Packets(limit) = port.gate.capacity {
            assert!(port.backlog().packets <= limit, "the queue is within the buffer");
        }
    }
    depart_until(port, &mut outcome, &mut departure, end);
    outcome
}

/// A policy that keeps everything and notes how many packets are waiting at each tick.
#[derive(Debug)]
struct TickRecorder {
    period: Span,
    seen: Arc<Mutex<Vec<u64>>>,
}

impl Policy for TickRecorder {
    fn on_arrival(&mut self, _: &Arrival, _: &mut dyn Rng) -> Verdict {
        Verdict::Keep
    }

    fn period(&self) -> Option<Span> {
        Some(self.period)
    }

    fn on_ticks(&mut self, count: u64, backlog: Backlog) {
        let mut seen = self.seen.lock().expect("nothing else holds it");
        seen.extend((0..count).map(|_| backlog.packets));
    }
}

/// What a policy sees at its ticks, up to `end`.
fn watched(period: Span, arrivals: &[(u64, u32)], end: Time, stepwise: bool) -> Vec<u64> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let watch = TickRecorder { period, seen: Arc::clone(&seen) };
    let mut port = Port::new(PortConfig {
        queue: Built::Fifo(Some(Box::new(watch))),
        ..config(MEGABYTE, Capacity::Unbounded, stepwise, end)
    });
    if stepwise {
        step_through(&mut port, arrivals, end);
    } else {
        for (number, &(at, bytes)) in arrivals.iter().enumerate() {
            // Settling in between must change nothing.
            if number % 3 == 0 {
                port.settle(Time(at));
            }
            port.arrive(Time(at), &mut packet(number as u64, bytes), &[LONE], &mut Hold::default());
        }
    }
    port.settle(end);
    seen.lock().expect("nothing else holds it").clone()
}

/// One megabyte per second: a packet of 1000 bytes takes a millisecond.
const MEGABYTE: Rate = Rate(8_000_000);

proptest! {
    #[test]
    fn both_servers_are_the_queue_of_the_textbook(
        rate in 1_000_000_u64..1_000_000_000,
        limit in 1_u64..20,
        gaps in prop::collection::vec((0_u64..40_000_000, prop::sample::select(vec![40_u32, 1000, 1500])), 1..200),
    ) {
        let rate = Rate(rate);
        let mut now = 0;
        let arrivals: Vec<(u64, u32)> = gaps.iter().map(|&(gap, bytes)| { now += gap; (now, bytes) }).collect();
        let end = Time(now + 30_000_000_000_000);
        let (expected, expected_mean) = by_definition(rate, limit, &arrivals, end);
        let (ahead, ahead_mean) = served_ahead(rate, limit, &arrivals, end);
        let (stepwise, stepwise_mean) = served_stepwise(rate, limit, &arrivals, end);
        prop_assert_eq!(&ahead, &stepwise);
        prop_assert_eq!(ahead_mean, stepwise_mean);
        for (exact, found) in expected.iter().zip(&ahead) {
            // The carried remainder keeps every departure within a picosecond of the exact one; an arrival in that
            // picosecond is the only way to differ.
            match (exact, found) {
                (Some(exact), Some(found)) => prop_assert!(exact.0.abs_diff(found.0) <= 1, "{exact:?} {found:?}"),
                (exact, found) => prop_assert_eq!(exact, found),
            }
        }
        prop_assert!((expected_mean - ahead_mean).abs() <= 1e-9 * (1.0 + expected_mean));
    }
}

proptest! {
    /// A policy with a clock sees the queue as it was just before each tick, whichever way the link is served.
    /// Arrivals, departures and ticks often fall on the same half-millisecond.
    #[test]
    fn a_look_finds_what_waited_just_before(
        period in 1_u64..6,
        gaps in prop::collection::vec((0_u64..5, prop::sample::select(vec![500_u32, 1000])), 1..60),
    ) {
        const STEP: u64 = 500_000_000;
        let mut now = 0;
        let arrivals: Vec<(u64, u32)> = gaps.iter().map(|&(gap, bytes)| { now += gap * STEP; (now, bytes) }).collect();
        let end = Time(now + 10 * STEP);
        let mut free = 0;
        let waits: Vec<(u64, u64)> = arrivals
            .iter()
            .map(|&(at, bytes)| {
                let begins = free.max(at);
                free = begins + u64::from(bytes) * STEP / 500;
                (at, begins)
            })
            .collect();
        let period = Span(period * STEP);
        let expected: Vec<u64> = (1..=end.0 / period.0)
            .map(|look| look * period.0)
            .map(|look| waits.iter().filter(|&&(at, begins)| at < look && look <= begins).count() as u64)
            .collect();
        prop_assert_eq!(&watched(period, &arrivals, end, true), &expected);
        prop_assert_eq!(&watched(period, &arrivals, end, false), &expected);
    }
}

#[test]
fn a_link_keeps_its_rate_to_the_picosecond() {
    // 1500 bytes at 7 Gbit/s take 1 714 285.714… ps. A million of them back to back take 12e9 bits / 7e9.
    let mut port = port(Rate(7_000_000_000), Capacity::Unbounded, false, Time::NEVER);
    let mut last = Time::ZERO;
    for number in 0..1_000_000 {
        if let Arrived::Through(time) =
            port.arrive(Time::ZERO, &mut packet(number, 1500), &[LONE], &mut Hold::default())
        {
            last = time;
        }
    }
    assert_eq!(last, Time(1_714_285_714_285) + DELAY);
}

/// A policy that keeps everything and notes when packets leave, and how many then wait.
#[derive(Debug)]
struct Watcher {
    seen: Arc<Mutex<Vec<(Time, u64)>>>,
}

impl Policy for Watcher {
    fn on_arrival(&mut self, _: &Arrival, _: &mut dyn Rng) -> Verdict {
        Verdict::Keep
    }

    fn watches_departures(&self) -> bool {
        true
    }

    fn on_departure(&mut self, now: Time, remaining: u64) {
        self.seen.lock().expect("nothing else holds it").push((now, remaining));
    }
}

/// A packet takes a millisecond. Three arrive at once, of which two wait, and a fourth when the third is being sent.
#[test]
fn a_policy_sees_each_departure_at_its_time_and_how_many_wait() {
    let micros = |count: u64| Time(count * 1_000_000);
    let end = micros(10_000);
    let arrivals = [0, 0, 0, 2500].map(|count| (micros(count).0, 1500));
    for stepwise in [false, true] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let queue = Built::Fifo(Some(Box::new(Watcher { seen: Arc::clone(&seen) })));
        let config = config(Rate(12_000_000), Capacity::Packets(9), stepwise, end);
        let mut port = Port::new(PortConfig { queue, ..config });
        if stepwise {
            step_through(&mut port, &arrivals, end);
        } else {
            for (number, (at, bytes)) in arrivals.into_iter().enumerate() {
                let mut packet = packet(number as u64, bytes);
                port.arrive(Time(at), &mut packet, &[LONE], &mut Hold::default());
            }
        }
        port.settle(end);
        let expected = [(1000, 2), (2000, 1), (3000, 1), (4000, 0)];
        let expected = expected.map(|(count, waiting)| (micros(count), waiting));
        assert_eq!(*seen.lock().expect("nothing else holds it"), expected, "stepwise: {stepwise}");
    }
}

/// It takes a millisecond to send. The measured interval begins as its last bit leaves, or just after.
#[test]
fn a_packet_is_corrupted_when_it_leaves() {
    let arrivals = [(0, 1500)];
    for (late, corrupted) in [(0, 1), (1, 0)] {
        for stepwise in [false, true] {
            let (from, end) = (Time(1_000_000_000 + late), Time(10_000_000_000));
            let (rate, capacity) = (Rate(12_000_000), Capacity::Packets(9));
            let mut port = Port::new(PortConfig {
                corruption: Rare::new(1.0 - 1e-9, stream(1, "corruption")),
                gauge: Gauge::new(rate, capacity, (from, end), None),
                ..config(rate, capacity, stepwise, end)
            });
            if stepwise {
                step_through(&mut port, &arrivals, end);
            } else {
                let arrived =
                    port.arrive(Time(0), &mut packet(0, 1500), &[LONE], &mut Hold::default());
                assert!(matches!(arrived, Arrived::Corrupted(_)));
            }
            port.settle(end);
            assert_eq!(port.gauge_mut().report().corrupted, corrupted, "stepwise: {stepwise}");
        }
    }
}

/// A packet of 1500 bytes does not fit into a buffer of 1000, but an idle link sends it at once.
#[test]
fn what_finds_a_link_idle_needs_no_place_in_its_buffer() {
    let (end, capacity) = (Time(10_000_000_000), Capacity::Bytes(Bytes(1000)));
    let mut port = port(Rate(12_000_000), capacity, false, end);
    let mut arrive = |millis: u64| {
        let at = Time(millis * 1_000_000_000);
        port.arrive(at, &mut packet(0, 1500), &[LONE], &mut Hold::default())
    };
    assert!(matches!(arrive(0), Arrived::Through(_)));
    assert!(matches!(arrive(0), Arrived::Dropped));
    assert!(matches!(arrive(1), Arrived::Through(_)), "the first has just left");
}
