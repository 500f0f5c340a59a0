//! Westwood+: after a loss, as much as the path has been delivering.
//!
//! L. A. Grieco, S. Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion
//! Control", ACM SIGCOMM Computer Communication Review 34(2), 2004.
//!
//! Half of the window is a guess. What arrived in the last round trips says how fast the path is; a window of that rate
//! times the smallest round trip keeps it busy with an empty queue. Where losses are corruption and not congestion, as
//! on radio links, that window is the one it had, and a loss costs nothing:
//!
//! ```text
//!     each acknowledged segment    w ← w + 1/w
//!     each loss                    ssthresh ← BWE·RTT_min;  w ← min(w, ssthresh)
//!     each time-out                ssthresh ← BWE·RTT_min;  w ← 1
//!     BWE                          every round trip, 50 ms at least: b = delivered/time, then twice
//!                                  x ← 7/8 x + 1/8 b
//! ```
//!
//! Samples of a whole round trip are what the + stands for: the first Westwood took one from each acknowledgment, and
//! acknowledgments that come in bunches made it see several times the rate that there was.
//!
//! | parameter  | default | source                                                        |
//! |------------|---------|---------------------------------------------------------------|
//! | `weight`   | 1/8     | Linux: of a new sample, in each of two filters                |
//! | `shortest` | 50 ms   | Linux: a sample is not shorter than this                      |
//!
//! The Westwood+ of Linux began with one of the authors, A. Dell'Aera ("Linux 2.4 Implementation of Westwood+ TCP with
//! Rate-Halving", with Grieco and Mascolo, ICC 2004), and both numbers were checked there; the text of the paper of 2004
//! was not at hand. ns-3 has one filter.
//!
//! Decided here:
//!
//! - *Before the first sample* a loss takes half.
//! - *Delivered* is what was acknowledged in order or selectively, each segment once.
//! - *A sample ends with the acknowledgment before the one that finds it long enough*: several at the same time are
//!   one.
//! - *Marks* are answered like losses.
//!
//! Deviation: `RTT_min` is the smallest round trip in the life of the flow; Linux starts it anew after a time-out. A route
//! that becomes longer is therefore not noticed here, and a loss leaves a window for the shorter one.
//!
//! Domain: paths that lose for other reasons than congestion. With an unlimited queue `RTT_min` must have been seen
//! without it. *Large windows begin low*: of a rate that doubles with each round trip two filters of 1/8 have seen 4/81,
//! so the loss that ends slow start leaves a tenth of the product or less, and from there the window grows by a segment
//! per round trip. From 30 to 80 s one flow uses 24 % of 1 Gbit/s and 100 ms, eight 58 to 73 %, and 32 all of it. Needs
//! nothing beyond acknowledgments with round trips. Not a window law: what a loss takes is measured, so the fluid model
//! refuses it.
//!
//! Promised by the paper, held in `tests/theory/westwood.rs`: BWE and what a loss leaves; there too, what is seen of slow
//! start. That it fills a link which corrupts packets, where Reno does not, and leaves no queue after a loss:
//! `crates/sim/tests/controllers.rs`.

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Span, Time};

use crate::{
    Congestion, Controller, Family, Feedback, Path, Phase, Probe, Promises, Remembered, Sending,
    Start, WindowRule,
};

/// Westwood's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("westwood", build)
        .title("Westwood+: after a loss, the measured rate times the smallest round trip")
        .source("Grieco & Mascolo, CCR 34(2), 2004")
        .family(Family::LossAndDelay)
        .parameters([
            Parameter::number("weight", 0.125, 1e-3, 1.0, "weight of a new sample in each filter"),
            Parameter::span("shortest", "50 ms", "shortest time over which the rate is measured"),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Remembered::boxed(Westwood::new(settings), start)
}

/// The rule of the paper.
#[derive(Clone, Debug)]
pub struct Westwood {
    weight: f64,
    shortest: Span,
    /// Delivered since then.
    since: Option<Time>,
    delivered: u64,
    /// The two filters, in segments per second; the second is BWE.
    filters: Option<[f64; 2]>,
}

impl Westwood {
    fn new(settings: &Settings) -> Self {
        Self {
            weight: settings.number("weight"),
            shortest: settings.span("shortest"),
            since: None,
            delivered: 0,
            filters: None,
        }
    }

    fn sample(&mut self, length: Span) {
        let rate = self.delivered as f64 / length.seconds();
        let [first, second] = self.filters.get_or_insert([rate; 2]);
        *first += self.weight * (rate - *first);
        *second += self.weight * (*first - *second);
    }

    /// `BWE·RTT_min`, in segments.
    fn share(&self, path: &Path) -> Option<f64> {
        // Before the first sample the smallest round trip is as large as can be.
        let smallest = path.base_rtt.min(path.rtt).seconds();
        self.filters.map(|[_, bandwidth]| bandwidth * smallest)
    }
}

impl WindowRule for Westwood {
    #[inline]
    fn hear(&mut self, window: f64, feedback: &Feedback, path: &Path) -> f64 {
        let now = feedback.now;
        let length = now.since(*self.since.get_or_insert(now));
        if length >= path.rtt.max(self.shortest) && length > Span::ZERO {
            self.sample(length);
            self.since = Some(now);
            self.delivered = 0;
        }
        self.delivered += feedback.delivered();
        window
    }

    #[inline]
    fn gain(&mut self, window: f64, _: Time, _: &Path) -> f64 {
        1.0 / window
    }

    fn reduce(&mut self, window: f64, _: Phase, _: &Congestion, path: &Path) -> f64 {
        self.share(path).unwrap_or(window / 2.0)
    }

    fn threshold_after_timeout(&self, event: &Congestion, path: &Path) -> f64 {
        self.share(path).unwrap_or(event.in_flight as f64 / 2.0)
    }

    fn restart(&mut self, _: Time) {}

    fn promises(&self) -> Promises {
        Promises { forgetful: false, ..Promises::LAW }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some([_, bandwidth]) = self.filters {
            probe.value("bandwidth", bandwidth);
        }
    }
}
