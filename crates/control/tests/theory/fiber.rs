//! The paper of Kavak and Kunniyur.

use longfat_units::parameter::Setting;

use crate::drive::{ClockedFlow, assert_near};

fn with_alpha(alpha: f64, window: f64) -> ClockedFlow {
    ClockedFlow::new("fiber", &[("alpha", Setting::Number(alpha))], window)
}

/// Equation (11): no window goes with a loss rate below α. Above 2000 segments 0.9 α lets it grow by 0.1 per round trip
/// for ever; 1.1 α takes 0.1 per round trip.
#[test]
fn no_window_is_held_by_fewer_losses_than_alpha() {
    for (spacing, change) in [(1111, 0.1), (909, -0.1)] {
        let mut flow = with_alpha(1e-3, 2000.0);
        let mut rounds = 0.0;
        for _ in 0..1000 {
            for _ in 0..spacing {
                flow.ack();
                rounds += 1.0 / flow.window();
            }
            flow.lose();
        }
        assert_near((flow.window() - 2000.0) / rounds, change, 0.05, "growth per round trip");
    }
}

/// 100 Mbit/s, 100 ms and 1500 bytes are 833 segments: 833/(1e-4·833² + 2) = 833/71.39 = 11.67.
#[test]
fn a_window_of_833_gives_up_11_67_segments() {
    let mut flow = with_alpha(1e-4, 833.0);
    flow.lose();
    assert_near(833.0 - flow.window(), 11.67, 1e-3, "what a loss takes");
}

/// Section III.A: α = 2e-6 is friendly up to 10 Mbit/s, 83 segments. 1/(2e-6·83² + 2) = 0.4966.
#[test]
fn a_small_window_is_halved() {
    let mut flow = with_alpha(2e-6, 83.0);
    flow.lose();
    assert_near(flow.window(), 41.5, 0.01, "the window after a loss");
}

/// Fibre losses of a tenth of α cost a tenth of the growth: 0.9 segments per round trip, the slope of Fig. 1.
#[test]
fn fibre_losses_of_a_tenth_of_alpha_take_a_tenth_of_the_growth() {
    let mut flow = with_alpha(1e-3, 5000.0);
    let mut rounds = 0.0;
    for _ in 0..500 {
        for _ in 0..10_000 {
            flow.ack();
            rounds += 1.0 / flow.window();
        }
        flow.lose();
    }
    assert_near((flow.window() - 5000.0) / rounds, 0.9, 0.005, "growth per round trip");
}

/// A reduction takes 1/(α w) segments and a round trip adds one: with a loss in each the window shrinks below
/// α w = 1 and grows above it.
#[test]
fn it_loses_control_where_alpha_w_is_1() {
    for (window, shrinks) in [(8e3, true), (12e3, false)] {
        let mut flow = with_alpha(1e-4, window);
        for _ in 0..100 {
            flow.round();
            flow.lose();
        }
        assert_eq!(flow.window() < window, shrinks, "{window} became {}", flow.window());
    }
}
