//! Release times, checked by hand: round trips of 100 ms, and a wire with no transmission time.

use longfat_control::{Pacing, Start};
use longfat_scenario::{Recovery, SendQuantum};
use longfat_units::{Segments, Span, Time};

use super::super::pacing::Pacer;
use super::super::{SenderConfig, Sends};
use super::{Dialogue, RTT, config};
use crate::packet::Flags;

/// How many segments left in each millisecond, from millisecond `from` on.
fn departures(dialogue: &Dialogue, from: u64) -> Vec<(u64, usize)> {
    let mut counts: Vec<(u64, usize)> = Vec::new();
    for &(time, _, _) in dialogue.log.iter().filter(|(time, _, _)| *time >= from) {
        match counts.last_mut() {
            Some((last, count)) if *last == time => *count += 1,
            _ => counts.push((time, 1)),
        }
    }
    counts
}

/// A flow in congestion avoidance with this window.
fn avoiding(window: f64) -> Start {
    Start { window: Segments(window), threshold: Some(Segments(2.0)), ..Start::default() }
}

fn millis(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

#[test]
fn two_blocks_leave_half_a_round_trip_apart() {
    // Until a round trip is known, the 20 leave at once. Their acknowledgments come at 100 ms: a block of 10 leaves,
    // and the rest half a round trip after the block's first segment. At 200 ms the window is 21: blocks of 11, the
    // second of which waits for an eleventh acknowledgment and gets it at 300 ms, together with the 11 of the next
    // block.
    let mut dialogue = Dialogue::paced(&avoiding(20.0), Pacing::Blocks(2), 10_000, &[]);
    dialogue.run(Span::from_millis(299));
    assert_eq!(departures(&dialogue, 0), [(0, 20), (100, 10), (150, 10), (200, 11), (250, 10)]);
}

#[test]
fn four_blocks_leave_a_quarter_apart() {
    let mut dialogue = Dialogue::paced(&avoiding(20.0), Pacing::Blocks(4), 10_000, &[]);
    dialogue.run(Span::from_millis(199));
    assert_eq!(departures(&dialogue, 100), [(100, 5), (125, 5), (150, 5), (175, 5)]);
}

#[test]
fn more_blocks_than_segments_are_as_many_as_segments() {
    let mut dialogue = Dialogue::paced(&avoiding(4.0), Pacing::Blocks(1000), 10_000, &[]);
    dialogue.run(Span::from_millis(199));
    assert_eq!(departures(&dialogue, 100), [(100, 1), (125, 1), (150, 1), (175, 1)]);
}

#[test]
fn slow_start_knows_no_blocks() {
    let start = Start { window: Segments(4.0), ..Start::default() };
    let mut dialogue = Dialogue::paced(&start, Pacing::Blocks(2), 10_000, &[]);
    dialogue.run(Span::from_millis(250));
    assert_eq!(departures(&dialogue, 0), [(0, 4), (100, 8), (200, 16)]);
    // Where it ends at 16 segments, there are two blocks of 8 from the next round trip on.
    let start = Start { threshold: Some(Segments(16.0)), ..start };
    let mut dialogue = Dialogue::paced(&start, Pacing::Blocks(2), 10_000, &[]);
    dialogue.run(Span::from_millis(399));
    assert_eq!(departures(&dialogue, 200), [(200, 16), (300, 8), (350, 8)]);
}

#[test]
fn a_repair_does_not_wait_for_its_block() {
    // Scalable TCP with 80 segments in blocks of 20. At 100 ms the first 20 acknowledgments release a block, and the
    // next 30 segments wait. Blocks 51 to 53 show that 50 is lost: it is sent again, the window falls to 70, the wait
    // ends, and a block of 18 may leave. It is full when 76 to 78 show that 75 is lost too: that leaves all the same.
    let mut dialogue = Dialogue::starting(
        "stcp",
        &avoiding(80.0),
        Recovery::Sack,
        Some(Pacing::Blocks(4)),
        10_000,
        &[50, 75],
    );
    dialogue.run(Span::from_millis(124));
    assert_eq!(dialogue.retransmissions(), [(100, 50), (100, 75)]);
    assert_eq!(departures(&dialogue, 100), [(100, 20 + 18 + 2)]);
    dialogue.run(Span::from_millis(126));
    assert_eq!(dialogue.log.last().map(|&(time, _, again)| (time, again)), Some((125, false)));
}

#[test]
fn the_first_retransmission_is_paced_like_any_other_packet() {
    // A packet leaves every 6.9 ms, and 14.5 of these fit into a round trip: the third segment above the lost one is
    // reported halfway between two packets. The retransmission has the turn of the second.
    let mut dialogue = Dialogue::paced(&avoiding(20.0), Pacing::Rate(145.0), 10_000, &[150]);
    dialogue.run(Span::from_millis(1500));
    let [(at, 150)] = dialogue.retransmissions()[..] else { panic!("one is sent again") };
    let times: Vec<u64> =
        dialogue.log.iter().map(|sent| sent.0).filter(|&time| time > 100).collect();
    assert!(times.contains(&at));
    let closest = times.windows(2).map(|pair| pair[1] - pair[0]).min();
    assert!(closest >= Some(6), "{closest:?} ms");
}

#[test]
fn a_time_out_ends_the_waiting() {
    // Two packets per second. The first four are lost. 0 leaves again at 1 s; its acknowledgment releases 1, but not
    // before 1.5 s. The timer of 100 + 4·50 ms expires at 1.4 s, and a time-out does not wait for pacing.
    let mut dialogue = Dialogue::paced(&avoiding(4.0), Pacing::Rate(2.0), 10_000, &[0, 1, 2, 3]);
    dialogue.run(Span::from_millis(1450));
    assert_eq!(dialogue.retransmissions(), [(1000, 0), (1400, 1)]);
}

#[test]
fn the_scenario_decides_over_the_controller() {
    // EXP-TCP asks for an even spread; without it the window leaves in one burst.
    let mut dialogue = Dialogue::starting(
        "exp",
        &avoiding(20.0),
        Recovery::Sack,
        Some(Pacing::Unpaced),
        10_000,
        &[],
    );
    dialogue.run(Span::from_millis(199));
    assert_eq!(departures(&dialogue, 100), [(100, 20)]);
    // Reno asks for no pacing. Spread by 2, the last of 20 leaves 19 steps after the first, of 100/(2·21) ms each.
    let mut dialogue = Dialogue::paced(&avoiding(20.0), Pacing::Spread { gain: 2.0 }, 10_000, &[]);
    dialogue.run(Span::from_millis(199));
    assert_eq!(dialogue.log.last().map(|&(time, segment, _)| (time, segment)), Some((145, 39)));
}

/// A block that the window held back for longer than its share of the round trip delays nothing, and earns no credit.
#[test]
fn a_late_block_neither_waits_nor_catches_up() {
    let mut pacer = Pacer::new(None, 1000);
    pacer.set(Pacing::Blocks(2));
    let mut leave = |at| pacer.leave(millis(at), true, 4.0, 4, RTT);
    // Blocks of two, the first from 0 to 80 ms: the second begins at once, and counts from its own first packet.
    leave(0);
    leave(80);
    leave(90);
    leave(91);
    assert!(pacer.holds(millis(139)) && !pacer.holds(millis(140)));
}

/// The wait of a loose block is that of the acknowledgment which completed it: the next one ends it. A block that began
/// at 2 ms instead of 50 is due to end at 100.
#[test]
fn an_acknowledgment_lets_a_loose_block_begin() {
    let mut pacer = Pacer::new(None, 1000);
    pacer.set(Pacing::LooseBlocks(2));
    pacer.leave(millis(0), true, 4.0, 4, RTT);
    pacer.leave(millis(1), true, 4.0, 4, RTT);
    pacer.hear(millis(1));
    assert!(pacer.holds(millis(1)) && pacer.until() == millis(50));
    assert!(pacer.holds(millis(2)), "whatever else wakes the sender");
    pacer.hear(millis(2));
    assert!(!pacer.holds(millis(2)));
    pacer.leave(millis(2), true, 4.0, 4, RTT);
    pacer.leave(millis(3), true, 4.0, 4, RTT);
    assert!(pacer.holds(millis(3)) && pacer.until() == millis(100));
    // Congestion sets the figure's `time_0` to now.
    pacer.congestion();
    pacer.leave(millis(10), true, 4.0, 4, RTT);
    pacer.leave(millis(10), true, 4.0, 4, RTT);
    assert!(pacer.holds(millis(10)) && pacer.until() == millis(60));
}

/// Twenty acknowledgments of one instant count as one: the second block waits, as a held one does.
#[test]
fn a_loose_block_waits_where_no_acknowledgment_comes() {
    let mut dialogue = Dialogue::paced(&avoiding(20.0), Pacing::LooseBlocks(2), 10_000, &[]);
    dialogue.run(Span::from_millis(199));
    assert_eq!(departures(&dialogue, 100), [(100, 10), (150, 10)]);
}

#[test]
fn repairs_belong_to_no_block_and_congestion_ends_it() {
    let mut pacer = Pacer::new(None, 1000);
    pacer.set(Pacing::Blocks(2));
    pacer.leave(millis(0), true, 4.0, 4, RTT);
    pacer.leave(millis(1), false, 4.0, 4, RTT);
    assert!(!pacer.holds(millis(2)), "one of two has left");
    pacer.leave(millis(2), true, 4.0, 4, RTT);
    assert!(pacer.holds(millis(3)));
    pacer.congestion();
    assert!(!pacer.holds(millis(3)), "a new block may begin");
    for at in [3, 4] {
        pacer.leave(millis(at), true, 4.0, 4, RTT);
    }
    assert!(pacer.holds(millis(52)) && !pacer.holds(millis(53)));
    pacer.set(Pacing::Unpaced);
    assert!(!pacer.holds(millis(10)), "switched off, nothing waits");
}

#[test]
fn a_block_begins_anew_after_congestion_and_after_other_pacing() {
    // One of a block of two has left when congestion ends it: two more make the next one, which lasts until 53 ms.
    let mut pacer = Pacer::new(Some(SendQuantum::Packets(4)), 1000);
    pacer.set(Pacing::Blocks(2));
    pacer.leave(millis(0), true, 4.0, 4, RTT);
    pacer.congestion();
    for at in [3, 4] {
        assert!(!pacer.holds(millis(at)));
        pacer.leave(millis(at), true, 4.0, 4, RTT);
    }
    assert!(pacer.holds(millis(52)) && !pacer.holds(millis(53)));
    // One of a group of four has left at ten packets per second. The next group would begin at 400 ms; a block is none.
    let mut pacer = Pacer::new(Some(SendQuantum::Packets(4)), 1000);
    pacer.set(Pacing::Rate(10.0));
    pacer.leave(millis(0), true, 4.0, 4, RTT);
    pacer.set(Pacing::LooseBlocks(2));
    for at in [1, 2] {
        assert!(!pacer.holds(millis(at)));
        pacer.leave(millis(at), true, 4.0, 4, RTT);
    }
    assert!(pacer.holds(millis(50)) && !pacer.holds(millis(51)));
}

/// When each of `count` packets leaves that are sent as soon as this pacer lets them, in milliseconds.
fn grouped(quantum: SendQuantum, rate: f64, count: usize) -> Vec<u64> {
    let mut pacer = Pacer::new(Some(quantum), 1000);
    pacer.set(Pacing::Rate(rate));
    let mut now = Time::ZERO;
    let one = || {
        now = now.max(pacer.until());
        pacer.leave(now, true, 100.0, 100, RTT);
        now.0 / 1_000_000_000
    };
    std::iter::repeat_with(one).take(count).collect()
}

#[test]
fn a_quantum_leaves_at_once_and_the_next_when_it_is_over() {
    // 1000 packets per second in groups of four: one group every 4 ms.
    let four = grouped(SendQuantum::Packets(4), 1000.0, 12);
    assert_eq!(four, [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8]);
    // What leaves in 3.5 ms, in whole packets: three.
    let time = SendQuantum::Time(Span(3_500_000_000));
    assert_eq!(grouped(time, 1000.0, 7), [0, 0, 0, 3, 3, 3, 6]);
    // Never less than two: at 100 packets per second one would take 10 ms.
    assert_eq!(grouped(time, 100.0, 5), [0, 0, 20, 20, 40]);
    // Nor more than 64 kB, 65 packets of 1000 bytes: 1 ms would be 100 of them at 10⁵ per second.
    let many = grouped(SendQuantum::Time(Span::from_millis(1)), 1e5, 200);
    let first = many.iter().filter(|&&at| at == 0).count();
    assert_eq!(first, 2 * 65, "at 0 and at 0.65 ms");
}

#[test]
fn what_a_group_has_missed_is_not_made_up_for() {
    // Groups of four at 1000 packets per second. Two leave at 0; the window lets the others go at 1 and 9 ms. The first
    // three have had their time at 3 ms, so the fourth begins a group of its own, of which three more leave at 9 ms.
    let mut pacer = Pacer::new(Some(SendQuantum::Packets(4)), 1000);
    pacer.set(Pacing::Rate(1000.0));
    let mut leave = |at| {
        assert!(!pacer.holds(millis(at)), "at {at} ms");
        pacer.leave(millis(at), true, 100.0, 100, RTT);
    };
    [0, 0, 1, 9, 9, 9, 9].into_iter().for_each(&mut leave);
    assert!(pacer.holds(millis(12)) && !pacer.holds(millis(13)));
}

#[test]
fn a_window_in_groups_has_the_rate_of_an_even_spread() {
    // Five at a time. In the second round trip the acknowledgments, all at 100 ms, raise the window of 20 to 20.98: four
    // groups, five times 100/20.98 ms apart, or a little more while the first five are still on their way.
    let config = SenderConfig {
        send_quantum: Some(SendQuantum::Packets(5)),
        ..config(Recovery::Sack, Some(Pacing::Spread { gain: 1.0 }), 10_000)
    };
    let mut dialogue = Dialogue::of("reno", &avoiding(20.0), config, &[]);
    dialogue.run(Span::from_millis(199));
    let at: Vec<(u64, usize)> = departures(&dialogue, 100);
    assert_eq!(at, [(100, 5), (124, 5), (148, 5), (172, 5)]);
}

#[test]
fn a_recovery_that_ends_while_its_retransmission_waits_repeats_nothing() {
    // A hundred segments, a few milliseconds apart. Just after one has left, three duplicates call for the segment they
    // name; it waits for its turn, and before that everything in flight is acknowledged: it was only late.
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let spread = Some(Pacing::Spread { gain: 1.0 });
        let mut dialogue = Dialogue::starting("reno", &avoiding(20.0), recovery, spread, 100, &[]);
        let mut until = Span::from_millis(250);
        dialogue.run(until);
        while dialogue.log.last().map(|sent| sent.0) != Some(dialogue.now.0 / 1_000_000_000) {
            until += Span::from_millis(1);
            dialogue.run(until);
        }
        let (now, sender) = (dialogue.now, &mut dialogue.sender);
        let (_, mut ack) = dialogue.acks.pop_back().expect("something is in flight");
        ack.sent = Time(now.0 - RTT.0);
        let all = ack.number;
        ack.number = sender.unacknowledged;
        for _ in 0..3 {
            sender.on_ack(now, &ack, None);
        }
        assert!(sender.poll(now).is_none() && sender.fast_retransmit);
        ack.number = all;
        sender.on_ack(now, &ack, None);
        assert!(sender.is_open() && sender.in_flight() == 0);
        let next = sender.poll(now + RTT).expect("there is more to send");
        assert!(!next.flags.has(Flags::RETRANSMISSION), "{recovery:?} repeats {}", next.number);
        assert_eq!(next.number, all);
    }
}
