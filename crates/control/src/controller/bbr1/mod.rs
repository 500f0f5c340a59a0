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
//! | `pacing_margin` | 0           | not in the draft; 0.01 in Linux, and in the draft of BBRv3: what a probe left in the queue drains |
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
//! Promised by the draft, held in its unit tests and in `crates/sim/tests/bbr1.rs`: the gains and their durations; a full
//! link in spite of losses; ProbeRTT in 2 % of the time.

#[cfg(test)]
mod tests;

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
            Parameter::number(
                "pacing_margin",
                0.0,
                0.0,
                0.5,
                "share of the rate that pacing leaves out; 0.01 in Linux",
            ),
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
    /// What the margin leaves of a rate.
    margin: f64,
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
            margin: 1.0 - settings.number("pacing_margin"),
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
        let rate = gain * self.bandwidth.value() * self.margin;
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

    fn growth_limit(&self, _: Segments, _: &Feedback, _: &Path) -> Option<Segments> {
        None
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
