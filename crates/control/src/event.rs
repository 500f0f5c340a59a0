//! What a host tells a controller.

use longfat_units::{RouterHeader, Span, Time};

/// What one acknowledgment tells.
///
/// A host that cannot tell something says so with `None`, or leaves a count at 0. Fields will come: hosts begin from
/// [`Feedback::at`] and set what they know, `Feedback { rtt: Some(rtt), ..Feedback::at(now, acked) }`.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// When it arrived.
    pub now: Time,
    /// Segments cumulatively acknowledged that no earlier acknowledgment had reported.
    pub acked: u64,
    /// Segments above these that a selective acknowledgment reports for the first time.
    pub sacked: u64,
    /// Segments that the host now counts as lost and did not before.
    pub lost: u64,
    /// Segments echoed as marked; 1 where an echo tells of at least one and not of how many (RFC 3168).
    pub marked: u64,
    /// Round trip of the segment that caused it.
    pub rtt: Option<Span>,
    /// Segments sent and neither acknowledged nor known as lost, before it arrived.
    pub in_flight: u64,
    /// What kept the sender from having more in flight when it arrived.
    pub limited: Limited,
    /// True once per round trip: on the first acknowledgment of data sent after the last such one.
    pub round_starts: bool,
    /// Does loss recovery begin with it?
    pub recovery_begins: bool,
    /// AntiECN: had every router of the path capacity to spare? `None` where not every router can tell.
    pub spare: Option<bool>,
    /// How fast segments were delivered; with [`Wants::delivery_rate`](crate::Wants::delivery_rate).
    pub rate: Option<RateSample>,
    /// What routers told the data that it acknowledges; with [`Wants::router_header`](crate::Wants::router_header).
    pub router: Option<RouterHeader>,
    /// The congestion that an earlier call reported and that this acknowledgment shows not to have been: the segment had
    /// arrived all the same. With [`Wants::spurious`](crate::Wants::spurious).
    pub spurious: Option<Cause>,
}

impl Feedback {
    /// An acknowledgment at `now` that reports `acked` segments and nothing else, with the window the limit.
    pub fn at(now: Time, acked: u64) -> Self {
        Self {
            now,
            acked,
            sacked: 0,
            lost: 0,
            marked: 0,
            rtt: None,
            in_flight: 0,
            limited: Limited::Window,
            round_starts: false,
            recovery_begins: false,
            spare: None,
            rate: None,
            router: None,
            spurious: None,
        }
    }

    /// Segments that it reports as delivered for the first time, in order or not.
    pub fn delivered(&self) -> u64 {
        self.acked + self.sacked
    }

    /// Does it tell of congestion? Such an acknowledgment lets no window grow.
    #[inline]
    pub fn is_congested(&self) -> bool {
        self.recovery_begins || self.marked > 0
    }
}

/// How fast the network delivered segments, over the time that the newest of them was on its way.
///
/// After "Delivery Rate Estimation" (draft-cheng-iccrg-delivery-rate-estimation): what was delivered between the departure
/// of a segment and its acknowledgment, over the longer of the time that it took to send and the time that it took to
/// be acknowledged, so that neither bunched departures nor bunched acknowledgments can lift it above what the path
/// delivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments delivered in `interval`.
    pub delivered: u64,
    /// Over which time; never zero.
    pub interval: Span,
    /// Segments delivered before the newest one left: what a round of packet-timed rounds is counted by.
    pub delivered_before: u64,
    /// Segments delivered in all, by now.
    pub delivered_total: u64,
    /// Segments lost since the newest one left.
    pub lost: u64,
    /// Segments in flight when the newest one had left, that one included.
    pub in_flight: u64,
    /// Did the application have nothing to send at some time in it? Then the path may be faster than it says.
    pub application_limited: bool,
}

impl RateSample {
    /// A sample of `delivered` segments in `interval`, with everything else zero.
    pub fn of(delivered: u64, interval: Span) -> Self {
        Self {
            delivered,
            interval,
            delivered_before: 0,
            delivered_total: delivered,
            lost: 0,
            in_flight: 0,
            application_limited: false,
        }
    }

    /// Segments per second.
    pub fn per_second(&self) -> f64 {
        self.delivered as f64 / self.interval.seconds()
    }
}

/// A segment that has left.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When.
    pub now: Time,
    /// Was it sent before?
    pub again: bool,
    /// Segments in flight, this one included.
    pub in_flight: u64,
}

/// What keeps a sender from having more in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// The window: the controller decides, so the window may grow.
    Window,
    /// Pacing delays what the window allows; the window may grow.
    Pacing,
    /// The application has nothing more to send: the window is not tested, so it must not grow.
    Application,
    /// A bound outside the controller (`max_window`): the window must not grow.
    Receiver,
    /// Loss recovery is under way: no gain.
    Recovery,
}

impl Limited {
    /// May the window grow on this acknowledgment?
    pub fn may_grow(self) -> bool {
        matches!(self, Self::Window | Self::Pacing)
    }
}

/// A congestion event.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When it was noticed.
    pub now: Time,
    /// What told of it.
    pub cause: Cause,
    /// Segments sent and neither acknowledged nor known as lost, before this event.
    pub in_flight: u64,
    /// A time-out of data that had timed out before (RFC 5681, section 3.1: the threshold stays).
    pub again: bool,
}

/// What told of the congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A lost segment, found by duplicate or selective acknowledgments.
    Loss,
    /// A segment marked by a router (RFC 3168).
    Mark,
    /// The retransmission timer ran out.
    Timeout,
}

/// What the host knows of the path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Smoothed round trip (RFC 6298); the first sample until there are more.
    pub rtt: Span,
    /// Smallest round trip seen.
    pub base_rtt: Span,
}

/// One answer to congestion per window of data, which every host owes its controller.
///
/// Losses and marks of one window are one sign of congestion (RFC 3168, section 6.1.2; RFC 6582 and RFC 6675: recovery
/// point). After an answer, what had been sent before it counts no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OncePerWindow {
    /// Data below was sent before the last answer.
    answered_below: u64,
}

impl OncePerWindow {
    /// Is the loss of this segment still to be answered?
    #[inline]
    pub fn loss_counts(&self, segment: u64) -> bool {
        segment >= self.answered_below
    }

    /// Is a mark still to be answered that came with a cumulative acknowledgment of everything below `acknowledged`?
    #[inline]
    pub fn mark_counts(&self, acknowledged: u64) -> bool {
        acknowledged > self.answered_below
    }

    /// The controller has answered; `next` is the first segment that has not left yet.
    #[inline]
    pub fn answered(&mut self, next: u64) {
        self.answered_below = next;
    }

    /// A partial acknowledgment ends the window early, as in Reno's recovery: losses from `segment` on count again.
    #[inline]
    pub fn reopen(&mut self, segment: u64) {
        self.answered_below = segment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_marks_of_one_window_are_answered_once() {
        let mut once = OncePerWindow::default();
        assert!(once.loss_counts(0), "the first loss of all");
        // Segments up to 99 have left when 40 is lost.
        once.answered(100);
        assert!(!once.loss_counts(41) && !once.mark_counts(100), "sent before the answer");
        assert!(once.loss_counts(100) && once.mark_counts(101), "sent after it");
        once.reopen(60);
        assert!(once.loss_counts(60) && !once.loss_counts(59));
    }
}
