//! Quantities as text: a number and a unit, exact in both directions.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::{Bytes, Rate, Span};

/// Why a text does not read as the quantity asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct UnitError {
    /// What is wrong, in words.
    pub reason: String,
    /// A similar text that would have been accepted, if there is one.
    pub suggestion: Option<String>,
}

/// One unit: how it is written, and how many base units it holds.
struct Unit {
    text: &'static str,
    base: u64,
}

const fn unit(text: &'static str, base: u64) -> Unit {
    Unit { text, base }
}

/// A kind of quantity: its units, largest first, other spellings that are accepted, and an example.
struct Dimension {
    what: &'static str,
    example: &'static str,
    units: &'static [Unit],
    also: &'static [Unit],
}

const SPAN: Dimension = Dimension {
    what: "a time",
    example: "100 ms",
    units: &[
        unit("s", 1_000_000_000_000),
        unit("ms", 1_000_000_000),
        unit("us", 1_000_000),
        unit("ns", 1_000),
        unit("ps", 1),
    ],
    also: &[
        unit("h", 3_600_000_000_000_000),
        unit("min", 60_000_000_000_000),
        unit("µs", 1_000_000),
        unit("μs", 1_000_000),
    ],
};

const RATE: Dimension = Dimension {
    what: "a rate",
    example: "10 Gbit/s",
    units: &[
        unit("Tbit/s", 1_000_000_000_000),
        unit("Gbit/s", 1_000_000_000),
        unit("Mbit/s", 1_000_000),
        unit("kbit/s", 1_000),
        unit("bit/s", 1),
    ],
    also: &[
        unit("Tbps", 1_000_000_000_000),
        unit("Gbps", 1_000_000_000),
        unit("Mbps", 1_000_000),
        unit("kbps", 1_000),
        unit("Kbit/s", 1_000),
    ],
};

const BYTES: Dimension = Dimension {
    what: "a size",
    example: "1500 B",
    units: &[unit("GB", 1_000_000_000), unit("MB", 1_000_000), unit("kB", 1_000), unit("B", 1)],
    also: &[
        unit("TB", 1_000_000_000_000),
        unit("KB", 1_000),
        unit("KiB", 1 << 10),
        unit("MiB", 1 << 20),
        unit("GiB", 1 << 30),
    ],
};

/// What can be written with a unit, `"time"`, `"rate"` and `"size"`, each with every unit that is understood.
pub fn known_units() -> [(&'static str, Vec<&'static str>); 3] {
    [("time", &SPAN), ("rate", &RATE), ("size", &BYTES)].map(|(name, dimension)| {
        let units = dimension.units.iter().chain(dimension.also);
        (name, units.map(|unit| unit.text).collect())
    })
}

/// Splits `"1.5 Gbit/s"` into its number and its unit.
pub fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-')))
        .unwrap_or(text.len());
    // An exponent belongs to the number only when digits follow: "1e3 B", but "5 exabytes".
    let end = match text[end..].strip_prefix(['e', 'E']) {
        Some(rest) if !text[..end].is_empty() => {
            let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            let count = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            if count == 0 { end } else { end + 1 + (rest.len() - digits.len()) + count }
        }
        _ => end,
    };
    (&text[..end], text[end..].trim())
}

/// A number without the underscores between its thousands; `None` if there are any elsewhere.
///
/// `1_500` is 1500, but `1_0` was probably meant to be something else.
pub fn ungrouped(number: &str) -> Option<Cow<'_, str>> {
    if !number.contains('_') {
        return Some(Cow::Borrowed(number));
    }
    let (whole, rest) = number.split_at(number.find(['.', 'e', 'E']).unwrap_or(number.len()));
    let mut groups = whole.strip_prefix(['+', '-']).unwrap_or(whole).split('_');
    let first = groups.next()?;
    let good = (1..=3).contains(&first.len())
        && groups.all(|group| group.len() == 3)
        && !rest.contains('_');
    good.then(|| Cow::Owned(format!("{}{rest}", whole.replace('_', ""))))
}

/// Exact value of `number` × `base` as an integer; `None` if `number` is not a plain decimal number.
fn scaled(number: &str, base: u64) -> Option<Result<u64, &'static str>> {
    let number: &str = &ungrouped(number)?;
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(at) => (&number[..at], number[at + 1..].parse::<i32>().ok()?),
        None => (number, 0),
    };
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    if mantissa.starts_with('-') {
        return Some(Err("it must not be negative"));
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = whole.chars().chain(fraction.chars()).collect();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (too_large, too_long) =
        (Some(Err("it is too large")), Some(Err("it has more digits than can be stored")));
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    let decimals = i64::try_from(fraction.len()).ok()?;
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let mut shift = i64::from(exponent) - decimals + zeros;
    if significant.len() > 25 {
        return too_long;
    }
    let mut value: u128 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    match value.checked_mul(u128::from(base)) {
        Some(scaled) => value = scaled,
        None => return too_long,
    }
    while shift > 0 && value > 0 {
        match value.checked_mul(10) {
            Some(next) => value = next,
            None => return too_large,
        }
        shift -= 1;
    }
    let mut remainder = false;
    while shift < 0 && value > 0 {
        remainder |= !value.is_multiple_of(10);
        value /= 10;
        shift += 1;
    }
    if remainder {
        return Some(Err("it is finer than can be stored"));
    }
    Some(u64::try_from(value).map_err(|_| "it is too large"))
}

impl Dimension {
    fn refuse(reason: String, suggestion: Option<String>) -> UnitError {
        UnitError { reason, suggestion }
    }

    fn known(&self) -> String {
        self.units.iter().rev().map(|unit| unit.text).collect::<Vec<_>>().join(", ")
    }

    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let (number, name) = split(text);
        let what = self.what;
        if number.is_empty() {
            return Err(Self::refuse(
                format!(
                    "`{text}` is not {what}: a number and a unit are needed, such as \"{}\"",
                    self.example
                ),
                None,
            ));
        }
        if name.is_empty() {
            let (_, example) = split(self.example);
            return Err(Self::refuse(
                format!("`{text}` has no unit: {what} is written with one of {}", self.known()),
                Some(format!("{number} {example}")),
            ));
        }
        let mut units = self.units.iter().chain(self.also);
        let Some(unit) = units.find(|unit| unit.text == name) else {
            return Err(Self::refuse(
                format!("`{name}` is not a unit of {}: use one of {}", &what[2..], self.known()),
                self.meant(number, name),
            ));
        };
        match scaled(number, unit.base) {
            Some(Ok(value)) => Ok(value),
            Some(Err(reason)) => Err(Self::refuse(
                format!("`{text}` is not {what} that can be used: {reason}"),
                None,
            )),
            None => Err(Self::refuse(format!("`{number}` is not a number"), None)),
        }
    }

    /// What was probably meant with a unit as other programs write it: iperf3 `10G`, tc `10gbit`, others `10 Gb/s`.
    fn meant(&self, number: &str, name: &str) -> Option<String> {
        let plain = name.to_ascii_lowercase();
        let plain = plain.strip_suffix("ec").or(plain.strip_suffix("ecs")).unwrap_or(&plain);
        let (prefix, rest) = match plain.chars().next()? {
            'k' => ("k", &plain[1..]),
            'm' => ("M", &plain[1..]),
            'g' => ("G", &plain[1..]),
            't' => ("T", &plain[1..]),
            _ => ("", plain),
        };
        // A capital B stands for bytes, of eight bits each.
        if self.what == "a rate" && name.contains('B') && matches!(rest, "b/s" | "bps") {
            let bits = 8.0 * ungrouped(number)?.parse::<f64>().ok()?;
            return Some(format!("{bits} {prefix}bit/s"));
        }
        let mut units = self.units.iter().chain(self.also);
        if let Some(unit) = units.find(|unit| unit.text.eq_ignore_ascii_case(name)) {
            return Some(format!("{number} {}", unit.text));
        }
        match (self.what, rest) {
            ("a rate", "bit" | "bits" | "bits/s" | "bit/s" | "b/s" | "bps") => {
                Some(format!("{number} {prefix}bit/s"))
            }
            ("a rate", "") => Some(format!("{number} {prefix}bit/s")),
            ("a size", "" | "byte" | "bytes") => Some(format!("{number} {prefix}B")),
            ("a time", _) => {
                let unit = match plain {
                    "s" | "second" | "seconds" => "s",
                    "ms" | "millisecond" | "milliseconds" => "ms",
                    "us" | "microsecond" | "microseconds" => "us",
                    "ns" | "nanosecond" | "nanoseconds" => "ns",
                    "m" | "mins" | "minute" | "minutes" => "min",
                    "hour" | "hours" => "h",
                    _ => return None,
                };
                Some(format!("{number} {unit}"))
            }
            _ => None,
        }
    }

    /// The shortest exact text: the largest unit that leaves at most three decimals.
    fn display(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self
            .units
            .iter()
            .find(|unit| value >= unit.base && value.is_multiple_of((unit.base / 1000).max(1)))
            .or(if value == 0 { self.units.iter().find(|unit| unit.text.len() == 1) } else { None })
            .or(self.units.last())
            .expect("every dimension has units");
        let whole = value / unit.base;
        let rest = value % unit.base;
        if rest == 0 {
            return write!(f, "{whole} {}", unit.text);
        }
        let thousandths = rest / (unit.base / 1000);
        let decimals = format!("{thousandths:03}");
        write!(f, "{whole}.{} {}", decimals.trim_end_matches('0'), unit.text)
    }
}

macro_rules! text {
    ($($quantity:ident: $dimension:ident),*) => {$(
        impl FromStr for $quantity {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                $dimension.parse(text).map($quantity)
            }
        }
        impl fmt::Display for $quantity {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $dimension.display(self.0, f)
            }
        }
    )*};
}

text! { Span: SPAN, Rate: RATE, Bytes: BYTES }

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_becomes_the_exact_quantity() {
        assert_eq!("100 ms".parse(), Ok(Span::from_millis(100)));
        assert_eq!("0.1 s".parse(), Ok(Span::from_millis(100)));
        assert_eq!("1e-1s".parse(), Ok(Span::from_millis(100)));
        assert_eq!("2 min".parse(), Ok(Span::from_seconds(120)));
        assert_eq!("0.0003 ns".parse::<Span>().map_err(|e| e.suggestion), Err(None));
        assert!("1.5e-2147483648 s".parse::<Span>().is_err(), "an exponent at its limit");
        assert_eq!("2.5 Mbit/s".parse(), Ok(Rate(2_500_000)));
        assert_eq!("10Gbps".parse(), Ok(Rate(10_000_000_000)));
        assert_eq!("1_500 B".parse(), Ok(Bytes(1500)));
        assert_eq!("64 KiB".parse(), Ok(Bytes(65_536)));
    }

    #[test]
    fn a_number_without_its_unit_is_refused_with_a_suggestion() {
        let error = "80".parse::<Span>().expect_err("no unit");
        assert_eq!(error.suggestion.as_deref(), Some("80 ms"));
        let error = "10 gbit/s".parse::<Rate>().expect_err("wrong case");
        assert_eq!(error.suggestion.as_deref(), Some("10 Gbit/s"));
    }

    /// iperf3, tc and ns-3 write rates as these do; a capital B stands for bytes.
    #[test]
    fn what_other_programs_write_is_refused_with_a_suggestion() {
        for (text, suggested) in [
            ("10G", "10 Gbit/s"),
            ("2.5m", "2.5 Mbit/s"),
            ("10gbit", "10 Gbit/s"),
            ("100 Mb/s", "100 Mbit/s"),
            ("100 mbits/sec", "100 Mbit/s"),
            ("10 gbps", "10 Gbps"),
            ("9600bps", "9600 bit/s"),
            ("1.25 GB/s", "10 Gbit/s"),
            ("12.5 MBps", "100 Mbit/s"),
            ("100 MBit/s", "100 Mbit/s"),
            ("100 MBits", "100 Mbit/s"),
        ] {
            let error = text.parse::<Rate>().expect_err(text);
            assert_eq!(error.suggestion.as_deref(), Some(suggested), "{text}");
            assert!(suggested.parse::<Rate>().is_ok(), "{suggested}");
        }
        for (text, suggested) in [
            ("10 msec", "10 ms"),
            ("3 secs", "3 s"),
            ("2 seconds", "2 s"),
            ("5usec", "5 us"),
            ("2 m", "2 min"),
            ("10 MS", "10 ms"),
        ] {
            let error = text.parse::<Span>().expect_err(text);
            assert_eq!(error.suggestion.as_deref(), Some(suggested), "{text}");
            assert!(suggested.parse::<Span>().is_ok(), "{suggested}");
        }
        for (text, suggested) in [("1500 bytes", "1500 B"), ("10M", "10 MB"), ("64kib", "64 KiB")] {
            let error = text.parse::<Bytes>().expect_err(text);
            assert_eq!(error.suggestion.as_deref(), Some(suggested), "{text}");
            assert!(suggested.parse::<Bytes>().is_ok(), "{suggested}");
        }
        for text in ["10 ms", "10 fortnights", "10 é", "1 x", "10 GiB/s", "10 GB"] {
            assert_eq!(text.parse::<Rate>().expect_err(text).suggestion, None, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in [
            "",
            "ms",
            "fast",
            "-1 s",
            "1e99 s",
            "1..2 s",
            "1 parsec",
            "٣ s",
            "1e s",
            "1_0 s",
            "_1 s",
            "1_ s",
            "1.0_0 s",
            "_100 s",
            "1000_000 s",
            "1_0000 s",
            "1e1_0 s",
            ". s",
            "+ s",
            "1-2 s",
            "0+5 s",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text:?} was taken for a time");
        }
    }

    /// What is said of a text that is no time.
    fn reason(text: &str) -> String {
        text.parse::<Span>().expect_err(text).reason
    }

    #[test]
    fn errors_say_what_is_wrong_with_a_number() {
        for (text, problem) in [
            ("-1 s", "negative"),
            ("20000000 s", "too large"),
            // One picosecond and a half too many for 64 bits.
            ("18446744073709551617.5 ps", "finer"),
            ("18446744073709551616 ps", "too large"),
            ("1e40 s", "too large"),
            ("0.1 ps", "finer"),
            ("1e-13 s", "finer"),
            ("12345678901234567890123456 s", "more digits"),
            // 25 digits, but 128 bits do not hold so many hours.
            ("9999999999999999999999999 h", "more digits"),
            ("e3 s", "a number and a unit are needed"),
            ("s", "a number and a unit are needed"),
            ("1..2 s", "`1..2` is not a number"),
            ("5 exabytes", "`exabytes` is not a unit of time: use one of ps, ns, us, ms, s"),
            ("5exabytes", "`exabytes` is not a unit of time"),
            ("5e+x", "`e+x` is not a unit of time"),
        ] {
            let reason = reason(text);
            assert!(reason.contains(problem), "{text}: {reason}");
        }
    }

    #[test]
    fn numbers_are_written_in_many_ways() {
        let second = Ok(Span::from_seconds(1));
        for text in [
            " 1 s ",
            "+1 s",
            "1e0 s",
            "1e+0 s",
            "1E-0 s",
            "1_000 ms",
            "+1_000 ms",
            "1_000.0 ms",
            "1_000e0 ms",
            "10_000e-1 ms",
            "1_000E0 ms",
            "01 s",
            "1. s",
        ] {
            assert_eq!(text.parse(), second, "{text}");
        }
        assert_eq!("100_000 ms".parse(), Ok(Span::from_seconds(100)));
        assert_eq!("+100_000 ms".parse(), Ok(Span::from_seconds(100)));
        assert_eq!(".5 s".parse(), Ok(Span::from_millis(500)));
        // Zeros at either end are no digits that have to be stored.
        assert_eq!("0.00000000000000000000000000001e29 s".parse(), second);
        assert_eq!("1.00000000000000000000000000000 s".parse(), second);
        assert_eq!("9.500000000000000000000000 h".parse(), Ok(Span::from_seconds(34_200)));
        assert_eq!("100000000000000000000000000000e-29 s".parse(), second);
        // 19 digits, which 64 bits just hold.
        assert_eq!("1234567.890123456789 s".parse(), Ok(Span(1_234_567_890_123_456_789)));
        // Nothing is nothing, whatever its power of ten.
        assert_eq!("0e2147483647 s".parse(), Ok(Span::ZERO));
        assert_eq!("0e-2147483648 s".parse(), Ok(Span::ZERO));
    }

    #[test]
    fn zero_and_round_values_read_well() {
        assert_eq!(Span::ZERO.to_string(), "0 s");
        assert_eq!(Span::from_millis(200).to_string(), "200 ms");
        assert_eq!(Span::from_seconds(120).to_string(), "120 s");
        assert_eq!(Rate(2_500_000).to_string(), "2.5 Mbit/s");
        assert_eq!(Bytes(1500).to_string(), "1.5 kB");
        assert_eq!(Rate(1_000_000_000).to_string(), "1 Gbit/s");
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Rate(0).to_string(), "0 bit/s");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value: u64) {
            prop_assert_eq!(Span(value).to_string().parse(), Ok(Span(value)));
            prop_assert_eq!(Rate(value).to_string().parse(), Ok(Rate(value)));
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,24}") {
            let _ = (text.parse::<Span>(), text.parse::<Rate>(), text.parse::<Bytes>());
        }
    }
}
