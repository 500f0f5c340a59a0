//! What a probe shows (RFC 8985, section 7), checked by hand.

use longfat_control::Pacing;
use longfat_units::{Span, Time};

use super::super::{SenderConfig, Sends};
use super::rack::{Wire, rack};
use super::wishes::Recorder;

/// The last of ten segments is lost, and its probe at 300 ms arrives. At 450 ms there are so many more, of which some take a
/// while longer.
fn go_on(wire: &mut Wire, more: u64) {
    wire.run(450);
    assert_eq!(wire.retransmissions(), [(300, 9)]);
    assert!(wire.sender.is_done());
    wire.now = Time::ZERO + Span::from_millis(450);
    wire.sender.write(wire.now, more);
    wire.send();
    wire.run(60_000);
    assert!(wire.sender.is_done());
}

#[test]
fn a_block_does_not_show_that_a_probe_was_needless() {
    // Section 7.4.2: only a duplicate without any block does. 10 takes 10 ms longer, so that the acknowledgment of 11 repeats
    // what the probe acknowledged; nothing more is missing.
    let mut wire = Wire::new(10.0, rack(10), &[9], &[(10, 10)]);
    go_on(&mut wire, 2);
    assert_eq!(wire.retransmissions(), [(300, 9)]);
    assert_eq!(wire.sender.measured().congestion_events, 1);
}

#[test]
fn the_loss_that_a_probe_has_repaired_is_told_to_those_who_ask() {
    let (recorder, told) = Recorder::of_everything();
    let mut wire = Wire::of(Box::new(recorder), rack(10), &[9], &[]);
    go_on(&mut wire, 2);
    let told = told.lock().expect("one thread");
    let lost: Vec<(u64, u64)> =
        told.lost.iter().map(|it| (it.now.0 / 1_000_000_000, it.segment)).collect();
    assert_eq!(lost, [(550, 9)]);
}

#[test]
fn a_probe_waits_for_its_turn() {
    // Four packets a second, once there is a round trip. 3 leaves at 600 ms and is lost; its probe is due two round trips
    // later, at 800 ms, but the next packet may not leave before 850 ms.
    let config = SenderConfig { pacing: Some(Pacing::Rate(4.0)), ..rack(4) };
    let mut wire = Wire::new(1.0, config, &[3], &[]);
    wire.run(10_000);
    assert!(wire.sender.is_done());
    assert_eq!(wire.retransmissions(), [(850, 3)]);
    assert_eq!(wire.sender.measured().timeouts, 0);
}
