//! The end of slow start on a network, beside what Linux was measured to do.

use crate::support::{numbers, record};

/// CUBIC of Linux 6.18 at 200 Mbit/s and 40 ms with a buffer of 667 packets (docs/reality.md, from the first packet on): it
/// left slow start at 986 segments, and lost at 1399 of them after 0.81 s, at 1338 after 5.71 s and at 1341 after 21.82 s.
#[test]
fn cubic_begins_as_in_linux() {
    let text = r#"
        duration = "25 s"
        sample   = "10 ms"
        [link.wire]
        rate   = "200 Mbit/s"
        delay  = "20 ms"
        buffer = "667 packets"
        [[flow]]
        name    = "lone"
        control = { kind = "cubic", blind_growth = 0.05 }
        path    = ["wire"]
        rtt     = "40 ms"
        profile = "linux-6"
        "#;
    let recording = record(text, true);
    let [times, windows, thresholds] =
        ["time_s", "window", "threshold"].map(|column| numbers(&recording, "flow_series", column));
    let left = thresholds.into_iter().find(|threshold| threshold.is_finite());
    let left = left.expect("slow start ends");
    assert!((left / 986.0 - 1.0).abs() < 0.01, "slow start is left at {left}");
    let losses: Vec<_> = (1..windows.len())
        .filter(|&row| windows[row] < windows[row - 1] - 1.0)
        .map(|row| (times[row], windows[row - 1]))
        .collect();
    let measured = [(0.81, 1399.0), (5.71, 1338.0), (21.82, 1341.0)];
    assert_eq!(losses.len(), measured.len(), "{losses:?}");
    for ((time, window), (then, there)) in losses.iter().zip(measured) {
        assert!((time - then).abs() < 0.1, "at {time} s, and {then} s were measured");
        assert!((window / there - 1.0).abs() < 0.005, "{window}, and {there} were measured");
    }
}
