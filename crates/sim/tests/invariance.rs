//! What must not change the dynamics of a run: the unit in which bits are counted, the order in which a file says
//! things, and whether flows are one group or several.

use crate::support::disciplines::acting;
use crate::support::record;
use crate::support::witness::{open, watched};
use longfat_control::{CONTROLLERS, SlowStart, Start};
use longfat_queue::{DISCIPLINES, Item};
use longfat_sim::summary::FlowSummary;
use longfat_sim::{Column, Recording, Simulation};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Flows with the ways in which they can differ; the text of each lacks its name, its start and its round trip.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    queue: String,
    buffer: u32,
    loss: f64,
    rate: u32,
    flows: Vec<Alone>,
    traffic: bool,
}

/// One flow.
#[derive(Clone, Debug)]
struct Alone {
    sender: String,
    packet: u32,
    /// In picoseconds.
    start: u64,
    rtt: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let queue = select(DISCIPLINES.clone()).prop_map(|entry| acting(&entry.name));
    let link = (queue, 3_u32..80, select(vec![0.0, 0.0, 0.01]), 5_u32..40);
    let flows = prop::collection::vec(alone(), 1..5);
    (0_u64..1000, link, flows, any::<bool>()).prop_map(|(seed, link, flows, traffic)| {
        let (queue, buffer, loss, rate) = link;
        Case { seed, queue, buffer, loss, rate, flows, traffic }
    })
}

/// Those that every link can carry.
const CONTROLS: [&str; 9] =
    ["reno", "cubic", "hstcp", "stcp", "exp", "cw-hstcp", "fiber", "constant-rate", "anti-ecn"];

fn alone() -> impl Strategy<Value = Alone> {
    let sender = (
        select(CONTROLS.to_vec()),
        select(&["sack", "newreno", "reno", "rack"][..]),
        select(SlowStart::NAMES),
        any::<bool>(),
    )
        .prop_map(|(control, recovery, slow_start, delayed)| {
            format!(
                "control = \"{control}\"\nrecovery = \"{recovery}\"\nslow_start = \"{slow_start}\"\n\
                 delayed_ack = {delayed}\n"
            )
        });
    (
        sender,
        select(vec![500_u32, 1000, 1500]),
        0_u64..500_000_000_000,
        10_000_000_000_u64..60_000_000_000,
    )
        .prop_map(|(sender, packet, start, rtt)| Alone { sender, packet, start, rtt })
}

impl Case {
    /// Top and link: data goes forward, acknowledgments come back over a direction that is never scaled.
    fn top(&self, scale: u64) -> String {
        let Self { seed, buffer, loss, rate, .. } = self;
        let queue = self.queue(scale);
        let rate = u64::from(*rate) * scale;
        format!(
            "duration = \"2 s\"\nwarmup = \"300 ms\"\nsample = \"50 ms\"\nseed = {seed}\n[link.wire]\n\
             rate = \"{rate} Mbit/s\"\ndelay = \"3 ms\"\nbuffer = \"{buffer} packets\"\nloss = {loss}\n\
             bdp = \"40 ms\"\nqueue = {queue}\nanti_ecn = true\n\
             [link.wire.reverse]\nrate = \"20 Mbit/s\"\nqueue = \"drop-tail\"\nanti_ecn = false\n"
        )
    }

    /// A quantum is in bytes.
    fn queue(&self, scale: u64) -> String {
        let Some((before, rest)) = self.queue.split_once("quantum = ") else {
            return self.queue.clone();
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let quantum = rest[..digits].parse::<u64>().expect("a number") * scale;
        format!("{before}quantum = {quantum}{}", &rest[digits..])
    }

    /// Does the queue tell flows and hosts apart by hash? A hash goes by the name of a group and the place in it, and hosts
    /// are the same only within a group.
    fn hashes(&self) -> bool {
        ["cake", "drr", "fq-codel", "sfq"]
            .iter()
            .any(|kind| self.queue.contains(&format!("\"{kind}\"")))
    }

    /// Each flow a group, called by its place.
    fn groups(&self, scale: u64) -> Vec<String> {
        let long = self.flows.iter().enumerate().map(|(place, flow)| {
            let Alone { sender, packet, start, rtt } = flow;
            let packet = u64::from(*packet) * scale;
            format!(
                "[[flow]]\nname = \"f{place}\"\npath = [\"wire\"]\npacket = \"{packet} B\"\n\
                 start = \"{start} ps\"\nrtt = \"{rtt} ps\"\n{sender}"
            )
        });
        let packet = 1000 * scale;
        let short = format!(
            "[[traffic]]\nname = \"web\"\ncontrol = \"reno\"\npath = [\"wire\"]\npacket = \"{packet} B\"\n\
             arrivals = {{ poisson = \"20 /s\" }}\nrtt = {{ uniform = [\"10 ms\", \"40 ms\"] }}\n\
             size = {{ pareto = {{ mean = \"10 packets\", shape = 1.35 }} }}\n"
        );
        long.chain(self.traffic.then_some(short)).collect()
    }

    fn text(&self, scale: u64) -> String {
        self.top(scale) + &self.groups(scale).concat()
    }
}

/// Every table, column by column, in units of bits that are `scale` times as long.
fn without_bits(recording: &Recording, scale: f64) -> Vec<(&str, &str, String)> {
    let columns = recording.tables.iter().flat_map(|table| {
        table.columns.iter().map(move |(name, column)| (table.name, &**name, column))
    });
    columns
        .map(|(table, name, column)| {
            let column = match column {
                Column::Real(values) if name.ends_with("_bit_s") => {
                    Column::Real(values.iter().map(|value| value / scale).collect())
                }
                Column::Count(values) if name == "bytes" => {
                    Column::Count(values.iter().map(|value| value / scale as u64).collect())
                }
                other => other.clone(),
            };
            // NaN is equal to itself as text.
            (table, name, format!("{column:?}"))
        })
        .collect()
}

/// The flows by name, whatever their order: all that is told of each.
fn by_name(recording: &Recording) -> Vec<FlowSummary> {
    let mut flows = recording.summary.flows.clone();
    flows.sort_by(|one, other| one.name.cmp(&other.name));
    flows
}

/// Do packets of two flows ever reach a link at the same picosecond? The one whose flow comes first in the file is
/// then first. That happens to flows whose starts and round trips have nothing in common: a packet that waits for
/// another leaves in step with it, so of two flows that wait for each other in turn, one may be delayed by the round
/// trip of the first and then of the second, the other by the second and then the first.
fn meet(text: &str) -> bool {
    let (scenario, library) = watched(text);
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(100_000) {}
    let books = library.lock().expect("nobody panicked");
    books.iter().any(|book| {
        let flow = |item: &Item| (item.source, item.flow);
        open(book)
            .arrived
            .windows(2)
            .any(|pair| pair[0].arrived == pair[1].arrived && flow(&pair[0]) != flow(&pair[1]))
    })
}

fn told(flows: &[FlowSummary]) -> String {
    format!("{flows:?}")
}

/// A lone flow under every controller with a window that begins a minute after the run does does a minute later what it
/// does from the beginning. The routers that some of them need work by clocks, which stand alike after whole minutes.
#[test]
fn the_time_at_which_a_flow_begins_is_arbitrary() {
    for controller in CONTROLLERS.iter() {
        let sending = (controller.build)(&controller.defaults(), &Start::default());
        let needs = sending.needs();
        if sending.windowed().is_none() {
            continue;
        }
        let queue = needs.queue.unwrap_or(if needs.ecn { "step" } else { "drop-tail" });
        let access = if needs.access { "access  = \"1 Gbit/s\"" } else { "" };
        let [one, other] = [0, 60].map(|start| {
            let text = format!(
                r#"
                duration = "{} s"
                warmup   = "{start} s"
                [link.wire]
                rate   = "100 Mbit/s"
                delay  = "5 ms"
                buffer = "0.5 bdp"
                queue  = "{queue}"
                [[flow]]
                name    = "lone"
                control = "{}"
                path    = ["wire"]
                rtt     = "30 ms"
                start   = "{start} s"
                size    = "20 MB"
                {access}
                "#,
                start + 8,
                controller.name
            );
            let mut flows = record(&text, false).summary.flows;
            flows[0].start_s = 0.0;
            told(&flows)
        });
        assert_eq!(one, other, "{}", controller.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Rates and packets k times as large: a packet takes the time that it took, so the same happens at the same
    /// instants. What is told in bits or bytes is k times as much, and all the rest is the same to the byte, time
    /// series included. With a power of two not even rounding differs. Only how many events it takes may: how much a
    /// link is given at once depends on what it could carry, and the way back stays as it is.
    #[test]
    fn the_unit_of_bits_is_arbitrary(case in cases(), k in select(vec![2_u64, 4, 16])) {
        let (one, other) = (record(&case.text(1), true), record(&case.text(k), true));
        prop_assert_eq!(
            without_bits(&one, 1.0), without_bits(&other, k as f64), "k = {}\n{}", k, case.text(1)
        );
        let sent = |recording: &Recording| recording.summary.engine.data_packets;
        prop_assert_eq!(sent(&one), sent(&other));
    }

    /// The keys of each group in another order.
    #[test]
    fn the_order_of_keys_is_arbitrary(case in cases()) {
        let backwards = |group: &String| {
            let mut lines: Vec<&str> = group.lines().collect();
            lines[1..].reverse();
            lines.join("\n") + "\n"
        };
        let groups: String = case.groups(1).iter().map(backwards).collect();
        let (one, other) = (record(&case.text(1), true), record(&(case.top(1) + &groups), true));
        prop_assert_eq!(format!("{one:?}"), format!("{other:?}"), "{}", case.text(1));
    }

    /// What is told of delays costs time, and nothing else.
    #[test]
    fn percentiles_of_delay_change_nothing(case in cases()) {
        let text = case.text(1);
        let (without, mut with) =
            (record(&text, true), record(&format!("delay_percentiles = true\n{text}"), true));
        for table in &mut with.tables {
            table.columns.retain(|(name, _)| {
                !["_p50_s", "_p90_s", "_p99_s"].iter().any(|end| name.ends_with(end))
            });
        }
        prop_assert_eq!(without_bits(&without, 1.0), without_bits(&with, 1.0), "{}", text);
        prop_assert_eq!(&without.summary.engine, &with.summary.engine, "{}", text);
        for flow in &with.summary.flows {
            let told = flow.queueing_delay.expect("it is asked for");
            let rising = [
                told.queueing_delay_p50_s, told.queueing_delay_p90_s, told.queueing_delay_p99_s,
            ];
            prop_assert!(rising.is_sorted() || rising[0].is_nan(), "{:?}", rising);
        }
    }

    /// The groups in another order, unless packets meet: every flow, the links and the short flows do what they did.
    /// Their luck is drawn from streams named after them, queues know them by their names, and no name has a place in the
    /// file.
    #[test]
    fn the_order_of_groups_is_arbitrary(case in cases(), shuffle in any::<[Index; 8]>()) {
        prop_assume!(!meet(&case.text(1)));
        let mut groups = case.groups(1);
        for (place, index) in (1..groups.len()).zip(&shuffle) {
            groups.swap(place, index.index(place + 1));
        }
        let text = case.top(1) + &groups.concat();
        let (one, other) = (record(&case.text(1), false), record(&text, false));
        prop_assert_eq!(told(&by_name(&one)), told(&by_name(&other)), "{}", &text);
        prop_assert_eq!(&one.summary.links, &other.summary.links, "{}", &text);
        prop_assert_eq!(&one.summary.traffic, &other.summary.traffic, "{}", &text);
    }

    /// What goes on elsewhere changes nothing, wherever in the file it stands, unless packets meet: which of them is first is
    /// decided by places, and short flows elsewhere take some.
    #[test]
    fn flows_elsewhere_change_nothing(case in cases(), others in prop::collection::vec(alone(), 1..4), place in any::<Index>()) {
        prop_assume!(!meet(&case.text(1)));
        let elsewhere = Case { flows: others, traffic: true, ..case.clone() };
        let elsewhere = elsewhere.groups(1).concat().replace("\"wire\"", "\"elsewhere\"");
        let elsewhere = elsewhere.replace("name = \"", "name = \"other-");
        let mut groups = case.groups(1);
        groups.insert(place.index(groups.len() + 1), elsewhere);
        let link = "[link.elsewhere]\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\nbuffer = \"20 packets\"\n";
        let text = case.top(1) + link + &groups.concat();
        let (one, mut other) = (record(&case.text(1), false), record(&text, false));
        other.summary.flows.retain(|flow| !flow.name.starts_with("other-"));
        other.summary.links.retain(|name, _| name != "elsewhere");
        other.summary.traffic.retain(|name, _| !name.starts_with("other-"));
        prop_assert_eq!(told(&one.summary.flows), told(&other.summary.flows), "{}", &text);
        prop_assert_eq!(&one.summary.links, &other.summary.links, "{}", &text);
        prop_assert_eq!(&one.summary.traffic, &other.summary.traffic, "{}", &text);
    }

    /// A group of four is four groups of one, where starts and round trips are given. Drawn ones depend on the name of
    /// the group and the place in it, so those of the four groups would be other ones.
    #[test]
    fn a_group_of_four_is_four_groups(case in cases(), first in alone()) {
        prop_assume!(!case.hashes());
        let mut case = case;
        case.flows.extend([first.clone(), first.clone(), first.clone()]);
        case.flows.truncate(4);
        let times: Vec<(u64, u64)> = case.flows.iter().map(|flow| (flow.start, flow.rtt)).collect();
        case.flows = times.iter().map(|&(start, rtt)| Alone { start, rtt, ..first.clone() }).collect();
        let list = |pick: fn(&(u64, u64)) -> u64| {
            times.iter().map(|pair| format!("\"{} ps\"", pick(pair))).collect::<Vec<_>>().join(", ")
        };
        let group = format!(
            "[[flow]]\nname = \"all\"\ncount = {}\npath = [\"wire\"]\npacket = \"{} B\"\nstart = [{}]\nrtt = [{}]\n{}",
            times.len(), first.packet, list(|pair| pair.0), list(|pair| pair.1), first.sender
        );
        let short = case.groups(1).split_off(times.len()).concat();
        let mut several = record(&case.text(1), true);
        let together = record(&(case.top(1) + &group + &short), true);
        for (place, flow) in several.summary.flows.iter_mut().enumerate() {
            prop_assert_eq!(&flow.name, &format!("f{place}[0]"));
            flow.name = format!("all[{place}]");
        }
        prop_assert_eq!(told(&several.summary.flows), told(&together.summary.flows), "{}", case.text(1));
        prop_assert_eq!(&several.summary.links, &together.summary.links);
        prop_assert_eq!(&several.summary.traffic, &together.summary.traffic);
    }
}
