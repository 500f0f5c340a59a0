//! A law as curves, and how far these are from it.

use longfat_control::{Breakpoint, Cause, Operating, Phase, WindowLaw};
use longfat_tcp_host::Choice;
use longfat_units::{Segments, Span};

use crate::curve::{Curve, Wanted};
use crate::fixed::{Fixed, product, ratio, to_fixed, to_real};
use crate::shape::{GAIN, SLOW_START, Shape, TAKEN, USUAL, at};
use crate::{RoundTrip, TableError};

/// No table is further off than this, as a share of what the law says; and what is added, as a share of a tenth of a
/// segment per round trip where the law adds less.
pub const TOLERANCE: f64 = 0.003;

/// Below this many segments per round trip only the difference counts: a whole number of 2⁻³⁶ is coarse then.
const SLOWEST: f64 = 0.1;

/// Windows: 1 to 2²⁴ segments.
const WINDOW_OCTAVES: u32 = 24;
/// Round trips: 1 µs to 4 s.
const RTT_OCTAVES: u32 = 22;
/// Below this round trip, in microseconds, no error is looked at.
const SHORTEST: f64 = 16.0;
/// A window at which nothing is at a bound, and a round trip that goes with it.
const FAR: f64 = (1_u32 << 25) as f64;
const NEAR: Span = span(100);

/// A law, written down. Windows, and what is added to them and taken from them, are in segments.
#[derive(Clone, Debug)]
pub struct LawTable {
    /// What a round trip adds to a window; or what is to be multiplied with the window, where there is an `offset`.
    pub growth: Curve,
    /// What a round trip adds beside that, for the window at the start of the epoch.
    pub offset: Option<Curve>,
    /// The factor that goes with a round trip in microseconds.
    pub round_trip: Option<(RoundTrip, Curve)>,
    /// What a round trip of slow start adds to a window.
    pub slow_start: Curve,
    /// What is taken from a window: by a loss and by a mark in congestion avoidance, and by both in slow start.
    pub decrease: [Curve; 4],
    /// How many windows leave in a round trip; `None`: unpaced.
    pub pacing: Option<f64>,
    /// How far it is from the law.
    pub errors: Errors,
}

/// The largest errors of a table, as shares of what the law says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Of what a segment adds in congestion avoidance.
    pub gain: f64,
    /// Of what it adds in slow start.
    pub slow_start: f64,
    /// Of what congestion takes.
    pub decrease: f64,
}

impl Errors {
    /// The largest of them.
    pub fn most(&self) -> f64 {
        self.gain.max(self.slow_start).max(self.decrease)
    }
}

/// Phases and causes, in the order of [`LawTable::decrease`].
const DECREASES: [(Phase, Cause); 4] = [
    (Phase::CongestionAvoidance, Cause::Loss),
    (Phase::CongestionAvoidance, Cause::Mark),
    (Phase::SlowStart, Cause::Loss),
    (Phase::SlowStart, Cause::Mark),
];

/// The table of a controller.
///
/// # Errors
/// If it is no window law, or one that no table can stand for.
pub fn tabulated(choice: &Choice) -> Result<LawTable, TableError> {
    let Some(law) = choice.law() else {
        return Err(TableError::Remembers(choice.name().into()));
    };
    if choice.reads_spare() {
        return Err(TableError::Depends {
            name: choice.name().into(),
            what: "what a segment adds",
            on: "the bit of AntiECN",
        });
    }
    let shape = Shape::of(choice.name(), &*law)?;
    if !choice.is_only_law() {
        return Err(TableError::Remembers(choice.name().into()));
    }
    LawTable::shaped(choice.name(), &*law, shape)
}

impl LawTable {
    /// The table of a law, which messages call `name`.
    ///
    /// # Errors
    /// If none can stand for it.
    pub fn of(name: &str, law: &dyn WindowLaw) -> Result<Self, TableError> {
        Self::shaped(name, law, Shape::of(name, law)?)
    }

    fn shaped(name: &str, law: &dyn WindowLaw, shape: Shape) -> Result<Self, TableError> {
        let breaks = Breaks::of(law);
        let round_trip = shape.round_trip.map(|which| {
            let factor = |micros: f64| factor(law, which, micros);
            let against =
                |micros: f64| if micros < SHORTEST { f64::INFINITY } else { factor(micros) };
            let breaks = &breaks.round_trips;
            let wanted = Wanted { octaves: RTT_OCTAVES, breaks, at: &factor, against: &against };
            (which, Curve::of(&wanted))
        });
        let scale = shape.round_trip.map_or(1.0, |which| factor(law, which, micros(NEAR)));
        let added = |window: f64, epoch: f64| {
            let rtt = if shape.round_trip.is_some() { NEAR } else { USUAL };
            let epoch_window = Some(Segments(epoch));
            window * law.gain(&Operating { epoch_window, rtt, base_rtt: rtt, ..at(window) }) / scale
        };
        let of_window = |function: &dyn Fn(f64) -> f64| {
            let breaks = &breaks.windows;
            Curve::of(&Wanted { octaves: WINDOW_OCTAVES, breaks, at: function, against: function })
        };
        let (growth, offset) = if shape.epoch {
            let slope = |epoch: f64| (added(2.0 * FAR, epoch) - added(FAR, epoch)) / FAR;
            let offset = |epoch: f64| added(FAR, epoch) - slope(epoch) * FAR;
            // At the start of an epoch it matters most.
            let least = |epoch: f64| slope(epoch) * epoch + offset(epoch);
            let (octaves, breaks) = (WINDOW_OCTAVES, &*breaks.epochs);
            let steep = |epoch: f64| slope(epoch).min(least(epoch) / epoch);
            let slopes = Wanted { octaves, breaks, at: &slope, against: &steep };
            let offsets = Wanted { octaves, breaks, at: &offset, against: &least };
            (Curve::of(&slopes), Some(Curve::of(&offsets)))
        } else {
            (of_window(&|window| added(window, window)), None)
        };
        let slow = |window: f64| Operating { phase: Phase::SlowStart, ..at(window) };
        let mut table = Self {
            growth,
            offset,
            round_trip,
            slow_start: of_window(&|window| window * law.slow_start(&slow(window))),
            decrease: DECREASES.map(|(phase, cause)| {
                of_window(&|window| window * law.give_up(&Operating { phase, ..at(window) }, cause))
            }),
            pacing: shape.pacing,
            errors: Errors::default(),
        };
        table.errors = table.measured(name, law, shape, &breaks)?;
        Ok(table)
    }

    /// What one acknowledged segment adds in congestion avoidance, as the kernel computes it; round trip in
    /// microseconds.
    pub fn gain(&self, window: Fixed, epoch: Fixed, round_trip: Fixed) -> Fixed {
        let mut added = match &self.offset {
            None => self.growth.positive(window),
            Some(offset) => {
                let rising = product(self.growth.positive(epoch), window);
                (rising.cast_signed() + offset.at(epoch)).max(0).cast_unsigned()
            }
        };
        if let Some((_, factor)) = &self.round_trip {
            added = product(added, factor.positive(round_trip));
        }
        ratio(added.min(window), window)
    }

    /// What one acknowledged segment adds in slow start.
    pub fn rise(&self, window: Fixed) -> Fixed {
        ratio(self.slow_start.positive(window), window)
    }

    /// What congestion takes from a window.
    pub fn taken(&self, window: Fixed, phase: Phase, cause: Cause) -> Fixed {
        let slow = usize::from(phase == Phase::SlowStart);
        let curve = &self.decrease[2 * slow + usize::from(cause == Cause::Mark)];
        curve.positive(window).min(window)
    }

    /// Holds it against the law, everywhere but at breaks.
    fn measured(
        &self,
        name: &str,
        law: &dyn WindowLaw,
        shape: Shape,
        breaks: &Breaks,
    ) -> Result<Errors, TableError> {
        let mut errors = Errors::default();
        let off = |what, error: f64, at: &Operating| TableError::Off {
            name: name.into(),
            what,
            percent: 100.0 * error,
            most: 100.0 * TOLERANCE,
            window: at.window.0,
            rtt: at.rtt,
        };
        let check = |most: &mut f64, what, found: Fixed, expected: f64, at: &Operating| {
            let least = if what == TAKEN { 0.0 } else { SLOWEST / at.window.0 };
            let error = error(to_real(found), expected, least);
            *most = most.max(error);
            if error <= TOLERANCE { Ok(()) } else { Err(off(what, error, at)) }
        };
        for window in places(WINDOW_OCTAVES, &breaks.windows) {
            let fixed = to_fixed(window);
            for at in points(window, shape, breaks) {
                let epoch = at.epoch_window.map_or(fixed, |epoch| to_fixed(epoch.0));
                let found = self.gain(fixed, epoch, to_fixed(micros(at.rtt)));
                check(&mut errors.gain, GAIN, found, law.gain(&at), &at)?;
            }
            let slow = Operating { phase: Phase::SlowStart, ..at(window) };
            let expected = law.slow_start(&slow);
            check(&mut errors.slow_start, SLOW_START, self.rise(fixed), expected, &slow)?;
            for (phase, cause) in DECREASES {
                let at = Operating { phase, ..at(window) };
                let expected = window * law.give_up(&at, cause);
                let found = self.taken(fixed, phase, cause);
                check(&mut errors.decrease, TAKEN, found, expected, &at)?;
            }
        }
        Ok(errors)
    }
}

/// Where a law breaks.
struct Breaks {
    windows: Vec<f64>,
    epochs: Vec<f64>,
    /// In microseconds.
    round_trips: Vec<f64>,
}

impl Breaks {
    fn of(law: &dyn WindowLaw) -> Self {
        let mut all = Self { windows: Vec::new(), epochs: Vec::new(), round_trips: Vec::new() };
        for each in law.breakpoints() {
            match each {
                Breakpoint::Window(at) => all.windows.push(at),
                Breakpoint::EpochWindow(at) => all.epochs.push(at),
                Breakpoint::RoundTrip(at) => all.round_trips.push(micros(at)),
            }
        }
        all
    }
}

/// How a law that goes by a round trip depends on it: 1 at [`USUAL`].
fn factor(law: &dyn WindowLaw, which: RoundTrip, micros: f64) -> f64 {
    let gain = |rtt: Span| {
        let at = at(FAR);
        law.gain(&match which {
            RoundTrip::Smoothed => Operating { rtt, base_rtt: span(1), ..at },
            RoundTrip::Base => Operating { rtt: Span(u64::MAX), base_rtt: rtt, ..at },
        })
    };
    gain(Span::from_seconds_f64(micros / 1e6)) / gain(USUAL)
}

/// So many microseconds.
const fn span(micros: u64) -> Span {
    Span(micros * 1_000_000)
}

fn micros(span: Span) -> f64 {
    span.seconds() * 1e6
}

/// The error as a share of what is expected, or of `least` if that is more.
fn error(found: f64, expected: f64, least: f64) -> f64 {
    let off = (found - expected).abs();
    if off == 0.0 { 0.0 } else { off / expected.abs().max(least) }
}

/// Places from 1 to so many octaves above, a third of a percent apart, without those at breaks.
fn places(octaves: u32, breaks: &[f64]) -> impl Iterator<Item = f64> {
    const APART: f64 = 1.003_1;
    const BESIDE: f64 = 1e-6;
    let end = (1_u64 << octaves) as f64;
    let beside =
        breaks.iter().flat_map(|at| [at * (1.0 - 2.0 * BESIDE), at * (1.0 + 2.0 * BESIDE)]);
    let even = std::iter::successors(Some(1.0), |x| Some(x * APART));
    let own: Vec<f64> = beside.filter(|x| (1.0..end).contains(x)).collect();
    let clear = move |x: &f64| own_clear(*x, breaks, BESIDE);
    own.into_iter().chain(even.take_while(move |x| *x < end)).filter(clear)
}

/// Is it beside all breaks, and not at one?
fn own_clear(x: f64, breaks: &[f64], beside: f64) -> bool {
    breaks.iter().all(|at| (x - at).abs() > at * beside)
}

/// All that a gain is asked at this window.
fn points(window: f64, shape: Shape, breaks: &Breaks) -> Vec<Operating> {
    let shares: &[f64] =
        if shape.epoch { &[1.0, 0.97, 0.87, 0.5, 0.1, 1e-3, 1e-6] } else { &[1.0] };
    let rtts: &[u64] = if shape.round_trip.is_some() {
        &[20, 333, 5000, 40_100, 123_456, 3_300_000]
    } else {
        &[100_000]
    };
    let mut points = Vec::new();
    for epoch in shares.iter().map(|share| window * share).filter(|epoch| *epoch >= 1.0) {
        for rtt in rtts.iter().map(|micros| span(*micros)) {
            if own_clear(epoch, &breaks.epochs, 1e-6)
                && own_clear(micros(rtt), &breaks.round_trips, 1e-6)
            {
                let epoch_window = Some(Segments(epoch));
                points.push(Operating { epoch_window, rtt, base_rtt: rtt, ..at(window) });
            }
        }
    }
    points
}

#[cfg(test)]
mod tests;
