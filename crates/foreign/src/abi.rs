//! `include/longfat.h` in Rust: the same structures, field by field. What fields mean is said there, once.

#![allow(missing_docs, reason = "the header documents them")]

use std::ffi::c_char;

/// The version of the interface.
pub const VERSION: u32 = 1;

/// The name of the one function that a library exports.
pub const ENTRY: &std::ffi::CStr = c"longfat_plugin";

/// The type of that function.
pub type PluginFunction = unsafe extern "C" fn(version: u32) -> *const Plugin;

/// The bits of the NaN that compiled Python answers where it has raised an exception.
pub const RAISED: u64 = 0x7ff8_6c6f_6e67_6661;

/// The functions that answer nothing: where one of these has raised it, the next answer is [`RAISED`] and its place here,
/// from 1.
pub const SILENT: [&str; 12] = [
    "begin",
    "on_feedback",
    "on_congestion",
    "on_adjustment",
    "on_recovered",
    "on_restart",
    "on_lost",
    "on_sent",
    "on_timer",
    "on_overflow",
    "on_departure",
    "on_ticks",
];

/// Which function has raised an exception, if these bits of an answer of `asked` say so.
pub(crate) fn raising(bits: u64, asked: &str) -> Option<&str> {
    match bits.checked_sub(RAISED)? {
        0 => Some(asked),
        place => SILENT.get(usize::try_from(place - 1).ok()?).copied(),
    }
}

pub mod kind {
    pub const NUMBER: i64 = 0;
    pub const COUNT: i64 = 1;
    pub const FLAG: i64 = 2;
    pub const TIME: i64 = 3;
    pub const LENGTH: i64 = 4;
}

pub mod cause {
    pub const LOSS: i64 = 0;
    pub const MARK: i64 = 1;
    pub const TIMEOUT: i64 = 2;
}

pub mod phase {
    pub const SLOW_START: i64 = 0;
    pub const CONGESTION_AVOIDANCE: i64 = 1;
}

pub mod limited {
    pub const WINDOW: i64 = 0;
    pub const PACING: i64 = 1;
    pub const APPLICATION: i64 = 2;
    pub const RECEIVER: i64 = 3;
    pub const RECOVERY: i64 = 4;
}

pub mod pace {
    pub const UNPACED: i64 = 0;
    pub const SPREAD: i64 = 1;
    pub const RATE: i64 = 2;
    pub const BLOCKS: i64 = 3;
    pub const LOOSE_BLOCKS: i64 = 4;
    /// Compiled Python has raised an exception.
    pub const RAISED: i64 = -1;
}

pub mod needs {
    pub const ECN: u64 = 1;
    pub const ACCURATE_ECN: u64 = 2;
    pub const ECT1: u64 = 4;
    pub const SPARE: u64 = 8;
    pub const PACING: u64 = 16;
    pub const ALL: u64 = 31;
}

pub mod wants {
    pub const PACING: u64 = 1;
    pub const DELIVERY_RATE: u64 = 2;
    pub const LOSSES: u64 = 4;
    pub const DEPARTURES: u64 = 8;
    pub const TIMER: u64 = 16;
    pub const OWN_RECOVERY: u64 = 32;
    pub const SPURIOUS: u64 = 64;
    pub const ONE_WAY_DELAY: u64 = 128;
    pub const CHANCE: u64 = 256;
    pub const OF_CONTROLLERS: u64 = 255;
}

pub mod manner {
    pub const PER_MARK: u64 = 1;
    pub const HEEDS_DELAY: u64 = 2;
    pub const LOSSES_APART: u64 = 4;
}

pub mod verdict {
    pub const KEEP: i64 = 0;
    pub const MARK: i64 = 1;
    pub const DROP: i64 = 2;
    /// Compiled Python has raised an exception.
    pub const RAISED: i64 = -1;
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: *const c_char,
    pub about: *const c_char,
    pub text: *const c_char,
    pub value: f64,
    pub least: f64,
    pub most: f64,
    pub kind: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    pub kind: i64,
    pub value: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Operating {
    pub window: f64,
    pub epoch_window: f64,
    pub rtt: f64,
    pub base_rtt: f64,
    pub since_event: f64,
    pub spare: f64,
    pub phase: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub rtt: f64,
    pub base_rtt: f64,
    pub rtt_ps: u64,
    pub base_rtt_ps: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub window: f64,
    pub threshold: f64,
    pub packet_bytes: f64,
    pub access: f64,
    pub transfer: f64,
    pub round_trip: f64,
    pub chance: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    pub now: f64,
    pub now_ps: u64,
    pub acked: i64,
    pub sacked: i64,
    pub lost: i64,
    pub marked: i64,
    pub in_flight: i64,
    pub rtt: f64,
    pub one_way_delay: f64,
    pub spare: f64,
    pub limited: i64,
    pub round_starts: i64,
    pub recovery_begins: i64,
    pub spurious: i64,
    pub rate_interval: f64,
    pub rate_delivered: i64,
    pub rate_delivered_before: i64,
    pub rate_delivered_total: i64,
    pub rate_lost: i64,
    pub rate_in_flight: i64,
    pub rate_application_limited: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    pub now: f64,
    pub now_ps: u64,
    pub cause: i64,
    pub in_flight: i64,
    pub again: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Adjustment {
    pub now: f64,
    pub now_ps: u64,
    pub window: f64,
    pub threshold: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    pub now: f64,
    pub now_ps: u64,
    pub segment: i64,
    pub in_flight: i64,
    pub lost: i64,
    pub delivered_total: i64,
    pub application_limited: i64,
    pub sent: f64,
    pub sent_ps: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub now: f64,
    pub now_ps: u64,
    pub again: i64,
    pub in_flight: i64,
}

/// What the tables of all three kinds begin with; in the header its fields are their own.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub size: u64,
    pub name: *const c_char,
    pub title: *const c_char,
    pub source: *const c_char,
    pub parameters: *const Parameter,
    pub parameter_count: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Law {
    pub head: Head,
    pub needs: u64,
    pub manner: u64,
    pub gain: Option<unsafe extern "C" fn(*const Operating, *const f64) -> f64>,
    pub give_up: Option<unsafe extern "C" fn(*const Operating, i64, *const f64) -> f64>,
    pub slow_start: Option<unsafe extern "C" fn(*const Operating, *const f64) -> f64>,
    pub pacing: Option<unsafe extern "C" fn(*const Operating, *mut Pacing, *const f64)>,
}

/// Memory of the user's code.
pub type State = *mut std::ffi::c_void;
/// The same, to be read only.
pub type Seen = *const std::ffi::c_void;
/// A function that is told of something.
pub type On<T> = Option<unsafe extern "C" fn(State, *const T, *const Path, *const f64)>;
/// A function that is told only when.
pub type OnTime = Option<unsafe extern "C" fn(State, f64, *const Path, *const f64)>;
/// A function that is asked for a number.
pub type Asked = Option<unsafe extern "C" fn(Seen, *const f64) -> f64>;
/// A function that is asked for several.
pub type Observe = Option<unsafe extern "C" fn(Seen, *mut f64, *const f64)>;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    pub head: Head,
    pub needs: u64,
    pub wants: u64,
    pub manner: u64,
    pub state_size: u64,
    pub observed: *const *const c_char,
    pub observed_count: u64,
    pub begin: Option<unsafe extern "C" fn(State, *const Start, *const f64)>,
    pub on_feedback: On<Feedback>,
    pub on_congestion: On<Congestion>,
    pub window: Asked,
    pub pacing: Option<unsafe extern "C" fn(Seen, *mut Pacing, *const Path, *const f64)>,
    pub threshold: Asked,
    pub on_adjustment: On<Adjustment>,
    pub on_recovered: OnTime,
    pub on_restart: OnTime,
    pub on_lost: On<Lost>,
    pub on_sent: On<Sent>,
    pub timer: Asked,
    pub on_timer: OnTime,
    pub observe: Observe,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub rate: f64,
    pub packet_bytes: f64,
    pub capacity: f64,
    pub round_trip: f64,
    pub in_bytes: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub now: f64,
    pub now_ps: u64,
    pub bytes: i64,
    pub ecn: i64,
    pub waiting_packets: i64,
    pub waiting_bytes: i64,
    pub idle_since: f64,
    pub chance: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    pub head: Head,
    pub wants: u64,
    pub state_size: u64,
    pub observed: *const *const c_char,
    pub observed_count: u64,
    pub on_arrival: Option<unsafe extern "C" fn(State, *const Arrival, *const f64) -> i64>,
    pub begin: Option<unsafe extern "C" fn(State, *const Site, *const f64)>,
    pub on_overflow: Option<unsafe extern "C" fn(State, *const Arrival, *const f64)>,
    pub on_departure: Option<unsafe extern "C" fn(State, f64, i64, *const f64)>,
    pub period: Asked,
    pub on_ticks: Option<unsafe extern "C" fn(State, i64, i64, i64, *const f64)>,
    pub observe: Observe,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    pub size: u64,
    pub version: u64,
    pub laws: *const *const Law,
    pub law_count: u64,
    pub controllers: *const *const Controller,
    pub controller_count: u64,
    pub queues: *const *const Queue,
    pub queue_count: u64,
}
