//! How much work and memory a scenario needs, estimated before either is spent.
//!
//! Orders of magnitude from the file alone, without a simulation: links are taken as full wherever the flows could fill
//! them, unless random losses keep the windows smaller than that. A test checks that packets and memory are within a
//! factor of three. Where queues are too small for their flows, less is sent than estimated here.

use longfat_control::{Cause, Controller, Operating, Phase, Sending, Start};
use longfat_queue::Capacity;
use longfat_units::math;
use longfat_units::{Bytes, Rate, Segments, Span, Time};

use longfat_scenario::{
    Application, Choice, Direction, FlowGroup, Hop, Jitter, Link, Recovery, Scenario, TrafficGroup,
    Transport, Writes,
};

/// A packet in transit: in a pipe or a queue, and on the scoreboards of both ends; rings double when they grow.
const PACKET: f64 = 64.0;
/// A long flow: its two ends, its pipes, its rows in the tables.
const FLOW: f64 = 4_000.0;
/// A short flow while it is live.
const SHORT_FLOW: f64 = 2_000.0;
/// A finished transfer as a row of a table; and what is kept of it if the row goes straight to a file.
const TRANSFER: f64 = 100.0;
const TRANSFER_TOLD: f64 = 16.0;
/// What a client has been given, as rows of a table.
const EXCHANGE: f64 = 130.0;
/// What a group keeps of its applications, and what each application takes.
const AUDIENCE: f64 = 100_000.0;
const APPLICATION: f64 = 600.0;
/// A write that has not arrived, in a ring that may be half empty.
const WRITE: f64 = 32.0;
/// A flow of a list: the list itself, and its text while it is read and written.
const LISTED: f64 = 120.0;
/// A row of the time series: its columns, and the table made from them.
const ROW: f64 = 150.0;
/// What a row of a flow holds beyond that of what limited it, in the table too.
const LIMITS: f64 = 180.0;
/// What a row of a flow holds beyond that where controllers are observed: a dozen variables, in the table too.
const VARIABLES: f64 = 200.0;
/// The histogram of a flow's queueing delays.
const DELAYS: f64 = 25_000.0;
/// A link: both of its directions, with their wires and what is measured.
const LINK: f64 = 3_000.0;
/// A piece of a course, of three for each direction: as it is, while it is made, and where it is measured.
const PIECE: f64 = 80.0;
/// An opportunity of a trace: its stamp, and its digits in the scenario and in the summary.
const OPPORTUNITY: f64 = 40.0;
/// A bin of the histogram of a queue's levels.
const LEVEL: f64 = 8.0;
/// What a sender that finds losses by time keeps of a segment in flight: 40 bytes, in a ring that may be half empty.
const DEPARTURE: f64 = 80.0;
/// What one core simulates per second, in data packets and in rows.
const PACKETS_PER_S: f64 = 4e6;
const ROWS_PER_S: f64 = 1e7;

/// What a scenario needs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkEstimate {
    /// Data packets sent.
    pub packets: f64,
    /// Time on one core, in seconds.
    pub seconds: f64,
    /// Memory, in bytes.
    pub memory: f64,
    /// What takes most of the memory.
    pub largest: Share,
}

/// A part of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Share {
    /// Packets in transit: in queues, on wires, in first windows.
    Packets,
    /// Links, whatever crosses them.
    Links,
    /// Long flows.
    Flows,
    /// Short flows, live and finished.
    Transfers,
    /// Rows of the time series.
    Rows,
    /// Applications, with what they have been given and what they have written.
    Applications,
}

impl Share {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Links => "links",
            Self::Flows => "flows",
            Self::Transfers => "transfers",
            Self::Rows => "rows",
            Self::Applications => "applications",
        }
    }
}

/// What a run keeps in memory until its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The time series.
    pub rows: bool,
    /// The transfers, which may instead be taken out as they end.
    pub transfers: bool,
}

/// Flows that are alike, as far as an estimate goes.
struct FlowClass<'a> {
    path: &'a [Hop],
    transport: &'a Transport,
    /// How many are live at a time.
    flows: f64,
    /// Bytes that they would send if each had every link to itself.
    bytes: f64,
    /// Packets in the first window of each.
    first: f64,
    /// They send in bursts, whatever links carry.
    bursts: bool,
}

impl WorkEstimate {
    /// What a run of `scenario` will need.
    pub fn of(scenario: &Scenario, keep: Keep) -> Self {
        let lines: Vec<[Line; 2]> = scenario
            .links
            .iter()
            .map(|link| [false, true].map(|reverse| Line::of(link, reverse, scenario.duration)))
            .collect();
        let loads: Vec<FlowClass<'_>> = long(scenario, &lines).chain(short(scenario)).collect();
        // All loads that cross a link share what it can carry.
        let shares = shares(scenario, &lines, &loads);
        let share = |load: &FlowClass<'_>| {
            let shares = load.path.iter().map(|hop| shares[hop.link][usize::from(hop.reverse)]);
            shares.fold(1.0, f64::min)
        };
        let sent = |load: &FlowClass<'_>| {
            let share = if load.bursts { 1.0 } else { share(load) };
            load.bytes * share / load.transport.packet.0 as f64
        };
        let packets: f64 = loads.iter().map(sent).sum();

        // First windows are sent at once, whatever becomes of them.
        let first: f64 = loads.iter().map(|load| load.flows * load.first).sum();
        let links = scenario.links.iter().zip(&lines).zip(scenario.largest_packets());
        let held: f64 = links
            .map(|((link, [forward, reverse]), packet)| {
                held(&link.forward, forward, packet) + held(&link.reverse, reverse, packet)
            })
            .sum();
        let windows: f64 =
            loads.iter().map(|load| load.flows * largest_window(load.transport)).sum();
        let under_way = held.min(packets).min(windows).max(first);

        let by_time = loads
            .iter()
            .any(|load| matches!(load.transport.recovery, Recovery::Rack | Recovery::Quic));
        let departure = if by_time { DEPARTURE } else { 0.0 };

        let flows: f64 = scenario.flows.iter().map(|flow| flow.flows() as f64).sum();
        let demands: Vec<Option<Demand>> =
            scenario.flows.iter().map(|flow| Demand::of(scenario, flow, &lines)).collect();
        // Requests have flows of their own.
        let asking =
            |flow: &FlowGroup| flow.application.as_ref().is_some_and(|it| it.request().is_some());
        let requests: f64 =
            scenario.flows.iter().filter(|flow| asking(flow)).map(|flow| flow.flows() as f64).sum();
        let transfers = || scenario.traffic.iter().map(|group| arrivals(scenario, group));
        // Where links are too slow for the load, flows that arrive pile up.
        let at_once: f64 = loads[scenario.flows.len()..]
            .iter()
            .zip(transfers())
            .zip(&scenario.traffic)
            .map(|((load, begun), group)| {
                load.flows.max(begun * (1.0 - share(load))) * (SHORT_FLOW + kept_short(group))
            })
            .sum();
        let lists = scenario.traffic.iter().filter_map(|group| group.replay.as_ref());
        let listed: f64 = lists.map(|replay| replay.flows() as f64).sum();
        let transfer = if keep.transfers { TRANSFER } else { TRANSFER_TOLD };
        let samples =
            scenario.duration.0 as f64 / scenario.sample.0 as f64 * f64::from(u8::from(keep.rows));
        let rows = samples * (flows + 2.0 * scenario.links.len() as f64);
        let variables = if scenario.observe { VARIABLES } else { 0.0 };
        let delays = if scenario.delay_percentiles { DELAYS } else { 0.0 };
        let of_flows = samples * flows * (LIMITS + variables);

        let kept: f64 = scenario
            .flows
            .iter()
            .map(|flow| {
                let each = if asking(flow) { 2.0 } else { 1.0 };
                each * flow.flows() as f64 * flow.control.entry.memory as f64
            })
            .sum();
        let queues: usize = scenario
            .links
            .iter()
            .flat_map(|link| [&link.forward, &link.reverse])
            .map(|direction| direction.queue.entry.memory)
            .sum();

        let parts = [
            (Share::Packets, under_way * (PACKET + LEVEL + departure)),
            (
                Share::Links,
                scenario.links.len() as f64 * LINK
                    + queues as f64
                    + lines.iter().flatten().map(|line| line.memory).sum::<f64>(),
            ),
            (Share::Flows, (flows + requests) * FLOW + flows * delays + kept),
            (Share::Applications, demands.iter().flatten().map(|demand| demand.memory).sum()),
            (Share::Transfers, transfers().sum::<f64>() * transfer + at_once + listed * LISTED),
            (Share::Rows, rows * ROW + of_flows),
        ];
        let largest = parts.iter().max_by(|one, two| one.1.total_cmp(&two.1));
        Self {
            packets,
            seconds: (packets + first) / PACKETS_PER_S + rows / ROWS_PER_S,
            memory: parts.iter().map(|(_, bytes)| bytes).sum(),
            largest: largest.expect("there are six").0,
        }
    }
}

/// What the controller of a short flow keeps, in bytes: the most, where a list has several.
fn kept_short(group: &TrafficGroup) -> f64 {
    let kinds = group.replay.as_ref().map_or(&[][..], |replay| replay.kinds());
    let listed = kinds.iter().map(|kind| &kind.control);
    let most = listed.chain([&group.control]).map(|control| control.entry.memory).max();
    most.unwrap_or(0) as f64
}

/// One direction of a link over the whole run.
struct Line {
    /// What it carries on average, in bit/s.
    mean: f64,
    /// Its highest rate, in bit/s, and its longest delay.
    highest: f64,
    longest: Span,
    /// What its changes and its trace take, in bytes.
    memory: f64,
}

impl Line {
    fn of(link: &Link, reverse: bool, duration: Span) -> Self {
        let Direction { rate, delay, trace, impairments, .. } = link.direction(reverse);
        let constant =
            Self { mean: rate.0 as f64, highest: rate.0 as f64, longest: *delay, memory: 0.0 };
        if !link.is_varying(reverse) {
            return constant;
        }
        let course = link.course(reverse, duration);
        let pieces = course.rate.pieces() + course.delay.pieces() + course.loss.pieces();
        let jitter = match impairments.jitter {
            Some(Jitter::Gaussian { most, .. }) => most,
            Some(Jitter::Wifi { interval, .. }) => interval * 2,
            _ => Span::ZERO,
        };
        let late = impairments.reorder.map_or(Span::ZERO, |late| late.distance);
        let held =
            impairments.acknowledgments.and_then(|thinning| thinning.hold).unwrap_or_default();
        let longest = Span(course.delay.greatest()) + jitter + late + held;
        let memory = pieces as f64 * PIECE;
        let shaped = impairments.shaper.map_or(f64::INFINITY, |shaper| {
            shaper.rate.0 as f64 + 8.0 * shaper.burst.0 as f64 / duration.seconds()
        });
        if let Some(trace) = trace {
            let mean = trace.mean_rate().0 as f64;
            let memory = memory + trace.opportunities() as f64 * OPPORTUNITY;
            return Self { mean: mean.min(shaped), highest: mean, longest, memory };
        }
        let bits = course.rate.integral(Time::ZERO, Time::ZERO + duration) as f64;
        Self {
            mean: (bits / duration.0 as f64).min(shaped),
            highest: course.rate.greatest() as f64,
            longest,
            memory,
        }
    }
}

fn long<'a>(scenario: &'a Scenario, lines: &'a [[Line; 2]]) -> impl Iterator<Item = FlowClass<'a>> {
    scenario.flows.iter().map(|flow| {
        let end = flow.stop.unwrap_or(scenario.duration).min(scenario.duration);
        let active = Span(end.0.saturating_sub(flow.start.mean().0)).seconds();
        let links = flow.path.iter().map(|hop| lines[hop.link][usize::from(hop.reverse)].mean);
        let access = flow.transport.access.map(|rate| rate.0 as f64);
        let narrowest = links.chain(access).min_by(f64::total_cmp);
        let most = most_in_flight(&flow.transport);
        let round_trips = active / flow.rtt.mean().seconds().max(f64::MIN_POSITIVE);
        let packet = flow.transport.packet.0 as f64;
        let window = most.min(lossy_window(scenario, flow)) * round_trips * packet;
        let burst = burst_rate(&flow.control, &flow.transport);
        let rate = burst.map(|rate| rate.0 as f64).or(narrowest);
        let each = window.min(rate.map_or(0.0, |rate| rate / 8.0 * active));
        let each = flow.size.map_or(each, |size| each.min(size.0 as f64));
        let each = each * flow.connections() as f64;
        let demand = Demand::of(scenario, flow, lines);
        let each = demand.as_ref().map_or(each, |demand| each.min(demand.bytes));
        let at_once = demand.map_or(f64::INFINITY, |demand| demand.at_once);
        FlowClass {
            path: &flow.path,
            transport: &flow.transport,
            flows: flow.flows() as f64,
            bytes: flow.count as f64 * each,
            first: first_window(
                &flow.transport,
                flow.size.map_or(at_once, |size| size.0 as f64),
                burst.map(|rate| rate.bytes_in(flow.rtt.mean())),
            ),
            bursts: burst.is_some(),
        }
    })
}

/// What an application asks of its flows in a whole run.
struct Demand {
    /// What one application has sent, requests included, if no link is slower than that.
    bytes: f64,
    /// What it has sent at once.
    at_once: f64,
    /// What all applications of the group keep.
    memory: f64,
}

impl Demand {
    /// `None` if the flows always have something to send.
    fn of(scenario: &Scenario, flow: &FlowGroup, lines: &[[Line; 2]]) -> Option<Self> {
        let application = flow.application.as_ref()?;
        let end = flow.stop.unwrap_or(scenario.duration).min(scenario.duration);
        let active = Span(end.0.saturating_sub(flow.start.mean().0)).seconds();
        let links = flow.path.iter().map(|hop| lines[hop.link][usize::from(hop.reverse)].mean);
        let narrowest = links.fold(f64::INFINITY, f64::min) / 8.0;
        let packet = flow.transport.packet.0 as f64;
        let whole = |bytes: f64| bytes.max(packet);
        let request = application.request().map_or(0.0, |request| whole(request.0 as f64));
        let rtt = flow.rtt.mean().seconds();
        let source = |writes: &Writes, duty: f64| {
            let bytes = writes.rate.0 as f64 / 8.0 * duty * active;
            let backlog = (bytes - narrowest * active).max(0.0) + bytes.min(writes.size.0 as f64);
            (bytes, writes.size.0 as f64, backlog / writes.size.0 as f64 * WRITE)
        };
        // So many requests, of `bytes` in all, one after the other with pauses.
        let client = |requests: f64, bytes: f64, turns: f64, think: Span| {
            let cycle = turns * rtt + think.seconds() + bytes / narrowest;
            let cycles = active / cycle.max(f64::MIN_POSITIVE);
            (cycles * (bytes + requests * request), bytes, (cycles + 1.0) * EXCHANGE)
        };
        let (bytes, at_once, memory) = match application {
            Application::Constant { writes, .. } => source(writes, 1.0),
            Application::OnOff { writes, on, off } => {
                let (on, off) = (on.mean().seconds(), off.mean().seconds());
                source(writes, on / (on + off))
            }
            Application::RequestResponse { response, think, .. } => {
                client(1.0, whole(response.mean()), 1.0, think.mean())
            }
            Application::Web { objects, object, connections, think, .. } => {
                let count = objects.mean();
                let turns = 1.0 + ((count - 1.0) / *connections as f64).ceil();
                client(count, count * whole(object.mean()), turns, think.mean())
            }
            Application::Video(video) => {
                let highest = video.ladder.last().map_or(0.0, |rate| rate.0 as f64 / 8.0);
                let chunk = video.chunk.seconds();
                // It cannot be more than a buffer ahead of what it plays.
                let most = (active + video.buffer.seconds()) / chunk;
                let turns = active / rtt.max(f64::MIN_POSITIVE);
                let chunks = most.min(turns);
                (chunks * (highest * chunk + request), highest * chunk, chunks * EXCHANGE)
            }
        };
        let count = flow.count as f64;
        Some(Self { bytes, at_once, memory: AUDIENCE + count * (memory + APPLICATION) })
    }
}

/// The window at which the law of a flow gains as much as it gives up to the random losses of its links; infinite where
/// there are none, or where the controller is no law.
fn lossy_window(scenario: &Scenario, flow: &FlowGroup) -> f64 {
    let losses = flow.path.iter().map(|hop| scenario.links[hop.link].direction(hop.reverse).loss);
    let loss: f64 = losses.sum();
    let Some(law) = flow.control.entry.law.as_ref().filter(|_| loss > 0.0) else {
        return f64::INFINITY;
    };
    let law = law(&flow.control.settings);
    let rtt = flow.rtt.mean();
    let grows = |window: f64| {
        let at = Operating {
            window: Segments(window),
            epoch_window: Some(Segments(window)),
            rtt,
            base_rtt: rtt,
            since_event: None,
            phase: Phase::CongestionAvoidance,
            spare: 0.0,
        };
        law.gain(&at) > loss * law.give_up(&at, Cause::Loss) * window
    };
    let (mut low, mut high) = (2.0, 1e9);
    if grows(high) {
        return f64::INFINITY;
    }
    while high > 1.1 * low {
        let middle = math::sqrt(low * high);
        if grows(middle) { low = middle } else { high = middle }
    }
    high
}

fn short(scenario: &Scenario) -> impl Iterator<Item = FlowClass<'_>> {
    scenario.traffic.iter().map(|group| {
        let transfers = arrivals(scenario, group);
        // A short flow takes about three round trips: slow start, and the wait for the last acknowledgment.
        let lasts = 3.0 * group.rtt.mean().seconds();
        let seconds = scenario.duration.seconds();
        let burst = burst_rate(&group.control, &group.transport);
        FlowClass {
            path: &group.path,
            transport: &group.transport,
            flows: (transfers * lasts / seconds).min(transfers),
            bytes: transfers * group.size.mean().max(group.transport.packet.0 as f64),
            first: first_window(
                &group.transport,
                group.size.mean(),
                burst.map(|rate| rate.bytes_in(group.rtt.mean())),
            ),
            bursts: burst.is_some(),
        }
    })
}

/// How many short flows of a group arrive.
fn arrivals(scenario: &Scenario, group: &TrafficGroup) -> f64 {
    let end = group.stop.unwrap_or(scenario.duration).min(scenario.duration);
    let expected = group.arrivals * Span(end.0.saturating_sub(group.start.0)).seconds();
    group.count.map_or(expected, |count| expected.min(count as f64))
}

/// How many packets leave when a flow of `size` bytes begins, before anything comes back: a first window, or a burst.
fn first_window(transport: &Transport, size: f64, burst: Option<Bytes>) -> f64 {
    let packet = transport.packet.0 as f64;
    let initial = transport.initial_window.max(known_window(transport));
    let window = burst.map_or(initial, |burst| burst.0 as f64 / packet);
    window.min((size / packet).ceil())
}

/// The window that a flow on a known path jumps to; zero on any other.
fn known_window(transport: &Transport) -> f64 {
    transport.careful_resume.map_or(0.0, |saved| saved.window / 2.0)
}

/// The rate of the sender's own link, at which bursts leave; `None` where a window holds the flow.
fn burst_rate(control: &Choice<Controller>, transport: &Transport) -> Option<Rate> {
    match (control.entry.build)(&control.settings, &Start::default()) {
        Sending::Windowed(_) => None,
        Sending::Bursts(_) => transport.access,
    }
}

/// The bounds outside the controller, in packets.
fn most_in_flight(transport: &Transport) -> f64 {
    let most = |packets: Option<u64>| packets.map_or(f64::INFINITY, |packets| packets as f64);
    let receiver = transport.receive_window.map(|window| window.most_packets(transport.packet));
    most(transport.max_window).min(most(receiver))
}

/// The window beyond which a flow hardly grows, in packets.
fn largest_window(transport: &Transport) -> f64 {
    let most = most_in_flight(transport);
    // Above its threshold a window may still roughly double.
    let above = |threshold: f64| most.min((2.0 * threshold).max(2.0 * known_window(transport)));
    transport.initial_threshold.map_or(most, above)
}

/// How many packets one direction of a link holds, in its queue and on its wire.
fn held(direction: &Direction, line: &Line, packet: Bytes) -> f64 {
    let packet = packet.0 as f64;
    let wire = line.highest / 8.0 * line.longest.seconds() / packet;
    let queue = match direction.buffer {
        Capacity::Packets(packets) => packets as f64,
        Capacity::Bytes(bytes) => bytes.0 as f64 / packet,
        Capacity::Unbounded => f64::INFINITY,
    };
    wire + queue
}

/// For both directions of each link, the share of what the flows across it would send that it can carry.
fn shares(scenario: &Scenario, lines: &[[Line; 2]], loads: &[FlowClass<'_>]) -> Vec<[f64; 2]> {
    let mut wanted = vec![[0.0; 2]; scenario.links.len()];
    for load in loads {
        for hop in load.path {
            wanted[hop.link][usize::from(hop.reverse)] += load.bytes;
        }
    }
    let carries = |line: &Line| line.mean / 8.0 * scenario.duration.seconds();
    let share = |wanted: f64, carries: f64| if wanted > carries { carries / wanted } else { 1.0 };
    let lines = lines.iter().zip(wanted);
    lines
        .map(|([there, back], [forward, reverse])| {
            [share(forward, carries(there)), share(reverse, carries(back))]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Keep = Keep { rows: true, transfers: true };

    fn estimate(more: &str) -> WorkEstimate {
        let text = format!(
            "duration = \"60 s\"\n{more}\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n
            [[flow]]\nname = \"f\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"20 ms\"\n"
        );
        let scenario = Scenario::read(&text, "a test", &[], None).expect("a right scenario");
        WorkEstimate::of(&scenario, KEEP)
    }

    #[test]
    fn a_lone_flow_fills_its_link() {
        // 1 Gbit/s for 60 s in packets of 1500 bytes.
        assert!((estimate("").packets - 5e6).abs() < 1.0);
    }

    #[test]
    fn losses_keep_windows_small() {
        // √(2/p) segments per round trip of 20 ms, for 60 s.
        let text =
            "duration = \"60 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\nloss = 2e-4\n
            [[flow]]\nname = \"f\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"20 ms\"\n";
        let scenario = Scenario::read(text, "a test", &[], None).expect("a right scenario");
        let packets = WorkEstimate::of(&scenario, KEEP).packets;
        assert!((packets / (100.0 * 3000.0) - 1.0).abs() < 0.1, "{packets}");
    }

    #[test]
    fn shapers_and_receive_windows_bound_what_is_sent() {
        // 200 Mbit/s for 60 s, and the burst; or a window of 20 packets every 20 ms.
        let text = |link: &str, flow: &str| {
            format!(
                "duration = \"60 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n{link}\n
                [[flow]]\nname = \"f\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"20 ms\"\n{flow}\n"
            )
        };
        let packets = |link: &str, flow: &str| {
            let scenario = Scenario::read(&text(link, flow), "a test", &[], None);
            WorkEstimate::of(&scenario.expect("a right scenario"), KEEP).packets
        };
        let shaped = packets("shaper = { rate = \"200 Mbit/s\", burst = \"15 MB\" }", "");
        assert!((shaped - 1_010_000.0).abs() < 1.0, "{shaped}");
        let allowed = packets("", "receive_window = \"20 packets\"");
        assert!((allowed - 60_000.0).abs() < 1.0, "{allowed}");
    }

    #[test]
    fn bursts_are_held_by_no_link() {
        // 10 Tbit/s for 1 s in packets of 1500 bytes into a link of 1 Gbit/s; those of 20 ms are under way at once.
        let text = "duration = \"1 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\nqueue = \"pushout\"\n
            [[flow]]\nname = \"f\"\ncontrol = \"blitz\"\npath = [\"l\"]\nrtt = \"20 ms\"\naccess = \"10 Tbit/s\"\n";
        let scenario = Scenario::read(text, "a test", &[], None).expect("a right scenario");
        let needed = WorkEstimate::of(&scenario, KEEP);
        assert!((needed.packets / (1e13 / 12_000.0) - 1.0).abs() < 1e-6, "{needed:?}");
        let under_way = 1e13 * 0.02 / 12_000.0;
        assert!((needed.memory / (under_way * (PACKET + LEVEL)) - 1.0).abs() < 0.01, "{needed:?}");
        assert_eq!(needed.largest, Share::Packets);
    }

    #[test]
    fn rows_are_of_flows_and_of_both_directions_of_links() {
        let (few, many) = (estimate("sample = \"60 s\""), estimate("sample = \"60 us\""));
        let rows = (many.memory - few.memory) / (3.0 * ROW + LIMITS);
        assert!((rows - (1e6 - 1.0)).abs() < 1.0, "{rows}");
        assert_eq!(many.largest, Share::Rows);
    }

    /// Data packets for a minute over a link of 1 Gbit/s there and 100 Mbit/s back, with these keys of the link, and these
    /// groups of flows or of traffic, which have packets of 1500 bytes and round trips of 20 ms.
    fn packets(link: &str, groups: &[&str]) -> f64 {
        let mut text = format!(
            "duration = \"60 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
             reverse = {{ rate = \"100 Mbit/s\", loss = 0 }}\n{link}\n"
        );
        text.extend(groups.iter().enumerate().map(|(index, group)| {
            let kind = if group.contains("arrivals") { "traffic" } else { "flow" };
            format!(
                "[[{kind}]]\nname = \"g{index}\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"20 ms\"\n{group}\n"
            )
        }));
        let scenario = Scenario::read(&text, "a test", &[], None).expect("a right scenario");
        WorkEstimate::of(&scenario, KEEP).packets
    }

    #[track_caller]
    fn assert_packets(groups: &[&str], expected: f64) {
        let found = packets("", groups);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} packets of {groups:?}");
    }

    #[test]
    fn flows_send_what_they_have_while_they_last() {
        assert_packets(&["size = \"1.5 MB\""], 1000.0);
        assert_packets(&["size = \"1.5 MB\"\ncount = 3"], 3000.0);
        // 83 333 packets per second.
        assert_packets(&["stop = \"6 s\""], 500_000.0);
        assert_packets(&["start = \"59.4 s\""], 50_000.0);
        assert_packets(&["access = \"12 Mbit/s\""], 60_000.0);
        assert_packets(&["reverse = true"], 500_000.0);
        // Twenty packets every 20 ms.
        assert_packets(&["max_window = 20"], 60_000.0);
        // What crosses a link shares it.
        assert_packets(&["count = 2", "size = \"1 TB\""], 5_000_000.0);
    }

    #[test]
    fn applications_send_what_they_write_or_are_asked_for() {
        let constant = "application = { kind = \"constant\", rate = \"12 Mbit/s\" }";
        assert_packets(&[constant], 60_000.0);
        assert_packets(&[&format!("{constant}\ncount = 2\nstop = \"30 s\"")], 60_000.0);
        let turns = "application = { kind = \"on-off\", rate = \"12 Mbit/s\", on = \"1 s\", off = \"3 s\" }";
        assert_packets(&[turns], 15_000.0);
        // A round trip, 78.8 ms of thinking and 1.2 ms for 100 packets: ten times a second 101 packets with the request.
        let client = "application = { kind = \"request-response\", request = \"100 B\", response = \"150 kB\", \
                      think = \"78.8 ms\" }";
        assert_packets(&[client], 60_600.0);
        // One object alone, then six, and six again: three round trips, 38.44 ms of thinking and 1.56 ms for 130 packets.
        let pages = "application = { kind = \"web\", request = \"100 B\", objects = 13, object = \"15 kB\", \
                     connections = 6, think = \"38.44 ms\" }";
        assert_packets(&[pages], 600.0 * (130.0 + 13.0));
        // Chunks of 1000 packets and a request: as many as it plays, and what it may hold at the end.
        let video = "application = { kind = \"video\", request = \"100 B\", chunk = \"1 s\", buffer = \"10 s\", \
                     rule = \"throughput\", ladder = [\"1 Mbit/s\", \"12 Mbit/s\"] }";
        assert_packets(&[video], 70.0 * 1001.0);
    }

    #[test]
    fn short_flows_are_as_many_as_arrive() {
        let traffic = |more: &str| format!("arrivals = {{ poisson = \"100 /s\" }}\n{more}");
        assert_packets(&[&traffic("size = \"15 kB\"")], 60_000.0);
        assert_packets(&[&traffic("size = \"15 kB\"\ncount = 500")], 5000.0);
        assert_packets(&[&traffic("size = \"15 kB\"\ncount = 9000")], 60_000.0);
        assert_packets(
            &[&traffic("size = \"15 kB\"\nstart = \"20 s\"\nstop = \"50 s\"")],
            30_000.0,
        );
        assert_packets(&[&traffic("size = \"100 B\"")], 6000.0);
    }

    /// Only what is lost on its own way keeps a window small.
    #[test]
    fn losses_count_in_the_direction_of_the_data() {
        let sent = packets("loss = 2e-4", &[""]);
        assert!((sent / (100.0 * 3000.0) - 1.0).abs() < 0.1, "{sent}");
        let back = packets("loss = 2e-4", &["reverse = true"]);
        assert!((back - 500_000.0).abs() < 1.0, "{back}");
    }

    /// What a run takes beside its transfers and rows: with an unlimited queue, all windows.
    #[test]
    fn windows_are_under_way_as_far_as_they_grow() {
        let memory = |flow: &str| {
            let text = format!(
                "duration = \"60 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\nbuffer = \"unlimited\"\n\
                 [[flow]]\nname = \"f\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"20 ms\"\n{flow}\n"
            );
            let scenario = Scenario::read(&text, "a test", &[], None).expect("a right scenario");
            let needed = WorkEstimate::of(&scenario, Keep { rows: false, transfers: false });
            needed.memory - LINK
        };
        let each = PACKET + LEVEL;
        assert_eq!(memory("initial_threshold = 100"), FLOW + 200.0 * each);
        assert_eq!(memory("initial_threshold = 100\nmax_window = 50"), FLOW + 50.0 * each);
        let by_time = "initial_threshold = 100\nrecovery = \"rack\"";
        assert_eq!(memory(by_time), FLOW + 200.0 * (each + DEPARTURE));
        // First windows leave at once, but no more than there is to send.
        assert_eq!(
            memory("max_window = 2\ninitial_window = 30\ncount = 2"),
            2.0 * FLOW + 60.0 * each
        );
        assert_eq!(memory("initial_window = 1e6\nsize = \"15 kB\""), FLOW + 10.0 * each);
    }

    const LEAN: Keep = Keep { rows: false, transfers: false };
    /// A packet under way, with its bin.
    const EACH: f64 = PACKET + LEVEL;

    /// What one second needs on a link of 1 Gbit/s there and 100 Mbit/s back, with these keys at the top and of the link, and
    /// these groups.
    fn second(top: &str, link: &str, groups: &[&str], keep: Keep) -> WorkEstimate {
        let mut text = format!(
            "duration = \"1 s\"\n{top}\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"12 ms\"\nbuffer = \"100 packets\"\n\
             {link}\n[link.l.reverse]\nrate = \"100 Mbit/s\"\nbuffer = \"30 kB\"\njitter = false\nreorder = false\n"
        );
        text.extend(groups.iter().enumerate().map(|(index, group)| {
            let kind = if group.contains("arrivals") { "traffic" } else { "flow" };
            let rtt = if group.contains("rtt = \"800") { "" } else { "rtt = \"24 ms\"" };
            format!(
                "[[{kind}]]\nname = \"g{index}\"\ncontrol = \"reno\"\npath = [\"l\"]\n{rtt}\n{group}\n"
            )
        }));
        let scenario = Scenario::read(&text, "a test", &[], None);
        WorkEstimate::of(&scenario.unwrap_or_else(|error| panic!("{error}")), keep)
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs() + 1e-6,
            "{found}, not {expected}"
        );
    }

    /// 12 ms are 1000 packets of 1500 bytes there and 100 back; then 100 in the buffer, and 20.
    const HELD: f64 = 1220.0;

    #[test]
    fn both_directions_hold_packets_in_buffers_and_on_wires() {
        assert_near(second("", "", &[""], LEAN).memory, HELD * EACH + LINK + FLOW);
        // No more than all windows, of which there is one in each flow, or than is sent at all.
        let windows = second("", "", &["count = 3\nmax_window = 40"], LEAN).memory;
        assert_near(windows, 120.0 * EACH + LINK + 3.0 * FLOW);
        let few = second("", "", &["size = \"75 kB\""], LEAN).memory;
        assert_near(few, 50.0 * EACH + LINK + FLOW);
    }

    #[test]
    fn packets_and_rows_take_time() {
        let keep = Keep { rows: true, transfers: true };
        // 1 Gbit/s for a second, and a first window of ten; 1000 rows of three.
        let needed = second("sample = \"1 ms\"", "", &[""], keep);
        assert_near(needed.seconds, (1e9 / 12_000.0 + 10.0) / 4e6 + 3000.0 / 1e7);
    }

    #[test]
    fn rows_have_what_is_asked_for() {
        let of = |top: &str, keep| second(top, "", &["count = 2"], keep).memory;
        let keep = Keep { rows: true, transfers: true };
        let base = HELD * EACH + LINK + 2.0 * FLOW;
        let rows = 10.0 * (4.0 * ROW + 2.0 * LIMITS);
        assert_near(of("sample = \"100 ms\"", keep), base + rows);
        assert_near(of("sample = \"100 ms\"", LEAN), base);
        let observed = of("sample = \"100 ms\"\nobserve = true", keep);
        assert_near(observed, base + rows + 20.0 * VARIABLES);
        assert_near(of("delay_percentiles = true", LEAN), base + 2.0 * DELAYS);
    }

    #[test]
    fn short_flows_are_kept_while_they_live_and_where_they_pile_up() {
        let traffic = |more: &str, keep| {
            let group = format!("arrivals = {{ poisson = \"1000 /s\" }}\n{more}");
            second("", "", &[&group], keep).memory - HELD * EACH - LINK
        };
        let ten = "size = \"15 kB\"";
        // 1000 of 72 ms, so 72 at a time, with ten packets each.
        assert_near(traffic(ten, LEAN), 72.0 * SHORT_FLOW + 1000.0 * TRANSFER_TOLD);
        let kept = Keep { rows: false, transfers: true };
        assert_near(traffic(ten, kept), 72.0 * SHORT_FLOW + 1000.0 * TRANSFER);
        // Ten times what the link back can carry: nine tenths of 1000.
        let slow = traffic("reverse = true\nsize = \"125 kB\"", LEAN);
        assert_near(slow, 900.0 * SHORT_FLOW + 1000.0 * TRANSFER_TOLD);
    }

    #[test]
    fn no_more_short_flows_live_than_arrive() {
        // 1000 of 2.4 s in one second. Each begins with a window of at most what it has, 11 packets for 16 kB, or with half the
        // window that a known path had (careful resume): 15.
        let under_way = |more: &str| {
            let group = format!("arrivals = {{ poisson = \"1000 /s\" }}\n{more}\nrtt = \"800 ms\"");
            let needed = second("", "", &[&group], LEAN).memory;
            (needed - LINK - 1000.0 * (SHORT_FLOW + TRANSFER_TOLD)) / EACH
        };
        assert_near(under_way("initial_window = 20\nsize = \"16 kB\""), 11_000.0);
        assert_near(under_way("initial_window = 20\nsize = \"160 kB\""), 20_000.0);
    }

    #[test]
    fn a_flow_on_a_known_path_begins_with_half_its_window() {
        let of = |more: &str| {
            let resume = "careful_resume = { window = 4000, rtt = \"24 ms\" }";
            let needed = second("", "", &[&format!("{resume}\n{more}")], LEAN);
            (needed.memory - LINK - FLOW) / EACH
        };
        assert_near(of(""), 2000.0);
        // Above its threshold, or that, a window may double.
        assert_near(of("initial_threshold = 100"), 2000.0);
    }

    #[test]
    fn what_delays_packets_lengthens_the_wire() {
        let held = |link: &str| second("", link, &[""], LEAN).memory;
        let shaped = "shaper = { rate = \"900 Mbit/s\", burst = \"15 kB\" }";
        // What a link is over time has pieces from its first impairment on: three there.
        let base = held(shaped);
        let packets = |link: &str| (held(&format!("{shaped}\n{link}")) - base) / EACH;
        // 1 Gbit/s is a packet in 12 us.
        assert_near(packets("jitter = { most = \"6 ms\" }"), 500.0);
        assert_near(packets("jitter = { kind = \"wifi\", interval = \"6 ms\" }"), 1000.0);
        // In both directions.
        let held_back = "acknowledgments = { hold = \"6 ms\" }";
        assert_near(packets(held_back), 550.0);
        assert_near(packets("reorder = { probability = 0.1, distance = \"6 ms\" }"), 500.0);
    }

    #[test]
    fn what_changes_is_as_long_and_as_fast_as_it_gets() {
        let held = |keys: &str| {
            let change = format!("[[link.l.change]]\nat = \"0.5 s\"\nreverse = false\n{keys}");
            second("", &change, &[""], LEAN).memory
        };
        // A loss from half way on: two pieces of three are one, and one is two.
        let base = HELD * EACH + LINK + FLOW;
        assert_near(held("loss = 0.0001"), base + 4.0 * PIECE);
        // 24 ms, and so 1000 packets more, for as long as it lasts; or twice the rate.
        assert_near(held("delay = \"24 ms\""), base + 4.0 * PIECE + 1000.0 * EACH);
        assert_near(held("rate = \"2 Gbit/s\""), base + 4.0 * PIECE + 1000.0 * EACH);
    }

    #[test]
    fn applications_keep_what_they_write_and_are_given() {
        let of = |application: &str, more: &str| {
            let group = format!("max_window = 20\n{more}\napplication = {application}");
            second("", "", &[&group], LEAN).memory
        };
        let base = |count: f64, flows: f64| {
            20.0 * flows * EACH + LINK + flows * FLOW + AUDIENCE + count * APPLICATION
        };
        // It writes 1.5 kB of the 1.5 MB at a time: one write has not arrived. At twice the rate of the link, half has not.
        let constant = |rate: &str| {
            format!("{{ kind = \"constant\", rate = \"{rate}\", write = \"1500 B\" }}")
        };
        assert_near(of(&constant("12 Mbit/s"), ""), base(1.0, 1.0) + WRITE);
        assert_near(of(&constant("12 Mbit/s"), "count = 2"), base(2.0, 2.0) + 2.0 * WRITE);
        let half = 125e6 / 1500.0;
        assert_near(of(&constant("2 Gbit/s"), ""), base(1.0, 1.0) + (half + 1.0) * WRITE);
        // Ten turns of 24 ms, 74.8 ms and 1.2 ms; a client has a flow each way.
        let client = "{ kind = \"request-response\", request = \"100 B\", response = \"150 kB\", think = \"74.8 ms\" }";
        assert_near(of(client, ""), base(1.0, 1.0) + FLOW + 11.0 * EXCHANGE);
    }

    #[test]
    fn pages_take_whole_turns() {
        // One object alone, then six, then five: three round trips of 20 ms, 38.56 ms, and 120 packets in 1.44 ms.
        let pages = "application = { kind = \"web\", request = \"100 B\", objects = 12, object = \"15 kB\", \
                     connections = 6, think = \"38.56 ms\" }";
        assert_packets(&[pages], 600.0 * (120.0 + 12.0));
        // Chunks of 100 ms in turns of 200 ms at most.
        let video = "rtt = \"200 ms\"\napplication = { kind = \"video\", request = \"100 B\", chunk = \"100 ms\", \
                     buffer = \"10 s\", rule = \"throughput\", ladder = [\"12 Mbit/s\"] }";
        let text = format!(
            "duration = \"60 s\"\n[link.l]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
             [[flow]]\nname = \"v\"\ncontrol = \"reno\"\npath = [\"l\"]\n{video}\n"
        );
        let scenario = Scenario::read(&text, "a test", &[], None).expect("a right scenario");
        assert_near(WorkEstimate::of(&scenario, LEAN).packets, 300.0 * 101.0);
    }
}
