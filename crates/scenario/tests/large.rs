//! Files of many links and groups: what is bounded, and how reading them is stopped.

use longfat_scenario::{Catalogue, Hop, Scenario};

/// This many links, each with a flow of its own; `path` is that of each flow.
fn pairs(count: usize, path: impl Fn(usize) -> String) -> String {
    let links =
        (0..count).map(|index| format!("[link.l{index}]\nrate = \"1 Gbit/s\"\ndelay = \"1 us\"\n"));
    let flows = (0..count).map(|index| {
        let path = path(index);
        format!(
            "[[flow]]\nname = \"f{index}\"\ncontrol = \"reno\"\npath = [{path}]\nrtt = \"1 s\"\n"
        )
    });
    format!("duration = \"1 s\"\n{}", links.chain(flows).collect::<String>())
}

fn own(index: usize) -> String {
    format!("\"l{index}\"")
}

fn read(text: &str) -> Result<Scenario, longfat_scenario::ScenarioError> {
    Scenario::read(text, "large.toml", &[], None)
}

#[test]
fn every_flow_of_many_crosses_its_own_link() {
    let scenario = read(&pairs(300, own)).expect("it is right");
    for (index, flow) in scenario.flows.iter().enumerate() {
        assert_eq!(flow.path, [Hop { link: index, reverse: false }]);
    }
    assert_eq!(read(&scenario.to_toml()), Ok(scenario));
}

#[test]
fn reading_goes_on_as_long_as_it_may() {
    let text = pairs(20, own);
    let stopped_after = |most: usize| {
        let mut asked = 0;
        let read = Scenario::read_while(
            &Catalogue::built_in(),
            &text,
            "large.toml",
            &["seed=2".into()],
            None,
            &mut |_| Err(String::new()),
            &mut || {
                asked += 1;
                asked <= most
            },
        );
        (read.map(|read| read.expect("it is right").seed), asked)
    };
    // Once for the override and each flow, twice for each link.
    let (read, asked) = stopped_after(usize::MAX);
    assert_eq!((read, asked), (Some(2), 61));
    for most in 0..asked {
        assert_eq!(stopped_after(most), (None, most + 1), "and is not asked again");
    }
}

#[test]
fn many_problems_are_cut_short() {
    let error = read(&pairs(300, |index| format!("\"m{index}\""))).expect_err("no such link");
    assert_eq!(error.diagnostics().len(), 100);
    let text = pairs(300, |index| if index == 250 { "\"other\"".into() } else { own(index) });
    let error = read(&text).expect_err("no such link");
    let help = error.diagnostics()[0].help.clone().expect("it lists some");
    assert!(help.starts_with("the links are: l0, l1, "), "{help}");
    assert!(help.ends_with(", l19 and 280 more"), "{help}");
}

#[test]
fn names_and_paths_have_a_longest() {
    let named = |length: usize| pairs(1, own).replace("f0", &"f".repeat(length));
    assert!(read(&named(200)).is_ok());
    let error = read(&named(201)).expect_err("it is too long").to_string();
    assert!(error.contains("it has 201 letters, and 200 are the most"), "{error}");

    // A packet that crosses more would come back to the first.
    let path = |length: usize| {
        let all: Vec<String> = (0..length).map(own).collect();
        let text = pairs(length, |index| if index == 0 { all.join(",") } else { own(index) });
        let (first, _) = text.split_once("[[flow]]\nname = \"f1\"").expect("there are many");
        first.to_owned()
    };
    assert!(read(&path(65_535)).is_ok());
    let error = read(&path(65_536)).expect_err("it is too long").to_string();
    assert!(error.contains("crosses 65536 links, and 65535 are the most"), "{error}");
}
