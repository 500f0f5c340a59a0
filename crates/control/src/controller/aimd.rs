//! AIMD(a, b): additive increase, multiplicative decrease, with any two constants.
//!
//! S. Floyd, M. Handley, J. Padhye, "A Comparison of Equation-Based and AIMD Congestion Control", 2000.
//!
//! Reno's law with its two numbers set free:
//!
//! ```text
//!     each acknowledged segment    w ← w + a/w      so a segments per round trip
//!     each congestion event        w ← w - b·w
//! ```
//!
//! A small b makes a smooth window. To take no more than Reno, a must then be small too: with losses evenly
//! spaced the mean window is √(a(2 - b)/(2b))/√p, which is Reno's √(3/2)/√p when a = 3b/(2 - b): TCP-friendly
//! AIMD (held by `it_takes_as_much_as_reno`). That is the a of `"auto"`. Time-outs are left out of the formula;
//! where they are frequent, Yang and Lam (2000) ask for a = 4(2b - b²)/3 instead.
//!
//! | parameter | default | source                                                        |
//! |-----------|---------|---------------------------------------------------------------|
//! | `a`       | auto    | Floyd, Handley & Padhye: 3b/(2 - b), 3/7 for the default b    |
//! | `b`       | 0.25    | free; a smaller b is smoother, and slower to make room        |
//!
//! Domain: windows of two segments and more. Needs nothing beyond acknowledgments. Deviation: a segment never
//! adds more than one, the pace of slow start; only an a above the window would ask for it.

use longfat_units::parameter::{Parameter, Settings};

use crate::{Breakpoint, Cause, Controller, Operating, WindowLaw};

/// AIMD's entry in the catalogue.
pub fn controller() -> Controller {
    Controller::of_law("aimd", Aimd::new)
        .title("AIMD: a segments per round trip, the share b of the window per loss")
        .source("Floyd, Handley & Padhye 2000")
        .parameters([
            Parameter::number_or(
                "a",
                "auto",
                (0.0, 1000.0),
                ["auto"],
                "segments added per round trip; auto: 3b/(2 - b), friendly to Reno",
            ),
            Parameter::number("b", 0.25, 0.0, 1.0, "share of the window given up per loss"),
        ])
}

/// The law of AIMD.
#[derive(Clone, Copy, Debug)]
pub struct Aimd {
    a: f64,
    b: f64,
}

impl Aimd {
    fn new(settings: &Settings) -> Self {
        let b = settings.number("b");
        Self { a: settings.number_or_word("a").unwrap_or(3.0 * b / (2.0 - b)), b }
    }
}

impl WindowLaw for Aimd {
    #[inline]
    fn gain(&self, at: &Operating) -> f64 {
        (self.a / at.window.0).min(1.0)
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        self.b
    }

    fn breakpoints(&self) -> Vec<Breakpoint> {
        vec![Breakpoint::Window(self.a)]
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::parameter::Setting;
    use longfat_units::{Segments, Span};

    use super::*;
    use crate::Phase;

    /// RFC 9438, section 4.3, has 122.5 segments for Reno when every ten-thousandth segment is lost.
    #[test]
    fn it_takes_as_much_as_reno() {
        for b in [0.125, 0.25, 0.5] {
            let mut settings = controller().defaults();
            settings.set("b", Setting::Number(b));
            let law = Aimd::new(&settings);
            let rtt = Span::from_millis(100);
            let mut at = Operating {
                window: Segments(100.0),
                epoch_window: None,
                rtt,
                base_rtt: rtt,
                since_event: None,
                phase: Phase::CongestionAvoidance,
                spare: 0.0,
            };
            let (segments, spacing) = (2_000_000, 10_000);
            let mut round_trips = 0.0;
            for segment in 1..=segments {
                round_trips += 1.0 / at.window.0;
                at.window.0 += law.gain(&at);
                if segment % spacing == 0 {
                    at.window.0 *= 1.0 - law.give_up(&at, Cause::Loss);
                }
            }
            let mean = f64::from(segments) / round_trips;
            assert!((mean / 122.5 - 1.0).abs() < 0.01, "b = {b}: mean window {mean}");
        }
    }
}
