use longfat_control::CONTROLLERS;
use longfat_tcp_host::{Choice, ChoiceError, Refusal};
use longfat_units::parameter::{Kind, Parameter};
use proptest::prelude::*;

use super::*;
use crate::LawImage;
use crate::fixed::ONE;

fn read(text: &str) -> Result<LawTable, TableError> {
    tabulated(&Choice::read(text)?)
}

fn made(text: &str) -> LawTable {
    match read(text) {
        Ok(table) => table,
        Err(error) => panic!("{text}: {error}"),
    }
}

/// The controllers that have a table with their defaults.
const OFFERED: [&str; 10] = [
    "aimd",
    "constant-rate",
    "cw-hstcp",
    "exp",
    "fiber",
    "hstcp",
    "ltcp",
    "multcp",
    "reno",
    "stcp",
];

#[test]
fn what_is_offered_is_within_the_tolerance() {
    for control in CONTROLLERS.iter() {
        let table = read(&control.name);
        assert_eq!(table.is_ok(), OFFERED.contains(&&*control.name), "{}: {table:?}", control.name);
        if let Ok(table) = table {
            assert!(table.errors.most() <= TOLERANCE, "{}: {:?}", control.name, table.errors);
        }
    }
}

/// Worked by hand: at 1000 segments Reno adds a thousandth and takes 500; STCP adds 0.01 and takes 125; EXP-TCP after
/// a loss at 900 adds 0.05 (1 - 900/1000 + 30/1000) = 0.0065 and takes 125.
#[test]
fn tables_say_what_the_papers_say() {
    let (window, epoch) = (to_fixed(1000.0), to_fixed(900.0));
    for (text, gain, taken) in
        [("reno", 1e-3, 500.0), ("stcp", 0.01, 125.0), ("exp", 0.0065, 125.0)]
    {
        let table = made(text);
        let found = to_real(table.gain(window, epoch, to_fixed(40_000.0)));
        assert!((found / gain - 1.0).abs() < TOLERANCE, "{text} adds {found}");
        let found = to_real(table.taken(window, Phase::CongestionAvoidance, Cause::Loss));
        assert!((found / taken - 1.0).abs() < TOLERANCE, "{text} takes {found}");
    }
}

#[test]
fn both_sides_of_a_jump_are_those_of_the_law() {
    // Reno up to 16 segments, and Scalable from there on; 16 is also where a cell begins, and 19.3 is not.
    for jump in [16.0, 19.3] {
        let table = made(&format!("{{ kind = \"stcp\", legacy_window = {jump} }}"));
        let taken = |window| {
            to_real(table.taken(to_fixed(window), Phase::CongestionAvoidance, Cause::Loss)) / window
        };
        let gain = |window| to_real(table.gain(to_fixed(window), ONE, ONE));
        let (below, above) = (jump * (1.0 - 1e-6), jump * (1.0 + 1e-6));
        assert!((taken(below) - 0.5).abs() < 1e-4 && (taken(above) - 0.125).abs() < 1e-4, "{jump}");
        assert!((gain(below) - 1.0 / jump).abs() < 1e-4 && (gain(above) - 0.01).abs() < 1e-4);
    }
}

#[test]
fn a_law_that_goes_by_the_round_trip_does_so_in_its_table() {
    let table = made("{ kind = \"cw-hstcp\", eta_min = 0.5 }");
    let gain = |millis: f64| to_real(table.gain(to_fixed(1e4), ONE, to_fixed(millis * 1e3)));
    // Half of HSTCP up to 50 ms, all of it at 100 ms, twice at 200 ms.
    for (millis, factor) in [(1.0, 0.5), (49.0, 0.5), (51.0, 0.51), (200.0, 2.0)] {
        let found = gain(millis) / gain(100.0);
        assert!((found / factor - 1.0).abs() < TOLERANCE, "{found} at {millis} ms");
    }
    let base = made("{ kind = \"cw-hstcp\", rtt = \"base\" }");
    assert!(matches!(base.round_trip, Some((RoundTrip::Base, _))));
}

#[test]
fn what_cannot_be_a_table_is_refused_with_the_reason() {
    for (text, reason) in [
        ("cubic", "remembers"),
        ("bic", "remembers"),
        ("h-tcp", "time since the last congestion"),
        ("vegas", "difference of two round trips"),
        ("fast", "difference of two round trips"),
        ("hybla", "what slow start adds depends on the round trip"),
        ("{ kind = \"exp\", rtt_fair = true }", "% off at a window"),
        ("{ kind = \"fiber\", per_mark = true }", "how many packets are marked"),
        ("anti-ecn", "the bit of AntiECN"),
        ("stpc", "stcp"),
    ] {
        let error = read(text).map(drop).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let refused = |reason| ChoiceError::Refused { name: "dctcp".into(), reason };
    assert_eq!(read("dctcp").map(drop), Err(refused(Refusal::CountedMarks).into()));
}

#[test]
fn equal_curves_are_in_the_kernel_once() {
    let image = made("reno").image();
    let first = |number: usize| image.law.curves[number].first;
    assert_eq!((first(4), first(5), first(6)), (first(7), first(7), first(7)), "always a half");
    assert_eq!(image.law.bytes().len(), LawImage::SIZE);
    assert_eq!(image.law.pacing, 0);
    assert_eq!(made("exp").image().law.pacing, 256, "one window per round trip");
}

/// Any settings of a controller, within the ranges of its parameters.
fn anything() -> impl Strategy<Value = String> {
    let controls: Vec<_> = CONTROLLERS.iter().cloned().collect();
    (prop::sample::select(controls), prop::collection::vec((any::<bool>(), 0.0_f64..=1.0), 12))
        .prop_map(|(control, drawn)| {
            let pairs = control.parameters.iter().zip(drawn);
            let own =
                pairs.filter(|(_, (given, _))| *given).filter_map(|(parameter, (_, share))| {
                    Some(format!(", {} = {}", parameter.name, value(parameter, share)?))
                });
            format!("{{ kind = \"{}\"{} }}", control.name, own.collect::<String>())
        })
}

fn value(parameter: &Parameter, share: f64) -> Option<String> {
    use longfat_units::math::pow;
    // Small numbers as often as large ones.
    let number = |least: f64, most: f64| {
        let least = if least > 0.0 { least } else { most * 1e-9 };
        (least * pow(most / least, share)).clamp(least, most)
    };
    match &parameter.kind {
        Kind::Number { min, max } => Some(format!("{:e}", number(*min, *max))),
        Kind::NumberOr { min, max, words } if share > 0.2 || words.is_empty() => {
            Some(format!("{:e}", number(*min, *max)))
        }
        Kind::Frequency { min, max } => Some(format!("\"{} /s\"", number(*min, *max))),
        Kind::Flag => Some((share > 0.5).to_string()),
        Kind::Word(words) | Kind::NumberOr { words, .. } => {
            let chosen = words.get((share * words.len() as f64) as usize)?;
            Some(format!("\"{chosen}\""))
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// A table that there is keeps to the tolerance, whatever the parameters, also where nothing was measured; and
    /// nothing panics.
    #[test]
    fn a_table_is_near_its_law_or_there_is_none(
        text in anything(),
        octave in 0.0_f64..23.9,
        share in 0.0_f64..1.0,
    ) {
        let Ok(choice) = Choice::read(&text) else { return Ok(()) };
        let Ok(table) = tabulated(&choice) else { return Ok(()) };
        let law = choice.law().expect("it has a table");
        let window = longfat_units::math::pow(2.0, octave);
        let epoch = (window * share).max(1.0);
        let clear = law.breakpoints().into_iter().all(|at| match at {
            Breakpoint::Window(at) => (at / window - 1.0).abs() > 1e-5,
            Breakpoint::EpochWindow(at) => (at / epoch - 1.0).abs() > 1e-5,
            Breakpoint::RoundTrip(_) => true,
        });
        prop_assume!(clear);
        let here = Operating { epoch_window: Some(Segments(epoch)), ..at(window) };
        let found = to_real(table.gain(to_fixed(window), to_fixed(epoch), to_fixed(micros(USUAL))));
        let expected = law.gain(&here);
        // Between the places that were measured it may be a little more.
        prop_assert!(error(found, expected, SLOWEST / window) < 1.5 * TOLERANCE, "{}: {} for {}", text, found, expected);
        let found = to_real(table.taken(to_fixed(window), here.phase, Cause::Loss));
        let expected = window * law.give_up(&here, Cause::Loss);
        prop_assert!(error(found, expected, 0.0) < 1.5 * TOLERANCE, "{}: {} for {}", text, found, expected);
    }

    /// The kernel is never asked for a piece that is not there, whatever a flow has come to.
    #[test]
    fn any_numbers_are_answered(text in prop::sample::select(OFFERED.to_vec()), numbers in any::<[u64; 3]>()) {
        let table = made(text);
        let [window, epoch, round_trip] = numbers;
        prop_assert!(table.gain(window, epoch, round_trip) <= 2 * ONE);
        prop_assert!(table.rise(window) <= 2 * ONE);
        prop_assert!(table.taken(window, Phase::SlowStart, Cause::Mark) <= window);
    }
}
