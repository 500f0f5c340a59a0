//! Initial windows of sized start in the networks of Kim and Farber.

use longfat_control::Start;
use longfat_units::parameter::Setting;
use longfat_units::{Segments, Span};

use crate::drive::listed;

/// 150 Mbit/s and 30 ms: 1125 packets of 500 bytes.
fn reference_network(transfer: Option<u64>) -> Start {
    let round_trip = Some(Span::from_millis(30));
    Start { access: Some(37_500.0), transfer, round_trip, ..Start::default() }
}

fn first_window(start: &Start, changes: &[(&'static str, f64)]) -> f64 {
    let mut settings = listed("sized-start").defaults();
    for &(name, value) in changes {
        settings.set(name, Setting::Number(value));
    }
    let sending = (listed("sized-start").build)(&settings, start);
    sending.windowed().expect("it has a window").window().0
}

#[track_caller]
fn assert_close(found: f64, promised: f64) {
    assert!((found / promised - 1.0).abs() < 1e-9, "{found}, promised {promised}");
}

#[test]
fn what_fits_into_the_path_leaves_at_once() {
    // 10 kB, 100 kB, and what the path holds.
    for size in [20, 200, 1125] {
        assert_close(first_window(&reference_network(Some(size)), &[]), size as f64);
    }
}

#[test]
fn what_does_not_starts_the_lower_the_larger_it_is() {
    // 1 MB is 2000 packets: 1125²/2000. 10 MB: 1125²/20000. From 63 MB on, no more than any other flow.
    let window = |size| first_window(&reference_network(Some(size)), &[]);
    assert_close(window(2000), 632.8125);
    assert_close(window(20_000), 63.28125);
    assert_close(window(1_000_000), 10.0);
    // With half of the path, 562.5²/2000; with a falloff of 1, what the path holds, whatever the size.
    let start = reference_network(Some(2000));
    assert_close(first_window(&start, &[("share", 0.5)]), 158.203_125);
    assert_close(first_window(&start, &[("falloff", 1.0)]), 1125.0);
}

#[test]
fn what_is_not_known_changes_nothing() {
    let start = reference_network(Some(200));
    let unknown = [
        Start { access: None, ..start },
        Start { transfer: None, ..start },
        Start { round_trip: None, ..start },
    ];
    for start in unknown {
        assert_eq!(first_window(&start, &[]), 10.0);
    }
    assert!(listed("sized-start").needs(&listed("sized-start").defaults()).access);
    // A flow that may send more than that anyway does so.
    assert_eq!(first_window(&Start { window: Segments(500.0), ..start }, &[]), 500.0);
}
