//! What a law depends on, found by asking it.

use longfat_control::{Cause, Operating, Pacing, Phase, WindowLaw};
use longfat_units::{Segments, Span};

use crate::TableError;

/// Which round trip a law goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrip {
    /// The smoothed one.
    Smoothed,
    /// The smallest one.
    Base,
}

/// What a segment adds depends on the window, and on these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// The window at the start of the epoch.
    pub(crate) epoch: bool,
    /// A round trip.
    pub(crate) round_trip: Option<RoundTrip>,
    /// How many windows leave in a round trip; `None`: unpaced.
    pub(crate) pacing: Option<f64>,
}

/// A round trip at which no law has any reason to be at a bound.
pub(crate) const USUAL: Span = Span::from_millis(100);

/// In congestion avoidance, with nothing but a window.
pub(crate) fn at(window: f64) -> Operating {
    Operating {
        window: Segments(window),
        epoch_window: Some(Segments(window)),
        rtt: USUAL,
        base_rtt: USUAL,
        since_event: None,
        phase: Phase::CongestionAvoidance,
        spare: 0.0,
    }
}

/// Windows from one segment to the largest, without any regularity that a law could share.
pub(crate) fn windows() -> impl Iterator<Item = f64> {
    const APART: f64 = 1.297;
    std::iter::successors(Some(1.0007), |window| Some(window * APART)).take_while(|w| *w < 1.6e7)
}

type Asked = fn(&dyn WindowLaw, &Operating) -> f64;

pub(crate) const SLOW_START: &str = "what slow start adds";
pub(crate) const GAIN: &str = "what a segment adds";
pub(crate) const TAKEN: &str = "what congestion takes";

impl Shape {
    /// Asks at many points.
    ///
    /// # Errors
    /// If it depends on what a table does not have.
    pub(crate) fn of(name: &str, law: &dyn WindowLaw) -> Result<Self, TableError> {
        if law.heeds_delay() {
            return Err(TableError::Delay(name.into()));
        }
        let all: [(&'static str, Asked); 4] = [
            (GAIN, |law, at| law.gain(at)),
            (SLOW_START, |law, at| law.slow_start(&Operating { phase: Phase::SlowStart, ..*at })),
            (TAKEN, |law, at| law.give_up(at, Cause::Loss)),
            (TAKEN, |law, at| law.give_up(at, Cause::Mark)),
        ];
        let mut shape = Self { epoch: false, round_trip: None, pacing: pacing(name, law)? };
        for (what, asked) in all {
            if varies(law, asked, &since) {
                return Err(TableError::Clock(name.into()));
            }
            let depends = |on| TableError::Depends { name: name.into(), what, on };
            let epoch = varies(law, asked, &epochs);
            let round_trip = match (varies(law, asked, &smoothed), varies(law, asked, &smallest)) {
                (true, true) => return Err(TableError::Delay(name.into())),
                (true, false) => Some(RoundTrip::Smoothed),
                (false, true) => Some(RoundTrip::Base),
                (false, false) => None,
            };
            if what == GAIN {
                shape = Self { epoch, round_trip, ..shape };
            } else if epoch {
                return Err(depends("the window after the last congestion"));
            } else if round_trip.is_some() {
                return Err(depends("the round trip"));
            }
        }
        // Without a memory it goes by its window: a flow that has none yet begins its epoch here.
        let forgotten = |at: &Operating| vec![*at, Operating { epoch_window: None, ..*at }];
        if varies(law, |law, at| law.gain(at), &forgotten) {
            return Err(TableError::Remembers(name.into()));
        }
        bounded(name, law)?;
        Ok(shape)
    }
}

fn pacing(name: &str, law: &dyn WindowLaw) -> Result<Option<f64>, TableError> {
    let mut found = None;
    for window in windows() {
        for phase in [Phase::SlowStart, Phase::CongestionAvoidance] {
            for at in smoothed(&Operating { phase, ..at(window) }) {
                let gain = match law.pacing(&at) {
                    // Linux has no blocks, and sends them unpaced.
                    Pacing::Unpaced | Pacing::Blocks(_) | Pacing::LooseBlocks(_) => None,
                    Pacing::Spread { gain } => Some(gain),
                    Pacing::Rate(_) => return Err(TableError::Pacing(name.into())),
                };
                if *found.get_or_insert(gain) != gain {
                    return Err(TableError::Pacing(name.into()));
                }
            }
        }
    }
    Ok(found.flatten())
}

/// The largest amount that one acknowledged segment can add.
const MOST_ADDED: f64 = 2.0;

fn bounded(name: &str, law: &dyn WindowLaw) -> Result<(), TableError> {
    for window in windows() {
        let at = at(window);
        let slow = Operating { phase: Phase::SlowStart, ..at };
        let answers = [
            (GAIN, law.gain(&at), 1.0),
            (SLOW_START, law.slow_start(&slow), MOST_ADDED),
            (TAKEN, law.give_up(&at, Cause::Loss), 1.0),
            (TAKEN, law.give_up(&slow, Cause::Loss), 1.0),
            (TAKEN, law.give_up(&at, Cause::Mark), 1.0),
        ];
        for (what, found, most) in answers {
            if !(0.0..=most).contains(&found) {
                return Err(TableError::Bounds { name: name.into(), what, found, most, window });
            }
        }
    }
    Ok(())
}

/// Does the answer change where only this does?
fn varies(
    law: &dyn WindowLaw,
    asked: Asked,
    others: &dyn Fn(&Operating) -> Vec<Operating>,
) -> bool {
    let phases = [Phase::SlowStart, Phase::CongestionAvoidance];
    windows().any(|window| {
        phases.into_iter().any(|phase| {
            let others = others(&Operating { phase, ..at(window) });
            let mut answers = others.iter().map(|at| asked(law, at));
            let first = answers.next().unwrap_or_default();
            answers.any(|other| (other - first).abs() > 1e-12 * first.abs())
        })
    })
}

fn since(at: &Operating) -> Vec<Operating> {
    let spans = [None, Some(1), Some(1500), Some(100_000)];
    let since = spans.map(|span| span.map(Span::from_millis));
    since.map(|since_event| Operating { since_event, ..*at }).into()
}

fn epochs(at: &Operating) -> Vec<Operating> {
    let shares = [1.0, 0.9, 0.3, 0.01];
    let epoch = |share: f64| Segments((at.window.0 * share).max(1.0));
    shares.map(|share| Operating { epoch_window: Some(epoch(share)), ..*at }).into()
}

fn smoothed(at: &Operating) -> Vec<Operating> {
    let spans = [1, 7, 31, 100, 900, 4000].map(Span::from_millis);
    spans.map(|rtt| Operating { rtt, base_rtt: Span::from_millis(1), ..*at }).into()
}

fn smallest(at: &Operating) -> Vec<Operating> {
    let spans = [1, 7, 31, 100, 900, 4000].map(Span::from_millis);
    spans.map(|base_rtt| Operating { rtt: Span::from_millis(4000), base_rtt, ..*at }).into()
}
