//! Scenario files: what is refused and how, what is accepted, and reading back what was written.

use std::fs;
use std::path::PathBuf;

use longfat_scenario::Scenario;

/// Each wrong file in `tests/refused` has its message in a sibling `.txt`. `UPDATE=1` rewrites them; read the
/// differences before keeping them.
#[test]
fn a_wrong_file_is_refused_with_its_message() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder is part of the repository")
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 25, "only {} wrong files", files.len());

    let update = std::env::var_os("UPDATE").is_some();
    let mut differing = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("even a wrong file is text");
        let name = path.file_name().expect("it was listed").to_string_lossy().into_owned();
        let message = match Scenario::read(&text, &name, &[], None) {
            Ok(_) => "accepted".into(),
            Err(error) => format!("{error}\n"),
        };
        let expected_path = path.with_extension("txt");
        if update {
            fs::write(&expected_path, &message).expect("the folder can be written");
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if message != expected || message == "accepted" {
            differing.push(format!("--- {name}: expected\n{expected}--- found\n{message}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

const SHORT: &str = r#"
duration = "60 s"

[link.bottleneck]
rate = "10 Gbit/s"
delay = "10 ms"

[link.bottleneck.reverse]
rate = "1 Gbit/s"

[[flow]]
name = "forward"
control = "reno"
count = 4
path = ["bottleneck"]
rtt = { spread = ["60 ms", "100 ms"] }
"#;

const RESOLVED: &str = r#"duration = "60 s"
warmup = "0 s"
seed = 7
sample = "200 ms"

[link.bottleneck]
rate = "10 Gbit/s"
delay = "10 ms"
loss = 0
buffer = "66667 packets"
bdp = "80 ms"
queue = "drop-tail"
anti_ecn = false

[link.bottleneck.reverse]
rate = "1 Gbit/s"
buffer = "6667 packets"

[[flow]]
name = "forward"
control = "reno"
count = 4
path = ["bottleneck"]
reverse = false
rtt = { spread = ["60 ms", "100 ms"] }
start = "0 s"
stop = "none"
size = "unlimited"
packet = "1.5 kB"
initial_window = 10
initial_threshold = "none"
slow_start = "standard"
recovery = "sack"
delayed_ack = false
ack_every = 2
ack_delay = "100 ms"
rto_min = "200 ms"
rto_tick = "none"
rto_estimator = "rfc6298"
rto_restart = "first"
ecn = true
ecn_feedback = "echo"
pacing = "controller"
send_quantum = "none"
window_validation = "none"
careful_resume = "none"
max_window = "none"
host_jitter = "none"
access = "none"
"#;

#[test]
fn a_short_file_is_written_with_every_default() {
    let scenario = Scenario::read(SHORT, "short.toml", &[], Some(7)).expect("it is right");
    assert_eq!(scenario.to_toml(), RESOLVED);
    assert_eq!(Scenario::read(RESOLVED, "resolved.toml", &[], None), Ok(scenario));
}

const TRAFFIC: &str = r#"
[[traffic]]
name = "web"
control = "reno"
path = ["bottleneck"]
reverse = true
arrivals = { load = "10 %" }
size = { pareto = { mean = "30 packets", shape = 1.35 } }
rtt = { uniform = ["60 ms", "100 ms"] }
profile = "1995"
"#;

/// A tenth of 1 Gbit/s, the way back, is 833.3 transfers of 15 kB each second.
const RESOLVED_TRAFFIC: &str = r#"
[[traffic]]
name = "web"
control = "reno"
path = ["bottleneck"]
reverse = true
arrivals = { poisson = "833.3333333333334 /s" }
count = "none"
size = { pareto = { mean = "15 kB", shape = 1.35 } }
rtt = { uniform = ["60 ms", "100 ms"] }
start = "0 s"
stop = "none"
packet = "500 B"
initial_window = 1
initial_threshold = 131
slow_start = "standard"
recovery = "reno"
delayed_ack = true
ack_every = 2
ack_delay = "100 ms"
rto_min = "1 s"
rto_tick = "500 ms"
rto_estimator = "rfc6298"
rto_restart = "first"
ecn = false
ecn_feedback = "echo"
pacing = "controller"
send_quantum = "none"
window_validation = "none"
careful_resume = "none"
max_window = "none"
host_jitter = "none"
access = "none"
"#;

#[test]
fn traffic_is_written_with_every_default_and_without_its_profile() {
    let text = format!("{SHORT}{TRAFFIC}");
    let scenario = Scenario::read(&text, "short.toml", &[], Some(7)).expect("it is right");
    assert_eq!(scenario.to_toml(), format!("{RESOLVED}{RESOLVED_TRAFFIC}"));
    assert_eq!(Scenario::read(&scenario.to_toml(), "resolved.toml", &[], None), Ok(scenario));
}

#[test]
fn the_object_has_the_keys_of_the_file() {
    let scenario = Scenario::read(SHORT, "short.toml", &[], None).expect("it is right").to_json();
    assert_eq!(scenario["seed"], 1);
    assert_eq!(scenario["link"]["bottleneck"]["reverse"]["rate"], "1 Gbit/s");
    assert_eq!(scenario["flow"][0]["rtt"]["spread"][1], "100 ms");
    assert_eq!(scenario["flow"][0]["ecn"], true);
    assert_eq!(scenario["traffic"], serde_json::json!([]));
}

#[test]
fn what_a_later_version_brings_may_be_declined_today() {
    let declined = ["link.bottleneck.anti_ecn=false", "flow.forward.profile=none"];
    let declined = declined.map(String::from);
    assert!(Scenario::read(SHORT, "short.toml", &declined, None).is_ok());
}

/// Both the name asked for and the known names come from outside: neither may be long enough to slow anything down.
#[test]
fn long_names_and_deep_keys_are_refused_at_once() {
    let wrong = |name: &str| {
        let text = SHORT.replace("path = [\"bottleneck\"]", &format!("path = [\"{name}\"]"));
        Scenario::read(&text, "long.toml", &[], None)
            .expect_err("there is no such link")
            .to_string()
    };
    assert!(wrong("bottelneck").contains("did you mean `bottleneck`?"));
    assert!(!wrong(&"bottleneck".repeat(6000)).contains("did you mean"));

    let set = |key: String| {
        let overrides = [format!("{key}=1")];
        Scenario::read(SHORT, "deep.toml", &overrides, None).expect_err("no such key").to_string()
    };
    let deep = set(vec!["a"; 100_001].join("."));
    assert!(deep.contains("the key has 100001 names, but no value lies deeper than 16"), "{deep}");
    assert!(set(vec!["a"; 16].join(".")).contains("`a`"));
}

#[test]
fn linux_has_hystart_for_cubic_alone() {
    let slow_start = |control: &str, more: &str| {
        let text = SHORT.replace("control = \"reno\"", &format!("control = {control}\n{more}"));
        let scenario = Scenario::read(&text, "short.toml", &[], None).expect("it is right");
        scenario.flows[0].transport.slow_start.name()
    };
    let linux = "profile = \"linux-6\"";
    assert_eq!(slow_start("\"reno\"", linux), "standard");
    for cubic in ["\"cubic\"", "{ kind = \"cubic\", c = 0.5 }"] {
        assert_eq!(slow_start(cubic, ""), "standard");
        assert_eq!(slow_start(cubic, linux), "hystart");
        let limited = format!("{linux}\nslow_start = \"limited\"");
        assert_eq!(slow_start(cubic, &limited), "limited", "the flow overrides it");
    }
}
