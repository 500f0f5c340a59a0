//! Links that change, and the traces that scenarios name.

use std::cell::RefCell;

use longfat_scenario::{
    Catalogue, EcnField, Jitter, Keep, Scenario, ScenarioError, Thinning, TokenBucket,
};
use longfat_units::{Bytes, Rate, Span, Time};

use crate::{BASE, base, read};

/// Reads a scenario, opening the files that it names in this way.
fn read_opening(
    text: &str,
    files: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Scenario, ScenarioError> {
    Scenario::read_while(&Catalogue::built_in(), text, "base.toml", &[], None, files, &mut || true)
        .expect("nobody stops it")
}

/// Reads the base with a trace in a file of this content, and `more` keys of the link.
fn with_file(content: &str, more: &str) -> Result<Scenario, ScenarioError> {
    let text = BASE.replacen("delay =", &format!("trace = \"some.trace\"\n{more}\ndelay ="), 1);
    let opened = RefCell::new(Vec::new());
    let mut files = |name: &str| {
        opened.borrow_mut().push(name.to_owned());
        Ok(content.to_owned())
    };
    let read = read_opening(&text, &mut files);
    assert_eq!(*opened.borrow(), ["some.trace"], "it is opened once for both directions");
    read
}

#[test]
fn a_trace_may_begin_as_spreadsheets_do() {
    for content in ["1\n2\n5\n", "time,rate\n1 s,5 Mbit/s\n"] {
        let marked = with_file(&format!("\u{feff}{content}"), "");
        assert!(marked.is_ok(), "{marked:?}");
        assert_eq!(marked, with_file(content, ""));
    }
}

fn refused(content: &str) -> String {
    let error = with_file(content, "").expect_err("it is wrong");
    let place = &error.diagnostics()[0];
    assert_eq!((place.file.as_str(), place.override_index), ("some.trace", None));
    error.to_string()
}

#[test]
fn a_change_says_what_it_does_at_any_time() {
    let text = format!(
        "{BASE}\n[[link.bottleneck.change]]\nat = \"10 s\"\nover = \"4 s\"\nevery = \"30 s\"\nrate = \"100 Mbit/s\"\n\
         [[link.bottleneck.change]]\nat = \"20 s\"\nevery = \"30 s\"\nrate = \"500 Mbit/s\"\ndelay = \"30 ms\"\n\
         reverse = true\n"
    );
    let scenario = read(&text, &[]).expect("it is right");
    let link = &scenario.links[0];
    let at = |reverse: bool, seconds: u64| {
        let course = link.course(reverse, scenario.duration);
        let now = Time::ZERO + Span::from_seconds(seconds);
        (course.rate.value(now) / 1_000_000, course.delay.value(now) / 1_000_000_000)
    };
    assert_eq!(
        [9, 10, 11, 14, 45, 110].map(|now| at(false, now).0),
        [500, 500, 400, 100, 100, 100]
    );
    assert_eq!(
        [12, 19, 20, 39, 42, 49, 50].map(|now| at(true, now).0),
        [300, 100, 500, 500, 300, 100, 500]
    );
    assert_eq!([at(false, 60).1, at(true, 19).1, at(true, 60).1], [10, 10, 30]);
    assert!(link.is_varying(false) && link.is_varying(true));
    assert_eq!(read(&scenario.to_toml(), &[]), Ok(scenario));
}

#[test]
fn a_single_value_of_a_change_can_be_set() {
    let text = format!("{BASE}\n[[link.bottleneck.change]]\nat = \"10 s\"\nrate = \"0 bit/s\"\n");
    let scenario = read(&text, &["link.bottleneck.change.0.at=12 s"]).expect("it is right");
    assert_eq!(scenario.links[0].changes[0].at, Span::from_seconds(12));
    assert_eq!(scenario.links[0].changes[0].rate, Some(Rate(0)));
}

#[test]
fn a_trace_becomes_part_of_the_scenario() {
    let text = BASE.replacen("rate = \"500 Mbit/s\"\n", "", 1);
    let text = text.replacen("delay =", "trace = { mahimahi = \"1 1 2 4\" }\ndelay =", 1);
    let scenario = read(&text, &[]).expect("it is right");
    let [forward, reverse] = [&scenario.links[0].forward, &scenario.links[0].reverse];
    // Four packets of 1500 bytes in 4 ms.
    assert_eq!((forward.rate, reverse.rate), (Rate(12_000_000), Rate(12_000_000)));
    let trace = forward.trace.clone().expect("it follows one");
    assert_eq!((trace.opportunities(), trace.period()), (4, Span::from_millis(4)));
    let times: Vec<u64> = (0..9).map(|index| trace.time(index).0 / 1_000_000_000).collect();
    assert_eq!(times, [1, 1, 2, 4, 5, 5, 6, 8, 9]);
    let passed = [0, 1, 3, 4, 5, 8].map(|now| trace.passed(Time(now * 1_000_000_000)));
    assert_eq!(passed, [0, 2, 3, 4, 6, 8]);
    assert_eq!(read(&scenario.to_toml(), &[]), Ok(scenario));
    // From a file it is the same, with comments or without.
    let file = with_file("# made by hand\n1\n1\r\n2\n\n4\n", "").expect("it is right");
    assert_eq!(file.links[0].reverse.trace, Some(trace));
    assert_eq!(file.links[0].forward.rate, Rate(500_000_000), "lengths have a rate of their own");
    assert_eq!(Scenario::read(&file.to_toml(), "again.toml", &[], None), Ok(file));
}

#[test]
fn each_direction_can_follow_a_trace_of_its_own_or_none() {
    let mut scenario = BASE.to_owned();
    scenario += "[link.bottleneck.reverse]\ntrace = \"none\"\n";
    let text = scenario.replacen("delay =", "trace = { mahimahi = \"5\" }\ndelay =", 1);
    let scenario = read(&text, &[]).expect("it is right");
    let link = &scenario.links[0];
    assert!(link.forward.trace.is_some() && link.reverse.trace.is_none());
    assert!(link.is_varying(false) && !link.is_varying(true));
    assert_eq!(read(&scenario.to_toml(), &[]), Ok(scenario));
}

#[test]
fn a_table_becomes_changes() {
    let rows = "time, delay, rate, loss\n0 s, 30 ms, 5 Mbit/s, 0\n2.5 s,, 0 bit/s,\n# then\n3 s, 80 ms,, 0.5\n";
    let scenario = with_file(rows, "").expect("it is right");
    let link = &scenario.links[0];
    assert_eq!(link.forward.trace, None);
    let found = link.changes.iter().map(|it| (it.at, it.rate, it.delay, it.loss));
    let expected = [
        (Span::ZERO, Some(Rate(5_000_000)), Some(Span::from_millis(30)), Some(0.0)),
        (Span::from_millis(2500), Some(Rate(0)), None, None),
        (Span::from_seconds(3), None, Some(Span::from_millis(80)), Some(0.5)),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert!(link.changes.iter().all(|it| it.over == Span::ZERO && it.every.is_none()), "jumps");
    assert_eq!(Scenario::read(&scenario.to_toml(), "again.toml", &[], None), Ok(scenario));
}

#[test]
fn a_wrong_trace_is_refused_with_its_line_and_shows_nothing_of_it() {
    for (content, line, reason) in [
        ("1\n2\nsecret\n", 3, "not a whole number of milliseconds"),
        ("1\n-2\n", 2, "not a whole number of milliseconds"),
        ("5\n4\n", 2, "comes before the one above it"),
        ("0\n", 0, "its last stamp is 0"),
        ("", 0, "is empty"),
        ("# secret\n\n", 0, "is empty"),
        ("secret\n", 1, "neither a number of milliseconds nor the names of columns"),
        ("rate,delay\n", 1, "neither a number"),
        ("time,rate,rate\n", 1, "neither a number"),
        ("time,rate\n", 1, "has no row"),
        ("time,rate\n1 s,secret\n", 2, "the rate in this row is not a rate"),
        ("time,rate\n1 s,400 Tbit/s\n", 2, "the rate in this row is not a rate"),
        ("time,delay\n1 s,secret\n", 2, "the delay in this row is not a time"),
        ("time,loss\n1 s,secret\n", 2, "the loss in this row is not a number from 0 to 1"),
        ("time,loss\nsecret,0\n", 2, "the time in this row is not a time"),
        ("time,loss\n,0\n", 2, "this row has no time"),
        ("time,loss\n1 s,\n", 2, "changes nothing"),
        ("time,loss\n1 s,0\n1 s,1\n", 3, "does not come after the one above it"),
        ("time,loss\n1 s,0,secret\n", 2, "has 3 fields, and the table 2 columns"),
    ] {
        let message = refused(content);
        assert!(message.contains(reason) && !message.contains("secret"), "{content}: {message}");
        let place = if line == 0 { "some.trace".into() } else { format!("some.trace:{line}") };
        assert!(message.contains(&place), "{message}");
    }
}

#[test]
fn a_trace_that_cannot_be_opened_is_a_fault_of_the_line_that_names_it() {
    let text = BASE.replacen("rate = \"500 Mbit/s\"", "trace = \"x.trace\"", 1);
    let mut files = |_: &str| Err("there is no such file".to_owned());
    let error = read_opening(&text, &mut files).expect_err("there is no file");
    assert_eq!(error.diagnostics().len(), 1, "the missing rate is no fault of its own: {error}");
    assert!(error.to_string().contains("this trace cannot be read: there is no such file"));
    assert_eq!(error.diagnostics()[0].location.map(|place| place.line), Some(5));
}

#[test]
fn what_is_constant_stays_as_it_was() {
    let scenario = base(&[]);
    let link = &scenario.links[0];
    assert!(!link.is_varying(false) && !link.is_varying(true));
    assert!(!scenario.to_toml().contains("trace") && !scenario.to_toml().contains("change"));
}

#[test]
fn impairments_are_those_of_each_direction() {
    let keys = "jitter = \"30 ms\"\nreorder = { probability = 0.01, distance = \"3 packets\" }\nduplicate = 0.1\n\
                burst_loss = { p = 0.01, r = 0.5 }\n\
                policer = { rate = \"5 Mbit/s\", burst = \"30 kB\" }\necn = \"bleached\"\n\
                shaper = { rate = \"4 Mbit/s\", burst = \"9 kB\" }\n\
                acknowledgments = { keep = \"1/4\", hold = \"5 ms\" }\ndelay =";
    let mut text = BASE.replacen("delay =", keys, 1);
    text += "[link.bottleneck.reverse]\njitter = { kind = \"wifi\", interval = \"4 ms\" }\nreorder = false\n\
             duplicate = 0\nburst_loss = false\npolicer = false\nshaper = false\necn = \"ect0\"\n\
             acknowledgments = { keep = \"newest\" }\n";
    let scenario = read(&text, &[]).expect("it is right");
    let link = &scenario.links[0];
    let forward = &link.forward.impairments;
    let most = Span::from_millis(30);
    assert_eq!(forward.jitter, Some(Jitter::Gaussian { most, ordered: true }));
    // Three packets of 1000 bytes at 500 Mbit/s.
    let reorder = forward.reorder.map(|it| (it.probability, it.distance));
    assert_eq!((reorder, forward.duplicate), (Some((0.01, Span(48_000_003))), 0.1));
    let model = forward.burst_loss.map(|it| (it.p, it.r, it.good, it.bad));
    assert_eq!(model, Some((0.01, 0.5, 0.0, 1.0)));
    let reverse = &link.reverse.impairments;
    let interval = Span::from_millis(4);
    assert_eq!(reverse.jitter, Some(Jitter::Wifi { interval, packets: 64 }));
    assert_eq!((reverse.reorder, reverse.duplicate, reverse.burst_loss), (None, 0.0, None));
    let bucket = |it: TokenBucket| (it.rate, it.burst);
    assert_eq!(forward.policer.map(bucket), Some((Rate(5_000_000), Bytes(30_000))));
    assert_eq!(forward.shaper.map(bucket), Some((Rate(4_000_000), Bytes(9000))));
    assert_eq!((reverse.policer, reverse.shaper), (None, None));
    assert_eq!((forward.ecn, reverse.ecn), (EcnField::Bleached, EcnField::Ect0));
    let thinning = |it: Thinning| (it.hold, it.keep);
    let hold = Some(Span::from_millis(5));
    assert_eq!(forward.acknowledgments.map(thinning), Some((hold, Keep::OneOf(4))));
    assert_eq!(reverse.acknowledgments.map(thinning), Some((None, Keep::Newest)));
    assert!(forward.reorder_packets() && !reverse.reorder_packets());
    assert_eq!(read(&scenario.to_toml(), &[]), Ok(scenario));
}
