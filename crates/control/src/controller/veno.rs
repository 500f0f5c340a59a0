//! TCP Veno: a loss without a queue is nobody's congestion, and takes little.
//!
//! C. P. Fu, S. C. Liew, "TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks", IEEE Journal on
//! Selected Areas in Communications 21(2), 2003.
//!
//! A radio link loses packets that no queue has dropped, and Reno halves for each of them. Veno asks, as Vegas does, how
//! many of its own segments wait in queues. Few: the path had room, so the loss was probably the radio's, and a fifth is
//! given up. Many: it was congestion, and Veno is Reno, but for one thing. Where its segments wait there is nothing left
//! to gain, so it grows half as fast and stays twice as long where the link is full:
//!
//! ```text
//!     N = (w/RTT_base - w/RTT) RTT_base          the flow's own segments in queues
//!     each acknowledged segment    N < β:  w ← w + 1/w,      otherwise  w ← w + 1/(2w)
//!     each loss                    N < β:  w ← (1 - δ) w,    otherwise  w ← w/2
//! ```
//!
//! Both halves of the bargain have numbers. Losing every 1/p-th segment without a queue, it has a window of √(4.5/p) in
//! the mean, √3 = 1.73 times Reno's √(1.5/p). With a queue it is Reno with half of the increase, and has √(1/2) = 0.71
//! of Reno's window: what it gains from the radio it takes from nobody.
//!
//! | parameter | default | source |
//! |-----------|---------|--------|
//! | `beta`    | 3       | Linux and ns-3: segments in queues that mean congestion |
//! | `delta`   | 1/5     | paper, Linux and ns-3: share that another loss takes |
//!
//! N, what is added and both shares were checked against the manual of ns-3 (section Veno, equations `venoN` and
//! `venoDiff`); the text of the paper was not at hand.
//!
//! Decided here:
//!
//! - *RTT* is the smallest of the last round, and *with fewer than three samples in it* Veno is Reno, as in Linux: all of
//!   them may have waited for a second segment (see `vegas`).
//! - *Half of the increase* is 1/(2w) for each segment. Linux, ns-3 and the paper add 1/w for every other one.
//! - *`RTT_base`* is the smallest round trip of the flow.
//! - *A loss in slow start* is judged in the same way, and *a mark* always halves: no radio has made it.
//! - *As a law*, in the fluid and under `anti-ecn`, it goes by the smoothed round trip, and both shares change gradually
//!   while N goes from half a segment below β to half a segment above: no step of an integration is short enough for a jump.
//!
//! Domain: any window. Needs nothing beyond acknowledgments with round trips. On paths whose queues hold less than β of
//! its segments every loss takes a fifth, whoever made it: with n flows on a link whose buffer has less than n β places
//! Veno is an AIMD that gives up less than others, and takes their share (3.4 times that of Reno with a place for each).
//! Where somebody else fills the queue, every loss is taken for congestion, the radio's too.
//!
//! Promised by the paper, held in `tests/theory/veno.rs`: what is added and taken at either side of β, and the windows
//! under random losses. In `crates/sim/tests/radio.rs`: up to 80 % more than Reno where one packet in a hundred is lost;
//! that beside Reno it takes nothing.

use longfat_units::Time;
use longfat_units::parameter::{Parameter, Settings};

use super::vegas::{Samples, queueing_share};
use crate::{
    Cause, Congestion, Controller, Family, Feedback, Operating, Path, Phase, Probe, Remembered,
    Sending, Start, WindowLaw, WindowRule,
};

/// Veno's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("veno", build)
        .law(|settings| Box::new(VenoLaw(Shares::new(settings))))
        .title("TCP Veno: a loss without a queue takes little")
        .source("Fu & Liew 2003")
        .family(Family::LossAndDelay)
        .parameters([
            Parameter::number("beta", 3.0, 0.01, 1e6, "segments in queues that mean congestion"),
            Parameter::number("delta", 0.2, 0.01, 0.5, "share given up where fewer wait"),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    let shares = Shares::new(settings);
    Remembered::boxed(Veno { shares, samples: Samples::default(), share: None }, start)
}

/// Reno.
const HALF: f64 = 0.5;

/// β and δ.
#[derive(Clone, Copy, Debug)]
struct Shares {
    beta: f64,
    delta: f64,
}

impl Shares {
    fn new(settings: &Settings) -> Self {
        Self { beta: settings.number("beta"), delta: settings.number("delta") }
    }
}

/// The rule of the paper.
#[derive(Clone, Debug)]
pub struct Veno {
    shares: Shares,
    samples: Samples,
    /// The share of the last round trip that was spent in queues, if it is known.
    share: Option<f64>,
}

impl Veno {
    /// N, of this window.
    #[inline]
    fn waiting(&self, window: f64) -> Option<f64> {
        self.share.map(|share| window * share)
    }
}

impl WindowRule for Veno {
    #[inline]
    fn hear(&mut self, window: f64, feedback: &Feedback, path: &Path) -> f64 {
        let over = self.samples.hear(feedback);
        if feedback.round_starts {
            self.share = over.queueing_share(path.base_rtt).filter(|_| over.are_enough());
        }
        window
    }

    #[inline]
    fn gain(&mut self, window: f64, _: Time, _: &Path) -> f64 {
        let full = self.waiting(window).is_some_and(|waiting| waiting >= self.shares.beta);
        if full { HALF / window } else { 1.0 / window }
    }

    fn reduce(&mut self, window: f64, _: Phase, event: &Congestion, _: &Path) -> f64 {
        let room = self.waiting(window).is_some_and(|waiting| waiting < self.shares.beta);
        let share = if room && event.cause == Cause::Loss { self.shares.delta } else { HALF };
        (1.0 - share) * window
    }

    fn restart(&mut self, _: Time) {
        self.share = None;
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(share) = self.share {
            probe.value("queueing_share", share);
        }
    }
}

/// Veno as the fluid model drives it.
#[derive(Clone, Copy, Debug)]
struct VenoLaw(Shares);

impl VenoLaw {
    /// 0 where N is below β, 1 where it is above.
    fn congested(self, at: &Operating) -> f64 {
        let waiting = at.window.0 * queueing_share(at.rtt, at.base_rtt);
        (waiting - self.0.beta + 0.5).clamp(0.0, 1.0)
    }
}

impl WindowLaw for VenoLaw {
    fn gain(&self, at: &Operating) -> f64 {
        (1.0 - HALF * self.congested(at)) / at.window.0
    }

    fn give_up(&self, at: &Operating, cause: Cause) -> f64 {
        let Shares { delta, .. } = self.0;
        match cause {
            Cause::Loss => delta + (HALF - delta) * self.congested(at),
            Cause::Mark | Cause::Timeout => HALF,
        }
    }
}
