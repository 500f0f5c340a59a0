//! The past: the steps taken so far, as far back as they are still needed.

use std::collections::VecDeque;

use crate::dormand_prince::{Side, quartic};

/// Where in a step the links are sampled.
pub(crate) const SAMPLES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Weights of these samples in an integral.
pub(crate) const BOOLE: [f64; 5] = [7.0 / 90.0, 32.0 / 90.0, 12.0 / 90.0, 32.0 / 90.0, 7.0 / 90.0];

/// One step that was taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    start: f64,
    /// The length that was tried; an event may have ended the step earlier.
    length: f64,
    end: f64,
    /// The state, a quartic for each component.
    state: Vec<[f64; 5]>,
    /// What the links charged and carried at five instants.
    links: Vec<[f64; 5]>,
}

impl Past {
    /// Not before the step: what is older has been forgotten.
    fn theta(&self, t: f64) -> f64 {
        let theta = (t - self.start) / self.length;
        if theta < -SAME { 0.0 } else { theta }
    }

    /// A component of the state.
    #[inline]
    pub(crate) fn state(&self, index: usize, t: f64) -> f64 {
        quartic(&self.state[index], self.theta(t))
    }

    /// A quantity of the links: the quartic through its five samples, within their range, because prices have kinks.
    pub(crate) fn link(&self, index: usize, t: f64) -> f64 {
        let samples = &self.links[index];
        let theta = ((t - self.start) / (self.end - self.start)).clamp(0.0, 1.0);
        let mut sum = 0.0;
        for (i, (sample, node)) in samples.iter().zip(SAMPLES).enumerate() {
            let mut weight = 1.0;
            for (j, other) in SAMPLES.iter().enumerate() {
                if i != j {
                    weight *= (theta - other) / (node - other);
                }
            }
            sum += sample * weight;
        }
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        sum.clamp(least, most)
    }
}

/// The steps taken so far. Before the first of them nothing was sent; what has been forgotten was as it is at the beginning of
/// the oldest that is left. A queue that grows faster than time passes, under twice the load that it can carry and more, takes
/// what is heard of back to before anything that was still needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    steps: VecDeque<Past>,
    /// Is the first of these not the first there was?
    forgot: bool,
    /// Steps no longer needed, kept to reuse their memory.
    spare: Vec<Past>,
}

/// Instants closer together than this fraction of a step count as the same.
const SAME: f64 = 1e-9;

impl History {
    /// The step that holds instant `t`; `None` before the first there was.
    pub(crate) fn at(&self, t: f64, side: Side) -> Option<&Past> {
        let first = self.steps.front()?;
        let slack = SAME * first.length;
        let early = t < first.start - slack || (side == Side::Before && t <= first.start + slack);
        if early && !self.forgot {
            return None;
        }
        let after = self.steps.partition_point(|step| {
            let slack = SAME * step.length;
            match side {
                Side::After => step.end <= t + slack,
                Side::Before => step.end < t - slack,
            }
        });
        self.steps.get(after).or_else(|| self.steps.back())
    }

    /// Remembers a step from `start` that was tried with `length` and taken as far as `end`. What the links charged is
    /// filled in by `look`, which may look up the step itself in this history.
    pub(crate) fn push(&mut self, start: f64, length: f64, end: f64, state: &[[f64; 5]]) {
        let mut past = self.spare.pop().unwrap_or_default();
        past.state.clear();
        past.state.extend_from_slice(state);
        past.links.clear();
        (past.start, past.length, past.end) = (start, length, end);
        self.steps.push_back(past);
    }

    /// What the links charged and carried in the last step.
    pub(crate) fn set_links(&mut self, links: &[[f64; 5]]) {
        if let Some(last) = self.steps.back_mut() {
            last.links.extend_from_slice(links);
        }
    }

    /// The last step.
    pub(crate) fn last(&self) -> Option<&Past> {
        self.steps.back()
    }

    /// Takes back the last step.
    pub(crate) fn pop(&mut self) {
        self.spare.extend(self.steps.pop_back());
    }

    /// Forgets the steps that ended before `t`.
    pub(crate) fn forget(&mut self, t: f64) {
        while self.steps.len() > 1 && self.steps.front().is_some_and(|step| step.end < t) {
            self.spare.extend(self.steps.pop_front());
            self.forgot = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of one second from 0, in which the state is constant: the number of the step.
    fn steps(count: usize) -> History {
        let mut history = History::default();
        for step in 0..count {
            let start = step as f64;
            history.push(start, 1.0, start + 1.0, &[[start, 0.0, 0.0, 0.0, 0.0]]);
            history.set_links(&[[start; 5]]);
        }
        history
    }

    fn state(history: &History, t: f64, side: Side) -> Option<f64> {
        history.at(t, side).map(|step| step.state(0, t))
    }

    #[test]
    fn an_instant_between_two_steps_belongs_to_either() {
        let history = steps(3);
        for (t, before, after) in [
            (-0.5, None, None),
            (0.0, None, Some(0.0)),
            (-1e-10, None, Some(0.0)),
            (0.5, Some(0.0), Some(0.0)),
            (1.0, Some(0.0), Some(1.0)),
            (1.0 + 1e-10, Some(0.0), Some(1.0)),
            (1.0 - 1e-10, Some(0.0), Some(1.0)),
            (2.0, Some(1.0), Some(2.0)),
            (3.0, Some(2.0), Some(2.0)),
            (3.5, Some(2.0), Some(2.0)),
        ] {
            assert_eq!(state(&history, t, Side::Before), before, "before {t}");
            assert_eq!(state(&history, t, Side::After), after, "from {t} on");
        }
    }

    #[test]
    fn only_steps_that_are_over_are_forgotten() {
        let mut history = steps(4);
        history.forget(0.5);
        assert_eq!(state(&history, -0.5, Side::After), None, "nothing is forgotten yet");
        history.forget(1.5);
        assert_eq!(state(&history, 1.2, Side::After), Some(1.0));
        assert_eq!(state(&history, 0.5, Side::After), Some(1.0), "as the oldest that is left");
        history.forget(99.0);
        assert_eq!(state(&history, 3.5, Side::After), Some(3.0), "the last one stays");
    }

    /// From 1 s on the state is 1 and grows by 2 in a second, the links by 4.
    #[test]
    fn what_is_forgotten_was_as_the_oldest_that_is_left_begins() {
        let mut history = steps(1);
        history.push(1.0, 1.0, 2.0, &[[1.0, 2.0, 0.0, 0.0, 0.0]]);
        history.set_links(&[[1.0, 2.0, 3.0, 4.0, 5.0]]);
        history.forget(1.5);
        for side in [Side::Before, Side::After] {
            for t in [-3.0, 0.5, 1.0] {
                let step = history.at(t, side).expect("it was there");
                assert_eq!((step.state(0, t), step.link(0, t)), (1.0, 1.0), "{side:?} {t}");
            }
        }
        let step = history.at(1.5, Side::Before).expect("a step");
        assert_eq!((step.state(0, 1.5), step.link(0, 1.5)), (2.0, 3.0));
    }

    /// A step that was tried with 2 s and ended after 1: the state is a quartic in halves of its time, the links have their
    /// samples in its first second. A memory that is used again keeps nothing of what it held.
    #[test]
    fn a_step_that_ends_early_is_read_at_its_own_times() {
        let mut history = steps(1);
        history.pop();
        history.push(0.0, 2.0, 1.0, &[[0.0, 6.0, 0.0, 0.0, 0.0]]);
        history.set_links(&[[0.0, 1.0, 2.0, 3.0, 4.0]]);
        let step = history.last().expect("a step");
        assert_eq!(step.state(0, 0.5), 1.5);
        assert!((step.link(0, 0.4) - 1.6).abs() < 1e-12, "{}", step.link(0, 0.4));
        assert!((step.link(0, 1.0) - 4.0).abs() < 1e-12, "{}", step.link(0, 1.0));
    }

    /// The quartic through 0, 0, 0, 0 and 1 is 5/8 · 3/8 · 1/8 · (-1/8) over 3/4 · 1/2 · 1/4 = -0.039 at 5/8.
    #[test]
    fn prices_with_a_kink_are_not_read_beyond_their_samples() {
        let mut history = History::default();
        history.push(0.0, 1.0, 1.0, &[]);
        history.set_links(&[[0.0, 0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0]]);
        let step = history.last().expect("a step");
        assert_eq!((step.link(0, 0.625), step.link(1, 0.625)), (0.0, 1.0));
    }
}
