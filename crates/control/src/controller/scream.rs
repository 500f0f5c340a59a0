//! SCReAM, version 2: a window for media, which gives way to marks, to losses and to a queue.
//!
//! I. Johansson, M. Westerlund, M. Kühlewind, "Self-Clocked Rate Adaptation for Multimedia", draft-ietf-ccwg-rfc8298bis-
//! screamv2, the working group's text of August 2026; the first version is RFC 8298.
//!
//! # The problem
//!
//! A camera of a remote-controlled machine needs a rate that changes little, a queue that is hardly there, and most of a
//! radio link whose rate jumps. SCReAM holds what is in flight near a *reference window*, which three signs of congestion
//! take down: the share of L4S marks, as with DCTCP; losses; and, where nothing marks, the queueing delay, which it
//! turns into marks of its own.
//!
//! # The law
//!
//! ```text
//!     each 10 ms, or round trip if shorter:  m of the segments acknowledged in it were marked
//!         α ← 7/8 α + 1/8 m  if m ≥ α,  else 127/128 α
//!     each V, 25 ms or a round trip if shorter:  Q ← q if q < Q, else 3/4 Q + 1/4 q
//!     at most once per V    a loss:           w ← 0.7 w
//!                           a mark, L4S:      w ← w (1 - α/2 max(1/4, s)/max(1, R/25 ms))     without s if q ≥ T/4
//!                           a mark, classic:  w ← 0.8 w
//!                           Q > T/2:          w ← w (1 - (Q - T/2)/T /max(1, R/25 ms))        half at most
//!     each acknowledged segment without a mark
//!         w ← w + min(1, R/25 ms) max(1/4, s) (1 + 0.02 w s t)/w     up to 1 + 1.5 times what was in flight
//!     s = (8 (w - w_i)/w_i)², 0.1 … 1;     t = time since congestion/(100 max(R, 25 ms)), 0 … 1, and 1 before the first
//! ```
//!
//! q is the queueing delay, T its target, and `w_i` the *inflection point*: the window at the first congestion after it
//! last grew. Close to that both growth and reductions are small; far from it, and long after congestion, w grows by 2 %
//! per round trip and a segment. With α = 2/w a reduction and the growth of a round trip cancel, so the draft says that
//! there are two marks per round trip, as with DCTCP. But α rises faster than it falls, and where marks come one by one
//! it is above their share: here there are 1.3 in 25 ms.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `l4s` | `IS_L4S` | true | the draft has it off until a path is known to mark so; needs ECT(1) and counts of marks |
//! | `target` | T | 60 ms | `QDELAY_TARGET_LO`, section "Reference Window Update" |
//! | `growth` | | 0.02 | `MUL_INCREASE_FACTOR`, there |
//! | `beta_loss` | | 0.7 | `BETA_LOSS`, there: what a loss leaves |
//! | `beta_ecn` | | 0.8 | `BETA_ECN`, there: what a classic mark leaves |
//!
//! # Domain
//!
//! A path of its own, or one whose queue keeps flows apart by marks (`dualpi2`, `step`). Beside flows that fill a queue
//! it gives way. There is no slow start: from ten segments it takes about 4 s to fill 100 Mbit/s at 40 ms.
//!
//! # Deviations
//!
//! * Network congestion control alone is in. What an encoder is to send (media rate control), frames that are sent
//!   beyond the reference window (`REF_WND_OVERHEAD`) and pacing that is relaxed for them belong to media: a bulk flow
//!   has as much as the window in flight, and is paced at 1.25 w/R, which is `PACKET_PACING_HEADROOM` times the
//!   draft's target bitrate.
//! * What the draft calls optional is left out: jitter filtering (off by default there), tolerated loss rates, policers,
//!   clock drift, and a target that rises beside competing flows (up to `QDELAY_TARGET_HI`).
//! * The times of congestion and of the last answer begin at 0.0 in the draft, of clocks that show wall-clock time: what has
//!   not been yet is taken to be long ago, whenever a flow begins.
//! * s is computed with the inflection point of before a reduction, as the listing has it; the comment above that says
//!   after.
//! * The window moves with each acknowledgment, by what it reports, as the listing does; the text before that has it grow once
//!   per smoothed round trip.
//! * Losses of a window are answered once, by the host's rule, even where V is shorter. One that comes before V is over is
//!   answered then, before marks.
//! * A window that nobody uses does not grow at all; in the draft it may, up to 1.5 times what was in flight. Nor does it
//!   while losses are repaired, when nothing is acknowledged in order.
//! * The first window is the flow's key; the draft has `MIN_REF_WND`, 3000 bytes, which is the least here too. A time-out,
//!   of which the draft says nothing, leaves one segment.
//!
//! # What the draft says
//!
//! * The numbers of the law above (the tests below).
//! * A queue of half the target where nothing marks, and next to none where L4S does (`crates/sim/tests/scream.rs`).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span, Time};

use super::ledbat::Waiting;
use crate::bounds::{AFTER_TIMEOUT, CEILING, first_window};
use crate::registry::above_zero;
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Needs, Pacing,
    Path, Probe, Promises, Reaction, Sending, Start, Wants,
};

/// SCReAM's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("scream", build)
        .title("SCReAM: a window for media that answers L4S marks, losses and queueing delay")
        .source("draft-ietf-ccwg-rfc8298bis-screamv2")
        .family(Family::Marks)
        .parameters([
            Parameter::flag("l4s", true, "are marks those of L4S, answered by their share?"),
            Parameter::span("target", "60 ms", "queueing delay at which the window halves"),
            Parameter::number(
                "growth",
                0.02,
                0.0,
                1.0,
                "share of the window that a round trip adds long after congestion",
            ),
            Parameter::number(
                "beta_loss",
                0.7,
                0.01,
                1.0,
                "share of the window that a loss leaves",
            ),
            Parameter::number(
                "beta_ecn",
                0.8,
                0.01,
                1.0,
                "share of the window that a classic mark leaves",
            ),
        ])
        .check(above_zero("target"))
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Scream::new(settings, start)))
}

/// `VIRTUAL_RTT`
const VIRTUAL_RTT: Span = Span::from_millis(25);
/// How often α is updated, unless a round trip is shorter.
const SHARE_INTERVAL: Span = Span::from_millis(10);
/// `L4S_AVG_G_UP` and `L4S_AVG_G_DOWN`
const GAIN_UP: f64 = 1.0 / 8.0;
const GAIN_DOWN: f64 = 1.0 / 128.0;
/// `QDELAY_AVG_G`
const DELAY_GAIN: f64 = 1.0 / 4.0;
/// `POST_CONGESTION_DELAY_RTT`, and after how many round trips a window is taken back to what was in flight.
const CAUTIOUS_ROUNDS: f64 = 100.0;
/// `BYTES_IN_FLIGHT_HEAD_ROOM`
const HEAD_ROOM: f64 = 1.5;
/// `MIN_REF_WND`, in bytes.
const LEAST_BYTES: f64 = 3000.0;
/// `PACKET_PACING_HEADROOM` over 1.2, by which the target bitrate is below w/R.
const PACING_GAIN: f64 = 1.5 / 1.2;

/// α: the share of marks, which rises fast and falls slowly.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    alpha: f64,
    delivered: u64,
    marked: u64,
    updated: Time,
}

impl Share {
    fn count(&mut self, feedback: &Feedback, rtt: Span) {
        self.delivered += feedback.delivered();
        self.marked += feedback.marked;
        let due = feedback.now.since(self.updated) >= SHARE_INTERVAL.min(rtt);
        if due && self.delivered > 0 {
            let share = (self.marked as f64 / self.delivered as f64).min(1.0);
            if share >= self.alpha {
                self.alpha += GAIN_UP * (share - self.alpha);
            } else {
                self.alpha *= 1.0 - GAIN_DOWN;
            }
            (self.delivered, self.marked, self.updated) = (0, 0, feedback.now);
        }
    }
}

/// What tells of congestion beside a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    None,
    Mark,
    Loss,
}

/// What the smoothed round trip means for growth. It changes once per round trip, and every acknowledgment asks.
#[derive(Clone, Copy, Debug)]
struct Pace {
    rtt: Span,
    /// In virtual round trips.
    rounds: f64,
    /// How long growth stays cautious after congestion, in seconds.
    calm: f64,
}

impl Pace {
    fn of(rtt: Span) -> Self {
        let rounds = rtt.0 as f64 / VIRTUAL_RTT.0 as f64;
        Self { rtt, rounds, calm: CAUTIOUS_ROUNDS * VIRTUAL_RTT.max(rtt).seconds() }
    }
}

/// One flow under SCReAM.
#[derive(Clone, Debug)]
pub struct Scream {
    /// `ref_wnd`
    window: f64,
    least: f64,
    /// `ref_wnd_i`, and whether it has grown since; none before the first congestion.
    inflection: Option<f64>,
    grown: bool,
    share: Share,
    waiting: Waiting,
    /// q and its average, in seconds, and when that was updated.
    queueing: f64,
    average: f64,
    averaged: Time,
    /// The strongest sign of congestion since the last reaction.
    sign: Sign,
    /// When marks or losses were last seen, and when anything was last answered; none before the first time.
    congested: Option<Time>,
    answered: Option<Time>,
    /// The most in flight in this round trip and the one before.
    in_flight: [u64; 2],
    pace: Pace,

    l4s: bool,
    target: f64,
    growth: f64,
    beta_loss: f64,
    beta_ecn: f64,
}

impl Scream {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        Self {
            window: first_window(start.window),
            least: (LEAST_BYTES / start.packet.0.max(1) as f64).max(1.0),
            inflection: None,
            grown: true,
            share: Share::default(),
            waiting: Waiting::UNKNOWN,
            queueing: 0.0,
            average: 0.0,
            averaged: Time::ZERO,
            sign: Sign::None,
            congested: None,
            answered: None,
            in_flight: [0; 2],
            pace: Pace::of(VIRTUAL_RTT),
            l4s: settings.flag("l4s"),
            target: settings.span("target").seconds().max(1e-9),
            growth: settings.number("growth"),
            beta_loss: settings.number("beta_loss"),
            beta_ecn: settings.number("beta_ecn"),
        }
    }

    /// s: how far the window is from the inflection point.
    fn distance(&self) -> f64 {
        self.inflection.map_or(1.0, |inflection| {
            let far = 8.0 * (self.window - inflection) / inflection;
            (far * far).clamp(0.1, 1.0)
        })
    }

    /// Is it long enough since the last reaction for another one?
    fn may_react(&self, now: Time, rtt: Span) -> bool {
        self.answered.is_none_or(|then| now.since(then) >= VIRTUAL_RTT.min(rtt))
    }

    /// The window at which congestion is answered is the inflection point, if it has grown since the last one.
    fn inflect(&mut self) {
        if std::mem::take(&mut self.grown) {
            self.inflection = Some(self.window.max(1.0));
        }
    }

    /// Congestion leaves so much of the window.
    fn fall(&mut self, now: Time, left: f64) {
        self.inflect();
        let least = self.least.min(self.window);
        self.window = (self.window * left).max(least);
        self.answered = Some(now);
        self.sign = Sign::None;
    }

    /// q and Q.
    fn measure(&mut self, feedback: &Feedback, rtt: Span) {
        let Some(delay) = feedback.one_way_delay.or(feedback.rtt) else { return };
        self.queueing = self.waiting.see(feedback.now, delay, Waiting::ANY_AGE).seconds();
        if feedback.now.since(self.averaged) >= VIRTUAL_RTT.min(rtt) {
            self.averaged = feedback.now;
            let gain = if self.queueing < self.average { 1.0 } else { DELAY_GAIN };
            self.average += gain * (self.queueing - self.average);
        }
    }

    /// Answers a loss, marks and a queue; returns s.
    fn react(&mut self, now: Time, rtt: Span) -> f64 {
        if self.sign > Sign::None {
            self.congested = Some(now);
        }
        let distance = self.distance();
        if !self.may_react(now, rtt) {
            return distance;
        }
        // What several reactions in a round trip take together.
        let rounds = self.pace.rounds.max(1.0);
        if self.sign == Sign::Loss {
            self.fall(now, self.beta_loss);
        } else if self.sign == Sign::Mark && self.l4s {
            let mut back_off = self.share.alpha / 2.0 / rounds;
            if self.queueing < self.target / 4.0 {
                back_off *= distance.max(0.25);
            }
            let most = self.in_flight[1] as f64;
            let calm = self.pace.calm;
            self.inflect();
            if self.answered.is_none_or(|then| now.since(then).seconds() > calm) && most > 0.0 {
                self.window = self.window.min(most.max(self.least));
            }
            self.fall(now, 1.0 - back_off);
        } else if self.sign == Sign::Mark {
            self.fall(now, self.beta_ecn);
        } else if self.average > self.target / 2.0 {
            let share = (2.0 * self.average / self.target - 1.0).min(1.0);
            self.fall(now, 1.0 - share / 2.0 / rounds);
        }
        distance
    }

    /// So many segments were acknowledged without a mark.
    fn grow(&mut self, now: Time, acked: u64, distance: f64) {
        let Pace { rounds, calm, .. } = self.pace;
        let since = self.congested.map_or(1.0, |then| (now.since(then).seconds() / calm).min(1.0));
        let relaxed = since * distance;
        let each = rounds.min(1.0) * distance.max(0.25);
        let most = self.in_flight.iter().max().copied().unwrap_or(0);
        let allowed = if most == 0 { CEILING } else { 1.0 + HEAD_ROOM * most as f64 };
        for _ in 0..acked {
            let step = each * (1.0 + self.growth * self.window * relaxed) / self.window.max(1.0);
            let window = (self.window + step).min(CEILING);
            if window > allowed {
                break;
            }
            self.grown |= window > self.window;
            self.window = window;
        }
    }
}

impl CongestionControl for Scream {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let (now, rtt) = (feedback.now, path.rtt.max(Span(1)));
        if feedback.round_starts {
            self.in_flight = [0, self.in_flight[0]];
        }
        self.in_flight[0] = self.in_flight[0].max(feedback.in_flight);
        if rtt != self.pace.rtt {
            self.pace = Pace::of(rtt);
        }
        self.share.count(feedback, rtt);
        self.measure(feedback, rtt);
        if feedback.marked > 0 {
            self.sign = self.sign.max(Sign::Mark);
        }
        let distance = self.react(now, rtt);
        let unmarked = feedback.acked.saturating_sub(feedback.marked);
        if feedback.limited.may_grow() && !feedback.recovery_begins && unmarked > 0 {
            self.grow(now, unmarked, distance);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, path: &Path) {
        match event.cause {
            Cause::Loss => {
                self.sign = Sign::Loss;
                self.react(event.now, path.rtt);
            }
            // Marks are answered as they are reported.
            Cause::Mark => {}
            Cause::Timeout => {
                self.congested = Some(event.now);
                self.fall(event.now, 1.0);
                self.window = AFTER_TIMEOUT;
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, _: &Path) {
        self.window = first_window(event.window);
    }

    fn growth_limit(&self, _: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        None
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn pacing(&self) -> Pacing {
        Pacing::Spread { gain: PACING_GAIN }
    }

    fn wants(&self) -> Wants {
        Wants { one_way_delay: true, ..Wants::NOTHING }
    }

    fn needs(&self) -> Needs {
        Needs { ecn: self.l4s, accurate_ecn: self.l4s, ect1: self.l4s, ..Needs::NONE }
    }

    fn reaction(&self) -> Reaction {
        Reaction::LossesApart
    }

    fn promises(&self) -> Promises {
        Promises::NONE
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("alpha", self.share.alpha);
        probe.value("queueing_delay", self.average);
        if let Some(inflection) = self.inflection {
            probe.value("inflection", inflection);
        }
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::math;

    use super::*;

    const RTT: Span = VIRTUAL_RTT;
    const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

    fn scream(window: f64) -> Scream {
        let start = Start { window: Segments(window), ..Start::default() };
        Scream::new(&controller().defaults(), &start)
    }

    fn classic(window: f64) -> Scream {
        Scream { l4s: false, ..scream(window) }
    }

    /// An acknowledgment at so many milliseconds, of data that waited for so long.
    fn told(control: &mut Scream, millis: u64, rtt: Span, acked: u64, marked: u64, waited: u64) {
        let delay = Some(rtt + Span::from_millis(waited));
        let now = Time::ZERO + Span::from_millis(millis);
        let in_flight = control.window as u64;
        let feedback =
            Feedback { marked, in_flight, one_way_delay: delay, ..Feedback::at(now, acked) };
        control.on_feedback(&feedback, &Path { rtt, base_rtt: rtt });
    }

    fn lost(control: &mut Scream, millis: u64) -> f64 {
        let now = Time::ZERO + Span::from_millis(millis);
        let event = Congestion { now, cause: Cause::Loss, in_flight: 100, again: false };
        control.on_congestion(&event, &PATH);
        control.window
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
    }

    /// α rises by an eighth of the way and falls by 1/128 of itself, every 10 ms. Marked all along for n intervals it is
    /// 1 - (7/8)ⁿ.
    #[test]
    fn the_share_rises_fast_and_falls_slowly() {
        let mut share = Share::default();
        let ack = |millis: u64, marked| {
            let now = Time::ZERO + Span::from_millis(millis);
            Feedback { marked, ..Feedback::at(now, 10) }
        };
        for interval in 1..=8 {
            share.count(&ack(10 * interval, 10), RTT);
        }
        close(share.alpha, 1.0 - math::pow(0.875, 8.0));
        let before = share.alpha;
        share.count(&ack(85, 0), RTT);
        close(share.alpha, before);
        for interval in 9..=10 {
            share.count(&ack(10 * interval, 0), RTT);
        }
        close(share.alpha, before * math::pow(127.0 / 128.0, 2.0));
        // A share equal to α leaves it.
        let mut share = Share { alpha: 0.5, ..Share::default() };
        share.count(&ack(10, 5), RTT);
        close(share.alpha, 0.5);
        // Round trips of 5 ms are shorter than 10. More marks than segments, which belong to what was acknowledged before,
        // are no more than all of them.
        let mut share = Share::default();
        share.count(&ack(5, 20), RTT / 5);
        close(share.alpha, 0.125);
    }

    /// 0.7 for a loss and 0.8 for a classic mark, at most once per `VIRTUAL_RTT`.
    #[test]
    fn losses_and_classic_marks_take_fixed_shares() {
        let mut control = classic(100.0);
        close(lost(&mut control, 1000), 70.0);
        close(lost(&mut control, 1024), 70.0);
        close(lost(&mut control, 1025), 49.0);
        let mut control = classic(100.0);
        told(&mut control, 1000, RTT, 1, 1, 0);
        close(control.window, 80.0);
        told(&mut control, 1010, RTT, 1, 1, 0);
        close(control.window, 80.0);
        told(&mut control, 1025, RTT, 1, 1, 0);
        close(control.window, 64.0);
    }

    /// A loss that comes before it may be answered is answered then, also where marks come in between, and before them.
    #[test]
    fn a_loss_waits_until_it_may_be_answered() {
        for marked in [0, 1] {
            let mut control = classic(100.0);
            told(&mut control, 1000, RTT, 1, 1, 0);
            close(lost(&mut control, 1010), 80.0);
            told(&mut control, 1024, RTT, 0, marked, 0);
            close(control.window, 80.0);
            told(&mut control, 1025, RTT, 0, 0, 0);
            close(control.window, 56.0);
            told(&mut control, 1050, RTT, 0, 0, 0);
            close(control.window, 56.0);
        }
    }

    /// α/2 for a mark of L4S: from α = 1/8, after an interval in which all was marked, 1/16. At four times the virtual
    /// round trip a quarter of that, which may come four times as often.
    #[test]
    fn marks_of_l4s_take_half_their_share() {
        let mut control = scream(160.0);
        told(&mut control, 1000, RTT, 10, 10, 0);
        close(control.window, 150.0);
        let mut control = scream(160.0);
        told(&mut control, 1000, VIRTUAL_RTT * 4, 10, 10, 0);
        close(control.window, 157.5);
        // On shorter round trips it is no more than that.
        let mut control = scream(160.0);
        told(&mut control, 1000, VIRTUAL_RTT / 2, 10, 10, 0);
        close(control.window, 150.0);
    }

    /// Near the inflection point a quarter of it, 1/64, but only where less than a quarter of the target waits: 15 of 60 ms.
    #[test]
    fn marks_near_the_inflection_point_take_less_from_an_empty_queue() {
        for (waited, left) in [(14, 157.5), (15, 150.0), (29, 150.0)] {
            let mut control = scream(160.0);
            control.inflection = Some(160.0);
            control.queueing = Span::from_millis(waited).seconds();
            let now = Time::ZERO + Span::from_seconds(1);
            let marked = Feedback { marked: 10, ..Feedback::at(now, 10) };
            control.on_feedback(&marked, &PATH);
            close(control.window, left);
        }
    }

    /// Reactions and samples of the queue are V apart: 25 ms, or a round trip if that is shorter.
    #[test]
    fn short_round_trips_are_answered_and_measured_more_often() {
        for (millis, apart) in [(10, 10), (100, 25)] {
            let rtt = Span::from_millis(millis);
            let at = |millis: u64| Time::ZERO + Span::from_millis(1000 + millis);
            let control = Scream { answered: Some(at(0)), ..scream(100.0) };
            assert!(!control.may_react(at(apart - 1), rtt) && control.may_react(at(apart), rtt));
            let mut control = Scream { averaged: at(0), average: 0.02, ..scream(100.0) };
            let mut average = |millis| {
                let empty = Feedback { rtt: Some(rtt), ..Feedback::at(at(millis), 0) };
                control.measure(&empty, rtt);
                (control.average, control.averaged)
            };
            assert_eq!(average(apart - 1), (0.02, at(0)));
            assert_eq!(average(apart), (0.0, at(apart)));
        }
        // Growth is cautious for 100 of them after congestion, but these are never shorter than 25 ms.
        for (millis, calm) in [(10, 2.5), (25, 2.5), (50, 5.0)] {
            close(Pace::of(Span::from_millis(millis)).calm, calm);
        }
    }

    /// A queue below half the target takes nothing, one halfway from there to the target a quarter, one at the target
    /// half. Its average moves up by a quarter per `VIRTUAL_RTT`, and down at once.
    #[test]
    fn a_queue_is_answered_between_half_the_target_and_the_target() {
        for (average, left) in [(0.0299, 100.0), (0.045, 75.0), (0.06, 50.0), (0.2, 50.0)] {
            let mut control = scream(100.0);
            control.average = average;
            control.react(Time::ZERO + Span::from_millis(1000), RTT);
            close(control.window, left);
        }
        let mut control = scream(100.0);
        told(&mut control, 0, RTT, 0, 0, 0);
        for sample in 1..=4 {
            told(&mut control, 25 * sample, RTT, 0, 0, 20);
        }
        // The smallest of four samples is the queue (RFC 6817): the first is that of an empty one.
        close(control.average, 0.02 / 4.0);
        told(&mut control, 125, RTT, 0, 0, 20);
        close(control.average, 0.02 * (1.0 - 0.75 * 0.75));
        told(&mut control, 150, RTT, 0, 0, 0);
        assert!(control.average.abs() < 1e-12, "{}", control.average);
    }

    /// Long after congestion, and far from the inflection point, a round trip adds a segment and 2 %: 3 to 100. Right
    /// after congestion one segment; at the inflection point a quarter; on half the virtual round trip half as much.
    #[test]
    fn growth_depends_on_how_long_and_how_far_away_congestion_is() {
        let grown = |control: &mut Scream, rtt| {
            let before = control.window;
            control.in_flight = [1000; 2];
            control.pace = Pace::of(rtt);
            control.grow(Time::ZERO + Span::from_seconds(10), 1, control.distance());
            (control.window - before) * before
        };
        let long_ago = Some(Time::ZERO);
        close(grown(&mut Scream { congested: long_ago, ..scream(100.0) }, RTT), 3.0);
        let now = Time::ZERO + Span::from_seconds(10);
        let congested = Some(now);
        close(grown(&mut Scream { congested, ..scream(100.0) }, RTT), 1.0);
        close(grown(&mut Scream { congested, ..scream(100.0) }, RTT / 2), 0.5);
        let near = Scream { congested, inflection: Some(100.0), ..scream(100.0) };
        close(grown(&mut near.clone(), RTT), 0.25);
        // (8 · 0.08)² = 0.4096, and beyond an eighth all of it.
        close(grown(&mut Scream { inflection: Some(100.0), ..scream(108.0) }, RTT), {
            0.4096 * (1.0 + 0.02 * 108.0 * 0.4096)
        });
        close(grown(&mut Scream { inflection: Some(100.0), ..scream(87.5) }, RTT), 1.0 + 1.75);
        // No more than 1.5 times what was in flight, and a segment.
        let mut unused = scream(100.0);
        unused.in_flight = [60, 66];
        unused.pace = Pace::of(RTT);
        unused.grow(now, 1, 1.0);
        close(unused.window, 100.0);
        // 1 + 1.5 · 66 of either round trip are 100.
        for in_flight in [[66, 0], [60, 66]] {
            let pace = Pace::of(RTT);
            let mut used = Scream { congested, in_flight, pace, ..scream(99.5) };
            used.grow(now, 1, 1.0);
            close(used.window, 99.5 + 1.0 / 99.5);
        }
        // s is a tenth at the least.
        close(near.distance(), 0.1);
    }

    /// Nothing grows on the acknowledgment with which a recovery begins.
    #[test]
    fn a_recovery_begins_without_growth() {
        for recovery_begins in [false, true] {
            let mut control = scream(100.0);
            let now = Time::ZERO + Span::from_seconds(1);
            let news = Feedback { recovery_begins, in_flight: 100, ..Feedback::at(now, 1) };
            control.on_feedback(&news, &PATH);
            assert_eq!(control.window > 100.0, !recovery_begins);
        }
    }

    /// Classic marks are taken where there are any, those of L4S are needed.
    #[test]
    fn only_l4s_needs_its_marks() {
        assert_eq!(classic(100.0).needs(), Needs::NONE);
        let needs = Needs { ecn: true, accurate_ecn: true, ect1: true, ..Needs::NONE };
        assert_eq!(scream(100.0).needs(), needs);
    }

    /// The inflection point is where congestion is first met after growth.
    #[test]
    fn the_inflection_point_is_the_window_that_met_congestion() {
        let mut control = classic(100.0);
        lost(&mut control, 1000);
        assert_eq!(control.inflection, Some(100.0));
        lost(&mut control, 1025);
        assert_eq!(control.inflection, Some(100.0), "it has not grown since");
        told(&mut control, 1030, RTT, 5, 0, 0);
        let window = control.window;
        lost(&mut control, 1050);
        assert_eq!(control.inflection, Some(window));
    }

    /// `MIN_REF_WND`, 3000 bytes: three segments of 1000. A window below that is not lifted.
    #[test]
    fn three_thousand_bytes_are_the_least() {
        let packet = longfat_units::Bytes(1000);
        for (window, left) in [(4.0, 3.0), (2.0, 2.0)] {
            let start = Start { window: Segments(window), packet, ..Start::default() };
            let mut control = Scream::new(&controller().defaults(), &start);
            close(lost(&mut control, 1000), left);
        }
    }

    /// Growth is cautious again after each sign of congestion: marks, losses and time-outs. A time-out meets an inflection
    /// point, too; another window comes from the host.
    #[test]
    fn each_sign_of_congestion_is_remembered() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut control = scream(100.0);
        told(&mut control, 1000, RTT, 1, 1, 0);
        assert_eq!(control.congested, Some(at(1000)));
        lost(&mut control, 1010);
        assert_eq!(control.congested, Some(at(1010)));
        let (now, cause) = (at(2000), Cause::Timeout);
        let mut control = scream(100.0);
        control.on_congestion(&Congestion { now, cause, in_flight: 9, again: false }, &PATH);
        assert_eq!((control.congested, control.inflection), (Some(now), Some(100.0)));
        assert_eq!(control.window, 1.0);
        let window = Segments(50.0);
        control.on_adjustment(&Adjustment { now, window, threshold: None }, &PATH);
        assert_eq!(control.window, 50.0);
    }

    /// What was in flight is the most of this round trip and the one before. When congestion was long ago, more than 100
    /// round trips of 25 ms, a mark takes a window that is not in use to that of the one before: 60 segments.
    #[test]
    fn a_mark_after_a_long_calm_takes_what_was_not_used() {
        for (millis, left) in [(2500, 160.0), (2501, 60.0)] {
            let mut control = Scream { answered: Some(Time::ZERO), ..scream(160.0) };
            let mut ack = |millis, in_flight, round_starts, marked| {
                let now = Time::ZERO + Span::from_millis(millis);
                let news =
                    Feedback { marked, in_flight, round_starts, ..Feedback::at(now, marked) };
                control.on_feedback(&news, &PATH);
                control.in_flight
            };
            assert_eq!(ack(0, 90, true, 0), [90, 0]);
            assert_eq!(ack(10, 60, true, 0), [60, 90]);
            assert_eq!(ack(20, 40, false, 0), [60, 90]);
            assert_eq!(ack(millis, 20, true, 1), [20, 60]);
            // α is 1/8 of 1, and half of it is taken.
            close(control.window, left * (1.0 - 1.0 / 16.0));
        }
    }

    /// `last_congestion_detected_time` and `last_reaction_to_congestion_time` begin at 0.0 of a clock on the wall: what never
    /// was is long ago, whenever a flow begins. So an acknowledgment after 40 ms adds 1 + 0.02 · 100 segments to 100, spread
    /// over them, and the first mark leaves no more than was in flight.
    #[test]
    fn congestion_that_never_was_is_long_ago() {
        for begins in [0, 60_000] {
            let mut control = scream(100.0);
            told(&mut control, begins + 40, RTT, 1, 0, 0);
            close(control.window, 100.0 + 3.0 / 100.0);
            let mut control = Scream { in_flight: [80, 80], ..scream(160.0) };
            let now = Time::ZERO + Span::from_millis(begins + 40);
            control.on_feedback(&Feedback { marked: 1, ..Feedback::at(now, 1) }, &PATH);
            close(control.window, 80.0 * (1.0 - 1.0 / 16.0));
        }
    }

    /// "Reference Window Reduction": `ref_wnd_i` is set before the window is taken to what was in flight.
    #[test]
    fn the_inflection_point_is_the_window_that_was_not_used_either() {
        let mut control = Scream { in_flight: [60, 60], ..scream(160.0) };
        told(&mut control, 1000, RTT, 1, 1, 0);
        assert_eq!(control.inflection, Some(160.0));
    }

    /// There: as long as a mark is not answered, each acknowledgment is a time of congestion.
    #[test]
    fn congestion_lasts_until_it_is_answered() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut control = Scream { answered: Some(at(1000)), ..scream(100.0) };
        told(&mut control, 1010, RTT, 1, 1, 0);
        for (millis, congested) in [(1015, 1015), (1025, 1025), (1030, 1025)] {
            told(&mut control, millis, RTT, 1, 0, 0);
            assert_eq!(control.congested, Some(at(congested)), "at {millis} ms");
        }
    }

    /// `MIN_REF_WND`, two segments of 1500 bytes, is left also to a flow that had one in flight.
    #[test]
    fn a_mark_after_a_long_calm_leaves_the_least() {
        let mut control = Scream { in_flight: [1, 0], ..scream(160.0) };
        let now = Time::ZERO + Span::from_seconds(3);
        let news = Feedback { marked: 1, round_starts: true, ..Feedback::at(now, 1) };
        control.on_feedback(&news, &PATH);
        close(control.window, 2.0);
    }
}
