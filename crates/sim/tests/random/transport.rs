//! How the flows of a random scenario send: their controller, and the keys that `[[flow]]` and `[[traffic]]` share.

use std::sync::Arc;

use longfat_control::{CONTROLLERS, Controller, Needs, SlowStart};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use super::parameters::{Draws, draws, table, tried};

/// Bursts on any link. They may have priorities where every queue respects them.
pub(super) const BLITZ: &str = "{ kind = \"blitz\", priorities = false }";

/// Every way of pacing; the first is the default.
const PACINGS: [&str; 8] = [
    "\"controller\"",
    "\"none\"",
    "\"spread\"",
    "{ spread = 1.7 }",
    "{ blocks = 2 }",
    "{ blocks = 5 }",
    "{ loose_blocks = 3 }",
    "{ rate = \"300 /s\" }",
];

/// What receivers allow, where they do not allow everything.
const RECEIVE_WINDOWS: [&str; 6] = [
    "\"4 packets\"",
    "\"auto\"",
    "{ initial = \"2 packets\", most = \"300 packets\" }",
    "{ kind = \"sender-tuned\", initial = \"2 packets\", most = \"300 packets\" }",
    "{ kind = \"sender-tuned\", most = \"9 packets\" }",
    "{ kind = \"fixed\", size = \"30 packets\", scale = 2 }",
];

/// Paths that an earlier flow has found.
const SAVED_PATHS: [&str; 3] = [
    "{ window = 150, rtt = \"60 ms\" }",
    "{ window = 2, rtt = \"1 ms\" }",
    "{ window = 20000, rtt = \"2 s\" }",
];

/// The controller of a flow, as a value, and how it sends. A jitter of a host takes less time than a packet on any link.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) control: String,
    pub(super) keys: String,
}

impl Sender {
    pub(super) fn sends_bursts(&self) -> bool {
        self.control == BLITZ
    }
}

/// A sender with any of these controllers.
pub(super) fn senders(controls: Vec<&'static str>) -> impl Strategy<Value = Sender> {
    let window = (
        of(select(&["1", "2.5", "40", "3000"][..])),
        of(select(&["2", "17.5", "\"20 kB\""][..])),
        select(SlowStart::NAMES),
        select(&["none", "none", "rfc5681", "rfc2861", "rfc7661", "ratelimited-increase"][..]),
        of(1_u32..30),
        of(select(&RECEIVE_WINDOWS[..])),
        prop_oneof![4 => Just(None), 3 => select(&SAVED_PATHS[..]).prop_map(Some)],
    );
    let losses = (
        select(&["sack", "newreno", "reno", "rack", "quic"][..]),
        of(select(&["1 ms", "30 ms", "1 s"][..])),
        of(select(&["1 ms", "70 ms", "500 ms"][..])),
        select(&["rfc6298", "linux"][..]),
        select(&["first", "each", "never"][..]),
    );
    let reports = (
        any::<bool>(),
        select(&["", "1, 100 ms", "5, 25 ms", "200, 1 ms"][..]),
        of(select(&["false", "true", "\"ect1\""][..])),
        of(select(&["echo", "accurate"][..])),
    );
    let departures = (
        select(&PACINGS[..]),
        prop_oneof![Just(None), select(&["3", "\"2 ms\""][..]).prop_map(Some)],
        of(select(&["25 ns", "1900 ns"][..])),
        of(5_u32..50),
    );
    let packet = select(vec![100_u32, 576, 1500, 9000]);
    let control = (select(controls), draws());
    (control, packet, window, losses, reports, departures).prop_map(
        |((control, draws), packet, window, losses, reports, departures)| {
            let (initial, threshold, slow_start, validation, most, allowed, saved) = window;
            let (recovery, rto_min, rto_tick, estimator, restart) = losses;
            let (delayed, acks, ecn, feedback) = reports;
            let (pacing, quantum, jitter, access) = departures;
            let (written, needs) = chosen(control, &draws);
            let is_burst = control == "blitz";
            let mut keys = format!(
                "packet = \"{packet} B\"\nrecovery = \"{recovery}\"\ndelayed_ack = {delayed}\n\
                 slow_start = \"{slow_start}\"\nrto_estimator = \"{estimator}\"\nrto_restart = \"{restart}\"\n\
                 window_validation = \"{validation}\"\n"
            );
            // A burst leaves at the access rate, and who sends by a rate is held back by nothing else.
            let pacing = (!is_burst && !needs.pacing).then_some(pacing);
            let access = access.or(needs.access.then_some(25));
            let allowed = allowed.filter(|_| !is_burst && recovery != "quic");
            let ecn = ecn.filter(|ecn| *ecn != "false" || !(needs.ecn || needs.ect1));
            let feedback = feedback.filter(|_| !needs.accurate_ecn && recovery != "quic");
            let acks = acks.split_once(", ");
            let optional = [
                initial.map(|window| format!("initial_window = {window}\n")),
                threshold.map(|window| format!("initial_threshold = {window}\n")),
                most.map(|most| format!("max_window = {most}\n")),
                allowed.map(|window| format!("receive_window = {window}\n")),
                saved.map(|path| format!("careful_resume = {path}\n")),
                rto_min.map(|time| format!("rto_min = \"{time}\"\n")),
                rto_tick.map(|time| format!("rto_tick = \"{time}\"\n")),
                acks.map(|(every, delay)| format!("ack_every = {every}\nack_delay = \"{delay}\"\n")),
                ecn.map(|ecn| format!("ecn = {ecn}\n")),
                feedback.map(|kind| format!("ecn_feedback = \"{kind}\"\n")),
                pacing.map(|pacing| format!("pacing = {pacing}\n")),
                quantum.map(|quantum| format!("send_quantum = {quantum}\n")),
                jitter.map(|jitter| format!("host_jitter = \"{jitter}\"\n")),
                access.map(|access| format!("access = \"{access} Mbit/s\"\n")),
            ];
            keys.extend(optional.into_iter().flatten());
            Sender { control: written, keys }
        },
    )
}

/// Every controller that asks for no queue of its own, and what goes by the room that links have. `sized-start` is for sizes.
/// Where routers are of a kind that a controller asks for, that one is as frequent as all others.
pub(super) fn everybody(routers: Option<&str>) -> Vec<&'static str> {
    let by_itself = |entry: &&Arc<Controller>| {
        entry.name != "sized-start" && entry.needs(&entry.defaults()).queue.is_none()
    };
    let names = CONTROLLERS.iter().filter(by_itself).map(|entry| &*entry.name);
    let mut names: Vec<_> =
        names.chain(["{ kind = \"anti-ecn\", delta = \"sqrt\", on = \"exp\" }"]).collect();
    let theirs = CONTROLLERS.iter().find(|entry| routers == Some(&*entry.name));
    if let Some(entry) = theirs {
        names.extend(vec![&*entry.name; names.len()]);
    }
    names
}

/// A controller as a value, with parameters that differ from its defaults, and what it then needs. Where they do not go
/// together, the defaults.
fn chosen(name: &str, draws: &Draws) -> (String, Needs) {
    let Some(entry) = CONTROLLERS.iter().find(|entry| entry.name == name) else {
        return (name.into(), Needs::NONE);
    };
    let defaults = entry.needs(&entry.defaults());
    if name == "blitz" || draws.is_empty() {
        return (written(name), defaults);
    }
    let control = table(name, "", &entry.parameters, draws);
    let queue = format!("\"{}\"", defaults.queue.unwrap_or("drop-tail"));
    match tried(&control, &queue) {
        Some(scenario) => {
            let choice = &scenario.flows[0].control;
            (control, choice.entry.needs(&choice.settings))
        }
        None => (written(name), defaults),
    }
}

/// A controller as a value, with its defaults.
fn written(control: &str) -> String {
    match control {
        "blitz" => BLITZ.into(),
        name => format!("\"{name}\""),
    }
}
