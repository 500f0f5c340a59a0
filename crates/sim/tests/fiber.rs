//! The lower bound on the marking probability, packet by packet (Kavak and Kunniyur, section III).

use crate::support;

/// What a flow met in two minutes on a bottleneck with RED.
struct Met {
    reductions: f64,
    marks: f64,
    packets: f64,
    window: f64,
}

const ALPHA: f64 = 1e-3;

fn on_a_red_link(per_mark: bool) -> Met {
    let summary = support::record(
        &format!(
            r#"
            duration = "120 s"
            [link.bottleneck]
            rate   = "100 Mbit/s"
            delay  = "5 ms"
            buffer = "4 bdp"
            queue  = {{ kind = "red", min = "0.1 bdp", max = "2 bdp", max_p = 0.05 }}
            [[flow]]
            name    = "fiber"
            control = {{ kind = "fiber", alpha = {ALPHA}, per_mark = {per_mark} }}
            path    = ["bottleneck"]
            rtt     = "20 ms"
            initial_threshold = 100
            "#
        ),
        false,
    )
    .summary;
    let link = &summary.links["bottleneck"]["forward"];
    let count = |key: &str| link[key].as_f64().expect("a count");
    assert!(count("utilisation") > 0.99, "it must be the bottleneck");
    assert_eq!(count("dropped"), 0.0, "marks, not drops");
    let flow = &summary.flows[0];
    let reductions = flow.congestion_events as f64;
    Met { reductions, marks: count("marked"), packets: count("arrived"), window: flow.window_mean }
}

/// Equation (11), p = α + 2/w², for a sender like the fluid's: each mark counts, and each segment without one brings
/// its gain. Between 167 and 500 segments 2/w² is at most 7 % of α.
#[test]
fn marks_are_no_rarer_than_alpha() {
    let Met { reductions, marks, packets, window } = on_a_red_link(true);
    assert!(marks - reductions <= 1.0, "every mark is answered: {reductions} of {marks}");
    let p = marks / packets;
    let two_deviations = 2.0 * ALPHA / marks.sqrt();
    assert!(p > ALPHA - two_deviations, "{p} after {marks} marks");
    assert!(p < ALPHA + 2.0 / (window * window) + two_deviations, "{p} at {window} segments");
}

/// The sender of RFC 3168 gains nothing in the round trip in which it answers a mark: of the w/p segments between two
/// marks the last w bring no gain, and the bound falls to α/(1 + α w). The paper's fluid does not model this.
#[test]
fn answering_takes_a_round_trip_and_lowers_the_bound() {
    let Met { reductions, packets, window, .. } = on_a_red_link(false);
    let p = reductions / packets;
    let two_deviations = 2.0 * ALPHA / reductions.sqrt();
    assert!(p < ALPHA - two_deviations, "{p} is not below alpha");
    let bound = ALPHA / (1.0 + ALPHA * window);
    assert!(p > bound - two_deviations, "{p} at {window} segments, bound {bound}");
}
