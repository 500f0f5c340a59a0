//! PCC Vivace: tries two rates, and moves towards the one that served it better.
//!
//! M. Dong, T. Meng, D. Zarchy, E. Arslan, Y. Gilad, P. B. Godfrey, M. Schapira, "PCC Vivace: Online-Learning Congestion
//! Control", NSDI 2018.
//!
//! # The problem
//!
//! Every other controller here takes a sign, a loss, a mark, a longer round trip, for what its author thought it means,
//! and does what its author thought is best then. Where a loss means something else, a wrong answer is built in. PCC
//! ("performance-oriented") assumes nothing about the path. It sends at a rate for a *monitor interval* of a round trip,
//! counts what became of these segments, and makes one number of it, the *utility*. What served better is done more. PCC
//! Allegro (NSDI 2015) went fixed steps in the better direction; Vivace goes up the gradient, as far as it is steep.
//!
//! # The law
//!
//! ```text
//!     u(x) = x^t - b x dRTT/dT - c x L     x Mbit/s sent, of which a share L was lost, while round trips grew
//!     start      x doubles with each interval, until u falls; then the rate before it
//!     learn      two intervals at r (1 ± ε), the order by chance:   γ = (u₁ - u₂)/(x₁ - x₂)
//!                r ← r + Δ,   Δ = m(τ) θ₀ γ,   |Δ| ≤ ω r
//!     m(τ)       after τ steps in one direction: τ, and 2τ - 3 from the fourth on
//!     ω          ω₀ + k δ:  k + 1 where ω bounded the step, else the smallest k that would not have; 0 where it turns
//! ```
//!
//! u is concave in all rates together (t < 1), which makes the game of several senders one with a single equilibrium,
//! equal rates (theorem 1), to which going up one's own gradient leads. b is so large that any growing queue costs more
//! than it brings: where b ≥ t n^(2-t) C^(t-1) the n senders of a link of C Mbit/s leave its queue empty (theorem 2),
//! 900 against 0.6 with one on 100 Mbit/s. And c is what random losses it bears: alone on a link it grows while
//! du/dx = t x^(t-1) - c L is above zero, so it fills the link as long as
//!
//! ```text
//!     L < t/c x^(t-1):    5.0 % at 100 Mbit/s, 4.0 % at 1 Gbit/s, 3.2 % at 10, 2.5 % at 100
//! ```
//!
//! and beyond that has most of x = (t/(c L))^(1/(1-t)), which is 16 Mbit/s at 6 % and 0.9 at 8 %: a cliff. But the slope
//! on either side is so small that the chance of losses moves it more. (By default losses of up to 3 % are worth bearing at
//! any rate: see *tolerance* below.)
//!
//! # Parameters
//!
//! | key                  | symbol | default | source |
//! |----------------------|--------|---------|--------|
//! | `exponent`           | t      | 0.9     | both programs below |
//! | `latency_coefficient`| b      | 900     | both; 0 is the paper's Vivace-Loss, which does not heed the queue |
//! | `loss_coefficient`   | c      | 11.35   | both |
//! | `step`               | ε      | 0.05    | both |
//! | `conversion`         | θ₀     | 1       | both: Mbit/s for a utility of one per Mbit/s |
//! | `boundary`           | ω₀     | 0.05    | both |
//! | `boundary_increment` | δ      | 0.1     | WebRTC; 0.06 in the authors' program |
//! | `least_gradient`     |        | 0.01    | section 4.3, WebRTC: a gradient of round trips below it is none |
//! | `tolerant`           |        | true    | the authors' program; false: the text of the paper, WebRTC |
//!
//! The paper could be had only in quotations: the utility, both theorems, how ω moves, the filter at 0.01, the second
//! look and the time-out of section 4.3 are from these. The rest was checked against the authors' program (PCC-Uspace,
//! branch NSDI-2018, BSD licence) and against what WebRTC made of the paper in 2018 (`modules/congestion_controller/pcc`,
//! BSD licence), whose m(τ) this is; the authors' goes up in steps of 1, 2, 4 and 8 and counts halves.
//!
//! *Tolerance.* By the text losses cost what they are, and a second look is taken wherever less is lost of more, which
//! is hardly the doing of the rate. Where losses come at random that makes it fall: the noise that speaks for the faster
//! rate is looked at again, the noise that speaks against it counts at once. With 2 % of them it has 18 of 100 Mbit/s in
//! round trips of 30 ms with `recovery = "rack"`. The program from which the paper's figures are has three rules that the
//! text has not, and 90: up to 1 % lost of both intervals together counts in both alike; up to 3 % lost of an interval cost
//! 1 in place of c; and a second look is taken only where 5 % are lost, more than two segments fewer of the faster rate, and
//! some of it. With `"sack"` time-outs leave 10 and 29 Mbit/s.
//!
//! What these settle:
//!
//! - *While it waits* for what became of its intervals, it sends at r; so a step takes a little more than three round
//!   trips, a doubling two.
//! - *The gradient of round trips* is the slope of a straight line through them over the times of departure, by least
//!   squares. The first of an interval has waited for what was sent before: a queue that was there is no gradient.
//! - *Round trips that shrink* bring nothing, as in the authors' program since 2020 (its branch master). By the formula alone a
//!   queue that happens to empty pays for any rate.
//! - *A second look*: both rates are tried again, and if the same comes out, the mean of the two gradients counts.
//! - *An interval* lasts a smoothed round trip, and ten segments at the least.
//! - *A time-out of an interval*: if two round trips after its end it is not known what became of it, r halves.
//! - *An emergency*: r halves too where more than half of an interval is lost (the authors' program). Without that it follows
//!   noise upwards where round trips jitter: 900 times a gradient of a hundredth outweighs all losses.
//!
//! Decided here:
//!
//! - *What became of an interval* is known when a segment is acknowledged that left an eighth of a round trip after its
//!   end: by then hosts have found its losses (RFC 9002, section 6.1.2). Later ones are not counted. Hosts that find them one
//!   by one have not, so where a quarter and two segments of an interval are missing, all that is missing counts as lost.
//! - *The first rate* is the first window over the first round trip, and that is tried before it is doubled. If its utility is
//!   not above zero (the authors' branch master begins with zero), half of it is where learning begins. A round trip that the
//!   host knows before it measures one is that of light, which says nothing where the time to send a packet is a hundred times
//!   as long: then the first one measured counts.
//! - *The window* is twice what the rate needs in a smoothed round trip, and stops a sender that hears nothing.
//! - *Two segments per round trip* are the least.
//! - *Where the flow has too little to send*, or the receiver bounds it, the rate may fall, the start may end, and the rate
//!   does not rise.
//! - *Marks* cost what losses cost: of n segments that arrive with m marks L is m/n. So receivers have to count them (Accurate
//!   ECN): a classic echo comes with each acknowledgment until the sender has answered, and one mark would look like a round
//!   trip full of them. Marks are no emergency, however many they are: these segments have arrived.
//! - *A retransmission time-out* halves r and ends the start.
//!
//! # Domain
//!
//! θ₀ and the segments that an interval needs are absolute, so there are rates that it was made for: of Mbit/s to some
//! Gbit/s. At 1 Gbit/s a step that is not amplified is 0.45 Mbit/s in three round trips, and only m and ω make it
//! go: what the start leaves, up to half of the link, takes some thirty steps, and thirteen times as many at 100 Gbit/s. At
//! 1 Mbit/s the ten segments of an interval tell losses in steps of 10 %.
//!
//! # What the paper says
//!
//! Held below: the utility, the steps and their bounds, the second look, where it rests under losses. In
//! `crates/sim/tests/vivace.rs`: equal rates of two, an empty queue, and how far random losses are borne.

mod ascent;
mod interval;
#[cfg(test)]
mod tests;
mod utility;

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span, Time};

use self::ascent::Ascent;
use self::interval::Interval;
use self::utility::{Comparison, Utility};
use crate::bounds::{AFTER_TIMEOUT, CEILING, first_window};
use crate::{
    Cause, Chance, Congestion, CongestionControl, Controller, Family, Feedback, Limited, Lost,
    Needs, Pacing, Path, Probe, Sending, Start, Wants,
};

/// Vivace's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("vivace", build)
        .title("PCC Vivace: tries two rates and goes where utility rises")
        .source("Dong et al. 2018")
        .family(Family::Utility)
        .parameters([
            Parameter::number(
                "exponent",
                0.9,
                0.01,
                0.99,
                "exponent of the rate in the utility: below 1, so that more is worth less and less",
            ),
            Parameter::number(
                "latency_coefficient",
                900.0,
                0.0,
                1e6,
                "what a second per second of growing round trips costs; 0: it does not heed them",
            ),
            Parameter::number("loss_coefficient", 11.35, 0.0, 1e6, "what losing everything costs"),
            Parameter::number(
                "step",
                0.05,
                0.001,
                0.5,
                "how far both rates are from r, as a share",
            ),
            Parameter::number(
                "conversion",
                1.0,
                1e-6,
                1e6,
                "step for a utility that rises by one per Mbit/s, in Mbit/s",
            ),
            Parameter::number(
                "boundary",
                0.05,
                0.001,
                1.0,
                "the largest first step, as a share of r",
            ),
            Parameter::number(
                "boundary_increment",
                0.1,
                0.0,
                1.0,
                "by how much more the next one may change it where a step was bounded",
            ),
            Parameter::number(
                "least_gradient",
                0.01,
                0.0,
                1.0,
                "growth of round trips, in seconds per second, below which there is none",
            ),
            Parameter::flag(
                "tolerant",
                true,
                "are losses seen as by the authors' program, or as the paper has it?",
            ),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Vivace::new(settings, start)))
}

/// Segments per round trip at the least.
const LEAST: f64 = 2.0;
/// Windows per round trip's worth of the rate.
const HEADROOM: f64 = 2.0;
/// Of a round trip, after which hosts have found the losses of what left before (RFC 9002, section 6.1.2).
const PART_FOR_LOSSES: u64 = 8;
/// Lost of an interval, from which the rate halves.
const TOO_MUCH: f64 = 0.5;
/// Round trips after its end in which an interval must have become known.
const PATIENCE: u64 = 2;
/// How many times as long as the round trip that the host knew is the first one measured, if it knew nothing of what counts.
const TOO_SHORT: f64 = 100.0;

/// What it is at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Doubling; with the utility of the last rate that was better than the one before.
    Starting(Option<f64>),
    /// Going up the gradient; with one that was odd and is looked at again.
    Learning(Option<f64>),
}

/// Rates that are tried one after the other, and what is known of them.
#[derive(Clone, Copy, Debug)]
struct Trial {
    intervals: [Interval; 2],
    /// How many of them: one or two.
    planned: usize,
    /// How many have begun.
    begun: usize,
    /// Was less sent than the rates would have allowed?
    idle: bool,
}

impl Trial {
    fn of(rates: [f64; 2], planned: usize) -> Self {
        Self { intervals: rates.map(Interval::at), planned, begun: 0, idle: false }
    }

    /// The interval in which a segment left at this time.
    #[inline]
    fn holding(&mut self, left: Time) -> Option<&mut Interval> {
        self.intervals.iter_mut().find(|each| each.holds(left))
    }

    /// The next interval begins. At which rate?
    fn go_on(&mut self, now: Time, rtt: Span) -> f64 {
        let next = &mut self.intervals[self.begun];
        next.begin(now, rtt);
        if self.idle {
            next.excuse();
        }
        self.begun += 1;
        next.rate
    }

    /// When the interval under way ends.
    fn until(&self) -> Time {
        self.intervals[self.begun - 1].until()
    }

    /// When the last interval ends, if all have begun.
    #[inline]
    fn end(&self) -> Option<Time> {
        (self.begun == self.planned).then(|| self.until())
    }
}

/// What an interval came to.
#[derive(Clone, Copy, Debug)]
struct Judged {
    utility: f64,
    /// Of round trips, in seconds per second.
    gradient: f64,
    /// L
    share_congested: f64,
}

/// One flow under Vivace.
#[derive(Clone, Debug)]
pub struct Vivace {
    /// r, in segments per second; none before the first round trip.
    rate: Option<f64>,
    /// What it sends at now: r, or a rate that is tried.
    pace: f64,
    window: f64,
    phase: Phase,
    trial: Option<Trial>,
    /// When to look at the trial again.
    alarm: Option<Time>,
    /// Is anything under way?
    busy: bool,
    ascent: Ascent,
    chance: Chance,
    /// Smoothed; until one is measured, the round trip that the host knew.
    rtt: Span,
    measured: bool,
    /// Mbit/s of a segment per second.
    megabits: f64,
    utility: Utility,
    step: f64,
    /// What the last interval came to that was judged, for plots.
    judged: Option<Judged>,
}

impl Vivace {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let megabits = start.packet.0.max(1) as f64 * 8e-6;
        let mut flow = Self {
            rate: None,
            pace: 0.0,
            window: first_window(start.window),
            phase: Phase::Starting(None),
            trial: None,
            alarm: None,
            busy: true,
            ascent: Ascent::new(settings),
            chance: Chance::new(start.chance),
            rtt: Span::ZERO,
            measured: false,
            megabits,
            utility: Utility::new(settings, megabits),
            step: settings.number("step"),
            judged: None,
        };
        if let Some(rtt) = start.round_trip {
            flow.begin(rtt);
        }
        flow
    }

    /// There is a round trip.
    fn begin(&mut self, rtt: Span) {
        self.rtt = rtt.max(Span(1));
        self.set_rate(self.window / self.rtt.seconds());
    }

    fn set_rate(&mut self, rate: f64) {
        let rtt = self.rtt.seconds();
        let rate = rate.clamp(LEAST / rtt, CEILING / (HEADROOM * rtt));
        self.rate = Some(rate);
        self.set_pace(rate);
    }

    fn set_pace(&mut self, pace: f64) {
        self.pace = pace;
        self.size();
    }

    /// The window has room for what leaves in a round trip at r or what is tried, and as much again.
    #[inline]
    fn size(&mut self) {
        let most = self.pace.max(self.rate.unwrap_or(0.0)) * self.rtt.seconds();
        self.window = (HEADROOM * most).clamp(HEADROOM * LEAST, CEILING);
    }

    /// The first trial, or one after what was tried says nothing; the round trip was `known` to be as long as this before.
    fn begin_first(&mut self, now: Time, mut rate: f64, known: Span) {
        let longer = self.rtt.seconds() / known.seconds();
        if !self.measured && longer > TOO_SHORT {
            rate /= longer;
            self.set_rate(rate);
        }
        self.measured = true;
        self.begin_trial(now, rate);
    }

    /// Something is tried around r, from now on.
    fn begin_trial(&mut self, now: Time, rate: f64) {
        let mut trial = match self.phase {
            Phase::Starting(None) => Trial::of([rate; 2], 1),
            Phase::Starting(Some(_)) => Trial::of([2.0 * rate; 2], 1),
            Phase::Learning(_) => {
                let step = if self.chance.below(2) == 0 { self.step } else { -self.step };
                Trial::of([rate * (1.0 + step), rate * (1.0 - step)], 2)
            }
        };
        let pace = trial.go_on(now, self.rtt);
        self.alarm = Some(trial.until());
        self.trial = Some(trial);
        self.set_pace(pace);
    }

    /// What was tried around r is known.
    fn judge(&mut self, rate: f64, trial: &Trial) {
        let tried = &trial.intervals[..trial.planned];
        if tried.iter().any(|interval| interval.share_lost() > TOO_MUCH) {
            return self.give_way(rate);
        }
        let last = &trial.intervals[trial.planned - 1];
        let found = self.utility.of(last);
        self.judged = Some(Judged {
            utility: found,
            gradient: last.gradient(),
            share_congested: last.share_congested(),
        });
        match self.phase {
            Phase::Starting(best) => {
                if found <= best.unwrap_or(0.0) {
                    self.phase = Phase::Learning(None);
                    // The first rate is no better than none at all.
                    self.set_rate(if best.is_none() { rate / 2.0 } else { rate });
                } else if !trial.idle {
                    self.phase = Phase::Starting(Some(found));
                    self.set_rate(last.rate);
                }
            }
            Phase::Learning(doubted) => {
                let [one, other] = &trial.intervals;
                let Comparison { gradient, odd } = self.utility.compare(one, other);
                let gradient = match (odd, doubted) {
                    (true, None) => return self.phase = Phase::Learning(Some(gradient)),
                    (true, Some(before)) => f64::midpoint(gradient, before),
                    (false, _) => gradient,
                };
                self.phase = Phase::Learning(None);
                let change = self.ascent.step(gradient, rate * self.megabits) / self.megabits;
                self.set_rate(rate + if trial.idle { change.min(0.0) } else { change });
            }
        }
    }

    /// Half of the rate is left: nothing came back in time, or most of what was tried is lost.
    fn give_way(&mut self, rate: f64) {
        self.phase = Phase::Learning(None);
        self.ascent.turn();
        self.drop_trial(rate / 2.0);
    }

    /// What was tried says nothing. It goes on at this rate.
    fn drop_trial(&mut self, rate: f64) {
        (self.trial, self.alarm) = (None, None);
        self.set_rate(rate);
    }
}

impl CongestionControl for Vivace {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let Some(rtt) = feedback.rtt else { return };
        let now = feedback.now;
        let Some(rate) = self.rate else {
            self.measured = true;
            return self.begin(path.rtt);
        };
        let known = self.rtt;
        self.rtt = path.rtt.max(Span(1));
        self.busy = feedback.in_flight > feedback.delivered() + feedback.lost;
        let Some(trial) = &mut self.trial else { return self.begin_first(now, rate, known) };
        let left = Time(now.0.saturating_sub(rtt.0));
        if let Some(interval) = trial.holding(left) {
            interval.hear(left, rtt, feedback.delivered());
            interval.mark(feedback.marked);
        }
        if matches!(feedback.limited, Limited::Application | Limited::Receiver) {
            trial.idle = true;
            trial.intervals.iter_mut().for_each(Interval::excuse);
        }
        let known = self.rtt / PART_FOR_LOSSES;
        if trial.end().is_some_and(|end| left >= end.saturating_add(known)) {
            let trial = *trial;
            self.judge(rate, &trial);
            self.begin_trial(now, self.rate.unwrap_or(rate));
        }
        self.size();
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        if event.cause != Cause::Timeout {
            return;
        }
        match self.rate {
            Some(rate) => self.give_way(rate),
            None => self.window = AFTER_TIMEOUT,
        }
    }

    fn on_restart(&mut self, _: Time, _: &Path) {
        self.busy = true;
        if let Some(rate) = self.rate {
            self.drop_trial(rate);
        }
    }

    fn on_lost(&mut self, lost: &Lost, _: &Path) {
        if let Some(interval) = self.trial.as_mut().and_then(|trial| trial.holding(lost.sent)) {
            interval.lose(1);
        }
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        self.alarm
    }

    /// An interval is over: the next one begins, or it waits for what became of them all.
    fn on_timer(&mut self, now: Time, _: &Path) {
        let (Some(rate), Some(trial)) = (self.rate, &mut self.trial) else { return };
        let Some(end) = trial.end() else {
            let pace = trial.go_on(now, self.rtt);
            self.alarm = Some(trial.until());
            return self.set_pace(pace);
        };
        let deadline = end.saturating_add(Span(PATIENCE.saturating_mul(self.rtt.0)));
        if now < deadline {
            self.alarm = Some(deadline);
            self.set_pace(rate);
        } else if self.busy {
            self.give_way(rate);
        } else {
            self.drop_trial(rate);
        }
    }

    fn growth_limit(&self, _: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        None
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    #[inline]
    fn pacing(&self) -> Pacing {
        if self.rate.is_some() { Pacing::Rate(self.pace) } else { Pacing::Unpaced }
    }

    fn wants(&self) -> Wants {
        Wants { pacing: true, losses: true, timer: true, own_recovery: true, ..Wants::NOTHING }
    }

    fn needs(&self) -> Needs {
        Needs { accurate_ecn: true, pacing: true, ..Needs::NONE }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        if let Some(rate) = self.rate {
            probe.value("rate", rate * self.megabits);
        }
        if let Some(Judged { utility, gradient, share_congested }) = self.judged {
            probe.value("utility", utility);
            probe.value("gradient", gradient);
            probe.value("lost", share_congested);
        }
    }
}
