//! How a flow sends: packets, windows, recovery, timers.

use longfat_control::SlowStart;
use longfat_units::{Bytes, Span};

use super::error::{Problem, Problems};
use super::fields::{Field, Fields};
use super::value::{ACK, count, flag, number, quantity, rate, unless_none, wait, word};
use super::{Recovery, Transport};

const LARGEST_PACKET: Bytes = Bytes(65_535);
const LARGEST_INITIAL_WINDOW: f64 = 1e7;

/// Keys of a group, and those of its transport after them.
macro_rules! with_transport {
    ($($key:literal),* $(,)?) => {
        &[
            $($key,)*
            "profile",
            "packet",
            "initial_window",
            "initial_threshold",
            "slow_start",
            "recovery",
            "delayed_ack",
            "rto_min",
            "ecn",
            "max_window",
            "access",
        ]
    };
}
pub(super) use with_transport;

/// Reads how the flows of a group send.
pub(super) fn transport(fields: &Fields<'_>, problems: &mut Problems) -> Option<Transport> {
    let packet = fields.or("packet", Bytes(1500), problems, packet);
    let initial_window = fields
        .or("initial_window", 10.0, problems, |field| number(field, 1.0, LARGEST_INITIAL_WINDOW));
    let initial_threshold = fields.or("initial_threshold", None, problems, |field| {
        unless_none(field, |field| number(field, 2.0, f64::MAX))
    });
    let slow_start = fields.or("slow_start", SlowStart::Standard, problems, slow_start);
    let recovery = fields.or("recovery", Recovery::Sack, problems, |field| {
        word(field, &["sack", "newreno", "reno"]).map(|word| match word {
            "newreno" => Recovery::NewReno,
            "reno" => Recovery::Reno,
            _ => Recovery::Sack,
        })
    });
    let delayed_ack = fields.or("delayed_ack", false, problems, flag);
    let rto_min = fields.or("rto_min", Span::from_millis(200), problems, rto_min);
    let ecn = fields.or("ecn", true, problems, flag);
    let max_window = fields.or("max_window", None, problems, |field| {
        unless_none(field, |field| count(field, 1, u64::MAX))
    });
    let access = fields.or("access", None, problems, |field| unless_none(field, rate));
    Some(Transport {
        packet: packet?,
        initial_window: initial_window?,
        initial_threshold: initial_threshold?,
        slow_start: slow_start?,
        recovery: recovery?,
        delayed_ack: delayed_ack?,
        rto_min: rto_min?,
        ecn: ecn?,
        max_window: max_window?,
        access: access?,
    })
}

fn slow_start(field: Field<'_>) -> Result<SlowStart, Problem> {
    word(field, SlowStart::NAMES)
        .map(|name| SlowStart::named(name).expect("it is one of the names"))
}

fn packet(field: Field<'_>) -> Result<Bytes, Problem> {
    let bytes: Bytes = quantity(field)?;
    if bytes <= ACK {
        return Err(
            field.problem(format!("a packet of {bytes} carries no data: its headers take {ACK}"))
        );
    }
    if bytes > LARGEST_PACKET {
        return Err(field.problem(format!(
            "a packet of {bytes} is too large: the most that IP carries is {} B",
            LARGEST_PACKET.0
        )));
    }
    Ok(bytes)
}

fn rto_min(field: Field<'_>) -> Result<Span, Problem> {
    let span = wait(field)?;
    if span == Span::ZERO {
        return Err(field.problem("`rto_min` must be longer than zero"));
    }
    Ok(span)
}
