//! Random scenarios as text: what a failing test prints can be run again with `longfat run`.

pub(crate) mod prober;

use std::sync::Arc;

use crate::support::disciplines::acting;
use longfat_control::{CONTROLLERS, Controller, SlowStart};
use longfat_queue::DISCIPLINES;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Bursts on any link. They may have priorities where every queue respects them.
const BLITZ: &str = "{ kind = \"blitz\", priorities = false }";

/// A random scenario of up to three links, long flows and short ones. Paths lie along a chain, or cross any of the
/// links in any order and direction.
pub(crate) fn scenarios() -> impl Strategy<Value = String> {
    let links = prop::collection::vec(link(), 1..4);
    let flows = prop::collection::vec(flow(), 1..4);
    let traffic = prop::collection::vec(traffic(), 0..3);
    (links, flows, traffic, 0_u64..1000, 0_u32..1000, 0..8).prop_map(
        |(links, mut flows, mut traffic, seed, warmup, kind)| {
            if kind == 1 {
                traffic.clear();
                make_alike(&mut flows);
            }
            let mut parts = vec![format!(
                "duration = \"1.5 s\"\nwarmup = \"{warmup} ms\"\nseed = {seed}\nsample = \"20 ms\"\n"
            )];
            let delays: Vec<u32> = links.iter().map(|(delay, _)| *delay).collect();
            parts.extend(links.iter().enumerate().map(|(index, (_, text))| text.replace("NAME", &format!("l{index}"))));
            let is_mesh = kind > 5;
            for (index, (text, place, extra)) in flows.iter().chain(&traffic).enumerate() {
                let path = if is_mesh { place.through_mesh(&delays) } else { place.along_chain(&delays) };
                parts.push(placed(text, index, &path, *extra, &delays));
            }
            let text = parts.join("\n");
            if kind > 0 {
                return text;
            }
            let heed = |line| if is_queue(line) { "queue = \"pushout\"\n".into() } else { format!("{line}\n") };
            text.lines().map(heed).collect::<String>().replace(BLITZ, "\"blitz\"")
        },
    )
}

/// A random scenario of links that long flows share, some of them in step, and short ones in half of them: they may be
/// served in turns. In some there are so many flows that few of them have anything on its way to a link.
pub(crate) fn shared_links() -> impl Strategy<Value = String> {
    let queue =
        select(&["drop-tail", "red", "avq", "pi", "step", "pie", "xcp", "vcp", "decbit"][..]);
    let loss = select(&["0", "0", "1e-3", "0.03"][..]);
    let links = prop::collection::vec((60_u32..400, 1_u32..12, 12_u32..80, queue, loss), 1..4);
    let flows = prop::collection::vec((flow(), select(&[1_u32, 4, 4, 5, 5, 23, 0][..])), 2..8);
    let traffic = prop_oneof![Just(Vec::new()), prop::collection::vec(traffic(), 1..4)];
    let crowd = select(&[1, 1, 16][..]);
    let sample = select(&["7 ms", "100 ms"][..]);
    (links, 0..3, (flows, traffic), 0_u64..1000, 0_u32..400, sample, crowd).prop_map(
        |(mut links, kind, (flows, traffic), seed, warmup, sample, crowd)| {
            if kind > 0 {
                links.truncate(1);
            }
            let delays: Vec<u32> = links.iter().map(|link| link.1).collect();
            let mut text = format!(
                "duration = \"700 ms\"\nwarmup = \"{warmup} ms\"\nseed = {seed}\nsample = \"{sample}\"\n"
            );
            text.extend(links.into_iter().enumerate().map(|(index, (rate, delay, buffer, queue, loss))| {
                let queue = acting(queue);
                format!(
                    "[link.l{index}]\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n\
                     buffer = \"{buffer} packets\"\nloss = {loss}\nbdp = \"20 ms\"\nqueue = {queue}\nanti_ecn = true\n"
                )
            }));
            for (index, ((flow, place, _), extra)) in flows.into_iter().enumerate() {
                let path = place.along_chain(&delays);
                let flow = placed(&flow, index, &path, extra, &delays);
                // Without anything beside the links, timers let packets go as they arrive.
                let least = least_rtt(&path, &delays) + u32::from(extra > 0);
                let in_step = |line: &str| match line.split(' ').next() {
                    Some("application") => String::new(),
                    Some("count") => {
                        let count: u32 = line["count = ".len()..].parse().expect("a number");
                        format!("count = {}\n", crowd * count)
                    }
                    Some("start") if extra == 4 => "start = \"0 s\"\n".into(),
                    Some("rtt") if extra == 4 => format!("rtt = \"{least} ms\"\n"),
                    Some("rtt") => {
                        let most = least + extra;
                        format!("rtt = {{ spread = [\"{least} ms\", \"{most} ms\"] }}\n")
                    }
                    _ => format!("{line}\n"),
                };
                text.extend(flow.lines().map(in_step));
            }
            for (index, (traffic, place, extra)) in traffic.into_iter().enumerate() {
                let path = place.along_chain(&delays);
                let least = least_rtt(&path, &delays) + 1;
                let traffic = traffic.replace("LEAST", &least.to_string());
                let mut traffic = placed(&traffic, index + 10, &path, extra + 1, &delays);
                // A burst leaves at the access rate.
                if extra % 2 == 1 && !traffic.contains("blitz") {
                    traffic = traffic.replace("access = \"30 Mbit/s\"\n", "");
                }
                text += &traffic;
            }
            text
        },
    )
}

/// The same path and round trip for all: the case in which links hear of acknowledgments early.
fn make_alike(flows: &mut [GroupText]) {
    let (_, place, extra) = flows[0].clone();
    for (text, its_place, its_extra) in flows {
        (*its_place, *its_extra) = (place.clone(), extra);
        *text = text
            .replace("reverse = true", "reverse = false")
            .replace("{ spread = [\"LEAST ms\", \"MOST ms\"] }", "\"MOST ms\"");
    }
}

fn is_queue(line: &str) -> bool {
    line.starts_with("queue = ")
}

/// The shortest round trip that the links of a path allow, in milliseconds.
fn least_rtt(path: &[(usize, bool)], delays: &[u32]) -> u32 {
    path.iter().map(|&(link, _)| 2 * delays[link]).sum()
}

/// A group of flows with its place filled in: name, path, and a round trip that its links allow.
fn placed(text: &str, index: usize, path: &[(usize, bool)], extra: u32, delays: &[u32]) -> String {
    let least = least_rtt(path, delays);
    let name = |&(link, backwards): &(usize, bool)| {
        if backwards {
            format!("{{ link = \"l{link}\", reverse = true }}")
        } else {
            format!("\"l{link}\"")
        }
    };
    let names: Vec<String> = path.iter().map(name).collect();
    text.replace("NAME", &format!("group{index}"))
        .replace("PATH", &names.join(", "))
        .replace("LEAST", &least.to_string())
        .replace("MOST", &(least + extra).to_string())
}

/// The delay of a link in milliseconds, and its text.
fn link() -> impl Strategy<Value = (u32, String)> {
    let buffers = [
        "1 packets",
        "2 packets",
        "7 packets",
        "60 packets",
        "1 bdp",
        "20 kB",
        "300 ms",
        "unlimited",
    ];
    let markers = [
        "false",
        "true",
        "{ threshold = 0.8, buffer = \"12 kB\" }",
        "{ threshold = 0.3, buffer = \"unlimited\", mode = \"overwrite\" }",
    ];
    let waiting = (select(buffers.to_vec()), select(DISCIPLINES.clone()), select(markers.to_vec()));
    let changes =
        (of(prop::collection::vec(change(), 1..4)), of(prop::collection::vec(impairment(), 1..5)));
    (1_u32..20, 0_u32..8, waiting, select(vec![0.0, 0.0, 0.02, 0.2]), of(1_u32..20), changes)
        .prop_map(move |(rate, delay, (buffer, discipline, marker), loss, reverse, changes)| {
            let (changes, mut impairments) = changes;
            let mut changes = changes.unwrap_or_default().concat();
            let of_a_key = |text: &String| text.split(' ').next().map(str::to_string);
            if let Some(impairments) = &mut impairments {
                impairments.sort();
                impairments.dedup_by_key(|text| of_a_key(text));
            }
            let impairments = impairments.unwrap_or_default().concat();
            let trace = changes.contains("trace");
            // A trace leaves no room for changes of the rate, nor for AntiECN.
            let marker = if trace { "false" } else { marker };
            let mut follow = impairments;
            if trace {
                follow += "trace = { mahimahi = \"1 1 3 3 3 8 13\" }\n";
                changes.clear();
            }
            let queue = acting(if buffer == "unlimited" { "drop-tail" } else { &discipline.name });
            let reverse = reverse.map_or(String::new(), |rate| {
                format!("[link.NAME.reverse]\nrate = \"{rate} Mbit/s\"\nbuffer = \"9 packets\"\n")
            });
            let text = format!(
                "[link.NAME]\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nbuffer = \"{buffer}\"\n\
                 loss = {loss}\nbdp = \"150 ms\"\nqueue = {queue}\nanti_ecn = {marker}\n{follow}{reverse}{changes}"
            );
            (delay, text)
        })
}

/// Something that a wire does to packets.
fn impairment() -> impl Strategy<Value = String> {
    let keys = [
        "jitter = \"4 ms\"\n",
        "jitter = { most = \"9 ms\", ordered = false }\n",
        "jitter = { kind = \"wifi\", interval = \"3 ms\", packets = 5 }\n",
        "reorder = { probability = 0.1, distance = \"3 packets\" }\n",
        "reorder = { probability = 0.02, distance = \"20 ms\" }\n",
        "duplicate = 0.05\n",
        "policer = { rate = \"4 Mbit/s\", burst = \"10 kB\" }\n",
        "shaper = { rate = \"3 Mbit/s\", burst = \"12 kB\" }\n",
        "acknowledgments = { keep = \"newest\" }\n",
        "acknowledgments = { keep = \"1/4\" }\n",
        "acknowledgments = { hold = \"7 ms\" }\n",
        "acknowledgments = { hold = \"30 ms\", keep = \"1/3\" }\n",
        "ecn = \"bleached\"\n",
        "burst_loss = { p = 0.01, r = 0.3 }\n",
        "burst_loss = { p = 0.2, r = 0.4, good = 0.01, bad = 0.4 }\n",
    ];
    select(keys.to_vec()).prop_map(String::from)
}

/// A change of a link, or the word for a trace instead.
fn change() -> impl Strategy<Value = String> {
    let values = [
        "rate = \"0 bit/s\"",
        "rate = \"700 kbit/s\"",
        "rate = \"15 Mbit/s\"",
        "delay = \"0 ms\"",
        "delay = \"12 ms\"",
        "loss = 0.1",
        "loss = 1",
        "delay = \"3 ms\"\nrate = \"5 Mbit/s\"\nloss = 0",
    ];
    let how =
        ["", "over = \"90 ms\"", "every = \"130 ms\"", "every = \"250 ms\"\nover = \"200 ms\""];
    let side = ["", "reverse = true", "reverse = false"];
    let change =
        (0_u32..1500, select(values.to_vec()), select(how.to_vec()), select(side.to_vec()))
            .prop_map(|(at, value, how, side)| {
                format!("[[link.NAME.change]]\nat = \"{at} ms\"\n{value}\n{how}\n{side}\n")
            });
    prop_oneof![8 => change, 1 => Just("trace".to_string())]
}

/// A group's text without its place; where it lies; how much longer its round trip is than its links.
type GroupText = (String, Place, u32);

/// Where a group lies: the ends of its path in a chain, and its path in a mesh.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    ends: (Index, Index),
    mesh: Vec<(Index, bool)>,
}

impl Place {
    fn along_chain(&self, delays: &[u32]) -> Vec<(usize, bool)> {
        let (a, b) = (self.ends.0.index(delays.len()), self.ends.1.index(delays.len()));
        (a.min(b)..=a.max(b)).map(|link| (link, false)).collect()
    }

    fn through_mesh(&self, delays: &[u32]) -> Vec<(usize, bool)> {
        let mut path: Vec<(usize, bool)> = Vec::new();
        for (link, backwards) in &self.mesh {
            let link = link.index(delays.len());
            if path.iter().all(|(crossed, _)| *crossed != link) {
                path.push((link, *backwards));
            }
        }
        path
    }
}

fn place() -> impl Strategy<Value = Place> {
    (any::<(Index, Index)>(), prop::collection::vec(any::<(Index, bool)>(), 1..6))
        .prop_map(|(ends, mesh)| Place { ends, mesh })
}

/// Every way of pacing; the first is the default.
const PACINGS: [&str; 7] = [
    "\"controller\"",
    "\"none\"",
    "\"spread\"",
    "{ blocks = 2 }",
    "{ blocks = 5 }",
    "{ loose_blocks = 3 }",
    "{ rate = \"300 /s\" }",
];

/// What may write the data of a flow.
const APPLICATIONS: [&str; 8] = [
    "{ kind = \"constant\", rate = \"2 Mbit/s\", write = \"2 packets\" }",
    "{ kind = \"constant\", rate = \"900 kbit/s\", poisson = true }",
    "{ kind = \"on-off\", rate = \"4 Mbit/s\", on = \"30 ms\", off = { pareto = { mean = \"40 ms\", shape = 1.5 } } }",
    "{ kind = \"request-response\", request = \"2 kB\", response = { exponential = { mean = \"9 kB\" } } }",
    "{ kind = \"request-response\", response = \"1 packets\", think = { exponential = \"20 ms\" } }",
    "{ kind = \"web\", objects = { geometric = 5 }, object = { uniform = [\"1 kB\", \"20 kB\"] }, connections = 3 }",
    "{ kind = \"video\", chunk = \"100 ms\", buffer = \"300 ms\", ladder = [\"500 kbit/s\", \"2 Mbit/s\", \"9 Mbit/s\"] }",
    "{ kind = \"video\", chunk = \"60 ms\", rule = \"throughput\", ladder = [\"1 Mbit/s\", \"3 Mbit/s\"] }",
];

/// What receivers allow, where they do not allow everything.
const RECEIVE_WINDOWS: [&str; 6] = [
    "\"4 packets\"",
    "\"auto\"",
    "{ initial = \"2 packets\", most = \"300 packets\" }",
    "{ kind = \"sender-tuned\", initial = \"2 packets\", most = \"300 packets\" }",
    "{ kind = \"sender-tuned\", most = \"9 packets\" }",
    "{ kind = \"fixed\", size = \"30 packets\", scale = 2 }",
];

/// A controller as a value.
fn written(control: &str) -> String {
    match control {
        "blitz" => BLITZ.into(),
        table if table.starts_with('{') => table.into(),
        name => format!("\"{name}\""),
    }
}

/// Every controller that asks for no queue of its own, and what goes by the room that links have. `sized-start` is for sizes.
fn everybody() -> Vec<&'static str> {
    let by_itself = |entry: &&Arc<Controller>| {
        entry.name != "sized-start" && entry.needs(&entry.defaults()).queue.is_none()
    };
    let names = CONTROLLERS.iter().filter(by_itself).map(|entry| &*entry.name);
    names.chain(["{ kind = \"anti-ecn\", delta = \"sqrt\", on = \"exp\" }"]).collect()
}

/// Does it send by a rate, whatever the flow would like?
fn paces(control: &str) -> bool {
    let found = CONTROLLERS.iter().find(|entry| entry.name == control);
    found.is_some_and(|entry| entry.needs(&entry.defaults()).pacing)
}

fn flow() -> impl Strategy<Value = GroupText> {
    let sender = (
        select(everybody()),
        select(vec![100_u32, 576, 1500, 9000]),
        select(&["sack", "newreno", "reno", "rack", "quic"][..]),
        any::<bool>(),
        select(SlowStart::NAMES),
        select(&PACINGS[..]),
        select(&["rfc6298", "linux"][..]),
        select(&["first", "each", "never"][..]),
        of(select(&RECEIVE_WINDOWS[..])),
    );
    let host = (
        select(
            &[
                "",
                "ack_every = 1\n",
                "ack_every = 5\nack_delay = \"25 ms\"\n",
                "ack_every = 200\nack_delay = \"1 ms\"\n",
            ][..],
        ),
        select(&["", "", "send_quantum = 3\n", "send_quantum = \"2 ms\"\n"][..]),
        select(&["none", "none", "rfc5681", "rfc2861", "rfc7661", "ratelimited-increase"][..]),
        select(
            &[
                "",
                "",
                "",
                "",
                "careful_resume = { window = 150, rtt = \"60 ms\" }\n",
                "careful_resume = { window = 2, rtt = \"1 ms\" }\n",
                "careful_resume = { window = 20000, rtt = \"2 s\" }\n",
            ][..],
        ),
    );
    let application = of(select(APPLICATIONS.to_vec()));
    let bounds =
        (of(1_u32..300), of(1_u32..30), of(5_u32..50), 0_u32..500, of(600_u32..2000), application);
    let sender = (sender, host);
    (sender, bounds, any::<[bool; 3]>(), 1_u32..4, place(), 0_u32..40).prop_map(
        |(sender, (size, most, access, start, stop, application), [reverse, jitter, counts], count, span, extra)| {
            let (sender, (acks, quantum, validation, resume)) = sender;
            let (control, packet, recovery, delayed, slow_start, pacing, estimator, restart, allowed) = sender;
            let allowed = allowed.filter(|_| control != "blitz" && recovery != "quic");
            // A burst leaves at the access rate.
            let pacing = if control == "blitz" || paces(control) { PACINGS[0] } else { pacing };
            let access = access.or((control == "blitz").then_some(25));
            let application = application.filter(|_| control != "blitz");
            let size = size.filter(|_| application.is_none());
            let control = written(control);
            let mut text = format!(
                "[[flow]]\nname = \"NAME\"\ncontrol = {control}\ncount = {count}\npath = [PATH]\nreverse = {reverse}\n\
                 rtt = {{ spread = [\"LEAST ms\", \"MOST ms\"] }}\nstart = {{ uniform = [\"0 ms\", \"{start} ms\"] }}\n\
                 packet = \"{packet} B\"\nrecovery = \"{recovery}\"\ndelayed_ack = {delayed}\n\
                 slow_start = \"{slow_start}\"\npacing = {pacing}\n\
                 rto_estimator = \"{estimator}\"\nrto_restart = \"{restart}\"\n\
                 window_validation = \"{validation}\"\n{acks}{quantum}{resume}"
            );
            let optional = [
                size.map(|size| format!("size = \"{size} packets\"\n")),
                most.map(|most| format!("max_window = {most}\n")),
                allowed.map(|window| format!("receive_window = {window}\n")),
                access.map(|access| format!("access = \"{access} Mbit/s\"\n")),
                stop.map(|stop| format!("stop = \"{stop} ms\"\n")),
                application.map(|application| format!("application = {application}\n")),
                jitter.then(|| "host_jitter = \"25 ns\"\n".into()),
                counts.then(|| "ecn_feedback = \"accurate\"\n".into()),
            ];
            text.extend(optional.into_iter().flatten());
            (text, span, extra)
        },
    )
}

fn traffic() -> impl Strategy<Value = GroupText> {
    let sizes = [
        r#""3 packets""#,
        r#"{ pareto = { mean = "10 packets", shape = 1.35 } }"#,
        r#"{ exponential = { mean = "5 kB" } }"#,
        r#"{ uniform = ["1 packets", "30 packets"] }"#,
    ];
    let what = (
        select(&["reno", "exp", "cubic", "cw-hstcp", "blitz", "anti-ecn"][..]),
        1_u32..300,
        select(sizes.to_vec()),
        of(1_u32..50),
    );
    (what, any::<bool>(), place(), 0_u32..40).prop_map(|(what, reverse, span, extra)| {
        let (control, rate, size, count) = what;
        let control = written(control);
        if count.is_some_and(|count| count % 8 == 7) {
            let list = (0..60).map(|index| format!("{} {}", index * 7 % 50, index * 997 % 30_000 + 1));
            let list = list.collect::<Vec<_>>().join(",");
            let text = format!(
                "[[traffic]]\nname = \"NAME\"\ncontrol = {control}\naccess = \"30 Mbit/s\"\npath = [PATH]\n\
                 reverse = {reverse}\nrtt = \"MOST ms\"\n\
                 replay = {{ tick = \"1 ms\", kinds = [{{ control = \"reno\" }}], list = \"{list},0 9000 1\" }}\n"
            );
            return (text, span, extra);
        }
        let count = count.map_or(String::new(), |count| format!("count = {count}\n"));
        let text = format!(
            "[[traffic]]\nname = \"NAME\"\ncontrol = {control}\naccess = \"30 Mbit/s\"\n\
             path = [PATH]\nreverse = {reverse}\narrivals = {{ poisson = \"{rate} /s\" }}\nsize = {size}\n\
             rtt = {{ uniform = [\"LEAST ms\", \"MOST ms\"] }}\n{count}"
        );
        (text, span, extra)
    })
}
