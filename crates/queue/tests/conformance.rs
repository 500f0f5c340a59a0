//! What every discipline must do, whatever its paper says.

use longfat_queue::{Arrival, Backlog, Capacity, DISCIPLINES, Discipline, Policy, Site};
use longfat_units::parameter::{Kind, Setting as Value};
use longfat_units::{Bytes, Ecn, Rate, Span, Time};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::{
    Books, CODEPOINTS, FreeLink, PACKET, PACKET_TIME, chance, defaults, observed, observed_in, site,
};

const MODES: [&str; 2] = ["packets", "bytes"];

fn build(discipline: &Discipline, mode: &str, site: &Site) -> Option<Box<dyn Policy>> {
    (discipline.build)(&defaults(discipline, mode)?, site).into_policy()
}

#[test]
fn the_list_is_in_order() {
    assert!(DISCIPLINES.is_sorted_by(|one, next| one.name < next.name));
}

#[test]
fn every_file_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/discipline");
    let files = std::fs::read_dir(folder).expect("the disciplines have a folder");
    for path in files.map(|entry| entry.expect("the folder can be read").path()) {
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a plain name");
        let name = module.replace('_', "-");
        assert!(
            module == "mod" || DISCIPLINES.iter().any(|entry| entry.name == name),
            "discipline/{module}.rs has no entry called `{name}`: add `pub mod {module};` and \
             `{module}::discipline()` to discipline/mod.rs"
        );
    }
}

#[test]
fn each_says_what_it_is() {
    for entry in DISCIPLINES.iter() {
        assert!(!entry.title.is_empty() && !entry.source.is_empty(), "{entry:?}");
        for parameter in &entry.parameters {
            assert!(!parameter.about.is_empty(), "{entry:?}: {}", parameter.name);
        }
    }
}

#[test]
fn defaults_are_within_their_bounds_and_pass_the_check() {
    for discipline in DISCIPLINES.iter() {
        for mode in MODES {
            let Some(settings) = defaults(discipline, mode) else { continue };
            for parameter in &discipline.parameters {
                let name = &*parameter.name;
                let allowed = match (settings.get(name), &parameter.kind) {
                    (
                        Some(Value::Number(value)),
                        Kind::Number { min, max }
                        | Kind::Frequency { min, max }
                        | Kind::NumberOr { min, max, .. },
                    ) => min <= value && value <= max,
                    (Some(Value::Count(value)), Kind::Count { min, max }) => {
                        min <= value && value <= max
                    }
                    (Some(Value::Word(word)), Kind::Word(words) | Kind::NumberOr { words, .. }) => {
                        words.iter().any(|it| it == word)
                    }
                    (Some(Value::Length(length)), Kind::Length) => *length >= 0.0,
                    (Some(Value::Span(_)), Kind::Span) | (Some(Value::Flag(_)), Kind::Flag) => true,
                    _ => false,
                };
                assert!(allowed, "{}: the default of `{name}`", discipline.name);
            }
            assert_eq!((discipline.check)(&settings, &site(mode)), Ok(()), "{}", discipline.name);
        }
    }
}

/// One packet is in service. Three that wait fill a buffer for three, to its last byte; a fifth costs a packet.
#[test]
fn a_buffer_is_filled_to_its_last_byte() {
    for discipline in DISCIPLINES.iter() {
        for capacity in [Capacity::Packets(3), Capacity::Bytes(PACKET * 3)] {
            let mode = if matches!(capacity, Capacity::Bytes(_)) { "bytes" } else { "packets" };
            let Some(settings) = defaults(discipline, mode) else { continue };
            let built = (discipline.build)(&settings, &Site { capacity, ..site(mode) });
            let mut port = FreeLink::new(built.into_queue(capacity), capacity, 1);
            for lost in [0, 0, 0, 0, 1] {
                port.arrive(Time::ZERO, PACKET, Ecn::Ect0);
                assert_eq!(port.books().dropped.len(), lost, "{}: {capacity:?}", discipline.name);
            }
        }
    }
}

/// What happens at a queue: after this gap a packet arrives, once this many have left.
#[derive(Clone, Copy, Debug)]
struct Visit {
    gap: u64,
    bytes: u64,
    ecn: Ecn,
    leave: u64,
    /// Before that the rate becomes this.
    rate: Option<Rate>,
}

prop_compose! {
    fn step()(
        // From nothing to hours.
        gap in prop_oneof![0_u64..2_000_000, 0_u64..10_000_000_000, 0_u64..10_000_000_000_000_000],
        bytes in prop_oneof![Just(PACKET.0), Just(40), 1..=PACKET.0],
        ecn in select(&CODEPOINTS[..]),
        leave in prop_oneof![8 => Just(0_u64), 4 => 1_u64..3, 1 => Just(u64::MAX)],
        rate in prop_oneof![20 => Just(None), 1 => (1_u64..1_000_000_000_000).prop_map(Some), 1 => Just(Some(1))],
    ) -> Visit {
        Visit { gap, bytes, ecn, leave, rate: rate.map(Rate) }
    }
}

/// Asks `policy` about each packet as a link would; returns its answers and what it reports at the end.
fn drive(
    policy: &mut dyn Policy,
    capacity: Capacity,
    bulk: u64,
    steps: &[Visit],
    seed: u64,
) -> (String, String) {
    let mut chance = chance(seed);
    let mut now = Time::ZERO;
    // A backlog that is there beforehand stands in for the thousands of arrivals that no test has time for.
    let mut backlog = Backlog { packets: bulk, bytes: PACKET * bulk };
    let mut idle_since = (bulk == 0).then_some(now);
    let mut answers = String::new();
    for step in steps {
        let before = now;
        now = Time(now.0 + step.gap);
        // Departures happen at the end of the gap; no link leaves a queue alone for more than a thousand samples.
        if let Some(Span(period)) = policy.period() {
            policy.on_ticks((now.0 / period - before.0 / period).min(1000), backlog);
        }
        if let Some(rate) = step.rate {
            policy.on_rate(now, rate);
        }
        let leave = step.leave.min(backlog.packets);
        if leave > 0 {
            let bytes = backlog.bytes.0 * (backlog.packets - leave) / backlog.packets;
            backlog = Backlog { packets: backlog.packets - leave, bytes: Bytes(bytes) };
        }
        if step.leave == u64::MAX && idle_since.is_none() {
            idle_since = Some(before);
        }
        let arrival = Arrival { now, bytes: Bytes(step.bytes), ecn: step.ecn, backlog, idle_since };
        if idle_since.is_none() && !capacity.admits(backlog, arrival.bytes) {
            policy.on_overflow(&arrival);
            continue;
        }
        let verdict = policy.on_arrival(&arrival, &mut chance);
        answers.push_str(match verdict {
            longfat_queue::Verdict::Keep => "k",
            longfat_queue::Verdict::Mark => "m",
            longfat_queue::Verdict::Drop => "d",
        });
        if verdict != longfat_queue::Verdict::Drop && idle_since.take().is_none() {
            backlog.packets += 1;
            backlog.bytes += arrival.bytes;
        }
    }
    for (name, value) in observed(policy) {
        assert!(value.is_finite(), "{name} is {value}");
    }
    (answers, format!("{:?}", observed(policy)))
}

proptest! {
    #[test]
    fn the_same_calls_get_the_same_answers(
        steps in prop::collection::vec(step(), 1..400),
        bulk in prop_oneof![Just(0_u64), 0_u64..1000, Just(1000)],
        seed: u64,
    ) {
        for discipline in DISCIPLINES.iter() {
            for mode in MODES {
                let site = site(mode);
                for capacity in [site.capacity, Capacity::Unbounded] {
                    let site = Site { capacity, ..site };
                    let once = || {
                        let mut policy = build(discipline, mode, &site)?;
                        Some(drive(&mut *policy, capacity, bulk, &steps, seed))
                    };
                    prop_assert_eq!(once(), once(), "{}", discipline.name);
                }
            }
        }
    }

    /// As a link sees them: all of them own their packets, or are wrapped so that they do.
    #[test]
    fn every_packet_leaves_or_is_dropped(
        steps in prop::collection::vec(step(), 1..400),
        seed: u64,
    ) {
        for discipline in DISCIPLINES.iter() {
            for mode in MODES {
                for packets in [1, 20, 1000] {
                    let capacity = match site(mode).capacity {
                        Capacity::Bytes(_) => Capacity::Bytes(PACKET * packets),
                        _ => Capacity::Packets(packets),
                    };
                    let Some(settings) = defaults(discipline, mode) else { continue };
                    let once = || {
                        let site = Site { capacity, ..site(mode) };
                        let built = (discipline.build)(&settings, &site);
                        let mut port = FreeLink::new(built.into_queue(capacity), capacity, seed);
                        let mut now = Time::ZERO;
                        for step in &steps {
                            now = Time(now.0 + step.gap);
                            if let Some(rate) = step.rate {
                                port.learn(now, rate);
                            }
                            for _ in 0..step.leave.min(2 * packets) {
                                port.depart(now);
                            }
                            port.arrive(now, Bytes(step.bytes), step.ecn);
                        }
                        while port.is_busy() {
                            now = Time(now.0 + PACKET_TIME);
                            port.depart(now);
                        }
                        port
                    };
                    let port = once();
                    let books = port.books();
                    prop_assert_eq!(books.sent.len() + books.dropped.len(), steps.len(), "{}", discipline.name);
                    prop_assert_eq!(port.backlog(), Backlog::default());
                    for (name, value) in observed_in(port.queue()) {
                        prop_assert!(value.is_finite(), "{}: {} is {}", discipline.name, name, value);
                    }
                    let again = once();
                    prop_assert_eq!(&again.books().sent, &books.sent, "{}", discipline.name);
                    prop_assert_eq!(&again.books().dropped, &books.dropped, "{}", discipline.name);
                }
            }
        }
    }

    /// Those that do not say that packets may pass one another keep each flow in order.
    #[test]
    fn flows_stay_in_order(
        steps in prop::collection::vec(step(), 1..400),
        seed: u64,
    ) {
        for discipline in DISCIPLINES.iter() {
            let Some(settings) = defaults(discipline, "packets") else { continue };
            let site = site("packets");
            let built = (discipline.build)(&settings, &site);
            let mut port = FreeLink::new(built.into_queue(site.capacity), site.capacity, seed);
            if port.queue().reorders() {
                continue;
            }
            let mut now = Time::ZERO;
            for step in &steps {
                now = Time(now.0 + step.gap);
                for _ in 0..step.leave.min(100) {
                    port.depart(now);
                }
                port.arrive(now, Bytes(step.bytes), Ecn::NotEct);
            }
            while port.is_busy() {
                port.depart(now);
            }
            let mut last = [None; 7];
            for item in &port.books().sent {
                let before = last[item.flow as usize].replace(item.id);
                prop_assert!(before < Some(item.id), "{}: {:?}", discipline.name, item);
            }
        }
    }

    #[test]
    fn an_uncongested_queue_is_left_alone(
        gaps in prop::collection::vec(0_u64..10_000_000_000, 1..200),
        seed: u64,
    ) {
        for discipline in DISCIPLINES.iter() {
            for mode in MODES {
                let Some(settings) = defaults(discipline, mode) else { continue };
                let site = site(mode);
                let built = (discipline.build)(&settings, &site);
                let mut port = FreeLink::new(built.into_queue(site.capacity), site.capacity, seed);
                let mut now = Time::ZERO;
                for gap in &gaps {
                    now = Time(now.0 + gap);
                    port.arrive(now, Bytes(40), Ecn::Ect0);
                    port.depart(now);
                }
                let Books { sent, marked, .. } = port.books();
                prop_assert_eq!((sent.len(), marked.len()), (gaps.len(), 0), "{}", discipline.name);
            }
        }
    }
}
