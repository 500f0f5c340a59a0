//! Short flows: how often they arrive, when they begin and end, and how much they send.

use longfat_units::parameter::shortest;
use longfat_units::{Rate, Span, split};

use crate::error::{Problem, Problems};
use crate::fields::Field;
use crate::group::{Common, Draft, GroupContext, Sort, refuse_late_start};
use crate::size::size;
use crate::spans::spans;
use crate::transport::with_transport;
use crate::tree::{Node, Value};
use crate::value::{count, frequency, plain_number, quantity, unless_none, wait};
use crate::{Size, Spans, TrafficGroup};

pub(crate) const TRAFFIC: Sort = Sort {
    key: "traffic",
    class: "traffic",
    another: "other traffic",
    example: "web",
    keys: with_transport![
        "name", "control", "path", "reverse", "arrivals", "count", "size", "rtt", "start", "stop"
    ],
};

/// Arrivals per second: from one in 30 years, which is more than none, to one in each nanosecond.
const FEWEST: f64 = 1e-9;
const MOST: f64 = 1e9;
/// Ten times what the link can carry has the same effect as any larger load.
const HEAVIEST: f64 = 10.0;

/// Arrivals as written.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    /// This many per second.
    Poisson(f64),
    /// As many as it takes to fill this share of the first link.
    Load(f64),
}

/// Reads one `[[traffic]]`.
pub(crate) fn traffic(
    node: &Node,
    context: GroupContext<'_>,
    problems: &mut Problems,
) -> Option<TrafficGroup> {
    let draft = Draft::new(TRAFFIC, node, problems)?;
    let fields = draft.fields(problems);
    let common = Common::read(&fields, TRAFFIC, context, problems);
    let rtt = common.round_trips(&fields, context, problems, drawn);
    let count = fields
        .or("count", None, problems, |field| unless_none(field, |field| count(field, 1, u64::MAX)));
    let start = fields.or("start", Span::ZERO, problems, start);
    if let Some(start) = start {
        refuse_late_start(&fields, &Spans::Same(start), context, problems);
    }
    let stop = fields.or("stop", None, problems, |field| stop(field, start));
    let packet = common.transport.as_ref().map(|transport| transport.packet);
    let size = fields
        .need("size", "size = \"100 kB\"", problems)
        .and_then(|field| size(field, packet, problems));
    let path = common.travel();
    let field = fields.need("arrivals", "arrivals = { poisson = \"10 /s\" }", problems);
    let arrivals = field.and_then(|field| {
        let (field, arrivals) = problems.keep(arrivals(field))?;
        let first = path.as_ref().and_then(|path| path.first());
        let rate = first.and_then(|hop| context.links.draft(hop.link)?.rate(hop.reverse));
        problems.keep(per_second(field, arrivals, rate, size.as_ref()))?
    });
    Some(TrafficGroup {
        name: common.name?,
        control: common.control?,
        path: path?,
        reverse: common.reverse?,
        arrivals: arrivals?,
        count: count?,
        size: size?,
        rtt: rtt?,
        start: start?,
        stop: stop?,
        transport: common.transport?,
    })
}

/// One round trip, or a range to draw from.
fn drawn(field: Field<'_>) -> Result<Spans, Problem> {
    let help = "write one time, or { uniform = [\"60 ms\", \"100 ms\"] }";
    let names: Vec<&str> =
        field.node.table().map(|table| table.names().collect()).unwrap_or_default();
    match &field.node.value {
        Value::List(_) => Err(field
            .problem("short flows arrive at random, so nothing says which time of a list belongs to which flow")
            .help(help)),
        Value::Table(_) if names == ["spread"] => Err(field
            .problem(
                "short flows arrive at random, so there is no first and no last flow to spread times between",
            )
            .help(help)),
        Value::Table(_) => {
            field.only("a range of times", &["uniform"])?;
            spans(field, None, wait)
        }
        _ => spans(field, None, wait),
    }
}

/// When arrivals begin: at one time for the whole group.
fn start(field: Field<'_>) -> Result<Span, Problem> {
    match field.node.value {
        Value::List(_) | Value::Table(_) => {
            Err(field.wrong("one time, at which arrivals begin").help("write start = \"10 s\""))
        }
        _ => quantity(field),
    }
}

/// When arrivals end: after they begin.
fn stop(field: Field<'_>, start: Option<Span>) -> Result<Option<Span>, Problem> {
    let stop: Option<Span> = unless_none(field, quantity)?;
    match (stop, start) {
        (Some(stop), Some(start)) if stop <= start => {
            Err(field.problem(format!("arrivals cannot end at {stop} when they begin at {start}")))
        }
        _ => Ok(stop),
    }
}

/// How many arrive, and where that is stated.
fn arrivals(field: Field<'_>) -> Result<(Field<'_>, Arrivals), Problem> {
    if field.node.table().is_none() {
        let wanted = "{ poisson = \"10 /s\" } or { load = \"10 %\" }";
        let text = field.node.text().unwrap_or_default().trim();
        let help = match split(text) {
            (digits, "/s") if plain_number(digits).is_some() => {
                Some(format!("write {{ poisson = \"{text}\" }}"))
            }
            (digits, "%") if plain_number(digits).is_some() => {
                Some(format!("write {{ load = \"{text}\" }}"))
            }
            _ => None,
        };
        return Err(field.wrong(wanted).maybe_help(help));
    }
    let inner = field.only("an arrival process", &["poisson", "load"])?;
    let arrivals = match inner.name {
        "poisson" => frequency(inner, FEWEST, MOST).map(Arrivals::Poisson),
        _ => load(inner).map(Arrivals::Load),
    };
    Ok((inner, arrivals?))
}

/// A share of a link: `"10 %"`, or 0.1. A bare number above 1 may be either, and is refused.
fn load(field: Field<'_>) -> Result<f64, Problem> {
    let wanted = || field.wrong("a share of the first link such as \"10 %\" or 0.1");
    let load = match (field.node.number(), field.node.text().map(split)) {
        (Some(number), _) if number > 1.0 && number.is_finite() => {
            let (share, times) = (shortest(number), shortest(number * 100.0));
            return Err(wanted().help(format!("write \"{share} %\", or else \"{times} %\"")));
        }
        (Some(number), _) => Some(number),
        (None, Some((digits, "%"))) => plain_number(digits).map(|percent| percent / 100.0),
        (None, _) => None,
    };
    let load = load.filter(|load| *load >= 0.0).ok_or_else(wanted)?;
    if load <= 0.0 {
        return Err(field.problem("at a load of zero no flow ever arrives"));
    }
    if load > HEAVIEST {
        return Err(field
            .problem("this load is more than ten times what the link can carry")
            .help("write at most \"1000 %\""));
    }
    Ok(load)
}

/// Arrivals per second; `None` if what the load refers to is unknown.
fn per_second(
    field: Field<'_>,
    arrivals: Arrivals,
    rate: Option<Rate>,
    size: Option<&Size>,
) -> Result<Option<f64>, Problem> {
    let load = match arrivals {
        Arrivals::Poisson(number) => return Ok(Some(number)),
        Arrivals::Load(load) => load,
    };
    let (Some(rate), Some(size)) = (rate, size) else { return Ok(None) };
    let number = load * rate.0 as f64 / (8.0 * size.mean());
    if (FEWEST..=MOST).contains(&number) {
        return Ok(Some(number));
    }
    Err(field.problem(format!(
        "this load makes {} arrivals per second, but only a number from {} to {} can be simulated",
        shortest(number),
        shortest(FEWEST),
        shortest(MOST)
    )))
}
