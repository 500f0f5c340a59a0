//! Single values: quantities with their units, counts, numbers, flags, words, names.

use std::fmt::Display;
use std::str::FromStr;

use longfat_units::parameter::shortest;
use longfat_units::{Bytes, PICOSECONDS_PER_SECOND, Rate, Span, UnitError, split, ungrouped};

use crate::ACK;
use crate::error::{Place, Problem, did_you_mean, quoted};
use crate::fields::Field;
use crate::tree::{Node, Value};

/// The word for the absence of a bound.
pub(crate) const NONE: &str = "none";

/// No delay or round trip may be longer, so that sums of a few of them and the duration fit in the clock.
pub(crate) const LONGEST_WAIT: Span = Span::from_seconds(24 * 3600);

/// The highest rate: at more, the smallest packet would take less than a step of the clock.
pub(crate) const HIGHEST_RATE: Rate = Rate(ACK.0 * 8 * PICOSECONDS_PER_SECOND);

/// Longer names are not worth suggesting.
const NAME: usize = 40;
/// Every flow of a group carries its name.
const LONGEST_NAME: usize = 200;

/// Keys of times that are usually some seconds; others are usually some milliseconds.
const IN_SECONDS: &[&str] = &[
    "duration",
    "warmup",
    "start",
    "stop",
    "at",
    "every",
    "on",
    "off",
    "think",
    "chunk",
    "buffer",
    "reservoir",
    "cushion",
];

/// A quantity written with a unit.
pub(crate) trait Quantity: FromStr<Err = UnitError> + Display {
    /// What messages call it, with its article.
    const WHAT: &'static str;
    /// A typical value.
    const EXAMPLE: &'static str;
    /// The unit that a bare `number` under `key` probably has.
    fn unit(key: &str, number: f64) -> &'static str;
}

impl Quantity for Span {
    const WHAT: &'static str = "a time";
    const EXAMPLE: &'static str = "10 ms";
    fn unit(key: &str, number: f64) -> &'static str {
        if IN_SECONDS.contains(&key) || (number > 0.0 && number < 1.0) { "s" } else { "ms" }
    }
}

impl Quantity for Rate {
    const WHAT: &'static str = "a rate";
    const EXAMPLE: &'static str = "10 Gbit/s";
    fn unit(_: &str, number: f64) -> &'static str {
        match number {
            ..=100.0 => "Gbit/s",
            ..1e5 => "Mbit/s",
            _ => "bit/s",
        }
    }
}

impl Quantity for Bytes {
    const WHAT: &'static str = "a size";
    const EXAMPLE: &'static str = "1500 B";
    fn unit(_: &str, _: f64) -> &'static str {
        "B"
    }
}

/// A finite number that is not negative.
pub(crate) fn plain_number(text: &str) -> Option<f64> {
    let number: f64 = ungrouped(text)?.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// A quantity with its unit.
pub(crate) fn quantity<Q: Quantity>(field: Field<'_>) -> Result<Q, Problem> {
    with_unit(field, |number| Q::unit(field.name, number))
}

/// A time that is usually something like `usual`, a time as it would be written.
pub(crate) fn span_like(field: Field<'_>, usual: &str) -> Result<Span, Problem> {
    with_unit(field, |number| {
        let (value, unit) = split(usual);
        // Far less than usual was probably written in seconds: 0.005 for 5 ms.
        let tiny = plain_number(value).is_some_and(|value| number < value / 20.0);
        if unit.is_empty() || (number > 0.0 && number < 1.0 && tiny) { "s" } else { unit }
    })
}

/// A quantity with its unit; `probable` is the unit that a bare number probably has.
fn with_unit<'u, Q: Quantity>(
    field: Field<'_>,
    probable: impl FnOnce(f64) -> &'u str,
) -> Result<Q, Problem> {
    let bare = match &field.node.value {
        Value::Text(text) => plain_number(text.trim()),
        _ => field.node.number(),
    };
    if let Some(number) = bare {
        let unit = probable(number);
        let problem = no_unit(field, number, Q::WHAT, unit);
        // 1e9 is better written as 1 Gbit/s.
        return Err(match format!("{} {unit}", shortest(number)).parse::<Q>() {
            Ok(quantity) if number >= 1e5 => problem.help(format!("write \"{quantity}\"")),
            _ => problem,
        });
    }
    match &field.node.value {
        Value::Text(text) => text.parse().map_err(|error| unit_problem(field, error)),
        _ => Err(field.wrong(&format!("{} such as \"{}\"", Q::WHAT, Q::EXAMPLE))),
    }
}

/// A bare `number` where `what`, which has a unit, was expected.
pub(crate) fn no_unit(field: Field<'_>, number: f64, what: &str, unit: &str) -> Problem {
    if !(number.is_finite() && number >= 0.0) {
        return field.wrong(&format!("{what} with its unit"));
    }
    let number = shortest(number);
    field
        .problem(format!("`{}` is {what}, and the number {number} has no unit", field.name))
        .help(format!("write \"{number} {unit}\""))
}

/// An error from the reader of quantities, in our form.
pub(crate) fn unit_problem(field: Field<'_>, error: UnitError) -> Problem {
    field
        .problem(quoted_reason(&error.reason))
        .maybe_help(error.suggestion.map(|text| format!("write \"{}\"", quoted(&text))))
}

/// A reason that may repeat a long or odd text from the file.
fn quoted_reason(reason: &str) -> String {
    match (reason.find('`'), reason.rfind('`')) {
        (Some(first), Some(last)) if first < last => {
            let (before, after) = (&reason[..=first], &reason[last..]);
            format!("{before}{}{after}", quoted(&reason[first + 1..last]))
        }
        _ => reason.into(),
    }
}

/// A value, or `None` if "none" is written.
pub(crate) fn unless_none<T>(
    field: Field<'_>,
    read: impl FnOnce(Field<'_>) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    if field.node.text() == Some(NONE) { Ok(None) } else { read(field).map(Some) }
}

/// A delay, round trip or other waiting time.
pub(crate) fn wait(field: Field<'_>) -> Result<Span, Problem> {
    let span: Span = quantity(field)?;
    if span > LONGEST_WAIT {
        return Err(
            field.problem(format!("`{}` is {span}, but it can be at most one day", field.name))
        );
    }
    Ok(span)
}

/// A rate at which packets can be sent.
pub(crate) fn rate(field: Field<'_>) -> Result<Rate, Problem> {
    let rate: Rate = quantity(field)?;
    if rate.0 == 0 {
        return Err(field.problem(format!("`{}` must be larger than zero", field.name)));
    }
    if rate > HIGHEST_RATE {
        return Err(field.problem(format!(
            "at {rate} a packet of {ACK} takes less than a picosecond, the step of the clock"
        )));
    }
    Ok(rate)
}

/// A whole number within inclusive bounds. A decimal such as `1e6` will do if it is whole.
pub(crate) fn count(field: Field<'_>, min: u64, max: u64) -> Result<u64, Problem> {
    let number = match field.node.value {
        Value::Integer(number) => u64::try_from(number).ok(),
        Value::Float(number) if number.fract() == 0.0 && (0.0..9e15).contains(&number) => {
            Some(number as u64)
        }
        _ => None,
    };
    match number {
        Some(number) if (min..=max).contains(&number) => Ok(number),
        _ => {
            let top = if max == u64::MAX { f64::INFINITY } else { max as f64 };
            let wanted = bounds("a whole number", min as f64, top);
            Err(field.wrong(&wanted).maybe_help(unquoted(field.node)))
        }
    }
}

/// A number within inclusive bounds.
pub(crate) fn number(field: Field<'_>, min: f64, max: f64) -> Result<f64, Problem> {
    match field.node.number() {
        Some(number) if number.is_finite() && min <= number && number <= max => Ok(number),
        _ => Err(field.wrong(&bounds("a number", min, max)).maybe_help(unquoted(field.node))),
    }
}

/// A number per second, such as `"10 /s"`.
pub(crate) fn frequency(field: Field<'_>, min: f64, max: f64) -> Result<f64, Problem> {
    let wanted =
        || field.wrong(&format!("{} per second, such as \"10 /s\"", bounds("a number", min, max)));
    let Some(text) = field.node.text() else {
        return Err(match field.node.number() {
            Some(number) => no_unit(field, number, "a number per second", "/s"),
            None => wanted(),
        });
    };
    match split(text) {
        (digits, "/s") => plain_number(digits)
            .filter(|number| min <= *number && *number <= max)
            .ok_or_else(wanted),
        (digits, _) => {
            Err(wanted().maybe_help(plain_number(digits).map(|_| format!("write \"{digits} /s\""))))
        }
    }
}

/// A number per second as written in a scenario file.
pub(crate) fn write_frequency(number: f64) -> String {
    format!("{} /s", shortest(number))
}

/// "a number from 0 to 1", "a number of at least 2".
pub(crate) fn bounds(what: &str, min: f64, max: f64) -> String {
    let least = match min {
        _ if min <= f64::MIN => None,
        _ if min == f64::MIN_POSITIVE => Some("above 0".to_string()),
        _ => Some(shortest(min)),
    };
    let most = (max < f64::MAX).then(|| shortest(max));
    match (least, most) {
        (Some(least), Some(most)) if min == f64::MIN_POSITIVE => {
            format!("{what} {least} and at most {most}")
        }
        (Some(least), None) if min == f64::MIN_POSITIVE => format!("{what} {least}"),
        (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
        (Some(least), None) => format!("{what} of at least {least}"),
        (None, Some(most)) => format!("{what} of at most {most}"),
        (None, None) => what.into(),
    }
}

/// A number or a flag in quotation marks.
fn unquoted(node: &Node) -> Option<String> {
    let text = node.text()?.trim();
    let plain = text.parse::<f64>().is_ok_and(f64::is_finite) || matches!(text, "true" | "false");
    plain.then(|| format!("write {text} without quotation marks"))
}

/// True or false.
pub(crate) fn flag(field: Field<'_>) -> Result<bool, Problem> {
    match field.node.value {
        Value::Flag(flag) => Ok(flag),
        _ => Err(field.wrong("true or false").maybe_help(unquoted(field.node))),
    }
}

/// One of a list of words.
pub(crate) fn word<'w>(field: Field<'_>, words: &'w [impl AsRef<str>]) -> Result<&'w str, Problem> {
    let given = field.node.text().unwrap_or_default();
    let known = words.iter().map(AsRef::as_ref);
    known
        .clone()
        .find(|word| *word == given)
        .ok_or_else(|| field.wrong(&one_of(words)).maybe_help(did_you_mean(given, known)))
}

/// The value of one of these words.
pub(crate) fn named<T: Copy>(field: Field<'_>, names: &[(&'static str, T)]) -> Result<T, Problem> {
    let words: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let given = word(field, &words)?;
    let (_, value) = names.iter().find(|(name, _)| *name == given).expect("it is one of them");
    Ok(*value)
}

/// `"a", "b" or "c"`.
pub(crate) fn one_of(words: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.as_ref())).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}

/// A name of `what`, which includes its article.
pub(crate) fn name<'a>(text: &'a str, place: Place, what: &str) -> Result<&'a str, Problem> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if text.is_empty() || !text.chars().all(plain) {
        let reason = format!(
            "`{}` cannot be the name of {what}: a name is made of letters, digits, `_` and `-`",
            quoted(text)
        );
        let better: String = text.chars().map(|c| if plain(c) { c } else { '-' }).collect();
        let better = better.trim_matches('-');
        let help = (1..=NAME).contains(&better.len()).then(|| format!("write \"{better}\""));
        return Err(Problem::new(place, reason).maybe_help(help));
    }
    if text.len() > LONGEST_NAME {
        let reason = format!(
            "`{}` cannot be the name of {what}: it has {} letters, and {LONGEST_NAME} are the most",
            quoted(text),
            text.len()
        );
        return Err(Problem::new(place, reason));
    }
    Ok(text)
}
