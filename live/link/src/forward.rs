//! The loop that carries packets: one thread, two devices.
//!
//! It sleeps until a packet comes or one on a wire is due. After each packet that it reads it looks whether another one
//! is due, so a burst from one end does not delay the other end.

use std::fs::File;
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use longfat_units::{Span, Time};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, writev};

use crate::capture::{Captured, Tap};
use crate::clock::{Clock, LATEST, wait};
use crate::direction::{Counts, Direction};
use crate::lateness::Meter;

/// The longest frame: an offload header and what IPv4 can count.
const LONGEST: usize = 66_000;

/// How many packets are read from one end before the other end has its turn.
const TURN: usize = 32;

/// How often others hear what was measured, and whether to stop is looked at.
pub const PERIOD: Span = Span::from_millis(50);

/// What others may look at while packets are carried.
#[derive(Debug, Default)]
pub struct Measured {
    /// What happened in the forward and in the reverse direction.
    pub counts: [Counts; 2],
    /// How late packets were.
    pub lateness: Meter,
    /// How much was captured, if anything is to be.
    pub captured: Option<Captured>,
}

/// Both ends and what is between them.
#[derive(Debug)]
pub struct Forwarder<'a> {
    ends: [File; 2],
    directions: [Direction; 2],
    clock: Clock,
    lateness: Meter,
    measured: &'a Mutex<Measured>,
    tap: Option<Tap>,
    /// Memory for headers.
    head: Vec<u8>,
}

impl<'a> Forwarder<'a> {
    /// Carries packets between `ends`; the first of `directions` from the first to the second. What leaves is seen by
    /// `tap`.
    pub fn new(
        ends: [File; 2],
        directions: [Direction; 2],
        measured: &'a Mutex<Measured>,
        tap: Option<Tap>,
    ) -> Self {
        let (lateness, clock) = (Meter::default(), Clock::start());
        Self { ends, directions, clock, lateness, measured, tap, head: Vec::with_capacity(256) }
    }

    /// Carries packets until `stop` is true, or the clock ends.
    ///
    /// # Errors
    /// If a device can no longer be read.
    pub fn run(&mut self, stop: &AtomicBool) -> rustix::io::Result<()> {
        let mut frame = vec![0; LONGEST];
        let mut tell_at = Time::ZERO;
        while !stop.load(Ordering::Relaxed) {
            let now = self.deliver();
            if now >= LATEST {
                eprintln!("the link has been up for 200 days, which is as long as its clock goes");
                break;
            }
            if now >= tell_at {
                // Whoever is just reading hears it the next time.
                if let Ok(mut measured) = self.measured.try_lock() {
                    self.tell(&mut measured);
                }
                tell_at = now + PERIOD;
            }
            let due = self.directions.iter().filter_map(Direction::next).min();
            let until = due.map_or(tell_at, |due| due.min(tell_at));
            let [near, far] = self.wait(now, until)?;
            for (end, readable) in [near, far].into_iter().enumerate() {
                if readable {
                    self.read(end, &mut frame)?;
                }
            }
        }
        self.deliver();
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        self.tell(&mut measured);
        Ok(())
    }

    /// Sleeps until there is something to read or the time has come; says which ends can be read.
    fn wait(&self, now: Time, until: Time) -> rustix::io::Result<[bool; 2]> {
        let mut polled = self.ends.each_ref().map(|end| PollFd::new(end, PollFlags::IN));
        match poll(&mut polled, Some(&wait(now, until))) {
            Ok(_) | Err(Errno::INTR) => Ok(polled.map(|end| !end.revents().is_empty())),
            Err(error) => Err(error),
        }
    }

    /// Reads what came in at one end.
    fn read(&mut self, end: usize, frame: &mut [u8]) -> rustix::io::Result<()> {
        for _ in 0..TURN {
            let now = self.deliver();
            match read(self.ends[end].as_fd(), &mut *frame) {
                Ok(length) => self.directions[end].arrive(now, &frame[..length]),
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Hands on what is due, in both directions. Returns the time that it took for now.
    fn deliver(&mut self) -> Time {
        let now = self.clock.now();
        for (index, direction) in self.directions.iter_mut().enumerate() {
            direction.advance(now);
            while let Some(flight) = direction.arrived(now) {
                let (frame, shape) = direction.packet(&flight);
                let rest = shape.write(frame, flight.run, &mut self.head);
                let parts = [IoSlice::new(&self.head), IoSlice::new(&frame[rest])];
                // The kernel takes a packet at once or not at all; one that it does not take is lost.
                let taken = writev(self.ends[1 - index].as_fd(), &parts).is_ok();
                let left = self.clock.now();
                self.lateness.record(left.since(flight.due), u64::from(flight.run.count));
                if let Some(tap) = self.tap.as_mut().filter(|_| taken) {
                    tap.see(index, left, (frame, shape), flight.run);
                }
                direction.handed_on(taken);
            }
        }
        now
    }

    /// Lets others know.
    fn tell(&mut self, measured: &mut Measured) {
        measured.counts = self.directions.each_ref().map(|direction| *direction.counts());
        self.lateness.move_to(&mut measured.lateness);
        measured.captured = self.tap.as_ref().map(Tap::captured);
    }
}
