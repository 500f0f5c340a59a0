//! RFC 3649.

use longfat_units::Segments;
use longfat_units::parameter::Setting;

use longfat_control::{Breakpoint, Cause, Start, WindowLaw};

use crate::drive::{self, ClockedFlow, assert_near, operating};

fn law(low_window: f64) -> Box<dyn WindowLaw> {
    drive::law("hstcp", &[("low_window", Setting::Number(low_window))])
}

/// Appendix B, about every tenth row: w, a(w), b(w). The RFC computes a(w) from p(w) = 0.078/w^1.2, rounded, and lists
/// the window at which it passes each whole number; the exact line gives up to 2.5 % more (72.74 in row 71).
const APPENDIX_B: [(f64, f64, f64); 17] = [
    (38.0, 1.0, 0.50),
    (118.0, 2.0, 0.44),
    (221.0, 3.0, 0.41),
    (347.0, 4.0, 0.38),
    (495.0, 5.0, 0.37),
    (663.0, 6.0, 0.35),
    (1058.0, 8.0, 0.33),
    (1529.0, 10.0, 0.31),
    (5036.0, 20.0, 0.25),
    (10_661.0, 30.0, 0.21),
    (18_955.0, 40.0, 0.18),
    (30_975.0, 50.0, 0.15),
    (48_961.0, 60.0, 0.13),
    (79_517.0, 70.0, 0.10),
    (84_035.0, 71.0, 0.10),
    (89_053.0, 72.0, 0.10),
    (94_717.0, 73.0, 0.09),
];

#[test]
fn the_table_of_the_rfc() {
    let law = law(38.0);
    for (window, a, b) in APPENDIX_B {
        let at = operating(window);
        let increase = law.gain(&at) * window;
        assert!((0.99 * a..1.028 * a).contains(&increase), "a({window}) = {increase}, RFC: {a}");
        let decrease = law.give_up(&at, Cause::Loss);
        assert!((decrease - b).abs() <= 0.0051, "b({window}) = {decrease}, RFC: {b}");
    }
}

#[test]
fn row_71_lies_between_the_rounded_and_the_exact_line() {
    let increase = law(38.0).gain(&operating(84_035.0)) * 84_035.0;
    assert!((70.5..73.0).contains(&increase), "a(84035) = {increase}");
}

/// Section 5, and table 1 of RFC 9438: the windows at which HSTCP settles when every 1/p-th segment is lost.
#[test]
fn the_response_function_of_the_rfc() {
    for (p, window) in [(1e-3, 38.0), (1e-4, 263.0), (1e-5, 1795.0), (1e-6, 12_280.0)] {
        let epochs = if p < 1e-5 { 6 } else { 40 };
        let mean = ClockedFlow::new("hstcp", &[], window).mean_window(p, epochs);
        assert_near(mean, window, 0.1, &format!("HSTCP at p = {p}"));
    }
}

/// Kavak and Kunniyur, equation 2, quote the draft of 2002: 0.15/p^0.82; its parameters give 0.157/p^0.817.
#[test]
fn the_response_function_of_the_draft() {
    let draft = [("low_window", Setting::Number(31.0))];
    for (p, window) in [(1e-3, 44.3), (1e-4, 291.0), (1e-5, 1909.0), (1e-6, 12_527.0)] {
        let epochs = if p < 1e-5 { 6 } else { 40 };
        let mean = ClockedFlow::new("hstcp", &draft, window).mean_window(p, epochs);
        assert_near(mean, window, 0.1, &format!("the draft at p = {p}"));
    }
}

#[test]
fn the_draft_is_reno_up_to_31_segments() {
    let law = law(31.0);
    let gain = |window| law.gain(&operating(window)) * window;
    assert_near(gain(31.0), 1.0, 1e-12, "a(31)");
    assert_near(gain(31.001), 1.0, 1e-3, "just above");
    assert!(gain(60.0) > 1.3, "a(60) = {}", gain(60.0));
}

/// Beyond 10 Gbit/s the response function continues: a(w) grows as w^0.8, and b stays constant.
#[test]
fn above_the_high_window_the_line_goes_on() {
    let law = law(38.0);
    let a = |window| law.gain(&operating(window)) * window;
    assert_near(a(1e7) / a(1e6), 6.341, 0.002, "ten times the window, 10^0.8021 the increase");
    let b = law.give_up(&operating(1e7), Cause::Loss);
    assert_near(b, 0.0671, 0.001, "b(10^7)");
}

#[test]
fn a_loss_in_slow_start_halves() {
    let start = Start { window: Segments(50_000.0), ..Start::default() };
    let mut flow = ClockedFlow::starting("hstcp", &[], &start);
    flow.lose();
    assert_eq!(flow.window(), 25_000.0);
    flow.lose();
    assert!(flow.window() > 0.8 * 25_000.0, "the second loss took more than b: {}", flow.window());
}

/// a(w)/w comes from a table with 32 nodes in each octave, one of them where b is held: between two nodes it is a straight
/// line, which the formula is not.
#[test]
fn between_two_nodes_of_its_table_the_gain_is_a_straight_line() {
    let law = law(38.0);
    let Some(&Breakpoint::Window(held_from)) = law.breakpoints().last() else {
        panic!("b is held from somewhere on")
    };
    for octave in [4.0, 256.0] {
        let gain = |nodes: f64| law.gain(&operating(held_from / octave * (1.0 + nodes / 32.0)));
        let middle = f64::midpoint(gain(0.0), gain(1.0));
        assert_near(gain(0.5), middle, 1e-12, &format!("held_from/{octave}"));
    }
}
