//! How the fluid reads scenarios whose routers say how rates change, and what it refuses.

use crate::support::assert_near;
use longfat_fluid::{ExplicitIntegration, ExplicitSetup, FluidError, Scheme, Trajectory};
use longfat_scenario::Scenario;

fn scenario(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::read(text, "test.toml", &overrides, None).unwrap_or_else(|error| panic!("{error}"))
}

/// Four flows one way and two the other, on 12 Mbit/s, 1000 segments per second.
const BOTH_WAYS: &str = r#"
duration = "60 s"
warmup   = "40 s"
sample   = "100 ms"

[link.bottleneck]
rate   = "12 Mbit/s"
delay  = "5 ms"
buffer = "1 bdp"
queue  = { kind = "xcp", alpha = 0.3 }

[link.bottleneck.reverse]
rate = "6 Mbit/s"

[[flow]]
name    = "there"
control = "xcp"
path    = ["bottleneck"]
count   = 4
rtt     = { spread = ["40 ms", "100 ms"] }

[[flow]]
name    = "back"
control = "xcp"
path    = ["bottleneck"]
reverse = true
count   = 2
rtt     = "50 ms"
"#;

fn setup(text: &str, overrides: &[&str]) -> ExplicitSetup {
    let found = ExplicitSetup::of(&scenario(text, overrides)).expect("it can be solved");
    found.expect("its routers say how rates change")
}

fn solved(setup: &ExplicitSetup, delay: f64) -> Trajectory {
    let mut integration = ExplicitIntegration::new(setup, delay);
    while integration.advance(1000).expect("it can be solved") {}
    integration.finish()
}

#[test]
fn each_direction_of_a_link_has_its_own_equations() {
    let setup = setup(BOTH_WAYS, &[]);
    assert_eq!(setup.labels.directions, [(0, false), (0, true)]);
    let capacities: Vec<f64> = setup.links.iter().map(|link| link.capacity).collect();
    assert_eq!(capacities, [1000.0, 500.0]);
    let there = &setup.links[0];
    assert_eq!(there.scheme, Scheme::Xcp { alpha: 0.3, beta: 0.226, gamma: 0.1 });
    // Ten segments per round trip at first.
    let first: Vec<f64> = there.flows.iter().map(|flow| flow.rate * flow.round_trip).collect();
    assert!(first.iter().all(|window| (window - 10.0).abs() < 1e-9), "{first:?}");

    let path = solved(&setup, 1.0);
    for (flow, share) in path.flows.iter().zip([3e6, 3e6, 3e6, 3e6, 3e6, 3e6]) {
        assert_near(flow.rate_mean, share, 1e-3, "an equal share");
    }
    // 250 segments per second over 40 to 100 ms.
    for (flow, window) in path.flows.iter().zip([10.0, 15.0, 20.0, 25.0]) {
        assert_near(flow.window_mean, window, 1e-3, "rate times round trip");
    }
    assert_eq!(path.t.len(), 601);
    for link in &path.links {
        assert_eq!([link.price.len(), link.load.len(), link.queue.len()], [601; 3]);
        assert_near(link.load[600], 1.0, 1e-4, "a full link");
    }
}

/// The margin of theorem 1: the phase at the crossover over its frequency, π/(4 √2 · 0.4) for β = α² √2.
#[test]
fn a_scenario_rests_at_equal_rates_and_has_the_margin_of_the_theorem() {
    let queue = "link.bottleneck.queue={kind=\"xcp\",alpha=0.4,beta=0.22627417}";
    let setup = setup(BOTH_WAYS, &[queue]);
    let (rest, judged) = setup.rest(1.0).expect("it settles");
    for flow in &rest.flows {
        assert_near(flow.rate, 3e6, 1e-12, "an equal share");
        assert_eq!(flow.price, 0.0, "nothing is asked for");
    }
    let links: Vec<(f64, f64)> = rest.links.iter().map(|link| (link.load, link.queue)).collect();
    assert_eq!(links, [(1.0, 0.0); 2]);
    assert!(judged.stable);
    assert_near(judged.margin.expect("some delay is too long"), 1.388, 1e-3, "the margin");
    let (_, judged) = setup.rest(1.4).expect("it settles");
    assert!(!judged.stable, "1.4 times as late is too late");
}

/// Where one direction is unstable, so is the whole.
#[test]
fn the_first_link_to_become_unstable_decides() {
    let keys = ["link.bottleneck.reverse.queue={kind=\"xcp\",alpha=0.62,beta=0.544}"];
    let (_, judged) = setup(BOTH_WAYS, &keys).rest(1.0).expect("it settles");
    assert!(!judged.stable, "0.62 is above the limit of 0.555");
    // π/(4 √2 · 0.62)
    assert_near(judged.margin.expect("some delay is too long"), 0.896, 1e-3, "the margin");
}

const LATE: &str = r#"
duration = "60 s"
sample   = "50 ms"

[link.bottleneck]
rate   = "12 Mbit/s"
delay  = "5 ms"
buffer = "1 bdp"
queue  = "xcp"

[[flow]]
name    = "first"
control = "xcp"
path    = ["bottleneck"]
rtt     = "100 ms"

[[flow]]
name    = "second"
control = "xcp"
path    = ["bottleneck"]
rtt     = "100 ms"
start   = "20 s"
stop    = "40 s"
"#;

/// A flow shares from when it starts to when it stops; it is not there before and after.
#[test]
fn flows_come_and_go() {
    for delay in [1.0, 0.0] {
        let path = solved(&setup(LATE, &[]), delay);
        let rate = |flow: usize, second: usize| path.flows[flow].rate[20 * second];
        assert_near(rate(0, 19), 12e6, 1e-3, "alone");
        assert_eq!(rate(1, 19), 0.0);
        if delay > 0.0 {
            assert_near(path.flows[1].window[401], 10.0, 1e-9, "nothing heard for a round trip");
        }
        for flow in [0, 1] {
            assert_near(rate(flow, 39), 6e6, 2e-3, "shared");
        }
        assert_eq!(rate(1, 41), 0.0);
        assert_near(rate(0, 59), 12e6, 1e-3, "alone again");
        // At 20 s ten segments per round trip are too many, and the link asks for them back; at 40 s half is free.
        let price = &path.links[0].price;
        assert!(price[404] > 0.0 && price[802] < -0.1, "{} {}", price[404], price[802]);
    }
}

/// VCP's equations: γ C T + N α/κ in all, with `t_ρ` for T whatever the round trips.
#[test]
fn vcp_rests_at_what_its_paper_says() {
    let keys = ["link.*.queue=vcp", "flow.*.control=vcp"];
    let (rest, judged) = setup(BOTH_WAYS, &keys).rest(1.0).expect("it settles");
    // 1000 segments per second: 0.98 · 200 + 4 · 4 = 212 in 200 ms, 53 for each, 265 per second.
    assert_near(rest.flows[0].rate, 265.0 * 12_000.0, 1e-12, "the first");
    assert_near(rest.flows[3].window, 26.5, 1e-12, "of 100 ms");
    // N α/G = 16/196 · κ
    assert_near(rest.links[0].price, 0.25 * 16.0 / 196.0, 1e-9, "what balances additive increase");
    assert!(judged.stable);
    // A nearly empty link is filled as fast as the protocol does: 1 + ξ = 1.0625 per interval, and no faster.
    let text = LATE.replace("xcp", "vcp").replace("12 Mbit/s", "1.2 Gbit/s");
    let path = solved(&setup(&text, &[]), 1.0);
    let rate = &path.flows[0].rate;
    let per_interval = rate[240] / rate[236] - 1.0;
    let added = 60_000.0 / rate[238];
    // e^0.0625 - 1, as it is compounded continuously, and a segment per 200 ms.
    assert_near(per_interval, 0.0645 + added * 1.03, 5e-3, "growth in 200 ms");
}

#[test]
fn what_the_equations_do_not_have_is_refused() {
    let refused = |text: &str, keys: &[&str]| {
        ExplicitSetup::of(&scenario(text, keys)).expect_err("it should be refused").to_string()
    };
    for (keys, reason) in [
        (&["flow.back.control=reno"][..], "flow `there` has the controller `xcp`, whose routers"),
        (&["flow.there.max_window=40"], "bounds of the window, and flow `there` has one"),
        (&["flow.back.receive_window=70 packets"], "bounds of the window, and flow `back` has one"),
        (&["flow.there.size=1 MB"], "flow `there` has a size"),
        (&["link.bottleneck.loss=1e-6"], "corrupted packets, and link `bottleneck` corrupts some"),
        (&["link.bottleneck.jitter=1 ms"], "link `bottleneck` is no constant"),
        (
            &["link.bottleneck.delay=0 s", "flow.back.rtt=0 s"],
            "flow `back[0]` has a round trip of 0",
        ),
    ] {
        let message = refused(BOTH_WAYS, keys);
        assert!(message.contains(reason), "{message}");
    }
    let one_way = BOTH_WAYS.replace("reverse = true\n", "");
    let message = refused(&one_way, &["flow.back.packet=1000 B"]);
    assert!(message.contains("several sizes, as flows `there` and `back` have them"), "{message}");
    let vcp = one_way.replace("xcp", "vcp").replace(", alpha = 0.3", "");
    let message = refused(&vcp, &["flow.back.control={kind=\"vcp\",kappa=0.1}"]);
    assert!(message.contains("several sets of parameters"), "{message}");
    let message = refused(&vcp, &["flow.*.control={kind=\"vcp\",interval=\"100 ms\"}"]);
    assert!(message.contains("that of flow `there` is 100 ms, that of link"), "{message}");
    let message = refused(&vcp, &["link.*.queue={kind=\"vcp\",gamma=\"auto\"}"]);
    assert!(
        message.contains("an aim that adapts, as that of link `bottleneck` does: give"),
        "{message}"
    );
    let second = "[link.second]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 MB\"\n";
    let row = format!("{second}{BOTH_WAYS}");
    let row = row.replacen("duration", "# duration", 1).replacen("warmup", "# warmup", 1);
    let row = format!("duration = \"9 s\"\n{}", row.replacen("sample", "# sample", 1));
    let message = refused(&row, &["flow.there.path=[\"bottleneck\", \"second\"]"]);
    assert!(message.contains("flow `there` crosses 2: shorten its `path`"), "{message}");
    let web = "[[traffic]]\nname = \"web\"\ncontrol = \"reno\"\npath = [\"bottleneck\"]\nsize = \"9 kB\"\n\
               arrivals = { poisson = \"9 /s\" }\nrtt = \"30 ms\"\n";
    let message = refused(&format!("{BOTH_WAYS}{web}"), &[]);
    assert!(message.contains("short flows, and `web` are some: leave out"), "{message}");
}

#[test]
fn where_nothing_brings_it_to_rest_there_is_none() {
    let rest = |keys: &[&str]| setup(BOTH_WAYS, keys).rest(1.0).expect_err("there is none");
    let error = rest(&["link.bottleneck.queue.gamma=0"]);
    assert_eq!(error, FluidError::NoRest { control: "xcp".into(), parameter: "gamma" });
    assert_eq!(rest(&["flow.*.stop=50 s"]), FluidError::NoFlows);
    // 1000 segments per second: 0.976 each in 40 ms, and 1.026 with two flows less.
    let error = rest(&["flow.there.count=41"]).to_string();
    assert!(error.contains("its share for each of its 41 flows is less than a segment"), "{error}");
    let (full, _) = setup(BOTH_WAYS, &["flow.there.count=39"]).rest(1.0).expect("it settles");
    assert_near(full.flows[0].window, 40.0 / 39.0, 1e-9, "of 40 ms");
    // One direction may fall silent.
    let (rest, _) = setup(BOTH_WAYS, &["flow.back.stop=50 s"]).rest(1.0).expect("the rest settles");
    assert_eq!((rest.links[1].load, rest.flows[4].window), (0.0, 0.0));
}

/// Other scenarios are none of its business.
#[test]
fn prices_and_laws_are_left_to_the_other_equations() {
    let reno = BOTH_WAYS.replace("\"xcp\", alpha = 0.3", "\"red\"").replace("xcp", "reno");
    assert!(ExplicitSetup::of(&scenario(&reno, &[])).expect("it is right").is_none());
}

/// Packets of 1000 bytes: 1500 per second on 12 Mbit/s, and queues are times.
#[test]
fn segments_are_those_of_the_flows() {
    let setup = setup(BOTH_WAYS, &["flow.*.packet=1000 B", "flow.there.initial_window=40"]);
    assert_eq!(setup.links[0].capacity, 1500.0);
    let path = solved(&setup, 1.0);
    assert_near(path.flows[0].rate_mean, 3e6, 1e-3, "an equal share");
    let alone = setup.links[0].solve(60.0, 0.1).expect("it can be solved");
    let longest = |queue: &[f64]| queue.iter().copied().fold(0.0, f64::max);
    assert!(longest(&alone.queue) > 1.0, "there was a queue");
    assert_near(longest(&path.links[0].queue), longest(&alone.queue) / 1500.0, 1e-9, "seconds");
    let back = setup.links[1].solve(60.0, 0.1).expect("it can be solved");
    assert_eq!(path.steps, alone.steps + back.steps);
}

#[test]
fn progress_is_that_of_all_links() {
    let setup = setup(BOTH_WAYS, &[]);
    let mut integration = ExplicitIntegration::new(&setup, 1.0);
    assert_eq!(integration.progress(), 0.0);
    while integration.advance(1000).expect("it can be solved") {
        assert!(integration.progress() < 1.0, "{}", integration.progress());
    }
    assert_eq!(integration.progress(), 1.0);
}

/// Twenty flows have 50 segments per second each, two per round trip of 40 ms, and those that stop at the end count.
#[test]
fn two_segments_in_a_round_trip_are_enough() {
    let keys = ["flow.there.count=20", "flow.there.stop=60 s"];
    let (rest, _) = setup(BOTH_WAYS, &keys).rest(1.0).expect("it settles");
    assert_near(rest.flows[0].window, 2.0, 1e-9, "the first");
}
