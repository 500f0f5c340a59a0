//! A controller as a text of its own.

use longfat_control::Controller;
use longfat_scenario::{Catalogue, Choice, ScenarioError};
use longfat_units::parameter::Setting;

fn read(text: &str) -> Result<Choice<Controller>, ScenarioError> {
    Choice::read(&Catalogue::built_in(), text)
}

#[test]
fn a_controller_is_read_as_in_a_scenario() {
    for text in ["reno", " reno ", "\"reno\"", "{ kind = \"reno\" }"] {
        assert_eq!(read(text).map(|choice| choice.kind().to_owned()), Ok("reno".into()));
    }
    let aimd = read("{ kind = \"aimd\", b = 0.3 }").expect("it has such a parameter");
    assert_eq!(aimd.settings.get("b"), Some(&Setting::Number(0.3)));
    assert_eq!(aimd.settings.get("a"), Some(&Setting::Word("auto".into())), "the default");
}

#[test]
fn what_is_wrong_is_said_with_a_suggestion() {
    for (text, message, help) in [
        ("cubik", "there is no controller called `cubik`", "did you mean `cubic`?"),
        ("{ kind = \"aimd\", c = 1 }", "`aimd` has no parameter `c`", "its parameters are: a, b"),
        (
            "{ kind = \"aimd\", b = 2 }",
            "`b` must be a number from 0 to 1, but it is the number 2",
            "",
        ),
        (
            "",
            "no controller is named",
            "write a name, or a table with its `kind` and its parameters",
        ),
    ] {
        let error = read(text).expect_err(text);
        let found = &error.diagnostics()[0];
        assert_eq!(found.message, message);
        if !help.is_empty() {
            assert_eq!(found.help.as_deref(), Some(help));
        }
    }
}

#[test]
fn code_is_not_fetched() {
    let error = read("{ python = \"rules.py:gentle\" }").expect_err("nobody has allowed it");
    assert!(error.to_string().contains("would run code"), "{error}");
}

#[test]
fn what_is_written_reads_back_as_itself() {
    for control in longfat_control::CONTROLLERS.iter() {
        let choice = read(&control.name).expect("it has defaults for all");
        let text = choice.to_string();
        assert_eq!(read(&text), Ok(choice), "{text}");
    }
    let stcp = read("{ a = 2e-2, kind = \"stcp\" }").expect("it is one");
    let text = "{ kind = \"stcp\", a = 0.02, b = 0.125, legacy_window = 16 }";
    assert_eq!(stcp.to_string(), text);
}
