//! Profiles, and what else shortens a flow.

use std::collections::BTreeSet;

use longfat_units::parameter::Given;
use longfat_units::{Bytes, Ecn, Span};

use super::{BASE, base, read, refusal};
use crate::{EcnFeedback, PROFILES, Recovery, RtoRestart, Spans, Transport};

fn transport(overrides: &[&str]) -> Transport {
    base(overrides).flows.remove(0).transport
}

#[test]
fn a_profile_sets_what_the_flow_does_not() {
    let usual = transport(&[]);
    let old = transport(&["flow.forward.profile=1995", "flow.forward.ecn=true"]);
    assert_eq!((old.packet, old.ecn), (Bytes(1000), Ecn::Ect0), "the flow says these itself");
    assert_eq!(
        (old.initial_window, old.initial_threshold),
        (1.0, Some(65.0)),
        "65535 bytes in packets of 1000"
    );
    assert_eq!((old.recovery, old.delayed_ack), (Recovery::Reno, true));
    assert_eq!((old.rto_min, old.max_window), (Span::from_seconds(1), usual.max_window));
    assert_eq!((old.rto_tick, usual.rto_tick), (Some(Span::from_millis(500)), None));

    let simulated = transport(&["flow.forward.profile=ns2-2005", "flow.forward.rto_min=1 s"]);
    let (initial_window, rto_min) = (2.0, Span::from_seconds(1));
    assert_eq!(simulated, Transport { initial_window, rto_min, ..usual.clone() });

    let standard = transport(&["flow.forward.profile=rfc"]);
    let rto_restart = RtoRestart::Never;
    assert_eq!(standard, Transport { delayed_ack: true, rto_min, rto_restart, ..usual.clone() });
    assert_eq!(transport(&["flow.forward.profile=none"]), usual);
}

#[test]
fn a_profile_sets_the_packet_in_which_sizes_and_bdp_are_measured() {
    let text = BASE.replace("packet = \"1000 B\"", "profile = \"1995\"\nsize = \"3 packets\"");
    let scenario = read(&text, &[]).expect("it is right");
    assert_eq!(scenario.flows[0].size, Some(Bytes(1500)));
    assert_eq!(scenario.largest_packets()[0], Bytes(500));
    assert_eq!(scenario.flows[0].transport.initial_threshold, Some(131.0));
}

#[test]
fn every_profile_can_be_read_and_is_written_out() {
    let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    for profile in PROFILES {
        let scenario = base(&[&format!("flow.forward.profile=\"{}\"", profile.name)]);
        let text = scenario.to_toml();
        assert!(!text.contains("profile"), "{text}");
        assert_eq!(read(&text, &[]).as_ref(), Ok(&scenario));
        let keys: BTreeSet<&str> = profile.keys.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys.len(), profile.keys.len(), "{} sets a key twice", profile.name);
        for (key, value) in profile.keys {
            assert_ne!(*value, Given::Nothing, "{key}");
            assert!(text.contains(&format!("\n{key} = ")), "`{key}` is not a key of a flow");
        }
    }
}

#[test]
fn every_slow_start_is_read_and_written() {
    for name in longfat_control::SlowStart::NAMES {
        let scenario = base(&[&format!("flow.forward.slow_start={name}")]);
        assert_eq!(scenario.flows[0].transport.slow_start.name(), *name);
        assert!(scenario.to_toml().contains(&format!("slow_start = \"{name}\"\n")));
    }
}

#[test]
fn an_unknown_profile_is_refused() {
    let message = refusal(&["flow.forward.profile=ns2-2004"]);
    assert!(message.contains("there is no profile called `ns2-2004`"), "{message}");
    assert!(message.contains("did you mean `ns2-2005`?"), "{message}");
}

#[test]
fn a_controller_gets_what_it_needs_or_is_refused() {
    let needy = "flow.forward.control=needy";
    let access = "flow.forward.access=10 Gbit/s";
    assert_eq!(base(&[needy, access]).flows[0].control.kind(), "needy");
    let message = refusal(&[needy]);
    assert!(message.contains("needs to know the rate of the sender's own link"), "{message}");
    for off in ["flow.forward.ecn=false", "flow.forward.profile=1995"] {
        let message = refusal(&[needy, access, off]);
        assert!(message.contains("`needy` needs marks from routers"), "{message}");
        assert!(message.contains("--> --set:1:"), "{message}");
    }
    let message = refusal(&[needy, access, "flow.forward.pacing=none"]);
    assert!(message.contains("`needy` itself decides when each packet leaves"), "{message}");
}

#[test]
fn marks_are_asked_for_and_reported_as_the_controller_needs_it() {
    let ecn = |overrides: &[&str]| {
        let transport = transport(overrides);
        (transport.ecn, transport.ecn_feedback)
    };
    assert_eq!(ecn(&[]), (Ecn::Ect0, EcnFeedback::Echo));
    let (l4s, counted) = ("flow.forward.ecn=ect1", "flow.forward.ecn_feedback=accurate");
    assert_eq!(ecn(&[l4s, counted]), (Ecn::Ect1, EcnFeedback::Accurate));
    assert_eq!(ecn(&["flow.forward.control=dctcp"]), (Ecn::Ect0, EcnFeedback::Accurate));
    for control in ["flow.forward.control=prague", "flow.forward.control={ kind = \"prague\" }"] {
        assert_eq!(ecn(&[control]), (Ecn::Ect1, EcnFeedback::Accurate));
        assert_eq!(ecn(&[control, "flow.forward.ecn=true"]).0, Ecn::Ect1, "capable, its way");
    }

    let message = refusal(&["flow.forward.control=dctcp", "flow.forward.ecn_feedback=echo"]);
    assert!(message.contains("`dctcp` needs to hear how many segments were marked"), "{message}");
    let message = refusal(&["flow.forward.control=prague", "flow.forward.ecn=false"]);
    assert!(message.contains("`prague` needs marks from routers"), "{message}");
    let message = refusal(&["flow.forward.ecn=ect2"]);
    assert!(message.contains("true, false or \"ect1\""), "{message}");
    let message = refusal(&["flow.forward.ecn_feedback=accurat"]);
    assert!(message.contains("did you mean `accurate`?"), "{message}");
}

#[test]
fn one_flow_takes_the_first_time_of_a_spread() {
    let scenario = base(&["flow.forward.count=1"]);
    assert_eq!(scenario.flows[0].rtt, Spans::Same(Span::from_millis(60)));
    assert_eq!(scenario.links[0].forward.bdp, Some(Span::from_millis(60)));
}
