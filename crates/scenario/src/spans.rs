//! One time for each flow of a group: the same, evenly spaced, listed, or drawn.

use longfat_units::Span;

use crate::Spans;
use crate::error::Problem;
use crate::fields::{Field, plural};
use crate::tree::Value;

const ASKED: &str = "a time, a list of times, { spread = [\"60 ms\", \"100 ms\"] } or \
                     { uniform = [\"60 ms\", \"100 ms\"] }";

/// Reads times for `count` flows; `read` reads each of them.
pub(crate) fn spans(
    field: Field<'_>,
    count: Option<u64>,
    read: fn(Field<'_>) -> Result<Span, Problem>,
) -> Result<Spans, Problem> {
    match &field.node.value {
        Value::Text(_) | Value::Integer(_) | Value::Float(_) => read(field).map(Spans::Same),
        Value::List(items) => {
            let spans = items
                .iter()
                .map(|node| read(Field { name: field.name, node }))
                .collect::<Result<Vec<Span>, Problem>>()?;
            match count {
                Some(count) if count != spans.len() as u64 => Err(field
                    .problem(format!(
                        "`{}` lists {} for {}",
                        field.name,
                        plural(spans.len() as u64, "time"),
                        plural(count, "flow")
                    ))
                    .help(format!("list one for each flow, or set `count = {}`", spans.len()))),
                _ if spans.is_empty() => Err(field.wrong(ASKED)),
                _ => Ok(Spans::Each(spans)),
            }
        }
        Value::Table(_) => distribution(field, count, read),
        _ => Err(field.wrong(ASKED)),
    }
}

/// `{ spread = [a, b] }` or `{ uniform = [a, b] }`.
fn distribution(
    field: Field<'_>,
    count: Option<u64>,
    read: fn(Field<'_>) -> Result<Span, Problem>,
) -> Result<Spans, Problem> {
    let inner = field.only("a range of times", &["spread", "uniform"])?;
    let name = inner.name;
    let Some([first, last]) = inner.node.list() else {
        return Err(inner
            .wrong("a list of two times")
            .help(format!("write {name} = [\"60 ms\", \"100 ms\"]")));
    };
    let first = read(Field { name: field.name, node: first })?;
    let last = read(Field { name: field.name, node: last })?;
    if name == "spread" {
        // A single flow has nothing to spread over: it takes the first time, and so does everything that asks for the
        // times.
        let alone = count == Some(1);
        return Ok(if alone { Spans::Same(first) } else { Spans::Spread(first, last) });
    }
    if first > last {
        return Err(inner
            .problem(format!(
                "nothing can be drawn between {first} and {last}: the smaller must come first"
            ))
            .help(format!("write [\"{last}\", \"{first}\"]")));
    }
    Ok(Spans::Uniform(first, last))
}

/// A problem with the times for which `wrong` holds, placed at the first one in a list; `reason` is passed that time.
pub(crate) fn extent_problem(
    field: Field<'_>,
    spans: &Spans,
    wrong: impl Fn(Span) -> bool,
    reason: impl Fn(Span) -> String,
) -> Problem {
    if let (Spans::Each(list), Some(nodes)) = (spans, field.node.list())
        && let Some(at) = list.iter().position(|&span| wrong(span))
    {
        return Field { name: field.name, node: &nodes[at] }.problem(reason(list[at]));
    }
    let extremes = [spans.least(), spans.greatest()];
    let at = extremes.into_iter().find(|&span| wrong(span)).unwrap_or_default();
    field.problem(reason(at))
}
