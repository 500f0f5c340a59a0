//! YeAH: Scalable TCP while the queue is short, Reno when it is not.
//!
//! A. Baiocchi, A. P. Castellani, F. Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007.
//!
//! Efficient on a long fat path, fair to Reno, and harmless to the queue: YeAH asks of itself all three, and has two
//! modes for them. It watches how many of its segments are queued, and takes them back before the buffer overflows:
//!
//! ```text
//!     each round trip      Q = w (RTT - RTT_base)/RTT,   L = (RTT - RTT_base)/RTT_base,   RTT the smallest in it
//!     fast                 Q < Q_max and L < 1/φ:   each acknowledged segment adds 0.01, as Scalable TCP
//!     slow                 otherwise:               each adds 1/w, as Reno
//!         Q > Q_max        w ← w - min(Q, w/2), not below the share that Reno would have
//!     each loss            w ← w - max(Q, w/8), at most half;   half where Reno flows compete
//! ```
//!
//! Reno flows do not take their segments back, so the queue stays, and a flow that gave way each time would starve.
//! Many slow rounds in a row (ρ) are therefore read as competition: then a loss halves. And the window is never taken
//! below an estimate of Reno's, which is half of the window in the first slow round, grows by a segment in each further
//! one and is halved at losses. ζ fast rounds since the last loss say that the others are gone, and end the estimate.
//!
//! | parameter | default | source                                                        |
//! |-----------|---------|---------------------------------------------------------------|
//! | `q_max`   | 80      | Linux, ns-3: segments in the queue                            |
//! | `phi`     | 8       | Linux, ns-3: queueing of an eighth of the base round trip     |
//! | `a`       | 0.01    | Scalable TCP (Kelly 2003)                                     |
//! | `rho`     | 16      | Linux, ns-3: slow rounds in a row that mean competition       |
//! | `zeta`    | 50      | Linux, ns-3: fast rounds that mean its end                    |
//!
//! These, the most that is taken back (Q, w/2), the least that a loss takes (w/8) and the estimate of Reno's window were
//! checked against the YeAH of Linux, which cites the paper for them, and the manual of ns-3 (section `YeAH`, equations
//! `q_yeah`, `l_yeah` and `yeahssthresh`); the text of the paper was not at hand.
//!
//! Decided here:
//!
//! - *A fast segment adds at least 1/w*: below 100 segments Scalable TCP alone would be slower than Reno.
//! - *What was taken back is no longer queued* for a loss in the next round trip. Linux would take it twice.
//! - *Taking segments back ends slow start*; a loss in slow start takes half.
//! - *Segments are taken back while losses are repaired, too*, as long as round trips show them in the queue. Linux waits
//!   until all is repaired, and judges then by the smallest round trip since.
//! - *A round is judged by however few samples it has*, so small windows whose acknowledgments wait may be taken for
//!   competition; Linux leaves rounds of fewer than three alone.
//!
//! *Slow start that goes too far leaves a queue for good.* Buffers that never overflow let it double beyond four times what
//! the path holds before a round trip has shown the queue. What Reno would have is then said to be half of what the first
//! slow round left, more than the path and `q_max`, so that every round after it is slow: the window comes down to that, and
//! from there grows by a segment per round trip until there is a loss. On 100 Mbit/s and 40 ms with a buffer of 10 000
//! packets 700 segments wait in the mean of 20 to 60 s, and 1050 in that of 60 to 120 s. By the rules of Linux it is the same.
//! From a threshold of 200 segments, below what that path holds, 10 to 80 wait and nothing is lost; 20 ms at 1 Gbit/s with
//! a buffer of five products loses in slow start, which halves the estimate, and keeps 40.
//!
//! Domain: paths on which `RTT_base` can be seen. Needs nothing beyond acknowledgments with round trips. Not a window
//! law: it counts rounds, so the fluid model refuses it.
//!
//! Promised by the paper, held in `tests/theory/yeah.rs`: both modes and their bounds; decongestion; what a loss takes.
//! That alone on a link with a deep buffer it keeps up to `q_max` segments in the queue and loses nothing, and how many
//! more where slow start went too far: `crates/sim/tests/controllers.rs`.

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Span, Time};

use crate::{
    Congestion, Controller, Family, Feedback, Path, Phase, Probe, Promises, Remembered, Sending,
    Start, WindowRule,
};

/// YeAH's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("yeah", build)
        .title("YeAH: Scalable TCP while the queue is short, Reno when it is not")
        .source("Baiocchi, Castellani & Vacirca, PFLDnet 2007")
        .family(Family::LossAndDelay)
        .parameters([
            Parameter::number("q_max", 80.0, 1.0, 1e6, "segments in the queue that it bears"),
            Parameter::number("phi", 8.0, 1.0, 1000.0, "bears a queue of 1/phi of the round trip"),
            Parameter::number("a", 0.01, 1e-6, 1.0, "segments added per acknowledged segment"),
            Parameter::count("rho", 16, 1, 10_000, "slow rounds in a row that mean competition"),
            Parameter::count("zeta", 50, 1, 10_000, "fast rounds that mean its end"),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Remembered::boxed(Yeah::new(settings), start)
}

/// The least share of the window that a loss takes.
const LEAST_SHARE: f64 = 0.125;
/// The least that Reno would have, and what it is said to have where nothing is known of it.
const LEAST_RENO: f64 = 2.0;

/// The rule of the paper.
#[derive(Clone, Debug)]
pub struct Yeah {
    q_max: f64,
    /// 1/φ.
    delay: f64,
    a: f64,
    rho: u64,
    zeta: u64,
    /// The smallest round trip of this round.
    smallest: Option<Span>,
    /// Q of the last round.
    queued: f64,
    fast: bool,
    /// Rounds in a row in slow mode; and in fast mode, since there was competition.
    slow_rounds: u64,
    fast_rounds: u64,
    /// The window that Reno would have.
    reno: f64,
}

impl Yeah {
    fn new(settings: &Settings) -> Self {
        Self {
            q_max: settings.number("q_max"),
            delay: 1.0 / settings.number("phi"),
            a: settings.number("a"),
            rho: settings.number("rho") as u64,
            zeta: settings.number("zeta") as u64,
            smallest: None,
            queued: 0.0,
            fast: true,
            slow_rounds: 0,
            fast_rounds: 0,
            reno: LEAST_RENO,
        }
    }

    /// A round trip is over. Returns the window to go on with.
    fn end_round(&mut self, window: f64, base: Span) -> f64 {
        let Some(rtt) = self.smallest.take().filter(|rtt| *rtt > Span::ZERO) else { return window };
        let (rtt, base) = (rtt.seconds(), base.seconds());
        let waiting = (rtt - base).max(0.0);
        self.queued = window * waiting / rtt;
        self.fast = self.queued < self.q_max && waiting < self.delay * base;
        if self.fast {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > self.zeta {
                self.reno = LEAST_RENO;
                self.fast_rounds = 0;
            }
            return window;
        }
        self.slow_rounds += 1;
        let taken = if self.queued > self.q_max {
            self.queued.min(window / 2.0).min(window - self.reno).max(0.0)
        } else {
            0.0
        };
        self.queued -= taken;
        let left = window - taken;
        self.reno =
            if self.reno > LEAST_RENO { self.reno + 1.0 } else { (left / 2.0).max(LEAST_RENO) };
        left
    }
}

impl WindowRule for Yeah {
    #[inline]
    fn hear(&mut self, window: f64, feedback: &Feedback, path: &Path) -> f64 {
        let left =
            if feedback.round_starts { self.end_round(window, path.base_rtt) } else { window };
        if let Some(rtt) = feedback.rtt {
            self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
        }
        left
    }

    #[inline]
    fn gain(&mut self, window: f64, _: Time, _: &Path) -> f64 {
        let reno = 1.0 / window;
        if self.fast { reno.max(self.a) } else { reno }
    }

    fn reduce(&mut self, window: f64, phase: Phase, _: &Congestion, _: &Path) -> f64 {
        let alone = self.slow_rounds < self.rho && phase == Phase::CongestionAvoidance;
        let lost = if alone {
            self.queued.max(LEAST_SHARE * window).min(window / 2.0)
        } else {
            window / 2.0
        };
        self.fast_rounds = 0;
        self.reno = (self.reno / 2.0).max(LEAST_RENO);
        window - lost
    }

    fn restart(&mut self, _: Time) {
        self.queued = 0.0;
        self.fast = true;
        (self.slow_rounds, self.fast_rounds) = (0, 0);
        self.reno = LEAST_RENO;
    }

    fn promises(&self) -> Promises {
        // Delay takes from the window without congestion.
        Promises { additive: false, forgetful: false, ..Promises::LAW }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("queued", self.queued);
        probe.value("fast", f64::from(u8::from(self.fast)));
    }
}
