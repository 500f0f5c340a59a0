//! The examples of CONTRIBUTING.md, word for word: they compile, and they do what they claim.
//!
//! AIMD and CoDel are files of the project. Step marking is a module here, in a crate that offers what `crate::` offers
//! where it belongs.

// What a discipline finds in `longfat-queue`.
use longfat_queue::{Arrival, Built, Capacity, Discipline, Policy, Verdict};

pub mod step {
    //! Step marking: mark every packet that finds more than a threshold ahead of it.
    //!
    //! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1. With q waiting when a packet
    //! arrives: keep it if q ≤ K, mark it if q > K.

    use longfat_units::parameter::Parameter;
    use rand_core::Rng;

    use crate::{Arrival, Built, Capacity, Discipline, Policy, Verdict};

    /// Step marking's entry in the catalogue.
    pub fn discipline() -> Discipline {
        Discipline::new("step", |settings, site| {
            Built::Fifo(Some(Box::new(Step {
                threshold: settings.number("threshold"),
                in_bytes: matches!(site.capacity, Capacity::Bytes(_)),
            })))
        })
        .title("marks every packet that finds more than a threshold ahead of it")
        .source("Alizadeh et al. 2010")
        .parameters([Parameter::length("threshold", "0.2 bdp", "marks above it (K)")])
    }

    /// The policy. The threshold is in the unit in which the queue counts.
    #[derive(Debug)]
    struct Step {
        threshold: f64,
        in_bytes: bool,
    }

    impl Policy for Step {
        fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn Rng) -> Verdict {
            let backlog = arrival.backlog;
            let q = if self.in_bytes { backlog.bytes.0 } else { backlog.packets };
            if q as f64 > self.threshold { Verdict::Mark } else { Verdict::Keep }
        }
    }
}

const GUIDE: &str = include_str!("../../../CONTRIBUTING.md");
const HERE: &str = include_str!("contributing.rs");

/// The text of the module called `name` in this file, as it would stand in a file of its own.
fn module(name: &str) -> String {
    let opening = format!("\npub mod {name} {{\n");
    let (_, rest) = HERE.split_once(&opening).expect("the module is in this file");
    let (body, _) = rest.split_once("\n}\n").expect("a module ends");
    let lines = body.lines().map(|line| line.strip_prefix("    ").unwrap_or(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The block of the guide that begins with `opening`.
fn block(opening: &str) -> String {
    let start = GUIDE.find(&format!("```rust\n{opening}")).expect("the guide has such a block");
    let rest = &GUIDE[start + "```rust\n".len()..];
    let (body, _) = rest.split_once("\n```\n").expect("a block ends");
    format!("{body}\n")
}

#[test]
fn the_guide_shows_what_is_tested_here() {
    assert_eq!(
        block("//! Step marking"),
        module("step"),
        "CONTRIBUTING.md and crates/sim/tests/contributing.rs differ: make them the same again"
    );
}

#[test]
fn the_guide_shows_aimd_as_it_is() {
    assert_eq!(
        block("//! AIMD(a, b)"),
        include_str!("../../control/src/controller/aimd.rs"),
        "CONTRIBUTING.md and crates/control/src/controller/aimd.rs differ: make them the same again"
    );
    let row = block("// crates/control/tests/conformance.rs");
    let (_, row) = row.split_once('\n').expect("the row is below its place");
    let row: String = row.lines().flat_map(|line| ["        ", line, "\n"]).collect();
    let rows = include_str!("../../control/tests/conformance.rs");
    assert!(rows.contains(&row), "CONTRIBUTING.md shows another row than conformance.rs:\n{row}");
}

#[test]
fn the_guide_shows_codel_as_it_is() {
    let codel = include_str!("../../queue/src/discipline/codel.rs");
    for opening in ["impl PacketQueue for Codel {", "    /// Takes the first packet"] {
        assert!(
            codel.contains(&block(opening)),
            "CONTRIBUTING.md and crates/queue/src/discipline/codel.rs differ: make them the same again"
        );
    }
}

#[test]
fn the_controller_of_the_guide_is_driven_like_any_other() {
    use longfat_control::controller::aimd;
    use longfat_control::{Cause, Congestion, Feedback, Path, Start};
    use longfat_units::parameter::Setting;
    use longfat_units::{Segments, Span, Time};

    let mut settings = aimd::controller().defaults();
    settings.set("a", Setting::Number(0.5));
    let start =
        Start { window: Segments(100.0), threshold: Some(Segments(2.0)), ..Start::default() };
    let sending = (aimd::controller().build)(&settings, &start);
    let mut control = sending.windowed().expect("a law has a window");
    let path = Path { rtt: Span::from_millis(100), base_rtt: Span::from_millis(100) };
    control.on_feedback(&Feedback::at(Time::ZERO, 100), &path);
    let grown = control.window().0;
    assert!((grown - 100.5).abs() < 0.01, "half a segment per round trip, not {}", grown - 100.0);
    let loss = Congestion { now: Time::ZERO, cause: Cause::Loss, in_flight: 100, again: false };
    control.on_congestion(&loss, &path);
    assert_eq!(control.window().0, 0.75 * grown);
}

#[test]
fn the_queue_of_the_guide_marks_above_its_threshold() {
    use longfat_queue::{Backlog, Site};
    use longfat_units::parameter::{self, Settings};
    use longfat_units::{Bytes, Ecn, Rate, Time};
    use rand_core::SeedableRng;

    let mut settings = Settings::default();
    settings.set("threshold", parameter::Setting::Length(10.0));
    let capacity = Capacity::Packets(100);
    let site = Site { rate: Rate(1_000_000_000), packet: Bytes(1500), capacity, round_trip: None };
    let mut policy =
        (step::discipline().build)(&settings, &site).into_policy().expect("step has a policy");
    let mut chance = rand_pcg::Pcg64::seed_from_u64(1);
    let mut verdict = |packets: u64| {
        let backlog = Backlog { packets, bytes: Bytes(1500 * packets) };
        let (now, bytes) = (Time::ZERO, Bytes(1500));
        let arrival = Arrival { now, bytes, ecn: Ecn::Ect0, backlog, idle_since: None };
        policy.on_arrival(&arrival, &mut chance)
    };
    assert_eq!((verdict(10), verdict(11)), (Verdict::Keep, Verdict::Mark));
}
