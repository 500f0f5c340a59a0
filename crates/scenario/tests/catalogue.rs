//! A controller and a queue with every kind of parameter, so that no test depends on a real one; and what a catalogue
//! accepts.

use longfat_control::controller::reno::{self, Reno};
use longfat_control::controller::{dctcp, prague, vegas};
use longfat_control::{Cause, Controller, Needs, Operating, WindowLaw, Windowed};
use longfat_queue::discipline::drop_tail;
use longfat_queue::{Built, Discipline};
use longfat_units::parameter::Parameter;

use longfat_scenario::{Catalogue, CatalogueError};

/// Reno and drop tail, and one of each kind that has parameters.
pub(super) fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::empty();
    let listed =
        [reno::controller(), dctcp::controller(), prague::controller(), vegas::controller()];
    let ours = [needy(), tunable(), unlawful(), asking()];
    for controller in listed.into_iter().chain(ours) {
        catalogue.add_controller(controller).expect("it has a name of its own");
    }
    for discipline in [drop_tail::discipline(), shares(), thresholds()] {
        catalogue.add_discipline(discipline).expect("it has a name of its own");
    }
    catalogue
}

fn tunable() -> Controller {
    Controller::of_law("tunable", |_| Reno)
        .title("a controller with every kind of parameter")
        .source("this test")
        .parameters([
            Parameter::number("gamma", 0.05, 0.0, 1.0, "a share"),
            Parameter::number("beta", 0.125, f64::MIN_POSITIVE, 0.5, "a share above zero"),
            Parameter::count("ticks", 4, 1, 1000, "a count"),
            Parameter::frequency("c", 10.0, 0.001, 1e6, "a number per second"),
            Parameter::span("pause", "10 ms", "a time"),
            Parameter::flag("per_mark", false, "a flag"),
            Parameter::number_or(
                "delta",
                "window",
                (0.0, 100.0),
                ["window", "rate"],
                "a number or a word",
            ),
            Parameter::law("on", reno::controller(), "a law"),
        ])
}

fn needy() -> Controller {
    Controller::of_law("needy", |_| Needy)
        .title("a controller that needs marks, a link of its own, and to pace itself")
        .source("this test")
}

#[derive(Clone, Debug)]
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

fn unlawful() -> Controller {
    Controller::new("unlawful", |_, start| Windowed::boxed(Reno, start))
        .title("a controller without a window law, and a parameter without a default")
        .source("this test")
        .parameters([Parameter::number("rate", 0.0, 0.0, f64::MAX, "a number").required()])
}

fn asking() -> Controller {
    Controller::of_law("asking", |settings| {
        assert!(settings.get("rate").is_some(), "no scenario leaves it out");
        Reno
    })
    .title("a window law with a parameter without a default")
    .source("this test")
    .parameters([Parameter::number("rate", 0.0, 0.0, f64::MAX, "a number").required()])
}

fn thresholds() -> Discipline {
    fifo("thresholds")
        .title("a queue with lengths, a mode, and a check")
        .source("this test")
        .parameters([
            Parameter::length("min", "0.1 bdp", "where it begins"),
            Parameter::length("max", "0.3 bdp", "where it ends"),
            Parameter::word("mode", "packets", ["packets", "bytes"], "what it counts"),
        ])
        .check(|settings, _| {
            if settings.number("min") <= settings.number("max") {
                return Ok(());
            }
            Err(("min".into(), "`min` must not be above `max`".into()))
        })
}

fn shares() -> Discipline {
    fifo("shares")
        .title("a queue with a length that is a share of the buffer")
        .source("this test")
        .parameters([Parameter::length("at", "0.5 buffer", "where it begins")])
}

fn fifo(name: &'static str) -> Discipline {
    Discipline::new(name, |_, _| Built::Fifo(None))
}

#[test]
fn a_name_stands_for_one_entry() {
    let mut catalogue = Catalogue::built_in();
    let error = catalogue.add_controller(Controller::of_law("reno", |_| Reno));
    assert_eq!(error, Err(CatalogueError::Taken { what: "controller", name: "reno".into() }));
    let error = catalogue.add_discipline(fifo("red")).expect_err("there is RED already");
    assert_eq!(
        error.to_string(),
        "there is already a queue called `red`: give the new one another name"
    );
    assert_eq!(catalogue, Catalogue::built_in());
    // A queue may have the same name as a controller.
    assert_eq!(catalogue.add_discipline(fifo("reno")), Ok(()));
    assert!(catalogue.discipline("reno").is_some() && catalogue.discipline("rno").is_none());
}

#[test]
fn what_no_scenario_could_choose_is_refused() {
    let number = |name: &'static str| Parameter::number(name, 0.5, 0.0, 1.0, "a share");
    for (name, parameters, reason) in [
        ("my law", vec![], "`my law` cannot be the name of a controller"),
        ("", vec![], "`` cannot be the name of a controller"),
        ("mine", vec![number("a"), number("a")], "it has two parameters called `a`"),
        (
            "mine",
            vec![number("kind")],
            "`kind` says which controller it is, so no parameter can be called that",
        ),
        ("mine", vec![number("a b")], "`a b` cannot be the name of a parameter"),
        (
            "mine",
            vec![Parameter::number("a", 2.0, 0.0, 1.0, "a share")],
            "`a` must be a number from 0 to 1, but it is the number 2",
        ),
        ("mine", vec![Parameter::span("t", "soon", "a time")], "`soon`"),
        ("mine", vec![Parameter::word("w", "three", ["one", "two"], "a word")], "\"one\" or"),
        ("mine", vec![Parameter::frequency("f", 0.0, 1.0, 2.0, "a rate")], "from 1 to 2"),
    ] {
        let controller = Controller::of_law(name, |_| Reno).parameters(parameters);
        let error = Catalogue::empty().add_controller(controller).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
        assert!(error.contains(&format!("the controller `{name}` cannot be chosen")), "{error}");
    }
}
