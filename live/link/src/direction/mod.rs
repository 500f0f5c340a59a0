//! One direction of the link: a queue, a transmitter, a wire.
//!
//! The queue is the object that the simulator would use, asked in the same way and in the same order
//! (`PacketQueue` in `crates/queue` says which). The transmitter sends at the exact rate on the link's own clock: what
//! should have left before now has left, however late this is noticed, so a late look never changes what the queue
//! decides next. Segments that survive the wire wait there for their time to arrive.

use std::collections::VecDeque;

use longfat_queue::{Host, Item, PacketQueue};
use longfat_scenario::chance::{Stream, uniform};
use longfat_scenario::{Course, LinkCourse, Tidings};
use longfat_units::{Bytes, Ecn, Rate, RouterHeader, Span, Time};
use rand_core::Rng;
use serde::{Deserialize, Serialize};
use slab::Slab;

use crate::frames::Frames;
use crate::marker::Marker;
use crate::packet::{Run, Shape};

/// One direction of the link.
#[derive(Debug)]
pub struct Direction {
    queue: Box<dyn PacketQueue>,
    marker: Option<Marker>,
    desk: Desk,
    transmitter: Transmitter,
    in_service: Option<(Segment, Time)>,
    wire: VecDeque<Flight>,
    delay: Course<u64>,
    loss: Course<f64>,
    corruption: Stream,
    /// How long segments may take to arrive together.
    together: Span,
}

/// What one direction of a link is made from.
#[derive(Debug)]
pub struct Parts {
    /// The queue.
    pub queue: Box<dyn PacketQueue>,
    /// The rate that the queue knows of.
    pub known: Rate,
    /// What says when there is capacity to spare, if anything does.
    pub marker: Option<Marker>,
    /// Rate, delay and loss at any time.
    pub course: LinkCourse,
    /// The random numbers of the queue.
    pub chance: Stream,
    /// Those of the losses on the wire.
    pub corruption: Stream,
    /// Segments that follow one another and arrive within this time arrive together, with the last of them.
    pub together: Span,
}

/// What happened to segments, since the link came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Arrived at the queue.
    pub arrived: u64,
    /// Dropped by the queue.
    pub dropped: u64,
    /// Marked by the queue.
    pub marked: u64,
    /// Data that takes part in AntiECN, as far as the link does.
    #[serde(default)]
    pub asked: u64,
    /// Those of them that went on with its bit.
    #[serde(default)]
    pub spare: u64,
    /// Lost on the wire.
    pub lost: u64,
    /// Delivered.
    pub delivered: u64,
    /// Delivered, in bytes.
    pub delivered_bytes: u64,
    /// Not taken by the kernel at the far end.
    pub refused: u64,
    /// Frames that were no packets, which went no further.
    pub malformed: u64,
}

impl Counts {
    /// What happened after `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let after = |now: u64, before: u64| now.saturating_sub(before);
        Self {
            arrived: after(self.arrived, earlier.arrived),
            dropped: after(self.dropped, earlier.dropped),
            marked: after(self.marked, earlier.marked),
            asked: after(self.asked, earlier.asked),
            spare: after(self.spare, earlier.spare),
            lost: after(self.lost, earlier.lost),
            delivered: after(self.delivered, earlier.delivered),
            delivered_bytes: after(self.delivered_bytes, earlier.delivered_bytes),
            refused: after(self.refused, earlier.refused),
            malformed: after(self.malformed, earlier.malformed),
        }
    }
}

/// Segments on the wire that arrive together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The packet they belong to.
    pub frame: u32,
    /// Which of its segments they are.
    pub run: Run,
    /// When the first of them would arrive by itself.
    begun: Time,
    /// When they arrive.
    pub due: Time,
}

/// A segment in the link.
#[derive(Clone, Copy, Debug)]
struct Segment {
    frame: u32,
    index: u32,
    marked: bool,
    spare: bool,
}

/// What a queue sees of its host.
#[derive(Debug)]
struct Desk {
    /// The segments that are waiting; the queue refers to them by key.
    waiting: Slab<Segment>,
    frames: Frames,
    chance: Stream,
    counts: Counts,
}

impl Direction {
    /// One direction of a link, with nothing in it.
    pub fn new(parts: Parts) -> Self {
        let Parts { queue, known, marker, course, chance, corruption, together } = parts;
        Self {
            queue,
            marker,
            desk: Desk {
                waiting: Slab::new(),
                frames: Frames::default(),
                chance,
                counts: Counts::default(),
            },
            transmitter: Transmitter {
                rate: course.rate,
                tidings: Tidings::new(known, None),
                piece: 0,
            },
            in_service: None,
            wire: VecDeque::new(),
            delay: course.delay,
            loss: course.loss,
            corruption,
            together,
        }
    }

    /// What happened so far.
    pub fn counts(&self) -> &Counts {
        &self.desk.counts
    }

    /// A frame arrives. `now` is never earlier than in any call before.
    pub fn arrive(&mut self, now: Time, bytes: &[u8]) {
        self.advance(now);
        let Ok(shape) = Shape::parse(bytes) else {
            self.desk.counts.malformed += 1;
            return;
        };
        let frame = self.desk.frames.keep(bytes, shape);
        for index in 0..shape.segments() {
            self.desk.counts.arrived += 1;
            self.look(now);
            let bytes = shape.size(index);
            // What takes no part keeps what it has: all of its segments the same.
            let had = shape.spare.unwrap_or(false);
            let spare = self.marker.as_mut().map_or(had, |marker| marker.see(now, &shape, bytes));
            if self.marker.is_some() && shape.data && shape.spare.is_some() {
                self.desk.counts.asked += 1;
                self.desk.counts.spare += u64::from(spare);
            }
            let segment = Segment { frame, index, marked: false, spare };
            let item = Item {
                id: self.desk.waiting.insert(segment) as u32,
                flow: shape.flow,
                source: shape.source,
                destination: shape.destination,
                rank: 0,
                ecn: shape.ecn,
                bytes,
                arrived: now,
            };
            self.queue.enqueue(now, item, &mut self.desk);
            if self.in_service.is_none() {
                self.serve(now);
            }
        }
    }

    /// Sends what should have left by `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some((segment, left)) = self.in_service.take_if(|(_, left)| *left <= now) {
            self.look(left);
            self.serve(left);
            self.fly(segment, left);
        }
    }

    /// The queue learns what time it is, and with the marker beside it which rates there have been until then.
    fn look(&mut self, now: Time) {
        while let Some((begins, rate)) = self.transmitter.tidings(now) {
            self.queue.advance(begins);
            self.queue.on_rate(begins, rate);
            if let Some(marker) = &mut self.marker {
                marker.on_rate(begins, rate);
            }
        }
        self.queue.advance(now);
    }

    /// The link is free: the next segment is sent, if there is one.
    fn serve(&mut self, now: Time) {
        if let Some(item) = self.queue.dequeue(now, &mut self.desk) {
            let segment = self.desk.waiting.remove(item.id as usize);
            self.in_service = Some((segment, self.transmitter.send(now, item.bytes)));
        }
    }

    /// A segment leaves, and is lost or will arrive.
    fn fly(&mut self, segment: Segment, now: Time) {
        let Segment { frame, index, marked, spare } = segment;
        let loss = self.loss.value(now);
        if loss > 0.0 && uniform(&mut self.corruption) < loss {
            self.desk.counts.lost += 1;
            return self.desk.frames.release(frame, 1);
        }
        let arrives = now.saturating_add(Span(self.delay.value(now)));
        // A wire keeps the order, even where its delay becomes shorter.
        let arrives = self.wire.back().map_or(arrives, |last| arrives.max(last.due));
        if let Some(last) = self.wire.back_mut() {
            let Run { first, count, .. } = last.run;
            let same = (last.run.marked, last.run.spare) == (marked, spare);
            let follows = last.frame == frame && first + count == index && same;
            if follows && arrives - last.begun <= self.together {
                last.run.count += 1;
                last.due = arrives;
                return;
            }
        }
        let run = Run { first: index, count: 1, marked, spare };
        self.wire.push_back(Flight { frame, run, begun: arrives, due: arrives });
    }

    /// When something is next to be done, if nothing else arrives.
    pub fn next(&self) -> Option<Time> {
        let arrives = || {
            let (_, left) = self.in_service?;
            Some(left.saturating_add(Span(self.delay.value(left))))
        };
        self.wire.front().map(|flight| flight.due).or_else(arrives)
    }

    /// What has arrived at the far end by `now`, if anything. The caller hands it on, and then says so.
    pub fn arrived(&self, now: Time) -> Option<Flight> {
        self.wire.front().filter(|flight| flight.due <= now).copied()
    }

    /// The bytes of the packet to which a flight belongs.
    pub fn packet(&self, flight: &Flight) -> (&[u8], &Shape) {
        self.desk.frames.get(flight.frame)
    }

    /// The first flight on the wire was handed on; `taken`: and taken.
    pub fn handed_on(&mut self, taken: bool) {
        let Some(Flight { frame, run, .. }) = self.wire.pop_front() else { return };
        let (_, shape) = self.desk.frames.get(frame);
        let bytes: u64 = (run.first..run.first + run.count).map(|index| shape.size(index).0).sum();
        let counts = &mut self.desk.counts;
        if taken {
            counts.delivered += u64::from(run.count);
            counts.delivered_bytes += bytes;
        } else {
            counts.refused += u64::from(run.count);
        }
        self.desk.frames.release(frame, run.count);
    }

    /// The number of packets inside.
    pub fn packets(&self) -> usize {
        self.desk.frames.len()
    }
}

/// Sends one segment after another.
#[derive(Debug)]
struct Transmitter {
    rate: Course<u64>,
    tidings: Tidings,
    /// Where in the course of the rate it is.
    piece: usize,
}

impl Transmitter {
    /// The next change of the rate that the queue is to be told of by `now`.
    fn tidings(&mut self, now: Time) -> Option<(Time, Rate)> {
        self.tidings.by(now, &self.rate)
    }

    /// When the last bit of a segment leaves that begins to be sent at `now`. It takes the rate of its beginning, and
    /// rounding to picoseconds is far below what any clock of a machine tells.
    fn send(&mut self, now: Time, bytes: Bytes) -> Time {
        let mut begin = now;
        loop {
            let (rate, until) = self.rate.step(&mut self.piece, begin);
            match rate {
                0 if until == Time::NEVER => return Time::NEVER,
                0 => begin = until,
                rate => return begin.saturating_add(Rate(rate).time_for(bytes)),
            }
        }
    }
}

impl Host for Desk {
    fn drop(&mut self, item: Item) {
        let segment = self.waiting.remove(item.id as usize);
        self.counts.dropped += 1;
        self.frames.release(segment.frame, 1);
    }

    fn mark(&mut self, item: &mut Item) -> bool {
        if !item.ecn.is_capable() {
            return false;
        }
        item.ecn = Ecn::Ce;
        self.waiting[item.id as usize].marked = true;
        self.counts.marked += 1;
        true
    }

    fn header(&mut self, _: &Item) -> Option<&mut RouterHeader> {
        None
    }

    fn chance(&mut self) -> &mut dyn Rng {
        &mut self.chance
    }
}

#[cfg(test)]
mod tests;
