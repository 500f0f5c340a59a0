//! XCP: a router that divides its spare capacity among the packets that pass.
//!
//! D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002,
//! section 3.5 and appendix A; A. Falk, Y. Pryadkin, D. Katabi, "Specification for the Explicit Control Protocol
//! (XCP)", draft-falk-xcp-spec-03, 2007, section 4.
//!
//! # The problem
//!
//! How fast the load should follow the capacity and how the capacity should be shared are two questions, and a law such
//! as Reno's has one answer for both. XCP separates them. An *efficiency controller* looks at the load and the queue
//! alone and decides how much the load should change; a *fairness controller* divides the change among the flows. It
//! needs no list of flows: each packet carries the window and the round trip of its own ([`RouterHeader`]).
//!
//! # The algorithm
//!
//! Once per control interval d, the mean round trip of the flows, with the load y and the capacity C in bytes per
//! second and the persistent queue Q in bytes:
//!
//! ```text
//!     F = α (C - y) - β Q/d                             how much the load should change (equation 1, φ/d)
//!     h = max(0, γ y - |F|)                             how much is taken from some and given to others (equation 2)
//!     ξ_p = (h + max(F, 0)) / Σ x_i                     equation 6: the same rate for every flow
//!     ξ_n = (h + max(-F, 0)) / Σ s_i                    equation 9: the same share of every flow's rate
//! ```
//!
//! where packet i has size `s_i` and stands for `x_i` = `H_rtt/H_cwnd` seconds, the time from one packet of its flow to
//! the next. Sums are over the packets of the interval before. The x of a flow add up to the length of the interval, so
//! their sum counts flows, and d = Σ `H_rtt` x / Σ x is the mean over flows, not packets. As a packet arrives:
//!
//! ```text
//!     p = min(ξ_p x_i, what is left to give)
//!     n = min(ξ_n s_i, what is left to take)
//!     H_feedback ← min(H_feedback, (p - n) rtt_i/s_i)   as a change of the window, in segments
//! ```
//!
//! If the sender or a router upstream allows less than p - n, more is taken, up to what is left to take, until only so
//! much is given in all; what is not given then remains for others.
//!
//! Q is the queue that does not drain within a round trip: the smallest one that an arriving packet has found over the
//! last propagation delay, which is d without the delay of this queue. XCP does not drop; what does not fit into the
//! buffer is lost.
//!
//! # Parameters
//!
//! | key | symbol | default | source |
//! |---|---|---|---|
//! | `alpha` | α | 0.4 | 2002, section 3.5.1 |
//! | `beta` | β | 0.226 | 2002, section 3.5.1: α² √2 |
//! | `gamma` | γ | 0.1 | 2002, section 3.5.2 |
//!
//! # Domain
//!
//! Stable for 0 < α < π/(4√2) = 0.555 and β = α² √2, whatever the capacity, the delay and the number of flows (theorem
//! 1), if they all have the same round trip. Other values are accepted, to see what happens.
//!
//! C is what the router believes that it can send. Where it cannot know, it gives too much, and nothing in the equations
//! corrects that but a standing queue: behind a policer, which drops before the queue, XCP loses most of what it sends
//! (78 % with 10 of 100 Mbit/s). A link that follows a trace of opportunities has no rate at an instant; C is then the
//! mean of the trace, too much half of the time.
//!
//! Flows that are limited elsewhere leave their part of the shuffled traffic unclaimed, so with several bottlenecks the
//! utilisation and the shares can fall short of max-min fairness. Packets without a header, such as acknowledgments,
//! are load and nothing else.
//!
//! # Deviations
//!
//! * The first control interval is 10 ms, and later ones last at least as long as a packet of the largest size takes to
//!   send, in which at least one can arrive. The paper has no bounds; the draft leaves them to the router.
//! * A packet that does not know its round trip yet gets no feedback, neither positive nor negative, as in the draft.
//! * What a packet that is allowed less than p - n leaves to others follows the draft: the paper's appendix A charges it
//!   amounts that do not add up to what it gets. If it gives up more than is left to take, others do not get the rest;
//!   from its authors' program for ns-2 they do, as long as the interval lasts. Over links of 50 and 100 Mbit/s in a row,
//!   with nine flows, both give the same rates to 10 kbit/s.
//! * A queue that is read as an interval ends is read first.
//! * Packets that overflow are input traffic, and are neither told nor counted among the x and in d.
//! * Where else the draft differs from the paper of 2002, the paper is followed. The draft reads the persistent queue every
//!   Tq = max(2 ms, (d - q/C)/2) instead of over a propagation delay, with q the queue at that instant, as the smallest one
//!   that departures leave instead of the smallest that arrivals find; and round trips above a bound
//!   (`XCP_MAX_INTERVAL`) count as that in d.
//! * The packet in service is not part of Q, and Q is zero if no packet has arrived over that time.
//! * Packets are told as they arrive, not as they leave, so that the departures need no events: they learn what the
//!   router has decided by then, older by the delay of this queue, which XCP keeps short.
//! * C is the rate of the link as it is when a control interval ends, and during an outage that before it: nothing that
//!   is decided then is heard until there is a rate again. Where a `shaper` behind the queue is slower than the link, C
//!   is its rate.
//!
//! # What the paper promises
//!
//! * What is given and taken in an interval is what equations 1 to 9 say (`tests/xcp.rs`).
//! * Full utilisation, no drops, and equal rates over round trips of 40 to 300 ms (`crates/sim/tests/explicit.rs`).

use longfat_units::parameter::{Parameter, Settings};
use longfat_units::{Bytes, Rate, RouterHeader, Span, Time};
use rand_core::Rng;

use crate::{Arrival, Built, Discipline, Policy, Probe, Site, Verdict};

/// XCP's entry in the catalogue.
pub fn discipline() -> Discipline {
    Discipline::new("xcp", |settings, site| Built::Fifo(Some(Box::new(Xcp::new(settings, site)))))
        .title("XCP: divides spare capacity among the flows of the controller of the same name")
        .source("Katabi, Handley & Rohrs, SIGCOMM 2002; draft-falk-xcp-spec-03")
        .parameters([
            Parameter::number(
                "alpha",
                0.4,
                0.0,
                10.0,
                "share of the spare capacity that is given per round trip",
            ),
            Parameter::number(
                "beta",
                0.226,
                0.0,
                10.0,
                "share of the queue that is taken per round trip",
            ),
            Parameter::number(
                "gamma",
                0.1,
                0.0,
                1.0,
                "share of the load that changes hands per round trip",
            ),
        ])
}

/// The first control interval.
const FIRST_INTERVAL: Span = Span::from_millis(10);

/// The policy. Rates are in bytes per second, times in seconds.
#[derive(Debug)]
struct Xcp {
    /// The earlier of the ends of the control interval and of the time over which the queue is watched.
    next: Time,
    began: Time,
    ends: Time,
    queue_due: Time,

    /// Bytes that have arrived in this interval.
    input: u64,
    /// Σ x
    gaps: f64,
    /// Σ `H_rtt` x
    round_trips: f64,
    /// The least bytes that an arrival has found waiting since the queue was last read; `None` if there was none.
    least: Option<u64>,
    /// What the last arrival found.
    last: u64,

    /// d
    round_trip: Option<f64>,
    /// Q, in bytes.
    queue: f64,
    /// F
    change: f64,
    /// `ξ_p`: rate given for each second of x.
    giving: f64,
    /// `ξ_n`: rate taken for each byte.
    taking: f64,
    /// What is left of both.
    to_give: f64,
    to_take: f64,

    /// C
    capacity: f64,
    alpha: f64,
    beta: f64,
    gamma: f64,
    shortest: Span,
    /// The largest packet.
    packet: Bytes,
}

impl Xcp {
    fn new(settings: &Settings, site: &Site) -> Self {
        let first = Time::ZERO + FIRST_INTERVAL;
        let mut router = Self {
            next: first,
            began: Time::ZERO,
            ends: first,
            queue_due: first,
            input: 0,
            gaps: 0.0,
            round_trips: 0.0,
            least: None,
            last: 0,
            round_trip: None,
            queue: 0.0,
            change: 0.0,
            giving: 0.0,
            taking: 0.0,
            to_give: 0.0,
            to_take: 0.0,
            capacity: 0.0,
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            gamma: settings.number("gamma"),
            shortest: Span(1),
            packet: site.packet,
        };
        router.set_rate(site.rate);
        router
    }

    fn set_rate(&mut self, rate: Rate) {
        self.capacity = rate.0 as f64 / 8.0;
        self.shortest = rate.time_for(self.packet).max(Span(1));
    }

    /// A packet arrives and finds `waiting` bytes.
    #[inline]
    fn count(&mut self, now: Time, bytes: Bytes, waiting: Bytes) {
        if self.next <= now {
            self.fire(now);
        }
        self.input += bytes.0;
        self.last = waiting.0;
        self.least = Some(self.least.map_or(waiting.0, |least| least.min(waiting.0)));
    }

    /// Fires what is due at `now`.
    #[cold]
    fn fire(&mut self, now: Time) {
        let (mut readings, mut decisions) = (0, 0);
        while self.next <= now {
            if self.queue_due <= self.ends {
                self.queue = self.least.take().unwrap_or_default() as f64;
                self.queue_due = self.queue_due.saturating_add(self.propagation());
                readings += 1;
            } else {
                self.decide(self.ends);
                decisions += 1;
            }
            // Nothing has arrived since the last call: from the second on, all are alike.
            if readings >= 2 && decisions >= 2 {
                let (interval, propagation) = (self.ends - self.began, self.propagation());
                let passed = interval * (now.since(self.ends).0 / interval.0);
                (self.began, self.ends) = (self.began + passed, self.ends + passed);
                self.queue_due += propagation * (now.since(self.queue_due).0 / propagation.0);
            }
            self.next = self.ends.min(self.queue_due);
        }
    }

    /// The last propagation delay.
    fn propagation(&self) -> Span {
        self.round_trip.map_or(FIRST_INTERVAL, |round_trip| {
            self.interval(round_trip - self.last as f64 / self.capacity)
        })
    }

    /// How long something lasts that should take so many seconds.
    fn interval(&self, seconds: f64) -> Span {
        Span::from_seconds_f64(seconds.max(0.0)).max(self.shortest)
    }

    /// The control interval ends.
    fn decide(&mut self, now: Time) {
        if self.gaps > 0.0 {
            self.round_trip = Some(self.round_trips / self.gaps);
        }
        let load = self.input as f64 / (now - self.began).seconds();
        let drain = self.round_trip.map_or(0.0, |round_trip| self.queue / round_trip);
        self.change = self.alpha * (self.capacity - load) - self.beta * drain;
        let shuffled = (self.gamma * load - self.change.abs()).max(0.0);
        self.to_give = shuffled + self.change.max(0.0);
        self.to_take = shuffled + (-self.change).max(0.0);
        self.giving = if self.gaps > 0.0 { self.to_give / self.gaps } else { 0.0 };
        self.taking = if self.input > 0 { self.to_take / self.input as f64 } else { 0.0 };
        (self.input, self.gaps, self.round_trips) = (0, 0.0, 0.0);
        let length = self.round_trip.map_or(FIRST_INTERVAL, |seconds| self.interval(seconds));
        (self.began, self.ends) = (now, now.saturating_add(length));
    }
}

impl Policy for Xcp {
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn Rng) -> Verdict {
        self.count(arrival.now, arrival.bytes, arrival.backlog.bytes);
        Verdict::Keep
    }

    fn on_overflow(&mut self, arrival: &Arrival) {
        self.count(arrival.now, arrival.bytes, arrival.backlog.bytes);
    }

    fn reads_headers(&self) -> bool {
        true
    }

    /// What this packet is told: equations 3, 4 and 7, within what is left.
    fn on_header(&mut self, bytes: Bytes, header: &mut RouterHeader) {
        let Some(rtt) = header.rtt.map(Span::seconds) else {
            header.feedback = header.feedback.min(0.0);
            return;
        };
        let gap = rtt / header.window.0;
        self.gaps += gap;
        self.round_trips += rtt * gap;
        let bytes = bytes.0 as f64;
        let mut given = (self.giving * gap).min(self.to_give);
        let mut taken = (self.taking * bytes).min(self.to_take);
        let offered = given - taken;
        // A change of the window by a segment is one of the rate by this.
        let segment = bytes / rtt;
        let allowed = header.feedback * segment;
        if allowed > offered {
            header.feedback = offered / segment;
        } else {
            taken = (taken + (offered - allowed)).min(self.to_take);
            given = (allowed + taken).max(0.0);
        }
        self.to_give -= given;
        self.to_take -= taken;
    }

    /// The next decision goes by it.
    fn on_rate(&mut self, now: Time, rate: Rate) {
        if self.next <= now {
            self.fire(now);
        }
        self.set_rate(rate);
    }

    /// As they were at the last arrival: the mean round trip in seconds, the persistent queue in bytes, and by how much
    /// the load should change in bit/s.
    fn observe(&self, probe: &mut dyn Probe) {
        probe.value("round_trip", self.round_trip.unwrap_or_default());
        probe.value("persistent_queue", self.queue);
        probe.value("change", 8.0 * self.change);
    }
}
