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
    /// How fast growth falls with ln(window) where it is 0: negative, and without limit where a bound holds the window.
    pub(crate) slope: f64,
}

impl Demand {
    /// A first guess: one segment, and Reno's slope.
    pub(crate) const UNKNOWN: Self = Self { window: 1.0, slope: -2.0 };

    /// The logarithm of its window, within bounds: where a search may start. A window that is no number is none.
    pub(crate) fn start(self, most: f64) -> f64 {
        math::ln(self.window.max(LEAST_WINDOW).min(most))
    }

    /// A window that answers nothing: it is held by a bound.
    pub(crate) fn bound(window: f64) -> Self {
        Self { window, slope: f64::NEG_INFINITY }
    }
}

/// How a window answers what its packets meet: changes of its logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Response {
    /// Per probability of marks.
    pub(crate) marks: f64,
    /// Per probability of losses.
    pub(crate) losses: f64,
    /// Per second that packets wait.
    pub(crate) wait: f64,
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
        let unlimited = || (self.max_window < CEILING).then(|| Demand::bound(most));
        if chances.marks + chances.losses <= 0.0 {
            return unlimited();
        }
        let growth = |u: f64| self.growth(u, rtt, chances);
        let bounds = (0.0, math::ln(most));
        let start = guess.start(most);
        let quickly = secant(growth, start, guess.slope, bounds).map(Rest::At);
        let u = match quickly.unwrap_or_else(|| rest(growth, start, bounds)) {
            Rest::Below => return Some(Demand::bound(LEAST_WINDOW)),
            Rest::Above => return unlimited(),
            Rest::At(u) => u,
        };
        // Wide enough for rounding, narrow enough for any law.
        let by = 1e-6;
        let slope = (growth(u + by) - growth(u)) / by;
        Some(Demand { window: math::exp(u), slope: if slope < 0.0 { slope } else { -1.0 } })
    }

    /// How the window asked for answers a little more of each: by the implicit function, as growth stays 0.
    pub(crate) fn response(&self, demand: Demand, chances: Chances, rtt: f64) -> Response {
        if demand.slope.is_infinite() {
            return Response::default();
        }
        let u = math::ln(demand.window);
        let growth = |rtt: f64, chances: Chances| {
            if self.flow.heeds_delay() {
                self.growth_by_delay(u, rtt, chances)
            } else {
                self.growth(u, rtt, chances)
            }
        };
        let by = 1e-6 * (chances.marks + chances.losses);
        let wait = self.small_wait(rtt);
        let now = growth(rtt, chances);
        let answer = |then: f64, by: f64| {
            if then == now { 0.0 } else { (now - then) / (by * demand.slope) }
        };
        Response {
            marks: answer(growth(rtt, Chances { marks: chances.marks + by, ..chances }), by),
            losses: answer(growth(rtt, Chances { losses: chances.losses + by, ..chances }), by),
            wait: answer(growth(rtt + wait, chances), wait),
        }
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

/// The root of a falling function near `start`, where it had this slope; `None` unless found quickly.
fn secant(
    f: impl Fn(f64) -> f64,
    start: f64,
    slope: f64,
    (least, most): (f64, f64),
) -> Option<f64> {
    if slope.is_infinite() {
        return None;
    }
    let (mut last, mut at_last) = (start, f(start));
    let mut inverse_slope = 1.0 / slope;
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

/// Where a falling function is 0.
pub(crate) enum Rest {
    /// Not within the bounds: it is negative at the least.
    Below,
    /// Not within the bounds: it is positive at the most.
    Above,
    At(f64),
}

/// Where a falling function is 0, looked for from `start` on: in a bracket that grows until the sign changes.
pub(crate) fn rest(f: impl Fn(f64) -> f64, start: f64, (least, most): (f64, f64)) -> Rest {
    let value = f(start);
    let (mut low, mut high) = ((start, value), (start, value));
    let mut reach = 0.02;
    while low.1 < 0.0 {
        if low.0 <= least {
            return Rest::Below;
        }
        high = low;
        low.0 = (low.0 - reach).max(least);
        low.1 = f(low.0);
        reach *= 4.0;
    }
    while high.1 > 0.0 {
        if high.0 >= most {
            return Rest::Above;
        }
        low = high;
        high.0 = (high.0 + reach).min(most);
        high.1 = f(high.0);
        reach *= 4.0;
    }
    Rest::At(root(f, low, high))
}

/// The root of a falling function between two points of opposite sign: regula falsi with the Illinois rule, and
/// bisection where that is slow, as at a jump. No number if it has none.
fn root(f: impl Fn(f64) -> f64, low: (f64, f64), high: (f64, f64)) -> f64 {
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
    // A law that is no number on either side rests nowhere.
    if at_low.is_nan() || at_high.is_nan() { f64::NAN } else { f64::midpoint(low, high) }
}
