//! Where the formulas of laws jump or bend, by their sources.

use std::sync::Arc;

use longfat_control::Breakpoint::{self, EpochWindow, RoundTrip, Window};
use longfat_units::Span;
use longfat_units::parameter::Setting;

use crate::drive::{assert_near, law, listed};

#[track_caller]
fn assert_breakpoints(name: &str, changes: &[(&'static str, Setting)], expected: &[Breakpoint]) {
    let found = law(name, changes).breakpoints();
    for (found, expected) in found.iter().zip(expected) {
        match (*found, *expected) {
            (Window(found), Window(expected)) => assert_near(found, expected, 1e-5, name),
            (found, expected) => assert_eq!(found, expected, "{name}"),
        }
    }
    assert!(found.len() >= expected.len(), "{name}: {found:?}");
}

/// Kelly, section 2: Reno up to 16 segments.
#[test]
fn stcp_leaves_reno_at_16_segments() {
    assert_breakpoints("stcp", &[], &[Window(16.0)]);
}

/// RFC 3649: the lines begin at 38 segments; a(w) would stop growing at 156 202, from where b is held. The increase of
/// CW-HSTCP is that of HSTCP times 10 /s · RTT, but no less than once with `eta_min = 1`: up to 100 ms.
#[test]
fn hstcp_begins_its_lines_at_38_and_holds_b_from_156_202_segments_on() {
    let both = [Window(38.0), Window(156_202.0)];
    assert_breakpoints("hstcp", &[], &both);
    let [begins, held] = both;
    let bounded = [("eta_min", Setting::Number(1.0))];
    let at_least_once = RoundTrip(Span::from_millis(100));
    assert_breakpoints("cw-hstcp", &bounded, &[begins, held, at_least_once]);
}

/// The draft: layers 2 to 6 begin at 50, 200, 500, 1000 and 1750 segments.
#[test]
fn ltcp_jumps_where_layers_begin() {
    assert_breakpoints("ltcp", &[], &[50.0, 200.0, 500.0, 1000.0, 1750.0].map(Window));
}

/// √cwnd₀ is 4 at 16 segments. Slow start adds 100/w per segment, between one at 100 and γ = 1/20 at 2000; its overshoot, a
/// share of γ(w)/(1 + γ(w)), is β = 1/8 where γ(w) = 1/7, at 700.
#[test]
fn exp_bends_with_its_slow_start() {
    let windows = [100.0, 2000.0, 700.0].map(Window);
    let [one, gamma, overshoot] = windows;
    assert_breakpoints("exp", &[], &[EpochWindow(16.0), one, gamma, overshoot]);
}

/// It bends where its base does, and where a constant Δ adds a segment for each: at Δ.
#[test]
fn anti_ecn_bends_where_its_base_does() {
    let on = ("on", Setting::Entry(Arc::new(listed("stcp").clone())));
    let delta = ("delta", Setting::Number(10.0));
    assert_breakpoints("anti-ecn", &[on, delta], &[Window(16.0), Window(10.0)]);
}
