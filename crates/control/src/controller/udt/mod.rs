//! UDT: adds what is missing by the power of ten, and asks pairs of packets how much that is.
//!
//! Y. Gu, R. L. Grossman, "UDT: UDP-based Data Transfer for High-Speed Wide Area Networks", Computer Networks 51(7), 2007;
//! draft-gg-udt-03.
//!
//! # The problem
//!
//! TCP adds a segment per round trip whatever is missing, 10 Mbit/s or 10 Gbit/s, and the less often the longer the way. Who
//! had a fibre of 10 Gbit/s between continents to himself in 2003, for the data of a telescope, could not fill it, nor change
//! his kernel. UDT is a transport for such paths in a library. It steers a rate, not a window, by a clock of 10 ms that is the
//! same on every path; and what it adds depends on how much of the link is left. To know that it measures the link.
//!
//! # The law
//!
//! ```text
//!     every T = 10 ms    C ← C + i/T                        a packet leaves every 1/C s, the link takes L in a second
//!     i packets          10^⌈log10(8 S (L - C))⌉ · β/S      of S bytes, β = 1.5e-6 bytes per bit/s; at least i₀
//!     a gap              C ← 8/9 C if it lies above all that had left when C was last reduced: a period begins;
//!                        or else if it is the second to fifth of the period, and r divides its number
//!     in flight          A (RTT + T) + 16                   A packets per second arrive
//! ```
//!
//! With packets of 1500 bytes that is:
//!
//! | left, L - C       | i per 10 ms | C grows per second by |
//! |-------------------|-------------|-----------------------|
//! | 1 to 10 Gbit/s    | 10          | 1.2 Gbit/s            |
//! | 0.1 to 1 Gbit/s   | 1           | 120 Mbit/s            |
//! | 10 to 100 Mbit/s  | 0.1         | 12 Mbit/s             |
//! | less              | 0.01        | 1.2 Mbit/s            |
//!
//! So what is left has been divided by ten after at most 7.5 s, on every link and at every round trip: 9/10 of 10^k bit/s at
//! 1.2 · 10^(k-1) bit/s each second. To divide it by ten again takes as long. Rates that share a link add the same and give up
//! the same share, so they become equal, those of long ways too: the clock is not theirs.
//!
//! Every sixteenth packet leaves with the next one at its heels, and no time is added for it afterwards, so that what leaves in
//! a second is 16/15 C: at C = 15/16 L the link is full. Behind the slowest link the two are as far apart as it takes to send
//! one: L is one over the median of the last sixteen such intervals. A is one over the mean of the last sixteen intervals
//! between arrivals, of those within a factor of eight of their median. Both are averaged with weight 1/8 per 10 ms.
//!
//! r is drawn anew with each period between such gaps, from 1 to their average number in a period, so that flows that lost
//! packets in the same full queue do not all give way as far.
//!
//! # Parameters
//!
//! | key              | symbol | default | source |
//! |------------------|--------|---------|--------|
//! | `interval`       | T      | 10 ms   | the paper: SYN |
//! | `least_increase` | i₀     | 0.01    | the program since 2012, in packets; 1/S in the draft |
//! | `cautious`       |        | true    | the program: see below |
//!
//! Paper and draft could be had in quotations only. All that is told here is in the authors' program (UDT 4, BSD licence) but
//! for the median of sixteen pairs, which is the draft's: the program has 64, and the mean of those within a factor of eight of
//! their median. And it has two rules more than these: i₀, since with 1/S a rate that L - C says nothing about stays low for
//! long; and *caution*: until the rate before the last period is reached again, L - C counts as L/9 at most, which is what a
//! gap takes. `cautious = false` leaves that out.
//!
//! What the program settles:
//!
//! - *The start* is that of TCP: a segment more for each acknowledged one, not paced. It ends at the first gap or time-out.
//!   The rate is the arrival speed then, and the gap counts no further; where no speed is known it is the window over RTT + T,
//!   and the gap counts. The program takes that quotient for the time between packets.
//! - *After a gap* one increase is left out.
//! - *The average of gaps per period* is ⌈7/8 of it + 1/8 of the last⌉.
//! - *A time-out* changes no rate.
//!
//! Decided here:
//!
//! - *A gap* is a run of neighbours that are found lost; there the receiver sees it and says so (NAK). Whatever is found lost
//!   again is a further gap, as the receiver asks for it again.
//! - *What arrived when* follows from acknowledgments and the host's one-way delay, where UDT's receiver looks itself. Where
//!   acknowledgments are delayed, pairs are seen while each packet has its own: after a gap, and in the start.
//! - *Packets that arrive at one instant*, as behind jitter, have no interval between them.
//! - *Pairs* are counted by departures, retransmissions included, and whatever leaves at one instant is one, as in the start.
//! - *The first of the averages* is the first sample.
//! - *Caution* begins with the first period. The program's is there from the beginning, as if C had been 10⁶ before.
//! - *A mark* is a gap that counts, once per window. UDT has no use for ECN.
//! - *A slow-start threshold*, if the host has one, ends the start where the window has come to it.
//! - *Where the flow has nothing to send*, or the receiver bounds it, when an interval ends, its rate does not rise, as the
//!   program's does. Where pacing still spreads what the application has written, it rises here, too.
//! - The program rounds times between packets up to microseconds, which at 10 Gbit/s is everything. Not here.
//!
//! # Domain
//!
//! Few large flows on long fat networks, for which it was made: 97 to 99 % of 100 Mbit/s to 10 Gbit/s and 100 ms alone, with a
//! queue that is nearly half of the buffer in the mean, since a window that follows a growing round trip holds nothing back.
//! With 0.1 BDP of buffer it has 95 % of 1 Gbit/s. β and S are absolute: on 10 Mbit/s i₀ is an eighth of the link in each
//! second, whatever is left, and the queue hardly ever empties; and 20 flows on 1 Gbit/s, each of which adds as if what is left
//! were all its own, keep it full and have 9 % of their packets dropped.
//!
//! A loss at random is a gap. Where each takes a ninth and the rate grows by g bit/s in a second, losses of p of the packets
//! leave √(9 g · 8 S/p) bit/s: 36 Mbit/s with p = 10⁻³ on 100 Mbit/s, and 114 on 1 Gbit/s, whatever the round trip. At 100 ms
//! it has 41 and 137, since some gaps are further ones of a period.
//!
//! Behind jitter packets arrive in clusters, and neither L nor A is what the link takes: with 0.1, 1 and 5 ms of it a flow has
//! 98, 55 and 15 of 100 Mbit/s at 100 ms, where CUBIC has all.
//!
//! Beside it, at 100 ms, a Reno flow has 6 of 100 Mbit/s, one of CUBIC 13, BBRv3 44.
//!
//! # What the sources say
//!
//! Held in `tests.rs` here: the table, 7.5 s, what a gap takes and how often. In `crates/sim/tests/udt.rs`: the capacity that
//! pairs find, the 7.5 s at any round trip, equal rates where one is ten times as long, what pairs add and what jitter takes.

mod arrivals;
#[cfg(test)]
mod tests;

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span, Time};

use self::arrivals::Arrivals;
use crate::bounds::{CEILING, FLOOR, first_window};
use crate::registry::above_zero;
use crate::{
    Cause, Chance, Congestion, CongestionControl, Controller, Family, Feedback, Limited, Lost,
    Needs, Pacing, Path, Probe, Sending, Sent, Start, Wants,
};

/// UDT's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("udt", build)
        .title("UDT: a rate that grows every 10 ms by the power of ten that pairs of packets say is left")
        .source("Gu & Grossman 2007; draft-gg-udt-03")
        .family(Family::Loss)
        .parameters([
            Parameter::span("interval", "10 ms", "time between two increases: above 0"),
            Parameter::number(
                "least_increase",
                0.01,
                1e-6,
                1e3,
                "packets per interval that it adds at the least",
            ),
            Parameter::flag(
                "cautious",
                true,
                "does a ninth of the link count as left, at most, until the rate before the last loss is back?",
            ),
        ])
        .check(above_zero("interval"))
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Udt::new(settings, start)))
}

/// β, in bytes per bit/s.
const BETA: f64 = 1.5e-6;
/// Share of the rate that a gap leaves: the time between packets grows by an eighth.
const KEPT: f64 = 1.0 / 1.125;
/// How much of the link a gap takes.
const TAKEN: f64 = 1.0 / 9.0;
/// Gaps of a period that can count, the first included.
const MOST_GAPS: u32 = 5;
/// Weight of a sample of the arrival speed and of the capacity, and of a period's gaps.
const WEIGHT: f64 = 0.125;
/// Every so many departures two packets leave together.
const PAIR_EVERY: u64 = 16;
/// Packets that may be in flight beyond A (RTT + T).
const SPARE: f64 = 16.0;
/// Packets per second at the least.
const SLOWEST: f64 = 1.0;

/// What is left, in bits per second, as the next power of ten.
fn power_of_ten(bits: f64) -> f64 {
    let mut power = 1.0;
    while power < bits && power < CEILING * CEILING {
        power *= 10.0;
    }
    power
}

/// A period begins with a gap above everything that had left when the rate was last reduced.
#[derive(Clone, Copy, Debug)]
struct Period {
    /// Gaps so far, of those that can count.
    gaps: u32,
    /// Every so many of them count.
    every: u32,
    /// The average number of gaps in a period.
    average: f64,
    /// New segments that had left when the rate was last reduced.
    left: u64,
}

/// Gaps that no call has answered yet.
#[derive(Clone, Copy, Debug, Default)]
struct Gaps {
    /// Of the period under way, before the first that begins another one.
    known: u32,
    /// From that one on.
    fresh: u32,
}

impl Gaps {
    #[inline]
    fn any(self) -> bool {
        self.known + self.fresh > 0
    }
}

/// One flow under UDT.
#[derive(Clone, Debug)]
pub struct Udt {
    /// C, in packets per second; none in the start.
    rate: Option<f64>,
    window: f64,
    /// Where the start ends by itself, or has ended; never above the window after it, which would look like another start.
    threshold: Option<Segments>,
    /// L and A, in packets per second.
    capacity: Option<f64>,
    speed: Option<f64>,
    arrivals: Arrivals,
    /// When the next increase is due.
    due: Time,
    /// Has there been a gap since the last one was?
    lossy: bool,
    /// The rate before the last reduction at the beginning of a period.
    before: f64,
    period: Period,
    waiting: Gaps,
    /// One past the last segment found lost.
    after_lost: Option<u64>,
    /// Departures, and those of new segments.
    departures: u64,
    new: u64,
    chance: Chance,
    interval: Span,
    least_increase: f64,
    cautious: bool,
    /// S, in bytes.
    packet: f64,
}

impl Udt {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        Self {
            rate: None,
            window: first_window(start.window),
            threshold: start.threshold,
            capacity: None,
            speed: None,
            arrivals: Arrivals::default(),
            due: Time::ZERO,
            lossy: false,
            before: 0.0,
            period: Period { gaps: 0, every: 1, average: 0.0, left: 0 },
            waiting: Gaps::default(),
            after_lost: None,
            departures: 0,
            new: 0,
            chance: Chance::new(start.chance),
            interval: settings.span("interval"),
            least_increase: settings.number("least_increase"),
            cautious: settings.flag("cautious"),
            packet: start.packet.0.max(1) as f64,
        }
    }

    /// What was measured in the last interval.
    fn measure(&mut self) {
        let averaged = |average: Option<f64>, sample: Option<f64>| match (average, sample) {
            (Some(average), Some(sample)) => Some(average + WEIGHT * (sample - average)),
            (average, sample) => average.or(sample),
        };
        self.speed = averaged(self.speed, self.arrivals.speed());
        self.capacity = averaged(self.capacity, self.arrivals.capacity());
    }

    /// Packets by which the next interval has more than this one: i.
    fn increase(&self, rate: f64) -> f64 {
        let capacity = self.capacity.unwrap_or(0.0);
        let mut left = capacity - rate;
        if self.cautious && rate < self.before {
            left = left.min(capacity * TAKEN);
        }
        if left <= 0.0 {
            return self.least_increase;
        }
        (power_of_ten(left * self.packet * 8.0) * BETA / self.packet).max(self.least_increase)
    }

    /// An interval is over: at this rate, or in the start.
    fn end_interval(&mut self, may_grow: bool, rtt: Span) {
        self.measure();
        let Some(rate) = self.rate else { return };
        if let Some(speed) = self.speed {
            let time = rtt.seconds() + self.interval.seconds();
            self.window = (speed * time + SPARE).clamp(FLOOR, CEILING);
            self.threshold = self.threshold.map(|at| Segments(at.0.min(self.window)));
        }
        let lossy = std::mem::take(&mut self.lossy);
        if may_grow && !lossy {
            let rate = rate + self.increase(rate) / self.interval.seconds();
            self.rate = Some(rate.min(CEILING));
        }
    }

    /// The start is over. Is its rate the arrival speed?
    fn end_start(&mut self, rtt: Span) -> bool {
        self.measure();
        let time = rtt.seconds() + self.interval.seconds();
        self.rate = Some(self.speed.unwrap_or(self.window / time).clamp(SLOWEST, CEILING));
        self.threshold = Some(Segments(self.window));
        self.speed.is_some()
    }

    fn reduce(&mut self) {
        self.rate = self.rate.map(|rate| (rate * KEPT).max(SLOWEST));
        self.period.left = self.new;
    }

    /// A gap begins a period.
    fn begin_period(&mut self) {
        let Some(rate) = self.rate else { return };
        self.lossy = true;
        self.before = rate;
        let gaps = f64::from(self.period.gaps);
        let average = (self.period.average + WEIGHT * (gaps - self.period.average)).ceil();
        let every = (average * self.chance.uniform()).ceil().max(1.0) as u32;
        self.period = Period { gaps: 1, every, average, ..self.period };
        self.reduce();
    }

    /// A further gap of the period.
    fn go_on(&mut self) {
        self.lossy = true;
        let period = &mut self.period;
        if period.gaps == MOST_GAPS {
            return;
        }
        period.gaps += 1;
        if period.gaps.is_multiple_of(period.every) {
            self.reduce();
        }
    }

    /// Answers the gaps that are waiting for it. The one that ends the start takes nothing where an arrival speed is known.
    fn answer(&mut self, rtt: Span) {
        let waiting = std::mem::take(&mut self.waiting);
        let Gaps { known, mut fresh } = waiting;
        if waiting.any() && self.rate.is_none() && self.end_start(rtt) {
            fresh -= 1;
        }
        (0..known).for_each(|_| self.go_on());
        if fresh > 0 {
            self.begin_period();
            (1..fresh).for_each(|_| self.go_on());
        }
    }
}

impl CongestionControl for Udt {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let now = feedback.now;
        if let (Some(rtt), Some(transit)) = (feedback.rtt, feedback.one_way_delay) {
            let delivered = feedback.delivered();
            if delivered > 0 {
                self.arrivals.hear(Time(now.0.saturating_sub(rtt.0)), transit, delivered);
            }
        }
        if self.waiting.any() {
            self.answer(path.rtt);
        }
        if self.rate.is_none() {
            if self.threshold.is_some_and(|threshold| self.window >= threshold.0) {
                self.end_start(path.rtt);
            } else if feedback.limited.may_grow() {
                self.window = (self.window + feedback.delivered() as f64).min(CEILING);
            }
        }
        if now >= self.due {
            let missed = now >= self.due.saturating_add(self.interval);
            let from = if missed { now } else { self.due };
            self.due = from.saturating_add(self.interval);
            let bounded = matches!(feedback.limited, Limited::Application | Limited::Receiver);
            self.end_interval(!bounded, path.rtt);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        match event.cause {
            Cause::Loss => {}
            Cause::Mark => self.waiting.fresh += 1,
            Cause::Timeout => {
                self.waiting = Gaps::default();
                if self.rate.is_none() {
                    self.end_start(path.rtt);
                }
            }
        }
        self.answer(path.rtt);
    }

    fn on_lost(&mut self, lost: &Lost, _: &Path) {
        let neighbour = self.after_lost.replace(lost.segment.saturating_add(1));
        if neighbour == Some(lost.segment) {
            return;
        }
        if self.waiting.fresh > 0 || lost.segment >= self.period.left {
            self.waiting.fresh += 1;
        } else {
            self.waiting.known += 1;
        }
    }

    #[inline]
    fn on_sent(&mut self, sent: &Sent, _: &Path) {
        self.departures += 1;
        self.new += u64::from(!sent.again);
    }

    fn growth_limit(&self, _: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        None
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// The first of a pair adds nothing to the time until the second.
    #[inline]
    fn pacing(&self) -> Pacing {
        match self.rate {
            Some(rate) if !self.departures.is_multiple_of(PAIR_EVERY) => Pacing::Rate(rate),
            _ => Pacing::Unpaced,
        }
    }

    fn threshold(&self) -> Option<Segments> {
        self.threshold
    }

    fn wants(&self) -> Wants {
        Wants {
            pacing: true,
            losses: true,
            departures: true,
            own_recovery: true,
            one_way_delay: true,
            ..Wants::NOTHING
        }
    }

    fn needs(&self) -> Needs {
        Needs { pacing: true, ..Needs::NONE }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        let megabits = |packets: f64| packets * self.packet * 8e-6;
        for (name, value) in
            [("rate", self.rate), ("capacity", self.capacity), ("arrival", self.speed)]
        {
            if let Some(value) = value {
                probe.value(name, megabits(value));
            }
        }
    }
}
