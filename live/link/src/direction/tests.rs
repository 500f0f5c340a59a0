use longfat_units::PICOSECONDS_PER_SECOND;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::packet::sample;
use crate::settings::Settings;

const MICROSECOND: u64 = PICOSECONDS_PER_SECOND / 1_000_000;

/// The forward direction of a link with these lines in its scenario.
fn direction(link: &str) -> Direction {
    let text = format!(
        r#"
        duration = "100 s"
        [link.some]
        {link}
        [[flow]]
        name = "flow"
        control = "reno"
        path = ["some"]
        rtt = "1 s"
        "#
    );
    let [forward, _] = Settings::read(&text, "test").expect("the scenario is right").directions();
    forward
}

/// What arrives until `end`: microseconds, packet, first segment, number of segments, marked.
fn arrivals(direction: &mut Direction, end: Time) -> Vec<(u64, u32, u32, u32, bool)> {
    direction.advance(end);
    let mut all = Vec::new();
    while let Some(Flight { frame, run, due, .. }) = direction.arrived(end) {
        all.push((due.0 / MICROSECOND, frame, run.first, run.count, run.marked));
        direction.handed_on(true);
    }
    all
}

const END: Time = Time(90 * PICOSECONDS_PER_SECOND);

#[test]
fn packets_take_their_time_one_after_another() {
    // 1500 B at 12 Mbit/s take 1 ms.
    let mut direction = direction("rate = \"12 Mbit/s\"\ndelay = \"10 ms\"");
    direction.arrive(Time(5 * MICROSECOND), &sample::single(1500, Ecn::NotEct));
    direction.arrive(Time(6 * MICROSECOND), &sample::single(750, Ecn::NotEct));
    assert_eq!(direction.next(), Some(Time(11_005 * MICROSECOND)));
    assert_eq!(direction.arrived(Time(11_004 * MICROSECOND)), None);
    let expected = [(11_005, 0, 0, 1, false), (11_505, 1, 0, 1, false)];
    assert_eq!(arrivals(&mut direction, END), expected);
    assert_eq!((direction.next(), direction.packets()), (None, 0));
}

#[test]
fn what_does_not_fit_is_dropped() {
    let link = "rate = \"12 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"2 packets\"";
    let mut direction = direction(link);
    for _ in 0..5 {
        direction.arrive(Time::ZERO, &sample::single(1500, Ecn::NotEct));
    }
    // One is being sent, two wait.
    assert_eq!(arrivals(&mut direction, END).len(), 3);
    let Counts { arrived, dropped, delivered, delivered_bytes, .. } = *direction.counts();
    assert_eq!((arrived, dropped, delivered, delivered_bytes), (5, 2, 3, 4500));
}

#[test]
fn segments_that_follow_closely_arrive_together() {
    // 1500 B take 20 µs at 600 Mbit/s, so six of them arrive within 100 µs of one another.
    let mut direction = direction("rate = \"600 Mbit/s\"\ndelay = \"20 ms\"");
    direction.arrive(Time::ZERO, &sample::several(8 * 1460, 1460, Ecn::NotEct));
    let expected = [(20_120, 0, 0, 6, false), (20_160, 0, 6, 2, false)];
    assert_eq!(arrivals(&mut direction, END), expected);
}

#[test]
fn each_segment_is_marked_by_itself() {
    // Step marking: whatever finds more than two waiting.
    let link = "rate = \"600 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"50 packets\"\n\
                queue = { kind = \"step\", threshold = \"2 packets\" }";
    let mut direction = direction(link);
    direction.arrive(Time::ZERO, &sample::several(6 * 1460, 1460, Ecn::Ect0));
    // The first is being sent, the second to the fourth find at most two waiting.
    let expected = [(20_080, 0, 0, 4, false), (20_120, 0, 4, 2, true)];
    assert_eq!(arrivals(&mut direction, END), expected);
    assert_eq!(direction.counts().marked, 2);
}

#[test]
fn losses_are_as_many_as_they_should_be() {
    let mut direction =
        direction("rate = \"10 Gbit/s\"\ndelay = \"0 s\"\nloss = 0.1\nbuffer = \"1 packet\"");
    for packet in 1..=40_000 {
        let now = Time(packet * 10 * MICROSECOND);
        direction.arrive(now, &sample::single(100, Ecn::NotEct));
        arrivals(&mut direction, now);
    }
    arrivals(&mut direction, END);
    let Counts { lost, delivered, .. } = *direction.counts();
    assert_eq!(lost + delivered, 40_000);
    // 4000 expected, with a standard deviation of 60: five of them.
    assert!(lost.abs_diff(4000) < 300, "{lost}");
    assert_eq!(direction.packets(), 0);
}

#[test]
fn the_link_changes_as_its_scenario_says() {
    let link = "rate = \"12 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"9 packets\"\nchange = [\n\
                { at = \"1 s\", rate = \"6 Mbit/s\", delay = \"5 ms\" },\n\
                { at = \"2 s\", rate = \"0 bit/s\" }, { at = \"3 s\", rate = \"12 Mbit/s\" }]";
    let mut direction = direction(link);
    for milliseconds in [0, 1500, 2500] {
        let now = Time(milliseconds * 1000 * MICROSECOND);
        direction.arrive(now, &sample::single(1500, Ecn::NotEct));
    }
    let times: Vec<u64> = arrivals(&mut direction, END).iter().map(|arrival| arrival.0).collect();
    assert_eq!(times, [11_000, 1_507_000, 3_006_000]);
}

#[test]
fn what_is_no_packet_goes_no_further() {
    let mut direction = direction("rate = \"12 Mbit/s\"\ndelay = \"10 ms\"");
    direction.arrive(Time::ZERO, &[]);
    direction.arrive(Time::ZERO, &[0; 60]);
    assert_eq!((direction.counts().malformed, direction.next()), (2, None));
}

/// The names of all queues.
fn queues() -> Vec<String> {
    longfat_queue::DISCIPLINES.iter().map(|queue| queue.name.clone().into()).collect()
}

proptest! {
    /// How often and how late somebody looks changes nothing: all happens at its own time.
    #[test]
    fn late_looks_change_nothing(
        queue in prop::sample::select(queues()),
        packets in vec((0_u64..3000, 1_u32..40, any::<bool>()), 1..60),
        looks in vec(0_u64..2000, 0..8),
    ) {
        let link = format!(
            "rate = \"50 Mbit/s\"\ndelay = \"2 ms\"\nbdp = \"8 ms\"\nbuffer = \"100 packets\"\nloss = 0.05\nqueue = \"{queue}\"\n\
             change = [{{ at = \"9 ms\", every = \"20 ms\", rate = \"9 Mbit/s\" }},\n\
             {{ at = \"15 ms\", every = \"40 ms\", rate = \"0 bit/s\" }},\n\
             {{ at = \"19 ms\", every = \"20 ms\", over = \"2 ms\", rate = \"60 Mbit/s\" }}]"
        );
        let (mut lazy, mut busy) = (direction(&link), direction(&link));
        let mut now = Time::ZERO;
        for (pause, segments, capable) in packets {
            for look in &looks {
                let at = now + Span(look.min(&pause) * MICROSECOND);
                busy.advance(at.max(now));
                now = now.max(at);
            }
            now += Span(pause * MICROSECOND);
            let ecn = if capable { Ecn::Ect0 } else { Ecn::NotEct };
            let frame = sample::several(segments as usize * 1000, 1000, ecn);
            lazy.arrive(now, &frame);
            busy.arrive(now, &frame);
        }
        let (one, other) = (arrivals(&mut lazy, END), arrivals(&mut busy, END));
        prop_assert_eq!(one, other);
        prop_assert_eq!(lazy.counts(), busy.counts());
        // Each segment has left in one way or another, and nothing stays behind.
        let Counts { arrived, dropped, lost, delivered, .. } = *lazy.counts();
        prop_assert_eq!(arrived, dropped + lost + delivered);
        prop_assert_eq!((lazy.packets(), lazy.next()), (0, None));
    }
}

/// A super-segment of TCP like that of the samples, with another DSCP.
fn with_dscp(mut frame: Vec<u8>, dscp: u8) -> Vec<u8> {
    frame[crate::packet::OFFLOAD + 1] |= dscp << 2;
    frame
}

/// Which segments of what arrives at the far end have the bit of AntiECN.
fn bits(direction: &mut Direction) -> Vec<(u32, u32, bool)> {
    direction.advance(END);
    let mut all = Vec::new();
    while let Some(Flight { run, .. }) = direction.arrived(END) {
        all.push((run.first, run.count, run.spare));
        direction.handed_on(true);
    }
    all
}

#[test]
fn the_bit_of_anti_ecn_is_cut_out_of_super_segments() {
    // The virtual queue of half the rate is drained of 1500 B in 40 µs.
    let link = "rate = \"600 Mbit/s\"\ndelay = \"20 ms\"\nanti_ecn = true";
    let mut direction = direction(link);
    let three = with_dscp(sample::several(3 * 1460, 1460, Ecn::NotEct), 7);
    direction.arrive(Time::ZERO, &three);
    direction.arrive(Time(119 * MICROSECOND), &three);
    direction.arrive(Time(400 * MICROSECOND), &three);
    // The first finds it empty, the two behind it do not; after 119 µs there is still something left of them.
    let expected = [(0, 1, true), (1, 2, false), (0, 3, false), (0, 1, true), (1, 2, false)];
    assert_eq!(bits(&mut direction), expected);
    assert_eq!((direction.counts().asked, direction.counts().spare), (9, 2));
}

/// Data of 1500 B every 3 ms, 4 Mbit/s: less than half of 12 Mbit/s, which the link has in the first second, and more than
/// half of 6 Mbit/s, of which the first packet still finds the virtual queue empty.
#[test]
fn the_marker_goes_by_the_rate_that_the_link_has() {
    let link = "rate = \"12 Mbit/s\"\ndelay = \"10 ms\"\nanti_ecn = { threshold = 0.5 }\n\
                change = [{ at = \"1 s\", rate = \"6 Mbit/s\" }]";
    let mut direction = direction(link);
    let takes_part = with_dscp(sample::several(1460, 1460, Ecn::NotEct), 7);
    for (begin, room) in [(0, 100), (1500, 101)] {
        for packet in 0..100 {
            let now = Time((begin + 3 * packet) * 1000 * MICROSECOND);
            direction.arrive(now, &takes_part);
        }
        assert_eq!(direction.counts().spare, room);
    }
    assert_eq!(direction.counts().asked, 200);
}

#[test]
fn a_bit_that_is_clear_stays_clear_unless_it_is_overwritten() {
    for (mode, expected) in [("and", false), ("overwrite", true)] {
        let link =
            format!("rate = \"600 Mbit/s\"\ndelay = \"20 ms\"\nanti_ecn = {{ mode = \"{mode}\" }}");
        let mut direction = direction(&link);
        direction.arrive(Time::ZERO, &with_dscp(sample::several(1460, 1460, Ecn::NotEct), 3));
        assert_eq!(bits(&mut direction), [(0, 1, expected)], "{mode}");
    }
}

#[test]
fn acknowledgments_enter_the_virtual_queue_and_keep_their_bit() {
    let link = "rate = \"600 Mbit/s\"\ndelay = \"20 ms\"\nanti_ecn = true";
    let mut direction = direction(link);
    // Of the length of an acknowledgment: headers of IP and TCP, and nothing else.
    let mut acknowledgment = with_dscp(sample::several(0, 0, Ecn::NotEct), 7);
    acknowledgment[1] = 0;
    direction.arrive(Time::ZERO, &acknowledgment);
    direction.arrive(Time::ZERO, &acknowledgment);
    direction.arrive(Time::ZERO, &with_dscp(sample::several(1460, 1460, Ecn::NotEct), 7));
    assert_eq!(bits(&mut direction), [(0, 1, true), (0, 1, true), (0, 1, false)]);
    assert_eq!((direction.counts().asked, direction.counts().spare), (1, 0));
}
