//! The array of decisions, which kernel and daemon have mapped both.
#![expect(unsafe_code, reason = "memory that is shared with the kernel is mapped by a system call")]

use std::io;
use std::os::fd::AsFd;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use longfat_tcp_host::{Decision, SLOTS};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A decision as `shared.h` has it. Only the daemon writes to it.
#[derive(Debug)]
#[repr(C)]
struct Shared {
    version: AtomicU32,
    generation: AtomicU32,
    epoch: AtomicU32,
    event: AtomicU32,
    report: AtomicU32,
    window: AtomicU32,
    threshold: AtomicU32,
    paced: AtomicU32,
    pacing: AtomicU64,
    written: AtomicU64,
}

/// The decisions of all slots.
#[derive(Debug)]
pub(crate) struct Decisions {
    first: NonNull<Shared>,
}

const SIZE: usize = size_of::<Shared>() * SLOTS as usize;

impl Decisions {
    /// How many bytes a decision has.
    pub(crate) const EACH: usize = size_of::<Shared>();

    /// Maps the array behind `map`, whose elements must have [`Self::EACH`] bytes and whose slots must be [`SLOTS`].
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn map(map: impl AsFd) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let address = unsafe { mmap(null_mut(), SIZE, protection, MapFlags::SHARED, map, 0)? };
        let first = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { first })
    }

    fn slots(&self) -> &[Shared] {
        // SAFETY: the mapping is that long, aligned to a page, and lives as long as `self`; all bits are valid.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), SLOTS as usize) }
    }

    /// Writes a decision; `now` in nanoseconds of `CLOCK_MONOTONIC`. The kernel skips what is half written, by its
    /// version.
    pub(crate) fn write(&self, slot: u32, decision: &Decision, now: u64) {
        let Some(place) = self.slots().get(slot as usize) else { return };
        let version = place.version.load(Ordering::Relaxed);
        place.version.store(version | 1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        for (field, value) in [
            (&place.generation, decision.generation),
            (&place.epoch, decision.epoch),
            (&place.event, decision.event),
            (&place.report, decision.report),
            (&place.window, decision.window),
            (&place.threshold, decision.threshold),
            (&place.paced, decision.pacing.is_some().into()),
        ] {
            field.store(value, Ordering::Relaxed);
        }
        place.pacing.store(decision.pacing.unwrap_or(0), Ordering::Relaxed);
        place.written.store(now, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        place.version.store((version | 1).wrapping_add(1), Ordering::Release);
    }
}

impl Drop for Decisions {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and nothing borrows from it any more.
        let _ = unsafe { munmap(self.first.as_ptr().cast(), SIZE) };
    }
}
