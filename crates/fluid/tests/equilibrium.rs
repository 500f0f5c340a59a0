//! Where networks settle: by hand, by integration, and for thousands of flows. An independent convex solver checks it
//! too, in `tests/python/test_fluid_theorem.py`.

use crate::support::{AVQ, assert_near, flow, formulas, law, link, mean_field, single};
use longfat_control::{Cause, Operating};
use longfat_fluid::{
    Equilibrium, FluidError, FluidFlow, FluidLink, FluidNetwork, Load, Price, RedPrice, averaging,
    equilibrium,
};
use longfat_units::{Rate, Span};

const SECOND: Span = Span::from_seconds(1);

/// A small generator for shapes of networks: Knuth's MMIX constants.
struct Shapes(u64);

impl Shapes {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.uniform() * count as f64) as usize
    }
}

fn random(
    shapes: &mut Shapes,
    links: usize,
    flows: usize,
    names: &[&str],
    capacity: f64,
) -> FluidNetwork {
    let links: Vec<FluidLink> =
        (0..links).map(|_| link(capacity * (1.0 + 9.0 * shapes.uniform()), AVQ)).collect();
    let flows = (0..flows)
        .map(|index| {
            let rtt = Span::from_millis(10 + shapes.below(190) as u64);
            let mut flow = flow(law(names[index % names.len()], &[]), rtt);
            let hops = 1 + shapes.below(4.min(links.len()));
            flow.route.clear();
            while flow.route.len() < hops {
                let link = shapes.below(links.len());
                if !flow.route.contains(&link) {
                    flow.route.push(link);
                }
            }
            flow
        })
        .collect();
    let (warmup, duration) = (Span::ZERO, Span::from_seconds(10));
    FluidNetwork { links, flows, loads: Vec::new(), warmup, duration, seed: 1 }
}

fn settled(network: &FluidNetwork) -> Equilibrium {
    equilibrium(network).unwrap_or_else(|error| panic!("{error}"))
}

/// Two links, one flow over both and one over each, 100 segments per second on each link and round trips of 1 s: Reno's
/// p = 2/w² gives the long flow p = 2 · 2/w² of the short ones, so 1/√2 of their window. (1 + 1/√2) w = 100.
#[test]
fn a_long_flow_gets_one_over_root_two_of_a_short_one() {
    let flows = (0..3).map(|_| flow(law("reno", &[]), SECOND)).collect();
    let mut network = single(link(100.0, AVQ), flows, 10.0);
    network.links.push(link(100.0, AVQ));
    network.flows[0].route = vec![0, 1];
    network.flows[2].route = vec![1];
    let rest = settled(&network);
    for (flow, expected) in [(0, 41.421), (1, 58.579), (2, 58.579)] {
        assert_near(rest.flows[flow].window, expected, 1e-4, &format!("flow {flow}"));
        assert_near(rest.flows[flow].rate, expected * 12_000.0, 1e-4, "its rate");
    }
    assert_near(rest.links[0].price, 2.0 / (58.579 * 58.579), 1e-4, "the price");
}

#[test]
fn a_link_with_room_charges_nothing() {
    let mut network = single(link(100.0, AVQ), vec![flow(law("reno", &[]), SECOND)], 10.0);
    network.links.push(link(1000.0, AVQ));
    network.flows[0].route = vec![0, 1];
    network.links[1].loss = 1e-5;
    let rest = settled(&network);
    assert_near(rest.flows[0].window, 100.0, 1e-6, "the window");
    assert_eq!(rest.links[1].price, 0.0);
    assert_near(rest.links[1].load, 0.1, 1e-6, "the load");
    // 2/100² in total, of which the second link's corruption is a twentieth.
    assert_near(rest.links[0].price, 1.9e-4, 1e-6, "the price");
}

/// Under corruption alone, links of any capacity leave Reno 1414 segments at p = 1e-6.
#[test]
fn a_flow_that_its_losses_hold_pays_nothing() {
    let mut link = link(1e6, AVQ);
    link.loss = 1e-6;
    let rest = settled(&single(link, vec![flow(law("reno", &[]), SECOND)], 10.0));
    assert_near(rest.flows[0].window, 1414.21, 1e-5, "the window");
    assert_eq!(rest.links[0].price, 0.0);
}

#[test]
fn a_bounded_window_leaves_the_rest_to_the_others() {
    let mut bounded = flow(law("reno", &[]), SECOND);
    bounded.max_window = Some(30);
    let network = single(link(100.0, AVQ), vec![bounded, flow(law("reno", &[]), SECOND)], 10.0);
    let rest = settled(&network);
    assert_near(rest.flows[0].window, 30.0, 1e-9, "the bounded flow");
    assert_near(rest.flows[1].window, 70.0, 1e-6, "the other");
}

/// With a price set by a queue: 60 Reno flows behind RED, as in `equations.rs`.
#[test]
fn red_and_overflow_settle_where_integration_does() {
    let red = RedPrice {
        min: 0.04,
        max: 0.19,
        max_p: 0.1,
        gentle: true,
        averaging: averaging(0.0005, 3750.0),
        marks: true,
    };
    for price in [Price::Red(red), Price::Overflow] {
        let mut link = link(3750.0, price);
        link.buffer = Some(Span::from_millis(300));
        let flows = (0..60).map(|_| flow(law("reno", &[]), Span::from_millis(200))).collect();
        let network = single(link, flows, 300.0);
        let rest = settled(&network);
        let path = mean_field(&network, 0.0);
        let at = path.links[0].queue.len() - 1;
        assert_near(rest.flows[0].window, path.flows[0].window[at], 1e-3, "the windows");
        assert_near(rest.links[0].queue, path.links[0].queue[at], 1e-3, "the queue");
        assert_near(rest.links[0].price, path.links[0].price[at], 2e-3, "the price");
    }
}

/// An access link of 1 Gbit/s before one of 100 Mbit/s, both with room for 100 packets: the full queue adds 12 ms to the
/// 40 ms of a lone Reno flow, whose window is 433 segments then, and p = 2/w².
#[test]
fn a_bottleneck_behind_a_faster_link_fills_its_queue() {
    let bottleneck = 1e8 / 12_000.0;
    let flows = vec![flow(law("reno", &[]), Span::from_millis(40))];
    let mut network = single(link(10.0 * bottleneck, Price::Overflow), flows, 10.0);
    network.links.push(link(bottleneck, Price::Overflow));
    network.links[0].buffer = Some(Span::from_seconds_f64(0.0012));
    network.links[1].buffer = Some(Span::from_millis(12));
    network.flows[0].route = vec![0, 1];
    let rest = settled(&network);
    assert_near(rest.flows[0].window, 433.33, 1e-4, "the window");
    assert_near(rest.links[1].queue, 0.012, 1e-9, "the queue");
    assert_near(rest.links[1].price, 2.0 / (433.33 * 433.33), 1e-4, "the price");
    assert_eq!((rest.links[0].price, rest.links[0].queue), (0.0, 0.0), "the faster link");
}

/// Losses of 1e-3 hold seven Reno flows at √2000 = 44.72 segments. In front of the link of 786 packets per second, whose buffer
/// has no limit, is one of twice the rate and with a RED: while the search comes down from prices that nobody would pay, RED
/// begins to mark at a kink, and the queue behind it grows by a factor of a hundred as it stops.
#[test]
fn a_red_that_never_marks_does_not_stand_in_the_way() {
    let red =
        RedPrice { min: 5e-4, max: 3e-3, max_p: 1.0, gentle: false, averaging: 10.0, marks: false };
    let flows = (0..7).map(|_| flow(law("reno", &[]), Span::from_millis(6))).collect();
    let mut network = single(link(1700.0, Price::Red(red)), flows, 10.0);
    network.links[0].loss = 1e-3;
    network.links[0].buffer = Some(Span::from_seconds(5));
    network.links.push(link(786.0, Price::Overflow));
    network.links[1].buffer = None;
    network.flows.iter_mut().for_each(|flow| flow.route = vec![0, 1]);
    let rest = settled(&network);
    assert_near(rest.flows[0].window, 44.7214, 1e-5, "the windows");
    assert_near(rest.links[1].queue, 7.0 * 44.7214 / 786.0 - 0.006, 1e-4, "the queue");
    assert_eq!((rest.links[0].price, rest.links[0].queue), (0.0, 0.0), "the link in front");
}

/// The fiber controller has √(c/(p - α)) segments: 8000 at a price of α (1 + 3e-4), and everything at α. Two links in a row
/// share that price until one of them is found to be free: the faster, and the slower keeps a full queue. That takes
/// steps on which the sum of their prices stays as it is.
#[test]
fn two_links_agree_on_who_charges_for_both() {
    let flows = (0..10).map(|_| flow(law("fiber", &[]), Span::from_millis(600))).collect();
    let mut network = single(link(1e5, Price::Overflow), flows, 10.0);
    network.links.push(link(4e5, Price::Overflow));
    network.links[0].buffer = Some(Span::from_millis(200));
    network.links[1].buffer = Some(Span::from_millis(900));
    network.flows.iter_mut().for_each(|flow| flow.route = vec![0, 1]);
    let rest = settled(&network);
    let window = 1e5 * 0.8 / 10.0 * (1.0 + 1e-4);
    assert_near(rest.flows[0].window, window, 1e-6, "the windows");
    assert_near(rest.links[0].price, 1e-4 + 2.0 / (window * window), 1e-6, "the slower charges");
    assert_near(rest.links[0].queue, 0.2, 1e-9, "its queue");
    assert!((10..150).contains(&rest.steps), "{} steps", rest.steps);
    assert_eq!((rest.links[1].price, rest.links[1].queue), (0.0, 0.0), "the faster");
}

/// Two Vegas flows keep (α + β)/2 = 2 packets each in the queue of their link: a small part of a queue without a limit. A
/// link elsewhere stops the search when loads are right within 1e-7.
#[test]
fn a_short_queue_is_one_wherever_the_search_stops() {
    let red =
        |min, max| RedPrice { min, max, max_p: 0.02, gentle: false, averaging: 40.0, marks: false };
    let rtt = Span(2_347_529_242);
    let fast = 5_272_650_594.0 / 12_000.0;
    let flow = |name| flow(law(name, &[]), rtt);
    let flows = vec![flow("stcp"), flow("stcp"), flow("stcp"), flow("vegas"), flow("vegas")];
    let mut network =
        single(link(2_632_237.0 / 12_000.0, Price::Red(red(2.3475e-6, 1.1738e-5))), flows, 10.0);
    network.links.push(link(fast, Price::Red(red(0.1, 0.5))));
    network.links[1].buffer = None;
    network.flows[3..].iter_mut().for_each(|flow| flow.route = vec![1]);
    let rest = settled(&network);
    assert_near(rest.links[1].queue, 4.0 / fast, 1e-6, "the queue");
}

/// Random networks with all laws, integrated without delay until nothing moves.
#[test]
fn integration_leads_to_the_equilibrium() {
    let mut shapes = Shapes(7);
    for round in 0..3 {
        let names = ["reno", "fiber", "stcp", "exp", "hstcp"];
        let mut network = random(&mut shapes, 3, 8, &names, 500.0);
        network.duration = Span::from_seconds(300);
        for link in &mut network.links {
            link.price = Price::Avq { utilisation: 0.98, adaptation: 5.0, marks: true };
        }
        let rest = settled(&network);
        let path = mean_field(&network, 0.0);
        for (flow, (end, way)) in rest.flows.iter().zip(&path.flows).enumerate() {
            let window = way.window[300];
            assert_near(window, end.window, 2e-3, &format!("network {round}, flow {flow}"));
        }
    }
}

/// Ten thousand flows over a hundred links. Every flow balances gain and loss, and every link is full or free.
#[test]
fn ten_thousand_flows_settle() {
    let mut shapes = Shapes(12_345);
    let names = ["reno", "fiber", "stcp", "exp", "hstcp"];
    let network = random(&mut shapes, 100, 10_000, &names, 1e5);
    let rest = settled(&network);
    assert!(rest.steps < 200, "{} steps", rest.steps);
    for (index, link) in rest.links.iter().enumerate() {
        let full = (link.load - 1.0).abs() < 1e-6 && link.price > 0.0;
        let free = link.load < 1.0 && link.price == 0.0;
        assert!(full || free, "link {index}: {link:?}");
    }
    // The first flow is Reno's: 2/w².
    let Equilibrium { flows, .. } = &rest;
    assert_near(flows[0].price, 2.0 / (flows[0].window * flows[0].window), 1e-6, "Reno's price");
}

#[test]
fn what_has_no_equilibrium_is_refused_with_the_reason() {
    let endless = single(link(1e6, Price::Loss), vec![flow(law("reno", &[]), SECOND)], 10.0);
    let refused = equilibrium(&endless).expect_err("nothing holds the window");
    assert!(refused.to_string().contains("lose nothing"), "{refused}");

    // Losses below α do not hold the fiber controller.
    let mut link_below = link(1e6, Price::Loss);
    link_below.loss = 1e-5;
    let endless = single(link_below, vec![flow(law("fiber", &[]), SECOND)], 10.0);
    let refused = equilibrium(&endless).expect_err("nothing holds the window");
    assert!(refused.to_string().contains("loss rate of 0.00001 is too low"), "{refused}");

    // Even one segment per round trip from each of 100 flows is twice what the link can carry.
    let flows = (0..100).map(|_| flow(law("reno", &[]), SECOND)).collect();
    let refused = equilibrium(&single(link(50.0, AVQ), flows, 10.0)).expect_err("no room");
    assert!(refused.to_string().contains("100 flows would send"), "{refused}");

    // The same where an unlimited queue on another link could make the round trip as long as one likes, but does not fill.
    let flows = (0..100).map(|_| flow(law("reno", &[]), SECOND)).collect();
    let mut behind = single(link(50.0, AVQ), flows, 10.0);
    behind.links.push(FluidLink { buffer: None, ..link(1e4, Price::Overflow) });
    behind.flows.iter_mut().for_each(|flow| flow.route = vec![0, 1]);
    let refused = equilibrium(&behind).expect_err("no room");
    assert!(matches!(refused, FluidError::Overload { .. }), "{refused}");

    let mut gone = single(link(50.0, AVQ), vec![flow(law("reno", &[]), SECOND)], 10.0);
    gone.flows[0].stop = Some(Span::from_seconds(5));
    assert_eq!(equilibrium(&gone), Err(FluidError::NoFlows));
}

/// Where every loss counts, one MulTCP flow of n = 4 is four Reno flows: w = √(n/(p/(2n))) = n √(2/p).
#[test]
fn multcp_is_as_many_flows_as_it_says() {
    let mut flows = vec![flow(law("multcp", &[("n", 4.0)]), Span::from_millis(100))];
    flows.extend((0..4).map(|_| flow(law("reno", &[]), Span::from_millis(100))));
    let rest = equilibrium(&single(link(10_000.0, Price::Overflow), flows, 100.0));
    let windows: Vec<f64> = rest.expect("it settles").flows.iter().map(|it| it.window).collect();
    assert_near(windows[0] / windows[1], 4.0, 1e-6, "the ratio of windows");
    assert_near(windows[0], windows[1..].iter().sum(), 1e-6, "half of the link");
}

/// LTCP settles at K/(0.15 w²) = p in layer K, which begins at 50 K (K² - 1)/6: layers 2, 3 and 4 at 50, 200 and 500
/// segments. The p of 210 segments in layer 3 is also that of √(2/3) 210 = 171 in layer 2. That of 300 would be 245 in
/// layer 2, which ends before, and 346 in layer 4, which begins later.
#[test]
fn of_several_answers_none_is_given() {
    let bounded = |window: f64, most: Option<u64>| {
        let mut link = link(1e6, Price::Loss);
        link.loss = 3.0 / (0.15 * window * window);
        let mut flow = flow(law("ltcp", &[]), SECOND);
        flow.max_window = most;
        equilibrium(&single(link, vec![flow], 10.0))
    };
    let of = |window: f64| bounded(window, None);
    let refused = of(210.0).expect_err("there are two");
    let FluidError::SeveralRests { found, between, .. } = refused else { panic!("{refused}") };
    assert!((found / 171.46 - 1.0).abs() < 1e-3 || (found / 210.0 - 1.0).abs() < 1e-3, "{found}");
    assert_near(between, 200.0, 1e-12, "between the two");
    assert_near(of(300.0).expect("there is one").flows[0].window, 300.0, 1e-6, "the only one");
    let within = bounded(210.0, Some(190)).expect("the other is out of reach");
    assert_near(within.flows[0].window, 171.46, 1e-4, "the one below the bound");
}

/// LTCP asks for up to 50 segments at prices of 2/50² = 8e-4 and more in its first layer, and in its second, which begins at
/// 50, for 2/(0.15 w²) = p. A link of 80 that loses 5e-4 by itself has room to spare for 50, so that they are no answer: it
/// would charge the 3e-4 that keep the window there. At 80.13 it is full, and charges (80.13 - 80)/80.13 = 1.58e-3 more; but
/// at that price the first layer would rest at 31.
#[test]
fn no_link_with_room_charges_what_holds_a_window_at_a_jump() {
    let mut link = link(80.0, Price::Overflow);
    link.loss = 5e-4;
    let refused = equilibrium(&single(link, vec![flow(law("ltcp", &[]), SECOND)], 10.0));
    let Err(FluidError::SeveralRests { found, .. }) = refused else { panic!("{refused:?}") };
    assert_near(found, 80.1263, 1e-6, "the window at which it is full");
}

/// A law without a number once its packets wait, beyond some window, or anywhere: no link has a load.
#[test]
fn a_law_that_is_no_number_settles_nowhere() {
    let queues = |at: &Operating| if at.rtt > SECOND { f64::NAN } else { 1.0 / at.window.0 };
    let large = |at: &Operating| if at.window.0 > 40.0 { f64::NAN } else { 1.0 / at.window.0 };
    let never = |_: &Operating| f64::NAN;
    let all = [Price::Overflow, AVQ, Price::Loss];
    let laws = [(queues as fn(&Operating) -> f64, &all[..1]), (large, &all), (never, &all)];
    for (gain, prices) in laws {
        for &price in prices {
            let mut link = link(100.0, price);
            link.buffer = Some(SECOND);
            link.loss = if price == Price::Loss { 1e-4 } else { 0.0 };
            let flows = vec![flow(formulas(gain, |_| 0.5), SECOND)];
            let refused = equilibrium(&single(link, flows, 10.0));
            assert!(matches!(refused, Err(FluidError::NotFound { .. })), "{refused:?}");
        }
    }
}

/// 1/w = p s w, where a mark takes s = 1/8 of the window and a loss 1/2: a flow whose packets can carry marks has twice the
/// window of one whose packets cannot. Where the link drops instead of marking both have the same.
#[test]
fn packets_that_cannot_carry_marks_are_lost() {
    let share = |cause| if cause == Cause::Mark { 0.125 } else { 0.5 };
    let windows = |price: Price| {
        let mut flows = vec![flow(formulas(|at| 1.0 / at.window.0, share), SECOND); 2];
        flows[0].ecn = false;
        let network = single(link(30.0, price), flows, 600.0);
        let rest = settled(&network).flows.into_iter().map(|flow| flow.window);
        let solved = mean_field(&network, 0.0);
        let last = solved.flows.iter().map(|flow| flow.window[600]);
        rest.zip(last).collect::<Vec<(f64, f64)>>()
    };
    let red = |marks| {
        let (min, max, max_p) = (0.1, 0.3, 0.1);
        Price::Red(RedPrice { min, max, max_p, gentle: true, averaging: 0.5, marks })
    };
    let avq = |marks| Price::Avq { utilisation: 1.0, adaptation: 0.05, marks };
    for (marking, dropping) in [(avq(true), avq(false)), (red(true), red(false))] {
        let (some, none) = (windows(marking), windows(dropping));
        assert_near(some[1].0 / some[0].0, 2.0, 1e-5, "at rest, where it marks");
        assert_near(some[1].1 / some[0].1, 2.0, 1e-3, "in time, where it marks");
        assert_near(none[1].0 / none[0].0, 1.0, 1e-9, "at rest, where it drops");
        assert_near(none[1].1 / none[0].1, 1.0, 1e-9, "in time, where it drops");
    }
}

/// Caini and Firrincieli: windows in proportion to the round trip, so equal rates; for Reno equal windows.
#[test]
fn hybla_gives_every_round_trip_the_same_rate() {
    for (name, ratio) in [("hybla", 4.0), ("reno", 1.0)] {
        let flows = [50, 200].map(|millis| flow(law(name, &[]), Span::from_millis(millis)));
        let rest = equilibrium(&single(link(10_000.0, Price::Overflow), flows.into(), 100.0));
        let rest = rest.expect("it settles");
        let measured = rest.flows[1].window / rest.flows[0].window;
        assert_near(measured, ratio, 1e-3, &format!("{name}: 200 ms to 50 ms"));
    }
}

/// The laws have no answer between 1/(16 · 8) and 0.01/(16/8): at p = 6e-3 Scalable TCP grows below 16 segments, where it is
/// Reno, and shrinks above.
#[test]
fn a_law_that_turns_from_growing_to_shrinking_at_a_jump_rests_there() {
    let mut link = link(1e6, Price::Loss);
    link.loss = 6e-3;
    let rest = settled(&single(link, vec![flow(law("stcp", &[]), SECOND)], 10.0));
    assert_near(rest.flows[0].window, 16.0, 1e-9, "the window");
}

/// a/w = p b w holds at less than a segment: 0.3/(0.9 · 0.5) = 0.67.
#[test]
fn no_window_is_below_a_segment() {
    let mut link = link(1e6, Price::Loss);
    link.loss = 0.9;
    let flows = vec![flow(law("aimd", &[("a", 0.3), ("b", 0.5)]), SECOND)];
    assert_eq!(settled(&single(link, flows, 10.0)).flows[0].window, 1.0);
}

/// RED of these thresholds and probabilities, on a link of as many packets per second for each of ten Reno flows with a
/// round trip of 0.1 s.
fn crowd(each: f64, buffer: u64, max_p: f64, gentle: bool) -> FluidNetwork {
    let red = RedPrice { min: 0.01, max: 0.04, max_p, gentle, averaging: 10.0, marks: true };
    let mut link = link(10.0 * each, Price::Red(red));
    link.buffer = Some(Span::from_millis(buffer));
    let flows = (0..10).map(|_| flow(law("reno", &[]), Span::from_millis(100))).collect();
    single(link, flows, 10.0)
}

/// With 0.05 s of queue a window of 1.5 segments is ten per second, and p = 2/1.5² = 8/9: a quarter of the way from 23/27 at
/// 0.04 s to 1 at 0.08 s.
#[test]
fn a_gentle_red_settles_beyond_its_maximum() {
    let rest = settled(&crowd(10.0, 1000, 23.0 / 27.0, true));
    assert_near(rest.links[0].queue, 0.05, 1e-6, "the queue");
    assert_near(rest.links[0].price, 8.0 / 9.0, 1e-6, "the price");
    assert_near(rest.flows[0].window, 1.5, 1e-6, "the windows");
}

/// A buffer of 0.03 s is full where RED marks a fifth, and of the others a tenth does not fit: 0.28 in all, w = √(2/0.28) =
/// 2.6726 segments in 0.13 s, 20.558 per second where 18.503 fit.
#[test]
fn a_full_buffer_loses_what_red_does_not_mark() {
    let rest = settled(&crowd(18.502_596, 30, 0.3, true));
    assert_near(rest.links[0].queue, 0.03, 1e-9, "the queue");
    assert_near(rest.links[0].price, 0.28, 1e-5, "the price");
    assert_near(rest.links[0].load, 1.0 / 0.9, 1e-5, "the load");
    assert_near(rest.flows[0].window, 2.672_612, 1e-5, "the windows");
}

/// An unlimited buffer never overflows, so nothing holds Reno.
#[test]
fn an_unlimited_buffer_holds_no_law_that_waits_for_losses() {
    let mut endless = link(100.0, Price::Overflow);
    endless.buffer = None;
    let network = single(endless, vec![flow(law("reno", &[]), SECOND)], 10.0);
    let refused = equilibrium(&network).expect_err("nothing holds it");
    assert!(matches!(refused, FluidError::Unbounded { .. }), "{refused}");
    // A link that charges but has room for more does not hold it either.
    let mut behind = network;
    behind.links[0].name = "endless".into();
    behind.links.push(link(200.0, AVQ));
    behind.flows[0].route = vec![0, 1];
    let refused = equilibrium(&behind).expect_err("nothing holds it").to_string();
    assert!(
        refused.contains("The queue of link `endless`, whose buffer has no limit"),
        "{refused}"
    );
}

/// Reno has √2 segments where every packet is marked or lost: 100 flows send 141.4 per second, 3.54 times the 40 that a
/// virtual queue allows on a link of 50, and 7.07 times the 20 that short flows leave of them. A buffer plays no part. What
/// is not marked is dropped: by a link that only drops, and of flows without ECN.
#[test]
fn a_link_that_is_too_small_is_said_to_do_what_it_can() {
    let why = |price: Price, marked: usize, short: f64| {
        let flows = (0..100)
            .map(|index| FluidFlow { ecn: index < marked, ..flow(law("reno", &[]), SECOND) });
        let mut network = single(link(50.0, price), flows.collect(), 10.0);
        network.links[0].buffer = Some(SECOND);
        let (rate, start) = (50.0 * short * 12_000.0, Span::ZERO);
        network.loads.push(Load { route: vec![0], rate, start, stop: None });
        let refused = equilibrium(&network);
        let Err(FluidError::Overload { why, .. }) = refused else { panic!("{refused:?}") };
        why
    };
    let avq = |marks| Price::Avq { utilisation: 0.8, adaptation: 0.5, marks };
    let (marks, drops) = (avq(true), avq(false));
    let even = |every: &str, much: &str| {
        format!("even if it {every} every packet, its 100 flows would send {much}")
    };
    assert_eq!(why(marks, 100, 0.0), even("marked", "3.54 times what it can carry"));
    assert_eq!(why(drops, 100, 0.0), even("dropped", "3.54 times what it can carry"));
    assert_eq!(why(marks, 0, 0.0), even("dropped", "3.54 times what it can carry"));
    assert_eq!(why(marks, 30, 0.0), even("marked or dropped", "3.54 times what it can carry"));
    assert_eq!(why(marks, 100, 0.4), even("marked", "7.07 times what short flows leave"));
    assert_eq!(why(marks, 100, 0.9), "short flows alone fill 1.12 times what it can carry");
    // With a queue of 0.25 s they send 113.1 per second to 50.
    let red = |marks| {
        let (min, max, max_p) = (0.05, 0.25, 0.1);
        Price::Red(RedPrice { min, max, max_p, gentle: false, averaging: 1.0, marks })
    };
    assert_eq!(why(red(true), 100, 0.0), even("marked", "2.26 times what it can carry"));
    assert_eq!(why(red(false), 100, 0.0), even("dropped", "2.26 times what it can carry"));
}

/// Reno behind two links whose queues have no limit: that of the slower one grows, wherever it stands, and one that no flow
/// crosses does not. Nor does that of a link with short flows alone.
#[test]
fn of_queues_without_a_limit_the_one_that_grows_is_named() {
    let endless = |name: &str, rate| FluidLink {
        name: name.into(),
        buffer: None,
        ..link(rate, Price::Overflow)
    };
    for (rates, route) in [([50.0, 200.0, 100.0], [1, 2]), ([50.0, 100.0, 200.0], [2, 1])] {
        let mut network = single(link(300.0, AVQ), vec![flow(law("reno", &[]), SECOND)], 10.0);
        network.links = vec![endless("elsewhere", rates[0])];
        for rate in &rates[1..] {
            network.links.push(endless(if *rate == 100.0 { "slow" } else { "fast" }, *rate));
        }
        network.links.push(link(300.0, AVQ));
        network.flows[0].route = [&route[..], &[3]].concat();
        let (rate, start) = (40.0 * 12_000.0, Span::ZERO);
        network.loads.push(Load { route: vec![0], rate, start, stop: None });
        let refused = equilibrium(&network).expect_err("nothing holds it").to_string();
        assert!(refused.contains("The queue of link `slow`"), "{refused}");
        network.links[1].buffer = Some(Span::ZERO);
        network.links[2].buffer = Some(Span::ZERO);
        network.flows[0].law = formulas(|_| f64::NAN, |_| 0.5);
        let refused = equilibrium(&network).expect_err("no number").to_string();
        assert!(refused.contains("more than one answer"), "{refused}");
    }
}

/// What is there at the end counts, flows and short flows alike: 100 segments without short flows, 40 with 60 per second of
/// them.
#[test]
fn what_stops_before_the_end_has_no_part_in_it() {
    for (stop, window) in [(None, 40.0), (Some(10), 40.0), (Some(9), 100.0)] {
        let mut network = single(link(100.0, AVQ), vec![flow(law("reno", &[]), SECOND)], 10.0);
        network.flows[0].stop = Some(Span::from_seconds(10));
        let stop = stop.map(Span::from_seconds);
        network.loads.push(Load { route: vec![0], rate: 720_000.0, start: Span::ZERO, stop });
        let rest = settled(&network);
        assert_near(rest.flows[0].window, window, 1e-5, &format!("{stop:?}"));
        assert_near(rest.links[0].load, 1.0, 1e-6, "a full link");
    }
}

/// A lone Reno flow that fills a path of 0.1 s and a buffer of as much: at 100 Gbit/s that is 1.67 million segments, at
/// p = 2/w² = 7.2e-13.
#[test]
fn prices_are_found_however_small_they_are() {
    for gigabits in [1, 10, 100, 1000] {
        let mut link = link(1.0, Price::Overflow);
        link.rate = Rate(gigabits * 1_000_000_000);
        link.buffer = Some(Span::from_millis(100));
        let flows = vec![flow(law("reno", &[]), Span::from_millis(100))];
        let rest = settled(&single(link, flows, 10.0));
        let window = 0.2 * gigabits as f64 * 1e9 / 12_000.0;
        assert_near(rest.flows[0].window, window, 1e-6, "the window");
        assert_near(rest.links[0].price, 2.0 / (window * window), 1e-5, "the price");
        assert_near(rest.links[0].queue, 0.1, 1e-9, "the queue");
    }
}

/// A law that gives up nothing for a mark asks for everything, whatever its link charges; Reno beside it does not.
#[test]
fn the_flow_that_nothing_holds_is_the_one_that_is_named() {
    let free = formulas(|_| 1.0, |_| 0.0);
    for place in 0..3 {
        let mut flows: Vec<_> = (0..3).map(|_| flow(law("reno", &[]), SECOND)).collect();
        flows[place] = FluidFlow { name: "free".into(), ..flow(free.clone(), SECOND) };
        let refused =
            equilibrium(&single(link(100.0, AVQ), flows, 10.0)).expect_err("free is not held");
        let FluidError::Unbounded { flow, .. } = &refused else { panic!("{refused}") };
        assert_eq!(flow, "free", "at place {place}");
    }
}
