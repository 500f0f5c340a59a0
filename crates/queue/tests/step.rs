//! Step marking: where it begins, and what becomes of packets that cannot be marked.

use longfat_queue::discipline::step::discipline;
use longfat_queue::{Arrival, Verdict};
use longfat_units::Ecn;
use longfat_units::parameter::Setting as Value;

use crate::support::{behind, chance, changed, policy, site};

fn verdict(threshold: f64, drop: bool, waiting: u64, ecn: Ecn) -> Verdict {
    let ours = [("threshold", Value::Length(threshold)), ("drop", Value::Flag(drop))];
    let settings = changed(&discipline(), "packets", &ours);
    let mut policy = policy(&discipline(), &settings, &site("packets"));
    policy.on_arrival(&Arrival { ecn, ..behind(waiting) }, &mut chance(1))
}

#[test]
fn marks_begin_right_above_the_threshold() {
    assert_eq!(verdict(65.0, false, 65, Ecn::Ect0), Verdict::Keep);
    assert_eq!(verdict(65.0, false, 66, Ecn::Ect0), Verdict::Mark);
    assert_eq!(verdict(0.0, false, 0, Ecn::Ect1), Verdict::Keep);
    assert_eq!(verdict(0.0, false, 1, Ecn::Ect1), Verdict::Mark);
}

#[test]
fn what_cannot_be_marked_is_kept_or_dropped() {
    assert_eq!(verdict(65.0, false, 900, Ecn::NotEct), Verdict::Keep);
    assert_eq!(verdict(65.0, true, 900, Ecn::NotEct), Verdict::Drop);
    assert_eq!(verdict(65.0, true, 65, Ecn::NotEct), Verdict::Keep);
}

#[test]
fn a_threshold_that_is_not_below_the_buffer_is_refused() {
    let check = |threshold| {
        let settings =
            changed(&discipline(), "packets", &[("threshold", Value::Length(threshold))]);
        (discipline().check)(&settings, &site("packets"))
    };
    assert_eq!(check(999.0), Ok(()));
    for threshold in [1000.0, 1001.0] {
        assert_eq!(check(threshold).expect_err("never exceeded").0, "threshold");
    }
}

/// In a buffer of bytes the threshold is one of bytes.
#[test]
fn a_threshold_in_bytes_counts_bytes() {
    let settings = changed(&discipline(), "bytes", &[("threshold", Value::Length(65_000.0))]);
    let mut policy = policy(&discipline(), &settings, &site("bytes"));
    assert_eq!(policy.on_arrival(&behind(65), &mut chance(1)), Verdict::Keep);
    assert_eq!(policy.on_arrival(&behind(66), &mut chance(1)), Verdict::Mark);
}
