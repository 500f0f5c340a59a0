//! CDG: not how long packets wait, but whether they wait longer and longer.
//!
//! D. A. Hayes, G. Armitage, "Revisiting TCP Congestion Control Using Delay Gradients", IFIP Networking 2011.
//!
//! Vegas and its heirs need to know the round trip without queues, and a threshold above it; both depend on the path, and
//! who comes later measures them with somebody else's queue in them. CDG, the delay gradient of CAIA, asks only for the
//! sign of a change. From one round trip to the next the smallest and the largest round trip have grown or not; while a
//! queue grows they do, and when it is full the largest stops first:
//!
//! ```text
//!     once per round trip    g = RTTmin - RTTmin before,  h = RTTmax - RTTmax before,  each averaged over the last a
//!     back off               with probability 1 - exp(-g/G) while g > 0, or else 1 - exp(-h/G) while h > 0:  w ← β w
//!     otherwise              w ← w + 1 in the round trip
//!     g > 0, h ≤ 0           the queue is full        a loss is congestion
//!     g = 0, h < 0           the queue is empty
//!     otherwise              it rises or falls        a loss is not congestion, and takes nothing
//! ```
//!
//! A flow with a short round trip looks more often, but sees less of a gradient each time. With the exponential it backs
//! off as often per second as one with a long round trip, in the mean.
//!
//! Beside flows that fill queues this would starve, so there are two defences. *Backing off in vain*: after b times in a
//! row without any falling gradient, somebody else must be filling the queue, and the next b′ signals are ignored. And
//! a *shadow window* s remembers what backing off has cost: it grows as w does but is never reduced by delay, is as large
//! as w at least at each signal, and zero once the queue was empty. A loss from a full queue halves the shadow, and leaves
//! whichever is larger, the shadow or half of w; where that is more than w, slow start leads up to it.
//!
//! | parameter    | default | source |
//! |--------------|---------|--------|
//! | `scale`      | 3 ms    | FreeBSD: G |
//! | `beta_delay` | 0.7     | FreeBSD: share *kept* at a signal of delay |
//! | `beta_loss`  | 0.5     | FreeBSD: share *kept* at a loss from a full queue |
//! | `smoothing`  | 8       | FreeBSD: a, round trips in each average |
//! | `patience`   | 5       | FreeBSD: b, signals in vain that it answers |
//! | `holding`    | 5       | FreeBSD: b′, further ones that it does not |
//!
//! All of it was checked against the program of its authors for FreeBSD (`cc_cdg.c`, BSD licence), which has these numbers;
//! of the paper only the abstract was at hand. Its `alpha_inc`, a growth that itself grows, is off there and left out here.
//!
//! What that program settles:
//!
//! - *In slow start* the gradients of the last round trip count, not their averages, where they are above zero.
//! - *The round trip after a signal* is compared with nothing: it still shows the window of before. Nor does the window
//!   grow in the round trip that a signal begins, but for slow start, and if the signal was answered no loss counts in it.
//! - *Until a gradient has told the state of the queue* a loss is congestion. A mark always halves, as for Reno.
//!
//! Decided here:
//!
//! - *An average over fewer than a round trips* has zeros for those that are missing, as there.
//! - *The segment of a round trip* is spread over its acknowledgments.
//! - *After a time-out*, or where the host asks for another window, all that it knows is gone, and the shadow is the window.
//!
//! Domain: paths without long products. Each signal costs three tenths of the window and a round trip without growth, and
//! only a segment comes back per round trip: of 10 Mbit/s and 100 ms it uses 90 %, of 1 Gbit/s a sixth in its first 100 s. G is a time, not a
//! share: where queues of a few milliseconds come and go with every burst it sees gradients everywhere.
//!
//! Promised by the paper, held in `tests/theory/cdg.rs`: how often it backs off at which gradient; the states of the queue
//! and what a loss takes in each; both defences. In `crates/sim/tests/radio.rs`: what it makes of one loss in a hundred
//! packets, and its queue beside Reno's.

use std::collections::VecDeque;

use longfat_units::math::exp;
use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span};

use crate::bounds::{CEILING, FLOOR, first_window};
use crate::registry::above_zero;
use crate::{
    Adjustment, Cause, Chance, Congestion, CongestionControl, Controller, Family, Feedback,
    Limited, Path, Probe, Promises, Ramp, Sending, Start,
};

/// CDG's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("cdg", build)
        .title("CDG: gives way while round trips grow, whatever their length")
        .source("Hayes & Armitage 2011")
        .family(Family::Delay)
        .parameters([
            Parameter::span(
                "scale",
                "3 ms",
                "growth of a round trip at which it backs off with 63 %: above 0",
            ),
            Parameter::number("beta_delay", 0.7, 0.1, 0.99, "share kept where round trips grow"),
            Parameter::number(
                "beta_loss",
                0.5,
                0.1,
                0.99,
                "share kept at a loss from a full queue",
            ),
            Parameter::count("smoothing", 8, 1, 1000, "round trips over which growth is averaged"),
            Parameter::count("patience", 5, 1, 10_000, "signals in vain that it answers"),
            Parameter::count("holding", 5, 0, 10_000, "further ones that it does not"),
        ])
        .check(above_zero("scale"))
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Cdg::new(settings, start)))
}

/// What a mark leaves, and what a loss leaves of the shadow.
const HALF: f64 = 0.5;

/// What the gradients say of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Unknown,
    Empty,
    Rising,
    Falling,
    Full,
}

/// The smallest and the largest round trip of a round.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    smallest: Span,
    largest: Span,
}

impl Extremes {
    fn with(range: Option<Self>, rtt: Span) -> Self {
        range.map_or(Self { smallest: rtt, largest: rtt }, |range| Self {
            smallest: range.smallest.min(rtt),
            largest: range.largest.max(rtt),
        })
    }

    /// By how many seconds both have grown since `before`.
    fn since(self, before: Self) -> [f64; 2] {
        let grown = |now: Span, then: Span| now.seconds() - then.seconds();
        [grown(self.smallest, before.smallest), grown(self.largest, before.largest)]
    }
}

/// One flow under CDG.
#[derive(Clone, Debug)]
pub struct Cdg {
    window: f64,
    ramp: Ramp,
    chance: Chance,
    /// Round trips of this round, and of the one before if it may be compared with.
    current: Option<Extremes>,
    before: Option<Extremes>,
    /// The last gradients, in seconds, of the smallest and the largest round trip, the newest last.
    gradients: VecDeque<[f64; 2]>,
    queue: Queue,
    /// Signals in a row without a gradient below zero.
    in_vain: u64,
    /// Has this round trip begun with a signal of delay, and with an answer to it?
    signalled: bool,
    answered: bool,
    /// s; zero where there is none.
    shadow: f64,
    /// 1/G, per second.
    steepness: f64,
    beta_delay: f64,
    beta_loss: f64,
    smoothing: usize,
    patience: u64,
    holding: u64,
}

impl Cdg {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let window = first_window(start.window);
        let smoothing = settings.number("smoothing") as usize;
        Self {
            window,
            ramp: Ramp::new(start),
            chance: Chance::new(start.chance),
            current: None,
            before: None,
            gradients: VecDeque::with_capacity(smoothing),
            queue: Queue::Unknown,
            in_vain: 0,
            signalled: false,
            answered: false,
            shadow: window,
            steepness: 1.0 / settings.span("scale").max(Span(1)).seconds(),
            beta_delay: settings.number("beta_delay"),
            beta_loss: settings.number("beta_loss"),
            smoothing,
            patience: settings.number("patience") as u64,
            holding: settings.number("holding") as u64,
        }
    }

    /// The averages of both gradients.
    fn trends(&self) -> [f64; 2] {
        let all = self.smoothing as f64;
        let mean = |side: usize| self.gradients.iter().map(|pair| pair[side]).sum::<f64>() / all;
        [mean(0), mean(1)]
    }

    /// A round is over. Is its queue to be backed off from?
    fn judge(&mut self) -> bool {
        let Some(now) = self.current.take() else { return false };
        let Some(before) = self.before.replace(now) else { return false };
        let latest = now.since(before);
        if self.gradients.len() == self.smoothing {
            self.gradients.pop_front();
        }
        self.gradients.push_back(latest);
        let trends = self.trends();
        let fresh = self.ramp.holds(self.window);
        let told = (0..2).find_map(|side| {
            let of_slow_start = Some(latest[side]).filter(|growth| fresh && *growth > 0.0);
            of_slow_start.or(Some(trends[side]).filter(|growth| *growth > 0.0))
        });
        let signal =
            told.is_some_and(|growth| self.chance.uniform() < 1.0 - exp(-growth * self.steepness));
        self.look_at_queue(trends);
        signal
    }

    fn look_at_queue(&mut self, [smallest, largest]: [f64; 2]) {
        if smallest > 0.0 {
            self.queue = if largest > 0.0 { Queue::Rising } else { Queue::Full };
        } else if largest < 0.0 {
            self.queue = if smallest < 0.0 { Queue::Falling } else { Queue::Empty };
            if self.queue == Queue::Empty {
                self.shadow = 0.0;
            }
        }
        if smallest < 0.0 || largest < 0.0 {
            self.in_vain = 0;
        }
    }

    /// Round trips grow.
    fn back_off(&mut self, repairing: bool) {
        self.in_vain += 1;
        if repairing {
            return;
        }
        if self.in_vain <= self.patience {
            self.fall_to(self.beta_delay * self.window);
            self.answered = true;
        } else if self.in_vain >= self.patience + self.holding {
            self.in_vain = 0;
        }
        // Its effect shows in the round trip after the next.
        self.before = None;
        self.shadow = self.shadow.max(self.window);
    }

    /// Does a loss mean congestion?
    fn is_congestion(&self) -> bool {
        !self.answered && matches!(self.queue, Queue::Full | Queue::Unknown)
    }

    fn fall_to(&mut self, window: f64) {
        let left = window.max(FLOOR);
        self.ramp.leave(left);
        self.window = left.min(self.window);
    }

    /// Everything that it knows is of another window.
    fn begin_anew(&mut self) {
        (self.current, self.before) = (None, None);
        self.gradients.clear();
        self.queue = Queue::Unknown;
        self.in_vain = 0;
        (self.signalled, self.answered) = (false, false);
        self.shadow = self.window;
    }
}

impl CongestionControl for Cdg {
    fn on_feedback(&mut self, feedback: &Feedback, _: &Path) {
        let repairing = feedback.limited == Limited::Recovery;
        if feedback.round_starts {
            self.answered = false;
            self.signalled = self.judge();
            if self.signalled {
                self.back_off(repairing);
            }
        }
        if let Some(rtt) = feedback.rtt {
            self.current = Some(Extremes::with(self.current, rtt));
        }
        if feedback.acked == 0 || feedback.is_congested() {
            return;
        }
        if self.ramp.watches() {
            self.ramp.watch(feedback, self.window);
        }
        if !feedback.limited.may_grow() {
            return;
        }
        for _ in 0..feedback.acked {
            let before = self.window;
            if self.ramp.holds(before) {
                self.window = self.ramp.rise(before, 1.0);
            } else if !self.signalled {
                self.window = (before + 1.0 / before).min(CEILING);
            }
            if self.shadow > 0.0 {
                self.shadow = (self.shadow + self.window - before).min(CEILING);
            }
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        match event.cause {
            Cause::Mark => self.fall_to(HALF * self.window),
            Cause::Loss if self.is_congestion() => {
                self.shadow *= HALF;
                self.fall_to(self.shadow.max(self.beta_loss * self.window));
            }
            Cause::Loss => self.fall_to(self.window),
            Cause::Timeout => {
                self.window = self.ramp.time_out(event);
                self.begin_anew();
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.trim(event, path);
        self.begin_anew();
    }

    fn trim(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn promises(&self) -> Promises {
        Promises { doubles_at_most: true, ..Promises::NONE }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        let [smallest, largest] = self.trends();
        probe.value("gradient_of_smallest", smallest);
        probe.value("gradient_of_largest", largest);
        probe.value("shadow", self.shadow);
    }
}
