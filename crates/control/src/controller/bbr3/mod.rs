//! BBRv3: BBR with bounds on what its probing may cost others.
//!
//! N. Cardwell, I. Swett, J. Beshay, "BBR Congestion Control", draft-ietf-ccwg-bbr-06 as of 3 August 2026. Names in
//! `code` are the draft's.
//!
//! BBR ([`bbr1`](super::bbr1)) sends at the rate that the path delivers, and no loss takes anything from that: in small
//! buffers it keeps losing a tenth of what it sends, and leaves other flows little. BBRv3 keeps the model and probes more
//! carefully. A probe may cost up to 2 % of a round trip's segments; how much was in flight when it cost more is
//! remembered, and room is left below it. Between probes losses lower both rate and window at once, though by no more than
//! CUBIC's 0.7 per round trip, until the next probe forgets that.
//!
//! ```text
//!     bw               min(max_bw, bw_shortterm),   max_bw the largest delivery rate of this cycle and the one before
//!     rate             0.99 · pacing_gain · bw
//!     max_inflight     cwnd_gain · bw · min_rtt + extra_acked, at least 4
//!     cwnd             min(cwnd + acked, max_inflight, inflight_longterm, inflight_shortterm)
//!
//!     Startup          2.77, 2        until three round trips in which the rate grows by less than a quarter, or a round
//!                                     trip of a recovery in which more than 2 % is lost, in six gaps or more
//!     Drain            0.5,  2        until no more is in flight than bw · min_rtt, or three round trips are over
//!     ProbeBW_DOWN     0.9,  2        until that holds, and 15 % of inflight_longterm is left unused
//!     ProbeBW_CRUISE   1,    2        until 2 to 3 s or min(BDP, 63) round trips after the end of the last probe
//!     ProbeBW_REFILL   1,    2        one round trip: a full pipe, so that a queue is the probe's own
//!     ProbeBW_UP       1.25, 2.25     until the rate no longer grows, or more than 2 % of a round trip is lost
//!     ProbeRTT         1,    0.5      200 ms and a round trip, when no round trip was shorter for 5 s
//! ```
//!
//! The two numbers are `pacing_gain` and `cwnd_gain`. In `ProbeBW_UP` `inflight_longterm`, where it is what limits the flow,
//! grows by 1, 2, 4, … segments in one round trip after another, so that any new bandwidth is found in O(log BDP) round
//! trips. The first probe after one that went too high ends as soon as it reaches the bound; if that costs nothing, the
//! next one follows at once.
//!
//! In a round trip with losses outside Startup, REFILL and UP
//!
//! ```text
//!     bw_shortterm       ← max(bw_latest,       0.7 · bw_shortterm)          infinite until then: max_bw, cwnd
//!     inflight_shortterm ← max(inflight_latest, 0.7 · inflight_shortterm)    infinite again in REFILL, after ProbeRTT
//! ```
//!
//! with the largest rate and volume delivered in that round trip.
//!
//! *What random losses cost.* The draft's goal is the full throughput with up to 1 % of losses on average (section
//! "High-Level Design Goals"). Its rules reach that only for the moment of each probe. Of a round trip with a share p
//! lost, 1 - p is delivered, so N of them leave (1 - p)^N of the rate until the next probe, as its section "Design
//! Considerations for Choosing Constant Parameters" says itself: 0.88 on average over the 20 to 30 round trips of 100 ms.
//! Two rules that it does not count there add to it, and they ask for one loss in a round trip, not for many. The margin
//! of 1 % is in each rate that is measured, and so taken again from each bound. And the last round trip of
//! `ProbeBW_DOWN`, sent at 0.9 of the rate on purpose, becomes a bound like any other if it has a loss. Measured on
//! 1 Gbit/s at 100 ms with `recovery = "rack"` (a buffer of one product, 60 s of which 20 do not count, the mean of five seeds):
//! 96 % of the link without losses, 91, 89 and 87 % with 10⁻⁴, 10⁻³ and 10⁻² of them; without the margin 97, 93, 92 and
//! 88 %. With `"sack"`, which finds the loss of a retransmission by the timer alone, time-outs leave a fifth to a third at
//! 10⁻². Where acknowledgments come in bunches it is 88 to 90 % at 10⁻² (held for 2 to 10 ms), since the largest sample of
//! a round trip counts.
//!
//! One rule more would keep the promise: to count losses between probes as they are counted in probes, and to answer only
//! more than 2 % of a round trip. That is `loss_tolerance = 0.02`, which is not the draft's: then it uses 96 % at 10⁻² and
//! 95 % at 1.5 · 10⁻², and leaves CUBIC as much as before in buffers of 0.1, 0.5 and 2 products (`docs/studies.md`).
//!
//! *What the host adds.* Probes into small buffers lose retransmissions too, and with `recovery = "sack"` each of these
//! costs a time-out: four flows use 78 % of a switch of 1 Gbit/s and 20 ms with 0.03 products of buffer, and with `"rack"`
//! 96 % (`studies/recovery.toml`). Linux and QUIC find them by time.
//!
//! J. Gomez et al., "Evaluating TCP BBRv3 performance in wired broadband networks", Computer
//! Communications 2024, report high throughput of the one in Linux at 1 %; of that paper only the abstract, which has no
//! number, was at hand.
//!
//! | parameter      | default        | source |
//! |----------------|----------------|--------|
//! | `startup_gain` | 4 ln 2 = 2.77  | `StartupPacingGain` |
//! | `pacing_margin` | 0.01          | `PacingMarginPercent` |
//! | `loss_tolerance` | 0            | free; the draft answers any loss outside of probes |
//!
//! All other numbers are the draft's and no parameters: `LossThresh`, `Beta`, `Headroom`, the gains and the times.
//!
//! What the draft leaves open, and deviations:
//!
//! - *Marks.* A flow that sends ECT "MUST treat any CE marks as congestion", with no response given. Here a marked segment
//!   counts as a lost one, in both time scales, with the marks of the round trip under way.
//! - *What is saved against a needless recovery.* The draft saves it at the first loss of each round trip, and again when
//!   a recovery begins. But a loss that ends a probe begins a new round trip, so the next loss would save what the first
//!   one has left. Here it is saved once, by the first loss of a recovery, as the draft's section on state says ("saved
//!   at the start of loss recovery").
//! - *Drain* has no bound by `inflight_longterm`: the pseudo-code has none, the table of section "Summary of Control
//!   Behavior" has one.
//! - *The send quantum* is the host's; `offload_budget` is three of them if it sends more than a packet at a time, and
//!   nothing otherwise, which leaves 4 as the least window.
//! - *A window in use* (`is_cwnd_limited`) is one of which less than a segment was free when an acknowledgment arrived, in
//!   this round trip or the one before.
//! - *Low rates seen in ProbeRTT* are kept out of the filter by the controller, not by a note to the host.
//! - *Acknowledgments without a credible sample* of the delivery rate begin no round trip and leave what has been delivered as
//!   it was; with the draft only their rate is void. Copies that their original acknowledges are such.
//! - *A round trip* is that of the first segment of an acknowledgment, which has waited for the others; the draft's is that of
//!   the one sent last. With delayed acknowledgments `min_rtt` is too long by the time between two segments.
//! - *The first pacing rate* takes the round trip known at the start; otherwise 1 ms until one has been measured.
//! - *After ProbeRTT* `prior_cwnd` is the window before it, as the text says; the pseudo-code, which changes the state
//!   first, would take an older one if that was larger.
//!
//! Domain: any window. Rates are `f64`, times picoseconds.
//!
//! Promised by the draft, held below, in its unit tests and in `crates/sim/tests/bbr3.rs`: the gains; the cycle and
//! its times; the bound of 2 %, 0.7 and 15 %; the test cases of its appendix, one test for each.

mod cycle;
mod model;
#[cfg(test)]
mod tests;

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Segments, Span, Time};

use self::cycle::{Cycle, State};
use self::model::{Evidence, Model};
use crate::bounds::{CEILING, first_window};
use crate::path_model::{
    MIN_PIPE, Quantum, Recoveries, bounded_rate, first_rate, in_flight_after, real,
};
use crate::{
    Cause, Chance, Congestion, CongestionControl, Controller, Family, Feedback, Lost, Pacing, Path,
    Probe, Sending, Start, Wants,
};

/// BBRv3's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::new("bbr3", build)
        .title("BBRv3: BBR that bounds the losses of its probing and leaves headroom")
        .source("draft-ietf-ccwg-bbr-06")
        .family(Family::Model)
        .parameters([
            Parameter::number(
                "startup_gain",
                STARTUP_GAIN,
                1.1,
                10.0,
                "gain of the rate until the pipe is full",
            ),
            Parameter::number(
                "pacing_margin",
                0.01,
                0.0,
                0.5,
                "share of the rate that pacing leaves out",
            ),
            Parameter::number(
                "loss_tolerance",
                0.0,
                0.0,
                1.0,
                "share of a round trip that may be lost between probes without an answer",
            ),
        ])
}

fn build(settings: &Settings, start: &Start) -> Sending {
    Sending::Windowed(Box::new(Bbr3::new(settings, start)))
}

/// `StartupPacingGain`, 4 ln 2.
const STARTUP_GAIN: f64 = 2.772_588_722_239_781;
/// Segments by which the window exceeds the model in `ProbeBW_UP`.
const UP_ALLOWANCE: f64 = 2.0;
/// How many send quanta fill the hosts at both ends.
const OFFLOAD_QUANTA: f64 = 3.0;

/// One flow under BBRv3.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is asked by itself, and most are variables of the draft"
)]
pub struct Bbr3 {
    model: Model,
    cycle: Cycle,
    window: f64,
    pacing_rate: f64,
    /// `BBR.prior_cwnd`
    prior_window: f64,
    initial_window: f64,
    /// Are losses being repaired?
    recovering: bool,
    recoveries: Recoveries,
    /// Has there been a time-out from which the flow has not recovered?
    timed_out: bool,
    /// When losses were last found, and how many then.
    found_lost: (Time, u64),
    idle_restart: bool,
    undo: Undo,
    /// Is `undo` of the recovery under way?
    saved: bool,
    /// Was the window in use in the round trip under way, and in the one before?
    window_used: [bool; 2],
    /// Has a round trip been measured?
    sampled: bool,
    quantum: Option<Quantum>,
    selective: bool,
    chance: Chance,

    startup_gain: f64,
    /// What the margin leaves of a rate.
    margin: f64,
    loss_tolerance: f64,
}

/// What a recovery that proves needless gives back.
#[derive(Clone, Copy, Debug)]
struct Undo {
    state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

/// What an acknowledgment says.
#[derive(Clone, Copy, Debug)]
struct Notice<'a> {
    feedback: &'a Feedback,
    /// In flight after it.
    in_flight: f64,
    evidence: Evidence,
}

impl Bbr3 {
    /// A flow with the parameters of a scenario that begins as `start` says.
    pub fn new(settings: &Settings, start: &Start) -> Self {
        let window = first_window(start.window);
        let startup_gain = settings.number("startup_gain");
        Self {
            model: Model::new(start.round_trip),
            cycle: Cycle::new(),
            window,
            pacing_rate: first_rate(startup_gain, window, start.round_trip),
            prior_window: 0.0,
            initial_window: window,
            recovering: false,
            recoveries: Recoveries::default(),
            timed_out: false,
            found_lost: (Time::ZERO, 0),
            idle_restart: false,
            undo: Undo {
                state: None,
                bw_shortterm: 0.0,
                inflight_shortterm: 0.0,
                inflight_longterm: 0.0,
            },
            saved: false,
            window_used: [false; 2],
            sampled: start.round_trip.is_some(),
            quantum: start.send_quantum.map(|_| Quantum::of(start)),
            selective: start.selective,
            chance: Chance::new(start.chance),
            startup_gain,
            margin: 1.0 - settings.number("pacing_margin"),
            loss_tolerance: settings.number("loss_tolerance"),
        }
    }

    /// `Inflight`, at this rate.
    fn inflight(&self, rate: f64, gain: f64) -> f64 {
        self.quantized(self.model.fills(rate, gain).unwrap_or(self.initial_window))
    }

    /// `QuantizationBudget`
    fn quantized(&self, inflight: f64) -> f64 {
        let budget =
            self.quantum.map_or(0.0, |quantum| OFFLOAD_QUANTA * quantum.segments(self.pacing_rate));
        let allowance = if self.cycle.state == State::Up { UP_ALLOWANCE } else { 0.0 };
        inflight.max(budget).max(MIN_PIPE) + allowance
    }

    /// `InflightWithHeadroom`
    fn headroom(&self) -> f64 {
        self.model.with_headroom(MIN_PIPE)
    }

    /// `ProbeRTTCwnd`
    fn probe_rtt_window(&self) -> f64 {
        let gain = State::ProbeRtt.cwnd_gain();
        self.model.fills(self.model.bw, gain).unwrap_or(self.initial_window).max(MIN_PIPE)
    }

    /// `C.is_cwnd_limited`
    fn is_window_limited(&self) -> bool {
        self.window_used[0] || self.window_used[1]
    }

    /// Notes whether the window is in use when an acknowledgment arrives.
    fn see_use(&mut self, in_flight: u64) {
        if self.model.rounds.starts {
            self.window_used = [false, self.window_used[0]];
        }
        self.window_used[0] |= real(in_flight) + 1.0 > self.window;
    }

    /// `SaveCwnd`: the last window that neither a recovery nor `ProbeRTT` has made small.
    fn save_window(&mut self) {
        let small = self.recovering || self.timed_out || self.cycle.state == State::ProbeRtt;
        self.prior_window = if small { self.prior_window.max(self.window) } else { self.window };
    }

    /// `RestoreCwnd`
    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    /// `SaveStateUponLoss`
    fn save_state(&mut self) {
        self.save_window();
        self.saved = true;
        self.undo = Undo {
            state: None,
            bw_shortterm: self.model.bw_shortterm,
            inflight_shortterm: self.model.inflight_shortterm,
            inflight_longterm: self.model.inflight_longterm,
        };
    }

    /// `HandleSpuriousLossDetection`
    #[cold]
    fn undo_loss(&mut self) {
        self.restore_window();
        self.recovering = false;
        self.timed_out = false;
        self.end_recovery();
        let model = &mut self.model;
        model.lossy_round = false;
        model.reset_full_bw(0.0);
        model.bw_shortterm = model.bw_shortterm.max(self.undo.bw_shortterm);
        model.inflight_shortterm = model.inflight_shortterm.max(self.undo.inflight_shortterm);
        model.inflight_longterm = model.inflight_longterm.max(self.undo.inflight_longterm);
        self.go_back();
    }

    /// `SetPacingRateWithGain`
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.model.bw * self.margin;
        if self.model.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = bounded_rate(rate);
        }
    }

    /// `SetCwnd`
    fn set_window(&mut self, delivered: u64) {
        let acked = real(delivered);
        let state = self.cycle.state;
        let fills = self.model.fills(self.model.bw, state.cwnd_gain());
        let inflight = fills.unwrap_or(self.initial_window) + self.model.extra_acked.value();
        let most = self.quantized(inflight);
        if self.model.full_bw_reached {
            self.window = (self.window + acked).min(most);
        } else if self.window < most || real(self.model.delivered) < self.initial_window {
            self.window += acked;
        }
        self.window = self.window.max(MIN_PIPE);
        if state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.window = self.window.min(self.most_by_losses()).min(CEILING);
    }

    /// `BoundCwndForModel`
    fn most_by_losses(&self) -> f64 {
        let long = match self.cycle.state {
            State::Down | State::Refill | State::Up => self.model.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        long.min(self.model.inflight_shortterm).max(MIN_PIPE)
    }
}

impl CongestionControl for Bbr3 {
    /// `UpdateOnACK`
    fn on_feedback(&mut self, feedback: &Feedback, _: &Path) {
        let now = feedback.now;
        if feedback.spurious.is_some() {
            self.undo_loss();
        }
        if let Some(rtt) = feedback.rtt
            && !self.sampled
        {
            self.sampled = true;
            self.pacing_rate = first_rate(self.startup_gain, self.initial_window, Some(rtt));
        }
        self.model.marked += feedback.marked;
        let mut evidence = Evidence::default();
        match &feedback.rate {
            Some(sample) => {
                self.model.hear(sample);
                evidence = self.model.evidence(sample);
            }
            None => self.model.hear_nothing(),
        }
        self.count_round();
        if feedback.marked > 0 {
            self.note_congestion(self.model.delivered);
        }
        self.see_use(feedback.in_flight);
        self.recovering = self.recoveries.is_in(feedback);
        if self.recovering || self.timed_out {
            self.recover(self.model.delivered);
        } else {
            self.saved = false;
        }
        let in_flight = real(in_flight_after(feedback));
        let notice = Notice { feedback, in_flight, evidence };
        self.answer_losses(&evidence);
        self.model.see_aggregation(feedback, self.window);
        if let Some(sample) = &feedback.rate {
            self.model.check_full_bw();
            self.check_startup(&evidence, sample);
        }
        self.check_drain(now, in_flight);
        self.advance(&notice);
        self.model.see_round_trip(now, feedback.rtt);
        self.check_probe_rtt(&notice);
        self.model.finish(feedback.rate.as_ref());
        if self.model.rounds.starts {
            self.model.marked = 0;
        }
        self.set_pacing_rate(self.cycle.state.pacing_gain(self.startup_gain));
        self.set_window(feedback.delivered());
    }

    fn on_lost(&mut self, lost: &Lost, _: &Path) {
        if self.found_lost.0 != lost.now {
            self.found_lost = (lost.now, 0);
        }
        self.found_lost.1 += 1;
        self.lose(lost);
    }

    /// `OnEnterRTO`. What fast recovery begins with has been saved by its first loss. In flight is what the time-out, which
    /// has told its losses, leaves there.
    fn on_congestion(&mut self, event: &Congestion, _: &Path) {
        if event.cause == Cause::Timeout {
            self.save_window();
            let (at, count) = self.found_lost;
            let found = if at == event.now { count } else { 0 };
            let in_flight = event.in_flight.saturating_sub(found);
            self.window = self.window.min(in_flight as f64 + 1.0);
            self.timed_out = true;
        }
    }

    fn on_recovered(&mut self, _: Time, _: &Path) {
        self.recoveries.end();
        // A loss that the same acknowledgment shows later begins another.
        self.saved = false;
        if self.recovering || self.timed_out {
            self.recovering = false;
            self.timed_out = false;
            self.end_recovery();
            self.restore_window();
        }
    }

    /// `HandleRestartFromIdle`
    fn on_restart(&mut self, now: Time, _: &Path) {
        self.idle_restart = true;
        self.model.aggregation_start = now;
        if self.cycle.state.probes_bw() {
            self.set_pacing_rate(1.0);
        } else if self.cycle.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
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
        Wants {
            pacing: true,
            delivery_rate: true,
            losses: true,
            own_recovery: true,
            spurious: true,
            ..Wants::NOTHING
        }
    }

    fn observe(&self, probe: &mut dyn Probe) {
        let (model, cycle) = (&self.model, &self.cycle);
        probe.value("state", f64::from(cycle.state as u8));
        probe.value("round", model.rounds.count as f64);
        probe.value("pacing_gain", cycle.state.pacing_gain(self.startup_gain));
        probe.value("cwnd_gain", cycle.state.cwnd_gain());
        probe.value("max_bw", model.max_bw);
        probe.value("bw", model.bw);
        probe.value("bw_shortterm", model.bw_shortterm);
        probe.value("inflight_shortterm", model.inflight_shortterm);
        probe.value("inflight_longterm", model.inflight_longterm);
        probe.value("min_rtt", model.min_rtt.map_or(f64::INFINITY, Span::seconds));
        probe.value("extra_acked", model.extra_acked.value());
        probe.value("full_bw_count", f64::from(model.full_bw_count));
        probe.value("full_bw_now", f64::from(u8::from(model.full_bw_now)));
        probe.value("full_bw_reached", f64::from(u8::from(model.full_bw_reached)));
        probe.value("probe_wait", cycle.wait.seconds());
        probe.value("idle_restart", f64::from(u8::from(self.idle_restart)));
    }
}
