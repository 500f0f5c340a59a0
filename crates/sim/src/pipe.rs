//! Pipes of constant delay, and what happens at the end of each.

use std::ops::{Deref, DerefMut};

use longfat_pages::prefetch;
use longfat_units::{Bytes, Time};

use crate::calendar::{Calendar, Due};
use crate::events::Wheel;
use crate::packet::{ACK_BYTES, Flags, Packet, Record};
use crate::ring::{Ring, Spare};

/// A slot of the wheel: what happens there, and the packets of a flow on their way to it, in order. It fills a cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Pipe {
    records: Ring<Record>,
    pub(crate) end: Slot,
    /// Is the head in the wheel? Who serves links in turns looks into the pipes that end there instead.
    pub(crate) has_event: bool,
    /// Flow and size of the packets.
    pub(crate) flow: u32,
    bytes: u32,
}

impl Pipe {
    pub(crate) fn new(end: Slot, flow: u32, bytes: u32) -> Self {
        Self { records: Ring::default(), end, has_event: true, flow, bytes }
    }

    /// A slot of a port, whose packets are kept elsewhere.
    pub(crate) fn of_port(end: Slot) -> Self {
        Self::new(end, u32::MAX, 0)
    }

    /// The flow has finished: gives back memory.
    pub(crate) fn rest(&mut self) {
        self.records.rest();
    }

    /// Reuses an empty pipe.
    pub(crate) fn lead(&mut self, end: Slot, bytes: u32) {
        (self.end, self.bytes) = (end, bytes);
    }

    /// Takes the packet at the end; the caller schedules the next one.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    fn pop(&mut self) -> Packet {
        let record = self.records.take().expect("a scheduled pipe holds a packet");
        record.packet(self.flow, self.bytes)
    }

    /// The packet at the head, and when it reaches the end.
    pub(crate) fn first(&self) -> Option<(Time, Packet)> {
        self.records.first().map(|record| (record.time, record.packet(self.flow, self.bytes)))
    }

    /// Puts in a packet of the flow, which reaches the end at `time`. `slot` is the slot of the pipe.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    pub(crate) fn put(
        &mut self,
        slot: usize,
        time: Time,
        packet: Packet,
        heads: &mut Wheel,
        places: &mut Places,
    ) {
        debug_assert!(
            self.records.last().is_none_or(|last| last.time <= time),
            "a pipe keeps its order"
        );
        if self.has_event && self.records.is_empty() {
            heads.add(slot, time);
        }
        if self.records.is_full() {
            let Packet { number, sent, flow, detail, bytes, flags, .. } = packet;
            return self.put_when_full(time, number, sent, flow, detail, bytes, flags, places);
        }
        debug_assert_eq!(self.flow, packet.flow, "a pipe is of one flow");
        self.records.place_last(packet.record(time));
    }

    /// Puts in a packet for which there is no room, as for all that go to the calendar.
    #[cold]
    #[inline(never)]
    #[expect(
        clippy::too_many_arguments,
        reason = "a processor waits where it reads in one piece what it has just written in several, as a packet on the stack"
    )]
    fn put_when_full(
        &mut self,
        time: Time,
        number: u64,
        sent: Time,
        flow: u32,
        detail: u32,
        bytes: u32,
        flags: Flags,
        places: &mut Places,
    ) {
        let packet = Packet { number, sent, flow, detail, bytes, hop: 0, flags };
        if let Slot::Page(port) = self.end {
            return places.calendar.put(Due { time, packet, port });
        }
        debug_assert_eq!(self.flow, packet.flow, "a pipe is of one flow");
        self.records.put_with(packet.record(time), &mut places.spare);
    }

    /// Is no packet on its way?
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Asks for the pipe itself, so that it is at hand soon.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self);
    }

    /// Asks for the packets that come out next.
    #[inline]
    pub(crate) fn prefetch_first(&self) {
        if let Some(record) = self.records.first() {
            prefetch(record);
        }
        if let Some(record) = self.records.second() {
            prefetch(record);
        }
    }

    /// Asks for the place of the packet that goes in next.
    #[inline]
    pub(crate) fn prefetch_last(&self) {
        if let Some(place) = self.records.next_place() {
            prefetch(place);
        }
    }

    /// The cargo of the packet that comes out next, if it has any.
    #[inline]
    pub(crate) fn first_cargo(&self) -> Option<u32> {
        self.first()?.1.cargo()
    }

    /// The cargo of the packet behind that one, if it has any.
    #[inline]
    pub(crate) fn second_cargo(&self) -> Option<u32> {
        self.records.second()?.packet(self.flow, self.bytes).cargo()
    }

    /// When the packet behind the next one reaches the end.
    #[inline]
    pub(crate) fn second_time(&self) -> Option<Time> {
        self.records.second().map(|record| record.time)
    }

    pub(crate) fn packets(&self) -> impl Iterator<Item = Packet> {
        self.records.iter().map(|record| record.packet(self.flow, self.bytes))
    }
}

/// The pipes of a network, by slot.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    pub(crate) by_slot: Vec<Pipe>,
    pub(crate) places: Places,
    /// For each port, the slot through which packets go to the calendar; none without one.
    pages: Vec<usize>,
}

/// Where packets are that are not in a pipe of their own, and where these get room from.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Where pipes that are empty leave their places.
    pub(crate) spare: Spare<Record>,
    /// What is on its way to a link in the calendar.
    pub(crate) calendar: Calendar,
}

impl Deref for Pipes {
    type Target = [Pipe];

    fn deref(&self) -> &[Pipe] {
        &self.by_slot
    }
}

impl DerefMut for Pipes {
    fn deref_mut(&mut self) -> &mut [Pipe] {
        &mut self.by_slot
    }
}

impl Pipes {
    /// What is on its way to the first links of flows added from now on goes to a calendar, whose slices take 2^`slice` ps.
    pub(crate) fn keep_calendar(&mut self, slice: u32, ports: usize) {
        self.places.calendar = Calendar::new(slice);
        let ports = 0..ports as u32;
        self.pages = ports.map(|port| self.add(Pipe::of_port(Slot::Page(port)))).collect();
    }

    /// Makes room for so many flows more.
    pub(crate) fn make_room(&mut self, flows: usize) {
        let slots = if self.pages.is_empty() { 4 } else { 2 };
        let mut pipes = longfat_pages::with_capacity(self.by_slot.len() + slots * flows);
        pipes.append(&mut self.by_slot);
        self.by_slot = pipes;
    }

    /// Adds the slots of a flow with data packets of this size. `firsts` are the ports that it meets first, out and back.
    pub(crate) fn add_flow(&mut self, firsts: [usize; 2], flow: u32, packet: Bytes) -> Slots {
        let [out, back] = if self.pages.is_empty() {
            let [out, back] = ends(firsts);
            [
                self.add(Pipe::new(out, flow, packet.0 as u32)),
                self.add(Pipe::new(back, flow, ACK_BYTES)),
            ]
        } else {
            self.places.calendar.make_room(flow);
            firsts.map(|port| self.pages[port])
        };
        Slots {
            out,
            back,
            home: self.add(Pipe::new(Slot::Home, flow, ACK_BYTES)),
            pace: self.add(Pipe::new(Slot::Pace, flow, 0)),
        }
    }

    /// The slots of a flow that has finished for another one in its place.
    pub(crate) fn lead_flow(&mut self, slots: Slots, firsts: [usize; 2], packet: Bytes) -> Slots {
        if self.pages.is_empty() {
            let [out, back] = ends(firsts);
            self[slots.out].lead(out, packet.0 as u32);
            self[slots.back].lead(back, ACK_BYTES);
            return slots;
        }
        let [out, back] = firsts.map(|port| self.pages[port]);
        Slots { out, back, ..slots }
    }

    /// Adds a pipe; returns its slot.
    pub(crate) fn add(&mut self, pipe: Pipe) -> usize {
        self.by_slot.push(pipe);
        self.by_slot.len() - 1
    }

    /// Takes the packet at the end of the pipe of `slot`; the caller schedules the next one.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    pub(crate) fn pop(&mut self, slot: usize) -> Packet {
        let pipe = &mut self.by_slot[slot];
        let packet = pipe.pop();
        if pipe.records.is_empty() {
            pipe.records.share(&mut self.places.spare);
        }
        packet
    }

    /// Takes the packet at the end of the pipe of `slot`, and schedules the next one.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    pub(crate) fn take(&mut self, slot: usize, heads: &mut Wheel) -> Packet {
        let pipe = &mut self.by_slot[slot];
        let packet = pipe.pop();
        pipe.records.read_ahead();
        if let Some(next) = pipe.records.first() {
            heads.add_again(slot, next.time);
        } else {
            pipe.records.share(&mut self.places.spare);
        }
        packet
    }

    /// Takes the packet at the end of the pipe of `slot` if it gets there before `until`.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    pub(crate) fn take_before(&mut self, slot: usize, until: Time) -> Option<(Time, Packet)> {
        let pipe = &mut self.by_slot[slot];
        let record = *pipe.records.first().filter(|record| record.time < until)?;
        pipe.records.take();
        if pipe.records.is_empty() {
            pipe.records.share(&mut self.places.spare);
        }
        Some((record.time, record.packet(pipe.flow, pipe.bytes)))
    }

    /// Puts a packet into the pipe of `slot`, whose end it reaches at `time`.
    #[expect(clippy::inline_always, reason = "so that the packet stays in registers")]
    #[inline(always)]
    pub(crate) fn put(&mut self, slot: usize, time: Time, packet: Packet, heads: &mut Wheel) {
        self.by_slot[slot].put(slot, time, packet, heads, &mut self.places);
    }
}

/// What happens at the end of the pipes to these ports, of data and of acknowledgments.
fn ends([out, back]: [usize; 2]) -> [Slot; 2] {
    [Slot::Out(out as u32), Slot::Back(back as u32)]
}

/// The slots of the wheel that belong to a flow: three pipes and its pacing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// From the sender to the first link.
    pub(crate) out: usize,
    /// From the receiver to the first link of the way back.
    pub(crate) back: usize,
    /// From the last link of the way back to the sender.
    pub(crate) home: usize,
    pub(crate) pace: usize,
}

impl Slots {
    /// A flow has none yet.
    pub(crate) const NONE: Self =
        Self { out: usize::MAX, back: usize::MAX, home: usize::MAX, pace: usize::MAX };
}

/// What happens in a slot of the wheel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// A packet leaves a link served packet by packet.
    Departure(u32),
    /// A link lets the acknowledgments go that it has held.
    Release(u32),
    /// A packet has crossed this link and reaches the next one on its way.
    Wire(u32),
    /// Nothing happens: what goes to this link without a pipe of its own goes through here to the calendar.
    Page(u32),
    /// Data reaches this link, the first on its way.
    Out(u32),
    /// An acknowledgment reaches this link, the first on its way.
    Back(u32),
    /// An acknowledgment reaches its sender.
    Home,
    /// Pacing lets a flow send again.
    Pace,
}

#[cfg(test)]
mod tests {
    use longfat_units::Span;

    use super::*;

    #[test]
    fn a_pipe_fills_a_line_of_the_cache() {
        assert_eq!((size_of::<Pipe>(), align_of::<Pipe>()), (64, 64));
    }

    fn packet(number: u64, bytes: u32) -> Packet {
        let (sent, detail, flags) = (Time(number), 0, Flags::default());
        Packet { number, sent, flow: 3, detail, bytes, hop: 0, flags }
    }

    #[test]
    fn a_packet_is_taken_before_a_time_and_not_at_it() {
        let (mut pipes, mut heads) = (Pipes::default(), Wheel::new(1, 1, Span(1000)));
        let slot = pipes.add(Pipe::new(Slot::Home, 3, 40));
        pipes[slot].has_event = false;
        for number in [5, 7] {
            pipes.put(slot, Time(number), packet(number, 40), &mut heads);
        }
        assert!(pipes.take_before(slot, Time(5)).is_none());
        let (time, taken) = pipes.take_before(slot, Time(6)).expect("it is there at 5");
        assert_eq!((time, taken.number, taken.bytes, taken.flow), (Time(5), 5, 40, 3));
        assert!(pipes.take_before(slot, Time(7)).is_none());
        assert!(pipes.take_before(slot, Time(8)).is_some() && pipes[slot].is_empty());
    }

    /// A slot leads elsewhere, with packets of another size.
    #[test]
    fn the_pipes_of_a_flow_are_led_elsewhere() {
        let mut pipes = Pipes::default();
        let slots = pipes.add_flow([1, 2], 3, Bytes(1500));
        let state = |pipes: &Pipes| {
            [slots.out, slots.back, slots.home]
                .map(|it| (format!("{:?}", pipes[it].end), pipes[it].bytes))
        };
        let home = || ("Home".to_string(), 40);
        assert_eq!(state(&pipes), [("Out(1)".into(), 1500), ("Back(2)".into(), 40), home()]);
        let again = pipes.lead_flow(slots, [4, 5], Bytes(9000));
        assert_eq!(state(&pipes), [("Out(4)".into(), 9000), ("Back(5)".into(), 40), home()]);
        assert_eq!((again.out, again.back, again.home), (slots.out, slots.back, slots.home));
    }

    /// With a calendar the slots of a flow are those of its first ports, whoever is in its place.
    #[test]
    fn in_a_calendar_the_pages_of_a_flow_are_those_of_its_ports() {
        let mut pipes = Pipes::default();
        pipes.keep_calendar(20, 6);
        let page = |pipes: &Pipes, slot: usize| format!("{:?}", pipes[slot].end);
        let slots = pipes.add_flow([1, 2], 0, Bytes(1500));
        assert_eq!([page(&pipes, slots.out), page(&pipes, slots.back)], ["Page(1)", "Page(2)"]);
        let again = pipes.lead_flow(slots, [5, 0], Bytes(1500));
        assert_eq!([page(&pipes, again.out), page(&pipes, again.back)], ["Page(5)", "Page(0)"]);
        assert_eq!((again.home, again.pace), (slots.home, slots.pace));
    }

    #[test]
    fn a_pipe_at_rest_gives_back_memory() {
        let (mut pipes, mut heads) = (Pipes::default(), Wheel::new(1, 1, Span(1000)));
        let slot = pipes.add(Pipe::new(Slot::Home, 3, 40));
        pipes[slot].has_event = false;
        for number in 0..100 {
            pipes.put(slot, Time(number), packet(number, 40), &mut heads);
        }
        while pipes.take_before(slot, Time::NEVER).is_some() {}
        assert!(pipes[slot].records.next_place().is_some());
        pipes[slot].rest();
        assert!(pipes[slot].records.next_place().is_none());
    }
}
