//! What holds for every network: one to twenty flows, alike or different, under every law and every price.

use crate::support::law;
use longfat_control::{CONTROLLERS, Operating, Phase, SlowStart};
use longfat_fluid::{
    FluidError, FluidFlow, FluidLink, FluidNetwork, Integration, Price, Reading, RedPrice, Solve,
    Synchronised, Trajectory, equilibrium,
};
use longfat_units::{Bytes, Rate, Segments, Span, math};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Steps that a network of twenty flows may take for two hundred round trips. The most seen so far is a tenth of that.
const MANY: u64 = 200_000;

/// A mean load of more than this many times what a link can carry shows that its price had no effect.
const FAR_TOO_MUCH: f64 = 4.0;

#[derive(Clone, Debug)]
struct RandomGroup {
    count: usize,
    law: String,
    ends: (Index, Index),
    /// Whether the flows are alike, or each has a round trip of its own.
    alike: bool,
    round_trips: f64,
    /// As parts of the duration.
    start: f64,
    stop: Option<f64>,
    initial_window: f64,
    initial_threshold: Option<f64>,
    slow_start: SlowStart,
    max_window: Option<u64>,
    packet: u64,
    ecn: bool,
}

/// A number between two others, evenly spread over the decades between them.
fn decades(from: f64, to: f64) -> impl Strategy<Value = f64> {
    (math::ln(from)..math::ln(to)).prop_map(math::exp)
}

fn price(round_trip: f64, buffer: f64) -> impl Strategy<Value = Price> {
    let avq = (select(vec![1.0, 0.95]), select(vec![0.5 / round_trip, 0.5, 5.0]));
    let avq = avq.prop_map(|(utilisation, adaptation)| Price::Avq {
        utilisation,
        adaptation,
        marks: true,
    });
    let red = (select(vec![0.02, 0.1, 1.0]), any::<bool>(), decades(0.01, 10.0), any::<bool>());
    let red = red.prop_map(move |(max_p, gentle, averaging, marks)| {
        let (min, max) = (0.1 * buffer, 0.5 * buffer);
        Price::Red(RedPrice { min, max, max_p, gentle, averaging: averaging / round_trip, marks })
    });
    prop_oneof![2 => avq, 2 => Just(Price::Overflow), 2 => red, 1 => Just(Price::Loss)]
}

fn link(round_trip: f64) -> impl Strategy<Value = FluidLink> {
    let buffers = prop_oneof![Just(None), Just(Some(0.0)), decades(0.01, 3.0).prop_map(Some)];
    let buffers = buffers.prop_map(move |buffer| buffer.map(|trips| trips * round_trip));
    let queue = buffers.prop_flat_map(move |buffer| {
        let thresholds = buffer.unwrap_or(1.0).max(0.01 * round_trip);
        (Just(buffer.map(Span::from_seconds_f64)), price(round_trip, thresholds))
    });
    let loss = select(vec![0.0, 0.0, 1e-6, 1e-3]);
    (decades(1e6, 1e10), queue, loss).prop_map(move |(rate, (buffer, price), loss)| FluidLink {
        name: "link".into(),
        rate: Rate(rate as u64),
        delay: Span::from_seconds_f64(round_trip / 10.0),
        loss,
        buffer,
        price,
        spare: None,
    })
}

fn group() -> impl Strategy<Value = RandomGroup> {
    let laws =
        CONTROLLERS.iter().filter(|entry| entry.law.is_some()).map(|entry| entry.name.to_string());
    let what =
        (1_usize..8, select(laws.collect::<Vec<_>>()), any::<(Index, Index)>(), any::<bool>());
    let when = (select(vec![1.0, 2.0]), select(vec![0.0, 0.0, 0.3]), of(Just(0.7)));
    let sender = (
        select(vec![1.0, 2.0, 10.0]),
        of(select(vec![1.0, 30.0])),
        select(vec![SlowStart::Standard, SlowStart::Limited]),
        of(Just(50)),
        (select(vec![576, 1500, 9000]), any::<bool>()),
    );
    (what, when, sender).prop_map(
        |((count, law, ends, alike), (round_trips, start, stop), sender)| {
            let (initial_window, initial_threshold, slow_start, max_window, (packet, ecn)) = sender;
            RandomGroup {
                count,
                law,
                ends,
                alike,
                round_trips,
                start,
                stop,
                initial_window,
                initial_threshold,
                slow_start,
                max_window,
                packet,
                ecn,
            }
        },
    )
}

/// A chain of up to three links and the flows over parts of it.
fn networks() -> impl Strategy<Value = FluidNetwork> {
    decades(1e-3, 0.5).prop_flat_map(|round_trip| {
        let links = prop::collection::vec(link(round_trip), 1..4);
        let groups = prop::collection::vec(group(), 1..4);
        (links, groups, decades(20.0, 100.0), any::<u64>()).prop_map(
            move |(links, groups, trips, seed)| {
                let duration = trips * round_trip;
                let flows = groups.iter().enumerate().flat_map(|(index, group)| {
                    flows(index, group, links.len(), round_trip, duration)
                });
                let flows: Vec<FluidFlow> = flows.take(20).collect();
                let (warmup, duration) = (Span::ZERO, Span::from_seconds_f64(duration));
                let loads = Vec::new();
                let mut network = FluidNetwork { links, flows, loads, warmup, duration, seed };
                let queues =
                    |link: &FluidLink| matches!(link.price, Price::Overflow | Price::Red(_));
                let queues: Vec<bool> = network.links.iter().map(queues).collect();
                network.flows.iter_mut().for_each(|flow| {
                    by_loss_unless(flow, flow.route.iter().any(|&link| queues[link]));
                });
                network
            },
        )
    })
}

/// Laws that answer queueing delay are refused where they cannot.
fn by_loss_unless(flow: &mut FluidFlow, delays: bool) {
    if flow.law.heeds_delay() && !delays {
        flow.law = law("reno", &[]);
    }
}

fn flows(
    index: usize,
    group: &RandomGroup,
    links: usize,
    trip: f64,
    duration: f64,
) -> Vec<FluidFlow> {
    let (a, b) = (group.ends.0.index(links), group.ends.1.index(links));
    let flow = |member: usize| {
        let stretch = if group.alike { 1.0 } else { 1.0 + 0.013 * member as f64 };
        FluidFlow {
            name: format!("{}[{index}][{member}]", group.law),
            law: law(&group.law, &[]),
            route: (a.min(b)..=a.max(b)).collect(),
            rtt: Span::from_seconds_f64(group.round_trips * stretch * trip),
            packet: Bytes(group.packet),
            ecn: group.ecn,
            start: Span::from_seconds_f64(group.start * duration),
            stop: group.stop.map(|stop| Span::from_seconds_f64(stop * duration)),
            initial_window: Segments(group.initial_window),
            initial_threshold: group.initial_threshold.map(Segments),
            slow_start: group.slow_start,
            max_window: group.max_window,
            pacing: None,
        }
    };
    (0..group.count).map(flow).collect()
}

/// Takes a solution to its end, if that does not take too many steps.
fn to_the_end(mut advance: impl FnMut(u64) -> Result<bool, FluidError>) -> Result<(), FluidError> {
    assert!(!advance(MANY)?, "no end after {MANY} steps");
    Ok(())
}

/// Is every window held? Some link of each path must charge or lose.
fn is_held(network: &FluidNetwork) -> bool {
    network.flows.iter().all(|flow| {
        let holds = |&link: &usize| {
            let link = &network.links[link];
            link.loss > 0.0
                || match link.price {
                    Price::Loss => false,
                    Price::Overflow => link.buffer.is_some(),
                    Price::Avq { .. } | Price::Red(_) => true,
                    ref other => panic!("{other:?} is new here"),
                }
        };
        flow.max_window.is_some() || flow.route.iter().any(holds)
    })
}

/// The load a flow puts on a link even if it loses in every round trip, in bit/s: the two segments that a loss leaves,
/// and what its law adds in a round trip to a window that fills the link.
fn least(flow: &FluidFlow, rate: f64) -> f64 {
    let bits = flow.packet.0 as f64 * 8.0;
    let window = Segments((rate * flow.rtt.seconds() / bits).max(2.0));
    let at = Operating {
        window,
        epoch_window: Some(window),
        rtt: flow.rtt,
        base_rtt: flow.rtt,
        since_event: Some(flow.rtt),
        phase: Phase::CongestionAvoidance,
        spare: 0.0,
    };
    (2.0 + flow.law.gain(&at) * window.0) * bits / flow.rtt.seconds()
}

/// Every number is finite, and no link that charges carries far more than its capacity, or than its flows send even if
/// they lose all the time.
fn check(network: &FluidNetwork, path: &Trajectory) -> Result<(), TestCaseError> {
    for flow in &path.flows {
        let means = [flow.window_mean, flow.rate_mean];
        let mut all = flow.window.iter().chain(&flow.rate).chain(&means);
        prop_assert!(all.all(|value| value.is_finite() && *value >= 0.0), "{flow:?}");
    }
    for (index, (link, path)) in network.links.iter().zip(&path.links).enumerate() {
        let mut all = path.price.iter().chain(&path.load).chain(&path.queue);
        prop_assert!(all.all(|value| value.is_finite() && *value >= 0.0), "{path:?}");
        prop_assert!(path.price.iter().all(|price| *price <= 1.0), "{path:?}");
        if link.price == Price::Loss {
            continue;
        }
        let crossing = network.flows.iter().filter(|flow| flow.route.contains(&index));
        let least = crossing.map(|flow| least(flow, link.rate.0 as f64)).sum::<f64>();
        let can_carry = (least / link.rate.0 as f64).max(1.0);
        let mean = path.load.iter().sum::<f64>() / path.load.len() as f64;
        prop_assert!(mean < FAR_TOO_MUCH * can_carry, "load {mean} where {can_carry} can be");
    }
    Ok(())
}

/// A solution, or the error of a network that has none.
fn judge(
    network: &FluidNetwork,
    solved: Result<Trajectory, FluidError>,
) -> Result<(), TestCaseError> {
    match solved {
        Ok(path) => check(network, &path),
        Err(FluidError::Unbounded { .. }) => {
            prop_assert!(!is_held(network), "something holds every window");
            Ok(())
        }
        Err(error) => Err(TestCaseError::fail(error.to_string())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Rates and jumping windows, with delays and without.
    #[test]
    fn solutions_are_finite_and_links_answer(network in networks()) {
        let sample = Span(network.duration.0 / 50);
        for reading in [Reading::MeanField, Reading::Hybrid] {
            for delay in [0.0, 1.0] {
                let mut run = Integration::new(&network, &Solve { reading, delay, sample })
                    .expect("no load but the flows");
                let solved = to_the_end(|steps| run.advance(steps)).map(|()| run.finish());
                judge(&network, solved)?;
            }
        }
    }

    /// Flows that lose together.
    #[test]
    fn flows_that_lose_together_stay_finite(mut network in networks()) {
        network.links.truncate(1);
        for flow in &mut network.flows {
            flow.route = vec![0];
            by_loss_unless(flow, false);
        }
        let mut run = Synchronised::new(&network, Span(network.duration.0 / 50))
            .expect("one link, and no load but the flows");
        let solved = to_the_end(|steps| run.advance(steps)).map(|()| run.finish());
        judge(&network, solved)?;
    }

    /// Where it settles is finite too, or the error says why: never that the search failed, unless a law has several
    /// answers to a price, as that of LTCP, or a queue without a limit has a level that may be anything.
    #[test]
    fn what_settles_is_finite(network in networks()) {
        let found = equilibrium(&network);
        if let Err(error @ FluidError::NotFound { .. }) = &found {
            let several = network.flows.iter().any(|flow| flow.name.starts_with("ltcp"));
            let endless = |link: &FluidLink| link.price == Price::Overflow && link.buffer.is_none();
            prop_assert!(several || network.links.iter().any(endless), "{error}");
        }
        if let Ok(rest) = found {
            for flow in &rest.flows {
                let all = [flow.window, flow.rate, flow.price, flow.round_trip];
                prop_assert!(all.iter().all(|value| value.is_finite() && *value >= 0.0), "{flow:?}");
            }
            for link in &rest.links {
                let all = [link.price, link.load, link.queue];
                prop_assert!(all.iter().all(|value| value.is_finite() && *value >= 0.0), "{link:?}");
            }
        }
    }
}
