//! HSTCP: `HighSpeed` TCP, more aggressive the larger the window.
//!
//! S. Floyd, "`HighSpeed` TCP for Large Congestion Windows", RFC 3649, 2003.
//!
//! Reno needs a loss rate of 2·10⁻¹⁰ to fill 10 Gbit/s at 100 ms, less than fibre offers. HSTCP draws another
//! response function: from Reno's point (`low_p`, `low_window`) a straight line in log w over log p to the point
//! (`high_p`, `high_window`), 10⁻⁷ and 83 000 segments: 10 Gbit/s. Increase and decrease follow from it:
//!
//! ```text
//!     each acknowledged segment    w ← w + a(w)/w
//!     each congestion event        w ← (1 - b(w)) w
//!
//!     p(w) = low_p (w/low_window)^(1/S),   S = ln(high_window/low_window) / ln(high_p/low_p)    = -0.835
//!     b(w) = 0.5 - (0.5 - high_decrease) ln(w/low_window) / ln(high_window/low_window)
//!     a(w) = w² p(w) 2 b(w) / (2 - b(w))
//!     w ≤ low_window:  a = 1, b = 0.5: Reno
//! ```
//!
//! so that w = 0.12/p^0.835. On a path that holds 83 000 segments a loss costs a tenth of the window, and it takes
//! about 120 round trips to come back, where Reno takes 41 500.
//!
//! | parameter       | default | source                                                             |
//! |-----------------|---------|--------------------------------------------------------------------|
//! | `low_window`    | 38      | RFC 3649, section 5; 31 in the draft of 2002                       |
//! | `low_p`         | auto    | section 5: 10⁻³ with 38; else 1.5/`low_window`², as in the draft   |
//! | `high_window`   | 83 000  | section 5                                                          |
//! | `high_p`        | 10⁻⁷    | section 5                                                          |
//! | `high_decrease` | 0.1     | section 5                                                          |
//!
//! Two generations are in use. The draft of 2002 begins the line at 31 segments, where Reno's own formula
//! w = √1.5/√p puts p = 1.5/31²: its response is 0.157/p^0.817. The RFC begins at (38, 10⁻³). Papers that quote
//! 0.15/p^0.82, or `low_window` 31, mean the draft: `{ kind = "hstcp", low_window = 31 }`.
//!
//! What is decided here because the RFC leaves it open:
//!
//! - *Above `high_window`.* The RFC's own table goes on along both lines to 94 717 segments, and so does this
//!   law. Further out it cannot: b(w) would reach zero at 567 000 segments, and a(w), which stops growing at
//!   156 000, would turn negative. From where a(w) would stop growing, b is held constant (at 0.067) while p(w)
//!   continues along its line. So the response function, which is what the RFC is about, stays the same straight line
//!   at every window; a(w) keeps growing as w^0.8; and neither jumps. Tested up to 10⁷ segments.
//! - *Between 38 and 40 segments* a(w) is up to 4 % below 1, because (38, 10⁻³) lies a little off Reno's line.
//!   The formula is left as it is.
//! - *a(w) is at most w*, the growth of slow start. Only parameters far from the RFC's ask for more.
//! - *The first decrease.* A loss in slow start halves the window, as in RFC 5681 and in ns-2: slow start
//!   overshoots by a factor of two, and b(w) of a large window would answer that with a tenth.
//! - *Speed.* a(w)/w comes from a table of logarithmic spacing, within 0.1 % of the formula
//!   (`the_table_follows_the_formula_within_a_thousandth`). Flows with equal parameters share one.
//!
//! Promised by the RFC, held in `tests/theory/hstcp.rs`: its table of a(w) and b(w); the response function.

use std::sync::{Arc, Mutex, PoisonError};

use longfat_units::math::{exp, ln, pow, sqrt};
use longfat_units::parameter::{Parameter, Settings};

use crate::interpolated::Interpolated;
use crate::{Breakpoint, Cause, Controller, Operating, Phase, WindowLaw};

/// HSTCP's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("hstcp", HighSpeed::new)
        .title(
            "HighSpeed TCP: increase and decrease follow a line from (38, 1e-3) to (83000, 1e-7)",
        )
        .source("RFC 3649")
        .parameters(parameters())
}

/// The five numbers of the response function. The ranges keep `low_window` < `high_window` and `high_p` < `low_p`
/// whatever is chosen.
pub(super) fn parameters() -> [Parameter; 5] {
    [
        Parameter::number("low_window", 38.0, 10.0, 1000.0, "Reno up to this window, in segments"),
        Parameter::number_or(
            "low_p",
            "auto",
            (1e-5, 0.1),
            ["auto"],
            "loss rate at low_window; auto: 1e-3 at 38 (RFC 3649), else 1.5/low_window^2 \
             (draft of 2002)",
        ),
        Parameter::number("high_window", 83_000.0, 2000.0, 1e7, "window at high_p, in segments"),
        Parameter::number("high_p", 1e-7, 1e-12, 1e-6, "loss rate at high_window"),
        Parameter::number("high_decrease", 0.1, 0.01, 0.5, "b(w) at high_window"),
    ]
}

/// b(w) of Reno, where the line of b begins.
const RENO_DECREASE: f64 = 0.5;
/// The table reaches this far; beyond, the formula is computed.
const TABLE_UNTIL: f64 = 2e7;

/// The law of RFC 3649.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    tabulated: Arc<Tabulated>,
}

/// A response function with a table of its gains, for all flows with the same parameters.
#[derive(Debug)]
struct Tabulated {
    response: Response,
    /// a(w)/w.
    gains: Interpolated,
}

impl HighSpeed {
    /// The law with the parameters of a scenario.
    pub fn new(settings: &Settings) -> Self {
        Self { tabulated: Tabulated::shared(ResponseLine::new(settings)) }
    }

    /// Its response function.
    pub fn response(&self) -> &Response {
        &self.tabulated.response
    }
}

impl WindowLaw for HighSpeed {
    /// a(w)/w.
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        let window = at.window.0;
        let Tabulated { response, gains } = &*self.tabulated;
        if window <= response.line.low_window {
            1.0 / window
        } else {
            gains.at(window).unwrap_or_else(|| response.increase(window) / window)
        }
    }

    /// b(w); half in slow start.
    fn give_up(&self, at: &Operating, _: Cause) -> f64 {
        match at.phase {
            Phase::SlowStart => RENO_DECREASE,
            Phase::CongestionAvoidance => self.tabulated.response.decrease(at.window.0),
        }
    }

    /// The beginning of the lines, and where b is held.
    fn breakpoints(&self) -> Vec<Breakpoint> {
        let Response { line, held_from, .. } = &self.tabulated.response;
        vec![Breakpoint::Window(line.low_window), Breakpoint::Window(*held_from)]
    }
}

impl Tabulated {
    fn shared(line: ResponseLine) -> Arc<Self> {
        /// A sweep over parameters must not gather tables for ever.
        const KEPT: usize = 64;
        static KNOWN: Mutex<Vec<Arc<Tabulated>>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.iter().find(|known| known.response.line == line) {
            return Arc::clone(same);
        }
        let tabulated = Arc::new(Self::new(Response::new(line)));
        if known.len() == KEPT {
            known.remove(0);
        }
        known.push(Arc::clone(&tabulated));
        tabulated
    }

    fn new(response: Response) -> Self {
        let ResponseLine { low_window, high_window, .. } = response.line;
        let until = TABLE_UNTIL.max(high_window);
        // The one kink of a(w)/w on the lines lies on a node.
        let gains = Interpolated::new(response.held_from, low_window, until, |w| {
            response.increase_on_line(w) / w
        });
        Self { response, gains }
    }
}

/// The two points that a response function goes through, and the decrease at the second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ResponseLine {
    low_window: f64,
    low_p: f64,
    high_window: f64,
    high_p: f64,
    high_decrease: f64,
}

impl ResponseLine {
    fn new(settings: &Settings) -> Self {
        let low_window = settings.number("low_window");
        let automatic = if low_window == 38.0 { 1e-3 } else { 1.5 / (low_window * low_window) };
        Self {
            low_window,
            low_p: settings.number_or_word("low_p").unwrap_or(automatic),
            high_window: settings.number("high_window"),
            high_p: settings.number("high_p"),
            high_decrease: settings.number("high_decrease"),
        }
    }
}

/// The response function of RFC 3649, section 5: what a window may add and must give up.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    line: ResponseLine,
    /// 1/S: p changes with this power of w.
    exponent: f64,
    /// -db / d ln w.
    slope: f64,
    /// b where a(w) would stop growing, and above.
    held_decrease: f64,
    /// The window where that is.
    held_from: f64,
}

impl Response {
    fn new(line: ResponseLine) -> Self {
        let width = ln(line.high_window / line.low_window);
        let exponent = ln(line.high_p / line.low_p) / width;
        let slope = (RENO_DECREASE - line.high_decrease) / width;
        // a ~ w^(2 + exponent) · 2b/(2 - b) has its maximum where b (2 - b) = 2 slope/(2 + exponent).
        let at_maximum = 1.0 - sqrt(1.0 - 2.0 * slope / (2.0 + exponent));
        // Up to high_window the RFC decides, wherever the maximum, and if there is none (then it is NaN or
        // negative).
        let exists = at_maximum > 0.0;
        let held_decrease =
            if exists { at_maximum.min(line.high_decrease) } else { line.high_decrease };
        let held_from = if slope > 0.0 {
            line.low_window * exp((RENO_DECREASE - held_decrease) / slope)
        } else {
            line.high_window
        };
        Self { line, exponent, slope, held_decrease, held_from }
    }

    /// p(w), the loss rate that goes with a window.
    pub fn loss_rate(&self, window: f64) -> f64 {
        self.line.low_p * pow(window / self.line.low_window, self.exponent)
    }

    /// b(w), the share that a loss takes.
    pub fn decrease(&self, window: f64) -> f64 {
        self.decrease_on_line(window).min(RENO_DECREASE)
    }

    /// a(w), the segments that a round trip adds.
    pub fn increase(&self, window: f64) -> f64 {
        if window <= self.line.low_window { 1.0 } else { self.increase_on_line(window) }
    }

    fn decrease_on_line(&self, window: f64) -> f64 {
        let on_line = RENO_DECREASE - self.slope * ln(window / self.line.low_window);
        on_line.max(self.held_decrease)
    }

    fn increase_on_line(&self, window: f64) -> f64 {
        let b = self.decrease_on_line(window);
        let a = window * window * self.loss_rate(window) * 2.0 * b / (2.0 - b);
        a.min(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every window from the start of the lines to 10⁷ and beyond, 1 % apart.
    fn windows() -> impl Iterator<Item = f64> {
        std::iter::successors(Some(38.001), |window| Some(window * 1.01))
            .take_while(|window| *window < 1e12)
    }

    #[test]
    fn the_table_follows_the_formula_within_a_thousandth() {
        for low_window in [31.0, 38.0] {
            let mut settings = controller().defaults();
            settings.set("low_window", longfat_units::parameter::Setting::Number(low_window));
            let law = HighSpeed::new(&settings);
            for window in windows() {
                let table = law.tabulated.gains.at(window);
                assert!(table.is_some() || window > TABLE_UNTIL, "no table at {window}");
                let formula = law.response().increase(window) / window;
                let error = table.map_or(0.0, |table| table / formula - 1.0);
                assert!(error.abs() < 1e-3, "off by {error} at {window}");
            }
        }
    }

    #[test]
    fn increase_and_decrease_run_on_without_a_jump_and_never_turn() {
        let law = HighSpeed::new(&controller().defaults());
        let (mut a, mut b) = (0.0, 0.5);
        for window in windows() {
            let next = (law.response().increase(window), law.response().decrease(window));
            assert!(next.0 > a && (a == 0.0 || next.0 < 1.01 * a), "a({window}) after {a}");
            assert!(next.1 <= b && next.1 > 0.067, "b({window}) after {b}");
            (a, b) = next;
        }
    }

    #[test]
    fn flows_with_equal_parameters_share_a_table() {
        let settings = controller().defaults();
        let [first, second] = [HighSpeed::new(&settings), HighSpeed::new(&settings)];
        assert!(Arc::ptr_eq(&first.tabulated, &second.tabulated));
    }

    /// RFC 3649, section 5: up to `Low_Window` a(w) = 1 and b(w) = 0.5.
    #[test]
    fn up_to_the_low_window_the_response_is_renos() {
        let law = HighSpeed::new(&controller().defaults());
        for window in [2.0, 20.0, 38.0] {
            let response = law.response();
            assert_eq!((response.increase(window), response.decrease(window)), (1.0, 0.5));
        }
    }
}
