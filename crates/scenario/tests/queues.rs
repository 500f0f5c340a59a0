//! RED as the design specifies it, from the real catalogue.

use longfat_queue::Capacity;
use longfat_scenario::{Scenario, ScenarioError};
use longfat_units::Bytes;
use longfat_units::parameter::Setting;

use crate::BASE;

const RED: &str = "link.bottleneck.queue={ kind = \"red\", min = \"0.1 bdp\", max = \"0.3 bdp\", \
                   weight = 0.002, max_p = 0.1, gentle = true, ecn = true, mode = \"packets\" }";

/// The base with RED and some values changed.
fn red(overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<String> = [RED].iter().chain(overrides).map(ToString::to_string).collect();
    Scenario::read(BASE, "test.toml", &overrides, None)
}

#[test]
fn red_is_read_and_comes_back() {
    let scenario = red(&[]).expect("it is right");
    let forward = &scenario.links[0].forward;
    let settings = &forward.queue.settings;
    assert_eq!((forward.queue.kind(), forward.buffer), ("red", Capacity::Packets(5000)));
    assert_eq!((settings.number("min"), settings.number("max")), (500.0, 1500.0));
    assert_eq!((settings.number("weight"), settings.number("max_p")), (0.002, 0.1));
    assert_eq!((settings.flag("gentle"), settings.flag("mark_above_max")), (true, false));
    assert_eq!(Scenario::read(&scenario.to_toml(), "again", &[], None), Ok(scenario));
}

#[test]
fn red_in_bytes_has_its_lengths_and_its_buffer_in_bytes() {
    let scenario = red(&["link.bottleneck.queue.mode=bytes"]).expect("it is right");
    let forward = &scenario.links[0].forward;
    assert_eq!(forward.buffer, Capacity::Bytes(Bytes(5_000_000)));
    assert_eq!(forward.queue.settings.number("min"), 500_000.0);
    assert_eq!(Scenario::read(&scenario.to_toml(), "again", &[], None), Ok(scenario));
}

#[test]
fn a_weight_is_a_number_or_a_word() {
    let scenario = red(&["link.bottleneck.queue.weight=auto"]).expect("it is right");
    let weight = scenario.links[0].forward.queue.settings.get("weight");
    assert_eq!(weight, Some(&Setting::Word("auto".into())));
    assert_eq!(Scenario::read(&scenario.to_toml(), "again", &[], None), Ok(scenario));
}

#[test]
fn what_red_refuses_is_shown_at_its_key_or_at_its_name() {
    let shown = |overrides: &[&str], reason: &str, place: &str| {
        let message = red(overrides).expect_err("it should be refused").to_string();
        assert!(message.contains(reason) && message.contains(place), "{message}");
    };
    let (min, max) =
        ("link.bottleneck.queue.min=0.3 bdp", "link.bottleneck.queue.max=6000 packets");
    shown(&[min], "`min` (1500 packets) must be below `max`", "--> --set:1:27\n");
    shown(
        &[max],
        "`max` (6000 packets) must be within the buffer (5000 packets)",
        "--> --set:1:27\n",
    );
    let (name, short) = ("link.bottleneck.queue=red", "link.bottleneck.buffer=1000 packets");
    shown(&[name, short], "`max` (1500 packets) must be within the buffer", "--> --set:1:23\n");
}
