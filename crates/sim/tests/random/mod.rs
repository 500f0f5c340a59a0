//! Random scenarios as text: what a failing test prints can be run again with `longfat run`.

mod parameters;
pub(crate) mod prober;
mod transport;

use crate::support::disciplines::{acting, early};
use longfat_queue::DISCIPLINES;
use parameters::{Draws, draws, table, tried};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use transport::{BLITZ, everybody, senders};

/// A random scenario of up to three links, long flows and short ones. Paths lie along a chain, or cross any of the
/// links in any order and direction.
pub(crate) fn scenarios() -> impl Strategy<Value = String> {
    routers().prop_flat_map(networks)
}

/// Now and then all routers are of a kind that tells senders what they may send.
fn routers() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![5 => Just(None), 1 => select(&["xcp", "vcp", "decbit"][..]).prop_map(Some)]
}

fn networks(routers: Option<&'static str>) -> impl Strategy<Value = String> {
    let links = prop::collection::vec(link(), 1..4);
    let flows = prop::collection::vec(flow(routers), 1..4);
    let traffic = prop::collection::vec(traffic(routers), 0..3);
    (links, flows, traffic, 0_u64..1000, 0_u32..1000, 0..8).prop_map(
        move |(links, mut flows, mut traffic, seed, warmup, kind)| {
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
            if let Some(queue) = routers {
                return with_queue(&text, queue);
            }
            if kind > 0 {
                return text;
            }
            with_queue(&text, "pushout").replace(BLITZ, "\"blitz\"")
        },
    )
}

/// A random scenario of links that long flows share, some of them in step, and short ones in half of them: they may be
/// served in turns. In some there are so many flows that few of them have anything on its way to a link.
pub(crate) fn shared_links() -> impl Strategy<Value = String> {
    routers().prop_flat_map(plain_networks)
}

fn plain_networks(routers: Option<&'static str>) -> impl Strategy<Value = String> {
    let name =
        select(&["drop-tail", "red", "avq", "pi", "step", "pie", "xcp", "vcp", "decbit"][..]);
    let loss = select(&["0", "0", "1e-3", "0.03"][..]);
    let kind = (name, draws());
    let links = prop::collection::vec((60_u32..400, 1_u32..12, 12_u32..80, kind, loss), 1..4);
    let flows =
        prop::collection::vec((flow(routers), select(&[1_u32, 4, 4, 5, 5, 23, 0][..])), 2..8);
    let traffic = prop_oneof![Just(Vec::new()), prop::collection::vec(traffic(routers), 1..4)];
    let crowd = select(&[1, 1, 16][..]);
    let sample = select(&["7 ms", "100 ms"][..]);
    (links, 0..3, (flows, traffic), 0_u64..1000, 0_u32..400, sample, crowd).prop_map(
        move |(mut links, kind, (flows, traffic), seed, warmup, sample, crowd)| {
            if kind > 0 {
                links.truncate(1);
            }
            let delays: Vec<u32> = links.iter().map(|link| link.1).collect();
            let mut text = format!(
                "duration = \"700 ms\"\nwarmup = \"{warmup} ms\"\nseed = {seed}\nsample = \"{sample}\"\n"
            );
            text.extend(links.into_iter().enumerate().map(|(index, (rate, delay, buffer, (name, draws), loss))| {
                let queue = queue(name, &draws);
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
                text += &placed(&traffic, index + 10, &path, extra + 1, &delays);
            }
            routers.map_or(text.clone(), |queue| with_queue(&text, queue))
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

/// The same network with this queue at every link.
fn with_queue(text: &str, queue: &str) -> String {
    let same = |line: &str| {
        if line.starts_with("queue = ") {
            format!("queue = \"{queue}\"\n")
        } else {
            format!("{line}\n")
        }
    };
    text.lines().map(same).collect()
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
    let waiting = (
        select(buffers.to_vec()),
        (select(DISCIPLINES.clone()), draws()),
        select(markers.to_vec()),
    );
    let changes =
        (of(prop::collection::vec(change(), 1..4)), of(prop::collection::vec(impairment(), 1..5)));
    (1_u32..20, 0_u32..8, waiting, select(vec![0.0, 0.0, 0.02, 0.2]), of(1_u32..20), changes)
        .prop_map(move |(rate, delay, (buffer, (discipline, draws), marker), loss, reverse, changes)| {
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
                // One of them has a long outage.
                let list = if rate % 3 == 0 { "2 5 5 5 5 6 300" } else { "1 1 3 3 3 8 13" };
                follow.extend(["trace = { mahimahi = \"", list, "\" }\n"]);
                changes.clear();
            }
            let queue = queue(if buffer == "unlimited" { "drop-tail" } else { &discipline.name }, &draws);
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

/// A queue as a value, with parameters other than those that make it act early. Where they do not go together, with those.
fn queue(name: &str, draws: &Draws) -> String {
    let entry = DISCIPLINES.iter().find(|entry| entry.name == name).expect("it is one of them");
    if draws.is_empty() {
        return acting(name);
    }
    let queue = table(name, early(name), &entry.parameters, draws);
    if tried("\"reno\"", &queue).is_some() { queue } else { acting(name) }
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
        "policer = { rate = \"900 kbit/s\", burst = \"9 kB\" }\n",
        "shaper = { rate = \"3 Mbit/s\", burst = \"12 kB\" }\n",
        "shaper = { rate = \"8 Mbit/s\", burst = \"9 kB\" }\n",
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

fn flow(routers: Option<&'static str>) -> impl Strategy<Value = GroupText> {
    let bounds = (of(1_u32..300), 0_u32..500, of(600_u32..2000), of(select(APPLICATIONS.to_vec())));
    (senders(everybody(routers)), bounds, any::<bool>(), 1_u32..4, place(), 0_u32..40).prop_map(
        |(sender, (size, start, stop, application), reverse, count, span, extra)| {
            let application = application.filter(|_| !sender.sends_bursts());
            let size = size.filter(|_| application.is_none());
            let mut text = format!(
                "[[flow]]\nname = \"NAME\"\ncontrol = {}\ncount = {count}\npath = [PATH]\nreverse = {reverse}\n\
                 rtt = {{ spread = [\"LEAST ms\", \"MOST ms\"] }}\nstart = {{ uniform = [\"0 ms\", \"{start} ms\"] }}\n\
                 {}",
                sender.control, sender.keys
            );
            let optional = [
                size.map(|size| format!("size = \"{size} packets\"\n")),
                stop.map(|stop| format!("stop = \"{stop} ms\"\n")),
                application.map(|application| format!("application = {application}\n")),
            ];
            text.extend(optional.into_iter().flatten());
            (text, span, extra)
        },
    )
}

fn traffic(routers: Option<&'static str>) -> impl Strategy<Value = GroupText> {
    let sizes = [
        r#""3 packets""#,
        r#"{ pareto = { mean = "10 packets", shape = 1.35 } }"#,
        r#"{ exponential = { mean = "5 kB" } }"#,
        r#"{ uniform = ["1 packets", "30 packets"] }"#,
    ];
    let mut controls = everybody(routers);
    controls.push("sized-start");
    let bounds = (0_u32..200, of(300_u32..1500));
    let what = (senders(controls), 1_u32..300, select(sizes.to_vec()), of(1_u32..50), bounds);
    (what, any::<bool>(), place(), 0_u32..40).prop_map(|(what, reverse, span, extra)| {
        let (sender, rate, size, count, (start, stop)) = what;
        let stop = stop.map_or(String::new(), |stop| format!("stop = \"{stop} ms\"\n"));
        let common = format!(
            "[[traffic]]\nname = \"NAME\"\ncontrol = {}\npath = [PATH]\nreverse = {reverse}\n\
             start = \"{start} ms\"\n{stop}{}",
            sender.control, sender.keys
        );
        if count.is_some_and(|count| count % 8 == 7) {
            let list = (0..60).map(|index| format!("{} {}", index * 7 % 50, index * 997 % 30_000 + 1));
            let list = list.collect::<Vec<_>>().join(",");
            let text = format!(
                "{common}rtt = \"MOST ms\"\n\
                 replay = {{ tick = \"1 ms\", kinds = [{{ control = \"reno\" }}], list = \"{list},0 9000 1\" }}\n"
            );
            return (text, span, extra);
        }
        let count = count.map_or(String::new(), |count| format!("count = {count}\n"));
        let text = format!(
            "{common}arrivals = {{ poisson = \"{rate} /s\" }}\nsize = {size}\n\
             rtt = {{ uniform = [\"LEAST ms\", \"MOST ms\"] }}\n{count}"
        );
        (text, span, extra)
    })
}
