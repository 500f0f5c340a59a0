//! Lists of flows.

use std::fmt::Write as _;

use longfat_scenario::{Catalogue, Replay, Scenario, ScenarioError};
use longfat_units::{Bytes, Span};

use crate::read;

const LINKS: &str = r#"
    duration = "10 s"
    [link.near]
    rate = "10 Mbit/s"
    delay = "5 ms"
    [link.far]
    rate = "10 Mbit/s"
    delay = "20 ms"
    bdp = "60 ms"
    [[traffic]]
    name = "listed"
    control = "reno"
    path = ["near"]
    rtt = "60 ms"
"#;

/// Reads a scenario that names a list of this content.
fn with_list(content: &str) -> Result<Scenario, ScenarioError> {
    let mut files = |name: &str| {
        assert_eq!(name, "flows.csv");
        Ok(content.to_owned())
    };
    let text = format!("{LINKS}replay = \"flows.csv\"\n");
    let catalogue = Catalogue::built_in();
    Scenario::read_while(&catalogue, &text, "listed.toml", &[], None, &mut files, &mut || true)
        .expect("nobody stops it")
}

fn list(content: &str) -> Replay {
    let scenario = with_list(content).unwrap_or_else(|error| panic!("{error}"));
    let replay = scenario.traffic[0].replay.clone().expect("it has a list");
    let again = Scenario::read(&scenario.to_toml(), "again.toml", &[], None);
    assert_eq!(again, Ok(scenario), "a resolved scenario needs no file");
    (*replay).clone()
}

#[test]
fn a_list_has_what_the_file_says() {
    let replay = list("time_s,size_bytes\n0,1500\n0.000001,3000.0\n2.5e-1,1\n");
    let flows: Vec<(u64, u64)> =
        (0..3).filter_map(|index| replay.flow(index)).map(|it| (it.at.0, it.size.0)).collect();
    assert_eq!(flows, [(0, 1500), (1_000_000, 3000), (250_000_000_000, 1)]);
    assert_eq!((replay.flows(), replay.kinds().len(), replay.flow(3)), (3, 1, None));
    assert_eq!(replay.within(Span::from_millis(250)), 2, "before that");
}

#[test]
fn whole_bytes_may_have_an_exponent() {
    let replay = list("time_s,size_bytes\n0,1e3\n0,1.5E3\n0,1e12\n");
    let sizes: Vec<u64> = (0..3).filter_map(|at| replay.flow(at)).map(|it| it.size.0).collect();
    assert_eq!(sizes, [1000, 1500, 1_000_000_000_000]);
    for size in ["1e-1", "1.5e0", "1e13", "-1e3", "1e", "e3", "1e400"] {
        let error = with_list(&format!("time_s,size_bytes\n0,{size}\n")).expect_err(size);
        assert!(error.to_string().contains("not a whole number of bytes"), "{error}");
    }
}

#[test]
fn a_list_may_begin_as_spreadsheets_do() {
    let plain = list("time_s,size_bytes\n0,1500\n");
    assert_eq!(list("\u{feff}time_s,size_bytes\r\n0,1500\r\n"), plain);
    let error = with_list("\u{feff}time_s,size_bytes\n0,x\n").expect_err("x is no size");
    assert!(error.to_string().contains("flows.csv:2:3"), "{error}");
}

#[test]
fn a_list_that_cannot_be_read_is_told_once() {
    let text = format!("{LINKS}replay = \"flows.csv\"\n");
    let mut files = |_: &str| Err("it is not there".to_owned());
    let catalogue = Catalogue::built_in();
    let read = Scenario::read_while(&catalogue, &text, "a", &[], None, &mut files, &mut || true);
    let error = read.expect("nobody stops it").expect_err("there is no list");
    assert_eq!(error.diagnostics().len(), 1, "{error}");
    assert!(error.to_string().contains("this list cannot be read: it is not there"), "{error}");
}

#[test]
fn quantities_have_units_where_the_column_has_none() {
    let replay = list("# by hand\nsize, time\n\"10 kB\", 1.5 s\n2 MB, 1.5 s\n");
    let flow = replay.flow(1).expect("there are two");
    assert_eq!((flow.at, flow.size), (Span::from_millis(1500), Bytes(2_000_000)));
}

#[test]
fn a_row_may_have_a_path_a_controller_and_a_round_trip_of_its_own() {
    let replay = list(
        "time_s,size_bytes,path,control,rtt\n0,1,,,\n1,1,near far,cubic,\n2,1,near/far,cubic,90 ms\n3,1,far,,80 ms\n\
         4,1,near,reno,\n",
    );
    let kinds: Vec<usize> =
        (0..5).filter_map(|index| replay.flow(index)).map(|it| it.kind).collect();
    assert_eq!(kinds, [0, 1, 1, 2, 0]);
    let links =
        |kind: usize| replay.kinds()[kind].path.iter().map(|hop| hop.link).collect::<Vec<_>>();
    assert_eq!(links(1), [0, 1]);
    assert_eq!(replay.kinds()[1].control.kind(), "cubic");
    assert_eq!((links(2), replay.kinds()[2].control.kind()), (vec![1], "reno"));
    assert_eq!(replay.flow(2).expect("there are five").rtt, Some(Span::from_millis(90)));
    assert_eq!(replay.flow(3).expect("there are five").rtt, Some(Span::from_millis(80)));
    // 4 s later the clock of the list still counts whole seconds.
    let text = with_list("time_s,size_bytes\n0,1\n7,1\n").expect("it is right").to_toml();
    assert!(text.contains("[traffic.replay]\ntick = \"1 s\"\nlist = \"0 1,7 1\"\n"), "{text}");
}

#[test]
fn what_is_wrong_in_a_list_is_shown_by_line_and_column() {
    for (content, place, told) in [
        ("", "flows.csv", "this list is empty"),
        ("0,1\n", ":1", "not the names of the columns"),
        ("time_s,time,size\n", ":1", "not the names of the columns"),
        ("time_s,size_bytes\n", ":1", "has no flow"),
        ("time_s,size_bytes\n0,1\n1\n", ":3", "1 fields, and the list 2 columns"),
        ("time_s,size_bytes\n0,1\n x,1\n", ":3:2", "not a number of seconds"),
        ("time_s,size_bytes\n-1,1\n", ":2", "not a number of seconds"),
        ("time_s,size_bytes\n0,1\n1,1.5\n", ":3:3", "not a whole number of bytes"),
        ("time_s,size_bytes\n0,0\n", ":2:3", "not a whole number of bytes"),
        ("time,size\n1,1 kB\n", ":2", "not a time such as"),
        ("time,size\n1 s,1\n", ":2:5", "not a size such as"),
        ("time_s,size_bytes\n2,1\n1,1\n", ":3", "begins before the one above it"),
        ("time_s,size_bytes,path\n0,1,nowhere\n", ":2:5", "not a path of this scenario"),
        ("time_s,size_bytes,control\n0,1,renault\n", ":2:5", "not a controller"),
        ("time_s,size_bytes,rtt_s\n0,1,1e9\n", ":2:5", "not a number of seconds"),
    ] {
        let error = with_list(content).expect_err(content);
        assert_eq!(error.diagnostics()[0].file, "flows.csv", "{error}");
        let error = error.to_string();
        assert!(error.contains(place) && error.contains(told), "{content}: {error}");
        for secret in ["nowhere", "renault"] {
            assert!(!error.contains(secret), "a file is not repeated: {error}");
        }
    }
    let error = with_list("time_s,size_bytes,rtt_s\n0,1,0.009\n").expect_err("10 ms is the least");
    assert!(
        error.to_string().contains("a flow of this list has a round trip of 9 ms, but"),
        "{error}"
    );
}

#[test]
fn a_list_needs_nothing_else_that_says_what_begins() {
    let text =
        format!("{LINKS}size = \"1 kB\"\n[traffic.replay]\ntick = \"1 s\"\nlist = \"0 1\"\n");
    let error = read(&text, &[]).expect_err("it has a size");
    assert!(error.to_string().contains("leave `size` out"), "{error}");
    for list in ["", "0", "0 x", "0 0", "0 1 1", "0 1 0 0 0", "-1 1"] {
        let text = format!("{LINKS}[traffic.replay]\ntick = \"1 s\"\nlist = \"{list}\"\n");
        let error = read(&text, &[]).expect_err(list);
        assert!(error.to_string().contains("of this list is not"), "{error}");
    }
}

#[test]
fn a_million_flows_are_written_and_read_again() {
    let mut content = String::from("time_s,size_bytes\n");
    for index in 0..1_000_000_u64 {
        writeln!(
            content,
            "{}.{:09},{}",
            index / 100_000,
            index % 100_000 * 10_000,
            1500 + index % 7000
        )
        .expect("texts can be written to");
    }
    let scenario = with_list(&content).expect("it is right");
    let text = scenario.to_toml();
    assert!(text.len() < 13_000_000, "{}", text.len());
    assert_eq!(Scenario::read(&text, "again.toml", &[], None), Ok(scenario));
    // Nothing but lists may be as long as that.
    let error = read(&text.replacen("list = ", "name = ", 1).repeat(2), &[]).expect_err("too long");
    assert!(error.to_string().contains("too long for a scenario"), "{error}");
}
