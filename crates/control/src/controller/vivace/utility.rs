//! What a rate was worth, and whether a faster one is worth more.

use longfat_units::math::pow;
use longfat_units::parameter::Settings;

use super::interval::Interval;

/// Up to this share lost of two intervals together, it counts in both.
const SHARED: f64 = 0.01;
/// Up to this share losses cost no more than what they take.
const CHEAP: f64 = 0.03;
/// From this share on it matters that less is lost of more.
const MUCH: f64 = 0.05;
/// By more than so many segments.
const MORE: f64 = 2.0;

/// u(x), of rates in Mbit/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Utility {
    /// t
    exponent: f64,
    /// b
    latency: f64,
    /// c
    loss: f64,
    least_gradient: f64,
    /// Are losses seen as the authors' program sees them?
    tolerant: bool,
    /// Mbit/s of a segment per second.
    megabits: f64,
}

/// What two intervals say together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparison {
    /// γ: how much a Mbit/s more is worth.
    pub(super) gradient: f64,
    /// Was less lost of more, so that something else is likely to have changed?
    pub(super) odd: bool,
}

impl Utility {
    pub(super) fn new(settings: &Settings, megabits: f64) -> Self {
        Self {
            exponent: settings.number("exponent"),
            latency: settings.number("latency_coefficient"),
            loss: settings.number("loss_coefficient"),
            least_gradient: settings.number("least_gradient"),
            tolerant: settings.flag("tolerant"),
            megabits,
        }
    }

    /// Of an interval.
    pub(super) fn of(&self, interval: &Interval) -> f64 {
        self.with(interval, interval.share_congested())
    }

    /// Of an interval, had it lost this share, or had marks on it.
    fn with(&self, interval: &Interval, lost: f64) -> f64 {
        self.at(interval.rate * self.megabits, interval.gradient(), lost)
    }

    /// Of sending `rate` Mbit/s where round trips grow by `gradient` seconds per second and a share `lost` is lost.
    fn at(&self, rate: f64, gradient: f64, lost: f64) -> f64 {
        // Round trips that shrink bring nothing.
        let gradient = if gradient < self.least_gradient { 0.0 } else { gradient.max(0.0) };
        let cost = if self.tolerant && lost <= CHEAP { self.loss.min(1.0) } else { self.loss };
        pow(rate, self.exponent) - self.latency * rate * gradient - cost * rate * lost
    }

    /// Of two intervals at different rates.
    pub(super) fn compare(&self, one: &Interval, other: &Interval) -> Comparison {
        let (slow, fast) = if one.rate < other.rate { (one, other) } else { (other, one) };
        let mut shares = [slow, fast].map(Interval::share_congested);
        let [less, more] = [slow, fast].map(Interval::congested);
        let together = (less + more) / (slow.known() + fast.known()).max(1.0);
        let odd = if self.tolerant {
            together >= MUCH && more > 0.0 && less > more + MORE
        } else {
            shares[1] < shares[0]
        };
        if self.tolerant && together <= SHARED {
            shares = [together; 2];
        }
        let gain = self.with(fast, shares[1]) - self.with(slow, shares[0]);
        let faster = (fast.rate - slow.rate) * self.megabits;
        Comparison { gradient: gain / faster, odd }
    }
}

#[cfg(test)]
mod tests {
    use longfat_units::parameter::Setting;

    use super::*;

    fn utility(tolerant: bool) -> Utility {
        let mut settings = super::super::controller().defaults();
        settings.set("tolerant", Setting::Flag(tolerant));
        Utility::new(&settings, 0.012)
    }

    /// At so many Mbit/s, of a thousand segments so many lost.
    fn interval(rate: f64, lost: u64) -> Interval {
        Interval::known_to_have_lost(lost, rate / 0.012)
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-4, "{found} instead of {expected}");
    }

    /// 100^0.9 = 63.0957; with a twentieth lost 11.35 · 5 = 56.75 less; with round trips that grow by a fiftieth 1800 less. Below a
    /// hundredth they do not grow, and that they shrink brings nothing.
    #[test]
    fn the_utility_is_that_of_the_paper() {
        for tolerant in [false, true] {
            let of = |gradient, lost| utility(tolerant).at(100.0, gradient, lost);
            assert_near(of(0.0, 0.0), 63.095_73);
            assert_near(of(0.0, 0.05), 6.345_73);
            assert_near(of(0.02, 0.0), -1_736.904_27);
            assert_eq!(of(-0.02, 0.0), of(0.0, 0.0));
            assert_eq!(of(0.009_9, 0.0), of(0.0, 0.0));
            assert_near(of(0.01, 0.0), 63.095_73 - 900.0);
        }
        assert_near(utility(false).of(&interval(100.0, 50)), 6.345_73);
    }

    /// t x^(t-1) = c L: with 6 % lost at (0.9/(11.35 · 0.06))^10 = 16.254 Mbit/s, with 7 % at 3.479, with 5 % at 100.6.
    #[test]
    fn utility_is_largest_where_losses_cost_what_the_rate_brings() {
        for (lost, best) in [(0.06, 16.254), (0.07, 3.479), (0.05, 100.64)] {
            let of = |rate: f64| utility(true).at(rate, 0.0, lost);
            assert!(of(best) > of(0.99 * best) && of(best) > of(1.01 * best), "{lost}");
        }
    }

    /// 3 % of 100 Mbit/s cost 3 in the authors' program and 34.05 by the text; 3.1 % cost 35.185 in both.
    #[test]
    fn few_losses_cost_little_in_the_program() {
        let costs = |tolerant, lost| {
            utility(tolerant).at(100.0, 0.0, 0.0) - utility(tolerant).at(100.0, 0.0, lost)
        };
        assert_near(costs(true, 0.03), 3.0);
        assert_near(costs(false, 0.03), 34.05);
        assert_near(costs(true, 0.031), 35.185);
        assert_near(costs(false, 0.031), 35.185);
    }

    /// (105^0.9 - 95^0.9)/10 = 0.56789. Ten segments lost of 2000 are half a percent of both rates in the program, 0.005 less;
    /// by the text, where the faster one loses them, 11.35 · 105/100 = 11.9175 over ten.
    #[test]
    fn few_losses_count_in_both_rates_in_the_program() {
        let compared =
            |tolerant: bool| utility(tolerant).compare(&interval(105.0, 10), &interval(95.0, 0));
        assert_near(compared(true).gradient, 0.567_89 - 0.005);
        assert_near(compared(false).gradient, 0.567_89 - 1.191_75);
        // 21 of 2000 are more than a hundredth: cheap, but 2.205 over ten.
        let more = utility(true).compare(&interval(95.0, 0), &interval(105.0, 21));
        assert_near(more.gradient, 0.567_89 - 0.220_5);
    }

    /// By the text it is odd where less is lost of more at all; in the program by more than two segments, of a twentieth of all,
    /// and where the faster rate lost something.
    #[test]
    fn it_is_odd_that_less_is_lost_of_more() {
        let odd = |tolerant: bool, slow, fast| {
            let [slow, fast] = [interval(95.0, slow), interval(105.0, fast)];
            let pair = utility(tolerant).compare(&slow, &fast);
            assert_eq!(pair, utility(tolerant).compare(&fast, &slow), "whichever came first");
            pair.odd
        };
        assert_eq!(
            [(5, 5), (6, 5), (5, 6)].map(|(slow, fast)| odd(false, slow, fast)),
            [false, true, false]
        );
        let program = [(52, 49), (51, 49), (51, 48), (49, 52), (100, 0), (99, 1), (10, 5)];
        let expected = [true, false, false, false, false, true, false];
        assert_eq!(program.map(|(slow, fast)| odd(true, slow, fast)), expected);
    }
}
