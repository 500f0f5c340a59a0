//! PIE: drops on arrival, with a probability that holds the waiting time at a target.
//!
//! R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE): A Lightweight Control
//! Scheme to Address the Bufferbloat Problem", RFC 8033, 2017.
//!
//! # The problem
//!
//! PI holds a queue of a given length, with gains for one rate, one round trip and one number of flows. What users feel
//! is the time in the queue, and a home router is not told any of the three. PIE controls the time, and makes its gains
//! follow the load: the drop probability itself tells how heavy that is.
//!
//! # The algorithm
//!
//! Every `interval`, with a waiting time of d then and d' at the update before:
//!
//! ```text
//!     Δ = alpha (d - target) + beta (d - d')
//!     Δ is divided by   2048 if p < 10⁻⁶    128 if p < 10⁻⁴     8 if p < 10⁻²
//!                        512 if p < 10⁻⁵     32 if p < 10⁻³     2 if p < 10⁻¹
//!     Δ is at most 0.02 if p ≥ 10⁻¹
//!     p ← p + Δ,  and then  0.98 p if d = d' = 0,  within 0 … 1
//! ```
//!
//! An arrival is dropped with probability p, unless
//!
//! * the queue has been calm, p = 0 and d, d' < target/2, at some time within the last `burst`: a burst may pass;
//! * d' < target/2 and p < 0.2, or no more than two packets wait: the link must not run dry.
//!
//! A packet that can be marked is marked instead as long as p < `mark_below`. Tosses that come out alike many times in
//! a row would move the queue, so they are smoothed: after a drop p is summed up from arrival to arrival; below 0.85
//! nothing is dropped, and from 8.5 on the next arrival is. A mark counts as a drop here, and so does a drop by a full
//! buffer.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `target` | `QDELAY_REF` | 15 ms | RFC 8033, section 4.2 |
//! | `interval` | `T_UPDATE` | 15 ms | section 4.2 |
//! | `alpha` | alpha | 1/8 /s | its pseudo-code |
//! | `beta` | beta | 1 1/4 /s | the same |
//! | `burst` | `MAX_BURST` | 150 ms | section 4.4 |
//! | `ecn` | | true | section 5.1; `false` drops |
//! | `mark_below` | `mark_ecnth` | 0.1 | section 5.1 |
//! | `derandomize` | | true | section 5.4; `false` is the basic algorithm |
//!
//! In data centres, where target and burst are a thousand times shorter, alpha and beta are to be as many times larger
//! (section 4.2).
//!
//! # Domain
//!
//! Links of any rate, changing or not, and any number of flows; tested at round trips of 80 ms. With smoothing the
//! share of packets that is hit is p/1.85, since 0.85/p packets pass before the tosses begin: p settles higher, and the
//! waiting time is the same.
//!
//! # Deviations
//!
//! * d is how long the first packet in line has waited, and 0 if none waits. The RFC leaves open how it is measured
//!   (section 4.3); packets here carry their time of arrival, so its estimate of the rate (5.2) is not needed.
//! * Of the optional elements (section 5), marking, smoothing and the limit on Δ are in. PIE does not switch itself off
//!   below a third of the buffer (5.3): whatever the buffer, the target is the same.
//! * Arrivals that are kept in any case, in a burst or because the link must not run dry, add nothing to the sum of p. In
//!   appendix B those of a burst do.
//! * The mean packet of "two packets" is the largest that crosses the link.
//!
//! # What the RFC promises
//!
//! * The updates and drops, worked out by hand (`tests/pie.rs`).
//! * The waiting time is held at the target, whatever the rate and the number of flows (`pie_holds_its_target`, in the
//!   tests of the simulator).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, Span, Time};
use rand_core::Rng;

use crate::shared::{check_interval, uniform};
use crate::{
    Built, Capacity, Clock, Discipline, Host, Item, Line, PacketQueue, Probe, Refusal, Site,
};

/// PIE's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("pie", |settings, site| Built::Own(Box::new(Pie::new(settings, site))))
        .title("drops on arrival with a probability that holds the waiting time at a target")
        .source("RFC 8033, Pan, Natarajan, Baker & White 2017")
        .parameters([
            Parameter::span("target", "15 ms", "waiting time to hold (QDELAY_REF)"),
            Parameter::span(
                "interval",
                "15 ms",
                "time from one update of the probability to the next (T_UPDATE)",
            ),
            Parameter::frequency(
                "alpha",
                0.125,
                1e-6,
                1e6,
                "probability per second of waiting above the target, at each update",
            ),
            Parameter::frequency(
                "beta",
                1.25,
                0.0,
                1e6,
                "probability per second by which the waiting time has grown, at each update",
            ),
            Parameter::span(
                "burst",
                "150 ms",
                "how long a queue that was calm before may exceed the target (MAX_BURST)",
            ),
            Parameter::flag(
                "ecn",
                true,
                "marks packets that can be marked instead of dropping them",
            ),
            Parameter::number(
                "mark_below",
                0.1,
                0.0,
                1.0,
                "from this probability on it drops them all the same (mark_ecnth)",
            ),
            Parameter::flag(
                "derandomize",
                true,
                "keeps drops from coming very close to each other or very far apart",
            ),
        ])
        .check(check)
}

/// Updates per target: with more, the probability hardly moves between two of them.
const MOST_UPDATES: u64 = 1000;

fn check(settings: &Settings, _: &Site) -> Result<(), Refusal> {
    let (target, interval) = (settings.span("target"), settings.span("interval"));
    if interval.0.saturating_mul(MOST_UPDATES) < target.0 {
        let reason = format!(
            "`interval` ({interval}) must be at least a thousandth of `target` ({target}): the probability is to move \
             between two updates"
        );
        return Err(("interval".into(), reason));
    }
    check_interval(settings)
}

/// The steps of the probability are divided by the second number while it is below the first.
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

/// The largest step upwards of a probability that is large already.
const LARGEST_STEP: f64 = 0.02;

/// Nothing is hit while the probabilities since the last hit sum up to less than the first; from the second on the next
/// arrival is.
const SUMS: (f64, f64) = (0.85, 8.5);

/// The queue.
#[derive(Debug)]
struct Pie {
    line: Line,
    clock: Clock,
    /// p
    probability: f64,
    /// d'
    last: Span,
    /// How much longer a burst may last.
    allowance: Span,
    /// Probabilities since the last drop.
    sum: f64,

    target: Span,
    alpha: f64,
    beta: f64,
    burst: Span,
    ecn: bool,
    mark_below: f64,
    derandomize: bool,
    /// A queue of so many bytes is left alone.
    few: Bytes,
    capacity: Capacity,
}

impl Pie {
    fn new(settings: &Settings, site: &Site) -> Self {
        Self {
            line: Line::default(),
            clock: Clock::new(Some(settings.span("interval"))),
            probability: 0.0,
            last: Span::ZERO,
            allowance: settings.span("burst"),
            sum: 0.0,
            target: settings.span("target"),
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            burst: settings.span("burst"),
            ecn: settings.flag("ecn"),
            mark_below: settings.number("mark_below"),
            derandomize: settings.flag("derandomize"),
            few: site.packet * 2,
            capacity: site.capacity,
        }
    }

    /// d
    fn wait(&self, now: Time) -> Span {
        self.line.first().map_or(Span::ZERO, |item| item.sojourn(now))
    }

    /// Is this wait less than half the target?
    fn is_short(&self, wait: Span) -> bool {
        wait.0 < self.target.0.div_ceil(2)
    }

    fn update(&mut self, now: Time) {
        let (wait, p) = (self.wait(now), self.probability);
        let (above, grown) =
            (wait.seconds() - self.target.seconds(), wait.seconds() - self.last.seconds());
        let scale = SCALES.iter().find(|(below, _)| p < *below).map_or(1.0, |(_, scale)| *scale);
        let mut step = (self.alpha * above + self.beta * grown) / scale;
        if p >= 0.1 {
            step = step.min(LARGEST_STEP);
        }
        let calm = wait == Span::ZERO && self.last == Span::ZERO;
        let decay = if calm { 0.98 } else { 1.0 };
        self.probability = ((p + step) * decay).clamp(0.0, 1.0);
        self.last = wait;
        self.allowance = Span(self.allowance.0.saturating_sub(self.clock.period().0));
    }

    /// Is it the turn of the packet that arrives to be dropped or marked?
    fn hits(&mut self, chance: &mut dyn Rng) -> bool {
        let p = self.probability;
        if (self.is_short(self.last) && p < 0.2) || self.line.backlog().bytes <= self.few {
            return false;
        }
        if !self.derandomize {
            return uniform(chance) < p;
        }
        self.sum = if p == 0.0 { 0.0 } else { self.sum + p };
        let hits = self.sum >= SUMS.1 || (self.sum >= SUMS.0 && uniform(chance) < p);
        if hits {
            self.sum = 0.0;
        }
        hits
    }
}

impl PacketQueue for Pie {
    fn enqueue(&mut self, now: Time, mut item: Item, host: &mut dyn Host) {
        if !self.capacity.admits(self.line.backlog(), item.bytes) {
            self.sum = 0.0;
            return host.drop(item);
        }
        if self.probability == 0.0 && self.is_short(self.last) && self.is_short(self.wait(now)) {
            self.allowance = self.burst;
        }
        if self.allowance == Span::ZERO && self.hits(host.chance()) {
            let marks = self.ecn && self.probability < self.mark_below;
            if !(marks && host.mark(&mut item)) {
                return host.drop(item);
            }
        }
        self.line.push(item);
    }

    fn dequeue(&mut self, _: Time, _: &mut dyn Host) -> Option<Item> {
        self.line.pop()
    }

    fn advance(&mut self, now: Time) {
        let due = self.clock.next();
        if due > now {
            return;
        }
        // Nothing has arrived or left since the last call: the first packet has waited longer at each look, or there is
        // none. Once nothing moves but that wait, nothing else does to the end.
        let (looks, period) = (self.clock.take_due(now), self.clock.period());
        for look in 0..looks {
            let before = (self.probability, self.last, self.allowance);
            self.update(due + period * look);
            let is_at_most = self.probability == 1.0 && before.0 == 1.0 && self.last > self.target;
            let is_idle = self.line.first().is_none();
            if is_at_most || is_idle && (self.probability, self.last, self.allowance) == before {
                let rest = period.0.saturating_mul(looks - 1 - look);
                self.allowance = Span(self.allowance.0.saturating_sub(rest));
                self.last = self.wait(due + period * (looks - 1));
                break;
            }
        }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("probability", self.probability);
    }
}
