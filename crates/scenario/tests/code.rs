//! Scenarios that name code, and those who may.

use std::sync::Arc;

use longfat_control::Controller;
use longfat_control::controller::reno::Reno;
use longfat_queue::{Built, Discipline};
use longfat_units::{Form, Origin};

use longfat_scenario::{Catalogue, Code, Scenario, ScenarioError};

/// Fetches controllers called like the name after the colon, with a digest that was given.
#[derive(Debug)]
struct Shelf(&'static str);

impl Code for Shelf {
    fn controller(&self, form: Form, place: &str) -> Result<Controller, String> {
        let (file, name) = place.split_once(':').ok_or("there is no name")?;
        let origin = Origin::new(self.0).named(form, format!("/found/{file}:{name}"));
        let gain = longfat_units::parameter::Parameter::number("a", 1.0, 0.0, 9.0, "a gain");
        Ok(Controller::of_law(name.to_owned(), |_| Reno).parameters([gain]).origin(origin))
    }

    fn discipline(&self, form: Form, place: &str) -> Result<Discipline, String> {
        let origin = Origin::new(self.0).named(form, place);
        Ok(Discipline::new("shelved", |_, _| Built::Fifo(None)).origin(origin))
    }
}

fn allowed(digest: &'static str) -> Catalogue {
    let mut catalogue = Catalogue::built_in();
    catalogue.allow_code(Arc::new(Shelf(digest)));
    catalogue
}

fn text(control: &str, queue: &str) -> String {
    format!(
        "duration = \"1 s\"\n\n[link.middle]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nqueue = {queue}\n\n\
         [[flow]]\nname = \"one\"\npath = [\"middle\"]\nrtt = \"20 ms\"\ncontrol = {control}\n"
    )
}

fn read(catalogue: &Catalogue, text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::read_with(catalogue, text, "here.toml", &[], None)
}

fn refused(catalogue: &Catalogue, text: &str) -> String {
    read(catalogue, text).expect_err("it must be refused").to_string()
}

const GENTLE: &str = "{ python = \"rules.py:gentle\", a = 2 }";

#[test]
fn code_is_fetched_only_where_it_is_allowed() {
    let text = text(GENTLE, "{ library = \"libq.so\" }");
    let told = refused(&Catalogue::built_in(), &text);
    for part in ["would run code", "python `rules.py:gentle`", "library `libq.so`", "--allow-code"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let scenario = read(&allowed("abc"), &text).expect("it is allowed");
    assert_eq!(scenario.flows[0].control.kind(), "gentle");
    assert_eq!(scenario.flows[0].control.settings.number("a"), 2.0);
    assert_eq!(scenario.links[0].forward.queue.kind(), "shelved");
}

#[test]
fn a_resolved_scenario_knows_its_code_and_refuses_another() {
    let scenario = read(&allowed("abc"), &text(GENTLE, "\"drop-tail\"")).expect("it is allowed");
    let resolved = scenario.to_toml();
    assert!(resolved.contains("python = \"/found/rules.py:gentle\", code = \"abc\""), "{resolved}");
    // What is found in a resolved scenario is found there again.
    let again = resolved.replace("/found/rules.py", "rules.py");
    assert_eq!(read(&allowed("abc"), &again).expect("the same code"), scenario);
    let told = refused(&allowed("abd"), &again);
    assert!(told.contains("the code of `gentle` is now another one: its digest is abd"), "{told}");
    assert!(told.contains("leave `code` out"), "{told}");
    let other = read(&allowed("abd"), &text(GENTLE, "\"drop-tail\"")).expect("no digest is given");
    assert!(other != scenario, "other code makes another scenario");
}

#[test]
fn what_was_handed_over_is_chosen_by_name_and_has_its_digest() {
    let mut catalogue = Catalogue::built_in();
    let own = Controller::of_law("own", |_| Reno).origin(Origin::new("xyz"));
    catalogue.add_controller(own).expect("a name of its own");
    let scenario = read(&catalogue, &text("\"own\"", "\"drop-tail\"")).expect("it is there");
    let resolved = scenario.to_toml();
    assert!(resolved.contains("kind = \"own\", code = \"xyz\""), "{resolved}");
    assert_eq!(read(&catalogue, &resolved).expect("it reads back"), scenario);
    // Where a controller of longfat builds on it, that one depends on the same code.
    let on = text("{ kind = \"anti-ecn\", on = \"own\" }", "\"drop-tail\"");
    let on = read(&catalogue, &on).expect("it is a law").to_toml();
    assert!(on.contains("kind = \"anti-ecn\", code = \"xyz\""), "{on}");
    assert_eq!(read(&catalogue, &on).expect("it reads back").to_toml(), on);
}

#[test]
fn a_choice_of_code_is_written_one_way() {
    let catalogue = allowed("abc");
    for (control, part) in [
        ("{ python = \"rules.py:gentle\", kind = \"reno\" }", "so does another key"),
        ("{ python = \"rules.py:gentle\", library = \"l.so\" }", "so does another key"),
        ("{ python = 3 }", "`python` must be a module and a name in it"),
        ("{ library = true }", "`library` must be the path of a shared library"),
        (
            "{ python = \"rules.py\" }",
            "no controller comes from python `rules.py`: there is no name",
        ),
        ("{ python = \"rules.py:gentle\", b = 2 }", "has no parameter `b`"),
        ("{ python = \"rules.py:gentle\", a = 10 }", "`a` must be a number from 0 to 9"),
        ("{ python = \"rules.py:reno\" }", "there is already a controller called `reno`"),
        ("{ python = \"rules.py:not a name\" }", "cannot be chosen in a scenario"),
        ("{ python = \"rules.py:gentle\", code = 3 }", "`code` must be the digest of code"),
        ("{ kind = \"reno\", code = \"abc\" }", "`reno` is part of longfat"),
    ] {
        let told = refused(&catalogue, &text(control, "\"drop-tail\""));
        assert!(told.contains(part), "{control}: {told}");
    }
}

#[test]
fn no_parameter_takes_the_keys_of_code() {
    for key in ["kind", "python", "library", "code"] {
        let parameter = longfat_units::parameter::Parameter::number(key, 1.0, 0.0, 2.0, "");
        let own = Controller::of_law("own", |_| Reno).parameters([parameter]);
        let error = Catalogue::built_in().add_controller(own).expect_err("it is reserved");
        assert!(error.to_string().contains("no parameter can be called that"), "{error}");
    }
}
