//! Promises that need a look inside.

use std::sync::Arc;

use longfat_control::interval::{FEATURES, Lever, Scale, Steering};
use longfat_fluid::Pricing;
use longfat_scenario::{Catalogue, Scenario};
use longfat_sim::{Fates, Simulation};
use longfat_units::math::log2;

use crate::environment::World;
use crate::settings::RewardWeights;
use crate::{Environment, GymError, Model, PolicyFile, Settings, Standing, controller};

const PATH: &str = r#"
    duration = "8 s"
    [link.l]
    rate = "20 Mbit/s"
    delay = "10 ms"
    buffer = "1 bdp"
    [[flow]]
    name = "own"
    control = "reno"
    path = ["l"]
    rtt = "40 ms"
    [[flow]]
    name = "other"
    control = "reno"
    path = ["l"]
    rtt = "60 ms"
    start = "2 s"
"#;

fn scenario(set: &[&str]) -> Scenario {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    Scenario::read(PATH, "path.toml", &set, None).expect("a good scenario")
}

fn environment(settings: Settings, groups: &[&str], agents: usize) -> Environment {
    Environment::new(settings, groups.iter().map(ToString::to_string).collect(), agents)
}

fn fluid() -> Settings {
    Settings { model: Model::Fluid(Pricing::Overflow), ..Settings::default() }
}

/// All that an episode shows, as bits.
fn episode(settings: Settings, scenario: &Scenario, action: impl Fn(usize) -> f64) -> Vec<u64> {
    let mut environment = environment(settings, &["own"], 1);
    environment.reset(scenario).expect("it can begin");
    let mut bits = Vec::new();
    for step in 0.. {
        bits.extend(environment.observations().iter().map(|it| u64::from(it.to_bits())));
        bits.extend(environment.outcomes().iter().flat_map(|it| {
            it.information().map(f64::to_bits).chain([it.reward.to_bits()]).collect::<Vec<_>>()
        }));
        if environment.is_over() {
            return bits;
        }
        environment.step(&[action(step)]).expect("it goes on");
    }
    unreachable!("every episode ends")
}

const POLICY: &str = r#"{
    "longfat_policy": 1, "name": "trained", "interval": 1.0, "history": 2,
    "observe": ["delivery", "rtt", "rtt_gradient", "loss", "window"],
    "action": {"sets": "SETS", "scale": "multiplicative", "octaves": 0.5, "bounds": [1, 10000]},
    "layers": [
        {"weights": [[0.3, -0.8, -0.5, -2, -0.4, 0.2, -0.9, -0.3, -4, -0.3],
                     [0.1, 0.2, 0.9, 1, -0.7, 0.3, -0.1, 0.8, 2, 0.6]],
         "bias": [0.5, 0.1], "activation": "tanh"},
        {"weights": [[1.2, 0.4]], "bias": [0.05], "activation": "tanh"}
    ]}"#;

/// In an environment and as a controller a policy does the same, to the byte.
#[test]
fn a_policy_does_what_it_did_in_its_environment() {
    for sets in ["window", "rate"] {
        for set in [&[][..], &["flow.own.recovery=rack"], &["flow.own.recovery=quic"]] {
            let text = POLICY.replace("SETS", sets);
            let policy = PolicyFile::read(&text).and_then(|it| it.policy()).expect("a policy");
            let lever = if sets == "window" { Lever::Window } else { Lever::Rate };
            let scale = Scale::Multiplicative { octaves: 0.5 };
            let steering = Steering::new(lever, scale, (1.0, 10_000.0)).expect("it makes sense");
            let observe = ["delivery", "rtt", "rtt_gradient", "loss", "window"].map(String::from);
            let weights = RewardWeights::default();
            let settings = Settings::new(1.0, &observe, 2, steering, weights, Model::Packets);
            let mut environment = environment(settings.expect("they make sense"), &["own"], 1);

            let mut catalogue = Catalogue::built_in();
            catalogue.add_controller(controller(&text).expect("a policy")).expect("a free name");
            let mut overrides: Vec<String> = set.iter().map(ToString::to_string).collect();
            let plain = scenario(set);
            overrides.push("flow.own.control=trained".into());
            let trained = Scenario::read_with(&catalogue, PATH, "path.toml", &overrides, None);
            let mut alone = Simulation::new(&trained.expect("a good scenario"), false);

            environment.reset(&plain).expect("it can begin");
            let mut steps = 0;
            while !environment.is_over() {
                alone.advance_to(environment.now());
                let Some(World::Packets(packets)) = &environment.world else { break };
                // The controller has decided already, and sent accordingly; the agent does so now.
                let arrived = |it: Fates| (it.delivered, it.dropped);
                let (own, other) = (arrived(packets.fates()), arrived(alone.fates()));
                assert_eq!(own, other, "{sets}, {set:?}, after {steps} steps");
                let action = policy.decide(environment.observations());
                environment.step(&[action]).expect("it goes on");
                steps += 1;
            }
            assert!(steps > 90, "{sets}, {set:?}: {steps} steps");
        }
    }
}

#[test]
fn the_same_actions_give_the_same_bytes() {
    let wave = |step: usize| [0.4, -0.1, 0.2, -0.45][step % 4];
    for settings in [Settings::default(), fluid()] {
        let path = scenario(&[]);
        let first = episode(settings.clone(), &path, wave);
        assert_eq!(first, episode(settings.clone(), &path, wave));
        assert_ne!(first, episode(settings, &path, |step| wave(step + 1)));
    }
}

#[test]
fn an_agent_fills_an_empty_path_and_is_paid_for_it() {
    for settings in [Settings::default(), fluid()] {
        let fluid = settings.model != Model::Packets;
        let scenario = scenario(&["flow.other.start=7.9 s"]);
        let mut environment = environment(settings, &["own"], 1);
        environment.reset(&scenario).expect("it can begin");
        let early = environment.outcomes()[0];
        // 20 Mbit/s times 40 ms are 66.7 segments.
        let window = |outcome: &crate::Outcome| outcome.information().nth(15).expect("a number");
        while !environment.is_over() && environment.now().seconds() < 6.0 {
            let missing = log2(70.0 / window(&environment.outcomes()[0]));
            environment.step(&[missing.clamp(-1.0, 1.0)]).expect("it goes on");
        }
        let late = environment.outcomes()[0];
        assert!((window(&late) - 70.0).abs() < 1e-9, "{late:?}");
        assert!((late.throughput - 1.0).abs() < 0.01, "fluid: {fluid}, {late:?}");
        assert!((late.delay - 1.05).abs() < 0.03, "fluid: {fluid}, {late:?}");
        assert!(late.loss == 0.0 && late.reward > -0.1 && early.reward < -1.0, "{late:?}");
    }
}

#[test]
fn the_fluid_never_delivers_more_than_links_carry() {
    let scenario = scenario(&[]);
    let mut environment = environment(fluid(), &["own"], 1);
    environment.reset(&scenario).expect("it can begin");
    let mut lost = 0.0;
    for step in 0.. {
        if environment.is_over() {
            break;
        }
        let action = if step % 16 < 8 { 0.8 } else { -0.8 };
        environment.step(&[action]).expect("it goes on");
        let outcome = environment.outcomes()[0];
        assert!(outcome.throughput < 1.05, "after {step} steps: {outcome:?}");
        lost += outcome.loss;
    }
    assert!(lost > 0.0, "windows of many times the path's product overflow its buffer");
}

#[test]
fn several_agents_share_a_clock() {
    let scenario = scenario(&["flow.own.count=2", "flow.own.start.spread=[\"0 s\", \"1 s\"]"]);
    for settings in [Settings::default(), fluid()] {
        let mut environment = environment(settings, &["other", "own"], 3);
        environment.reset(&scenario).expect("it can begin");
        let standing = |environment: &Environment| {
            environment.outcomes().iter().map(|it| it.standing).collect::<Vec<_>>()
        };
        let (waiting, running) = (Standing::Waiting, Standing::Running);
        assert_eq!(standing(&environment), [running, waiting, waiting]);
        let mut seen = vec![standing(&environment)];
        while !environment.is_over() {
            environment.step(&[0.1, 0.05, 0.0]).expect("it goes on");
            if seen.last() != Some(&standing(&environment)) {
                seen.push(standing(&environment));
            }
        }
        let begun = vec![running, running, waiting];
        assert_eq!(seen, [vec![running, waiting, waiting], begun, vec![running; 3]]);
        assert!(environment.outcomes().iter().all(|it| it.truncated && !it.terminated));
    }
}

#[test]
fn a_flow_with_a_size_terminates_and_one_that_stops_is_truncated() {
    let sized = scenario(&["flow.own.size=1 MB"]);
    let stopped = scenario(&["flow.own.stop=3 s"]);
    for (scenario, terminates) in [(sized, true), (stopped, false)] {
        let mut environment = environment(Settings::default(), &["own"], 1);
        environment.reset(&scenario).expect("it can begin");
        while !environment.is_over() {
            environment.step(&[0.05]).expect("it goes on");
        }
        let outcome = environment.outcomes()[0];
        assert_eq!((outcome.terminated, outcome.truncated), (terminates, !terminates));
        assert!(environment.now().seconds() < 5.0, "at {:?}", environment.now());
        assert_eq!(environment.step(&[0.0]), Err(GymError::Over));
    }
}

/// Nothing ever comes back: the episode ends with its first step, as the rules ask.
#[test]
fn a_path_that_loses_everything_ends() {
    let scenario = scenario(&["link.l.loss=0.999", "duration=3 s", "flow.other.start=1 s"]);
    let mut environment = environment(Settings::default(), &["own"], 1);
    environment.reset(&scenario).expect("it can begin");
    assert!(!environment.is_over());
    environment.step(&[0.0]).expect("a step");
    assert!(environment.is_over() && environment.outcomes()[0].truncated);
}

#[test]
fn wrong_requests_are_refused_in_words() {
    let plain = scenario(&[]);
    let mut environment = environment(Settings::default(), &["own"], 1);
    assert_eq!(environment.step(&[0.0]), Err(GymError::Over));
    environment.reset(&plain).expect("it can begin");
    let refused = |error: Result<(), GymError>| error.expect_err("it is wrong").to_string();
    assert!(refused(environment.step(&[])).contains("0 actions for 1 agents"));
    assert!(refused(environment.step(&[f64::NAN])).contains("the action of agent 0 is NaN"));
    let two = scenario(&["flow.own.count=2"]);
    assert!(refused(environment.reset(&two)).contains("steer 2 flows in this scenario, and 1"));
    let mut lost = self::environment(Settings::default(), &["mine"], 1);
    assert!(refused(lost.reset(&plain)).contains("are own, other"));
    let sized = scenario(&["flow.own.size=1 MB"]);
    let mut fluid = self::environment(fluid(), &["own"], 1);
    assert!(refused(fluid.reset(&sized)).contains("has a size"));
}

#[test]
fn a_file_that_is_no_policy_is_refused_in_words() {
    let good = POLICY.replace("SETS", "window");
    let refused = |text: &str| match controller(text) {
        Ok(_) => panic!("this is no policy: {text}"),
        Err(error) => error.to_string(),
    };
    for (from, to, said) in [
        ("\"longfat_policy\": 1", "\"longfat_policy\": 2", "its version is 2"),
        ("\"delivery\"", "\"deliver\"", "did you mean `delivery`?"),
        ("\"history\": 2", "\"history\": 3", "10 weights in a row, and 15 are needed"),
        ("\"history\": 2", "\"history\": 0", "are needed"),
        ("\"window\", \"scale\"", "\"windows\", \"scale\"", "it is one of window, rate"),
        ("\"octaves\": 0.5", "\"octaves\": -1", "octaves"),
        ("\"bounds\": [1, 10000]", "\"bounds\": [9, 2]", "the lower one first"),
        ("tanh", "sine", "it is one of linear, tanh, relu"),
        ("1.2", "1e999", "number out of range"),
        ("\"interval\"", "\"intervall\"", "unknown field `intervall`"),
    ] {
        let wrong = good.replacen(from, to, 1);
        assert_ne!(wrong, good, "{from}");
        assert!(refused(&wrong).contains(said), "{}", refused(&wrong));
    }
    assert!(refused("duration = \"8 s\"").contains("not a policy"));
}

#[test]
fn what_depends_on_the_scale_of_a_path_is_told() {
    let text = POLICY.replace("SETS", "window").replacen("\"rtt\"", "\"rtt_s\"", 1);
    let file = PolicyFile::read(&text).expect("a policy");
    assert_eq!(file.scaled_features(), ["rtt_s"]);
    assert!(FEATURES.iter().any(|it| it.name == "rtt_s" && !it.scale_free));
}

/// The controller of a policy keeps what every controller owes its host.
#[test]
fn a_policy_keeps_the_contract() {
    use longfat_control::Start;
    use longfat_control::conformance::{Operation, check};
    let made = Arc::new(controller(&POLICY.replace("SETS", "rate")).expect("a policy"));
    let mut bytes = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..200 {
        let operations: Vec<Operation> = (0..100)
            .map(|_| {
                bytes = bytes.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                Operation::from_bytes(bytes.to_le_bytes())
            })
            .collect();
        check(&made, &made.defaults(), &Start::default(), &operations).expect("it keeps it");
    }
}
