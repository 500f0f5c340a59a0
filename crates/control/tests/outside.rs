//! A controller needs nothing that is private to the crate: CUBIC, as if it were in another crate.

// What the file names by `crate::` is public in the crate.
use longfat_control::*;

#[path = "../src/controller/cubic.rs"]
#[expect(unreachable_pub, reason = "it is public where the file belongs")]
mod cubic;

use longfat_units::Time;
use longfat_units::parameter::Settings;

#[test]
fn cubic_from_outside_is_cubic() {
    let controller = cubic::controller();
    let settings: Settings = controller.defaults();
    let operations: Vec<conformance::Operation> = (0..2000_u64)
        .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes())
        .map(conformance::Operation::from_bytes)
        .collect();
    let start = Start::default();
    conformance::check(&controller, &settings, &start, &operations).expect("a controller");

    let inside = CONTROLLERS.iter().find(|entry| entry.name == "cubic").expect("it is listed");
    let windowed = |sending: Sending| sending.windowed().expect("it has a window");
    let mut theirs = windowed((controller.build)(&settings, &start));
    let mut ours = windowed((inside.build)(&settings, &start));
    let rtt = longfat_units::Span::from_millis(100);
    let path = Path { rtt, base_rtt: rtt };
    for step in 0..10_000 {
        let now = Time::ZERO + rtt * step;
        for control in [&mut theirs, &mut ours] {
            control.on_feedback(&Feedback { rtt: Some(rtt), ..Feedback::at(now, 3) }, &path);
            if step % 700 == 0 {
                let loss = Congestion { now, cause: Cause::Loss, in_flight: 100, again: false };
                control.on_congestion(&loss, &path);
            }
        }
        assert_eq!(theirs.window(), ours.window());
    }
}
