//! Short flows, and their effect on the links they cross.

use longfat_scenario::{Hop, Scenario, Size, Spans, TrafficGroup};
use longfat_units::{Bytes, Span};

use crate::{base, read, refusal};

/// A link of 500 Mbit/s, 5 Mbit/s on the way back, and nothing but short flows.
const WEB: &str = r#"
duration = "120 s"

[link.bottleneck]
rate = "500 Mbit/s"
delay = "10 ms"
reverse.rate = "5 Mbit/s"

[link.last]
rate = "1 Gbit/s"
delay = "1 ms"
bdp = "80 ms"

[[traffic]]
name = "web"
control = "reno"
path = ["bottleneck", "last"]
arrivals = { poisson = "4.17 /s" }
size = { pareto = { mean = "30 packets", shape = 1.35 } }
rtt = { uniform = ["60 ms", "100 ms"] }
packet = "1000 B"
"#;

fn scenario(overrides: &[&str]) -> Scenario {
    read(WEB, overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn web(overrides: &[&str]) -> TrafficGroup {
    scenario(overrides).traffic.remove(0)
}

/// Why the traffic with one value changed is refused.
fn refused(change: &str) -> String {
    read(WEB, &[change]).expect_err("it should be refused").to_string()
}

#[test]
fn traffic_has_the_defaults_of_flows() {
    let web = web(&[]);
    assert_eq!((web.arrivals, web.count), (4.17, None));
    assert_eq!(web.size, Size::Pareto { mean: 30_000.0, shape: 1.35 });
    assert_eq!(web.rtt, Spans::Uniform(Span::from_millis(60), Span::from_millis(100)));
    assert_eq!((web.start, web.stop), (Span::ZERO, None));
    let path = [0, 1].map(|link| Hop { link, reverse: false });
    assert_eq!((&web.path[..], web.reverse), (&path[..], false));
    let flow = base(&["flow.forward.packet=1000 B"]).flows.remove(0);
    assert_eq!(web.transport, flow.transport);
}

#[test]
fn sizes_are_amounts_or_distributions_in_bytes_or_packets() {
    let size = |text: &str| web(&[&format!("traffic.web.size={text}")]).size;
    assert_eq!(size("100 kB"), Size::Fixed(Bytes(100_000)));
    assert_eq!(size("3 packets"), Size::Fixed(Bytes(3000)));
    assert_eq!(
        size("{ exponential = { mean = \"1.5 packets\" } }"),
        Size::Exponential { mean: 1500.0 }
    );
    assert_eq!(
        size("{ lognormal = { mean = \"1 MB\", sigma = 0.5 } }"),
        Size::LogNormal { mean: 1e6, sigma: 0.5 }
    );
    assert_eq!(
        size("{ uniform = [\"500 B\", \"2 packets\"] }"),
        Size::Uniform(Bytes(500), Bytes(2000))
    );
    // A fraction of a byte is not a size, but it can be the mean of sizes.
    assert_eq!(
        size("{ exponential = { mean = \"999.25 B\" } }"),
        Size::Exponential { mean: 999.25 }
    );
}

#[test]
fn a_load_goes_by_the_first_link_in_the_direction_of_travel() {
    let load = "traffic.web.arrivals.load=10 %";
    // A tenth of 500 Mbit/s is 6.25 MB each second: 208.3 transfers of 30 kB.
    assert_eq!(web(&[load]).arrivals, 0.1 * 500e6 / (8.0 * 30_000.0));
    assert_eq!(web(&["traffic.web.arrivals.load=0.1"]).arrivals, web(&[load]).arrivals);
    assert_eq!(web(&["traffic.web.arrivals.load=1000%"]).arrivals, 10.0 * 500e6 / 240_000.0);
    let reverse = "traffic.web.reverse=true";
    assert_eq!(web(&[load, reverse]).arrivals, 0.1 * 1e9 / 240_000.0);
    let back = "traffic.web.path=[\"bottleneck\"]";
    assert_eq!(web(&[load, reverse, back]).arrivals, 0.1 * 5e6 / 240_000.0);
    // The mean of an even choice between 10 and 30 kB is 20 kB.
    let size = "traffic.web.size.uniform=[\"10 kB\", \"30 kB\"]";
    assert_eq!(web(&[load, size]).arrivals, 0.1 * 500e6 / 160_000.0);
}

#[test]
fn an_override_changes_traffic_and_takes_the_place_of_an_alternative() {
    let changed = web(&[
        "traffic.web.arrivals.load=10 %",
        "traffic.web.arrivals.poisson=\"9 /s\"",
        "traffic.0.count=2000",
        "traffic.web.size.pareto.shape=1.2",
        "traffic.web.rtt=80 ms",
        "traffic.web.start=5 s",
        "traffic.web.stop=6 s",
    ]);
    assert_eq!((changed.arrivals, changed.count), (9.0, Some(2000)));
    assert_eq!(changed.size, Size::Pareto { mean: 30_000.0, shape: 1.2 });
    assert_eq!(changed.rtt, Spans::Same(Span::from_millis(80)));
    assert_eq!((changed.start, changed.stop), (Span::from_seconds(5), Some(Span::from_seconds(6))));
    assert_eq!(
        web(&["traffic.web.size.exponential.mean=5 kB"]).size,
        Size::Exponential { mean: 5000.0 }
    );
    let drawn = base(&["flow.forward.rtt.uniform=[\"60 ms\", \"80 ms\"]"]).flows.remove(0).rtt;
    assert_eq!(drawn, Spans::Uniform(Span::from_millis(60), Span::from_millis(80)));
    assert!(refused("traffic.wbe.count=1").contains("did you mean `web`?"));
    assert!(refusal(&["traffic.web.count=1"]).contains("the file has no [[traffic]] to change"));
}

#[test]
fn the_round_trip_of_a_link_is_that_of_its_traffic_where_no_long_flow_crosses() {
    let without = WEB.replace("bdp = \"80 ms\"\n", "");
    let bdp = |scenario: &Scenario| {
        scenario.links.iter().map(|link| link.forward.bdp).collect::<Vec<_>>()
    };
    let millis = |millis| Some(Span::from_millis(millis));
    let alone = read(&without, &[]).expect("it is right");
    assert_eq!(bdp(&alone), [millis(80), millis(80)]);
    assert_eq!(alone.largest_packets(), [Bytes(1000), Bytes(1000)]);

    // Three times as many arrive with twice the round trip: (80 + 3 · 160)/4.
    let more = without.split_once("[[traffic]]").expect("there is one").1;
    let more = more.replace("web", "far").replace("4.17 /s", "12.51 /s");
    let more = more.replace("{ uniform = [\"60 ms\", \"100 ms\"] }", "\"160 ms\"");
    let two = format!("{without}[[traffic]]{more}");
    assert_eq!(bdp(&read(&two, &[]).expect("it is right")), [millis(140), millis(140)]);

    let long =
        "[[flow]]\nname = \"long\"\ncontrol = \"reno\"\npath = [\"bottleneck\"]\nrtt = \"50 ms\"\n";
    let all = read(&format!("{two}{long}"), &[]).expect("it is right");
    assert_eq!(bdp(&all), [millis(50), millis(140)]);
    assert_eq!(all.largest_packets(), [Bytes(1500), Bytes(1000)]);
}

#[test]
fn traffic_is_written_after_the_flows() {
    let text = scenario(&["traffic.web.arrivals.load=10 %"]).to_toml();
    let (_, traffic) = text.split_once("\n[[traffic]]\n").expect("it is there");
    let (own, _) = traffic.split_once("packet").expect("the transport follows");
    let lines = [
        "name = \"web\"",
        "control = \"reno\"",
        "path = [\"bottleneck\", \"last\"]",
        "reverse = false",
        "arrivals = { poisson = \"208.33333333333334 /s\" }",
        "count = \"none\"",
        "size = { pareto = { mean = \"30 kB\", shape = 1.35 } }",
        "rtt = { uniform = [\"60 ms\", \"100 ms\"] }",
        "start = \"0 s\"",
        "stop = \"none\"\n",
    ];
    assert_eq!(own, lines.join("\n"));
    assert_eq!(
        read(&text, &[]).map_err(|error| error.to_string()),
        Ok(scenario(&["traffic.web.arrivals.load=10 %"]))
    );
}

#[test]
fn traffic_is_checked_like_a_flow() {
    for (change, reason) in [
        ("control=rino", "there is no controller called `rino`"),
        ("path=[\"first\"]", "there is no link called `first`"),
        ("rtt=10 ms", "a round trip of 10 ms is too short: the links of the path take 22 ms"),
        ("rtt={ uniform = [\"10 ms\", \"90 ms\"] }", "a round trip of 10 ms is too short"),
        ("packet=40 B", "a packet of 40 B carries no data"),
        ("count=0", "`count` must be a whole number of at least 1"),
        ("start=120 s", "traffic cannot start at 120 s: the simulation lasts 120 s"),
        ("stop=0 s", "arrivals cannot end at 0 s when they begin at 0 s"),
        ("rto_min=0 s", "`rto_min` must be longer than zero"),
        ("spread=1", "`spread` is not a key of traffic"),
    ] {
        let message = refused(&format!("traffic.web.{change}"));
        assert!(message.contains(reason), "{change}:\n{message}");
        assert!(message.contains("--> --set:1:"), "{message}");
    }
}
