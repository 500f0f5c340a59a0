//! A controller and a queue that have every kind of parameter, so that no test waits for a real one.

use longfat_control::{Cause, Controller, Needs, Operating, Start, WindowLaw, Windowed};
use longfat_queue::{Built, Discipline};
use longfat_units::parameter::{Given, Kind, Parameter};

use crate::scenario::choice::Catalogue;

/// Reno and drop tail, and one of each that has parameters.
pub(super) fn catalogue() -> Catalogue {
    static CONTROLLERS: &[&Controller] =
        &[&NEEDY, &TUNABLE, &longfat_control::controller::reno::CONTROLLER, &UNLAWFUL];
    static DISCIPLINES: &[&Discipline] =
        &[&longfat_queue::discipline::drop_tail::DISCIPLINE, &SHARES, &THRESHOLDS];
    Catalogue { controllers: CONTROLLERS, disciplines: DISCIPLINES }
}

const fn parameter(name: &'static str, kind: Kind, default: Given) -> Parameter {
    Parameter { name, kind, default, about: "a parameter of a test" }
}

static TUNABLE: Controller = Controller {
    name: "tunable",
    title: "a controller with every kind of parameter",
    source: "this test",
    parameters: &[
        Parameter::number("gamma", 0.05, 0.0, 1.0, "a share"),
        Parameter::number("beta", 0.125, f64::MIN_POSITIVE, 0.5, "a share above zero"),
        Parameter::count("ticks", 4, 1, 1000, "a count"),
        parameter("c", Kind::Frequency { min: 0.001, max: 1e6 }, Given::Number(10.0)),
        parameter("pause", Kind::Span, Given::Text("10 ms")),
        Parameter::flag("per_mark", false, "a flag"),
        parameter(
            "delta",
            Kind::NumberOr { min: 0.0, max: 100.0, words: &["window", "rate"] },
            Given::Text("window"),
        ),
        parameter("on", Kind::Law, Given::Text("reno")),
    ],
    build: |_, start| build(start),
    law: Some(|_| law()),
};

static NEEDY: Controller = Controller {
    name: "needy",
    title: "a controller that needs marks, a link of its own, and to pace itself",
    source: "this test",
    parameters: &[],
    build: |_, start| Windowed::boxed(Needy, start),
    law: Some(|_| Box::new(Needy)),
};

#[derive(Debug)]
struct Needy;

impl WindowLaw for Needy {
    fn gain(&self, _: &Operating) -> f64 {
        1.0
    }

    fn give_up(&self, _: &Operating, _: Cause) -> f64 {
        0.5
    }

    fn needs(&self) -> Needs {
        Needs { ecn: true, access: true, pacing: true, ..Needs::NONE }
    }
}

static UNLAWFUL: Controller = Controller {
    name: "unlawful",
    title: "a controller without a window law, and a parameter without a default",
    source: "this test",
    parameters: &[parameter("rate", Kind::Number { min: 0.0, max: f64::MAX }, Given::Nothing)],
    build: |_, start| build(start),
    law: None,
};

static THRESHOLDS: Discipline = Discipline {
    name: "thresholds",
    title: "a queue with lengths, a mode, and a check",
    source: "this test",
    parameters: &[
        Parameter::length("min", "0.1 bdp", "where it begins"),
        Parameter::length("max", "0.3 bdp", "where it ends"),
        Parameter::word("mode", "packets", &["packets", "bytes"], "what it counts"),
    ],
    check: |settings, _| {
        if settings.number("min") <= settings.number("max") {
            return Ok(());
        }
        Err(("min", "`min` must not be above `max`".into()))
    },
    build: |_, _| Built::Fifo(None),
};

static SHARES: Discipline = Discipline {
    name: "shares",
    title: "a queue with a length that is a share of the buffer",
    source: "this test",
    parameters: &[Parameter::length("at", "0.5 buffer", "where it begins")],
    check: |_, _| Ok(()),
    build: |_, _| Built::Fifo(None),
};

fn build(start: &Start) -> Box<dyn longfat_control::CongestionControl> {
    Windowed::boxed(longfat_control::controller::reno::Reno, start)
}

fn law() -> Box<dyn WindowLaw> {
    Box::new(longfat_control::controller::reno::Reno)
}
