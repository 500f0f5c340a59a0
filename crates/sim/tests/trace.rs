//! What traced senders do and hear, followed by hand.

use longfat_sim::Simulation;
use longfat_sim::trace::{Phase, Stream, TraceEvent, What};
use longfat_units::{Span, Time};

use crate::support::read;

/// Six packets of 1000 bytes at once, 1 ms each at 8 Mbit/s: one in service, two wait, three are dropped.
const BURST: &str = r#"
    duration = "210 ms"
    [link.narrow]
    rate   = "8 Mbit/s"
    delay  = "10 ms"
    buffer = "2 packets"
    [[flow]]
    name           = "burst"
    control        = "reno"
    path           = ["narrow"]
    rtt            = "100 ms"
    packet         = "1000 B"
    initial_window = 6
    "#;

fn trace(text: &str, detail: bool, chosen: impl Fn(Stream) -> bool) -> Vec<TraceEvent> {
    let mut simulation = Simulation::new(&read(text), false);
    simulation.trace(detail, chosen);
    let (mut events, mut more) = (Vec::new(), true);
    while more {
        more = simulation.advance(3);
        events.append(&mut simulation.take_trace(!more));
    }
    events
}

/// Picoseconds.
fn microseconds(event: &TraceEvent) -> u64 {
    event.time.0 / 1_000_000
}

/// The packets reach the link after 20 ms and leave it 1 ms apart; 10 ms of link and 20 ms later they arrive. Each
/// acknowledgment takes 20 ms, 40 B at 8 Mbit/s (0.04 ms), and 30 ms.
#[test]
fn a_burst_is_told_packet_by_packet() {
    let events = trace(BURST, false, |_| true);
    assert!(events.iter().all(|event| event.stream == Stream::Long(0, 0)));
    let mut told = events.iter();
    let first = told.next().expect("it begins");
    let What::Begins(begun) = first.what else { panic!("{first:?}") };
    assert_eq!((begun.packet.0, begun.selective, begun.numbered), (1000, true, false));
    for segment in 0..6 {
        let event = told.next().expect("six packets");
        let What::Sent(sent) = event.what else { panic!("{event:?}") };
        assert_eq!((event.time.0, sent.number.segment, sent.again), (0, segment, false));
    }
    // Each acknowledgment lets two leave, in slow start.
    for (number, below) in (1..=3).enumerate() {
        let event = told.next().expect("three acknowledgments");
        let What::Heard(heard) = &event.what else { panic!("{event:?}") };
        assert_eq!(microseconds(event), 101_040 + 1_000 * number as u64);
        assert_eq!((heard.below, heard.blocks, heard.echo), (below, [(0, 0); 3], false));
        for segment in [0, 1] {
            let event = told.next().expect("two packets");
            let What::Sent(sent) = event.what else { panic!("{event:?}") };
            assert_eq!(sent.number.segment, 6 + 2 * number as u64 + segment);
        }
    }
    // 6 arrives and is reported; at the third such report 3 is lost, and leaves again.
    let rest: Vec<_> = told.collect();
    let What::Heard(heard) = &rest[0].what else { panic!("{:?}", rest[0]) };
    assert_eq!((heard.below, heard.blocks[0]), (3, (6, 7)));
    let again = rest.iter().find_map(|event| match event.what {
        What::Sent(sent) if sent.again => Some(sent.number.segment),
        _ => None,
    });
    assert_eq!(again, Some(3));
}

/// The same in detail: packets are numbered as they leave, 0 to 5 and so on; arrivals and losses name them.
#[test]
fn in_detail_each_packet_is_followed() {
    let events = trace(BURST, true, |_| true);
    let arrived: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.what {
            What::Heard(heard) => Some(heard.packets.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(arrived[..4], [vec![(0, 0)], vec![(1, 1)], vec![(2, 2)], vec![(6, 6)]]);
    let lost: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.what {
            What::Lost(lost) => Some((lost.packet, lost.segment)),
            _ => None,
        })
        .collect();
    assert_eq!(lost[..3], [(3, 3), (4, 4), (5, 5)]);
    let phases: Vec<_> = events
        .iter()
        .filter_map(|event| match event.what {
            What::Phase(phase) => Some(phase),
            _ => None,
        })
        .collect();
    assert_eq!(phases[..2], [Phase::SlowStart, Phase::Recovery]);
    let in_flight = events.iter().find_map(|event| match event.what {
        What::Metrics(metrics) if metrics.in_flight > 0 => Some(metrics),
        _ => None,
    });
    let metrics = in_flight.expect("six leave");
    assert_eq!((metrics.in_flight, metrics.window.map(|window| window.0)), (6, Some(6.0)));
}

#[test]
fn only_the_chosen_flows_are_traced_until_it_stops() {
    let two = BURST.replace("initial_window = 6", "count = 2");
    let second = trace(&two, false, |stream| stream == Stream::Long(0, 1));
    assert!(!second.is_empty());
    assert!(second.iter().all(|event| event.stream == Stream::Long(0, 1)));
    let mut simulation = Simulation::new(&read(BURST), false);
    simulation.trace(true, |_| true);
    simulation.advance(10);
    simulation.stop_tracing();
    while simulation.advance(10) {}
    assert_eq!(simulation.take_trace(true), []);
}

/// A packet of 1000 bytes arrives after 51 ms, and its acknowledgment 50.04 ms later; the second flow begins at 300 ms, in the
/// place of the first.
#[test]
fn a_short_flow_ends_with_its_last_acknowledgment() {
    let burst = BURST.find("[[flow]]").expect("there is a flow");
    let text = BURST[..burst].replace("210 ms", "1 s")
        + "[[traffic]]\nname = \"short\"\ncontrol = \"reno\"\npath = [\"narrow\"]\nrtt = \"100 ms\"\n\
           packet = \"1000 B\"\nreplay = { tick = \"1 ms\", list = \"0 1000,300 1000\" }";
    let events = trace(&text, false, |_| true);
    let told: Vec<(u64, u64, &str)> = events
        .iter()
        .map(|event| {
            let Stream::Short(0, index) = event.stream else { panic!("{event:?}") };
            let what = match event.what {
                What::Begins(_) => "begins",
                What::Sent(_) => "sends",
                What::Heard(_) => "hears",
                What::Ends => "ends",
                _ => panic!("{event:?}"),
            };
            (index, microseconds(event), what)
        })
        .collect();
    let of = |index: u64, start: u64| {
        [(0, "begins"), (0, "sends"), (101_040, "hears"), (101_040, "ends")]
            .map(|(after, what)| (index, start + after, what))
    };
    assert_eq!(told, [of(0, 0), of(1, 300_000)].concat());
}

/// Nothing that happens at the present or later is told before the run is over, though some of it is known.
#[test]
fn the_future_is_not_told() {
    let mut simulation = Simulation::new(&read(BURST), false);
    simulation.trace(false, |_| true);
    let mut more = true;
    while more {
        more = simulation.advance(1);
        let now = simulation.now();
        assert!(simulation.take_trace(false).iter().all(|event| event.time < now));
    }
    assert!(!simulation.take_trace(true).is_empty());
}

/// BBR goes by what is delivered. Duplicates do not tell all of that, so the acknowledgment that ends a repair may cover what
/// arrived long before; with a trace, every acknowledgment takes the long way. Delayed acknowledgments hide one duplicate in two.
#[test]
fn a_trace_changes_nothing_where_duplicates_do_not_tell_all() {
    for recovery in ["reno", "newreno"] {
        let text = format!(
            r#"
            duration = "8 s"
            [link.l]
            rate   = "50 Mbit/s"
            delay  = "1 ms"
            buffer = "0.5 bdp"
            [[flow]]
            name        = "f"
            control     = "bbr1"
            path        = ["l"]
            rtt         = "80 ms"
            recovery    = "{recovery}"
            delayed_ack = true
            "#
        );
        let sent = |traced: bool| {
            let mut simulation = Simulation::new(&read(&text), false);
            if traced {
                simulation.trace(true, |_| true);
            }
            while simulation.advance(1_000_000) {
                simulation.take_trace(false);
            }
            let flow = &simulation.finish().summary.flows[0];
            assert!(flow.retransmit_rate > 0.0, "{flow:?}");
            (flow.data_sent, flow.goodput_bit_s.to_bits(), flow.window_mean.to_bits())
        };
        assert_eq!(sent(true), sent(false), "{recovery}");
    }
}

/// Two clients: the first two flows carry their responses, the next two their requests.
#[test]
fn requests_of_each_client_are_a_stream_of_their_own() {
    let text = BURST.replace("duration = \"210 ms\"", "duration = \"1 s\"")
        + "count = 2\napplication = { kind = \"request-response\", response = \"3 packets\" }";
    let streams = |chosen: fn(Stream) -> bool| {
        let mut streams: Vec<Stream> =
            trace(&text, false, chosen).iter().map(|event| event.stream).collect();
        streams.sort();
        streams.dedup();
        streams
    };
    let all =
        [Stream::Long(0, 0), Stream::Long(0, 1), Stream::Requests(0, 0), Stream::Requests(0, 1)];
    assert_eq!(streams(|_| true), all);
    assert_eq!(streams(|stream| stream == Stream::Requests(0, 1)), all[3..]);
}

#[test]
fn what_is_no_longer_traced_is_forgotten() {
    let text = BURST.to_owned()
        + "[[traffic]]\nname = \"short\"\ncontrol = \"reno\"\npath = [\"narrow\"]\nrtt = \"100 ms\"\n\
           replay = { tick = \"1 ms\", list = \"0 100,200 100\" }";
    let mut simulation = Simulation::new(&read(&text), false);
    simulation.trace(false, |stream| matches!(stream, Stream::Short(..)));
    simulation.advance_to(Time::ZERO + Span::from_millis(190));
    simulation.stop_tracing();
    while simulation.advance(100) {}
    assert!(simulation.take_trace(true).is_empty());
    let short = trace(&text, false, |stream| matches!(stream, Stream::Short(..)));
    assert!(
        !short.is_empty() && short.iter().all(|event| matches!(event.stream, Stream::Short(..)))
    );
    assert!(trace(&text, false, |_| false).is_empty());
}
