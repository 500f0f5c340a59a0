//! What a flow asks for at a price: the window at which gain and loss balance.

use longfat_control::bounds::CEILING;
use longfat_control::{Breakpoint, Cause, Phase};
use longfat_units::math;

use crate::plan::{FlowPlan, LEAST_WINDOW, OperatingPoint};

/// Probabilities that a packet of one flow is marked or lost on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Chances {
    pub(crate) marks: f64,
    pub(crate) losses: f64,
}

/// What a flow asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Demand {
    pub(crate) window: f64,
    /// d ln(window) / d ln(price), at most 0.
    pub(crate) elasticity: f64,
    /// d ln(window) / d(round trip), per second, of a law that answers delay; of others 0.
    pub(crate) stretch: f64,
}

impl Demand {
    /// A first guess: one segment, and Reno's square root.
    pub(crate) const UNKNOWN: Self = Self { window: 1.0, elasticity: -0.5, stretch: 0.0 };
    /// A window that answers nothing: it is held by a bound.
    pub(crate) const BOUND: Self = Self { window: 1.0, elasticity: 0.0, stretch: 0.0 };
}

impl FlowPlan {
    /// The operating point in balance at this window: the epoch window is the mean window after a loss.
    pub(crate) fn balanced(&self, window: f64, rtt: f64, chances: Chances) -> OperatingPoint {
        let events = window / rtt * (chances.marks + chances.losses);
        let mut point = OperatingPoint {
            window,
            epoch_window: window,
            rtt,
            since_event: (events > 0.0).then(|| 1.0 / events),
            phase: Phase::CongestionAvoidance,
            spare: 0.0,
        };
        let (share, _) = self.given_up(&point, chances);
        point.epoch_window = (1.0 - share) * window;
        point
    }

    /// The mean share given up at an event, and the share given up per packet.
    fn given_up(&self, point: &OperatingPoint, chances: Chances) -> (f64, f64) {
        let at = self.operating(point);
        let of = |cause: Cause, probability: f64| {
            if probability > 0.0 { probability * self.law().give_up(&at, cause) } else { 0.0 }
        };
        let per_packet = of(Cause::Mark, chances.marks) + of(Cause::Loss, chances.losses);
        (per_packet / (chances.marks + chances.losses).max(f64::MIN_POSITIVE), per_packet)
    }

    /// ln(gain) - ln(loss) per packet at the window exp(u): positive where the window grows.
    fn growth(&self, u: f64, rtt: f64, chances: Chances) -> f64 {
        let window = math::exp(u);
        let point = self.balanced(window, rtt, chances);
        let gain = self.gain(&self.operating(&point));
        let (_, per_packet) = self.given_up(&point, chances);
        math::ln((gain / (per_packet * window)).clamp(f64::MIN_POSITIVE, f64::MAX))
    }

    /// The window at which a packet gains as much as it costs; `None` if there is none and the window grows without
    /// bound. `guess`, the answer to a similar price, speeds up the search.
    pub(crate) fn demand(&self, chances: Chances, rtt: f64, guess: Demand) -> Option<Demand> {
        let most = self.max_window.clamp(LEAST_WINDOW, CEILING);
        if self.flow.heeds_delay() {
            return self.demand_by_delay(chances, rtt, guess, most);
        }
        let at = |window: f64| Some(Demand { window, ..Demand::BOUND });
        let unlimited = || if self.max_window < CEILING { at(most) } else { None };
        if chances.marks + chances.losses <= 0.0 {
            return unlimited();
        }
        let growth = |u: f64| self.growth(u, rtt, chances);
        let (least_u, most_u) = (0.0, math::ln(most));
        let start = math::ln(guess.window.clamp(LEAST_WINDOW, most));
        let u = if let Some(u) = secant(growth, start, guess.elasticity, (least_u, most_u)) {
            u
        } else {
            // A bracket around the guess, growing until the sign changes.
            let value = growth(start);
            let (mut low, mut high) = ((start, value), (start, value));
            let mut reach = 0.02;
            while low.1 < 0.0 {
                if low.0 <= least_u {
                    return at(LEAST_WINDOW);
                }
                high = low;
                low.0 = (low.0 - reach).max(least_u);
                low.1 = growth(low.0);
                reach *= 4.0;
            }
            while high.1 > 0.0 {
                if high.0 >= most_u {
                    return unlimited();
                }
                low = high;
                high.0 = (high.0 + reach).min(most_u);
                high.1 = growth(high.0);
                reach *= 4.0;
            }
            root(growth, low, high)
        };
        // Wide enough for rounding, narrow enough for any law.
        let by = 1e-6;
        let slope = (growth(u + by) - growth(u)) / by;
        let elasticity = if slope < 0.0 { 1.0 / slope } else { -1.0 };
        Some(Demand { window: math::exp(u), elasticity, stretch: 0.0 })
    }
}

impl FlowPlan {
    /// A window at which the law jumps from shrinking to growing: it then has a balance on either side.
    pub(crate) fn turning_point(&self, chances: Chances, rtt: f64) -> Option<f64> {
        if self.flow.heeds_delay() || chances.marks + chances.losses <= 0.0 {
            return None;
        }
        // Far enough from the jump, and from rounding.
        let (by, clear) = (1e-9, 1e-6);
        let turns = |window: &f64| {
            let u = math::ln(*window);
            self.growth(u - by, rtt, chances) < -clear && self.growth(u + by, rtt, chances) > clear
        };
        let windows = self.law().breakpoints().into_iter().filter_map(|at| match at {
            Breakpoint::Window(window) => Some(window),
            Breakpoint::EpochWindow(_) | Breakpoint::RoundTrip(_) => None,
        });
        let most = self.max_window.min(CEILING);
        windows.filter(|window| (LEAST_WINDOW..most).contains(window)).find(turns)
    }
}

/// How close to balance is close enough.
const BALANCED: f64 = 1e-13;

/// The root of a falling function near `start`, where its slope was 1/`elasticity`; `None` unless found quickly.
fn secant(
    f: impl Fn(f64) -> f64,
    start: f64,
    elasticity: f64,
    (least, most): (f64, f64),
) -> Option<f64> {
    if elasticity >= 0.0 {
        return None;
    }
    let (mut last, mut at_last) = (start, f(start));
    let mut inverse_slope = elasticity;
    for _ in 0..8 {
        let next = last - at_last * inverse_slope;
        if !(least..most).contains(&next) || (next - last).abs() > 3.0 {
            return None;
        }
        let at_next = f(next);
        if at_next.abs() < BALANCED || next == last {
            return (at_next.abs() < 1e-9).then_some(next);
        }
        inverse_slope = (next - last) / (at_next - at_last);
        // The function falls; anything else is rounding or a jump.
        if !(inverse_slope < 0.0 && inverse_slope > -1e9) {
            return None;
        }
        (last, at_last) = (next, at_next);
    }
    None
}

/// The root of a falling function between two points of opposite sign: regula falsi with the Illinois rule, and
/// bisection where that is slow, as at a jump.
pub(crate) fn root(f: impl Fn(f64) -> f64, low: (f64, f64), high: (f64, f64)) -> f64 {
    let ((mut low, mut at_low), (mut high, mut at_high)) = (low, high);
    if at_low == 0.0 {
        return low;
    }
    let mut last_side = 0;
    for step in 0..200 {
        if high - low <= 1e-15 * high.abs().max(1.0) {
            break;
        }
        let falsi = high - at_high * (high - low) / (at_high - at_low);
        let middle = f64::midpoint(low, high);
        let next = if step >= 40 || !falsi.is_finite() { middle } else { falsi.clamp(low, high) };
        let value = f(next);
        if value.abs() < BALANCED {
            return next;
        }
        if value > 0.0 {
            (low, at_low) = (next, value);
            if last_side == 1 {
                at_high /= 2.0;
            }
            last_side = 1;
        } else {
            (high, at_high) = (next, value);
            if last_side == -1 {
                at_low /= 2.0;
            }
            last_side = -1;
        }
    }
    f64::midpoint(low, high)
}
