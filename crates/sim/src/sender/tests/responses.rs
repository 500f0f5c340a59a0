//! Recoveries in which the window falls, checked by hand: proportional rate reduction (RFC 9937) where a response comes late.

use longfat_control::{Cause, Congestion, CongestionControl, Feedback, Path};
use longfat_units::Segments;

use super::super::{Sends, State};
use super::rack::{Wire, rack};

/// A window that every reaction halves, and that does not grow.
#[derive(Clone, Debug)]
struct Halving(f64);

impl CongestionControl for Halving {
    fn on_feedback(&mut self, _: &Feedback, _: &Path) {}

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.0 = if event.cause == Cause::Timeout { 1.0 } else { self.0 / 2.0 };
    }

    fn window(&self) -> Segments {
        Segments(self.0)
    }
}

#[test]
fn a_response_during_a_recovery_begins_its_own_reduction() {
    // RFC 9937, section 6: its state is made when a congestion control response begins, which may be when fast recovery is
    // under way. Twenty leave at 0, and a mark of these has been answered when 2 is found lost with block 5, after 20 to 23:
    // nothing calls for a response, and each block from then on releases a segment, 2 and 24 to 37. 22 left after that answer.
    // At 200 ms the blocks 20 and 21 release 38 and 39, and block 23 shows that 22 is lost: 20 are to become 10. Of 2 to 39, 3
    // to 21 had arrived before: `RecoverFS` is 38 - 19 = 19. With this block, the copy of 2 and 24 to 31 ten have arrived, for
    // which ⌈10 · 10/19⌉ = 6 may leave, 22 first. The others come 10 ms later, and with the last of them ten are in flight, the
    // target: until then there are ⌈15 · 10/19⌉ = 8.
    let late: Vec<(u64, u64)> = (32..38).map(|segment| (segment, 10)).collect();
    let mut wire = Wire::of(Box::new(Halving(20.0)), rack(1000), &[2, 22], &late);
    wire.run(99);
    let next = wire.sender.next;
    wire.sender.once.answered(next);
    wire.run(150);
    assert!(matches!(wire.sender.state, State::Recovery { point: 24 }), "{:?}", wire.sender.state);
    assert_eq!(wire.log.last(), Some(&(100, 37, false)));
    assert_eq!((wire.sender.measured.congestion_events, wire.window()), (0, 20.0));
    let left = wire.log.len();
    wire.run(250);
    assert_eq!((wire.sender.measured.congestion_events, wire.window()), (1, 10.0));
    let new = |at, segment| (at, segment, false);
    let expected = [
        vec![new(200, 38), new(200, 39), (200, 22, true)],
        (40..45).map(|segment| new(200, segment)).collect(),
        vec![new(210, 45), new(210, 46)],
    ];
    assert_eq!(wire.log[left..], expected.concat());
    assert_eq!(wire.sender.in_flight(), 10);
    // The copy of 22 arrives at 300 ms, which ends the recovery.
    wire.run(60_000);
    assert_eq!(wire.sender.measured.timeouts, 0);
    assert_eq!(wire.retransmissions(), [(100, 2), (200, 22)]);
}
