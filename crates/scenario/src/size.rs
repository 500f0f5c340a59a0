//! How much a flow has to send: one amount, or a distribution of amounts.

use longfat_units::parameter::shortest;
use longfat_units::{Bytes, split, ungrouped};
use serde_json::Value as Json;

use crate::Size;
use crate::error::{Problem, Problems, quoted};
use crate::fields::{Field, Fields};
use crate::lengths::UNLIMITED;
use crate::tree::Value;
use crate::value::{NONE, number, plain_number, quantity};
use crate::written::{number as written, object, one};

const ASKED: &str = "a size such as \"10 MB\" or \"1000 packets\"";
const FAMILIES: &[&str] = &["pareto", "exponential", "lognormal", "uniform"];

/// The largest mean size of short flows: 1 TB takes 80 s at 100 Gbit/s.
const LARGEST: Bytes = Bytes(1_000_000_000_000);
/// The largest standard deviation of the logarithm of a size. One deviation already spans more than all the sizes there
/// are.
const LARGEST_SIGMA: f64 = 10.0;

/// A size in bytes, or in packets of the flow.
pub(crate) fn amount(field: Field<'_>, packet: Option<Bytes>) -> Result<Bytes, Problem> {
    match split(field.node.text().unwrap_or_default()) {
        (digits, "packets" | "packet") => {
            let count = ungrouped(digits).and_then(|plain| plain.parse::<u64>().ok());
            let count = count.ok_or_else(|| {
                field.problem(format!("`{}` is not a whole number of packets", quoted(digits)))
            })?;
            let bytes = count.checked_mul(known(packet).0).map(Bytes);
            bytes.ok_or_else(|| {
                field.problem(format!("`{}` is larger than can be counted", field.name))
            })
        }
        (_, "") => Err(without_unit(field)),
        _ => quantity(field),
    }
}

/// If the packet size has a problem of its own, any size will do.
fn known(packet: Option<Bytes>) -> Bytes {
    packet.unwrap_or(Bytes(1))
}

fn without_unit(field: Field<'_>) -> Problem {
    let number = field.node.number().filter(|number| *number >= 1.0);
    let help = number.map(|number| format!("write \"{} packets\"", shortest(number)));
    field.wrong(ASKED).maybe_help(help)
}

/// Reads the sizes of short flows.
pub(crate) fn size(
    field: Field<'_>,
    packet: Option<Bytes>,
    problems: &mut Problems,
) -> Option<Size> {
    if matches!(field.node.text(), Some(UNLIMITED | NONE)) {
        let reason = "short flows end: each has a given amount to send";
        problems.add(field.problem(reason).help("write a size, or use [[flow]]"));
        return None;
    }
    if !matches!(field.node.value, Value::Table(_)) {
        return problems.keep(bounded(field, packet)).map(Size::Fixed);
    }
    let inner = problems.keep(field.only("a size distribution", FAMILIES))?;
    if inner.name == "uniform" {
        return problems.keep(uniform(inner, packet));
    }
    let (class, keys, example): (_, &[&str], _) = match inner.name {
        "pareto" => {
            ("a Pareto distribution", &["mean", "shape"], "{ mean = \"30 packets\", shape = 1.35 }")
        }
        "lognormal" => (
            "a log-normal distribution",
            &["mean", "sigma"],
            "{ mean = \"30 packets\", sigma = 1 }",
        ),
        _ => ("an exponential distribution", &["mean"], "{ mean = \"30 packets\" }"),
    };
    let Some(table) = inner.node.table() else {
        problems.add(inner.wrong(&format!("a table such as {example}")));
        return None;
    };
    let owner = format!("`{}`", inner.name);
    let fields = Fields { owner, class, home: inner.node.place, keys, table };
    fields.refuse_strangers(problems);
    let mean =
        fields.required("mean", "mean = \"30 packets\"", problems, |field| mean(field, packet));
    match inner.name {
        "pareto" => {
            let shape = fields.required("shape", "shape = 1.35", problems, shape);
            Some(Size::Pareto { mean: mean?, shape: shape? })
        }
        "lognormal" => {
            let sigma = fields.required("sigma", "sigma = 1", problems, |field| {
                number(field, 0.0, LARGEST_SIGMA)
            });
            Some(Size::LogNormal { mean: mean?, sigma: sigma? })
        }
        _ => Some(Size::Exponential { mean: mean? }),
    }
}

/// An amount that a short flow can have.
fn bounded(field: Field<'_>, packet: Option<Bytes>) -> Result<Bytes, Problem> {
    let bytes = amount(field, packet)?;
    within_bounds(field, bytes.0 as f64)?;
    Ok(bytes)
}

fn within_bounds(field: Field<'_>, bytes: f64) -> Result<(), Problem> {
    if bytes < 1.0 {
        return Err(field.problem("a flow with nothing to send does nothing"));
    }
    if bytes > LARGEST.0 as f64 {
        let name = field.name;
        return Err(field
            .problem(format!("`{name}` is more than a short flow may send: at most {LARGEST}")));
    }
    Ok(())
}

/// The mean of a distribution in bytes, which need not be whole.
fn mean(field: Field<'_>, packet: Option<Bytes>) -> Result<f64, Problem> {
    let (digits, unit) = split(field.node.text().unwrap_or_default());
    let counted = || {
        let problem = || field.problem(format!("`{}` is not a number", quoted(digits)));
        plain_number(digits).ok_or_else(problem)
    };
    let bytes = match unit {
        "packets" | "packet" => counted()? * known(packet).0 as f64,
        "B" => counted()?,
        "" => return Err(without_unit(field)),
        _ => quantity::<Bytes>(field)?.0 as f64,
    };
    within_bounds(field, bytes)?;
    Ok(bytes)
}

/// The shape of a Pareto distribution.
pub(crate) fn shape(field: Field<'_>) -> Result<f64, Problem> {
    let shape = number(field, f64::MIN, f64::MAX)?;
    if shape <= 1.0 {
        return Err(field
            .problem(format!("a Pareto distribution of shape {} has no mean", shortest(shape)))
            .help("write a number above 1"));
    }
    Ok(shape)
}

/// Two bounds, the smaller one first.
fn uniform(field: Field<'_>, packet: Option<Bytes>) -> Result<Size, Problem> {
    let Some([low, high]) = field.node.list() else {
        let help = "write uniform = [\"10 kB\", \"100 kB\"]";
        return Err(field.wrong("a list of two sizes").help(help));
    };
    let bound = |node| bounded(Field { name: field.name, node }, packet);
    let (low, high) = (bound(low)?, bound(high)?);
    if low > high {
        return Err(field
            .problem(format!(
                "nothing can be drawn between {low} and {high}: the smaller must come first"
            ))
            .help(format!("write [\"{high}\", \"{low}\"]")));
    }
    Ok(Size::Uniform(low, high))
}

/// A size, or a distribution of sizes, as written in a scenario file.
pub(crate) fn write_size(size: &Size) -> Json {
    let mean = |mean: f64| ("mean", Json::from(write_mean(mean)));
    match *size {
        Size::Fixed(bytes) => bytes.to_string().into(),
        Size::Pareto { mean: bytes, shape } => {
            one("pareto", Json::Object(object([mean(bytes), ("shape", written(shape))])))
        }
        Size::Exponential { mean: bytes } => {
            one("exponential", Json::Object(object([mean(bytes)])))
        }
        Size::LogNormal { mean: bytes, sigma } => {
            one("lognormal", Json::Object(object([mean(bytes), ("sigma", written(sigma))])))
        }
        Size::Uniform(low, high) => {
            one("uniform", Json::Array([low, high].map(|size| size.to_string().into()).into()))
        }
    }
}

/// A mean as written in a scenario file.
fn write_mean(mean: f64) -> String {
    if mean.fract() == 0.0 {
        Bytes(mean as u64).to_string()
    } else {
        format!("{} B", shortest(mean))
    }
}
