//! The suite and its directed tests find what is wrong, and nothing else.

use super::*;

/// What goes wrong after a window that is no number follows from that.
#[test]
fn a_window_that_is_no_number_is_the_one_thing_wrong() {
    let controller = Controller::new("lost", |_, start| {
        let window = if start.window.0.is_nan() { 1.0 } else { start.window.0.clamp(1.0, 1e12) };
        let threshold = start.threshold.map(|it| it.0);
        let keeps = f64::NAN;
        Sending::Windowed(Box::new(Scripted {
            threshold,
            keeps,
            promises: Promises::LAW,
            ..Scripted::new(window)
        }))
    });
    let effort = Effort { cases: 40, round_trips: 10, ..Effort::default() };
    let checked = examine(&controller, effort, || true).expect("it has a window");
    let failed = checked.into_iter().filter(|it| it.failure.is_some()).map(|it| it.promise);
    // Congestion leaves neither one segment nor two.
    assert_eq!(failed.collect::<Vec<_>>(), [Promise::Window, Promise::Floor]);
}

/// Made of a start, with a window that its test says.
fn made(of: impl Fn(f64) -> Scripted) -> impl Fn(&Start) -> Box<dyn CongestionControl> {
    move |start| {
        let threshold = start.threshold.map(|it| it.0);
        Box::new(Scripted { threshold, ..of(start.window.0) })
    }
}

fn promise(told: Result<(), Broken>) -> Option<Promise> {
    told.err().map(|(promise, _)| promise)
}

#[test]
fn any_start_gives_a_window_within_reason() {
    for (window, broken) in
        [(1.0, false), (1e12, false), (1.1e12, true), (0.9, true), (f64::NAN, true)]
    {
        let told = bears_any_start(&made(|_| Scripted::new(window)));
        assert_eq!(promise(told), broken.then_some(Promise::AnyStart), "{window}");
    }
    // After an acknowledgment of three: from 0.25 to one.
    let adds = [0.25, 0.0];
    let told = bears_any_start(&made(|_| Scripted { adds, ..Scripted::new(0.25) }));
    assert_eq!(told, Ok(()));
}

#[test]
fn congestion_after_congestion_leaves_a_segment_or_two() {
    let floor = |keeps, lowest: [f64; 3]| {
        #[derive(Clone, Debug)]
        struct Floored(Scripted, [f64; 3]);
        impl CongestionControl for Floored {
            fn on_feedback(&mut self, _: &Feedback, _: &Path) {}
            fn on_congestion(&mut self, event: &Congestion, path: &Path) {
                self.0.on_congestion(event, path);
                let lowest = match event.cause {
                    Cause::Loss => self.1[0],
                    Cause::Mark => self.1[1],
                    Cause::Timeout => self.1[2],
                };
                self.0.window = self.0.window.max(lowest);
            }
            fn window(&self) -> Segments {
                self.0.window()
            }
        }
        let make = |start: &Start| -> Box<dyn CongestionControl> {
            Box::new(Floored(Scripted { keeps, ..Scripted::new(start.window.0) }, lowest))
        };
        promise(keeps_a_floor(&make))
    };
    assert_eq!(floor(0.5, [2.0, 1.0, 1.0]), None);
    assert_eq!(floor(0.5, [1.9, 1.0, 1.0]), Some(Promise::Floor));
    assert_eq!(floor(0.5, [2.0, 0.9, 1.0]), Some(Promise::Floor));
    assert_eq!(floor(0.5, [2.0, 1.0, 0.9]), Some(Promise::Floor));
    // 100 000 segments are below two only after a hundred times: 0.9ⁿ < 2·10⁻⁵ from n = 103 on.
    assert_eq!(floor(0.9, [0.0; 3]), Some(Promise::Floor));
    let nothing = made(|window| Scripted { keeps: f64::NAN, ..Scripted::new(window) });
    assert_eq!(promise(keeps_a_floor(&nothing)), Some(Promise::Floor));
}

#[test]
fn days_without_a_loss_leave_a_window_within_reason() {
    // 100 acknowledgments of ten segments: from 10⁵ to 10⁵ + 1000 of what each adds.
    let endured = |add| {
        promise(endures(&made(|window| Scripted { adds: [add, 0.0], ..Scripted::new(window) }), 10))
    };
    assert_eq!([endured(1.0), endured(0.99e9)], [None, None]);
    assert_eq!([endured(1.01e9), endured(-100.0)], [Some(Promise::Endures); 2]);
    assert_eq!(endured(f64::NAN), Some(Promise::Endures));
    // The last of them after ten days, 8.64·10¹⁷ ps.
    let heard = Arc::default();
    let control = Scripted { heard: Arc::clone(&heard), ..Scripted::new(10.0) };
    endures(&|_| Box::new(control.clone()), 10).expect("it stays as it is");
    let last = control.heard().pop().expect("it has heard of them");
    assert!(last.starts_with("864000000000000000 "), "{last}");
}

/// Congestion takes what the acknowledgments before it were: half a segment for each.
#[derive(Clone, Debug)]
struct Remembers(Scripted, bool, f64);
impl CongestionControl for Remembers {
    fn promises(&self) -> Promises {
        self.0.promises
    }

    fn on_feedback(&mut self, heard: &Feedback, path: &Path) {
        self.0.on_feedback(heard, path);
        self.2 += 0.5;
        if self.1 {
            self.0.threshold = self.0.threshold.map(|it| it + 1.0);
        }
    }
    fn on_congestion(&mut self, _: &Congestion, _: &Path) {
        self.0.window -= self.2.min(0.5);
    }
    fn window(&self) -> Segments {
        self.0.window()
    }
    fn threshold(&self) -> Option<Segments> {
        self.0.threshold()
    }
}

#[test]
fn what_went_before_does_not_show() {
    let forgotten = |adds, keeps| {
        let make = made(|window| Scripted { adds: [adds, 0.0], keeps, ..Scripted::new(window) });
        promise(forgets(&make, 10))
    };
    assert_eq!(forgotten(1.0, 0.5), None);
    assert_eq!(forgotten(-0.5, 0.5), Some(Promise::Forgetful));
    assert_eq!(forgotten(f64::NAN, 0.5), Some(Promise::Forgetful));
    for moves in [false, true] {
        let make = |start: &Start| -> Box<dyn CongestionControl> {
            let threshold = start.threshold.map(|it| it.0);
            let law = Scripted { threshold, adds: [1.0, 0.0], ..Scripted::new(start.window.0) };
            Box::new(Remembers(law, moves, 0.0))
        };
        let (promise, what) = forgets(&make, 10).expect_err("it shows");
        assert_eq!(promise, Promise::Forgetful);
        assert_eq!(what.contains("its threshold went"), moves, "{what}");
    }
}

/// Ten random sequences, four directed tests, and each of them asks first whether to go on.
#[test]
fn an_examination_can_be_given_up_at_any_point() {
    let controller = |broken| {
        Controller::new("kept", move |_, start| {
            let window =
                if start.window.0.is_nan() { 1.0 } else { start.window.0.clamp(2.0, 1e12) };
            let threshold = start.threshold.map(|it| it.0);
            let pacing = if broken { Pacing::Rate(0.0) } else { Pacing::Unpaced };
            Sending::Windowed(Box::new(Scripted { threshold, pacing, ..Scripted::new(window) }))
        })
    };
    // Once more where something is found.
    for (broken, asks) in [(false, 14), (true, 15)] {
        let effort = Effort { cases: 10, round_trips: 10, ..Effort::default() };
        for most in 0..=asks {
            let mut asked = 0;
            let told = examine(&controller(broken), effort, || {
                asked += 1;
                asked <= most
            });
            assert_eq!(told.is_some(), most == asks, "{most}");
        }
    }
}

/// What is broken by the settings or the start alone, and only by some of them.
#[test]
fn an_examination_tries_settings_and_starts() {
    type Bad = fn(&Settings, &Start) -> bool;
    let failure = |bad: Bad| {
        let build = move |settings: &Settings, start: &Start| {
            let pacing = if bad(settings, start) { Pacing::Rate(0.0) } else { Pacing::Unpaced };
            Sending::Windowed(Box::new(Scripted { pacing, ..Scripted::new(10.0) }))
        };
        let number = Parameter::number("number", 3.0, 1.0, 5.0, "");
        let controller = Controller::new("fussy", build).parameters([number]);
        let effort = Effort { cases: 40, round_trips: 10, ..Effort::default() };
        let checked = examine(&controller, effort, || true).expect("it has a window");
        let found = checked.into_iter().find(|it| it.promise == Promise::Pacing);
        found.and_then(|it| it.failure)
    };
    assert!(failure(|_, _| false).is_none());
    let largest = failure(|settings, _| settings.number("number") == 5.0).expect("it is tried");
    assert_eq!((largest.settings.number("number"), largest.steps.len()), (5.0, 0));
    assert_eq!(largest.start.expect("it has one").window, Start::default().window);
    let large = failure(|_, start| start.window.0 > 1e6).expect("it is tried");
    assert!(large.start.expect("it has one").window > Segments(1e6));
    assert_eq!(large.what, "the pacing is Rate(0.0)");
    assert!(failure(|settings, _| settings.number("number") == 3.0).is_some());
}

/// Segments of a sequence that breaks something as long as enough is acknowledged in it.
#[test]
fn what_is_shortest_is_also_plainest() {
    let one = |acked| {
        let router = Some(RouterHeader::default());
        let event =
            Event::Feedback(Feedback { router, lost: 3, ..Feedback::at(Time::ZERO, acked) });
        Operation { after: Span(5), event }
    };
    let sum = |some: &[Operation]| -> u64 {
        let acked = |it: &Operation| if let Event::Feedback(it) = it.event { it.acked } else { 0 };
        some.iter().map(acked).sum()
    };
    // 70 events of which only the last says enough: three tests of halves leave a few, and not one for each.
    let mut runs = 0;
    let mut long = vec![one(0); 69];
    long.push(one(8));
    let short = shrink::shortest(long, |some| {
        runs += 1;
        sum(some) >= 8
    });
    assert_eq!((short.len(), sum(&short)), (1, 8));
    assert!(runs < 40, "{runs} runs");
    let words = short[0].to_string();
    assert_eq!(words, "100 ms later acknowledgment of 8 segments, 10 in flight");
}

/// Code from outside fails: it says so, and the search goes on without it.
#[test]
fn what_fails_is_said_once() {
    #[derive(Clone, Debug)]
    struct Fails;
    impl CongestionControl for Fails {
        fn on_feedback(&mut self, _: &Feedback, _: &Path) {
            fault::report(|| fault::Fault::new("a test", "it fails"));
        }
        fn on_congestion(&mut self, _: &Congestion, _: &Path) {}
        fn window(&self) -> Segments {
            Segments(10.0)
        }
    }
    let told = bears_any_start(&|_| Box::new(Fails));
    assert_eq!(told, Err((Promise::Runs, "it fails".into())));
    let controller = Controller::new("fails", |_, _| Sending::Windowed(Box::new(Fails)));
    let mut asked = 0;
    let checked = examine(&controller, Effort { cases: 10, ..Effort::default() }, || {
        asked += 1;
        asked < 100
    });
    let failed = checked.expect("it ends").into_iter().filter(|it| it.failure.is_some());
    assert_eq!(failed.map(|it| it.promise).collect::<Vec<_>>(), [Promise::Runs]);
}

/// What is said is said of the steps that are shown.
#[test]
fn words_are_of_the_shortest_sequence() {
    let controller = Controller::new("falls", |_, _| {
        Sending::Windowed(Box::new(Scripted { adds: [-1.0, 0.0], ..Scripted::new(5.0) }))
    });
    let effort = Effort { cases: 10, ..Effort::default() };
    let checked = examine(&controller, effort, || true).expect("it has a window");
    let window = checked.into_iter().find(|it| it.promise == Promise::Window);
    let failure = window.and_then(|it| it.failure).expect("it falls below one");
    let last = failure.steps.last().expect("an acknowledgment").window;
    assert_eq!(failure.what, format!("the window is {last}"));
}

#[test]
fn an_examination_asks_for_forgetting() {
    for (forgetful, found) in [(true, true), (false, false)] {
        let controller = Controller::new("remembers", move |_, start| {
            let threshold = start.threshold.map(|it| it.0);
            let promises = Promises { forgetful, ..Promises::NONE };
            let window = if start.window.0.is_nan() { 1.0 } else { start.window.0.clamp(4.0, 1e9) };
            let law = Scripted { threshold, promises, ..Scripted::new(window) };
            Sending::Windowed(Box::new(Remembers(law, false, 0.0)))
        });
        let effort = Effort { cases: 0, round_trips: 10, ..Effort::default() };
        let checked = examine(&controller, effort, || true).expect("it has a window");
        let failed = checked.iter().find(|it| it.promise == Promise::Forgetful);
        assert_eq!(failed.is_some_and(|it| it.failure.is_some()), found);
    }
}
