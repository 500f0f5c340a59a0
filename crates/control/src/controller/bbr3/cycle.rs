//! The states of BBRv3, and what leads from one to another.

use longfat_units::{Span, Time};

use super::model::{BETA, Evidence};
use super::{Bbr3, Notice};
use crate::path_model::{PROBE_RTT, real};
use crate::{Feedback, Lost, RateSample};

/// `BBR.bw_probe_wait`: from 2 s on, up to this much more.
const PROBE_WAIT: Span = Span::from_seconds(2);
const PROBE_WAIT_MORE: f64 = 1.0;
/// The bound that keeps probing as frequent as Reno's losses would be, in round trips.
const RENO_ROUNDS: f64 = 63.0;
/// Round trips after which a queue need not have drained.
const DRAIN_ROUNDS: u64 = 3;
/// `BBRStartupFullLossCnt`: how many gaps in a round trip show that the pipe is full.
const STARTUP_GAPS: u32 = 6;
/// The increment of `inflight_longterm` doubles this often.
const STEEPEST: u32 = 30;

/// `BBR.state`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// `BBR.pacing_gain`
    #[inline]
    pub(super) fn pacing_gain(self, startup: f64) -> f64 {
        match self {
            Self::Startup => startup,
            Self::Drain => 0.5,
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
            Self::Up => 1.25,
        }
    }

    /// `BBR.cwnd_gain`
    #[inline]
    pub(super) fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// `IsInAProbeBWState`
    pub(super) fn probes_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`: may losses be the flow's own doing?
    fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// `BBR.ack_phase`: what acknowledgments tell of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probing {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// The state, and what belongs to the cycle of probing.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a variable of the draft")]
pub(super) struct Cycle {
    pub(super) state: State,
    pub(super) probing: Probing,
    /// `BBR.drain_start_round`
    drain_start: u64,
    /// `BBR.cycle_stamp`
    stamp: Time,
    /// `BBR.bw_probe_wait`
    pub(super) wait: Span,
    /// `BBR.rounds_since_probe_up`, but for a fraction of a round trip; a number of round trips.
    rounds_since: u64,
    /// `BBR.is_bw_probe_sample`
    probe_sample: bool,
    /// `BBR.prev_probe_too_high` and `BBR.prev_probe_precautionary`
    pub(super) too_high: bool,
    pub(super) precautionary: bool,
    /// `BBR.bw_probe_up_rounds`, `BBR.bw_probe_up_acked`, `BBR.probe_up_acked_per_inc`
    up_rounds: u32,
    up_acked: f64,
    acked_per_increase: f64,
    /// `BBR.probe_rtt_done_stamp` and `BBR.probe_rtt_round_done`
    rtt_done: Option<Time>,
    rtt_round_done: bool,
    /// What had been delivered when the recovery under way began.
    recovery_began: Option<u64>,
    /// Gaps among the segments lost in this round trip, and the last of these segments.
    gaps: u32,
    last_lost: Option<u64>,
}

impl Cycle {
    pub(super) fn new() -> Self {
        Self {
            state: State::Startup,
            probing: Probing::Init,
            drain_start: 0,
            stamp: Time::ZERO,
            wait: Span::ZERO,
            rounds_since: 0,
            probe_sample: false,
            too_high: false,
            precautionary: false,
            up_rounds: 0,
            up_acked: 0.0,
            acked_per_increase: f64::INFINITY,
            rtt_done: None,
            rtt_round_done: false,
            recovery_began: None,
            gaps: 0,
            last_lost: None,
        }
    }
}

impl Bbr3 {
    /// `UpdateCongestionSignals`, after the model has heard the sample: once per round trip, what losses in it call for.
    /// What is tolerated is counted as probes count it.
    pub(super) fn answer_losses(&mut self, evidence: &Evidence) {
        if !self.model.loss_round_starts {
            return;
        }
        let tolerated =
            self.loss_tolerance > 0.0 && evidence.lost <= self.loss_tolerance * evidence.in_flight;
        if self.model.lossy_round && !tolerated && !self.cycle.state.accelerates() {
            self.model.lower_bounds(self.window);
        }
        self.model.lossy_round = false;
    }

    /// `CheckStartupDone`, with what this acknowledgment says of losses.
    pub(super) fn check_startup(&mut self, evidence: &Evidence, sample: &RateSample) {
        if self.cycle.state != State::Startup {
            return;
        }
        if !self.model.full_bw_reached && self.is_startup_lossy(evidence, sample) {
            self.undo.state = Some(State::Startup);
            self.model.declare_full();
            let bdp = self.model.fills(self.model.bw, 1.0).unwrap_or(0.0);
            self.model.inflight_longterm = bdp.max(self.model.inflight_latest);
        }
        if self.model.loss_round_starts {
            self.cycle.gaps = 0;
        }
        if self.model.full_bw_reached {
            self.cycle.state = State::Drain;
            self.cycle.drain_start = self.model.rounds.count;
        }
    }

    /// `CheckStartupHighLoss`
    fn is_startup_lossy(&self, evidence: &Evidence, sample: &RateSample) -> bool {
        let Some(began) = self.cycle.recovery_began else { return false };
        if !self.selective {
            return true;
        }
        self.model.loss_round_starts
            && sample.delivered_before >= began
            && self.cycle.gaps >= STARTUP_GAPS
            && evidence.is_too_high(true)
    }

    /// `CheckDrainDone`
    pub(super) fn check_drain(&mut self, now: Time, in_flight: f64) {
        if self.cycle.state == State::Drain
            && (in_flight <= self.inflight(self.model.bw, 1.0)
                || self.model.rounds.count > self.cycle.drain_start + DRAIN_ROUNDS)
        {
            self.start_down(now, self.model.delivered);
        }
    }

    fn start_down(&mut self, now: Time, delivered: u64) {
        self.model.reset_signals();
        self.cycle.acked_per_increase = f64::INFINITY;
        self.cycle.rounds_since = u64::from(self.chance.below(2));
        let more = Span::from_seconds_f64(PROBE_WAIT_MORE * self.chance.uniform());
        self.cycle.wait = PROBE_WAIT + more;
        self.cycle.stamp = now;
        self.cycle.probing = Probing::Stopping;
        self.model.rounds.begin(delivered);
        self.cycle.state = State::Down;
    }

    fn start_refill(&mut self) {
        self.model.reset_short_term();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0.0;
        self.cycle.precautionary = false;
        self.cycle.probing = Probing::Refilling;
        self.model.rounds.begin(self.model.delivered);
        self.cycle.state = State::Refill;
    }

    fn start_up(&mut self) {
        self.cycle.probing = Probing::Starting;
        self.model.rounds.begin(self.model.delivered);
        self.model.reset_full_bw(self.model.rate);
        self.cycle.state = State::Up;
        self.steepen();
    }

    /// What `UpdateRound` does for the cycle. It comes before any phase ends: the round trip that the end of Drain begins is
    /// the first one of its wait.
    pub(super) fn count_round(&mut self) {
        self.cycle.rounds_since += u64::from(self.model.rounds.starts);
    }

    /// `UpdateProbeBWCyclePhase`
    pub(super) fn advance(&mut self, notice: &Notice<'_>) {
        if !self.model.full_bw_reached || self.adapt_long_term(notice) {
            return;
        }
        let now = notice.feedback.now;
        match self.cycle.state {
            State::Down => {
                if self.is_time_to_probe(now) {
                    self.start_refill();
                } else if self.is_time_to_cruise(notice.in_flight) {
                    self.cycle.state = State::Cruise;
                }
            }
            State::Cruise => {
                if self.is_time_to_probe(now) {
                    self.start_refill();
                }
            }
            State::Refill => {
                if self.model.rounds.starts {
                    self.cycle.probe_sample = true;
                    self.start_up();
                }
            }
            State::Up => {
                if self.is_time_to_go_down(notice.in_flight) {
                    self.cycle.too_high = false;
                    self.start_down(now, self.model.delivered);
                }
            }
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    fn is_time_to_probe(&self, now: Time) -> bool {
        let bdp = self.model.fills(self.model.bw, 1.0).unwrap_or(0.0);
        let rounds = bdp.min(self.window).min(RENO_ROUNDS);
        now > self.cycle.stamp.saturating_add(self.cycle.wait)
            || real(self.cycle.rounds_since) >= rounds
    }

    fn is_time_to_cruise(&self, in_flight: f64) -> bool {
        in_flight <= self.headroom() && in_flight <= self.inflight(self.model.max_bw, 1.0)
    }

    fn is_time_to_go_down(&mut self, in_flight: f64) -> bool {
        if self.cycle.too_high && in_flight >= self.model.inflight_longterm {
            self.cycle.precautionary = true;
            return true;
        }
        if self.uses_long_term() {
            // The bound, not the path, limits the rate.
            self.model.reset_full_bw(self.model.rate);
            return false;
        }
        self.model.full_bw_now
    }

    /// Does `inflight_longterm` hold the flow back?
    fn uses_long_term(&self) -> bool {
        self.is_window_limited() && self.window >= self.model.inflight_longterm
    }

    /// `AdaptLongTermModel`. Returns whether it has led to another state.
    fn adapt_long_term(&mut self, notice: &Notice<'_>) -> bool {
        if self.model.rounds.starts && self.cycle.probing == Probing::Starting {
            self.cycle.probing = Probing::Feedback;
        } else if self.model.rounds.starts
            && self.cycle.probing == Probing::Stopping
            && self.end_probe()
        {
            return true;
        }
        if notice.evidence.is_too_high(self.selective) {
            if notice.feedback.marked > 0 {
                self.answer_marks(notice);
            }
            return false;
        }
        if self.model.inflight_longterm.is_finite() {
            let seen = notice.evidence.in_flight;
            self.model.inflight_longterm = self.model.inflight_longterm.max(seen);
            if self.cycle.state == State::Up {
                self.raise_long_term(notice.feedback);
            }
        }
        false
    }

    /// The last samples of a probe have come in. Returns whether another one follows at once.
    fn end_probe(&mut self) -> bool {
        self.cycle.probe_sample = false;
        self.cycle.probing = Probing::Init;
        let probes = self.cycle.state.probes_bw();
        if probes && !self.model.limited {
            self.model.advance_cycle();
        }
        let again = probes && self.cycle.precautionary && !self.cycle.too_high;
        if again {
            self.start_refill();
        }
        again
    }

    /// `RaiseInflightLongtermSlope`: the increment doubles in each round trip.
    fn steepen(&mut self) {
        let increments = f64::from(1_u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(STEEPEST);
        self.cycle.acked_per_increase = (self.window / increments).max(1.0);
    }

    /// `ProbeInflightLongtermUpward`
    fn raise_long_term(&mut self, feedback: &Feedback) {
        if !self.uses_long_term() {
            return;
        }
        self.cycle.up_acked += real(feedback.delivered());
        if self.cycle.up_acked >= self.cycle.acked_per_increase {
            let increments = (self.cycle.up_acked / self.cycle.acked_per_increase).floor();
            self.cycle.up_acked -= increments * self.cycle.acked_per_increase;
            self.model.inflight_longterm += increments;
        }
        if self.model.rounds.starts {
            self.steepen();
        }
    }

    /// `HandleLostPacket`
    pub(super) fn lose(&mut self, lost: &Lost) {
        if self.cycle.last_lost.is_none_or(|last| lost.segment != last.wrapping_add(1)) {
            self.cycle.gaps = self.cycle.gaps.saturating_add(1);
        }
        self.cycle.last_lost = Some(lost.segment);
        self.note_congestion(lost.delivered_total);
        let evidence = self.model.evidence_of(lost);
        if self.cycle.probe_sample && evidence.is_too_high(self.selective) {
            let in_flight = evidence.inflight_at_loss();
            self.probed_too_high(
                lost.now,
                lost.delivered_total,
                &Evidence { in_flight, ..evidence },
            );
        }
    }

    /// A loss or a mark: the first of a round trip begins one at whose end it is answered.
    pub(super) fn note_congestion(&mut self, delivered: u64) {
        self.model.note_loss(delivered);
        if !self.saved {
            self.save_state();
        }
    }

    /// Marks of a probe, of which there are too many.
    fn answer_marks(&mut self, notice: &Notice<'_>) {
        if self.cycle.probe_sample {
            self.probed_too_high(notice.feedback.now, self.model.delivered, &notice.evidence);
        }
    }

    /// `HandleInflightTooHigh`
    fn probed_too_high(&mut self, now: Time, delivered: u64, evidence: &Evidence) {
        self.cycle.too_high = true;
        self.cycle.probe_sample = false;
        if !evidence.limited {
            let bdp = self.model.fills(self.model.bw, 1.0).unwrap_or(0.0);
            let least = BETA * bdp.min(self.window);
            self.model.inflight_longterm = evidence.in_flight.max(least);
        }
        if self.cycle.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now, delivered);
        }
    }

    /// Loss recovery begins, or goes on.
    pub(super) fn recover(&mut self, delivered: u64) {
        self.cycle.recovery_began.get_or_insert(delivered);
    }

    /// Loss recovery is over.
    pub(super) fn end_recovery(&mut self) {
        self.cycle.recovery_began = None;
    }

    /// What a loss that was none has led to (`HandleSpuriousLossDetection`).
    pub(super) fn go_back(&mut self) {
        let Some(left) = self.undo.state.take().filter(|&left| left != self.cycle.state) else {
            return;
        };
        if left == State::Startup {
            self.model.declare_not_full();
        }
        if self.cycle.state == State::ProbeRtt {
            return;
        }
        if left == State::Startup {
            self.cycle.state = State::Startup;
        } else {
            self.start_refill();
        }
    }

    /// `CheckProbeRTT`
    pub(super) fn check_probe_rtt(&mut self, notice: &Notice<'_>) {
        if self.cycle.state != State::ProbeRtt && self.model.probe_rtt_expired && !self.idle_restart
        {
            self.save_window();
            self.cycle.state = State::ProbeRtt;
            self.cycle.rtt_done = None;
            self.cycle.probing = Probing::Stopping;
            self.model.rounds.begin(self.model.delivered);
        }
        if self.cycle.state == State::ProbeRtt {
            self.probe_rtt(notice);
        }
        if notice.feedback.delivered() > 0 {
            self.idle_restart = false;
        }
    }

    /// `HandleProbeRTT`
    fn probe_rtt(&mut self, notice: &Notice<'_>) {
        let now = notice.feedback.now;
        self.model.quiet.mark(self.model.delivered, notice.in_flight as u64);
        if self.cycle.rtt_done.is_some() {
            self.cycle.rtt_round_done |= self.model.rounds.starts;
            if self.cycle.rtt_round_done {
                self.check_probe_rtt_done(now);
            }
        } else if notice.in_flight <= self.probe_rtt_window() {
            self.cycle.rtt_done = Some(now.saturating_add(PROBE_RTT));
            self.cycle.rtt_round_done = false;
            self.model.rounds.begin(self.model.delivered);
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.cycle.rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.model.probe_rtt_stamp = now;
        self.restore_window();
        self.model.reset_short_term();
        if self.model.full_bw_reached {
            self.start_down(now, self.model.delivered);
            self.cycle.state = State::Cruise;
        } else {
            self.cycle.state = State::Startup;
        }
    }
}
