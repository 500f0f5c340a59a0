//! What a host reports to a controller.

use longfat_units::{RouterHeader, Segments, Span, Time};

/// What one acknowledgment reports.
///
/// A host that does not know something says so with `None`, or leaves a count at 0. Fields will be added: hosts start
/// from [`Feedback::at`] and set what they know, `Feedback { rtt: Some(rtt), ..Feedback::at(now, acked) }`.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// When it arrived.
    pub now: Time,
    /// Segments cumulatively acknowledged that no earlier acknowledgment had reported.
    pub acked: u64,
    /// Segments above these, reported for the first time by a selective acknowledgment.
    pub sacked: u64,
    /// Segments that the host newly counts as lost.
    pub lost: u64,
    /// Segments newly reported as marked: how many with Accurate ECN, and 1 where an echo says only that at least one
    /// was (RFC 3168).
    pub marked: u64,
    /// A round trip: that of the segment that triggered it, or where one acknowledgment was held back for several, of the
    /// first of them (RFC 7323, section 4.3), which has waited for the others.
    pub rtt: Option<Span>,
    /// Segments sent but neither acknowledged nor known to be lost, before it arrived.
    pub in_flight: u64,
    /// What kept the sender from having more in flight when it arrived.
    pub limited: Limited,
    /// True once per round trip: on the first acknowledgment of data sent after the last such one.
    pub round_starts: bool,
    /// Does loss recovery begin with it?
    pub recovery_begins: bool,
    /// AntiECN: did every router on the path have capacity to spare? `None` where not every router can say.
    pub spare: Option<bool>,
    /// How fast segments were delivered; with [`Wants::delivery_rate`](crate::Wants::delivery_rate).
    pub rate: Option<RateSample>,
    /// What routers wrote into the headers of the data that it acknowledges; with
    /// [`Wants::router_header`](crate::Wants::router_header).
    pub router: Option<RouterHeader>,
    /// How long the data that triggered it took to arrive, by the receiver's clock less the sender's, so that only differences
    /// mean anything; with [`Wants::one_way_delay`](crate::Wants::one_way_delay).
    pub one_way_delay: Option<Span>,
    /// Congestion reported by an earlier call that this acknowledgment shows to have been spurious: the segment had
    /// arrived after all. With [`Wants::spurious`](crate::Wants::spurious).
    pub spurious: Option<Cause>,
}

impl Feedback {
    /// An acknowledgment at `now` that reports `acked` segments and nothing else, with the window as the limit.
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
            one_way_delay: None,
            spurious: None,
        }
    }

    /// Segments that it reports as delivered for the first time, in order or not.
    pub fn delivered(&self) -> u64 {
        self.acked + self.sacked
    }

    /// Does it report congestion? If so, no window may grow on it.
    #[inline]
    pub fn is_congested(&self) -> bool {
        self.recovery_begins || self.marked > 0
    }
}

/// How fast the network delivered segments, over the time that the newest of them was in transit.
///
/// After "Delivery Rate Estimation" (draft-cheng-iccrg-delivery-rate-estimation): what was delivered between the
/// departure of a segment and its acknowledgment, over the longer of the time taken to send it and the time taken to
/// acknowledge it, so that neither bunched departures nor bunched acknowledgments can lift it above what the path
/// delivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments delivered in `interval`.
    pub delivered: u64,
    /// The length of the sample; never zero.
    pub interval: Span,
    /// Segments delivered before the newest one left; packet-timed round trips are counted by it.
    pub delivered_before: u64,
    /// Segments delivered in total so far.
    pub delivered_total: u64,
    /// Segments lost since the newest one left.
    pub lost: u64,
    /// Segments in flight just after the newest one left, itself included.
    pub in_flight: u64,
    /// Did the application run out of data at some point in it? Then the path may be faster than the sample says.
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

/// A segment that has been found lost, and what was known when it left.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When it was found lost.
    pub now: Time,
    /// Its place among the segments of the flow, from 0: neighbours lost together are one gap.
    pub segment: u64,
    /// When it left; if more than once, the last time.
    pub sent: Time,
    /// Segments in flight just after it left, itself included.
    pub in_flight: u64,
    /// Segments lost since it left, itself included.
    pub lost: u64,
    /// Segments delivered in total so far, those that show the loss included.
    pub delivered_total: u64,
    /// Had the application run out of data shortly before it left ([`RateSample::application_limited`])?
    pub application_limited: bool,
}

/// A segment that has left.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it left.
    pub now: Time,
    /// Had it been sent before?
    pub again: bool,
    /// Segments in flight, this one included.
    pub in_flight: u64,
}

/// What keeps a sender from having more in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limited {
    /// The window: the controller decides, so the window may grow. Also where something else does, but little enough of the
    /// window is unused that it may grow all the same
    /// ([`growth_limit`](crate::CongestionControl::growth_limit)).
    Window,
    /// Pacing delays what the window allows; the window may grow.
    Pacing,
    /// The application has nothing more to send: the window is not tested, so it must not grow.
    Application,
    /// A bound outside the controller (`max_window`, a receive window): the window must not grow.
    Receiver,
    /// Loss recovery is under way, or ends with this acknowledgment: no gain.
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
    /// What signalled it.
    pub cause: Cause,
    /// Segments sent but neither acknowledged nor known to be lost, before this event.
    pub in_flight: u64,
    /// A time-out of data that had timed out before (RFC 5681, section 3.1: the threshold stays).
    pub again: bool,
}

/// What signalled the congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A lost segment, found by duplicate or selective acknowledgments.
    Loss,
    /// A segment marked by a router (RFC 3168).
    Mark,
    /// The retransmission timer ran out.
    Timeout,
}

/// The host has a reason to change the window that is no congestion: part of it has not been used for a while, or the
/// path is known from an earlier flow (RFC 5681, section 4.1; RFC 7661; RFC 9959).
#[derive(Clone, Copy, Debug)]
pub struct Adjustment {
    /// When.
    pub now: Time,
    /// The window from now on.
    pub window: Segments,
    /// The window below which slow start goes on; `None`: as it is.
    pub threshold: Option<Segments>,
}

/// What the host knows about the path.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Smoothed round trip (RFC 6298); the first sample until there are more.
    pub rtt: Span,
    /// Smallest round trip seen. Before there is one it is `u64::MAX`, and there are no samples of the delivery rate.
    pub base_rtt: Span,
}

/// One response to congestion per window of data, which every host owes its controller.
///
/// Losses and marks of one window are one sign of congestion (RFC 3168, section 6.1.2; RFC 6582 and RFC 6675: recovery
/// point). After a response, whatever was sent before it no longer counts; with
/// [`Reaction::LossesApart`](crate::Reaction::LossesApart), losses still do after a response to a mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OncePerWindow {
    /// Data below this was sent before the last response to a loss, and to anything.
    losses_below: u64,
    marks_below: u64,
}

impl OncePerWindow {
    /// Does the loss of this segment still call for a response?
    #[inline]
    pub fn loss_counts(&self, segment: u64) -> bool {
        segment >= self.losses_below
    }

    /// Does a mark still call for a response if it came with a cumulative acknowledgment of everything below
    /// `acknowledged`?
    #[inline]
    pub fn mark_counts(&self, acknowledged: u64) -> bool {
        acknowledged > self.marks_below
    }

    /// The controller has responded; `next` is the first segment that has not left yet.
    #[inline]
    pub fn answered(&mut self, next: u64) {
        (self.losses_below, self.marks_below) = (next, next);
    }

    /// The same where it has responded to a mark and wants losses apart.
    #[inline]
    pub fn mark_answered(&mut self, next: u64) {
        self.marks_below = next;
    }

    /// A partial acknowledgment ends the window early, as in Reno's recovery: losses from `segment` on count again.
    #[inline]
    pub fn reopen(&mut self, segment: u64) {
        self.answered(segment);
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

    #[test]
    fn losses_may_be_answered_apart() {
        let mut once = OncePerWindow::default();
        // Segments up to 99 have left when a mark is answered, up to 149 when the loss of 40 is.
        once.mark_answered(100);
        assert!(!once.mark_counts(100) && once.loss_counts(40));
        once.answered(150);
        assert!(!once.mark_counts(150) && !once.loss_counts(149), "the marks of its window, too");
        once.mark_answered(200);
        assert!(!once.loss_counts(149) && once.loss_counts(150) && !once.mark_counts(200));
    }
}
