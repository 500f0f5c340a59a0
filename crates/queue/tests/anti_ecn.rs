//! What the virtual queue of AntiECN says, with numbers worked out by hand.

use longfat_queue::AntiEcnQueue;
use longfat_units::{Bytes, Rate, Time};

use crate::support::{PACKET, PACKET_TIME, RATE, close};

/// That many packet times, of a microsecond each, into the run.
fn at(packet_times: f64) -> Time {
    Time((packet_times * PACKET_TIME as f64).round() as u64)
}

#[test]
fn a_trace_worked_out_by_hand() {
    // Half of 8 Gbit/s: 500 B drain in the time of a packet of 1000 B. There is room for 2500 B.
    let mut queue = AntiEcnQueue::new(RATE, 0.5, 2500.0);
    for (time, bytes, spare, backlog) in [
        (0.0, 1000, true, 1000.0),
        (1.0, 1000, false, 1500.0), // 500 were left
        (2.0, 1000, false, 2000.0),
        (2.0, 1000, false, 2000.0), // 3000 would be too many: not added
        (2.5, 40, false, 1790.0),   // an acknowledgment takes what it is
        (6.08, 1000, true, 1000.0), // 3.58 packet times drain 1790 B
        (8.0, 40, false, 80.0),     // 960 of 1000 are gone
        (8.2, 1000, true, 1000.0),  // 80 B drain in 0.16
        (1e6, 1000, true, 1000.0),
    ] {
        assert_eq!(queue.has_spare_capacity(at(time), Bytes(bytes)), spare, "at {time}");
        close(queue.backlog(), backlog);
    }
}

/// What fits exactly is added: VQ + b ≤ B.
#[test]
fn two_packets_fill_room_for_two() {
    let mut queue = AntiEcnQueue::new(RATE, 0.5, 2000.0);
    for backlog in [1000.0, 2000.0, 2000.0] {
        queue.has_spare_capacity(at(0.0), PACKET);
        close(queue.backlog(), backlog);
    }
}

/// Half of 8 Gbit/s until 0.4 packet times, half of 2 until 4.4, then half of 16. What is in the queue stays.
#[test]
fn a_rate_that_changes_worked_out_by_hand() {
    let mut queue = AntiEcnQueue::new(RATE, 0.5, 2500.0);
    assert!(queue.has_spare_capacity(at(0.0), PACKET));
    queue.on_rate(at(0.4), Rate(RATE.0 / 4));
    close(queue.backlog(), 800.0);
    assert!(!queue.has_spare_capacity(at(2.0), Bytes(40)), "600 are left");
    close(queue.backlog(), 640.0);
    queue.on_rate(at(4.4), Rate(RATE.0 * 2));
    close(queue.backlog(), 340.0);
    assert!(!queue.has_spare_capacity(at(4.7), Bytes(40)));
    close(queue.backlog(), 80.0);
    assert!(queue.has_spare_capacity(at(4.8), Bytes(40)));
}

/// How many of `packets` that arrive at a share `load` of the capacity find room, after `before` that are not counted.
fn share_with_room(threshold: f64, load: f64, before: u64, packets: u64) -> f64 {
    let mut queue = AntiEcnQueue::new(RATE, threshold, 1e6);
    let mut told = |packet: u64| queue.has_spare_capacity(at(packet as f64 / load), PACKET);
    (0..before).for_each(|packet| {
        told(packet);
    });
    let spare = (before..before + packets).filter(|&packet| told(packet)).count();
    spare as f64 / packets as f64
}

#[test]
fn spaced_packets_all_find_room_below_the_threshold_and_none_above() {
    for threshold in [0.4, 0.5, 0.6, 0.75] {
        for (load, share) in [(0.5, 1.0), (0.99, 1.0), (1.01, 0.0), (1.3, 0.0)] {
            let load = load * threshold;
            assert_eq!(share_with_room(threshold, load, 1, 100_000), share, "{threshold} {load}");
        }
        // At the threshold itself the queue is empty again just in time, and rounding must not hide it. Times are whole
        // picoseconds: a gap of 1.333333 packet times at 0.75 is a third of a picosecond short.
        let exact = threshold != 0.75 && threshold != 0.6;
        assert!(!exact || share_with_room(threshold, threshold, 0, 100_000) == 1.0, "{threshold}");
    }
}

#[test]
fn one_packet_of_a_train_finds_room() {
    // Trains of 100 packets at the full rate, every 300 packet times: a load of a third.
    let mut queue = AntiEcnQueue::new(RATE, 0.5, 1e6);
    for train in 0..1000_u64 {
        for packet in 0..100_u64 {
            let spare =
                queue.has_spare_capacity(Time((300 * train + packet) * PACKET_TIME), PACKET);
            assert_eq!(spare, packet == 0, "packet {packet} of train {train}");
        }
    }
}

#[test]
fn a_cap_lets_the_link_speak_again_soon_after_an_overload() {
    // 10 000 packets at full rate leave 5000 in a queue without a cap: it takes 10 000 packet times to drain. With a
    // cap of 500 packets it takes 1000.
    for (limit, silence) in [(f64::INFINITY, 10_000.0), (500_000.0, 1000.0)] {
        let told = |after: f64| {
            let mut queue = AntiEcnQueue::new(RATE, 0.5, limit);
            for packet in 0..10_000 {
                queue.has_spare_capacity(at(f64::from(packet)), PACKET);
            }
            queue.has_spare_capacity(at(9999.0 + after), PACKET)
        };
        assert!(!told(silence - 2.0) && told(silence + 2.0), "{limit}");
    }
}
