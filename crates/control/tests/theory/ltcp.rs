//! The draft of LTCP.

use crate::drive::{ClockedFlow, assert_near, listed, operating};
use crate::synchronised::Bottleneck;

/// The windows where the layers begin, with `W_T` = 50: the second at 50, the fifteenth at 28 000.
const LAYERS: [(f64, f64); 15] = [
    (1.0, 2.0),
    (2.0, 50.0),
    (3.0, 200.0),
    (4.0, 500.0),
    (5.0, 1000.0),
    (6.0, 1750.0),
    (7.0, 2800.0),
    (8.0, 4200.0),
    (9.0, 6000.0),
    (10.0, 8250.0),
    (11.0, 11_000.0),
    (12.0, 14_300.0),
    (13.0, 18_200.0),
    (14.0, 22_750.0),
    (15.0, 28_000.0),
];

#[test]
fn the_layers_of_the_draft() {
    let controller = listed("ltcp");
    let law = controller.law.as_ref().expect("a law")(&controller.defaults());
    let increase = |window: f64| law.gain(&operating(window)) * window;
    for (layer, from) in LAYERS {
        assert_near(increase(from), layer, 1e-12, &format!("at {from}"));
        if layer > 1.0 {
            assert_near(increase(from - 0.01), layer - 1.0, 1e-12, &format!("just below {from}"));
        }
    }
}

/// A loss at 28 000 segments leaves 23 800, in layer 14: 4200/14 round trips.
#[test]
fn recovery_at_28_000_segments_takes_300_round_trips() {
    let mut flow = ClockedFlow::new("ltcp", &[], 28_000.0);
    flow.lose();
    assert_eq!(flow.window(), 23_800.0);
    assert_near(flow.rounds_until(28_000.0), 300.0, 0.01, "round trips");
}

/// w = 1.95/p^0.6, from AIMD(K, 0.15) with K = ∛(6 w/50).
#[test]
fn the_response_function() {
    for (p, window) in [(1e-5, 1950.0), (1e-6, 7763.0)] {
        let mean = ClockedFlow::new("ltcp", &[], window).mean_window(p, 10);
        assert_near(mean, window, 0.1, &format!("LTCP at p = {p}"));
    }
}

/// Its condition for convergence: the flow in the higher layer needs longer to come back.
#[test]
fn synchronised_flows_converge() {
    let mut link =
        Bottleneck::new(100_000.0).with("ltcp", &[], 100, 8000.0).with("ltcp", &[], 100, 2000.0);
    link.epochs(40);
    let windows = link.windows();
    let ratio = windows[0] / windows[1];
    assert!((1.0..1.2).contains(&ratio), "four to one has become {ratio}");
}

#[test]
fn up_to_50_segments_it_is_reno() {
    let mut flow = ClockedFlow::new("ltcp", &[], 49.0);
    flow.ack();
    assert_eq!(flow.window(), 49.0 + 1.0 / 49.0);
    let mut flow = ClockedFlow::new("ltcp", &[], 49.0);
    flow.lose();
    assert_eq!(flow.window(), 24.5);
}
