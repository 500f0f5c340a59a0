//! Makes a sequence of events that breaks a promise as short and as plain as it can.

use longfat_units::{Segments, Span};

use super::{Event, Operation};
use crate::{Adjustment, Cause, Congestion, Feedback, Limited};

/// How often the controller may be run in search of something shorter.
const MOST_RUNS: usize = 4000;

/// The shortest sequence found that `breaks` like the given one, and the plainest of that length. As long as anything
/// helps: leave out halves, quarters, ... single events; then put plain values in the place of each event's.
pub(super) fn shortest(
    mut operations: Vec<Operation>,
    mut breaks: impl FnMut(&[Operation]) -> bool,
) -> Vec<Operation> {
    let mut runs = 0;
    let mut breaks = |candidate: &[Operation]| {
        runs += 1;
        (runs <= MOST_RUNS).then(|| breaks(candidate))
    };
    loop {
        let before = operations.len();
        let mut changed = false;
        let mut size = operations.len().next_power_of_two() / 2;
        while size > 0 {
            let mut from = 0;
            while from < operations.len() {
                let until = (from + size).min(operations.len());
                let rest = [&operations[..from], &operations[until..]].concat();
                match breaks(&rest) {
                    Some(true) => operations = rest,
                    Some(false) => from += size,
                    None => return operations,
                }
            }
            size /= 2;
        }
        for index in 0..operations.len() {
            for plainer in PLAINER {
                let mut candidate = operations.clone();
                // On top of the changes that have succeeded.
                plainer(&mut candidate[index]);
                // Absent numbers are not equal to themselves, but look alike.
                if format!("{:?}", candidate[index]) == format!("{:?}", operations[index]) {
                    continue;
                }
                match breaks(&candidate) {
                    Some(true) => {
                        operations = candidate;
                        changed = true;
                    }
                    Some(false) => {}
                    None => return operations,
                }
            }
        }
        if operations.len() == before && !changed {
            return operations;
        }
    }
}

fn feedback(operation: &mut Operation, change: impl FnOnce(&mut Feedback)) {
    if let Event::Feedback(feedback) = &mut operation.event {
        change(feedback);
    }
}

fn congestion(operation: &mut Operation, change: impl FnOnce(&mut Congestion)) {
    if let Event::Congestion(event) = &mut operation.event {
        change(event);
    }
}

fn adjustment(operation: &mut Operation, change: impl FnOnce(&mut Adjustment)) {
    if let Event::Adjustment(event) = &mut operation.event {
        change(event);
    }
}

/// What makes an event plainer.
const PLAINER: [fn(&mut Operation); 24] = [
    |it| it.after = Span::from_millis(100),
    |it| feedback(it, |f| f.sacked = 0),
    |it| feedback(it, |f| f.lost = 0),
    |it| feedback(it, |f| f.marked = 0),
    |it| feedback(it, |f| f.recovery_begins = false),
    |it| feedback(it, |f| f.limited = Limited::Window),
    |it| feedback(it, |f| f.spare = None),
    |it| feedback(it, |f| f.rate = None),
    |it| feedback(it, |f| f.router = None),
    |it| feedback(it, |f| f.one_way_delay = None),
    |it| feedback(it, |f| f.spurious = None),
    |it| feedback(it, |f| f.rtt = None),
    |it| feedback(it, |f| f.rtt = f.rtt.map(|_| Span::from_millis(100))),
    |it| feedback(it, |f| f.round_starts = false),
    |it| feedback(it, |f| f.in_flight = 10),
    |it| feedback(it, |f| f.acked = f.acked.min(1)),
    |it| feedback(it, |f| f.acked = f.acked.min(2)),
    |it| feedback(it, |f| f.acked /= 2),
    |it| feedback(it, |f| f.marked = f.marked.min(1)),
    |it| congestion(it, |event| event.again = false),
    |it| congestion(it, |event| event.in_flight = 10),
    |it| congestion(it, |event| event.cause = Cause::Loss),
    |it| adjustment(it, |event| event.threshold = None),
    |it| adjustment(it, |event| event.window = Segments(20.0)),
];

#[cfg(test)]
mod tests {
    use longfat_units::Time;

    use super::*;

    fn acknowledged(acked: u64) -> Operation {
        let event = Event::Feedback(Feedback { marked: 3, ..Feedback::at(Time::ZERO, acked) });
        Operation { after: Span(5), event }
    }

    fn acked(operation: &Operation) -> u64 {
        match operation.event {
            Event::Feedback(feedback) => feedback.acked,
            _ => 0,
        }
    }

    /// Broken by 100 segments in all. None of what is left can be left out, and no number can be smaller.
    #[test]
    fn what_is_left_cannot_be_left_out() {
        let long: Vec<Operation> = (0..100).map(|index| acknowledged(index % 65)).collect();
        let sum = |some: &[Operation]| some.iter().map(acked).sum::<u64>();
        let short = shortest(long, |some| sum(some) >= 100);
        let least = short.iter().map(acked).min().expect("not nothing");
        assert!(short.len() < 6 && sum(&short) - least < 100, "{short:?}");
        assert_eq!(sum(&short), 100, "one segment fewer would not do");
        for operation in short {
            let Event::Feedback(feedback) = operation.event else { panic!("{operation:?}") };
            assert_eq!((operation.after, feedback.marked), (Span::from_millis(100), 0));
        }
    }

    #[test]
    fn the_search_ends_even_if_nothing_helps() {
        let mut runs = 0;
        let long: Vec<Operation> = (0..64).map(acknowledged).collect();
        let left = shortest(long, |_| {
            runs += 1;
            false
        });
        assert_eq!(left.len(), 64);
        assert!(runs <= MOST_RUNS);
    }

    #[test]
    fn the_search_ends_after_so_many_runs() {
        let mut runs = 0;
        let long: Vec<Operation> = (0..1000).map(acknowledged).collect();
        shortest(long, |_| {
            runs += 1;
            false
        });
        assert_eq!(runs, MOST_RUNS);
    }

    #[test]
    fn what_is_plainer_may_be_shorter() {
        // Of two either is enough, once it is plain.
        let plain = |it: &Operation| it.after == Span::from_millis(100);
        let short = shortest(vec![acknowledged(1); 2], |some| {
            some.len() == 2 || (some.len() == 1 && plain(&some[0]))
        });
        assert_eq!(short.len(), 1);
    }

    #[test]
    fn what_is_shorter_may_be_shorter_still() {
        // Plain from the start; the first can be left out once the third has been.
        let plain = |acked| {
            let feedback = Feedback { in_flight: 10, ..Feedback::at(Time::ZERO, acked) };
            let event = Event::Feedback(Feedback { round_starts: false, ..feedback });
            Operation { after: Span::from_millis(100), event }
        };
        let short = shortest([4, 5, 6, 7].map(plain).to_vec(), |some| {
            let some: Vec<u64> = some.iter().map(acked).collect();
            [&[4, 5, 6, 7][..], &[4, 5, 7], &[5, 7]].contains(&&*some)
        });
        assert_eq!(short.iter().map(acked).collect::<Vec<_>>(), [5, 7]);
    }
}
