//! How the fluid reads a scenario file: routes, loads, prices, AntiECN, and what it refuses.

use crate::support::assert_near;
use longfat_control::SlowStart;
use longfat_fluid::{
    FluidError, FluidSetup, Integration, Memory, Price, Pricing, Reading, Solve, Trajectory,
    equilibrium, memory, synchronised,
};
use longfat_scenario::Scenario;
use longfat_units::{Bytes, Rate, Span};

fn scenario(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::read(text, "test.toml", &overrides, None).unwrap_or_else(|error| panic!("{error}"))
}

/// Two links of 100 Mbit/s; the far one is also crossed backwards.
const TWO_LINKS: &str = r#"
duration = "60 s"

[link.near]
rate   = "100 Mbit/s"
delay  = "5 ms"
buffer = "100 packets"
queue  = { kind = "red", min = "20 packets", max = "60 packets", weight = "auto" }

[link.far]
rate   = "100 Mbit/s"
delay  = "10 ms"
buffer = "50 kB"
queue  = { kind = "avq", utilisation = 0.9, alpha = "0.25 /s" }

[[flow]]
name    = "there"
control = "reno"
count   = 2
path    = ["near", "far"]
rtt     = { spread = ["40 ms", "80 ms"] }
packet  = "1000 B"

[[flow]]
name    = "back"
control = { kind = "stcp", a = 0.02 }
path    = ["far"]
reverse = true
rtt     = "50 ms"
packet  = "1000 B"
stop    = "30 s"

[[traffic]]
name     = "web"
control  = "cubic"
path     = ["near"]
arrivals = { poisson = "100 /s" }
size     = "10 kB"
rtt      = "30 ms"
count    = 1000
packet   = "1000 B"
"#;

#[test]
fn flows_routes_and_loads_are_those_of_the_file() {
    let setup = FluidSetup::of(&scenario(TWO_LINKS, &[]), Pricing::Avq).expect("it is right");
    assert_eq!(setup.labels.links, ["near", "far"]);
    assert_eq!(setup.labels.directions, [(0, false), (1, false), (1, true)], "what is crossed");
    let network = &setup.network;
    let names: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["near", "far", "far, reverse"]);
    let flows: Vec<(&str, &[usize], Span)> =
        network.flows.iter().map(|flow| (&*flow.name, &*flow.route, flow.rtt)).collect();
    let milliseconds = Span::from_millis;
    let expected: [(&str, &[usize], Span); 3] = [
        ("there[0]", &[0, 1], milliseconds(40)),
        ("there[1]", &[0, 1], milliseconds(80)),
        ("back[0]", &[2], milliseconds(50)),
    ];
    assert_eq!(flows, expected);
    assert_eq!(setup.labels.group, [0, 0, 1]);
    assert_eq!((&*setup.labels.groups[1].name, &*setup.labels.groups[1].control), ("back", "stcp"));
    assert_eq!(network.flows[2].stop, Some(Span::from_seconds(30)));
    // A hundred transfers of 80 kbit each second, and the thousandth after ten seconds.
    let load = &network.loads[0];
    assert_eq!((&*load.route, load.rate), ([0].as_slice(), 8e6));
    assert_eq!(load.stop, Some(Span::from_seconds(10)));
    // One byte more takes an eleventh packet.
    let longer = scenario(TWO_LINKS, &["traffic.web.size=10001 B"]);
    let setup = FluidSetup::of(&longer, Pricing::Avq).expect("it is right");
    assert_eq!(setup.network.loads[0].rate, 8.8e6);
}

#[test]
fn prices_are_those_of_the_queues_or_the_usual_ones() {
    let prices = |pricing| -> Result<Vec<Price>, FluidError> {
        let setup = FluidSetup::of(&scenario(TWO_LINKS, &[]), pricing)?;
        Ok(setup.network.links.iter().map(|link| link.price).collect())
    };
    let avq = |utilisation, adaptation| Price::Avq { utilisation, adaptation, marks: true };
    // Half per mean round trip of 60 ms where the link has no virtual queue.
    assert_eq!(
        prices(Pricing::Avq),
        Ok(vec![avq(1.0, 0.5 / 0.06), avq(0.9, 0.25), avq(0.9, 0.25)])
    );
    assert_eq!(prices(Pricing::Overflow), Ok(vec![Price::Overflow; 3]));
    assert_eq!(prices(Pricing::Loss), Ok(vec![Price::Loss; 3]));
    assert_eq!(prices(Pricing::Red), Err(FluidError::NoRed { link: "far".into() }));
    let as_queues_are = prices(Pricing::Queue).expect("each is known");
    assert!(matches!(as_queues_are[0], Price::Red(_)), "{as_queues_are:?}");
    assert_eq!(as_queues_are[1..], [avq(0.9, 0.25), avq(0.9, 0.25)]);
    // 100 packets of 8000 bits at 100 Mbit/s; the other buffer is in bytes.
    let setup = FluidSetup::of(&scenario(TWO_LINKS, &[]), Pricing::Overflow).expect("it is right");
    let buffers: Vec<f64> =
        setup.network.links.iter().filter_map(|link| link.buffer).map(Span::seconds).collect();
    assert_eq!(buffers, [0.008, 0.004, 0.004]);

    let red = r#"link.far.queue={ kind = "red", min = "20 packets", max = "40 packets", weight = 0.002 }"#;
    let setup =
        FluidSetup::of(&scenario(TWO_LINKS, &[red]), Pricing::Red).expect("both are RED now");
    let [Price::Red(near), Price::Red(far), _] =
        setup.network.links[..].iter().map(|link| link.price).collect::<Vec<_>>()[..]
    else {
        panic!("three prices of RED");
    };
    // Lengths are times: 20 packets take 1.6 ms. "auto" remembers ten mean round trips of 60 ms.
    assert_near(near.min, 0.0016, 1e-12, "min");
    assert_near(near.max, 0.0048, 1e-12, "max");
    assert_near(near.averaging, 1.0 / 0.6, 1e-6, "automatic averaging");
    // 12 500 packets each second, each of which takes 0.2 % of the average: -ln(0.998) · 12 500.
    assert_near(far.averaging, 25.025, 1e-4, "averaging");
}

#[test]
fn a_queue_without_equations_is_said_to_be_stood_in_for() {
    let told = |queue: &str| {
        let queue = format!("link.far.queue={queue:?}");
        let setup = FluidSetup::of(&scenario(TWO_LINKS, &[&queue]), Pricing::Queue);
        let setup = setup.expect("it is right");
        let charges = setup.charges.into_iter().skip(1);
        charges.map(|charge| (charge.pricing, charge.stands_in)).collect::<Vec<_>>()
    };
    assert_eq!(told("drop-tail"), vec![(Pricing::Overflow, None); 2]);
    assert_eq!(told("codel"), vec![(Pricing::Avq, Some("codel".to_owned())); 2]);
}

#[test]
fn every_pricing_is_found_by_its_name() {
    for pricing in Pricing::ALL {
        assert_eq!(Pricing::named(pricing.name()), Some(pricing));
    }
    assert_eq!(Pricing::named("codel"), None);
}

/// A flow from one link against the other shares that direction with the flow back.
#[test]
fn a_path_may_cross_links_either_way() {
    let mesh = r#"flow.there.path=["near", { link = "far", reverse = true }]"#;
    let setup = FluidSetup::of(&scenario(TWO_LINKS, &[mesh]), Pricing::Avq).expect("it is right");
    assert_eq!(setup.labels.directions, [(0, false), (1, true)], "what is crossed");
    let routes: Vec<&[usize]> = setup.network.flows.iter().map(|flow| &*flow.route).collect();
    assert_eq!(routes, [&[0, 1][..], &[0, 1], &[1]]);
}

/// The largest window that is ever told counts, or `max_window` if that is less.
#[test]
fn receive_windows_bound_the_window_unless_they_grow() {
    let most = |keys: &[&str]| {
        let setup = FluidSetup::of(&scenario(TWO_LINKS, keys), Pricing::Avq);
        setup.map(|setup| setup.network.flows[0].max_window)
    };
    assert_eq!(most(&[]), Ok(None));
    let fixed = "flow.there.receive_window=70 packets";
    assert_eq!(most(&[fixed]), Ok(Some(70)));
    assert_eq!(most(&[fixed, "flow.there.max_window=40"]), Ok(Some(40)));
    // 65 535 bytes in packets with 960 bytes of data.
    let tuned = r#"flow.there.receive_window={ kind = "sender-tuned", scale = 0 }"#;
    assert_eq!(most(&[tuned]), Ok(Some(68)));
    let grows = most(&["flow.there.receive_window=auto"]);
    assert_eq!(grows, Err(FluidError::RightSizing { flow: "there".into() }));
}

/// An own link of 100 Mbit/s on a path of that rate would be where the queue of a lone flow forms; a faster one is not.
#[test]
fn senders_that_would_be_the_bottleneck_are_refused() {
    let of = |access: &str| {
        let key = format!("flow.there.access={access}");
        FluidSetup::of(&scenario(TWO_LINKS, &[&key, "link.far.rate=200 Mbit/s"]), Pricing::Avq)
    };
    for megabits in [10, 100] {
        let refused = of(&format!("{megabits} Mbit/s")).err();
        let access = Rate(megabits * 1_000_000);
        let (flow, link) = ("there".to_owned(), "near".to_owned());
        assert_eq!(refused, Some(FluidError::Access { flow, access, link }));
    }
    assert!(of("101 Mbit/s").is_ok());
}

#[test]
fn senders_that_know_their_path_are_refused() {
    let key = "flow.there.careful_resume={ window = 500, rtt = \"40 ms\" }";
    let refused = FluidSetup::of(&scenario(TWO_LINKS, &[key]), Pricing::Avq).err();
    assert_eq!(refused, Some(FluidError::CarefulResume { flow: "there".into() }));
}

#[test]
fn what_the_fluid_does_not_have_is_refused() {
    let refused = |overrides: &[&str]| {
        let setup = FluidSetup::of(&scenario(TWO_LINKS, overrides), Pricing::Avq);
        setup.expect_err("it should be refused").to_string()
    };
    let message = refused(&["flow.back.control=cubic"]);
    assert!(message.starts_with("flow `back`: `cubic` has no window law"), "{message}");
    for covered in [" reno, ", " stcp", " xcp", " vcp"] {
        assert!(message.contains(covered), "{covered}: {message}");
    }
    let message = refused(&["flow.there.size=1 MB"]);
    assert!(message.starts_with("flow `there` has a size"), "{message}");
    let message = refused(&["flow.there.application={kind=\"constant\",rate=\"1 Mbit/s\"}"]);
    assert!(message.starts_with("flow `there` has an application (\"constant\")"), "{message}");
    let (_, traffic) = TWO_LINKS.split_once("[[traffic]]").expect("it has traffic");
    let (links, _) = TWO_LINKS.split_once("[[flow]]").expect("it has flows");
    let short = scenario(
        &format!("{links}[[traffic]]{traffic}"),
        &["link.far.buffer=9 packets", "link.far.bdp=10 ms"],
    );
    assert_eq!(FluidSetup::of(&short, Pricing::Avq).err(), Some(FluidError::NoLongFlows));
}

/// A lone flow on a link of 1 Gbit/s and 40 ms, which holds 5000 packets of 1000 B. No price disturbs it.
const LONE: &str = r#"
duration = "24 s"
sample   = "40 ms"

[link.bottleneck]
rate     = "1 Gbit/s"
delay    = "10 ms"
anti_ecn = { threshold = 0.5 }

[[flow]]
name              = "lone"
control           = "anti-ecn"
path              = ["bottleneck"]
rtt               = "40 ms"
packet            = "1000 B"
initial_window    = 2400
initial_threshold = 2400
max_window        = 5000
"#;

fn solved(overrides: &[&str], delay: f64) -> Trajectory {
    let setup = FluidSetup::of(&scenario(LONE, overrides), Pricing::Loss).expect("it is right");
    let how = Solve { reading: Reading::MeanField, delay, sample: setup.sample };
    let mut integration = Integration::new(&setup.network, &how).expect("it can be solved");
    while integration.advance(10_000).expect("it can be solved") {}
    integration.finish()
}

/// Segments per round trip from one row to the next, with the window at the first of them. The first rows have no
/// acknowledgments yet.
fn slopes(path: &Trajectory) -> Vec<(f64, f64)> {
    let windows = &path.flows[0].window[3..];
    windows.windows(2).map(|pair| (pair[0], pair[1] - pair[0])).collect()
}

/// The same as packets (`the_slope_is_two_below_the_threshold_and_one_above`, in the tests of the simulator): two
/// segments per round trip up to W* = η P, and one above.
#[test]
fn anti_ecn_doubles_the_slope_of_trains_up_to_the_threshold() {
    for threshold in [0.49, 0.5, 0.51] {
        let knee = threshold * 5000.0;
        let given = format!("link.bottleneck.anti_ecn.threshold={threshold}");
        let slopes = slopes(&solved(&[&given], 1.0));
        let (mut below, mut above) = (0, 0);
        for &(window, slope) in &slopes {
            // A round trip before and after the knee the feedback is mixed.
            // With w' = (w - 2) (2/w - 1/w²) before and (w - 1)/w after it, as w - slope were sent a round trip before.
            if window < knee - 4.0 {
                assert_near(slope, 2.0 - 5.0 / window, 1e-5, "below the threshold");
                below += 1;
            } else if window > knee + 4.0 {
                assert_near(slope, 1.0 - 1.0 / window, 1e-5, "above the threshold");
                above += 1;
            }
        }
        assert!(below > 10 && above > 100, "{below} and {above} round trips");
    }
}

/// Evenly spaced packets all find room: the window grows as in slow start, by e in a round trip without delay.
#[test]
fn anti_ecn_multiplies_a_paced_window_up_to_the_threshold() {
    let changed = [
        "flow.lone.pacing=spread",
        "flow.lone.initial_window=100",
        "flow.lone.initial_threshold=100",
        "duration=1 s",
        "sample=10 ms",
    ];
    let path = solved(&changed, 0.0);
    let windows = &path.flows[0].window;
    // A quarter of a round trip between rows: 100 e³ = 2009 is the last round trip below 2500 segments.
    for row in 1..=12 {
        assert_near(windows[row] / windows[row - 1], 0.25_f64.exp_m1() + 1.0, 1e-4, "growth");
    }
    let last = windows.last().expect("there are rows");
    assert!((2500.0..2530.0).contains(last), "Reno's slope above 2500 segments, but {last}");
}

/// With one link that does not support AntiECN, the bits of the others are ignored.
#[test]
fn a_path_that_does_not_know_anti_ecn_leaves_the_base_law() {
    let plain = solved(&["link.bottleneck.anti_ecn=false"], 1.0);
    let reno = solved(&["link.bottleneck.anti_ecn=false", "flow.lone.control=reno"], 1.0);
    assert_eq!(plain, reno);
    assert_eq!(solved(&["flow.lone.control=reno"], 1.0), reno, "nor does Reno listen");
    assert_ne!(solved(&[], 1.0), reno);

    let second = format!(
        "{LONE}\n[link.second]\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 MB\"\n"
    );
    let path = |overrides: &[&str]| {
        let setup =
            FluidSetup::of(&scenario(&second, overrides), Pricing::Loss).expect("it is right");
        let how = Solve { reading: Reading::MeanField, delay: 1.0, sample: setup.sample };
        longfat_fluid::solve(&setup.network, &how).expect("it can be solved").flows
    };
    let both = r#"flow.lone.path=["bottleneck", "second"]"#;
    let control = "flow.lone.control=reno";
    assert_eq!(path(&[both]), path(&[both, control]), "the second link is unaware");
    let aware = "link.second.anti_ecn=true";
    assert_ne!(path(&[both, aware]), path(&[both, aware, control]));
    // If it overwrites, the second link alone decides: it always has room. Otherwise the first one does.
    let overwrites = r#"link.second.anti_ecn={ mode = "overwrite" }"#;
    let end = |overrides: &[&str]| *path(overrides)[0].window.last().expect("there are rows");
    let (and, overwritten) = (end(&[both, aware]), end(&[both, overwrites]));
    // From 2400 segments: 598 round trips with slope 2, or 50 with slope 2 and the rest with slope 1.
    assert_near(overwritten, 2400.0 + 2.0 * 598.0, 0.002, "overwritten");
    assert_near(and, 2400.0 + 598.0 + 50.0, 0.002, "and");
}

/// Reno gives up half: below η C it grows twice as fast, until it is back there.
#[test]
fn anti_ecn_speaks_in_the_synchronised_model() {
    let buffer = r#"link.bottleneck.buffer="50 packets""#;
    let run = |control: &str| {
        let control = format!("flow.lone.control={control}");
        let overrides = [
            buffer,
            &control,
            "link.bottleneck.anti_ecn.threshold=0.75",
            "duration=20000 s",
            "sample=10 s",
            "flow.lone.max_window=none",
        ];
        let scenario = scenario(LONE, &overrides);
        let setup = FluidSetup::of(&scenario, Pricing::Overflow).expect("it is right");
        let path = synchronised(&setup.network, setup.sample).expect("it can be solved");
        path.flows[0].events as f64
    };
    // An epoch goes from 2525 segments to 5050 in 2525 round trips; with slope 2 up to 3750, in 1225/2 + 1300.
    let ratio = run("anti-ecn") / run("reno");
    assert_near(ratio, 2525.0 / 1912.5, 0.01, "losses");
}

#[test]
fn anti_ecn_that_the_fluid_cannot_stand_for_is_refused() {
    // η (1 - η) P: a quarter of 5 MB.
    let of = |overrides: &[&str]| FluidSetup::of(&scenario(LONE, overrides), Pricing::Loss);
    let small = r#"link.bottleneck.anti_ecn={ threshold = 0.5, buffer = "1240 packets" }"#;
    let error = of(&[small]).expect_err("it empties between trains");
    let least = Bytes(1_250_000);
    let (link, flow) = ("bottleneck".to_owned(), "lone[0]".to_owned());
    assert_eq!(error, FluidError::SmallVirtualBuffer { link, flow: flow.clone(), least });
    let message = error.to_string();
    assert!(message.contains(r#"a `buffer` of at least "1.25 MB""#), "{message}");
    assert!(of(&[small, "flow.lone.control=reno"]).is_ok(), "nobody listens");
    let error = of(&[small, "flow.lone.rtt=80 ms"]).expect_err("the path holds twice as much");
    let (link, flow_name, least) = ("bottleneck".to_owned(), flow.clone(), Bytes(2_500_000));
    assert_eq!(error, FluidError::SmallVirtualBuffer { link, flow: flow_name, least });
    let enough = r#"link.bottleneck.anti_ecn={ threshold = 0.5, buffer = "1250 packets" }"#;
    assert!(of(&[enough]).is_ok());

    // Losses hold Reno at √(2/p) = 447 segments, where the link still has capacity to spare.
    let setup = of(&["link.bottleneck.loss=1e-5"]).expect("it is right");
    let error = equilibrium(&setup.network).expect_err("it would grow");
    assert_eq!(error, FluidError::SpareAtRest { flow });
    let setup = of(&["link.bottleneck.loss=1e-5", "link.bottleneck.anti_ecn.threshold=0.05"]);
    let rest = equilibrium(&setup.expect("it is right").network).expect("there is no room");
    assert_near(rest.flows[0].window, 447.2, 1e-3, "Reno's window");
    // A virtual queue that marks above 0.98 C has no capacity to spare at rest, whatever the threshold below that.
    let avq = scenario(
        LONE,
        &[
            "link.bottleneck.queue=avq",
            "link.bottleneck.anti_ecn.threshold=0.98",
            "flow.lone.max_window=none",
        ],
    );
    let setup = FluidSetup::of(&avq, Pricing::Avq).expect("it is right");
    let rest = equilibrium(&setup.network).expect("the link is full");
    assert_near(rest.flows[0].rate, 0.98e9, 1e-5, "the rate");
    assert_eq!(setup.network.links[0].rate, Rate(1_000_000_000));
}

#[test]
fn a_link_that_is_no_constant_is_refused() {
    let refused = |more: &str| {
        let text = TWO_LINKS.replacen("rate   = \"100 Mbit/s\"\ndelay  = \"5 ms\"", more, 1);
        FluidSetup::of(&scenario(&text, &[]), Pricing::Avq).err()
    };
    let near = "delay = \"5 ms\"\nrate = \"100 Mbit/s\"\n";
    for keys in [
        "trace = { mahimahi = \"1 2 5\" }",
        "jitter = \"1 ms\"",
        "burst_loss = { p = 0.1, r = 0.5 }",
        "shaper = { rate = \"5 Mbit/s\", burst = \"9 kB\" }",
        "acknowledgments = { keep = \"newest\" }",
        "change = [{ at = \"1 s\", loss = 0.1 }]",
    ] {
        assert_eq!(
            refused(&format!("{near}{keys}")),
            Some(FluidError::Varying { link: "near".into() }),
            "{keys}"
        );
    }
    assert_eq!(refused(near), None);
    // What nobody crosses may change.
    assert_eq!(
        refused(&format!("{near}change = [{{ at = \"1 s\", loss = 0.1, reverse = true }}]")),
        None
    );
}

/// A thousand arrivals take ten seconds, from when they begin, unless they stop before.
#[test]
fn short_flows_end_with_their_number_or_their_stop() {
    let stops = |keys: &[&str]| {
        let setup = FluidSetup::of(&scenario(TWO_LINKS, keys), Pricing::Avq).expect("it is right");
        (setup.network.loads[0].start, setup.network.loads[0].stop)
    };
    let seconds = Span::from_seconds;
    let start = "traffic.web.start=5 s";
    assert_eq!(stops(&[start]), (seconds(5), Some(seconds(15))));
    assert_eq!(stops(&[start, "traffic.web.stop=8 s"]), (seconds(5), Some(seconds(8))));
    assert_eq!(stops(&[start, "traffic.web.stop=20 s"]), (seconds(5), Some(seconds(15))));
}

#[test]
fn red_has_the_settings_of_its_queue() {
    let red = |more: &str| {
        let queue = "link.near.queue={ kind = \"red\", min = \"20 packets\", max = \"60 packets\", weight = 0.002";
        let key = format!("{queue}{more} }}");
        let setup = FluidSetup::of(&scenario(TWO_LINKS, &[&key]), Pricing::Queue);
        match setup.expect("it is right").network.links[0].price {
            Price::Red(red) => (red.max_p, red.gentle, red.marks),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(red(", max_p = 0.25, gentle = false, ecn = true"), (0.25, false, true));
    assert_eq!(red(", max_p = 0.02, gentle = true, ecn = false"), (0.02, true, false));
}

/// With `mode = "bytes"` thresholds are bytes: 25 kB and 75 kB are 2 ms and 6 ms at 100 Mbit/s.
#[test]
fn a_red_that_counts_bytes_has_thresholds_in_bytes() {
    let queue = r#"link.near.queue={ kind = "red", mode = "bytes", min = "25 kB", max = "75 kB" }"#;
    let setup = FluidSetup::of(&scenario(TWO_LINKS, &[queue]), Pricing::Queue);
    let Price::Red(red) = setup.expect("it is right").network.links[0].price else {
        panic!("it is RED")
    };
    assert_near(red.min, 2e-3, 1e-12, "min");
    assert_near(red.max, 6e-3, 1e-12, "max");
}

/// What is crossed backwards has the rate, the delay, the loss, the buffer and the queue of that direction: 25 packets of 1000
/// bytes are 0.2 s at 1 Mbit/s. It may change as little as any other.
#[test]
fn each_direction_has_its_own_numbers() {
    let text = TWO_LINKS.replacen(
        "[link.far]\n",
        r#"[link.far.reverse]
rate   = "1 Mbit/s"
delay  = "20 ms"
loss   = 0.001
buffer = "25 packets"
queue  = "drop-tail"

[link.far]
"#,
        1,
    );
    let setup = FluidSetup::of(&scenario(&text, &[]), Pricing::Queue).expect("it is right");
    let (far, back) = (&setup.network.links[1], &setup.network.links[2]);
    assert_eq!((far.rate, back.rate), (Rate(100_000_000), Rate(1_000_000)));
    assert_eq!((far.delay, back.delay), (Span::from_millis(10), Span::from_millis(20)));
    assert_eq!((far.loss, back.loss), (0.0, 0.001));
    assert_eq!(back.buffer, Some(Span::from_millis(200)));
    assert_eq!(back.price, Price::Overflow);
    let change = "change = [{ at = \"1 s\", loss = 0.1, reverse = true }]";
    let changing = text.replacen("[link.far]\n", &format!("[link.far]\n{change}\n"), 1);
    let refused = FluidSetup::of(&scenario(&changing, &[]), Pricing::Queue).expect_err("changes");
    assert_eq!(refused, FluidError::Varying { link: "far".into() });
}

/// Packets are lost where the queue does not mark, and where they cannot carry marks.
#[test]
fn marks_need_a_queue_and_packets_for_them() {
    let setup = |overrides: &[&str]| {
        FluidSetup::of(&scenario(TWO_LINKS, overrides), Pricing::Queue).expect("it is right")
    };
    let able = |setup: &FluidSetup| setup.network.flows.iter().map(|it| it.ecn).collect::<Vec<_>>();
    let marking = |setup: &FluidSetup| {
        let marks = |price| matches!(price, Price::Avq { marks: true, .. });
        marks(setup.network.links[1].price)
    };
    let usual = setup(&[]);
    assert_eq!((able(&usual), marking(&usual)), (vec![true; 3], true));
    let old = setup(&["flow.there.ecn=false"]);
    assert_eq!((able(&old), marking(&old)), (vec![false, false, true], true));
    // A virtual queue that stands in does what the other would.
    for kind in ["avq", "pie", "fq-codel"] {
        for ecn in [true, false] {
            let queue = format!(r#"link.far.queue={{ kind = "{kind}", ecn = {ecn} }}"#);
            let queue = setup(&[&queue]);
            assert_eq!((able(&queue), marking(&queue)), (vec![true; 3], ecn), "{kind}");
        }
    }
    assert!(marking(&setup(&["link.far.queue=dualpi2"])), "it always marks");
}

/// PIE has an `alpha` too, which is none of a virtual queue's.
#[test]
fn a_virtual_queue_that_stands_in_has_the_usual_parameters() {
    let scenario = scenario(TWO_LINKS, &["link.far.queue=pie"]);
    let setup = FluidSetup::of(&scenario, Pricing::Queue).expect("it is right");
    let usual = Price::Avq { utilisation: 1.0, adaptation: 0.5 / 0.06, marks: true };
    assert_eq!(setup.network.links[1].price, usual);
}

/// Limited slow start (RFC 3742) beyond a hundred segments.
#[test]
fn slow_start_is_that_of_the_file() {
    let setup =
        FluidSetup::of(&scenario(TWO_LINKS, &["flow.back.slow_start=limited"]), Pricing::Avq);
    let flows = setup.expect("it is right").network.flows;
    assert_eq!(flows[2].slow_start, SlowStart::Limited);
    assert_eq!(flows[0].slow_start, SlowStart::Standard);
}

/// Three flows over 2, 2 and 1 links, four directions with that of the short flows, 601 rows: 1500 B for each flow, 64 B for
/// each link of its path, 250 B for each flow and direction in a row, 100 B for each pair of directions.
#[test]
fn memory_is_counted_by_flows_links_and_rows() {
    let keys = [r#"traffic.web.path=[{ link = "near", reverse = true }]"#, "sample=100 ms"];
    let network = 3.0 * 1500.0 + 5.0 * 64.0;
    let expected =
        Memory { in_time: network + 600.0 * 7.0 * 250.0, at_rest: network + 16.0 * 100.0 };
    assert_eq!(memory(&scenario(TWO_LINKS, &keys)), expected);
}
