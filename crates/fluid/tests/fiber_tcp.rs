//! The fluid figures of Kavak and Kunniyur, ICC 2004: time and windows in the paper's own units.

use crate::support::{AVQ, assert_near, flow, law, link, mean_field, single};
use longfat_control::WindowLaw;
use longfat_fluid::{FluidNetwork, Price};
use longfat_units::Span;

const UNIT: Span = Span::from_seconds(1);

fn fiber() -> Box<dyn WindowLaw> {
    law("fiber", &[("alpha", 1e-2)])
}

fn network(
    capacity: f64,
    price: Price,
    laws: Vec<Box<dyn WindowLaw>>,
    seconds: f64,
) -> FluidNetwork {
    let mut link = link(capacity, price);
    link.loss = 1e-3;
    single(link, laws.into_iter().map(|law| flow(law, UNIT)).collect(), seconds)
}

/// Fig. 1: the rate of TCP "cannot exceed 50". Equation (7): √(2/1e-3) = 44.72.
#[test]
fn tcp_settles_at_44_72() {
    let path = mean_field(&network(1000.0, AVQ, vec![law("reno", &[])], 1500.0), 0.0);
    let window = &path.flows[0].window;
    assert_near(window[1500], 44.72, 1e-4, "the window at the end");
    assert!(window.iter().all(|&w| w < 50.0));
    // √(2/p) tanh(t √(p/2) + artanh(√(p/2))), from w' = 1 - p w²/2 and w(0) = 1, at t = 30.
    assert_near(window[30], 26.834, 1e-4, "the window at 30");
}

/// Fig. 1: the modified flow takes the whole link. Above 100 the window grows by 1 - 1e-3/1e-2 = 0.9 per unit of time.
#[test]
fn the_modified_flow_grows_by_0_9_and_fills_the_link() {
    let path = mean_field(&network(1000.0, AVQ, vec![fiber()], 1500.0), 0.0);
    let window = &path.flows[0].window;
    assert_near((window[1000] - window[500]) / 500.0, 0.9, 1e-3, "the slope");
    // t = ∫ (1e-2 w² + 2)/(9e-3 w² + 2) dw from 1 to 1000 = 10/9 (999 - 1.4907 · 1.4889) = 1107.5.
    let full = window.iter().position(|&w| w >= 1000.0).expect("it reaches the capacity");
    assert_eq!(full, 1108, "the first whole unit after 1107.5");
    assert_near(window[1500], 1000.0, 1e-6, "the window at the end");
    // Equation (11): 1e-2 + 2/1000² = 0.010002, of which the fibre accounts for 0.001.
    assert_near(path.links[0].price[1500], 0.009_002, 1e-4, "the price at the end");
}

/// Fig. 2: "slightly higher". Both see p = 2/w² = 1e-2 + 2/v²: with w + v = 5, w = 2.4805 and v = 2.5195.
#[test]
fn on_a_small_link_the_modified_flow_takes_hardly_more() {
    for delay in [0.0, 1.0] {
        let mut network = network(5.0, AVQ, vec![fiber(), law("reno", &[])], 200.0);
        network.flows[1].start = Span::from_seconds(50);
        let path = mean_field(&network, delay);
        let [modified, tcp] = [0, 1].map(|flow| path.flows[flow].window[80]);
        let ratio = modified / tcp;
        assert!(ratio > 1.0 && ratio <= 1.05, "{ratio} thirty units after the second came");
        assert_near(path.flows[0].window[200], 2.5195, 1e-4, "the modified flow");
        assert_near(path.flows[1].window[200], 2.4805, 1e-4, "TCP");
        if delay == 0.0 {
            assert_near(path.flows[0].window[49], 5.0, 1e-4, "the modified flow alone");
        }
    }
}

/// If what exceeds the capacity is lost, instead of a virtual queue, the same link carries 1/(1 - p) times as much: by
/// Euler's method in steps of 0.005, 3.188 and 3.110.
#[test]
fn an_overflowing_link_carries_what_it_loses_too() {
    let network = network(5.0, Price::Overflow, vec![fiber(), law("reno", &[])], 200.0);
    let path = mean_field(&network, 0.0);
    assert_near(path.flows[0].window[200], 3.188, 1e-3, "the modified flow");
    assert_near(path.flows[1].window[200], 3.110, 1e-3, "TCP");
}
