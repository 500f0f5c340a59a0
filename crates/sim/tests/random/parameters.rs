//! Random parameters of controllers and queues, near their defaults.

use longfat_sim::Scenario;
use longfat_units::parameter::{Given, Kind, Parameter};
use longfat_units::split;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Which parameters are not at their defaults, and how far from them.
pub(super) type Draws = Vec<(Index, f64)>;

/// In half of all choices none.
pub(super) fn draws() -> impl Strategy<Value = Draws> {
    let draw = (any::<Index>(), select(&[0.2, 0.5, 0.9, 1.5, 4.0][..]));
    prop_oneof![Just(Vec::new()), prop::collection::vec(draw, 1..4)]
}

/// A choice as a table, such as `{ kind = "red", max_p = 0.05 }`. The parameters in `set` are left as they are there.
pub(super) fn table(kind: &str, set: &str, parameters: &[Parameter], draws: &Draws) -> String {
    let mut keys = vec![format!("kind = \"{kind}\"")];
    keys.extend((!set.is_empty()).then(|| set.to_string()));
    let mut chosen = Vec::new();
    for (index, factor) in draws.iter().filter(|_| !parameters.is_empty()) {
        let parameter = index.get(parameters);
        let name = &parameter.name;
        if chosen.contains(name)
            || set.split(", ").any(|key| key.split(' ').next() == Some(&**name))
        {
            continue;
        }
        chosen.push(name.clone());
        keys.extend(value(parameter, *factor).map(|value| format!("{name} = {value}")));
    }
    format!("{{ {} }}", keys.join(", "))
}

/// A flow with this controller behind this queue, if the parameters of each go together.
pub(super) fn tried(control: &str, queue: &str) -> Option<Scenario> {
    let text = format!(
        "duration = \"1 s\"\n[link.l]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"7 packets\"\nbdp = \"150 ms\"\n\
         queue = {queue}\n[[flow]]\nname = \"f\"\ncontrol = {control}\npath = [\"l\"]\nrtt = \"2 ms\"\n\
         access = \"25 Mbit/s\"\n"
    );
    Scenario::read(&text, "tried.toml", &[], None).ok()
}

/// Another value than the default, if there is one.
fn value(parameter: &Parameter, factor: f64) -> Option<String> {
    let scaled = |number: f64| number * factor;
    match (&parameter.kind, &parameter.default) {
        (Kind::Number { min, max } | Kind::NumberOr { min, max, .. }, Given::Number(number)) => {
            Some(scaled(*number).clamp(*min, *max).to_string())
        }
        (Kind::Count { min, max }, Given::Number(number)) => {
            Some((scaled(*number).round() as u64).clamp(*min, *max).to_string())
        }
        (Kind::Frequency { min, max }, Given::Number(number)) => {
            Some(format!("\"{} /s\"", scaled(*number).clamp(*min, *max)))
        }
        (Kind::Flag, Given::Flag(flag)) => Some((!flag).to_string()),
        (Kind::Word(words) | Kind::NumberOr { words, .. }, Given::Text(_)) => {
            let place = (factor * 10.0) as usize % words.len().max(1);
            words.get(place).map(|word| format!("\"{word}\""))
        }
        (Kind::Span | Kind::Length | Kind::Frequency { .. }, Given::Text(text)) => {
            let (number, unit) = split(text);
            Some(format!("\"{} {unit}\"", scaled(number.trim().parse().ok()?)))
        }
        _ => None,
    }
}
