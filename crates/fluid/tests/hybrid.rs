//! Windows that jump, under random losses: the constants that packets obey too (`crates/sim/tests/theory.rs`).

use crate::support::{AVQ, assert_near, flow, hybrid, law, link, mean_field, single};
use longfat_control::WindowLaw;
use longfat_fluid::Price;
use longfat_units::Span;

/// The mean window of a lone flow under losses of probability `p`, over about `losses` losses.
fn mean_window(law: Box<dyn WindowLaw>, p: f64, losses: f64, delay: f64) -> f64 {
    let mut link = link(1e12, Price::Loss);
    link.loss = p;
    // About p^-1/2 segments per round trip meet p^1/2 losses; the windows of the other laws are of that size too.
    let seconds = 0.01 * losses / (1.3 * p.sqrt());
    let network = single(link, vec![flow(law, Span::from_millis(10))], seconds);
    let path = hybrid(&network, delay);
    assert!(path.flows[0].events as f64 > losses / 2.0, "{} losses", path.flows[0].events);
    path.flows[0].window_mean
}

/// Ott, Kemperman and Mathis 1996: E[W] = 1.3098/√p. The mean field has √2/√p, 8 % more: it halves the mean window, not
/// the window at the loss, which is larger. With delay, a loss costs a round trip without growth.
#[test]
fn reno_has_1_31_over_the_root_of_p() {
    for (p, delay) in [(1e-3, 0.0), (1e-4, 0.0), (1e-5, 0.0), (1e-6, 0.0), (1e-3, 1.0), (1e-4, 1.0)]
    {
        let window = mean_window(law("reno", &[]), p, 4000.0, delay);
        assert_near(window * p.sqrt(), 1.31, 0.05, &format!("p = {p}, delay {delay}"));
    }
}

/// Scalable TCP under independent losses: 0.0756/p.
#[test]
fn scalable_has_0_0756_over_p() {
    for (p, delay) in [(1e-3, 0.0), (1e-4, 0.0), (1e-3, 1.0), (1e-4, 1.0)] {
        // Its windows are larger, so it needs less time for as many losses.
        let window = mean_window(law("stcp", &[]), p, 4000.0, delay);
        assert_near(window * p, 0.0756, 0.05, &format!("p = {p}, delay {delay}"));
    }
}

/// Marks of a virtual queue. A lone Reno flow oscillates between half of the link and all of it, as with packets, and
/// the mean field sits at the capacity.
#[test]
fn a_lone_flow_saws_where_the_mean_field_sits() {
    let network = |seconds| {
        single(link(1000.0, AVQ), vec![flow(law("reno", &[]), Span::from_millis(100))], seconds)
    };
    let jumps = hybrid(&network(600.0), 1.0);
    let late = &jumps.flows[0].window[100..];
    let most = late.iter().copied().fold(0.0, f64::max);
    let least = late.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((95.0..130.0).contains(&most) && (30.0..65.0).contains(&least), "{least} to {most}");
    // Half a window per sawtooth, 50 round trips of 0.1 s: some 120 teeth in ten minutes.
    assert!((90..200).contains(&jumps.flows[0].events), "{} losses", jumps.flows[0].events);
    let rates = mean_field(&network(600.0), 0.0);
    assert_near(rates.flows[0].window[600], 100.0, 1e-3, "the mean field");
}
