//! What a packet meets on its way: links, its receiver, and its sender.

use longfat_units::Time;

use super::Simulation;
use crate::events::Timer;
use crate::flow::Source;
use crate::member::Member;
use crate::network::Network;
use crate::packet::{Flags, Packet};
use crate::port::{Arrived, Departed, Fate};
use crate::sender::Sends;

impl Simulation {
    /// Data or an acknowledgment reaches a link at `now`, which may be in the future.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    pub(super) fn reach_port<const ACK: bool>(
        &mut self,
        now: Time,
        port: usize,
        mut packet: Packet,
    ) {
        let Network { ports, identities, .. } = &mut self.network;
        match ports[port].arrive(now, &mut packet, identities, &mut self.hold) {
            Arrived::Through(time) => self.cross::<ACK>(port, time, packet),
            other => self.stay(now, port, packet, other),
        }
    }

    /// A packet has reached a link but does not simply cross it: it waits, is dropped, or is corrupted.
    #[inline(never)]
    fn stay(&mut self, now: Time, port: usize, packet: Packet, arrived: Arrived) {
        match arrived {
            Arrived::Through(_) => unreachable!("it crosses"),
            Arrived::Waits(departure) => {
                if let Some(departure) = departure {
                    self.heads.add(self.network.departure_slot(port), departure);
                }
                self.discard_dropped(now, port);
            }
            Arrived::Held(release) => {
                if let Some(release) = release {
                    self.heads.add(self.network.release_slot(port), release);
                }
            }
            Arrived::Dropped => self.discard(now, packet),
            Arrived::Corrupted(time) => self.corrupt(port, time, packet),
        }
    }

    /// The acknowledgments that a link has held join its queue.
    pub(super) fn release(&mut self, port: usize) {
        let Network { ports, identities, .. } = &mut self.network;
        let departure = ports[port].release(self.now, identities, &mut self.hold);
        if let Some(departure) = departure {
            self.heads.add(self.network.departure_slot(port), departure);
        }
        self.discard_dropped(self.now, port);
    }

    /// Discards whatever the queue of a link has just dropped.
    fn discard_dropped(&mut self, now: Time, port: usize) {
        while let Some(packet) = self.network.ports[port].take_dropped() {
            self.discard(now, packet);
        }
    }

    /// A packet leaves a link that is served packet by packet.
    pub(super) fn depart(&mut self, slot: usize, port: usize) {
        let departed = self.network.ports[port].depart(self.now, &mut self.hold);
        if let Some(next) = departed.next {
            self.heads.add(slot, next);
        }
        self.discard_dropped(self.now, port);
        match departed.fate {
            Fate::Arrives => self.cross_either(port, departed.arrives, departed.packet),
            Fate::Destroyed => self.corrupt(port, departed.arrives, departed.packet),
            Fate::Impaired { .. } => self.stray(port, departed),
        }
    }

    /// A packet leaves a link whose wire has impairments.
    #[cold]
    fn stray(&mut self, port: usize, departed: Departed) {
        let Departed { packet, arrives, fate, .. } = departed;
        let Fate::Impaired { destroyed, twice, unordered } = fate else { return };
        let copy = (twice && !destroyed).then(|| self.duplicate(packet));
        match (unordered, destroyed) {
            (true, _) => self.put_among(port, arrives, packet, destroyed),
            (false, true) => self.corrupt(port, arrives, packet),
            (false, false) => self.cross_either(port, arrives, packet),
        }
        if let Some(copy) = copy {
            if unordered {
                self.put_among(port, arrives, copy, false);
            } else {
                self.cross_either(port, arrives, copy);
            }
        }
    }

    /// Makes a copy of a packet in transit.
    fn duplicate(&mut self, packet: Packet) -> Packet {
        self.fates.duplicated += u64::from(!packet.is_ack());
        self.network.flows[packet.flow as usize].outlet.in_transit += 1;
        match self.hold.copy(packet.cargo()) {
            Some(handle) => Packet { detail: handle, ..packet },
            None => packet,
        }
    }

    /// Puts a packet on a wire on which packets may pass one another: behind those that arrive no later.
    fn put_among(&mut self, port: usize, time: Time, mut packet: Packet, destroyed: bool) {
        if destroyed {
            self.fates.corrupted += u64::from(!packet.is_ack());
            packet.flags = packet.flags.with(Flags::DESTROYED);
        }
        let wire = &mut self.network.wires[port].packets;
        wire.put_among((time, packet), |(other, _)| *other > time);
        self.timers.add(time, Timer::Wire(port as u32));
    }

    #[inline(never)]
    pub(super) fn cross_either(&mut self, port: usize, time: Time, packet: Packet) {
        if packet.is_ack() {
            self.cross::<true>(port, time, packet);
        } else {
            self.cross::<false>(port, time, packet);
        }
    }

    /// A packet is destroyed on the wire. It travels on as a shadow to the end of its pipe, so that its loss takes
    /// effect at the same time whichever way the link is served.
    #[cold]
    fn corrupt(&mut self, port: usize, time: Time, mut packet: Packet) {
        self.destroy(&mut packet);
        self.cross_either(port, time, packet);
    }

    /// Makes a packet the shadow of one that is destroyed.
    pub(super) fn destroy(&mut self, packet: &mut Packet) {
        self.fates.corrupted += u64::from(!packet.is_ack());
        packet.flags = packet.flags.with(Flags::DESTROYED);
    }

    /// A queue has dropped a packet.
    #[cold]
    pub(super) fn discard(&mut self, now: Time, packet: Packet) {
        self.fates.dropped += u64::from(!packet.is_ack());
        self.network.note_drop(&packet, now);
        self.lose(now, packet);
    }

    /// Removes a packet that is lost.
    #[cold]
    pub(super) fn lose(&mut self, now: Time, packet: Packet) {
        let flow = &mut self.network.flows[packet.flow as usize];
        flow.outlet.in_transit -= 1;
        self.hold.release(packet.cargo());
        self.retire(packet.flow as usize, now);
    }

    /// Something of a flow has come to its end: a short one may be over.
    #[inline]
    pub(super) fn retire(&mut self, index: usize, now: Time) {
        if index >= self.network.long {
            self.retire_short(index, now);
        }
    }

    #[inline(never)]
    fn retire_short(&mut self, index: usize, now: Time) {
        let flow = &mut self.network.flows[index];
        if matches!(flow.member, Member::Short(..))
            && let Some(at) = flow.over(now)
        {
            self.network.finish(index as u32, at);
        }
    }

    /// A packet will be at the far end of a link at `time`.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    pub(super) fn cross<const ACK: bool>(&mut self, port: usize, time: Time, mut packet: Packet) {
        debug_assert_eq!(packet.is_ack(), ACK);
        packet.hop += 1;
        let quiet = self.quiet();
        let flow = &mut self.network.flows[packet.flow as usize];
        let way = flow.way(ACK);
        if (packet.hop as usize) < way.ports.len() {
            return self.put_on_wire(port, time, packet);
        }
        let time = time + way.after;
        if ACK {
            if flow.homeward == 0
                && time <= quiet
                && flow.hears_early(time, &packet)
                && (time <= flow.outlet.pace_at || self.catch_up(time, &packet))
            {
                return self.reach_sender(time, packet);
            }
            let flow = &mut self.network.flows[packet.flow as usize];
            flow.homeward += 1;
            let slot = flow.slots.home;
            return self.put(slot, time, packet);
        }
        if packet.flags.has(Flags::DESTROYED.with(Flags::AWAITED)) {
            return self.arrive_watched(time, packet.apart());
        }
        self.reach_receiver(time, packet);
    }

    /// Data reaches its receiver, but is destroyed, or an application waits for it.
    #[inline(never)]
    fn arrive_watched(&mut self, time: Time, packet: Packet) {
        if packet.flags.has(Flags::DESTROYED) {
            let flow = &self.network.flows[packet.flow as usize];
            let (slot, before) = (flow.slots.back, flow.back.before);
            self.put_overdue(packet.flow, time);
            return self.put(slot, time + before, packet);
        }
        self.reach_receiver(time, packet);
        let Network { flows, applications, audiences, .. } = &mut self.network;
        let flow = &flows[packet.flow as usize];
        let Some(index) = flow.application.filter(|_| time <= self.end) else { return };
        let application = &mut applications[index as usize];
        let audience = audiences[application.group].as_mut().expect("its group has one");
        let expected = flow.receiver.expected();
        application.hear(packet.flow, expected, time, audience, &mut self.orders);
        self.obey(index);
    }

    /// Data reaches its receiver at `time`, which may be in the future.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    fn reach_receiver(&mut self, time: Time, packet: Packet) {
        let mut flow = &mut self.network.flows[packet.flow as usize];
        let (slot, before) = (flow.slots.back, flow.back.before);
        if time > self.end {
            self.fates.in_flight += 1;
            self.hold.release(packet.cargo());
            return;
        }
        self.fates.delivered += 1;
        if flow.receiver.delayed_until().is_some() {
            self.put_overdue(packet.flow, time);
            flow = &mut self.network.flows[packet.flow as usize];
        }
        if let Some(ack) = flow.receiver.on_data(&packet, time, &mut self.hold) {
            let time = time + before;
            if flow.returns_early && time <= self.end {
                let port = flow.back.ports[0];
                return self.reach_port::<true>(time, port, ack);
            }
            self.put(slot, time, ack);
        } else {
            flow.outlet.in_transit -= 1;
            if let Some(until) = flow.receiver.begins_to_wait() {
                self.timers.add(until, Timer::DelayedAck(packet.flow));
            }
        }
    }

    /// A delayed acknowledgment that was due at `time` or earlier leaves.
    #[inline(never)]
    fn put_overdue(&mut self, flow: u32, time: Time) {
        let flow = &mut self.network.flows[flow as usize];
        if let Some((ack, until)) = flow.receiver.overdue(time) {
            flow.outlet.in_transit += 1;
            let (slot, before) = (flow.slots.back, flow.back.before);
            self.put(slot, until + before, ack);
        }
    }

    /// An acknowledgment that was not handed over early reaches its sender. Those behind it may now be.
    #[inline(never)]
    pub(super) fn come_home(&mut self, slot: usize) {
        let mut time = self.now;
        let quiet = self.quiet();
        loop {
            let packet = self.network.pipes.pop(slot);
            let flow = packet.flow as usize;
            self.network.flows[flow].homeward -= 1;
            if packet.flags.has(Flags::DESTROYED) {
                self.lose(time, packet);
            } else {
                self.reach_sender(time, packet);
            }
            let Some((next, ack)) = self.network.pipes[slot].first() else { return };
            time = next;
            let flow = &self.network.flows[flow];
            let hears = time <= quiet
                && flow.hears_early(time, &ack)
                && (time <= flow.outlet.pace_at || self.catch_up(time, &ack));
            if !hears {
                return self.heads.add(slot, time);
            }
        }
    }

    /// An event of pacing.
    pub(super) fn pace(&mut self, index: usize) {
        let outlet = &mut self.network.flows[index].outlet;
        outlet.pace_set = false;
        if outlet.pace_at == self.now {
            outlet.pace_at = Time::NEVER;
            self.send(index, self.now);
            self.retire(index, self.now);
        } else if outlet.pace_at != Time::NEVER {
            outlet.set_pace(&mut self.heads);
        }
    }

    /// Lets a sender send what pacing allows before an acknowledgment comes at `time`, which it otherwise might have
    /// early. May it still? What it sends may set a timer that comes first.
    #[inline(never)]
    fn catch_up(&mut self, time: Time, ack: &Packet) -> bool {
        let index = ack.flow as usize;
        loop {
            let outlet = &mut self.network.flows[index].outlet;
            let at = std::mem::replace(&mut outlet.pace_at, Time::NEVER);
            self.send(index, at);
            let flow = &self.network.flows[index];
            if !flow.hears_early(time, ack) {
                return false;
            }
            if time <= flow.outlet.pace_at {
                return true;
            }
        }
    }

    /// Up to this time a sender is a function of its acknowledgments and its own timers alone.
    fn quiet(&self) -> Time {
        self.timers.next_edge().min(self.early_until)
    }

    /// An acknowledgment reaches its sender at `time`, which may be in the future.
    #[expect(clippy::inline_always, reason = "so that the acknowledgment stays in registers")]
    #[inline(always)]
    fn reach_sender(&mut self, time: Time, ack: Packet) {
        let index = ack.flow as usize;
        let flow = &mut self.network.flows[index];
        flow.outlet.in_transit -= 1;
        let Source::Windowed(sender) = &mut flow.source else {
            return self.reach_other(time, &ack.apart());
        };
        match ack.cargo() {
            None => sender.on_ack(time, &ack, None),
            Some(handle) => sender.on_loaded_ack(time, &ack.apart(), handle, &mut self.hold),
        }
        self.send_windowed(index, time);
        self.retire(index, time);
    }

    /// The same for a sender of another kind.
    #[inline(never)]
    fn reach_other(&mut self, time: Time, ack: &Packet) {
        let index = ack.flow as usize;
        let flow = &mut self.network.flows[index];
        let cargo = ack.cargo().map(|handle| self.hold.take(handle));
        match &mut flow.source {
            Source::Numbered(sender) => {
                if let Some(log) = flow.receiver.log() {
                    sender.hear(log.read(ack.number));
                }
                sender.on_ack(time, ack, cargo.as_ref());
                self.send_other(index, time);
            }
            Source::Bursts(sender) => {
                sender.on_ack(time, ack, None);
                self.send_other(index, time);
            }
            Source::Traced(sender) => {
                if let Some(log) = flow.receiver.log() {
                    sender.hear(log.read(ack.number));
                }
                sender.on_ack(time, ack, cargo.as_ref());
                self.send_other(index, time);
            }
            Source::Windowed(_) | Source::Idle(_) => {
                unreachable!("only what was sent is acknowledged")
            }
        }
        self.retire(index, time);
    }

    /// Lets a flow send what it may, and sets its timers.
    #[inline]
    pub(super) fn send(&mut self, index: usize, now: Time) {
        match self.network.flows[index].source {
            Source::Windowed(_) => self.send_windowed(index, now),
            Source::Numbered(_) | Source::Bursts(_) | Source::Traced(_) | Source::Idle(_) => {
                self.send_other(index, now);
            }
        }
    }

    #[inline]
    fn send_windowed(&mut self, index: usize, now: Time) {
        let Network { flows, pipes, .. } = &mut self.network;
        let flow = &mut flows[index];
        let Source::Windowed(sender) = &mut flow.source else { return };
        flow.outlet.let_go(sender, now, pipes, &mut self.heads, &mut self.hold);
        flow.outlet.keep_timers(sender, index, &mut self.heads, &mut self.timers);
        if sender.alarm() < flow.alarm_at {
            self.set_alarm(index);
        }
    }

    /// Sets a timer for when a flow's controller next wants to be called, unless one is set that comes first.
    #[inline(never)]
    pub(super) fn set_alarm(&mut self, index: usize) {
        let flow = &mut self.network.flows[index];
        let alarm = flow.source.sender().map_or(Time::NEVER, Sends::alarm);
        if alarm < flow.alarm_at {
            flow.alarm_at = alarm;
            self.timers.add(alarm, Timer::Alarm(index as u32));
        }
    }

    #[inline(never)]
    fn send_other(&mut self, index: usize, now: Time) {
        let Network { flows, pipes, .. } = &mut self.network;
        let flow = &mut flows[index];
        match &mut flow.source {
            Source::Bursts(sender) => {
                flow.outlet.let_go(sender, now, pipes, &mut self.heads, &mut self.hold);
                flow.outlet.keep_timers(sender, index, &mut self.heads, &mut self.timers);
            }
            Source::Numbered(sender) => {
                let sender = &mut **sender;
                flow.outlet.let_go(sender, now, pipes, &mut self.heads, &mut self.hold);
                flow.outlet.keep_timers(sender, index, &mut self.heads, &mut self.timers);
                if sender.alarm() < flow.alarm_at {
                    self.set_alarm(index);
                }
            }
            Source::Traced(sender) => {
                let sender = &mut **sender;
                flow.outlet.let_go(sender, now, pipes, &mut self.heads, &mut self.hold);
                flow.outlet.keep_timers(sender, index, &mut self.heads, &mut self.timers);
                if sender.alarm() < flow.alarm_at {
                    self.set_alarm(index);
                }
            }
            Source::Windowed(_) | Source::Idle(_) => {}
        }
    }
}
