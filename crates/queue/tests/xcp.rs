//! What XCP's router promises, with numbers worked out by hand.

use crate::support;
use longfat_queue::discipline::xcp::discipline;
use longfat_queue::{Arrival, Backlog, Capacity, Policy, Site};
use longfat_units::{Bytes, Rate, RouterHeader, Segments, Span, Time};

use crate::support::{chance, changed, close, observed, policy};

/// C = 10⁶ B/s, packets of 1000 bytes.
const SITE: Site = Site {
    rate: Rate(8_000_000),
    packet: Bytes(1000),
    capacity: Capacity::Packets(1000),
    round_trip: None,
};

fn xcp_at(site: &Site) -> Box<dyn Policy> {
    policy(&discipline(), &changed(&discipline(), "packets", &[]), site)
}

fn xcp() -> Box<dyn Policy> {
    xcp_at(&SITE)
}

/// What a packet of 1000 bytes of a flow with this window and round trip is told, if it asks for `asked`.
fn tell(
    policy: &mut dyn Policy,
    micros: u64,
    waiting: u64,
    (window, millis): (f64, Option<u64>),
    asked: f64,
) -> f64 {
    tell_flow(policy, micros, waiting, (window, millis.map(Span::from_millis)), asked)
}

fn tell_flow(
    policy: &mut dyn Policy,
    micros: u64,
    waiting: u64,
    (window, rtt): (f64, Option<Span>),
    asked: f64,
) -> f64 {
    let arrival = Arrival {
        now: Time::ZERO + Span(micros * 1_000_000),
        backlog: Backlog { packets: waiting, bytes: Bytes(1000 * waiting) },
        ..support::behind(0)
    };
    policy.on_arrival(&arrival, &mut chance(1));
    let mut header =
        RouterHeader { window: Segments(window), rtt, feedback: asked, ..RouterHeader::default() };
    policy.on_header(arrival.bytes, &mut header);
    header.feedback
}

const GREEDY: f64 = 1e9;

/// So many packets, a millisecond apart, of flows with windows of ten and round trips of 100 ms.
fn every_millisecond(policy: &mut dyn Policy, packets: u64) {
    for packet in 0..packets {
        tell(policy, 1000 * packet, 0, (10.0, Some(100)), GREEDY);
    }
}

/// In the first 10 ms five packets arrive, which stand for 10 ms of their flows each: y = 5·10⁵ B/s, Σ x = 0.05 s. No
/// queue: F = 0.4 (10⁶ - 5·10⁵) = 2·10⁵ B/s, and h = max(0, 0.1 y - F) = 0. A flow of 100 ms turns 2·10⁵ B/s into 20
/// segments: four for each of five packets like these.
#[test]
fn spare_capacity_is_divided_among_the_packets() {
    let mut xcp = xcp();
    let flow = (10.0, Some(100));
    for packet in 0..5 {
        assert!(tell(&mut *xcp, 1000 * packet, 0, flow, GREEDY).abs() < 1e-9, "nothing is decided");
    }
    close(tell(&mut *xcp, 10_001, 0, flow, GREEDY), 4.0);
    // One that asks for less leaves the rest, and one of another flow with x = 0.02 s gets twice as much rate: at 50 ms
    // and 2.5 segments, 8·10⁴ B/s are four segments.
    close(tell(&mut *xcp, 10_002, 0, flow, 1.0), 1.0);
    close(tell(&mut *xcp, 10_003, 0, (2.5, Some(50)), GREEDY), 4.0);
    // 2·10⁵ - 4·10⁴ - 10⁴ - 8·10⁴ are left: 7 segments for 100 ms, then nothing. A packet that knows no
    // round trip yet gets nothing.
    close(tell(&mut *xcp, 10_004, 0, (10.0, None), GREEDY), 0.0);
    close(tell(&mut *xcp, 10_005, 0, flow, GREEDY), 4.0);
    close(tell(&mut *xcp, 10_006, 0, flow, GREEDY), 3.0);
    assert!(tell(&mut *xcp, 10_007, 0, flow, GREEDY).abs() < 1e-9);
    close(observed(&*xcp)["round_trip"], 0.1);
}

/// Twenty packets in 10 ms, each behind 50 or more: y = 2·10⁶ B/s, Q = 50 000 B, d = 100 ms.
/// F = 0.4 (10⁶ - 2·10⁶) - 0.226 · 50 000/0.1 = -513 000 B/s; h = 0. A packet of 1000 of the 20 000 bytes loses 25 650
/// B/s: 2.565 segments at 100 ms, 5.13 at 200 ms, whatever the window.
#[test]
fn what_is_too_much_is_taken_from_every_byte() {
    let mut xcp = xcp();
    for packet in 0..20 {
        tell(&mut *xcp, 500 * packet, 50 + packet, (10.0, Some(100)), GREEDY);
    }
    close(tell(&mut *xcp, 10_001, 60, (10.0, Some(100)), GREEDY), -2.565);
    close(tell(&mut *xcp, 10_002, 60, (900.0, Some(200)), GREEDY), -5.13);
    close(tell(&mut *xcp, 10_003, 60, (10.0, Some(100)), -3.0), -3.0);
    let state = observed(&*xcp);
    close(state["change"], -513_000.0 * 8.0);
    close(state["persistent_queue"], 50_000.0);
}

/// y = C and no queue: F = 0, h = 0.1 y = 10⁵ B/s is taken from every byte alike and given to every flow alike. Of the
/// ten packets nine belong to a flow of 90 segments and one to a flow of 10, both of 100 ms: the first has 9·10⁵ B/s,
/// loses 9·10⁴ and gets half of 10⁵. Its packets lose 10⁴ B/s and get 5.56·10³ each; that of the other gets 5·10⁴.
#[test]
fn shuffling_moves_rates_together() {
    let mut xcp = xcp();
    // A window of 90 and one of 10 send nine packets and one in a tenth of a round trip.
    for packet in 0..9 {
        tell(&mut *xcp, 1000 * packet, 0, (90.0, Some(100)), GREEDY);
    }
    tell(&mut *xcp, 9500, 0, (10.0, Some(100)), GREEDY);
    let large = tell(&mut *xcp, 10_001, 0, (90.0, Some(100)), GREEDY);
    let small = tell(&mut *xcp, 10_002, 0, (10.0, Some(100)), GREEDY);
    close(large, (5e4 / 9.0 - 1e4) / 1e4);
    close(small, (5e4 - 1e4) / 1e4);
}

/// Looking more often changes nothing, however long nothing arrives.
#[test]
fn a_long_silence_is_passed_over() {
    let mut states = Vec::new();
    for steps in [1, 7, 100_000] {
        let mut xcp = xcp();
        for packet in 0..20 {
            tell(&mut *xcp, 500 * packet, 50, (10.0, Some(3)), GREEDY);
        }
        // Packets without a header and without bytes: nothing but the clock.
        for step in 1..=steps {
            let now = Time::ZERO + Span(3_600_000_000_000_000 / steps * step);
            let backlog = Backlog { packets: 0, bytes: Bytes(0) };
            let tick = Arrival { now, bytes: Bytes(0), backlog, ..support::behind(0) };
            xcp.on_overflow(&tick);
        }
        states.push(observed(&*xcp));
    }
    assert!(states.iter().all(|state| *state == states[0]), "{states:?}");
    close(states[0]["change"], 0.4 * 8e6);
}

/// In the first 10 ms five packets arrive: y = 5·10⁵ B/s. At 5 ms the router learns that C is 2·10⁶ B/s, so that
/// F = 0.4 (2·10⁶ - 5·10⁵) = 6·10⁵ B/s: 60 segments for a flow of 100 ms, twelve for each of five packets. At 60 ms C
/// becomes 2.5·10⁵ B/s, which counts from the end of this interval on, at 110 ms. Until then 51 packets have come, y =
/// 5.1·10⁵ B/s: F = 0.4 (2.5·10⁵ - 5.1·10⁵) = -1.04·10⁵ B/s, a 51 000th of it for each byte: 2039
/// B/s and 0.2039 segments for a packet.
#[test]
fn a_decision_goes_by_the_rate_of_its_instant() {
    let mut xcp = xcp();
    let flow = (10.0, Some(100));
    every_millisecond(&mut *xcp, 5);
    xcp.on_rate(Time::ZERO + Span::from_millis(5), Rate(16_000_000));
    close(tell(&mut *xcp, 10_001, 0, flow, GREEDY), 12.0);
    xcp.on_rate(Time::ZERO + Span::from_millis(60), Rate(2_000_000));
    for packet in 0..4 {
        close(tell(&mut *xcp, 60_000 + packet, 0, flow, GREEDY), 12.0);
    }
    for packet in 0..46 {
        assert!(tell(&mut *xcp, 61_000 + packet, 0, flow, GREEDY).abs() < 1e-9, "all is given");
    }
    close(tell(&mut *xcp, 110_001, 0, flow, GREEDY), -1.04e5 / 51.0 / 1e4);
    close(observed(&*xcp)["change"], -1.04e5 * 8.0);
}

/// One that comes after the end of an interval is too late for it, however late the router is told: F = 2·10⁵ B/s, as
/// in the first test.
#[test]
fn a_rate_does_not_reach_back_behind_the_end_of_an_interval() {
    let mut xcp = xcp();
    every_millisecond(&mut *xcp, 5);
    xcp.on_rate(Time::ZERO + Span(10_000_000_001), Rate(16_000_000));
    close(tell(&mut *xcp, 10_001, 0, (10.0, Some(100)), GREEDY), 4.0);
}

/// The 513 000 B/s of the packets above are taken once: from the first 20 000 bytes, and from none after that.
#[test]
fn what_has_been_taken_is_not_taken_again() {
    let mut xcp = xcp();
    for packet in 0..20 {
        tell(&mut *xcp, 500 * packet, 50 + packet, (10.0, Some(100)), GREEDY);
    }
    for packet in 1..=20 {
        close(tell(&mut *xcp, 10_000 + packet, 60, (10.0, Some(100)), GREEDY), -2.565);
    }
    assert!(tell(&mut *xcp, 10_021, 60, (10.0, Some(100)), GREEDY).abs() < 1e-9);
}

/// Where no packet of an interval knows its round trip, there is nobody to divide the spare capacity among.
#[test]
fn nothing_is_given_to_nobody() {
    let mut xcp = xcp();
    (0..5).for_each(|packet| {
        tell(&mut *xcp, 1000 * packet, 0, (10.0, None), GREEDY);
    });
    assert!(tell(&mut *xcp, 10_001, 0, (10.0, Some(100)), GREEDY).abs() < 1e-9);
}

/// The queue is read once per round trip without it: at 10 and 20 ms, since nothing is known at first, and then, with a round
/// trip of 100 ms of which 60 packets at 10⁶ B/s make 60, at 60 ms. What is read is the least since the last time.
#[test]
fn the_queue_is_read_once_per_propagation_delay() {
    let mut xcp = xcp();
    let flow = (10.0, Some(100));
    let mut after = |micros, waiting| {
        tell(&mut *xcp, micros, waiting, flow, 0.0);
        observed(&*xcp)["persistent_queue"]
    };
    (0..9).for_each(|packet| {
        after(1000 * packet, 70);
    });
    close(after(12_000, 55), 70_000.0);
    close(after(15_000, 60), 70_000.0);
    close(after(25_000, 50), 55_000.0);
    close(after(59_000, 80), 55_000.0);
    close(after(62_000, 20), 50_000.0);
}

/// At 8 Gbit/s a packet takes a microsecond, and an interval may be as short as a round trip of 50 µs. In the second one,
/// from 10 ms on, 25 packets arrive: y = 25 000 B/50 µs = 5·10⁸ B/s and F = 0.4 (10⁹ - 5·10⁸) B/s.
#[test]
fn a_fast_link_decides_every_short_round_trip() {
    let mut xcp = xcp_at(&Site { rate: Rate(8_000_000_000), ..SITE });
    let flow = (10.0, Some(Span(50_000_000)));
    for packet in 0..5 {
        tell_flow(&mut *xcp, 1000 * packet, 0, flow, 0.0);
    }
    for packet in 0..25 {
        tell_flow(&mut *xcp, 10_000 + 2 * packet, 0, flow, 0.0);
    }
    tell_flow(&mut *xcp, 10_050, 0, flow, 0.0);
    close(observed(&*xcp)["change"] / 8.0, 2e8);
}

/// A packet at the very end of an interval belongs to the next one: it is told what the five before it make, as in the
/// first test, and is the only one of the 100 ms that follow: y = 10⁴ B/s, F = 0.4 (10⁶ - 10⁴) B/s.
#[test]
fn what_comes_at_the_end_of_an_interval_is_of_the_next() {
    let mut xcp = xcp();
    let flow = (10.0, Some(100));
    every_millisecond(&mut *xcp, 5);
    close(tell(&mut *xcp, 10_000, 0, flow, GREEDY), 4.0);
    tell(&mut *xcp, 110_000, 0, flow, GREEDY);
    close(observed(&*xcp)["change"] / 8.0, 396_000.0);
}

/// draft-falk-xcp-spec-03, section 4: what a packet is allowed less than its share is taken from it in addition. With y =
/// C and ten packets alike, 10⁵ B/s change hands, 10⁴ to and from each. One asks to give up half a segment, 5000 B/s: it
/// gets 10⁴ and gives 15 000. Eight others get as much as they give, and for the tenth 10⁴ are left to get and 5000 to
/// give.
#[test]
fn what_one_gives_up_another_gets() {
    let mut xcp = xcp();
    let flow = (10.0, Some(100));
    every_millisecond(&mut *xcp, 10);
    close(tell(&mut *xcp, 10_001, 0, flow, -0.5), -0.5);
    for packet in 2..10 {
        assert!(tell(&mut *xcp, 10_000 + packet, 0, flow, GREEDY).abs() < 1e-9, "{packet}");
    }
    close(tell(&mut *xcp, 10_010, 0, flow, GREEDY), 0.5);
    assert!(tell(&mut *xcp, 10_011, 0, flow, GREEDY).abs() < 1e-9, "all is given and taken");
}

/// 513 000 B/s are too much, as above. One packet asks to give up a hundred segments, 10⁶ B/s: nothing is left to take,
/// and there has been nothing to give.
#[test]
fn one_that_gives_up_more_than_all_leaves_nothing() {
    let mut xcp = xcp();
    for packet in 0..20 {
        tell(&mut *xcp, 500 * packet, 50 + packet, (10.0, Some(100)), GREEDY);
    }
    close(tell(&mut *xcp, 10_001, 60, (10.0, Some(100)), -100.0), -100.0);
    assert!(tell(&mut *xcp, 10_002, 60, (10.0, Some(100)), GREEDY).abs() < 1e-9);
}
