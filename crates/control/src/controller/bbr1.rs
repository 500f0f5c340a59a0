//! BBR: sends at the rate that the path delivers, and keeps no more in flight than that rate fills.
//!
//! N. Cardwell, Y. Cheng, S. Hassas Yeganeh, V. Jacobson, "BBR Congestion Control",
//! draft-cardwell-iccrg-bbr-congestion-control-00, 2017; after Cardwell et al., ACM Queue 14(5), 2016.
//!
//! A window that grows until packets are lost fills every buffer, and where packets are lost for another reason it never
//! grows far: 1 % of losses leaves Reno 13 segments. BBR asks for neither. It measures the two numbers that describe a
//! path and works at the point where a link is busy and its queue is empty:
//!
//! ```text
//!     BtlBw     largest delivery rate of the last 10 round trips
//!     RTprop    smallest round trip of the last 10 s
//!     rate      pacing_gain · BtlBw
//!     cwnd      cwnd_gain · BtlBw · RTprop + 3 send quanta, at least 4
//! ```
//!
//! The two cannot be measured at the same time, since one shows only when there is a queue and the other only when there
//! is none. So a flow alternates:
//!
//! ```text
//!     Startup     gains 2.89, 2.89     until BtlBw grows by less than a quarter in each of three round trips
//!     Drain       gains 1/2.89, 2.89   until no more is in flight than BtlBw · RTprop
//!     ProbeBW     gain 2 for the window; for the rate 5/4, 3/4, 1, 1, 1, 1, 1, 1, each for about RTprop,
//!                 beginning with any of them but 3/4
//!     ProbeRTT    four segments in flight for 200 ms and a round trip, when no round trip of the last 10 s was as
//!                 short as RTprop; then ProbeBW or, where the pipe was never full, Startup
//! ```
//!
//! | parameter      | default      | source |
//! |----------------|--------------|--------|
//! | `startup_gain` | 2/ln 2 = 2.89 | section 4.3.2.1: doubles the rate in each round trip |
//! | `cwnd_gain`    | 2            | section 4.3.4.3 |
//! | `bw_rounds`    | 10           | section 4.1.1.2 |
//! | `rtt_window`   | 10 s         | section 4.1.2.2; of the filter, and between two ProbeRTT |
//!
//! Losses take nothing from the model. They make the first round trip of a recovery send no more than is delivered, and
//! take what is lost out of the window until the recovery ends, when the window of before is back (section 4.2.3.4).
//!
//! What the draft leaves open, and deviations:
//!
//! - *Marks* are not mentioned; they change nothing, as losses do not. Where queues mark instead of dropping, give the
//!   flow `ecn = false`.
//! - *The first pacing rate* takes the round trip that the host knows at the start; otherwise 1 ms, replaced when the first
//!   round trip has been measured ("the initial SRTT after the first non-zero RTT sample").
//! - *The send quantum* is the host's. One that sends packet by packet has a quantum of one segment.
//! - *The recovery after a time-out* ends when everything that was in flight is acknowledged. Until then the window grows
//!   from one segment as it always does.
//! - *Low rates seen in ProbeRTT* are kept out of the filter by the controller, not by a note to the host. As in the
//!   draft it forgets nothing while it is shown nothing, so a short path with more than ten round trips in 200 ms keeps
//!   its rate.
//! - *The ten round trips of the filter* include the one under way.
//! - *A round trip* is that of the first segment of an acknowledgment, which has waited for the others. With delayed
//!   acknowledgments `RTprop` is too long by the time between two segments: 64 instead of 52 ms on 1 Mbit/s and 40 ms.
//!
//! Domain: any window. Where retransmissions are lost too, `recovery = "rack"`: with `"sack"` each costs a time-out, and of
//! 1 Gbit/s at 100 ms with 1 % of losses three quarters are left, not 97 %. Buffers below one product of bandwidth and
//! delay overflow again and again: Hock, Bless and Zitterbart (ICNP 2017) show what that does to others.
//!
//! Promised by the draft, held below and in `crates/sim/tests/bbr1.rs`: the gains and their durations; a full link in
//! spite of losses; ProbeRTT in 2 % of the time.

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span, Time};

use crate::bounds::{AFTER_TIMEOUT, CEILING, first_window};
use crate::path_model::{
    LONGEST_FILTER, Largest, MIN_PIPE, PROBE_RTT, Quantum, Quiet, Recoveries, Rounds, bounded_rate,
    first_rate, in_flight_after, rate_of, real,
};
use crate::registry::above_zero;
use crate::{
    Cause, Chance, Congestion, CongestionControl, Controller, Family, Feedback, Pacing, Path,
    Probe, RateSample, Sending, Start, Wants,
};

/// BBRv1's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("bbr1", build)
        .title("BBR: sends at the delivery rate, with one product of bandwidth and delay in flight")
        .source("draft-cardwell-iccrg-bbr-congestion-control-00")
        .family(Family::Model)
        .parameters([
            Parameter::number("startup_gain", HIGH_GAIN, 1.1, 10.0, "gains until the pipe is full"),
            Parameter::number("cwnd_gain", 2.0, 1.0, 10.0, "gain of the window once it is full"),
            Parameter::count(
                "bw_rounds",
                LONGEST_FILTER as u64,
                1,
                LONGEST_FILTER as u64,
                "round trips over which the largest delivery rate counts",
            ),
            Parameter::span("rtt_window", "10 s", "time over which the smallest round trip counts"),
        ])
        .check(above_zero("rtt_window"))
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Bbr1::new(settings, start)))
}

/// `BBRHighGain`, 2/ln 2.
const HIGH_GAIN: f64 = 2.885_390_081_777_926_8;
/// The pacing gains of `ProbeBW`, in their order.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// How far a recovery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    /// The first round trip, until everything delivered now plus what is in flight has been: no more is sent than is
    /// delivered.
    Conserving {
        until: u64,
    },
    Recovering,
    /// After a time-out.
    TimedOut,
}

/// One flow under BBRv1.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a variable of the draft")]
pub struct Bbr1 {
    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    pacing_rate: f64,
    window: f64,
    /// `prior_cwnd`
    prior_window: f64,
    initial_window: f64,
    rounds: Rounds,
    /// `BtlBwFilter`
    bandwidth: Largest,
    /// Round trips that have begun since it was last shown a rate.
    unseen: usize,
    /// `RTprop` and when it was measured; none before the first sample.
    rtprop: Option<Span>,
    rtprop_seconds: f64,
    rtprop_stamp: Option<Time>,
    filled_pipe: bool,
    full_bw: f64,
    full_bw_count: u32,
    /// Where in the cycle, and since when.
    cycle_index: usize,
    cycle_stamp: Time,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    repair: Repair,
    recoveries: Recoveries,
    quiet: Quiet,
    quantum: Quantum,
    chance: Chance,
    /// Has a round trip been measured?
    sampled: bool,
    delivered: u64,

    high_gain: f64,
    steady_cwnd_gain: f64,
    rtt_window: Span,
}

impl Bbr1 {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let window = first_window(start.window);
        let high_gain = settings.number("startup_gain");
        Self {
            state: State::Startup,
            pacing_gain: high_gain,
            cwnd_gain: high_gain,
            pacing_rate: first_rate(high_gain, window, start.round_trip),
            window,
            prior_window: 0.0,
            initial_window: window,
            rounds: Rounds::default(),
            bandwidth: Largest::over(settings.number("bw_rounds") as usize),
            unseen: 0,
            rtprop: start.round_trip,
            rtprop_seconds: start.round_trip.map_or(0.0, Span::seconds),
            rtprop_stamp: None,
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            repair: Repair::None,
            recoveries: Recoveries::default(),
            quiet: Quiet::default(),
            quantum: Quantum::of(start),
            chance: Chance::new(start.chance),
            sampled: start.round_trip.is_some(),
            delivered: 0,
            high_gain,
            steady_cwnd_gain: settings.number("cwnd_gain"),
            rtt_window: settings.span("rtt_window"),
        }
    }

    /// `BBRInflight`: what fills the path so many times, with three quanta for what is under way in hosts.
    fn inflight(&self, gain: f64) -> f64 {
        if self.rtprop.is_none() {
            return self.initial_window;
        }
        let quanta = 3.0 * self.quantum.segments(self.pacing_rate);
        (gain * self.bandwidth.value() * self.rtprop_seconds + quanta).min(CEILING)
    }

    /// Section 4.1.1: the rate, and round trips.
    fn update_bandwidth(&mut self, sample: &RateSample) {
        self.delivered = sample.delivered_total;
        self.rounds.see(sample);
        self.unseen += usize::from(self.rounds.starts);
        let rate = rate_of(sample);
        let limited = self.quiet.limits(sample);
        if !limited || rate >= self.bandwidth.value() {
            // Rates are forgotten when others take their place, not while there are none.
            for _ in 0..std::mem::take(&mut self.unseen).min(LONGEST_FILTER) {
                self.bandwidth.advance();
            }
            self.bandwidth.see(rate);
        }
        if self.rounds.starts && !limited && !self.filled_pipe {
            self.check_full_pipe();
        }
    }

    /// Section 4.3.2.2, once per round trip.
    fn check_full_pipe(&mut self) {
        let bandwidth = self.bandwidth.value();
        if bandwidth >= 1.25 * self.full_bw {
            self.full_bw = bandwidth;
            self.full_bw_count = 0;
        } else {
            self.full_bw_count += 1;
            self.filled_pipe = self.full_bw_count >= 3;
        }
    }

    fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.pacing_gain = self.high_gain;
        self.cwnd_gain = self.high_gain;
    }

    /// Section 4.3.4.2: the cycle begins anywhere but with 3/4.
    fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.cwnd_gain = self.steady_cwnd_gain;
        self.cycle_index = CYCLE.len() - 1 - self.chance.below(CYCLE.len() as u32 - 1) as usize;
        self.advance_cycle(now);
    }

    fn advance_cycle(&mut self, now: Time) {
        self.cycle_stamp = now;
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.pacing_gain = CYCLE[self.cycle_index];
    }

    /// Section 4.3.4.3: is this part of the cycle over, with so much in flight before the acknowledgment?
    fn is_phase_over(&self, now: Time, prior_inflight: f64, lost: bool) -> bool {
        let full_length =
            self.rtprop.is_some_and(|rtprop| now > self.cycle_stamp.saturating_add(rtprop));
        match self.cycle_index {
            0 => full_length && (lost || prior_inflight >= self.inflight(self.pacing_gain)),
            1 => full_length || prior_inflight <= self.inflight(1.0),
            _ => full_length,
        }
    }

    /// Section 4.1.2.3. Returns whether the estimate had expired.
    fn update_rtprop(&mut self, now: Time, rtt: Option<Span>) -> bool {
        let stamp = *self.rtprop_stamp.get_or_insert(now);
        let expired = now > stamp.saturating_add(self.rtt_window);
        if let Some(rtt) = rtt
            && (expired || self.rtprop.is_none_or(|rtprop| rtt <= rtprop))
        {
            if self.rtprop != Some(rtt) {
                self.rtprop = Some(rtt);
                self.rtprop_seconds = rtt.seconds();
            }
            self.rtprop_stamp = Some(now);
        }
        expired
    }

    /// Section 4.3.5.
    fn check_probe_rtt(&mut self, now: Time, expired: bool, in_flight: u64) {
        if self.state != State::ProbeRtt && expired && !self.idle_restart {
            self.save_window();
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.probe_rtt_done = None;
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(now, in_flight);
        }
        self.idle_restart = false;
    }

    fn probe_rtt(&mut self, now: Time, in_flight: u64) {
        self.quiet.mark(self.delivered, in_flight);
        match self.probe_rtt_done {
            None => {
                if in_flight as f64 <= MIN_PIPE {
                    self.probe_rtt_done = Some(now.saturating_add(PROBE_RTT));
                    self.probe_rtt_round_done = false;
                    self.rounds.begin(self.delivered);
                }
            }
            Some(done) => {
                self.probe_rtt_round_done |= self.rounds.starts;
                if self.probe_rtt_round_done && now > done {
                    self.rtprop_stamp = Some(now);
                    self.restore_window();
                    if self.filled_pipe {
                        self.enter_probe_bw(now);
                    } else {
                        self.enter_startup();
                    }
                }
            }
        }
    }

    /// `BBRSaveCwnd`: the last window that neither a recovery nor `ProbeRTT` has made small.
    fn save_window(&mut self) {
        let small = self.repair != Repair::None || self.state == State::ProbeRtt;
        self.prior_window = if small { self.prior_window.max(self.window) } else { self.window };
    }

    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth.value();
        if self.filled_pipe || rate > self.pacing_rate {
            self.pacing_rate = bounded_rate(rate);
        }
    }

    /// Sections 4.2.3.4 to 4.2.3.6, with so much in flight after the acknowledgment.
    fn set_window(&mut self, feedback: &Feedback, in_flight: u64) {
        let delivered = real(feedback.delivered());
        let target = self.inflight(self.cwnd_gain);
        if matches!(self.repair, Repair::Conserving { .. } | Repair::Recovering) {
            self.window = (self.window - real(feedback.lost)).max(1.0);
        }
        if let Repair::Conserving { until } = self.repair {
            self.window = self.window.max(real(in_flight) + delivered);
            if self.delivered >= until {
                self.repair = Repair::Recovering;
            }
        } else {
            if self.filled_pipe {
                self.window = (self.window + delivered).min(target);
            } else if self.window < target || real(self.delivered) < self.initial_window {
                self.window += delivered;
            }
            self.window = self.window.max(MIN_PIPE);
        }
        if self.state == State::ProbeRtt {
            self.window = self.window.min(MIN_PIPE);
        }
        self.window = self.window.min(CEILING);
    }
}

impl CongestionControl for Bbr1 {
    fn on_feedback(&mut self, feedback: &Feedback, _: &Path) {
        let now = feedback.now;
        let in_flight = in_flight_after(feedback);
        if let Some(rtt) = feedback.rtt
            && !self.sampled
        {
            self.sampled = true;
            self.pacing_rate = first_rate(self.high_gain, self.initial_window, Some(rtt));
        }
        if let Some(sample) = &feedback.rate {
            self.update_bandwidth(sample);
        }
        if self.recoveries.is_in(feedback) && self.repair == Repair::None {
            self.save_window();
            let least = in_flight as f64 + feedback.delivered().max(1) as f64;
            self.window = self.window.min(least);
            self.repair = Repair::Conserving { until: self.delivered + in_flight };
        }
        if self.state == State::ProbeBw
            && self.is_phase_over(now, real(feedback.in_flight), feedback.lost > 0)
        {
            self.advance_cycle(now);
        }
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
            self.pacing_gain = 1.0 / self.high_gain;
            self.cwnd_gain = self.high_gain;
        }
        if self.state == State::Drain && real(in_flight) <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
        let expired = self.update_rtprop(now, feedback.rtt);
        self.check_probe_rtt(now, expired, in_flight);
        self.set_pacing_rate(self.pacing_gain);
        self.set_window(feedback, in_flight);
    }

    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        if event.cause == Cause::Timeout {
            self.save_window();
            self.window = AFTER_TIMEOUT;
            self.repair = Repair::TimedOut;
        }
    }

    fn on_recovered(&mut self, _: Time, _: &Path) {
        self.recoveries.end();
        if self.repair != Repair::None {
            self.repair = Repair::None;
            self.restore_window();
        }
    }

    /// Section 4.3.4.4.
    fn on_restart(&mut self, _: Time, _: &Path) {
        self.idle_restart = true;
        if self.state == State::ProbeBw {
            self.set_pacing_rate(1.0);
        }
    }

    fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn pacing(&self) -> Pacing {
        Pacing::Rate(self.pacing_rate)
    }

    fn wants(&self) -> Wants {
        Wants { pacing: true, delivery_rate: true, own_recovery: true, ..Wants::NOTHING }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("state", f64::from(self.state as u8));
        probe.value("btlbw", self.bandwidth.value());
        probe.value("rtprop", self.rtprop_seconds);
        probe.value("pacing_gain", self.pacing_gain);
        probe.value("cwnd_gain", self.cwnd_gain);
        probe.value("prior_window", self.prior_window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limited;

    /// Segments per second, and the round trip: a product of 100 segments.
    const RATE: u64 = 1000;
    const RTT: Span = Span::from_millis(100);
    const PATH: Path = Path { rtt: RTT, base_rtt: RTT };

    /// A path that delivers so many segments per second, as a flow on it sees it.
    struct Wire {
        flow: Bbr1,
        now: Time,
        delivered: u64,
    }

    impl Wire {
        fn new() -> Self {
            let start = Start { window: Segments(10.0), ..Start::default() };
            Self {
                flow: Bbr1::new(&controller().defaults(), &start),
                now: Time::ZERO,
                delivered: 0,
            }
        }

        /// An acknowledgment after so many milliseconds of what was delivered in them, at so many segments per second,
        /// with so much in flight before it. `round`: does it end a round trip?
        fn acknowledged(&mut self, millis: u64, rate: u64, in_flight: u64, rtt: Span, round: bool) {
            self.told(millis, rate, in_flight, |feedback, sample| {
                (feedback.rtt, feedback.round_starts) = (Some(rtt), round);
                sample.delivered_before = if round { sample.delivered_total } else { 0 };
            });
        }

        /// The same within a round trip of 100 ms, with something changed.
        fn told(
            &mut self,
            millis: u64,
            rate: u64,
            in_flight: u64,
            change: impl FnOnce(&mut Feedback, &mut RateSample),
        ) {
            let interval = Span::from_millis(millis);
            self.now = self.now.saturating_add(interval);
            let acked = (rate * millis / 1000).max(1);
            self.delivered += acked;
            let mut sample = RateSample {
                delivered_total: self.delivered,
                ..RateSample::of(rate * millis, Span(interval.0 * 1000))
            };
            let mut feedback =
                Feedback { rtt: Some(RTT), in_flight, ..Feedback::at(self.now, acked) };
            change(&mut feedback, &mut sample);
            self.flow.on_feedback(&Feedback { rate: Some(sample), ..feedback }, &PATH);
        }

        /// Up to `ProbeBW`, on a path of `RATE`.
        fn settled() -> Self {
            let mut wire = Self::new();
            while wire.flow.state != State::ProbeBw {
                wire.acknowledged(100, RATE, 100, RTT, true);
            }
            wire
        }

        /// The gain of the pacing rate now.
        fn gain(&self) -> f64 {
            self.flow.pacing_rate / RATE as f64
        }
    }

    /// Section 4.3.2.1: 2/ln 2 = 2.89 is the least gain that doubles the rate in each round trip. 4.3.3: that of Drain is
    /// one over it, and the window keeps its gain.
    #[test]
    fn startup_doubles_and_drain_undoes_it() {
        assert!((HIGH_GAIN * std::f64::consts::LN_2 - 2.0).abs() < 1e-15);
        let mut wire = Wire::new();
        // While each round trip delivers twice as much, the pacing rate is 2.89 times that.
        for doubled in [100, 200, 400, 800] {
            wire.acknowledged(100, doubled, 50, RTT, true);
            assert_eq!(wire.flow.state, State::Startup);
            assert!((wire.flow.pacing_rate / doubled as f64 - 2.885_39).abs() < 1e-5);
        }
        // The first round trip at 1000 grows by a quarter; the pipe is full after three more that do not (4.3.2.2).
        for stalled in 0..4 {
            assert_eq!(wire.flow.state, State::Startup, "after {stalled} round trips");
            wire.acknowledged(100, RATE, 288, RTT, true);
        }
        assert_eq!(wire.flow.state, State::Drain);
        assert!((wire.gain() - 0.346_57).abs() < 1e-5, "{}", wire.gain());
        assert!((wire.flow.cwnd_gain - 2.885_39).abs() < 1e-5);
        // Until no more is in flight than the product, 100 segments and three quanta, after the acknowledgment of 10.
        wire.acknowledged(10, RATE, 114, RTT, false);
        assert_eq!(wire.flow.state, State::Drain);
        wire.acknowledged(10, RATE, 113, RTT, false);
        assert_eq!(wire.flow.state, State::ProbeBw);
    }

    /// Less than a quarter more in three round trips ends Startup; a quarter in any of them begins the count again.
    #[test]
    fn a_quarter_more_is_growth() {
        let mut wire = Wire::new();
        for rate in [1000, 1240, 1240, 1250, 1250, 1250] {
            wire.acknowledged(100, rate, 100, RTT, true);
            assert_eq!(wire.flow.state, State::Startup, "{rate}");
        }
        wire.acknowledged(100, 1250, 400, RTT, true);
        assert_eq!(wire.flow.state, State::Drain);
    }

    /// Section 4.3.4.1: 5/4, 3/4 and six times 1, in this order. 4.3.4.3: each is longer than `RTprop`; 5/4 also lasts
    /// until that much is in flight or something is lost, and 3/4 no longer than until what is in flight is the product.
    #[test]
    fn the_cycle_has_the_gains_and_the_lengths_of_the_draft() {
        let mut wire = Wire::settled();
        // Acknowledgments every 10 ms with as much in flight as the gain asks for.
        let mut phases: Vec<(f64, u64)> = Vec::new();
        for _ in 0..300 {
            let gain = wire.flow.pacing_gain;
            let in_flight = if gain > 1.0 { 128 } else { 110 };
            wire.acknowledged(10, RATE, in_flight, RTT, false);
            assert!((wire.gain() - wire.flow.pacing_gain).abs() < 1e-9, "{}", wire.gain());
            match phases.last_mut() {
                Some((last, length)) if *last == wire.flow.pacing_gain && gain == *last => {
                    *length += 10;
                }
                _ => phases.push((wire.flow.pacing_gain, 10)),
            }
        }
        // Phases of gain 1 are told apart by the index; joined here, they last six times as long.
        let from = phases.iter().position(|&(gain, _)| gain == 1.25).expect("it probes");
        let cycle: Vec<(f64, u64)> = phases[from..from + 3].to_vec();
        // The first acknowledgment after more than 100 ms comes at 110.
        assert_eq!(cycle, [(1.25, 110), (0.75, 110), (1.0, 660)]);
        assert_eq!(phases[from + 3].0, 1.25, "and again");
    }

    #[test]
    fn probing_waits_for_its_queue_or_a_loss_and_draining_ends_early() {
        let mut wire = Wire::settled();
        while wire.flow.pacing_gain != 1.25 {
            wire.acknowledged(10, RATE, 110, RTT, false);
        }
        // 5/4 of the product and three quanta are 128 segments: with 127 it goes on, for as long as it takes.
        for _ in 0..50 {
            wire.acknowledged(10, RATE, 127, RTT, false);
            assert_eq!(wire.flow.pacing_gain, 1.25);
        }
        wire.acknowledged(10, RATE, 128, RTT, false);
        assert_eq!(wire.flow.pacing_gain, 0.75);
        wire.acknowledged(10, RATE, 104, RTT, false);
        assert_eq!(wire.flow.pacing_gain, 0.75);
        wire.acknowledged(10, RATE, 103, RTT, false);
        assert_eq!(wire.flow.pacing_gain, 1.0, "the queue is gone after 20 ms");
    }

    /// Section 4.3.4.2: a flow enters the cycle in any phase but that of 3/4.
    #[test]
    fn the_cycle_begins_anywhere_but_with_three_quarters() {
        let mut seen = [0; CYCLE.len()];
        for draw in 0..700_u32 {
            let start = Start { chance: u64::from(draw), ..Start::default() };
            let mut flow = Bbr1::new(&controller().defaults(), &start);
            flow.enter_probe_bw(Time::ZERO);
            seen[flow.cycle_index] += 1;
        }
        assert_eq!(seen[1], 0, "{seen:?}");
        // Seven phases, 100 of 700 each: five standard deviations of a binomial are 46.
        assert!(
            seen.iter().enumerate().all(|(at, &n)| at == 1 || (54..147).contains(&n)),
            "{seen:?}"
        );
    }

    /// Sections 4.1.1.2 and 4.1.1.5: the largest rate of the last ten round trips, `BtlBwFilterLen`.
    #[test]
    fn the_largest_rate_is_remembered_for_ten_round_trips() {
        let mut wire = Wire::settled();
        wire.acknowledged(100, 2 * RATE, 110, RTT, true);
        assert_eq!(wire.flow.bandwidth.value(), 2000.0);
        for round in 2..=10 {
            wire.acknowledged(100, RATE, 110, RTT, true);
            assert_eq!(wire.flow.bandwidth.value(), 2000.0, "round trip {round}");
        }
        wire.acknowledged(100, RATE, 110, RTT, true);
        assert_eq!(wire.flow.bandwidth.value(), 1000.0, "the eleventh");
    }

    /// Section 4.3.5: ten seconds after the last round trip as short as `RTprop` (`ProbeRTTInterval`), at most four
    /// segments (`BBRMinPipeCwnd`) for 200 ms (`ProbeRTTDuration`) and a round trip, counted from when no more are in
    /// flight; then the window of before is back.
    #[test]
    fn probe_rtt_holds_four_segments_for_200_ms_every_ten_seconds() {
        let mut wire = Wire::settled();
        let longer = Span::from_millis(101);
        wire.acknowledged(10, RATE, 110, RTT, false);
        let last = wire.now;
        while wire.flow.state == State::ProbeBw {
            wire.acknowledged(10, RATE, 110, longer, wire.now.0.is_multiple_of(RTT.0));
        }
        assert_eq!(wire.flow.state, State::ProbeRtt);
        // The first acknowledgment after more than ten seconds.
        assert_eq!(wire.now.since(last), Span::from_millis(10_010));
        let before = wire.flow.prior_window;
        assert_eq!((wire.flow.window, wire.flow.pacing_gain), (4.0, 1.0));
        assert_eq!(wire.flow.cwnd_gain, 1.0);
        // What is in flight takes a while to leave; the time does not count yet.
        for left in [90, 50, 6] {
            wire.acknowledged(10, RATE, left + 10, longer, false);
            assert_eq!(wire.flow.probe_rtt_done, None);
        }
        wire.acknowledged(10, RATE, 14, longer, false);
        let since = wire.now;
        // Acknowledgments of four segments per round trip from here on.
        while wire.flow.state == State::ProbeRtt {
            assert_eq!(wire.flow.window, 4.0);
            wire.acknowledged(20, 50, 4, longer, true);
        }
        assert_eq!(wire.now.since(since), Span::from_millis(220), "more than 200 ms");
        assert_eq!(wire.flow.state, State::ProbeBw);
        assert!(wire.flow.window >= before, "{} of {before}", wire.flow.window);
        // Neither the rates seen with four segments in flight nor those eleven round trips have spoilt the estimate
        // (4.1.1.5: a sample that is limited and lower leaves the filter alone).
        assert_eq!(wire.flow.bandwidth.value(), 1000.0);
        // Without an end of a round trip in it 200 ms are not enough, whatever was before.
        let mut wire = Wire::settled();
        wire.flow.probe_rtt_round_done = true;
        wire.acknowledged(10_010, RATE, 110, longer, false);
        wire.acknowledged(10, RATE, 110, longer, false);
        assert_eq!(wire.flow.state, State::ProbeRtt);
        wire.acknowledged(10, RATE, 14, longer, false);
        for _ in 0..30 {
            wire.acknowledged(20, 50, 4, longer, false);
            assert_eq!(wire.flow.state, State::ProbeRtt);
        }
    }

    /// Section 4.2.3.4: the first round trip of a recovery sends no more than is delivered, and the window of before is back
    /// when it ends. The acknowledgment that ends it belongs to no recovery, though the host lets no window grow on it; the
    /// next one is answered like the first.
    #[test]
    fn each_recovery_begins_with_a_window_of_what_is_in_flight_and_ends_with_that_of_before() {
        let mut wire = Wire::settled();
        let before = wire.flow.window;
        for recovery in 0..2 {
            for millis in (0..200).step_by(10) {
                let first = millis == 0;
                wire.now += Span::from_millis(10);
                wire.delivered += 10;
                let feedback = Feedback {
                    rtt: Some(RTT),
                    in_flight: 100,
                    lost: 4 * u64::from(first),
                    limited: Limited::Recovery,
                    recovery_begins: first,
                    ..Feedback::at(wire.now, 10)
                };
                if millis == 190 {
                    wire.flow.on_recovered(wire.now, &PATH);
                }
                wire.flow.on_feedback(&feedback, &PATH);
                if first {
                    // 100 less 10 delivered and 4 lost are in flight, and 10 may leave.
                    assert_eq!(wire.flow.window, 96.0, "recovery {recovery}");
                }
            }
            assert_eq!(wire.flow.repair, Repair::None, "recovery {recovery}");
            assert_eq!(wire.flow.window, before, "recovery {recovery}");
            wire.acknowledged(10, RATE, 110, RTT, true);
            assert_eq!(wire.flow.repair, Repair::None, "after recovery {recovery}");
        }
    }

    /// When no round trip was as short for ten seconds, the one measured then is `RTprop`. An acknowledgment after a pause
    /// shows as much without `ProbeRTT`, once.
    #[test]
    fn a_pause_takes_the_place_of_probe_rtt_once() {
        let longer = Span::from_millis(101);
        for paused in [false, true] {
            let mut wire = Wire::settled();
            if paused {
                wire.flow.on_restart(wire.now, &PATH);
            }
            wire.acknowledged(10_010, RATE, 110, longer, true);
            assert_eq!(wire.flow.rtprop, Some(longer));
            assert_eq!(wire.flow.state == State::ProbeRtt, !paused);
            if paused {
                wire.acknowledged(10_010, RATE, 110, longer * 2, true);
                assert_eq!(wire.flow.state, State::ProbeRtt);
            }
        }
    }

    /// Section 4.3.4.4: after a pause a flow in `ProbeBW` sends at the rate of the path.
    #[test]
    fn a_pause_ends_with_the_rate_of_the_path() {
        let mut wire = Wire::settled();
        while wire.flow.pacing_gain != 1.25 {
            wire.acknowledged(10, RATE, 110, RTT, false);
        }
        assert!((wire.gain() - 1.25).abs() < 1e-9);
        wire.flow.on_restart(wire.now, &PATH);
        assert!((wire.gain() - 1.0).abs() < 1e-9);
    }

    /// Section 4.2.3.4: a time-out leaves one segment, and when all is repaired the window of before is back. What is lost
    /// after the first round trip of a recovery is taken from the window.
    #[test]
    fn a_time_out_gives_the_window_back() {
        let mut wire = Wire::settled();
        let before = wire.flow.window;
        let (now, cause) = (wire.now, Cause::Timeout);
        wire.flow.on_congestion(&Congestion { now, cause, in_flight: 100, again: false }, &PATH);
        assert_eq!(wire.flow.window, 1.0);
        wire.flow.on_recovered(now, &PATH);
        assert_eq!(wire.flow.window, before);
        wire.flow.repair = Repair::Recovering;
        wire.flow.window = 50.0;
        wire.flow.on_feedback(&Feedback { lost: 4, in_flight: 50, ..Feedback::at(now, 0) }, &PATH);
        assert_eq!(wire.flow.window, 46.0);
    }

    /// Section 4.3.5: where the pipe was never full, Startup goes on after `ProbeRTT`, with its gains.
    #[test]
    fn probe_rtt_goes_back_to_startup() {
        let mut wire = Wire::new();
        wire.acknowledged(100, 100, 20, RTT, true);
        wire.acknowledged(10_010, 100, 1010, Span::from_millis(101), false);
        assert_eq!((wire.flow.state, wire.flow.pacing_gain), (State::ProbeRtt, 1.0));
        while wire.flow.state == State::ProbeRtt {
            wire.acknowledged(20, 50, 4, RTT, true);
        }
        assert_eq!(wire.flow.state, State::Startup);
        assert_eq!((wire.flow.pacing_gain, wire.flow.cwnd_gain), (HIGH_GAIN, HIGH_GAIN));
    }

    /// Section 4.3.5: the round trip of `ProbeRTT` begins when no more than four segments are in flight, also in the middle
    /// of another one. It ends with data that left after that, from where the next one is ten seconds away.
    #[test]
    fn probe_rtt_lasts_a_round_trip_of_its_own() {
        let mut wire = Wire::settled();
        wire.acknowledged(10_010, 1, 110, RTT * 2, true);
        assert_eq!(wire.flow.state, State::ProbeRtt);
        wire.told(10, RATE, 14, |_, _| {});
        let little = wire.delivered;
        for (before, state) in [(little - 1, State::ProbeRtt), (little, State::ProbeBw)] {
            wire.told(210, 10, 4, |feedback, sample| {
                (feedback.rtt, sample.delivered_before) = (Some(RTT * 3), before);
            });
            assert_eq!(wire.flow.state, state);
        }
        assert_eq!(wire.flow.rtprop_stamp, Some(wire.now));
    }

    /// Section 4.3.4.3: a loss ends the phase of 5/4 once it has lasted for `RTprop`, though its queue has not come.
    #[test]
    fn a_loss_ends_probing_after_a_round_trip() {
        let mut wire = Wire::settled();
        while wire.flow.pacing_gain != 1.25 {
            wire.told(10, RATE, 110, |_, _| {});
        }
        for gain in [1.25, 0.75] {
            wire.told(60, RATE, 110, |feedback, _| feedback.lost = 1);
            assert_eq!(wire.flow.pacing_gain, gain);
        }
    }

    /// Section 4.1.1.5: a rate that an application limits counts only where it is the largest. Rates are forgotten when
    /// another one counts, then all those of ten round trips at once.
    #[test]
    fn rates_of_an_application_count_where_they_are_the_largest() {
        let mut wire = Wire::settled();
        let limited = |_: &mut Feedback, sample: &mut RateSample| {
            sample.application_limited = true;
            sample.delivered_before = sample.delivered_total;
        };
        wire.told(100, 2 * RATE, 110, limited);
        assert_eq!(wire.flow.bandwidth.value(), 2000.0);
        for _ in 0..20 {
            wire.told(100, RATE, 110, limited);
            assert_eq!(wire.flow.bandwidth.value(), 2000.0);
        }
        wire.acknowledged(100, RATE / 2, 110, RTT, true);
        assert_eq!(wire.flow.bandwidth.value(), 500.0);
    }

    /// Section 4.2.1: Startup never paces more slowly than 10 segments in 100 ms, its first window. 4.2.3.6: a window beyond
    /// what fills the path, 2.89 times one segment and three quanta, grows until the first ten have been delivered.
    #[test]
    fn startup_takes_nothing_back() {
        let mut wire = Wire::new();
        for window in [15.0, 15.0] {
            wire.told(500, 10, 10, |_, _| {});
            assert_eq!(wire.flow.window, window);
            assert!((wire.flow.pacing_rate - 288.539).abs() < 1e-3, "{}", wire.flow.pacing_rate);
        }
    }

    /// Section 4.2.3.4, "packet conservation": what is in flight when a recovery begins and what has been delivered, at least
    /// a segment, may be in flight until all of that has been delivered. Losses leave a segment.
    #[test]
    fn a_recovery_sends_what_is_delivered_for_a_round_trip() {
        let begins = |acked, lost, in_flight| {
            let mut wire = Wire::settled();
            let begins = Feedback { recovery_begins: true, lost, ..Feedback::at(wire.now, acked) };
            wire.flow.on_feedback(&Feedback { in_flight, ..begins }, &PATH);
            wire
        };
        assert_eq!(begins(1, 11, 12).flow.window, 1.0);
        assert_eq!(begins(0, 0, 50).flow.window, 51.0);
        // 90 in flight after 10: a window of 100 until these 90 have been delivered, and then more.
        let mut wire = begins(10, 0, 100);
        for delivered in (10..=100).step_by(10) {
            wire.told(10, RATE, 100, |feedback, _| feedback.limited = Limited::Recovery);
            assert_eq!(wire.flow.window, if delivered > 90 { 110.0 } else { 100.0 });
        }
    }

    /// More than 10¹² segments fill no path.
    #[test]
    fn what_fills_the_path_is_bounded() {
        let mut flow = Wire::settled().flow;
        flow.bandwidth.see(1e15);
        assert_eq!(flow.inflight(1.0), CEILING);
    }
}
