//! DECbit: one bit from routers that have a queue, and a vote over a window of them.
//!
//! K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer Networks", ACM
//! Transactions on Computer Systems 8(2), 1990; SIGCOMM 1988; RFC 1254, sections 3.3 and 4.4.
//!
//! # The problem
//!
//! The first scheme of additive increase and multiplicative decrease, and the ancestor of ECN. As the load of a network
//! grows, there is a knee above which hardly any throughput is gained and delay rises. Losses come later, at a cliff.
//! Routers that see a queue on average say so, and flows stay at the knee.
//!
//! # The law
//!
//! A router with a mean queue of one or more sets the congestion avoidance bit in each packet (the queue `decbit`), and
//! the bit comes back with the acknowledgment. The sender decides once in two windows:
//!
//! ```text
//!     after W_p + W_c acknowledged segments, of which the last W_c are looked at:
//!         W ← β W    if at least half of them have the bit
//!         W ← W + 1  otherwise
//! ```
//!
//! with `W_c` the window in use and `W_p` the one before. A change of the window shows in the bits one round trip
//! later, so the first `W_p` are still those of the window before. W is a real number, and the nearest whole number of
//! segments is sent (section 5.4), at least one. The window does not grow where the last increase has not been used
//! (section 6.3.2).
//!
//! Half of the bits is what a router at the knee sets both if packets come and are served at random (M/M/1, at a load
//! of one half) and if they do so regularly (section 5.3).
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `alpha` | α | 1 | 1990, section 5.4 |
//! | `beta` | β | 0.875 | 1990, section 5.4 |
//! | `cutoff` | | 0.5 | 1990, section 5.3 |
//!
//! # Domain
//!
//! Paths whose bottlenecks all have the queue `decbit`; one such queue is required. One segment in two round trips is
//! slow on long fat paths. Flows over different paths get the less, the more congested routers they cross.
//!
//! Flows over the same path get equal windows where their trains fall into step, which depends on when they begin. On the
//! paper's own network, for 201 times from 0 to 10 s at which the second of two users comes, 139 end within a tenth of each
//! other, and the others at up to 5.6 times as much, 9.2 and 1.7 segments. A router's mean grows towards the end of a
//! busy period, so that a small train behind a large one has more bits than the large one and stays small: 44 % of them
//! against 30. On 10 Mbit/s at 40 ms two flows have 5.9 and 0.8 Mbit/s. It is so with the mean of the present cycle alone,
//! too, and with a `host_jitter` of as much as a packet time, which only mixes who has more. The windows of both together
//! are between those of a flow alone, two thirds of the knee, and the knee.
//!
//! # Deviations
//!
//! * RFC 1254 speaks of the bits of the last two windows; the paper stores these and looks at the second half, as done
//!   here.
//! * An acknowledgment of two segments has the bit if one of them has it, and then counts as two with it.
//! * Losses are outside the paper: half of the window, and one segment after a time-out, as in TCP.
//!
//! # What the paper promises
//!
//! * The decisions above (the tests below).
//! * The knee of its own network, with equal windows for two flows: for some times at which the second one begins, as
//!   above (`crates/sim/tests/explicit.rs`).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{RouterHeader, Segments};

use crate::bounds::{AFTER_TIMEOUT, CEILING, first_window, halved};
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Needs, Path,
    Probe, Sending, Start, Wants,
};

/// `DECbit`'s entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("decbit", |settings, start| {
        Sending::Windowed(Box::new(DecBit::new(settings, start)))
    })
    .title("DECbit: a vote over the bits of a window, +1 or times 7/8; with the queue of the same name")
    .source("Ramakrishnan & Jain 1990; RFC 1254")
    .family(Family::Routers)
    .parameters([
        Parameter::number("alpha", 1.0, 0.0, 1000.0, "segments added where less than the cutoff have the bit"),
        Parameter::number("beta", 0.875, 0.01, 1.0, "share of the window that is kept otherwise"),
        Parameter::number("cutoff", 0.5, 0.0, 1.0, "share of the bits from which the window falls"),
    ])
}

/// One flow under `DECbit`.
#[derive(Clone, Copy, Debug)]
pub struct DecBit {
    /// W
    window: f64,
    /// How many more acknowledged segments are not looked at.
    passed_over: u64,
    /// How many then are until the decision: W in whole segments.
    looked_at: u64,
    /// How many have been looked at since the last decision, and how many of them had the bit.
    seen: u64,
    set: u64,

    alpha: f64,
    beta: f64,
    cutoff: f64,
}

impl DecBit {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let window = first_window(start.window);
        Self {
            window,
            passed_over: 0,
            looked_at: whole(window),
            seen: 0,
            set: 0,
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            cutoff: settings.number("cutoff"),
        }
    }

    /// Looks at `count` acknowledged segments with the same bit, which may end in a decision.
    #[inline]
    fn look(&mut self, count: u64, bit: bool, may_grow: bool) {
        if count != 1 {
            self.look_at_several(count, bit, may_grow);
        } else if self.passed_over > 0 {
            self.passed_over -= 1;
        } else {
            self.seen += 1;
            self.set += u64::from(bit);
            if self.seen == self.looked_at {
                self.decide(may_grow);
            }
        }
    }

    #[inline(never)]
    fn look_at_several(&mut self, mut count: u64, bit: bool, may_grow: bool) {
        while count > 0 {
            let passed = count.min(self.passed_over);
            self.passed_over -= passed;
            count -= passed;
            let seen = count.min(self.looked_at - self.seen);
            self.seen += seen;
            self.set += if bit { seen } else { 0 };
            count -= seen;
            if self.seen == self.looked_at {
                self.decide(may_grow);
            }
        }
    }

    fn decide(&mut self, may_grow: bool) {
        if self.set as f64 >= self.cutoff * self.seen as f64 {
            self.move_to(self.window * self.beta);
        } else if may_grow {
            self.move_to(self.window + self.alpha);
        } else {
            self.move_to(self.window);
        }
    }

    /// A window from now on: bits of the one before are passed over.
    fn move_to(&mut self, window: f64) {
        self.passed_over = self.looked_at;
        self.window = window.clamp(AFTER_TIMEOUT, CEILING);
        self.looked_at = whole(self.window);
        (self.seen, self.set) = (0, 0);
    }
}

/// The window in whole segments.
fn whole(window: f64) -> u64 {
    window.round() as u64
}

impl CongestionControl for DecBit {
    #[inline]
    fn on_feedback(&mut self, feedback: &Feedback, _: &Path) {
        let bit = feedback.router.is_some_and(|RouterHeader { code, .. }| code > 0);
        let may_grow = feedback.limited.may_grow() && !feedback.is_congested();
        self.look(feedback.delivered(), bit, may_grow);
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        self.move_to(match event.cause {
            Cause::Loss | Cause::Mark => halved(self.window),
            Cause::Timeout => AFTER_TIMEOUT,
        });
    }

    fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
        self.move_to(first_window(event.window));
    }

    fn growth_limit(&self, used: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        Some(Segments(used.0 + self.alpha))
    }

    fn trim(&mut self, event: &Adjustment, path: &Path) {
        let window = first_window(event.window);
        if whole(window) > self.seen {
            (self.window, self.looked_at) = (window, whole(window));
        } else {
            self.on_adjustment(event, path);
        }
    }

    #[inline]
    fn window(&self) -> Segments {
        // Signed: processors convert that in one instruction.
        Segments(self.looked_at.cast_signed() as f64)
    }

    #[inline]
    fn router_header(&self, _: &Path) -> RouterHeader {
        RouterHeader { window: self.window(), ..RouterHeader::default() }
    }

    fn wants(&self) -> Wants {
        Wants { router_header: true, ..Wants::NOTHING }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("bits_seen", self.seen as f64);
        probe.value("bits_set", self.set as f64);
    }

    fn needs(&self) -> Needs {
        Needs { queue: Some("decbit"), ..Needs::NONE }
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::{Span, Time};

    use super::*;
    use crate::Limited;

    const RTT: Span = Span::from_millis(100);
    const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

    fn told(control: &mut DecBit, acked: u64, code: u8, limited: Limited) -> f64 {
        let router = Some(RouterHeader { code, ..RouterHeader::default() });
        let feedback = Feedback { limited, router, ..Feedback::at(Time::ZERO, acked) };
        control.on_feedback(&feedback, &PATH);
        control.window
    }

    fn decbit(window: f64) -> DecBit {
        let start = Start { window: Segments(window), ..Start::default() };
        DecBit::new(&controller().defaults(), &start)
    }

    /// `W_c` = 8: four bits of eight are half. Then `W_p` = 8 are passed over and `W_c` = 7 looked at, three bits of
    /// which are less than half.
    #[test]
    #[expect(clippy::float_cmp, reason = "eighths")]
    fn the_window_is_decided_by_the_last_half_of_two_windows() {
        const W: Limited = Limited::Window;
        let mut control = decbit(8.0);
        told(&mut control, 4, 0, W);
        assert_eq!(told(&mut control, 3, 1, W), 8.0, "one more to come");
        assert_eq!(told(&mut control, 1, 1, W), 7.0, "7/8");
        assert_eq!(told(&mut control, 8, 1, W), 7.0, "these are of the window before");
        assert_eq!(told(&mut control, 3, 1, W), 7.0);
        assert_eq!(told(&mut control, 4, 0, W), 8.0, "+1");
        assert_eq!(told(&mut control, 7 + 8, 0, Limited::Application), 8.0, "it is not used");
        assert_eq!(told(&mut control, 8 + 8 - 1, 0, W), 8.0);
        assert_eq!(told(&mut control, 1, 0, W), 9.0);
        // 7.875 is sent as 8, but kept.
        assert_eq!(told(&mut control, 8 + 9, 1, W), 7.875);
        assert_eq!(control.window(), Segments(8.0));
    }

    /// One acknowledgment of several segments tells what as many of one tell: over a thousand segments, with and without
    /// the bit in turns of lengths that have nothing to do with the window.
    #[test]
    fn several_segments_are_as_many_of_one() {
        let (mut together, mut apart) = (decbit(20.0), decbit(20.0));
        for turn in 0..90 {
            let (count, code) = (2 + turn % 11, u8::from(turn % 7 < 3));
            told(&mut together, count, code, Limited::Window);
            (0..count).for_each(|_| {
                told(&mut apart, 1, code, Limited::Window);
            });
            assert_eq!(format!("{together:?}"), format!("{apart:?}"), "turn {turn}");
        }
    }

    /// Where growth has gone too far, the bits that have been looked at count all the same, unless the window is no larger
    /// than what has been looked at.
    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers")]
    fn a_bound_on_growth_keeps_the_bits_seen() {
        const W: Limited = Limited::Window;
        let mut control = decbit(8.0);
        assert_eq!(told(&mut control, 8, 0, W), 9.0);
        told(&mut control, 8, 0, W);
        told(&mut control, 3, 1, W);
        let event =
            |window| Adjustment { now: Time::ZERO, window: Segments(window), threshold: None };
        control.trim(&event(5.0), &PATH);
        assert_eq!((control.window, control.seen, control.set), (5.0, 3, 3));
        assert_eq!(told(&mut control, 2, 0, W), 4.375, "three of five");
        told(&mut control, 5 + 3, 0, W);
        control.trim(&event(2.0), &PATH);
        assert_eq!(
            (control.window, control.seen, control.passed_over),
            (2.0, 0, 4),
            "as asked for"
        );
    }

    #[test]
    fn the_window_falls_to_one_segment_and_no_further() {
        let mut control = decbit(3.0);
        assert!((told(&mut control, 1000, 1, Limited::Window) - 1.0).abs() < 1e-12);
    }

    /// Segments above a gap have arrived too: four of eight with the bit are half.
    #[test]
    fn segments_out_of_order_are_looked_at() {
        let mut control = decbit(8.0);
        told(&mut control, 4, 0, Limited::Window);
        let router = Some(RouterHeader { code: 1, ..RouterHeader::default() });
        let above_a_gap = Feedback { sacked: 4, router, ..Feedback::at(Time::ZERO, 0) };
        control.on_feedback(&above_a_gap, &PATH);
        assert!((control.window - 7.0).abs() < 1e-12, "{}", control.window);
    }

    /// The host asks for four segments instead of eight: the bits of the eight are passed over, and four looked at.
    #[test]
    fn another_window_begins_with_bits_of_its_own() {
        let mut control = decbit(8.0);
        let event = Adjustment { now: Time::ZERO, window: Segments(4.0), threshold: None };
        control.on_adjustment(&event, &PATH);
        assert_eq!(control.window(), Segments(4.0));
        told(&mut control, 8, 1, Limited::Window);
        told(&mut control, 4, 0, Limited::Window);
        assert_eq!(control.window(), Segments(5.0));
    }
}
