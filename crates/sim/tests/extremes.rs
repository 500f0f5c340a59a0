//! Every controller over every queue, with the smallest and largest settings of both.

use std::collections::BTreeSet;

use crate::support::accounted::run;
use longfat_control::CONTROLLERS;
use longfat_queue::DISCIPLINES;
use longfat_sim::Scenario;
use longfat_units::parameter::{Kind, Parameter};

/// Choices that are always the same (Knuth's 64-bit linear congruential generator).
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// An entry with some of its parameters at an extreme.
    fn entry(&mut self, name: &str, parameters: &[Parameter]) -> String {
        let mut text = format!("{{ kind = \"{name}\"");
        for parameter in parameters {
            let levels = levels(parameter);
            // More often than not the default, so that what excludes another setting does not exclude most networks.
            if let Some(level) = levels.get(self.below(2 * levels.len() + 1)) {
                text.extend([", ", &*parameter.name, " = ", level]);
            }
        }
        text + " }"
    }

    fn network(&mut self, control: &str, queue: &str) -> String {
        let rate = self.of(&["10 Mbit/s", "200 kbit/s", "3 Gbit/s"]);
        let buffer = self.of(&["20 packets", "1 packet", "20 packets", "4 kB", "unlimited"]);
        let keys = [
            self.of(&["", "", "access = \"5 Mbit/s\"\n"]),
            self.of(&["", "size = \"50 kB\"\n"]),
            self.of(&["", "delayed_ack = true\n"]),
            self.of(&["", "ecn = false\n"]),
            self.of(&[
                "",
                "recovery = \"newreno\"\n",
                "recovery = \"reno\"\n",
                "recovery = \"rack\"\n",
                "recovery = \"quic\"\n",
            ]),
            self.of(&["", "initial_window = 1\n", "initial_window = 200\n"]),
            self.of(&["", "rto_estimator = \"linux\"\n"]),
            self.of(&["", "host_jitter = \"100 ns\"\n"]),
            self.of(&["", "rto_restart = \"each\"\n", "rto_restart = \"never\"\n"]),
            self.of(&["", "packet = \"64 B\"\n"]),
            self.of(&["", "ack_every = 1\n", "ack_every = 1000000\nack_delay = \"1 ps\"\n"]),
            self.of(&["", "send_quantum = 4000000000\n", "send_quantum = \"1 ps\"\n"]),
            self.of(&[
                "",
                "window_validation = \"rfc5681\"\n",
                "window_validation = \"rfc2861\"\n",
                "window_validation = \"rfc7661\"\n",
                "window_validation = \"ratelimited-increase\"\n",
            ]),
            self.of(&["", "careful_resume = { window = 4000, rtt = \"4 ms\" }\n"]),
        ];
        format!(
            "duration = \"150 ms\"\nwarmup = \"{}\"\nsample = \"3 ms\"\n
             [link.l]\nrate = \"{rate}\"\ndelay = \"1 ms\"\nbuffer = \"{buffer}\"\nqueue = {queue}\nloss = {}\n{}
             [[flow]]\nname = \"data\"\ncontrol = {control}\npath = [\"l\"]\nrtt = \"4 ms\"\ncount = {}\n{}
             [[flow]]\nname = \"back\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"9 ms\"\nreverse = true\n",
            self.of(&["0 s", "41 ms"]),
            self.of(&["0", "0.02", "0.6"]),
            self.of(&["", "anti_ecn = { threshold = 0.5, buffer = \"4 packets\" }\n"]),
            self.of(&["1", "3"]),
            keys.concat(),
        )
    }
}

/// The smallest and the largest value of a parameter, and all its words, as in a scenario.
fn levels(parameter: &Parameter) -> Vec<String> {
    let quoted = |words: &[&str]| words.iter().map(|word| format!("\"{word}\"")).collect();
    match &parameter.kind {
        Kind::Number { min, max } => vec![format!("{min:e}"), format!("{max:e}")],
        Kind::Count { min, max } => vec![min.to_string(), (*max).min(1 << 53).to_string()],
        Kind::Frequency { min, max } => vec![format!("\"{min:e} /s\""), format!("\"{max:e} /s\"")],
        Kind::Span => quoted(&["1 us", "100 s"]),
        Kind::Length => quoted(&["0 packets", "1 packet", "15 packets"]),
        Kind::Flag => vec!["true".into(), "false".into()],
        Kind::Word(words) => words.iter().map(|word| format!("\"{word}\"")).collect(),
        Kind::NumberOr { min, max, words } => {
            let words = words.iter().map(|word| format!("\"{word}\""));
            [format!("{min:e}"), format!("{max:e}")].into_iter().chain(words).collect()
        }
        Kind::Law => quoted(&["stcp", "fiber"]),
    }
}

/// So many networks that are accepted for each controller over each queue: no packet appears or vanishes, no link is used
/// above its capacity, and both kinds of server tell the same.
fn lose_no_packet(seed: u64, each: usize) {
    let mut choices = Choices(seed);
    let mut met = BTreeSet::new();
    let mut networks = 0;
    for controller in CONTROLLERS.iter() {
        for discipline in DISCIPLINES.iter() {
            let mut accepted = 0;
            for _ in 0..40 * each {
                let control = choices.entry(&controller.name, &controller.parameters);
                let queue = choices.entry(&discipline.name, &discipline.parameters);
                let text = choices.network(&control, &queue);
                let Ok(scenario) = Scenario::read(&text, "extreme.toml", &[], None) else {
                    continue;
                };
                let both = [false, true].map(|stepwise| run(&scenario, stepwise, 499, &text));
                let [ahead, stepwise] = both.map(|recording| format!("{recording:?}"));
                assert_eq!(ahead, stepwise, "{text}");
                met.extend([&*controller.name, &*discipline.name].map(String::from));
                accepted += 1;
                networks += 1;
                if accepted == each {
                    break;
                }
            }
        }
    }
    assert!(networks > 300, "only {networks} networks were accepted");
    let every = CONTROLLERS.iter().map(|entry| &*entry.name);
    let every: BTreeSet<_> = every.chain(DISCIPLINES.iter().map(|entry| &*entry.name)).collect();
    assert_eq!(met.iter().map(String::as_str).collect::<BTreeSet<_>>(), every);
}

#[test]
fn extreme_settings_lose_no_packet() {
    lose_no_packet(1988, 2);
}

#[test]
#[ignore = "minutes: make test-long"]
fn more_extreme_settings_lose_no_packet() {
    lose_no_packet(2003, 20);
}
