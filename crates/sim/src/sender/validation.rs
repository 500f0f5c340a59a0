//! What becomes of a window that the application has not used: congestion window validation.
//!
//! A window says what the path could carry when it was last full. Three answers to the question how long that holds:
//!
//! ```text
//!     RFC 5681, 4.1  nothing sent for longer than the time-out:  w ← min(w, IW)
//!     RFC 2861       nothing sent for k time-outs:               halve w k times, not below min(w, IW)
//!                    not full for a time-out:                    w ← (w + the most in flight)/2
//!     RFC 7661       less than half used for five minutes:       w ← max(w/2, IW)
//!                    congestion while less than half is used:    w ← max(pipeACK, flight), then the reaction; at the
//!                                                                end of recovery what was sent again counts as not
//!                                                                carried
//! ```
//!
//! That a window must not grow while it is not full holds for every flow, and needs nothing of this. IW is the initial
//! window. RFC 2861 and RFC 7661 keep the threshold at no less than 3/4 of the window that they reduce.
//!
//! pipeACK is the largest number of segments acknowledged in a round trip, over the last three round trips or second,
//! whichever is longer. It is undefined, and the window valid, at the start and after congestion; it is zero after so
//! long a time without acknowledgments.
//!
//! Differences from the RFCs:
//! - RFC 2861 halves down to one segment. As in Linux, halving ends at the restart window of RFC 5681.
//! - RFC 7661 takes half of what was carried at congestion, which is Reno's reaction; here each controller has its own.
//! - RFC 7661 has a timer for the five minutes. Here the first departure or acknowledgment after them counts.

use longfat_scenario::WindowValidation;
use longfat_units::{Segments, Span, Time};

/// RFC 7661, section 4.4: the non-validated period.
const NON_VALIDATED_PERIOD: Span = Span::from_seconds(300);
/// The shortest sampling period of pipeACK (section 4.2).
const SHORTEST_SAMPLING: Span = Span::from_seconds(1);
/// A sampling period is measured in so many parts, the largest sample of each.
const PARTS: usize = 4;

/// Another window, and threshold if that moves too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Resized {
    pub(super) window: f64,
    pub(super) threshold: Option<Segments>,
}

/// What the sender knows when a segment leaves or an acknowledgment arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) now: Time,
    pub(super) window: f64,
    pub(super) threshold: Option<Segments>,
    /// First segment not acknowledged, and next new one; after a departure behind the one that left.
    pub(super) unacknowledged: u64,
    pub(super) next: u64,
    /// Is the window full?
    pub(super) full: bool,
    /// Is there nothing more to send?
    pub(super) dry: bool,
    /// The time-out, without back-off for time-outs that have happened.
    pub(super) timeout: Span,
    /// Smoothed round trip.
    pub(super) rtt: Span,
}

impl Usage {
    /// The threshold that remembers three quarters of this window.
    fn remembering(&self, window: f64) -> Option<Segments> {
        self.threshold.map(|threshold| Segments(threshold.0.max(0.75 * window)))
    }
}

/// How one flow treats an unused window.
#[derive(Debug)]
pub(super) struct Validation {
    /// The initial window.
    initial: f64,
    last_sent: Option<Time>,
    method: Method,
}

#[derive(Debug)]
enum Method {
    Restart,
    Decay(Decay),
    PipeAck(PipeAck),
}

/// RFC 2861.
#[derive(Debug, Default)]
struct Decay {
    /// `T_prev`: when the window was last known to be right.
    checked: Time,
    /// `W_used`: the most in flight since then, while there was nothing more to send.
    used: u64,
}

/// RFC 7661.
#[derive(Debug, Default)]
struct PipeAck {
    /// Is there a sample since the start or the last recovery?
    defined: bool,
    /// The sample being taken: the first segment that it counts.
    from: u64,
    /// It ends when everything below is acknowledged; none until the first acknowledgment.
    until: Option<u64>,
    /// The begin of each part of the sampling period, with its largest sample; the newest first.
    parts: [(Time, u64); PARTS],
    /// When the window was last valid.
    valid_at: Time,
    /// What congestion found the path to carry, until recovery is over.
    carried: Option<Carried>,
}

/// RFC 7661, section 4.4.1.
#[derive(Clone, Copy, Debug)]
struct Carried {
    /// max(pipeACK, `LossFlightSize`)
    segments: f64,
    /// R
    again: u64,
    /// The share of it that the controller kept.
    kept: f64,
}

impl Validation {
    /// For a flow with this initial window, if anything is to be done at all.
    pub(super) fn new(how: WindowValidation, initial: f64) -> Option<Self> {
        let method = match how {
            WindowValidation::None => return None,
            WindowValidation::Rfc5681 => Method::Restart,
            WindowValidation::Rfc2861 => Method::Decay(Decay::default()),
            WindowValidation::Rfc7661 => Method::PipeAck(PipeAck::default()),
        };
        Some(Self { initial, last_sent: None, method })
    }

    /// A segment has left, new or `again`. Returns the window that this calls for, if it is another one.
    pub(super) fn on_sent(&mut self, usage: &Usage, again: bool) -> Option<Resized> {
        let &Usage { now, window, unacknowledged, next, .. } = usage;
        let outstanding = next - unacknowledged;
        let last_sent = self.last_sent.replace(now);
        let idle = now.since(last_sent.unwrap_or(now));
        let restart = window.min(self.initial);
        match &mut self.method {
            Method::Restart => {
                let idle = !again && outstanding == 1 && idle > usage.timeout;
                let threshold = usage.threshold;
                (idle && restart < window).then_some(Resized { window: restart, threshold })
            }
            Method::Decay(decay) => {
                if last_sent.is_none() {
                    decay.checked = now;
                }
                let idle = if again || outstanding > 1 { Span::ZERO } else { idle };
                decay.on_sent(usage, idle, restart)
            }
            Method::PipeAck(pipe) => {
                pipe.carried.iter_mut().for_each(|carried| carried.again += u64::from(again));
                if !again && outstanding == 1 {
                    (pipe.from, pipe.until) = (unacknowledged, None);
                }
                pipe.expire(usage, self.initial)
            }
        }
    }

    /// An acknowledgment has arrived; `usual`: of data in order, with no loss being repaired. Returns the window that this calls for, if it
    /// is another one.
    pub(super) fn on_ack(&mut self, usage: &Usage, usual: bool) -> Option<Resized> {
        let Method::PipeAck(pipe) = &mut self.method else { return None };
        if !usual {
            return None;
        }
        if let Some(carried) = pipe.carried.take() {
            return Some(pipe.end_recovery(usage, carried));
        }
        pipe.sample(usage);
        pipe.expire(usage, self.initial)
    }

    /// The controller is about to react to congestion. Returns the window that it should react from, if it is another
    /// one.
    pub(super) fn before_reaction(&mut self, usage: &Usage) -> Option<Resized> {
        let Method::PipeAck(pipe) = &mut self.method else { return None };
        if pipe.is_valid(usage) {
            return None;
        }
        let flight = usage.next - usage.unacknowledged;
        let segments = (pipe.value(usage).unwrap_or(0).max(flight) as f64).clamp(1.0, usage.window);
        pipe.carried = Some(Carried { segments, again: 0, kept: 1.0 });
        Some(Resized { window: segments, threshold: usage.threshold })
    }

    /// The controller has reacted, and has this window now.
    pub(super) fn after_reaction(&mut self, window: f64) {
        let Method::PipeAck(pipe) = &mut self.method else { return };
        if let Some(carried) = &mut pipe.carried {
            carried.kept = (window / carried.segments).min(1.0);
        }
        pipe.defined = false;
        pipe.parts = Default::default();
        pipe.until = Some(u64::MAX);
    }

    /// The reaction was needless.
    pub(super) fn undo(&mut self) {
        if let Method::PipeAck(pipe) = &mut self.method {
            pipe.carried = None;
        }
    }
}

impl Decay {
    fn on_sent(&mut self, usage: &Usage, idle: Span, restart: f64) -> Option<Resized> {
        let &Usage { now, window, timeout, .. } = usage;
        let mut resized = None;
        let threshold = usage.remembering(window);
        let timeouts = idle.0 / timeout.0.max(1);
        if timeouts > 0 {
            let halved = (0..timeouts.min(64)).fold(window, |window, _| window / 2.0);
            resized = Some(Resized { window: halved.max(restart), threshold });
            (self.checked, self.used) = (now, 0);
        }
        if usage.full {
            (self.checked, self.used) = (now, 0);
        } else if usage.dry {
            self.used = self.used.max(usage.next - usage.unacknowledged);
            if now.since(self.checked) >= timeout {
                let window = f64::midpoint(window, self.used as f64).min(window);
                resized = Some(Resized { window, threshold });
                (self.checked, self.used) = (now, 0);
            }
        }
        resized
    }
}

impl PipeAck {
    /// The sampling period.
    fn period(usage: &Usage) -> Span {
        (usage.rtt * 3).max(SHORTEST_SAMPLING)
    }

    /// pipeACK, if it is defined.
    fn value(&self, usage: &Usage) -> Option<u64> {
        let period = Self::period(usage);
        let recent = self.parts.iter().filter(|(begin, _)| usage.now.since(*begin) < period);
        self.defined.then(|| recent.map(|(_, sample)| *sample).max().unwrap_or(0))
    }

    /// Section 4.3: has half of the window been used?
    fn is_valid(&self, usage: &Usage) -> bool {
        self.value(usage).is_none_or(|value| value as f64 >= usage.window / 2.0)
    }

    /// Takes a sample when everything has been acknowledged that had left when it began: about a round trip later.
    fn sample(&mut self, usage: &Usage) {
        let &Usage { now, unacknowledged, next, .. } = usage;
        match self.until {
            None => self.until = Some(next),
            // The first acknowledgment after a recovery.
            Some(u64::MAX) => (self.from, self.until) = (unacknowledged, Some(next)),
            Some(_) => {}
        }
        if self.until.is_none_or(|until| unacknowledged < until || until == self.from) {
            return;
        }
        let sample = unacknowledged - self.from;
        self.defined = true;
        (self.from, self.until) = (unacknowledged, Some(next));
        let part = Self::period(usage) / PARTS as u64;
        let (begin, largest) = &mut self.parts[0];
        if now.since(*begin) < part {
            *largest = (*largest).max(sample);
        } else {
            self.parts.rotate_right(1);
            self.parts[0] = (now, sample);
        }
    }

    /// Section 4.4.2: the window has not been valid for too long.
    fn expire(&mut self, usage: &Usage, initial: f64) -> Option<Resized> {
        if self.is_valid(usage) {
            self.valid_at = usage.now;
            return None;
        }
        let periods = usage.now.since(self.valid_at).0 / NON_VALIDATED_PERIOD.0;
        if periods == 0 {
            return None;
        }
        self.valid_at += NON_VALIDATED_PERIOD * periods;
        let mut window = usage.window;
        let threshold = usage.remembering(window);
        (0..periods.min(64)).for_each(|_| window = (window / 2.0).max(initial.min(window)));
        Some(Resized { window, threshold })
    }

    /// Section 4.4.1: what had to be sent again was not carried.
    fn end_recovery(&mut self, usage: &Usage, carried: Carried) -> Resized {
        let segments = (carried.segments - carried.again as f64) * carried.kept;
        self.valid_at = usage.now;
        let window = segments.max(1.0).min(usage.window);
        Resized { window, threshold: Some(Segments(window.max(2.0))) }
    }
}
