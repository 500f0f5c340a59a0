//! What a controller promises its host, by name.

use crate::Promises;

use super::Broken;

/// Something that a host relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Promise {
    /// No error, whatever happens. Only code from outside can break it.
    Runs,
    /// A sound window.
    Window,
    /// A sound threshold.
    Threshold,
    /// A sound pacing.
    Pacing,
    /// The same events, the same answers; also from a copy.
    Repeats,
    /// A time-out leaves no more than there was.
    TimeOut,
    /// No reasonable start confuses it, and no unreasonable one.
    AnyStart,
    /// Congestion leaves a segment or two.
    Floor,
    /// Ten days of windowfuls leave a finite window.
    Endures,
    /// [`Promises::any_batching`].
    AnyBatching,
    /// [`Promises::additive`].
    Additive,
    /// [`Promises::doubles_at_most`].
    DoublesAtMost,
    /// [`Promises::forgetful`].
    Forgetful,
}

impl Promise {
    /// All of them, those of every controller first.
    pub const ALL: [Self; 13] = [
        Self::Runs,
        Self::Window,
        Self::Threshold,
        Self::Pacing,
        Self::Repeats,
        Self::TimeOut,
        Self::AnyStart,
        Self::Floor,
        Self::Endures,
        Self::AnyBatching,
        Self::Additive,
        Self::DoublesAtMost,
        Self::Forgetful,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Window => "window",
            Self::Threshold => "threshold",
            Self::Pacing => "pacing",
            Self::Repeats => "repeats",
            Self::TimeOut => "time-out",
            Self::AnyStart => "any start",
            Self::Floor => "floor",
            Self::Endures => "endures",
            Self::AnyBatching => "any batching",
            Self::Additive => "additive",
            Self::DoublesAtMost => "doubles at most",
            Self::Forgetful => "forgetful",
        }
    }

    /// What is expected, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Runs => "no event makes it fail",
            Self::Window => "the window is always finite and at least one segment",
            Self::Threshold => {
                "the slow-start threshold, where there is one, is finite and at least one segment"
            }
            Self::Pacing => "the pacing is always finite and positive",
            Self::Repeats => {
                "the same events always give the same answers, to a copy made along the way as well"
            }
            Self::TimeOut => "a time-out leaves the window no larger than before",
            Self::AnyStart => {
                "whatever window and threshold it starts with, the window is sound after an acknowledgment"
            }
            Self::Floor => {
                "congestion after congestion leaves the window at one segment or more, losses at two"
            }
            Self::Endures => "ten days of windowfuls without a loss leave the window finite",
            Self::AnyBatching => {
                "one acknowledgment of n segments does what n acknowledgments of one do"
            }
            Self::Additive => {
                "the window falls only at congestion, on a loss to no less than two segments, and grows only by \
                 acknowledged segments that test it"
            }
            Self::DoublesAtMost => "no acknowledged segment adds more than one",
            Self::Forgetful => {
                "after congestion it goes on as a flow that has just come to this window, whatever went before"
            }
        }
    }

    /// Is it one that a controller with these promises gives?
    pub const fn is_given(self, promises: Promises) -> bool {
        match self {
            Self::AnyBatching => promises.any_batching,
            Self::Additive => promises.additive,
            Self::DoublesAtMost => promises.doubles_at_most,
            Self::Forgetful => promises.forgetful,
            _ => true,
        }
    }
}

/// Some of the promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromiseSet(u32);

impl PromiseSet {
    /// All of them.
    pub const ALL: Self = Self(u32::MAX);

    /// Only this one.
    pub const fn only(promise: Promise) -> Self {
        Self(1 << promise as u32)
    }

    /// Is it one of them?
    pub const fn has(self, promise: Promise) -> bool {
        self.0 & (1 << promise as u32) != 0
    }

    /// The others.
    #[must_use]
    pub const fn without(self, promise: Promise) -> Self {
        Self(self.0 & !(1 << promise as u32))
    }

    pub(super) fn ensure(
        self,
        promise: Promise,
        holds: bool,
        what: impl FnOnce() -> String,
    ) -> Result<(), Broken> {
        if holds || !self.has(promise) { Ok(()) } else { Err((promise, what())) }
    }
}
