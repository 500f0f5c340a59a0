//! Profiles, and what else shortens a flow.

use std::collections::BTreeSet;

use longfat_scenario::{
    EcnFeedback, PROFILES, Recovery, RtoRestart, SavedPath, SendQuantum, Spans, Transport,
    WindowValidation,
};
use longfat_units::parameter::Given;
use longfat_units::{Bytes, Ecn, Span};

use crate::{BASE, base, read, refusal};

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
    let mut expected = usual.clone();
    (expected.initial_window, expected.rto_min) = (2.0, Span::from_seconds(1));
    assert_eq!(simulated, expected);

    let standard = transport(&["flow.forward.profile=rfc"]);
    let mut expected = usual.clone();
    (expected.delayed_ack, expected.rto_min) = (true, Span::from_seconds(1));
    expected.rto_restart = RtoRestart::Never;
    expected.window_validation = WindowValidation::Rfc5681;
    assert_eq!(standard, expected);
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
        for (control, key, value) in profile.with {
            assert_ne!(*value, Given::Nothing, "{key}");
            assert!(text.contains(&format!("\n{key} = ")), "`{key}` is not a key of a flow");
            assert!(!keys.contains(key), "{} sets `{key}` twice", profile.name);
            let known = longfat_control::CONTROLLERS.iter().any(|entry| entry.name == *control);
            assert!(known, "there is no controller `{control}`");
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

#[test]
fn what_a_host_does_beyond_its_window_is_read() {
    let host = transport(&[
        "flow.forward.send_quantum=10",
        "flow.forward.window_validation=rfc7661",
        "flow.forward.careful_resume={ window = 500, rtt = \"80 ms\" }",
        "flow.forward.delayed_ack=true",
        "flow.forward.ack_every=8",
        "flow.forward.ack_delay=25 ms",
    ]);
    assert_eq!(host.send_quantum, Some(SendQuantum::Packets(10)));
    assert_eq!(host.window_validation, WindowValidation::Rfc7661);
    let saved = SavedPath { window: 500.0, rtt: Span::from_millis(80) };
    assert_eq!(host.careful_resume, Some(saved));
    assert_eq!((host.ack_every, host.ack_delay), (8, Span::from_millis(25)));
    let timed = transport(&["flow.forward.send_quantum=1 ms"]);
    assert_eq!(timed.send_quantum, Some(SendQuantum::Time(Span::from_millis(1))));
}

#[test]
fn what_a_host_cannot_do_is_refused() {
    for (given, reason) in [
        ("send_quantum=0", "`send_quantum` must be a whole number from 1 to 4294967295"),
        ("send_quantum=0 s", "`send_quantum` must be longer than zero"),
        ("send_quantum=true", "a number of packets, a time such as \"1 ms\", or \"none\""),
        ("send_quantum=1 kB", "`kB` is not a unit of time"),
        ("window_validation=rfc7660", "did you mean `rfc7661`?"),
        ("careful_resume=true", "\"none\", or a table such as { window = 500, rtt = \"100 ms\" }"),
        ("careful_resume={ window = 500 }", "`careful_resume` has no `rtt`"),
        ("careful_resume={ window = 1, rtt = \"1 s\" }", "`window` must be a number from 2 to"),
        ("careful_resume={ window = 9, rtt = \"0 s\" }", "`rtt` must be longer than zero"),
        ("careful_resume={ window = 9, rtt = \"1 s\", age = 1 }", "`age` is not a key of"),
        ("ack_every=0", "`ack_every` must be a whole number from 1 to 1000000"),
        ("ack_delay=0 s", "`ack_delay` must be longer than zero"),
        ("ack_delay=25", "`ack_delay` is a time, and the number 25 has no unit"),
    ] {
        let message = refusal(&[&format!("flow.forward.{given}")]);
        assert!(message.contains(reason), "{given}: {message}");
        assert!(message.contains("--> --set:1:"), "{message}");
    }
}

#[test]
fn the_hosts_of_today_are_profiles() {
    let linux = transport(&["flow.forward.profile=linux-6"]);
    assert_eq!((linux.recovery, linux.delayed_ack, linux.ack_every), (Recovery::Rack, true, 2));
    assert_eq!(linux.window_validation, WindowValidation::Rfc2861);
    let quic = transport(&["flow.forward.profile=quic-9002", "flow.forward.ack_every=10"]);
    assert_eq!((quic.recovery, quic.ack_every), (Recovery::Quic, 10));
    assert_eq!(quic.ack_delay, Span::from_millis(25));
    assert_eq!(quic.send_quantum, Some(SendQuantum::Packets(10)));
}
