//! Queue lengths: from packets, bytes, times and bandwidth-delay products to the unit in which a queue counts.

use longfat_queue::{Capacity, LengthUnit};
use longfat_units::parameter::{Setting, Settings, shortest};
use longfat_units::{Bytes, Rate, Span, split};

use crate::error::{Problem, quoted};
use crate::fields::Field;
use crate::tree::Value;
use crate::value::{plain_number, unit_problem, wait};

/// The word for a queue without limit.
pub(crate) const UNLIMITED: &str = "unlimited";

/// More than any queue holds; whoever asks for more meant unlimited.
const LONGEST: f64 = 1e15;

/// What a queue with these settings and this capacity counts: decided by its `mode`, or else by its buffer.
pub(crate) fn unit_of(settings: &Settings, capacity: Capacity) -> LengthUnit {
    match settings.get("mode") {
        Some(Setting::Word(mode)) if mode == "bytes" => LengthUnit::Bytes,
        Some(Setting::Word(mode)) if mode == "packets" => LengthUnit::Packets,
        _ => LengthUnit::of(capacity),
    }
}

/// A queue length as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Length {
    Packets(f64),
    Bytes(f64),
    /// As much as arrives in this time.
    Time(Span),
    /// This many bandwidth-delay products.
    Bdp(f64),
    /// This share of the buffer.
    Buffer(f64),
    Unlimited,
}

/// What converts a length as written into the unit that counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ruler {
    /// The rate of the link.
    pub(crate) rate: Rate,
    /// The round trip behind `bdp`.
    pub(crate) bdp: Option<Span>,
    /// The largest packet that crosses.
    pub(crate) packet: Bytes,
}

/// Reads a threshold or the like, in any unit, including shares of the buffer.
pub(crate) fn length(field: Field<'_>) -> Result<Length, Problem> {
    match read(field)? {
        Length::Unlimited => Err(field.wrong(ASKED)),
        length => Ok(length),
    }
}

/// Reads a buffer: whole packets or bytes, and more than none.
pub(crate) fn buffer(field: Field<'_>) -> Result<Length, Problem> {
    let length = read(field)?;
    let fraction = |number: f64| number.fract() != 0.0;
    match length {
        Length::Buffer(_) => Err(field.wrong(ASKED)),
        Length::Packets(0.0) | Length::Bytes(0.0) | Length::Bdp(0.0) | Length::Time(Span::ZERO) => {
            Err(field.problem("a buffer must hold at least one packet"))
        }
        Length::Packets(number) | Length::Bytes(number) if fraction(number) => {
            Err(field.problem("a buffer holds a whole number of packets or bytes"))
        }
        length => Ok(length),
    }
}

const ASKED: &str = "a length such as \"5000 packets\", \"1 bdp\", \"5 MB\" or \"50 ms\"";

fn read(field: Field<'_>) -> Result<Length, Problem> {
    let text = match &field.node.value {
        Value::Text(text) => text.trim(),
        _ => return Err(field.wrong(ASKED).maybe_help(in_packets(field))),
    };
    if text == UNLIMITED {
        return Ok(Length::Unlimited);
    }
    let (number, unit) = split(text);
    let counted = |make: fn(f64) -> Length| match plain_number(number) {
        Some(number) => Ok(make(number)),
        None if number.starts_with('-') => Err(field.problem(format!(
            "`{}` is not a length that can be used: it must not be negative",
            quoted(text)
        ))),
        None => Err(field.problem(format!("`{}` is not a number", quoted(number)))),
    };
    match unit {
        "packets" | "packet" => counted(Length::Packets),
        "bdp" => counted(Length::Bdp),
        "buffer" => counted(Length::Buffer),
        "B" => counted(Length::Bytes),
        _ if unit.ends_with('B') => {
            let bytes: Bytes = text.parse().map_err(|error| unit_problem(field, error))?;
            Ok(Length::Bytes(bytes.0 as f64))
        }
        "h" | "min" | "s" | "ms" | "us" | "µs" | "μs" | "ns" | "ps" => {
            wait(field).map(Length::Time)
        }
        _ => Err(field.wrong(ASKED).maybe_help(repaired(number, unit))),
    }
}

/// A bare number of packets, as most tools write it.
fn in_packets(field: Field<'_>) -> Option<String> {
    let number = field.node.number().filter(|number| number.is_finite() && *number >= 0.0)?;
    Some(format!("write \"{} packets\"", shortest(number)))
}

/// The spelling that was probably meant.
fn repaired(number: &str, unit: &str) -> Option<String> {
    let unit = match unit.to_lowercase().as_str() {
        "bdp" | "bdps" => "bdp",
        "" | "p" | "pkt" | "pkts" | "packets" | "packet" | "segments" => "packets",
        "kb" => "kB",
        "mb" => "MB",
        "gb" => "GB",
        "byte" | "bytes" => "B",
        _ => return None,
    };
    plain_number(number)?;
    Some(format!("write \"{number} {unit}\""))
}

/// `number` rounded up, except that a hair above a whole number is that number: 0.07 × 100 is 7, though not in binary.
fn whole_above(number: f64) -> f64 {
    let nearest = number.round();
    if (number - nearest).abs() <= 1e-9 * nearest.max(1.0) { nearest } else { number.ceil() }
}

impl Ruler {
    /// How much a buffer holds, in the unit that the queue asks for, if any.
    pub(crate) fn capacity(
        &self,
        field: Field<'_>,
        buffer: Length,
        unit: Option<LengthUnit>,
    ) -> Result<Capacity, Problem> {
        let packet = self.packet.0 as f64;
        let unit = unit.unwrap_or(match buffer {
            Length::Bytes(_) | Length::Time(_) => LengthUnit::Bytes,
            _ => LengthUnit::Packets,
        });
        let length = match buffer {
            Length::Unlimited => return Ok(Capacity::Unbounded),
            // Rounded up, so that "1 bdp" never holds less than it says, and never nothing at all.
            Length::Bdp(_) => {
                let floor = if unit == LengthUnit::Packets { 1.0 } else { packet };
                whole_above(self.measure(field, buffer, unit, None)?).max(floor)
            }
            _ => self.measure(field, buffer, unit, None)?.floor(),
        };
        let bytes = if unit == LengthUnit::Packets { length * packet } else { length };
        if bytes < packet {
            return Err(field.problem(format!(
                "this buffer has no room for a packet of {}, the largest that crosses this link",
                self.packet
            )));
        }
        Ok(match unit {
            LengthUnit::Packets => Capacity::Packets(length as u64),
            LengthUnit::Bytes => Capacity::Bytes(Bytes(length as u64)),
        })
    }

    /// A length in `unit`; `capacity` is that of the queue, where a share of it may be given.
    pub(crate) fn measure(
        &self,
        field: Field<'_>,
        length: Length,
        unit: LengthUnit,
        capacity: Option<Capacity>,
    ) -> Result<f64, Problem> {
        let length = self.convert(field, length, unit, capacity)?;
        if length > LONGEST {
            return Err(field.problem(format!("`{}` is more than any queue can hold", field.name)));
        }
        Ok(length)
    }

    fn convert(
        &self,
        field: Field<'_>,
        length: Length,
        unit: LengthUnit,
        capacity: Option<Capacity>,
    ) -> Result<f64, Problem> {
        let packet = self.packet.0 as f64;
        let from_bytes =
            |bytes: f64| if unit == LengthUnit::Bytes { bytes } else { bytes / packet };
        let from_packets =
            |count: f64| if unit == LengthUnit::Packets { count } else { count * packet };
        match length {
            Length::Packets(count) => Ok(from_packets(count)),
            Length::Bytes(bytes) => Ok(from_bytes(bytes)),
            Length::Time(span) => Ok(from_bytes(self.rate.bytes_in(span).0 as f64)),
            Length::Bdp(factor) => match self.bdp {
                Some(round_trip) => {
                    Ok(from_bytes(factor * self.rate.bytes_in(round_trip).0 as f64))
                }
                None => Err(field
                    .problem(format!(
                        "`{}` is measured in bdp, but no flow crosses this link, so there is no round trip to use",
                        field.name
                    ))
                    .help("add `bdp = \"80 ms\"` to the link, or write a number of packets")),
            },
            Length::Buffer(share) => match capacity {
                Some(Capacity::Packets(count)) => Ok(from_packets(share * count as f64)),
                Some(Capacity::Bytes(bytes)) => Ok(from_bytes(share * bytes.0 as f64)),
                Some(Capacity::Unbounded) | None => Err(field
                    .problem(format!(
                        "`{}` is a share of the buffer, and the buffer is unlimited",
                        field.name
                    ))
                    .help(format!("give the buffer a length, or `{}` a number of packets", field.name))),
            },
            Length::Unlimited => Err(field.wrong(ASKED)),
        }
    }
}

/// A capacity as written in a scenario file.
pub(crate) fn write_capacity(capacity: Capacity) -> String {
    match capacity {
        Capacity::Packets(count) => format!("{count} packets"),
        Capacity::Bytes(bytes) => bytes.to_string(),
        Capacity::Unbounded => UNLIMITED.into(),
    }
}
