//! AntiECN: the bit's way from sender to links to receiver and back, and how a window that follows it develops.

use crate::random;
use crate::support;
use crate::support::run;
use longfat_control::{CONTROLLERS, Controller};
use longfat_sim::Recording;
use longfat_sim::summary::{FlowSummary, Summary};
use proptest::prelude::*;

/// A column of the time series of the flows.
fn series(recording: &Recording, name: &str) -> Vec<f64> {
    support::numbers(recording, "flow_series", name)
}

/// A lone flow on the link of the paper, 1 Gbit/s and 40 ms: the pipe holds 5000 packets of 1000 B. A row every fifth
/// round trip.
struct Climb {
    threshold: f64,
    /// Packets.
    buffer: u32,
    /// Where slow start ends.
    from: f64,
    seconds: u32,
}

const PIPE: f64 = 5000.0;
const ROUND_TRIPS_PER_ROW: usize = 5;

/// Window at the end of each row, and the share of the acknowledgments in it that signalled room.
fn ramp(Climb { threshold, buffer, from, seconds }: &Climb) -> (Vec<f64>, Vec<f64>) {
    let recording = support::record(
        &format!(
            r#"
            duration = "{seconds} s"
            sample   = "200 ms"
            [link.bottleneck]
            rate     = "1 Gbit/s"
            delay    = "10 ms"
            buffer   = "1 bdp"
            anti_ecn = {{ threshold = {threshold}, buffer = "{buffer} packets" }}
            [[flow]]
            name              = "lone"
            control           = "anti-ecn"
            path              = ["bottleneck"]
            rtt               = "40 ms"
            packet            = "1000 B"
            initial_threshold = {from}
            "#
        ),
        true,
    );
    assert_eq!(recording.summary.flows[0].congestion_events, 0, "the ramp ends before the buffer");
    (series(&recording, "window"), series(&recording, "room_rate"))
}

/// Segments per round trip from each row to the next.
fn slopes(windows: &[f64]) -> Vec<f64> {
    windows.windows(2).map(|pair| (pair[1] - pair[0]) / ROUND_TRIPS_PER_ROW as f64).collect()
}

/// Two segments per round trip below W* and one above, with W* = max(η P, P - B/η) within 2 %, or 5 % where the buffer
/// is 100 packets. One acknowledgment per round trip signals room below, none above.
fn doubles_its_slope_up_to(expected: f64, tolerance: f64, ramp_to: &Climb) {
    let (windows, rooms) = ramp(ramp_to);
    let last = rooms.iter().rposition(|&room| room > 0.0).expect("there was room");
    let found = windows[last];
    assert!((found / expected - 1.0).abs() < tolerance, "room until {found}, not {expected}");
    // The first row holds slow start; at the last one with room the slope changes.
    let slopes = slopes(&windows);
    let (below, above) = (&slopes[1..last - 1], &slopes[last + 1..]);
    assert!(below.len() >= 10 && above.len() >= 10, "{} rows and {}", below.len(), above.len());
    assert!(below.iter().all(|slope| (slope / 2.0 - 1.0).abs() < 0.02), "{below:?}");
    assert!(above.iter().all(|slope| (slope - 1.0).abs() < 0.02), "{above:?}");
    for row in 2..last {
        let told = rooms[row] * f64::midpoint(windows[row - 1], windows[row]);
        assert!((told - 1.0).abs() < 0.02, "{told} a round trip at {}", windows[row]);
    }
}

#[test]
fn the_slope_is_two_below_the_threshold_and_one_above() {
    for threshold in [0.4, 0.5, 0.6, 0.75] {
        let knee = threshold * PIPE;
        let ramp = Climb { threshold, buffer: 5000, from: 0.95 * knee, seconds: 9 };
        doubles_its_slope_up_to(knee, 0.02, &ramp);
    }
}

/// A flow of 3 Mbit/s, spaced: there is room where half of the link is more, as it is of 100 Mbit/s and not of 4. A link
/// whose rate changes goes by the one it has, and by that of a shaper behind its queue.
#[test]
fn there_is_room_by_the_rate_that_the_link_has() {
    let rooms = |link: &str| {
        let text = format!(
            "duration = \"8 s\"\nsample = \"1 s\"\n[link.bottleneck]\ndelay = \"10 ms\"\nbuffer = \"1000 packets\"\n\
             anti_ecn = {{ threshold = 0.5 }}\n{link}\n[[flow]]\nname = \"spaced\"\ncontrol = \"anti-ecn\"\n\
             path = [\"bottleneck\"]\nrtt = \"40 ms\"\npacket = \"1000 B\"\npacing = {{ rate = \"375 /s\" }}\n\
             initial_window = 40\n"
        );
        let rooms = series(&support::record(&text, true), "room_rate");
        // The second of the change, and the first, have some of both.
        [&rooms[1..4], &rooms[5..]].map(|rows| rows.iter().sum::<f64>() / rows.len() as f64)
    };
    let change = |from, to| {
        format!("rate = \"{from} Mbit/s\"\nchange = [{{ at = \"4 s\", rate = \"{to} Mbit/s\" }}]")
    };
    assert_eq!(rooms("rate = \"100 Mbit/s\""), [1.0, 1.0]);
    assert_eq!(rooms("rate = \"4 Mbit/s\""), [0.0, 0.0]);
    assert_eq!(rooms(&change(100, 4)), [1.0, 0.0]);
    assert_eq!(rooms(&change(4, 100)), [0.0, 1.0]);
    let shaper = "rate = \"100 Mbit/s\"\nshaper = { rate = \"4 Mbit/s\", burst = \"3 kB\" }";
    assert_eq!(rooms(shaper), [0.0, 0.0]);
}

#[test]
fn a_small_virtual_buffer_raises_the_knee() {
    // Experiment 2: at η = 0.5, max(2500, 5000 - 2B). 5000 and 2500 packets are the same.
    for (buffer, knee, tolerance) in
        [(2500, 2500.0, 0.02), (1000, 3000.0, 0.02), (100, 4800.0, 0.05)]
    {
        let ramp = Climb { threshold: 0.5, buffer, from: 0.96 * knee, seconds: 11 };
        doubles_its_slope_up_to(knee, tolerance, &ramp);
    }
}

#[test]
#[ignore = "a minute: make test-long"]
fn the_whole_ramps_of_the_paper() {
    for (threshold, buffer, knee, tolerance) in [
        (0.4, 5000, 2000.0, 0.02),
        (0.5, 5000, 2500.0, 0.02),
        (0.6, 5000, 3000.0, 0.02),
        (0.75, 5000, 3750.0, 0.02),
        (0.5, 2500, 2500.0, 0.02),
        (0.5, 1000, 3000.0, 0.02),
        (0.5, 100, 4800.0, 0.05),
    ] {
        // From 100 segments to 100 short of the pipe.
        let seconds = 0.04 * ((knee - 100.0) / 2.0 + (PIPE - 100.0 - knee));
        let ramp = Climb { threshold, buffer, from: 100.0, seconds: seconds as u32 };
        doubles_its_slope_up_to(knee, tolerance, &ramp);
    }
}

/// Packets that come one by one, slower than the virtual queue drains, all find it empty: each acknowledgment adds a
/// segment, and the window doubles every round trip instead of growing by two. It makes no difference whether an access
/// link of 0.4 of the rate spaces them, or pacing.
#[test]
fn spaced_packets_double_the_window() {
    let windows = |control: &str, spacing: &str| {
        let recording = support::record(
            &format!(
                r#"
                duration = "240 ms"
                sample   = "40 ms"
                [link.bottleneck]
                rate     = "1 Gbit/s"
                delay    = "10 ms"
                anti_ecn = {{ threshold = 0.5 }}
                [[flow]]
                name              = "spaced"
                control           = {control}
                path              = ["bottleneck"]
                rtt               = "40 ms"
                packet            = "1000 B"
                {spacing}
                initial_threshold = 10
                "#
            ),
            true,
        );
        series(&recording, "window")
    };
    // The first acknowledgments come after a round trip. A row may end between those of one round trip.
    let access = "access = \"400 Mbit/s\"";
    let doubled = windows("\"anti-ecn\"", access);
    for (window, expected) in doubled.iter().zip([10.0, 20.0, 40.0, 80.0, 160.0, 320.0]) {
        assert!((window / expected - 1.0).abs() < 0.05, "{doubled:?}");
    }
    // Pacing begins with the second round trip, and what the window gains within a round trip leaves only in the next.
    let paced = windows("\"anti-ecn\"", "pacing = \"spread\"");
    for pair in paced[1..].windows(2) {
        assert!((1.7..=2.0).contains(&(pair[1] / pair[0])), "{paced:?}");
    }
    // Δ = 3: three segments per round trip, less what the window gains within one.
    let by_three = windows(r#"{ kind = "anti-ecn", delta = 3 }"#, access);
    for (round, window) in by_three.iter().enumerate() {
        let expected = 10.0 + 3.0 * round as f64;
        assert!((window - expected).abs() <= 0.13 * (expected - 10.0), "{by_three:?}");
    }
    // Δ = √w: an acknowledgment adds 1/√w, so 1.5 to w^1.5, and a round has as many as the window holds segments:
    // 31.6 + 15 are 12.95^1.5, 46.6 + 18 are 16.1^1.5, and so on.
    let by_root = windows(r#"{ kind = "anti-ecn", delta = "sqrt" }"#, access);
    for (window, expected) in by_root.iter().zip([10.0, 12.95, 16.1, 19.8, 24.0, 28.5]) {
        assert!((window / expected - 1.0).abs() < 0.01, "{by_root:?}");
    }
}

/// Two links, the second four times as fast. The window is above the threshold of the first, so no packet finds room
/// there; the second is idle three quarters of the time, and gets its packets one by one.
fn across_two(mode: &str) -> Summary {
    run(&format!(
        r#"
        duration = "2 s"
        warmup   = "1 s"
        [link.narrow]
        rate     = "100 Mbit/s"
        delay    = "5 ms"
        buffer   = "1 bdp"
        anti_ecn = {{ threshold = 0.5, mode = "{mode}" }}
        [link.wide]
        rate     = "400 Mbit/s"
        delay    = "5 ms"
        buffer   = "1 bdp"
        anti_ecn = {{ threshold = 0.5, mode = "{mode}" }}
        [[flow]]
        name              = "across"
        control           = "anti-ecn"
        path              = ["narrow", "wide"]
        rtt               = "40 ms"
        packet            = "1000 B"
        initial_threshold = 300
        "#
    ))
}

#[test]
fn every_link_has_a_veto_and_by_the_letter_only_the_last_one_has() {
    let and = across_two("and");
    assert_eq!((and.flows[0].room_rate, and.flows[0].congestion_events), (0.0, 0));
    // 25 round trips of one segment each: 334 at the middle of the second.
    assert!((and.flows[0].window_mean - 334.0).abs() < 5.0, "{}", and.flows[0].window_mean);
    // With the paper's wording the narrow link is overruled: slow start into its buffer.
    let overwrite = across_two("overwrite");
    assert!(overwrite.flows[0].room_rate > 0.99, "{}", overwrite.flows[0].room_rate);
    assert!(overwrite.links["narrow"]["forward"]["dropped"].as_u64() > Some(100));
}

/// What the summary says about AntiECN.
fn told(flow: &FlowSummary) -> (Option<bool>, Option<&str>) {
    (flow.anti_ecn, flow.unaware_link.as_deref())
}

const PARTIAL: &str = r#"
    duration = "3 s"
    [link.aware]
    rate     = "20 Mbit/s"
    delay    = "5 ms"
    anti_ecn = true
    [link.one-way]
    rate     = "50 Mbit/s"
    delay    = "5 ms"
    anti_ecn = true
    [link.one-way.reverse]
    anti_ecn = false
    [link.old]
    rate     = "50 Mbit/s"
    delay    = "5 ms"
    bdp      = "40 ms"
    [[flow]]
    name     = "through"
    control  = "CONTROL"
    path     = ["aware", "one-way"]
    rtt      = "40 ms"
    [[flow]]
    name     = "against"
    control  = "CONTROL"
    path     = ["aware", "one-way"]
    reverse  = true
    rtt      = "40 ms"
    [[flow]]
    name     = "far"
    control  = "CONTROL"
    path     = ["aware", "one-way", "old"]
    rtt      = "40 ms"
    start    = "1 s"
    [[traffic]]
    name     = "web"
    control  = "CONTROL"
    path     = ["old"]
    rtt      = "40 ms"
    size     = "100 packets"
    arrivals = { poisson = "10 /s" }
"#;

#[test]
fn one_unaware_link_in_the_direction_of_the_data_makes_plain_tcp() {
    let summary = run(&PARTIAL.replace("CONTROL", "anti-ecn"));
    assert_eq!(told(&summary.flows[0]), (Some(true), None));
    assert!(summary.flows[0].room_rate > 0.0, "the path of its acknowledgments does not matter");
    assert_eq!(told(&summary.flows[1]), (Some(false), Some("one-way")));
    assert_eq!(told(&summary.flows[2]), (Some(false), Some("old")));
    assert!(summary.flows[1].room_rate.is_nan() && summary.flows[2].room_rate.is_nan());
    let web = &summary.traffic["web"];
    assert_eq!(
        (web["anti_ecn"].as_bool(), web["unaware_link"].as_str()),
        (Some(false), Some("old"))
    );

    let plain = run(&PARTIAL.replace("CONTROL", "reno"));
    assert!(plain.flows.iter().all(|flow| told(flow) == (None, None)));
    assert!(plain.traffic["web"]["anti_ecn"].is_null());
}

/// Everything that a run reports, except for the name of the controller and the summary of AntiECN.
fn without_names(text: &str) -> String {
    let mut recording = support::record(text, true);
    recording.summary.scenario = serde_json::Value::Null;
    for flow in &mut recording.summary.flows {
        (flow.control, flow.anti_ecn, flow.unaware_link) = (String::new(), None, None);
    }
    for group in recording.summary.traffic.values_mut() {
        group["anti_ecn"] = serde_json::Value::Null;
        group["unaware_link"] = serde_json::Value::Null;
    }
    for table in &mut recording.tables {
        table.columns.retain(|(name, _)| *name != "control");
    }
    format!("{recording:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// With the marker off an AntiECN flow is its base law, byte for byte.
    #[test]
    fn without_a_marker_it_is_its_base_law(text in random::scenarios()) {
        let off: Vec<&str> = text.lines().filter(|line| !line.starts_with("anti_ecn")).collect();
        let off = off.join("\n");
        let is_base = |controller: &Controller| {
            controller.law.is_some() && !controller.heeds_delay()
        };
        let laws = CONTROLLERS.iter().filter(|controller| is_base(controller));
        // A sized start needs access rates, which these flows may lack; H-TCP remembers more in packets than its law, and
        // Veno waits for three samples.
        let other = ["anti-ecn", "sized-start", "h-tcp", "veno"];
        for law in laws.map(|law| &*law.name).filter(|name| !other.contains(name)) {
            let base = format!("control = \"{law}\"");
            let on = format!("control = {{ kind = \"anti-ecn\", on = \"{law}\" }}");
            let plain = off.replace("control = \"anti-ecn\"", &base);
            if plain.contains(&base) {
                let built = plain.replace(&base, &on);
                prop_assert_eq!(without_names(&plain), without_names(&built), "{}", built);
            }
        }
    }

    /// A link with AntiECN changes nothing for other flows, whatever it writes.
    #[test]
    fn a_marker_changes_nothing_for_flows_that_do_not_ask(text in random::scenarios()) {
        let asks = |line: &str| line.starts_with("control = ") && line.contains("\"anti-ecn\"");
        let other = |line| if asks(line) { "control = \"reno\"" } else { line };
        let others = text.lines().map(other).collect::<Vec<_>>().join("\n");
        let without: Vec<&str> = others.lines().filter(|line| !line.starts_with("anti_ecn")).collect();
        prop_assert_eq!(without_names(&others), without_names(&without.join("\n")), "{}", others);
    }
}
