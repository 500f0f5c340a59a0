//! What a decision sets: a window or a rate.

use longfat_units::math::pow;
use longfat_units::{Segments, Span};
use thiserror::Error;

use crate::{Pacing, bounds};

/// What a decision sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lever {
    /// The window, in segments.
    Window,
    /// The rate, in Mbit/s. The window is then twice what that rate has in flight in a smoothed round trip, so that a flow
    /// to which nothing comes back any more stops.
    Rate,
}

/// How an action is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// From -1 to 1: times 2 to the power of the action times so many octaves.
    Multiplicative {
        /// By how many powers of two a single decision can change it.
        octaves: f64,
    },
    /// The new value itself.
    Absolute,
}

/// How actions become windows or rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steering {
    lever: Lever,
    scale: Scale,
    least: f64,
    most: f64,
}

/// Why actions cannot be read like this.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SteeringError {
    /// The octaves.
    #[error(
        "a decision changes it by {0} octaves: between 0 and 10 are needed, such as 1, which doubles or halves it"
    )]
    Octaves(f64),
    /// The bounds.
    #[error(
        "its bounds are {least} and {most} {unit}: from {floor} up, the lower one first, to at most {CEILING:e}"
    )]
    Bounds {
        /// The lower one.
        least: f64,
        /// The upper one.
        most: f64,
        /// What the lower one is not below.
        floor: f64,
        /// What it counts.
        unit: &'static str,
    },
}

/// No window has more segments, no rate more Mbit/s.
const CEILING: f64 = 1e9;

impl Lever {
    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Rate => "rate",
        }
    }

    /// What it counts.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Window => "segments",
            Self::Rate => "Mbit/s",
        }
    }

    /// The least that can be set: a segment; a kbit/s.
    pub const fn floor(self) -> f64 {
        match self {
            Self::Window => 1.0,
            Self::Rate => 1e-3,
        }
    }
}

impl Steering {
    /// Actions that set `lever`, read on this scale; the result stays within these bounds.
    ///
    /// # Errors
    /// If the octaves or the bounds make no sense.
    pub fn new(
        lever: Lever,
        scale: Scale,
        (least, most): (f64, f64),
    ) -> Result<Self, SteeringError> {
        if let Scale::Multiplicative { octaves } = scale
            && !(octaves > 0.0 && octaves <= 10.0)
        {
            return Err(SteeringError::Octaves(octaves));
        }
        let floor = lever.floor();
        if least >= floor && least < most && most <= CEILING {
            Ok(Self { lever, scale, least, most })
        } else {
            Err(SteeringError::Bounds { least, most, floor, unit: lever.unit() })
        }
    }

    /// What it sets.
    pub fn lever(&self) -> Lever {
        self.lever
    }

    /// How actions are read.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Between which values the result stays.
    pub fn bounds(&self) -> (f64, f64) {
        (self.least, self.most)
    }

    /// Which actions there are.
    pub fn actions(&self) -> (f64, f64) {
        match self.scale {
            Scale::Multiplicative { .. } => (-1.0, 1.0),
            Scale::Absolute => (self.least, self.most),
        }
    }

    /// What an action makes of a value. An action outside its bounds counts as the nearest one.
    fn turned(&self, value: f64, action: f64) -> f64 {
        let (low, high) = self.actions();
        let action = if action.is_nan() { value.clamp(low, high) } else { action.clamp(low, high) };
        let turned = match self.scale {
            Scale::Multiplicative { octaves } => value * pow(2.0, octaves * action),
            Scale::Absolute => action,
        };
        turned.clamp(self.least, self.most)
    }
}

/// The window of a flow that is steered, and its rate.
#[derive(Clone, Copy, Debug)]
pub struct Controls {
    steering: Steering,
    window: f64,
    /// Segments per second.
    rate: Option<f64>,
    segment_bits: f64,
}

/// With a rate, the window is so many times what it has in flight in a round trip.
const ROOM: f64 = 2.0;
/// Mbit/s in bit/s.
const MEGA: f64 = 1e6;

impl Controls {
    /// A flow that begins with this window; the rate follows at the first decision.
    pub fn new(steering: Steering, window: Segments, segment_bits: f64) -> Self {
        Self { steering, window: bounds::first_window(window), rate: None, segment_bits }
    }

    /// A decision, with the smoothed round trip.
    pub fn turn(&mut self, action: f64, rtt: Span) {
        match self.steering.lever {
            Lever::Window => self.window = self.steering.turned(self.window, action),
            Lever::Rate => {
                let rtt = rtt.seconds().max(1e-9);
                let before = self.rate.unwrap_or(self.window / rtt);
                let turned = self.steering.turned(before * self.segment_bits / MEGA, action);
                let rate = turned * MEGA / self.segment_bits;
                self.rate = Some(rate);
                self.window = (ROOM * rate * rtt).clamp(ROOM, bounds::CEILING);
            }
        }
    }

    /// The window.
    pub fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// The rate in segments per second, if it has been set.
    pub fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// How fast it may be sent.
    pub fn pacing(&self) -> Pacing {
        self.rate.map_or(Pacing::Unpaced, Pacing::Rate)
    }

    /// The bits of a segment.
    pub fn segment_bits(&self) -> f64 {
        self.segment_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);

    fn controls(lever: Lever, scale: Scale, bounds: (f64, f64)) -> Controls {
        let steering = Steering::new(lever, scale, bounds).expect("good settings");
        Controls::new(steering, Segments(10.0), 12_000.0)
    }

    #[test]
    fn a_window_doubles_halves_and_keeps_its_bounds() {
        let scale = Scale::Multiplicative { octaves: 1.0 };
        let mut window = controls(Lever::Window, scale, (2.0, 30.0));
        for (action, expected) in [(1.0, 20.0), (0.0, 20.0), (7.0, 30.0), (-1.0, 15.0), (-1.0, 7.5)]
        {
            window.turn(action, RTT);
            assert_eq!((window.window().0, window.rate()), (expected, None), "after {action}");
        }
        let mut window = controls(Lever::Window, Scale::Absolute, (2.0, 1000.0));
        for (action, expected) in [(123.5, 123.5), (0.0, 2.0), (1e9, 1000.0)] {
            window.turn(action, RTT);
            assert_eq!(window.window().0, expected);
        }
    }

    #[test]
    fn a_rate_starts_at_a_window_per_round_trip() {
        // 10 segments of 1500 B in 100 ms are 1.2 Mbit/s.
        let mut rate = controls(Lever::Rate, Scale::Multiplicative { octaves: 2.0 }, (0.1, 100.0));
        assert_eq!(rate.pacing(), Pacing::Unpaced);
        rate.turn(0.5, RTT);
        assert_eq!(rate.rate(), Some(200.0));
        assert_eq!(rate.window().0, 40.0);
        rate.turn(-1.0, RTT);
        assert_eq!(rate.pacing(), Pacing::Rate(50.0));
        let mut rate = controls(Lever::Rate, Scale::Absolute, (0.1, 100.0));
        rate.turn(12.0, RTT);
        assert_eq!(rate.rate(), Some(1000.0));
    }

    #[test]
    fn settings_without_sense_are_refused() {
        let ratio = |octaves| Scale::Multiplicative { octaves };
        for octaves in [0.0, -1.0, 11.0, f64::NAN] {
            let refused = Steering::new(Lever::Window, ratio(octaves), (1.0, 10.0));
            assert!(matches!(refused, Err(SteeringError::Octaves(_))), "{octaves}");
        }
        for bounds in [(0.5, 10.0), (10.0, 10.0), (f64::NAN, 10.0), (1.0, f64::INFINITY)] {
            let refused = Steering::new(Lever::Window, ratio(1.0), bounds);
            assert!(matches!(refused, Err(SteeringError::Bounds { .. })), "{bounds:?}");
        }
    }
}
