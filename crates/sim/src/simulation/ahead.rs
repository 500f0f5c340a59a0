//! Reading ahead, for networks that are larger than the caches.
//!
//! With very many flows, what an event needs was used a round trip ago and has left the caches since: its place in the
//! wheel, its pipe, the packet in it, both ends of its flow, the controller, and the pipe that the packet goes to. Each
//! is found through the one before. So what some of the next events need is asked for before its turn, a step further
//! each time, when what the step is found through has arrived:
//!
//! ```text
//!     events ahead   asked for                             found through
//!     24             place in the wheel, pipe              slot
//!     18             packets, flow                         pipe
//!     13             the end that the packet goes to, its  flow, packet
//!                    cargo, the next slot and pipe, the
//!                    bucket of the next packet
//!     8              controller, the cargo of the packet   sender, packet
//!                    behind
//!     3              the end of the next pipe              next pipe
//! ```
//!
//! Packets often come in trains: once one has left its pipe, the cargo of the one after the next is asked for.
//!
//! Timers, where so many are set that they are sorted ahead, have steps of their own: 16 timers ahead what tells whether
//! a timer still counts is asked for, 10 ahead what tells whether it has run out, 4 ahead the sender if it has. So have
//! packets that are about to cross the last link of a turn: 24 packets ahead the flow is asked for, 16 ahead the end and
//! the cargo, 8 ahead the controller.
//!
//! Nothing depends on what is asked for.

use longfat_pages::{prefetch, prefetch_start};
use longfat_units::Time;

use super::Simulation;
use super::turns::Arrival;
use crate::cargo::Hold;
use crate::events::{Timer, Wheel};
use crate::flow::Flow;
use crate::network::Network;
use crate::pipe::Slot;
use crate::sender::Sends;

/// A network of so many slots, or of a quarter of that in flows, is larger than the near caches.
const LARGE: usize = 1 << 15;

/// How many events ahead each step is.
const STEPS: [usize; 5] = [24, 18, 13, 8, 3];
/// The same for timers, and for packets that are about to cross their last link.
const TIMER_STEPS: [usize; 3] = [16, 10, 4];
const CROSSING_STEPS: [usize; 3] = [24, 16, 8];
/// Room for the first step.
const PLACES: usize = 32;

/// The slots of the next events, as far as they have been seen, and how far each step has come among them.
#[derive(Debug, Default)]
pub(super) struct Lookout {
    /// Tick and slot.
    seen: [(u64, u32); PLACES],
    /// How many have been handled, and how many each step has dealt with, since ticks are counted like this.
    gone: usize,
    done: [usize; STEPS.len()],
    /// How they are counted ([`Wheel::tick`]).
    ticks: Option<(u32, usize)>,
    /// When the next timer runs out.
    timer: Time,
}

impl Simulation {
    /// Asks for something of each of the next events.
    #[inline(never)]
    pub(super) fn read_ahead(&mut self) {
        let Self { lookout, heads, timers, hold, network, .. } = self;
        lookout.look(heads, |step, slot| network.prefetch(heads, hold, step, slot));
        if let Some(pipe) = heads.taken().and_then(|slot| network.pipes.get(slot))
            && let Some(cargo) = pipe.second_cargo()
        {
            hold.prefetch(cargo);
        }
        if lookout.timer != timers.next() {
            lookout.timer = timers.next();
            for (step, others) in TIMER_STEPS.into_iter().enumerate() {
                if let Some((time, timer)) = timers.after(others) {
                    network.prefetch_for_timer(step, time, timer);
                }
            }
        }
    }

    /// Asks for something that the packets behind this one of the arrivals need once they have crossed their last link.
    #[inline]
    pub(super) fn read_behind(&self, arrivals: &[Arrival], index: usize) {
        for (step, ahead) in CROSSING_STEPS.into_iter().enumerate() {
            if let Some(Arrival { packet, .. }) = arrivals.get(index + ahead) {
                let flow = &self.network.flows[packet.flow as usize];
                flow.prefetch(step, !packet.is_ack());
                if step == 1
                    && let Some(cargo) = packet.cargo()
                {
                    self.hold.prefetch(cargo);
                }
            }
        }
    }
}

impl Lookout {
    /// Lets each step deal with the slots that are now as far ahead as it is.
    #[inline]
    fn look(&mut self, heads: &Wheel, prefetch: impl Fn(usize, usize)) {
        let (now, ticks) = heads.tick();
        if self.ticks != Some(ticks) {
            *self = Self { ticks: Some(ticks), timer: self.timer, ..Self::default() };
        }
        while self.gone < self.done[0] && self.seen[self.gone % PLACES].0 <= now {
            self.gone += 1;
        }
        let mut last = match self.done[0] {
            seen if seen == self.gone => now,
            seen => self.seen[(seen - 1) % PLACES].0,
        };
        while self.done[0] < self.gone + STEPS[0]
            && let Some((tick, slot)) = heads.bucket_after(last)
        {
            self.seen[self.done[0] % PLACES] = (tick, slot as u32);
            self.done[0] += 1;
            last = tick;
            prefetch(0, slot);
        }
        let Self { seen, gone, done: [first, others @ ..], .. } = self;
        for (step, (done, ahead)) in others.iter_mut().zip(&STEPS[1..]).enumerate() {
            *done = (*done).max(*gone);
            while *done < (*first).min(*gone + ahead) {
                prefetch(step + 1, seen[*done % PLACES].1 as usize);
                *done += 1;
            }
        }
    }
}

impl Network {
    /// Is it larger than the near caches?
    pub(super) fn is_large(&self) -> bool {
        self.pipes.len().max(4 * self.flows.len()) >= LARGE
    }

    /// A step for a timer that runs out at `time`.
    #[inline]
    fn prefetch_for_timer(&self, step: usize, time: Time, timer: Timer) {
        match timer {
            Timer::Retransmission(flow) => self.flows[flow as usize].prefetch_timer(step, time),
            // All of the flow is written then.
            Timer::Start(flow) if step == 1 => prefetch(&self.flows[flow as usize]),
            _ => {}
        }
    }

    /// A step for an event in `slot`.
    #[inline]
    fn prefetch(&self, heads: &Wheel, hold: &Hold, step: usize, slot: usize) {
        let pipe = &self.pipes[slot];
        if step == 0 {
            heads.prefetch(slot);
            return pipe.prefetch();
        }
        if step == 1 {
            pipe.prefetch_first();
        }
        let Some(flow) = self.flows.get(pipe.flow as usize) else { return };
        let to_receiver = matches!(pipe.end, Slot::Out(_));
        if step < 4 {
            flow.prefetch(step - 1, to_receiver);
        }
        match step {
            2 => {
                if let Some(cargo) = pipe.first_cargo() {
                    hold.prefetch(cargo);
                }
                if let Some(time) = pipe.second_time() {
                    heads.prefetch_bucket(time);
                }
                let onward = flow.onward(pipe.end);
                heads.prefetch(onward);
                self.pipes[onward].prefetch();
            }
            3 if !to_receiver => {
                if let Some(cargo) = pipe.second_cargo() {
                    hold.prefetch(cargo);
                }
            }
            4 => self.pipes[flow.onward(pipe.end)].prefetch_last(),
            _ => {}
        }
    }
}

impl Flow {
    /// A step for a packet that is on its way to the receiver, or to the sender: what every packet needs of the flow, then
    /// the end that the packet is on its way to, then the controller.
    #[inline]
    fn prefetch(&self, step: usize, to_receiver: bool) {
        match (step, to_receiver) {
            (0, _) => {
                prefetch(&self.homeward);
                prefetch(&self.slots);
                prefetch(&self.back);
                if !to_receiver {
                    prefetch_start(&self.source);
                }
            }
            (1, true) => self.receiver.prefetch(),
            (_, true) => {}
            (_, false) => {
                let Some(sender) = self.source.windowed() else { return };
                if step == 1 {
                    sender.prefetch();
                } else {
                    prefetch(sender.control());
                }
            }
        }
    }

    /// A step for its retransmission timer, which runs out at `time`: what tells whether it was set again, and what kind of
    /// sender it has; then what tells whether the timer has run out; then, if it has, the sender.
    #[inline]
    fn prefetch_timer(&self, step: usize, time: Time) {
        if step == 0 {
            prefetch(&self.outlet.timer_at);
            return prefetch_start(&self.source);
        }
        let Some(sender) = self.source.windowed() else { return };
        if step == 1 {
            prefetch(sender.timer());
        } else if sender.deadline() <= time {
            sender.prefetch();
            prefetch(sender.control());
        }
    }

    /// The slot that a packet goes to from one with this end, as far as that is known.
    #[inline]
    fn onward(&self, end: Slot) -> usize {
        match end {
            Slot::Out(_) => self.slots.back,
            Slot::Back(_) if self.homeward > 0 => self.slots.home,
            _ => self.slots.out,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use longfat_units::{Span, Time};

    use super::*;
    use crate::ring::Spare;
    use crate::{Options, Scenario};

    /// Slots a tick or some apart, each again after 3000 ticks.
    fn next(slot: usize, time: Time) -> Time {
        time + Span(3000 + (slot as u64 * 7) % 5)
    }

    #[test]
    fn each_step_deals_with_the_slots_in_order_and_before_their_turn() {
        let slots = 900;
        let mut wheel = Wheel::new(slots, slots, Span(2));
        for slot in 0..slots {
            wheel.add(slot, Time(1 + 3 * slot as u64));
        }
        let dealt = RefCell::new(vec![Vec::new(); STEPS.len()]);
        let mut lookout = Lookout::default();
        let mut handled = Vec::new();
        for _ in 0..5 * slots {
            lookout.look(&wheel, |step, slot| dealt.borrow_mut()[step].push(slot));
            let slot = wheel.take_until(Time::NEVER).expect("each slot has an event");
            handled.push(slot);
            wheel.add(slot, next(slot, wheel.now()));
            let dealt = dealt.borrow();
            assert!(dealt[0].len() <= handled.len() + STEPS[0]);
            for steps in dealt.windows(2) {
                assert!(steps[1].len() <= steps[0].len(), "a step comes after the one before it");
            }
        }
        for (seen, ahead) in dealt.take().into_iter().zip(STEPS) {
            // All but a few, which share a tick with another or came to the wheel too late to be seen.
            let mut rest = handled.iter();
            let found = seen.iter().filter(|slot| rest.any(|handled| handled == *slot)).count();
            assert!(found + ahead >= seen.len(), "{found} of {} came in this order", seen.len());
            assert!(10 * found > 9 * handled.len(), "{found} of {}", handled.len());
        }
    }

    /// Nor on pipes that lend one another places, which those of large networks do as well.
    #[test]
    fn nothing_depends_on_it() {
        let text = "duration = \"3 s\"\n[link.a]\nrate = \"5 Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"20 packets\"\n[[flow]]\nname = \"flow\"\ncontrol = \"reno\"\ncount = 5\n\
             path = [\"a\"]\nrtt = \"30 ms\"";
        let scenario = Scenario::read(text, "ahead.toml", &[], None).expect("a good scenario");
        let [mut plain, mut ahead] =
            [(); 2].map(|()| Simulation::with_options(&scenario, Options::default()));
        ahead.network.pipes.places.spare = Spare::new(true);
        while plain.handle_events(1) {
            ahead.read_ahead();
            assert!(ahead.handle_events(1));
            assert_eq!(ahead.now, plain.now);
        }
        assert!(ahead.lookout.done.iter().all(|done| *done > 100), "{:?}", ahead.lookout.done);
        assert_eq!(ahead.fates, plain.fates);
        let [plain, ahead] = [plain, ahead].map(|simulation| simulation.finish().summary);
        assert_eq!(serde_json::to_string(&ahead).ok(), serde_json::to_string(&plain).ok());
    }
}
