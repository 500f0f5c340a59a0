//! What disciplines share: randomness, and the unit in which a queue without a `mode` of its own counts.

use longfat_units::parameter::{Settings, shortest};
use longfat_units::{Span, math};
use rand_core::Rng;

use crate::{Arrival, Backlog, Capacity, Refusal, Site, Verdict};

/// A number in [0, 1): 53 random bits.
#[inline]
pub(crate) fn uniform(chance: &mut dyn Rng) -> f64 {
    math::uniform(chance.next_u64())
}

/// Marks with probability `p`, or drops where marking is not possible. If p is 0, no random number is drawn.
#[inline]
pub(crate) fn mark_at_random(
    p: f64,
    ecn: bool,
    arrival: &Arrival,
    chance: &mut dyn Rng,
) -> Verdict {
    if p <= 0.0 || uniform(chance) >= p {
        Verdict::Keep
    } else if ecn && arrival.ecn.is_capable() {
        Verdict::Mark
    } else {
        Verdict::Drop
    }
}

/// The unit in which a queue counts its lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthUnit {
    /// Packets of any size.
    Packets,
    /// Bytes.
    Bytes,
}

impl LengthUnit {
    /// That of the buffer, in which a queue without a `mode` of its own counts; packets if there is no limit.
    pub fn of(capacity: Capacity) -> Self {
        match capacity {
            Capacity::Bytes(_) => Self::Bytes,
            Capacity::Packets(_) | Capacity::Unbounded => Self::Packets,
        }
    }

    /// The size of a largest packet in this unit.
    pub(crate) fn per_packet(self, site: &Site) -> f64 {
        match self {
            Self::Packets => 1.0,
            Self::Bytes => site.packet.0 as f64,
        }
    }

    /// What is waiting, in this unit.
    pub(crate) fn length(self, backlog: Backlog) -> f64 {
        match self {
            Self::Packets => backlog.packets as f64,
            Self::Bytes => backlog.bytes.0 as f64,
        }
    }

    /// A length with this unit, as a scenario file has it.
    pub fn show(self, length: f64) -> String {
        let unit = match self {
            Self::Packets => "packets",
            Self::Bytes => "B",
        };
        format!("{} {unit}", shortest(length))
    }
}

/// A `target` must be below the buffer: a queue that cannot get above it is never marked.
pub(crate) fn check_target(settings: &Settings, site: &Site) -> Result<(), Refusal> {
    check_below("target", settings, site)
}

/// The length called `key` must be below the buffer: nothing would happen above it otherwise.
pub(crate) fn check_below(
    key: &'static str,
    settings: &Settings,
    site: &Site,
) -> Result<(), Refusal> {
    let length = settings.number(key);
    let unit = LengthUnit::of(site.capacity);
    let space = match site.capacity {
        Capacity::Packets(packets) => packets as f64,
        Capacity::Bytes(bytes) => bytes.0 as f64,
        Capacity::Unbounded => return Ok(()),
    };
    if length >= space {
        let reason = format!(
            "`{key}` ({}) must be below the buffer ({}): the queue could never exceed it",
            unit.show(length),
            unit.show(space)
        );
        return Err((key.into(), reason));
    }
    Ok(())
}

/// Looking at the queue more often than this would not be a simulation of a router.
const SHORTEST_INTERVAL: Span = Span(1_000_000);

/// An `interval` must be long enough for the simulation to do more than look at the queue.
pub(crate) fn check_interval(settings: &Settings) -> Result<(), Refusal> {
    let interval = settings.span("interval");
    if interval < SHORTEST_INTERVAL {
        let reason =
            format!("`interval` must be at least {SHORTEST_INTERVAL}, but it is {interval}");
        return Err(("interval".into(), reason));
    }
    Ok(())
}
