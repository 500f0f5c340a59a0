//! From a scenario back to a scenario file, with every default filled in.

use longfat_control::{Controller, Pacing};
use longfat_queue::LengthUnit;
use longfat_units::parameter::{Entry, Kind, Parameter, Setting, shortest};
use longfat_units::{Ecn, Span};
use serde_json::{Map, Value};

use crate::anti_ecn::write_anti_ecn;
use crate::application::write_application;
use crate::catalogue::CODE;
use crate::change::write_change;
use crate::choice::digest;
use crate::impairment::write_impairments;
use crate::lengths::{UNLIMITED, unit_of, write_capacity};
use crate::replay::write_replay;
use crate::size::write_size;
use crate::trace::write_trace;
use crate::transport::{BLOCKS, CONTROLLER, ECT1, LOOSE_BLOCKS, RATE, SPREAD};
use crate::value::NONE;
use crate::written::{number, object, one, or_none, per_second, span};
use crate::{
    Choice, Direction, EcnFeedback, FlowGroup, Hop, Link, Recovery, RtoEstimator, RtoRestart,
    SavedPath, Scenario, SendQuantum, Spans, TrafficGroup, Transport, WindowValidation,
};

impl Scenario {
    /// The scenario as a file that states everything; reading it gives an equal scenario.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.top() {
            line(&mut text, key, value);
        }
        // Each part on its own: all of them together would take many times the memory of the text.
        for link in &self.links {
            table(&mut text, &format!("link.{}", link.name), &link_json(link));
        }
        for flow in &self.flows {
            group(&mut text, "flow", &flow_json(&self.links, flow));
        }
        for traffic in &self.traffic {
            let mut keys = traffic_json(&self.links, traffic);
            let replay = keys.as_object_mut().and_then(|keys| keys.remove("replay"));
            group(&mut text, "traffic", &keys);
            // The list on a line of its own, which reading depends on.
            if let Some(replay) = replay {
                table(&mut text, "traffic.replay", &replay);
            }
        }
        text
    }

    /// The same as an object, with the keys of a scenario file.
    pub fn to_json(&self) -> Value {
        let links = self.links.iter().map(|link| (link.name.clone(), link_json(link)));
        let flows = self.flows.iter().map(|flow| flow_json(&self.links, flow));
        let traffic = self.traffic.iter().map(|group| traffic_json(&self.links, group));
        let mut whole = self.top();
        whole.append(&mut object([
            ("link", Value::Object(links.collect())),
            ("flow", Value::Array(flows.collect())),
            ("traffic", Value::Array(traffic.collect())),
        ]));
        Value::Object(whole)
    }

    /// What stands above the links.
    fn top(&self) -> Map<String, Value> {
        let mut top = object([
            ("duration", span(self.duration)),
            ("warmup", span(self.warmup)),
            ("seed", self.seed.into()),
            ("sample", span(self.sample)),
        ]);
        if self.observe {
            top.insert("observe".into(), true.into());
        }
        if self.delay_percentiles {
            top.insert("delay_percentiles".into(), true.into());
        }
        top
    }
}

fn link_json(link: &Link) -> Value {
    let mut forward = direction(&link.forward);
    let mut reverse = direction(&link.reverse);
    if link.forward.trace.is_some() || link.reverse.trace.is_some() {
        forward.insert("trace".into(), write_trace(link.forward.trace.as_deref()));
        reverse.insert("trace".into(), write_trace(link.reverse.trace.as_deref()));
    }
    let [there, back] = [&link.forward.impairments, &link.reverse.impairments];
    write_impairments(there, back, &mut forward);
    write_impairments(back, there, &mut reverse);
    reverse.retain(|key, value| forward.get(key) != Some(value));
    let mut pairs = forward;
    if !reverse.is_empty() {
        pairs.insert("reverse".into(), Value::Object(reverse));
    }
    if !link.changes.is_empty() {
        pairs.insert("change".into(), link.changes.iter().map(write_change).collect());
    }
    Value::Object(pairs)
}

fn direction(direction: &Direction) -> Map<String, Value> {
    let unit = unit_of(&direction.queue.settings, direction.buffer);
    let mut pairs = Map::new();
    pairs.insert("rate".into(), direction.rate.to_string().into());
    pairs.insert("delay".into(), span(direction.delay));
    pairs.insert("loss".into(), number(direction.loss));
    pairs.insert("buffer".into(), write_capacity(direction.buffer).into());
    if let Some(bdp) = direction.bdp {
        pairs.insert("bdp".into(), span(bdp));
    }
    pairs.insert("queue".into(), choice(&direction.queue, &direction.queue.entry.parameters, unit));
    pairs.insert("anti_ecn".into(), write_anti_ecn(direction.anti_ecn));
    pairs
}

fn flow_json(links: &[Link], flow: &FlowGroup) -> Value {
    let size = flow.size.map_or_else(|| UNLIMITED.into(), |size| size.to_string());
    let mut keys = object([
        ("name", flow.name.clone().into()),
        ("control", control(&flow.control)),
        ("count", flow.count.into()),
        ("path", path(links, &flow.path, flow.reverse)),
        ("reverse", flow.reverse.into()),
        ("rtt", spans(&flow.rtt)),
        ("start", spans(&flow.start)),
        ("stop", or_none(flow.stop, span)),
        ("size", size.into()),
    ]);
    if let Some(application) = &flow.application {
        keys.insert("application".into(), write_application(application));
    }
    keys.append(&mut transport(&flow.transport));
    Value::Object(keys)
}

fn traffic_json(links: &[Link], group: &TrafficGroup) -> Value {
    let mut keys = object([
        ("name", group.name.clone().into()),
        ("control", control(&group.control)),
        ("path", path(links, &group.path, group.reverse)),
        ("reverse", group.reverse.into()),
        ("arrivals", one("poisson", per_second(group.arrivals))),
        ("count", or_none(group.count, Value::from)),
        ("size", write_size(&group.size)),
        ("rtt", spans(&group.rtt)),
        ("start", span(group.start)),
        ("stop", or_none(group.stop, span)),
    ]);
    keys.append(&mut transport(&group.transport));
    if let Some(replay) = &group.replay {
        keys.retain(|key, _| !matches!(key.as_str(), "arrivals" | "count" | "size"));
        let path = |list: &[Hop]| path(links, list, group.reverse);
        keys.insert("replay".into(), write_replay(replay, path, control));
    }
    Value::Object(keys)
}

pub(crate) fn control(control: &Choice<Controller>) -> Value {
    choice(control, &control.entry.parameters, LengthUnit::Packets)
}

/// The file lists the links in the order of travel or, with `reverse`, in the opposite one.
fn path(links: &[Link], path: &[Hop], reverse: bool) -> Value {
    let written = |hop: &Hop| -> Value {
        let name: Value = links[hop.link].name.clone().into();
        if hop.reverse == reverse {
            return name;
        }
        Value::Object(object([("link", name), ("reverse", true.into())]))
    };
    let mut path: Vec<Value> = path.iter().map(written).collect();
    if reverse {
        path.reverse();
    }
    Value::Array(path)
}

fn transport(transport: &Transport) -> Map<String, Value> {
    let Transport {
        packet,
        initial_window,
        initial_threshold,
        slow_start,
        recovery,
        delayed_ack,
        ack_every,
        ack_delay,
        rto_min,
        rto_tick,
        rto_estimator,
        rto_restart,
        ecn,
        ecn_feedback,
        pacing,
        send_quantum,
        window_validation,
        careful_resume,
        max_window,
        receive_window,
        host_jitter,
        access,
    } = transport;
    let mut keys = object([
        ("packet", packet.to_string().into()),
        ("initial_window", number(*initial_window)),
        ("initial_threshold", or_none(*initial_threshold, number)),
        ("slow_start", slow_start.name().into()),
        ("recovery", name_of(recovery, Recovery::NAMES)),
        ("delayed_ack", (*delayed_ack).into()),
        ("ack_every", (*ack_every).into()),
        ("ack_delay", span(*ack_delay)),
        ("rto_min", span(*rto_min)),
        ("rto_tick", or_none(*rto_tick, span)),
        ("rto_estimator", name_of(rto_estimator, RtoEstimator::NAMES)),
        ("rto_restart", name_of(rto_restart, RtoRestart::NAMES)),
        ("ecn", written_ecn(*ecn)),
        ("ecn_feedback", name_of(ecn_feedback, EcnFeedback::NAMES)),
        ("pacing", written_pacing(*pacing)),
        ("send_quantum", or_none(*send_quantum, written_quantum)),
        ("window_validation", name_of(window_validation, WindowValidation::NAMES)),
        ("careful_resume", or_none(*careful_resume, written_path)),
        ("max_window", or_none(*max_window, Value::from)),
        ("host_jitter", or_none(*host_jitter, span)),
        ("access", or_none(*access, |rate| rate.to_string().into())),
    ]);
    if let Some(window) = receive_window {
        keys.insert("receive_window".into(), crate::receive_window::written(window));
    }
    keys
}

/// What a setting is called in scenario files.
fn name_of<T: PartialEq>(value: &T, names: &[(&'static str, T)]) -> Value {
    let (name, _) = names.iter().find(|(_, named)| named == value).expect("every value has a name");
    (*name).into()
}

fn written_ecn(field: Ecn) -> Value {
    match field {
        Ecn::NotEct => false.into(),
        Ecn::Ect1 => ECT1.into(),
        Ecn::Ect0 | Ecn::Ce => true.into(),
    }
}

fn written_pacing(pacing: Option<Pacing>) -> Value {
    match pacing {
        None => CONTROLLER.into(),
        Some(Pacing::Unpaced) => NONE.into(),
        Some(Pacing::Spread { gain: 1.0 }) => SPREAD.into(),
        Some(Pacing::Spread { gain }) => one(SPREAD, number(gain)),
        Some(Pacing::Blocks(blocks)) => one(BLOCKS, blocks.into()),
        Some(Pacing::LooseBlocks(blocks)) => one(LOOSE_BLOCKS, blocks.into()),
        Some(Pacing::Rate(rate)) => one(RATE, per_second(rate)),
    }
}

fn written_quantum(quantum: SendQuantum) -> Value {
    match quantum {
        SendQuantum::Packets(packets) => packets.into(),
        SendQuantum::Time(time) => span(time),
    }
}

fn written_path(saved: SavedPath) -> Value {
    Value::Object(object([("window", number(saved.window)), ("rtt", span(saved.rtt))]))
}

/// A name, or a table with `kind` and parameters where there are any. Code has its digest.
fn choice<T: Entry>(choice: &Choice<T>, parameters: &[Parameter], unit: LengthUnit) -> Value {
    let mut pairs = Map::new();
    match choice.entry.origin().and_then(|origin| origin.reference.as_ref()) {
        Some(code) => pairs.insert(code.form.key().into(), code.place.clone().into()),
        None => pairs.insert("kind".into(), choice.kind().into()),
    };
    if let Some(digest) = digest(&*choice.entry, &choice.settings) {
        pairs.insert(CODE.into(), digest.into());
    }
    for (name, setting) in choice.settings.iter() {
        let kind = parameters.iter().find(|parameter| parameter.name == name);
        let value = match (setting, kind.map(|parameter| &parameter.kind)) {
            (Setting::Number(value), Some(Kind::Frequency { .. })) => per_second(*value),
            (Setting::Number(value), _) => number(*value),
            (Setting::Count(count), _) => (*count).into(),
            (Setting::Span(value), _) => span(*value),
            (Setting::Length(length), _) => unit.show(*length).into(),
            (Setting::Flag(flag), _) => (*flag).into(),
            (Setting::Word(word), _) => word.clone().into(),
            (Setting::Entry(entry), _) => entry.name().into(),
        };
        pairs.insert(name.into(), value);
    }
    if pairs.len() == 1 { choice.kind().into() } else { Value::Object(pairs) }
}

fn spans(spans: &Spans) -> Value {
    let pair = |a: Span, b: Span| Value::Array(vec![span(a), span(b)]);
    match spans {
        Spans::Same(value) => span(*value),
        Spans::Each(values) => Value::Array(values.iter().copied().map(span).collect()),
        Spans::Spread(first, last) => one("spread", pair(*first, *last)),
        Spans::Uniform(low, high) => one("uniform", pair(*low, *high)),
    }
}

/// A group of flows, or a change of a link.
fn group(text: &mut String, heading: &str, group: &Value) {
    text.extend(["\n[[", heading, "]]\n"]);
    for (key, value) in pairs(group) {
        line(text, key, value);
    }
}

/// A link: its own keys under a heading, then its reverse direction under another.
fn table(text: &mut String, heading: &str, link: &Value) {
    text.extend(["\n[", heading, "]\n"]);
    for (key, value) in pairs(link).filter(|(key, _)| !matches!(*key, "reverse" | "change")) {
        line(text, key, value);
    }
    if let Some(reverse) = link.get("reverse") {
        table(text, &format!("{heading}.reverse"), reverse);
    }
    for change in link.get("change").and_then(Value::as_array).into_iter().flatten() {
        group(text, &format!("{heading}.change"), change);
    }
}

fn line(text: &mut String, key: &str, value: &Value) {
    text.extend([key, " = ", &inline(value), "\n"]);
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => shortest(float),
            _ => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(_) => {
            let pairs: Vec<String> =
                pairs(value).map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        // Texts are names, words and quantities: JSON writes those as TOML does.
        Value::String(_) | Value::Bool(_) | Value::Null => value.to_string(),
    }
}

/// The pairs of an object; empty for anything else.
fn pairs(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}
