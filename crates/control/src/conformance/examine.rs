//! The suite: random sequences of events from a seed, and directed tests.

use longfat_units::parameter::Settings;
use longfat_units::{Time, fault};

use super::directed::{bears_any_start, endures, forgets, keeps_a_floor};
use super::shrink::shortest;
use super::{
    Broken, Operation, Promise, PromiseSet, Violation, plain_settings, run, settings_from_number,
    start_from_bytes,
};
use crate::{Chance, CongestionControl, Controller, Sending, Start};

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// What all random choices follow from.
    pub seed: u64,
    /// Sequences of events.
    pub cases: u32,
    /// The most events in one of them.
    pub events: u32,
    /// Round trips without a loss, for what has to be forgotten.
    pub round_trips: u64,
    /// Segments acknowledged at once in days without a loss.
    pub at_once: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { seed: 1, cases: 200, events: 100, round_trips: 10_000, at_once: 10_000 }
    }
}

/// A promise, and whether it was kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// Which.
    pub promise: Promise,
    /// What broke it, if anything did.
    pub failure: Option<Failure>,
}

/// How a promise was broken.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What happened, in words.
    pub what: String,
    /// The parameters.
    pub settings: Settings,
    /// How the flow began; `None` where `what` says everything.
    pub start: Option<Start>,
    /// The shortest sequence of events found that shows it.
    pub steps: Vec<Step>,
}

/// An event of a sequence, and what it left.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Step {
    /// What happened.
    pub operation: Operation,
    /// When.
    pub now: Time,
    /// The window afterwards; not a number if it was not reached.
    pub window: f64,
}

/// Examines a controller: every promise that it gives, in the order of [`Promise::ALL`]. `None` if it sends without a
/// window, and so promises nothing here, or once `go_on` has said no.
pub fn examine(
    controller: &Controller,
    effort: Effort,
    mut go_on: impl FnMut() -> bool,
) -> Option<Vec<Checked>> {
    let make = |settings: &Settings, start: &Start| match (controller.build)(settings, start) {
        Sending::Windowed(control) => Some(control),
        Sending::Bursts(_) => None,
    };
    let plain = plain_settings(controller);
    let promises = make(&plain, &Start::default())?.promises();
    let given: Vec<Promise> =
        Promise::ALL.into_iter().filter(|promise| promise.is_given(promises)).collect();
    let mut found: Vec<(Promise, Failure)> = Vec::new();
    let mut asked = PromiseSet::ALL;

    let mut chance = Chance::new(effort.seed);
    for case in 0..effort.cases {
        if !go_on() {
            return None;
        }
        let example = Example::random(controller, &mut chance, case, effort.events);
        // What is broken is not looked for again: another promise may be broken later in the sequence.
        while let Some(violation) = example.broken(&make, asked) {
            let promise = violation.promise;
            found.push((promise, example.shown_shortest(&make, violation)));
            asked = asked.without(promise);
            if !go_on() {
                return None;
            }
        }
    }
    let make_plain =
        |start: &Start| make(&plain, start).expect("it has had a window with these settings");
    let directed: [&dyn Fn() -> Result<(), Broken>; 4] = [
        &|| bears_any_start(&make_plain),
        &|| keeps_a_floor(&make_plain),
        &|| endures(&make_plain, effort.at_once),
        &|| {
            if promises.forgetful { forgets(&make_plain, effort.round_trips) } else { Ok(()) }
        },
    ];
    for test in directed {
        if !go_on() {
            return None;
        }
        drop(fault::take());
        let Err((promise, what)) = test() else { continue };
        if asked.has(promise) {
            asked = asked.without(promise);
            let failure = Failure { what, settings: plain.clone(), start: None, steps: Vec::new() };
            found.push((promise, failure));
        }
    }
    let failure = |promise| {
        let index = found.iter().position(|(other, _)| *other == promise);
        index.map(|index| found[index].1.clone())
    };
    Some(given.into_iter().map(|promise| Checked { promise, failure: failure(promise) }).collect())
}

/// Makes a controller, if it has a window.
type Make<'m> = &'m dyn Fn(&Settings, &Start) -> Option<Box<dyn CongestionControl>>;

/// A start, settings, and what happens then.
#[derive(Clone, Debug)]
struct Example {
    settings: Settings,
    start: Start,
    operations: Vec<Operation>,
}

impl Example {
    /// The first have the defaults, and begin as most flows do.
    fn random(controller: &Controller, chance: &mut Chance, case: u32, events: u32) -> Self {
        let mut byte = || chance.below(256) as u8;
        let choice = u32::from_le_bytes(std::array::from_fn(|_| byte()));
        let start = start_from_bytes(std::array::from_fn(|_| byte()));
        let length = u32::from(byte()) % events.max(1) + 1;
        let operations =
            (0..length).map(|_| Operation::from_bytes(std::array::from_fn(|_| byte()))).collect();
        let plain = case.is_multiple_of(4);
        Self {
            settings: settings_from_number(controller, if plain { 0 } else { choice }),
            start: if plain { Start::default() } else { start },
            operations,
        }
    }

    /// The first of these promises that is broken.
    fn broken(&self, make: Make<'_>, asked: PromiseSet) -> Option<Violation> {
        let built = || make(&self.settings, &self.start);
        let (control, second) = (built()?, built()?);
        let told = run(control, second, &self.operations, asked, |_| {});
        told.err().filter(|violation| asked.has(violation.promise))
    }

    /// The same violation, with as little as possible.
    fn shown_shortest(&self, make: Make<'_>, violation: Violation) -> Failure {
        let only = PromiseSet::only(violation.promise);
        let mut least = self.clone();
        least.operations.truncate(violation.after);
        let plain_start = Example { start: Start::default(), ..least.clone() };
        if plain_start.broken(make, only).is_some() {
            least = plain_start;
        }
        let candidate = least.clone();
        least.operations = shortest(least.operations, |operations| {
            let example = Example { operations: operations.to_vec(), ..candidate.clone() };
            example.broken(make, only).is_some()
        });
        least.shown(make, violation, only)
    }

    fn shown(&self, make: Make<'_>, violation: Violation, only: PromiseSet) -> Failure {
        let built = || make(&self.settings, &self.start).expect("it has had a window before");
        let mut windows = Vec::new();
        let told = run(built(), built(), &self.operations, only, |window| windows.push(window));
        let mut now = Time::ZERO;
        let steps = self.operations.iter().enumerate().map(|(index, &operation)| {
            now = Time(now.0.saturating_add(operation.after.0));
            Step { operation, now, window: windows.get(index).copied().unwrap_or(f64::NAN) }
        });
        Failure {
            steps: steps.collect(),
            // Code that does not always do the same may behave this time.
            what: told.err().unwrap_or(violation).what,
            settings: self.settings.clone(),
            start: Some(self.start),
        }
    }
}
