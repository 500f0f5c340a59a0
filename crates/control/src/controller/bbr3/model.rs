//! What BBRv3 knows of the path: rate, round trip, aggregation, and how much it may hold in flight.

use longfat_units::{Span, Time};

use crate::bounds::CEILING;
use crate::path_model::{Largest, Quiet, Rounds, rate_of, real, seconds};
use crate::{Feedback, Lost, RateSample};

/// `BBR.LossThresh`: the share of a round trip's segments that may be lost when probing.
pub(super) const LOSS_THRESHOLD: f64 = 0.02;
/// `BBR.Beta`: what losses leave of the short-term bounds in a round trip, at least.
pub(super) const BETA: f64 = 0.7;
/// `BBR.Headroom`: the share of `inflight_longterm` that is left to others.
pub(super) const HEADROOM: f64 = 0.15;
/// `BBR.MinRTTFilterLen`
const MIN_RTT_WINDOW: Span = Span::from_seconds(10);
/// `BBR.ProbeRTTInterval`
const PROBE_RTT_INTERVAL: Span = Span::from_seconds(5);
/// `BBR.ExtraAckedFilterLen`, in round trips.
const EXTRA_ACKED_ROUNDS: usize = 10;
/// Growth of the delivery rate below which a round trip counts as one without.
const PLATEAU: f64 = 1.25;
/// How many round trips without growth make a full pipe.
const PLATEAU_ROUNDS: u32 = 3;

/// The largest delivery rate of this cycle of probing and of the one before (`BBR.max_bw_filter`).
#[derive(Clone, Copy, Debug, Default)]
struct TwoCycles {
    now: f64,
    before: f64,
}

/// The model.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a variable of the draft")]
pub(super) struct Model {
    pub(super) rounds: Rounds,
    max_bw_filter: TwoCycles,
    /// `BBR.max_bw`, segments per second.
    pub(super) max_bw: f64,
    /// `BBR.bw`
    pub(super) bw: f64,
    /// `BBR.bw_shortterm` and `BBR.inflight_shortterm`; infinite if there is no such bound.
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: f64,
    /// `BBR.inflight_longterm`, likewise.
    pub(super) inflight_longterm: f64,

    /// `RS.delivery_rate`, or 0 where an acknowledgment has no sample.
    pub(super) rate: f64,
    /// Is it application-limited?
    pub(super) limited: bool,
    /// `C.delivered`
    pub(super) delivered: u64,
    pub(super) quiet: Quiet,

    /// `BBR.bw_latest` and `BBR.inflight_latest`
    bw_latest: f64,
    pub(super) inflight_latest: f64,
    /// `BBR.loss_round_delivered` and `BBR.loss_round_start`
    loss_round_end: u64,
    pub(super) loss_round_starts: bool,
    /// `BBR.is_loss_in_round`
    pub(super) lossy_round: bool,
    /// Segments reported as marked since the round began that is under way or has just ended.
    pub(super) marked: u64,

    /// `BBR.full_bw`, `full_bw_count`, `full_bw_now`, `full_bw_reached`
    full_bw: f64,
    pub(super) full_bw_count: u32,
    pub(super) full_bw_now: bool,
    pub(super) full_bw_reached: bool,

    /// `BBR.min_rtt`; none before there is one.
    pub(super) min_rtt: Option<Span>,
    min_rtt_seconds: f64,
    min_rtt_stamp: Option<Time>,
    /// `BBR.probe_rtt_min_delay`
    probe_rtt_min: Option<Span>,
    pub(super) probe_rtt_stamp: Time,
    /// `BBR.probe_rtt_expired`
    pub(super) probe_rtt_expired: bool,

    /// `BBR.extra_acked_interval_start` and `BBR.extra_acked_delivered`
    pub(super) aggregation_start: Time,
    aggregated: f64,
    pub(super) extra_acked: Largest,
}

/// What one acknowledgment or loss says of how much was in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// `RS.tx_in_flight`
    pub(super) in_flight: f64,
    /// `RS.lost`, marked segments included.
    pub(super) lost: f64,
    /// `RS.is_app_limited`
    pub(super) limited: bool,
}

impl Evidence {
    /// `IsInflightTooHigh`, where a host can find several losses in a round trip, or else one.
    #[inline]
    pub(super) fn is_too_high(&self, selective: bool) -> bool {
        self.lost > LOSS_THRESHOLD * self.in_flight || (self.lost > 0.0 && !selective)
    }

    /// `InflightAtLoss`: how much was in flight when losses crossed the threshold, with the segment that did it the
    /// last of them.
    pub(super) fn inflight_at_loss(&self) -> f64 {
        let (in_flight, lost) = (self.in_flight - 1.0, self.lost - 1.0);
        in_flight + (LOSS_THRESHOLD * in_flight - lost) / (1.0 - LOSS_THRESHOLD)
    }
}

impl Model {
    pub(super) fn new(round_trip: Option<Span>) -> Self {
        Self {
            rounds: Rounds::default(),
            max_bw_filter: TwoCycles::default(),
            max_bw: 0.0,
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            rate: 0.0,
            limited: false,
            delivered: 0,
            quiet: Quiet::default(),
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_end: 0,
            loss_round_starts: false,
            lossy_round: false,
            marked: 0,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            min_rtt: round_trip,
            min_rtt_seconds: round_trip.map_or(0.0, Span::seconds),
            min_rtt_stamp: None,
            probe_rtt_min: None,
            probe_rtt_stamp: Time::ZERO,
            probe_rtt_expired: false,
            aggregation_start: Time::ZERO,
            aggregated: 0.0,
            // In Startup, one round trip.
            extra_acked: Largest::over(1),
        }
    }

    /// `UpdateLatestDeliverySignals`, `UpdateRound` and `UpdateMaxBw`.
    pub(super) fn hear(&mut self, sample: &RateSample) {
        self.rate = rate_of(sample);
        self.limited = self.quiet.limits(sample);
        self.delivered = sample.delivered_total;
        self.bw_latest = self.bw_latest.max(self.rate);
        self.inflight_latest = self.inflight_latest.max(real(sample.delivered));
        self.loss_round_starts = sample.delivered_before >= self.loss_round_end;
        if self.loss_round_starts {
            self.loss_round_end = sample.delivered_total;
        }
        self.rounds.see(sample);
        if self.rounds.starts {
            self.extra_acked.advance();
        }
        if self.rate >= self.max_bw || !self.limited {
            self.max_bw_filter.now = self.max_bw_filter.now.max(self.rate);
            self.max_bw = self.max_bw_filter.now.max(self.max_bw_filter.before);
        }
    }

    /// The acknowledgment has no sample.
    pub(super) fn hear_nothing(&mut self) {
        self.rate = 0.0;
        self.rounds.starts = false;
        self.loss_round_starts = false;
    }

    /// What the sample says of how much was in flight, with marked segments counted as lost.
    pub(super) fn evidence(&self, sample: &RateSample) -> Evidence {
        Evidence {
            in_flight: real(sample.in_flight),
            lost: real(sample.lost + self.marked),
            limited: self.limited,
        }
    }

    /// The same for a lost segment.
    pub(super) fn evidence_of(&self, lost: &Lost) -> Evidence {
        Evidence {
            in_flight: real(lost.in_flight),
            lost: real(lost.lost + self.marked),
            limited: lost.application_limited,
        }
    }

    /// Near the end of an acknowledgment, `AdvanceLatestDeliverySignals` and `BoundBWForModel`.
    pub(super) fn finish(&mut self, sample: Option<&RateSample>) {
        if self.loss_round_starts {
            self.bw_latest = self.rate;
            self.inflight_latest = sample.map_or(0.0, |sample| real(sample.delivered));
        }
        self.bw = self.max_bw.min(self.bw_shortterm);
    }

    /// `AdvanceMaxBwFilter`: a cycle of probing ends.
    pub(super) fn advance_cycle(&mut self) {
        self.max_bw_filter = TwoCycles { now: 0.0, before: self.max_bw_filter.now };
        self.max_bw = self.max_bw_filter.before;
    }

    /// `NoteLoss`
    pub(super) fn note_loss(&mut self, delivered: u64) {
        if !self.lossy_round {
            self.loss_round_end = delivered;
        }
        self.lossy_round = true;
    }

    /// `ResetCongestionSignals`
    pub(super) fn reset_signals(&mut self) {
        self.lossy_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// `InitLowerBounds` and `LossLowerBounds`: a round trip with losses has ended while the flow was not probing.
    pub(super) fn lower_bounds(&mut self, window: f64) {
        let bw = if self.bw_shortterm.is_finite() { self.bw_shortterm } else { self.max_bw };
        let inflight =
            if self.inflight_shortterm.is_finite() { self.inflight_shortterm } else { window };
        self.bw_shortterm = self.bw_latest.max(BETA * bw);
        self.inflight_shortterm = self.inflight_latest.max(BETA * inflight);
    }

    /// `ResetShortTermModel`
    pub(super) fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// `ResetFullBW`, with this rate as the first to be exceeded.
    pub(super) fn reset_full_bw(&mut self, baseline: f64) {
        self.full_bw = baseline;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// `CheckFullBWReached`
    pub(super) fn check_full_bw(&mut self) {
        if self.full_bw_now || !self.rounds.starts || self.limited {
            return;
        }
        if self.rate >= PLATEAU * self.full_bw {
            self.reset_full_bw(self.rate);
            return;
        }
        self.full_bw_count += 1;
        if self.full_bw_count >= PLATEAU_ROUNDS {
            self.declare_full();
        }
    }

    /// The pipe is full, for whatever reason.
    pub(super) fn declare_full(&mut self) {
        self.full_bw_now = true;
        if !self.full_bw_reached {
            self.full_bw_reached = true;
            self.extra_acked.resize(EXTRA_ACKED_ROUNDS);
        }
    }

    /// The pipe was not full after all.
    pub(super) fn declare_not_full(&mut self) {
        self.full_bw_reached = false;
        self.extra_acked.resize(1);
    }

    /// `UpdateACKAggregation`
    pub(super) fn see_aggregation(&mut self, feedback: &Feedback, window: f64) {
        let elapsed = seconds(feedback.now.since(self.aggregation_start));
        let mut expected = self.bw * elapsed;
        if self.aggregated <= expected {
            self.aggregated = 0.0;
            self.aggregation_start = feedback.now;
            expected = 0.0;
        }
        self.aggregated += real(feedback.delivered());
        self.extra_acked.see((self.aggregated - expected).min(window));
    }

    /// `UpdateMinRTT`
    pub(super) fn see_round_trip(&mut self, now: Time, rtt: Option<Span>) {
        let stamp = *self.min_rtt_stamp.get_or_insert_with(|| {
            self.probe_rtt_stamp = now;
            now
        });
        self.probe_rtt_expired = now > self.probe_rtt_stamp.saturating_add(PROBE_RTT_INTERVAL);
        if let Some(rtt) = rtt
            && (self.probe_rtt_expired || self.probe_rtt_min.is_none_or(|least| rtt < least))
        {
            self.probe_rtt_min = Some(rtt);
            self.probe_rtt_stamp = now;
        }
        let expired = now > stamp.saturating_add(MIN_RTT_WINDOW);
        if let Some(least) = self.probe_rtt_min
            && (expired || self.min_rtt.is_none_or(|known| least < known))
        {
            self.min_rtt = Some(least);
            self.min_rtt_seconds = least.seconds();
            self.min_rtt_stamp = Some(self.probe_rtt_stamp);
        }
    }

    /// `BDPMultiple`: `gain` times what fills the path at this rate; none before a round trip is known.
    #[inline]
    pub(super) fn fills(&self, rate: f64, gain: f64) -> Option<f64> {
        self.min_rtt.map(|_| (gain * rate * self.min_rtt_seconds).min(CEILING))
    }

    /// `InflightWithHeadroom`; infinite if there is no long-term bound.
    pub(super) fn with_headroom(&self, least: f64) -> f64 {
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(least)
    }
}
