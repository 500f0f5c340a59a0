//! The line of a link that changes: its rate, its delay, what it loses; or one that sends when a trace says.
//!
//! Everything that it will ever do is known in advance, so a packet's departure is known as soon as it is being sent,
//! however often the rate changes until then: what is left of it leaves at the new rate. The queue is told of a new rate
//! before anything else happens to it, and when that began.

use std::sync::Arc;

use longfat_scenario::chance::{Stream, uniform};
use longfat_scenario::{Course, Impairments, LinkCourse, OPPORTUNITY, Thinning, Tidings, Trace};
use longfat_units::{Ecn, PICOSECONDS_PER_SECOND, Rate, Span, Time};

use super::bucket::Bucket;
use super::stepwise::{Line, Stepwise};
use super::thinner::Thinner;
use super::wire::Wire;
use super::{Fate, LATEST, Rare};
use crate::explicit::Marker;

/// How one direction of a link varies.
#[derive(Clone, Debug)]
pub(crate) struct Variation {
    pub(crate) supply: Supply,
    pub(crate) delay: Arc<Course<u64>>,
    loss: Arc<Course<f64>>,
    impairments: Impairments,
}

impl Variation {
    /// What a link does over time; `trace`, if it follows one; and what its wire does to packets.
    pub(crate) fn new(
        course: LinkCourse,
        trace: Option<Arc<Trace>>,
        impairments: Impairments,
    ) -> Self {
        Self {
            supply: trace.map_or_else(|| Supply::Rate(Arc::new(course.rate)), Supply::Trace),
            delay: Arc::new(course.delay),
            loss: Arc::new(course.loss),
            impairments,
        }
    }
}

/// What a link could carry.
#[derive(Clone, Debug)]
pub(crate) enum Supply {
    /// A rate in bit/s.
    Rate(Arc<Course<u64>>),
    /// Opportunities.
    Trace(Arc<Trace>),
}

impl Supply {
    /// How many bits the link can carry after `from`, until `until`.
    pub(crate) fn bits(&self, from: Time, until: Time) -> f64 {
        match self {
            Self::Rate(rate) => rate.integral(from, until) as f64 / PICOSECONDS_PER_SECOND as f64,
            Self::Trace(trace) => {
                let opportunities = trace.passed(until) - trace.passed(from);
                opportunities as f64 * (8 * OPPORTUNITY.0) as f64
            }
        }
    }
}

/// A link that varies: a server, and its line.
#[derive(Debug)]
pub(super) struct Varying {
    pub(super) server: Stepwise,
    pub(super) line: VaryingLine,
    pub(super) thinner: Option<Thinner>,
}

impl Varying {
    /// The queue, and the marker beside it, learn which rates there have been up to `now`.
    #[inline]
    pub(super) fn tell(&mut self, now: Time, marker: &mut Option<Marker>) {
        while let Some((begins, rate)) = self.line.tidings(now) {
            self.server.learn(begins, rate);
            if let Some(marker) = marker {
                marker.on_rate(begins, rate);
            }
        }
    }
}

/// Transmitter and wire of a link that varies.
#[derive(Debug)]
pub(crate) struct VaryingLine {
    policer: Option<Bucket>,
    shaper: Option<Bucket>,
    pub(super) thinning: Option<Thinning>,
    service: Service,
    delay: Arc<Course<u64>>,
    loss: Loss,
    wire: Option<Wire>,
    /// When the packet before is at the far end: a shorter delay lets none pass another.
    last_arrival: Time,
}

/// When packets leave.
#[derive(Debug)]
enum Service {
    Rate {
        rate: Arc<Course<u64>>,
        tidings: Tidings,
        piece: usize,
        /// Work, in bits times picoseconds per second, that was left when the last packet's departure was rounded down.
        carry: u64,
    },
    Trace {
        trace: Arc<Trace>,
        /// The first opportunity that has not been used.
        next: u64,
        /// Bytes left of the one before it.
        left: u64,
    },
}

/// What is destroyed on the wire.
#[derive(Debug)]
enum Loss {
    Constant(Rare),
    Course(Arc<Course<f64>>, Stream),
}

impl VaryingLine {
    /// Its queue knows of the rate `known`. `corruption` is for a link whose losses do not change. `stream` makes the
    /// random numbers of a component.
    pub(crate) fn new(
        variation: Variation,
        known: Rate,
        corruption: Rare,
        stream: impl Fn(&str) -> Stream,
    ) -> Self {
        let Variation { supply, delay, loss, impairments } = variation;
        Self {
            service: match supply {
                Supply::Rate(rate) => {
                    let most = impairments.shaper.map(|shaper| shaper.rate);
                    let tidings = Tidings::new(known, most);
                    Service::Rate { rate, tidings, piece: 0, carry: 0 }
                }
                Supply::Trace(trace) => Service::Trace { trace, next: 0, left: 0 },
            },
            delay,
            loss: if loss.is_constant() {
                Loss::Constant(corruption)
            } else {
                Loss::Course(loss, stream("corruption"))
            },
            policer: impairments.policer.map(Bucket::new),
            shaper: impairments.shaper.map(Bucket::new),
            thinning: impairments.acknowledgments,
            wire: (!impairments.are_none()).then(|| Wire::new(&impairments, stream)),
            last_arrival: Time::ZERO,
        }
    }

    /// The next change of the rate that its queue is to be told of by `now`. A trace has no rate at an instant, and the
    /// mean that its queue knows stays what it is.
    #[inline]
    pub(super) fn tidings(&mut self, now: Time) -> Option<(Time, Rate)> {
        match &mut self.service {
            Service::Rate { rate, tidings, .. } => tidings.by(now, rate),
            Service::Trace { .. } => None,
        }
    }

    /// Does a policer refuse a packet of so many bytes that arrives at `now`?
    pub(super) fn refuses(&mut self, now: Time, bytes: u32) -> bool {
        self.policer.as_mut().is_some_and(|policer| policer.refuses(now, bytes))
    }

    /// The ECN field of a packet that leaves with this one.
    pub(super) fn ecn(&self, field: Ecn) -> Ecn {
        self.wire.as_ref().map_or(field, |wire| wire.ecn(field))
    }

    /// May packets pass one another?
    pub(super) fn reorders(&self) -> bool {
        self.wire.as_ref().is_some_and(Wire::reorders)
    }

    /// The shortest delay that it ever has.
    pub(super) fn least_delay(&self) -> Span {
        Span(self.delay.least())
    }

    /// Does its delay change in time?
    pub(super) fn shifts(&self) -> bool {
        !self.delay.is_constant()
    }

    /// Its delay at `now`.
    pub(super) fn delay_at(&self, now: Time) -> Span {
        Span(self.delay.value(now))
    }
}

impl Line for VaryingLine {
    fn send(&mut self, now: Time, bytes: u32, waited: bool) -> Time {
        let begins = self.shaper.as_mut().map_or(now, |shaper| shaper.wait(now, bytes));
        let (waited, now) = (waited && begins == now, begins);
        match &mut self.service {
            Service::Rate { rate, piece, carry, .. } => {
                let mut work = u64::from(bytes) * 8 * PICOSECONDS_PER_SECOND + *carry;
                let mut now = now;
                loop {
                    let (rate, until) = rate.step(piece, now);
                    if now >= LATEST {
                        return LATEST;
                    }
                    // At the edge itself the next rate takes over, even for less than a picosecond of work.
                    if let Some(whole) =
                        work.checked_div(rate).filter(|&whole| whole < (until - now).0)
                    {
                        *carry = work % rate;
                        return (now + Span(whole)).min(LATEST);
                    }
                    work -= rate * (until - now).0;
                    now = until;
                    // What has been sent by then waits for no rate, which might be zero.
                    if work == 0 {
                        *carry = 0;
                        return now.min(LATEST);
                    }
                }
            }
            Service::Trace { trace, next, left } => {
                // One that was there already may have what the packet before it left of this instant. One that comes
                // now is too late for that.
                if !waited {
                    (*next, *left) = ((*next).max(trace.passed(now)), 0);
                }
                let mut needed = u64::from(bytes);
                while *left < needed {
                    needed -= *left;
                    *left = OPPORTUNITY.0;
                    *next += 1;
                }
                *left -= needed;
                trace.time(*next - 1).min(LATEST)
            }
        }
    }

    fn fate(&mut self, now: Time) -> Fate {
        let corrupted = match &mut self.loss {
            Loss::Constant(rare) => rare.happens(),
            Loss::Course(loss, chance) => uniform(chance) < loss.value(now),
        };
        match &mut self.wire {
            None if corrupted => Fate::Destroyed,
            None => Fate::Arrives,
            Some(wire) => {
                let destroyed = wire.destroys() || corrupted;
                let (twice, unordered) = (wire.duplicates(), wire.reorders());
                Fate::Impaired { destroyed, twice, unordered }
            }
        }
    }

    fn arrival(&mut self, now: Time) -> Time {
        let time = now + Span(self.delay.value(now));
        if let Some(wire) = &mut self.wire {
            return wire.arrival(time);
        }
        self.last_arrival = self.last_arrival.max(time);
        self.last_arrival
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use longfat_queue::{Arrival, Backlog, Built, Capacity, Policy, Verdict};
    use longfat_scenario::chance::stream;
    use longfat_scenario::{Scenario, Step};
    use rand_core::Rng;

    use super::*;

    const SECOND: u64 = PICOSECONDS_PER_SECOND;

    fn line(rate: u64, steps: Vec<Step<u64>>) -> VaryingLine {
        let constant = |value| Course::new(value, Vec::new());
        let variation = Variation {
            supply: Supply::Rate(Arc::new(Course::new(rate, steps))),
            delay: Arc::new(constant(0)),
            loss: Arc::new(Course::new(0.0, Vec::new())),
            impairments: Impairments::default(),
        };
        let chance = |part: &str| stream(1, part);
        VaryingLine::new(variation, Rate(rate), Rare::new(0.0, chance("corruption")), chance)
    }

    #[test]
    fn no_bit_is_lost_to_rounding() {
        // 3 bit/s for 2 s, then 7 bit/s: of 56 bits 50 are left at 2 s, which take 50/7 s.
        let step = Step { at: Time(2 * SECOND), over: Span::ZERO, to: 7 };
        let mut line = line(3, vec![step]);
        let mut now = Time::ZERO;
        for _ in 0..7 {
            now = line.send(now, 1, true);
        }
        assert_eq!(now, Time(2 * SECOND + 50 * SECOND / 7));
    }

    /// 8 bits at 3 bit/s take 2⅔ s: two thirds of a picosecond more than a whole number of them.
    #[test]
    fn what_is_left_at_an_edge_however_little_leaves_at_the_next_rate() {
        const WHOLE: u64 = 2_666_666_666_666;
        let ends = |at| line(3, vec![Step { at: Time(at), over: Span::ZERO, to: 0 }]);
        assert_eq!(ends(WHOLE).send(Time::ZERO, 1, false), LATEST);
        assert_eq!(ends(WHOLE + 1).send(Time::ZERO, 1, false), Time(WHOLE));
        // The second packet has two thirds of a picosecond of the first to make up for. A second later, at 2 bit/s, it has
        // 5 · 10¹² + 2 left, and leaves as the rate is 3 bit/s again: nothing is left for the third.
        let slow = Time(WHOLE) + Span::from_seconds(1);
        let fast = slow + Span(5 * SECOND / 2 + 1);
        let mut line = line(
            3,
            [(slow, 2), (fast, 3)].map(|(at, to)| Step { at, over: Span::ZERO, to }).to_vec(),
        );
        let mut now = Time::ZERO;
        let mut send = || {
            now = line.send(now, 1, true);
            now
        };
        assert_eq!([send(), send(), send()], [Time(WHOLE), fast, fast + Span(WHOLE)]);
    }

    #[test]
    fn a_rate_that_never_returns_holds_a_packet_to_the_end_of_time() {
        let mut line = line(8, vec![Step { at: Time(SECOND / 2), over: Span::ZERO, to: 0 }]);
        assert_eq!(line.send(Time::ZERO, 1, false), LATEST);
        assert_eq!(line.send(Time::ZERO + Span::from_seconds(9), 1, false), LATEST);
    }

    /// A channel that turns bad and good again with every packet, and a wire that destroys every other one at random besides:
    /// what happens on the wire does not change what the channel does.
    #[test]
    fn a_channel_goes_on_whatever_else_destroys_packets() {
        let text = "duration = \"1 s\"\n[link.l]\nrate = \"8 Mbit/s\"\ndelay = \"1 ms\"\nloss = 0.5\n\
             burst_loss = { p = 1, r = 1 }\n[[flow]]\nname = \"f\"\ncontrol = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\n";
        let scenario = Scenario::read(text, "channel.toml", &[], None).expect("it is right");
        let link = &scenario.links[0];
        let course = link.course(false, scenario.duration);
        let variation = Variation::new(course, None, link.forward.impairments.clone());
        let chance = |part: &str| stream(1, part);
        let corruption = Rare::new(link.forward.loss, chance("corruption"));
        let mut line = VaryingLine::new(variation, link.forward.rate, corruption, chance);
        let destroyed: Vec<bool> = (0..1000)
            .map(|_| matches!(line.fate(Time::ZERO), Fate::Impaired { destroyed: true, .. }))
            .collect();
        let count = |first| destroyed.iter().skip(first).step_by(2).filter(|lost| **lost).count();
        assert_eq!(count(1), 500);
        // 250, give or take 11.
        assert!(count(0).abs_diff(250) < 56, "{}", count(0));
    }

    /// Notes the ticks before each new rate, when that begins, and the rate.
    #[derive(Debug, Default)]
    struct Listener {
        ticks: u64,
        notes: Arc<Mutex<Vec<(u64, Time, Rate)>>>,
    }

    impl Policy for Listener {
        fn on_arrival(&mut self, _: &Arrival, _: &mut dyn Rng) -> Verdict {
            Verdict::Keep
        }

        fn period(&self) -> Option<Span> {
            Some(Span::from_millis(1))
        }

        fn on_ticks(&mut self, count: u64, _: Backlog) {
            self.ticks += count;
        }

        fn on_rate(&mut self, now: Time, rate: Rate) {
            self.notes.lock().expect("nothing else holds it").push((self.ticks, now, rate));
        }
    }

    /// 8 bit/s, from 2.5 ms on 4 bit/s, from 5 to 6 ms nothing, from 7 ms on 16 bit/s; the queue looks at each whole
    /// millisecond, that at 7 ms included, before it learns of the rate of that instant.
    #[test]
    fn a_queue_learns_of_each_rate_when_it_begins_however_late_somebody_looks() {
        let milliseconds = |tenths: u64| Time(tenths * SECOND / 10_000);
        let step = |(tenths, to)| Step { at: milliseconds(tenths), over: Span::ZERO, to };
        let steps = [(25, 4), (50, 0), (60, 4), (70, 16)].map(step);
        for looks in [vec![99], (0..99).collect(), vec![24, 25, 70, 71]] {
            let listener = Listener::default();
            let notes = Arc::clone(&listener.notes);
            let queue = Built::Fifo(Some(Box::new(listener)));
            let server = Stepwise::new(queue.into_queue(Capacity::Unbounded));
            let line = line(8, steps.to_vec());
            let mut varying = Varying { server, line, thinner: None };
            for look in looks {
                varying.tell(milliseconds(look), &mut None);
            }
            let notes = notes.lock().expect("nothing else holds it");
            let expected = [(2, milliseconds(25), Rate(4)), (7, milliseconds(70), Rate(16))];
            assert_eq!(*notes, expected);
        }
    }
}
