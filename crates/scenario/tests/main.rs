//! What no single file shows: resolution, parameters, overrides, and reading back what was written.

mod anti_ecn;
mod catalogue;
mod chance;
mod code;
mod control;
mod course;
mod files;
mod harm;
mod keys;
mod large;
mod profiles;
mod queues;
mod random;
mod receive_window;
mod replay;
mod traffic;
mod varying;

use longfat_queue::Capacity;
use longfat_scenario::{Hop, Scenario, ScenarioError, Spans};
use longfat_units::parameter::{Kind, Setting};
use longfat_units::{Bytes, Ecn, Span};
use proptest::prelude::*;

/// 500 Mbit/s and 80 ms: 5 MB, or 5000 packets of 1000 bytes.
const BASE: &str = r#"
duration = "120 s"

[link.bottleneck]
rate = "500 Mbit/s"
delay = "10 ms"

[[flow]]
name = "forward"
control = "reno"
path = ["bottleneck"]
rtt = { spread = ["60 ms", "100 ms"] }
count = 16
packet = "1000 B"
"#;

fn read(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::read_with(&catalogue::catalogue(), text, "test.toml", &overrides, None)
}

/// The base with some values changed.
fn base(overrides: &[&str]) -> Scenario {
    read(BASE, overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Why the base with some values changed is refused.
fn refusal(overrides: &[&str]) -> String {
    read(BASE, overrides).expect_err("it should be refused").to_string()
}

fn buffer(overrides: &[&str]) -> Capacity {
    base(overrides).links[0].forward.buffer
}

fn queue_length(overrides: &[&str], name: &str) -> f64 {
    base(overrides).links[0].forward.queue.settings.number(name)
}

#[test]
fn many_flows_and_links_have_fewer_rows_each() {
    // One link and so many flows; 120 s in as many rows as that leaves of two million, at most 500.
    let sample = |flows: u64| base(&[&format!("flow.forward.count={flows}")]).sample;
    assert_eq!(sample(3_998), Span::from_millis(500));
    // 499 rows of 240.5 ms still are 500 ms; 200 rows of 0.6 s are 1 s, two of 60 s are 100 s.
    assert_eq!(sample(4_000), Span::from_millis(500));
    assert_eq!(sample(9_998), Span::from_seconds(1));
    assert_eq!(sample(999_998), Span::from_seconds(100));
    let asked = base(&["flow.forward.count=9998", "sample=\"60 ms\""]).sample;
    assert_eq!(asked, Span::from_millis(60));
}

#[test]
fn defaults_are_those_of_the_design() {
    let scenario = base(&[]);
    assert_eq!((scenario.warmup, scenario.seed), (Span::ZERO, 1));
    // 120 s in 500 rows is 240 ms, which becomes 500 ms.
    assert_eq!(scenario.sample, Span::from_millis(500));
    let link = &scenario.links[0];
    assert_eq!(link.forward, link.reverse);
    assert_eq!((link.forward.loss, link.forward.queue.kind()), (0.0, "drop-tail"));
    assert_eq!(link.forward.bdp, Some(Span::from_millis(80)));
    assert_eq!(link.forward.buffer, Capacity::Packets(5000));
    let flow = &scenario.flows[0];
    assert_eq!((flow.start.clone(), flow.stop, flow.size), (Spans::Same(Span::ZERO), None, None));
    assert_eq!((flow.transport.initial_window, flow.transport.ecn), (10.0, Ecn::Ect0));
    assert_eq!(flow.transport.rto_min, Span::from_millis(200));
}

#[test]
fn a_buffer_is_measured_in_packets_bytes_times_and_products() {
    assert_eq!(buffer(&["link.bottleneck.buffer=0.07 bdp"]), Capacity::Packets(350));
    assert_eq!(buffer(&["link.bottleneck.buffer=0.00001 bdp"]), Capacity::Packets(1));
    assert_eq!(buffer(&["link.bottleneck.buffer=5 MB"]), Capacity::Bytes(Bytes(5_000_000)));
    assert_eq!(buffer(&["link.bottleneck.buffer=50 ms"]), Capacity::Bytes(Bytes(3_125_000)));
    assert_eq!(buffer(&["link.bottleneck.buffer=unlimited"]), Capacity::Unbounded);
    assert_eq!(buffer(&["link.bottleneck.bdp=40 ms"]), Capacity::Packets(2500));
    // A product that is not a whole number of packets is rounded up: 5 MB in packets of 1500 bytes.
    assert_eq!(buffer(&["flow.forward.packet=1500 B"]), Capacity::Packets(3334));
}

#[test]
fn the_mode_of_a_queue_decides_in_what_it_counts() {
    let packets = "link.bottleneck.queue=thresholds";
    let bytes = r#"link.bottleneck.queue={ kind = "thresholds", mode = "bytes" }"#;
    let buffered = "link.bottleneck.buffer=3 MB";
    assert_eq!(buffer(&[packets, buffered]), Capacity::Packets(3000));
    assert_eq!(queue_length(&[packets, buffered], "min"), 500.0);
    assert_eq!(buffer(&[bytes]), Capacity::Bytes(Bytes(5_000_000)));
    assert_eq!(queue_length(&[bytes], "max"), 1_500_000.0);
    let fixed = "link.bottleneck.queue.min=20 packets";
    assert_eq!(queue_length(&[bytes, fixed], "min"), 20_000.0);
}

#[test]
fn a_share_of_the_buffer_needs_a_buffer() {
    let shares = "link.bottleneck.queue=shares";
    assert_eq!(queue_length(&[shares], "at"), 2500.0);
    assert_eq!(queue_length(&[shares, "link.bottleneck.buffer=50 ms"], "at"), 1_562_500.0);
    let message = refusal(&[shares, "link.bottleneck.buffer=unlimited"]);
    assert!(
        message.contains("`at` is a share of the buffer, and the buffer is unlimited"),
        "{message}"
    );
}

#[test]
fn the_reverse_direction_differs_where_it_says_so() {
    let scenario =
        base(&["link.bottleneck.reverse.rate=5 Mbit/s", "link.bottleneck.reverse.loss=0.1"]);
    let link = &scenario.links[0];
    assert_eq!(link.forward.buffer, Capacity::Packets(5000));
    assert_eq!(link.reverse.buffer, Capacity::Packets(50));
    assert_eq!((link.reverse.delay, link.reverse.loss), (link.forward.delay, 0.1));
    let text = scenario.to_toml();
    let (_, reverse) = text.split_once("[link.bottleneck.reverse]\n").expect("it differs");
    let (reverse, _) = reverse.split_once("\n[[flow]]").expect("the flow follows");
    assert_eq!(reverse, "rate = \"5 Mbit/s\"\nloss = 0.1\nbuffer = \"50 packets\"\n");
}

#[test]
fn a_reversed_flow_travels_from_the_end() {
    let text =
        BASE.replace("[[flow]]", "[link.second]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[flow]]");
    let path = r#"flow.forward.path=["bottleneck", "second"]"#;
    let read =
        |overrides: &[&str]| read(&text, overrides).expect("it is right").flows[0].path.clone();
    let hop = |link, reverse| Hop { link, reverse };
    assert_eq!(read(&[path]), [hop(0, false), hop(1, false)]);
    assert_eq!(read(&[path, "flow.forward.reverse=true"]), [hop(1, true), hop(0, true)]);
    // What is written about a link is relative to it; reversing the group flips that too.
    let mesh = r#"flow.forward.path=["bottleneck", { link = "second", reverse = true }]"#;
    assert_eq!(read(&[mesh]), [hop(0, false), hop(1, true)]);
    assert_eq!(read(&[mesh, "flow.forward.reverse=true"]), [hop(1, false), hop(0, true)]);
    let written = crate::read(&text, &[mesh]).expect("it is right").to_toml();
    let expected =
        "path = [\"bottleneck\", { link = \"second\", reverse = true }]\nreverse = false\n";
    assert!(written.contains(expected), "{written}");
}

#[test]
fn an_override_replaces_adds_and_finds_flows_by_name_and_position() {
    let scenario = base(&[
        "duration=10 s",
        "link.bottleneck.rate=\"1 Gbit/s\"",
        "flow.0.count=4",
        " flow . forward . initial_window = 2 ",
        "flow.forward.rtt=100 ms",
        "flow.forward.control.kind=tunable",
        "flow.forward.control.gamma=0.5",
    ]);
    assert_eq!(scenario.duration, Span::from_seconds(10));
    assert_eq!(scenario.links[0].forward.rate.0, 1_000_000_000);
    let flow = &scenario.flows[0];
    assert_eq!((flow.count, flow.transport.initial_window), (4, 2.0));
    assert_eq!(flow.rtt, Spans::Same(Span::from_millis(100)));
    assert_eq!(flow.control.settings.get("gamma"), Some(&Setting::Number(0.5)));
    let range = "flow.forward.start.uniform=[\"0 s\", \"5 s\"]";
    assert_eq!(base(&[range]).flows[0].start, Spans::Uniform(Span::ZERO, Span::from_seconds(5)));
    let seeded =
        Scenario::read_with(&catalogue::catalogue(), BASE, "x", &["seed=7".into()], Some(9));
    assert_eq!(seeded.map(|scenario| scenario.seed), Ok(9));
}

#[test]
fn an_override_can_be_for_every_link_and_every_group() {
    let two = [
        r#"link={ a = { rate = "1 Mbit/s", delay = "1 ms" }, b = { rate = "2 Mbit/s", delay = "1 ms" } }"#,
        r#"flow.forward.path=["a", "b"]"#,
        "link.*.queue=thresholds",
        "link.*.queue.min=2 packets",
        "flow.*.control.kind=tunable",
    ];
    let scenario = base(&two);
    let minima = scenario.links.iter().map(|link| link.forward.queue.settings.number("min"));
    assert_eq!(minima.collect::<Vec<_>>(), [2.0, 2.0]);
    assert_eq!(scenario.flows[0].control.kind(), "tunable");
    let message = refusal(&["traffic.*.control=exp"]);
    assert!(message.contains("there is no `traffic` that `*` could stand for"), "{message}");
    let message = refusal(&["link.*=3"]);
    assert!(message.contains("`*` cannot be the name of a link"), "{message}");
}

#[test]
fn where_there_is_no_link_none_is_listed() {
    let none = read("duration = '1 s'\n[link]\n", &["link.x.rate=1 Gbit/s"]);
    let message = none.expect_err("there is none").to_string();
    assert!(
        message.contains("there is no link called `x`") && !message.contains("help"),
        "{message}"
    );
}

#[test]
fn a_wrong_override_is_shown_in_its_own_text() {
    let shown =
        |override_text: &str, message: &str| assert_eq!(refusal(&[override_text]), message.trim());
    shown(
        "link.botleneck.rate=1 Gbit/s",
        r"
error: there is no link called `botleneck`
 --> --set:1:6
  |
1 | link.botleneck.rate=1 Gbit/s
  |      ^^^^^^^^^
  |
  = help: did you mean `bottleneck`?",
    );
    shown(
        "flow.forwrad.count=4",
        r"
error: there is no flow called `forwrad`
 --> --set:1:6
  |
1 | flow.forwrad.count=4
  |      ^^^^^^^
  |
  = help: did you mean `forward`?",
    );
    // Nothing is near: all there is.
    for (text, help) in [
        ("link.x.rate=1 Gbit/s", "the links are: bottleneck"),
        ("flow.9.count=4", "their names are: forward"),
        (
            "link.bottleneck.buffer=-1 bdp",
            "`-1 bdp` is not a length that can be used: it must not be negative",
        ),
        ("link.bottleneck.rate=10G", "write \"10 Gbit/s\""),
        ("link.bottleneck.loss=0.01 %", "write loss = 0.0001"),
        ("link.bottleneck.loss=1e-7%", "write loss = 1e-9"),
    ] {
        let message = refusal(&[text]);
        assert!(message.contains(help), "{message}");
    }
    for text in ["link.bottleneck.loss=101 %", "link.bottleneck.loss=x%"] {
        assert!(!refusal(&[text]).contains("write loss"), "{text}");
    }
    shown(
        "link.bottleneck.rate=fast",
        r#"
error: `fast` is not a rate: a number and a unit are needed, such as "10 Gbit/s"
 --> --set:1:22
  |
1 | link.bottleneck.rate=fast
  |                      ^^^^"#,
    );
    shown(
        "link.bottleneck.dealy=1 ms",
        r"
error: `dealy` is not a key of a link
 --> --set:1:17
  |
1 | link.bottleneck.dealy=1 ms
  |                 ^^^^^
  |
  = help: did you mean `delay`?",
    );
    shown(
        "flow.forward.control={ kind = reno }",
        r#"
error: the text `reno` must be in quotation marks
 --> --set:1:31
  |
1 | flow.forward.control={ kind = reno }
  |                               ^^^^
  |
  = help: write "reno""#,
    );
    shown(
        "warmup",
        r#"
error: `warmup` sets nothing: it has no `=`
 --> --set:1:1
  |
1 | warmup
  | ^^^^^^
  |
  = help: write KEY=VALUE, such as link.bottleneck.rate="1 Gbit/s""#,
    );
    for odd in [
        "=",
        "a..b=1",
        "flow=3",
        "flow.forward=3",
        "link=3",
        "duration.x=1",
        "flow.9.count=1",
        "x=",
    ] {
        refusal(&[odd]);
    }
}

#[test]
fn problems_are_there_for_programs_too() {
    let text = "duration = \"60 s\"\nsample = 1\n\n[link.bottleneck]\n\"raté\" = \"1 Gbit/s\"\n";
    let overrides = ["seed=3", "warmup=\"2 µs\", x"].map(String::from);
    let read = |overrides| Scenario::read(text, "some.toml", overrides, None);
    let error = read(&overrides[..1]).expect_err("much is wrong");
    let found: Vec<_> = error
        .diagnostics()
        .iter()
        .map(|it| {
            let location = it.location.map(|at| (at.line, at.column, at.length));
            (it.message.as_str(), it.help.as_deref(), location)
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "the scenario has neither a flow nor traffic",
                Some("add `[[flow]]`, or `[[traffic]]`"),
                None
            ),
            (
                "`sample` is a time, and the number 1 has no unit",
                Some("write \"1 ms\""),
                Some((2, 10, 1))
            ),
            ("link `bottleneck` has no `delay`", Some("add `delay = \"10 ms\"`"), Some((4, 7, 10))),
            ("`raté` is not a key of a link", Some("did you mean `rate`?"), Some((5, 1, 6))),
        ]
    );
    assert!(error.diagnostics().iter().all(|it| it.file == "some.toml"));
    assert!(error.diagnostics().iter().all(|it| it.override_index.is_none()));
    // After a letter of two bytes; the second override, which is in no file.
    let error = read(&overrides).expect_err("that is no value");
    let [only] = error.diagnostics() else { panic!("{error}") };
    assert_eq!((only.file.as_str(), only.override_index), ("--set", Some(1)));
    let at = only.location.expect("it has a place");
    assert_eq!((at.line, at.column), (1, 14), "{error}");
    assert!(error.to_string().contains("--> --set:1:14"), "{error}");
}

#[test]
fn parameters_are_checked_against_their_kind() {
    for (parameter, reason) in [
        ("gama=0.1", "`tunable` has no parameter `gama`"),
        ("gamma=2", "`gamma` must be a number from 0 to 1, but it is the number 2"),
        ("gamma=\"0.1\"", "but it is the text \"0.1\""),
        ("beta=0", "`beta` must be a number above 0 and at most 0.5, but it is the number 0"),
        ("ticks=2.5", "`ticks` must be a whole number from 1 to 1000, but it is the number 2.5"),
        ("c=10", "`c` is a number per second, and the number 10 has no unit"),
        ("c=10 /min", "`c` must be a number from 0.001 to 1000000 per second"),
        ("pause=10", "`pause` is a time, and the number 10 has no unit"),
        ("per_mark=1", "`per_mark` must be true or false"),
        ("delta=windw", "`delta` must be a number from 0 to 100, or \"window\" or \"rate\""),
        ("delta=200", "`delta` must be a number from 0 to 100, or \"window\" or \"rate\""),
        ("on=unlawful", "`on` cannot build on `unlawful`, which is not a window law"),
        ("on=tunable", "`on` cannot build on `tunable`, which itself builds on another law"),
        ("on=asking", "`on` cannot build on `asking`, which has a parameter without a default"),
        (
            "on=vegas",
            "`on` cannot build on `vegas`, which answers delays, not only losses and marks",
        ),
        ("on=rino", "there is no controller called `rino`"),
    ] {
        let message = refusal(&[
            "flow.forward.control=tunable",
            &format!("flow.forward.control.{parameter}"),
        ]);
        assert!(message.contains(reason), "{parameter}:\n{message}");
        assert!(message.contains("--> --set:1:"), "{message}");
    }
    assert!(
        refusal(&["flow.forward.control=unlawful"]).contains("`unlawful` needs a value for `rate`")
    );
    let message = refusal(&["flow.forward.control=blitz"]);
    assert!(message.contains("there is no controller called `blitz`"), "{message}");
    let message = refusal(&["link.bottleneck.queue=pushout"]);
    assert!(message.contains("there is no queue called `pushout`"), "{message}");
}

#[test]
fn a_discipline_refuses_what_no_single_parameter_shows() {
    let queue = "link.bottleneck.queue={ kind = \"thresholds\", min = \"0.5 bdp\" }";
    let message = refusal(&[queue]);
    assert!(
        message.starts_with("error: `min` must not be above `max`\n --> --set:1:52"),
        "{message}"
    );
}

#[test]
fn the_round_trip_of_a_link_is_the_mean_over_its_flows() {
    let second = "\n[[flow]]\nname = \"back\"\ncontrol = \"reno\"\npath = [\"bottleneck\"]\n\
                  reverse = true\nrtt = \"160 ms\"\ncount = 16\n";
    let scenario = read(&format!("{BASE}{second}"), &[]).expect("it is right");
    assert_eq!(scenario.links[0].reverse.bdp, Some(Span::from_millis(120)));
    assert_eq!(scenario.largest_packets()[0], Bytes(1500));
}

#[test]
fn every_entry_of_the_registries_has_defaults_that_can_be_read() {
    for controller in longfat_control::CONTROLLERS.iter() {
        let lengths = controller.parameters.iter().filter(|it| it.kind == Kind::Length);
        assert_eq!(lengths.count(), 0, "{} has no queue to measure", controller.name);
    }
    for discipline in longfat_queue::DISCIPLINES.iter() {
        let queue = format!("link.bottleneck.queue={}", discipline.name);
        if let Err(error) = Scenario::read(BASE, "test.toml", &[queue], None) {
            let missing = error.to_string().contains("needs a value for");
            assert!(missing, "{error}");
        }
    }
}

/// Whatever is accepted is written and read back unchanged.
fn comes_back(scenario: &Scenario) -> Result<(), TestCaseError> {
    let text = scenario.to_toml();
    match read(&text, &[]) {
        Ok(again) => prop_assert_eq!(&again, scenario, "{}", text),
        Err(error) => prop_assert!(false, "{}\n{}", text, error),
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_random_scenario_comes_back(text in random::scenario()) {
        match read(&text, &[]) {
            Ok(scenario) => comes_back(&scenario)?,
            // The only contradiction that the generator produces: a reverse direction that inherits a buffer.
            Err(error) if error.to_string().contains("and the buffer is unlimited") => {}
            Err(error) => prop_assert!(false, "{}\n{}", text, error),
        }
    }

    #[test]
    fn a_harmed_scenario_is_refused_or_comes_back(
        text in random::scenario(),
        mutations in harm::mutations(),
    ) {
        if let Ok(scenario) = read(&harm::mutate(&text, &mutations), &[]) {
            comes_back(&scenario)?;
        }
        if let Ok(scenario) = read(&harm::replace_values(&text, &mutations), &[]) {
            comes_back(&scenario)?;
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}|[\\s\\S]{0,60}") {
        prop_assert!(read(&text, &[]).is_err());
        prop_assert!(read(BASE, &[&text]).is_err() || text.contains('='));
    }

    #[test]
    fn no_override_panics(
        mutations in harm::mutations(),
        text in prop::sample::select(&[
            "link.bottleneck.rate=\"1 Gbit/s\"",
            "flow.forward.control={ kind = \"tunable\", gamma = 0.1 }",
            "flow.0.rtt.spread=[\"60 ms\", \"80 ms\"]",
            "link.*.buffer=5 packets",
            "flow.forward.profile=\"1995\"",
            "link.bottleneck.reverse.queue.max=5 packets",
        ][..]),
    ) {
        if let Ok(scenario) = read(BASE, &[&harm::mutate(text, &mutations)]) {
            comes_back(&scenario)?;
        }
    }
}
