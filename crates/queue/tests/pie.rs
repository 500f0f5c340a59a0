//! PIE, by traces worked out from RFC 8033, sections 4 and 5 and appendix A.

use std::ops::RangeInclusive;

use longfat_queue::discipline::pie::discipline;
use longfat_queue::{Capacity, Host, Item, PacketQueue, Site};
use longfat_units::parameter::Setting as Value;
use longfat_units::{Ecn, RouterHeader, Span, Time};
use rand_core::Rng;

use crate::support::{Change, Fixed, FreeLink, PACKET, changed, close, observed_in, site};

fn port(changes: &[Change]) -> FreeLink {
    let settings = changed(&discipline(), "packets", changes);
    let site = Site { capacity: Capacity::Unbounded, ..site("packets") };
    assert_eq!((discipline().check)(&settings, &site), Ok(()));
    FreeLink::new(
        (discipline().build)(&settings, &site).into_queue(Capacity::Unbounded),
        Capacity::Unbounded,
        1,
    )
}

fn ms(time: u64) -> Time {
    Time::ZERO + Span::from_millis(time)
}

fn arrive(port: &mut FreeLink, at: u64, ecn: Ecn, packets: usize) {
    for _ in 0..packets {
        port.arrive(ms(at), PACKET, ecn);
    }
}

fn probability(port: &FreeLink) -> f64 {
    observed_in(port.queue())["probability"]
}

/// No burst is let pass.
const NO_BURST: Change = ("burst", Value::Span(Span::ZERO));

/// The first in line waits from 0 on and never leaves, so it has waited 15 ms longer at each update:
///
/// ```text
///     Δ = (d - 15 ms)/8 + 15 ms · 5/4 = 0.01875, 0.020625, 0.0225, 0.024375, …  at 15, 30, 45, 60 ms, …
/// ```
///
/// of which p takes 1/2048, 1/512, 1/128 and so on as it grows, and from 0.1 on no more than 0.02.
#[test]
fn the_controller_by_hand() {
    let mut port = port(&[]);
    arrive(&mut port, 0, Ecn::Ect0, 2);
    let steps = [
        0.01875 / 2048.0,  // p = 9.16e-6 at 15 ms
        0.020_625 / 512.0, // 4.94e-5
        0.0225 / 128.0,    // 2.25e-4
        0.024_375 / 32.0,  // 9.87e-4
        0.02625 / 32.0,    // 1.81e-3
        0.028_125 / 8.0,   // 5.32e-3
        0.03 / 8.0,        // 9.07e-3
        0.031_875 / 8.0,   // 0.0131
        0.03375 / 2.0,     // 0.0299
        0.035_625 / 2.0,   // 0.0477 at 150 ms
        0.0375 / 2.0,      // 0.0665
        0.039_375 / 2.0,   // 0.0862
        0.04125 / 2.0,     // 0.1068
        0.02,              // 0.1268 at 210 ms
        0.02,
    ];
    let mut expected = 0.0;
    for (update, step) in steps.iter().enumerate() {
        expected += step;
        // An arrival makes the queue look at the clock.
        arrive(&mut port, 15 * (update as u64 + 1), Ecn::Ect0, 1);
        close(probability(&port), expected);
    }
}

/// At 30 ms p = 4.94e-5 as above. Then the queue is empty, and Δ = -(15 ms/8 + 30 ms · 5/4)/128 takes p to 0.
#[test]
fn an_empty_queue_lets_the_probability_fall() {
    let mut port = port(&[]);
    arrive(&mut port, 0, Ecn::Ect0, 2);
    arrive(&mut port, 30, Ecn::Ect0, 1);
    (0..3).for_each(|_| port.depart(ms(30)));
    arrive(&mut port, 45, Ecn::Ect0, 1);
    close(probability(&port), 0.0);
}

/// Without beta p falls slowly: by 15 ms/8 at each update that finds nothing. From the second one on it also decays.
#[test]
fn the_probability_decays_once_two_looks_find_nothing() {
    let mut port = port(&[("beta", Value::Number(0.0))]);
    arrive(&mut port, 0, Ecn::Ect0, 2);
    arrive(&mut port, 300, Ecn::Ect0, 1);
    let risen = probability(&port);
    assert!((0.11..0.12).contains(&risen), "{risen}");
    (0..3).for_each(|_| port.depart(ms(300)));
    arrive(&mut port, 315, Ecn::Ect0, 1);
    port.depart(ms(315));
    close(probability(&port), risen - 0.001_875);
    arrive(&mut port, 330, Ecn::Ect0, 1);
    close(probability(&port), 0.98 * (risen - 2.0 * 0.001_875));
}

/// The first in line has waited for 5 ms at 15 ms, another one for 5 ms at 30 ms, and this stays: at 45 ms it has waited for
/// 5 ms more than the target, which takes p to 1.
#[test]
fn one_that_has_waited_as_long_as_another_waits_on() {
    let gains = [("alpha", Value::Number(1e6)), ("beta", Value::Number(0.0)), NO_BURST];
    let mut port = port(&gains);
    arrive(&mut port, 10, Ecn::Ect0, 2);
    arrive(&mut port, 25, Ecn::Ect0, 1);
    port.depart(ms(25));
    arrive(&mut port, 60, Ecn::Ect0, 1);
    close(probability(&port), 1.0);
}

/// p is 1 from 45 ms on, but the burst that began in a calm queue may last 150 ms: ten updates.
#[test]
fn a_burst_may_pass() {
    let mut port = port(&[("alpha", Value::Number(1e6))]);
    arrive(&mut port, 0, Ecn::NotEct, 10);
    arrive(&mut port, 149, Ecn::NotEct, 10);
    close(probability(&port), 1.0);
    assert!(port.books().dropped.is_empty());
    arrive(&mut port, 150, Ecn::NotEct, 10);
    assert_eq!(port.books().dropped.len(), 10);
}

/// With p = 1 everything is dropped, but not what finds two packets or fewer in line.
#[test]
fn two_packets_are_left_alone() {
    let mut port = port(&[("alpha", Value::Number(1e6)), NO_BURST]);
    arrive(&mut port, 0, Ecn::NotEct, 2);
    // One is in service, one waits.
    arrive(&mut port, 60, Ecn::NotEct, 1);
    close(probability(&port), 1.0);
    assert!(port.books().dropped.is_empty(), "one in line");
    arrive(&mut port, 60, Ecn::NotEct, 1);
    assert!(port.books().dropped.is_empty(), "two in line");
    arrive(&mut port, 60, Ecn::NotEct, 1);
    assert_eq!(port.books().dropped.len(), 1, "three in line");
}

/// The gaps between hits of a thousand arrivals at one instant, with the probability of a standing queue at `at`.
fn gaps(at: u64, changes: &[Change]) -> Vec<u32> {
    let mut port = port(changes);
    arrive(&mut port, 0, Ecn::Ect0, 100);
    arrive(&mut port, at, Ecn::Ect0, 1000);
    let marked = &port.books().marked;
    marked.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// At 150 ms p = 0.04774. With smoothing no two marks are less than ⌈0.85/p⌉ = 18 packets apart or more than
/// ⌈8.5/p⌉ = 179; a mean of 17.8 + 1/p = 38.7 makes 25 in a thousand. Independent tosses make 48.
#[test]
fn marks_come_neither_too_close_nor_too_far_apart() {
    let smooth = gaps(150, &[NO_BURST]);
    assert!((17..=35).contains(&smooth.len()), "{} gaps", smooth.len());
    assert!(smooth.iter().all(|gap| (18..=179).contains(gap)), "{smooth:?}");
    let tossed = gaps(150, &[NO_BURST, ("derandomize", Value::Flag(false))]);
    assert!((30..=65).contains(&tossed.len()), "{} gaps", tossed.len());
    assert!(tossed.iter().any(|gap| *gap < 18), "{tossed:?}");
}

/// A host whose tosses all come out alike.
struct Tosses {
    chance: Fixed,
    marked: Vec<u32>,
    dropped: Vec<u32>,
}

impl Tosses {
    fn new(share: f64) -> Self {
        Self { chance: Fixed::new(share), marked: Vec::new(), dropped: Vec::new() }
    }
}

impl Host for Tosses {
    fn drop(&mut self, item: Item) {
        self.dropped.push(item.id);
    }

    fn mark(&mut self, item: &mut Item) -> bool {
        self.marked.push(item.id);
        true
    }

    fn header(&mut self, _: &Item) -> Option<&mut RouterHeader> {
        None
    }

    fn chance(&mut self) -> &mut dyn Rng {
        &mut self.chance
    }
}

/// The two bounds themselves: with tosses that always hit, every 18th packet is marked, with tosses that never do every
/// 179th. Without smoothing all are, or none.
#[test]
fn the_least_and_the_largest_gap() {
    for (toss, derandomize, gap) in [
        (0.0, true, Some(18)),
        (0.999, true, Some(179)),
        (0.0, false, Some(1)),
        (0.999, false, None),
    ] {
        let settings = changed(
            &discipline(),
            "packets",
            &[NO_BURST, ("derandomize", Value::Flag(derandomize))],
        );
        let site = Site { capacity: Capacity::Unbounded, ..site("packets") };
        let mut queue = (discipline().build)(&settings, &site).into_queue(Capacity::Unbounded);
        let mut host = Tosses::new(toss);
        let item = |id, at| Item { id, bytes: PACKET, arrived: ms(at), ..Item::default() };
        for id in 0..10 {
            queue.enqueue(ms(0), item(id, 0), &mut host);
        }
        queue.advance(ms(150));
        for id in 1..=1000 {
            queue.enqueue(ms(150), item(id, 150), &mut host);
        }
        let expected: Vec<u32> =
            gap.map_or(Vec::new(), |gap| (1..=1000 / gap).map(|n| n * gap).collect());
        assert_eq!(host.marked, expected, "{toss} {derandomize}");
        assert!(host.dropped.is_empty());
    }
}

/// A standing queue: p = 0.0862 at 180 ms marks, p = 0.1068 at 195 ms drops what could be marked.
#[test]
fn above_a_tenth_marks_become_drops() {
    for (at, marks) in [(180, true), (195, false)] {
        let mut port = port(&[NO_BURST]);
        arrive(&mut port, 0, Ecn::Ect0, 100);
        arrive(&mut port, at, Ecn::Ect0, 1000);
        let (marked, dropped) = (port.books().marked.len(), port.books().dropped.len());
        assert_eq!((marked > 0, dropped > 0), (marks, !marks), "at {at} ms");
    }
    let mut port = port(&[NO_BURST]);
    arrive(&mut port, 0, Ecn::NotEct, 100);
    arrive(&mut port, 180, Ecn::NotEct, 1000);
    assert!(!port.books().dropped.is_empty(), "what cannot be marked is dropped");
}

/// Without beta p is 0.098 at 285 ms, and the queue drains. What comes at 295 ms has waited 5 ms at the next look,
/// which is less than half a target, and 20 ms at the one after that.
#[test]
fn a_short_wait_is_left_alone() {
    let mut port = port(&[NO_BURST, ("beta", Value::Number(0.0))]);
    arrive(&mut port, 0, Ecn::NotEct, 100);
    arrive(&mut port, 285, Ecn::NotEct, 1);
    while port.is_busy() {
        port.depart(ms(285));
    }
    arrive(&mut port, 295, Ecn::NotEct, 50);
    let before = port.books().dropped.len();
    arrive(&mut port, 301, Ecn::NotEct, 500);
    assert_eq!(port.books().dropped.len(), before);
    assert!((0.09..0.1).contains(&probability(&port)), "{}", probability(&port));
    arrive(&mut port, 316, Ecn::NotEct, 500);
    assert!(port.books().dropped.len() > before);
}

/// The same at 405 ms, with p = 0.256: from 0.2 on there are hits whatever the wait.
#[test]
fn a_short_wait_does_not_help_against_a_high_probability() {
    let mut port = port(&[NO_BURST, ("beta", Value::Number(0.0))]);
    arrive(&mut port, 0, Ecn::NotEct, 100);
    arrive(&mut port, 405, Ecn::NotEct, 1);
    while port.is_busy() {
        port.depart(ms(405));
    }
    arrive(&mut port, 415, Ecn::NotEct, 50);
    let before = port.books().dropped.len();
    arrive(&mut port, 421, Ecn::NotEct, 500);
    assert!((0.25..0.26).contains(&probability(&port)), "{}", probability(&port));
    assert!(port.books().dropped.len() > before + 50);
}

/// A link that stands still for a day: p is at its most, and is found without looking six million times.
#[test]
fn a_day_without_a_departure() {
    let mut port = port(&[("interval", Value::Span(Span(15_000_000)))]);
    arrive(&mut port, 0, Ecn::Ect0, 2);
    port.depart(ms(86_400_000));
    close(probability(&port), 1.0);
}

#[test]
fn an_interval_must_not_be_far_below_the_target() {
    let mut settings = changed(&discipline(), "packets", &[]);
    for (interval, right) in [(15, true), (14, false)] {
        settings.set("interval", Value::Span(Span(1_000_000 * interval)));
        let checked = (discipline().check)(&settings, &site("packets"));
        assert_eq!(checked.is_ok(), right, "{checked:?}");
    }
}

/// Section 5.1: a packet that the buffer has no room for begins the sum anew. With tosses that always hit and p = 0.04774
/// every 18th packet is marked; the eleventh finds the buffer full, and the next mark is 18 later.
#[test]
fn an_overflow_begins_the_sum_anew() {
    let capacity = Capacity::Packets(20);
    let settings = changed(&discipline(), "packets", &[NO_BURST]);
    let site = Site { capacity, ..site("packets") };
    let mut queue = (discipline().build)(&settings, &site).into_queue(capacity);
    let mut host = Tosses::new(0.0);
    let item = |id, at| Item { id, bytes: PACKET, arrived: ms(at), ..Item::default() };
    (0..10).for_each(|id| queue.enqueue(ms(0), item(id, 0), &mut host));
    queue.advance(ms(150));
    (1..=11).for_each(|id| queue.enqueue(ms(150), item(id, 150), &mut host));
    assert_eq!((&host.marked[..], &host.dropped[..]), (&[][..], &[11][..]));
    for id in 12..=30 {
        queue.dequeue(ms(150), &mut host);
        queue.enqueue(ms(150), item(id, 150), &mut host);
    }
    assert_eq!((&host.marked[..], &host.dropped[..]), (&[29][..], &[11][..]));
}

/// Section 4.2: the allowance is that of a burst again once p is 0 and neither the last look nor the first in line finds half
/// the target waiting: 850 ms after the queue has drained a burst passes for another ten updates.
#[test]
fn a_calm_queue_lets_another_burst_pass() {
    let mut port = port(&[("alpha", Value::Number(1e6))]);
    arrive(&mut port, 0, Ecn::NotEct, 10);
    arrive(&mut port, 150, Ecn::NotEct, 10);
    assert_eq!(port.books().dropped.len(), 10);
    while port.is_busy() {
        port.depart(ms(150));
    }
    arrive(&mut port, 1000, Ecn::NotEct, 10);
    arrive(&mut port, 1139, Ecn::NotEct, 10);
    close(probability(&port), 1.0);
    assert_eq!(port.books().dropped.len(), 10);
    arrive(&mut port, 1140, Ecn::NotEct, 10);
    assert_eq!(port.books().dropped.len(), 20);
}

/// Half the target is 7.5 ms. What has waited for 10 ms at the look of 15 ms, or for 7 ms then and for 12 ms when a packet
/// comes, is not calm: the 135 ms that are left of the allowance last until 150 ms. Nor is it with p above 0.
#[test]
fn the_allowance_is_renewed_in_calm_only() {
    for (first, drains) in [(5, true), (8, false)] {
        let mut port = port(&[("alpha", Value::Number(1e6)), ("beta", Value::Number(0.0))]);
        arrive(&mut port, first, Ecn::NotEct, 2);
        if drains {
            (0..2).for_each(|_| port.depart(ms(16)));
        }
        arrive(&mut port, 20, Ecn::NotEct, 10);
        close(probability(&port), 0.0);
        arrive(&mut port, 149, Ecn::NotEct, 1);
        close(probability(&port), 1.0);
        assert!(port.books().dropped.is_empty(), "{first}");
        arrive(&mut port, 151, Ecn::NotEct, 1);
        assert_eq!(port.books().dropped.len(), 1, "{first}");
    }
    // p = 0.098 at 285 ms, and short waits at the look of 300 ms and after it, as in `a_short_wait_is_left_alone`.
    let mut port = port(&[("beta", Value::Number(0.0))]);
    arrive(&mut port, 0, Ecn::NotEct, 100);
    arrive(&mut port, 285, Ecn::NotEct, 1);
    while port.is_busy() {
        port.depart(ms(285));
    }
    arrive(&mut port, 295, Ecn::NotEct, 50);
    arrive(&mut port, 301, Ecn::NotEct, 100);
    let before = port.books().dropped.len();
    arrive(&mut port, 316, Ecn::NotEct, 500);
    assert!(port.books().dropped.len() > before);
}

/// 8 ms of waiting are half of 15 ms and more, 7 ms are less.
#[test]
fn a_short_wait_is_less_than_half_the_target() {
    for (came, is_short) in [(292, false), (293, true)] {
        let mut port = port(&[NO_BURST, ("beta", Value::Number(0.0))]);
        arrive(&mut port, 0, Ecn::NotEct, 100);
        arrive(&mut port, 285, Ecn::NotEct, 1);
        while port.is_busy() {
            port.depart(ms(285));
        }
        arrive(&mut port, came, Ecn::NotEct, 50);
        let before = port.books().dropped.len();
        arrive(&mut port, 301, Ecn::NotEct, 500);
        assert_eq!(port.books().dropped.len() == before, is_short, "from {came} ms");
    }
}

/// At `mark_below` itself it drops: p = 1, of a threshold of 1.
#[test]
fn at_the_threshold_itself_marks_are_drops() {
    let changes = [("alpha", Value::Number(1e6)), ("mark_below", Value::Number(1.0)), NO_BURST];
    let mut port = port(&changes);
    arrive(&mut port, 0, Ecn::Ect0, 4);
    arrive(&mut port, 60, Ecn::Ect0, 1);
    assert_eq!((port.books().marked.len(), port.books().dropped.len()), (0, 1));
}

/// A link stands still from 2 s on for a day, with p = 1. What is first then has waited for 2 s less than what was first at the
/// last look of the day: Δ = -2 s · 5/4 and next to nothing for the wait itself, so that p falls to 0.
#[test]
fn the_last_look_of_a_long_silence_counts() {
    const DAY: u64 = 86_400_000;
    let mut port = port(&[NO_BURST, ("alpha", Value::Number(1e-6))]);
    arrive(&mut port, 0, Ecn::Ect0, 2);
    // Left alone: two in line.
    arrive(&mut port, 2000, Ecn::Ect0, 1);
    port.depart(ms(DAY));
    close(probability(&port), 1.0);
    arrive(&mut port, DAY + 15, Ecn::Ect0, 1);
    close(probability(&port), 0.0);
}

/// Half of a target of 15 ms and a picosecond is more than 7.5 ms, which is therefore short; half of 15 ms is not.
#[test]
fn half_of_an_odd_target_is_not_rounded() {
    for (target, is_short) in [(15_000_000_000, false), (15_000_000_001, true)] {
        let target = ("target", Value::Span(Span(target)));
        let mut port = port(&[NO_BURST, ("beta", Value::Number(0.0)), target]);
        arrive(&mut port, 0, Ecn::NotEct, 100);
        arrive(&mut port, 285, Ecn::NotEct, 1);
        while port.is_busy() {
            port.depart(ms(285));
        }
        (0..50).for_each(|_| port.arrive(Time(292_500_000_000), PACKET, Ecn::NotEct));
        let before = port.books().dropped.len();
        arrive(&mut port, 301, Ecn::NotEct, 500);
        assert_eq!(port.books().dropped.len() == before, is_short);
    }
}

const SECOND: Span = Span::from_seconds(1);

/// A target of a second and looks at every second one, without beta: the first look finds one second too much, and the
/// second one three. The first takes p to alpha/2048, which is `probability` itself.
fn from_zero_to(probability: f64) -> [Change; 5] {
    [
        NO_BURST,
        ("target", Value::Span(SECOND)),
        ("interval", Value::Span(SECOND * 2)),
        ("alpha", Value::Number(2048.0 * probability)),
        ("beta", Value::Number(0.0)),
    ]
}

/// Section 4.2: Δ is divided by 2048 below 10⁻⁶, and by 512 from there on, and so forth. Section 5.5: from 0.1 on Δ is at
/// most 0.02.
#[test]
fn at_the_edge_of_a_scale_the_next_one_holds() {
    for (edge, step) in [
        (1e-6, 3.0 * 0.002_048 / 512.0),
        (1e-5, 3.0 * 0.020_48 / 128.0),
        (1e-4, 3.0 * 0.2048 / 32.0),
        (1e-3, 3.0 * 2.048 / 8.0),
        (0.1, 0.02),
    ] {
        let mut port = port(&from_zero_to(edge));
        arrive(&mut port, 0, Ecn::Ect0, 2);
        arrive(&mut port, 2000, Ecn::Ect0, 1);
        assert_eq!(probability(&port), edge);
        arrive(&mut port, 4000, Ecn::Ect0, 1);
        close(probability(&port), edge + step);
    }
}

/// Section 4.1: a short wait is left alone while p < 0.2. The first look, at 4097 s, finds 4096 s too much: p = 0.2 ·
/// 4096/2048 = 0.4. The second one finds nothing, a second too little: p = 0.4 - 0.2, and of 500 packets about a hundred
/// are dropped.
#[test]
fn at_a_fifth_a_short_wait_no_longer_helps() {
    let mut port = port(&[
        NO_BURST,
        ("target", Value::Span(SECOND)),
        ("interval", Value::Span(SECOND * 4097)),
        ("alpha", Value::Number(0.2)),
        ("beta", Value::Number(0.0)),
        ("derandomize", Value::Flag(false)),
    ]);
    arrive(&mut port, 0, Ecn::NotEct, 2);
    arrive(&mut port, 4_097_000, Ecn::NotEct, 1);
    assert_eq!(probability(&port), 0.4);
    while port.is_busy() {
        port.depart(ms(4_097_000));
    }
    arrive(&mut port, 8_194_000, Ecn::NotEct, 500);
    assert_eq!(probability(&port), 0.2);
    assert!(port.books().dropped.len() > 50, "{}", port.books().dropped.len());
}

/// An endless queue whose first look comes with the next packet, with ten packets in line.
fn standing(changes: &[Change], host: &mut Tosses) -> Box<dyn PacketQueue> {
    let settings = changed(&discipline(), "packets", changes);
    let site = Site { capacity: Capacity::Unbounded, ..site("packets") };
    let mut queue = (discipline().build)(&settings, &site).into_queue(Capacity::Unbounded);
    (0..10).for_each(|_| come(&mut *queue, 0, 0..=0, host));
    queue
}

/// Packets with these numbers come at that millisecond.
fn come(queue: &mut dyn PacketQueue, at: u64, ids: RangeInclusive<u32>, host: &mut Tosses) {
    queue.advance(ms(at));
    for id in ids {
        let item = Item { id, bytes: PACKET, arrived: ms(at), ..Item::default() };
        queue.enqueue(ms(at), item, host);
    }
}

/// Section 5.4: below a sum of 0.85 nothing is dropped, and from 8.5 on the next packet is. With p = 0.85 tosses that
/// always hit take the first packet, with p = 0.5 tosses that never do let the seventeenth be the first.
#[test]
fn the_bounds_of_the_sum_belong_to_what_is_above_them() {
    for (p, toss, first) in [(0.85, 0.0, 1), (0.5, 0.999, 17)] {
        let mut host = Tosses::new(toss);
        let mut queue = standing(&from_zero_to(p), &mut host);
        come(&mut *queue, 2000, 1..=20, &mut host);
        assert_eq!(host.dropped.first(), Some(&first), "p = {p}");
    }
}

/// Section 5.4: the sum is nothing while p is. Looks at every second, with beta = 0.04 · 2048 /s alone: at 1 s the wait
/// has grown by one, and p = 0.04, which ten packets sum up to 0.4. At 2 s what is first has waited for 0.6 s, less than
/// before but more than half the target: p = 0. At 3 s p = 0.04 again, and the 22nd packet finds 0.88.
#[test]
fn the_sum_begins_anew_where_the_probability_is_zero() {
    let mut host = Tosses::new(0.0);
    let changes = [
        NO_BURST,
        ("target", Value::Span(SECOND)),
        ("interval", Value::Span(SECOND)),
        ("alpha", Value::Number(1e-6)),
        ("beta", Value::Number(0.04 * 2048.0)),
    ];
    let mut queue = standing(&changes, &mut host);
    come(&mut *queue, 1000, 0..=9, &mut host);
    while queue.dequeue(ms(1000), &mut host).is_some() {}
    // Left alone: no more than two in line.
    come(&mut *queue, 1400, 0..=2, &mut host);
    come(&mut *queue, 2000, 0..=0, &mut host);
    come(&mut *queue, 3000, 1..=22, &mut host);
    assert_eq!(host.marked, [22]);
}

/// Section 4.2: p decays by 2 % at each look that finds nothing, as the one before it did. With a target of 0 and without
/// beta nothing else moves it once the queue has drained at 15 ms, with p = 1: looks at 30, 45, 60 and 75 ms.
#[test]
fn a_probability_of_one_decays_where_nothing_waits() {
    let zero = ("target", Value::Span(Span::ZERO));
    let mut port =
        port(&[NO_BURST, zero, ("alpha", Value::Number(1e6)), ("beta", Value::Number(0.0))]);
    arrive(&mut port, 0, Ecn::NotEct, 2);
    arrive(&mut port, 15, Ecn::NotEct, 1);
    close(probability(&port), 1.0);
    while port.is_busy() {
        port.depart(ms(15));
    }
    arrive(&mut port, 75, Ecn::NotEct, 1);
    close(probability(&port), 0.98 * 0.98 * 0.98);
}
