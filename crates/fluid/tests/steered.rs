//! Windows that are set from outside, and what their acknowledgments report.

use crate::support::{assert_near, flow, formulas, link, single};
use longfat_fluid::{
    FluidLink, FluidNetwork, Integration, Load, Price, Reading, RedPrice, Report, Solve,
};
use longfat_units::{Segments, Span};

const SECOND: Span = Span::from_seconds(1);

/// 100 segments in a round trip of 1 s, which nothing changes but who steers.
fn steady(link: FluidLink) -> FluidNetwork {
    let mut flow = flow(formulas(|_| 0.0, |_| 0.5), SECOND);
    flow.initial_window = Segments(100.0);
    single(link, vec![flow], 100.0)
}

fn begun(network: &FluidNetwork) -> Integration<'_> {
    let how = Solve { reading: Reading::Hybrid, delay: 1.0, sample: SECOND };
    let mut integration = Integration::new(network, &how).expect("no load but the flow");
    integration.steer(0);
    integration
}

/// What is reported from one instant to another.
fn between(integration: &mut Integration<'_>, from: f64, to: f64) -> Report {
    integration.advance_to(from).expect("it can be solved");
    integration.take_report(0);
    integration.advance_to(to).expect("it can be solved");
    integration.take_report(0)
}

/// A quarter is corrupted: of the 900 that are heard of within 10 s, the first of them after a round trip, 675 arrive. A loss
/// changes nothing. Half of the window is heard of a round trip after it was set.
#[test]
fn a_steered_window_changes_only_where_it_is_set() {
    let mut link = link(1e6, Price::Loss);
    link.loss = 0.25;
    let network = steady(link);
    let mut integration = begun(&network);
    assert!(integration.advance_to(10.0).expect("it can be solved"), "there is more");
    assert_eq!(integration.progress(), 0.1, "no step goes beyond it");
    let report = integration.take_report(0);
    assert_near(report.delivered, 675.0, 1e-6, "delivered");
    assert_near(report.lost, 225.0, 1e-6, "lost");
    assert_near(report.time, 10.0, 1e-9, "the time");
    assert_eq!((report.marked, report.waited), (0.0, 0.0));
    assert_eq!(integration.take_report(0), Report::default(), "each is told once");
    assert_eq!(integration.take_report(1), Report::default(), "nobody steers that");
    integration.set_window(0, 50.0);
    integration.advance_to(12.0).expect("it can be solved");
    assert_near(integration.take_report(0).delivered, 75.0 + 37.5, 1e-3, "delivered");
    assert!(!integration.advance_to(100.0).expect("it can be solved"), "the end");
    let windows = integration.finish().flows[0].window.clone();
    assert_eq!((windows[9], windows[11], windows[100]), (100.0, 50.0, 50.0));
}

/// A link of 50 per second delivers no more than that: 100 segments fill it and wait 1 s. A tenth of what is sent is
/// corrupted, of the rest as much is lost as a full buffer has no room for.
#[test]
fn a_link_delivers_no_more_than_it_can() {
    let network = steady(FluidLink { buffer: None, ..link(50.0, Price::Overflow) });
    let mut integration = begun(&network);
    // From 2 s on what was sent at 100 and less per second is heard of.
    let early = between(&mut integration, 3.0, 4.0);
    assert_near(early.delivered, 50.0, 0.01, "while the queue grows");
    let late = between(&mut integration, 40.0, 50.0);
    assert_near(late.delivered, 500.0, 1e-4, "delivered");
    assert_near(late.waited, 1.0, 1e-4, "waited");
    assert_eq!(late.lost, 0.0);

    let network = steady(FluidLink {
        buffer: Some(Span::from_millis(250)),
        loss: 0.1,
        ..link(40.0, Price::Overflow)
    });
    let mut integration = begun(&network);
    let late = between(&mut integration, 40.0, 50.0);
    // 100/1.25 = 80 per second: half of them find no room.
    assert_near(late.delivered, 0.9 * 400.0, 1e-4, "delivered");
    assert_near(late.lost, 0.6 * 800.0, 1e-4, "lost");
    assert_near(late.waited, 0.25, 1e-4, "waited");
}

/// A link of 1000 per second, of which it uses a tenth, delivers what is sent.
#[test]
fn a_link_with_room_delivers_what_is_sent() {
    let network = steady(FluidLink { buffer: None, ..link(1000.0, Price::Overflow) });
    let late = between(&mut begun(&network), 40.0, 50.0);
    assert_near(late.delivered, 1000.0, 1e-6, "delivered");
    assert_eq!(late.waited, 0.0);
}

/// All that arrives is marked where ten times too much is sent, and only what arrives.
#[test]
fn marks_come_with_what_is_delivered() {
    let price = Price::Avq { utilisation: 1.0, adaptation: 5.0, marks: true };
    let network = steady(FluidLink { loss: 0.25, ..link(10.0, price) });
    let late = between(&mut begun(&network), 40.0, 50.0);
    assert_near(late.delivered, 750.0, 1e-6, "delivered");
    assert_near(late.marked, 750.0, 1e-6, "marked");
    assert_near(late.lost, 250.0, 1e-6, "lost");
}

/// What a queue drops is lost and not delivered, and so is what it would mark of a flow without ECN. Of 100 per second a
/// virtual queue on a link of 50 drops half: what it adapts by is nothing. On a link of 100 with RED 200 segments wait 1 s,
/// where RED drops a fifth: a third of the way from 0.5 s to 2 s, and from nothing to 0.6.
#[test]
fn what_is_dropped_is_not_delivered() {
    for (marks, ecn) in [(false, true), (true, false), (true, true)] {
        let avq = Price::Avq { utilisation: 1.0, adaptation: 0.0, marks };
        let (min, max, max_p) = (0.5, 2.0, 0.6);
        let red = Price::Red(RedPrice { min, max, max_p, gentle: true, averaging: 1.0, marks });
        for (rate, price, window, sent, part) in
            [(50.0, avq, 100.0, 1000.0, 0.5), (100.0, red, 200.0, 1000.0, 0.2)]
        {
            let mut network = steady(FluidLink { buffer: None, ..link(rate, price) });
            network.flows[0].initial_window = Segments(window);
            network.flows[0].ecn = ecn;
            let late = between(&mut begun(&network), 60.0, 70.0);
            if marks && ecn {
                assert_near(late.delivered, sent, 1e-3, "delivered");
                assert_near(late.marked, part * sent, 1e-3, "marked");
                assert_eq!(late.lost, 0.0);
            } else {
                assert_near(late.delivered, (1.0 - part) * sent, 1e-3, "delivered");
                assert_near(late.lost, part * sent, 1e-3, "lost");
                assert_eq!(late.marked, 0.0);
            }
        }
    }
}

/// Probabilities add up along a path, to no more than one: of what two links in a row drop three quarters of is lost, all.
#[test]
fn no_more_is_lost_than_was_sent() {
    let price = Price::Avq { utilisation: 1.0, adaptation: 0.0, marks: false };
    let mut network = steady(link(25.0, price));
    network.links.push(link(25.0, price));
    network.flows[0].route = vec![0, 1];
    let late = between(&mut begun(&network), 40.0, 50.0);
    assert_near(late.lost, 1000.0, 1e-6, "lost");
    assert_near(late.delivered, 62.5, 1e-6, "a sixteenth");
}

/// Before it starts a flow has no window to set, and its time does not count.
#[test]
fn a_flow_that_is_not_there_is_not_steered() {
    let mut network = steady(link(1e6, Price::Loss));
    network.flows[0].start = Span::from_seconds(5);
    let mut integration = begun(&network);
    integration.advance_to(2.0).expect("it can be solved");
    integration.set_window(0, 70.0);
    integration.advance_to(10.0).expect("it can be solved");
    let report = integration.take_report(0);
    assert_near(report.time, 5.0, 1e-9, "the time");
    assert_near(report.delivered, 400.0, 1e-6, "delivered");
    let path = integration.finish();
    assert_eq!((path.flows[0].window[4], path.links[0].load[4]), (0.0, 0.0));
}

/// Short flows that come to a link a quarter of a round trip behind the first leave the flow 1000/1090 of what it sends: q =
/// 0.09 (t - 10), and what is heard of at t was there at t - 1 - q + 0.25. From 10.824 s on that is after they came.
#[test]
fn what_is_delivered_was_served_when_it_passed() {
    let mut network = steady(link(1e6, Price::Loss));
    network.links[0].delay = Span::from_millis(250);
    network.links.push(FluidLink { buffer: None, ..link(1000.0, Price::Overflow) });
    network.flows[0].route = vec![0, 1];
    let (rate, start) = (990.0 * 12_000.0, Span::from_seconds(10));
    network.loads.push(Load { route: vec![1], rate, start, stop: None });
    let mut integration = begun(&network);
    assert_near(between(&mut integration, 10.7, 10.8).delivered, 10.0, 1e-4, "before");
    assert_near(between(&mut integration, 10.9, 11.0).delivered, 10.0 / 1.09, 1e-3, "after");
}
