//! Stability checked against textbooks, and against the equations themselves on both sides of the boundary.

use crate::support::{AVQ, assert_near, flow, formulas, law, link, mean_field, single};
use longfat_control::{Cause, Operating, WindowLaw};
use longfat_fluid::{
    Equilibrium, FlowRest, FluidError, FluidFlow, FluidNetwork, LinkRest, Load, Price, RedPrice,
    Stability, can_be_judged, equilibrium, equilibrium_while, stability, stability_while,
};
use longfat_units::{Segments, Span, math};
use proptest::prelude::*;

const SECOND: Span = Span::from_seconds(1);

fn judged(network: &FluidNetwork, delay: f64) -> Stability {
    let rest = equilibrium(network).unwrap_or_else(|error| panic!("{error}"));
    stability(network, &rest, delay)
}

/// Without more delay; and how many frequencies that takes.
fn judged_by_work(network: &FluidNetwork) -> (Stability, u32) {
    let rest = equilibrium(network).unwrap_or_else(|error| panic!("{error}"));
    let mut asked = 0;
    let mut go_on = || {
        asked += 1;
        true
    };
    let found = stability_while(network, &rest, 1.0, &mut go_on).expect("nobody stops it");
    (found, asked)
}

/// A lone Reno flow of window w on a link that overflows without a buffer.
fn hayes(window: f64) -> FluidNetwork {
    let p = 2.0 / (window * window);
    let capacity = window * (1.0 - p);
    single(link(capacity, Price::Overflow), vec![flow(law("reno", &[]), SECOND)], 800.0)
}

/// N. D. Hayes, "Roots of the transcendental equation associated with a certain difference-differential equation",
/// Journal of the London Mathematical Society s1-25(3), 1950: s + a + k e^(-s τ) = 0 loses stability, for k > a, at
/// τ = arccos(-a/k)/√(k² - a²). Here a = 2/w and k = w (1 - 2/w²)/2 per round trip: 2/3 and 7/6 at w = 3, 0.4 and 2.3
/// at w = 5.
#[test]
fn a_lone_flow_has_the_boundary_of_hayes() {
    for (window, factor) in [(3.0, 2.1790 / 0.95743), (5.0, 1.74556 / 2.26495)] {
        let Stability { stable, margin, .. } = judged(&hayes(window), 1.0);
        assert_eq!(stable, factor > 1.0, "window {window}");
        assert_near(margin.expect("delays matter"), factor, 1e-3, &format!("window {window}"));
    }
    // The same with delays of half the length, and with none.
    let half = judged(&hayes(5.0), 0.5);
    assert!(half.stable);
    assert_near(half.margin.expect("delays matter"), 2.0 * 1.74556 / 2.26495, 1e-3, "at half");
    let none = judged(&hayes(5.0), 0.0);
    assert!(none.stable && none.margin.is_none(), "{none:?}");
}

/// With a million segments k is half a million and a is nothing: π/2 over k.
#[test]
fn a_boundary_may_be_millionths_of_a_round_trip_away() {
    let margin = judged(&hayes(1e6), 1.0).margin.expect("delays matter");
    assert_near(margin, 3.141_59e-6, 1e-3, "the factor");
}

/// The equations settle with nine tenths of the delays at the boundary, and oscillate for ever with eleven tenths.
#[test]
fn the_equations_agree_on_both_sides_of_the_boundary() {
    for window in [3.0, 5.0] {
        let network = hayes(window);
        let boundary = judged(&network, 1.0).margin.expect("delays matter");
        let swing = |delay: f64| {
            let late = &mean_field(&network, delay).flows[0].window[700..];
            let most = late.iter().copied().fold(0.0, f64::max);
            most - late.iter().copied().fold(f64::INFINITY, f64::min)
        };
        assert!(swing(0.9 * boundary) < 1e-3, "{} inside", swing(0.9 * boundary));
        assert!(swing(1.1 * boundary) > 0.3, "{} outside", swing(1.1 * boundary));
    }
}

/// C. V. Hollot, V. Misra, D. Towsley, W.-B. Gong, "A control theoretic analysis of RED", INFOCOM 2001: 60 flows, 3750
/// packets/s, a round trip of 0.246 s, thresholds of 150 and 700 packets, 10 % and averaging at 0.005 per second:
/// stable. The loop is L(jω) = 1.83e-4/(1 + jω/0.005) · (RC)³/(2N)²/((1 + jωR²C/(2N))(1 + jωR)) e^(-jωR). Its modulus
/// is 1 at ω = 0.0497 per second, its phase there, without the delay, -90.3°: that leaves 89.7° or 1.565 rad, which is
/// 31.5 s or 128 round trips.
#[test]
fn the_red_of_hollot_and_others_is_stable() {
    let red = RedPrice {
        min: 150.0 / 3750.0,
        max: 700.0 / 3750.0,
        max_p: 0.1,
        gentle: true,
        averaging: 0.005,
        marks: true,
    };
    let mut link = link(3750.0, Price::Red(red));
    link.buffer = Some(SECOND);
    let rtt = Span::from_seconds_f64(0.194);
    let flows = (0..60).map(|_| flow(law("reno", &[]), rtt)).collect();
    let Stability { stable, margin, .. } = judged(&single(link, flows, 10.0), 1.0);
    assert!(stable);
    assert_near(margin.expect("delays matter"), 128.0, 0.02, "the margin");
}

/// The same with a flow of ten segments in R = 0.8 s and 0.2 s of queue, on a link of 100 per second of which short flows take
/// 90: what a longer queue sends away is a tenth of what it is where no other traffic is, w/(R² C) = 0.1 per second, and the
/// loop is as much stronger at low frequencies, w² κ R/4 = 5 with RED's slope of κ = 0.2 per second. L(s) = w² κ/(2R²)
/// m/(s + m)/((s + 2/(w R)) (C s + w/R²)) e^(-s R) with m = 1 per second: |L| is 1 at 0.2696 per second, where the phase
/// without the delay is -138.2°. That leaves 0.730 rad, or 2.707 round trips.
#[test]
fn short_flows_that_do_not_answer_make_a_queue_slower() {
    let red =
        RedPrice { min: 0.1, max: 0.6, max_p: 0.1, gentle: true, averaging: 1.0, marks: true };
    let mut link = link(100.0, Price::Red(red));
    link.buffer = Some(SECOND);
    let flows = vec![flow(law("reno", &[]), Span::from_millis(800))];
    let mut network = single(link, flows, 10.0);
    let (rate, start) = (90.0 * 12_000.0, Span::ZERO);
    network.loads.push(Load { route: vec![0], rate, start, stop: None });
    let rest = equilibrium(&network).expect("it settles");
    assert_near(rest.flows[0].window, 10.0, 1e-5, "the window");
    let Stability { stable, margin, .. } = judged(&network, 1.0);
    assert!(stable);
    assert_near(margin.expect("delays matter"), 2.707, 2e-3, "the margin");
}

/// Independent links are as stable together as each alone: the angles of all loops add up to many turns, and overflow
/// nothing.
fn copies_have_the_boundary_of_one(count: usize) {
    for window in [3.0, 500.0] {
        let one = judged(&hayes(window), 1.0);
        let mut many = hayes(window);
        for index in 1..count {
            let FluidNetwork { links, flows, .. } = hayes(window);
            many.links.extend(links);
            many.flows.extend(flows);
            many.flows[index].route = vec![index];
        }
        let all = judged(&many, 1.0);
        assert_eq!(all.stable, one.stable, "window {window}");
        let [all, one] = [all, one].map(|judged| judged.margin.expect("delays matter"));
        assert_near(all, one, 2e-3, &format!("window {window}"));
    }
}

#[test]
fn thirty_loops_have_the_boundary_of_one() {
    copies_have_the_boundary_of_one(30);
}

/// The determinant itself would exceed the largest number.
#[test]
#[ignore = "takes most of a minute"]
fn a_hundred_and_twenty_loops_have_the_boundary_of_one() {
    copies_have_the_boundary_of_one(120);
}

/// Flows of different round trips on two links settle or oscillate as predicted.
#[test]
fn two_links_and_three_round_trips_agree_with_the_equations() {
    let routes = [(vec![0, 1], 900), (vec![0], 500), (vec![1], 1400), (vec![1], 700)];
    let flows = routes
        .into_iter()
        .map(|(route, millis)| {
            let mut flow = flow(law("reno", &[]), Span::from_millis(millis));
            flow.route = route;
            flow
        })
        .collect();
    let price = Price::Avq { utilisation: 1.0, adaptation: 0.2, marks: true };
    let mut network = single(link(8.0, price), flows, 600.0);
    network.links[0].delay = Span::from_millis(200);
    network.links.push(link(10.0, price));
    let boundary = judged(&network, 1.0).margin.expect("delays matter");
    let swing = |delay: f64| {
        let late = &mean_field(&network, delay).flows[0].window[500..];
        let most = late.iter().copied().fold(0.0, f64::max);
        most / late.iter().copied().fold(f64::INFINITY, f64::min) - 1.0
    };
    assert!((0.05..20.0).contains(&boundary), "{boundary}");
    assert!(swing(0.9 * boundary) < 1e-3, "{} inside of {boundary}", swing(0.9 * boundary));
    assert!(swing(1.1 * boundary) > 0.02, "{} outside of {boundary}", swing(1.1 * boundary));
}

/// Gains 1e-4 w² segments per packet: left alone, its window runs away from the balance 1e-4 w² = p w/2.
#[derive(Clone, Debug)]
struct Runaway;

impl WindowLaw for Runaway {
    fn gain(&self, at: &Operating) -> f64 {
        1e-4 * at.window.0 * at.window.0
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.5
    }
}

/// One such flow is held by its link, s = 0.01 - 5 e^(-0.1 s) lies on the left. Two are not: the link sees their sum
/// stand still while one takes from the other.
#[test]
fn what_the_link_does_not_see_is_counted() {
    for (count, stable) in [(1_usize, true), (2, false)] {
        let p = 2e-3;
        let load = 10.0 * count as f64;
        let flows: Vec<_> = (0..count)
            .map(|_| {
                let mut flow = flow(Box::new(Runaway), SECOND);
                flow.initial_window = Segments(10.0);
                flow
            })
            .collect();
        let network = single(link(load * (1.0 - p), Price::Overflow), flows, 10.0);
        let rate = 10.0 * 12_000.0;
        let flow = FlowRest { window: 10.0, rate, price: p, round_trip: 1.0 };
        let link = LinkRest { price: p, load: 1.0 / (1.0 - p), queue: 0.0 };
        let rest = Equilibrium { flows: vec![flow; count], links: vec![link], steps: 0 };
        assert_eq!(stability(&network, &rest, 0.1).stable, stable, "{count} flows");
        if !stable {
            assert_eq!(stability(&network, &rest, 0.1).margin, Some(0.0));
        }
    }
}

/// Corruption alone: there is no feedback, so no delay matters.
#[test]
fn without_feedback_any_delay_will_do() {
    let mut link = link(1e6, Price::Loss);
    link.loss = 1e-4;
    let flows = vec![flow(law("exp", &[]), SECOND), flow(law("hstcp", &[]), SECOND)];
    let judged = judged(&single(link, flows, 10.0), 1.0);
    assert!(judged.stable && judged.margin.is_none(), "{judged:?}");
}

/// In the terms of Hayes k ≤ a: at w = 2.3 k/a = w²/4 - 1/2 = 0.82, and no delay matters. That need not be tried out:
/// with sixteen round trips the trying took ten seconds.
#[test]
fn weak_loops_are_stable_with_any_delay_at_once() {
    let weak = judged(&hayes(2.3), 1.0);
    assert!(weak.stable && weak.margin.is_none(), "{weak:?}");
    assert!(judged(&hayes(2.5), 1.0).margin.is_some(), "k/a = 1.06");
    let flows =
        (0..16).map(|index| flow(law("reno", &[]), Span::from_millis(10 + index))).collect();
    let network = single(link(833.0, Price::Overflow), flows, 10.0);
    let (judged, asked) = judged_by_work(&network);
    assert!(judged.stable && judged.margin.is_none(), "{judged:?}");
    assert!(asked < 1000, "{asked} frequencies");
}

/// One link and three flows whose round trips are one, two and three times a unit of time, all rates per that unit.
fn in_units(price: u32, window: f64, max_window: bool, unit: f64) -> FluidNetwork {
    let trips = [1.0, 2.0, 3.0];
    let capacity = window * trips.iter().map(|trip| 1.0 / trip).sum::<f64>();
    let mut link = link(
        capacity / unit,
        match price {
            0 => Price::Avq { utilisation: 0.95, adaptation: 0.5 / unit, marks: true },
            1 => Price::Overflow,
            _ => Price::Red(RedPrice {
                min: 0.1 * unit,
                max: 0.5 * unit,
                max_p: 0.1,
                gentle: true,
                averaging: 0.2 / unit,
                marks: true,
            }),
        },
    );
    link.buffer = Some(Span::from_seconds_f64(if price == 0 { 0.0 } else { unit }));
    let flows = trips.into_iter().map(|trip| FluidFlow {
        max_window: max_window.then_some((1.2 * window) as u64),
        ..flow(law("reno", &[]), Span::from_seconds_f64(trip * unit))
    });
    single(link, flows.collect(), 1e4 * unit)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Rates and times have no scale of their own but that of the network: whether round trips take a tenth of a
    /// millisecond or minutes, the verdict, the margin and the frequencies that it takes are the same.
    #[test]
    fn a_network_in_slow_motion_is_judged_alike_with_as_much_work(
        price in 0_u32..3,
        window in 3.0_f64..300.0,
        max_window: bool,
        unit in -4.0_f64..2.0,
    ) {
        let judged = |unit: f64| {
            let (found, asked) = judged_by_work(&in_units(price, window, max_window, unit));
            (found, f64::from(asked))
        };
        let (one, work) = judged(1.0);
        let (other, works) = judged(math::exp(unit * math::ln(10.0)));
        // Rates are whole numbers of bits per second.
        if one.margin.is_none_or(|margin| (margin - 1.0).abs() > 0.02) {
            prop_assert_eq!(one.stable, other.stable);
        }
        match (one.margin, other.margin) {
            (Some(one), Some(other)) if one > 0.0 => prop_assert!((other / one - 1.0).abs() < 0.02, "{one} {other}"),
            (one, other) => prop_assert_eq!(one, other),
        }
        prop_assert!(works < 1.1 * work + 100.0, "{works} frequencies for {work}");
        prop_assert!(work < 2e5, "{work} frequencies");
    }
}

/// Windows at their most answer nothing, and what a queue slows down by itself is slowed down at once: no delay matters,
/// however long a round trip is, and none has to be tried out. That took minutes with a round trip of 51 s.
#[test]
fn where_nothing_comes_back_late_no_delay_is_tried() {
    for rtt in [0.51, 51.0, 5100.0] {
        let mut bound = flow(law("reno", &[]), Span::from_seconds_f64(rtt));
        bound.max_window = Some((1.2 * 8000.0 * rtt) as u64);
        let mut link = link(8000.0, Price::Overflow);
        link.buffer = Some(Span::from_seconds_f64(rtt));
        let network = single(link, vec![bound], 10.0 * rtt);
        let (judged, asked) = judged_by_work(&network);
        assert!(judged.stable && judged.margin.is_none(), "{judged:?}");
        assert!(asked < 1000, "{asked} frequencies with {rtt} s");
    }
}

/// A window at its most answers nothing, however late: its round trip does not make steps shorter that those of another
/// flow, 51 000 times as fast, ask for.
#[test]
fn a_round_trip_after_which_nothing_comes_back_costs_nothing() {
    let work = |slow: f64| {
        let mut bound = flow(law("reno", &[]), Span::from_seconds_f64(slow));
        bound.max_window = Some((2000.0 * slow) as u64);
        let mut link = link(8000.0, Price::Overflow);
        link.buffer = Some(Span::from_seconds(10));
        let flows = vec![bound, flow(law("vegas", &[]), Span::from_millis(1))];
        let network = single(link, flows, 1000.0);
        let (judged, asked) = judged_by_work(&network);
        assert!(judged.margin.is_some(), "{judged:?}");
        asked
    };
    let (alike, slow) = (work(0.001), work(51.0));
    assert!(slow < 10 * alike, "{slow} frequencies, and {alike}");
}

/// A request to stop takes effect at the next call.
#[test]
fn a_search_stops_when_it_is_told_to() {
    let network =
        single(link(1000.0, AVQ), vec![flow(law("reno", &[]), Span::from_millis(100))], 10.0);
    let rest = equilibrium(&network).expect("it settles");
    for patience in [0, 1, 5] {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            asked <= patience
        };
        assert_eq!(equilibrium_while(&network, &mut go_on), Ok(None));
        assert_eq!(asked, patience + 1);
        asked = 0;
        let mut go_on = || {
            asked += 1;
            asked <= patience
        };
        assert_eq!(stability_while(&network, &rest, 1.0, &mut go_on), None);
        assert_eq!(asked, patience + 1);
    }
    let all = stability_while(&network, &rest, 1.0, &mut || true);
    assert_eq!(all, Some(stability(&network, &rest, 1.0)));
}

/// H-TCP with losses rarer than one in a second grows by how long ago the last was, which the linear equations leave
/// out; with more frequent ones it is Reno.
#[test]
fn a_law_that_heeds_the_age_of_losses_is_not_judged() {
    let network = |capacity: f64| {
        let flows = vec![flow(law("h-tcp", &[]), Span::from_millis(100))];
        single(link(capacity, Price::Overflow), flows, 800.0)
    };
    let can = |network: &FluidNetwork| {
        let rest = equilibrium(network).unwrap_or_else(|error| panic!("{error}"));
        can_be_judged(network, &rest)
    };
    assert_eq!(can(&network(50.0)), Ok(()));
    assert_eq!(can(&network(1e5)), Err(FluidError::AgeOfLosses { flow: "flow".into() }));
}

/// Ten Reno flows of 50 packets per second and a round trip of 0.1 s. Where RED goes from 0.02 to 1 at once, at 0.04 s, they
/// settle with 50 · 0.14 = 7 segments each, p = 2/49 = 0.041: above 0.02, so at the jump, and the equations swing for ever.
/// Where it is gentle the price has a slope, and with a `max_p` of 0.05 they settle below the jump.
#[test]
fn a_queue_that_rests_at_the_jump_of_its_red_is_not_judged() {
    let network = |gentle: bool, max_p: f64| {
        let red = RedPrice { min: 0.01, max: 0.04, max_p, gentle, averaging: 1.0, marks: true };
        let mut link = link(500.0, Price::Red(red));
        link.buffer = Some(Span::from_millis(400));
        let flows = (0..10).map(|_| flow(law("reno", &[]), Span::from_millis(100))).collect();
        single(link, flows, 300.0)
    };
    let can = |network: &FluidNetwork| {
        let rest = equilibrium(network).unwrap_or_else(|error| panic!("{error}"));
        can_be_judged(network, &rest)
    };
    let jump = network(false, 0.02);
    let rest = equilibrium(&jump).unwrap_or_else(|error| panic!("{error}"));
    assert_near(rest.links[0].queue, 0.04, 1e-9, "the queue");
    assert_near(rest.links[0].price, 2.0 / 49.0, 1e-4, "the price");
    assert_eq!(can(&jump), Err(FluidError::AtJump { link: "link".into() }));
    let late = &mean_field(&jump, 1.0).flows[0].window[200..];
    let most = late.iter().copied().fold(0.0, f64::max);
    assert!(most > 7.5, "up to {most} segments");
    assert_eq!(can(&network(true, 0.02)), Ok(()));
    assert_eq!(can(&network(false, 0.05)), Ok(()));
}

fn margin(network: &FluidNetwork) -> f64 {
    judged(network, 1.0).margin.expect("delays matter")
}

/// A lone Reno flow of three segments in a second, marked by a virtual queue that adapts half of a capacity per second.
/// With a = 2/3 and p = 2/9: s (s + a) + 3/2 ((1 - p) s + 1/2) e^(-s τ) = 0. The two have the same modulus where
/// ω⁴ + a² ω² = 9/4 ((1 - p)² ω² + 1/4), at ω = 1.15641. The phases are π/2 + arctan(ω/a) = 2.61862 and π +
/// arctan(2 (1 - p) ω) - ω τ, so τ = 1.58651/1.15641. What takes another share at losses is the same, and so are three of
/// four that a link can carry.
#[test]
fn a_virtual_queue_has_the_boundary_of_its_two_parts() {
    let reno =
        formulas(|at| 1.0 / at.window.0, |cause| if cause == Cause::Mark { 0.5 } else { 0.1 });
    for law in [law("reno", &[]), reno] {
        for (capacity, utilisation) in [(3.0, 1.0), (4.0, 0.75)] {
            let price = Price::Avq { utilisation, adaptation: 0.5, marks: true };
            let flows = vec![flow(law.clone(), SECOND)];
            let network = single(link(capacity, price), flows, 10.0);
            assert_near(margin(&network), 1.371_92, 1e-3, "the margin");
        }
    }
}

/// And what takes another share at marks has the boundary of Hayes at losses.
#[test]
fn a_flow_answers_losses_with_what_it_gives_up_for_them() {
    let mut network = hayes(3.0);
    network.flows[0].law =
        formulas(|at| 1.0 / at.window.0, |cause| if cause == Cause::Loss { 0.5 } else { 0.1 });
    assert_near(margin(&network), 2.1790 / 0.95743, 1e-3, "the margin");
}

/// A flow of five segments, p = 2/25, beside one that is held at four: nine segments where 8.28 fit. The first has a = 2/5
/// and k = 5²/2 (1 - p)/9 = 1.2778: arccos(-a/k)/√(k² - a²) = 1.88919/1.21356. Flows that have stopped, and links with
/// capacity to spare, change nothing.
#[test]
fn only_flows_between_their_bounds_answer() {
    let mut flows: Vec<_> = (0..3).map(|_| flow(law("reno", &[]), SECOND)).collect();
    flows[0].max_window = Some(4);
    flows[2].stop = Some(Span::from_seconds(1));
    let mut network = single(link(8.28, Price::Overflow), flows, 10.0);
    network.links.push(link(1e3, AVQ));
    network.flows[1].route = vec![0, 1];
    assert_near(margin(&network), 1.55674, 1e-3, "the margin");
    let rest = equilibrium(&network).expect("it settles");
    assert_near(rest.flows[1].window, 5.0, 1e-4, "the window");
    assert_eq!(can_be_judged(&network, &rest), Ok(()));
}

/// The same where the other wants half a segment, 0.01/w = p w/2, and has the least of one: six where 5.52 fit, k = 1.9167,
/// and 1.78101/1.87446.
#[test]
fn windows_at_their_least_do_not_answer() {
    let least = flow(formulas(|at| 0.01 / at.window.0, |_| 0.5), SECOND);
    let flows = vec![least, flow(law("reno", &[]), SECOND)];
    assert_near(
        margin(&single(link(5.52, Price::Overflow), flows, 10.0)),
        0.950_16,
        1e-3,
        "the margin",
    );
}

/// A law that rests where Reno does, at w = √(2/p) and e = w/2, and adds 2 e/w² per packet. With three segments in a second
/// p = 2/9, λ = w p = 2/3, and
///
/// ```text
///     χ(s) = (s + 1) (s + λ) - 2/3 · λ/2,    χ(s) + (s + λ) · 3/2 · 7/9 e^(-s τ) = 0
/// ```
///
/// where a buffer overflows: ω⁴ + 19/36 ω² = 33/81, ω = 0.65330, and the phases 1.55459 and π + arctan(ω/λ) - ω τ make
/// τ = 2.36227/ω. On a virtual queue the last factor is 3/2 ((1 - p) + 1/(2 s)), with p = 2/9 less what is corrupted: half of
/// the losses or nothing.
#[test]
fn a_memory_of_the_epoch_has_a_pole_of_its_own() {
    let law = || {
        let gain = |at: &Operating| {
            let epoch = at.epoch_window.expect("it is known").0;
            2.0 * epoch / (at.window.0 * at.window.0)
        };
        flow(formulas(gain, |_| 0.5), SECOND)
    };
    let mut network = hayes(3.0);
    network.flows = vec![law()];
    assert_near(margin(&network), 3.615_93, 1e-3, "losses");
    for (loss, boundary) in [(0.0, 1.755_015), (1.0 / 9.0, 1.630_250)] {
        let mut link = link(3.0, AVQ);
        link.loss = loss;
        assert_near(margin(&single(link, vec![law()], 10.0)), boundary, 1e-3, "marks and losses");
    }
}

/// Ten Reno flows on a buffer that RED does not keep from overflowing (`a_full_buffer_loses_what_red_does_not_mark`): RED
/// marks a fifth, a tenth of the rest is lost. With w = 2.67261, a = 2/w = 0.74833 and k = w/2 · 0.8 · 0.9 = 0.96214 per
/// round trip: arccos(-a/k)/√(k² - a²) = 2.46193/0.60474.
#[test]
fn a_full_buffer_behind_red_has_the_boundary_of_hayes() {
    let red =
        RedPrice { min: 0.01, max: 0.04, max_p: 0.3, gentle: true, averaging: 10.0, marks: true };
    let mut link = link(185.025_96, Price::Red(red));
    link.buffer = Some(Span::from_millis(30));
    let flows = (0..10).map(|_| flow(law("reno", &[]), Span::from_millis(100))).collect();
    assert_near(margin(&single(link, flows, 10.0)), 2.461_93 / 0.604_74, 2e-3, "the margin");
}

/// A lone flow hears of a link that is a quarter of a round trip behind the first that much sooner, and its packets get there
/// that much later: the boundary of Hayes. Two links that are crossed in either order, 0.6 and 0.5 s apart, have no common
/// clock: 0.6324 by counting the roots of the equations on a rectangle, and 0.494 if they were at one place.
#[test]
fn distances_between_links_count_both_ways() {
    let mut network = hayes(3.0);
    network.links.insert(0, link(1e3, Price::Loss));
    network.links[0].delay = Span::from_millis(250);
    network.flows[0].route = vec![0, 1];
    assert_near(margin(&network), 2.1790 / 0.95743, 1e-3, "one link");
    let routes = [(vec![0, 1], 900), (vec![1, 0], 1400), (vec![1], 2000)];
    let flows = routes.map(|(route, millis)| {
        let mut flow = flow(law("reno", &[]), Span::from_millis(millis));
        flow.route = route;
        flow
    });
    let price = Price::Avq { utilisation: 1.0, adaptation: 0.2, marks: true };
    let mut network = single(link(8.0, price), flows.into(), 10.0);
    network.links.push(link(12.0, price));
    network.links[0].delay = Span::from_millis(600);
    network.links[1].delay = Span::from_millis(500);
    assert_near(margin(&network), 0.632_394, 2e-3, "two links");
}

/// A law that adds more where the round trip is longer, c R²/w. By counting the roots of its equations on a rectangle: q =
/// 0.228 s, w = 36.4 and a margin of 1.1447.
#[test]
fn a_law_that_heeds_the_round_trip_answers_queues_at_once() {
    let red =
        RedPrice { min: 0.1, max: 0.5, max_p: 0.05, gentle: true, averaging: 115.129, marks: true };
    let mut link = link(50.0, Price::Red(red));
    link.buffer = Some(Span::from_seconds(20));
    let law = law("constant-rate", &[("c", 20.0)]);
    let network = single(link, vec![flow(law, Span::from_millis(500))], 10.0);
    let rest = equilibrium(&network).expect("it settles");
    assert_near(rest.links[0].queue, 0.228, 1e-6, "the queue");
    assert_near(margin(&network), 1.144_66, 1e-3, "the margin");
}

/// EXP-TCP with 20 segments, part of whose events are losses. By the same count: 0.53997 without corruption, 0.53785 with
/// 6e-3 of the 6.683e-3 that hold it.
#[test]
fn a_law_with_a_memory_has_the_boundary_of_its_equations() {
    for (loss, boundary) in [(0.0, 0.539_974), (6e-3, 0.537_850)] {
        let mut link = link(20.0, AVQ);
        link.loss = loss;
        let network = single(link, vec![flow(law("exp", &[]), SECOND)], 10.0);
        assert_near(margin(&network), boundary, 1e-3, "the margin");
    }
}

/// What cannot carry marks is as stable where a link marks as where it drops: by the share that a loss takes.
#[test]
fn packets_that_cannot_carry_marks_answer_as_to_losses() {
    let share = |cause| if cause == Cause::Mark { 0.125 } else { 0.5 };
    let margin = |marks, ecn| {
        let price = Price::Avq { utilisation: 1.0, adaptation: 0.2, marks };
        let mut flow = flow(formulas(|at| 1.0 / at.window.0, share), SECOND);
        flow.ecn = ecn;
        let network = single(link(4.0, price), vec![flow], 10.0);
        let rest = equilibrium(&network).expect("it settles");
        stability(&network, &rest, 1.0).margin.expect("some delay is too long")
    };
    assert_eq!(margin(true, false), margin(false, true));
    assert!(margin(true, true) > 1.01 * margin(false, true), "smaller steps are safer");
}
