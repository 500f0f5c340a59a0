//! What code from outside did wrong while a model was running.
//!
//! A controller or a queue that somebody brought along may answer nonsense, or fail. It cannot be asked to return an
//! error, because the contracts have none; and a panic would be taken for a bug of longfat. So whatever stands between
//! it and the model answers something harmless instead, such as the last good window, and [`report`]s the fault. Whoever
//! runs the model [`take`]s it after each portion of work, on the thread that did it, and ends the run.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;

use crate::Time;

/// Which flow of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A long flow: its group, and its number in it.
    Long(usize, u64),
    /// A short flow: its group of traffic, and how many flows of it came before.
    Short(usize, u64),
}

/// What went wrong.
#[non_exhaustive]
pub struct Fault {
    /// Which entry of the catalogue, in words: ``the controller `gentle` ``.
    pub who: String,
    /// For which flow, where there is one.
    pub flow: Option<Member>,
    /// When, where that is known.
    pub now: Option<Time>,
    /// What happened.
    pub what: String,
    /// What the rim needs to say more, such as an exception of another language.
    pub payload: Option<Box<dyn Any + Send>>,
}

impl Fault {
    /// A fault of `who`, about whom nothing else is known.
    pub fn new(who: impl Into<String>, what: impl Into<String>) -> Self {
        Self { who: who.into(), flow: None, now: None, what: what.into(), payload: None }
    }

    /// The same, of a flow.
    #[must_use]
    pub fn of_flow(self, flow: Option<Member>) -> Self {
        Self { flow, ..self }
    }

    /// The same, at a time.
    #[must_use]
    pub fn at(self, now: Time) -> Self {
        Self { now: Some(now), ..self }
    }

    /// The same, with something for the rim.
    #[must_use]
    pub fn with(self, payload: Box<dyn Any + Send>) -> Self {
        Self { payload: Some(payload), ..self }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, flow, now, what, .. } = self;
        f.debug_struct("Fault")
            .field("who", who)
            .field("flow", flow)
            .field("now", now)
            .field("what", what)
            .finish_non_exhaustive()
    }
}

thread_local! {
    static FIRST: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

/// Notes a fault, unless there is one already on this thread: what follows the first is mostly its consequence. What it
/// was is put into words only then.
#[cold]
pub fn report(fault: impl FnOnce() -> Fault) {
    if FIRST.with_borrow(Option::is_none) {
        let fault = fault();
        FIRST.set(Some(fault));
    }
}

/// Is there one on this thread that has not been taken?
pub fn is_reported() -> bool {
    FIRST.with_borrow(Option::is_some)
}

/// The first fault on this thread since the last call.
pub fn take() -> Option<Fault> {
    FIRST.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fault_is_kept_and_taken_once() {
        assert!(take().is_none() && !is_reported());
        let member = Some(Member::Long(0, 3));
        report(|| Fault::new("a", "first").of_flow(member).at(Time(5)).with(Box::new(7)));
        report(|| unreachable!("the second is not even put into words"));
        assert!(is_reported());
        let fault = take().expect("it was reported");
        assert_eq!((fault.who.as_str(), fault.flow, fault.now), ("a", member, Some(Time(5))));
        assert_eq!(fault.payload.and_then(|it| it.downcast_ref().copied()), Some(7));
        assert!(take().is_none());
    }
}
