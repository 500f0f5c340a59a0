//! Flows that are replayed from a list.

use crate::support;
use crate::support::numbers;
use crate::support::witness::{open, watched};
use longfat_control::Controller;
use longfat_scenario::Catalogue;
use longfat_sim::{Options, Scenario, Simulation};
use std::sync::{Arc, Mutex};

/// Two links of 8 Mbit/s, on which a packet of 1000 bytes takes 1 ms.
fn listed(more: &str, kinds: &str, list: &str) -> String {
    format!(
        "duration = \"1 s\"\n[link.near]\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"90 packets\"\n\
         [link.far]\nrate = \"8 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"90 packets\"\n\
         [[traffic]]\nname = \"listed\"\ncontrol = \"reno\"\npath = [\"near\"]\nrtt = \"10 ms\"\n\
         packet = \"1000 B\"\n{more}\n[traffic.replay]\ntick = \"1 ms\"\n{kinds}\nlist = \"{list}\"\n"
    )
}

#[test]
fn each_flow_of_a_list_takes_the_time_of_its_packets() {
    // At 0 two packets over `near`: 2 + 5 ms. At 100 ms three over both links, with a round trip of 50 ms: 3 + 1 + 25 ms.
    // At 300 ms one with a round trip of 90 ms: 1 + 1 + 45 ms. At 1100 ms, after the end, one that never begins.
    let kinds = "kinds = [{ path = [\"near\", \"far\"], control = \"cubic\" }]";
    let list = "0 1001,100 3000 1 50000000000,200 1000 1 90000000000,800 1000";
    let recording = support::record(&listed("", kinds, list), false);
    let times = numbers(&recording, "transfers", "completion_s");
    for (found, expected) in times.iter().zip([0.007, 0.029, 0.047]) {
        assert!((found - expected).abs() < 1e-12, "{times:?}");
    }
    assert_eq!(numbers(&recording, "transfers", "start_s"), [0.0, 0.1, 0.3]);
    assert_eq!(numbers(&recording, "transfers", "packets"), [2.0, 3.0, 1.0]);
    let told = &recording.summary.traffic["listed"];
    assert_eq!((&told["arrived"], &told["completed"]), (&3.into(), &3.into()));
}

#[test]
fn a_list_can_begin_later_and_be_cut() {
    let list = "0 1000,100 1000,100 1000,100 1000";
    let text = listed("start = \"50 ms\"\nstop = \"300 ms\"", "", list);
    let recording = support::record(&text, false);
    let starts = numbers(&recording, "transfers", "start_s");
    assert_eq!(starts.len(), 3);
    assert!((starts[2] - 0.25).abs() < 1e-12, "{starts:?}");
}

#[test]
fn both_servers_give_the_same_for_a_list() {
    let kinds = "kinds = [{ path = [\"near\", \"far\"], control = \"cubic\" }]";
    let rows: Vec<String> = (0..400)
        .map(|index| {
            let rtt = if index % 3 == 0 { " 60000000000" } else { "" };
            let kind = if index % 3 == 0 { " 1" } else { "" };
            format!("{} {}{kind}{rtt}", index % 5, 500 + index * 37 % 9000)
        })
        .collect();
    let scenario = support::read(&listed("", kinds, &rows.join(",")));
    let run = |options| {
        let mut simulation = Simulation::with_options(&scenario, options);
        let mut most = 0;
        while simulation.advance(100) {
            let fates = simulation.fates();
            let known = fates.delivered + fates.dropped + fates.corrupted + fates.in_flight;
            assert_eq!(fates.sent, known);
            most = most.max(fates.in_flight);
        }
        assert!(most > 10, "they meet");
        let mut recording = simulation.finish();
        recording.summary.engine.events = 0;
        format!("{recording:?}")
    };
    assert_eq!(run(Options::default()), run(Options::default().stepwise(true)));
}

/// Packets of 1000 bytes over one link and of 500 over another, one flow after the other, each in the place of the one
/// before it: 15 ms, 1 ms, 20 ms and 15 ms, or 10 ms, 0.5 ms, 30 ms and 10 ms. An acknowledgment takes 0.04 ms.
#[test]
fn a_flow_in_the_place_of_another_goes_its_own_way() {
    let group = |link: &str, packet: u32, at: u32| {
        format!(
            "[[traffic]]\nname = \"{link}\"\ncontrol = \"reno\"\npath = [\"{link}\"]\nrtt = \"100 ms\"\n\
             packet = \"{packet} B\"\nreplay = {{ tick = \"1 ms\", list = \"{at} {packet},400 {packet}\" }}\n"
        )
    };
    let link = |name: &str, delay: u32| {
        format!(
            "[link.{name}]\nrate = \"8 Mbit/s\"\ndelay = \"{delay} ms\"\nbuffer = \"90 packets\"\n"
        )
    };
    let text = "duration = \"1 s\"\n".to_owned()
        + &link("near", 20)
        + &link("far", 30)
        + &group("near", 1000, 0)
        + &group("far", 500, 200);
    let scenario = support::read(&text);
    for in_order in [false, true] {
        let mut simulation =
            Simulation::with_options(&scenario, Options::default().in_order(in_order));
        assert_eq!(simulation.takes_turns(), !in_order);
        while simulation.advance(1000) {}
        let recording = simulation.finish();
        for (column, near, far) in
            [("completion_s", 51e-3, 50.5e-3), ("acknowledged_s", 101.04e-3, 100.54e-3)]
        {
            let found = numbers(&recording, "transfers", column);
            for (found, expected) in found.iter().zip([near, near, far, far]) {
                assert!((found - expected).abs() < 1e-12, "{column}: {found}");
            }
            assert_eq!(found.len(), 4);
        }
    }
}

/// Four flows of two groups over the same link, one after the other, in the place of the first. Each group has a host at
/// either end, and acknowledgments go back from one to the other; the flows of a group are different ones.
#[test]
fn a_flow_in_the_place_of_another_runs_between_hosts_of_its_own() {
    let group = |name: &str, at: u32| {
        format!(
            "[[traffic]]\nname = \"{name}\"\ncontrol = \"reno\"\npath = [\"near\"]\nrtt = \"100 ms\"\n\
             replay = {{ tick = \"1 ms\", list = \"{at} 1000,400 1000\" }}\n"
        )
    };
    let text = "duration = \"1 s\"\n[link.near]\nrate = \"8 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"90 packets\"\n"
        .to_owned()
        + &group("one", 0)
        + &group("other", 200);
    let (scenario, library) = watched(&text);
    let mut simulation = Simulation::new(&scenario, false);
    while simulation.advance(1000) {}
    let books = library.lock().expect("nobody panicked");
    let seen = [0, 1].map(|port| open(&books[port]).arrived.clone());
    let [out, back] = seen.each_ref().map(|items| {
        items.iter().map(|item| (item.source, item.destination)).collect::<Vec<(u32, u32)>>()
    });
    let [one, other] = [out[0], out[1]];
    assert_eq!(out, [one, other, one, other]);
    assert!(one.0 != other.0 && one.1 != other.1 && one.0 != one.1, "{out:?}");
    assert_eq!(back, out.iter().map(|&(from, to)| (to, from)).collect::<Vec<_>>());
    let flows: Vec<(u32, u32)> = seen[0].iter().map(|item| (item.source, item.flow)).collect();
    assert_eq!(flows, [(one.0, 0), (other.0, 0), (one.0, 1), (other.0, 1)]);
}

/// What controllers decide by chance is a matter of the flow, the group and the seed.
#[test]
fn each_flow_of_a_list_has_luck_of_its_own() {
    let luck = Arc::new(Mutex::new(Vec::new()));
    let mut catalogue = Catalogue::built_in();
    let reno = catalogue.controllers().iter().find(|it| it.name == "reno");
    let reno = Arc::clone(reno.expect("it is there"));
    let (notes, build) = (Arc::clone(&luck), Arc::clone(&reno.build));
    let lucky = Controller::new("lucky", move |settings, start| {
        notes.lock().expect("one thread").push(start.chance);
        build(settings, start)
    });
    catalogue.add_controller(lucky.parameters(reno.parameters.clone())).expect("the name is free");
    let drawn = |seed: u32| {
        let text = listed("", "", "0 1000,100 1000,100 1000").replace("\"reno\"", "\"lucky\"");
        let text = format!("seed = {seed}\n{text}");
        let scenario = Scenario::read_with(&catalogue, &text, "luck.toml", &[], None)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut simulation = Simulation::new(&scenario, false);
        // Before it begins a controller is asked what it wants.
        luck.lock().expect("one thread").clear();
        while simulation.advance(1000) {}
        luck.lock().expect("one thread").clone()
    };
    let mut all = [drawn(1), drawn(2)].concat();
    assert_eq!(drawn(1), all[..3]);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 6);
}
