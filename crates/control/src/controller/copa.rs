//! Copa: sends at a rate in inverse proportion to how long packets wait.
//!
//! V. Arun, H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018.
//!
//! Vegas keeps a constant number of segments waiting and so never sees an empty queue, nor knows how long the path is
//! without one. Copa's target makes the queue empty every few round trips. A rate of λ packets/s that waits `d_q` serves
//! the sender best, for a utility log λ - δ log d, at
//!
//! ```text
//!     λ_t = 1/(δ d_q),    d_q = RTTstanding - RTTmin,    λ = w/RTTstanding
//!     each acknowledged segment   λ ≤ λ_t:  w ← w + v/(δ w)      otherwise  w ← w - v/(δ w)
//!     each round trip             v doubles where w has moved the same way for three of them; 1 where it turns
//!     slow start                  w doubles until λ > λ_t
//!     pacing                      2 w/RTTstanding
//! ```
//!
//! `RTTstanding` is the smallest round trip of the last half of one, `RTTmin` that of the last 10 s. In equilibrium the
//! window swings with a period of five round trips, and the queue of flows with 1/δ̂ = Σ 1/δ in all between 0 and 2.5/δ̂. So
//! it comes out for one flow on any path, and for several where the product is less than some hundred times 1/δ̂ packets.
//!
//! *Competitive mode.* Others that fill the queue would starve it, so Copa watches whether the queue still empties. If `d_q`
//! was never below a tenth of what it was at most (`RTTmax` of the last four round trips less `RTTmin`) in five round trips,
//! somebody else fills it: 1/δ then grows by 1 with each round trip and halves at a loss, like Reno's window, but is never
//! less than in the default mode.
//!
//! | parameter       | default | source |
//! |-----------------|---------|--------|
//! | `delta`         | 0.5     | section 2.2: about two packets of each flow wait |
//! | `competitive`   | true    | section 2.2: may it change its mode? |
//! | `turns_at_once` | false   | not in the paper, which looks at the direction once per round trip; true in Meta's QUIC |
//!
//! Where the rest is: the target rate, equation (1); `RTTstanding`, `RTTmin`, v, slow start and pacing, section 2.1; the two
//! modes, a tenth, four and five round trips, section 2.2; the period and the queue, section 3. The times and thresholds
//! were checked against quotations of the paper and against the authors' program (genericCC, `rtt-window.cc` and
//! `markoviancc.cc`), which also bounds δ in competitive mode by that of the default mode.
//!
//! Deviations:
//!
//! - A window that stands still, of which the paper says nothing, counts as one that rises. If it kept its direction, v would
//!   go on doubling downwards while nothing moves, in repairs and pauses: after pauses of 3 s an answer of 5 MB takes 481 ms
//!   instead of 454, and four flows behind PIE use 95 % instead of 90 (`longfat evaluate`, quick).
//! - Of the three round trips in one direction the one that turns is none: that gives the period and the queue of the
//!   paper.
//! - *Losses* take nothing from the window in either mode, as in the paper; a time-out, of which the paper says nothing,
//!   leaves one segment and slow start. Marks count as losses. But a queue that drops early never grows, whatever is sent
//!   to it, and without delay the window has no bound. The authors' program has one, which is here: where more than 0.3 of at
//!   least 20 segments are lost in two round trips, w ← 0.7 w. In it, and here, v is no more than δ w either: in a round trip
//!   the window moves by no more than itself, as it was where v doubled last.
//! - While losses are repaired, or the flow does not use its window, it does not grow.
//! - Round trips are kept in parts, an eighth of its time long for `RTTstanding`, a tenth for `RTTmin` and a quarter for
//!   `RTTmax`: what is forgotten is forgotten so much earlier. The smoothed one, of which half is the time of the first and
//!   four that of the last, is the host's: TCP takes a sample once per round trip (RFC 6298), where the paper takes one with
//!   each acknowledgment, as QUIC does. While a queue grows it is behind: slow start on 24 Mbit/s and 40 ms ends at 131
//!   segments with `recovery = "sack"` and at 133 with `"quic"`, and would at 142 without parts too. Which flows compete hardly
//!   depends on it: five on 100 Mbit/s and 40 ms (below) wait long with 96 of 200 seeds, and with 84 with `"quic"`.
//!
//! Domain: in default mode any window of two segments and more, and flows of about the same round trip. The test for
//! others fails more easily. In default mode the queue of equal flows is nearly empty about every four round trips (3.9 at
//! the most with two flows at 30 ms, at 20 Mbit/s as at 200), which leaves little of the five. A flow that misses it once
//! competes, and comes back soon where windows are large only. The authors' program has less patience yet: four smoothed
//! round trips.
//!
//! - *Windows of less than some 60 segments*, with equal round trips and without anybody else: two flows at 30 ms wait 95 to
//!   155 ms at 20 Mbit/s with a buffer of ten products, as they begin, and 3.4 ms with `competitive = false`. At 100 Mbit/s,
//!   where each has 125 segments, they wait 1.3 ms and less. With four and five flows it is the same: those of 100 segments and
//!   more stay in default mode, those of 50 do not. In between it depends on when they start. Of 200 seeds with starts
//!   within 5 s, 100 Mbit/s, 40 ms, a buffer of ten products and 60 s of which 20 do not count, four flows, with 83 segments
//!   each, wait 1.3 to 7 ms in 181 and some 160 ms in the others, and five, with 67, 1.6 to 6 ms in 104 only. A lone flow
//!   at 60 ms with a buffer of 60 packets waits 7.1 s instead of 0.69 at 64 kbit/s, 2.7 s instead of 0.18 at 256 kbit/s, and 120 ms
//!   instead of 20 at 2 Mbit/s; from 10 Mbit/s on it waits no more than in default mode, give or take a millisecond. Where the
//!   product is less than two segments the smallest window already keeps the queue from emptying.
//!
//!   Why small windows do not come back: the swing empties the queue only while 1/δ̂ is below about a sixth of the product,
//!   and leaves a trough above that. A flow that competes adds one to 1/δ with each round trip, so at the next swing, five
//!   to eight of them later, 1/δ̂ of two flows is 14 to 20: little beside 250 segments, and too much beside 50. With δ kept
//!   as it is and a product of 100, one flow leaves 0, 1, 3 and 9 segments at 1/δ = 7, 15, 20 and 40. Ten seconds later
//!   `RTTmin` takes the trough for a path without a queue, and the next one stands upon it: 9, 18, 26, 34 segments.
//!
//!   What makes them miss an empty queue at first: five round trips are hardly more than a swing takes. As times of the
//!   present length they are shorter than those of the swing, since present is the moment at which the queue has drained;
//!   but counted as they pass, from the one in which it was seen, they do little better. Of 24 cases (1 to 16 flows with 1
//!   to 250 segments each, buffers of ten products) 7 wait less than twice as long as in default mode with the first
//!   reading, 9 with the second, and 13 with a sixth round trip.
//! - *Several flows on a long path* leave a part of it idle: four at 1 Gbit/s and 100 ms use 76 ± 8 % of it, 32 use 70 ± 7
//!   (ten seeds, `studies/copa-turns.toml`), in default mode alike. The direction is looked at once per round trip, so a
//!   window that turns within one moves the other way as fast as it came: down by v/δ segments in a round trip, up to all
//!   of it, and all flows at once, since all see the same queue. The program of the authors does so too. That of Meta
//!   (mvfst, `Copa.cpp`, `changeDirection`) begins with v = 1 wherever the window turns: `turns_at_once = true`, with which
//!   both use 96 %. One flow alone on 100 Mbit/s uses 97 % with it, and all of it without. What such a turn overshoots by
//!   waits: five flows in default mode at 500 Mbit/s and 60 ms, a product of 250/δ̂, keep 5.5 times 1.25/δ̂ in the mean and
//!   35 times 2.5/δ̂ at the 99th percentile; at 200 Mbit/s and 40 ms, of 67/δ̂, 1.0 and 1.0 times.
//! - *Different round trips.* A queue swings with the period of the longest: those with shorter ones do not see it empty in
//!   five of theirs. With 20 to 100 ms on a buffer of one bandwidth-delay product half of the buffer is full in the mean.
//! - *Buffers of many products* let it wait longer: in competitive mode only losses stop 1/δ.
//!
//! *Acknowledgments of many segments.* The sample is that of the first of them, which has waited for the last, and takes
//! part of the batch for a queue: one flow on 100 Mbit/s and 40 ms gets 98 of them with four segments in each
//! acknowledgment, and anything between 14 and 99 with eight, 16 or 32, as recovery, buffer and start have it (60 s;
//! `delayed_ack`, `ack_every`). *Losses* stop the growth while they are repaired: with 1 % at random on that path 65 % of it
//! are used with `recovery = "sack"`, and 96 % with `"rack"`.
//!
//! Promised by the paper, held in `tests/theory/copa.rs`: the target rate; v; δ in competitive mode. In
//! `crates/sim/tests/delay.rs`: the queue between 0 and 2.5/δ̂, equal shares, a share beside Reno in competitive mode,
//! where it takes its own kind for Reno, and why it stays with that.

use std::cmp::Reverse;

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span, Time};

use crate::bounds::{CEILING, FLOOR, first_window};
use crate::recent::Recent;
use crate::{
    Adjustment, Cause, Congestion, CongestionControl, Controller, Family, Feedback, Pacing, Path,
    Probe, Promises, Ramp, Sending, Start, Wants,
};

/// Copa's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("copa", build)
        .title("Copa: a rate in inverse proportion to queueing delay")
        .source("Arun and Balakrishnan, NSDI 2018")
        .family(Family::Delay)
        .parameters([
            Parameter::number(
                "delta",
                0.5,
                1e-4,
                10.0,
                "weight of delay: 1/delta of its packets wait in the mean",
            ),
            Parameter::flag(
                "competitive",
                true,
                "is it less patient beside flows that fill queues?",
            ),
            Parameter::flag(
                "turns_at_once",
                false,
                "is the velocity 1 again as soon as the window turns, not at the end of the round trip?",
            ),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Copa::new(settings, start)))
}

/// Parts of half a round trip, for `RTTstanding`.
const PARTS_OF_HALF: u64 = 8;
/// A part of the time that `RTTmin` counts; ten of them.
const PART_OF_LONG: Span = Span::from_seconds(1);
/// `RTTmax` counts so many round trips.
const ROUNDS_OF_LARGEST: usize = 4;
/// After so many round trips without an empty queue somebody else fills it.
const PATIENCE: u64 = 5;
/// A queue below this share of what it was at most counts as empty.
const NEARLY_EMPTY: f64 = 0.1;
/// v does not double before the window has moved the same way for so many round trips.
const STEADY: u32 = 3;

/// The share of segments that may be lost, out of how many and in how many round trips, and what is left of the window
/// if more are.
const MOST_LOST: f64 = 0.3;
const FEWEST: u64 = 20;
const ROUNDS_OF_LOSSES: u64 = 2;
const LEFT: f64 = 0.7;

/// Which way the window moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// How fast the window moves.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    v: f64,
    direction: Direction,
    /// Round trips in the same direction.
    same: u32,
    /// The window one round trip ago.
    before: Option<f64>,
}

impl Velocity {
    fn starting() -> Self {
        Self { v: 1.0, direction: Direction::Up, same: 0, before: None }
    }

    /// The window is to move this way. If v was meant for the other one, it is 1 again.
    fn head(&mut self, direction: Direction, window: f64) {
        if self.v > 1.0 && direction != self.direction {
            *self = Self { v: 1.0, direction, same: 0, before: Some(window) };
        }
    }

    /// A round trip is over; v stays below `most`.
    fn next_round(&mut self, window: f64, most: f64) {
        let Some(before) = self.before.replace(window) else { return };
        let direction = if window < before { Direction::Down } else { Direction::Up };
        if direction != self.direction {
            *self = Self { v: 1.0, direction, same: 0, ..*self };
            return;
        }
        self.same += 1;
        if self.same >= STEADY {
            self.v = (2.0 * self.v).min(most.max(1.0));
        }
    }
}

/// What has become of segments lately.
#[derive(Clone, Copy, Debug, Default)]
struct Fates {
    since: Time,
    delivered: u64,
    lost: u64,
}

impl Fates {
    /// Counts what an acknowledgment reports. Are too many lost?
    fn see(&mut self, feedback: &Feedback, rtt: Span) -> bool {
        self.delivered += feedback.delivered();
        self.lost += feedback.lost;
        let all = self.delivered + self.lost;
        if all < FEWEST || feedback.now.since(self.since) < rtt * ROUNDS_OF_LOSSES {
            return false;
        }
        let lost = self.lost as f64;
        *self = Self { since: feedback.now, ..Self::default() };
        lost > MOST_LOST * all as f64
    }
}

/// One flow under Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    window: f64,
    ramp: Ramp,
    velocity: Velocity,
    standing: Recent<Span, { PARTS_OF_HALF as usize }>,
    least: Recent<Span, 10>,
    most: Recent<Reverse<Span>, ROUNDS_OF_LARGEST>,
    fates: Fates,
    /// When the queue was last nearly empty.
    empty: Option<Time>,
    /// 1/δ in competitive mode, if that is the mode.
    inverse: Option<f64>,
    /// 1/δ of the default mode.
    default_inverse: f64,
    may_compete: bool,
    turns_at_once: bool,
}

impl Copa {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let window = first_window(start.window);
        Self {
            window,
            ramp: Ramp::new(start),
            velocity: Velocity::starting(),
            standing: Recent::NOTHING,
            least: Recent::NOTHING,
            most: Recent::NOTHING,
            fates: Fates::default(),
            empty: None,
            inverse: None,
            default_inverse: 1.0 / settings.number("delta"),
            may_compete: settings.flag("competitive"),
            turns_at_once: settings.flag("turns_at_once"),
        }
    }

    /// 1/δ
    fn patience(&self) -> f64 {
        self.inverse.unwrap_or(self.default_inverse)
    }

    /// v/δ: what a round trip adds or takes.
    #[inline]
    fn per_round(&self) -> f64 {
        self.velocity.v * self.patience()
    }

    /// Takes in a round trip. Returns `RTTstanding` and `d_q`.
    #[inline]
    fn measure(&mut self, now: Time, rtt: Span, path: &Path) -> Option<(Span, Span)> {
        self.standing.see(now, path.rtt / (2 * PARTS_OF_HALF), rtt);
        self.least.see(now, PART_OF_LONG, rtt);
        self.most.see(now, path.rtt, Reverse(rtt));
        let (standing, least) = (self.standing.least()?, self.least.least()?);
        let Reverse(most) = self.most.least()?;
        let waiting = standing - least.min(standing);
        let range = most - least.min(most);
        // Where nothing ever waits the queue is empty too.
        if waiting.0 as f64 <= NEARLY_EMPTY * range.0 as f64 {
            self.empty = Some(now);
        }
        Some((standing, waiting))
    }

    /// Does somebody else fill the queue?
    fn choose_mode(&mut self, now: Time, path: &Path) {
        let empty = *self.empty.get_or_insert(now);
        let others = self.may_compete && now.since(empty).0 > PATIENCE.saturating_mul(path.rtt.0);
        self.inverse = match self.inverse {
            _ if !others => None,
            None => Some(self.default_inverse),
            Some(inverse) => Some((inverse + 1.0).min(CEILING)),
        };
    }

    fn lose(&mut self) {
        if let Some(inverse) = &mut self.inverse {
            *inverse = (*inverse / 2.0).max(self.default_inverse);
        }
    }
}

impl CongestionControl for Copa {
    fn on_feedback(&mut self, feedback: &Feedback, path: &Path) {
        let Some(rtt) = feedback.rtt else { return };
        let now = feedback.now;
        let Some((standing, waiting)) = self.measure(now, rtt, path) else { return };
        if self.fates.see(feedback, path.rtt) {
            self.window = (LEFT * self.window).max(FLOOR);
            self.ramp.leave(self.window);
        }
        let rises = self.ramp.holds(self.window);
        if feedback.round_starts && !rises {
            self.velocity.next_round(self.window, self.window / self.patience());
            self.choose_mode(now, path);
        }
        if self.ramp.watches() {
            self.ramp.watch(feedback, self.window);
        }
        let grows = feedback.limited.may_grow() && !feedback.is_congested();
        // λ ≤ λ_t, without divisions: w d_q ≤ RTTstanding/δ.
        let goal = standing.0 as f64 * self.patience();
        for _ in 0..feedback.acked {
            let below = self.window * waiting.0 as f64 <= goal;
            if self.ramp.holds(self.window) {
                if below {
                    if grows {
                        self.window = self.ramp.rise(self.window, 1.0);
                    }
                    continue;
                }
                self.ramp.leave(self.window);
                self.empty = Some(now);
            }
            if self.turns_at_once {
                let direction = if below { Direction::Up } else { Direction::Down };
                self.velocity.head(direction, self.window);
            }
            let step = self.per_round();
            if !below {
                self.window = (self.window - step / self.window).max(FLOOR);
                self.ramp.leave(self.window);
            } else if grows {
                self.window = (self.window + step / self.window).min(CEILING);
            }
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        match event.cause {
            Cause::Loss | Cause::Mark => self.lose(),
            Cause::Timeout => {
                self.lose();
                self.window = self.ramp.time_out(event);
                self.velocity = Velocity::starting();
            }
        }
    }

    fn on_adjustment(&mut self, event: &Adjustment, path: &Path) {
        self.trim(event, path);
        self.velocity = Velocity::starting();
    }

    fn growth_limit(&self, used: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        let used = used.0;
        let rises = self.ramp.holds(self.window);
        Some(Segments(if rises {
            self.ramp.after_round(used, 1.0)
        } else {
            used + self.per_round().min(used)
        }))
    }

    fn trim(&mut self, event: &Adjustment, _: &Path) {
        self.window = self.ramp.adjust(event);
    }

    #[inline]
    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn pacing(&self) -> Pacing {
        match self.standing.least() {
            Some(standing) if standing > Span::ZERO => {
                Pacing::Rate(2.0 * self.window / standing.seconds())
            }
            _ => Pacing::Unpaced,
        }
    }

    fn threshold(&self) -> Option<Segments> {
        self.ramp.threshold()
    }

    fn wants(&self) -> Wants {
        Wants { pacing: true, ..Wants::NOTHING }
    }

    fn promises(&self) -> Promises {
        Promises::NONE
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("velocity", self.velocity.v);
        probe.value("delta", 1.0 / self.patience());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limited;

    const RTT: Span = Span::from_millis(100);
    const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

    /// Seven of 20 lost in two round trips of 100 ms are too many; six are not, nor are seven of 19 or in less time.
    #[test]
    fn the_window_falls_where_too_much_is_lost() {
        let after = |acked, lost, millis| {
            let mut flow = Copa::new(&controller().defaults(), &Start::default());
            flow.window = 100.0;
            flow.ramp.leave(100.0);
            let now = Time::ZERO + Span::from_millis(millis);
            let rtt = Some(PATH.rtt);
            let limited = Limited::Recovery;
            flow.on_feedback(&Feedback { lost, rtt, limited, ..Feedback::at(now, acked) }, &PATH);
            flow.window
        };
        assert_eq!(after(13, 7, 200), 70.0);
        assert_eq!(after(14, 6, 200), 100.0);
        assert_eq!(after(13, 7, 199), 100.0);
        assert_eq!(after(12, 7, 200), 100.0);
    }

    /// Losses are counted anew every two round trips: 40 that arrived do not excuse 7 of the next 20. Slow start does not
    /// undo it, and two segments are the least.
    #[test]
    fn losses_are_counted_anew_after_two_round_trips() {
        for (window, left) in [(100.0, 70.0), (2.5, 2.0)] {
            let mut flow = Copa::new(&controller().defaults(), &Start::default());
            flow.window = window;
            for (millis, acked, lost) in [(200, 40, 0), (400, 13, 7)] {
                let (now, rtt) = (Time::ZERO + Span::from_millis(millis), Some(PATH.rtt));
                let limited = Limited::Recovery;
                let news = Feedback { lost, rtt, limited, ..Feedback::at(now, acked) };
                flow.on_feedback(&news, &PATH);
            }
            assert_eq!((flow.window, flow.threshold()), (left, Some(Segments(left))));
        }
    }

    /// At a target of 200 packets per second for each 10 ms that packets wait, the window is to fall. What v has become on
    /// the way up serves the way down until the round trip is over, or not.
    #[test]
    fn the_velocity_of_one_way_does_not_serve_the_other() {
        for (turns_at_once, step) in [(false, 16.0 / (0.5 * 100.0)), (true, 1.0 / (0.5 * 100.0))] {
            let mut flow = Copa::new(&controller().defaults(), &Start::default());
            flow.turns_at_once = turns_at_once;
            flow.window = 100.0;
            flow.ramp.leave(100.0);
            let rising = Velocity { v: 16.0, direction: Direction::Up, same: 7, before: None };
            flow.velocity = rising;
            for (millis, rtt) in [(0, 100), (100, 110)] {
                let rtt = Some(Span::from_millis(rtt));
                let now = Time::ZERO + Span::from_millis(millis);
                let acked = u64::from(millis > 0);
                flow.on_feedback(&Feedback { rtt, ..Feedback::at(now, acked) }, &PATH);
            }
            assert!((flow.window - (100.0 - step)).abs() < 1e-9, "{}", flow.window);
        }
        // One that goes on as before keeps it.
        let mut velocity = Velocity { v: 16.0, direction: Direction::Down, same: 7, before: None };
        velocity.head(Direction::Down, 100.0);
        assert_eq!((velocity.v, velocity.same, velocity.before), (16.0, 7, None));
        velocity.head(Direction::Up, 90.0);
        assert_eq!((velocity.v, velocity.same, velocity.before), (1.0, 0, Some(90.0)));
    }

    /// In a round trip the window moves by no more than itself: v is at most δ w, and 1 at the least.
    #[test]
    fn the_velocity_is_bounded_by_the_window() {
        for (most, expected) in [(3.0, 3.0), (0.5, 1.0), (1e9, 128.0)] {
            let mut velocity = Velocity::starting();
            (0..10).for_each(|round| velocity.next_round(100.0 + f64::from(round), most));
            assert_eq!(velocity.v, expected, "at most {most}");
        }
    }

    /// A time-out halves 1/δ as a loss does, and v is 1 again; so it is where the host asks for another window.
    #[test]
    fn a_time_out_and_a_pause_begin_with_the_least_velocity() {
        let now = Time::ZERO;
        let fast = || {
            let mut flow = Copa::new(&controller().defaults(), &Start::default());
            flow.velocity.v = 16.0;
            flow.inverse = Some(10.0);
            flow
        };
        let mut flow = fast();
        let cause = Cause::Timeout;
        flow.on_congestion(&Congestion { now, cause, in_flight: 10, again: false }, &PATH);
        assert_eq!((flow.velocity.v, flow.inverse), (1.0, Some(5.0)));
        let mut flow = fast();
        let window = Segments(50.0);
        flow.on_adjustment(&Adjustment { now, window, threshold: None }, &PATH);
        assert_eq!((flow.velocity.v, flow.inverse), (1.0, Some(10.0)));
    }

    /// 2 w/RTTstanding: with ten segments and 80 ms, of which 100 ms are another sample, 250 per second.
    #[test]
    fn it_is_paced_at_twice_its_rate() {
        let path = Path { rtt: Span::from_millis(100), base_rtt: Span::from_millis(80) };
        let mut flow = Copa::new(&controller().defaults(), &Start::default());
        assert_eq!(flow.pacing(), Pacing::Unpaced);
        for millis in [100, 80] {
            let rtt = Some(Span::from_millis(millis));
            flow.on_feedback(&Feedback { rtt, ..Feedback::at(Time::ZERO, 0) }, &path);
        }
        assert_eq!(flow.pacing(), Pacing::Rate(250.0));
    }

    /// In congestion avoidance at `window`.
    fn avoiding(window: f64) -> Copa {
        let window = Segments(window);
        let start = Start { window, threshold: Some(window), ..Start::default() };
        Copa::new(&controller().defaults(), &start)
    }

    /// An acknowledgment of `acked` segments at so many milliseconds that took so many; the window afterwards.
    fn hear(flow: &mut Copa, millis: u64, rtt: u64, acked: u64) -> f64 {
        let now = Time::ZERO + Span::from_millis(millis);
        let (rtt, round_starts) = (Some(Span::from_millis(rtt)), acked == 0);
        flow.on_feedback(&Feedback { rtt, round_starts, ..Feedback::at(now, acked) }, &PATH);
        flow.window
    }

    /// Section 2.1: the direction changes to down where the window is smaller than a round trip ago. One that stands still
    /// counts as rising.
    #[test]
    fn a_window_that_stands_still_does_not_fall() {
        let mut velocity = Velocity::starting();
        (0..4).for_each(|_| velocity.next_round(100.0, 1e9));
        assert_eq!((velocity.v, velocity.direction), (2.0, Direction::Up));
        let mut velocity = Velocity { direction: Direction::Down, before: None, ..velocity };
        for (window, expected) in [
            (100.0, (2.0, Direction::Down)),
            (90.0, (4.0, Direction::Down)),
            (90.0, (1.0, Direction::Up)),
        ] {
            velocity.next_round(window, 1e9);
            assert_eq!((velocity.v, velocity.direction), expected);
        }
    }

    /// Section 2.1: it grows at the target rate itself. With 10 ms of waiting and δ = 1/2 that is 200 per second, 22
    /// segments in a round trip of 110 ms.
    #[test]
    fn it_grows_at_the_target_rate() {
        let mut flow = avoiding(22.0);
        hear(&mut flow, 0, 100, 0);
        assert_eq!(hear(&mut flow, 100, 110, 1), 22.0 + 2.0 / 22.0);
    }

    /// 2.5 segments of which each waits for a second, in a round trip of 1.1, are more than the target of 2.2. They
    /// would fall by v/(δ w) = 0.8, but two are the least.
    #[test]
    fn it_falls_to_two_segments_at_the_least() {
        let mut flow = avoiding(2.5);
        hear(&mut flow, 0, 100, 0);
        assert_eq!(hear(&mut flow, 100, 1100, 1), 2.0);
    }

    /// Section 2.2: of a queue of 100 ms at most a tenth is nearly empty, and no more than that.
    #[test]
    fn a_tenth_of_the_largest_queue_is_nearly_empty() {
        for (rtt, empty) in [(110, true), (111, false)] {
            let mut flow = avoiding(20.0);
            hear(&mut flow, 0, 100, 0);
            hear(&mut flow, 10, 200, 0);
            hear(&mut flow, 100, rtt, 0);
            let now = Time::ZERO + Span::from_millis(100);
            assert_eq!(flow.empty == Some(now), empty, "{rtt} ms");
        }
    }

    /// Section 2.2: the largest queue is that of the last four round trips, in parts of one. Once 200 ms are forgotten, 110 are
    /// the most there was.
    #[test]
    fn the_largest_queue_is_that_of_four_round_trips() {
        for (millis, empty) in [(390, true), (410, false)] {
            let mut flow = avoiding(20.0);
            hear(&mut flow, 0, 100, 0);
            hear(&mut flow, 10, 200, 0);
            hear(&mut flow, millis, 110, 0);
            let now = Time::ZERO + Span::from_millis(millis);
            assert_eq!(flow.empty == Some(now), empty, "at {millis} ms");
        }
    }

    /// Section 2.2: the queue is to have been nearly empty within five round trips, here 500 ms. They count from the end of
    /// slow start, at 600 ms, which has filled it itself.
    #[test]
    fn it_is_patient_for_five_round_trips_after_slow_start() {
        let mut flow = Copa::new(&controller().defaults(), &Start::default());
        hear(&mut flow, 0, 100, 0);
        hear(&mut flow, 600, 200, 1);
        assert!(flow.threshold().is_some(), "ten segments are more than 4, the target");
        for (millis, competes) in [(700, false), (1100, false), (1101, true)] {
            hear(&mut flow, millis, 200, 0);
            assert_eq!(flow.inverse.is_some(), competes, "at {millis} ms");
        }
    }
}
