//! Compound TCP: Reno, and a second window beside it that grows fast while the queue is empty.
//!
//! M. Sridharan, K. Tan, D. Bansal, D. Thaler, "Compound TCP: A New TCP Congestion Control for High-Speed and Long
//! Distance Networks", draft-sridharan-tcpm-ctcp-02, 2008; after K. Tan, J. Song, Q. Zhang, M. Sridharan, INFOCOM 2006.
//! The default of Windows Server from 2008 until CUBIC.
//!
//! A flow that only watches for losses is either slow on a long fat path or takes from Reno on a short one; one that
//! only watches the delay starves beside Reno. Compound is Reno plus a delay window that fills what Reno leaves unused
//! and goes away as soon as a queue builds:
//!
//! ```text
//!     win = cwnd + dwnd
//!     each acknowledged segment    cwnd ← cwnd + 1/win
//!     each round trip              diff = win (1 - baseRTT/RTT)                     segments in the queue
//!         diff < γ                 dwnd ← dwnd + max(α win^k - 1, 0)
//!         diff ≥ γ                 dwnd ← max(dwnd - ζ diff, 0)
//!     each loss                    cwnd ← cwnd/2;  dwnd ← max(win (1 - β) - cwnd/2, 0)
//!     each time-out                dwnd ← 0;  baseRTT is measured anew
//!     win < W_low                  Reno: dwnd does not grow, and a loss halves win
//! ```
//!
//! Without a queue it adds α win^k per round trip and so has, with k = 3/4, the response of a binomial controller:
//! win = 0.255/p^0.8, which is near that of HSTCP, and above Reno's from `W_low` on.
//!
//! | parameter    | default | source                                                      |
//! |--------------|---------|-------------------------------------------------------------|
//! | `alpha`      | 1/8     | draft, section 3                                            |
//! | `beta`       | 1/2     | draft, section 3: the share *given up*                      |
//! | `k`          | 3/4     | draft, section 3                                            |
//! | `gamma`      | 30      | draft, section 5: segments in the queue                     |
//! | `zeta`       | 1       | draft, section 3, where it is η                             |
//! | `low_window` | 38      | draft, section 2: `Low_Window`                              |
//!
//! Decided here:
//!
//! - *The windows of the control law.* The draft's equations (3) and (5) are printed with dwnd^k and dwnd (1 - β). With win
//!   in both, as above, follows the response function that it derives from them, (8), and what its text has dwnd be after a
//!   loss: what cwnd lacks of the reduced window.
//! - *The delay window's share of a round trip* is spread over its acknowledgments: α win^k - 1 over win for each
//!   segment.
//! - *RTT* is the smoothed round trip, as in the draft; the decision falls once per round trip, and not while losses are
//!   repaired (section 6).
//! - *baseRTT* is measured anew too where the host asks for another window, as after a pause.
//! - *γ stays what it is.* The draft moves it between 5 and 30, towards three quarters of what Reno alone would have kept in
//!   the queue, but does not say how fast (section 5: its λ has no number).
//! - *In slow start* there is no delay window. A loss there halves.
//! - A segment never adds more than one.
//!
//! Domain: any window. Needs nothing beyond acknowledgments with round trips. Not a window law: it has two windows, so
//! the fluid model refuses it.
//!
//! Promised by the draft, held in `tests/theory/compound.rs`: the response function; Reno where the queue holds γ
//! segments. That beside Reno it gets about as much: `crates/sim/tests/controllers.rs`.

use longfat_units::math::{pow, sqrt};
use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Span, Time};

use crate::{
    Congestion, Controller, Family, Feedback, Limited, Path, Phase, Probe, Promises, Remembered,
    Sending, Start, WindowRule,
};

/// Compound's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("compound", build)
        .title("Compound TCP: Reno, and a window beside it while the queue is empty")
        .source("draft-sridharan-tcpm-ctcp-02")
        .family(Family::LossAndDelay)
        .parameters([
            Parameter::number("alpha", 0.125, 1e-3, 1.0, "scale of the growth of the delay window"),
            Parameter::number("beta", 0.5, 0.1, 0.9, "share given up per congestion event"),
            Parameter::number("k", 0.75, 0.0, 0.99, "exponent of the growth of the delay window"),
            Parameter::number("gamma", 30.0, 1.0, 1e6, "segments in the queue that end its growth"),
            Parameter::number("zeta", 1.0, 0.01, 10.0, "how fast it goes away"),
            Parameter::number("low_window", 38.0, 2.0, 1e6, "Reno below this window, in segments"),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Remembered::boxed(Compound::new(settings), start)
}

/// The rule of the draft; the shell has the sum of its two windows.
#[derive(Clone, Debug)]
pub struct Compound {
    alpha: f64,
    beta: f64,
    k: f64,
    gamma: f64,
    zeta: f64,
    low_window: f64,
    /// `dwnd`.
    delay_window: f64,
    /// `baseRTT`, since the last time-out.
    base: Option<Span>,
    /// Was the queue short in the last round trip?
    growing: bool,
}

impl Compound {
    fn new(settings: &Settings) -> Self {
        Self {
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            k: settings.number("k"),
            gamma: settings.number("gamma"),
            zeta: settings.number("zeta"),
            low_window: settings.number("low_window"),
            delay_window: 0.0,
            base: None,
            growing: true,
        }
    }

    /// win^k.
    #[inline]
    fn power(&self, window: f64) -> f64 {
        if self.k == 0.75 {
            let root = sqrt(window);
            root * sqrt(root)
        } else {
            pow(window, self.k)
        }
    }

    /// Section 3, once per round trip. Returns the window to go on with.
    fn end_round(&mut self, window: f64, rtt: Span) -> f64 {
        // Below zero where the smoothed round trip is below all that have been measured since a time-out.
        let queued = window * (1.0 - self.base.unwrap_or(rtt).seconds() / rtt.seconds());
        self.growing = queued < self.gamma;
        if self.growing {
            return window;
        }
        let less = (self.zeta * queued).min(self.delay_window);
        self.delay_window -= less;
        window - less
    }
}

impl WindowRule for Compound {
    #[inline]
    fn hear(&mut self, window: f64, feedback: &Feedback, path: &Path) -> f64 {
        // Section 6: no samples and no decisions while losses are repaired.
        if feedback.limited == Limited::Recovery {
            return window;
        }
        if let Some(rtt) = feedback.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        }
        if feedback.round_starts && path.rtt > Span::ZERO {
            self.end_round(window, path.rtt)
        } else {
            window
        }
    }

    #[inline]
    fn gain(&mut self, window: f64, _: Time, _: &Path) -> f64 {
        let reno = 1.0 / window;
        if !self.growing || window < self.low_window {
            return reno;
        }
        let more = ((self.alpha * self.power(window) - 1.0) / window).clamp(0.0, 1.0 - reno);
        self.delay_window += more;
        reno + more
    }

    fn reduce(&mut self, window: f64, phase: Phase, _: &Congestion, _: &Path) -> f64 {
        if window < self.low_window {
            self.delay_window = 0.0;
            return window / 2.0;
        }
        let half = (window - self.delay_window) / 2.0;
        let kept = if phase == Phase::SlowStart { 0.5 } else { 1.0 - self.beta };
        self.delay_window = (kept * window - half).max(0.0);
        half + self.delay_window
    }

    fn restart(&mut self, _: Time) {
        self.delay_window = 0.0;
        self.base = None;
        self.growing = true;
    }

    fn promises(&self) -> Promises {
        // Delay takes from the window without congestion.
        Promises { additive: false, forgetful: false, ..Promises::LAW }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("dwnd", self.delay_window);
    }
}
