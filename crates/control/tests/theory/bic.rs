//! BIC, by its paper and the constants of its essay.

use longfat_units::parameter::Setting;

use crate::drive::{ClockedFlow, assert_near, maxima_at_two_segments};

/// The paper's deterministic model, with the constants of the essay: the mean window when every 1/p-th segment is lost at the same maximum W. Solved
/// for `N₁ = ⌈βW/S_max⌉ - 2` round trips of `S_max` from (1 - β)W on and `N₂ = log₂((βW - N₁ S_max)/S_min) + 2` of the
/// search, which together send 1/p segments: 12, 16, 28 and 71 round trips.
#[test]
fn the_response_function_of_the_model() {
    for (p, window) in [(1e-3, 80.2), (1e-4, 625.0), (1e-5, 3571.0), (1e-6, 14_085.0)] {
        let epochs = if p < 1e-5 { 10 } else { 40 };
        let mean = ClockedFlow::new("bic", &[], window).mean_window(p, epochs);
        assert_near(mean, window, 0.1, &format!("BIC at p = {p}"));
    }
}

/// After a loss at 1000 segments: 125 to go, of which 32 in each of two round trips; six halvings take the rest from 61
/// to 0.95.
#[test]
fn the_search_halves_the_distance_in_every_round_trip() {
    let mut flow = ClockedFlow::new("bic", &[], 1000.0);
    flow.lose();
    assert_eq!(flow.window(), 875.0);
    assert_near(flow.rounds_until(1000.0 - 61.0), 2.0, 0.03, "two additive round trips");
    assert_near(flow.rounds_until(1000.0 - 0.954), 6.0, 0.03, "six of the search");
}

/// Beyond the maximum 1, 2, 4, 8, 16, 32 and 32 again: 95 in seven round trips.
#[test]
fn beyond_the_maximum_it_probes_as_slow_start_does() {
    let mut flow = ClockedFlow::new("bic", &[], 10_000.0);
    assert_near(flow.rounds_until(10_095.0), 7.0, 0.01, "a flow that knows no maximum");
    flow.lose();
    flow.rounds_until(10_096.0);
    assert_near(flow.rounds_until(10_190.0), 6.0, 0.02, "the same after a search, from the second");
}

/// A loss at 875 below a maximum of 1000 sets the next one in the middle between 875 and what is left of it.
#[test]
fn fast_convergence_makes_room() {
    let mut flow = ClockedFlow::new("bic", &[], 1000.0);
    flow.lose();
    flow.lose();
    assert_eq!(flow.window(), 765.625);
    // 54.6875 to go: 27.34 in the first round trip of the search.
    let middle = f64::midpoint(875.0, 765.625);
    assert_near(flow.rounds_until(f64::midpoint(765.625, middle)), 1.0, 0.03, "half of the way");
}

#[test]
fn below_the_low_window_it_is_reno() {
    let mut flow = ClockedFlow::new("bic", &[], 13.0);
    flow.ack();
    assert_eq!(flow.window(), 13.0 + 1.0 / 13.0);
    let mut flow = ClockedFlow::new("bic", &[], 13.0);
    flow.lose();
    assert_eq!(flow.window(), 6.5);
}

/// After a time-out no maximum is known, and it probes beyond none.
#[test]
fn a_time_out_forgets_the_maximum() {
    let mut flow = ClockedFlow::new("bic", &[], 1000.0);
    flow.lose();
    assert_eq!(flow.variable("max"), Some(1000.0));
    flow.congestion(longfat_control::Cause::Timeout);
    assert_eq!(flow.variable("max"), None);
}

/// `low_window`: at 14 segments the search begins. With β = 1/2 a loss at 28 leaves them, and the first step is half of
/// the 14 to go: 7 in the round trip.
#[test]
fn at_the_low_window_it_searches() {
    let mut flow = ClockedFlow::new("bic", &[("beta", Setting::Number(0.5))], 28.0);
    flow.lose();
    flow.ack();
    assert_eq!(flow.window(), 14.5);
}

/// Fast convergence is for losses below the maximum. Two segments, of which losses take none, are at theirs each time.
#[test]
fn a_loss_at_the_maximum_is_not_below_it() {
    assert_eq!(maxima_at_two_segments("bic", "max"), [Some(2.0); 2]);
}
