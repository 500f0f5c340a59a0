//! CoDel: drops from a queue that has kept packets waiting too long for too long.
//!
//! K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, 2018; after
//! K. Nichols, V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012.
//!
//! # The problem
//!
//! A buffer is there to absorb bursts, and a queue that is gone within a round trip has done its work. One that stays
//! delays every packet and helps nobody. The length of a queue does not tell the two apart, nor does any average of it:
//! both depend on the rate of the link and on the traffic. The smallest delay over about a round trip does, since a
//! queue that absorbs bursts is short at some point in that time.
//!
//! # The algorithm
//!
//! CoDel looks at time alone: how long each packet has waited when its turn comes. A packet is *late* if every one that
//! has left within the last `interval`, itself included, has waited for `target` or longer, with more than a packet of
//! the largest size still behind it. One packet in time restarts the interval.
//!
//! ```text
//!     not dropping    the first late packet is dropped at t:
//!                         n ← n - n₀  if that is above 1 and t < next + 16 interval,  else 1
//!                         n₀ ← n,  next ← t + interval/√n
//!     dropping        a packet in time ends it
//!                     as long as packets are late and next ≤ t:
//!                         n ← n + 1, one is dropped;  next ← next + interval/√n  if the one behind it is late too
//! ```
//!
//! The rate at which a TCP flow sends falls with the root of the share of its packets that is lost, so drops that come
//! √n times as fast lower it in even steps (the control law of RFC 8289). If the queue soon comes back, the count n
//! resumes where it was, so that the rate that held it need not be found again.
//!
//! A packet that can be marked is marked instead of dropped, and leaves; it takes the place of the drop at that
//! instant.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `target` | TARGET | 5 ms | RFC 8289, section 4.3: 5 to 10 % of the interval |
//! | `interval` | INTERVAL | 100 ms | section 4.2: a round trip that most flows do not exceed |
//! | `ecn` | | true | RFC 3168; `false` drops |
//!
//! # Domain
//!
//! Links of any rate, since only the last packet is counted; round trips of up to the interval or a few times that.
//! Where a packet of the largest size takes longer than the target, what counts is the packet behind. Flows that have
//! only a few packets in flight cannot be slowed down by much: ten Reno flows on 10 Mbit/s and 40 ms hold 17 ms instead
//! of 5. A lone Reno flow whose window only just fills the path leaves the link idle after each drop, since there is no
//! queue to bridge the gap: 84 % of 100 Mbit/s is used at 40 ms.
//!
//! # Deviations
//!
//! * The largest packet is the largest one of the scenario that crosses the link, and not the MTU of an interface.
//! * The pseudo-code of the RFC only drops. Here marks replace drops one for one, and a marked packet leaves, so at one
//!   instant there are many drops or one mark.
//! * A packet that finds the buffer full is dropped on arrival. That is not a drop in the above sense and is not
//!   counted in n.
//!
//! # What the paper promises
//!
//! * The instants of drops are those of the control law (`a_standing_queue_is_dropped_from_by_the_control_law` and the
//!   others of `tests/codel.rs`), and packet for packet those of the pseudo-code of section 5
//!   (`codel_is_its_model`, in `tests/plain`).
//! * In the domain above, the delay is held near the target whatever the size of the buffer and the rate of the link,
//!   and the link stays busy (`codel_holds_the_delay_near_its_target`, in the tests of the simulator).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, Span, Time, math};

use crate::{
    Backlog, Built, Capacity, Discipline, Host, Item, Line, PacketQueue, Probe, Refusal, Site,
};

/// CoDel's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("codel", |settings, site| Built::Own(Box::new(Codel::new(settings, site))))
        .title("controlled delay: drops as packets leave while all of them have waited too long")
        .source("RFC 8289, Nichols, Jacobson, McGregor & Iyengar 2018")
        .parameters([
            Parameter::span(
                "target",
                "5 ms",
                "queueing time that must not be exceeded for long (TARGET)",
            ),
            Parameter::span(
                "interval",
                "100 ms",
                "how long that is, and the time from the first drop to the second (INTERVAL)",
            ),
            Parameter::flag(
                "ecn",
                true,
                "marks packets that can be marked instead of dropping them",
            ),
        ])
        .check(check)
}

pub(super) fn check(settings: &Settings, _: &Site) -> Result<(), Refusal> {
    let (target, interval) = (settings.span("target"), settings.span("interval"));
    if target >= interval {
        let reason = format!(
            "`target` ({target}) must be below `interval` ({interval}): a good queue gets below the first within the \
             second"
        );
        return Err(("target".into(), reason));
    }
    Ok(())
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Codel {
    line: Line,
    /// From when on packets are late, if none is in time until then.
    late_from: Option<Time>,
    dropping: bool,
    /// n
    count: u64,
    /// n₀
    count_at_start: u64,
    /// next
    next_drop: Time,

    target: Span,
    interval: Span,
    ecn: bool,
    largest: Bytes,
    capacity: Capacity,
}

/// The packet whose turn it is.
#[derive(Clone, Copy, Debug)]
enum Head {
    Nothing,
    InTime(Item),
    Late(Item),
}

impl Head {
    fn item(self) -> Option<Item> {
        match self {
            Self::Nothing => None,
            Self::InTime(item) | Self::Late(item) => Some(item),
        }
    }
}

impl Codel {
    pub(crate) fn new(settings: &Settings, site: &Site) -> Self {
        Self {
            line: Line::default(),
            late_from: None,
            dropping: false,
            count: 0,
            count_at_start: 0,
            next_drop: Time::ZERO,
            target: settings.span("target"),
            interval: settings.span("interval"),
            ecn: settings.flag("ecn"),
            largest: site.packet,
            capacity: site.capacity,
        }
    }

    /// What is waiting.
    pub(crate) fn backlog(&self) -> Backlog {
        self.line.backlog()
    }

    /// Takes the first packet, for which there is no room any more. That is none of CoDel's drops.
    pub(crate) fn shed(&mut self) -> Option<Item> {
        self.line.pop()
    }

    /// Takes the first packet, and tells whether it is late.
    fn take(&mut self, now: Time) -> Head {
        let Some(item) = self.line.pop() else {
            self.late_from = None;
            return Head::Nothing;
        };
        if item.sojourn(now) < self.target || self.line.backlog().bytes <= self.largest {
            self.late_from = None;
            return Head::InTime(item);
        }
        match self.late_from {
            Some(from) if from <= now => Head::Late(item),
            Some(_) => Head::InTime(item),
            None => {
                self.late_from = Some(later(now, self.interval));
                Head::InTime(item)
            }
        }
    }

    /// The first drop, or the first after packets were in time.
    fn begin(&mut self, now: Time) {
        let count = self.count - self.count_at_start;
        let soon = now.since(self.next_drop).0 < self.interval.0.saturating_mul(16);
        self.count = if count > 1 && soon { count } else { 1 };
        self.count_at_start = self.count;
        self.dropping = true;
        self.schedule(now);
    }

    /// The control law: the next drop is due so long after `last`.
    fn schedule(&mut self, last: Time) {
        let gap = self.interval.0 as f64 / math::sqrt(self.count as f64);
        self.next_drop = later(last, Span(gap as u64));
    }

    /// Marks a packet, which then leaves, or drops it.
    fn hit(&self, mut item: Item, host: &mut dyn Host) -> Option<Item> {
        if self.ecn && host.mark(&mut item) {
            return Some(item);
        }
        host.drop(item);
        None
    }
}

/// So much later, or at the end of time.
fn later(time: Time, span: Span) -> Time {
    Time(time.0.saturating_add(span.0))
}

impl PacketQueue for Codel {
    fn enqueue(&mut self, _: Time, item: Item, host: &mut dyn Host) {
        if self.capacity.admits(self.line.backlog(), item.bytes) {
            self.line.push(item);
        } else {
            host.drop(item);
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn Host) -> Option<Item> {
        let mut head = self.take(now);
        if !self.dropping {
            let Head::Late(item) = head else { return head.item() };
            self.begin(now);
            return self.hit(item, host).or_else(|| self.take(now).item());
        }
        while let Head::Late(item) = head {
            if now < self.next_drop {
                return Some(item);
            }
            self.count += 1;
            if let Some(marked) = self.hit(item, host) {
                self.schedule(self.next_drop);
                return Some(marked);
            }
            head = self.take(now);
            if matches!(head, Head::Late(_)) {
                self.schedule(self.next_drop);
            }
        }
        self.dropping = false;
        head.item()
    }

    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("drops", if self.dropping { self.count as f64 } else { 0.0 });
    }
}
