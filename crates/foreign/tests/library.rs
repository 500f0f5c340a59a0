//! Libraries in C, as the tests of Python use them: built, loaded, checked and run.

#![expect(unsafe_code, reason = "tables are made by hand")]

use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use longfat_control::conformance::{
    Operation, Promise, check, settings_from_number, start_from_bytes,
};
use longfat_control::{Cause, Congestion, Controller, Feedback, Pacing, Sending, Start};
use longfat_foreign::{Entry, LibraryError, abi, compiled_law, load};
use longfat_scenario::{Catalogue, Scenario};
use longfat_sim::Simulation;
use longfat_units::{Origin, Segments, Span, Time, fault};

const TEXT: &str = r#"
duration = "5 s"

[link.bottleneck]
rate = "20 Mbit/s"
delay = "10 ms"
loss = 1e-3
queue = { kind = "step", threshold = "20 packets" }

[[flow]]
name = "one"
control = "reno"
count = 2
path = ["bottleneck"]
rtt = "40 ms"
"#;

/// Compiles `tests/own/laws.c` of the repository into a folder of the system's.
fn build(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join(name);
    let done = Command::new("cc")
        .args(["-std=c99", "-O2", "-shared", "-fPIC"])
        .args(options)
        .arg(format!("-I{}", crate_root.join("include").display()))
        .arg("-o")
        .arg(&path)
        .arg(crate_root.join("../../tests/own/laws.c"))
        .status();
    assert!(done.expect("there is a C compiler").success());
    path
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("the system has room for files")
}

fn catalogue(entries: &[Entry]) -> Catalogue {
    let mut catalogue = Catalogue::built_in();
    for entry in entries {
        let added = match entry.clone() {
            Entry::Controller(entry) => catalogue.add_controller(entry),
            Entry::Discipline(entry) => catalogue.add_discipline(entry),
        };
        added.expect("names are unique");
    }
    catalogue
}

/// Lines of C that fail to compile where a structure of `abi` differs from that of the header. It names every field, or
/// does not compile itself.
macro_rules! layout {
    ($rust:ident = $c:literal: $($field:ident),* $(,)?) => {{
        let _ = |it: &abi::$rust| {
            let abi::$rust { $($field: _),* } = it;
        };
        let mut lines = same(concat!("sizeof(", $c, ")"), size_of::<abi::$rust>());
        $(lines += &place($c, stringify!($field), offset_of!(abi::$rust, $field));)*
        lines
    }};
    ($rust:ident with a head = $c:literal: $($field:ident),* $(,)?) => {{
        assert_eq!(offset_of!(abi::$rust, head), 0);
        let _ = |it: &abi::$rust| {
            let abi::$rust { head: _, $($field: _),* } = it;
        };
        let mut lines = same(concat!("sizeof(", $c, ")"), size_of::<abi::$rust>());
        lines += &layout!(Head = $c: size, name, title, source, parameters, parameter_count)
            .split_once('\n').expect("its size is the first line").1;
        $(lines += &place($c, stringify!($field), offset_of!(abi::$rust, $field));)*
        lines
    }};
}

fn same(c: &str, bytes: usize) -> String {
    format!("_Static_assert({c} == {bytes}, \"{c}\");\n")
}

fn place(structure: &str, field: &str, bytes: usize) -> String {
    same(&format!("offsetof({structure}, {field})"), bytes)
}

/// The averages of a run, without those of the engine and with another name for the controller.
fn averages(catalogue: &Catalogue, control: &str, queue: &str) -> String {
    let text = TEXT
        .replace("\"reno\"", &format!("\"{control}\""))
        .replace("\"step\"", &format!("\"{queue}\""));
    let scenario = Scenario::read_with(catalogue, &text, "test.toml", &[], None);
    let mut simulation = Simulation::new(&scenario.expect("it is right"), false);
    while simulation.advance(10_000) {}
    let summary = simulation.finish().summary;
    format!("{:?}{:?}", summary.links, summary.flows).replace(control, "it")
}

#[test]
fn code_in_c_gives_the_bytes_of_the_same_in_rust() {
    let folder = folder();
    let entries = load(&build(folder.path(), "libsame.so", &[])).expect("it is a library");
    let catalogue = catalogue(&entries);
    let rust = averages(&catalogue, "reno", "step");
    for (control, queue) in [("c-reno", "step"), ("c-own-reno", "step"), ("reno", "c-step")] {
        assert_eq!(averages(&catalogue, control, queue), rust, "{control}, {queue}");
    }
    assert!(fault::take().is_none());
}

#[test]
fn a_bad_answer_is_reported_once_and_never_used() {
    let folder = folder();
    let entries = load(&build(folder.path(), "libbad.so", &[])).expect("it is a library");
    let catalogue = catalogue(&entries);
    for (control, what) in [("c-bad", "`gain` is NaN"), ("c-bad-window", "`window` is -1")] {
        averages(&catalogue, control, "step");
        let fault = fault::take().expect("it was reported");
        assert_eq!(fault.who, format!("the controller `{control}`"));
        assert!(fault.what.starts_with(what), "{}", fault.what);
        assert!(matches!(fault.flow, Some(fault::Member::Long(0, 0 | 1))), "{:?}", fault.flow);
        assert!(fault.now.is_some());
        assert!(fault::take().is_none());
    }
}

#[test]
fn what_comes_through_keeps_the_promises_of_every_controller() {
    let folder = folder();
    let entries = load(&build(folder.path(), "libconform.so", &[])).expect("it is a library");
    let controllers: Vec<Controller> =
        entries.iter().cloned().filter_map(Entry::into_controller).collect();
    assert_eq!(controllers.len(), 5);
    let byte = |index: u64| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
    for controller in &controllers {
        let mut wrong = None;
        for round in 0..40 {
            let bytes = |place: u64| byte(10_000 * round + place);
            let operations: Vec<_> = (0..200)
                .map(|index| {
                    Operation::from_bytes(std::array::from_fn(|k| bytes(8 * index + k as u64)))
                })
                .collect();
            let start = start_from_bytes(std::array::from_fn(|k| bytes(5_000 + k as u64)));
            // Slow starts other than the standard one are the affair of a controller without the shell.
            let settings = settings_from_number(controller, round as u32);
            wrong = wrong.or(check(controller, &settings, &start, &operations).err());
        }
        // One answers nonsense. It is never used, but told.
        let promise = wrong.as_ref().map(|wrong| wrong.promise);
        let expected = controller.name.starts_with("c-bad").then_some(Promise::Runs);
        assert_eq!(promise, expected, "{}: {wrong:?}", controller.name);
    }
    drop(fault::take());
}

#[test]
fn a_copy_of_a_flow_has_a_memory_of_its_own() {
    let folder = folder();
    let entries = load(&build(folder.path(), "libcopy.so", &[])).expect("it is a library");
    let found = entries.iter().find(|entry| entry.name() == "c-own-reno").cloned();
    let controller = found.and_then(Entry::into_controller).expect("it is there");
    let Sending::Windowed(mut one) = (controller.build)(&controller.defaults(), &Start::default())
    else {
        panic!("it has a window");
    };
    let other = one.clone();
    let rtt = Span::from_millis(50);
    let path = longfat_control::Path { rtt, base_rtt: rtt };
    let now = Time(1);
    one.on_feedback(&Feedback::at(now, 5), &path);
    assert_eq!((one.window().0, other.window().0), (15.0, 10.0));
    assert_eq!(one.pacing(), Pacing::Unpaced);
}

#[test]
fn a_library_is_loaded_once_for_each_content() {
    let folder = folder();
    let path = build(folder.path(), "libtwice.so", &[]);
    let one = load(&path).expect("it is a library");
    assert!(Arc::ptr_eq(&one, &load(&path).expect("it is the same")));
    build(folder.path(), "libtwice.so", &["-DLAWS=1"]);
    let other = load(&path).expect("it is another one");
    assert_eq!((one.len(), other.len()), (7, 5));
    let digest = |entries: &[Entry]| entries[0].origin().map(|origin| origin.digest.clone());
    assert!(digest(&one) != digest(&other));
}

#[test]
fn what_is_of_no_use_is_refused() {
    let folder = folder();
    let refused = |name: &str, options: &[&str]| {
        let path = build(folder.path(), name, options);
        load(&path).expect_err("it is of no use")
    };
    let error = refused("libother.so", &["-DVERSION=2"]);
    assert!(matches!(&error, LibraryError::OtherVersion { .. }), "{error}");
    let error = refused("libentry.so", &["-Dlongfat_plugin=nobody"]);
    assert!(matches!(&error, LibraryError::NoEntry { .. }), "{error}");
    let error = refused("libsize.so", &["-DSIZE=16"]);
    assert!(matches!(&error, LibraryError::Table { .. }), "{error}");
    let error = load(&folder.path().join("libnone.so")).expect_err("there is none");
    assert!(matches!(&error, LibraryError::Unreadable { .. }), "{error}");
    let text = folder.path().join("libtext.so");
    std::fs::write(&text, "no library").expect("there is room");
    let error = load(&text).expect_err("it is text");
    assert!(matches!(&error, LibraryError::NotLoaded { .. }), "{error}");
    // The path that was given, and not that of the copy.
    assert_eq!(error.to_string().matches("libtext.so").count(), 1, "{error}");
}

extern "C" fn one(_: *const abi::Operating, p: *const f64) -> f64 {
    // SAFETY: there is always a number to point to.
    unsafe { *p }
}

extern "C" fn since_event(at: *const abi::Operating, _: *const f64) -> f64 {
    // SAFETY: there is always one to point to.
    unsafe { (*at).since_event / 100.0 }
}

extern "C" fn nothing(_: *const abi::Operating, _: i64, _: *const f64) -> f64 {
    0.0
}

/// A table as a compiler fills one in.
fn table() -> abi::Law {
    abi::Law {
        head: abi::Head {
            size: size_of::<abi::Law>() as u64,
            name: c"made".as_ptr(),
            title: std::ptr::null(),
            source: std::ptr::null(),
            parameters: std::ptr::null(),
            parameter_count: 0,
        },
        needs: 0,
        manner: 0,
        gain: Some(one),
        give_up: Some(nothing),
        slow_start: None,
        pacing: None,
    }
}

fn read(table: &abi::Law) -> Result<Entry, String> {
    // SAFETY: the table and its functions keep the rules, and live longer than the entry.
    let read = unsafe { compiled_law(table, Arc::new(()), Origin::new("abc")) };
    read.map_err(|error| error.to_string())
}

#[test]
fn structures_lie_as_the_header_says() {
    let lines = [
        layout!(Parameter = "longfat_parameter": name, about, text, value, least, most, kind),
        layout!(Pacing = "longfat_pacing": kind, value),
        layout!(Operating = "longfat_operating":
            window, epoch_window, rtt, base_rtt, since_event, spare, phase),
        layout!(Path = "longfat_path": rtt, base_rtt, rtt_ps, base_rtt_ps),
        layout!(Start = "longfat_start":
            window, threshold, packet_bytes, access, transfer, round_trip, chance),
        layout!(Feedback = "longfat_feedback":
            now, now_ps, acked, sacked, lost, marked, in_flight, rtt, one_way_delay, spare, limited, round_starts,
            recovery_begins, spurious, rate_interval, rate_delivered, rate_delivered_before, rate_delivered_total,
            rate_lost, rate_in_flight, rate_application_limited),
        layout!(Congestion = "longfat_congestion": now, now_ps, cause, in_flight, again),
        layout!(Adjustment = "longfat_adjustment": now, now_ps, window, threshold),
        layout!(Lost = "longfat_lost":
            now, now_ps, segment, in_flight, lost, delivered_total, application_limited, sent, sent_ps),
        layout!(Sent = "longfat_sent": now, now_ps, again, in_flight),
        layout!(Site = "longfat_site": rate, packet_bytes, capacity, round_trip, in_bytes),
        layout!(Arrival = "longfat_arrival":
            now, now_ps, bytes, ecn, waiting_packets, waiting_bytes, idle_since, chance),
        layout!(Law with a head = "longfat_law": needs, manner, gain, give_up, slow_start, pacing),
        layout!(Controller with a head = "longfat_controller":
            needs, wants, manner, state_size, observed, observed_count, begin, on_feedback, on_congestion, window,
            pacing, threshold, on_adjustment, on_recovered, on_restart, on_lost, on_sent, timer, on_timer, observe),
        layout!(Queue with a head = "longfat_queue":
            wants, state_size, observed, observed_count, on_arrival, begin, on_overflow, on_departure, period,
            on_ticks, observe),
        layout!(Plugin = "longfat_plugin_table":
            size, version, laws, law_count, controllers, controller_count, queues, queue_count),
    ];
    let folder = folder();
    let source = folder.path().join("layout.c");
    let text = format!("#include <stddef.h>\n#include \"longfat.h\"\n{}", lines.concat());
    std::fs::write(&source, text).expect("there is room");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let done = Command::new("cc")
        .args(["-std=c11", "-fsyntax-only"])
        .arg(format!("-I{}", include.display()))
        .arg(&source)
        .output();
    let done = done.expect("there is a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn tables_are_checked() {
    assert_eq!(read(&table()).expect("it is right").name(), "made");
    let refused = |change: fn(&mut abi::Law)| {
        let mut table = table();
        change(&mut table);
        read(&table).expect_err("it is wrong")
    };
    assert!(refused(|it| it.gain = None).contains("no function `gain`"));
    assert!(refused(|it| it.head.size = 8).contains("8 bytes"));
    assert!(refused(|it| it.head.name = std::ptr::null()).contains("no name"));
    assert!(refused(|it| it.needs = 1 << 40).contains("`needs` has bits"));
    assert!(refused(|it| it.manner = 4).contains("`manner` has bits"));
    assert!(refused(|it| it.head.parameter_count = 3).contains("3 parameters"));
    // SAFETY: null is allowed.
    let null = unsafe { compiled_law(std::ptr::null(), Arc::new(()), Origin::new("")) };
    assert!(null.expect_err("there is none").to_string().contains("missing"));
}

/// The time since the last event is without the pauses that the host tells of: of ten seconds, seven in a pause, three are left.
#[test]
fn the_clock_of_a_law_leaves_pauses_out() {
    let table = abi::Law { gain: Some(since_event), ..table() };
    let Ok(Entry::Controller(entry)) = read(&table) else { panic!("it is a controller") };
    let (window, threshold) = (Segments(10.0), Some(Segments(2.0)));
    let start = Start { window, threshold, ..Start::default() };
    let Sending::Windowed(mut control) = (entry.build)(&entry.defaults(), &start) else {
        panic!("a law has a window")
    };
    let rtt = Span::from_millis(100);
    let path = longfat_control::Path { rtt, base_rtt: rtt };
    let loss = Congestion { now: Time::ZERO, cause: Cause::Loss, in_flight: 10, again: false };
    control.on_congestion(&loss, &path);
    control.on_pause(Span::from_seconds(7));
    let now = Time::ZERO + Span::from_seconds(10);
    control.on_feedback(&Feedback::at(now, 1), &path);
    assert!((control.window().0 - 10.03).abs() < 1e-9, "{}", control.window().0);
}
