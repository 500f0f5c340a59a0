//! Both servers against a queue written as plainly as possible.

use longfat_queue::{Backlog, Built, Capacity, Storage};
use longfat_units::{Rate, Span, Time};
use proptest::prelude::*;

use super::{Arrived, Gauge, Link, Settings};
use crate::chance::{Rare, stream};
use crate::packet::{Flags, Packet};
use crate::sack;

const DELAY: Span = Span::from_millis(3);

fn link(rate: Rate, capacity: Capacity, stepwise: bool, end: Time) -> Link {
    Link::new(Settings {
        rate,
        delay: DELAY,
        capacity,
        queue: Built { storage: Storage::Fifo, policy: None },
        corruption: Rare::new(0.0, stream(1, "corruption")),
        chance: stream(1, "queue"),
        stepwise,
        gauge: Gauge::new(rate, capacity, (Time::ZERO, end), None),
    })
}

fn packet(number: u64, bytes: u32) -> Packet {
    Packet {
        number,
        sent: Time::ZERO,
        flow: 0,
        sack: sack::NONE,
        bytes,
        hop: 0,
        flags: Flags::default(),
    }
}

/// Arrival at the far end of each packet, `None` where it was dropped; and the mean backlog.
type Outcome = (Vec<Option<Time>>, f64);

/// A first-in-first-out queue by its definition: each packet leaves one transmission time after it arrived or after
/// the one before it left, whichever is later. Times are exact fractions: picoseconds times the rate.
fn by_definition(rate: Rate, limit: u64, arrivals: &[(u64, u32)], end: Time) -> Outcome {
    let rate = u128::from(rate.0);
    let mut departures: Vec<u128> = Vec::new();
    let mut waits = 0_u128;
    let mut outcome = Vec::new();
    for &(at, bytes) in arrivals {
        let at = u128::from(at) * rate;
        // All but the one in service wait.
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

fn served_ahead(rate: Rate, limit: u64, arrivals: &[(u64, u32)], end: Time) -> Outcome {
    let mut link = link(rate, Capacity::Packets(limit), false, end);
    let outcome = arrivals
        .iter()
        .enumerate()
        .map(|(number, &(at, bytes))| {
            match link.arrive(Time(at), &mut packet(number as u64, bytes)) {
                Arrived::Through(time) => Some(time),
                _ => None,
            }
        })
        .collect();
    link.settle(end);
    (outcome, link.gauge_mut().report().queue_mean * limit as f64)
}

fn served_stepwise(rate: Rate, limit: u64, arrivals: &[(u64, u32)], end: Time) -> Outcome {
    let mut link = link(rate, Capacity::Packets(limit), true, end);
    let mut outcome = vec![None; arrivals.len()];
    let mut departure: Option<Time> = None;
    let depart_until = |link: &mut Link,
                        outcome: &mut Vec<Option<Time>>,
                        departure: &mut Option<Time>,
                        now: Time| {
        while let Some(at) = departure.filter(|&at| at <= now) {
            let departed = link.depart(at);
            outcome[departed.packet.number as usize] = Some(departed.arrives);
            *departure = departed.next;
            assert!(
                departed.next.is_some() || link.backlog() == Backlog::default(),
                "a link with a backlog is idle"
            );
        }
    };
    for (number, &(at, bytes)) in arrivals.iter().enumerate() {
        depart_until(&mut link, &mut outcome, &mut departure, Time(at));
        if let Arrived::Waits(Some(first)) =
            link.arrive(Time(at), &mut packet(number as u64, bytes))
        {
            departure = Some(first);
        }
        assert!(link.backlog().packets <= limit, "the queue is within the buffer");
    }
    depart_until(&mut link, &mut outcome, &mut departure, end);
    link.settle(end);
    (outcome, link.gauge_mut().report().queue_mean * limit as f64)
}

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

#[test]
fn a_link_keeps_its_rate_to_the_picosecond() {
    // 1500 bytes at 7 Gbit/s take 1 714 285.714… ps. A million of them back to back take 12e9 bits / 7e9.
    let mut link = link(Rate(7_000_000_000), Capacity::Unbounded, false, Time::NEVER);
    let mut last = Time::ZERO;
    for number in 0..1_000_000 {
        if let Arrived::Through(time) = link.arrive(Time::ZERO, &mut packet(number, 1500)) {
            last = time;
        }
    }
    assert_eq!(last, Time(1_714_285_714_285) + DELAY);
}
