//! What losses leave, what a recovery saves of it, and what one that was needless gives back. Sections are those of the
//! draft.

use super::*;

fn needless(feedback: &mut Feedback, _: &mut RateSample) {
    feedback.spurious = Some(Cause::Loss);
}

/// "Saving State Upon Loss Recovery": the first loss saves the window and the bounds. Losses that no recovery follows are
/// over with the next acknowledgment, those of a recovery with its end; the next loss saves what there is then, the bound
/// that the first one has left.
#[test]
fn the_first_loss_of_each_recovery_saves_what_it_finds() {
    for recovers in [false, true] {
        let mut told = Told::cruising();
        let window = told.control.window;
        told.lose(1000, 1, false);
        assert_eq!(told.control.prior_window, window);
        assert!(told.control.undo.inflight_shortterm.is_infinite());
        told.round(1000, |feedback, _| feedback.recovery_begins = recovers);
        if recovers {
            told.lose(1000, 1, false);
            assert!(told.control.undo.inflight_shortterm.is_infinite(), "still the same");
            told.control.on_recovered(told.now, &PATH);
        }
        let bound = told.control.model.inflight_shortterm;
        assert!(bound.is_finite());
        told.lose(1000, 1, false);
        assert_eq!(told.control.undo.inflight_shortterm, bound);
    }
}

/// "Handling a Spurious Loss Recovery": a loss that was none lowers nothing at the end of its round trip, and a time-out
/// that was none is over.
#[test]
fn what_was_no_loss_is_not_answered() {
    let mut told = Told::cruising();
    told.lose(1000, 1, false);
    told.round(1000, needless);
    assert!(told.control.model.inflight_shortterm.is_infinite());
    let mut told = Told::cruising();
    let window = told.control.window;
    let event = Congestion { now: told.now, cause: Cause::Timeout, in_flight: 3, again: false };
    told.control.on_congestion(&event, &PATH);
    assert!(told.control.timed_out);
    told.round(1000, |feedback, _| feedback.spurious = Some(Cause::Timeout));
    assert_eq!((told.control.timed_out, told.control.window), (false, window));
}

/// The same section, `ResetFullBW`: round trips without growth are counted anew, where the third would have ended Startup.
#[test]
fn what_was_no_loss_begins_the_search_for_a_full_pipe_anew() {
    let mut told = Told::new(1000.0, true);
    (0..3).for_each(|_| told.plain(1000));
    assert_eq!(told.control.model.full_bw_count, 2);
    told.round(1000, needless);
    assert_eq!(told.control.model.full_bw_count, 0);
    assert_eq!(told.control.cycle.state, State::Startup);
}

/// "cwnd Adjustment Mechanism": before the pipe is full, a window beyond the model grows only until the first one, 100
/// segments, has been delivered. Ten per round trip would fill a window of 20, and of 30 with aggregation.
#[test]
fn the_first_window_may_grow_beyond_the_model() {
    let mut told = Told::new(100.0, true);
    for (skipped, window) in [(0, 110.0), (70, 120.0), (0, 120.0)] {
        told.delivered += skipped;
        told.plain(10);
        assert_eq!(told.control.window, window, "{} delivered", told.delivered);
    }
}

/// `BoundCwndForModel`: CRUISE and `ProbeRTT` leave headroom, 15 % of the bound. Drain has none, though the table of
/// "Summary of Control Behavior in the State Machine" does.
#[test]
fn the_long_term_bound_holds_the_window_of_each_state() {
    let states = [
        (State::Startup, f64::INFINITY),
        (State::Drain, f64::INFINITY),
        (State::Down, 1000.0),
        (State::Cruise, 850.0),
        (State::Refill, 1000.0),
        (State::Up, 1000.0),
        (State::ProbeRtt, 850.0),
    ];
    let mut control = Told::cruising().control;
    control.model.inflight_longterm = 1000.0;
    for (state, most) in states {
        control.cycle.state = state;
        assert_eq!(control.most_by_losses(), most, "{state:?}");
    }
}

/// The marks of a round trip and the losses in it add up: 15 and 5 of 1000 are two percent, and one more is too much.
#[test]
fn marks_and_losses_add_up() {
    for (lost, state) in [(5, State::Up), (6, State::Down)] {
        let mut told = Told::probing();
        told.round(1000, |feedback, sample| {
            (feedback.marked, sample.delivered_before) = (15, 0);
        });
        told.lose(1000, lost, false);
        assert_eq!(told.control.cycle.state, state, "{lost} lost");
    }
}
