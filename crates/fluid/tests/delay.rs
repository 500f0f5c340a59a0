//! Vegas and FAST as a fluid: where they settle, and whether they stay there.

use crate::support::{AVQ, PACKET, assert_near, flow, law, link, mean_field, single};
use longfat_fluid::{
    Equilibrium, FluidError, FluidLink, FluidNetwork, Price, Reading, Solve, Stability,
    Synchronised, equilibrium, solve, stability,
};
use longfat_units::Span;

const SECOND: Span = Span::from_seconds(1);

/// A link with a queue that never overflows.
fn patient(packets_per_second: f64) -> FluidLink {
    FluidLink { buffer: None, ..link(packets_per_second, Price::Overflow) }
}

fn settled(network: &FluidNetwork) -> Equilibrium {
    equilibrium(network).unwrap_or_else(|error| panic!("{error}"))
}

fn judged(network: &FluidNetwork) -> Stability {
    stability(network, &settled(network), 1.0)
}

/// Packets per second.
fn packets(rate: f64) -> f64 {
    rate / (8 * PACKET) as f64
}

/// FAST with these round trips, in milliseconds, on one link.
fn fast(alpha: f64, capacity: f64, rtts: &[u64], seconds: f64) -> FluidNetwork {
    let flows = rtts
        .iter()
        .map(|&rtt| flow(law("fast", &[("alpha", alpha)]), Span::from_millis(rtt)))
        .collect();
    single(patient(capacity), flows, seconds)
}

/// Jin, Wei and Low: n α packets wait, and all have the same rate whatever their round trips; α of each at 10⁴ packets/s.
#[test]
fn fast_rests_with_alpha_packets_of_each_flow_waiting() {
    let network = fast(20.0, 1e4, &[20, 40, 60, 80, 100], 60.0);
    let rest = settled(&network);
    assert_near(rest.links[0].queue, 100.0 / 1e4, 1e-6, "seconds of queue");
    assert_near(rest.links[0].load, 1.0, 1e-6, "the load");
    for flow in &rest.flows {
        assert_near(packets(flow.rate), 2000.0, 1e-6, "a fifth each");
        assert_eq!(flow.price, 0.0, "nothing is lost");
    }
    // And that is where the equations go.
    let path = mean_field(&network, 1.0);
    assert_near(*path.links[0].queue.last().expect("samples"), 0.01, 1e-3, "in time");
    for (flow, at_rest) in path.flows.iter().zip(&rest.flows) {
        assert_near(*flow.window.last().expect("samples"), at_rest.window, 1e-3, "in time");
    }
}

/// With buffers too small for n α the rest is lost, and the flows fill the buffer.
#[test]
fn too_small_a_buffer_overflows() {
    let mut network = fast(20.0, 1e4, &[20, 40], 10.0);
    network.links[0].buffer = Some(Span::from_millis(2));
    let rest = settled(&network);
    assert_near(rest.links[0].queue, 2e-3, 1e-6, "a full buffer");
    assert!(rest.links[0].price > 1e-6, "it overflows: {:?}", rest.links[0]);
}

/// Low, Peterson and Wang 2002: Vegas maximises Σ α log x. Over a parking lot of L links of capacity c, with one flow over
/// all and one over each, that gives the long one c/(L + 1) and the others L c/(L + 1). Each short one keeps α of its
/// packets in its queue, and the long one α in all of them. Here α, the middle of 1 and 3, is 2.
#[test]
fn vegas_is_proportionally_fair_over_a_parking_lot() {
    for (name, changes, alpha) in [("vegas", &[][..], 2.0), ("fast", &[("alpha", 20.0)][..], 20.0)]
    {
        for links in [2_usize, 3, 7] {
            let capacity = 1e4;
            // Round trips make no difference.
            let rtt = |index: usize| Span::from_millis(30 + 10 * index as u64);
            let mut flows = vec![flow(law(name, changes), Span::from_millis(200))];
            flows[0].route = (0..links).collect();
            for index in 0..links {
                flows.push(flow(law(name, changes), rtt(index)));
                flows[index + 1].route = vec![index];
            }
            let mut network = single(patient(capacity), flows, 100.0);
            network.links.extend((1..links).map(|_| patient(capacity)));
            let rest = settled(&network);
            let share = capacity / (links + 1) as f64;
            let what = format!("{name}, {links} links");
            assert_near(packets(rest.flows[0].rate), share, 1e-5, &what);
            for index in 0..links {
                let short = links as f64 * share;
                assert_near(packets(rest.flows[index + 1].rate), short, 1e-5, &what);
                assert_near(rest.links[index].queue, alpha / short, 1e-5, &what);
            }
        }
    }
}

/// Flows of equal round trip R whose law brings γ/R of the distance to its goal per second, on a link whose queue is short
/// beside R. With time in round trips, w' = -γ q(t - 1) and q' = w - q: the loop is γ e^(-s τ)/(s (s + 1)), whatever the
/// capacity and the number of flows. Its modulus is 1 where ω √(1 + ω²) = γ, its phase there -π/2 - arctan ω - ω τ.
///
/// FAST has γ = 1/2: ω = 0.45509 and τ = 2.5132. Vegas has γ = 2/(β - α), 1 by default: ω = 0.78615 and τ = 1.1506.
#[test]
fn flows_of_one_round_trip_are_stable_whatever_the_capacity() {
    for (name, goal, boundary) in [("fast", 0.1, 2.5132), ("vegas", 2.0, 1.1506)] {
        for (capacity, count) in [(1e6, 1), (1e8, 1), (1e8, 30)] {
            let changes = if name == "fast" { vec![("alpha", goal)] } else { vec![] };
            let flows = (0..count).map(|_| flow(law(name, &changes), SECOND)).collect();
            let network = single(patient(capacity), flows, 10.0);
            let Stability { stable, margin, .. } = judged(&network);
            let what = format!("{count} of {name} at {capacity}");
            assert!(stable, "{what}");
            assert_near(margin.expect("delays matter"), boundary, 2e-3, &what);
        }
    }
}

/// The same loop loses stability, at its own delay, where ω = cot ω: γ = 1.1348. For Vegas that is β - α = 1.7625.
#[test]
fn vegas_with_narrow_thresholds_oscillates() {
    for (apart, expected) in [(1.80, true), (1.72, false)] {
        let changes = [("alpha", 2.0), ("beta", 2.0 + apart)];
        let network = single(patient(1e6), vec![flow(law("vegas", &changes), SECOND)], 10.0);
        let Stability { stable, .. } = judged(&network);
        assert_eq!(stable, expected, "{apart} apart");
    }
}

/// Tang, Jacobsson, Andrew and Low, INFOCOM 2007: over a single link FAST is stable for any distribution of round trips.
#[test]
fn fast_is_stable_over_one_link_for_any_round_trips() {
    for rtts in [&[10, 500][..], &[10, 20, 500], &[5, 50, 500], &[30, 110, 303]] {
        for (alpha, capacity) in [(20.0, 1e4), (200.0, 1e5), (2000.0, 1e6), (5.0, 1e6)] {
            let judged = judged(&fast(alpha, capacity, rtts, 10.0));
            assert!(judged.stable, "{rtts:?}, alpha {alpha}, {capacity} packets/s: {judged:?}");
        }
    }
}

/// The equations settle with nine tenths of the delays at the boundary, and oscillate with eleven tenths.
#[test]
fn the_equations_agree_on_both_sides_of_the_boundary() {
    let network = fast(1.0, 100.0, &[1000], 1500.0);
    let boundary = judged(&network).margin.expect("delays matter");
    let swing = |delay: f64| {
        let late = &mean_field(&network, delay).flows[0].window[1400..];
        let most = late.iter().copied().fold(0.0, f64::max);
        most - late.iter().copied().fold(f64::INFINITY, f64::min)
    };
    assert!(swing(0.9 * boundary) < 1e-3, "{} inside", swing(0.9 * boundary));
    assert!(swing(1.1 * boundary) > 0.3, "{} outside", swing(1.1 * boundary));
}

/// Slow start ends without a loss, when packets wait, and with or without feedback delay.
#[test]
fn slow_start_ends_where_packets_wait() {
    for delay in [0.0, 1.0] {
        let mut network = fast(20.0, 1e4, &[100, 100], 30.0);
        for flow in &mut network.flows {
            flow.initial_threshold = None;
        }
        let how = Solve { reading: Reading::MeanField, delay, sample: Span::from_millis(100) };
        let path = solve(&network, &how).expect("it can be solved");
        let windows = &path.flows[0].window;
        assert_near(windows[20], 500.0, 0.5, "after two seconds");
        let most = windows.iter().copied().fold(0.0, f64::max);
        assert!(most < 1100.0, "{most} is more than twice what the path holds");
        assert_near(*windows.last().expect("samples"), 520.0, 1e-3, "at the end");
        assert_eq!(path.flows[0].events, 0);
    }
}

#[test]
fn they_are_refused_where_nothing_waits() {
    let network = single(link(100.0, AVQ), vec![flow(law("vegas", &[]), SECOND)], 10.0);
    let refused = FluidError::NoQueue { flow: "flow".into() };
    assert_eq!(equilibrium(&network), Err(refused.clone()));
    let how = Solve { reading: Reading::MeanField, delay: 1.0, sample: SECOND };
    assert_eq!(solve(&network, &how).expect_err("no queue"), refused);
    let network = fast(20.0, 1e4, &[100], 10.0);
    let refused = FluidError::NotByLoss { flow: "flow".into() };
    assert_eq!(Synchronised::new(&network, SECOND).expect_err("not by loss"), refused);
}

/// Fu and Liew: of losses at random alone each segment adds 1/w and each loss takes w/5, p w = 5/w, where Reno has 2/w. If the
/// link is too slow for that, segments wait; more than three of them add 1/(2w), and a loss takes a half: p w = 1/w.
#[test]
fn veno_answers_a_loss_by_whether_its_segments_wait() {
    for (capacity, veno, reno) in [(1e5, 158.114, 100.0), (100.0, 70.711, 100.0)] {
        let flows = ["veno", "reno"].map(|name| flow(law(name, &[]), SECOND)).into();
        let network = single(FluidLink { loss: 2e-4, ..patient(capacity) }, flows, 10.0);
        let rest = settled(&network);
        assert_near(rest.flows[0].window, veno, 1e-3, "Veno's window");
        assert_near(rest.flows[1].window, reno, 1e-3, "Reno's window");
        let waiting = rest.flows[0].window * rest.links[0].queue / (1.0 + rest.links[0].queue);
        assert!(if capacity > 1e4 { waiting == 0.0 } else { waiting > 3.5 }, "{waiting} wait");
        let stability = judged(&network);
        assert!(stability.stable, "{stability:?}");
    }
}

/// A queue somewhere on the path is enough. FAST waits for α = 20 of its packets there, and where the other link has the
/// smaller capacity its marks hold it, and nothing waits.
#[test]
fn one_queue_on_the_path_is_enough() {
    let mut network = fast(20.0, 1e4, &[100], 10.0);
    network.links.push(link(2e4, AVQ));
    network.flows[0].route = vec![1, 0];
    assert_near(settled(&network).links[0].queue, 20.0 / 1e4, 1e-6, "seconds of queue");
    network.links[1] = link(5e3, AVQ);
    let rest = settled(&network);
    assert_near(rest.flows[0].window, 500.0, 1e-5, "a full link");
    assert_eq!(rest.links[0].queue, 0.0);
}

/// 50 segments in 0.1 s are 500 per second, of 10⁴; next to a flow that fills the buffer with a second of packets, α = 0.1
/// would be a tenth of a packet per second.
#[test]
fn bounds_hold_a_window_too() {
    let mut network = fast(20.0, 1e4, &[100], 10.0);
    network.flows[0].max_window = Some(50);
    let rest = settled(&network);
    assert_eq!((rest.flows[0].window, rest.links[0].queue), (50.0, 0.0));
    let mut network = fast(0.1, 1e3, &[100], 10.0);
    network.links[0].buffer = Some(SECOND);
    network.flows.push(flow(law("reno", &[]), Span::from_millis(100)));
    let rest = settled(&network);
    assert_eq!(rest.flows[0].window, 1.0);
    assert_near(rest.links[0].queue, 1.0, 1e-9, "a full buffer");
}

/// Which flow is named first makes no difference, also where several leave slow start within a step: the earliest does so first.
#[test]
fn the_first_to_leave_slow_start_is_not_the_first_by_name() {
    let course = |rtts: &[u64]| {
        let mut network = fast(20.0, 1e4, rtts, 5.0);
        network.flows.iter_mut().for_each(|flow| flow.initial_threshold = None);
        let sample = Span::from_millis(10);
        let how = Solve { reading: Reading::MeanField, delay: 1.0, sample };
        solve(&network, &how).expect("it can be solved").flows
    };
    for other in [98, 101, 103, 109] {
        let (one, two) = (course(&[100, other]), course(&[other, 100]));
        for (at, (one, two)) in one[0].window.iter().zip(&two[1].window).enumerate() {
            assert_near(*one, *two, 1e-9, &format!("beside {other} ms, at {at} samples"));
        }
    }
}
