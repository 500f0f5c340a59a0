//! The clock of a link.

use longfat_units::{PICOSECONDS_PER_SECOND, Time};
use rustix::time::{ClockId, Timespec, clock_gettime};

const PICOSECONDS_PER_NANOSECOND: u64 = 1000;

/// How far the clock goes: 200 days, after which a time could no longer hold what is still under way.
pub const LATEST: Time = Time(200 * 24 * 3600 * PICOSECONDS_PER_SECOND);

/// `CLOCK_MONOTONIC`, from the moment at which the link came up.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Timespec,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self { start: clock_gettime(ClockId::Monotonic) }
    }

    /// The time since then.
    pub fn now(&self) -> Time {
        let passed = clock_gettime(ClockId::Monotonic) - self.start;
        let seconds = u64::try_from(passed.tv_sec).unwrap_or(0);
        let nanoseconds = u64::try_from(passed.tv_nsec).unwrap_or(0);
        let whole = seconds.saturating_mul(PICOSECONDS_PER_SECOND);
        Time(whole.saturating_add(nanoseconds * PICOSECONDS_PER_NANOSECOND))
    }
}

/// How long there is to wait from `now` until `then`, rounded up to what the kernel can wait.
pub fn wait(now: Time, then: Time) -> Timespec {
    let nanoseconds = then.0.saturating_sub(now.0).div_ceil(PICOSECONDS_PER_NANOSECOND);
    Timespec {
        tv_sec: (nanoseconds / 1_000_000_000).cast_signed(),
        tv_nsec: (nanoseconds % 1_000_000_000).cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_forward_from_zero() {
        let clock = Clock::start();
        let first = clock.now();
        assert!(first < Time(60 * PICOSECONDS_PER_SECOND));
        assert!(clock.now() >= first);
    }

    #[test]
    fn waiting_is_never_too_short() {
        let wait = wait(Time(1500), Time(2_000_000_003_000));
        assert_eq!((wait.tv_sec, wait.tv_nsec), (2, 2));
        let past = super::wait(Time(5000), Time(4000));
        assert_eq!((past.tv_sec, past.tv_nsec), (0, 0));
    }
}
