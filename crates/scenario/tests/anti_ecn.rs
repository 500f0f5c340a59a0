//! The AntiECN marker of a link, as written and as read back.

use longfat_scenario::{AntiEcnMarker, AntiEcnMode, Scenario};

use crate::{base, refusal};

const MARKER: &str = "link.bottleneck.anti_ecn";

/// Threshold, virtual buffer in bytes, and mode.
type Marker = (f64, f64, AntiEcnMode);

/// The markers of both directions, with some values set.
fn markers(overrides: &[&str]) -> (Option<Marker>, Option<Marker>) {
    let scenario = base(overrides);
    let again = Scenario::read(&scenario.to_toml(), "again.toml", &[], None);
    assert_eq!(again.as_ref(), Ok(&scenario), "what is written is read back");
    let marker = |it: AntiEcnMarker| (it.threshold, it.buffer, it.mode);
    let link = &scenario.links[0];
    (link.forward.anti_ecn.map(marker), link.reverse.anti_ecn.map(marker))
}

/// The base is a link of 500 Mbit/s and 80 ms, 5 MB.
const DEFAULT: Marker = (0.5, 5e6, AntiEcnMode::And);

#[test]
fn a_link_knows_nothing_of_it_unless_it_says_so() {
    assert_eq!(markers(&[]), (None, None));
    assert_eq!(markers(&[&format!("{MARKER}=false")]), (None, None));
    assert_eq!(markers(&[&format!("{MARKER}=true")]), (Some(DEFAULT), Some(DEFAULT)));
    assert_eq!(markers(&[&format!("{MARKER}={{}}")]), (Some(DEFAULT), Some(DEFAULT)));
}

#[test]
fn the_virtual_buffer_is_measured_like_any_length_and_kept_in_bytes() {
    for (written, bytes) in [
        ("0.5 bdp", 2.5e6),
        ("100 packets", 1e5),
        ("3 MB", 3e6),
        ("8 ms", 5e5),
        ("0.2 buffer", 1e6),
        ("unlimited", f64::INFINITY),
    ] {
        let (forward, _) = markers(&[&format!("{MARKER}.buffer={written}")]);
        assert_eq!(forward, Some((0.5, bytes, AntiEcnMode::And)), "{written}");
    }
}

#[test]
fn the_reverse_direction_may_differ() {
    let reverse = |changes: &str| format!("link.bottleneck.reverse.anti_ecn{changes}");
    let on = format!("{MARKER}=true");
    assert_eq!(markers(&[&on, &reverse("=false")]), (Some(DEFAULT), None));
    assert_eq!(markers(&[&reverse("=true")]), (None, Some(DEFAULT)));
    // It replaces that of the forward direction entirely, and its length goes by its own rate.
    let (half, overwrite) = ("link.bottleneck.reverse.rate=250 Mbit/s", reverse(".mode=overwrite"));
    let other = (0.5, 2.5e6, AntiEcnMode::Overwrite);
    assert_eq!(
        markers(&[&format!("{MARKER}.threshold=0.7"), half, &overwrite]),
        (Some((0.7, 5e6, AntiEcnMode::And)), Some(other))
    );
}

#[test]
fn what_a_marker_cannot_be_is_refused_at_its_key() {
    for (value, reason) in [
        ("=0.5", "`anti_ecn` must be false, true, or a table such as { threshold = 0.5"),
        ("=none", "`anti_ecn` must be false, true, or a table such as { threshold = 0.5"),
        (".threshold=0", "`threshold` must be a number above 0 and at most 1"),
        (".threshold=50 %", "`threshold` must be a number above 0 and at most 1"),
        (".mode=or", "`mode` must be \"and\" or \"overwrite\""),
        (".buffer=999 B", "no room for a packet of 1 kB, the largest that crosses"),
        (".buffer=5000", "write \"5000 packets\""),
        (".eta=0.5", "`eta` is not a key of an AntiECN marker"),
    ] {
        let message = refusal(&[&format!("{MARKER}{value}")]);
        assert!(
            message.contains(reason) && message.contains("--> --set:1:"),
            "{value}:\n{message}"
        );
    }
}
