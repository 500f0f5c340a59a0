//! Any network keeps its packets: each byte chooses a setting, the extreme ones among them, and what the reader accepts
//! is simulated both ways.

#![no_main]

#[path = "../../crates/sim/tests/support/accounted.rs"]
mod accounted;

use accounted::run;
use libfuzzer_sys::{Corpus, fuzz_target};
use longfat_sim::{Keep, Scenario, WorkEstimate};

/// The most packets of a run: a few milliseconds.
const MOST_PACKETS: f64 = 3000.0;

fuzz_target!(|data: &[u8]| -> Corpus {
    let text = Choices(data.iter()).scenario();
    let Ok(scenario) = Scenario::read(&text, "drawn.toml", &[], None) else {
        return Corpus::Reject;
    };
    let needed = WorkEstimate::of(&scenario, Keep { rows: true, transfers: true });
    if needed.packets > MOST_PACKETS || needed.memory > 20e6 {
        return Corpus::Reject;
    }
    let [ahead, stepwise] = [false, true].map(|stepwise| run(&scenario, stepwise, 97, &text));
    assert_eq!(format!("{:?}", ahead), format!("{:?}", stepwise), "{text}");
    Corpus::Keep
});

/// Bytes that choose; once they are used up, the first of everything.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn number(&mut self, below: usize) -> usize {
        self.0.next().map_or(0, |&byte| usize::from(byte) % below)
    }

    fn of<'b>(&mut self, words: &[&'b str]) -> &'b str {
        words[self.number(words.len())]
    }

    fn scenario(mut self) -> String {
        let mut text = format!(
            "duration = \"{}\"\nwarmup = \"{}\"\nsample = \"{}\"\nseed = {}\n",
            self.of(&["100 ms", "1 s", "10 ms", "31.7 ms"]),
            self.of(&["0 s", "9 ms", "1.234 ms"]),
            self.of(&["10 ms", "1 ms", "7.7 ms"]),
            self.number(256),
        );
        let links = 1 + self.number(3);
        for link in 0..links {
            text += &format!("[link.l{link}]\n");
            let rates = ["10 Mbit/s", "1 Mbit/s", "64 kbit/s", "1 Gbit/s", "7 Tbit/s"];
            text += &format!("rate = \"{}\"\n", self.of(&rates));
            text += &format!("delay = \"{}\"\n", self.of(&["1 ms", "0 s", "1 ps", "3 ms"]));
            text += &format!("loss = {}\n", self.of(&["0", "0.01", "0.5", "0.99"]));
            text += self.of(&[
                "",
                "buffer = \"1 packet\"\n",
                "buffer = \"3 kB\"\n",
                "buffer = \"5 packets\"\n",
                "buffer = \"unlimited\"\n",
            ]);
            text += self.of(&[
                "",
                "anti_ecn = { threshold = 0.5 }\n",
                "anti_ecn = { threshold = 1, buffer = \"1 packet\" }\n",
            ]);
            text += self.of(&[
                "",
                "shaper = { rate = \"300 kbit/s\", burst = \"9 kB\" }\n",
                "acknowledgments = { keep = \"newest\" }\n",
                "acknowledgments = { hold = \"3 ms\", keep = \"1/2\" }\n",
                "acknowledgments = { hold = \"1 ps\" }\n",
            ]);
            text += self.of(&[
                "",
                "queue = \"red\"\n",
                "queue = { kind = \"red\", min = \"1 packet\", max = \"2 packets\", weight = 1, max_p = 1 }\n",
                "queue = { kind = \"red\", mode = \"bytes\", wait = true }\n",
                "queue = \"pi\"\n",
                "queue = \"rem\"\n",
                "queue = \"avq\"\n",
                "queue = { kind = \"avq\", utilisation = 0.001, alpha = 1e6, ecn = false }\n",
                "queue = \"pushout\"\n",
                "queue = \"codel\"\n",
                "queue = { kind = \"codel\", target = \"1 ps\", interval = \"1 ns\" }\n",
                "queue = \"pie\"\n",
                "queue = { kind = \"pie\", target = \"1 us\", interval = \"1 us\", burst = \"0 s\" }\n",
                "queue = \"fq-codel\"\n",
                "queue = { kind = \"fq-codel\", queues = 2, quantum = 64, target = \"1 ps\" }\n",
                "queue = { kind = \"drr\", queues = 3, quantum = 64 }\n",
                "queue = { kind = \"sfq\", queues = 3, perturb = \"1 us\" }\n",
                "queue = { kind = \"cake\", queues = 8, quantum = 64 }\n",
            ]);
        }
        for flow in 0..1 + self.number(4) {
            let mut path: Vec<String> = Vec::new();
            for link in 0..=self.number(links) {
                path.push(match self.number(4) {
                    3 => format!("{{ link = \"l{link}\", reverse = true }}"),
                    _ => format!("\"l{link}\""),
                });
            }
            if self.number(4) == 3 {
                path.reverse();
            }
            let traffic = flow > 0 && self.number(4) == 1;
            text += if traffic { "[[traffic]]\n" } else { "[[flow]]\n" };
            text += &format!("name = \"f{flow}\"\npath = [{}]\n", path.join(", "));
            text += &format!(
                "control = \"{}\"\nrtt = \"{}\"\n",
                self.of(&[
                    "reno",
                    "cubic",
                    "hstcp",
                    "stcp",
                    "exp",
                    "anti-ecn",
                    "fiber",
                    "cw-hstcp",
                    "constant-rate",
                    "blitz",
                    "sized-start",
                ]),
                self.of(&["20 ms", "8 ms", "100 ms"]),
            );
            if traffic {
                text += self.of(&[
                    "arrivals = { poisson = \"100 /s\" }\n",
                    "arrivals = { load = \"50 %\" }\n",
                ]);
                text += self.of(&[
                    "size = \"3 kB\"\n",
                    "size = { pareto = { mean = \"9 packets\", shape = 1.1 } }\n",
                ]);
            } else {
                text += self.of(&["", "count = 3\n", "count = 17\n"]);
                text += self.of(&["", "size = \"1 B\"\n", "size = \"20 kB\"\n"]);
                text += self.of(&[
                    "",
                    "start = \"3 ms\"\n",
                    "start = { uniform = [\"0 s\", \"30 ms\"] }\n",
                ]);
                text += self.of(&["", "stop = \"50 ms\"\n"]);
            }
            text += self.of(&["", "reverse = true\n"]);
            text += self.of(&["", "packet = \"64 B\"\n", "packet = \"9 kB\"\n"]);
            text += self.of(&["", "ecn = false\n", "ecn = \"ect1\"\n"]);
            text += self.of(&["", "ecn_feedback = \"accurate\"\n"]);
            text += self.of(&["", "delayed_ack = true\n"]);
            text += self.of(&["", "ack_every = 1\n", "ack_every = 8\n"]);
            text += self.of(&["", "ack_delay = \"1 ms\"\n"]);
            text += self.of(&["", "send_quantum = 10\n", "send_quantum = \"1 ms\"\n"]);
            text += self.of(&[
                "",
                "window_validation = \"rfc5681\"\n",
                "window_validation = \"rfc2861\"\n",
                "window_validation = \"rfc7661\"\n",
                "window_validation = \"ratelimited-increase\"\n",
            ]);
            text += self.of(&["", "careful_resume = { window = 200, rtt = \"5 ms\" }\n"]);
            text += self.of(&[
                "",
                "recovery = \"newreno\"\n",
                "recovery = \"reno\"\n",
                "recovery = \"rack\"\n",
                "recovery = \"quic\"\n",
            ]);
            text += self.of(&[
                "",
                "slow_start = \"limited\"\n",
                "slow_start = \"hystart\"\n",
                "slow_start = \"hystart++\"\n",
            ]);
            text += self.of(&["", "initial_window = 1\n", "initial_window = 100\n"]);
            text += self.of(&["", "initial_threshold = 2\n"]);
            text += self.of(&["", "max_window = 1\n", "max_window = 20\n"]);
            text += self.of(&[
                "",
                "receive_window = \"auto\"\n",
                "receive_window = \"9 kB\"\n",
                "receive_window = { kind = \"sender-tuned\", most = \"40 kB\", scale = 5 }\n",
            ]);
            text += self.of(&["", "pacing = \"spread\"\n", "pacing = \"none\"\n"]);
            text += self.of(&["", "rto_min = \"1 ms\"\n"]);
            text += self.of(&["", "rto_estimator = \"linux\"\n"]);
            text += self.of(&["", "host_jitter = \"100 ns\"\n"]);
            text += self.of(&["", "rto_restart = \"each\"\n", "rto_restart = \"never\"\n"]);
            text += self.of(&["", "access = \"2 Mbit/s\"\n", "access = \"1 Gbit/s\"\n"]);
        }
        text
    }
}
