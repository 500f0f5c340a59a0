//! Queue policies.

use std::sync::Arc;

use longfat_queue::{Arrival, Backlog, Built, Capacity, Discipline, Policy, Site, Verdict};
use longfat_units::fault::{self, Fault};
use longfat_units::parameter::Settings;
use longfat_units::{Origin, Probe, Span, Time};
use rand_core::Rng;

use crate::table::{
    Head, Keep, Memory, check_bits, check_state, observed, read_head, read_sized, there, values,
};
use crate::{TableError, abi};

/// A policy as its table describes it.
#[derive(Debug)]
struct Table {
    name: String,
    wants_chance: bool,
    state_size: usize,
    observed: Vec<&'static str>,
    on_arrival: unsafe extern "C" fn(abi::State, *const abi::Arrival, *const f64) -> i64,
    raw: abi::Queue,
    _keep: Keep,
}

// SAFETY: the pointers in `raw` are not followed any more, and the header demands functions that any thread may call.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// Reads a table and makes an entry of it.
///
/// # Safety
/// `at` is null or points to a table that keeps the rules of the header for as long as `keep` lives.
pub(crate) unsafe fn entry(
    at: *const abi::Queue,
    keep: Keep,
    origin: Origin,
) -> Result<Discipline, TableError> {
    // SAFETY: the caller's promise.
    let (raw, head, observed) = unsafe {
        let raw = read_sized(at)?;
        (raw, read_head(&raw.head, true)?, observed(raw.observed, raw.observed_count)?)
    };
    let Head { name, title, source, parameters } = head;
    check_bits(&name, "wants", raw.wants, abi::wants::CHANCE)?;
    if !observed.is_empty() {
        there(&name, "observe", raw.observe)?;
    }
    if raw.period.is_some() {
        there(&name, "on_ticks", raw.on_ticks)?;
    }
    let table = Arc::new(Table {
        wants_chance: raw.wants & abi::wants::CHANCE != 0,
        state_size: check_state(&name, raw.state_size)?,
        observed,
        on_arrival: there(&name, "on_arrival", raw.on_arrival)?,
        name: name.clone(),
        raw,
        _keep: keep,
    });
    let declared = parameters.clone();
    let state = table.state_size;
    let discipline = Discipline::new(name, move |settings: &Settings, site: &Site| {
        let p = values(&declared, settings);
        Built::Fifo(Some(Box::new(Decider::new(Arc::clone(&table), p, site))))
    });
    Ok(discipline.title(title).source(source).parameters(parameters).memory(state).origin(origin))
}

/// The policy of one direction of a link.
#[derive(Debug)]
struct Decider {
    table: Arc<Table>,
    p: Arc<[f64]>,
    state: Memory,
    period: Option<Span>,
}

/// A number in [0, 1), a multiple of 2⁻⁵³.
fn uniform(chance: &mut dyn Rng) -> f64 {
    (chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn told(arrival: &Arrival, chance: f64) -> abi::Arrival {
    abi::Arrival {
        now: arrival.now.seconds(),
        now_ps: arrival.now.0,
        bytes: arrival.bytes.0.cast_signed(),
        ecn: i64::from(arrival.ecn.bits()),
        waiting_packets: arrival.backlog.packets.cast_signed(),
        waiting_bytes: arrival.backlog.bytes.0.cast_signed(),
        idle_since: arrival.idle_since.map_or(f64::NAN, Time::seconds),
        chance,
    }
}

impl Decider {
    fn new(table: Arc<Table>, p: Arc<[f64]>, site: &Site) -> Self {
        let mut decider = Self { state: Memory::new(table.state_size), table, p, period: None };
        let (capacity, in_bytes) = match site.capacity {
            Capacity::Packets(packets) => (packets as f64, false),
            Capacity::Bytes(bytes) => (bytes.0 as f64, true),
            Capacity::Unbounded => (f64::INFINITY, false),
        };
        let site = abi::Site {
            rate: site.rate.0 as f64,
            packet_bytes: site.packet.0 as f64,
            capacity,
            round_trip: site.round_trip.map_or(f64::NAN, Span::seconds),
            in_bytes: i64::from(in_bytes),
        };
        if let Some(begin) = decider.table.raw.begin {
            // SAFETY: the table promises functions that take a state of this size; all live through the call.
            unsafe { begin(decider.state.get_mut(), &raw const site, decider.p.as_ptr()) };
        }
        if let Some(period) = decider.table.raw.period {
            // SAFETY: as above.
            let seconds = unsafe { period(decider.state.get(), decider.p.as_ptr()) };
            if (1e-9..=1e7).contains(&seconds) {
                decider.period = Some(Span::from_seconds_f64(seconds));
            } else {
                decider.complain("period", seconds, "a time from 1e-9 to 1e7 seconds", None);
            }
        }
        decider
    }

    #[cold]
    #[inline(never)]
    fn complain(&self, what: &str, value: f64, wanted: &str, now: Option<Time>) {
        fault::report(|| {
            let who = format!("the queue `{}`", self.table.name);
            let fault = Fault::new(who, crate::wrong(what, value, "", wanted));
            match now {
                Some(now) => fault.at(now),
                None => fault,
            }
        });
    }
}

impl Policy for Decider {
    fn on_arrival(&mut self, arrival: &Arrival, chance: &mut dyn Rng) -> Verdict {
        let drawn = if self.table.wants_chance { uniform(chance) } else { f64::NAN };
        let event = told(arrival, drawn);
        let state = self.state.get_mut();
        // SAFETY: as in `new`.
        let verdict = unsafe { (self.table.on_arrival)(state, &raw const event, self.p.as_ptr()) };
        match verdict {
            abi::verdict::KEEP => Verdict::Keep,
            abi::verdict::MARK => Verdict::Mark,
            abi::verdict::DROP => Verdict::Drop,
            abi::verdict::RAISED => {
                let raised = f64::from_bits(abi::RAISED);
                self.complain("on_arrival", raised, "", Some(arrival.now));
                Verdict::Keep
            }
            other if abi::raising(other as u64, "on_arrival").is_some() => {
                self.complain("on_arrival", f64::from_bits(other as u64), "", Some(arrival.now));
                Verdict::Keep
            }
            other => {
                let wanted = "0 to keep, 1 to mark or 2 to drop the packet";
                self.complain("on_arrival", other as f64, wanted, Some(arrival.now));
                Verdict::Keep
            }
        }
    }

    fn on_overflow(&mut self, arrival: &Arrival) {
        let Some(on_overflow) = self.table.raw.on_overflow else { return };
        let event = told(arrival, f64::NAN);
        let state = self.state.get_mut();
        // SAFETY: as in `new`.
        unsafe { on_overflow(state, &raw const event, self.p.as_ptr()) };
    }

    fn watches_departures(&self) -> bool {
        self.table.raw.on_departure.is_some()
    }

    fn on_departure(&mut self, now: Time, remaining: u64) {
        let Some(on_departure) = self.table.raw.on_departure else { return };
        let state = self.state.get_mut();
        // SAFETY: as in `new`.
        unsafe { on_departure(state, now.seconds(), remaining.cast_signed(), self.p.as_ptr()) };
    }

    fn period(&self) -> Option<Span> {
        self.period
    }

    fn on_ticks(&mut self, count: u64, backlog: Backlog) {
        let Some(on_ticks) = self.table.raw.on_ticks else { return };
        let (packets, bytes) = (backlog.packets.cast_signed(), backlog.bytes.0.cast_signed());
        let state = self.state.get_mut();
        // SAFETY: as in `new`.
        unsafe { on_ticks(state, count.cast_signed(), packets, bytes, self.p.as_ptr()) };
    }

    fn observe(&self, probe: &mut dyn Probe) {
        crate::observe(self.table.raw.observe, &self.table.observed, &self.state, &self.p, probe);
    }
}
