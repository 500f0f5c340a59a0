//! The rules of RFC 8985, checked by hand on a window of ten segments.

use super::*;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Segments 0 to 9 leave at 0, one millisecond apart, over a round trip of 100 ms.
fn ten() -> Rack {
    let mut rack = Rack::new();
    (0..10).for_each(|segment| rack.on_sent(at(segment), segment, false, 0));
    rack
}

/// The acknowledgment of one segment that has not been sent again.
fn deliver(rack: &mut Rack, segment: u64, now: u64) {
    let sent = rack.of(segment).at;
    rack.on_ack(at(now), sent);
    rack.on_delivered(at(now), sent, segment);
}

/// The acknowledgment of one segment, thanks to the original that left at `left`.
fn original(rack: &mut Rack, segment: u64, left: u64, now: u64) {
    rack.on_ack(at(now), at(left));
    rack.on_delivered(at(now), at(left), segment);
}

fn moment(now: u64, repairing: bool, sacked: u64) -> Moment {
    Moment { now: at(now), repairing, sacked, rtt: Span::from_millis(120) }
}

#[test]
fn what_was_overtaken_is_lost_when_its_time_is_over() {
    // 1 and 3 are missing. With 2 delivered, 1 has until 1 + 100 + 25 ms; with 4, the last one overtaken is 3.
    let mut rack = ten();
    deliver(&mut rack, 0, 100);
    assert_eq!((rack.detect(&moment(100, false, 0), |_| {}), rack.deadline()), (0, Time::NEVER));
    deliver(&mut rack, 2, 102);
    assert_eq!((rack.detect(&moment(102, false, 1), |_| {}), rack.deadline()), (0, at(126)));
    deliver(&mut rack, 4, 104);
    assert_eq!((rack.detect(&moment(104, false, 2), |_| {}), rack.deadline()), (0, at(128)));
    assert_eq!((rack.detect(&moment(127, false, 2), |_| {}), rack.first_lost()), (1, Some(1)));
    assert_eq!((rack.detect(&moment(128, false, 2), |_| {}), rack.deadline()), (1, Time::NEVER));
    assert_eq!((rack.lost(), rack.first_lost()), (2, Some(1)));
    // The first one leaves again, the second one arrives after all.
    rack.on_sent(at(128), 1, true, 1);
    assert_eq!((rack.lost(), rack.first_lost()), (1, Some(3)));
    deliver(&mut rack, 3, 150);
    assert_eq!((rack.lost(), rack.first_lost()), (0, None));
    assert!(rack.reordering);
}

#[test]
fn deliveries_in_order_at_once_are_the_same_as_one_by_one() {
    let (mut one_by_one, mut at_once) = (ten(), ten());
    for (from, to, now) in [(0, 1, 100), (1, 4, 103), (4, 10, 110)] {
        assert!(at_once.is_quiet());
        let sent = at_once.of(to - 1).at;
        one_by_one.on_ack(at(now), sent);
        (from..to).for_each(|segment| one_by_one.on_delivered(at(now), sent, segment));
        assert_eq!(one_by_one.detect(&moment(now, false, 0), |_| {}), 0);
        at_once.on_delivered_in_order(at(now), sent, (from, to), Span::from_millis(120));
        // A record that is delivered is in no list, whatever its neighbours were.
        let show = |rack: &Rack| {
            let waiting = &rack.departures[to as usize..10];
            (format!("{waiting:?}"), format!("{:?}", Rack { departures: Vec::new(), ..*rack }))
        };
        assert_eq!(show(&at_once), show(&one_by_one), "{from} to {to}");
        assert!(at_once.departures.iter().take(to as usize).all(|it| it.place == Place::Delivered));
    }
    assert!(!at_once.is_quiet(), "nothing is in flight");
}

#[test]
fn what_left_again_or_was_overtaken_is_not_quiet() {
    let mut rack = ten();
    deliver(&mut rack, 2, 102);
    rack.detect(&moment(102, false, 1), |_| {});
    assert!(!rack.is_quiet(), "0 and 1 are overtaken");
    let mut rack = ten();
    rack.detect(&moment(200, true, 0), |_| {});
    rack.on_timeout(at(200), 0, |_| {});
    rack.on_sent(at(200), 0, true, 0);
    assert!(!rack.is_quiet(), "a copy is in flight behind what left before it");
}

#[test]
fn what_an_acknowledgment_may_end_or_must_report_is_not_quiet() {
    let quiet_after = |what: fn(&mut Rack)| {
        let mut rack = ten();
        what(&mut rack);
        rack.is_quiet()
    };
    assert!(quiet_after(|_| {}));
    assert!(!quiet_after(|rack| rack.adapt(0, 10, true, false)), "a round with duplicates");
    assert!(!quiet_after(|rack| rack.owe(1)), "a loss that is still to be reported");
    assert!(!quiet_after(|rack| rack.on_probe(10, false)), "a probe in flight");
    let probe_due = |rack: &mut Rack| {
        rack.schedule_probe(at(300));
        assert!(rack.begin_probe(at(300)));
    };
    assert!(!quiet_after(probe_due), "a probe that is to leave");
}

#[test]
fn the_reordering_window_grows_and_shrinks() {
    // Section 6.2, step 4. The smallest round trip is 100 ms, the smoothed one 120 ms.
    let mut rack = ten();
    deliver(&mut rack, 0, 100);
    let window = |rack: &Rack, repairing, sacked| {
        rack.reordering_window(&moment(100, repairing, sacked)).0 / 1_000_000_000
    };
    assert_eq!(window(&rack, false, 2), 25, "in doubt");
    assert_eq!((window(&rack, false, 3), window(&rack, true, 0)), (0, 0), "no doubt");
    // 2 before 1: reordering has been seen.
    deliver(&mut rack, 2, 102);
    deliver(&mut rack, 1, 103);
    assert_eq!((window(&rack, false, 3), window(&rack, true, 0)), (25, 25));
    // One more quarter for each round trip with duplicates: the round ends when 20 is acknowledged.
    rack.adapt(10, 20, true, false);
    assert_eq!(window(&rack, true, 0), 50);
    rack.adapt(19, 29, true, false);
    assert_eq!(window(&rack, true, 0), 50, "the same round");
    rack.adapt(20, 30, true, false);
    assert_eq!(window(&rack, true, 0), 75);
    // No more than the smoothed round trip: four quarters fit, five do not.
    rack.adapt(30, 40, true, false);
    assert_eq!(window(&rack, true, 0), 100);
    rack.adapt(40, 50, true, false);
    assert_eq!(window(&rack, true, 0), 120);
    // It lasts for fifteen recoveries without duplicates, and the sixteenth ends it.
    for recovery in 1..=16 {
        assert_eq!(window(&rack, true, 0), 120, "recovery {recovery}");
        rack.adapt(50 + recovery, 60 + recovery, false, false);
        rack.adapt(50 + recovery, 60 + recovery, false, true);
    }
    assert_eq!(window(&rack, true, 0), 25);
}

#[test]
fn a_copy_tells_nothing_of_the_time_it_took_if_the_original_arrived() {
    // Step 2. 1 is sent again at 130 ms; an acknowledgment at 140 ms, thanks to a segment of 1 ms, reports it.
    let mut rack = ten();
    deliver(&mut rack, 0, 100);
    rack.on_sent(at(130), 1, true, 1);
    rack.on_ack(at(140), at(1));
    rack.on_delivered(at(140), at(1), 1);
    assert_eq!((rack.rtt, rack.newest), (Span::from_millis(100), 1));
    // Thanks to the copy, but sooner than any round trip: the same.
    rack.on_sent(at(150), 2, true, 2);
    rack.least_rtt = Span::from_millis(100);
    rack.on_delivered(at(240), at(150), 2);
    assert_eq!((rack.rtt, rack.newest), (Span::from_millis(100), 1));
    rack.on_sent(at(250), 3, true, 3);
    rack.on_ack(at(360), at(250));
    rack.on_delivered(at(360), at(250), 3);
    assert_eq!((rack.rtt, rack.newest), (Span::from_millis(110), 13));
    // However late the original comes: 5 leaves again at 370 ms, and 110 ms later its original is reported.
    rack.on_sent(at(370), 5, true, 5);
    original(&mut rack, 5, 5, 480);
    assert_eq!((rack.rtt, rack.newest), (Span::from_millis(110), 13));
}

#[test]
fn a_late_segment_has_the_latest_round_trip_and_overtakes_nothing_more() {
    // Step 2. 5 arrives in time; 2 comes at 132 ms, 130 ms after it left. Of what left before 5, the last one missing
    // is 4: with a quarter of 100 ms it has until 4 + 130 + 25 ms.
    let mut rack = ten();
    deliver(&mut rack, 5, 105);
    deliver(&mut rack, 2, 132);
    assert_eq!((rack.rtt, rack.newest), (Span::from_millis(130), 6));
    assert_eq!(rack.detect(&moment(132, false, 2), |_| {}), 0);
    assert_eq!(rack.deadline(), at(159));
}

#[test]
fn an_acknowledgment_of_two_has_the_round_trip_of_the_second() {
    // Step 2. 0 and 1 left at 0 and 1 ms; the acknowledgment echoes the time stamp of 0 (RFC 7323, section 4.3).
    let mut rack = ten();
    rack.on_delivered_in_order(at(101), at(0), (0, 2), Span::from_millis(120));
    assert_eq!(rack.rtt, Span::from_millis(100));
}

#[test]
fn of_several_reported_at_once_the_last_that_left_has_the_round_trip() {
    // Step 2: in ascending order of `Segment.xmit_ts`. The copy of 0 leaves at 105 ms. Its acknowledgment at 205 ms reports 1,
    // too, whose own was lost: what that took says nothing.
    let mut rack = ten();
    rack.on_sent(at(105), 0, true, 0);
    rack.on_ack(at(205), at(105));
    for segment in [0, 1] {
        rack.on_delivered(at(205), at(105), segment);
    }
    assert_eq!((rack.rtt, rack.newest), (Span::from_millis(100), 11));
}

#[test]
fn only_an_original_reported_after_a_later_segment_was_reordered() {
    // Step 3. One acknowledgment reports 5 and 3, in whichever order: nothing has overtaken anything.
    let mut rack = ten();
    rack.on_ack(at(105), at(5));
    rack.on_delivered(at(105), at(5), 5);
    rack.on_delivered(at(105), at(3), 3);
    assert!(!rack.reordering);
    // A copy of 1 was sent because 1 was missing: that it comes after 5 means nothing.
    rack.on_sent(at(106), 1, true, 0);
    deliver(&mut rack, 1, 206);
    assert!(!rack.reordering);
    // The original of 4 comes after 5, whatever has been reported since.
    deliver(&mut rack, 4, 207);
    assert!(rack.reordering);
}

#[test]
fn the_highest_segment_found_lost_is_remembered_whatever_is_found_later() {
    // The copy of 1 leaves after 7. When all but 2 of what left before 9 is lost, 1 is found last.
    let mut rack = ten();
    for segment in [0, 2, 3, 4, 5, 6, 8] {
        deliver(&mut rack, segment, 108);
    }
    rack.on_sent(at(109), 1, true, 1);
    rack.on_sent(at(110), 10, false, 1);
    deliver(&mut rack, 10, 210);
    let mut found = Vec::new();
    rack.detect(&moment(210, true, 8), |segment| found.push(segment));
    assert_eq!(found, [7, 9, 1]);
    assert_eq!(rack.last_lost(), 9);
}

#[test]
fn a_recovery_is_refuted_when_all_that_was_found_lost_has_arrived() {
    // Block 3 shows 0, 1 and 2 lost. The copy of 0 leaves at 103 ms, those of the others do not leave.
    let mut rack = ten();
    deliver(&mut rack, 3, 103);
    assert!(!rack.is_refuted(), "nothing was found lost");
    assert_eq!(rack.detect(&moment(103, true, 1), |_| {}), 3);
    rack.on_sent(at(103), 0, true, 0);
    original(&mut rack, 0, 0, 110);
    deliver(&mut rack, 1, 111);
    assert!(!rack.is_refuted(), "2 is still missing");
    deliver(&mut rack, 2, 112);
    assert!(rack.is_refuted());
}

#[test]
fn what_was_lost_in_an_earlier_recovery_refutes_no_later_one() {
    // Block 3 shows 0, 1 and 2 lost, and the original of 0 comes. The recovery ends; in the next one block 5 shows 4
    // lost, 125 ms after it left since 0 has shown reordering, and its original comes too.
    let next_recovery = |copies: &[u64]| {
        let mut rack = ten();
        deliver(&mut rack, 3, 103);
        rack.detect(&moment(103, true, 1), |_| {});
        for &segment in copies {
            rack.on_sent(at(103), segment, true, 0);
        }
        original(&mut rack, 0, 0, 104);
        rack.end_episode();
        deliver(&mut rack, 5, 105);
        assert_eq!(rack.detect(&moment(129, true, 2), |_| {}), 1);
        rack
    };
    // 1 and 2 have left again. That their originals come now does not tell whether 4 is lost.
    let mut rack = next_recovery(&[0, 1, 2]);
    assert!(!rack.is_refuted());
    original(&mut rack, 1, 1, 130);
    assert!(!rack.is_refuted());
    original(&mut rack, 4, 4, 131);
    assert!(rack.is_refuted());
    // 2 has not left again: this recovery has a cause even without 4.
    let mut rack = next_recovery(&[0, 1]);
    original(&mut rack, 4, 4, 131);
    assert!(!rack.is_refuted());
}

#[test]
fn one_wait_at_a_time_and_no_probe_in_recovery() {
    // Section 7.2: none while 1 waits for its time.
    let mut rack = ten();
    assert!(rack.may_probe());
    deliver(&mut rack, 2, 102);
    rack.detect(&moment(102, false, 1), |_| {});
    assert!(!rack.may_probe());
    // Section 7.1: what is scheduled, what is due and what is in flight ends with recovery.
    let mut rack = ten();
    rack.schedule_probe(at(300));
    assert!(rack.begin_probe(at(300)));
    rack.on_probe(10, true);
    rack.schedule_probe(at(600));
    rack.forget_probe();
    assert_eq!((rack.deadline(), rack.take_probe()), (Time::NEVER, false));
    assert!(rack.may_probe() && rack.heed_probe(11, None, false).is_none());
}

#[test]
fn duplicates_begin_the_sixteen_recoveries_anew() {
    // Step 4. Reordering has been seen; the round trip is 100 ms.
    let mut rack = ten();
    deliver(&mut rack, 2, 102);
    deliver(&mut rack, 1, 103);
    let window = |rack: &Rack| rack.reordering_window(&moment(103, true, 2));
    rack.adapt(10, 20, true, false);
    (0..15).for_each(|_| rack.adapt(20, 30, false, true));
    rack.adapt(30, 40, true, false);
    (0..15).for_each(|_| rack.adapt(40, 50, false, true));
    assert_eq!(window(&rack), Span::from_millis(75));
    rack.adapt(40, 50, false, true);
    assert_eq!(window(&rack), Span::from_millis(25));
}

#[test]
fn a_time_out_waits_for_the_reordering_window_and_ends_that_wait() {
    // Section 6.3. Block 2 sets the timer for 1 + 100 + 25 ms. The time-out comes at the same time: what left until 1 ms has
    // had its 125 ms.
    let mut rack = ten();
    deliver(&mut rack, 2, 102);
    rack.detect(&moment(102, false, 1), |_| {});
    assert_eq!(rack.deadline(), at(126));
    let mut lost = Vec::new();
    rack.on_timeout(at(126), 0, |segment| lost.push(segment));
    assert_eq!(lost, [0, 1]);
    assert_eq!(rack.deadline(), Time::NEVER);
}

#[test]
fn a_time_out_takes_only_the_first_and_what_has_had_its_time() {
    // Section 6.3. The round trip is 100 ms. By 105 ms those that left until 5 ms are lost, by 100 ms none: then
    // only the first one is, whenever it left.
    for (now, lost) in [(105, 5), (100, 1)] {
        let mut rack = ten();
        deliver(&mut rack, 0, 100);
        assert_eq!(rack.detect(&moment(100, true, 0), |_| {}), 0);
        let before = rack.lost();
        let mut found = 0;
        rack.on_timeout(at(now), 1, |_| found += 1);
        assert_eq!((found, rack.lost() - before), (lost, lost));
        assert_eq!((rack.lost(), rack.first_lost()), (lost, Some(1)));
    }
}

#[test]
fn what_a_probe_has_done() {
    // Section 7.4.2: everything below 10 had left when it did.
    let heed = |again, number, duplicate, bare| {
        let mut rack = Rack::new();
        rack.on_probe(10, again);
        let repaired = rack.heed_probe(number, duplicate, bare);
        (repaired, rack.probe.is_none())
    };
    assert_eq!(heed(true, 9, None, true), (None, false), "not yet");
    assert_eq!(heed(false, 10, None, false), (None, true), "it was new data");
    assert_eq!(heed(true, 10, None, false), (None, false), "either of the two");
    assert_eq!(heed(true, 10, Some(9), false), (None, true), "both arrived");
    assert_eq!(heed(true, 10, Some(4), false), (None, false), "another one arrived twice");
    assert_eq!(heed(true, 10, None, true), (None, true), "both arrived, in the old way");
    assert_eq!(heed(true, 11, None, false), (Some(9), true), "only one of the two arrived");
    assert_eq!(heed(true, 11, Some(9), false), (None, true), "both arrived, and more");
}

#[test]
fn the_records_survive_a_larger_window() {
    let mut rack = Rack::new();
    (0..100).for_each(|segment| rack.on_sent(at(segment), segment, false, 0));
    deliver(&mut rack, 0, 100);
    deliver(&mut rack, 99, 199);
    assert_eq!(rack.detect(&moment(199, true, 1), |_| {}), 98);
    let lost: Vec<u64> = std::iter::from_fn(|| {
        let first = rack.first_lost()?;
        rack.on_sent(at(199), first, true, 1);
        Some(first)
    })
    .collect();
    assert_eq!(lost, (1..99).collect::<Vec<u64>>());
}
