//! What limited the flows, row by row: the table `limits`.

use longfat_units::{Span, Time};

use crate::recording::Column;
use crate::sender::{LimitedFor, SenderCounts, Sends};

/// A column: its name, and what is in it.
type Of<T, V> = (&'static str, fn(&T) -> V);

/// The causes, in the order of their columns.
const CAUSES: [Of<LimitedFor, Span>; 5] = [
    ("window_s", |held| held.window),
    ("pacing_s", |held| held.pacing),
    ("receiver_s", |held| held.receiver),
    ("application_s", |held| held.application),
    ("recovery_s", |held| held.recovery),
];

/// What is answered, in the order of the columns.
const EVENTS: [Of<SenderCounts, u64>; 3] = [
    ("losses", |counts| counts.total_losses),
    ("marks", |counts| counts.total_marks),
    ("timeouts", |counts| counts.total_timeouts),
];

/// For how long each cause held, and how often congestion was answered, in each row of the time series of the flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitSeries {
    held: [Vec<f64>; CAUSES.len()],
    events: [Vec<u64>; EVENTS.len()],
    /// For each flow, what had been told by the last row.
    last: Vec<([Span; CAUSES.len()], [u64; EVENTS.len()])>,
}

impl LimitSeries {
    /// The empty series of this many flows.
    pub(crate) fn new(flows: usize) -> Self {
        Self { last: vec![Default::default(); flows], ..Self::default() }
    }

    /// Adds the row of one flow.
    pub(crate) fn read(&mut self, now: Time, index: usize, sender: &dyn Sends) {
        let held = sender.limited_for(now);
        let causes = held.map(|held| CAUSES.map(|(_, cause)| cause(&held)));
        let events = EVENTS.map(|(_, count)| count(sender.measured()));
        let new = (causes.unwrap_or_default(), events);
        let last = std::mem::replace(&mut self.last[index], new);
        for (place, column) in self.held.iter_mut().enumerate() {
            let span = Span(new.0[place].0.saturating_sub(last.0[place].0));
            column.push(if causes.is_some() { span.seconds() } else { f64::NAN });
        }
        for (place, column) in self.events.iter_mut().enumerate() {
            column.push(new.1[place] - last.1[place]);
        }
    }

    /// Its columns.
    pub(crate) fn columns(self) -> impl Iterator<Item = (&'static str, Column)> {
        let held =
            CAUSES.iter().zip(self.held).map(|((name, _), held)| (*name, Column::Real(held)));
        let events = EVENTS.iter().zip(self.events);
        held.chain(events.map(|((name, _), counts)| (*name, Column::Count(counts))))
    }
}
