//! How a flow sends: packets, windows, recovery, timers.

use longfat_control::{Needs, Pacing, SlowStart, bounds};
use longfat_units::{Bytes, Ecn, Span, split};

use crate::error::{Problem, Problems, did_you_mean};
use crate::fields::{Field, Fields};
use crate::keys;
use crate::receive_window::receive_window;
use crate::tree::Value;
use crate::value::{
    NONE, count, flag, frequency, named, number, quantity, rate, unless_none, wait, word,
};
use crate::{
    ACK, EcnFeedback, Recovery, RtoEstimator, RtoRestart, SavedPath, SendQuantum, Transport,
    WindowValidation,
};

const LARGEST_PACKET: Bytes = Bytes(65_535);
/// The word that `ecn` accepts.
pub(crate) const ECT1: &str = "ect1";
/// The words that `pacing` accepts.
pub(crate) const CONTROLLER: &str = "controller";
pub(crate) const SPREAD: &str = "spread";
pub(crate) const BLOCKS: &str = "blocks";
pub(crate) const LOOSE_BLOCKS: &str = "loose_blocks";
pub(crate) const RATE: &str = "rate";
const PACINGS: &str = "\"controller\", \"none\", \"spread\", { spread = 1.2 }, { blocks = 4 }, \
                       { loose_blocks = 4 } or { rate = \"1000 /s\" }";
const LARGEST_INITIAL_WINDOW: f64 = 1e7;
/// More segments than this are not acknowledged at once.
const MOST_PER_ACK: u64 = 1_000_000;

/// Reads how the flows of a group send, whose controller `needs` this.
pub(crate) fn transport(
    fields: &Fields<'_>,
    needs: Needs,
    problems: &mut Problems,
) -> Option<Transport> {
    let packet = fields.or("packet", Bytes(1500), problems, packet);
    let initial_window = fields
        .or("initial_window", 10.0, problems, |field| number(field, 1.0, LARGEST_INITIAL_WINDOW));
    let initial_threshold = fields.or("initial_threshold", None, problems, |field| {
        unless_none(field, |field| initial_threshold(field, packet))
    });
    let slow_start = fields.or("slow_start", SlowStart::Standard, problems, slow_start);
    let recovery =
        fields.or("recovery", Recovery::Sack, problems, |field| named(field, Recovery::NAMES));
    let delayed_ack = fields.or("delayed_ack", false, problems, flag);
    let ack_every = fields.or("ack_every", 2, problems, |field| count(field, 1, MOST_PER_ACK));
    let ack_delay = fields.or("ack_delay", Span::from_millis(100), problems, longer_than_zero);
    let rto_min = fields.or("rto_min", Span::from_millis(200), problems, longer_than_zero);
    let rto_tick =
        fields.or("rto_tick", None, problems, |field| unless_none(field, longer_than_zero));
    let rto_estimator = fields.or("rto_estimator", RtoEstimator::Rfc6298, problems, |field| {
        named(field, RtoEstimator::NAMES)
    });
    let rto_restart = fields
        .or("rto_restart", RtoRestart::First, problems, |field| named(field, RtoRestart::NAMES));
    let usual = if needs.ect1 { Ecn::Ect1 } else { Ecn::Ect0 };
    let ecn = fields.or("ecn", usual, problems, |field| ecn(field, usual));
    let counts = needs.accurate_ecn || recovery == Some(Recovery::Quic);
    let usual = if counts { EcnFeedback::Accurate } else { EcnFeedback::Echo };
    let ecn_feedback =
        fields.or("ecn_feedback", usual, problems, |field| named(field, EcnFeedback::NAMES));
    let pacing = fields.or("pacing", None, problems, pacing);
    let send_quantum =
        fields.or("send_quantum", None, problems, |field| unless_none(field, send_quantum));
    let window_validation =
        fields.or("window_validation", WindowValidation::None, problems, |field| {
            named(field, WindowValidation::NAMES)
        });
    let careful_resume = match fields.find("careful_resume") {
        None => Some(None),
        Some(field) if field.node.text() == Some(NONE) => Some(None),
        Some(field) => saved_path(field, problems).map(Some),
    };
    let max_window = fields.or("max_window", None, problems, |field| {
        unless_none(field, |field| count(field, 1, u64::MAX))
    });
    let receive_window =
        fields.or("receive_window", None, problems, |field| receive_window(field, packet));
    let host_jitter =
        fields.or("host_jitter", None, problems, |field| unless_none(field, longer_than_zero));
    let access = fields.or("access", None, problems, |field| unless_none(field, rate));
    Some(Transport {
        packet: packet?,
        initial_window: initial_window?,
        initial_threshold: initial_threshold?,
        slow_start: slow_start?,
        recovery: recovery?,
        delayed_ack: delayed_ack?,
        ack_every: ack_every?,
        ack_delay: ack_delay?,
        rto_min: rto_min?,
        rto_tick: rto_tick?,
        rto_estimator: rto_estimator?,
        rto_restart: rto_restart?,
        ecn: ecn?,
        ecn_feedback: ecn_feedback?,
        pacing: pacing?,
        send_quantum: send_quantum?,
        window_validation: window_validation?,
        careful_resume: careful_resume?,
        max_window: max_window?,
        receive_window: receive_window?,
        host_jitter: host_jitter?,
        access: access?,
    })
}

/// What data carries in the ECN field: whether it can be marked, and as what.
fn ecn(field: Field<'_>, usual: Ecn) -> Result<Ecn, Problem> {
    match &field.node.value {
        Value::Flag(false) => Ok(Ecn::NotEct),
        Value::Flag(true) => Ok(usual),
        Value::Text(text) if text == ECT1 => Ok(Ecn::Ect1),
        _ => Err(field.wrong("true, false or \"ect1\"")),
    }
}

fn slow_start(field: Field<'_>) -> Result<SlowStart, Problem> {
    word(field, SlowStart::NAMES)
        .map(|name| SlowStart::named(name).expect("it is one of the names"))
}

/// The controller's own pacing, none, or the sender's.
fn pacing(field: Field<'_>) -> Result<Option<Pacing>, Problem> {
    match &field.node.value {
        Value::Text(given) => match given.as_str() {
            CONTROLLER => Ok(None),
            NONE => Ok(Some(Pacing::Unpaced)),
            SPREAD => Ok(Some(Pacing::Spread { gain: 1.0 })),
            BLOCKS => Err(field.wrong(PACINGS).help("write { blocks = 4 }, or another count")),
            LOOSE_BLOCKS => {
                Err(field.wrong(PACINGS).help("write { loose_blocks = 4 }, or another count"))
            }
            RATE => Err(field.wrong(PACINGS).help("write { rate = \"1000 /s\" }, or another rate")),
            other => {
                let near =
                    did_you_mean(other, [CONTROLLER, NONE, SPREAD, BLOCKS, LOOSE_BLOCKS, RATE]);
                Err(field.wrong(PACINGS).maybe_help(near))
            }
        },
        Value::Table(_) => {
            let inner = field.only("a kind of pacing", &[SPREAD, BLOCKS, LOOSE_BLOCKS, RATE])?;
            let pacing = match inner.name {
                SPREAD => Pacing::Spread { gain: number(inner, 0.01, 100.0)? },
                BLOCKS => Pacing::Blocks(count(inner, 1, u64::from(u32::MAX))? as u32),
                LOOSE_BLOCKS => Pacing::LooseBlocks(count(inner, 1, u64::from(u32::MAX))? as u32),
                _ => Pacing::Rate(frequency(inner, 1e-3, 1e12)?),
            };
            Ok(Some(pacing))
        }
        _ => Err(field.wrong(PACINGS)),
    }
}

/// A number of packets, or a time.
fn send_quantum(field: Field<'_>) -> Result<SendQuantum, Problem> {
    if field.node.number().is_some() {
        return count(field, 1, u64::from(u32::MAX)).map(SendQuantum::Packets);
    }
    match field.node.text() {
        Some(_) => longer_than_zero(field).map(SendQuantum::Time),
        None => Err(field.wrong("a number of packets, a time such as \"1 ms\", or \"none\"")),
    }
}

/// What an earlier flow has learned.
fn saved_path(field: Field<'_>, problems: &mut Problems) -> Option<SavedPath> {
    let Value::Table(table) = &field.node.value else {
        problems
            .add(field.wrong("\"none\", or a table such as { window = 500, rtt = \"100 ms\" }"));
        return None;
    };
    let owner = format!("`{}`", field.name);
    let (class, home) = ("careful resume", field.node.place);
    let fields =
        Fields { owner, class, home, keys: const { &keys::names(&keys::CAREFUL_RESUME) }, table };
    fields.refuse_strangers(problems);
    let window = fields.required("window", "window = 500", problems, |field| {
        number(field, bounds::FLOOR, LARGEST_INITIAL_WINDOW)
    });
    let rtt = fields.required("rtt", "rtt = \"100 ms\"", problems, longer_than_zero);
    Some(SavedPath { window: window?, rtt: rtt? })
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
            "a packet of {bytes} is too large: IP carries at most {} B",
            LARGEST_PACKET.0
        )));
    }
    Ok(bytes)
}

/// A number of segments, or as many whole ones as a size holds.
fn initial_threshold(field: Field<'_>, packet: Option<Bytes>) -> Result<f64, Problem> {
    let size = field.node.text().map(split).filter(|(_, unit)| unit.ends_with('B'));
    if size.is_none() {
        let wanted = "a number of at least 2, or a size such as \"64 kB\"";
        return number(field, bounds::FLOOR, f64::MAX).map_err(|_| field.wrong(wanted));
    }
    let bytes: Bytes = quantity(field)?;
    if bytes == Bytes(0) {
        return Err(field.problem(format!("`{}` must be larger than zero", field.name)));
    }
    let packet = packet.unwrap_or(Bytes(1));
    Ok(((bytes.0 / packet.0) as f64).max(bounds::FLOOR))
}

fn longer_than_zero(field: Field<'_>) -> Result<Span, Problem> {
    let span = wait(field)?;
    if span == Span::ZERO {
        return Err(field.problem(format!("`{}` must be longer than zero", field.name)));
    }
    Ok(span)
}
