//! Small networks for the tests.

use longfat_control::{CONTROLLERS, Cause, Operating, Reaction, SlowStart, WindowLaw};
use longfat_fluid::{FluidFlow, FluidLink, FluidNetwork, Price, Reading, Solve, Trajectory, solve};
use longfat_units::parameter::Setting;
use longfat_units::{Bytes, Rate, Segments, Span};

/// The paper's virtual queue: the whole capacity is to be used, and half a capacity is adapted per second.
pub(crate) const AVQ: Price = Price::Avq { utilisation: 1.0, adaptation: 0.5, marks: true };

pub(crate) const PACKET: u64 = 1500;

/// A law of the registry.
pub(crate) fn law(name: &str, changes: &[(&'static str, f64)]) -> Box<dyn WindowLaw> {
    let controller =
        CONTROLLERS.iter().find(|entry| entry.name == name).expect("a listed controller");
    let mut settings = controller.defaults();
    for (key, value) in changes {
        settings.set(*key, Setting::Number(*value));
    }
    (controller.law.as_ref().expect("a window law"))(&settings)
}

/// A law of two formulas.
#[derive(Clone, Debug)]
pub(crate) struct Formulas {
    pub(crate) gain: fn(&Operating) -> f64,
    pub(crate) give_up: fn(Cause) -> f64,
    pub(crate) reaction: Reaction,
}

impl WindowLaw for Formulas {
    fn gain(&self, at: &Operating) -> f64 {
        (self.gain)(at)
    }

    fn give_up(&self, _: &Operating, cause: Cause) -> f64 {
        (self.give_up)(cause)
    }

    fn reaction(&self) -> Reaction {
        self.reaction
    }
}

/// A law that answers once per window of data.
pub(crate) fn formulas(
    gain: fn(&Operating) -> f64,
    give_up: fn(Cause) -> f64,
) -> Box<dyn WindowLaw> {
    Box::new(Formulas { gain, give_up, reaction: Reaction::PerWindow })
}

/// A link of this many packets per second.
pub(crate) fn link(packets: f64, price: Price) -> FluidLink {
    FluidLink {
        name: "link".into(),
        rate: Rate((packets * PACKET as f64 * 8.0) as u64),
        delay: Span::ZERO,
        loss: 0.0,
        buffer: Some(Span::ZERO),
        price,
        spare: None,
    }
}

/// A flow over link 0 that begins in congestion avoidance with one segment.
pub(crate) fn flow(law: Box<dyn WindowLaw>, rtt: Span) -> FluidFlow {
    FluidFlow {
        name: "flow".into(),
        law,
        route: vec![0],
        rtt,
        packet: Bytes(PACKET),
        ecn: true,
        start: Span::ZERO,
        stop: None,
        initial_window: Segments(1.0),
        initial_threshold: Some(Segments(1.0)),
        slow_start: SlowStart::Standard,
        max_window: None,
        pacing: None,
    }
}

/// One link and the flows over it.
pub(crate) fn single(link: FluidLink, flows: Vec<FluidFlow>, seconds: f64) -> FluidNetwork {
    FluidNetwork {
        links: vec![link],
        flows,
        loads: Vec::new(),
        warmup: Span::ZERO,
        duration: Span::from_seconds_f64(seconds),
        seed: 1,
    }
}

/// Rates, sampled every second, with delays times `delay`.
pub(crate) fn mean_field(network: &FluidNetwork, delay: f64) -> Trajectory {
    let how = Solve { reading: Reading::MeanField, delay, sample: Span::from_seconds(1) };
    solve(network, &how).expect("it can be solved")
}

/// Jumping windows, sampled every second, with delays times `delay`.
pub(crate) fn hybrid(network: &FluidNetwork, delay: f64) -> Trajectory {
    let how = Solve { reading: Reading::Hybrid, delay, sample: Span::from_seconds(1) };
    solve(network, &how).expect("it can be solved")
}

/// Fails unless `measured` lies within `part` of `expected`.
#[track_caller]
pub(crate) fn assert_near(measured: f64, expected: f64, part: f64, what: &str) {
    let error = measured / expected - 1.0;
    assert!(error.abs() <= part, "{what}: {measured} is {:.3} % off {expected}", 100.0 * error);
}
