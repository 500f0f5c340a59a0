//! How the window falls during a recovery: proportional rate reduction (RFC 9937).
//!
//! The controller says where the window is to be at the end, and the acknowledgments of the recovery take it there,
//! each for what it delivers:
//!
//! ```text
//!     in_flight > target    ⌈delivered · target/flight⌉ in all
//!     otherwise             up to the target, and per acknowledgment no more than
//!                           what has been delivered and not yet replaced        (conservation bound)
//!                           one more if it is in order and shows no loss        (slow start bound)
//! ```
//!
//! A further reaction in the same recovery, to what is lost of a later window, begins another reduction, of what is in flight
//! then. The first retransmission leaves in any case. An acknowledgment that delivers nothing changes nothing (section 6.2),
//! whatever is lost by then. The reordering timer (RFC 8985), of which the RFC does not speak, computes anew with nothing
//! delivered: what it finds lost is not all sent again at once.

/// The progress of one recovery, or of what is left of it after a further reaction, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// `RecoverFS`
    flight: u64,
    /// `prr_delivered`
    delivered: u64,
    /// `prr_out`
    sent: u64,
    /// What may be in flight until the next acknowledgment; `None` where it is to be computed anew.
    allowed: Option<u64>,
}

/// What one acknowledgment of a recovery leaves behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// `DeliveredData`: segments that it reports for the first time.
    pub(super) delivered: u64,
    /// `safeACK`: does it acknowledge data in order, and show no further loss?
    pub(super) safe: bool,
    /// In flight after it.
    pub(super) in_flight: u64,
    /// `ssthresh`: what is to be in flight in the end.
    pub(super) target: u64,
}

impl Reduction {
    /// It begins with `flight` segments in flight, before what its first acknowledgment delivers.
    pub(super) fn new(flight: u64) -> Self {
        Self { flight: flight.max(1), delivered: 0, sent: 0, allowed: None }
    }

    /// A segment leaves.
    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// The reordering timer has expired: what comes next is no acknowledgment.
    pub(super) fn expire(&mut self) {
        self.allowed = None;
    }

    /// An acknowledgment arrives. Returns how many segments may be in flight until the next one.
    pub(super) fn on_ack(&mut self, delivery: &Delivery) -> u64 {
        let &Delivery { delivered, safe, in_flight, target } = delivery;
        if let Some(allowed) = self.allowed.filter(|_| delivered == 0) {
            return allowed;
        }
        self.delivered += delivered;
        let more = if in_flight > target {
            let share = u128::from(self.delivered) * u128::from(target);
            (share.div_ceil(u128::from(self.flight)) as u64).saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(delivered) + u64::from(safe);
            limit.min(target - in_flight)
        };
        let allowed = in_flight + more;
        self.allowed = Some(allowed);
        allowed
    }

    /// What may be in flight until the next acknowledgment.
    pub(super) fn allowed(&self) -> u64 {
        self.allowed.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each of so many acknowledgments releases, if everything released leaves at once; the flight of 20 is to
    /// become one of 10.
    fn released(acks: u64, mut in_flight: u64, safe: bool) -> Vec<u64> {
        let mut reduction = Reduction::new(20);
        let mut one = || {
            in_flight -= 1;
            let delivery = Delivery { delivered: 1, safe, in_flight, target: 10 };
            let more = reduction.on_ack(&delivery) - in_flight;
            (0..more).for_each(|_| reduction.on_sent());
            in_flight += more;
            more
        };
        (0..acks).map(|_| one()).collect()
    }

    #[test]
    fn one_loss_halves_the_flight_over_a_round_trip() {
        // One of 20 is lost: of the 19 acknowledgments every other one releases a segment. At the 17th ten are in
        // flight, the target, and from then on each one is replaced: ⌈19/2⌉ in all.
        let released = released(19, 19, false);
        assert_eq!(released, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn the_share_is_that_of_the_flight_when_recovery_began() {
        // 10 are to become 7. Three arrive: ⌈3 · 7/10⌉ may leave; two of these do, and with the sixth ⌈4.2⌉ in all may.
        let mut reduction = Reduction::new(10);
        let mut delivery = Delivery { delivered: 3, safe: false, in_flight: 8, target: 7 };
        assert_eq!(reduction.on_ack(&delivery), 8 + 3);
        (0..2).for_each(|_| reduction.on_sent());
        delivery.in_flight = 9;
        assert_eq!(reduction.on_ack(&delivery), 9 + 3);
    }

    #[test]
    fn conservation_never_sends_more_than_was_delivered() {
        // 15 of 20 are lost, which leaves five: far below the target, each acknowledgment releases one.
        assert_eq!(released(5, 5, false), [1, 1, 1, 1, 1]);
    }

    #[test]
    fn in_good_progress_it_catches_up_as_in_slow_start() {
        // The same, with data acknowledged in order: two for each, until ten are in flight: 5 - 1 + 2 = 6, 7, 8, 9, 10.
        assert_eq!(released(7, 5, true), [2, 2, 2, 2, 2, 1, 1]);
    }

    #[test]
    fn what_delivers_nothing_changes_nothing() {
        // Of a flight of 20 six arrive, and ⌈6 · 10/20⌉ = 3 may leave; one does. Two are found lost when nothing arrives:
        // 17 may still be in flight. When the timer finds them, the two that have not left yet may, no more.
        for (expires, expected) in [(false, 17), (true, 13 + 2)] {
            let mut reduction = Reduction::new(20);
            let mut delivery = Delivery { delivered: 6, safe: false, in_flight: 14, target: 10 };
            assert_eq!(reduction.on_ack(&delivery), 17);
            reduction.on_sent();
            delivery = Delivery { delivered: 0, in_flight: 13, ..delivery };
            if expires {
                reduction.expire();
            }
            assert_eq!(reduction.on_ack(&delivery), expected);
        }
    }

    #[test]
    fn what_was_held_back_is_made_up_for() {
        // Six acknowledgments of a flight of 20 release three segments, but only one leaves; then ten are lost. Below
        // the target, what was delivered and not replaced may leave: 7 - 1.
        let mut reduction = Reduction::new(20);
        let mut delivery = Delivery { delivered: 6, safe: false, in_flight: 14, target: 10 };
        assert_eq!(reduction.on_ack(&delivery), 14 + 3);
        reduction.on_sent();
        delivery = Delivery { delivered: 1, in_flight: 4, ..delivery };
        assert_eq!(reduction.on_ack(&delivery), 4 + 6);
        assert_eq!(reduction.allowed(), 10);
        // But never beyond the target.
        delivery.in_flight = 7;
        assert_eq!(reduction.on_ack(&delivery), 10);
    }
}
